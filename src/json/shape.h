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
    struct slice fault_name; // ITEM: the top-level name under which the fault is
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
    const char *pattern;           // the pattern as the message prints it, or NULL
    bool (*matches)(struct slice); // what decides it
    bool (*exempts)(struct slice); // STRING: min, max and pattern do not bind such a text; or NULL
    const char *const *values;     // ENUM: NULL-terminated, in the order the message prints
    const struct shape *element;   // LIST and MAP
    // MAP only: constraints on its names (the "key" of each entry), or NULL.
    const struct shape *key;
    const struct shape_member *members; // STRUCT, in the order constraints are reported
    size_t member_count;
    size_t size; // sizeof of the C struct
};

struct shape_member {
    const char *name; // as in the JSON: "TableName"; messages print it as tableName
    const struct shape *shape;
    size_t offset;
    bool required;
};

// Decodes a request. `out` has shape->size bytes and is zeroed first. False with
// SerializationException or the "validation errors detected" ValidationException.
MUST_CHECK bool shape_decode(const struct shape *shape, struct slice json, void *out,
                             struct arena *arena, struct error *error);

// Raises the fault of a value, if it has one.
MUST_CHECK bool field_value_check(const struct field_value *field, struct error *error);

// Decodes one item in typed JSON ({"a":{"S":"b"}}); for tests and tools.
MUST_CHECK bool json_decode_item(struct slice json, struct arena *arena, struct slice *out,
                                 struct error *error);

// ---- One list for a struct and its shape ------------------------------------------------------
//
// A list is a macro of rows, X(T, need, C type, member, "JSON name", shape), in the order in which
// the service reports what is wrong. The struct is made of it where the list stands, the rows of
// the shape where the shapes of its members are known.

#define REQUIRED true
#define OPTIONAL false

#define REQUEST_FIELD(T, need, type, member, json_name, shape) type member;
#define REQUEST_STRUCT(T, LIST)                                                                    \
    struct T {                                                                                     \
        LIST(REQUEST_FIELD, T)                                                                     \
    }

#define SHAPE_ROW(T, need, member, json_name, shape_of)                                            \
    {                                                                                              \
        .name = (json_name), .shape = &(shape_of), .offset = offsetof(struct T, member),           \
        .required = (need),                                                                        \
    }
#define REQUEST_ROW(T, need, type, member, json_name, shape_of)                                    \
    SHAPE_ROW(T, need, member, json_name, shape_of),
#define REQUEST_ROWS(T, LIST) static const struct shape_member T##_rows[] = {LIST(REQUEST_ROW, T)}
#define REQUEST_SHAPE(T, service_name)                                                             \
    {                                                                                              \
        .kind = SHAPE_STRUCT, .name = (service_name), .members = T##_rows,                         \
        .member_count = sizeof(T##_rows) / sizeof(T##_rows[0]), .size = sizeof(struct T),          \
    }

#endif
