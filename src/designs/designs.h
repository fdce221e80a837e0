// What the operations on models share.
#ifndef DESIGNS_DESIGNS_H
#define DESIGNS_DESIGNS_H

#include "call/table_ops.h"
#include "change/migration.h"
#include "requests/requests_control.h"

// A table with a model; NULL with the error set.
struct table *design_table(struct api_call *call, struct slice name);
// The digest in the name of a text's record.
struct slice model_digest(struct slice text_name);
// An array of {"Key":…,"Text":…}.
void model_samples_json(struct json_writer *w, const char *name,
                        const struct model_samples *samples);
// How fast, since when, until when, and why not to the end: as members.
void model_progress_json(struct json_writer *w, const struct model_progress *progress);
// What a migration would do, into the call's response.
void migration_run_dry(struct api_call *call, const struct apply_migration_request *request,
                       struct table *table, const struct migration *migration);
// {"Digest":…,"Clean":…,"Tables":[…]}; the object is left open.
void model_plan_json(struct json_writer *w, const struct model_plan *plan);

// What is known of the rules that remove items, as the member "Sweeps" (retain.c).
MUST_CHECK bool sweeps_json(struct api_call *call, struct json_writer *w,
                            const struct table *table);

#endif
