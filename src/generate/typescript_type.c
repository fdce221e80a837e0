// Types of a model as TypeScript has them, and names that TypeScript takes.
#include "generate/typescript.h"

// ---- Names -----------------------------------------------------------------------------------

// Names that the file, or every file, has already.
static const char *const taken[] = {
    "Array",      "Bag",          "Boolean",   "Buffer",       "Changed",    "Condition",
    "Connection", "Date",         "Defaulted", "EntityClient", "Error",      "Exclude",
    "Field",      "Fit",          "Function",  "Infinity",     "JSON",       "Kind",
    "Make",       "Map",          "Math",      "NaN",          "Number",     "Object",
    "Omit",       "Operator",     "Page",      "PageOptions",  "Partial",    "Pattern",
    "Pick",       "Placeholders", "Promise",   "ReadOptions",  "Reading",    "Record",
    "Set",        "String",       "Symbol",    "TypeError",    "Uint8Array", "WriteOptions",
};

void typescript_class(struct buf *out, struct slice name)
{
    size_t start = out->len;
    text_pascal(out, name);
    for (size_t i = 0; !out->failed && i < sizeof(taken) / sizeof(taken[0]); i++) {
        if (slice_is(slice_of(out->ptr + start, out->len - start), taken[i])) {
            buf_byte(out, '_');
            return;
        }
    }
}

void typescript_entity(struct buf *out, const struct model_entity *entity)
{
    struct buf name;
    buf_init(&name, 4096);
    text_entity(&name, entity);
    typescript_class(out, buf_view(&name));
    buf_release(&name);
}

void typescript_named(struct typescript *ts, struct slice name)
{
    struct buf own;
    buf_init(&own, 4096);
    typescript_class(&own, name);
    bool clash = false;
    for (size_t t = 0; t < ts->model->table_count; t++) {
        const struct model_table *table = &ts->model->tables[t];
        for (size_t i = 0; !clash && i < table->entity_count; i++) {
            struct buf other;
            buf_init(&other, 4096);
            typescript_entity(&other, &table->entities[i]);
            clash = slice_equal(buf_view(&own), buf_view(&other));
            buf_release(&other);
        }
    }
    buf_slice(ts->out, buf_view(&own));
    buf_text(ts->out, clash ? "Value" : "");
    buf_release(&own);
}

void typescript_member(struct buf *out, struct slice name)
{
    if (text_is_word(name))
        buf_slice(out, name);
    else
        text_quoted(out, name);
}

void typescript_dot(struct buf *out, struct slice name)
{
    if (text_is_word(name)) {
        buf_byte(out, '.');
        buf_slice(out, name);
        return;
    }
    buf_byte(out, '[');
    text_quoted(out, name);
    buf_byte(out, ']');
}

// A comment must not end itself.
static void add_doc(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        buf_byte(out, text.ptr[i]);
        if (text.ptr[i] == '*' && i + 1 < text.len && text.ptr[i + 1] == '/')
            buf_byte(out, ' ');
    }
}

void typescript_doc(struct typescript *ts, const char *before, struct slice doc)
{
    struct buf line;
    if (doc.len == 0)
        return;
    buf_init(&line, 1 << 20);
    text_line(&line, doc);
    buf_printf(ts->out, "%s/** ", before);
    add_doc(ts->out, buf_view(&line));
    buf_text(ts->out, " */\n");
    buf_release(&line);
}

// ---- Types -----------------------------------------------------------------------------------

static void literal(struct buf *out, struct slice value)
{
    switch (value_type(value)) {
    case VALUE_N:
        text_number(out, value_bytes(value));
        break;
    case VALUE_BOOL:
        buf_text(out, value_bool(value) ? "true" : "false");
        break;
    default:
        text_quoted(out, value_bytes(value));
    }
}

static bool needs_parentheses(const struct model_type *type)
{
    return type->name.len == 0 && type->kind == MODEL_UNION && type->option_count > 1;
}

static void list_type(struct typescript *ts, const struct model_type *type)
{
    bool parentheses = type->item != NULL && needs_parentheses(type->item);
    buf_text(ts->out, parentheses ? "(" : "");
    if (type->item == NULL)
        buf_text(ts->out, "unknown");
    else
        typescript_type(ts, type->item);
    buf_text(ts->out, parentheses ? ")[]" : "[]");
}

static void object_type(struct typescript *ts, const struct model_type *type)
{
    if (type->field_count == 0) {
        buf_text(ts->out, "Record<string, unknown>");
        return;
    }
    buf_text(ts->out, "{ ");
    const struct model_attribute *fields[TYPE_FIELDS_MAX];
    size_t count = type_fields(type, fields);
    for (size_t i = 0; i < count; i++) {
        const struct model_attribute *field = fields[i];
        typescript_member(ts->out, field->name);
        buf_text(ts->out, field->optional ? "?: " : ": ");
        typescript_type(ts, field->type);
        buf_text(ts->out, "; ");
    }
    buf_byte(ts->out, '}');
}

static const char *simple_type(enum model_kind kind)
{
    switch (kind) {
    case MODEL_NUMBER:
    case MODEL_INTEGER:
    case MODEL_EPOCH:
        return "number";
    case MODEL_BOOLEAN:
        return "boolean";
    case MODEL_BINARY:
        return "Uint8Array";
    case MODEL_ANY:
        return "unknown";
    case MODEL_NULL:
        return "null";
    default:
        return "string";
    }
}

void typescript_type_body(struct typescript *ts, const struct model_type *type)
{
    switch (type->kind) {
    case MODEL_LITERAL:
        literal(ts->out, type->literal);
        break;
    case MODEL_LIST:
        list_type(ts, type);
        break;
    case MODEL_SET:
        buf_text(ts->out, "Set<");
        typescript_type(ts, type->item);
        buf_byte(ts->out, '>');
        break;
    case MODEL_RECORD:
        buf_text(ts->out, "Record<string, ");
        typescript_type(ts, type->item);
        buf_byte(ts->out, '>');
        break;
    case MODEL_OBJECT:
        object_type(ts, type);
        break;
    case MODEL_UNION:
        for (size_t i = 0; i < type->option_count; i++) {
            buf_text(ts->out, i == 0 ? "" : " | ");
            typescript_type(ts, type->options[i]);
        }
        break;
    default:
        buf_text(ts->out, simple_type(type->kind));
    }
}

void typescript_type(struct typescript *ts, const struct model_type *type)
{
    if (type->name.len > 0)
        typescript_named(ts, type->name);
    else
        typescript_type_body(ts, type);
}

void typescript_attribute(struct typescript *ts, const struct model_attribute *attribute)
{
    typescript_doc(ts, "  ", attribute->doc);
    if (attribute->deprecated)
        buf_text(ts->out, "  /** @deprecated */\n");
    buf_text(ts->out, "  ");
    typescript_member(ts->out, attribute->name);
    buf_text(ts->out, attribute->optional ? "?: " : ": ");
    typescript_type(ts, attribute->type);
    buf_text(ts->out, ";\n");
}
