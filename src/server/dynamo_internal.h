// What the files of the handler share: the session of a connection.
//
//   dynamo.c       requests of DynamoDB's protocol, pages, the gate
//   dynamo_watch.c  requests of CloudWatch
//   dynamo_objects.c  requests of the object store
//   dynamo_auth.c  who asks
//   dynamo_query.c  requests of AWS's Query protocol
//   dynamo_sts.c   those of STS: sessions
//   dynamo_data.c  requests of the data API, and its streams; what is counted and logged
//   dynamo_audit.c  what the audit log is told
//   dynamo_limits.c  who guesses, and who asks too often
#ifndef SERVER_DYNAMO_INTERNAL_H
#define SERVER_DYNAMO_INTERNAL_H

#include "server/auth.h"
#include "server/dynamo.h"
#include "server/status.h"

#include <stddef.h>

#define ID_HEADER       "x-amzn-RequestId: "
#define CHECKSUM_HEADER "x-amz-crc32: "

enum { ID_LENGTH = 52 };

struct session {
    struct api_call call;
    struct http_exchange *exchange;
    struct dynamo *dynamo;
    struct http_peer peer; // only known for the access log and for tenants
    bool trusted;          // it may say which tenant a request is for
    struct gate_memory gate;
    uint64_t random; // state of the generator of request ids
    bool called;     // the call holds a request
    bool counted;    // what is being answered counts as a request for an operation
    bool delayed;    // the operation waits for the ticker
    struct fault fault;
    struct ticker_delay delay;
    uint64_t begun_ns;       // when the request was complete
    struct slice operation;  // as the client named it; "GET /v1/shop/User" of the data API
    int status;              // of the answer
    const char *watch_error; // the code of CloudWatch's error; or NULL
    size_t bytes_out;
    struct slice type; // the request's content type, if it is one of ours
    struct buf headers;
    struct budget_account account;
    struct buf text;         // of an answer that is not an operation's
    struct data *data;       // NULL before the first request of the data API
    struct data_answer made; // by it
    bool data_called;        // it has the request
    bool streaming;          // and answers it in pieces

    // Long work beside the calls of the api: `step` runs in the pool, in slices; then `next`, on
    // the loop's thread. While the exchange waits for somebody else, `next` is NULL.
    struct pool_task task;
    enum data_step (*step)(struct session *session);
    void (*next)(struct session *session);
    void (*then)(struct session *session);
    void (*unpacked)(struct session *session); // goes on with the body that was compressed
    struct error refusal;                      // in the arena below
    bool target_ours;
    bool well_formed; // the body is JSON
    bool paged;       // there is such a page:
    struct status_page page;

    // Who asks, until the answer is sent.
    struct arena who_arena;
    struct identity_guest guest;
    struct limits_origin origin; // of a request that was found unlocked
    struct slice would; // why the request would be refused, if that were enforced; else empty

    // For the audit log: what was decided before there was a call, and why, in words that live
    // until the answer is sent. `unaudited`: nothing is told of the request.
    enum audit_decision verdict;
    const char *verdict_why;
    bool unaudited;
};

// dynamo.c
// The headers that every answer has.
void session_headers(struct session *session);
// Answers with them.
void session_respond(struct session *session, int status, struct slice type, struct slice body,
                     struct slice checksum);
// Has the pool do `step`, and then goes on with `then`. False if it takes no more.
MUST_CHECK bool session_to_pool(struct session *session,
                                enum data_step (*step)(struct session *session),
                                void (*then)(struct session *session));

// The same, or says that there are too many.
void session_leave_to_pool(struct session *session, enum data_step (*step)(struct session *session),
                           void (*then)(struct session *session));
// Answers with an error that comes before any operation; some have no message.
void session_error(struct session *session, enum error_code code, const char *message);
// Goes on with the body, which is unpacked only now if it came compressed: for somebody who is
// known, and behind the signature, which is that of the bytes as they came.
void session_with_body(struct session *session, void (*then)(struct session *session));

// Whether the request may come in; else it has been answered. A page of a stranger may not, unless
// *foreign is there to note it.
MUST_CHECK bool session_enter(struct session *session, bool *foreign);
// The answer has been sent: what it was made of goes.
void session_sent(struct session *session);

// dynamo_auth.c
// Finds out who asks, by a signature for the service; session->call.caller says it. False, with
// session->refusal, if the request is refused. With security off a request needs a signature only
// if it `always` does, and then only one that looks like it.
MUST_CHECK bool session_authenticate(struct session *session, struct slice service, bool always);
// Authentication has failed (session->refusal says why), whether or not it is enforced. The key is
// the one that was claimed, or empty.
void session_auth_failed(struct session *session, struct slice access_key);
void session_auth_end(struct session *session);

// dynamo_query.c
struct query_service; // that speaks AWS's Query protocol: forms in, XML out
const struct query_service *session_query_service(const char *name);
// Answers with an error as the Query protocol has it.
void session_query_error(struct session *session, const struct query_service *service,
                         enum error_code code, const char *message);
// The same with status 400 and a name that DynamoDB has no error for.
void session_query_fault(struct session *session, const struct query_service *service,
                         const char *name, const char *message);
// Answers 200: begins the result of an action, adds elements to it, and sends it.
void session_query_begin(struct session *session, const struct query_service *service,
                         const char *action);
void session_query_element(struct session *session, const char *name, struct slice value);
void session_query_end(struct session *session, const char *action);
// The value of a form, in the arena; its ptr is NULL if it is not there. False if it is and cannot
// be decoded.
MUST_CHECK bool query_value(struct slice form, const char *name, struct arena *arena,
                            struct slice *out);

// dynamo_watch.c
// Answers a request of CloudWatch; false if it is none.
MUST_CHECK bool session_watch(struct session *session);

// dynamo_sts.c
// Answers a request of STS; false if it is none.
MUST_CHECK bool session_sts(struct session *session);

// dynamo_limits.c: see limits.h. Those that answer false have set session->refusal.
// Whether a request that claims to be of the key is looked at at all.
MUST_CHECK bool session_unlocked(struct session *session, struct slice access_key);
// What became of it: the signature was right, or not (session->refusal says how).
void session_signed(struct session *session, struct slice access_key);
void session_unsigned(struct session *session, struct slice access_key);
// Whether whoever asks may ask once more; if there are limits.
MUST_CHECK bool session_within_rate(struct session *session);

// dynamo_objects.c: who takes a request at its head, or NULL.
const struct http_taker *session_taker(struct http_exchange *exchange, void *context);

// dynamo_data.c
void data_begin(struct session *session);
void data_on_resume(struct session *session);
// Answers with what data_refuse() is told.
void data_answer_refused(struct session *session, int status, const char *reason);
void data_on_drained(struct session *session);
// The answer is with the kernel, and what it was made of is still there: counts and logs it.
void session_account(struct session *session);
// The id of the request, as its answer has it; empty if there is none.
struct slice session_request_id(const struct session *session);

// dynamo_audit.c
// The request was refused before anything was done, with this error.
void session_refused(struct session *session, enum error_code code, const char *why);
// It would have been (--auth warn).
void session_would_refuse(struct session *session, const char *why);
// Whether the request asks for nothing but whether the server is there.
bool session_knocks(const struct http_request *request);
// Whether the audit log takes what is done now; else the request must be refused.
MUST_CHECK bool session_audited(struct session *session);
// Tells the audit log of the request; beside session_account(), or where nothing is counted.
void session_audit(struct session *session);
void session_audit_object(struct session *session, const struct objects_account *account);

#endif
