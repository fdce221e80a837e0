// The names of resources: arn:aws:<service>:<region>:<account>:<rest>.
#ifndef TABLES_ARN_H
#define TABLES_ARN_H

#include "base/arena.h"
#include "base/buf.h"
#include "json/writer.h"

struct arn {
    struct slice service;
    struct slice region;
    struct slice account; // may be empty
    struct slice rest;
};
MUST_CHECK bool arn_split(struct slice text, struct arn *out);

// What ARNs of tables and of what belongs to them are made of:
// arn:aws:dynamodb:<region>:000000000000:table/<table>[/<kind>/<id>]
struct table_arn {
    struct slice region;
    struct slice table;
    const char *kind; // "index", "stream", "backup", …; NULL for the table itself
    struct slice id;
};

void arn_write(struct buf *out, const struct table_arn *arn);
// The same into memory that has room for it; returns how long it is.
size_t arn_put(uint8_t *out, size_t room, const struct table_arn *arn);
// In the arena; ptr NULL when memory is out.
struct slice arn_make(struct arena *arena, const struct table_arn *arn);
void json_put_arn(struct json_writer *w, const char *name, const struct table_arn *arn);

// Whether it has only bytes that the name of a table may have, and at least one.
bool table_name_matches(struct slice text);
// The name in arn:aws:dynamodb:<region>:<account>:table/<name>, with nothing behind it.
MUST_CHECK bool arn_of_table(struct slice text, struct slice *name);
// Table and id of what belongs to a table: …:table/<table>/<kind>/<id>
MUST_CHECK bool arn_of_part(struct slice text, const char *kind, struct slice *table,
                            struct slice *id);
// A TableName may be the table's ARN. The name in it, or the slice itself if it is
// no ARN; a name that passed request_decode() gives a valid table name.
struct slice table_name_plain(struct slice name_or_arn);

#endif
