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
extern "C" struct rocks_table *rocks_table_open(const char *path);
extern "C" struct rocksdb_iterator_t *rocks_table_iterator(void *table);
extern "C" void rocks_table_close(struct rocks_table *table);
extern "C" bool rocks_table_origin(const char *path, char *out, size_t size);

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

// NULL if nothing of it can be read.
extern "C" struct rocks_table *rocks_table_open(const char *path)
{
    auto *table = new rocks_table;
    if (table->reader.Open(path).ok())
        return table;
    delete table;
    return nullptr;
}

// The newest value of each key; iterators go before the table.
extern "C" struct rocksdb_iterator_t *rocks_table_iterator(void *table)
{
    rocksdb::ReadOptions read;
    read.fill_cache = false;
    return new rocksdb_iterator_t{static_cast<rocks_table *>(table)->reader.NewIterator(read)};
}

extern "C" void rocks_table_close(struct rocks_table *table)
{
    delete table;
}

// Which table it was when it was made, in words: two files of one origin are copies of each other.
// False if it does not say.
extern "C" bool rocks_table_origin(const char *path, char *out, size_t size)
{
    rocksdb::SstFileReader reader{rocksdb::Options()};
    if (!reader.Open(path).ok())
        return false;
    auto properties = reader.GetTableProperties();
    int length = std::snprintf(out, size, "%s %llu", properties->db_session_id.c_str(),
                               static_cast<unsigned long long>(properties->orig_file_number));
    return !properties->db_session_id.empty() && static_cast<size_t>(length) < size;
}
