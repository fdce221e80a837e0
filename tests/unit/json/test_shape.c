// Decoding by shape: every kind into its place, and every SerializationException.
#include "json/support.h"

#include "json/sample_shape.h"

static void decode(struct fixture *f, const char *json, struct sample *out)
{
    memset(out, 0xa5, sizeof *out);
    if (!shape_decode(&sample_shape, LAYER_OLD, slice_str(json), out, &f->arena, &f->error))
        fail_msg("%s: %s", json, f->error.message);
}

static void test_every_kind(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    struct sample s;
    decode(&f, sample_json, &s);
    assert_slice(s.text, "abc1");
    assert_slice(s.color, "GREEN");
    assert_int_equal(s.blob.len, 3);
    assert_memory_equal(s.blob.ptr, "\0\1\2", 3);
    assert_true(s.limit.set && s.limit.value == 10);
    assert_true(s.total.set && s.total.value == INT64_MIN);
    assert_true(s.ratio.set && s.ratio.value == 0.25);
    assert_true(s.when.set && s.when.value == 1.7e9);
    assert_true(s.flag.set && s.flag.value);
    assert_slice(s.part->name, "p\xc3\xa9");
    assert_int_equal(s.part->units.value, 7);
    const struct sample_part *parts = s.parts.items;
    assert_int_equal(s.parts.count, 2);
    assert_slice(parts[1].name, "b");
    assert_null(parts[1].kind.ptr);
    const struct slice *names = s.names.items;
    assert_int_equal(s.names.count, 5);
    assert_slice(names[4], "mno");
    assert_int_equal(s.labels.count, 2);
    assert_slice(s.labels.names[1], "l2");
    assert_slice(((struct slice *)s.labels.items)[1], "v2");
    const struct field_list *lists = s.requests.items;
    assert_int_equal(s.requests.count, 2);
    assert_slice(((struct sample_part *)lists[1].items)[0].name, "y");
    assert_slice(((struct sample_part *)s.tables.items)[0].name, "t");
    assert_slice(value_bytes(s.value.value), "v");
    assert_int_equal(value_count(s.item.value), 4);
    assert_slice(value_bytes(value_get(s.item.value, SLICE_LIT("pk"))), "key");
    const struct field_value *items = s.items.items;
    assert_int_equal(s.items.count, 2);
    assert_true(value_valid(items[0].value) && value_valid(items[1].value));
    assert_int_equal(value_type(((struct field_value *)s.values.items)[1].value), VALUE_L);
    fixture_release(&f);
}

static void test_absent(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    struct sample s;
    decode(&f,
           "{\"Text\":\"abc\",\"Color\":null,\"Blob\":null,\"Limit\":null,\"Ratio\":null,"
           "\"Flag\":null,\"Part\":null,\"Parts\":null,\"Labels\":null,\"Value\":null,"
           "\"Item\":null}",
           &s);
    assert_null(s.color.ptr);
    assert_null(s.blob.ptr);
    assert_false(s.limit.set || s.total.set || s.ratio.set || s.when.set || s.flag.set);
    assert_null(s.part);
    assert_false(s.parts.set || s.names.set || s.labels.set || s.requests.set);
    assert_null(s.value.value.ptr);
    assert_null(s.item.value.ptr);
    fixture_release(&f);
}

// Of equal names the last counts, null included.
static void test_repeats(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    struct sample s;
    decode(&f,
           "{\"Text\":\"first\",\"Limit\":1,\"Part\":{\"Name\":\"a\",\"Kind\":\"RED\"},"
           "\"Names\":[\"abc\"],\"Value\":{},\"Flag\":true,"
           "\"Labels\":{\"a\":\"1\",\"b\":\"2\",\"a\":\"3\",\"c\":\"4\",\"b\":\"5\"},"
           "\"Text\":\"second\",\"Limit\":2,\"Part\":{\"Name\":\"b\"},\"Names\":[],"
           "\"Value\":{\"S\":\"\"},\"Flag\":null}",
           &s);
    assert_slice(s.text, "second");
    assert_int_equal(s.limit.value, 2);
    assert_null(s.part->kind.ptr);
    assert_true(s.names.set);
    assert_int_equal(s.names.count, 0);
    assert_null(s.value.fault);
    assert_false(s.flag.set);
    assert_int_equal(s.labels.count, 3);
    static const char *const expected[][2] = {{"a", "3"}, {"c", "4"}, {"b", "5"}};
    for (size_t i = 0; i < 3; i++) {
        assert_slice(s.labels.names[i], expected[i][0]);
        assert_slice(((struct slice *)s.labels.items)[i], expected[i][1]);
    }
    fixture_release(&f);
}

static void test_integers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"0", 0},
        {"-0", 0},
        {"1.9", 1},
        {"-1.9", -1},
        {"1e3", 1000},
        {"12.5E1", 125},
        {"9223372036854775807", INT64_MAX},
        {"9223372036854775808", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"-9223372036854775809", INT64_MIN},
        {"99999999999999999999999", INT64_MAX},
        {"-99999999999999999999999", INT64_MIN},
        {"1e400", INT64_MAX},
        {"-1e400", INT64_MIN},
        {"1e-400", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture f;
        fixture_init(&f);
        struct sample s;
        decode(&f, arena_printf(&f.arena, "{\"Text\":\"abc\",\"Total\":%s}", cases[i].text), &s);
        assert_true(s.total.value == cases[i].value);
        fixture_release(&f);
    }
}

static void test_booleans(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool value;
    } cases[] = {{"true", true},  {"false", false}, {"\"true\"", true}, {"\"FALSE\"", false},
                 {"\"1\"", true}, {"\"0\"", false}, {"\"Yes\"", true},  {"\"no\"", false}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture f;
        fixture_init(&f);
        struct sample s;
        decode(&f, arena_printf(&f.arena, "{\"Text\":\"abc\",\"Flag\":%s}", cases[i].text), &s);
        assert_true(s.flag.set);
        assert_int_equal(s.flag.value, cases[i].value);
        fixture_release(&f);
    }
}

// ---- SerializationException -----------------------------------------------------------

static void assert_serialization(const char *json, const char *message)
{
    struct fixture f;
    fixture_init(&f);
    struct sample s;
    struct slice copy = exact_copy(slice_str(json));
    if (shape_decode(&sample_shape, LAYER_OLD, copy, &s, &f.arena, &f.error))
        fail_msg("accepted: %s", json);
    free((void *)(uintptr_t)copy.ptr);
    if (f.error.code != ERR_SERIALIZATION)
        fail_msg("%s: %s", json, f.error.message);
    if (strcmp(f.error.message, message) != 0)
        fail_msg("%s: \"%s\", not \"%s\"", json, f.error.message, message);
    fixture_release(&f);
}

static void test_malformed(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",      " ",           "{",   "[]",      "\"a\"",         "1",        "null", "{}x",
        "{} {}", "{\"Text\":}", "{,}", "{\"a\"}", "{\"Text\":\"a", "nonsense", "\xff"};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_serialization(texts[i], "");
    assert_serialization("{\"Item\":{\"a\":{\"S\":\"x\"}", "");
    assert_serialization("{\"Item\":{\"a\":{\"L\":[{\"S\":\"x\"},]}}}", "");
    assert_serialization("{\"Item\":{\"a\":{\"SS\":[\"x\"}}}", "");
    assert_serialization("{\"Value\":{\"N\":\"x\"},\"Text\":\"\\q\"}", "");
}

#define STRUCTURE  "Start of structure or map found where not expected"
#define FIELD      "Unexpected field type"
#define PAYLOAD    "Unexpected value type in payload"
#define BYTES      "only base-64-encoded strings are convertible to bytes"
#define COLLECTION "Unrecognized collection type "
#define MODEL      "com.amazonaws.dynamodb.v20120810."
#define CAST                                                                                       \
    "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class "  \
    "java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and "           \
    "java.lang.Class are in module java.base of loader 'bootstrap')"

static void test_wrong_types(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{\"Text\":1}", "NUMBER_VALUE cannot be converted to String"},
        {"{\"Text\":-1.5}", "DECIMAL_VALUE cannot be converted to String"},
        {"{\"Text\":1e5}", "DECIMAL_VALUE cannot be converted to String"},
        {"{\"Text\":true}", "TRUE_VALUE cannot be converted to String"},
        {"{\"Text\":false}", "FALSE_VALUE cannot be converted to String"},
        {"{\"Text\":[]}", COLLECTION "class java.lang.String"},
        {"{\"Text\":{}}", STRUCTURE},
        {"{\"Color\":1}", "NUMBER_VALUE cannot be converted to String"},
        {"{\"Limit\":\"1\"}", "STRING_VALUE cannot be converted to Integer"},
        {"{\"Limit\":true}", "TRUE_VALUE cannot be converted to Integer"},
        {"{\"Limit\":[]}", COLLECTION "class java.lang.Integer"},
        {"{\"Limit\":{}}", STRUCTURE},
        {"{\"Total\":\"1\"}", "STRING_VALUE cannot be converted to Long"},
        {"{\"Total\":[]}", COLLECTION "class java.lang.Long"},
        {"{\"Ratio\":\"1\"}", "STRING_VALUE cannot be converted to Double"},
        {"{\"When\":\"1\"}", "STRING_VALUE cannot be converted to Date"},
        {"{\"Flag\":1}", "NUMBER_VALUE cannot be converted to Boolean"},
        {"{\"Flag\":1.5}", "DECIMAL_VALUE cannot be converted to Boolean"},
        {"{\"Flag\":\"23\"}", "Unexpected token received from parser"},
        {"{\"Flag\":[]}", COLLECTION "class java.lang.Boolean"},
        {"{\"Flag\":{}}", STRUCTURE},
        {"{\"Blob\":1}", BYTES},
        {"{\"Blob\":true}", BYTES},
        {"{\"Blob\":[]}", COLLECTION "class java.nio.ByteBuffer"},
        {"{\"Blob\":{}}", STRUCTURE},
        {"{\"Blob\":\"23456\"}",
         "Base64 encoded length is expected a multiple of 4 bytes but found: 5"},
        {"{\"Blob\":\"=+/=\"}", "Invalid last non-pad Base64 character dectected"},
        {"{\"Blob\":\"+/+=\"}", "Invalid last non-pad Base64 character dectected"},
        {"{\"Part\":\"x\"}", FIELD},
        {"{\"Part\":1}", FIELD},
        {"{\"Part\":[]}", COLLECTION "class " MODEL "Part"},
        {"{\"Part\":{\"Name\":1}}", "NUMBER_VALUE cannot be converted to String"},
        {"{\"Parts\":\"x\"}", FIELD},
        {"{\"Parts\":false}", FIELD},
        {"{\"Parts\":{}}", STRUCTURE},
        {"{\"Parts\":[\"x\"]}", PAYLOAD},
        {"{\"Parts\":[[]]}", COLLECTION "class " MODEL "Part"},
        {"{\"Names\":[1]}", "NUMBER_VALUE cannot be converted to String"},
        {"{\"Labels\":\"x\"}", FIELD},
        {"{\"Labels\":[]}", COLLECTION "java.util.Map<java.lang.String, java.lang.String>"},
        {"{\"Labels\":{\"a\":1}}", "NUMBER_VALUE cannot be converted to String"},
        {"{\"Requests\":[]}",
         COLLECTION "java.util.Map<java.lang.String, java.util.List<" MODEL "Part>>"},
        {"{\"Requests\":{\"a\":\"x\"}}", CAST},
        {"{\"Requests\":{\"a\":{}}}", STRUCTURE},
        {"{\"Tables\":[]}", COLLECTION "java.util.Map<java.lang.String, " MODEL "Part>"},
        {"{\"Tables\":{\"a\":1}}", PAYLOAD},
        {"{\"Value\":\"x\"}", FIELD},
        {"{\"Value\":[]}", COLLECTION "class " MODEL "AttributeValue"},
        {"{\"Value\":{\"S\":1}}", "NUMBER_VALUE cannot be converted to String"},
        {"{\"Value\":{\"S\":[]}}", COLLECTION "class java.lang.String"},
        {"{\"Value\":{\"S\":{}}}", STRUCTURE},
        {"{\"Value\":{\"N\":1}}", "NUMBER_VALUE cannot be converted to String"},
        {"{\"Value\":{\"B\":1}}", BYTES},
        {"{\"Value\":{\"B\":\"abc\"}}",
         "Base64 encoded length is expected a multiple of 4 bytes but found: 3"},
        {"{\"Value\":{\"BOOL\":1}}", "NUMBER_VALUE cannot be converted to Boolean"},
        {"{\"Value\":{\"NULL\":\"x\"}}", "Unexpected token received from parser"},
        {"{\"Value\":{\"SS\":\"x\"}}", FIELD},
        {"{\"Value\":{\"SS\":{}}}", STRUCTURE},
        {"{\"Value\":{\"SS\":[1]}}", "NUMBER_VALUE cannot be converted to String"},
        {"{\"Value\":{\"NS\":[1]}}", "NUMBER_VALUE cannot be converted to String"},
        {"{\"Value\":{\"BS\":[1]}}", BYTES},
        {"{\"Value\":{\"L\":\"x\"}}", FIELD},
        {"{\"Value\":{\"L\":{}}}", STRUCTURE},
        {"{\"Value\":{\"L\":[\"x\"]}}", PAYLOAD},
        {"{\"Value\":{\"L\":[[]]}}", COLLECTION "class " MODEL "AttributeValue"},
        {"{\"Value\":{\"M\":\"x\"}}", FIELD},
        {"{\"Value\":{\"M\":[]}}",
         COLLECTION "java.util.Map<java.lang.String, " MODEL "AttributeValue>"},
        {"{\"Value\":{\"M\":{\"a\":\"x\"}}}", PAYLOAD},
        {"{\"Item\":\"x\"}", FIELD},
        {"{\"Item\":[]}", COLLECTION "java.util.Map<java.lang.String, " MODEL "AttributeValue>"},
        {"{\"Item\":{\"a\":1}}", PAYLOAD},
        {"{\"Items\":[1]}", CAST},
        {"{\"Items\":[[]]}", COLLECTION "java.util.Map<java.lang.String, " MODEL "AttributeValue>"},
        {"{\"Values\":[]}", COLLECTION "java.util.Map<java.lang.String, " MODEL "AttributeValue>"},
        {"{\"Values\":{\":a\":\"x\"}}", PAYLOAD},
        // A wrong type behind a fault, or behind a broken constraint, still comes first.
        {"{\"Value\":{\"N\":\"x\",\"S\":1}}", "NUMBER_VALUE cannot be converted to String"},
        {"{\"Text\":\"\",\"Limit\":\"1\"}", "STRING_VALUE cannot be converted to Integer"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_serialization(cases[i][0], cases[i][1]);
}

static void test_depth_bombs(void **state)
{
    (void)state;
    struct buf json;
    buf_init(&json, 8 << 20);
    buf_text(&json, "{\"Item\":{\"a\":");
    for (int i = 0; i < 200000; i++)
        buf_text(&json, i % 2 != 0 ? "{\"L\":[" : "{\"M\":{\"a\":");
    buf_byte(&json, 0);
    assert_serialization((const char *)json.ptr, "");
    buf_clear(&json);
    buf_text(&json, "{\"Unknown\":");
    for (int i = 0; i < 200000; i++)
        buf_byte(&json, '[');
    buf_byte(&json, 0);
    assert_serialization((const char *)json.ptr, "");
    buf_release(&json);
}

// A map with many equal names and a long list are quick and leave nothing behind.
static void test_large(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    struct buf json;
    buf_init(&json, 8 << 20);
    buf_text(&json, "{\"Text\":\"abc\",\"Labels\":{");
    for (int i = 0; i < 50000; i++)
        buf_printf(&json, "\"n%d\":\"\",", i % 1000);
    buf_text(&json, "\"n\":\"\"},\"Names\":[");
    for (int i = 0; i < 50000; i++)
        buf_text(&json, "\"abc\",");
    buf_text(&json, "\"abc\"]}");
    struct sample s;
    assert_true(shape_decode(&sample_shape, LAYER_OLD, buf_view(&json), &s, &f.arena, &f.error));
    assert_int_equal(s.labels.count, 1001);
    assert_int_equal(s.names.count, 50001);
    buf_release(&json);
    fixture_release(&f);
}

// A name that only begins like a member, or goes on behind a NUL, is another name.
static void test_other_names(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    struct sample s;
    decode(&f,
           "{\"Text\":\"abc\",\"Limi\":1,\"Limits\":2,\"Limit\\u0000\":3,"
           "\"Limit\\u0000 and more\":4,\"\":5,\"\\u0000\":6}",
           &s);
    assert_false(s.limit.set);
    assert_slice(s.text, "abc");
    fixture_release(&f);
}

// Whatever the budget, the end is an answer or a clean error.
static void test_budget(void **state)
{
    (void)state;
    for (size_t budget = 0; budget < 16384; budget += 256) {
        struct fixture f;
        struct sample s;
        arena_init(&f.arena, budget);
        error_init(&f.error, &f.arena);
        if (!shape_decode(&sample_shape, LAYER_OLD, slice_str(sample_json), &s, &f.arena, &f.error))
            assert_int_equal(f.error.code, ERR_BUDGET);
        arena_release(&f.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind),  cmocka_unit_test(test_absent),
        cmocka_unit_test(test_repeats),     cmocka_unit_test(test_integers),
        cmocka_unit_test(test_booleans),    cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_wrong_types), cmocka_unit_test(test_depth_bombs),
        cmocka_unit_test(test_large),       cmocka_unit_test(test_other_names),
        cmocka_unit_test(test_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
