// The shapes of the control plane's requests. Lengths, patterns and enumerations are the service
// model's; see shapes_table.c for the order of rows.
#include "requests/shapes_internal.h"

// ---- Parts ------------------------------------------------------------------------------

static const char *const insights_actions[] = {"ENABLE", "DISABLE", NULL};
static const char *const insights_modes[] = {"ACCESSED_AND_THROTTLED_KEYS", "THROTTLED_KEYS", NULL};
static const char *const precisions[] = {"MILLISECOND", "MICROSECOND", NULL};
static const char *const billing_modes[] = {"PROVISIONED", "PAY_PER_REQUEST", NULL};
static const char *const table_classes[] = {"STANDARD", "STANDARD_INFREQUENT_ACCESS", NULL};

static const struct shape insights_action = ENUM_SHAPE(insights_actions);
static const struct shape insights_mode = ENUM_SHAPE(insights_modes);
static const struct shape precision = ENUM_SHAPE(precisions);
static const struct shape billing_mode = ENUM_SHAPE(billing_modes);
static const struct shape table_class = ENUM_SHAPE(table_classes);

static const struct shape resource_arn = STRING_SHAPE_RANGE(1, 1283);
static const struct shape revision_id = STRING_SHAPE_RANGE(1, 255);
static const struct shape stream_arn = STRING_SHAPE_RANGE(37, 1024);

// ---- Resource policies ------------------------------------------------------------------------

static const struct shape_member put_policy_rows[] = {
    REQUIRED(put_resource_policy_request, resource_arn, "ResourceArn", &resource_arn),
    REQUIRED(put_resource_policy_request, policy, "Policy", &shape_any_string),
    OPTIONAL(put_resource_policy_request, expected_revision_id, "ExpectedRevisionId", &revision_id),
    OPTIONAL(put_resource_policy_request, confirm_remove_self_resource_access,
             "ConfirmRemoveSelfResourceAccess", &shape_any_boolean),
};
const struct shape shape_put_resource_policy_request =
    STRUCT_SHAPE(put_resource_policy_request, "PutResourcePolicyInput", put_policy_rows);

static const struct shape_member delete_policy_rows[] = {
    REQUIRED(delete_resource_policy_request, resource_arn, "ResourceArn", &resource_arn),
    OPTIONAL(delete_resource_policy_request, expected_revision_id, "ExpectedRevisionId",
             &revision_id),
};
const struct shape shape_delete_resource_policy_request =
    STRUCT_SHAPE(delete_resource_policy_request, "DeleteResourcePolicyInput", delete_policy_rows);

static const struct shape_member get_policy_rows[] = {
    REQUIRED(get_resource_policy_request, resource_arn, "ResourceArn", &resource_arn),
};
const struct shape shape_get_resource_policy_request =
    STRUCT_SHAPE(get_resource_policy_request, "GetResourcePolicyInput", get_policy_rows);

// ---- Contributor Insights ----------------------------------------------------------------------

static const struct shape_member update_insights_rows[] = {
    REQUIRED(update_contributor_insights_request, table_name, "TableName", &shape_table_name),
    OPTIONAL(update_contributor_insights_request, index_name, "IndexName", &shape_plain_name),
    REQUIRED(update_contributor_insights_request, action, "ContributorInsightsAction",
             &insights_action),
    OPTIONAL(update_contributor_insights_request, mode, "ContributorInsightsMode", &insights_mode),
};
const struct shape shape_update_contributor_insights_request = STRUCT_SHAPE(
    update_contributor_insights_request, "UpdateContributorInsightsInput", update_insights_rows);

static const struct shape_member describe_insights_rows[] = {
    REQUIRED(describe_contributor_insights_request, table_name, "TableName", &shape_table_name),
    OPTIONAL(describe_contributor_insights_request, index_name, "IndexName", &shape_plain_name),
};
const struct shape shape_describe_contributor_insights_request =
    STRUCT_SHAPE(describe_contributor_insights_request, "DescribeContributorInsightsInput",
                 describe_insights_rows);

static const struct shape list_insights_limit = {
    .kind = SHAPE_INTEGER, .has_max = true, .max = 100};
static const struct shape_member list_insights_rows[] = {
    OPTIONAL(list_contributor_insights_request, table_name, "TableName", &shape_table_name),
    OPTIONAL(list_contributor_insights_request, next_token, "NextToken", &shape_any_string),
    OPTIONAL(list_contributor_insights_request, max_results, "MaxResults", &list_insights_limit),
};
const struct shape shape_list_contributor_insights_request = STRUCT_SHAPE(
    list_contributor_insights_request, "ListContributorInsightsInput", list_insights_rows);

// ---- Kinesis -----------------------------------------------------------------------------------

static const struct shape_member kinesis_configuration_rows[] = {
    OPTIONAL(kinesis_configuration, precision, "ApproximateCreationDateTimePrecision", &precision),
};
static const struct shape kinesis_configuration = STRUCT_SHAPE(
    kinesis_configuration, "EnableKinesisStreamingConfiguration", kinesis_configuration_rows);

static const struct shape_member kinesis_rows[] = {
    REQUIRED(kinesis_destination_request, table_name, "TableName", &shape_table_name),
    REQUIRED(kinesis_destination_request, stream_arn, "StreamArn", &stream_arn),
    OPTIONAL(kinesis_destination_request, configuration, "EnableKinesisStreamingConfiguration",
             &kinesis_configuration),
};
const struct shape shape_kinesis_destination_request =
    STRUCT_SHAPE(kinesis_destination_request, "KinesisStreamingDestinationInput", kinesis_rows);

static const struct shape_member update_kinesis_rows[] = {
    REQUIRED(kinesis_destination_request, table_name, "TableName", &shape_table_name),
    REQUIRED(kinesis_destination_request, stream_arn, "StreamArn", &stream_arn),
    OPTIONAL(kinesis_destination_request, configuration, "UpdateKinesisStreamingConfiguration",
             &kinesis_configuration),
};
const struct shape shape_update_kinesis_destination_request = STRUCT_SHAPE(
    kinesis_destination_request, "UpdateKinesisStreamingDestinationInput", update_kinesis_rows);

static const struct shape_member table_or_arn_rows[] = {
    REQUIRED(table_name_request, table_name, "TableName", &shape_table_name),
};
const struct shape shape_table_or_arn_request =
    STRUCT_SHAPE(table_name_request, "DescribeKinesisStreamingDestinationInput", table_or_arn_rows);

// ---- Auto scaling -----------------------------------------------------------------

static const struct shape any_double = {.kind = SHAPE_DOUBLE};
static const struct shape role_arn = STRING_SHAPE_RANGE(1, 1600);

static bool printable(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < 0x20 || text.ptr[i] == 0x7f)
            return false;
    return text.len > 0;
}

static const struct shape policy_name = {
    .kind = SHAPE_STRING,
    .has_min = true,
    .min = 1,
    .has_max = true,
    .max = 256,
    .pattern = "\\p{Print}+",
    .matches = printable,
};

static const struct shape_member scaling_target_rows[] = {
    OPTIONAL(scaling_target, disable_scale_in, "DisableScaleIn", &shape_any_boolean),
    OPTIONAL(scaling_target, scale_in_cooldown, "ScaleInCooldown", &shape_any_integer),
    OPTIONAL(scaling_target, scale_out_cooldown, "ScaleOutCooldown", &shape_any_integer),
    REQUIRED(scaling_target, target_value, "TargetValue", &any_double),
};
static const struct shape scaling_target =
    STRUCT_SHAPE(scaling_target, "AutoScalingTargetTrackingScalingPolicyConfigurationUpdate",
                 scaling_target_rows);

static const struct shape_member scaling_policy_rows[] = {
    OPTIONAL(scaling_policy_update, policy_name, "PolicyName", &policy_name),
    REQUIRED(scaling_policy_update, target, "TargetTrackingScalingPolicyConfiguration",
             &scaling_target),
};
static const struct shape scaling_policy =
    STRUCT_SHAPE(scaling_policy_update, "AutoScalingPolicyUpdate", scaling_policy_rows);

static const struct shape_member scaling_rows[] = {
    OPTIONAL(scaling_update, minimum_units, "MinimumUnits", &shape_positive_long),
    OPTIONAL(scaling_update, maximum_units, "MaximumUnits", &shape_positive_long),
    OPTIONAL(scaling_update, disabled, "AutoScalingDisabled", &shape_any_boolean),
    OPTIONAL(scaling_update, role_arn, "AutoScalingRoleArn", &role_arn),
    OPTIONAL(scaling_update, policy, "ScalingPolicyUpdate", &scaling_policy),
};
static const struct shape scaling =
    STRUCT_SHAPE(scaling_update, "AutoScalingSettingsUpdate", scaling_rows);

static const struct shape_member index_write_scaling_rows[] = {
    OPTIONAL(index_scaling_update, index_name, "IndexName", &shape_plain_name),
    OPTIONAL(index_scaling_update, update, "ProvisionedWriteCapacityAutoScalingUpdate", &scaling),
};
static const struct shape index_write_scaling = STRUCT_SHAPE(
    index_scaling_update, "GlobalSecondaryIndexAutoScalingUpdate", index_write_scaling_rows);
static const struct shape index_write_scalings = LIST_SHAPE_MIN(&index_write_scaling, 1);

static const struct shape_member index_read_scaling_rows[] = {
    OPTIONAL(index_scaling_update, index_name, "IndexName", &shape_plain_name),
    OPTIONAL(index_scaling_update, update, "ProvisionedReadCapacityAutoScalingUpdate", &scaling),
};
static const struct shape index_read_scaling = STRUCT_SHAPE(
    index_scaling_update, "ReplicaGlobalSecondaryIndexAutoScalingUpdate", index_read_scaling_rows);
static const struct shape index_read_scalings = LIST_SHAPE(&index_read_scaling);

static const struct shape_member replica_scaling_rows[] = {
    REQUIRED(replica_scaling_update, region_name, "RegionName", &shape_any_string),
    OPTIONAL(replica_scaling_update, indexes, "ReplicaGlobalSecondaryIndexUpdates",
             &index_read_scalings),
    OPTIONAL(replica_scaling_update, read, "ReplicaProvisionedReadCapacityAutoScalingUpdate",
             &scaling),
};
static const struct shape replica_scaling =
    STRUCT_SHAPE(replica_scaling_update, "ReplicaAutoScalingUpdate", replica_scaling_rows);
static const struct shape replica_scalings = LIST_SHAPE_MIN(&replica_scaling, 1);

static const struct shape_member update_scaling_rows[] = {
    OPTIONAL(update_replica_scaling_request, indexes, "GlobalSecondaryIndexUpdates",
             &index_write_scalings),
    REQUIRED(update_replica_scaling_request, table_name, "TableName", &shape_table_name),
    OPTIONAL(update_replica_scaling_request, write, "ProvisionedWriteCapacityAutoScalingUpdate",
             &scaling),
    OPTIONAL(update_replica_scaling_request, replicas, "ReplicaUpdates", &replica_scalings),
};
const struct shape shape_update_replica_scaling_request = STRUCT_SHAPE(
    update_replica_scaling_request, "UpdateTableReplicaAutoScalingInput", update_scaling_rows);

// ---- Global tables -----------------------------------------------------------------------------

static const struct shape_member replica_rows[] = {
    OPTIONAL(replica_request, region_name, "RegionName", &shape_any_string),
};
static const struct shape replica = STRUCT_SHAPE(replica_request, "Replica", replica_rows);
static const struct shape replicas = LIST_SHAPE(&replica);

static const struct shape_member create_global_rows[] = {
    REQUIRED(create_global_table_request, global_table_name, "GlobalTableName", &shape_plain_name),
    REQUIRED(create_global_table_request, replication_group, "ReplicationGroup", &replicas),
};
const struct shape shape_create_global_table_request =
    STRUCT_SHAPE(create_global_table_request, "CreateGlobalTableInput", create_global_rows);

static const struct shape_member global_name_rows[] = {
    REQUIRED(global_table_name_request, global_table_name, "GlobalTableName", &shape_plain_name),
};
const struct shape shape_global_table_name_request =
    STRUCT_SHAPE(global_table_name_request, "DescribeGlobalTableInput", global_name_rows);

static const struct shape_member list_global_rows[] = {
    OPTIONAL(list_global_tables_request, exclusive_start, "ExclusiveStartGlobalTableName",
             &shape_plain_name),
    OPTIONAL(list_global_tables_request, limit, "Limit", &shape_positive_integer),
    OPTIONAL(list_global_tables_request, region_name, "RegionName", &shape_any_string),
};
const struct shape shape_list_global_tables_request =
    STRUCT_SHAPE(list_global_tables_request, "ListGlobalTablesInput", list_global_rows);

static const struct shape_member replica_action_rows[] = {
    REQUIRED(replica_request, region_name, "RegionName", &shape_any_string),
};
static const struct shape replica_action =
    STRUCT_SHAPE(replica_request, "CreateReplicaAction", replica_action_rows);
static const struct shape_member replica_update_rows[] = {
    OPTIONAL(replica_update, create, "Create", &replica_action),
    OPTIONAL(replica_update, delete, "Delete", &replica_action),
};
static const struct shape replica_update =
    STRUCT_SHAPE(replica_update, "ReplicaUpdate", replica_update_rows);
static const struct shape replica_updates = LIST_SHAPE(&replica_update);

static const struct shape_member update_global_rows[] = {
    REQUIRED(update_global_table_request, global_table_name, "GlobalTableName", &shape_plain_name),
    REQUIRED(update_global_table_request, replica_updates, "ReplicaUpdates", &replica_updates),
};
const struct shape shape_update_global_table_request =
    STRUCT_SHAPE(update_global_table_request, "UpdateGlobalTableInput", update_global_rows);

static const struct shape_member index_write_rows[] = {
    REQUIRED(index_units_update, index_name, "IndexName", &shape_plain_name),
    OPTIONAL(index_units_update, units, "ProvisionedWriteCapacityUnits", &shape_positive_long),
    OPTIONAL(index_units_update, scaling, "ProvisionedWriteCapacityAutoScalingSettingsUpdate",
             &scaling),
};
static const struct shape index_write = STRUCT_SHAPE(
    index_units_update, "GlobalTableGlobalSecondaryIndexSettingsUpdate", index_write_rows);
static const struct shape index_writes = LIST_SHAPE_RANGE(&index_write, 1, 20);

static const struct shape_member index_read_rows[] = {
    REQUIRED(index_units_update, index_name, "IndexName", &shape_plain_name),
    OPTIONAL(index_units_update, units, "ProvisionedReadCapacityUnits", &shape_positive_long),
    OPTIONAL(index_units_update, scaling, "ProvisionedReadCapacityAutoScalingSettingsUpdate",
             &scaling),
};
static const struct shape index_read =
    STRUCT_SHAPE(index_units_update, "ReplicaGlobalSecondaryIndexSettingsUpdate", index_read_rows);
static const struct shape index_reads = LIST_SHAPE_RANGE(&index_read, 1, 20);

static const struct shape_member replica_settings_rows[] = {
    REQUIRED(replica_settings_update, region_name, "RegionName", &shape_any_string),
    OPTIONAL(replica_settings_update, read_units, "ReplicaProvisionedReadCapacityUnits",
             &shape_positive_long),
    OPTIONAL(replica_settings_update, read_scaling,
             "ReplicaProvisionedReadCapacityAutoScalingSettingsUpdate", &scaling),
    OPTIONAL(replica_settings_update, indexes, "ReplicaGlobalSecondaryIndexSettingsUpdate",
             &index_reads),
    OPTIONAL(replica_settings_update, table_class, "ReplicaTableClass", &table_class),
};
static const struct shape replica_settings =
    STRUCT_SHAPE(replica_settings_update, "ReplicaSettingsUpdate", replica_settings_rows);
static const struct shape replica_settings_list = LIST_SHAPE_RANGE(&replica_settings, 1, 50);

static const struct shape_member update_settings_rows[] = {
    REQUIRED(update_global_settings_request, global_table_name, "GlobalTableName",
             &shape_plain_name),
    OPTIONAL(update_global_settings_request, billing_mode, "GlobalTableBillingMode", &billing_mode),
    OPTIONAL(update_global_settings_request, write_units,
             "GlobalTableProvisionedWriteCapacityUnits", &shape_positive_long),
    OPTIONAL(update_global_settings_request, write_scaling,
             "GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate", &scaling),
    OPTIONAL(update_global_settings_request, indexes,
             "GlobalTableGlobalSecondaryIndexSettingsUpdate", &index_writes),
    OPTIONAL(update_global_settings_request, replicas, "ReplicaSettingsUpdate",
             &replica_settings_list),
};
const struct shape shape_update_global_settings_request = STRUCT_SHAPE(
    update_global_settings_request, "UpdateGlobalTableSettingsInput", update_settings_rows);

// ---- Bulk operations ---------------------------------------------------------------------------

static const char *const bulk_formats[] = {"DYNAMODB_JSON", "ION", NULL};
static const char *const compressions[] = {"GZIP", "ZSTD", "NONE", NULL};
static const char *const sse_algorithms[] = {"AES256", "KMS", NULL};
static const char *const output_types[] = {"ERROR", "CONDITION_CHECK_FAILURE", NULL};
static const char *const tiers[] = {"STANDARD", "ACCELERATED", NULL};
static const struct shape bulk_format = ENUM_SHAPE(bulk_formats);
static const struct shape compression = ENUM_SHAPE(compressions);
static const struct shape sse_algorithm = ENUM_SHAPE(sse_algorithms);
static const struct shape output_type = ENUM_SHAPE(output_types);
static const struct shape output_type_list = LIST_SHAPE(&output_type);
static const struct shape tier = ENUM_SHAPE(tiers);
static const struct shape bulk_units = {.kind = SHAPE_LONG, .has_min = true, .min = 1024};
// As with exports: a bucket is a directory, and its name must be nothing else.
static bool bulk_bucket_matches(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool inner = c == '.' || c == '-' || c == '_';
        if (!word && (!inner || i == 0 || i == text.len - 1))
            return false;
    }
    return text.len >= 2;
}

static const struct shape bulk_bucket = {
    .kind = SHAPE_STRING,
    .has_max = true,
    .max = 255,
    .pattern = "^[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+$",
    .matches = bulk_bucket_matches,
};
static const struct shape bulk_prefix = {.kind = SHAPE_STRING, .has_max = true, .max = 1024};
static const struct shape bulk_arn = STRING_SHAPE_RANGE(1, 1024);
static const struct shape bulk_list_limit = {
    .kind = SHAPE_INTEGER, .has_min = true, .min = 1, .has_max = true, .max = 100};

static const struct shape_member bulk_operation_rows[] = {
    REQUIRED(bulk_operation_request, bulk_operation_arn, "BulkOperationArn", &bulk_arn),
};
const struct shape shape_bulk_operation_request =
    STRUCT_SHAPE(bulk_operation_request, "DescribeBulkOperationInput", bulk_operation_rows);

static const struct shape_member list_bulk_rows[] = {
    OPTIONAL(list_bulk_operations_request, max_results, "MaxResults", &bulk_list_limit),
    OPTIONAL(list_bulk_operations_request, next_token, "NextToken", &shape_any_string),
};
const struct shape shape_list_bulk_operations_request =
    STRUCT_SHAPE(list_bulk_operations_request, "ListBulkOperationsInput", list_bulk_rows);

static const struct shape_member bulk_input_rows[] = {
    REQUIRED(bulk_input, bucket, "S3Bucket", &bulk_bucket),
    OPTIONAL(bulk_input, bucket_owner, "S3BucketOwner", &shape_any_string),
    OPTIONAL(bulk_input, key_prefix, "S3KeyPrefix", &bulk_prefix),
    REQUIRED(bulk_input, format, "InputFormat", &bulk_format),
    OPTIONAL(bulk_input, compression, "InputCompressionType", &compression),
};
static const struct shape bulk_input =
    STRUCT_SHAPE(bulk_input, "InputS3Configuration", bulk_input_rows);

static const struct shape_member bulk_output_rows[] = {
    REQUIRED(bulk_output, bucket, "S3Bucket", &bulk_bucket),
    OPTIONAL(bulk_output, bucket_owner, "S3BucketOwner", &shape_any_string),
    OPTIONAL(bulk_output, key_prefix, "S3KeyPrefix", &bulk_prefix),
    OPTIONAL(bulk_output, sse_algorithm, "S3SseAlgorithm", &sse_algorithm),
    OPTIONAL(bulk_output, sse_key, "S3SseKmsKeyId", &shape_any_string),
    REQUIRED(bulk_output, types, "OutputType", &output_type_list),
};
static const struct shape bulk_output =
    STRUCT_SHAPE(bulk_output, "OutputS3Configuration", bulk_output_rows);

static const struct shape_member start_bulk_rows[] = {
    OPTIONAL(start_bulk_put_items_request, client_token, "ClientToken", &shape_any_string),
    REQUIRED(start_bulk_put_items_request, input, "InputS3Configuration", &bulk_input),
    REQUIRED(start_bulk_put_items_request, output, "OutputS3Configuration", &bulk_output),
    REQUIRED(start_bulk_put_items_request, table_name, "TableName", &shape_table_name),
    OPTIONAL(start_bulk_put_items_request, max_write_request_units, "MaxWriteRequestUnits",
             &bulk_units),
    OPTIONAL(start_bulk_put_items_request, performance_tier, "PerformanceTier", &tier),
};
const struct shape shape_start_bulk_put_items_request =
    STRUCT_SHAPE(start_bulk_put_items_request, "StartBulkPutItemsInput", start_bulk_rows);
