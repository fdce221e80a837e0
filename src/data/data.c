// The life of a request of the data API: which route it takes, its tasks, its answer.
#include "data/data_internal.h"

#include "http/parser.h"
#include "model/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

enum { HEADERS_MAX = 64 << 10, BODY_KEPT = 256 << 10, DETAIL_MAX = 1024 };

#define TYPE_JSON    "application/json"
#define TYPE_PROBLEM "application/problem+json"

void data_service_init(struct data_service *service, struct api *api, struct s3_store *objects)
{
    uint8_t secret[API_SECRET];
    service->api = api;
    service->objects = objects;
    api_secret(api, secret);
    data_signing_init(service, secret);
    service->live = api_live(api, secret);
}

struct data *data_new(const struct data_service *service, struct http_exchange *exchange)
{
    struct data *data = calloc(1, sizeof(*data));
    if (data == NULL)
        return NULL;
    data->service = service;
    data->exchange = exchange;
    data->account.budget = api_budget(service->api);
    arena_init_counted(&data->arena, LIMIT_REQUEST_MEMORY, &data->account, BUDGET_CALLS);
    arena_init(&data->scratch, LIMIT_GUARD_WORK);
    buf_init(&data->headers, HEADERS_MAX);
    buf_init_counted(&data->body, LIMIT_RESPONSE, &data->account, BUDGET_ANSWERS);
    return data;
}

void data_reset(struct data *data)
{
    data_live_end(data);
    for (size_t i = 0; i < data->task_count; i++)
        api_call_release(&data->tasks[i].call);
    free(data->tasks);
    data->tasks = NULL;
    data->task_count = 0;
    model_release(data->model);
    data->model = NULL;
    data->table = NULL;
    data->param_count = 0;
    data->params = NULL;
    data->pattern = NULL;
    data->counts = NULL;
    data->notes = NULL;
    data->note_count = 0;
    data->decision = (struct call_decision){.asked = false};
    data->upload = NULL;
    arena_reset(&data->scratch);
    arena_reset(&data->arena);
    data->account.starved = data->account.overdraw = false;
    if (data->body.cap > BODY_KEPT)
        buf_release(&data->body);
}

void data_free(struct data *data)
{
    if (data == NULL)
        return;
    data_reset(data);
    arena_release(&data->arena);
    arena_release(&data->scratch);
    buf_release(&data->headers);
    buf_release(&data->body);
    free(data);
}

// ---- Answers ----------------------------------------------------------------------------------

void data_answer(struct data *data, struct data_answer *out)
{
    // An answer that is too large for memory or the limit is replaced by a problem, once.
    if (data->body.failed) {
        bool starved = data->account.starved;
        buf_release(&data->body);
        (void)data_answer_problem(
            data, (struct data_problem){.kind = starved ? DATA_THROTTLED : DATA_INTERNAL,
                                        .detail = starved ? "The server is short of memory"
                                                          : "The answer is too large"});
    }
    *out = (struct data_answer){
        .status = data->status,
        .type = data->type,
        .headers = buf_view(&data->headers),
        .body = buf_view(&data->body),
        .usage = &data->usage,
        .error = data->error_code,
        .table = data->table == NULL ? slice_of(NULL, 0) : data->table->name,
        .name = data->known,
        .decision = data->decision,
        .notes = data->notes,
        .note_count = data->note_count,
    };
}

enum data_step data_answer_json(struct data *data, int status)
{
    data->status = status;
    data->type = SLICE_LIT(TYPE_JSON);
    return DATA_READY;
}

enum data_step data_answer_problem(struct data *data, struct data_problem problem)
{
    buf_clear(&data->body);
    struct json_writer w = json_writer_to(&data->body);
    json_open_object(&w);
    data_problem_members(&w, &problem, "");
    json_close_object(&w);
    data->status = data_problem_status(&problem);
    data->type = SLICE_LIT(TYPE_PROBLEM);
    data->error_code = problem.code;
    if (problem.kind == DATA_THROTTLED || problem.kind == DATA_UNAVAILABLE)
        buf_text(&data->headers, "Retry-After: 1\r\n");
    return DATA_READY;
}

enum data_step data_answer_not_found(struct data *data, const char *format, ...)
{
    char detail[DETAIL_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(detail, sizeof(detail), format, args);
    va_end(args);
    return data_answer_problem(data,
                               (struct data_problem){.kind = DATA_NOT_FOUND, .detail = detail});
}

enum data_step data_answer_error(struct data *data)
{
    return data_answer_problem(data, data_problem_error(&data->error));
}

void data_refuse(struct data *data, int status, const char *reason)
{
    buf_clear(&data->headers);
    data->known = slice_of(NULL, 0);
    data->usage = (struct api_usage){.operation = API_NO_OPERATION};
    struct data_problem problem = {.kind = status == 403   ? DATA_FORBIDDEN
                                           : status == 413 ? DATA_TOO_LARGE
                                           : status == 415 ? DATA_MEDIA_TYPE
                                           : status == 429 ? DATA_THROTTLED
                                                           : DATA_MALFORMED,
                                   .detail = reason};
    (void)data_answer_problem(data, problem);
    data->status = status;
}

void data_header_warnings(struct data *data, struct slice warnings)
{
    http_header_text(&data->headers, "x-dolmen-warnings", warnings);
}

static void tell_refused(struct data *data, const struct api_call *call);

// The call's own do not live long enough.
static void keep_note(struct data *data, const struct call_note *note)
{
    struct arena *arena = &data->arena;
    struct call_note *kept =
        arena_alloc(arena, sizeof(*kept) + note->count * sizeof(kept->parts[0]));
    if (kept == NULL)
        return;
    *kept = (struct call_note){.next = data->notes, .table = arena_copy(arena, note->table)};
    for (size_t i = 0; i < note->count; i++)
        kept->parts[kept->count++] = (struct call_noted){arena_copy(arena, note->parts[i].name),
                                                         arena_copy(arena, note->parts[i].value)};
    for (size_t i = 0; i < kept->count; i++) {
        if (kept->parts[i].name.ptr == NULL || kept->parts[i].value.ptr == NULL)
            return; // there is no memory
    }
    data->notes = kept;
}

static void keep_books(struct data *data, const struct api_call *call)
{
    size_t kept = data->note_count;
    data->note_count += call->note_count;
    for (const struct call_note *note = call->notes; note != NULL && kept < LIMIT_NOTES;
         note = note->next, kept++)
        keep_note(data, note);
    if (!call->decision.asked || data->decision.refused)
        return;
    data->decision = call->decision;
    data->decision.action = arena_copy(&data->arena, call->decision.action);
    data->decision.resource = arena_copy(&data->arena, call->decision.resource);
    data->decision.sid = arena_copy(&data->arena, call->decision.sid);
}

// The counters are of the loop's thread, and this may be another one.
void data_count_call(struct data *data, const struct api_call *call)
{
    tell_refused(data, call);
    keep_books(data, call);
    data->usage = call->usage;
    data->usage.table = data->table_name; // the call's does not live long enough
    struct data_count *count = arena_alloc(&data->arena, sizeof(*count));
    if (count == NULL)
        return;
    *count = (struct data_count){
        .next = data->counts,
        .usage = data->usage,
        .status = call->status,
        .error = call->error_code,
        .latency_ns = uv_hrtime() - data->begun_ns,
    };
    data->counts = count;
}

const struct data_count *data_counts(const struct data *data)
{
    return data->counts;
}

void data_counts_clear(struct data *data)
{
    data->counts = NULL;
}

// ---- What requests must be like -----------------------------------------------------------------

bool data_method_in(struct data *data, const char *allowed)
{
    struct slice method = data->exchange->request.method;
    const char *at = allowed;
    while (*at != 0) {
        size_t len = strcspn(at, ",");
        if (slice_equal(method, slice_of(at, len)))
            return true;
        at += len;
        at += strspn(at, ", ");
    }
    char detail[DETAIL_MAX];
    (void)snprintf(detail, sizeof(detail), "%.*s is not among %s", SLICE_FMT(method), allowed);
    buf_printf(&data->headers, "Allow: %s\r\n", allowed);
    (void)data_answer_problem(data, (struct data_problem){.kind = DATA_METHOD, .detail = detail});
    return false;
}

// A body without a type is not taken for JSON: a page may send one without asking first.
bool data_body_is_json(struct data *data)
{
    const struct http_request *request = &data->exchange->request;
    const struct slice *sent = http_header(request, HTTP_CONTENT_TYPE);
    struct slice parameters = sent == NULL ? slice_of(NULL, 0) : *sent;
    struct slice type = slice_trim(slice_cut(&parameters, ';'));
    bool patch = slice_is(request->method, "PATCH");
    if (http_same(type, SLICE_LIT(TYPE_JSON)) ||
        (patch && http_same(type, SLICE_LIT("application/merge-patch+json"))))
        return true;
    buf_text(&data->headers, patch ? "Accept-Patch: application/merge-patch+json, " TYPE_JSON "\r\n"
                                   : "Accept-Post: " TYPE_JSON "\r\n");
    (void)data_answer_problem(
        data, (struct data_problem){.kind = DATA_MEDIA_TYPE,
                                    .detail = "The Content-Type must be " TYPE_JSON});
    return false;
}

// ---- May they -----------------------------------------------------------------------------------

// Refusals are vague: a table without a model, or none, is to look like one that is not allowed.
static void ask_as(const struct data *data, struct api_call *call)
{
    call->caller = data->caller;
    call->vague = true;
    if (data->region.len > 0)
        call->region = data->region;
}

// What would have been refused is told once.
static void tell_refused(struct data *data, const struct api_call *call)
{
    if (data->told || data->caller == NULL || !data->caller->warn || !call->decision.refused)
        return;
    data->told = true;
    data_header_warnings(data, call->warnings);
}

bool data_may(struct data *data, const char *action, struct slice table, struct slice resource)
{
    struct api_call call;
    if (data->caller == NULL)
        return true;
    api_call_init(&call, data->service->api);
    ask_as(data, &call);
    bool may = api_ask(&call, slice_str(action), table, resource);
    tell_refused(data, &call);
    keep_books(data, &call);
    if (!may)
        (void)error_copy(&data->error, &call.error);
    api_call_release(&call);
    return may;
}

// ---- Tasks --------------------------------------------------------------------------------------

bool data_tasks_new(struct data *data, size_t count)
{
    data->tasks = calloc(count, sizeof(*data->tasks));
    if (data->tasks == NULL) {
        (void)data_answer_problem(data, (struct data_problem){.kind = DATA_INTERNAL});
        return false;
    }
    data->task_count = count;
    for (size_t i = 0; i < count; i++) {
        data->tasks[i].data = data;
        api_call_init(&data->tasks[i].call, data->service->api);
        data->tasks[i].call.principal = data->principal;
        data->tasks[i].call.bound = data->bound;
        data->tasks[i].call.tenant = data->tenant;
        ask_as(data, &data->tasks[i].call);
        data->tasks[i].call.notes_keys = data->notes_keys;
    }
    return true;
}

static enum data_step finish_tasks(struct data *data)
{
    // What writes have set aside for their answer is used for it now, and kept until it is made.
    for (size_t i = 0; i < data->task_count; i++) {
        if (data->tasks[i].call.response.len == 0)
            buf_take_over(&data->body, &data->tasks[i].call.response);
    }
    data->complete(data);
    for (size_t i = 0; i < data->task_count; i++)
        buf_release(&data->tasks[i].call.response);
    buf_fit(&data->body);
    return DATA_READY;
}

// Starts tasks, or goes on with those that were waiting, until all are done or one has to wait.
// While this runs the count is one too high, so that nobody resumes the exchange.
static enum data_step run_tasks(struct data *data)
{
    for (;;) {
        for (; data->task_next < data->task_count; data->task_next++) {
            switch (data_task_run(&data->tasks[data->task_next])) {
            case DATA_READY:
                break;
            case DATA_WAITS:
                data->tasks_wait = true;
                break;
            case DATA_STREAM: // not of a task
            case DATA_LATER:
                data->later = run_tasks;
                return DATA_LATER;
            }
        }
        if (!data->tasks_wait)
            return data->shown > LIMIT_INLINE_WORK ? data_move(data, finish_tasks)
                                                   : finish_tasks(data);
        // Whoever takes the last one away goes on from here.
        data->tasks_wait = false;
        data->task_next = 0;
        if (--data->waiting > 0)
            return DATA_WAITS;
        data->waiting = 1;
    }
}

enum data_step data_tasks_run(struct data *data, void (*complete)(struct data *data))
{
    data->complete = complete;
    data->waiting = 1;
    data->task_next = 0;
    data->tasks_wait = false;
    return run_tasks(data);
}

// ---- Slices -------------------------------------------------------------------------------------

enum data_step data_move(struct data *data, enum data_step (*later)(struct data *data))
{
    if (data->pooled)
        return later(data);
    data->later = later;
    return DATA_LATER;
}

enum data_step data_resume(struct data *data)
{
    data->pooled = false;
    data->work = LIMIT_INLINE_WORK;
    if (data->pattern != NULL && data->pattern->waits)
        return data_pattern_resume(data);
    if (data->live != NULL)
        return data_live_woken(data);
    data->account.overdraw = true; // what has been done is answered
    data->waiting = 1;
    return run_tasks(data);
}

enum data_step data_work(struct data *data)
{
    data->pooled = true;
    data->work = LIMIT_SLICE_WORK;
    return data->later(data);
}

// ---- Routes -------------------------------------------------------------------------------------

// The next part of the path, decoded.
static struct slice segment_next(struct data *data, struct slice *path)
{
    while (path->len > 0 && *path->ptr == '/')
        *path = slice_of(path->ptr + 1, path->len - 1);
    return data_decode(&data->arena, slice_cut(path, '/'), false);
}

static bool guess_table(void *context, struct slice name)
{
    model_guess_candidate(context, name);
    return true;
}

// Whether the caller may know what tables and models there are.
static bool may_know(struct data *data)
{
    return data_may(data, "dolmen:DescribeModel", data->table_name, slice_of(NULL, 0));
}

static enum data_step answer_no_table(struct data *data)
{
    if (!may_know(data))
        return data_answer_error(data);
    struct model_guess guess = model_guess_for(data->table_name);
    api_tables(data->service->api, data->bound, guess_table, &guess);
    if (slice_equal(guess.best, data->table_name))
        return data_answer_not_found(data, "Table %.*s has no model: 'dolmen apply' gives it one",
                                     SLICE_FMT(data->table_name));
    return data_answer_not_found(data, "There is no table %.*s with a model (GET /v1 lists them)%s",
                                 SLICE_FMT(data->table_name),
                                 model_guess_say(&guess, &data->arena));
}

static enum data_step answer_no_name(struct data *data)
{
    if (!may_know(data))
        return data_answer_error(data);
    const struct model_table *table = data->table;
    struct model_guess guess = model_guess_for(data->name);
    struct buf names;
    buf_init(&names, DETAIL_MAX / 2);
    for (size_t i = 0; i < table->entity_count; i++) {
        buf_printf(&names, "%s %.*s", i == 0 ? "" : ",", SLICE_FMT(table->entities[i].name));
        model_guess_candidate(&guess, table->entities[i].name);
    }
    for (size_t i = 0; i < table->access_count; i++) {
        buf_printf(&names, ", %.*s", SLICE_FMT(table->accesses[i].name));
        model_guess_candidate(&guess, table->accesses[i].name);
    }
    (void)data_answer_not_found(
        data, "Table %.*s has no entity or pattern %.*s (there are%.*s%s)%s",
        SLICE_FMT(data->table_name), SLICE_FMT(data->name), SLICE_FMT(buf_view(&names)),
        names.failed ? ", and more" : "", model_guess_say(&guess, &data->arena));
    buf_release(&names);
    return DATA_READY;
}

static enum data_step route_name(struct data *data)
{
    const struct model_entity *entity = model_table_entity(data->table, data->name);
    const struct model_access *access = model_table_access(data->table, data->name);
    bool transaction = slice_is(data->name, "$transaction");
    data->known = data->name;
    if (entity != NULL)
        return data_entity(data, entity);
    if (transaction || slice_is(data->name, "$batch"))
        return data_list(data, transaction);
    if (access != NULL)
        return data_live_wanted(data) ? data_live(data, access) : data_pattern(data, access);
    data->known = slice_of(NULL, 0);
    return answer_no_name(data);
}

// What can be done with an entity beside reading and writing it.
static enum data_step route_more(struct data *data, bool upload)
{
    const struct model_entity *entity = model_table_entity(data->table, data->name);
    if (entity == NULL)
        return answer_no_name(data);
    data->known = data->name;
    return upload ? data_upload(data, entity, data->object) : data_undelete(data, entity);
}

static enum data_step route(struct data *data)
{
    struct slice path = data->exchange->request.path;
    path = slice_of(path.ptr + 3, path.len - 3);
    struct slice query = data->exchange->request.query;
    data->table_name = segment_next(data, &path);
    data->name = segment_next(data, &path);
    struct slice more = segment_next(data, &path);
    if (data->table_name.ptr == NULL || data->name.ptr == NULL || more.ptr == NULL)
        (void)error_budget(&data->error);
    if (data->error.code != ERR_NONE || !data_params_read(data, query))
        return data_answer_error(data);
    bool undelete = slice_is(more, "$undelete");
    bool upload = slice_is(more, "$upload");
    if (upload)
        data->object = segment_next(data, &path);
    if (more.len > 0 && !undelete && !(upload && data->object.len > 0))
        return data_answer_not_found(data, "Paths are /v1/{table}/{entity or pattern}");
    if (data->name.len == 0 && !data_method_in(data, "GET, HEAD"))
        return DATA_READY;
    bool openapi = data->name.len == 0 && slice_is(data->table_name, "openapi.json");
    if (data->table_name.len == 0 || openapi)
        return !data_may(data, "dolmen:ListModels", slice_of(NULL, 0), SLICE_LIT("*"))
                   ? data_answer_error(data)
                   : data_move(data, openapi ? data_openapi_page : data_tables_page);
    data->model = api_table_model(data->service->api, data->table_name, &data->table);
    // A table that is not divided among tenants is not there for any of them.
    if (data->model != NULL && data->bound && data->table->tenant.len == 0) {
        model_release(data->model);
        data->model = NULL;
        data->table = NULL;
    }
    if (data->model == NULL)
        return answer_no_table(data);
    if (undelete || upload)
        return route_more(data, upload);
    if (data->name.len > 0)
        return route_name(data);
    return may_know(data) ? data_table_page(data) : data_answer_error(data);
}

enum data_step data_start(struct data *data, const struct api_call *asker)
{
    data->principal = asker->principal;
    data->bound = asker->bound;
    data->tenant = asker->tenant;
    data->caller = asker->caller;
    data->region = asker->region;
    data->told = false;
    data->notes_keys = asker->notes_keys;
    buf_clear(&data->headers);
    buf_clear(&data->body);
    error_init(&data->error, &data->arena);
    data->usage = (struct api_usage){.operation = API_NO_OPERATION};
    data->error_code = ERR_NONE;
    data->known = slice_of(NULL, 0);
    data->status = 500;
    data->begun_ns = uv_hrtime();
    data->pooled = false;
    data->work = LIMIT_INLINE_WORK;
    data->shown = 0;
    return data->exchange->request.body.len > LIMIT_INLINE_BODY ? data_move(data, route)
                                                                : route(data);
}
