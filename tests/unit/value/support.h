// What the tests of src/value share: cmocka, a seeded generator, short ways to make
// values, and copies of exact size so that the address sanitizer sees every stray read.
#ifndef TEST_VALUE_SUPPORT_H
#define TEST_VALUE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "value/number.h"
#include "value/value.h"

// A xorshift generator: every run replays the same cases.
static inline uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static inline size_t random_below(uint64_t *state, size_t limit)
{
    return (size_t)(random_next(state) >> 16) % limit;
}

#define assert_slice(actual, text)                                                                 \
    do {                                                                                           \
        struct slice actual_ = (actual);                                                           \
        assert_int_equal(actual_.len, strlen(text));                                               \
        assert_memory_equal(actual_.ptr, (text), strlen(text));                                    \
    } while (0)

static inline void assert_same(struct slice a, struct slice b)
{
    assert_int_equal(a.len, b.len);
    if (a.len > 0)
        assert_memory_equal(a.ptr, b.ptr, a.len);
}

// A stored number with room of its own.
struct stored {
    uint8_t bytes[NUMBER_BYTES_MAX];
    size_t len;
};

static inline struct slice stored_view(const struct stored *stored)
{
    return slice_of(stored->bytes, stored->len);
}

static inline struct stored stored_number(const char *text)
{
    struct stored stored = {.len = 0};
    assert_int_equal(number_from_text(slice_str(text), stored.bytes, &stored.len), NUMBER_OK);
    return stored;
}

static inline void put_number(struct value_builder *builder, const char *text)
{
    struct stored stored = stored_number(text);
    value_put_number(builder, stored_view(&stored));
}

// A builder over a buf of its own, for one value.
struct maker {
    struct buf out;
    struct value_builder builder;
};

static inline void maker_init(struct maker *maker)
{
    buf_init(&maker->out, 1 << 26);
    value_builder_init(&maker->builder, &maker->out);
}

static inline void maker_release(struct maker *maker)
{
    value_builder_release(&maker->builder);
    buf_release(&maker->out);
}

#endif
