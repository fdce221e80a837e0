// Small encodings and digests: base64, variable-length integers, big-endian
// integers, CRC-32, MD5, SHA-256.
#ifndef BASE_ENCODE_H
#define BASE_ENCODE_H

#include "base/buf.h"

// Standard alphabet with padding.
void base64_encode(struct buf *out, struct slice bytes);
static inline size_t base64_encoded_len(size_t len)
{
    return (len + 2) / 3 * 4;
}
// Strict: right padding, no other characters, and no stray bits. Appends the bytes to `out`;
// false (nothing appended) if the text is not base64.
MUST_CHECK bool base64_decode(struct buf *out, struct slice text);

// LEB128: seven bits a byte, low first; at most 10 bytes.
static inline size_t varint_put(uint8_t *to, uint64_t value)
{
    size_t n = 0;
    while (value >= 0x80) {
        to[n++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    to[n++] = (uint8_t)value;
    return n;
}

// Reads a varint written by varint_put; *at moves behind it. The bytes are trusted.
static inline uint64_t varint_get(const uint8_t **at)
{
    uint64_t value = **at & 0x7f;
    unsigned shift = 7;
    while (*(*at)++ & 0x80) {
        value |= (uint64_t)(**at & 0x7f) << shift;
        shift += 7;
    }
    return value;
}

static inline size_t varint_len(uint64_t value)
{
    size_t n = 1;
    while (value >= 0x80) {
        value >>= 7;
        n++;
    }
    return n;
}

// The bytes of a file of ours, on the machines that we run on.
static inline uint32_t le32_get(const uint8_t *from)
{
    uint32_t value;
    memcpy(&value, from, 4);
    return value;
}

static inline uint64_t le64_get(const uint8_t *from)
{
    uint64_t value;
    memcpy(&value, from, 8);
    return value;
}

static inline void be32_put(uint8_t *to, uint32_t value)
{
    value = __builtin_bswap32(value);
    memcpy(to, &value, 4);
}

static inline uint32_t be32_get(const uint8_t *from)
{
    return __builtin_bswap32(le32_get(from));
}

static inline void be64_put(uint8_t *to, uint64_t value)
{
    value = __builtin_bswap64(value);
    memcpy(to, &value, 8);
}

static inline uint64_t be64_get(const uint8_t *from)
{
    return __builtin_bswap64(le64_get(from));
}

// The CRC-32 of bytes, and of bytes behind others whose CRC is known.
uint32_t crc32_more(uint32_t before, struct slice bytes);
static inline uint32_t crc32_of(struct slice bytes)
{
    return crc32_more(0, bytes);
}
void md5_of(struct slice first, struct slice second, uint8_t out[16]);
void sha256_of(struct slice bytes, uint8_t out[32]);

// True if the bytes are well-formed UTF-8 (no surrogates, no overlong forms).
bool utf8_valid(struct slice bytes);
// Writes a character, of 1 to 4 bytes; how many.
size_t utf8_put(uint8_t *to, uint32_t c);
// Two digits for each byte, in small letters; `out` has room for them.
void hex_text(struct slice bytes, char *out);

// The value of a hexadecimal digit of either case; -1 if it is none.
int hex_digit(uint8_t c);

#endif
