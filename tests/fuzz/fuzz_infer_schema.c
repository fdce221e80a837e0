// Schemas of other tools: any text is read or refused with a place, and any tree becomes a draft
// or is refused with a sentence, whichever importer it is given to.
#include "fuzz.h"

#include "infer/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct slice text = fuzz_copy(slice_of(data, size));
    arena_init(&arena, SIZE_MAX);
    struct tree_error error = {.message = NULL};
    const struct tree *tree = tree_read(text, &arena, &error);
    ensure(tree != NULL || (error.message != NULL && error.line > 0 && error.column > 0));
    for (const struct import_format *format = import_formats; tree != NULL && format->name != NULL;
         format++) {
        struct draft draft;
        const char *why = NULL;
        struct buf out;
        buf_init(&out, FUZZ_BUDGET);
        draft_init(&draft, &arena);
        if (format->read(tree, SLICE_LIT("Some"), &draft, &why))
            draft_write(&draft, &out);
        else
            ensure(why != NULL);
        buf_release(&out);
    }
    arena_release(&arena);
    fuzz_free(text);
    return 0;
}
