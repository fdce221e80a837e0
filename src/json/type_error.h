// What DynamoDB says when a JSON value is not of the type a shape asks for. All texts of
// SerializationException stand in type_error.c. Internal to src/json.
#ifndef JSON_TYPE_ERROR_H
#define JSON_TYPE_ERROR_H

#include "base/error.h"
#include "json/reader.h"
#include "json/shape.h"

// Where the value stands decides some of the texts.
enum json_place {
    PLACE_FIELD,   // the member of a structure
    PLACE_ELEMENT, // the element of a list or the value of a map
};

// The text ended or broke: an exception without a message, as DynamoDB gives it; or the
// request's memory is used up. Always false.
bool json_text_error(const struct json_reader *reader, struct error *error);

// `found` is what json_peek() saw where the shape wants something else. Always false.
bool json_type_error(struct json_reader *reader, const struct shape *shape, enum json_place place,
                     enum json_kind found, struct error *error);

// The string is not base64. Always false.
bool json_base64_error(struct slice text, struct error *error);

// A string that is no boolean. Always false.
bool json_boolean_error(struct error *error);

// The shapes of what AttributeValues are made of, for messages about their insides.
extern const struct shape shape_string;
extern const struct shape shape_blob;
extern const struct shape shape_boolean;
extern const struct shape shape_string_list;
extern const struct shape shape_value;
extern const struct shape shape_value_list;
extern const struct shape shape_value_map;

#endif
