// RestoreTableFromBackup and RestoreTableToPointInTime: a new table with the keys and indexes of
// the source, which src/backup then fills.
#include "history/backup_call.h"
#include "history/exchange_call.h"

#include "base/limits.h"
#include "change/model.h"
#include "engine/log.h"
#include "requests/requests_control.h"

#include <math.h>

// ---- The new table ----------------------------------------------------------------------------

struct restore {
    struct engine *engine;
    struct slice target;
    struct table *source; // what the new table is like; a reference
    const struct restore_overrides *overrides;
    struct slice backup; // id, or empty
    int64_t at_ms;
    struct slice model; // record of the model that the source had; may be empty
};

static bool names_index(const struct field_list *list, bool global, struct slice name)
{
    const struct global_secondary_index *globals = list->items;
    const struct local_secondary_index *locals = list->items;
    for (size_t i = 0; i < list->count; i++) {
        if (slice_equal(global ? globals[i].index_name : locals[i].index_name, name))
            return true;
    }
    return false;
}

// The indexes that an override names must be the source's.
static bool check_indexes(const struct restore *restore, bool global, struct error *error)
{
    const struct field_list *list = global ? &restore->overrides->global_secondary_indexes
                                           : &restore->overrides->local_secondary_indexes;
    const struct global_secondary_index *globals = list->items;
    const struct local_secondary_index *locals = list->items;
    for (size_t i = 0; i < list->count; i++) {
        struct slice name = global ? globals[i].index_name : locals[i].index_name;
        const struct index *index = table_index(restore->source, name);
        if (index == NULL || index->global != global)
            return error_validation(error,
                                    INVALID "%s secondary index override must match an index of "
                                            "the source table: %.*s",
                                    global ? "Global" : "Local", SLICE_FMT(name));
    }
    return true;
}

// Whether a vector index is the one that the override describes.
static bool vector_matches(const struct vector_index *index,
                           const struct request_vector_index *wanted)
{
    static const char *const distances[] = {
        [VECTOR_COSINE] = "COSINE",
        [VECTOR_EUCLIDEAN] = "EUCLIDEAN",
        [VECTOR_DOT_PRODUCT] = "DOT_PRODUCT",
    };
    return slice_equal(index->attribute, wanted->vector_attribute->attribute_name) &&
           (int64_t)index->dimensions == wanted->dimensions.value &&
           slice_is(wanted->distance_function, distances[index->distance]);
}

static bool check_vectors(const struct restore *restore, struct error *error)
{
    const struct field_list *list = &restore->overrides->vector_indexes;
    const struct request_vector_index *wanted = list->items;
    for (size_t i = 0; i < list->count; i++) {
        const struct vector_index *index = table_vector(restore->source, wanted[i].index_name);
        if (index == NULL || !vector_matches(index, &wanted[i]))
            return error_validation(error,
                                    INVALID "Vector index override must match an index of the "
                                            "source table: %.*s",
                                    SLICE_FMT(wanted[i].index_name));
    }
    return true;
}

static bool names_vector(const struct field_list *list, struct slice name)
{
    const struct request_vector_index *wanted = list->items;
    for (size_t i = 0; i < list->count; i++) {
        if (slice_equal(wanted[i].index_name, name))
            return true;
    }
    return false;
}

static bool check_overrides(const struct restore *restore, struct error *error)
{
    const struct restore_overrides *overrides = restore->overrides;
    struct table_settings settings;
    table_settings_read(restore->source, &settings);
    bool on_demand = overrides->billing_mode.ptr != NULL
                         ? slice_is(overrides->billing_mode, "PAY_PER_REQUEST")
                         : settings.on_demand;
    if (on_demand && overrides->provisioned_throughput != NULL)
        return error_validation(error, INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits "
                                               "can be specified when BillingMode is "
                                               "PAY_PER_REQUEST");
    if (!on_demand && settings.on_demand && overrides->provisioned_throughput == NULL)
        return error_validation(error, INVALID "ReadCapacityUnits and WriteCapacityUnits must both "
                                               "be specified when BillingMode is PROVISIONED");
    return check_indexes(restore, true, error) && check_indexes(restore, false, error) &&
           check_vectors(restore, error);
}

// Leaves out the indexes that an override is silent about, and those that were about to go.
static void choose_indexes(const struct restore *restore, struct table *table)
{
    const struct restore_overrides *overrides = restore->overrides;
    const struct table *source = restore->source;
    size_t kept = 0;
    for (size_t i = 0; i < table->index_count; i++) {
        struct index *index = &table->indexes[i];
        const struct field_list *list = index->global ? &overrides->global_secondary_indexes
                                                      : &overrides->local_secondary_indexes;
        if (source->indexes[i].status != INDEX_DELETING &&
            (!list->set || names_index(list, index->global, index->name)))
            table->indexes[kept++] = *index;
    }
    table->index_count = kept;
    kept = 0;
    for (size_t i = 0; i < table->vector_count; i++) {
        if (source->vectors[i].base.status != INDEX_DELETING &&
            (!overrides->vector_indexes.set ||
             names_vector(&overrides->vector_indexes, source->vectors[i].base.name)))
            table->vectors[kept++] = table->vectors[i];
    }
    table->vector_count = kept;
}

// Throughput of the indexes: the override's, or the source's.
static bool set_index_throughput(const struct restore_overrides *overrides, struct table *table,
                                 bool on_demand)
{
    const struct global_secondary_index *rows = overrides->global_secondary_indexes.items;
    for (size_t i = 0; i < table->index_count; i++) {
        struct index *index = &table->indexes[i];
        struct throughput_settings throughput;
        if (!index->global)
            continue;
        index_settings_read(index, &throughput);
        for (size_t k = 0; k < overrides->global_secondary_indexes.count; k++) {
            struct throughput_request wanted = {rows[k].provisioned_throughput,
                                                rows[k].on_demand_throughput,
                                                rows[k].warm_throughput};
            bool given =
                wanted.provisioned != NULL || wanted.on_demand != NULL || wanted.warm != NULL;
            if (given && slice_equal(rows[k].index_name, index->name))
                throughput_start(&throughput, on_demand, &wanted);
        }
        if (on_demand)
            throughput_to_on_demand(&throughput);
        if (!index_settings_write(table, index, &throughput))
            return false;
    }
    return true;
}

// What does not come along: streams, tags, protection; and time to live and recovery of the past,
// unless the table has a model, which is what says that it has them.
static bool set_settings(const struct restore *restore, struct table *table, int64_t now_ms)
{
    const struct restore_overrides *overrides = restore->overrides;
    struct table_settings source;
    table_settings_read(table, &source);
    struct table_settings settings = {
        .throughput = source.throughput,
        .on_demand = source.on_demand,
        .on_demand_ms = source.on_demand_ms,
        .table_class = source.table_class,
        .encrypted = source.encrypted,
        .key = source.key,
        .attributes = source.attributes,
        .restore_backup = restore->backup,
        .restore_table = restore->source->name,
        .restore_ms = restore->at_ms,
        .restore_model = restore->model,
    };
    if (restore->model.len > 0) {
        settings.ttl_attribute = source.ttl_attribute;
        settings.pitr_later = source.pitr_days;
    }
    if (overrides->billing_mode.ptr != NULL)
        settings.on_demand = slice_is(overrides->billing_mode, "PAY_PER_REQUEST");
    if (settings.on_demand && !source.on_demand) {
        settings.on_demand_ms = now_ms;
        throughput_to_on_demand(&settings.throughput);
    }
    if (overrides->provisioned_throughput != NULL || overrides->on_demand_throughput != NULL) {
        struct throughput_request wanted = {overrides->provisioned_throughput,
                                            overrides->on_demand_throughput, NULL};
        throughput_start(&settings.throughput, settings.on_demand, &wanted);
    }
    if (overrides->sse_specification != NULL) {
        settings.encrypted = spec_encrypts(overrides->sse_specification);
        settings.key = overrides->sse_specification->kms_master_key_id;
    }
    return set_index_throughput(overrides, table, settings.on_demand) &&
           table_settings_write(table, &settings);
}

static struct table *make_target(const struct restore *restore, int64_t now_ms)
{
    struct table *table = table_clone(restore->source);
    if (table == NULL)
        return NULL;
    table_forget_trees(table);
    choose_indexes(restore, table);
    table->status = TABLE_CREATING;
    table->name = arena_copy(&table->arena, restore->target);
    if (table->name.ptr == NULL || !set_settings(restore, table, now_ms)) {
        table_release(table);
        return NULL;
    }
    return table;
}

// Whether the source is still there, now that nothing can come in between.
static bool source_stands(const struct restore *restore, struct error *error)
{
    struct arena arena;
    bool backup = restore->backup.len > 0;
    arena_init(&arena, 1 << 16);
    struct slice name = backup ? backup_data_name(&arena, restore->backup) : restore->source->name;
    struct table *source = name.ptr == NULL ? NULL : engine_table(restore->engine, name);
    bool stands =
        source != NULL && (backup || (source->tree == restore->source->tree &&
                                      restore_has_past(restore->engine, source, restore->at_ms)));
    table_release(source);
    arena_release(&arena);
    if (stands)
        return true;
    if (backup)
        return error_set(error, ERR_BACKUP_NOT_FOUND, "Backup not found: %.*s",
                         SLICE_FMT(restore->backup));
    return error_set(error, ERR_TABLE_NOT_FOUND, "Table not found: %.*s",
                     SLICE_FMT(restore->source->name));
}

static bool restore_alter(void *context, struct table *current, struct table **next,
                          struct error *error)
{
    const struct restore *restore = context;
    if (current != NULL)
        return error_set(error, ERR_TABLE_EXISTS, "Table already exists: %.*s",
                         SLICE_FMT(restore->target));
    if (!source_stands(restore, error))
        return false;
    *next = make_target(restore, env_now(engine_env(restore->engine)));
    return *next != NULL || error_budget(error);
}

// ---- What both operations share ---------------------------------------------------

static enum step start_restore(struct api_call *call, struct restore *restore)
{
    struct table *existing = engine_table(call_engine(call), restore->target);
    if (existing != NULL) {
        table_release(existing);
        (void)error_set(&call->error, ERR_TABLE_EXISTS, "Table already exists: %.*s",
                        SLICE_FMT(restore->target));
        return STEP_FAILED;
    }
    if (!check_overrides(restore, &call->error))
        return STEP_FAILED;
    if (engine_table_count(call_engine(call)) >= LIMIT_TABLES)
        return step_failed(
            error_set(&call->error, ERR_LIMIT_EXCEEDED,
                      "Subscriber limit exceeded: The number of tables exceeds the limit of %d",
                      LIMIT_TABLES));
    restore->engine = call_engine(call);
    return call_alter(call, restore->target, restore_alter, restore);
}

static void finish_restore(struct api_call *call)
{
    restore_begin(call_shop(call), call->state->change->after);
    call_write_change(call, DESCRIBE_CREATED);
}

// Notes a table for release when the call ends.
static bool hold(struct api_call *call, struct table *table)
{
    struct held_table *held = table == NULL ? NULL : call_alloc(call, 1, sizeof(*held));
    if (held == NULL) {
        table_release(table);
        return error_budget(&call->error);
    }
    *held = (struct held_table){call->state->tables, table};
    call->state->tables = held;
    return true;
}

// ---- RestoreTableFromBackup -------------------------------------------------------

enum step restore_table_from_backup_start(struct api_call *call, const void *decoded)
{
    const struct restore_table_from_backup_request *request = decoded;
    struct restore *restore = call_alloc(call, 1, sizeof(*restore));
    struct backup backup;
    if (restore == NULL || !call_backup(call, request->backup_arn, &backup))
        return STEP_FAILED;
    if (backup.status == BACKUP_FAILED)
        return step_failed(error_set(&call->error, ERR_BACKUP_NOT_FOUND, "Backup not found: %.*s",
                                     SLICE_FMT(request->backup_arn)));
    if (backup.status == BACKUP_CREATING)
        return step_failed(error_set(&call->error, ERR_BACKUP_IN_USE,
                                     "Backup is being created: %.*s",
                                     SLICE_FMT(request->backup_arn)));
    *restore = (struct restore){
        .target = request->target_table_name,
        .source = table_decode(backup.source),
        .overrides = &request->overrides,
        .backup = backup.id,
        .at_ms = backup.created_ms,
    };
    // It may be older than the policies that the table has now.
    if (!hold(call, restore->source) || !call_check_policies_of(call, backup.table))
        return STEP_FAILED;
    restore->model = restore->source->model;
    return start_restore(call, restore);
}

void restore_table_from_backup_finish(struct api_call *call, const void *request)
{
    (void)request;
    finish_restore(call);
}

// ---- RestoreTableToPointInTime ----------------------------------------------------

static bool choose_time(struct api_call *call,
                        const struct restore_table_to_point_in_time_request *request,
                        const struct table_settings *settings, int64_t *at_ms)
{
    int64_t now_ms = engine_log_moment(call_engine(call));
    int64_t earliest = pitr_earliest_ms(settings, now_ms);
    if (request->use_latest_restorable_time.value) {
        if (request->restore_date_time.set)
            return error_validation(&call->error,
                                    INVALID "RestoreDateTime cannot be specified when "
                                            "UseLatestRestorableTime is true");
        *at_ms = now_ms;
        return true;
    }
    if (!request->restore_date_time.set)
        return error_validation(&call->error, INVALID "Either RestoreDateTime or "
                                                      "UseLatestRestorableTime must be specified");
    // Many clients send whole seconds: the one in which the past begins is meant as its beginning.
    double wanted = round(request->restore_date_time.value * 1000);
    bool whole = fmod(wanted, 1000) == 0;
    double least = (double)(whole ? earliest / 1000 * 1000 : earliest);
    if (!(wanted >= least) || wanted > (double)now_ms)
        return error_set(&call->error, ERR_INVALID_RESTORE_TIME,
                         "The restore time must be between EarliestRestorableDateTime and "
                         "LatestRestorableDateTime");
    *at_ms = (int64_t)wanted > earliest ? (int64_t)wanted : earliest;
    return true;
}

enum step restore_table_to_point_in_time_start(struct api_call *call, const void *decoded)
{
    const struct restore_table_to_point_in_time_request *request = decoded;
    struct restore *restore = call_alloc(call, 1, sizeof(*restore));
    if (restore == NULL)
        return STEP_FAILED;
    if ((request->source_table_arn.ptr == NULL) == (request->source_table_name.ptr == NULL))
        return step_failed(error_validation(&call->error,
                                            INVALID "Exactly one of SourceTableName and "
                                                    "SourceTableArn must be specified"));
    struct slice source = request->source_table_name.ptr != NULL ? request->source_table_name
                                                                 : request->source_table_arn;
    struct slice name = table_name_plain(source);
    struct table *table = table_name_hidden(name) ? NULL : engine_table(call_engine(call), name);
    if (table == NULL)
        return step_failed(
            error_set(&call->error, ERR_TABLE_NOT_FOUND, "Table not found: %.*s", SLICE_FMT(name)));
    if (!hold(call, table) || !call_check_policies(call, table))
        return STEP_FAILED;
    struct table_settings settings;
    if (!call_past_settings(call, table, &settings))
        return STEP_FAILED;
    *restore = (struct restore){
        .target = request->target_table_name, .source = table, .overrides = &request->overrides};
    if (!choose_time(call, request, &settings, &restore->at_ms) ||
        !model_of_time(call_engine(call), table, restore->at_ms, &call->arena, &restore->model,
                       &call->error))
        return STEP_FAILED;
    return start_restore(call, restore);
}

void restore_table_to_point_in_time_finish(struct api_call *call, const void *request)
{
    (void)request;
    finish_restore(call);
}
