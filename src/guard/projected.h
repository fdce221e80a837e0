// Items as an index has them that projects only a part of each: keys are made of attributes, so
// that they still tell some of those that are not there.
#ifndef GUARD_PROJECTED_H
#define GUARD_PROJECTED_H

#include "model/model.h"

// Whether the items of an access pattern are only parts of entities.
static inline bool model_access_partial(const struct model_access *access)
{
    return access->index != NULL && access->index->projection != MODEL_PROJECT_ALL;
}

// Whether an item of the entity that is read through the index has the attribute if it was stored
// with it: never; if its keys can be read in one way only; always.
enum model_projected { MODEL_PROJECTED_NOT, MODEL_PROJECTED_PERHAPS, MODEL_PROJECTED_ALWAYS };
enum model_projected model_projected_has(const struct model_entity *entity,
                                         const struct model_index *index,
                                         const struct model_attribute *attribute);

// The item with the attributes that only its keys tell. A key that can be read in several ways, as
// a value contains what stands between two, tells nothing. Without memory it is VALUE_NONE; the
// result is in the arena, or is the item.
MUST_CHECK struct slice model_projected_item(const struct model_entity *entity, struct slice item,
                                             struct arena *arena);

#endif
