// `dolmen generate openapi`: the document that the server has under /v1/openapi.json for the same
// tables, with a member that says where it came from.
#include "generate/generate.h"

#include "data/openapi.h"
#include "write/walk.h"

void generate_openapi(struct writer *w)
{
    struct buf *out = w->out;
    struct buf document;
    size_t count = 0;
    const struct model_table **tables =
        arena_zalloc(w->arena, w->model->table_count + 1, sizeof(const struct model_table *));
    if (tables == NULL) {
        out->failed = true;
        return;
    }
    for (const struct model_table *table = NULL; (table = next_table(w, table)) != NULL;)
        tables[count++] = table;
    struct slice title = TEXT(w, "%s", text_stem(w->model)); // ends with a NUL
    buf_init(&document, out->max);
    model_openapi(count, tables, &(struct openapi_options){.title = (const char *)title.ptr},
                  &document);
    out->failed = out->failed || document.failed || document.len == 0;
    if (!out->failed) {
        PUT(w, "{\"x-generated\":%q,%s", text_banner(w),
            slice_of(document.ptr + 1, document.len - 1)); // behind its brace
        if (document.ptr[document.len - 1] != '\n')
            buf_byte(out, '\n');
    }
    buf_release(&document);
}
