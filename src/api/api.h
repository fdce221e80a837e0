// The operations of DynamoDB over an engine: JSON request in, JSON response out.
// The server is HTTP and authentication around this, `dolmen_call` is a blocking
// wrapper around it, and golden tests use it in-process.
//
// Life of a call (all on the owner's thread but `done`):
//   api_call_init      once; the call and its memory can be reused for many requests
//   api_call_start     parses, checks, and executes. True: the response is ready. False: it is a
//   write
//                      that waits for its commit; `done` will be called exactly once, from the
//                      writer's thread, and must do no more than tell the owner
//   api_call_finish    after `done`, on the owner's thread: makes the response
//   api_call_reset     before the next request
//   api_call_release   at the end; never between start and done
// The request body must stay valid from start until the response is ready.
#ifndef API_API_H
#define API_API_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/env.h"
#include "base/error.h"
#include "store/store.h"

struct api;
struct api_state;

struct api_options {
    struct store *store; // taken over: api_close closes it
    struct env env;
};

// NULL with the reason in `error` (the store is then left to the caller).
MUST_CHECK struct api *api_open(const struct api_options *options, struct store_error *error);
// Finishes what is queued, then closes the store. No call may be between start and done.
void api_close(struct api *api);

struct api_call {
    // In.
    struct api *api;
    struct slice operation; // "PutItem"
    struct slice region;    // of the credential scope; names the ARNs
    struct slice body;
    void (*done)(struct api_call *call);
    void *context; // the owner's

    // Out, once the response is ready.
    int status;                 // HTTP status
    struct buf response;        // JSON
    enum error_code error_code; // ERR_NONE if the call succeeded

    // Private.
    struct arena arena;
    struct error error;
    struct api_state *state;
};

void api_call_init(struct api_call *call, struct api *api);
MUST_CHECK bool api_call_start(struct api_call *call);
void api_call_finish(struct api_call *call);
void api_call_reset(struct api_call *call);
void api_call_release(struct api_call *call);

// Writes an error document {"__type":…,"message":…} into call->response; for errors that arise
// before the operation is known (authentication, oversize body).
void api_call_fail(struct api_call *call, enum error_code code, const char *message);

// The names of all operations, for docs and checks; NULL-terminated.
const char *const *api_operations(void);

#endif
