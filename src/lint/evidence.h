// What the items of a live table say about its model: how they spread over partitions of the table
// and of each index, how large they are, and what fits no entity.
#ifndef LINT_EVIDENCE_H
#define LINT_EVIDENCE_H

#include "model/model.h"

enum { EVIDENCE_TOP = 3 }; // of the hottest keys

struct evidence_partition {
    struct slice key; // its text, parts joined by " + "
    uint64_t items;
    uint64_t bytes;
};

struct evidence_place { // the table, or an index
    const struct model_index *index;
    uint64_t items;
    uint64_t partitions;
    size_t top_count;
    struct evidence_partition top[EVIDENCE_TOP]; // most items first
    struct evidence_partition largest;           // by bytes
};

enum { EVIDENCE_FORMS = 4 };

// The forms in which a timestamp is written: those that differ do not sort with each other.
struct evidence_times {
    const struct model_attribute *attribute;
    size_t count;
    struct evidence_form {
        struct slice example;
        uint64_t items;
    } forms[EVIDENCE_FORMS];
};

struct evidence_entity {
    const struct model_entity *entity;
    uint64_t items;
    uint64_t bytes;
    size_t time_count;
    struct evidence_times *times; // of its timestamps
};

struct evidence;

// NULL when memory is out. The caller frees it; the model must live as long.
MUST_CHECK struct evidence *evidence_new(const struct model_table *table);
void evidence_free(struct evidence *evidence);
// False when memory is out.
MUST_CHECK bool evidence_add(struct evidence *evidence, struct slice item);

uint64_t evidence_items(const struct evidence *evidence);
uint64_t evidence_unmatched(const struct evidence *evidence);
// Place 0 is the table, i + 1 its i-th index. Valid until the evidence is freed.
const struct evidence_place *evidence_place(struct evidence *evidence, size_t place);
const struct evidence_entity *evidence_entity(const struct evidence *evidence, size_t entity);
// Average bytes of an item of the entity, 0 if there was none.
size_t evidence_size(const struct evidence *evidence, const struct model_entity *entity);

void evidence_show(struct evidence *evidence, struct buf *out);
void evidence_json(struct evidence *evidence, struct buf *out);

#endif
