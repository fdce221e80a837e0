// An ordered key-value store with snapshots and atomic batches: all that the
// engine knows of a disk. A driver is a `static const struct store_driver` (see
// store_driver.h); there are two, RocksDB and memory, and one conformance suite.
//
// Rules
// 1. Keys are byte strings in memcmp order, 1 byte to 16 KB. Values are 0 bytes to 4 MB.
// 2. Any thread may read at any time. One thread at a time may commit.
// 3. A commit is atomic, and visible to readers only once it is as durable as it was
//    asked to be. A failed commit changes nothing that a reader can see.
// 4. A snapshot (and a cursor, which has one of its own unless given another) sees exactly the
//    commits that ended before it was taken.
// 5. Slices from a store_value are valid until store_value_release; from a cursor until it moves.
// 6. Running out of memory fails a batch, which is then never committed. Elsewhere it stops the
//    process (ensure): no caller could do better.
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/attributes.h"
#include "base/slice.h"

#include <limits.h>

enum {
    STORE_KEY_MAX = 16 << 10,  // bytes of a key
    STORE_VALUE_MAX = 4 << 20, // bytes of a value
    // Bytes of a sentence, which may name a path twice: what is wrong with it, and a command.
    STORE_ERROR_MAX = 512 + 2 * PATH_MAX,
};

struct store;
struct store_snapshot;
struct store_cursor;
struct store_batch;

// What went wrong, in words for the log. Empty when nothing did.
struct store_error {
    char text[STORE_ERROR_MAX];
    bool in_use;  // another process has the directory open
    bool damaged; // bytes on disk are not what was written: trying again cannot help
    bool no_room; // the disk is full
    bool cold;    // see store_wait_for_disk
};

// The other driver is opened in rocks/rocks.h.
MUST_CHECK struct store *store_open_memory(struct store_error *error);
// Who is told when the store finds damage in its files, by a read or beside the requests. It is
// called on whatever thread finds it, as often as it does; the text names the file. The watch is
// borrowed until the store is closed.
struct store_watch {
    void (*damaged)(void *context, const char *text);
    void *context;
    void (*unread)(void *context,
                   const char *text); // a read failed for another reason; may be NULL
};
void store_set_watch(struct store *store, const struct store_watch *watch);

// Reads every block of the table files that are part of the store now, and compares it with its
// checksum. Calls back for each file with its path and what is wrong (NULL if nothing is), until
// `visit` is false.
void store_check_tables(struct store *store,
                        bool (*visit)(void *context, const char *path, const char *fault),
                        void *context);
// No snapshot, cursor or value may be left.
void store_close(struct store *store);

enum store_result { STORE_FOUND, STORE_ABSENT, STORE_FAILED };

struct store_value {
    struct slice bytes;
    void *pin; // the driver's; NULL if nothing is held
};

// `snapshot` may be NULL: the newest commit. On STORE_FAILED the error is in `error`, and it
// is logged, or it is damage and the watch knows.
MUST_CHECK enum store_result store_get(struct store *store, struct store_snapshot *snapshot,
                                       struct slice key, struct store_value *out,
                                       struct store_error *error);
void store_value_release(struct store *store, struct store_value *value);

// One of many keys, and what is there: each value is released by itself.
struct store_read {
    struct slice key; // borrowed for the call
    bool found;
    struct store_value value; // if it was found
};
// Many keys in one call, which over a network is one round trip; keys may repeat. Without a
// snapshot no two of them need be of one commit, only none of an older one than the newest at the
// call. False, as STORE_FAILED above: nothing is held then.
MUST_CHECK bool store_get_many(struct store *store, struct store_snapshot *snapshot,
                               struct store_read *reads, size_t count, struct store_error *error);

// Whether reads of the calling thread may wait for the disk; at first they may. Otherwise a read
// whose bytes are not in memory fails at once with error.cold set, which is no failure of the
// store: ask again on a thread that may wait. A cursor that failed so is of no further use.
void store_wait_for_disk(bool wait);
// What was said last on the calling thread; for drivers.
#ifdef __cplusplus
extern "C"
#endif
    bool
    store_waits_for_disk(void);

// Whether every read goes over a network: one that was cold for a thread is as far away when it is
// asked for again.
bool store_remote(const struct store *store);

MUST_CHECK struct store_snapshot *store_snapshot_take(struct store *store);
void store_snapshot_release(struct store *store, struct store_snapshot *snapshot);

// A cursor over [lower, upper); the bounds are copied, and an empty one is no bound. It starts
// nowhere: seek first. It is used by one thread at a time.
MUST_CHECK struct store_cursor *store_cursor_open(struct store *store,
                                                  struct store_snapshot *snapshot,
                                                  struct slice lower, struct slice upper);
void store_cursor_close(struct store_cursor *cursor);
// To the first key >= key; to the last key <= key; to the ends of the bounds. A key outside the
// bounds is allowed and finds what is inside them.
void store_cursor_seek(struct store_cursor *cursor, struct slice key);
void store_cursor_seek_before(struct store_cursor *cursor, struct slice key);
// To the first key behind `key`, or the first of all if that is empty.
void store_cursor_behind(struct store_cursor *cursor, struct slice key);
void store_cursor_first(struct store_cursor *cursor);
void store_cursor_last(struct store_cursor *cursor);
// Only from a valid position.
void store_cursor_next(struct store_cursor *cursor);
void store_cursor_prev(struct store_cursor *cursor);
bool store_cursor_valid(const struct store_cursor *cursor);
struct slice store_cursor_key(const struct store_cursor *cursor);
struct slice store_cursor_value(const struct store_cursor *cursor);
// A move passes over what was deleted and is not gone yet, which can take long. A cursor that may
// pause stops on such a way: it is neither valid nor at its end, and goes on when it is resumed.
// One that may not goes all the way.
void store_cursor_may_pause(struct store_cursor *cursor);
bool store_cursor_paused(const struct store_cursor *cursor);
void store_cursor_resume(struct store_cursor *cursor);
// After the cursor became invalid: true if it ended, false (and error) if it failed.
MUST_CHECK bool store_cursor_ok(const struct store_cursor *cursor, struct store_error *error);

// ---- Batches --------------------------------------------------------------------
//
// A batch gathers writes and can be read back before it is committed: the last
// put or delete of a key wins. It is driver-independent and owned by one thread.

MUST_CHECK struct store_batch *store_batch_new(void);
void store_batch_free(struct store_batch *batch);
void store_batch_clear(struct store_batch *batch);
void store_batch_put(struct store_batch *batch, struct slice key, struct slice value);
// The same for a value that is made in place: where its bytes go, or NULL if the batch has failed.
MUST_CHECK uint8_t *store_batch_put_room(struct store_batch *batch, struct slice key, size_t bytes);
// The same for a value that the batch has already, under another key: the bytes are shared.
void store_batch_put_shared(struct store_batch *batch, struct slice key, struct slice value);
void store_batch_delete(struct store_batch *batch, struct slice key);
// Deletes [lower, upper) for good. Takes effect before all puts and deletes of the batch, and is
// not seen by store_batch_get. Here both bounds are needed; lower >= upper deletes nothing. Cursors
// may go on seeing what it deleted until it gives its space back (store_get does not): so it is for
// ranges where nobody looks any more.
void store_batch_delete_range(struct store_batch *batch, struct slice lower, struct slice upper);
// What the batch says of a key. The value is valid until the batch is cleared or freed, even if
// the key is written again.
enum store_batch_word {
    BATCH_PUT,     // it puts it: *value is set
    BATCH_DELETED, // it deletes it
    BATCH_SILENT,  // it says nothing: ask the store
};
enum store_batch_word store_batch_get(const struct store_batch *batch, struct slice key,
                                      struct slice *value);
// Whether memory ran out for something that was given to the batch, or its owner said so: it is not
// to be committed. Only clearing it helps.
bool store_batch_failed(const struct store_batch *batch);
void store_batch_fail(struct store_batch *batch);
// Bytes of all keys and values given since the last clear, replaced ones included: what the batch
// costs in memory, and at most a little less than what it will cost in the log.
size_t store_batch_bytes(const struct store_batch *batch);
// Says that the batch frees more room than it takes, which a full disk is kept open for. A batch
// without a put need not say so.
void store_batch_frees(struct store_batch *batch);
// Distinct keys, and ranges.
size_t store_batch_count(const struct store_batch *batch);

// The three ends of a commit.
enum store_end {
    STORE_DONE,
    STORE_NOT_DONE, // and never will be
    STORE_UNKNOWN,  // nothing of it is visible, but the log may hold it: if the process dies before
                    // store_recover has succeeded, it may be there after all, whole
};

// What the store finds out by itself about its disk: it looks once a second.
enum store_condition {
    STORE_WELL,
    STORE_NO_ROOM, // the disk is full: only batches that free room are taken
    STORE_GONE,    // the data directory was removed or replaced: no batch is taken
};
// `why` is set unless it is well. Any thread may ask.
enum store_condition store_condition(struct store *store, struct store_error *why);

// Commits; an empty batch costs nothing. After another end than STORE_DONE nothing of the batch is
// visible, and further commits may fail until store_recover.
MUST_CHECK enum store_end store_commit(struct store *store, const struct store_batch *batch,
                                       struct store_error *error);

// After failed commits: tries to make the store take commits again. True if it does. A full disk
// that has room again can be recovered from; after a failed sync or a damaged file the store stays
// readable and has to be opened anew. Only the committing thread may call it.
MUST_CHECK bool store_recover(struct store *store, struct store_error *error);

// The log on disk up to here, whatever the durability.
MUST_CHECK bool store_sync(struct store *store, struct store_error *error);

// ---- Space ------------------------------------------------------------------------
//
// What is deleted gives its space back when tables are merged, by and by. Any thread may ask.

// The caller is about to delete [lower, upper) for good, and nobody else reads it any more: what of
// it can go at once goes. It still has to be deleted.
void store_discard(struct store *store, struct slice lower, struct slice upper);
// Has what was deleted since the last time merged away, in the background, if that is worth
// rewriting some hundred MB of other data: because of the bytes that were freed, as far as the
// caller knows, or of what reads have to pass over. False if it is not.
bool store_reclaim(struct store *store, uint64_t freed);
// Waits until the work in the background that is there to do is done, for at most so long. For
// tests and tools: false if it took longer.
MUST_CHECK bool store_settle(struct store *store, unsigned timeout_ms);

// What the store can tell of itself; all zeros in memory. Any thread may ask.
struct store_stats {
    uint64_t log_segments;     // files of the log
    uint64_t log_active_bytes; // records in the segment that is being written
    uint64_t log_bytes;        // all segments on disk, with the room made ahead
    uint64_t cache_bytes;      // used of the block cache
    uint64_t cache_limit;      // and what it may use
    uint64_t memtable_bytes;   // commits that are not in tables yet
    uint64_t table_bytes;      // tables that hold current data
    uint64_t table_files;
    uint64_t compaction_bytes; // that wait to be compacted, by RocksDB's estimate
    bool encrypted;            // what is on disk
};
void store_stats(struct store *store, struct store_stats *out);

#endif
