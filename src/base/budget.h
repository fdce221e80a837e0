// One budget of memory for everything that clients make grow: what they send, what is made of it,
// the answers they have not taken yet, and the models they have applied.
//
// A budget is shared by all threads. An account is one owner's way to it: a connection, a request.
// Arenas and bufs that have an account take from the budget before they take from the system, in
// the large pieces they grow by; the first few KB of each are not counted, so a usual request never
// touches the shared counters. They are part of what a connection is counted with.
//
// What the budget refuses is not an error of the request: the account is `starved`, and the client
// is told to come again.
#ifndef BASE_BUDGET_H
#define BASE_BUDGET_H

#include "base/attributes.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// X(kind, name, what it counts)
#define BUDGET_LIST(X)                                                                             \
    X(CONNECTIONS, "connections", "what every connection costs")                                   \
    X(BODIES, "bodies", "requests as they arrive, compressed or not")                              \
    X(CALLS, "calls", "requests while they are worked on")                                         \
    X(ANSWERS, "answers", "answers until they are sent")                                           \
    X(INSIGHTS, "insights", "keys that are counted for Contributor Insights")                      \
    X(MODELS, "models", "models of tables, compiled")

enum budget_kind {
#define X(kind, name, what) BUDGET_##kind,
    BUDGET_LIST(X)
#undef X
        BUDGET_KINDS
};

struct budget_sweeper;

struct budget {
    size_t limit;                   // 0: none, everything is granted
    struct budget_sweeper *sweeper; // or NULL
    _Alignas(64) _Atomic size_t used;
    _Atomic size_t by_kind[BUDGET_KINDS];
    _Atomic uint64_t refused;
    _Atomic uint64_t given; // bytes given back so far
};

struct budget_account {
    struct budget *budget; // NULL: nothing is counted
    bool starved;          // the budget, or the system, has refused since this was last cleared
    bool overdraw;         // must not be refused: what it is for has been done already
};

// Arenas and bufs do not count what is smaller.
enum { BUDGET_UNCOUNTED = 4 << 10 };

void budget_init(struct budget *budget, size_t limit);

// Whether there is that much. All that was taken must be given back. A NULL account takes what it
// likes.
MUST_CHECK bool budget_take(struct budget_account *account, enum budget_kind kind, size_t bytes);
void budget_give(struct budget_account *account, enum budget_kind kind, size_t bytes);
// Frees `size` bytes at `ptr`, which may be NULL, and gives back `counted` of them.
void budget_free(struct budget_account *account, enum budget_kind kind, void *ptr, size_t size,
                 size_t counted);
// The system had no memory: the account is starved as if the budget had refused.
void budget_starve(struct budget_account *account);

// Whether there can ever be that much: else it is of no use to come again.
bool budget_ever(const struct budget *budget, size_t bytes);
// What those kinds may have that are held for long: bodies of slow clients, and models.
size_t budget_half(const struct budget *budget);
// More than half is taken: do not keep what is not needed. False without a budget.
bool budget_tight(const struct budget *budget);
// How often the budget has refused so far: while the number grows, somebody waits for memory.
uint64_t budget_refused(const struct budget *budget);
// How many bytes have been given back so far.
uint64_t budget_given(const struct budget *budget);

// ---- Sweeping -------------------------------------------------------------------------------

// The system takes milliseconds to free megabytes, and an event loop has no milliseconds: a thread
// does that. What waits for it is still counted, and whoever finds too little frees it instead.
// Without it budget_free() does it at once.
void budget_sweep_start(struct budget *budget);
// Frees what waits. Nobody may use the budget's accounts at the same time.
void budget_sweep_stop(struct budget *budget);

// ---- Sizes ----------------------------------------------------------------------------------

// How the memory of a process is divided. Zero for cache or write buffers means: a share.
struct budget_plan {
    size_t limit;         // of the process
    size_t cache;         // for what is read from disk
    size_t write_buffers; // for writes on their way to disk
    bool stores_objects;  // there is an object store beside the database,
    size_t objects;       // which has this for its metadata: cache and write buffers
    size_t requests;      // the budget's
    size_t connections;   // as many as leave the requests enough of it
};

// What a connection is counted with: what it is made of, and what of its buffers is not counted.
enum { BUDGET_CONNECTION = 12 << 10 };

// Fills what is zero; what is left of the limit is for requests, and at least an eighth of it.
void budget_divide(struct budget_plan *plan);

// The memory this process may use: the machine's, or what its control group or its resource limits
// leave. `root` is the root of the file system, "" but in tests.
size_t budget_machine(const char *root);

#endif
