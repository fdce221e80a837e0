// The work of an import, on the background thread: every data file below the prefix, record by
// record, into the new table by ordinary writes. A record that cannot be imported is counted, and
// the first ones are told to whoever runs the server.
#include "api/transfer.h"

#include "api/put_batch.h"
#include "base/log.h"
#include "transfer/files.h"
#include "transfer/item_reader.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    FAULTS_TOLD = 20,    // lines in the log for one import
    STATE_EVERY = 20000, // records after which the counts are written
};

struct import_task {
    struct task task; // first
    char id[EXPORT_ID_MAX];
};

struct import_run {
    struct api *api;
    struct arena arena; // of the whole run
    struct error error;
    struct import_work work;
    struct table *table;
    struct item_reader_options options;
    int64_t file_bytes; // of the files that are done
    struct put_batch batch;
};

static bool fail_with(struct import_run *run, const char *code, const char *message)
{
    run->work.work.failure_code = slice_str(code);
    return error_set(&run->error, ERR_INTERNAL, "%s", message);
}

// ---- Items ------------------------------------------------------------------------

static bool write_batch(struct import_run *run)
{
    size_t count = run->batch.count;
    if (!put_batch_write(&run->batch))
        return false;
    run->work.imported_items += (int64_t)count;
    return true;
}

static void tell_fault(struct import_run *run, struct slice file, const struct item_record *record,
                       const char *why)
{
    run->work.errors++;
    if (run->work.errors <= FAULTS_TOLD)
        log_warn("import %.*s: %.*s line %llu: %s", SLICE_FMT(run->work.work.id), SLICE_FMT(file),
                 (unsigned long long)record->line, why);
}

static bool take_record(struct import_run *run, struct slice file, const struct item_record *record)
{
    run->work.processed_items++;
    if (record->bad != NULL || record->removes) {
        tell_fault(run, file, record,
                   record->bad != NULL ? record->bad : "a deletion cannot be imported");
        return true;
    }
    struct arena scratch;
    struct error fault;
    arena_init(&scratch, 1 << 20);
    error_init(&fault, &scratch);
    struct slice item = record->item;
    bool fits = put_batch_check(run->api, run->table, &scratch, &item, &fault);
    if (!fits)
        tell_fault(run, file, record, fault.message);
    arena_release(&scratch);
    if (!fits)
        return true;
    return put_batch_add(&run->batch, record->item) &&
           (!put_batch_full(&run->batch) || write_batch(run));
}

// ---- Files ------------------------------------------------------------------------

// What an export has beside its data.
static bool is_manifest(struct slice key)
{
    static const char *const names[] = {"manifest-summary.json", "manifest-summary.checksum",
                                        "manifest-files.json", "manifest-files.checksum",
                                        "_started"};
    const uint8_t *slash = key.len == 0 ? NULL : memrchr(key.ptr, '/', key.len);
    struct slice name =
        slash == NULL ? key : slice_of(slash + 1, (size_t)(key.ptr + key.len - slash - 1));
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (slice_is(name, names[i]))
            return true;
    }
    return false;
}

// So that DescribeImport shows how far it is. A failure shows itself at the end.
static void write_state(struct import_run *run)
{
    struct arena scratch;
    struct error error;
    arena_init(&scratch, 1 << 26);
    error_init(&error, &scratch);
    if (!work_write(run->api, "import", run->work.work.id,
                    import_encode(&run->work, &scratch, &error), &error))
        log_error("the state of import %.*s could not be written: %s", SLICE_FMT(run->work.work.id),
                  error.message);
    arena_release(&scratch);
}

static bool should_stop(void *context)
{
    const struct import_run *run = context;
    return background_stopping(run->api);
}

static bool import_file(struct import_run *run, const char *root, const struct file_entry *file)
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
        if (background_stopping(run->api))
            ok = error_set(&run->error, ERR_UNAVAILABLE, "The server is stopping.");
        else
            ok = take_record(run, file->key, &record);
        run->work.processed_bytes = run->file_bytes + (int64_t)item_reader_consumed(reader);
        if (ok && run->work.processed_items % STATE_EVERY == 0)
            write_state(run);
    }
    run->file_bytes += (int64_t)item_reader_consumed(reader);
    run->work.processed_bytes = run->file_bytes;
    item_reader_free(reader);
    (void)close(fd);
    if (run->error.code == ERR_UNAVAILABLE && background_stopping(run->api))
        return false;
    // A file that cannot be read to its end is one more error; the others are imported.
    if (ok && run->error.code != ERR_NONE) {
        tell_fault(run, file->key, &(struct item_record){.line = 0}, run->error.message);
        error_init(&run->error, &run->arena);
    }
    return ok;
}

static bool import_files(struct import_run *run)
{
    struct file_entry *files = NULL;
    size_t count = 0;
    char *root = work_bucket(run->api, run->work.work.bucket, &run->arena, &run->error);
    if (root == NULL)
        return false;
    if (!files_list(root, run->work.work.prefix, FILES_NO_LINKS, &run->arena, &files, &count,
                    &run->error)) {
        bool missing = run->error.code == ERR_RESOURCE_NOT_FOUND;
        error_init(&run->error, &run->arena);
        return missing ? fail_with(run, "S3NoSuchBucket", "The specified bucket does not exist")
                       : fail_with(run, "S3AccessDenied", "The bucket cannot be read");
    }
    size_t read = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_manifest(files[i].key))
            continue;
        read++;
        if (!import_file(run, root, &files[i]))
            return false;
    }
    if (read == 0)
        return fail_with(run, "S3NoSuchKey", "No objects found at the specified S3 prefix");
    return write_batch(run);
}

// ---- The run ----------------------------------------------------------------------

// How the files are to be read, from the record. Key attributes of all indexes have types.
static bool prepare(struct import_run *run)
{
    struct item_reader_options *options = &run->options;
    const struct import_work *work = &run->work;
    options->stop = should_stop;
    options->stop_context = run;
    options->format = slice_is(work->format, "ION")   ? TRANSFER_ION
                      : slice_is(work->format, "CSV") ? TRANSFER_CSV
                                                      : TRANSFER_DYNAMODB_JSON;
    options->compression = slice_is(work->compression, "GZIP")   ? TRANSFER_GZIP
                           : slice_is(work->compression, "ZSTD") ? TRANSFER_ZSTD
                                                                 : TRANSFER_NONE;
    options->delimiter = work->delimiter.len == 1 ? work->delimiter.ptr[0] : 0;
    const struct table *table = run->table;
    struct key_part *typed = arena_zalloc(
        &run->arena, (LIMIT_INDEXES + 1) * 2 * (size_t)LIMIT_KEY_PARTS, sizeof(*typed));
    struct slice *header =
        work->header.len == 0
            ? NULL
            : arena_zalloc(&run->arena, value_count(work->header), sizeof(*header));
    if (typed == NULL || (work->header.len > 0 && header == NULL))
        return error_budget(&run->error);
    for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count; i++)
        typed[options->typed_count++] = table->keys.parts[i];
    for (size_t i = 0; i < table->index_count; i++) {
        const struct key_schema *keys = &table->indexes[i].keys;
        for (size_t k = 0; k < keys->hash_count + keys->range_count; k++)
            typed[options->typed_count++] = keys->parts[k];
    }
    options->typed = typed;
    options->header = header;
    struct value_iter iter;
    if (header != NULL)
        value_iter_init(&iter, work->header);
    while (header != NULL && value_iter_next(&iter))
        header[options->header_count++] = value_bytes(iter.value);
    return true;
}

static bool load(struct import_run *run, const char *id)
{
    struct slice name = work_name(&run->arena, "import", slice_str(id));
    struct slice record;
    if (name.ptr == NULL ||
        !engine_record(run->api->engine, name, &run->arena, &record, &run->error) ||
        record.len == 0)
        return false;
    import_decode(record, &run->work);
    if (run->work.work.status != WORK_IN_PROGRESS)
        return false;
    run->work.errors = 0;
    run->work.processed_bytes = 0;
    run->work.processed_items = 0;
    run->work.imported_items = 0;
    run->table = engine_table(run->api->engine, run->work.work.table);
    if (run->table == NULL || run->table->status != TABLE_CREATING) {
        table_release(run->table);
        run->table = NULL;
        return fail_with(run, "TableNotFound", "The table was deleted during the import.");
    }
    run->work.work.table_id = run->table->uuid;
    return prepare(run);
}

// The table can be used from now on, or goes if nothing came into it.
struct settling {
    const struct table *table;
    bool keep;
};

static bool settle_alter(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    const struct settling *settling = context;
    // Somebody may have deleted it, and even made another one of that name.
    if (current == NULL || current->tree != settling->table->tree)
        return error_set(error, ERR_RESOURCE_NOT_FOUND, "Requested resource not found");
    if (!settling->keep)
        return true;
    *next = table_clone(current);
    if (*next == NULL)
        return error_budget(error);
    (*next)->status = TABLE_ACTIVE;
    return true;
}

static void settle_table(struct import_run *run, bool keep)
{
    struct settling settling = {run->table, keep};
    struct error error;
    error_init(&error, &run->arena);
    struct table_change change;
    table_change_init(&change, run->api->engine, &error);
    change.name = run->table->name;
    change.alter = settle_alter;
    change.context = &settling;
    if (!engine_run(run->api->engine, &change.job) && error.code != ERR_RESOURCE_NOT_FOUND)
        log_error("the imported table %.*s could not be made active: %s",
                  SLICE_FMT(run->table->name), error.message);
    table_change_release(&change);
}

static void finish(struct import_run *run, bool ok)
{
    struct work *work = &run->work.work;
    work->ended_ms = env_now(engine_env(run->api->engine));
    work->status = ok && run->work.errors == 0 ? WORK_COMPLETED : WORK_FAILED;
    if (!ok) {
        if (work->failure_code.len == 0)
            work->failure_code = SLICE_LIT("InternalServerError");
        work->failure_message = slice_str(run->error.message);
        log_warn("import %.*s failed: %s", SLICE_FMT(work->id), run->error.message);
    } else if (run->work.errors > 0) {
        work->failure_code = SLICE_LIT("ItemValidationError");
        work->failure_message =
            SLICE_LIT("Some of the items failed validation checks and were not imported. Please "
                      "check CloudWatch error logs for more details.");
    }
    if (run->table != NULL)
        settle_table(run, ok || run->work.imported_items > 0);
    write_state(run);
}

static bool import_all(struct import_run *run)
{
    put_batch_init(&run->batch, run->api, run->table, false, &run->error);
    bool ok = import_files(run);
    put_batch_release(&run->batch);
    return ok;
}

static void import_run(struct task *task, struct api *api)
{
    struct import_task *own = (struct import_task *)task;
    struct import_run *run = calloc(1, sizeof(*run));
    ensure_memory(run);
    run->api = api;
    arena_init(&run->arena, SIZE_MAX);
    error_init(&run->error, &run->arena);
    bool ok = !background_stopping(api) && load(run, own->id) && import_all(run);
    // Interrupted work stays in progress, and is begun again by the next api.
    if (!background_stopping(api) && (ok || run->error.code != ERR_NONE) &&
        run->work.work.id.len > 0)
        finish(run, ok);
    table_release(run->table);
    arena_release(&run->arena);
    free(run);
    free(own);
}

bool import_begin(struct api *api, struct slice id)
{
    struct import_task *task = calloc(1, sizeof(*task));
    ensure(task != NULL && id.len < sizeof(task->id));
    task->task.run = import_run;
    task->task.lane = LANE_IMPORT;
    memcpy(task->id, id.ptr, id.len);
    if (background_submit(api, &task->task))
        return true;
    free(task);
    return false;
}
