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

struct list_tables_request {
    struct slice exclusive_start_table_name;
    struct field_int limit;
};

// ---- Around tables ------------------------------------------------------------------------

struct time_to_live_specification {
    struct field_bool enabled;
    struct slice attribute_name;
};

struct update_time_to_live_request {
    struct slice table_name;
    struct time_to_live_specification *time_to_live_specification;
};

struct list_tags_of_resource_request {
    struct slice resource_arn;
    struct slice next_token;
};

struct tag_resource_request {
    struct slice resource_arn;
    struct field_list tags; // struct request_tag
};

struct untag_resource_request {
    struct slice resource_arn;
    struct field_list tag_keys; // struct slice
};

// DescribeLimits and DescribeEndpoints have no members; C wants one.
struct empty_request {
    char unused;
};

// ---- Items ----------------------------------------------------------------------------------
//
// Item, Key and ExclusiveStartKey are whole items; so is ExpressionAttributeValues, which
// makes it the M value that expr_params_values() takes. ExpressionAttributeNames is
// a map to struct slice.

struct expected_attribute_value {
    struct field_value value;
    struct field_bool exists;
    struct slice comparison_operator;
    struct field_list attribute_value_list; // struct field_value
};

// An entry of KeyConditions, QueryFilter and ScanFilter.
struct request_condition {
    struct field_list attribute_value_list; // struct field_value
    struct slice comparison_operator;
};

struct attribute_value_update {
    struct field_value value;
    struct slice action; // ADD, DELETE, PUT
};

struct put_item_request {
    struct slice table_name;
    struct field_value item;
    struct field_map expected;                   // struct expected_attribute_value
    struct slice return_values;                  // ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW
    struct slice return_consumed_capacity;       // INDEXES, TOTAL, NONE
    struct slice return_item_collection_metrics; // SIZE, NONE
    struct slice conditional_operator;           // OR, AND
    struct slice condition_expression;
    struct field_map expression_attribute_names; // struct slice
    struct field_value expression_attribute_values;
    struct slice return_values_on_condition_check_failure; // ALL_OLD, NONE
};

struct get_item_request {
    struct slice table_name;
    struct field_value key;
    struct field_list attributes_to_get; // struct slice
    struct field_bool consistent_read;
    struct slice return_consumed_capacity;
    struct slice projection_expression;
    struct field_map expression_attribute_names; // struct slice
};

struct update_item_request {
    struct slice table_name;
    struct field_value key;
    struct field_map attribute_updates; // struct attribute_value_update
    struct field_map expected;          // struct expected_attribute_value
    struct slice conditional_operator;
    struct slice return_values;
    struct slice return_consumed_capacity;
    struct slice return_item_collection_metrics;
    struct slice update_expression;
    struct slice condition_expression;
    struct field_map expression_attribute_names; // struct slice
    struct field_value expression_attribute_values;
    struct slice return_values_on_condition_check_failure;
};

struct delete_item_request {
    struct slice table_name;
    struct field_value key;
    struct field_map expected; // struct expected_attribute_value
    struct slice conditional_operator;
    struct slice return_values;
    struct slice return_consumed_capacity;
    struct slice return_item_collection_metrics;
    struct slice condition_expression;
    struct field_map expression_attribute_names; // struct slice
    struct field_value expression_attribute_values;
    struct slice return_values_on_condition_check_failure;
};

struct query_request {
    struct slice table_name;
    struct slice index_name;
    struct slice select; // SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES
    struct field_list attributes_to_get; // struct slice
    struct field_int limit;
    struct field_bool consistent_read;
    struct field_map key_conditions; // struct request_condition
    struct field_map query_filter;   // struct request_condition
    struct slice conditional_operator;
    struct field_bool scan_index_forward;
    struct field_value exclusive_start_key;
    struct slice return_consumed_capacity;
    struct slice projection_expression;
    struct slice filter_expression;
    struct slice key_condition_expression;
    struct field_map expression_attribute_names; // struct slice
    struct field_value expression_attribute_values;
};

struct scan_request {
    struct slice table_name;
    struct slice index_name;
    struct field_list attributes_to_get; // struct slice
    struct field_int limit;
    struct slice select;
    struct field_map scan_filter; // struct request_condition
    struct slice conditional_operator;
    struct field_value exclusive_start_key;
    struct slice return_consumed_capacity;
    struct field_int total_segments;
    struct field_int segment;
    struct slice projection_expression;
    struct slice filter_expression;
    struct field_map expression_attribute_names; // struct slice
    struct field_value expression_attribute_values;
    struct field_bool consistent_read;
};

// ---- Batches ----------------------------------------------------------------------------------

struct keys_and_attributes {
    struct field_list keys;              // struct field_value
    struct field_list attributes_to_get; // struct slice
    struct field_bool consistent_read;
    struct slice projection_expression;
    struct field_map expression_attribute_names; // struct slice
};

struct batch_get_item_request {
    struct field_map request_items; // struct keys_and_attributes
    struct slice return_consumed_capacity;
};

struct put_request {
    struct field_value item;
};

struct delete_request {
    struct field_value key;
};

struct write_request {
    struct put_request *put_request;
    struct delete_request *delete_request;
};

struct batch_write_item_request {
    struct field_map request_items; // struct field_list, each of struct write_request
    struct slice return_consumed_capacity;
    struct slice return_item_collection_metrics;
};

// ---- Transactions -------------------------------------------------------------------------------

struct transact_get {
    struct field_value key;
    struct slice table_name;
    struct slice projection_expression;
    struct field_map expression_attribute_names; // struct slice
};

struct transact_get_item {
    struct transact_get *get;
};

struct transact_get_items_request {
    struct field_list transact_items; // struct transact_get_item
    struct slice return_consumed_capacity;
};

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

struct transact_write_item {
    struct transact_action *condition_check;
    struct transact_action *put;
    struct transact_action *delete;
    struct transact_action *update;
};

struct transact_write_items_request {
    struct field_list transact_items; // struct transact_write_item
    struct slice return_consumed_capacity;
    struct slice return_item_collection_metrics;
    struct slice client_request_token;
};

#endif
