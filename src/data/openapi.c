// See openapi.h. The document is written as it goes; openapi_schema.c has the types.
#include "data/openapi_internal.h"

#include "guard/access.h"
#include "guard/address.h"

enum { NAME_MAX = 4096, TEXT_MAX = 64 << 10 };

#define TEXT_NUMBERS                                                                               \
    "Entities of single-table designs as plain JSON. Numbers keep up to 38 digits: read them as "  \
    "decimals where that matters. Binary is base64, sets are arrays."

// ---- Small parts --------------------------------------------------------------------------------

static void open_member(struct openapi *o, const char *name)
{
    json_put_object(&o->w, name);
}

static void shut(struct openapi *o)
{
    json_close_object(&o->w);
}

// "content":{"application/json":{"schema":…}}, left open for the schema; close with close_content.
static void open_content(struct openapi *o, const char *type)
{
    open_member(o, "content");
    open_member(o, type);
    json_name(&o->w, "schema");
}

static void close_content(struct openapi *o)
{
    shut(o);
    shut(o);
}

static void write_component(struct openapi *o, const char *name, const char *ref)
{
    open_member(o, name);
    openapi_string(o, "$ref", ref);
    shut(o);
}

static void write_problem(struct openapi *o)
{
    write_component(o, "default", "#/components/responses/Problem");
}

// The name of an operation: "createUser", behind its table if there are several.
static void write_operation_id(struct openapi *o, const struct model_table *table, const char *verb,
                               struct slice name)
{
    struct buf text;
    buf_init(&text, NAME_MAX);
    if (o->table_count > 1) {
        buf_slice(&text, table->name);
        buf_byte(&text, '_');
    }
    buf_text(&text, verb);
    buf_slice(&text, name);
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')))
            text.ptr[i] = '_';
    }
    openapi_text(o, "operationId", buf_view(&text));
    buf_release(&text);
}

static void open_operation(struct openapi *o, const char *method, const struct model_table *table,
                           const char *verb, struct slice name, const char *summary)
{
    struct buf text;
    buf_init(&text, NAME_MAX);
    open_member(o, method);
    json_put_array(&o->w, "tags");
    json_string(&o->w, table->name);
    json_close_array(&o->w);
    write_operation_id(o, table, verb, name);
    buf_slice(&text, name);
    buf_text(&text, name.len > 0 && summary[0] != 0 ? ": " : "");
    buf_text(&text, summary);
    openapi_text(o, "summary", buf_view(&text));
    buf_release(&text);
}

// ---- Parameters ---------------------------------------------------------------------------------

static void open_parameter(struct openapi *o, const char *in, struct slice name, bool required)
{
    json_open_object(&o->w);
    openapi_text(o, "name", name);
    openapi_string(o, "in", in);
    json_put_flag(&o->w, "required", required);
}

static void write_header(struct openapi *o, const char *name, const char *description)
{
    open_parameter(o, "header", slice_str(name), false);
    openapi_string(o, "description", description);
    open_member(o, "schema");
    openapi_string(o, "type", "string");
    shut(o);
    shut(o);
}

static void write_flag(struct openapi *o, const char *name, const char *description)
{
    open_parameter(o, "query", slice_str(name), false);
    openapi_string(o, "description", description);
    open_member(o, "schema");
    openapi_string(o, "type", "boolean");
    shut(o);
    shut(o);
}

// The attributes that name an entity.
static void write_key(struct openapi *o, const struct model_entity *entity)
{
    struct model_address address;
    model_address(entity, &address);
    for (size_t i = 0; i < address.count; i++) {
        const struct model_address_part *part = &address.parts[i];
        open_parameter(o, "query", part->name, !part->optional);
        if (part->attribute != NULL)
            openapi_text(o, "description", part->attribute->doc);
        json_name(&o->w, "schema");
        if (part->attribute != NULL) {
            openapi_type(o, entity->table, part->attribute->type, NULL);
        } else {
            json_open_object(&o->w);
            openapi_string(o, "type", "string");
            shut(o);
        }
        shut(o);
    }
}

static void open_parameters(struct openapi *o)
{
    json_put_array(&o->w, "parameters");
}

#define SHOW_KEYS "Also show keys, index keys and the type attribute"

// ---- Entities -----------------------------------------------------------------------------------

static void write_body(struct openapi *o, const struct model_entity *entity, const char *suffix,
                       const char *type)
{
    open_member(o, "requestBody");
    json_put_flag(&o->w, "required", true);
    open_content(o, type);
    openapi_entity_ref(o, entity, suffix);
    close_content(o);
    shut(o);
}

static void write_entity_response(struct openapi *o, const struct model_entity *entity,
                                  const char *status, const char *description, bool location)
{
    open_member(o, status);
    openapi_string(o, "description", description);
    open_member(o, "headers");
    write_component(o, "ETag", "#/components/headers/ETag");
    if (location)
        write_component(o, "Location", "#/components/headers/Location");
    shut(o);
    open_content(o, "application/json");
    openapi_entity_ref(o, entity, "");
    close_content(o);
    shut(o);
}

static void write_plain_response(struct openapi *o, const char *status, const char *description)
{
    open_member(o, status);
    openapi_string(o, "description", description);
    shut(o);
}

// What can be done to an entity: how it is asked for, and what is answered if it goes well.
struct response {
    const char *status;
    const char *description;
    enum { HAS_NOTHING, HAS_ENTITY, HAS_NEW_ENTITY } has; // a new one comes with its location
};

static const struct entity_row {
    const char *method;
    const char *verb;
    const char *summary;
    bool key;
    bool keys; // derived ones can be shown
    const char *if_match;
    const char *if_none_match;
    const char *body; // the schema of it, or NULL
    const char *type;
    struct response responses[2];
} entity_rows[] = {
    {.method = "get",
     .verb = "get",
     .summary = "get one",
     .key = true,
     .keys = true,
     .if_none_match = "ETags that are known already",
     .responses = {{"200", "The entity", HAS_ENTITY},
                   {"304", "It is one of those that are known already", HAS_NOTHING}}},
    {.method = "post",
     .verb = "create",
     .summary = "create one",
     .keys = true,
     .body = "Input",
     .type = "application/json",
     .responses = {{"201", "It was created", HAS_NEW_ENTITY}}},
    {.method = "put",
     .verb = "replace",
     .summary = "replace or create one",
     .key = true,
     .keys = true,
     .if_match = "The ETag that it must have; * if it must be there",
     .if_none_match = "* if it must not be there",
     .body = "Input",
     .type = "application/json",
     .responses = {{"200", "It was replaced", HAS_ENTITY},
                   {"201", "It was created", HAS_NEW_ENTITY}}},
    {.method = "patch",
     .verb = "patch",
     .summary = "change some attributes (JSON Merge Patch)",
     .key = true,
     .keys = true,
     .if_match = "The ETag that it must have",
     .body = "Patch",
     .type = "application/merge-patch+json",
     .responses = {{"200", "It was changed", HAS_ENTITY}}},
    {.method = "delete",
     .verb = "delete",
     .summary = "delete one",
     .key = true,
     .if_match = "The ETag that it must have",
     .responses = {{"204", "It is gone", HAS_NOTHING}}},
};

static void write_row(struct openapi *o, const struct entity_row *row,
                      const struct model_entity *entity)
{
    open_operation(o, row->method, entity->table, row->verb, entity->name, row->summary);
    open_parameters(o);
    if (row->key)
        write_key(o, entity);
    if (row->keys)
        write_flag(o, "keys", SHOW_KEYS);
    if (row->if_match != NULL)
        write_header(o, "If-Match", row->if_match);
    if (row->if_none_match != NULL)
        write_header(o, "If-None-Match", row->if_none_match);
    json_close_array(&o->w);
    if (row->body != NULL)
        write_body(o, entity, row->body, row->type);
    open_member(o, "responses");
    for (size_t i = 0; i < COUNT_OF(row->responses) && row->responses[i].status != NULL; i++) {
        const struct response *response = &row->responses[i];
        if (response->has == HAS_NOTHING)
            write_plain_response(o, response->status, response->description);
        else
            write_entity_response(o, entity, response->status, response->description,
                                  response->has == HAS_NEW_ENTITY);
    }
    write_problem(o);
    shut(o);
    shut(o);
}

static void open_path(struct openapi *o, const struct model_table *table, struct slice name)
{
    struct buf path;
    buf_init(&path, NAME_MAX);
    buf_printf(&path, "/v1/%.*s/%.*s", SLICE_FMT(table->name), SLICE_FMT(name));
    json_name_slice(&o->w, buf_view(&path));
    json_open_object(&o->w);
    buf_release(&path);
}

static void write_entity(struct openapi *o, const struct model_entity *entity)
{
    open_path(o, entity->table, entity->name);
    for (size_t i = 0; i < COUNT_OF(entity_rows); i++)
        write_row(o, &entity_rows[i], entity);
    shut(o);
}

// ---- Patterns -----------------------------------------------------------------------------------

static void write_page_schema(struct openapi *o, const struct model_access *access)
{
    json_open_object(&o->w);
    openapi_string(o, "type", "object");
    open_member(o, "properties");
    open_member(o, "items");
    openapi_string(o, "type", "array");
    json_name(&o->w, "items");
    if (access->entity_count == 1) {
        openapi_entity_ref(o, access->entities[0], "");
    } else {
        json_open_object(&o->w);
        json_put_array(&o->w, "anyOf");
        for (size_t i = 0; i < access->entity_count; i++)
            openapi_entity_ref(o, access->entities[i], "");
        json_close_array(&o->w);
        shut(o);
    }
    shut(o);
    write_component(o, "cursor", "#/components/schemas/Dolmen.Cursor");
    shut(o);
    json_put_array(&o->w, "required");
    json_text(&o->w, "items");
    json_text(&o->w, "cursor");
    json_close_array(&o->w);
    shut(o);
}

static bool has_param(const struct model_access *access, const char *name)
{
    for (size_t i = 0; i < access->param_count; i++) {
        if (slice_is(access->params[i].name, name))
            return true;
    }
    return false;
}

static void write_page_parameters(struct openapi *o, const struct model_access *access)
{
    bool limit = has_param(access, "limit");
    bool cursor = has_param(access, "cursor");
    bool keys = has_param(access, "keys");
    for (size_t i = 0; i < access->param_count; i++) {
        open_parameter(o, "query", access->params[i].name, true);
        json_name(&o->w, "schema");
        openapi_type(o, access->table, access->params[i].type, NULL);
        shut(o);
    }
    open_parameter(o, "query", slice_str(limit ? "$limit" : "limit"), false);
    openapi_string(o, "description", "Items to look at for a page");
    open_member(o, "schema");
    openapi_string(o, "type", "integer");
    json_put_integer(&o->w, "minimum", 1);
    json_put_integer(&o->w, "maximum", 10000);
    shut(o);
    shut(o);
    open_parameter(o, "query", slice_str(cursor ? "$cursor" : "cursor"), false);
    openapi_string(o, "description", "Where the page before ended");
    open_member(o, "schema");
    openapi_string(o, "type", "string");
    shut(o);
    shut(o);
    write_flag(o, keys ? "$keys" : "keys", SHOW_KEYS);
}

static void write_pattern(struct openapi *o, const struct model_access *access)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    if (access->doc.len > 0) {
        buf_slice(&text, access->doc);
        buf_text(&text, "\n\n");
    }
    access_describe(access, &text);
    open_path(o, access->table, access->name);
    open_operation(o, "get", access->table, "", access->name, "");
    openapi_text(o, "description", buf_view(&text));
    open_parameters(o);
    write_page_parameters(o, access);
    json_close_array(&o->w);
    open_member(o, "responses");
    open_member(o, "200");
    openapi_string(o, "description", "A page");
    open_content(o, "application/json");
    write_page_schema(o, access);
    close_content(o);
    shut(o);
    write_problem(o);
    shut(o);
    shut(o);
    shut(o);
    buf_release(&text);
}

// ---- Several changes ----------------------------------------------------------------------------

static void write_list(struct openapi *o, const struct model_table *table, const char *name,
                       const char *verb, const char *summary)
{
    open_path(o, table, slice_str(name));
    open_operation(o, "post", table, verb, slice_of(NULL, 0), summary);
    open_member(o, "requestBody");
    json_put_flag(&o->w, "required", true);
    open_content(o, "application/json");
    json_open_object(&o->w);
    openapi_string(o, "$ref", "#/components/schemas/Dolmen.Operations");
    shut(o);
    close_content(o);
    shut(o);
    open_member(o, "responses");
    open_member(o, "200");
    openapi_string(o, "description", "What came of each operation");
    open_content(o, "application/json");
    json_open_object(&o->w);
    openapi_string(o, "$ref", "#/components/schemas/Dolmen.Results");
    shut(o);
    close_content(o);
    shut(o);
    write_problem(o);
    shut(o);
    shut(o);
    shut(o);
}

static void write_table(struct openapi *o, const struct model_table *table)
{
    for (size_t i = 0; i < table->entity_count; i++)
        write_entity(o, &table->entities[i]);
    for (size_t i = 0; i < table->access_count; i++)
        write_pattern(o, &table->accesses[i]);
    write_list(o, table, "$transaction", "transact", "several changes, all or nothing");
    write_list(o, table, "$batch", "batch", "several changes, each for itself");
}

// ---- The document -------------------------------------------------------------------------------

// Schemas that every document has, as they are.
static const char common_schemas[] =
    "\"Dolmen.Cursor\":{\"type\":[\"string\",\"null\"],\"description\":\"Where this page ended; "
    "null if "
    "it "
    "was the last one\"},"
    "\"Dolmen.Problem\":{\"type\":\"object\",\"description\":\"RFC 9457\",\"properties\":{"
    "\"type\":{\"type\":\"string\",\"format\":\"uri-reference\"},\"title\":{\"type\":\"string\"},"
    "\"status\":{\"type\":\"integer\"},\"detail\":{\"type\":\"string\"},"
    "\"exception\":{\"type\":\"string\"},\"entity\":{\"type\":\"string\"},"
    "\"errors\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
    "\"pointer\":{\"type\":\"string\",\"description\":\"JSON pointer\"},"
    "\"expected\":{\"type\":\"string\"},\"actual\":{\"type\":\"string\"},"
    "\"detail\":{\"type\":\"string\"}},\"required\":[\"pointer\",\"expected\",\"actual\","
    "\"detail\"]}}},\"required\":[\"type\",\"title\",\"status\"]},"
    "\"Dolmen.Operations\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":100,\"items\":{"
    "\"type\":\"object\",\"properties\":{"
    "\"op\":{\"enum\":[\"create\",\"replace\",\"patch\",\"delete\",\"check\",\"get\"]},"
    "\"entity\":{\"type\":\"string\"},\"key\":{\"type\":\"object\"},\"item\":{\"type\":\"object\"},"
    "\"ifMatch\":{\"type\":\"string\"},\"ifNoneMatch\":{\"type\":\"string\"}},"
    "\"required\":[\"op\",\"entity\"],\"additionalProperties\":false}},"
    "\"Dolmen.Results\":{\"type\":\"object\",\"properties\":{\"results\":{\"type\":\"array\","
    "\"items\":{"
    "\"type\":\"object\",\"properties\":{\"status\":{\"type\":\"integer\"},"
    "\"etag\":{\"type\":\"string\"},\"item\":{\"type\":\"object\"},"
    "\"problem\":{\"$ref\":\"#/components/schemas/"
    "Dolmen.Problem\"}}}}},\"required\":[\"results\"]}";

static const char common_components[] =
    "\"headers\":{\"ETag\":{\"description\":\"Changes whenever the entity does\",\"schema\":{"
    "\"type\":\"string\"}},\"Location\":{\"description\":\"Where the entity is\",\"schema\":{"
    "\"type\":\"string\",\"format\":\"uri-reference\"}}},"
    "\"responses\":{\"Problem\":{\"description\":\"What went wrong\",\"content\":{"
    "\"application/problem+json\":{\"schema\":{\"$ref\":\"#/components/schemas/"
    "Dolmen.Problem\"}}}}}";

static void write_raw(struct openapi *o, const char *text)
{
    if (o->w.comma)
        buf_byte(o->w.out, ',');
    buf_text(o->w.out, text);
    o->w.comma = true;
}

static void write_info(struct openapi *o, const struct openapi_options *options)
{
    openapi_string(o, "openapi", "3.1.0");
    open_member(o, "info");
    openapi_string(o, "title", options->title == NULL ? "Dolmen data API" : options->title);
    openapi_string(o, "version", options->version == NULL ? "1.0.0" : options->version);
    openapi_string(o, "description", TEXT_NUMBERS);
    shut(o);
    json_put_array(&o->w, "servers");
    json_open_object(&o->w);
    openapi_string(o, "url", options->server == NULL ? "/" : options->server);
    shut(o);
    json_close_array(&o->w);
    json_put_array(&o->w, "tags");
    for (size_t i = 0; i < o->table_count; i++) {
        json_open_object(&o->w);
        openapi_text(o, "name", o->tables[i]->name);
        openapi_text(o, "description", o->tables[i]->doc);
        shut(o);
    }
    json_close_array(&o->w);
}

void model_openapi(size_t count, const struct model_table *const *tables,
                   const struct openapi_options *options, struct buf *out)
{
    struct openapi o = {json_writer_to(out), count, tables};
    json_open_object(&o.w);
    write_info(&o, options);
    open_member(&o, "paths");
    for (size_t i = 0; i < count; i++)
        write_table(&o, tables[i]);
    shut(&o);
    open_member(&o, "components");
    open_member(&o, "schemas");
    for (size_t i = 0; i < count; i++)
        openapi_schemas(&o, tables[i]);
    write_raw(&o, common_schemas);
    shut(&o);
    write_raw(&o, common_components);
    shut(&o);
    shut(&o);
}
