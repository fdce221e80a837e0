// The reader: what is JSON and what is not, what strings become, and how deep it goes.
#include "json/support.h"

#include "json/reader.h"

static bool is_valid(struct slice text)
{
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct slice copy = exact_copy(text);
    struct json_reader reader;
    json_reader_init(&reader, copy, &arena);
    bool valid = json_skip(&reader) && json_at_end(&reader);
    assert_int_equal(valid, reader.error == NULL);
    if (!valid)
        assert_true(reader.offset <= text.len);
    free((void *)(uintptr_t)copy.ptr);
    arena_release(&arena);
    return valid;
}

static void test_valid_texts(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}",
        "[]",
        "\"\"",
        "0",
        "-0",
        "1",
        "-1.5",
        "1e5",
        "1E+5",
        "1.25e-3",
        "true",
        "false",
        "null",
        " \t\r\n{ } ",
        "[1,2 , 3]",
        "{\"a\":1,\"b\":[{}],\"a\":null}",
        "[[[[]]]]",
        "\"\\u0041\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        "\"\\uD83D\\uDE00\"",
        "\"\\u0000\"",
        "\"h\xc3\xa9llo \xf0\x9f\x98\x80\"",
        "\"\x7f\"",
        "123456789012345678901234567890",
        "{\"long name of sixteen and more bytes\":\"long text of sixteen and more bytes\"}",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        if (!is_valid(slice_str(texts[i])))
            fail_msg("refused: %s", texts[i]);
    }
}

static void test_invalid_texts(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        " ",
        "{",
        "}",
        "[",
        "]",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\":1 \"b\":2}",
        "{a:1}",
        "{'a':1}",
        "{1:1}",
        "{\"a\" 1}",
        "[}",
        "{]",
        "[1}",
        "{\"a\":1]",
        "tru",
        "truE",
        "nul",
        "fals",
        "True",
        "NaN",
        "Infinity",
        "-",
        "+1",
        "01",
        "-01",
        "1.",
        ".5",
        "1e",
        "1e+",
        "1.e5",
        "0x10",
        "1_0",
        "--1",
        "\"",
        "\"a",
        "\"\\",
        "\"\\\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u123g\"",
        "\"\\u\"",
        "\"\\uD83D\"",
        "\"\\uD83Dx\"",
        "\"\\uDE00\"",
        "\"\\uD83D\\u0041\"",
        "\"\\uD83D\\uD83D\"",
        "\"\\uD83D\\n\"",
        "\"\n\"",
        "\"\x01\"",
        "\"\x1f\"",
        "\"a very long text and then \t\"",
        "\"\\n and a control \x02\"",
        "\"\x80\"",
        "\"\xc3\"",
        "\"\xc0\xaf\"",
        "\"\xed\xa0\x80\"",
        "\"\xf8\x88\x80\x80\x80\"",
        "\"\xe2\x82\"",
        "\"\xf4\x90\x80\x80\"",
        "\"\\n\xff\"",
        "{} {}",
        "{}x",
        "1 1",
        "[] ,",
        "// comment\n{}",
        "/**/{}",
        "\xef\xbb\xbf{}",
        "\"a\" \"b\"",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        if (is_valid(slice_str(texts[i])))
            fail_msg("accepted: %s", texts[i]);
    }
    assert_false(is_valid(slice_of("\"a\0b\"", 5)));
    assert_false(is_valid(slice_of("1\0", 2)));
    assert_false(is_valid(slice_of(NULL, 0)));
}

static void test_errors_say_where(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    struct json_reader reader;
    json_reader_init(&reader, SLICE_LIT("{\"a\": [1, x]}"), &f.arena);
    assert_false(json_skip(&reader));
    assert_string_equal(reader.error, "unexpected character");
    assert_int_equal(reader.offset, 10);
    // The first error stays, and nothing more can be read.
    struct slice text;
    assert_int_equal(json_peek(&reader), JSON_BAD);
    assert_false(json_read_string(&reader, &text));
    assert_false(json_next_element(&reader));
    assert_false(json_at_end(&reader));
    assert_int_equal(reader.offset, 10);
    fixture_release(&f);
}

static void assert_string(const char *json, struct slice expected)
{
    struct fixture f;
    fixture_init(&f);
    struct json_reader reader;
    struct slice copy = exact_copy(slice_str(json));
    struct slice text;
    json_reader_init(&reader, copy, &f.arena);
    assert_true(json_read_string(&reader, &text));
    assert_int_equal(text.len, expected.len);
    assert_non_null(text.ptr);
    assert_memory_equal(text.ptr, expected.ptr, expected.len);
    assert_true(json_at_end(&reader));
    free((void *)(uintptr_t)copy.ptr);
    fixture_release(&f);
}

static void test_strings(void **state)
{
    (void)state;
    assert_string("\"\"", SLICE_LIT(""));
    assert_string("\"plain\"", SLICE_LIT("plain"));
    assert_string("\"a\\nb\"", SLICE_LIT("a\nb"));
    assert_string("\"\\u0000\"", slice_of("\0", 1));
    assert_string("\"\\u00e9\\u20AC\"", SLICE_LIT("\xc3\xa9\xe2\x82\xac"));
    assert_string("\"\\ud83d\\uDE00!\"", SLICE_LIT("\xf0\x9f\x98\x80!"));
    assert_string("\"\\udbff\\udfff\"", SLICE_LIT("\xf4\x8f\xbf\xbf"));
    assert_string("\"\xf0\x9f\x98\x80 mixed \\\"quote\\\" and more text behind\"",
                  SLICE_LIT("\xf0\x9f\x98\x80 mixed \"quote\" and more text behind"));
    // Each length around the width of the vector loop, with the odd byte at the end.
    char json[80];
    char expected[80];
    for (size_t n = 0; n < 40; n++) {
        memset(expected, 'x', n);
        memcpy(expected + n, "\n", 2);
        snprintf(json, sizeof json, "\"%.*s\\n\"", (int)n, expected);
        assert_string(json, slice_of(expected, n + 1));
        snprintf(json, sizeof json, "\"%.*s\"", (int)n, expected);
        assert_string(json, slice_of(expected, n));
    }
}

static void test_slices_of_the_input(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    static const char json[] = "\"no escape\"";
    struct json_reader reader;
    struct slice text;
    json_reader_init(&reader, slice_str(json), &f.arena);
    assert_true(json_read_string(&reader, &text));
    assert_ptr_equal(text.ptr, json + 1);
    assert_int_equal(f.arena.used, 0);
    fixture_release(&f);
}

static void test_walk(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    struct json_reader r;
    struct slice name, text;
    json_reader_init(&r, SLICE_LIT(" {\"a\" : [ 1.5 , true ] , \"b\\n\":{}, \"c\": null} "),
                     &f.arena);
    assert_int_equal(json_peek(&r), JSON_OBJECT);
    assert_true(json_enter(&r));
    assert_true(json_next_name(&r, &name));
    assert_slice(name, "a");
    assert_int_equal(json_peek(&r), JSON_ARRAY);
    assert_true(json_enter(&r));
    assert_true(json_next_element(&r));
    assert_int_equal(json_peek(&r), JSON_NUMBER);
    assert_true(json_read_number(&r, &text));
    assert_slice(text, "1.5");
    assert_true(json_next_element(&r));
    assert_int_equal(json_peek(&r), JSON_TRUE);
    assert_true(json_read_literal(&r));
    assert_false(json_next_element(&r));
    assert_null(r.error);
    assert_true(json_next_name(&r, &name));
    assert_slice(name, "b\n");
    assert_true(json_skip(&r));
    assert_true(json_next_name(&r, &name));
    assert_int_equal(json_peek(&r), JSON_NULL);
    assert_true(json_read_literal(&r));
    assert_false(json_next_name(&r, &name));
    assert_null(r.error);
    assert_true(json_at_end(&r));
    fixture_release(&f);
}

static struct slice nested(const char *open, const char *close, size_t depth, size_t closed)
{
    size_t len = depth * strlen(open) + closed * strlen(close);
    char *text = malloc(len + 1);
    assert_non_null(text);
    char *at = text;
    for (size_t i = 0; i < depth; i++)
        at = stpcpy(at, open);
    for (size_t i = 0; i < closed; i++)
        at = stpcpy(at, close);
    return slice_of(text, len);
}

static void test_depth(void **state)
{
    (void)state;
    struct slice text = nested("[", "]", LIMIT_JSON_DEPTH, LIMIT_JSON_DEPTH);
    assert_true(is_valid(text));
    free((void *)(uintptr_t)text.ptr);
    text = nested("[", "]", LIMIT_JSON_DEPTH + 1, LIMIT_JSON_DEPTH + 1);
    assert_false(is_valid(text));
    free((void *)(uintptr_t)text.ptr);
    text = nested("[", "]", 1000000, 0);
    assert_false(is_valid(text));
    free((void *)(uintptr_t)text.ptr);
    text = nested("{\"a\":", "}", 1000000, 1000000);
    assert_false(is_valid(text));
    free((void *)(uintptr_t)text.ptr);
}

static void test_huge(void **state)
{
    (void)state;
    size_t len = 4 << 20;
    char *text = malloc(len);
    assert_non_null(text);
    memset(text, 'x', len);
    text[0] = text[len - 1] = '"';
    assert_true(is_valid(slice_of(text, len)));
    text[len - 2] = '\\';
    assert_false(is_valid(slice_of(text, len)));
    memset(text, ' ', len);
    assert_false(is_valid(slice_of(text, len)));
    text[len / 2] = '0';
    assert_true(is_valid(slice_of(text, len)));
    memset(text, '9', len);
    assert_true(is_valid(slice_of(text, len)));
    free(text);
}

static void test_budget(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 64);
    struct json_reader reader;
    struct slice text;
    json_reader_init(&reader, SLICE_LIT("\"an escape\\n needs memory\""), &arena);
    assert_false(json_read_string(&reader, &text));
    assert_true(reader.budget);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid_texts),
        cmocka_unit_test(test_invalid_texts),
        cmocka_unit_test(test_errors_say_where),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_slices_of_the_input),
        cmocka_unit_test(test_walk),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_huge),
        cmocka_unit_test(test_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
