// The constraints of a decoded request. Internal to src/json.
#ifndef JSON_SHAPE_CHECK_H
#define JSON_SHAPE_CHECK_H

#include "json/shape.h"

// The bytes a value of this shape takes in its struct; in a list or map a structure stands
// inline, in a struct as a pointer.
size_t shape_slot_size(const struct shape *shape, bool inline_struct);

// Whether the slot of a member or element holds something: all of them begin with a pointer
// or with a flag that says so. A structure's slot is its pointer here: one that stands inline
// is always there.
static inline bool shape_slot_set(const struct shape *shape, const void *at)
{
    enum {
        FLAGGED = 1 << SHAPE_INTEGER | 1 << SHAPE_LONG | 1 << SHAPE_DOUBLE | 1 << SHAPE_TIMESTAMP |
                  1 << SHAPE_BOOLEAN | 1 << SHAPE_LIST | 1 << SHAPE_MAP
    };
    if ((FLAGGED >> shape->kind & 1) != 0)
        return *(const bool *)at;
    return *(void *const *)at != NULL;
}

// What shape_slot_set() builds on.
_Static_assert(offsetof(struct field_int, set) == 0 && offsetof(struct field_double, set) == 0 &&
                   offsetof(struct field_bool, set) == 0 && offsetof(struct field_list, set) == 0 &&
                   offsetof(struct field_map, set) == 0 && offsetof(struct slice, ptr) == 0 &&
                   offsetof(struct field_value, value) == 0,
               "a slot begins with what says whether it is set");

// Checks every constraint; false with the collected ValidationException. The error's arena
// holds the message.
MUST_CHECK bool shape_check(const struct shape *shape, enum service_layer layer,
                            const void *request, struct error *error);

// Appends text from the request to a message. Messages end at a NUL: one in the text becomes
// \u0000.
void echo_text(struct buf *out, struct slice text);

// Appends the value as the layer's messages show it: scalars as they are, composites as JSON or, in
// the older layer, as Java prints them.
void shape_echo(struct buf *out, const struct shape *shape, enum service_layer layer,
                const void *at, bool inline_struct);

#endif
