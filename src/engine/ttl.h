// Time to live: an index of expiry times for each table that has it on. Whoever sweeps asks for the
// keys that are due and deletes them by write jobs with `expired` set, which judge again.
#ifndef ENGINE_TTL_H
#define ENGINE_TTL_H

#include "engine/engine.h"

// Whether the item's time is up: its attribute is a number (of seconds since 1970), not after
// `now_s`, and not more than five years before it.
bool ttl_expired(const struct table *table, struct slice item, int64_t now_s);

// Calls back with the items that are due at `now_s`, the oldest first, until `visit` returns
// false: with the place of each in the index, and with its tree key. `after` is the place to
// continue behind, or empty: what was deleted before it need not be passed again. The slices are
// valid during the call.
MUST_CHECK bool
engine_ttl_due(struct engine *engine, const struct table *table, int64_t now_s, struct slice after,
               bool (*visit)(void *context, struct slice place, struct slice tree_key),
               void *context, struct error *error);

#endif
