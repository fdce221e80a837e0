// What RocksDB's C API (7.8) lacks and we need: resuming a database that stopped taking writes
// because its disk failed it, a flush that does not wait for compactions, a logger that writes
// no file, pinned filters, where an iterator gave up, and tables that are merged for what was
// deleted in them. (Debian's RocksDB checks its assertions: after its own log file
// could not be written, the next message would end the process.)
//
// The C handles are structs around the C++ objects; their layout is repeated here, which is safe
// because RocksDB is linked statically: header and library are of one build.
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>

#include "base/log.h"

struct rocksdb_t {
    rocksdb::DB *rep;
};

struct rocksdb_options_t {
    rocksdb::Options rep;
};

struct rocksdb_iterator_t {
    rocksdb::Iterator *rep;
};

struct rocksdb_flushoptions_t {
    rocksdb::FlushOptions rep;
};

struct rocksdb_block_based_table_options_t {
    rocksdb::BlockBasedTableOptions rep;
};

extern "C" bool rocks_resume(struct rocksdb_t *db, char *text, size_t size);
extern "C" void rocks_log_to_us(struct rocksdb_options_t *options);
extern "C" void rocks_errors_can_be_resumed(struct rocksdb_options_t *options);
extern "C" void rocks_tell_damage(struct rocksdb_t *db,
                                  void (*damaged)(void *context, const char *text), void *context);
extern "C" void rocks_flush_at_once(struct rocksdb_flushoptions_t *options);
extern "C" void rocks_pin_metadata(struct rocksdb_block_based_table_options_t *options);
extern "C" void rocks_compact_deletions(struct rocksdb_options_t *options);
extern "C" bool rocks_iterator_paused(const struct rocksdb_iterator_t *iterator);
extern "C" void rocks_iterator_resume(struct rocksdb_iterator_t *iterator, bool backwards);
extern "C" void rocks_discard_files(struct rocksdb_t *db, const char *lower, size_t lower_len,
                                    const char *upper, size_t upper_len);

extern "C" bool rocks_resume(struct rocksdb_t *db, char *text, size_t size)
{
    rocksdb::Status status = db->rep->Resume();
    if (!status.ok())
        (void)std::snprintf(text, size, "%s", status.ToString().c_str());
    return status.ok();
}

namespace
{

// Errors go to our log; the rest is for RocksDB's developers.
class our_logger : public rocksdb::Logger
{
  public:
    our_logger() : rocksdb::Logger(rocksdb::InfoLogLevel::ERROR_LEVEL)
    {
    }

    using rocksdb::Logger::Logv;

    void Logv(const rocksdb::InfoLogLevel level, const char *format, va_list args) override
    {
        if (level < rocksdb::InfoLogLevel::ERROR_LEVEL ||
            level >= rocksdb::InfoLogLevel::HEADER_LEVEL)
            return;
        char text[512];
        (void)std::vsnprintf(text, sizeof(text), format, args);
        // Damage is told by who meets it (background_errors), and RocksDB meets it every second.
        if (std::strstr(text, "Corruption") != nullptr)
            return;
        log_line(LOG_WARN, "rocksdb: %s", text);
    }

    void Logv(const char *format, va_list args) override
    {
        (void)format;
        (void)args;
    }
};

// An I/O error while a table is written stops all writes. RocksDB calls it fatal, which cannot be
// resumed from, because with a log of its own nobody would know what that log is worth. Ours is
// separate and knows; the memtable that could not be written is still there, and so are the tables
// that were being merged. So the error is one that stops writes until rocks_resume.
//
// A compaction that meets a damaged block gives up and leaves its tables as they were: nothing is
// worse than before, so writes go on, and it is only told. RocksDB tries the compaction again after
// a second. Damage met by a flush is another matter: it is in memory, and stays fatal.
class background_errors : public rocksdb::EventListener
{
  public:
    void tell(void (*damaged)(void *context, const char *text), void *context)
    {
        context_ = context;
        damaged_.store(damaged);
    }

    void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status *error) override
    {
        if (reason == rocksdb::BackgroundErrorReason::kCompaction && error->IsCorruption()) {
            auto damaged = damaged_.load();
            if (damaged != nullptr)
                damaged(context_, ("compacting failed: " + error->ToString()).c_str());
            *error = rocksdb::Status::OK();
            return;
        }
        bool of_table = reason == rocksdb::BackgroundErrorReason::kFlush ||
                        reason == rocksdb::BackgroundErrorReason::kFlushNoWAL ||
                        reason == rocksdb::BackgroundErrorReason::kCompaction;
        if (of_table && error->IsIOError() &&
            error->severity() == rocksdb::Status::Severity::kFatalError)
            *error = rocksdb::Status(*error, rocksdb::Status::Severity::kHardError);
    }

  private:
    void *context_ = nullptr;
    std::atomic<void (*)(void *context, const char *text)> damaged_{nullptr};
};

// Marks a new table to be merged into the next level soon if much of it is deletions: of a range,
// or of half of all keys somewhere or on the whole. What comes out of that is judged again, so they
// sink to the last level, where they end with what they delete. Without it they would lie
// above it, passed over by every read, until so much is written that a level is full.
class deletions_want_compaction : public rocksdb::TablePropertiesCollector
{
  public:
    rocksdb::Status AddUserKey(const rocksdb::Slice &, const rocksdb::Slice &,
                               rocksdb::EntryType type, rocksdb::SequenceNumber, uint64_t) override
    {
        if (type == rocksdb::kEntryRangeDeletion) {
            wanted = true;
            return rocksdb::Status::OK();
        }
        bool deletion = type == rocksdb::kEntryDelete || type == rocksdb::kEntrySingleDelete;
        keys++;
        deletions += deletion;
        run_deletions += deletion;
        if (keys % RUN == 0) {
            wanted = wanted || run_deletions >= RUN / 2;
            run_deletions = 0;
        }
        return rocksdb::Status::OK();
    }

    rocksdb::Status Finish(rocksdb::UserCollectedProperties *) override
    {
        wanted = wanted || (deletions >= FEW && deletions >= keys / 2);
        return rocksdb::Status::OK();
    }

    bool NeedCompact() const override
    {
        return wanted;
    }

    rocksdb::UserCollectedProperties GetReadableProperties() const override
    {
        return {};
    }

    const char *Name() const override
    {
        return "deletions_want_compaction";
    }

  private:
    enum { RUN = 512, FEW = 64 };
    uint64_t keys = 0;
    uint64_t deletions = 0;
    uint64_t run_deletions = 0;
    bool wanted = false;
};

class deletions_want_compaction_factory : public rocksdb::TablePropertiesCollectorFactory
{
  public:
    rocksdb::TablePropertiesCollector *
    CreateTablePropertiesCollector(rocksdb::TablePropertiesCollectorFactory::Context) override
    {
        return new deletions_want_compaction();
    }

    const char *Name() const override
    {
        return "deletions_want_compaction";
    }
};

} // namespace

extern "C" void rocks_compact_deletions(struct rocksdb_options_t *options)
{
    options->rep.table_properties_collector_factories.push_back(
        std::make_shared<deletions_want_compaction_factory>());
}

// Whether an iterator gave up because it had to pass over too many deleted keys.
extern "C" bool rocks_iterator_paused(const struct rocksdb_iterator_t *iterator)
{
    return !iterator->rep->Valid() && iterator->rep->status().IsIncomplete();
}

// From the key at which it gave up.
extern "C" void rocks_iterator_resume(struct rocksdb_iterator_t *iterator, bool backwards)
{
    std::string place;
    if (!iterator->rep->GetProperty("rocksdb.iterator.internal-key", &place).ok())
        return;
    if (backwards)
        iterator->rep->SeekForPrev(place);
    else
        iterator->rep->Seek(place);
}

// Forgets the tables, below level 0, that lie within the range. That one cannot be is no failure.
extern "C" void rocks_discard_files(struct rocksdb_t *db, const char *lower, size_t lower_len,
                                    const char *upper, size_t upper_len)
{
    rocksdb::Slice begin(lower, lower_len);
    rocksdb::Slice end(upper, upper_len);
    rocksdb::Status status = rocksdb::DeleteFilesInRange(
        db->rep, db->rep->DefaultColumnFamily(), &begin, &end, false);
    if (!status.ok())
        log_line(LOG_WARN, "rocksdb: %s", status.ToString().c_str());
}

extern "C" void rocks_errors_can_be_resumed(struct rocksdb_options_t *options)
{
    options->rep.listeners.push_back(std::make_shared<background_errors>());
}

// Has damage that a compaction meets told. All listeners of our databases are of our class.
extern "C" void rocks_tell_damage(struct rocksdb_t *db,
                                  void (*damaged)(void *context, const char *text), void *context)
{
    for (const auto &listener : db->rep->GetOptions().listeners)
        std::static_pointer_cast<background_errors>(listener)->tell(damaged, context);
}

// A flush usually waits while there are many tables in level 0. The log cannot be cut until then,
// and a memtable that is full is flushed without asking anyway.
extern "C" void rocks_flush_at_once(struct rocksdb_flushoptions_t *options)
{
    options->rep.allow_write_stall = true;
}

extern "C" void rocks_log_to_us(struct rocksdb_options_t *options)
{
    options->rep.info_log = std::make_shared<our_logger>();
}

// The index and the filter of an open table stay where they are: a read need not look for them.
extern "C" void rocks_pin_metadata(struct rocksdb_block_based_table_options_t *options)
{
    options->rep.metadata_cache_options.top_level_index_pinning = rocksdb::PinningTier::kAll;
    options->rep.metadata_cache_options.partition_pinning = rocksdb::PinningTier::kAll;
    options->rep.metadata_cache_options.unpartitioned_pinning = rocksdb::PinningTier::kAll;
}
