// The RocksDB driver: one database with one column family, through the C API.
//
// Durability. The log is ours (wal/wal.h), RocksDB's own is off. A commit appends its batch to the
// log, syncs it, and only then writes it into RocksDB's memtable, where readers see it. So no
// reader sees a commit before it is on disk, and a failed append or sync changes nothing.
//
// When a segment of the log is full a new one is begun and the flusher thread flushes RocksDB,
// after which the older segments can go. Opening replays the log into RocksDB and goes on in the
// same way: a new segment, and a flush that nobody waits for. A broken log (a failed sync) is
// recovered from by flushing what was applied and beginning a new log.
//
// With relaxed durability a commit only appends; the syncer syncs the log a moment after the first
// commit that is not yet synced, and so does RocksDB before it writes a memtable to a table: tables
// never hold what the log could lose.
//
// The tables say themselves up to which sequence they hold the log, at least: the empty key, which
// no caller can use, is put by each flush of ours. So replay begins behind what is in tables, and a
// log that begins later, or a list of tables that was cut, is seen (ADR 009).
//
// Reading. A value from a table is pinned in the block cache, not copied (one from
// a memtable RocksDB copies once). Reads without a snapshot share one immutable
// read-options object; a snapshot and a cursor have their own. Bounds are given to
// the iterator, so that it never reads a block or a tombstone outside of them.
//
// Cursors do not look at deleted ranges, which store.h allows: an iterator of RocksDB 7.8 that does
// forgets that a table of a level could not be read, and goes on behind it (mended in 8.7).
//
// Who frees what: RocksDB's messages are malloc'ed and freed by `fail`; its other
// objects belong to the struct that points to them.
#include "rocks/rocks_internal.h"

#include "rocks/options.h"
#include "rocks/tables.h"

#include "base/log.h"
#include "base/wait.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    SHED_BYTES = 1 << 20,   // of the log, that are worth a new segment on a full disk
    LOOK_BYTES = 512 << 10, // committed between two looks at the disk: less than its reserve
    RELAXED_MS = 100,       // so much of what was answered may be lost with relaxed durability
    SCRATCH_KEPT = 1 << 20, // bytes of a write batch that is kept for the next commit
    // Deleted keys that a read may have to pass over in the memtables: some 50 ms at most.
    DELETIONS_MAX = 100000,
    DELETIONS_MANY = 10000, // so many are worth a flush when nobody hurries, as are
    FREED_MANY = 64 << 20,  // so many bytes
    PAUSE_AFTER = 1024,     // deleted keys that a cursor passes over before it may pause: 0.5 ms
};

struct rocks_snapshot {
    const rocksdb_snapshot_t *snapshot;
    rocksdb_readoptions_t *read;
};

struct rocks_cursor {
    struct store_cursor base;
    rocksdb_iterator_t *iterator;
    rocksdb_readoptions_t *read; // the iterator points into it, and it into bounds
    bool backwards;              // the way it moved last
    uint8_t bounds[];
};

static struct rocks_store *rocks_of(struct store *store)
{
    return (struct rocks_store *)store;
}

static struct rocks_cursor *cursor_of(struct store_cursor *cursor)
{
    return (struct rocks_cursor *)cursor;
}

static const char *chars(struct slice bytes)
{
    return (const char *)bytes.ptr;
}

// Turns RocksDB's message into ours and frees it; always returns false.
bool rocks_fail(const struct rocks_store *rocks, struct store_error *error, const char *doing,
                char *message)
{
    (void)store_fail(error, "%s failed: %s", doing, message);
    rocks_plain_paths(rocks, error->text, sizeof(error->text));
    error->damaged = strncmp(message, "Corruption", 10) == 0;
    error->cold = strstr(message, "Resource busy: cold") != NULL; // see files.cc
    error->no_room = strstr(message, "No space left") != NULL;
    rocksdb_free(message);
    return false;
}

// ---- Reading --------------------------------------------------------------------

static const rocksdb_readoptions_t *read_options(struct store *store,
                                                 struct store_snapshot *snapshot)
{
    if (snapshot != NULL)
        return ((struct rocks_snapshot *)snapshot)->read;
    return rocks_of(store)->read;
}

// Unless told not to, RocksDB counts comparisons and more for each thread; nobody asks for it.
static void counters_off(void)
{
    rocksdb_set_perf_level(rocksdb_disable);
}

static enum store_result rocks_get(struct store *store, struct store_snapshot *snapshot,
                                   struct slice key, struct store_value *out,
                                   struct store_error *error)
{
    char *message = NULL;
    counters_off();
    rocksdb_pinnableslice_t *pin = rocksdb_get_pinned(
        rocks_of(store)->db, read_options(store, snapshot), chars(key), key.len, &message);
    if (message != NULL) {
        (void)rocks_fail(rocks_of(store), error, "reading", message);
        return STORE_FAILED;
    }
    if (pin == NULL)
        return STORE_ABSENT;
    size_t length;
    const char *bytes = rocksdb_pinnableslice_value(pin, &length);
    *out = (struct store_value){.bytes = slice_of(bytes, length), .pin = pin};
    return STORE_FOUND;
}

static void rocks_value_release(struct store *store, struct store_value *value)
{
    (void)store;
    rocksdb_pinnableslice_destroy(value->pin);
}

static struct store_snapshot *rocks_snapshot_take(struct store *store)
{
    struct rocks_snapshot *snapshot = malloc(sizeof(*snapshot));
    ensure_memory(snapshot);
    snapshot->snapshot = rocksdb_create_snapshot(rocks_of(store)->db);
    snapshot->read = rocksdb_readoptions_create();
    rocksdb_readoptions_set_snapshot(snapshot->read, snapshot->snapshot);
    return (struct store_snapshot *)snapshot;
}

static void rocks_snapshot_release(struct store *store, struct store_snapshot *base)
{
    struct rocks_snapshot *snapshot = (struct rocks_snapshot *)base;
    rocksdb_readoptions_destroy(snapshot->read);
    rocksdb_release_snapshot(rocks_of(store)->db, snapshot->snapshot);
    free(snapshot);
}

// ---- Cursors --------------------------------------------------------------------

static struct store_cursor *rocks_cursor_open(struct store *store, struct store_snapshot *snapshot,
                                              struct slice lower, struct slice upper)
{
    if (lower.len == 0)
        lower = SLICE_LIT("\0"); // the empty key is ours
    struct rocks_cursor *cursor = malloc(sizeof(*cursor) + lower.len + upper.len);
    ensure_memory(cursor);
    cursor->base = (struct store_cursor){0};
    cursor->read = rocksdb_readoptions_create();
    rocksdb_readoptions_set_max_skippable_internal_keys(cursor->read, PAUSE_AFTER);
    rocksdb_readoptions_set_ignore_range_deletions(cursor->read, 1);
    if (snapshot != NULL)
        rocksdb_readoptions_set_snapshot(cursor->read,
                                         ((struct rocks_snapshot *)snapshot)->snapshot);
    memcpy(cursor->bounds, lower.ptr, lower.len);
    rocksdb_readoptions_set_iterate_lower_bound(cursor->read, (char *)cursor->bounds, lower.len);
    if (upper.len > 0) {
        memcpy(cursor->bounds + lower.len, upper.ptr, upper.len);
        rocksdb_readoptions_set_iterate_upper_bound(cursor->read,
                                                    (char *)cursor->bounds + lower.len, upper.len);
    }
    counters_off();
    cursor->iterator = rocksdb_create_iterator(rocks_of(store)->db, cursor->read);
    return &cursor->base;
}

static void rocks_cursor_close(struct store_cursor *base)
{
    struct rocks_cursor *cursor = cursor_of(base);
    rocksdb_iter_destroy(cursor->iterator);
    rocksdb_readoptions_destroy(cursor->read);
    free(cursor);
}

// Publishes where the iterator stands.
static void cursor_settle(struct store_cursor *base, bool backwards)
{
    rocksdb_iterator_t *iterator = cursor_of(base)->iterator;
    base->valid = rocksdb_iter_valid(iterator) != 0;
    base->paused = false;
    cursor_of(base)->backwards = backwards;
    while (!base->valid && rocks_iterator_paused(iterator)) {
        if ((base->paused = base->may_pause))
            return;
        rocks_iterator_resume(iterator, backwards);
        base->valid = rocksdb_iter_valid(iterator) != 0;
    }
    if (!base->valid)
        return;
    size_t length;
    const char *bytes = rocksdb_iter_key(iterator, &length);
    base->key = slice_of(bytes, length);
    bytes = rocksdb_iter_value(iterator, &length);
    base->value = slice_of(bytes, length);
}

static void rocks_cursor_seek(struct store_cursor *cursor, struct slice key)
{
    rocksdb_iter_seek(cursor_of(cursor)->iterator, chars(key), key.len);
    cursor_settle(cursor, false);
}

static void rocks_cursor_seek_before(struct store_cursor *cursor, struct slice key)
{
    rocksdb_iter_seek_for_prev(cursor_of(cursor)->iterator, chars(key), key.len);
    cursor_settle(cursor, true);
}

static void rocks_cursor_last(struct store_cursor *cursor)
{
    rocksdb_iter_seek_to_last(cursor_of(cursor)->iterator);
    cursor_settle(cursor, true);
}

static void rocks_cursor_next(struct store_cursor *cursor)
{
    rocksdb_iter_next(cursor_of(cursor)->iterator);
    cursor_settle(cursor, false);
}

static void rocks_cursor_prev(struct store_cursor *cursor)
{
    rocksdb_iter_prev(cursor_of(cursor)->iterator);
    cursor_settle(cursor, true);
}

static void rocks_cursor_resume(struct store_cursor *cursor)
{
    bool backwards = cursor_of(cursor)->backwards;
    rocks_iterator_resume(cursor_of(cursor)->iterator, backwards);
    cursor_settle(cursor, backwards);
}

static bool rocks_cursor_ok(const struct store_cursor *cursor, struct store_error *error)
{
    char *message = NULL;
    rocksdb_iter_get_error(((const struct rocks_cursor *)cursor)->iterator, &message);
    return message == NULL || rocks_fail(rocks_of(cursor->store), error, "reading", message);
}

// ---- Writing --------------------------------------------------------------------

static bool rocks_sync(struct store *store, struct store_error *error)
{
    return wal_sync(rocks_of(store)->wal, error);
}

// A flush that failed stays for another second. Resuming must wait for it: if it, or one that it
// makes room for, fails while RocksDB is being resumed, then resuming gives up at once and forgets
// the flush it has just asked for, which is queued for ever and never run. Every flush behind that
// one would wait for it without end (7.8).
static bool flushes_ended(struct rocks_store *rocks, struct store_error *error)
{
    for (int i = 0; i < FLUSH_WAIT_MS; i++) {
        if (rocks_property(rocks, "rocksdb.num-running-flushes") == 0)
            return true;
        sleep_ms(1);
    }
    return store_fail(error, "a flush did not come to an end");
}

// A log that only could not be written needs no more than another try. A broken one is replaced,
// once everything that was applied is safe without it.
static bool rocks_recover(struct store *store, struct store_error *error)
{
    struct rocks_store *rocks = rocks_of(store);
    if (disk_condition(&rocks->disk, error) == STORE_GONE)
        return false;
    if (!wal_broken(rocks->wal))
        return true;
    // RocksDB would not survive another failed write, so the disk is tried without it first. It
    // may itself have stopped for want of room: resuming brings it back or says why not.
    uint64_t room = rocks_flush_bytes(rocks);
    (void)disk_has_room(&rocks->disk, room);
    rocks->hurried = true;
    bool ok = wal_probe(rocks->wal, room, error) && flushes_ended(rocks, error) &&
              rocks_resume(rocks->db, error->text, sizeof(error->text)) &&
              rocks_flush(rocks, error) && disk_is_there(&rocks->disk, error) &&
              wal_restart(rocks->wal, rocks->applied, error);
    if (!ok)
        rocks_plain_paths(rocks, error->text, sizeof(error->text));
    rocks->hurried = false;
    return ok;
}

static void scratch_put(struct rocks_store *rocks, const struct batch_entry *entry)
{
    size_t end;
    rocksdb_writebatch_put(rocks->scratch, chars(entry->key), entry->key.len, chars(entry->value),
                           entry->value.len);
    (void)rocksdb_writebatch_data(rocks->scratch, &end);
    log_packer_value(&rocks->packer, entry->value, end);
}

static void scratch_fill(struct rocks_store *rocks, const struct store_batch *batch)
{
    rocksdb_writebatch_t *to = rocks->scratch;
    struct store_batch_view view = store_batch_view(batch);
    size_t deletions = 0;
    log_packer_begin(&rocks->packer);
    for (size_t i = 0; i < view.range_count; i++) {
        struct batch_range range = view.ranges[i];
        rocksdb_writebatch_delete_range(to, chars(range.lower), range.lower.len, chars(range.upper),
                                        range.upper.len);
    }
    for (size_t i = 0; i < view.entry_count; i++) {
        const struct batch_entry *entry = &view.entries[i];
        deletions += entry->deleted;
        if (entry->deleted)
            rocksdb_writebatch_delete(to, chars(entry->key), entry->key.len);
        else
            scratch_put(rocks, entry);
    }
    if (deletions > 0)
        rocks->deletions += deletions;
    if (view.range_count > 0)
        rocks->ranges = true;
}

// Clearing keeps the memory of the batch, which is welcome unless it was a giant.
static void scratch_clear(struct rocks_store *rocks)
{
    size_t size;
    (void)rocksdb_writebatch_data(rocks->scratch, &size);
    if (size <= SCRATCH_KEPT) {
        rocksdb_writebatch_clear(rocks->scratch);
        return;
    }
    rocksdb_writebatch_destroy(rocks->scratch);
    rocks->scratch = rocksdb_writebatch_create();
}

bool rocks_apply(struct rocks_store *rocks, rocksdb_writebatch_t *batch, struct store_error *error)
{
    char *message = NULL;
    rocksdb_write(rocks->db, rocks->write, batch, &message);
    return message == NULL || rocks_fail(rocks, error, "committing", message);
}

// Begins a new segment of the log and has the flusher do away with the older ones. If that fails
// the old one simply grows on for a while.
static void rotate(struct rocks_store *rocks)
{
    struct store_error error;
    uint64_t number;
    rocks->rotate_at = wal_segment_bytes(rocks->wal) + rocks->segment_bytes / 8;
    if ((rocks->durability == STORE_RELAXED && !wal_sync(rocks->wal, &error)) ||
        !wal_rotate(rocks->wal, &number, &error)) {
        if (!error.no_room) // which is told as the disk's condition
            log_warn("store: %s", error.text);
        return;
    }
    rocks->rotate_at = rocks->segment_bytes;
    rocks->segment = number;
    rocks_keep_pace(rocks);
    worker_ask(&rocks->flusher);
}

// Appends to the log. Where the disk is full, the reserve is for what frees room.
static enum store_end append(struct rocks_store *rocks, const struct store_batch *batch,
                             struct slice payload, struct store_error *error)
{
    enum store_end end;
    while ((end = wal_append(rocks->wal, payload, error)) == STORE_NOT_DONE && error->no_room) {
        disk_is_full(&rocks->disk);
        if (!rocks_frees_room(batch)) {
            (void)disk_condition(&rocks->disk, error);
            return STORE_NOT_DONE;
        }
        if (!disk_give_room(&rocks->disk)) {
            (void)rocks_nothing_left(rocks, error);
            return STORE_NOT_DONE;
        }
    }
    return end;
}

// Whether a commit has to be synced before it is answered. With relaxed durability that is so if
// the oldest that is not is too old: where the disk does not keep up, commits wait for it, so that
// no more than that time's can be lost.
static bool needs_sync(struct rocks_store *rocks)
{
    if (rocks->durability == STORE_FULL)
        return true;
    int64_t now = monotonic_ns();
    int64_t oldest = rocks->synced_ns;
    if (wal_is_synced(rocks->wal))
        rocks->first_ns = now;
    if (oldest < rocks->first_ns)
        oldest = rocks->first_ns;
    return now - oldest > RELAXED_MS * MILLISECOND_NS;
}

// RocksDB did not take a batch that is in the log: it has stopped, because a table or the list of
// tables could not be written. If that was for want of room the next batch that frees some brings
// it back (see admit()).
static enum store_end take_back(struct rocks_store *rocks, uint64_t before,
                                struct store_error *error)
{
    struct store_error why;
    bool untouched = rocksdb_get_latest_sequence_number(rocks->db) == before;
    bool gone = untouched && wal_take_back(rocks->wal, &why);
    wal_break(rocks->wal);
    rocks->stopped = gone && error->no_room;
    if (rocks->stopped) {
        disk_is_full(&rocks->disk);
        (void)disk_condition(&rocks->disk, error);
    }
    return gone ? STORE_NOT_DONE : STORE_UNKNOWN;
}

// Logs the batch, durably if that is asked for, then applies it.
static enum store_end commit_scratch(struct rocks_store *rocks, const struct store_batch *batch,
                                     struct store_error *error)
{
    size_t size;
    const char *bytes = rocksdb_writebatch_data(rocks->scratch, &size);
    bool sync = needs_sync(rocks);
    uint64_t before = rocksdb_get_latest_sequence_number(rocks->db);
    enum store_end logged =
        append(rocks, batch, log_pack(&rocks->packer, slice_of(bytes, size)), error);
    if (logged != STORE_DONE)
        return logged;
    // The record is in the log and may be on disk: a start would find it.
    if (sync && !wal_sync(rocks->wal, error))
        return STORE_UNKNOWN;
    // Readers see it from here on. Not earlier: what somebody has read must not be lost.
    if (!rocks_apply(rocks, rocks->scratch, error))
        return take_back(rocks, before, error);
    rocks->applied = wal_sequence(rocks->wal);
    if (rocks->durability == STORE_RELAXED)
        promise_set(&rocks->promise, PROMISE_APPENDED, rocks->applied);
    return STORE_DONE;
}

// Once a second is not enough for a disk that takes a hundred megabytes in it.
static void look_in_time(struct rocks_store *rocks, size_t bytes)
{
    rocks->unseen += bytes;
    if (rocks->unseen < LOOK_BYTES)
        return;
    rocks->unseen = 0;
    rocks_look_at_disk(rocks);
}

// The log goes when what it holds is in tables, but the segment that is written to never does.
static void shed_log(struct rocks_store *rocks)
{
    wal_allocate_ahead(rocks->wal, false);
    if (wal_segment_bytes(rocks->wal) >= SHED_BYTES && !wal_broken(rocks->wal) &&
        disk_has_room(&rocks->disk, rocks_flush_bytes(rocks)))
        rotate(rocks);
}

// Whether a batch is taken. On a full disk those are that free room, as long as memory takes them.
static bool admit(struct rocks_store *rocks, const struct store_batch *batch,
                  struct store_error *error)
{
    enum store_condition condition = disk_condition(&rocks->disk, error);
    if (condition == STORE_GONE)
        return false;
    if (condition == STORE_NO_ROOM) {
        shed_log(rocks);
        if (!rocks_frees_room(batch))
            return false;
        if (!rocks_memory_has_room(rocks))
            return rocks_nothing_left(rocks, error);
    }
    if (!rocks->stopped)
        return true;
    rocks->stopped = !rocks_recover(&rocks->base, error);
    if (rocks->stopped && condition == STORE_NO_ROOM)
        (void)rocks_nothing_left(rocks, error);
    return !rocks->stopped;
}

static enum store_end rocks_commit(struct store *store, const struct store_batch *batch,
                                   struct store_error *error)
{
    struct rocks_store *rocks = rocks_of(store);
    enum store_end end = STORE_NOT_DONE;
    bool again = false;
    do {
        if (!admit(rocks, batch, error))
            return STORE_NOT_DONE;
        scratch_fill(rocks, batch);
        end = commit_scratch(rocks, batch, error);
        scratch_clear(rocks);
        again = !again && rocks->stopped; // once, if that brings RocksDB back
    } while (again);
    look_in_time(rocks, store_batch_bytes(batch));
    if (end == STORE_DONE && rocks->durability == STORE_RELAXED)
        worker_ask(&rocks->syncer);
    if (end == STORE_DONE && wal_segment_bytes(rocks->wal) >= rocks->rotate_at)
        rotate(rocks);
    else if (end == STORE_DONE && rocks->deletions >= DELETIONS_MAX)
        worker_ask(&rocks->flusher);
    return end;
}

// ---- Space ----------------------------------------------------------------------

// Tables that hold nothing else go at once, unread. A snapshot would miss them, so then they stay
// until they are merged with the deletion.
static void rocks_discard(struct store *store, struct slice lower, struct slice upper)
{
    struct rocks_store *rocks = rocks_of(store);
    if (rocks_property(rocks, "rocksdb.num-snapshots") == 0)
        rocks_discard_files(rocks->db, chars(lower), lower.len, chars(upper), upper.len);
}

// Deletions that reach a table have it merged soon (rocks_set_rest): all that is needed is
// a flush.
static bool rocks_reclaim(struct store *store, uint64_t freed)
{
    struct rocks_store *rocks = rocks_of(store);
    if (!rocks->ranges && rocks->deletions < DELETIONS_MANY && freed < FREED_MANY)
        return false;
    worker_ask(&rocks->flusher);
    return true;
}

static bool is_quiet(struct rocks_store *rocks)
{
    static const char *const busy[] = {
        "rocksdb.num-immutable-mem-table", "rocksdb.mem-table-flush-pending",
        "rocksdb.num-running-flushes",     "rocksdb.compaction-pending",
        "rocksdb.num-running-compactions",
    };
    for (size_t i = 0; i < COUNT_OF(busy); i++) {
        if (rocks_property(rocks, busy[i]) != 0)
            return false;
    }
    return worker_idle(&rocks->flusher);
}

static bool rocks_settle(struct store *store, unsigned timeout_ms)
{
    for (unsigned i = 0; i < timeout_ms; i++) {
        if (is_quiet(rocks_of(store)))
            return true;
        sleep_ms(1);
    }
    return false;
}

// ---- The driver -----------------------------------------------------------------

static enum store_condition rocks_condition(struct store *store, struct store_error *why)
{
    return disk_condition(&rocks_of(store)->disk, why);
}

static void rocks_stats(struct store *store, struct store_stats *out)
{
    struct rocks_store *rocks = rocks_of(store);
    wal_measure(rocks->wal, &out->log_segments, &out->log_bytes);
    out->log_active_bytes = wal_segment_bytes(rocks->wal);
    out->encrypted = rocks->dir.keys != NULL;
    out->cache_bytes = rocks_property(rocks, "rocksdb.block-cache-usage");
    out->cache_limit = rocks_property(rocks, "rocksdb.block-cache-capacity");
    out->memtable_bytes = rocks_property(rocks, "rocksdb.cur-size-all-mem-tables");
    out->table_bytes = rocks_property(rocks, "rocksdb.live-sst-files-size");
    for (int level = 0; level < ROCKS_LEVELS; level++) {
        char name[64];
        char *text;
        (void)snprintf(name, sizeof(name), "rocksdb.num-files-at-level%d", level);
        if ((text = rocksdb_property_value(rocks->db, name)) != NULL)
            out->table_files += strtoull(text, NULL, 10);
        rocksdb_free(text);
    }
    out->compaction_bytes = rocks_property(rocks, "rocksdb.estimate-pending-compaction-bytes");
}

static void rocks_check_tables(struct store *store,
                               bool (*visit)(void *context, const char *path, const char *fault),
                               void *context)
{
    struct rocks_store *rocks = rocks_of(store);
    const rocksdb_livefiles_t *files = rocksdb_livefiles(rocks->db);
    bool more = true;
    for (int i = 0; more && i < rocksdb_livefiles_count(files); i++) {
        char path[PATH_MAX + 64];
        (void)snprintf(path, sizeof(path), "%s/db%.32s", rocks->path,
                       rocksdb_livefiles_name(files, i)); // with its slash
        more = rocks_table_visit(path, rocks->dir.keys, visit, context);
    }
    rocksdb_livefiles_destroy(files);
}

const struct store_driver rocks_driver = {
    .name = "rocksdb",
    .check_tables = rocks_check_tables,
    .close = rocks_close,
    .get = rocks_get,
    .value_release = rocks_value_release,
    .snapshot_take = rocks_snapshot_take,
    .snapshot_release = rocks_snapshot_release,
    .cursor_open = rocks_cursor_open,
    .cursor_close = rocks_cursor_close,
    .cursor_seek = rocks_cursor_seek,
    .cursor_seek_before = rocks_cursor_seek_before,
    .cursor_last = rocks_cursor_last,
    .cursor_next = rocks_cursor_next,
    .cursor_prev = rocks_cursor_prev,
    .cursor_resume = rocks_cursor_resume,
    .cursor_ok = rocks_cursor_ok,
    .commit = rocks_commit,
    .sync = rocks_sync,
    .recover = rocks_recover,
    .condition = rocks_condition,
    .discard = rocks_discard,
    .reclaim = rocks_reclaim,
    .settle = rocks_settle,
    .stats = rocks_stats,
};
