// The request of SearchVectors. (Vector indexes are specified in table requests: requests.h.)
#ifndef REQUESTS_REQUESTS_VECTOR_H
#define REQUESTS_REQUESTS_VECTOR_H

#include "json/shape.h"

struct search_vectors_request {
    struct slice table_name;
    struct slice index_name;
    struct slice return_consumed_capacity;
    struct field_map expression_attribute_names; // struct slice
    struct field_value expression_attribute_values;
    struct slice projection_expression;
    struct field_list search_vector; // struct field_value
    struct slice search_condition_expression;
    struct field_int top_k;
};

extern const struct shape shape_search_vectors_request;

#endif
