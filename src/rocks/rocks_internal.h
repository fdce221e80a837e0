// What the files of the RocksDB driver share: driver.c reads and writes, background.c works beside
// that, open.c opens and closes, room.c minds the room on the disk.
#ifndef ROCKS_ROCKS_INTERNAL_H
#define ROCKS_ROCKS_INTERNAL_H

#include "base/buf.h"
#include "base/worker.h"
#include "rocks/data_dir.h"
#include "rocks/disk.h"
#include "rocks/extras.h"
#include "rocks/rocks.h"
#include "store/store_driver.h"
#include "wal/payload.h"
#include "wal/promise.h"
#include "wal/wal.h"

#include <limits.h>

enum { FLUSH_WAIT_MS = 10000 }; // longer than any flush takes

struct rocks_store {
    struct store base;
    struct data_dir dir;
    struct rocks_files *files; // how they are read and written, if they are encrypted
    struct disk disk;
    char path[PATH_MAX]; // as the user calls it, and as RocksDB and the log do (paths.c):
    char data_path[PATH_MAX];
    char db_path[PATH_MAX + 8];
    char log_path[PATH_MAX + 8];
    struct promise promise;
    enum store_durability durability;
    rocksdb_t *db;
    rocksdb_readoptions_t *read; // for reads without a snapshot; never changed
    rocksdb_writeoptions_t *write;
    rocksdb_flushoptions_t *flush;
    rocksdb_writebatch_t *scratch; // the committing thread's, as is
    struct log_packer packer;
    struct wal *wal;
    _Atomic uint64_t applied; // sequence of the last record that RocksDB has
    _Atomic uint64_t noted;   // what its tables say of that
    size_t segment_bytes;
    size_t rotate_at;           // segment size at which the next rotation is tried
    size_t unseen;              // bytes that were committed since the disk was looked at
    _Atomic uint64_t segment;   // those below it can go after the next flush
    _Atomic uint64_t deletions; // keys that were deleted since the last flush began, and
    _Atomic bool ranges;        // whether ranges were
    _Atomic bool damage;        // a compaction has met some
    bool unlimited;             // the flusher's: see lift_limits()
    _Atomic bool even_pace;     // of new tables: see rocks_keep_pace()
    size_t memtable_bytes;
    _Atomic bool open;    // opened to the end, and not yet closed
    _Atomic bool hurried; // a flush must not wait for room: somebody waits for it
    bool stopped;         // the committing thread's: RocksDB takes no writes since it had no room
    struct worker flusher;
    struct worker watcher;
    // With relaxed durability only. All that was committed before these moments is synced; the
    // first is the committing thread's.
    int64_t first_ns;
    _Atomic int64_t synced_ns;
    struct worker syncer;
};

extern const struct store_driver rocks_driver;

// Turns RocksDB's message into ours and frees it; always returns false.
bool rocks_fail(const struct rocks_store *rocks, struct store_error *error, const char *doing,
                char *message);

// ---- Paths (paths.c) ----

// How the directories are reached from now on.
void rocks_find_paths(struct rocks_store *rocks, bool passive);
// The text with the user's name of the directory.
void rocks_plain_paths(const struct rocks_store *rocks, char *text, size_t size);

// Writes a batch into RocksDB's memtable.
MUST_CHECK bool rocks_apply(struct rocks_store *rocks, rocksdb_writebatch_t *batch,
                            struct store_error *error);

// ---- Before RocksDB opens its files (judge.c) ----

#define ROCKS_UNFINISHED ".sst.new" // a table that is being written

// What the list of tables has.
struct rocks_listed {
    struct buf tables; // their numbers, 8 bytes each
    uint64_t applied;  // the sequence up to which they hold the log
};

// Finds it out without changing anything. Released in any case.
MUST_CHECK bool rocks_judge(struct rocks_store *rocks, struct rocks_listed *out,
                            struct store_error *error);
void rocks_listed_release(struct rocks_listed *listed);

// Renames table files that are not in the list, or removes those that are known to hold nothing
// that is needed. `session` is that of the last run (rocks_session_mark), or 0.
MUST_CHECK bool rocks_set_aside(struct rocks_store *rocks, const struct rocks_listed *listed,
                                uint64_t session, struct store_error *error);
// A session of RocksDB, by the name that its tables have of it, in 48 bits.
uint64_t rocks_session_mark(const char *session);

// Says why RocksDB could not be opened, and frees its message; false.
bool rocks_open_failed(const struct rocks_store *rocks, char *message, struct store_error *error);

// All that was applied is in tables on disk, which say so, and the list of the tables is promised.
// Not where the directory is no longer the one that was opened.
MUST_CHECK bool rocks_flush(struct rocks_store *rocks, struct store_error *error);

uint64_t rocks_property(struct rocks_store *rocks, const char *name);

// Flushes and merges go at an even pace, unless they have fallen behind or somebody waits for them.
void rocks_keep_pace(struct rocks_store *rocks);

// ---- Room (room.c) ----

// Room that a flush of all that is in memory takes.
uint64_t rocks_flush_bytes(struct rocks_store *rocks);
// Waits until a flush that has written so much has room for the rest.
void rocks_wait_for_room(struct rocks_store *rocks, uint64_t written);
// Whether a full disk is kept open for such a batch.
bool rocks_frees_room(const struct store_batch *batch);
// Whether memory takes one more of those while flushes wait.
bool rocks_memory_has_room(struct rocks_store *rocks);
// Says that nothing is left for them; false.
bool rocks_nothing_left(const struct rocks_store *rocks, struct store_error *error);

// ---- Work beside the requests; the context is the store ----

// Syncs the log. A failure is logged; commits are refused from then on, which tells the clients.
void rocks_sync_log(void *context);
// Before a memtable becomes a table.
void rocks_promise_flush(void *context);
// Before so many bytes of a table are written, behind others: whether they may be.
bool rocks_has_room(void *context, uint64_t written, size_t bytes, bool merging);
// Flushes, and drops the segments of the log that are not needed after that.
void rocks_flush_and_drop(void *context);
// Finds out whether the directory is there and has room.
void rocks_look_at_disk(void *context);
// The same, and sees to the pace of flushes and merges, all the time.
void rocks_watch(void *context);
void rocks_damage_found(void *context, const char *text);

// Ends the work, flushes, and closes everything.
void rocks_close(struct store *store);

#endif
