// See wal.h. The appending thread owns what has no other remark; `lock` keeps the active file open
// while it is synced, and the list of segments whole while some are dropped.
#include "store/wal.h"

#include "base/encode.h"
#include "store/store_driver.h"

#include <dirent.h>
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

enum {
    MAGIC_BYTES = 4,
    SALT_AT = 8, // behind the magic and the salt's checksum
    START = 16,  // where the first record stands
    HEADER_BYTES = 16,
    RECORD_MAX = 512 << 20, // a longer one is no record
    PREALLOCATE = 4 << 20,  // so that a sync seldom has to write the file's size
    NAME_BYTES = 32,
};

static const uint8_t magic[MAGIC_BYTES] = {'D', 'L', 'O', 'G'};

struct wal {
    pthread_mutex_t lock;
    int directory;
    int file;             // the active segment, or -1; changed under the lock
    uint64_t number;      // of the active segment; changed under the lock
    uint64_t oldest;      // the oldest segment that may be there; under the lock
    uint64_t salt;        // of the active segment
    uint64_t sequence;    // of the last record
    _Atomic off_t offset; // where the next record goes
    off_t allocated;
    uint64_t last_found; // by wal_open: the last segment with records, or 0
    off_t last_end;      // and where they end
    atomic_bool broken;  // only wal_restart helps
};

static bool fail(struct store_error *error, const char *doing)
{
    return store_fail(error, "%s the log failed: %s", doing, strerror(errno));
}

static void segment_name(uint64_t number, char out[NAME_BYTES])
{
    (void)snprintf(out, NAME_BYTES, "%010llu.log", (unsigned long long)number);
}

// The number of a segment's file name, or 0.
static uint64_t segment_number(const char *name)
{
    char *end;
    uint64_t number = strtoull(name, &end, 10);
    return strcmp(end, ".log") == 0 ? number : 0;
}

// ---- Replay ---------------------------------------------------------------------------------

static uint32_t get32(const uint8_t *from)
{
    uint32_t value;
    memcpy(&value, from, 4);
    return value;
}

static uint64_t get64(const uint8_t *from)
{
    uint64_t value;
    memcpy(&value, from, 8);
    return value;
}

static uint32_t checksum(const uint8_t *header, struct slice payload)
{
    return crc32_more(crc32_of(slice_of(header + 4, HEADER_BYTES - 4)), payload);
}

// The whole record at the front of the bytes; false if there is none.
static bool record_at(struct slice bytes, uint64_t salt, struct slice *payload, uint64_t *sequence)
{
    if (bytes.len < HEADER_BYTES)
        return false;
    uint32_t length = get32(bytes.ptr + 4);
    if (length > RECORD_MAX || length > bytes.len - HEADER_BYTES)
        return false;
    *sequence = get64(bytes.ptr + 8) ^ salt;
    *payload = slice_of(bytes.ptr + HEADER_BYTES, length);
    return checksum(bytes.ptr, *payload) == get32(bytes.ptr);
}

// The salt of a segment; false if its start was never finished, so that nothing was logged in it.
static bool segment_salt(struct slice bytes, uint64_t *salt)
{
    if (bytes.len < START || memcmp(bytes.ptr, magic, MAGIC_BYTES) != 0)
        return false;
    *salt = get64(bytes.ptr + SALT_AT);
    return crc32_of(slice_of(bytes.ptr + SALT_AT, 8)) == get32(bytes.ptr + MAGIC_BYTES);
}

static bool replay_records(struct wal *wal, uint64_t number, struct slice bytes, wal_replay replay,
                           void *context, struct store_error *error)
{
    uint64_t salt;
    if (!segment_salt(bytes, &salt))
        return true;
    struct slice rest = slice_of(bytes.ptr + START, bytes.len - START);
    struct slice payload;
    uint64_t sequence;
    for (bool first = true; record_at(rest, salt, &payload, &sequence); first = false) {
        bool next = wal->sequence == 0 || sequence == wal->sequence + 1;
        if (!next && first)
            return store_fail(error, "the log is damaged: record %llu is followed by record %llu",
                              (unsigned long long)wal->sequence, (unsigned long long)sequence);
        if (!next)
            return true;
        if (!replay(context, payload, error))
            return false;
        wal->sequence = sequence;
        size_t whole = HEADER_BYTES + payload.len;
        rest = slice_of(rest.ptr + whole, rest.len - whole);
        wal->last_found = number;
        wal->last_end = rest.ptr - bytes.ptr;
    }
    return true;
}

static bool read_file(int file, struct buf *out)
{
    ssize_t got = 1;
    while (got > 0) {
        uint8_t *to = buf_reserve(out, 1 << 20);
        if (to == NULL) {
            errno = ENOMEM;
            return false;
        }
        got = read(file, to, 1 << 20);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            out->len += (size_t)got;
    }
    return got == 0;
}

static bool replay_segment(struct wal *wal, uint64_t number, wal_replay replay, void *context,
                           struct store_error *error)
{
    char name[NAME_BYTES];
    segment_name(number, name);
    int file = openat(wal->directory, name, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT || fail(error, "reading");
    struct buf bytes;
    buf_init(&bytes, (size_t)2 << 30);
    bool ok = read_file(file, &bytes) || fail(error, "reading");
    (void)close(file);
    ok = ok && replay_records(wal, number, buf_view(&bytes), replay, context, error);
    buf_release(&bytes);
    return ok;
}

// The lowest and highest segment numbers; 0 if there are none.
static bool find_segments(struct wal *wal, struct store_error *error)
{
    int copy = openat(wal->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = copy < 0 ? NULL : fdopendir(copy);
    if (listing == NULL)
        return fail(error, "reading");
    struct dirent *entry;
    while ((entry = readdir(listing)) != NULL) {
        uint64_t number = segment_number(entry->d_name);
        if (number == 0)
            continue;
        if (wal->oldest == 0 || number < wal->oldest)
            wal->oldest = number;
        if (number > wal->number)
            wal->number = number;
    }
    (void)closedir(listing);
    return true;
}

static bool replay_all(struct wal *wal, wal_replay replay, void *context, struct store_error *error)
{
    if (!find_segments(wal, error))
        return false;
    for (uint64_t number = wal->oldest; number != 0 && number <= wal->number; number++) {
        if (!replay_segment(wal, number, replay, context, error))
            return false;
    }
    return true;
}

struct wal *wal_open(const char *directory, wal_replay replay, void *context,
                     struct store_error *error)
{
    struct wal *wal = calloc(1, sizeof(*wal));
    ensure(wal != NULL);
    ensure(pthread_mutex_init(&wal->lock, NULL) == 0);
    wal->file = -1;
    wal->broken = true; // until wal_restart
    wal->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (wal->directory < 0) {
        (void)fail(error, "opening the directory of");
        ensure(pthread_mutex_destroy(&wal->lock) == 0);
        free(wal);
        return NULL;
    }
    if (!replay_all(wal, replay, context, error)) {
        wal_close(wal);
        return NULL;
    }
    return wal;
}

bool wal_replayed(const struct wal *wal)
{
    return wal->last_found != 0;
}

void wal_close(struct wal *wal)
{
    if (wal->file >= 0)
        (void)close(wal->file);
    (void)close(wal->directory);
    ensure(pthread_mutex_destroy(&wal->lock) == 0);
    free(wal);
}

// ---- Segments -------------------------------------------------------------------------------

// Writes both pieces, one behind the other, at the place.
static bool write_at(int file, struct slice head, struct slice body, off_t at)
{
    while (head.len + body.len > 0) {
        struct iovec pieces[2] = {{(void *)(uintptr_t)head.ptr, head.len},
                                  {(void *)(uintptr_t)body.ptr, body.len}};
        ssize_t done = pwritev(file, pieces, 2, at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        size_t of_head = (size_t)done < head.len ? (size_t)done : head.len;
        size_t of_body = (size_t)done - of_head;
        head = slice_of(head.ptr + of_head, head.len - of_head);
        body = slice_of(body.ptr + of_body, body.len - of_body);
    }
    return true;
}

// Makes the file of a segment, on disk with its name. Returns it, or -1.
static int make_segment(struct wal *wal, uint64_t number, uint64_t *salt)
{
    char name[NAME_BYTES];
    segment_name(number, name);
    uint8_t start[START];
    ensure(getrandom(salt, sizeof(*salt), 0) == sizeof(*salt));
    uint32_t sum = crc32_of(slice_of(salt, sizeof(*salt)));
    memcpy(start, magic, MAGIC_BYTES);
    memcpy(start + MAGIC_BYTES, &sum, sizeof(sum));
    memcpy(start + SALT_AT, salt, sizeof(*salt));
    int file = openat(wal->directory, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        return -1;
    if (write_at(file, slice_of(start, START), slice_of(NULL, 0), 0) && fdatasync(file) == 0 &&
        fsync(wal->directory) == 0)
        return file;
    int why = errno;
    (void)close(file);
    (void)unlinkat(wal->directory, name, 0);
    errno = why;
    return -1;
}

static void use_segment(struct wal *wal, int file, uint64_t number, uint64_t salt)
{
    ensure(pthread_mutex_lock(&wal->lock) == 0);
    int before = wal->file;
    wal->file = file;
    wal->number = number;
    if (wal->oldest == 0)
        wal->oldest = number;
    ensure(pthread_mutex_unlock(&wal->lock) == 0);
    wal->salt = salt;
    wal->offset = START;
    wal->allocated = START;
    if (before >= 0)
        (void)close(before);
}

static bool drop_below(struct wal *wal, uint64_t number)
{
    while (wal->oldest != 0 && wal->oldest < number) {
        char name[NAME_BYTES];
        segment_name(wal->oldest, name);
        if (unlinkat(wal->directory, name, 0) != 0 && errno != ENOENT)
            return false;
        wal->oldest++;
    }
    return fsync(wal->directory) == 0;
}

bool wal_drop_below(struct wal *wal, uint64_t number, struct store_error *error)
{
    ensure(pthread_mutex_lock(&wal->lock) == 0);
    bool ok = drop_below(wal, number) || fail(error, "removing an old part of");
    ensure(pthread_mutex_unlock(&wal->lock) == 0);
    return ok;
}

bool wal_restart(struct wal *wal, struct store_error *error)
{
    wal->broken = true;
    uint64_t next = wal->number + 1;
    uint64_t salt;
    if (!wal_drop_below(wal, next, error))
        return false;
    int file = make_segment(wal, next, &salt);
    if (file < 0)
        return fail(error, "beginning");
    use_segment(wal, file, next, salt);
    wal->broken = false;
    return true;
}

// Writes the bytes of a file up to an end again where they are, and behind them the header of no
// record, and syncs it.
static bool rewrite(int file, off_t end)
{
    static const uint8_t no_record[HEADER_BYTES];
    struct buf bytes;
    buf_init(&bytes, (size_t)2 << 30);
    bool ok =
        read_file(file, &bytes) && (size_t)end <= bytes.len &&
        write_at(file, slice_of(bytes.ptr, (size_t)end), slice_of(no_record, HEADER_BYTES), 0) &&
        fdatasync(file) == 0;
    buf_release(&bytes);
    return ok;
}

// What was replayed is about to be seen, so it must be on disk. The last segment may not be: it was
// killed between append and sync, or its sync failed. After a failed sync the kernel takes the
// pages for written, and another sync would do nothing; so they are written again.
static bool keep_replayed(struct wal *wal)
{
    if (wal->last_found == 0)
        return true;
    char name[NAME_BYTES];
    segment_name(wal->last_found, name);
    int file = openat(wal->directory, name, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return false;
    bool ok = rewrite(file, wal->last_end);
    int why = errno;
    (void)close(file);
    errno = why;
    return ok;
}

bool wal_continue(struct wal *wal, uint64_t *number, struct store_error *error)
{
    if (!keep_replayed(wal))
        return fail(error, "keeping");
    if (!wal_rotate(wal, number, error))
        return false;
    wal->broken = false;
    return true;
}

bool wal_probe(struct wal *wal, size_t room, struct store_error *error)
{
    uint64_t salt;
    char name[NAME_BYTES];
    uint64_t next = wal->number + 1;
    int file = make_segment(wal, next, &salt);
    if (file < 0)
        return fail(error, "writing");
    bool fits = fallocate(file, 0, 0, (off_t)room) == 0 || errno == EOPNOTSUPP;
    if (!fits)
        (void)fail(error, "finding room for");
    (void)close(file);
    segment_name(next, name);
    (void)unlinkat(wal->directory, name, 0);
    return fits;
}

bool wal_rotate(struct wal *wal, uint64_t *number, struct store_error *error)
{
    uint64_t next = wal->number + 1;
    uint64_t salt;
    int file = make_segment(wal, next, &salt);
    if (file < 0)
        return fail(error, "continuing");
    use_segment(wal, file, next, salt);
    *number = next;
    return true;
}

size_t wal_segment_bytes(const struct wal *wal)
{
    return (size_t)wal->offset;
}

void wal_measure(struct wal *wal, uint64_t *segments, uint64_t *bytes)
{
    *segments = 0;
    *bytes = 0;
    ensure(pthread_mutex_lock(&wal->lock) == 0);
    for (uint64_t number = wal->oldest; number != 0 && number <= wal->number; number++) {
        char name[NAME_BYTES];
        struct stat status;
        segment_name(number, name);
        if (fstatat(wal->directory, name, &status, 0) != 0)
            continue;
        *segments += 1;
        *bytes += (uint64_t)status.st_size;
    }
    ensure(pthread_mutex_unlock(&wal->lock) == 0);
}

// ---- Appending ------------------------------------------------------------------------------

static void preallocate(struct wal *wal, off_t end)
{
    if (end <= wal->allocated)
        return;
    // It is only for speed: if the disk has no room for it, it may still have for the record.
    off_t wanted = end + PREALLOCATE;
    if (fallocate(wal->file, 0, wal->allocated, wanted - wal->allocated) == 0)
        wal->allocated = wanted;
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

bool wal_append(struct wal *wal, struct slice payload, struct store_error *error)
{
    if (wal->broken)
        return refuse(error);
    if (payload.len > RECORD_MAX)
        return store_fail(error, "a batch is too large for the log");
    uint8_t header[HEADER_BYTES];
    uint32_t length = (uint32_t)payload.len;
    uint64_t salted = (wal->sequence + 1) ^ wal->salt;
    memcpy(header + 4, &length, 4);
    memcpy(header + 8, &salted, 8);
    uint32_t sum = checksum(header, payload);
    memcpy(header, &sum, 4);
    off_t end = wal->offset + (off_t)(HEADER_BYTES + payload.len);
    preallocate(wal, end);
    if (!write_at(wal->file, slice_of(header, HEADER_BYTES), payload, wal->offset))
        return fail(error, "writing");
    wal->sequence++;
    wal->offset = end;
    return true;
}

bool wal_sync(struct wal *wal, struct store_error *error)
{
    if (wal->broken)
        return refuse(error);
    ensure(pthread_mutex_lock(&wal->lock) == 0);
    bool ok = fdatasync(wal->file) == 0;
    if (!ok) {
        wal->broken = true;
        (void)fail(error, "syncing");
    }
    ensure(pthread_mutex_unlock(&wal->lock) == 0);
    return ok;
}
