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

// Up to `size` bytes; *got is 0 at the end only. False if the file cannot be read or is not what
// its compression says.
MUST_CHECK bool source_read(struct source *source, uint8_t *to, size_t size, size_t *got,
                            struct error *error);

// Bytes taken from the file so far: for progress and ProcessedSizeBytes.
uint64_t source_consumed(const struct source *source);

#endif
