// Entities as plain JSON: what the model's types make of it, and what comes out again.
#include "guard/guard_support.h"

#include "guard/plain.h"
#include "json/shape.h"

static const char source[] = "table tab { key PK, SK  index Gix (GPK, GSK)  type Kind }\n"
                             "type Point { x: number  y: number  raw: binary? }\n"
                             "entity Thing {\n"
                             "  PK = \"T#{id}\"  SK = \"T\"  Gix = \"G\", \"{name}\"\n"
                             "  id string\n"
                             "  name string?\n"
                             "  count number?\n"
                             "  blob binary?\n"
                             "  names set<string>?\n"
                             "  numbers set<number>?\n"
                             "  blobs set<binary>?\n"
                             "  letters set<\"a\" | \"b\">?\n"
                             "  list binary[]?\n"
                             "  either binary | number | null?\n"
                             "  both string | binary?\n"
                             "  point Point?\n"
                             "  map Record<string, binary>?\n"
                             "  inner { deep: { set: set<string>? }? }?\n"
                             "  level \"low\" | 5 | true?\n"
                             "  maybe string | null\n"
                             "  free any?\n"
                             "}\n";

static struct fixture fixture;

static int setup(void **state)
{
    (void)state;
    fixture_init(&fixture, source);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fixture_release(&fixture);
    return 0;
}

static const struct model_entity *thing(void)
{
    return &fixture.table->entities[0];
}

static struct slice typed(const char *json)
{
    struct slice item;
    struct error error;
    error_init(&error, &fixture.arena);
    if (!json_decode_item(slice_str(json), &fixture.arena, &item, &error))
        fail_msg("%s: %s", json, error.message);
    return item;
}

static void test_read(void **state)
{
    (void)state;
    static const struct {
        const char *plain;
        const char *expected;
    } cases[] = {
        {"{}", "{}"},
        {" {\"id\" : \"x\"} ", "{\"id\":{\"S\":\"x\"}}"},
        {"{\"count\":12345678901234567890.12345678901234567}",
         "{\"count\":{\"N\":\"12345678901234567890.12345678901234567\"}}"},
        {"{\"blob\":\"aGk=\"}", "{\"blob\":{\"B\":\"aGk=\"}}"},
        {"{\"name\":\"aGk=\"}", "{\"name\":{\"S\":\"aGk=\"}}"},
        {"{\"names\":[\"b\",\"a\"]}", "{\"names\":{\"SS\":[\"a\",\"b\"]}}"},
        {"{\"numbers\":[2,1.0]}", "{\"numbers\":{\"NS\":[\"1\",\"2\"]}}"},
        {"{\"blobs\":[\"aGk=\"]}", "{\"blobs\":{\"BS\":[\"aGk=\"]}}"},
        {"{\"letters\":[\"a\"]}", "{\"letters\":{\"SS\":[\"a\"]}}"},
        {"{\"list\":[\"aGk=\",1]}", "{\"list\":{\"L\":[{\"B\":\"aGk=\"},{\"N\":\"1\"}]}}"},
        {"{\"either\":\"aGk=\"}", "{\"either\":{\"B\":\"aGk=\"}}"},
        {"{\"either\":1}", "{\"either\":{\"N\":\"1\"}}"},
        {"{\"either\":null}", "{\"either\":{\"NULL\":true}}"},
        {"{\"both\":\"aGk=\"}", "{\"both\":{\"S\":\"aGk=\"}}"},
        {"{\"point\":{\"x\":1,\"raw\":\"aGk=\",\"z\":\"aGk=\"}}",
         "{\"point\":{\"M\":{\"x\":{\"N\":\"1\"},\"raw\":{\"B\":\"aGk=\"},\"z\":{\"S\":\"aGk=\"}}}"
         "}"},
        {"{\"map\":{\"a\":\"aGk=\"}}", "{\"map\":{\"M\":{\"a\":{\"B\":\"aGk=\"}}}}"},
        {"{\"inner\":{\"deep\":{\"set\":[\"x\"]}}}",
         "{\"inner\":{\"M\":{\"deep\":{\"M\":{\"set\":{\"SS\":[\"x\"]}}}}}}"},
        {"{\"free\":[\"x\",{\"a\":false}]}",
         "{\"free\":{\"L\":[{\"S\":\"x\"},{\"M\":{\"a\":{\"BOOL\":false}}}]}}"},
        {"{\"other\":[\"x\"]}", "{\"other\":{\"L\":[{\"S\":\"x\"}]}}"},
        {"{\"$entity\":\"Thing\",\"id\":\"x\",\"id\":\"y\"}", "{\"id\":{\"S\":\"y\"}}"},
        {"{\"count\":\"1\"}", "{\"count\":{\"S\":\"1\"}}"}, // for the guard to refuse
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct slice text = exact(&fixture.arena, slice_str(cases[i].plain));
        struct error error;
        struct slice item;
        error_init(&error, &fixture.arena);
        if (!model_plain_read(thing(), text, &fixture.arena, &item, &error))
            fail_msg("%s: %s", cases[i].plain, error.message);
        if (!slice_equal(item, typed(cases[i].expected)))
            fail_msg("%s is not %s", cases[i].plain, cases[i].expected);
    }
}

static void test_faults(void **state)
{
    (void)state;
    static const struct {
        const char *plain;
        const char *message;
    } cases[] = {
        {"{\"blob\":\"!\"}", "Entity Thing: /blob: expected binary as base64, got \"!\""},
        {"{\"list\":[\"aGk=\",\"!\"]}",
         "Entity Thing: /list/1: expected binary as base64, got \"!\""},
        {"{\"map\":{\"a/b~\":\"!\"}}",
         "Entity Thing: /map/a~1b~0: expected binary as base64, got \"!\""},
        {"{\"names\":[]}",
         "Entity Thing: /names: expected a set with at least one member, got nothing"},
        {"{\"names\":[\"a\",\"a\"]}",
         "Entity Thing: /names: expected a set without the same member twice, got nothing"},
        {"{\"names\":[1],\"numbers\":[\"x\"]}",
         "Entity Thing: /names/0: expected string, got nothing; /numbers/0: expected number, got "
         "nothing"},
        {"{\"count\":1e126}",
         "Entity Thing: /count: expected a number between 1E-130 and 9.99E+125, got \"1e126\""},
        {"{\"numbers\":[123456789012345678901234567890123456789]}",
         "Entity Thing: /numbers/0: expected a number of at most 38 digits, got "
         "\"123456789012345678901234567890123456789\""},
        {"{\"\":1}", "Entity Thing: /: expected a name, got \"\""},
        {"[]", "The body is not a JSON object"},
        {"", "The body is not JSON: the text ends too soon, at byte 0"},
        {"{\"a\":}", "The body is not JSON: a value is expected, at byte 5"},
        {"{} {}", "The body is not JSON: something follows the value, at byte 3"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct slice text = exact(&fixture.arena, slice_str(cases[i].plain));
        struct error error;
        struct slice item = VALUE_NONE;
        error_init(&error, &fixture.arena);
        assert_false(model_plain_read(thing(), text, &fixture.arena, &item, &error));
        assert_int_equal(item.len, 0);
        if (error.code == ERR_VALIDATION)
            assert_string_equal(error.message, cases[i].message);
        else
            assert_int_equal(error.code, ERR_SERIALIZATION);
    }
}

static void test_patch(void **state)
{
    (void)state;
    static const struct {
        const char *before;
        const char *patch;
        const char *after;
    } cases[] = {
        {"{\"a\":{\"S\":\"b\"}}", "{\"a\":\"c\"}", "{\"a\":{\"S\":\"c\"}}"},
        {"{\"a\":{\"S\":\"b\"}}", "{\"b\":\"c\"}", "{\"a\":{\"S\":\"b\"},\"b\":{\"S\":\"c\"}}"},
        {"{\"a\":{\"S\":\"b\"}}", "{\"a\":null}", "{}"},
        {"{\"a\":{\"S\":\"b\"},\"b\":{\"S\":\"c\"}}", "{\"a\":null}", "{\"b\":{\"S\":\"c\"}}"},
        {"{\"a\":{\"L\":[{\"S\":\"b\"}]}}", "{\"a\":\"c\"}", "{\"a\":{\"S\":\"c\"}}"},
        {"{\"a\":{\"S\":\"c\"}}", "{\"a\":[\"b\"]}", "{\"a\":{\"L\":[{\"S\":\"b\"}]}}"},
        {"{\"a\":{\"M\":{\"b\":{\"S\":\"c\"}}}}", "{\"a\":{\"b\":\"d\",\"c\":null}}",
         "{\"a\":{\"M\":{\"b\":{\"S\":\"d\"}}}}"},
        {"{\"a\":{\"S\":\"x\"}}", "{\"a\":{\"bb\":{\"ccc\":null}}}",
         "{\"a\":{\"M\":{\"bb\":{\"M\":{}}}}}"},
        {"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"M\":{\"bb\":{\"M\":{}}}}}"},
        {"{\"e\":{\"NULL\":true}}", "{\"a\":1}", "{\"e\":{\"NULL\":true},\"a\":{\"N\":\"1\"}}"},
        {"{\"names\":{\"SS\":[\"x\"]}}", "{\"names\":[\"y\"]}", "{\"names\":{\"SS\":[\"y\"]}}"},
        {"{\"maybe\":{\"S\":\"x\"}}", "{\"maybe\":null}", "{\"maybe\":{\"NULL\":true}}"},
        {"{\"either\":{\"N\":\"1\"}}", "{\"either\":null}", "{}"},
        {"{\"point\":{\"M\":{\"x\":{\"N\":\"1\"},\"raw\":{\"B\":\"aGk=\"}}}}",
         "{\"point\":{\"y\":2,\"raw\":null}}",
         "{\"point\":{\"M\":{\"x\":{\"N\":\"1\"},\"y\":{\"N\":\"2\"}}}}"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error error;
        struct slice item;
        error_init(&error, &fixture.arena);
        if (!model_plain_patch(thing(), typed(cases[i].before), slice_str(cases[i].patch),
                               &fixture.arena, &item, &error))
            fail_msg("%s: %s", cases[i].patch, error.message);
        if (!slice_equal(item, typed(cases[i].after)))
            fail_msg("%s does not become %s", cases[i].before, cases[i].after);
    }
}

static void check_written(const char *item, bool keys, bool name, const char *expected)
{
    struct buf out;
    buf_init(&out, 1 << 16);
    struct json_writer w = json_writer_to(&out);
    struct model_plain_view view = {
        .table = fixture.table, .entity = thing(), .keys = keys, .name = name};
    json_open_array(&w);
    model_plain_write(&w, &view, typed(item));
    model_plain_write(&w, &view, value_empty_map());
    json_close_array(&w);
    buf_byte(&out, 0);
    assert_string_equal((const char *)out.ptr, expected);
    buf_release(&out);
}

static void test_write(void **state)
{
    (void)state;
    const char *item =
        "{\"PK\":{\"S\":\"T#1\"},\"SK\":{\"S\":\"T\"},\"GPK\":{\"S\":\"G\"},"
        "\"Kind\":{\"S\":\"Thing\"},\"id\":{\"S\":\"1\"},\"count\":{\"N\":\"1.50\"},"
        "\"zz\":{\"NS\":[\"2\",\"1\"]},\"blob\":{\"B\":\"aGk=\"},\"name\":{\"S\":\"n\"}}";
    check_written(
        item, false, false,
        "[{\"id\":\"1\",\"name\":\"n\",\"count\":1.5,\"blob\":\"aGk=\",\"zz\":[1,2]},{}]");
    check_written(item, true, true,
                  "[{\"$entity\":\"Thing\",\"id\":\"1\",\"name\":\"n\",\"count\":1.5,"
                  "\"blob\":\"aGk=\",\"GPK\":\"G\",\"Kind\":\"Thing\",\"PK\":\"T#1\",\"SK\":\"T\","
                  "\"zz\":[1,2]},{\"$entity\":\"Thing\"}]");
}

static void test_text(void **state)
{
    (void)state;
    static const struct {
        const char *attribute;
        const char *text;
        const char *expected;
    } cases[] = {
        {"id", "12", "\"12\""},       {"count", "12", "12"},     {"count", "x", "\"x\""},
        {"blob", "aGk=", "\"aGk=\""}, {"either", "5", "5"},      {"level", "low", "\"low\""},
        {"level", "5.0", "5"},        {"level", "true", "true"}, {"level", "6", "\"6\""},
        {"free", "true", "\"true\""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct model_attribute *attribute =
            model_entity_attribute(thing(), slice_str(cases[i].attribute));
        struct slice value = model_plain_text(
            attribute->type, exact(&fixture.arena, slice_str(cases[i].text)), &fixture.arena);
        struct buf out;
        buf_init(&out, 1 << 16);
        plain_write(&out, value);
        buf_byte(&out, 0);
        assert_string_equal((const char *)out.ptr, cases[i].expected);
        buf_release(&out);
    }
    const struct model_attribute *blob = model_entity_attribute(thing(), SLICE_LIT("blob"));
    assert_int_equal(value_type(model_plain_text(blob->type, SLICE_LIT("aGk="), &fixture.arena)),
                     VALUE_B);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),  cmocka_unit_test(test_faults), cmocka_unit_test(test_patch),
        cmocka_unit_test(test_write), cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
