// Changing an item: a sparse tree over its bytes. Only maps and lists on a
// changed path are opened; everything else stays the slice it was.
//
// An edit borrows the item it starts from and every value given to it until
// edit_finish(); its own nodes live in the arena. Semantics are those of
// UpdateExpression: setting behind the end of a list appends, removing list elements
// shifts the others down after all removals of the edit are known.
#ifndef VALUE_EDIT_H
#define VALUE_EDIT_H

#include "base/arena.h"
#include "value/value.h"

// One step of a document path: a map entry's name, or a list index if name.ptr is NULL.
struct path_step {
    struct slice name;
    size_t index;
};

struct path {
    const struct path_step *steps;
    size_t count; // at least 1; the first step is a name
};

struct edit;

// NULL if the arena is used up. `item` may be value_empty_map().
MUST_CHECK struct edit *edit_new(struct arena *arena, struct slice item);

enum edit_status {
    EDIT_OK,
    EDIT_NO_PARENT, // the path's parent is missing or not of the kind the last step needs
    EDIT_BUDGET,    // the arena is used up
};

// Sets or replaces the value at the path. The parent must exist in the item.
MUST_CHECK enum edit_status edit_set(struct edit *edit, struct path path, struct slice value);

// Removes what is at the path. A missing last step is fine; a missing parent is EDIT_NO_PARENT.
MUST_CHECK enum edit_status edit_remove(struct edit *edit, struct path path);

// Appends the new item through the builder, which has no container open.
void edit_finish(struct edit *edit, struct value_builder *builder);

#endif
