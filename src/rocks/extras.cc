// What RocksDB's C API (7.8) lacks and we need: resuming a database that stopped taking writes
// because its disk failed it, a flush that does not wait for compactions, a logger that writes
// no file, a word before each table, its checksum, pinned filters, where an iterator gave up, and
// tables that are merged for what was deleted in them. (Debian's RocksDB checks its assertions: after its own log file
// could not be written, the next message would end the process.)
#include "rocks/extras.h"

#include <atomic>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/listener.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/options.h>
#include <rocksdb/table_properties.h>
#include <string>
#include <unistd.h>

#include "base/log.h"

namespace rocksdb
{
namespace crc32c
{
uint32_t Extend(uint32_t before, const char *bytes, size_t length); // util/crc32c.h
} // namespace crc32c
} // namespace rocksdb

bool rocks_resume(rocksdb_t *db, char *text, size_t size)
{
    rocksdb::Status status = db->rep->Resume();
    if (!status.ok())
        (void)std::snprintf(text, size, "resuming failed: %s", status.ToString().c_str());
    return status.ok();
}

namespace
{

// The text with the directories' own names in place of the way to them (paths.c).
std::string plain_paths(std::string text)
{
    const std::string way = "/proc/self/fd/";
    for (size_t at = 0; (at = text.find(way, at)) != std::string::npos;) {
        size_t end = text.find_first_not_of("0123456789", at + way.size());
        std::string link = text.substr(at, end == std::string::npos ? end : end - at);
        char name[PATH_MAX];
        ssize_t length = readlink(link.c_str(), name, sizeof(name));
        if (length > 0)
            text.replace(at, link.size(), name, static_cast<size_t>(length));
        at += length > 0 ? static_cast<size_t>(length) : link.size();
    }
    return text;
}

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
        text[std::strcspn(text, "\n")] = 0; // what is behind it is for them, too
        // Damage is told by who meets it (background_errors), and RocksDB meets it every second.
        if (std::strstr(text, "Corruption") != nullptr)
            return;
        log_line(LOG_WARN, "rocksdb: %s", plain_paths(text).c_str());
    }

    void Logv(const char *format, va_list args) override
    {
        (void)format;
        (void)args;
    }
};

// All listeners of our databases.
class our_listener : public rocksdb::EventListener
{
  public:
    virtual void tell(void (*damaged)(void *context, const char *text), void *context)
    {
        (void)damaged;
        (void)context;
    }
};

// An I/O error while a table is written stops all writes. RocksDB calls it fatal, which cannot be
// resumed from, because with a log of its own nobody would know what that log is worth. Ours is
// separate and knows; the memtable that could not be written is still there, and so are the tables
// that were being merged. So the error is one that stops writes until rocks_resume. The same is true
// of the list of tables: resuming begins a new one.
//
// A compaction that meets a damaged block gives up and leaves its tables as they were: nothing is
// worse than before, so writes go on, and it is only told. So does one that finds no room, and is
// not told: the disk's condition is. RocksDB tries the compaction again after a second. Damage met by a flush is another matter: it is in memory, and stays fatal.
class background_errors : public our_listener
{
  public:
    void tell(void (*damaged)(void *context, const char *text), void *context) override
    {
        context_ = context;
        damaged_.store(damaged);
    }

    void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status *error) override
    {
        if (reason == rocksdb::BackgroundErrorReason::kCompaction &&
            (error->IsCorruption() || error->IsNoSpace())) {
            auto damaged = damaged_.load();
            if (damaged != nullptr && error->IsCorruption())
                damaged(context_, ("compacting failed: " + error->ToString()).c_str());
            *error = rocksdb::Status::OK();
            return;
        }
        bool of_table = reason == rocksdb::BackgroundErrorReason::kFlush ||
                        reason == rocksdb::BackgroundErrorReason::kFlushNoWAL ||
                        reason == rocksdb::BackgroundErrorReason::kCompaction;
        bool of_list = reason == rocksdb::BackgroundErrorReason::kManifestWrite ||
                       reason == rocksdb::BackgroundErrorReason::kManifestWriteNoWAL;
        if ((of_table || of_list) && error->IsIOError() &&
            error->severity() == rocksdb::Status::Severity::kFatalError)
            *error = rocksdb::Status(*error, rocksdb::Status::Severity::kHardError);
    }

  private:
    void *context_ = nullptr;
    std::atomic<void (*)(void *context, const char *text)> damaged_{nullptr};
};

// Calls back before a memtable is written to a table, from the thread that writes it, and says who
// has room for what that thread, or one that merges tables, is about to write.
class table_watch : public our_listener
{
  public:
    table_watch(void (*before_flush)(void *), bool (*room)(void *, uint64_t, size_t, bool), void *context)
        : before_flush_(before_flush), room_(room), context_(context)
    {
    }

    void OnFlushBegin(rocksdb::DB *db, const rocksdb::FlushJobInfo &) override
    {
        rocks_room_begin(room_, context_, false, db->GetName().c_str());
        before_flush_(context_);
    }

    void OnCompactionBegin(rocksdb::DB *db, const rocksdb::CompactionJobInfo &) override
    {
        rocks_room_begin(room_, context_, true, db->GetName().c_str());
    }

    void OnFlushCompleted(rocksdb::DB *, const rocksdb::FlushJobInfo &) override
    {
        rocks_room_end();
    }

    void OnCompactionCompleted(rocksdb::DB *, const rocksdb::CompactionJobInfo &) override
    {
        rocks_room_end();
    }

  private:
    void (*before_flush_)(void *);
    bool (*room_)(void *, uint64_t, size_t, bool);
    void *context_;
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

void rocks_watch_tables(rocksdb_options_t *options, void (*before_flush)(void *context),
                        rocks_ask_room room, void *context)
{
    options->rep.listeners.push_back(std::make_shared<table_watch>(before_flush, room, context));
}

uint32_t rocks_crc32c(const void *bytes, size_t length)
{
    return rocksdb::crc32c::Extend(0, static_cast<const char *>(bytes), length);
}

// Tables are merged for what was deleted in them, each piece of a new one waits for the one before,
// errors can be resumed from, and what is told goes to our log.
void rocks_set_rest(rocksdb_options_t *options)
{
    options->rep.table_properties_collector_factories.push_back(
        std::make_shared<deletions_want_compaction_factory>());
    options->rep.strict_bytes_per_sync = true;
    options->rep.listeners.push_back(std::make_shared<background_errors>());
    options->rep.info_log = std::make_shared<our_logger>();
}

void rocks_set_pace(rocksdb_t *db, int64_t bytes_per_second)
{
    db->rep->GetDBOptions().rate_limiter->SetBytesPerSecond(bytes_per_second);
}

// Whether an iterator gave up because it had to pass over too many deleted keys.
bool rocks_iterator_paused(const rocksdb_iterator_t *iterator)
{
    return !iterator->rep->Valid() && iterator->rep->status().IsIncomplete();
}

// From the key at which it gave up.
void rocks_iterator_resume(rocksdb_iterator_t *iterator, bool backwards)
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
void rocks_discard_files(rocksdb_t *db, const char *lower, size_t lower_len,
                                    const char *upper, size_t upper_len)
{
    rocksdb::Slice begin(lower, lower_len);
    rocksdb::Slice end(upper, upper_len);
    rocksdb::Status status = rocksdb::DeleteFilesInRange(
        db->rep, db->rep->DefaultColumnFamily(), &begin, &end, false);
    if (!status.ok())
        log_line(LOG_WARN, "rocksdb: %s", status.ToString().c_str());
}

namespace
{

class impatience : public our_listener
{
  public:
    void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status,
                              bool *recover) override
    {
        *recover = false;
    }
};

} // namespace

// What finds no room fails. Otherwise RocksDB waits for some, and so does whoever flushes or closes
// the database: what is in memory is lost by closing, unless it was flushed before.
void rocks_give_up(rocksdb_options_t *options)
{
    options->rep.avoid_flush_during_shutdown = true;
    options->rep.listeners.push_back(std::make_shared<impatience>());
}

// Has damage that a compaction meets told.
void rocks_tell_damage(rocksdb_t *db,
                                  void (*damaged)(void *context, const char *text), void *context)
{
    for (const auto &listener : db->rep->GetOptions().listeners)
        std::static_pointer_cast<our_listener>(listener)->tell(damaged, context);
}

// A flush usually waits while there are many tables in level 0. The log cannot be cut until then,
// and a memtable that is full is flushed without asking anyway.
void rocks_flush_at_once(rocksdb_flushoptions_t *options)
{
    options->rep.allow_write_stall = true;
}

// Closing does not flush what is in memory: our log has it, and we have flushed if that was right.
void rocks_close_as_it_is(rocksdb_options_t *options)
{
    options->rep.avoid_flush_during_shutdown = true;
}

// What the tables call the time between opening and closing in which they were made.
bool rocks_session(rocksdb_t *db, char *out, size_t size)
{
    std::string session;
    if (!db->rep->GetDbSessionId(session).ok() || session.size() >= size)
        return false;
    (void)std::snprintf(out, size, "%s", session.c_str());
    return true;
}

// The index and the filter of an open table stay where they are: a read need not look for them.
// All of it, or only where the pieces are.
void rocks_pin_metadata(rocksdb_block_based_table_options_t *options, bool all)
{
    rocksdb::PinningTier tier = all ? rocksdb::PinningTier::kAll : rocksdb::PinningTier::kNone;
    options->rep.metadata_cache_options.top_level_index_pinning = rocksdb::PinningTier::kAll;
    options->rep.metadata_cache_options.partition_pinning = tier;
    options->rep.metadata_cache_options.unpartitioned_pinning = tier;
}
