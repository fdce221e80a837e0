// See sealed_files.h. What is appended is sealed and written at once, except for the last page of a
// table, which is written when the table is synced or closed: that is its end. Of what RocksDB does
// nowhere in our use (writing into the middle of a file, going on with an old one) nothing is
// passed on.
#include "rocks/sealed_files.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace
{

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

bool is_table(const std::string &name)
{
    auto ends = [&name](const char *end) {
        size_t length = std::strlen(end);
        return name.size() > length && name.compare(name.size() - length, length, end) == 0;
    };
    return ends(".sst") || ends(".sst.new");
}

IOStatus not_ours()
{
    return IOStatus::NotSupported("not in an encrypted directory");
}

class sealed_writable : public rocksdb::FSWritableFileOwnerWrapper
{
  public:
    sealed_writable(std::unique_ptr<rocksdb::FSWritableFile> &&file, const struct keyring *keys,
                    bool table)
        : rocksdb::FSWritableFileOwnerWrapper(std::move(file)), table_(table),
          writer_(sealed_writer_new(keys, table))
    {
    }

    ~sealed_writable() override
    {
        sealed_writer_free(writer_);
    }

    sealed_writable(const sealed_writable &) = delete;
    sealed_writable &operator=(const sealed_writable &) = delete;

    IOStatus Append(const rocksdb::Slice &bytes, const IOOptions &options,
                    IODebugContext *context) override
    {
        if (failed_ || !sealed_writer_add(writer_, bytes.data(), bytes.size()))
            return IOStatus::IOError("an encrypted file cannot be written any more");
        plain_ += bytes.size();
        return write(options, context);
    }

    IOStatus Append(const rocksdb::Slice &bytes, const IOOptions &options,
                    const rocksdb::DataVerificationInfo &check, IODebugContext *context) override
    {
        (void)check; // is about the plain bytes
        return Append(bytes, options, context);
    }

    IOStatus PositionedAppend(const rocksdb::Slice &bytes, uint64_t offset,
                              const IOOptions &options, IODebugContext *context) override
    {
        (void)bytes;
        (void)offset;
        (void)options;
        (void)context;
        return not_ours();
    }

    IOStatus PositionedAppend(const rocksdb::Slice &bytes, uint64_t offset,
                              const IOOptions &options,
                              const rocksdb::DataVerificationInfo &check,
                              IODebugContext *context) override
    {
        (void)check;
        return PositionedAppend(bytes, offset, options, context);
    }

    IOStatus Truncate(uint64_t size, const IOOptions &options, IODebugContext *context) override
    {
        (void)size;
        (void)options;
        (void)context;
        return not_ours();
    }

    IOStatus Sync(const IOOptions &options, IODebugContext *context) override
    {
        IOStatus status = end(options, context);
        return status.ok() ? FSWritableFileOwnerWrapper::Sync(options, context) : status;
    }

    IOStatus Fsync(const IOOptions &options, IODebugContext *context) override
    {
        IOStatus status = end(options, context);
        return status.ok() ? FSWritableFileOwnerWrapper::Fsync(options, context) : status;
    }

    IOStatus Close(const IOOptions &options, IODebugContext *context) override
    {
        IOStatus status = failed_ ? IOStatus::OK() : end(options, context);
        IOStatus closed = FSWritableFileOwnerWrapper::Close(options, context);
        return status.ok() ? closed : status;
    }

    IOStatus RangeSync(uint64_t offset, uint64_t size, const IOOptions &options,
                       IODebugContext *context) override
    {
        uint64_t from = table_ ? sealed_table_place(offset) : offset;
        uint64_t to = table_ ? sealed_table_place(offset + size) : offset + size;
        return FSWritableFileOwnerWrapper::RangeSync(from, to - from, options, context);
    }

    uint64_t GetFileSize(const IOOptions &options, IODebugContext *context) override
    {
        (void)options;
        (void)context;
        return plain_;
    }

  private:
    IOStatus end(const IOOptions &options, IODebugContext *context)
    {
        sealed_writer_end(writer_);
        return write(options, context);
    }

    // What was not written leaves a gap, so that nothing may come behind it.
    IOStatus write(const IOOptions &options, IODebugContext *context)
    {
        size_t size = 0;
        const void *bytes = sealed_writer_take(writer_, &size);
        if (size == 0)
            return IOStatus::OK();
        IOStatus status = FSWritableFileOwnerWrapper::Append(
            rocksdb::Slice(static_cast<const char *>(bytes), size), options, context);
        failed_ = failed_ || !status.ok();
        return status;
    }

    bool table_;
    bool failed_ = false;
    uint64_t plain_ = 0;
    struct sealed_writer *writer_;
};

// A file of frames, read whole. Where it is damaged it ends with an error.
class sealed_sequential : public rocksdb::FSSequentialFile
{
  public:
    sealed_sequential(void *content, size_t size, bool all, std::string name)
        : content_(static_cast<char *>(content)), size_(size), all_(all), name_(std::move(name))
    {
    }

    ~sealed_sequential() override
    {
        std::free(content_);
    }

    sealed_sequential(const sealed_sequential &) = delete;
    sealed_sequential &operator=(const sealed_sequential &) = delete;

    IOStatus Read(size_t size, const IOOptions &options, rocksdb::Slice *result, char *scratch,
                  IODebugContext *context) override
    {
        (void)options;
        (void)context;
        size_t left = size_ - at_;
        if (left == 0 && !all_)
            return IOStatus::Corruption("While reading " + name_, "it is not what was written");
        size_t take = size < left ? size : left;
        std::memcpy(scratch, content_ + at_, take);
        *result = rocksdb::Slice(scratch, take);
        at_ += take;
        return IOStatus::OK();
    }

    IOStatus Skip(uint64_t size) override
    {
        at_ = size < size_ - at_ ? at_ + static_cast<size_t>(size) : size_;
        return IOStatus::OK();
    }

  private:
    char *content_;
    size_t size_;
    size_t at_ = 0;
    bool all_;
    std::string name_;
};

// The same, read in any order: RocksDB opens CURRENT so, to see whether it can.
class sealed_random : public rocksdb::FSRandomAccessFile
{
  public:
    sealed_random(void *content, size_t size)
        : content_(static_cast<char *>(content)), size_(size)
    {
    }

    ~sealed_random() override
    {
        std::free(content_);
    }

    sealed_random(const sealed_random &) = delete;
    sealed_random &operator=(const sealed_random &) = delete;

    IOStatus Read(uint64_t offset, size_t size, const IOOptions &options, rocksdb::Slice *result,
                  char *scratch, IODebugContext *context) const override
    {
        (void)options;
        (void)context;
        size_t left = offset < size_ ? size_ - static_cast<size_t>(offset) : 0;
        size_t take = size < left ? size : left;
        if (take > 0)
            std::memcpy(scratch, content_ + offset, take);
        *result = rocksdb::Slice(scratch, take);
        return IOStatus::OK();
    }

  private:
    char *content_;
    size_t size_;
};

class sealed_files : public rocksdb::FileSystemWrapper
{
  public:
    explicit sealed_files(const struct keyring *keys)
        : rocksdb::FileSystemWrapper(rocksdb::FileSystem::Default()), keys_(keys)
    {
    }

    const char *Name() const override
    {
        return "sealed";
    }

    IOStatus NewWritableFile(const std::string &name, const rocksdb::FileOptions &options,
                             std::unique_ptr<rocksdb::FSWritableFile> *result,
                             IODebugContext *context) override
    {
        rocksdb::FileOptions plain = options;
        plain.use_direct_writes = false;
        plain.use_mmap_writes = false;
        IOStatus status = target()->NewWritableFile(name, plain, result, context);
        if (status.ok())
            *result = std::make_unique<sealed_writable>(std::move(*result), keys_, is_table(name));
        return status;
    }

    IOStatus NewSequentialFile(const std::string &name, const rocksdb::FileOptions &options,
                               std::unique_ptr<rocksdb::FSSequentialFile> *result,
                               IODebugContext *context) override
    {
        size_t size = 0;
        bool all = false;
        void *content = sealed_content(keys_, name.c_str(), &size, &all);
        if (content == nullptr && errno == ENOENT) // RocksDB words its own failures
            return target()->NewSequentialFile(name, options, result, context);
        if (content == nullptr)
            return IOStatus::IOError("While reading " + name, std::strerror(errno));
        *result = std::make_unique<sealed_sequential>(content, size, all, name);
        return IOStatus::OK();
    }

    IOStatus GetFileSize(const std::string &name, const IOOptions &options, uint64_t *size,
                         IODebugContext *context) override
    {
        IOStatus status = target()->GetFileSize(name, options, size, context);
        if (!status.ok())
            return status;
        size_t content = 0;
        bool all = true;
        if (is_table(name)) {
            *size = sealed_table_size(*size);
            all = *size != UINT64_MAX;
        } else {
            std::free(sealed_content(keys_, name.c_str(), &content, &all));
            *size = content;
        }
        return all ? status
                   : IOStatus::Corruption("While looking at " + name, "it is not what was written");
    }

    IOStatus NewRandomAccessFile(const std::string &name, const rocksdb::FileOptions &options,
                                 std::unique_ptr<rocksdb::FSRandomAccessFile> *result,
                                 IODebugContext *context) override
    {
        size_t size = 0;
        bool all = false;
        void *content = is_table(name) ? nullptr : sealed_content(keys_, name.c_str(), &size, &all);
        if (content != nullptr && all) {
            *result = std::make_unique<sealed_random>(content, size);
            return IOStatus::OK();
        }
        std::free(content);
        // Only to hear why it cannot be opened: never to be read as it is.
        IOStatus status = target()->NewRandomAccessFile(name, options, result, context);
        result->reset();
        return status.ok() ? IOStatus::Corruption("While opening " + name,
                                                  "it is not what was written")
                           : status;
    }

    IOStatus ReopenWritableFile(const std::string &name, const rocksdb::FileOptions &options,
                                std::unique_ptr<rocksdb::FSWritableFile> *result,
                                IODebugContext *context) override
    {
        (void)name;
        (void)options;
        (void)result;
        (void)context;
        return not_ours();
    }

    IOStatus ReuseWritableFile(const std::string &name, const std::string &old,
                               const rocksdb::FileOptions &options,
                               std::unique_ptr<rocksdb::FSWritableFile> *result,
                               IODebugContext *context) override
    {
        (void)old;
        return ReopenWritableFile(name, options, result, context);
    }

    IOStatus NewRandomRWFile(const std::string &name, const rocksdb::FileOptions &options,
                             std::unique_ptr<rocksdb::FSRandomRWFile> *result,
                             IODebugContext *context) override
    {
        (void)name;
        (void)options;
        (void)result;
        (void)context;
        return not_ours();
    }

  private:
    const struct keyring *keys_;
};

} // namespace

std::shared_ptr<rocksdb::FileSystem> rocks_sealed_files(const struct keyring *keys)
{
    return std::make_shared<sealed_files>(keys);
}
