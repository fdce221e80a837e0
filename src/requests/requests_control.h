// The requests of the control plane: policies, insights, Kinesis, global tables, auto scaling and
// bulk operations. Absent members are as in requests.h.
#ifndef REQUESTS_REQUESTS_CONTROL_H
#define REQUESTS_REQUESTS_CONTROL_H

#include "requests/requests.h"

// ---- Resource policies ------------------------------------------------------------------------

#define PUT_RESOURCE_POLICY_REQUEST(X, T)                                                          \
    X(T, REQUIRED, struct slice, resource_arn, "ResourceArn", resource_arn)                        \
    X(T, REQUIRED, struct slice, policy, "Policy", shape_any_string)                               \
    X(T, OPTIONAL, struct slice, expected_revision_id, "ExpectedRevisionId", revision_id)          \
    X(T, OPTIONAL, struct field_bool, confirm_remove_self_resource_access,                         \
      "ConfirmRemoveSelfResourceAccess", shape_any_boolean)
REQUEST_STRUCT(put_resource_policy_request, PUT_RESOURCE_POLICY_REQUEST);

#define DELETE_RESOURCE_POLICY_REQUEST(X, T)                                                       \
    X(T, REQUIRED, struct slice, resource_arn, "ResourceArn", resource_arn)                        \
    X(T, OPTIONAL, struct slice, expected_revision_id, "ExpectedRevisionId", revision_id)
REQUEST_STRUCT(delete_resource_policy_request, DELETE_RESOURCE_POLICY_REQUEST);

#define GET_RESOURCE_POLICY_REQUEST(X, T)                                                          \
    X(T, REQUIRED, struct slice, resource_arn, "ResourceArn", resource_arn)
REQUEST_STRUCT(get_resource_policy_request, GET_RESOURCE_POLICY_REQUEST);

// ---- Contributor Insights ----------------------------------------------------------------------

#define UPDATE_CONTRIBUTOR_INSIGHTS_REQUEST(X, T)                                                  \
    X(T, REQUIRED, struct slice, table_name, "TableName", shape_table_name)                        \
    X(T, OPTIONAL, struct slice, index_name, "IndexName", shape_plain_name)                        \
    X(T, REQUIRED, struct slice, action, "ContributorInsightsAction", insights_action)             \
    X(T, OPTIONAL, struct slice, mode, "ContributorInsightsMode", insights_mode)
REQUEST_STRUCT(update_contributor_insights_request, UPDATE_CONTRIBUTOR_INSIGHTS_REQUEST);

#define DESCRIBE_CONTRIBUTOR_INSIGHTS_REQUEST(X, T)                                                \
    X(T, REQUIRED, struct slice, table_name, "TableName", shape_table_name)                        \
    X(T, OPTIONAL, struct slice, index_name, "IndexName", shape_plain_name)
REQUEST_STRUCT(describe_contributor_insights_request, DESCRIBE_CONTRIBUTOR_INSIGHTS_REQUEST);

#define LIST_CONTRIBUTOR_INSIGHTS_REQUEST(X, T)                                                    \
    X(T, OPTIONAL, struct slice, table_name, "TableName", shape_table_name)                        \
    X(T, OPTIONAL, struct slice, next_token, "NextToken", shape_any_string)                        \
    X(T, OPTIONAL, struct field_int, max_results, "MaxResults", list_insights_limit)
REQUEST_STRUCT(list_contributor_insights_request, LIST_CONTRIBUTOR_INSIGHTS_REQUEST);

// ---- Kinesis -----------------------------------------------------------------------------------

#define KINESIS_CONFIGURATION(X, T)                                                                \
    X(T, OPTIONAL, struct slice, precision, "ApproximateCreationDateTimePrecision",                \
      precision) /* ApproximateCreationDateTimePrecision */
REQUEST_STRUCT(kinesis_configuration, KINESIS_CONFIGURATION);

// Enable and Disable have the same members; Update names its configuration differently.
struct kinesis_destination_request {
    struct slice table_name;
    struct slice stream_arn;
    struct kinesis_configuration *configuration;
};

// ---- Auto scaling -----------------------------------------------------------------

#define SCALING_TARGET(X, T)                                                                       \
    X(T, OPTIONAL, struct field_bool, disable_scale_in, "DisableScaleIn", shape_any_boolean)       \
    X(T, OPTIONAL, struct field_int, scale_in_cooldown, "ScaleInCooldown", shape_any_integer)      \
    X(T, OPTIONAL, struct field_int, scale_out_cooldown, "ScaleOutCooldown", shape_any_integer)    \
    X(T, REQUIRED, struct field_double, target_value, "TargetValue", any_double)
REQUEST_STRUCT(scaling_target, SCALING_TARGET);

#define SCALING_POLICY_UPDATE(X, T)                                                                \
    X(T, OPTIONAL, struct slice, policy_name, "PolicyName", policy_name)                           \
    X(T, REQUIRED, struct scaling_target *, target, "TargetTrackingScalingPolicyConfiguration",    \
      scaling_target)
REQUEST_STRUCT(scaling_policy_update, SCALING_POLICY_UPDATE);

#define SCALING_UPDATE(X, T)                                                                       \
    X(T, OPTIONAL, struct field_int, minimum_units, "MinimumUnits", shape_positive_long)           \
    X(T, OPTIONAL, struct field_int, maximum_units, "MaximumUnits", shape_positive_long)           \
    X(T, OPTIONAL, struct field_bool, disabled, "AutoScalingDisabled", shape_any_boolean)          \
    X(T, OPTIONAL, struct slice, role_arn, "AutoScalingRoleArn", role_arn)                         \
    X(T, OPTIONAL, struct scaling_policy_update *, policy, "ScalingPolicyUpdate", scaling_policy)
REQUEST_STRUCT(scaling_update, SCALING_UPDATE);

struct index_scaling_update {
    struct slice index_name;
    struct scaling_update *update; // of reads in a replica, else of writes
};

#define REPLICA_SCALING_UPDATE(X, T)                                                               \
    X(T, REQUIRED, struct slice, region_name, "RegionName", shape_any_string)                      \
    X(T, OPTIONAL, struct field_list, indexes, "ReplicaGlobalSecondaryIndexUpdates",               \
      index_read_scalings) /* struct index_scaling_update */                                       \
    X(T, OPTIONAL, struct scaling_update *, read,                                                  \
      "ReplicaProvisionedReadCapacityAutoScalingUpdate", scaling)
REQUEST_STRUCT(replica_scaling_update, REPLICA_SCALING_UPDATE);

#define UPDATE_REPLICA_SCALING_REQUEST(X, T)                                                       \
    X(T, OPTIONAL, struct field_list, indexes, "GlobalSecondaryIndexUpdates",                      \
      index_write_scalings) /* struct index_scaling_update */                                      \
    X(T, REQUIRED, struct slice, table_name, "TableName", shape_table_name)                        \
    X(T, OPTIONAL, struct scaling_update *, write, "ProvisionedWriteCapacityAutoScalingUpdate",    \
      scaling)                                                                                     \
    X(T, OPTIONAL, struct field_list, replicas, "ReplicaUpdates",                                  \
      replica_scalings) /* struct replica_scaling_update */
REQUEST_STRUCT(update_replica_scaling_request, UPDATE_REPLICA_SCALING_REQUEST);

// ---- Global tables, version 2017 -------------------------------------------------------------

struct replica_request {
    struct slice region_name;
};

#define CREATE_GLOBAL_TABLE_REQUEST(X, T)                                                          \
    X(T, REQUIRED, struct slice, global_table_name, "GlobalTableName", shape_plain_name)           \
    X(T, REQUIRED, struct field_list, replication_group, "ReplicationGroup",                       \
      replicas) /* struct replica_request */
REQUEST_STRUCT(create_global_table_request, CREATE_GLOBAL_TABLE_REQUEST);

#define GLOBAL_TABLE_NAME_REQUEST(X, T)                                                            \
    X(T, REQUIRED, struct slice, global_table_name, "GlobalTableName", shape_plain_name)
REQUEST_STRUCT(global_table_name_request, GLOBAL_TABLE_NAME_REQUEST);

#define LIST_GLOBAL_TABLES_REQUEST(X, T)                                                           \
    X(T, OPTIONAL, struct slice, exclusive_start, "ExclusiveStartGlobalTableName",                 \
      shape_plain_name)                                                                            \
    X(T, OPTIONAL, struct field_int, limit, "Limit", shape_positive_integer)                       \
    X(T, OPTIONAL, struct slice, region_name, "RegionName", shape_any_string)
REQUEST_STRUCT(list_global_tables_request, LIST_GLOBAL_TABLES_REQUEST);

#define REPLICA_UPDATE(X, T)                                                                       \
    X(T, OPTIONAL, struct replica_request *, create, "Create", replica_action)                     \
    X(T, OPTIONAL, struct replica_request *, delete, "Delete", replica_action)
REQUEST_STRUCT(replica_update, REPLICA_UPDATE);

#define UPDATE_GLOBAL_TABLE_REQUEST(X, T)                                                          \
    X(T, REQUIRED, struct slice, global_table_name, "GlobalTableName", shape_plain_name)           \
    X(T, REQUIRED, struct field_list, replica_updates, "ReplicaUpdates",                           \
      replica_updates) /* struct replica_update */
REQUEST_STRUCT(update_global_table_request, UPDATE_GLOBAL_TABLE_REQUEST);

// Settings of an index: of all replicas (write), or of one (read).
struct index_units_update {
    struct slice index_name;
    struct field_int units;
    struct scaling_update *scaling;
};

#define REPLICA_SETTINGS_UPDATE(X, T)                                                              \
    X(T, REQUIRED, struct slice, region_name, "RegionName", shape_any_string)                      \
    X(T, OPTIONAL, struct field_int, read_units, "ReplicaProvisionedReadCapacityUnits",            \
      shape_positive_long)                                                                         \
    X(T, OPTIONAL, struct scaling_update *, read_scaling,                                          \
      "ReplicaProvisionedReadCapacityAutoScalingSettingsUpdate", scaling)                          \
    X(T, OPTIONAL, struct field_list, indexes, "ReplicaGlobalSecondaryIndexSettingsUpdate",        \
      index_reads) /* struct index_units_update */                                                 \
    X(T, OPTIONAL, struct slice, table_class, "ReplicaTableClass", table_class)
REQUEST_STRUCT(replica_settings_update, REPLICA_SETTINGS_UPDATE);

#define UPDATE_GLOBAL_SETTINGS_REQUEST(X, T)                                                       \
    X(T, REQUIRED, struct slice, global_table_name, "GlobalTableName", shape_plain_name)           \
    X(T, OPTIONAL, struct slice, billing_mode, "GlobalTableBillingMode", billing_mode)             \
    X(T, OPTIONAL, struct field_int, write_units, "GlobalTableProvisionedWriteCapacityUnits",      \
      shape_positive_long)                                                                         \
    X(T, OPTIONAL, struct scaling_update *, write_scaling,                                         \
      "GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate", scaling)                     \
    X(T, OPTIONAL, struct field_list, indexes, "GlobalTableGlobalSecondaryIndexSettingsUpdate",    \
      index_writes) /* struct index_units_update */                                                \
    X(T, OPTIONAL, struct field_list, replicas, "ReplicaSettingsUpdate",                           \
      replica_settings_list) /* struct replica_settings_update */
REQUEST_STRUCT(update_global_settings_request, UPDATE_GLOBAL_SETTINGS_REQUEST);

// ---- Bulk operations ---------------------------------------------------------------------------

// DescribeBulkOperation and CancelBulkOperation.
#define BULK_OPERATION_REQUEST(X, T)                                                               \
    X(T, REQUIRED, struct slice, bulk_operation_arn, "BulkOperationArn", bulk_arn)
REQUEST_STRUCT(bulk_operation_request, BULK_OPERATION_REQUEST);

#define LIST_BULK_OPERATIONS_REQUEST(X, T)                                                         \
    X(T, OPTIONAL, struct field_int, max_results, "MaxResults", bulk_list_limit)                   \
    X(T, OPTIONAL, struct slice, next_token, "NextToken", shape_any_string)
REQUEST_STRUCT(list_bulk_operations_request, LIST_BULK_OPERATIONS_REQUEST);

#define BULK_INPUT(X, T)                                                                           \
    X(T, REQUIRED, struct slice, bucket, "S3Bucket", bulk_bucket)                                  \
    X(T, OPTIONAL, struct slice, bucket_owner, "S3BucketOwner", shape_any_string)                  \
    X(T, OPTIONAL, struct slice, key_prefix, "S3KeyPrefix", bulk_prefix)                           \
    X(T, REQUIRED, struct slice, format, "InputFormat", bulk_format)                               \
    X(T, OPTIONAL, struct slice, compression, "InputCompressionType", compression)
REQUEST_STRUCT(bulk_input, BULK_INPUT);

#define BULK_OUTPUT(X, T)                                                                          \
    X(T, REQUIRED, struct slice, bucket, "S3Bucket", bulk_bucket)                                  \
    X(T, OPTIONAL, struct slice, bucket_owner, "S3BucketOwner", shape_any_string)                  \
    X(T, OPTIONAL, struct slice, key_prefix, "S3KeyPrefix", bulk_prefix)                           \
    X(T, OPTIONAL, struct slice, sse_algorithm, "S3SseAlgorithm", sse_algorithm)                   \
    X(T, OPTIONAL, struct slice, sse_key, "S3SseKmsKeyId", shape_any_string)                       \
    X(T, REQUIRED, struct field_list, types, "OutputType", output_type_list) /* struct slice */
REQUEST_STRUCT(bulk_output, BULK_OUTPUT);

#define START_BULK_PUT_ITEMS_REQUEST(X, T)                                                         \
    X(T, OPTIONAL, struct slice, client_token, "ClientToken", shape_any_string)                    \
    X(T, REQUIRED, struct bulk_input *, input, "InputS3Configuration", bulk_input)                 \
    X(T, REQUIRED, struct bulk_output *, output, "OutputS3Configuration", bulk_output)             \
    X(T, REQUIRED, struct slice, table_name, "TableName", shape_table_name)                        \
    X(T, OPTIONAL, struct field_int, max_write_request_units, "MaxWriteRequestUnits", bulk_units)  \
    X(T, OPTIONAL, struct slice, performance_tier, "PerformanceTier", tier)
REQUEST_STRUCT(start_bulk_put_items_request, START_BULK_PUT_ITEMS_REQUEST);

extern const struct shape shape_bulk_operation_request;
extern const struct shape shape_list_bulk_operations_request;
extern const struct shape shape_start_bulk_put_items_request;
extern const struct shape shape_put_resource_policy_request;
extern const struct shape shape_delete_resource_policy_request;
extern const struct shape shape_get_resource_policy_request;
extern const struct shape shape_update_contributor_insights_request;
extern const struct shape shape_describe_contributor_insights_request;
extern const struct shape shape_list_contributor_insights_request;
extern const struct shape shape_kinesis_destination_request;
extern const struct shape shape_update_kinesis_destination_request;
// DescribeKinesisStreamingDestination and DescribeTableReplicaAutoScaling.
extern const struct shape shape_table_or_arn_request;
extern const struct shape shape_update_replica_scaling_request;
extern const struct shape shape_create_global_table_request;
extern const struct shape shape_global_table_name_request;
extern const struct shape shape_list_global_tables_request;
extern const struct shape shape_update_global_table_request;
extern const struct shape shape_update_global_settings_request;

#endif
