// UpdateExpression: any text compiles or is refused; what compiles changes an item into a valid
// item or says why not, and leaves alone what it does not name.
#include "expr_sample.h"

static const char *const attributes[] = {"s", "n", "b", "ss",  "ns", "bs",
                                         "l", "m", "t", "nul", "zz", "alpha"};

struct compiled {
    const struct expr_update *update;
    bool defaults; // has an if_not_exists(), which makes types a guess
};

// Attributes that are not written are as before; a known type is the type that comes out.
static void check_result(const struct compiled *compiled, struct slice before, struct slice after)
{
    const struct expr_update *update = compiled->update;
    ensure(value_valid(after) && value_type(after) == VALUE_M);
    for (size_t i = 0; i < COUNT_OF(attributes); i++) {
        struct slice name = slice_str(attributes[i]);
        struct slice value = value_get(after, name);
        if (!expr_update_writes(update, name))
            ensure(slice_equal(value_get(before, name), value));
        enum value_type type = expr_update_type(update, name);
        if (type != VALUE_TYPES && value.len > 0 && !compiled->defaults)
            ensure(value_type(value) == type);
    }
}

static void apply(struct sample *sample, const struct compiled *compiled, struct slice item)
{
    const struct expr_update *update = compiled->update;
    struct error error;
    error_init(&error, &sample->fixture.arena);
    if (!expr_update_apply(update, item, sample_builder(sample), &sample->fixture.arena,
                           &(struct steps){0}, &error)) {
        sample_error(&error, VALUE_NONE);
        return;
    }
    struct slice after = fuzz_copy(buf_view(&sample->out));
    check_result(compiled, item, after);
    expr_project(expr_update_touched(update), after, sample_builder(sample), &(struct steps){0});
    ensure(value_valid(buf_view(&sample->out)));
    expr_project(expr_update_touched(update), item, sample_builder(sample), &(struct steps){0});
    ensure(value_valid(buf_view(&sample->out)));
    fuzz_free(after);
}

static void create(struct sample *sample, const struct compiled *compiled)
{
    struct error error;
    error_init(&error, &sample->fixture.arena);
    if (expr_update_apply(compiled->update, value_empty_map(), sample_builder(sample),
                          &sample->fixture.arena, &(struct steps){0}, &error)) {
        check_result(compiled, value_empty_map(), buf_view(&sample->out));
    } else {
        sample_error(&error, VALUE_NONE);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sample *sample = sample_begin();
    struct slice text = slice_of(data, size);
    struct expr_update *update = expr_compile_update(&sample->fixture.params, text);
    struct compiled compiled = {update, slice_contains(text, SLICE_LIT("if_not_exists"))};
    if (update == NULL) {
        sample_error(&sample->fixture.error, text);
    } else {
        for (size_t i = 0; i < COUNT_OF(sample->items); i++)
            apply(sample, &compiled, sample->items[i]);
        create(sample, &compiled);
        for (size_t i = 0; i < COUNT_OF(attributes); i++)
            (void)expr_update_nests(update, slice_str(attributes[i]));
    }
    return 0;
}
