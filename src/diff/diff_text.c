// Parts of a model in the words of the language, for diff.c and whoever shows a model.
#include "diff/diff.h"
#include "model/rules.h"

#include "value/number.h"

const char *model_mode_name(enum model_mode mode)
{
    return model_mode_words[mode];
}

const char *model_leave_name(enum model_leave leave)
{
    return model_leave_words[leave];
}

const char *model_stream_name(enum model_stream stream)
{
    return model_stream_words[stream];
}

// ---- Expressions ------------------------------------------------------------------------------

static void names_text(const struct slice *names, size_t count, const char *between,
                       struct buf *out)
{
    for (size_t i = 0; i < count; i++) {
        buf_text(out, i == 0 ? "" : between);
        buf_slice(out, names[i]);
    }
}

static void duration_text(struct slice value, struct buf *out)
{
    static const struct {
        int64_t seconds;
        const char *unit;
    } units[] = {{604800, "w"}, {86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}};
    int64_t seconds = 0;
    DISREGARD(number_to_i64(value_bytes(value), &seconds));
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (seconds % units[i].seconds != 0)
            continue;
        buf_i64(out, seconds / units[i].seconds);
        buf_text(out, units[i].unit);
        return;
    }
}

static void call_text(const struct model_access *access, const struct model_expr *expr,
                      struct buf *out)
{
    buf_text(out, model_function_words[expr->function]);
    buf_byte(out, '(');
    for (size_t i = 0; i < expr->arg_count; i++) {
        buf_text(out, i == 0 ? "" : ", ");
        model_expr_text(access, expr->args[i], out);
    }
    buf_byte(out, ')');
}

// How tightly what an expression is made of is bound; values most of all.
static int tightness(const struct model_expr *expr)
{
    return expr->kind == MODEL_EXPR_ADD || expr->kind == MODEL_EXPR_SUBTRACT ? 1
           : expr->kind == MODEL_EXPR_MULTIPLY                               ? 2
           : expr->kind == MODEL_EXPR_ELSE                                   ? 3
                                                                             : 4;
}

// Chains lean to the left: a - b + c needs nothing, a - (b + c) does.
bool model_expr_enclosed(const struct model_expr *expr, size_t argument)
{
    return tightness(expr->args[argument]) < tightness(expr) + (argument == 1);
}

static void pair_text(const struct model_access *access, const struct model_expr *expr,
                      const char *between, struct buf *out)
{
    for (size_t i = 0; i < 2; i++) {
        bool inner = model_expr_enclosed(expr, i);
        buf_text(out, i == 0 ? "" : between);
        buf_text(out, inner ? "(" : "");
        model_expr_text(access, expr->args[i], out);
        buf_text(out, inner ? ")" : "");
    }
}

static void segments_text(const struct model_access *access, const struct model_template *template,
                          struct buf *out)
{
    buf_byte(out, '"');
    for (size_t i = 0; i < template->segment_count; i++) {
        const struct model_segment *segment = &template->segments[i];
        buf_text(out, segment->expr == NULL ? "" : "{");
        if (segment->expr == NULL)
            buf_slice(out, segment->literal);
        else
            model_expr_text(access, segment->expr, out);
        buf_text(out, segment->expr == NULL ? "" : "}");
    }
    buf_byte(out, '"');
}

void model_expr_text(const struct model_access *access, const struct model_expr *expr,
                     struct buf *out)
{
    switch (expr->kind) {
    case MODEL_EXPR_VALUE:
        (expr->duration ? duration_text : model_literal_text)(expr->value, out);
        break;
    case MODEL_EXPR_PATH:
    case MODEL_EXPR_TAG:
        names_text(expr->steps, expr->step_count, ".", out);
        break;
    case MODEL_EXPR_PARAM:
        buf_slice(out, access->params[expr->param].name);
        break;
    case MODEL_EXPR_TEMPLATE:
        segments_text(access, expr->template, out);
        break;
    case MODEL_EXPR_CALL:
        call_text(access, expr, out);
        break;
    case MODEL_EXPR_ELSE:
        pair_text(access, expr, " ?? ", out);
        break;
    case MODEL_EXPR_ADD:
        pair_text(access, expr, " + ", out);
        break;
    case MODEL_EXPR_SUBTRACT:
        pair_text(access, expr, " - ", out);
        break;
    case MODEL_EXPR_MULTIPLY:
        pair_text(access, expr, " * ", out);
        break;
    }
}

void model_template_text(const struct model_template *template, struct buf *out)
{
    if (template->bare && template->segment_count == 1 && template->segments[0].expr != NULL) {
        model_expr_text(NULL, template->segments[0].expr, out);
        return;
    }
    buf_byte(out, '"');
    buf_slice(out, template->source);
    buf_byte(out, '"');
}

// ---- Attributes and indexes -------------------------------------------------------------------

void model_attribute_text(const struct model_attribute *attribute, struct buf *out)
{
    model_type_text(attribute->type, out);
    buf_text(out, model_optional_mark(attribute));
    for (const struct model_modifier *one = model_modifiers; one->word != NULL; one++) {
        if (one->normal != 0 ? (attribute->normal & one->normal) != 0
                             : *((const bool *)((const char *)attribute + one->flag)))
            buf_printf(out, " %s", one->word);
    }
    if (attribute->matches != NULL)
        buf_printf(out, " matches \"%.*s\"", SLICE_FMT(attribute->pattern));
    if (attribute->tally != NULL) {
        buf_text(out, " = ");
        model_line_text(attribute->tally->text, out);
    } else if (attribute->otherwise != NULL) {
        buf_text(out, " = ");
        model_expr_text(NULL, attribute->otherwise, out);
    }
    if (attribute->on_update)
        buf_text(out, " on update");
}

static void parts_text(const struct key_part *parts, size_t count, struct buf *out)
{
    for (size_t i = 0; i < count; i++) {
        buf_text(out, i == 0 ? "" : " + ");
        buf_slice(out, parts[i].name);
        if (parts[i].type != VALUE_S)
            buf_text(out, parts[i].type == VALUE_N ? " number" : " binary");
    }
}

void model_index_text(const struct model_index *index, struct buf *out)
{
    const struct key_schema *keys = &index->keys;
    buf_byte(out, '(');
    parts_text(keys->parts, keys->hash_count, out);
    if (keys->range_count > 0)
        buf_text(out, ", ");
    parts_text(keys->parts + keys->hash_count, keys->range_count, out);
    buf_byte(out, ')');
    if (index->projection == MODEL_PROJECT_KEYS)
        buf_text(out, " project keys");
    if (index->projection == MODEL_PROJECT_INCLUDE) {
        buf_text(out, " project (");
        names_text(index->include, index->include_count, ", ", out);
        buf_byte(out, ')');
    }
}

// ---- Access patterns --------------------------------------------------------------------------

void model_conditions_text(const struct model_access *access, const struct model_condition *list,
                           size_t count, struct buf *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct model_condition *condition = &list[i];
        buf_text(out, i == 0 ? "" : " and ");
        names_text(condition->steps, condition->step_count, ".", out);
        buf_printf(out, " %s", model_op_words[condition->op]);
        for (size_t k = 0; k < 2 && condition->values[k] != NULL; k++) {
            buf_text(out, k == 0 ? " " : " and ");
            model_expr_text(access, condition->values[k], out);
        }
    }
}

void model_params_text(const struct model_access *access, struct buf *out)
{
    buf_byte(out, '(');
    for (size_t i = 0; i < access->param_count; i++) {
        buf_printf(out, "%s%.*s ", i == 0 ? "" : ", ", SLICE_FMT(access->params[i].name));
        model_type_text(access->params[i].type, out);
    }
    buf_byte(out, ')');
}

void model_access_text(const struct model_access *access, struct buf *out)
{
    model_params_text(access, out);
    buf_text(out, access->one ? " = one " : access->count ? " = count " : " = ");
    for (size_t i = 0; i < access->entity_count; i++) {
        buf_text(out, i == 0 ? "" : ", ");
        buf_slice(out, access->entities[i]->name);
    }
    if (access->index != NULL)
        buf_printf(out, " via %.*s", SLICE_FMT(access->index->name));
    buf_text(out, " where ");
    model_conditions_text(access, access->keys, access->key_count, out);
    buf_text(out, access->filter_count > 0 ? " filter " : "");
    model_conditions_text(access, access->filters, access->filter_count, out);
    if (access->descending)
        buf_text(out, " descending");
    if (access->limit > 0)
        buf_printf(out, " limit %llu", (unsigned long long)access->limit);
    if (access->consistent)
        buf_text(out, " consistent");
}
