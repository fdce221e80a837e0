// The request of SearchVectors. (Vector indexes are specified in table requests: requests.h.)
#ifndef REQUESTS_REQUESTS_VECTOR_H
#define REQUESTS_REQUESTS_VECTOR_H

#include "json/shape.h"

#define SEARCH_VECTORS_REQUEST(X, T)                                                               \
    X(T, REQUIRED, struct slice, table_name, "TableName", shape_table_name)                        \
    X(T, REQUIRED, struct slice, index_name, "IndexName", shape_plain_name)                        \
    X(T, REQUIRED, struct field_list, search_vector, "SearchVector",                               \
      vector) /* struct field_value */                                                             \
    X(T, REQUIRED, struct field_int, top_k, "TopK", top_k)                                         \
    X(T, OPTIONAL, struct slice, return_consumed_capacity, "ReturnConsumedCapacity", capacity)     \
    X(T, OPTIONAL, struct field_map, expression_attribute_names, "ExpressionAttributeNames",       \
      names) /* struct slice */                                                                    \
    X(T, OPTIONAL, struct field_value, expression_attribute_values, "ExpressionAttributeValues",   \
      shape_any_item)                                                                              \
    X(T, OPTIONAL, struct slice, projection_expression, "ProjectionExpression", shape_any_string)  \
    X(T, OPTIONAL, struct slice, search_condition_expression, "SearchConditionExpression",         \
      shape_any_string)
REQUEST_STRUCT(search_vectors_request, SEARCH_VECTORS_REQUEST);

extern const struct shape shape_search_vectors_request;

#endif
