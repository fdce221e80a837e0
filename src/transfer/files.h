// Directories that stand for buckets: keys are paths below them.
#ifndef TRANSFER_FILES_H
#define TRANSFER_FILES_H

#include "base/buf.h"
#include "base/error.h"

struct file_entry {
    struct slice key; // the path below the root, with a NUL behind it
    uint64_t size;
};

// In a bucket links are passed over: they might lead out of it. Who names a directory on the
// command line may have them followed.
enum files_links { FILES_NO_LINKS, FILES_FOLLOW_LINKS };

// All regular files below `root` whose key begins with `prefix`, sorted by key; names that begin
// with a dot are passed over. A link to a file counts as the file if links are followed; those to
// directories never are. The entries are in the arena. False with the reason; a root that is
// not there is ERR_RESOURCE_NOT_FOUND.
MUST_CHECK bool files_list(const char *root, struct slice prefix, enum files_links links,
                           struct arena *arena, struct file_entry **out, size_t *count,
                           struct error *error);

// Makes a directory and those above it, as far as they are missing.
MUST_CHECK bool files_make_directory(const char *path, struct error *error);

// Writes a whole file, which is there completely or not at all, and on disk.
MUST_CHECK bool files_write(const char *path, struct slice bytes, struct error *error);
// Reads one of at most `out->max` bytes; *there tells whether it exists.
MUST_CHECK bool files_read(const char *path, struct buf *out, bool *there, struct error *error);

// Whether a key stays below its root: no empty, "." or ".." step, no NUL.
bool files_key_safe(struct slice key);

// Opens a file below the root to read it, without following a link anywhere below: whoever can put
// one there cannot have files from elsewhere read. -1 with the reason.
MUST_CHECK int files_open(const char *root, struct slice key, struct error *error);

// "root/key" in the arena, or NULL.
MUST_CHECK char *files_path(struct arena *arena, const char *root, struct slice key);

#endif
