// The work that follows when a model is attached: indexes are created one after the other, then
// every item is looked at, and those that the model completes or that claim values are touched, in
// small writes between those of others, at a bounded rate.
//
// A touch is an ordinary action of the writer: it completes the item that is there when its turn
// comes, whatever was read here before. An item that needs nothing now was written by a guard, or
// will be: nobody can make it stale, so it is not written. The position is kept now and then; what
// lies behind it is done again after a crash, which changes nothing.
#include "change/migration.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/wait.h"
#include "engine/layout.h"

#include <stdlib.h>

enum {
    BATCH_ITEMS = 192,
    SAVE_EVERY_MS = 400,
    WAIT_MS = 20,
    BATCH_MEMORY = 64 << 20,
    ITEM_MEMORY = 8 << 20,
    TEXT_MAX = 2048,
};

struct backfill {
    struct run run;      // first; its id is the table's name
    struct table *table; // the current version, a reference
    struct slice model;  // name of the text that this work is for
    struct arena batch;
    struct arena item;
    struct model_work work;
    struct model_pace pace;
    struct buf position;
    struct buf text;
    bool superseded; // somebody attached another model
    int64_t saved_ms;
    size_t count;
    struct write_action actions[BATCH_ITEMS];
};

// ---- Time -------------------------------------------------------------------------------------

bool model_pace(struct workshop *shop, struct model_pace *pace, int64_t count)
{
    if (pace->began_ms == 0)
        pace->began_ms = monotonic_ms();
    pace->done += count;
    while (monotonic_ms() - pace->began_ms < pace->done * 1000 / pace->rate) {
        if (!work_pause(shop, WAIT_MS))
            return false;
    }
    return !work_stopping(shop);
}

// ---- The record -------------------------------------------------------------------------------

// Another apply, or an abandon, may have put its own work in the place of ours.
static bool save(struct run *base, struct slice there, struct run_saving *saving)
{
    struct backfill *run = (struct backfill *)base;
    struct model_work work;
    model_work_decode(there.len > 0 ? there : value_empty_map(), &work);
    run->superseded =
        work.version != run->work.version || !slice_equal(work.table_id, run->work.table_id);
    saving->count = !run->superseded;
    if (!run->superseded)
        saving->writes[0].value = model_work_encode(&run->work, &saving->arena, saving->error);
    return saving->error->code == ERR_NONE;
}

static void keep_position(struct run *base)
{
    struct backfill *run = (struct backfill *)base;
    run->work.progress.position = buf_view(&run->position);
    run_save(base);
    run->saved_ms = monotonic_ms();
}

// Takes the table as it is now. False if it is gone, or has another model.
static bool refresh(struct backfill *run)
{
    struct table *table = engine_table(run->run.shop->engine, run->run.id);
    table_release(run->table);
    run->table = table;
    if (table == NULL || !slice_equal(table->uuid, run->work.table_id) ||
        !slice_equal(table->model, run->model) || table->guard == NULL)
        run->superseded = true;
    return !run->superseded;
}

// ---- Indexes ----------------------------------------------------------------------------------

static bool is_busy(const struct table *table)
{
    for (size_t i = 0; i < table->index_count; i++) {
        if (table->indexes[i].status != INDEX_ACTIVE)
            return true;
    }
    return false;
}

// Does one thing to one index. *done tells that there is nothing left.
static bool index_step(struct backfill *run, bool *done)
{
    const struct model_table *model = model_guard_table(run->table->guard);
    for (size_t i = 0; run->work.prune && i < run->table->index_count; i++) {
        const struct index *index = &run->table->indexes[i];
        if (index->global && model_table_index(model, index->name) == NULL)
            return model_delete_index(run->run.shop, run->run.id, index->name, &run->run.error);
    }
    for (size_t i = 0; i < model->index_count; i++) {
        const struct model_index *index = &model->indexes[i];
        switch (model_index_compare(index, run->table)) {
        case INDEX_IS_SAME:
            break;
        case INDEX_IS_MISSING:
            return model_create_index(run->run.shop, index, run->table, &run->run.error);
        case INDEX_IS_OTHER:
            return model_delete_index(run->run.shop, run->run.id, index->name, &run->run.error);
        }
    }
    *done = true;
    return true;
}

// Somebody else changes the table at this moment; that ends.
static bool must_wait(struct backfill *run)
{
    if (run->run.error.code != ERR_LIMIT_EXCEEDED && run->run.error.code != ERR_RESOURCE_IN_USE)
        return false;
    error_init(&run->run.error, &run->run.arena);
    return true;
}

static bool do_indexes(struct backfill *run)
{
    bool done = false;
    while (!done) {
        if (work_stopping(run->run.shop) || !refresh(run))
            return false;
        bool busy = is_busy(run->table);
        if (!busy && !index_step(run, &done)) {
            busy = must_wait(run);
            if (!busy)
                return false;
        }
        if (busy && !work_pause(run->run.shop, WAIT_MS))
            return false;
    }
    return true;
}

// ---- Items ------------------------------------------------------------------------------------

static void note_violation(struct backfill *run, struct slice item, const char *failure,
                           const struct model_violations *violations)
{
    run->work.violations++;
    if (run->work.progress.samples.count == MODEL_SAMPLES)
        return;
    struct slice key = model_key_of(run->table, item, &run->item);
    buf_clear(&run->text);
    if (violations != NULL)
        model_violations_text(violations, &run->text);
    else
        buf_text(&run->text, failure);
    if (key.ptr != NULL)
        model_sample_add(&run->work.progress.samples, &run->run.arena, key, buf_view(&run->text));
}

static bool add_action(struct backfill *run, struct slice item)
{
    struct write_action action = {
        .kind = WRITE_UPDATE,
        .table = run->table,
        .item = model_key_of(run->table, item, &run->batch),
        .flags = WRITE_TOUCH,
    };
    if (action.item.ptr == NULL)
        return error_budget(&run->run.error);
    run->actions[run->count++] = action;
    return true;
}

static bool visit(void *context, struct slice item)
{
    struct backfill *run = context;
    struct model_touch touch;
    arena_reset(&run->item);
    if (!model_touch(run->table->guard, engine_env(run->run.shop->engine), &run->item, item,
                     &touch))
        return error_budget(&run->run.error);
    run->work.progress.done++;
    if (touch.violations != NULL || touch.failure != NULL)
        note_violation(run, item, touch.failure, touch.violations);
    if (!touch.changed && touch.claim_count == 0)
        return true;
    return add_action(run, item);
}

static bool write_some(struct backfill *run, struct write_action *actions, size_t count)
{
    struct item_edit edit = {.arena = &run->batch, .count = count, .actions = actions};
    if (!work_edit_items(run->run.shop, &edit, &run->run.error))
        return false;
    for (size_t i = 0; i < count; i++)
        run->work.written += actions[i].out.changed;
    return true;
}

// One item that cannot be touched (another one has its unique value) stops all of its write: then
// they are written one by one.
static bool write_each(struct backfill *run)
{
    for (size_t i = 0; i < run->count; i++) {
        struct write_action action = run->actions[i];
        struct write_action alone = {
            .kind = action.kind, .table = action.table, .item = action.item, .flags = WRITE_TOUCH};
        error_init(&run->run.error, &run->batch);
        if (write_some(run, &alone, 1))
            continue;
        if (run->run.error.code != ERR_VALIDATION)
            return false;
        note_violation(run, action.item, run->run.error.message, run->run.error.details);
    }
    error_init(&run->run.error, &run->run.arena);
    return true;
}

static bool write_batch(struct backfill *run)
{
    if (run->count == 0)
        return true;
    error_init(&run->run.error, &run->batch);
    bool ok = write_some(run, run->actions, run->count);
    if (!ok && run->run.error.code == ERR_VALIDATION)
        ok = write_each(run);
    if (ok)
        error_init(&run->run.error, &run->run.arena);
    return ok;
}

static bool do_items(struct backfill *run)
{
    bool ended = run->work.skip_items;
    run->work.progress.items_ms = env_now(engine_env(run->run.shop->engine));
    run->work.progress.items_before = run->work.progress.done;
    keep_position(&run->run);
    while (!ended) {
        if (run->superseded || !refresh(run))
            return false;
        arena_reset(&run->batch);
        run->count = 0;
        int64_t before = run->work.progress.done;
        if (!model_walk(run->run.shop->engine, run->table, &run->position, BATCH_ITEMS, visit, run,
                        &ended, &run->run.error) ||
            !write_batch(run))
            return false;
        if (monotonic_ms() - run->saved_ms >= SAVE_EVERY_MS)
            keep_position(&run->run);
        if (!model_pace(run->run.shop, &run->pace, run->work.progress.done - before) && !ended)
            return false;
    }
    return true;
}

// ---- The run ----------------------------------------------------------------------------------

static bool load(struct run *base, struct slice record)
{
    struct backfill *run = (struct backfill *)base;
    struct model_version version;
    struct engine *engine = base->shop->engine;
    arena_init(&run->batch, BATCH_MEMORY);
    arena_init(&run->item, ITEM_MEMORY);
    buf_init(&run->position, STORE_KEY_MAX);
    buf_init(&run->text, TEXT_MAX);
    model_work_decode(record, &run->work);
    run->table = engine_table(engine, base->id);
    // The work of an earlier table of this name is nobody's any more.
    run->superseded = run->table == NULL || !slice_equal(run->table->uuid, run->work.table_id);
    if (run->superseded || !model_version_get(engine, run->table, run->work.version, &base->arena,
                                              &version, &base->error))
        return false;
    run->model = version.text;
    run->pace.rate = run->work.progress.rate > 0 ? run->work.progress.rate : MODEL_RATE;
    buf_slice(&run->position, run->work.progress.position);
    return true;
}

static bool perform(struct run *base)
{
    struct backfill *run = (struct backfill *)base;
    if (run->work.phase == MODEL_PHASE_INDEXES && !do_indexes(run))
        return false;
    run->work.phase = MODEL_PHASE_ITEMS;
    return refresh(run) && do_items(run);
}

static void finish(struct run *base, bool ok)
{
    struct backfill *run = (struct backfill *)base;
    if (run->superseded)
        return;
    run->work.progress.ended_ms = env_now(engine_env(base->shop->engine));
    run->work.status = ok ? MODEL_ACTIVE : MODEL_FAILED;
    if (ok) {
        run->work.phase = MODEL_PHASE_DONE;
        buf_clear(&run->position);
        log_info("table %.*s: its items are as the model wants them: %lld looked at, %lld "
                 "changed, %lld that violate it",
                 SLICE_FMT(base->id), (long long)run->work.progress.done,
                 (long long)run->work.written, (long long)run->work.violations);
    } else {
        run->work.progress.failure = slice_str(base->error.message);
        log_error("table %.*s: the backfill of its model failed: %s", SLICE_FMT(base->id),
                  base->error.message);
    }
    keep_position(base);
}

static void suspend(struct run *base)
{
    if (!((struct backfill *)base)->superseded)
        keep_position(base);
}

static void release(struct run *base)
{
    struct backfill *run = (struct backfill *)base;
    table_release(run->table);
    buf_release(&run->text);
    buf_release(&run->position);
    arena_release(&run->item);
    arena_release(&run->batch);
}

static const struct run_kind kind = {
    .name = "model/work",
    .lane = LANE_MODEL,
    .size = sizeof(struct backfill),
    .unfinished = MODEL_APPLYING,
    .load = load,
    .perform = perform,
    .finish = finish,
    .suspend = suspend,
    .release = release,
    .save = save,
};

void model_work_begin(struct workshop *shop, struct slice table)
{
    (void)run_start(shop, run_new(&kind, table, table));
}

void model_resume(struct workshop *shop)
{
    run_resume(shop, &kind, true);
    migration_resume(shop);
}
