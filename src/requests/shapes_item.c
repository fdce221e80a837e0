// The shapes of the requests on items: single, batched and transacted.
//
// The order of the rows is the order in which broken constraints are reported, so it is
// the service's order and not the one of its documentation; members without
// constraints stand last. The values of an enumeration stand as messages print them.
#include "requests/shapes_internal.h"

#include "base/limits.h"

// ---- Parts ------------------------------------------------------------------------------

static const char *const capacities[] = {"INDEXES", "TOTAL", "NONE", NULL};
static const char *const metrics[] = {"SIZE", "NONE", NULL};
static const char *const return_value_names[] = {"ALL_NEW", "UPDATED_OLD", "ALL_OLD",
                                                 "NONE",    "UPDATED_NEW", NULL};
static const char *const failure_values[] = {"ALL_OLD", "NONE", NULL};
static const char *const conditional_operators[] = {"OR", "AND", NULL};
static const char *const comparison_operators[] = {
    "IN",       "NULL", "BETWEEN", "LT",          "NOT_CONTAINS", "EQ",       "GT",
    "NOT_NULL", "NE",   "LE",      "BEGINS_WITH", "GE",           "CONTAINS", NULL};
static const char *const update_actions[] = {"ADD", "DELETE", "PUT", NULL};
static const char *const selects[] = {"SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES",
                                      "ALL_PROJECTED_ATTRIBUTES", NULL};

static const struct shape capacity = ENUM_SHAPE(capacities);
static const struct shape collection_metrics = ENUM_SHAPE(metrics);
static const struct shape return_values = ENUM_SHAPE(return_value_names);
static const struct shape on_failure = ENUM_SHAPE(failure_values);
static const struct shape conditional_operator = ENUM_SHAPE(conditional_operators);
static const struct shape comparison_operator = ENUM_SHAPE(comparison_operators);
static const struct shape update_action = ENUM_SHAPE(update_actions);
static const struct shape select_kind = ENUM_SHAPE(selects);

static const struct shape names = MAP_SHAPE(&shape_any_string);
static const struct shape values = LIST_SHAPE(&shape_any_value);
static const struct shape attributes_to_get = LIST_SHAPE_RANGE(&shape_any_string, 1, 255);

static const struct shape_member expected_rows[] = {
    OPTIONAL(expected_attribute_value, attribute_value_list, "AttributeValueList", &values),
    OPTIONAL(expected_attribute_value, comparison_operator, "ComparisonOperator",
             &comparison_operator),
    OPTIONAL(expected_attribute_value, exists, "Exists", &shape_any_boolean),
    OPTIONAL(expected_attribute_value, value, "Value", &shape_any_value),
};
static const struct shape expected_value =
    STRUCT_SHAPE(expected_attribute_value, "ExpectedAttributeValue", expected_rows);
static const struct shape expected = MAP_SHAPE(&expected_value);

static const struct shape_member condition_rows[] = {
    OPTIONAL(request_condition, attribute_value_list, "AttributeValueList", &values),
    REQUIRED(request_condition, comparison_operator, "ComparisonOperator", &comparison_operator),
};
static const struct shape condition = STRUCT_SHAPE(request_condition, "Condition", condition_rows);
static const struct shape conditions = MAP_SHAPE(&condition);

static const struct shape_member update_rows[] = {
    OPTIONAL(attribute_value_update, action, "Action", &update_action),
    OPTIONAL(attribute_value_update, value, "Value", &shape_any_value),
};
static const struct shape attribute_update =
    STRUCT_SHAPE(attribute_value_update, "AttributeValueUpdate", update_rows);
static const struct shape attribute_updates = MAP_SHAPE(&attribute_update);

// ---- Single items --------------------------------------------------------------------------

static const struct shape_member put_item_rows[] = {
    OPTIONAL(put_item_request, return_consumed_capacity, "ReturnConsumedCapacity", &capacity),
    REQUIRED(put_item_request, table_name, "TableName", &shape_table_name),
    REQUIRED(put_item_request, item, "Item", &shape_any_item),
    OPTIONAL(put_item_request, conditional_operator, "ConditionalOperator", &conditional_operator),
    OPTIONAL(put_item_request, expected, "Expected", &expected),
    OPTIONAL(put_item_request, return_values, "ReturnValues", &return_values),
    OPTIONAL(put_item_request, return_item_collection_metrics, "ReturnItemCollectionMetrics",
             &collection_metrics),
    OPTIONAL(put_item_request, return_values_on_condition_check_failure,
             "ReturnValuesOnConditionCheckFailure", &on_failure),
    OPTIONAL(put_item_request, condition_expression, "ConditionExpression", &shape_any_string),
    OPTIONAL(put_item_request, expression_attribute_values, "ExpressionAttributeValues",
             &shape_any_item),
    OPTIONAL(put_item_request, expression_attribute_names, "ExpressionAttributeNames", &names),
};
const struct shape shape_put_item_request =
    STRUCT_SHAPE(put_item_request, "PutItemInput", put_item_rows);

static const struct shape_member get_item_rows[] = {
    OPTIONAL(get_item_request, return_consumed_capacity, "ReturnConsumedCapacity", &capacity),
    OPTIONAL(get_item_request, attributes_to_get, "AttributesToGet", &attributes_to_get),
    REQUIRED(get_item_request, table_name, "TableName", &shape_table_name),
    REQUIRED(get_item_request, key, "Key", &shape_any_item),
    OPTIONAL(get_item_request, consistent_read, "ConsistentRead", &shape_any_boolean),
    OPTIONAL(get_item_request, projection_expression, "ProjectionExpression", &shape_any_string),
    OPTIONAL(get_item_request, expression_attribute_names, "ExpressionAttributeNames", &names),
};
const struct shape shape_get_item_request =
    STRUCT_SHAPE(get_item_request, "GetItemInput", get_item_rows);

static const struct shape_member update_item_rows[] = {
    OPTIONAL(update_item_request, return_consumed_capacity, "ReturnConsumedCapacity", &capacity),
    REQUIRED(update_item_request, table_name, "TableName", &shape_table_name),
    OPTIONAL(update_item_request, return_item_collection_metrics, "ReturnItemCollectionMetrics",
             &collection_metrics),
    OPTIONAL(update_item_request, return_values, "ReturnValues", &return_values),
    REQUIRED(update_item_request, key, "Key", &shape_any_item),
    OPTIONAL(update_item_request, conditional_operator, "ConditionalOperator",
             &conditional_operator),
    OPTIONAL(update_item_request, expected, "Expected", &expected),
    OPTIONAL(update_item_request, attribute_updates, "AttributeUpdates", &attribute_updates),
    OPTIONAL(update_item_request, return_values_on_condition_check_failure,
             "ReturnValuesOnConditionCheckFailure", &on_failure),
    OPTIONAL(update_item_request, condition_expression, "ConditionExpression", &shape_any_string),
    OPTIONAL(update_item_request, update_expression, "UpdateExpression", &shape_any_string),
    OPTIONAL(update_item_request, expression_attribute_values, "ExpressionAttributeValues",
             &shape_any_item),
    OPTIONAL(update_item_request, expression_attribute_names, "ExpressionAttributeNames", &names),
};
const struct shape shape_update_item_request =
    STRUCT_SHAPE(update_item_request, "UpdateItemInput", update_item_rows);

static const struct shape_member delete_item_rows[] = {
    OPTIONAL(delete_item_request, return_consumed_capacity, "ReturnConsumedCapacity", &capacity),
    REQUIRED(delete_item_request, table_name, "TableName", &shape_table_name),
    OPTIONAL(delete_item_request, return_values, "ReturnValues", &return_values),
    OPTIONAL(delete_item_request, return_item_collection_metrics, "ReturnItemCollectionMetrics",
             &collection_metrics),
    REQUIRED(delete_item_request, key, "Key", &shape_any_item),
    OPTIONAL(delete_item_request, conditional_operator, "ConditionalOperator",
             &conditional_operator),
    OPTIONAL(delete_item_request, expected, "Expected", &expected),
    OPTIONAL(delete_item_request, return_values_on_condition_check_failure,
             "ReturnValuesOnConditionCheckFailure", &on_failure),
    OPTIONAL(delete_item_request, condition_expression, "ConditionExpression", &shape_any_string),
    OPTIONAL(delete_item_request, expression_attribute_values, "ExpressionAttributeValues",
             &shape_any_item),
    OPTIONAL(delete_item_request, expression_attribute_names, "ExpressionAttributeNames", &names),
};
const struct shape shape_delete_item_request =
    STRUCT_SHAPE(delete_item_request, "DeleteItemInput", delete_item_rows);

// ---- Query and Scan --------------------------------------------------------------------------

static const struct shape_member query_rows[] = {
    OPTIONAL(query_request, select, "Select", &select_kind),
    OPTIONAL(query_request, index_name, "IndexName", &shape_plain_name),
    OPTIONAL(query_request, return_consumed_capacity, "ReturnConsumedCapacity", &capacity),
    OPTIONAL(query_request, query_filter, "QueryFilter", &conditions),
    REQUIRED(query_request, table_name, "TableName", &shape_table_name),
    OPTIONAL(query_request, conditional_operator, "ConditionalOperator", &conditional_operator),
    OPTIONAL(query_request, attributes_to_get, "AttributesToGet", &attributes_to_get),
    OPTIONAL(query_request, limit, "Limit", &shape_positive_integer),
    OPTIONAL(query_request, key_conditions, "KeyConditions", &conditions),
    OPTIONAL(query_request, exclusive_start_key, "ExclusiveStartKey", &shape_any_item),
    OPTIONAL(query_request, consistent_read, "ConsistentRead", &shape_any_boolean),
    OPTIONAL(query_request, scan_index_forward, "ScanIndexForward", &shape_any_boolean),
    OPTIONAL(query_request, key_condition_expression, "KeyConditionExpression", &shape_any_string),
    OPTIONAL(query_request, filter_expression, "FilterExpression", &shape_any_string),
    OPTIONAL(query_request, projection_expression, "ProjectionExpression", &shape_any_string),
    OPTIONAL(query_request, expression_attribute_values, "ExpressionAttributeValues",
             &shape_any_item),
    OPTIONAL(query_request, expression_attribute_names, "ExpressionAttributeNames", &names),
};
const struct shape shape_query_request = STRUCT_SHAPE(query_request, "QueryInput", query_rows);

static const struct shape total_segments = {
    .kind = SHAPE_INTEGER,
    .has_min = true,
    .min = 1,
    .has_max = true,
    .max = LIMIT_SEGMENTS,
};
static const struct shape segment = {
    .kind = SHAPE_INTEGER,
    .has_min = true,
    .min = 0,
    .has_max = true,
    .max = LIMIT_SEGMENTS - 1,
};
static const struct shape_member scan_rows[] = {
    OPTIONAL(scan_request, select, "Select", &select_kind),
    OPTIONAL(scan_request, index_name, "IndexName", &shape_plain_name),
    OPTIONAL(scan_request, total_segments, "TotalSegments", &total_segments),
    OPTIONAL(scan_request, return_consumed_capacity, "ReturnConsumedCapacity", &capacity),
    REQUIRED(scan_request, table_name, "TableName", &shape_table_name),
    OPTIONAL(scan_request, conditional_operator, "ConditionalOperator", &conditional_operator),
    OPTIONAL(scan_request, scan_filter, "ScanFilter", &conditions),
    OPTIONAL(scan_request, segment, "Segment", &segment),
    OPTIONAL(scan_request, limit, "Limit", &shape_positive_integer),
    OPTIONAL(scan_request, attributes_to_get, "AttributesToGet", &attributes_to_get),
    OPTIONAL(scan_request, exclusive_start_key, "ExclusiveStartKey", &shape_any_item),
    OPTIONAL(scan_request, consistent_read, "ConsistentRead", &shape_any_boolean),
    OPTIONAL(scan_request, filter_expression, "FilterExpression", &shape_any_string),
    OPTIONAL(scan_request, projection_expression, "ProjectionExpression", &shape_any_string),
    OPTIONAL(scan_request, expression_attribute_values, "ExpressionAttributeValues",
             &shape_any_item),
    OPTIONAL(scan_request, expression_attribute_names, "ExpressionAttributeNames", &names),
};
const struct shape shape_scan_request = STRUCT_SHAPE(scan_request, "ScanInput", scan_rows);

// ---- Batches ------------------------------------------------------------------------------------

static const struct shape batch_keys = LIST_SHAPE_RANGE(&shape_any_item, 1, LIMIT_BATCH_GET);
static const struct shape_member keys_and_attributes_rows[] = {
    REQUIRED(keys_and_attributes, keys, "Keys", &batch_keys),
    OPTIONAL(keys_and_attributes, attributes_to_get, "AttributesToGet", &attributes_to_get),
    OPTIONAL(keys_and_attributes, consistent_read, "ConsistentRead", &shape_any_boolean),
    OPTIONAL(keys_and_attributes, projection_expression, "ProjectionExpression", &shape_any_string),
    OPTIONAL(keys_and_attributes, expression_attribute_names, "ExpressionAttributeNames", &names),
};
static const struct shape keys_and_attributes =
    STRUCT_SHAPE(keys_and_attributes, "KeysAndAttributes", keys_and_attributes_rows);

static const struct shape get_items = {
    .kind = SHAPE_MAP,
    .element = &keys_and_attributes,
    .has_min = true,
    .min = 1,
    .key = &shape_table_name,
};
static const struct shape_member batch_get_item_rows[] = {
    OPTIONAL(batch_get_item_request, return_consumed_capacity, "ReturnConsumedCapacity", &capacity),
    REQUIRED(batch_get_item_request, request_items, "RequestItems", &get_items),
};
const struct shape shape_batch_get_item_request =
    STRUCT_SHAPE(batch_get_item_request, "BatchGetItemInput", batch_get_item_rows);

static const struct shape_member delete_request_rows[] = {
    REQUIRED(delete_request, key, "Key", &shape_any_item),
};
static const struct shape delete_request =
    STRUCT_SHAPE(delete_request, "DeleteRequest", delete_request_rows);

static const struct shape_member put_request_rows[] = {
    REQUIRED(put_request, item, "Item", &shape_any_item),
};
static const struct shape put_request = STRUCT_SHAPE(put_request, "PutRequest", put_request_rows);

static const struct shape_member write_request_rows[] = {
    OPTIONAL(write_request, delete_request, "DeleteRequest", &delete_request),
    OPTIONAL(write_request, put_request, "PutRequest", &put_request),
};
static const struct shape write_request =
    STRUCT_SHAPE(write_request, "WriteRequest", write_request_rows);
static const struct shape write_requests = LIST_SHAPE_RANGE(&write_request, 1, LIMIT_BATCH_WRITE);
static const struct shape write_items = {
    .kind = SHAPE_MAP,
    .element = &write_requests,
    .has_min = true,
    .min = 1,
    .key = &shape_table_name,
};
static const struct shape_member batch_write_item_rows[] = {
    OPTIONAL(batch_write_item_request, return_consumed_capacity, "ReturnConsumedCapacity",
             &capacity),
    OPTIONAL(batch_write_item_request, return_item_collection_metrics,
             "ReturnItemCollectionMetrics", &collection_metrics),
    REQUIRED(batch_write_item_request, request_items, "RequestItems", &write_items),
};
const struct shape shape_batch_write_item_request =
    STRUCT_SHAPE(batch_write_item_request, "BatchWriteItemInput", batch_write_item_rows);

// ---- Transactions -------------------------------------------------------------------

static const struct shape_member transact_get_rows[] = {
    REQUIRED(transact_get, table_name, "TableName", &shape_table_name),
    REQUIRED(transact_get, key, "Key", &shape_any_item),
    OPTIONAL(transact_get, projection_expression, "ProjectionExpression", &shape_any_string),
    OPTIONAL(transact_get, expression_attribute_names, "ExpressionAttributeNames", &names),
};
static const struct shape transact_get = STRUCT_SHAPE(transact_get, "Get", transact_get_rows);

static const struct shape_member transact_get_item_rows[] = {
    REQUIRED(transact_get_item, get, "Get", &transact_get),
};
static const struct shape transact_get_item =
    STRUCT_SHAPE(transact_get_item, "TransactGetItem", transact_get_item_rows);
static const struct shape transact_gets = LIST_SHAPE_RANGE(&transact_get_item, 1, LIMIT_TRANSACT);

static const struct shape_member transact_get_items_rows[] = {
    OPTIONAL(transact_get_items_request, return_consumed_capacity, "ReturnConsumedCapacity",
             &capacity),
    REQUIRED(transact_get_items_request, transact_items, "TransactItems", &transact_gets),
};
const struct shape shape_transact_get_items_request =
    STRUCT_SHAPE(transact_get_items_request, "TransactGetItemsInput", transact_get_items_rows);

// The members that the four actions have in common, but for TableName and ConditionExpression.
#define TRANSACT_COMMON_ROWS                                                                       \
    OPTIONAL(transact_action, return_values_on_condition_check_failure,                            \
             "ReturnValuesOnConditionCheckFailure", &on_failure),                                  \
        OPTIONAL(transact_action, expression_attribute_values, "ExpressionAttributeValues",        \
                 &shape_any_item),                                                                 \
        OPTIONAL(transact_action, expression_attribute_names, "ExpressionAttributeNames", &names)

static const struct shape_member transact_check_rows[] = {
    REQUIRED(transact_action, table_name, "TableName", &shape_table_name),
    REQUIRED(transact_action, key, "Key", &shape_any_item),
    REQUIRED(transact_action, condition_expression, "ConditionExpression", &shape_any_string),
    TRANSACT_COMMON_ROWS,
};
static const struct shape transact_check =
    STRUCT_SHAPE(transact_action, "ConditionCheck", transact_check_rows);

static const struct shape_member transact_put_rows[] = {
    REQUIRED(transact_action, table_name, "TableName", &shape_table_name),
    REQUIRED(transact_action, item, "Item", &shape_any_item),
    OPTIONAL(transact_action, condition_expression, "ConditionExpression", &shape_any_string),
    TRANSACT_COMMON_ROWS,
};
static const struct shape transact_put = STRUCT_SHAPE(transact_action, "Put", transact_put_rows);

static const struct shape_member transact_delete_rows[] = {
    REQUIRED(transact_action, table_name, "TableName", &shape_table_name),
    REQUIRED(transact_action, key, "Key", &shape_any_item),
    OPTIONAL(transact_action, condition_expression, "ConditionExpression", &shape_any_string),
    TRANSACT_COMMON_ROWS,
};
static const struct shape transact_delete =
    STRUCT_SHAPE(transact_action, "Delete", transact_delete_rows);

static const struct shape_member transact_update_rows[] = {
    REQUIRED(transact_action, table_name, "TableName", &shape_table_name),
    REQUIRED(transact_action, key, "Key", &shape_any_item),
    REQUIRED(transact_action, update_expression, "UpdateExpression", &shape_any_string),
    OPTIONAL(transact_action, condition_expression, "ConditionExpression", &shape_any_string),
    TRANSACT_COMMON_ROWS,
};
static const struct shape transact_update =
    STRUCT_SHAPE(transact_action, "Update", transact_update_rows);

static const struct shape_member transact_write_item_rows[] = {
    OPTIONAL(transact_write_item, condition_check, "ConditionCheck", &transact_check),
    OPTIONAL(transact_write_item, put, "Put", &transact_put),
    OPTIONAL(transact_write_item, delete, "Delete", &transact_delete),
    OPTIONAL(transact_write_item, update, "Update", &transact_update),
};
static const struct shape transact_write_item =
    STRUCT_SHAPE(transact_write_item, "TransactWriteItem", transact_write_item_rows);
static const struct shape transact_writes =
    LIST_SHAPE_RANGE(&transact_write_item, 1, LIMIT_TRANSACT);

static const struct shape request_token = STRING_SHAPE_RANGE(1, 36);
static const struct shape_member transact_write_items_rows[] = {
    OPTIONAL(transact_write_items_request, return_consumed_capacity, "ReturnConsumedCapacity",
             &capacity),
    OPTIONAL(transact_write_items_request, return_item_collection_metrics,
             "ReturnItemCollectionMetrics", &collection_metrics),
    OPTIONAL(transact_write_items_request, client_request_token, "ClientRequestToken",
             &request_token),
    REQUIRED(transact_write_items_request, transact_items, "TransactItems", &transact_writes),
};
const struct shape shape_transact_write_items_request = STRUCT_SHAPE(
    transact_write_items_request, "TransactWriteItemsInput", transact_write_items_rows);
