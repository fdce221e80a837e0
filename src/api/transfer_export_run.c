// The work of an export, on the background thread: the table as it was goes into data files, then
// the manifests are written, then the record says that it is done.
#include "api/transfer.h"

#include "base/log.h"
#include "engine/history.h"
#include "transfer/files.h"

#include <stdlib.h>
#include <unistd.h>

struct export_task {
    struct task task; // first
    char id[EXPORT_ID_MAX];
};

// One run of a task.
struct export_run {
    struct api *api;
    struct arena arena;
    struct error error;
    struct export_work work;
    struct table *table;
    struct export_target target;
};

static bool stopping(struct export_run *run)
{
    return background_stopping(run->api) &&
           !error_set(&run->error, ERR_UNAVAILABLE, "The server is stopping.");
}

// The filter chooses what is written, not what is read and paid for.
static bool write_item(struct export_run *run, struct slice item)
{
    struct export_filter *filter = run->target.filter;
    run->work.billed_bytes += (int64_t)value_item_size(item);
    if (!export_filter_keys(filter, item) || !export_filter_item(filter, item))
        return true;
    return export_filter_project(filter, EXPORT_NEW_IMAGE, &item, &run->error) &&
           export_item(run->target.writer, item, &run->error);
}

static bool write_items(struct export_run *run)
{
    struct history_limits limits = {run->api->work_bytes, background_stops, run->api};
    struct history *history =
        history_open(run->api->engine, run->table, run->work.at_ms, &limits, &run->error);
    if (history == NULL)
        return false;
    struct slice item;
    bool ok = true;
    while (ok && history_next(history, &item))
        ok = !stopping(run) && write_item(run, item);
    ok = ok && history_ok(history, &run->error);
    history_close(history);
    return ok;
}

static bool write_summary(struct export_run *run)
{
    const struct export_work *work = &run->work;
    struct export_summary summary = {
        .export_arn = work_arn(&run->arena, &work->work, "export"),
        .table_arn = work_arn(&run->arena, &work->work, NULL),
        .table_id = work->work.table_id,
        .start_ms = work->work.started_ms,
        .end_ms = work->work.ended_ms,
        .export_ms = work->at_ms,
        .from_ms = work->from_ms,
        .to_ms = work->to_ms,
        .view = work->old_images ? SLICE_LIT("NEW_AND_OLD_IMAGES") : SLICE_LIT("NEW_IMAGE"),
        .bucket = work->work.bucket,
        .prefix = work->work.prefix,
        .sse_algorithm = work->sse_algorithm,
        .sse_key = work->sse_key,
        .billed_bytes = work->billed_bytes,
    };
    return export_finish(run->target.writer, &summary, &run->error);
}

// What an interrupted run has left of a full export would be taken for a part of this one.
static bool remove_leftovers(struct export_run *run, const char *root, const char *id)
{
    struct buf prefix;
    buf_init(&prefix, 8192);
    export_manifest_key(&prefix, run->work.work.prefix, id);
    prefix.len -= sizeof("manifest-summary.json") - 1;
    buf_text(&prefix, "data/");
    struct file_entry *entries = NULL;
    size_t count = 0;
    bool ok = files_list(root, buf_view(&prefix), FILES_NO_LINKS, &run->arena, &entries, &count,
                         &run->error);
    buf_release(&prefix);
    if (!ok && run->error.code == ERR_RESOURCE_NOT_FOUND) { // no bucket yet
        error_init(&run->error, &run->arena);
        return true;
    }
    for (size_t i = 0; ok && i < count; i++) {
        char *path = files_path(&run->arena, root, entries[i].key);
        ok = path != NULL && unlink(path) == 0;
    }
    return ok || error_set(&run->error, ERR_INTERNAL, "cannot remove an earlier data file");
}

static bool write_export(struct export_run *run, const char *id)
{
    char *root = work_bucket(run->api, run->work.work.bucket, &run->arena, &run->error);
    if (root == NULL || (!run->work.incremental && !remove_leftovers(run, root, id)))
        return false;
    struct export_options options = {
        .root = root,
        .prefix = run->work.work.prefix,
        .id = id,
        .incremental = run->work.incremental,
        .format = run->work.ion ? TRANSFER_ION : TRANSFER_DYNAMODB_JSON,
        .env = engine_env(run->api->engine),
    };
    run->work.billed_bytes = 0;
    run->target.filter = export_filter_open(run->work.filter, run->table, &run->arena, &run->error);
    if (run->target.filter == NULL)
        return false;
    run->target.writer = export_open(&options, &run->error);
    bool ok =
        run->target.writer != NULL &&
        (run->work.incremental ? export_changes(run->api, run->table, &run->work, &run->target,
                                                &run->work.billed_bytes, &run->error)
                               : write_items(run));
    run->work.work.ended_ms = env_now(engine_env(run->api->engine));
    ok = ok && write_summary(run);
    if (ok)
        run->work.items = (int64_t)export_item_count(run->target.writer);
    export_free(run->target.writer);
    export_filter_close(run->target.filter);
    return ok;
}

// Finds the record and the table; false if there is nothing to do, or with the error set.
static bool load(struct export_run *run, const char *id)
{
    struct slice name = work_name(&run->arena, "export", slice_str(id));
    struct slice record;
    if (name.ptr == NULL ||
        !engine_record(run->api->engine, name, &run->arena, &record, &run->error) ||
        record.len == 0)
        return false;
    export_decode(record, &run->work);
    if (run->work.work.status != WORK_IN_PROGRESS)
        return false;
    run->table = engine_table(run->api->engine, run->work.work.table);
    if (run->table == NULL || !slice_equal(run->table->uuid, run->work.work.table_id))
        return error_set(&run->error, ERR_RESOURCE_NOT_FOUND,
                         "The table was deleted before the export began.");
    return true;
}

static void finish(struct export_run *run, bool ok)
{
    struct work *work = &run->work.work;
    work->status = ok ? WORK_COMPLETED : WORK_FAILED;
    work->ended_ms = env_now(engine_env(run->api->engine));
    if (!ok) {
        work->failure_code = run->error.code == ERR_RESOURCE_NOT_FOUND ? SLICE_LIT("TableNotFound")
                             : run->error.code == ERR_DAMAGED ? SLICE_LIT("InternalServerError")
                                                              : SLICE_LIT("S3Error");
        work->failure_message = slice_str(run->error.message);
        log_warn("export %.*s failed: %s", SLICE_FMT(work->id), run->error.message);
    }
    struct error error;
    error_init(&error, &run->arena);
    if (!work_write(run->api, "export", work->id, export_encode(&run->work, &run->arena, &error),
                    &error))
        log_error("the state of export %.*s could not be written: %s", SLICE_FMT(work->id),
                  error.message);
}

static void export_run(struct task *task, struct api *api)
{
    struct export_task *own = (struct export_task *)task;
    struct export_run run = {.api = api};
    arena_init(&run.arena, SIZE_MAX);
    error_init(&run.error, &run.arena);
    bool ok = !stopping(&run) && load(&run, own->id) && write_export(&run, own->id);
    // Interrupted work stays in progress, and is begun again by the next api.
    if (!background_stopping(api) && (ok || run.error.code != ERR_NONE) && run.work.work.id.len > 0)
        finish(&run, ok);
    table_release(run.table);
    arena_release(&run.arena);
    free(own);
}

bool export_begin(struct api *api, struct slice id)
{
    struct export_task *task = calloc(1, sizeof(*task));
    ensure(task != NULL && id.len < sizeof(task->id));
    task->task.run = export_run;
    task->task.lane = LANE_EXPORT;
    memcpy(task->id, id.ptr, id.len);
    if (background_submit(api, &task->task))
        return true;
    free(task);
    return false;
}
