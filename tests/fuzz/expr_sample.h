// The request around a fuzzed expression: items with every type in them, and placeholders for
// each. The texts are those of tests/unit/expr.
#ifndef TESTS_FUZZ_EXPR_SAMPLE_H
#define TESTS_FUZZ_EXPR_SAMPLE_H

#include "fuzz.h"

#include "expr/fixture.h"
#include "expr/naive.h"

static const char sample_names[] = "#a=alpha #s=s #l=l #m=m #k=k #n=n #dot=a.b";

struct sample {
    struct fixture fixture;
    struct slice items[COUNT_OF(naive_items)];
    struct buf out;
    struct value_builder builder;
};

// Items and values never change, so all inputs share them: building them costs more than most
// inputs do.
static inline struct sample *sample_begin(void)
{
    static struct sample sample;
    static bool made;
    struct fixture *fixture = &sample.fixture;
    if (!made) {
        fixture_init(fixture);
        fixture_names(fixture, sample_names);
        fixture->values = fixture_value(fixture, naive_values);
        for (size_t i = 0; i < COUNT_OF(naive_items); i++)
            sample.items[i] = fixture_value(fixture, naive_items[i]);
        buf_init(&sample.out, 1 << 20);
        value_builder_init(&sample.builder, &sample.out);
        made = true;
    }
    ensure(fixture_begin(fixture));
    return &sample;
}

// A compiler gave up on the text: that is fine, if the client can be told.
static inline void sample_error(const struct error *error, struct slice text)
{
    fuzz_error(error);
    ensure(error->code == ERR_VALIDATION && error->message[0] != '\0');
    ensure(utf8_valid(slice_str(error->message)) || !utf8_valid(text));
}

// Forgets what was built before.
static inline struct value_builder *sample_builder(struct sample *sample)
{
    buf_clear(&sample->out);
    value_builder_reset(&sample->builder);
    return &sample->builder;
}

static inline bool sample_visit(void *context, struct slice attribute)
{
    size_t *count = context;
    ensure(utf8_valid(attribute));
    ++*count;
    return true;
}

#endif
