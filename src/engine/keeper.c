// The keeper: long work in small pieces. It looks for indexes to backfill or to remove, trees to
// empty and tokens to forget, and asks the writer for one bounded piece after the other, so that
// requests run in between. Progress is written with each piece: after a crash it goes on.
//
// Backfill: the index has entries for exactly the items below its mark (`backfilled`). A piece
// reads items from the mark on, writes their entries and moves the mark, all in one batch; live
// writes maintain entries below the mark only. So each item is indexed once, and never from a stale
// image.
#include "engine/engine_internal.h"

#include "base/encode.h"
#include "base/log.h"

#include <errno.h>
#include <time.h>

enum {
    PIECE_ITEMS = 512,        // items read or deleted in one piece
    PIECE_BYTES = 1 << 20,    // and their size
    RANGE_DELETE_FROM = 4096, // fewer keys are deleted one by one: range tombstones slow reads
    SWEEP_SECONDS = 60,       // how often tokens are looked at without being woken
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
    bool ok = engine_run(engine, &piece->job);
    if (!ok && health_writable(engine))
        log_error("background work failed, will try again: %s", piece->error.message);
    if (!ok && piece->next != NULL)
        table_release(piece->next);
    arena_release(&piece->arena);
    return ok;
}

// ---- Backfill ------------------------------------------------------------------------

static struct index *index_of(struct table *table, struct slice name)
{
    return (struct index *)table_index(table, name);
}

static bool move_mark(struct piece *piece, struct txn *txn, struct slice mark, bool finished)
{
    struct index *index = index_of(piece->next, piece->index);
    if (finished) {
        index->status = INDEX_ACTIVE;
        index->backfilled = slice_of(NULL, 0);
    } else {
        // The mark is the first key not yet done: right behind the last one that is.
        uint8_t *bytes = arena_alloc(&piece->next->arena, mark.len + 1);
        if (bytes == NULL)
            return error_budget(&piece->error);
        memcpy(bytes, mark.ptr, mark.len);
        bytes[mark.len] = 0;
        index->backfilled = slice_of(bytes, mark.len + 1);
    }
    catalog_write(txn, piece->next);
    return true;
}

// Reads items from the mark on and writes their entries. `index` is marked as complete for the
// time of the piece, so that index_apply does not hold back.
static bool fill(struct piece *piece, struct txn *txn, const struct table *table,
                 const struct index *index)
{
    uint8_t lower[4];
    uint8_t upper[4];
    layout_tree_bounds(table->tree, lower, upper);
    struct store_cursor *cursor =
        store_cursor_open(txn->engine->store, NULL, slice_of(lower, 4), slice_of(upper, 4));
    ensure(cursor != NULL);
    struct index complete = *index;
    complete.status = INDEX_ACTIVE;
    struct buf last;
    buf_init(&last, 1 << 16);
    size_t items = 0;
    size_t bytes = 0;
    if (index->backfilled.len > 0)
        store_cursor_seek(cursor, index->backfilled);
    else
        store_cursor_first(cursor);
    while (store_cursor_valid(cursor) && items < PIECE_ITEMS && bytes < PIECE_BYTES) {
        struct slice record = store_cursor_value(cursor);
        struct image image = {record_item(record), record_size(record)};
        struct image none = {VALUE_NONE, 0};
        buf_clear(&last);
        buf_slice(&last, store_cursor_key(cursor));
        (void)index_apply(txn, table, &complete, buf_view(&last), none, image);
        items++;
        bytes += image.size;
        store_cursor_next(cursor);
    }
    piece->more = store_cursor_valid(cursor);
    struct store_error cause;
    bool ok = store_cursor_ok(cursor, &cause) || engine_store_failed(&piece->error, &cause);
    store_cursor_close(cursor);
    ok = ok && move_mark(piece, txn, buf_view(&last), !piece->more);
    buf_release(&last);
    return ok;
}

static bool backfill_piece(struct job *job, struct txn *txn)
{
    struct piece *piece = (struct piece *)job;
    struct table *current = catalog_find(txn->engine, piece->table->name);
    if (current == NULL || current->tree != piece->table->tree)
        return true;
    const struct index *index = table_index(current, piece->index);
    if (index == NULL || index->status != INDEX_CREATING)
        return true;
    piece->next = table_clone(current);
    if (piece->next == NULL)
        return error_budget(&piece->error);
    return fill(piece, txn, current, index);
}

static void publish_piece(struct job *job, struct engine *engine)
{
    struct piece *piece = (struct piece *)job;
    if (piece->next != NULL)
        catalog_publish(engine, piece->table->name, piece->next);
}

// ---- Removing ----------------------------------------------------------------------------

static bool remove_index(struct job *job, struct txn *txn)
{
    struct piece *piece = (struct piece *)job;
    struct table *current = catalog_find(txn->engine, piece->table->name);
    if (current == NULL || current->tree != piece->table->tree)
        return true;
    const struct index *gone = table_index(current, piece->index);
    if (gone == NULL || gone->status != INDEX_DELETING)
        return true;
    piece->next = table_clone(current);
    if (piece->next == NULL)
        return error_budget(&piece->error);
    catalog_drop_tree(txn, gone->tree);
    size_t at = (size_t)(gone - current->indexes);
    tree_stats_release(piece->next->indexes[at].stats);
    piece->next->index_count--;
    memmove(&piece->next->indexes[at], &piece->next->indexes[at + 1],
            (piece->next->index_count - at) * sizeof(struct index));
    catalog_write(txn, piece->next);
    return true;
}

// Empties a tree that nothing refers to any more. Small ones key by key, large ones at once.
static bool empty_tree(struct job *job, struct txn *txn)
{
    struct piece *piece = (struct piece *)job;
    uint8_t lower[4];
    uint8_t upper[4];
    layout_tree_bounds(piece->tree, lower, upper);
    struct store_cursor *cursor =
        store_cursor_open(txn->engine->store, NULL, slice_of(lower, 4), slice_of(upper, 4));
    ensure(cursor != NULL);
    size_t count = 0;
    for (store_cursor_first(cursor); store_cursor_valid(cursor) && count < RANGE_DELETE_FROM;
         store_cursor_next(cursor), count++)
        store_batch_delete(txn->batch, store_cursor_key(cursor));
    bool large = store_cursor_valid(cursor);
    struct store_error cause;
    bool ok = store_cursor_ok(cursor, &cause) || engine_store_failed(&piece->error, &cause);
    store_cursor_close(cursor);
    if (!ok)
        return false;
    if (large)
        store_batch_delete_range(txn->batch, slice_of(lower, 4), slice_of(upper, 4));
    catalog_forget_drop(txn, piece->tree);
    return true;
}

static bool sweep_tokens(struct job *job, struct txn *txn)
{
    ((struct piece *)job)->more = token_sweep(txn);
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

static bool is_stopping(struct engine *engine)
{
    ensure(pthread_mutex_lock(&engine->keeper.lock) == 0);
    bool stopping = engine->keeper.stopping;
    ensure(pthread_mutex_unlock(&engine->keeper.lock) == 0);
    return stopping;
}

// A table with an index that needs work, with a reference; *which is the index.
static struct table *table_with_work(struct engine *engine, size_t *which)
{
    struct table *found = NULL;
    ensure(pthread_rwlock_rdlock(&engine->catalog.lock) == 0);
    for (size_t i = 0; found == NULL && i < engine->catalog.count; i++) {
        struct table *table = engine->catalog.tables[i];
        for (size_t k = 0; found == NULL && k < table->index_count; k++) {
            if (table->indexes[k].status != INDEX_ACTIVE) {
                found = table_hold(table);
                *which = k;
            }
        }
    }
    ensure(pthread_rwlock_unlock(&engine->catalog.lock) == 0);
    return found;
}

// Works on one index until it is done. False if the store failed.
static bool work_on_index(struct engine *engine, struct table *table, size_t which)
{
    const struct index *index = &table->indexes[which];
    struct piece piece = {.table = table, .index = index->name};
    if (index->status == INDEX_DELETING)
        return run_piece(engine, &piece, remove_index, publish_piece);
    do {
        if (!run_piece(engine, &piece, backfill_piece, publish_piece))
            return false;
    } while (piece.more && !is_stopping(engine));
    return true;
}

// The first tree that waits to be emptied, or 0.
static tree_id tree_to_empty(struct engine *engine)
{
    const uint8_t lower[5] = {0, 0, 0, TREE_META, META_DROP};
    const uint8_t upper[5] = {0, 0, 0, TREE_META, META_DROP + 1};
    struct store_cursor *cursor =
        store_cursor_open(engine->store, NULL, slice_of(lower, 5), slice_of(upper, 5));
    ensure(cursor != NULL);
    store_cursor_first(cursor);
    tree_id tree = store_cursor_valid(cursor) ? be32_get(store_cursor_key(cursor).ptr + 5) : 0;
    store_cursor_close(cursor);
    return tree;
}

// Does all there is to do. False if the store failed: then it is tried again later.
static bool work(struct engine *engine)
{
    struct piece piece = {.tree = 0};
    if (!health_writable(engine) && !run_piece(engine, &piece, probe_store, NULL))
        return false;
    struct table *table;
    size_t which;
    while (!is_stopping(engine) && (table = table_with_work(engine, &which)) != NULL) {
        bool ok = work_on_index(engine, table, which);
        table_release(table);
        if (!ok)
            return false;
    }
    while (!is_stopping(engine) && (piece.tree = tree_to_empty(engine)) != 0) {
        if (!run_piece(engine, &piece, empty_tree, NULL))
            return false;
    }
    do {
        if (!run_piece(engine, &piece, sweep_tokens, NULL))
            return false;
    } while (piece.more && !is_stopping(engine));
    return true;
}

static void wait_for_work(struct keeper *keeper, bool failed)
{
    struct timespec until;
    ensure(clock_gettime(CLOCK_REALTIME, &until) == 0);
    until.tv_sec += failed ? 1 : SWEEP_SECONDS;
    while (!keeper->stopping && (!keeper->pending || failed)) {
        if (pthread_cond_timedwait(&keeper->wake, &keeper->lock, &until) == ETIMEDOUT)
            break;
    }
}

static void *keeper_main(void *argument)
{
    struct engine *engine = argument;
    struct keeper *keeper = &engine->keeper;
    ensure(pthread_mutex_lock(&keeper->lock) == 0);
    while (!keeper->stopping) {
        keeper->pending = false;
        keeper->busy = true;
        ensure(pthread_mutex_unlock(&keeper->lock) == 0);
        bool ok = work(engine);
        ensure(pthread_mutex_lock(&keeper->lock) == 0);
        keeper->busy = false;
        if (!keeper->pending)
            ensure(pthread_cond_broadcast(&keeper->settled) == 0);
        wait_for_work(keeper, !ok);
    }
    ensure(pthread_cond_broadcast(&keeper->settled) == 0);
    ensure(pthread_mutex_unlock(&keeper->lock) == 0);
    return NULL;
}

void keeper_wake(struct engine *engine)
{
    ensure(pthread_mutex_lock(&engine->keeper.lock) == 0);
    engine->keeper.pending = true;
    ensure(pthread_cond_signal(&engine->keeper.wake) == 0);
    ensure(pthread_mutex_unlock(&engine->keeper.lock) == 0);
}

void engine_settle(struct engine *engine)
{
    struct keeper *keeper = &engine->keeper;
    ensure(pthread_mutex_lock(&keeper->lock) == 0);
    while ((keeper->pending || keeper->busy) && !keeper->stopping)
        ensure(pthread_cond_wait(&keeper->settled, &keeper->lock) == 0);
    ensure(pthread_mutex_unlock(&keeper->lock) == 0);
}

bool keeper_start(struct engine *engine)
{
    struct keeper *keeper = &engine->keeper;
    ensure(pthread_mutex_init(&keeper->lock, NULL) == 0);
    ensure(pthread_cond_init(&keeper->wake, NULL) == 0);
    ensure(pthread_cond_init(&keeper->settled, NULL) == 0);
    keeper->pending = true;
    return pthread_create(&engine->keeper_thread, NULL, keeper_main, engine) == 0;
}

void keeper_stop(struct engine *engine)
{
    struct keeper *keeper = &engine->keeper;
    ensure(pthread_mutex_lock(&keeper->lock) == 0);
    keeper->stopping = true;
    ensure(pthread_cond_signal(&keeper->wake) == 0);
    ensure(pthread_mutex_unlock(&keeper->lock) == 0);
    ensure(pthread_join(engine->keeper_thread, NULL) == 0);
    ensure(pthread_mutex_destroy(&keeper->lock) == 0);
    ensure(pthread_cond_destroy(&keeper->wake) == 0);
    ensure(pthread_cond_destroy(&keeper->settled) == 0);
}
