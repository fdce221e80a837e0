// One request as the expression tests see it: an arena, an error, placeholders and an item, all
// written in the notation of notation.h.
#ifndef TESTS_EXPR_FIXTURE_H
#define TESTS_EXPR_FIXTURE_H

#include "expr/expr.h"
#include "expr/notation.h"

enum { FIXTURE_NAMES = 8, FIXTURE_BUDGET = 16 << 20 };

struct fixture {
    struct arena arena;
    struct error error;
    struct expr_params params;
    struct buf bytes; // what the notation was read into; values borrow from it
    struct buf text;  // results
    size_t name_count;
    struct slice names[FIXTURE_NAMES];
    struct slice attributes[FIXTURE_NAMES];
    struct slice values;
};

// The buffer of values must not move while slices point into it: it is reserved at once.
static inline void fixture_init(struct fixture *fixture)
{
    memset(fixture, 0, sizeof *fixture);
    arena_init(&fixture->arena, FIXTURE_BUDGET);
    error_init(&fixture->error, &fixture->arena);
    buf_init(&fixture->bytes, 1 << 20);
    ensure(buf_reserve(&fixture->bytes, 1 << 18) != NULL);
    buf_init(&fixture->text, 1 << 20);
}

static inline void fixture_release(struct fixture *fixture)
{
    arena_release(&fixture->arena);
    buf_release(&fixture->bytes);
    buf_release(&fixture->text);
}

static inline struct slice fixture_value(struct fixture *fixture, const char *notation)
{
    return notation_read(notation, &fixture->bytes);
}

// "#a=alpha #b=beta"; borrowed.
static inline void fixture_names(struct fixture *fixture, const char *text)
{
    while (*text != '\0') {
        size_t name = strcspn(text, "=");
        size_t attribute = strcspn(text + name + 1, " ");
        fixture->names[fixture->name_count] = slice_of(text, name);
        fixture->attributes[fixture->name_count++] = slice_of(text + name + 1, attribute);
        text += name + 1 + attribute;
        text += strspn(text, " ");
    }
}

// A fresh error and fresh placeholders over the same names and values; what was compiled before is
// gone.
static inline bool fixture_begin(struct fixture *fixture)
{
    arena_reset(&fixture->arena);
    error_init(&fixture->error, &fixture->arena);
    if (!expr_params_init(&fixture->params, &fixture->arena, &fixture->error))
        return false;
    if (fixture->name_count > 0 && !expr_params_names(&fixture->params, fixture->name_count,
                                                      fixture->names, fixture->attributes))
        return false;
    return fixture->values.len == 0 || expr_params_values(&fixture->params, fixture->values);
}

static inline const char *fixture_message(const struct fixture *fixture)
{
    return fixture->error.code == ERR_NONE ? "no error" : fixture->error.message;
}

// The value in notation; valid until the next call.
static inline const char *fixture_text(struct fixture *fixture, struct slice value)
{
    buf_clear(&fixture->text);
    notation_write(&fixture->text, value);
    buf_byte(&fixture->text, 0);
    return (const char *)fixture->text.ptr;
}

#endif
