// How RocksDB reads its tables: with pread, as it would itself, except on a thread that must not
// wait for the disk (store_wait_for_disk). There a read takes what the kernel has in memory
// (RWF_NOWAIT) and otherwise fails at once as *cold*; whoever asked asks again on a thread that may
// wait. A read of the page cache is as cheap as before, and nobody has to guess which reads are not.
//
// To open a table is to wait, always.
//
// A file system that does not know RWF_NOWAIT is read as usual, waiting.
//
// And how it writes them: before each piece the store is asked for room. A flush is
// given the reserve or waits; merging gives up before it takes the room that the next flush needs.
//
// A table has another name until it is whole and closed, which is before it comes into the list of
// tables. So a start knows what was never finished, and removes it (judge.c).
//
// In a directory that is encrypted every file is sealed (sealed_files.h), and what is not cannot be
// read: nobody can put a plain file in the place of one.
#include <atomic>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <memory>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/options.h>
#include <string>
#include <sys/uio.h>
#include <unistd.h>

#include "rocks/extras.h"
#include "rocks/sealed_files.h"
#include "store/store.h"

namespace
{

// Who is asked for room for the tables that this thread makes.
struct room {
    bool (*ask)(void *context, uint64_t written, size_t bytes, bool merging);
    void *context;
    bool merging;
    std::string path; // of the store: tables elsewhere are not its
};

thread_local struct room table_room = {nullptr, nullptr, false, ""};
std::atomic<bool> nowait_works{true};

bool is_table(const std::string &name)
{
    return name.size() > 4 && name.compare(name.size() - 4, 4, ".sst") == 0;
}

// What a table is called until it is whole (ROCKS_UNFINISHED).
std::string unfinished(const std::string &name)
{
    return name + ".new";
}

// The driver knows it by these words (`fail` in driver.c).
rocksdb::IOStatus cold()
{
    return rocksdb::IOStatus::Busy("cold");
}

// As preadv does, without waiting on a thread that must not.
ssize_t read_parts(int fd, const struct iovec *parts, int count, off_t at)
{
    if (store_waits_for_disk() || !nowait_works.load(std::memory_order_relaxed))
        return preadv(fd, parts, count, at);
    ssize_t got = preadv2(fd, parts, count, at, RWF_NOWAIT);
    if (got >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL))
        return got;
    nowait_works.store(false, std::memory_order_relaxed);
    return preadv(fd, parts, count, at);
}

class table_file : public rocksdb::FSRandomAccessFile
{
  public:
    // Sealed if there is a `sealed`, which is its own from now on.
    table_file(int fd, std::string name, struct sealed_table *sealed)
        : fd_(fd), name_(std::move(name)), sealed_(sealed)
    {
    }

    ~table_file() override
    {
        sealed_table_free(sealed_);
        (void)close(fd_);
    }

    table_file(const table_file &) = delete;
    table_file &operator=(const table_file &) = delete;

    rocksdb::IOStatus Read(uint64_t offset, size_t size, const rocksdb::IOOptions &options,
                           rocksdb::Slice *result, char *scratch,
                           rocksdb::IODebugContext *context) const override
    {
        (void)options;
        (void)context;
        if (sealed_ != nullptr)
            return read_sealed(offset, size, result, scratch);
        size_t done = 0;
        while (done < size) {
            struct iovec part = {scratch + done, size - done};
            ssize_t got = read_parts(fd_, &part, 1, static_cast<off_t>(offset + done));
            if (got == 0)
                break;
            if (got > 0)
                done += static_cast<size_t>(got);
            else if (errno == EAGAIN)
                return cold();
            else if (errno != EINTR)
                return failed();
        }
        *result = rocksdb::Slice(scratch, done);
        return rocksdb::IOStatus::OK();
    }

    rocksdb::IOStatus Prefetch(uint64_t offset, size_t size, const rocksdb::IOOptions &options,
                               rocksdb::IODebugContext *context) override
    {
        (void)options;
        (void)context;
        (void)posix_fadvise(fd_, static_cast<off_t>(offset), static_cast<off_t>(size),
                            POSIX_FADV_WILLNEED);
        return rocksdb::IOStatus::OK();
    }

    void Hint(AccessPattern pattern) override
    {
        if (pattern == kRandom || pattern == kNormal)
            (void)posix_fadvise(fd_, 0, 0,
                                pattern == kRandom ? POSIX_FADV_RANDOM : POSIX_FADV_NORMAL);
    }

    rocksdb::IOStatus InvalidateCache(size_t offset, size_t size) override
    {
        (void)posix_fadvise(fd_, static_cast<off_t>(offset), static_cast<off_t>(size),
                            POSIX_FADV_DONTNEED);
        return rocksdb::IOStatus::OK();
    }

  private:
    rocksdb::IOStatus read_sealed(uint64_t offset, size_t size, rocksdb::Slice *result,
                                  char *scratch) const
    {
        ssize_t got = sealed_table_read(sealed_, offset, size, scratch, read_parts);
        if (got < 0 && errno == EAGAIN)
            return cold();
        if (got < 0 && errno == EBADMSG)
            return rocksdb::IOStatus::Corruption("While reading " + name_,
                                                 "a page is not what was written");
        if (got < 0)
            return failed();
        *result = rocksdb::Slice(scratch, static_cast<size_t>(got));
        return rocksdb::IOStatus::OK();
    }

    rocksdb::IOStatus failed() const
    {
        char text[128];
        return rocksdb::IOStatus::IOError("While reading " + name_,
                                          strerror_r(errno, text, sizeof(text)));
    }

    int fd_;
    std::string name_;
    struct sealed_table *sealed_;
};

class new_table : public rocksdb::FSWritableFileOwnerWrapper
{
  public:
    new_table(std::unique_ptr<rocksdb::FSWritableFile> &&file, const struct room &room,
              rocksdb::FileSystem *system, std::string name)
        : rocksdb::FSWritableFileOwnerWrapper(std::move(file)), room_(room), system_(system),
          name_(std::move(name))
    {
    }

    rocksdb::IOStatus Close(const rocksdb::IOOptions &options,
                            rocksdb::IODebugContext *context) override
    {
        rocksdb::IOStatus status = FSWritableFileOwnerWrapper::Close(options, context);
        if (!status.ok() || named_)
            return status;
        named_ = true;
        return system_->RenameFile(unfinished(name_), name_, options, context);
    }

    rocksdb::IOStatus Append(const rocksdb::Slice &bytes, const rocksdb::IOOptions &options,
                             rocksdb::IODebugContext *context) override
    {
        if (!has_room(bytes.size()))
            return no_room();
        return FSWritableFileOwnerWrapper::Append(bytes, options, context);
    }

    rocksdb::IOStatus Append(const rocksdb::Slice &bytes, const rocksdb::IOOptions &options,
                             const rocksdb::DataVerificationInfo &check,
                             rocksdb::IODebugContext *context) override
    {
        if (!has_room(bytes.size()))
            return no_room();
        return FSWritableFileOwnerWrapper::Append(bytes, options, check, context);
    }

  private:
    bool has_room(size_t bytes)
    {
        bool has = room_.ask == nullptr ||
                   room_.ask(room_.context, written_, bytes, room_.merging);
        written_ += bytes;
        return has;
    }

    static rocksdb::IOStatus no_room()
    {
        return rocksdb::IOStatus::NoSpace("No space left on device", "kept for what is in memory");
    }

    struct room room_;
    uint64_t written_ = 0;
    rocksdb::FileSystem *system_;
    std::string name_;
    bool named_ = false;
};

class our_files : public rocksdb::FileSystemWrapper
{
  public:
    explicit our_files(const std::shared_ptr<rocksdb::FileSystem> &below,
                       const struct keyring *keys)
        : rocksdb::FileSystemWrapper(below), keys_(keys)
    {
    }

    const char *Name() const override
    {
        return "dolmen";
    }

    rocksdb::IOStatus NewRandomAccessFile(const std::string &name,
                                          const rocksdb::FileOptions &options,
                                          std::unique_ptr<rocksdb::FSRandomAccessFile> *result,
                                          rocksdb::IODebugContext *context) override
    {
        // Opening a table reads it in several places, and RocksDB shrugs off failures of some: a
        // table without its properties would misread its index from then on.
        if (!store_waits_for_disk())
            return cold();
        if (keys_ != nullptr && !is_table(name))
            return target()->NewRandomAccessFile(name, options, result, context);
        int fd = open(name.c_str(), O_RDONLY | O_CLOEXEC);
        // RocksDB words its own failures; direct reads and mapped files are not ours.
        if (fd < 0 || options.use_mmap_reads || options.use_direct_reads) {
            if (fd >= 0)
                (void)close(fd);
            return target()->NewRandomAccessFile(name, options, result, context);
        }
        struct sealed_table *sealed = keys_ == nullptr ? nullptr : sealed_table_new(keys_, fd);
        if (keys_ != nullptr && sealed == nullptr) {
            (void)close(fd);
            return rocksdb::IOStatus::Corruption("While opening " + name,
                                                 "it is not a table of this directory's keys");
        }
        *result = std::make_unique<table_file>(fd, name, sealed);
        return rocksdb::IOStatus::OK();
    }

    // RocksDB tells the databases of a process apart by their names, which must be those of the
    // directories here, and not the way to them (paths.c).
    rocksdb::IOStatus LockFile(const std::string &name, const rocksdb::IOOptions &options,
                               rocksdb::FileLock **lock, rocksdb::IODebugContext *context) override
    {
        size_t slash = name.rfind('/');
        char directory[PATH_MAX];
        ssize_t length = slash == std::string::npos
                             ? -1
                             : readlink(name.substr(0, slash).c_str(), directory, sizeof(directory));
        if (length <= 0 || length == sizeof(directory))
            return target()->LockFile(name, options, lock, context);
        return target()->LockFile(std::string(directory, static_cast<size_t>(length)) +
                                      name.substr(slash),
                                  options, lock, context);
    }

    rocksdb::IOStatus NewWritableFile(const std::string &name, const rocksdb::FileOptions &options,
                                      std::unique_ptr<rocksdb::FSWritableFile> *result,
                                      rocksdb::IODebugContext *context) override
    {
        if (!is_table(name))
            return target()->NewWritableFile(name, options, result, context);
        struct room room = {nullptr, nullptr, false, ""};
        if (name.compare(0, table_room.path.size(), table_room.path) == 0)
            room = table_room;
        rocksdb::IOStatus status =
            target()->NewWritableFile(unfinished(name), options, result, context);
        if (status.ok())
            *result = std::make_unique<new_table>(std::move(*result), room, target(), name);
        return status;
    }

    rocksdb::IOStatus DeleteFile(const std::string &name, const rocksdb::IOOptions &options,
                                 rocksdb::IODebugContext *context) override
    {
        rocksdb::IOStatus status = target()->DeleteFile(name, options, context);
        if (is_table(name) && (status.IsNotFound() || status.IsPathNotFound()))
            status = target()->DeleteFile(unfinished(name), options, context);
        return status;
    }

  private:
    const struct keyring *keys_;
};

} // namespace

struct rocks_files {
    std::unique_ptr<rocksdb::Env> env;
};

struct rocks_files *rocks_files_new(const struct keyring *keys)
{
    if (keys == nullptr)
        return nullptr;
    auto sealed = rocks_sealed_files(keys);
    return new rocks_files{rocksdb::NewCompositeEnv(std::make_shared<our_files>(sealed, keys))};
}

void rocks_files_free(struct rocks_files *files)
{
    delete files;
}

void rocks_room_begin(rocks_ask_room ask, void *context, bool merging, const char *path)
{
    table_room = {ask, context, merging, std::string(path) + "/"};
}

// The thread goes on to tables of other stores, and this one may be gone by then.
void rocks_room_end(void)
{
    table_room.ask = nullptr;
}

// All stores of a process that are not encrypted share the environment, which is never freed.
// RocksDB's threads, which outlive a store, belong to the one below it.
void rocks_read_patiently(rocksdb_options_t *options, struct rocks_files *files)
{
    static rocksdb::Env *const env =
        rocksdb::NewCompositeEnv(
            std::make_shared<our_files>(rocksdb::FileSystem::Default(), nullptr))
            .release();
    options->rep.env = files == nullptr ? env : files->env.get();
}
