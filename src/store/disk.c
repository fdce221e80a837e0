// See disk.h.
#include "store/disk.h"

#include "base/log.h"
#include "store/store_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    PIECES = 8,
    PIECE_BYTES = 4 << 20,
    SHARE = 160, // all pieces together are at most a twentieth of the file system
};

#define RESERVE "reserve"

void disk_init(struct disk *disk, const char *path, int directory)
{
    *disk = (struct disk){.directory = directory};
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

// Nothing is given up if that would not be enough.
bool disk_has_room(struct disk *disk, uint64_t bytes)
{
    struct statvfs system;
    while (fstatvfs(disk->directory, &system) == 0) {
        uint64_t free = free_bytes(&system);
        uint64_t kept = (uint64_t)(PIECES - pieces_missing(disk)) * piece_bytes(&system);
        if (free >= bytes)
            return true;
        if (free + kept < bytes || !disk_give_room(disk))
            return false;
    }
    return true; // nobody knows
}

// A file system that cannot give room ahead has no reserve.
static void make_piece(struct disk *disk, int number, uint64_t bytes)
{
    char name[32];
    piece_name(number, name);
    int file = openat(disk->directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return;
    if (fallocate(file, 0, 0, (off_t)bytes) != 0 && errno != EOPNOTSUPP)
        (void)unlinkat(disk->directory, name, 0);
    (void)close(file);
}

static void fill_reserve(struct disk *disk, uint64_t bytes)
{
    ensure(pthread_mutex_lock(&disk->lock) == 0);
    (void)mkdirat(disk->directory, RESERVE, 0750);
    for (int i = 0; i < PIECES; i++)
        make_piece(disk, i, bytes);
    ensure(pthread_mutex_unlock(&disk->lock) == 0);
}

// ---- Looking --------------------------------------------------------------------------------

// Whether the path still leads to the directory that was opened, with the tables in it.
static bool is_there(const struct disk *disk)
{
    struct stat ours;
    struct stat named;
    return fstat(disk->directory, &ours) == 0 && stat(disk->path, &named) == 0 &&
           ours.st_dev == named.st_dev && ours.st_ino == named.st_ino &&
           faccessat(disk->directory, "db/CURRENT", F_OK, 0) == 0;
}

void disk_is_full(struct disk *disk)
{
    char why[256];
    (void)snprintf(why, sizeof(why),
                   "the disk of %.120s is full: only what frees room is done until there is more",
                   disk->path);
    set_condition(disk, STORE_NO_ROOM, why);
}

void disk_look(struct disk *disk, uint64_t memory, bool gone)
{
    char why[256];
    struct statvfs system;
    if (gone || !is_there(disk)) {
        (void)snprintf(why, sizeof(why),
                       "the data directory %.120s was removed or replaced while it was in use",
                       disk->path);
        set_condition(disk, STORE_GONE, why);
        return;
    }
    if (fstatvfs(disk->directory, &system) != 0)
        return;
    uint64_t piece = piece_bytes(&system);
    uint64_t missing = (uint64_t)pieces_missing(disk) * piece;
    uint64_t needed = memory + 2 * piece;
    // A little more than is needed, so that the condition does not change all the time.
    if (free_bytes(&system) >= needed + missing + 2 * piece) {
        if (missing > 0)
            fill_reserve(disk, piece);
        set_condition(disk, STORE_WELL, "");
    } else if (free_bytes(&system) < needed) {
        disk_is_full(disk);
    } else if (disk->condition == STORE_GONE) {
        set_condition(disk, STORE_WELL, "");
    }
}
