// The digest of an item: short, the same for the same bytes, and different for others.
#ifndef VALUE_DIGEST_H
#define VALUE_DIGEST_H

#include "base/slice.h"

enum { DIGEST_BYTES = 16 };

// The first half of SHA-256 over the item's canonical bytes.
void item_digest(struct slice item, uint8_t out[DIGEST_BYTES]);

#endif
