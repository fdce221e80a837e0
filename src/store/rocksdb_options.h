// The settings of RocksDB, apart from the code that uses it.
#ifndef STORE_ROCKSDB_OPTIONS_H
#define STORE_ROCKSDB_OPTIONS_H

#include "store/store.h"

#include <rocksdb/c.h>

// The caller frees it with rocksdb_options_destroy; an open database keeps what it needs.
MUST_CHECK rocksdb_options_t *rocks_options_new(const struct store_options *options);

#endif
