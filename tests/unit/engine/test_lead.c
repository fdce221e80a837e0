// Whoever waits may write: a lone caller does the writer's round on its own thread, and nobody else
// notices.
#include "support.h"

#include <pthread.h>
#include <semaphore.h>

enum { CALLERS = 6, CALLS = 200 };

// A job that notes where and when it ran.
struct noted {
    struct job job; // first
    struct error error;
    pthread_t thread;
    unsigned place;   // among those that share a counter
    unsigned *places; // or NULL
    sem_t *wait;      // it waits for this, having posted the next; or NULL
    sem_t *running;
    sem_t *ended;
};

static bool note_run(struct job *job, struct txn *txn)
{
    (void)txn;
    struct noted *noted = (struct noted *)job;
    noted->thread = pthread_self();
    if (noted->places != NULL)
        noted->place = ++*noted->places;
    if (noted->wait != NULL) {
        assert_int_equal(sem_post(noted->running), 0);
        assert_int_equal(sem_wait(noted->wait), 0);
    }
    return true;
}

static void note_done(struct job *job)
{
    assert_int_equal(sem_post(((struct noted *)job)->ended), 0);
}

static void noted_init(struct noted *noted)
{
    *noted = (struct noted){.job = {.run = note_run, .done = note_done, .error = &noted->error}};
    error_init(&noted->error, NULL);
}

static bool ran_here(const struct noted *noted)
{
    return pthread_equal(noted->thread, pthread_self());
}

// A lone call, again and again until the writer has gone to sleep and leaves it to the caller.
static void lead(struct engine *engine)
{
    struct noted noted;
    do {
        noted_init(&noted);
        assert_true(engine_run(engine, &noted.job));
    } while (!ran_here(&noted));
}

static void test_lone_caller_leads(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    engine_settle(world.engine);
    lead(world.engine);
    struct noted noted;
    noted_init(&noted);
    assert_true(engine_run(world.engine, &noted.job));
    assert_true(ran_here(&noted));
    world_close(&world);
}

// Work beside requests is the writer thread's: whoever does it may have low priority.
static void test_beside_never_leads(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    engine_settle(world.engine);
    lead(world.engine);
    struct noted noted;
    noted_init(&noted);
    assert_true(engine_run_beside(world.engine, &noted.job));
    assert_false(ran_here(&noted));
    world_close(&world);
}

struct leader {
    struct engine *engine;
    struct noted noted;
};

static void *lead_and_wait(void *argument)
{
    struct leader *leader = argument;
    assert_true(engine_run(leader->engine, &leader->noted.job));
    return NULL;
}

// What comes while a caller leads waits for it, is done by the writer thread afterwards, in order,
// and shares one round.
static void test_others_wait(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    engine_settle(world.engine);
    lead(world.engine);
    sem_t go;
    sem_t running;
    sem_t ended;
    assert_int_equal(sem_init(&go, 0, 0), 0);
    assert_int_equal(sem_init(&running, 0, 0), 0);
    assert_int_equal(sem_init(&ended, 0, 0), 0);
    unsigned places = 0;
    struct leader leader = {.engine = world.engine};
    noted_init(&leader.noted);
    leader.noted.wait = &go;
    leader.noted.running = &running;
    leader.noted.places = &places;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, lead_and_wait, &leader), 0);
    assert_int_equal(sem_wait(&running), 0);
    struct noted others[3];
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        noted_init(&others[i]);
        others[i].places = &places;
        others[i].ended = &ended;
        others[i].job.patient = true; // even so
        assert_true(engine_submit(world.engine, &others[i].job));
    }
    assert_int_equal(places, 1);
    assert_int_equal(sem_post(&go), 0);
    for (size_t i = 0; i < COUNT_OF(others); i++)
        assert_int_equal(sem_wait(&ended), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(leader.noted.place, 1);
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        assert_int_equal(others[i].place, i + 2);
        assert_false(ran_here(&others[i]));
    }
    // They were answered together, so they are expected together: the next to come waits for them.
    struct noted next;
    noted_init(&next);
    assert_true(engine_run(world.engine, &next.job));
    assert_false(ran_here(&next));
    assert_int_equal(sem_destroy(&go), 0);
    assert_int_equal(sem_destroy(&running), 0);
    assert_int_equal(sem_destroy(&ended), 0);
    world_close(&world);
}

struct caller {
    struct world *world;
    pthread_t thread;
    unsigned number;
};

static void *put_many(void *argument)
{
    struct caller *caller = argument;
    struct world own = *caller->world; // the engine is shared, the arena is not
    arena_init(&own.arena, LIMIT_REQUEST_MEMORY);
    error_init(&own.error, &own.arena);
    char hash[32];
    char range[32];
    (void)snprintf(hash, sizeof(hash), "pk=%u", caller->number);
    for (unsigned i = 0; i < CALLS; i++) {
        (void)snprintf(range, sizeof(range), "sk=%u", i);
        assert_true(put_item(&own, "music", item_of(&own, "g=g", hash, range, NULL)));
    }
    arena_release(&own.arena);
    return NULL;
}

// However the role goes round, every write is done once and counted once.
static void test_many_callers(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    create_table(&world, "music", true, false);
    struct caller callers[CALLERS];
    for (unsigned i = 0; i < CALLERS; i++) {
        callers[i] = (struct caller){.world = &world, .number = i};
        assert_int_equal(pthread_create(&callers[i].thread, NULL, put_many, &callers[i]), 0);
    }
    for (unsigned i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_join(callers[i].thread, NULL), 0);
    struct engine_stats stats;
    engine_stats(world.engine, &stats);
    assert_int_equal(stats.jobs, CALLERS * CALLS + 1);
    struct table *table = engine_table(world.engine, SLICE_LIT("music"));
    assert_non_null(table);
    assert_int_equal(table->stats->items, CALLERS * CALLS);
    table_release(table);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lone_caller_leads),
        cmocka_unit_test(test_beside_never_leads),
        cmocka_unit_test(test_others_wait),
        cmocka_unit_test(test_many_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
