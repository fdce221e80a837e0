// Copying what is mostly short (names, texts, numbers) without the price of a call. Nothing
// is read or written outside of the two pieces, which must not overlap.
#ifndef VALUE_COPY_H
#define VALUE_COPY_H

#include "base/slice.h"

// For what is worth it: the compiler would rather call.
#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum { COPY_SHORT = 64 }; // up to here it is worth doing by hand

// Two copies of a fixed size, the second of which ends where the piece does.
ALWAYS_INLINE void copy_ends(uint8_t *to, const uint8_t *from, size_t len, size_t size)
{
    memcpy(to, from, size);
    memcpy(to + len - size, from + len - size, size);
}

ALWAYS_INLINE void copy_bytes(uint8_t *to, const uint8_t *from, size_t len)
{
    if (len >= 16) {
        if (len > COPY_SHORT) {
            memcpy(to, from, len);
            return;
        }
        if (len > 32)
            copy_ends(to + 16, from + 16, len - 32, 16);
        copy_ends(to, from, len, 16);
    } else if (len >= 8) {
        copy_ends(to, from, len, 8);
    } else if (len >= 4) {
        copy_ends(to, from, len, 4);
    } else if (len > 0) {
        to[0] = from[0];
        to[len / 2] = from[len / 2];
        to[len - 1] = from[len - 1];
    }
}

#endif
