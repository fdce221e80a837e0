// Requests of CloudWatch: metrics and alarms (src/watch).
#include "server/dynamo_internal.h"

enum { DENIAL_MAX = 8192 };

static struct slice header_text(const struct http_request *request, enum http_known which)
{
    const struct slice *value = http_header(request, which);
    return value == NULL ? slice_of(NULL, 0) : *value;
}

static bool is_watch(const struct http_request *request, struct watch_request *out)
{
    return watch_owns(&(struct watch_head){.path = request->path,
                                           .target = header_text(request, HTTP_AMZ_TARGET),
                                           .type = header_text(request, HTTP_CONTENT_TYPE),
                                           .body = request->body},
                      out);
}

static enum data_step make_watch(struct session *session)
{
    struct watch_request request;
    ensure(is_watch(&session->exchange->request, &request));
    struct buf denial;
    buf_init(&denial, DENIAL_MAX);
    request.region = session->call.region;
    request.caller = session->call.caller;
    request.denial = &denial;
    session->status =
        watch_answer(session->dynamo->watch, &request, &session->text, &session->watch_error);
    buf_release(&denial);
    return DATA_READY;
}

static void answer_watch(struct session *session)
{
    struct watch_request request;
    ensure(is_watch(&session->exchange->request, &request));
    session_headers(session);
    if (request.protocol == WATCH_CBOR)
        buf_text(&session->headers, "smithy-protocol: rpc-v2-cbor\r\n");
    // The name that the error has in the Query protocol, which clients of the others still show.
    if (request.protocol != WATCH_QUERY && session->watch_error != NULL)
        buf_printf(&session->headers, "x-amzn-query-error: %s;%s\r\n", session->watch_error,
                   session->status < 500 ? "Sender" : "Receiver");
    session_respond(session, session->status, slice_str(watch_content_type(request.protocol)),
                    buf_view(&session->text), SLICE_LIT(CHECKSUM_HEADER));
}

// A request of CloudWatch that is refused: in the words of its protocol.
static void answer_unsigned(struct session *session, const struct query_service *service)
{
    const struct error *refusal = &session->refusal;
    session_refused(session, refusal->code, refusal->message);
    if (http_header(&session->exchange->request, HTTP_AMZ_TARGET) != NULL)
        session_error(session, refusal->code, refusal->message);
    else
        session_query_error(session, service, refusal->code, refusal->message);
}

static void watch_asked(struct session *session)
{
    buf_clear(&session->text);
    session_leave_to_pool(session, make_watch, answer_watch);
}

// A request for metrics and alarms. What others do is not for a tenant to see.
static void post_watch(struct session *session)
{
    session->called = true;
    bool known = session_authenticate(session, SLICE_LIT("monitoring"), true);
    if (session->dynamo->auth.mode == AUTH_ENFORCE && !known) {
        answer_unsigned(session, session_query_service("monitoring"));
        return;
    }
    if (session->call.bound || !known) {
        session_error(session, ERR_ACCESS_DENIED, "Metrics and alarms are not for this request");
        return;
    }
    session_with_body(session, watch_asked);
}

bool session_watch(struct session *session)
{
    struct watch_request asked;
    if (!is_watch(&session->exchange->request, &asked))
        return false;
    post_watch(session);
    return true;
}
