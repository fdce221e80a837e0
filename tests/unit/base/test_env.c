// Ids by the clock: in order within a millisecond, when the clock goes back, and among threads.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/env.h"

#include <stdlib.h>
#include <string.h>

enum { NOW = 1700000000, MANY = 20000, THREADS = 4 };

static const int64_t now_ms = 1000LL * NOW;

static void test_within_a_millisecond(void **state)
{
    (void)state;
    struct env_fixed clock = {.now_ms = now_ms, .seed = 3};
    struct env_ids ids;
    struct env env = env_fixed(&clock);
    char last[27] = "";
    char id[27];
    env_ids_init(&ids);
    env.ids = &ids;
    for (int i = 0; i < MANY; i++) {
        env_ulid(&env, env_now(&env), id);
        assert_int_equal(strlen(id), 26);
        assert_int_equal(strspn(id, "0123456789ABCDEFGHJKMNPQRSTVWXYZ"), 26);
        assert_memory_equal(id, "01HF7YAT00", 10); // the time
        assert_true(strcmp(last, id) < 0);
        memcpy(last, id, sizeof(last));
    }
    // A little later, and a little earlier.
    const int64_t moves[] = {1, -1, -30000, 7, -59000, 30001};
    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
        env_ulid(&env, now_ms + moves[i], id);
        assert_true(strcmp(last, id) < 0);
        memcpy(last, id, sizeof(last));
    }
    // Whoever puts the clock back by an hour means it.
    env_ulid(&env, now_ms - 3600 * 1000, id);
    assert_true(strcmp(last, id) > 0);
    assert_memory_equal(id, "01HF7TWYC0", 10);
    env_ids_release(&ids);
}

static void test_chance_is_used_up(void **state)
{
    (void)state;
    struct env_fixed clock = {.now_ms = now_ms, .seed = 3};
    struct env_ids ids;
    struct env env = env_fixed(&clock);
    char last[27];
    char id[27];
    env_ids_init(&ids);
    env.ids = &ids;
    env_ulid(&env, now_ms, last);
    ids.high = 0xffff;
    ids.low = UINT64_MAX - 1;
    env_ulid(&env, now_ms, id);
    assert_true(strcmp(last, id) < 0);
    assert_memory_equal(id, "01HF7YAT01", 10);
    env_ids_release(&ids);
}

struct drawer {
    const struct env *env;
    char (*ids)[27];
};

static void *draw(void *context)
{
    const struct drawer *drawer = context;
    for (int i = 0; i < MANY; i++)
        env_ulid(drawer->env, now_ms, drawer->ids[i]);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void test_threads(void **state)
{
    (void)state;
    struct env_fixed clock = {.now_ms = now_ms, .seed = 3};
    struct env_ids ids;
    struct env env = env_fixed(&clock);
    pthread_t threads[THREADS];
    struct drawer drawers[THREADS];
    char(*all)[27] = calloc((size_t)THREADS * MANY, sizeof(*all));
    assert_non_null(all);
    env_ids_init(&ids);
    env.ids = &ids;
    for (int i = 0; i < THREADS; i++) {
        drawers[i] = (struct drawer){&env, &all[(size_t)i * MANY]};
        assert_int_equal(pthread_create(&threads[i], NULL, draw, &drawers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++)
        for (int k = 1; k < MANY; k++)
            assert_true(strcmp(drawers[i].ids[k - 1], drawers[i].ids[k]) < 0);
    qsort(all, (size_t)THREADS * MANY, sizeof(*all), compare);
    for (size_t i = 1; i < (size_t)THREADS * MANY; i++)
        assert_true(strcmp(all[i - 1], all[i]) < 0);
    free(all);
    env_ids_release(&ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_within_a_millisecond),
        cmocka_unit_test(test_chance_is_used_up),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
