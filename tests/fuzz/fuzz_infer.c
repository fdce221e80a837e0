// Inference: whatever the items (lines of ordinary JSON), there is a proposal or a reason why not.
#include "fuzz.h"

#include "infer/infer.h"
#include "model/model.h"
#include "json/plain.h"

enum { ITEMS_MAX = 60 };

static void add_line(struct infer *infer, struct slice line)
{
    struct arena arena;
    struct buf item;
    struct value_builder builder;
    arena_init(&arena, FUZZ_BUDGET);
    buf_init(&item, 1 << 20);
    value_builder_init(&builder, &item);
    if (plain_read(line, &arena, &builder) == NULL && !item.failed && value_valid(buf_view(&item)))
        (void)infer_add(infer, buf_view(&item));
    value_builder_release(&builder);
    buf_release(&item);
    arena_release(&arena);
}

static void check_draft(const struct draft *draft)
{
    struct arena arena;
    struct buf out;
    arena_init(&arena, FUZZ_BUDGET);
    buf_init(&out, FUZZ_BUDGET);
    draft_write(draft, &out);
    struct diagnostics *faults = arena_alloc(&arena, sizeof(*faults));
    ensure(faults != NULL);
    diagnostics_init(faults, &arena);
    // Odd names may make it no model, which the command says.
    model_release(model_parse(SLICE_LIT("fuzz"), buf_view(&out), faults));
    buf_release(&out);
    arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = fuzz_copy(slice_of(data, size));
    struct slice in = text;
    struct infer_options options = {.table = SLICE_LIT("fuzzed"), .items_max = ITEMS_MAX};
    struct infer *infer = infer_new(&options);
    struct slice first = fuzz_line(&in);
    if (first.len > 0 && !infer_describe(infer, first))
        infer_keys(infer, SLICE_LIT("PK"), SLICE_LIT("SK"));
    while (in.len > 0)
        add_line(infer, fuzz_line(&in));
    struct draft *draft = NULL;
    const char *why = NULL;
    if (infer_finish(infer, &draft, &why))
        check_draft(draft);
    else
        ensure(why != NULL);
    infer_free(infer);
    fuzz_free(text);
    return 0;
}
