// A thread that does one thing when asked, a fixed time after the first request for it, or again
// and again. Requests that come meanwhile are covered by the same doing.
#ifndef STORE_WORKER_H
#define STORE_WORKER_H

#include "base/attributes.h"

#include <pthread.h>
#include <stdbool.h>

struct worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool asked;
    bool busy;
    bool stopping;
    bool repeats;
    long delay_ms;
    void (*work)(void *context);
    void *context;
};

void worker_start(struct worker *worker, long delay_ms, void (*work)(void *context), void *context);
// Does it every so often without being asked.
void worker_repeat(struct worker *worker, long every_ms, void (*work)(void *context),
                   void *context);
void worker_ask(struct worker *worker);
// Whether it has nothing to do.
bool worker_idle(struct worker *worker);
// Does what is still asked for, then ends the thread.
void worker_stop(struct worker *worker);

#endif
