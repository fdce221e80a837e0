// Walking over the items of a table, and the samples that are kept of what was found.
#include "change/model.h"

#include "engine/layout.h"

enum { PAGE_ITEMS = 256, PAGE_MEMORY = 64 << 20 };

bool model_walk(struct engine *engine, struct table *table, struct buf *after, uint64_t limit,
                bool (*visit)(void *context, struct slice item), void *context, bool *ended,
                struct error *error)
{
    struct arena arena;
    arena_init(&arena, PAGE_MEMORY);
    struct page_request page = {
        .table = table,
        .segments = 1,
        .after = buf_view(after),
        .limit = limit > 0 && limit < PAGE_ITEMS ? limit : PAGE_ITEMS,
        .emit = visit,
        .context = context,
        .arena = &arena,
    };
    bool ok = engine_page(engine, &page, error);
    if (ok && page.last.len > 0) {
        buf_clear(after);
        layout_item_key(after, table->tree, &table->keys, page.last);
        ok = !after->failed || error_budget(error);
    }
    *ended = page.last.len == 0;
    arena_release(&arena);
    return ok;
}

struct slice model_key_of(const struct table *table, struct slice item, struct arena *arena)
{
    struct buf bytes;
    struct value_builder b;
    buf_init(&bytes, 1 << 16);
    value_builder_init(&b, &bytes);
    value_open_map(&b);
    for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count; i++) {
        value_name(&b, table->keys.parts[i].name);
        value_put(&b, value_get(item, table->keys.parts[i].name));
    }
    (void)value_close(&b);
    struct slice key = bytes.failed ? slice_of(NULL, 0) : arena_copy(arena, buf_view(&bytes));
    value_builder_release(&b);
    buf_release(&bytes);
    return key;
}

// ---- Samples ----------------------------------------------------------------------------------

void model_sample_add(struct model_samples *samples, struct arena *arena, struct slice key,
                      struct slice text)
{
    if (samples->count == MODEL_SAMPLES)
        return;
    struct model_sample sample = {arena_copy(arena, key), arena_copy(arena, text)};
    if (sample.key.ptr != NULL && sample.text.ptr != NULL)
        samples->list[samples->count++] = sample;
}

void model_samples_encode(struct map_maker *maker, const char *name,
                          const struct model_samples *samples)
{
    struct value_builder *b = &maker->b;
    if (samples->count == 0)
        return;
    value_name(b, slice_str(name));
    value_open_list(b);
    for (size_t i = 0; i < samples->count; i++) {
        value_open_map(b);
        value_name(b, SLICE_LIT("key"));
        value_put(b, samples->list[i].key);
        value_name(b, SLICE_LIT("text"));
        value_put_string(b, samples->list[i].text);
        (void)value_close(b);
    }
    (void)value_close(b);
}

void model_samples_decode(struct slice list, struct model_samples *out)
{
    struct value_iter iter;
    out->count = 0;
    if (list.len == 0 || value_type(list) != VALUE_L)
        return;
    value_iter_init(&iter, list);
    while (out->count < MODEL_SAMPLES && value_iter_next(&iter))
        out->list[out->count++] = (struct model_sample){map_value(iter.value, SLICE_LIT("key")),
                                                        map_text(iter.value, "text")};
}
