// See digest.h.
#include "value/digest.h"

#include "base/encode.h"

void item_digest(struct slice item, uint8_t out[DIGEST_BYTES])
{
    uint8_t whole[32];
    sha256_of(item, whole);
    memcpy(out, whole, DIGEST_BYTES);
}
