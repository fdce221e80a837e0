// The data keys of a data directory, sealed under the master key. Data keys encrypt files, each
// with a key of its own that follows from a data key and from what the file says of itself
// (sealed.h). New files use the newest; a file says which one it was made with.
//
// They are in two files of the directory with the same content, because without them nothing can
// be read any more:
//
//   DIR/KEYS, DIR/KEYS.copy   "dolmen keys 1\n" "master NAME\n" "sealed HEX\n"
//
// NAME is that of the master key (crypt_key_name). What is sealed is a serial (u64), a count (u32),
// and for each key its id (u32), when it was made (u64, seconds), and its bytes; little-endian.
//
// Each file is replaced whole, one after the other. Where that was interrupted the two differ, and
// each is right: the older one has all keys that a file uses, since a new data key is used only
// once both have it. With either master key the directory opens, and both files are made the same
// again.
#ifndef CRYPT_KEYRING_H
#define CRYPT_KEYRING_H

#include "crypt/crypt.h"

#define KEYRING_FILE "KEYS"
#define KEYRING_COPY "KEYS.copy"

enum { KEYRING_MOST = 64 };

struct keyring_key {
    uint32_t id;
    int64_t made_s;
    struct crypt_key key;
};

struct keyring {
    uint64_t serial;                       // of what was written last
    size_t count;                          // 0 where nothing is encrypted
    struct keyring_key keys[KEYRING_MOST]; // by id, the newest last
};

// Whether the directory has any of the two files.
bool keyring_is_there(int directory);
// A first data key.
void keyring_init(struct keyring *ring, int64_t now_s);
// One more; false if there are too many.
MUST_CHECK bool keyring_add(struct keyring *ring, int64_t now_s);
void keyring_wipe(struct keyring *ring);
// NULL if there is none.
const struct keyring_key *keyring_find(const struct keyring *ring, uint32_t id);

// Writes both files, on disk when it returns. False with errno; then one of them may be written.
MUST_CHECK bool keyring_write(struct keyring *ring, const struct crypt_key *master, int directory);

// Reads them, with a master key or (NULL) to say which one is needed. `uneven` if the two files are
// not the same: then they should be written again. False with a sentence that begins with the path.
MUST_CHECK bool keyring_read(struct keyring *ring, const struct crypt_key *master, int directory,
                             const char *path, bool *uneven, char *error, size_t error_size);

#endif
