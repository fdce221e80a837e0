// Auto scaling: DescribeTableReplicaAutoScaling and UpdateTableReplicaAutoScaling. The one replica
// of a table is the table itself, in the region of whoever asks.
//
// Kept in the table's settings: an M by "read", "write", "<index>/read" and "<index>/write" of
// M {min, max, role, policy: M {name, in, out, keep, target}}. What is absent is not scaled.
#include "control/autoscaling.h"

#include <stdio.h>
#include <stdlib.h>

enum { ENTRY_MAX = 300, TARGET_TEXT = 40 };

static const char default_role[] =
    "arn:aws:iam::000000000000:role/aws-service-role/dynamodb.application-autoscaling.amazonaws.com"
    "/AWSServiceRoleForApplicationAutoScaling_DynamoDBTable";

static struct slice entry_name(struct slice index, bool write, char text[ENTRY_MAX])
{
    int len = snprintf(text, ENTRY_MAX, "%.*s%s%s", SLICE_FMT(index), index.len > 0 ? "/" : "",
                       write ? "write" : "read");
    ensure(len > 0 && len < ENTRY_MAX);
    return slice_of(text, (size_t)len);
}

// ---- Changing -----------------------------------------------------------------------------------

static int64_t newer(struct field_int field, int64_t before)
{
    return field.set ? field.value : before;
}

static struct slice policy_make(struct arena *arena, const struct scaling_policy_update *update,
                                struct slice before, struct error *error)
{
    const struct scaling_target *target = update->target;
    char text[TARGET_TEXT];
    (void)snprintf(text, sizeof(text), "%.17g", target->target_value.value);
    struct value_maker maker;
    map_begin(&maker);
    map_put_text(&maker, "name",
                 update->policy_name.len > 0 ? update->policy_name : map_text(before, "name"));
    map_put_flag(&maker, "keep", target->disable_scale_in.value);
    map_put_integer(&maker, "in", target->scale_in_cooldown.value);
    map_put_integer(&maker, "out", target->scale_out_cooldown.value);
    map_put_text(&maker, "target", slice_str(text));
    return map_end(&maker, arena, error);
}

static bool limits_check(const struct table_settings *settings, int64_t min, int64_t max,
                         struct error *error)
{
    if (settings->on_demand)
        return error_validation(error, "One or more parameter values were invalid: auto scaling "
                                       "settings can not be set when BillingMode is "
                                       "PAY_PER_REQUEST");
    if (min == 0 || max == 0)
        return error_validation(error, "One or more parameter values were invalid: MinimumUnits "
                                       "and MaximumUnits must be specified to enable auto scaling");
    return min <= max ||
           error_validation(error,
                            "One or more parameter values were invalid: MinimumUnits (%lld) must "
                            "not be greater than MaximumUnits (%lld)",
                            (long long)min, (long long)max);
}

bool scaling_set(struct table *table, struct table_settings *settings, struct slice index,
                 bool write, const struct scaling_update *update, struct error *error)
{
    char text[ENTRY_MAX];
    struct slice name = entry_name(index, write, text);
    struct slice before = map_value(settings->scaling, name);
    if (update == NULL)
        return true;
    if (update->disabled.value)
        return map_set(&table->arena, &settings->scaling, name, VALUE_NONE, error);
    int64_t min = newer(update->minimum_units, map_integer(before, "min"));
    int64_t max = newer(update->maximum_units, map_integer(before, "max"));
    struct slice policy = map_value(before, SLICE_LIT("policy"));
    if (!limits_check(settings, min, max, error))
        return false;
    if (update->policy != NULL) {
        policy = policy_make(&table->arena, update->policy, policy, error);
        if (policy.ptr == NULL)
            return false;
    }
    struct value_maker maker;
    map_begin(&maker);
    map_put_integer(&maker, "min", min);
    map_put_integer(&maker, "max", max);
    map_put_text(&maker, "role",
                 update->role_arn.len > 0 ? update->role_arn : map_text(before, "role"));
    map_put_value(&maker, SLICE_LIT("policy"), policy);
    struct slice entry = map_end(&maker, &table->arena, error);
    return entry.ptr != NULL && map_set(&table->arena, &settings->scaling, name, entry, error);
}

// ---- Answering ---------------------------------------------------------------------------------

static void write_policy(struct json_writer *w, const struct table *table, struct slice index,
                         bool write, struct slice policy)
{
    struct slice name = map_text(policy, "name");
    char text[TARGET_TEXT] = "0";
    struct slice target = map_text(policy, "target");
    if (target.len < sizeof(text))
        memcpy(text, target.ptr, target.len);
    json_open_object(w);
    struct buf given;
    buf_init(&given, 1 << 16);
    if (name.len == 0)
        buf_printf(&given, "DynamoDB%sCapacityUtilization:table/%.*s%s%.*s",
                   write ? "Write" : "Read", SLICE_FMT(table->name), index.len > 0 ? "/index/" : "",
                   SLICE_FMT(index));
    json_put_string(w, "PolicyName", name.len > 0 ? name : buf_view(&given));
    buf_release(&given);
    json_put_object(w, "TargetTrackingScalingPolicyConfiguration");
    json_put_flag(w, "DisableScaleIn", map_flag(policy, "keep"));
    json_put_integer(w, "ScaleInCooldown", map_integer(policy, "in"));
    json_put_integer(w, "ScaleOutCooldown", map_integer(policy, "out"));
    json_name(w, "TargetValue");
    json_units(w, strtod(text, NULL));
    json_close_object(w);
    json_close_object(w);
}

void scaling_write(struct json_writer *w, const char *member, const struct table *table,
                   const struct table_settings *settings, struct slice index, bool write)
{
    char text[ENTRY_MAX];
    struct slice entry = map_value(settings->scaling, entry_name(index, write, text));
    json_put_object(w, member);
    json_put_flag(w, "AutoScalingDisabled", entry.len == 0);
    if (entry.len > 0) {
        struct slice role = map_text(entry, "role");
        struct slice policy = map_value(entry, SLICE_LIT("policy"));
        json_put_integer(w, "MinimumUnits", map_integer(entry, "min"));
        json_put_integer(w, "MaximumUnits", map_integer(entry, "max"));
        json_put_string(w, "AutoScalingRoleArn", role.len > 0 ? role : slice_str(default_role));
        json_put_array(w, "ScalingPolicies");
        if (policy.len > 0)
            write_policy(w, table, index, write, policy);
        json_close_array(w);
    }
    json_close_object(w);
}

static const char *index_status_text(const struct index *index)
{
    static const char *const names[] = {
        [INDEX_ACTIVE] = "ACTIVE", [INDEX_CREATING] = "CREATING", [INDEX_DELETING] = "DELETING"};
    return names[index->status];
}

static void write_replica(struct json_writer *w, const struct api_call *call,
                          const struct table *table, const struct table_settings *settings,
                          const char *status)
{
    const struct slice whole = {NULL, 0};
    json_form(w, "{'RegionName':%.*s,'GlobalSecondaryIndexes':[", SLICE_FMT(call->region));
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index *index = &table->indexes[i];
        if (!index->global)
            continue;
        json_open_object(w);
        json_put_string(w, "IndexName", index->name);
        json_put_text(w, "IndexStatus", index_status_text(index));
        scaling_write(w, "ProvisionedReadCapacityAutoScalingSettings", table, settings, index->name,
                      false);
        scaling_write(w, "ProvisionedWriteCapacityAutoScalingSettings", table, settings,
                      index->name, true);
        json_close_object(w);
    }
    json_close_array(w);
    scaling_write(w, "ReplicaProvisionedReadCapacityAutoScalingSettings", table, settings, whole,
                  false);
    scaling_write(w, "ReplicaProvisionedWriteCapacityAutoScalingSettings", table, settings, whole,
                  true);
    json_put_text(w, "ReplicaStatus", status);
    json_close_object(w);
}

static void write_description(struct api_call *call, const struct table *table, const char *status)
{
    struct table_settings settings;
    table_settings_read(table, &settings);
    struct json_writer w = call_open(call);
    json_put_object(&w, "TableAutoScalingDescription");
    json_put_string(&w, "TableName", table->name);
    json_put_text(&w, "TableStatus", status);
    json_put_array(&w, "Replicas");
    write_replica(&w, call, table, &settings, status);
    json_form(&w, "]}}");
}

// ---- Operations ---------------------------------------------------------------------------------

enum step describe_table_replica_auto_scaling_start(struct api_call *call, const void *request)
{
    const struct table_name_request *describe = request;
    struct table *table = call_own_table(call, describe->table_name);
    if (table == NULL)
        return STEP_FAILED;
    write_description(call, table, "ACTIVE");
    return STEP_READY;
}

struct scaling_change {
    const struct update_replica_scaling_request *request;
    struct slice region;
};

static bool index_updates(struct table *table, struct table_settings *settings,
                          const struct field_list *list, bool write, struct error *error)
{
    const struct index_scaling_update *rows = list->items;
    for (size_t i = 0; i < list->count; i++) {
        const struct index *index = table_index(table, rows[i].index_name);
        if (index == NULL || !index->global)
            return error_set(error, ERR_RESOURCE_NOT_FOUND,
                             "Requested resource not found: Index: %.*s not found",
                             SLICE_FMT(rows[i].index_name));
        if (!scaling_set(table, settings, index->name, write, rows[i].update, error))
            return false;
    }
    return true;
}

static bool scaling_edit(void *context, struct table *table, struct table_settings *settings,
                         struct error *error)
{
    const struct scaling_change *change = context;
    const struct update_replica_scaling_request *request = change->request;
    const struct replica_scaling_update *replicas = request->replicas.items;
    const struct slice whole = {NULL, 0};
    if (table == NULL)
        return table_not_found(error, table_name_plain(request->table_name));
    if (!scaling_set(table, settings, whole, true, request->write, error) ||
        !index_updates(table, settings, &request->indexes, true, error))
        return false;
    for (size_t i = 0; i < request->replicas.count; i++) {
        if (!slice_equal(replicas[i].region_name, change->region))
            return error_validation(error,
                                    "One or more parameter values were invalid: the table has no "
                                    "replica in region %.*s",
                                    SLICE_FMT(replicas[i].region_name));
        if (!scaling_set(table, settings, whole, false, replicas[i].read, error) ||
            !index_updates(table, settings, &replicas[i].indexes, false, error))
            return false;
    }
    return true;
}

enum step update_table_replica_auto_scaling_start(struct api_call *call, const void *request)
{
    struct scaling_change change = {request, call->region};
    if (change.request->write == NULL && change.request->indexes.count == 0 &&
        change.request->replicas.count == 0)
        return step_failed(error_validation(
            &call->error, "One or more parameter values were invalid: at least one of "
                          "GlobalSecondaryIndexUpdates, "
                          "ProvisionedWriteCapacityAutoScalingUpdate or ReplicaUpdates is "
                          "required"));
    return call_edit(call, table_name_plain(change.request->table_name), scaling_edit, &change,
                     sizeof(change));
}

void update_table_replica_auto_scaling_finish(struct api_call *call, const void *request)
{
    (void)request;
    write_description(call, call->state->change->after, "UPDATING");
}
