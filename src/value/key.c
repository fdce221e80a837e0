// See key.h. The end mark 0x00 0x01 sorts below the escape 0x00 0xff and below every
// other byte but 0x00, which never stands alone: so a value sorts before all values it
// begins, whatever key follows it. Numbers are ended by a byte no digit has: 0x00 below
// all digits of positive numbers, 102 above all of negative ones.
//
// Nothing here keeps memory; output goes to the caller's buf.
#include "value/key.h"

#include "base/encode.h"

enum {
    ESCAPE = 0x00,
    ESCAPED_ZERO = 0xff,
    END_MARK = 0x01,
    POSITIVE_FROM = 0x80, // first byte of zero and of positive numbers
    POSITIVE_END = 0x00,
    NEGATIVE_END = 102,
    NEGATIVE_FULL = 21, // stored bytes of a negative number that has no end of its own
};

void key_encode_prefix(struct buf *out, struct slice value)
{
    struct slice rest = value_bytes(value);
    while (rest.len > 0) {
        const uint8_t *zero = memchr(rest.ptr, 0, rest.len);
        size_t run = zero == NULL ? rest.len : (size_t)(zero - rest.ptr);
        buf_add(out, rest.ptr, run);
        if (zero == NULL)
            return;
        buf_add(out, (const uint8_t[]){ESCAPE, ESCAPED_ZERO}, 2);
        rest = slice_of(zero + 1, rest.len - run - 1);
    }
}

bool key_schema_has(const struct key_schema *schema, struct slice name)
{
    for (size_t i = 0; i < schema->hash_count + schema->range_count; i++) {
        if (slice_equal(schema->parts[i].name, name))
            return true;
    }
    return false;
}

void key_encode(struct buf *out, struct slice value)
{
    if (value_type(value) != VALUE_N) {
        key_encode_prefix(out, value);
        buf_add(out, (const uint8_t[]){ESCAPE, END_MARK}, 2);
        return;
    }
    struct slice stored = value_bytes(value);
    buf_slice(out, stored);
    if (stored.ptr[0] >= POSITIVE_FROM)
        buf_byte(out, POSITIVE_END);
    else if (stored.ptr[stored.len - 1] != NEGATIVE_END)
        buf_byte(out, NEGATIVE_END);
}

// The end of the key at the front of `in`, which may be the start of a longer string; NULL if there
// is none.
static const uint8_t *key_end(struct slice in, enum value_type type)
{
    const uint8_t *limit = in.ptr + in.len;
    if (in.len == 0)
        return NULL;
    if (type == VALUE_N) {
        int mark = in.ptr[0] >= POSITIVE_FROM ? POSITIVE_END : NEGATIVE_END;
        const uint8_t *end = memchr(in.ptr + 1, mark, in.len - 1);
        return end == NULL ? NULL : end + 1;
    }
    const uint8_t *at = in.ptr;
    for (;;) {
        at = memchr(at, ESCAPE, (size_t)(limit - at));
        if (at == NULL || limit - at < 2)
            return NULL;
        at += 2;
        if (at[-1] == END_MARK)
            return at;
    }
}

struct slice key_skip(struct slice *in, enum value_type type)
{
    const uint8_t *end = key_end(*in, type);
    ensure(end != NULL);
    struct slice key = slice_of(in->ptr, (size_t)(end - in->ptr));
    *in = slice_of(end, in->len - key.len);
    return key;
}

bool key_whole(struct slice in, enum value_type type)
{
    return key_end(in, type) != NULL;
}

static void number_decode(struct slice key, struct buf *out)
{
    // The end mark of a short negative number is part of its stored form.
    bool marked = key.ptr[0] < POSITIVE_FROM && key.len <= NEGATIVE_FULL;
    size_t len = marked ? key.len : key.len - 1;
    buf_byte(out, VALUE_TAG_N);
    buf_byte(out, (uint8_t)len);
    buf_add(out, key.ptr, len);
}

void key_decode(struct slice *in, enum value_type type, struct buf *out)
{
    struct slice key = key_skip(in, type);
    if (type == VALUE_N) {
        number_decode(key, out);
        return;
    }
    const uint8_t *end = key.ptr + key.len - 2;
    size_t len = 0;
    for (const uint8_t *at = key.ptr; at < end; at += *at == ESCAPE ? 2 : 1)
        len++;
    uint8_t *to = buf_reserve(out, 1 + varint_len(len) + len);
    if (to == NULL)
        return;
    uint8_t *from = to;
    *to++ = type == VALUE_S ? VALUE_TAG_S : VALUE_TAG_B;
    to += varint_put(to, len);
    for (const uint8_t *at = key.ptr; at < end; at += *at == ESCAPE ? 2 : 1)
        *to++ = *at;
    out->len += (size_t)(to - from);
}

bool key_successor(struct buf *prefix)
{
    while (prefix->len > 0 && prefix->ptr[prefix->len - 1] == 0xff)
        prefix->len--;
    if (prefix->len == 0)
        return false;
    prefix->ptr[prefix->len - 1]++;
    return true;
}

uint64_t key_hash(struct slice bytes)
{
    uint8_t digest[16];
    md5_of(SLICE_LIT("Outliers"), bytes, digest);
    return be64_get(digest);
}
