// Encrypted files of the log: see format.h and check.h. A file's key follows from a data key and
// from the file's salt and number. The checksums are over what is on disk, so that a write that was
// not finished is told from damage without a key, as in a file that is not encrypted.
#include "wal/format.h"

#include "base/encode.h"

#include <stdio.h>

enum {
    AUTHENTICATED_AT = 8, // in a file's header: without magic and checksum,
    TAG_AT = WAL_START_SEALED - CRYPT_TAG,
    CONTEXT = 16, // of a record: length, salted sequence, how many were not synced
};

struct crypt_cipher *wal_cipher_new(const struct keyring *keys, const struct wal_start *start,
                                    bool sealing)
{
    char purpose[64];
    struct crypt_key key;
    const struct keyring_key *data = keyring_find(keys, start->key);
    if (data == NULL)
        return NULL;
    (void)snprintf(purpose, sizeof(purpose), "log %016llx %llu", (unsigned long long)start->salt,
                   (unsigned long long)start->number);
    crypt_key_derive(&data->key, purpose, &key);
    struct crypt_cipher *cipher = crypt_cipher_new(&key, sealing);
    crypt_key_wipe(&key);
    return cipher;
}

// No record has attempt 0.
static void make_nonce(uint32_t attempt, uint64_t sequence, uint8_t out[CRYPT_NONCE])
{
    memcpy(out, &attempt, 4);
    memcpy(out + 4, &sequence, 8);
}

static struct slice start_context(const uint8_t *start)
{
    return slice_of(start + AUTHENTICATED_AT, TAG_AT - AUTHENTICATED_AT);
}

void wal_start_seal(struct crypt_cipher *cipher, uint8_t out[WAL_START_SEALED])
{
    uint8_t nonce[CRYPT_NONCE];
    make_nonce(0, 0, nonce);
    crypt_cipher_seal(cipher, nonce, start_context(out), slice_of(NULL, 0), NULL, out + TAG_AT);
}

bool wal_start_open(struct crypt_cipher *cipher, struct slice bytes)
{
    uint8_t nonce[CRYPT_NONCE];
    make_nonce(0, 0, nonce);
    return bytes.len >= WAL_START_SEALED &&
           crypt_cipher_open(cipher, nonce, start_context(bytes.ptr), slice_of(NULL, 0),
                             bytes.ptr + TAG_AT, NULL);
}

static void make_context(const struct wal_record *record, size_t payload, uint64_t salt,
                         uint8_t out[CONTEXT])
{
    uint32_t length = (uint32_t)payload;
    uint64_t salted = record->sequence ^ salt;
    memcpy(out, &length, 4);
    memcpy(out + 4, &salted, 8);
    memcpy(out + 12, &record->unsynced, 4);
}

void wal_record_seal(struct crypt_cipher *cipher, uint32_t attempt, uint64_t salt,
                     struct wal_record *record, struct buf *out)
{
    uint8_t nonce[CRYPT_NONCE];
    uint8_t context[CONTEXT];
    struct slice plain = record->payload;
    buf_clear(out);
    uint8_t *to = buf_reserve(out, plain.len + WAL_SEAL);
    ensure_memory(to);
    memcpy(to, &attempt, 4);
    make_nonce(attempt, record->sequence, nonce);
    make_context(record, plain.len + WAL_SEAL, salt, context);
    crypt_cipher_seal(cipher, nonce, slice_of(context, CONTEXT), plain, to + 4, to + 4 + plain.len);
    out->len = plain.len + WAL_SEAL;
    record->payload = buf_view(out);
}

bool wal_record_open(struct crypt_cipher *cipher, uint64_t salt, struct wal_record *record,
                     struct buf *out)
{
    uint8_t nonce[CRYPT_NONCE];
    uint8_t context[CONTEXT];
    struct slice sealed = record->payload;
    if (sealed.len < WAL_SEAL)
        return false;
    size_t length = sealed.len - WAL_SEAL;
    buf_clear(out);
    uint8_t *to = buf_reserve(out, length + 1);
    ensure_memory(to);
    make_nonce(le32_get(sealed.ptr), record->sequence, nonce);
    make_context(record, sealed.len, salt, context);
    if (!crypt_cipher_open(cipher, nonce, slice_of(context, CONTEXT),
                           slice_of(sealed.ptr + 4, length), sealed.ptr + 4 + length, to))
        return false;
    out->len = length;
    record->payload = buf_view(out);
    return true;
}
