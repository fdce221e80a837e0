// What pages and frames share: the head of a file, and the key that follows from it.
#ifndef CRYPT_SEALED_INTERNAL_H
#define CRYPT_SEALED_INTERNAL_H

#include "crypt/sealed.h"

enum sealed_kind { SEALED_PAGES = 'P', SEALED_FRAMES = 'F' };

// Makes the head of a new file, and its key.
void sealed_begin(const struct keyring *ring, enum sealed_kind kind, uint8_t head[SEALED_HEAD],
                  struct crypt_key *key);
// The key of a file with that head. False if there is none.
MUST_CHECK bool sealed_key(const struct keyring *ring, enum sealed_kind kind, struct slice head,
                           struct crypt_key *key);

#endif
