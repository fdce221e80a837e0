// The requests of the operations as C structs: what shape_decode() fills, by the tables of
// shapes.h, from a JSON body. One struct per request, nested structures above the first request
// that uses them, members in the order of the service model, each named as the snake_case of
// its JSON name. json/shape.h tells how each kind of member stands in a struct and how it says
// that it is absent; where a member is a list or a map, the comment behind it names the C type
// of its elements. Nested structs whose bare name another layer could want have the prefix
// request_.
//
// Everything a struct points to lives in the arena of the call or in the request body.
// Optional members that nothing reads yet are decoded all the same: their types and constraints
// are part of what a client sees.
#ifndef REQUESTS_REQUESTS_H
#define REQUESTS_REQUESTS_H

#include "tables/requests.h"

// ---- Tables -----------------------------------------------------------------------------

// Requests that hold nothing but a table's name: DescribeTable, DeleteTable,
// DescribeTimeToLive and DescribeContinuousBackups.
struct table_name_request {
    struct slice table_name;
};

#define LIST_TABLES_REQUEST(X, T)                                                                  \
    X(T, OPTIONAL, struct field_int, limit, "Limit", list_tables_limit)                            \
    X(T, OPTIONAL, struct slice, exclusive_start_table_name, "ExclusiveStartTableName",            \
      shape_plain_name)
REQUEST_STRUCT(list_tables_request, LIST_TABLES_REQUEST);

// ---- Around tables ------------------------------------------------------------------------

#define TIME_TO_LIVE_SPECIFICATION(X, T)                                                           \
    X(T, REQUIRED, struct field_bool, enabled, "Enabled", shape_any_boolean)                       \
    X(T, REQUIRED, struct slice, attribute_name, "AttributeName", shape_attribute_name)
REQUEST_STRUCT(time_to_live_specification, TIME_TO_LIVE_SPECIFICATION);

#define UPDATE_TIME_TO_LIVE_REQUEST(X, T)                                                          \
    X(T, REQUIRED, struct slice, table_name, "TableName", shape_own_table_name)                    \
    X(T, REQUIRED, struct time_to_live_specification *, time_to_live_specification,                \
      "TimeToLiveSpecification", time_to_live)
REQUEST_STRUCT(update_time_to_live_request, UPDATE_TIME_TO_LIVE_REQUEST);

#define LIST_TAGS_OF_RESOURCE_REQUEST(X, T)                                                        \
    X(T, OPTIONAL, struct slice, resource_arn, "ResourceArn", shape_any_string)                    \
    X(T, OPTIONAL, struct slice, next_token, "NextToken", shape_any_string)
REQUEST_STRUCT(list_tags_of_resource_request, LIST_TAGS_OF_RESOURCE_REQUEST);

#define TAG_RESOURCE_REQUEST(X, T)                                                                 \
    X(T, OPTIONAL, struct slice, resource_arn, "ResourceArn", shape_any_string)                    \
    X(T, REQUIRED, struct field_list, tags, "Tags", tags) /* struct request_tag */
REQUEST_STRUCT(tag_resource_request, TAG_RESOURCE_REQUEST);

#define UNTAG_RESOURCE_REQUEST(X, T)                                                               \
    X(T, OPTIONAL, struct slice, resource_arn, "ResourceArn", shape_any_string)                    \
    X(T, REQUIRED, struct field_list, tag_keys, "TagKeys", tag_keys) /* struct slice */
REQUEST_STRUCT(untag_resource_request, UNTAG_RESOURCE_REQUEST);

// DescribeLimits and DescribeEndpoints have no members; C wants one.
struct empty_request {
    char unused;
};

// ---- Items ----------------------------------------------------------------------------------
//
// Item, Key and ExclusiveStartKey are whole items; so is ExpressionAttributeValues, which
// makes it the M value that expr_params_values() takes. ExpressionAttributeNames is
// a map to struct slice.

#define EXPECTED_ATTRIBUTE_VALUE(X, T)                                                             \
    X(T, OPTIONAL, struct field_list, attribute_value_list, "AttributeValueList",                  \
      values) /* struct field_value */                                                             \
    X(T, OPTIONAL, struct slice, comparison_operator, "ComparisonOperator", comparison_operator)   \
    X(T, OPTIONAL, struct field_bool, exists, "Exists", shape_any_boolean)                         \
    X(T, OPTIONAL, struct field_value, value, "Value", shape_any_value)
REQUEST_STRUCT(expected_attribute_value, EXPECTED_ATTRIBUTE_VALUE);

// An entry of KeyConditions, QueryFilter and ScanFilter.
#define REQUEST_CONDITION(X, T)                                                                    \
    X(T, OPTIONAL, struct field_list, attribute_value_list, "AttributeValueList",                  \
      values) /* struct field_value */                                                             \
    X(T, REQUIRED, struct slice, comparison_operator, "ComparisonOperator", comparison_operator)
REQUEST_STRUCT(request_condition, REQUEST_CONDITION);

#define ATTRIBUTE_VALUE_UPDATE(X, T)                                                               \
    X(T, OPTIONAL, struct slice, action, "Action", update_action) /* ADD, DELETE, PUT */           \
    X(T, OPTIONAL, struct field_value, value, "Value", shape_any_value)
REQUEST_STRUCT(attribute_value_update, ATTRIBUTE_VALUE_UPDATE);

#define PUT_ITEM_REQUEST(X, T)                                                                     \
    X(T, OPTIONAL, struct slice, return_consumed_capacity, "ReturnConsumedCapacity",               \
      capacity) /* INDEXES, TOTAL, NONE */                                                         \
    X(T, REQUIRED, struct slice, table_name, "TableName", shape_table_name)                        \
    X(T, REQUIRED, struct field_value, item, "Item", shape_any_item)                               \
    X(T, OPTIONAL, struct slice, conditional_operator, "ConditionalOperator",                      \
      conditional_operator) /* OR, AND */                                                          \
    X(T, OPTIONAL, struct field_map, expected, "Expected",                                         \
      expected) /* struct expected_attribute_value */                                              \
    X(T, OPTIONAL, struct slice, return_values, "ReturnValues",                                    \
      return_values) /* ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW */                        \
    X(T, OPTIONAL, struct slice, return_item_collection_metrics, "ReturnItemCollectionMetrics",    \
      collection_metrics) /* SIZE, NONE */                                                         \
    X(T, OPTIONAL, struct slice, return_values_on_condition_check_failure,                         \
      "ReturnValuesOnConditionCheckFailure", on_failure) /* ALL_OLD, NONE */                       \
    X(T, OPTIONAL, struct slice, condition_expression, "ConditionExpression", shape_any_string)    \
    X(T, OPTIONAL, struct field_value, expression_attribute_values, "ExpressionAttributeValues",   \
      shape_any_item)                                                                              \
    X(T, OPTIONAL, struct field_map, expression_attribute_names, "ExpressionAttributeNames",       \
      names) /* struct slice */
REQUEST_STRUCT(put_item_request, PUT_ITEM_REQUEST);

#define GET_ITEM_REQUEST(X, T)                                                                     \
    X(T, OPTIONAL, struct slice, return_consumed_capacity, "ReturnConsumedCapacity", capacity)     \
    X(T, OPTIONAL, struct field_list, attributes_to_get, "AttributesToGet",                        \
      attributes_to_get) /* struct slice */                                                        \
    X(T, REQUIRED, struct slice, table_name, "TableName", shape_table_name)                        \
    X(T, REQUIRED, struct field_value, key, "Key", shape_any_item)                                 \
    X(T, OPTIONAL, struct field_bool, consistent_read, "ConsistentRead", shape_any_boolean)        \
    X(T, OPTIONAL, struct slice, projection_expression, "ProjectionExpression", shape_any_string)  \
    X(T, OPTIONAL, struct field_map, expression_attribute_names, "ExpressionAttributeNames",       \
      names) /* struct slice */
REQUEST_STRUCT(get_item_request, GET_ITEM_REQUEST);

#define UPDATE_ITEM_REQUEST(X, T)                                                                  \
    X(T, OPTIONAL, struct slice, return_consumed_capacity, "ReturnConsumedCapacity", capacity)     \
    X(T, REQUIRED, struct slice, table_name, "TableName", shape_table_name)                        \
    X(T, OPTIONAL, struct slice, return_item_collection_metrics, "ReturnItemCollectionMetrics",    \
      collection_metrics)                                                                          \
    X(T, OPTIONAL, struct slice, return_values, "ReturnValues", return_values)                     \
    X(T, REQUIRED, struct field_value, key, "Key", shape_any_item)                                 \
    X(T, OPTIONAL, struct slice, conditional_operator, "ConditionalOperator",                      \
      conditional_operator)                                                                        \
    X(T, OPTIONAL, struct field_map, expected, "Expected",                                         \
      expected) /* struct expected_attribute_value */                                              \
    X(T, OPTIONAL, struct field_map, attribute_updates, "AttributeUpdates",                        \
      attribute_updates) /* struct attribute_value_update */                                       \
    X(T, OPTIONAL, struct slice, return_values_on_condition_check_failure,                         \
      "ReturnValuesOnConditionCheckFailure", on_failure)                                           \
    X(T, OPTIONAL, struct slice, condition_expression, "ConditionExpression", shape_any_string)    \
    X(T, OPTIONAL, struct slice, update_expression, "UpdateExpression", shape_any_string)          \
    X(T, OPTIONAL, struct field_value, expression_attribute_values, "ExpressionAttributeValues",   \
      shape_any_item)                                                                              \
    X(T, OPTIONAL, struct field_map, expression_attribute_names, "ExpressionAttributeNames",       \
      names) /* struct slice */
REQUEST_STRUCT(update_item_request, UPDATE_ITEM_REQUEST);

#define DELETE_ITEM_REQUEST(X, T)                                                                  \
    X(T, OPTIONAL, struct slice, return_consumed_capacity, "ReturnConsumedCapacity", capacity)     \
    X(T, REQUIRED, struct slice, table_name, "TableName", shape_table_name)                        \
    X(T, OPTIONAL, struct slice, return_values, "ReturnValues", return_values)                     \
    X(T, OPTIONAL, struct slice, return_item_collection_metrics, "ReturnItemCollectionMetrics",    \
      collection_metrics)                                                                          \
    X(T, REQUIRED, struct field_value, key, "Key", shape_any_item)                                 \
    X(T, OPTIONAL, struct slice, conditional_operator, "ConditionalOperator",                      \
      conditional_operator)                                                                        \
    X(T, OPTIONAL, struct field_map, expected, "Expected",                                         \
      expected) /* struct expected_attribute_value */                                              \
    X(T, OPTIONAL, struct slice, return_values_on_condition_check_failure,                         \
      "ReturnValuesOnConditionCheckFailure", on_failure)                                           \
    X(T, OPTIONAL, struct slice, condition_expression, "ConditionExpression", shape_any_string)    \
    X(T, OPTIONAL, struct field_value, expression_attribute_values, "ExpressionAttributeValues",   \
      shape_any_item)                                                                              \
    X(T, OPTIONAL, struct field_map, expression_attribute_names, "ExpressionAttributeNames",       \
      names) /* struct slice */
REQUEST_STRUCT(delete_item_request, DELETE_ITEM_REQUEST);

#define QUERY_REQUEST(X, T)                                                                        \
    X(T, OPTIONAL, struct slice, select, "Select",                                                 \
      select_kind) /* SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES */      \
    X(T, OPTIONAL, struct slice, index_name, "IndexName", shape_plain_name)                        \
    X(T, OPTIONAL, struct slice, return_consumed_capacity, "ReturnConsumedCapacity", capacity)     \
    X(T, OPTIONAL, struct field_map, query_filter, "QueryFilter",                                  \
      conditions) /* struct request_condition */                                                   \
    X(T, REQUIRED, struct slice, table_name, "TableName", shape_table_name)                        \
    X(T, OPTIONAL, struct slice, conditional_operator, "ConditionalOperator",                      \
      conditional_operator)                                                                        \
    X(T, OPTIONAL, struct field_list, attributes_to_get, "AttributesToGet",                        \
      attributes_to_get) /* struct slice */                                                        \
    X(T, OPTIONAL, struct field_int, limit, "Limit", shape_positive_integer)                       \
    X(T, OPTIONAL, struct field_map, key_conditions, "KeyConditions",                              \
      conditions) /* struct request_condition */                                                   \
    X(T, OPTIONAL, struct field_value, exclusive_start_key, "ExclusiveStartKey", shape_any_item)   \
    X(T, OPTIONAL, struct field_bool, consistent_read, "ConsistentRead", shape_any_boolean)        \
    X(T, OPTIONAL, struct field_bool, scan_index_forward, "ScanIndexForward", shape_any_boolean)   \
    X(T, OPTIONAL, struct slice, key_condition_expression, "KeyConditionExpression",               \
      shape_any_string)                                                                            \
    X(T, OPTIONAL, struct slice, filter_expression, "FilterExpression", shape_any_string)          \
    X(T, OPTIONAL, struct slice, projection_expression, "ProjectionExpression", shape_any_string)  \
    X(T, OPTIONAL, struct field_value, expression_attribute_values, "ExpressionAttributeValues",   \
      shape_any_item)                                                                              \
    X(T, OPTIONAL, struct field_map, expression_attribute_names, "ExpressionAttributeNames",       \
      names) /* struct slice */
REQUEST_STRUCT(query_request, QUERY_REQUEST);

#define SCAN_REQUEST(X, T)                                                                         \
    X(T, OPTIONAL, struct slice, select, "Select", select_kind)                                    \
    X(T, OPTIONAL, struct slice, index_name, "IndexName", shape_plain_name)                        \
    X(T, OPTIONAL, struct field_int, total_segments, "TotalSegments", total_segments)              \
    X(T, OPTIONAL, struct slice, return_consumed_capacity, "ReturnConsumedCapacity", capacity)     \
    X(T, REQUIRED, struct slice, table_name, "TableName", shape_table_name)                        \
    X(T, OPTIONAL, struct slice, conditional_operator, "ConditionalOperator",                      \
      conditional_operator)                                                                        \
    X(T, OPTIONAL, struct field_map, scan_filter, "ScanFilter",                                    \
      conditions) /* struct request_condition */                                                   \
    X(T, OPTIONAL, struct field_int, segment, "Segment", segment)                                  \
    X(T, OPTIONAL, struct field_int, limit, "Limit", shape_positive_integer)                       \
    X(T, OPTIONAL, struct field_list, attributes_to_get, "AttributesToGet",                        \
      attributes_to_get) /* struct slice */                                                        \
    X(T, OPTIONAL, struct field_value, exclusive_start_key, "ExclusiveStartKey", shape_any_item)   \
    X(T, OPTIONAL, struct field_bool, consistent_read, "ConsistentRead", shape_any_boolean)        \
    X(T, OPTIONAL, struct slice, filter_expression, "FilterExpression", shape_any_string)          \
    X(T, OPTIONAL, struct slice, projection_expression, "ProjectionExpression", shape_any_string)  \
    X(T, OPTIONAL, struct field_value, expression_attribute_values, "ExpressionAttributeValues",   \
      shape_any_item)                                                                              \
    X(T, OPTIONAL, struct field_map, expression_attribute_names, "ExpressionAttributeNames",       \
      names) /* struct slice */
REQUEST_STRUCT(scan_request, SCAN_REQUEST);

// ---- Batches ----------------------------------------------------------------------------------

#define KEYS_AND_ATTRIBUTES(X, T)                                                                  \
    X(T, REQUIRED, struct field_list, keys, "Keys", batch_keys) /* struct field_value */           \
    X(T, OPTIONAL, struct field_list, attributes_to_get, "AttributesToGet",                        \
      attributes_to_get) /* struct slice */                                                        \
    X(T, OPTIONAL, struct field_bool, consistent_read, "ConsistentRead", shape_any_boolean)        \
    X(T, OPTIONAL, struct slice, projection_expression, "ProjectionExpression", shape_any_string)  \
    X(T, OPTIONAL, struct field_map, expression_attribute_names, "ExpressionAttributeNames",       \
      names) /* struct slice */
REQUEST_STRUCT(keys_and_attributes, KEYS_AND_ATTRIBUTES);

#define BATCH_GET_ITEM_REQUEST(X, T)                                                               \
    X(T, OPTIONAL, struct slice, return_consumed_capacity, "ReturnConsumedCapacity", capacity)     \
    X(T, REQUIRED, struct field_map, request_items, "RequestItems",                                \
      get_items) /* struct keys_and_attributes */
REQUEST_STRUCT(batch_get_item_request, BATCH_GET_ITEM_REQUEST);

#define PUT_REQUEST(X, T) X(T, REQUIRED, struct field_value, item, "Item", shape_any_item)
REQUEST_STRUCT(put_request, PUT_REQUEST);

#define DELETE_REQUEST(X, T) X(T, REQUIRED, struct field_value, key, "Key", shape_any_item)
REQUEST_STRUCT(delete_request, DELETE_REQUEST);

#define WRITE_REQUEST(X, T)                                                                        \
    X(T, OPTIONAL, struct delete_request *, delete_request, "DeleteRequest", delete_request)       \
    X(T, OPTIONAL, struct put_request *, put_request, "PutRequest", put_request)
REQUEST_STRUCT(write_request, WRITE_REQUEST);

#define BATCH_WRITE_ITEM_REQUEST(X, T)                                                             \
    X(T, OPTIONAL, struct slice, return_consumed_capacity, "ReturnConsumedCapacity", capacity)     \
    X(T, OPTIONAL, struct slice, return_item_collection_metrics, "ReturnItemCollectionMetrics",    \
      collection_metrics)                                                                          \
    X(T, REQUIRED, struct field_map, request_items, "RequestItems",                                \
      write_items) /* struct field_list, each of struct write_request */
REQUEST_STRUCT(batch_write_item_request, BATCH_WRITE_ITEM_REQUEST);

// ---- Transactions -------------------------------------------------------------------------------

#define TRANSACT_GET(X, T)                                                                         \
    X(T, REQUIRED, struct slice, table_name, "TableName", shape_table_name)                        \
    X(T, REQUIRED, struct field_value, key, "Key", shape_any_item)                                 \
    X(T, OPTIONAL, struct slice, projection_expression, "ProjectionExpression", shape_any_string)  \
    X(T, OPTIONAL, struct field_map, expression_attribute_names, "ExpressionAttributeNames",       \
      names) /* struct slice */
REQUEST_STRUCT(transact_get, TRANSACT_GET);

#define TRANSACT_GET_ITEM(X, T) X(T, REQUIRED, struct transact_get *, get, "Get", transact_get)
REQUEST_STRUCT(transact_get_item, TRANSACT_GET_ITEM);

#define TRANSACT_GET_ITEMS_REQUEST(X, T)                                                           \
    X(T, OPTIONAL, struct slice, return_consumed_capacity, "ReturnConsumedCapacity", capacity)     \
    X(T, REQUIRED, struct field_list, transact_items, "TransactItems",                             \
      transact_gets) /* struct transact_get_item */
REQUEST_STRUCT(transact_get_items_request, TRANSACT_GET_ITEMS_REQUEST);

// The one struct of Put, Delete, Update and ConditionCheck, so that what they share is read the
// same way. Put has an item and no key, the others a key and no item; only Update has an
// update_expression.
struct transact_action {
    struct field_value item;
    struct field_value key;
    struct slice update_expression;
    struct slice table_name;
    struct slice condition_expression;
    struct field_map expression_attribute_names; // struct slice
    struct field_value expression_attribute_values;
    struct slice return_values_on_condition_check_failure;
};

#define TRANSACT_WRITE_ITEM(X, T)                                                                  \
    X(T, OPTIONAL, struct transact_action *, condition_check, "ConditionCheck", transact_check)    \
    X(T, OPTIONAL, struct transact_action *, put, "Put", transact_put)                             \
    X(T, OPTIONAL, struct transact_action *, delete, "Delete", transact_delete)                    \
    X(T, OPTIONAL, struct transact_action *, update, "Update", transact_update)
REQUEST_STRUCT(transact_write_item, TRANSACT_WRITE_ITEM);

#define TRANSACT_WRITE_ITEMS_REQUEST(X, T)                                                         \
    X(T, OPTIONAL, struct slice, return_consumed_capacity, "ReturnConsumedCapacity", capacity)     \
    X(T, OPTIONAL, struct slice, return_item_collection_metrics, "ReturnItemCollectionMetrics",    \
      collection_metrics)                                                                          \
    X(T, OPTIONAL, struct slice, client_request_token, "ClientRequestToken", request_token)        \
    X(T, REQUIRED, struct field_list, transact_items, "TransactItems",                             \
      transact_writes) /* struct transact_write_item */
REQUEST_STRUCT(transact_write_items_request, TRANSACT_WRITE_ITEMS_REQUEST);

#endif
