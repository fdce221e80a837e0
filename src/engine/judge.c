// The judge: plans, beside the writer, the jobs that would hold it up. A condition may ask a
// hundred questions of an item of 400 KB, and a transaction has a hundred such conditions; an item
// may have to be read from a slow disk. While one client waits for that, the others write.
//
// It has two desks, each with a thread. What takes more than some milliseconds at the first is
// given up there and begun anew at the second, so that whoever asks for little does not wait for
// those who ask for much. A job is planned on a transaction that sees what is committed and puts
// nothing into its batch, and then goes to the end of the writer's queue. The judge is only a few
// jobs ahead of the writer, because a planned job holds on to the items it was planned from.
//
// When the engine is to stop, what is not planned yet is refused: nothing of it was done.
#include "engine/engine_internal.h"

#include "base/wait.h"

#include <sys/resource.h>
#include <unistd.h>

enum { JUDGE_NICE = 10 }; // those whose requests are quick come first

// The next job of a desk, or NULL when the engine stops.
static struct job *next_job(struct judge *judge, struct desk *desk)
{
    ensure(pthread_mutex_lock(&judge->lock) == 0);
    while (!judge->stopping && (desk->jobs.first == NULL || judge->planned >= LIMIT_PLANNED))
        ensure(pthread_cond_wait(&desk->wake, &judge->lock) == 0);
    struct job *job = jobs_take(&desk->jobs);
    judge->planned += job != NULL;
    ensure(pthread_mutex_unlock(&judge->lock) == 0);
    return job;
}

static void desk_add(struct judge *judge, struct desk *desk, struct job *job, bool was_taken)
{
    ensure(pthread_mutex_lock(&judge->lock) == 0);
    judge->planned -= was_taken;
    jobs_add(&desk->jobs, job);
    ensure(pthread_cond_signal(&desk->wake) == 0);
    ensure(pthread_mutex_unlock(&judge->lock) == 0);
}

static void *desk_main(void *argument)
{
    struct desk *desk = argument;
    struct engine *engine = desk->engine;
    struct judge *judge = &engine->judge;
    bool quick = desk == &judge->desks[DESK_QUICK];
    struct txn txn;
    struct job *job;
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), JUDGE_NICE);
    txn_init(&txn, engine);
    txn.aside = true;
    while ((job = next_job(judge, desk)) != NULL) {
        txn.steps = (struct steps){.limit = quick ? LIMIT_QUICK_WORK : 0, .stop = &judge->hurried};
        if (job->plan(job, &txn))
            writer_queue(engine, job);
        else
            desk_add(judge, &judge->desks[DESK_SLOW], job, true);
    }
    txn_release(&txn);
    return NULL;
}

void judge_take(struct engine *engine, struct job *job)
{
    desk_add(&engine->judge, &engine->judge.desks[DESK_QUICK], job, false);
}

static void wake_all(struct judge *judge)
{
    for (size_t i = 0; i < DESKS; i++)
        ensure(pthread_cond_signal(&judge->desks[i].wake) == 0);
}

void judge_returned(struct engine *engine)
{
    struct judge *judge = &engine->judge;
    ensure(pthread_mutex_lock(&judge->lock) == 0);
    judge->planned--;
    wake_all(judge);
    ensure(pthread_mutex_unlock(&judge->lock) == 0);
}

void engine_hurry(struct engine *engine)
{
    atomic_store(&engine->judge.hurried, true);
}

bool judge_start(struct engine *engine)
{
    struct judge *judge = &engine->judge;
    bool ok = true;
    ensure(pthread_mutex_init(&judge->lock, NULL) == 0);
    for (size_t i = 0; i < DESKS; i++) {
        judge->desks[i].engine = engine;
        wait_init(&judge->desks[i].wake);
    }
    for (size_t i = 0; ok && i < DESKS; i++)
        ok = pthread_create(&judge->desks[i].thread, NULL, desk_main, &judge->desks[i]) == 0;
    return ok;
}

void judge_stop(struct engine *engine)
{
    struct judge *judge = &engine->judge;
    ensure(pthread_mutex_lock(&judge->lock) == 0);
    judge->stopping = true;
    wake_all(judge);
    ensure(pthread_mutex_unlock(&judge->lock) == 0);
    for (size_t i = 0; i < DESKS; i++) {
        ensure(pthread_join(judge->desks[i].thread, NULL) == 0);
        ensure(pthread_cond_destroy(&judge->desks[i].wake) == 0);
    }
    ensure(pthread_mutex_destroy(&judge->lock) == 0);
}
