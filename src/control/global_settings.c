// DescribeGlobalTableSettings and UpdateGlobalTableSettings. The settings of the one replica are
// the table's own: they are read from it, and changed in it.
#include "control/autoscaling.h"
#include "control/global.h"

enum { UNITS_DEFAULT = 5 };

// ---- Describing ------------------------------------------------------------------------------

static void write_index(struct json_writer *w, const struct table *table,
                        const struct table_settings *settings, const struct index *index)
{
    struct throughput_settings throughput;
    index_settings_read(index, &throughput);
    json_open_object(w);
    json_put_string(w, "IndexName", index->name);
    json_put_text(w, "IndexStatus", index->status == INDEX_ACTIVE ? "ACTIVE" : "UPDATING");
    json_put_integer(w, "ProvisionedReadCapacityUnits", throughput.read);
    scaling_write(w, "ProvisionedReadCapacityAutoScalingSettings", table, settings, index->name,
                  false);
    json_put_integer(w, "ProvisionedWriteCapacityUnits", throughput.write);
    scaling_write(w, "ProvisionedWriteCapacityAutoScalingSettings", table, settings, index->name,
                  true);
    json_close_object(w);
}

static void write_class(struct json_writer *w, const struct table_settings *settings)
{
    if (settings->table_class.len == 0)
        return;
    json_put_object(w, "ReplicaTableClassSummary");
    json_put_string(w, "TableClass", settings->table_class);
    if (settings->table_class_ms != 0)
        json_put_time(w, "LastUpdateDateTime", settings->table_class_ms);
    json_close_object(w);
}

static void write_replica(struct json_writer *w, const struct table *table,
                          const struct table_settings *settings, const char *status)
{
    const struct slice whole = {NULL, 0};
    json_open_object(w);
    json_put_string(w, "RegionName", global_region(settings->global));
    json_put_text(w, "ReplicaStatus", status);
    if (settings->on_demand_ms != 0) {
        json_put_object(w, "ReplicaBillingModeSummary");
        json_put_text(w, "BillingMode", settings->on_demand ? "PAY_PER_REQUEST" : "PROVISIONED");
        json_put_time(w, "LastUpdateToPayPerRequestDateTime", settings->on_demand_ms);
        json_close_object(w);
    }
    json_put_integer(w, "ReplicaProvisionedReadCapacityUnits", settings->throughput.read);
    scaling_write(w, "ReplicaProvisionedReadCapacityAutoScalingSettings", table, settings, whole,
                  false);
    json_put_integer(w, "ReplicaProvisionedWriteCapacityUnits", settings->throughput.write);
    scaling_write(w, "ReplicaProvisionedWriteCapacityAutoScalingSettings", table, settings, whole,
                  true);
    json_put_array(w, "ReplicaGlobalSecondaryIndexSettings");
    for (size_t i = 0; i < table->index_count; i++)
        if (table->indexes[i].global)
            write_index(w, table, settings, &table->indexes[i]);
    json_close_array(w);
    write_class(w, settings);
    json_close_object(w);
}

static void write_settings(struct api_call *call, const struct table *table, const char *status)
{
    struct table_settings settings;
    table_settings_read(table, &settings);
    struct json_writer w = call_open(call);
    json_put_string(&w, "GlobalTableName", table->name);
    json_put_array(&w, "ReplicaSettings");
    if (global_region(settings.global).len > 0)
        write_replica(&w, table, &settings, status);
    json_close_array(&w);
    json_close_object(&w);
}

enum step describe_global_table_settings_start(struct api_call *call, const void *decoded)
{
    const struct global_table_name_request *request = decoded;
    struct table *table = engine_table(call_engine(call), request->global_table_name);
    bool found = global_entry(table).len > 0;
    if (found)
        write_settings(call, table, "ACTIVE");
    else
        (void)global_not_found(request->global_table_name, &call->error);
    if (table != NULL)
        table_release(table);
    return found ? STEP_READY : STEP_FAILED;
}

// ---- Updating --------------------------------------------------------------------------------

struct settings_change {
    const struct update_global_settings_request *request;
    int64_t now_ms;
    struct table *table; // the copy that is being changed
    struct table_settings *settings;
    struct error *error;
};

static bool units_refused(struct error *error)
{
    return error_validation(error,
                            INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be "
                                    "specified when BillingMode is PAY_PER_REQUEST");
}

// Global indexes follow their table: to on demand, or to units that the request may then change.
static bool change_index_units(struct settings_change *change, bool on_demand)
{
    for (size_t i = 0; i < change->table->index_count; i++) {
        struct index *index = &change->table->indexes[i];
        struct throughput_settings throughput;
        if (!index->global)
            continue;
        index_settings_read(index, &throughput);
        if (on_demand)
            throughput_to_on_demand(&throughput);
        else
            throughput_provision(&throughput, UNITS_DEFAULT, UNITS_DEFAULT, change->now_ms);
        if (!index_settings_write(change->table, index, &throughput))
            return error_budget(change->error);
    }
    return true;
}

static bool change_billing(struct settings_change *change)
{
    struct table_settings *settings = change->settings;
    struct slice mode = change->request->billing_mode;
    bool on_demand = slice_is(mode, "PAY_PER_REQUEST");
    if (mode.len == 0 || on_demand == settings->on_demand)
        return true;
    if (!on_demand && !change->request->write_units.set)
        return error_validation(change->error,
                                INVALID "GlobalTableProvisionedWriteCapacityUnits must be "
                                        "specified when BillingMode is PROVISIONED");
    settings->on_demand = on_demand;
    if (!on_demand) {
        settings->throughput.read = UNITS_DEFAULT;
        return change_index_units(change, false);
    }
    settings->on_demand_ms = change->now_ms;
    throughput_to_on_demand(&settings->throughput);
    return change_index_units(change, true);
}

static bool change_units(struct settings_change *change, struct field_int read,
                         struct field_int write)
{
    struct throughput_settings *throughput = &change->settings->throughput;
    if (!read.set && !write.set)
        return true;
    if (change->settings->on_demand)
        return units_refused(change->error);
    throughput_provision(throughput, read.set ? read.value : throughput->read,
                         write.set ? write.value : throughput->write, change->now_ms);
    return true;
}

static bool change_indexes(struct settings_change *change, const struct field_list *list,
                           bool write)
{
    const struct index_units_update *rows = list->items;
    for (size_t i = 0; i < list->count; i++) {
        struct index *index = NULL;
        for (size_t k = 0; k < change->table->index_count; k++)
            if (change->table->indexes[k].global &&
                slice_equal(change->table->indexes[k].name, rows[i].index_name))
                index = &change->table->indexes[k];
        if (index == NULL)
            return error_set(change->error, ERR_INDEX_NOT_FOUND,
                             "Requested resource not found: Index: %.*s not found",
                             SLICE_FMT(rows[i].index_name));
        if (rows[i].units.set) {
            struct throughput_settings throughput;
            if (change->settings->on_demand)
                return units_refused(change->error);
            index_settings_read(index, &throughput);
            throughput_provision(&throughput, write ? throughput.read : rows[i].units.value,
                                 write ? rows[i].units.value : throughput.write, change->now_ms);
            if (!index_settings_write(change->table, index, &throughput))
                return error_budget(change->error);
        }
        if (!scaling_set(change->table, change->settings, index->name, write, rows[i].scaling,
                         change->error))
            return false;
    }
    return true;
}

static bool change_replica(struct settings_change *change,
                           const struct replica_settings_update *update)
{
    static const struct field_int unset = {.set = false};
    struct table_settings *settings = change->settings;
    if (!slice_equal(update->region_name, global_region(settings->global)))
        return error_set(change->error, ERR_REPLICA_NOT_FOUND,
                         "Replica in region: '%.*s' does not exist for global table: '%.*s'.",
                         SLICE_FMT(update->region_name), SLICE_FMT(change->table->name));
    if (update->table_class.len > 0 &&
        !slice_equal(update->table_class, settings->table_class.len > 0 ? settings->table_class
                                                                        : SLICE_LIT("STANDARD"))) {
        settings->table_class = update->table_class;
        settings->table_class_ms = change->now_ms;
    }
    return change_units(change, update->read_units, unset) &&
           scaling_set(change->table, settings, slice_of(NULL, 0), false, update->read_scaling,
                       change->error) &&
           change_indexes(change, &update->indexes, false);
}

static bool apply(struct settings_change *change)
{
    static const struct field_int unset = {.set = false};
    const struct update_global_settings_request *request = change->request;
    const struct replica_settings_update *replicas = request->replicas.items;
    if (!change_billing(change) || !change_units(change, unset, request->write_units) ||
        !scaling_set(change->table, change->settings, slice_of(NULL, 0), true,
                     request->write_scaling, change->error) ||
        !change_indexes(change, &request->indexes, true))
        return false;
    for (size_t i = 0; i < request->replicas.count; i++) {
        if (!change_replica(change, &replicas[i]))
            return false;
    }
    return true;
}

static bool settings_edit(void *context, struct table *table, struct table_settings *settings,
                          struct error *error)
{
    struct settings_change *change = context;
    if (global_entry(table).len == 0)
        return global_not_found(change->request->global_table_name, error);
    change->error = error;
    change->table = table;
    change->settings = settings;
    return apply(change);
}

enum step update_global_table_settings_start(struct api_call *call, const void *request)
{
    struct settings_change change = {.request = request, .now_ms = call_now(call)};
    return call_edit(call, change.request->global_table_name, settings_edit, &change,
                     sizeof(change));
}

void update_global_table_settings_finish(struct api_call *call, const void *request)
{
    (void)request;
    write_settings(call, call->state->change->after, "UPDATING");
}
