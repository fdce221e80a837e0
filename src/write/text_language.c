// Expressions and templates back in the language of model files, for people to read.
#include "diff/diff.h"
#include "write/text.h"

#include "value/number.h"

static const char *const function_names[] = {
#define X(function, name, least, most) name,
    MODEL_FUNCTION_LIST(X)
#undef X
};

static const char *const op_texts[] = {
#define X(op, text) text,
    MODEL_OP_LIST(X)
#undef X
};

const char *text_op(enum model_op op)
{
    return op_texts[op];
}

struct slice text_type(struct writer *w, const struct model_type *type)
{
    struct buf text;
    buf_init(&text, LIMIT_MODEL_FILE);
    model_type_text(type, &text);
    return text_keep(w, &text);
}

// In the largest unit that gives a whole number. There are no weeks: who wrote 7d reads 7d.
static struct slice duration_text(struct writer *w, struct slice value)
{
    static const struct {
        int64_t seconds;
        const char *unit;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}};
    int64_t seconds;
    size_t i = 0;
    if (value_type(value) != VALUE_N || !number_to_i64(value_bytes(value), &seconds))
        return SLICE_LIT("");
    while (units[i].seconds > 1 && (seconds == 0 || seconds % units[i].seconds != 0))
        i++;
    struct buf text;
    buf_init(&text, 64);
    buf_i64(&text, seconds / units[i].seconds);
    buf_text(&text, units[i].unit);
    return text_keep(w, &text);
}

struct slice text_value(struct writer *w, struct slice value, const char *nothing)
{
    switch (value_type(value)) {
    case VALUE_S:
        return TEXT(w, "%q", value_bytes(value));
    case VALUE_N:
        return text_number(w, value_bytes(value));
    case VALUE_BOOL:
        return slice_str(value_bool(value) ? "true" : "false");
    case VALUE_L:
        return SLICE_LIT("[]");
    case VALUE_M:
        return SLICE_LIT("{}");
    default:
        return slice_str(nothing);
    }
}

static struct slice path_text(struct writer *w, const struct model_expr *expr)
{
    struct slice path = {NULL, 0};
    for (size_t i = 0; i < expr->step_count; i++)
        text_add(w, &path, ".", expr->steps[i]);
    return path;
}

static struct slice call_text(struct writer *w, const struct model_expr *expr,
                              const struct model_access *access)
{
    struct slice arguments = {NULL, 0};
    for (size_t i = 0; i < expr->arg_count; i++)
        text_add(w, &arguments, ", ", text_expr(w, expr->args[i], access));
    return TEXT(w, "%s(%s)", slice_str(function_names[expr->function]), arguments);
}

static struct slice template_text(struct writer *w, const struct model_template *template,
                                  const struct model_access *access)
{
    struct slice text = {NULL, 0};
    if (access == NULL && !template->bare && template->source.len > 0)
        return template->source;
    for (size_t i = 0; i < template->segment_count; i++) {
        const struct model_segment *segment = &template->segments[i];
        text_add(w, &text, "",
                 segment->expr == NULL ? segment->literal
                                       : TEXT(w, "{%s}", text_expr(w, segment->expr, access)));
    }
    return text;
}

static struct slice operand(struct writer *w, const struct model_expr *expr, size_t which,
                            const struct model_access *access)
{
    struct slice text = text_expr(w, expr->args[which], access);
    return model_expr_enclosed(expr, which) ? TEXT(w, "(%s)", text) : text;
}

struct slice text_expr(struct writer *w, const struct model_expr *expr,
                       const struct model_access *access)
{
    static const char *const between[] = {[MODEL_EXPR_ADD] = "%s + %s",
                                          [MODEL_EXPR_SUBTRACT] = "%s - %s",
                                          [MODEL_EXPR_MULTIPLY] = "%s * %s",
                                          [MODEL_EXPR_ELSE] = "%s ?? %s"};
    switch (expr->kind) {
    case MODEL_EXPR_VALUE:
        return expr->duration ? duration_text(w, expr->value) : text_value(w, expr->value, "null");
    case MODEL_EXPR_PATH:
        return path_text(w, expr);
    case MODEL_EXPR_PARAM:
        return access != NULL ? access->params[expr->param].name : SLICE_LIT("");
    case MODEL_EXPR_TEMPLATE:
        return TEXT(w, "\"%s\"", template_text(w, expr->template, access));
    case MODEL_EXPR_CALL:
        return call_text(w, expr, access);
    default:
        return TEXT(w, between[expr->kind], operand(w, expr, 0, access),
                    operand(w, expr, 1, access));
    }
}

struct slice text_key_part(struct writer *w, const struct model_key_part *part)
{
    return part->template != NULL ? template_text(w, part->template, NULL)
                                  : TEXT(w, "{%s}", part->name);
}
