// The keeper: long work in small pieces. It looks for indexes to backfill or to remove, rules to
// count anew (pending.c), trees to empty, tokens and claims to forget, and asks the writer for one
// bounded piece after the other, so that requests run in between. Progress is written with each
// piece: after a crash it goes on.
//
// Backfill: the index has entries for exactly the items below its mark (`backfilled`). A piece
// reads items from the mark on, writes their entries and moves the mark, all in one batch; live
// writes maintain entries below the mark only. So each item is indexed once, and never from a stale
// image.
#include "engine/engine_internal.h"

#include "base/encode.h"
#include "base/log.h"

#include <stdio.h>

enum {
    PIECE_ITEMS = 256,       // items read or deleted in one piece: one or two milliseconds
    PIECE_BYTES = 256 << 10, // and their size
    RANGE_DELETE_FROM =
        4096,         // fewer keys (of PIECE_BYTES) are deleted one by one: ranges slow reads
    SWEEP_MS = 60000, // how often tokens, claims and space are looked at without being woken
    SOON_MS = 1000,   // after a failure
    RARE_AFTER = 10,  // tries, a second apart, after which failed work is tried as rarely
};

struct piece {
    struct job job; // first
    struct engine *engine;
    struct arena arena;
    struct error error;
    struct table *table; // what the keeper saw; the writer looks the current version up
    struct slice index;  // name
    tree_id tree;
    bool more;
    struct table *next;
};

// A line in the log when it is another failure than the last one. That the store takes no writes is
// there already.
static void tell_failure(struct engine *engine, const char *message)
{
    struct keeper *keeper = &engine->keeper;
    if (!health_writable(engine) || strncmp(keeper->told, message, sizeof(keeper->told) - 1) == 0)
        return;
    (void)snprintf(keeper->told, sizeof(keeper->told), "%s", message);
    log_error("background work failed, will try again: %s", message);
}

static bool run_piece(struct engine *engine, struct piece *piece,
                      bool (*run)(struct job *job, struct txn *txn),
                      void (*committed)(struct job *job, struct engine *engine))
{
    piece->engine = engine;
    piece->more = false;
    piece->next = NULL;
    arena_init(&piece->arena, LIMIT_REQUEST_MEMORY);
    error_init(&piece->error, &piece->arena);
    piece->job =
        (struct job){.run = run, .committed = committed, .alone = true, .error = &piece->error};
    bool ok = engine_run_beside(engine, &piece->job);
    if (!ok)
        tell_failure(engine, piece->error.message);
    if (!ok && piece->next != NULL)
        table_release(piece->next);
    arena_release(&piece->arena);
    return ok;
}

// ---- Backfill ------------------------------------------------------------------------

// The index of that name, of whatever kind; NULL if there is none.
static struct index *index_of(struct table *table, struct slice name)
{
    const struct index *index = table_index(table, name);
    const struct vector_index *vector = index == NULL ? table_vector(table, name) : NULL;
    return (struct index *)(vector == NULL ? index : &vector->base);
}

// The mark behind the last key that is done: the first one that is not.
static bool mark_behind(struct piece *piece, struct slice last, struct slice *mark)
{
    uint8_t *bytes = arena_alloc(&piece->next->arena, last.len + 1);
    if (bytes == NULL)
        return error_budget(&piece->error);
    if (last.len > 0)
        memcpy(bytes, last.ptr, last.len);
    bytes[last.len] = 0;
    *mark = slice_of(bytes, last.len + 1);
    return true;
}

static bool move_index_mark(struct piece *piece, struct slice last)
{
    struct index *index = index_of(piece->next, piece->index);
    if (piece->more)
        return mark_behind(piece, last, &index->backfilled);
    index->status = INDEX_ACTIVE;
    index->backfilled = slice_of(NULL, 0);
    return true;
}

static bool move_ttl_mark(struct piece *piece, struct slice last)
{
    struct table_ttl *ttl = &piece->next->ttl;
    if (piece->more)
        return mark_behind(piece, last, &ttl->backfilled);
    ttl->filled = true;
    ttl->backfilled = slice_of(NULL, 0);
    return true;
}

// What a backfill does for one item of the table.
struct filling {
    const struct table *table;
    const struct index *index;         // or
    const struct vector_index *vector; // or neither: the index of expiry times
};

static void fill_item(struct txn *txn, const struct filling *filling, struct slice tree_key,
                      struct image image)
{
    struct change change = {.key = tree_key, .after = image};
    if (filling->index != NULL)
        (void)index_apply(txn, filling->table, filling->index, &change);
    else if (filling->vector != NULL)
        (void)vector_apply(txn, filling->table, filling->vector, &change);
    else
        ttl_apply(txn, filling->table, &change);
}

// Reads items from the mark on and writes their entries, a piece's worth. *last becomes the key of
// the last one.
static bool fill(struct piece *piece, struct txn *txn, const struct filling *filling,
                 struct slice mark, struct buf *last)
{
    struct store_cursor *cursor =
        layout_tree_cursor(txn->engine->store, NULL, filling->table->tree);
    size_t items = 0;
    size_t bytes = 0;
    store_cursor_seek(cursor, mark);
    while (store_cursor_valid(cursor) && items < PIECE_ITEMS && bytes < PIECE_BYTES) {
        struct slice record = store_cursor_value(cursor);
        struct image image = {.item = record_item(record), .size = record_size(record)};
        buf_clear(last);
        buf_slice(last, store_cursor_key(cursor));
        fill_item(txn, filling, buf_view(last), image);
        items++;
        bytes += image.size;
        store_cursor_next(cursor);
    }
    piece->more = store_cursor_valid(cursor);
    return engine_cursor_end(cursor, &piece->error);
}

// The current version of the piece's table, or NULL if that one is gone.
static struct table *current_of(struct piece *piece, struct txn *txn)
{
    struct table *current = catalog_find(txn->engine, piece->table->name);
    return current != NULL && current->tree == piece->table->tree ? current : NULL;
}

// The piece's index in that version, which may be NULL; NULL unless it is still in that status.
static const struct index *index_in(struct table *table, const struct piece *piece,
                                    enum index_status status)
{
    const struct index *index = table == NULL ? NULL : index_of(table, piece->index);
    return index != NULL && index->status == status ? index : NULL;
}

// What is being filled is taken as complete for the time of the piece, so that its apply function
// does not hold back.
static bool fill_and_move(struct piece *piece, struct txn *txn, const struct table *current,
                          const struct filling *filling, struct slice mark,
                          bool (*move)(struct piece *piece, struct slice last))
{
    piece->next = table_clone(current);
    if (piece->next == NULL)
        return error_budget(&piece->error);
    struct buf last;
    buf_init(&last, 1 << 16);
    bool ok = fill(piece, txn, filling, mark, &last) && move(piece, buf_view(&last));
    buf_release(&last);
    if (ok)
        catalog_write(txn, piece->next);
    return ok;
}

static bool backfill_piece(struct job *job, struct txn *txn)
{
    struct piece *piece = (struct piece *)job;
    struct table *current = current_of(piece, txn);
    const struct index *index = index_in(current, piece, INDEX_CREATING);
    if (index == NULL)
        return true;
    const struct vector_index *vector = table_vector(current, piece->index);
    struct vector_index complete;
    if (vector != NULL)
        complete = *vector;
    else
        complete.base = *index;
    complete.base.status = INDEX_ACTIVE;
    struct filling filling = {.table = current};
    if (vector != NULL)
        filling.vector = &complete;
    else
        filling.index = &complete.base;
    return fill_and_move(piece, txn, current, &filling, index->backfilled, move_index_mark);
}

static bool backfill_ttl_piece(struct job *job, struct txn *txn)
{
    struct piece *piece = (struct piece *)job;
    struct table *current = current_of(piece, txn);
    if (current == NULL || current->ttl.tree == 0 || current->ttl.filled)
        return true;
    // A copy of the whole struct would read the references that other threads count.
    struct table *complete = table_clone(current);
    if (complete == NULL)
        return error_budget(&piece->error);
    complete->ttl.filled = true;
    struct filling filling = {.table = complete};
    bool ok = fill_and_move(piece, txn, current, &filling, current->ttl.backfilled, move_ttl_mark);
    table_release(complete);
    return ok;
}

static void publish_piece(struct job *job, struct engine *engine)
{
    struct piece *piece = (struct piece *)job;
    if (piece->next != NULL)
        catalog_publish(engine, piece->table->name, piece->next);
}

// ---- Removing ----------------------------------------------------------------------------

static void take_index(struct table *table, size_t at)
{
    tree_stats_release(table->indexes[at].stats);
    table->index_count--;
    memmove(&table->indexes[at], &table->indexes[at + 1],
            (table->index_count - at) * sizeof(struct index));
}

static void take_vector(struct table *table, size_t at)
{
    tree_stats_release(table->vectors[at].base.stats);
    table->vector_count--;
    memmove(&table->vectors[at], &table->vectors[at + 1],
            (table->vector_count - at) * sizeof(struct vector_index));
}

static bool remove_index(struct job *job, struct txn *txn)
{
    struct piece *piece = (struct piece *)job;
    struct table *current = current_of(piece, txn);
    const struct index *gone = index_in(current, piece, INDEX_DELETING);
    if (gone == NULL)
        return true;
    piece->next = table_clone(current);
    if (piece->next == NULL)
        return error_budget(&piece->error);
    catalog_drop_tree(txn, gone->tree);
    const struct vector_index *vector = table_vector(current, piece->index);
    if (vector != NULL)
        take_vector(piece->next, (size_t)(vector - current->vectors));
    else
        take_index(piece->next, (size_t)(gone - current->indexes));
    catalog_write(txn, piece->next);
    return true;
}

// Empties a tree that nothing refers to any more. Small ones key by key, large ones at once; what
// they take on disk goes soon after (store_reclaim).
static bool empty_tree(struct job *job, struct txn *txn)
{
    struct piece *piece = (struct piece *)job;
    struct store_cursor *cursor = layout_tree_cursor(txn->engine->store, NULL, piece->tree);
    size_t count = 0;
    size_t bytes = 0;
    for (store_cursor_first(cursor);
         store_cursor_valid(cursor) && count < RANGE_DELETE_FROM && bytes < PIECE_BYTES;
         store_cursor_next(cursor), count++) {
        store_batch_delete(txn->batch, store_cursor_key(cursor));
        bytes += store_cursor_value(cursor).len;
    }
    bool large = store_cursor_valid(cursor);
    struct store_error cause;
    if (!large && !store_cursor_ok(cursor, &cause)) {
        large = cause.damaged; // what cannot be read can still be deleted
        if (!large)
            (void)engine_store_failed(&piece->error, &cause);
    }
    store_cursor_close(cursor);
    if (piece->error.code != ERR_NONE)
        return false;
    uint8_t lower[4];
    uint8_t upper[4];
    layout_tree_bounds(piece->tree, lower, upper);
    if (large)
        store_batch_delete_range(txn->batch, slice_of(lower, 4), slice_of(upper, 4));
    catalog_forget_drop(txn, piece->tree);
    return true;
}

static void reclaim(struct engine *engine)
{
    int64_t freed = engine->freed;
    if (store_reclaim(engine->store, (uint64_t)freed))
        engine->freed -= freed;
}

static bool is_stopping(struct engine *engine)
{
    return worker_stopping(&engine->keeper.worker);
}

// What is left when the server stops is discarded after the next start.
static void discard_tree(struct engine *engine, tree_id tree)
{
    uint8_t lower[4];
    uint8_t upper[4];
    layout_tree_bounds(tree, lower, upper);
    while (!is_stopping(engine) &&
           store_discard(engine->store, slice_of(lower, 4), slice_of(upper, 4)))
        continue;
}

static bool sweep_ended(struct job *job, struct txn *txn)
{
    bool tokens = token_sweep(txn);
    bool claims = claims_sweep(txn);
    ((struct piece *)job)->more = tokens || claims;
    return true;
}

// Writes something small, so that a broken store is tried again even if no client writes.
static bool probe_store(struct job *job, struct txn *txn)
{
    (void)job;
    meta_key(&txn->key, META_PROBE, slice_of(NULL, 0));
    store_batch_put(txn->batch, buf_view(&txn->key), slice_of(NULL, 0));
    return true;
}

// ---- The loop -------------------------------------------------------------------------------

// The name of an index that needs work; empty if there is none.
static struct slice index_with_work(const struct table *table)
{
    for (size_t i = 0; i < table->index_count; i++) {
        if (table->indexes[i].status != INDEX_ACTIVE)
            return table->indexes[i].name;
    }
    for (size_t i = 0; i < table->vector_count; i++) {
        if (table->vectors[i].base.status != INDEX_ACTIVE)
            return table->vectors[i].base.name;
    }
    return slice_of(NULL, 0);
}

// The first table behind a name with an index that needs work, with a reference; *which is its
// name, empty for the index of expiry times.
static struct table *table_with_work(struct engine *engine, struct slice after, struct slice *which)
{
    struct table *found = NULL;
    ensure(pthread_rwlock_rdlock(&engine->catalog.lock) == 0);
    for (size_t i = 0; found == NULL && i < engine->catalog.count; i++) {
        struct table *table = engine->catalog.tables[i];
        if (slice_compare(table->name, after) <= 0)
            continue;
        if (table->ttl.tree != 0 && !table->ttl.filled) {
            found = table_hold(table);
            *which = slice_of(NULL, 0);
            break;
        }
        *which = index_with_work(table);
        if (which->len > 0)
            found = table_hold(table);
    }
    ensure(pthread_rwlock_unlock(&engine->catalog.lock) == 0);
    return found;
}

// Works on one index until it is done. False if the store failed.
static bool work_on_index(struct engine *engine, struct table *table, struct slice which)
{
    struct piece piece = {.table = table, .index = which};
    bool (*run)(struct job * job, struct txn * txn) = backfill_ttl_piece;
    if (which.len > 0) {
        if (index_of(table, which)->status == INDEX_DELETING)
            return run_piece(engine, &piece, remove_index, publish_piece);
        run = backfill_piece;
    }
    do {
        if (!run_piece(engine, &piece, run, publish_piece))
            return false;
    } while (piece.more && !is_stopping(engine));
    return true;
}

// The first tree that waits to be emptied, or 0.
static tree_id tree_to_empty(struct engine *engine)
{
    struct store_cursor *cursor = meta_cursor(engine->store, META_DROP);
    tree_id tree =
        store_cursor_valid(cursor) ? be32_get(store_cursor_key(cursor).ptr + META_HEAD) : 0;
    store_cursor_close(cursor);
    return tree;
}

// Works on all indexes. What cannot be done (a block of the table is damaged) keeps nobody waiting:
// that table is passed over.
static bool work_on_indexes(struct engine *engine)
{
    bool all = true;
    struct buf after; // the name of the last table that could not be worked on
    struct table *table;
    struct slice which;
    buf_init(&after, STORE_KEY_MAX);
    while (!is_stopping(engine) &&
           (table = table_with_work(engine, buf_view(&after), &which)) != NULL) {
        if (!work_on_index(engine, table, which)) {
            all = false;
            buf_clear(&after);
            buf_slice(&after, table->name);
        }
        table_release(table);
    }
    buf_release(&after);
    return all;
}

// Does all there is to do. False if something failed: then it is tried again later.
static bool work(struct engine *engine)
{
    struct piece piece = {.tree = 0};
    if (!health_writable(engine) && !run_piece(engine, &piece, probe_store, NULL))
        return false;
    bool all = work_on_indexes(engine);
    all = pending_work(engine, is_stopping) && all;
    while (!is_stopping(engine) && (piece.tree = tree_to_empty(engine)) != 0) {
        discard_tree(engine, piece.tree);
        if (is_stopping(engine))
            break;
        if (!run_piece(engine, &piece, empty_tree, NULL))
            return false;
    }
    reclaim(engine);
    do {
        if (!run_piece(engine, &piece, sweep_ended, NULL))
            return false;
    } while (piece.more && !is_stopping(engine));
    return all;
}

// After a failure it waits a second, and longer if it happens again, but for a store that may take
// writes again at any moment.
static void keeper_work(void *context)
{
    struct engine *engine = context;
    struct keeper *keeper = &engine->keeper;
    bool failed = !work(engine);
    keeper->failures = failed ? keeper->failures + 1 : 0;
    bool soon = failed && (keeper->failures < RARE_AFTER || !health_writable(engine));
    worker_pace(&keeper->worker, failed ? SOON_MS : 0, soon ? SOON_MS : SWEEP_MS);
}

void keeper_wake(struct engine *engine)
{
    if (!engine->follow.on)
        worker_ask(&engine->keeper.worker);
}

void engine_settle(struct engine *engine)
{
    if (!engine->follow.on)
        worker_wait(&engine->keeper.worker);
}

void keeper_start(struct engine *engine)
{
    worker_start(&engine->keeper.worker,
                 &(struct worker_plan){
                     .work = keeper_work, .context = engine, .every_ms = SWEEP_MS, .asked = true});
}

void keeper_stop(struct engine *engine)
{
    worker_stop(&engine->keeper.worker);
}
