// The catalog: a sorted array of tables in memory, and their records in the meta tree.
//
// Readers take a reference under the read lock; the writer swaps pointers under the write
// lock after the change is durable, so nobody sees a table that a crash would take back.
#include "engine/engine_internal.h"

#include "base/encode.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>

void meta_key(struct buf *out, char kind, struct slice name)
{
    buf_clear(out);
    uint8_t head[5] = {0, 0, 0, TREE_META, (uint8_t)kind};
    buf_add(out, head, sizeof(head));
    buf_slice(out, name);
}

void meta_tree_key(struct buf *out, char kind, tree_id tree)
{
    uint8_t name[4];
    be32_put(name, tree);
    meta_key(out, kind, slice_of(name, sizeof(name)));
}

enum store_result meta_get(struct store *store, struct store_snapshot *snapshot, char kind,
                           struct slice name, struct store_value *out, struct store_error *error)
{
    struct buf key;
    buf_init(&key, STORE_KEY_MAX);
    meta_key(&key, kind, name);
    enum store_result result = store_get(store, snapshot, buf_view(&key), out, error);
    buf_release(&key);
    return result;
}

struct store_cursor *meta_cursor(struct store *store, char kind)
{
    const uint8_t lower[META_HEAD] = {0, 0, 0, TREE_META, (uint8_t)kind};
    const uint8_t upper[META_HEAD] = {0, 0, 0, TREE_META, (uint8_t)(kind + 1)};
    struct store_cursor *cursor = store_cursor_open(store, NULL, slice_of(lower, sizeof(lower)),
                                                    slice_of(upper, sizeof(upper)));
    store_cursor_first(cursor);
    return cursor;
}

// The position of the name, or where it would stand.
static size_t position_of(const struct catalog *catalog, struct slice name, bool *found)
{
    size_t low = 0;
    size_t high = catalog->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = slice_compare(catalog->tables[middle]->name, name);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found = false;
    return low;
}

struct table *catalog_find(struct engine *engine, struct slice name)
{
    bool found;
    size_t at = position_of(&engine->catalog, name, &found);
    return found ? engine->catalog.tables[at] : NULL;
}

struct table *engine_table(struct engine *engine, struct slice name)
{
    ensure(pthread_rwlock_rdlock(&engine->catalog.lock) == 0);
    struct table *table = catalog_find(engine, name);
    if (table != NULL)
        (void)table_hold(table);
    ensure(pthread_rwlock_unlock(&engine->catalog.lock) == 0);
    return table;
}

static void walk_tables(struct engine *engine, struct slice after, bool of_tenants,
                        bool (*visit)(void *context, struct slice name), void *context)
{
    ensure(pthread_rwlock_rdlock(&engine->catalog.lock) == 0);
    bool found;
    size_t at = position_of(&engine->catalog, after, &found);
    for (size_t i = at + (found ? 1 : 0); i < engine->catalog.count; i++) {
        const struct table *table = engine->catalog.tables[i];
        bool shown = !of_tenants || (table->guard != NULL && table->guard->tenants);
        if (shown && !table_name_hidden(table->name) && !visit(context, table->name))
            break;
    }
    ensure(pthread_rwlock_unlock(&engine->catalog.lock) == 0);
}

void engine_tables(struct engine *engine, struct slice after,
                   bool (*visit)(void *context, struct slice name), void *context)
{
    walk_tables(engine, after, false, visit, context);
}

void engine_tables_of_tenants(struct engine *engine, struct slice after,
                              bool (*visit)(void *context, struct slice name), void *context)
{
    walk_tables(engine, after, true, visit, context);
}

size_t engine_table_count(struct engine *engine)
{
    ensure(pthread_rwlock_rdlock(&engine->catalog.lock) == 0);
    size_t count = engine->catalog.count;
    for (size_t i = 0; i < engine->catalog.count; i++)
        count -= table_name_hidden(engine->catalog.tables[i]->name);
    ensure(pthread_rwlock_unlock(&engine->catalog.lock) == 0);
    return count;
}

static void insert_at(struct catalog *catalog, size_t at, struct table *table)
{
    catalog->tables =
        memory_grow(catalog->tables, catalog->count, &catalog->capacity, sizeof(struct table *));
    memmove(catalog->tables + at + 1, catalog->tables + at,
            (catalog->count - at) * sizeof(struct table *));
    catalog->tables[at] = table;
    catalog->count++;
}

void catalog_publish(struct engine *engine, struct slice name, struct table *next)
{
    struct catalog *catalog = &engine->catalog;
    struct table *before = NULL;
    ensure(pthread_rwlock_wrlock(&catalog->lock) == 0);
    bool found;
    size_t at = position_of(catalog, name, &found);
    if (found)
        before = catalog->tables[at];
    if (found && next != NULL) {
        catalog->tables[at] = next;
    } else if (next != NULL) {
        insert_at(catalog, at, next);
    } else if (found) {
        memmove(catalog->tables + at, catalog->tables + at + 1,
                (catalog->count - at - 1) * sizeof(struct table *));
        catalog->count--;
    }
    ensure(pthread_rwlock_unlock(&catalog->lock) == 0);
    table_release(before); // lives on as long as a request holds it
    log_catalog_changed(engine);
}

void catalog_release(struct catalog *catalog)
{
    for (size_t i = 0; i < catalog->count; i++)
        table_release(catalog->tables[i]);
    free(catalog->tables);
    ensure(pthread_rwlock_destroy(&catalog->lock) == 0);
}

// ---- Records -----------------------------------------------------------------------

void catalog_write(struct txn *txn, const struct table *table)
{
    meta_key(&txn->key, META_TABLE, table->name);
    buf_clear(&txn->record);
    table_encode(table, &txn->record);
    ensure(!txn->record.failed);
    store_batch_put(txn->batch, buf_view(&txn->key), buf_view(&txn->record));
}

tree_id catalog_new_tree(struct txn *txn)
{
    struct catalog *catalog = &txn->engine->catalog;
    tree_id tree = catalog->next_tree++;
    uint8_t next[4];
    be32_put(next, catalog->next_tree);
    meta_key(&txn->key, META_NEXT, slice_of(NULL, 0));
    store_batch_put(txn->batch, buf_view(&txn->key), slice_of(next, sizeof(next)));
    return tree;
}

void catalog_drop_tree(struct txn *txn, tree_id tree)
{
    meta_tree_key(&txn->key, META_DROP, tree);
    store_batch_put(txn->batch, buf_view(&txn->key), slice_of(NULL, 0));
    store_batch_frees(txn->batch);
}

void catalog_forget_drop(struct txn *txn, tree_id tree)
{
    const char kinds[] = {META_DROP, META_STATS};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        meta_tree_key(&txn->key, kinds[i], tree);
        store_batch_delete(txn->batch, buf_view(&txn->key));
    }
}

// ---- Loading ------------------------------------------------------------------------

static struct tree_stats *load_stats(struct engine *engine, tree_id tree, struct store_error *error)
{
    uint8_t name[4];
    be32_put(name, tree);
    struct store_value value;
    enum store_result result =
        meta_get(engine->store, NULL, META_STATS, slice_of(name, sizeof(name)), &value, error);
    if (result == STORE_FAILED)
        return NULL;
    int64_t items = 0;
    int64_t bytes = 0;
    if (result == STORE_FOUND) {
        ensure(value.bytes.len == 16);
        items = (int64_t)be64_get(value.bytes.ptr);
        bytes = (int64_t)be64_get(value.bytes.ptr + 8);
        store_value_release(engine->store, &value);
    }
    return tree_stats_new(items, bytes);
}

static struct table *read_table(struct engine *engine, struct slice record,
                                struct store_error *error)
{
    struct table *table = table_decode(record);
    if (table == NULL) {
        (void)snprintf(error->text, sizeof(error->text),
                       "the catalog holds a table that this version cannot read");
        return NULL;
    }
    table->stats = load_stats(engine, table->tree, error);
    bool ok = table->stats != NULL;
    for (size_t i = 0; ok && i < table->index_count; i++) {
        table->indexes[i].stats = load_stats(engine, table->indexes[i].tree, error);
        ok = table->indexes[i].stats != NULL;
    }
    for (size_t i = 0; ok && i < table->vector_count; i++) {
        struct index *index = &table->vectors[i].base;
        index->stats = load_stats(engine, index->tree, error);
        ok = index->stats != NULL;
    }
    if (!ok) {
        table_release(table);
        return NULL;
    }
    return table;
}

static bool load_table(struct engine *engine, struct slice record, struct store_error *error)
{
    struct table *table = read_table(engine, record, error);
    if (table == NULL)
        return false;
    bool found;
    size_t at = position_of(&engine->catalog, table->name, &found);
    ensure(!found);
    insert_at(&engine->catalog, at, table);
    return true;
}

void catalog_learn(struct engine *engine, struct slice name, struct slice record)
{
    struct store_error error = {.in_use = false};
    struct table *next = record.len == 0 ? NULL : read_table(engine, record, &error);
    if (record.len > 0 && next == NULL) {
        log_error("table %.*s cannot be read: %s", SLICE_FMT(name), error.text);
        return;
    }
    if (next != NULL && next->model.len > 0 && engine->maker.make != NULL)
        next->guard = engine->maker.make(engine->maker.context, engine, next);
    catalog_publish(engine, name, next);
}

static bool load_tables(struct engine *engine, struct store_error *error)
{
    struct store_cursor *cursor = meta_cursor(engine->store, META_TABLE);
    bool ok = true;
    for (; ok && store_cursor_valid(cursor); store_cursor_next(cursor))
        ok = load_table(engine, store_cursor_value(cursor), error);
    ok = ok && store_cursor_ok(cursor, error);
    store_cursor_close(cursor);
    return ok;
}

bool catalog_load(struct engine *engine, struct store_error *error)
{
    struct store_value value;
    enum store_result result =
        meta_get(engine->store, NULL, META_NEXT, slice_of(NULL, 0), &value, error);
    if (result == STORE_FAILED)
        return false;
    engine->catalog.next_tree = TREE_FIRST;
    if (result == STORE_FOUND) {
        ensure(value.bytes.len == 4);
        engine->catalog.next_tree = be32_get(value.bytes.ptr);
        store_value_release(engine->store, &value);
    }
    return load_tables(engine, error);
}
