// Questions about a model that several generators ask: which attributes a key is made of, which
// entity owns a field.
#ifndef WRITE_WALK_H
#define WRITE_WALK_H

#include "write/text.h"

// ---- Tables and entities ---------------------------------------------------------------------

// Whether the table is one of those that files are made of.
bool is_wanted(const struct writer *w, const struct model_table *table);
// The next one of those, and of their entities; NULL behind the last. The first follows NULL.
const struct model_table *next_table(const struct writer *w, const struct model_table *table);
const struct model_entity *next_entity(const struct writer *w, const struct model_entity *entity);

// ---- Fields ----------------------------------------------------------------------------------

enum { FIELDS_MAX = 64 };

// A set of an entity's attributes, in the order in which they were met. Beyond FIELDS_MAX they are
// left out; key templates are far shorter than that.
struct fields {
    size_t count;
    const struct model_attribute *list[FIELDS_MAX];
};

bool fields_have(const struct fields *fields, const struct model_attribute *attribute);
void fields_add(struct fields *fields, const struct model_attribute *attribute);
// The attributes that the table's key is made of; that an entry in an index is.
void fields_of_keys(struct fields *fields, const struct model_entity *entity);
void fields_of_entry(struct fields *fields, const struct model_entity *entity,
                     const struct model_entry *entry);

// The attributes that an expression names, that a test looks at.
void fields_of_expr(struct fields *fields, const struct model_expr *expr);
void fields_of_test(struct fields *fields, const struct model_test *test);

// Whether an entity's items can lack this index entry: it is conditional, or it is made of an
// optional or nullable field that has nothing behind "??".
bool entry_sparse(const struct model_entity *entity, const struct model_entry *entry);
// Whether all parts of the entry that have no template are attributes of the entity, and one is to
// be made.
bool entry_is_made(const struct model_entity *entity, const struct model_entry *entry);
// Whether an attribute is there in every valid item, and not null.
bool attribute_always(const struct model_attribute *attribute);
// Whether null may stand there: as the type says, or because it is optional ("?", not "?!").
bool attribute_nullable(const struct model_attribute *attribute);

// Whether an expression gives a number that is stored as one: an attribute, a sum of such, ….
bool expr_is_number(const struct model_expr *expr);

size_t keys_count(const struct key_schema *keys);
// Whether a part of a key is an attribute of the entity itself.
bool part_is_native(const struct model_entity *entity, const struct model_key_part *part);

// Whether an entry before `entry`, or a part before `part` of it, has the same name.
bool part_repeated(const struct model_entity *entity, size_t entry, size_t part);
// Whether a part of an index entry is to be made: neither an attribute, nor part of the table's
// key.
bool part_is_made(const struct model_entity *entity, const struct model_key_part *part);

// ---- Attribute names of a table --------------------------------------------------------------

enum { KEY_NAMES_MAX = 2 * LIMIT_KEY_PARTS * (LIMIT_INDEXES + 1), DERIVED_MAX = KEY_NAMES_MAX + 1 };

// The attributes that are part of a key of the table or of an index, each once.
struct key_names {
    size_t count;
    const struct key_part *list[KEY_NAMES_MAX];
};

void key_names(const struct model_table *table, struct key_names *names);
// The attributes that are made for the entity's items (parts of keys, and the type attribute), each
// once; how many there are.
size_t derived_names(const struct model_entity *entity, struct slice list[DERIVED_MAX]);

// ---- Types -----------------------------------------------------------------------------------

// The fields of an object in the order of the file, as many as fit; how many those are.
enum { TYPE_FIELDS_MAX = 512 };
size_t type_fields(const struct model_type *type,
                   const struct model_attribute *list[TYPE_FIELDS_MAX]);

// Without "| null": the other option if there is only one, the type itself otherwise.
const struct model_type *type_bare(const struct model_type *type);
bool type_nullable(const struct model_type *type);
// The kind as which all options of a type are stored, or VALUE_TYPES.
enum value_type type_stored(const struct model_type *type);
// A union (or a single one) of literals of one kind, S or N; null options are passed over.
bool type_literals(const struct model_type *type, enum value_type stored);

// ---- Relationships ---------------------------------------------------------------------------

// The entity that a field identifies: userId, and targetUserId, are User's, whose key is made of
// userId, or of id. NULL if none is, or if it could be several.
const struct model_entity *field_owner(const struct model *model, struct slice field);

#endif
