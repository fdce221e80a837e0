// A disk that can be told to fail, put between the server and libc by LD_PRELOAD.
//
// It watches the files below one directory (TORTURE_ROOT) and shares one file (TORTURE_CONTROL,
// mapped) with the test's driver. The file begins with switches that the driver sets while the
// server runs: how much space is left, which writes and syncs fail. Behind them is a journal of
// what matters when the power goes: which bytes were synced, and which changes of directories
// (created, renamed, removed) happened between the syncs of those directories. disk.py reads it
// after the kill and takes away what no sync has promised.
//
// What makes it work after a kill at any instruction: records are only added; one counts once it
// is `ready`; a promise (a sync) is recorded after it was kept, and a file is linked into
// TORTURE_GRAVE before its name goes away, so that its bytes can come back. Bytes that are added to
// a file are not recorded: how long it is, the file itself knows. Of bytes that are overwritten
// (in room that was allocated before) the old ones are kept.
//
// A full disk refuses every write, also into room that was allocated before, as file systems do
// that never write in place.
//
// Limits: no file here is ever cut shorter, so that is counted as a surprise instead of being
// modelled; sync_file_range promises nothing.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    RECORDS_AT = 4096,
    RECORD_PATH = 172,
    DESCRIPTORS = 1 << 16,
};

// disk.py has the same layout.
struct control {
    _Atomic uint64_t cursor;      // records begun
    _Atomic uint64_t capacity;    // records there is room for
    _Atomic int64_t space;        // bytes until the disk is full, or -1
    _Atomic int64_t write_delay;  // writes that still succeed before some fail with EIO, or -1
    _Atomic int64_t write_faults; // how many then fail, or -1 for all
    _Atomic int64_t sync_faults;  // how many of the next syncs fail with EIO, or -1 for all
    _Atomic uint64_t writes;
    _Atomic uint64_t syncs;
    _Atomic uint64_t failed_writes;
    _Atomic uint64_t failed_syncs;
    _Atomic uint64_t surprises; // what the model does not cover
    _Atomic uint64_t old_bytes; // in the file of replaced bytes
};

#define OLD_ZEROS UINT64_MAX

enum record_kind {
    RECORD_CREATE = 1, // path, inode
    RECORD_RENAME,     // path to other, inode
    RECORD_REMOVE,     // path, inode
    RECORD_SYNC,       // inode: its first `length` bytes and the writes before record `count` are
                       // on the disk
    RECORD_SYNC_LOST,  // the same failed: what was not yet there may never be
    RECORD_SYNC_DIR,   // path: its changes before record `count` are on the disk
    RECORD_MKDIR,      // path
    RECORD_WRITE,      // inode: `count` bytes at `length` were replaced; the old ones are at `old`
};

struct record {
    uint32_t kind;
    _Atomic uint32_t ready;
    uint64_t inode;
    uint64_t length;
    uint64_t count;
    uint64_t old;           // place in the file `old` of the grave, or OLD_ZEROS
    char path[RECORD_PATH]; // relative to the root
    char other[RECORD_PATH];
};

static struct control *control;
static struct record *records;
static char root[PATH_MAX];
static char grave[PATH_MAX];
static size_t root_length;
static _Atomic uint8_t watched[DESCRIPTORS]; // descriptors of files and directories below the root

#define REAL_AS(variable, name)                                                                    \
    static __typeof__(name) *variable;                                                             \
    if (variable == NULL)                                                                          \
    variable = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)
#define REAL(name) REAL_AS(real, name)

__attribute__((constructor)) static void layer_start(void)
{
    const char *path = getenv("TORTURE_CONTROL");
    const char *top = getenv("TORTURE_ROOT");
    const char *bin = getenv("TORTURE_GRAVE");
    if (path == NULL || top == NULL || bin == NULL)
        return;
    (void)snprintf(root, sizeof(root), "%s", top);
    (void)snprintf(grave, sizeof(grave), "%s", bin);
    root_length = strlen(root);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0)
        abort();
    void *map = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        abort();
    (void)close(fd);
    records = (struct record *)((char *)map + RECORDS_AT);
    control = map;
}

// ---- Paths ------------------------------------------------------------------------

// The path relative to the root in `out`, or false if it is not below it.
static bool path_inside(int dir, const char *path, char *out)
{
    char full[PATH_MAX];
    if (control == NULL)
        return false;
    // A path that leads through a descriptor.
    if (strncmp(path, "/proc/self/fd/", 14) == 0) {
        char *rest;
        dir = (int)strtol(path + 14, &rest, 10);
        path = rest + strspn(rest, "/");
    }
    if (path[0] == '/' || (dir == AT_FDCWD && path[0] != 0)) {
        (void)snprintf(full, sizeof(full), "%s", path);
    } else {
        char link[64];
        char top[PATH_MAX / 2];
        (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
        ssize_t length = readlink(link, top, sizeof(top) - 1);
        if (length < 0)
            return false;
        top[length] = 0;
        if (path[0] == 0 || strcmp(path, ".") == 0)
            (void)snprintf(full, sizeof(full), "%s", top);
        else
            (void)snprintf(full, sizeof(full), "%s/%s", top, path);
    }
    if (strncmp(full, root, root_length) != 0 ||
        (full[root_length] != '/' && full[root_length] != 0))
        return false;
    const char *rest = full + root_length;
    while (*rest == '/')
        rest++;
    size_t length = strlen(rest);
    while (length > 0 && rest[length - 1] == '/')
        length--;
    if (length >= RECORD_PATH)
        abort();
    memcpy(out, rest, length);
    out[length] = 0;
    return true;
}

static bool is_watched(int fd)
{
    return fd >= 0 && fd < DESCRIPTORS && atomic_load(&watched[fd]) != 0;
}

// ---- Journal ----------------------------------------------------------------------

static void record_add(struct record facts, const char *path, const char *other)
{
    uint64_t at = atomic_fetch_add(&control->cursor, 1);
    if (at >= atomic_load(&control->capacity)) {
        atomic_fetch_add(&control->surprises, 1);
        return;
    }
    struct record *record = &records[at];
    record->kind = facts.kind;
    record->inode = facts.inode;
    record->length = facts.length;
    record->count = facts.count;
    record->old = facts.old;
    (void)snprintf(record->path, sizeof(record->path), "%s", path);
    (void)snprintf(record->other, sizeof(record->other), "%s", other);
    atomic_store(&record->ready, 1);
}

static void record_name(enum record_kind kind, uint64_t inode, const char *path, const char *other)
{
    record_add((struct record){.kind = kind, .inode = inode}, path, other);
}

// Links a file that is about to lose its name into the grave, under its inode's number.
static uint64_t bury(const char *path)
{
    char full[PATH_MAX + RECORD_PATH];
    char name[PATH_MAX + 32];
    struct stat status;
    (void)snprintf(full, sizeof(full), "%s/%s", root, path);
    if (lstat(full, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    (void)snprintf(name, sizeof(name), "%s/%ju", grave, (uintmax_t)status.st_ino);
    REAL(link);
    (void)real(full, name);
    return (uint64_t)status.st_ino;
}

static void take_away(const char *path)
{
    char full[PATH_MAX + RECORD_PATH];
    record_name(RECORD_REMOVE, bury(path), path, "");
    (void)snprintf(full, sizeof(full), "%s/%s", root, path);
    REAL(unlinkat);
    (void)real(AT_FDCWD, full, 0);
}

// ---- Opening and closing ----------------------------------------------------------

static int open_watched(int (*real)(int, const char *, int, ...), int dir, const char *path,
                        int flags, mode_t mode)
{
    char inside[RECORD_PATH];
    if (!path_inside(dir, path, inside))
        return real(dir, path, flags, mode);
    struct stat status;
    bool creates = false;
    if ((flags & O_CREAT) != 0) {
        creates = fstatat(dir, path, &status, 0) != 0;
        if (creates && atomic_load(&control->space) == 0) {
            errno = ENOSPC;
            return -1;
        }
        // Cutting a file to nothing is modelled as another file under the same name.
        if (!creates && (flags & O_TRUNC) != 0 && status.st_size > 0) {
            take_away(inside);
            creates = true;
        }
    }
    int fd = real(dir, path, flags, mode);
    if (fd < 0 || fd >= DESCRIPTORS)
        return fd;
    atomic_store(&watched[fd], 1);
    if (creates && fstat(fd, &status) == 0)
        record_name(RECORD_CREATE, (uint64_t)status.st_ino, inside, "");
    return fd;
}

static int open_at(int dir, const char *path, int flags, mode_t mode)
{
    REAL(openat);
    return open_watched(real, dir, path, flags, mode);
}

#define OPEN_MODE(flags, last)                                                                     \
    mode_t mode = 0;                                                                               \
    if (((flags) & (O_CREAT | O_TMPFILE)) != 0) {                                                  \
        va_list arguments;                                                                         \
        va_start(arguments, last);                                                                 \
        mode = va_arg(arguments, mode_t);                                                          \
        va_end(arguments);                                                                         \
    }

int open(const char *path, int flags, ...)
{
    OPEN_MODE(flags, flags)
    return open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    OPEN_MODE(flags, flags)
    return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
    OPEN_MODE(flags, flags)
    return open_at(dir, path, flags, mode);
}

int openat64(int dir, const char *path, int flags, ...)
{
    OPEN_MODE(flags, flags)
    return open_at(dir, path, flags, mode);
}

// What glibc's fortified headers make of open() without a mode.
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

int __open_2(const char *path, int flags)
{
    return open_at(AT_FDCWD, path, flags, 0);
}

int __open64_2(const char *path, int flags)
{
    return open_at(AT_FDCWD, path, flags, 0);
}

int close(int fd)
{
    REAL(close);
    if (is_watched(fd))
        atomic_store(&watched[fd], 0);
    return real(fd);
}

// ---- Writing ----------------------------------------------------------------------

// Takes one from a countdown that is not at zero; -1 stands for ever.
static bool count_down(_Atomic int64_t *counter)
{
    int64_t value = atomic_load(counter);
    while (value > 0)
        if (atomic_compare_exchange_weak(counter, &value, value - 1))
            return true;
    return value < 0;
}

// How many of the bytes may be written; -1 with errno for none.
static ssize_t admit(size_t count)
{
    atomic_fetch_add(&control->writes, 1);
    int64_t delay = atomic_load(&control->write_delay);
    if (delay > 0) {
        atomic_fetch_sub(&control->write_delay, 1);
    } else if (delay == 0 && count_down(&control->write_faults)) {
        atomic_fetch_add(&control->failed_writes, 1);
        errno = EIO;
        return -1;
    }
    int64_t space = atomic_load(&control->space);
    while (space >= 0) {
        int64_t taken = space < (int64_t)count ? space : (int64_t)count;
        if (taken == 0 && count > 0) {
            atomic_fetch_add(&control->failed_writes, 1);
            errno = ENOSPC;
            return -1;
        }
        if (atomic_compare_exchange_weak(&control->space, &space, space - taken))
            return (ssize_t)taken;
    }
    return (ssize_t)count;
}

// The bytes that a write of `count` bytes at the place replaces, kept for the day the power goes.
static struct record keep_old(int fd, off_t at, size_t count)
{
    struct record facts = {.kind = RECORD_WRITE, .length = (uint64_t)at, .old = OLD_ZEROS};
    struct stat status;
    if (at < 0 || fstat(fd, &status) != 0 || at >= status.st_size)
        return facts;
    size_t replaced = (size_t)(status.st_size - at) < count ? (size_t)(status.st_size - at) : count;
    facts.inode = (uint64_t)status.st_ino;
    facts.count = replaced;
    unsigned char *bytes = malloc(replaced);
    // The descriptor may be for writing only.
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    REAL(openat);
    int copy = real(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (bytes == NULL || copy < 0 || pread(copy, bytes, replaced, at) != (ssize_t)replaced)
        abort();
    (void)close(copy);
    bool zeros = bytes[0] == 0 && memcmp(bytes, bytes + 1, replaced - 1) == 0;
    if (!zeros) {
        facts.old = atomic_fetch_add(&control->old_bytes, replaced);
        char name[PATH_MAX + 8];
        (void)snprintf(name, sizeof(name), "%s/old", grave);
        int old = real(AT_FDCWD, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        REAL_AS(keep, pwrite);
        if (old < 0 || keep(old, bytes, replaced, (off_t)facts.old) != (ssize_t)replaced)
            abort();
        (void)close(old);
    }
    free(bytes);
    return facts;
}

// The parts of a write at `at`, as far as the disk lets it.
static ssize_t write_watched(int fd, const struct iovec *parts, int count, off_t at)
{
    struct iovec some[16];
    size_t total = 0;
    int used = count < 16 ? count : 16;
    for (int i = 0; i < used; i++)
        total += parts[i].iov_len;
    ssize_t allowed = admit(total);
    if (allowed < 0)
        return -1;
    size_t left = (size_t)allowed;
    for (int i = 0; i < used; i++) {
        some[i] = parts[i];
        if (some[i].iov_len > left)
            some[i].iov_len = left;
        left -= some[i].iov_len;
    }
    struct record facts = keep_old(fd, at, (size_t)allowed);
    REAL(pwritev);
    ssize_t done = real(fd, some, used, at);
    if (done > 0 && facts.count > 0)
        record_add(facts, "", "");
    return done;
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at)
{
    REAL(pwritev);
    return is_watched(fd) ? write_watched(fd, parts, count, at) : real(fd, parts, count, at);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off_t at)
{
    return pwritev(fd, parts, count, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at)
{
    REAL(pwrite);
    struct iovec part = {(void *)(uintptr_t)bytes, count};
    return is_watched(fd) ? write_watched(fd, &part, 1, at) : real(fd, bytes, count, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t at)
{
    return pwrite(fd, bytes, count, at);
}

// At the descriptor's own place, which moves on.
static ssize_t write_here(int fd, const struct iovec *parts, int count)
{
    off_t at = lseek(fd, 0, SEEK_CUR);
    ssize_t done = write_watched(fd, parts, count, at);
    if (done > 0)
        (void)lseek(fd, at + done, SEEK_SET);
    return done;
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    REAL(write);
    struct iovec part = {(void *)(uintptr_t)bytes, count};
    return is_watched(fd) ? write_here(fd, &part, 1) : real(fd, bytes, count);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    REAL(writev);
    return is_watched(fd) ? write_here(fd, parts, count) : real(fd, parts, count);
}

static bool has_room(int fd, off_t length)
{
    int64_t space = is_watched(fd) ? atomic_load(&control->space) : -1;
    return space < 0 || length <= space;
}

int fallocate(int fd, int mode, off_t offset, off_t length)
{
    REAL(fallocate);
    if (has_room(fd, length))
        return real(fd, mode, offset, length);
    errno = ENOSPC;
    return -1;
}

int posix_fallocate(int fd, off_t offset, off_t length)
{
    REAL(posix_fallocate);
    return has_room(fd, length) ? real(fd, offset, length) : ENOSPC;
}

int ftruncate(int fd, off_t length)
{
    REAL(ftruncate);
    struct stat status;
    // RocksDB cuts what it knows to be there of a file that it could not write to the end.
    bool failed = control != NULL &&
                  (atomic_load(&control->failed_writes) > 0 || atomic_load(&control->space) >= 0);
    if (!failed && is_watched(fd) && fstat(fd, &status) == 0 && length < status.st_size)
        atomic_fetch_add(&control->surprises, 1);
    return real(fd, length);
}

int ftruncate64(int fd, off_t length)
{
    return ftruncate(fd, length);
}

// ---- Syncing ----------------------------------------------------------------------

static int sync_watched(int fd, int (*real)(int))
{
    struct stat status;
    char inside[RECORD_PATH] = "";
    uint64_t before = control == NULL ? 0 : atomic_load(&control->cursor);
    if (!is_watched(fd) || fstat(fd, &status) != 0)
        return real(fd);
    atomic_fetch_add(&control->syncs, 1);
    struct record facts = {.kind = RECORD_SYNC,
                           .inode = (uint64_t)status.st_ino,
                           .length = (uint64_t)status.st_size,
                           .count = before};
    if (S_ISDIR(status.st_mode) && path_inside(fd, ".", inside))
        facts.kind = RECORD_SYNC_DIR;
    int result = -1;
    if (count_down(&control->sync_faults)) {
        atomic_fetch_add(&control->failed_syncs, 1);
        facts.kind = RECORD_SYNC_LOST;
        errno = EIO;
    } else {
        result = real(fd);
    }
    if (result == 0 || facts.kind == RECORD_SYNC_LOST)
        record_add(facts, inside, "");
    return result;
}

int fsync(int fd)
{
    REAL(fsync);
    return sync_watched(fd, real);
}

int fdatasync(int fd)
{
    REAL(fdatasync);
    return sync_watched(fd, real);
}

// ---- Names ------------------------------------------------------------------------

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    REAL(renameat);
    char from_inside[RECORD_PATH];
    char to_inside[RECORD_PATH];
    if (!path_inside(from_dir, from, from_inside) || !path_inside(to_dir, to, to_inside))
        return real(from_dir, from, to_dir, to);
    struct stat status;
    (void)bury(to_inside);
    uint64_t inode =
        fstatat(from_dir, from, &status, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)status.st_ino : 0;
    int result = real(from_dir, from, to_dir, to);
    if (result == 0)
        record_name(RECORD_RENAME, inode, from_inside, to_inside);
    return result;
}

int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int unlinkat(int dir, const char *path, int flags)
{
    REAL(unlinkat);
    char inside[RECORD_PATH];
    if (path_inside(dir, path, inside)) {
        uint64_t inode = bury(inside);
        if (inode != 0)
            record_name(RECORD_REMOVE, inode, inside, "");
    }
    return real(dir, path, flags);
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int link(const char *from, const char *to)
{
    REAL(link);
    char inside[RECORD_PATH];
    struct stat status;
    int result = real(from, to);
    if (result == 0 && path_inside(AT_FDCWD, to, inside) && lstat(to, &status) == 0)
        record_name(RECORD_CREATE, (uint64_t)status.st_ino, inside, "");
    return result;
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    REAL(mkdirat);
    char inside[RECORD_PATH];
    int result = real(dir, path, mode);
    if (result == 0 && path_inside(dir, path, inside) && inside[0] != 0)
        record_name(RECORD_MKDIR, 0, inside, "");
    return result;
}

int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}
