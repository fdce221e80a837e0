// The bytes of a file, decompressed as they are read: gzip (several members in a row, too), zstd
// (several frames, too), or as they are. Memory is bounded whatever the file says.
#ifndef TRANSFER_SOURCE_H
#define TRANSFER_SOURCE_H

#include "base/error.h"
#include "transfer/format.h"

struct source;

// Opens a file; NULL with the reason. The caller frees it.
MUST_CHECK struct source *source_open(const char *path, enum transfer_compression compression,
                                      struct error *error);
// The same over a descriptor, which stays the caller's (standard input).
MUST_CHECK struct source *source_open_fd(int fd, enum transfer_compression compression,
                                         struct error *error);
void source_free(struct source *source);

// From now on `stop` is asked before each piece that is read or unpacked; if it says so, reading
// fails with ERR_UNAVAILABLE. For work that must be able to end at any time.
void source_ask(struct source *source, bool (*stop)(void *context), void *context);

// Up to `size` bytes; *got is 0 at the end only. False if the file is not what its compression says
// (ERR_VALIDATION: whoever gave it must mend it) or cannot be read (ERR_INTERNAL: the disk's
// fault).
MUST_CHECK bool source_read(struct source *source, uint8_t *to, size_t size, size_t *got,
                            struct error *error);

// Bytes taken from the file so far: for progress and ProcessedSizeBytes.
uint64_t source_consumed(const struct source *source);

#endif
