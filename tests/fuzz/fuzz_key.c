// The key codec on two keys of two parts: order is kept, what is encoded comes back, a part ends
// where its encoding says, and prefixes and successors bound what they should.
//
// Input: a letter for the types of the parts (see type_of), then four lines: both parts of one key,
// both of the other. Parts of type N are decimal text.
#include "fuzz.h"

#include "value/key.h"
#include "value/number.h"

struct part {
    struct buf value; // encoded value
    struct buf key;   // encoded key
};

static enum value_type type_of(uint8_t letter, unsigned part)
{
    static const enum value_type types[] = {VALUE_S, VALUE_N, VALUE_B};
    return types[(part == 0 ? letter / 3 : letter) % 3];
}

static bool part_init(struct part *part, enum value_type type, struct slice bytes)
{
    uint8_t stored[NUMBER_BYTES_MAX];
    size_t len;
    if (type == VALUE_N) {
        if (number_from_text(bytes, stored, &len) != NUMBER_OK)
            return false;
        bytes = slice_of(stored, len);
    }
    if (type == VALUE_S && !utf8_valid(bytes))
        return false;
    struct value_builder builder;
    buf_init(&part->value, SIZE_MAX / 2);
    buf_init(&part->key, SIZE_MAX / 2);
    value_builder_init(&builder, &part->value);
    value_put_scalar(&builder,
                     type == VALUE_N   ? VALUE_TAG_N
                     : type == VALUE_S ? VALUE_TAG_S
                                       : VALUE_TAG_B,
                     bytes);
    value_builder_release(&builder);
    key_encode(&part->key, buf_view(&part->value));
    return true;
}

static void part_release(struct part *part)
{
    buf_release(&part->value);
    buf_release(&part->key);
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

static int part_order(const struct part *a, const struct part *b)
{
    return sign(value_compare(buf_view(&a->value), buf_view(&b->value)));
}

static void check_order(const struct part a[2], const struct part b[2], struct slice a_key,
                        struct slice b_key)
{
    int first = part_order(&a[0], &b[0]);
    int second = part_order(&a[1], &b[1]);
    ensure(sign(slice_compare(buf_view(&a[0].key), buf_view(&b[0].key))) == first);
    ensure(sign(slice_compare(buf_view(&a[1].key), buf_view(&b[1].key))) == second);
    ensure(sign(slice_compare(a_key, b_key)) == (first != 0 ? first : second));
    // No encoding is a prefix of another one.
    if (first != 0)
        ensure(!slice_begins(buf_view(&a[0].key), buf_view(&b[0].key)) &&
               !slice_begins(buf_view(&b[0].key), buf_view(&a[0].key)));
}

// Both parts come back, whatever stands behind them.
static void check_round_trip(const struct part parts[2], uint8_t letter, struct slice key)
{
    struct slice decoding = key;
    struct slice skipping = key;
    for (unsigned i = 0; i < 2; i++) {
        struct buf value;
        buf_init(&value, SIZE_MAX / 2);
        key_decode(&decoding, type_of(letter, i), &value);
        struct slice skipped = key_skip(&skipping, type_of(letter, i));
        ensure(slice_equal(buf_view(&value), buf_view(&parts[i].value)));
        ensure(slice_equal(skipped, buf_view(&parts[i].key)));
        ensure(decoding.ptr == skipping.ptr && decoding.len == skipping.len);
        buf_release(&value);
    }
    ensure(decoding.len == 0);
}

// key_encode_prefix(a) begins the key of b exactly if a begins b, and its successor is above.
static void check_prefix(const struct part *a, const struct part *b, enum value_type type)
{
    if (type == VALUE_N)
        return;
    struct slice a_bytes = value_bytes(buf_view(&a->value));
    struct slice b_bytes = value_bytes(buf_view(&b->value));
    struct buf prefix;
    buf_init(&prefix, SIZE_MAX / 2);
    key_encode_prefix(&prefix, buf_view(&a->value));
    bool begins = slice_begins(b_bytes, a_bytes);
    ensure(slice_begins(buf_view(&b->key), buf_view(&prefix)) == begins);
    bool above = slice_compare(buf_view(&b->key), buf_view(&prefix)) >= 0;
    if (key_successor(&prefix)) {
        bool below = slice_compare(buf_view(&b->key), buf_view(&prefix)) < 0;
        ensure((above && below) == begins);
    } else {
        ensure(above == begins);
    }
    buf_release(&prefix);
}

static void check(uint8_t letter, const struct part a[2], const struct part b[2])
{
    struct buf a_key;
    struct buf b_key;
    buf_init(&a_key, SIZE_MAX / 2);
    buf_init(&b_key, SIZE_MAX / 2);
    for (unsigned i = 0; i < 2; i++) {
        buf_slice(&a_key, buf_view(&a[i].key));
        buf_slice(&b_key, buf_view(&b[i].key));
        check_prefix(&a[i], &b[i], type_of(letter, i));
        check_prefix(&b[i], &a[i], type_of(letter, i));
    }
    check_order(a, b, buf_view(&a_key), buf_view(&b_key));
    struct slice copy = fuzz_copy(buf_view(&a_key));
    check_round_trip(a, letter, copy);
    fuzz_free(copy);
    copy = fuzz_copy(buf_view(&b_key));
    check_round_trip(b, letter, copy);
    fuzz_free(copy);
    buf_release(&a_key);
    buf_release(&b_key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    uint8_t letter = fuzz_byte(&in);
    struct part parts[4];
    unsigned count = 0;
    while (count < 4 && part_init(&parts[count], type_of(letter, count % 2), fuzz_line(&in)))
        count++;
    if (count == 4)
        check(letter, &parts[0], &parts[2]);
    while (count > 0)
        part_release(&parts[--count]);
    return 0;
}
