// The data directory. See data_dir.h.
//
// The lock is a flock on the directory itself, so claiming a directory writes
// nothing into it: a directory that turns out to be somebody's home is left as it
// was. Where a file system cannot lock a directory (NFS), RocksDB's own LOCK file
// still keeps a second process out.
//
// FORMAT is written before anything else, by way of a temporary file, a rename and
// an fsync of file and directory. So a directory of ours always has it, and a crash
// at any moment leaves a directory that can be opened.
#include "rocks/data_dir.h"

#include "base/files.h"
#include "store/store_driver.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// What can be read: 1 has no index entries that are references, the log of 1 and 2 is another, and
// in that of 3 the files do not know each other.
enum { FORMAT_OLDEST = 1 };
#define FORMAT_FILE    "FORMAT"
#define FORMAT_DRAFT   "FORMAT.tmp"
#define FORMAT_PATTERN "dolmen format %d\n"

bool data_dir_in_use(const char *path, struct store_error *error)
{
    error->in_use = true;
    return store_fail(error, "the directory %s is in use by another process", path);
}

// ---- Making it ------------------------------------------------------------------

// A new directory is durable once its parent is synced.
static bool sync_parent(const char *path, struct store_error *error)
{
    char parent[PATH_MAX];
    (void)snprintf(parent, sizeof(parent), "%s", path);
    char *slash = strrchr(parent, '/');
    if (slash == NULL)
        (void)snprintf(parent, sizeof(parent), ".");
    else
        slash[slash == parent ? 1 : 0] = 0;
    return directory_sync(parent) ||
           store_fail_errno(error, "cannot sync the directory %s", parent);
}

static bool make_one(const char *path, struct store_error *error)
{
    if (mkdir(path, 0750) == 0)
        return sync_parent(path, error);
    // Whatever exists is judged when it is opened; on the way down it may also be a mount
    // point or a directory that we may not write to, and mkdir says so in different words.
    struct stat status;
    if (stat(path, &status) == 0)
        return true;
    return store_fail_errno(error, "cannot create the directory %s", path);
}

// Makes the directory and those above it.
static bool make_path(const char *path, struct store_error *error)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    if (length == 0 || length + sizeof("/db") > sizeof(part))
        return store_fail(error, "the path of the data directory is %s",
                          length == 0 ? "empty" : "too long");
    while (length > 1 && path[length - 1] == '/')
        length--;
    for (size_t i = 1; i <= length; i++) {
        if (i < length && (path[i] != '/' || path[i - 1] == '/'))
            continue;
        memcpy(part, path, i);
        part[i] = 0;
        if (!make_one(part, error))
            return false;
    }
    return true;
}

// ---- What is in it --------------------------------------------------------------

// Names that do not make a directory somebody else's: leftovers of an interrupted start, and
// what the root of a freshly made file system has.
static bool name_is_harmless(const char *name)
{
    static const char *const harmless[] = {
        ".", "..", FORMAT_DRAFT, "lost+found", KEYRING_FILE, KEYRING_COPY, KEYRING_FILE ".tmp"};
    for (size_t i = 0; i < COUNT_OF(harmless); i++)
        if (strcmp(name, harmless[i]) == 0)
            return true;
    return false;
}

static bool name_is_data(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && (strcmp(dot, ".sst") == 0 || strcmp(dot, ".log") == 0);
}

static bool name_is_foreign(const char *name)
{
    return !name_is_harmless(name);
}

// Looks for a name that fits in a subdirectory (or "."): 1 found, 0 not found (or no such
// directory), -1 error.
static int dir_has(int dir_fd, const char *name, bool (*fits)(const char *),
                   char found[NAME_MAX + 1])
{
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    DIR *dir = fdopendir(fd);
    if (dir == NULL) {
        (void)close(fd);
        return -1;
    }
    int result = 0;
    struct dirent *entry;
    errno = 0;
    while (result == 0 && (entry = readdir(dir)) != NULL) {
        if (!fits(entry->d_name))
            continue;
        (void)snprintf(found, NAME_MAX + 1, "%s", entry->d_name);
        result = 1;
    }
    if (result == 0 && errno != 0)
        result = -1;
    (void)closedir(dir);
    return result;
}

// A directory without FORMAT: ours to take if it is empty. One that has our store has lost it.
static bool check_unmarked(int fd, const char *path, struct store_error *error)
{
    char found[NAME_MAX + 1];
    if (faccessat(fd, "db/CURRENT", F_OK, 0) == 0)
        return store_fail(error,
                          "%s/FORMAT is missing. Restore it from a copy of the directory, or run "
                          "'dolmen repair %s'",
                          path, path);
    int has = dir_has(fd, ".", name_is_foreign, found);
    if (has <= 0)
        return has == 0 || store_fail_errno(error, "cannot read the directory %s", path);
    return store_fail(error,
                      "the directory %s is not a data directory of dolmen and is not empty (it has "
                      "\"%.80s\"): name an empty or a new directory",
                      path, found);
}

// RocksDB takes a directory without CURRENT for a new one and would clear away the rest.
static bool check_current(int fd, const char *path, struct store_error *error)
{
    char found[NAME_MAX + 1];
    if (faccessat(fd, "db/CURRENT", F_OK, 0) == 0)
        return true;
    if (errno != ENOENT)
        return store_fail_errno(error, "cannot read db/CURRENT in %s", path);
    int has = dir_has(fd, "db", name_is_data, found);
    if (has <= 0)
        return has == 0 || store_fail_errno(error, "cannot read the directory db in %s", path);
    return store_fail(error,
                      "%s/db has data (%.80s) but no CURRENT file. Restore the directory from a "
                      "copy, or run 'dolmen repair %s'",
                      path, found, path);
}

// ---- FORMAT ---------------------------------------------------------------------

static bool write_format(int dir_fd, const char *path, int format, struct store_error *error)
{
    char text[64];
    int length = snprintf(text, sizeof(text), FORMAT_PATTERN, format);
    int fd = openat(dir_fd, FORMAT_DRAFT, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool ok = fd >= 0 && write(fd, text, (size_t)length) == length && fsync(fd) == 0;
    if (fd >= 0)
        ok = close(fd) == 0 && ok;
    ok = ok && renameat(dir_fd, FORMAT_DRAFT, dir_fd, FORMAT_FILE) == 0 && fsync(dir_fd) == 0;
    return ok || store_fail_errno(error, "cannot write FORMAT in %s", path);
}

// The number in a format file; 0 if it is none.
static int format_of(const char *text)
{
    char canonical[64];
    int number = 0;
    if (sscanf(text, "dolmen format %9d", &number) != 1)
        return 0;
    (void)snprintf(canonical, sizeof(canonical), FORMAT_PATTERN, number);
    return strcmp(text, canonical) == 0 || number > DATA_DIR_FORMAT_SEALED ? number : 0;
}

static bool judge_format(const char *text, const char *path, int *number, struct store_error *error)
{
    *number = format_of(text);
    if (*number > DATA_DIR_FORMAT_SEALED)
        return store_fail(error,
                          "%s was written by a newer dolmen (format %d; this one reads up to "
                          "format %d): use that version",
                          path, *number, DATA_DIR_FORMAT_SEALED);
    return *number >= FORMAT_OLDEST ||
           store_fail(error, "%s/FORMAT is not a format file of dolmen", path);
}

// The keys are there before FORMAT says so, and FORMAT is before anything that needs them.
static bool make_keys(int dir_fd, const struct store_options *options, struct store_error *error)
{
    if (options->master == NULL)
        return store_fail(error,
                          "cannot encrypt %s without a master key: name one with "
                          "--master-key",
                          options->path);
    struct keyring ring;
    keyring_init(&ring, (int64_t)time(NULL));
    bool ok = keyring_write(&ring, options->master, dir_fd) ||
              store_fail_errno(error, "cannot write " KEYRING_FILE " in %s", options->path);
    keyring_wipe(&ring);
    return ok;
}

static bool make_format(int dir_fd, const struct store_options *options, int *number,
                        struct store_error *error)
{
    bool sealed = options->encryption == STORE_ENCRYPTED ||
                  (options->encryption == STORE_AS_IT_IS && options->master != NULL);
    *number = sealed ? DATA_DIR_FORMAT_SEALED : DATA_DIR_FORMAT;
    return (!sealed || make_keys(dir_fd, options, error)) &&
           write_format(dir_fd, options->path, *number, error);
}

static bool check_format(int dir_fd, const struct store_options *options, int *number,
                         struct store_error *error)
{
    const char *path = options->path;
    int fd = openat(dir_fd, FORMAT_FILE, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return check_unmarked(dir_fd, path, error) && make_format(dir_fd, options, number, error);
    char text[64];
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (length < 0)
        (void)store_fail_errno(error, "cannot read FORMAT in %s", path);
    if (fd >= 0)
        (void)close(fd);
    if (length < 0)
        return false;
    text[length] = 0;
    return judge_format(text, path, number, error);
}

bool data_dir_keys(int fd, const char *path, const struct crypt_key *master, struct keyring **keys,
                   struct store_error *error)
{
    bool uneven = false;
    char why[400];
    *keys = NULL;
    struct keyring *ring = memory_zeroed(sizeof(*ring));
    bool ok = keyring_read(ring, master, fd, path, &uneven, why, sizeof(why));
    if (!ok)
        (void)store_fail(error, "%s", why);
    // Not of use for anything but the next mishap; a disk that is full may be read all the same.
    if (ok && uneven)
        (void)!keyring_write(ring, master, fd);
    if (ok)
        *keys = ring;
    else
        data_dir_keys_free(ring);
    return ok;
}

void data_dir_keys_free(struct keyring *keys)
{
    if (keys == NULL)
        return;
    keyring_wipe(keys);
    free(keys);
}

// Whether the directory is as it is wished, and the keys of one that is encrypted. One that has
// keys is, whatever FORMAT says.
static bool open_keys(struct data_dir *dir, int fd, const struct store_options *options,
                      struct store_error *error)
{
    bool sealed = dir->format == DATA_DIR_FORMAT_SEALED || keyring_is_there(fd);
    if (!sealed)
        return options->encryption != STORE_ENCRYPTED ||
               store_fail(
                   error,
                   "%s is not encrypted. Make an encrypted copy of it with 'dolmen repair %s "
                   "--to NEWDIR --master-key SOURCE'",
                   options->path, options->path);
    if (options->encryption == STORE_PLAIN)
        return store_fail(error, "%s is encrypted, and stays so", options->path);
    if (dir->format != DATA_DIR_FORMAT_SEALED)
        return store_fail(error,
                          "%s/FORMAT is damaged: the directory has " KEYRING_FILE
                          ", so its format is %d, not %d. Restore it from a copy, or run 'dolmen "
                          "repair %s'",
                          options->path, DATA_DIR_FORMAT_SEALED, dir->format, options->path);
    return data_dir_keys(fd, options->path, options->master, &dir->keys, error);
}

// Makes one of the directories inside and opens it; -1 after saying why not.
static int make_one_inner(int fd, const char *path, const char *name, struct store_error *error)
{
    if (mkdirat(fd, name, 0750) != 0 && errno != EEXIST) {
        (void)store_fail_errno(error, "cannot make the directories in %s", path);
        return -1;
    }
    int inner = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (inner < 0)
        (void)store_fail_errno(error, "cannot open the directory %s in %s", name, path);
    return inner;
}

// The directories inside, on disk with their names before anything is written into them.
static bool make_inner(struct data_dir *dir, int fd, const char *path, struct store_error *error)
{
    dir->db = make_one_inner(fd, path, "db", error);
    dir->log = dir->db < 0 ? -1 : make_one_inner(fd, path, "log", error);
    if (dir->log >= 0 && fsync(fd) == 0)
        return true;
    if (dir->log >= 0)
        (void)store_fail_errno(error, "cannot make the directories in %s", path);
    if (dir->log >= 0)
        (void)close(dir->log);
    if (dir->db >= 0)
        (void)close(dir->db);
    return false;
}

// ---- Opening --------------------------------------------------------------------

bool data_dir_open(struct data_dir *dir, const struct store_options *options,
                   struct store_error *error)
{
    const char *path = options->path;
    *dir = (struct data_dir){.keys = NULL};
    if (!make_path(path, error))
        return false;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return store_fail_errno(error, "cannot open the directory %s", path);
    bool ok;
    dir->locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (!dir->locked && errno == EWOULDBLOCK)
        ok = data_dir_in_use(path, error);
    else
        ok = check_format(fd, options, &dir->format, error) && open_keys(dir, fd, options, error) &&
             check_current(fd, path, error) && make_inner(dir, fd, path, error);
    if (!ok) {
        data_dir_keys_free(dir->keys);
        (void)close(fd);
        return false;
    }
    dir->fd = fd;
    return true;
}

void data_dir_close(struct data_dir *dir)
{
    (void)close(dir->log);
    (void)close(dir->db);
    (void)close(dir->fd);
    data_dir_keys_free(dir->keys);
}

bool data_dir_path(int fd, char out[DATA_DIR_NAME])
{
    (void)snprintf(out, DATA_DIR_NAME, "/proc/self/fd/%d", fd);
    return faccessat(AT_FDCWD, out, F_OK, 0) == 0;
}

static bool leads_to(const char *path, const char *name, int fd)
{
    char inner[PATH_MAX + 8];
    struct stat ours;
    struct stat named;
    (void)snprintf(inner, sizeof(inner), "%s/%s", path, name);
    return fstat(fd, &ours) == 0 && stat(inner, &named) == 0 && ours.st_dev == named.st_dev &&
           ours.st_ino == named.st_ino;
}

bool data_dir_is_there(const struct data_dir *dir, const char *path)
{
    return leads_to(path, ".", dir->fd) && leads_to(path, "db", dir->db) &&
           leads_to(path, "log", dir->log) && faccessat(dir->db, "CURRENT", F_OK, 0) == 0;
}

bool data_dir_has_tables(const struct data_dir *dir)
{
    return faccessat(dir->fd, "db/CURRENT", F_OK, 0) == 0;
}

bool data_dir_mark(struct data_dir *dir, const char *path, struct store_error *error)
{
    if (!write_format(dir->fd, path, DATA_DIR_FORMAT, error))
        return false;
    dir->format = DATA_DIR_FORMAT;
    return true;
}
