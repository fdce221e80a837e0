// json_form(): pieces of JSON as they look, with holes.
#include "json/support.h"

#include "json/writer.h"

static void expect(const struct buf *out, const char *text)
{
    assert_slice(buf_view(out), text);
}

static void test_holes(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 1 << 16);
    struct json_writer w = json_writer_to(&out);
    json_form(&w, "{'s':%s,'slice':%.*s,'yes':%hhd,'no':%hhd,'d':%d,'zu':%zu,'lld':%lld}", "a\"b",
              3, "x\ny", true, false, -7, (size_t)12, -9000000000LL);
    expect(&out, "{\"s\":\"a\\\"b\",\"slice\":\"x\\ny\",\"yes\":true,\"no\":false,\"d\":-7,"
                 "\"zu\":12,\"lld\":-9000000000}");
    buf_release(&out);
}

// Pieces may begin and end between any two tokens, and the other functions go on from there.
static void test_pieces(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 1 << 16);
    struct json_writer w = json_writer_to(&out);
    json_form(&w, "{'a':[");
    json_form(&w, "%d", 1);
    json_i64(&w, 2);
    json_form(&w, "{}");
    json_form(&w, "],'b':");
    json_text(&w, "c");
    json_put_flag(&w, "d", true);
    json_form(&w, "'e':{'f':null}");
    json_form(&w, "}");
    expect(&out, "{\"a\":[1,2,{}],\"b\":\"c\",\"d\":true,\"e\":{\"f\":null}}");
    buf_release(&out);
}

// What is not UTF-8 is taken for Latin-1, as json_text does.
static void test_latin(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 1 << 16);
    struct json_writer w = json_writer_to(&out);
    json_form(&w, "[%s,%.*s]", "\xe9", 0, "");
    expect(&out, "[\"\xc3\xa9\",\"\"]");
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_latin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
