// The keys of a data directory that is encrypted: which there are, what uses them, and new ones.
// Changing them takes the directory's lock, so no server may have it open.
#ifndef ROCKS_ENCRYPTION_H
#define ROCKS_ENCRYPTION_H

#include "crypt/keyring.h"
#include "store/store.h"

struct encryption_use {
    uint32_t id;
    int64_t made_s;
    uint64_t files; // that were made with it
    uint64_t bytes; // of them
};

struct encryption_status {
    size_t count;
    struct encryption_use keys[KEYRING_MOST]; // the newest last: new files are made with it
    uint64_t others;                          // files of none of the keys
};

// Reads all headers; a server may be at work meanwhile. False if the directory is not encrypted, or
// under another master key.
MUST_CHECK bool encryption_look(const char *data, const struct crypt_key *master,
                                struct encryption_status *out, struct store_error *error);

// Wraps the data keys by another master key. Whenever this ends, the directory opens with one of
// the two; when it was done, with the new one alone.
MUST_CHECK bool encryption_rotate_master(const char *data, const struct crypt_key *master,
                                         const struct crypt_key *next, struct store_error *error);

// A new data key for new files. Those that no file uses any more are forgotten; *forgotten says how
// many.
MUST_CHECK bool encryption_rotate_data(const char *data, const struct crypt_key *master,
                                       size_t *forgotten, struct store_error *error);

#endif
