// The shapes of the requests on tables and around them.
//
// The order of the rows is the order in which broken constraints are reported, so it is
// the service's order and not the one of its documentation; members whose place is
// not known stand last. The values of an enumeration stand as messages print them.
#include "requests/shapes_internal.h"

#include "base/limits.h"

// ---- Parts ------------------------------------------------------------------------------

static const char *const attribute_types[] = {"B", "N", "S", NULL};
static const char *const key_types[] = {"HASH", "RANGE", NULL};
static const char *const projection_types[] = {"ALL", "INCLUDE", "KEYS_ONLY", NULL};
static const char *const billing_modes[] = {"PROVISIONED", "PAY_PER_REQUEST", NULL};
static const char *const stream_view_types[] = {"NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES",
                                                "KEYS_ONLY", NULL};
static const char *const sse_types[] = {"AES256", "KMS", NULL};
static const char *const table_classes[] = {"STANDARD", "STANDARD_INFREQUENT_ACCESS", NULL};
static const char *const replication_modes[] = {"DISABLED", "ENABLED", "ENABLED_WITH_OVERRIDES",
                                                NULL};
static const char *const consistencies[] = {"EVENTUAL", "STRONG", NULL};
static const char *const disassociation_modes[] = {"WAIT_FOR_REPLICATION", NULL};
static const char *const distance_functions[] = {"COSINE", "DOT_PRODUCT", "EUCLIDEAN", NULL};
static const char *const search_element_types[] = {"HASH", "INLINE_FILTER", NULL};

static const struct shape attribute_type = ENUM_SHAPE(attribute_types);
static const struct shape key_type = ENUM_SHAPE(key_types);
static const struct shape projection_type = ENUM_SHAPE(projection_types);
const struct shape shape_billing_mode = ENUM_SHAPE(billing_modes);
static const struct shape stream_view_type = ENUM_SHAPE(stream_view_types);
static const struct shape sse_type = ENUM_SHAPE(sse_types);
static const struct shape table_class = ENUM_SHAPE(table_classes);
static const struct shape replication_mode = ENUM_SHAPE(replication_modes);
static const struct shape consistency = ENUM_SHAPE(consistencies);
static const struct shape disassociation_mode = ENUM_SHAPE(disassociation_modes);
static const struct shape distance_function = ENUM_SHAPE(distance_functions);
static const struct shape search_element_type = ENUM_SHAPE(search_element_types);

static const struct shape_member attribute_definition_rows[] = {
    REQUIRED(attribute_definition, attribute_name, "AttributeName", &shape_attribute_name),
    REQUIRED(attribute_definition, attribute_type, "AttributeType", &attribute_type),
};
static const struct shape attribute_definition =
    STRUCT_SHAPE(attribute_definition, "AttributeDefinition", attribute_definition_rows);
const struct shape shape_attribute_definitions = LIST_SHAPE(&attribute_definition);

static const struct shape_member key_schema_element_rows[] = {
    REQUIRED(key_schema_element, attribute_name, "AttributeName", &shape_attribute_name),
    REQUIRED(key_schema_element, key_type, "KeyType", &key_type),
};
static const struct shape key_schema_element =
    STRUCT_SHAPE(key_schema_element, "KeySchemaElement", key_schema_element_rows);
const struct shape shape_key_schema = LIST_SHAPE_RANGE(&key_schema_element, 1, 2);
// A global index may have several attributes in each half of its key.
static const struct shape global_key_schema =
    LIST_SHAPE_RANGE(&key_schema_element, 1, 2 * LIMIT_KEY_PARTS);

static const struct shape non_key_attributes = LIST_SHAPE_MIN(&shape_attribute_name, 1);
static const struct shape_member projection_rows[] = {
    OPTIONAL(request_projection, projection_type, "ProjectionType", &projection_type),
    OPTIONAL(request_projection, non_key_attributes, "NonKeyAttributes", &non_key_attributes),
};
static const struct shape projection =
    STRUCT_SHAPE(request_projection, "Projection", projection_rows);

static const struct shape_member provisioned_throughput_rows[] = {
    REQUIRED(request_provisioned_throughput, write_capacity_units, "WriteCapacityUnits",
             &shape_positive_long),
    REQUIRED(request_provisioned_throughput, read_capacity_units, "ReadCapacityUnits",
             &shape_positive_long),
};
const struct shape shape_provisioned_throughput = STRUCT_SHAPE(
    request_provisioned_throughput, "ProvisionedThroughput", provisioned_throughput_rows);

static const struct shape_member on_demand_throughput_rows[] = {
    OPTIONAL(request_on_demand_throughput, max_read_request_units, "MaxReadRequestUnits",
             &shape_any_long),
    OPTIONAL(request_on_demand_throughput, max_write_request_units, "MaxWriteRequestUnits",
             &shape_any_long),
};
const struct shape shape_on_demand_throughput =
    STRUCT_SHAPE(request_on_demand_throughput, "OnDemandThroughput", on_demand_throughput_rows);

static const struct shape_member warm_throughput_rows[] = {
    OPTIONAL(request_warm_throughput, read_units_per_second, "ReadUnitsPerSecond", &shape_any_long),
    OPTIONAL(request_warm_throughput, write_units_per_second, "WriteUnitsPerSecond",
             &shape_any_long),
};
static const struct shape warm_throughput =
    STRUCT_SHAPE(request_warm_throughput, "WarmThroughput", warm_throughput_rows);

static const struct shape_member stream_specification_rows[] = {
    REQUIRED(request_stream_specification, stream_enabled, "StreamEnabled", &shape_any_boolean),
    OPTIONAL(request_stream_specification, stream_view_type, "StreamViewType", &stream_view_type),
};
static const struct shape stream_specification =
    STRUCT_SHAPE(request_stream_specification, "StreamSpecification", stream_specification_rows);

static const struct shape_member sse_specification_rows[] = {
    OPTIONAL(request_sse_specification, enabled, "Enabled", &shape_any_boolean),
    OPTIONAL(request_sse_specification, sse_type, "SSEType", &sse_type),
    OPTIONAL(request_sse_specification, kms_master_key_id, "KMSMasterKeyId", &shape_any_string),
};
const struct shape shape_sse_specification =
    STRUCT_SHAPE(request_sse_specification, "SSESpecification", sse_specification_rows);

static const struct shape tag_key = STRING_SHAPE_RANGE(1, 128);
static const struct shape tag_value = STRING_SHAPE_RANGE(0, 256);
static const struct shape_member tag_rows[] = {
    REQUIRED(request_tag, key, "Key", &tag_key),
    REQUIRED(request_tag, value, "Value", &tag_value),
};
static const struct shape tag = STRUCT_SHAPE(request_tag, "Tag", tag_rows);
static const struct shape tags = LIST_SHAPE(&tag);

// ---- Indexes ------------------------------------------------------------------------------

static const struct shape_member local_index_rows[] = {
    REQUIRED(local_secondary_index, index_name, "IndexName", &shape_plain_name),
    REQUIRED(local_secondary_index, key_schema, "KeySchema", &shape_key_schema),
    REQUIRED(local_secondary_index, projection, "Projection", &projection),
};
static const struct shape local_index =
    STRUCT_SHAPE(local_secondary_index, "LocalSecondaryIndex", local_index_rows);
const struct shape shape_local_indexes = LIST_SHAPE(&local_index);

static const struct shape_member global_index_rows[] = {
    REQUIRED(global_secondary_index, index_name, "IndexName", &shape_plain_name),
    REQUIRED(global_secondary_index, key_schema, "KeySchema", &global_key_schema),
    REQUIRED(global_secondary_index, projection, "Projection", &projection),
    OPTIONAL(global_secondary_index, provisioned_throughput, "ProvisionedThroughput",
             &shape_provisioned_throughput),
    OPTIONAL(global_secondary_index, on_demand_throughput, "OnDemandThroughput",
             &shape_on_demand_throughput),
    OPTIONAL(global_secondary_index, warm_throughput, "WarmThroughput", &warm_throughput),
};
static const struct shape global_index =
    STRUCT_SHAPE(global_secondary_index, "GlobalSecondaryIndex", global_index_rows);
const struct shape shape_global_indexes = LIST_SHAPE(&global_index);

// The same structure in UpdateTable, where it is checked in another order.
static const struct shape_member create_global_index_rows[] = {
    REQUIRED(global_secondary_index, projection, "Projection", &projection),
    REQUIRED(global_secondary_index, index_name, "IndexName", &shape_plain_name),
    OPTIONAL(global_secondary_index, provisioned_throughput, "ProvisionedThroughput",
             &shape_provisioned_throughput),
    REQUIRED(global_secondary_index, key_schema, "KeySchema", &global_key_schema),
    OPTIONAL(global_secondary_index, on_demand_throughput, "OnDemandThroughput",
             &shape_on_demand_throughput),
    OPTIONAL(global_secondary_index, warm_throughput, "WarmThroughput", &warm_throughput),
};
static const struct shape create_global_index = STRUCT_SHAPE(
    global_secondary_index, "CreateGlobalSecondaryIndexAction", create_global_index_rows);

static const struct shape_member update_global_index_rows[] = {
    REQUIRED(update_global_secondary_index_action, index_name, "IndexName", &shape_plain_name),
    OPTIONAL(update_global_secondary_index_action, provisioned_throughput, "ProvisionedThroughput",
             &shape_provisioned_throughput),
    OPTIONAL(update_global_secondary_index_action, on_demand_throughput, "OnDemandThroughput",
             &shape_on_demand_throughput),
    OPTIONAL(update_global_secondary_index_action, warm_throughput, "WarmThroughput",
             &warm_throughput),
};
static const struct shape update_global_index =
    STRUCT_SHAPE(update_global_secondary_index_action, "UpdateGlobalSecondaryIndexAction",
                 update_global_index_rows);

static const struct shape_member delete_index_rows[] = {
    REQUIRED(delete_index_action, index_name, "IndexName", &shape_plain_name),
};
static const struct shape delete_index =
    STRUCT_SHAPE(delete_index_action, "DeleteGlobalSecondaryIndexAction", delete_index_rows);

static const struct shape_member global_index_update_rows[] = {
    OPTIONAL(global_secondary_index_update, update, "Update", &update_global_index),
    OPTIONAL(global_secondary_index_update, create, "Create", &create_global_index),
    OPTIONAL(global_secondary_index_update, delete, "Delete", &delete_index),
};
static const struct shape global_index_update = STRUCT_SHAPE(
    global_secondary_index_update, "GlobalSecondaryIndexUpdate", global_index_update_rows);
static const struct shape global_index_updates = LIST_SHAPE(&global_index_update);

static const struct shape_member vector_attribute_rows[] = {
    REQUIRED(vector_attribute_definition, attribute_name, "AttributeName", &shape_attribute_name),
};
static const struct shape vector_attribute =
    STRUCT_SHAPE(vector_attribute_definition, "VectorAttributeDefinition", vector_attribute_rows);

static const struct shape_member search_schema_rows[] = {
    REQUIRED(search_schema_element, attribute_name, "AttributeName", &shape_attribute_name),
    REQUIRED(search_schema_element, search_schema_element_type, "SearchSchemaElementType",
             &search_element_type),
};
static const struct shape search_schema_element =
    STRUCT_SHAPE(search_schema_element, "SearchSchemaElement", search_schema_rows);
static const struct shape search_schema = LIST_SHAPE(&search_schema_element);

// Dimensions out of range have a message of their own.
static const struct shape_member vector_index_rows[] = {
    REQUIRED(request_vector_index, index_name, "IndexName", &shape_plain_name),
    REQUIRED(request_vector_index, vector_attribute, "VectorAttribute", &vector_attribute),
    OPTIONAL(request_vector_index, search_schema, "SearchSchema", &search_schema),
    REQUIRED(request_vector_index, projection, "Projection", &projection),
    REQUIRED(request_vector_index, dimensions, "Dimensions", &shape_any_integer),
    REQUIRED(request_vector_index, distance_function, "DistanceFunction", &distance_function),
};
static const struct shape vector_index =
    STRUCT_SHAPE(request_vector_index, "VectorIndex", vector_index_rows);
const struct shape shape_vector_indexes = LIST_SHAPE(&vector_index);

static const struct shape_member vector_index_update_rows[] = {
    OPTIONAL(vector_index_update, create, "Create", &vector_index),
    OPTIONAL(vector_index_update, delete, "Delete", &delete_index),
};
static const struct shape vector_index_update =
    STRUCT_SHAPE(vector_index_update, "VectorIndexUpdate", vector_index_update_rows);
static const struct shape vector_index_updates = LIST_SHAPE(&vector_index_update);

// ---- Replicas ------------------------------------------------------------------------------

static const struct shape_member provisioned_override_rows[] = {
    OPTIONAL(provisioned_throughput_override, read_capacity_units, "ReadCapacityUnits",
             &shape_positive_long),
};
static const struct shape provisioned_override = STRUCT_SHAPE(
    provisioned_throughput_override, "ProvisionedThroughputOverride", provisioned_override_rows);

static const struct shape_member on_demand_override_rows[] = {
    OPTIONAL(on_demand_throughput_override, max_read_request_units, "MaxReadRequestUnits",
             &shape_any_long),
};
static const struct shape on_demand_override = STRUCT_SHAPE(
    on_demand_throughput_override, "OnDemandThroughputOverride", on_demand_override_rows);

static const struct shape_member replica_index_rows[] = {
    REQUIRED(replica_global_secondary_index, index_name, "IndexName", &shape_plain_name),
    OPTIONAL(replica_global_secondary_index, provisioned_throughput_override,
             "ProvisionedThroughputOverride", &provisioned_override),
    OPTIONAL(replica_global_secondary_index, on_demand_throughput_override,
             "OnDemandThroughputOverride", &on_demand_override),
};
static const struct shape replica_index =
    STRUCT_SHAPE(replica_global_secondary_index, "ReplicaGlobalSecondaryIndex", replica_index_rows);
static const struct shape replica_indexes = LIST_SHAPE_MIN(&replica_index, 1);

static const struct shape_member replica_member_rows[] = {
    REQUIRED(replication_group_member_action, region_name, "RegionName", &shape_any_string),
    OPTIONAL(replication_group_member_action, kms_master_key_id, "KMSMasterKeyId",
             &shape_any_string),
    OPTIONAL(replication_group_member_action, provisioned_throughput_override,
             "ProvisionedThroughputOverride", &provisioned_override),
    OPTIONAL(replication_group_member_action, on_demand_throughput_override,
             "OnDemandThroughputOverride", &on_demand_override),
    OPTIONAL(replication_group_member_action, global_secondary_indexes, "GlobalSecondaryIndexes",
             &replica_indexes),
    OPTIONAL(replication_group_member_action, table_class_override, "TableClassOverride",
             &table_class),
};
static const struct shape replica_member = STRUCT_SHAPE(
    replication_group_member_action, "CreateReplicationGroupMemberAction", replica_member_rows);

static const struct shape_member region_rows[] = {
    REQUIRED(region_action, region_name, "RegionName", &shape_any_string),
};
static const struct shape region =
    STRUCT_SHAPE(region_action, "DeleteReplicationGroupMemberAction", region_rows);

static const struct shape_member disassociate_rows[] = {
    REQUIRED(disassociate_replication_group_member_action, region_name, "RegionName",
             &shape_any_string),
    REQUIRED(disassociate_replication_group_member_action, disassociation_mode,
             "DisassociationMode", &disassociation_mode),
};
static const struct shape disassociate =
    STRUCT_SHAPE(disassociate_replication_group_member_action,
                 "DisassociateReplicationGroupMemberAction", disassociate_rows);

static const struct shape_member replica_update_rows[] = {
    OPTIONAL(replication_group_update, create, "Create", &replica_member),
    OPTIONAL(replication_group_update, update, "Update", &replica_member),
    OPTIONAL(replication_group_update, delete, "Delete", &region),
    OPTIONAL(replication_group_update, disassociate, "Disassociate", &disassociate),
};
static const struct shape replica_update =
    STRUCT_SHAPE(replication_group_update, "ReplicationGroupUpdate", replica_update_rows);
static const struct shape replica_updates = LIST_SHAPE_MIN(&replica_update, 1);

static const struct shape_member witness_update_rows[] = {
    OPTIONAL(global_table_witness_group_update, create, "Create", &region),
    OPTIONAL(global_table_witness_group_update, delete, "Delete", &region),
};
static const struct shape witness_update = STRUCT_SHAPE(
    global_table_witness_group_update, "GlobalTableWitnessGroupUpdate", witness_update_rows);
static const struct shape witness_updates = LIST_SHAPE_RANGE(&witness_update, 1, 1);

// ---- Requests on tables ------------------------------------------------------------------------

static const struct shape_member create_table_rows[] = {
    REQUIRED(create_table_request, attribute_definitions, "AttributeDefinitions",
             &shape_attribute_definitions),
    REQUIRED(create_table_request, table_name, "TableName", &shape_own_table_name),
    OPTIONAL(create_table_request, billing_mode, "BillingMode", &shape_billing_mode),
    OPTIONAL(create_table_request, provisioned_throughput, "ProvisionedThroughput",
             &shape_provisioned_throughput),
    REQUIRED(create_table_request, key_schema, "KeySchema", &shape_key_schema),
    OPTIONAL(create_table_request, local_secondary_indexes, "LocalSecondaryIndexes",
             &shape_local_indexes),
    OPTIONAL(create_table_request, global_secondary_indexes, "GlobalSecondaryIndexes",
             &shape_global_indexes),
    OPTIONAL(create_table_request, stream_specification, "StreamSpecification",
             &stream_specification),
    OPTIONAL(create_table_request, sse_specification, "SSESpecification", &shape_sse_specification),
    OPTIONAL(create_table_request, tags, "Tags", &tags),
    OPTIONAL(create_table_request, table_class, "TableClass", &table_class),
    OPTIONAL(create_table_request, deletion_protection_enabled, "DeletionProtectionEnabled",
             &shape_any_boolean),
    OPTIONAL(create_table_request, warm_throughput, "WarmThroughput", &warm_throughput),
    OPTIONAL(create_table_request, resource_policy, "ResourcePolicy", &shape_any_string),
    OPTIONAL(create_table_request, on_demand_throughput, "OnDemandThroughput",
             &shape_on_demand_throughput),
    OPTIONAL(create_table_request, global_table_source_arn, "GlobalTableSourceArn",
             &shape_any_string),
    OPTIONAL(create_table_request, global_table_settings_replication_mode,
             "GlobalTableSettingsReplicationMode", &replication_mode),
    OPTIONAL(create_table_request, vector_indexes, "VectorIndexes", &shape_vector_indexes),
};
const struct shape shape_create_table_request =
    STRUCT_SHAPE(create_table_request, "CreateTableInput", create_table_rows);

static const struct shape_member update_table_rows[] = {
    OPTIONAL(update_table_request, attribute_definitions, "AttributeDefinitions",
             &shape_attribute_definitions),
    REQUIRED(update_table_request, table_name, "TableName", &shape_own_table_name),
    OPTIONAL(update_table_request, provisioned_throughput, "ProvisionedThroughput",
             &shape_provisioned_throughput),
    OPTIONAL(update_table_request, billing_mode, "BillingMode", &shape_billing_mode),
    OPTIONAL(update_table_request, global_secondary_index_updates, "GlobalSecondaryIndexUpdates",
             &global_index_updates),
    OPTIONAL(update_table_request, stream_specification, "StreamSpecification",
             &stream_specification),
    OPTIONAL(update_table_request, sse_specification, "SSESpecification", &shape_sse_specification),
    OPTIONAL(update_table_request, replica_updates, "ReplicaUpdates", &replica_updates),
    OPTIONAL(update_table_request, table_class, "TableClass", &table_class),
    OPTIONAL(update_table_request, deletion_protection_enabled, "DeletionProtectionEnabled",
             &shape_any_boolean),
    OPTIONAL(update_table_request, multi_region_consistency, "MultiRegionConsistency",
             &consistency),
    OPTIONAL(update_table_request, global_table_witness_updates, "GlobalTableWitnessUpdates",
             &witness_updates),
    OPTIONAL(update_table_request, on_demand_throughput, "OnDemandThroughput",
             &shape_on_demand_throughput),
    OPTIONAL(update_table_request, warm_throughput, "WarmThroughput", &warm_throughput),
    OPTIONAL(update_table_request, global_table_settings_replication_mode,
             "GlobalTableSettingsReplicationMode", &replication_mode),
    OPTIONAL(update_table_request, disassociation_protection_enabled,
             "DisassociationProtectionEnabled", &shape_any_boolean),
    OPTIONAL(update_table_request, vector_index_updates, "VectorIndexUpdates",
             &vector_index_updates),
};
const struct shape shape_update_table_request =
    STRUCT_SHAPE(update_table_request, "UpdateTableInput", update_table_rows);

static const struct shape_member table_name_rows[] = {
    REQUIRED(table_name_request, table_name, "TableName", &shape_own_table_name),
};
const struct shape shape_table_name_request =
    STRUCT_SHAPE(table_name_request, "DescribeTableInput", table_name_rows);

static const struct shape list_tables_limit = {
    .kind = SHAPE_INTEGER,
    .has_min = true,
    .min = 1,
    .has_max = true,
    .max = 100,
};
static const struct shape_member list_tables_rows[] = {
    OPTIONAL(list_tables_request, limit, "Limit", &list_tables_limit),
    OPTIONAL(list_tables_request, exclusive_start_table_name, "ExclusiveStartTableName",
             &shape_plain_name),
};
const struct shape shape_list_tables_request =
    STRUCT_SHAPE(list_tables_request, "ListTablesInput", list_tables_rows);

// ---- Around tables ------------------------------------------------------------------

static const struct shape_member time_to_live_rows[] = {
    REQUIRED(time_to_live_specification, enabled, "Enabled", &shape_any_boolean),
    REQUIRED(time_to_live_specification, attribute_name, "AttributeName", &shape_attribute_name),
};
static const struct shape time_to_live =
    STRUCT_SHAPE(time_to_live_specification, "TimeToLiveSpecification", time_to_live_rows);

static const struct shape_member update_time_to_live_rows[] = {
    REQUIRED(update_time_to_live_request, table_name, "TableName", &shape_own_table_name),
    REQUIRED(update_time_to_live_request, time_to_live_specification, "TimeToLiveSpecification",
             &time_to_live),
};
const struct shape shape_update_time_to_live_request =
    STRUCT_SHAPE(update_time_to_live_request, "UpdateTimeToLiveInput", update_time_to_live_rows);

static const struct shape_member list_tags_rows[] = {
    OPTIONAL(list_tags_of_resource_request, resource_arn, "ResourceArn", &shape_any_string),
    OPTIONAL(list_tags_of_resource_request, next_token, "NextToken", &shape_any_string),
};
const struct shape shape_list_tags_of_resource_request =
    STRUCT_SHAPE(list_tags_of_resource_request, "ListTagsOfResourceInput", list_tags_rows);

static const struct shape_member tag_resource_rows[] = {
    OPTIONAL(tag_resource_request, resource_arn, "ResourceArn", &shape_any_string),
    REQUIRED(tag_resource_request, tags, "Tags", &tags),
};
const struct shape shape_tag_resource_request =
    STRUCT_SHAPE(tag_resource_request, "TagResourceInput", tag_resource_rows);

static const struct shape tag_keys = LIST_SHAPE(&tag_key);
static const struct shape_member untag_resource_rows[] = {
    OPTIONAL(untag_resource_request, resource_arn, "ResourceArn", &shape_any_string),
    REQUIRED(untag_resource_request, tag_keys, "TagKeys", &tag_keys),
};
const struct shape shape_untag_resource_request =
    STRUCT_SHAPE(untag_resource_request, "UntagResourceInput", untag_resource_rows);
