// The one call that RocksDB's C API (7.8) lacks: DB::Resume, which brings a database back that
// stopped taking writes because its disk was full.
//
// The C handle is a struct around the C++ object; its layout is repeated here, which is safe
// because RocksDB is linked statically: header and library are of one build.
#include <cstdio>
#include <rocksdb/db.h>

struct rocksdb_t {
    rocksdb::DB *rep;
};

extern "C" bool rocks_resume(struct rocksdb_t *db, char *text, size_t size);

extern "C" bool rocks_resume(struct rocksdb_t *db, char *text, size_t size)
{
    rocksdb::Status status = db->rep->Resume();
    if (!status.ok())
        (void)std::snprintf(text, size, "%s", status.ToString().c_str());
    return status.ok();
}
