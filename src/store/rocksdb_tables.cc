// Reading one table file by itself, which RocksDB's C API (7.8) lacks.
#include <cstdio>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>

extern "C" bool rocks_table_check(const char *path, char *text, size_t size);

// Every block of it against its checksum. False with what is wrong.
extern "C" bool rocks_table_check(const char *path, char *text, size_t size)
{
    rocksdb::ReadOptions read;
    read.fill_cache = false;
    read.readahead_size = 1 << 20;
    rocksdb::SstFileReader reader{rocksdb::Options()};
    rocksdb::Status status = reader.Open(path);
    if (status.ok())
        status = reader.VerifyChecksum(read);
    if (!status.ok())
        (void)std::snprintf(text, size, "%s", status.ToString().c_str());
    return status.ok();
}
