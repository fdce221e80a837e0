// The lowest level of Ion text: spaces and comments, escapes, the spelling of numbers. Internal to
// src/transfer.
#ifndef TRANSFER_ION_TEXT_H
#define TRANSFER_ION_TEXT_H

#include "base/buf.h"

static inline bool ion_is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool ion_is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static inline bool ion_is_identifier(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ion_is_digit(c) || c == '_' ||
           c == '$';
}

// Moves *at behind spaces and comments; false if a comment does not end.
MUST_CHECK bool ion_skip_space(const uint8_t **at, const uint8_t *end);

// Appends the text up to the closing quote (three of them for a long string), behind which *at
// moves; false if it does not end or an escape is none.
MUST_CHECK bool ion_unescape(const uint8_t **at, const uint8_t *end, uint8_t quote, bool is_long,
                             struct buf *out);

// Appends an int, decimal or float as the decimal text that number_from_text() takes; false if it
// is none, or something follows that belongs to no number.
MUST_CHECK bool ion_number(const uint8_t **at, const uint8_t *end, struct buf *out);

#endif
