// Expressions and templates back in the language of model files, for people to read.
#include "generate/text.h"

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

static void duration_text(struct buf *out, struct slice value)
{
    static const struct {
        int64_t seconds;
        char unit;
    } units[] = {{604800, 'w'}, {86400, 'd'}, {3600, 'h'}, {60, 'm'}};
    int64_t seconds;
    if (value_type(value) != VALUE_N || !number_to_i64(value_bytes(value), &seconds))
        return;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        // Weeks only where days would not be what one wrote: 7d stays 7d.
        if (units[i].unit != 'w' && seconds != 0 && seconds % units[i].seconds == 0) {
            buf_printf(out, "%lld%c", (long long)(seconds / units[i].seconds), units[i].unit);
            return;
        }
    }
    buf_printf(out, "%llds", (long long)seconds);
}

static void value_text(struct buf *out, const struct model_expr *expr)
{
    if (expr->duration) {
        duration_text(out, expr->value);
        return;
    }
    switch (value_type(expr->value)) {
    case VALUE_S:
        text_quoted(out, value_bytes(expr->value));
        break;
    case VALUE_N:
        text_number(out, value_bytes(expr->value));
        break;
    case VALUE_BOOL:
        buf_text(out, value_bool(expr->value) ? "true" : "false");
        break;
    case VALUE_L:
        buf_text(out, "[]");
        break;
    case VALUE_M:
        buf_text(out, "{}");
        break;
    default:
        buf_text(out, "null");
    }
}

static void path_text(struct buf *out, const struct model_expr *expr)
{
    for (size_t i = 0; i < expr->step_count; i++) {
        if (i > 0)
            buf_byte(out, '.');
        buf_slice(out, expr->steps[i]);
    }
}

static void call_text(struct buf *out, const struct model_expr *expr,
                      const struct model_access *access)
{
    buf_printf(out, "%s(", function_names[expr->function]);
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (i > 0)
            buf_text(out, ", ");
        text_expr(out, expr->args[i], access);
    }
    buf_byte(out, ')');
}

void text_expr(struct buf *out, const struct model_expr *expr, const struct model_access *access)
{
    const char *between = " ?? ";
    switch (expr->kind) {
    case MODEL_EXPR_VALUE:
        value_text(out, expr);
        return;
    case MODEL_EXPR_PATH:
        path_text(out, expr);
        return;
    case MODEL_EXPR_PARAM:
        if (access != NULL && expr->param < access->param_count)
            buf_slice(out, access->params[expr->param].name);
        return;
    case MODEL_EXPR_TEMPLATE:
        buf_byte(out, '"');
        text_template(out, expr->template, access);
        buf_byte(out, '"');
        return;
    case MODEL_EXPR_CALL:
        call_text(out, expr, access);
        return;
    case MODEL_EXPR_ADD:
        between = " + ";
        break;
    case MODEL_EXPR_SUBTRACT:
        between = " - ";
        break;
    case MODEL_EXPR_ELSE:
        break;
    }
    text_expr(out, expr->args[0], access);
    buf_text(out, between);
    text_expr(out, expr->args[1], access);
}

void text_template(struct buf *out, const struct model_template *template,
                   const struct model_access *access)
{
    if (access == NULL && !template->bare && template->source.len > 0) {
        buf_slice(out, template->source);
        return;
    }
    for (size_t i = 0; i < template->segment_count; i++) {
        const struct model_segment *segment = &template->segments[i];
        if (segment->expr == NULL) {
            buf_slice(out, segment->literal);
            continue;
        }
        buf_byte(out, '{');
        text_expr(out, segment->expr, access);
        buf_byte(out, '}');
    }
}

void text_key_part(struct buf *out, const struct model_key_part *part)
{
    if (part->template != NULL) {
        text_template(out, part->template, NULL);
        return;
    }
    buf_byte(out, '{');
    buf_slice(out, part->name);
    buf_byte(out, '}');
}
