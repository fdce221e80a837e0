// See openapi.h. The document is written as it goes; openapi_schema.c has the types.
#include "data/openapi_internal.h"

#include "guard/access.h"
#include "guard/address.h"
#include "model/rules.h"

enum { NAME_MAX = 4096, TEXT_MAX = 64 << 10 };

#define TEXT_NUMBERS                                                                               \
    "Entities of single-table designs as plain JSON. Numbers keep up to 38 digits: read them as "  \
    "decimals where that matters. Binary is base64, sets are arrays."
#define SHOW_KEYS "Also show keys, index keys and the type attribute"
#define PROBLEM   "'default':{'$ref':'#/components/responses/Problem'}"

// ---- Small parts --------------------------------------------------------------------------------

// The name of an operation: "createUser", behind its table if there are several.
// What may not be read is not found; what may not be written is refused.
static bool has_policies(const struct model_entity *entity)
{
    const struct model_rules *rules = entity->table->model->rules_of;
    for (size_t i = 0; i < rules->policy_count; i++) {
        if (rules->policies[i].entity == entity)
            return true;
    }
    return false;
}

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
    json_put_string(&o->w, "operationId", buf_view(&text));
    buf_release(&text);
}

// Left open, for its parameters and responses.
static void open_operation(struct openapi *o, const char *method, const struct model_table *table,
                           const char *verb, struct slice name, const char *summary)
{
    struct buf text;
    buf_init(&text, NAME_MAX);
    json_put_object(&o->w, method);
    json_form(&o->w, "'tags':[%.*s]", SLICE_FMT(table->name));
    write_operation_id(o, table, verb, name);
    buf_slice(&text, name);
    buf_text(&text, name.len > 0 && summary[0] != 0 ? ": " : "");
    buf_text(&text, summary);
    json_put_given(&o->w, "summary", buf_view(&text));
    buf_release(&text);
}

static void write_parameter(struct openapi *o, const char *in, const char *name,
                            const char *description, const char *type)
{
    json_form(&o->w, "{'name':%s,'in':%s,'required':false,'description':%s,'schema':{'type':%s}}",
              name, in, description, type);
}

// The attributes that name an entity.
static void write_key(struct openapi *o, const struct model_entity *entity)
{
    struct model_address address;
    model_address(entity, &address);
    for (size_t i = 0; i < address.count; i++) {
        const struct model_address_part *part = &address.parts[i];
        json_form(&o->w, "{'name':%.*s,'in':'query','required':%hhd", SLICE_FMT(part->name),
                  !part->optional);
        if (part->attribute != NULL) {
            json_put_given(&o->w, "description", part->attribute->doc);
            json_name(&o->w, "schema");
            openapi_type(o, entity->table, part->attribute->type, NULL);
        } else {
            json_form(&o->w, "'schema':{'type':'string'}");
        }
        json_close_object(&o->w);
    }
}

// ---- Entities -----------------------------------------------------------------------------------

// What can be done to an entity: how it is asked for, and what is answered if it goes well.
struct response {
    const char *status;
    const char *description;
    enum { HAS_NOTHING, HAS_ENTITY, HAS_NEW_ENTITY } has; // a new one comes with its location
};

#define JSON_TYPE  "application/json"
#define PATCH_TYPE "application/merge-patch+json"
#define MATCH      "The ETag that it must have"

// A method is a line or two.
// clang-format off
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
    {"get", "get", "get one", true, true, NULL, "ETags that are known already", NULL, NULL,
     {{"200", "The entity", HAS_ENTITY}, {"304", "It is one of those that are known already", HAS_NOTHING}}},
    {"post", "create", "create one", false, true, NULL, NULL, "Input", JSON_TYPE,
     {{"201", "It was created", HAS_NEW_ENTITY}}},
    {"put", "replace", "replace or create one", true, true, MATCH "; * if it must be there", "* if it must not be there", "Input", JSON_TYPE,
     {{"200", "It was replaced", HAS_ENTITY}, {"201", "It was created", HAS_NEW_ENTITY}}},
    {"patch", "patch", "change some attributes (JSON Merge Patch)", true, true, MATCH, NULL, "Patch", PATCH_TYPE,
     {{"200", "It was changed", HAS_ENTITY}}},
    {"delete", "delete", "delete one", true, false, MATCH, NULL, NULL, NULL,
     {{"204", "It is gone", HAS_NOTHING}}},
};
// clang-format on

static void write_response(struct openapi *o, const struct model_entity *entity,
                           const struct response *response)
{
    json_form(&o->w, "%s:{'description':%s", response->status, response->description);
    if (response->has != HAS_NOTHING) {
        json_form(&o->w, "'headers':{'ETag':{'$ref':'#/components/headers/ETag'}");
        if (response->has == HAS_NEW_ENTITY)
            json_form(&o->w, "'Location':{'$ref':'#/components/headers/Location'}");
        json_form(&o->w, "},'content':{'application/json':{'schema':");
        openapi_entity_ref(o, entity, "");
        json_form(&o->w, "}}");
    }
    json_close_object(&o->w);
}

static void write_row(struct openapi *o, const struct entity_row *row,
                      const struct model_entity *entity)
{
    open_operation(o, row->method, entity->table, row->verb, entity->name, row->summary);
    json_put_array(&o->w, "parameters");
    if (row->key)
        write_key(o, entity);
    if (row->keys)
        write_parameter(o, "query", "keys", SHOW_KEYS, "boolean");
    if (row->if_match != NULL)
        write_parameter(o, "header", "If-Match", row->if_match, "string");
    if (row->if_none_match != NULL)
        write_parameter(o, "header", "If-None-Match", row->if_none_match, "string");
    json_close_array(&o->w);
    if (row->body != NULL) {
        json_form(&o->w, "'requestBody':{'required':true,'content':{%s:{'schema':", row->type);
        openapi_entity_ref(o, entity, row->body);
        json_form(&o->w, "}}}");
    }
    json_put_object(&o->w, "responses");
    for (size_t i = 0; i < COUNT_OF(row->responses) && row->responses[i].status != NULL; i++)
        write_response(o, entity, &row->responses[i]);
    if (strcmp(row->method, "get") != 0)
        json_form(&o->w, "'409':{'$ref':'#/components/responses/Conflict'}");
    if (strcmp(row->method, "get") != 0 && has_policies(entity))
        json_form(&o->w, "'403':{'description':'Policies of the model do not allow it',"
                         "'content':{'application/problem+json':{'schema':{'$ref':"
                         "'#/components/schemas/Dolmen.Problem'}}}}");
    json_form(&o->w, PROBLEM "}}");
}

static void open_path(struct openapi *o, const struct model_table *table, struct slice name)
{
    struct buf path;
    buf_init(&path, NAME_MAX);
    buf_printf(&path, "/v1/%.*s/%.*s", SLICE_FMT(table->name), SLICE_FMT(name));
    json_form(&o->w, "%.*s:{", SLICE_FMT(buf_view(&path)));
    buf_release(&path);
}

static const struct entity_row undelete_row = {
    .method = "post",
    .verb = "undelete",
    .summary = "bring back one that was deleted",
    .key = true,
    .keys = true,
    .responses = {{"200", "It is there again", HAS_ENTITY}},
};

static void write_undelete(struct openapi *o, const struct model_entity *entity)
{
    struct buf name;
    buf_init(&name, NAME_MAX);
    buf_printf(&name, "%.*s/$undelete", SLICE_FMT(entity->name));
    open_path(o, entity->table, buf_view(&name));
    write_row(o, &undelete_row, entity);
    json_close_object(&o->w);
    buf_release(&name);
}

// How an object of an entity may be uploaded.
static void write_upload(struct openapi *o, const struct model_object *object)
{
    const struct model_entity *entity = object->entity;
    struct buf name;
    buf_init(&name, NAME_MAX);
    buf_printf(&name, "%.*s/$upload/%.*s", SLICE_FMT(entity->name), SLICE_FMT(object->name));
    open_path(o, entity->table, buf_view(&name));
    buf_clear(&name);
    buf_printf(&name, "%.*s_%.*s", SLICE_FMT(entity->name), SLICE_FMT(object->name));
    open_operation(o, "post", entity->table, "upload", buf_view(&name),
                   "how its object may be uploaded");
    json_put_array(&o->w, "parameters");
    write_key(o, entity);
    write_parameter(o, "query", "form", "Answer with a form to post, instead of a PUT", "boolean");
    json_close_array(&o->w);
    json_form(&o->w, "'requestBody':{'content':{'application/json':{'schema':{'type':'object',"
                     "'properties':{'type':{'type':'string'},'size':{'type':'integer'},"
                     "'each':{'type':'string'}}}}}}");
    json_form(&o->w,
              "'responses':{'200':{'description':'Where to, and with which headers or "
              "fields','content':{'application/json':{'schema':{'type':'object',"
              "'properties':{'bucket':{'type':'string'},'key':{'type':'string'},"
              "'method':{'enum':['PUT','POST']},'url':{'type':'string','format':'uri'},"
              "'headers':{'type':'object','additionalProperties':{'type':'string'}},"
              "'fields':{'type':'object','additionalProperties':{'type':'string'}},"
              "'expiresIn':{'type':'integer'}},'required':['method','url','key']}}}}," PROBLEM
              "}}");
    json_close_object(&o->w);
    buf_release(&name);
}

// What the server makes can only be read, and what is append only is created and read.
static bool row_allowed(const struct entity_row *row, const struct model_entity *entity)
{
    bool get = strcmp(row->method, "get") == 0;
    return get || (!entity->kept && (!entity->append_only || strcmp(row->method, "post") == 0));
}

static void write_entity(struct openapi *o, const struct model_entity *entity)
{
    open_path(o, entity->table, entity->name);
    for (size_t i = 0; i < COUNT_OF(entity_rows); i++) {
        if (row_allowed(&entity_rows[i], entity))
            write_row(o, &entity_rows[i], entity);
    }
    json_close_object(&o->w);
    if (entity->softdelete != NULL && entity->guard == MODEL_ENFORCE)
        write_undelete(o, entity);
    const struct model_rules *rules = entity->table->model->rules_of;
    for (size_t i = 0; i < rules->object_count; i++) {
        if (rules->objects[i].entity == entity)
            write_upload(o, &rules->objects[i]);
    }
}

// ---- Patterns -----------------------------------------------------------------------------------

static void write_page_schema(struct openapi *o, const struct model_access *access)
{
    bool several = access->entity_count > 1;
    if (access->count) {
        json_form(&o->w, "{'type':'object','properties':{'count':{'type':'integer'},"
                         "'cursor':{'$ref':'#/components/schemas/Dolmen.Cursor'}},"
                         "'required':['count','cursor']}");
        return;
    }
    json_form(&o->w, "{'type':'object','properties':{'items':{'type':'array','items':");
    if (several)
        json_form(&o->w, "{'anyOf':[");
    for (size_t i = 0; i < access->entity_count; i++)
        openapi_access_entity(o, access, access->entities[i]);
    if (several)
        json_form(&o->w, "]}");
    json_form(&o->w, "},'cursor':{'$ref':'#/components/schemas/Dolmen.Cursor'}},"
                     "'required':['items','cursor']}");
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
    for (size_t i = 0; i < access->param_count; i++) {
        json_form(&o->w, "{'name':%.*s,'in':'query','required':true,'schema':",
                  SLICE_FMT(access->params[i].name));
        openapi_type(o, access->table, access->params[i].type, NULL);
        json_close_object(&o->w);
    }
    json_form(&o->w,
              "{'name':%s,'in':'query','required':false,'description':'Items to look at for a "
              "page','schema':{'type':'integer','minimum':1,'maximum':10000}}",
              has_param(access, "limit") ? "$limit" : "limit");
    write_parameter(o, "query", has_param(access, "cursor") ? "$cursor" : "cursor",
                    "Where the page before ended", "string");
    write_parameter(o, "query", has_param(access, "keys") ? "$keys" : "keys", SHOW_KEYS, "boolean");
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
    json_form(&o->w, "'description':%.*s,'parameters':[", SLICE_FMT(buf_view(&text)));
    write_page_parameters(o, access);
    json_form(&o->w, "],'responses':{'200':{'description':'A page','content':{"
                     "'application/json':{'schema':");
    write_page_schema(o, access);
    json_form(&o->w, "}");
    if (!access->count)
        json_form(&o->w, "'text/event-stream':{'schema':{'type':'string','description':%s}}",
                  "The result and then its changes, as events: item, ready, put, remove, reset");
    json_form(&o->w, "}}," PROBLEM "}}}");
    buf_release(&text);
}

// ---- Several changes ----------------------------------------------------------------------------

static void write_list(struct openapi *o, const struct model_table *table, const char *name,
                       const char *verb, const char *summary)
{
    open_path(o, table, slice_str(name));
    open_operation(o, "post", table, verb, slice_of(NULL, 0), summary);
    json_form(&o->w, "'requestBody':{'required':true,'content':{'application/json':{'schema':"
                     "{'$ref':'#/components/schemas/Dolmen.Operations'}}}},"
                     "'responses':{'200':{'description':'What came of each operation',"
                     "'content':{'application/json':{'schema':"
                     "{'$ref':'#/components/schemas/Dolmen.Results'}}}}," PROBLEM "}}}");
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

// Schemas that every document has.
static const char common_schemas[] =
    "'Dolmen.Cursor':{'type':['string','null'],"
    "'description':'Where this page ended; null if it was the last one'},"
    "'Dolmen.Problem':{'type':'object','description':'RFC 9457','properties':{"
    "'type':{'type':'string','format':'uri-reference'},'title':{'type':'string'},"
    "'status':{'type':'integer'},'detail':{'type':'string'},"
    "'exception':{'type':'string'},'entity':{'type':'string'},"
    "'errors':{'type':'array','items':{'type':'object','properties':{"
    "'pointer':{'type':'string','description':'JSON pointer'},"
    "'expected':{'type':'string'},'actual':{'type':'string'},'detail':{'type':'string'}},"
    "'required':['pointer','expected','actual','detail']}}},'required':['type','title','status']},"
    "'Dolmen.Operations':{'type':'array','minItems':1,'maxItems':100,'items':{"
    "'type':'object','properties':{"
    "'op':{'enum':['create','replace','patch','delete','undelete','check','get']},"
    "'entity':{'type':'string'},'key':{'type':'object'},'item':{'type':'object'},"
    "'ifMatch':{'type':'string'},'ifNoneMatch':{'type':'string'}},"
    "'required':['op','entity'],'additionalProperties':false}},"
    "'Dolmen.Results':{'type':'object','properties':{'results':{'type':'array','items':{"
    "'type':'object','properties':{'status':{'type':'integer'},"
    "'etag':{'type':'string'},'item':{'type':'object'},"
    "'problem':{'$ref':'#/components/schemas/Dolmen.Problem'}}}}},'required':['results']}";

static const char common_components[] =
    "'headers':{'ETag':{'description':'Changes whenever the entity does',"
    "'schema':{'type':'string'}},'Location':{'description':'Where the entity is',"
    "'schema':{'type':'string','format':'uri-reference'}}},"
    "'responses':{'Problem':{'description':'What went wrong','content':{"
    "'application/problem+json':{'schema':{'$ref':'#/components/schemas/Dolmen.Problem'}}}},"
    "'Conflict':{'description':'Something else stands against it: it is there already, a value is "
    "taken, or others refer to it','content':{"
    "'application/problem+json':{'schema':{'$ref':'#/components/schemas/Dolmen.Problem'}}}}}";

static void write_info(struct openapi *o, const struct openapi_options *options)
{
    json_form(&o->w,
              "'openapi':'3.1.0','info':{'title':%s,'version':%s,'description':%s},"
              "'servers':[{'url':%s}],'tags':[",
              options->title == NULL ? "Dolmen data API" : options->title,
              options->version == NULL ? "1.0.0" : options->version, TEXT_NUMBERS,
              options->server == NULL ? "/" : options->server);
    for (size_t i = 0; i < o->table_count; i++) {
        json_form(&o->w, "{'name':%.*s", SLICE_FMT(o->tables[i]->name));
        json_put_given(&o->w, "description", o->tables[i]->doc);
        json_close_object(&o->w);
    }
    json_close_array(&o->w);
}

void model_openapi(size_t count, const struct model_table *const *tables,
                   const struct openapi_options *options, struct buf *out)
{
    struct openapi o = {json_writer_to(out), count, tables};
    json_open_object(&o.w);
    write_info(&o, options);
    json_put_object(&o.w, "paths");
    for (size_t i = 0; i < count; i++)
        write_table(&o, tables[i]);
    json_form(&o.w, "},'components':{'schemas':{");
    for (size_t i = 0; i < count; i++)
        openapi_schemas(&o, tables[i]);
    json_form(&o.w, common_schemas);
    json_close_object(&o.w);
    json_form(&o.w, common_components);
    json_form(&o.w, "}}");
}
