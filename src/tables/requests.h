// What CreateTable and UpdateTable say of a table, in the manner of requests/requests.h. The shapes
// are in requests/shapes.c; restores, imports and applying a model fill the structs by hand.
#ifndef TABLES_REQUESTS_H
#define TABLES_REQUESTS_H

#include "base/limits.h"
#include "json/shape.h"

// ---- Members of many requests -----------------------------------------------------------------

#define WITH_OWN_INDEX_NAME(X, T) X(T, REQUIRED, index_name, "IndexName", TEXT_OF(plain_name))
#define WITH_PROJECTION_OF_INDEX(X, T)                                                             \
    X(T, REQUIRED, projection, "Projection", STRUCT(request_projection))
#define WITH_PROVISIONED_THROUGHPUT(X, T)                                                          \
    X(T, OPTIONAL, provisioned_throughput, "ProvisionedThroughput",                                \
      STRUCT(request_provisioned_throughput))
#define WITH_ON_DEMAND_THROUGHPUT(X, T)                                                            \
    X(T, OPTIONAL, on_demand_throughput, "OnDemandThroughput", STRUCT(request_on_demand_throughput))
#define WITH_WARM_THROUGHPUT(X, T)                                                                 \
    X(T, OPTIONAL, warm_throughput, "WarmThroughput", STRUCT(request_warm_throughput))
#define WITH_SSE_SPECIFICATION(X, T)                                                               \
    X(T, OPTIONAL, sse_specification, "SSESpecification", STRUCT(request_sse_specification))
#define WITH_REGION_NAME(X, T) X(T, REQUIRED, region_name, "RegionName", TEXT)
#define WITH_ATTRIBUTE_NAME(X, T)                                                                  \
    X(T, REQUIRED, attribute_name, "AttributeName", TEXT_OF(attribute_name))
#define WITH_STREAM_SPECIFICATION(X, T)                                                            \
    X(T, OPTIONAL, stream_specification, "StreamSpecification",                                    \
      STRUCT(request_stream_specification))
#define WITH_PROVISIONED_OVERRIDE(X, T)                                                            \
    X(T, OPTIONAL, provisioned_throughput_override, "ProvisionedThroughputOverride",               \
      STRUCT(provisioned_throughput_override))
#define WITH_ON_DEMAND_OVERRIDE(X, T)                                                              \
    X(T, OPTIONAL, on_demand_throughput_override, "OnDemandThroughputOverride",                    \
      STRUCT(on_demand_throughput_override))
#define WITH_OWN_TABLE_NAME(X, T) X(T, REQUIRED, table_name, "TableName", TEXT_OF(own_table_name))
#define WITH_BILLING_MODE(X, T)   X(T, OPTIONAL, billing_mode, "BillingMode", TEXT_OF(billing_mode))
#define WITH_DELETION_PROTECTION(X, T)                                                             \
    X(T, OPTIONAL, deletion_protection_enabled, "DeletionProtectionEnabled", BOOLEAN)
#define WITH_TABLE_CLASS(X, T) X(T, OPTIONAL, table_class, "TableClass", TEXT_OF(table_class))
#define WITH_REPLICATION_MODE(X, T)                                                                \
    X(T, OPTIONAL, global_table_settings_replication_mode, "GlobalTableSettingsReplicationMode",   \
      ENUM("DISABLED", "ENABLED", "ENABLED_WITH_OVERRIDES"))

// ---- Parts of table requests ----------------------------------------------------------

#define attribute_definition_members(X, T)                                                         \
    WITH_ATTRIBUTE_NAME(X, T)                                                                      \
    X(T, REQUIRED, attribute_type, "AttributeType", ENUM("B", "N", "S"))

#define key_schema_element_members(X, T)                                                           \
    WITH_ATTRIBUTE_NAME(X, T)                                                                      \
    X(T, REQUIRED, key_type, "KeyType", ENUM("HASH", "RANGE"))

#define request_projection_members(X, T)                                                           \
    X(T, OPTIONAL, projection_type, "ProjectionType", ENUM("ALL", "INCLUDE", "KEYS_ONLY"))         \
    X(T, OPTIONAL, non_key_attributes, "NonKeyAttributes",                                         \
      LIST_RANGE(TEXT_OF(attribute_name), 1, LIMIT_NON_KEY_ATTRIBUTES))

#define request_provisioned_throughput_members(X, T)                                               \
    X(T, REQUIRED, write_capacity_units, "WriteCapacityUnits", LONG_MIN(1))                        \
    X(T, REQUIRED, read_capacity_units, "ReadCapacityUnits", LONG_MIN(1))

#define request_on_demand_throughput_members(X, T)                                                 \
    X(T, OPTIONAL, max_read_request_units, "MaxReadRequestUnits", LONG)                            \
    X(T, OPTIONAL, max_write_request_units, "MaxWriteRequestUnits", LONG)

#define request_warm_throughput_members(X, T)                                                      \
    X(T, OPTIONAL, read_units_per_second, "ReadUnitsPerSecond", LONG)                              \
    X(T, OPTIONAL, write_units_per_second, "WriteUnitsPerSecond", LONG)

#define local_secondary_index_members(X, T)                                                        \
    WITH_OWN_INDEX_NAME(X, T)                                                                      \
    X(T, REQUIRED, key_schema, "KeySchema", LIST_RANGE(STRUCT(key_schema_element), 1, 2))          \
    WITH_PROJECTION_OF_INDEX(X, T)

// GlobalSecondaryIndex of CreateTable and CreateGlobalSecondaryIndexAction of UpdateTable.
// The two are checked in different orders.
#define WITH_GLOBAL_KEY_SCHEMA(X, T)                                                               \
    X(T, REQUIRED, key_schema, "KeySchema",                                                        \
      LIST_RANGE(STRUCT(key_schema_element), 1, 2 * LIMIT_KEY_PARTS))
#define global_secondary_index_members(X, T)                                                       \
    WITH_OWN_INDEX_NAME(X, T)                                                                      \
    WITH_GLOBAL_KEY_SCHEMA(X, T)                                                                   \
    WITH_PROJECTION_OF_INDEX(X, T)                                                                 \
    WITH_PROVISIONED_THROUGHPUT(X, T)                                                              \
    WITH_ON_DEMAND_THROUGHPUT(X, T)                                                                \
    WITH_WARM_THROUGHPUT(X, T)
#define create_global_index_members(X, T)                                                          \
    WITH_PROJECTION_OF_INDEX(X, T)                                                                 \
    WITH_OWN_INDEX_NAME(X, T)                                                                      \
    WITH_PROVISIONED_THROUGHPUT(X, T)                                                              \
    WITH_GLOBAL_KEY_SCHEMA(X, T)                                                                   \
    WITH_ON_DEMAND_THROUGHPUT(X, T)                                                                \
    WITH_WARM_THROUGHPUT(X, T)

#define request_stream_specification_members(X, T)                                                 \
    X(T, REQUIRED, stream_enabled, "StreamEnabled", BOOLEAN)                                       \
    X(T, OPTIONAL, stream_view_type, "StreamViewType",                                             \
      ENUM("NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY"))

#define request_sse_specification_members(X, T)                                                    \
    X(T, OPTIONAL, enabled, "Enabled", BOOLEAN)                                                    \
    X(T, OPTIONAL, sse_type, "SSEType", ENUM("AES256", "KMS")) /* AES256, KMS */                   \
    X(T, OPTIONAL, kms_master_key_id, "KMSMasterKeyId", TEXT)

#define request_tag_members(X, T)                                                                  \
    X(T, REQUIRED, key, "Key", TEXT_SIZE(1, 128))                                                  \
    X(T, REQUIRED, value, "Value", TEXT_SIZE(0, 256))

#define vector_attribute_definition_members(X, T) WITH_ATTRIBUTE_NAME(X, T)

#define search_schema_element_members(X, T)                                                        \
    WITH_ATTRIBUTE_NAME(X, T)                                                                      \
    X(T, REQUIRED, search_schema_element_type, "SearchSchemaElementType",                          \
      ENUM("HASH", "INLINE_FILTER"))

// VectorIndex of CreateTable and CreateVectorIndexAction of UpdateTable.
#define request_vector_index_members(X, T)                                                         \
    WITH_OWN_INDEX_NAME(X, T)                                                                      \
    X(T, REQUIRED, vector_attribute, "VectorAttribute", STRUCT(vector_attribute_definition))       \
    X(T, OPTIONAL, search_schema, "SearchSchema", LIST(STRUCT(search_schema_element)))             \
    WITH_PROJECTION_OF_INDEX(X, T)                                                                 \
    X(T, REQUIRED, dimensions, "Dimensions", INTEGER)                                              \
    X(T, REQUIRED, distance_function, "DistanceFunction",                                          \
      ENUM("COSINE", "DOT_PRODUCT", "EUCLIDEAN"))

// ---- Tables -----------------------------------------------------------------------------

#define create_table_request_members(X, T)                                                         \
    X(T, REQUIRED, attribute_definitions, "AttributeDefinitions",                                  \
      LIST(STRUCT(attribute_definition)))                                                          \
    WITH_OWN_TABLE_NAME(X, T)                                                                      \
    WITH_BILLING_MODE(X, T)                                                                        \
    WITH_PROVISIONED_THROUGHPUT(X, T)                                                              \
    X(T, REQUIRED, key_schema, "KeySchema", LIST_RANGE(STRUCT(key_schema_element), 1, 2))          \
    X(T, OPTIONAL, global_secondary_indexes, "GlobalSecondaryIndexes",                             \
      LIST(STRUCT(global_secondary_index)))                                                        \
    X(T, OPTIONAL, local_secondary_indexes, "LocalSecondaryIndexes",                               \
      LIST(STRUCT(local_secondary_index)))                                                         \
    WITH_STREAM_SPECIFICATION(X, T)                                                                \
    WITH_SSE_SPECIFICATION(X, T)                                                                   \
    X(T, OPTIONAL, tags, "Tags", LIST(STRUCT(request_tag)))                                        \
    WITH_TABLE_CLASS(X, T)                                                                         \
    WITH_DELETION_PROTECTION(X, T)                                                                 \
    WITH_WARM_THROUGHPUT(X, T)                                                                     \
    X(T, OPTIONAL, resource_policy, "ResourcePolicy", TEXT)                                        \
    WITH_ON_DEMAND_THROUGHPUT(X, T)                                                                \
    X(T, OPTIONAL, global_table_source_arn, "GlobalTableSourceArn", TEXT_SIZE(1, 1024))            \
    WITH_REPLICATION_MODE(X, T)                                                                    \
    X(T, OPTIONAL, vector_indexes, "VectorIndexes", LIST(STRUCT(request_vector_index)))

#define update_global_secondary_index_action_members(X, T)                                         \
    WITH_OWN_INDEX_NAME(X, T)                                                                      \
    WITH_PROVISIONED_THROUGHPUT(X, T)                                                              \
    WITH_ON_DEMAND_THROUGHPUT(X, T)                                                                \
    WITH_WARM_THROUGHPUT(X, T)

// DeleteGlobalSecondaryIndexAction and DeleteVectorIndexAction.
#define delete_index_action_members(X, T) WITH_OWN_INDEX_NAME(X, T)

// Members are called after what they do: `update`, `create`, `delete`.
#define global_secondary_index_update_members(X, T)                                                \
    X(T, OPTIONAL, update, "Update", STRUCT(update_global_secondary_index_action))                 \
    X(T, OPTIONAL, create, "Create", STRUCT_BY(global_secondary_index, create_global_index))       \
    X(T, OPTIONAL, delete, "Delete", STRUCT(delete_index_action))

#define vector_index_update_members(X, T)                                                          \
    X(T, OPTIONAL, create, "Create", STRUCT(request_vector_index))                                 \
    X(T, OPTIONAL, delete, "Delete", STRUCT(delete_index_action))

#define provisioned_throughput_override_members(X, T)                                              \
    X(T, OPTIONAL, read_capacity_units, "ReadCapacityUnits", LONG_MIN(1))

#define on_demand_throughput_override_members(X, T)                                                \
    X(T, OPTIONAL, max_read_request_units, "MaxReadRequestUnits", LONG)

#define replica_global_secondary_index_members(X, T)                                               \
    WITH_OWN_INDEX_NAME(X, T)                                                                      \
    WITH_PROVISIONED_OVERRIDE(X, T)                                                                \
    WITH_ON_DEMAND_OVERRIDE(X, T)

// CreateReplicationGroupMemberAction and UpdateReplicationGroupMemberAction.
#define replication_group_member_action_members(X, T)                                              \
    WITH_REGION_NAME(X, T)                                                                         \
    X(T, OPTIONAL, kms_master_key_id, "KMSMasterKeyId", TEXT)                                      \
    WITH_PROVISIONED_OVERRIDE(X, T)                                                                \
    WITH_ON_DEMAND_OVERRIDE(X, T)                                                                  \
    X(T, OPTIONAL, global_secondary_indexes, "GlobalSecondaryIndexes",                             \
      LIST_MIN(STRUCT(replica_global_secondary_index), 1))                                         \
    X(T, OPTIONAL, table_class_override, "TableClassOverride", TEXT_OF(table_class))

// The actions on a region that name no more than it.
#define region_action_members(X, T) WITH_REGION_NAME(X, T)

#define disassociate_replication_group_member_action_members(X, T)                                 \
    WITH_REGION_NAME(X, T)                                                                         \
    X(T, REQUIRED, disassociation_mode, "DisassociationMode", ENUM("WAIT_FOR_REPLICATION"))

#define replication_group_update_members(X, T)                                                     \
    X(T, OPTIONAL, create, "Create", STRUCT(replication_group_member_action))                      \
    X(T, OPTIONAL, update, "Update", STRUCT(replication_group_member_action))                      \
    X(T, OPTIONAL, delete, "Delete", STRUCT(region_action))                                        \
    X(T, OPTIONAL, disassociate, "Disassociate",                                                   \
      STRUCT(disassociate_replication_group_member_action))

#define global_table_witness_group_update_members(X, T)                                            \
    X(T, OPTIONAL, create, "Create", STRUCT(region_action))                                        \
    X(T, OPTIONAL, delete, "Delete", STRUCT(region_action))

#define update_table_request_members(X, T)                                                         \
    X(T, OPTIONAL, attribute_definitions, "AttributeDefinitions",                                  \
      LIST(STRUCT(attribute_definition)))                                                          \
    WITH_OWN_TABLE_NAME(X, T)                                                                      \
    WITH_PROVISIONED_THROUGHPUT(X, T)                                                              \
    WITH_BILLING_MODE(X, T)                                                                        \
    X(T, OPTIONAL, global_secondary_index_updates, "GlobalSecondaryIndexUpdates",                  \
      LIST(STRUCT(global_secondary_index_update)))                                                 \
    WITH_STREAM_SPECIFICATION(X, T)                                                                \
    WITH_SSE_SPECIFICATION(X, T)                                                                   \
    X(T, OPTIONAL, replica_updates, "ReplicaUpdates",                                              \
      LIST_MIN(STRUCT(replication_group_update), 1))                                               \
    WITH_TABLE_CLASS(X, T)                                                                         \
    WITH_DELETION_PROTECTION(X, T)                                                                 \
    X(T, OPTIONAL, multi_region_consistency, "MultiRegionConsistency", ENUM("EVENTUAL", "STRONG")) \
    X(T, OPTIONAL, global_table_witness_updates, "GlobalTableWitnessUpdates",                      \
      LIST_RANGE(STRUCT(global_table_witness_group_update), 1, 1))                                 \
    WITH_ON_DEMAND_THROUGHPUT(X, T)                                                                \
    WITH_WARM_THROUGHPUT(X, T)                                                                     \
    WITH_REPLICATION_MODE(X, T)                                                                    \
    X(T, OPTIONAL, disassociation_protection_enabled, "DisassociationProtectionEnabled", BOOLEAN)  \
    X(T, OPTIONAL, vector_index_updates, "VectorIndexUpdates", LIST(STRUCT(vector_index_update)))

// ---- All of them ------------------------------------------------------------------------------

#define TABLE_REQUESTS(X)                                                                          \
    X(attribute_definition, "AttributeDefinition")                                                 \
    X(key_schema_element, "KeySchemaElement")                                                      \
    X(request_projection, "Projection")                                                            \
    X(request_provisioned_throughput, "ProvisionedThroughput")                                     \
    X(request_on_demand_throughput, "OnDemandThroughput")                                          \
    X(request_warm_throughput, "WarmThroughput")                                                   \
    X(local_secondary_index, "LocalSecondaryIndex")                                                \
    X(global_secondary_index, "GlobalSecondaryIndex")                                              \
    X(request_stream_specification, "StreamSpecification")                                         \
    X(request_sse_specification, "SSESpecification")                                               \
    X(request_tag, "Tag")                                                                          \
    X(vector_attribute_definition, "VectorAttributeDefinition")                                    \
    X(search_schema_element, "SearchSchemaElement")                                                \
    X(request_vector_index, "VectorIndex")                                                         \
    X(create_table_request, "CreateTableInput")                                                    \
    X(update_global_secondary_index_action, "UpdateGlobalSecondaryIndexAction")                    \
    X(delete_index_action, "DeleteGlobalSecondaryIndexAction")                                     \
    X(global_secondary_index_update, "GlobalSecondaryIndexUpdate")                                 \
    X(vector_index_update, "VectorIndexUpdate")                                                    \
    X(provisioned_throughput_override, "ProvisionedThroughputOverride")                            \
    X(on_demand_throughput_override, "OnDemandThroughputOverride")                                 \
    X(replica_global_secondary_index, "ReplicaGlobalSecondaryIndex")                               \
    X(replication_group_member_action, "CreateReplicationGroupMemberAction")                       \
    X(region_action, "DeleteReplicationGroupMemberAction")                                         \
    X(disassociate_replication_group_member_action, "DisassociateReplicationGroupMemberAction")    \
    X(replication_group_update, "ReplicationGroupUpdate")                                          \
    X(global_table_witness_group_update, "GlobalTableWitnessGroupUpdate")                          \
    X(update_table_request, "UpdateTableInput")
TABLE_REQUESTS(REQUEST_STRUCT)

// Other ways to read them.
#define TABLE_VARIANTS(X)                                                                          \
    X(create_global_index, global_secondary_index, "CreateGlobalSecondaryIndexAction")

#endif
