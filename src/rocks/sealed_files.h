// A file system for RocksDB in which every file is sealed (sealed_io.h), but for how tables are
// read, which is files.cc's.
#ifndef ROCKS_SEALED_FILES_H
#define ROCKS_SEALED_FILES_H

#include "rocks/sealed_io.h"

#ifdef __cplusplus
#include <memory>
#include <rocksdb/file_system.h>

// On top of the system's own. The keys are borrowed.
std::shared_ptr<rocksdb::FileSystem> rocks_sealed_files(const struct keyring *keys);
#endif

#endif
