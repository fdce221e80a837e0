// The writer: commas, escapes, numbers, times, and values straight from their bytes.
#include "json/support.h"

#include "base/encode.h"
#include "json/reader.h"
#include "json/shape.h"
#include "json/writer.h"

static void assert_written(struct buf *out, const char *expected)
{
    assert_false(out->failed);
    assert_slice(buf_view(out), expected);
    buf_clear(out);
}

static void test_commas(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 4096);
    struct json_writer w = json_writer_to(&out);
    json_open_object(&w);
    json_put_object(&w, "Empty");
    json_close_object(&w);
    json_put_array(&w, "List");
    json_i64(&w, -5);
    json_bool(&w, true);
    json_bool(&w, false);
    json_text(&w, "x");
    json_open_array(&w);
    json_close_array(&w);
    json_close_array(&w);
    json_name_slice(&w, SLICE_LIT("a\"b"));
    json_i64(&w, INT64_MIN);
    json_close_object(&w);
    assert_written(&out, "{\"Empty\":{},\"List\":[-5,true,false,\"x\",[]],"
                         "\"a\\\"b\":-9223372036854775808}");
    buf_release(&out);
}

static void test_escapes(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 4096);
    struct json_writer w = json_writer_to(&out);
    json_string(&w, slice_of("\0\x1f\"\\/\b\f\n\r\t\x7f", 11));
    assert_written(&out, "\"\\u0000\\u001f\\\"\\\\/\\b\\f\\n\\r\\t\x7f\"");
    w = json_writer_to(&out);
    json_string(&w, SLICE_LIT("h\xc3\xa9 \xf0\x9f\x98\x80 and a longer run of plain text\n"));
    assert_written(&out, "\"h\xc3\xa9 \xf0\x9f\x98\x80 and a longer run of plain text\\n\"");
    w = json_writer_to(&out);
    json_string(&w, slice_of(NULL, 0));
    assert_written(&out, "\"\"");
    // Not UTF-8: every byte is one character.
    w = json_writer_to(&out);
    json_text(&w, "h\xc3\xa9 \"\xff\x80");
    assert_written(&out, "\"h\xc3\x83\xc2\xa9 \\\"\xc3\xbf\xc2\x80\"");
    buf_release(&out);
}

// Whatever bytes of ASCII are written, reading gives them back.
static void test_escapes_read_back(void **state)
{
    (void)state;
    uint64_t seed = 42;
    struct buf out;
    buf_init(&out, 1 << 16);
    for (int round = 0; round < 500; round++) {
        struct fixture f;
        fixture_init(&f);
        uint8_t bytes[64];
        size_t len = random_below(&seed, sizeof bytes);
        for (size_t i = 0; i < len; i++)
            bytes[i] = (uint8_t)random_below(&seed, 128);
        struct slice copy = exact_copy(slice_of(bytes, len));
        struct json_writer w = json_writer_to(&out);
        buf_clear(&out);
        json_string(&w, copy);
        struct json_reader reader;
        struct slice text;
        json_reader_init(&reader, buf_view(&out), &f.arena);
        assert_true(json_read_string(&reader, &text));
        assert_true(slice_equal(text, copy));
        free((void *)(uintptr_t)copy.ptr);
        fixture_release(&f);
    }
    buf_release(&out);
}

static void test_units(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0.0"},     {0.5, "0.5"},           {1, "1.0"},   {12, "12.0"},
        {2.5, "2.5"},   {40000, "40000.0"},     {0.1, "0.1"}, {1e9, "1000000000.0"},
        {0.25, "0.25"}, {1234.125, "1234.125"}, {-1, "0.0"},
    };
    struct buf out;
    buf_init(&out, 4096);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct json_writer w = json_writer_to(&out);
        json_units(&w, cases[i].value);
        assert_written(&out, cases[i].text);
    }
    buf_release(&out);
}

static void test_times(void **state)
{
    (void)state;
    static const struct {
        int64_t value;
        const char *text;
    } cases[] = {
        {0, "\"t\":0.000"},      {1700000000123, "\"t\":1700000000.123"},
        {7, "\"t\":0.007"},      {-1500, "\"t\":-1.500"},
        {60050, "\"t\":60.050"},
    };
    struct buf out;
    buf_init(&out, 4096);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct json_writer w = json_writer_to(&out);
        json_put_time(&w, "t", cases[i].value);
        assert_written(&out, cases[i].text);
    }
    buf_release(&out);
}

// A full buf writes nothing half-way and says so once.
static void test_full_buf(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    struct slice item;
    assert_true(json_decode_item(SLICE_LIT("{\"a\":{\"L\":[{\"S\":\"text\"},{\"N\":\"1\"}]}}"),
                                 &f.arena, &item, &f.error));
    for (size_t max = 16; max < 40; max++) {
        struct buf out;
        buf_init(&out, max);
        struct json_writer w = json_writer_to(&out);
        json_item(&w, item);
        json_put_string(&w, "more", SLICE_LIT("a\nb"));
        assert_true(out.failed);
        assert_true(out.len <= max);
        buf_release(&out);
    }
    fixture_release(&f);
}

// What an item becomes is known before it is written: never less, and not much more.
static void test_room(void **state)
{
    (void)state;
    static const struct {
        const char *item;
        size_t more; // than is written, at most
    } rows[] = {
        {"{}", 0},
        {"{\"a\":{\"S\":\"text\"},\"b\":{\"S\":\"\"}}", 8},
        {"{\"a\\nb\":{\"S\":\"\\u0001\\u001f\\\"\\\\ and plain text of some length\"}}", 20},
        {"{\"a\":{\"N\":\"0\"},\"b\":{\"N\":\"-0.5\"},\"c\":{\"N\":\"12345.678\"}}", 12},
        {"{\"a\":{\"N\":\"1e-130\"},\"b\":{\"N\":\"-1e-130\"},\"c\":{\"N\":\"1e125\"}}", 12},
        {"{\"a\":{\"N\":\"-9.9999999999999999999999999999999999999e125\"}}", 8},
        {"{\"a\":{\"N\":\"1.2345678901234567890123456789012345678e-93\"}}", 8},
        {"{\"a\":{\"B\":\"\"},\"b\":{\"B\":\"YQ==\"},\"c\":{\"BS\":[\"YWI=\",\"YWJj\"]}}", 12},
        {"{\"a\":{\"SS\":[\"x\",\"y\\t\"]},\"b\":{\"NS\":[\"1\",\"2e-100\"]}}", 20},
        {"{\"a\":{\"NULL\":true},\"b\":{\"BOOL\":true},\"c\":{\"BOOL\":false}}", 8},
        {"{\"a\":{\"L\":[]},\"b\":{\"M\":{}},\"c\":{\"L\":[{\"M\":{\"d\":{\"N\":\"7\"}}}]}}", 16},
    };
    assert_int_equal(json_item_room(VALUE_NONE), 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        struct slice item;
        struct buf out;
        fixture_init(&f);
        buf_init(&out, 4096);
        assert_true(json_decode_item(slice_str(rows[i].item), &f.arena, &item, &f.error));
        struct json_writer w = json_writer_to(&out);
        json_item(&w, item);
        assert_in_range(json_item_room(item), out.len, out.len + rows[i].more);
        buf_release(&out);
        fixture_release(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commas), cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_units),  cmocka_unit_test(test_escapes_read_back),
        cmocka_unit_test(test_times),  cmocka_unit_test(test_full_buf),
        cmocka_unit_test(test_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
