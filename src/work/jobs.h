// Writes of tasks. A task has nobody who could try again for it, so each of these waits: what the
// store refuses for now is tried again, as long as work_retry() says. False with the error set.
#ifndef WORK_JOBS_H
#define WORK_JOBS_H

#include "engine/record.h"
#include "work/lanes.h"
#include "work/workshop.h"

// A change of the catalog: see struct table_change.
struct table_edit {
    struct slice name;
    bool (*alter)(void *context, struct table *current, struct table **next, struct error *error);
    void *context;
    size_t record_count;
    struct record_write *records;
    struct table_change **change; // where `alter` finds the change of this try, or NULL
};
MUST_CHECK bool work_edit_table(struct workshop *shop, const struct table_edit *edit,
                                struct error *error);

// Records: those given, or those that `decide` chooses (see struct record_job); it may be NULL.
struct record_edit {
    bool (*decide)(struct record_job *job, struct engine *engine);
    void *context;
    size_t count;
    struct record_write *writes;
};
MUST_CHECK bool work_edit_records(struct workshop *shop, const struct record_edit *edit,
                                  struct error *error);

// Items, in the background's share of the writer; the results are in the actions.
struct item_edit {
    struct arena *arena;
    size_t count;
    struct write_action *actions;
    bool each; // see write_job
    // NULL, or what to write in the same commit as the first `done` actions: see write_job.record.
    struct record_write (*record)(void *context, size_t done);
    // NULL, or told after each try how many of its actions are on disk.
    void (*settled)(void *context, size_t done);
    void *context;
};
MUST_CHECK bool work_edit_items(struct workshop *shop, const struct item_edit *edit,
                                struct error *error);

// The key of an item in the table's tree, in the arena; ptr NULL when memory is out.
struct slice work_item_key(const struct table *table, struct slice item, struct arena *arena);

// Ends the filling of a table: it can be used from now on, guarded by its model if it has a
// gatherer (gatherer.h), and with its past kept if that was to come; or it goes.
// ERR_RESOURCE_NOT_FOUND if somebody has deleted it, and perhaps made another one of that name.
MUST_CHECK bool work_settle_table(struct workshop *shop, const struct table *table, bool keep,
                                  struct error *error);

#endif
