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

REQUEST_ROWS(put_resource_policy_request, PUT_RESOURCE_POLICY_REQUEST);
const struct shape shape_put_resource_policy_request =
    REQUEST_SHAPE(put_resource_policy_request, "PutResourcePolicyInput");

REQUEST_ROWS(delete_resource_policy_request, DELETE_RESOURCE_POLICY_REQUEST);
const struct shape shape_delete_resource_policy_request =
    REQUEST_SHAPE(delete_resource_policy_request, "DeleteResourcePolicyInput");

REQUEST_ROWS(get_resource_policy_request, GET_RESOURCE_POLICY_REQUEST);
const struct shape shape_get_resource_policy_request =
    REQUEST_SHAPE(get_resource_policy_request, "GetResourcePolicyInput");

// ---- Contributor Insights ----------------------------------------------------------------------

REQUEST_ROWS(update_contributor_insights_request, UPDATE_CONTRIBUTOR_INSIGHTS_REQUEST);
const struct shape shape_update_contributor_insights_request =
    REQUEST_SHAPE(update_contributor_insights_request, "UpdateContributorInsightsInput");

REQUEST_ROWS(describe_contributor_insights_request, DESCRIBE_CONTRIBUTOR_INSIGHTS_REQUEST);
const struct shape shape_describe_contributor_insights_request =
    REQUEST_SHAPE(describe_contributor_insights_request, "DescribeContributorInsightsInput");

static const struct shape list_insights_limit = {
    .kind = SHAPE_INTEGER, .has_max = true, .max = 100};
REQUEST_ROWS(list_contributor_insights_request, LIST_CONTRIBUTOR_INSIGHTS_REQUEST);
const struct shape shape_list_contributor_insights_request =
    REQUEST_SHAPE(list_contributor_insights_request, "ListContributorInsightsInput");

// ---- Kinesis -----------------------------------------------------------------------------------

REQUEST_ROWS(kinesis_configuration, KINESIS_CONFIGURATION);
static const struct shape kinesis_configuration =
    REQUEST_SHAPE(kinesis_configuration, "EnableKinesisStreamingConfiguration");

static const struct shape_member kinesis_rows[] = {
    SHAPE_ROW(kinesis_destination_request, REQUIRED, table_name, "TableName", shape_table_name),
    SHAPE_ROW(kinesis_destination_request, REQUIRED, stream_arn, "StreamArn", stream_arn),
    SHAPE_ROW(kinesis_destination_request, OPTIONAL, configuration,
              "EnableKinesisStreamingConfiguration", kinesis_configuration),
};
const struct shape shape_kinesis_destination_request =
    STRUCT_SHAPE(kinesis_destination_request, "KinesisStreamingDestinationInput", kinesis_rows);

static const struct shape_member update_kinesis_rows[] = {
    SHAPE_ROW(kinesis_destination_request, REQUIRED, table_name, "TableName", shape_table_name),
    SHAPE_ROW(kinesis_destination_request, REQUIRED, stream_arn, "StreamArn", stream_arn),
    SHAPE_ROW(kinesis_destination_request, OPTIONAL, configuration,
              "UpdateKinesisStreamingConfiguration", kinesis_configuration),
};
const struct shape shape_update_kinesis_destination_request = STRUCT_SHAPE(
    kinesis_destination_request, "UpdateKinesisStreamingDestinationInput", update_kinesis_rows);

static const struct shape_member table_or_arn_rows[] = {
    SHAPE_ROW(table_name_request, REQUIRED, table_name, "TableName", shape_table_name),
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

REQUEST_ROWS(scaling_target, SCALING_TARGET);
static const struct shape scaling_target =
    REQUEST_SHAPE(scaling_target, "AutoScalingTargetTrackingScalingPolicyConfigurationUpdate");

REQUEST_ROWS(scaling_policy_update, SCALING_POLICY_UPDATE);
static const struct shape scaling_policy =
    REQUEST_SHAPE(scaling_policy_update, "AutoScalingPolicyUpdate");

REQUEST_ROWS(scaling_update, SCALING_UPDATE);
static const struct shape scaling = REQUEST_SHAPE(scaling_update, "AutoScalingSettingsUpdate");

static const struct shape_member index_write_scaling_rows[] = {
    SHAPE_ROW(index_scaling_update, OPTIONAL, index_name, "IndexName", shape_plain_name),
    SHAPE_ROW(index_scaling_update, OPTIONAL, update, "ProvisionedWriteCapacityAutoScalingUpdate",
              scaling),
};
static const struct shape index_write_scaling = STRUCT_SHAPE(
    index_scaling_update, "GlobalSecondaryIndexAutoScalingUpdate", index_write_scaling_rows);
static const struct shape index_write_scalings = LIST_SHAPE_MIN(&index_write_scaling, 1);

static const struct shape_member index_read_scaling_rows[] = {
    SHAPE_ROW(index_scaling_update, OPTIONAL, index_name, "IndexName", shape_plain_name),
    SHAPE_ROW(index_scaling_update, OPTIONAL, update, "ProvisionedReadCapacityAutoScalingUpdate",
              scaling),
};
static const struct shape index_read_scaling = STRUCT_SHAPE(
    index_scaling_update, "ReplicaGlobalSecondaryIndexAutoScalingUpdate", index_read_scaling_rows);
static const struct shape index_read_scalings = LIST_SHAPE(&index_read_scaling);

REQUEST_ROWS(replica_scaling_update, REPLICA_SCALING_UPDATE);
static const struct shape replica_scaling =
    REQUEST_SHAPE(replica_scaling_update, "ReplicaAutoScalingUpdate");
static const struct shape replica_scalings = LIST_SHAPE_MIN(&replica_scaling, 1);

REQUEST_ROWS(update_replica_scaling_request, UPDATE_REPLICA_SCALING_REQUEST);
const struct shape shape_update_replica_scaling_request =
    REQUEST_SHAPE(update_replica_scaling_request, "UpdateTableReplicaAutoScalingInput");

// ---- Global tables -----------------------------------------------------------------------------

static const struct shape_member replica_rows[] = {
    SHAPE_ROW(replica_request, OPTIONAL, region_name, "RegionName", shape_any_string),
};
static const struct shape replica = STRUCT_SHAPE(replica_request, "Replica", replica_rows);
static const struct shape replicas = LIST_SHAPE(&replica);

REQUEST_ROWS(create_global_table_request, CREATE_GLOBAL_TABLE_REQUEST);
const struct shape shape_create_global_table_request =
    REQUEST_SHAPE(create_global_table_request, "CreateGlobalTableInput");

REQUEST_ROWS(global_table_name_request, GLOBAL_TABLE_NAME_REQUEST);
const struct shape shape_global_table_name_request =
    REQUEST_SHAPE(global_table_name_request, "DescribeGlobalTableInput");

REQUEST_ROWS(list_global_tables_request, LIST_GLOBAL_TABLES_REQUEST);
const struct shape shape_list_global_tables_request =
    REQUEST_SHAPE(list_global_tables_request, "ListGlobalTablesInput");

static const struct shape_member replica_action_rows[] = {
    SHAPE_ROW(replica_request, REQUIRED, region_name, "RegionName", shape_any_string),
};
static const struct shape replica_action =
    STRUCT_SHAPE(replica_request, "CreateReplicaAction", replica_action_rows);
REQUEST_ROWS(replica_update, REPLICA_UPDATE);
static const struct shape replica_update = REQUEST_SHAPE(replica_update, "ReplicaUpdate");
static const struct shape replica_updates = LIST_SHAPE(&replica_update);

REQUEST_ROWS(update_global_table_request, UPDATE_GLOBAL_TABLE_REQUEST);
const struct shape shape_update_global_table_request =
    REQUEST_SHAPE(update_global_table_request, "UpdateGlobalTableInput");

static const struct shape_member index_write_rows[] = {
    SHAPE_ROW(index_units_update, REQUIRED, index_name, "IndexName", shape_plain_name),
    SHAPE_ROW(index_units_update, OPTIONAL, units, "ProvisionedWriteCapacityUnits",
              shape_positive_long),
    SHAPE_ROW(index_units_update, OPTIONAL, scaling,
              "ProvisionedWriteCapacityAutoScalingSettingsUpdate", scaling),
};
static const struct shape index_write = STRUCT_SHAPE(
    index_units_update, "GlobalTableGlobalSecondaryIndexSettingsUpdate", index_write_rows);
static const struct shape index_writes = LIST_SHAPE_RANGE(&index_write, 1, 20);

static const struct shape_member index_read_rows[] = {
    SHAPE_ROW(index_units_update, REQUIRED, index_name, "IndexName", shape_plain_name),
    SHAPE_ROW(index_units_update, OPTIONAL, units, "ProvisionedReadCapacityUnits",
              shape_positive_long),
    SHAPE_ROW(index_units_update, OPTIONAL, scaling,
              "ProvisionedReadCapacityAutoScalingSettingsUpdate", scaling),
};
static const struct shape index_read =
    STRUCT_SHAPE(index_units_update, "ReplicaGlobalSecondaryIndexSettingsUpdate", index_read_rows);
static const struct shape index_reads = LIST_SHAPE_RANGE(&index_read, 1, 20);

REQUEST_ROWS(replica_settings_update, REPLICA_SETTINGS_UPDATE);
static const struct shape replica_settings =
    REQUEST_SHAPE(replica_settings_update, "ReplicaSettingsUpdate");
static const struct shape replica_settings_list = LIST_SHAPE_RANGE(&replica_settings, 1, 50);

REQUEST_ROWS(update_global_settings_request, UPDATE_GLOBAL_SETTINGS_REQUEST);
const struct shape shape_update_global_settings_request =
    REQUEST_SHAPE(update_global_settings_request, "UpdateGlobalTableSettingsInput");

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

REQUEST_ROWS(bulk_operation_request, BULK_OPERATION_REQUEST);
const struct shape shape_bulk_operation_request =
    REQUEST_SHAPE(bulk_operation_request, "DescribeBulkOperationInput");

REQUEST_ROWS(list_bulk_operations_request, LIST_BULK_OPERATIONS_REQUEST);
const struct shape shape_list_bulk_operations_request =
    REQUEST_SHAPE(list_bulk_operations_request, "ListBulkOperationsInput");

REQUEST_ROWS(bulk_input, BULK_INPUT);
static const struct shape bulk_input = REQUEST_SHAPE(bulk_input, "InputS3Configuration");

REQUEST_ROWS(bulk_output, BULK_OUTPUT);
static const struct shape bulk_output = REQUEST_SHAPE(bulk_output, "OutputS3Configuration");

REQUEST_ROWS(start_bulk_put_items_request, START_BULK_PUT_ITEMS_REQUEST);
const struct shape shape_start_bulk_put_items_request =
    REQUEST_SHAPE(start_bulk_put_items_request, "StartBulkPutItemsInput");
