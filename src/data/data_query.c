// Access patterns: GET /v1/{table}/{pattern}?name=value&limit=…&cursor=…
#include "data/data_internal.h"

#include "guard/check.h"
#include "guard/entity.h"
#include "guard/projected.h"

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
    return arena_keep(&data->arena, &text);
}

// ---- The answer -------------------------------------------------------------------------------

// A pattern whose page is being read, and written as it comes.
struct data_pattern {
    const struct access_plan *plan;
    struct slice scope;
    bool keys;
    bool waits; // for the call
    bool found; // an item has been shown
    struct entity_read read;
    struct json_writer w;
    struct model_plain_layout **layouts; // by the entity's place in the table; the last: of none
};

// Entities that are recognised by their keys take some looking.
static const struct model_entity *entity_of(const struct model_access *access, struct slice item,
                                            struct steps *steps)
{
    if (access->entity_count == 1)
        return access->entities[0];
    struct model_check check;
    check_init(&check);
    const struct model_entity *entity = model_recognise_within(&check, access->table, item).entity;
    steps_add(steps, check.steps.taken);
    check_release(&check);
    return entity;
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

static struct model_plain_layout *layout_of(struct data *data, const struct model_entity *entity)
{
    struct data_pattern *pattern = data->pattern;
    const struct model_access *access = pattern->plan->access;
    const struct model_table *table = access->table;
    size_t at = entity == NULL ? table->entity_count : (size_t)(entity - table->entities);
    if (pattern->layouts[at] != NULL)
        return pattern->layouts[at];
    struct model_plain_view *view = arena_alloc(&data->arena, sizeof(*view));
    if (view == NULL)
        return NULL;
    *view = (struct model_plain_view){
        .table = table, .entity = entity, .keys = pattern->keys, .name = access->entity_count > 1};
    return pattern->layouts[at] = model_plain_layout(view, &data->arena);
}

static bool begin_page(struct entity_read *read, struct arena *arena, struct error *error)
{
    struct data *data = read->context;
    struct data_pattern *pattern = data->pattern;
    struct expr_key *range;
    struct expr_condition *filter;
    buf_clear(&data->body);
    pattern->w = json_writer_to(&data->body);
    pattern->found = false;
    json_form(&pattern->w, "{'items':[");
    if (pattern->plan->access->get)
        return true;
    bool fine = access_compile(pattern->plan, arena, &range, &filter, error);
    if (fine) {
        read->range = range;
        read->filter = filter;
    }
    return fine;
}

static bool emit_item(struct entity_read *read, struct slice item, struct steps *steps,
                      struct error *error)
{
    struct data *data = read->context;
    struct data_pattern *pattern = data->pattern;
    const struct model_access *access = pattern->plan->access;
    // Of `one` it is one, however many a page looks at.
    if (!wanted(access, item) || (access->one && pattern->found))
        return true;
    pattern->found = true;
    const struct model_entity *entity = entity_of(access, item, steps);
    struct model_plain_layout *layout = layout_of(data, entity);
    if (entity != NULL && model_access_partial(access))
        item = model_projected_item(entity, item, &data->arena);
    if (layout != NULL && item.len > 0)
        model_plain_item(&pattern->w, layout, item);
    if (layout != NULL && item.len > 0 && !data->body.failed)
        return true;
    // The account that ran out is this request's, not the call's.
    (void)error_budget(&data->error);
    return error_copy(error, &data->error);
}

static enum data_step finish_page(struct data *data)
{
    struct data_pattern *pattern = data->pattern;
    const struct entity_read *read = &pattern->read;
    struct json_writer *w = &pattern->w;
    json_close_array(w);
    json_name(w, "cursor");
    if (read->last.len == 0 || (pattern->plan->access->one && read->count > 0)) {
        json_null(w);
    } else {
        buf_byte(w->out, '"');
        data_cursor_write(data, pattern->scope, read->last, w->out);
        buf_byte(w->out, '"');
    }
    w->comma = true;
    json_close_object(w);
    return data_answer_json(data, 200);
}

// The call is done.
static enum data_step answer_call(struct data *data)
{
    const struct api_call *call = &data->tasks[0].call;
    data_count_call(data, call);
    if (call->error_code == ERR_NONE)
        return finish_page(data);
    (void)error_copy(&data->error, &call->error);
    return data_answer_error(data);
}

static void on_pattern_done(struct api_call *call)
{
    const struct data *data = call->context;
    http_exchange_resume(data->exchange);
}

enum data_step data_pattern_resume(struct data *data)
{
    data->pattern->waits = false;
    api_call_finish(&data->tasks[0].call);
    return answer_call(data);
}

void data_cancel(struct data *data)
{
    if (data->pattern != NULL && data->pattern->waits)
        api_call_cancel(&data->tasks[0].call);
}

static enum data_step run_plan(struct data *data)
{
    struct data_pattern *pattern = data->pattern;
    const struct access_plan *plan = pattern->plan;
    const struct model_access *access = plan->access;
    struct api_call *call = &data->tasks[0].call;
    pattern->read = (struct entity_read){
        .table = access->table->name,
        .index = access->index == NULL ? slice_of(NULL, 0) : access->index->name,
        .key = plan->key,
        .reverse = access->descending,
        .consistent = access->consistent,
        .limit = plan->limit,
        .after = plan->after,
        .context = data,
        .begin = begin_page,
        .emit = emit_item,
    };
    call->operation = slice_str(plan->operation);
    call->read = &pattern->read;
    call->done = on_pattern_done;
    call->context = data;
    pattern->waits = true;
    if (!api_call_start(call))
        return DATA_WAITS;
    pattern->waits = false;
    return answer_call(data);
}

static void explain(struct data *data, const struct access_plan *plan)
{
    struct json_writer w = json_writer_to(&data->body);
    access_explain_json(plan, &(struct access_sizes){0}, &w);
    (void)data_answer_json(data, 200);
}

// Understands the question. False: the answer is there, or the error is set.
static bool open_pattern(struct data *data, const struct model_access *access,
                         struct data_pattern *pattern)
{
    struct query_options options = {.cursor = NULL};
    const struct slice *values;
    if (!read_options(data, access, &options) || !bind(data, access, &values))
        return false;
    pattern->keys = options.keys;
    pattern->scope = cursor_scope(data, access, values);
    if (pattern->scope.ptr == NULL)
        return error_budget(&data->error);
    if (options.cursor != NULL &&
        !data_cursor_read(data, pattern->scope, *options.cursor, &options.access.after)) {
        (void)data_answer_problem(
            data, (struct data_problem){.kind = DATA_CURSOR,
                                        .detail = "It is not one that this server gave out for "
                                                  "this pattern and these arguments"});
        return false;
    }
    pattern->plan = access_plan(access, values, &options.access, &data->arena, &data->error);
    if (pattern->plan != NULL && options.explain)
        explain(data, pattern->plan);
    return pattern->plan != NULL && !options.explain;
}

enum data_step data_pattern(struct data *data, const struct model_access *access)
{
    if (!data_method_in(data, "GET, HEAD") || !data_tasks_new(data, 1))
        return DATA_READY;
    struct data_pattern *pattern = arena_zalloc(&data->arena, 1, sizeof(*pattern));
    if (pattern != NULL)
        pattern->layouts =
            arena_zalloc(&data->arena, access->table->entity_count + 1, sizeof(*pattern->layouts));
    bool open = pattern != NULL && pattern->layouts != NULL ? open_pattern(data, access, pattern)
                                                            : error_budget(&data->error);
    if (!open)
        return data->error.code != ERR_NONE ? data_answer_error(data) : DATA_READY;
    data->pattern = pattern;
    return run_plan(data);
}
