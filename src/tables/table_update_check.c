// What an UpdateTable request may hold at once, and what is wrong with its parts whatever the
// table looks like.
#include "tables/table_update.h"
#include "tables/vector_spec.h"

enum { UPDATES_SANE = 100 }; // far beyond what can be done at once

// The parts of a request, as bits.
enum part {
    PART_UNITS = 1 << 0,
    PART_BILLING = 1 << 1,
    PART_STREAM = 1 << 2,
    PART_INDEX_UPDATE = 1 << 3,
    PART_INDEX_ONLINE = 1 << 4, // creates or deletes an index
    PART_INDEX_CREATE = 1 << 5,
    PART_ENCRYPTION = 1 << 6,
    PART_CLASS = 1 << 7,
    PART_PROTECTION = 1 << 8,
    PART_LIMITS = 1 << 9,
    PART_WARM = 1 << 10,
};

const struct request_on_demand_throughput *
update_limits(const struct request_on_demand_throughput *limits)
{
    bool given = limits != NULL &&
                 (limits->max_read_request_units.set || limits->max_write_request_units.set);
    return given ? limits : NULL;
}

const struct request_warm_throughput *update_warm(const struct request_warm_throughput *warm)
{
    bool given =
        warm != NULL && (warm->read_units_per_second.set || warm->write_units_per_second.set);
    return given ? warm : NULL;
}

static unsigned parts_of(const struct update_table_request *request)
{
    const struct global_secondary_index_update *updates =
        request->global_secondary_index_updates.items;
    unsigned parts = 0;
    for (size_t i = 0; i < request->global_secondary_index_updates.count; i++) {
        parts |= PART_INDEX_UPDATE;
        if (updates[i].create != NULL)
            parts |= PART_INDEX_ONLINE | PART_INDEX_CREATE;
        if (updates[i].delete != NULL)
            parts |= PART_INDEX_ONLINE;
    }
    if (request->vector_index_updates.set)
        parts |= PART_INDEX_ONLINE;
    parts |= request->provisioned_throughput != NULL ? PART_UNITS : 0;
    parts |= request->billing_mode.ptr != NULL ? PART_BILLING : 0;
    parts |= request->stream_specification != NULL ? PART_STREAM : 0;
    parts |= request->sse_specification != NULL ? PART_ENCRYPTION : 0;
    parts |= request->table_class.ptr != NULL ? PART_CLASS : 0;
    parts |= request->deletion_protection_enabled.set ? PART_PROTECTION : 0;
    parts |= update_limits(request->on_demand_throughput) != NULL ? PART_LIMITS : 0;
    parts |= update_warm(request->warm_throughput) != NULL ? PART_WARM : 0;
    return parts;
}

static bool check_supported(const struct update_table_request *request, struct error *error)
{
    if (request->replica_updates.set || request->multi_region_consistency.ptr != NULL ||
        request->global_table_witness_updates.set ||
        request->global_table_settings_replication_mode.ptr != NULL ||
        request->disassociation_protection_enabled.set)
        return error_validation(error, "Global tables are not supported: this database serves all "
                                       "its tables from a single region");
    return true;
}

// What must stand alone, or must not stand together: the first row that fits gives the message.
static bool check_combination(unsigned parts, struct error *error)
{
    static const struct {
        unsigned part;
        unsigned with;
        const char *message;
    } rows[] = {
        {PART_ENCRYPTION, ~(unsigned)PART_ENCRYPTION,
         "Server-Side Encryption modification must be the only operation in the request"},
        {PART_CLASS, ~(unsigned)PART_CLASS,
         "TableClass modification must be the only operation in the request"},
        {PART_PROTECTION, ~(unsigned)PART_PROTECTION,
         "DeletionProtection modification must be the only operation in the request"},
        {PART_WARM, PART_INDEX_CREATE,
         "Create global secondary index cannot be specified when updating WarmThroughput"},
        {PART_WARM, ~(unsigned)(PART_WARM | PART_INDEX_UPDATE),
         "WarmThroughput must be the only operation in the request"},
        {PART_LIMITS, ~(unsigned)(PART_LIMITS | PART_BILLING),
         "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request"},
        {PART_UNITS, PART_STREAM, "You cannot modify stream status while updating table IOPS"},
        {PART_UNITS, PART_INDEX_ONLINE,
         "You cannot create or delete index while updating table IOPS"},
        {PART_STREAM, PART_INDEX_ONLINE,
         "You cannot create or delete index while changing stream status"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if ((parts & rows[i].part) != 0 && (parts & rows[i].with) != 0)
            return error_validation(error, INVALID "%s", rows[i].message);
    return true;
}

static struct slice update_name(const struct global_secondary_index_update *update)
{
    if (update->update != NULL)
        return update->update->index_name;
    return update->create != NULL ? update->create->index_name : update->delete->index_name;
}

static bool check_create(const struct update_table_request *request,
                         const struct global_secondary_index *create, struct error *error)
{
    return spec_check_keys(create->key_schema.items, create->key_schema.count, true,
                           &request->attribute_definitions, error) &&
           spec_check_projection(create->projection, error) &&
           (create->provisioned_throughput == NULL ||
            spec_check_units(create->provisioned_throughput, error));
}

static bool check_index_update(const struct update_table_request *request,
                               const struct global_secondary_index_update *update,
                               struct error *error)
{
    int actions = (update->update != NULL) + (update->create != NULL) + (update->delete != NULL);
    if (actions == 0)
        return error_validation(error, INVALID "One of GlobalSecondaryIndexUpdate.Update, "
                                               "GlobalSecondaryIndexUpdate.Create, "
                                               "GlobalSecondaryIndexUpdate.Delete must not be "
                                               "null");
    if (actions > 1)
        return error_validation(error, INVALID "Only one global secondary index action is allowed "
                                               "per GlobalSecondaryIndexUpdate object");
    if (update->create != NULL)
        return check_create(request, update->create, error);
    if (update->update == NULL)
        return true;
    if (update->update->warm_throughput != NULL &&
        update_warm(update->update->warm_throughput) == NULL)
        return error_validation(error,
                                INVALID "WarmThroughput must have at least one of "
                                        "ReadUnitsPerSecond or WriteUnitsPerSecond specified for "
                                        "index: %.*s",
                                SLICE_FMT(update->update->index_name));
    const struct request_provisioned_throughput *units = update->update->provisioned_throughput;
    return units == NULL || spec_check_units(units, error);
}

static bool check_index_updates(const struct update_table_request *request, struct error *error)
{
    const struct field_list *list = &request->global_secondary_index_updates;
    const struct global_secondary_index_update *updates = list->items;
    if (list->set && list->count == 0)
        return error_validation(error, INVALID "List of GlobalSecondaryIndexUpdates is empty");
    if (list->count > UPDATES_SANE || request->attribute_definitions.count > 20 * UPDATES_SANE)
        return spec_refuse_online(error);
    for (size_t i = 0; i < list->count; i++) {
        if (!check_index_update(request, &updates[i], error))
            return false;
        for (size_t k = 0; k < i; k++)
            if (slice_equal(update_name(&updates[k]), update_name(&updates[i])))
                return error_validation(error,
                                        INVALID "Only one global secondary index update per index "
                                                "is allowed simultaneously. Index: %.*s",
                                        SLICE_FMT(update_name(&updates[i])));
    }
    return true;
}

bool table_update_check(const struct update_table_request *request, struct error *error)
{
    unsigned parts = parts_of(request);
    if (!check_supported(request, error))
        return false;
    if (parts == 0)
        return error_validation(error, "At least one of ProvisionedThroughput, BillingMode, "
                                       "UpdateStreamEnabled, GlobalSecondaryIndexUpdates or "
                                       "SSESpecification or ReplicaUpdates is required");
    if (slice_is(request->billing_mode, "PROVISIONED") && request->provisioned_throughput == NULL)
        return error_validation(error, INVALID "ProvisionedThroughput must be specified when "
                                               "BillingMode is PROVISIONED");
    if (request->provisioned_throughput != NULL &&
        !spec_check_units(request->provisioned_throughput, error))
        return false;
    return check_index_updates(request, error) && vector_updates_check(request, error) &&
           check_combination(parts, error) &&
           (request->stream_specification == NULL ||
            spec_check_stream(request->stream_specification, false, error)) &&
           (request->sse_specification == NULL ||
            spec_check_encryption(request->sse_specification, error));
}
