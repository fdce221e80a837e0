// Decimal numbers in the simplest way that can work: every digit of the range 10^130 to 10^-200 has
// its place in an array, and addition is what children learn. Only for comparison with
// value/number.h.
#ifndef TESTS_FUZZ_DECIMAL_H
#define TESTS_FUZZ_DECIMAL_H

#include "base/limits.h"
#include "value/number.h"

enum {
    DECIMAL_WHOLE = 130,     // places before the point
    DECIMAL_PLACES = 330,    // all places
    DECIMAL_LARGEST = 125,   // exponent of the first digit of the largest number
    DECIMAL_SMALLEST = -130, // … and of the smallest
};

struct decimal {
    bool negative;
    uint8_t digits[DECIMAL_PLACES]; // digits[i] counts 10^(DECIMAL_WHOLE - 1 - i)
};

static inline int decimal_exponent(size_t place)
{
    return DECIMAL_WHOLE - 1 - (int)place;
}

// The status a magnitude with this first and last place, counted as exponents, must have.
static inline enum number_status decimal_status(int64_t first, int64_t last)
{
    if (first > DECIMAL_LARGEST)
        return NUMBER_OVERFLOW;
    if (first < DECIMAL_SMALLEST)
        return NUMBER_UNDERFLOW;
    return first - last >= LIMIT_NUMBER_DIGITS ? NUMBER_PRECISION : NUMBER_OK;
}

// The exponent behind "e", or false if it is none or has more than 31 bits.
static inline bool decimal_read_exponent(struct slice text, int64_t *out)
{
    bool negative = text.len > 0 && text.ptr[0] == '-';
    size_t at = text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+');
    if (at == text.len)
        return false;
    int64_t value = 0;
    for (; at < text.len; at++) {
        if (text.ptr[at] < '0' || text.ptr[at] > '9')
            return false;
        value = value * 10 + (text.ptr[at] - '0');
        if (value > INT32_MAX)
            return false;
    }
    *out = negative ? -value : value;
    return true;
}

// Splits the text into sign, mantissa and exponent; false if it is no number.
static inline bool decimal_split(struct slice text, bool *negative, struct slice *mantissa,
                                 int64_t *exponent)
{
    *negative = text.len > 0 && text.ptr[0] == '-';
    size_t start = text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+');
    size_t end = start;
    size_t points = 0;
    while (end < text.len &&
           ((text.ptr[end] >= '0' && text.ptr[end] <= '9') || text.ptr[end] == '.'))
        points += text.ptr[end++] == '.';
    *mantissa = slice_of(text.ptr + start, end - start);
    *exponent = 0;
    if (points > 1 || end - start == points)
        return false;
    if (end == text.len)
        return true;
    if (text.ptr[end] != 'e' && text.ptr[end] != 'E')
        return false;
    return decimal_read_exponent(slice_of(text.ptr + end + 1, text.len - end - 1), exponent);
}

static inline enum number_status decimal_read(struct slice text, struct decimal *out)
{
    struct slice mantissa;
    int64_t exponent;
    memset(out, 0, sizeof(*out));
    if (!decimal_split(text, &out->negative, &mantissa, &exponent))
        return NUMBER_SYNTAX;
    const uint8_t *point = memchr(mantissa.ptr, '.', mantissa.len);
    size_t whole = point == NULL ? mantissa.len : (size_t)(point - mantissa.ptr);
    int64_t first = INT64_MIN;
    int64_t last = 0;
    for (size_t i = 0; i < mantissa.len; i++) {
        if (mantissa.ptr[i] == '.' || mantissa.ptr[i] == '0')
            continue;
        last = exponent + (int64_t)whole - (int64_t)i - (i < whole);
        first = first == INT64_MIN ? last : first;
        int64_t place = DECIMAL_WHOLE - 1 - last;
        if (place >= 0 && place < DECIMAL_PLACES)
            out->digits[place] = (uint8_t)(mantissa.ptr[i] - '0');
    }
    if (first == INT64_MIN) {
        out->negative = false;
        return NUMBER_OK;
    }
    return decimal_status(first, last);
}

static inline int decimal_compare(const struct decimal *a, const struct decimal *b)
{
    if (a->negative != b->negative)
        return a->negative ? -1 : 1;
    int order = memcmp(a->digits, b->digits, sizeof(a->digits));
    order = (order > 0) - (order < 0);
    return a->negative ? -order : order;
}

static inline void decimal_add(const struct decimal *a, const struct decimal *b,
                               struct decimal *out)
{
    // The one with the larger digits first, so that a difference never goes below zero.
    if (memcmp(a->digits, b->digits, sizeof(a->digits)) < 0) {
        const struct decimal *swap = a;
        a = b;
        b = swap;
    }
    int sign = a->negative == b->negative ? 1 : -1;
    int carry = 0;
    bool zero = true;
    for (size_t i = DECIMAL_PLACES; i-- > 0;) {
        int digit = a->digits[i] + sign * b->digits[i] + carry;
        carry = digit < 0 ? -1 : digit / 10;
        out->digits[i] = (uint8_t)(digit - 10 * carry);
        zero = zero && out->digits[i] == 0;
    }
    out->negative = a->negative && !zero;
}

// Whether the number fits, and if not, why. `precise` says whether 38 digits would be enough.
static inline enum number_status decimal_fits(const struct decimal *number, bool *precise)
{
    size_t first = 0;
    while (first < DECIMAL_PLACES && number->digits[first] == 0)
        first++;
    *precise = true;
    if (first == DECIMAL_PLACES)
        return NUMBER_OK;
    size_t last = DECIMAL_PLACES - 1;
    while (number->digits[last] == 0)
        last--;
    *precise = last - first < LIMIT_NUMBER_DIGITS;
    return decimal_status(decimal_exponent(first), decimal_exponent(last));
}

#endif
