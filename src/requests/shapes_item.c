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

REQUEST_ROWS(expected_attribute_value, EXPECTED_ATTRIBUTE_VALUE);
static const struct shape expected_value =
    REQUEST_SHAPE(expected_attribute_value, "ExpectedAttributeValue");
static const struct shape expected = MAP_SHAPE(&expected_value);

REQUEST_ROWS(request_condition, REQUEST_CONDITION);
static const struct shape condition = REQUEST_SHAPE(request_condition, "Condition");
static const struct shape conditions = MAP_SHAPE(&condition);

REQUEST_ROWS(attribute_value_update, ATTRIBUTE_VALUE_UPDATE);
static const struct shape attribute_update =
    REQUEST_SHAPE(attribute_value_update, "AttributeValueUpdate");
static const struct shape attribute_updates = MAP_SHAPE(&attribute_update);

// ---- Single items --------------------------------------------------------------------------

REQUEST_ROWS(put_item_request, PUT_ITEM_REQUEST);
const struct shape shape_put_item_request = REQUEST_SHAPE(put_item_request, "PutItemInput");

REQUEST_ROWS(get_item_request, GET_ITEM_REQUEST);
const struct shape shape_get_item_request = REQUEST_SHAPE(get_item_request, "GetItemInput");

REQUEST_ROWS(update_item_request, UPDATE_ITEM_REQUEST);
const struct shape shape_update_item_request =
    REQUEST_SHAPE(update_item_request, "UpdateItemInput");

REQUEST_ROWS(delete_item_request, DELETE_ITEM_REQUEST);
const struct shape shape_delete_item_request =
    REQUEST_SHAPE(delete_item_request, "DeleteItemInput");

// ---- Query and Scan --------------------------------------------------------------------------

REQUEST_ROWS(query_request, QUERY_REQUEST);
const struct shape shape_query_request = REQUEST_SHAPE(query_request, "QueryInput");

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
REQUEST_ROWS(scan_request, SCAN_REQUEST);
const struct shape shape_scan_request = REQUEST_SHAPE(scan_request, "ScanInput");

// ---- Batches ------------------------------------------------------------------------------------

static const struct shape batch_keys = LIST_SHAPE_RANGE(&shape_any_item, 1, LIMIT_BATCH_GET);
REQUEST_ROWS(keys_and_attributes, KEYS_AND_ATTRIBUTES);
static const struct shape keys_and_attributes =
    REQUEST_SHAPE(keys_and_attributes, "KeysAndAttributes");

static const struct shape get_items = {
    .kind = SHAPE_MAP,
    .element = &keys_and_attributes,
    .has_min = true,
    .min = 1,
    .key = &shape_table_name,
};
REQUEST_ROWS(batch_get_item_request, BATCH_GET_ITEM_REQUEST);
const struct shape shape_batch_get_item_request =
    REQUEST_SHAPE(batch_get_item_request, "BatchGetItemInput");

REQUEST_ROWS(delete_request, DELETE_REQUEST);
static const struct shape delete_request = REQUEST_SHAPE(delete_request, "DeleteRequest");

REQUEST_ROWS(put_request, PUT_REQUEST);
static const struct shape put_request = REQUEST_SHAPE(put_request, "PutRequest");

REQUEST_ROWS(write_request, WRITE_REQUEST);
static const struct shape write_request = REQUEST_SHAPE(write_request, "WriteRequest");
static const struct shape write_requests = LIST_SHAPE_RANGE(&write_request, 1, LIMIT_BATCH_WRITE);
static const struct shape write_items = {
    .kind = SHAPE_MAP,
    .element = &write_requests,
    .has_min = true,
    .min = 1,
    .key = &shape_table_name,
};
REQUEST_ROWS(batch_write_item_request, BATCH_WRITE_ITEM_REQUEST);
const struct shape shape_batch_write_item_request =
    REQUEST_SHAPE(batch_write_item_request, "BatchWriteItemInput");

// ---- Transactions -------------------------------------------------------------------

REQUEST_ROWS(transact_get, TRANSACT_GET);
static const struct shape transact_get = REQUEST_SHAPE(transact_get, "Get");

REQUEST_ROWS(transact_get_item, TRANSACT_GET_ITEM);
static const struct shape transact_get_item = REQUEST_SHAPE(transact_get_item, "TransactGetItem");
static const struct shape transact_gets = LIST_SHAPE_RANGE(&transact_get_item, 1, LIMIT_TRANSACT);

REQUEST_ROWS(transact_get_items_request, TRANSACT_GET_ITEMS_REQUEST);
const struct shape shape_transact_get_items_request =
    REQUEST_SHAPE(transact_get_items_request, "TransactGetItemsInput");

// The members that the four actions have in common, but for TableName and ConditionExpression.
#define TRANSACT_COMMON_ROWS                                                                       \
    SHAPE_ROW(transact_action, OPTIONAL, return_values_on_condition_check_failure,                 \
              "ReturnValuesOnConditionCheckFailure", on_failure),                                  \
        SHAPE_ROW(transact_action, OPTIONAL, expression_attribute_values,                          \
                  "ExpressionAttributeValues", shape_any_item),                                    \
        SHAPE_ROW(transact_action, OPTIONAL, expression_attribute_names,                           \
                  "ExpressionAttributeNames", names)

static const struct shape_member transact_check_rows[] = {
    SHAPE_ROW(transact_action, REQUIRED, table_name, "TableName", shape_table_name),
    SHAPE_ROW(transact_action, REQUIRED, key, "Key", shape_any_item),
    SHAPE_ROW(transact_action, REQUIRED, condition_expression, "ConditionExpression",
              shape_any_string),
    TRANSACT_COMMON_ROWS,
};
static const struct shape transact_check =
    STRUCT_SHAPE(transact_action, "ConditionCheck", transact_check_rows);

static const struct shape_member transact_put_rows[] = {
    SHAPE_ROW(transact_action, REQUIRED, table_name, "TableName", shape_table_name),
    SHAPE_ROW(transact_action, REQUIRED, item, "Item", shape_any_item),
    SHAPE_ROW(transact_action, OPTIONAL, condition_expression, "ConditionExpression",
              shape_any_string),
    TRANSACT_COMMON_ROWS,
};
static const struct shape transact_put = STRUCT_SHAPE(transact_action, "Put", transact_put_rows);

static const struct shape_member transact_delete_rows[] = {
    SHAPE_ROW(transact_action, REQUIRED, table_name, "TableName", shape_table_name),
    SHAPE_ROW(transact_action, REQUIRED, key, "Key", shape_any_item),
    SHAPE_ROW(transact_action, OPTIONAL, condition_expression, "ConditionExpression",
              shape_any_string),
    TRANSACT_COMMON_ROWS,
};
static const struct shape transact_delete =
    STRUCT_SHAPE(transact_action, "Delete", transact_delete_rows);

static const struct shape_member transact_update_rows[] = {
    SHAPE_ROW(transact_action, REQUIRED, table_name, "TableName", shape_table_name),
    SHAPE_ROW(transact_action, REQUIRED, key, "Key", shape_any_item),
    SHAPE_ROW(transact_action, REQUIRED, update_expression, "UpdateExpression", shape_any_string),
    SHAPE_ROW(transact_action, OPTIONAL, condition_expression, "ConditionExpression",
              shape_any_string),
    TRANSACT_COMMON_ROWS,
};
static const struct shape transact_update =
    STRUCT_SHAPE(transact_action, "Update", transact_update_rows);

REQUEST_ROWS(transact_write_item, TRANSACT_WRITE_ITEM);
static const struct shape transact_write_item =
    REQUEST_SHAPE(transact_write_item, "TransactWriteItem");
static const struct shape transact_writes =
    LIST_SHAPE_RANGE(&transact_write_item, 1, LIMIT_TRANSACT);

static const struct shape request_token = STRING_SHAPE_RANGE(1, 36);
REQUEST_ROWS(transact_write_items_request, TRANSACT_WRITE_ITEMS_REQUEST);
const struct shape shape_transact_write_items_request =
    REQUEST_SHAPE(transact_write_items_request, "TransactWriteItemsInput");
