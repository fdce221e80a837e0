// The sweeper: a thread that deletes items whose time to live is up. It asks the index of expiry
// times, so that tables without expired items cost nothing, and keeps to a rate, so that others are
// not disturbed. The deletions are ordinary ones, except that they cost no capacity and say in
// streams who made them.
#ifndef API_SWEEPER_H
#define API_SWEEPER_H

#include "api/api.h"

struct sweeper;

struct sweeper *sweeper_new(struct api *api);
// Ends the thread. The engine must still be open.
void sweeper_free(struct sweeper *sweeper);

#endif
