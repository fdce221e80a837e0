// The sketch of heavy keys: exact as long as there is room, and right about the heaviest beyond it.
#include "api/insights_sketch.h"

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
    struct sketch *sketch = sketch_new(4);
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
    sketch_free(sketch);
}

static void test_takes_over_the_smallest(void **state)
{
    (void)state;
    struct sketch_row rows[2];
    struct sketch *sketch = sketch_new(2);
    count_times(sketch, "heavy", 10);
    count_times(sketch, "light", 2);
    count_times(sketch, "new", 1);
    assert_int_equal(sketch_top(sketch, rows, 2), 2);
    assert_true(slice_is(rows[0].key, "heavy"));
    assert_true(slice_is(rows[1].key, "new"));
    assert_int_equal(rows[1].count, 3);
    assert_int_equal(rows[1].error, 2);
    sketch_free(sketch);
}

// Keys in proportion to a power law, and ten times as many of them as there are counters: every key
// with more than its share is found, no count is too low, and none is too high by more than its
// error.
static void test_stream(void **state)
{
    enum { KEYS = 640, HITS = 60000, FOUND = 1 << 30 };
    static uint64_t truth[KEYS];
    (void)state;
    struct sketch *sketch = sketch_new(64);
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
    sketch_free(sketch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_takes_over_the_smallest),
        cmocka_unit_test(test_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
