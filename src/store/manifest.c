// See manifest.h. RocksDB's log format: blocks of 32 KB; in them pieces, each a masked CRC-32C of
// type and payload (u32), the payload's length (u16), and the type (1 whole edit; 2, 3, 4 first,
// middle and last piece of one). A rest of a block that is too short for a piece's head is empty.
#include "store/manifest.h"

#include "base/buf.h"
#include "store/store_driver.h"
#include "store/wal_format.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK = 32768,
    HEAD = 7,
    PIECE_WHOLE = 1,
    PIECE_FIRST = 2,
    PIECE_MIDDLE = 3,
    PIECE_LAST = 4,
};

// rocksdb_extras.cc
uint32_t rocks_crc32c(const void *bytes, size_t length);

struct manifest {
    char name[64]; // of the file in db/
    uint64_t number;
    struct buf bytes;
    uint64_t whole; // bytes of edits that are
};

// The piece at a place: its type, and where the next one stands. 0 if there is none.
static int piece_at(struct slice bytes, size_t at, size_t *next)
{
    size_t left = BLOCK - at % BLOCK;
    if (left < HEAD)
        at += left;
    if (at + HEAD > bytes.len)
        return 0;
    const uint8_t *head = bytes.ptr + at;
    uint32_t sum;
    uint16_t length;
    memcpy(&sum, head, 4);
    memcpy(&length, head + 4, 2);
    if (at % BLOCK + HEAD + length > BLOCK || at + HEAD + length > bytes.len)
        return 0;
    uint32_t crc = rocks_crc32c(head + 6, (size_t)length + 1);
    if (sum != ((crc >> 15) | (crc << 17)) + 0xa282ead8u)
        return 0;
    *next = at + HEAD + length;
    return head[6] <= PIECE_LAST ? head[6] : 0;
}

// Where the last whole edit ends.
static uint64_t whole_edits(struct slice bytes)
{
    uint64_t whole = 0;
    size_t at = 0;
    bool inside = false;
    int type;
    while ((type = piece_at(bytes, at, &at)) != 0) {
        bool begins = type == PIECE_WHOLE || type == PIECE_FIRST;
        if (begins == inside)
            break;
        inside = type == PIECE_FIRST || type == PIECE_MIDDLE;
        if (!inside)
            whole = at;
    }
    return whole;
}

static bool read_named(int db, const char *name, struct buf *out)
{
    int file = openat(db, name, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool ok = wal_read_file(file, out);
    int why = errno;
    (void)close(file);
    errno = why;
    return ok;
}

// The number in CURRENT, or 0 if it is not what RocksDB writes.
static uint64_t parse_current(struct slice text, char name[64])
{
    unsigned long long number = 0;
    char copy[64];
    if (text.len >= sizeof(copy))
        return 0;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    if (sscanf(copy, "MANIFEST-%12llu", &number) != 1)
        return 0;
    (void)snprintf(name, 64, "MANIFEST-%06llu\n", number);
    bool canonical = strcmp(name, copy) == 0;
    name[strlen(name) - 1] = 0;
    return canonical ? number : 0;
}

static const char advice[] = "Restore the directory from a copy, or run 'dolmen repair";

static bool damaged(const char *data, const char *name, uint64_t at, const char *what,
                    struct store_error *error)
{
    return store_fail(error, "%.200s/db/%s is damaged at byte %llu: %s. %s %.100s'", data, name,
                      (unsigned long long)at, what, advice, data);
}

static bool missing(const char *data, const char *name, struct store_error *error)
{
    if (errno != ENOENT)
        return store_fail(error, "cannot read %.300s/db/%s: %s", data, name, strerror(errno));
    return store_fail(error, "%.200s/db/%s is missing. %s %.100s'", data, name, advice, data);
}

static bool manifest_read(int db, const char *data, struct manifest *out, struct store_error *error)
{
    buf_clear(&out->bytes);
    if (!read_named(db, "CURRENT", &out->bytes))
        return missing(data, "CURRENT", error);
    out->number = parse_current(buf_view(&out->bytes), out->name);
    if (out->number == 0)
        return damaged(data, "CURRENT", 0, "it does not name a MANIFEST", error);
    buf_clear(&out->bytes);
    if (!read_named(db, out->name, &out->bytes))
        return missing(data, out->name, error);
    out->whole = whole_edits(buf_view(&out->bytes));
    return true;
}

// Puts a file with the whole edits in the place of the torn one, which stays under another name.
// At any moment the name stands for one of the two.
static bool cut(int db, const struct manifest *manifest, struct store_error *error)
{
    char kept[80];
    char draft[80];
    (void)snprintf(kept, sizeof(kept), "%s.torn", manifest->name);
    (void)snprintf(draft, sizeof(draft), "%s.tmp", manifest->name);
    int file = openat(db, draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool ok = file >= 0 &&
              write(file, manifest->bytes.ptr, manifest->whole) == (ssize_t)manifest->whole &&
              fsync(file) == 0;
    if (file >= 0)
        (void)close(file);
    ok = ok && (linkat(db, manifest->name, db, kept, 0) == 0 || errno == EEXIST) &&
         renameat(db, draft, db, manifest->name) == 0 && fsync(db) == 0;
    return ok || store_fail(error, "cutting db/%s failed: %s", manifest->name, strerror(errno));
}

static bool judge(int db, const char *data, const struct manifest *manifest,
                  const uint64_t promised[PROMISE_VALUES], struct store_error *error)
{
    bool same = manifest->number == promised[PROMISE_MANIFEST];
    if (manifest->number < promised[PROMISE_MANIFEST])
        return damaged(data, "CURRENT", 0, "it names a MANIFEST that is out of date", error);
    if (manifest->whole < (same ? promised[PROMISE_MANIFEST_BYTES] : manifest->bytes.len))
        return damaged(data, manifest->name, manifest->whole, "an edit is not whole", error);
    return manifest->whole == manifest->bytes.len || cut(db, manifest, error);
}

static int open_db(const char *data, struct store_error *error)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof(path), "%s/db", data);
    int db = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (db < 0)
        (void)store_fail(error, "cannot open %.400s: %s", path, strerror(errno));
    return db;
}

bool manifest_check(const char *data, const uint64_t promised[PROMISE_VALUES],
                    struct store_error *error)
{
    int db = open_db(data, error);
    if (db < 0)
        return false;
    struct manifest manifest;
    buf_init(&manifest.bytes, (size_t)1 << 30);
    bool is_new = promised[PROMISE_MANIFEST] == 0 && faccessat(db, "CURRENT", F_OK, 0) != 0;
    bool ok = is_new || (manifest_read(db, data, &manifest, error) &&
                         judge(db, data, &manifest, promised, error));
    buf_release(&manifest.bytes);
    (void)close(db);
    return ok;
}

static bool sync_named(int db, const char *name)
{
    int file = openat(db, name, O_RDONLY | O_CLOEXEC);
    bool ok = file >= 0 && fdatasync(file) == 0;
    if (file >= 0)
        (void)close(file);
    return ok;
}

// In an order in which each state of the two values is true.
static void set_values(struct promise *promise, uint64_t number, uint64_t bytes)
{
    if (promise_get(promise, PROMISE_MANIFEST) != number) {
        promise_set(promise, PROMISE_MANIFEST_BYTES, 0);
        promise_set(promise, PROMISE_MANIFEST, number);
    }
    promise_set(promise, PROMISE_MANIFEST_BYTES, bytes);
}

bool manifest_promise(const char *data, struct promise *promise, struct store_error *error)
{
    int db = open_db(data, error);
    if (db < 0)
        return false;
    struct manifest manifest;
    buf_init(&manifest.bytes, (size_t)1 << 30);
    bool ok = manifest_read(db, data, &manifest, error) &&
              (sync_named(db, manifest.name) || missing(data, manifest.name, error));
    if (ok)
        set_values(promise, manifest.number, manifest.whole);
    buf_release(&manifest.bytes);
    (void)close(db);
    return ok && promise_sync(promise, error);
}
