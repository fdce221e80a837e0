// Running a migration, on LANE_MODEL: step by step over the table, item by item, a transaction for
// each. The position is kept now and then; an item that was migrated already does not fit any more,
// or nothing is left to write for it, so that going over it again after a crash does no harm.
#include "change/migration.h"

#include "base/log.h"
#include "base/wait.h"
#include "engine/layout.h"

#include <stdio.h>

enum {
    PAGE_ITEMS = 64,
    TRIES = 10,
    SAVE_EVERY_MS = 400,
    ITEM_MEMORY = 64 << 20,
};

struct migration_run {
    struct run run; // first; its id is "<table>/<migration>"
    struct slice table_name;
    struct slice name;
    struct arena page;
    struct arena item;
    struct table *table; // a reference
    struct migration *migration;
    struct migration_work work;
    struct migrator migrator;
    struct model_pace pace;
    struct buf position;
    int64_t saved_ms;
    size_t count;
    struct slice items[PAGE_ITEMS];
    struct migration_plan plan;
};

// ---- The record -------------------------------------------------------------------------------

// One that is done is told in the history of the table's model, too.
static bool save_history(struct migration_run *run, struct run_saving *saving)
{
    char *did = arena_printf(&saving->arena, "migrate %s %.*s", run->work.down ? "down" : "up",
                             SLICE_FMT(run->name));
    struct model_version version = {.time_ms = run->work.progress.ended_ms, .file = run->work.file};
    if (did == NULL)
        return error_budget(saving->error);
    version.did = slice_str(did);
    if (!model_version_next(run->run.shop->engine, run->table, &version.number, saving->error))
        return false;
    saving->writes[1] = model_version_record(run->table, &version, &saving->arena, saving->error);
    saving->count = 2;
    return saving->error->code == ERR_NONE;
}

static bool save(struct run *base, struct slice there, struct run_saving *saving)
{
    struct migration_run *run = (struct migration_run *)base;
    (void)there;
    saving->writes[0].value = migration_work_encode(&run->work, &saving->arena, saving->error);
    return saving->error->code == ERR_NONE &&
           (run->work.status != MIGRATION_DONE || save_history(run, saving));
}

static void keep_position(struct run *base)
{
    struct migration_run *run = (struct migration_run *)base;
    run->work.progress.position = buf_view(&run->position);
    run_save(base);
    run->saved_ms = monotonic_ms();
}

// ---- Items ------------------------------------------------------------------------------------

static bool keep_item(void *context, struct slice item)
{
    struct migration_run *run = context;
    run->items[run->count] = arena_copy(&run->page, item);
    return run->items[run->count++].ptr != NULL || error_budget(&run->run.error);
}

static void note_failure(struct migration_run *run, struct slice item, const char *text)
{
    struct slice key = model_key_of(run->table, item, &run->item);
    run->work.failed++;
    if (key.ptr != NULL)
        model_sample_add(&run->work.progress.samples, &run->run.arena, key, slice_str(text));
}

// Whether the transaction failed because something was changed meanwhile.
static bool was_changed(const struct migration_plan *plan, const struct error *error)
{
    if (error->code == ERR_CONDITIONAL_CHECK_FAILED)
        return true;
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->actions[i].out.failure == ERR_CONDITIONAL_CHECK_FAILED)
            return true;
    }
    return false;
}

// The reason to be told of a cancelled transaction.
static const char *reason(const struct migration_plan *plan, const struct error *error)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->actions[i].out.failure != ERR_NONE)
            return plan->actions[i].out.failure_text;
    }
    return error->message;
}

static bool write_plan(struct migration_run *run, struct error *error)
{
    struct item_edit edit = {.arena = &run->item,
                             .count = run->plan.count,
                             .actions = run->plan.actions,
                             .transaction = true};
    return work_edit_items(run->run.shop, &edit, error);
}

// The item as it is now, in the arena; VALUE_NONE if it is gone.
static bool read_again(struct migration_run *run, struct slice *item, struct error *error)
{
    struct buf key;
    struct item_read read;
    buf_init(&key, STORE_KEY_MAX);
    layout_item_key(&key, run->table->tree, &run->table->keys, *item);
    bool ok = engine_get(run->run.shop->engine, NULL, buf_view(&key), &read, error);
    buf_release(&key);
    if (!ok)
        return false;
    *item = read.item.len == 0 ? VALUE_NONE : arena_copy(&run->page, read.item);
    ok = read.item.len == 0 || item->ptr != NULL || error_budget(error);
    item_read_release(run->run.shop->engine, &read);
    return ok;
}

// True if the run can go on, whether the item could be migrated or not.
static bool migrate_item(struct migration_run *run, struct slice item)
{
    for (int try = 0; try < TRIES && item.len > 0; try++) {
        struct error error;
        arena_reset(&run->item);
        error_init(&error, &run->item);
        if (!migration_plan(&run->migrator, item, &run->plan, &error)) {
            if (error.code != ERR_VALIDATION)
                return error_set(&run->run.error, error.code, "%s", error.message);
            run->work.matched += try == 0;
            note_failure(run, item, error.message);
            return true;
        }
        if (!run->plan.result.fits)
            return true;
        run->work.matched += try == 0;
        if (!run->plan.changes)
            return true;
        if (write_plan(run, &error)) {
            run->work.made += (int64_t)run->plan.made;
            run->work.removed += (int64_t)run->plan.removed;
            return true;
        }
        if (error.code != ERR_TRANSACTION_CANCELED && error.code != ERR_VALIDATION)
            return error_set(&run->run.error, error.code, "%s", error.message);
        if (!was_changed(&run->plan, &error)) {
            note_failure(run, item, reason(&run->plan, &error));
            return true;
        }
        error_init(&error, &run->item);
        if (!read_again(run, &item, &error))
            return error_set(&run->run.error, error.code, "%s", error.message);
    }
    if (item.len > 0)
        note_failure(run, item, "it was changed by others again and again");
    return true;
}

static bool refresh(struct migration_run *run)
{
    struct table *table = engine_table(run->run.shop->engine, run->table_name);
    table_release(run->table);
    run->table = table;
    run->migrator.table = table;
    if (table == NULL || !slice_equal(table->uuid, run->work.table_id))
        return error_set(&run->run.error, ERR_RESOURCE_NOT_FOUND, "The table was deleted.");
    return true;
}

static bool run_page(struct migration_run *run, bool *ended)
{
    arena_reset(&run->page);
    run->count = 0;
    if (!refresh(run) || !model_walk(run->run.shop->engine, run->table, &run->position, PAGE_ITEMS,
                                     keep_item, run, ended, &run->run.error))
        return false;
    for (size_t i = 0; i < run->count; i++) {
        if (!migrate_item(run, run->items[i]))
            return false;
        run->work.progress.done++;
    }
    if (monotonic_ms() - run->saved_ms >= SAVE_EVERY_MS)
        keep_position(&run->run);
    return model_pace(run->run.shop, &run->pace, (int64_t)run->count) || *ended;
}

static bool run_steps(struct migration_run *run)
{
    const struct migration_way *way = run->work.down ? &run->migration->down : &run->migration->up;
    for (; run->work.step < (int64_t)way->count; run->work.step++) {
        bool ended = false;
        run->migrator.step = &way->steps[run->work.step];
        run->work.progress.total = run->table->stats->items;
        run->work.progress.items_ms = env_now(engine_env(run->run.shop->engine));
        run->work.progress.items_before = run->work.progress.done;
        keep_position(&run->run);
        while (!ended) {
            if (!run_page(run, &ended))
                return false;
        }
        buf_clear(&run->position);
        run->work.progress.done = 0;
    }
    return true;
}

// ---- The run ----------------------------------------------------------------------------------

static bool load(struct run *base, struct slice record)
{
    struct migration_run *run = (struct migration_run *)base;
    arena_init(&run->page, ITEM_MEMORY);
    arena_init(&run->item, ITEM_MEMORY);
    buf_init(&run->position, STORE_KEY_MAX);
    migration_work_decode(record, &run->work);
    run->name = run->work.name;
    run->table_name = base->task.subject;
    run->migrator = (struct migrator){.engine = base->shop->engine, .arena = &run->item};
    if (!refresh(run))
        return false;
    run->pace.rate = run->work.progress.rate > 0 ? run->work.progress.rate : MODEL_RATE;
    buf_slice(&run->position, run->work.progress.position);
    run->migration = migration_open(run->work.file, run->work.text, run->work.down, run->table,
                                    &base->arena, &base->error);
    if (run->migration == NULL)
        return false;
    run->migrator.absent = migration_absent(run->table, &base->arena, &base->error);
    return run->migrator.absent != NULL;
}

static bool perform(struct run *base)
{
    return run_steps((struct migration_run *)base);
}

static void finish(struct run *base, bool ok)
{
    struct migration_run *run = (struct migration_run *)base;
    run->work.progress.ended_ms = env_now(engine_env(base->shop->engine));
    run->work.status = ok ? MIGRATION_DONE : MIGRATION_FAILED;
    buf_clear(&run->position);
    if (ok) {
        run->work.applied = !run->work.down;
        log_info("table %.*s: migration %.*s is done: %lld items, %lld made, %lld removed, %lld "
                 "failed",
                 SLICE_FMT(run->table_name), SLICE_FMT(run->name), (long long)run->work.matched,
                 (long long)run->work.made, (long long)run->work.removed,
                 (long long)run->work.failed);
    } else {
        run->work.progress.failure = slice_str(base->error.message);
        log_error("table %.*s: migration %.*s failed: %s", SLICE_FMT(run->table_name),
                  SLICE_FMT(run->name), base->error.message);
    }
    keep_position(base);
}

static void release(struct run *base)
{
    struct migration_run *run = (struct migration_run *)base;
    table_release(run->table);
    buf_release(&run->position);
    arena_release(&run->item);
    arena_release(&run->page);
}

static const struct run_kind kind = {
    .name = "model/migration",
    .lane = LANE_MODEL,
    .size = sizeof(struct migration_run),
    .unfinished = MIGRATION_RUNNING,
    .load = load,
    .perform = perform,
    .finish = finish,
    .suspend = keep_position,
    .release = release,
    .save = save,
};

void migration_begin(struct workshop *shop, struct slice table, struct slice name)
{
    char id[RUN_NAME_MAX];
    int len = snprintf(id, sizeof(id), "%.*s/%.*s", SLICE_FMT(table), SLICE_FMT(name));
    ensure(len > 0 && (size_t)len < sizeof(id));
    struct slice whole = slice_of(id, (size_t)len);
    (void)run_start(shop, run_new(&kind, whole, slice_of(id, table.len)));
}

void migration_resume(struct workshop *shop)
{
    run_resume(shop, &kind, true);
}
