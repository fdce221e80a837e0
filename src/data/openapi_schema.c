// Types of the model as JSON Schema (draft 2020-12, which OpenAPI 3.1 uses).
//
// An entity has three schemas: as it is read (User), as it is created or replaced (UserInput: what
// has a default may be left out), and as it is patched (UserPatch: null removes). What is optional
// may be null in all of them.
#include "data/openapi_internal.h"

#include "eval/validate.h"
#include "guard/plain.h"
#include "guard/projected.h"
#include "model/rules.h"
#include "value/number.h"

enum { NAME_MAX = 4096 };

// ---- Names --------------------------------------------------------------------------------------

// The name of a component, which has letters, digits, dots, dashes and underscores: the table's (if
// there are several), its own, and a suffix.
static void put_component(struct openapi *o, const struct model_table *table, struct slice name,
                          const char *suffix, struct buf *out)
{
    size_t start = out->len;
    if (o->table_count > 1)
        buf_printf(out, "%.*s.", SLICE_FMT(table->name));
    buf_slice(out, name);
    buf_text(out, suffix);
    for (size_t i = start; i < out->len; i++) {
        uint8_t c = out->ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '.' || c == '-' || c == '_';
        out->ptr[i] = plain ? c : '_';
    }
}

// A named type must not be taken for an entity.
static const char *type_suffix(const struct model_table *table, const struct model_type *type)
{
    return model_table_entity(table, type->name) != NULL ? "Type" : "";
}

static void open_schema(struct openapi *o, const struct model_table *table, struct slice name,
                        const char *suffix)
{
    struct buf text;
    buf_init(&text, NAME_MAX);
    put_component(o, table, name, suffix, &text);
    json_form(&o->w, "%.*s:{", SLICE_FMT(buf_view(&text)));
    buf_release(&text);
}

static void write_ref(struct openapi *o, const struct model_table *table, struct slice name,
                      const char *suffix)
{
    struct buf text;
    buf_init(&text, NAME_MAX);
    buf_text(&text, "#/components/schemas/");
    put_component(o, table, name, suffix, &text);
    json_put_string(&o->w, "$ref", buf_view(&text));
    buf_release(&text);
}

void openapi_entity_ref(struct openapi *o, const struct model_entity *entity, const char *suffix)
{
    json_open_object(&o->w);
    write_ref(o, entity->table, entity->name, suffix);
    json_close_object(&o->w);
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

// Whether something of each form must be given: as it is read, as it is created or replaced, as it
// is patched.
enum form { FORM_READ, FORM_INPUT, FORM_PATCH };

// What the server computes or counts: it is shown, and cannot be given.
static bool is_kept(const struct model_attribute *attribute)
{
    return attribute->always || attribute->counted;
}

static bool is_required(const struct model_attribute *attribute, enum form form)
{
    if (form == FORM_PATCH || attribute->optional || (form != FORM_READ && is_kept(attribute)))
        return false;
    return form == FORM_READ || (attribute->otherwise == NULL && !attribute->version);
}

// "required":[…], unless nothing is. Of an entity that a pattern shows in part only what it shows.
static void write_required(struct openapi *o, const struct model_attribute *fields, size_t count,
                           enum form form, const struct model_access *access,
                           const struct model_entity *entity)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (!is_required(&fields[i], form) ||
            (access != NULL &&
             model_projected_has(entity, access->index, &fields[i]) != MODEL_PROJECTED_ALWAYS))
            continue;
        if (!any)
            json_put_array(&o->w, "required");
        any = true;
        json_string(&o->w, fields[i].name);
    }
    if (any)
        json_close_array(&o->w);
}

static void write_object(struct openapi *o, const struct model_table *table,
                         const struct model_type *type)
{
    json_form(&o->w, "'type':'object'");
    if (type->field_count == 0)
        return;
    json_put_object(&o->w, "properties");
    for (size_t i = 0; i < type->field_count; i++) {
        json_name_slice(&o->w, type->fields[i].name);
        openapi_type(o, table, type->fields[i].type, &type->fields[i]);
    }
    json_close_object(&o->w);
    write_required(o, type->fields, type->field_count, FORM_INPUT, NULL, NULL);
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
    json_form(&o->w, "'type':'array'");
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

// What a simple type is, and what the member `of` says of the form of its text.
static const struct simple_row {
    const char *type;
    const char *of;
    const char *format;
} simple[MODEL_KINDS] = {
    [MODEL_STRING] = {"string", NULL, NULL},
    [MODEL_NUMBER] = {"number", NULL, NULL},
    [MODEL_INTEGER] = {"integer", NULL, NULL},
    [MODEL_BOOLEAN] = {"boolean", NULL, NULL},
    [MODEL_BINARY] = {"string", "contentEncoding", "base64"},
    [MODEL_UUID] = {"string", "format", "uuid"},
    [MODEL_TIMESTAMP] = {"string", "format", "date-time"},
    [MODEL_DATE] = {"string", "format", "date"},
    [MODEL_EPOCH] = {"integer", "format", "epoch"},
    [MODEL_EMAIL] = {"string", "format", "email"},
    [MODEL_URL] = {"string", "format", "uri"},
    [MODEL_NULL] = {"null", NULL, NULL},
};

static void write_simple(struct openapi *o, const struct model_type *type)
{
    const struct simple_row *row = &simple[type->kind];
    json_put_text(&o->w, "type", row->type);
    if (row->format != NULL)
        json_put_text(&o->w, row->of, row->format);
    if (type->kind == MODEL_STRING)
        write_range(o, type, "minLength", "maxLength");
    else if (type->kind == MODEL_NUMBER || type->kind == MODEL_INTEGER || type->kind == MODEL_EPOCH)
        write_range(o, type, "minimum", "maximum");
}

static void write_type(struct openapi *o, const struct model_table *table,
                       const struct model_type *type)
{
    if (type->kind == MODEL_LITERAL) {
        json_name(&o->w, "const");
        json_plain(&o->w, type->literal);
    } else if (type->kind == MODEL_LIST || type->kind == MODEL_SET) {
        write_list(o, table, type);
    } else if (type->kind == MODEL_RECORD) {
        json_form(&o->w, "'type':'object','additionalProperties':");
        openapi_type(o, table, type->item, NULL);
    } else if (type->kind == MODEL_OBJECT) {
        write_object(o, table, type);
    } else if (type->kind == MODEL_UNION) {
        write_union(o, table, type);
    } else if (type->kind != MODEL_ANY) {
        write_simple(o, type);
    }
}

static void write_facts(struct openapi *o, const struct model_attribute *attribute)
{
    json_put_given(&o->w, "description", attribute->doc);
    const struct model_expr *otherwise = attribute->otherwise;
    if (otherwise != NULL && otherwise->kind == MODEL_EXPR_VALUE && !otherwise->duration) {
        json_name(&o->w, "default");
        json_plain(&o->w, otherwise->value);
    }
    if (attribute->deprecated)
        json_put_flag(&o->w, "deprecated", true);
    if (is_kept(attribute))
        json_put_flag(&o->w, "readOnly", true);
    if (attribute->pattern.len > 0) {
        struct buf pattern;
        buf_init(&pattern, LIMIT_MODEL_FILE);
        buf_printf(&pattern, "^(?:%.*s)$", SLICE_FMT(attribute->pattern));
        json_put_string(&o->w, "pattern", buf_view(&pattern));
        buf_release(&pattern);
    }
}

void openapi_type(struct openapi *o, const struct model_table *table, const struct model_type *type,
                  const struct model_attribute *attribute)
{
    // What is optional may be null as well.
    bool null = attribute != NULL && attribute->optional && !attribute->strict &&
                type->kind != MODEL_ANY && !model_type_stores(type, VALUE_NULL);
    json_form(&o->w, null ? "{'anyOf':[{" : "{");
    if (type->name.len > 0)
        write_ref(o, table, type->name, type_suffix(table, type));
    else
        write_type(o, table, type);
    if (null)
        json_form(&o->w, "},{'type':'null'}]");
    if (attribute != NULL)
        write_facts(o, attribute);
    json_close_object(&o->w);
}

// ---- Entities -----------------------------------------------------------------------------------

static void write_property(struct openapi *o, const struct model_entity *entity,
                           const struct model_attribute *attribute)
{
    json_name_slice(&o->w, attribute->name);
    openapi_type(o, entity->table, attribute->type, attribute);
}

// Links to the objects of an entity; what is written back with them is taken, and not looked at.
static void write_objects(struct openapi *o, const struct model_entity *entity, enum form form)
{
    const struct model_rules *rules = entity->table->model->rules_of;
    bool any = false;
    for (size_t i = 0; i < rules->object_count; i++) {
        const struct model_object *object = &rules->objects[i];
        if (object->entity != entity)
            continue;
        if (!any)
            json_form(&o->w, form == FORM_READ
                                 ? "'$objects':{'type':'object','readOnly':true,'description':"
                                   "'Links to its objects, for as long as the model says',"
                                   "'properties':{"
                                 : "'$objects':{'description':'Ignored','type':'object',"
                                   "'properties':{");
        any = true;
        json_name_slice(&o->w, object->name);
        json_form(&o->w,
                  object->each == NULL
                      ? "{'type':'string','format':'uri'}"
                      : "{'type':'array','items':{'type':['string','null'],'format':'uri'}}");
    }
    if (any)
        json_form(&o->w, "}}");
}

static void write_entity(struct openapi *o, const struct model_entity *entity, enum form form)
{
    static const char *const suffixes[] = {"", "Input", "Patch"};
    open_schema(o, entity->table, entity->name, suffixes[form]);
    json_form(&o->w, "'type':'object'");
    json_put_given(&o->w, "description", entity->doc);
    json_put_object(&o->w, "properties");
    for (size_t i = 0; i < entity->attribute_count; i++) {
        if (form == FORM_READ || !is_kept(&entity->attributes[i]))
            write_property(o, entity, &entity->attributes[i]);
    }
    write_objects(o, entity, form);
    json_close_object(&o->w);
    write_required(o, entity->attributes, entity->attribute_count, form, NULL, NULL);
    if (form != FORM_READ && entity->unknown == MODEL_REJECT)
        json_put_flag(&o->w, "additionalProperties", false);
    json_close_object(&o->w);
}

void openapi_access_entity(struct openapi *o, const struct model_access *access,
                           const struct model_entity *entity)
{
    if (!model_access_partial(access)) {
        openapi_entity_ref(o, entity, "");
        return;
    }
    json_form(&o->w, "{'type':'object','properties':{");
    for (size_t i = 0; i < entity->attribute_count; i++) {
        if (model_projected_has(entity, access->index, &entity->attributes[i]) !=
            MODEL_PROJECTED_NOT)
            write_property(o, entity, &entity->attributes[i]);
    }
    json_close_object(&o->w);
    write_required(o, entity->attributes, entity->attribute_count, FORM_READ, access, entity);
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
        const struct model_type *type = model->types[i];
        open_schema(o, table, type->name, type_suffix(table, type));
        write_type(o, table, type);
        json_close_object(&o->w);
    }
}
