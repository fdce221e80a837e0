// The place where the data directory is: whether it is still there, and whether it has room.
//
// A full disk must not be a trap. Some room is kept back, as files in `DIR/reserve`; they are given
// up one by one to batches that free room and to the flush of what is in memory. One more is for
// starts alone, and gives only as many bytes as one takes: a server can be started when all else is
// used up. While there is no room for more, batches that only add are refused. When room is back
// the files are made again, first of all.
//
// Threads: any may ask for the condition and for room; one at a time looks.
#ifndef ROCKS_DISK_H
#define ROCKS_DISK_H

#include "rocks/data_dir.h"
#include "store/store.h"

#include <limits.h>
#include <pthread.h>

struct disk {
    const struct data_dir *dir; // borrowed, as is
    int directory;              // its descriptor
    char path[PATH_MAX];
    pthread_mutex_t lock;     // of the files of the reserve, and
    char why[PATH_MAX + 256]; // what is wrong
    _Atomic int condition;
    bool reserve;              // whether one is kept
    _Atomic bool starts_short; // the reserve for starts is not as long as it should be
};

// Nothing can fail: what cannot be found out or made is not there.
// Without a reserve the directory is one that is only looked at.
void disk_init(struct disk *disk, const char *path, const struct data_dir *dir, bool reserve);
void disk_release(struct disk *disk);

enum store_condition disk_condition(struct disk *disk, struct store_error *why);
// Whether the directory is where it was opened, at this very moment. If not, that is the condition
// from now on, and the reason is in the error.
MUST_CHECK bool disk_is_there(struct disk *disk, struct store_error *error);

// Whether there is room for so many bytes; gives up as much of the reserve as that takes.
bool disk_has_room(struct disk *disk, uint64_t bytes);
// The same for a start, which has a reserve of its own.
bool disk_has_room_to_start(struct disk *disk, uint64_t bytes);
// Whether so many bytes are free, without the reserve.
bool disk_has_free(struct disk *disk, uint64_t bytes);
// Gives up a piece of the reserve; false if none is left.
bool disk_give_room(struct disk *disk);
// A write found no room.
void disk_is_full(struct disk *disk);

// Finds out how things are; called once a second. `memory` is what a flush of all that is in memory
// would take, `gone` whether a file of the log has lost its name.
void disk_look(struct disk *disk, uint64_t memory, bool gone);

#endif
