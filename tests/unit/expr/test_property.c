// Random conditions, twice: as text through the compiler, and as a tree through a naive recursive
// evaluator (naive.h). And random token soup, which must never do worse than an error.
//
// Every run is replayed by its seed.
#include "expr/fixture.h"
#include "expr/naive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SEED = 20261115, CONDITIONS = 6000, SOUPS = 6000, TREE_DEPTH = 4, TEXT_MAX = 4096 };

// ---- A generator ---------------------------------------------------------------------------

static uint64_t random_next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static size_t random_below(uint64_t *seed, size_t bound)
{
    return (size_t)(random_next(seed) % bound);
}

// ---- Conditions -------------------------------------------------------------------------------

static size_t draw(void *source, size_t bound)
{
    return random_below(source, bound);
}

static void test_conditions(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    fixture.values = fixture_value(&fixture, naive_values);
    uint64_t seed = SEED;
    struct naive naive = {.values = fixture.values, .below = draw, .source = &seed};
    struct slice items[COUNT_OF(naive_items) + 1] = {VALUE_NONE};
    for (size_t i = 0; i < COUNT_OF(naive_items); i++)
        items[i + 1] = fixture_value(&fixture, naive_items[i]);
    buf_init(&naive.text, TEXT_MAX);
    size_t truths = 0;
    for (size_t i = 0; i < CONDITIONS; i++) {
        buf_clear(&naive.text);
        uint64_t begun = seed;
        naive.item = items[random_below(&seed, COUNT_OF(items))];
        bool expected = naive_condition(&naive, TREE_DEPTH);
        assert_false(naive.text.failed);
        assert_true(fixture_begin(&fixture));
        struct expr_condition *condition =
            expr_compile_condition(&fixture.params, buf_view(&naive.text), EXPR_FILTER);
        if (condition == NULL ||
            expr_condition_eval(condition, naive.item, &(struct steps){0}) != expected)
            fail_msg("seed %llu: %.*s: %s", (unsigned long long)begun,
                     SLICE_FMT(buf_view(&naive.text)), fixture_message(&fixture));
        truths += expected;
    }
    // Both outcomes must be common, or the test shows little.
    assert_in_range(truths, CONDITIONS / 5, CONDITIONS * 4 / 5);
    buf_release(&naive.text);
    fixture_release(&fixture);
}

// ---- Soup ----------------------------------------------------------------------------------

static const char *const soup[] = {
    "a",           "b",
    "#a",          ":s",
    ":n",          ":zz",
    "(",           ")",
    "[",           "]",
    "0",           "17",
    ".",           ",",
    "=",           "<>",
    "<",           ">=",
    "+",           "-",
    "AND",         "OR",
    "NOT",         "IN",
    "BETWEEN",     "SET",
    "REMOVE",      "ADD",
    "DELETE",      "size",
    "$",           "\xc3\xa9",
    "\xff",        "abort",
    "contains",    "if_not_exists",
    "list_append", "attribute_type",
};
static const char *const openings[] = {
    "", "SET a = ", "a = ", "REMOVE ", "ADD a :n", "(a = :s) AND "};

// Compiles the text as everything; returns how many kinds took it.
static size_t compile_all(struct fixture *fixture, struct slice text, struct slice item)
{
    size_t taken = 0;
    struct buf out;
    struct value_builder builder;
    buf_init(&out, 1 << 16);
    value_builder_init(&builder, &out);
    assert_true(fixture_begin(fixture));
    struct expr_condition *condition =
        expr_compile_condition(&fixture->params, text, EXPR_CONDITION);
    if (condition != NULL) {
        (void)expr_condition_eval(condition, item, &(struct steps){0});
        taken++;
    }
    assert_true(fixture_begin(fixture));
    taken += expr_compile_key(&fixture->params, text) != NULL;
    assert_true(fixture_begin(fixture));
    struct expr_projection *projection = expr_compile_projection(&fixture->params, text);
    if (projection != NULL) {
        expr_project(projection, item, &builder, &(struct steps){0});
        taken++;
    }
    assert_true(fixture_begin(fixture));
    struct expr_update *update = expr_compile_update(&fixture->params, text);
    buf_clear(&out);
    value_builder_reset(&builder);
    if (update != NULL) {
        taken++;
        if (expr_update_apply(update, item, &builder, &fixture->arena, &(struct steps){0},
                              &fixture->error))
            assert_true(value_valid(buf_view(&out)));
    }
    value_builder_release(&builder);
    buf_release(&out);
    return taken;
}

static void test_soup(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    fixture_names(&fixture, "#a=alpha");
    fixture.values = fixture_value(&fixture, naive_values);
    struct slice item = fixture_value(&fixture, naive_items[0]);
    uint64_t seed = SEED;
    struct buf text;
    buf_init(&text, TEXT_MAX);
    size_t taken = 0;
    for (size_t i = 0; i < SOUPS; i++) {
        buf_clear(&text);
        buf_text(&text, openings[random_below(&seed, COUNT_OF(openings))]);
        size_t count = random_below(&seed, 10);
        for (size_t j = 0; j < count; j++)
            buf_printf(&text, "%s%s", soup[random_below(&seed, COUNT_OF(soup))],
                       random_below(&seed, 3) == 0 ? " " : "");
        // A copy of the exact length, so that the sanitizer sees a read beyond it.
        uint8_t *exact = malloc(text.len == 0 ? 1 : text.len);
        assert_non_null(exact);
        if (text.len > 0)
            memcpy(exact, text.ptr, text.len);
        taken += compile_all(&fixture, slice_of(exact, text.len), item);
        free(exact);
    }
    assert_true(taken > 0);
    buf_release(&text);
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_soup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
