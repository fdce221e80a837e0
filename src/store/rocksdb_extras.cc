// What RocksDB's C API (7.8) lacks and we need: resuming a database that stopped taking writes
// because its disk was full, and a logger that writes no file. (Debian's RocksDB checks its
// assertions: after its own log file could not be written, the next message would end the process.)
//
// The C handles are structs around the C++ objects; their layout is repeated here, which is safe
// because RocksDB is linked statically: header and library are of one build.
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>

#include "base/log.h"

struct rocksdb_t {
    rocksdb::DB *rep;
};

struct rocksdb_options_t {
    rocksdb::Options rep;
};

extern "C" bool rocks_resume(struct rocksdb_t *db, char *text, size_t size);
extern "C" void rocks_log_to_us(struct rocksdb_options_t *options);

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
        log_line(LOG_WARN, "rocksdb: %s", text);
    }

    void Logv(const char *format, va_list args) override
    {
        (void)format;
        (void)args;
    }
};

} // namespace

extern "C" void rocks_log_to_us(struct rocksdb_options_t *options)
{
    options->rep.info_log = std::make_shared<our_logger>();
}
