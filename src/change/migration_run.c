// Running a migration, on LANE_MODEL: step by step over the table, a page of items at a time. What
// becomes of one item is a part of the page's write: all of it or nothing, and nobody else's
// concern. An item that was migrated already does not fit any more, or nothing is left to write for
// it, so that going over it again after a crash does no harm.
#include "change/migration.h"

#include "base/log.h"

#include <stdio.h>

enum { PAGE_ITEMS = 64, PAGE_ACTIONS = 256, PAGE_BYTES = 1 << 20, TRIES = 10 };

// What is written for one item: actions of the page.
struct part {
    struct slice item;
    size_t first;
    size_t end;
    int64_t made;
    int64_t removed;
};

struct migration_run {
    struct walk_run walk; // first; its id is "<table>/<migration>", and the subject the table
    struct migration *migration;
    struct migration_work work;
    struct migrator migrator;
    size_t item_count;
    struct slice items[PAGE_ITEMS];
    struct migration_plan plan;
    size_t part_count;
    struct part parts[PAGE_ITEMS];
    size_t action_count;
    size_t bytes; // of the items that are put
    struct write_action actions[PAGE_ACTIONS + MIGRATION_ACTIONS];
};

// ---- The record -------------------------------------------------------------------------------

// One that has changed items is told in the history of the table's model, too.
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
    bool ended = run->work.status == MIGRATION_DONE || run->work.status == MIGRATION_INCOMPLETE;
    return !ended || save_history(run, saving);
}

// ---- Items ------------------------------------------------------------------------------------

static bool keep_item(void *context, struct slice item)
{
    struct migration_run *run = context;
    run->items[run->item_count] = arena_copy(&run->walk.page, item);
    return run->items[run->item_count++].ptr != NULL || error_budget(&run->walk.run.error);
}

static void note_failure(struct migration_run *run, struct slice item, const char *text)
{
    run->work.matched++;
    run->work.failed++;
    if (run->work.progress.samples.count == MODEL_SAMPLES)
        return;
    struct slice key = model_key_of(run->walk.run.table, item, &run->walk.item);
    if (key.ptr != NULL)
        model_sample_add(&run->work.progress.samples, &run->walk.run.arena, key, slice_str(text));
}

static void add_part(struct migration_run *run, struct slice item)
{
    const struct migration_plan *plan = &run->plan;
    run->parts[run->part_count++] = (struct part){.item = item,
                                                  .first = run->action_count,
                                                  .end = run->action_count + plan->count,
                                                  .made = (int64_t)plan->made,
                                                  .removed = (int64_t)plan->removed};
    for (size_t i = 0; i < plan->count; i++) {
        struct write_action *action = &run->actions[run->action_count++];
        *action = plan->actions[i];
        action->flags |= write_flag_if(i > 0, WRITE_JOINED);
        run->bytes += action->item.len;
    }
}

// Plans one item. True if the run can go on, whether it can be migrated or not; what is to be
// written is a part then.
static bool plan_item(struct migration_run *run, struct slice item)
{
    struct error error;
    error_init(&error, run->migrator.arena);
    if (!migration_plan(&run->migrator, item, &run->plan, &error)) {
        if (error.code != ERR_VALIDATION)
            return error_set(&run->walk.run.error, error.code, "%s", error.message);
        note_failure(run, item, error.message);
        return true;
    }
    if (run->plan.result.fits && run->plan.changes)
        add_part(run, item);
    else
        run->work.matched += run->plan.result.fits;
    return true;
}

static const struct write_result *part_failure(const struct migration_run *run,
                                               const struct part *part)
{
    for (size_t i = part->first; i < part->end; i++) {
        if (run->actions[i].out.failure != ERR_NONE)
            return &run->actions[i].out;
    }
    return NULL;
}

static void tally(struct walk_run *walk, size_t done)
{
    struct migration_run *run = (struct migration_run *)walk;
    for (size_t i = 0; i < run->part_count && run->parts[i].end <= done; i++) {
        if (part_failure(run, &run->parts[i]) != NULL)
            continue;
        run->work.matched++;
        run->work.made += run->parts[i].made;
        run->work.removed += run->parts[i].removed;
    }
}

static bool write_parts(struct migration_run *run, bool whole)
{
    return walk_run_write(&run->walk, run->actions, run->action_count, whole);
}

static void forget_parts(struct migration_run *run)
{
    run->part_count = 0;
    run->action_count = 0;
    run->bytes = 0;
}

static bool was_changed(enum error_code code)
{
    return code == ERR_CONDITIONAL_CHECK_FAILED || code == ERR_TRANSACTION_CONFLICT;
}

// An item of which something has changed since it was read is looked at again, by itself.
static bool migrate_again(struct migration_run *run, struct slice item)
{
    for (int try = 0; try < TRIES; try++) {
        arena_reset(&run->walk.item);
        forget_parts(run);
        if (!model_item_now(run->migrator.engine, run->walk.run.table, &run->walk.page, &item,
                            &run->walk.run.error))
            return false;
        if (item.len == 0)
            return true;
        if (!plan_item(run, item) || !write_parts(run, false))
            return false;
        const struct write_result *failed =
            run->part_count == 0 ? NULL : part_failure(run, &run->parts[0]);
        if (failed == NULL)
            return true;
        if (!was_changed(failed->failure)) {
            note_failure(run, item, failed->failure_text);
            return true;
        }
    }
    note_failure(run, item, "it was changed by others again and again");
    return true;
}

// Writes what is planned, and sees to what could not be.
static bool write_planned(struct migration_run *run, bool whole)
{
    struct slice again[PAGE_ITEMS];
    size_t count = 0;
    if (!write_parts(run, whole))
        return false;
    for (size_t i = 0; i < run->part_count; i++) {
        const struct write_result *failed = part_failure(run, &run->parts[i]);
        if (failed != NULL && was_changed(failed->failure))
            again[count++] = run->parts[i].item;
        else if (failed != NULL && failed->failure == ERR_VALIDATION)
            note_failure(run, run->parts[i].item, failed->failure_text);
        else if (failed != NULL)
            return error_set(&run->walk.run.error, failed->failure, "%s", failed->failure_text);
    }
    forget_parts(run);
    run->migrator.arena = &run->walk.item;
    for (size_t i = 0; i < count; i++) {
        if (!migrate_again(run, again[i]))
            return false;
    }
    run->migrator.arena = &run->walk.page;
    forget_parts(run);
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
    run->item_count = 0;
    if (!refresh(run) || !walk_run_look(&run->walk, PAGE_ITEMS, keep_item, ended))
        return false;
    for (size_t i = 0; i < run->item_count; i++) {
        bool full = run->action_count >= PAGE_ACTIONS || run->bytes >= PAGE_BYTES;
        if ((full && !write_planned(run, false)) || !plan_item(run, run->items[i]))
            return false;
        run->work.progress.done++;
    }
    return write_planned(run, true) &&
           (walk_run_pause(&run->walk, (int64_t)run->item_count) || *ended);
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
    run->walk.tally = tally;
    run->migrator = (struct migrator){.engine = base->shop->engine, .arena = &run->walk.page};
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

// What could not be migrated is left as it is, and tried again when the migration is run again:
// only one that has left nothing counts as done. One that could migrate nothing has changed
// nothing.
static void end_way(struct migration_work *work, struct arena *arena)
{
    bool nothing =
        work->failed > 0 && work->failed == work->matched && work->made == 0 && work->removed == 0;
    work->status = nothing            ? MIGRATION_FAILED
                   : work->failed > 0 ? MIGRATION_INCOMPLETE
                                      : MIGRATION_DONE;
    if (!nothing)
        work->applied = !work->down || work->failed > 0;
    char *failure =
        arena_printf(arena, "None of %lld items could be migrated.", (long long)work->failed);
    if (nothing && failure != NULL)
        work->progress.failure = slice_str(failure);
}

static void finish(struct run *base, bool ok)
{
    struct migration_run *run = (struct migration_run *)base;
    struct migration_work *work = &run->work;
    work->progress.ended_ms = env_now(engine_env(base->shop->engine));
    buf_clear(&run->walk.position);
    if (ok) {
        end_way(work, &base->arena);
        log_info("table %.*s: migration %.*s has ended: %lld items, %lld made, %lld removed, %lld "
                 "failed",
                 SLICE_FMT(base->task.subject), SLICE_FMT(work->name), (long long)work->matched,
                 (long long)work->made, (long long)work->removed, (long long)work->failed);
    } else {
        work->status = MIGRATION_FAILED;
        work->progress.failure = slice_str(base->error.message);
        log_error("table %.*s: migration %.*s failed: %s", SLICE_FMT(base->task.subject),
                  SLICE_FMT(work->name), base->error.message);
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
