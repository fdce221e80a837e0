// The key codec: memcmp on encoded keys is the order of the values, keys end by
// themselves, and decoding gives the value back.
#include "value/support.h"

#include "value/key.h"

// A random key value; bytes are few, so that equal prefixes and zero bytes are common.
static void build_key(struct value_builder *b, uint64_t *seed, enum value_type type)
{
    static const uint8_t alphabet[] = {0x00, 0x01, 0x02, 'a', 0xfe, 0xff};
    if (type == VALUE_N) {
        char text[80];
        int len = 0;
        text[len++] = random_below(seed, 2) ? '-' : '0';
        for (size_t left = 1 + random_below(seed, random_below(seed, 2) ? 38 : 3); left > 0; left--)
            text[len++] = (char)('0' + random_below(seed, 10));
        (void)snprintf(text + len, sizeof(text) - (size_t)len, "e%d",
                       (int)random_below(seed, 30) - 30);
        put_number(b, text);
        return;
    }
    uint8_t bytes[6];
    size_t len = random_below(seed, sizeof(bytes) + 1);
    for (size_t i = 0; i < len; i++)
        bytes[i] = alphabet[random_below(seed, type == VALUE_S ? 4 : sizeof(alphabet))];
    if (type == VALUE_S)
        value_put_string(b, slice_of(bytes, len));
    else
        value_put_binary(b, slice_of(bytes, len));
}

static int sign_of(int order)
{
    return (order > 0) - (order < 0);
}

static const enum value_type key_types[] = {VALUE_S, VALUE_N, VALUE_B};

static void test_order_and_round_trip(void **state)
{
    (void)state;
    uint64_t seed = 21;
    struct maker a;
    struct maker b;
    struct buf key_a;
    struct buf key_b;
    struct buf back;
    maker_init(&a);
    maker_init(&b);
    buf_init(&key_a, 4096);
    buf_init(&key_b, 4096);
    buf_init(&back, 4096);
    for (int i = 0; i < 30000; i++) {
        enum value_type type = key_types[random_below(&seed, 3)];
        buf_clear(&a.out);
        buf_clear(&b.out);
        buf_clear(&key_a);
        buf_clear(&key_b);
        buf_clear(&back);
        build_key(&a.builder, &seed, type);
        build_key(&b.builder, &seed, type);
        key_encode(&key_a, buf_view(&a.out));
        key_encode(&key_b, buf_view(&b.out));
        int order = sign_of(value_compare(buf_view(&a.out), buf_view(&b.out)));
        assert_int_equal(sign_of(slice_compare(buf_view(&key_a), buf_view(&key_b))), order);
        // What follows a key must not change its order: append bytes that would.
        buf_byte(&key_a, order < 0 ? 0xff : 0x00);
        buf_byte(&key_b, order < 0 ? 0x00 : 0xff);
        if (order != 0)
            assert_int_equal(sign_of(slice_compare(buf_view(&key_a), buf_view(&key_b))), order);
        struct slice in = buf_view(&key_a);
        key_decode(&in, type, &back);
        assert_int_equal(in.len, 1);
        assert_same(buf_view(&back), buf_view(&a.out));
    }
    buf_release(&back);
    buf_release(&key_a);
    buf_release(&key_b);
    maker_release(&a);
    maker_release(&b);
}

// Several keys in a row come apart again, without reading past the end.
static void test_concatenation(void **state)
{
    (void)state;
    uint64_t seed = 8;
    struct maker maker;
    struct buf keys;
    struct buf back;
    maker_init(&maker);
    buf_init(&keys, 4096);
    buf_init(&back, 4096);
    for (int round = 0; round < 3000; round++) {
        enum value_type types[6];
        buf_clear(&maker.out);
        buf_clear(&keys);
        buf_clear(&back);
        for (size_t i = 0; i < COUNT_OF(types); i++) {
            types[i] = key_types[random_below(&seed, 3)];
            size_t start = maker.out.len;
            build_key(&maker.builder, &seed, types[i]);
            key_encode(&keys, slice_of(maker.out.ptr + start, maker.out.len - start));
        }
        uint8_t *exact = malloc(keys.len);
        memcpy(exact, keys.ptr, keys.len);
        struct slice in = slice_of(exact, keys.len);
        struct slice skipped = in;
        for (size_t i = 0; i < COUNT_OF(types); i++) {
            const uint8_t *from = skipped.ptr;
            struct slice key = key_skip(&skipped, types[i]);
            assert_ptr_equal(key.ptr, from);
            assert_ptr_equal(key.ptr + key.len, skipped.ptr);
            key_decode(&in, types[i], &back);
            assert_ptr_equal(in.ptr, skipped.ptr);
        }
        assert_int_equal(in.len, 0);
        assert_same(buf_view(&back), buf_view(&maker.out));
        free(exact);
    }
    buf_release(&back);
    buf_release(&keys);
    maker_release(&maker);
}

static void encode_text(struct buf *out, const char *text, size_t len, bool prefix)
{
    struct maker maker;
    maker_init(&maker);
    value_put_string(&maker.builder, slice_of(text, len));
    if (prefix)
        key_encode_prefix(out, buf_view(&maker.out));
    else
        key_encode(out, buf_view(&maker.out));
    maker_release(&maker);
}

static void test_bytes(void **state)
{
    (void)state;
    struct buf key;
    buf_init(&key, 256);
    encode_text(&key, "a\0b", 3, false);
    assert_same(buf_view(&key), slice_of("a\0\xff"
                                         "b\0\1",
                                         6));
    buf_clear(&key);
    encode_text(&key, "", 0, false);
    assert_same(buf_view(&key), slice_of("\0\1", 2));
    buf_clear(&key);
    encode_text(&key, "a\0", 2, true);
    assert_same(buf_view(&key), slice_of("a\0\xff", 3));
    buf_release(&key);
}

// All keys that begin with a text, and no others, lie in [prefix, successor).
static void test_prefix(void **state)
{
    (void)state;
    struct buf low;
    struct buf high;
    struct buf key;
    buf_init(&low, 256);
    buf_init(&high, 256);
    buf_init(&key, 256);
    encode_text(&low, "ab", 2, true);
    encode_text(&high, "ab", 2, true);
    assert_true(key_successor(&high));
    static const struct {
        const char *text;
        bool inside;
    } table[] = {{"ab", true}, {"ab\x7f", true}, {"abc", true}, {"aa", false},
                 {"a", false}, {"ac", false},    {"b", false},  {"", false}};
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        buf_clear(&key);
        encode_text(&key, table[i].text, strlen(table[i].text), false);
        bool inside = slice_compare(buf_view(&key), buf_view(&low)) >= 0 &&
                      slice_compare(buf_view(&key), buf_view(&high)) < 0;
        assert_int_equal(inside, table[i].inside);
    }
    buf_release(&low);
    buf_release(&high);
    buf_release(&key);
}

static void test_successor(void **state)
{
    (void)state;
    struct buf bytes;
    buf_init(&bytes, 16);
    buf_text(&bytes, "a\xff\xff");
    assert_true(key_successor(&bytes));
    assert_slice(buf_view(&bytes), "b");
    buf_clear(&bytes);
    buf_text(&bytes, "\xff\xff");
    assert_false(key_successor(&bytes));
    buf_clear(&bytes);
    assert_false(key_successor(&bytes));
    buf_release(&bytes);
}

// MD5("Outliers" + "a") begins with these bytes.
static void test_hash(void **state)
{
    (void)state;
    assert_true(key_hash(SLICE_LIT("a")) == 0xf6558e516275dee2u);
    assert_true(key_hash(SLICE_LIT("a")) != key_hash(SLICE_LIT("b")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_round_trip),
        cmocka_unit_test(test_concatenation),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_successor),
        cmocka_unit_test(test_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
