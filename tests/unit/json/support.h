// What the tests of src/json share: cmocka, an arena and error to a test, copies of exact
// size so that the address sanitizer sees every stray read, and a seeded generator.
#ifndef TEST_JSON_SUPPORT_H
#define TEST_JSON_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "json/shape.h"

struct fixture {
    struct arena arena;
    struct error error;
};

static inline void fixture_init(struct fixture *f)
{
    arena_init(&f->arena, LIMIT_REQUEST_MEMORY);
    error_init(&f->error, &f->arena);
}

static inline void fixture_release(struct fixture *f)
{
    arena_release(&f->arena);
}

// A heap copy with nothing behind it; free() its ptr.
static inline struct slice exact_copy(struct slice bytes)
{
    uint8_t *copy = malloc(bytes.len + (bytes.len == 0));
    assert_non_null(copy);
    if (bytes.len > 0)
        memcpy(copy, bytes.ptr, bytes.len);
    return slice_of(copy, bytes.len);
}

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

// Decodes one AttributeValue, as that of an item's only attribute.
static inline bool decode_value(struct slice json, struct fixture *f, struct slice *out)
{
    struct slice item;
    char *text = arena_printf(&f->arena, "{\"v\":%.*s}", SLICE_FMT(json));
    assert_non_null(text);
    if (!json_decode_item(slice_str(text), &f->arena, &item, &f->error))
        return false;
    *out = value_get(item, SLICE_LIT("v"));
    return true;
}

static inline void assert_slice(struct slice actual, const char *text)
{
    assert_int_equal(actual.len, strlen(text));
    assert_memory_equal(actual.ptr, text, actual.len);
}

#endif
