// The work of an export: the table as it was goes into data files, then the manifests are written,
// then the record says that it is done.
#include "exchange/exchange.h"

#include "transfer/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct export_run {
    struct run run; // first
    struct export_record record;
    struct export_target target;
};

// The filter chooses what is written, not what is read and paid for.
static bool write_item(struct export_run *own, struct slice item)
{
    struct export_filter *filter = own->target.filter;
    own->record.billed_bytes += (int64_t)value_item_size(item);
    if (!export_filter_keys(filter, item) || !export_filter_item(filter, item))
        return true;
    return export_filter_project(filter, EXPORT_NEW_IMAGE, &item, &own->run.error) &&
           export_item(own->target.writer, item, &own->run.error);
}

static bool write_items(struct export_run *own)
{
    struct history_limits limits = {own->run.shop->note_bytes, work_stops, own->run.shop};
    struct history *history = history_open(own->run.shop->engine, own->run.table, own->record.at_ms,
                                           &limits, &own->run.error);
    if (history == NULL)
        return false;
    struct slice item;
    bool ok = true;
    while (ok && history_next(history, &item))
        ok = work_goes_on(own->run.shop, &own->run.error) && write_item(own, item);
    ok = ok && history_ok(history, &own->run.error);
    history_close(history);
    return ok;
}

static bool write_summary(struct export_run *own)
{
    const struct export_record *record = &own->record;
    struct export_summary summary = {
        .export_arn = exchange_arn(&own->run.arena, &record->base, "export"),
        .table_arn = exchange_arn(&own->run.arena, &record->base, NULL),
        .table_id = record->base.table_id,
        .start_ms = record->base.started_ms,
        .end_ms = record->base.ended_ms,
        .export_ms = record->at_ms,
        .from_ms = record->from_ms,
        .to_ms = record->to_ms,
        .view = record->old_images ? SLICE_LIT("NEW_AND_OLD_IMAGES") : SLICE_LIT("NEW_IMAGE"),
        .bucket = record->base.bucket,
        .prefix = record->base.prefix,
        .sse_algorithm = record->sse_algorithm,
        .sse_key = record->sse_key,
        .billed_bytes = record->billed_bytes,
    };
    return export_finish(own->target.writer, &summary, &own->run.error);
}

// What an interrupted run has left of a full export would be taken for a part of this one.
static bool remove_leftovers(struct export_run *own, const char *root, const char *id)
{
    struct buf prefix;
    buf_init(&prefix, 8192);
    export_manifest_key(&prefix, own->record.base.prefix, id);
    prefix.len -= sizeof("manifest-summary.json") - 1;
    buf_text(&prefix, "data/");
    struct file_entry *entries = NULL;
    size_t count = 0;
    bool ok = files_list(root, buf_view(&prefix), FILES_NO_LINKS, &own->run.arena, &entries, &count,
                         &own->run.error);
    buf_release(&prefix);
    if (!ok && own->run.error.code == ERR_RESOURCE_NOT_FOUND) { // no bucket yet
        error_init(&own->run.error, &own->run.arena);
        return true;
    }
    for (size_t i = 0; ok && i < count; i++) {
        char *path = files_path(&own->run.arena, root, entries[i].key);
        ok = path != NULL && unlink(path) == 0;
    }
    return ok || error_set(&own->run.error, ERR_INTERNAL, "cannot remove an earlier data file");
}

static bool perform(struct run *run)
{
    struct export_run *own = (struct export_run *)run;
    const char *id = (const char *)run->id.ptr; // which is the end of a text
    exchange_clear(run);                        // of a process that was killed
    char *root = exchange_place(run, own->record.base.bucket, true);
    if (root == NULL || (!own->record.incremental && !remove_leftovers(own, root, id)))
        return false;
    struct export_options options = {
        .root = root,
        .prefix = own->record.base.prefix,
        .id = id,
        .incremental = own->record.incremental,
        .format = own->record.ion ? TRANSFER_ION : TRANSFER_DYNAMODB_JSON,
        .env = engine_env(own->run.shop->engine),
    };
    own->record.billed_bytes = 0;
    own->target.filter =
        export_filter_open(own->record.filter, own->run.table, &own->run.arena, &own->run.error);
    if (own->target.filter == NULL)
        return false;
    own->target.writer = export_open(&options, &own->run.error);
    bool ok = own->target.writer != NULL &&
              (own->record.incremental
                   ? export_changes(own->run.shop, own->run.table, &own->record, &own->target,
                                    &own->record.billed_bytes, &own->run.error)
                   : write_items(own));
    own->record.base.ended_ms = env_now(engine_env(own->run.shop->engine));
    ok = ok && write_summary(own);
    if (ok)
        own->record.items = (int64_t)export_item_count(own->target.writer);
    export_free(own->target.writer);
    export_filter_close(own->target.filter);
    ok = ok && exchange_push(run, own->record.base.bucket, root);
    exchange_clear(run);
    return ok;
}

static bool load(struct run *run)
{
    const struct exchange *base = &((struct export_run *)run)->record.base;
    run->table = engine_table(run->shop->engine, base->table);
    return (run->table != NULL && slice_equal(run->table->uuid, base->table_id)) ||
           error_set(&run->error, ERR_RESOURCE_NOT_FOUND,
                     "The table was deleted before the export began.");
}

static void finish(struct run *run, bool ok)
{
    struct exchange *base = &((struct export_run *)run)->record.base;
    base->status = ok ? EXCHANGE_COMPLETED : EXCHANGE_FAILED;
    bool elsewhere = run->shop->buckets.push != NULL && run->table != NULL;
    exchange_end(run, base, ok,
                 run->error.code == ERR_RESOURCE_NOT_FOUND && elsewhere ? "S3NoSuchBucket"
                 : run->error.code == ERR_RESOURCE_NOT_FOUND            ? "TableNotFound"
                 : run->error.code == ERR_DAMAGED                       ? "InternalServerError"
                                                                        : "S3Error");
}

const struct run_kind export_kind =
    RUN_KIND("export", LANE_EXPORT, export_run, record, &export_form, EXCHANGE_IN_PROGRESS, load,
             perform, finish, NULL, NULL, NULL);

// ---- Buckets, and what was not finished -------------------------------------------------------

void exchange_open(struct workshop *shop, const char *root, const char *data)
{
    ensure(shop->bucket_root == NULL);
    if (root == NULL && data == NULL)
        return;
    size_t size = strlen(root != NULL ? root : data) + sizeof("/buckets");
    shop->bucket_root = malloc(size);
    ensure_memory(shop->bucket_root);
    (void)snprintf(shop->bucket_root, size, "%s%s", root != NULL ? root : data,
                   root != NULL ? "" : "/buckets");
    run_resume(shop, &export_kind, false);
    run_resume(shop, &import_kind, false);
    run_resume(shop, &bulk_kind, false);
}
