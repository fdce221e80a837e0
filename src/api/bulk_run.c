// The work of StartBulkPutItems, on the background thread: every data file below the prefix, record
// by record, into the table by ordinary writes.
//
// Before each batch the record is looked at, for somebody may have cancelled. What cannot be put is
// counted, and told in <prefix>/<id>/errors.json of the output bucket, a JSON object a line:
// {"Object":key,"Line":number,"Error":text}.
#include "api/bulk.h"

#include "api/put_batch.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/wait.h"
#include "transfer/files.h"
#include "transfer/item_reader.h"
#include "transfer/sink.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    STATE_EVERY = 16,       // batches after which the counts are written
    LOOK_EVERY = 1000,      // failed items after which a cancellation is looked for
    RUN_MEMORY = 1 << 26,   // of what is not of one batch
    REPORT_BYTES = 1 << 16, // of a line in the report
    NAP_MS = 10,            // between looks at a clock
};

struct bulk_task {
    struct task task; // first
    char id[EXPORT_ID_MAX];
};

struct bulk_run {
    struct api *api;
    struct arena arena; // of the whole run
    struct error error;
    struct bulk_work bulk;
    struct slice name; // of the record
    struct table *table;
    struct item_reader_options options;
    struct sink *report; // NULL until there is something to tell
    int64_t file_bytes;  // of the files that are done
    int64_t began_ms;
    int64_t units; // written so far
    size_t batches;
    struct put_batch batch;
};

static bool fail_with(struct bulk_run *run, const char *code, const char *message)
{
    run->bulk.work.failure_code = slice_str(code);
    return error_set(&run->error, ERR_INTERNAL, "%s", message);
}

// ---- The record --------------------------------------------------------------------------------

struct saving {
    struct record_job records; // first
    struct bulk_run *run;
    struct arena arena;
};

// A cancellation that came meanwhile stays.
static bool save_decide(struct record_job *job, struct engine *engine)
{
    struct saving *saving = (struct saving *)job;
    struct bulk_run *run = saving->run;
    struct slice record;
    if (!engine_record(engine, run->name, &saving->arena, &record, job->job.error))
        return false;
    run->bulk.cancel = map_flag(record, "cancel");
    job->writes[0].value = bulk_encode(&run->bulk, &saving->arena, job->job.error);
    return job->writes[0].value.len > 0;
}

static void save(struct bulk_run *run)
{
    struct saving saving = {.run = run};
    struct record_write write = {.name = run->name};
    struct error error;
    arena_init(&saving.arena, RUN_MEMORY);
    error_init(&error, &saving.arena);
    record_job_init(&saving.records, &error);
    saving.records.decide = save_decide;
    saving.records.count = 1;
    saving.records.writes = &write;
    if (!engine_run(run->api->engine, &saving.records.job))
        log_error("the state of bulk operation %.*s could not be written: %s",
                  SLICE_FMT(run->bulk.work.id), error.message);
    arena_release(&saving.arena);
}

// Whether the run may go on; otherwise it was cancelled, or the server ends.
static bool may_go_on(struct bulk_run *run)
{
    struct arena scratch;
    struct slice record;
    if (background_stopping(run->api))
        return error_set(&run->error, ERR_UNAVAILABLE, "The server is stopping.");
    arena_init(&scratch, RUN_MEMORY);
    bool ok = engine_record(run->api->engine, run->name, &scratch, &record, &run->error);
    if (ok)
        run->bulk.cancel = map_flag(record, "cancel");
    arena_release(&scratch);
    return ok && !run->bulk.cancel;
}

// ---- Items -------------------------------------------------------------------------------------

// Waits until so many units may have been written.
static bool keep_pace(struct bulk_run *run)
{
    int64_t due_ms = run->bulk.max_units > 0 ? run->units * 1000 / run->bulk.max_units : 0;
    if (run->began_ms == 0)
        run->began_ms = monotonic_ms();
    while (monotonic_ms() - run->began_ms < due_ms) {
        if (!may_go_on(run) || !background_pause(run->api, NAP_MS))
            return false;
    }
    return true;
}

static bool write_batch(struct bulk_run *run)
{
    if (run->batch.count == 0)
        return true;
    if (!may_go_on(run) || !keep_pace(run))
        return false;
    int64_t bytes = 0;
    int64_t units = 0;
    for (size_t i = 0; i < run->batch.count; i++) {
        int64_t size = (int64_t)value_item_size(run->batch.actions[i].item);
        bytes += size;
        units += (size + 1023) / 1024;
    }
    if (!put_batch_write(&run->batch))
        return false;
    run->bulk.written_bytes += bytes;
    run->units += units;
    if (++run->batches % STATE_EVERY == 0)
        save(run);
    return true;
}

// An item that the table's guard may still refuse (a value that must be unique) is written by
// itself, so that its fault is its own: *bad, in the run's arena.
static bool add_item(struct bulk_run *run, struct slice item, const char **bad)
{
    bool guarded = run->table->guard != NULL;
    if (put_batch_add(&run->batch, item) &&
        ((!guarded && !put_batch_full(&run->batch)) || write_batch(run)))
        return true;
    if (!guarded || run->error.code != ERR_VALIDATION)
        return false;
    *bad = run->error.message;
    error_init(&run->error, &run->arena);
    return true;
}

// ---- The report --------------------------------------------------------------------------------

static bool report_open(struct bulk_run *run)
{
    struct slice prefix = run->bulk.out_prefix;
    while (prefix.len > 0 && prefix.ptr[prefix.len - 1] == '/')
        prefix.len--;
    char *root = work_bucket(run->api, run->bulk.out_bucket, &run->arena, &run->error);
    char *directory = root == NULL
                          ? NULL
                          : arena_printf(&run->arena, "%s/%.*s%s%.*s", root, SLICE_FMT(prefix),
                                         prefix.len > 0 ? "/" : "", SLICE_FMT(run->bulk.work.id));
    char *path = directory == NULL ? NULL : arena_printf(&run->arena, "%s/errors.json", directory);
    if (path == NULL)
        return error_budget(&run->error);
    if (files_make_directory(directory, &run->error))
        run->report = sink_open(path, TRANSFER_NONE, 0, &run->error);
    if (run->report != NULL)
        return true;
    error_init(&run->error, &run->arena);
    return fail_with(run, "S3AccessDenied", "The output bucket cannot be written");
}

static bool report(struct bulk_run *run, struct slice file, uint64_t line, const char *why)
{
    if (!run->bulk.report_errors)
        return true;
    if (run->report == NULL && !report_open(run))
        return false;
    struct buf text;
    buf_init(&text, REPORT_BYTES);
    struct json_writer w = json_writer_to(&text);
    json_open_object(&w);
    json_put_string(&w, "Object", file);
    json_put_integer(&w, "Line", (int64_t)line);
    json_put_text(&w, "Error", why);
    json_close_object(&w);
    buf_byte(&text, '\n');
    bool ok = text.failed || sink_write(run->report, buf_view(&text), &run->error);
    buf_release(&text);
    return ok;
}

static bool take_record(struct bulk_run *run, struct slice file, const struct item_record *record)
{
    struct arena scratch;
    struct error fault;
    arena_init(&scratch, 1 << 20);
    error_init(&fault, &scratch);
    const char *bad = record->bad != NULL ? record->bad
                      : record->removes   ? "a deletion cannot be put"
                                          : NULL;
    struct slice item = record->item;
    if (bad == NULL && !put_batch_check(run->api, run->table, &scratch, &item, &fault))
        bad = fault.message;
    bool ok = bad != NULL || add_item(run, item, &bad);
    run->bulk.processed_items++;
    run->bulk.failed_items += bad != NULL;
    ok = ok && (bad == NULL || report(run, file, record->line, bad));
    arena_release(&scratch);
    // Where nothing is written, nothing else would look.
    return ok && (run->bulk.failed_items % LOOK_EVERY != 0 || bad == NULL || may_go_on(run));
}

// ---- Files -------------------------------------------------------------------------------------

// Cancelled, or the server ends; a record may be far away.
static bool should_stop(void *context)
{
    return !may_go_on(context);
}

static bool put_file(struct bulk_run *run, const char *root, const struct file_entry *file)
{
    int fd = files_open(root, file->key, &run->error);
    struct item_reader *reader =
        fd < 0 ? NULL : item_reader_open_fd(fd, &run->options, &run->error);
    if (reader == NULL) {
        if (fd >= 0)
            (void)close(fd);
        return false;
    }
    struct item_record record;
    bool ok = true;
    while (ok && item_reader_next(reader, &record, &run->error)) {
        ok = !background_stopping(run->api) && take_record(run, file->key, &record);
        run->bulk.processed_bytes = run->file_bytes + (int64_t)item_reader_consumed(reader);
    }
    run->file_bytes += (int64_t)item_reader_consumed(reader);
    run->bulk.processed_bytes = run->file_bytes;
    item_reader_free(reader);
    (void)close(fd);
    if (run->bulk.cancel && run->error.code == ERR_UNAVAILABLE) {
        error_init(&run->error, &run->arena);
        return false;
    }
    if (run->error.code == ERR_UNAVAILABLE && background_stopping(run->api))
        return false;
    // A file that cannot be read to its end is one more error; the others are put.
    if (!ok || run->error.code == ERR_NONE)
        return ok;
    run->bulk.failed_items++;
    const char *why = run->error.message;
    error_init(&run->error, &run->arena);
    return report(run, file->key, 0, why);
}

static bool put_files(struct bulk_run *run)
{
    struct file_entry *files = NULL;
    size_t count = 0;
    char *root = work_bucket(run->api, run->bulk.work.bucket, &run->arena, &run->error);
    if (root == NULL)
        return false;
    if (!files_list(root, run->bulk.work.prefix, FILES_NO_LINKS, &run->arena, &files, &count,
                    &run->error)) {
        bool missing = run->error.code == ERR_RESOURCE_NOT_FOUND;
        error_init(&run->error, &run->arena);
        return missing ? fail_with(run, "S3NoSuchBucket", "The specified bucket does not exist")
                       : fail_with(run, "S3AccessDenied", "The bucket cannot be read");
    }
    if (count == 0)
        return fail_with(run, "S3NoSuchKey", "No objects found at the specified S3 prefix");
    for (size_t i = 0; i < count; i++)
        run->bulk.total_bytes += (int64_t)files[i].size;
    save(run);
    for (size_t i = 0; i < count; i++) {
        if (!may_go_on(run) || !put_file(run, root, &files[i]))
            return false;
    }
    return write_batch(run);
}

// ---- The run -----------------------------------------------------------------------------------

static bool load(struct bulk_run *run, const char *id)
{
    struct slice record;
    run->name = work_name(&run->arena, "bulk", slice_str(id));
    if (run->name.ptr == NULL ||
        !engine_record(run->api->engine, run->name, &run->arena, &record, &run->error) ||
        record.len == 0)
        return false;
    struct bulk_work *bulk = &run->bulk;
    bulk_decode(record, bulk);
    if (bulk->status != BULK_IN_PROGRESS) {
        bulk->work.id = slice_of(NULL, 0);
        return false;
    }
    bulk->processed_items = 0;
    bulk->failed_items = 0;
    bulk->processed_bytes = 0;
    bulk->total_bytes = 0;
    bulk->written_bytes = 0;
    run->options.stop = should_stop;
    run->options.stop_context = run;
    run->options.format = slice_is(bulk->format, "ION") ? TRANSFER_ION : TRANSFER_DYNAMODB_JSON;
    run->options.compression = slice_is(bulk->compression, "GZIP")   ? TRANSFER_GZIP
                               : slice_is(bulk->compression, "ZSTD") ? TRANSFER_ZSTD
                                                                     : TRANSFER_NONE;
    run->table = engine_table(run->api->engine, bulk->work.table);
    if (run->table != NULL && slice_equal(run->table->uuid, bulk->work.table_id))
        return true;
    return fail_with(run, "TableNotFound", "The table was deleted.");
}

static void finish(struct bulk_run *run, bool ok)
{
    struct bulk_work *bulk = &run->bulk;
    bulk->work.ended_ms = env_now(engine_env(run->api->engine));
    bulk->status = !ok                      ? BULK_FAILED
                   : bulk->failed_items > 0 ? BULK_COMPLETED_WITH_ERRORS
                                            : BULK_COMPLETED;
    if (!ok && bulk->cancel && run->error.code == ERR_NONE) {
        bulk->status = BULK_CANCELLED;
        bulk->work.failure_code = SLICE_LIT("Cancelled");
        bulk->work.failure_message = SLICE_LIT("The operation was cancelled by a request.");
    } else if (!ok) {
        if (bulk->work.failure_code.len == 0)
            bulk->work.failure_code = run->error.code == ERR_RESOURCE_NOT_FOUND
                                          ? SLICE_LIT("TableNotFound")
                                          : SLICE_LIT("InternalServerError");
        bulk->work.failure_message = slice_str(run->error.message);
        log_warn("bulk operation %.*s failed: %s", SLICE_FMT(bulk->work.id), run->error.message);
    }
    save(run);
}

// Ends the report; what it says must be on disk before the record tells of it.
static bool report_close(struct bulk_run *run, bool ok)
{
    struct error error;
    struct sink *report = run->report;
    if (report == NULL)
        return ok;
    run->report = NULL;
    error_init(&error, &run->arena);
    if (sink_close(report, NULL, &error) || !ok)
        return ok;
    return fail_with(run, "S3AccessDenied", "The output bucket cannot be written");
}

static bool put_all(struct bulk_run *run)
{
    put_batch_init(&run->batch, run->api, run->table, false, &run->error);
    bool ok = put_files(run);
    put_batch_release(&run->batch);
    return ok;
}

static void bulk_run(struct task *task, struct api *api)
{
    struct bulk_task *own = (struct bulk_task *)task;
    struct bulk_run *run = calloc(1, sizeof(*run));
    ensure_memory(run);
    run->api = api;
    arena_init(&run->arena, SIZE_MAX);
    error_init(&run->error, &run->arena);
    bool ok = !background_stopping(api) && load(run, own->id) && put_all(run);
    ok = report_close(run, ok);
    // Interrupted work stays in progress, and is begun again by the next api.
    if (!background_stopping(api) && run->bulk.work.id.len > 0)
        finish(run, ok);
    table_release(run->table);
    arena_release(&run->arena);
    free(run);
    free(own);
}

bool bulk_begin(struct api *api, struct slice id)
{
    struct bulk_task *task = calloc(1, sizeof(*task));
    ensure(task != NULL && id.len < sizeof(task->id));
    task->task.run = bulk_run;
    task->task.lane = LANE_BULK;
    memcpy(task->id, id.ptr, id.len);
    if (background_submit(api, &task->task))
        return true;
    free(task);
    return false;
}
