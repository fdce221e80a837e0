// The sweeper: a thread that deletes items whose time to live is up. It asks the index of expiry
// times, so that tables without expired items cost nothing, and keeps to a rate, so that others are
// not disturbed. The deletions are ordinary ones, except that they cost no capacity and say in
// streams who made them.
#ifndef EXPIRE_SWEEPER_H
#define EXPIRE_SWEEPER_H

#include "work/workshop.h"

struct sweeper;

struct sweeper_state {
    bool running;     // a sweep is going on, or was asked for
    uint64_t sweeps;  // ended since the start
    uint64_t deleted; // items
};

// At most that many items are deleted in a second.
struct sweeper *sweeper_new(struct workshop *shop, uint64_t rate);
// Ends the thread. The engine must still be open.
void sweeper_free(struct sweeper *sweeper);

// The rest: from any thread.
void sweeper_state(struct sweeper *sweeper, struct sweeper_state *out);
// Begins a sweep now, instead of within a second.
void sweeper_ask(struct sweeper *sweeper);
// From now on; more than 0.
void sweeper_rate(struct sweeper *sweeper, uint64_t rate);

#endif
