// Tables as a model wants them: created and changed by the operations that clients use,
// CreateTable, UpdateTable and their like, so that what is refused there is refused here, in the
// same words.
#include "api/model.h"

#include "api/table_ops.h"
#include "base/limits.h"

enum { BODY_MAX = 1 << 20 };

static const char *const views[] = {"", "KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE",
                                    "NEW_AND_OLD_IMAGES"};

// ---- Comparing --------------------------------------------------------------------------------

bool model_keys_same(const struct key_schema *a, const struct key_schema *b)
{
    if (a->hash_count != b->hash_count || a->range_count != b->range_count)
        return false;
    for (size_t i = 0; i < a->hash_count + a->range_count; i++) {
        if (!slice_equal(a->parts[i].name, b->parts[i].name) ||
            a->parts[i].type != b->parts[i].type)
            return false;
    }
    return true;
}

static bool projection_same(const struct model_index *wanted, const struct index *live)
{
    static const enum projection_type kinds[] = {PROJECT_ALL, PROJECT_KEYS_ONLY, PROJECT_INCLUDE};
    if (kinds[wanted->projection] != live->projection)
        return false;
    if (live->projection != PROJECT_INCLUDE)
        return true;
    if (wanted->include_count != live->include_count)
        return false;
    for (size_t i = 0; i < wanted->include_count; i++) {
        bool found = false;
        for (size_t j = 0; j < live->include_count; j++)
            found |= slice_equal(wanted->include[i], live->include[j]);
        if (!found)
            return false;
    }
    return true;
}

enum model_index_state model_index_compare(const struct model_index *wanted,
                                           const struct table *live)
{
    const struct index *index = table_index(live, wanted->name);
    if (index == NULL || index->status == INDEX_DELETING)
        return INDEX_IS_MISSING;
    bool same = index->global == !wanted->local && model_keys_same(&wanted->keys, &index->keys) &&
                projection_same(wanted, index);
    return same ? INDEX_IS_SAME : INDEX_IS_OTHER;
}

// ---- Parts of requests ------------------------------------------------------------------------

static void write_keys(struct json_writer *w, const struct key_schema *keys)
{
    json_put_array(w, "KeySchema");
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        json_open_object(w);
        json_put_string(w, "AttributeName", keys->parts[i].name);
        json_put_text(w, "KeyType", i < keys->hash_count ? "HASH" : "RANGE");
        json_close_object(w);
    }
    json_close_array(w);
}

// Each attribute once, however many keys it is in.
struct definitions {
    size_t count;
    struct key_part parts[(2 * LIMIT_KEY_PARTS) * (LIMIT_INDEXES + 1)];
};

static void define(struct definitions *definitions, const struct key_schema *keys)
{
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        bool known = false;
        for (size_t j = 0; j < definitions->count; j++)
            known |= slice_equal(definitions->parts[j].name, keys->parts[i].name);
        if (!known)
            definitions->parts[definitions->count++] = keys->parts[i];
    }
}

static void write_definitions(struct json_writer *w, const struct definitions *definitions)
{
    json_put_array(w, "AttributeDefinitions");
    for (size_t i = 0; i < definitions->count; i++) {
        json_open_object(w);
        json_put_string(w, "AttributeName", definitions->parts[i].name);
        json_put_text(w, "AttributeType", value_type_name(definitions->parts[i].type));
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_units(struct json_writer *w, uint64_t read, uint64_t write)
{
    json_put_object(w, "ProvisionedThroughput");
    json_put_integer(w, "ReadCapacityUnits", (int64_t)read);
    json_put_integer(w, "WriteCapacityUnits", (int64_t)write);
    json_close_object(w);
}

// Units of 0: the table is on demand.
static void write_index(struct json_writer *w, const struct model_index *index, uint64_t read,
                        uint64_t write)
{
    static const enum projection_type projections[] = {
        [MODEL_PROJECT_ALL] = PROJECT_ALL,
        [MODEL_PROJECT_KEYS] = PROJECT_KEYS_ONLY,
        [MODEL_PROJECT_INCLUDE] = PROJECT_INCLUDE,
    };
    json_open_object(w);
    json_put_string(w, "IndexName", index->name);
    write_keys(w, &index->keys);
    table_write_projection(w, &(struct index){.projection = projections[index->projection],
                                              .include_count = index->include_count,
                                              .include = index->include});
    if (read > 0 && !index->local)
        write_units(w, read, write);
    json_close_object(w);
}

static void write_indexes(struct json_writer *w, const struct model_table *table, bool local)
{
    size_t count = 0;
    for (size_t i = 0; i < table->index_count; i++)
        count += table->indexes[i].local == local;
    if (count == 0)
        return;
    json_name(w, local ? "LocalSecondaryIndexes" : "GlobalSecondaryIndexes");
    json_open_array(w);
    for (size_t i = 0; i < table->index_count; i++) {
        if (table->indexes[i].local == local)
            write_index(w, &table->indexes[i], table->provisioned ? table->read_units : 0,
                        table->write_units);
    }
    json_close_array(w);
}

static void write_stream(struct json_writer *w, enum model_stream stream)
{
    json_put_object(w, "StreamSpecification");
    json_put_flag(w, "StreamEnabled", stream != MODEL_STREAM_NONE);
    if (stream != MODEL_STREAM_NONE)
        json_put_text(w, "StreamViewType", views[stream]);
    json_close_object(w);
}

static void write_billing(struct json_writer *w, const struct model_table *table)
{
    json_put_text(w, "BillingMode", table->provisioned ? "PROVISIONED" : "PAY_PER_REQUEST");
    if (table->provisioned)
        write_units(w, table->read_units, table->write_units);
}

// ---- Whole requests ---------------------------------------------------------------------------

struct request {
    struct buf body;
    struct json_writer w;
};

static struct json_writer *request_begin(struct request *request, struct slice table)
{
    buf_init(&request->body, BODY_MAX);
    request->w = json_writer_to(&request->body);
    json_open_object(&request->w);
    json_put_string(&request->w, "TableName", table);
    return &request->w;
}

static bool request_end(struct request *request, struct api *api, struct slice region,
                        const char *operation, struct error *error)
{
    json_close_object(&request->w);
    bool ok = request->body.failed
                  ? error_budget(error)
                  : model_inner_call(api, region, operation, buf_view(&request->body), error);
    buf_release(&request->body);
    return ok;
}

bool model_create_table(struct api *api, struct slice region, const struct model_table *wanted,
                        struct error *error)
{
    struct request request;
    struct definitions definitions = {.count = 0};
    struct json_writer *w = request_begin(&request, wanted->name);
    define(&definitions, &wanted->keys);
    for (size_t i = 0; i < wanted->index_count; i++)
        define(&definitions, &wanted->indexes[i].keys);
    write_definitions(w, &definitions);
    write_keys(w, &wanted->keys);
    write_indexes(w, wanted, true);
    write_indexes(w, wanted, false);
    write_billing(w, wanted);
    if (wanted->stream != MODEL_STREAM_NONE)
        write_stream(w, wanted->stream);
    return request_end(&request, api, region, "CreateTable", error);
}

static bool update_table(struct api *api, struct slice region, const struct model_table *wanted,
                         void (*part)(struct json_writer *w, const struct model_table *wanted),
                         struct error *error)
{
    struct request request;
    struct json_writer *w = request_begin(&request, wanted->name);
    part(w, wanted);
    return request_end(&request, api, region, "UpdateTable", error);
}

static void stream_off(struct json_writer *w, const struct model_table *wanted)
{
    (void)wanted;
    write_stream(w, MODEL_STREAM_NONE);
}

static void stream_on(struct json_writer *w, const struct model_table *wanted)
{
    write_stream(w, wanted->stream);
}

// A stream cannot change what it shows: the old one ends and a new one begins.
static bool set_stream(struct api *api, struct slice region, const struct model_table *wanted,
                       const struct table_settings *settings, bool prune, struct error *error)
{
    if (slice_is(settings->stream_view, views[wanted->stream]) ||
        (wanted->stream == MODEL_STREAM_NONE && !prune))
        return true;
    if (settings->stream_view.len > 0 && !update_table(api, region, wanted, stream_off, error))
        return false;
    return wanted->stream == MODEL_STREAM_NONE ||
           update_table(api, region, wanted, stream_on, error);
}

static bool update_ttl(struct api *api, struct slice region, struct slice table,
                       struct slice attribute, bool enabled, struct error *error)
{
    struct request request;
    struct json_writer *w = request_begin(&request, table);
    json_put_object(w, "TimeToLiveSpecification");
    json_put_flag(w, "Enabled", enabled);
    json_put_string(w, "AttributeName", attribute);
    json_close_object(w);
    return request_end(&request, api, region, "UpdateTimeToLive", error);
}

static bool set_ttl(struct api *api, struct slice region, const struct model_table *wanted,
                    const struct table_settings *settings, bool prune, struct error *error)
{
    if (slice_equal(settings->ttl_attribute, wanted->ttl_attribute) ||
        (wanted->ttl_attribute.len == 0 && !prune))
        return true;
    if (settings->ttl_attribute.len > 0 &&
        !update_ttl(api, region, wanted->name, settings->ttl_attribute, false, error))
        return false;
    return wanted->ttl_attribute.len == 0 ||
           update_ttl(api, region, wanted->name, wanted->ttl_attribute, true, error);
}

static bool set_pitr(struct api *api, struct slice region, const struct model_table *wanted,
                     const struct table_settings *settings, bool prune, struct error *error)
{
    if ((settings->pitr_days > 0) == wanted->pitr || (!wanted->pitr && !prune))
        return true;
    struct request request;
    struct json_writer *w = request_begin(&request, wanted->name);
    json_put_object(w, "PointInTimeRecoverySpecification");
    json_put_flag(w, "PointInTimeRecoveryEnabled", wanted->pitr);
    json_close_object(w);
    return request_end(&request, api, region, "UpdateContinuousBackups", error);
}

static bool billing_same(const struct model_table *wanted, const struct table_settings *settings)
{
    if (wanted->provisioned == settings->on_demand)
        return false;
    return !wanted->provisioned || (settings->throughput.read == (int64_t)wanted->read_units &&
                                    settings->throughput.write == (int64_t)wanted->write_units);
}

// A table that comes to be provisioned needs units for its indexes, too.
static bool set_billing(struct api *api, struct slice region, const struct model_table *wanted,
                        const struct table *live, const struct table_settings *settings, bool prune,
                        struct error *error)
{
    struct request request;
    bool opened = false;
    if (billing_same(wanted, settings) || (!wanted->provisioned && !prune))
        return true;
    struct json_writer *w = request_begin(&request, wanted->name);
    write_billing(w, wanted);
    for (size_t i = 0; wanted->provisioned && settings->on_demand && i < live->index_count; i++) {
        if (!live->indexes[i].global)
            continue;
        if (!opened)
            json_put_array(w, "GlobalSecondaryIndexUpdates");
        opened = true;
        json_open_object(w);
        json_put_object(w, "Update");
        json_put_string(w, "IndexName", live->indexes[i].name);
        write_units(w, wanted->read_units, wanted->write_units);
        json_close_object(w);
        json_close_object(w);
    }
    if (opened)
        json_close_array(w);
    return request_end(&request, api, region, "UpdateTable", error);
}

bool model_set_features(struct api *api, struct slice region, const struct model_table *wanted,
                        const struct table *live, bool prune, struct error *error)
{
    struct table_settings settings;
    table_settings_read(live, &settings);
    return set_ttl(api, region, wanted, &settings, prune, error) &&
           set_stream(api, region, wanted, &settings, prune, error) &&
           set_pitr(api, region, wanted, &settings, prune, error) &&
           set_billing(api, region, wanted, live, &settings, prune, error);
}

bool model_create_index(struct api *api, struct slice region, const struct model_table *wanted,
                        const struct model_index *index, const struct table *live,
                        struct error *error)
{
    struct request request;
    struct table_settings settings;
    table_settings_read(live, &settings);
    struct definitions definitions = {.count = 0};
    struct json_writer *w = request_begin(&request, wanted->name);
    define(&definitions, &index->keys);
    write_definitions(w, &definitions);
    json_put_array(w, "GlobalSecondaryIndexUpdates");
    json_open_object(w);
    json_name(w, "Create");
    write_index(w, index, settings.on_demand ? 0 : (uint64_t)settings.throughput.read,
                (uint64_t)settings.throughput.write);
    json_close_object(w);
    json_close_array(w);
    return request_end(&request, api, region, "UpdateTable", error);
}

bool model_delete_index(struct api *api, struct slice region, struct slice table,
                        struct slice index, struct error *error)
{
    struct request request;
    struct json_writer *w = request_begin(&request, table);
    json_put_array(w, "GlobalSecondaryIndexUpdates");
    json_open_object(w);
    json_put_object(w, "Delete");
    json_put_string(w, "IndexName", index);
    json_close_object(w);
    json_close_object(w);
    json_close_array(w);
    return request_end(&request, api, region, "UpdateTable", error);
}
