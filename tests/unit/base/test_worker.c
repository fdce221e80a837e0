// The worker: when it works, when it does not, and how it ends.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/wait.h"
#include "base/worker.h"

#include <stdatomic.h>

enum { LONG_MS = 600000 };

// What the work of a test does.
struct scene {
    struct worker worker;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned begun;
    unsigned allowed;      // the work waits until it may come back so often
    int64_t begun_ns;      // when the last one was
    int64_t pause_ms;      // the work sleeps so long
    int64_t next_delay_ms; // and sets this pace, if one of them is not 0
    int64_t next_every_ms;
    _Atomic bool asks;        // and asks for another one
    _Atomic unsigned ended;   // of the work
    _Atomic unsigned cut_off; // pauses that the end cut short
};

static void scene_init(struct scene *scene)
{
    *scene = (struct scene){.allowed = UINT32_MAX};
    ensure(pthread_mutex_init(&scene->lock, NULL) == 0);
    wait_init(&scene->changed);
}

static void scene_release(struct scene *scene)
{
    ensure(pthread_cond_destroy(&scene->changed) == 0);
    ensure(pthread_mutex_destroy(&scene->lock) == 0);
}

static void scene_allow(struct scene *scene, unsigned allowed)
{
    ensure(pthread_mutex_lock(&scene->lock) == 0);
    scene->allowed = allowed;
    ensure(pthread_cond_broadcast(&scene->changed) == 0);
    ensure(pthread_mutex_unlock(&scene->lock) == 0);
}

// Waits until the work was begun so often; when the last one was.
static int64_t scene_await(struct scene *scene, unsigned begun)
{
    ensure(pthread_mutex_lock(&scene->lock) == 0);
    while (scene->begun < begun)
        ensure(pthread_cond_wait(&scene->changed, &scene->lock) == 0);
    int64_t ns = scene->begun_ns;
    ensure(pthread_mutex_unlock(&scene->lock) == 0);
    return ns;
}

static void work(void *context)
{
    struct scene *scene = context;
    ensure(pthread_mutex_lock(&scene->lock) == 0);
    unsigned number = ++scene->begun;
    scene->begun_ns = monotonic_ns();
    ensure(pthread_cond_broadcast(&scene->changed) == 0);
    while (number > scene->allowed)
        ensure(pthread_cond_wait(&scene->changed, &scene->lock) == 0);
    ensure(pthread_mutex_unlock(&scene->lock) == 0);
    if (atomic_exchange(&scene->asks, false))
        worker_ask(&scene->worker);
    if (scene->next_delay_ms > 0 || scene->next_every_ms > 0)
        worker_pace(&scene->worker, scene->next_delay_ms, scene->next_every_ms);
    if (scene->pause_ms > 0 && !worker_pause(&scene->worker, scene->pause_ms))
        scene->cut_off++;
    scene->ended++;
}

static void start(struct scene *scene, struct worker_plan plan)
{
    plan.work = work;
    plan.context = scene;
    worker_start(&scene->worker, &plan);
}

static void test_works_when_asked(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    start(&scene, (struct worker_plan){0});
    assert_true(worker_idle(&scene.worker));
    worker_wait(&scene.worker); // nothing to wait for
    for (unsigned i = 1; i <= 3; i++) {
        worker_ask(&scene.worker);
        worker_wait(&scene.worker);
        assert_true(worker_idle(&scene.worker));
        assert_int_equal(scene.ended, i);
    }
    assert_false(worker_stopping(&scene.worker));
    worker_stop(&scene.worker);
    assert_int_equal(scene.ended, 3);
    scene_release(&scene);
}

static void test_works_at_the_start_if_planned(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    start(&scene, (struct worker_plan){.asked = true});
    worker_wait(&scene.worker);
    assert_int_equal(scene.ended, 1);
    worker_stop(&scene.worker);
    scene_release(&scene);
}

// Many that ask meanwhile get one more doing, not many, and not none.
static void test_one_doing_for_all_who_ask_meanwhile(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    scene.allowed = 0;
    start(&scene, (struct worker_plan){.asked = true});
    (void)scene_await(&scene, 1);
    for (int i = 0; i < 10; i++)
        worker_ask(&scene.worker);
    assert_false(worker_idle(&scene.worker));
    scene_allow(&scene, UINT32_MAX);
    worker_wait(&scene.worker);
    assert_int_equal(scene.ended, 2);
    worker_stop(&scene.worker);
    scene_release(&scene);
}

static void test_the_work_may_ask_for_more(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    scene.asks = true;
    start(&scene, (struct worker_plan){.asked = true});
    worker_wait(&scene.worker);
    assert_int_equal(scene.ended, 2);
    worker_stop(&scene.worker);
    scene_release(&scene);
}

static void test_works_every_so_often(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    int64_t before = monotonic_ns();
    start(&scene, (struct worker_plan){.every_ms = 5});
    int64_t third = scene_await(&scene, 3);
    assert_true(third - before >= 15 * MILLISECOND_NS);
    worker_stop(&scene.worker);
    scene_release(&scene);
}

// Asking does not wait for the next time.
static void test_asked_in_between(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    start(&scene, (struct worker_plan){.every_ms = LONG_MS});
    worker_ask(&scene.worker);
    worker_wait(&scene.worker);
    assert_int_equal(scene.ended, 1);
    worker_stop(&scene.worker);
    scene_release(&scene);
}

static void test_a_delay_counts_from_the_first_who_asks(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    start(&scene, (struct worker_plan){.delay_ms = 20});
    int64_t before = monotonic_ns();
    worker_ask(&scene.worker);
    worker_ask(&scene.worker);
    assert_false(worker_idle(&scene.worker));
    assert_true(scene_await(&scene, 1) - before >= 20 * MILLISECOND_NS);
    worker_wait(&scene.worker);
    assert_int_equal(scene.ended, 1);
    worker_stop(&scene.worker);
    scene_release(&scene);
}

static void test_the_work_sets_the_pace(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    scene.next_every_ms = 1; // from never
    start(&scene, (struct worker_plan){.asked = true});
    (void)scene_await(&scene, 3);
    worker_stop(&scene.worker);
    scene_release(&scene);
    scene_init(&scene);
    scene.next_delay_ms = LONG_MS; // from at once
    start(&scene, (struct worker_plan){.asked = true});
    worker_wait(&scene.worker);
    worker_ask(&scene.worker);
    assert_false(worker_idle(&scene.worker));
    worker_stop(&scene.worker);
    assert_int_equal(scene.ended, 1);
    scene_release(&scene);
}

// ---- The end ---------------------------------------------------------------------------------

static void test_stops_while_it_waits(void **state)
{
    (void)state;
    static const struct worker_plan plans[] = {
        {.delay_ms = 0}, {.every_ms = LONG_MS}, {.delay_ms = LONG_MS, .asked = true}};
    for (size_t i = 0; i < COUNT_OF(plans); i++) {
        struct scene scene;
        scene_init(&scene);
        start(&scene, plans[i]);
        worker_stop(&scene.worker);
        assert_int_equal(scene.ended, 0);
        scene_release(&scene);
    }
}

static void test_drains(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    start(&scene, (struct worker_plan){.delay_ms = LONG_MS, .asked = true, .drains = true});
    worker_stop(&scene.worker); // does not wait for the delay
    assert_int_equal(scene.ended, 1);
    scene_release(&scene);
    scene_init(&scene);
    start(&scene, (struct worker_plan){.every_ms = LONG_MS, .drains = true});
    worker_stop(&scene.worker); // nobody has asked
    assert_int_equal(scene.ended, 0);
    scene_release(&scene);
}

static void *stop_main(void *scene)
{
    worker_stop(&((struct scene *)scene)->worker);
    return NULL;
}

// The end waits for what is being done; what was asked for meanwhile is done only if it drains.
static void test_stops_while_it_works(void **state)
{
    (void)state;
    for (int drains = 0; drains <= 1; drains++) {
        struct scene scene;
        pthread_t thread;
        scene_init(&scene);
        scene.allowed = 0;
        start(&scene, (struct worker_plan){.asked = true, .drains = drains == 1});
        (void)scene_await(&scene, 1);
        worker_ask(&scene.worker);
        ensure(pthread_create(&thread, NULL, stop_main, &scene) == 0);
        while (!worker_stopping(&scene.worker))
            sleep_ms(1);
        assert_int_equal(scene.ended, 0);
        scene_allow(&scene, UINT32_MAX);
        ensure(pthread_join(thread, NULL) == 0);
        assert_int_equal(scene.ended, 1 + drains);
        scene_release(&scene);
    }
}

static void test_a_pause_ends_at_once_at_the_end(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    scene.pause_ms = LONG_MS;
    start(&scene, (struct worker_plan){.asked = true});
    (void)scene_await(&scene, 1);
    worker_ask(&scene.worker); // does not end it
    worker_stop(&scene.worker);
    assert_int_equal(scene.cut_off, 1);
    assert_int_equal(scene.ended, 1);
    scene_release(&scene);
}

static void test_a_pause_takes_its_time(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    scene.pause_ms = 10;
    int64_t before = monotonic_ns();
    start(&scene, (struct worker_plan){.asked = true});
    worker_wait(&scene.worker);
    assert_true(monotonic_ns() - before >= 10 * MILLISECOND_NS);
    assert_int_equal(scene.cut_off, 0);
    worker_stop(&scene.worker);
    scene_release(&scene);
}

static void *wait_main(void *scene)
{
    worker_wait(&((struct scene *)scene)->worker);
    return NULL;
}

// Whoever waits for more than will be done, since the end has come, is not kept.
static void test_the_end_lets_waiters_go(void **state)
{
    (void)state;
    struct scene scene;
    pthread_t waiter;
    pthread_t stopper;
    scene_init(&scene);
    scene.allowed = 0;
    start(&scene, (struct worker_plan){.asked = true});
    (void)scene_await(&scene, 1);
    ensure(pthread_create(&waiter, NULL, wait_main, &scene) == 0);
    ensure(pthread_create(&stopper, NULL, stop_main, &scene) == 0);
    ensure(pthread_join(waiter, NULL) == 0);
    assert_int_equal(scene.ended, 0);
    scene_allow(&scene, UINT32_MAX);
    ensure(pthread_join(stopper, NULL) == 0);
    scene_release(&scene);
}

// A scene that outlives its test, as it must where the work does not come back.
static void test_leaves_work_that_does_not_come_back(void **state)
{
    (void)state;
    static struct scene scene;
    scene_init(&scene);
    scene.allowed = 0;
    start(&scene, (struct worker_plan){.asked = true});
    (void)scene_await(&scene, 1);
    assert_false(worker_stop_within(&scene.worker, 10));
    assert_int_equal(scene.ended, 0);
    scene_allow(&scene, UINT32_MAX);
    while (scene.ended == 0)
        sleep_ms(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_works_when_asked),
        cmocka_unit_test(test_works_at_the_start_if_planned),
        cmocka_unit_test(test_one_doing_for_all_who_ask_meanwhile),
        cmocka_unit_test(test_the_work_may_ask_for_more),
        cmocka_unit_test(test_works_every_so_often),
        cmocka_unit_test(test_asked_in_between),
        cmocka_unit_test(test_a_delay_counts_from_the_first_who_asks),
        cmocka_unit_test(test_the_work_sets_the_pace),
        cmocka_unit_test(test_stops_while_it_waits),
        cmocka_unit_test(test_drains),
        cmocka_unit_test(test_stops_while_it_works),
        cmocka_unit_test(test_a_pause_ends_at_once_at_the_end),
        cmocka_unit_test(test_a_pause_takes_its_time),
        cmocka_unit_test(test_the_end_lets_waiters_go),
        cmocka_unit_test(test_leaves_work_that_does_not_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
