// Long work of the API beside the requests: backups, exports, imports, what models need.
//
// Each kind of work has a lane, and a lane a few threads, so that nobody waits for the pace of
// another kind, and seldom for that of his own. The threads are started when there is work for them
// and ended by api_close(). A task that waits for its turn pins nothing: what it reads it opens
// when it runs.
//
// A task belongs to the queue from background_submit() on: `run` is called exactly once and frees
// it. It may read the engine and use engine_run(). It polls background_stopping() and then returns
// soon; what it had not finished is a matter of its records, which are looked at when the api is
// opened again. Tasks that still wait when the api closes are run, too, with the flag set.
//
// A task meets two kinds of failure. What the store refuses for now (a full disk, a long queue) is
// tried again: background_retry(). What is damaged stays so (ERR_DAMAGED): the task fails, its
// record says why, and it is not begun again.
#ifndef API_BACKGROUND_H
#define API_BACKGROUND_H

#include "base/attributes.h"
#include "base/slice.h"

#include <stdbool.h>

struct api;
struct background;
struct error;

// What must not wait for what, and how many of each run at the same time. A paced task sleeps most
// of the time, so there may be more of those.
// X(lane, threads)
#define BACKGROUND_LANES(X)                                                                        \
    X(LANE_BACKUP, 2)                                                                              \
    X(LANE_RESTORE, 2)                                                                             \
    X(LANE_EXPORT, 2)                                                                              \
    X(LANE_IMPORT, 2)                                                                              \
    X(LANE_BULK, 8)                                                                                \
    /* Requests that read a whole table before they answer: DiffModel. */                          \
    X(LANE_LOOK, 1)                                                                                \
    /* And those that change it, too: ApplyModel, AbandonModel, ApplyMigration. */                 \
    X(LANE_APPLY, 1)                                                                               \
    /* Backfills and migrations. */                                                                \
    X(LANE_MODEL, 8)                                                                               \
    /* The one verification. */                                                                    \
    X(LANE_VERIFY, 1)

enum background_lane {
#define X(lane, threads) lane,
    BACKGROUND_LANES(X)
#undef X
        LANES
};

enum { TASK_SUBJECT_MAX = 256 };

struct task {
    struct task *next; // the queue's
    enum background_lane lane;
    struct slice subject; // empty, or what only one task of the lane may work on; the task's own
    void (*run)(struct task *task, struct api *api);
};

// Queues a task, from any thread. False if the api is closing: the task is then still the caller's.
MUST_CHECK bool background_submit(struct api *api, struct task *task);

// Whether a task would run at once.
bool background_idle(struct api *api, enum background_lane lane);

// Whether the api is closing. Any thread; cheap enough to ask for each item.
bool background_stopping(struct api *api);
// background_stopping() for those who know the api as a context.
bool background_stops(void *api);

// Whether the server has begun to stop: requests that take long are then given up.
bool background_hurried(struct api *api);

// Sleeps. False at once if the api closes: a task never sleeps in another way.
MUST_CHECK bool background_pause(struct api *api, int64_t ms);

// How often something has been tried; all zeros at first.
struct background_patience {
    int tries;
};

// For a task whose job has failed: if it was for now only, forgets the error, waits, longer each
// time, and is true: try again. As long as the store takes no writes there is always another try;
// what fails although it does has a few.
MUST_CHECK bool background_retry(struct api *api, struct background_patience *patience,
                                 struct error *error);

// Waits until no task is left; for tests and tools.
void background_wait(struct api *api);

// For api_open() and api_close(): the first sets the flag, the second ends the threads while the
// engine is still open.
struct background *background_new(void);
void background_stop(struct api *api);
void background_free(struct api *api);

#endif
