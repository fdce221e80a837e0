// What the items of a live table say about its model: how they spread over partitions of the table
// and of each index, how large they are, and what fits no entity.
#ifndef LINT_EVIDENCE_H
#define LINT_EVIDENCE_H

#include "model/model.h"

struct evidence;

// NULL when memory is out. The caller frees it; the model must live as long.
MUST_CHECK struct evidence *evidence_new(const struct model_table *table);
void evidence_free(struct evidence *evidence);
// False when memory is out.
MUST_CHECK bool evidence_add(struct evidence *evidence, struct slice item);

// Average bytes of an item of the entity, 0 if there was none.
size_t evidence_size(const struct evidence *evidence, const struct model_entity *entity);

void evidence_show(struct evidence *evidence, struct buf *out);
void evidence_json(struct evidence *evidence, struct buf *out);

#endif
