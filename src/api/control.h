// What the operations of the control plane share: small M values inside a table's settings
// (policies, insights, destinations, scaling), and ARNs.
//
// An absent member of such a map is 0, false or an empty slice, as with settings themselves.
#ifndef API_CONTROL_H
#define API_CONTROL_H

#include "api/table_ops.h"

// ---- Reading ----------------------------------------------------------------------

struct slice map_text(struct slice map, const char *name);
int64_t map_integer(struct slice map, const char *name);
bool map_flag(struct slice map, const char *name);
struct slice map_value(struct slice map, struct slice name); // VALUE_NONE if there is none

// ---- Making -----------------------------------------------------------------------

// A map in the making: map_begin, members, map_end. What is 0, false or empty is left out.
struct map_maker {
    struct buf bytes;
    struct value_builder b;
};

void map_begin(struct map_maker *maker);
void map_put_text(struct map_maker *maker, const char *name, struct slice text);
void map_put_integer(struct map_maker *maker, const char *name, int64_t value);
void map_put_flag(struct map_maker *maker, const char *name, bool value);
void map_put_value(struct map_maker *maker, struct slice name, struct slice value);
// The map, copied into the arena; VALUE_NONE (with the error set) when memory is out.
struct slice map_end(struct map_maker *maker, struct arena *arena, struct error *error);

// Gives an entry of *map a new value (VALUE_NONE: takes it out). The map may be absent.
MUST_CHECK bool map_set(struct arena *arena, struct slice *map, struct slice name,
                        struct slice value, struct error *error);

// ---- Answering ---------------------------------------------------------------------------------

// The settings that a change of the call's table left behind; the slices live as long as the call.
void call_changed_settings(const struct api_call *call, struct table_settings *out);

// ---- Walking over tables ------------------------------------------------------------------------

// The names of the tables behind `after`, as they are now: tables may come and go meanwhile.
struct table_names {
    struct buf text;
    size_t at;
};
void table_names_init(struct table_names *names, struct engine *engine, struct slice after);
MUST_CHECK bool table_names_next(struct table_names *names, struct slice *name);
void table_names_release(struct table_names *names);

// ---- ARNs ------------------------------------------------------------------------------------

// arn:aws:<service>:<region>:<account>:<rest>; the account may be empty.
struct arn {
    struct slice service;
    struct slice region;
    struct slice account;
    struct slice rest;
};
MUST_CHECK bool arn_split(struct slice text, struct arn *out);

#endif
