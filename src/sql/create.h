// The parts of making a schema's statements; change.c makes those of a difference with them.
#ifndef SQL_CREATE_H
#define SQL_CREATE_H

#include "sql/words.h"

struct sql_creator {
    const struct sql_schema *schema;
    struct sql_statements *out;
    struct writer w; // in the arena of the statements
    struct buf none; // its file, into which nothing is written; released by who ends
};

void sql_creator_init(struct sql_creator *c, const struct sql_schema *schema,
                      struct sql_statements *out);
void sql_statement_add(struct sql_statements *out, struct slice text);

// "status" text NOT NULL
struct slice sql_column_definition(struct sql_creator *c, const struct sql_column *column);
// With its comments and indexes; not its foreign keys.
void sql_create_table(struct sql_creator *c, const struct sql_table *table);
void sql_create_index(struct sql_creator *c, const struct sql_table *table,
                      const struct sql_index *index);
void sql_drop_index(struct sql_creator *c, const struct sql_table *table,
                    const struct sql_index *index);
void sql_create_foreign(struct sql_creator *c, const struct sql_table *table,
                        const struct sql_foreign *foreign);
void sql_drop_foreign(struct sql_creator *c, const struct sql_table *table,
                      const struct sql_foreign *foreign);
// The trigger of a soft one.
void sql_create_cascade(struct sql_creator *c, const struct sql_table *table,
                        const struct sql_foreign *foreign);
void sql_drop_cascade(struct sql_creator *c, const struct sql_foreign *foreign);
void sql_create_policy(struct sql_creator *c, const struct sql_table *table);
void sql_drop_policy(struct sql_creator *c, const struct sql_table *table);
void sql_create_view(struct sql_creator *c, const struct sql_view *view);
void sql_drop_view(struct sql_creator *c, const struct sql_view *view);
// The triggers that take changes back.
void sql_create_both(struct sql_creator *c, const struct sql_table *table);
void sql_drop_both(struct sql_creator *c, const struct sql_table *table);

#endif
