// Global tables (version 2017): CreateGlobalTable, DescribeGlobalTable, ListGlobalTables,
// UpdateGlobalTable. There is one region, the caller's, so a global table has one replica at most,
// and a replica elsewhere would need a table that is not there.
//
// Kept in the table's settings: an M {created_ms, region}; region is absent once the replica was
// taken out of the group. It goes with the table.
#include "control/global.h"

enum { LIST_DEFAULT = 100 };

bool global_not_found(struct slice name, struct error *error)
{
    return error_set(error, ERR_GLOBAL_TABLE_NOT_FOUND,
                     "Global table not found: Global table with name: '%.*s' does not exist.",
                     SLICE_FMT(name));
}

struct slice global_entry(const struct table *table)
{
    struct table_settings settings;
    if (table == NULL)
        return VALUE_NONE;
    table_settings_read(table, &settings);
    return settings.global;
}

struct slice global_region(struct slice entry)
{
    return map_text(entry, "region");
}

static bool table_missing(struct slice name, struct slice region, struct error *error)
{
    return error_set(error, ERR_TABLE_NOT_FOUND,
                     "Table not found: Table with name: '%.*s' does not exist in region: '%.*s'.",
                     SLICE_FMT(name), SLICE_FMT(region));
}

static bool entry_set(struct table *table, struct table_settings *settings, int64_t created_ms,
                      struct slice region, struct error *error)
{
    struct value_maker maker;
    map_begin(&maker);
    map_put_integer(&maker, "created_ms", created_ms);
    map_put_text(&maker, "region", region);
    settings->global = map_end(&maker, &table->arena, error);
    return settings->global.ptr != NULL;
}

// ---- Describing ------------------------------------------------------------------------------

static void write_description(struct api_call *call, const struct table *table, const char *status)
{
    struct slice entry = global_entry(table);
    struct slice region = global_region(entry);
    struct buf arn;
    buf_init(&arn, 1024);
    buf_printf(&arn, "arn:aws:dynamodb::000000000000:global-table/%.*s", SLICE_FMT(table->name));
    struct json_writer w = call_open(call);
    json_put_object(&w, "GlobalTableDescription");
    json_put_array(&w, "ReplicationGroup");
    if (region.len > 0)
        json_form(&w, "{'RegionName':%.*s}", SLICE_FMT(region));
    json_close_array(&w);
    json_put_string(&w, "GlobalTableArn", buf_view(&arn));
    json_put_time(&w, "CreationDateTime", map_integer(entry, "created_ms"));
    json_form(&w, "'GlobalTableStatus':%s,'GlobalTableName':%.*s}}", status,
              SLICE_FMT(table->name));
    buf_release(&arn);
}

enum step describe_global_table_start(struct api_call *call, const void *decoded)
{
    const struct global_table_name_request *request = decoded;
    struct table *table = engine_table(call_engine(call), request->global_table_name);
    bool found = global_entry(table).len > 0;
    if (found)
        write_description(call, table, "ACTIVE");
    else
        (void)global_not_found(request->global_table_name, &call->error);
    if (table != NULL)
        table_release(table);
    return found ? STEP_READY : STEP_FAILED;
}

// ---- Creating --------------------------------------------------------------------------------

struct global_change {
    const void *request;
    struct slice region;
    int64_t now_ms;
};

static enum step start_change(struct api_call *call, const void *request, struct slice name,
                              table_edit *edit)
{
    struct global_change change = {request, call->region, call_now(call)};
    return call_edit(call, name, edit, &change, sizeof(change));
}

// A replica needs a table with a stream of both images.
static bool replica_check(const struct table *table, struct slice name, struct slice region,
                          struct slice own_region, struct error *error)
{
    struct table_settings settings;
    if (table == NULL || !slice_equal(region, own_region))
        return table_missing(name, region, error);
    table_settings_read(table, &settings);
    return slice_is(settings.stream_view, "NEW_AND_OLD_IMAGES") ||
           error_validation(error,
                            "One or more parameter values were invalid: the table '%.*s' in "
                            "region '%.*s' must have a stream with StreamViewType "
                            "NEW_AND_OLD_IMAGES",
                            SLICE_FMT(name), SLICE_FMT(region));
}

static bool create_edit(void *context, struct table *table, struct table_settings *settings,
                        struct error *error)
{
    const struct global_change *change = context;
    const struct create_global_table_request *request = change->request;
    const struct replica_request *replicas = request->replication_group.items;
    if (global_entry(table).len > 0)
        return error_set(error, ERR_GLOBAL_TABLE_EXISTS,
                         "Global table with name: '%.*s' already exists.",
                         SLICE_FMT(request->global_table_name));
    for (size_t i = 0; i < request->replication_group.count; i++) {
        if (!replica_check(table, request->global_table_name, replicas[i].region_name,
                           change->region, error))
            return false;
    }
    return entry_set(table, settings, change->now_ms, change->region, error);
}

static bool group_check(const struct field_list *group, struct error *error)
{
    const struct replica_request *replicas = group->items;
    if (group->count == 0)
        return error_validation(error, "One or more parameter values were invalid: "
                                       "ReplicationGroup must have at least one replica");
    for (size_t i = 0; i < group->count; i++) {
        if (replicas[i].region_name.len == 0)
            return error_validation(error, "One or more parameter values were invalid: RegionName "
                                           "must be specified for each replica");
        for (size_t k = 0; k < i; k++)
            if (slice_equal(replicas[i].region_name, replicas[k].region_name))
                return error_validation(error,
                                        "One or more parameter values were invalid: duplicate "
                                        "region '%.*s' in ReplicationGroup",
                                        SLICE_FMT(replicas[i].region_name));
    }
    return true;
}

enum step create_global_table_start(struct api_call *call, const void *decoded)
{
    const struct create_global_table_request *request = decoded;
    if (!group_check(&request->replication_group, &call->error))
        return STEP_FAILED;
    return start_change(call, request, request->global_table_name, create_edit);
}

void create_global_table_finish(struct api_call *call, const void *request)
{
    (void)request;
    write_description(call, call->state->change->after, "CREATING");
}

// ---- Updating --------------------------------------------------------------------------------

// Adds or removes one replica: *region is that of the one there is, or empty.
static bool update_one(const struct global_change *change, const struct table *table,
                       const struct replica_update *update, struct slice *region,
                       struct error *error)
{
    if (update->create != NULL) {
        struct slice wanted = update->create->region_name;
        if (region->len > 0 && slice_equal(*region, wanted))
            return error_set(error, ERR_REPLICA_EXISTS,
                             "Replica in region: '%.*s' already exists for global table: '%.*s'.",
                             SLICE_FMT(wanted), SLICE_FMT(table->name));
        *region = wanted;
        return replica_check(table, table->name, wanted, change->region, error);
    }
    struct slice wanted = update->delete->region_name;
    if (region->len == 0 || !slice_equal(*region, wanted))
        return error_set(error, ERR_REPLICA_NOT_FOUND,
                         "Replica in region: '%.*s' does not exist for global table: '%.*s'.",
                         SLICE_FMT(wanted), SLICE_FMT(table->name));
    *region = slice_of(NULL, 0);
    return true;
}

static bool update_edit(void *context, struct table *table, struct table_settings *settings,
                        struct error *error)
{
    const struct global_change *change = context;
    const struct update_global_table_request *request = change->request;
    const struct replica_update *updates = request->replica_updates.items;
    struct slice entry = global_entry(table);
    struct slice region = global_region(entry);
    if (entry.len == 0)
        return global_not_found(request->global_table_name, error);
    for (size_t i = 0; i < request->replica_updates.count; i++) {
        if (!update_one(change, table, &updates[i], &region, error))
            return false;
    }
    return entry_set(table, settings, map_integer(entry, "created_ms"), region, error);
}

enum step update_global_table_start(struct api_call *call, const void *decoded)
{
    const struct update_global_table_request *request = decoded;
    const struct replica_update *updates = request->replica_updates.items;
    for (size_t i = 0; i < request->replica_updates.count; i++) {
        if ((updates[i].create == NULL) == (updates[i].delete == NULL))
            return step_failed(error_validation(
                &call->error, "One or more parameter values were invalid: exactly one of "
                              "Create and Delete must be specified in each of ReplicaUpdates"));
    }
    return start_change(call, request, request->global_table_name, update_edit);
}

void update_global_table_finish(struct api_call *call, const void *request)
{
    (void)request;
    write_description(call, call->state->change->after, "UPDATING");
}

// ---- Listing ---------------------------------------------------------------------------------

static void write_listed(struct json_writer *w, struct slice name, struct slice region)
{
    json_form(w, "{'GlobalTableName':%.*s,'ReplicationGroup':[", SLICE_FMT(name));
    if (region.len > 0)
        json_form(w, "{'RegionName':%.*s}", SLICE_FMT(region));
    json_close_array(w);
    json_close_object(w);
}

enum step list_global_tables_start(struct api_call *call, const void *decoded)
{
    const struct list_global_tables_request *request = decoded;
    size_t left = request->limit.set ? (size_t)request->limit.value : LIST_DEFAULT;
    struct table_walk walk;
    const struct table *table;
    struct slice last = {NULL, 0};
    bool more = false;
    struct json_writer w = call_open(call);
    json_put_array(&w, "GlobalTables");
    table_walk_init(&walk, call_engine(call), request->exclusive_start);
    while (!more && (table = table_walk_next(&walk)) != NULL) {
        struct slice entry = global_entry(table);
        struct slice region = global_region(entry);
        bool wanted = entry.len > 0 &&
                      (request->region_name.len == 0 || slice_equal(request->region_name, region));
        more = wanted && left == 0;
        if (wanted && !more) {
            write_listed(&w, table->name, region);
            last = arena_copy(&call->arena, table->name);
            left--;
        }
    }
    json_close_array(&w);
    if (more)
        json_put_string(&w, "LastEvaluatedGlobalTableName", last);
    json_close_object(&w);
    table_walk_release(&walk);
    return STEP_READY;
}
