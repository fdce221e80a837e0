// Access patterns: GET /v1/{table}/{pattern}?name=value&limit=…&cursor=…
#include "data/data_internal.h"

enum {
    LIMIT_MAX = 10000,
    COUNT_PAGES = 32, // that one request counts, of 1 MB each; then there is a cursor
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
    static const char *const names[] = {"limit", "cursor", "keys", "explain", "objects"};
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

static bool begin_page(struct entity_read *read, struct arena *arena, struct error *error)
{
    struct data *data = read->context;
    struct data_pattern *pattern = data->pattern;
    struct expr_key *range;
    struct expr_condition *filter;
    buf_clear(&data->body);
    pattern->w = json_writer_to(&data->body);
    pattern->found = false;
    pattern->count = pattern->counted;
    if (data->live != NULL)
        data_live_page_begin(data);
    else
        json_form(&pattern->w, pattern->plan->access->count ? "{" : "{'items':[");
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
    const struct model_entity *entity;
    if (data->live != NULL)
        return data_live_item(data, item, steps) || error_copy(error, &data->error);
    // Of `one` it is one, however many a page looks at.
    if ((access->one && pattern->found) || !access_view_shows(&pattern->view, item, steps, &entity))
        return true;
    pattern->found = true;
    if (access->count) {
        pattern->count++;
        return true;
    }
    data->links = 0;
    bool written = access_view_write(&pattern->view, entity, item, &data->arena, &pattern->w);
    steps_add(steps, data->links * DATA_LINK_STEPS);
    if (written)
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
    if (pattern->plan->access->count)
        json_put_integer(w, "count", (int64_t)pattern->count);
    else
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

// Whether a page that has been counted is not the last one.
static bool counts_on(const struct data_pattern *pattern)
{
    return pattern->plan->access->count && pattern->read.last.len > 0 &&
           pattern->pages < COUNT_PAGES;
}

// The call is done; true: the answer is made, and *step says so.
static bool answer_call(struct data *data, enum data_step *step)
{
    struct data_pattern *pattern = data->pattern;
    const struct api_call *call = &data->tasks[0].call;
    data_count_call(data, call);
    pattern->pages++;
    if (call->error_code != ERR_NONE) {
        (void)error_copy(&data->error, &call->error);
        *step = data->live != NULL ? data_live_page(data) : data_answer_error(data);
        return true;
    }
    if (data->live != NULL) {
        *step = data_live_page(data);
        return true;
    }
    pattern->counted = pattern->count;
    if (!counts_on(pattern)) {
        *step = finish_page(data);
        return true;
    }
    pattern->after = arena_copy(&data->arena, pattern->read.last);
    if (pattern->after.ptr != NULL)
        return false;
    *step = data_answer_problem(data, data_problem_memory(data));
    return true;
}

static void on_pattern_done(struct api_call *call)
{
    const struct data *data = call->context;
    http_exchange_resume(data->exchange);
}

// What is to be read.
static void make_read(struct data *data)
{
    struct data_pattern *pattern = data->pattern;
    const struct access_plan *plan = pattern->plan;
    const struct model_access *access = plan->access;
    pattern->read = (struct entity_read){
        .table = access->table->name,
        .index = access->index == NULL ? slice_of(NULL, 0) : access->index->name,
        .key = plan->key,
        .reverse = access->descending,
        .consistent = access->consistent,
        .limit = data->live != NULL && plan->filter_count > 0 ? 0 : plan->limit,
        .after = pattern->after,
        .snapshot = data->live == NULL ? NULL : data_live_snapshot(data),
        .context = data,
        .begin = begin_page,
        .emit = emit_item,
    };
}

// Before events follow, of which not all are read.
bool data_pattern_ask(struct data *data)
{
    struct api_call *call = &data->tasks[0].call;
    if (data->caller == NULL)
        return true;
    make_read(data);
    bool may = api_entity_ask(call, &data->pattern->read);
    if (!may)
        (void)error_copy(&data->error, &call->error);
    buf_clear(&data->body);
    data_count_call(data, call);
    api_call_reset(call);
    return may;
}

// Begins to read a page; true: it has been read.
static bool start_page(struct data *data)
{
    struct data_pattern *pattern = data->pattern;
    const struct access_plan *plan = pattern->plan;
    struct api_call *call = &data->tasks[0].call;
    make_read(data);
    call->operation = slice_str(plan->operation);
    call->read = &pattern->read;
    call->done = on_pattern_done;
    call->context = data;
    pattern->waits = true;
    if (!api_call_start(call))
        return false;
    pattern->waits = false;
    return true;
}

// Reads the page; of a pattern that counts, page after page.
enum data_step data_pattern_read(struct data *data)
{
    enum data_step step = DATA_READY;
    while (start_page(data)) {
        if (answer_call(data, &step))
            return step;
        api_call_reset(&data->tasks[0].call);
    }
    return DATA_WAITS;
}

enum data_step data_pattern_resume(struct data *data)
{
    enum data_step step = DATA_READY;
    data->pattern->waits = false;
    api_call_finish(&data->tasks[0].call);
    if (answer_call(data, &step))
        return step;
    api_call_reset(&data->tasks[0].call);
    return data_pattern_read(data);
}

static void explain(struct data *data, const struct access_plan *plan)
{
    struct json_writer w = json_writer_to(&data->body);
    access_explain_json(plan, &(struct access_sizes){0}, &w);
    (void)data_answer_json(data, 200);
}

bool data_question(struct data *data, const struct model_access *access,
                   struct query_options *options, const struct slice **values)
{
    return read_options(data, access, options) && bind(data, access, values);
}

// Understands the question. False: the answer is there, or the error is set.
static bool open_pattern(struct data *data, const struct model_access *access,
                         struct data_pattern *pattern)
{
    struct query_options options = {.cursor = NULL};
    const struct slice *values;
    if (!data_question(data, access, &options, &values))
        return false;
    if (!access_view_init(&pattern->view, access, options.keys, &data->arena))
        return error_budget(&data->error);
    pattern->view.more = data_objects_more(data, option(data, access, "objects", "$objects"));
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
    pattern->after = options.access.after;
    if (pattern->plan != NULL && options.explain)
        explain(data, pattern->plan);
    return pattern->plan != NULL && !options.explain;
}

enum data_step data_pattern(struct data *data, const struct model_access *access)
{
    if (!data_method_in(data, "GET, HEAD") || !data_tasks_new(data, 1))
        return DATA_READY;
    struct data_pattern *pattern = arena_zalloc(&data->arena, 1, sizeof(*pattern));
    bool open = pattern != NULL ? open_pattern(data, access, pattern) : error_budget(&data->error);
    if (!open)
        return data->error.code != ERR_NONE ? data_answer_error(data) : DATA_READY;
    data->pattern = pattern;
    return data_pattern_read(data);
}
