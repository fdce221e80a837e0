// Small M values as records: settings, and what is kept of work beside requests. A member that is
// absent is 0, false or an empty slice, and what is that takes no room.
//
// A struct and its M value are led into each other by one table of rows, so that no member is
// written and forgotten when it is read. The names are part of the stored format.
#ifndef VALUE_MAP_H
#define VALUE_MAP_H

#include "base/arena.h"
#include "base/error.h"
#include "value/value.h"

// ---- Reading ----------------------------------------------------------------------

struct slice map_text(struct slice map, const char *name);
int64_t map_integer(struct slice map, const char *name);
bool map_flag(struct slice map, const char *name);
struct slice map_value(struct slice map, struct slice name); // VALUE_NONE if there is none

// ---- Making -----------------------------------------------------------------------

// A map in the making: map_begin, members, map_end.
void map_begin(struct value_maker *maker);
void map_put_text(struct value_maker *maker, const char *name, struct slice text);
void map_put_integer(struct value_maker *maker, const char *name, int64_t value);
void map_put_flag(struct value_maker *maker, const char *name, bool value);
void map_put_value(struct value_maker *maker, struct slice name, struct slice value);
// The map, copied into the arena; VALUE_NONE (with the error set) when memory is out.
struct slice map_end(struct value_maker *maker, struct arena *arena, struct error *error);

// Gives an entry of *map a new value (VALUE_NONE: takes it out). The map may be absent.
MUST_CHECK bool map_set(struct arena *arena, struct slice *map, struct slice name,
                        struct slice value, struct error *error);

// ---- By rows ------------------------------------------------------------------------

enum map_kind {
    MAP_INTEGER, // int64_t, uint64_t
    MAP_SMALL,   // uint32_t, an enum
    MAP_FLAG,    // bool
    MAP_TEXT,    // struct slice
    MAP_BYTES,   // struct slice, stored as B
    MAP_VALUE,   // struct slice, an encoded value
    MAP_PART,    // a struct whose members stand among the others in the same map
    MAP_LIST,    // an array of structs, stored as L of M, and a size_t: how many there are
};

struct map_form;

struct map_row {
    const char *name;
    enum map_kind kind;
    size_t offset;
    const struct map_form *form; // of a part, or of the elements of a list
    size_t count;                // lists: the offset of their count
    size_t room;                 // lists: how many there may be; what is beyond is not read
};

// The row of a field; MAP_SAME if its name in the map is that of the field.
#define MAP_ROW(type, kind, field, name)                                                           \
    {                                                                                              \
        name, MAP_##kind, offsetof(struct type, field), NULL, 0, 0                                 \
    }
#define MAP_SAME(type, kind, field) MAP_ROW(type, kind, field, #field)
#define MAP_PART_ROW(type, field, form)                                                            \
    {                                                                                              \
        NULL, MAP_PART, offsetof(struct type, field), form, 0, 0                                   \
    }
#define MAP_LIST_ROW(type, field, number, room, name, form)                                        \
    {                                                                                              \
        name, MAP_LIST, offsetof(struct type, field), form, offsetof(struct type, number), room    \
    }

// All rows of a struct.
struct map_form {
    size_t size; // of the struct
    size_t count;
    const struct map_row *rows;
};
#define MAP_FORM(type, rows)                                                                       \
    {                                                                                              \
        sizeof(struct type), COUNT_OF(rows), rows                                                  \
    }

// A struct as a record, and back: the former in the arena (VALUE_NONE with the error set when
// memory is out), the latter with slices of the record.
struct slice map_encode(const struct map_form *form, const void *from, struct arena *arena,
                        struct error *error);
void map_decode(const struct map_form *form, struct slice record, void *out);

// Sets the fields whose members are there, to slices of the map.
void map_get_rows(struct slice map, const struct map_row *rows, size_t count, void *out);
// Adds the members, in an open map.
void map_put_rows(struct value_builder *b, const struct map_row *rows, size_t count,
                  const void *from);

#endif
