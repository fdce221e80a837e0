// See wal.h. The appending thread owns what has no other remark; `lock` keeps the active file open
// while it is synced, and the numbers of the segments whole. Files are removed outside of it, so
// that no commit waits for that.
//
// A segment that is not needed any more is kept, one at a time, for the next one to begin in
// (ADR 017). Where a file's blocks are there and have been written before, a sync writes the record
// and nothing else; elsewhere it writes the file's map of blocks, too. What an old file still holds
// cannot pass for records of the new one, because those are salted.
#include "wal/wal.h"

#include "base/files.h"
#include "store/store_driver.h"
#include "wal/format.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define PROBE_FILE "probe.tmp"
#define SPARE_FILE "spare.tmp"
#define NEW_FILE   "new.tmp"
enum {
    PREALLOCATE = 4 << 20,  // so that a sync seldom has to write the file's size
    SPARE_MOST = 128 << 20, // a larger file than that was an exception
    BLOCK = 4096,           // of file systems and of memory
    WRITE_PIECES = 3,
};

// What there is to begin the next segment in. Whoever moves it to BUSY has the file to himself.
enum spare { SPARE_NONE, SPARE_BUSY, SPARE_READY };

struct wal {
    pthread_mutex_t lock;
    int directory;
    int file;                  // the active segment, or -1; changed under the lock
    uint64_t number;           // of the active segment; changed under the lock
    uint64_t oldest;           // the oldest segment that may be there; under the lock
    uint64_t salt;             // of the active segment
    _Atomic uint64_t sequence; // of the last record
    _Atomic uint64_t synced;   // of the last record that is surely on disk; changed under the lock
    _Atomic off_t offset;      // where the next record goes
    off_t last;                // where the last one is
    off_t allocated;
    atomic_bool sparing; // no room is made ahead, nor kept
    _Atomic(enum spare) spare;
    struct promise *promise;
    atomic_bool broken; // only wal_restart helps
    // Where the directory is encrypted; the cipher is the active segment's.
    const struct keyring *keys;
    struct crypt_cipher *cipher;
    uint32_t attempts; // records that were begun in it
    struct buf sealed;
};

static bool fail(struct store_error *error, const char *doing)
{
    return store_fail_errno(error, "%s the log failed", doing);
}

// ---- Segments -------------------------------------------------------------------------------

// Writes the pieces, one behind the other, at the place. Returns how many bytes were written: all,
// or fewer with errno.
static size_t write_pieces(int file, const struct slice pieces[WRITE_PIECES], off_t at)
{
    size_t total = 0;
    for (;;) {
        struct iovec left[WRITE_PIECES];
        int count = 0;
        size_t behind = total;
        for (size_t i = 0; i < WRITE_PIECES; i++) {
            size_t done = behind < pieces[i].len ? behind : pieces[i].len;
            behind -= done;
            if (done < pieces[i].len)
                left[count++] =
                    (struct iovec){(void *)(uintptr_t)(pieces[i].ptr + done), pieces[i].len - done};
        }
        ssize_t written = count == 0 ? 0 : pwritev(file, left, count, at + (off_t)total);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return total;
        total += (size_t)written;
    }
}

static bool write_at(int file, struct slice head, struct slice body, off_t at)
{
    const struct slice pieces[WRITE_PIECES] = {head, body};
    return write_pieces(file, pieces, at) == head.len + body.len;
}

// Takes back a segment that was begun in vain. Should it come back after all it would void what is
// appended to the one before it: so nothing is appended if that cannot be ruled out.
static void discard_segment(struct wal *wal, uint64_t number)
{
    char name[WAL_NAME_BYTES];
    int why = errno;
    wal_segment_name(number, name);
    if ((unlinkat(wal->directory, name, 0) != 0 && errno != ENOENT) || fsync(wal->directory) != 0)
        wal->broken = true;
    errno = why;
}

static bool spare_take(struct wal *wal, enum spare from)
{
    return atomic_compare_exchange_strong(&wal->spare, &from, SPARE_BUSY);
}

static void spare_drop(struct wal *wal)
{
    if (!spare_take(wal, SPARE_READY))
        return;
    (void)unlinkat(wal->directory, SPARE_FILE, 0);
    wal->spare = SPARE_NONE;
}

// Of a file that is going to be written anew nothing needs to stay in memory.
static void forget_pages(struct wal *wal)
{
    int file = openat(wal->directory, SPARE_FILE, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    (void)posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    (void)close(file);
}

// Keeps the file of an old segment. False if there is one already, or it is not fit.
static bool spare_keep(struct wal *wal, const char *name)
{
    struct stat status;
    if (wal->sparing || !spare_take(wal, SPARE_NONE))
        return false;
    bool kept = fstatat(wal->directory, name, &status, 0) == 0 && status.st_size <= SPARE_MOST &&
                renameat(wal->directory, name, wal->directory, SPARE_FILE) == 0;
    if (kept)
        forget_pages(wal);
    wal->spare = kept ? SPARE_READY : SPARE_NONE;
    return kept;
}

// Writes the header of a segment, and has it on disk before the file has its name there. Under that
// name an old file would be taken for a copy of another segment, and a new one for a damaged one: a
// power cut may leave any bytes where the header was to be. Of an old file the first record goes,
// too: should the header be lost, that must not be taken for the first of the new ones.
static bool begin_file(struct wal *wal, int file, const struct wal_start *start,
                       struct crypt_cipher *cipher, const char *name, bool spare)
{
    const char *draft = spare ? SPARE_FILE : NEW_FILE;
    static const uint8_t no_record[WAL_HEADER];
    uint8_t bytes[WAL_START_SEALED];
    size_t length = wal_start_encode(start, cipher, bytes);
    return write_at(file, slice_of(bytes, length), slice_of(no_record, spare ? WAL_HEADER : 0),
                    0) &&
           fdatasync(file) == 0 && renameat(wal->directory, draft, wal->directory, name) == 0 &&
           fsync(wal->directory) == 0;
}

// Makes the file of a segment, on disk with its name. Returns it, or -1.
static int make_segment(struct wal *wal, const struct wal_start *start, struct crypt_cipher *cipher)
{
    char name[WAL_NAME_BYTES];
    wal_segment_name(start->number, name);
    bool spare = spare_take(wal, SPARE_READY);
    int file = spare ? openat(wal->directory, SPARE_FILE, O_RDWR | O_CLOEXEC) : -1;
    bool again = file >= 0;
    if (!again)
        file = openat(wal->directory, NEW_FILE, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        return -1;
    bool ok = begin_file(wal, file, start, cipher, name, again);
    int why = errno;
    if (!ok) {
        (void)close(file);
        file = -1;
    }
    if (!ok)
        (void)unlinkat(wal->directory, again ? SPARE_FILE : NEW_FILE, 0);
    if (spare)
        wal->spare = SPARE_NONE;
    errno = why;
    if (!ok)
        discard_segment(wal, start->number);
    return file;
}

static void use_segment(struct wal *wal, int file, const struct wal_start *start,
                        struct crypt_cipher *cipher)
{
    struct stat status;
    bool sized = fstat(file, &status) == 0;
    ensure(pthread_mutex_lock(&wal->lock) == 0);
    int before = wal->file;
    wal->file = file;
    wal->number = start->number;
    if (wal->oldest == 0)
        wal->oldest = start->number;
    ensure(pthread_mutex_unlock(&wal->lock) == 0);
    wal->salt = start->salt;
    wal->offset = (off_t)wal_start_bytes(start);
    wal->allocated = sized ? status.st_size : wal->offset;
    crypt_cipher_free(wal->cipher);
    wal->cipher = cipher;
    wal->attempts = 0;
    if (before >= 0)
        (void)close(before);
}

// In an order in which each state of the two values is true.
static void promise_segment(struct wal *wal, uint64_t number, uint64_t mark)
{
    promise_set(wal->promise, PROMISE_SALT, 0);
    promise_set(wal->promise, PROMISE_SEGMENT, number);
    promise_set(wal->promise, PROMISE_SALT, mark);
}

// Begins the next segment. It is promised only when its header is on disk, and used only when that
// promise is: a last segment without a header either was promised, or never held anything.
static bool next_segment(struct wal *wal, uint64_t first, struct store_error *error)
{
    struct wal_start start = {
        .number = wal->number + 1, .first = first, .before = (uint32_t)wal_mark(wal->salt)};
    ensure(start.number <= UINT32_MAX);
    ensure(getrandom(&start.salt, sizeof(start.salt), 0) == sizeof(start.salt));
    struct crypt_cipher *cipher = NULL;
    if (wal->keys != NULL) {
        start.key = wal->keys->keys[wal->keys->count - 1].id;
        cipher = wal_cipher_new(wal->keys, &start, true);
    }
    int file = make_segment(wal, &start, cipher);
    if (file < 0) {
        (void)fail(error, "continuing");
        crypt_cipher_free(cipher);
        return false;
    }
    uint64_t before = promise_get(wal->promise, PROMISE_SEGMENT);
    uint64_t mark = promise_get(wal->promise, PROMISE_SALT);
    promise_segment(wal, start.number, wal_mark(start.salt));
    if (promise_sync(wal->promise, error)) {
        use_segment(wal, file, &start, cipher);
        return true;
    }
    struct store_error again;
    crypt_cipher_free(cipher);
    (void)close(file);
    promise_segment(wal, before, mark);
    discard_segment(wal, start.number);
    if (!promise_sync(wal->promise, &again))
        wal->broken = true;
    return false;
}

// One after the other, also after a power cut: a file is never missing between others. A flush and
// a recovery may be here at the same time; each file is removed once, and an `oldest` that ends up
// too low only has the next call look for files that are gone.
bool wal_drop_below(struct wal *wal, uint64_t number, struct store_error *error)
{
    ensure(pthread_mutex_lock(&wal->lock) == 0);
    uint64_t oldest = wal->oldest;
    ensure(pthread_mutex_unlock(&wal->lock) == 0);
    bool ok = true;
    for (; ok && oldest != 0 && oldest < number; oldest += ok) {
        char name[WAL_NAME_BYTES];
        wal_segment_name(oldest, name);
        ok = (spare_keep(wal, name) || unlinkat(wal->directory, name, 0) == 0 || errno == ENOENT) &&
             fsync(wal->directory) == 0;
    }
    if (!ok)
        (void)fail(error, "removing an old part of");
    ensure(pthread_mutex_lock(&wal->lock) == 0);
    wal->oldest = oldest;
    ensure(pthread_mutex_unlock(&wal->lock) == 0);
    return ok;
}

bool wal_rotate(struct wal *wal, uint64_t *number, struct store_error *error)
{
    if (!next_segment(wal, wal->sequence + 1, error))
        return false;
    *number = wal->number;
    return true;
}

bool wal_continue(struct wal *wal, uint64_t *number, struct store_error *error)
{
    if (!wal_rotate(wal, number, error))
        return false;
    wal->broken = false;
    return true;
}

static void set_synced(struct wal *wal, uint64_t sequence)
{
    wal->synced = sequence;
    promise_set(wal->promise, PROMISE_RECORDS, sequence);
}

// The promise is lowered first: records behind `applied` are void as soon as the new segment says
// where it begins. That is a new file: mostly the next one to read it is a start, which has to look
// at all of it.
bool wal_restart(struct wal *wal, uint64_t applied, struct store_error *error)
{
    wal->broken = true;
    spare_drop(wal);
    ensure(pthread_mutex_lock(&wal->lock) == 0);
    set_synced(wal, applied);
    promise_set(wal->promise, PROMISE_APPENDED, 0);
    ensure(pthread_mutex_unlock(&wal->lock) == 0);
    if (!promise_sync(wal->promise, error) || !next_segment(wal, applied + 1, error) ||
        !wal_drop_below(wal, wal->number, error))
        return false;
    wal->sequence = applied;
    wal->broken = false;
    return true;
}

bool wal_probe(struct wal *wal, size_t room, struct store_error *error)
{
    int file = openat(wal->directory, PROBE_FILE, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool fits = file >= 0 && write_at(file, SLICE_LIT("probe"), slice_of(NULL, 0), 0) &&
                fdatasync(file) == 0 && fsync(wal->directory) == 0;
    if (!fits)
        (void)fail(error, "writing");
    else if (fallocate(file, 0, 0, (off_t)room) != 0 && errno != EOPNOTSUPP)
        fits = fail(error, "finding room for");
    if (file >= 0)
        (void)close(file);
    (void)unlinkat(wal->directory, PROBE_FILE, 0);
    return fits;
}

size_t wal_segment_bytes(const struct wal *wal)
{
    return (size_t)wal->offset;
}

bool wal_is_gone(struct wal *wal)
{
    struct stat status;
    ensure(pthread_mutex_lock(&wal->lock) == 0);
    bool gone = wal->file >= 0 && fstat(wal->file, &status) == 0 && status.st_nlink == 0;
    ensure(pthread_mutex_unlock(&wal->lock) == 0);
    return gone;
}

void wal_measure(struct wal *wal, uint64_t *segments, uint64_t *bytes)
{
    *segments = 0;
    *bytes = 0;
    ensure(pthread_mutex_lock(&wal->lock) == 0);
    uint64_t oldest = wal->oldest;
    uint64_t newest = wal->number;
    ensure(pthread_mutex_unlock(&wal->lock) == 0);
    for (uint64_t number = oldest; number != 0 && number <= newest; number++) {
        char name[WAL_NAME_BYTES];
        struct stat status;
        wal_segment_name(number, name);
        if (fstatat(wal->directory, name, &status, 0) != 0)
            continue;
        *segments += 1;
        *bytes += (uint64_t)status.st_size;
    }
    struct stat spare;
    if (wal->spare == SPARE_READY && fstatat(wal->directory, SPARE_FILE, &spare, 0) == 0)
        *bytes += (uint64_t)spare.st_size;
}

// ---- Opening --------------------------------------------------------------------------------

// Writes the bytes of a file up to an end again where they are, and behind them the header of no
// record, and syncs it.
static bool rewrite(int file, uint64_t end)
{
    static const uint8_t no_record[WAL_HEADER];
    struct buf bytes;
    buf_init(&bytes, (size_t)2 << 30);
    bool ok = file_read(file, &bytes) && end <= bytes.len &&
              write_at(file, slice_of(bytes.ptr, end), slice_of(no_record, WAL_HEADER), 0) &&
              fdatasync(file) == 0;
    buf_release(&bytes);
    return ok;
}

// What was found is about to be seen, so it must be on disk. The last segment may not be: it was
// killed between append and sync, or its sync failed. After a failed sync the kernel takes the
// pages for written, and another sync would do nothing; so they are written again.
static bool keep_found(struct wal *wal, const struct wal_report *report)
{
    size_t i = report->segment_count;
    while (i > 0 && report->segments[i - 1].records == 0)
        i--;
    if (i == 0)
        return true;
    char name[WAL_NAME_BYTES];
    wal_segment_name(report->segments[i - 1].number, name);
    int file = openat(wal->directory, name, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return false;
    bool ok = rewrite(file, report->segments[i - 1].end);
    int why = errno;
    (void)close(file);
    errno = why;
    return ok;
}

struct wal *wal_open(const char *directory, const struct keyring *keys,
                     const struct wal_report *report, uint64_t applied, struct promise *promise,
                     struct store_error *error)
{
    struct wal *wal = memory_zeroed(sizeof(*wal));
    ensure(pthread_mutex_init(&wal->lock, NULL) == 0);
    wal->file = -1;
    wal->broken = true; // until wal_continue or wal_restart
    wal->promise = promise;
    wal->keys = keys;
    buf_init(&wal->sealed, WAL_RECORD_MAX);
    wal->sequence = report->last > applied ? report->last : applied;
    if (report->segment_count > 0) {
        wal->oldest = report->segments[0].number;
        wal->number = report->segments[report->segment_count - 1].number;
        wal->salt = report->segments[report->segment_count - 1].salt;
    }
    wal->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (wal->directory < 0 || !keep_found(wal, report)) {
        (void)fail(error, "opening");
        wal_close(wal);
        return NULL;
    }
    (void)unlinkat(wal->directory, SPARE_FILE, 0); // of a process that was killed
    (void)unlinkat(wal->directory, NEW_FILE, 0);
    set_synced(wal, wal->sequence);
    promise_begin(promise);
    return wal;
}

void wal_close(struct wal *wal)
{
    spare_drop(wal);
    if (wal->file >= 0)
        (void)close(wal->file);
    if (wal->directory >= 0)
        (void)close(wal->directory);
    crypt_cipher_free(wal->cipher);
    buf_release(&wal->sealed);
    ensure(pthread_mutex_destroy(&wal->lock) == 0);
    free(wal);
}

// ---- Appending ------------------------------------------------------------------------------

static void preallocate(struct wal *wal, off_t end)
{
    if (end <= wal->allocated || wal->sparing)
        return;
    // It is only for speed: if the disk has no room for it, it may still have for the record.
    off_t wanted = end + PREALLOCATE;
    if (fallocate(wal->file, 0, wal->allocated, wanted - wal->allocated) == 0)
        wal->allocated = wanted;
}

void wal_allocate_ahead(struct wal *wal, bool ahead)
{
    wal->sparing = !ahead;
    if (!ahead)
        spare_drop(wal);
}

uint64_t wal_sequence(const struct wal *wal)
{
    return wal->sequence;
}

bool wal_is_synced(const struct wal *wal)
{
    return wal->synced == wal->sequence;
}

void wal_break(struct wal *wal)
{
    wal->broken = true;
}

bool wal_broken(const struct wal *wal)
{
    return wal->broken;
}

static bool refuse(struct store_error *error)
{
    return store_fail(error, "the log is out of order until it has been begun anew");
}

// A record whose writing failed may be in the file all the same. Where there was no room it is
// not: less than all of it was written. Otherwise nothing must be left of it, not even on disk.
static enum store_end void_append(struct wal *wal, bool no_room)
{
    static const uint8_t no_record[WAL_HEADER];
    if (no_room ||
        (write_at(wal->file, slice_of(no_record, WAL_HEADER), slice_of(NULL, 0), wal->offset) &&
         fdatasync(wal->file) == 0))
        return STORE_NOT_DONE;
    wal->broken = true;
    return STORE_UNKNOWN;
}

enum store_end wal_append(struct wal *wal, struct slice payload, struct store_error *error)
{
    if (wal->broken) {
        (void)refuse(error);
        return STORE_NOT_DONE;
    }
    if (payload.len > WAL_RECORD_MAX - WAL_SEAL) {
        (void)store_fail(error, "a batch is too large for the log");
        return STORE_NOT_DONE;
    }
    uint64_t before = wal->sequence;
    // A record says how many before it may not be on disk: should another one be missing, then that
    // is damage, and not the end of what a power cut has left.
    struct wal_record record = {
        .sequence = before + 1, .unsynced = (uint32_t)(before - wal->synced), .payload = payload};
    uint8_t header[WAL_HEADER];
    if (wal->cipher != NULL)
        wal_record_seal(wal->cipher, ++wal->attempts, wal->salt, &record, &wal->sealed);
    payload = record.payload;
    wal_record_encode(&record, wal->salt, header);
    off_t end = wal->offset + (off_t)(WAL_HEADER + payload.len);
    preallocate(wal, end);
    // At a place, not at the end of the file: room was made ahead, and what a failed write has left
    // is written over. The rest of the last block is filled, so that the kernel need not read what
    // an old file has there; whether that succeeds does not matter.
    static const uint8_t zeros[BLOCK];
    const struct slice pieces[WRITE_PIECES] = {slice_of(header, WAL_HEADER), payload,
                                               slice_of(zeros, (size_t)(-end & (BLOCK - 1)))};
    if (write_pieces(wal->file, pieces, wal->offset) < WAL_HEADER + payload.len) {
        (void)fail(error, "writing");
        return void_append(wal, error->no_room);
    }
    wal->sequence = before + 1;
    wal->last = wal->offset;
    wal->offset = end;
    return STORE_DONE;
}

// The promise is lowered first, as in wal_restart.
bool wal_take_back(struct wal *wal, struct store_error *error)
{
    static const uint8_t no_record[WAL_HEADER];
    uint64_t before = wal->sequence - 1;
    ensure(pthread_mutex_lock(&wal->lock) == 0);
    if (wal->synced > before)
        set_synced(wal, before);
    bool ok = promise_sync(wal->promise, error);
    if (ok &&
        (!write_at(wal->file, slice_of(no_record, WAL_HEADER), slice_of(NULL, 0), wal->last) ||
         fdatasync(wal->file) != 0))
        ok = fail(error, "taking a record back from");
    if (ok) {
        wal->sequence = before;
        wal->offset = wal->last;
    } else {
        wal->broken = true;
    }
    ensure(pthread_mutex_unlock(&wal->lock) == 0);
    return ok;
}

// The lock is held while the disk works, so that a rotation does not close the file under it.
// Appending does not take it, and goes on meanwhile: what is appended from here on belongs to the
// next sync, since `appended` is read before this one begins.
bool wal_sync(struct wal *wal, struct store_error *error)
{
    if (wal->broken)
        return refuse(error);
    ensure(pthread_mutex_lock(&wal->lock) == 0);
    uint64_t appended = wal->sequence;
    bool ok = fdatasync(wal->file) == 0;
    if (!ok) {
        // Never tried again: the kernel may have dropped the pages and taken them for clean, and
        // another sync would succeed without having written them.
        wal->broken = true;
        (void)fail(error, "syncing");
    } else if (appended > wal->synced) {
        set_synced(wal, appended);
    }
    ensure(pthread_mutex_unlock(&wal->lock) == 0);
    return ok;
}

bool wal_promise(struct wal *wal, uint64_t sequence, struct store_error *error)
{
    ensure(pthread_mutex_lock(&wal->lock) == 0);
    if (promise_get(wal->promise, PROMISE_RECORDS) < sequence)
        promise_set(wal->promise, PROMISE_RECORDS, sequence);
    ensure(pthread_mutex_unlock(&wal->lock) == 0);
    return promise_sync(wal->promise, error);
}
