// Which entity an item is of: by the table's type attribute if the item has it; else by its keys,
// and, if several entities' keys look like that, by what else the item has.
#ifndef GUARD_ENTITY_H
#define GUARD_ENTITY_H

#include "eval/check.h"
#include "model/model.h"

enum model_doubt {
    MODEL_CERTAIN,
    MODEL_NO_SUCH_TYPE, // the type attribute's value is no entity's
    MODEL_NO_SUCH_KEY,  // the primary key fits no entity
    MODEL_AMBIGUOUS,    // it fits several
};

struct model_recognition {
    const struct model_entity *entity; // NULL unless certain
    enum model_doubt doubt;
    const struct model_entity *others[2]; // the first two of several
    size_t count;                         // of them
};

// The item may lack its keys: then only what it has counts.
struct model_recognition model_recognise(const struct model_table *table, struct slice item);
// The same as a part of a check; once that is over, no entity is found.
struct model_recognition model_recognise_within(struct model_check *check,
                                                const struct model_table *table, struct slice item);

// Whether an item of the entity is deleted, as `softdelete` does it: for everything but those who
// read what is stored, it is not there.
bool model_item_deleted(const struct model_entity *entity, struct slice item);

// The doubt in words: EntityType is "Usr", which is no entity of the table
void model_recognition_text(const struct model_recognition *recognition,
                            const struct model_table *table, struct slice item, struct buf *out);

// The entities whose keys can be that primary key (an M value with the key attributes), at most
// `max` of them in `list`. Returns how many there are.
size_t model_entities_of_key(const struct model_table *table, struct slice key,
                             const struct model_entity **list, size_t max);

#endif
