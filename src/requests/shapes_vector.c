// The shape of SearchVectors.
#include "requests/shapes_internal.h"

#include "base/limits.h"

static const char *const capacities[] = {"INDEXES", "TOTAL", "NONE", NULL};
static const struct shape capacity = ENUM_SHAPE(capacities);
static const struct shape names = MAP_SHAPE(&shape_any_string);
static const struct shape vector = LIST_SHAPE(&shape_any_value);
static const struct shape top_k = {
    .kind = SHAPE_INTEGER, .has_min = true, .min = 1, .has_max = true, .max = LIMIT_TOP_K};

static const struct shape_member search_vectors_rows[] = {
    REQUIRED(search_vectors_request, table_name, "TableName", &shape_table_name),
    REQUIRED(search_vectors_request, index_name, "IndexName", &shape_plain_name),
    REQUIRED(search_vectors_request, search_vector, "SearchVector", &vector),
    REQUIRED(search_vectors_request, top_k, "TopK", &top_k),
    OPTIONAL(search_vectors_request, return_consumed_capacity, "ReturnConsumedCapacity", &capacity),
    OPTIONAL(search_vectors_request, expression_attribute_names, "ExpressionAttributeNames",
             &names),
    OPTIONAL(search_vectors_request, expression_attribute_values, "ExpressionAttributeValues",
             &shape_any_item),
    OPTIONAL(search_vectors_request, projection_expression, "ProjectionExpression",
             &shape_any_string),
    OPTIONAL(search_vectors_request, search_condition_expression, "SearchConditionExpression",
             &shape_any_string),
};
const struct shape shape_search_vectors_request =
    STRUCT_SHAPE(search_vectors_request, "SearchVectorsInput", search_vectors_rows);
