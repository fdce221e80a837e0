// Access patterns: GET /v1/{table}/{pattern}?name=value&limit=…&cursor=…
#include "server/data_internal.h"

#include "model/entity.h"

enum { LIMIT_MAX = 10000 };

// What is not an argument of the pattern.
struct query_options {
    struct access_options access;
    const struct slice *cursor;
    bool keys;
    bool explain;
};

// ---- The question -------------------------------------------------------------------------------

static const struct model_param *param_find(const struct model_access *access, struct slice name)
{
    for (size_t i = 0; i < access->param_count; i++) {
        if (slice_equal(access->params[i].name, name))
            return &access->params[i];
    }
    return NULL;
}

// Options can be written $limit where the pattern has a parameter `limit`.
static bool is_option(const struct model_access *access, struct slice name)
{
    static const char *const names[] = {"limit", "cursor", "keys", "explain"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (slice_is(name, names[i]))
            return param_find(access, name) == NULL;
        if (name.len > 1 && name.ptr[0] == '$' &&
            slice_is(slice_of(name.ptr + 1, name.len - 1), names[i]))
            return true;
    }
    return false;
}

static const struct slice *option(const struct data *data, const struct model_access *access,
                                  const char *plain, const char *marked)
{
    const struct slice *value = data_param(data, marked);
    if (value == NULL && param_find(access, slice_str(plain)) == NULL)
        value = data_param(data, plain);
    return value;
}

static bool read_limit(struct data *data, struct slice text, uint64_t *limit)
{
    uint64_t value = 0;
    for (size_t i = 0; i < text.len && value <= LIMIT_MAX; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            value = 0;
            break;
        }
        value = value * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    *limit = value;
    return (value > 0 && value <= LIMIT_MAX) ||
           error_validation(&data->error,
                            "/limit: expected a whole number from 1 to %d, got \"%.*s\"", LIMIT_MAX,
                            SLICE_FMT(text));
}

static bool flag(const struct slice *value)
{
    return value != NULL && (value->len == 0 || slice_is(*value, "true") || slice_is(*value, "1"));
}

static bool read_options(struct data *data, const struct model_access *access,
                         struct query_options *out)
{
    const struct slice *limit = option(data, access, "limit", "$limit");
    out->cursor = option(data, access, "cursor", "$cursor");
    out->keys = flag(option(data, access, "keys", "$keys"));
    out->explain = flag(option(data, access, "explain", "$explain"));
    return limit == NULL || read_limit(data, *limit, &out->access.limit);
}

static bool bind(struct data *data, const struct model_access *access, const struct slice **values)
{
    static const struct model_type string = {.kind = MODEL_STRING};
    size_t count = 0;
    struct access_argument *arguments =
        arena_zalloc(&data->arena, data->param_count + 1, sizeof(*arguments));
    if (arguments == NULL)
        return error_budget(&data->error);
    for (size_t i = 0; i < data->param_count; i++) {
        const struct data_param *given = &data->params[i];
        if (is_option(access, given->name))
            continue;
        const struct model_param *param = param_find(access, given->name);
        arguments[count].name = given->name;
        arguments[count].value =
            model_plain_text(param == NULL ? &string : param->type, given->value, &data->arena);
        if (arguments[count++].value.len == 0)
            return error_budget(&data->error);
    }
    return access_bind(access, count, arguments, &data->arena, values, &data->error);
}

// What a cursor is good for: this pattern of this table, with these values.
static struct slice cursor_scope(struct data *data, const struct model_access *access,
                                 const struct slice *values)
{
    struct buf text;
    buf_init(&text, LIMIT_REQUEST_MEMORY);
    buf_slice(&text, access->table->name);
    buf_byte(&text, 0);
    buf_slice(&text, access->name);
    buf_byte(&text, 0);
    for (size_t i = 0; i < access->param_count; i++)
        buf_slice(&text, values[i]);
    struct slice scope =
        text.failed ? slice_of(NULL, 0) : arena_copy(&data->arena, buf_view(&text));
    buf_release(&text);
    return scope;
}

// ---- The answer -------------------------------------------------------------------------------

static const struct model_entity *entity_of(const struct model_access *access, struct slice item)
{
    if (access->entity_count == 1)
        return access->entities[0];
    return model_recognise(access->table, item).entity;
}

// A key that another entity shares may hold something that was not asked for.
static bool wanted(const struct model_access *access, struct slice item)
{
    struct slice name = access->table->type_attribute;
    struct slice type = name.len == 0 ? VALUE_NONE : value_get(item, name);
    if (!access->get || type.len == 0 || value_type(type) != VALUE_S)
        return true;
    for (size_t i = 0; i < access->entity_count; i++) {
        if (slice_equal(access->entities[i]->type_value, value_bytes(type)))
            return true;
    }
    return false;
}

static void write_page(struct data *data, const struct access_plan *plan,
                       const struct api_page *page, struct slice scope, bool keys)
{
    const struct model_access *access = plan->access;
    struct json_writer w = json_writer_to(&data->body);
    json_open_object(&w);
    json_name(&w, "items");
    json_open_array(&w);
    for (size_t i = 0; i < page->count; i++) {
        struct slice item = page->items[i];
        struct model_plain_view view = {.table = access->table,
                                        .entity = entity_of(access, item),
                                        .keys = keys,
                                        .name = access->entity_count > 1};
        if (wanted(access, item))
            model_plain_write(&w, &view, item);
    }
    json_close_array(&w);
    json_name(&w, "cursor");
    if (page->last.len == 0 || (access->one && page->count > 0)) {
        json_null(&w);
    } else {
        buf_byte(w.out, '"');
        data_cursor_write(data, scope, page->last, w.out);
        buf_byte(w.out, '"');
    }
    w.comma = true;
    json_close_object(&w);
    data_answer_json(data, 200);
}

static bool run_plan(struct data *data, const struct access_plan *plan, struct api_page *page)
{
    struct buf body;
    struct api_call *call = &data->tasks[0].call;
    buf_init(&body, LIMIT_BODY);
    struct json_writer w = json_writer_to(&body);
    access_request(plan, &w);
    call->operation = slice_str(plan->operation);
    call->body = buf_view(&body);
    call->patient = true;
    // Queries and gets are reads, which are done when this returns.
    bool ready = api_call_start(call);
    ensure(ready);
    data_count_call(data, call);
    buf_release(&body);
    if (call->error_code != ERR_NONE)
        return error_copy(&data->error, &call->error);
    return api_page_decode(buf_view(&call->response), &data->arena, page, &data->error);
}

static void explain(struct data *data, const struct access_plan *plan)
{
    struct json_writer w = json_writer_to(&data->body);
    access_explain_json(plan, &(struct access_sizes){0}, &w);
    data_answer_json(data, 200);
}

static bool answer_pattern(struct data *data, const struct model_access *access)
{
    struct query_options options = {.cursor = NULL};
    const struct slice *values;
    struct api_page page;
    if (!read_options(data, access, &options) || !bind(data, access, &values))
        return false;
    struct slice scope = cursor_scope(data, access, values);
    if (scope.ptr == NULL)
        return error_budget(&data->error);
    if (options.cursor != NULL &&
        !data_cursor_read(data, scope, *options.cursor, &options.access.after)) {
        data_answer_problem(
            data, &(struct data_problem){.kind = DATA_CURSOR,
                                         .detail = "It is not one that this server gave out for "
                                                   "this pattern and these arguments"});
        return true;
    }
    const struct access_plan *plan =
        access_plan(access, values, &options.access, &data->arena, &data->error);
    if (plan == NULL)
        return false;
    if (options.explain) {
        explain(data, plan);
        return true;
    }
    if (!run_plan(data, plan, &page))
        return false;
    write_page(data, plan, &page, scope, options.keys);
    return true;
}

void data_pattern(struct data *data, const struct model_access *access)
{
    if (!data_method_in(data, "GET, HEAD") || !data_tasks_new(data, 1))
        return;
    if (!answer_pattern(data, access)) {
        struct data_problem problem = data_problem_error(&data->error);
        data_answer_problem(data, &problem);
    }
}
