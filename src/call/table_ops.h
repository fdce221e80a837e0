// What the operations on tables share: finding a table by its own operation's rules, changing
// one, and describing one.
#ifndef CALL_TABLE_OPS_H
#define CALL_TABLE_OPS_H

#include "call/operation.h"
#include "change/acts.h"
#include "requests/shapes.h"
#include "tables/arn.h"
#include "tables/change.h"
#include "tables/describe.h"
#include "tables/names.h"
#include "tables/table_spec.h"
#include "value/map.h"

// call_table() with that message.
struct table *call_own_table(struct api_call *call, struct slice name_or_arn);

// ---- Changing ---------------------------------------------------------------------------------

// Hands a change of the table to the writer. `alter` gets the context.
enum step call_alter(struct api_call *call, struct slice name,
                     bool (*alter)(void *context, struct table *current, struct table **next,
                                   struct error *error),
                     void *context);

// The same for what is changed in a table and its settings. `edit` gets a copy of them, which is
// thrown away if it fails; both are NULL if there is no such table, and then it must fail. The
// context, of `size` bytes, is copied into state->own.
typedef bool table_edit(void *context, struct table *table, struct table_settings *settings,
                        struct error *error);
enum step call_edit(struct api_call *call, struct slice name, table_edit *edit, const void *context,
                    size_t size);

// The same for an act, which is the call's.
enum step call_act(struct api_call *call, struct table_act *act);

// ---- Describing -----------------------------------------------------------------------

// The settings that a change of the call's table left behind; the slices live as long as the call.
void call_changed_settings(const struct api_call *call, struct table_settings *out);
// {name:{…}}, of a table as it is or, with `before`, has become.
void call_write_table(struct api_call *call, const char *name, const struct table *table,
                      const struct table *before, enum describe_moment moment);
// {"TableDescription":{…}}, the answer to a change.
void call_write_change(struct api_call *call, enum describe_moment moment);

#endif
