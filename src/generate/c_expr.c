// Expressions and templates as C: calls of helpers that give a text, or NULL if something is
// missing.
#include "generate/c.h"

#include "eval/eval.h"

struct slice c_string(struct c_file *c, struct slice text)
{
    struct buf out;
    buf_init(&out, LIMIT_MODEL_FILE);
    buf_byte(&out, '"');
    for (size_t i = 0; i < text.len; i++) {
        uint8_t byte = text.ptr[i];
        if (byte < 0x20 || byte >= 0x7f)
            buf_printf(&out, "\\%03o", byte);
        else // ? is escaped so that there are no trigraphs
            buf_printf(&out, strchr("\"\\?", byte) != NULL ? "\\%c" : "%c", byte);
    }
    buf_byte(&out, '"');
    return text_keep(c->w, &out);
}

// ---- Leaves ----------------------------------------------------------------------------------

static struct slice value_text(struct c_file *c, struct slice value)
{
    enum value_type type = value_type(value);
    if (type == VALUE_S)
        return c_string(c, value_bytes(value));
    if (type == VALUE_N || type == VALUE_BOOL)
        return TEXT(c->w, "%q", text_value(c->w, value, ""));
    return SLICE_LIT("NULL");
}

// A member as text. `access` is how the struct is reached: "item->" or "item->request.".
static struct slice member_text(struct c_file *c, const struct model_attribute *attribute,
                                struct slice access)
{
    struct slice member = c_member(c, attribute);
    struct slice value = TEXT(c->w, "%s%s", access, member);
    struct slice there =
        c_has_flag(attribute) ? TEXT(c->w, "%shas_%s", access, member) : SLICE_LIT("true");
    switch (c_kind(attribute->type)) {
    case C_TEXT:
        return value;
    case C_NUMBER:
        return TEXT(c->w, "number_text(memory, %s, %s)", there, value);
    case C_INTEGER:
        return TEXT(c->w, "integer_text(memory, %s, %s)", there, value);
    case C_BOOLEAN:
        return TEXT(c->w, "boolean_text(%s, %s)", there, value);
    case C_BYTES:
        return TEXT(c->w, "bytes_text(memory, %s)", value);
    default:
        return SLICE_LIT("NULL");
    }
}

// request.seed: through structs, with a test for each that may be absent.
static struct slice path_text(struct c_file *c, const struct model_expr *expr)
{
    const struct model_attribute *attribute = expr->attribute;
    struct slice access = SLICE_LIT("item->");
    struct slice tests = SLICE_LIT("");
    struct slice closing = SLICE_LIT("");
    for (size_t i = 1; attribute != NULL && i < expr->step_count; i++) {
        bool pointer = c_is_pointer(attribute);
        if (c_kind(attribute->type) != C_OBJECT) {
            attribute = NULL;
            break;
        }
        access = TEXT(c->w, "%s%s", access, c_member(c, attribute));
        if (pointer) {
            tests = TEXT(c->w, "%s(%s == NULL ? NULL : ", tests, access);
            closing = TEXT(c->w, "%s)", closing);
        }
        access = TEXT(c->w, pointer ? "%s->" : "%s.", access);
        attribute = model_type_field(type_bare(attribute->type), expr->steps[i]);
    }
    return TEXT(c->w, "%s%s%s", tests,
                attribute == NULL ? SLICE_LIT("NULL") : member_text(c, attribute, access), closing);
}

// ---- Calls -----------------------------------------------------------------------------------

static struct slice literal_argument(struct c_file *c, const struct model_expr *expr)
{
    return value_type(expr->value) == VALUE_N ? text_number(c->w, value_bytes(expr->value))
                                              : c_string(c, value_bytes(expr->value));
}

static struct slice call_text(struct c_file *c, const struct model_expr *expr)
{
    static const char *const formats[] = {
        [MODEL_FN_LOWER] = "lower(memory, %s)",
        [MODEL_FN_UPPER] = "upper(memory, %s)",
        [MODEL_FN_TRIM] = "trim(memory, %s)",
        [MODEL_FN_SHA256] = "sha256_text(memory, (size_t)%s)",
        [MODEL_FN_NOW] = "now_text(memory%s)",
        [MODEL_FN_UUID] = "uuid_text(memory%s)",
        [MODEL_FN_ULID] = "ulid_text(memory%s)",
    };
    struct slice first = expr->arg_count > 0 ? c_text(c, expr->args[0]) : SLICE_LIT("");
    switch (expr->function) {
    case MODEL_FN_SIZE:
    case MODEL_FN_ACTOR: // only the server knows
    case MODEL_FN_OPERATION:
    case MODEL_FN_ITEM:
    case MODEL_FN_OLD:
    case MODEL_FN_EACH:
    case MODEL_FN_EVENT:
        return SLICE_LIT("NULL");
    case MODEL_FN_PAD:
        return TEXT(c->w, "pad(memory, %s, %s, %s)", first, literal_argument(c, expr->args[1]),
                    slice_str(expr_is_number(expr->args[0]) ? "true" : "false"));
    case MODEL_FN_DATE_PART:
        return TEXT(c->w, "date_text(memory, %s, %s)", first, literal_argument(c, expr->args[1]));
    case MODEL_FN_FIXED:
        return TEXT(c->w, "fixed(memory, %s, %s)", first, literal_argument(c, expr->args[1]));
    case MODEL_FN_ESCAPE:
    case MODEL_FN_FORBID:
        return TEXT(c->w, "%s(memory, %s, %s)", slice_str(model_function_words[expr->function]),
                    first,
                    expr->arg_count > 1 ? literal_argument(c, expr->args[1]) : SLICE_LIT("\"#\""));
    case MODEL_FN_RAW:
        return first;
    case MODEL_FN_SHA256:
        c->digests = true;
        first = TEXT(c->w, "%s, %s", text_u64(c->w, expr->arg_count), first);
        for (size_t i = 1; i < expr->arg_count; i++)
            text_add(c->w, &first, ", ", c_text(c, expr->args[i]));
        break;
    default:
        break;
    }
    return TEXT(c->w, formats[expr->function], first);
}

// Numbers; or a time and seconds that are written in the file.
static struct slice sum_text(struct c_file *c, const struct model_expr *expr)
{
    const struct model_expr *by = expr->args[1];
    if (expr_is_number(expr->args[0]))
        return TEXT(c->w, "sum_text(memory, %s, %s, %s)", c_text(c, expr->args[0]), c_text(c, by),
                    slice_str(expr->kind == MODEL_EXPR_ADD ? "1" : "-1"));
    if (by->kind != MODEL_EXPR_VALUE || value_type(by->value) != VALUE_N)
        return SLICE_LIT("NULL");
    return TEXT(c->w,
                expr->kind == MODEL_EXPR_ADD ? "moved_text(memory, %s, %s)"
                                             : "moved_text(memory, %s, -%s)",
                c_text(c, expr->args[0]), literal_argument(c, by));
}

struct slice c_text(struct c_file *c, const struct model_expr *expr)
{
    switch (expr->kind) {
    case MODEL_EXPR_VALUE:
        return value_text(c, expr->value);
    case MODEL_EXPR_PATH:
        return path_text(c, expr);
    case MODEL_EXPR_TEMPLATE:
        return c_template(c, expr->template);
    case MODEL_EXPR_CALL:
        return call_text(c, expr);
    case MODEL_EXPR_ELSE:
        return TEXT(c->w, "or_else(%s, %s)", c_text(c, expr->args[0]), c_text(c, expr->args[1]));
    case MODEL_EXPR_ADD:
    case MODEL_EXPR_SUBTRACT:
        return sum_text(c, expr);
    default:
        return SLICE_LIT("NULL");
    }
}

struct slice c_template(struct c_file *c, const struct model_template *template)
{
    struct slice parts = {NULL, 0};
    for (size_t i = 0; i < template->segment_count; i++) {
        const struct model_segment *segment = &template->segments[i];
        text_add(c->w, &parts, ", ",
                 segment->expr == NULL ? c_string(c, segment->literal) : c_text(c, segment->expr));
    }
    return template->segment_count == 0   ? SLICE_LIT("\"\"")
           : template->segment_count == 1 ? parts
                                          : TEXT(c->w, "join(memory, (size_t)%s, %s)",
                                                 text_u64(c->w, template->segment_count), parts);
}

// ---- Defaults --------------------------------------------------------------------------------

static void text_default(struct c_file *c, const struct model_attribute *attribute)
{
    struct slice member = c_member(c, attribute);
    struct slice value = c_text(c, attribute->otherwise);
    if (model_kind_wanted(attribute->type) == MODEL_DATE)
        value = TEXT(c->w, "date_text(memory, %s, \"yyyy-mm-dd\")", value);
    PUT(c->w, "    if (item->%s == NULL)\n        item->%s = %s;\n", member, member, value);
}

// now(), a time, a time and seconds: all of them are the seconds of a text.
static void seconds_default(struct c_file *c, const struct model_attribute *attribute)
{
    struct slice member = c_member(c, attribute);
    PUT(c->w, "    if (!item->has_%s)\n        item->has_%s = seconds_of(%s, &item->%s);\n", member,
        member, c_text(c, attribute->otherwise), member);
}

static void literal_default(struct c_file *c, const struct model_attribute *attribute,
                            enum c_kind kind)
{
    struct slice member = c_member(c, attribute);
    struct slice value = attribute->otherwise->value;
    if (kind == C_RECORD || kind == C_LIST) // the literal is an empty one
        PUT(c->w, "    item->has_%s = true;\n", member);
    else if (value_type(value) == VALUE_N || value_type(value) == VALUE_BOOL)
        PUT(c->w,
            "    if (!item->has_%s) {\n        item->has_%s = true;\n        item->%s = %s;\n    "
            "}\n",
            member, member, member, text_value(c->w, value, ""));
}

void c_default(struct c_file *c, const struct model_attribute *attribute)
{
    enum c_kind kind = c_kind(attribute->type);
    bool literal = attribute->otherwise->kind == MODEL_EXPR_VALUE;
    if (kind == C_TEXT)
        text_default(c, attribute);
    else if (kind == C_INTEGER && !literal)
        seconds_default(c, attribute);
    else if (literal && (kind == C_NUMBER || kind == C_INTEGER || kind == C_BOOLEAN ||
                         kind == C_RECORD || kind == C_LIST))
        literal_default(c, attribute, kind);
}
