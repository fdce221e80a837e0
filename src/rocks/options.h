// The settings of RocksDB, apart from the code that uses it.
#ifndef ROCKS_OPTIONS_H
#define ROCKS_OPTIONS_H

#include "rocks/rocks.h"

#include <limits.h>
#include <rocksdb/c.h>

struct rocks_files;

enum {
    ROCKS_LEVELS = 7,
    ROCKS_MEMTABLES = 3, // that share the write buffers
    // When so many wait to be flushed, writes wait. The last is for deletes on a full disk, where
    // nothing can be flushed.
    ROCKS_MEMTABLES_MOST = 4,
    // Bytes a second of new tables: so that nobody feels them, and as fast as the disk takes them.
    ROCKS_PACE_EVEN = 96 << 20,
    ROCKS_PACE_FULL = INT_MAX,
};

// Bytes of one of them, after which the next is begun.
size_t rocks_memtable_bytes(const struct store_options *options);

// Bytes of log before a new segment is begun and what was applied is flushed. A restart replays at
// least one segment.
size_t rocks_segment_bytes(const struct store_options *options);

// The caller frees it with rocksdb_options_destroy; an open database keeps what it needs.
MUST_CHECK rocksdb_options_t *rocks_options_new(const struct store_options *options,
                                                struct rocks_files *files);

#endif
