// Looking at a data directory without changing it: a scratch directory beside it has links to its
// table files, which are never changed in place, and copies of the rest, which is small. That one
// can be opened, replayed and repaired; the original is only locked and read.
#ifndef SALVAGE_LOOK_H
#define SALVAGE_LOOK_H

#include "crypt/keyring.h"
#include "store/store.h"

#include <limits.h>

struct look {
    int fd;                         // of the original, which holds its lock
    int format;                     // of the original; 0 if FORMAT cannot be read
    char data[PATH_MAX];            // the original, from the root
    char scratch[PATH_MAX];         // a data directory like it
    const struct crypt_key *master; // as it was given
    struct keyring *keys;           // of a directory that is encrypted, or NULL
    struct rocks_files *files;      // what reads it then
};

// Makes a directory of a new name, which says of what it is unfinished, or (NULL) where temporary
// files go; and removes one with all that it holds.
MUST_CHECK bool look_scratch(const char *unfinished, char out[PATH_MAX], struct store_error *error);
void look_remove(const char *directory);

// Locks the directory and makes the scratch directory, of the name that is given or (NULL) where
// temporary files go. The master key is borrowed, and may be NULL. False with the reason, in_use if
// another process has it open.
MUST_CHECK bool look_open(struct look *look, const char *data, const char *scratch,
                          const struct crypt_key *master, struct store_error *error);
// Removes the scratch directory.
void look_close(struct look *look);

// About how many bytes the scratch directory and a new one, with all that the original has, take.
uint64_t look_room(const struct look *look);
// Copies what belongs to the database and is not in its store, if there is any: the files of
// buckets and of Kinesis streams.
MUST_CHECK bool look_copy_rest(const struct look *look, const char *to, struct store_error *error);

// The error's text with the original's name instead of the scratch directory's.
void look_translate(const struct look *look, struct store_error *error);

// Opens the scratch directory as a store that does not compact. NULL with the reason.
MUST_CHECK struct store *look_store(const struct look *look, struct store_error *error);

// Makes a new MANIFEST out of the table files that can be read, in the db directory of the scratch
// directory; those that cannot are set aside in db/lost.
MUST_CHECK bool look_rebuild(const struct look *look, struct store_error *error);
// Calls back with the path of each of those, until `visit` is false, which fails.
MUST_CHECK bool look_at_lost(const char *data, bool (*visit)(void *context, const char *path),
                             void *context, struct store_error *error);

#endif
