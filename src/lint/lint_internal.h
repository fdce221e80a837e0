// Between the files of lint: how rules look at keys, and how they report.
#ifndef LINT_LINT_INTERNAL_H
#define LINT_LINT_INTERNAL_H

#include "lint/lint.h"

// ---- Reporting -----------------------------------------------------------------------------

// A finding of the current rule. `help` is how to mend this one, or NULL for what the rule says.
void lint_find(struct lint *lint, struct model_place at, const char *help, const char *format, ...)
    PRINTF_LIKE(4, 5);
// printf for helps; "" when memory is out.
const char *lint_text(struct lint *lint, const char *format, ...) PRINTF_LIKE(2, 3);

// ---- Keys ----------------------------------------------------------------------------------

// How an entity is kept in the table (index NULL) or in one of its indexes.
struct lint_key {
    const struct model_entity *entity;
    const struct model_index *index;
    const struct key_schema *schema;
    const struct model_key_part *parts; // hash parts, then range parts
    struct model_place at;
};

// The entity's key in the table, or in an index; false if it has no entry there.
bool lint_key_of(const struct model_entity *entity, const struct model_index *index,
                 struct lint_key *out);
// "the table", "GSI1".
struct slice lint_key_where(const struct lint_key *key);
static inline bool lint_key_has_range(const struct lint_key *key)
{
    return key->schema->range_count > 0;
}

// A value inside a key text.
struct lint_field {
    const struct model_expr *path;
    const struct model_attribute *attribute; // what the path begins with; may be NULL
    const struct model_type *type;           // of what it leads to; may be NULL
    size_t pad;                              // least characters, 0 if it is not padded
    bool shaped;                             // its text is not the value's: a date part, a digest
    bool optional;                           // stands left of ??
};

enum { LINT_FIELDS_MAX = 32 };

struct lint_fields {
    size_t count;
    bool bare; // the key part is this one attribute, with its own type
    struct lint_field list[LINT_FIELDS_MAX];
};

// The fields of one part (template, or native attribute) and of a range of parts.
void lint_part_fields(const struct model_entity *entity, const struct model_key_part *part,
                      struct lint_fields *out);
void lint_template_fields(const struct model_template *template, struct lint_fields *out);
void lint_hash_fields(const struct lint_key *key, struct lint_fields *out);
void lint_range_fields(const struct lint_key *key, struct lint_fields *out);

// A part as the file writes it: the template's source, or the attribute's name.
struct slice lint_part_source(const struct model_key_part *part);
bool lint_part_constant(const struct model_entity *entity, const struct model_key_part *part);
bool lint_hash_constant(const struct lint_key *key);
bool lint_range_constant(const struct lint_key *key);
// The parts one after the other, as the file writes them: `"A#{b}", "{c}"`.
const char *lint_hash_source(struct lint *lint, const struct lint_key *key);
const char *lint_range_source(struct lint *lint, const struct lint_key *key);

// ---- Types ---------------------------------------------------------------------------------

// How many different values there can be; 0 if that is not known to be few.
size_t lint_type_cardinality(const struct model_type *type);
// Of all fields together.
size_t lint_fields_cardinality(const struct lint_fields *fields);
// Some option of the type is of this kind.
bool lint_type_has(const struct model_type *type, enum model_kind kind);
bool lint_type_numeric(const struct model_type *type);
bool lint_type_time(const struct model_type *type);
// Text of which nothing is known.
bool lint_type_free(const struct model_type *type);
// Its text always has the same length.
bool lint_type_fixed(const struct model_type *type);

// What names tell: "createdAt", "userId".
bool lint_name_time(struct slice name);
bool lint_name_id(struct slice name);
bool lint_name_version(struct slice name);
bool lint_name_state(struct slice name);

// ---- Texts that keys can be ------------------------------------------------------------------

// Whether two parts (of different entities, same key attribute) can have the same value. An example
// is appended to `witness`, unless that is NULL.
bool lint_parts_overlap(const struct model_entity *a, const struct model_key_part *part_a,
                        const struct model_entity *b, const struct model_key_part *part_b,
                        struct buf *witness);
// Whether a part can have a value that meets the condition of a pattern.
bool lint_condition_meets(const struct model_access *access,
                          const struct model_condition *condition,
                          const struct model_entity *entity, const struct model_key_part *part);

// ---- The rules -----------------------------------------------------------------------------

// Described in the table in lint.c.
void lint_hot_partition(struct lint *lint);
void lint_few_partitions(struct lint *lint);
void lint_constant_sort(struct lint *lint);
void lint_number_as_text(struct lint *lint);
void lint_narrow_pad(struct lint *lint);
void lint_colliding_keys(struct lint *lint);
void lint_ambiguous_entities(struct lint *lint);
void lint_mutable_key(struct lint *lint);
void lint_time_only_key(struct lint *lint);
void lint_adjacent_fields(struct lint *lint);
void lint_delimiter_in_text(struct lint *lint);
void lint_mixed_times(struct lint *lint);
void lint_deprecated_in_key(struct lint *lint);
void lint_unused_index(struct lint *lint);
void lint_empty_index(struct lint *lint);
void lint_duplicate_index(struct lint *lint);
void lint_wide_projection(struct lint *lint);
void lint_write_amplification(struct lint *lint);
void lint_local_index(struct lint *lint);
void lint_filter_discards(struct lint *lint);
void lint_whole_partition(struct lint *lint);
void lint_mixed_collection(struct lint *lint);
void lint_open_prefix(struct lint *lint);
void lint_order_without_sort(struct lint *lint);
void lint_one_not_unique(struct lint *lint);
void lint_unread_entity(struct lint *lint);
void lint_ttl_not_epoch(struct lint *lint);
void lint_ttl_undeclared(struct lint *lint);
void lint_unique_as_written(struct lint *lint);
void lint_unique_optional(struct lint *lint);
void lint_key_not_immutable(struct lint *lint);
void lint_unbounded_list(struct lint *lint);

#endif
