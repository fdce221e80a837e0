// Questions about a model that several generators ask: which attributes a key is made of, which
// entity owns a field, what is needed of the helpers.
#ifndef GENERATE_WALK_H
#define GENERATE_WALK_H

#include "generate/generate.h"

static inline bool generate_wants(const struct generate_options *options,
                                  const struct model_table *table)
{
    return options->table == NULL || options->table == table;
}

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
// The attributes that an expression, a template, a part of a key is made of.
void fields_of_expr(struct fields *fields, const struct model_expr *expr);
void fields_of_template(struct fields *fields, const struct model_template *template);
void fields_of_part(struct fields *fields, const struct model_entity *entity,
                    const struct model_key_part *part);
// Of the table's key; of an entry in an index.
void fields_of_keys(struct fields *fields, const struct model_entity *entity);
void fields_of_entry(struct fields *fields, const struct model_entity *entity,
                     const struct model_entry *entry);

// Whether the value can be missing: an optional or nullable field without something behind "??".
bool expr_may_miss(const struct model_expr *expr);
// Whether an entity's items can lack this index entry.
bool entry_sparse(const struct model_entity *entity, const struct model_entry *entry);
// Whether an attribute is there in every valid item, and not null.
bool attribute_always(const struct model_attribute *attribute);

size_t keys_count(const struct key_schema *keys);
// Whether a part of a key is an attribute of the entity itself.
bool part_is_native(const struct model_entity *entity, const struct model_key_part *part);

// Whether an entry before `entry`, or a part before `part` of it, has the same name.
bool part_repeated(const struct model_entity *entity, size_t entry, size_t part);
// Whether a part of an index entry is to be made: neither an attribute, nor part of the table's
// key.
bool part_is_made(const struct model_entity *entity, const struct model_key_part *part);

// ---- Attribute names of a table --------------------------------------------------------------

// Calls `visit` for each attribute that is part of a key of the table or of an index, each once.
void key_names(const struct model_table *table,
               void (*visit)(void *context, const struct key_part *part), void *context);

// Calls `visit` for each attribute that is made for the entity's items (parts of keys, and the type
// attribute), each once.
void derived_names(const struct model_entity *entity,
                   void (*visit)(void *context, struct slice name), void *context);

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

// ---- Helpers ---------------------------------------------------------------------------------

// Which functions the expressions of an entity, or the values of a pattern, use: a bit for each
// enum model_function, and USES_… for the rest.
enum {
    USES_ADD = 1 << MODEL_FUNCTIONS,
    USES_TEMPLATE = 2 << MODEL_FUNCTIONS,
    USES_STEPS = 4 << MODEL_FUNCTIONS
};
unsigned uses_of_expr(const struct model_expr *expr);
unsigned uses_of_template(const struct model_template *template);
unsigned uses_of_model(const struct model *model, const struct generate_options *options);

#endif
