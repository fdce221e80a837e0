// What CreateTable and UpdateTable say of a table, as structs. shape_decode() fills them from JSON
// (the shapes are in requests/shapes_table.c); restores, imports and applying a model fill them by
// hand. Members stand in the order of the service model, each named as the snake_case of its JSON
// name; where a member is a list, the comment behind it names the C type of its elements.
#ifndef TABLES_REQUESTS_H
#define TABLES_REQUESTS_H

#include "json/shape.h"

// ---- Parts of table requests ----------------------------------------------------------

struct attribute_definition {
    struct slice attribute_name;
    struct slice attribute_type; // B, N, S
};

struct key_schema_element {
    struct slice attribute_name;
    struct slice key_type; // HASH, RANGE
};

struct request_projection {
    struct slice projection_type;         // ALL, INCLUDE, KEYS_ONLY
    struct field_list non_key_attributes; // struct slice
};

struct request_provisioned_throughput {
    struct field_int read_capacity_units;
    struct field_int write_capacity_units;
};

struct request_on_demand_throughput {
    struct field_int max_read_request_units;
    struct field_int max_write_request_units;
};

struct request_warm_throughput {
    struct field_int read_units_per_second;
    struct field_int write_units_per_second;
};

struct local_secondary_index {
    struct slice index_name;
    struct field_list key_schema; // struct key_schema_element
    struct request_projection *projection;
};

// GlobalSecondaryIndex of CreateTable and CreateGlobalSecondaryIndexAction of UpdateTable.
struct global_secondary_index {
    struct slice index_name;
    struct field_list key_schema; // struct key_schema_element
    struct request_projection *projection;
    struct request_provisioned_throughput *provisioned_throughput;
    struct request_on_demand_throughput *on_demand_throughput;
    struct request_warm_throughput *warm_throughput;
};

struct request_stream_specification {
    struct field_bool stream_enabled;
    struct slice stream_view_type; // NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES, KEYS_ONLY
};

struct request_sse_specification {
    struct field_bool enabled;
    struct slice sse_type; // AES256, KMS
    struct slice kms_master_key_id;
};

struct request_tag {
    struct slice key;
    struct slice value;
};

struct vector_attribute_definition {
    struct slice attribute_name;
};

struct search_schema_element {
    struct slice attribute_name;
    struct slice search_schema_element_type;
};

// VectorIndex of CreateTable and CreateVectorIndexAction of UpdateTable.
struct request_vector_index {
    struct slice index_name;
    struct vector_attribute_definition *vector_attribute;
    struct field_list search_schema; // struct search_schema_element
    struct request_projection *projection;
    struct field_int dimensions;
    struct slice distance_function;
};

// ---- Tables -----------------------------------------------------------------------------

struct create_table_request {
    struct field_list attribute_definitions; // struct attribute_definition
    struct slice table_name;
    struct field_list key_schema;               // struct key_schema_element
    struct field_list local_secondary_indexes;  // struct local_secondary_index
    struct field_list global_secondary_indexes; // struct global_secondary_index
    struct slice billing_mode;                  // PROVISIONED, PAY_PER_REQUEST
    struct request_provisioned_throughput *provisioned_throughput;
    struct request_stream_specification *stream_specification;
    struct request_sse_specification *sse_specification;
    struct field_list tags;   // struct request_tag
    struct slice table_class; // STANDARD, STANDARD_INFREQUENT_ACCESS
    struct field_bool deletion_protection_enabled;
    struct request_warm_throughput *warm_throughput;
    struct slice resource_policy;
    struct request_on_demand_throughput *on_demand_throughput;
    struct slice global_table_source_arn;
    struct slice global_table_settings_replication_mode;
    struct field_list vector_indexes; // struct request_vector_index
};

struct update_global_secondary_index_action {
    struct slice index_name;
    struct request_provisioned_throughput *provisioned_throughput;
    struct request_on_demand_throughput *on_demand_throughput;
    struct request_warm_throughput *warm_throughput;
};

// DeleteGlobalSecondaryIndexAction and DeleteVectorIndexAction.
struct delete_index_action {
    struct slice index_name;
};

// Members are called after what they do: `update`, `create`, `delete`.
struct global_secondary_index_update {
    struct update_global_secondary_index_action *update;
    struct global_secondary_index *create;
    struct delete_index_action *delete;
};

struct vector_index_update {
    struct request_vector_index *create;
    struct delete_index_action *delete;
};

struct provisioned_throughput_override {
    struct field_int read_capacity_units;
};

struct on_demand_throughput_override {
    struct field_int max_read_request_units;
};

struct replica_global_secondary_index {
    struct slice index_name;
    struct provisioned_throughput_override *provisioned_throughput_override;
    struct on_demand_throughput_override *on_demand_throughput_override;
};

// CreateReplicationGroupMemberAction and UpdateReplicationGroupMemberAction.
struct replication_group_member_action {
    struct slice region_name;
    struct slice kms_master_key_id;
    struct provisioned_throughput_override *provisioned_throughput_override;
    struct on_demand_throughput_override *on_demand_throughput_override;
    struct field_list global_secondary_indexes; // struct replica_global_secondary_index
    struct slice table_class_override;
};

// The actions on a region that name no more than it.
struct region_action {
    struct slice region_name;
};

struct disassociate_replication_group_member_action {
    struct slice region_name;
    struct slice disassociation_mode;
};

struct replication_group_update {
    struct replication_group_member_action *create;
    struct replication_group_member_action *update;
    struct region_action *delete;
    struct disassociate_replication_group_member_action *disassociate;
};

struct global_table_witness_group_update {
    struct region_action *create;
    struct region_action *delete;
};

struct update_table_request {
    struct field_list attribute_definitions; // struct attribute_definition
    struct slice table_name;
    struct slice billing_mode;
    struct request_provisioned_throughput *provisioned_throughput;
    struct field_list global_secondary_index_updates; // struct global_secondary_index_update
    struct request_stream_specification *stream_specification;
    struct request_sse_specification *sse_specification;
    struct field_list replica_updates; // struct replication_group_update
    struct slice table_class;
    struct field_bool deletion_protection_enabled;
    struct slice multi_region_consistency;          // EVENTUAL, STRONG
    struct field_list global_table_witness_updates; // struct global_table_witness_group_update
    struct request_on_demand_throughput *on_demand_throughput;
    struct request_warm_throughput *warm_throughput;
    struct slice global_table_settings_replication_mode;
    struct field_bool disassociation_protection_enabled;
    struct field_list vector_index_updates; // struct vector_index_update
};

#endif
