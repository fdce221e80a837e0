// What the fuzz targets share. A target is one C file with LLVMFuzzerTestOneInput(): it is linked
// with libFuzzer to search, and with replay.c to run the committed corpus again.
//
// A finding is a sanitizer's report or a failed ensure(). Targets keep nothing between two inputs
// that could change what an input does, so every finding is replayed by its file alone.
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// ---- Taking an input apart ---------------------------------------------------------------

// An input that has ended gives zeros, and so decides everything in the simplest way.
static inline uint8_t fuzz_byte(struct slice *in)
{
    if (in->len == 0)
        return 0;
    uint8_t byte = *in->ptr;
    *in = slice_of(in->ptr + 1, in->len - 1);
    return byte;
}

// Up to the next `end`, which is dropped, or all that is left: inputs stay readable texts.
static inline struct slice fuzz_until(struct slice *in, uint8_t end)
{
    const uint8_t *found = in->len == 0 ? NULL : memchr(in->ptr, end, in->len);
    size_t len = found == NULL ? in->len : (size_t)(found - in->ptr);
    struct slice piece = slice_of(in->ptr, len);
    size_t gone = found == NULL ? len : len + 1;
    *in = slice_of(in->ptr + gone, in->len - gone);
    return piece;
}

static inline struct slice fuzz_line(struct slice *in)
{
    return fuzz_until(in, '\n');
}

// ---- Memory -------------------------------------------------------------------------------

// A heap copy with nothing behind it, so that the sanitizer sees every stray read; free() it with
// fuzz_free().
static inline struct slice fuzz_copy(struct slice bytes)
{
    uint8_t *copy = malloc(bytes.len + (bytes.len == 0));
    ensure(copy != NULL);
    if (bytes.len > 0)
        memcpy(copy, bytes.ptr, bytes.len);
    return slice_of(copy, bytes.len);
}

static inline void fuzz_free(struct slice copy)
{
    free((void *)(uintptr_t)copy.ptr);
}

// Every slice handed out lies inside what it was cut from; an empty one may be anywhere.
static inline void fuzz_inside(struct slice part, struct slice whole)
{
    ensure(part.len == 0 || (part.ptr >= whole.ptr && part.len <= whole.len &&
                             (size_t)(part.ptr - whole.ptr) <= whole.len - part.len));
}

// ---- Errors --------------------------------------------------------------------------------

enum { FUZZ_BUDGET = 64 << 20 };

// A client may see one of these: it was not made by used-up memory. The service's message for an
// empty body is empty.
static inline void fuzz_error(const struct error *error)
{
    ensure(error->code != ERR_NONE && error->code != ERR_BUDGET && error->code != ERR_INTERNAL);
    ensure(error->message != NULL);
}

#endif
