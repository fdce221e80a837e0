// A projector keeps the rows of one table's items in a database (ADR 020). It knows nothing of
// where changes come from: the consumer in the server (project.h) and `dolmen project` (cli) give
// it changes, in the order of the log, and it writes them:
//
// - a batch of changes is one SQL transaction, in which the position moves, too;
// - the last image of each item in a batch counts; rows are upserts and deletes by key, the rows of
//   child tables are replaced, and the groups that a batch has touched are computed anew;
// - a change whose row the database does not take is told apart from the others, which are written;
// - only one projector at a time can write: the row of the projection in "dolmen_projections" has
//   the name of its owner, which each transaction looks at first.
//
// Opening it makes the tables, or changes them from what they were made of to what the model says
// now. Used by one thread.
#ifndef PROJECT_PROJECTOR_H
#define PROJECT_PROJECTOR_H

#include "project/rdb.h"

struct projector;

struct projector_plan {
    const struct model *model;
    const struct model_project *project; // NULL: the default mapping of all entities
    const struct model_table *table;     // whose items these are
    struct slice table_id;               // of the table: another one, and all rows are made anew
    struct rdb_target target;
};

// NULL with the fault. The plan's model stays where it is; the rest is copied.
MUST_CHECK struct projector *projector_open(const struct projector_plan *plan,
                                            struct rdb_fault *fault);
void projector_close(struct projector *p);

// The names of what it keeps: the projection's in "dolmen_projections".
const struct sql_schema *projector_schema(const struct projector *p);
struct rdb *projector_rdb(struct projector *p);
// Whether items of the entity have rows.
bool projector_wants(const struct projector *p, const struct model_entity *entity);

struct projector_place {
    bool backfill;     // it has no position, or is amid a backfill
    uint64_t position; // else: everything up to here is in it
    struct slice note; // of whoever reads: what projector_note() has put there; or empty
};
struct projector_place projector_place(const struct projector *p);

// ---- Changes -----------------------------------------------------------------------------------

struct projector_change {
    struct slice keys;     // of the item
    struct slice old_item; // VALUE_NONE if there was none, or it is not known (a snapshot)
    struct slice new_item; // VALUE_NONE if it is gone
    // Out.
    bool refused;
    const char *reason; // valid until the next call
};

// Writes them in the order they are in. With a position the projection stands there, unless some
// were refused: *claimed tells. False, with the fault, if it cannot go on: nothing of what is not
// in the database then is lost, once it is opened again.
MUST_CHECK bool projector_apply(struct projector *p, struct projector_change *changes, size_t count,
                                uint64_t position, bool *claimed, struct rdb_fault *fault);
// The same with a note of the reader's, that is kept with the position.
MUST_CHECK bool projector_apply_noted(struct projector *p, struct projector_change *changes,
                                      size_t count, struct slice note, struct rdb_fault *fault);

// A backfill: from begin() to end(), changes are the items of a snapshot. What the snapshot did not
// have is removed at its end; then the projection stands at the position.
MUST_CHECK bool projector_begin(struct projector *p, struct rdb_fault *fault);
MUST_CHECK bool projector_end(struct projector *p, uint64_t position, struct slice note,
                              struct rdb_fault *fault);

// Rows that were written since it was opened, and transactions.
uint64_t projector_rows(const struct projector *p);
uint64_t projector_batches(const struct projector *p);

#endif
