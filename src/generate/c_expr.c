// Expressions and templates as C: calls of helpers that give a text, or NULL if something is
// missing.
#include "generate/c.h"

#include "guard/eval.h"
#include "value/number.h"

void c_string(struct buf *out, struct slice text)
{
    buf_byte(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c == '?')
            buf_text(out, "\\?"); // no trigraphs
        else if (c < 0x20 || c >= 0x7f)
            buf_printf(out, "\\%03o", c);
        else
            buf_byte(out, c);
    }
    buf_byte(out, '"');
}

// ---- Leaves ----------------------------------------------------------------------------------

static void value_text(struct c_file *c, struct slice value)
{
    struct buf number;
    switch (value_type(value)) {
    case VALUE_S:
        c_string(c->out, value_bytes(value));
        break;
    case VALUE_N:
        buf_init(&number, 256);
        text_number(&number, value_bytes(value));
        c_string(c->out, buf_view(&number));
        buf_release(&number);
        break;
    case VALUE_BOOL:
        buf_text(c->out, value_bool(value) ? "\"true\"" : "\"false\"");
        break;
    default:
        buf_text(c->out, "NULL");
    }
}

// A member as text. `access` is how the struct is reached: "item->" or "item->request.".
static void member_text(struct c_file *c, const struct model_attribute *attribute,
                        struct slice access)
{
    struct buf member;
    struct buf there;
    buf_init(&member, 4096);
    buf_init(&there, 4096);
    buf_slice(&member, access);
    c_member(c, &member, attribute);
    if (c_has_flag(attribute)) {
        buf_slice(&there, access);
        buf_text(&there, "has_");
        c_member(c, &there, attribute);
    } else {
        buf_text(&there, "true");
    }
    struct slice name = buf_view(&member);
    switch (c_kind(attribute->type)) {
    case C_TEXT:
        buf_slice(c->out, name);
        break;
    case C_NUMBER:
    case C_INTEGER:
        buf_printf(c->out, "%s_text(memory, %.*s, %.*s)",
                   c_kind(attribute->type) == C_NUMBER ? "number" : "integer",
                   SLICE_FMT(buf_view(&there)), SLICE_FMT(name));
        break;
    case C_BOOLEAN:
        buf_printf(c->out, "boolean_text(%.*s, %.*s)", SLICE_FMT(buf_view(&there)),
                   SLICE_FMT(name));
        break;
    case C_BYTES:
        buf_printf(c->out, "bytes_text(memory, %.*s)", SLICE_FMT(name));
        break;
    default:
        buf_text(c->out, "NULL");
    }
    buf_release(&member);
    buf_release(&there);
}

// request.seed: through structs, with a test for each that may be absent.
static void path_text(struct c_file *c, const struct model_expr *expr)
{
    const struct model_attribute *attribute = expr->attribute;
    struct buf access;
    size_t tests = 0;
    buf_init(&access, 4096);
    buf_text(&access, "item->");
    for (size_t i = 1; attribute != NULL && i < expr->step_count; i++) {
        const struct model_type *type = type_bare(attribute->type);
        if (c_kind(attribute->type) != C_OBJECT) {
            attribute = NULL;
            break;
        }
        c_member(c, &access, attribute);
        if (c_is_pointer(attribute)) {
            buf_printf(c->out, "(%.*s == NULL ? NULL : ", SLICE_FMT(buf_view(&access)));
            tests++;
        }
        buf_text(&access, c_is_pointer(attribute) ? "->" : ".");
        attribute = model_type_field(type, expr->steps[i]);
    }
    if (attribute == NULL)
        buf_text(c->out, "NULL");
    else
        member_text(c, attribute, buf_view(&access));
    while (tests-- > 0)
        buf_byte(c->out, ')');
    buf_release(&access);
}

// ---- Calls -----------------------------------------------------------------------------------

static bool is_number(const struct model_expr *expr)
{
    return expr->kind == MODEL_EXPR_PATH && expr->attribute != NULL && expr->step_count == 1 &&
           type_stored(expr->attribute->type) == VALUE_N;
}

static void literal_argument(struct c_file *c, const struct model_expr *expr)
{
    if (expr->kind == MODEL_EXPR_VALUE && value_type(expr->value) == VALUE_N)
        text_number(c->out, value_bytes(expr->value));
    else if (expr->kind == MODEL_EXPR_VALUE && value_type(expr->value) == VALUE_S)
        c_string(c->out, value_bytes(expr->value));
    else
        buf_text(c->out, "0");
}

static void call_text(struct c_file *c, const struct model_expr *expr)
{
    static const char *const names[] = {
        [MODEL_FN_LOWER] = "lower(memory, ",         [MODEL_FN_UPPER] = "upper(memory, ",
        [MODEL_FN_TRIM] = "trim(memory, ",           [MODEL_FN_PAD] = "pad(memory, ",
        [MODEL_FN_DATE_PART] = "date_text(memory, ", [MODEL_FN_NOW] = "now_text(memory",
        [MODEL_FN_UUID] = "uuid_text(memory",        [MODEL_FN_ULID] = "ulid_text(memory",
        [MODEL_FN_SHA256] = "sha256_text(memory, ",  [MODEL_FN_SIZE] = NULL};
    if (names[expr->function] == NULL) {
        buf_text(c->out, "NULL");
        return;
    }
    buf_text(c->out, names[expr->function]);
    if (expr->function == MODEL_FN_SHA256) {
        buf_printf(c->out, "(size_t)%zu", expr->arg_count);
        for (size_t i = 0; i < expr->arg_count; i++) {
            buf_text(c->out, ", ");
            c_text(c, expr->args[i]);
        }
    } else if (expr->arg_count > 0) {
        c_text(c, expr->args[0]);
    }
    if (expr->function == MODEL_FN_PAD || expr->function == MODEL_FN_DATE_PART) {
        buf_text(c->out, ", ");
        literal_argument(c, expr->args[1]);
    }
    if (expr->function == MODEL_FN_PAD)
        buf_text(c->out, is_number(expr->args[0]) ? ", true" : ", false");
    buf_byte(c->out, ')');
}

// A time and seconds that are written in the file; nothing else is needed in texts.
static void sum_text(struct c_file *c, const struct model_expr *expr)
{
    if (expr->args[1]->kind != MODEL_EXPR_VALUE || value_type(expr->args[1]->value) != VALUE_N) {
        buf_text(c->out, "NULL");
        return;
    }
    buf_text(c->out, "moved_text(memory, ");
    c_text(c, expr->args[0]);
    buf_text(c->out, expr->kind == MODEL_EXPR_ADD ? ", " : ", -");
    literal_argument(c, expr->args[1]);
    buf_byte(c->out, ')');
}

void c_text(struct c_file *c, const struct model_expr *expr)
{
    switch (expr->kind) {
    case MODEL_EXPR_VALUE:
        value_text(c, expr->value);
        break;
    case MODEL_EXPR_PATH:
        path_text(c, expr);
        break;
    case MODEL_EXPR_TEMPLATE:
        c_template(c, expr->template);
        break;
    case MODEL_EXPR_CALL:
        call_text(c, expr);
        break;
    case MODEL_EXPR_ELSE:
        buf_text(c->out, "or_else(");
        c_text(c, expr->args[0]);
        buf_text(c->out, ", ");
        c_text(c, expr->args[1]);
        buf_byte(c->out, ')');
        break;
    case MODEL_EXPR_ADD:
    case MODEL_EXPR_SUBTRACT:
        sum_text(c, expr);
        break;
    default:
        buf_text(c->out, "NULL");
    }
}

void c_template(struct c_file *c, const struct model_template *template)
{
    bool one = template->segment_count == 1;
    if (template->segment_count == 0)
        buf_text(c->out, "\"\"");
    else if (!one)
        buf_printf(c->out, "join(memory, (size_t)%zu", template->segment_count);
    for (size_t i = 0; i < template->segment_count; i++) {
        buf_text(c->out, one ? "" : ", ");
        if (template->segments[i].expr == NULL)
            c_string(c->out, template->segments[i].literal);
        else
            c_text(c, template->segments[i].expr);
    }
    buf_text(c->out, template->segment_count > 1 ? ")" : "");
}

// ---- Defaults --------------------------------------------------------------------------------

static void text_default(struct c_file *c, const struct model_attribute *attribute)
{
    const struct model_expr *expr = attribute->otherwise;
    buf_text(c->out, "    if (item->");
    c_member(c, c->out, attribute);
    buf_text(c->out, " == NULL)\n        item->");
    c_member(c, c->out, attribute);
    buf_text(c->out, " = ");
    if (model_kind_wanted(attribute->type) == MODEL_DATE) {
        buf_text(c->out, "date_text(memory, ");
        c_text(c, expr);
        buf_text(c->out, ", \"yyyy-mm-dd\")");
    } else {
        c_text(c, expr);
    }
    buf_text(c->out, ";\n");
}

static void flagged_default(struct c_file *c, const struct model_attribute *attribute,
                            const char *value)
{
    buf_text(c->out, "    if (!item->has_");
    c_member(c, c->out, attribute);
    buf_text(c->out, ") {\n        item->has_");
    c_member(c, c->out, attribute);
    buf_text(c->out, " = true;\n        item->");
    c_member(c, c->out, attribute);
    buf_printf(c->out, " = %s;\n    }\n", value);
}

// now(), a time, a time and seconds: all of them are the seconds of a text.
static void seconds_default(struct c_file *c, const struct model_attribute *attribute)
{
    buf_text(c->out, "    if (!item->has_");
    c_member(c, c->out, attribute);
    buf_text(c->out, ")\n        item->has_");
    c_member(c, c->out, attribute);
    buf_text(c->out, " = seconds_of(");
    c_text(c, attribute->otherwise);
    buf_text(c->out, ", &item->");
    c_member(c, c->out, attribute);
    buf_text(c->out, ");\n");
}

void c_default(struct c_file *c, const struct model_attribute *attribute)
{
    const struct model_expr *expr = attribute->otherwise;
    enum c_kind kind = c_kind(attribute->type);
    bool literal = expr->kind == MODEL_EXPR_VALUE;
    struct buf value;
    if (kind == C_TEXT) {
        text_default(c, attribute);
        return;
    }
    if (kind == C_INTEGER && !literal) {
        seconds_default(c, attribute);
        return;
    }
    if (!literal || (kind != C_NUMBER && kind != C_INTEGER && kind != C_BOOLEAN &&
                     kind != C_RECORD && kind != C_LIST))
        return;
    buf_init(&value, 256);
    if (value_type(expr->value) == VALUE_N)
        text_number(&value, value_bytes(expr->value));
    else if (value_type(expr->value) == VALUE_BOOL)
        buf_text(&value, value_bool(expr->value) ? "true" : "false");
    buf_byte(&value, 0);
    if (kind == C_RECORD || kind == C_LIST) {
        buf_text(c->out, "    item->has_");
        c_member(c, c->out, attribute);
        buf_text(c->out, " = true;\n");
    } else if (!value.failed && value.len > 1) {
        flagged_default(c, attribute, (const char *)value.ptr);
    }
    buf_release(&value);
}
