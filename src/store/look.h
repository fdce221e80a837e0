// Looking at a data directory without changing it: a scratch directory beside it has links to its
// table files, which are never changed in place, and copies of the rest, which is small. That one
// can be opened, replayed and repaired; the original is only locked and read.
#ifndef STORE_LOOK_H
#define STORE_LOOK_H

#include "store/store.h"

#include <limits.h>

struct look {
    int fd;                 // of the original, which holds its lock
    char data[PATH_MAX];    // the original, from the root
    char scratch[PATH_MAX]; // a data directory like it
};

// Locks the directory and makes the scratch directory in `parent` (NULL: where temporary files go).
// False with the reason, in_use if another process has it open.
MUST_CHECK bool look_open(struct look *look, const char *data, const char *parent,
                          struct store_error *error);
// Removes the scratch directory.
void look_close(struct look *look);

// The error's text with the original's name instead of the scratch directory's.
void look_translate(const struct look *look, struct store_error *error);

// Opens the scratch directory as a store that does not compact. NULL with the reason.
MUST_CHECK struct store *look_store(const struct look *look, struct store_error *error);

// Reads every block of every table file in the db directory of a data directory and compares it
// with its checksum. Calls back for each file with its name and what is wrong (NULL if nothing is),
// until `visit` is false. False (and error) only if the directory cannot be read.
MUST_CHECK bool look_at_tables(const char *data,
                               bool (*visit)(void *context, const char *file, const char *fault),
                               void *context, struct store_error *error);

// Makes a new MANIFEST out of the table files that can be read, in the db directory of a data
// directory; those that cannot are set aside in db/lost.
MUST_CHECK bool look_rebuild(const char *data, struct store_error *error);

#endif
