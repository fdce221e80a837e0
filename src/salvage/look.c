// See look.h.
#include "salvage/look.h"

#include "base/files.h"
#include "rocks/data_dir.h"
#include "rocks/extras.h"
#include "rocks/options.h"
#include "rocks/tables.h"
#include "store/store_driver.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY_PIECE = 1 << 20 };

// The directories of a data directory, itself first.
static const char *const parts[] = {"", "/db", "/log"};

// Files that RocksDB writes once and then only reads or removes.
static bool is_immutable(const char *name)
{
    return rocks_ends_with(name, ".sst") || rocks_ends_with(name, ".blob") ||
           rocks_ends_with(name, ".unlisted");
}

// ---- Copying ------------------------------------------------------------------------------------

static bool is_empty(const char *piece, size_t length)
{
    return piece[0] == 0 && memcmp(piece, piece + 1, length - 1) == 0;
}

// Room that a log has made ahead stays a hole.
static bool copy_bytes(int from, int to)
{
    char *piece = malloc(COPY_PIECE);
    ensure(piece != NULL);
    ssize_t got;
    off_t length = 0;
    bool ok = true;
    while (ok && (got = read(from, piece, COPY_PIECE)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        ok = got > 0 &&
             (is_empty(piece, (size_t)got) ? lseek(to, got, SEEK_CUR) >= 0
                                           : file_write(to, slice_of(piece, (size_t)got)));
        length += got;
    }
    free(piece);
    return ok && ftruncate(to, length) == 0;
}

static bool copy_file(const char *from, const char *to, struct store_error *error)
{
    int source = open(from, O_RDONLY | O_CLOEXEC);
    if (source < 0)
        return store_fail_errno(error, "cannot read %s", from);
    int target = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = target >= 0 && copy_bytes(source, target);
    if (!ok)
        (void)store_fail_errno(error, "cannot copy to %s", to);
    if (target >= 0)
        (void)close(target);
    (void)close(source);
    return ok;
}

static bool take_file(void *context, const char *directory, const char *name,
                      struct store_error *error)
{
    char from[2 * PATH_MAX];
    char to[2 * PATH_MAX];
    (void)snprintf(from, sizeof(from), "%s/%s", directory, name);
    (void)snprintf(to, sizeof(to), "%s/%s", (const char *)context, name);
    if (!is_immutable(name))
        return strcmp(name, "LOCK") == 0 || copy_file(from, to, error);
    return symlink(from, to) == 0 || store_fail_errno(error, "cannot make a link %s", to);
}

static bool take_all(const struct look *look, struct store_error *error)
{
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        char from[PATH_MAX + 8];
        char to[PATH_MAX + 8];
        (void)snprintf(from, sizeof(from), "%s%s", look->data, parts[i]);
        (void)snprintf(to, sizeof(to), "%s%s", look->scratch, parts[i]);
        if (i > 0 && mkdir(to, 0700) != 0)
            return store_fail_errno(error, "cannot make the directory %s", to);
        if (!rocks_each_file(from, take_file, to, error))
            return false;
    }
    return true;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    (void)remove(path);
    return 0;
}

// What is left behind, should a file not go, has a name that says what it is.
void look_remove(const char *directory)
{
    enum { OPEN_DIRECTORIES = 8 };
    (void)nftw(directory, remove_entry, OPEN_DIRECTORIES, FTW_DEPTH | FTW_PHYS);
}

// ---- What is beside the store -------------------------------------------------------------------

static bool copy_tree(const char *from, const char *to, struct store_error *error);

static bool copy_entry(const char *from, const char *to, struct store_error *error)
{
    struct stat status;
    if (lstat(from, &status) != 0)
        return store_fail_errno(error, "cannot read %s", from);
    if (S_ISDIR(status.st_mode))
        return copy_tree(from, to, error);
    return !S_ISREG(status.st_mode) || copy_file(from, to, error);
}

static bool copy_tree(const char *from, const char *to, struct store_error *error)
{
    DIR *dir = opendir(from);
    if (dir == NULL)
        return errno == ENOENT || store_fail_errno(error, "cannot read the directory %s", from);
    bool ok = mkdir(to, 0750) == 0 || store_fail_errno(error, "cannot make the directory %s", to);
    for (struct dirent *entry; ok && (entry = readdir(dir)) != NULL;) {
        char one[PATH_MAX];
        char other[PATH_MAX];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        int length = snprintf(one, sizeof(one), "%s/%s", from, entry->d_name);
        int length_other = snprintf(other, sizeof(other), "%s/%s", to, entry->d_name);
        errno = ENAMETOOLONG;
        ok = ((size_t)length < sizeof(one) && (size_t)length_other < sizeof(other))
                 ? copy_entry(one, other, error)
                 : store_fail_errno(error, "cannot copy %s", from);
    }
    (void)closedir(dir);
    return ok;
}

bool look_copy_rest(const struct look *look, const char *to, struct store_error *error)
{
    static const char *const rest[] = {"buckets", "kinesis"};
    bool ok = true;
    for (size_t i = 0; ok && i < COUNT_OF(rest); i++) {
        char from[PATH_MAX + 16];
        char copy[PATH_MAX + 16];
        (void)snprintf(from, sizeof(from), "%s/%s", look->data, rest[i]);
        (void)snprintf(copy, sizeof(copy), "%s/%s", to, rest[i]);
        ok = copy_tree(from, copy, error);
    }
    return ok;
}

// The log is copied, may become tables there, and is written once more into the new log and tables;
// tables are written once. A new log and a little for everything else come on top.
uint64_t look_room(const struct look *look)
{
    enum { LOG_TIMES = 4, SLACK = 40 << 20 };
    uint64_t bytes = SLACK;
    for (size_t i = 1; i < COUNT_OF(parts); i++) {
        char path[PATH_MAX + 8];
        (void)snprintf(path, sizeof(path), "%s%s", look->data, parts[i]);
        DIR *dir = opendir(path);
        struct dirent *entry;
        while (dir != NULL && (entry = readdir(dir)) != NULL) {
            struct stat status;
            bool is_log = rocks_ends_with(entry->d_name, ".log");
            if (fstatat(dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                S_ISREG(status.st_mode))
                bytes += (is_log ? LOG_TIMES : 1) * (uint64_t)status.st_size;
        }
        if (dir != NULL)
            (void)closedir(dir);
    }
    return bytes;
}

// ---- Opening ------------------------------------------------------------------------------------

// Locks it as the store does. A directory that is none of ours is not touched.
static bool lock(struct look *look, const char *data, struct store_error *error)
{
    look->fd = open(data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (look->fd < 0)
        return store_fail_errno(error, "cannot open the directory %s", data);
    bool ok = true;
    if (flock(look->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        error->in_use = true;
        ok = store_fail(error, "the directory %s is in use by another process", data);
    } else if (faccessat(look->fd, "FORMAT", F_OK, 0) != 0 &&
               faccessat(look->fd, "db", F_OK, 0) != 0) {
        ok = store_fail(error, "%s is not a data directory of dolmen", data);
    }
    if (!ok)
        (void)close(look->fd);
    return ok;
}

bool look_scratch(const char *unfinished, char out[PATH_MAX], struct store_error *error)
{
    const char *chosen = getenv("TMPDIR");
    if (chosen == NULL || chosen[0] == 0)
        chosen = "/tmp";
    int len = unfinished != NULL ? snprintf(out, PATH_MAX, "%s.unfinished-XXXXXX", unfinished)
                                 : snprintf(out, PATH_MAX, "%s/dolmen-XXXXXX", chosen);
    if (len < 0 || (size_t)len >= PATH_MAX - 32)
        return store_fail(error, "the path of the directory for temporary files is too long");
    return mkdtemp(out) != NULL || store_fail_errno(error, "cannot make the directory %s", out);
}

static int read_format(const struct look *look)
{
    char text[32] = "";
    int format = 0;
    int file = openat(look->fd, "FORMAT", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    if (read(file, text, sizeof(text) - 1) <= 0 || sscanf(text, "dolmen format %9d", &format) != 1)
        format = 0;
    (void)close(file);
    return format;
}

static bool make_scratch(struct look *look, const char *scratch, struct store_error *error)
{
    if (scratch == NULL)
        return look_scratch(NULL, look->scratch, error);
    (void)snprintf(look->scratch, sizeof(look->scratch), "%s", scratch);
    return mkdir(scratch, 0700) == 0 ||
           store_fail_errno(error, "cannot make the directory %s", scratch);
}

// A directory that lost its FORMAT is encrypted if it has keys.
static bool open_keys(struct look *look, const char *data, struct store_error *error)
{
    if (look->format != DATA_DIR_FORMAT_SEALED && !keyring_is_there(look->fd))
        return true;
    if (!data_dir_keys(look->fd, data, look->master, &look->keys, error))
        return false;
    look->files = rocks_files_new(look->keys);
    return true;
}

static void release(struct look *look)
{
    rocks_files_free(look->files);
    data_dir_keys_free(look->keys);
    (void)close(look->fd);
}

bool look_open(struct look *look, const char *data, const char *scratch,
               const struct crypt_key *master, struct store_error *error)
{
    *error = (struct store_error){0};
    look->master = master;
    look->keys = NULL;
    look->files = NULL;
    if (!lock(look, data, error))
        return false;
    look->format = read_format(look);
    char *absolute = realpath(data, NULL);
    bool ok = absolute != NULL && strlen(absolute) < sizeof(look->data) - 8;
    if (!ok)
        (void)store_fail_errno(error, "cannot find %s", data);
    else
        (void)snprintf(look->data, sizeof(look->data), "%s", absolute);
    ok = ok && open_keys(look, data, error);
    free(absolute);
    if (ok && make_scratch(look, scratch, error)) {
        if (take_all(look, error))
            return true;
        look_remove(look->scratch);
    }
    release(look);
    return false;
}

void look_close(struct look *look)
{
    look_remove(look->scratch);
    release(look);
}

void look_translate(const struct look *look, struct store_error *error)
{
    struct buf text;
    size_t len = strlen(look->scratch);
    buf_init(&text, 2 * PATH_MAX);
    const char *rest = error->text;
    for (const char *at; (at = strstr(rest, look->scratch)) != NULL; rest = at + len) {
        buf_add(&text, rest, (size_t)(at - rest));
        buf_text(&text, look->data);
    }
    buf_text(&text, rest);
    buf_byte(&text, 0);
    if (!text.failed)
        (void)snprintf(error->text, sizeof(error->text), "%.511s", (const char *)text.ptr);
    buf_release(&text);
}

struct store *look_store(const struct look *look, struct store_error *error)
{
    struct store_options options = {.path = look->scratch, .passive = true, .master = look->master};
    struct store *store = store_open_rocksdb(&options, error);
    if (store == NULL)
        look_translate(look, error);
    return store;
}

// ---- Table files --------------------------------------------------------------------------------

// RocksDB trusts that no two tables have the same records. `context` has the origins seen so far,
// each with its NUL.
struct origins {
    const struct keyring *keys;
    struct buf seen;
};

static bool drop_copy(void *context, const char *directory, const char *name,
                      struct store_error *error)
{
    struct origins *origins = context;
    struct buf *seen = &origins->seen;
    char path[2 * PATH_MAX];
    char origin[128];
    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    if (!rocks_ends_with(name, ".sst") ||
        !rocks_table_origin(path, origins->keys, origin, sizeof(origin)))
        return true;
    for (size_t at = 0; at < seen->len; at += strlen((const char *)seen->ptr + at) + 1) {
        if (strcmp((const char *)seen->ptr + at, origin) == 0)
            return unlink(path) == 0 || store_fail_errno(error, "cannot leave out %s", path);
    }
    buf_text(seen, origin);
    buf_byte(seen, 0);
    return true;
}

bool look_rebuild(const struct look *look, struct store_error *error)
{
    char path[PATH_MAX + 8];
    char *message = NULL;
    struct origins origins = {.keys = look->keys};
    (void)snprintf(path, sizeof(path), "%s/db", look->scratch);
    buf_init(&origins.seen, 64 << 20);
    bool distinct = rocks_each_file(path, drop_copy, &origins, error);
    buf_release(&origins.seen);
    if (!distinct)
        return false;
    rocksdb_options_t *set =
        rocks_options_new(&(struct store_options){.path = look->scratch}, look->files);
    rocksdb_repair_db(set, path, &message);
    rocksdb_options_destroy(set);
    if (message == NULL)
        return true;
    (void)store_fail(error, "cannot rebuild %s: %s", path, message);
    rocksdb_free(message);
    return false;
}

bool look_at_lost(const char *data, bool (*visit)(void *context, const char *path), void *context,
                  struct store_error *error)
{
    return rocks_tables_visit(data, "db/lost", visit, context, error);
}
