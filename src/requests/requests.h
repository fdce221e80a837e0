// The requests of the operations: for each a list of its members (json/shape.h), of which both the
// C struct that shape_decode() fills and the shape that judges the JSON are made. Members are named
// as the snake_case of their JSON name, and json/shape.h tells how each kind stands in the struct
// and how it says that it is absent. Nested structs whose bare name another layer could want have
// the prefix request_.
//
// The order of rows is the order in which broken constraints are reported, so it is the service's
// and not the one of its documentation; members without constraints stand last. The values of an
// enumeration stand as messages print them.
//
// Everything a struct points to lives in the arena of the call or in the request body.
// Optional members that nothing reads yet are decoded all the same: their types and constraints
// are part of what a client sees.
#ifndef REQUESTS_REQUESTS_H
#define REQUESTS_REQUESTS_H

#include "tables/requests.h"

// ---- Members of many requests -------------------------------------------------------------------
//
// Item, Key and ExclusiveStartKey are whole items; so is ExpressionAttributeValues, which makes it
// the M value that expr_params_values() takes.

#define WITH_TABLE_NAME(X, T) X(T, REQUIRED, table_name, "TableName", TEXT_OF(table_name))
#define WITH_INDEX_NAME(X, T) X(T, OPTIONAL, index_name, "IndexName", TEXT_OF(plain_name))
#define WITH_KEY(X, T)        X(T, REQUIRED, key, "Key", ITEM)
#define WITH_CAPACITY(X, T)                                                                        \
    X(T, OPTIONAL, return_consumed_capacity, "ReturnConsumedCapacity",                             \
      ENUM("INDEXES", "TOTAL", "NONE"))
#define WITH_METRICS(X, T)                                                                         \
    X(T, OPTIONAL, return_item_collection_metrics, "ReturnItemCollectionMetrics",                  \
      ENUM("SIZE", "NONE"))
#define WITH_RETURN_VALUES(X, T)                                                                   \
    X(T, OPTIONAL, return_values, "ReturnValues", TEXT_OF(return_values))
#define WITH_ON_FAILURE(X, T)                                                                      \
    X(T, OPTIONAL, return_values_on_condition_check_failure,                                       \
      "ReturnValuesOnConditionCheckFailure", ENUM("ALL_OLD", "NONE"))
#define WITH_SELECT(X, T)                                                                          \
    X(T, OPTIONAL, select, "Select",                                                               \
      ENUM("SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"))
#define WITH_CONDITIONAL_OPERATOR(X, T)                                                            \
    X(T, OPTIONAL, conditional_operator, "ConditionalOperator", TEXT_OF(conditional_operator))
#define WITH_EXPECTED(X, T)                                                                        \
    WITH_CONDITIONAL_OPERATOR(X, T)                                                                \
    X(T, OPTIONAL, expected, "Expected", MAP(STRUCT(expected_attribute_value)))
#define WITH_ATTRIBUTES_TO_GET(X, T)                                                               \
    X(T, OPTIONAL, attributes_to_get, "AttributesToGet", LIST_RANGE(TEXT, 1, 255))
#define WITH_NAMES(X, T)                                                                           \
    X(T, OPTIONAL, expression_attribute_names, "ExpressionAttributeNames", MAP(TEXT))
#define WITH_NAMES_AND_VALUES(X, T)                                                                \
    WITH_NAMES(X, T)                                                                               \
    X(T, OPTIONAL, expression_attribute_values, "ExpressionAttributeValues", VALUES)
#define WITH_CONDITION(X, T)                                                                       \
    WITH_ON_FAILURE(X, T)                                                                          \
    X(T, OPTIONAL, condition_expression, "ConditionExpression", TEXT) WITH_NAMES_AND_VALUES(X, T)
#define WITH_PROJECTION(X, T)      X(T, OPTIONAL, projection_expression, "ProjectionExpression", TEXT)
#define WITH_PROJECTED(X, T)       WITH_PROJECTION(X, T) WITH_NAMES(X, T)
#define WITH_CONSISTENT_READ(X, T) X(T, OPTIONAL, consistent_read, "ConsistentRead", BOOLEAN)
#define WITH_FILTER(X, T)          X(T, OPTIONAL, filter_expression, "FilterExpression", TEXT)
#define WITH_LIMIT(X, T)           X(T, OPTIONAL, limit, "Limit", INTEGER_MIN(1))
#define WITH_REQUEST_TOKEN(X, T)                                                                   \
    X(T, OPTIONAL, client_request_token, "ClientRequestToken", TEXT_SIZE(1, 36))

// ---- Tables -----------------------------------------------------------------------------

// Requests that hold nothing but a table's name: DescribeTable, DeleteTable,
// DescribeTimeToLive and DescribeContinuousBackups.
#define table_name_request_members(X, T) WITH_OWN_TABLE_NAME(X, T)

// The same by name or ARN: DescribeKinesisStreamingDestination and DescribeTableReplicaAutoScaling.
#define table_or_arn_request_members(X, T) WITH_TABLE_NAME(X, T)

#define list_tables_request_members(X, T)                                                          \
    X(T, OPTIONAL, limit, "Limit", INTEGER_RANGE(1, 100))                                          \
    X(T, OPTIONAL, exclusive_start_table_name, "ExclusiveStartTableName", TEXT_OF(plain_name))

// ---- Around tables ------------------------------------------------------------------------

#define time_to_live_specification_members(X, T)                                                   \
    X(T, REQUIRED, enabled, "Enabled", BOOLEAN)                                                    \
    X(T, REQUIRED, attribute_name, "AttributeName", TEXT_OF(attribute_name))

#define update_time_to_live_request_members(X, T)                                                  \
    WITH_OWN_TABLE_NAME(X, T)                                                                      \
    X(T, REQUIRED, time_to_live_specification, "TimeToLiveSpecification",                          \
      STRUCT(time_to_live_specification))

// ResourceArn has no constraint in these three: its faults have messages of their own
// ("Invalid TableArn"), also when it is absent.
#define list_tags_of_resource_request_members(X, T)                                                \
    X(T, OPTIONAL, resource_arn, "ResourceArn", TEXT)                                              \
    X(T, OPTIONAL, next_token, "NextToken", TEXT)

#define tag_resource_request_members(X, T)                                                         \
    X(T, OPTIONAL, resource_arn, "ResourceArn", TEXT)                                              \
    X(T, REQUIRED, tags, "Tags", LIST(STRUCT(request_tag)))

#define untag_resource_request_members(X, T)                                                       \
    X(T, OPTIONAL, resource_arn, "ResourceArn", TEXT)                                              \
    X(T, REQUIRED, tag_keys, "TagKeys", LIST(TEXT_SIZE(1, 128)))

// DescribeLimits and DescribeEndpoints have no members; C wants one.
struct empty_request {
    char unused;
};

// ---- Items ----------------------------------------------------------------------------------

#define expected_attribute_value_members(X, T)                                                     \
    X(T, OPTIONAL, attribute_value_list, "AttributeValueList", LIST(VALUE))                        \
    X(T, OPTIONAL, comparison_operator, "ComparisonOperator", TEXT_OF(comparison_operator))        \
    X(T, OPTIONAL, exists, "Exists", BOOLEAN)                                                      \
    X(T, OPTIONAL, value, "Value", VALUE)

// An entry of KeyConditions, QueryFilter and ScanFilter.
#define request_condition_members(X, T)                                                            \
    X(T, OPTIONAL, attribute_value_list, "AttributeValueList", LIST(VALUE))                        \
    X(T, REQUIRED, comparison_operator, "ComparisonOperator", TEXT_OF(comparison_operator))

#define attribute_value_update_members(X, T)                                                       \
    X(T, OPTIONAL, action, "Action", ENUM("ADD", "DELETE", "PUT"))                                 \
    X(T, OPTIONAL, value, "Value", VALUE)

#define put_item_request_members(X, T)                                                             \
    WITH_CAPACITY(X, T)                                                                            \
    WITH_RETURN_VALUES(X, T)                                                                       \
    WITH_TABLE_NAME(X, T)                                                                          \
    X(T, REQUIRED, item, "Item", ITEM)                                                             \
    WITH_EXPECTED(X, T)                                                                            \
    WITH_METRICS(X, T)                                                                             \
    WITH_CONDITION(X, T)

#define get_item_request_members(X, T)                                                             \
    WITH_CAPACITY(X, T)                                                                            \
    WITH_ATTRIBUTES_TO_GET(X, T)                                                                   \
    WITH_TABLE_NAME(X, T)                                                                          \
    WITH_KEY(X, T)                                                                                 \
    WITH_CONSISTENT_READ(X, T)                                                                     \
    WITH_PROJECTED(X, T)

#define update_item_request_members(X, T)                                                          \
    WITH_CAPACITY(X, T)                                                                            \
    WITH_TABLE_NAME(X, T)                                                                          \
    WITH_METRICS(X, T)                                                                             \
    WITH_RETURN_VALUES(X, T)                                                                       \
    WITH_EXPECTED(X, T)                                                                            \
    WITH_KEY(X, T)                                                                                 \
    X(T, OPTIONAL, attribute_updates, "AttributeUpdates", MAP(STRUCT(attribute_value_update)))     \
    WITH_CONDITION(X, T)                                                                           \
    X(T, OPTIONAL, update_expression, "UpdateExpression", TEXT)

#define delete_item_request_members(X, T)                                                          \
    WITH_CAPACITY(X, T)                                                                            \
    WITH_TABLE_NAME(X, T)                                                                          \
    WITH_RETURN_VALUES(X, T)                                                                       \
    WITH_METRICS(X, T)                                                                             \
    WITH_KEY(X, T)                                                                                 \
    WITH_EXPECTED(X, T)                                                                            \
    WITH_CONDITION(X, T)

#define query_request_members(X, T)                                                                \
    WITH_SELECT(X, T)                                                                              \
    WITH_INDEX_NAME(X, T)                                                                          \
    WITH_CAPACITY(X, T)                                                                            \
    X(T, OPTIONAL, query_filter, "QueryFilter", MAP(STRUCT(request_condition)))                    \
    WITH_TABLE_NAME(X, T)                                                                          \
    WITH_CONDITIONAL_OPERATOR(X, T)                                                                \
    WITH_ATTRIBUTES_TO_GET(X, T)                                                                   \
    WITH_LIMIT(X, T)                                                                               \
    X(T, OPTIONAL, key_conditions, "KeyConditions", MAP(STRUCT(request_condition)))                \
    X(T, OPTIONAL, exclusive_start_key, "ExclusiveStartKey", ITEM)                                 \
    X(T, OPTIONAL, scan_index_forward, "ScanIndexForward", BOOLEAN)                                \
    X(T, OPTIONAL, key_condition_expression, "KeyConditionExpression", TEXT)                       \
    WITH_CONSISTENT_READ(X, T)                                                                     \
    WITH_FILTER(X, T)                                                                              \
    WITH_PROJECTION(X, T)                                                                          \
    WITH_NAMES_AND_VALUES(X, T)

#define scan_request_members(X, T)                                                                 \
    WITH_SELECT(X, T)                                                                              \
    WITH_INDEX_NAME(X, T)                                                                          \
    X(T, OPTIONAL, total_segments, "TotalSegments", INTEGER_RANGE(1, LIMIT_SEGMENTS))              \
    WITH_CAPACITY(X, T)                                                                            \
    WITH_TABLE_NAME(X, T)                                                                          \
    WITH_CONDITIONAL_OPERATOR(X, T)                                                                \
    X(T, OPTIONAL, scan_filter, "ScanFilter", MAP(STRUCT(request_condition)))                      \
    X(T, OPTIONAL, segment, "Segment", INTEGER_RANGE(0, LIMIT_SEGMENTS - 1))                       \
    WITH_LIMIT(X, T)                                                                               \
    WITH_ATTRIBUTES_TO_GET(X, T)                                                                   \
    X(T, OPTIONAL, exclusive_start_key, "ExclusiveStartKey", ITEM)                                 \
    WITH_CONSISTENT_READ(X, T)                                                                     \
    WITH_FILTER(X, T)                                                                              \
    WITH_PROJECTION(X, T)                                                                          \
    WITH_NAMES_AND_VALUES(X, T)

// ---- Batches ----------------------------------------------------------------------------------

#define keys_and_attributes_members(X, T)                                                          \
    X(T, REQUIRED, keys, "Keys", LIST_RANGE(ITEM, 1, LIMIT_BATCH_GET))                             \
    WITH_ATTRIBUTES_TO_GET(X, T)                                                                   \
    WITH_CONSISTENT_READ(X, T)                                                                     \
    WITH_PROJECTED(X, T)

#define batch_get_item_request_members(X, T)                                                       \
    WITH_CAPACITY(X, T)                                                                            \
    X(T, REQUIRED, request_items, "RequestItems",                                                  \
      MAP_OF_TABLES(STRUCT(keys_and_attributes), RULE_MIN(1), .new_min = true,                     \
                    RULE_MAX(LIMIT_BATCH_GET)))

#define put_request_members(X, T) X(T, REQUIRED, item, "Item", ITEM)

#define delete_request_members(X, T) WITH_KEY(X, T)

#define write_request_members(X, T)                                                                \
    X(T, OPTIONAL, delete_request, "DeleteRequest", STRUCT(delete_request))                        \
    X(T, OPTIONAL, put_request, "PutRequest", STRUCT(put_request))

#define batch_write_item_request_members(X, T)                                                     \
    WITH_CAPACITY(X, T)                                                                            \
    WITH_METRICS(X, T)                                                                             \
    X(T, REQUIRED, request_items, "RequestItems",                                                  \
      MAP_OF_TABLES(LIST_RANGE(STRUCT(write_request), 1, LIMIT_BATCH_WRITE),                       \
                    RULE_MAX(LIMIT_BATCH_WRITE)))

// ---- Transactions -------------------------------------------------------------------------------

#define transact_get_members(X, T)                                                                 \
    WITH_TABLE_NAME(X, T)                                                                          \
    WITH_KEY(X, T)                                                                                 \
    WITH_PROJECTED(X, T)

#define transact_get_item_members(X, T) X(T, REQUIRED, get, "Get", STRUCT(transact_get))

#define transact_get_items_request_members(X, T)                                                   \
    WITH_CAPACITY(X, T)                                                                            \
    X(T, REQUIRED, transact_items, "TransactItems",                                                \
      LIST_RANGE(STRUCT(transact_get_item), 1, LIMIT_TRANSACT))

// The one struct of Put, Delete, Update and ConditionCheck, so that what they share is read the
// same way. Put has an item and no key, the others a key and no item; only Update has an
// update_expression.
#define transact_check_members(X, T)                                                               \
    WITH_TABLE_NAME(X, T)                                                                          \
    WITH_KEY(X, T)                                                                                 \
    X(T, REQUIRED, condition_expression, "ConditionExpression", TEXT)                              \
    WITH_ON_FAILURE(X, T)                                                                          \
    WITH_NAMES_AND_VALUES(X, T)
#define transact_put_members(X, T)                                                                 \
    WITH_TABLE_NAME(X, T)                                                                          \
    X(T, REQUIRED, item, "Item", ITEM)                                                             \
    WITH_CONDITION(X, T)
#define transact_delete_members(X, T)                                                              \
    WITH_TABLE_NAME(X, T)                                                                          \
    WITH_KEY(X, T)                                                                                 \
    WITH_CONDITION(X, T)
#define transact_update_members(X, T)                                                              \
    WITH_TABLE_NAME(X, T)                                                                          \
    WITH_KEY(X, T)                                                                                 \
    X(T, REQUIRED, update_expression, "UpdateExpression", TEXT)                                    \
    WITH_CONDITION(X, T)
#define transact_action_members(X, T)                                                              \
    transact_update_members(X, T) X(T, REQUIRED, item, "Item", ITEM)

#define transact_write_item_members(X, T)                                                          \
    X(T, OPTIONAL, condition_check, "ConditionCheck", STRUCT_BY(transact_action, transact_check))  \
    X(T, OPTIONAL, put, "Put", STRUCT_BY(transact_action, transact_put))                           \
    X(T, OPTIONAL, delete, "Delete", STRUCT_BY(transact_action, transact_delete))                  \
    X(T, OPTIONAL, update, "Update", STRUCT_BY(transact_action, transact_update))

#define transact_write_items_request_members(X, T)                                                 \
    WITH_REQUEST_TOKEN(X, T)                                                                       \
    WITH_CAPACITY(X, T)                                                                            \
    WITH_METRICS(X, T)                                                                             \
    X(T, REQUIRED, transact_items, "TransactItems",                                                \
      LIST_RANGE(STRUCT(transact_write_item), 1, LIMIT_TRANSACT))

// ---- Statements -------------------------------------------------------------------------------

// A statement of a transaction, and what all others have besides.
#define transact_statement_members(X, T)                                                           \
    X(T, OPTIONAL, parameters, "Parameters", LIST_MIN(VALUE, 1))                                   \
    WITH_ON_FAILURE(X, T)                                                                          \
    X(T, REQUIRED, statement, "Statement", TEXT_SIZE(1, LIMIT_STATEMENT))
#define request_statement_members(X, T) transact_statement_members(X, T) WITH_CONSISTENT_READ(X, T)

#define execute_statement_request_members(X, T)                                                    \
    WITH_CAPACITY(X, T)                                                                            \
    X(T, OPTIONAL, own.parameters, "Parameters", LIST_MIN(VALUE, 1))                               \
    X(T, OPTIONAL, own.return_values_on_condition_check_failure,                                   \
      "ReturnValuesOnConditionCheckFailure", ENUM("ALL_OLD", "NONE"))                              \
    WITH_LIMIT(X, T)                                                                               \
    X(T, REQUIRED, own.statement, "Statement", TEXT_SIZE(1, LIMIT_STATEMENT))                      \
    X(T, OPTIONAL, next_token, "NextToken", TEXT_SIZE(1, 32768))                                   \
    X(T, OPTIONAL, own.consistent_read, "ConsistentRead", BOOLEAN)

#define batch_execute_statement_request_members(X, T)                                              \
    WITH_CAPACITY(X, T)                                                                            \
    X(T, REQUIRED, statements, "Statements",                                                       \
      LIST_RANGE(STRUCT(request_statement), 1, LIMIT_BATCH_STATEMENTS))

#define execute_transaction_request_members(X, T)                                                  \
    WITH_CAPACITY(X, T)                                                                            \
    WITH_REQUEST_TOKEN(X, T)                                                                       \
    X(T, REQUIRED, transact_statements, "TransactStatements",                                      \
      LIST_RANGE(STRUCT_BY(request_statement, transact_statement), 1, LIMIT_TRANSACT))

// ---- Vectors ----------------------------------------------------------------------------------

#define search_vectors_request_members(X, T)                                                       \
    WITH_TABLE_NAME(X, T)                                                                          \
    X(T, REQUIRED, index_name, "IndexName", TEXT_OF(plain_name))                                   \
    X(T, REQUIRED, search_vector, "SearchVector", LIST(VALUE))                                     \
    X(T, REQUIRED, top_k, "TopK", INTEGER_RANGE(1, LIMIT_TOP_K))                                   \
    WITH_CAPACITY(X, T)                                                                            \
    WITH_NAMES_AND_VALUES(X, T)                                                                    \
    WITH_PROJECTION(X, T)                                                                          \
    X(T, OPTIONAL, search_condition_expression, "SearchConditionExpression", TEXT)

// ---- All of them ------------------------------------------------------------------------------

#define ITEM_REQUESTS(X)                                                                           \
    X(table_name_request, "DescribeTableInput")                                                    \
    X(list_tables_request, "ListTablesInput")                                                      \
    X(time_to_live_specification, "TimeToLiveSpecification")                                       \
    X(update_time_to_live_request, "UpdateTimeToLiveInput")                                        \
    X(list_tags_of_resource_request, "ListTagsOfResourceInput")                                    \
    X(tag_resource_request, "TagResourceInput")                                                    \
    X(untag_resource_request, "UntagResourceInput")                                                \
    X(expected_attribute_value, "ExpectedAttributeValue")                                          \
    X(request_condition, "Condition")                                                              \
    X(attribute_value_update, "AttributeValueUpdate")                                              \
    X(put_item_request, "PutItemInput")                                                            \
    X(get_item_request, "GetItemInput")                                                            \
    X(update_item_request, "UpdateItemInput")                                                      \
    X(delete_item_request, "DeleteItemInput")                                                      \
    X(query_request, "QueryInput")                                                                 \
    X(scan_request, "ScanInput")                                                                   \
    X(keys_and_attributes, "KeysAndAttributes")                                                    \
    X(batch_get_item_request, "BatchGetItemInput")                                                 \
    X(put_request, "PutRequest")                                                                   \
    X(delete_request, "DeleteRequest")                                                             \
    X(write_request, "WriteRequest")                                                               \
    X(batch_write_item_request, "BatchWriteItemInput")                                             \
    X(transact_get, "Get")                                                                         \
    X(transact_get_item, "TransactGetItem")                                                        \
    X(transact_get_items_request, "TransactGetItemsInput")                                         \
    X(transact_write_item, "TransactWriteItem")                                                    \
    X(transact_write_items_request, "TransactWriteItemsInput")                                     \
    X(request_statement, "BatchStatementRequest")                                                  \
    X(batch_execute_statement_request, "BatchExecuteStatementInput")                               \
    X(execute_transaction_request, "ExecuteTransactionInput")                                      \
    X(search_vectors_request, "SearchVectorsInput")
ITEM_REQUESTS(REQUEST_STRUCT)
REQUEST_STRUCT(transact_action, )

struct execute_statement_request {
    struct request_statement own;
    struct slice next_token;
    struct slice return_consumed_capacity;
    struct field_int limit;
};

// Other ways to read them.
#define ITEM_VARIANTS(X)                                                                           \
    X(table_or_arn_request, table_name_request, "DescribeKinesisStreamingDestinationInput")        \
    X(transact_check, transact_action, "ConditionCheck")                                           \
    X(transact_put, transact_action, "Put")                                                        \
    X(transact_delete, transact_action, "Delete")                                                  \
    X(transact_update, transact_action, "Update")                                                  \
    X(transact_statement, request_statement, "ParameterizedStatement")                             \
    X(execute_statement_request, execute_statement_request, "ExecuteStatementInput")

#endif
