// The store on disk: RocksDB's tables with a log of our own before them (store/store.h is what it
// keeps to). Programs open it here; the engine gets it as any other store.
#ifndef ROCKS_ROCKS_H
#define ROCKS_ROCKS_H

#include "store/store.h"

struct crypt_key;

enum store_durability {
    STORE_FULL,    // a commit returns when its log record is on disk (fdatasync)
    STORE_RELAXED, // the log is synced later: a power cut may lose 100 ms of commits
};

// A directory that exists stays what it is: another wish is refused.
enum store_encryption {
    STORE_AS_IT_IS, // a new directory is encrypted if there is a master key
    STORE_ENCRYPTED,
    STORE_PLAIN,
};

struct store_options {
    const char *path; // directory; created if missing
    enum store_durability durability;
    size_t cache_bytes; // block cache; 0 means the default (an eighth of the memory, 64 MB to 1 GB)
    size_t write_buffer_bytes;      // all memtables together; 0 means the default (240 MB)
    const struct crypt_key *master; // wraps the keys of an encrypted directory; borrowed, or NULL
    enum store_encryption encryption;
    bool passive; // tables are not merged in the background: the store is only looked at
};

MUST_CHECK struct store *store_open_rocksdb(const struct store_options *options,
                                            struct store_error *error);

// For programs (a library leaves it to its program): has the process end with a sentence if memory
// or threads run out where no error can be returned, which is on any thread of RocksDB.
#ifdef __cplusplus
extern "C"
#endif
    void
    store_end_cleanly(void);

#endif
