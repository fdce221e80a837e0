// See manifest.h. RocksDB's log format: blocks of 32 KB; in them pieces, each a masked CRC-32C of
// type and payload (u32), the payload's length (u16), and the type (1 whole edit; 2, 3, 4 first,
// middle and last piece of one). A rest of a block that is too short for a piece's head is empty.
#include "rocks/manifest.h"

#include "base/files.h"
#include "crypt/sealed.h"
#include "rocks/extras.h"
#include "store/store_driver.h"
#include "wal/format.h"

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
    MANIFEST_MAX = 1 << 30, // RocksDB begins a new one after 4 MB, and a snapshot of one is small
};

struct manifest {
    char name[64]; // of the file in db/
    uint64_t number;
    struct buf bytes;
    bool cut;           // something behind them could not be opened
    uint64_t whole;     // bytes of edits that are
    struct edits edits; // these
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

// Behind what is no piece: where it says that it ends, or at the next block.
static size_t behind_damage(struct slice bytes, size_t at)
{
    size_t left = BLOCK - at % BLOCK;
    uint16_t length = 0;
    if (left >= HEAD && at + HEAD <= bytes.len)
        memcpy(&length, bytes.ptr + at + 4, 2);
    size_t next;
    if (length > 0 && piece_at(bytes, at + HEAD + length, &next) != 0)
        return at + HEAD + length;
    return at + left;
}

// Reads the edits. Returns where the last whole one ends before anything that is not whole; with
// `around`, those behind it are read, too.
static uint64_t read_edits(struct slice bytes, bool around, struct edits *edits)
{
    uint64_t whole = 0;
    bool intact = true;
    bool inside = false;
    size_t begin = 0;
    struct buf edit;
    buf_init(&edit, bytes.len + 1);
    for (size_t at = 0, next = 0; at < bytes.len; at = next) {
        int type = piece_at(bytes, at, &next);
        bool begins = type == PIECE_WHOLE || type == PIECE_FIRST;
        if (type == 0 || begins == inside) {
            intact = false;
            if (!around)
                break;
            if (type == 0)
                next = behind_damage(bytes, at);
            else if (begins)
                next = at; // once more, as the first piece of an edit
            inside = false;
            continue;
        }
        if (begins) {
            begin = at;
            buf_clear(&edit);
        }
        size_t head = at + (BLOCK - at % BLOCK < HEAD ? BLOCK - at % BLOCK : 0) + HEAD;
        buf_add(&edit, bytes.ptr + head, next - head);
        inside = type == PIECE_FIRST || type == PIECE_MIDDLE;
        if (inside)
            continue;
        ensure_memory(edit.failed ? NULL : &edit);
        edits_add(edits, begin, buf_view(&edit));
        if (intact)
            whole = next;
    }
    buf_release(&edit);
    edits_settle(edits);
    return whole;
}

// The content of a file that is encrypted, in its place. `cut` if there is more than could be
// opened.
static void open_content(const struct keyring *keys, struct buf *bytes, bool around, bool *cut)
{
    struct buf plain;
    bool all;
    buf_init(&plain, MANIFEST_MAX);
    uint64_t whole = frames_read(keys, buf_view(bytes), &plain, &all);
    *cut = !all;
    buf_clear(bytes);
    buf_add(bytes, plain.ptr, around ? plain.len : whole);
    buf_release(&plain);
}

// The whole of it.
static bool read_named(int db, const char *name, struct buf *out)
{
    int file = openat(db, name, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool ok = file_read(file, out);
    int why = out->failed ? EFBIG : errno;
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

static bool damaged(const char *data, const char *name, uint64_t at, const char *what,
                    struct store_error *error)
{
    return store_fail(
        error,
        "db/%s is damaged at byte %llu: %s. Restore the directory from a copy, or run "
        "'dolmen repair %s'",
        name, (unsigned long long)at, what, data);
}

static bool missing(const char *data, const char *name, struct store_error *error)
{
    if (errno == EFBIG)
        return store_fail(error, "db/%s in %s has more than %d MB, which is no list of tables",
                          name, data, MANIFEST_MAX >> 20);
    if (errno != ENOENT)
        return store_fail_errno(error, "cannot read db/%s in %s", name, data);
    return store_fail(error,
                      "db/%s is missing. Restore the directory from a copy, or run "
                      "'dolmen repair %s'",
                      name, data);
}

static bool manifest_read(int db, const char *data, const struct keyring *keys,
                          struct manifest *out, struct store_error *error)
{
    buf_clear(&out->bytes);
    if (!read_named(db, "CURRENT", &out->bytes))
        return missing(data, "CURRENT", error);
    if (keys != NULL)
        open_content(keys, &out->bytes, false, &out->cut);
    out->number = parse_current(buf_view(&out->bytes), out->name);
    if (out->number == 0)
        return damaged(data, "CURRENT", 0, "it does not name a MANIFEST", error);
    buf_clear(&out->bytes);
    if (!read_named(db, out->name, &out->bytes))
        return missing(data, out->name, error);
    if (keys != NULL)
        open_content(keys, &out->bytes, false, &out->cut);
    out->whole = read_edits(buf_view(&out->bytes), false, &out->edits);
    return true;
}

// Puts a file with the whole edits in the place of the torn one, which stays under another name.
// At any moment the name stands for one of the two.
static bool cut(int db, const struct keyring *keys, const struct manifest *manifest,
                struct store_error *error)
{
    struct slice whole = slice_of(manifest->bytes.ptr, manifest->whole);
    struct buf sealed;
    buf_init(&sealed, MANIFEST_MAX);
    if (keys != NULL) {
        struct frame_writer *writer = frame_writer_new(keys, &sealed);
        frame_writer_add(writer, whole, &sealed);
        frame_writer_free(writer);
        whole = buf_view(&sealed);
    }
    char kept[80];
    char draft[80];
    (void)snprintf(kept, sizeof(kept), "%s.torn", manifest->name);
    (void)snprintf(draft, sizeof(draft), "%s.tmp", manifest->name);
    int file = openat(db, draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool ok = file >= 0 && file_write(file, whole) && fsync(file) == 0;
    buf_release(&sealed);
    if (file >= 0)
        (void)close(file);
    ok = ok && (linkat(db, manifest->name, db, kept, 0) == 0 || errno == EEXIST) &&
         renameat(db, draft, db, manifest->name) == 0 && fsync(db) == 0;
    return ok || store_fail_errno(error, "cutting db/%s failed", manifest->name);
}

// Shorter than was promised, or broken before that.
static bool ends_early(const struct manifest *manifest)
{
    return manifest->cut || manifest->whole < manifest->bytes.len;
}

static bool lacks_promised(const char *data, const struct manifest *manifest, uint64_t promised,
                           struct store_error *error)
{
    char what[160];
    if (ends_early(manifest))
        return damaged(data, manifest->name, manifest->whole, "an edit is not whole", error);
    (void)snprintf(what, sizeof(what),
                   "it ends there, but log/promise says that it has %llu bytes; one of the two is "
                   "damaged, or is not of this database",
                   (unsigned long long)promised);
    return damaged(data, manifest->name, manifest->whole, what, error);
}

// The first table of the list that has no file, or 0. RocksDB also takes files that end in .ldb.
static uint64_t missing_table(int db, const struct edits *edits)
{
    for (size_t i = 0; i < edits->table_count; i++) {
        char name[2][32];
        const struct edits_table *table = &edits->tables[i];
        (void)snprintf(name[0], sizeof(name[0]), "%06llu.sst", (unsigned long long)table->number);
        (void)snprintf(name[1], sizeof(name[1]), "%06llu.ldb", (unsigned long long)table->number);
        if (table->listed && faccessat(db, name[0], F_OK, 0) != 0 && errno == ENOENT &&
            faccessat(db, name[1], F_OK, 0) != 0)
            return table->number;
    }
    return 0;
}

// A table is removed only after the edit that says so was synced, and its content is in the tables
// that the same edit adds. So the tables that a list names are there if its last edit was never
// finished; if one is not, the edit was finished once, and was damaged later.
static enum manifest_state judge_tables(int db, const char *data, const struct manifest *manifest,
                                        struct store_error *error)
{
    uint64_t lacking = manifest->edits.unknown ? 0 : missing_table(db, &manifest->edits);
    if (lacking == 0)
        return MANIFEST_SOUND;
    char text[160];
    if (!ends_early(manifest)) {
        (void)snprintf(text, sizeof(text), "%06llu.sst", (unsigned long long)lacking);
        errno = ENOENT;
        (void)missing(data, text, error);
        return MANIFEST_LACKS_TABLE;
    }
    (void)snprintf(text, sizeof(text),
                   "an edit is not whole, and the edits before it name %06llu.sst, which is gone",
                   (unsigned long long)lacking);
    (void)damaged(data, manifest->name, manifest->whole, text, error);
    return MANIFEST_DAMAGED;
}

static enum manifest_state judge(int db, const char *data, const struct manifest *manifest,
                                 const uint64_t promised[PROMISE_VALUES], struct store_error *error)
{
    const struct edits *edits = &manifest->edits;
    bool same = manifest->number == promised[PROMISE_MANIFEST];
    uint64_t needed =
        same ? promised[PROMISE_MANIFEST_BYTES] : manifest->bytes.len + (uint64_t)manifest->cut;
    bool ok = true;
    if (manifest->number < promised[PROMISE_MANIFEST])
        ok = damaged(data, "CURRENT", 0,
                     "it names an older MANIFEST than log/promise does; one of the two is damaged, "
                     "or is not of this database",
                     error);
    else if (manifest->whole < needed)
        ok = lacks_promised(data, manifest, needed, error);
    else if (edits->fault != NULL)
        ok = damaged(data, manifest->name, edits->fault_at, edits->fault, error);
    return ok ? judge_tables(db, data, manifest, error) : MANIFEST_DAMAGED;
}

static int open_db(const char *data, struct store_error *error)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof(path), "%s/db", data);
    int db = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (db < 0)
        (void)store_fail_errno(error, "cannot open %s", path);
    return db;
}

static void manifest_init(struct manifest *manifest)
{
    buf_init(&manifest->bytes, MANIFEST_MAX);
    edits_init(&manifest->edits);
    manifest->whole = 0;
    manifest->cut = false;
}

static void manifest_release(struct manifest *manifest)
{
    buf_release(&manifest->bytes);
    edits_release(&manifest->edits);
}

enum manifest_state manifest_judge(const char *data, const struct keyring *keys,
                                   const uint64_t promised[PROMISE_VALUES],
                                   struct store_error *error)
{
    int db = open_db(data, error);
    if (db < 0)
        return MANIFEST_DAMAGED;
    struct manifest manifest;
    manifest_init(&manifest);
    enum manifest_state state = MANIFEST_DAMAGED;
    if (promised[PROMISE_MANIFEST] == 0 && faccessat(db, "CURRENT", F_OK, 0) != 0)
        state = MANIFEST_SOUND; // of a new directory
    else if (manifest_read(db, data, keys, &manifest, error))
        state = judge(db, data, &manifest, promised, error);
    if (state == MANIFEST_SOUND && ends_early(&manifest) && !cut(db, keys, &manifest, error))
        state = MANIFEST_DAMAGED;
    manifest_release(&manifest);
    (void)close(db);
    return state;
}

bool manifest_check(const char *data, const struct keyring *keys,
                    const uint64_t promised[PROMISE_VALUES], struct store_error *error)
{
    return manifest_judge(data, keys, promised, error) == MANIFEST_SOUND;
}

// The name of the newest list, where CURRENT does not say it.
static bool newest_list(int db, char name[64])
{
    uint64_t newest = 0;
    DIR *directory = directory_list(db);
    if (directory == NULL)
        return false;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char text[NAME_MAX + 2];
        char found[64];
        int length = snprintf(text, sizeof(text), "%s\n", entry->d_name);
        uint64_t number = parse_current(slice_of(text, (size_t)length), found);
        if (number > newest) {
            newest = number;
            memcpy(name, found, sizeof(found));
        }
    }
    (void)closedir(directory);
    return newest > 0;
}

// With the parts of its content that can be opened, each in its place.
static bool read_content(int db, const struct keyring *keys, const char *name, struct buf *out)
{
    bool cut;
    buf_clear(out);
    if (!read_named(db, name, out))
        return false;
    if (keys != NULL)
        open_content(keys, out, true, &cut);
    return true;
}

void manifest_tables(const char *data, const struct keyring *keys, struct edits *out)
{
    struct store_error ignored;
    char name[64];
    struct buf bytes;
    edits_init(out);
    int db = open_db(data, &ignored);
    if (db < 0)
        return;
    buf_init(&bytes, MANIFEST_MAX);
    bool named = read_content(db, keys, "CURRENT", &bytes) &&
                 parse_current(buf_view(&bytes), name) != 0 && faccessat(db, name, F_OK, 0) == 0;
    if ((named || newest_list(db, name)) && read_content(db, keys, name, &bytes))
        (void)read_edits(buf_view(&bytes), true, out);
    buf_release(&bytes);
    (void)close(db);
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

bool manifest_promise(const char *data, const struct keyring *keys, struct promise *promise,
                      struct store_error *error)
{
    int db = open_db(data, error);
    if (db < 0)
        return false;
    struct manifest manifest;
    manifest_init(&manifest);
    bool ok = manifest_read(db, data, keys, &manifest, error) &&
              (sync_named(db, manifest.name) || missing(data, manifest.name, error));
    if (ok)
        set_values(promise, manifest.number, manifest.whole);
    manifest_release(&manifest);
    (void)close(db);
    return ok && promise_sync(promise, error);
}
