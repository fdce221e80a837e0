// What backfills and migrations have in common: see model.h.
#include "change/model.h"

#include "base/wait.h"

enum { PAGE_MEMORY = 64 << 20, ITEM_MEMORY = 64 << 20, SAVE_EVERY_MS = 400, WAIT_MS = 20 };

void walk_run_open(struct walk_run *run, struct model_progress *progress)
{
    arena_init(&run->page, PAGE_MEMORY);
    arena_init(&run->item, ITEM_MEMORY);
    buf_init(&run->position, STORE_KEY_MAX);
    buf_slice(&run->position, progress->position);
    run->progress = progress;
    if (progress->rate <= 0)
        progress->rate = MODEL_RATE;
}

void walk_run_release(struct run *base)
{
    struct walk_run *run = (struct walk_run *)base;
    buf_release(&run->position);
    arena_release(&run->item);
    arena_release(&run->page);
}

void walk_run_begin(struct walk_run *run)
{
    run->progress->items_ms = env_now(engine_env(run->run.shop->engine));
    run->progress->items_before = run->progress->done;
    walk_run_keep(&run->run);
}

bool walk_run_refresh(struct walk_run *run, struct slice name, struct slice table_id)
{
    table_release(run->run.table);
    run->run.table = engine_table(run->run.shop->engine, name);
    return run->run.table != NULL && slice_equal(run->run.table->uuid, table_id);
}

void walk_run_keep(struct run *base)
{
    struct walk_run *run = (struct walk_run *)base;
    run->progress->position = buf_view(&run->position);
    run_save(base);
    run->saved_ms = monotonic_ms();
}

bool walk_run_pause(struct walk_run *run, int64_t count)
{
    struct workshop *shop = run->run.shop;
    if (monotonic_ms() - run->saved_ms >= SAVE_EVERY_MS)
        walk_run_keep(&run->run);
    if (run->began_ms == 0)
        run->began_ms = monotonic_ms();
    run->done += count;
    while (monotonic_ms() - run->began_ms < run->done * 1000 / run->progress->rate) {
        if (!work_pause(shop, WAIT_MS))
            return false;
    }
    return !work_stopping(shop);
}
