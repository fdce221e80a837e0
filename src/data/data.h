// The data API: a table with a model as plain JSON over HTTP, at /v1/… (docs/DATA-API.md).
//
// A request is one or more tasks, each a call of the api or several in a row. Reads are done at
// once; all writes that a request has to make are handed to the writer together, and
// `http_exchange_resume` is called when the last of them is done. What is long (large bodies, large
// answers, many entities) is left to the pool, in slices. So nothing here blocks a loop.
#ifndef DATA_DATA_H
#define DATA_DATA_H

#include "api/api.h"
#include "http/http.h"
#include "items/entity.h"
#include "s3/s3.h"

#include <openssl/sha.h>

// What all requests share. `api` is borrowed.
struct data_service {
    struct api *api;
    struct live *live;
    struct s3_store *objects; // borrowed; NULL: there are no objects
    SHA256_CTX signing[2];    // HMAC's inner and outer digest, begun with the secret: signs cursors
};

// Before the server listens: the secret may have to be made.
void data_service_init(struct data_service *service, struct api *api, struct s3_store *objects);

// What a connection keeps for its requests.
struct data;

// Whether a path is the data API's.
static inline bool data_owns(struct slice path)
{
    return path.len >= 3 && memcmp(path.ptr, "/v1", 3) == 0 &&
           (path.len == 3 || path.ptr[3] == '/');
}

// NULL when memory is out.
MUST_CHECK struct data *data_new(const struct data_service *service,
                                 struct http_exchange *exchange);
void data_free(struct data *data); // NULL is fine

enum data_step {
    DATA_READY, // the answer is
    DATA_WAITS, // for others, who resume the exchange: then data_resume
    DATA_LATER, // there is long work to do: data_work, on a thread of the pool
    // The answer comes in pieces: http_stream_begin() with what data_answer() says, which is live;
    // then data_stream(). DATA_READY of a stream says that it has ended.
    DATA_STREAM,
};
// Of the asker: who asks, the tenant that the request may be bound to, whose name is borrowed until
// data_reset, and whether keys are noted.
MUST_CHECK enum data_step data_start(struct data *data, const struct api_call *asker);
MUST_CHECK enum data_step data_resume(struct data *data);
MUST_CHECK enum data_step data_work(struct data *data);
// Goes on with a stream: when it has begun, when a piece was taken (`drained`), and behind
// data_work().
MUST_CHECK enum data_step data_stream(struct data *data);
MUST_CHECK enum data_step data_drained(struct data *data);
// Nobody waits for the answer any more. On the loop's thread. A stream that nobody else is at work
// for ends at once: true.
bool data_cancel(struct data *data);

// The calls that the request has made so far, the last one first; until data_reset.
struct data_count {
    struct data_count *next;
    struct api_usage usage;
    int status;
    enum error_code error;
    uint64_t latency_ns;
};
const struct data_count *data_counts(const struct data *data);
void data_counts_clear(struct data *data);

// Valid until data_reset, which comes when it has been sent.
struct data_answer {
    int status;
    struct slice type;
    struct slice headers; // lines
    struct slice body;
    const struct api_usage *usage; // of the last call, for the log
    enum error_code error;
    // What was asked for, as far as there is such a thing: the table, and its entity or pattern.
    struct slice table;
    struct slice name;
    // Of all calls together, as api_call has them.
    struct call_decision decision;
    const struct call_note *notes;
    size_t note_count;
};
void data_answer(struct data *data, struct data_answer *out);
void data_reset(struct data *data);

// A request that was refused before it came here (too large, malformed): the answer is ready.
void data_refuse(struct data *data, int status, const char *reason);

#endif
