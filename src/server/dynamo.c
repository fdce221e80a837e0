// The life of a request: from an HTTP exchange to an api_call and back.
//
// A read is answered on the loop's thread at once. A write waits for its commit: `done`
// comes on the writer's thread and does no more than http_exchange_resume; the answer is
// then made on the loop's thread again. The api_call, the answer's bytes and the
// extra headers live in the session, untouched until the answer has been sent.
//
// The order of the checks is the service's: method, path and content type; the JSON text; the
// operation; the authentication; the operation itself. The usual request is not parsed twice
// for that: only when target or authentication fail is it asked whether an earlier check fails too.
#include "server/dynamo.h"

#include "base/limits.h"
#include "server/auth.h"
#include "server/status.h"
#include "json/reader.h"

#include <stddef.h>
#include <stdlib.h>
#include <uv.h>

#define CHECKSUM_HEADER   "x-amz-crc32: "
#define JSON_1_0          "application/x-amz-json-1.0"
#define JSON_1_1          "application/x-amz-json-1.1"
#define JSON_PLAIN        "application/json"
#define ID_HEADER         "x-amzn-RequestId: "
#define CORS_EXPOSED      "Access-Control-Expose-Headers: x-amzn-RequestId,x-amz-crc32"
#define DATA_CORS_EXPOSED "Access-Control-Expose-Headers: ETag,Location,x-dolmen-warnings\r\n"

enum {
    ID_LENGTH = 52,
    ID_RANDOM = 26,
    HEADERS_MAX = 64 << 10,    // a preflight's answer repeats the request's list of headers
    RESPONSE_KEPT = 256 << 10, // a larger answer's memory is given back
    TEXT_MAX = 64 << 20,       // the metrics of many tables
};

#define THROTTLED                                                                                  \
    "The level of configured provisioned throughput for the table was exceeded. Consider "         \
    "increasing your provisioning level with the UpdateTable API."

struct session {
    struct api_call call;
    struct http_exchange *exchange;
    struct dynamo *dynamo;
    struct http_peer peer; // only known for the access log
    struct gate_memory gate;
    uint64_t random; // state of the generator of request ids
    bool called;     // the call holds a request
    bool counted;    // what is being answered counts as a request for an operation
    bool delayed;    // the operation waits for the ticker
    struct fault fault;
    struct ticker_delay delay;
    uint64_t begun_ns;      // when the request was complete
    struct slice operation; // as the client named it; "GET /v1/shop/User" of the data API
    int status;             // of the answer
    size_t bytes_out;
    struct slice type; // the request's content type, if it is one of ours
    char region[AUTH_REGION_MAX + 1];
    struct buf headers;
    struct budget_account account;
    struct buf text;         // of an answer that is not an operation's
    struct data *data;       // NULL before the first request of the data API
    struct data_answer made; // by it
    bool data_called;        // it has the request

    // Long work beside the calls of the api: `step` runs in the pool, in slices; then `next`, on
    // the loop's thread. While the exchange waits for somebody else, `next` is NULL.
    struct pool_task task;
    enum data_step (*step)(struct session *session);
    void (*next)(struct session *session);
    void (*then)(struct session *session);
    struct error refusal; // in the call's arena
    bool target_ours;
    bool well_formed; // the body is JSON
    bool paged;       // there is such a page:
    struct status_page page;
};

// ---- Answers -------------------------------------------------------------------------------

// splitmix64
static uint64_t next_random(void *context)
{
    struct session *session = context;
    session->random += 0x9e3779b97f4a7c15u;
    uint64_t bits = (session->random ^ (session->random >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

// Like the service's: 26 characters of base32hex and an ending that is always the same. They
// are identifiers, not secrets, so a small generator seeded per connection will do.
static void add_request_id(struct session *session, struct buf *headers)
{
    static const char alphabet[] = "0123456789ABCDEFGHIJKLMNOPQRSTUV";
    static const char ending[] = "VV4KQNSO5AEMVJF66Q9ASUAAJG";
    uint8_t *to = buf_reserve(headers, ID_LENGTH);
    if (to == NULL)
        return;
    for (unsigned at = 0; at < ID_RANDOM;) {
        uint64_t bits = next_random(session);
        for (unsigned end = at + 12 < ID_RANDOM ? at + 12 : ID_RANDOM; at < end; bits >>= 5)
            to[at++] = (uint8_t)alphabet[bits & 31];
    }
    memcpy(to + ID_RANDOM, ending, ID_LENGTH - ID_RANDOM);
    headers->len += ID_LENGTH;
}

// The headers that every answer has.
static void headers_begin(struct session *session)
{
    struct buf *headers = &session->headers;
    buf_clear(headers);
    buf_add(headers, ID_HEADER, sizeof(ID_HEADER) - 1);
    add_request_id(session, headers);
    buf_add(headers, "\r\n", 2);
    struct slice origin = gate_cors(&session->dynamo->gate, &session->exchange->request);
    if (origin.len > 0)
        buf_printf(headers,
                   "Access-Control-Allow-Origin: %.*s\r\nVary: Origin\r\n" CORS_EXPOSED "\r\n",
                   SLICE_FMT(origin));
}

static void respond(struct session *session, int status, struct slice type, struct slice body,
                    struct slice checksum)
{
    http_respond(session->exchange, &(struct http_response){
                                        .status = status,
                                        .content_type = type,
                                        .headers = buf_view(&session->headers),
                                        .body = body,
                                        .checksum = checksum,
                                    });
}

static void answer(struct session *session, int status, struct slice type, struct slice body)
{
    respond(session, status, type, body, SLICE_LIT(CHECKSUM_HEADER));
}

// The content type of a request, if it is one of ours; else empty. Answers have the same.
static struct slice json_type(const struct http_request *request)
{
    static const char *const ours[] = {JSON_1_0, JSON_1_1, JSON_PLAIN};
    const struct slice *sent = http_header(request, HTTP_CONTENT_TYPE);
    struct slice parameters = sent == NULL ? slice_of(NULL, 0) : *sent;
    struct slice type = slice_trim(slice_cut(&parameters, ';'));
    for (size_t i = 0; i < COUNT_OF(ours); i++) {
        if (http_same(type, slice_str(ours[i])))
            return slice_str(ours[i]);
    }
    return (struct slice){NULL, 0};
}

static void answer_json(struct session *session, int status, struct slice body)
{
    // An empty body needs no content type.
    struct slice type = session->type.len > 0 ? session->type : SLICE_LIT(JSON_PLAIN);
    session->counted = true;
    session->status = status;
    session->bytes_out = body.len;
    headers_begin(session);
    http_header_text(&session->headers, "x-dolmen-warnings", session->call.warnings);
    answer(session, status, type, body);
}

static void answer_call(struct session *session)
{
    answer_json(session, session->call.status, buf_view(&session->call.response));
}

static void answer_unknown(struct session *session)
{
    answer(session, 404, (struct slice){NULL, 0}, SLICE_LIT("<UnknownOperationException/>\n"));
}

// An error that comes before any operation; some have no message.
static void answer_error(struct session *session, enum error_code code, const char *message)
{
    session->called = true;
    if (message != NULL) {
        api_call_fail(&session->call, code, message);
        answer_call(session);
        return;
    }
    session->call.error_code = code;
    buf_clear(&session->text);
    buf_printf(&session->text, "{\"__type\":\"%s\"}", error_row(code)->type);
    answer_json(session, error_row(code)->status, buf_view(&session->text));
}

// ---- Operations ----------------------------------------------------------------------------

// "DynamoDB_20120810.PutItem": the operation; false if the service is not ours.
static bool target_split(const struct http_request *request, struct slice *operation)
{
    const struct slice *target = http_header(request, HTTP_AMZ_TARGET);
    if (target == NULL)
        return false;
    struct slice rest = *target;
    struct slice service = slice_cut(&rest, '.');
    bool of_streams = slice_is(service, "DynamoDBStreams_20120810");
    if (service.len == target->len || (!of_streams && !slice_is(service, "DynamoDB_20120810")))
        return false;
    *operation = rest;
    return api_operation_of_streams(rest) == of_streams;
}

static bool operation_known(struct slice name)
{
    for (const char *const *known = api_operations(); *known != NULL; known++) {
        if (slice_is(name, *known))
            return true;
    }
    return false;
}

static bool json_well_formed(struct slice body)
{
    struct arena arena;
    arena_init(&arena, LIMIT_REQUEST_MEMORY);
    struct json_reader reader;
    json_reader_init(&reader, body, &arena);
    bool valid = json_skip(&reader) && json_at_end(&reader);
    arena_release(&arena);
    return valid;
}

// ---- Long work -----------------------------------------------------------------------------

static bool run_step(struct pool_task *task)
{
    struct session *session =
        (struct session *)(void *)((uint8_t *)task - offsetof(struct session, task));
    switch (session->step(session)) {
    case DATA_LATER:
        return false;
    case DATA_WAITS: // somebody else may have the session by now
        return true;
    case DATA_READY:
        break;
    }
    session->next = session->then;
    http_exchange_resume(session->exchange);
    return true;
}

// Has the pool do `step`, and then goes on with `then`.
static void leave_to_pool(struct session *session, enum data_step (*step)(struct session *session),
                          void (*then)(struct session *session))
{
    session->step = step;
    session->then = then;
    session->task.run = run_step;
    if (!pool_submit(api_pool(session->dynamo->api), &session->task))
        answer_error(session, ERR_THROTTLING, "Too many long requests are waiting");
}

// ---- Refusals ------------------------------------------------------------------------------

static enum data_step read_refused(struct session *session)
{
    struct slice body = session->exchange->request.body;
    session->well_formed = body.len == 0 || json_well_formed(body);
    return DATA_READY;
}

static void answer_refusal(struct session *session)
{
    if (!session->well_formed)
        answer_error(session, ERR_SERIALIZATION, NULL);
    else if (!session->target_ours || !operation_known(session->operation))
        answer_error(session, ERR_UNKNOWN_OPERATION, NULL);
    else
        answer_error(session, session->refusal.code, session->refusal.message);
}

// The request failed on its target or its authentication: says so, unless the service would have
// found another fault before.
static void refuse(struct session *session)
{
    if (session->exchange->request.body.len > LIMIT_INLINE_BODY) {
        leave_to_pool(session, read_refused, answer_refusal);
        return;
    }
    (void)read_refused(session);
    answer_refusal(session);
}

// ---- Starting ------------------------------------------------------------------------------

static void on_done(struct api_call *call)
{
    const struct session *session = call->context;
    http_exchange_resume(session->exchange);
}

// Answers with a fault that was asked for instead of doing the operation.
static void answer_fault(struct session *session)
{
    struct api_call *call = &session->call;
    call->usage.operation = api_operation_number(call->operation);
    if (session->fault.failure == FAULT_CONFLICT)
        api_call_conflict(call);
    else if (session->fault.failure == FAULT_THROTTLE)
        api_call_fail(call, ERR_THROUGHPUT_EXCEEDED, THROTTLED);
    else
        api_call_fail(call, ERR_INTERNAL, "Internal server error");
    answer_call(session);
}

static void start(struct session *session)
{
    if (session->fault.failure != FAULT_NONE)
        answer_fault(session);
    else if (api_call_start(&session->call))
        answer_call(session);
}

// Whether the operation has to wait; it goes on in on_resume.
static bool delay(struct session *session)
{
    const struct dynamo *dynamo = session->dynamo;
    if (dynamo->faults == NULL)
        return false;
    session->fault = faults_draw(dynamo->faults, session->operation, next_random, session);
    session->delayed = session->fault.latency_ms > 0;
    if (session->delayed)
        ticker_resume_later(dynamo->ticker, &session->delay, session->exchange,
                            session->fault.latency_ms);
    return session->delayed;
}

static void post(struct session *session)
{
    const struct http_request *request = &session->exchange->request;
    struct api_call *call = &session->call;
    session->called = true;
    session->operation = (struct slice){NULL, 0};
    session->target_ours = target_split(request, &session->operation);
    error_init(&session->refusal, &call->arena);
    if (!session->target_ours || !auth_check(request, session->region, &session->refusal)) {
        refuse(session);
        return;
    }
    call->operation = session->operation;
    call->region = slice_str(session->region);
    call->body = request->body;
    call->done = on_done;
    call->context = session;
    if (!delay(session))
        start(session);
}

// ---- What is not an operation ----------------------------------------------------------------

static void get(struct session *session)
{
    struct slice host = session->exchange->request.host;
    buf_clear(&session->text);
    buf_text(&session->text, "healthy: ");
    buf_slice(&session->text, host.len > 0 ? host : SLICE_LIT("localhost"));
    buf_byte(&session->text, ' '); // The service's answer has it, too.
    answer(session, 200, SLICE_LIT("text/plain"), buf_view(&session->text));
}

static void add_echo(struct session *session, struct slice asked, const char *answered)
{
    const struct slice *value = http_header_find(&session->exchange->request, asked);
    if (value == NULL)
        return;
    buf_text(&session->headers, answered);
    buf_slice(&session->headers, *value);
    buf_text(&session->headers, "\r\n");
}

static void options(struct session *session)
{
    add_echo(session, SLICE_LIT("access-control-request-headers"),
             "Access-Control-Allow-Headers: ");
    add_echo(session, SLICE_LIT("access-control-request-method"), "Access-Control-Allow-Methods: ");
    buf_text(&session->headers, "Access-Control-Max-Age: 172800\r\n");
    struct slice nothing = {NULL, 0};
    answer(session, 200, nothing, nothing);
}

static enum data_step make_page(struct session *session)
{
    session->paged =
        status_answer(session->dynamo, &session->exchange->request, &session->text, &session->page);
    return DATA_READY;
}

static void answer_page(struct session *session)
{
    if (session->paged)
        answer(session, session->page.status, session->page.type, buf_view(&session->text));
    else
        answer_unknown(session);
}

static void other(struct session *session)
{
    buf_clear(&session->text);
    if (status_is_long(&session->exchange->request)) {
        leave_to_pool(session, make_page, answer_page);
        return;
    }
    (void)make_page(session);
    answer_page(session);
}

// ---- The data API ----------------------------------------------------------------------------

static void count(struct session *session, const struct api_usage *usage, int status,
                  enum error_code error, uint64_t latency_ns)
{
    metrics_count(session->dynamo->metrics, http_exchange_loop(session->exchange),
                  &(struct metrics_request){usage, status, error, latency_ns});
}

static void count_data(struct session *session)
{
    for (const struct data_count *one = data_counts(session->data); one != NULL; one = one->next)
        count(session, &one->usage, one->status, one->error, one->latency_ns);
}

static void answer_data(struct session *session)
{
    struct data_answer *made = &session->made;
    count_data(session);
    data_answer(session->data, made);
    session->status = made->status;
    session->bytes_out = made->body.len;
    session->call.usage = *made->usage;
    session->call.error_code = made->error;
    session->counted = true;
    headers_begin(session);
    if (gate_cors(&session->dynamo->gate, &session->exchange->request).len > 0)
        buf_text(&session->headers, DATA_CORS_EXPOSED);
    buf_slice(&session->headers, made->headers);
    respond(session, made->status, made->type, made->body, slice_of(NULL, 0));
}

// Whether there is one; else the request has been answered.
static bool open_data(struct session *session)
{
    if (session->data == NULL)
        session->data = data_new(&session->dynamo->data, session->exchange);
    session->data_called = session->data != NULL;
    if (!session->data_called) {
        headers_begin(session);
        answer(session, 500, SLICE_LIT("text/plain"), SLICE_LIT("out of memory"));
    }
    return session->data_called;
}

static enum data_step step_data(struct session *session)
{
    return data_work(session->data);
}

static void follow_data(struct session *session, enum data_step step)
{
    if (step == DATA_READY)
        answer_data(session);
    else if (step == DATA_LATER)
        leave_to_pool(session, step_data, answer_data);
}

static void start_data(struct session *session)
{
    if (open_data(session))
        follow_data(session, data_start(session->data));
}

// ---- Accounts ------------------------------------------------------------------------------

static void log_request(struct session *session, uint64_t latency_ns)
{
    const struct dynamo *dynamo = session->dynamo;
    enum error_code code = session->call.error_code;
    struct slice headers = buf_view(&session->headers);
    size_t at = sizeof(ID_HEADER) - 1;
    bool whole = headers.len >= at + ID_LENGTH;
    access_log_add(
        dynamo->access_log, http_exchange_loop(session->exchange),
        &(struct access_entry){
            .now_ms = env_now(&dynamo->env),
            .peer = &session->peer,
            .request_id = whole ? slice_of(headers.ptr + at, ID_LENGTH) : (struct slice){NULL, 0},
            .operation = session->operation,
            .usage = &session->call.usage,
            .status = session->status,
            .error = code == ERR_NONE ? NULL : error_row(code)->name,
            .latency_ns = latency_ns,
            .bytes_in = session->exchange->request.body.len,
            .bytes_out = session->bytes_out,
        });
}

// A request of the data API: the method and what it was sent to, as far as that exists.
static void account_data(struct session *session, uint64_t latency_ns)
{
    static const struct api_usage nothing = {.operation = API_NO_OPERATION};
    struct dynamo *dynamo = session->dynamo;
    const struct data_answer *made = &session->made;
    const struct metrics_route route = {metrics_method(session->exchange->request.method),
                                        made->table, made->name};
    metrics_route(dynamo->metrics, http_exchange_loop(session->exchange), &route,
                  &(struct metrics_request){&nothing, session->status, ERR_NONE, latency_ns});
    if (dynamo->access_log == NULL)
        return;
    buf_clear(&session->text);
    buf_printf(&session->text, "%s /v1/%.*s%s%.*s", route.method, SLICE_FMT(route.table),
               route.name.len > 0 ? "/" : "", SLICE_FMT(route.name));
    session->operation = buf_view(&session->text);
    session->call.usage.table = made->table;
}

// The answer is with the kernel, and what it was made of is still there.
static void account(struct session *session)
{
    const struct dynamo *dynamo = session->dynamo;
    uint64_t latency_ns = uv_hrtime() - session->begun_ns;
    // The data API has counted its operations itself.
    if (session->data_called)
        account_data(session, latency_ns);
    else
        count(session, &session->call.usage, session->status, session->call.error_code, latency_ns);
    if (dynamo->access_log != NULL)
        log_request(session, latency_ns);
}

// ---- The gate --------------------------------------------------------------------------------

// What the layer below or the gate refuses, in the form that the client of the path reads.
static void answer_refused(struct session *session, int status, enum error_code code,
                           const char *reason)
{
    const struct http_request *request = &session->exchange->request;
    if (http_header(request, HTTP_AMZ_TARGET) != NULL) {
        // An SDK reads JSON, whatever went wrong.
        session->called = true;
        session->type = json_type(request);
        api_call_fail(&session->call, code, reason);
        session->call.status = status;
        answer_call(session);
        return;
    }
    if (data_owns(request->path)) {
        if (!open_data(session))
            return;
        data_refuse(session->data, status, reason);
        answer_data(session);
        return;
    }
    headers_begin(session);
    answer(session, status, SLICE_LIT("text/plain"), slice_str(reason));
}

// Whether the request may come in; else it has been answered.
static bool enter(struct session *session)
{
    switch (gate_judge(&session->dynamo->gate, &session->gate, &session->exchange->request)) {
    case GATE_OPEN:
        return true;
    case GATE_WRONG_HOST:
        answer_refused(session, 403, ERR_ACCESS_DENIED,
                       "The Host of this request is not a name of this server. If it should be, "
                       "start the server with --allowed-host NAME.");
        return false;
    case GATE_FOREIGN_PAGE:
        answer_refused(session, 403, ERR_ACCESS_DENIED,
                       "Pages of this origin may not call this server. If they should, start the "
                       "server with --cors ORIGIN; /admin is never open to them.");
        return false;
    }
    return false;
}

// ---- The handler -----------------------------------------------------------------------------

static void on_handle(struct http_exchange *exchange, void *context)
{
    (void)context;
    struct session *session = exchange->user;
    const struct http_request *request = &exchange->request;
    bool root = slice_is(request->path, "/");
    session->begun_ns = uv_hrtime();
    if (!enter(session))
        return;
    session->type = json_type(request);
    bool typed = request->body.len == 0 || session->type.len > 0;
    if (root && typed && slice_is(request->method, "POST")) {
        post(session);
        return;
    }
    bool cross = http_header(request, HTTP_ORIGIN) != NULL;
    bool preflight = cross && slice_is(request->method, "OPTIONS");
    if (data_owns(request->path) && !preflight) {
        start_data(session);
        return;
    }
    headers_begin(session);
    if (preflight)
        options(session);
    else if (root && (slice_is(request->method, "GET") || slice_is(request->method, "HEAD")))
        get(session);
    else
        other(session);
}

static void on_resume(struct http_exchange *exchange, void *context)
{
    (void)context;
    struct session *session = exchange->user;
    void (*next)(struct session *) = session->next;
    session->next = NULL;
    if (next != NULL) {
        next(session);
        return;
    }
    if (session->data_called) {
        follow_data(session, data_resume(session->data));
        return;
    }
    if (session->delayed) {
        session->delayed = false;
        start(session);
        return;
    }
    api_call_finish(&session->call);
    answer_call(session);
}

static void on_reject(struct http_exchange *exchange, const struct http_problem *problem,
                      void *context)
{
    (void)context;
    struct session *session = exchange->user;
    session->begun_ns = uv_hrtime();
    enum error_code code = problem->status == 503 ? ERR_UNAVAILABLE : ERR_SERIALIZATION;
    answer_refused(session, problem->status, code, problem->reason);
}

// Nobody waits for the answer any more.
static void on_gone(struct http_exchange *exchange, void *context)
{
    (void)context;
    struct session *session = exchange->user;
    if (session->called)
        api_call_cancel(&session->call);
    if (session->data_called)
        data_cancel(session->data);
}

static void on_sent(struct http_exchange *exchange, void *context)
{
    (void)context;
    struct session *session = exchange->user;
    if (session->counted)
        account(session);
    session->counted = false;
    session->operation = (struct slice){NULL, 0};
    if (session->data_called) {
        data_reset(session->data);
        session->data_called = false;
        session->call.usage = (struct api_usage){.operation = API_NO_OPERATION};
        session->call.error_code = ERR_NONE;
    }
    if (session->text.cap > RESPONSE_KEPT)
        buf_release(&session->text);
    if (!session->called)
        return;
    session->called = false;
    api_call_reset(&session->call);
    if (session->call.response.cap > RESPONSE_KEPT)
        buf_release(&session->call.response);
}

static void on_rest(struct http_exchange *exchange, void *context)
{
    (void)context;
    struct session *session = exchange->user;
    api_call_release(&session->call);
    data_free(session->data);
    session->data = NULL;
    buf_release(&session->headers);
    buf_release(&session->text);
}

static bool on_open(struct http_exchange *exchange, void *context)
{
    struct dynamo *dynamo = context;
    struct session *session = calloc(1, sizeof(*session));
    if (session == NULL)
        return false;
    session->exchange = exchange;
    session->dynamo = dynamo;
    dynamo->env.random(dynamo->env.context, (uint8_t *)&session->random, sizeof(session->random));
    buf_init(&session->headers, HEADERS_MAX);
    // What tells how the server is doing must not fail when it does badly.
    session->account = (struct budget_account){api_budget(dynamo->api), .overdraw = true};
    buf_init_counted(&session->text, TEXT_MAX, &session->account, BUDGET_ANSWERS);
    api_call_init(&session->call, dynamo->api);
    exchange->user = session;
    if (dynamo->access_log != NULL)
        (void)http_exchange_peer(exchange, &session->peer);
    metrics_connection(dynamo->metrics, http_exchange_loop(exchange), true);
    return true;
}

static void on_close(struct http_exchange *exchange, void *context)
{
    const struct dynamo *dynamo = context;
    metrics_connection(dynamo->metrics, http_exchange_loop(exchange), false);
    on_rest(exchange, context);
    free(exchange->user);
}

struct http_handler dynamo_handler(struct dynamo *dynamo)
{
    return (struct http_handler){
        .context = dynamo,
        .open = on_open,
        .handle = on_handle,
        .resume = on_resume,
        .sent = on_sent,
        .rest = on_rest,
        .close = on_close,
        .reject = on_reject,
        .gone = on_gone,
    };
}
