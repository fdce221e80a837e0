// Types of the model as JSON Schema (draft 2020-12, which OpenAPI 3.1 uses).
//
// An entity has three schemas: as it is read (User), as it is created or replaced (UserInput: what
// has a default may be left out), and as it is patched (UserPatch: null removes).
#include "data/openapi_internal.h"

#include "guard/plain.h"
#include "value/number.h"

enum { NAME_MAX = 4096 };

void openapi_text(struct openapi *o, const char *name, struct slice text)
{
    if (text.len == 0)
        return;
    json_put_string(&o->w, name, text);
}

void openapi_string(struct openapi *o, const char *name, const char *text)
{
    json_put_text(&o->w, name, text);
}

// ---- Names --------------------------------------------------------------------------------------

// Names of components have letters, digits, dots, dashes and underscores.
static void put_clean(struct slice name, struct buf *out)
{
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '.' || c == '-' || c == '_';
        buf_byte(out, plain ? c : '_');
    }
}

static void put_prefix(const struct openapi *o, const struct model_table *table, struct buf *out)
{
    if (o->table_count < 2)
        return;
    put_clean(table->name, out);
    buf_byte(out, '.');
}

void openapi_schema_name(const struct openapi *o, const struct model_entity *entity,
                         const char *suffix, struct buf *out)
{
    put_prefix(o, entity->table, out);
    put_clean(entity->name, out);
    buf_text(out, suffix);
}

// A named type must not be taken for an entity.
static void put_type_name(const struct openapi *o, const struct model_table *table,
                          const struct model_type *type, struct buf *out)
{
    put_prefix(o, table, out);
    put_clean(type->name, out);
    if (model_table_entity(table, type->name) != NULL)
        buf_text(out, "Type");
}

static void write_ref(struct openapi *o, const struct buf *name)
{
    struct buf text;
    buf_init(&text, NAME_MAX * 2);
    buf_text(&text, "#/components/schemas/");
    buf_slice(&text, buf_view(name));
    openapi_text(o, "$ref", buf_view(&text));
    buf_release(&text);
}

void openapi_entity_ref(struct openapi *o, const struct model_entity *entity, const char *suffix)
{
    struct buf name;
    buf_init(&name, NAME_MAX);
    openapi_schema_name(o, entity, suffix, &name);
    json_open_object(&o->w);
    write_ref(o, &name);
    json_close_object(&o->w);
    buf_release(&name);
}

// ---- Types --------------------------------------------------------------------------------------

static void write_number(struct openapi *o, const char *name, struct slice stored)
{
    char text[NUMBER_TEXT_MAX];
    if (stored.len == 0)
        return;
    json_name(&o->w, name);
    buf_add(o->w.out, text, number_to_text(stored, text));
    o->w.comma = true;
}

static void write_range(struct openapi *o, const struct model_type *type, const char *least,
                        const char *most)
{
    write_number(o, least, type->min);
    write_number(o, most, type->max);
}

static void write_object(struct openapi *o, const struct model_table *table,
                         const struct model_type *type)
{
    openapi_string(o, "type", "object");
    if (type->field_count == 0)
        return;
    bool required = false;
    json_put_object(&o->w, "properties");
    for (size_t i = 0; i < type->field_count; i++) {
        json_name_slice(&o->w, type->fields[i].name);
        openapi_type(o, table, type->fields[i].type, &type->fields[i]);
        required = required || !(type->fields[i].optional || type->fields[i].otherwise != NULL);
    }
    json_close_object(&o->w);
    if (!required)
        return;
    json_put_array(&o->w, "required");
    for (size_t i = 0; i < type->field_count; i++) {
        if (!type->fields[i].optional && type->fields[i].otherwise == NULL)
            json_string(&o->w, type->fields[i].name);
    }
    json_close_array(&o->w);
}

static void write_union(struct openapi *o, const struct model_table *table,
                        const struct model_type *type)
{
    bool literals = true;
    for (size_t i = 0; i < type->option_count; i++)
        literals = literals && (type->options[i]->kind == MODEL_LITERAL ||
                                type->options[i]->kind == MODEL_NULL);
    json_name(&o->w, literals ? "enum" : "anyOf");
    json_open_array(&o->w);
    for (size_t i = 0; i < type->option_count; i++) {
        const struct model_type *option = type->options[i];
        if (!literals)
            openapi_type(o, table, option, NULL);
        else if (option->kind == MODEL_NULL)
            json_null(&o->w);
        else
            json_plain(&o->w, option->literal);
    }
    json_close_array(&o->w);
}

static void write_list(struct openapi *o, const struct model_table *table,
                       const struct model_type *type)
{
    openapi_string(o, "type", "array");
    if (type->item != NULL) {
        json_name(&o->w, "items");
        openapi_type(o, table, type->item, NULL);
    }
    if (type->kind == MODEL_SET)
        json_put_flag(&o->w, "uniqueItems", true);
    if (type->kind == MODEL_SET && type->min.len == 0)
        json_put_integer(&o->w, "minItems", 1);
    write_range(o, type, "minItems", "maxItems");
}

// What a simple type is, and the format of its text.
static const struct simple_row {
    const char *type;
    const char *format;
} simple[MODEL_KINDS] = {
    [MODEL_STRING] = {"string", NULL},
    [MODEL_NUMBER] = {"number", NULL},
    [MODEL_INTEGER] = {"integer", NULL},
    [MODEL_BOOLEAN] = {"boolean", NULL},
    [MODEL_BINARY] = {"string", NULL},
    [MODEL_UUID] = {"string", "uuid"},
    [MODEL_TIMESTAMP] = {"string", "date-time"},
    [MODEL_DATE] = {"string", "date"},
    [MODEL_EPOCH] = {"integer", "epoch"},
    [MODEL_EMAIL] = {"string", "email"},
    [MODEL_URL] = {"string", "uri"},
    [MODEL_NULL] = {"null", NULL},
};

static void write_simple(struct openapi *o, const struct model_type *type)
{
    const struct simple_row *row = &simple[type->kind];
    openapi_string(o, "type", row->type);
    if (row->format != NULL)
        openapi_string(o, "format", row->format);
    if (type->kind == MODEL_BINARY)
        openapi_string(o, "contentEncoding", "base64");
    if (type->kind == MODEL_STRING)
        write_range(o, type, "minLength", "maxLength");
    else if (type->kind == MODEL_NUMBER || type->kind == MODEL_INTEGER || type->kind == MODEL_EPOCH)
        write_range(o, type, "minimum", "maximum");
}

static void write_type(struct openapi *o, const struct model_table *table,
                       const struct model_type *type)
{
    switch (type->kind) {
    case MODEL_ANY:
        return;
    case MODEL_LITERAL:
        json_name(&o->w, "const");
        json_plain(&o->w, type->literal);
        return;
    case MODEL_LIST:
    case MODEL_SET:
        write_list(o, table, type);
        return;
    case MODEL_RECORD:
        openapi_string(o, "type", "object");
        json_name(&o->w, "additionalProperties");
        openapi_type(o, table, type->item, NULL);
        return;
    case MODEL_OBJECT:
        write_object(o, table, type);
        return;
    case MODEL_UNION:
        write_union(o, table, type);
        return;
    default:
        write_simple(o, type);
    }
}

static void write_facts(struct openapi *o, const struct model_attribute *attribute)
{
    openapi_text(o, "description", attribute->doc);
    const struct model_expr *otherwise = attribute->otherwise;
    if (otherwise != NULL && otherwise->kind == MODEL_EXPR_VALUE && !otherwise->duration) {
        json_name(&o->w, "default");
        json_plain(&o->w, otherwise->value);
    }
    if (attribute->deprecated)
        json_put_flag(&o->w, "deprecated", true);
}

void openapi_type(struct openapi *o, const struct model_table *table, const struct model_type *type,
                  const struct model_attribute *attribute)
{
    json_open_object(&o->w);
    if (type->name.len > 0) {
        struct buf name;
        buf_init(&name, NAME_MAX);
        put_type_name(o, table, type, &name);
        write_ref(o, &name);
        buf_release(&name);
    } else {
        write_type(o, table, type);
    }
    if (attribute != NULL)
        write_facts(o, attribute);
    json_close_object(&o->w);
}

// ---- Entities -----------------------------------------------------------------------------------

enum form { FORM_READ, FORM_INPUT, FORM_PATCH };

static bool is_required(const struct model_attribute *attribute, enum form form)
{
    if (form == FORM_PATCH || attribute->optional)
        return false;
    return form == FORM_READ || (attribute->otherwise == NULL && !attribute->version);
}

static void write_property(struct openapi *o, const struct model_entity *entity,
                           const struct model_attribute *attribute, enum form form)
{
    json_name_slice(&o->w, attribute->name);
    if (form != FORM_PATCH || !attribute->optional) {
        openapi_type(o, entity->table, attribute->type, attribute);
        return;
    }
    json_open_object(&o->w);
    json_put_array(&o->w, "anyOf");
    openapi_type(o, entity->table, attribute->type, NULL);
    json_open_object(&o->w);
    openapi_string(o, "type", "null");
    json_close_object(&o->w);
    json_close_array(&o->w);
    openapi_text(o, "description", attribute->doc);
    json_close_object(&o->w);
}

static void write_entity(struct openapi *o, const struct model_entity *entity, enum form form)
{
    static const char *const suffixes[] = {"", "Input", "Patch"};
    struct buf name;
    bool required = false;
    buf_init(&name, NAME_MAX);
    openapi_schema_name(o, entity, suffixes[form], &name);
    json_name_slice(&o->w, buf_view(&name));
    buf_release(&name);
    json_open_object(&o->w);
    openapi_string(o, "type", "object");
    openapi_text(o, "description", entity->doc);
    json_put_object(&o->w, "properties");
    for (size_t i = 0; i < entity->attribute_count; i++) {
        write_property(o, entity, &entity->attributes[i], form);
        required = required || is_required(&entity->attributes[i], form);
    }
    json_close_object(&o->w);
    if (required) {
        json_put_array(&o->w, "required");
        for (size_t i = 0; i < entity->attribute_count; i++) {
            if (is_required(&entity->attributes[i], form))
                json_string(&o->w, entity->attributes[i].name);
        }
        json_close_array(&o->w);
    }
    if (form != FORM_READ && entity->unknown == MODEL_REJECT)
        json_put_flag(&o->w, "additionalProperties", false);
    json_close_object(&o->w);
}

void openapi_schemas(struct openapi *o, const struct model_table *table)
{
    const struct model *model = table->model;
    for (size_t i = 0; i < table->entity_count; i++) {
        write_entity(o, &table->entities[i], FORM_READ);
        write_entity(o, &table->entities[i], FORM_INPUT);
        write_entity(o, &table->entities[i], FORM_PATCH);
    }
    for (size_t i = 0; model != NULL && i < model->type_count; i++) {
        struct buf name;
        buf_init(&name, NAME_MAX);
        put_type_name(o, table, model->types[i], &name);
        json_name_slice(&o->w, buf_view(&name));
        json_open_object(&o->w);
        write_type(o, table, model->types[i]);
        json_close_object(&o->w);
        buf_release(&name);
    }
}
