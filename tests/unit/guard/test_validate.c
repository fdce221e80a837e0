// Types of values: what fits, and the words for what does not. Values are written as plain JSON;
// sets and binary, which JSON has not, as {"$set": […]} and {"$binary": "…"}.
#include "guard/guard_support.h"

#include "eval/validate.h"
#include "value/number.h"

static const char types[] = "type Name = string(1..5)\n"
                            "type Point { x: number  y: number?  label: Name? }\n"
                            "table things { key id  unknown reject }\n"
                            "entity Thing {\n"
                            "  id string\n"
                            "  s string\n"
                            "  short string(2..4)\n"
                            "  n number\n"
                            "  range number(1..10)\n"
                            "  atleast number(0..)\n"
                            "  i integer\n"
                            "  small integer(-3..3)\n"
                            "  b boolean\n"
                            "  bin binary\n"
                            "  u uuid\n"
                            "  t timestamp\n"
                            "  d date\n"
                            "  e epoch\n"
                            "  mail email\n"
                            "  link url\n"
                            "  anything any\n"
                            "  role \"user\" | \"admin\"\n"
                            "  len 5 | 8\n"
                            "  yes true\n"
                            "  maybe string | null\n"
                            "  both number | string(..3)\n"
                            "  list string[]\n"
                            "  few number[](1..2)\n"
                            "  words set<string>\n"
                            "  primes set<integer>\n"
                            "  colors set<\"red\" | \"green\">\n"
                            "  scores Record<string, number>\n"
                            "  point Point\n"
                            "  points Point[]\n"
                            "  maybe_point Point | null\n"
                            "  map object\n"
                            "  name Name\n"
                            "}\n";

static const struct {
    const char *attribute;
    const char *value;
    const char *words; // NULL: it fits
} cases[] = {
    {"s", "\"\"", NULL},
    {"s", "1", "/s: expected string, got 1"},
    {"s", "null", "/s: expected string, got null"},
    {"s", "[1]", "/s: expected string, got a list"},
    {"s", "{}", "/s: expected string, got a map"},
    {"s", "{\"$set\":[\"a\"]}", "/s: expected string, got a set"},
    {"s", "{\"$binary\":\"a\"}", "/s: expected string, got binary"},
    {"short", "\"éé\"", NULL},
    {"short", "\"éééé\"", NULL},
    {"short", "\"a\"", "/short: expected string(2..4), got \"a\""},
    {"short", "\"abcde\"", "/short: expected string(2..4), got \"abcde\""},
    {"n", "-1.5", NULL},
    {"n", "\"1\"", "/n: expected number, got \"1\""},
    {"n", "true", "/n: expected number, got true"},
    {"range", "1", NULL},
    {"range", "10", NULL},
    {"range", "0.99", "/range: expected number(1..10), got 0.99"},
    {"range", "10.01", "/range: expected number(1..10), got 10.01"},
    {"atleast", "0", NULL},
    {"atleast", "1e100", NULL},
    {"atleast", "-1", "/atleast: expected number(0..), got -1"},
    {"i", "0", NULL},
    {"i", "120000", NULL},
    {"i", "-100", NULL},
    {"i", "12345678901234567890123456789012345678", NULL},
    {"i", "1e100", NULL},
    {"i", "0.5", "/i: expected integer, got 0.5"},
    {"i", "-0.5", "/i: expected integer, got -0.5"},
    {"i", "100.01", "/i: expected integer, got 100.01"},
    {"i", "-12345.6", "/i: expected integer, got -12345.6"},
    {"small", "-3", NULL},
    {"small", "4", "/small: expected integer(-3..3), got 4"},
    {"b", "false", NULL},
    {"b", "0", "/b: expected boolean, got 0"},
    {"bin", "{\"$binary\":\"abc\"}", NULL},
    {"bin", "\"abc\"", "/bin: expected binary, got \"abc\""},
    {"u", "\"0190c42e-ABCD-7000-8000-0123456789ab\"", NULL},
    {"u", "\"0190c42eABCD700080000123456789ab\"",
     "/u: expected uuid, got \"0190c42eABCD700080000123456789ab\""},
    {"u", "\"0190c42e-ABCD-7000-8000-0123456789ag\"",
     "/u: expected uuid, got \"0190c42e-ABCD-7000-8000-0123456789ag\""},
    {"t", "\"2026-11-16T03:40:00.000Z\"", NULL},
    {"t", "\"2026-02-30T03:40:00.000Z\"",
     "/t: expected timestamp, got \"2026-02-30T03:40:00.000Z\""},
    {"t", "1794800400", "/t: expected timestamp, got 1794800400"},
    {"d", "\"2024-02-29\"", NULL},
    {"d", "\"2023-02-29\"", "/d: expected date, got \"2023-02-29\""},
    {"e", "1794800400", NULL},
    {"e", "1794800400123", "/e: expected epoch, got 1794800400123"},
    {"e", "1.5", "/e: expected epoch, got 1.5"},
    {"mail", "\"a.b+c@example.co.uk\"", NULL},
    {"mail", "\"x\"", "/mail: expected email, got \"x\""},
    {"mail", "\"@example.com\"", "/mail: expected email, got \"@example.com\""},
    {"mail", "\"a@b@c\"", "/mail: expected email, got \"a@b@c\""},
    {"mail", "\"a b@example.com\"", "/mail: expected email, got \"a b@example.com\""},
    {"mail", "\"a@example..com\"", "/mail: expected email, got \"a@example..com\""},
    {"mail", "\"a@example.com.\"", "/mail: expected email, got \"a@example.com.\""},
    {"link", "\"https://example.com/a?b#c\"", NULL},
    {"link", "\"s3://bucket/key\"", NULL},
    {"link", "\"example.com\"", "/link: expected url, got \"example.com\""},
    {"link", "\"https:///a\"", "/link: expected url, got \"https:///a\""},
    {"link", "\"https://a b\"", "/link: expected url, got \"https://a b\""},
    {"anything", "{\"a\":[null]}", NULL},
    {"role", "\"admin\"", NULL},
    {"role", "\"root\"", "/role: expected \"user\" | \"admin\", got \"root\""},
    {"len", "8.0", NULL},
    {"len", "9", "/len: expected 5 | 8, got 9"},
    {"len", "\"8\"", "/len: expected 5 | 8, got \"8\""},
    {"yes", "true", NULL},
    {"yes", "false", "/yes: expected true, got false"},
    {"maybe", "null", NULL},
    {"maybe", "\"x\"", NULL},
    {"maybe", "3", "/maybe: expected string | null, got 3"},
    {"both", "3", NULL},
    {"both", "\"abc\"", NULL},
    {"both", "\"abcd\"", "/both: expected number | string(..3), got \"abcd\""},
    {"list", "[]", NULL},
    {"list", "[\"a\",2,\"c\",null]",
     "/list/1: expected string, got 2; /list/3: expected string, got null"},
    {"list", "\"a\"", "/list: expected string[], got \"a\""},
    {"few", "[1,2]", NULL},
    {"few", "[]", "/few: expected number[](1..2), got a list"},
    {"few", "[1,2,\"x\"]",
     "/few: expected number[](1..2), got a list; /few/2: expected number, got \"x\""},
    {"words", "{\"$set\":[\"a\",\"b\"]}", NULL},
    {"words", "{\"$set\":[1]}", "/words: expected set<string>, got a set"},
    {"words", "[\"a\"]", "/words: expected set<string>, got a list"},
    {"primes", "{\"$set\":[2,3]}", NULL},
    {"primes", "{\"$set\":[2.5,3]}", "/primes: expected set<integer>, got a set"},
    {"colors", "{\"$set\":[\"red\"]}", NULL},
    {"colors", "{\"$set\":[\"red\",\"blue\"]}",
     "/colors: expected set<\"red\" | \"green\">, got a set"},
    {"scores", "{\"a/b\":1,\"c~d\":2}", NULL},
    {"scores", "{\"a/b\":1,\"a~/\":\"x\"}", "/scores/a~0~1: expected number, got \"x\""},
    {"scores", "[1]", "/scores: expected Record<string, number>, got a list"},
    {"point", "{\"x\":1,\"label\":\"abc\"}", NULL},
    {"point", "{\"y\":\"1\",\"label\":\"abcdef\",\"z\":1}",
     "/point/label: expected Name, got \"abcdef\"; /point/x: expected number, got nothing; "
     "/point/y: expected number, got \"1\"; /point/z: expected nothing (no such attribute), got 1"},
    {"point", "{\"w\":1,\"x\":1}", "/point/w: expected nothing (no such attribute), got 1"},
    {"points", "[{\"x\":1},{\"x\":true}]", "/points/1/x: expected number, got true"},
    {"maybe_point", "null", NULL},
    {"maybe_point", "{\"x\":1}", NULL},
    {"maybe_point", "{\"x\":null}", "/maybe_point/x: expected number, got null"},
    {"map", "{\"x\":[]}", NULL},
    {"map", "[]", "/map: expected object, got a list"},
    {"s", "[]", "/s: expected string, got a list"},
};

// Plain JSON has neither sets nor binary.
static struct slice special_value(struct arena *arena, struct slice value)
{
    if (value_type(value) != VALUE_M)
        return value;
    struct slice set = value_get(value, slice_str("$set"));
    struct slice binary = value_get(value, slice_str("$binary"));
    if (set.len == 0 && binary.len == 0)
        return value;
    struct buf out;
    struct value_builder builder;
    buf_init(&out, 4096);
    value_builder_init(&builder, &out);
    if (binary.len > 0) {
        value_put_binary(&builder, value_bytes(binary));
    } else {
        struct value_iter iter;
        value_open_set(&builder, value_type(value_at(set, 0)) == VALUE_S ? VALUE_SS : VALUE_NS);
        value_iter_init(&iter, set);
        while (value_iter_next(&iter))
            value_member(&builder, value_bytes(iter.value));
        assert_true(value_close(&builder));
    }
    struct slice made = exact(arena, buf_view(&out));
    value_builder_release(&builder);
    buf_release(&out);
    return made;
}

static const char *judge(struct fixture *fixture, const char *name, const char *text,
                         enum model_leave unknown, struct model_report *report)
{
    const struct model_attribute *attribute =
        model_entity_attribute(&fixture->table->entities[0], slice_str(name));
    assert_non_null(attribute);
    struct slice item = item_of(&fixture->arena, arena_printf(&fixture->arena, "{\"v\":%s}", text));
    struct slice value = special_value(&fixture->arena, value_get(item, slice_str("v")));
    value = exact(&fixture->arena, value);
    struct model_report warnings;
    model_report_init(report, &fixture->arena);
    model_report_init(&warnings, &fixture->arena);
    struct model_check check;
    check_init(&check);
    struct model_judge rules = {&check, unknown, report, &warnings};
    struct model_pointer at = {.name = attribute->name};
    model_type_judge(attribute->type, value, &at, &rules);
    if (unknown == MODEL_REPORT)
        *report = warnings;
    else
        assert_int_equal(report->count == 0,
                         model_type_fits(&check, attribute->type, value, unknown == MODEL_REJECT));
    check_release(&check);
    struct buf words;
    buf_init(&words, 1 << 20);
    model_report_text(report, &words);
    const char *all = arena_printf(&fixture->arena, "%.*s", SLICE_FMT(buf_view(&words)));
    buf_release(&words);
    assert_non_null(all);
    return all;
}

static void test_types(void **state)
{
    (void)state;
    struct fixture fixture;
    struct model_report report;
    fixture_init(&fixture, types);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *found =
            judge(&fixture, cases[i].attribute, cases[i].value, MODEL_REJECT, &report);
        const char *expected = cases[i].words != NULL ? cases[i].words : "";
        if (strcmp(found, expected) != 0)
            fail_msg("%s as %s: %s", cases[i].value, cases[i].attribute, found);
    }
    fixture_release(&fixture);
}

static void test_unknown_fields(void **state)
{
    (void)state;
    struct fixture fixture;
    struct model_report report;
    fixture_init(&fixture, types);
    const char *value = "{\"x\":1,\"z\":2}";
    assert_string_equal(judge(&fixture, "point", value, MODEL_ALLOW, &report), "");
    const char *words = "/point/z: expected nothing (no such attribute), got 2";
    assert_string_equal(judge(&fixture, "point", value, MODEL_REJECT, &report), words);
    assert_string_equal(judge(&fixture, "point", value, MODEL_REPORT, &report), words);
    fixture_release(&fixture);
}

// Texts are cut, and cannot break a header; lists of violations end.
static void test_words(void **state)
{
    (void)state;
    struct fixture fixture;
    struct model_report report;
    fixture_init(&fixture, types);
    assert_string_equal(judge(&fixture, "n", "\"a\\r\\nb\\u0007\"", MODEL_ALLOW, &report),
                        "/n: expected number, got \"a  b \"");
    assert_string_equal(judge(&fixture, "n",
                              "\"éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé+\"",
                              MODEL_ALLOW, &report),
                        "/n: expected number, got "
                        "\"éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé…\"");
    judge(&fixture, "list", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", MODEL_ALLOW,
          &report);
    assert_int_equal(report.count, MODEL_VIOLATIONS_MAX);
    assert_int_equal(report.more, 3);
    const char *all = judge(&fixture, "list", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
                            MODEL_ALLOW, &report);
    assert_string_equal(all + strlen(all) - 12, "; and 3 more");
    struct model_violations *details = model_report_details(&report, slice_str("Thing"));
    assert_non_null(details);
    assert_int_equal(details->count, MODEL_VIOLATIONS_MAX);
    assert_true(slice_is(details->list[19].pointer, "/list/19"));
    assert_true(slice_is(details->list[19].expected, "string"));
    assert_true(slice_is(details->list[19].actual, "1"));
    fixture_release(&fixture);
}

// ---- Work -------------------------------------------------------------------------------------

// Whether a value of so many levels fits, and the steps that it took.
static bool fits_deep(struct fixture *fixture, const char *inmost, int levels, uint64_t *steps)
{
    const struct model_type *type = fixture->table->entities[0].attributes[1].type;
    struct buf text;
    buf_init(&text, 1 << 10);
    for (int i = 0; i < levels; i++)
        buf_text(&text, "{\"x\":");
    buf_text(&text, inmost);
    for (int i = 0; i < levels; i++)
        buf_byte(&text, '}');
    buf_byte(&text, 0);
    struct slice value = item_of(&fixture->arena, (char *)text.ptr);
    buf_release(&text);
    struct model_check check;
    check_init(&check);
    bool fits = model_type_fits(&check, type, value, false);
    *steps = check.steps.taken;
    check_release(&check);
    return fits;
}

// Two types, each of which may hold either: 2 to the 28th ways to find that the inmost value is
// wrong.
static void test_many_ways(void **state)
{
    (void)state;
    struct fixture fixture;
    uint64_t steps;
    fixture_init(&fixture, "table trees { key id }\n"
                           "type A { x: A | B | string }\n"
                           "type B { x: A | B | string  y: string? }\n"
                           "entity Tree { id string  root: A | B }\n");
    assert_true(fits_deep(&fixture, "\"1\"", 29, &steps));
    assert_false(fits_deep(&fixture, "100", 29, &steps));
    assert_true(steps < 1000);
    fixture_release(&fixture);
}

// The first option is wrong at every level, which is known only when all inside of it was tried.
static void test_last_option(void **state)
{
    (void)state;
    struct fixture fixture;
    uint64_t steps;
    fixture_init(&fixture, "table trees { key id }\n"
                           "type A = B | C\n"
                           "type B { x: A  z: string }\n"
                           "type C { x: A? }\n"
                           "entity Tree { id string  root: A }\n");
    assert_true(fits_deep(&fixture, "{}", 30, &steps));
    assert_true(steps < 1000);
    assert_false(fits_deep(&fixture, "{\"x\":1}", 29, &steps));
    assert_true(steps < 1000);
    fixture_release(&fixture);
}

// As many members as an item has room for, each of them in a union: the steps are theirs, and no
// more.
static void test_wide_unions(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, "table trees { key id }\n"
                           "type A = B[] | C[]\n"
                           "type B { x: A?  z: string }\n"
                           "type C { x: A? }\n"
                           "entity Tree { id string  root: A }\n");
    const struct model_type *type = fixture.table->entities[0].attributes[1].type;
    struct buf text;
    buf_init(&text, 1 << 20);
    buf_text(&text, "{\"v\":[");
    enum { MEMBERS = 5000 };
    for (int i = 0; i < MEMBERS; i++)
        buf_text(&text, i == 0 ? "{\"x\":[{\"x\":[{}]}]}" : ",{\"x\":[{\"x\":[{}]}]}");
    buf_add(&text, "]}", 3);
    struct slice value = value_get(item_of(&fixture.arena, (char *)text.ptr), SLICE_LIT("v"));
    buf_release(&text);
    struct model_check check;
    check_init(&check);
    assert_true(model_type_fits(&check, type, value, true));
    assert_true(check.steps.taken < 40 * MEMBERS);
    check_release(&check);
    fixture_release(&fixture);
}

// Members of sets count, with each type that they can be.
static void test_sets_count(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, "table sets { key id }\n"
                           "entity Set { id string  some set<\"a\" | \"b\" | \"c\">? }\n");
    struct buf out;
    struct value_builder builder;
    buf_init(&out, 1 << 20);
    value_builder_init(&builder, &out);
    value_open_set(&builder, VALUE_SS);
    enum { MEMBERS = 1000 };
    for (int i = 0; i < MEMBERS; i++) {
        char member[16];
        (void)snprintf(member, sizeof(member), "%d", i);
        value_member(&builder, slice_str(member));
    }
    assert_true(value_close(&builder));
    struct model_check check;
    check_init(&check);
    check.steps.limit = 3 * MEMBERS;
    assert_false(model_type_fits(&check, fixture.table->entities[0].attributes[1].type,
                                 buf_view(&out), false));
    assert_true(check_over(&check));
    check_release(&check);
    value_builder_release(&builder);
    buf_release(&out);
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),       cmocka_unit_test(test_unknown_fields),
        cmocka_unit_test(test_words),       cmocka_unit_test(test_many_ways),
        cmocka_unit_test(test_last_option), cmocka_unit_test(test_wide_unions),
        cmocka_unit_test(test_sets_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
