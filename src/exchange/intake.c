// Reading what imports and bulk operations put: all data files below a prefix of a bucket.
#include "exchange/exchange.h"

#include "base/log.h"
#include "transfer/files.h"

#include <unistd.h>

enum transfer_format intake_format(struct slice name)
{
    return slice_is(name, "ION")   ? TRANSFER_ION
           : slice_is(name, "CSV") ? TRANSFER_CSV
                                   : TRANSFER_DYNAMODB_JSON;
}

enum transfer_compression intake_compression(struct slice name)
{
    return slice_is(name, "GZIP")   ? TRANSFER_GZIP
           : slice_is(name, "ZSTD") ? TRANSFER_ZSTD
                                    : TRANSFER_NONE;
}

static bool should_stop(void *context)
{
    const struct intake *intake = context;
    return !intake->goes_on(intake->run);
}

// The reader has ended with an error. If it was asked to stop, so does the run; otherwise the file
// cannot be read to its end, which is one more fault: the others are read.
static bool end_early(struct intake *intake, struct slice file)
{
    struct run *run = intake->run;
    bool stopped = run->error.code == ERR_UNAVAILABLE;
    const char *why = run->error.message;
    error_init(&run->error, &run->arena);
    return (!stopped || intake->goes_on(run)) && intake->tell(run, file, 0, why);
}

static bool read_records(struct intake *intake, struct item_reader *reader, struct slice file)
{
    struct run *run = intake->run;
    struct item_record record;
    int64_t before = intake->bytes;
    bool ok = true;
    while (ok && item_reader_next(reader, &record, &run->error)) {
        ok = work_goes_on(run->shop, &run->error) && intake->take(run, file, &record);
        intake->bytes = before + (int64_t)item_reader_consumed(reader);
    }
    intake->bytes = before + (int64_t)item_reader_consumed(reader);
    return ok && (run->error.code == ERR_NONE || end_early(intake, file));
}

static bool read_file(struct intake *intake, const char *root, struct slice file)
{
    struct run *run = intake->run;
    int fd = files_open(root, file, &run->error);
    if (fd < 0)
        return false;
    struct item_reader *reader = item_reader_open_fd(fd, &intake->options, &run->error);
    bool ok = reader != NULL && read_records(intake, reader, file);
    if (reader != NULL)
        item_reader_free(reader);
    (void)close(fd);
    return ok;
}

static bool wanted(const struct intake *intake, const struct file_entry *file)
{
    return intake->wants == NULL || intake->wants(file->key);
}

bool intake_read(struct intake *intake)
{
    struct run *run = intake->run;
    struct file_entry *files = NULL;
    size_t count = 0;
    size_t read = 0;
    exchange_clear(run); // of a process that was killed
    char *root = exchange_place(run, intake->base->bucket, false);
    if (root == NULL)
        return false;
    intake->options.stop = should_stop;
    intake->options.stop_context = intake;
    if (!exchange_pull(run, intake->base->bucket, intake->base->prefix, root) ||
        !files_list(root, intake->base->prefix, FILES_NO_LINKS, &run->arena, &files, &count,
                    &run->error)) {
        bool missing = run->error.code == ERR_RESOURCE_NOT_FOUND;
        if (!missing && run->shop->buckets.pull != NULL) { // it says what S3 has answered
            intake->base->failure_code = SLICE_LIT("S3AccessDenied");
            return false;
        }
        error_init(&run->error, &run->arena);
        return missing ? exchange_fail(run, intake->base, "S3NoSuchBucket",
                                       "The specified bucket does not exist")
                       : exchange_fail(run, intake->base, "S3AccessDenied",
                                       "The bucket cannot be read");
    }
    for (size_t i = 0; i < count; i++)
        intake->total_bytes += wanted(intake, &files[i]) ? (int64_t)files[i].size : 0;
    run_save(run); // so that Describe shows how much it is
    for (size_t i = 0; i < count; i++) {
        if (!wanted(intake, &files[i]))
            continue;
        read++;
        if (!intake->goes_on(run) || !read_file(intake, root, files[i].key))
            return false;
    }
    return read > 0 || exchange_fail(run, intake->base, "S3NoSuchKey",
                                     "No objects found at the specified S3 prefix");
}

bool exchange_fail(struct run *run, struct exchange *base, const char *code, const char *message)
{
    base->failure_code = slice_str(code);
    return error_set(&run->error, ERR_INTERNAL, "%s", message);
}

void exchange_end(struct run *run, struct exchange *base, bool ok, const char *code)
{
    base->ended_ms = env_now(engine_env(run->shop->engine));
    if (!ok) {
        if (base->failure_code.len == 0)
            base->failure_code = slice_str(code);
        base->failure_message = slice_str(run->error.message);
        log_warn("%s %.*s failed: %s", run->kind->name, SLICE_FMT(run->id), run->error.message);
    }
    run_save(run);
}
