// Expected, QueryFilter and AttributeUpdates: what they accept, what they mean, what they say.
#include "expr/fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define INVALID "One or more parameter values were invalid: "

enum { LIST_MAX = 4 };

static const char item_text[] =
    "{s=\"hello\", n=5, ss=<\"a\", \"x\">, l=[1, \"x\"], t=true, nul=null, b=0x0102}";

struct expected_case {
    enum legacy_use use;
    const char *attribute;
    const char *op;     // NULL: not given
    const char *list;   // AttributeValueList in notation; NULL: not given
    const char *value;  // Value; NULL: not given
    const char *exists; // "true", "false" or NULL
    const char *result; // "true", "false" or a message
};

static const struct expected_case cases[] = {
    // What the operators mean.
    {LEGACY_EXPECTED, "s", "EQ", "[\"hello\"]", NULL, NULL, "true"},
    {LEGACY_EXPECTED, "s", "EQ", NULL, "\"hello\"", NULL, "true"},
    {LEGACY_EXPECTED, "s", NULL, NULL, "\"hello\"", NULL, "true"},
    {LEGACY_EXPECTED, "s", NULL, NULL, "\"other\"", NULL, "false"},
    {LEGACY_EXPECTED, "s", NULL, NULL, "\"hello\"", "true", "true"},
    {LEGACY_EXPECTED, "s", NULL, NULL, NULL, "false", "false"},
    {LEGACY_EXPECTED, "zz", NULL, NULL, NULL, "false", "true"},
    {LEGACY_EXPECTED, "zz", NULL, NULL, "1", NULL, "false"},
    {LEGACY_EXPECTED, "n", "NE", "[4]", NULL, NULL, "true"},
    {LEGACY_EXPECTED, "zz", "NE", "[4]", NULL, NULL, "true"},
    {LEGACY_EXPECTED, "n", "LE", "[5]", NULL, NULL, "true"},
    {LEGACY_EXPECTED, "n", "LT", "[5]", NULL, NULL, "false"},
    {LEGACY_EXPECTED, "n", "GE", "[5]", NULL, NULL, "true"},
    {LEGACY_EXPECTED, "n", "GT", "[5]", NULL, NULL, "false"},
    {LEGACY_EXPECTED, "n", "GT", "[\"4\"]", NULL, NULL, "false"},
    {LEGACY_EXPECTED, "n", "NOT_NULL", NULL, NULL, NULL, "true"},
    {LEGACY_EXPECTED, "n", "NOT_NULL", "[]", NULL, NULL, "true"},
    {LEGACY_EXPECTED, "nul", "NOT_NULL", NULL, NULL, NULL, "true"},
    {LEGACY_EXPECTED, "zz", "NULL", NULL, NULL, NULL, "true"},
    {LEGACY_EXPECTED, "s", "CONTAINS", "[\"ell\"]", NULL, NULL, "true"},
    {LEGACY_EXPECTED, "ss", "CONTAINS", "[\"x\"]", NULL, NULL, "true"},
    {LEGACY_EXPECTED, "l", "CONTAINS", "[1]", NULL, NULL, "true"},
    {LEGACY_EXPECTED, "ss", "NOT_CONTAINS", "[\"x\"]", NULL, NULL, "false"},
    {LEGACY_EXPECTED, "ss", "NOT_CONTAINS", "[\"y\"]", NULL, NULL, "true"},
    {LEGACY_EXPECTED, "n", "NOT_CONTAINS", "[5]", NULL, NULL, "true"},
    {LEGACY_EXPECTED, "zz", "NOT_CONTAINS", "[\"y\"]", NULL, NULL, "false"},
    {LEGACY_EXPECTED, "s", "BEGINS_WITH", "[\"he\"]", NULL, NULL, "true"},
    {LEGACY_EXPECTED, "b", "BEGINS_WITH", "[0x01]", NULL, NULL, "true"},
    {LEGACY_EXPECTED, "n", "IN", "[4, 5, 6]", NULL, NULL, "true"},
    {LEGACY_EXPECTED, "n", "IN", NULL, "4", NULL, "false"},
    {LEGACY_EXPECTED, "n", "BETWEEN", "[4, 6]", NULL, NULL, "true"},
    {LEGACY_EXPECTED, "n", "BETWEEN", "[6, 7]", NULL, NULL, "false"},
    {LEGACY_EXPECTED, "t", "EQ", "[true]", NULL, NULL, "true"},
    {LEGACY_QUERY_FILTER, "l", "EQ", "[[1, \"x\"]]", NULL, NULL, "true"},
    {LEGACY_SCAN_FILTER, "n", "LT", "[9]", NULL, NULL, "true"},

    // Numbers and types of values.
    {LEGACY_EXPECTED, "n", "EQ", "[]", NULL, NULL,
     INVALID "Invalid number of argument(s) for the EQ ComparisonOperator"},
    {LEGACY_EXPECTED, "n", "EQ", "[1, \"x\"]", NULL, NULL,
     INVALID "Invalid number of argument(s) for the EQ ComparisonOperator"},
    {LEGACY_EXPECTED, "n", "NULL", "[1]", NULL, NULL,
     INVALID "Invalid number of argument(s) for the NULL ComparisonOperator"},
    {LEGACY_EXPECTED, "n", "NOT_NULL", NULL, "1", NULL,
     INVALID "Invalid number of argument(s) for the NOT_NULL ComparisonOperator"},
    {LEGACY_EXPECTED, "n", "BETWEEN", "[1]", NULL, NULL,
     INVALID "Invalid number of argument(s) for the BETWEEN ComparisonOperator"},
    {LEGACY_EXPECTED, "n", "IN", "[]", NULL, NULL,
     INVALID "Invalid number of argument(s) for the IN ComparisonOperator"},
    {LEGACY_QUERY_FILTER, "n", "EQ", NULL, NULL, NULL,
     INVALID "Invalid number of argument(s) for the EQ ComparisonOperator"},
    {LEGACY_EXPECTED, "n", "IN", "[1, \"x\"]", NULL, NULL,
     INVALID "AttributeValues inside AttributeValueList must be of same type"},
    {LEGACY_SCAN_FILTER, "n", "BETWEEN", "[1, \"x\"]", NULL, NULL,
     INVALID "AttributeValues inside AttributeValueList must be of same type"},
    {LEGACY_EXPECTED, "n", "LT", "[<\"a\">]", NULL, NULL,
     INVALID "ComparisonOperator LT is not valid for SS AttributeValue type"},
    {LEGACY_EXPECTED, "n", "GE", NULL, "true", NULL,
     INVALID "ComparisonOperator GE is not valid for BOOL AttributeValue type"},
    {LEGACY_EXPECTED, "n", "CONTAINS", "[<\"a\">]", NULL, NULL,
     INVALID "ComparisonOperator CONTAINS is not valid for SS AttributeValue type"},
    {LEGACY_EXPECTED, "n", "NOT_CONTAINS", "[[]]", NULL, NULL,
     INVALID "ComparisonOperator NOT_CONTAINS is not valid for L AttributeValue type"},
    {LEGACY_EXPECTED, "n", "BEGINS_WITH", "[1]", NULL, NULL,
     INVALID "ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type"},
    {LEGACY_EXPECTED, "n", "IN", "[{}]", NULL, NULL,
     INVALID "ComparisonOperator IN is not valid for M AttributeValue type"},
    {LEGACY_EXPECTED, "n", "BETWEEN", "[null, null]", NULL, NULL,
     INVALID "ComparisonOperator BETWEEN is not valid for NULL AttributeValue type"},
    {LEGACY_EXPECTED, "n", "BETWEEN", "[2, 1]", NULL, NULL,
     "The BETWEEN condition was provided a range where the lower bound is greater than the upper "
     "bound"},

    // Members of Expected that do not go together.
    {LEGACY_EXPECTED, "n", "EQ", "[1]", "1", NULL,
     INVALID "Value and AttributeValueList cannot be used together for Attribute: n"},
    {LEGACY_EXPECTED, "n", NULL, "[1]", "1", NULL,
     INVALID "Value and AttributeValueList cannot be used together for Attribute: n"},
    {LEGACY_EXPECTED, "n", "EQ", "[1]", NULL, "true",
     INVALID "Exists and ComparisonOperator cannot be used together for Attribute: n"},
    {LEGACY_EXPECTED, "n", "EQ", NULL, NULL, NULL,
     INVALID "Value or AttributeValueList must be used with ComparisonOperator: EQ for "
             "Attribute: n"},
    {LEGACY_EXPECTED, "n", NULL, "[1]", NULL, NULL,
     INVALID "AttributeValueList can only be used with a ComparisonOperator for Attribute: n"},
    {LEGACY_EXPECTED, "n", NULL, NULL, NULL, NULL,
     INVALID "Value must be provided when Exists is null for Attribute: n"},
    {LEGACY_EXPECTED, "n", NULL, NULL, NULL, "true",
     INVALID "Value must be provided when Exists is true for Attribute: n"},
    {LEGACY_EXPECTED, "n", NULL, NULL, "1", "false",
     INVALID "Value cannot be used when Exists is false for Attribute: n"},
};

static struct legacy_condition entry_of(struct fixture *fixture, const struct expected_case *test,
                                        struct slice list[LIST_MAX])
{
    struct legacy_condition entry = {.attribute = slice_str(test->attribute), .values = list};
    if (test->op != NULL)
        entry.op = slice_str(test->op);
    if (test->value != NULL)
        entry.value = fixture_value(fixture, test->value);
    entry.has_exists = test->exists != NULL;
    entry.exists = entry.has_exists && strcmp(test->exists, "true") == 0;
    if (test->list == NULL)
        return entry;
    entry.has_list = true;
    struct value_iter iter;
    value_iter_init(&iter, fixture_value(fixture, test->list));
    while (value_iter_next(&iter))
        list[entry.count++] = iter.value;
    return entry;
}

static void test_conditions(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    struct slice item = fixture_value(&fixture, item_text);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_true(fixture_begin(&fixture));
        struct slice list[LIST_MAX];
        struct legacy_condition entry = entry_of(&fixture, &cases[i], list);
        struct expr_condition *condition = expr_legacy_condition(
            &fixture.arena, &fixture.error, cases[i].use, 1, &entry, i % 2 == 0);
        if (condition == NULL)
            assert_string_equal(fixture_message(&fixture), cases[i].result);
        else
            assert_string_equal(expr_condition_eval(condition, item, &(struct steps){0}) ? "true"
                                                                                         : "false",
                                cases[i].result);
    }
    fixture_release(&fixture);
}

// ConditionalOperator: every combination of three outcomes.
static void test_conditional_operator(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    assert_true(fixture_begin(&fixture));
    struct slice item = fixture_value(&fixture, item_text);
    struct slice x = fixture_value(&fixture, "\"x\"");
    struct slice y = fixture_value(&fixture, "\"y\"");
    for (unsigned bits = 0; bits < 8; bits++) {
        struct legacy_condition entries[3];
        for (unsigned i = 0; i < 3; i++)
            entries[i] = (struct legacy_condition){.attribute = SLICE_LIT("ss"),
                                                   .op = SLICE_LIT("NOT_CONTAINS"),
                                                   .count = 1,
                                                   .values = (bits >> i & 1) != 0 ? &y : &x,
                                                   .has_list = true};
        for (int any = 0; any < 2; any++) {
            struct expr_condition *condition = expr_legacy_condition(
                &fixture.arena, &fixture.error, LEGACY_SCAN_FILTER, 3, entries, any != 0);
            assert_non_null(condition);
            assert_int_equal(expr_condition_eval(condition, item, &(struct steps){0}),
                             any ? bits != 0 : bits == 7);
        }
    }
    struct expr_condition *empty =
        expr_legacy_condition(&fixture.arena, &fixture.error, LEGACY_EXPECTED, 0, NULL, false);
    assert_true(expr_condition_eval(empty, item, &(struct steps){0}));
    fixture_release(&fixture);
}

// ---- AttributeUpdates ------------------------------------------------------------------------

struct update_case {
    const char *action; // NULL: not given
    const char *value;  // NULL: not given
    const char *old;    // the attribute before; NULL: missing
    const char *result; // the item, or a message
};

static const struct update_case update_cases[] = {
    {"PUT", "1", NULL, "{a=1}"},
    {NULL, "1", "\"x\"", "{a=1}"},
    {"DELETE", NULL, "1", "{}"},
    {"DELETE", NULL, NULL, "{}"},
    {"DELETE", "<\"x\">", "<\"x\", \"y\">", "{a=<\"y\">}"},
    {"DELETE", "<\"x\">", "<\"x\">", "{}"},
    {"DELETE", "<\"x\">", NULL, "{}"},
    {"ADD", "1", "2", "{a=3}"},
    {"ADD", "1", NULL, "{a=1}"},
    {"ADD", "<1>", "<2>", "{a=<1, 2>}"},
    {"ADD", "<1>", NULL, "{a=<1>}"},
    {"ADD", "[1]", "[2]", "{a=[2, 1]}"},
    {"ADD", "[1]", NULL, "{a=[1]}"},
    {"ADD", "1", "\"x\"", "Type mismatch for attribute to update"},
    {"ADD", "<\"x\">", "<1>", "Type mismatch for attribute to update"},
    {"ADD", "[1]", "<1>", "Type mismatch for attribute to update"},
    {"DELETE", "<\"x\">", "1", "Type mismatch for attribute to update"},
    {"PUT", NULL, NULL,
     INVALID "Only DELETE action is allowed when no attribute value is specified"},
    {NULL, NULL, NULL,
     INVALID "Only DELETE action is allowed when no attribute value is specified"},
    {"ADD", NULL, NULL,
     INVALID "Only DELETE action is allowed when no attribute value is specified"},
    {"ADD", "\"x\"", NULL, INVALID "ADD action is not supported for the type S"},
    {"ADD", "0x01", NULL, INVALID "ADD action is not supported for the type B"},
    {"ADD", "true", NULL, INVALID "ADD action is not supported for the type BOOL"},
    {"ADD", "{}", NULL, INVALID "ADD action is not supported for the type M"},
    {"DELETE", "1", NULL, INVALID "DELETE action with value is not supported for the type N"},
    {"DELETE", "[]", NULL, INVALID "DELETE action with value is not supported for the type L"},
};

static void check_update(struct fixture *fixture, const struct update_case *test)
{
    char old[64];
    snprintf(old, sizeof old, "{%s%s}",
             test->old == NULL ? "" : "a=", test->old == NULL ? "" : test->old);
    struct legacy_update entry = {.attribute = SLICE_LIT("a")};
    if (test->action != NULL)
        entry.action = slice_str(test->action);
    if (test->value != NULL)
        entry.value = fixture_value(fixture, test->value);
    struct slice item = fixture_value(fixture, old);
    struct buf out;
    struct value_builder builder;
    buf_init(&out, 1 << 16);
    value_builder_init(&builder, &out);
    struct expr_update *update = expr_legacy_update(&fixture->arena, &fixture->error, 1, &entry);
    if (update != NULL && expr_update_apply(update, item, &builder, &fixture->arena,
                                            &(struct steps){0}, &fixture->error)) {
        assert_string_equal(fixture_text(fixture, buf_view(&out)), test->result);
        assert_true(expr_update_writes(update, SLICE_LIT("a")));
        assert_false(expr_update_writes(update, SLICE_LIT("b")));
    } else {
        assert_string_equal(fixture_message(fixture), test->result);
    }
    value_builder_release(&builder);
    buf_release(&out);
}

static void test_updates(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    for (size_t i = 0; i < COUNT_OF(update_cases); i++) {
        assert_true(fixture_begin(&fixture));
        check_update(&fixture, &update_cases[i]);
    }
    fixture_release(&fixture);
}

static void test_attributes_to_get(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    assert_true(fixture_begin(&fixture));
    const struct slice names[] = {SLICE_LIT("n"), SLICE_LIT("zz"), SLICE_LIT("n")};
    struct expr_projection *projection =
        expr_projection_of_names(&fixture.arena, &fixture.error, 2, names);
    assert_non_null(projection);
    struct buf out;
    struct value_builder builder;
    buf_init(&out, 1 << 16);
    value_builder_init(&builder, &out);
    expr_project(projection, fixture_value(&fixture, item_text), &builder, &(struct steps){0});
    assert_string_equal(fixture_text(&fixture, buf_view(&out)), "{n=5}");
    value_builder_release(&builder);
    buf_release(&out);
    assert_null(expr_projection_of_names(&fixture.arena, &fixture.error, 3, names));
    assert_string_equal(fixture_message(&fixture), INVALID "Duplicate value in attribute name: n");
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_conditional_operator),
        cmocka_unit_test(test_updates),
        cmocka_unit_test(test_attributes_to_get),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
