// Reading one table file by itself, or tables that may have the same records twice, which
// RocksDB's C API (7.8) lacks.
#include <cstdio>
#include <memory>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/utilities/debug.h>

#include "rocks/extras.h"

namespace
{

// Files of its own for each table that is read by itself.
struct table_files {
    explicit table_files(const struct keyring *keys) : files(rocks_files_new(keys))
    {
        if (files != nullptr)
            rocks_read_patiently(&options, files);
    }

    ~table_files()
    {
        rocks_files_free(files);
    }

    table_files(const table_files &) = delete;
    table_files &operator=(const table_files &) = delete;

    struct rocks_files *files;
    rocksdb_options_t options;
};

} // namespace

struct rocks_table {
    explicit rocks_table(const struct keyring *keys) : files(keys), reader(files.options.rep)
    {
    }

    table_files files; // outlive the reader
    rocksdb::SstFileReader reader;
};

// Every block of it against its checksum. False with what is wrong.
bool rocks_table_check(const char *path, const struct keyring *keys, char *text, size_t size)
{
    struct rocks_table table(keys);
    rocksdb::ReadOptions read;
    read.fill_cache = false;
    read.readahead_size = 1 << 20;
    rocksdb::Status status = table.reader.Open(path);
    if (status.ok())
        status = table.reader.VerifyChecksum(read);
    if (!status.ok())
        (void)std::snprintf(text, size, "%s", status.ToString().c_str());
    return status.ok();
}

// Only what a start reads of it: what RocksDB reads when it opens it, and the first block, where
// the store's own note stands. (A footer of another version than the file's own opens, too: it is
// the first block that cannot be read then.) False with what is wrong.
bool rocks_table_opens(const char *path, const struct keyring *keys, char *text, size_t size)
{
    struct rocks_table table(keys);
    rocksdb::Status status = table.reader.Open(path);
    if (status.ok()) {
        std::unique_ptr<rocksdb::Iterator> first(table.reader.NewIterator(rocksdb::ReadOptions()));
        first->SeekToFirst();
        status = first->status();
    }
    if (!status.ok())
        (void)std::snprintf(text, size, "%s", status.ToString().c_str());
    return status.ok();
}

// NULL if nothing of it can be read.
struct rocks_table *rocks_table_open(const char *path, const struct keyring *keys)
{
    auto *table = new rocks_table(keys);
    if (table->reader.Open(path).ok())
        return table;
    delete table;
    return nullptr;
}

// The newest value of each key; iterators go before the table.
rocksdb_iterator_t *rocks_table_iterator(void *table)
{
    rocksdb::ReadOptions read;
    read.fill_cache = false;
    return new rocksdb_iterator_t{static_cast<rocks_table *>(table)->reader.NewIterator(read)};
}

void rocks_table_close(struct rocks_table *table)
{
    delete table;
}

// Which table it was when it was made, in words: database, session, number. Two files of one origin
// are copies of each other.
// False if it does not say.
bool rocks_table_origin(const char *path, const struct keyring *keys, char *out, size_t size)
{
    struct rocks_table table(keys);
    if (!table.reader.Open(path).ok())
        return false;
    auto properties = table.reader.GetTableProperties();
    int length = std::snprintf(out, size, "%s %s %llu", properties->db_id.c_str(),
                               properties->db_session_id.c_str(),
                               static_cast<unsigned long long>(properties->orig_file_number));
    return !properties->db_session_id.empty() && static_cast<size_t>(length) < size;
}

namespace
{

// The newest version of each key, forwards only. RocksDB's own iterator ends the process where two
// tables have the same record, as those do that were merged and the one that they were merged into.
// Deleted ranges are not looked at.
class newest_iterator : public rocksdb::Iterator
{
  public:
    explicit newest_iterator(rocksdb::DB *db) : db_(db)
    {
    }

    bool Valid() const override
    {
        return at_ < versions_.size();
    }

    void SeekToFirst() override
    {
        Seek(rocksdb::Slice());
    }

    void Seek(const rocksdb::Slice &target) override
    {
        load(target.ToString());
        settle();
    }

    void Next() override
    {
        skip_key();
        settle();
    }

    rocksdb::Slice key() const override
    {
        return versions_[at_].user_key;
    }

    rocksdb::Slice value() const override
    {
        return versions_[at_].value;
    }

    rocksdb::Status status() const override
    {
        return status_;
    }

    void SeekToLast() override
    {
        refuse();
    }

    void SeekForPrev(const rocksdb::Slice &) override
    {
        refuse();
    }

    void Prev() override
    {
        refuse();
    }

  private:
    enum { PIECE = 64, A_VALUE = 1 };

    void refuse()
    {
        versions_.clear();
        status_ = rocksdb::Status::NotSupported("only forwards");
    }

    // The versions of the keys from `begin` on. A piece may end between those of one key.
    void load(const std::string &begin)
    {
        versions_.clear();
        at_ = 0;
        status_ = rocksdb::GetAllKeyVersions(db_, db_->DefaultColumnFamily(), begin,
                                             rocksdb::Slice(), PIECE, &versions_);
        if (!status_.ok())
            versions_.clear();
    }

    // To the next key.
    void skip_key()
    {
        std::string key = versions_[at_].user_key;
        while (at_ < versions_.size() && versions_[at_].user_key == key)
            at_++;
        if (at_ == versions_.size())
            load(key + '\0');
    }

    // To the next key whose newest version is a value.
    void settle()
    {
        while (Valid() && versions_[at_].type != A_VALUE)
            skip_key();
    }

    rocksdb::DB *db_;
    std::vector<rocksdb::KeyVersion> versions_;
    size_t at_ = 0;
    rocksdb::Status status_;
};

} // namespace

rocksdb_iterator_t *rocks_newest_iterator(rocksdb_t *db)
{
    return new rocksdb_iterator_t{new newest_iterator(db->rep)};
}
