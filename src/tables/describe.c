// A table in JSON, as DescribeTable and the answers to changes show it.
#include "tables/describe.h"
#include "tables/arn.h"
#include "tables/table_spec.h"
#include "tables/vector_spec.h"

#include <stdio.h>
#include <time.h>

// All that the writers below need to know.
struct description {
    struct json_writer *w;
    const struct table *table;
    const struct table *before;
    const struct table_view *view;
    struct table_settings settings;
};

static void put_arn(const struct description *d, const char *name, const char *kind,
                    struct slice id)
{
    json_put_arn(d->w, name,
                 &(struct table_arn){d->view->region, d->table->name, .kind = kind, .id = id});
}

// ---- Keys ------------------------------------------------------------------------------------

static void put_definitions(const struct description *d)
{
    struct value_iter iter;
    json_put_array(d->w, "AttributeDefinitions");
    value_iter_init(&iter, d->settings.attributes);
    while (value_iter_next(&iter)) {
        struct slice name = value_bytes(iter.value);
        enum value_type type = table_attribute_type(d->table, name);
        // An attribute that only a removed index used is not defined any more.
        if (type == VALUE_TYPES)
            continue;
        json_form(d->w, "{'AttributeName':%.*s,'AttributeType':%s}", SLICE_FMT(name),
                  value_type_name(type));
    }
    json_close_array(d->w);
}

void table_write_keys(struct json_writer *w, const struct key_schema *keys)
{
    json_put_array(w, "KeySchema");
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++)
        json_form(w, "{'AttributeName':%.*s,'KeyType':%s}", SLICE_FMT(keys->parts[i].name),
                  i < keys->hash_count ? "HASH" : "RANGE");
    json_close_array(w);
}

// ---- Throughput ------------------------------------------------------------------------------

static void put_provisioned(const struct description *d, const struct throughput_settings *from)
{
    json_put_object(d->w, "ProvisionedThroughput");
    json_put_given_time(d->w, "LastIncreaseDateTime", from->increased_ms);
    json_put_given_time(d->w, "LastDecreaseDateTime", from->decreased_ms);
    json_put_integer(d->w, "NumberOfDecreasesToday", throughput_decreases(from, d->view->now_ms));
    json_put_integer(d->w, "ReadCapacityUnits", from->read);
    json_put_integer(d->w, "WriteCapacityUnits", from->write);
    json_close_object(d->w);
}

static void put_limits(struct json_writer *w, const struct throughput_settings *from)
{
    if (from->max_read == 0 && from->max_write == 0)
        return;
    json_put_object(w, "OnDemandThroughput");
    if (from->max_read != 0)
        json_put_integer(w, "MaxReadRequestUnits", from->max_read);
    if (from->max_write != 0)
        json_put_integer(w, "MaxWriteRequestUnits", from->max_write);
    json_close_object(w);
}

static void put_warm(struct json_writer *w, const struct throughput_settings *from)
{
    json_put_object(w, "WarmThroughput");
    json_put_integer(w, "ReadUnitsPerSecond", from->warm_read);
    json_put_integer(w, "WriteUnitsPerSecond", from->warm_write);
    json_put_text(w, "Status", "ACTIVE");
    json_close_object(w);
}

// ---- Indexes ---------------------------------------------------------------------------------

void table_write_projection(struct json_writer *w, const struct index *index)
{
    static const char *const names[] = {
        [PROJECT_ALL] = "ALL", [PROJECT_KEYS_ONLY] = "KEYS_ONLY", [PROJECT_INCLUDE] = "INCLUDE"};
    json_put_object(w, "Projection");
    json_put_text(w, "ProjectionType", names[index->projection]);
    if (index->projection == PROJECT_INCLUDE) {
        json_put_array(w, "NonKeyAttributes");
        for (size_t i = 0; i < index->include_count; i++)
            json_string(w, index->include[i]);
        json_close_array(w);
    }
    json_close_object(w);
}

void table_write_status(struct json_writer *w, const struct index *index, bool updated,
                        enum describe_moment moment)
{
    const char *status = updated ? "UPDATING" : "ACTIVE";
    if (index->status == INDEX_DELETING)
        status = "DELETING";
    else if (index->status == INDEX_CREATING || moment == DESCRIBE_CREATED)
        status = "CREATING";
    json_put_text(w, "IndexStatus", status);
    if (index->status == INDEX_CREATING)
        json_put_flag(w, "Backfilling", moment == DESCRIBE_NOW);
}

void table_write_size(struct json_writer *w, const struct index *index,
                      const struct table_view *view)
{
    bool fresh = (index->status == INDEX_CREATING && view->moment != DESCRIBE_NOW) || view->unsized;
    json_put_integer(w, "IndexSizeBytes", fresh ? 0 : index->stats->bytes);
    json_put_integer(w, "ItemCount", fresh ? 0 : index->stats->items);
}

static bool is_updated(const struct description *d, const struct index *index)
{
    const struct index *before = d->before == NULL ? NULL : table_index(d->before, index->name);
    return before != NULL && !slice_equal(before->settings, index->settings);
}

static void put_index(const struct description *d, const struct index *index)
{
    struct throughput_settings throughput;
    index_settings_read(index, &throughput);
    json_open_object(d->w);
    json_put_string(d->w, "IndexName", index->name);
    table_write_keys(d->w, &index->keys);
    table_write_projection(d->w, index);
    if (index->global) {
        table_write_status(d->w, index, is_updated(d, index), d->view->moment);
        put_provisioned(d, &throughput);
    }
    table_write_size(d->w, index, d->view);
    put_arn(d, "IndexArn", "index", index->name);
    if (index->global) {
        put_limits(d->w, &throughput);
        put_warm(d->w, &throughput);
    }
    json_close_object(d->w);
}

static void put_indexes(const struct description *d, bool global)
{
    bool open = false;
    for (size_t i = 0; i < d->table->index_count; i++) {
        if (d->table->indexes[i].global != global)
            continue;
        if (!open) {
            json_put_array(d->w, global ? "GlobalSecondaryIndexes" : "LocalSecondaryIndexes");
            open = true;
        }
        put_index(d, &d->table->indexes[i]);
    }
    if (open)
        json_close_array(d->w);
}

// ---- Settings --------------------------------------------------------------------------------

static void put_billing(const struct description *d)
{
    if (d->settings.on_demand_ms == 0)
        return;
    json_put_object(d->w, "BillingModeSummary");
    json_put_text(d->w, "BillingMode", d->settings.on_demand ? "PAY_PER_REQUEST" : "PROVISIONED");
    if (d->view->moment != DESCRIBE_CREATED)
        json_put_given_time(d->w, "LastUpdateToPayPerRequestDateTime", d->settings.on_demand_ms);
    json_close_object(d->w);
}

struct slice table_stream_label(int64_t ms, char *text, size_t size)
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm parts;
    ensure(gmtime_r(&seconds, &parts) != NULL);
    int len = snprintf(text, size, "%04d-%02d-%02dT%02d:%02d:%02d.%03d", parts.tm_year + 1900,
                       parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                       (int)(ms % 1000));
    ensure(len > 0 && (size_t)len < size);
    return slice_of(text, (size_t)len);
}

static void put_stream(const struct description *d)
{
    if (d->settings.stream_view.len > 0)
        json_form(d->w, "'StreamSpecification':{'StreamEnabled':true,'StreamViewType':%.*s}",
                  SLICE_FMT(d->settings.stream_view));
    if (d->settings.stream_ms != 0) {
        char text[TABLE_STREAM_LABEL];
        struct slice label = table_stream_label(d->settings.stream_ms, text, sizeof(text));
        json_put_string(d->w, "LatestStreamLabel", label);
        put_arn(d, "LatestStreamArn", "stream", label);
    }
}

static void put_encryption(const struct description *d)
{
    struct slice key = d->settings.key;
    if (!d->settings.encrypted)
        return;
    // It was asked for, and nobody shall think that it is so.
    if (!d->view->encrypted) {
        json_form(d->w, "'SSEDescription':{'Status':'DISABLED'}");
        return;
    }
    struct buf arn;
    buf_init(&arn, 1 << 20);
    if (!slice_begins(key, SLICE_LIT("arn:"))) {
        buf_text(&arn, "arn:aws:kms:");
        buf_slice(&arn, d->view->region);
        buf_text(&arn, ":000000000000:");
        if (key.len == 0)
            key = SLICE_LIT("alias/aws/dynamodb");
        if (!slice_begins(key, SLICE_LIT("alias/")))
            buf_text(&arn, "key/");
    }
    buf_slice(&arn, key);
    json_form(d->w, "'SSEDescription':{'Status':'ENABLED','SSEType':'KMS'");
    json_put_string(d->w, "KMSMasterKeyArn", buf_view(&arn));
    json_close_object(d->w);
    buf_release(&arn);
}

static void put_class(const struct description *d)
{
    if (d->settings.table_class.len == 0)
        return;
    json_put_object(d->w, "TableClassSummary");
    json_put_string(d->w, "TableClass", d->settings.table_class);
    json_put_given_time(d->w, "LastUpdateDateTime", d->settings.table_class_ms);
    json_close_object(d->w);
}

// What the table was restored from.
static void put_restore(const struct description *d)
{
    const struct table_settings *settings = &d->settings;
    if (settings->restore_ms == 0)
        return;
    json_put_object(d->w, "RestoreSummary");
    if (settings->restore_backup.len > 0)
        json_put_arn(d->w, "SourceBackupArn",
                     &(struct table_arn){d->view->region, settings->restore_table, "backup",
                                         settings->restore_backup});
    json_put_arn(d->w, "SourceTableArn",
                 &(struct table_arn){.region = d->view->region, .table = settings->restore_table});
    json_put_given_time(d->w, "RestoreDateTime", settings->restore_ms);
    json_put_flag(d->w, "RestoreInProgress", d->table->status == TABLE_CREATING);
    json_close_object(d->w);
}

// ---- The whole ---------------------------------------------------------------------------------

// What is said of a table even when it is about to go.
static void put_essentials(const struct description *d)
{
    static const char *const statuses[] = {[DESCRIBE_NOW] = "ACTIVE",
                                           [DESCRIBE_CREATED] = "CREATING",
                                           [DESCRIBE_UPDATED] = "UPDATING",
                                           [DESCRIBE_DELETED] = "DELETING"};
    json_put_string(d->w, "TableName", d->table->name);
    bool creating = d->view->moment == DESCRIBE_NOW && d->table->status == TABLE_CREATING;
    json_put_text(d->w, "TableStatus", statuses[creating ? DESCRIBE_CREATED : d->view->moment]);
    put_provisioned(d, &d->settings.throughput);
    json_put_integer(d->w, "TableSizeBytes", d->view->unsized ? 0 : d->table->stats->bytes);
    json_put_integer(d->w, "ItemCount", d->view->unsized ? 0 : d->table->stats->items);
    put_arn(d, "TableArn", NULL, slice_of(NULL, 0));
    json_put_string(d->w, "TableId", d->table->uuid);
    put_billing(d);
    json_put_flag(d->w, "DeletionProtectionEnabled", d->settings.protected);
}

void table_write_json(struct json_writer *w, const struct table *table, const struct table *before,
                      const struct table_view *view)
{
    struct description d = {.w = w, .table = table, .before = before, .view = view};
    table_settings_read(table, &d.settings);
    json_open_object(w);
    put_essentials(&d);
    if (view->moment != DESCRIBE_DELETED) {
        put_definitions(&d);
        table_write_keys(w, &table->keys);
        json_put_time(w, "CreationDateTime", table->created_ms);
        put_indexes(&d, false);
        put_indexes(&d, true);
        vectors_write_json(w, table, view);
        put_stream(&d);
        put_encryption(&d);
        put_class(&d);
        put_restore(&d);
        put_limits(w, &d.settings.throughput);
        put_warm(w, &d.settings.throughput);
    }
    json_close_object(w);
}
