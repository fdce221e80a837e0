// The attributes that make the primary key of an entity's items.
#ifndef MODEL_ADDRESS_H
#define MODEL_ADDRESS_H

#include "model/model.h"

enum { MODEL_ADDRESS_MAX = 32 };

// The attributes in the templates of the table's key, in their order, each once. A native key is an
// attribute itself.
struct model_address {
    size_t count;
    struct model_address_part {
        struct slice name;
        const struct model_attribute *attribute; // NULL if the entity does not declare it
        bool optional;                           // there is a fallback for it
    } parts[MODEL_ADDRESS_MAX];
};

void model_address(const struct model_entity *entity, struct model_address *out);
// Adds those of one part of the key, to an address that begins as zeros: 0 is the partition key, 1
// the sort key.
void model_address_add(const struct model_entity *entity, size_t which, struct model_address *out);
// The position of an attribute, or the count.
size_t model_address_find(const struct model_address *address, struct slice name);

#endif
