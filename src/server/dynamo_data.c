// Requests of the data API: data.h does the work, and this hands it to the pool, the connection and
// the books.
#include "server/dynamo_internal.h"

#include <uv.h>

#define DATA_CORS_EXPOSED                                                                          \
    "Access-Control-Expose-Headers: ETag,Location,x-dolmen-warnings,x-dolmen-repeated\r\n"

// ---- Accounts ------------------------------------------------------------------------------

static void count(struct session *session, const struct api_usage *usage, int status,
                  enum error_code error, uint64_t latency_ns)
{
    metrics_count(session->dynamo->metrics, http_exchange_loop(session->exchange),
                  &(struct metrics_request){usage, status, error, latency_ns});
}

struct slice session_request_id(const struct session *session)
{
    struct slice headers = buf_view(&session->headers);
    size_t at = sizeof(ID_HEADER) - 1;
    bool whole = headers.len >= at + ID_LENGTH;
    return whole ? slice_of(headers.ptr + at, ID_LENGTH) : (struct slice){NULL, 0};
}

static void log_request(struct session *session, uint64_t latency_ns)
{
    const struct dynamo *dynamo = session->dynamo;
    enum error_code code = session->call.error_code;
    access_log_add(
        dynamo->access_log, http_exchange_loop(session->exchange),
        &(struct access_entry){
            .now_ms = env_now(&dynamo->env),
            .peer = &session->peer,
            .request_id = session_request_id(session),
            .operation = session->operation,
            .tenant = session->call.bound ? session->call.tenant : (struct slice){NULL, 0},
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
    if (dynamo->access_log == NULL && dynamo->audit == NULL)
        return;
    buf_clear(&session->text);
    buf_printf(&session->text, "%s /v1/%.*s%s%.*s", route.method, SLICE_FMT(route.table),
               route.name.len > 0 ? "/" : "", SLICE_FMT(route.name));
    session->operation = buf_view(&session->text);
    session->call.usage.table = made->table;
}

void session_account(struct session *session)
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

// ---- Answers -------------------------------------------------------------------------------

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
    session_headers(session);
    if (gate_cors(&session->dynamo->gate, &session->exchange->request).len > 0)
        buf_text(&session->headers, DATA_CORS_EXPOSED);
    buf_slice(&session->headers, made->headers);
    session_respond(session, made->status, made->type, made->body, slice_of(NULL, 0));
}

// Whether there is one; else the request has been answered.
static bool open_data(struct session *session)
{
    if (session->data == NULL)
        session->data = data_new(&session->dynamo->data, session->exchange);
    session->data_called = session->data != NULL;
    if (!session->data_called) {
        session_headers(session);
        session_respond(session, 500, SLICE_LIT("text/plain"), SLICE_LIT("out of memory"),
                        slice_of(NULL, 0));
    }
    return session->data_called;
}

static enum data_step step_data(struct session *session)
{
    return data_work(session->data);
}

void data_answer_refused(struct session *session, int status, const char *reason)
{
    if (!open_data(session))
        return;
    data_refuse(session->data, status, reason);
    answer_data(session);
}

// ---- Streams -------------------------------------------------------------------------------

static void follow_stream(struct session *session, enum data_step step);

static void go_on_streaming(struct session *session)
{
    follow_stream(session, data_stream(session->data));
}

// The stream goes on until somebody has to be waited for, or it has ended: then all is said.
static void follow_stream(struct session *session, enum data_step step)
{
    if (step == DATA_READY)
        return;
    count_data(session);
    data_counts_clear(session->data);
    if (step != DATA_LATER || session_to_pool(session, step_data, go_on_streaming))
        return;
    // There is no room in the pool: the client comes again.
    DISREGARD(data_cancel(session->data));
    go_on_streaming(session);
}

void data_on_drained(struct session *session)
{
    follow_stream(session, data_drained(session->data));
}

static void begin_stream(struct session *session)
{
    struct data_answer *made = &session->made;
    data_answer(session->data, made);
    session->status = made->status;
    session->bytes_out = 0;
    session->streaming = true;
    session->call.usage = *made->usage;
    session_headers(session);
    buf_slice(&session->headers, made->headers);
    http_stream_begin(session->exchange, &(struct http_stream_head){
                                             .status = made->status,
                                             .content_type = made->type,
                                             .headers = buf_view(&session->headers),
                                             .live = true,
                                         });
    session_account(session); // now: how long somebody listens is not a latency
    session_audit(session);
    go_on_streaming(session);
}

// ---- Following -----------------------------------------------------------------------------

static void data_follow(struct session *session, enum data_step step)
{
    switch (step) {
    case DATA_READY:
        answer_data(session);
        break;
    case DATA_STREAM:
        begin_stream(session);
        break;
    case DATA_LATER:
        if (session_to_pool(session, step_data, answer_data))
            break;
        data_refuse(session->data, 429, "Too many long requests are waiting.");
        answer_data(session);
        break;
    case DATA_WAITS:
        break;
    }
}

// A stream may end here, and the session with it be ready for the next request.
void data_on_resume(struct session *session)
{
    if (session->streaming)
        follow_stream(session, data_resume(session->data));
    else
        data_follow(session, data_resume(session->data));
}

void data_begin(struct session *session)
{
    if (session->dynamo->upstream != NULL) {
        data_answer_refused(session, 501,
                            "A gateway (--upstream) has no data API: send requests of DynamoDB's.");
        return;
    }
    if (open_data(session))
        data_follow(session, data_start(session->data, &session->call));
}
