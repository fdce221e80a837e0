// The work that follows when a model is attached: indexes are created one after the other, then
// every item is looked at, and those that the model completes or that claim values are touched, in
// small writes between those of others, at a bounded rate.
//
// A touch is an ordinary action of the writer: it completes the item that is there when its turn
// comes, whatever was read here before. An item that needs nothing now was written by a guard, or
// will be: nobody can make it stale, so it is not written. The position is kept now and then; what
// lies behind it is done again after a crash, which changes nothing.
#include "api/model_migration.h"

#include "base/log.h"
#include "base/wait.h"
#include "engine/layout.h"

#include <stdlib.h>

enum {
    BATCH_ITEMS = 192,
    SAVE_EVERY_MS = 400,
    WAIT_MS = 20,
    RUN_MEMORY = 64 << 20,
    ITEM_MEMORY = 8 << 20,
    TEXT_MAX = 2048,
};

struct work_task {
    struct task task; // first
    char table[LIMIT_TABLE_NAME_MAX + 1];
};

struct work_run {
    struct api *api;
    struct slice name;
    struct table *table; // the current version, a reference
    struct slice model;  // name of the text that this work is for
    struct arena arena;  // of the run
    struct arena batch;
    struct arena item;
    struct error error;
    struct model_work work;
    struct model_pace pace;
    struct buf position;
    struct buf text;
    bool superseded; // somebody attached another model
    int64_t saved_ms;
    int64_t violations; // of this run's batch
    size_t count;
    struct write_action actions[BATCH_ITEMS];
};

// ---- Time -------------------------------------------------------------------------------------

bool model_pace(struct api *api, struct model_pace *pace, int64_t count)
{
    if (pace->began_ms == 0)
        pace->began_ms = monotonic_ms();
    pace->done += count;
    while (monotonic_ms() - pace->began_ms < pace->done * 1000 / pace->rate) {
        if (!background_pause(api, WAIT_MS))
            return false;
    }
    return !background_stopping(api);
}

// ---- The record -------------------------------------------------------------------------------

struct saving {
    struct record_job records; // first
    struct work_run *run;
    struct arena arena;
};

// Another apply, or an abandon, has put its own work in the place of ours.
static bool save_decide(struct record_job *job, struct engine *engine)
{
    struct saving *saving = (struct saving *)job;
    struct work_run *run = saving->run;
    struct model_work there;
    struct slice record;
    if (!engine_record(engine, job->writes[0].name, &saving->arena, &record, job->job.error))
        return false;
    model_work_decode(record.len > 0 ? record : value_empty_map(), &there);
    if (there.version != run->work.version || !slice_equal(there.table_id, run->work.table_id)) {
        run->superseded = true;
        job->count = 0;
        return true;
    }
    job->writes[0].value = model_work_encode(&run->work, &saving->arena, job->job.error);
    return job->writes[0].value.len > 0;
}

static void save(struct work_run *run)
{
    struct saving saving = {.run = run};
    struct record_write write;
    struct error error;
    run->work.progress.position = buf_view(&run->position);
    arena_init(&saving.arena, RUN_MEMORY);
    error_init(&error, &saving.arena);
    write.name = model_work_name(&saving.arena, run->name);
    bool ok = write.name.ptr != NULL;
    struct background_patience patience = {.tries = 0};
    do {
        record_job_init(&saving.records, &error);
        saving.records.decide = save_decide;
        saving.records.count = 1;
        saving.records.writes = &write;
        ok = ok && engine_run(run->api->engine, &saving.records.job);
    } while (!ok && background_retry(run->api, &patience, &error));
    if (!ok)
        log_error("table %.*s: how far its backfill is could not be written: %s",
                  SLICE_FMT(run->name), error.message == NULL ? "" : error.message);
    arena_release(&saving.arena);
    run->saved_ms = monotonic_ms();
}

// Takes the table as it is now. False if it is gone, or has another model.
static bool refresh(struct work_run *run)
{
    struct table *table = engine_table(run->api->engine, run->name);
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
static bool index_step(struct work_run *run, bool *done)
{
    const struct model_table *model = model_guard_table(run->table->guard);
    for (size_t i = 0; run->work.prune && i < run->table->index_count; i++) {
        const struct index *index = &run->table->indexes[i];
        if (index->global && model_table_index(model, index->name) == NULL)
            return model_delete_index(run->api, run->work.region, run->name, index->name,
                                      &run->error);
    }
    for (size_t i = 0; i < model->index_count; i++) {
        const struct model_index *index = &model->indexes[i];
        switch (model_index_compare(index, run->table)) {
        case INDEX_IS_SAME:
            break;
        case INDEX_IS_MISSING:
            return model_create_index(run->api, run->work.region, model, index, run->table,
                                      &run->error);
        case INDEX_IS_OTHER:
            return model_delete_index(run->api, run->work.region, run->name, index->name,
                                      &run->error);
        }
    }
    *done = true;
    return true;
}

// Somebody else changes the table at this moment; that ends.
static bool must_wait(struct work_run *run)
{
    if (run->error.code != ERR_LIMIT_EXCEEDED && run->error.code != ERR_RESOURCE_IN_USE)
        return false;
    error_init(&run->error, &run->arena);
    return true;
}

static bool do_indexes(struct work_run *run)
{
    bool done = false;
    while (!done) {
        if (background_stopping(run->api) || !refresh(run))
            return false;
        bool busy = is_busy(run->table);
        if (!busy && !index_step(run, &done)) {
            busy = must_wait(run);
            if (!busy)
                return false;
        }
        if (busy && !background_pause(run->api, WAIT_MS))
            return false;
    }
    return true;
}

// ---- Items ------------------------------------------------------------------------------------

static void note_violation(struct work_run *run, struct slice item, const char *failure,
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
        model_sample_add(&run->work.progress.samples, &run->arena, key, buf_view(&run->text));
}

static bool add_action(struct work_run *run, struct slice item)
{
    struct buf key;
    buf_init(&key, STORE_KEY_MAX);
    layout_item_key(&key, run->table->tree, &run->table->keys, item);
    struct write_action action = {
        .kind = WRITE_UPDATE,
        .table = run->table,
        .key = arena_copy(&run->batch, buf_view(&key)),
        .item = model_key_of(run->table, item, &run->batch),
        .flags = WRITE_TOUCH,
    };
    buf_release(&key);
    if (action.key.ptr == NULL || action.item.ptr == NULL)
        return error_budget(&run->error);
    run->actions[run->count++] = action;
    return true;
}

static bool visit(void *context, struct slice item)
{
    struct work_run *run = context;
    struct model_touch touch;
    arena_reset(&run->item);
    if (!model_touch(run->table->guard, engine_env(run->api->engine), &run->item, item, &touch))
        return error_budget(&run->error);
    run->work.progress.done++;
    if (touch.violations != NULL || touch.failure != NULL)
        note_violation(run, item, touch.failure, touch.violations);
    if (!touch.changed && touch.claim_count == 0)
        return true;
    return add_action(run, item);
}

static bool write_some(struct work_run *run, struct write_action *actions, size_t count)
{
    bool ok;
    struct background_patience patience = {.tries = 0};
    do {
        struct write_job job;
        write_job_init(&job, run->api->engine, &run->batch, &run->error);
        job.count = count;
        job.actions = actions;
        ok = engine_run_beside(run->api->engine, &job.job);
        for (size_t i = 0; ok && i < count; i++)
            run->work.written += actions[i].out.changed;
        write_job_release(&job);
    } while (!ok && background_retry(run->api, &patience, &run->error));
    return ok;
}

// One item that cannot be touched (another one has its unique value) stops all of its write: then
// they are written one by one.
static bool write_each(struct work_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        struct write_action action = run->actions[i];
        struct write_action alone = {.kind = action.kind,
                                     .table = action.table,
                                     .key = action.key,
                                     .item = action.item,
                                     .flags = WRITE_TOUCH};
        error_init(&run->error, &run->batch);
        if (write_some(run, &alone, 1))
            continue;
        if (run->error.code != ERR_VALIDATION)
            return false;
        note_violation(run, action.item, run->error.message, run->error.details);
    }
    error_init(&run->error, &run->arena);
    return true;
}

static bool write_batch(struct work_run *run)
{
    if (run->count == 0)
        return true;
    error_init(&run->error, &run->batch);
    bool ok = write_some(run, run->actions, run->count);
    if (!ok && run->error.code == ERR_VALIDATION)
        ok = write_each(run);
    if (ok)
        error_init(&run->error, &run->arena);
    return ok;
}

static bool do_items(struct work_run *run)
{
    bool ended = run->work.skip_items;
    run->work.progress.items_ms = env_now(engine_env(run->api->engine));
    run->work.progress.items_before = run->work.progress.done;
    save(run);
    while (!ended) {
        if (run->superseded || !refresh(run))
            return false;
        arena_reset(&run->batch);
        run->count = 0;
        int64_t before = run->work.progress.done;
        if (!model_walk(run->api, run->table, &run->position, BATCH_ITEMS, visit, run, &ended,
                        &run->error) ||
            !write_batch(run))
            return false;
        if (monotonic_ms() - run->saved_ms >= SAVE_EVERY_MS)
            save(run);
        if (!model_pace(run->api, &run->pace, run->work.progress.done - before) && !ended)
            return false;
    }
    return true;
}

// ---- The run ----------------------------------------------------------------------------------

static bool load(struct work_run *run)
{
    struct model_version version;
    run->table = engine_table(run->api->engine, run->name);
    if (run->table == NULL ||
        !model_work_read(run->api, run->table, &run->arena, &run->work, &run->error) ||
        run->work.version == 0 || run->work.status != MODEL_APPLYING ||
        !model_version_get(run->api, run->table, run->work.version, &run->arena, &version,
                           &run->error))
        return false;
    run->model = version.text;
    run->pace.rate = run->work.progress.rate > 0 ? run->work.progress.rate : MODEL_RATE;
    buf_slice(&run->position, run->work.progress.position);
    return true;
}

static void finish(struct work_run *run, bool ok)
{
    if (run->superseded)
        return;
    if (!ok && background_stopping(run->api)) {
        save(run);
        return;
    }
    run->work.progress.ended_ms = env_now(engine_env(run->api->engine));
    run->work.status = ok ? MODEL_ACTIVE : MODEL_FAILED;
    if (ok) {
        run->work.phase = MODEL_PHASE_DONE;
        buf_clear(&run->position);
        log_info("table %.*s: its items are as the model wants them: %lld looked at, %lld "
                 "changed, %lld that violate it",
                 SLICE_FMT(run->name), (long long)run->work.progress.done,
                 (long long)run->work.written, (long long)run->work.violations);
    } else {
        run->work.progress.failure = slice_str(run->error.message);
        log_error("table %.*s: the backfill of its model failed: %s", SLICE_FMT(run->name),
                  run->error.message);
    }
    save(run);
}

static void run_work(struct work_run *run)
{
    if (!load(run))
        return;
    bool ok = true;
    if (run->work.phase == MODEL_PHASE_INDEXES)
        ok = do_indexes(run);
    if (ok) {
        run->work.phase = MODEL_PHASE_ITEMS;
        ok = refresh(run) && do_items(run);
    }
    finish(run, ok);
}

static void work_run(struct task *task, struct api *api)
{
    struct work_task *wanted = (struct work_task *)task;
    struct work_run *run = calloc(1, sizeof(*run));
    ensure_memory(run);
    run->api = api;
    run->name = slice_str(wanted->table);
    arena_init(&run->arena, RUN_MEMORY);
    arena_init(&run->batch, RUN_MEMORY);
    arena_init(&run->item, ITEM_MEMORY);
    error_init(&run->error, &run->arena);
    buf_init(&run->position, STORE_KEY_MAX);
    buf_init(&run->text, TEXT_MAX);
    if (!background_stopping(api))
        run_work(run);
    table_release(run->table);
    buf_release(&run->text);
    buf_release(&run->position);
    arena_release(&run->item);
    arena_release(&run->batch);
    arena_release(&run->arena);
    free(run);
    free(wanted);
}

bool model_work_begin(struct api *api, struct slice table)
{
    struct work_task *task = calloc(1, sizeof(*task));
    ensure(task != NULL && table.len < sizeof(task->table));
    task->task.run = work_run;
    task->task.lane = LANE_MODEL;
    memcpy(task->table, table.ptr, table.len);
    task->task.subject = slice_of(task->table, table.len);
    if (background_submit(api, &task->task))
        return true;
    free(task);
    return false;
}

static bool resume_one(void *context, struct slice name, struct slice record)
{
    size_t prefix = sizeof("model/work/") - 1;
    if (map_integer(record, "status") == MODEL_APPLYING)
        (void)!model_work_begin(context, slice_of(name.ptr + prefix, name.len - prefix));
    return true;
}

void model_resume(struct api *api)
{
    struct arena arena;
    struct error error;
    arena_init(&arena, RUN_MEMORY);
    error_init(&error, &arena);
    if (!engine_records(api->engine, SLICE_LIT("model/work/"), slice_of(NULL, 0), resume_one, api,
                        &error))
        log_error("unfinished backfills could not be looked for: %s", error.message);
    arena_release(&arena);
    migration_resume(api);
}
