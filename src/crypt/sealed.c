// The head of a sealed file: see sealed.h.
#include "crypt/sealed_internal.h"

#include "base/encode.h"

#include <stdio.h>

enum {
    KIND_AT = 4,
    KEY_AT = 8,
    ID_AT = 12,
    ID_BYTES = 16,
    SUM_AT = 28,
};

static const uint8_t magic[4] = {'D', 'L', 'E', '1'};

static void file_key(const struct keyring_key *key, const uint8_t *head, struct crypt_key *out)
{
    char purpose[64];
    int len = snprintf(purpose, sizeof(purpose), "file %c ", head[KIND_AT]);
    for (size_t i = 0; i < ID_BYTES; i++)
        len += snprintf(purpose + len, sizeof(purpose) - (size_t)len, "%02x", head[ID_AT + i]);
    crypt_key_derive(&key->key, purpose, out);
}

void sealed_begin(const struct keyring *ring, enum sealed_kind kind, uint8_t head[SEALED_HEAD],
                  struct crypt_key *key)
{
    ensure(ring->count > 0);
    const struct keyring_key *newest = &ring->keys[ring->count - 1];
    struct crypt_key random;
    memset(head, 0, SEALED_HEAD);
    memcpy(head, magic, sizeof(magic));
    head[KIND_AT] = (uint8_t)kind;
    memcpy(head + KEY_AT, &newest->id, 4);
    crypt_key_make(&random);
    memcpy(head + ID_AT, random.bytes, ID_BYTES);
    uint32_t sum = crc32_of(slice_of(head, SUM_AT));
    memcpy(head + SUM_AT, &sum, 4);
    file_key(newest, head, key);
}

uint32_t sealed_key_id(struct slice head)
{
    if (head.len < SEALED_HEAD || memcmp(head.ptr, magic, sizeof(magic)) != 0 ||
        crc32_of(slice_of(head.ptr, SUM_AT)) != le32_get(head.ptr + SUM_AT))
        return 0;
    return le32_get(head.ptr + KEY_AT);
}

bool sealed_key(const struct keyring *ring, enum sealed_kind kind, struct slice head,
                struct crypt_key *key)
{
    uint32_t id = sealed_key_id(head);
    const struct keyring_key *made_with = id == 0 ? NULL : keyring_find(ring, id);
    if (made_with == NULL || head.ptr[KIND_AT] != (uint8_t)kind)
        return false;
    file_key(made_with, head.ptr, key);
    return true;
}
