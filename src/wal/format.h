// The bytes of a log segment, for the code that writes them (wal.c) and the code that reads them
// (check.c). The layout is in check.h.
#ifndef WAL_FORMAT_H
#define WAL_FORMAT_H

#include "base/files.h"
#include "crypt/keyring.h"
#include "wal/check.h"

enum {
    WAL_START = 32,             // bytes of a segment's header: where the first record stands
    WAL_START_SEALED = 64,      // the same where it is encrypted
    WAL_HEADER = 20,            // bytes of a record in front of its payload
    WAL_RECORD_MAX = 512 << 20, // a longer one is no record
};

struct wal_start {
    uint64_t salt; // keeps a client's data from passing for a record, and tells files apart
    uint64_t number;
    uint64_t first;
    uint32_t before; // wal_mark of the file before this one, cut; 0 if that is not known
    uint32_t key;    // id of the data key; 0 if the file is not encrypted
};

struct wal_record {
    uint64_t sequence;
    uint32_t unsynced;
    struct slice payload;
    size_t bytes; // of the whole record, once it was decoded
};

// A salt in 48 bits, never 0 unless it is.
uint64_t wal_mark(uint64_t salt);

size_t wal_start_bytes(const struct wal_start *start);
// The cipher is that of wal_cipher_new, NULL if the file is not encrypted. Returns the length.
size_t wal_start_encode(const struct wal_start *start, struct crypt_cipher *cipher,
                        uint8_t out[WAL_START_SEALED]);
MUST_CHECK bool wal_start_decode(struct slice bytes, struct wal_start *out);

// Makes the header of a record.
void wal_record_encode(const struct wal_record *record, uint64_t salt, uint8_t out[WAL_HEADER]);
// The whole record at the front of the bytes; false if there is none.
MUST_CHECK bool wal_record_decode(struct slice bytes, uint64_t salt, struct wal_record *out);

// ---- Encrypted files (seal.c) ----

enum { WAL_SEAL = 4 + CRYPT_TAG }; // what it adds to a payload

// For the records of a file. NULL if there is no such key.
MUST_CHECK struct crypt_cipher *wal_cipher_new(const struct keyring *keys,
                                               const struct wal_start *start, bool sealing);
void wal_start_seal(struct crypt_cipher *cipher, uint8_t out[WAL_START_SEALED]);
MUST_CHECK bool wal_start_open(struct crypt_cipher *cipher, struct slice bytes);

// Seals the payload of a record into a buffer. `attempt` counts the records that were begun in the
// file: a sequence may come twice there, if a record was taken back.
void wal_record_seal(struct crypt_cipher *cipher, uint32_t attempt, uint64_t salt,
                     struct wal_record *record, struct buf *out);
// Opens it, into a buffer. False if it is not what was sealed.
MUST_CHECK bool wal_record_open(struct crypt_cipher *cipher, uint64_t salt,
                                struct wal_record *record, struct buf *out);

void wal_segment_name(uint64_t number, char out[WAL_NAME_BYTES]);

// Calls back with the number of each segment there is, in no order. False with errno.
MUST_CHECK bool wal_each_segment(int directory, void (*visit)(void *context, uint64_t number),
                                 void *context);

#endif
