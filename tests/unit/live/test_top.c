// The first N of an ordered result: entries stay in order, both ways, and only what belongs among
// the first is admitted.
#include "live/live_internal.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void id_of(unsigned number, uint8_t id[16])
{
    memset(id, 0, 16);
    memcpy(id, &number, sizeof(number));
}

static void insert(struct top *top, uint8_t place)
{
    uint8_t id[16];
    id_of(place, id);
    assert_true(top_insert(top, slice_of(&place, 1), id));
}

static bool admits(const struct top *top, uint8_t place)
{
    return top_admits(top, slice_of(&place, 1));
}

static void assert_places(const struct top *top, const char *places)
{
    assert_int_equal(top->count, strlen(places));
    for (size_t i = 0; i < top->count; i++)
        assert_int_equal(top->entries[i].place[0], places[i]);
}

static void test_order(void **state)
{
    (void)state;
    struct top top = {.limit = 100};
    for (const char *at = "hbxacz"; *at != 0; at++)
        insert(&top, (uint8_t)*at);
    assert_places(&top, "abchxz");
    top_remove(&top, 1);
    top_remove(&top, 4);
    assert_places(&top, "achx");
    top_clear(&top);
    assert_places(&top, "");
    top_release(&top);
}

static void test_reverse(void **state)
{
    (void)state;
    struct top top = {.limit = 3, .reverse = true};
    for (const char *at = "bca"; *at != 0; at++)
        insert(&top, (uint8_t)*at);
    assert_places(&top, "cba");
    assert_true(admits(&top, 'd'));
    assert_true(admits(&top, 'b'));
    assert_false(admits(&top, 'A'));
    top_release(&top);
}

static void test_admission(void **state)
{
    (void)state;
    struct top top = {.limit = 2};
    assert_true(admits(&top, 'z'));
    insert(&top, 'm');
    assert_true(admits(&top, 'z'));
    insert(&top, 'p');
    assert_true(admits(&top, 'n'));
    assert_false(admits(&top, 'p'));
    assert_false(admits(&top, 'q'));
    top_release(&top);
}

static void test_finding(void **state)
{
    (void)state;
    struct top top = {.limit = 1000};
    uint8_t id[16];
    size_t at;
    for (unsigned i = 0; i < 200; i++)
        insert(&top, (uint8_t)(255 - i));
    for (unsigned i = 0; i < 200; i++) {
        id_of(255 - i, id);
        assert_true(top_find(&top, id, &at));
        assert_int_equal(top.entries[at].place[0], 255 - i);
        assert_int_equal(at, 199 - i);
    }
    id_of(3, id);
    assert_false(top_find(&top, id, &at));
    top_release(&top);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_reverse),
        cmocka_unit_test(test_admission),
        cmocka_unit_test(test_finding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
