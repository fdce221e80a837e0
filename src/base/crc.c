// CRC-32. Every answer carries one and every log record, and a table-driven one costs four
// instructions a byte: as much for a 1 KB item as the whole HTTP layer. Where the processor can
// multiply polynomials over GF(2) without carries, the message is folded 64 bytes at a time
// instead: a block is replaced by its product with x^n mod P, which moves it n bits forward without
// changing the remainder. What is left, at most 127 bytes, goes through the table.
#include "base/encode.h"

#include <zlib.h>

#if defined(__x86_64__)
#include <immintrin.h>

enum { FOLD_MIN = 128 }; // below this the table wins

// x^n mod P, bit-reflected, for the two halves of a 16-byte lane that moves 64 or 16 bytes.
#define FOLD_64 _mm_set_epi64x(0x1c6e41596, 0x154442bd4)
#define FOLD_16 _mm_set_epi64x(0x0ccaa009e, 0x1751997d0)

__attribute__((target("pclmul,sse2"))) static inline __m128i fold(__m128i lane, __m128i by,
                                                                  __m128i next)
{
    __m128i low = _mm_clmulepi64_si128(lane, by, 0x00);
    __m128i high = _mm_clmulepi64_si128(lane, by, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

__attribute__((target("pclmul,sse2"))) static inline __m128i load(const uint8_t *from)
{
    return _mm_loadu_si128((const __m128i *)(const void *)from);
}

// The CRC of at least 64 bytes, behind others whose CRC is `before`.
__attribute__((target("pclmul,sse2"))) static uint32_t crc_folded(uint32_t before,
                                                                  const uint8_t *at, size_t len)
{
    __m128i lanes[4];
    for (int i = 0; i < 4; i++)
        lanes[i] = load(at + 16 * i);
    lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128((int)~before)); // the initial value
    at += 64;
    len -= 64;
    for (; len >= 64; at += 64, len -= 64) {
#pragma GCC unroll 4 // or the lanes would live in memory
        for (int i = 0; i < 4; i++)
            lanes[i] = fold(lanes[i], FOLD_64, load(at + 16 * i));
    }
    __m128i one = fold(lanes[0], FOLD_16, lanes[1]);
    one = fold(one, FOLD_16, lanes[2]);
    one = fold(one, FOLD_16, lanes[3]);
    for (; len >= 16; at += 16, len -= 16)
        one = fold(one, FOLD_16, load(at));
    // The lane now stands for all that came before. Its own CRC, from an initial value of zero, is
    // the state after it; zlib takes and gives states complemented.
    uint8_t left[16];
    _mm_storeu_si128((__m128i *)(void *)left, one);
    uLong state = crc32_z(0xffffffff, left, sizeof(left));
    return (uint32_t)crc32_z(state, at, len);
}

uint32_t crc32_more(uint32_t before, struct slice bytes)
{
    if (bytes.len >= FOLD_MIN && __builtin_cpu_supports("pclmul"))
        return crc_folded(before, bytes.ptr, bytes.len);
    return (uint32_t)crc32_z(before, bytes.ptr, bytes.len);
}

#else

uint32_t crc32_more(uint32_t before, struct slice bytes)
{
    return (uint32_t)crc32_z(before, bytes.ptr, bytes.len);
}

#endif
