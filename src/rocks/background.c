// The RocksDB driver's work beside the requests: flushing, syncing, looking at the disk. What the
// order of these is, and what it is good for, is told in driver.c.
#include "rocks/rocks_internal.h"

#include "rocks/manifest.h"
#include "rocks/options.h"

#include "base/log.h"
#include "base/wait.h"

enum {
    LEVEL0_MANY = 8, // tables in level 0, where 4 are merged: too many are brought
};

// ---- Flushing -----------------------------------------------------------------------

// Waits until no memtable is left to be flushed. False if there was an error first, or it takes too
// long.
static bool flush_done(struct rocks_store *rocks, uint64_t errors_before)
{
    for (int i = 0; i < FLUSH_WAIT_MS; i++) {
        if (rocks_property(rocks, "rocksdb.num-immutable-mem-table") == 0)
            return true;
        if (rocks_property(rocks, "rocksdb.background-errors") != errors_before)
            return false;
        sleep_ms(1);
    }
    return false;
}

// Puts into the tables up to where they will hold the log once they are flushed.
static bool note_applied(struct rocks_store *rocks, uint64_t applied, struct store_error *error)
{
    char *message = NULL;
    if (applied == rocks->noted)
        return true;
    rocksdb_put(rocks->db, rocks->write, "", 0, (const char *)&applied, sizeof(applied), &message);
    return message == NULL || rocks_fail(rocks, error, "flushing", message);
}

// All that was applied is in tables on disk, which say so, and the list of the tables is promised.
// RocksDB's word is not enough: after an error that it was resumed from, 7.8 may say so before it
// has written anything (ADR 004). A directory that was replaced is left alone: what is in memory is
// in the log, which stays with the tables that it belongs to.
bool rocks_flush(struct rocks_store *rocks, struct store_error *error)
{
    if (!disk_is_there(&rocks->disk, error))
        return false;
    char *message = NULL;
    // Commits go on meanwhile: the tables may hold more than they say, and never less.
    uint64_t applied = rocks->applied;
    uint64_t errors = rocks_property(rocks, "rocksdb.background-errors");
    if (!disk_has_room(&rocks->disk, rocks_flush_bytes(rocks))) {
        disk_is_full(&rocks->disk);
        (void)store_fail(error, "flushing has to wait: the disk is full");
        error->no_room = true;
        return false;
    }
    if (!note_applied(rocks, applied, error))
        return false;
    rocksdb_flush(rocks->db, rocks->flush, &message);
    if (message != NULL)
        return rocks_fail(rocks, error, "flushing", message);
    if (!flush_done(rocks, errors))
        return store_fail(error, "flushing did not come to an end");
    rocks->noted = applied;
    bool ok = manifest_promise(rocks->data_path, rocks->dir.keys, &rocks->promise, error);
    if (!ok)
        rocks_plain_paths(rocks, error->text, sizeof(error->text));
    return ok;
}

// Tables that cannot be merged because of a damaged one pile up. RocksDB would stop all writes for
// that, in the end for ever: it shall take them, and reads become slower.
static void lift_limits(struct rocks_store *rocks)
{
    static const char *const names[] = {
        "level0_slowdown_writes_trigger", "level0_stop_writes_trigger",
        "soft_pending_compaction_bytes_limit", "hard_pending_compaction_bytes_limit"};
    static const char *const values[] = {"1000000", "1000000", "0", "0"};
    char *message = NULL;
    rocksdb_set_options(rocks->db, sizeof(names) / sizeof(*names), names, values, &message);
    if (message != NULL)
        log_warn("store: %s", message);
    rocksdb_free(message);
}

void rocks_flush_and_drop(void *context)
{
    struct rocks_store *rocks = context;
    struct store_error error;
    if (rocks->damage && !rocks->unlimited) {
        lift_limits(rocks);
        rocks->unlimited = true;
    }
    // Read before the flush: what the segments below this one hold was applied by now, and is part
    // of it. A segment that is begun while it runs waits for the next, and so do deletions.
    uint64_t segment = rocks->segment;
    rocks->deletions = 0;
    rocks->ranges = false;
    bool ok = rocks_flush(rocks, &error) && disk_is_there(&rocks->disk, &error) &&
              wal_drop_below(rocks->wal, segment, &error);
    if (!ok && !error.no_room) // which is told as the disk's condition
        log_warn("store: %s", error.text);
}

// ---- Syncing and looking ------------------------------------------------------------

// A failed sync is logged here; commits are refused from then on, which tells the clients.
void rocks_sync_log(void *context)
{
    struct rocks_store *rocks = context;
    struct store_error error;
    int64_t begun = monotonic_ns();
    if (wal_broken(rocks->wal))
        return;
    if (wal_sync(rocks->wal, &error))
        rocks->synced_ns = begun;
    else
        log_error("store: %s", error.text);
}

// On a thread of RocksDB's, which must not be kept; the flusher does the rest when it has its turn.
void rocks_damage_found(void *context, const char *text)
{
    struct rocks_store *rocks = context;
    struct store_error plain;
    (void)store_fail(&plain, "%s", text);
    rocks_plain_paths(rocks, plain.text, sizeof(plain.text));
    store_report_damage(&rocks->base, plain.text);
    rocks->damage = true;
}

// Before a memtable becomes a table, which may need the reserve. If the log cannot be synced, or
// its records were lost, the promise says that the tables may be further than the log.
void rocks_promise_flush(void *context)
{
    struct rocks_store *rocks = context;
    struct store_error error;
    uint64_t applied = rocks->applied;
    if (rocks->wal == NULL)
        return; // an old log is being replayed, and stays until the flush is over
    rocks_wait_for_room(rocks, 0);
    // A batch is appended before it is in the memtable. So this covers all that the table will
    // hold, also a commit of this very moment that is not yet counted in `applied`.
    if (rocks->durability == STORE_RELAXED)
        rocks_sync_log(rocks);
    if (!wal_promise(rocks->wal, applied, &error))
        log_warn("store: %s", error.text);
}

// RocksDB slows writes down at 20 tables in level 0 and stops them at ROCKS_MEMTABLES_MOST.
void rocks_keep_pace(struct rocks_store *rocks)
{
    bool full = !rocks->open || rocks->hurried ||
                rocks_property(rocks, "rocksdb.num-immutable-mem-table") >= 2 ||
                rocks_property(rocks, "rocksdb.num-files-at-level0") >= LEVEL0_MANY;
    if (atomic_exchange(&rocks->even_pace, !full) == full)
        rocks_set_pace(rocks->db, full ? ROCKS_PACE_FULL : ROCKS_PACE_EVEN);
}

void rocks_watch(void *context)
{
    rocks_look_at_disk(context);
    rocks_keep_pace(context);
}
