// Base64, varints, digests and UTF-8.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/encode.h"

static void test_base64_table(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        const char *text;
    } table[] = {{"", ""},
                 {"f", "Zg=="},
                 {"fo", "Zm8="},
                 {"foo", "Zm9v"},
                 {"foob", "Zm9vYg=="},
                 {"fooba", "Zm9vYmE="},
                 {"foobar", "Zm9vYmFy"},
                 {"\xff\xfe\xfb", "//77"}};
    struct buf buf;
    buf_init(&buf, 100);
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        buf_clear(&buf);
        base64_encode(&buf, slice_str(table[i].bytes));
        assert_true(slice_is(buf_view(&buf), table[i].text));
        assert_int_equal(base64_encoded_len(strlen(table[i].bytes)), strlen(table[i].text));
        buf_clear(&buf);
        assert_true(base64_decode(&buf, slice_str(table[i].text)));
        assert_true(slice_is(buf_view(&buf), table[i].bytes));
    }
    buf_release(&buf);
}

static void test_base64_refused(void **state)
{
    (void)state;
    static const char *const table[] = {"A",    "AA",   "AAA",  "====",     "A===",     "AA=A",
                                        "AB==", "AAB=", "A-A=", "AAAA AAA", "Zg==Zg==", "AA\n="};
    struct buf buf;
    buf_init(&buf, 100);
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        assert_false(base64_decode(&buf, slice_str(table[i])));
        assert_int_equal(buf.len, 0);
        assert_false(buf.failed);
    }
    buf_release(&buf);
}

static void test_base64_round_trip(void **state)
{
    (void)state;
    struct buf text;
    struct buf back;
    buf_init(&text, 2000);
    buf_init(&back, 2000);
    uint8_t bytes[256];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 167 + 13);
    for (size_t len = 0; len <= sizeof(bytes); len++) {
        buf_clear(&text);
        buf_clear(&back);
        base64_encode(&text, slice_of(bytes, len));
        assert_true(base64_decode(&back, buf_view(&text)));
        assert_true(slice_equal(buf_view(&back), slice_of(bytes, len)));
    }
    buf_release(&text);
    buf_release(&back);
}

static void test_varint(void **state)
{
    (void)state;
    for (unsigned shift = 0; shift < 64; shift++) {
        for (int delta = -1; delta <= 1; delta++) {
            uint64_t value = ((uint64_t)1 << shift) + (uint64_t)(int64_t)delta;
            size_t len = varint_len(value);
            uint8_t *exact = malloc(len);
            assert_int_equal(varint_put(exact, value), len);
            const uint8_t *at = exact;
            assert_true(varint_get(&at) == value);
            assert_ptr_equal(at, exact + len);
            free(exact);
        }
    }
    assert_int_equal(varint_len(0), 1);
    assert_int_equal(varint_len(127), 1);
    assert_int_equal(varint_len(128), 2);
    assert_int_equal(varint_len(UINT64_MAX), 10);
}

static void test_big_endian(void **state)
{
    (void)state;
    uint8_t bytes[8];
    be32_put(bytes, 0x01020304);
    assert_memory_equal(bytes, "\1\2\3\4", 4);
    assert_int_equal(be32_get(bytes), 0x01020304);
    be64_put(bytes, 0x0102030405060708u);
    assert_memory_equal(bytes, "\1\2\3\4\5\6\7\10", 8);
    assert_true(be64_get(bytes) == 0x0102030405060708u);
}

static void test_digests(void **state)
{
    (void)state;
    assert_int_equal(crc32_of(SLICE_LIT("123456789")), 0xcbf43926u);
    assert_int_equal(crc32_of(SLICE_LIT("{\"TableNames\":[]}")), 1315925753);
    // Every length, alignment and split gives what zlib gives.
    uint8_t bytes[2100];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 131 + i / 7);
    for (size_t len = 0; len < 2000; len++) {
        struct slice whole = slice_of(bytes + len % 97, len);
        uint32_t expected = (uint32_t)crc32_z(0, whole.ptr, whole.len);
        assert_int_equal(crc32_of(whole), expected);
        size_t half = len / 3;
        assert_int_equal(
            crc32_more(crc32_of(slice_of(whole.ptr, half)), slice_of(whole.ptr + half, len - half)),
            expected);
    }
    assert_int_equal(crc32_of(SLICE_LIT("")), 0);
    uint8_t md5[16];
    md5_of(SLICE_LIT("a"), SLICE_LIT("bc"), md5);
    assert_memory_equal(md5, "\x90\x01\x50\x98\x3c\xd2\x4f\xb0\xd6\x96\x3f\x7d\x28\xe1\x7f\x72",
                        16);
    uint8_t sha[32];
    sha256_of(SLICE_LIT("abc"), sha);
    assert_memory_equal(sha, "\xba\x78\x16\xbf\x8f\x01\xcf\xea\x41\x41\x40\xde\x5d\xae\x22\x23",
                        16);
}

static void test_utf8(void **state)
{
    (void)state;
    static const char *const good[] = {"",
                                       "plain",
                                       "\xc2\x80",
                                       "\xdf\xbf",
                                       "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",
                                       "\xee\x80\x80",
                                       "\xef\xbf\xbf",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\x80",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xc2",
                                      "\xc2\x41",
                                      "\xe0\x9f\xbf",
                                      "\xe1\x80",
                                      "\xe1\x80\x41",
                                      "\xed\xa0\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf1\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "ok\xe2\x82"};
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_true(utf8_valid(slice_str(good[i])));
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        // A copy of exact size shows a read past the end.
        size_t len = strlen(bad[i]);
        uint8_t *exact = malloc(len);
        memcpy(exact, bad[i], len);
        assert_false(utf8_valid(slice_of(exact, len)));
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base64_table),
        cmocka_unit_test(test_base64_refused),
        cmocka_unit_test(test_base64_round_trip),
        cmocka_unit_test(test_varint),
        cmocka_unit_test(test_big_endian),
        cmocka_unit_test(test_digests),
        cmocka_unit_test(test_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
