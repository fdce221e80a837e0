// What the tests of evaluation and of the guard share: a model out of text, items written as plain
// JSON and read the same way, a clock that stands still.
#ifndef TEST_MODEL_GUARD_SUPPORT_H
#define TEST_MODEL_GUARD_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/env.h"
#include "model/model.h"
#include "json/plain.h"

enum { FIXTURE_MEMORY = 64 << 20 };

struct fixture {
    struct arena arena;
    struct model *model;
    const struct model_table *table;
    struct env_fixed clock;
    struct env env;
};

// The first table of the text is the fixture's.
static inline void fixture_init(struct fixture *fixture, const char *text)
{
    arena_init(&fixture->arena, FIXTURE_MEMORY);
    struct diagnostics diagnostics;
    diagnostics_init(&diagnostics, &fixture->arena);
    fixture->model = model_parse(slice_str("test.dolmen"), slice_str(text), &diagnostics);
    if (fixture->model == NULL) {
        struct buf shown;
        buf_init(&shown, 1 << 20);
        diagnostics_show(&diagnostics, slice_str("test.dolmen"), slice_str(text), &shown);
        print_error("%.*s\n", SLICE_FMT(buf_view(&shown)));
        buf_release(&shown);
    }
    assert_non_null(fixture->model);
    fixture->table = &fixture->model->tables[0];
    fixture->clock = (struct env_fixed){.now_ms = 1794800400123, .seed = 7};
    fixture->env = env_fixed(&fixture->clock);
}

static inline void fixture_release(struct fixture *fixture)
{
    model_release(fixture->model);
    arena_release(&fixture->arena);
}

// A copy of exact size, so that the address sanitizer sees every stray read; freed with the arena.
static inline struct slice exact(struct arena *arena, struct slice bytes)
{
    uint8_t *copy = arena_alloc(arena, bytes.len);
    assert_non_null(copy);
    memcpy(copy, bytes.ptr, bytes.len);
    return slice_of(copy, bytes.len);
}

// The item of a plain JSON text; NULL gives VALUE_NONE.
static inline struct slice item_of(struct arena *arena, const char *text)
{
    if (text == NULL)
        return VALUE_NONE;
    struct buf out;
    struct value_builder builder;
    buf_init(&out, 1 << 20);
    value_builder_init(&builder, &out);
    const char *wrong = plain_read(slice_str(text), arena, &builder);
    if (wrong != NULL)
        fail_msg("%s: %s", text, wrong);
    struct slice item = exact(arena, buf_view(&out));
    value_builder_release(&builder);
    buf_release(&out);
    return item;
}

static inline const char *text_of(struct arena *arena, struct slice value)
{
    if (value.len == 0)
        return "nothing";
    struct buf out;
    buf_init(&out, 1 << 20);
    plain_write(&out, value);
    const char *text = arena_printf(arena, "%.*s", SLICE_FMT(buf_view(&out)));
    buf_release(&out);
    assert_non_null(text);
    return text;
}

#endif
