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

REQUEST_ROWS(attribute_definition, ATTRIBUTE_DEFINITION);
static const struct shape attribute_definition =
    REQUEST_SHAPE(attribute_definition, "AttributeDefinition");
const struct shape shape_attribute_definitions = LIST_SHAPE(&attribute_definition);

REQUEST_ROWS(key_schema_element, KEY_SCHEMA_ELEMENT);
static const struct shape key_schema_element =
    REQUEST_SHAPE(key_schema_element, "KeySchemaElement");
const struct shape shape_key_schema = LIST_SHAPE_RANGE(&key_schema_element, 1, 2);
// A global index may have several attributes in each half of its key.
static const struct shape global_key_schema =
    LIST_SHAPE_RANGE(&key_schema_element, 1, 2 * LIMIT_KEY_PARTS);

static const struct shape non_key_attributes = LIST_SHAPE_MIN(&shape_attribute_name, 1);
REQUEST_ROWS(request_projection, REQUEST_PROJECTION);
static const struct shape projection = REQUEST_SHAPE(request_projection, "Projection");

REQUEST_ROWS(request_provisioned_throughput, REQUEST_PROVISIONED_THROUGHPUT);
const struct shape shape_provisioned_throughput =
    REQUEST_SHAPE(request_provisioned_throughput, "ProvisionedThroughput");

REQUEST_ROWS(request_on_demand_throughput, REQUEST_ON_DEMAND_THROUGHPUT);
const struct shape shape_on_demand_throughput =
    REQUEST_SHAPE(request_on_demand_throughput, "OnDemandThroughput");

REQUEST_ROWS(request_warm_throughput, REQUEST_WARM_THROUGHPUT);
static const struct shape warm_throughput =
    REQUEST_SHAPE(request_warm_throughput, "WarmThroughput");

REQUEST_ROWS(request_stream_specification, REQUEST_STREAM_SPECIFICATION);
static const struct shape stream_specification =
    REQUEST_SHAPE(request_stream_specification, "StreamSpecification");

REQUEST_ROWS(request_sse_specification, REQUEST_SSE_SPECIFICATION);
const struct shape shape_sse_specification =
    REQUEST_SHAPE(request_sse_specification, "SSESpecification");

static const struct shape tag_key = STRING_SHAPE_RANGE(1, 128);
static const struct shape tag_value = STRING_SHAPE_RANGE(0, 256);
REQUEST_ROWS(request_tag, REQUEST_TAG);
static const struct shape tag = REQUEST_SHAPE(request_tag, "Tag");
static const struct shape tags = LIST_SHAPE(&tag);

// ---- Indexes ------------------------------------------------------------------------------

REQUEST_ROWS(local_secondary_index, LOCAL_SECONDARY_INDEX);
static const struct shape local_index = REQUEST_SHAPE(local_secondary_index, "LocalSecondaryIndex");
const struct shape shape_local_indexes = LIST_SHAPE(&local_index);

static const struct shape_member global_index_rows[] = {
    SHAPE_ROW(global_secondary_index, REQUIRED, index_name, "IndexName", shape_plain_name),
    SHAPE_ROW(global_secondary_index, REQUIRED, key_schema, "KeySchema", global_key_schema),
    SHAPE_ROW(global_secondary_index, REQUIRED, projection, "Projection", projection),
    SHAPE_ROW(global_secondary_index, OPTIONAL, provisioned_throughput, "ProvisionedThroughput",
              shape_provisioned_throughput),
    SHAPE_ROW(global_secondary_index, OPTIONAL, on_demand_throughput, "OnDemandThroughput",
              shape_on_demand_throughput),
    SHAPE_ROW(global_secondary_index, OPTIONAL, warm_throughput, "WarmThroughput", warm_throughput),
};
static const struct shape global_index =
    STRUCT_SHAPE(global_secondary_index, "GlobalSecondaryIndex", global_index_rows);
const struct shape shape_global_indexes = LIST_SHAPE(&global_index);

// The same structure in UpdateTable, where it is checked in another order.
static const struct shape_member create_global_index_rows[] = {
    SHAPE_ROW(global_secondary_index, REQUIRED, projection, "Projection", projection),
    SHAPE_ROW(global_secondary_index, REQUIRED, index_name, "IndexName", shape_plain_name),
    SHAPE_ROW(global_secondary_index, OPTIONAL, provisioned_throughput, "ProvisionedThroughput",
              shape_provisioned_throughput),
    SHAPE_ROW(global_secondary_index, REQUIRED, key_schema, "KeySchema", global_key_schema),
    SHAPE_ROW(global_secondary_index, OPTIONAL, on_demand_throughput, "OnDemandThroughput",
              shape_on_demand_throughput),
    SHAPE_ROW(global_secondary_index, OPTIONAL, warm_throughput, "WarmThroughput", warm_throughput),
};
static const struct shape create_global_index = STRUCT_SHAPE(
    global_secondary_index, "CreateGlobalSecondaryIndexAction", create_global_index_rows);

REQUEST_ROWS(update_global_secondary_index_action, UPDATE_GLOBAL_SECONDARY_INDEX_ACTION);
static const struct shape update_global_index =
    REQUEST_SHAPE(update_global_secondary_index_action, "UpdateGlobalSecondaryIndexAction");

REQUEST_ROWS(delete_index_action, DELETE_INDEX_ACTION);
static const struct shape delete_index =
    REQUEST_SHAPE(delete_index_action, "DeleteGlobalSecondaryIndexAction");

REQUEST_ROWS(global_secondary_index_update, GLOBAL_SECONDARY_INDEX_UPDATE);
static const struct shape global_index_update =
    REQUEST_SHAPE(global_secondary_index_update, "GlobalSecondaryIndexUpdate");
static const struct shape global_index_updates = LIST_SHAPE(&global_index_update);

REQUEST_ROWS(vector_attribute_definition, VECTOR_ATTRIBUTE_DEFINITION);
static const struct shape vector_attribute =
    REQUEST_SHAPE(vector_attribute_definition, "VectorAttributeDefinition");

REQUEST_ROWS(search_schema_element, SEARCH_SCHEMA_ELEMENT);
static const struct shape search_schema_element =
    REQUEST_SHAPE(search_schema_element, "SearchSchemaElement");
static const struct shape search_schema = LIST_SHAPE(&search_schema_element);

// Dimensions out of range have a message of their own.
REQUEST_ROWS(request_vector_index, REQUEST_VECTOR_INDEX);
static const struct shape vector_index = REQUEST_SHAPE(request_vector_index, "VectorIndex");
const struct shape shape_vector_indexes = LIST_SHAPE(&vector_index);

REQUEST_ROWS(vector_index_update, VECTOR_INDEX_UPDATE);
static const struct shape vector_index_update =
    REQUEST_SHAPE(vector_index_update, "VectorIndexUpdate");
static const struct shape vector_index_updates = LIST_SHAPE(&vector_index_update);

// ---- Replicas ------------------------------------------------------------------------------

REQUEST_ROWS(provisioned_throughput_override, PROVISIONED_THROUGHPUT_OVERRIDE);
static const struct shape provisioned_override =
    REQUEST_SHAPE(provisioned_throughput_override, "ProvisionedThroughputOverride");

REQUEST_ROWS(on_demand_throughput_override, ON_DEMAND_THROUGHPUT_OVERRIDE);
static const struct shape on_demand_override =
    REQUEST_SHAPE(on_demand_throughput_override, "OnDemandThroughputOverride");

REQUEST_ROWS(replica_global_secondary_index, REPLICA_GLOBAL_SECONDARY_INDEX);
static const struct shape replica_index =
    REQUEST_SHAPE(replica_global_secondary_index, "ReplicaGlobalSecondaryIndex");
static const struct shape replica_indexes = LIST_SHAPE_MIN(&replica_index, 1);

REQUEST_ROWS(replication_group_member_action, REPLICATION_GROUP_MEMBER_ACTION);
static const struct shape replica_member =
    REQUEST_SHAPE(replication_group_member_action, "CreateReplicationGroupMemberAction");

REQUEST_ROWS(region_action, REGION_ACTION);
static const struct shape region =
    REQUEST_SHAPE(region_action, "DeleteReplicationGroupMemberAction");

REQUEST_ROWS(disassociate_replication_group_member_action,
             DISASSOCIATE_REPLICATION_GROUP_MEMBER_ACTION);
static const struct shape disassociate = REQUEST_SHAPE(disassociate_replication_group_member_action,
                                                       "DisassociateReplicationGroupMemberAction");

REQUEST_ROWS(replication_group_update, REPLICATION_GROUP_UPDATE);
static const struct shape replica_update =
    REQUEST_SHAPE(replication_group_update, "ReplicationGroupUpdate");
static const struct shape replica_updates = LIST_SHAPE_MIN(&replica_update, 1);

REQUEST_ROWS(global_table_witness_group_update, GLOBAL_TABLE_WITNESS_GROUP_UPDATE);
static const struct shape witness_update =
    REQUEST_SHAPE(global_table_witness_group_update, "GlobalTableWitnessGroupUpdate");
static const struct shape witness_updates = LIST_SHAPE_RANGE(&witness_update, 1, 1);

// ---- Requests on tables ------------------------------------------------------------------------

REQUEST_ROWS(create_table_request, CREATE_TABLE_REQUEST);
const struct shape shape_create_table_request =
    REQUEST_SHAPE(create_table_request, "CreateTableInput");

REQUEST_ROWS(update_table_request, UPDATE_TABLE_REQUEST);
const struct shape shape_update_table_request =
    REQUEST_SHAPE(update_table_request, "UpdateTableInput");

static const struct shape_member table_name_rows[] = {
    SHAPE_ROW(table_name_request, REQUIRED, table_name, "TableName", shape_own_table_name),
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
REQUEST_ROWS(list_tables_request, LIST_TABLES_REQUEST);
const struct shape shape_list_tables_request =
    REQUEST_SHAPE(list_tables_request, "ListTablesInput");

// ---- Around tables ------------------------------------------------------------------

REQUEST_ROWS(time_to_live_specification, TIME_TO_LIVE_SPECIFICATION);
static const struct shape time_to_live =
    REQUEST_SHAPE(time_to_live_specification, "TimeToLiveSpecification");

REQUEST_ROWS(update_time_to_live_request, UPDATE_TIME_TO_LIVE_REQUEST);
const struct shape shape_update_time_to_live_request =
    REQUEST_SHAPE(update_time_to_live_request, "UpdateTimeToLiveInput");

REQUEST_ROWS(list_tags_of_resource_request, LIST_TAGS_OF_RESOURCE_REQUEST);
const struct shape shape_list_tags_of_resource_request =
    REQUEST_SHAPE(list_tags_of_resource_request, "ListTagsOfResourceInput");

REQUEST_ROWS(tag_resource_request, TAG_RESOURCE_REQUEST);
const struct shape shape_tag_resource_request =
    REQUEST_SHAPE(tag_resource_request, "TagResourceInput");

static const struct shape tag_keys = LIST_SHAPE(&tag_key);
REQUEST_ROWS(untag_resource_request, UNTAG_RESOURCE_REQUEST);
const struct shape shape_untag_resource_request =
    REQUEST_SHAPE(untag_resource_request, "UntagResourceInput");
