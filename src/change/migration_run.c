// Running a migration, on LANE_MODEL: step by step over the table, item by item, a transaction for
// each. The position is kept now and then; an item that was migrated already does not fit any more,
// or nothing is left to write for it, so that going over it again after a crash does no harm.
#include "change/migration.h"

#include "base/log.h"

#include <stdio.h>

enum { PAGE_ITEMS = 64, TRIES = 10 };

struct migration_run {
    struct walk_run walk; // first; its id is "<table>/<migration>", and the subject the table
    struct migration *migration;
    struct migration_work work;
    struct migrator migrator;
    size_t count;
    struct slice items[PAGE_ITEMS];
    struct migration_plan plan;
};

// ---- The record -------------------------------------------------------------------------------

// One that is done is told in the history of the table's model, too.
static bool save_history(struct migration_run *run, struct run_saving *saving)
{
    char *did = arena_printf(&saving->arena, "migrate %s %.*s", run->work.down ? "down" : "up",
                             SLICE_FMT(run->work.name));
    struct model_version version = {.time_ms = run->work.progress.ended_ms, .file = run->work.file};
    if (did == NULL)
        return error_budget(saving->error);
    version.did = slice_str(did);
    if (!model_version_next(run->walk.run.shop->engine, run->walk.run.table, &version.number,
                            saving->error))
        return false;
    saving->writes[1] =
        model_version_record(run->walk.run.table, &version, &saving->arena, saving->error);
    saving->count = 2;
    return saving->error->code == ERR_NONE;
}

static bool save(struct run *base, struct slice there, struct run_saving *saving)
{
    struct migration_run *run = (struct migration_run *)base;
    (void)there;
    return run->work.status != MIGRATION_DONE || save_history(run, saving);
}

// ---- Items ------------------------------------------------------------------------------------

static bool keep_item(void *context, struct slice item)
{
    struct migration_run *run = context;
    run->items[run->count] = arena_copy(&run->walk.page, item);
    return run->items[run->count++].ptr != NULL || error_budget(&run->walk.run.error);
}

static void note_failure(struct migration_run *run, struct slice item, const char *text)
{
    struct slice key = model_key_of(run->walk.run.table, item, &run->walk.item);
    run->work.failed++;
    if (key.ptr != NULL)
        model_sample_add(&run->work.progress.samples, &run->walk.run.arena, key, slice_str(text));
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
    struct item_edit edit = {.arena = &run->walk.item,
                             .count = run->plan.count,
                             .actions = run->plan.actions,
                             .transaction = true};
    return work_edit_items(run->walk.run.shop, &edit, error);
}

// True if the run can go on, whether the item could be migrated or not.
static bool migrate_item(struct migration_run *run, struct slice item)
{
    struct workshop *shop = run->walk.run.shop;
    for (int try = 0; try < TRIES && item.len > 0; try++) {
        struct error error;
        arena_reset(&run->walk.item);
        error_init(&error, &run->walk.item);
        if (!migration_plan(&run->migrator, item, &run->plan, &error)) {
            if (error.code != ERR_VALIDATION)
                return error_set(&run->walk.run.error, error.code, "%s", error.message);
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
            return error_set(&run->walk.run.error, error.code, "%s", error.message);
        if (!was_changed(&run->plan, &error)) {
            note_failure(run, item, reason(&run->plan, &error));
            return true;
        }
        error_init(&error, &run->walk.item);
        if (!model_item_now(shop->engine, run->walk.run.table, &run->walk.page, &item, &error))
            return error_set(&run->walk.run.error, error.code, "%s", error.message);
    }
    if (item.len > 0)
        note_failure(run, item, "it was changed by others again and again");
    return true;
}

static bool refresh(struct migration_run *run)
{
    struct run *base = &run->walk.run;
    bool there = walk_run_refresh(&run->walk, base->task.subject, run->work.table_id);
    run->migrator.table = base->table;
    return there || error_set(&base->error, ERR_RESOURCE_NOT_FOUND, "The table was deleted.");
}

static bool run_page(struct migration_run *run, bool *ended)
{
    arena_reset(&run->walk.page);
    run->count = 0;
    if (!refresh(run) ||
        !model_walk(run->walk.run.shop->engine, run->walk.run.table, &run->walk.position,
                    PAGE_ITEMS, keep_item, run, ended, &run->walk.run.error))
        return false;
    for (size_t i = 0; i < run->count; i++) {
        if (!migrate_item(run, run->items[i]))
            return false;
        run->work.progress.done++;
    }
    return walk_run_pause(&run->walk, (int64_t)run->count) || *ended;
}

static bool run_steps(struct migration_run *run)
{
    const struct migration_way *way = run->work.down ? &run->migration->down : &run->migration->up;
    for (; run->work.step < (int64_t)way->count; run->work.step++) {
        bool ended = false;
        run->migrator.step = &way->steps[run->work.step];
        run->work.progress.total = run->walk.run.table->stats->items;
        walk_run_begin(&run->walk);
        while (!ended) {
            if (!run_page(run, &ended))
                return false;
        }
        buf_clear(&run->walk.position);
        run->work.progress.done = 0;
    }
    return true;
}

// ---- The run ----------------------------------------------------------------------------------

static bool load(struct run *base)
{
    struct migration_run *run = (struct migration_run *)base;
    walk_run_open(&run->walk, &run->work.progress);
    run->migrator = (struct migrator){.engine = base->shop->engine, .arena = &run->walk.item};
    if (!refresh(run))
        return false;
    run->migration = migration_open(run->work.file, run->work.text, run->work.down, base->table,
                                    &base->arena, &base->error);
    if (run->migration == NULL)
        return false;
    run->migrator.absent = migration_absent(base->table, &base->arena, &base->error);
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
    buf_clear(&run->walk.position);
    if (ok) {
        run->work.applied = !run->work.down;
        log_info("table %.*s: migration %.*s is done: %lld items, %lld made, %lld removed, %lld "
                 "failed",
                 SLICE_FMT(base->task.subject), SLICE_FMT(run->work.name),
                 (long long)run->work.matched, (long long)run->work.made,
                 (long long)run->work.removed, (long long)run->work.failed);
    } else {
        run->work.progress.failure = slice_str(base->error.message);
        log_error("table %.*s: migration %.*s failed: %s", SLICE_FMT(base->task.subject),
                  SLICE_FMT(run->work.name), base->error.message);
    }
    walk_run_keep(base);
}

static const struct run_kind kind =
    RUN_KIND("model/migration", LANE_MODEL, migration_run, work, &migration_work_form,
             MIGRATION_RUNNING, load, perform, finish, walk_run_keep, walk_run_release, save);

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
