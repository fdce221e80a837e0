// The bytes of objects: files that are written once, under names of their own, and never changed.
//
// A blob is DIR/data/ab/<id>. It is on disk, with its directory, before anything refers to it; what
// refers to it is in the metadata (meta.h). So a crash leaves blobs that nothing refers to, and the
// next start removes them; it never leaves a reference without its blob.
//
// A blob that nothing refers to any more is put into the trash, and its file is removed when no
// reader is left that may have found it before: readers pin the store from before they look up
// their object until they are done.
#ifndef OBJECTS_BLOB_H
#define OBJECTS_BLOB_H

#include "base/attributes.h"
#include "base/env.h"
#include "base/slice.h"

enum { BLOB_ID = 16, BLOB_NAME = 40 };

struct blob_id {
    uint8_t bytes[BLOB_ID];
};

struct blobs;

// The directory DIR/data and its 256 directories, made if they are missing. NULL with a sentence in
// `error`. With `relaxed` nothing is synced.
MUST_CHECK struct blobs *blobs_open(const char *directory, bool relaxed, struct env env,
                                    char *error, size_t error_size);
// Removes what is in the trash. Nobody uses the blobs any more.
void blobs_close(struct blobs *blobs);

// Removes each file that `known` does not know; how many. For the start, before anything is
// written. Stops, and answers -1, when `known` fails.
enum blob_known { BLOB_KNOWN, BLOB_ORPHAN, BLOB_UNSURE };
MUST_CHECK int64_t blobs_sweep(struct blobs *blobs,
                               enum blob_known (*known)(void *context, const struct blob_id *id),
                               void *context);

// A new blob to write to: its descriptor, or -1 with errno.
MUST_CHECK int blob_create(struct blobs *blobs, struct blob_id *id);
// What was written is on disk, and the file is closed, in any case. False with errno.
MUST_CHECK bool blob_seal(struct blobs *blobs, int fd, const struct blob_id *id);
// Nothing refers to it, nor ever has. The descriptor is closed unless it is -1.
void blob_drop(struct blobs *blobs, int fd, const struct blob_id *id);
// For reading, under a pin: its descriptor, or -1 with errno.
MUST_CHECK int blob_open(struct blobs *blobs, const struct blob_id *id);
// The same if no disk has to be waited for; else -1 with EAGAIN.
MUST_CHECK int blob_open_cached(struct blobs *blobs, const struct blob_id *id);
// Nothing refers to these any more, since a commit that has ended.
void blobs_trash(struct blobs *blobs, const struct blob_id *ids, size_t count);

// A reader; the struct is its own until it is unpinned.
struct blob_pin {
    struct blob_pin *before;
    struct blob_pin *after;
    uint64_t since;
};
void blob_pin(struct blobs *blobs, struct blob_pin *pin);
void blob_unpin(struct blobs *blobs, struct blob_pin *pin);

#endif
