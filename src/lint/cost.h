// What reads and writes cost, in DynamoDB's units, by the sizes that the types let expect (or by
// the real ones, if somebody has looked). A read unit is 4 KB read with strong consistency, half of
// one otherwise; a write unit is 1 KB, for the table and again for each index that has the item.
#ifndef LINT_COST_H
#define LINT_COST_H

#include "model/model.h"

enum { COST_PAGE = 1 << 20 }; // what one Query reads at most (AWS)

// Bytes of an item of the entity by AWS's formula, with its keys: an estimate.
size_t cost_entity_size(const struct model_entity *entity);
struct cost_index {
    const struct model_index *index;
    size_t size;
    uint64_t units; // to write the entry, or to remove it
    bool moves;     // each write changes its key
};

// Writing an item of an entity.
struct cost_write {
    const struct model_entity *entity;
    size_t size;
    bool measured;      // the size is not an estimate
    uint64_t table;     // units for the table
    uint64_t put;       // a new item: the table and each index
    uint64_t update;    // a change of attributes outside of keys: indexes that project them, and
                        // those whose key has a time that each write sets
    uint64_t worst;     // a change that moves the entries of all indexes it can: each costs two
    size_t index_count; // that it has entries in
    struct cost_index indexes[LIMIT_INDEXES];
};
// `size` is the measured one, or 0 for the estimate.
void cost_entity_write(const struct model_entity *entity, size_t size, struct cost_write *out);

// The indexes in whose keys the attribute stands: a change of it moves those entries. None, if it
// cannot change.
size_t cost_attribute_moves(const struct model_entity *entity,
                            const struct model_attribute *attribute,
                            const struct model_index *moved[LIMIT_INDEXES]);

// A change of one attribute, with what every change does; the indexes it moves cost two.
uint64_t cost_attribute_change(const struct cost_write *cost,
                               const struct model_attribute *attribute);

// What one rule adds to a write of an entity.
struct cost_rule {
    const char *what;                        // "emit", "count", "reference", …
    const struct model_entity *entity;       // whose items are written, or read
    const struct model_attribute *attribute; // that counts, or NULL
    uint64_t times;                          // items
    size_t size;                             // of each
    uint64_t writes;                         // units of all, with their index entries
    uint64_t reads;
};
enum { COST_RULES_MAX = 64 }; // further ones are not told
struct cost_rules {
    size_t count;
    struct cost_rule list[COST_RULES_MAX];
};
void cost_entity_rules(const struct model_entity *entity, struct cost_rules *out);

struct cost_read {
    size_t item_size; // as read, of the average entity in the pattern
    uint64_t items;   // of a page: the pattern's limit, or what fits
    double page;      // units for a whole page
    double one;       // units for one item
};
// `sizes[i]` is the measured size of the pattern's i-th entity or 0; NULL if nothing is measured.
void cost_access_read(const struct model_access *access, const size_t *sizes,
                      struct cost_read *out);

struct evidence; // lint/evidence.h

// Both for all of a table, as text for people and as a JSON object. `evidence` may be NULL.
void cost_show(const struct model_table *table, const struct evidence *evidence, struct buf *out);
void cost_json(const struct model_table *table, const struct evidence *evidence, struct buf *out);

#endif
