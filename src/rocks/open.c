// Opening and closing the RocksDB driver: nothing is changed before log, promise and the list of
// tables were found to fit together (ADR 009).
#include "rocks/rocks_internal.h"

#include "rocks/manifest.h"
#include "rocks/options.h"
#include "wal/old.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    SYNC_DELAY_MS = 50,       // half of what is promised; a sync takes its time, too
    LOOK_MS = 1000,           // how often the disk is looked at
    START_BYTES = 128 << 10,  // room that a start takes, besides its list of tables
    REPLAY_SLACK = 2 << 20,   // and replaying, besides twice the log
    FULL_BUFFERS = 120 << 20, // of a start on a full disk, besides the log
};

// ---- Closing --------------------------------------------------------------------

// A log whose every batch is in tables need not be replayed: the next opening is quick.
static void forget_log(struct rocks_store *rocks)
{
    struct store_error error;
    if (!rocks_flush(rocks, &error) || !disk_is_there(&rocks->disk, &error) ||
        !wal_restart(rocks->wal, rocks->applied, &error))
        log_warn("store: %s; the log will be replayed at the next start", error.text);
}

// Also of a store that was not opened to the end.
static void release_objects(struct rocks_store *rocks)
{
    log_packer_release(&rocks->packer);
    rocksdb_writebatch_destroy(rocks->scratch);
    rocksdb_flushoptions_destroy(rocks->flush);
    rocksdb_writeoptions_destroy(rocks->write);
    rocksdb_readoptions_destroy(rocks->read);
    if (rocks->db != NULL)
        rocksdb_close(rocks->db);
    if (rocks->wal != NULL)
        wal_close(rocks->wal);
    if (rocks->promise.values != NULL)
        promise_close(&rocks->promise);
    rocks_files_free(rocks->files);
    disk_release(&rocks->disk);
    data_dir_close(&rocks->dir);
    free(rocks);
}

void rocks_close(struct store *store)
{
    struct rocks_store *rocks = (struct rocks_store *)store;
    rocks->open = false;
    rocks->hurried = true; // a flush that waits for room on a full disk ends now
    if (rocks->durability == STORE_RELAXED)
        worker_stop(&rocks->syncer); // which syncs what was answered
    worker_stop(&rocks->watcher);    // before the flusher, which it asks
    rocks_keep_pace(rocks);
    worker_stop(&rocks->flusher);
    forget_log(rocks); // nobody else uses log or tables any more
    release_objects(rocks);
}

// ---- Opening --------------------------------------------------------------------

static bool open_db(struct rocks_store *rocks, const struct store_options *options,
                    struct store_error *error)
{
    char *message = NULL;
    char session[64];
    rocksdb_options_t *set = rocks_options_new(options, rocks->files);
    rocks_watch_tables(set, rocks_promise_flush, rocks_has_room, rocks);
    rocks->memtable_bytes = rocks_memtable_bytes(options);
    rocks_close_as_it_is(set);
    rocks->db = rocksdb_open(set, rocks->db_path, &message);
    rocksdb_options_destroy(set);
    if (message != NULL)
        return rocks_open_failed(rocks, message, error);
    if (rocks_session(rocks->db, session, sizeof(session)))
        promise_set(&rocks->promise, PROMISE_SESSION, rocks_session_mark(session));
    return manifest_promise(rocks->data_path, rocks->dir.keys, &rocks->promise, error);
}

static bool replay(void *context, uint64_t sequence, struct slice payload,
                   struct store_error *error)
{
    struct rocks_store *rocks = context;
    struct slice bytes;
    if (!log_unpack(&rocks->packer, payload, &bytes))
        return store_fail(error, "record %llu of the log is no write batch",
                          (unsigned long long)sequence);
    rocksdb_writebatch_t *batch =
        rocksdb_writebatch_create_from((const char *)bytes.ptr, bytes.len);
    bool ok = rocks_apply(rocks, batch, error);
    rocksdb_writebatch_destroy(batch);
    if (ok)
        rocks->applied = sequence;
    return ok;
}

// Before the first file of the log that only today's format has.
static bool mark_format(struct rocks_store *rocks, struct store_error *error)
{
    return rocks->dir.format >= DATA_DIR_FORMAT || data_dir_mark(&rocks->dir, rocks->path, error);
}

// Begins a segment of the log, behind those that are there or instead of them. Where RocksDB has
// taken the room that was made for that, the reserve has some.
static bool begin_segment(struct rocks_store *rocks, bool behind, uint64_t *number,
                          struct store_error *error)
{
    bool ok;
    do {
        ok = behind ? wal_continue(rocks->wal, number, error)
                    : wal_restart(rocks->wal, rocks->applied, error);
    } while (!ok && error->no_room && disk_give_room(&rocks->disk));
    return ok;
}

// Replays what the last run left in the log. It is kept until what it holds has been flushed, which
// nobody has to wait for: a new segment is begun behind it, as when one is full.
static bool open_log(struct rocks_store *rocks, const char *log, const struct wal_report *report,
                     struct store_error *error)
{
    uint64_t found = rocks->applied;
    uint64_t number = 0;
    rocks->wal = wal_open(log, rocks->dir.keys, report, found, &rocks->promise, error);
    if (rocks->wal == NULL)
        return false;
    bool replays = report->last > found;
    // The segment comes first: what is replayed may take the last room.
    if (!mark_format(rocks, error) || !begin_segment(rocks, replays, &number, error))
        return false;
    if (!replays)
        return true;
    if (!wal_walk(log, rocks->dir.keys, found, report->last, replay, rocks, error))
        return false;
    rocks->segment = number;
    return true;
}

// The list of tables is written anew.
static uint64_t start_bytes(const char *log)
{
    uint64_t promised[PROMISE_VALUES];
    promise_read(log, promised);
    return START_BYTES + promised[PROMISE_MANIFEST_BYTES];
}

// On a full disk what is replayed has to stay in memory, or RocksDB would fail to write it.
static struct store_options fit_options(struct rocks_store *rocks,
                                        const struct store_options *options,
                                        const struct wal_report *report, const char *log)
{
    struct store_options fit = *options;
    uint64_t bytes = 0;
    for (size_t i = 0; i < report->segment_count; i++)
        bytes += report->segments[i].end * 2;
    if (!disk_has_room(&rocks->disk, REPLAY_SLACK + bytes)) {
        (void)disk_has_room_to_start(&rocks->disk, start_bytes(log));
        fit.write_buffer_bytes = options->write_buffer_bytes + FULL_BUFFERS + 3 * bytes;
    }
    return fit;
}

// Opens the tables, which were judged.
static bool open_tables(struct rocks_store *rocks, const struct store_options *options,
                        const struct rocks_listed *listed, uint64_t session,
                        struct store_error *error)
{
    if (!rocks_set_aside(rocks, listed, session, error) || !open_db(rocks, options, error))
        return false;
    rocks->applied = listed->applied;
    rocks->noted = listed->applied;
    return true;
}

// A directory of an older format: its log is replayed as that format allows, and is gone before
// FORMAT says otherwise. Where this is interrupted it is done again.
static bool upgrade(struct rocks_store *rocks, const char *log, struct store_error *error)
{
    struct wal_old old;
    uint64_t applied = rocks->applied;
    if (!wal_old_walk(log, &old, replay, rocks, error))
        return false;
    if (rocks->applied < applied)
        rocks->applied = applied;
    struct wal_segment ends[2] = {{.number = old.lowest}, {.number = old.highest}};
    struct wal_report report = {.segments = ends, .segment_count = old.lowest == 0 ? 0 : 2};
    rocks->wal = wal_open(log, rocks->dir.keys, &report, rocks->applied, &rocks->promise, error);
    return rocks->wal != NULL && rocks_flush(rocks, error) &&
           wal_restart(rocks->wal, rocks->applied, error) &&
           data_dir_mark(&rocks->dir, rocks->path, error);
}

static bool open_old(struct rocks_store *rocks, const struct store_options *options,
                     const char *log, struct rocks_listed *listed, struct store_error *error)
{
    struct wal_old old;
    return wal_old_walk(log, &old, NULL, NULL, error) && rocks_judge(rocks, listed, error) &&
           promise_open(&rocks->promise, log, error) &&
           open_tables(rocks, options, listed, 0, error) && upgrade(rocks, log, error);
}

// In a new directory the log is there before the tables: one that has tables has had a log.
static bool open_new(struct rocks_store *rocks, const struct store_options *options,
                     const char *log, const struct wal_report *report, struct store_error *error)
{
    if (!promise_open(&rocks->promise, log, error))
        return false;
    rocks->wal = wal_open(log, rocks->dir.keys, report, 0, &rocks->promise, error);
    return rocks->wal != NULL && mark_format(rocks, error) && wal_restart(rocks->wal, 0, error) &&
           open_db(rocks, options, error);
}

// Nothing is changed, and RocksDB not let near its files, before log, list of tables and tables
// were found to be what was promised, and to fit together.
static bool open_whole(struct rocks_store *rocks, const struct store_options *options,
                       const char *log, struct wal_report *report, struct rocks_listed *listed,
                       struct store_error *error)
{
    uint64_t promised[PROMISE_VALUES];
    promise_read(log, promised);
    if (!wal_check(log, rocks->dir.keys, promised[PROMISE_SEGMENT], report, error) ||
        (report->damage_count > 0 && !wal_report_fail(report, rocks->path, error)) ||
        !manifest_check(rocks->data_path, rocks->dir.keys, promised, error))
        return false;
    if (report->segment_count == 0 && !data_dir_has_tables(&rocks->dir))
        return open_new(rocks, options, log, report, error);
    if (!rocks_judge(rocks, listed, error))
        return false;
    wal_report_compare(report, listed->applied, promised);
    if (report->damage_count > 0)
        return wal_report_fail(report, rocks->path, error);
    if (!promise_open(&rocks->promise, log, error))
        return false;
    struct store_options fit = fit_options(rocks, options, report, log);
    return open_tables(rocks, &fit, listed, promised[PROMISE_SESSION], error) &&
           open_log(rocks, log, report, error);
}

// Always false.
static bool say_full(const char *log, struct store_error *error)
{
    struct store_error cause = *error;
    return store_fail(error,
                      "the disk is full, and a start takes up to %llu KB. Nothing is damaged: free "
                      "as much and start again (%.200s)",
                      (unsigned long long)start_bytes(log) / 1024, cause.text);
}

static bool open_all(struct rocks_store *rocks, const struct store_options *options,
                     struct store_error *error)
{
    const char *log = rocks->log_path;
    struct wal_report report = {.segments = NULL};
    struct rocks_listed listed = {.applied = 0};
    bool ok = rocks->dir.format < DATA_DIR_FORMAT_LOG
                  ? open_old(rocks, options, log, &listed, error)
                  : open_whole(rocks, options, log, &report, &listed, error);
    wal_report_release(&report);
    rocks_listed_release(&listed);
    if (!ok && error->no_room)
        return say_full(log, error);
    return ok;
}

static void make_objects(struct rocks_store *rocks)
{
    rocks->read = rocksdb_readoptions_create();
    rocks->write = rocksdb_writeoptions_create();
    rocksdb_writeoptions_disable_WAL(rocks->write, 1);
    rocks->flush = rocksdb_flushoptions_create();
    rocksdb_flushoptions_set_wait(rocks->flush, 1);
    rocks_flush_at_once(rocks->flush);
    rocks->scratch = rocksdb_writebatch_create();
    log_packer_init(&rocks->packer);
}

// What was replayed is not in tables yet: that is the flusher's first work.
static void start_workers(struct rocks_store *rocks)
{
    worker_start(&rocks->flusher, &(struct worker_plan){.work = rocks_flush_and_drop,
                                                        .context = rocks,
                                                        .asked = rocks->applied != rocks->noted,
                                                        .drains = true});
    rocks_look_at_disk(rocks); // which may ask the flusher
    worker_start(&rocks->watcher,
                 &(struct worker_plan){.work = rocks_watch, .context = rocks, .every_ms = LOOK_MS});
    if (rocks->durability == STORE_RELAXED)
        worker_start(&rocks->syncer, &(struct worker_plan){.work = rocks_sync_log,
                                                           .context = rocks,
                                                           .delay_ms = SYNC_DELAY_MS,
                                                           .drains = true});
}

struct store *store_open_rocksdb(const struct store_options *options, struct store_error *error)
{
    *error = (struct store_error){0};
    struct data_dir dir;
    if (!data_dir_open(&dir, options, error))
        return NULL;
    struct rocks_store *rocks = memory_zeroed(sizeof(*rocks));
    rocks->base.driver = &rocks_driver;
    rocks->dir = dir;
    rocks->files = rocks_files_new(dir.keys);
    (void)snprintf(rocks->path, sizeof(rocks->path), "%s", options->path);
    rocks->base.path = rocks->path;
    rocks_find_paths(rocks, options->passive);
    rocks->durability = options->durability;
    rocks->segment_bytes = rocks_segment_bytes(options);
    rocks->rotate_at = rocks->segment_bytes;
    make_objects(rocks);
    disk_init(&rocks->disk, options->path, &rocks->dir, !options->passive);
    if (!open_all(rocks, options, error)) {
        rocks_plain_paths(rocks, error->text, sizeof(error->text));
        release_objects(rocks);
        return NULL;
    }
    rocks->open = true;
    rocks_tell_damage(rocks->db, rocks_damage_found, rocks);
    start_workers(rocks);
    return &rocks->base;
}
