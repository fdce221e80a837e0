// What can be done to one table as a whole: made, updated, deleted, given a time to live or a past.
// An act is judged when it is made, as far as the request alone shows what is wrong, and then on
// the writer's thread, where nothing can change the table in between. Operations hand it over with
// their call; applying a model with act_run().
#ifndef CHANGE_ACTS_H
#define CHANGE_ACTS_H

#include "engine/record.h"
#include "tables/table_update.h"
#include "work/workshop.h"

enum { RECOVERY_DAYS = 35 }; // unless a request says otherwise

struct table_act {
    struct slice name; // of the table
    // For the change of the table, with the act as its context.
    bool (*alter)(void *context, struct table *current, struct table **next, struct error *error);
    struct table_change *change; // set by whoever hands it over
    struct engine *engine;
    struct arena *arena; // of what is written beside the table
    int64_t now_ms;

    // Private.
    const struct create_table_request *create;
    struct table_update update;
    struct slice ttl_attribute;
    bool enabled;
    struct field_int recovery_days;
    struct record_write records[2];
};

// The requests are borrowed until the act is done. A table can be used as soon as it is made.
MUST_CHECK bool act_create(struct table_act *act, struct engine *engine, struct arena *arena,
                           const struct create_table_request *request, struct error *error);
// Everything but the filling of a new index is done at once.
MUST_CHECK bool act_update(struct table_act *act, struct engine *engine, struct arena *arena,
                           const struct update_table_request *request, struct error *error);
// A table that can be restored to a point in time leaves a backup of itself.
void act_delete(struct table_act *act, struct engine *engine, struct arena *arena,
                struct slice name);
// Which attribute says when an item expires.
void act_time_to_live(struct table_act *act, struct engine *engine, struct slice name,
                      struct slice attribute, bool enabled);
// Whether the table's past is kept, and for how many days (not set: as it was, or 35): it is the
// change log with old images (engine/log.h).
void act_recovery(struct table_act *act, struct engine *engine, struct slice name, bool enabled,
                  struct field_int days);

// Does it, and waits.
MUST_CHECK bool act_run(struct workshop *shop, struct table_act *act, struct error *error);

#endif
