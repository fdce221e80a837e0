// What a step of a migration (model/migration.h) makes of one item.
#ifndef MIGRATION_MIGRATION_MAP_H
#define MIGRATION_MIGRATION_MAP_H

#include "base/env.h"
#include "base/error.h"
#include "migration/migration.h"

struct migration_scope {
    const struct key_schema *keys;   // of the table
    const struct model_table *table; // its model, or NULL
    const struct env *env;
    struct arena *arena; // of everything that comes out
    // The item with this key (an item of the key attributes), or VALUE_NONE; in the arena.
    bool (*find)(void *context, struct slice key, struct slice *item, struct error *error);
    void *context;
};

struct migration_made {
    struct slice item;
    bool replace;
    const struct model_entity *entity;
};

struct migration_other {
    struct slice key;
    struct slice item; // as it was found; VALUE_NONE if there was none
    bool removed;
};

struct migration_result {
    bool fits; // else the item is none of the step's, and nothing else is set
    bool keep;
    size_t made_count;
    struct migration_made made[MIGRATION_MAKES];
    size_t other_count;
    struct migration_other others[MIGRATION_WITHS];
};

// What a step makes of an item. False with an error in words: an expression cannot be computed of
// it, or memory is out (ERR_BUDGET).
MUST_CHECK bool migration_map(const struct migration_step *step,
                              const struct migration_scope *scope, struct slice item,
                              struct migration_result *result, struct error *error);

// Whether a step takes an item, as far as that can be said without others; and then the names that
// its expressions know, as a map in the arena.
MUST_CHECK bool migration_fits(const struct migration_step *step,
                               const struct migration_scope *scope, struct slice item, bool *fits,
                               struct slice *names, struct error *error);

#endif
