// CreateBackup, DescribeBackup, ListBackups, DeleteBackup. A backup's items are a hidden table, so
// that making one is copying a table (from a snapshot, beside the requests), and restoring one is
// copying it back. What the table was is kept in the record "backup/<id>".
#include "history/backup_call.h"

#include "requests/requests_control.h"

// ---- Finding one ------------------------------------------------------------------------

static bool not_found(struct api_call *call, struct slice arn)
{
    return error_set(&call->error, ERR_BACKUP_NOT_FOUND, "Backup not found: %.*s", SLICE_FMT(arn));
}

// The table and the id of arn:aws:dynamodb:<region>:<account>:table/<table>/backup/<id>
static bool arn_parse(struct slice text, struct slice *table, struct slice *id)
{
    return arn_of_part(text, "backup", table, id) && id->len < BACKUP_ID_MAX;
}

bool call_backup(struct api_call *call, struct slice arn, struct backup *out)
{
    struct slice table;
    struct slice id;
    struct slice record;
    if (!arn_parse(arn, &table, &id))
        return not_found(call, arn);
    struct slice name = backup_record_name(&call->arena, id);
    if (name.ptr == NULL)
        return error_budget(&call->error);
    if (!engine_record(call_engine(call), name, &call->arena, &record, &call->error))
        return false;
    if (record.len == 0)
        return not_found(call, arn);
    map_decode(&backup_form, record, out);
    return slice_equal(out->table, table) || not_found(call, arn);
}

// ---- CreateBackup -------------------------------------------------------------------------------

struct creation {
    struct engine *engine;
    struct table *source;
    struct backup backup;
    struct slice data_name;
};

static bool create_alter(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    const struct creation *creation = context;
    ensure(current == NULL);
    // Once the record is there, the table cannot be deleted; before, it may have been.
    struct table *source = engine_table(creation->engine, creation->source->name);
    bool stands = source != NULL && source->tree == creation->source->tree;
    table_release(source);
    if (!stands)
        return error_set(error, ERR_TABLE_NOT_FOUND, "Table not found: %.*s",
                         SLICE_FMT(creation->source->name));
    *next = backup_data_table(creation->source, creation->data_name);
    return *next != NULL || error_budget(error);
}

enum step create_backup_start(struct api_call *call, const void *decoded)
{
    const struct create_backup_request *request = decoded;
    struct slice name = table_name_plain(request->table_name);
    struct creation *creation = call_alloc(call, 1, sizeof(*creation));
    struct record_write *record = call_alloc(call, 1, sizeof(*record));
    if (creation == NULL || record == NULL)
        return STEP_FAILED;
    creation->engine = call_engine(call);
    creation->source = call_any_table(call, name);
    if (creation->source == NULL && call->error.code == ERR_ACCESS_DENIED)
        return STEP_FAILED;
    if (creation->source == NULL) {
        error_init(&call->error, &call->arena);
        (void)error_set(&call->error, ERR_TABLE_NOT_FOUND, "Table not found: %.*s",
                        SLICE_FMT(name));
        return STEP_FAILED;
    }
    if (creation->source->status != TABLE_ACTIVE)
        return step_failed(error_set(&call->error, ERR_TABLE_IN_USE, "Table is being created: %.*s",
                                     SLICE_FMT(name)));
    int64_t now_ms = env_now(engine_env(call_engine(call)));
    creation->backup = (struct backup){
        .id = backup_id_new(engine_env(call_engine(call)), &call->arena, now_ms),
        .name = request->backup_name,
        .table = creation->source->name,
        .status = BACKUP_CREATING,
        .created_ms = now_ms,
        .size = creation->source->stats->bytes,
        .items = creation->source->stats->items,
        .source = backup_source_record(creation->source, &call->arena),
    };
    creation->data_name = backup_data_name(&call->arena, creation->backup.id);
    record->name = backup_record_name(&call->arena, creation->backup.id);
    if (creation->backup.id.ptr == NULL || creation->backup.source.ptr == NULL ||
        creation->data_name.ptr == NULL || record->name.ptr == NULL)
        return step_failed(error_budget(&call->error));
    record->value = map_encode(&backup_form, &creation->backup, &call->arena, &call->error);
    struct table_change *change = call_table_change(call);
    if (change == NULL || record->value.ptr == NULL)
        return STEP_FAILED;
    change->name = creation->data_name;
    change->alter = create_alter;
    change->context = creation;
    change->record_count = 1;
    change->records = record;
    call->state->own = creation;
    return call_submit(call);
}

static void write_details(struct json_writer *w, struct slice region, const struct backup *backup,
                          const char *status)
{
    json_put_arn(w, "BackupArn", &(struct table_arn){region, backup->table, "backup", backup->id});
    json_put_string(w, "BackupName", backup->name);
    json_put_integer(w, "BackupSizeBytes", backup->size);
    json_put_text(w, "BackupStatus", status);
    json_put_text(w, "BackupType", backup->system ? "SYSTEM" : "USER");
    json_put_time(w, "BackupCreationDateTime", backup->created_ms);
    if (backup->expiry_ms != 0)
        json_put_time(w, "BackupExpiryDateTime", backup->expiry_ms);
    if (backup->failure.len > 0) // no member of DynamoDB's, which never says why
        json_put_string(w, "FailureMessage", backup->failure);
}

// DynamoDB has no name for a backup that failed: its data is not there.
static const char *status_name(const struct backup *backup)
{
    static const char *const names[] = {"CREATING", "AVAILABLE", "DELETED"};
    return names[backup->status];
}

void create_backup_finish(struct api_call *call, const void *request)
{
    (void)request;
    const struct creation *creation = call->state->own;
    struct history *history = NULL;
    if (lane_idle(call_shop(call), LANE_BACKUP)) {
        history =
            history_open(call_engine(call), creation->source, HISTORY_NOW, NULL, &call->error);
        error_init(&call->error, &call->arena); // then it is for the task to try, and to tell
    }
    backup_begin(call_shop(call), creation->backup.id, history);
    struct json_writer w = call_open(call);
    json_put_object(&w, "BackupDetails");
    write_details(&w, call->region, &creation->backup, "CREATING");
    json_close_object(&w);
    json_close_object(&w);
}

// ---- Describing -----------------------------------------------------------------------------

static void write_throughput(struct json_writer *w, const struct throughput_settings *throughput)
{
    json_put_object(w, "ProvisionedThroughput");
    json_put_integer(w, "ReadCapacityUnits", throughput->read);
    json_put_integer(w, "WriteCapacityUnits", throughput->write);
    json_close_object(w);
}

static void write_indexes(struct json_writer *w, const struct table *source, bool global)
{
    bool open = false;
    for (size_t i = 0; i < source->index_count; i++) {
        const struct index *index = &source->indexes[i];
        if (index->global != global)
            continue;
        if (!open) {
            json_name(w, global ? "GlobalSecondaryIndexes" : "LocalSecondaryIndexes");
            json_open_array(w);
            open = true;
        }
        json_open_object(w);
        json_put_string(w, "IndexName", index->name);
        table_write_keys(w, &index->keys);
        table_write_projection(w, index);
        if (global) {
            struct throughput_settings throughput;
            index_settings_read(index, &throughput);
            write_throughput(w, &throughput);
        }
        json_close_object(w);
    }
    if (open)
        json_close_array(w);
}

static void write_features(struct json_writer *w, const struct table_settings *settings)
{
    if (settings->stream_view.len > 0)
        json_form(w, "'StreamDescription':{'StreamEnabled':true,'StreamViewType':%.*s}",
                  SLICE_FMT(settings->stream_view));
    if (settings->ttl_attribute.len > 0) {
        json_put_object(w, "TimeToLiveDescription");
        json_put_text(w, "TimeToLiveStatus", "ENABLED");
        json_put_string(w, "AttributeName", settings->ttl_attribute);
        json_close_object(w);
    }
}

static void write_source(struct json_writer *w, struct slice region, const struct backup *backup,
                         const struct table *source)
{
    struct table_settings settings;
    table_settings_read(source, &settings);
    json_put_object(w, "SourceTableDetails");
    json_put_string(w, "TableName", backup->table);
    json_put_string(w, "TableId", source->uuid);
    json_put_arn(w, "TableArn", &(struct table_arn){.region = region, .table = backup->table});
    json_put_integer(w, "TableSizeBytes", backup->size);
    table_write_keys(w, &source->keys);
    json_put_time(w, "TableCreationDateTime", source->created_ms);
    write_throughput(w, &settings.throughput);
    json_form(w, "'ItemCount':%lld,'BillingMode':%s},'SourceTableFeatureDetails':{",
              (long long)backup->items, settings.on_demand ? "PAY_PER_REQUEST" : "PROVISIONED");
    write_indexes(w, source, false);
    write_indexes(w, source, true);
    write_features(w, &settings);
    json_close_object(w);
}

static void write_description(struct api_call *call, const struct backup *backup,
                              const char *status)
{
    struct json_writer w = call_open(call);
    json_put_object(&w, "BackupDescription");
    json_put_object(&w, "BackupDetails");
    write_details(&w, call->region, backup, status);
    json_close_object(&w);
    struct table *source = table_decode(backup->source);
    if (source != NULL)
        write_source(&w, call->region, backup, source);
    table_release(source);
    json_close_object(&w);
    json_close_object(&w);
}

enum step describe_backup_start(struct api_call *call, const void *request)
{
    const struct backup_arn_request *describe = request;
    struct backup backup;
    if (!call_backup(call, describe->backup_arn, &backup))
        return STEP_FAILED;
    write_description(call, &backup, status_name(&backup));
    return STEP_READY;
}

// ---- ListBackups --------------------------------------------------------------------------------

struct listing {
    const struct list_backups_request *request;
    struct json_writer w;
    struct slice region;
    struct slice table;
    struct arena *arena;
    uint64_t limit;
    uint64_t count;
    struct slice last_id; // of the last that was written
    struct slice last_table;
    bool more;
};

static bool listing_wants(const struct listing *listing, const struct backup *backup)
{
    const struct list_backups_request *request = listing->request;
    const struct field_double *from = &request->time_range_lower_bound;
    const struct field_double *to = &request->time_range_upper_bound;
    struct slice type = request->backup_type;
    if (slice_is(type, "AWS_BACKUP") || (slice_is(type, "SYSTEM") && !backup->system) ||
        ((type.ptr == NULL || slice_is(type, "USER")) && backup->system))
        return false;
    if (listing->table.ptr != NULL && !slice_equal(listing->table, backup->table))
        return false;
    double seconds = (double)backup->created_ms / 1000;
    return (!from->set || seconds >= from->value) && (!to->set || seconds < to->value);
}

static bool list_one(void *context, struct slice name, struct slice record)
{
    struct listing *listing = context;
    struct backup backup;
    (void)name;
    map_decode(&backup_form, record, &backup);
    if (!listing_wants(listing, &backup))
        return true;
    if (listing->count == listing->limit) {
        listing->more = true;
        return false;
    }
    listing->count++;
    struct json_writer *w = &listing->w;
    json_open_object(w);
    json_put_string(w, "TableName", backup.table);
    struct table *source = table_decode(backup.source);
    if (source != NULL)
        json_put_string(w, "TableId", source->uuid);
    table_release(source);
    json_put_arn(w, "TableArn",
                 &(struct table_arn){.region = listing->region, .table = backup.table});
    write_details(w, listing->region, &backup, status_name(&backup));
    json_close_object(w);
    listing->last_id = arena_copy(listing->arena, backup.id);
    listing->last_table = arena_copy(listing->arena, backup.table);
    return true;
}

enum step list_backups_start(struct api_call *call, const void *decoded)
{
    const struct list_backups_request *request = decoded;
    struct slice after = {NULL, 0};
    struct slice start = request->exclusive_start_backup_arn;
    struct slice table;
    struct slice id;
    if (start.ptr != NULL) {
        if (!arn_parse(start, &table, &id))
            return step_failed(error_validation(
                &call->error, "Invalid ExclusiveStartBackupArn: %.*s", SLICE_FMT(start)));
        after = backup_record_name(&call->arena, id);
    }
    struct listing listing = {
        .request = request,
        .w = call_writer(call),
        .region = call->region,
        .table = request->table_name.ptr == NULL ? request->table_name
                                                 : table_name_plain(request->table_name),
        .arena = &call->arena,
        .limit = request->limit.set ? (uint64_t)request->limit.value : 100,
    };
    json_open_object(&listing.w);
    json_put_array(&listing.w, "BackupSummaries");
    if (!engine_records(call_engine(call), SLICE_LIT(BACKUP_RECORDS), after, list_one, &listing,
                        &call->error))
        return STEP_FAILED;
    json_close_array(&listing.w);
    if (listing.more)
        json_put_arn(
            &listing.w, "LastEvaluatedBackupArn",
            &(struct table_arn){call->region, listing.last_table, "backup", listing.last_id});
    json_close_object(&listing.w);
    return STEP_READY;
}

// ---- DeleteBackup -----------------------------------------------------------------------------

static bool delete_alter(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    const struct api_call *call = context;
    const struct backup *backup = call->state->own;
    const struct backup_arn_request *request = call->state->request;
    (void)next;
    if (current == NULL)
        return error_set(error, ERR_BACKUP_NOT_FOUND, "Backup not found: %.*s",
                         SLICE_FMT(request->backup_arn));
    return !restore_reads(call_engine(call), backup->id) ||
           error_set(error, ERR_BACKUP_IN_USE, "Backup is being restored: %.*s",
                     SLICE_FMT(request->backup_arn));
}

enum step delete_backup_start(struct api_call *call, const void *decoded)
{
    const struct backup_arn_request *request = decoded;
    struct backup *backup = call_alloc(call, 1, sizeof(*backup));
    struct record_write *record = call_alloc(call, 1, sizeof(*record));
    if (backup == NULL || record == NULL || !call_backup(call, request->backup_arn, backup))
        return STEP_FAILED;
    if (backup->status == BACKUP_CREATING)
        return step_failed(error_set(&call->error, ERR_BACKUP_IN_USE,
                                     "Backup is being created: %.*s",
                                     SLICE_FMT(request->backup_arn)));
    struct table_change *change = call_table_change(call);
    record->name = backup_record_name(&call->arena, backup->id);
    if (change == NULL || record->name.ptr == NULL)
        return STEP_FAILED;
    change->name = backup_data_name(&call->arena, backup->id);
    change->alter = delete_alter;
    change->context = call;
    change->record_count = 1;
    change->records = record;
    call->state->own = backup;
    call->usage.table = backup->table;
    return call_submit(call);
}

void delete_backup_finish(struct api_call *call, const void *request)
{
    (void)request;
    write_description(call, call->state->own, "DELETED");
}
