// A call: one request of an operation, from its JSON to the JSON of its response.
//
// Life of a call (all on the owner's thread but `done`):
//   api_call_init      once; the call and its memory can be reused for many requests
//   api_call_start     parses, checks, and executes. True: the response is ready. False: it is a
//                      write that waits for its commit, or long and goes on in the pool; `done`
//                      will be called exactly once, from another thread, and must do no more than
//                      tell the owner
//   api_call_finish    after `done`, on the owner's thread: makes the response
//   api_call_reset     before the next request
//   api_call_release   at the end; never between start and done
// The request body must stay valid from start until the response is ready.
#ifndef CALL_CALL_H
#define CALL_CALL_H

#include "base/arena.h"
#include "base/budget.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/pool.h"
#include "policy/caller.h"

struct api;
struct api_state;

// What an operation used, for metrics and the access log; known once the response is ready, whether
// or not the client asked for it.
struct api_usage {
    unsigned operation; // its place in api_operations(); API_NO_OPERATION if it is none of them
    uint32_t table_id;  // of the table, and never of another one; 0 if there is only a name
    struct slice table; // name of the first table the request found, or empty; until the reset
    double read_units;  // of all tables together
    double write_units;
    uint64_t items;  // that the response returns
    uint64_t warned; // writes about which a model had a warning
    uint64_t
        denied; // decisions of policies that were no; under --auth warn it was done all the same
};

enum { API_NO_OPERATION = 255 };

// What policies said of a call: of the first part that they refused, else of the last one.
struct call_decision {
    bool asked;   // there was a caller, and a decision
    bool refused; // not allowed; under `warn` it was done all the same
    enum policy_outcome outcome;
    enum policy_reason reason;
    enum policy_kind kind;
    struct slice action;   // "dynamodb:PutItem"; until the reset
    struct slice resource; // its ARN; until the reset
    struct slice sid;      // of the statement that decided; until the reset, may be empty
};

// The key of an item that a call is about, or of a partition, for those who keep books of it. All
// of it until the reset.
struct call_note {
    struct call_note *next; // the one noted before it
    struct slice table;
    size_t count;
    struct call_noted {
        struct slice name;
        struct slice value;
    } parts[];
};

struct api_call {
    // In.
    struct api *api;
    struct slice operation; // "PutItem"
    struct slice region;    // of the credential scope; names the ARNs
    struct slice body;
    struct slice principal; // who asks: an access key; empty for "anonymous"
    // Who asks, where that is asked: what the call does is decided by their policies. NULL: nobody
    // is asked, and everything is allowed. Borrowed until the response is ready.
    const struct caller *caller;
    bool vague;          // a refusal does not say which action, where that would tell what there is
    struct slice tenant; // that the request is bound to, if it is `bound`: it sees and writes the
    bool bound;          // items of that tenant alone
    bool notes_keys;     // wants `notes`
    struct entity_read *read; // or NULL: what to read, instead of a body (items/entity.h)
    void (*done)(struct api_call *call);
    void *context; // the owner's

    // Out, once the response is ready.
    int status;                 // HTTP status
    struct buf response;        // JSON
    struct slice warnings;      // of a table's model, and of policies; lines, until the reset
    bool repeated;              // a write that was done before, by the model, and not again
    enum error_code error_code; // ERR_NONE if the call succeeded
    struct api_usage usage;
    struct call_decision decision;
    struct call_note *notes; // the last one first, and not more than LIMIT_NOTES
    size_t note_count;       // also of those that are not there

    // Private.
    struct budget_account account; // of arena and response
    struct arena arena;
    struct error error;
    struct api_state *state;
    struct pool_task task;
    bool patient; // the caller waits: nothing is left to the pool
    _Atomic bool canceled;
};

void api_call_init(struct api_call *call, struct api *api);
MUST_CHECK bool api_call_start(struct api_call *call);
void api_call_finish(struct api_call *call);
// Starts, waits if it must, and finishes, on the caller's thread; sets `done` and `context` itself.
void api_call_run(struct api_call *call);
// Nobody waits for the response any more: a call in the pool ends soon, with an error. What is with
// the writer is done all the same. Any thread, between start and `done`.
void api_call_cancel(struct api_call *call);
void api_call_reset(struct api_call *call);
// Leaves nothing to be freed; the call may be used again.
void api_call_release(struct api_call *call);

// Writes an error document {"__type":…,"message":…} into call->response; for errors that arise
// before the operation is known (authentication, oversize body).
void api_call_fail(struct api_call *call, enum error_code code, const char *message);

// Answers as if another transaction held the first item of the request: the exception of the
// operation, which for transactions has reasons. For tests of applications.
void api_call_conflict(struct api_call *call);

#endif
