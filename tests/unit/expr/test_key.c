// Key conditions over keys of one and of several parts, the legacy form included, and empty values.
#include "expr/fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char values[] = "{:s=\"x\", :s2=\"y\", :n=1, :n2=2, :e=\"\", :b=0x}";

// Two HASH parts and three RANGE parts.
static const struct key_schema wide = {
    .hash_count = 2,
    .range_count = 3,
    .parts = {{SLICE_LIT("a"), VALUE_S},
              {SLICE_LIT("b"), VALUE_N},
              {SLICE_LIT("c"), VALUE_S},
              {SLICE_LIT("d"), VALUE_S},
              {SLICE_LIT("e"), VALUE_N}},
};
static const struct key_schema hash_only = {.hash_count = 1, .parts = {{SLICE_LIT("h"), VALUE_S}}};
static const struct key_schema hash_range = {
    .hash_count = 1,
    .range_count = 1,
    .parts = {{SLICE_LIT("h"), VALUE_S}, {SLICE_LIT("r"), VALUE_S}}};

struct key_case {
    const struct key_schema *schema;
    const char *text;
    const char *expected; // what describe() gives, or a message
};

// "hash …; equal …; op bounds" in notation.
static void describe(struct fixture *fixture, const struct key_schema *schema,
                     const struct key_range *range, struct buf *out)
{
    static const char *const ops[] = {"", "=", "<", "<=", ">", ">=", "between", "begins"};
    for (size_t i = 0; i < schema->hash_count; i++)
        buf_printf(out, "%s%s", i == 0 ? "" : " ", fixture_text(fixture, range->hash[i]));
    buf_text(out, " |");
    for (size_t i = 0; i < range->range_equal; i++)
        buf_printf(out, " %s", fixture_text(fixture, range->range[i]));
    if (range->op == KEY_NONE)
        return;
    buf_printf(out, " %s %s", ops[range->op], fixture_text(fixture, range->bounds[0]));
    if (range->op == KEY_BETWEEN)
        buf_printf(out, " %s", fixture_text(fixture, range->bounds[1]));
}

static const struct key_case cases[] = {
    {&hash_only, "h = :s", "\"x\" |"},
    {&hash_only, "h = :s AND r = :s", "Query key condition not supported"},
    {&hash_only, "r = :s", "Query condition missed key schema element: h"},
    {&hash_range, "h = :s AND r >= :s2", "\"x\" | >= \"y\""},
    {&hash_range, ":s2 >= r AND h = :s", "\"x\" | <= \"y\""},
    {&hash_range, "h = :s AND begins_with(r, :s2)", "\"x\" | begins \"y\""},
    {&hash_range, "h = :s AND r BETWEEN :s AND :s2", "\"x\" | between \"x\" \"y\""},
    {&hash_range, "h = :s AND z = :s", "Query condition missed key schema element: r"},
    {&hash_range, "h = :s AND r = :s AND z = :s", "Conditions can be of length 1 or 2 only"},
    {&wide, "a = :s AND b = :n", "\"x\" 1 |"},
    {&wide, "b = :n AND a = :s AND c = :s", "\"x\" 1 | \"x\""},
    {&wide, "a = :s AND b = :n AND c > :s", "\"x\" 1 | > \"x\""},
    {&wide, "a = :s AND b = :n AND d = :s2 AND c = :s AND e BETWEEN :n AND :n2",
     "\"x\" 1 | \"x\" \"y\" between 1 2"},
    {&wide, "a = :s", "HASH key attributes b must have equality conditions specified in the query"},
    {&wide, "z = :s",
     "HASH key attributes a, b must have equality conditions specified in the query"},
    {&wide, "a > :s AND b = :n",
     "HASH key attributes a must have equality conditions specified in the query"},
    {&wide, "a = :s AND b = :s",
     "One or more parameter values were invalid: Condition parameter type does not match schema "
     "type"},
    {&wide, "a = :s AND b = :n AND d = :s",
     "RANGE key attributes c must have equality conditions specified in the query because a "
     "condition is present on key attribute d"},
    {&wide, "a = :s AND b = :n AND c > :s AND d = :s",
     "RANGE key attributes c must have equality conditions specified in the query because a "
     "condition is present on key attribute d"},
    {&wide, "a = :s AND b = :n AND c = :s AND e = :n",
     "RANGE key attributes d must have equality conditions specified in the query because a "
     "condition is present on key attribute e"},
    {&wide, "a = :s AND b = :n AND c = :n",
     "One or more parameter values were invalid: Condition parameter type does not match schema "
     "type"},
    {&wide, "a = :s AND b = :n AND z = :s", "Query condition missed key schema element: c"},
    {&wide, "a = :s AND b = :n AND c = :s AND d = :s AND e = :n AND z = :s",
     "Query key condition not supported"},
};

static void test_resolve(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    fixture.values = fixture_value(&fixture, values);
    struct buf out;
    buf_init(&out, 1 << 16);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct key_case *test = &cases[i];
        assert_true(fixture_begin(&fixture));
        buf_clear(&out);
        struct key_range range;
        struct expr_key *key = expr_compile_key(&fixture.params, slice_str(test->text));
        assert_non_null(key);
        if (expr_key_resolve(key, test->schema, &range, &fixture.error))
            describe(&fixture, test->schema, &range, &out);
        else
            buf_text(&out, fixture.error.message);
        buf_byte(&out, 0);
        assert_string_equal((const char *)out.ptr, test->expected);
    }
    buf_release(&out);
    fixture_release(&fixture);
}

// ---- KeyConditions ------------------------------------------------------------------------

struct legacy_case {
    const char *op;
    const char *values; // a list in notation
    const char *expected;
};

// Conditions on the sort key of h (S), r (S).
static const struct legacy_case legacy_cases[] = {
    {"EQ", "[\"y\"]", "\"x\" | \"y\""},
    {"LT", "[\"y\"]", "\"x\" | < \"y\""},
    {"LE", "[\"y\"]", "\"x\" | <= \"y\""},
    {"GT", "[\"y\"]", "\"x\" | > \"y\""},
    {"GE", "[\"y\"]", "\"x\" | >= \"y\""},
    {"BEGINS_WITH", "[\"y\"]", "\"x\" | begins \"y\""},
    {"BETWEEN", "[\"a\", \"b\"]", "\"x\" | between \"a\" \"b\""},
    {"BETWEEN", "[\"b\", \"a\"]",
     "The BETWEEN condition was provided a range where the lower bound is greater than the upper "
     "bound"},
    {"EQ", "[1]",
     "One or more parameter values were invalid: Condition parameter type does not match schema "
     "type"},
    {"EQ", "[]",
     "One or more parameter values were invalid: Invalid number of argument(s) for the EQ "
     "ComparisonOperator"},
    {"BEGINS_WITH", "[1]",
     "One or more parameter values were invalid: ComparisonOperator BEGINS_WITH is not valid for N "
     "AttributeValue type"},
    {"NE", "[\"y\"]", "Attempted conditional constraint is not an indexable operation"},
    {"IN", "[\"y\"]", "Attempted conditional constraint is not an indexable operation"},
    {"NULL", "[]", "Attempted conditional constraint is not an indexable operation"},
    {"CONTAINS", "[\"y\"]", "Attempted conditional constraint is not an indexable operation"},
};

static size_t list_read(struct slice list, struct slice out[4])
{
    size_t count = 0;
    struct value_iter iter;
    value_iter_init(&iter, list);
    while (value_iter_next(&iter))
        out[count++] = iter.value;
    return count;
}

static void test_legacy(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    struct slice x = fixture_value(&fixture, "\"x\"");
    struct buf out;
    buf_init(&out, 1 << 16);
    for (size_t i = 0; i < COUNT_OF(legacy_cases); i++) {
        const struct legacy_case *test = &legacy_cases[i];
        struct slice list[4];
        size_t count = list_read(fixture_value(&fixture, test->values), list);
        const struct legacy_condition entries[2] = {
            {.attribute = SLICE_LIT("h"), .op = SLICE_LIT("EQ"), .count = 1, .values = &x},
            {.attribute = SLICE_LIT("r"),
             .op = slice_str(test->op),
             .count = count,
             .values = list},
        };
        assert_true(fixture_begin(&fixture));
        buf_clear(&out);
        struct key_range range;
        struct expr_key *key = expr_legacy_key(&fixture.arena, &fixture.error, 2, entries);
        if (key != NULL && expr_key_resolve(key, &hash_range, &range, &fixture.error))
            describe(&fixture, &hash_range, &range, &out);
        else
            buf_text(&out, fixture.error.message);
        buf_byte(&out, 0);
        assert_string_equal((const char *)out.ptr, test->expected);
    }
    assert_true(fixture_begin(&fixture));
    struct key_range range;
    struct expr_key *none = expr_legacy_key(&fixture.arena, &fixture.error, 0, NULL);
    assert_false(expr_key_resolve(none, &hash_range, &range, &fixture.error));
    assert_string_equal(fixture_message(&fixture), "Conditions can be of length 1 or 2 only");
    buf_release(&out);
    fixture_release(&fixture);
}

// ---- Empty values ----------------------------------------------------------------------------

static void check_empty(struct fixture *fixture, const char *text, const struct key_schema *schema,
                        struct slice index, const char *expected)
{
    assert_true(fixture_begin(fixture));
    struct expr_key *key = expr_compile_key(&fixture->params, slice_str(text));
    assert_non_null(key);
    bool valid = expr_key_check_empty(key, schema, index, &fixture->error);
    assert_int_equal(valid, expected == NULL);
    if (expected != NULL)
        assert_string_equal(fixture_message(fixture), expected);
}

static void test_empty_values(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    fixture.values = fixture_value(&fixture, values);
    check_empty(&fixture, "h = :s AND r = :s2", &hash_range, VALUE_NONE, NULL);
    check_empty(&fixture, "h = :e", &hash_range, VALUE_NONE,
                "One or more parameter values are not valid. The AttributeValue for a key "
                "attribute cannot contain an empty string value. Key: h");
    check_empty(&fixture, "h = :s AND begins_with(r, :e)", &hash_range, VALUE_NONE,
                "One or more parameter values are not valid. The AttributeValue for a key "
                "attribute cannot contain an empty string value. Key: r");
    check_empty(&fixture, "a = :e AND b = :n", &wide, SLICE_LIT("ggg"),
                "One or more parameter values are not valid. A value specified for a secondary "
                "index key is not supported. The AttributeValue for a key attribute cannot contain "
                "an empty string value. IndexName: ggg, IndexKey: a");
    struct key_schema binary = {.hash_count = 1, .parts = {{SLICE_LIT("h"), VALUE_B}}};
    check_empty(&fixture, "h = :b", &binary, VALUE_NONE,
                "One or more parameter values are not valid. The AttributeValue for a key "
                "attribute cannot contain an empty binary value. Key: h");
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resolve),
        cmocka_unit_test(test_legacy),
        cmocka_unit_test(test_empty_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
