// The parts of the SQL generator.
#ifndef GENERATE_SQL_H
#define GENERATE_SQL_H

#include "generate/walk.h"

// Whether it is SQLite that is written for; the other one is PostgreSQL.
bool is_sqlite(const struct writer *w);
// Of two texts the one for SQLite, or the one for PostgreSQL.
struct slice sql_either(const struct writer *w, const char *sqlite, const char *postgres);

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
struct slice sql_type(const struct writer *w, enum sql_kind kind);

// In single quotes.
struct slice sql_string(struct writer *w, struct slice text);
// Names, quoted: of an entity's table, of an attribute's column.
struct slice sql_table(struct writer *w, const struct model_entity *entity);
struct slice sql_column(struct writer *w, const struct model_entity *entity,
                        const struct model_attribute *attribute);

// A column's value as it stands in a key.
struct slice sql_key_text(struct writer *w, const struct model_entity *entity,
                          const struct model_attribute *attribute);

// Appends " CHECK (…)" if there is something to check of an attribute, besides NOT NULL.
void sql_check(struct writer *w, const struct model_entity *entity,
               const struct model_attribute *attribute);

// Appends " DEFAULT …" if the default does not depend on other columns.
void sql_default(struct writer *w, const struct model_attribute *attribute);

// The view of all items' keys, as templates make them.
void sql_view(struct writer *w, const struct model_table *table);

#endif
