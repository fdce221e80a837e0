// Opening and closing an engine, and the readers' view of the catalog.
#include "engine/engine_internal.h"

#include "base/log.h"

#include <stdlib.h>

// A table whose guard cannot be made is there to be read.
static void make_guards(struct engine *engine, const struct guard_maker *maker)
{
    for (size_t i = 0; i < engine->catalog.count; i++) {
        struct table *table = engine->catalog.tables[i];
        if (table->model.len == 0)
            continue;
        if (maker != NULL)
            table->guard = maker->make(maker->context, engine, table);
        if (table->guard == NULL)
            log_error("table %.*s: its model cannot be read, so it takes no writes",
                      SLICE_FMT(table->name));
    }
}

struct engine *engine_open(struct store *store, struct env env, const struct guard_maker *maker,
                           struct store_error *error)
{
    struct engine *engine = memory_zeroed(sizeof(*engine));
    engine->store = store;
    env_ids_init(&engine->ids);
    engine->env = env;
    engine->env.ids = &engine->ids;
    engine->index_copy_max = LIMIT_INDEX_COPY;
    engine->claims.seed = (uint64_t)(uintptr_t)engine; // clients do not know it
    ensure(pthread_rwlock_init(&engine->catalog.lock, NULL) == 0);
    health_init(engine);
    if (!follow_open(engine, error) || !ship_load(engine, error) || !catalog_load(engine, error) ||
        !log_load(engine, error)) {
        follow_release(engine);
        ship_release(engine);
        catalog_release(&engine->catalog);
        store_set_watch(store, NULL);
        health_release(engine);
        env_ids_release(&engine->ids);
        free(engine);
        return NULL;
    }
    if (maker != NULL)
        engine->maker = *maker;
    make_guards(engine, maker);
    ensure_started(judge_start(engine));
    ensure_started(writer_start(engine));
    orders_start(engine);
    if (!engine->follow.on) // what it would do comes from the source
        keeper_start(engine);
    return engine;
}

void engine_close(struct engine *engine)
{
    orders_stop(engine);
    if (!engine->follow.on)
        keeper_stop(engine);
    writer_stop(engine);
    judge_stop(engine);
    catalog_release(&engine->catalog);
    store_close(engine->store);
    follow_release(engine);
    ship_release(engine);
    health_release(engine);
    env_ids_release(&engine->ids);
    free(engine);
}

const struct env *engine_env(const struct engine *engine)
{
    return &engine->env;
}

void engine_index_copy_max(struct engine *engine, size_t bytes)
{
    engine->index_copy_max = bytes;
}

bool engine_store_failed(struct error *error, const struct store_error *cause)
{
    if (cause->cold)
        return error_set(error, ERR_COLD, "The data is not in memory.");
    if (cause->damaged)
        return error_set(error, ERR_DAMAGED,
                         "The request could not be completed: data on disk is damaged. %s",
                         cause->text);
    return error_set(error, ERR_INTERNAL, "The request could not be completed: the store failed.");
}

bool engine_cursor_ok(const struct store_cursor *cursor, struct error *error)
{
    struct store_error cause;
    return store_cursor_valid(cursor) || store_cursor_ok(cursor, &cause) ||
           engine_store_failed(error, &cause);
}

bool engine_cursor_end(struct store_cursor *cursor, struct error *error)
{
    bool ok = engine_cursor_ok(cursor, error);
    store_cursor_close(cursor);
    return ok;
}

struct store_snapshot *engine_snapshot(struct engine *engine)
{
    return store_snapshot_take(engine->store);
}

void engine_snapshot_release(struct engine *engine, struct store_snapshot *snapshot)
{
    store_snapshot_release(engine->store, snapshot);
}
