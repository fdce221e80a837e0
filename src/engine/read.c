// Reading items: one by its key, or a page of a Query or Scan. Everything happens on the
// caller's thread against a snapshot of the store; items are handed out in place, without a copy.
#include "base/encode.h"
#include "base/log.h"
#include "engine/engine_internal.h"

bool engine_get(struct engine *engine, struct store_snapshot *snapshot, struct slice tree_key,
                struct item_read *out, struct error *error)
{
    *out = (struct item_read){.item = VALUE_NONE};
    struct store_error cause;
    switch (store_get(engine->store, snapshot, tree_key, &out->pin, &cause)) {
    case STORE_FAILED:
        return engine_store_failed(error, &cause);
    case STORE_FOUND:
        out->item = record_item(out->pin.bytes);
        out->size = record_size(out->pin.bytes);
        break;
    case STORE_ABSENT:
        break;
    }
    return true;
}

struct item_read item_read_of(const struct store_read *read)
{
    struct item_read item = {.item = VALUE_NONE};
    if (read->found) {
        item.pin = read->value;
        item.item = record_item(read->value.bytes);
        item.size = record_size(read->value.bytes);
    }
    return item;
}

bool engine_get_many(struct engine *engine, struct store_snapshot *snapshot,
                     const struct slice *tree_keys, size_t *count, size_t bytes,
                     struct item_read *out, struct error *error)
{
    struct store_read reads[LIMIT_BATCH_GET];
    struct store_error cause;
    if (*count > COUNT_OF(reads))
        *count = COUNT_OF(reads);
    for (size_t i = 0; i < *count; i++)
        reads[i] = (struct store_read){.key = tree_keys[i]};
    if (!store_get_first(engine->store, snapshot, reads, count, bytes, &cause))
        return engine_store_failed(error, &cause);
    for (size_t i = 0; i < *count; i++)
        out[i] = item_read_of(&reads[i]);
    return true;
}

void item_read_release(struct engine *engine, struct item_read *read)
{
    store_value_release(engine->store, &read->pin);
    *read = (struct item_read){.item = VALUE_NONE};
}

// ---- Bounds ------------------------------------------------------------------------------

struct bounds {
    struct buf lower;
    struct buf upper;
};

static void successor(struct buf *key)
{
    // Tree ids never reach 0xffffffff, so there always is one.
    ensure(key_successor(key));
}

static void copy_buf(struct buf *to, const struct buf *from)
{
    buf_clear(to);
    buf_slice(to, buf_view(from));
}

// The keys of a Query: a partition, equalities, and at most one other operation.
static void query_bounds(const struct page_request *page, tree_id tree,
                         const struct key_schema *keys, struct bounds *bounds)
{
    const struct key_range *range = &page->range;
    struct buf *lower = &bounds->lower;
    struct buf *upper = &bounds->upper;
    layout_partition(lower, tree, range->hash, keys->hash_count);
    for (size_t i = 0; i < range->range_equal; i++)
        key_encode(lower, range->range[i]);
    copy_buf(upper, lower);
    enum key_op op = range->op;
    if (op == KEY_GT || op == KEY_GE || op == KEY_BETWEEN)
        key_encode(lower, range->bounds[0]);
    if (op == KEY_LT || op == KEY_LE || op == KEY_BETWEEN)
        key_encode(upper, range->bounds[op == KEY_BETWEEN]);
    if (op == KEY_BEGINS) {
        key_encode_prefix(lower, range->bounds[0]);
        copy_buf(upper, lower);
    }
    if (op == KEY_GT)
        successor(lower);
    // Below what is less; else behind all keys that begin with the upper one.
    if (op != KEY_LT)
        successor(upper);
}

static void put_scan_bound(struct buf *out, tree_id tree, uint64_t hash)
{
    uint8_t bytes[LAYOUT_PREFIX];
    be32_put(bytes, tree);
    be64_put(bytes + 4, hash);
    buf_add(out, bytes, sizeof(bytes));
}

// The keys of a Scan: a tree, or a segment's run of hashes in it.
static void scan_bounds(const struct page_request *page, tree_id tree, struct bounds *bounds)
{
    put_scan_bound(&bounds->lower, tree, layout_segment_start(page->segment, page->segments));
    if (page->segment + 1 == page->segments)
        put_scan_bound(&bounds->upper, tree + 1, 0);
    else
        put_scan_bound(&bounds->upper, tree,
                       layout_segment_start(page->segment + 1, page->segments));
}

// ---- Pages --------------------------------------------------------------------------------

// Where the reading of one page stands between two slices.
struct page_walk {
    struct store_snapshot *snapshot; // of an index, whose entries may refer to its table's items
    struct store_cursor *cursor;
    struct buf key; // scratch, as is
    struct buf view;
    struct buf veiled; // an item without what is hidden from the reader
};

// One slice of it.
struct walk {
    struct engine *engine;
    struct page_request *page;
    struct page_walk *at;
    uint64_t *work;
    struct error *error;
    struct guard_veil veil; // over the item at the cursor
};

static void start_walk(const struct page_request *page, struct store_cursor *cursor)
{
    struct slice after = page->after;
    if (!page->reverse) {
        store_cursor_behind(cursor, after);
        return;
    }
    if (after.len == 0)
        store_cursor_last(cursor);
    else
        store_cursor_seek_before(cursor, after);
    if (after.len > 0 && store_cursor_valid(cursor) && slice_equal(store_cursor_key(cursor), after))
        store_cursor_prev(cursor);
}

// The key attributes of table and index, as an item in the page's arena.
static bool keep_last(struct walk *walk, struct slice item)
{
    const struct page_request *page = walk->page;
    struct value_builder builder;
    buf_clear(&walk->at->key);
    value_builder_init(&builder, &walk->at->key);
    value_open_map(&builder);
    struct value_iter iter;
    value_iter_init(&iter, item);
    while (value_iter_next(&iter)) {
        if (key_schema_has(&page->table->keys, iter.name) ||
            (page->index != NULL && key_schema_has(&page->index->keys, iter.name))) {
            value_name(&builder, iter.name);
            value_put(&builder, iter.value);
        }
    }
    (void)value_close(&builder);
    value_builder_release(&builder);
    if (walk->at->key.failed)
        return error_budget(walk->error);
    walk->page->last = arena_copy(page->arena, buf_view(&walk->at->key));
    return walk->page->last.ptr != NULL || error_budget(walk->error);
}

// Whether the page ends with the item it has just read, which is part of it; whether more follow is
// not looked at: so does AWS. What was fetched counts as well, and a filter that asks too much of
// its items ends the page early, so that others get their turn.
static bool is_full(const struct page_request *page)
{
    return page->scanned == page->limit || page->bytes + page->fetched_bytes >= LIMIT_PAGE ||
           page->steps.taken >= LIMIT_PAGE_WORK;
}

// A slice's work is about a nanosecond a unit, and a step about four.
static void spend_steps(uint64_t *work, uint64_t steps)
{
    *work -= steps * 4 < *work ? steps * 4 : *work;
}

static bool offer(struct walk *walk, struct slice item)
{
    struct page_request *page = walk->page;
    uint64_t before = page->steps.taken;
    bool ok = true;
    if (page->filter == NULL || expr_condition_eval(page->filter, item, &page->steps)) {
        page->matched++;
        ok = page->emit(page->context, item);
    }
    spend_steps(walk->work, page->steps.taken - before);
    return ok;
}

static bool is_current(struct engine *engine, const struct table *table)
{
    struct table *current = engine_table(engine, table->name);
    bool same = current != NULL && current->tree == table->tree;
    if (current != NULL)
        table_release(current);
    return same;
}

// The table's item that an entry refers to, or is of, in the same snapshot.
static bool fetch(struct walk *walk, struct slice record, struct item_read *read)
{
    const struct page_request *page = walk->page;
    struct buf *key = &walk->at->key;
    buf_clear(key);
    if (record_refers(record))
        layout_referred_key(key, page->table, page->index, store_cursor_key(walk->at->cursor),
                            record);
    else
        layout_item_key(key, page->table->tree, &page->table->keys, record_item(record));
    if (!engine_get(walk->engine, walk->at->snapshot, buf_view(key), read, walk->error))
        return false;
    if (read->item.len > 0)
        return true;
    if (!is_current(walk->engine, page->table)) // its trees are being emptied
        return error_set(walk->error, ERR_RESOURCE_NOT_FOUND, "Requested resource not found");
    log_error("index %.*s of table %.*s has an entry without an item", SLICE_FMT(page->index->name),
              SLICE_FMT(page->table->name));
    return error_set(walk->error, ERR_DAMAGED, "The index does not agree with its table.");
}

// The item as the page's index sees it, in walk->at->view if it is not all of it.
static struct slice index_view(struct walk *walk, struct slice item)
{
    if (walk->page->index->projection == PROJECT_ALL)
        return item;
    struct value_builder builder;
    buf_clear(&walk->at->view);
    value_builder_init(&builder, &walk->at->view);
    layout_index_view(&builder, walk->page->table, walk->page->index, item);
    value_builder_release(&builder);
    ensure(!walk->at->view.failed);
    return buf_view(&walk->at->view);
}

// Whether the reader may know of the item that the cursor stands at. What an entry holds has the
// item's key; that of one which only refers to the item is in its own.
static bool is_visible(struct walk *walk, struct slice record)
{
    const struct page_request *page = walk->page;
    struct slice item = record_item(record);
    if (page->index != NULL && record_refers(record)) {
        struct value_builder builder;
        buf_clear(&walk->at->view);
        value_builder_init(&builder, &walk->at->view);
        layout_bare_key(&builder, page->table,
                        layout_entry_keys(page->index, store_cursor_key(walk->at->cursor)));
        value_builder_release(&builder);
        item = buf_view(&walk->at->view);
    }
    work_spend_looks(walk->work, page->table->guard);
    return guard_shows(page->table->guard, page->reader, item);
}

static bool hides_key(const struct walk *walk)
{
    const struct index *index = walk->page->index;
    for (size_t i = 0; index != NULL && i < index->keys.hash_count + index->keys.range_count; i++) {
        if (guard_veil_has(&walk->veil, index->keys.parts[i].name))
            return true;
    }
    return false;
}

// Whether policies let the reader know of the item that the cursor stands at, and with what veil
// over it. They are judged by the whole item: what an index does not have of it is fetched. An item
// is not in an index whose key is hidden.
static bool policies_show(struct walk *walk, struct slice record, bool *visible)
{
    struct page_request *page = walk->page;
    struct slice item = record_item(record);
    struct item_read read = {.item = VALUE_NONE};
    if (!guard_binds(page->table->guard, page->reader))
        return true;
    if (page->index != NULL && (record_refers(record) || page->index->projection != PROJECT_ALL)) {
        if (!fetch(walk, record, &read))
            return false;
        item = read.item;
        *walk->work -= item.len < *walk->work ? item.len : *walk->work;
    }
    work_spend_looks(walk->work, page->table->guard);
    *visible =
        guard_sight(page->table->guard, page->reader, item, &walk->veil) != GUARD_SEES_NOTHING &&
        !hides_key(walk);
    item_read_release(walk->engine, &read);
    return true;
}

static struct slice put_veil(struct walk *walk, struct slice item)
{
    struct value_builder builder;
    if (walk->veil.count == 0)
        return item;
    buf_clear(&walk->at->veiled);
    value_builder_init(&builder, &walk->at->veiled);
    guard_veil_put(&walk->veil, item, &builder);
    value_builder_release(&builder);
    ensure(!walk->at->veiled.failed);
    return buf_view(&walk->at->veiled);
}

// The item that the cursor stands at counts, and is handed out. What is not in the entry is
// fetched: all of an item to which it refers, or what a local index does not project.
static bool take(struct walk *walk)
{
    struct page_request *page = walk->page;
    struct slice record = store_cursor_value(walk->at->cursor);
    struct slice item = record_item(record);
    struct item_read read = {.item = VALUE_NONE};
    page->scanned++;
    page->bytes += record_size(record);
    if (page->index != NULL && (page->fetch || record_refers(record))) {
        if (!fetch(walk, record, &read))
            return false;
        item = page->fetch ? read.item : index_view(walk, read.item);
        *walk->work -= read.item.len < *walk->work ? read.item.len : *walk->work;
    }
    if (page->fetch) {
        page->fetched_units += read.size <= 4096 ? 1 : (read.size + 4095) / 4096;
        page->fetched_bytes += read.size;
    }
    item = put_veil(walk, item);
    bool ok = offer(walk, item) && (!is_full(page) || keep_last(walk, item));
    item_read_release(walk->engine, &read);
    return ok;
}

// What it costs to pass over deleted keys until the cursor pauses, as work of a slice.
enum { DELETED_WORK = 256 << 10 };

static enum read_step walk_slice(struct walk *walk)
{
    struct page_request *page = walk->page;
    struct store_cursor *cursor = walk->at->cursor;
    while (store_cursor_valid(cursor) || store_cursor_paused(cursor)) {
        if (store_cursor_paused(cursor)) { // among deleted keys
            if (!work_spend(walk->work, DELETED_WORK))
                return READ_MORE;
            store_cursor_resume(cursor);
            continue;
        }
        struct slice record = store_cursor_value(cursor);
        if (!work_spend(walk->work, record.len))
            return READ_MORE;
        bool visible = page->reader == NULL || is_visible(walk, record);
        if (visible && page->reader != NULL && !policies_show(walk, record, &visible))
            return READ_FAILED;
        if (visible && !take(walk))
            return READ_FAILED;
        if (visible && is_full(page))
            return READ_DONE;
        if (page->reverse)
            store_cursor_prev(cursor);
        else
            store_cursor_next(cursor);
    }
    return engine_cursor_ok(cursor, walk->error) ? READ_DONE : READ_FAILED;
}

static void make_bounds(const struct page_request *page, struct bounds *bounds)
{
    tree_id tree = page->index != NULL ? page->index->tree : page->table->tree;
    const struct key_schema *keys = page->index != NULL ? &page->index->keys : &page->table->keys;
    buf_init(&bounds->lower, 1 << 16);
    buf_init(&bounds->upper, 1 << 16);
    if (page->query)
        query_bounds(page, tree, keys, bounds);
    else
        scan_bounds(page, tree, bounds);
}

static void release_bounds(struct bounds *bounds)
{
    buf_release(&bounds->lower);
    buf_release(&bounds->upper);
}

void engine_page_bounds(const struct page_request *page, struct buf *lower, struct buf *upper)
{
    struct bounds bounds;
    make_bounds(page, &bounds);
    buf_clear(lower);
    buf_clear(upper);
    buf_slice(lower, buf_view(&bounds.lower));
    buf_slice(upper, buf_view(&bounds.upper));
    release_bounds(&bounds);
}

static bool is_inside(const struct bounds *bounds, struct slice key)
{
    return slice_compare(key, buf_view(&bounds->lower)) >= 0 &&
           slice_compare(key, buf_view(&bounds->upper)) < 0;
}

enum page_place engine_page_admits(const struct page_request *page)
{
    struct bounds bounds;
    make_bounds(page, &bounds);
    bool inside = is_inside(&bounds, page->after);
    release_bounds(&bounds);
    if (inside)
        return PAGE_INSIDE;
    if (!page->query)
        return PAGE_OTHER_SEGMENT;
    // Outside of the range, but in the partition?
    struct page_request partition = *page;
    partition.range.range_equal = 0;
    partition.range.op = KEY_NONE;
    make_bounds(&partition, &bounds);
    inside = is_inside(&bounds, page->after);
    release_bounds(&bounds);
    return inside ? PAGE_OUTSIDE_RANGE : PAGE_OTHER_PARTITION;
}

// Whether there can be something for the reader: where nothing can, nothing is read, so that it
// takes no longer if there is much.
static bool is_reached(const struct page_request *page)
{
    const struct write_origin *reader = page->reader;
    const struct guard *guard = page->table->guard;
    if (reader == NULL || !reader->bound)
        return true;
    if (guard == NULL || !guard->tenants)
        return false;
    bool global = page->index != NULL && page->index->global;
    return !page->query ||
           guard->ops->reaches(guard, reader->tenant,
                               global ? page->index->name : slice_of(NULL, 0), page->range.hash);
}

// Opens the cursor at the page's beginning. False: there is nothing to read, or (with the error
// set) no memory.
static bool open_walk(struct engine *engine, struct page_request *page, struct error *error)
{
    struct bounds bounds;
    make_bounds(page, &bounds);
    // Bounds that cross (a segment without a slot of its own) hold nothing.
    bool any = slice_compare(buf_view(&bounds.lower), buf_view(&bounds.upper)) < 0;
    struct page_walk *walk = any ? arena_zalloc(page->arena, 1, sizeof(*walk)) : NULL;
    if (walk != NULL) {
        walk->snapshot = page->snapshot;
        if (page->index != NULL && page->snapshot == NULL)
            walk->snapshot = store_snapshot_take(engine->store);
        walk->cursor = store_cursor_open(engine->store, walk->snapshot, buf_view(&bounds.lower),
                                         buf_view(&bounds.upper));
        store_cursor_may_pause(walk->cursor);
        buf_init(&walk->key, 1 << 20);
        buf_init(&walk->view, LIMIT_ITEM_BYTES);
        buf_init(&walk->veiled, LIMIT_ITEM_BYTES);
        start_walk(page, walk->cursor);
        page->walk = walk;
    } else if (any) {
        (void)error_budget(error);
    }
    release_bounds(&bounds);
    return walk != NULL;
}

void engine_page_close(struct engine *engine, struct page_request *page)
{
    struct page_walk *walk = page->walk;
    if (walk == NULL)
        return;
    store_cursor_close(walk->cursor);
    if (walk->snapshot != NULL && walk->snapshot != page->snapshot)
        store_snapshot_release(engine->store, walk->snapshot);
    buf_release(&walk->key);
    buf_release(&walk->view);
    buf_release(&walk->veiled);
    page->walk = NULL;
}

enum read_step engine_page_run(struct engine *engine, struct page_request *page, uint64_t *work,
                               struct error *error)
{
    if (page->walk == NULL && (!is_reached(page) || !open_walk(engine, page, error)))
        return error->code == ERR_NONE ? READ_DONE : READ_FAILED;
    struct walk walk = {
        .engine = engine, .page = page, .at = page->walk, .work = work, .error = error};
    enum read_step step = walk_slice(&walk);
    if (step != READ_MORE)
        engine_page_close(engine, page);
    return step;
}

bool engine_page(struct engine *engine, struct page_request *page, struct error *error)
{
    enum read_step step;
    do {
        uint64_t work = LIMIT_SLICE_WORK;
        step = engine_page_run(engine, page, &work, error);
    } while (step == READ_MORE);
    return step == READ_DONE;
}
