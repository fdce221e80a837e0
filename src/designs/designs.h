// What the operations on models share.
#ifndef DESIGNS_DESIGNS_H
#define DESIGNS_DESIGNS_H

#include "call/table_ops.h"
#include "change/migration.h"
#include "requests/requests_control.h"

// Has `run` answer the call on a lane's thread: it reads whole tables, or waits for several
// changes. It may write call->response, or set the call's error.
enum step model_call_later(struct api_call *call, enum lane_kind lane,
                           void (*run)(struct api_call *call, const void *request));

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

#endif
