// Requests are described once, as shapes: what members a structure has, of what
// kind, which are required, and which lengths, ranges, patterns and enumerations
// they keep to. From that one description come the decoding of JSON into C structs,
// SerializationException for a wrong JSON type, and the collected
// "N validation errors detected: …" for broken constraints.
//
// How each kind stands in the C struct (at member.offset):
//   STRING, ENUM, BLOB   struct slice           ptr NULL when absent (BLOB: decoded from base64)
//   INTEGER, LONG        struct field_int
//   DOUBLE, TIMESTAMP    struct field_double
//   BOOLEAN              struct field_bool
//   STRUCT               pointer to the struct  NULL when absent
//   LIST                 struct field_list      items: array of the element's own form; STRUCT
//                                               elements stand inline, one after the other
//   MAP                  struct field_map       names[i] and the value's form at items[i]
//   VALUE                struct field_value     an AttributeValue
//   ITEM                 struct field_value     a map of AttributeValues, as one M value
// Members a shape does not know are skipped. JSON null counts as absent.
//
// An AttributeValue may be wrong in ways DynamoDB reports later than constraint
// failures, each operation at its own point (two types at once, a number that is
// none, an empty set, …). The decoder notes the first such fault in the field and goes
// on; the operation raises it with field_value_check() when its turn comes. The value of
// a field with a fault is an empty map that stands for it: present, but not to be used.
#ifndef JSON_SHAPE_H
#define JSON_SHAPE_H

#include "base/error.h"
#include "base/layer.h"
#include "value/value.h"

struct field_int {
    bool set;
    int64_t value;
};

struct field_double {
    bool set;
    double value;
};

struct field_bool {
    bool set;
    bool value;
};

struct field_list {
    bool set;
    size_t count;
    void *items;
};

struct field_map {
    bool set;
    size_t count;
    struct slice *names;
    void *items;
};

struct field_value {
    struct slice value;      // ptr NULL when absent
    const char *fault;       // NULL, or the message of the ValidationException
    bool malformed;          // the fault is that it is no AttributeValue at all
    bool too_deep;           // the fault is that it has too many levels
    struct slice fault_name; // ITEM: the top-level name under which the fault is
    struct slice bad_name;   // ITEM with a fault: the first name that the shape does not take
};

enum shape_kind {
    SHAPE_STRING,
    SHAPE_ENUM,
    SHAPE_BLOB,
    SHAPE_INTEGER,
    SHAPE_LONG,
    SHAPE_DOUBLE,
    SHAPE_TIMESTAMP,
    SHAPE_BOOLEAN,
    SHAPE_STRUCT,
    SHAPE_LIST,
    SHAPE_MAP,
    SHAPE_VALUE,
    SHAPE_ITEM,
};

#define SHAPE_NO_MIN INT64_MIN
#define SHAPE_NO_MAX INT64_MAX

struct shape_member;

struct shape {
    enum shape_kind kind;
    const char *name; // STRUCT: the service's name of it ("KeySchemaElement"), which
                      // a few messages print; may be NULL
    bool has_min;     // whether min, max count: length of strings, lists and maps,
    bool has_max;     // value of integers
    int64_t min;
    int64_t max;
    int64_t old_max;               // what the older layer lets pass beyond max; or 0
    bool new_min;                  // only the newer layer minds min
    const char *pattern;           // the pattern as the message prints it, or NULL
    bool (*matches)(struct slice); // what decides it; ITEM: which names may stand in it
    bool (*exempts)(struct slice); // STRING: min, max and pattern do not bind such a text; or NULL
    const char *const *values;     // ENUM: NULL-terminated, in the order the message prints
    const char *new_values;        // ENUM: what the newer layer says they are; or NULL
    const struct shape *element;   // LIST and MAP
    // MAP only: constraints on its names (the "key" of each entry), or NULL.
    const struct shape *key;
    const struct shape_member *members; // STRUCT, in the order constraints are reported
    size_t member_count;
    size_t size; // sizeof of the C struct
};

struct shape_member {
    const char *name; // as in the JSON: "TableName"; the older layer prints it as tableName
    size_t name_len;
    const struct shape *shape;
    size_t offset;
    bool required;
};

#define SHAPE_NAME(text) (text), sizeof(text) - 1

// Decodes a request. `out` has shape->size bytes and is zeroed first. False with
// SerializationException or the "validation errors detected" ValidationException.
MUST_CHECK bool shape_decode(const struct shape *shape, enum service_layer layer, struct slice json,
                             void *out, struct arena *arena, struct error *error);

// Raises the fault of a value, if it has one.
MUST_CHECK bool field_value_check(const struct field_value *field, struct error *error);

// Decodes one item in typed JSON ({"a":{"S":"b"}}); for tests and tools.
MUST_CHECK bool json_decode_item(struct slice json, struct arena *arena, struct slice *out,
                                 struct error *error);

// ---- One list for a struct and its shape ------------------------------------------------------
//
// The members of a struct T are a macro of rows,
//     #define T_members(X, T) X(T, need, member, "JSON name", KIND) …
// in the order in which the service reports what is wrong. A KIND is what may stand there:
// BOOLEAN, TEXT_SIZE(1, 255), LIST(STRUCT(request_tag)). FIELD_KIND is the C type of it and
// RULE_KIND its shape, so that the struct is made where the list stands (REQUEST_STRUCT) and the
// shape where all shapes are known (SHAPE_DECLARE, SHAPE_DEFINE). TEXT_OF(x) keeps to shape_x,
// and STRUCT_BY(T, x) is a struct T that is read by shape_x.
//
// A shape is listed as X(T, "service's name"); one more that fills the same struct, by a list of
// its own, as X(shape, T, "service's name"), for the macros that end in _AS.

#define REQUIRED true
#define OPTIONAL false

#define FIELD_TEXT                     struct slice
#define FIELD_TEXT_SIZE(min, max)      struct slice
#define FIELD_TEXT_MAX(max)            struct slice
#define FIELD_TEXT_OF(name)            struct slice
#define FIELD_ENUM(...)                struct slice
#define FIELD_INTEGER                  struct field_int
#define FIELD_INTEGER_MIN(min)         struct field_int
#define FIELD_INTEGER_MAX(max)         struct field_int
#define FIELD_INTEGER_RANGE(a, z)      struct field_int
#define FIELD_LONG                     struct field_int
#define FIELD_LONG_MIN(min)            struct field_int
#define FIELD_DOUBLE                   struct field_double
#define FIELD_TIME                     struct field_double
#define FIELD_BOOLEAN                  struct field_bool
#define FIELD_VALUE                    struct field_value
#define FIELD_ITEM                     struct field_value
#define FIELD_VALUES                   struct field_value
#define FIELD_STRUCT(T)                struct T *
#define FIELD_STRUCT_BY(T, name)       struct T *
#define FIELD_LIST(KIND)               struct field_list
#define FIELD_LIST_MIN(KIND, min)      struct field_list
#define FIELD_LIST_RANGE(KIND, a, z)   struct field_list
#define FIELD_MAP(KIND)                struct field_map
#define FIELD_MAP_OF_TABLES(KIND, ...) struct field_map

#define RULE(...)                                                                                  \
    &(const struct shape)                                                                          \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define RULE_MIN(least)          .has_min = true, .min = (least)
#define RULE_MAX(most)           .has_max = true, .max = (most)
#define RULE_TEXT                RULE(.kind = SHAPE_STRING)
#define RULE_TEXT_SIZE(a, z)     RULE(.kind = SHAPE_STRING, RULE_MIN(a), RULE_MAX(z))
#define RULE_TEXT_MAX(z)         RULE(.kind = SHAPE_STRING, RULE_MAX(z))
#define RULE_TEXT_OF(name)       &shape_##name
#define RULE_ENUM(...)           RULE(.kind = SHAPE_ENUM, .values = (const char *const[]){__VA_ARGS__, NULL})
#define RULE_INTEGER             RULE(.kind = SHAPE_INTEGER)
#define RULE_INTEGER_MIN(a)      RULE(.kind = SHAPE_INTEGER, RULE_MIN(a))
#define RULE_INTEGER_MAX(z)      RULE(.kind = SHAPE_INTEGER, RULE_MAX(z))
#define RULE_INTEGER_RANGE(a, z) RULE(.kind = SHAPE_INTEGER, RULE_MIN(a), RULE_MAX(z))
#define RULE_LONG                RULE(.kind = SHAPE_LONG)
#define RULE_LONG_MIN(a)         RULE(.kind = SHAPE_LONG, RULE_MIN(a))
#define RULE_DOUBLE              RULE(.kind = SHAPE_DOUBLE)
#define RULE_TIME                RULE(.kind = SHAPE_TIMESTAMP)
#define RULE_BOOLEAN             RULE(.kind = SHAPE_BOOLEAN)
#define RULE_VALUE               RULE(.kind = SHAPE_VALUE)
#define RULE_ITEM                RULE(.kind = SHAPE_ITEM)
#define RULE_VALUES              RULE(.kind = SHAPE_ITEM, .matches = is_value_name) // placeholders
#define RULE_STRUCT(T)           &shape_##T
#define RULE_STRUCT_BY(T, name)  &shape_##name
#define RULE_LIST(KIND)          RULE(.kind = SHAPE_LIST, .element = RULE_##KIND)
#define RULE_LIST_MIN(KIND, a)   RULE(.kind = SHAPE_LIST, .element = RULE_##KIND, RULE_MIN(a))
#define RULE_LIST_RANGE(KIND, a, z)                                                                \
    RULE(.kind = SHAPE_LIST, .element = RULE_##KIND, RULE_MIN(a), RULE_MAX(z))
#define RULE_MAP(KIND) RULE(.kind = SHAPE_MAP, .element = RULE_##KIND)
// Each entry under the name of a table.
#define RULE_MAP_OF_TABLES(KIND, ...)                                                              \
    RULE(.kind = SHAPE_MAP, .element = RULE_##KIND, .key = &shape_own_table_name, __VA_ARGS__)

#define REQUEST_FIELD(T, need, member, json_name, KIND) FIELD_##KIND member;
#define REQUEST_STRUCT(T, service_name)                                                            \
    struct T {                                                                                     \
        T##_members(REQUEST_FIELD, T)                                                              \
    };

#define REQUEST_ROW(T, need, member, json_name, KIND)                                              \
    {SHAPE_NAME(json_name), RULE_##KIND, offsetof(struct T, member), need},
#define SHAPE_DECLARE(T, service_name)       extern const struct shape shape_##T;
#define SHAPE_DECLARE_AS(x, T, service_name) extern const struct shape shape_##x;
#define SHAPE_DEFINE(T, service_name)        SHAPE_DEFINE_AS(T, T, service_name)
#define SHAPE_DEFINE_AS(x, T, service_name)                                                        \
    static const struct shape_member x##_rows[] = {x##_members(REQUEST_ROW, T)};                   \
    const struct shape shape_##x = {                                                               \
        .kind = SHAPE_STRUCT,                                                                      \
        .name = service_name,                                                                      \
        .members = x##_rows,                                                                       \
        .member_count = COUNT_OF(x##_rows),                                                        \
        .size = sizeof(struct T),                                                                  \
    };

#endif
