// The sketch of heavy keys: exact as long as there is room, and right about the heaviest beyond it.
#include "call/insights_sketch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void count_times(struct sketch *sketch, const char *key, size_t times)
{
    for (size_t i = 0; i < times; i++)
        sketch_count(sketch, slice_str(key));
}

static void test_exact(void **state)
{
    (void)state;
    struct sketch_row rows[8];
    struct sketch_memory memory;
    struct sketch made;
    struct sketch *sketch = &made;
    sketch_memory_init(&memory, NULL);
    sketch_init(sketch, 4, &memory);
    assert_int_equal(sketch_top(sketch, rows, 8), 0);
    count_times(sketch, "b", 3);
    count_times(sketch, "a", 5);
    count_times(sketch, "c", 3);
    count_times(sketch, "", 1);
    assert_int_equal(sketch_top(sketch, rows, 8), 4);
    assert_true(slice_is(rows[0].key, "a"));
    assert_int_equal(rows[0].count, 5);
    assert_true(slice_is(rows[1].key, "b") && slice_is(rows[2].key, "c"));
    assert_int_equal(rows[3].key.len, 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(rows[i].error, 0);
    assert_int_equal(sketch_top(sketch, rows, 2), 2);
    assert_int_equal(sketch_total(sketch), 12);
    sketch_release(sketch);
    assert_int_equal(memory.used, 0);
}

static void test_takes_over_the_smallest(void **state)
{
    (void)state;
    struct sketch_row rows[2];
    struct sketch_memory memory;
    struct sketch made;
    struct sketch *sketch = &made;
    sketch_memory_init(&memory, NULL);
    sketch_init(sketch, 2, &memory);
    count_times(sketch, "heavy", 10);
    count_times(sketch, "light", 2);
    count_times(sketch, "new", 1);
    assert_int_equal(sketch_top(sketch, rows, 2), 2);
    assert_true(slice_is(rows[0].key, "heavy"));
    assert_true(slice_is(rows[1].key, "new"));
    assert_int_equal(rows[1].count, 3);
    assert_int_equal(rows[1].error, 2);
    sketch_release(sketch);
    assert_int_equal(memory.used, 0);
}

// Keys in proportion to a power law, and ten times as many of them as there are counters: every key
// with more than its share is found, no count is too low, and none is too high by more than its
// error.
static void test_stream(void **state)
{
    enum { KEYS = 640, HITS = 60000, FOUND = 1 << 30 };
    static uint64_t truth[KEYS];
    (void)state;
    struct sketch_memory memory;
    struct sketch made;
    struct sketch *sketch = &made;
    sketch_memory_init(&memory, NULL);
    sketch_init(sketch, 64, &memory);
    uint64_t random = 20260101;
    for (size_t i = 0; i < HITS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        double u = (double)(random >> 11) / 9007199254740992.0;
        size_t key = (size_t)((double)KEYS * u * u * u * u);
        char name[24];
        int len = snprintf(name, sizeof(name), "key-%zu", key);
        truth[key]++;
        sketch_count(sketch, slice_of(name, (size_t)len));
    }
    struct sketch_row rows[64];
    assert_int_equal(sketch_top(sketch, rows, 64), 64);
    for (size_t i = 0; i < 64; i++) {
        unsigned key;
        char name[24] = "";
        memcpy(name, rows[i].key.ptr, rows[i].key.len);
        assert_int_equal(sscanf(name, "key-%u", &key), 1);
        assert_true((truth[key] & FOUND) == 0 && rows[i].count >= truth[key]);
        assert_true(rows[i].count - rows[i].error <= truth[key]);
        truth[key] |= FOUND;
    }
    for (size_t i = 0; i < KEYS; i++)
        assert_true((truth[i] & FOUND) != 0 || truth[i] <= HITS / 64);
    sketch_release(sketch);
    assert_int_equal(memory.used, 0);
}

// An empty one takes nothing, and one with a key little.
static void test_grows_with_use(void **state)
{
    (void)state;
    struct sketch_memory memory;
    struct sketch sketch;
    sketch_memory_init(&memory, NULL);
    sketch_init(&sketch, 512, &memory);
    assert_int_equal(memory.used, 0);
    count_times(&sketch, "a", 100);
    assert_in_range(memory.used, 1, 1000);
    sketch_release(&sketch);
    assert_int_equal(memory.used, 0);
}

// With less memory than the keys need there are fewer counters; no count is too low, the heaviest
// are found, and the memory is kept to. Later there is more of it.
static void test_short_of_memory(void **state)
{
    (void)state;
    enum { KEYS = 400 };
    struct sketch_memory memory = {NULL, 4000, 0};
    struct sketch sketch;
    struct sketch_row rows[512];
    uint64_t truth[KEYS] = {0};
    sketch_init(&sketch, 512, &memory);
    for (size_t i = 0; i < 40000; i++) {
        // One more hit in four for key 0, and longer names for later keys.
        size_t key = i % 4 == 0 ? 0 : i * 7 % KEYS;
        char name[512];
        int len = snprintf(name, sizeof(name), "%zu %*s", key, (int)key, "");
        sketch_count(&sketch, slice_of(name, (size_t)len));
        truth[key]++;
        assert_true(memory.used <= memory.max);
        if (i == 20000)
            memory.max = 12000;
    }
    assert_int_equal(sketch_total(&sketch), 40000);
    size_t found = sketch_top(&sketch, rows, 512);
    assert_in_range(found, 8, 100);
    for (size_t i = 0; i < found; i++) {
        unsigned key;
        char name[16] = "";
        memcpy(name, rows[i].key.ptr, rows[i].key.len < 15 ? rows[i].key.len : 15);
        assert_int_equal(sscanf(name, "%u", &key), 1);
        assert_true(rows[i].count >= truth[key]);
        assert_true(rows[i].count - rows[i].error <= truth[key]);
    }
    sketch_release(&sketch);
    assert_int_equal(memory.used, 0);
}

static void test_no_memory_at_all(void **state)
{
    (void)state;
    struct sketch_memory memory = {NULL, 0, 0};
    struct sketch sketch;
    struct sketch_row row;
    sketch_init(&sketch, 512, &memory);
    count_times(&sketch, "a", 3);
    assert_int_equal(sketch_total(&sketch), 3);
    assert_int_equal(sketch_top(&sketch, &row, 1), 0);
    memory.max = 10000;
    count_times(&sketch, "a", 2);
    assert_int_equal(sketch_top(&sketch, &row, 1), 1);
    assert_int_equal(row.count, 5);
    assert_int_equal(row.error, 3);
    sketch_release(&sketch);
}

// It leaves the budget to requests once half of it is used, and gives back what it took.
static void test_budget(void **state)
{
    (void)state;
    struct budget budget;
    struct sketch_memory memory;
    struct budget_account other = {.budget = &budget};
    budget_init(&budget, 1 << 20);
    sketch_memory_init(&memory, &budget);
    assert_true(sketch_take(&memory, 128 << 10));
    assert_false(sketch_take(&memory, 1));
    assert_int_equal(budget.by_kind[BUDGET_INSIGHTS], 128 << 10);
    sketch_give(&memory, 128 << 10);
    assert_true(budget_take(&other, BUDGET_CALLS, 600 << 10));
    assert_false(sketch_take(&memory, 1));
    assert_int_equal(budget_refused(&budget), 0);
    budget_give(&other, BUDGET_CALLS, 600 << 10);
    assert_int_equal(budget.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),           cmocka_unit_test(test_takes_over_the_smallest),
        cmocka_unit_test(test_stream),          cmocka_unit_test(test_grows_with_use),
        cmocka_unit_test(test_short_of_memory), cmocka_unit_test(test_no_memory_at_all),
        cmocka_unit_test(test_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
