// AttributeValues: what they become, that they come back, and every fault's message.
#include "json/support.h"

#include "json/shape.h"
#include "json/writer.h"

// Decodes an item and writes it again; the answer lives in the fixture's arena.
static const char *round_trip(struct fixture *f, const char *json)
{
    struct slice copy = exact_copy(slice_str(json));
    struct slice item;
    bool ok = json_decode_item(copy, &f->arena, &item, &f->error);
    free((void *)(uintptr_t)copy.ptr);
    if (!ok)
        fail_msg("%s: %s", json, f->error.message);
    assert_true(value_valid(item));
    struct buf out;
    buf_init(&out, 1 << 20);
    struct json_writer w = json_writer_to(&out);
    json_item(&w, item);
    assert_false(out.failed);
    struct slice text = arena_copy(&f->arena, buf_view(&out));
    buf_release(&out);
    return (const char *)text.ptr;
}

static void test_round_trips(void **state)
{
    (void)state;
    // The item, and how it comes back where that differs.
    static const char *const cases[][2] = {
        {"{}", NULL},
        {"{\"a\":{\"S\":\"b\"}}", NULL},
        {"{\"a\":{\"S\":\"\"},\"b\":{\"B\":\"\"},\"c\":{\"L\":[]},\"d\":{\"M\":{}}}", NULL},
        {"{ \"b\" : { \"N\" : \"01.50\" } , \"a\" : { \"NULL\" : true } }",
         "{\"a\":{\"NULL\":true},\"b\":{\"N\":\"1.5\"}}"},
        {"{\"t\":{\"BOOL\":true},\"u\":{\"BOOL\":false}}", NULL},
        {"{\"t\":{\"BOOL\":\"Yes\"},\"u\":{\"BOOL\":\"0\"}}",
         "{\"t\":{\"BOOL\":true},\"u\":{\"BOOL\":false}}"},
        {"{\"b\":{\"B\":\"AAEC/w==\"}}", NULL},
        {"{\"s\":{\"SS\":[\"b\",\"a\",\"\"]},\"n\":{\"NS\":[\"10\",\"9\",\"-1\"]},"
         "\"b\":{\"BS\":[\"/w==\",\"AA==\"]}}",
         "{\"b\":{\"BS\":[\"AA==\",\"/w==\"]},\"n\":{\"NS\":[\"-1\",\"9\",\"10\"]},"
         "\"s\":{\"SS\":[\"\",\"a\",\"b\"]}}"},
        {"{\"l\":{\"L\":[{\"S\":\"x\"},{\"L\":[{\"N\":\"1\"}]},{\"M\":{\"k\":{\"NULL\":true}}}]}}",
         NULL},
        {"{\"m\":{\"M\":{\"z\":{\"S\":\"1\"},\"y\":{\"M\":{\"x\":{\"S\":\"2\"}}}}}}",
         "{\"m\":{\"M\":{\"y\":{\"M\":{\"x\":{\"S\":\"2\"}}},\"z\":{\"S\":\"1\"}}}}"},
        {"{\"e\":{\"S\":\"\\ud83d\\ude00 \\\"q\\\" \\u00e9\"}}",
         "{\"e\":{\"S\":\"\xf0\x9f\x98\x80 \\\"q\\\" \xc3\xa9\"}}"},
        // The last of equal names counts, for attributes and for types.
        {"{\"a\":{\"S\":\"1\"},\"b\":{\"S\":\"2\"},\"a\":{\"S\":\"3\"}}",
         "{\"a\":{\"S\":\"3\"},\"b\":{\"S\":\"2\"}}"},
        {"{\"a\":{\"S\":\"1\",\"S\":\"2\"}}", "{\"a\":{\"S\":\"2\"}}"},
        {"{\"a\":{\"N\":\"x\",\"N\":\"2\"}}", "{\"a\":{\"N\":\"2\"}}"},
        {"{\"a\":{\"L\":[{\"S\":\"1\"},{\"S\":\"2\"}],\"L\":[{\"S\":\"3\",\"S\":\"4\"}]},"
         "\"b\":{\"S\":\"5\"}}",
         "{\"a\":{\"L\":[{\"S\":\"4\"}]},\"b\":{\"S\":\"5\"}}"},
        {"{\"l\":{\"L\":[{\"SS\":[\"a\"],\"SS\":[\"b\",\"c\"]},{\"N\":\"1\"}]}}",
         "{\"l\":{\"L\":[{\"SS\":[\"b\",\"c\"]},{\"N\":\"1\"}]}}"},
        // Members that are no types, and nulls, do not count.
        {"{\"a\":{\"X\":[1,{}],\"S\":\"b\",\"N\":null}}", "{\"a\":{\"S\":\"b\"}}"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture f;
        fixture_init(&f);
        const char *expected = cases[i][1] != NULL ? cases[i][1] : cases[i][0];
        assert_string_equal(round_trip(&f, cases[i][0]), expected);
        fixture_release(&f);
    }
}

// ---- Faults ----------------------------------------------------------------------

struct holder {
    struct field_value value;
    struct field_value item;
};

static const struct shape value_shape = {.kind = SHAPE_VALUE};
static const struct shape item_shape = {.kind = SHAPE_ITEM};
static const struct shape_member holder_members[] = {
    {SHAPE_NAME("Value"), &value_shape, offsetof(struct holder, value), false},
    {SHAPE_NAME("Item"), &item_shape, offsetof(struct holder, item), false},
};
static const struct shape holder_shape = {.kind = SHAPE_STRUCT,
                                          .members = holder_members,
                                          .member_count = COUNT_OF(holder_members),
                                          .size = sizeof(struct holder)};

#define INVALID "One or more parameter values were invalid: "
#define EMPTY                                                                                      \
    "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
#define SEVERAL                                                                                    \
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "    \
    "supported datatypes"
#define NUMERIC   "The parameter cannot be converted to a numeric value"
#define NULL_TRUE INVALID "Null attribute value types must have the value of true"
#define NESTING                                                                                    \
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "    \
    "beyond supported limit"
#define OVERFLOW                                                                                   \
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
#define UNDERFLOW                                                                                  \
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"

static void assert_value_fault(const char *value, const char *expected)
{
    struct fixture f;
    fixture_init(&f);
    struct holder holder;
    const char *json = arena_printf(&f.arena, "{\"Value\":%s,\"Item\":{\"n\":%s}}", value, value);
    struct slice copy = exact_copy(slice_str(json));
    if (!shape_decode(&holder_shape, LAYER_OLD, copy, &holder, &f.arena, &f.error))
        fail_msg("%s: %s", value, f.error.message);
    free((void *)(uintptr_t)copy.ptr);
    if (holder.value.fault == NULL)
        fail_msg("%s has no fault", value);
    assert_string_equal(holder.value.fault, expected);
    assert_non_null(holder.value.value.ptr);
    assert_string_equal(holder.item.fault, expected);
    assert_false(field_value_check(&holder.item, &f.error));
    assert_int_equal(f.error.code, ERR_VALIDATION);
    assert_string_equal(f.error.message, expected);
    fixture_release(&f);
}

static void test_faults(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        const char *fault;
    } cases[] = {
        {"{}", EMPTY},
        {"{\"X\":\"a\"}", EMPTY},
        {"{\"S\":null}", EMPTY},
        {"{\"S\":\"a\",\"S\":null}", EMPTY},
        {"{\"M\":\n\tnull}", EMPTY},
        {"{\"BOOL\":null}", EMPTY},
        {"{\"L\":[null]}", EMPTY},
        {"{\"M\":{\"a\":null}}", EMPTY},
        {"{\"M\":{\"a\":{\"L\":[{}]}}}", EMPTY},
        {"{\"S\":\"a\",\"N\":\"1\"}", SEVERAL},
        {"{\"L\":[],\"M\":{}}", SEVERAL},
        {"{\"L\":[{\"S\":\"a\",\"BOOL\":true}]}", SEVERAL},
        {"{\"S\":\"a\",\"S\":\"b\",\"N\":\"1\"}", SEVERAL},
        {"{\"NULL\":false}", NULL_TRUE},
        {"{\"S\":\"a\",\"NULL\":false}", NULL_TRUE},
        {"{\"N\":\"x\"}", NUMERIC ": x"},
        {"{\"N\":\"\"}", NUMERIC},
        {"{\"N\":\" 1\"}", NUMERIC ":  1"},
        {"{\"N\":\"1e\"}", NUMERIC ": 1e"},
        {"{\"N\":\"NaN\"}", NUMERIC ": NaN"},
        {"{\"N\":\"x\",\"S\":\"a\"}", NUMERIC ": x"},
        {"{\"S\":\"a\",\"N\":\"x\"}", NUMERIC ": x"},
        {"{\"NS\":[\"1\",\"y\",\"z\"]}", NUMERIC ": y"},
        {"{\"NS\":[\"\"]}", NUMERIC},
        {"{\"N\":\"1e126\"}", OVERFLOW},
        {"{\"N\":\"-1e126\"}", OVERFLOW},
        {"{\"N\":\"1e-131\"}", UNDERFLOW},
        {"{\"N\":\"123456789012345678901234567890123456789\"}",
         "Attempting to store more than 38 significant digits in a Number"},
        {"{\"SS\":[]}", INVALID "An string set  may not be empty"},
        {"{\"NS\":[]}", INVALID "An number set  may not be empty"},
        {"{\"BS\":[]}", INVALID "Binary sets should not be empty"},
        {"{\"SS\":[\"a\",null]}", INVALID "An string set may not have a null string as a member"},
        {"{\"NS\":[null]}", INVALID "An number set may not have a null string as a member"},
        {"{\"BS\":[null]}", INVALID "Binary sets may not contain null values"},
        {"{\"SS\":[\"a\",\"a\"]}", INVALID "Input collection [a, a] contains duplicates."},
        {"{\"SS\":[\"b\",\"a\",\"b\"]}", INVALID "Input collection [b, a, b] contains duplicates."},
        {"{\"SS\":[\"c\",\"\\u0061\",\"a\",\"b\"]}",
         INVALID "Input collection [c, a, a, b] contains duplicates."},
        {"{\"NS\":[\"2\",\"1\",\"2.0\"]}", "Input collection contains duplicates"},
        {"{\"BS\":[\"/w==\",\"AA==\",\"AA==\"]}",
         INVALID "Input collection [/w==, AA==, AA==]of type BS contains duplicates."},
        // A NUL would end the message.
        {"{\"N\":\"1\\u00002\"}", NUMERIC ": 1\\u00002"},
        {"{\"SS\":[\"\\u0000\",\"\\u0000\"]}",
         INVALID "Input collection [\\u0000, \\u0000] contains duplicates."},
        {"{\"M\":{\"\":{\"S\":\"a\"}}}", "Empty attribute name"},
        // The first in the text, but an empty name in a map only if there is nothing else.
        {"{\"L\":[{\"N\":\"y\"},{\"SS\":[]}]}", NUMERIC ": y"},
        {"{\"L\":[{\"N\":\"y\"}],\"N\":\"z\"}", NUMERIC ": y"},
        {"{\"M\":{\"\":{\"S\":\"a\"},\"b\":{\"N\":\"y\"}}}", NUMERIC ": y"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_value_fault(cases[i].value, cases[i].fault);
}

static const char *fault_of_item(struct fixture *f, const char *item, struct slice *name)
{
    struct holder holder;
    const char *json = arena_printf(&f->arena, "{\"Item\":%s}", item);
    assert_true(
        shape_decode(&holder_shape, LAYER_OLD, slice_str(json), &holder, &f->arena, &f->error));
    *name = holder.item.fault_name;
    return holder.item.fault;
}

static void test_fault_names(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    struct slice name;
    assert_string_equal(
        fault_of_item(&f, "{\"a\":{\"S\":\"x\"},\"b\":{\"M\":{\"c\":{}}},\"d\":{}}", &name), EMPTY);
    assert_slice(name, "b");
    // An empty name at the top comes before all else, wherever it stands.
    assert_string_equal(fault_of_item(&f, "{\"a\":{\"N\":\"x\"},\"\":{\"S\":\"x\"}}", &name),
                        "Empty attribute name");
    assert_slice(name, "");
    assert_null(fault_of_item(&f, "{\"a\":{\"S\":\"x\"}}", &name));
    // A field that is decoded twice forgets its first faults.
    assert_null(fault_of_item(&f, "{\"a\":{\"N\":\"x\",\"N\":\"1\"},\"b\":{\"S\":\"\"}}", &name));
    fixture_release(&f);
}

static void test_long_names(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    static char name[LIMIT_ATTRIBUTE_NAME + 2];
    struct slice fault_name;
    memset(name, 'n', LIMIT_ATTRIBUTE_NAME);
    const char *json = arena_printf(&f.arena, "{\"%s\":{\"S\":\"\"}}", name);
    assert_null(fault_of_item(&f, json, &fault_name));
    name[LIMIT_ATTRIBUTE_NAME] = 'n';
    json = arena_printf(&f.arena, "{\"%s\":{\"S\":\"\"}}", name);
    assert_string_equal(fault_of_item(&f, json, &fault_name),
                        INVALID "Attribute name is too large, must be less than 65536 bytes");
    fixture_release(&f);
}

static const char *wrapped(struct fixture *f, size_t levels)
{
    const char *text = "{\"S\":\"x\"}";
    for (size_t i = 0; i < levels; i++)
        text = arena_printf(&f->arena, i % 2 != 0 ? "{\"L\":[%s]}" : "{\"M\":{\"m\":%s}}", text);
    return arena_printf(&f->arena, "{\"a\":%s}", text);
}

static void test_nesting(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    struct slice name;
    assert_null(fault_of_item(&f, wrapped(&f, 31), &name));
    assert_string_equal(fault_of_item(&f, wrapped(&f, 32), &name), NESTING);
    assert_string_equal(fault_of_item(&f, wrapped(&f, 36), &name), NESTING);
    assert_string_equal(fault_of_item(&f, wrapped(&f, 100), &name), NESTING);
    assert_slice(name, "a");
    round_trip(&f, wrapped(&f, 31));
    fixture_release(&f);
}

// Every byte of a text's length: the short ones are built in the arena, the long in scratch
// memory, and strings are copied and scanned in pieces of several sizes.
static void test_lengths(void **state)
{
    (void)state;
    for (size_t len = 0; len < 2200; len += len < 150 ? 1 : 31) {
        struct fixture f;
        fixture_init(&f);
        char *text = arena_zalloc(&f.arena, len + 1, 1);
        memset(text, 'x', len);
        const char *json = arena_printf(
            &f.arena, "{\"%s-\":{\"S\":\"%s\"},\"z%s\":{\"S\":\"%s\\n\"}}", text, text, text, text);
        assert_string_equal(round_trip(&f, json), json);
        // The same out of order, with a list of it.
        json = arena_printf(&f.arena,
                            "{\"b\":{\"L\":[{\"S\":\"%s\"},{\"N\":\"1\"}]},\"a%s\":"
                            "{\"SS\":[\"%s\"]}}",
                            text, text, text);
        const char *back = arena_printf(&f.arena,
                                        "{\"a%s\":{\"SS\":[\"%s\"]},\"b\":{\"L\":"
                                        "[{\"S\":\"%s\"},{\"N\":\"1\"}]}}",
                                        text, text, text);
        assert_string_equal(round_trip(&f, json), back);
        fixture_release(&f);
    }
}

// What takes the most bytes for its text fits into the room of the text.
static void test_densest(void **state)
{
    (void)state;
    static const char *const items[] = {
        "{}",
        "{\"a\":{\"M\":{}}}",
        "{\"a\":{\"L\":[{\"L\":[]},{\"L\":[]},{\"L\":[{\"L\":[]}]}]}}",
        "{\"a\":{\"NS\":[\"-9\",\"-8\",\"-7\",\"-6\",\"-5\",\"-4\",\"-3\",\"-2\",\"-1\"]}}",
        "{\"a\":{\"N\":\"-1\"},\"b\":{\"N\":\"1\"}}",
        "{\"a\":{\"SS\":[\"\"]}}",
        "{\"a\":{\"BS\":[\"\"]},\"b\":{\"NULL\":true}}",
    };
    for (size_t i = 0; i < COUNT_OF(items); i++) {
        struct fixture f;
        fixture_init(&f);
        assert_string_equal(round_trip(&f, items[i]), items[i]);
        fixture_release(&f);
    }
}

// A set of many members that ends with a repeat, and one without.
static void test_large_sets(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    struct buf json;
    buf_init(&json, 16 << 20);
    buf_text(&json, "{\"SS\":[");
    for (unsigned i = 0; i < 20000; i++)
        buf_printf(&json, "\"m%u\",", i * 7919 % 20000);
    buf_text(&json, "\"z\"]}");
    struct slice value;
    assert_true(decode_value(buf_view(&json), &f, &value));
    assert_int_equal(value_count(value), 20001);
    json.len -= 5;
    buf_text(&json, "\"m1\"]}");
    assert_false(decode_value(buf_view(&json), &f, &value));
    assert_non_null(strstr(f.error.message, "contains duplicates."));
    buf_release(&json);
    fixture_release(&f);
}

// The decoder stops cleanly wherever the budget ends.
static void test_budget(void **state)
{
    (void)state;
    static const char json[] = "{\"a\":{\"L\":[{\"S\":\"\\u0041\"},{\"SS\":[\"a\",\"\\u0061\"]}]},"
                               "\"b\":{\"N\":\"x\"}}";
    for (size_t budget = 0; budget < 20000; budget += 512) {
        struct fixture f;
        struct slice item;
        arena_init(&f.arena, budget);
        error_init(&f.error, &f.arena);
        assert_false(json_decode_item(slice_str(json), &f.arena, &item, &f.error));
        assert_true(f.error.code == ERR_BUDGET || f.error.code == ERR_VALIDATION);
        arena_release(&f.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips), cmocka_unit_test(test_faults),
        cmocka_unit_test(test_fault_names), cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_nesting),     cmocka_unit_test(test_large_sets),
        cmocka_unit_test(test_budget),      cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_densest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
