// The parts of a table's specification, judged one by one with the service's messages.
#include "tables/table_spec.h"

// More than anybody can provision; the service names the value only.
static const int64_t units_max = 1000000000000;

struct index_spec index_spec_global(const struct global_secondary_index *index)
{
    return (struct index_spec){
        .name = index->index_name,
        .global = true,
        .key_count = index->key_schema.count,
        .keys = index->key_schema.items,
        .projection = index->projection,
        .throughput = {index->provisioned_throughput, index->on_demand_throughput,
                       index->warm_throughput},
    };
}

size_t index_spec_count(const struct create_table_request *request)
{
    return request->local_secondary_indexes.count + request->global_secondary_indexes.count;
}

struct index_spec index_spec_at(const struct create_table_request *request, size_t at)
{
    const struct local_secondary_index *local = request->local_secondary_indexes.items;
    const struct global_secondary_index *global = request->global_secondary_indexes.items;
    size_t locals = request->local_secondary_indexes.count;
    if (at >= locals)
        return index_spec_global(&global[at - locals]);
    return (struct index_spec){
        .name = local[at].index_name,
        .key_count = local[at].key_schema.count,
        .keys = local[at].key_schema.items,
        .projection = local[at].projection,
    };
}

bool spec_refuse_duplicate(struct slice name, struct error *error)
{
    return error_validation(error, INVALID "Duplicate index name: %.*s", SLICE_FMT(name));
}

bool spec_check_new(const struct table *table, struct slice name, struct error *error)
{
    return (table_index(table, name) == NULL && table_vector(table, name) == NULL) ||
           error_validation(error, "Attempting to create an index which already exists");
}

bool spec_refuse_online(struct error *error)
{
    return error_set(error, ERR_LIMIT_EXCEEDED,
                     "Subscriber limit exceeded: Only 1 online index can be created or deleted "
                     "simultaneously per table");
}

const char *spec_join(struct arena *arena, const struct slice *names, size_t count)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_text(&text, ", ");
        buf_slice(&text, names[i]);
    }
    struct slice copy = arena_keep(arena, &text);
    return copy.ptr == NULL ? "" : (const char *)copy.ptr;
}

enum value_type spec_type(const struct field_list *definitions, struct slice attribute)
{
    const struct attribute_definition *rows = definitions->items;
    for (size_t i = 0; i < definitions->count; i++)
        if (slice_equal(rows[i].attribute_name, attribute))
            return value_type_from_name(rows[i].attribute_type);
    return VALUE_TYPES;
}

// ---- Keys --------------------------------------------------------------------------------------

bool spec_check_defined(const struct key_schema_element *keys, size_t count,
                        const struct field_list *definitions, struct error *error)
{
    bool defined = true;
    for (size_t i = 0; i < count; i++)
        defined = defined && spec_type(definitions, keys[i].attribute_name) != VALUE_TYPES;
    if (defined)
        return true;
    const struct attribute_definition *rows = definitions->items;
    struct slice *names = arena_zalloc(error->arena, count + definitions->count, sizeof(*names));
    if (names == NULL)
        return error_budget(error);
    for (size_t i = 0; i < count; i++)
        names[i] = keys[i].attribute_name;
    for (size_t i = 0; i < definitions->count; i++)
        names[count + i] = rows[i].attribute_name;
    return error_validation(error,
                            INVALID "Some index key attributes are not defined in "
                                    "AttributeDefinitions. Keys: [%s], AttributeDefinitions: [%s]",
                            spec_join(error->arena, names, count),
                            spec_join(error->arena, names + count, definitions->count));
}

static bool check_repeated(const struct key_schema_element *keys, size_t count, struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = i + 1; k < count; k++) {
            if (!slice_equal(keys[i].attribute_name, keys[k].attribute_name))
                continue;
            if (count == 2)
                return error_validation(error, "Both the Hash Key and the Range Key element in the "
                                               "KeySchema have the same name");
            return error_validation(
                error, "The KeySchema contains multiple key attributes with the same name");
        }
    }
    return true;
}

static bool check_several(const struct key_schema_element *keys, size_t count, struct error *error)
{
    size_t hashes = 0;
    size_t ranges = 0;
    for (size_t i = 0; i < count; i++) {
        if (slice_is(keys[i].key_type, "RANGE"))
            ranges++;
        else if (ranges > 0)
            return error_validation(error, INVALID "All HASH key attributes must precede RANGE key "
                                                   "attributes in the KeySchema");
        else
            hashes++;
    }
    if (hashes > LIMIT_KEY_PARTS || ranges > LIMIT_KEY_PARTS)
        return error_validation(error,
                                INVALID "The KeySchema exceeds the maximum allowed number of %s "
                                        "key attributes",
                                hashes > LIMIT_KEY_PARTS ? "HASH" : "RANGE");
    return true;
}

bool spec_check_keys(const struct key_schema_element *keys, size_t count, bool several,
                     const struct field_list *definitions, struct error *error)
{
    if (!spec_check_defined(keys, count, definitions, error) || !check_repeated(keys, count, error))
        return false;
    if (!slice_is(keys[0].key_type, "HASH"))
        return error_validation(
            error, "Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
    if (several)
        return check_several(keys, count, error);
    if (count == 2 && !slice_is(keys[1].key_type, "RANGE"))
        return error_validation(
            error, "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
    return true;
}

// ---- Projection ------------------------------------------------------------------------------

bool spec_check_projection(const struct request_projection *projection, struct error *error)
{
    const struct field_list *names = &projection->non_key_attributes;
    if (projection->projection_type.ptr == NULL)
        return error_validation(error, INVALID "Unknown ProjectionType: null");
    bool include = slice_is(projection->projection_type, "INCLUDE");
    if (names->set && !include)
        return error_validation(error,
                                INVALID "ProjectionType is %.*s, but NonKeyAttributes is specified",
                                SLICE_FMT(projection->projection_type));
    if (!names->set && include)
        return error_validation(error, INVALID
                                "ProjectionType is INCLUDE, but NonKeyAttributes is not specified");
    if (!spec_check_included(names->count, error))
        return false;
    const struct slice *rows = names->items;
    for (size_t i = 0; i < names->count; i++)
        for (size_t k = 0; k < i; k++)
            if (slice_equal(rows[i], rows[k]))
                return error_validation(error,
                                        INVALID "Duplicate element in NonKeyAttributes: %.*s",
                                        SLICE_FMT(rows[i]));
    return true;
}

bool spec_check_included(size_t included, struct error *error)
{
    return included <= LIMIT_PROJECTED_ATTRIBUTES ||
           error_validation(error, INVALID "Number of NonKeyAttributes exceeds per-table limit "
                                           "of 100");
}

// ---- Throughput --------------------------------------------------------------------------------

bool spec_check_units(const struct request_provisioned_throughput *throughput, struct error *error)
{
    if (throughput->read_capacity_units.value > units_max)
        return error_validation(error, "Given value %lld for ReadCapacityUnits is out of bounds",
                                (long long)throughput->read_capacity_units.value);
    if (throughput->write_capacity_units.value > units_max)
        return error_validation(error, "Given value %lld for WriteCapacityUnits is out of bounds",
                                (long long)throughput->write_capacity_units.value);
    return true;
}

static bool check_limit(const struct field_int *limit, const char *name, bool on_demand,
                        bool clearing, struct slice index, struct error *error)
{
    if (!limit->set)
        return true;
    if (!on_demand)
        return error_validation(error,
                                INVALID "%s for OnDemandThroughput%s%.*s cannot be specified when "
                                        "the table BillingMode is PROVISIONED",
                                name, index.len == 0 ? "" : " for index: ", SLICE_FMT(index));
    return limit->value >= 1 || (clearing && limit->value == -1) ||
           error_validation(error,
                            INVALID "Requested %s for OnDemandThroughput for %s%.*s is outside of "
                                    "valid range",
                            name, index.len == 0 ? "table" : "index : ", SLICE_FMT(index));
}

bool spec_check_limits(const struct request_on_demand_throughput *limits, bool on_demand,
                       bool clearing, struct slice index, struct error *error)
{
    return limits == NULL || (check_limit(&limits->max_read_request_units, "MaxReadRequestUnits",
                                          on_demand, clearing, index, error) &&
                              check_limit(&limits->max_write_request_units, "MaxWriteRequestUnits",
                                          on_demand, clearing, index, error));
}

bool spec_check_warm(const struct request_warm_throughput *warm,
                     const struct throughput_settings *least, const char *why, struct slice index,
                     struct error *error)
{
    if (warm == NULL)
        return true;
    bool read_low =
        warm->read_units_per_second.set && warm->read_units_per_second.value < least->warm_read;
    bool write_low =
        warm->write_units_per_second.set && warm->write_units_per_second.value < least->warm_write;
    if (!read_low && !write_low)
        return true;
    return error_validation(error,
                            INVALID "Requested %s for WarmThroughput for %s%.*s is lower than %s",
                            read_low ? "ReadUnitsPerSecond" : "WriteUnitsPerSecond",
                            index.len == 0 ? "table" : "index ", SLICE_FMT(index), why);
}

bool spec_check_changes(const struct request_provisioned_throughput *units,
                        const struct throughput_settings *has, struct slice index,
                        struct error *error)
{
    if (units == NULL || units->read_capacity_units.value != has->read ||
        units->write_capacity_units.value != has->write)
        return true;
    const char *what = index.len == 0 ? "table" : "index";
    long long read = (long long)has->read;
    long long write = (long long)has->write;
    return error_validation(
        error,
        "The provisioned throughput for the %s%s%.*s will not change. The requested value equals "
        "the current value. Current ReadCapacityUnits provisioned for the %s: %lld. Requested "
        "ReadCapacityUnits: %lld. Current WriteCapacityUnits provisioned for the %s: %lld. "
        "Requested WriteCapacityUnits: %lld. Refer to the Amazon DynamoDB Developer Guide for "
        "current limits and how to request higher limits.",
        what, index.len == 0 ? "" : " ", SLICE_FMT(index), what, read, read, what, write, write);
}

// ---- Stream and encryption ----------------------------------------------------------

bool spec_check_stream(const struct request_stream_specification *stream, bool creating,
                       struct error *error)
{
    bool enabled = stream->stream_enabled.value;
    if (enabled == (stream->stream_view_type.ptr != NULL))
        return true;
    if (creating)
        return error_validation(error, INVALID "Table is being created with a stream %s",
                                enabled ? "enabled, UpdateViewType is required"
                                        : "disabled, UpdateViewType should not be specified");
    return error_validation(error, INVALID "If stream is being %s",
                            enabled ? "enabled then UpdateViewType is required"
                                    : "disabled, then UpdateViewType must not be specified");
}

bool spec_encrypts(const struct request_sse_specification *encryption)
{
    return encryption->enabled.set ? encryption->enabled.value : encryption->sse_type.ptr != NULL;
}

bool spec_check_encryption(const struct request_sse_specification *encryption, struct error *error)
{
    if (slice_is(encryption->sse_type, "AES256"))
        return error_validation(error, INVALID "SSEType AES256 is not supported");
    if (!spec_encrypts(encryption) && encryption->sse_type.ptr != NULL)
        return error_validation(error, INVALID "SSEType can not be specified if Enabled is false");
    if (!spec_encrypts(encryption) && encryption->kms_master_key_id.ptr != NULL)
        return error_validation(error,
                                INVALID "KMSMasterKeyId can not be specified if Enabled is false");
    if (encryption->kms_master_key_id.ptr != NULL && encryption->sse_type.ptr == NULL)
        return error_validation(error,
                                INVALID "SSEType KMS is required if KMSMasterKeyId is specified");
    return true;
}
