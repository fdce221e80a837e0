// The parts of the SQL generator.
#ifndef GENERATE_SQL_H
#define GENERATE_SQL_H

#include "generate/text.h"
#include "generate/walk.h"

struct sql {
    const struct model *model;
    const struct generate_options *options;
    struct buf *out;
    bool sqlite;
};

// What a column holds.
enum sql_kind {
    SQL_TEXT,
    SQL_NUMERIC,
    SQL_BIGINT,
    SQL_BOOLEAN,
    SQL_BYTES,
    SQL_UUID,
    SQL_TIMESTAMP,
    SQL_DATE,
    SQL_JSON,
};

enum sql_kind sql_kind(const struct model_type *type);
const char *sql_type(const struct sql *sql, enum sql_kind kind);

// Names, quoted: of an entity's table, of an attribute's column.
void sql_table(struct buf *out, const struct model_entity *entity);
void sql_column(struct buf *out, const struct model_entity *entity,
                const struct model_attribute *attribute);

// Appends " CHECK (…)" if there is something to check of an attribute, besides NOT NULL.
void sql_check(struct sql *sql, const struct model_entity *entity,
               const struct model_attribute *attribute);

// Appends " DEFAULT …" if the default does not depend on other columns.
void sql_default(struct sql *sql, const struct model_attribute *attribute);

// The view of all items' keys, as templates make them.
void sql_view(struct sql *sql, const struct model_table *table);

#endif
