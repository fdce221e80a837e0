// DynamoDB numbers: up to 38 significant decimal digits, magnitude 1E-130 to
// 9.99…E+125, and zero.
//
// A number has ONE stored form, used in items, in keys and for hashing: an
// order-preserving base-100 string of 1 to 21 bytes, compared with memcmp.
//   zero      0x80
//   positive  (0xc0 + e), then each base-100 digit d as d + 1, most significant first
//   negative  ~(0xc0 + e), then each digit as 101 - d, then 102 if fewer than 20 digits
// where value = 0.d1d2d3… × 100^e, d1 is not 0 and the last digit is not 0. The
// form is canonical: equal numbers have equal bytes, whatever text they came from.
#ifndef VALUE_NUMBER_H
#define VALUE_NUMBER_H

#include "base/buf.h"

enum { NUMBER_BYTES_MAX = 22, NUMBER_TEXT_MAX = 192 };

enum number_status {
    NUMBER_OK,
    NUMBER_SYNTAX,    // not a number at all
    NUMBER_OVERFLOW,  // magnitude above 9.99…E+125
    NUMBER_UNDERFLOW, // magnitude below 1E-130 but not zero, or a zero with such an exponent
    NUMBER_PRECISION, // more than 38 significant digits
};

// Decimal text (optional sign, digits, fraction, exponent) to the stored form.
// `len` is set on NUMBER_OK only. Judges as Java's BigDecimal, by which the service reads numbers:
// an exponent outside 32 bits is no number, and one that leaves them only with the digits wraps
// around (1e2147483647 is an underflow).
MUST_CHECK enum number_status number_from_text(struct slice text, uint8_t out[NUMBER_BYTES_MAX],
                                               size_t *len);
// How the newer layer of the service judges a text that number_from_text() refused with `status`:
// exponents have 64 bits, and nothing wraps around.
enum number_status number_judge_wide(struct slice text, enum number_status status);

// The stored form to the text DynamoDB answers with. Returns the length; no NUL.
size_t number_to_text(struct slice stored, char out[NUMBER_TEXT_MAX]);
// How long that text is at most, found without making it.
size_t number_text_room(struct slice stored);

// Arithmetic on stored forms, exact; NUMBER_OVERFLOW, NUMBER_UNDERFLOW or
// NUMBER_PRECISION when the result does not fit, as DynamoDB judges it.
MUST_CHECK enum number_status number_add(struct slice a, struct slice b,
                                         uint8_t out[NUMBER_BYTES_MAX], size_t *len);
MUST_CHECK enum number_status number_subtract(struct slice a, struct slice b,
                                              uint8_t out[NUMBER_BYTES_MAX], size_t *len);
MUST_CHECK enum number_status number_multiply(struct slice a, struct slice b,
                                              uint8_t out[NUMBER_BYTES_MAX], size_t *len);

// From a C integer; always fits.
size_t number_from_i64(int64_t value, uint8_t out[NUMBER_BYTES_MAX]);

// To a C integer; false if it has a fraction or does not fit.
MUST_CHECK bool number_to_i64(struct slice stored, int64_t *out);

// Bytes by AWS's item size formula.
size_t number_size(struct slice stored);

// True if the bytes are a canonical stored form (for data that is not trusted).
bool number_valid(struct slice stored);

#endif
