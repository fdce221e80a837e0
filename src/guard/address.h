// How the items of an entity are addressed by its attributes: which of them make the primary key,
// and the key that they make.
#ifndef GUARD_ADDRESS_H
#define GUARD_ADDRESS_H

#include "base/error.h"
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

// The primary key, as an item with the key attributes alone, of some attributes (an M value), which
// may also be the key attributes themselves. They are normalised first. False with a
// ValidationException that names every attribute that is missing, wrong or not part of the key.
MUST_CHECK bool model_address_key(const struct model_entity *entity, struct slice attributes,
                                  struct arena *arena, struct slice *key, struct error *error);

#endif
