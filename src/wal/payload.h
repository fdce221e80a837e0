// What a record of the log carries: a write batch as RocksDB writes it, or the same packed.
//
// An item and its copies in the indexes stand in one batch, one after the other, with the same
// bytes. A packed batch has them once: whoever fills the batch tells the packer of each value,
// which sees for itself what it has seen before.
#ifndef WAL_PAYLOAD_H
#define WAL_PAYLOAD_H

#include "base/attributes.h"
#include "base/buf.h"

enum { LOG_BATCH_MAX = 1 << 30 }; // bytes of a batch: more is a damaged record

// Bytes of the batch that repeat earlier ones of it.
struct log_copy {
    size_t at;
    size_t from;
    size_t length;
};

// Of one thread at a time.
struct log_packer {
    struct buf out;
    size_t count;
    size_t capacity;
    struct log_copy *copies;
    struct slice last; // the last large value that was no copy, and
    size_t last_at;    // where it stands in the batch
};
void log_packer_init(struct log_packer *packer);
void log_packer_release(struct log_packer *packer);

// A new batch; then each of its values as it is added. A value stays where it is until log_pack,
// and has been appended to the batch, which is `end` bytes long now.
void log_packer_begin(struct log_packer *packer);
void log_packer_value(struct log_packer *packer, struct slice value, size_t end);
// The batch's payload: the batch itself, or bytes that are valid until the packer's next use.
struct slice log_pack(struct log_packer *packer, struct slice batch);

// The batch of a payload, in the same way. False if it is no payload.
MUST_CHECK bool log_unpack(struct log_packer *packer, struct slice payload, struct slice *batch);

#endif
