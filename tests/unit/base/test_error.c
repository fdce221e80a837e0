// Errors and env: the first error wins, every row is complete, identifiers replay.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/env.h"
#include "base/error.h"

static void test_first_error_wins(void **state)
{
    (void)state;
    struct arena arena;
    struct error error;
    arena_init(&arena, 1 << 16);
    error_init(&error, &arena);
    assert_int_equal(error.code, ERR_NONE);
    assert_false(error_validation(&error, "bad %s %d", "thing", 3));
    assert_false(error_set(&error, ERR_INTERNAL, "later"));
    assert_false(error_budget(&error));
    assert_int_equal(error.code, ERR_VALIDATION);
    assert_string_equal(error.message, "bad thing 3");
    arena_release(&arena);
}

static void test_error_without_memory(void **state)
{
    (void)state;
    struct arena arena;
    struct error error;
    arena_init(&arena, 0);
    error_init(&error, &arena);
    assert_false(error_set(&error, ERR_THROTTLING, "no room for this"));
    assert_int_equal(error.code, ERR_THROTTLING);
    assert_non_null(error.message);
    error_init(&error, &arena);
    assert_false(error_budget(&error));
    assert_int_equal(error.code, ERR_BUDGET);
    arena_release(&arena);
}

static void test_rows(void **state)
{
    (void)state;
    for (int code = ERR_NONE + 1; code < ERR_COUNT; code++) {
        const struct error_row *row = error_row((enum error_code)code);
        assert_non_null(row->name);
        const char *hash = strchr(row->type, '#');
        assert_non_null(hash);
        assert_string_equal(hash + 1, row->name);
        assert_true(row->status == 400 || row->status == 500 || row->status == 503);
    }
    const struct error_row *row = error_row(ERR_VALIDATION);
    assert_string_equal(row->type, "com.amazon.coral.validate#ValidationException");
    assert_int_equal(row->status, 400);
    assert_false(row->retryable);
    assert_true(error_row(ERR_THROTTLING)->retryable);
}

static void assert_uuid(const char *uuid)
{
    assert_int_equal(strlen(uuid), 36);
    for (size_t i = 0; i < 36; i++) {
        if (i == 8 || i == 13 || i == 18 || i == 23)
            assert_int_equal(uuid[i], '-');
        else
            assert_non_null(strchr("0123456789abcdef", uuid[i]));
    }
    assert_int_equal(uuid[14], '4');
    assert_non_null(strchr("89ab", uuid[19]));
}

static void test_uuid(void **state)
{
    (void)state;
    struct env_fixed one = {.now_ms = 5, .seed = 1};
    struct env_fixed same = {.now_ms = 5, .seed = 1};
    struct env env_one = env_fixed(&one);
    struct env env_same = env_fixed(&same);
    struct env env_real = env_system();
    char a[37];
    char b[37];
    env_uuid(&env_one, a);
    env_uuid(&env_same, b);
    assert_uuid(a);
    assert_string_equal(a, b);
    env_uuid(&env_one, b);
    assert_uuid(b);
    assert_string_not_equal(a, b);
    env_uuid(&env_real, a);
    env_uuid(&env_real, b);
    assert_uuid(a);
    assert_string_not_equal(a, b);
}

static void test_clock(void **state)
{
    (void)state;
    struct env_fixed fixed = {.now_ms = 1000};
    struct env env = env_fixed(&fixed);
    assert_int_equal(env_now(&env), 1000);
    fixed.now_ms += 500;
    assert_int_equal(env_now(&env), 1500);
    // The real clock is somewhere behind the year 2020.
    env = env_system();
    assert_true(env_now(&env) > 1577836800000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_error_wins),
        cmocka_unit_test(test_error_without_memory),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_uuid),
        cmocka_unit_test(test_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
