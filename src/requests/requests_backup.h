// The requests of backups, restores and point-in-time recovery, in the manner of requests.h.
#ifndef REQUESTS_REQUESTS_BACKUP_H
#define REQUESTS_REQUESTS_BACKUP_H

#include "requests/requests.h"

#define CREATE_BACKUP_REQUEST(X, T)                                                                \
    X(T, REQUIRED, struct slice, table_name, "TableName", shape_own_table_name)                    \
    X(T, REQUIRED, struct slice, backup_name, "BackupName", shape_plain_name)
REQUEST_STRUCT(create_backup_request, CREATE_BACKUP_REQUEST);

// DescribeBackup and DeleteBackup.
#define BACKUP_ARN_REQUEST(X, T) X(T, REQUIRED, struct slice, backup_arn, "BackupArn", backup_arn)
REQUEST_STRUCT(backup_arn_request, BACKUP_ARN_REQUEST);

#define LIST_BACKUPS_REQUEST(X, T)                                                                 \
    X(T, OPTIONAL, struct slice, table_name, "TableName", shape_table_name)                        \
    X(T, OPTIONAL, struct field_int, limit, "Limit", list_limit)                                   \
    X(T, OPTIONAL, struct field_double, time_range_lower_bound, "TimeRangeLowerBound", any_time)   \
    X(T, OPTIONAL, struct field_double, time_range_upper_bound, "TimeRangeUpperBound", any_time)   \
    X(T, OPTIONAL, struct slice, exclusive_start_backup_arn, "ExclusiveStartBackupArn",            \
      backup_arn)                                                                                  \
    X(T, OPTIONAL, struct slice, backup_type, "BackupType",                                        \
      backup_type) /* USER, SYSTEM, AWS_BACKUP, ALL */
REQUEST_STRUCT(list_backups_request, LIST_BACKUPS_REQUEST);

#define POINT_IN_TIME_RECOVERY_SPECIFICATION(X, T)                                                 \
    X(T, REQUIRED, struct field_bool, point_in_time_recovery_enabled,                              \
      "PointInTimeRecoveryEnabled", shape_any_boolean)                                             \
    X(T, OPTIONAL, struct field_int, recovery_period_in_days, "RecoveryPeriodInDays", recovery_days)
REQUEST_STRUCT(point_in_time_recovery_specification, POINT_IN_TIME_RECOVERY_SPECIFICATION);

#define UPDATE_CONTINUOUS_BACKUPS_REQUEST(X, T)                                                    \
    X(T, REQUIRED, struct slice, table_name, "TableName", shape_own_table_name)                    \
    X(T, REQUIRED, struct point_in_time_recovery_specification *,                                  \
      point_in_time_recovery_specification, "PointInTimeRecoverySpecification",                    \
      pitr_specification)
REQUEST_STRUCT(update_continuous_backups_request, UPDATE_CONTINUOUS_BACKUPS_REQUEST);

// What both restores may make different from the source.
struct restore_overrides {
    struct slice billing_mode;                  // PROVISIONED, PAY_PER_REQUEST
    struct field_list global_secondary_indexes; // struct global_secondary_index
    struct field_list local_secondary_indexes;  // struct local_secondary_index
    struct field_list vector_indexes;           // struct request_vector_index
    struct request_provisioned_throughput *provisioned_throughput;
    struct request_on_demand_throughput *on_demand_throughput;
    struct request_sse_specification *sse_specification;
};

struct restore_table_from_backup_request {
    struct slice target_table_name;
    struct slice backup_arn;
    struct restore_overrides overrides;
};

struct restore_table_to_point_in_time_request {
    struct slice source_table_arn;
    struct slice source_table_name;
    struct slice target_table_name;
    struct field_bool use_latest_restorable_time;
    struct field_double restore_date_time;
    struct restore_overrides overrides;
};

extern const struct shape shape_create_backup_request;
extern const struct shape shape_backup_arn_request;
extern const struct shape shape_list_backups_request;
extern const struct shape shape_update_continuous_backups_request;
extern const struct shape shape_restore_table_from_backup_request;
extern const struct shape shape_restore_table_to_point_in_time_request;

#endif
