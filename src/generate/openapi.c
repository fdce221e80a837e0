// `dolmen generate openapi`: the document that the server has under /v1/openapi.json for the same
// tables, with a member that says where it came from.
#include "generate/text.h"
#include "generate/walk.h"

#include "data/openapi.h"

void generate_openapi(const struct model *model, const struct generate_options *options,
                      struct buf *out)
{
    struct arena arena;
    struct buf document;
    struct buf banner;
    struct buf title;
    size_t count = 0;
    arena_init(&arena, 1 << 20);
    buf_init(&document, out->max);
    buf_init(&banner, 4096);
    buf_init(&title, 4096);
    const struct model_table **tables =
        arena_zalloc(&arena, model->table_count + 1, sizeof(const struct model_table *));
    for (size_t i = 0; tables != NULL && i < model->table_count; i++) {
        if (generate_wants(options, &model->tables[i]))
            tables[count++] = &model->tables[i];
    }
    text_banner(&banner, model);
    buf_slice(&title, generate_stem(model));
    buf_byte(&title, 0);
    struct openapi_options made = {.title = title.failed ? NULL : (const char *)title.ptr};
    if (tables != NULL)
        model_openapi(count, tables, &made, &document);
    out->failed = out->failed || tables == NULL || document.failed || document.len == 0;
    if (!out->failed) {
        buf_text(out, "{\"x-generated\":");
        text_quoted(out, buf_view(&banner));
        buf_byte(out, ',');
        buf_add(out, document.ptr + 1, document.len - 1); // behind its brace
        if (document.ptr[document.len - 1] != '\n')
            buf_byte(out, '\n');
    }
    buf_release(&title);
    buf_release(&banner);
    buf_release(&document);
    arena_release(&arena);
}
