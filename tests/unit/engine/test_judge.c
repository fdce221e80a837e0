// The judge's two desks: who asks for little does not wait for those who ask for much.
#include "support.h"

#include "engine/engine_internal.h"

#include <semaphore.h>
#include <time.h>

enum { SLOW_JOBS = 4, PATIENCE_S = 60 };

// A job that is planned beside the writer, quickly or not before it is let go.
struct asked {
    struct job job; // first
    struct error error;
    bool slow;
    bool planned;
    unsigned given_up; // how often it was called with a limit
    sem_t *go;
    sem_t *done;
};

static bool wait_for(sem_t *semaphore)
{
    struct timespec until;
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &until), 0);
    until.tv_sec += PATIENCE_S;
    return sem_timedwait(semaphore, &until) == 0;
}

static bool run_asked(struct job *job, struct txn *txn)
{
    (void)txn;
    if (!((struct asked *)job)->planned)
        job->turn = JOB_ASIDE;
    return true;
}

static bool plan_asked(struct job *job, struct txn *txn)
{
    struct asked *asked = (struct asked *)job;
    if (asked->slow && txn->steps.limit != 0) {
        asked->given_up++;
        return false;
    }
    if (asked->slow)
        assert_true(wait_for(asked->go));
    asked->planned = true;
    return true;
}

static void asked_done(struct job *job)
{
    struct asked *asked = (struct asked *)job;
    assert_false(job->failed);
    assert_int_equal(sem_post(asked->done), 0);
}

static void submit(struct world *world, struct asked *asked, bool slow, sem_t *go, sem_t *done)
{
    *asked = (struct asked){.slow = slow, .go = go, .done = done};
    error_init(&asked->error, NULL);
    asked->job = (struct job){
        .run = run_asked, .plan = plan_asked, .done = asked_done, .error = &asked->error};
    assert_true(engine_submit(world->engine, &asked->job));
}

// All slow jobs come first, and none of them can end before the quick one has.
static void test_desks(void **state)
{
    (void)state;
    struct world world;
    struct asked slow[SLOW_JOBS];
    struct asked quick;
    sem_t go;
    sem_t slow_done;
    sem_t quick_done;
    world_open(&world);
    assert_int_equal(sem_init(&go, 0, 0), 0);
    assert_int_equal(sem_init(&slow_done, 0, 0), 0);
    assert_int_equal(sem_init(&quick_done, 0, 0), 0);
    for (size_t i = 0; i < SLOW_JOBS; i++)
        submit(&world, &slow[i], true, &go, &slow_done);
    submit(&world, &quick, false, &go, &quick_done);
    assert_true(wait_for(&quick_done));
    for (size_t i = 0; i < SLOW_JOBS; i++)
        assert_int_equal(sem_post(&go), 0);
    for (size_t i = 0; i < SLOW_JOBS; i++) {
        assert_true(wait_for(&slow_done));
        assert_int_equal(slow[i].given_up, 1);
    }
    world_close(&world);
    assert_int_equal(sem_destroy(&go), 0);
    assert_int_equal(sem_destroy(&slow_done), 0);
    assert_int_equal(sem_destroy(&quick_done), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_desks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
