// Requests of the object store: handed over at their heads, behind the gate.
#include "server/dynamo_internal.h"

#include <uv.h>

static void on_begin(struct http_exchange *exchange, void *context)
{
    (void)context;
    struct session *session = exchange->user;
    bool foreign = false;
    session->begun_ns = uv_hrtime();
    if (session_enter(session, &foreign))
        objects_begin(session->dynamo->objects, exchange, foreign);
}

static void log_request(struct session *session, const struct objects_account *account)
{
    static const struct api_usage nothing = {.operation = API_NO_OPERATION};
    const struct dynamo *dynamo = session->dynamo;
    access_log_add(dynamo->access_log, http_exchange_loop(session->exchange),
                   &(struct access_entry){
                       .now_ms = env_now(&dynamo->env),
                       .peer = &session->peer,
                       .operation = slice_str(account->operation),
                       .usage = &nothing,
                       .status = account->status,
                       .error = account->error,
                       .latency_ns = uv_hrtime() - session->begun_ns,
                       .bytes_in = account->bytes_in,
                       .bytes_out = account->bytes_out,
                   });
}

static void on_sent(struct http_exchange *exchange)
{
    struct session *session = exchange->user;
    struct objects_account account;
    if (exchange->taken == NULL) {
        session_sent(session); // the gate has answered
        return;
    }
    objects_account(exchange, &account);
    if (session->dynamo->access_log != NULL)
        log_request(session, &account);
    session_audit_object(session, &account);
    objects_sent(exchange);
}

static const struct http_taker taker = {
    .begin = on_begin,
    .body = objects_body,
    .resume = objects_resume,
    .sent = on_sent,
    .gone = objects_gone,
    .drained = objects_drained,
};

const struct http_taker *session_taker(struct http_exchange *exchange, void *context)
{
    const struct dynamo *dynamo = context;
    bool ours = dynamo->objects != NULL && objects_own(dynamo->objects, &exchange->request);
    return ours ? &taker : NULL;
}
