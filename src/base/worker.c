// See worker.h. One lock guards everything; it is not held while the work is done.
#include "base/worker.h"

#include "base/wait.h"

// When there is something to do; INT64_MAX, which never comes, if nobody knows. The lock is held.
static int64_t due_ns(const struct worker *worker)
{
    const struct worker_plan *plan = &worker->plan;
    int64_t asked_ns =
        worker->asked ? worker->asked_ns + plan->delay_ms * MILLISECOND_NS : INT64_MAX;
    int64_t every_ns =
        plan->every_ms > 0 ? worker->done_ns + plan->every_ms * MILLISECOND_NS : INT64_MAX;
    return asked_ns < every_ns ? asked_ns : every_ns;
}

// Sleeps until there is something to do; false if the end has come. The lock is held.
static bool wait_for_work(struct worker *worker)
{
    while (!worker->stopping) {
        int64_t until_ns = due_ns(worker);
        if (until_ns <= monotonic_ns())
            return true;
        (void)wait_until(&worker->wake, &worker->lock, until_ns); // it may have become earlier
    }
    return worker->asked && worker->plan.drains;
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    ensure(pthread_mutex_lock(&worker->lock) == 0);
    while (wait_for_work(worker)) {
        // Before the work, not after it: who asks from now on may have seen too late what it sees.
        worker->asked = false;
        worker->busy = true;
        ensure(pthread_mutex_unlock(&worker->lock) == 0);
        worker->plan.work(worker->plan.context);
        ensure(pthread_mutex_lock(&worker->lock) == 0);
        worker->busy = false;
        worker->done_ns = monotonic_ns();
        if (!worker->asked)
            ensure(pthread_cond_broadcast(&worker->settled) == 0);
    }
    worker->ended = true;
    ensure(pthread_cond_broadcast(&worker->settled) == 0);
    ensure(pthread_mutex_unlock(&worker->lock) == 0);
    return NULL;
}

void worker_start(struct worker *worker, const struct worker_plan *plan)
{
    *worker = (struct worker){.plan = *plan, .asked = plan->asked};
    worker->asked_ns = worker->done_ns = monotonic_ns();
    wait_init(&worker->wake);
    wait_init(&worker->settled);
    ensure(pthread_mutex_init(&worker->lock, NULL) == 0);
    ensure_started(pthread_create(&worker->thread, NULL, worker_main, worker) == 0);
}

// ---- The end ---------------------------------------------------------------------------------

static void tell_end(struct worker *worker)
{
    ensure(pthread_mutex_lock(&worker->lock) == 0);
    worker->stopping = true;
    ensure(pthread_cond_signal(&worker->wake) == 0);
    ensure(pthread_cond_broadcast(&worker->settled) == 0);
    ensure(pthread_mutex_unlock(&worker->lock) == 0);
}

void worker_stop(struct worker *worker)
{
    tell_end(worker);
    ensure(pthread_join(worker->thread, NULL) == 0);
    ensure(pthread_cond_destroy(&worker->wake) == 0);
    ensure(pthread_cond_destroy(&worker->settled) == 0);
    ensure(pthread_mutex_destroy(&worker->lock) == 0);
}

bool worker_stop_within(struct worker *worker, int64_t ms)
{
    int64_t until_ns = monotonic_ns() + ms * MILLISECOND_NS;
    tell_end(worker);
    ensure(pthread_mutex_lock(&worker->lock) == 0);
    while (!worker->ended && wait_until(&worker->settled, &worker->lock, until_ns))
        continue;
    bool ended = worker->ended;
    ensure(pthread_mutex_unlock(&worker->lock) == 0);
    if (ended)
        worker_stop(worker);
    else
        ensure(pthread_detach(worker->thread) == 0);
    return ended;
}

// ---- From other threads ----------------------------------------------------------------------

void worker_ask(struct worker *worker)
{
    ensure(pthread_mutex_lock(&worker->lock) == 0);
    if (!worker->asked) {
        worker->asked = true;
        worker->asked_ns = monotonic_ns();
        ensure(pthread_cond_signal(&worker->wake) == 0);
    }
    ensure(pthread_mutex_unlock(&worker->lock) == 0);
}

bool worker_idle(struct worker *worker)
{
    ensure(pthread_mutex_lock(&worker->lock) == 0);
    bool idle = !worker->asked && !worker->busy;
    ensure(pthread_mutex_unlock(&worker->lock) == 0);
    return idle;
}

void worker_wait(struct worker *worker)
{
    ensure(pthread_mutex_lock(&worker->lock) == 0);
    while ((worker->asked || worker->busy) && !worker->stopping)
        ensure(pthread_cond_wait(&worker->settled, &worker->lock) == 0);
    ensure(pthread_mutex_unlock(&worker->lock) == 0);
}

bool worker_stopping(struct worker *worker)
{
    ensure(pthread_mutex_lock(&worker->lock) == 0);
    bool stopping = worker->stopping;
    ensure(pthread_mutex_unlock(&worker->lock) == 0);
    return stopping;
}

// ---- From the work ---------------------------------------------------------------------------

bool worker_pause(struct worker *worker, int64_t ms)
{
    int64_t until_ns = monotonic_ns() + ms * MILLISECOND_NS;
    ensure(pthread_mutex_lock(&worker->lock) == 0);
    while (!worker->stopping && wait_until(&worker->wake, &worker->lock, until_ns))
        continue;
    bool go_on = !worker->stopping;
    ensure(pthread_mutex_unlock(&worker->lock) == 0);
    return go_on;
}

void worker_pace(struct worker *worker, int64_t delay_ms, int64_t every_ms)
{
    ensure(pthread_mutex_lock(&worker->lock) == 0);
    worker->plan.delay_ms = delay_ms;
    worker->plan.every_ms = every_ms;
    ensure(pthread_mutex_unlock(&worker->lock) == 0);
}
