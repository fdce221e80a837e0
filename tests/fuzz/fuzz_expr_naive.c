// Differential: the input's bytes decide which condition naive.h makes, with its truth; the
// compiled program must find the same.
#include "expr_sample.h"

enum { DEPTH = 6, TEXT_MAX = 4096 };

static size_t draw(void *source, size_t bound)
{
    return fuzz_byte(source) % bound;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    struct sample *sample = sample_begin();
    static struct naive naive; // large: not for the stack
    naive = (struct naive){.values = sample->fixture.values, .below = draw, .source = &in};
    buf_init(&naive.text, TEXT_MAX);
    size_t item = fuzz_byte(&in) % (COUNT_OF(sample->items) + 1);
    naive.item = item < COUNT_OF(sample->items) ? sample->items[item] : VALUE_NONE;
    bool expected = naive_condition(&naive, DEPTH);
    if (!naive.text.failed) {
        struct expr_condition *condition =
            expr_compile_condition(&sample->fixture.params, buf_view(&naive.text), EXPR_FILTER);
        bool same = condition != NULL &&
                    expr_condition_eval(condition, naive.item, &(struct steps){0}) == expected;
        if (!same)
            (void)fprintf(stderr, "expected %d: %.*s: %s\n", expected,
                          SLICE_FMT(buf_view(&naive.text)), fixture_message(&sample->fixture));
        ensure(same);
    }
    buf_release(&naive.text);
    return 0;
}
