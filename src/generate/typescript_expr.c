// Expressions and templates as TypeScript. A helper gives undefined if something it needs is
// missing, and `??` is the same in both languages, so that the translation is word for word. Times
// are converted where the form wanted is not the form there is.
#include "generate/typescript.h"

#include "eval/eval.h"

// A call of a helper, which the file then has.
static struct slice called(struct typescript *ts, enum typescript_helper helper, const char *name,
                           struct slice arguments)
{
    ts->used |= 1U << helper;
    return TEXT(ts->w, "%s(%s)", slice_str(name), arguments);
}

// ---- Leaves ----------------------------------------------------------------------------------

// A time in the form of its attribute; now() is written in milliseconds anyway.
static struct slice time_form(struct typescript *ts, unsigned form, struct slice expr)
{
    if (form == MODEL_MILLISECONDS && slice_is(expr, "now.toISOString()"))
        return expr;
    return called(ts, TS_UTC, "utc",
                  TEXT(ts->w,
                       form == MODEL_SECONDS        ? "%s, 0"
                       : form == MODEL_MILLISECONDS ? "%s, 3"
                                                    : "%s, 6",
                       expr));
}

struct slice typescript_normal(struct typescript *ts, unsigned normal, struct slice expr)
{
    if ((normal & MODEL_TIMES) != 0)
        return time_form(ts, normal & MODEL_TIMES, expr);
    // Inner calls first: what is trimmed is then written in capitals, or in small letters.
    if ((normal & MODEL_TRIM) != 0)
        expr = called(ts, TS_TRIM, "trim", expr);
    if ((normal & MODEL_SQUEEZE) != 0)
        expr = called(ts, TS_SQUEEZE, "squeeze", expr);
    if ((normal & MODEL_NFC) != 0)
        expr = called(ts, TS_NFC, "nfc", expr);
    if ((normal & MODEL_UPPER) != 0)
        expr = called(ts, TS_UPPER, "upper", expr);
    if ((normal & MODEL_LOWER) != 0)
        expr = called(ts, TS_LOWER, "lower", expr);
    return expr;
}

static struct slice path_expr(struct typescript *ts, const struct model_expr *expr)
{
    struct slice path = TEXT(ts->w, "item%s", typescript_dot(ts, expr->steps[0]));
    ts->item = true;
    for (size_t i = 1; i < expr->step_count; i++)
        path = TEXT(ts->w, "%s, %q", path, expr->steps[i]);
    return expr->step_count > 1 ? called(ts, TS_STEP, "step", path) : path;
}

static struct slice param(struct typescript *ts, const struct model_expr *expr,
                          const struct model_access *access)
{
    return TEXT(ts->w, "params%s", typescript_dot(ts, access->params[expr->param].name));
}

// A parameter is normalised as the attribute of the same name is, or by its own type.
static struct slice param_expr(struct typescript *ts, const struct model_expr *expr,
                               const struct model_access *access)
{
    const struct model_attribute *attribute = NULL;
    for (size_t i = 0; i < access->entity_count && attribute == NULL; i++)
        attribute = model_entity_attribute(access->entities[i], access->params[expr->param].name);
    return typescript_normal(ts,
                             attribute != NULL ? attribute->normal
                                               : model_type_form(access->params[expr->param].type),
                             param(ts, expr, access));
}

// ---- Calls -----------------------------------------------------------------------------------

static struct slice arguments(struct typescript *ts, const struct model_expr *expr,
                              const struct model_access *access)
{
    struct slice list = {NULL, 0};
    bool form = expr->function == MODEL_FN_LOWER || expr->function == MODEL_FN_UPPER ||
                expr->function == MODEL_FN_TRIM;
    for (size_t i = 0; i < expr->arg_count; i++) {
        // The pattern brings a parameter to its normal form itself.
        bool bare = form && expr->args[i]->kind == MODEL_EXPR_PARAM;
        text_add(ts->w, &list, ", ",
                 bare ? param(ts, expr->args[i], access)
                      : typescript_expr(ts, expr->args[i], MODEL_ANY, access));
    }
    return list;
}

static bool is_seconds(enum model_kind kind)
{
    return kind == MODEL_EPOCH || kind == MODEL_NUMBER || kind == MODEL_INTEGER;
}

static struct slice now_expr(struct typescript *ts, enum model_kind want)
{
    ts->now = true;
    return is_seconds(want)     ? SLICE_LIT("Math.floor(now.getTime() / 1000)")
           : want == MODEL_DATE ? SLICE_LIT("now.toISOString().slice(0, 10)")
                                : SLICE_LIT("now.toISOString()");
}

static struct slice call_expr(struct typescript *ts, const struct model_expr *expr,
                              enum model_kind want, const struct model_access *access)
{
    static const struct {
        enum typescript_helper helper;
        const char *name;
    } calls[] = {
        [MODEL_FN_LOWER] = {TS_LOWER, "lower"},    [MODEL_FN_UPPER] = {TS_UPPER, "upper"},
        [MODEL_FN_TRIM] = {TS_TRIM, "trim"},       [MODEL_FN_PAD] = {TS_PAD, "pad"},
        [MODEL_FN_SHA256] = {TS_SHA256, "sha256"}, [MODEL_FN_DATE_PART] = {TS_DATEPART, "datePart"},
        [MODEL_FN_SIZE] = {TS_SIZE, "size"},       [MODEL_FN_FIXED] = {TS_FIXED, "fixed"},
        [MODEL_FN_ESCAPE] = {TS_ESCAPE, "escape"}, [MODEL_FN_FORBID] = {TS_FORBID, "forbid"},
        [MODEL_FN_RAW] = {TS_TEXT, "text"},
    };
    switch (expr->function) {
    case MODEL_FN_NOW:
        return now_expr(ts, want);
    case MODEL_FN_UUID:
        ts->used |= TS_UUID;
        return SLICE_LIT("randomUUID()");
    case MODEL_FN_ULID:
        ts->now = true;
        return called(ts, TS_ULID, "ulid", SLICE_LIT("now"));
    case MODEL_FN_ACTOR: // only the server knows
    case MODEL_FN_OPERATION:
    case MODEL_FN_ITEM:
    case MODEL_FN_OLD:
    case MODEL_FN_EACH:
    case MODEL_FN_EVENT:
        return SLICE_LIT("undefined");
    default:
        return called(ts, calls[expr->function].helper, calls[expr->function].name,
                      arguments(ts, expr, access));
    }
}

// ---- All of them -----------------------------------------------------------------------------

// The kind of value an expression gives, as far as that is known.
static enum model_kind kind_of(const struct model_expr *expr, enum model_kind want)
{
    switch (expr->kind) {
    case MODEL_EXPR_PATH:
        return expr->attribute != NULL && expr->step_count == 1
                   ? type_bare(expr->attribute->type)->kind
                   : MODEL_ANY;
    case MODEL_EXPR_CALL:
        return expr->function == MODEL_FN_NOW || expr->function == MODEL_FN_SIZE ? want
                                                                                 : MODEL_STRING;
    case MODEL_EXPR_VALUE:
        return value_type(expr->value) == VALUE_N ? MODEL_NUMBER : MODEL_STRING;
    case MODEL_EXPR_TEMPLATE:
        return MODEL_STRING;
    case MODEL_EXPR_MULTIPLY:
        return MODEL_NUMBER;
    case MODEL_EXPR_ADD:
    case MODEL_EXPR_SUBTRACT:
        return is_seconds(want) && is_seconds(kind_of(expr->args[0], want)) ? want : MODEL_ANY;
    default:
        return MODEL_ANY;
    }
}

// A time in the form that is wanted. What may be anything is converted at run time: the helpers
// leave alone what is in that form already.
static struct slice converted(struct typescript *ts, struct slice text, enum model_kind have,
                              enum model_kind want)
{
    bool number = is_seconds(have) || have == MODEL_ANY;
    if (is_seconds(want) && (have == MODEL_TIMESTAMP || have == MODEL_DATE || have == MODEL_ANY))
        return called(ts, TS_TIME, "seconds", text);
    if (want == MODEL_TIMESTAMP && number)
        return called(ts, TS_TIMESTAMP, "timestamp", text);
    if (want == MODEL_DATE && (number || have == MODEL_TIMESTAMP))
        return called(ts, TS_DAY, "day", text);
    return text;
}

static struct slice raw_expr(struct typescript *ts, const struct model_expr *expr,
                             enum model_kind want, const struct model_access *access)
{
    switch (expr->kind) {
    case MODEL_EXPR_VALUE:
        return text_value(ts->w, expr->value, "undefined");
    case MODEL_EXPR_PATH:
        return path_expr(ts, expr);
    case MODEL_EXPR_PARAM:
        return param_expr(ts, expr, access);
    case MODEL_EXPR_TEMPLATE:
        return typescript_template(ts, expr->template, access);
    case MODEL_EXPR_CALL:
        return call_expr(ts, expr, want, access);
    case MODEL_EXPR_ELSE:
        return TEXT(ts->w, "(%s ?? %s)", typescript_expr(ts, expr->args[0], want, access),
                    typescript_expr(ts, expr->args[1], want, access));
    case MODEL_EXPR_MULTIPLY:
        return called(ts, TS_PRODUCT, "product",
                      TEXT(ts->w, "%s, %s",
                           typescript_expr(ts, expr->args[0], MODEL_NUMBER, access),
                           typescript_expr(ts, expr->args[1], MODEL_NUMBER, access)));
    default: // a sum
        return called(ts, TS_SUM, "sum",
                      TEXT(ts->w, expr->kind == MODEL_EXPR_ADD ? "%s, %s, 1" : "%s, %s, -1",
                           typescript_expr(ts, expr->args[0], want, access),
                           typescript_expr(ts, expr->args[1], MODEL_ANY, access)));
    }
}

struct slice typescript_expr(struct typescript *ts, const struct model_expr *expr,
                             enum model_kind want, const struct model_access *access)
{
    struct slice raw = raw_expr(ts, expr, want, access);
    return expr->kind == MODEL_EXPR_ELSE || expr->kind == MODEL_EXPR_VALUE
               ? raw
               : converted(ts, raw, kind_of(expr, want), want);
}

struct slice typescript_template(struct typescript *ts, const struct model_template *template,
                                 const struct model_access *access)
{
    struct slice parts = {NULL, 0};
    if (template->bare && template->segment_count == 1)
        return typescript_expr(ts, template->segments[0].expr, MODEL_ANY, access);
    if (template->segment_count == 0)
        return SLICE_LIT("\"\"");
    for (size_t i = 0; i < template->segment_count; i++) {
        const struct model_segment *segment = &template->segments[i];
        text_add(ts->w, &parts, ", ",
                 segment->expr == NULL ? TEXT(ts->w, "%q", segment->literal)
                                       : typescript_expr(ts, segment->expr, MODEL_ANY, access));
    }
    bool constant = template->segment_count == 1 && template->segments[0].expr == NULL;
    return constant ? parts : called(ts, TS_TEXT, "join", parts);
}

// ---- Inside of objects -----------------------------------------------------------------------

enum { NESTED_DEPTH = 8 };

bool typescript_nested_needed(const struct model_type *type, unsigned depth)
{
    if (depth > NESTED_DEPTH)
        return false;
    if ((type->kind == MODEL_LIST || type->kind == MODEL_RECORD) && type->item != NULL)
        return typescript_nested_needed(type->item, depth + 1);
    for (size_t i = 0; type->kind == MODEL_UNION && i < type->option_count; i++) {
        if (typescript_nested_needed(type->options[i], depth + 1))
            return true;
    }
    for (size_t i = 0; type->kind == MODEL_OBJECT && i < type->field_count; i++) {
        const struct model_attribute *field = &type->fields[i];
        if (field->normal != 0 || field->otherwise != NULL ||
            typescript_nested_needed(field->type, depth + 1))
            return true;
    }
    return false;
}

static struct slice nested_field(struct typescript *ts, const struct model_attribute *field)
{
    struct slice fit = {NULL, 0};
    struct slice make = {NULL, 0};
    if (field->normal != 0)
        fit = TEXT(ts->w, " fit: (value: unknown) => (typeof value !== \"string\" ? value : %s),",
                   typescript_normal(ts, field->normal, SLICE_LIT("value")));
    else if (typescript_nested_needed(field->type, 0))
        fit = TEXT(ts->w, " fit: (value: unknown) => %s,", typescript_nested(ts, field->type));
    if (field->otherwise != NULL)
        make = TEXT(ts->w, " make: () => %s,",
                    typescript_expr(ts, field->otherwise, model_kind_wanted(field->type), NULL));
    return TEXT(ts->w, "%s: {%s%s%s }", typescript_member(ts, field->name), fit, make,
                slice_str(field->optional ? " optional: true" : ""));
}

struct slice typescript_nested(struct typescript *ts, const struct model_type *type)
{
    if (type->name.len > 0 && typescript_nested_needed(type, 0))
        return TEXT(ts->w, "shapeOf%s(value, item, now, put)", typescript_named(ts, type->name));
    return typescript_nested_body(ts, type);
}

struct slice typescript_nested_body(struct typescript *ts, const struct model_type *type)
{
    struct buf fields;
    for (size_t i = 0; type->kind == MODEL_UNION && i < type->option_count; i++) {
        if (typescript_nested_needed(type->options[i], 0))
            return typescript_nested(ts, type->options[i]);
    }
    if (type->kind == MODEL_LIST || type->kind == MODEL_RECORD)
        return called(ts, TS_EACH, "each",
                      TEXT(ts->w, "value, (value) => %s", typescript_nested(ts, type->item)));
    buf_init(&fields, LIMIT_MODEL_FILE);
    for (size_t i = 0; i < type->field_count; i++) {
        const struct model_attribute *field = &type->fields[i];
        if (field->normal == 0 && field->otherwise == NULL &&
            !typescript_nested_needed(field->type, 0))
            continue;
        buf_text(&fields, fields.len == 0 ? "" : ", ");
        buf_slice(&fields, nested_field(ts, field));
    }
    return called(ts, TS_NESTED, "shape",
                  TEXT(ts->w, "value, put, { %s }", text_keep(ts->w, &fields)));
}
