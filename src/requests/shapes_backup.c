// The shapes of requests_backup.h.
#include "requests/requests_backup.h"
#include "requests/shapes_internal.h"

static const struct shape backup_arn = STRING_SHAPE_RANGE(37, 1024);
static const struct shape any_time = {.kind = SHAPE_TIMESTAMP};

// ---- Backups ----------------------------------------------------------------------------

REQUEST_ROWS(create_backup_request, CREATE_BACKUP_REQUEST);
const struct shape shape_create_backup_request =
    REQUEST_SHAPE(create_backup_request, "CreateBackupInput");

REQUEST_ROWS(backup_arn_request, BACKUP_ARN_REQUEST);
const struct shape shape_backup_arn_request =
    REQUEST_SHAPE(backup_arn_request, "DescribeBackupInput");

static const char *const backup_types[] = {"USER", "SYSTEM", "AWS_BACKUP", "ALL", NULL};
static const struct shape backup_type = ENUM_SHAPE(backup_types);
static const struct shape list_limit = {
    .kind = SHAPE_INTEGER, .has_min = true, .min = 1, .has_max = true, .max = 100};
REQUEST_ROWS(list_backups_request, LIST_BACKUPS_REQUEST);
const struct shape shape_list_backups_request =
    REQUEST_SHAPE(list_backups_request, "ListBackupsInput");

// ---- Point-in-time recovery -----------------------------------------------------------------

static const struct shape recovery_days = {
    .kind = SHAPE_INTEGER, .has_min = true, .min = 1, .has_max = true, .max = 35};
REQUEST_ROWS(point_in_time_recovery_specification, POINT_IN_TIME_RECOVERY_SPECIFICATION);
static const struct shape pitr_specification =
    REQUEST_SHAPE(point_in_time_recovery_specification, "PointInTimeRecoverySpecification");
REQUEST_ROWS(update_continuous_backups_request, UPDATE_CONTINUOUS_BACKUPS_REQUEST);
const struct shape shape_update_continuous_backups_request =
    REQUEST_SHAPE(update_continuous_backups_request, "UpdateContinuousBackupsInput");

// ---- Restores -----------------------------------------------------------------------------

#define OVERRIDES(type)                                                                            \
    SHAPE_ROW(type, OPTIONAL, overrides.billing_mode, "BillingModeOverride", shape_billing_mode),  \
        SHAPE_ROW(type, OPTIONAL, overrides.global_secondary_indexes,                              \
                  "GlobalSecondaryIndexOverride", shape_global_indexes),                           \
        SHAPE_ROW(type, OPTIONAL, overrides.local_secondary_indexes,                               \
                  "LocalSecondaryIndexOverride", shape_local_indexes),                             \
        SHAPE_ROW(type, OPTIONAL, overrides.vector_indexes, "VectorIndexOverride",                 \
                  shape_vector_indexes),                                                           \
        SHAPE_ROW(type, OPTIONAL, overrides.provisioned_throughput,                                \
                  "ProvisionedThroughputOverride", shape_provisioned_throughput),                  \
        SHAPE_ROW(type, OPTIONAL, overrides.on_demand_throughput, "OnDemandThroughputOverride",    \
                  shape_on_demand_throughput),                                                     \
        SHAPE_ROW(type, OPTIONAL, overrides.sse_specification, "SSESpecificationOverride",         \
                  shape_sse_specification)

static const struct shape_member restore_from_backup_rows[] = {
    SHAPE_ROW(restore_table_from_backup_request, REQUIRED, target_table_name, "TargetTableName",
              shape_plain_name),
    SHAPE_ROW(restore_table_from_backup_request, REQUIRED, backup_arn, "BackupArn", backup_arn),
    OVERRIDES(restore_table_from_backup_request),
};
const struct shape shape_restore_table_from_backup_request = STRUCT_SHAPE(
    restore_table_from_backup_request, "RestoreTableFromBackupInput", restore_from_backup_rows);

static const struct shape_member restore_to_time_rows[] = {
    SHAPE_ROW(restore_table_to_point_in_time_request, OPTIONAL, source_table_arn, "SourceTableArn",
              shape_any_string),
    SHAPE_ROW(restore_table_to_point_in_time_request, OPTIONAL, source_table_name,
              "SourceTableName", shape_plain_name),
    SHAPE_ROW(restore_table_to_point_in_time_request, REQUIRED, target_table_name,
              "TargetTableName", shape_plain_name),
    SHAPE_ROW(restore_table_to_point_in_time_request, OPTIONAL, use_latest_restorable_time,
              "UseLatestRestorableTime", shape_any_boolean),
    SHAPE_ROW(restore_table_to_point_in_time_request, OPTIONAL, restore_date_time,
              "RestoreDateTime", any_time),
    OVERRIDES(restore_table_to_point_in_time_request),
};
const struct shape shape_restore_table_to_point_in_time_request = STRUCT_SHAPE(
    restore_table_to_point_in_time_request, "RestoreTableToPointInTimeInput", restore_to_time_rows);
