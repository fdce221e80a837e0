// A few threads of low priority for work that would hold up the thread it arises on. Work is done
// in slices: whatever is not done after its slice goes to the end of the queue, so that a long
// piece of work never keeps a short one waiting for longer than a slice of each.
//
// The threads yield to all others of the process: they have what processors the event loops and the
// writer leave them. They are started when they are first needed.
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    POOL_THREADS_MAX = 64,
    POOL_WAITING_MAX = 16384, // tasks in the queue; more are refused
};

struct pool;

// A piece of work; the owner keeps it in place until it is done.
struct pool_task {
    struct pool_task *next; // the queue's
    // One slice, a few milliseconds. True: it is done, and the pool does not touch the task any
    // more. False: there is more, and it will be called again, perhaps on another thread.
    bool (*run)(struct pool_task *task);
};

// At most that many threads; 0 means one per processor, and at least two.
struct pool *pool_new(size_t threads);
// When no task is left.
void pool_free(struct pool *pool);

// Any thread. False if too many tasks wait, or there is no thread to be had: nothing will happen.
MUST_CHECK bool pool_submit(struct pool *pool, struct pool_task *task);

// What the pool has done since it was made.
struct pool_stats {
    size_t waiting;      // tasks in the queue, now
    unsigned long tasks; // submitted
    unsigned long slices;
};
void pool_stats(struct pool *pool, struct pool_stats *out);

#endif
