// ConditionExpression and FilterExpression: any text compiles or is refused with a message, and
// what compiles can be evaluated on any item, with the same result every time.
#include "expr_sample.h"

static void check(struct sample *sample, struct slice text, enum expr_kind kind)
{
    ensure(fixture_begin(&sample->fixture));
    struct expr_condition *condition = expr_compile_condition(&sample->fixture.params, text, kind);
    if (condition == NULL) {
        sample_error(&sample->fixture.error, text);
        return;
    }
    ensure(sample->fixture.error.code == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(sample->items); i++) {
        bool first = expr_condition_eval(condition, sample->items[i], &(struct steps){0});
        ensure(expr_condition_eval(condition, sample->items[i], &(struct steps){0}) == first);
    }
    (void)expr_condition_eval(condition, VALUE_NONE, &(struct steps){0});
    (void)expr_condition_eval(condition, value_empty_map(), &(struct steps){0});
    size_t count = 0;
    (void)expr_condition_each(condition, sample_visit, &count);
    if (expr_condition_nests(condition, SLICE_LIT("m")))
        ensure(expr_condition_mentions(condition, SLICE_LIT("m")) && count > 0);
    if (!expr_params_finish(&sample->fixture.params))
        sample_error(&sample->fixture.error, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sample *sample = sample_begin();
    check(sample, slice_of(data, size), EXPR_CONDITION);
    check(sample, slice_of(data, size), EXPR_FILTER);
    return 0;
}
