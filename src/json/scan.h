// Finding the next byte of a JSON string that needs a second look, sixteen bytes at a
// time where the machine has SSE2. Shared by the reader (what may a string hold) and the
// writer (what must be escaped). Nothing is read at or behind `end`.
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

static inline bool scan_is_special(uint8_t byte)
{
    return byte == '"' || byte == '\\' || byte < 0x20;
}

// The first quote, backslash, control character or byte above 0x7f; or end.
static inline const uint8_t *scan_ascii(const uint8_t *at, const uint8_t *end)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i space = _mm_set1_epi8(0x20);
    while (end - at >= 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        // The comparison is signed, so that bytes above 0x7f count as below 0x20, too.
        __m128i hit = _mm_or_si128(
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)),
            _mm_cmplt_epi8(bytes, space));
        unsigned mask = (unsigned)_mm_movemask_epi8(hit);
        if (mask != 0)
            return at + __builtin_ctz(mask);
        at += 16;
    }
#endif
    while (at < end && !scan_is_special(*at) && *at < 0x80)
        at++;
    return at;
}

#ifdef __SSE2__
// 0xff where a byte is a quote, a backslash or a control character. With one bit flipped the
// quote is next to the control characters, which stay among themselves.
static inline __m128i scan_specials(__m128i bytes)
{
    const __m128i last = _mm_set1_epi8('"' ^ 2);
    __m128i flipped = _mm_xor_si128(bytes, _mm_set1_epi8(2));
    return _mm_or_si128(_mm_cmpeq_epi8(_mm_max_epu8(flipped, last), last),
                        _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
}
#endif

// The first quote, backslash or control character; or end.
static inline const uint8_t *scan_text(const uint8_t *at, const uint8_t *end)
{
#ifdef __SSE2__
    while (end - at >= 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        unsigned mask = (unsigned)_mm_movemask_epi8(scan_specials(bytes));
        if (mask != 0)
            return at + __builtin_ctz(mask);
        at += 16;
    }
#endif
    while (at < end && !scan_is_special(*at))
        at++;
    return at;
}

// Bytes behind the text that scan_copy() may read, and behind its copy that it may write.
enum { SCAN_PADDING = 16 };

// Copies a text and looks at it on the way: whether it holds nothing that must be escaped.
static inline bool scan_copy(uint8_t *to, const uint8_t *from, size_t len)
{
#ifdef __SSE2__
    __m128i hits = _mm_setzero_si128();
    for (; len >= 16; len -= 16, from += 16, to += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)from);
        _mm_storeu_si128((__m128i *)(void *)to, bytes);
        hits = _mm_or_si128(hits, scan_specials(bytes));
    }
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)from);
    _mm_storeu_si128((__m128i *)(void *)to, bytes);
    unsigned last = (unsigned)_mm_movemask_epi8(scan_specials(bytes)) & ((1U << len) - 1);
    return ((unsigned)_mm_movemask_epi8(hits) | last) == 0;
#else
    memcpy(to, from, len);
    return scan_text(from, from + len) == from + len;
#endif
}

#endif
