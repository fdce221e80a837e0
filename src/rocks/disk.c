// See disk.h.
#include "rocks/disk.h"

#include "base/log.h"
#include "store/store_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    PIECES = 8,
    PIECE_BYTES = 4 << 20,
    SHARE = 160, // all pieces together are at most a twentieth of the file system
    PAGE = 4096,
};

#define RESERVE "reserve"
#define STARTS  RESERVE "/start"

void disk_init(struct disk *disk, const char *path, const struct data_dir *dir, bool reserve)
{
    *disk = (struct disk){
        .dir = dir, .directory = dir->fd, .reserve = reserve, .starts_short = reserve};
    (void)snprintf(disk->path, sizeof(disk->path), "%s", path);
    ensure(pthread_mutex_init(&disk->lock, NULL) == 0);
}

void disk_release(struct disk *disk)
{
    ensure(pthread_mutex_destroy(&disk->lock) == 0);
}

enum store_condition disk_condition(struct disk *disk, struct store_error *why)
{
    enum store_condition condition = (enum store_condition)disk->condition;
    if (condition == STORE_WELL)
        return condition;
    ensure(pthread_mutex_lock(&disk->lock) == 0);
    (void)store_fail(why, "%s", disk->why);
    ensure(pthread_mutex_unlock(&disk->lock) == 0);
    why->no_room = condition == STORE_NO_ROOM;
    return condition;
}

// The log tells the change.
static void set_condition(struct disk *disk, enum store_condition condition, const char *why)
{
    ensure(pthread_mutex_lock(&disk->lock) == 0);
    bool changed = disk->condition != (int)condition;
    (void)snprintf(disk->why, sizeof(disk->why), "%s", why);
    disk->condition = (int)condition;
    ensure(pthread_mutex_unlock(&disk->lock) == 0);
    if (changed && condition != STORE_WELL)
        log_error("%s", why);
    else if (changed)
        log_info("the disk has room and the data directory is there: writes are taken again");
}

// ---- The reserve ----------------------------------------------------------------------------

static void piece_name(int number, char out[32])
{
    (void)snprintf(out, 32, RESERVE "/%d", number);
}

static uint64_t piece_bytes(const struct statvfs *system)
{
    uint64_t share = (uint64_t)system->f_blocks * system->f_frsize / SHARE;
    return share < PIECE_BYTES ? share : PIECE_BYTES;
}

static uint64_t free_bytes(const struct statvfs *system)
{
    return (uint64_t)system->f_bavail * system->f_frsize;
}

bool disk_give_room(struct disk *disk)
{
    bool given = false;
    ensure(pthread_mutex_lock(&disk->lock) == 0);
    for (int i = 0; !given && i < PIECES; i++) {
        char name[32];
        piece_name(i, name);
        given = unlinkat(disk->directory, name, 0) == 0;
    }
    ensure(pthread_mutex_unlock(&disk->lock) == 0);
    return given;
}

static int pieces_missing(const struct disk *disk)
{
    int missing = 0;
    for (int i = 0; i < PIECES; i++) {
        char name[32];
        piece_name(i, name);
        missing += faccessat(disk->directory, name, F_OK, 0) != 0;
    }
    return missing;
}

// What nobody knows is there.
bool disk_has_free(struct disk *disk, uint64_t bytes)
{
    struct statvfs system;
    return fstatvfs(disk->directory, &system) != 0 || free_bytes(&system) >= bytes;
}

static bool could_have(const struct disk *disk, uint64_t bytes)
{
    struct statvfs system;
    if (fstatvfs(disk->directory, &system) != 0)
        return true;
    uint64_t kept = (uint64_t)(PIECES - pieces_missing(disk)) * piece_bytes(&system);
    return free_bytes(&system) + kept >= bytes;
}

// Nothing is given up if that would not be enough.
bool disk_has_room(struct disk *disk, uint64_t bytes)
{
    while (!disk_has_free(disk, bytes)) {
        if (!could_have(disk, bytes) || !disk_give_room(disk))
            return false;
    }
    return true;
}

// Opens the reserve for starts and finds out its length; -1 if there is none.
static int open_starts(const struct disk *disk, int flags, uint64_t *length)
{
    struct stat status;
    int file = openat(disk->directory, STARTS, O_WRONLY | O_CLOEXEC | flags, 0666);
    if (file >= 0 && fstat(file, &status) != 0) {
        (void)close(file);
        return -1;
    }
    if (file >= 0)
        *length = (uint64_t)status.st_size;
    return file;
}

bool disk_has_room_to_start(struct disk *disk, uint64_t bytes)
{
    struct statvfs system;
    uint64_t length;
    int file = open_starts(disk, 0, &length);
    if (file >= 0 && fstatvfs(disk->directory, &system) == 0 && free_bytes(&system) < bytes) {
        uint64_t given = bytes - free_bytes(&system);
        off_t left = given < length ? (off_t)(length - given) / PAGE * PAGE : 0;
        if (ftruncate(file, left) != 0)
            log_warn("store: the reserve for starts cannot be given up: %s", strerror(errno));
    }
    if (file >= 0)
        (void)close(file);
    return disk_has_room(disk, bytes);
}

// Makes the reserve for starts as long as it should be, or as long as what is free allows.
static void fill_starts(struct disk *disk, const struct statvfs *system)
{
    uint64_t length;
    uint64_t wanted = piece_bytes(system) / 2 / PAGE * PAGE;
    int file = open_starts(disk, O_CREAT, &length);
    if (file < 0)
        return;
    uint64_t most = (length + free_bytes(system)) / PAGE * PAGE;
    disk->starts_short = most < wanted + PAGE;
    if (disk->starts_short)
        wanted = most > PAGE ? most - PAGE : 0;
    if (wanted > length && fallocate(file, 0, 0, (off_t)wanted) != 0)
        disk->starts_short = errno != EOPNOTSUPP && ftruncate(file, (off_t)length) == 0;
    (void)close(file);
}

// A file system that cannot give room ahead has no reserve.
static bool make_piece(struct disk *disk, int number, uint64_t bytes)
{
    char name[32];
    piece_name(number, name);
    int file = openat(disk->directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return false;
    bool made = fallocate(file, 0, 0, (off_t)bytes) == 0 || errno == EOPNOTSUPP;
    if (!made)
        (void)unlinkat(disk->directory, name, 0);
    (void)close(file);
    return made;
}

// Makes what is missing of the reserve and fits into what is free, `kept` bytes apart.
static void fill_reserve(struct disk *disk, const struct statvfs *system, uint64_t kept)
{
    uint64_t piece = piece_bytes(system);
    uint64_t free = free_bytes(system);
    ensure(pthread_mutex_lock(&disk->lock) == 0);
    (void)mkdirat(disk->directory, RESERVE, 0750);
    fill_starts(disk, system);
    for (int i = 0; i < PIECES && free >= kept + piece; i++)
        free -= make_piece(disk, i, piece) ? piece : 0;
    ensure(pthread_mutex_unlock(&disk->lock) == 0);
}

// ---- Looking --------------------------------------------------------------------------------

void disk_is_full(struct disk *disk)
{
    char why[sizeof(disk->why)];
    (void)snprintf(why, sizeof(why),
                   "the disk of %s is full: only what frees room is done until there is more",
                   disk->path);
    set_condition(disk, STORE_NO_ROOM, why);
}

static void disk_is_gone(struct disk *disk)
{
    char why[sizeof(disk->why)];
    (void)snprintf(why, sizeof(why),
                   "the data directory %s, or a part of it, was removed or replaced while it was "
                   "in use",
                   disk->path);
    set_condition(disk, STORE_GONE, why);
}

bool disk_is_there(struct disk *disk, struct store_error *error)
{
    if (!data_dir_is_there(disk->dir, disk->path))
        disk_is_gone(disk);
    return disk->condition != STORE_GONE || disk_condition(disk, error) != STORE_GONE;
}

void disk_look(struct disk *disk, uint64_t memory, bool gone)
{
    struct statvfs system;
    if (gone || !data_dir_is_there(disk->dir, disk->path)) {
        disk_is_gone(disk);
        return;
    }
    if (fstatvfs(disk->directory, &system) != 0)
        return;
    uint64_t piece = piece_bytes(&system);
    uint64_t missing = disk->reserve ? (uint64_t)pieces_missing(disk) * piece : 0;
    uint64_t needed = memory + 2 * piece;
    if (missing > 0 || disk->starts_short)
        fill_reserve(disk, &system, needed);
    // There is room when the reserve is whole and so much is free besides. A little more brings
    // writes back, so that the condition does not change all the time.
    if (free_bytes(&system) < needed + missing)
        disk_is_full(disk);
    else if (disk->condition == STORE_GONE || free_bytes(&system) >= needed + missing + 2 * piece)
        set_condition(disk, STORE_WELL, "");
}
