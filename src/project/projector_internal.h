// What the files of the projector share: projector.c (changes into rows), forms.c (the statements),
// settle.c (tables and positions).
#ifndef PROJECT_PROJECTOR_INTERNAL_H
#define PROJECT_PROJECTOR_INTERNAL_H

#include "project/projector.h"

#include "base/buf.h"

// Values of rows that a statement is executed with.
struct form_rows {
    size_t columns;
    size_t count; // of rows
    size_t room;  // for values
    struct sql_value *values;
};

struct form_use {
    struct rdb_statement statement;
    struct form_rows rows;
};

// The statements of a table, and the rows for them.
struct form {
    const struct sql_table *table;
    // The same with only the columns of the key, and then, of MEMBERS, those of the group's: what
    // is to be known of a row that goes.
    struct sql_table lean;
    struct sql_columns group_key; // MEMBERS: the columns of the group's key
    struct form_use upsert;
    struct form_use erase; // by the key; of a CHILD, by that of its parent
    struct form_use seen;  // ENTITY, MEMBERS: notes the key of a row that a snapshot has
    struct form_use touch; // MEMBERS: notes the key of a group
    struct rdb_statement refresh[2];
    struct rdb_statement settle; // MEMBERS, SQLite: forgets what was touched
    bool keep_seen;              // there were rows when the backfill began
};

enum { FORM_STATEMENTS = 7, SHARED_STATEMENTS = 6, OWNER_TEXT = 40 };

struct projector {
    struct rdb *rdb;
    const struct model *model;
    const struct model_project *project;
    const struct model_table *table;
    const struct sql_schema *schema;
    struct arena arena; // the schema, the statements
    struct slice id;    // of the projection
    struct slice source;
    struct slice table_id;
    char owner[OWNER_TEXT];
    struct projector_place place;
    bool backfilling;
    bool both; // some columns are taken back
    size_t count;
    struct form *forms;
    struct rdb_statement fence;
    struct form_use position; // and
    struct form_use note;
    struct rdb_statement quiet[2]; // SQLite: the triggers of `both` are to do nothing, and again
    uint64_t rows;
    uint64_t batches;
    // Of a batch.
    struct arena scratch;
    struct arena reasons;
    size_t step_room;
    struct rdb_step *steps;
};

// ---- forms.c ---------------------------------------------------------------------------------

// Makes the statements, and the temporary tables they need, and has the rdb prepare them.
MUST_CHECK bool forms_make(struct projector *p, struct rdb_fault *fault);
void forms_release(struct projector *p);
// What the values of rows come from: SELECT … FROM unnest(…), or VALUES (?, ?).
void put_source(struct buf *out, enum sql_dialect dialect, const enum sql_kind *kinds, size_t count,
                const char *distinct);
// The form of a table, or NULL if it is none of ours.
struct form *forms_find(const struct projector *p, const struct sql_table *table);
// Room for one more row; NULL when memory is out.
struct sql_value *rows_add(struct form_rows *rows);

// ---- settle.c --------------------------------------------------------------------------------

// Makes or changes the tables, takes the place of the projection's owner, and reads its position.
MUST_CHECK bool projector_settle(struct projector *p, struct rdb_fault *fault);
// What was left for the time behind the backfills, once there is none under way.
MUST_CHECK bool projector_finish(struct projector *p, struct rdb_fault *fault);
// Leaves statements for then, in the database.
MUST_CHECK bool projector_leave(struct projector *p, const struct sql_statements *list,
                                struct rdb_fault *fault);
// "dolmen_projections" as a name, and the condition of the row of ours.
void put_ledger(struct buf *out, const struct projector *p);
void put_own_row(struct buf *out, const struct projector *p);

// Runs the text in the buffer, which is cleared.
MUST_CHECK bool run_text(struct projector *p, struct buf *text, struct rdb_fault *fault);

#endif
