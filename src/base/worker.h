// A thread that does one thing: when asked, every so often, or both. Requests that come before it
// begins are covered by one doing; one that comes while it works, by another.
//
// The struct belongs to whoever starts it and stays where it is until the thread has ended. The
// work runs without the worker's lock, so it may ask its own worker for more, and may sleep in it.
#ifndef BASE_WORKER_H
#define BASE_WORKER_H

#include "base/attributes.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct worker_plan {
    void (*work)(void *context);
    void *context;
    int64_t delay_ms; // from being asked to doing it
    int64_t every_ms; // from one doing to the next without being asked; 0 for never
    bool asked;       // from the start
    bool drains;      // what is asked for when the end comes is still done
};

struct worker {
    struct worker_plan plan;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;    // the thread's: somebody asks, or the end has come
    pthread_cond_t settled; // nothing is left to do
    int64_t asked_ns;       // when it was asked
    int64_t done_ns;        // when it was last done
    bool asked;
    bool busy;
    bool stopping;
    bool ended;
};

void worker_start(struct worker *worker, const struct worker_plan *plan);
// Ends the thread, once it is through with what it does.
void worker_stop(struct worker *worker);
// The same, but waits no longer than that. False: the work has not come back, and the worker and
// all that the work uses are left to it, for ever.
MUST_CHECK bool worker_stop_within(struct worker *worker, int64_t ms);

// Any thread.
void worker_ask(struct worker *worker);
// Whether it is neither at work nor asked to.
bool worker_idle(struct worker *worker);
// Until that is so, or the end has come.
void worker_wait(struct worker *worker);
bool worker_stopping(struct worker *worker);

// For the work itself. Sleeps; false, at once, if the end has come.
MUST_CHECK bool worker_pause(struct worker *worker, int64_t ms);
// Another pace from now on: see worker_plan.
void worker_pace(struct worker *worker, int64_t delay_ms, int64_t every_ms);

#endif
