// Time to live: an index of expiry times for each table that has it on. Whoever sweeps asks for the
// actions that delete what is due; these judge again whether it is.
#ifndef ENGINE_TTL_H
#define ENGINE_TTL_H

#include "engine/engine.h"

// Whether the item's time is up: its attribute is a number (of seconds since 1970), not after
// `now_s`, and not more than five years before it.
bool ttl_expired(const struct table *table, struct slice item, int64_t now_s);

// Makes the actions that delete the items that are due at `now_s`, the oldest first: at most
// *count, which becomes how many there are. `place` is where to continue, or empty, and moves on:
// what was deleted before need not be passed again.
MUST_CHECK bool engine_ttl_due(struct engine *engine, struct table *table, int64_t now_s,
                               struct buf *place, struct arena *arena, struct write_action *actions,
                               size_t *count, struct error *error);

#endif
