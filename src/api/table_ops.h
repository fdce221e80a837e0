// What the operations on tables share: finding a table by its own operation's rules, changing
// one, and describing one.
#ifndef API_TABLE_OPS_H
#define API_TABLE_OPS_H

#include "api/api_internal.h"
#include "api/shapes.h"
#include "api/table_spec.h"

// "Requested resource not found: Table: … not found"; false. Only table operations name the table.
bool table_not_found(struct error *error, struct slice name);
// False, with ResourceInUseException, if the table is being restored or imported.
MUST_CHECK bool table_check_ready(const struct table *table, struct error *error);
// call_table() with that message.
struct table *call_own_table(struct api_call *call, struct slice name_or_arn);

// ---- Changing ---------------------------------------------------------------------------------

// Hands a change of the table to the writer. `alter` gets the context.
enum step call_alter(struct api_call *call, struct slice name,
                     bool (*alter)(void *context, struct table *current, struct table **next,
                                   struct error *error),
                     void *context);

// For `alter`: a copy of the table to change, with its settings. NULL with the error set.
struct table *table_begin(const struct table *current, struct table_settings *settings,
                          struct error *error);
// Gives the copy up; false.
bool table_abandon(struct table *table);
// Writes the settings and hands the copy to *next; on failure it is given up.
MUST_CHECK bool table_end(struct table *table, const struct table_settings *settings,
                          struct table **next, struct error *error);

// ---- Describing (table_describe.c) --------------------------------------------------

// A table is described as it is, or as the answer to what has just been done to it.
enum describe_moment { DESCRIBE_NOW, DESCRIBE_CREATED, DESCRIBE_UPDATED, DESCRIBE_DELETED };

// The TableDescription object. `before` is the previous version if it was just updated.
void table_write_json(struct json_writer *w, const struct api_call *call, const struct table *table,
                      const struct table *before, enum describe_moment moment);
// A stream is named by the moment it began: 2026-01-31T12:00:00.000
enum { TABLE_STREAM_LABEL = 80 };
struct slice table_stream_label(int64_t ms, char *text, size_t size);
// The member Projection of an index.
void table_write_projection(struct json_writer *w, const struct index *index);
// "KeySchema":[…]
void table_write_keys(struct json_writer *w, const struct key_schema *keys);
// {"TableDescription":{…}}, the answer to a change.
void call_write_change(struct api_call *call, enum describe_moment moment);

#endif
