// See number.h. All conversions go through a small array of decimal digits with a
// decimal exponent (struct decimal): text and stored bytes each turn into it and come
// from it, so that rounding never enters. Arithmetic packs the at most 38 digits into
// one 128-bit coefficient.
//
// Invariants: a struct decimal has no leading and no trailing zero digit; zero has no
// digits at all. Nothing here allocates.
#include "value/number.h"

#include "base/limits.h"

enum {
    PAIRS_MAX = 20,                      // base-100 digits of 38 decimal digits at an odd offset
    POINT_MIN = -129,                    // 1E-130 is 0.1 × 10^-129
    POINT_MAX = 126,                     // 9.9E+125 is 0.99 × 10^126
    EXPONENT_BIAS = 0xc0,                // first byte of a positive number with e = 0
    ZERO_BYTE = 0x80,                    // the stored zero
    NEGATIVE_END = 102,                  // ends a short negative number: sorts above every digit
    SHORT_TEXT = 18,                     // its digits, and one more, fit into 64 bits
    DIGITS_MAX = LIMIT_NUMBER_DIGITS + 2 // room for whole pairs
};

typedef unsigned __int128 u128;

#define TEN_TO_19 UINT64_C(10000000000000000000)
#define TEN_TO_38 ((u128)TEN_TO_19 * TEN_TO_19)

// 0.d0d1d2… × 10^point.
struct decimal {
    bool negative;
    int point;
    size_t count;
    uint8_t digits[DIGITS_MAX];
};

static size_t decimal_encode(const struct decimal *decimal, uint8_t out[NUMBER_BYTES_MAX])
{
    if (decimal->count == 0) {
        out[0] = ZERO_BYTE;
        return 1;
    }
    // At an odd point the first pair has one digit only: 5 is 05.
    int odd = decimal->point & 1;
    uint8_t first = (uint8_t)(EXPONENT_BIAS + (decimal->point + odd) / 2);
    size_t pairs = (decimal->count + (size_t)odd + 1) / 2;
    size_t at = 0;
    for (size_t i = 0; i < pairs; i++) {
        unsigned high = i == 0 && odd ? 0 : decimal->digits[at++];
        unsigned low = at < decimal->count ? decimal->digits[at++] : 0;
        unsigned pair = high * 10 + low;
        out[1 + i] = (uint8_t)(decimal->negative ? 101 - pair : pair + 1);
    }
    if (!decimal->negative) {
        out[0] = first;
        return 1 + pairs;
    }
    out[0] = (uint8_t)~first;
    if (pairs < PAIRS_MAX)
        out[1 + pairs++] = NEGATIVE_END;
    return 1 + pairs;
}

static void decimal_decode(struct slice stored, struct decimal *decimal)
{
    decimal->count = 0;
    decimal->point = 0;
    decimal->negative = stored.ptr[0] < ZERO_BYTE;
    if (stored.len == 1)
        return;
    bool negative = decimal->negative;
    uint8_t first = negative ? (uint8_t)~stored.ptr[0] : stored.ptr[0];
    size_t end = stored.len;
    if (negative && stored.ptr[end - 1] == NEGATIVE_END)
        end--;
    decimal->point = 2 * (first - EXPONENT_BIAS);
    uint8_t *to = decimal->digits;
    for (size_t i = 1; i < end; i++) {
        unsigned pair = negative ? 101U - stored.ptr[i] : stored.ptr[i] - 1U;
        if (i > 1 || pair >= 10)
            *to++ = (uint8_t)(pair / 10);
        else
            decimal->point--;
        *to++ = (uint8_t)(pair % 10);
    }
    if (to[-1] == 0)
        to--;
    decimal->count = (size_t)(to - decimal->digits);
}

// Whether a magnitude with its first digit at `point` is in range.
static enum number_status point_check(int64_t point)
{
    if (point > POINT_MAX)
        return NUMBER_OVERFLOW;
    return point < POINT_MIN ? NUMBER_UNDERFLOW : NUMBER_OK;
}

// What the scan of a text's digits found out.
struct scan {
    const uint8_t *at;
    const uint8_t *end;
    bool any;         // there was a digit, if only a zero
    bool too_precise; // a digit other than 0 stands behind the 38th
    int64_t seen;     // digits from the first one that is not 0, trailing zeros included
    int64_t point;    // of the number so far
    int64_t fraction; // digits behind the decimal point
};

// Reads a run of digits, before the decimal point or behind it.
static void scan_digits(struct scan *scan, struct decimal *decimal, bool fraction)
{
    const uint8_t *at = scan->at;
    for (; at < scan->end; at++) {
        unsigned digit = *at - (unsigned)'0';
        if (digit > 9)
            break;
        scan->any = true;
        scan->fraction += fraction;
        if (digit == 0 && scan->seen == 0) {
            scan->point -= fraction;
            continue;
        }
        scan->point += !fraction;
        if (scan->seen < LIMIT_NUMBER_DIGITS) {
            decimal->digits[scan->seen] = (uint8_t)digit;
            if (digit != 0)
                decimal->count = (size_t)scan->seen + 1;
        } else if (digit != 0) {
            scan->too_precise = true;
        }
        scan->seen++;
    }
    scan->at = at;
}

// Reads "e", an optional sign and digits; false if that is not what stands there, or the exponent
// is beyond `most`.
static bool scan_exponent(struct scan *scan, int64_t most)
{
    scan->at++;
    bool negative = scan->at < scan->end && *scan->at == '-';
    if (negative || (scan->at < scan->end && *scan->at == '+'))
        scan->at++;
    if (scan->at == scan->end)
        return false;
    int64_t exponent = 0;
    for (; scan->at < scan->end; scan->at++) {
        unsigned digit = *scan->at - (unsigned)'0';
        if (digit > 9)
            return false;
        if (exponent > (most - digit) / 10)
            return false;
        exponent = exponent * 10 + digit;
    }
    // What is that large has no need to be exact.
    if (exponent > INT64_MAX / 4)
        exponent = INT64_MAX / 4;
    scan->point += negative ? -exponent : exponent;
    scan->fraction += negative ? exponent : -exponent;
    return true;
}

// The short way for what most numbers are: at most 18 digits, perhaps a sign and a decimal
// point, no exponent. Returns the stored length, or 0 if the text is for the long way.
static size_t short_from_text(struct slice text, uint8_t out[NUMBER_BYTES_MAX])
{
    if (text.len == 0 || text.len > SHORT_TEXT)
        return 0;
    bool negative = text.ptr[0] == '-';
    size_t digits = 0;
    size_t point = text.len; // where it is, in bytes
    uint64_t coefficient = 0;
    for (size_t i = negative; i < text.len; i++) {
        unsigned digit = text.ptr[i] - (unsigned)'0';
        if (digit > 9) {
            if (text.ptr[i] != '.' || point != text.len)
                return 0;
            point = i;
            continue;
        }
        coefficient = coefficient * 10 + digit;
        digits++;
    }
    size_t fraction = point == text.len ? 0 : text.len - point - 1;
    if (digits == 0)
        return 0;
    if (coefficient == 0) {
        out[0] = ZERO_BYTE;
        return 1;
    }
    if (fraction % 2 != 0) {
        coefficient *= 10;
        fraction++;
    }
    int exponent = -(int)(fraction / 2);
    for (; coefficient % 100 == 0; coefficient /= 100)
        exponent++;
    uint8_t reversed[PAIRS_MAX];
    size_t pairs = 0;
    for (; coefficient != 0; coefficient /= 100)
        reversed[pairs++] = (uint8_t)(coefficient % 100);
    uint8_t first = (uint8_t)(EXPONENT_BIAS + exponent + (int)pairs);
    out[0] = negative ? (uint8_t)~first : first;
    for (size_t i = 0; i < pairs; i++)
        out[1 + i] =
            (uint8_t)(negative ? 101 - reversed[pairs - 1 - i] : reversed[pairs - 1 - i] + 1);
    if (negative)
        out[1 + pairs++] = NEGATIVE_END; // there are fewer than PAIRS_MAX
    return 1 + pairs;
}

// Reads all of the text. False if it is no number.
static bool scan_text(struct slice text, int64_t exponent_most, struct scan *scan,
                      struct decimal *decimal)
{
    if (text.len == 0)
        return false;
    *scan = (struct scan){.at = text.ptr, .end = text.ptr + text.len};
    decimal->count = 0;
    decimal->negative = *scan->at == '-';
    if (*scan->at == '-' || *scan->at == '+')
        scan->at++;
    scan_digits(scan, decimal, false);
    if (scan->at < scan->end && *scan->at == '.') {
        scan->at++;
        scan_digits(scan, decimal, true);
    }
    if (!scan->any || (scan->at < scan->end &&
                       ((*scan->at | 0x20) != 'e' || !scan_exponent(scan, exponent_most))))
        return false;
    // A zero has one digit, the last that was written.
    if (decimal->count == 0)
        scan->point = 1 - scan->fraction;
    return true;
}

enum number_status number_from_text(struct slice text, uint8_t out[NUMBER_BYTES_MAX], size_t *len)
{
    size_t short_len = short_from_text(text, out);
    if (short_len != 0) {
        *len = short_len;
        return NUMBER_OK;
    }
    struct decimal decimal;
    struct scan scan;
    // The digits behind the point less the exponent are what Java calls the scale.
    if (!scan_text(text, INT32_MAX, &scan, &decimal) || scan.fraction > INT32_MAX)
        return NUMBER_SYNTAX;
    if (scan.point > INT32_MAX)
        return NUMBER_UNDERFLOW;
    enum number_status status = point_check(scan.point);
    if (status != NUMBER_OK)
        return status;
    if (scan.too_precise)
        return NUMBER_PRECISION;
    decimal.point = (int)scan.point;
    *len = decimal_encode(&decimal, out);
    return NUMBER_OK;
}

enum number_status number_judge_wide(struct slice text, enum number_status status)
{
    struct decimal decimal;
    struct scan scan;
    if (status == NUMBER_PRECISION)
        return status;
    return scan_text(text, INT64_MAX, &scan, &decimal) ? point_check(scan.point) : NUMBER_SYNTAX;
}

static char *digits_out(char *to, const uint8_t *digits, size_t count)
{
    for (size_t i = 0; i < count; i++)
        *to++ = (char)('0' + digits[i]);
    return to;
}

static char *zeros_out(char *to, size_t count)
{
    memset(to, '0', count);
    return to + count;
}

// Two digits for each pair.
static const char pair_digits[] = "00010203040506070809"
                                  "10111213141516171819"
                                  "20212223242526272829"
                                  "30313233343536373839"
                                  "40414243444546474849"
                                  "50515253545556575859"
                                  "60616263646566676869"
                                  "70717273747576777879"
                                  "80818283848586878889"
                                  "90919293949596979899";

// The short way for what most numbers are: positive, and no zeros missing at either end of their
// pairs. Returns the length, or 0 if the number is for the long way.
static size_t short_to_text(struct slice stored, char out[NUMBER_TEXT_MAX])
{
    size_t pairs = stored.len - 1;
    size_t whole = (size_t)stored.ptr[0] - EXPONENT_BIAS; // pairs before the decimal point
    if (stored.ptr[0] <= EXPONENT_BIAS || whole > pairs)
        return 0;
    char *to = out;
    const uint8_t *at = stored.ptr + 1;
    const uint8_t *end = stored.ptr + stored.len;
    unsigned first = *at++ - 1U;
    if (first >= 10)
        *to++ = pair_digits[2 * first];
    *to++ = pair_digits[2 * first + 1];
    for (const uint8_t *point = at + whole - 1; at < point; at++, to += 2)
        memcpy(to, pair_digits + 2 * (*at - 1U), 2);
    if (at == end)
        return (size_t)(to - out);
    *to++ = '.';
    for (; at < end; at++, to += 2)
        memcpy(to, pair_digits + 2 * (*at - 1U), 2);
    to -= to[-1] == '0';
    return (size_t)(to - out);
}

// DynamoDB never answers with an exponent: 1E-130 is 0. and 129 zeros before the 1.
size_t number_to_text(struct slice stored, char out[NUMBER_TEXT_MAX])
{
    size_t short_len = short_to_text(stored, out);
    if (short_len != 0)
        return short_len;
    struct decimal decimal;
    decimal_decode(stored, &decimal);
    char *to = out;
    if (decimal.count == 0) {
        *to = '0';
        return 1;
    }
    if (decimal.negative)
        *to++ = '-';
    if (decimal.point <= 0) {
        *to++ = '0';
        *to++ = '.';
        to = zeros_out(to, (size_t)-decimal.point);
        to = digits_out(to, decimal.digits, decimal.count);
        return (size_t)(to - out);
    }
    size_t point = (size_t)decimal.point;
    if (point >= decimal.count) {
        to = digits_out(to, decimal.digits, decimal.count);
        to = zeros_out(to, point - decimal.count);
        return (size_t)(to - out);
    }
    to = digits_out(to, decimal.digits, point);
    *to++ = '.';
    to = digits_out(to, decimal.digits + point, decimal.count - point);
    return (size_t)(to - out);
}

size_t number_text_room(struct slice stored)
{
    bool negative = stored.ptr[0] < ZERO_BYTE;
    uint8_t first = negative ? (uint8_t)~stored.ptr[0] : stored.ptr[0];
    size_t digits = 2 * (stored.len - 1);
    if (digits == 0)
        return 1;
    if (first <= EXPONENT_BIAS)
        return negative + 2 + 2 * (size_t)(EXPONENT_BIAS - first) + digits;
    size_t whole = 2 * (size_t)(first - EXPONENT_BIAS);
    return negative + (whole > digits ? whole : digits + 1);
}

static u128 power_of_ten(unsigned exponent)
{
    u128 power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

// coefficient × 10^exponent; the coefficient is below 10^38 and does not end in 0.
struct number {
    bool negative;
    int exponent;
    u128 coefficient;
};

static struct number number_unpack(struct slice stored)
{
    struct decimal decimal;
    decimal_decode(stored, &decimal);
    struct number number = {.negative = decimal.negative,
                            .exponent = decimal.point - (int)decimal.count};
    for (size_t i = 0; i < decimal.count; i++)
        number.coefficient = number.coefficient * 10 + decimal.digits[i];
    return number;
}

static enum number_status number_pack(struct number number, uint8_t out[NUMBER_BYTES_MAX],
                                      size_t *len)
{
    struct decimal decimal = {.negative = number.negative};
    uint8_t reversed[40];
    size_t count = 0;
    for (u128 rest = number.coefficient; rest != 0; rest /= 10)
        reversed[count++] = (uint8_t)(rest % 10);
    size_t zeros = 0;
    while (zeros < count && reversed[zeros] == 0)
        zeros++;
    decimal.point = number.exponent + (int)count;
    if (count > 0) {
        enum number_status status = point_check(decimal.point);
        if (status != NUMBER_OK)
            return status;
    }
    if (count - zeros > LIMIT_NUMBER_DIGITS)
        return NUMBER_PRECISION;
    while (count > zeros)
        decimal.digits[decimal.count++] = reversed[--count];
    *len = decimal_encode(&decimal, out);
    return NUMBER_OK;
}

// The result ends at the lower exponent with a digit other than 0, so it has all the
// digits of the scaled coefficient, or one fewer when a power of ten lends: from
// 2 × 10^38 on there are always more than 38. Below that, all sums fit in 128 bits.
static enum number_status number_sum(struct number a, struct number b,
                                     uint8_t out[NUMBER_BYTES_MAX], size_t *len)
{
    if (a.coefficient == 0)
        return number_pack(b, out, len);
    if (b.coefficient == 0)
        return number_pack(a, out, len);
    struct number *high = a.exponent >= b.exponent ? &a : &b;
    struct number *low = high == &a ? &b : &a;
    unsigned gap = (unsigned)(high->exponent - low->exponent);
    if (gap > LIMIT_NUMBER_DIGITS)
        return NUMBER_PRECISION;
    u128 scale = power_of_ten(gap);
    if (high->coefficient >= 2 * TEN_TO_38 / scale)
        return NUMBER_PRECISION;
    u128 x = high->coefficient * scale;
    u128 y = low->coefficient;
    struct number sum = {.exponent = low->exponent};
    if (high->negative == low->negative) {
        sum.negative = high->negative;
        sum.coefficient = x + y;
    } else {
        sum.negative = x >= y ? high->negative : low->negative;
        sum.coefficient = x >= y ? x - y : y - x;
    }
    return number_pack(sum, out, len);
}

enum number_status number_add(struct slice a, struct slice b, uint8_t out[NUMBER_BYTES_MAX],
                              size_t *len)
{
    return number_sum(number_unpack(a), number_unpack(b), out, len);
}

enum number_status number_subtract(struct slice a, struct slice b, uint8_t out[NUMBER_BYTES_MAX],
                                   size_t *len)
{
    struct number minus = number_unpack(b);
    minus.negative = !minus.negative;
    return number_sum(number_unpack(a), minus, out, len);
}

// By digits, from the last: a product has as many as both together, which may be more than 128 bits
// hold.
enum number_status number_multiply(struct slice a, struct slice b, uint8_t out[NUMBER_BYTES_MAX],
                                   size_t *len)
{
    struct decimal x;
    struct decimal y;
    decimal_decode(a, &x);
    decimal_decode(b, &y);
    struct decimal product = {.negative = x.negative != y.negative};
    unsigned digits[2 * DIGITS_MAX] = {0};
    size_t count = x.count + y.count;
    if (x.count == 0 || y.count == 0) {
        *len = decimal_encode(&(struct decimal){0}, out);
        return NUMBER_OK;
    }
    for (size_t i = x.count; i-- > 0;)
        for (size_t k = y.count; k-- > 0;)
            digits[i + k + 1] += (unsigned)x.digits[i] * y.digits[k];
    for (size_t i = count; i-- > 1;) {
        digits[i - 1] += digits[i] / 10;
        digits[i] %= 10;
    }
    size_t first = digits[0] == 0; // 0.2 × 0.3 is 0.06
    product.point = x.point + y.point - (int)first;
    while (digits[count - 1] == 0)
        count--;
    enum number_status status = point_check(product.point);
    if (status != NUMBER_OK)
        return status;
    if (count - first > LIMIT_NUMBER_DIGITS)
        return NUMBER_PRECISION;
    for (size_t i = first; i < count; i++)
        product.digits[product.count++] = (uint8_t)digits[i];
    *len = decimal_encode(&product, out);
    return NUMBER_OK;
}

size_t number_from_i64(int64_t value, uint8_t out[NUMBER_BYTES_MAX])
{
    struct decimal decimal = {.negative = value < 0};
    uint64_t rest = value < 0 ? (uint64_t)0 - (uint64_t)value : (uint64_t)value;
    uint8_t reversed[20];
    size_t count = 0;
    for (; rest != 0; rest /= 10)
        reversed[count++] = (uint8_t)(rest % 10);
    decimal.point = (int)count;
    size_t zeros = 0;
    while (zeros < count && reversed[zeros] == 0)
        zeros++;
    while (count > zeros)
        decimal.digits[decimal.count++] = reversed[--count];
    return decimal_encode(&decimal, out);
}

bool number_to_i64(struct slice stored, int64_t *out)
{
    struct decimal decimal;
    decimal_decode(stored, &decimal);
    if (decimal.point > 19 || (int)decimal.count > decimal.point)
        return false;
    uint64_t value = 0;
    for (int i = 0; i < decimal.point; i++)
        value = value * 10 + ((size_t)i < decimal.count ? decimal.digits[i] : 0);
    if (value > (uint64_t)INT64_MAX + decimal.negative)
        return false;
    *out = (int64_t)(decimal.negative ? (uint64_t)0 - value : value);
    return true;
}

// One byte for the exponent, one for each pair of digits, one for a minus sign. The
// stored form is just that, except that a negative number of 20 pairs has no end mark.
size_t number_size(struct slice stored)
{
    bool unmarked = stored.ptr[0] < ZERO_BYTE && stored.len == 1 + PAIRS_MAX &&
                    stored.ptr[stored.len - 1] != NEGATIVE_END;
    return stored.len + unmarked;
}

bool number_valid(struct slice stored)
{
    if (stored.len == 0 || stored.len > 1 + PAIRS_MAX)
        return false;
    if (stored.len == 1)
        return stored.ptr[0] == ZERO_BYTE;
    bool negative = stored.ptr[0] < ZERO_BYTE;
    size_t pairs = stored.len - 1;
    if (negative && stored.ptr[pairs] == NEGATIVE_END)
        pairs--;
    else if (negative && pairs < PAIRS_MAX)
        return false;
    if (pairs == 0)
        return false;
    unsigned first = 0;
    unsigned last = 0;
    for (size_t i = 1; i <= pairs; i++) {
        last = negative ? 101U - stored.ptr[i] : stored.ptr[i] - 1U;
        if (last > 99)
            return false;
        if (i == 1)
            first = last;
    }
    size_t digits = 2 * pairs - (first < 10) - (last % 10 == 0);
    return first != 0 && last != 0 && digits <= LIMIT_NUMBER_DIGITS;
}
