// One entity: POST, GET, PUT, PATCH and DELETE /v1/{table}/{Entity}; and POST …/$undelete.
#include "data/data_internal.h"

#define METHODS "GET, HEAD, POST, PUT, PATCH, DELETE"

static enum data_action action_of(struct slice method)
{
    return slice_is(method, "POST")     ? DATA_CREATE
           : slice_is(method, "PUT")    ? DATA_REPLACE
           : slice_is(method, "PATCH")  ? DATA_PATCH
           : slice_is(method, "DELETE") ? DATA_DELETE
                                        : DATA_GET;
}

// ---- The key in the query string ------------------------------------------------------------

static const struct model_type *type_of_key(const struct model_entity *entity, struct slice name)
{
    static const struct model_type string = {.kind = MODEL_STRING};
    static const struct model_type number = {.kind = MODEL_NUMBER};
    static const struct model_type binary = {.kind = MODEL_BINARY};
    const struct model_attribute *attribute = model_entity_attribute(entity, name);
    if (attribute != NULL)
        return attribute->type;
    const struct key_schema *keys = &entity->table->keys;
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        if (slice_equal(keys->parts[i].name, name))
            return keys->parts[i].type == VALUE_N   ? &number
                   : keys->parts[i].type == VALUE_B ? &binary
                                                    : &string;
    }
    return &string;
}

static bool is_option(struct slice name)
{
    return slice_is(name, "keys") || slice_is(name, "objects") || slice_is(name, "form");
}

// The parameters as attributes, but for those that are not meant as such.
static bool read_fields(struct data *data, struct data_change *change)
{
    struct value_maker maker;
    bool fine = true;
    value_begin(&maker, LIMIT_ITEM_SIZE);
    value_open_map(&maker.b);
    for (size_t i = 0; i < data->param_count && fine; i++) {
        const struct data_param *param = &data->params[i];
        if (is_option(param->name) && model_entity_attribute(change->entity, param->name) == NULL)
            continue;
        struct slice value =
            model_plain_text(type_of_key(change->entity, param->name), param->value, &data->arena);
        fine = value.len > 0;
        value_name(&maker.b, param->name);
        value_put(&maker.b, value);
    }
    change->fields = value_end(&maker, &data->arena);
    return (fine && change->fields.ptr != NULL) ||
           data_change_fail(change, data_problem_memory(data));
}

// What is created has its key in the body.
static bool check_parameters(struct data *data, struct data_change *change)
{
    for (size_t i = 0; i < data->param_count; i++) {
        if (is_option(data->params[i].name))
            continue;
        char *detail = arena_printf(
            &data->arena, "/%.*s: POST takes attributes in the body, not in the query string",
            SLICE_FMT(data->params[i].name));
        return data_change_fail(change,
                                (struct data_problem){.kind = DATA_INVALID, .detail = detail});
    }
    return true;
}

static struct slice header_of(const struct data *data, struct slice name)
{
    const struct slice *value = http_header_find(&data->exchange->request, name);
    return value == NULL ? slice_of(NULL, 0) : *value;
}

// ---- The answer -------------------------------------------------------------------------------

static void complete(struct data *data)
{
    const struct data_change *change = &data->tasks[0].changes[0];
    if (change->failed) {
        (void)data_answer_problem(data, change->problem);
        return;
    }
    data_header_warnings(data, change->warnings);
    if (change->repeated)
        buf_text(&data->headers, "x-dolmen-repeated: true\r\n");
    if (change->item.len > 0) {
        char tag[DATA_ETAG + 1];
        data_etag_text(change->digest, tag);
        buf_printf(&data->headers, "ETag: %s\r\n", tag);
    }
    if (change->status == 201) {
        buf_text(&data->headers, "Location: ");
        data_location(data, change, &data->headers);
        buf_text(&data->headers, "\r\n");
    }
    if (change->status != 204 && change->status != 304) {
        struct json_writer w = json_writer_to(&data->body);
        data_change_write(data, change, &w);
    }
    (void)data_answer_json(data, change->status);
}

static enum data_step do_action(struct data *data, const struct model_entity *entity,
                                enum data_action action, void (*end)(struct data *data))
{
    const struct http_request *request = &data->exchange->request;
    bool has_body = action == DATA_CREATE || action == DATA_REPLACE || action == DATA_PATCH;
    if ((has_body && !data_body_is_json(data)) || !data_tasks_new(data, 1))
        return DATA_READY;
    struct data_task *task = &data->tasks[0];
    struct data_change *change = arena_zalloc(&data->arena, 1, sizeof(*change));
    struct entity_write *write = arena_zalloc(&data->arena, 1, sizeof(*write));
    if (change == NULL || write == NULL)
        return data_answer_problem(data, data_problem_memory(data));
    *change = (struct data_change){
        .action = action,
        .entity = entity,
        .body = request->body,
        .match = {header_of(data, SLICE_LIT("if-match")),
                  header_of(data, SLICE_LIT("if-none-match"))},
        .keys = data_param_true(data, "keys"),
    };
    task->count = 1;
    task->changes = change;
    task->writes = write;
    if (action == DATA_CREATE)
        (void)check_parameters(data, change);
    else if (read_fields(data, change))
        (void)data_change_key(data, change);
    return data_tasks_run(data, end);
}

enum data_step data_entity(struct data *data, const struct model_entity *entity)
{
    if (!data_method_in(data, METHODS))
        return DATA_READY;
    return do_action(data, entity, action_of(data->exchange->request.method), complete);
}

enum data_step data_entity_read(struct data *data, const struct model_entity *entity,
                                void (*end)(struct data *data))
{
    return do_action(data, entity, DATA_GET, end);
}

bool data_undeletes(const struct model_entity *entity)
{
    return entity->softdelete != NULL && entity->guard == MODEL_ENFORCE;
}

enum data_step data_undelete(struct data *data, const struct model_entity *entity)
{
    if (!data_method_in(data, "POST"))
        return DATA_READY;
    if (!data_undeletes(entity))
        return data_answer_not_found(data,
                                     "Entity %.*s is not deleted softly: there is no "
                                     "softdelete in its model",
                                     SLICE_FMT(entity->name));
    return do_action(data, entity, DATA_UNDELETE, complete);
}
