// The items of an access pattern as whoever asks sees them: which of those that were read it shows,
// and how they look as plain JSON.
#ifndef GUARD_ACCESS_VIEW_H
#define GUARD_ACCESS_VIEW_H

#include "guard/access.h"
#include "guard/plain.h"

// One thread at a time. Everything is in the arena.
struct access_view {
    const struct model_access *access;
    bool keys;                    // show what is derived, too
    struct model_plain_more more; // may be set before the first item
    struct arena *arena;
    struct model_plain_layout **layouts; // by the entity's place in the table; the last: of none
};

// False when memory is out.
MUST_CHECK bool access_view_init(struct access_view *view, const struct model_access *access,
                                 bool keys, struct arena *arena);

// Whether the pattern shows an item that its conditions let through: a key that another entity
// shares may hold something that was not asked for, and a GetItem finds what is deleted softly.
// *entity is what the item is of, NULL if that is not certain.
bool access_view_shows(const struct access_view *view, struct slice item, struct steps *steps,
                       const struct model_entity **entity);

// Writes such an item. What only keys tell of it is made in `scratch`. False when memory is out.
MUST_CHECK bool access_view_write(struct access_view *view, const struct model_entity *entity,
                                  struct slice item, struct arena *scratch, struct json_writer *w);

#endif
