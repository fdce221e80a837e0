// The requests of the control plane: policies, insights, Kinesis, global tables, auto scaling and
// bulk operations. Absent members are as in requests.h.
#ifndef REQUESTS_REQUESTS_CONTROL_H
#define REQUESTS_REQUESTS_CONTROL_H

#include "requests/requests.h"

// ---- Resource policies ------------------------------------------------------------------------

struct put_resource_policy_request {
    struct slice resource_arn;
    struct slice policy;
    struct slice expected_revision_id;
    struct field_bool confirm_remove_self_resource_access;
};

struct delete_resource_policy_request {
    struct slice resource_arn;
    struct slice expected_revision_id;
};

struct get_resource_policy_request {
    struct slice resource_arn;
};

// ---- Contributor Insights ----------------------------------------------------------------------

struct update_contributor_insights_request {
    struct slice table_name;
    struct slice index_name;
    struct slice action;
    struct slice mode;
};

struct describe_contributor_insights_request {
    struct slice table_name;
    struct slice index_name;
};

struct list_contributor_insights_request {
    struct slice table_name;
    struct slice next_token;
    struct field_int max_results;
};

// ---- Kinesis -----------------------------------------------------------------------------------

struct kinesis_configuration {
    struct slice precision; // ApproximateCreationDateTimePrecision
};

// Enable and Disable have the same members; Update names its configuration differently.
struct kinesis_destination_request {
    struct slice table_name;
    struct slice stream_arn;
    struct kinesis_configuration *configuration;
};

// ---- Auto scaling -----------------------------------------------------------------

struct scaling_target {
    struct field_bool disable_scale_in;
    struct field_int scale_in_cooldown;
    struct field_int scale_out_cooldown;
    struct field_double target_value;
};

struct scaling_policy_update {
    struct slice policy_name;
    struct scaling_target *target;
};

struct scaling_update {
    struct field_int minimum_units;
    struct field_int maximum_units;
    struct field_bool disabled;
    struct slice role_arn;
    struct scaling_policy_update *policy;
};

struct index_scaling_update {
    struct slice index_name;
    struct scaling_update *update; // of reads in a replica, else of writes
};

struct replica_scaling_update {
    struct slice region_name;
    struct field_list indexes; // struct index_scaling_update
    struct scaling_update *read;
};

struct update_replica_scaling_request {
    struct slice table_name;
    struct field_list indexes; // struct index_scaling_update
    struct scaling_update *write;
    struct field_list replicas; // struct replica_scaling_update
};

// ---- Global tables, version 2017 -------------------------------------------------------------

struct replica_request {
    struct slice region_name;
};

struct create_global_table_request {
    struct slice global_table_name;
    struct field_list replication_group; // struct replica_request
};

struct global_table_name_request {
    struct slice global_table_name;
};

struct list_global_tables_request {
    struct slice exclusive_start;
    struct field_int limit;
    struct slice region_name;
};

struct replica_update {
    struct replica_request *create;
    struct replica_request *delete;
};

struct update_global_table_request {
    struct slice global_table_name;
    struct field_list replica_updates; // struct replica_update
};

// Settings of an index: of all replicas (write), or of one (read).
struct index_units_update {
    struct slice index_name;
    struct field_int units;
    struct scaling_update *scaling;
};

struct replica_settings_update {
    struct slice region_name;
    struct field_int read_units;
    struct scaling_update *read_scaling;
    struct field_list indexes; // struct index_units_update
    struct slice table_class;
};

struct update_global_settings_request {
    struct slice global_table_name;
    struct slice billing_mode;
    struct field_int write_units;
    struct scaling_update *write_scaling;
    struct field_list indexes;  // struct index_units_update
    struct field_list replicas; // struct replica_settings_update
};

// ---- Bulk operations ---------------------------------------------------------------------------

// DescribeBulkOperation and CancelBulkOperation.
struct bulk_operation_request {
    struct slice bulk_operation_arn;
};

struct list_bulk_operations_request {
    struct field_int max_results;
    struct slice next_token;
};

struct bulk_input {
    struct slice bucket;
    struct slice bucket_owner;
    struct slice key_prefix;
    struct slice format;
    struct slice compression;
};

struct bulk_output {
    struct slice bucket;
    struct slice bucket_owner;
    struct slice key_prefix;
    struct slice sse_algorithm;
    struct slice sse_key;
    struct field_list types; // struct slice
};

struct start_bulk_put_items_request {
    struct slice client_token;
    struct bulk_input *input;
    struct bulk_output *output;
    struct slice table_name;
    struct field_int max_write_request_units;
    struct slice performance_tier;
};

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
