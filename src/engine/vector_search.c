// Searching a vector index: every vector of the range is compared, so that the result is exact,
// and the best few are kept in a heap whose root is the worst of them. Only these are then read
// from the table, on the same snapshot.
#include "engine/vector.h"

#include "engine/engine_internal.h"
#include "engine/vector_math.h"

#include <stdlib.h>

// One of the best so far.
struct candidate {
    double rank;    // the smaller, the better
    uint64_t order; // the place in the range: of equal ranks the first is the better one
    struct buf key;
};

struct finder {
    struct engine *engine;
    struct vector_search *search;
    struct error *error;
    struct store_snapshot *snapshot;
    struct store_cursor *cursor;
    struct vector_query query;
    size_t prefix;   // bytes of an entry's key before the item's
    struct buf bare; // scratch: the key of an item
    size_t count;
    struct candidate *heap[LIMIT_TOP_K];
    struct candidate room[LIMIT_TOP_K];
};

// ---- The best so far ------------------------------------------------------------------------

static bool is_worse(const struct candidate *a, const struct candidate *b)
{
    return a->rank > b->rank || (a->rank == b->rank && a->order > b->order);
}

static void heap_swap(struct finder *finder, size_t a, size_t b)
{
    struct candidate *kept = finder->heap[a];
    finder->heap[a] = finder->heap[b];
    finder->heap[b] = kept;
}

static void heap_rise(struct finder *finder, size_t at)
{
    while (at > 0 && is_worse(finder->heap[at], finder->heap[(at - 1) / 2])) {
        heap_swap(finder, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static void heap_sink(struct finder *finder)
{
    size_t at = 0;
    while (true) {
        size_t worst = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < finder->count; child++) {
            if (is_worse(finder->heap[child], finder->heap[worst]))
                worst = child;
        }
        if (worst == at)
            return;
        heap_swap(finder, at, worst);
        at = worst;
    }
}

// The entries come in order, so that one that is as good as the worst is no better.
static void heap_offer(struct finder *finder, double rank, uint64_t order, struct slice key)
{
    bool full = finder->count == finder->search->top;
    if (full && rank >= finder->heap[0]->rank)
        return;
    struct candidate *candidate = full ? finder->heap[0] : &finder->room[finder->count];
    candidate->rank = rank;
    candidate->order = order;
    buf_clear(&candidate->key);
    buf_slice(&candidate->key, key);
    if (full) {
        heap_sink(finder);
    } else {
        finder->heap[finder->count++] = candidate;
        heap_rise(finder, finder->count - 1);
    }
}

// ---- Comparing ------------------------------------------------------------------------------

static bool passes(const struct vector_search *search, struct slice entry)
{
    size_t packed = search->index->dimensions * sizeof(float);
    struct slice filters = slice_of(entry.ptr + packed, entry.len - packed);
    for (size_t i = 0; i < search->filter_count; i++) {
        if (!value_equal(value_get(filters, search->filters[i].attribute),
                         search->filters[i].value))
            return false;
    }
    return true;
}

// Whether the reader may know of the item whose entry the cursor stands at.
static bool is_visible(struct finder *finder, uint64_t *work)
{
    const struct vector_search *search = finder->search;
    struct slice key = store_cursor_key(finder->cursor);
    size_t before = finder->prefix + LAYOUT_PREFIX - LAYOUT_TREE;
    struct value_builder builder;
    if (search->reader == NULL)
        return true;
    buf_clear(&finder->bare);
    value_builder_init(&builder, &finder->bare);
    layout_bare_key(&builder, search->table, slice_of(key.ptr + before, key.len - before));
    value_builder_release(&builder);
    work_spend_looks(work, search->table->guard);
    return guard_shows(search->table->guard, search->reader, buf_view(&finder->bare));
}

// The item of an entry: the table's tree, then what stands behind the prefix of the entry.
static bool get_item(struct finder *finder, struct slice entry, struct item_read *read)
{
    struct buf key;
    buf_init(&key, 1 << 16);
    layout_tree_key(&key, finder->search->table->tree,
                    slice_of(entry.ptr + finder->prefix, entry.len - finder->prefix));
    bool ok = engine_get(finder->engine, finder->snapshot, buf_view(&key), read, finder->error);
    buf_release(&key);
    return ok;
}

// Whether the index would have the item if what is hidden were not in it.
static bool veil_leaves(const struct vector_search *search, const struct guard_veil *veil)
{
    const struct vector_index *index = search->index;
    const struct key_schema *keys = &index->base.keys;
    if (guard_veil_has(veil, index->attribute))
        return false;
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        if (guard_veil_has(veil, keys->parts[i].name))
            return false;
    }
    for (size_t i = 0; i < search->filter_count; i++) {
        if (guard_veil_has(veil, search->filters[i].attribute))
            return false;
    }
    return true;
}

// Whether policies let the reader know of the item whose entry the cursor stands at.
static bool policies_show(struct finder *finder, uint64_t *work, bool *visible)
{
    const struct vector_search *search = finder->search;
    struct item_read read;
    struct guard_veil veil;
    if (!*visible || !guard_binds(search->table->guard, search->reader))
        return true;
    if (!get_item(finder, store_cursor_key(finder->cursor), &read))
        return false;
    work_spend_looks(work, search->table->guard);
    *visible =
        read.item.len > 0 &&
        guard_sight(search->table->guard, search->reader, read.item, &veil) != GUARD_SEES_NOTHING &&
        veil_leaves(search, &veil);
    *work -= read.item.len < *work ? read.item.len : *work;
    item_read_release(finder->engine, &read);
    return true;
}

static enum read_step compare_slice(struct finder *finder, uint64_t *work)
{
    struct vector_search *search = finder->search;
    struct store_cursor *cursor = finder->cursor;
    bool smaller = vector_smaller_is_better(search->index->distance);
    for (; store_cursor_valid(cursor); store_cursor_next(cursor)) {
        struct slice entry = store_cursor_value(cursor);
        if (!work_spend(work, entry.len))
            return READ_MORE;
        bool visible = is_visible(finder, work);
        if (!policies_show(finder, work, &visible))
            return READ_FAILED;
        if (!visible)
            continue;
        search->bytes += entry.len;
        if (search->filter_count > 0 && !passes(search, entry))
            continue;
        double score = vector_query_score(&finder->query, entry.ptr);
        heap_offer(finder, smaller ? score : -score, search->compared++, store_cursor_key(cursor));
    }
    return engine_cursor_ok(cursor, finder->error) ? READ_DONE : READ_FAILED;
}

// A cursor over everything in the index, or in one partition of it.
static void open_range(struct finder *finder)
{
    struct vector_search *search = finder->search;
    struct buf lower;
    struct buf upper;
    buf_init(&lower, 1 << 16);
    buf_init(&upper, 1 << 16);
    if (search->partition.len > 0)
        layout_partition(&lower, search->index->base.tree, &search->partition, 1);
    else
        layout_tree_key(&lower, search->index->base.tree, slice_of(NULL, 0));
    finder->prefix = lower.len;
    buf_slice(&upper, buf_view(&lower));
    ensure(!lower.failed && key_successor(&upper) && !upper.failed);
    finder->cursor = store_cursor_open(finder->engine->store, finder->snapshot, buf_view(&lower),
                                       buf_view(&upper));
    store_cursor_first(finder->cursor);
    buf_release(&lower);
    buf_release(&upper);
}

// ---- Answering ------------------------------------------------------------------------------

static int by_rank(const void *a, const void *b)
{
    const struct candidate *const *left = a;
    const struct candidate *const *right = b;
    return is_worse(*left, *right) ? 1 : -1;
}

static void project(struct value_builder *builder, const struct vector_search *search,
                    struct slice item)
{
    struct value_iter iter;
    value_open_map(builder);
    value_iter_init(&iter, item);
    while (value_iter_next(&iter)) {
        if (vector_projects(search->table, search->index, iter.name)) {
            value_name(builder, iter.name);
            value_put(builder, iter.value);
        }
    }
    (void)value_close(builder);
}

static bool keep_item(struct finder *finder, struct slice item, struct slice *out)
{
    struct vector_search *search = finder->search;
    if (search->index->base.projection == PROJECT_ALL) {
        *out = arena_copy(search->arena, item);
        return out->ptr != NULL || error_budget(finder->error);
    }
    struct value_maker maker;
    value_begin(&maker, 64 << 20);
    project(&maker.b, search, item);
    *out = value_end(&maker, search->arena);
    return out->ptr != NULL || error_budget(finder->error);
}

// The item of a candidate. It is missing only if the index or the table has been deleted since the
// search began.
static bool read_item(struct finder *finder, struct candidate *candidate, struct slice *out)
{
    const struct vector_search *search = finder->search;
    struct item_read read;
    struct guard_veil veil;
    if (!get_item(finder, buf_view(&candidate->key), &read))
        return false;
    bool ok = true;
    if (read.item.len > 0 &&
        guard_sight(search->table->guard, search->reader, read.item, &veil) == GUARD_SEES_PART) {
        struct slice left = guard_veiled(&veil, read.item, search->arena);
        ok = left.len > 0 ? keep_item(finder, left, out) : error_budget(finder->error);
    } else if (read.item.len > 0) {
        ok = keep_item(finder, read.item, out);
    }
    item_read_release(finder->engine, &read);
    return ok;
}

static bool answer(struct finder *finder)
{
    struct vector_search *search = finder->search;
    search->hits = arena_zalloc(search->arena, finder->count + 1, sizeof(*search->hits));
    if (search->hits == NULL)
        return error_budget(finder->error);
    qsort(finder->heap, finder->count, sizeof(finder->heap[0]), by_rank);
    bool smaller = vector_smaller_is_better(search->index->distance);
    for (size_t i = 0; i < finder->count; i++) {
        struct vector_hit *hit = &search->hits[search->count];
        hit->item = VALUE_NONE;
        hit->score = smaller ? finder->heap[i]->rank : -finder->heap[i]->rank;
        if (!read_item(finder, finder->heap[i], &hit->item))
            return false;
        if (hit->item.len > 0)
            search->count++;
    }
    return true;
}

// ---- Slices ---------------------------------------------------------------------------------

static struct finder *finder_open(struct engine *engine, struct vector_search *search,
                                  struct error *error)
{
    ensure(search->top >= 1 && search->top <= LIMIT_TOP_K);
    struct finder *finder = memory_zeroed(sizeof(*finder));
    finder->engine = engine;
    finder->search = search;
    finder->error = error;
    for (size_t i = 0; i < LIMIT_TOP_K; i++)
        buf_init(&finder->room[i].key, 1 << 16);
    buf_init(&finder->bare, 1 << 16);
    vector_query_init(&finder->query, search->index->distance, search->vector,
                      search->index->dimensions);
    finder->snapshot = store_snapshot_take(engine->store);
    open_range(finder);
    return finder;
}

void engine_search_close(struct engine *engine, struct vector_search *search)
{
    struct finder *finder = search->finder;
    if (finder == NULL)
        return;
    store_cursor_close(finder->cursor);
    store_snapshot_release(engine->store, finder->snapshot);
    for (size_t i = 0; i < LIMIT_TOP_K; i++)
        buf_release(&finder->room[i].key);
    buf_release(&finder->bare);
    free(finder);
    search->finder = NULL;
}

enum read_step engine_search_run(struct engine *engine, struct vector_search *search,
                                 uint64_t *work, struct error *error)
{
    if (search->finder == NULL)
        search->finder = finder_open(engine, search, error);
    enum read_step step = compare_slice(search->finder, work);
    if (step == READ_DONE && !answer(search->finder))
        step = READ_FAILED;
    if (step != READ_MORE)
        engine_search_close(engine, search);
    return step;
}
