// Long work of the API beside the requests: exports, imports, restores, and what models need.
// There are a few lanes; the tasks of a lane run one after the other on its thread, which is
// started by the first of them and ended by api_close().
//
// A task belongs to the queue from background_submit() on: `run` is called exactly once and frees
// it. It may read the engine and use engine_run(). It polls background_stopping() and then returns
// soon; what it had not finished is a matter of its records, which are looked at when the api is
// opened again. Tasks that still wait when the api closes are run, too, with the flag set.
#ifndef API_BACKGROUND_H
#define API_BACKGROUND_H

#include "base/attributes.h"

#include <stdbool.h>

struct api;
struct background;
struct error;

// What must not wait for what: each lane has a thread of its own.
enum background_lane {
    LANE_TRANSFER, // backups, restores, exports, imports, bulk operations
    LANE_LOOK,     // requests that read a whole table before they answer: DiffModel
    LANE_APPLY,    // and those that change it, too: ApplyModel, AbandonModel, ApplyMigration
    LANE_MODEL,    // backfills and migrations
    LANES
};

struct task {
    struct task *next; // the queue's
    enum background_lane lane;
    void (*run)(struct task *task, struct api *api);
};

// Queues a task, from any thread. False if the api is closing: the task is then still the caller's.
MUST_CHECK bool background_submit(struct api *api, struct task *task);

// Whether the api is closing. Any thread; cheap enough to ask for each item.
bool background_stopping(struct api *api);

// Whether the server has begun to stop: requests that take long are then given up.
bool background_hurried(struct api *api);

// For a task whose job has failed: if it was for now only (too many writes waiting, or the disk
// refuses), forgets the error, waits a moment, and is true: try again. A task has time.
MUST_CHECK bool background_retry(struct api *api, struct error *error);

// Waits until no task is left; for tests and tools.
void background_wait(struct api *api);

// For api_open() and api_close(); the latter while the engine is still open.
struct background *background_new(void);
void background_free(struct api *api);

#endif
