// Constraints: each message, where it points, and how values are shown in it.
#include "json/support.h"

#include "json/sample_shape.h"

#define ONE             "1 validation error detected: "
#define AT(value, path) "Value " value " at '" path "' failed to satisfy constraint: "
#define NOT_NULL        "Member must not be null"
#define PATTERN         "Member must satisfy regular expression pattern: [a-z0-9]+"
#define AT_LEAST_3      "Member must have length greater than or equal to 3"
#define AT_MOST_8       "Member must have length less than or equal to 8"
#define COLORS          "Member must satisfy enum value set: [RED, GREEN]"
#define TEXT_RULES      "[" AT_MOST_8 ", " AT_LEAST_3 ", " PATTERN "]"
#define PARTS_RULES                                                                                \
    "[Member must have length less than or equal to 2, "                                           \
    "Member must have length greater than or equal to 1]"
#define NO_TEXT   AT("null", "text") NOT_NULL
#define TWO       AT("'{a!=[], b!=[]}'", "requests")
#define TWO_NAMES TWO "Map keys must satisfy constraint: " TEXT_RULES
#define TWO_LISTS TWO "Map value must satisfy constraint: " PARTS_RULES

static void assert_refused(const char *json, const char *message)
{
    struct fixture f;
    fixture_init(&f);
    struct sample s;
    struct slice copy = exact_copy(slice_str(json));
    if (shape_decode(&sample_shape, LAYER_OLD, copy, &s, &f.arena, &f.error))
        fail_msg("accepted: %s", json);
    free((void *)(uintptr_t)copy.ptr);
    assert_int_equal(f.error.code, ERR_VALIDATION);
    if (strcmp(f.error.message, message) != 0)
        fail_msg("%s:\n%s\nnot\n%s", json, f.error.message, message);
    fixture_release(&f);
}

// The member beside a valid Text.
static void assert_member_refused(const char *member, const char *message)
{
    struct fixture f;
    fixture_init(&f);
    assert_refused(arena_printf(&f.arena, "{\"Text\":\"abc\",%s}", member),
                   arena_printf(&f.arena, ONE "%s", message));
    fixture_release(&f);
}

static void test_messages(void **state)
{
    (void)state;
    assert_refused("{}", ONE NO_TEXT);
    assert_refused("{\"Text\":null}", ONE NO_TEXT);
    assert_refused("{\"Text\":\"abc!\"}", ONE AT("'abc!'", "text") PATTERN);
    assert_refused("{\"Text\":\"ab\"}", ONE AT("'ab'", "text") AT_LEAST_3);
    assert_refused("{\"Text\":\"abcdefghi\"}", ONE AT("'abcdefghi'", "text") AT_MOST_8);
    assert_refused("{\"Text\":\"\"}", "2 validation errors detected: " AT("''", "text") PATTERN
                   "; " AT("''", "text") AT_LEAST_3);
    assert_member_refused("\"Color\":\"BLUE\"", AT("'BLUE'", "color") COLORS);
    assert_member_refused("\"Color\":\"\"", AT("''", "color") COLORS);
    assert_member_refused(
        "\"Blob\":\"AAECAwQ=\"",
        AT("'AAECAwQ='", "blob") "Member must have length less than or equal to 4");
    assert_member_refused("\"Limit\":0",
                          AT("'0'", "limit") "Member must have value greater than or equal to 1");
    assert_member_refused("\"Limit\":-1.5",
                          AT("'-1'", "limit") "Member must have value greater than or equal to 1");
    assert_member_refused("\"Limit\":101",
                          AT("'101'", "limit") "Member must have value less than or equal to 100");
    assert_member_refused(
        "\"Limit\":99999999999",
        AT("'2147483647'", "limit") "Member must have value less than or equal to 100");
}

static void test_places(void **state)
{
    (void)state;
    assert_member_refused("\"Part\":{}", AT("null", "part.name") NOT_NULL);
    assert_member_refused("\"Part\":{\"Name\":\"a\",\"Kind\":\"x\"}",
                          AT("'x'", "part.kind") COLORS);
    assert_member_refused("\"Parts\":[{\"Name\":\"a\"},{}]",
                          AT("null", "parts.2.member.name") NOT_NULL);
    assert_member_refused("\"Parts\":[{\"Name\":\"a\",\"Kind\":\"x\"}]",
                          AT("'x'", "parts.1.member.kind") COLORS);
    assert_member_refused("\"Tables\":{\"abc\":{}}", AT("null", "tables.abc.member.name") NOT_NULL);
    assert_member_refused("\"Requests\":{\"abc\":[{\"Name\":\"a\"},{\"Kind\":\"RED\"}]}",
                          AT("null", "requests.abc.member.2.member.name") NOT_NULL);
    assert_member_refused("\"Names\":[\"abc\",null]", AT("null", "names.2.member") NOT_NULL);
    assert_member_refused("\"Labels\":{\"a\":null}", AT("null", "labels.a.member") NOT_NULL);
}

static void test_containers(void **state)
{
    (void)state;
    assert_member_refused("\"Parts\":[]",
                          AT("'[]'", "parts") "Member must have length greater than or equal to 1");
    assert_member_refused(
        "\"Parts\":[{\"Name\":\"a\"},{\"Name\":\"b\",\"Kind\":\"RED\",\"Units\":5},{\"Name\":\"c\"}"
        "]",
        AT("'[Part(name=a), Part(name=b, kind=RED, units=5), Part(name=c)]'",
           "parts") "Member must have length less than or equal to 2");
    assert_member_refused(
        "\"Names\":[\"abc\",\"d!ef\"]",
        AT("'[abc, d!ef]'", "names") "Member must satisfy constraint: " TEXT_RULES);
    assert_member_refused(
        "\"Requests\":{}",
        AT("'{}'", "requests") "Member must have length greater than or equal to 1");
    assert_member_refused(
        "\"Requests\":{\"abc\":[]}",
        AT("'{abc=[]}'", "requests") "Map value must satisfy constraint: " PARTS_RULES);
    assert_member_refused("\"Requests\":{\"a!\":[{\"Name\":\"n\"}],\"abc\":[{\"Name\":\"m\"}]}",
                          AT("'{a!=[Part(name=n)], abc=[Part(name=m)]}'",
                             "requests") "Map keys must satisfy constraint: " TEXT_RULES);
    assert_member_refused("\"Tables\":{\"a!\":{\"Name\":\"n\",\"Units\":3}}",
                          AT("'{a!=Part(name=n, units=3)}'",
                             "tables") "Map keys must satisfy constraint: " TEXT_RULES);
    // Each name and each value that breaks them is one failure.
    assert_refused("{\"Text\":\"abc\",\"Requests\":{\"a!\":[],\"b!\":[]}}",
                   "4 validation errors detected: " TWO_NAMES "; " TWO_NAMES "; " TWO_LISTS
                   "; " TWO_LISTS);
}

static void test_characters(void **state)
{
    (void)state;
    // Lengths count UTF-16 units: two for the emoji, one for é.
    struct fixture f;
    fixture_init(&f);
    struct slice text;
    static const struct shape three = {
        .kind = SHAPE_STRING, .has_min = true, .min = 3, .has_max = true, .max = 3};
    const struct shape_member members[] = {{SHAPE_NAME("Text"), &three, 0, true}};
    const struct shape shape = {
        .kind = SHAPE_STRUCT, .members = members, .member_count = 1, .size = sizeof text};
    assert_true(shape_decode(&shape, LAYER_OLD,
                             SLICE_LIT("{\"Text\":\"\xf0\x9f\x98\x80\xc3\xa9\"}"), &text, &f.arena,
                             &f.error));
    assert_false(shape_decode(&shape, LAYER_OLD, SLICE_LIT("{\"Text\":\"\xc3\xa9\xc3\xa9\"}"),
                              &text, &f.arena, &f.error));
    fixture_release(&f);
}

// In the order of the shape, whatever the order of the text; and no more than ten.
static void test_collected(void **state)
{
    (void)state;
    assert_refused("{\"Limit\":0,\"Color\":\"x\"}",
                   "3 validation errors detected: " NO_TEXT "; " AT("'x'", "color") COLORS
                   "; " AT("'0'", "limit") "Member must have value greater than or equal to 1");
    struct fixture f;
    fixture_init(&f);
    struct sample s;
    struct buf json;
    buf_init(&json, 1 << 16);
    buf_text(&json, "{\"Tables\":{\"t0\":{}");
    for (int i = 1; i < 30; i++)
        buf_printf(&json, ",\"t%02d\":{}", i);
    buf_text(&json, "}}");
    assert_false(shape_decode(&sample_shape, LAYER_OLD, buf_view(&json), &s, &f.arena, &f.error));
    static const char prefix[] =
        "10 validation errors detected: " NO_TEXT "; " AT("null", "tables.t0.member.name") NOT_NULL;
    assert_memory_equal(f.error.message, prefix, strlen(prefix));
    static const char last[] = AT("null", "tables.t08.member.name") NOT_NULL;
    assert_string_equal(f.error.message + strlen(f.error.message) - strlen(last), last);
    buf_release(&json);
    fixture_release(&f);
}

// The value is shown whole, however large.
static void test_large_values(void **state)
{
    (void)state;
    struct buf json;
    struct buf message;
    buf_init(&json, 1 << 16);
    buf_init(&message, 1 << 16);
    buf_text(&json, "{\"Text\":\"abc\",\"Parts\":[{\"Name\":\"");
    buf_text(&message, ONE "Value '[Part(name=");
    for (int i = 0; i < 5000; i++) {
        buf_byte(&json, 'x');
        buf_byte(&message, 'x');
    }
    buf_text(&json, "\"},{\"Name\":\"a\"},{\"Name\":\"a\"}]}");
    buf_text(&message, "), Part(name=a), Part(name=a)]' at 'parts' failed to satisfy constraint: "
                       "Member must have length less than or equal to 2");
    buf_byte(&json, 0);
    buf_byte(&message, 0);
    assert_refused((const char *)json.ptr, (const char *)message.ptr);
    buf_release(&json);
    buf_release(&message);
}

// A NUL does not end the message, whether in a value, in a composite or in a place.
static void test_nul(void **state)
{
    (void)state;
    assert_refused("{\"Text\":\"a\\u0000bc\"}", ONE AT("'a\\u0000bc'", "text") PATTERN);
    assert_member_refused("\"Tables\":{\"a\\u0000b\":{\"Name\":\"\\u0000\"}}",
                          AT("'{a\\u0000b=Part(name=\\u0000)}'",
                             "tables") "Map keys must satisfy constraint: " TEXT_RULES);
    assert_member_refused("\"Labels\":{\"a\\u0000\":null}",
                          AT("null", "labels.a\\u0000.member") NOT_NULL);
}

static bool is_long_word(struct slice text)
{
    return slice_begins(text, SLICE_LIT("word:"));
}

// What a shape exempts keeps to none of its limits, as a value and as the name in a map.
static void test_exempt(void **state)
{
    (void)state;
    static const struct shape word = {.kind = SHAPE_STRING,
                                      .has_min = true,
                                      .min = 2,
                                      .has_max = true,
                                      .max = 3,
                                      .pattern = "[a-z0-9]+",
                                      .matches = sample_name_matches,
                                      .exempts = is_long_word};
    static const struct shape words = {.kind = SHAPE_MAP, .element = &word, .key = &word};
    static const struct shape_member members[] = {{SHAPE_NAME("Words"), &words, 0, true}};
    static const struct shape shape = {.kind = SHAPE_STRUCT,
                                       .members = members,
                                       .member_count = 1,
                                       .size = sizeof(struct field_map)};
    struct fixture f;
    struct field_map map;
    fixture_init(&f);
    assert_true(shape_decode(&shape, LAYER_OLD, SLICE_LIT("{\"Words\":{\"word:!\":\"word:?\"}}"),
                             &map, &f.arena, &f.error));
    assert_false(shape_decode(&shape, LAYER_OLD, SLICE_LIT("{\"Words\":{\"word!\":\"wor\"}}"), &map,
                              &f.arena, &f.error));
    fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),   cmocka_unit_test(test_places),
        cmocka_unit_test(test_containers), cmocka_unit_test(test_characters),
        cmocka_unit_test(test_collected),  cmocka_unit_test(test_large_values),
        cmocka_unit_test(test_nul),        cmocka_unit_test(test_exempt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
