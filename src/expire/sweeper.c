// See sweeper.h. A sweep goes through all tables and, as long as something is due, deletes it a
// batch at a time. Between batches it waits as long as the rate asks for.
#include "expire/sweeper.h"

#include "base/log.h"
#include "base/wait.h"
#include "engine/layout.h"
#include "engine/ttl.h"

#include <stdlib.h>

enum {
    SWEEP_EVERY_MS = 1000,
    SWEEP_BATCH = 50, // items deleted by one job
};

struct sweeper {
    struct workshop *shop;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stopping;
    bool asked; // for a sweep now
    uint64_t rate;
    struct sweeper_state state;
    pthread_t thread;
};

// ---- One batch --------------------------------------------------------------------------

struct batch {
    struct arena arena;
    struct error error;
    struct table *table;
    struct buf *place; // of the last item that was found
    size_t count;
    struct write_action actions[SWEEP_BATCH];
};

static bool add_due(void *context, struct slice place, struct slice tree_key)
{
    struct batch *batch = context;
    buf_clear(batch->place);
    buf_slice(batch->place, place);
    struct slice key = arena_copy(&batch->arena, tree_key);
    if (key.ptr == NULL)
        return error_budget(&batch->error);
    batch->actions[batch->count++] = (struct write_action){
        .kind = WRITE_DELETE,
        .table = batch->table,
        .key = key,
        .item = value_empty_map(),
        .flags = WRITE_EXPIRED,
    };
    return batch->count < SWEEP_BATCH;
}

// Deletes up to a batch of what is due behind `place`, and moves it on. Returns how many were
// found; *deleted how many are gone.
static size_t sweep_batch(struct workshop *shop, struct table *table, struct buf *place,
                          size_t *deleted)
{
    struct batch *batch = calloc(1, sizeof(*batch));
    ensure_memory(batch);
    arena_init(&batch->arena, LIMIT_REQUEST_MEMORY);
    error_init(&batch->error, &batch->arena);
    batch->table = table;
    *deleted = 0;
    struct slice after = arena_copy(&batch->arena, buf_view(place));
    batch->place = place;
    bool ok = engine_ttl_due(shop->engine, table, env_now(engine_env(shop->engine)) / 1000, after,
                             add_due, batch, &batch->error);
    size_t count = batch->count;
    if (ok && count > 0) {
        struct write_job job;
        write_job_init(&job, shop->engine, &batch->arena, &batch->error);
        job.count = count;
        job.actions = batch->actions;
        ok = engine_run_beside(shop->engine, &job.job);
        for (size_t i = 0; ok && i < count; i++)
            *deleted += batch->actions[i].out.changed;
        write_job_release(&job);
    }
    // It may have been deleted in between.
    if (!ok && batch->error.code != ERR_RESOURCE_NOT_FOUND)
        log_error("expired items of table %.*s could not be deleted, will try again: %s",
                  SLICE_FMT(table->name), batch->error.message);
    arena_release(&batch->arena);
    free(batch);
    return ok ? count : 0;
}

// ---- A sweep ----------------------------------------------------------------------------

// Waits; true if the end has come.
static bool pause_ms(struct sweeper *sweeper, int64_t ms, bool until_asked)
{
    int64_t until_ns = monotonic_ns() + ms * MILLISECOND_NS;
    ensure(pthread_mutex_lock(&sweeper->lock) == 0);
    while (!sweeper->stopping && !(until_asked && sweeper->asked)) {
        if (!wait_until(&sweeper->wake, &sweeper->lock, until_ns))
            break;
    }
    bool stopping = sweeper->stopping;
    ensure(pthread_mutex_unlock(&sweeper->lock) == 0);
    return stopping;
}

// Deletes all that is due in one table. False if the end has come.
static bool sweep_table(struct sweeper *sweeper, struct table *table)
{
    int64_t began = monotonic_ms();
    uint64_t done = 0;
    size_t found;
    size_t deleted;
    bool stopping = false;
    struct buf place;
    buf_init(&place, STORE_KEY_MAX);
    do {
        found = sweep_batch(sweeper->shop, table, &place, &deleted);
        done += found;
        ensure(pthread_mutex_lock(&sweeper->lock) == 0);
        sweeper->state.deleted += deleted;
        uint64_t rate = sweeper->rate;
        ensure(pthread_mutex_unlock(&sweeper->lock) == 0);
        int64_t ahead = began + (int64_t)(done * 1000 / rate) - monotonic_ms();
        if (found > 0)
            stopping = pause_ms(sweeper, ahead > 0 ? ahead : 0, false);
    } while (found == SWEEP_BATCH && !stopping);
    buf_release(&place);
    return !stopping;
}

struct ttl_tables {
    struct engine *engine;
    struct arena arena;
    size_t count;
    size_t capacity;
    struct slice *names;
};

static bool collect_name(void *context, struct slice name)
{
    struct ttl_tables *tables = context;
    if (tables->count == tables->capacity) {
        tables->capacity = tables->capacity == 0 ? 64 : tables->capacity * 2;
        tables->names = realloc(tables->names, tables->capacity * sizeof(*tables->names));
        ensure_memory(tables->names);
    }
    struct slice copy = arena_copy(&tables->arena, name);
    if (copy.ptr != NULL)
        tables->names[tables->count++] = copy;
    return copy.ptr != NULL;
}

static bool sweep_all(struct sweeper *sweeper)
{
    struct ttl_tables tables = {.count = 0};
    arena_init(&tables.arena, SIZE_MAX);
    engine_tables(sweeper->shop->engine, slice_of(NULL, 0), collect_name, &tables);
    bool go_on = true;
    for (size_t i = 0; go_on && i < tables.count; i++) {
        struct table *table = engine_table(sweeper->shop->engine, tables.names[i]);
        if (table != NULL && table->ttl.tree != 0)
            go_on = sweep_table(sweeper, table);
        table_release(table);
    }
    arena_release(&tables.arena);
    free(tables.names);
    return go_on;
}

static void *sweeper_main(void *argument)
{
    struct sweeper *sweeper = argument;
    bool go_on = true;
    while (go_on && !pause_ms(sweeper, SWEEP_EVERY_MS, true)) {
        ensure(pthread_mutex_lock(&sweeper->lock) == 0);
        sweeper->asked = false;
        sweeper->state.running = true;
        ensure(pthread_mutex_unlock(&sweeper->lock) == 0);
        go_on = sweep_all(sweeper);
        ensure(pthread_mutex_lock(&sweeper->lock) == 0);
        sweeper->state.running = sweeper->asked;
        sweeper->state.sweeps++;
        ensure(pthread_mutex_unlock(&sweeper->lock) == 0);
    }
    return NULL;
}

// ---- From outside -----------------------------------------------------------------------

struct sweeper *sweeper_new(struct workshop *shop, uint64_t rate)
{
    struct sweeper *sweeper = calloc(1, sizeof(*sweeper));
    ensure_memory(sweeper);
    sweeper->shop = shop;
    sweeper->rate = rate;
    ensure(pthread_mutex_init(&sweeper->lock, NULL) == 0);
    wait_init(&sweeper->wake);
    ensure_started(pthread_create(&sweeper->thread, NULL, sweeper_main, sweeper) == 0);
    return sweeper;
}

void sweeper_free(struct sweeper *sweeper)
{
    ensure(pthread_mutex_lock(&sweeper->lock) == 0);
    sweeper->stopping = true;
    ensure(pthread_cond_signal(&sweeper->wake) == 0);
    ensure(pthread_mutex_unlock(&sweeper->lock) == 0);
    ensure(pthread_join(sweeper->thread, NULL) == 0);
    ensure(pthread_mutex_destroy(&sweeper->lock) == 0);
    ensure(pthread_cond_destroy(&sweeper->wake) == 0);
    free(sweeper);
}

void sweeper_ask(struct sweeper *sweeper)
{
    ensure(pthread_mutex_lock(&sweeper->lock) == 0);
    sweeper->asked = true;
    sweeper->state.running = true;
    ensure(pthread_cond_signal(&sweeper->wake) == 0);
    ensure(pthread_mutex_unlock(&sweeper->lock) == 0);
}

void sweeper_rate(struct sweeper *sweeper, uint64_t rate)
{
    ensure(pthread_mutex_lock(&sweeper->lock) == 0);
    sweeper->rate = rate;
    ensure(pthread_mutex_unlock(&sweeper->lock) == 0);
}

void sweeper_state(struct sweeper *sweeper, struct sweeper_state *out)
{
    ensure(pthread_mutex_lock(&sweeper->lock) == 0);
    *out = sweeper->state;
    ensure(pthread_mutex_unlock(&sweeper->lock) == 0);
}
