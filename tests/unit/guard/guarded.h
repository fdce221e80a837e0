// A guard of a model in a test: a write is (before, after) and what is stored, or the message.
// Images are plain JSON.
#ifndef TESTS_GUARDED_H
#define TESTS_GUARDED_H

#include "guard/guard_support.h"

#include "guard/guard.h"

struct guarded {
    struct fixture fixture;
    struct guard *guard;
    struct arena arena;
    struct guard_write write;
    struct error error;
};

static void guarded_init(struct guarded *guarded, const char *text)
{
    fixture_init(&guarded->fixture, text);
    guarded->guard = model_guard_new(guarded->fixture.model, guarded->fixture.table);
    assert_non_null(guarded->guard);
    assert_ptr_equal(model_guard_table(guarded->guard), guarded->fixture.table);
    arena_init(&guarded->arena, FIXTURE_MEMORY);
}

static void guarded_release(struct guarded *guarded)
{
    guard_release(guarded->guard);
    arena_release(&guarded->arena);
    fixture_release(&guarded->fixture);
}

enum way { PUT, BATCH, UPDATE, TOUCH };

// The stored image as text, or the message. Puts are prepared as the server does it, and once more
// without, which must not make a difference.
static const char *write_once(struct guarded *guarded, enum way way, const char *before,
                              const char *after, bool prepare)
{
    arena_reset(&guarded->arena);
    error_init(&guarded->error, &guarded->fixture.arena);
    struct slice item = item_of(&guarded->fixture.arena, after);
    struct guard_settled settled = {.item = VALUE_NONE};
    if (prepare && !model_guard_prepare(guarded->guard, &guarded->fixture.env, &guarded->arena,
                                        NULL, &item, &settled, &guarded->error))
        return guarded->error.message;
    guarded->write = (struct guard_write){.is_put = way == PUT || way == BATCH,
                                          .batch = way == BATCH,
                                          .prepared = prepare,
                                          .settled = settled,
                                          .touch = way == TOUCH,
                                          .before = item_of(&guarded->fixture.arena, before),
                                          .env = &guarded->fixture.env,
                                          .arena = &guarded->arena,
                                          .after = item};
    if (!guarded->guard->ops->write(guarded->guard, &guarded->write, &guarded->error))
        return guarded->error.message;
    if (guarded->write.after.len > 0)
        assert_true(value_valid(guarded->write.after));
    return text_of(&guarded->fixture.arena, guarded->write.after);
}

static const char *written(struct guarded *guarded, enum way way, const char *before,
                           const char *after)
{
    guarded->fixture.clock.seed = 7;
    const char *whole = write_once(guarded, way, before, after, false);
    if (way != PUT && way != BATCH)
        return whole;
    guarded->fixture.clock.seed = 7;
    const char *prepared = write_once(guarded, way, before, after, true);
    // What is wrong with an item is found first, so that the messages may be shorter.
    if (whole[0] == '{')
        assert_string_equal(whole, prepared);
    else if (prepared[0] == '{')
        fail_msg("refused (%s), but not once prepared: %s", whole, prepared);
    return whole;
}

struct case_ {
    enum way way;
    const char *before;
    const char *after;
    const char *expected;
};

static inline void run_cases(const char *text, const struct case_ *cases, size_t count)
{
    struct guarded guarded;
    guarded_init(&guarded, text);
    for (size_t i = 0; i < count; i++) {
        const char *found = written(&guarded, cases[i].way, cases[i].before, cases[i].after);
        if (strcmp(found, cases[i].expected) != 0)
            fail_msg("case %zu: %s\nexpected %s\nfound    %s", i, cases[i].after, cases[i].expected,
                     found);
    }
    guarded_release(&guarded);
}

#define RUN(text, cases) run_cases(text, cases, sizeof(cases) / sizeof((cases)[0]))

#endif
