// Finding the next byte of a JSON string that needs a second look, sixteen bytes at a
// time where the machine has SSE2. Shared by the reader (what may a string hold) and the
// writer (what must be escaped). Nothing is read at or behind `end`.
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>
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

// The first quote, backslash or control character; or end.
static inline const uint8_t *scan_text(const uint8_t *at, const uint8_t *end)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i last_control = _mm_set1_epi8(0x1f);
    while (end - at >= 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i control = _mm_cmpeq_epi8(_mm_max_epu8(bytes, last_control), last_control);
        __m128i hit = _mm_or_si128(
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)), control);
        unsigned mask = (unsigned)_mm_movemask_epi8(hit);
        if (mask != 0)
            return at + __builtin_ctz(mask);
        at += 16;
    }
#endif
    while (at < end && !scan_is_special(*at))
        at++;
    return at;
}

// Bytes behind the quote that scan_to_quote() may read, and then ignores.
enum { SCAN_PADDING = 16 };

// Like scan_text(), for text with a quote and SCAN_PADDING more bytes behind it: no end to
// look out for.
static inline const uint8_t *scan_to_quote(const uint8_t *at)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i last_control = _mm_set1_epi8(0x1f);
    for (;; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i control = _mm_cmpeq_epi8(_mm_max_epu8(bytes, last_control), last_control);
        __m128i hit = _mm_or_si128(
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)), control);
        unsigned mask = (unsigned)_mm_movemask_epi8(hit);
        if (mask != 0)
            return at + __builtin_ctz(mask);
    }
#else
    while (!scan_is_special(*at))
        at++;
    return at;
#endif
}

#endif
