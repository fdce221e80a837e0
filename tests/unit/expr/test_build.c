// Constructors: what is built from parts is judged and does what the same text would.
#include "expr/fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct fixture fixture;

static struct expr_builder builder_of(bool plain)
{
    error_init(&fixture.error, &fixture.arena);
    return (struct expr_builder){.arena = &fixture.arena, .error = &fixture.error, .plain = plain};
}

static struct expr_node *name(struct expr_builder *b, const char *text)
{
    return expr_name(b, slice_str(text));
}

static struct expr_node *value(struct expr_builder *b, const char *notation)
{
    return expr_value(b, fixture_value(&fixture, notation));
}

// (a = 1 OR NOT size(b) > 2) AND c IN (1, 2, "x") AND m BETWEEN 1 AND 5
static struct expr_node *sample(struct expr_builder *b)
{
    struct expr_node *size = expr_test(b, OP_SIZE, name(b, "b"), NULL);
    struct expr_node *larger = expr_test(b, OP_GT, size, value(b, "2"));
    struct expr_node *either = expr_join(b, OP_OR, expr_test(b, OP_EQ, name(b, "a"), value(b, "1")),
                                         expr_test(b, OP_NOT, larger, NULL));
    struct expr_node *in = expr_call(b, OP_IN);
    expr_operand(b, in, name(b, "c"));
    expr_operand(b, in, value(b, "1"));
    expr_operand(b, in, value(b, "2"));
    expr_operand(b, in, value(b, "\"x\""));
    struct expr_node *between = expr_call(b, OP_BETWEEN);
    expr_operand(b, between, name(b, "m"));
    expr_operand(b, between, value(b, "1"));
    expr_operand(b, between, value(b, "5"));
    struct expr_node *all = expr_join(b, OP_AND, NULL, either);
    return expr_join(b, OP_AND, expr_join(b, OP_AND, all, in), between);
}

static void test_conditions_agree(void **state)
{
    (void)state;
    static const char *const items[] = {
        "{a=1, b=\"xyz\", c=1, m=3}",
        "{a=2, b=\"xyz\", c=1, m=3}",
        "{a=2, b=\"xy\", c=2, m=3}",
        "{b=\"x\", c=\"x\", m=5}",
        "{a=1, c=3, m=3}",
        "{a=1, c=1, m=6}",
        "{}",
        "{a=1, c=1, m=1}",
    };
    fixture_init(&fixture);
    fixture.values = fixture_value(&fixture, "{:1=1, :2=2, :5=5, :x=\"x\"}");
    assert_true(fixture_begin(&fixture));
    struct expr_condition *parsed = expr_compile_condition(
        &fixture.params,
        SLICE_LIT("(a = :1 OR NOT size(b) > :2) AND c IN (:1, :2, :x) AND m BETWEEN :1 AND :5"),
        EXPR_FILTER);
    assert_non_null(parsed);
    struct expr_builder b = builder_of(false);
    struct expr_condition *built = expr_build_condition(&b, sample(&b), EXPR_FILTER);
    assert_non_null(built);
    for (size_t i = 0; i < COUNT_OF(items); i++) {
        struct slice item = fixture_value(&fixture, items[i]);
        struct steps one = {0};
        struct steps other = {0};
        assert_int_equal(expr_condition_eval(parsed, item, &one),
                         expr_condition_eval(built, item, &other));
        assert_int_equal(one.taken, other.taken);
    }
    fixture_release(&fixture);
}

static void test_conditions_are_judged(void **state)
{
    (void)state;
    fixture_init(&fixture);
    struct expr_builder b = builder_of(false);
    struct expr_node *test = expr_test(&b, OP_BEGINS, name(&b, "a"), value(&b, "1"));
    assert_null(expr_build_condition(&b, test, EXPR_FILTER));
    assert_string_equal(fixture_message(&fixture),
                        "Invalid FilterExpression: Incorrect operand type for operator or "
                        "function; operator or function: begins_with, operand type: N");
    b = builder_of(true);
    test = expr_test(&b, OP_EXISTS, name(&b, "a"), name(&b, "b"));
    assert_null(expr_build_condition(&b, test, EXPR_CONDITION));
    assert_string_equal(fixture_message(&fixture),
                        "Incorrect number of operands for operator or function; operator or "
                        "function: attribute_exists, number of operands: 2");
    // Of a long chain, too, without recursion.
    b = builder_of(true);
    struct expr_node *chain = NULL;
    for (size_t i = 0; i < 20000; i++)
        chain = expr_join(&b, OP_AND, chain, expr_test(&b, OP_EXISTS, name(&b, "a"), NULL));
    assert_null(expr_build_condition(&b, chain, EXPR_CONDITION));
    assert_string_equal(fixture_message(&fixture),
                        "The expression contains too many operators; operator count: 301");
    fixture_release(&fixture);
}

static void test_a_part_that_is_missing(void **state)
{
    (void)state;
    fixture_init(&fixture);
    struct expr_builder b = builder_of(true);
    error_validation(&fixture.error, "refused");
    struct expr_node *whole = expr_join(&b, OP_AND, expr_test(&b, OP_EXISTS, name(&b, "a"), NULL),
                                        expr_test(&b, OP_EXISTS, NULL, NULL));
    assert_null(expr_build_condition(&b, whole, EXPR_CONDITION));
    assert_string_equal(fixture_message(&fixture), "refused");
    b = builder_of(true);
    assert_null(expr_build_key(&b, expr_join(&b, OP_OR, name(&b, "a"), NULL)));
    assert_int_equal(fixture.error.code, ERR_BUDGET);
    fixture_release(&fixture);
}

static void test_keys(void **state)
{
    (void)state;
    fixture_init(&fixture);
    struct expr_builder b = builder_of(false);
    struct expr_node *between = expr_call(&b, OP_BETWEEN);
    expr_operand(&b, between, name(&b, "sk"));
    expr_operand(&b, between, value(&b, "1"));
    expr_operand(&b, between, value(&b, "2"));
    struct expr_node *equal = expr_test(&b, OP_EQ, name(&b, "pk"), value(&b, "\"p\""));
    struct expr_key *key = expr_build_key(&b, expr_join(&b, OP_AND, equal, between));
    assert_non_null(key);
    assert_int_equal(key->count, 2);
    assert_int_equal(key->clauses[0].op, KEY_EQ);
    assert_int_equal(key->clauses[1].op, KEY_BETWEEN);
    assert_true(slice_is(key->clauses[1].attribute, "sk"));
    b = builder_of(false);
    assert_null(expr_build_key(&b, expr_test(&b, OP_NE, name(&b, "pk"), value(&b, "1"))));
    assert_string_equal(fixture_message(&fixture),
                        "Invalid operator used in KeyConditionExpression: <>");
    fixture_release(&fixture);
}

static void test_projections(void **state)
{
    (void)state;
    fixture_init(&fixture);
    const struct path_step steps[] = {{.name = SLICE_LIT("a")}, {.name = SLICE_LIT("b")}};
    const struct path paths[] = {{steps, 2}, {steps, 1}};
    struct expr_builder b = builder_of(false);
    assert_non_null(expr_build_projection(&b, 1, paths));
    assert_null(expr_build_projection(&b, 2, paths));
    assert_string_equal(fixture_message(&fixture),
                        "Invalid ProjectionExpression: Two document paths overlap with each "
                        "other; must remove or rewrite one of these paths; path one: [a, b], path "
                        "two: [a]");
    fixture_release(&fixture);
}

static void test_updates(void **state)
{
    (void)state;
    fixture_init(&fixture);
    const struct path_step a = {.name = SLICE_LIT("a")};
    const struct path_step c = {.name = SLICE_LIT("c")};
    struct expr_builder b = builder_of(false);
    // a - b + 5, longer than a text may have it.
    struct expr_node *sum = expr_test(&b, OP_MINUS, name(&b, "a"), name(&b, "b"));
    struct expr_change changes[] = {
        {ACTION_SET, {&a, 1}, expr_test(&b, OP_PLUS, sum, value(&b, "5"))},
        {ACTION_REMOVE, {&c, 1}, NULL},
    };
    struct expr_update *update = expr_build_update(&b, COUNT_OF(changes), changes);
    assert_non_null(update);
    struct buf out;
    struct value_builder builder;
    buf_init(&out, 1 << 16);
    value_builder_init(&builder, &out);
    assert_true(expr_update_apply(update, fixture_value(&fixture, "{a=1, b=2, c=3}"), &builder,
                                  &fixture.arena, &(struct steps){0}, &fixture.error));
    assert_string_equal(fixture_text(&fixture, buf_view(&out)), "{a=4, b=2}");
    value_builder_release(&builder);
    buf_release(&out);
    b = builder_of(false);
    struct expr_change wrong = {ACTION_ADD, {&a, 1}, value(&b, "\"x\"")};
    assert_null(expr_build_update(&b, 1, &wrong));
    assert_string_equal(fixture_message(&fixture),
                        "Invalid UpdateExpression: Incorrect operand type for operator or "
                        "function; operator: ADD, operand type: STRING, typeSet: "
                        "ALLOWED_FOR_ADD_OPERAND");
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditions_agree),
        cmocka_unit_test(test_conditions_are_judged),
        cmocka_unit_test(test_a_part_that_is_missing),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_projections),
        cmocka_unit_test(test_updates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
