// A table in JSON, as DescribeTable and the answers to changes show it.
#ifndef TABLES_DESCRIBE_H
#define TABLES_DESCRIBE_H

#include "engine/table.h"
#include "json/writer.h"

// A table is described as it is, or as the answer to what has just been done to it.
enum describe_moment { DESCRIBE_NOW, DESCRIBE_CREATED, DESCRIBE_UPDATED, DESCRIBE_DELETED };

// From where it is looked at.
struct table_view {
    struct slice region; // names the ARNs
    int64_t now_ms;
    enum describe_moment moment;
    bool encrypted; // what is on disk
    bool unsized;   // how much there is, is not told: all counts are 0
};

// The TableDescription object. `before` is the previous version if it was just updated.
void table_write_json(struct json_writer *w, const struct table *table, const struct table *before,
                      const struct table_view *view);
// A stream is named by the moment it began: 2026-01-31T12:00:00.000
enum { TABLE_STREAM_LABEL = 80 };
struct slice table_stream_label(int64_t ms, char *text, size_t size);
// The member Projection of an index.
void table_write_projection(struct json_writer *w, const struct index *index);
// IndexStatus of a global or vector index, and whether it is being filled.
void table_write_status(struct json_writer *w, const struct index *index, bool updated,
                        enum describe_moment moment);
// Size and number of items. The answer that begins a new index says that it is empty, although
// filling may have begun.
void table_write_size(struct json_writer *w, const struct index *index,
                      const struct table_view *view);
// "KeySchema":[…]
void table_write_keys(struct json_writer *w, const struct key_schema *keys);

#endif
