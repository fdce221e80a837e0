// Records: small things that the API keeps beside tables, under a name of its choice: backups,
// exports, streams, policies. To the engine they are bytes (by convention an M value).
//
// Names are paths such as "backup/<id>"; they are sorted as bytes, and listed by prefix.
#ifndef ENGINE_RECORD_H
#define ENGINE_RECORD_H

#include "engine/engine.h"

// The record of that name, copied into the arena; VALUE_NONE if there is none.
MUST_CHECK bool engine_record(struct engine *engine, struct slice name, struct arena *arena,
                              struct slice *out, struct error *error);

// Calls back with the records whose names begin with `prefix` and stand behind `after` (empty for
// all), in order, until `visit` returns false. The slices are valid during the call only.
MUST_CHECK bool engine_records(struct engine *engine, struct slice prefix, struct slice after,
                               bool (*visit)(void *context, struct slice name, struct slice value),
                               void *context, struct error *error);

// The record that says that two items had the same value of a next guard, whose claims are the tree
// (guard.h). It is M, and whoever ends the gathering removes it.
enum { CLASH_NAME_MAX = 32 };
struct slice claims_clash_name(uint32_t tree, char text[CLASH_NAME_MAX]);

struct record_write {
    struct slice name;
    struct slice value; // empty: the record goes
};

// Writes records. What it is given must stay valid until the job is done.
struct record_job {
    struct job job; // first: the job's owner is the record job
    // Runs first, on the writer's thread, if it is set: may judge what is there by
    // engine_record(), set `writes` and `count`, or fail with the job's error. Everything that was
    // committed before is visible to it, and nothing is committed in between.
    bool (*decide)(struct record_job *job, struct engine *engine);
    void *context;
    size_t count;
    struct record_write *writes;
};

// Prepares `job` for engine_submit or engine_run. The caller sets the rest.
void record_job_init(struct record_job *job, struct error *error);

#endif
