// The threads of work beside requests: backups, exports, imports, what models need.
//
// Each kind of work has a lane, and a lane a few threads, so that nobody waits for the pace of
// another kind, and seldom for that of his own. The threads are started when there is work for them
// and ended by lanes_free(). A task that waits for its turn pins nothing: what it reads it opens
// when it runs.
//
// A task belongs to the queue from lane_submit() on: `run` is called exactly once and frees
// it. It may read the engine and use engine_run(). It polls work_stopping() and then returns
// soon; what it had not finished is a matter of its records (run.h). Tasks that still wait when the
// end comes are run, too, with the flag set.
//
// A task meets two kinds of failure. What the store refuses for now (a full disk, a long queue) is
// tried again: work_retry(). What is damaged stays so (ERR_DAMAGED): the task fails, its
// record says why, and it is not begun again.
#ifndef WORK_LANES_H
#define WORK_LANES_H

#include "base/attributes.h"
#include "base/slice.h"

#include <stdbool.h>

struct workshop;
struct lanes;
struct error;

// What must not wait for what, and how many of each run at the same time. A paced task sleeps most
// of the time, so there may be more of those.
// X(lane, threads)
#define LANE_LIST(X)                                                                               \
    X(LANE_BACKUP, 2)                                                                              \
    X(LANE_RESTORE, 2)                                                                             \
    X(LANE_EXPORT, 2)                                                                              \
    X(LANE_IMPORT, 2)                                                                              \
    X(LANE_BULK, 8)                                                                                \
    /* Requests that read a whole table before they answer: DiffModel. */                          \
    X(LANE_LOOK, 1)                                                                                \
    /* And those that change it, too: ApplyModel, AbandonModel, ApplyMigration. */                 \
    X(LANE_APPLY, 1)                                                                               \
    /* And those that are quick, but too long for a loop: DescribeModelReport. */                  \
    X(LANE_REPORT, 1)                                                                              \
    /* Backfills and migrations. */                                                                \
    X(LANE_MODEL, 8)                                                                               \
    /* Sweeps, which are paced. */                                                                 \
    X(LANE_SWEEP, 4)                                                                               \
    /* Operations on identities, which change them one after the other anyway. */                  \
    X(LANE_ACCOUNTS, 1)                                                                            \
    /* The one verification. */                                                                    \
    X(LANE_VERIFY, 1)

enum lane_kind {
#define X(lane, threads) lane,
    LANE_LIST(X)
#undef X
        LANES
};

enum { TASK_SUBJECT_MAX = 256 };

struct task {
    struct task *next; // the queue's
    enum lane_kind lane;
    struct slice subject; // empty, or what only one task of the lane may work on; the task's own
    uint64_t name;        // a hash of what it is called, for lane_has(); 0 if it is nothing
    void (*run)(struct task *task, struct workshop *shop);
};

// Queues a task, from any thread. False if the end has come: the task is then still the caller's.
MUST_CHECK bool lane_submit(struct workshop *shop, struct task *task);

// Whether a task would run at once.
bool lane_idle(struct workshop *shop, enum lane_kind lane);

// Whether a task of that name waits or runs.
bool lane_has(struct workshop *shop, enum lane_kind lane, uint64_t name);

// Whether the end has come. Any thread; cheap enough to ask for each item.
bool work_stopping(struct workshop *shop);
// work_stopping() for those who know the workshop as a context.
bool work_stops(void *shop);

// False, with the error set, if the end has come: what a task asks between its steps.
MUST_CHECK bool work_goes_on(struct workshop *shop, struct error *error);

// Whether the server has begun to stop: requests that take long are then given up.
bool work_hurried(struct workshop *shop);
void work_hurry(struct workshop *shop);

// Sleeps. False at once if the end comes: a task never sleeps in another way.
MUST_CHECK bool work_pause(struct workshop *shop, int64_t ms);

// How often something has been tried; all zeros at first.
struct work_patience {
    int tries;
};

// For a task whose job has failed: if it was for now only, forgets the error, waits, longer each
// time, and is true: try again. As long as the store takes no writes there is always another try;
// what fails although it does has a few.
MUST_CHECK bool work_retry(struct workshop *shop, struct work_patience *patience,
                           struct error *error);

// Waits until no task is left; for tests and tools.
void work_wait(struct workshop *shop);

// For who opens and closes the workshop: the first sets the flag, the second ends the threads while
// the engine is still open.
struct lanes *lanes_new(void);
void lanes_stop(struct workshop *shop);
void lanes_free(struct workshop *shop);

#endif
