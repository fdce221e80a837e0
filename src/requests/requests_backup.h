// The requests of backups, restores and point-in-time recovery, in the manner of requests.h.
#ifndef REQUESTS_REQUESTS_BACKUP_H
#define REQUESTS_REQUESTS_BACKUP_H

#include "requests/requests.h"

struct create_backup_request {
    struct slice table_name;
    struct slice backup_name;
};

// DescribeBackup and DeleteBackup.
struct backup_arn_request {
    struct slice backup_arn;
};

struct list_backups_request {
    struct slice table_name;
    struct field_int limit;
    struct field_double time_range_lower_bound;
    struct field_double time_range_upper_bound;
    struct slice exclusive_start_backup_arn;
    struct slice backup_type; // USER, SYSTEM, AWS_BACKUP, ALL
};

struct point_in_time_recovery_specification {
    struct field_bool point_in_time_recovery_enabled;
    struct field_int recovery_period_in_days;
};

struct update_continuous_backups_request {
    struct slice table_name;
    struct point_in_time_recovery_specification *point_in_time_recovery_specification;
};

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
