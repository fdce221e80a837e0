// Reading one table file by itself, which RocksDB's C API (7.8) lacks.
#include <cstdio>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>

// As RocksDB's C API has it.
struct rocksdb_iterator_t {
    rocksdb::Iterator *rep;
};

struct rocks_table {
    rocksdb::SstFileReader reader{rocksdb::Options()};
};

extern "C" bool rocks_table_check(const char *path, char *text, size_t size);
extern "C" struct rocks_table *rocks_table_open(const char *path, struct rocksdb_iterator_t **out);
extern "C" void rocks_table_close(struct rocks_table *table);

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

// The newest value of each of its keys, through an iterator that goes first. NULL if nothing of it
// can be read.
extern "C" struct rocks_table *rocks_table_open(const char *path, struct rocksdb_iterator_t **out)
{
    auto *table = new rocks_table;
    rocksdb::ReadOptions read;
    read.fill_cache = false;
    if (!table->reader.Open(path).ok()) {
        delete table;
        return nullptr;
    }
    *out = new rocksdb_iterator_t{table->reader.NewIterator(read)};
    return table;
}

extern "C" void rocks_table_close(struct rocks_table *table)
{
    delete table;
}
