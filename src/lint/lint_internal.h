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
    bool safe;                               // no separator is in it
};

enum { LINT_FIELDS_MAX = 32 };

struct lint_fields {
    size_t count;
    bool bare; // the key part is this one attribute, with its own type
    struct lint_field list[LINT_FIELDS_MAX];
};

// What says that the attribute of an item changes: "is a switch"; NULL if nothing does.
const char *lint_why_mutable(const struct model_attribute *attribute);
// Whether something removes the entity's items: a rule, or their time to live.
bool lint_is_removed(const struct lint *lint, const struct model_entity *entity);

enum lint_half { LINT_HASH, LINT_RANGE, LINT_BOTH };

// Whether no two items have the same value: it is unique, or drawn by uuid() or ulid().
bool lint_is_identity(const struct model_attribute *attribute);

// The fields of an expression, of one part (template, or native attribute), of a half of a key.
void lint_expr_fields(const struct model_expr *expr, struct lint_fields *out);
void lint_part_fields(const struct model_entity *entity, const struct model_key_part *part,
                      struct lint_fields *out);
void lint_key_fields(const struct lint_key *key, enum lint_half half, struct lint_fields *out);
// Whether the attributes of all `wanted` are among the fields.
bool lint_fields_cover(const struct lint_fields *fields, const struct lint_fields *wanted);

// A part as the file writes it: the template's source, or the attribute's name.
struct slice lint_part_source(const struct model_key_part *part);
bool lint_key_constant(const struct lint_key *key, enum lint_half half);
// The parts one after the other, as the file writes them: `"A#{b}", "{c}"`.
const char *lint_key_source(struct lint *lint, const struct lint_key *key, enum lint_half half);

// ---- Types ---------------------------------------------------------------------------------

// How many different values there can be; 0 if that is not known to be few.
size_t lint_type_cardinality(const struct model_type *type);
// Of all fields together.
size_t lint_fields_cardinality(const struct lint_fields *fields);
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
lint_judge_table lint_unread_entity, lint_ttl_undeclared, lint_colliding_keys,
    lint_ambiguous_entities, lint_mixed_times;
lint_judge_index lint_unused_index, lint_empty_index, lint_wide_projection, lint_local_index;
lint_judge_entity lint_duplicate_index, lint_write_amplification, lint_outsider;
lint_judge_attribute lint_ttl_not_epoch, lint_unique_as_written, lint_unique_optional,
    lint_unbounded_list, lint_ttl_unnamed;
lint_judge_access lint_filter_discards, lint_whole_partition, lint_mixed_collection,
    lint_open_prefix, lint_order_without_sort, lint_one_not_unique, lint_partial_items,
    lint_blind_filter, lint_unreadable_pattern;
lint_judge_key lint_hot_partition, lint_few_partitions, lint_constant_sort, lint_number_as_text,
    lint_narrow_pad, lint_deprecated_in_key;
lint_judge_key lint_mutable_key, lint_time_only_key, lint_key_not_immutable;
lint_judge_part lint_adjacent_fields, lint_delimiter_in_text;
lint_judge_attribute lint_hot_counter, lint_counted_key;
lint_judge_entity lint_unread_events, lint_growing_events, lint_dangling_reference,
    lint_wide_cascade, lint_short_retain, lint_kept_and_removed, lint_tenant_invisible,
    lint_deleted_entries, lint_loose_moves, lint_impossible_check, lint_unmarked_events,
    lint_endless_quota, lint_write_only, lint_self_promotion, lint_lonely_tag;
lint_judge_key lint_shared_partition;
lint_judge_object lint_shared_object, lint_moving_object, lint_object_not_immutable,
    lint_left_objects, lint_open_upload;
lint_judge_project lint_moving_row, lint_unindexed_column, lint_deleted_rows, lint_open_rows,
    lint_secret_in_address, lint_unstreamed_projection;

#endif
