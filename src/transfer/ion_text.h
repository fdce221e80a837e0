// The characters of Ion text, for its reader and its writer.
#ifndef TRANSFER_ION_TEXT_H
#define TRANSFER_ION_TEXT_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
