// See worker.h.
#include "store/worker.h"

#include "base/wait.h"

// Waits until the delay has passed or the worker is stopped. The lock is held.
static void pause_first(struct worker *worker)
{
    int64_t until_ns = monotonic_ns() + worker->delay_ms * MILLISECOND_NS;
    while (!worker->stopping && wait_until(&worker->wake, &worker->lock, until_ns))
        continue;
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    ensure(pthread_mutex_lock(&worker->lock) == 0);
    while (true) {
        while (!worker->asked && !worker->stopping)
            ensure(pthread_cond_wait(&worker->wake, &worker->lock) == 0);
        if (!worker->asked)
            break;
        if (worker->delay_ms > 0)
            pause_first(worker);
        worker->asked = false;
        worker->busy = true;
        ensure(pthread_mutex_unlock(&worker->lock) == 0);
        worker->work(worker->context);
        ensure(pthread_mutex_lock(&worker->lock) == 0);
        worker->asked = worker->asked || (worker->repeats && !worker->stopping);
        worker->busy = false;
    }
    ensure(pthread_mutex_unlock(&worker->lock) == 0);
    return NULL;
}

static void start(struct worker *worker)
{
    wait_init(&worker->wake);
    ensure(pthread_mutex_init(&worker->lock, NULL) == 0);
    ensure_started(pthread_create(&worker->thread, NULL, worker_main, worker) == 0);
}

void worker_start(struct worker *worker, long delay_ms, void (*work)(void *context), void *context)
{
    *worker = (struct worker){.delay_ms = delay_ms, .work = work, .context = context};
    start(worker);
}

void worker_repeat(struct worker *worker, long every_ms, void (*work)(void *context), void *context)
{
    *worker = (struct worker){
        .delay_ms = every_ms, .work = work, .context = context, .asked = true, .repeats = true};
    start(worker);
}

void worker_ask(struct worker *worker)
{
    ensure(pthread_mutex_lock(&worker->lock) == 0);
    if (!worker->asked)
        ensure(pthread_cond_signal(&worker->wake) == 0);
    worker->asked = true;
    ensure(pthread_mutex_unlock(&worker->lock) == 0);
}

bool worker_idle(struct worker *worker)
{
    ensure(pthread_mutex_lock(&worker->lock) == 0);
    bool idle = !worker->asked && !worker->busy;
    ensure(pthread_mutex_unlock(&worker->lock) == 0);
    return idle;
}

void worker_stop(struct worker *worker)
{
    ensure(pthread_mutex_lock(&worker->lock) == 0);
    worker->stopping = true;
    ensure(pthread_cond_signal(&worker->wake) == 0);
    ensure(pthread_mutex_unlock(&worker->lock) == 0);
    ensure(pthread_join(worker->thread, NULL) == 0);
    ensure(pthread_cond_destroy(&worker->wake) == 0);
    ensure(pthread_mutex_destroy(&worker->lock) == 0);
}
