// The work of an import: every data file below the prefix, record by record, into the new table by
// ordinary writes. A record that cannot be imported is counted, and the first ones are told to
// whoever runs the server.
#include "exchange/exchange.h"

#include "base/limits.h"
#include "base/log.h"
#include "work/put_batch.h"

enum {
    FAULTS_TOLD = 20,    // lines in the log for one import
    STATE_EVERY = 20000, // records after which the counts are written
};

// Where an item of the batch comes from.
struct origin {
    struct slice file;
    uint64_t line;
};

struct import_run {
    struct run run; // first
    struct import_record record;
    struct intake intake;
    struct origin origins[PUT_BATCH_ITEMS];
    struct put_batch batch;
};

// ---- Items ------------------------------------------------------------------------

static bool write_batch(struct import_run *own)
{
    size_t count = own->batch.count;
    int64_t before = own->record.errors;
    if (!put_batch_write(&own->batch))
        return false;
    own->record.imported_items += (int64_t)count - (own->record.errors - before);
    return true;
}

static bool tell(struct run *run, struct slice file, uint64_t line, const char *why)
{
    struct import_run *own = (struct import_run *)run;
    own->record.errors++;
    if (own->record.errors <= FAULTS_TOLD)
        log_warn("import %.*s: %.*s line %llu: %s", SLICE_FMT(own->record.base.id), SLICE_FMT(file),
                 (unsigned long long)line, why);
    return true;
}

// What only the write finds out: another item has a value that must be unique.
static void refused(void *context, size_t position, const char *why)
{
    struct import_run *own = context;
    (void)tell(&own->run, own->origins[position].file, own->origins[position].line, why);
}

static bool take(struct run *run, struct slice file, const struct item_record *record)
{
    struct import_run *own = (struct import_run *)run;
    own->record.processed_bytes = own->intake.bytes;
    if (++own->record.processed_items % STATE_EVERY == 0)
        run_save(run);
    if (record->bad != NULL || record->removes)
        return tell(run, file, record->line,
                    record->bad != NULL ? record->bad : "a deletion cannot be imported");
    struct arena scratch;
    struct error fault;
    arena_init(&scratch, 1 << 20);
    error_init(&fault, &scratch);
    struct slice item = record->item;
    bool fits = put_batch_check(run->shop->engine, own->run.table, &scratch, &item, &fault);
    if (!fits)
        (void)tell(run, file, record->line, fault.message);
    else
        own->origins[own->batch.count] = (struct origin){file, record->line};
    bool ok = !fits || (put_batch_add(&own->batch, item) &&
                        (!put_batch_full(&own->batch) || write_batch(own)));
    arena_release(&scratch);
    return ok;
}

// What an export has beside its data.
static bool is_data(struct slice key)
{
    static const char *const names[] = {"manifest-summary.json", "manifest-summary.checksum",
                                        "manifest-files.json", "manifest-files.checksum",
                                        "_started"};
    const uint8_t *slash = key.len == 0 ? NULL : memrchr(key.ptr, '/', key.len);
    struct slice name =
        slash == NULL ? key : slice_of(slash + 1, (size_t)(key.ptr + key.len - slash - 1));
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (slice_is(name, names[i]))
            return false;
    }
    return true;
}

// ---- The run ----------------------------------------------------------------------------------

// How the files are to be read, from the record. Key attributes of all indexes have types.
static bool prepare(struct import_run *own)
{
    struct arena *arena = &own->run.arena;
    struct item_reader_options *options = &own->intake.options;
    const struct import_record *record = &own->record;
    options->format = intake_format(record->format);
    options->compression = intake_compression(record->compression);
    options->delimiter = record->delimiter.len == 1 ? record->delimiter.ptr[0] : 0;
    const struct table *table = own->run.table;
    struct key_part *typed =
        arena_zalloc(arena, (LIMIT_INDEXES + 1) * 2 * (size_t)LIMIT_KEY_PARTS, sizeof(*typed));
    struct slice *header = record->header.len == 0
                               ? NULL
                               : arena_zalloc(arena, value_count(record->header), sizeof(*header));
    if (typed == NULL || (record->header.len > 0 && header == NULL))
        return error_budget(&own->run.error);
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
        value_iter_init(&iter, record->header);
    while (header != NULL && value_iter_next(&iter))
        header[options->header_count++] = value_bytes(iter.value);
    return true;
}

static bool goes_on(struct run *run)
{
    return work_goes_on(run->shop, &run->error);
}

static bool load(struct run *run)
{
    struct import_run *own = (struct import_run *)run;
    own->record.errors = 0;
    own->record.processed_bytes = 0;
    own->record.processed_items = 0;
    own->record.imported_items = 0;
    own->intake = (struct intake){.run = run,
                                  .base = &own->record.base,
                                  .wants = is_data,
                                  .take = take,
                                  .tell = tell,
                                  .goes_on = goes_on};
    // A table of this name may have had a model, which it gets now.
    if (run->shop->filling != NULL &&
        !run->shop->filling(run->shop, own->record.base.table, &run->error))
        return false;
    struct table *table = engine_table(run->shop->engine, own->record.base.table);
    if (table == NULL || table->status != TABLE_CREATING) {
        table_release(table);
        return exchange_fail(run, &own->record.base, "TableNotFound",
                             "The table was deleted during the import.");
    }
    run->table = table;
    own->record.base.table_id = table->uuid;
    return prepare(own);
}

static bool perform(struct run *run)
{
    struct import_run *own = (struct import_run *)run;
    put_batch_init(&own->batch, run->shop, own->run.table, false, &run->error);
    own->batch.refused = run->table->guard == NULL ? NULL : refused;
    own->batch.context = own;
    bool ok = intake_read(&own->intake) && write_batch(own);
    exchange_clear(run);
    put_batch_release(&own->batch);
    own->record.processed_bytes = own->intake.bytes;
    return ok;
}

// The table can be used from now on, or goes if nothing came into it.
static void settle_table(struct import_run *own, bool keep)
{
    struct error error;
    error_init(&error, &own->run.arena);
    if (!work_settle_table(own->run.shop, own->run.table, keep, &error) &&
        error.code != ERR_RESOURCE_NOT_FOUND)
        log_error("the imported table %.*s could not be made active: %s",
                  SLICE_FMT(own->run.table->name), error.message);
}

static void finish(struct run *run, bool ok)
{
    struct import_run *own = (struct import_run *)run;
    struct exchange *base = &own->record.base;
    base->status = ok && own->record.errors == 0 ? EXCHANGE_COMPLETED : EXCHANGE_FAILED;
    if (ok && own->record.errors > 0) {
        base->failure_code = SLICE_LIT("ItemValidationError");
        base->failure_message =
            SLICE_LIT("Some of the items failed validation checks and were not imported. Please "
                      "check CloudWatch error logs for more details.");
    }
    if (run->table != NULL)
        settle_table(own, ok || own->record.imported_items > 0);
    exchange_end(run, base, ok, "InternalServerError");
}

const struct run_kind import_kind =
    RUN_KIND("import", LANE_IMPORT, import_run, record, &import_form, EXCHANGE_IN_PROGRESS, load,
             perform, finish, NULL, NULL, NULL);
