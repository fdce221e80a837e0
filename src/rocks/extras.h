// What RocksDB's C API (7.8) lacks and we need, for the C of this room and of salvage. The C
// handles are structs around C++ objects; their layout is repeated here, which is safe because
// RocksDB is linked statically: header and library are of one build.
#ifndef ROCKS_EXTRAS_H
#define ROCKS_EXTRAS_H

#include <rocksdb/c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <rocksdb/db.h>
#include <rocksdb/table.h>

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
extern "C" {
#endif

// ---- Settings (extras.cc, memtable.cc, files.cc) ----

void rocks_set_rest(rocksdb_options_t *options);
void rocks_give_up(rocksdb_options_t *options);
void rocks_close_as_it_is(rocksdb_options_t *options);
void rocks_pin_metadata(rocksdb_block_based_table_options_t *options, bool all);
void rocks_flush_at_once(rocksdb_flushoptions_t *options);
void rocks_use_our_memtable(rocksdb_options_t *options);
// The files of a directory that is encrypted, read and written; NULL if it is not. The keys are
// borrowed. Everything that uses them must be closed before they are freed.
struct keyring;
struct rocks_files;
struct rocks_files *rocks_files_new(const struct keyring *keys);
void rocks_files_free(struct rocks_files *files);
void rocks_read_patiently(rocksdb_options_t *options, struct rocks_files *files);

// Whether so many bytes of a table, behind others of it, may be written.
typedef bool (*rocks_ask_room)(void *context, uint64_t written, size_t bytes, bool merging);
void rocks_watch_tables(rocksdb_options_t *options, void (*before_flush)(void *context),
                        rocks_ask_room room, void *context);
// From now on this thread asks for room for the tables below the path; and no longer.
void rocks_room_begin(rocks_ask_room ask, void *context, bool merging, const char *path);
void rocks_room_end(void);

// ---- An open database (extras.cc) ----

bool rocks_resume(rocksdb_t *db, char *text, size_t size);
bool rocks_session(rocksdb_t *db, char *out, size_t size);
void rocks_set_pace(rocksdb_t *db, int64_t bytes_per_second);
void rocks_tell_damage(rocksdb_t *db, void (*damaged)(void *context, const char *text),
                       void *context);
void rocks_discard_files(rocksdb_t *db, const char *lower, size_t lower_len, const char *upper,
                         size_t upper_len);
bool rocks_iterator_paused(const rocksdb_iterator_t *iterator);
void rocks_iterator_resume(rocksdb_iterator_t *iterator, bool backwards);
uint32_t rocks_crc32c(const void *bytes, size_t length);

// ---- Table files by themselves (table_reader.cc) ----

struct rocks_table;

// Every block of it against its checksum, or only whether it opens. False with what is wrong.
bool rocks_table_check(const char *path, const struct keyring *keys, char *text, size_t size);
bool rocks_table_opens(const char *path, const struct keyring *keys, char *text, size_t size);
// Who made it, in words that no other table has: database, session and number; false if it does not
// say.
bool rocks_table_origin(const char *path, const struct keyring *keys, char *out, size_t size);
struct rocks_table *rocks_table_open(const char *path, const struct keyring *keys);
rocksdb_iterator_t *rocks_table_iterator(void *table);
void rocks_table_close(struct rocks_table *table);
// Over a database whose tables may have the same records twice.
rocksdb_iterator_t *rocks_newest_iterator(rocksdb_t *db);

#ifdef __cplusplus
}
#endif

#endif
