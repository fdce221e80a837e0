// Expressions and templates as TypeScript. A helper gives undefined if something it needs is
// missing, and `??` is the same in both languages, so that the translation is word for word. Times
// are converted where the form wanted is not the form there is.
#include "generate/typescript.h"

#include "guard/eval.h"

static void use(struct typescript *ts, enum typescript_helper helper)
{
    ts->used |= 1U << helper;
}

// ---- Normal forms ----------------------------------------------------------------------------

size_t typescript_normal(struct typescript *ts, unsigned normal)
{
    static const struct {
        unsigned bit;
        enum typescript_helper helper;
        const char *call;
    } forms[] = {
        {MODEL_LOWER, TS_LOWER, "lower("},
        {MODEL_UPPER, TS_UPPER, "upper("},
        {MODEL_TRIM, TS_TRIM, "trim("},
    };
    size_t open = 0;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if ((normal & forms[i].bit) == 0)
            continue;
        use(ts, forms[i].helper);
        buf_text(ts->out, forms[i].call);
        open++;
    }
    return open;
}

static void close_all(struct typescript *ts, size_t open)
{
    while (open-- > 0)
        buf_byte(ts->out, ')');
}

// ---- Leaves ----------------------------------------------------------------------------------

static void value_expr(struct typescript *ts, struct slice value)
{
    switch (value_type(value)) {
    case VALUE_S:
        text_quoted(ts->out, value_bytes(value));
        break;
    case VALUE_N:
        text_number(ts->out, value_bytes(value));
        break;
    case VALUE_BOOL:
        buf_text(ts->out, value_bool(value) ? "true" : "false");
        break;
    case VALUE_L:
        buf_text(ts->out, "[]");
        break;
    case VALUE_M:
        buf_text(ts->out, "{}");
        break;
    default:
        buf_text(ts->out, "undefined");
    }
}

static void path_expr(struct typescript *ts, const struct model_expr *expr)
{
    bool deep = expr->step_count > 1;
    if (deep) {
        use(ts, TS_STEP);
        buf_text(ts->out, "step(");
    }
    buf_text(ts->out, "item");
    typescript_dot(ts->out, expr->steps[0]);
    for (size_t i = 1; i < expr->step_count; i++) {
        buf_text(ts->out, ", ");
        text_quoted(ts->out, expr->steps[i]);
    }
    buf_text(ts->out, deep ? ")" : "");
}

// A parameter is normalised as the attribute of the same name is.
static void param_expr(struct typescript *ts, const struct model_expr *expr,
                       const struct model_access *access)
{
    struct slice name = access->params[expr->param].name;
    unsigned normal = 0;
    for (size_t i = 0; i < access->entity_count; i++) {
        const struct model_attribute *attribute = model_entity_attribute(access->entities[i], name);
        if (attribute != NULL) {
            normal = attribute->normal;
            break;
        }
    }
    size_t open = typescript_normal(ts, normal);
    buf_text(ts->out, "params");
    typescript_dot(ts->out, name);
    close_all(ts, open);
}

// ---- Calls -----------------------------------------------------------------------------------

static void arguments(struct typescript *ts, const struct model_expr *expr,
                      const struct model_access *access)
{
    for (size_t i = 0; i < expr->arg_count; i++) {
        bool form = expr->function == MODEL_FN_LOWER || expr->function == MODEL_FN_UPPER ||
                    expr->function == MODEL_FN_TRIM;
        buf_text(ts->out, i == 0 ? "" : ", ");
        if (form && expr->args[i]->kind == MODEL_EXPR_PARAM) {
            // The pattern brings it to its normal form itself.
            buf_text(ts->out, "params");
            typescript_dot(ts->out, access->params[expr->args[i]->param].name);
        } else {
            typescript_expr(ts, expr->args[i], MODEL_ANY, access);
        }
    }
    buf_byte(ts->out, ')');
}

static void now_expr(struct typescript *ts, enum model_kind want)
{
    if (want == MODEL_EPOCH || want == MODEL_NUMBER || want == MODEL_INTEGER)
        buf_text(ts->out, "Math.floor(now.getTime() / 1000)");
    else if (want == MODEL_DATE)
        buf_text(ts->out, "now.toISOString().slice(0, 10)");
    else
        buf_text(ts->out, "now.toISOString()");
}

static void call_expr(struct typescript *ts, const struct model_expr *expr, enum model_kind want,
                      const struct model_access *access)
{
    static const struct {
        enum typescript_helper helper;
        const char *name;
    } calls[] = {
        [MODEL_FN_LOWER] = {TS_LOWER, "lower("},
        [MODEL_FN_UPPER] = {TS_UPPER, "upper("},
        [MODEL_FN_TRIM] = {TS_TRIM, "trim("},
        [MODEL_FN_PAD] = {TS_PAD, "pad("},
        [MODEL_FN_SHA256] = {TS_SHA256, "sha256("},
        [MODEL_FN_DATE_PART] = {TS_DATEPART, "datePart("},
        [MODEL_FN_SIZE] = {TS_SIZE, "size("},
    };
    switch (expr->function) {
    case MODEL_FN_NOW:
        now_expr(ts, want);
        return;
    case MODEL_FN_UUID:
        ts->used |= TS_UUID;
        buf_text(ts->out, "randomUUID()");
        return;
    case MODEL_FN_ULID:
        use(ts, TS_ULID);
        buf_text(ts->out, "ulid(now)");
        return;
    default:
        use(ts, calls[expr->function].helper);
        buf_text(ts->out, calls[expr->function].name);
        arguments(ts, expr, access);
    }
}

// ---- All of them -----------------------------------------------------------------------------

static bool is_seconds(enum model_kind kind)
{
    return kind == MODEL_EPOCH || kind == MODEL_NUMBER || kind == MODEL_INTEGER;
}

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
    case MODEL_EXPR_ADD:
    case MODEL_EXPR_SUBTRACT:
        return is_seconds(want) && is_seconds(kind_of(expr->args[0], want)) ? want : MODEL_ANY;
    default:
        return MODEL_ANY;
    }
}

// Opens the conversion of a time into the form that is wanted; true if there is one to close.
static bool convert(struct typescript *ts, enum model_kind have, enum model_kind want)
{
    bool time = have == MODEL_TIMESTAMP || have == MODEL_DATE || have == MODEL_ANY;
    if (is_seconds(want) && time) {
        use(ts, TS_TIME);
        buf_text(ts->out, "seconds(");
        return true;
    }
    if (want == MODEL_TIMESTAMP && (is_seconds(have) || have == MODEL_ANY)) {
        use(ts, TS_TIMESTAMP);
        buf_text(ts->out, "timestamp(");
        return true;
    }
    if (want == MODEL_DATE && (is_seconds(have) || have == MODEL_ANY || have == MODEL_TIMESTAMP)) {
        use(ts, TS_DAY);
        buf_text(ts->out, "day(");
        return true;
    }
    return false;
}

static void sum_expr(struct typescript *ts, const struct model_expr *expr, enum model_kind want,
                     const struct model_access *access)
{
    use(ts, TS_SUM);
    buf_text(ts->out, "sum(");
    typescript_expr(ts, expr->args[0], want, access);
    buf_text(ts->out, ", ");
    typescript_expr(ts, expr->args[1], MODEL_ANY, access);
    buf_text(ts->out, expr->kind == MODEL_EXPR_ADD ? ", 1)" : ", -1)");
}

static void raw_expr(struct typescript *ts, const struct model_expr *expr, enum model_kind want,
                     const struct model_access *access)
{
    switch (expr->kind) {
    case MODEL_EXPR_VALUE:
        value_expr(ts, expr->value);
        break;
    case MODEL_EXPR_PATH:
        path_expr(ts, expr);
        break;
    case MODEL_EXPR_PARAM:
        param_expr(ts, expr, access);
        break;
    case MODEL_EXPR_TEMPLATE:
        typescript_template(ts, expr->template, access);
        break;
    case MODEL_EXPR_CALL:
        call_expr(ts, expr, want, access);
        break;
    case MODEL_EXPR_ELSE:
        buf_byte(ts->out, '(');
        typescript_expr(ts, expr->args[0], want, access);
        buf_text(ts->out, " ?? ");
        typescript_expr(ts, expr->args[1], want, access);
        buf_byte(ts->out, ')');
        break;
    case MODEL_EXPR_ADD:
    case MODEL_EXPR_SUBTRACT:
        sum_expr(ts, expr, want, access);
        break;
    }
}

void typescript_expr(struct typescript *ts, const struct model_expr *expr, enum model_kind want,
                     const struct model_access *access)
{
    bool closes = expr->kind != MODEL_EXPR_ELSE && expr->kind != MODEL_EXPR_VALUE &&
                  convert(ts, kind_of(expr, want), want);
    raw_expr(ts, expr, want, access);
    buf_text(ts->out, closes ? ")" : "");
}

void typescript_template(struct typescript *ts, const struct model_template *template,
                         const struct model_access *access)
{
    if (template->bare && template->segment_count == 1) {
        typescript_expr(ts, template->segments[0].expr, MODEL_ANY, access);
        return;
    }
    if (template->segment_count == 0) {
        buf_text(ts->out, "\"\"");
        return;
    }
    bool constant = template->segment_count == 1 && template->segments[0].expr == NULL;
    if (!constant) {
        use(ts, TS_TEXT);
        buf_text(ts->out, "join(");
    }
    for (size_t i = 0; i < template->segment_count; i++) {
        const struct model_segment *segment = &template->segments[i];
        buf_text(ts->out, i == 0 ? "" : ", ");
        if (segment->expr == NULL)
            text_quoted(ts->out, segment->literal);
        else
            typescript_expr(ts, segment->expr, MODEL_ANY, access);
    }
    buf_text(ts->out, constant ? "" : ")");
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

static void nested_field(struct typescript *ts, const struct model_attribute *field)
{
    bool inner = typescript_nested_needed(field->type, 0);
    typescript_member(ts->out, field->name);
    buf_text(ts->out, ": {");
    if (field->normal != 0 || inner) {
        buf_text(ts->out, " fit: (value: unknown) => ");
        if (field->normal != 0) {
            buf_text(ts->out, "(typeof value !== \"string\" ? value : ");
            size_t open = typescript_normal(ts, field->normal);
            buf_text(ts->out, "value)");
            close_all(ts, open);
        } else {
            typescript_nested(ts, field->type);
        }
        buf_byte(ts->out, ',');
    }
    if (field->otherwise != NULL) {
        buf_text(ts->out, " make: () => ");
        typescript_expr(ts, field->otherwise, model_kind_wanted(field->type), NULL);
        buf_byte(ts->out, ',');
    }
    buf_text(ts->out, field->optional ? " optional: true }" : " }");
}

void typescript_nested(struct typescript *ts, const struct model_type *type)
{
    if (type->name.len > 0 && typescript_nested_needed(type, 0)) {
        buf_text(ts->out, "shapeOf");
        typescript_named(ts, type->name);
        buf_text(ts->out, "(value, item, now, put)");
        return;
    }
    typescript_nested_body(ts, type);
}

void typescript_nested_body(struct typescript *ts, const struct model_type *type)
{
    if (type->kind == MODEL_UNION) {
        for (size_t i = 0; i < type->option_count; i++) {
            if (typescript_nested_needed(type->options[i], 0)) {
                typescript_nested(ts, type->options[i]);
                return;
            }
        }
    }
    if (type->kind == MODEL_LIST || type->kind == MODEL_RECORD) {
        use(ts, TS_EACH);
        buf_text(ts->out, "each(value, (value) => ");
        typescript_nested(ts, type->item);
        buf_byte(ts->out, ')');
        return;
    }
    use(ts, TS_NESTED);
    buf_text(ts->out, "shape(value, put, { ");
    for (size_t i = 0, shown = 0; i < type->field_count; i++) {
        const struct model_attribute *field = &type->fields[i];
        if (field->normal == 0 && field->otherwise == NULL &&
            !typescript_nested_needed(field->type, 0))
            continue;
        buf_text(ts->out, shown++ == 0 ? "" : ", ");
        nested_field(ts, field);
    }
    buf_text(ts->out, " })");
}
