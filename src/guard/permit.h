// Policies of a model at work: what of an item a caller may know, and which writes are its to do
// (docs/adr/026-model-policies.md). A decision is a function of the caller and of images: it
// allocates nothing but what recognising an item may, and waits for nothing.
#ifndef GUARD_PERMIT_H
#define GUARD_PERMIT_H

#include "engine/guard.h"
#include "model/rules.h"

// The policies of one entity.
struct permit_entity {
    bool closed; // what no `allow` names is refused
    size_t count;
    const struct model_policy **list;
};

// As table->entities, in the arena; NULL in *out if the table has no policies. False if the arena
// is used up.
MUST_CHECK bool permit_compile(const struct model_table *table, struct arena *arena,
                               const struct permit_entity **out);

// See engine/guard.h: guard_ops.sight and guard_ops.permit.
enum guard_sight permit_sight(const struct model_table *table, const struct permit_entity *permits,
                              const struct write_origin *origin, struct slice item,
                              struct guard_veil *veil);
MUST_CHECK bool permit_write(const struct model_table *table, const struct permit_entity *permits,
                             const struct guard_ask *ask, struct error *error);

#endif
