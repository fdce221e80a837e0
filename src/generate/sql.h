// The parts of the SQL generator. Tables, columns, keys and indexes are those of the schema
// (sql/schema.h); what is added here is what a database can see to by itself.
#ifndef GENERATE_SQL_H
#define GENERATE_SQL_H

#include "generate/generate.h"
#include "sql/words.h"

// The table of an entity; and its name, quoted.
const struct sql_table *sql_of(const struct writer *w, const struct model_entity *entity);
struct slice sql_table_name(struct writer *w, const struct model_entity *entity);

// Appends " CHECK (…)" if there is something to check of an attribute, besides NOT NULL.
void sql_check(struct writer *w, const struct model_entity *entity,
               const struct model_attribute *attribute);

// Appends " DEFAULT …" if the default does not depend on other columns.
void sql_default(struct writer *w, const struct model_attribute *attribute);
// What a computed attribute is, if the database can compute it; else empty.
struct slice sql_generated(struct writer *w, const struct model_entity *entity,
                           const struct model_attribute *attribute);

// Constraints, each with a comma behind it; references to tables that are all there; the rest.
void sql_constraints(struct writer *w, const struct model_entity *entity);
void sql_references(struct writer *w, const struct model_entity *entity);
void sql_rules(struct writer *w, const struct model_entity *entity);
void sql_refusal(struct writer *w);

// The view of all items' keys, as templates make them.
void sql_view(struct writer *w, const struct model_table *table);

#endif
