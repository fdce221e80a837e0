// Expressions: each default of an entity is evaluated over an item.
#include "guard/guard_support.h"

#include "eval/eval.h"
#include "model/time.h"

static const char source[] = "table things { key id }\n"
                             "entity Thing {\n"
                             "  id string\n"
                             "  a number?\n"
                             "  b number?\n"
                             "  text string?\n"
                             "  flag boolean?\n"
                             "  when timestamp?\n"
                             "  until timestamp?\n"
                             "  day date?\n"
                             "  seconds epoch?\n"
                             "  tags string[]?\n"
                             "  inner { seed: number?  name: string? }?\n"
                             "  literal string = \"x\"\n"
                             "  number_literal number = -12.50\n"
                             "  yes boolean = true\n"
                             "  nothing string | null = null\n"
                             "  path number? = a\n"
                             "  deep number? = inner.seed\n"
                             "  sum number? = a + b\n"
                             "  difference number? = a - b\n"
                             "  three number? = a + b - 1\n"
                             "  either number? = a ?? b ?? 7\n"
                             "  template string? = \"<{text}/{a}/{flag}>\"\n"
                             "  fallback string? = \"<{text ?? 'none'}>\"\n"
                             "  low string? = lower(text)\n"
                             "  high string? = upper(text)\n"
                             "  trimmed string? = trim(text)\n"
                             "  padded string? = pad(a, 5)\n"
                             "  padded_text string? = pad(text, 5)\n"
                             "  hash string? = sha256(text, a)\n"
                             "  part string? = date(when, 'yyyy/mm/dd HH:MM:SS')\n"
                             "  part_epoch string? = date(seconds, 'yyyy-mm')\n"
                             "  part_date string? = date(day, 'ddmmyyyy')\n"
                             "  letters number? = size(text)\n"
                             "  members number? = size(tags)\n"
                             "  now_text timestamp = now()\n"
                             "  now_date date = now()\n"
                             "  now_epoch epoch = now()\n"
                             "  now_number number = now()\n"
                             "  now_later epoch = now() + 7d\n"
                             "  now_nullable timestamp | null = now()\n"
                             "  later timestamp? = when + 90m\n"
                             "  sooner timestamp? = when - 1d\n"
                             "  ttl epoch? = when + 7d\n"
                             "  ttl2 epoch? = seconds + 7d\n"
                             "  day_of date? = when\n"
                             "  next_day date? = day + 1d\n"
                             "  span number? = until - when\n"
                             "  id_uuid uuid = uuid()\n"
                             "  id_ulid string = ulid()\n"
                             "}\n";

struct eval_case {
    const char *attribute;
    const char *item;
    const char *expected; // plain JSON, or a status
};

static const struct eval_case cases[] = {
    {"literal", "{}", "\"x\""},
    {"number_literal", "{}", "-12.5"},
    {"yes", "{}", "true"},
    {"nothing", "{}", "null"},
    {"path", "{\"a\":5}", "5"},
    {"path", "{}", "missing"},
    {"path", "{\"a\":null}", "missing"},
    {"deep", "{\"inner\":{\"seed\":9}}", "9"},
    {"deep", "{\"inner\":{}}", "missing"},
    {"deep", "{\"inner\":\"x\"}", "missing"},
    {"sum", "{\"a\":0.1,\"b\":0.2}", "0.3"},
    {"sum", "{\"a\":1}", "missing"},
    {"sum", "{\"a\":1,\"b\":\"x\"}", "unfit"},
    {"sum", "{\"a\":\"x\",\"b\":\"y\"}", "unfit"},
    {"sum", "{\"a\":9e125,\"b\":9e125}", "unfit"},
    {"sum", "{\"a\":99999999999999999999999999999999999998,\"b\":1}",
     "99999999999999999999999999999999999999"},
    {"difference", "{\"a\":1,\"b\":3.5}", "-2.5"},
    {"three", "{\"a\":1,\"b\":3}", "3"},
    {"either", "{\"a\":1,\"b\":3}", "1"},
    {"either", "{\"b\":3}", "3"},
    {"either", "{\"a\":null}", "7"},
    {"template", "{\"text\":\"t\",\"a\":1.50,\"flag\":true}", "\"<t/1.5/true>\""},
    {"template", "{\"text\":\"t\",\"a\":1}", "missing"},
    {"template", "{\"text\":[],\"a\":1,\"flag\":false}", "unfit"},
    {"fallback", "{}", "\"<none>\""},
    {"fallback", "{\"text\":\"\"}", "\"<>\""},
    {"low", "{\"text\":\"Ab Z\"}", "\"ab z\""},
    {"low", "{}", "missing"},
    {"high", "{\"text\":\"aZ{9\"}", "\"AZ{9\""},
    {"trimmed", "{\"text\":\" \\t a b\\r\\n\"}", "\"a b\""},
    {"trimmed", "{\"text\":\"  \"}", "\"\""},
    {"padded", "{\"a\":7}", "\"00007\""},
    {"padded", "{\"a\":123456}", "\"123456\""},
    {"padded", "{\"a\":-7}", "\"-00007\""},
    {"padded", "{\"a\":7.25}", "\"00007.25\""},
    {"padded", "{}", "missing"},
    {"padded_text", "{\"text\":\"é\"}", "\"0000é\""},
    {"padded_text", "{\"text\":[]}", "unfit"},
    // printf 'abc\0005\0' | sha256sum
    {"hash", "{\"text\":\"abc\",\"a\":5}",
     "\"2a6247186fedee7b98d7cc161395183688ff301efceec86da74af2f41a4d0500\""},
    {"hash", "{\"a\":5}", "missing"},
    {"part", "{\"when\":\"2026-11-16T03:04:05.678Z\"}", "\"2026/11/16 03:04:05\""},
    {"part", "{\"when\":\"2026-11-16T00:30:00+01:00\"}", "\"2026/11/15 23:30:00\""},
    {"part", "{\"when\":\"yesterday\"}", "unfit"},
    {"part_epoch", "{\"seconds\":0}", "\"1970-01\""},
    {"part_epoch", "{\"seconds\":-1}", "\"1969-12\""},
    {"part_date", "{\"day\":\"2024-02-29\"}", "\"29022024\""},
    {"letters", "{\"text\":\"aé€\"}", "3"},
    {"members", "{\"tags\":[1,2]}", "2"},
    {"members", "{\"tags\":2}", "unfit"},
    {"now_text", "{}", "\"2026-11-16T03:40:00.123Z\""},
    {"now_date", "{}", "\"2026-11-16\""},
    {"now_epoch", "{}", "1794800400"},
    {"now_number", "{}", "1794800400"},
    {"now_later", "{}", "1795405200"},
    {"now_nullable", "{}", "\"2026-11-16T03:40:00.123Z\""},
    {"later", "{\"when\":\"2026-11-16T23:00:00.5+02:00\"}", "\"2026-11-17T00:30:00.5+02:00\""},
    {"later", "{\"when\":\"2026-11-16T23:00Z\"}", "\"2026-11-17T00:30Z\""},
    {"sooner", "{\"when\":\"2024-03-01T00:00:00Z\"}", "\"2024-02-29T00:00:00Z\""},
    {"sooner", "{\"when\":\"0000-01-01T00:00:00Z\"}", "unfit"},
    {"ttl", "{\"when\":\"1970-01-01T00:00:00.999Z\"}", "604800"},
    {"ttl2", "{\"seconds\":1}", "604801"},
    {"day_of", "{\"when\":\"2026-01-01T00:30:00+01:00\"}", "\"2025-12-31\""},
    {"next_day", "{\"day\":\"2023-02-28\"}", "\"2023-03-01\""},
    {"span", "{\"when\":\"2026-01-01T00:00:00Z\",\"until\":\"2026-01-02T00:00:01Z\"}", "86401"},
};

static const char *status_name(enum eval_status status)
{
    return status == EVAL_MISSING ? "missing" : status == EVAL_UNFIT ? "unfit" : "budget";
}

static const char *evaluate(struct fixture *fixture, const char *name, const char *item)
{
    const struct model_entity *entity = &fixture->table->entities[0];
    const struct model_attribute *attribute = model_entity_attribute(entity, slice_str(name));
    assert_non_null(attribute);
    struct model_scope scope = {.item = item_of(&fixture->arena, item),
                                .entity = entity,
                                .env = &fixture->env,
                                .arena = &fixture->arena};
    struct slice value;
    enum eval_status status =
        model_eval(attribute->otherwise, &scope, model_kind_wanted(attribute->type), &value);
    return status == EVAL_OK ? text_of(&fixture->arena, value) : status_name(status);
}

static void test_expressions(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, source);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *found = evaluate(&fixture, cases[i].attribute, cases[i].item);
        if (strcmp(found, cases[i].expected) != 0)
            fail_msg("%s of %s: expected %s, found %s", cases[i].attribute, cases[i].item,
                     cases[i].expected, found);
    }
    fixture_release(&fixture);
}

static void test_identifiers(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, source);
    const char *first = evaluate(&fixture, "id_uuid", "{}");
    const char *second = evaluate(&fixture, "id_uuid", "{}");
    assert_int_equal(strlen(first), 38);
    assert_int_equal(first[15], '4');
    assert_string_not_equal(first, second);
    const char *early = evaluate(&fixture, "id_ulid", "{}");
    fixture.clock.now_ms++;
    const char *late = evaluate(&fixture, "id_ulid", "{}");
    assert_int_equal(strlen(early), 28);
    assert_true(strcmp(early, late) < 0);
    // The time of the first, in Crockford's base 32.
    assert_memory_equal(early, "\"01M7H71DQV", 11);
    fixture_release(&fixture);
}

// Values given by position win over the item; places map positions.
static void test_scope(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, "table t1x { key id }\n"
                           "entity E { id string  a number?  b number? = a + 1 }\n");
    const struct model_entity *entity = &fixture.table->entities[0];
    struct slice item = item_of(&fixture.arena, "{\"a\":1}");
    struct slice other = item_of(&fixture.arena, "{\"a\":5}");
    struct slice values[3] = {VALUE_NONE, value_get(other, slice_str("a")), VALUE_NONE};
    struct model_scope scope = {
        .item = item, .entity = entity, .values = values, .arena = &fixture.arena};
    struct slice value;
    const struct model_expr *expr = entity->attributes[2].otherwise;
    assert_int_equal(model_eval(expr, &scope, MODEL_NUMBER, &value), EVAL_OK);
    assert_string_equal(text_of(&fixture.arena, value), "6");
    const uint16_t places[3] = {1, 2, 0};
    scope.places = places;
    assert_int_equal(model_eval(expr, &scope, MODEL_NUMBER, &value), EVAL_MISSING);
    scope.values = NULL;
    scope.places = NULL;
    assert_int_equal(model_eval(expr, &scope, MODEL_NUMBER, &value), EVAL_OK);
    assert_string_equal(text_of(&fixture.arena, value), "2");
    // No memory is an answer, not a crash.
    struct arena none;
    arena_init(&none, 0);
    scope.arena = &none;
    assert_int_equal(model_eval(expr, &scope, MODEL_NUMBER, &value), EVAL_BUDGET);
    fixture_release(&fixture);
}

static void test_times(void **state)
{
    (void)state;
    static const char *const good[] = {
        "2026-11-16T03:40:00Z",        "2026-11-16T03:40:00.1Z", "2026-11-16T03:40Z",
        "2024-02-29T23:59:59.999999Z", "2000-02-29T00:00:00Z",   "2026-11-16T03:40:00+01:00",
        "2026-11-16T03:40:00-0130",    "2026-11-16T03:40:00+01",
    };
    static const char *const bad[] = {
        "",
        "2026-11-16",
        "2026-11-16T",
        "2026-11-16T03:40:00",
        "2026-11-16 03:40:00Z",
        "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-11-00T00:00:00Z",
        "2026-11-16T24:00:00Z",
        "2026-11-16T03:60:00Z",
        "2026-11-16T03:40:60Z",
        "2026-11-16T03:40:00.Z",
        "2026-11-16T03:40.5Z",
        "2026-11-16T03:40:00Zx",
        "2026-11-16T03:40:00+1:00",
        "2026-11-16T03:40:00+01:0",
        "2026-11-16T03:40:00+24:00",
        "2026-11-16T03:40:00z",
        "26-11-16T03:40:00Z",
        "x026-11-16T03:40:00Z",
    };
    struct model_time time;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (!model_timestamp_parse(slice_str(good[i]), &time))
            fail_msg("%s is a timestamp", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (model_timestamp_parse(slice_str(bad[i]), &time))
            fail_msg("%s is no timestamp", bad[i]);
    assert_true(model_date_parse(slice_str("2026-11-16"), &time));
    assert_int_equal(time.seconds, 1794787200);
    assert_false(model_date_parse(slice_str("2026-11-16T"), &time));
    assert_false(model_date_parse(slice_str("2026-11-1"), &time));
}

// Every day of four centuries there and back.
static void test_calendar(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, 64);
    for (int64_t day = -146097; day < 146097; day += 13) {
        struct model_time time;
        buf_clear(&text);
        assert_true(model_date_from_ms(day * 86400000, &text));
        assert_true(model_date_parse(buf_view(&text), &time));
        assert_int_equal(time.seconds, day * 86400);
    }
    buf_clear(&text);
    assert_false(model_time_from_ms(INT64_C(253402300800000), &text));
    assert_true(model_time_from_ms(-1, &text));
    assert_int_equal(text.len, 24);
    assert_memory_equal(text.ptr, "1969-12-31T23:59:59.999Z", 24);
    buf_release(&text);
}

static void test_normal_forms(void **state)
{
    (void)state;
    static const struct {
        unsigned normal;
        const char *text;
        const char *wanted; // NULL: the same slice
    } forms[] = {
        {MODEL_NFC, "plain", NULL},
        {MODEL_NFC, "caf\xc3\xa9", NULL},
        {MODEL_NFC, "cafe\xcc\x81", "caf\xc3\xa9"},
        {MODEL_NFC, "q\xcc\x87\xcc\xa3", "q\xcc\xa3\xcc\x87"},
        {MODEL_NFC, "\xe1\x84\x80\xe1\x85\xa1", "\xea\xb0\x80"},
        {MODEL_NFC | MODEL_TRIM | MODEL_LOWER | MODEL_SQUEEZE, "  A  e\xcc\x81 ", "a \xc3\xa9"},
        {MODEL_SQUEEZE, "a \t b  c", "a b c"},
        {MODEL_SQUEEZE, "a\tb", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        struct arena arena;
        arena_init(&arena, 1 << 20);
        struct slice value = model_string(&arena, slice_str(forms[i].text));
        struct slice made = model_normalise(value, forms[i].normal, &arena);
        if (forms[i].wanted == NULL) {
            assert_ptr_equal(made.ptr, value.ptr);
        } else {
            assert_true(slice_is(value_bytes(made), forms[i].wanted));
        }
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expressions), cmocka_unit_test(test_identifiers),
        cmocka_unit_test(test_scope),       cmocka_unit_test(test_times),
        cmocka_unit_test(test_calendar),    cmocka_unit_test(test_normal_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
