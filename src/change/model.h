// Models and migrations in the database: attaching, changing, going back, and the work that
// follows.
//
// A model with values that must be unique is not attached at once to a table that has items. First
// the values of all items are gathered (claims.c), by a walk and by every write meanwhile; when
// they are complete, and none is there twice, the model is attached in one change of the catalog.
// So no two items can come to have such a value, from its first moment on.
//
// What is kept, as records (engine/record.h):
//   model/text/<digest>                   {file, text}: see model_attach.h
//   model/history/<table>/<00000001>      what was done to the table's model, and when
//   model/work/<table>                    the latest backfill: how far it is
//   model/migration/<table>/<name>        a migration: its text, direction, and how far it is
//
// ApplyModel and AbandonModel run one after the other on LANE_APPLY; they attach the model to its
// tables, each in one change of the catalog together with its history and its work, and answer. The
// work itself goes on, on LANE_MODEL, in small writes between those of others. A process that ends
// leaves the records; the next one goes on from the position in them. Whatever it does twice does
// no harm: completing an item that is complete changes nothing.
#ifndef CHANGE_MODEL_H
#define CHANGE_MODEL_H

#include "diff/diff.h"
#include "engine/record.h"
#include "guard/attach.h"
#include "retain/retain.h"
#include "value/map.h"
#include "work/gatherer.h"
#include "work/run.h"

// ---- Walking (walk.c) -------------------------------------------------------------------------

// Walks over a table, a page at a time: `visit` gets each item, in place, and is false to stop with
// the error that it set. *after is the tree key of the last one, empty at first. *ended tells that
// there are no more.
MUST_CHECK bool model_walk(struct engine *engine, struct table *table, struct buf *after,
                           uint64_t limit, bool (*visit)(void *context, struct slice item),
                           void *context, bool *ended, struct error *error);

// Walks over up to `most` items (0: all). *whole tells that there are no more.
MUST_CHECK bool model_walk_most(struct engine *engine, struct table *table, uint64_t most,
                                bool (*visit)(void *context, struct slice item), void *context,
                                bool *whole, struct error *error);

// The key attributes of an item, as an item; ptr NULL when memory is out.
struct slice model_key_of(const struct table *table, struct slice item, struct arena *arena);

// Makes *item, which has at least the key attributes, the item as it is now, in the arena;
// VALUE_NONE if there is none.
MUST_CHECK bool model_item_now(struct engine *engine, const struct table *table,
                               struct arena *arena, struct slice *item, struct error *error);

// ---- Samples ----------------------------------------------------------------------------------

enum { MODEL_SAMPLES = 5 };

struct model_sample {
    struct slice key; // an item with the key attributes
    struct slice text;
};

struct model_samples {
    size_t count;
    struct model_sample list[MODEL_SAMPLES];
};

// Copies both into the arena, if there is room for one more.
void model_sample_add(struct model_samples *samples, struct arena *arena, struct slice key,
                      struct slice text);

// ---- Looking at the items of a table (model_look.c) -------------------------------------------

struct model_look_entity {
    uint64_t items;
    uint64_t backfill;
    uint64_t violations;
};

struct model_touch;

// What a model would find. `refused` counts the items that forbid attaching it.
struct model_look {
    uint64_t examined;
    bool whole; // all items were looked at
    uint64_t unmatched;
    uint64_t violations;
    uint64_t duplicates;
    uint64_t backfill;
    uint64_t refused;
    struct model_look_entity *entities; // by position in the model's table
    struct model_samples unmatched_samples;
    struct model_samples violation_samples;
    struct model_samples duplicate_samples;
    struct model_samples backfill_samples;
    // In, or NULL: told of each item that is wrong, or of no entity.
    void (*found)(void *context, struct slice item, const struct model_touch *touch);
    void *context;
};

// Looks at up to `most` items (0: at all).
MUST_CHECK bool model_look(struct workshop *shop, struct table *table, const struct guard *guard,
                           uint64_t most, struct arena *arena, struct model_look *out,
                           struct error *error);

// What a guard makes of a stored item when it is touched: the image it should have, whether it
// claims values, and what is still wrong with it (NULL if nothing is). False when memory is out.
struct model_touch {
    struct slice after;
    bool changed;
    size_t claim_count;
    struct guard_claim *claims;
    struct slice entity;                 // its name, or empty
    struct model_violations *violations; // or NULL
    const char *failure;                 // the guard refused; or NULL
};
MUST_CHECK bool model_touch(const struct guard *guard, const struct env *env, struct arena *arena,
                            struct slice item, struct model_touch *out);
// "User: /email: expected email, got nothing; …"
void model_violations_text(const struct model_violations *violations, struct buf *out);

// ---- What applying a file would do (model_plan.c) ---------------------------------------------

// What a rule that is new would remove now.
struct model_removal {
    const struct retain_rule *rule;
    struct retain_count count;
};

struct model_target {
    const struct model_table *wanted;
    struct table *live;            // a reference, or NULL if there is none yet
    const struct model_table *now; // its model, or NULL
    struct guard *guard;           // of the wanted model; a reference
    bool same;                     // this very text is attached, and nothing of the table differs
    bool underway;                 // this very text is being applied: the work does the rest
    bool concerns_items;           // items have to be looked at and touched
    const char *impossible;        // why it cannot be applied, or NULL
    bool looked;
    struct model_changes *changes;
    struct model_look look;
    size_t removal_count;
    struct model_removal *removals;
    int64_t seeds; // that the model has for the table,
    int64_t seeds_missing;
    int64_t seeds_made;
};

struct model_plan {
    struct arena arena; // of everything here
    struct model *model;
    struct slice file;
    char name[MODEL_NAME_SIZE + 1]; // of the text's record
    size_t count;
    struct model_target *targets;
    size_t older_count; // models that the changes speak of
    struct model **older;
    // Tables that have a model of this file, which does not name them any more. They stay.
    size_t unnamed_count;
    struct slice unnamed[MODEL_SAMPLES];
};

// Parses the text and compares it with the tables as they are. model_plan_release() in any case.
MUST_CHECK bool model_plan_make(struct workshop *shop, struct slice file, struct slice text,
                                bool prune, struct model_plan *plan, struct error *error);
// The same, but compares with a version of the tables' history, and with nothing else.
MUST_CHECK bool model_plan_since(struct workshop *shop, struct slice file, struct slice text,
                                 int64_t version, struct model_plan *plan, struct error *error);
void model_plan_release(struct model_plan *plan);
// False, with the error set, if a table has had this very model before the one it has now.
MUST_CHECK bool model_plan_newer(struct workshop *shop, struct model_plan *plan,
                                 struct error *error);
// Reads the items of the tables that are concerned, or of all.
MUST_CHECK bool model_plan_look(struct workshop *shop, struct model_plan *plan, uint64_t most,
                                bool all, struct error *error);
// Counts what new rules would remove (removal.c).
MUST_CHECK bool model_plan_removals(struct workshop *shop, struct model_plan *plan, uint64_t most,
                                    struct error *error);
// "retain Job for 90d then delete: 12 of 30 items of Job are due: they would be deleted"
void model_removal_text(const struct model_removal *removal, struct buf *out);
// False, with what would be removed, if something would be and that was not asked for.
MUST_CHECK bool model_plan_consent(const struct model_plan *plan, bool given, struct error *error);

// Counts the seeds that are missing, and judges all (seed.c).
MUST_CHECK bool model_plan_seeds(struct workshop *shop, struct model_plan *plan,
                                 struct error *error);
// Puts those of the model of that record, if the table has it by now, where there is nothing.
MUST_CHECK bool model_seed_table(struct workshop *shop, struct slice table, struct slice text,
                                 int64_t *made, struct error *error);

// Applying it would change nothing, and nothing violates it.
bool model_plan_clean(const struct model_plan *plan);
// False, with what is in the way, if it cannot be applied, or not without force.
MUST_CHECK bool model_plan_allow(const struct model_plan *plan, bool force, struct error *error);

// ---- Structure (model_structure.c) ------------------------------------------------------------

// How an index of the model stands beside that of the table.
enum model_index_state { INDEX_IS_SAME, INDEX_IS_MISSING, INDEX_IS_OTHER };
enum model_index_state model_index_compare(const struct model_index *wanted,
                                           const struct table *live);

MUST_CHECK bool model_keys_same(const struct key_schema *a, const struct key_schema *b);

// Creates the table with all its indexes.
MUST_CHECK bool model_create_table(struct workshop *shop, const struct model_table *wanted,
                                   struct error *error);
// Sets time to live, stream, point-in-time recovery and billing to what the model says. What it
// does not have stays, unless `prune`.
MUST_CHECK bool model_set_features(struct workshop *shop, const struct model_table *wanted,
                                   const struct table *live, bool prune, struct error *error);
MUST_CHECK bool model_create_index(struct workshop *shop, const struct model_index *index,
                                   const struct table *live, struct error *error);
MUST_CHECK bool model_delete_index(struct workshop *shop, struct slice table, struct slice index,
                                   struct error *error);

// ---- Records (model_record.c) -----------------------------------------------------------------

enum { MODEL_PATH_MAX = 600 };

// One thing that was done to a table's model.
struct model_version {
    int64_t number;
    int64_t time_ms;
    struct slice table_id; // uuid: another table of the same name has another history
    struct slice text;     // name of the text's record; empty if the table has no model since
    struct slice file;
    struct slice did; // "apply", "abandon", "migrate up NAME"
    int64_t previous; // the version to go back to, or 0
};

// The last entry with a model in it, or number 0. Slices are in the arena.
MUST_CHECK bool model_version_last(struct engine *engine, const struct table *table,
                                   struct arena *arena, struct model_version *out,
                                   struct error *error);
MUST_CHECK bool model_version_get(struct engine *engine, const struct table *table, int64_t number,
                                  struct arena *arena, struct model_version *out,
                                  struct error *error);
// All of a table, the oldest first.
MUST_CHECK bool model_versions(struct engine *engine, const struct table *table,
                               void (*visit)(void *context, const struct model_version *version),
                               void *context, struct error *error);
// The number of the next entry.
MUST_CHECK bool model_version_next(struct engine *engine, const struct table *table, int64_t *out,
                                   struct error *error);
// The record of an entry; empty, with the error set, when memory is out.
struct record_write model_version_record(const struct table *table,
                                         const struct model_version *version, struct arena *arena,
                                         struct error *error);

enum model_status { MODEL_ACTIVE, MODEL_APPLYING, MODEL_FAILED };
// What is done after the other, as kept: the claims come first, before the model is attached.
enum model_phase {
    MODEL_PHASE_INDEXES,
    MODEL_PHASE_ITEMS,
    MODEL_PHASE_DONE,
    MODEL_PHASE_CLAIMS,
};

// How far a walk over all items of a table is; a part of the records of backfills and migrations.
struct model_progress {
    int64_t rate;          // items a second, at most; 0 for as many as others leave room for
    struct slice position; // tree key of the last item that is done
    int64_t done;
    int64_t total; // items that there were when it began
    int64_t started_ms;
    int64_t ended_ms;
    int64_t items_ms; // since when items are looked at, in this process
    int64_t items_before;
    struct slice failure;
    struct model_samples samples;
};

extern const struct map_form model_progress_form;

struct model_work {
    struct slice table_id; // first, see model_table_record()
    int64_t version;       // of the history; of the work alone while claims are gathered
    struct slice text;     // name of the model's record
    struct slice file;
    struct slice did; // see model_version
    int64_t previous;
    bool force; // attach it also if values come to be there twice
    enum model_status status;
    enum model_phase phase;
    bool prune;
    bool skip_items; // only the table changes
    int64_t written;
    int64_t violations;
    struct model_progress progress;
};

struct slice model_work_name(struct arena *arena, struct slice table);
extern const struct map_form model_work_form;
// False with the error set if it cannot be read; version 0 if there is none.
MUST_CHECK bool model_work_read(struct engine *engine, const struct table *table,
                                struct arena *arena, struct model_work *out, struct error *error);

// Reads a record whose struct begins with the id of its table; all zeros if there is none, or it is
// that of an earlier table of the name.
MUST_CHECK bool model_table_record(struct engine *engine, const struct table *table,
                                   struct slice name, const struct map_form *form,
                                   struct arena *arena, void *out, struct error *error);

// ---- Attaching (attach.c) ---------------------------------------------------------------------

struct model_attachment {
    struct workshop *shop;
    struct arena *arena;
    struct guard *guard; // NULL: the table loses its model
    const struct model_table *model;
    struct slice text_record; // empty if it is kept already
    struct model_work work;   // text, file, did, previous, prune, force and rate are given
    bool concerns_items;
    struct guard *gathered; // the gatherer whose claims are complete now, or NULL
    // Private.
    struct table_change *change;
    struct record_write records[4];
};
// Attaches the model, or begins to gather what it claims: then the work does the rest. Queues the
// work that is left to do, unless it is that which calls.
MUST_CHECK bool model_attach(struct model_attachment *a, struct table *live, struct error *error);
// Gives up a model whose claims are being gathered. False with ERR_RESOURCE_NOT_FOUND if there is
// none.
MUST_CHECK bool model_attach_cancel(struct workshop *shop, const struct table *live,
                                    struct error *error);

// ---- Claims (claims.c) ------------------------------------------------------------------------

// The guard of a model that is not the table's yet; NULL if it cannot be read.
struct guard *gathering_guard(struct workshop *shop, const struct table *table, struct slice text);
// Whether two items had the same value since gathering began.
MUST_CHECK bool gathering_clashed(struct engine *engine, const struct table *table, bool *clashed,
                                  struct error *error);
// What has to be written when it ends; the name is empty when memory is out.
struct record_write gathering_end(const struct table *table, struct arena *arena);
// Begins anew with another guard (NULL: ends), if the table's next one is still `was`: else
// ERR_RESOURCE_NOT_FOUND.
MUST_CHECK bool gathering_anew(struct workshop *shop, struct slice table, struct guard *was,
                               struct guard *next, struct error *error);
// Goes on with what the last process had begun. Before the first write.
void gatherings_resume(struct workshop *shop);

// ---- Tables that come with items (adopt.c) ----------------------------------------------------

// The record of the model that a table had at an instant; empty if it had none.
MUST_CHECK bool model_of_time(struct engine *engine, const struct table *table, int64_t at_ms,
                              struct arena *arena, struct slice *text_name, struct error *error);

// For the workshop, before and after a restored or imported table is filled. It has the model of
// the table that it comes from, or of the last table of its name, from the moment it can be used.
MUST_CHECK bool model_table_filling(struct workshop *shop, struct slice table, struct error *error);
void model_table_filled(struct workshop *shop, struct slice table);

// ---- The work (backfill.c) --------------------------------------------------------------------

// Queues the work that the record of the table speaks of. If the end has come, the next process
// finds it.
void model_work_begin(struct workshop *shop, struct slice table);
// Goes on with what the last process had not finished. Before the first write.
void model_resume(struct workshop *shop);

// ---- Runs over all items (walk_run.c) ---------------------------------------------------------

// What backfills and migrations have in common: a place in the table, a page of items at a time,
// and others who are not to be held up.
//
// What is counted is exact however the process ends. The record always is that of the beginning of
// a page, with what was written of the page since; or that of its end. What was looked at of a page
// that has not ended is looked at, and counted, again; what was written of it is not.
struct walk_run {
    struct run run; // first
    struct arena page;
    struct arena item;
    struct model_progress *progress; // in the record
    struct buf position;             // behind the page
    struct buf kept;                 // before it: what progress->position is a slice of
    void *before;                    // the record at the beginning of the page
    void *looked;                    // and with all that was looked at
    const struct write_action *actions;
    size_t count;
    bool whole; // the page ends with these actions
    // Counts what the first `done` actions, none of which has failed, come to.
    void (*tally)(struct walk_run *run, size_t done);

    int64_t saved_ms;
    int64_t began_ms; // of the rate
    int64_t done;     // since then
    int64_t page_ms;
    uint64_t jobs;  // of everybody, when this page began
    uint64_t edits; // of ours since then
};

void walk_run_open(struct walk_run *run, struct model_progress *progress);
void walk_run_release(struct run *run);
// Items are looked at from now on.
void walk_run_begin(struct walk_run *run);
// Takes the table as it is now. False if it is gone, or another one.
MUST_CHECK bool walk_run_refresh(struct walk_run *run, struct slice name, struct slice table_id);
// Writes the record. It is to be that of the end of a page.
void walk_run_keep(struct run *run);

// A page: looks at up to `limit` items. *ended tells that there are no more.
MUST_CHECK bool walk_run_look(struct walk_run *run, uint64_t limit,
                              bool (*visit)(void *run, struct slice item), bool *ended);
// Writes what is to be written of it, in parts (write_job.each): those that fail say so in an
// action. `whole` if nothing else will be.
MUST_CHECK bool walk_run_write(struct walk_run *run, struct write_action *actions, size_t count,
                               bool whole);
// Ends a page of `count` items: keeps the record if that is due, and lets others have their turn.
// False if the end has come.
MUST_CHECK bool walk_run_pause(struct walk_run *run, int64_t count);

#endif
