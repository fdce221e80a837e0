// Directories that stand for buckets: keys are paths below them.
#ifndef TRANSFER_FILES_H
#define TRANSFER_FILES_H

#include "base/buf.h"
#include "base/error.h"

struct file_entry {
    struct slice key; // the path below the root, with a NUL behind it
    uint64_t size;
};

// All regular files below `root` whose key begins with `prefix`, sorted by key; names that begin
// with a dot are passed over. The entries are in the arena. False with the reason; a root that is
// not there is ERR_RESOURCE_NOT_FOUND.
MUST_CHECK bool files_list(const char *root, struct slice prefix, struct arena *arena,
                           struct file_entry **out, size_t *count, struct error *error);

// Makes a directory and those above it, as far as they are missing.
MUST_CHECK bool files_make_directory(const char *path, struct error *error);

// Writes a whole file, which is there completely or not at all, and on disk.
MUST_CHECK bool files_write(const char *path, struct slice bytes, struct error *error);
// Reads one of at most `out->max` bytes; *there tells whether it exists.
MUST_CHECK bool files_read(const char *path, struct buf *out, bool *there, struct error *error);

// Whether a key stays below its root: no empty, "." or ".." step, no NUL.
bool files_key_safe(struct slice key);

// "root/key" in the arena, or NULL.
MUST_CHECK char *files_path(struct arena *arena, const char *root, struct slice key);

#endif
