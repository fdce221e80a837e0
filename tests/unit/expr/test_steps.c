// What programs cost: the steps they count grow with the item and with the program, never with the
// product of the two, and places are found as if each had been looked up alone.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "expr/fixture.h"
#include "expr/naive.h"
#include "value/path.h"

#include <stdio.h>

enum { WIDE = 20000, MANY = 1000 };

// {a00000=1, a00001=1, …}
static struct slice wide_item(struct buf *out)
{
    struct value_builder builder;
    buf_init(out, 4 << 20);
    value_builder_init(&builder, out);
    value_open_map(&builder);
    for (size_t i = 0; i < WIDE; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "a%05zu", i);
        value_name(&builder, slice_str(name));
        value_put_null(&builder);
    }
    assert_true(value_close(&builder));
    value_builder_release(&builder);
    return buf_view(out);
}

// {l=[NULL, …]}, with `count` elements
static struct slice long_list(struct buf *out, size_t count)
{
    struct value_builder builder;
    buf_init(out, 4 << 20);
    value_builder_init(&builder, out);
    value_open_map(&builder);
    value_name(&builder, SLICE_LIT("l"));
    value_open_list(&builder);
    for (size_t i = 0; i < count; i++)
        value_put_null(&builder);
    assert_true(value_close(&builder));
    assert_true(value_close(&builder));
    value_builder_release(&builder);
    return buf_view(out);
}

static struct slice text_of(struct fixture *fixture, const char *head, const char *each,
                            size_t count, const char *between)
{
    struct buf text;
    buf_init(&text, 1 << 16);
    buf_text(&text, head);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_text(&text, between);
        for (const char *at = each; *at != '\0'; at++) {
            if (*at == '@')
                buf_u64(&text, i);
            else
                buf_byte(&text, (uint8_t)*at);
        }
    }
    struct slice copy = arena_copy(&fixture->arena, buf_view(&text));
    buf_release(&text);
    return copy;
}

static void test_missing_names(void **state)
{
    (void)state;
    struct fixture fixture;
    struct buf out;
    fixture_init(&fixture);
    struct slice item = wide_item(&out);
    assert_true(fixture_begin(&fixture));
    struct slice text = text_of(&fixture, "", "attribute_not_exists(b@)", 100, " AND ");
    struct expr_condition *condition = expr_compile_condition(&fixture.params, text, EXPR_FILTER);
    assert_non_null(condition);
    struct steps steps = {0};
    assert_true(expr_condition_eval(condition, item, &steps));
    // The item once, and each operand.
    assert_in_range(steps.taken, WIDE, WIDE + 2 * 100);
    text = text_of(&fixture, "", "b@", 500, ", ");
    struct expr_projection *projection = expr_compile_projection(&fixture.params, text);
    assert_non_null(projection);
    struct buf projected;
    struct value_builder builder;
    buf_init(&projected, 1 << 16);
    value_builder_init(&builder, &projected);
    steps.taken = 0;
    expr_project(projection, item, &builder, &steps);
    assert_in_range(steps.taken, WIDE, WIDE + 2 * 500);
    value_builder_release(&builder);
    buf_release(&projected);
    buf_release(&out);
    fixture_release(&fixture);
}

// A walk ends with the last name that is asked for.
static void test_first_name_is_cheap(void **state)
{
    (void)state;
    struct fixture fixture;
    struct buf out;
    fixture_init(&fixture);
    struct slice item = wide_item(&out);
    assert_true(fixture_begin(&fixture));
    struct expr_condition *condition = expr_compile_condition(
        &fixture.params, slice_str("attribute_exists(a00001)"), EXPR_CONDITION);
    struct steps steps = {0};
    assert_true(expr_condition_eval(condition, item, &steps));
    assert_in_range(steps.taken, 1, 4);
    buf_release(&out);
    fixture_release(&fixture);
}

static void test_elements_are_counted(void **state)
{
    (void)state;
    struct fixture fixture;
    struct buf out;
    fixture_init(&fixture);
    fixture.values = fixture_value(&fixture, "{:x=1}");
    struct slice item = long_list(&out, 10000);
    assert_true(fixture_begin(&fixture));
    struct slice text = text_of(&fixture, "", "contains(l, :x)", 50, " OR ");
    struct expr_condition *condition = expr_compile_condition(&fixture.params, text, EXPR_FILTER);
    assert_non_null(condition);
    struct steps steps = {0};
    assert_false(expr_condition_eval(condition, item, &steps));
    assert_true(steps.taken >= 50 * 10000);
    // With a limit it stops at the first test behind it.
    struct steps limited = {.limit = 100000};
    (void)expr_condition_eval(condition, item, &limited);
    assert_true(steps_over(&limited));
    assert_in_range(limited.taken, 100000, 130000);
    buf_release(&out);
    fixture_release(&fixture);
}

static void test_text_is_counted(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    assert_true(fixture_begin(&fixture));
    uint8_t *bytes = arena_zalloc(&fixture.arena, 1, 80000);
    assert_non_null(bytes);
    struct buf out;
    struct value_builder builder;
    buf_init(&out, 1 << 20);
    value_builder_init(&builder, &out);
    value_open_map(&builder);
    value_name(&builder, SLICE_LIT("s"));
    value_put_string(&builder, slice_of(bytes, 80000));
    value_name(&builder, SLICE_LIT("t"));
    value_put_string(&builder, slice_of(bytes, 80000));
    assert_true(value_close(&builder));
    static const struct {
        const char *text;
        size_t least;
    } cases[] = {{"size(s) = size(t)", 40000},
                 {"contains(s, t)", 80000},
                 {"s = t", 1250},
                 {"s <= t", 1250},
                 {"begins_with(s, t)", 1250}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct expr_condition *condition =
            expr_compile_condition(&fixture.params, slice_str(cases[i].text), EXPR_FILTER);
        struct steps steps = {0};
        assert_true(expr_condition_eval(condition, buf_view(&out), &steps));
        assert_in_range(steps.taken, cases[i].least, cases[i].least + 100);
    }
    value_builder_release(&builder);
    buf_release(&out);
    fixture_release(&fixture);
}

// New values that cannot fit an item end the update before they are all made.
static void test_growing_update(void **state)
{
    (void)state;
    struct fixture fixture;
    struct buf out;
    fixture_init(&fixture);
    struct slice item = long_list(&out, 100000);
    static const char *const each[] = {"a@ = list_append(l, l)", "a@ = l"};
    for (size_t i = 0; i < COUNT_OF(each); i++) {
        assert_true(fixture_begin(&fixture));
        struct slice text = text_of(&fixture, "SET ", each[i], 100, ", ");
        struct expr_update *update = expr_compile_update(&fixture.params, text);
        assert_non_null(update);
        struct value_builder builder;
        struct buf made;
        buf_init(&made, 64 << 20);
        value_builder_init(&builder, &made);
        struct steps steps = {0};
        assert_false(
            expr_update_apply(update, item, &builder, &fixture.arena, &steps, &fixture.error));
        assert_string_equal(fixture_message(&fixture),
                            "Item size to update has exceeded the maximum allowed size");
        assert_true(steps.taken < 10 * 100000);
        assert_int_equal(made.len, 0);
        value_builder_release(&builder);
        buf_release(&made);
    }
    buf_release(&out);
    fixture_release(&fixture);
}

// An update stops without an error when it is over its limit.
static void test_update_limit(void **state)
{
    (void)state;
    struct fixture fixture;
    struct buf out;
    fixture_init(&fixture);
    struct slice item = wide_item(&out);
    assert_true(fixture_begin(&fixture));
    struct expr_update *update =
        expr_compile_update(&fixture.params, slice_str("SET b = a19999, c = a19999"));
    struct value_builder builder;
    struct buf made;
    buf_init(&made, 64 << 20);
    value_builder_init(&builder, &made);
    struct steps steps = {.limit = 1000};
    assert_false(expr_update_apply(update, item, &builder, &fixture.arena, &steps, &fixture.error));
    assert_true(steps_over(&steps));
    assert_int_equal(fixture.error.code, ERR_NONE);
    value_builder_release(&builder);
    buf_release(&made);
    buf_release(&out);
    fixture_release(&fixture);
}

// IN of the old parameters takes what IN of expressions takes.
static void test_legacy_in(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    assert_true(fixture_begin(&fixture));
    struct slice one = fixture_value(&fixture, "1");
    struct slice list[LIMIT_IN_OPERANDS + 1];
    for (size_t i = 0; i < COUNT_OF(list); i++)
        list[i] = one;
    struct legacy_condition entry = {
        .attribute = SLICE_LIT("a"), .op = SLICE_LIT("IN"), .values = list, .has_list = true};
    entry.count = LIMIT_IN_OPERANDS;
    assert_non_null(expr_legacy_condition(&fixture.arena, &fixture.error, LEGACY_SCAN_FILTER, 1,
                                          &entry, false));
    entry.count = LIMIT_IN_OPERANDS + 1;
    assert_null(expr_legacy_condition(&fixture.arena, &fixture.error, LEGACY_SCAN_FILTER, 1, &entry,
                                      false));
    assert_string_equal(fixture_message(&fixture),
                        "One or more parameter values were invalid: Invalid number of argument(s) "
                        "for the IN ComparisonOperator");
    fixture_release(&fixture);
}

// ---- Against looking up each path alone ------------------------------------------------------

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static struct path random_path(struct fixture *fixture, uint32_t *seed)
{
    static const char *const names[] = {"a", "b", "c", "d", "k", "l", "m", "n", "s", "ss", "zz"};
    size_t count = 1 + next_random(seed) % 4;
    struct path_step *steps = arena_zalloc(&fixture->arena, count, sizeof(*steps));
    assert_non_null(steps);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && next_random(seed) % 2 == 0)
            steps[i].index = next_random(seed) % 4;
        else
            steps[i].name = slice_str(names[next_random(seed) % COUNT_OF(names)]);
    }
    return (struct path){steps, count};
}

static void test_places_against_lookups(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    uint32_t seed = 1;
    struct slice items[COUNT_OF(naive_items) + 2];
    for (size_t i = 0; i < COUNT_OF(naive_items); i++)
        items[i] = fixture_value(&fixture, naive_items[i]);
    items[COUNT_OF(naive_items)] =
        fixture_value(&fixture, "{a=[[1, 2], {b=[3]}, {}], b={a={a=1}, b=[], c=2}, m={k={n=5}}}");
    items[COUNT_OF(naive_items) + 1] = value_empty_map();
    size_t hits = 0;
    for (size_t round = 0; round < MANY; round++) {
        assert_true(fixture_begin(&fixture));
        struct path paths[32];
        size_t count = 1 + next_random(&seed) % COUNT_OF(paths);
        for (size_t i = 0; i < count; i++)
            paths[i] = random_path(&fixture, &seed);
        struct expr_paths *places = expr_paths_new(&fixture.arena, count, paths);
        assert_non_null(places);
        for (size_t k = 0; k < COUNT_OF(items); k++) {
            expr_paths_find(places, items[k], &(struct steps){0});
            for (size_t i = 0; i < count; i++) {
                struct slice found = expr_paths_value(places, i);
                struct slice wanted = path_get(items[k], paths[i]);
                assert_ptr_equal(found.ptr, wanted.ptr);
                assert_int_equal(found.len, wanted.len);
                hits += found.len > 0 && paths[i].count > 1;
            }
        }
        expr_paths_find(places, VALUE_NONE, &(struct steps){0});
        for (size_t i = 0; i < count; i++)
            assert_int_equal(expr_paths_value(places, i).len, 0);
    }
    assert_true(hits > 100);
    fixture_release(&fixture);
}

// An index finds nothing in a map, not even the entry without a name.
static void test_index_into_map(void **state)
{
    (void)state;
    struct fixture fixture;
    struct buf out;
    struct value_builder builder;
    fixture_init(&fixture);
    buf_init(&out, 4096);
    value_builder_init(&builder, &out);
    value_open_map(&builder);
    value_name(&builder, SLICE_LIT("m"));
    value_open_map(&builder);
    value_name(&builder, SLICE_LIT(""));
    value_put_null(&builder);
    assert_true(value_close(&builder));
    assert_true(value_close(&builder));
    struct path_step steps[] = {{.name = SLICE_LIT("m")}, {.index = 0}};
    struct path path = {steps, COUNT_OF(steps)};
    struct expr_paths *places = expr_paths_new(&fixture.arena, 1, &path);
    assert_non_null(places);
    expr_paths_find(places, buf_view(&out), &(struct steps){0});
    assert_int_equal(expr_paths_value(places, 0).len, 0);
    value_builder_release(&builder);
    buf_release(&out);
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_names),          cmocka_unit_test(test_first_name_is_cheap),
        cmocka_unit_test(test_elements_are_counted),   cmocka_unit_test(test_text_is_counted),
        cmocka_unit_test(test_growing_update),         cmocka_unit_test(test_update_limit),
        cmocka_unit_test(test_index_into_map),         cmocka_unit_test(test_legacy_in),
        cmocka_unit_test(test_places_against_lookups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
