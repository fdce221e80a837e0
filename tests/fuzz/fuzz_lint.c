// Lint: whatever the model, each rule ends, says where and what to do, and what is ignored in the
// file is silent; costs and the JSON of both can be written.
#include "fuzz.h"

#include "lint/cost.h"
#include "lint/lint.h"

static void check_findings(const struct model *model, const struct lint *lint)
{
    struct buf out;
    buf_init(&out, FUZZ_BUDGET);
    ensure(lint->warnings + lint->notes + lint->suppressed == lint->count);
    for (size_t i = 0; i < lint->count; i++) {
        const struct lint_finding *finding = &lint->findings[i];
        ensure(finding->diagnostic.at.line > 0);
        ensure(finding->diagnostic.message[0] != 0 && finding->diagnostic.help[0] != 0);
        if (i < 50)
            lint_show(finding, model, &out);
    }
    lint_json(lint, &out);
    for (size_t i = 0; i < model->table_count; i++) {
        cost_show(&model->tables[i], NULL, &out);
        cost_json(&model->tables[i], NULL, &out);
    }
    buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct slice text = fuzz_copy(slice_of(data, size));
    arena_init(&arena, FUZZ_BUDGET);
    struct diagnostics *faults = arena_alloc(&arena, sizeof(*faults));
    ensure(faults != NULL);
    diagnostics_init(faults, &arena);
    struct model *model = model_parse(SLICE_LIT("fuzz"), text, faults);
    fuzz_free(text);
    if (model != NULL) {
        struct lint lint;
        if (lint_run(model, &arena, &lint))
            check_findings(model, &lint);
    }
    model_release(model);
    arena_release(&arena);
    return 0;
}
