// The two messages about a string or binary set that has a member twice. Internal to src/json.
#ifndef JSON_SET_REPEAT_H
#define JSON_SET_REPEAT_H

#include "value/value.h"
#include "json/reader.h"

// `at` stands before the set's array, which has been read without error once before. The texts
// live in the arena; false if that is used up.
MUST_CHECK bool set_repeat_print(struct json_reader at, enum value_type type, struct arena *arena,
                                 const char **older, const char **newer);

#endif
