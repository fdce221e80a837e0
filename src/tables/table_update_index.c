// GlobalSecondaryIndexUpdates: changing an index's throughput, creating one online, deleting one.
// The engine fills a new index and removes a deleted one after the answer; one at a time.
#include "tables/table_update.h"
#include "tables/vector_spec.h"

static const char decreasing[] =
    "current WarmThroughput, decreasing WarmThroughput is not supported";

static struct index *index_find(struct table *table, struct slice name)
{
    return (struct index *)table_index(table, name);
}

// ---- Judging ----------------------------------------------------------------------------------

static bool index_required(const struct table_update *update, const struct table *current,
                           struct slice name, const char *verb, const struct index **out)
{
    *out = table_index(current, name);
    if (*out == NULL)
        return error_set(update->error, ERR_RESOURCE_NOT_FOUND, "Requested resource not found");
    if (!(*out)->global)
        return error_validation(update->error,
                                "Cannot %s an index that is not a GlobalSecondaryIndex", verb);
    return true;
}

static bool check_update(const struct table_update *update, const struct table *current,
                         const struct update_global_secondary_index_action *action)
{
    const struct index *index;
    if (!index_required(update, current, action->index_name, "update", &index))
        return false;
    const struct request_on_demand_throughput *limits = update_limits(action->on_demand_throughput);
    if (update->on_demand && (action->provisioned_throughput != NULL ||
                              (limits == NULL && action->warm_throughput == NULL)))
        return error_validation(update->error,
                                INVALID "The only Updates for index: %.*s when TableThroughputMode "
                                        "is PAY_PER_REQUEST can be to OnDemandThroughput, "
                                        "WarmThroughput",
                                SLICE_FMT(action->index_name));
    if (!update->on_demand && action->provisioned_throughput == NULL && limits == NULL &&
        action->warm_throughput == NULL)
        return error_validation(update->error,
                                INVALID "Both ReadCapacityUnits and WriteCapacityUnits must be "
                                        "specified for index: %.*s",
                                SLICE_FMT(action->index_name));
    struct throughput_settings has;
    index_settings_read(index, &has);
    return spec_check_limits(limits, update->on_demand, true, action->index_name, update->error) &&
           spec_check_warm(action->warm_throughput, &has, decreasing, action->index_name,
                           update->error) &&
           spec_check_changes(action->provisioned_throughput, &has, action->index_name,
                              update->error);
}

// An attribute has one type in all keys of a table.
static bool check_types(const struct table_update *update, const struct table *current,
                        const struct global_secondary_index *create)
{
    const struct key_schema_element *keys = create->key_schema.items;
    for (size_t i = 0; i < create->key_schema.count; i++) {
        enum value_type has = table_attribute_type(current, keys[i].attribute_name);
        if (has != VALUE_TYPES &&
            has != spec_type(&update->request->attribute_definitions, keys[i].attribute_name))
            return error_validation(update->error, "invalid attribute, SchemaElement redefined "
                                                   "should be of same type as previously defined");
    }
    return true;
}

static bool check_new_throughput(const struct table_update *update,
                                 const struct global_secondary_index *create)
{
    struct slice name = create->index_name;
    if (update->on_demand && create->provisioned_throughput != NULL)
        return error_validation(update->error,
                                INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be "
                                        "specified for index: %.*s when BillingMode is "
                                        "PAY_PER_REQUEST",
                                SLICE_FMT(name));
    if (!update->on_demand && create->provisioned_throughput == NULL)
        return error_validation(update->error,
                                INVALID "Both ReadCapacityUnits and WriteCapacityUnits must be "
                                        "specified for index: %.*s",
                                SLICE_FMT(name));
    struct throughput_settings least;
    struct throughput_request plain = {.provisioned = create->provisioned_throughput};
    throughput_start(&least, update->on_demand, &plain);
    return spec_check_limits(create->on_demand_throughput, update->on_demand, false, name,
                             update->error) &&
           spec_check_warm(create->warm_throughput, &least, decreasing, name, update->error);
}

static bool check_create(const struct table_update *update, const struct table *current,
                         const struct global_secondary_index *create)
{
    if (!spec_check_new(current, create->index_name, update->error))
        return false;
    size_t globals = 0;
    size_t included = create->projection->non_key_attributes.count + table_included(current);
    for (size_t i = 0; i < current->index_count; i++)
        globals += current->indexes[i].global;
    if (globals >= LIMIT_GSI)
        return error_set(update->error, ERR_LIMIT_EXCEEDED,
                         "Subscriber limit exceeded: Number of global secondary indexes exceeds "
                         "per-table limit of 20");
    return check_types(update, current, create) && spec_check_included(included, update->error) &&
           check_new_throughput(update, create);
}

// One index is created or deleted at a time; but an index that is being filled can be given up.
static bool check_online(const struct table_update *update, const struct table *current)
{
    const struct global_secondary_index_update *rows =
        update->request->global_secondary_index_updates.items;
    size_t actions = 0;
    const struct delete_index_action *delete = NULL;
    for (size_t i = 0; i < update->request->global_secondary_index_updates.count; i++) {
        actions += rows[i].update == NULL;
        if (rows[i].delete != NULL)
            delete = rows[i].delete;
    }
    bool busy = false;
    for (size_t i = 0; i < current->index_count; i++) {
        const struct index *index = &current->indexes[i];
        bool given_up = delete != NULL && index->status == INDEX_CREATING &&
                        slice_equal(index->name, delete->index_name);
        busy = busy || (index->status != INDEX_ACTIVE && !given_up);
    }
    for (size_t i = 0; i < current->vector_count; i++)
        busy = busy || current->vectors[i].base.status != INDEX_ACTIVE;
    actions += update->request->vector_index_updates.count > 0 && actions > 0;
    bool free = actions == 0 || (actions == 1 && !busy);
    return free || spec_refuse_online(update->error);
}

// A table that leaves on-demand billing needs units for each index that stays.
static bool check_all_provisioned(const struct table_update *update, const struct table *current)
{
    const struct field_list *list = &update->request->global_secondary_index_updates;
    const struct global_secondary_index_update *rows = list->items;
    for (size_t i = 0; i < current->index_count; i++) {
        const struct index *index = &current->indexes[i];
        bool given = !index->global || index->status == INDEX_DELETING;
        for (size_t k = 0; k < list->count; k++)
            given = given ||
                    (rows[k].update != NULL && rows[k].update->provisioned_throughput != NULL &&
                     slice_equal(rows[k].update->index_name, index->name));
        if (!given)
            return error_validation(update->error,
                                    INVALID "ProvisionedThroughput must be specified for index: "
                                            "%.*s",
                                    SLICE_FMT(index->name));
    }
    return true;
}

bool update_indexes_check(const struct table_update *update, const struct table *current)
{
    const struct field_list *list = &update->request->global_secondary_index_updates;
    const struct global_secondary_index_update *rows = list->items;
    struct table_settings settings;
    table_settings_read(current, &settings);
    if (settings.on_demand && !update->on_demand && !check_all_provisioned(update, current))
        return false;
    if (!check_online(update, current))
        return false;
    for (size_t i = 0; i < list->count; i++) {
        const struct index *index;
        if (rows[i].update != NULL && !check_update(update, current, rows[i].update))
            return false;
        if (rows[i].create != NULL && !check_create(update, current, rows[i].create))
            return false;
        if (rows[i].delete != NULL &&
            !index_required(update, current, rows[i].delete->index_name, "delete", &index))
            return false;
    }
    return vector_updates_admit(update->request, current, update->error);
}

// ---- Doing --------------------------------------------------------------------------------------

static bool apply_update(const struct table_update *update, struct table *table,
                         const struct update_global_secondary_index_action *action)
{
    struct index *index = index_find(table, action->index_name);
    struct throughput_settings throughput;
    index_settings_read(index, &throughput);
    if (action->provisioned_throughput != NULL)
        throughput_provision(&throughput, action->provisioned_throughput->read_capacity_units.value,
                             action->provisioned_throughput->write_capacity_units.value,
                             update->now_ms);
    throughput_limit(&throughput, action->on_demand_throughput);
    throughput_warm(&throughput, action->warm_throughput);
    return index_settings_write(table, index, &throughput);
}

static bool apply_create(const struct table_update *update, struct table *table,
                         struct table_settings *settings,
                         const struct global_secondary_index *create)
{
    struct index_spec spec = index_spec_global(create);
    return table_spec_add_index(table, &spec, &update->request->attribute_definitions,
                                update->on_demand, INDEX_CREATING) &&
           settings_set_attributes(table, settings, &update->request->attribute_definitions);
}

bool update_indexes_apply(const struct table_update *update, struct table *table,
                          struct table_settings *settings)
{
    const struct field_list *list = &update->request->global_secondary_index_updates;
    const struct global_secondary_index_update *rows = list->items;
    for (size_t i = 0; i < list->count; i++) {
        bool ok = true;
        if (rows[i].update != NULL)
            ok = apply_update(update, table, rows[i].update);
        else if (rows[i].create != NULL)
            ok = apply_create(update, table, settings, rows[i].create);
        else
            index_find(table, rows[i].delete->index_name)->status = INDEX_DELETING;
        if (!ok)
            return error_budget(update->error);
    }
    return vector_updates_apply(update->request, table, settings, update->error);
}
