// Statements to plans: what becomes a Query, a Scan or the key of one item, in a notation of one
// line; and what is refused. The messages are tested in tests/golden/partiql.txt.
#include "expr/fixture.h"

#include "partiql/partiql.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct table *table_make(void)
{
    struct table *table = table_new();
    assert_non_null(table);
    table->name = SLICE_LIT("tab");
    table->keys = (struct key_schema){
        .hash_count = 1,
        .range_count = 1,
        .parts = {{SLICE_LIT("pk"), VALUE_S}, {SLICE_LIT("sk"), VALUE_N}},
    };
    table->index_count = 1;
    table->indexes[0] = (struct index){
        .name = SLICE_LIT("wide"),
        .global = true,
        .keys = {.hash_count = 2,
                 .range_count = 2,
                 .parts = {{SLICE_LIT("a"), VALUE_S},
                           {SLICE_LIT("b"), VALUE_N},
                           {SLICE_LIT("c"), VALUE_S},
                           {SLICE_LIT("d"), VALUE_N}}},
    };
    return table;
}

// "query "x" | 1 | > 5, filter, reverse", "scan, filter", "key {…} exact".
static void describe(struct fixture *fixture, const struct partiql_plan *plan,
                     const struct key_schema *keys, struct buf *out)
{
    static const char *const ops[] = {"", "=", "<", "<=", ">", ">=", "between", "begins"};
    if (plan->kind == PARTIQL_SELECT && plan->range_count == 0)
        buf_text(out, "scan");
    for (size_t r = 0; r < plan->range_count; r++) {
        const struct key_range *range = &plan->ranges[r];
        buf_text(out, r == 0 ? "query" : "; query");
        for (size_t i = 0; i < keys->hash_count; i++)
            buf_printf(out, " %s", fixture_text(fixture, range->hash[i]));
        for (size_t i = 0; i < range->range_equal; i++)
            buf_printf(out, " = %s", fixture_text(fixture, range->range[i]));
        if (range->op != KEY_NONE)
            buf_printf(out, " %s %s", ops[range->op], fixture_text(fixture, range->bounds[0]));
        if (range->op == KEY_BETWEEN)
            buf_printf(out, " %s", fixture_text(fixture, range->bounds[1]));
    }
    if (plan->item.len > 0)
        buf_printf(out, "item %s", fixture_text(fixture, plan->item));
    if (plan->key.len > 0)
        buf_printf(out, "%skey %s%s", plan->kind == PARTIQL_SELECT ? ", " : "",
                   fixture_text(fixture, plan->key), plan->exact ? " exact" : "");
    if (plan->filter != NULL)
        buf_text(out, ", filter");
    if (plan->condition != NULL)
        buf_text(out, ", condition");
    if (plan->reverse)
        buf_text(out, ", reverse");
    for (size_t i = 0; i < plan->output_count; i++)
        buf_printf(out, "%s%.*s", i == 0 ? ", outputs " : " ", SLICE_FMT(plan->outputs[i].name));
}

// What a statement comes to, or its message.
static void run(struct fixture *fixture, const char *text, struct buf *out)
{
    static const uint8_t parameter[] = {VALUE_TAG_S, 1, 'p'};
    struct slice parameters[] = {slice_of(parameter, sizeof(parameter))};
    struct table *table = table_make();
    assert_true(fixture_begin(fixture));
    struct partiql_statement *statement = partiql_parse(
        &fixture->arena, slice_str(text), strchr(text, '?') != NULL, parameters, &fixture->error);
    struct partiql_plan plan;
    const struct index *index =
        statement != NULL && statement->index.ptr != NULL ? &table->indexes[0] : NULL;
    buf_clear(out);
    if (statement != NULL &&
        partiql_plan(&fixture->arena, statement, table, index, &plan, &fixture->error))
        describe(fixture, &plan, index != NULL ? &index->keys : &table->keys, out);
    else
        buf_text(out, fixture->error.message);
    buf_byte(out, 0);
    assert_false(out->failed);
    table_release(table);
}

#define MULTIPLE                                                                                   \
    "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or "           \
    "multi-attribute RANGE keys."
#define OVERLAPPING "Overlapping conditions with range keys are not supported in where clause"

#define HASH_KEY                                                                                   \
    "Must have hash key in ORDER BY clause when more than one hash key condition specified in "    \
    "WHERE clause."

static const struct {
    const char *text;
    const char *expected;
} cases[] = {
    // Queries.
    {"SELECT * FROM tab WHERE pk='x'", "query \"x\""},
    {"select * from \"tab\" where \"pk\" = ?", "query \"p\""},
    {"SELECT * FROM tab WHERE 'x'=pk AND 5<sk", "query \"x\" > 5"},
    {"SELECT * FROM tab WHERE pk='x' AND sk=1", "query \"x\" = 1, key {pk=\"x\", sk=1} exact"},
    {"SELECT * FROM tab WHERE sk=1 AND pk='x' AND v=2",
     "query \"x\" = 1, key {pk=\"x\", sk=1}, filter"},
    {"SELECT * FROM tab WHERE pk='x' AND sk BETWEEN 1 AND 2", "query \"x\" between 1 2"},
    {"SELECT * FROM tab WHERE pk='x' AND sk>=1 AND sk<=2", "query \"x\" between 1 2"},
    {"SELECT * FROM tab WHERE pk='x' AND sk>1 AND sk<=2", "query \"x\" between 1 2, filter"},
    {"SELECT * FROM tab WHERE pk='x' AND (sk=1 OR sk=2)", "query \"x\", filter"},
    {"SELECT * FROM tab WHERE pk='x' AND sk<>1", "query \"x\", filter"},
    {"SELECT * FROM tab WHERE pk='x' AND pk='y'", "query \"x\", filter"},
    {"SELECT * FROM tab WHERE (pk='x' AND (sk<1)) AND v IS MISSING", "query \"x\" < 1, filter"},
    {"SELECT * FROM tab WHERE pk IN ['y','x']", "query \"x\"; query \"y\""},
    {"SELECT * FROM tab WHERE pk IN ['y','x','y']", OVERLAPPING},
    {"SELECT * FROM tab WHERE pk IN ['y','x'] ORDER BY sk", HASH_KEY},
    {"SELECT * FROM tab WHERE pk IN ('y','x') AND sk=1 ORDER BY pk DESC",
     "query \"y\" = 1; query \"x\" = 1"},
    {"SELECT * FROM tab WHERE pk='x' ORDER BY sk DESC", "query \"x\", reverse"},
    {"SELECT * FROM tab WHERE pk='x' ORDER BY pk DESC, sk ASC", "query \"x\""},
    {"SELECT * FROM tab.wide WHERE a='x' AND b=1", MULTIPLE},
    {"SELECT COUNT(*) FROM tab.wide WHERE a=1", MULTIPLE},
    // Branches of OR.
    {"SELECT * FROM tab WHERE pk='x' AND (sk=1 OR v=2)", OVERLAPPING},
    {"SELECT * FROM tab WHERE pk='x' AND (v=2 OR (w=1 AND sk>1))", OVERLAPPING},
    {"SELECT * FROM tab WHERE pk IN ('x','y') AND (sk BETWEEN 1 AND 2 OR v=2)", OVERLAPPING},
    {"SELECT * FROM tab WHERE (pk='x' AND sk=1) OR (pk='x' AND v=1)", OVERLAPPING},
    {"SELECT * FROM tab WHERE (pk='x' AND sk=1) OR pk='x'", OVERLAPPING},
    {"SELECT * FROM tab WHERE pk='x' AND (sk>1 OR sk<3)", OVERLAPPING},
    {"SELECT * FROM tab WHERE pk='x' AND (sk>1 AND sk<=3 OR sk=3)", OVERLAPPING},
    {"SELECT * FROM tab WHERE pk='x' AND (sk>1 AND sk<3 OR sk=3)", "query \"x\", filter"},
    {"SELECT * FROM tab WHERE pk='x' AND (sk<1 OR sk>=1)", "query \"x\", filter"},
    {"SELECT * FROM tab WHERE pk='x' AND (sk BETWEEN 1 AND 2 OR sk BETWEEN 2 AND 3)", OVERLAPPING},
    {"SELECT * FROM tab WHERE pk='x' AND (w=1 AND (sk=1 OR sk=2) OR sk=1)", "query \"x\", filter"},
    {"SELECT * FROM tab WHERE (pk='y' AND sk=1) OR pk='x'", "query \"x\"; query \"y\" = 1, filter"},
    {"SELECT * FROM tab WHERE pk='y' AND sk>1 OR pk='x' OR pk='y' AND sk<1",
     "query \"x\"; query \"y\" < 1; query \"y\" > 1, filter"},
    {"SELECT * FROM tab WHERE pk='y' AND sk>1 OR pk='x' OR pk='y' AND sk<1 ORDER BY pk DESC",
     "query \"y\" < 1; query \"y\" > 1; query \"x\", filter"},
    {"SELECT * FROM tab WHERE pk='y' AND sk>1 OR pk='x' OR pk='y' AND sk<1 ORDER BY pk, sk DESC",
     "query \"x\"; query \"y\" > 1; query \"y\" < 1, filter, reverse"},
    {"SELECT * FROM tab WHERE pk='x' AND sk=1 OR pk='x' AND NOT sk=2", "query \"x\", filter"},
    {"SELECT * FROM tab WHERE pk='x' AND sk>1 AND sk<3 OR pk='x' AND sk=3", "query \"x\", filter"},
    {"SELECT * FROM tab WHERE pk='x' OR pk='x'", "query \"x\", filter"},
    {"SELECT * FROM tab WHERE (pk='x' OR pk='y') AND v=1", "query \"x\"; query \"y\", filter"},
    {"SELECT * FROM tab WHERE sk>1 AND (pk='y' AND v=1 OR pk='x' AND sk=5)",
     "query \"x\" = 5; query \"y\" > 1, filter"},
    {"SELECT * FROM tab WHERE (v=1 OR w=2) AND (pk='y' OR pk='x')",
     "query \"x\"; query \"y\", filter"},
    {"SELECT * FROM tab WHERE (v=1 OR sk=2) AND (pk='y' OR pk='x')", OVERLAPPING},
    {"SELECT * FROM tab WHERE (v=1 OR pk='z') AND (pk='y' OR pk='x')",
     "query \"x\"; query \"y\", filter"},
    {"SELECT * FROM tab WHERE (v=1 OR pk='z') AND (pk='y' OR w=1)", "scan, filter"},
    {"SELECT * FROM tab WHERE (pk='x' AND sk=1) OR v=1", "scan, filter"},
    {"SELECT * FROM tab WHERE pk='x' AND (sk<>1 OR v=2)", "query \"x\", filter"},
    {"SELECT * FROM tab WHERE pk='x' AND (NOT sk=1 OR v=2)", "query \"x\", filter"},
    {"SELECT * FROM tab WHERE pk='x' AND (sk=1 OR sk<>2)", "query \"x\", filter"},
    {"SELECT * FROM tab WHERE pk='x' AND (v=1 OR w=2)", "query \"x\", filter"},
    // Scans.
    {"SELECT * FROM tab", "scan"},
    {"SELECT * FROM tab WHERE sk=1", "scan, filter"},
    {"SELECT * FROM tab WHERE pk='x' OR sk=1", "scan, filter"},
    {"SELECT * FROM tab WHERE NOT pk='x'", "scan, filter"},
    {"SELECT * FROM tab WHERE pk>'x'", "scan, filter"},
    {"SELECT * FROM tab WHERE pk=v", "scan, filter"},
    {"SELECT * FROM tab WHERE pk IN ['x', v]", "scan, filter"},
    // Outputs.
    {"SELECT pk, m.x, m.l[0][1], \"c d\".\"e\"\"f\" FROM tab", "scan, outputs pk x l[0][1] e\"f"},
    // Writes.
    {"INSERT INTO tab VALUE {'pk':'x','sk':-1.50,'l':[1,'it''s',true,null,{}],'s':<<'b','a'>>}",
     "item {l=[1, \"it's\", true, null, {}], pk=\"x\", s=<\"a\", \"b\">, sk=-1.5}, condition"},
    {"UPDATE tab SET v=1 WHERE pk='x' AND sk=1", "key {pk=\"x\", sk=1} exact, condition"},
    {"UPDATE tab SET v=1 REMOVE w WHERE pk='x' AND sk=1 AND v=0",
     "key {pk=\"x\", sk=1}, condition"},
    {"DELETE FROM tab WHERE pk='x' AND sk=1", "key {pk=\"x\", sk=1} exact"},
    {"DELETE FROM tab WHERE pk='x' AND sk=1 AND v=0", "key {pk=\"x\", sk=1}, condition"},
    {"EXISTS(SELECT * FROM tab WHERE pk='x' AND sk=1 AND v=0)", "key {pk=\"x\", sk=1}, condition"},
    {"EXISTS(SELECT * FROM tab WHERE v=0)", ""},
    // Comments, line breaks, positions.
    {"SELECT * -- all\nFROM /* the\n table */ tab;", "scan"},
    {"SELECT *\nFROM tab\n  oops", "Aliasing is not supported"},
    {"SELECT *\nFROM tab\n  WHERE oops(a)", "Unrecognized function: oops at 3:9:4"},
    // An update that begins with its table.
    {"FROM tab WHERE pk='x' AND sk=1 SET v=1 REMOVE w", "key {pk=\"x\", sk=1} exact, condition"},
    {"FROM tab WHERE pk='x' AND sk=1 AND v=0 REMOVE w", "key {pk=\"x\", sk=1}, condition"},
};

static void test_cases(void **state)
{
    (void)state;
    struct fixture fixture;
    struct buf out;
    fixture_init(&fixture);
    buf_init(&out, 1 << 16);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        run(&fixture, cases[i].text, &out);
        if (strcmp((const char *)out.ptr, cases[i].expected) != 0)
            print_error("%s\n", cases[i].text);
        assert_string_equal((const char *)out.ptr, cases[i].expected);
    }
    buf_release(&out);
    fixture_release(&fixture);
}

// However deep a statement goes, it is refused in words.
static void test_depth(void **state)
{
    (void)state;
    static const struct {
        const char *before;
        const char *open;
        const char *middle;
        const char *close;
    } nests[] = {
        {"SELECT * FROM tab WHERE ", "(", "a=1", ")"},
        {"SELECT * FROM tab WHERE a=", "[", "1", "]"},
        {"SELECT * FROM tab WHERE a=", "{'a':", "1", "}"},
        {"SELECT * FROM tab WHERE a=", "- ", "b", ""},
        {"SELECT * FROM tab WHERE ", "size(", "a", ")"},
        {"UPDATE tab SET a=", "1+", "1", ""},
        {"UPDATE tab SET a=", "b*", "1", ""},
        {"UPDATE tab SET a=", "list_append(a,", "b", ")"},
    };
    struct fixture fixture;
    struct buf out;
    struct buf text;
    fixture_init(&fixture);
    buf_init(&out, 1 << 16);
    buf_init(&text, 1 << 20);
    for (size_t i = 0; i < COUNT_OF(nests); i++) {
        buf_clear(&text);
        buf_text(&text, nests[i].before);
        for (int k = 0; k < 1000; k++)
            buf_text(&text, nests[i].open);
        buf_text(&text, nests[i].middle);
        for (int k = 0; k < 1000; k++)
            buf_text(&text, nests[i].close);
        buf_byte(&text, 0);
        run(&fixture, (const char *)text.ptr, &out);
        assert_string_equal((const char *)out.ptr, "Nesting Levels have exceeded supported limits");
    }
    buf_release(&text);
    buf_release(&out);
    fixture_release(&fixture);
}

// Long chains are not deep.
static void test_chain(void **state)
{
    (void)state;
    struct fixture fixture;
    struct buf out;
    struct buf text;
    fixture_init(&fixture);
    buf_init(&out, 1 << 16);
    buf_init(&text, 1 << 20);
    buf_text(&text, "SELECT * FROM tab WHERE NOT NOT pk='x'");
    for (int k = 0; k < 140; k++)
        buf_text(&text, " AND a=1");
    buf_byte(&text, 0);
    run(&fixture, (const char *)text.ptr, &out);
    assert_string_equal((const char *)out.ptr, "query \"x\", filter");
    buf_release(&text);
    buf_release(&out);
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
