// The judge: one thread that plans, beside the writer, the jobs that would hold it up. A condition
// may ask a hundred questions of an item of 400 KB, and a transaction has a hundred such
// conditions; an item may have to be read from a slow disk. While one client waits for that, the
// others write.
//
// The judge plans one job after the other, on a transaction that sees what is committed and puts
// nothing into its batch, and hands each back to the end of the writer's queue. It is only a few
// jobs ahead of the writer, because a planned job holds on to the items it was planned from.
#include "engine/engine_internal.h"

#include "base/wait.h"

#include <sys/resource.h>
#include <unistd.h>

enum { JUDGE_NICE = 10 }; // those whose requests are quick come first

// The next job, or NULL when the engine stops.
static struct job *next_job(struct judge *judge)
{
    ensure(pthread_mutex_lock(&judge->lock) == 0);
    while (!judge->stopping && (judge->jobs.first == NULL || judge->planned >= LIMIT_PLANNED))
        ensure(pthread_cond_wait(&judge->wake, &judge->lock) == 0);
    struct job *job = jobs_take(&judge->jobs);
    judge->planned += job != NULL;
    ensure(pthread_mutex_unlock(&judge->lock) == 0);
    return job;
}

static void *judge_main(void *argument)
{
    struct engine *engine = argument;
    struct txn txn;
    struct job *job;
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), JUDGE_NICE);
    txn_init(&txn, engine);
    txn.aside = true;
    while ((job = next_job(&engine->judge)) != NULL) {
        job->plan(job, &txn);
        writer_queue(engine, job);
    }
    txn_release(&txn);
    return NULL;
}

void judge_take(struct engine *engine, struct job *job)
{
    struct judge *judge = &engine->judge;
    ensure(pthread_mutex_lock(&judge->lock) == 0);
    jobs_add(&judge->jobs, job);
    ensure(pthread_cond_signal(&judge->wake) == 0);
    ensure(pthread_mutex_unlock(&judge->lock) == 0);
}

void judge_returned(struct engine *engine)
{
    struct judge *judge = &engine->judge;
    ensure(pthread_mutex_lock(&judge->lock) == 0);
    judge->planned--;
    ensure(pthread_cond_signal(&judge->wake) == 0);
    ensure(pthread_mutex_unlock(&judge->lock) == 0);
}

bool judge_start(struct engine *engine)
{
    ensure(pthread_mutex_init(&engine->judge.lock, NULL) == 0);
    wait_init(&engine->judge.wake);
    return pthread_create(&engine->judge_thread, NULL, judge_main, engine) == 0;
}

void judge_stop(struct engine *engine)
{
    struct judge *judge = &engine->judge;
    ensure(pthread_mutex_lock(&judge->lock) == 0);
    judge->stopping = true;
    ensure(pthread_cond_signal(&judge->wake) == 0);
    ensure(pthread_mutex_unlock(&judge->lock) == 0);
    ensure(pthread_join(engine->judge_thread, NULL) == 0);
    ensure(pthread_mutex_destroy(&judge->lock) == 0);
    ensure(pthread_cond_destroy(&judge->wake) == 0);
}
