// Types of a model as TypeScript has them, and names that TypeScript takes.
#include "generate/typescript.h"

// ---- Names -----------------------------------------------------------------------------------

// Names that the file, or every file, has already.
static const char *const taken[] = {
    "Array",      "Bag",
    "Boolean",    "Buffer",
    "Changed",    "Condition",
    "Connection", "Date",
    "Defaulted",  "EntityClient",
    "Error",      "Exclude",
    "Field",      "Fit",
    "Function",   "Infinity",
    "JSON",       "Kind",
    "Make",       "Map",
    "Math",       "NaN",
    "Number",     "Object",
    "Omit",       "Operator",
    "Page",       "PageOptions",
    "Partial",    "Pattern",
    "Pick",       "Placeholders",
    "Promise",    "ReadOptions",
    "Reading",    "Record",
    "Set",        "String",
    "Symbol",     "TypeError",
    "Uint8Array", "WriteOptions",
    "BigInt",     "Compared",
    "RegExp",     "SoftEntityClient",
};

static struct slice class_name(struct writer *w, struct slice name)
{
    struct slice own = text_pascal(w, name);
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        if (slice_is(own, taken[i]))
            return TEXT(w, "%s_", own);
    }
    return own;
}

struct slice typescript_entity(struct typescript *ts, const struct model_entity *entity)
{
    return class_name(ts->w, text_entity(ts->w, entity));
}

void typescript_classes(struct typescript *ts)
{
    struct buf list;
    buf_init(&list, LIMIT_MODEL_FILE);
    for (size_t t = 0; t < ts->w->model->table_count; t++) {
        const struct model_table *table = &ts->w->model->tables[t];
        for (size_t i = 0; i < table->entity_count; i++) {
            struct slice class = typescript_entity(ts, &table->entities[i]);
            buf_add(&list, &class, sizeof(class));
        }
    }
    ts->class_count = list.len / sizeof(struct slice);
    ts->classes = (const void *)text_keep(ts->w, &list).ptr;
}

struct slice typescript_named(struct typescript *ts, struct slice name)
{
    struct slice own = class_name(ts->w, name);
    for (size_t i = 0; ts->classes != NULL && i < ts->class_count; i++) {
        if (slice_equal(own, ts->classes[i]))
            return TEXT(ts->w, "%sValue", own);
    }
    return own;
}

struct slice typescript_member(struct typescript *ts, struct slice name)
{
    return text_is_word(name) ? name : TEXT(ts->w, "%q", name);
}

struct slice typescript_dot(struct typescript *ts, struct slice name)
{
    return TEXT(ts->w, text_is_word(name) ? ".%s" : "[%q]", name);
}

void typescript_doc(struct typescript *ts, const char *before, struct slice doc)
{
    struct slice line = text_line(ts->w, doc);
    if (doc.len == 0)
        return;
    PUT(ts->w, "%s/** ", slice_str(before));
    for (size_t i = 0; i < line.len; i++) {
        buf_byte(ts->w->out, line.ptr[i]);
        if (line.ptr[i] == '*' && i + 1 < line.len && line.ptr[i + 1] == '/')
            buf_byte(ts->w->out, ' '); // a comment must not end itself
    }
    buf_text(ts->w->out, " */\n");
}

// ---- Types -----------------------------------------------------------------------------------

static struct slice list_type(struct typescript *ts, const struct model_type *item)
{
    if (item == NULL)
        return SLICE_LIT("unknown[]");
    bool several = item->name.len == 0 && item->kind == MODEL_UNION && item->option_count > 1;
    return TEXT(ts->w, several ? "(%s)[]" : "%s[]", typescript_type(ts, item));
}

// "name: type", or "name?: type | null".
static void field_type(struct typescript *ts, struct buf *out, const struct model_attribute *field)
{
    bool null = attribute_nullable(field) && !type_nullable(field->type) &&
                field->type->kind != MODEL_ANY; // `unknown` has it already
    text_format(out, field->optional ? "%s?: %s%s;" : "%s: %s%s;", 3,
                (struct slice[]){typescript_member(ts, field->name),
                                 typescript_type(ts, field->type),
                                 slice_str(null ? " | null" : "")});
}

static struct slice object_type(struct typescript *ts, const struct model_type *type)
{
    const struct model_attribute *fields[TYPE_FIELDS_MAX];
    struct buf text;
    if (type->field_count == 0)
        return SLICE_LIT("Record<string, unknown>");
    size_t count = type_fields(type, fields);
    buf_init(&text, LIMIT_MODEL_FILE);
    buf_text(&text, "{ ");
    for (size_t i = 0; i < count; i++) {
        field_type(ts, &text, fields[i]);
        buf_byte(&text, ' ');
    }
    buf_byte(&text, '}');
    return text_keep(ts->w, &text);
}

static struct slice union_type(struct typescript *ts, const struct model_type *type)
{
    struct buf text;
    buf_init(&text, LIMIT_MODEL_FILE);
    for (size_t i = 0; i < type->option_count; i++) {
        buf_text(&text, i == 0 ? "" : " | ");
        buf_slice(&text, typescript_type(ts, type->options[i]));
    }
    return text_keep(ts->w, &text);
}

static const char *simple_type(enum model_kind kind)
{
    static const char *const names[MODEL_KINDS] = {
        [MODEL_NUMBER] = "number",   [MODEL_INTEGER] = "number",    [MODEL_EPOCH] = "number",
        [MODEL_BOOLEAN] = "boolean", [MODEL_BINARY] = "Uint8Array", [MODEL_ANY] = "unknown",
        [MODEL_NULL] = "null"};
    return names[kind] != NULL ? names[kind] : "string";
}

struct slice typescript_type_body(struct typescript *ts, const struct model_type *type)
{
    switch (type->kind) {
    case MODEL_LITERAL:
        return text_value(ts->w, type->literal, "null");
    case MODEL_LIST:
        return list_type(ts, type->item);
    case MODEL_SET:
        return TEXT(ts->w, "Set<%s>", typescript_type(ts, type->item));
    case MODEL_RECORD:
        return TEXT(ts->w, "Record<string, %s>", typescript_type(ts, type->item));
    case MODEL_OBJECT:
        return object_type(ts, type);
    case MODEL_UNION:
        return union_type(ts, type);
    default:
        return slice_str(simple_type(type->kind));
    }
}

struct slice typescript_type(struct typescript *ts, const struct model_type *type)
{
    return type->name.len > 0 ? typescript_named(ts, type->name) : typescript_type_body(ts, type);
}

bool typescript_read_only(const struct model_attribute *attribute)
{
    return attribute->always || attribute->counted;
}

void typescript_attribute(struct typescript *ts, const struct model_attribute *attribute)
{
    typescript_doc(ts, "  ", attribute->doc);
    if (attribute->deprecated)
        buf_text(ts->w->out, "  /** @deprecated */\n");
    buf_text(ts->w->out, typescript_read_only(attribute) ? "  readonly " : "  ");
    field_type(ts, ts->w->out, attribute);
    buf_byte(ts->w->out, '\n');
}
