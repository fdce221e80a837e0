// Bodies: the chunked decoder, compression, the checksum.
#include "base/encode.h"
#include "http/chunked.h"
#include "http/gzip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MAX = 1000 };

// Decodes in place, in two pieces cut at `cut`; the payload is left in out.
static enum http_parse decode(const char *text, size_t cut, struct buf *out, int *status,
                              size_t *used)
{
    struct http_chunked chunks = {0};
    struct http_problem problem = {0};
    enum http_parse result = HTTP_MORE;
    size_t len = strlen(text);
    size_t bounds[3] = {0, cut < len ? cut : len, len};
    *used = 0;
    for (int i = 0; i < 2 && result == HTTP_MORE; i++) {
        size_t piece = bounds[i + 1] - bounds[i];
        uint8_t *copy = malloc(piece == 0 ? 1 : piece);
        memcpy(copy, text + bounds[i], piece);
        size_t consumed;
        size_t produced;
        result =
            http_chunked_decode(&chunks, MAX, copy, piece, copy, &consumed, &produced, &problem);
        buf_add(out, copy, produced);
        *used += consumed;
        free(copy);
    }
    *status = problem.status;
    return result;
}

static void test_chunked_good(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *payload;
        size_t left;
    } rows[] = {
        {"0\r\n\r\n", "", 0},
        {"5\r\nhello\r\n0\r\n\r\n", "hello", 0},
        {"5\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\n\r\nGET /", "hello world", 5},
        {"A;ext=\"1\"\r\n0123456789\r\n00\r\nTrailer: x\r\nB: y\r\n\r\n", "0123456789", 0},
        {"5 \r\nhello\r\n0\t \r\n\r\n", "hello", 0},
        {"5 \t ; a=b\r\nhello\r\n0\r\n\r\n", "hello", 0},
        {"0000a\r\n0123456789\r\n0\r\n\r\n\r\n", "0123456789", 2},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (size_t cut = 0; cut <= strlen(rows[i].text); cut++) {
            struct buf out;
            int status;
            size_t used;
            buf_init(&out, 4096);
            assert_int_equal(decode(rows[i].text, cut, &out, &status, &used), HTTP_DONE);
            assert_true(slice_is(buf_view(&out), rows[i].payload));
            if (cut >= strlen(rows[i].text) - rows[i].left)
                assert_int_equal(used, strlen(rows[i].text) - rows[i].left);
            buf_release(&out);
        }
    }
}

static void test_chunked_bad(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *text;
    } rows[] = {
        {400, "\r\n"},           {400, "g\r\n"},
        {400, "-1\r\n"},         {400, "5\nhello\r\n"},
        {400, "5\r\rhello\r\n"}, {400, "5\r\nhelloX\r\n"},
        {400, "5\r\nhello\rX"},  {400, "1;\x01\r\n"},
        {400, "0\r\nA\n\r\n"},   {400, "1000000000000000\r\n"},
        {400, "2 5\r\nhello"},   {400, "2\t \x01\r\n"},
        {413, "3e9\r\n"},        {413, "fffffffffffffff\r\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf out;
        int status;
        size_t used;
        buf_init(&out, 4096);
        enum http_parse result = decode(rows[i].text, 1, &out, &status, &used);
        if (result != HTTP_BAD || status != rows[i].status)
            fail_msg("row %zu: result %d, status %d", i, result, status);
        buf_release(&out);
    }
}

static void test_chunked_extras(void **state)
{
    (void)state;
    size_t len = HTTP_CHUNK_EXTRAS_MAX + 16;
    char *text = malloc(len + 1);
    memset(text, 'x', len);
    text[len] = 0;
    memcpy(text, "1;", 2);
    struct buf out;
    int status;
    size_t used;
    buf_init(&out, 4096);
    assert_int_equal(decode(text, 100, &out, &status, &used), HTTP_BAD);
    assert_int_equal(status, 431);
    buf_release(&out);
    free(text);
}

static struct buf letters(size_t len)
{
    struct buf out;
    buf_init(&out, 64 << 20);
    for (size_t i = 0; i < len; i++)
        buf_byte(&out, (uint8_t)('a' + i * i % 23));
    return out;
}

static void test_gzip_round(void **state)
{
    (void)state;
    struct http_gzip *gzip = http_gzip_new();
    static const size_t sizes[] = {1, 100, 16383, 16384, 16385, 1 << 20};
    for (size_t k = 0; k < 2 * COUNT_OF(sizes); k++) {
        size_t i = k / 2;
        enum http_coding coding = k % 2 == 0 ? HTTP_GZIP : HTTP_DEFLATE; // by turns
        struct buf plain = letters(sizes[i]);
        struct buf packed;
        struct buf back;
        buf_init(&packed, 64 << 20);
        buf_init(&back, sizes[i]); // exactly enough
        assert_true(http_gzip_deflate(gzip, coding, buf_view(&plain), &packed));
        assert_int_equal(http_gzip_inflate(gzip, coding, buf_view(&packed), &back), HTTP_INFLATED);
        assert_true(slice_equal(buf_view(&plain), buf_view(&back)));
        buf_release(&back);
        back.max = sizes[i] - 1; // one byte too few
        assert_int_equal(http_gzip_inflate(gzip, coding, buf_view(&packed), &back),
                         HTTP_INFLATE_TOO_LARGE);
        buf_release(&plain);
        buf_release(&packed);
        buf_release(&back);
    }
    http_gzip_free(gzip);
}

// Unpacks in pieces; how many it were.
static size_t inflate_pieces(struct http_gzip *gzip, struct slice packed, size_t most,
                             struct buf *out)
{
    size_t pieces = 1;
    buf_clear(out);
    assert_true(http_gzip_inflate_begin(gzip, HTTP_GZIP, packed));
    enum http_inflate result;
    while ((result = http_gzip_inflate_some(gzip, most, out)) == HTTP_INFLATE_MORE)
        pieces++;
    assert_int_equal(result, HTTP_INFLATED);
    return pieces;
}

static void test_gzip_pieces(void **state)
{
    (void)state;
    struct http_gzip *gzip = http_gzip_new();
    struct buf plain = letters(1 << 20);
    struct buf packed;
    struct buf back;
    buf_init(&packed, 64 << 20);
    buf_init(&back, 1 << 20);
    assert_true(http_gzip_deflate(gzip, HTTP_GZIP, buf_view(&plain), &packed));
    assert_int_equal(inflate_pieces(gzip, buf_view(&packed), SIZE_MAX, &back), 1);
    assert_in_range(inflate_pieces(gzip, buf_view(&packed), 128 << 10, &back), 7, 17);
    assert_true(slice_equal(buf_view(&plain), buf_view(&back)));
    // Members with nothing in them are work, too.
    buf_clear(&packed);
    for (size_t i = 0; i < 10000; i++)
        assert_true(http_gzip_deflate(gzip, HTTP_GZIP, slice_of("", 0), &packed));
    assert_in_range(inflate_pieces(gzip, buf_view(&packed), 10000, &back), 15, 30);
    assert_int_equal(back.len, 0);
    buf_release(&plain);
    buf_release(&packed);
    buf_release(&back);
    http_gzip_free(gzip);
}

static void test_gzip_bad(void **state)
{
    (void)state;
    struct http_gzip *gzip = http_gzip_new();
    struct buf plain = letters(5000);
    struct buf packed;
    struct buf back;
    buf_init(&packed, 1 << 20);
    buf_init(&back, 1 << 20);
    assert_true(http_gzip_deflate(gzip, HTTP_GZIP, buf_view(&plain), &packed));
    for (size_t len = 0; len < packed.len; len++) {
        buf_clear(&back);
        assert_int_equal(http_gzip_inflate(gzip, HTTP_GZIP, slice_of(packed.ptr, len), &back),
                         HTTP_INFLATE_BAD);
    }
    packed.ptr[packed.len - 5] ^= 1; // the checksum
    buf_clear(&back);
    assert_int_equal(http_gzip_inflate(gzip, HTTP_GZIP, buf_view(&packed), &back),
                     HTTP_INFLATE_BAD);
    packed.ptr[packed.len - 5] ^= 1;
    size_t one = packed.len;
    assert_true(http_gzip_deflate(gzip, HTTP_GZIP, buf_view(&plain), &packed)); // a second member
    buf_clear(&back);
    assert_int_equal(http_gzip_inflate(gzip, HTTP_GZIP, buf_view(&packed), &back), HTTP_INFLATED);
    assert_int_equal(back.len, 2 * plain.len);
    buf_clear(&back);
    assert_int_equal(http_gzip_inflate(gzip, HTTP_GZIP, slice_of(packed.ptr, one + 3), &back),
                     HTTP_INFLATE_BAD);
    buf_release(&plain);
    buf_release(&packed);
    buf_release(&back);
    http_gzip_free(gzip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunked_good),   cmocka_unit_test(test_chunked_bad),
        cmocka_unit_test(test_chunked_extras), cmocka_unit_test(test_gzip_round),
        cmocka_unit_test(test_gzip_pieces),    cmocka_unit_test(test_gzip_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
