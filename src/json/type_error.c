// The texts of SerializationException, in one table and one function.
//
// They are the words of the service's Java deserialiser: scalars name the Java class they
// should have become, structures differ by whether they are a field or an element.
#include "json/type_error.h"

#define JAVA_MODEL "com.amazonaws.dynamodb.v20120810."

const struct shape shape_string = {.kind = SHAPE_STRING};
const struct shape shape_blob = {.kind = SHAPE_BLOB};
const struct shape shape_boolean = {.kind = SHAPE_BOOLEAN};
const struct shape shape_string_list = {.kind = SHAPE_LIST, .element = &shape_string};
const struct shape shape_value = {.kind = SHAPE_VALUE, .name = "AttributeValue"};
const struct shape shape_value_list = {.kind = SHAPE_LIST, .element = &shape_value};
const struct shape shape_value_map = {.kind = SHAPE_ITEM, .element = &shape_value};

enum type_group { GROUP_SCALAR, GROUP_BLOB, GROUP_STRUCT, GROUP_LIST, GROUP_MAP };

// How the service's Java code calls each kind.
static const struct type_row {
    enum type_group group;
    const char *simple; // "cannot be converted to …"
    const char *java;   // "Unrecognized collection type …"
} type_rows[] = {
    [SHAPE_STRING] = {GROUP_SCALAR, "String", "class java.lang.String"},
    [SHAPE_ENUM] = {GROUP_SCALAR, "String", "class java.lang.String"},
    [SHAPE_BLOB] = {GROUP_BLOB, NULL, "class java.nio.ByteBuffer"},
    [SHAPE_INTEGER] = {GROUP_SCALAR, "Integer", "class java.lang.Integer"},
    [SHAPE_LONG] = {GROUP_SCALAR, "Long", "class java.lang.Long"},
    [SHAPE_DOUBLE] = {GROUP_SCALAR, "Double", "class java.lang.Double"},
    [SHAPE_TIMESTAMP] = {GROUP_SCALAR, "Date", "class java.util.Date"},
    [SHAPE_BOOLEAN] = {GROUP_SCALAR, "Boolean", "class java.lang.Boolean"},
    [SHAPE_STRUCT] = {GROUP_STRUCT, NULL, NULL},
    [SHAPE_LIST] = {GROUP_LIST, NULL, NULL},
    [SHAPE_MAP] = {GROUP_MAP, NULL, NULL},
    [SHAPE_VALUE] = {GROUP_STRUCT, NULL, "class " JAVA_MODEL "AttributeValue"},
    [SHAPE_ITEM] = {GROUP_MAP, NULL,
                    "java.util.Map<java.lang.String, " JAVA_MODEL "AttributeValue>"},
};

#define TEXT_STRUCTURE "Start of structure or map found where not expected"
#define TEXT_FIELD     "Unexpected field type"
#define TEXT_PAYLOAD   "Unexpected value type in payload"
#define TEXT_BYTES     "only base-64-encoded strings are convertible to bytes"
#define TEXT_CAST                                                                                  \
    "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class "  \
    "java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and "           \
    "java.lang.Class are in module java.base of loader 'bootstrap')"

static bool fail(struct error *error, const char *text)
{
    return error_set(error, ERR_SERIALIZATION, "%s", text);
}

bool json_text_error(const struct json_reader *reader, struct error *error)
{
    if (reader->budget)
        return error_budget(error);
    return fail(error, "");
}

bool json_base64_error(struct slice text, struct error *error)
{
    if (text.len % 4 != 0)
        return error_set(error, ERR_SERIALIZATION,
                         "Base64 encoded length is expected a multiple of 4 bytes but found: %zu",
                         text.len);
    return fail(error, "Invalid last non-pad Base64 character dectected");
}

bool json_boolean_error(struct error *error)
{
    return fail(error, "Unexpected token received from parser");
}

// "class com…KeySchemaElement"; "java.lang.String" without "class" inside a generic type.
static const char *java_name(const struct shape *shape, bool generic, struct arena *arena)
{
    const char *name = type_rows[shape->kind].java;
    if (shape->kind == SHAPE_STRUCT)
        name = arena_printf(arena, "class " JAVA_MODEL "%s",
                            shape->name != NULL ? shape->name : "Structure");
    if (shape->kind == SHAPE_LIST) {
        const char *inner = java_name(shape->element, true, arena);
        name = inner == NULL ? NULL : arena_printf(arena, "java.util.List<%s>", inner);
    }
    if (shape->kind == SHAPE_MAP) {
        const char *inner = java_name(shape->element, true, arena);
        name = inner == NULL ? NULL
                             : arena_printf(arena, "java.util.Map<java.lang.String, %s>", inner);
    }
    if (name != NULL && generic && strncmp(name, "class ", 6) == 0)
        name += 6;
    return name;
}

// A JSON array where the shape has none.
static bool array_error(const struct shape *shape, struct error *error)
{
    const char *name = java_name(shape, false, error->arena);
    if (name == NULL)
        return error_budget(error);
    return error_set(error, ERR_SERIALIZATION, "Unrecognized collection type %s", name);
}

static const char *scalar_token(struct json_reader *reader, enum json_kind found)
{
    struct slice text;
    switch (found) {
    case JSON_STRING:
        return "STRING_VALUE";
    case JSON_TRUE:
        return "TRUE_VALUE";
    case JSON_FALSE:
        return "FALSE_VALUE";
    case JSON_NUMBER:
        if (!json_read_number(reader, &text))
            return NULL;
        for (size_t i = 0; i < text.len; i++) {
            if (text.ptr[i] == '.' || text.ptr[i] == 'e' || text.ptr[i] == 'E')
                return "DECIMAL_VALUE";
        }
        return "NUMBER_VALUE";
    default:
        return NULL;
    }
}

bool json_type_error(struct json_reader *reader, const struct shape *shape, enum json_place place,
                     enum json_kind found, struct error *error)
{
    const struct type_row *row = &type_rows[shape->kind];
    if (found == JSON_BAD)
        return json_text_error(reader, error);
    if (found == JSON_ARRAY)
        return array_error(shape, error);
    if (found == JSON_OBJECT)
        return fail(error, TEXT_STRUCTURE);
    switch (row->group) {
    case GROUP_BLOB:
        return fail(error, TEXT_BYTES);
    case GROUP_STRUCT:
        return fail(error, place == PLACE_FIELD ? TEXT_FIELD : TEXT_PAYLOAD);
    case GROUP_LIST:
    case GROUP_MAP:
        return fail(error, place == PLACE_FIELD ? TEXT_FIELD : TEXT_CAST);
    case GROUP_SCALAR:
        break;
    }
    const char *token = scalar_token(reader, found);
    if (token == NULL)
        return json_text_error(reader, error);
    return error_set(error, ERR_SERIALIZATION, "%s cannot be converted to %s", token, row->simple);
}
