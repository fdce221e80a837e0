// Running a migration, on LANE_MODEL: step by step over the table, item by item, a transaction for
// each. The position is kept now and then; an item that was migrated already does not fit any more,
// or nothing is left to write for it, so that going over it again after a crash does no harm.
#include "api/model_migration.h"

#include "base/log.h"
#include "base/wait.h"
#include "engine/layout.h"

#include <stdlib.h>

enum {
    PAGE_ITEMS = 64,
    TRIES = 10,
    SAVE_EVERY_MS = 400,
    RUN_MEMORY = 64 << 20,
    ITEM_MEMORY = 64 << 20,
};

struct migration_task {
    struct task task; // first
    char table[LIMIT_TABLE_NAME_MAX + 1];
    char name[LIMIT_MODEL_NAME + 1];
};

struct migration_run {
    struct api *api;
    struct slice table_name;
    struct slice name;
    struct arena arena; // of the run
    struct arena page;
    struct arena item;
    struct error error;
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

struct saving {
    struct record_job records; // first
    struct migration_run *run;
    struct arena arena;
    struct record_write writes[2];
    bool done; // tell it in the history, too
};

static bool save_decide(struct record_job *job, struct engine *engine)
{
    struct saving *saving = (struct saving *)job;
    struct migration_run *run = saving->run;
    struct error *error = job->job.error;
    (void)engine;
    job->count = 1;
    saving->writes[0].value = migration_work_encode(&run->work, &saving->arena, error);
    if (!saving->done || error->code != ERR_NONE)
        return error->code == ERR_NONE;
    char *did = arena_printf(&saving->arena, "migrate %s %.*s", run->work.down ? "down" : "up",
                             SLICE_FMT(run->name));
    struct model_version version = {.time_ms = run->work.progress.ended_ms, .file = run->work.file};
    if (did == NULL)
        return error_budget(error);
    version.did = slice_str(did);
    if (!model_version_next(run->api, run->table, &version.number, error))
        return false;
    saving->writes[1] = model_version_record(run->table, &version, &saving->arena, error);
    job->count = 2;
    return error->code == ERR_NONE;
}

static void save(struct migration_run *run, bool done)
{
    struct saving saving = {.run = run, .done = done};
    struct error error;
    run->work.progress.position = buf_view(&run->position);
    arena_init(&saving.arena, RUN_MEMORY);
    error_init(&error, &saving.arena);
    saving.writes[0].name = migration_record_name(&saving.arena, run->table_name, run->name);
    bool ok = saving.writes[0].name.ptr != NULL;
    struct background_patience patience = {.tries = 0};
    do {
        record_job_init(&saving.records, &error);
        saving.records.decide = save_decide;
        saving.records.writes = saving.writes;
        saving.records.count = 1;
        ok = ok && engine_run(run->api->engine, &saving.records.job);
    } while (!ok && background_retry(run->api, &patience, &error));
    if (!ok)
        log_error("migration %.*s: how far it is could not be written: %s", SLICE_FMT(run->name),
                  error.message == NULL ? "" : error.message);
    arena_release(&saving.arena);
    run->saved_ms = monotonic_ms();
}

// ---- Items ------------------------------------------------------------------------------------

static bool keep_item(void *context, struct slice item)
{
    struct migration_run *run = context;
    run->items[run->count] = arena_copy(&run->page, item);
    return run->items[run->count++].ptr != NULL || error_budget(&run->error);
}

static void note_failure(struct migration_run *run, struct slice item, const char *text)
{
    struct slice key = model_key_of(run->table, item, &run->item);
    run->work.failed++;
    if (key.ptr != NULL)
        model_sample_add(&run->work.progress.samples, &run->arena, key, slice_str(text));
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
    struct migration_plan *plan = &run->plan;
    bool ok;
    struct background_patience patience = {.tries = 0};
    do {
        struct write_job job;
        write_job_init(&job, run->api->engine, &run->item, error);
        job.count = plan->count;
        job.actions = plan->actions;
        job.transaction = true;
        for (size_t i = 0; i < plan->count; i++)
            plan->actions[i].out.failure = ERR_NONE;
        ok = engine_run_beside(run->api->engine, &job.job);
        write_job_release(&job);
    } while (!ok && background_retry(run->api, &patience, error));
    return ok;
}

// The item as it is now, in the arena; VALUE_NONE if it is gone.
static bool read_again(struct migration_run *run, struct slice *item, struct error *error)
{
    struct buf key;
    struct item_read read;
    buf_init(&key, STORE_KEY_MAX);
    layout_item_key(&key, run->table->tree, &run->table->keys, *item);
    bool ok = engine_get(run->api->engine, NULL, buf_view(&key), &read, error);
    buf_release(&key);
    if (!ok)
        return false;
    *item = read.item.len == 0 ? VALUE_NONE : arena_copy(&run->page, read.item);
    ok = read.item.len == 0 || item->ptr != NULL || error_budget(error);
    item_read_release(run->api->engine, &read);
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
                return error_set(&run->error, error.code, "%s", error.message);
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
            return error_set(&run->error, error.code, "%s", error.message);
        if (!was_changed(&run->plan, &error)) {
            note_failure(run, item, reason(&run->plan, &error));
            return true;
        }
        error_init(&error, &run->item);
        if (!read_again(run, &item, &error))
            return error_set(&run->error, error.code, "%s", error.message);
    }
    if (item.len > 0)
        note_failure(run, item, "it was changed by others again and again");
    return true;
}

static bool refresh(struct migration_run *run)
{
    struct table *table = engine_table(run->api->engine, run->table_name);
    table_release(run->table);
    run->table = table;
    run->migrator.table = table;
    if (table == NULL || !slice_equal(table->uuid, run->work.table_id))
        return error_set(&run->error, ERR_RESOURCE_NOT_FOUND, "The table was deleted.");
    return true;
}

static bool run_page(struct migration_run *run, bool *ended)
{
    arena_reset(&run->page);
    run->count = 0;
    if (!refresh(run) || !model_walk(run->api, run->table, &run->position, PAGE_ITEMS, keep_item,
                                     run, ended, &run->error))
        return false;
    for (size_t i = 0; i < run->count; i++) {
        if (!migrate_item(run, run->items[i]))
            return false;
        run->work.progress.done++;
    }
    if (monotonic_ms() - run->saved_ms >= SAVE_EVERY_MS)
        save(run, false);
    return model_pace(run->api, &run->pace, (int64_t)run->count) || *ended;
}

static bool run_steps(struct migration_run *run)
{
    const struct migration_way *way = run->work.down ? &run->migration->down : &run->migration->up;
    for (; run->work.step < (int64_t)way->count; run->work.step++) {
        bool ended = false;
        run->migrator.step = &way->steps[run->work.step];
        run->work.progress.total = run->table->stats->items;
        run->work.progress.items_ms = env_now(engine_env(run->api->engine));
        run->work.progress.items_before = run->work.progress.done;
        save(run, false);
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

static bool load(struct migration_run *run)
{
    run->table = engine_table(run->api->engine, run->table_name);
    run->migrator = (struct migrator){.api = run->api, .table = run->table, .arena = &run->item};
    if (run->table == NULL ||
        !migration_work_read(run->api, run->table, run->name, &run->arena, &run->work,
                             &run->error) ||
        run->work.text.len == 0 || run->work.status != MIGRATION_RUNNING)
        return false;
    run->pace.rate = run->work.progress.rate > 0 ? run->work.progress.rate : MODEL_RATE;
    buf_slice(&run->position, run->work.progress.position);
    return true;
}

static void finish(struct migration_run *run, bool ok)
{
    if (!ok && background_stopping(run->api)) {
        save(run, false);
        return;
    }
    run->work.progress.ended_ms = env_now(engine_env(run->api->engine));
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
        run->work.progress.failure = slice_str(run->error.message);
        log_error("table %.*s: migration %.*s failed: %s", SLICE_FMT(run->table_name),
                  SLICE_FMT(run->name), run->error.message);
    }
    save(run, ok);
}

static void run_migration(struct migration_run *run)
{
    if (!load(run))
        return;
    run->migration = migration_open(run->work.file, run->work.text, run->work.down, run->table,
                                    &run->arena, &run->error);
    run->migrator.absent =
        run->migration == NULL ? NULL : migration_absent(run->table, &run->arena, &run->error);
    finish(run, run->migrator.absent != NULL && run_steps(run));
}

static void task_run(struct task *task, struct api *api)
{
    struct migration_task *wanted = (struct migration_task *)task;
    struct migration_run *run = calloc(1, sizeof(*run));
    ensure_memory(run);
    run->api = api;
    run->table_name = slice_str(wanted->table);
    run->name = slice_str(wanted->name);
    arena_init(&run->arena, RUN_MEMORY);
    arena_init(&run->page, ITEM_MEMORY);
    arena_init(&run->item, ITEM_MEMORY);
    error_init(&run->error, &run->arena);
    buf_init(&run->position, STORE_KEY_MAX);
    if (!background_stopping(api))
        run_migration(run);
    table_release(run->table);
    buf_release(&run->position);
    arena_release(&run->item);
    arena_release(&run->page);
    arena_release(&run->arena);
    free(run);
    free(wanted);
}

bool migration_begin(struct api *api, struct slice table, struct slice name)
{
    struct migration_task *task = calloc(1, sizeof(*task));
    ensure(task != NULL && table.len < sizeof(task->table) && name.len < sizeof(task->name));
    task->task.run = task_run;
    task->task.lane = LANE_MODEL;
    memcpy(task->table, table.ptr, table.len);
    task->task.subject = slice_of(task->table, table.len);
    memcpy(task->name, name.ptr, name.len);
    if (background_submit(api, &task->task))
        return true;
    free(task);
    return false;
}

static bool resume_one(void *context, struct slice name, struct slice record)
{
    size_t prefix = sizeof("model/migration/") - 1;
    struct slice own = map_text(record, "name");
    if (map_integer(record, "status") == MIGRATION_RUNNING && own.len + prefix + 1 < name.len)
        (void)!migration_begin(context,
                               slice_of(name.ptr + prefix, name.len - prefix - own.len - 1), own);
    return true;
}

void migration_resume(struct api *api)
{
    struct arena arena;
    struct error error;
    arena_init(&arena, RUN_MEMORY);
    error_init(&error, &arena);
    if (!engine_records(api->engine, SLICE_LIT("model/migration/"), slice_of(NULL, 0), resume_one,
                        api, &error))
        log_error("unfinished migrations could not be looked for: %s", error.message);
    arena_release(&arena);
}
