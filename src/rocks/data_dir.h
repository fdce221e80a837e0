// The data directory: made if missing, claimed for one process, marked with the
// format of what is in it.
//
//   DIR/FORMAT   "dolmen format 4\n", or 5 if it is encrypted
//   DIR/KEYS     its keys then (crypt/keyring.h), and KEYS.copy
//   DIR/db/      the tables
//   DIR/log/     the log
#ifndef ROCKS_DATA_DIR_H
#define ROCKS_DATA_DIR_H

#include "crypt/keyring.h"
#include "rocks/rocks.h"

enum {
    DATA_DIR_FORMAT = 4,
    DATA_DIR_FORMAT_SEALED = 5, // the same, encrypted
    DATA_DIR_FORMAT_LOG = 3,    // the first whose log can be judged
};

enum { DATA_DIR_NAME = 32 };

struct data_dir {
    int fd;               // the directory, held open because the lock is on it
    int db;               // those inside, held open so that they are the same
    int log;              // whatever becomes of their names
    bool locked;          // not where the file system cannot: there RocksDB has a lock of its own
    int format;           // what was found, 1 to 5; a new directory has 4 or 5
    struct keyring *keys; // of one that is encrypted, or NULL
};

// False (and error; in_use if that is the reason) if the directory cannot be made or read, belongs
// to something else, is of a newer format, is open in another process (or elsewhere in this one),
// or is encrypted under another key than the one that is given.
MUST_CHECK bool data_dir_open(struct data_dir *dir, const struct store_options *options,
                              struct store_error *error);
void data_dir_close(struct data_dir *dir);

// A path that leads to an open directory, and to no other, however often it is renamed or another
// one takes its name: for code that works with paths. False if the system has none (no /proc).
MUST_CHECK bool data_dir_path(int fd, char out[DATA_DIR_NAME]);

// Whether the path still leads to the directories that were opened.
bool data_dir_is_there(const struct data_dir *dir, const char *path);

// Whether there have ever been tables: CURRENT is there.
bool data_dir_has_tables(const struct data_dir *dir);

// Marks the directory as one of today's format.
MUST_CHECK bool data_dir_mark(struct data_dir *dir, const char *path, struct store_error *error);

// The keys of an open directory that is encrypted, or NULL; the caller wipes and frees them. False
// if it is, and they cannot be had.
MUST_CHECK bool data_dir_keys(int fd, const char *path, const struct crypt_key *master,
                              struct keyring **keys, struct store_error *error);
void data_dir_keys_free(struct keyring *keys);

// Says in the error that another process has the directory; always returns false.
bool data_dir_in_use(const char *path, struct store_error *error);

#endif
