// What CreateTable and UpdateTable say of a table, as structs. shape_decode() fills them from JSON
// (the shapes are in requests/shapes_table.c); restores, imports and applying a model fill them by
// hand. Members stand in the order of the service model, each named as the snake_case of its JSON
// name; where a member is a list, the comment behind it names the C type of its elements.
#ifndef TABLES_REQUESTS_H
#define TABLES_REQUESTS_H

#include "json/shape.h"

// ---- Parts of table requests ----------------------------------------------------------

#define ATTRIBUTE_DEFINITION(X, T)                                                                 \
    X(T, REQUIRED, struct slice, attribute_name, "AttributeName", shape_attribute_name)            \
    X(T, REQUIRED, struct slice, attribute_type, "AttributeType", attribute_type) /* B, N, S */
REQUEST_STRUCT(attribute_definition, ATTRIBUTE_DEFINITION);

#define KEY_SCHEMA_ELEMENT(X, T)                                                                   \
    X(T, REQUIRED, struct slice, attribute_name, "AttributeName", shape_attribute_name)            \
    X(T, REQUIRED, struct slice, key_type, "KeyType", key_type) /* HASH, RANGE */
REQUEST_STRUCT(key_schema_element, KEY_SCHEMA_ELEMENT);

#define REQUEST_PROJECTION(X, T)                                                                   \
    X(T, OPTIONAL, struct slice, projection_type, "ProjectionType",                                \
      projection_type) /* ALL, INCLUDE, KEYS_ONLY */                                               \
    X(T, OPTIONAL, struct field_list, non_key_attributes, "NonKeyAttributes",                      \
      non_key_attributes) /* struct slice */
REQUEST_STRUCT(request_projection, REQUEST_PROJECTION);

#define REQUEST_PROVISIONED_THROUGHPUT(X, T)                                                       \
    X(T, REQUIRED, struct field_int, write_capacity_units, "WriteCapacityUnits",                   \
      shape_positive_long)                                                                         \
    X(T, REQUIRED, struct field_int, read_capacity_units, "ReadCapacityUnits", shape_positive_long)
REQUEST_STRUCT(request_provisioned_throughput, REQUEST_PROVISIONED_THROUGHPUT);

#define REQUEST_ON_DEMAND_THROUGHPUT(X, T)                                                         \
    X(T, OPTIONAL, struct field_int, max_read_request_units, "MaxReadRequestUnits",                \
      shape_any_long)                                                                              \
    X(T, OPTIONAL, struct field_int, max_write_request_units, "MaxWriteRequestUnits",              \
      shape_any_long)
REQUEST_STRUCT(request_on_demand_throughput, REQUEST_ON_DEMAND_THROUGHPUT);

#define REQUEST_WARM_THROUGHPUT(X, T)                                                              \
    X(T, OPTIONAL, struct field_int, read_units_per_second, "ReadUnitsPerSecond", shape_any_long)  \
    X(T, OPTIONAL, struct field_int, write_units_per_second, "WriteUnitsPerSecond", shape_any_long)
REQUEST_STRUCT(request_warm_throughput, REQUEST_WARM_THROUGHPUT);

#define LOCAL_SECONDARY_INDEX(X, T)                                                                \
    X(T, REQUIRED, struct slice, index_name, "IndexName", shape_plain_name)                        \
    X(T, REQUIRED, struct field_list, key_schema, "KeySchema",                                     \
      shape_key_schema) /* struct key_schema_element */                                            \
    X(T, REQUIRED, struct request_projection *, projection, "Projection", projection)
REQUEST_STRUCT(local_secondary_index, LOCAL_SECONDARY_INDEX);

// GlobalSecondaryIndex of CreateTable and CreateGlobalSecondaryIndexAction of UpdateTable.
struct global_secondary_index {
    struct slice index_name;
    struct field_list key_schema; // struct key_schema_element
    struct request_projection *projection;
    struct request_provisioned_throughput *provisioned_throughput;
    struct request_on_demand_throughput *on_demand_throughput;
    struct request_warm_throughput *warm_throughput;
};

#define REQUEST_STREAM_SPECIFICATION(X, T)                                                         \
    X(T, REQUIRED, struct field_bool, stream_enabled, "StreamEnabled", shape_any_boolean)          \
    X(T, OPTIONAL, struct slice, stream_view_type, "StreamViewType",                               \
      stream_view_type) /* NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES, KEYS_ONLY */
REQUEST_STRUCT(request_stream_specification, REQUEST_STREAM_SPECIFICATION);

#define REQUEST_SSE_SPECIFICATION(X, T)                                                            \
    X(T, OPTIONAL, struct field_bool, enabled, "Enabled", shape_any_boolean)                       \
    X(T, OPTIONAL, struct slice, sse_type, "SSEType", sse_type) /* AES256, KMS */                  \
    X(T, OPTIONAL, struct slice, kms_master_key_id, "KMSMasterKeyId", shape_any_string)
REQUEST_STRUCT(request_sse_specification, REQUEST_SSE_SPECIFICATION);

#define REQUEST_TAG(X, T)                                                                          \
    X(T, REQUIRED, struct slice, key, "Key", tag_key)                                              \
    X(T, REQUIRED, struct slice, value, "Value", tag_value)
REQUEST_STRUCT(request_tag, REQUEST_TAG);

#define VECTOR_ATTRIBUTE_DEFINITION(X, T)                                                          \
    X(T, REQUIRED, struct slice, attribute_name, "AttributeName", shape_attribute_name)
REQUEST_STRUCT(vector_attribute_definition, VECTOR_ATTRIBUTE_DEFINITION);

#define SEARCH_SCHEMA_ELEMENT(X, T)                                                                \
    X(T, REQUIRED, struct slice, attribute_name, "AttributeName", shape_attribute_name)            \
    X(T, REQUIRED, struct slice, search_schema_element_type, "SearchSchemaElementType",            \
      search_element_type)
REQUEST_STRUCT(search_schema_element, SEARCH_SCHEMA_ELEMENT);

// VectorIndex of CreateTable and CreateVectorIndexAction of UpdateTable.
#define REQUEST_VECTOR_INDEX(X, T)                                                                 \
    X(T, REQUIRED, struct slice, index_name, "IndexName", shape_plain_name)                        \
    X(T, REQUIRED, struct vector_attribute_definition *, vector_attribute, "VectorAttribute",      \
      vector_attribute)                                                                            \
    X(T, OPTIONAL, struct field_list, search_schema, "SearchSchema",                               \
      search_schema) /* struct search_schema_element */                                            \
    X(T, REQUIRED, struct request_projection *, projection, "Projection", projection)              \
    X(T, REQUIRED, struct field_int, dimensions, "Dimensions", shape_any_integer)                  \
    X(T, REQUIRED, struct slice, distance_function, "DistanceFunction", distance_function)
REQUEST_STRUCT(request_vector_index, REQUEST_VECTOR_INDEX);

// ---- Tables -----------------------------------------------------------------------------

#define CREATE_TABLE_REQUEST(X, T)                                                                 \
    X(T, REQUIRED, struct field_list, attribute_definitions, "AttributeDefinitions",               \
      shape_attribute_definitions) /* struct attribute_definition */                               \
    X(T, REQUIRED, struct slice, table_name, "TableName", shape_own_table_name)                    \
    X(T, OPTIONAL, struct slice, billing_mode, "BillingMode",                                      \
      shape_billing_mode) /* PROVISIONED, PAY_PER_REQUEST */                                       \
    X(T, OPTIONAL, struct request_provisioned_throughput *, provisioned_throughput,                \
      "ProvisionedThroughput", shape_provisioned_throughput)                                       \
    X(T, REQUIRED, struct field_list, key_schema, "KeySchema",                                     \
      shape_key_schema) /* struct key_schema_element */                                            \
    X(T, OPTIONAL, struct field_list, local_secondary_indexes, "LocalSecondaryIndexes",            \
      shape_local_indexes) /* struct local_secondary_index */                                      \
    X(T, OPTIONAL, struct field_list, global_secondary_indexes, "GlobalSecondaryIndexes",          \
      shape_global_indexes) /* struct global_secondary_index */                                    \
    X(T, OPTIONAL, struct request_stream_specification *, stream_specification,                    \
      "StreamSpecification", stream_specification)                                                 \
    X(T, OPTIONAL, struct request_sse_specification *, sse_specification, "SSESpecification",      \
      shape_sse_specification)                                                                     \
    X(T, OPTIONAL, struct field_list, tags, "Tags", tags) /* struct request_tag */                 \
    X(T, OPTIONAL, struct slice, table_class, "TableClass",                                        \
      table_class) /* STANDARD, STANDARD_INFREQUENT_ACCESS */                                      \
    X(T, OPTIONAL, struct field_bool, deletion_protection_enabled, "DeletionProtectionEnabled",    \
      shape_any_boolean)                                                                           \
    X(T, OPTIONAL, struct request_warm_throughput *, warm_throughput, "WarmThroughput",            \
      warm_throughput)                                                                             \
    X(T, OPTIONAL, struct slice, resource_policy, "ResourcePolicy", shape_any_string)              \
    X(T, OPTIONAL, struct request_on_demand_throughput *, on_demand_throughput,                    \
      "OnDemandThroughput", shape_on_demand_throughput)                                            \
    X(T, OPTIONAL, struct slice, global_table_source_arn, "GlobalTableSourceArn",                  \
      shape_any_string)                                                                            \
    X(T, OPTIONAL, struct slice, global_table_settings_replication_mode,                           \
      "GlobalTableSettingsReplicationMode", replication_mode)                                      \
    X(T, OPTIONAL, struct field_list, vector_indexes, "VectorIndexes",                             \
      shape_vector_indexes) /* struct request_vector_index */
REQUEST_STRUCT(create_table_request, CREATE_TABLE_REQUEST);

#define UPDATE_GLOBAL_SECONDARY_INDEX_ACTION(X, T)                                                 \
    X(T, REQUIRED, struct slice, index_name, "IndexName", shape_plain_name)                        \
    X(T, OPTIONAL, struct request_provisioned_throughput *, provisioned_throughput,                \
      "ProvisionedThroughput", shape_provisioned_throughput)                                       \
    X(T, OPTIONAL, struct request_on_demand_throughput *, on_demand_throughput,                    \
      "OnDemandThroughput", shape_on_demand_throughput)                                            \
    X(T, OPTIONAL, struct request_warm_throughput *, warm_throughput, "WarmThroughput",            \
      warm_throughput)
REQUEST_STRUCT(update_global_secondary_index_action, UPDATE_GLOBAL_SECONDARY_INDEX_ACTION);

// DeleteGlobalSecondaryIndexAction and DeleteVectorIndexAction.
#define DELETE_INDEX_ACTION(X, T)                                                                  \
    X(T, REQUIRED, struct slice, index_name, "IndexName", shape_plain_name)
REQUEST_STRUCT(delete_index_action, DELETE_INDEX_ACTION);

// Members are called after what they do: `update`, `create`, `delete`.
#define GLOBAL_SECONDARY_INDEX_UPDATE(X, T)                                                        \
    X(T, OPTIONAL, struct update_global_secondary_index_action *, update, "Update",                \
      update_global_index)                                                                         \
    X(T, OPTIONAL, struct global_secondary_index *, create, "Create", create_global_index)         \
    X(T, OPTIONAL, struct delete_index_action *, delete, "Delete", delete_index)
REQUEST_STRUCT(global_secondary_index_update, GLOBAL_SECONDARY_INDEX_UPDATE);

#define VECTOR_INDEX_UPDATE(X, T)                                                                  \
    X(T, OPTIONAL, struct request_vector_index *, create, "Create", vector_index)                  \
    X(T, OPTIONAL, struct delete_index_action *, delete, "Delete", delete_index)
REQUEST_STRUCT(vector_index_update, VECTOR_INDEX_UPDATE);

#define PROVISIONED_THROUGHPUT_OVERRIDE(X, T)                                                      \
    X(T, OPTIONAL, struct field_int, read_capacity_units, "ReadCapacityUnits", shape_positive_long)
REQUEST_STRUCT(provisioned_throughput_override, PROVISIONED_THROUGHPUT_OVERRIDE);

#define ON_DEMAND_THROUGHPUT_OVERRIDE(X, T)                                                        \
    X(T, OPTIONAL, struct field_int, max_read_request_units, "MaxReadRequestUnits", shape_any_long)
REQUEST_STRUCT(on_demand_throughput_override, ON_DEMAND_THROUGHPUT_OVERRIDE);

#define REPLICA_GLOBAL_SECONDARY_INDEX(X, T)                                                       \
    X(T, REQUIRED, struct slice, index_name, "IndexName", shape_plain_name)                        \
    X(T, OPTIONAL, struct provisioned_throughput_override *, provisioned_throughput_override,      \
      "ProvisionedThroughputOverride", provisioned_override)                                       \
    X(T, OPTIONAL, struct on_demand_throughput_override *, on_demand_throughput_override,          \
      "OnDemandThroughputOverride", on_demand_override)
REQUEST_STRUCT(replica_global_secondary_index, REPLICA_GLOBAL_SECONDARY_INDEX);

// CreateReplicationGroupMemberAction and UpdateReplicationGroupMemberAction.
#define REPLICATION_GROUP_MEMBER_ACTION(X, T)                                                      \
    X(T, REQUIRED, struct slice, region_name, "RegionName", shape_any_string)                      \
    X(T, OPTIONAL, struct slice, kms_master_key_id, "KMSMasterKeyId", shape_any_string)            \
    X(T, OPTIONAL, struct provisioned_throughput_override *, provisioned_throughput_override,      \
      "ProvisionedThroughputOverride", provisioned_override)                                       \
    X(T, OPTIONAL, struct on_demand_throughput_override *, on_demand_throughput_override,          \
      "OnDemandThroughputOverride", on_demand_override)                                            \
    X(T, OPTIONAL, struct field_list, global_secondary_indexes, "GlobalSecondaryIndexes",          \
      replica_indexes) /* struct replica_global_secondary_index */                                 \
    X(T, OPTIONAL, struct slice, table_class_override, "TableClassOverride", table_class)
REQUEST_STRUCT(replication_group_member_action, REPLICATION_GROUP_MEMBER_ACTION);

// The actions on a region that name no more than it.
#define REGION_ACTION(X, T)                                                                        \
    X(T, REQUIRED, struct slice, region_name, "RegionName", shape_any_string)
REQUEST_STRUCT(region_action, REGION_ACTION);

#define DISASSOCIATE_REPLICATION_GROUP_MEMBER_ACTION(X, T)                                         \
    X(T, REQUIRED, struct slice, region_name, "RegionName", shape_any_string)                      \
    X(T, REQUIRED, struct slice, disassociation_mode, "DisassociationMode", disassociation_mode)
REQUEST_STRUCT(disassociate_replication_group_member_action,
               DISASSOCIATE_REPLICATION_GROUP_MEMBER_ACTION);

#define REPLICATION_GROUP_UPDATE(X, T)                                                             \
    X(T, OPTIONAL, struct replication_group_member_action *, create, "Create", replica_member)     \
    X(T, OPTIONAL, struct replication_group_member_action *, update, "Update", replica_member)     \
    X(T, OPTIONAL, struct region_action *, delete, "Delete", region)                               \
    X(T, OPTIONAL, struct disassociate_replication_group_member_action *, disassociate,            \
      "Disassociate", disassociate)
REQUEST_STRUCT(replication_group_update, REPLICATION_GROUP_UPDATE);

#define GLOBAL_TABLE_WITNESS_GROUP_UPDATE(X, T)                                                    \
    X(T, OPTIONAL, struct region_action *, create, "Create", region)                               \
    X(T, OPTIONAL, struct region_action *, delete, "Delete", region)
REQUEST_STRUCT(global_table_witness_group_update, GLOBAL_TABLE_WITNESS_GROUP_UPDATE);

#define UPDATE_TABLE_REQUEST(X, T)                                                                 \
    X(T, OPTIONAL, struct field_list, attribute_definitions, "AttributeDefinitions",               \
      shape_attribute_definitions) /* struct attribute_definition */                               \
    X(T, REQUIRED, struct slice, table_name, "TableName", shape_own_table_name)                    \
    X(T, OPTIONAL, struct request_provisioned_throughput *, provisioned_throughput,                \
      "ProvisionedThroughput", shape_provisioned_throughput)                                       \
    X(T, OPTIONAL, struct slice, billing_mode, "BillingMode", shape_billing_mode)                  \
    X(T, OPTIONAL, struct field_list, global_secondary_index_updates,                              \
      "GlobalSecondaryIndexUpdates",                                                               \
      global_index_updates) /* struct global_secondary_index_update */                             \
    X(T, OPTIONAL, struct request_stream_specification *, stream_specification,                    \
      "StreamSpecification", stream_specification)                                                 \
    X(T, OPTIONAL, struct request_sse_specification *, sse_specification, "SSESpecification",      \
      shape_sse_specification)                                                                     \
    X(T, OPTIONAL, struct field_list, replica_updates, "ReplicaUpdates",                           \
      replica_updates) /* struct replication_group_update */                                       \
    X(T, OPTIONAL, struct slice, table_class, "TableClass", table_class)                           \
    X(T, OPTIONAL, struct field_bool, deletion_protection_enabled, "DeletionProtectionEnabled",    \
      shape_any_boolean)                                                                           \
    X(T, OPTIONAL, struct slice, multi_region_consistency, "MultiRegionConsistency",               \
      consistency) /* EVENTUAL, STRONG */                                                          \
    X(T, OPTIONAL, struct field_list, global_table_witness_updates, "GlobalTableWitnessUpdates",   \
      witness_updates) /* struct global_table_witness_group_update */                              \
    X(T, OPTIONAL, struct request_on_demand_throughput *, on_demand_throughput,                    \
      "OnDemandThroughput", shape_on_demand_throughput)                                            \
    X(T, OPTIONAL, struct request_warm_throughput *, warm_throughput, "WarmThroughput",            \
      warm_throughput)                                                                             \
    X(T, OPTIONAL, struct slice, global_table_settings_replication_mode,                           \
      "GlobalTableSettingsReplicationMode", replication_mode)                                      \
    X(T, OPTIONAL, struct field_bool, disassociation_protection_enabled,                           \
      "DisassociationProtectionEnabled", shape_any_boolean)                                        \
    X(T, OPTIONAL, struct field_list, vector_index_updates, "VectorIndexUpdates",                  \
      vector_index_updates) /* struct vector_index_update */
REQUEST_STRUCT(update_table_request, UPDATE_TABLE_REQUEST);

#endif
