// The metadata of objects: a store of its own (store.h), one thread that changes it, and groups of
// changes that share a commit.
//
// A job is run on that thread against all that came before it, its own group included, and says
// whether it is done. A job that says no has changed nothing. Whoever asked for it sleeps until
// the commit is on disk.
#ifndef OBJECTS_META_H
#define OBJECTS_META_H

#include "objects/record.h"
#include "store/store.h"

struct meta;
struct meta_group;

struct meta_job {
    // True: it is to be committed. False: it has put nothing, and its owner knows why.
    bool (*run)(struct meta_job *job, struct meta_group *group);
    bool alone; // it looks with cursors: what came before it must be committed
    bool frees; // it frees more room than it takes: a full disk takes it
    // Private.
    struct meta_job *next;
    bool over;
    int end;
};

enum meta_end {
    META_DONE,
    META_REFUSED, // by the job
    META_NO_ROOM, // on the disk
    META_FAILED,  // nothing has changed
    META_UNKNOWN, // nothing is visible, but after a crash it may be there, whole
};

struct meta_options {
    const char *path;
    bool relaxed;
    size_t cache_bytes;
    size_t write_buffer_bytes;
    struct blobs *blobs;
};

MUST_CHECK struct meta *meta_open(const struct meta_options *options, char *error,
                                  size_t error_size);
// When nobody asks any more.
void meta_close(struct meta *meta);

// Any thread but the changing one: waits until it is over.
MUST_CHECK enum meta_end meta_do(struct meta *meta, struct meta_job *job);
// For reading, from any thread.
struct store *meta_store(struct meta *meta);
// Whether the disk takes new objects.
bool meta_has_room(struct meta *meta);

struct meta_totals {
    uint64_t objects;
    uint64_t bytes;
};
struct meta_totals meta_totals(struct meta *meta);

// ---- For jobs
// ------------------------------------------------------------------------------------

// What stands under a key, as this group has it: valid until the job ends.
MUST_CHECK enum store_result group_get(struct meta_group *group, const struct record_key *key,
                                       struct slice *out);
void group_put(struct meta_group *group, const struct record_key *key, struct slice value);
void group_delete(struct meta_group *group, const struct record_key *key);
// The blobs of a record are referred to from now on; or not any more, and go with the commit.
void group_keep_blobs(struct meta_group *group, const struct record *record);
void group_trash_blobs(struct meta_group *group, const struct record *record);
// An object has come, or gone.
void group_count(struct meta_group *group, int64_t objects, int64_t bytes);
struct store *group_store(struct meta_group *group);

#endif
