// Migrations: how items of one shape become items of another, and back.
//
//   // Media used to stand under their albums.
//   migration media-out-of-albums of pornspot after first-of-all {
//     up {
//       from item PK = "ALBUM#{albumId}", SK = "MEDIA#{mediaId}" where filename exists {
//         make Media      { copy without albumId  mediaId  id = mediaId }
//         make AlbumMedia { albumId  mediaId  addedAt = createdAt ?? now() }
//       }
//     }
//     down {
//       from item PK = "ALBUM#{albumId}", SK = "MEDIA#{mediaId}" where filename missing
//       with media = item PK = "MEDIA#{mediaId}", SK = "METADATA" {
//         replace item { copy media  albumId  PK = "ALBUM#{albumId}"  SK = "MEDIA#{mediaId}" }
//       }
//     }
//   }
//
// The steps of a way are gone one after the other, each over the whole table. An item that fits
// goes, unless one of the made items has its key, or `keep` is said. Everything that becomes of one
// item is one transaction (change/migration.h).
#ifndef MIGRATION_MIGRATION_H
#define MIGRATION_MIGRATION_H

#include "model/model.h"

enum {
    MIGRATION_STEPS = 16,
    MIGRATION_CONDITIONS = 16,
    MIGRATION_WITHS = 4,
    MIGRATION_MAKES = 8,
    MIGRATION_ASSIGNS = 200,
    MIGRATION_AFTERS = 16,
};

// Which items: an entity's, or those whose keys have come from templates. Without templates, all.
struct migration_shape {
    struct slice entity_name; // empty for "item"
    const struct model_entity *entity;
    size_t key_count;
    struct slice key_names[2];
    const struct model_template *keys[2];
    struct model_place at;
};

enum migration_op {
    MIGRATION_EXISTS,
    MIGRATION_MISSING,
    MIGRATION_EQUAL,
    MIGRATION_NOT_EQUAL,
    MIGRATION_BEGINS,
    MIGRATION_IS
};

struct migration_condition {
    const struct model_expr *path;
    enum migration_op op;
    const struct model_expr *value; // EQUAL, NOT_EQUAL, BEGINS
    enum value_type type;           // IS
};

enum migration_assign_kind { MIGRATION_COPY, MIGRATION_WITHOUT, MIGRATION_SET };

struct migration_assign {
    enum migration_assign_kind kind;
    size_t from;       // COPY: position of the `with` plus one; 0 for the item itself
    struct slice name; // WITHOUT, SET
    struct model_place at;
    const struct model_expr *value;
};

struct migration_make {
    bool in_place; // set { … }: the item itself, changed
    bool replace;  // also if there is one already
    struct slice entity_name;
    const struct model_entity *entity; // NULL for "item"
    struct model_place at;
    size_t assign_count;
    const struct migration_assign *assigns;
};

struct migration_with {
    struct slice name;
    bool optional; // the item is taken also if there is no such other
    bool removed;  // delete NAME
    struct migration_shape shape;
};

struct migration_step {
    struct migration_shape shape;
    size_t condition_count;
    struct migration_condition conditions[MIGRATION_CONDITIONS];
    size_t with_count;
    struct migration_with withs[MIGRATION_WITHS];
    size_t make_count;
    struct migration_make makes[MIGRATION_MAKES];
    bool keep;
    struct model_place at;
};

struct migration_way {
    bool stated;
    size_t count;
    struct migration_step steps[MIGRATION_STEPS];
};

struct migration {
    struct slice name;
    struct slice table;
    struct slice doc;
    struct model_place at;
    size_t after_count; // migrations that have to be done before
    struct slice after[MIGRATION_AFTERS];
    struct migration_way up;
    struct migration_way down;
};

// Reads a file with one migration. NULL if it has errors, which are in the diagnostics. It is in
// the arena; the text is copied.
MUST_CHECK struct migration *migration_parse(struct slice text, struct arena *arena,
                                             struct diagnostics *diagnostics);

// Finds the entities that one way of it names in the table's model, which may be NULL, and judges
// the names of what it makes. False, with all that is wrong in the diagnostics.
MUST_CHECK bool migration_resolve(struct migration_way *way, const struct model_table *table,
                                  struct diagnostics *diagnostics);

// ---- Names (migration_names.c) ----------------------------------------------------------------

// Calls back with each path of a step that is meant to be there in the items it takes: not those
// before `??`, nor what is only asked for (exists, missing), nor other items (with), nor what the
// keys' templates bring.
void migration_step_names(const struct migration_step *step,
                          void (*visit)(void *context, const struct model_expr *path),
                          void *context);
// Whether one of the first `count` steps sets an attribute.
bool migration_sets(const struct migration_way *way, size_t count, struct slice name);
// An attribute of the entity, or one that its keys or the table need.
bool migration_declared(const struct model_entity *entity, struct slice name);

#endif
