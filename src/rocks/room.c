// The RocksDB driver on a disk that is full or nearly so: what still goes on, and who waits.
//
// Puts are refused while a flush of all that is in memory would not leave a little room. Deletes go
// to log and memory, out of the reserve. A flush waits for room and merging leaves it to the flush,
// so that RocksDB never meets the end of the disk, which would stop it.
#include "rocks/rocks_internal.h"

#include "rocks/options.h"

#include "base/wait.h"

enum {
    FLUSH_SLACK = 2 << 20,  // room that a flush takes besides what is in memory
    MERGE_SLACK = 1 << 20,  // and of that what merging leaves
    OPEN_SLACK = 256 << 20, // what is being replayed, and its tables, may take as much
    ROOM_WAIT_MS = 100,     // between two looks for room of a flush that has none
};

uint64_t rocks_property(struct rocks_store *rocks, const char *name)
{
    uint64_t value = 0;
    (void)rocksdb_property_int(rocks->db, name, &value);
    return value;
}

static uint64_t memory_bytes(struct rocks_store *rocks)
{
    return rocks_property(rocks, "rocksdb.cur-size-all-mem-tables");
}

// Room that a flush of all that is in memory takes.
uint64_t rocks_flush_bytes(struct rocks_store *rocks)
{
    return memory_bytes(rocks) + FLUSH_SLACK;
}

// Whether a full disk is kept open for such a batch.
bool rocks_frees_room(const struct store_batch *batch)
{
    struct store_batch_view view = store_batch_view(batch);
    bool puts = false;
    for (size_t i = 0; !puts && i < view.entry_count; i++)
        puts = !view.entries[i].deleted;
    return view.frees || !puts;
}

bool rocks_nothing_left(const struct rocks_store *rocks, struct store_error *error)
{
    (void)store_fail(error,
                     "the disk of %s is full, and so is what was kept back for deletes: "
                     "nothing is done until there is more room",
                     rocks->path);
    error->no_room = true;
    return false;
}

// Flushing has to wait while there is no room for it. Whether the memtables take what is committed
// until then: otherwise RocksDB would let the commit wait, too.
bool rocks_memory_has_room(struct rocks_store *rocks)
{
    return rocks_property(rocks, "rocksdb.num-immutable-mem-table") + 1 < ROCKS_MEMTABLES_MOST ||
           rocks_property(rocks, "rocksdb.cur-size-active-mem-table") < rocks->memtable_bytes / 2;
}

// What a flush that has written so much still takes.
static uint64_t flush_rest(struct rocks_store *rocks, uint64_t written)
{
    uint64_t all = rocks_flush_bytes(rocks);
    return all > written + FLUSH_SLACK ? all - written : FLUSH_SLACK;
}

// A flush that met the end of the disk would stop all writes. So one that has no room waits for it,
// unless somebody waits for the flush in turn. It is given the reserve only if that is enough.
void rocks_wait_for_room(struct rocks_store *rocks, uint64_t written)
{
    while (!disk_has_room(&rocks->disk, flush_rest(rocks, written))) {
        disk_is_full(&rocks->disk);
        if (rocks->hurried || rocks_property(rocks, "rocksdb.is-write-stopped") != 0)
            return;
        sleep_ms(ROOM_WAIT_MS);
    }
}

// Merging leaves the room that a flush takes, or is tried again later. A flush has found room, but
// somebody else may have taken it since.
bool rocks_has_room(void *context, uint64_t written, size_t bytes, bool merging)
{
    struct rocks_store *rocks = context;
    if (merging && !rocks->open)
        return disk_has_free(&rocks->disk, bytes + OPEN_SLACK);
    if (merging)
        return disk_has_free(&rocks->disk, bytes + memory_bytes(rocks) + MERGE_SLACK);
    if (rocks->open)
        rocks_wait_for_room(rocks, written);
    return true;
}

void rocks_look_at_disk(void *context)
{
    struct rocks_store *rocks = context;
    struct store_error why;
    disk_look(&rocks->disk, rocks_flush_bytes(rocks), wal_is_gone(rocks->wal));
    bool full = disk_condition(&rocks->disk, &why) == STORE_NO_ROOM;
    wal_allocate_ahead(rocks->wal, !full);
    // What is flushed makes room: the log that held it can go.
    if (full)
        worker_ask(&rocks->flusher);
}
