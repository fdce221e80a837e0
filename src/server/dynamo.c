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
#include "base/limits.h"
#include "server/dynamo_internal.h"
#include "json/reader.h"

#include <stddef.h>
#include <stdlib.h>
#include <uv.h>

#define JSON_1_0     "application/x-amz-json-1.0"
#define JSON_1_1     "application/x-amz-json-1.1"
#define JSON_PLAIN   "application/json"
#define CORS_EXPOSED "Access-Control-Expose-Headers: x-amzn-RequestId,x-amz-crc32"

enum {
    ID_RANDOM = 26,
    HEADERS_MAX = 64 << 10,    // a preflight's answer repeats the request's list of headers
    RESPONSE_KEPT = 256 << 10, // a larger answer's memory is given back
    TEXT_MAX = 64 << 20,       // the metrics of many tables
    DENIAL_MAX = 8192,
};

#define THROTTLED                                                                                  \
    "The level of configured provisioned throughput for the table was exceeded. Consider "         \
    "increasing your provisioning level with the UpdateTable API."

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

void session_headers(struct session *session)
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
    if (session->would.len > 0) {
        buf_text(headers, "x-dolmen-auth: would be refused: ");
        buf_slice(headers, session->would);
        buf_text(headers, "\r\n");
    }
}

void session_respond(struct session *session, int status, struct slice type, struct slice body,
                     struct slice checksum)
{
    session->status = status;
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
    session_respond(session, status, type, body, SLICE_LIT(CHECKSUM_HEADER));
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
    session_headers(session);
    http_header_text(&session->headers, "x-dolmen-warnings", session->call.warnings);
    if (session->call.repeated)
        http_header_text(&session->headers, "x-dolmen-repeated", SLICE_LIT("true"));
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

void session_error(struct session *session, enum error_code code, const char *message)
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
    case DATA_STREAM:
        break;
    }
    session->next = session->then;
    http_exchange_resume(session->exchange);
    return true;
}

bool session_to_pool(struct session *session, enum data_step (*step)(struct session *session),
                     void (*then)(struct session *session))
{
    session->step = step;
    session->then = then;
    session->task.run = run_step;
    return pool_submit(api_pool(session->dynamo->api), &session->task);
}

void session_leave_to_pool(struct session *session, enum data_step (*step)(struct session *session),
                           void (*then)(struct session *session))
{
    if (!session_to_pool(session, step, then))
        session_error(session, ERR_THROTTLING, "Too many long requests are waiting");
}

// ---- Refusals ------------------------------------------------------------------------------

static enum data_step read_refused(struct session *session)
{
    const struct http_request *request = &session->exchange->request;
    // Nothing is unpacked for somebody who is refused.
    session->well_formed =
        request->body.len == 0 || http_is_packed(request) || json_well_formed(request->body);
    return DATA_READY;
}

static void answer_refusal(struct session *session)
{
    if (!session->well_formed)
        session_error(session, ERR_SERIALIZATION, NULL);
    else if (!session->target_ours || !operation_known(session->operation))
        session_error(session, ERR_UNKNOWN_OPERATION, NULL);
    else {
        session_refused(session, session->refusal.code, session->refusal.message);
        session_error(session, session->refusal.code, session->refusal.message);
    }
}

// The request failed on its target or its authentication: says so, unless the service would have
// found another fault before.
static void refuse(struct session *session)
{
    if (session->exchange->request.body.len > LIMIT_INLINE_BODY) {
        session_leave_to_pool(session, read_refused, answer_refusal);
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

void session_with_body(struct session *session, void (*then)(struct session *session))
{
    session->unpacked = then;
    if (http_is_packed(&session->exchange->request))
        http_unpack(session->exchange);
    else
        then(session);
}

static void on_unpacked(struct http_exchange *exchange, void *context)
{
    (void)context;
    struct session *session = exchange->user;
    session->unpacked(session);
}

static void perform(struct session *session)
{
    struct api_call *call = &session->call;
    call->operation = session->operation;
    call->body = session->exchange->request.body;
    call->done = on_done;
    call->context = session;
    if (!delay(session))
        start(session);
}

// The target was found to be ours, or not.
static void post(struct session *session)
{
    session->called = true;
    if (session->target_ours && session_authenticate(session, SLICE_LIT("dynamodb"), true))
        session_with_body(session, perform);
    else
        refuse(session);
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

// ---- The gate --------------------------------------------------------------------------------

// What the layer below or the gate refuses, in the form that the client of the path reads.
static void answer_refused(struct session *session, int status, enum error_code code,
                           const char *reason)
{
    const struct http_request *request = &session->exchange->request;
    session_refused(session, code, reason);
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
        data_answer_refused(session, status, reason);
        return;
    }
    session_headers(session);
    answer(session, status, SLICE_LIT("text/plain"), slice_str(reason));
}

// What authentication has refused, on a path that has no exceptions.
static void answer_unwanted(struct session *session)
{
    const struct error *refusal = &session->refusal;
    answer_refused(session, refusal->code == ERR_THROTTLING ? 429 : 403, refusal->code,
                   refusal->message);
}

static bool refuse_binding(struct session *session, const char *reason)
{
    answer_refused(session, 403, ERR_ACCESS_DENIED, reason);
    return false;
}

// Notes the tenant that the request is bound to, for this request alone. False if it may not come
// in as it is; then it has been answered.
static bool bind_tenant(struct session *session)
{
    const struct http_request *request = &session->exchange->request;
    struct api_call *call = &session->call;
    call->tenant = slice_of(NULL, 0);
    enum binding_word word =
        binding_judge(&session->dynamo->binding, session->trusted, request, &call->tenant);
    call->bound = word == BINDING_BOUND;
    if (word == BINDING_FREE || (!call->bound && session_knocks(request)))
        return true;
    bool page = !slice_is(request->path, "/") && !data_owns(request->path) &&
                !watch_owns_path(request->path);
    switch (word) {
    case BINDING_BOUND:
        return !page || refuse_binding(session, "Requests that are bound to a tenant are for "
                                                "items alone.");
    case BINDING_STRANGER:
        return refuse_binding(session, "This server is for its proxies. If this address should be "
                                       "one, start the server with --trusted-proxy ADDRESS.");
    case BINDING_REPEATED:
        return refuse_binding(session, "The request names its tenant more than once.");
    case BINDING_MISSING:
        return page || refuse_binding(session, "The request does not say which tenant it is for.");
    case BINDING_FREE:
        break;
    }
    return true;
}

bool session_enter(struct session *session, bool *foreign)
{
    const struct dynamo *dynamo = session->dynamo;
    if (dynamo->audit != NULL && !session_audited(session)) {
        answer_refused(session, 503, ERR_UNAVAILABLE,
                       "The audit log cannot be written, and nothing is done without it.");
        return false;
    }
    switch (gate_judge(&dynamo->gate, &session->gate, &session->exchange->request)) {
    case GATE_OPEN:
        return dynamo->binding.name[0] == 0 || bind_tenant(session);
    case GATE_WRONG_HOST:
        answer_refused(session, 403, ERR_ACCESS_DENIED,
                       "The Host of this request is not a name of this server. If it should be, "
                       "start the server with --allowed-host NAME.");
        return false;
    case GATE_FOREIGN_PAGE:
        if (foreign != NULL) {
            *foreign = true;
            return bind_tenant(session);
        }
        answer_refused(session, 403, ERR_ACCESS_DENIED,
                       "Pages of this origin may not call this server. If they should, start the "
                       "server with --cors ORIGIN; /admin is never open to them.");
        return false;
    }
    return false;
}

// ---- Pages ---------------------------------------------------------------------------------

// Whether policies let the caller see the page.
static bool page_allowed(struct session *session)
{
    struct slice path = session->exchange->request.path;
    bool replica = slice_begins(path, SLICE_LIT("/replica"));
    bool admin = slice_begins(path, SLICE_LIT("/admin")) || slice_is(path, "/replica/promote");
    struct buf denial;
    struct caller_request request = {.caller = session->call.caller,
                                     .action = admin     ? SLICE_LIT("dolmen:Admin")
                                               : replica ? SLICE_LIT("dolmen:Replicate")
                                                         : SLICE_LIT("dolmen:GetMetrics"),
                                     .action_id = POLICY_ACTION_UNKNOWN,
                                     .resource = SLICE_LIT("*"),
                                     .region = session->call.region,
                                     .now_ms = api_clock_now(session->dynamo->api)};
    if (request.caller == NULL)
        return true;
    buf_init(&denial, DENIAL_MAX);
    bool may = caller_may(&request, &denial);
    if (!may)
        DISREGARD(
            error_set(&session->refusal, ERR_ACCESS_DENIED, "%.*s", SLICE_FMT(buf_view(&denial))));
    buf_release(&denial);
    return may;
}

// A page says more than that the server is there: for those alone who may ask, and are not bound
// to a tenant.
static bool may_see(struct session *session)
{
    if (slice_is(session->exchange->request.path, "/health"))
        return true;
    if (!session_authenticate(session, SLICE_LIT("dynamodb"), false) || !page_allowed(session))
        return false;
    return !session->call.bound ||
           error_set(&session->refusal, ERR_ACCESS_DENIED,
                     "Requests that are bound to a tenant are for items alone.");
}

static void show_page(struct session *session)
{
    session_headers(session);
    buf_clear(&session->text);
    if (status_is_long(&session->exchange->request)) {
        session_leave_to_pool(session, make_page, answer_page);
        return;
    }
    (void)make_page(session);
    answer_page(session);
}

static void other(struct session *session)
{
    if (!may_see(session))
        answer_unwanted(session);
    else if (session_knocks(&session->exchange->request)) // nobody is known, and no body read
        show_page(session);
    else
        session_with_body(session, show_page);
}

// ---- The handler -----------------------------------------------------------------------------

static bool is_form(const struct http_request *request)
{
    const struct slice *type = http_header(request, HTTP_CONTENT_TYPE);
    return type != NULL && slice_begins(*type, SLICE_LIT("application/x-www-form-urlencoded"));
}

static void on_handle(struct http_exchange *exchange, void *context)
{
    (void)context;
    struct session *session = exchange->user;
    const struct http_request *request = &exchange->request;
    bool root = slice_is(request->path, "/");
    session->begun_ns = uv_hrtime();
    if (!session_enter(session, NULL))
        return;
    session->type = json_type(request);
    bool typed = request->body.len == 0 || session->type.len > 0;
    bool posted = slice_is(request->method, "POST");
    session->target_ours = root && posted && target_split(request, &session->operation);
    if (session->target_ours && typed) {
        post(session);
        return;
    }
    if (http_is_packed(request) && is_form(request)) {
        // Whose it is, and who signs for that, would be found in it alone.
        answer_refused(session, 415, ERR_SERIALIZATION, "Forms cannot be compressed.");
        return;
    }
    if (posted && (session_sts(session) || session_watch(session)))
        return;
    if (root && posted && typed) {
        post(session);
        return;
    }
    bool cross = http_header(request, HTTP_ORIGIN) != NULL;
    bool preflight = cross && slice_is(request->method, "OPTIONS");
    if (data_owns(request->path) && !preflight) {
        if (session_authenticate(session, SLICE_LIT("dynamodb"), false))
            session_with_body(session, data_begin);
        else
            answer_unwanted(session);
        return;
    }
    session_headers(session);
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
        data_on_resume(session);
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
        DISREGARD(data_cancel(session->data));
}

static void on_drained(struct http_exchange *exchange, void *context)
{
    (void)context;
    data_on_drained(exchange->user);
}

void session_sent(struct session *session)
{
    if (session->counted)
        session_account(session);
    if (session->dynamo->audit != NULL && !session->streaming)
        session_audit(session);
    session->counted = session->streaming = false;
    session->operation = (struct slice){NULL, 0};
    session->call.bound = false;
    session->call.tenant = session->call.principal = (struct slice){NULL, 0};
    session_auth_end(session);
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

static void on_sent(struct http_exchange *exchange, void *context)
{
    (void)context;
    session_sent(exchange->user);
}

static void on_rest(struct http_exchange *exchange, void *context)
{
    (void)context;
    struct session *session = exchange->user;
    api_call_release(&session->call);
    session_auth_end(session);
    arena_release(&session->who_arena);
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
    arena_init(&session->who_arena, LIMIT_SIGN_MEMORY);
    exchange->user = session;
    bool binds = dynamo->binding.name[0] != 0;
    session->call.notes_keys = dynamo->audit != NULL && audit_wants_keys(dynamo->audit);
    if (dynamo->access_log != NULL || dynamo->audit != NULL || dynamo->limits != NULL || binds ||
        dynamo->auth.mode != AUTH_OFF)
        (void)http_exchange_peer(exchange, &session->peer);
    session->trusted = binds && binding_trusts(&dynamo->binding, session->peer.address);
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
        .drained = on_drained,
        .head = session_taker,
        .unpacked = on_unpacked,
    };
}
