// How the items of an entity are addressed by its attributes: the key that they make. Which of them
// do: model/address.h.
#ifndef GUARD_ADDRESS_H
#define GUARD_ADDRESS_H

#include "base/error.h"
#include "model/address.h"

// The primary key, as an item with the key attributes alone, of some attributes (an M value), which
// may also be the key attributes themselves. They are normalised first. False with a
// ValidationException that names every attribute that is missing, wrong or not part of the key.
MUST_CHECK bool model_address_key(const struct model_entity *entity, struct slice attributes,
                                  struct arena *arena, struct slice *key, struct error *error);

#endif
