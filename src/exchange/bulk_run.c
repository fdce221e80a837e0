// The work of StartBulkPutItems: every data file below the prefix, record by record, into the table
// by ordinary writes.
//
// Before each batch the record is looked at, for somebody may have cancelled. What cannot be put is
// counted, and told in <prefix>/<id>/errors.json of the output bucket, a JSON object a line:
// {"Object":key,"Line":number,"Error":text}.
#include "exchange/exchange.h"

#include "base/wait.h"
#include "transfer/files.h"
#include "transfer/sink.h"
#include "work/put_batch.h"
#include "json/writer.h"

enum {
    STATE_EVERY = 16,       // batches after which the counts are written
    LOOK_EVERY = 1000,      // failed items after which a cancellation is looked for
    LOOK_MEMORY = 1 << 26,  // of a record
    REPORT_BYTES = 1 << 16, // of a line in the report
    NAP_MS = 10,            // between looks at a clock
};

struct bulk_run {
    struct run run; // first
    struct bulk_record record;
    struct intake intake;
    struct sink *report;     // NULL until there is something to tell
    const char *report_root; // where it is
    int64_t began_ms;
    int64_t units; // written so far
    size_t batches;
    struct put_batch batch;
};

// ---- The record --------------------------------------------------------------------------------

// A cancellation that came meanwhile stays.
static bool save(struct run *run, struct slice there, struct run_saving *saving)
{
    struct bulk_run *own = (struct bulk_run *)run;
    own->record.cancel = map_flag(there, "cancel");
    own->record.processed_bytes = own->intake.bytes;
    own->record.total_bytes = own->intake.total_bytes;
    (void)saving;
    return true;
}

// Whether the run may go on; otherwise it was cancelled, or the server ends.
static bool may_go_on(struct run *run)
{
    struct bulk_run *own = (struct bulk_run *)run;
    struct arena scratch;
    struct slice record;
    if (!work_goes_on(run->shop, &run->error))
        return false;
    arena_init(&scratch, LOOK_MEMORY);
    bool ok = engine_record(run->shop->engine, run->record_name, &scratch, &record, &run->error);
    if (ok)
        own->record.cancel = map_flag(record, "cancel");
    arena_release(&scratch);
    return ok && !own->record.cancel;
}

// ---- Items -------------------------------------------------------------------------------------

// Waits until so many units may have been written.
static bool keep_pace(struct bulk_run *own)
{
    int64_t due_ms = own->record.max_units > 0 ? own->units * 1000 / own->record.max_units : 0;
    if (own->began_ms == 0)
        own->began_ms = monotonic_ms();
    while (monotonic_ms() - own->began_ms < due_ms) {
        if (!may_go_on(&own->run) || !work_pause(own->run.shop, NAP_MS))
            return false;
    }
    return true;
}

static bool write_batch(struct bulk_run *own)
{
    if (own->batch.count == 0)
        return true;
    if (!may_go_on(&own->run) || !keep_pace(own))
        return false;
    int64_t bytes = 0;
    int64_t units = 0;
    for (size_t i = 0; i < own->batch.count; i++) {
        int64_t size = (int64_t)value_item_size(own->batch.actions[i].item);
        bytes += size;
        units += (size + 1023) / 1024;
    }
    if (!put_batch_write(&own->batch))
        return false;
    own->record.written_bytes += bytes;
    own->units += units;
    if (++own->batches % STATE_EVERY == 0)
        run_save(&own->run);
    return true;
}

// An item that the table's guard may still refuse (a value that must be unique) is written by
// itself, so that its fault is its own: *bad, in the run's arena.
static bool add_item(struct bulk_run *own, struct slice item, const char **bad)
{
    bool guarded = own->run.table->guard != NULL;
    if (put_batch_add(&own->batch, item) &&
        ((!guarded && !put_batch_full(&own->batch)) || write_batch(own)))
        return true;
    if (!guarded || own->run.error.code != ERR_VALIDATION)
        return false;
    *bad = own->run.error.message;
    error_init(&own->run.error, &own->run.arena);
    return true;
}

// ---- The report --------------------------------------------------------------------------------

static bool report_open(struct bulk_run *own)
{
    struct slice prefix = own->record.out_prefix;
    while (prefix.len > 0 && prefix.ptr[prefix.len - 1] == '/')
        prefix.len--;
    char *root = exchange_place(&own->run, own->record.out_bucket, true);
    own->report_root = root;
    char *directory = root == NULL
                          ? NULL
                          : arena_printf(&own->run.arena, "%s/%.*s%s%.*s", root, SLICE_FMT(prefix),
                                         prefix.len > 0 ? "/" : "", SLICE_FMT(own->run.id));
    char *path =
        directory == NULL ? NULL : arena_printf(&own->run.arena, "%s/errors.json", directory);
    if (path == NULL)
        return error_budget(&own->run.error);
    if (files_make_directory(directory, &own->run.error))
        own->report = sink_open(path, TRANSFER_NONE, 0, &own->run.error);
    if (own->report != NULL)
        return true;
    error_init(&own->run.error, &own->run.arena);
    return exchange_fail(&own->run, &own->record.base, "S3AccessDenied",
                         "The output bucket cannot be written");
}

static bool report(struct bulk_run *own, struct slice file, uint64_t line, const char *why)
{
    if (!own->record.report_errors)
        return true;
    if (own->report == NULL && !report_open(own))
        return false;
    struct buf text;
    buf_init(&text, REPORT_BYTES);
    struct json_writer w = json_writer_to(&text);
    json_form(&w, "{'Object':%.*s,'Line':%lld,'Error':%s}", SLICE_FMT(file), (long long)line, why);
    buf_byte(&text, '\n');
    bool ok = text.failed || sink_write(own->report, buf_view(&text), &own->run.error);
    buf_release(&text);
    return ok;
}

static bool take(struct run *run, struct slice file, const struct item_record *record)
{
    struct bulk_run *own = (struct bulk_run *)run;
    struct arena scratch;
    struct error fault;
    arena_init(&scratch, 1 << 20);
    error_init(&fault, &scratch);
    const char *bad = record->bad != NULL ? record->bad
                      : record->removes   ? "a deletion cannot be put"
                                          : NULL;
    struct slice item = record->item;
    if (bad == NULL && !put_batch_check(run->shop->engine, own->run.table, &scratch, &item, &fault))
        bad = fault.message;
    bool ok = bad != NULL || add_item(own, item, &bad);
    own->record.processed_items++;
    own->record.failed_items += bad != NULL;
    ok = ok && (bad == NULL || report(own, file, record->line, bad));
    arena_release(&scratch);
    // Where nothing is written, nothing else would look.
    return ok &&
           (own->record.failed_items % LOOK_EVERY != 0 || bad == NULL || may_go_on(&own->run));
}

static bool tell(struct run *run, struct slice file, uint64_t line, const char *why)
{
    struct bulk_run *own = (struct bulk_run *)run;
    own->record.failed_items++;
    return report(own, file, line, why);
}

// Ends the report; what it says must be on disk before the record tells of it.
static bool report_close(struct bulk_run *own, bool ok)
{
    struct error error;
    struct sink *sink = own->report;
    own->report = NULL;
    error_init(&error, &own->run.arena);
    if (sink == NULL ||
        (sink_close(sink, NULL, &error) &&
         exchange_push(&own->run, own->record.out_bucket, own->report_root)) ||
        !ok)
        return ok;
    return exchange_fail(&own->run, &own->record.base, "S3AccessDenied",
                         "The output bucket cannot be written");
}

// ---- The run -----------------------------------------------------------------------------------

static bool load(struct run *run)
{
    struct bulk_run *own = (struct bulk_run *)run;
    own->record.processed_items = 0;
    own->record.failed_items = 0;
    own->record.written_bytes = 0;
    own->intake = (struct intake){
        .run = run, .base = &own->record.base, .take = take, .tell = tell, .goes_on = may_go_on};
    own->intake.options.format = intake_format(own->record.format);
    own->intake.options.compression = intake_compression(own->record.compression);
    own->run.table = engine_table(run->shop->engine, own->record.base.table);
    return (own->run.table != NULL &&
            slice_equal(own->run.table->uuid, own->record.base.table_id)) ||
           exchange_fail(run, &own->record.base, "TableNotFound", "The table was deleted.");
}

static bool perform(struct run *run)
{
    struct bulk_run *own = (struct bulk_run *)run;
    put_batch_init(&own->batch, run->shop, own->run.table, false, &run->error);
    bool ok = intake_read(&own->intake) && write_batch(own);
    put_batch_release(&own->batch);
    ok = report_close(own, ok);
    exchange_clear(run);
    return ok;
}

static void finish(struct run *run, bool ok)
{
    struct bulk_record *bulk = &((struct bulk_run *)run)->record;
    bool cancelled = !ok && bulk->cancel && run->error.code == ERR_NONE;
    bulk->base.status = cancelled                ? BULK_CANCELLED
                        : !ok                    ? BULK_FAILED
                        : bulk->failed_items > 0 ? BULK_COMPLETED_WITH_ERRORS
                                                 : BULK_COMPLETED;
    if (cancelled) {
        bulk->base.failure_code = SLICE_LIT("Cancelled");
        bulk->base.failure_message = SLICE_LIT("The operation was cancelled by a request.");
    }
    exchange_end(run, &bulk->base, ok || cancelled,
                 run->error.code == ERR_RESOURCE_NOT_FOUND ? "TableNotFound"
                                                           : "InternalServerError");
}

const struct run_kind bulk_kind =
    RUN_KIND("bulk", LANE_BULK, bulk_run, record, &bulk_form, BULK_IN_PROGRESS, load, perform,
             finish, NULL, NULL, save);
