// The pool: tasks take turns, slice by slice; the queue has an end; a task that is done is let go.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/pool.h"

#include <pthread.h>
#include <stdlib.h>

// What the tasks of a test share. With one thread in the pool their slices have an order.
struct scene {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open;  // the gate
    size_t len; // of the record
    char record[64];
    size_t ended;
};

struct turn {
    struct pool_task task; // first
    struct scene *scene;
    char name;
    size_t slices; // that are left
};

static void scene_init(struct scene *scene)
{
    *scene = (struct scene){.open = false};
    ensure(pthread_mutex_init(&scene->lock, NULL) == 0);
    ensure(pthread_cond_init(&scene->changed, NULL) == 0);
}

// Keeps the thread until the gate is open.
static bool run_gate(struct pool_task *task)
{
    struct scene *scene = ((struct turn *)task)->scene;
    ensure(pthread_mutex_lock(&scene->lock) == 0);
    while (!scene->open)
        ensure(pthread_cond_wait(&scene->changed, &scene->lock) == 0);
    ensure(pthread_mutex_unlock(&scene->lock) == 0);
    return true;
}

static bool run_turn(struct pool_task *task)
{
    struct turn *turn = (struct turn *)task;
    struct scene *scene = turn->scene;
    ensure(pthread_mutex_lock(&scene->lock) == 0);
    if (scene->len < sizeof(scene->record))
        scene->record[scene->len++] = turn->name;
    bool done = --turn->slices == 0;
    if (done) {
        scene->ended++;
        ensure(pthread_cond_signal(&scene->changed) == 0);
    }
    ensure(pthread_mutex_unlock(&scene->lock) == 0);
    return done;
}

static void open_gate(struct scene *scene)
{
    ensure(pthread_mutex_lock(&scene->lock) == 0);
    scene->open = true;
    ensure(pthread_cond_signal(&scene->changed) == 0);
    ensure(pthread_mutex_unlock(&scene->lock) == 0);
}

static void wait_for(struct scene *scene, size_t ended)
{
    ensure(pthread_mutex_lock(&scene->lock) == 0);
    while (scene->ended < ended)
        ensure(pthread_cond_wait(&scene->changed, &scene->lock) == 0);
    ensure(pthread_mutex_unlock(&scene->lock) == 0);
}

static void test_turns(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    struct pool *pool = pool_new(1);
    struct turn gate = {.task = {.run = run_gate}, .scene = &scene};
    struct turn turns[] = {
        {.task = {.run = run_turn}, .scene = &scene, .name = 'a', .slices = 4},
        {.task = {.run = run_turn}, .scene = &scene, .name = 'b', .slices = 1},
        {.task = {.run = run_turn}, .scene = &scene, .name = 'c', .slices = 2},
    };
    assert_true(pool_submit(pool, &gate.task));
    for (size_t i = 0; i < COUNT_OF(turns); i++)
        assert_true(pool_submit(pool, &turns[i].task));
    open_gate(&scene);
    wait_for(&scene, COUNT_OF(turns));
    assert_int_equal(scene.len, 7);
    assert_memory_equal(scene.record, "abcacaa", 7);
    struct pool_stats stats;
    pool_stats(pool, &stats);
    assert_int_equal(stats.tasks, 4);
    assert_int_equal(stats.slices, 8);
    assert_int_equal(stats.waiting, 0);
    pool_free(pool);
}

static void test_full(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    struct pool *pool = pool_new(1);
    struct turn gate = {.task = {.run = run_gate}, .scene = &scene};
    struct turn *turns = calloc(POOL_WAITING_MAX + 2, sizeof(*turns));
    assert_non_null(turns);
    assert_true(pool_submit(pool, &gate.task));
    size_t taken = 0;
    // The gate may still be in the queue, or not any more.
    for (; taken < POOL_WAITING_MAX + 2; taken++) {
        turns[taken] =
            (struct turn){.task = {.run = run_turn}, .scene = &scene, .name = 'x', .slices = 1};
        if (!pool_submit(pool, &turns[taken].task))
            break;
    }
    assert_true(taken == POOL_WAITING_MAX || taken == POOL_WAITING_MAX - 1);
    open_gate(&scene);
    wait_for(&scene, taken);
    pool_free(pool);
    free(turns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
