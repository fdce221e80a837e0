// What the shape tables share: macros that keep a row to one line, and the shapes that more
// than one file uses.
#ifndef REQUESTS_SHAPES_INTERNAL_H
#define REQUESTS_SHAPES_INTERNAL_H

#include "requests/shapes.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define STRUCT_SHAPE(type, service_name, rows)                                                     \
    {                                                                                              \
        .kind = SHAPE_STRUCT, .name = (service_name), .members = (rows),                           \
        .member_count = COUNT_OF(rows), .size = sizeof(struct type),                               \
    }
#define LIST_SHAPE(element_pointer)                                                                \
    {                                                                                              \
        .kind = SHAPE_LIST, .element = (element_pointer)                                           \
    }
#define LIST_SHAPE_MIN(element_pointer, least)                                                     \
    {                                                                                              \
        .kind = SHAPE_LIST, .element = (element_pointer), .has_min = true, .min = (least),         \
    }
#define LIST_SHAPE_RANGE(element_pointer, least, most)                                             \
    {                                                                                              \
        .kind = SHAPE_LIST, .element = (element_pointer), .has_min = true, .min = (least),         \
        .has_max = true, .max = (most),                                                            \
    }
#define MAP_SHAPE(element_pointer)                                                                 \
    {                                                                                              \
        .kind = SHAPE_MAP, .element = (element_pointer)                                            \
    }
#define STRING_SHAPE_RANGE(least, most)                                                            \
    {                                                                                              \
        .kind = SHAPE_STRING, .has_min = true, .min = (least), .has_max = true, .max = (most),     \
    }
#define ENUM_SHAPE(names)                                                                          \
    {                                                                                              \
        .kind = SHAPE_ENUM, .values = (names)                                                      \
    }

// Without constraints.
extern const struct shape shape_any_string;
extern const struct shape shape_any_boolean;
extern const struct shape shape_any_long;
extern const struct shape shape_any_integer;
extern const struct shape shape_any_value;
extern const struct shape shape_any_item;

// Names and numbers.
extern const struct shape shape_table_name;     // of item operations, and in RequestItems
extern const struct shape shape_own_table_name; // of table operations
extern const struct shape shape_plain_name;     // an index, or ExclusiveStartTableName
extern const struct shape shape_attribute_name; // 1 to 255 characters
extern const struct shape shape_positive_integer;
extern const struct shape shape_positive_long;

// Parts of table requests (shapes_table.c).
extern const struct shape shape_attribute_definitions;
extern const struct shape shape_key_schema;
extern const struct shape shape_local_indexes;
extern const struct shape shape_global_indexes;
extern const struct shape shape_vector_indexes;
extern const struct shape shape_billing_mode;
extern const struct shape shape_provisioned_throughput;
extern const struct shape shape_on_demand_throughput;
extern const struct shape shape_sse_specification;

#endif
