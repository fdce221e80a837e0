// A file that is written, compressed on the way, with the digest and size of what reaches it.
//
// sink_cut() ends the gzip member or zstd frame: what was written so far is then a whole file of
// sink_size() bytes, at which a later run can go on. (Readers take several members in a row.)
#ifndef TRANSFER_SINK_H
#define TRANSFER_SINK_H

#include "base/error.h"
#include "transfer/format.h"

struct sink;

// Makes the file, or goes on behind its first `keep` bytes. NULL with the reason.
MUST_CHECK struct sink *sink_open(const char *path, enum transfer_compression compression,
                                  uint64_t keep, struct error *error);
// The same over a descriptor, which stays the caller's (standard output).
MUST_CHECK struct sink *sink_open_fd(int fd, enum transfer_compression compression,
                                     struct error *error);

MUST_CHECK bool sink_write(struct sink *sink, struct slice bytes, struct error *error);
MUST_CHECK bool sink_cut(struct sink *sink, struct error *error);
// Bytes of the file, after the last cut exactly.
uint64_t sink_size(const struct sink *sink);

// Ends the file, brings it to the disk and closes it; `md5` may be NULL (of what this sink wrote).
// The sink is gone, whether it worked or not.
MUST_CHECK bool sink_close(struct sink *sink, uint8_t md5[16], struct error *error);
// Gives it up.
void sink_free(struct sink *sink);

#endif
