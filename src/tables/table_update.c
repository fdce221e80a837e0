// UpdateTable: billing, throughput, class, encryption, stream, protection and global indexes.
// The request is judged against the table on the writer's thread, where nothing can change it
// in between, and then done to a copy that becomes the table's next version. The answer says
// UPDATING, but everything except the filling of a new index is done by then.
#include "tables/table_update.h"
#include "tables/change.h"

// ---- Judging ----------------------------------------------------------------------------------

static bool check_throughput(const struct table_update *update,
                             const struct table_settings *settings)
{
    const struct update_table_request *request = update->request;
    const struct request_provisioned_throughput *units = request->provisioned_throughput;
    if (units != NULL && update->on_demand)
        return error_validation(update->error,
                                INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be "
                                        "specified when BillingMode is PAY_PER_REQUEST");
    struct slice table = SLICE_LIT("");
    return spec_check_limits(update_limits(request->on_demand_throughput), update->on_demand, true,
                             table, update->error) &&
           spec_check_warm(request->warm_throughput, &settings->throughput,
                           "current WarmThroughput, decreasing WarmThroughput is not supported",
                           table, update->error) &&
           spec_check_changes(units, &settings->throughput, table, update->error);
}

static bool check_stream(const struct table_update *update, const struct table_settings *settings)
{
    const struct request_stream_specification *stream = update->request->stream_specification;
    if (stream == NULL)
        return true;
    bool enabled = settings->stream_view.len > 0;
    if (enabled != stream->stream_enabled.value)
        return true;
    return error_validation(update->error, "Table %s stream%s: TableName: %.*s",
                            enabled ? "already has an enabled" : "has no",
                            enabled ? "" : " to disable", SLICE_FMT(update->name));
}

static bool check_encryption(const struct table_update *update,
                             const struct table_settings *settings)
{
    const struct request_sse_specification *wanted = update->request->sse_specification;
    if (wanted == NULL)
        return true;
    if (!spec_encrypts(wanted) && !settings->encrypted)
        return error_validation(update->error, INVALID "Table is already encrypted by default");
    if (spec_encrypts(wanted) && settings->encrypted && wanted->kms_master_key_id.len > 0 &&
        slice_equal(wanted->kms_master_key_id, settings->key))
        return error_validation(update->error,
                                INVALID "Table is already encrypted with given KMSMasterKeyId. Use "
                                        "KMSMasterKeyId parameter if you want to change Master "
                                        "Key");
    return true;
}

// ---- Doing --------------------------------------------------------------------------------------

static bool apply_billing(const struct table_update *update, struct table *table,
                          struct table_settings *settings)
{
    if (!update->on_demand || settings->on_demand) {
        settings->on_demand = update->on_demand;
        return true;
    }
    settings->on_demand = true;
    settings->on_demand_ms = update->now_ms;
    throughput_to_on_demand(&settings->throughput);
    for (size_t i = 0; i < table->index_count; i++) {
        struct throughput_settings throughput;
        if (!table->indexes[i].global)
            continue;
        index_settings_read(&table->indexes[i], &throughput);
        throughput_to_on_demand(&throughput);
        if (!index_settings_write(table, &table->indexes[i], &throughput))
            return error_budget(update->error);
    }
    return true;
}

static void apply_throughput(const struct table_update *update, struct table_settings *settings)
{
    const struct request_provisioned_throughput *units = update->request->provisioned_throughput;
    if (units != NULL)
        throughput_provision(&settings->throughput, units->read_capacity_units.value,
                             units->write_capacity_units.value, update->now_ms);
    throughput_limit(&settings->throughput, update->request->on_demand_throughput);
    throughput_warm(&settings->throughput, update->request->warm_throughput);
}

// The text stays in the request until the settings are written.
static void apply_features(const struct table_update *update, struct table_settings *settings)
{
    const struct update_table_request *request = update->request;
    if (request->stream_specification != NULL) {
        settings->stream_view = request->stream_specification->stream_view_type;
        if (request->stream_specification->stream_enabled.value)
            settings->stream_ms = update->now_ms;
    }
    if (request->sse_specification != NULL) {
        settings->encrypted = spec_encrypts(request->sse_specification);
        if (!settings->encrypted || request->sse_specification->kms_master_key_id.ptr != NULL)
            settings->key = request->sse_specification->kms_master_key_id;
    }
    if (request->deletion_protection_enabled.set)
        settings->protected = request->deletion_protection_enabled.value;
    // A table that has always been of the standard class does not speak of it.
    bool standard = slice_is(request->table_class, "STANDARD") && settings->table_class.len == 0;
    if (request->table_class.ptr != NULL && !standard &&
        !slice_equal(request->table_class, settings->table_class)) {
        settings->table_class = request->table_class;
        settings->table_class_ms = update->now_ms;
    }
}

bool table_update_alter(struct table_update *update, const struct table *current,
                        struct table **next, struct error *error)
{
    struct table_settings settings;
    if (current == NULL)
        return table_not_found(error, update->name);
    if (!table_check_ready(current, error))
        return false;
    table_settings_read(current, &settings);
    update->error = error;
    update->on_demand = update->request->billing_mode.ptr != NULL
                            ? slice_is(update->request->billing_mode, "PAY_PER_REQUEST")
                            : settings.on_demand;
    if (!check_throughput(update, &settings) || !update_indexes_check(update, current) ||
        !check_stream(update, &settings) || !check_encryption(update, &settings))
        return false;
    struct table *table = table_begin(current, &settings, error);
    if (table == NULL)
        return false;
    if (!apply_billing(update, table, &settings) || !update_indexes_apply(update, table, &settings))
        return table_abandon(table);
    apply_throughput(update, &settings);
    apply_features(update, &settings);
    return table_end(table, &settings, next, error);
}
