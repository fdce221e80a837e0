// CreateTable's request as a whole: its parts in the service's order, which is billing, keys,
// definitions, local indexes, global indexes, and then the features around them.
#include "tables/policy.h"
#include "tables/table_spec.h"
#include "tables/tags.h"
#include "tables/vector_spec.h"

struct check {
    const struct create_table_request *request;
    struct error *error;
    bool on_demand;
    size_t index_count;
    struct index_spec *indexes; // local ones first
};

static bool too_many_locals(struct error *error)
{
    return error_validation(error,
                            INVALID "Number of LocalSecondaryIndexes exceeds per-table limit of 5");
}

static bool too_many_globals(struct error *error)
{
    return error_validation(error,
                            INVALID "GlobalSecondaryIndex count exceeds the per-table limit of 20");
}

static bool definitions_mismatch(struct error *error)
{
    return error_validation(error, INVALID "Number of attributes in KeySchema does not exactly "
                                           "match number of attributes defined in "
                                           "AttributeDefinitions");
}

// The checks below compare everything with everything. What is far beyond every limit of the
// service is refused before that, with the message it would get in the end.
enum { INDEXES_SANE = 100, DEFINITIONS_SANE = 2000 };

static bool check_size(const struct check *check)
{
    const struct create_table_request *request = check->request;
    if (request->local_secondary_indexes.count > INDEXES_SANE)
        return too_many_locals(check->error);
    if (request->global_secondary_indexes.count > INDEXES_SANE)
        return too_many_globals(check->error);
    if (request->vector_indexes.count > INDEXES_SANE)
        return vector_specs_check(request, check->error);
    return request->attribute_definitions.count <= DEFINITIONS_SANE ||
           definitions_mismatch(check->error);
}

static bool check_billing(const struct check *check)
{
    const struct request_provisioned_throughput *units = check->request->provisioned_throughput;
    if (check->on_demand && units != NULL)
        return error_validation(check->error,
                                INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be "
                                        "specified when BillingMode is PAY_PER_REQUEST");
    if (!check->on_demand && units == NULL)
        return error_validation(check->error,
                                INVALID "ReadCapacityUnits and WriteCapacityUnits must both be "
                                        "specified when BillingMode is PROVISIONED");
    return units == NULL || spec_check_units(units, check->error);
}

static bool check_definitions(const struct check *check)
{
    const struct field_list *list = &check->request->attribute_definitions;
    const struct attribute_definition *rows = list->items;
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < i; k++)
            if (slice_equal(rows[i].attribute_name, rows[k].attribute_name))
                return error_validation(check->error, "Attribute Name is duplicated: %.*s",
                                        SLICE_FMT(rows[i].attribute_name));
    return true;
}

static bool check_table_keys(const struct check *check)
{
    const struct create_table_request *request = check->request;
    if (request->key_schema.count > request->attribute_definitions.count)
        return error_validation(check->error,
                                "Invalid KeySchema: Some index key attribute have no definition");
    if (!spec_check_keys(request->key_schema.items, request->key_schema.count, false,
                         &request->attribute_definitions, check->error))
        return false;
    if (!request->local_secondary_indexes.set && !request->global_secondary_indexes.set &&
        !request->vector_indexes.set &&
        request->key_schema.count != request->attribute_definitions.count)
        return definitions_mismatch(check->error);
    return true;
}

static bool check_index_lists(const struct check *check)
{
    const struct create_table_request *request = check->request;
    if (request->local_secondary_indexes.set && request->local_secondary_indexes.count == 0)
        return error_validation(check->error, INVALID "List of LocalSecondaryIndexes is empty");
    if (request->local_secondary_indexes.set && request->key_schema.count != 2)
        return error_validation(check->error,
                                INVALID "Table KeySchema does not have a range key, which is "
                                        "required when specifying a LocalSecondaryIndex");
    if (request->global_secondary_indexes.set && request->global_secondary_indexes.count == 0)
        return error_validation(check->error, INVALID "List of GlobalSecondaryIndexes is empty");
    for (size_t i = 0; i < check->index_count; i++) {
        const struct index_spec *index = &check->indexes[i];
        if (!spec_check_keys(index->keys, index->key_count, index->global,
                             &request->attribute_definitions, check->error))
            return false;
    }
    const struct request_vector_index *vectors = request->vector_indexes.items;
    for (size_t i = 0; i < request->vector_indexes.count; i++)
        if (!vector_spec_check_defined(&vectors[i], &request->attribute_definitions, check->error))
            return false;
    return true;
}

// Adds a name unless it is in `used` already.
static size_t use_name(struct slice *used, size_t count, struct slice name)
{
    for (size_t i = 0; i < count; i++)
        if (slice_equal(used[i], name))
            return count;
    used[count] = name;
    return count + 1;
}

static size_t use_keys(struct slice *used, size_t count, const struct key_schema_element *keys,
                       size_t key_count)
{
    for (size_t i = 0; i < key_count; i++)
        count = use_name(used, count, keys[i].attribute_name);
    return count;
}

static size_t use_search_schemas(struct slice *used, size_t count, const struct field_list *indexes)
{
    const struct request_vector_index *rows = indexes->items;
    for (size_t i = 0; i < indexes->count; i++) {
        const struct search_schema_element *elements = rows[i].search_schema.items;
        for (size_t k = 0; k < rows[i].search_schema.count; k++)
            count = use_name(used, count, elements[k].attribute_name);
    }
    return count;
}

// Every definition is part of some key. All keys are defined by now, so counting is enough.
static bool check_unused(const struct check *check)
{
    const struct field_list *list = &check->request->attribute_definitions;
    const struct attribute_definition *rows = list->items;
    struct slice *names = arena_zalloc(check->error->arena, 2 * list->count, sizeof(*names));
    if (names == NULL)
        return error_budget(check->error);
    size_t used =
        use_keys(names, 0, check->request->key_schema.items, check->request->key_schema.count);
    for (size_t i = 0; i < check->index_count; i++)
        used = use_keys(names, used, check->indexes[i].keys, check->indexes[i].key_count);
    used = use_search_schemas(names, used, &check->request->vector_indexes);
    if (used == list->count)
        return true;
    for (size_t i = 0; i < list->count; i++)
        names[list->count + i] = rows[i].attribute_name;
    return error_validation(
        check->error,
        INVALID "Some AttributeDefinitions are not used. AttributeDefinitions: [%s], keys used: "
                "[%s]",
        spec_join(check->error->arena, names + list->count, list->count),
        spec_join(check->error->arena, names, used));
}

static bool check_local_keys(const struct check *check, const struct index_spec *index)
{
    const struct key_schema_element *table = check->request->key_schema.items;
    if (index->key_count != 2)
        return error_validation(check->error,
                                INVALID "Index KeySchema does not have a range key for index: %.*s",
                                SLICE_FMT(index->name));
    if (!slice_equal(index->keys[0].attribute_name, table[0].attribute_name))
        return error_validation(
            check->error,
            INVALID "Index KeySchema does not have the same leading hash key as table KeySchema "
                    "for index: %.*s. index hash key: %.*s, table hash key: %.*s",
            SLICE_FMT(index->name), SLICE_FMT(index->keys[0].attribute_name),
            SLICE_FMT(table[0].attribute_name));
    return true;
}

// What must be warm from the start, and how the service says so.
static bool check_warm(const struct check *check, const struct throughput_request *request,
                       struct slice index)
{
    struct throughput_settings least;
    struct throughput_request plain = {.provisioned = request->provisioned};
    throughput_start(&least, check->on_demand, &plain);
    return spec_check_warm(request->warm, &least,
                           check->on_demand
                               ? "initial throughput for OnDemand. See: "
                                 "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"
                                 "on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
                               : "ReadCapacityUnits of ProvisionedThroughput",
                           index, check->error);
}

static bool check_global_throughput(const struct check *check, const struct index_spec *index)
{
    const struct request_provisioned_throughput *units = index->throughput.provisioned;
    if (check->on_demand && units != NULL)
        return error_validation(check->error,
                                INVALID "ProvisionedThroughput should not be specified for index: "
                                        "%.*s when BillingMode is PAY_PER_REQUEST",
                                SLICE_FMT(index->name));
    if (!check->on_demand && units == NULL)
        return error_validation(check->error,
                                INVALID "ProvisionedThroughput must be specified for index: %.*s",
                                SLICE_FMT(index->name));
    return (units == NULL || spec_check_units(units, check->error)) &&
           spec_check_limits(index->throughput.on_demand, check->on_demand, false, index->name,
                             check->error) &&
           check_warm(check, &index->throughput, index->name);
}

static bool check_index(const struct check *check, size_t at)
{
    const struct index_spec *index = &check->indexes[at];
    if (!index->global && !check_local_keys(check, index))
        return false;
    if (!spec_check_projection(index->projection, check->error))
        return false;
    if (index->global && !check_global_throughput(check, index))
        return false;
    for (size_t i = 0; i < at; i++)
        if (slice_equal(check->indexes[i].name, index->name))
            return spec_refuse_duplicate(index->name, check->error);
    return true;
}

static bool check_indexes(const struct check *check)
{
    const struct create_table_request *request = check->request;
    size_t locals = request->local_secondary_indexes.count;
    size_t included = 0;
    for (size_t i = 0; i < check->index_count; i++) {
        // The local ones are counted before the first global one is looked at.
        if (i == locals && locals > LIMIT_LSI)
            break;
        if (!check_index(check, i))
            return false;
        included += check->indexes[i].projection->non_key_attributes.count;
    }
    if (locals > LIMIT_LSI)
        return too_many_locals(check->error);
    if (request->global_secondary_indexes.count > LIMIT_GSI)
        return too_many_globals(check->error);
    if (!vector_specs_check(request, check->error))
        return false;
    const struct request_vector_index *vectors = request->vector_indexes.items;
    for (size_t i = 0; i < request->vector_indexes.count; i++)
        included += vector_spec_included(&vectors[i]);
    return spec_check_included(included, check->error);
}

// What needs more than one region, or a policy engine, or comes later.
static bool check_supported(const struct check *check)
{
    const struct create_table_request *request = check->request;
    if (request->resource_policy.ptr != NULL &&
        !policy_check(request->resource_policy, check->error->arena, check->error))
        return false;
    if (request->global_table_source_arn.ptr != NULL ||
        request->global_table_settings_replication_mode.ptr != NULL)
        return error_validation(check->error, "Global tables are not supported: this database "
                                              "serves all its tables from a single region");
    return true;
}

static bool check_features(const struct check *check)
{
    const struct create_table_request *request = check->request;
    struct throughput_request table = {request->provisioned_throughput,
                                       request->on_demand_throughput, request->warm_throughput};
    return spec_check_limits(table.on_demand, check->on_demand, false, SLICE_LIT(""),
                             check->error) &&
           check_warm(check, &table, SLICE_LIT("")) &&
           (request->stream_specification == NULL ||
            spec_check_stream(request->stream_specification, true, check->error)) &&
           (request->sse_specification == NULL ||
            spec_check_encryption(request->sse_specification, check->error)) &&
           tags_check(&request->tags, check->error) && check_supported(check);
}

bool table_spec_check(const struct create_table_request *request, struct error *error)
{
    struct check check = {
        .request = request,
        .error = error,
        .on_demand = slice_is(request->billing_mode, "PAY_PER_REQUEST"),
    };
    check.index_count = index_spec_count(request);
    check.indexes = arena_zalloc(error->arena, check.index_count + 1, sizeof(*check.indexes));
    if (check.indexes == NULL)
        return error_budget(error);
    for (size_t i = 0; i < check.index_count; i++)
        check.indexes[i] = index_spec_at(request, i);
    return check_size(&check) && check_billing(&check) && check_definitions(&check) &&
           check_table_keys(&check) && check_index_lists(&check) && check_unused(&check) &&
           check_indexes(&check) && check_features(&check);
}
