// Every format: what is written is read back, and what is wrong is told with its line.
#include "transfer/support.h"

#include "transfer/csv.h"
#include "transfer/item_writer.h"

static void round_trip(struct fixture *f, enum transfer_format format, const char *json)
{
    struct buf out;
    buf_init(&out, 1 << 24);
    struct item_writer writer = {.format = format, .table = SLICE_LIT("T\"1")};
    item_write_open(&writer, &out);
    for (int i = 0; i < 3; i++)
        assert_true(item_write(&writer, &out, item_of(f, json)));
    item_write_close(&writer, &out);
    assert_false(out.failed);
    struct item_reader_options options = {.format = format};
    struct item_reader *reader = reader_over(f, buf_view(&out), &options);
    struct item_record record;
    for (unsigned i = 1; i <= 3; i++) {
        assert_true(item_reader_next(reader, &record, &f->error));
        if (record.bad != NULL)
            fail_msg("%s: %s", transfer_format_name(format), record.bad);
        assert_int_equal(record.number, i);
        assert_false(record.removes);
        assert_item(record.item, json);
        assert_true(value_valid(record.item));
    }
    assert_false(item_reader_next(reader, &record, &f->error));
    assert_int_equal(f->error.code, ERR_NONE);
    item_reader_free(reader);
    buf_release(&out);
}

static void test_round_trips(void **state)
{
    static const enum transfer_format exact[] = {TRANSFER_DYNAMODB_JSON, TRANSFER_ION,
                                                 TRANSFER_TYPED, TRANSFER_BATCH_WRITE,
                                                 TRANSFER_DYNAMODUMP};
    for (size_t i = 0; i < COUNT_OF(exact); i++) {
        round_trip(*state, exact[i], ALL_TYPES);
        round_trip(*state, exact[i],
                   "{\"n\":{\"N\":\"1" // 1E125 and 1E-130
                   "000000000000000000000000000000000000000000000000000000000000"
                   "000000000000000000000000000000000000000000000000000000000000"
                   "00000\"},\"pk\":{\"S\":\"x\"},\"z\":{\"N\":\"0\"}}");
    }
    round_trip(*state, TRANSFER_PLAIN,
               "{\"a\":{\"L\":[{\"N\":\"12345678901234567890123456789012345678\"},{\"NULL\":true}]}"
               ",\"m\":{\"M\":{\"t\":{\"BOOL\":true}}},\"pk\":{\"S\":\"\\\"\\n\"}}");
}

// The one line that a record takes.
static void assert_written(struct fixture *f, enum transfer_format format, const char *json,
                           const char *expected)
{
    struct buf out;
    buf_init(&out, 1 << 20);
    struct item_writer writer = {.format = format};
    assert_true(item_write(&writer, &out, item_of(f, json)));
    buf_byte(&out, 0);
    assert_string_equal((const char *)out.ptr, expected);
    buf_release(&out);
}

static void test_spelling(void **state)
{
    struct fixture *f = *state;
    assert_written(f, TRANSFER_ION,
                   "{\"pk\":{\"S\":\"it's\"},\"n\":{\"N\":\"5\"},\"f\":{\"N\":\"1.5\"},"
                   "\"a b\":{\"NULL\":true},\"null\":{\"BOOL\":true},\"$1\":{\"B\":\"AQ==\"},"
                   "\"ns\":{\"NS\":[\"1\",\"2.5\"]},\"ss\":{\"SS\":[\"x\"]},\"bs\":{\"BS\":[\"AQ=="
                   "\"]}}",
                   "$ion_1_0 {Item:{'$1':{{AQ==}},'a b':null,bs:$dynamodb_BS::[{{AQ==}}],f:1.5,"
                   "n:5.,ns:$dynamodb_NS::[1.,2.5],'null':true,pk:\"it's\","
                   "ss:$dynamodb_SS::[\"x\"]}}\n");
    assert_written(f, TRANSFER_DYNAMODB_JSON, "{\"pk\":{\"S\":\"x\"}}",
                   "{\"Item\":{\"pk\":{\"S\":\"x\"}}}\n");
    assert_written(f, TRANSFER_PLAIN, ALL_TYPES,
                   "{\"b\":\"AAEC/w==\",\"bs\":[\"AA==\",\"AQ==\"],\"empty\":\"\",\"l\":[1,[],{}],"
                   "\"m\":{\"a b\":\"x\",\"true\":true},\"n\":-1.5,"
                   "\"ns\":[-2,0.000000000000000000000000000000000001,100],\"nul\":null,"
                   "\"pk\":\"x\",\"s\":\"quote \\\" comma , line\\nend \\\\ \xc3\xa9 "
                   "\xf0\x9f\x98\x80 'single' \\u0001\",\"ss\":[\"a\",\"b,\\\"c\"],\"t\":false}\n");
}

static void test_changes(void **state)
{
    struct fixture *f = *state;
    struct buf out;
    buf_init(&out, 1 << 20);
    struct change_images change = {.time_micros = 1680109764000000,
                                   .keys = item_of(f, "{\"pk\":{\"S\":\"k\"}}"),
                                   .new_image = item_of(f, "{\"pk\":{\"S\":\"k\"},"
                                                           "\"a\":{\"N\":\"2\"}}")};
    item_write_change(&out, TRANSFER_DYNAMODB_JSON, &change);
    change.old_image = change.new_image;
    change.new_image = VALUE_NONE;
    item_write_change(&out, TRANSFER_DYNAMODB_JSON, &change);
    buf_byte(&out, 0);
    assert_string_equal((const char *)out.ptr,
                        "{\"Metadata\":{\"WriteTimestampMicros\":{\"N\":\"1680109764000000\"}},"
                        "\"Keys\":{\"pk\":{\"S\":\"k\"}},"
                        "\"NewImage\":{\"a\":{\"N\":\"2\"},\"pk\":{\"S\":\"k\"}}}\n"
                        "{\"Metadata\":{\"WriteTimestampMicros\":{\"N\":\"1680109764000000\"}},"
                        "\"Keys\":{\"pk\":{\"S\":\"k\"}},"
                        "\"OldImage\":{\"a\":{\"N\":\"2\"},\"pk\":{\"S\":\"k\"}}}\n");
    struct item_reader_options options = {.format = TRANSFER_DYNAMODB_JSON};
    for (int i = 0; i < 2; i++) {
        struct item_reader *reader =
            reader_over(f, slice_of(out.ptr, out.len - (i == 0)), &options);
        struct item_record record;
        assert_true(item_reader_next(reader, &record, &f->error));
        assert_false(record.removes);
        assert_item(record.item, "{\"a\":{\"N\":\"2\"},\"pk\":{\"S\":\"k\"}}");
        assert_true(item_reader_next(reader, &record, &f->error));
        assert_true(record.removes);
        assert_item(record.item, "{\"pk\":{\"S\":\"k\"}}");
        item_reader_free(reader);
        buf_clear(&out);
        change.new_image = change.old_image;
        change.old_image = VALUE_NONE;
        item_write_change(&out, TRANSFER_ION, &change);
        change.old_image = change.new_image;
        change.new_image = VALUE_NONE;
        item_write_change(&out, TRANSFER_ION, &change);
        options.format = TRANSFER_ION;
    }
    buf_release(&out);
}

// What a text is read as: for each record its line, and the item or "!reason"; '-' for a deletion.
static void assert_read(struct fixture *f, const struct item_reader_options *options,
                        struct slice text, const char *expected)
{
    struct buf out;
    buf_init(&out, 1 << 24);
    struct item_reader *reader = reader_over(f, text, options);
    struct item_record record;
    while (item_reader_next(reader, &record, &f->error)) {
        buf_printf(&out, "%llu%s", (unsigned long long)record.line, record.removes ? "-" : " ");
        struct json_writer w = json_writer_to(&out);
        if (record.bad == NULL)
            json_item(&w, record.item);
        else
            buf_printf(&out, "!%s", record.bad);
        if (record.table.len > 0)
            buf_printf(&out, " of %.*s", SLICE_FMT(record.table));
        buf_byte(&out, '\n');
    }
    if (f->error.code != ERR_NONE)
        buf_printf(&out, "error: %s\n", f->error.message);
    error_init(&f->error, &f->arena);
    buf_byte(&out, 0);
    assert_string_equal((const char *)out.ptr, expected);
    item_reader_free(reader);
    buf_release(&out);
}

static void test_lines(void **state)
{
    struct fixture *f = *state;
    struct item_reader_options options = {.format = TRANSFER_DYNAMODB_JSON};
    assert_read(f, &options,
                slice_str("\xef\xbb\xbf{\"Item\":{\"a\":{\"S\":\"1\"}}}\r\n"
                          "\n"
                          "{\"Item\":{\"a\":{\"Q\":\"1\"}}}\n"
                          "{\"Item\":\n"
                          "  {\"Else\":1}\n"
                          "[]\n"
                          "{\"Item\":{\"a\":{\"N\":\"x\"}}}\n"
                          "{\"Item\":{\"a\":{\"S\":\"2\"}}} x\n"
                          "{ \"Item\" : {\"a\":{\"S\":\"2\"}} }"),
                "1 {\"a\":{\"S\":\"1\"}}\n"
                "3 !Supplied AttributeValue is empty, must contain exactly one of the supported "
                "datatypes\n"
                "4 !unexpected end of the text\n"
                "5 !the record has no \"Item\"\n"
                "6 !the record is not a JSON object\n"
                "7 !The parameter cannot be converted to a numeric value: x\n"
                "8 !something follows the JSON object\n"
                "9 {\"a\":{\"S\":\"2\"}}\n");
    assert_read(f, &options, slice_str(" \n\n"), "");
    options.format = TRANSFER_PLAIN;
    assert_read(f, &options, slice_str("{\"a\":1e999}\n{\"a\":1,\"a\":2}\n{\"a\":}\n5\n"),
                "1 !a number is out of range\n2 {\"a\":{\"N\":\"2\"}}\n"
                "3 !unexpected character\n4 !the record is not a JSON object\n");
}

static void test_ion(void **state)
{
    struct fixture *f = *state;
    struct item_reader_options options = {.format = TRANSFER_ION};
    assert_read(
        f, &options,
        slice_str("$ion_1_0 {Item:{a:1, 'b c': 0x1F, \"c\": 1_000.5d-2, d: '''long\n''' '''er''',\n"
                  "  e: x::y::\"s\" /* { */, f: {{ AQ == }}, g: null.int, h: -2e3, // }\n"
                  "  i: [1., true, ], j: \"\\x41\\u00e9\\U0001F600\\ud83d\\ude00\\n\\\n\",}}\n"
                  "$ion_1_0 {Item:{a:1\n"
                  "$ion_1_0 {Item:{a:2.}}\n"
                  "{Item:{a:sym}} {Item:{a:2020-01-01T}}\n"
                  "{Item:{a:$dynamodb_SS::[]}}{Item:{a:$dynamodb_NS::[1,1.0]}}\n"
                  "{Item:{a:$dynamodb_BS::[\"x\"]}}{Item:{a:(1 2)}}{Item:{a:{{\"clob\"}}}}\n"
                  "{Item:{a:\"\\ud800\"}}{Item:5}{It:{}}\n"
                  "{Item:{a:b::}} {Item:{a:{{//8=}}}}\n"
                  "// the end\n"),
        "1 {\"a\":{\"N\":\"1\"},\"b c\":{\"N\":\"31\"},\"c\":{\"N\":\"10.005\"},"
        "\"d\":{\"S\":\"long\\ner\"},\"e\":{\"S\":\"s\"},\"f\":{\"B\":\"AQ==\"},"
        "\"g\":{\"NULL\":true},\"h\":{\"N\":\"-2000\"},"
        "\"i\":{\"L\":[{\"N\":\"1\"},{\"BOOL\":true}]},"
        "\"j\":{\"S\":\"A\xc3\xa9\xf0\x9f\x98\x80\xf0\x9f\x98\x80\\n\"}}\n"
        "6 !a comma or the end of a container is missing\n"
        "7 {\"a\":{\"N\":\"2\"}}\n"
        "8 !a symbol cannot be an attribute value\n"
        "8 !a number is not well-formed\n"
        "9 !a set is empty\n"
        "9 !a set has the same member twice\n"
        "10 !a binary set has something else in it\n"
        "10 !a number is not well-formed\n"
        "10 !a blob is not base64\n"
        "11 !a string is not well-formed\n"
        "11 !the record has no Item\n"
        "11 !the record has no Item\n"
        "12 !a number is not well-formed\n"
        "12 {\"a\":{\"B\":\"//8=\"}}\n");
    assert_read(f, &options, slice_str("{Item:{a:\"x"), "1 !the record ends too early\n");
    assert_read(f, &options, slice_str("{Item:{a:\"\xff\"}}"), "1 !the text is not UTF-8\n");
}

static void test_ion_depth(void **state)
{
    struct fixture *f = *state;
    struct item_reader_options options = {.format = TRANSFER_ION};
    struct buf text;
    buf_init(&text, 1 << 22);
    buf_text(&text, "{Item:{a:");
    for (int i = 0; i < 100000; i++)
        buf_byte(&text, '[');
    for (int i = 0; i < 100000; i++)
        buf_byte(&text, ']');
    buf_text(&text, "}}");
    assert_read(f, &options, buf_view(&text), "1 !values are nested too deeply\n");
    options.format = TRANSFER_PLAIN;
    buf_clear(&text);
    for (int i = 0; i < 60; i++)
        buf_text(&text, "{\"a\":");
    assert_read(f, &options, buf_view(&text), "1 !values are nested too deeply\n");
    buf_release(&text);
}

static void test_csv(void **state)
{
    struct fixture *f = *state;
    const struct key_part typed[] = {{SLICE_LIT("n"), VALUE_N}, {SLICE_LIT("b"), VALUE_B}};
    struct item_reader_options options = {.format = TRANSFER_CSV, .typed_count = 2, .typed = typed};
    assert_read(f, &options,
                slice_str("n,\"s\"\"t\",b\r\n"
                          "1.50,\"a,\"\"b\n\",AQ==\r\n"
                          "\n"
                          "x,a,AQ==\n"
                          "1,a,A\n"
                          "1,a\n"
                          "1,a,AQ==,4\n"
                          "1,\"a\"x,AQ==\n"
                          "2,,\"AQ==\"\n"
                          "3,\"a,AQ==\n"),
                "2 {\"b\":{\"B\":\"AQ==\"},\"n\":{\"N\":\"1.5\"},\"s\\\"t\":{\"S\":\"a,\\\"b\\n\"}}"
                "\n"
                "5 !a numeric key attribute is not a number\n"
                "6 !a binary key attribute is not base64\n"
                "7 !the record has fewer fields than the header\n"
                "8 !the record has more fields than the header\n"
                "9 !something follows a quoted field\n"
                "10 {\"b\":{\"B\":\"AQ==\"},\"n\":{\"N\":\"2\"},\"s\\\"t\":{\"S\":\"\"}}\n"
                "11 !the record ends too early\n");
    const struct slice header[] = {SLICE_LIT("pk"), SLICE_LIT("v")};
    options.header_count = 2;
    options.header = header;
    options.delimiter = '\t';
    options.empty_is_absent = true;
    assert_read(f, &options, slice_str("1\t\n2\t\"\"\n3\tx,y"),
                "1 {\"pk\":{\"S\":\"1\"}}\n2 {\"pk\":{\"S\":\"2\"},\"v\":{\"S\":\"\"}}\n"
                "3 {\"pk\":{\"S\":\"3\"},\"v\":{\"S\":\"x,y\"}}\n");
    options.header_count = 0;
    assert_read(f, &options, slice_str("a\ta\n1\t2\n"),
                "error: the header is not valid: the header has the same column twice\n");
    assert_read(f, &options, slice_str("a\t\n1\t2\n"),
                "error: the header is not valid: a column of the header has no name\n");
    assert_read(f, &options, slice_str(""), "");
}

static void test_csv_written(void **state)
{
    struct fixture *f = *state;
    struct slice names[] = {SLICE_LIT("pk"), SLICE_LIT("l"), SLICE_LIT("s")};
    struct item_writer writer = {.format = TRANSFER_CSV,
                                 .columns = {.delimiter = ',', .count = 3, .names = names}};
    struct buf out;
    buf_init(&out, 1 << 16);
    item_write_open(&writer, &out);
    assert_true(item_write(&writer, &out,
                           item_of(f, "{\"pk\":{\"S\":\"a\\\"b\"},\"l\":{\"L\":[{\"N\":\"1\"},"
                                      "{\"S\":\"x\"}]}}")));
    assert_true(item_write(&writer, &out, item_of(f, "{\"pk\":{\"N\":\"1\"},\"s\":{\"S\":\"\"}}")));
    buf_byte(&out, 0);
    assert_string_equal((const char *)out.ptr, "pk,l,s\n\"a\"\"b\",\"[1,\"\"x\"\"]\",\n1,,\"\"\n");
    assert_false(item_write(&writer, &out, item_of(f, "{\"other\":{\"N\":\"1\"}}")));
    buf_release(&out);
}

static void test_documents(void **state)
{
    struct fixture *f = *state;
    struct item_reader_options options = {.format = TRANSFER_BATCH_WRITE};
    assert_read(f, &options,
                slice_str("{ \"T1\": [\n"
                          "  {\"PutRequest\": {\"Item\": {\n"
                          "    \"a\": {\"S\": \"}]\\\"\"}}}},\n"
                          "  {\"DeleteRequest\": {\"Key\": {\"a\": {\"S\": \"y\"}}}},\n"
                          "  {\"Other\": {}}\n"
                          " ], \"T2\": [{\"PutRequest\":{\"Item\":{\"a\":{\"N\":\"1\"}}}}]}\n"),
                "2 {\"a\":{\"S\":\"}]\\\"\"}} of T1\n"
                "4-{\"a\":{\"S\":\"y\"}} of T1\n"
                "5 !the element has neither PutRequest nor DeleteRequest of T1\n"
                "6 {\"a\":{\"N\":\"1\"}} of T2\n");
    options.format = TRANSFER_DYNAMODUMP;
    assert_read(f, &options,
                slice_str("{\"Count\":2,\"Other\":[{\"x\":1}],\"Last\":{\"k\":{\"Items\":[{}]}},\n"
                          "\"Items\":[{\"a\":{\"N\":\"1\"}},\n{\"a\":{\"S\":\"[\"}}]}"),
                "2 {\"a\":{\"N\":\"1\"}}\n3 {\"a\":{\"S\":\"[\"}}\n");
    assert_read(f, &options, slice_str("{\"Items\":[{\"a\":{\"N\":\"1\"}},{\"a\":"),
                "1 {\"a\":{\"N\":\"1\"}}\n1 !the document ends too early\n");
    assert_read(f, &options, slice_str("[{\"a\":1}]"), "1 !this is not a JSON object\n");
    assert_read(f, &options, slice_str("}"), "1 !this is not a JSON object\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips), cmocka_unit_test(test_spelling),
        cmocka_unit_test(test_changes),     cmocka_unit_test(test_lines),
        cmocka_unit_test(test_ion),         cmocka_unit_test(test_ion_depth),
        cmocka_unit_test(test_csv),         cmocka_unit_test(test_csv_written),
        cmocka_unit_test(test_documents),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
