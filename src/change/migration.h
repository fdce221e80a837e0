// Migrations in the database: see model/migration.h for what one says, model.h for where things are
// kept. A migration is run beside the requests (LANE_MODEL), step by step over the whole table, at
// a bounded rate. What becomes of one item is one transaction, which asks that nothing of what was
// read has changed; if it has, the item is looked at again.
#ifndef CHANGE_MIGRATION_H
#define CHANGE_MIGRATION_H

#include "change/model.h"
#include "migration/migration_map.h"

enum migration_status {
    MIGRATION_DONE,
    MIGRATION_RUNNING,
    MIGRATION_FAILED,     // it was given up, or nothing could be migrated
    MIGRATION_INCOMPLETE, // some items could not be
};

// The record of a migration. Slices point into the record.
struct migration_work {
    struct slice table_id; // first, see model_table_record()
    struct slice name;
    struct slice file;
    struct slice text;
    enum migration_status status;
    bool applied; // what its way up makes is there, or some of it
    bool down;    // the way that it is going, or went last
    int64_t step;
    int64_t steps;
    int64_t matched;
    int64_t made;
    int64_t removed;
    int64_t failed;
    struct model_progress progress; // of this step; the samples are items that failed
};

#define MIGRATION_RECORDS "model/migration/" // what their names begin with
struct slice migration_record_name(struct arena *arena, struct slice table, struct slice name);
extern const struct map_form migration_work_form;
// text.len 0 if there is none.
MUST_CHECK bool migration_work_read(struct engine *engine, const struct table *table,
                                    struct slice name, struct arena *arena,
                                    struct migration_work *out, struct error *error);

// Parses and resolves a migration against the table as it is. NULL with the error set; the message
// shows the place.
MUST_CHECK struct migration *migration_open(struct slice file, struct slice text, bool down,
                                            const struct table *table, struct arena *arena,
                                            struct error *error);

// Shows what was found wrong; always NULL, with the error set.
struct migration *migration_failed(struct diagnostics *found, struct slice file, struct slice text,
                                   struct error *error);

// Looks whether the attributes that a way counts on are there: each in one at least of the items
// that its step takes, if it takes any. What is not is most likely misspelt. Reads the table until
// all are found.
MUST_CHECK bool migration_look(struct workshop *shop, struct table *table,
                               const struct migration_way *way, struct slice file,
                               struct slice text, struct arena *arena, struct error *error);

// ---- One item (migration_item.c) --------------------------------------------------------------

enum { MIGRATION_ACTIONS = 1 + MIGRATION_MAKES + MIGRATION_WITHS };

// What is to be written for one item.
struct migration_plan {
    struct migration_result result; // with the items as the guard completes them
    bool changes;                   // something is to be written
    size_t made;
    size_t removed;
    size_t count;
    struct write_action actions[MIGRATION_ACTIONS];
};

struct migrator {
    struct engine *engine;
    struct table *table; // borrowed
    const struct migration_step *step;
    const struct expr_condition *absent; // attribute_not_exists of the partition key
    struct arena *arena;                 // of one item
};

// The condition that an item is not there; NULL with the error set.
MUST_CHECK const struct expr_condition *migration_absent(const struct table *table,
                                                         struct arena *arena, struct error *error);
// False with the error set: the item cannot be migrated (ERR_VALIDATION), or the work has to end.
MUST_CHECK bool migration_plan(const struct migrator *migrator, struct slice item,
                               struct migration_plan *plan, struct error *error);

// ---- The run (migration_run.c) ----------------------------------------------------------------

// Queues the migration whose record is there. If the end has come, the next process finds it.
void migration_begin(struct workshop *shop, struct slice table, struct slice name);
void migration_resume(struct workshop *shop);

#endif
