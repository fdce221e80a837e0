// The shapes of requests_backup.h.
#include "requests/requests_backup.h"
#include "requests/shapes_internal.h"

static const struct shape backup_arn = STRING_SHAPE_RANGE(37, 1024);
static const struct shape any_time = {.kind = SHAPE_TIMESTAMP};

// ---- Backups ----------------------------------------------------------------------------

static const struct shape_member create_backup_rows[] = {
    REQUIRED(create_backup_request, table_name, "TableName", &shape_own_table_name),
    REQUIRED(create_backup_request, backup_name, "BackupName", &shape_plain_name),
};
const struct shape shape_create_backup_request =
    STRUCT_SHAPE(create_backup_request, "CreateBackupInput", create_backup_rows);

static const struct shape_member backup_arn_rows[] = {
    REQUIRED(backup_arn_request, backup_arn, "BackupArn", &backup_arn),
};
const struct shape shape_backup_arn_request =
    STRUCT_SHAPE(backup_arn_request, "DescribeBackupInput", backup_arn_rows);

static const char *const backup_types[] = {"USER", "SYSTEM", "AWS_BACKUP", "ALL", NULL};
static const struct shape backup_type = ENUM_SHAPE(backup_types);
static const struct shape list_limit = {
    .kind = SHAPE_INTEGER, .has_min = true, .min = 1, .has_max = true, .max = 100};
static const struct shape_member list_backups_rows[] = {
    OPTIONAL(list_backups_request, table_name, "TableName", &shape_table_name),
    OPTIONAL(list_backups_request, limit, "Limit", &list_limit),
    OPTIONAL(list_backups_request, time_range_lower_bound, "TimeRangeLowerBound", &any_time),
    OPTIONAL(list_backups_request, time_range_upper_bound, "TimeRangeUpperBound", &any_time),
    OPTIONAL(list_backups_request, exclusive_start_backup_arn, "ExclusiveStartBackupArn",
             &backup_arn),
    OPTIONAL(list_backups_request, backup_type, "BackupType", &backup_type),
};
const struct shape shape_list_backups_request =
    STRUCT_SHAPE(list_backups_request, "ListBackupsInput", list_backups_rows);

// ---- Point-in-time recovery -----------------------------------------------------------------

static const struct shape recovery_days = {
    .kind = SHAPE_INTEGER, .has_min = true, .min = 1, .has_max = true, .max = 35};
static const struct shape_member pitr_specification_rows[] = {
    REQUIRED(point_in_time_recovery_specification, point_in_time_recovery_enabled,
             "PointInTimeRecoveryEnabled", &shape_any_boolean),
    OPTIONAL(point_in_time_recovery_specification, recovery_period_in_days, "RecoveryPeriodInDays",
             &recovery_days),
};
static const struct shape pitr_specification =
    STRUCT_SHAPE(point_in_time_recovery_specification, "PointInTimeRecoverySpecification",
                 pitr_specification_rows);
static const struct shape_member update_continuous_backups_rows[] = {
    REQUIRED(update_continuous_backups_request, table_name, "TableName", &shape_own_table_name),
    REQUIRED(update_continuous_backups_request, point_in_time_recovery_specification,
             "PointInTimeRecoverySpecification", &pitr_specification),
};
const struct shape shape_update_continuous_backups_request =
    STRUCT_SHAPE(update_continuous_backups_request, "UpdateContinuousBackupsInput",
                 update_continuous_backups_rows);

// ---- Restores -----------------------------------------------------------------------------

#define OVERRIDES(type)                                                                            \
    OPTIONAL(type, overrides.billing_mode, "BillingModeOverride", &shape_billing_mode),            \
        OPTIONAL(type, overrides.global_secondary_indexes, "GlobalSecondaryIndexOverride",         \
                 &shape_global_indexes),                                                           \
        OPTIONAL(type, overrides.local_secondary_indexes, "LocalSecondaryIndexOverride",           \
                 &shape_local_indexes),                                                            \
        OPTIONAL(type, overrides.vector_indexes, "VectorIndexOverride", &shape_vector_indexes),    \
        OPTIONAL(type, overrides.provisioned_throughput, "ProvisionedThroughputOverride",          \
                 &shape_provisioned_throughput),                                                   \
        OPTIONAL(type, overrides.on_demand_throughput, "OnDemandThroughputOverride",               \
                 &shape_on_demand_throughput),                                                     \
        OPTIONAL(type, overrides.sse_specification, "SSESpecificationOverride",                    \
                 &shape_sse_specification)

static const struct shape_member restore_from_backup_rows[] = {
    REQUIRED(restore_table_from_backup_request, target_table_name, "TargetTableName",
             &shape_plain_name),
    REQUIRED(restore_table_from_backup_request, backup_arn, "BackupArn", &backup_arn),
    OVERRIDES(restore_table_from_backup_request),
};
const struct shape shape_restore_table_from_backup_request = STRUCT_SHAPE(
    restore_table_from_backup_request, "RestoreTableFromBackupInput", restore_from_backup_rows);

static const struct shape_member restore_to_time_rows[] = {
    OPTIONAL(restore_table_to_point_in_time_request, source_table_arn, "SourceTableArn",
             &shape_any_string),
    OPTIONAL(restore_table_to_point_in_time_request, source_table_name, "SourceTableName",
             &shape_plain_name),
    REQUIRED(restore_table_to_point_in_time_request, target_table_name, "TargetTableName",
             &shape_plain_name),
    OPTIONAL(restore_table_to_point_in_time_request, use_latest_restorable_time,
             "UseLatestRestorableTime", &shape_any_boolean),
    OPTIONAL(restore_table_to_point_in_time_request, restore_date_time, "RestoreDateTime",
             &any_time),
    OVERRIDES(restore_table_to_point_in_time_request),
};
const struct shape shape_restore_table_to_point_in_time_request = STRUCT_SHAPE(
    restore_table_to_point_in_time_request, "RestoreTableToPointInTimeInput", restore_to_time_rows);
