// Arenas, bufs and slices: budgets and maxima hold, and failing leaves no damage.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"

static void test_arena_alignment(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    for (size_t size = 0; size < 3000; size += 7) {
        uint8_t *memory = arena_alloc(&arena, size);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 16, 0);
        memset(memory, 0xaa, size);
    }
    arena_release(&arena);
    assert_int_equal(arena.used, 0);
}

static void test_arena_budget(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 100000);
    size_t total = 0;
    while (arena_alloc(&arena, 1000) != NULL)
        total += 1000;
    assert_true(total > 30000 && total <= 100000);
    assert_true(arena.used <= 100000);
    // An arena that is full for large pieces may still have room for small ones.
    assert_null(arena_alloc(&arena, 1 << 20));
    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_null(arena_alloc(&arena, SIZE_MAX / 2));
    assert_null(arena_zalloc(&arena, SIZE_MAX / 2, 4));
    arena_release(&arena);
    assert_non_null(arena_alloc(&arena, 1000));
    arena_release(&arena);

    arena_init(&arena, 0);
    assert_null(arena_alloc(&arena, 1));
    assert_null(arena_copy(&arena, SLICE_LIT("x")).ptr);
    assert_null(arena_printf(&arena, "%d", 1));
    arena_release(&arena);
}

static void test_arena_reset(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    void *first = arena_alloc(&arena, 100);
    arena_reset(&arena);
    assert_ptr_equal(arena_alloc(&arena, 100), first);
    size_t used = arena.used;
    for (int i = 0; i < 100; i++) {
        arena_reset(&arena);
        for (int k = 0; k < 30; k++)
            assert_non_null(arena_alloc(&arena, 100));
    }
    assert_int_equal(arena.used, used);
    // A chunk of unusual size is given back, so that one large request leaves no trace.
    assert_non_null(arena_alloc(&arena, 600000));
    arena_reset(&arena);
    assert_int_equal(arena.used, 0);
    arena_release(&arena);
}

static void test_arena_helpers(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct slice copy = arena_copy(&arena, SLICE_LIT("hello"));
    assert_int_equal(copy.len, 5);
    assert_string_equal((const char *)copy.ptr, "hello");
    copy = arena_copy(&arena, slice_of(NULL, 0));
    assert_non_null(copy.ptr);
    assert_int_equal(copy.ptr[0], 0);
    assert_string_equal(arena_printf(&arena, "%s-%d", "a", 7), "a-7");
    const uint8_t *zeroed = arena_zalloc(&arena, 10, 10);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(zeroed[i], 0);
    arena_release(&arena);
}

static void test_buf_appends(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 1 << 20);
    buf_text(&buf, "n=");
    buf_u64(&buf, UINT64_MAX);
    buf_byte(&buf, ' ');
    buf_i64(&buf, INT64_MIN);
    buf_add(&buf, NULL, 0);
    buf_printf(&buf, " %s", "end");
    buf_u64(&buf, 0);
    assert_true(slice_is(buf_view(&buf), "n=18446744073709551615 -9223372036854775808 end0"));
    buf_clear(&buf);
    for (unsigned i = 0; i < 10000; i++)
        buf_byte(&buf, (uint8_t)i);
    assert_int_equal(buf.len, 10000);
    for (unsigned i = 0; i < 10000; i++)
        assert_int_equal(buf.ptr[i], (uint8_t)i);
    buf_release(&buf);
    assert_null(buf.ptr);
}

static void test_buf_max(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 20);
    buf_text(&buf, "123456789012345678");
    assert_false(buf.failed);
    // What does not fit is left out whole, and so is everything after it.
    buf_text(&buf, "abc");
    assert_true(buf.failed);
    assert_int_equal(buf.len, 18);
    buf_byte(&buf, 'x');
    assert_int_equal(buf.len, 18);
    buf_clear(&buf);
    assert_false(buf.failed);
    buf_text(&buf, "12345678901234567890");
    assert_false(buf.failed);
    assert_int_equal(buf.len, 20);
    buf_release(&buf);

    // A small maximum holds as well, and nothing fits into a buf of none.
    for (size_t max = 0; max < 20; max++) {
        buf_init(&buf, max);
        for (size_t i = 0; i < max; i++)
            buf_byte(&buf, 'x');
        assert_false(buf.failed);
        assert_non_null(buf_reserve(&buf, 0));
        assert_true(buf.cap <= max);
        buf_byte(&buf, 'x');
        assert_true(buf.failed);
        assert_int_equal(buf.len, max);
        buf_release(&buf);
    }

    buf_init(&buf, 100);
    assert_null(buf_reserve(&buf, SIZE_MAX));
    assert_true(buf.failed);
    buf_release(&buf);
}

static void test_slices(void **state)
{
    (void)state;
    struct slice none = slice_of(NULL, 0);
    assert_true(slice_equal(none, SLICE_LIT("")));
    assert_false(slice_equal(SLICE_LIT("a"), SLICE_LIT("ab")));
    assert_true(slice_compare(SLICE_LIT("a"), SLICE_LIT("ab")) < 0);
    assert_true(slice_compare(SLICE_LIT("b"), SLICE_LIT("ab")) > 0);
    assert_true(slice_compare(SLICE_LIT("\xff"), SLICE_LIT("a")) > 0);
    assert_int_equal(slice_compare(none, none), 0);
    assert_true(slice_begins(SLICE_LIT("abc"), SLICE_LIT("ab")));
    assert_true(slice_begins(SLICE_LIT("abc"), none));
    assert_false(slice_begins(SLICE_LIT("a"), SLICE_LIT("ab")));
    assert_true(slice_contains(SLICE_LIT("abc"), SLICE_LIT("bc")));
    assert_true(slice_contains(none, none));
    assert_false(slice_contains(SLICE_LIT("abc"), SLICE_LIT("cb")));
    assert_false(slice_contains(none, SLICE_LIT("a")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena_alignment), cmocka_unit_test(test_arena_budget),
        cmocka_unit_test(test_arena_reset),     cmocka_unit_test(test_arena_helpers),
        cmocka_unit_test(test_buf_appends),     cmocka_unit_test(test_buf_max),
        cmocka_unit_test(test_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
