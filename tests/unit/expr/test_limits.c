// What a text file cannot hold well: long and deep expressions, placeholders, white space at
// the ends, memory that runs out, and the questions one can ask of a program.
#include "expr/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const char values[] = "{:l=[], :n=1, :s=\"x\", :ss=<\"a\">}";

enum { TEXT_MAX = 8192 };

static void setup_values(struct fixture *fixture)
{
    fixture_init(fixture);
    fixture->values = fixture_value(fixture, values);
}

static void check_condition(struct fixture *fixture, const char *text, const char *expected)
{
    assert_true(fixture_begin(fixture));
    struct expr_condition *condition =
        expr_compile_condition(&fixture->params, slice_str(text), EXPR_CONDITION);
    assert_string_equal(condition != NULL ? "ok" : fixture_message(fixture), expected);
}

static void check_update(struct fixture *fixture, const char *text, const char *expected)
{
    assert_true(fixture_begin(fixture));
    struct expr_update *update = expr_compile_update(&fixture->params, slice_str(text));
    assert_string_equal(update != NULL ? "ok" : fixture_message(fixture), expected);
}

// head, then `part` count times, then tail.
static const char *repeat(char out[TEXT_MAX], const char *head, const char *part, size_t count,
                          const char *tail)
{
    size_t len = strlen(head);
    memcpy(out, head, len);
    for (size_t i = 0; i < count; i++) {
        memcpy(out + len, part, strlen(part));
        len += strlen(part);
    }
    memcpy(out + len, tail, strlen(tail) + 1);
    return out;
}

// ---- Sizes and depths --------------------------------------------------------------------

static void test_size(void **state)
{
    (void)state;
    struct fixture fixture;
    setup_values(&fixture);
    char text[TEXT_MAX];
    check_condition(&fixture, "", "Invalid ConditionExpression: The expression can not be empty;");
    check_condition(&fixture, repeat(text, "a = :s", " ", 4090, ""), "ok");
    check_condition(&fixture, repeat(text, "a = :s", " ", 4091, ""),
                    "Invalid ConditionExpression: Expression size has exceeded the maximum allowed "
                    "size; expression size: 4097");
    check_update(&fixture, repeat(text, "SET a = :s", " ", 4086, ""), "ok");
    check_update(
        &fixture, repeat(text, "SET a = :s", " ", 4087, ""),
        "Invalid UpdateExpression: Expression size has exceeded the maximum allowed size;");
    fixture_release(&fixture);
}

static void test_operators(void **state)
{
    (void)state;
    struct fixture fixture;
    setup_values(&fixture);
    char text[TEXT_MAX];
    static const char too_many[] = "Invalid ConditionExpression: The expression contains too many "
                                   "operators; operator count: 301";
    check_condition(&fixture, repeat(text, "a = :s", " OR a = :s", 149, ""), "ok");
    check_condition(&fixture, repeat(text, "a = :s", " OR a = :s", 150, ""), too_many);
    check_condition(&fixture, repeat(text, "", "NOT ", 299, "a = :s"), "ok");
    check_condition(&fixture, repeat(text, "", "NOT ", 300, "a = :s"), too_many);
    check_condition(&fixture, repeat(text, "a IN (:s", ",:s", 99, ")"), "ok");
    check_condition(&fixture, repeat(text, "a IN (:s", ",:s", 100, ")"),
                    "Invalid ConditionExpression: The IN operator is provided with too many "
                    "operands; number of operands: 101");
    check_condition(&fixture, repeat(text, "a", "[1]", 31, " = :s"), "ok");
    check_condition(&fixture, repeat(text, "a", "[1]", 32, " = :s"),
                    "Invalid ConditionExpression: The document path has too many nesting levels; "
                    "nesting levels: 33");
    fixture_release(&fixture);
}

// None of these may recurse or take long.
static void test_depth(void **state)
{
    (void)state;
    struct fixture fixture;
    setup_values(&fixture);
    char text[TEXT_MAX];
    char deep[TEXT_MAX];
    check_condition(&fixture, repeat(text, "", "(", 4096, ""),
                    "Invalid ConditionExpression: Syntax error; token: \"<EOF>\", near: \"(\"");
    repeat(deep, "", "(", 2000, "a = :s");
    check_condition(&fixture, repeat(text, deep, ")", 2000, ""),
                    "Invalid ConditionExpression: The expression has redundant parentheses;");
    repeat(deep, "", "(NOT ", 150, "a = :s");
    check_condition(&fixture, repeat(text, deep, ")", 150, ""), "ok");
    repeat(deep, "a < ", "f(", 1300, "b");
    check_condition(&fixture, repeat(text, deep, ")", 1300, ""),
                    "Invalid ConditionExpression: Invalid function name; function: f");
    repeat(deep, "a < ", "size(", 600, "b");
    check_condition(&fixture, repeat(text, deep, ")", 600, ""),
                    "Invalid ConditionExpression: Incorrect operand type for operator or function; "
                    "operator or function: size, operand type: N");
    check_update(&fixture, repeat(text, "SET a = ", "(", 4088, ""),
                 "Invalid UpdateExpression: Syntax error; token: \"<EOF>\", near: \"(\"");
    repeat(deep, "SET a = ", "if_not_exists(b,", 230, ":s");
    check_update(&fixture, repeat(text, deep, ")", 230, ""), "ok");
    fixture_release(&fixture);
}

// A great many paths: no pair-by-pair comparison unless something is wrong.
static void test_many_paths(void **state)
{
    (void)state;
    struct fixture fixture;
    setup_values(&fixture);
    assert_true(fixture_begin(&fixture));
    char text[TEXT_MAX];
    size_t len = 0;
    for (int i = 0; i < 800; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%sz%d", i == 0 ? "" : ",", i);
    struct expr_projection *projection = expr_compile_projection(&fixture.params, slice_str(text));
    assert_non_null(projection);
    fixture_release(&fixture);
}

static void test_white_space(void **state)
{
    (void)state;
    struct fixture fixture;
    setup_values(&fixture);
    check_condition(&fixture, "\n a\t=\r\n:s\n", "ok");
    check_condition(&fixture, " ",
                    "Invalid ConditionExpression: Syntax error; token: \"<EOF>\", near: \" \"");
    check_condition(&fixture, "  = a",
                    "Invalid ConditionExpression: Syntax error; token: \"=\", near: \"  = a\"");
    check_condition(&fixture, "a =  ",
                    "Invalid ConditionExpression: Syntax error; token: \"<EOF>\", near: \"=  \"");
    check_condition(&fixture, "a = :s)  ",
                    "Invalid ConditionExpression: Syntax error; token: \")\", near: \":s)  \"");
    check_condition(&fixture, "# = :s",
                    "Invalid ConditionExpression: Syntax error; token: \"#\", near: \"# =\"");
    check_condition(&fixture, "a = \xe2\x82\xac b",
                    "Invalid ConditionExpression: Syntax error; token: \"\xe2\x82\xac\", near: \"= "
                    "\xe2\x82\xac b\"");
    fixture_release(&fixture);
}

// ---- Placeholders -----------------------------------------------------------------------

static void check_names(const char *names, const char *expected)
{
    struct fixture fixture;
    fixture_init(&fixture);
    fixture_names(&fixture, names);
    assert_false(fixture_begin(&fixture));
    assert_string_equal(fixture_message(&fixture), expected);
    fixture_release(&fixture);
}

static void test_placeholders(void **state)
{
    (void)state;
    check_names("a=b", "ExpressionAttributeNames contains invalid key: Syntax error; key: \"a\"");
    check_names("#=b", "ExpressionAttributeNames contains invalid key: Syntax error; key: \"#\"");
    check_names("#ok=b #a-b=b",
                "ExpressionAttributeNames contains invalid key: Syntax error; key: \"#a-b\"");
    check_names("#a=",
                "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a");
    char name[TEXT_MAX];
    check_names(repeat(name, "#", "a", 255, "=b"),
                "ExpressionAttributeNames contains invalid key: The expression attribute map "
                "contains a key that is too long; size of key: 256");
    struct fixture fixture;
    fixture_init(&fixture);
    assert_true(fixture_begin(&fixture));
    const struct slice placeholder = SLICE_LIT("#a");
    const struct slice huge = {(const uint8_t *)name, 65536};
    assert_false(expr_params_names(&fixture.params, 1, &placeholder, &huge));
    assert_string_equal(fixture_message(&fixture),
                        "ExpressionAttributeNames contains invalid value: Attribute name is too "
                        "large, must be less than 65536 bytes for key #a");
    fixture.values = fixture_value(&fixture, repeat(name, "{:", "a", 255, "=1}"));
    assert_false(fixture_begin(&fixture));
    assert_string_equal(fixture_message(&fixture),
                        "ExpressionAttributeValues contains invalid key: The expression attribute "
                        "map contains a key that is too long;");
    fixture.values = VALUE_NONE;
    assert_true(fixture_begin(&fixture));
    assert_false(expr_params_names(&fixture.params, 0, NULL, NULL));
    assert_string_equal(fixture_message(&fixture), "ExpressionAttributeNames must not be empty");
    assert_true(fixture_begin(&fixture));
    assert_false(expr_params_values(&fixture.params, value_empty_map()));
    assert_string_equal(fixture_message(&fixture), "ExpressionAttributeValues must not be empty");
    fixture.values = fixture_value(&fixture, "{:a=1, b=2}");
    assert_false(fixture_begin(&fixture));
    assert_string_equal(fixture_message(&fixture),
                        "ExpressionAttributeValues contains invalid key: Syntax error; key: \"b\"");
    fixture_release(&fixture);
}

static void check_unused(struct fixture *fixture, const char *text, const char *expected)
{
    check_condition(fixture, text, "ok");
    assert_int_equal(expr_params_finish(&fixture->params), expected == NULL);
    if (expected != NULL)
        assert_string_equal(fixture_message(fixture), expected);
}

static void test_unused(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    fixture_names(&fixture, "#b=x #a=y");
    fixture.values = fixture_value(&fixture, "{:b=1, :a=2, :c=3}");
    check_unused(&fixture, "#a = :a AND #b IN (:b, :c)", NULL);
    check_unused(&fixture, "#a = :a AND z IN (:b, :c)",
                 "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}");
    check_unused(&fixture, "x = :c",
                 "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a, "
                 "#b}");
    check_unused(&fixture, "#a = :a AND #b = :a",
                 "Value provided in ExpressionAttributeValues unused in expressions: keys: {:b, "
                 ":c}");
    fixture_release(&fixture);
}

// ---- Memory -------------------------------------------------------------------------------

static bool compile_everything(struct fixture *fixture)
{
    struct slice list[] = {fixture->values};
    struct legacy_condition entry = {.attribute = SLICE_LIT("a"),
                                     .op = SLICE_LIT("EQ"),
                                     .count = 1,
                                     .values = list,
                                     .has_list = true};
    struct legacy_update change = {.attribute = SLICE_LIT("a"), .value = fixture->values};
    struct expr_params *params = &fixture->params;
    struct buf out;
    struct value_builder builder;
    buf_init(&out, 1 << 16);
    value_builder_init(&builder, &out);
    struct expr_update *update = NULL;
    bool done =
        expr_compile_condition(params, slice_str("(a.b = :s) OR NOT size(a) < :n"), EXPR_FILTER) !=
            NULL &&
        expr_compile_key(params, slice_str("a = :s AND b > :n")) != NULL &&
        expr_compile_projection(params, slice_str("a.b, a.c, d[1]")) != NULL &&
        (update = expr_compile_update(
             params, slice_str("SET a = if_not_exists(c, :n) + :n, l = list_append(l, :l) ADD x :n "
                               "DELETE ss :ss REMOVE l2[1]"))) != NULL &&
        expr_update_apply(update,
                          fixture_value(fixture, "{l=[1], x=2, ss=<\"a\", \"b\">, l2=[1, 2]}"),
                          &builder, &fixture->arena, &(struct steps){0}, &fixture->error) &&
        expr_legacy_condition(&fixture->arena, &fixture->error, LEGACY_EXPECTED, 1, &entry, true) !=
            NULL &&
        expr_legacy_key(&fixture->arena, &fixture->error, 1, &entry) != NULL &&
        expr_legacy_update(&fixture->arena, &fixture->error, 1, &change) != NULL &&
        expr_params_finish(params);
    value_builder_release(&builder);
    buf_release(&out);
    return done;
}

// With every budget up to the one that is enough, the answer is a clean error.
static void test_memory(void **state)
{
    (void)state;
    struct fixture fixture;
    setup_values(&fixture);
    size_t failures = 0;
    for (size_t budget = 64;; budget += budget < 4096 ? 64 : 4096) {
        arena_release(&fixture.arena);
        arena_init(&fixture.arena, budget);
        buf_clear(&fixture.bytes);
        fixture.values = fixture_value(&fixture, values);
        if (fixture_begin(&fixture) && compile_everything(&fixture))
            break;
        assert_int_equal(fixture.error.code, ERR_BUDGET);
        failures++;
    }
    assert_true(failures > 0);
    fixture_release(&fixture);
}

// ---- Questions ------------------------------------------------------------------------------

static void test_condition_questions(void **state)
{
    (void)state;
    struct fixture fixture;
    setup_values(&fixture);
    assert_true(fixture_begin(&fixture));
    struct expr_condition *condition = expr_compile_condition(
        &fixture.params, slice_str("a = :s OR size(b.c) IN (:n, d[0])"), EXPR_CONDITION);
    assert_true(expr_condition_mentions(condition, SLICE_LIT("a")));
    assert_true(expr_condition_mentions(condition, SLICE_LIT("b")));
    assert_true(expr_condition_mentions(condition, SLICE_LIT("d")));
    assert_false(expr_condition_mentions(condition, SLICE_LIT("c")));
    assert_false(expr_condition_nests(condition, SLICE_LIT("a")));
    assert_true(expr_condition_nests(condition, SLICE_LIT("b")));
    assert_true(expr_condition_nests(condition, SLICE_LIT("d")));
    fixture_release(&fixture);
}

static void test_update_questions(void **state)
{
    (void)state;
    struct fixture fixture;
    setup_values(&fixture);
    assert_true(fixture_begin(&fixture));
    struct expr_update *update = expr_compile_update(
        &fixture.params, slice_str("SET a = :s, b.c = x.y, c = d + :n, e = list_append(e, :l), f = "
                                   "if_not_exists(f, :n), g = a ADD h :ss REMOVE i"));
    assert_non_null(update);
    assert_true(expr_update_writes(update, SLICE_LIT("b")));
    assert_false(expr_update_writes(update, SLICE_LIT("x")));
    assert_true(expr_update_nests(update, SLICE_LIT("b")));
    assert_true(expr_update_nests(update, SLICE_LIT("x")));
    assert_false(expr_update_nests(update, SLICE_LIT("a")));
    static const struct {
        const char *name;
        enum value_type type;
    } types[] = {{"a", VALUE_S},  {"c", VALUE_N},     {"e", VALUE_L},     {"f", VALUE_N},
                 {"h", VALUE_SS}, {"b", VALUE_TYPES}, {"g", VALUE_TYPES}, {"i", VALUE_TYPES}};
    for (size_t i = 0; i < COUNT_OF(types); i++)
        assert_int_equal(expr_update_type(update, slice_str(types[i].name)), types[i].type);
    fixture_release(&fixture);
}

static bool count_visit(void *context, struct slice attribute)
{
    size_t *count = context;
    return ++*count < 2 && attribute.len == 1;
}

static void test_projection_questions(void **state)
{
    (void)state;
    struct fixture fixture;
    setup_values(&fixture);
    assert_true(fixture_begin(&fixture));
    struct expr_projection *projection =
        expr_compile_projection(&fixture.params, slice_str("a, b.c, b.d, c"));
    assert_true(expr_projection_nests(projection, SLICE_LIT("b")));
    assert_false(expr_projection_nests(projection, SLICE_LIT("a")));
    assert_false(expr_projection_nests(projection, SLICE_LIT("zz")));
    size_t count = 0;
    assert_false(expr_projection_each(projection, count_visit, &count));
    assert_int_equal(count, 2);
    fixture_release(&fixture);
}

// UPDATED_OLD and UPDATED_NEW return what an update touches.
static void test_touched(void **state)
{
    (void)state;
    struct fixture fixture;
    setup_values(&fixture);
    assert_true(fixture_begin(&fixture));
    struct expr_update *update = expr_compile_update(
        &fixture.params, slice_str("SET b.c = :s, a = :n, l[1] = :s REMOVE zz"));
    struct buf out;
    struct value_builder builder;
    buf_init(&out, 1 << 16);
    value_builder_init(&builder, &out);
    expr_project(expr_update_touched(update),
                 fixture_value(&fixture, "{a=1, b={c=2, d=3}, l=[4, 5, 6], z=7}"), &builder,
                 &(struct steps){0});
    assert_string_equal(fixture_text(&fixture, buf_view(&out)), "{a=1, b={c=2}, l=[5]}");
    value_builder_release(&builder);
    buf_release(&out);
    fixture_release(&fixture);
}

// The old parameters have a bound of their own.
static void test_legacy_entries(void **state)
{
    (void)state;
    struct fixture fixture;
    setup_values(&fixture);
    static struct slice names[LIMIT_LEGACY_ENTRIES + 1];
    static char text[LIMIT_LEGACY_ENTRIES + 1][8];
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        (void)snprintf(text[i], sizeof(text[i]), "a%zu", i);
        names[i] = slice_str(text[i]);
    }
    assert_true(fixture_begin(&fixture));
    assert_non_null(
        expr_projection_of_names(&fixture.arena, &fixture.error, LIMIT_LEGACY_ENTRIES, names));
    assert_null(expr_projection_of_names(&fixture.arena, &fixture.error, COUNT_OF(names), names));
    assert_non_null(strstr(fixture_message(&fixture), "at most 2000"));
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_legacy_entries),   cmocka_unit_test(test_size),
        cmocka_unit_test(test_operators),        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_many_paths),       cmocka_unit_test(test_white_space),
        cmocka_unit_test(test_placeholders),     cmocka_unit_test(test_unused),
        cmocka_unit_test(test_memory),           cmocka_unit_test(test_condition_questions),
        cmocka_unit_test(test_update_questions), cmocka_unit_test(test_projection_questions),
        cmocka_unit_test(test_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
