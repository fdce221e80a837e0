// The work of CreateBackup, on LANE_BACKUP: one snapshot of the table goes into the backup's data,
// then the record says that it is available. The snapshot comes with the task if it can run at
// once; nothing is pinned for one that has to wait: that copies the table as it is when it has its
// turn.
//
// A second try (or a process after a crash) throws away what was copied, and begins with a snapshot
// of its own. A copy that can never be made leaves a record that says why, for a day.
#include "api/backup.h"

#include "base/log.h"

#include <stdlib.h>

enum { RUN_MEMORY = 1 << 26 };

static const int64_t failed_ms = 24LL * 3600 * 1000;
// A backup may have changes of the minute after it was asked for, as the service's may. One that
// had to wait longer for its turn is of the time when it had it.
static const int64_t same_time_ms = 60LL * 1000;

struct backup_task {
    struct task task;        // first
    struct history *history; // or NULL
    char id[BACKUP_ID_MAX];
};

struct backup_run {
    struct api *api;
    struct slice id;
    struct arena arena; // of one try
    struct error error;
    struct slice name; // of the record
    struct slice data_name;
    struct backup backup;
    struct table *source;    // a reference, or NULL
    struct history *history; // what is copied, or NULL
};

// ---- The record -------------------------------------------------------------------------------

static bool load(struct backup_run *run)
{
    struct slice record;
    run->name = backup_record_name(&run->arena, run->id);
    run->data_name = backup_data_name(&run->arena, run->id);
    if (run->name.ptr == NULL || run->data_name.ptr == NULL)
        return error_budget(&run->error);
    if (!engine_record(run->api->engine, run->name, &run->arena, &record, &run->error))
        return false;
    if (record.len == 0)
        return error_set(&run->error, ERR_BACKUP_NOT_FOUND, "The backup was deleted.");
    backup_decode(record, &run->backup);
    struct table *was = table_decode(run->backup.source);
    run->source = engine_table(run->api->engine, run->backup.table);
    bool same = was != NULL && run->source != NULL && slice_equal(was->uuid, run->source->uuid);
    table_release(was);
    // Another table of that name does not count.
    return same || error_set(&run->error, ERR_RESOURCE_NOT_FOUND, "The table was deleted.");
}

static bool empty_alter(void *context, struct table *current, struct table **next,
                        struct error *error)
{
    const struct backup_run *run = context;
    if (current == NULL)
        return error_set(error, ERR_BACKUP_NOT_FOUND, "The backup was deleted.");
    // What had been copied goes with its tree.
    *next = backup_data_table(run->source != NULL ? run->source : current, run->data_name);
    return *next != NULL || error_budget(error);
}

// Writes the record, and throws away the data.
static bool begin_anew(struct backup_run *run, struct error *error)
{
    struct record_write record = {.name = run->name};
    record.value = backup_encode(&run->backup, &run->arena, error);
    if (record.value.ptr == NULL)
        return false;
    struct background_patience patience = {.tries = 0};
    bool ok;
    do {
        struct table_change change;
        table_change_init(&change, run->api->engine, error);
        change.name = run->data_name;
        change.alter = empty_alter;
        change.context = run;
        change.record_count = 1;
        change.records = &record;
        ok = engine_run(run->api->engine, &change.job);
        table_change_release(&change);
    } while (!ok && background_retry(run->api, &patience, error));
    return ok;
}

// The copy is made of the table as it is now, settings and all.
static bool renew(struct backup_run *run)
{
    int64_t now_ms = env_now(engine_env(run->api->engine));
    if (now_ms - run->backup.created_ms >= same_time_ms)
        run->backup.created_ms = now_ms;
    run->backup.source = backup_source_record(run->source, &run->arena);
    if (run->backup.source.ptr == NULL)
        return error_budget(&run->error);
    return begin_anew(run, &run->error);
}

// Writes the record again, as available and with what it has become.
static bool finish(struct backup_run *run, const struct table *data)
{
    struct record_write write = {.name = run->name};
    run->backup.status = BACKUP_AVAILABLE;
    run->backup.items = data->stats->items;
    run->backup.size = data->stats->bytes;
    write.value = backup_encode(&run->backup, &run->arena, &run->error);
    if (write.value.ptr == NULL)
        return false;
    struct background_patience patience = {.tries = 0};
    bool ok;
    do {
        struct record_job job;
        record_job_init(&job, &run->error);
        job.count = 1;
        job.writes = &write;
        ok = engine_run(run->api->engine, &job.job);
    } while (!ok && background_retry(run->api, &patience, &run->error));
    return ok;
}

// ---- The run ----------------------------------------------------------------------------------

static bool open_source(struct backup_run *run)
{
    if (run->history == NULL && renew(run))
        run->history = history_open(run->api->engine, run->source, HISTORY_NOW, NULL, &run->error);
    return run->history != NULL;
}

static void close_source(struct backup_run *run)
{
    if (run->history != NULL)
        history_close(run->history);
    run->history = NULL;
}

static bool copy(struct backup_run *run)
{
    struct table *data = engine_table(run->api->engine, run->data_name);
    if (data == NULL)
        return error_set(&run->error, ERR_BACKUP_NOT_FOUND, "The backup was deleted.");
    bool ok = copy_items(run->api, run->history, data, &run->error) && finish(run, data);
    table_release(data);
    return ok;
}

static bool try_once(struct backup_run *run)
{
    table_release(run->source);
    run->source = NULL;
    run->backup = (struct backup){.status = BACKUP_CREATING};
    arena_reset(&run->arena);
    bool ok =
        load(run) && (run->backup.status != BACKUP_CREATING || (open_source(run) && copy(run)));
    close_source(run);
    return ok;
}

static void fail(struct backup_run *run)
{
    struct error error;
    error_init(&error, &run->arena);
    run->backup.status = BACKUP_FAILED;
    run->backup.failure = slice_str(run->error.message);
    run->backup.expiry_ms = env_now(engine_env(run->api->engine)) + failed_ms;
    run->backup.items = 0;
    run->backup.size = 0;
    log_error("backup %.*s of table %.*s failed: %s", SLICE_FMT(run->id),
              SLICE_FMT(run->backup.table), run->error.message);
    if (run->backup.id.len > 0 && !begin_anew(run, &error))
        log_error("the state of backup %.*s could not be written: %s", SLICE_FMT(run->id),
                  error.message);
}

static void run_backup(struct task *task, struct api *api)
{
    struct backup_task *own = (struct backup_task *)task;
    struct backup_run run = {.api = api, .id = slice_str(own->id), .history = own->history};
    struct background_patience patience = {.tries = 0};
    arena_init(&run.arena, RUN_MEMORY);
    error_init(&run.error, &run.arena);
    bool ok = true;
    do {
        ok = background_stopping(api) || try_once(&run);
    } while (!ok && background_retry(api, &patience, &run.error));
    // Interrupted work is begun again by the next api.
    if (!ok && !background_stopping(api) && run.error.code != ERR_BACKUP_NOT_FOUND)
        fail(&run);
    close_source(&run);
    table_release(run.source);
    arena_release(&run.arena);
    free(own);
}

bool backup_begin(struct api *api, struct slice id, struct history *history)
{
    struct backup_task *task = calloc(1, sizeof(*task));
    ensure(task != NULL && id.len < sizeof(task->id));
    task->task.run = run_backup;
    task->task.lane = LANE_BACKUP;
    task->history = history;
    memcpy(task->id, id.ptr, id.len);
    if (background_submit(api, &task->task))
        return true;
    if (history != NULL)
        history_close(history);
    free(task);
    return false;
}
