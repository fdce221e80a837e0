// What backfills and migrations have in common: see model.h.
#include "change/model.h"

#include "base/wait.h"

#include <stdlib.h>

enum {
    PAGE_MEMORY = 64 << 20,
    ITEM_MEMORY = 64 << 20,
    SAVE_MEMORY = 1 << 20,
    SAVE_EVERY_MS = 400,
    WAIT_MS = 20,
    REST_MAX_MS = 200,
};

static size_t record_size(const struct walk_run *run)
{
    return run->run.kind->form->size;
}

static void *record_of(struct walk_run *run)
{
    return (char *)run + run->run.kind->record;
}

static void *record_new(const struct walk_run *run)
{
    void *record = malloc(record_size(run));
    ensure_memory(record);
    return record;
}

void walk_run_open(struct walk_run *run, struct model_progress *progress)
{
    arena_init(&run->page, PAGE_MEMORY);
    arena_init(&run->item, ITEM_MEMORY);
    buf_init(&run->position, STORE_KEY_MAX);
    buf_init(&run->kept, STORE_KEY_MAX);
    buf_slice(&run->position, progress->position);
    buf_slice(&run->kept, progress->position);
    run->progress = progress;
    run->before = record_new(run);
    run->looked = record_new(run);
}

void walk_run_release(struct run *base)
{
    struct walk_run *run = (struct walk_run *)base;
    free(run->before);
    free(run->looked);
    buf_release(&run->kept);
    buf_release(&run->position);
    arena_release(&run->item);
    arena_release(&run->page);
}

bool walk_run_refresh(struct walk_run *run, struct slice name, struct slice table_id)
{
    table_release(run->run.table);
    run->run.table = engine_table(run->run.shop->engine, name);
    return run->run.table != NULL && slice_equal(run->run.table->uuid, table_id);
}

// ---- The record -------------------------------------------------------------------------------

void walk_run_begin(struct walk_run *run)
{
    run->progress->items_ms = env_now(engine_env(run->run.shop->engine));
    run->progress->items_before = run->progress->done;
    walk_run_keep(&run->run);
}

void walk_run_keep(struct run *base)
{
    struct walk_run *run = (struct walk_run *)base;
    buf_clear(&run->kept);
    buf_slice(&run->kept, buf_view(&run->position));
    run->progress->position = buf_view(&run->kept);
    run_save(base);
    run->saved_ms = monotonic_ms();
}

static bool has_failed(const struct walk_run *run, size_t done)
{
    for (size_t i = 0; i < done; i++) {
        if (run->actions[i].out.failure != ERR_NONE)
            return true;
    }
    return false;
}

// On the writer's thread, while ours waits. A page with failures does not end here: what becomes of
// them is not known yet.
static struct record_write record_with(void *context, size_t done)
{
    struct walk_run *run = context;
    struct run_saving saving;
    struct error error;
    void *now = record_new(run);
    bool ends = run->whole && done == run->count && !has_failed(run, done);
    memcpy(now, record_of(run), record_size(run));
    memcpy(record_of(run), ends ? run->looked : run->before, record_size(run));
    run->progress->position = ends ? buf_view(&run->position) : buf_view(&run->kept);
    run->tally(run, done);
    arena_init(&saving.arena, SAVE_MEMORY);
    error_init(&error, &saving.arena);
    saving.error = &error;
    struct record_write write = {.value = VALUE_NONE};
    // The bytes go into the batch when this returns, so they are of the page's memory.
    if (run_saving_fill(&run->run, &saving) && saving.count > 0)
        write = (struct record_write){run->run.record_name,
                                      arena_copy(&run->page, saving.writes[0].value)};
    arena_release(&saving.arena);
    memcpy(record_of(run), now, record_size(run));
    free(now);
    return write;
}

// Now they are on disk: they belong to the beginning of the page as well, if it is gone over again.
static void settled(void *context, size_t done)
{
    struct walk_run *run = context;
    void *states[] = {run->before, run->looked};
    for (size_t i = 0; i < COUNT_OF(states); i++) {
        memcpy(record_of(run), states[i], record_size(run));
        run->tally(run, done);
        memcpy(states[i], record_of(run), record_size(run));
    }
}

// ---- A page -----------------------------------------------------------------------------------

bool walk_run_look(struct walk_run *run, uint64_t limit,
                   bool (*visit)(void *run, struct slice item), bool *ended)
{
    struct engine_stats stats;
    engine_stats(run->run.shop->engine, &stats);
    run->jobs = stats.jobs;
    run->edits = 0;
    run->page_ms = monotonic_ms();
    buf_clear(&run->kept);
    buf_slice(&run->kept, buf_view(&run->position));
    run->progress->position = buf_view(&run->kept);
    memcpy(run->before, record_of(run), record_size(run));
    arena_reset(&run->page);
    return model_walk(run->run.shop->engine, run->run.table, &run->position, limit, visit, run,
                      ended, &run->run.error);
}

bool walk_run_write(struct walk_run *run, struct write_action *actions, size_t count, bool whole)
{
    struct item_edit edit = {.arena = &run->page,
                             .count = count,
                             .actions = actions,
                             .each = true,
                             .record = record_with,
                             .settled = settled,
                             .context = run};
    if (count == 0)
        return true;
    memcpy(run->looked, record_of(run), record_size(run));
    run->actions = actions;
    run->count = count;
    run->whole = whole;
    run->edits++;
    return work_edit_items(run->run.shop, &edit, &run->run.error);
}

// ---- Others -----------------------------------------------------------------------------------

// The writer takes one of our jobs at a time, behind the requests that wait, so alone we go as fast
// as the disk does. Where others write, too, we rest as long as we have worked: they wait for a job
// of ours every other time at most.
static int64_t rest_ms(const struct walk_run *run)
{
    struct engine_stats stats;
    engine_stats(run->run.shop->engine, &stats);
    int64_t worked = monotonic_ms() - run->page_ms;
    if (stats.jobs - run->jobs <= run->edits)
        return 0;
    return worked < REST_MAX_MS ? worked : REST_MAX_MS;
}

static bool keep_rate(struct walk_run *run, int64_t count)
{
    if (run->began_ms == 0)
        run->began_ms = run->page_ms;
    run->done += count;
    while (monotonic_ms() - run->began_ms < run->done * 1000 / run->progress->rate) {
        if (!work_pause(run->run.shop, WAIT_MS))
            return false;
    }
    return true;
}

bool walk_run_pause(struct walk_run *run, int64_t count)
{
    struct workshop *shop = run->run.shop;
    int64_t rest = rest_ms(run);
    if (monotonic_ms() - run->saved_ms >= SAVE_EVERY_MS)
        walk_run_keep(&run->run);
    if (rest > 0 && !work_pause(shop, rest))
        return false;
    return (run->progress->rate == 0 || keep_rate(run, count)) && !work_stopping(shop);
}
