// Between the files of inference.
#ifndef INFER_INFER_INTERNAL_H
#define INFER_INFER_INTERNAL_H

#include "infer/infer.h"
#include "infer/tree.h"
#include "model/model.h"

// Items that are taken for one entity.
struct infer_group {
    struct infer_group *next;
    struct slice type_value; // by the type attribute, or empty
    struct slice hash;       // otherwise: the shapes of their keys, "USER#*"
    struct slice range;
    struct slice name; // of the entity
    size_t count;
    size_t room;
    const struct slice **items; // into infer.items
    struct draft_entity *entity;
};

// What somebody says of an entity: its name, and the attributes it has.
struct infer_facet {
    struct infer_facet *next;
    struct slice name;
    size_t count;
    const struct slice *attributes;
};

struct infer {
    struct infer_options options;
    struct arena own;    // unless it is somebody else's
    struct arena *arena; // of everything here
    struct draft draft;
    struct draft_table *table;
    bool described;
    size_t count;
    size_t room;
    struct slice *items; // M values, in the arena
    uint64_t bytes;
    struct slice type_attribute; // empty if there is none
    struct infer_facet *facets;
    struct infer_group *groups;
    size_t group_count;
};

// The text of an attribute's value (S, N, BOOL), or ptr NULL. N is written into `room`.
struct infer_number {
    char text[192];
};
struct slice infer_value_text(struct slice value, struct infer_number *room);
// The text of a key attribute of an item if it is an S, or ptr NULL.
struct slice infer_key_text(struct slice item, struct slice name);

// What an index keeps: KEYS_ONLY, INCLUDE and the names of attributes, or ALL.
struct slice infer_projection(struct draft *draft, struct slice kind, const struct tree *names);

// ---- Forms of texts --------------------------------------------------------------------------

// Whether a text is of a type that texts can be.
bool infer_is(struct slice text, enum model_kind kind);
// USER, METADATA, user_session: a constant rather than a value.
bool infer_is_word(struct slice text);
bool infer_is_shouted(struct slice text);
// Digits, UUIDs, ULIDs, times, hexadecimal numbers: a value rather than a constant.
bool infer_is_value(struct slice text);
bool infer_name_time(struct slice name);
// Whether a name is a word, or ends like it, in capitals or not.
bool infer_same_word(struct slice name, const char *word);
bool infer_ends(struct slice name, const char *end);

// ---- The steps -------------------------------------------------------------------------------

// Chooses keys (if there is no description) and the type attribute, and makes the groups.
MUST_CHECK bool infer_guess_keys(struct infer *infer, const char **why);
void infer_group_items(struct infer *infer);
// Templates of keys and of index entries; attributes that only keys have.
void infer_templates(struct infer *infer, struct infer_group *group);
void infer_patterns(struct draft *draft, struct draft_table *table,
                    const struct draft_entity *entity);

// The type that fits all of the values (encoded); `name` is for named types. *mixed tells that they
// are of several kinds.
struct slice infer_type(struct infer *infer, struct slice name, size_t count,
                        const struct slice *values, bool *mixed);

// Names of the attributes in a template of this file's making, in order: "A#{b}#{c:pad(3)}".
size_t infer_template_fields(struct slice template, struct slice *names, size_t max);
// Whether it is one of these; a template that is not there (ptr NULL) has none.
bool infer_template_has(struct slice template, struct slice name);

#endif
