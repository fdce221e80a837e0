// The janitor: one thread for what has to be done now and then without being asked for. Who starts
// it says what that is. The times between are the real clock's; when the clock is moved, everything
// runs at once. A chore may read the engine and use engine_run(), must come back soon, and must
// bear with failing: it will be called again.
#ifndef WORK_JANITOR_H
#define WORK_JANITOR_H

#include <stddef.h>
#include <stdint.h>

struct workshop;
struct janitor;

struct chore {
    void (*run)(struct workshop *shop);
    int64_t every_ms;
};

enum { JANITOR_CHORES = 8 }; // at most

struct janitor *janitor_new(struct workshop *shop, const struct chore *chores, size_t count);
// While the engine is still open.
void janitor_free(struct janitor *janitor);

// Lets the thread do all chores now. Any thread; does not wait.
void janitor_wake(struct janitor *janitor);
// Does all chores before it returns; for tests and tools.
void janitor_run(struct janitor *janitor);

#endif
