// Walking over the items of a table, and the samples that are kept of what was found.
#include "change/model.h"

#include "engine/layout.h"

enum { PAGE_ITEMS = 256, PAGE_MEMORY = 64 << 20 };

// Where a walk has come to: behind the last item, also at the end of the table. Whoever goes on
// after a kill does not meet the items of the last page again.
struct walked {
    bool (*visit)(void *context, struct slice item);
    void *context;
    const struct table *table;
    struct buf place;
};

static bool walked_visit(void *context, struct slice item)
{
    struct walked *walked = context;
    buf_clear(&walked->place);
    layout_item_key(&walked->place, walked->table->tree, &walked->table->keys, item);
    return walked->visit(walked->context, item);
}

bool model_walk(struct engine *engine, struct table *table, struct buf *after, uint64_t limit,
                bool (*visit)(void *context, struct slice item), void *context, bool *ended,
                struct error *error)
{
    struct arena arena;
    struct walked walked = {.visit = visit, .context = context, .table = table};
    arena_init(&arena, PAGE_MEMORY);
    buf_init(&walked.place, STORE_KEY_MAX);
    struct page_request page = {
        .table = table,
        .segments = 1,
        .after = buf_view(after),
        .limit = limit > 0 && limit < PAGE_ITEMS ? limit : PAGE_ITEMS,
        .emit = walked_visit,
        .context = &walked,
        .arena = &arena,
    };
    bool ok = engine_page(engine, &page, error);
    if (ok && walked.place.len > 0) {
        buf_clear(after);
        buf_slice(after, buf_view(&walked.place));
        ok = !(after->failed || walked.place.failed) || error_budget(error);
    }
    *ended = page.last.len == 0;
    buf_release(&walked.place);
    arena_release(&arena);
    return ok;
}

struct counting {
    bool (*visit)(void *context, struct slice item);
    void *context;
    uint64_t count;
};

static bool count_visit(void *context, struct slice item)
{
    struct counting *counting = context;
    counting->count++;
    return counting->visit(counting->context, item);
}

bool model_walk_most(struct engine *engine, struct table *table, uint64_t most,
                     bool (*visit)(void *context, struct slice item), void *context, bool *whole,
                     struct error *error)
{
    struct counting counting = {visit, context, 0};
    struct buf after;
    bool ok = true;
    *whole = false;
    buf_init(&after, STORE_KEY_MAX);
    while (ok && !*whole && (most == 0 || counting.count < most))
        ok = model_walk(engine, table, &after, most == 0 ? 0 : most - counting.count, count_visit,
                        &counting, whole, error);
    buf_release(&after);
    return ok;
}

struct slice model_key_of(const struct table *table, struct slice item, struct arena *arena)
{
    struct value_maker maker;
    value_begin(&maker, 1 << 16);
    value_open_map(&maker.b);
    for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count; i++) {
        value_name(&maker.b, table->keys.parts[i].name);
        value_put(&maker.b, value_get(item, table->keys.parts[i].name));
    }
    return value_end(&maker, arena);
}

bool model_item_now(struct engine *engine, const struct table *table, struct arena *arena,
                    struct slice *item, struct error *error)
{
    struct item_read read;
    struct slice key = work_item_key(table, *item, arena);
    if (key.ptr == NULL)
        return error_budget(error);
    if (!engine_get(engine, NULL, key, &read, error))
        return false;
    *item = read.item.len == 0 ? VALUE_NONE : arena_copy(arena, read.item);
    bool ok = read.item.len == 0 || item->ptr != NULL || error_budget(error);
    item_read_release(engine, &read);
    return ok;
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
