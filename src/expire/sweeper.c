// See sweeper.h. A sweep goes through all tables and, as long as something is due, deletes it a
// batch at a time. Between batches it waits as long as the rate asks for.
#include "expire/sweeper.h"

#include "base/log.h"
#include "base/wait.h"
#include "base/worker.h"
#include "engine/ttl.h"

#include <stdlib.h>

enum {
    SWEEP_EVERY_MS = 1000,
    SWEEP_BATCH = 50, // items deleted by one job
};

struct sweeper {
    struct workshop *shop;
    struct worker worker;
    _Atomic uint64_t rate;
    _Atomic uint64_t deleted;
    _Atomic uint64_t sweeps;
};

// ---- One batch --------------------------------------------------------------------------

struct batch {
    struct arena arena;
    struct error error;
    size_t count;
    struct write_action actions[SWEEP_BATCH];
};

// Deletes up to a batch of what is due behind `place`, and moves it on. Returns how many were
// found; *deleted how many are gone.
static size_t sweep_batch(struct workshop *shop, struct table *table, struct buf *place,
                          size_t *deleted)
{
    struct batch *batch = memory_zeroed(sizeof(*batch));
    arena_init(&batch->arena, LIMIT_REQUEST_MEMORY);
    error_init(&batch->error, &batch->arena);
    batch->count = SWEEP_BATCH;
    *deleted = 0;
    bool ok = engine_ttl_due(shop->engine, table, env_now(engine_env(shop->engine)) / 1000, place,
                             &batch->arena, batch->actions, &batch->count, &batch->error);
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

// Deletes all that is due in one table. False if the end has come.
static bool sweep_table(struct sweeper *sweeper, struct table *table)
{
    int64_t began = monotonic_ms();
    uint64_t done = 0;
    size_t found;
    size_t deleted;
    bool go_on = true;
    struct buf place;
    buf_init(&place, STORE_KEY_MAX);
    do {
        found = sweep_batch(sweeper->shop, table, &place, &deleted);
        done += found;
        sweeper->deleted += deleted;
        int64_t ahead = began + (int64_t)(done * 1000 / sweeper->rate) - monotonic_ms();
        if (found > 0)
            go_on = worker_pause(&sweeper->worker, ahead > 0 ? ahead : 0);
    } while (found == SWEEP_BATCH && go_on);
    buf_release(&place);
    return go_on;
}

static bool sweep_if_asked(void *context, struct table *table)
{
    return table->ttl.tree == 0 || sweep_table(context, table);
}

static void sweep_all(void *context)
{
    struct sweeper *sweeper = context;
    work_each_table(sweeper->shop, sweep_if_asked, sweeper);
    sweeper->sweeps++;
}

// ---- From outside -----------------------------------------------------------------------

struct sweeper *sweeper_new(struct workshop *shop, uint64_t rate)
{
    struct sweeper *sweeper = memory_zeroed(sizeof(*sweeper));
    sweeper->shop = shop;
    sweeper->rate = rate;
    worker_start(
        &sweeper->worker,
        &(struct worker_plan){.work = sweep_all, .context = sweeper, .every_ms = SWEEP_EVERY_MS});
    return sweeper;
}

void sweeper_free(struct sweeper *sweeper)
{
    if (sweeper == NULL)
        return;
    worker_stop(&sweeper->worker);
    free(sweeper);
}

void sweeper_ask(struct sweeper *sweeper)
{
    if (sweeper != NULL)
        worker_ask(&sweeper->worker);
}

void sweeper_rate(struct sweeper *sweeper, uint64_t rate)
{
    if (sweeper != NULL)
        sweeper->rate = rate;
}

void sweeper_state(struct sweeper *sweeper, struct sweeper_state *out)
{
    *out = (struct sweeper_state){.running = false};
    if (sweeper == NULL)
        return;
    // In this order: once it does not run, what it has done is counted.
    out->running = !worker_idle(&sweeper->worker);
    out->deleted = sweeper->deleted;
    out->sweeps = sweeper->sweeps;
}
