// Random conditions, twice: as text through the compiler, and as a tree through a naive recursive
// evaluator written here. And random token soup, which must never do worse than an error.
//
// Every run is replayed by its seed.
#include "expr/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SEED = 20261115, CONDITIONS = 6000, SOUPS = 6000, TREE_DEPTH = 4, TEXT_MAX = 4096 };

static const char item_text[] = "{s=\"hello\", n=5, b=0x0102, ss=<\"a\", \"x\">, ns=<1, 2>, l=[1, "
                                "\"x\", {q=\"x\"}], m={k=\"x\", "
                                "n=2}, t=true, nul=null}";
static const char values_text[] =
    "{:s=\"x\", :h=\"hello\", :n=1, :n2=2, :b=0x01, :ss=<\"a\", \"x\">, :t=true}";

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

// ---- Operands -------------------------------------------------------------------------------

static const char *const paths[] = {"s",  "n",   "b",   "ss",  "l",    "m",    "t",      "nul",
                                    "zz", "m.k", "m.n", "m.z", "l[0]", "l[1]", "l[2].q", "l[7]"};
static const char *const placeholders[] = {":s", ":h", ":n", ":n2", ":b"};

struct leaf {
    const char *text;
    struct slice value; // as the naive evaluator finds it
};

// Looks up a path of the table by hand.
static struct slice naive_path(struct slice item, const char *text)
{
    struct slice at = item;
    while (at.len != 0 && *text != '\0') {
        if (*text == '[') {
            at = value_type(at) == VALUE_L ? value_at(at, (size_t)(text[1] - '0')) : VALUE_NONE;
            text += 3;
        } else {
            text += *text == '.';
            size_t len = strcspn(text, ".[");
            at = value_type(at) == VALUE_M ? value_get(at, slice_of(text, len)) : VALUE_NONE;
            text += len;
        }
    }
    return at;
}

static struct leaf leaf_path(struct slice item, uint64_t *seed)
{
    const char *text = paths[random_below(seed, COUNT_OF(paths))];
    return (struct leaf){text, naive_path(item, text)};
}

static struct leaf leaf_value(struct slice values, uint64_t *seed)
{
    const char *text = placeholders[random_below(seed, COUNT_OF(placeholders))];
    return (struct leaf){text, value_get(values, slice_str(text))};
}

// ---- Conditions -------------------------------------------------------------------------------

struct maker {
    uint64_t seed;
    struct slice item;
    struct slice values;
    struct buf text;
};

static int naive_order(struct slice a, struct slice b, bool *comparable)
{
    *comparable =
        a.len != 0 && b.len != 0 && value_type(a) == value_type(b) &&
        (value_type(a) == VALUE_S || value_type(a) == VALUE_N || value_type(a) == VALUE_B);
    return *comparable ? slice_compare(value_bytes(a), value_bytes(b)) : 0;
}

static bool naive_equal(struct slice a, struct slice b)
{
    return a.len != 0 && slice_equal(a, b);
}

static bool make_comparison(struct maker *maker)
{
    static const char *const operators[] = {"=", "<>", "<", "<=", ">", ">="};
    struct leaf a = leaf_path(maker->item, &maker->seed);
    struct leaf b = leaf_value(maker->values, &maker->seed);
    size_t op = random_below(&maker->seed, COUNT_OF(operators));
    buf_printf(&maker->text, "%s %s %s", a.text, operators[op], b.text);
    bool comparable;
    int order = naive_order(a.value, b.value, &comparable);
    switch (op) {
    case 0:
        return naive_equal(a.value, b.value);
    case 1:
        return !naive_equal(a.value, b.value);
    case 2:
        return comparable && order < 0;
    case 3:
        return comparable && order <= 0;
    case 4:
        return comparable && order > 0;
    default:
        return comparable && order >= 0;
    }
}

static bool make_between(struct maker *maker)
{
    struct leaf a = leaf_value(maker->values, &maker->seed);
    struct leaf low = leaf_path(maker->item, &maker->seed);
    struct leaf high = leaf_path(maker->item, &maker->seed);
    buf_printf(&maker->text, "%s BETWEEN %s AND %s", a.text, low.text, high.text);
    bool above;
    bool below;
    int from = naive_order(a.value, low.value, &above);
    int to = naive_order(a.value, high.value, &below);
    return above && from >= 0 && below && to <= 0;
}

static bool make_in(struct maker *maker)
{
    struct leaf a = leaf_path(maker->item, &maker->seed);
    buf_printf(&maker->text, "%s IN (", a.text);
    bool found = false;
    size_t count = 1 + random_below(&maker->seed, 3);
    for (size_t i = 0; i < count; i++) {
        struct leaf b = leaf_value(maker->values, &maker->seed);
        buf_printf(&maker->text, "%s%s", i == 0 ? "" : ", ", b.text);
        found = found || naive_equal(a.value, b.value);
    }
    buf_text(&maker->text, ")");
    return found;
}

static bool naive_contains(struct slice whole, struct slice part)
{
    if (whole.len == 0)
        return false;
    enum value_type type = value_type(whole);
    if (type == VALUE_S || type == VALUE_B)
        return value_type(part) == type && slice_contains(value_bytes(whole), value_bytes(part));
    if (type != VALUE_L && type != VALUE_SS && type != VALUE_NS)
        return false;
    enum value_type member = type == VALUE_SS ? VALUE_S : VALUE_N;
    struct value_iter iter;
    value_iter_init(&iter, whole);
    while (value_iter_next(&iter)) {
        if (type == VALUE_L
                ? slice_equal(iter.value, part)
                : value_type(part) == member && slice_equal(iter.value, value_bytes(part)))
            return true;
    }
    return false;
}

static bool make_function(struct maker *maker)
{
    struct leaf a = leaf_path(maker->item, &maker->seed);
    struct leaf b = leaf_value(maker->values, &maker->seed);
    size_t size = 0;
    switch (random_below(&maker->seed, 5)) {
    case 0:
        buf_printf(&maker->text, "attribute_exists(%s)", a.text);
        return a.value.len != 0;
    case 1:
        buf_printf(&maker->text, "attribute_not_exists(%s)", a.text);
        return a.value.len == 0;
    case 2:
        buf_printf(&maker->text, "contains(%s, %s)", a.text, b.text);
        return naive_contains(a.value, b.value);
    case 3:
        buf_printf(&maker->text, "begins_with(%s, :s)", a.text);
        return a.value.len != 0 && value_type(a.value) == VALUE_S &&
               slice_begins(value_bytes(a.value), SLICE_LIT("x"));
    default:
        buf_printf(&maker->text, "size(%s) > :n", a.text);
        return a.value.len != 0 && value_function_size(a.value, &size) && size > 1;
    }
}

static bool make_test(struct maker *maker)
{
    switch (random_below(&maker->seed, 5)) {
    case 0:
        return make_between(maker);
    case 1:
        return make_in(maker);
    case 2:
        return make_function(maker);
    default:
        return make_comparison(maker);
    }
}

// Writes a condition and returns its truth. Operands of AND and OR are always in parentheses unless
// they are tests; sides are both evaluated, so no short cut hides a difference.
static bool make_condition(struct maker *maker, size_t depth)
{
    size_t kind = depth == 0 ? 3 : random_below(&maker->seed, 4);
    if (kind == 3)
        return make_test(maker);
    buf_text(&maker->text, kind == 2 ? "NOT (" : "(");
    bool first = make_condition(maker, depth - 1);
    if (kind == 2) {
        buf_text(&maker->text, ")");
        return !first;
    }
    buf_text(&maker->text, kind == 0 ? ") AND " : ") OR ");
    bool second = make_test(maker);
    if (random_below(&maker->seed, 2) == 0) {
        // AND before OR: (first) OR second AND third.
        buf_text(&maker->text, " AND ");
        bool third = make_test(maker);
        second = second && third;
    }
    return kind == 0 ? first && second : first || second;
}

static void test_conditions(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    fixture.values = fixture_value(&fixture, values_text);
    struct maker maker = {.seed = SEED, .values = fixture.values};
    maker.item = fixture_value(&fixture, item_text);
    buf_init(&maker.text, TEXT_MAX);
    size_t truths = 0;
    for (size_t i = 0; i < CONDITIONS; i++) {
        buf_clear(&maker.text);
        uint64_t seed = maker.seed;
        bool expected = make_condition(&maker, TREE_DEPTH);
        assert_false(maker.text.failed);
        assert_true(fixture_begin(&fixture));
        struct expr_condition *condition =
            expr_compile_condition(&fixture.params, buf_view(&maker.text), EXPR_FILTER);
        if (condition == NULL || expr_condition_eval(condition, maker.item) != expected)
            fail_msg("seed %llu: %.*s: %s", (unsigned long long)seed,
                     SLICE_FMT(buf_view(&maker.text)), fixture_message(&fixture));
        truths += expected;
    }
    // Both outcomes must be common, or the test shows little.
    assert_in_range(truths, CONDITIONS / 5, CONDITIONS * 4 / 5);
    buf_release(&maker.text);
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
        (void)expr_condition_eval(condition, item);
        taken++;
    }
    assert_true(fixture_begin(fixture));
    taken += expr_compile_key(&fixture->params, text) != NULL;
    assert_true(fixture_begin(fixture));
    struct expr_projection *projection = expr_compile_projection(&fixture->params, text);
    if (projection != NULL) {
        expr_project(projection, item, &builder);
        taken++;
    }
    assert_true(fixture_begin(fixture));
    struct expr_update *update = expr_compile_update(&fixture->params, text);
    buf_clear(&out);
    value_builder_reset(&builder);
    if (update != NULL) {
        taken++;
        if (expr_update_apply(update, item, &builder, &fixture->arena, &fixture->error))
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
    fixture.values = fixture_value(&fixture, values_text);
    struct slice item = fixture_value(&fixture, item_text);
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
