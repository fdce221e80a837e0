// Checksums: the known values of "123456789", in one piece and in many, and joined.
#include "objects/checksum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void sum(const struct checksum_tables *tables, enum checksum_kind kind, const uint8_t *bytes,
                size_t len, size_t piece, uint8_t out[CHECKSUM_BYTES])
{
    struct checksum checksum;
    checksum_begin(&checksum, kind, tables);
    for (size_t at = 0; at < len; at += piece)
        checksum_add(&checksum, slice_of(bytes + at, len - at < piece ? len - at : piece));
    checksum_end(&checksum, out);
}

static void test_known(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *text; // of "123456789"
    } known[] = {{"CRC32", "y/Q5Jg=="},
                 {"crc32c", "4waSgw=="},
                 {"SHA1", "98O8HYCOBHMq32eZZczDTKeuNEE="},
                 {"sha256", "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU="},
                 {"CRC64NVME", "rosUhgp5mIg="}};
    struct checksum_tables *tables = checksum_tables_new();
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        enum checksum_kind kind = checksum_find(slice_str(known[i].name));
        uint8_t bytes[CHECKSUM_BYTES];
        uint8_t parsed[CHECKSUM_BYTES];
        char text[CHECKSUM_TEXT];
        assert_int_not_equal(kind, CHECKSUM_NONE);
        for (size_t piece = 1; piece < 10; piece++) {
            sum(tables, kind, (const uint8_t *)"123456789", 9, piece, bytes);
            checksum_text(kind, bytes, text);
            assert_string_equal(text, known[i].text);
        }
        assert_true(checksum_parse(kind, slice_str(text), parsed));
        assert_memory_equal(parsed, bytes, checksum_row(kind)->bytes);
        assert_false(checksum_parse(kind, SLICE_LIT("AAA="), parsed));
        assert_false(checksum_parse(kind, slice_of(text, strlen(text) - 1), parsed));
    }
    assert_int_equal(checksum_find(SLICE_LIT("md5")), CHECKSUM_NONE);
    assert_int_equal(checksum_find(SLICE_LIT("")), CHECKSUM_NONE);
    checksum_tables_free(tables);
}

static void test_join(void **state)
{
    (void)state;
    enum { SIZE = 20000 };
    struct checksum_tables *tables = checksum_tables_new();
    uint8_t *bytes = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 11);
    for (unsigned k = CHECKSUM_NONE + 1; k < CHECKSUM_KINDS; k++) {
        enum checksum_kind kind = (enum checksum_kind)k;
        if (!checksum_row(kind)->linear)
            continue;
        uint8_t whole[CHECKSUM_BYTES];
        sum(tables, kind, bytes, SIZE, 777, whole);
        for (size_t at = 0; at <= SIZE; at += 1234) {
            uint8_t first[CHECKSUM_BYTES];
            uint8_t second[CHECKSUM_BYTES];
            sum(tables, kind, bytes, at, SIZE, first);
            sum(tables, kind, bytes + at, SIZE - at, SIZE, second);
            checksum_join(kind, first, second, SIZE - at);
            assert_memory_equal(first, whole, checksum_row(kind)->bytes);
        }
    }
    free(bytes);
    checksum_tables_free(tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known), cmocka_unit_test(test_join)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
