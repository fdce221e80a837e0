// Copying tables between places that speak the DynamoDB API: servers, and data directories.
//
// A run goes through its tables: definitions first, then items, then changes (if it follows), then
// what must not act before (expiry, models), then the comparison (if it is asked for). How far
// a table is stands in a file, so that a run that was killed is resumed (README.md says why that is
// right).
#ifndef COPY_COPY_H
#define COPY_COPY_H

#include "cli/shards.h"
#include "cli/target.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    COPY_SEGMENTS_MAX = 64,
    COPY_TABLE_NAME = 256,
};

// ---- Places ---------------------------------------------------------------------------------

struct place {
    const char *text; // as the user wrote it
    bool directory;
    bool dolmen; // it has models
    struct target target;
};

// False after telling the user.
MUST_CHECK bool place_open(struct place *place, struct cli_input *input, const char *text,
                           const char *region, const char *profile);
void place_close(struct place *place);
// The same place for another thread, which has its own answers; `input` is its own copy, too.
void place_share(const struct place *place, struct cli_input *input, struct target *out);
void place_unshare(struct target *target);

// ---- A run ----------------------------------------------------------------------------------

struct copy_segment {
    struct buf key; // where it goes on, as JSON; empty at its begin
    uint64_t items;
    bool done;
};

struct copy_table {
    char name[COPY_TABLE_NAME];
    struct arena arena;         // of the description
    struct target_table source; // as it was at the start
    struct slice keys[2];       // names of the primary key's attributes
    size_t key_count;           //
    bool resumed;               // by its file
    bool copied;                // all segments are done
    struct buf note;            // where its stream stands
    unsigned segment_count;     //
    struct copy_segment *segments;
    struct shards stream;
    bool streaming; // `stream` is open
    uint64_t changes;
    uint64_t items; // copied by this run and earlier ones
};

struct copy {
    struct cli_input *input;
    struct place source;
    struct place target;
    const char *state; // directory of the files
    unsigned segments;
    uint64_t rate; // writes a second; 0 for no bound
    bool follow;
    bool until_caught_up;
    bool overwrite; // tables of the target that have items are written to all the same
    bool quiet;
    struct copy_table *tables;
    size_t table_count;
    uint64_t items; // in all, when the run has ended
    uint64_t changes;

    _Atomic bool stop; // the user has asked to end
    pthread_mutex_t lock;
    int64_t pace_ns; // when the next write may be made
    _Atomic uint64_t written;
};

// All of it. False after telling the user; what was done stays, and is gone on with by the next
// run.
MUST_CHECK bool copy_run(struct copy *copy, bool verify, bool verify_only);

// ---- Steps ----------------------------------------------------------------------------------

// define.c
MUST_CHECK bool define_describe(struct copy *copy, struct copy_table *table);
MUST_CHECK bool define_create(struct copy *copy, struct copy_table *table);
MUST_CHECK bool define_stream(struct copy *copy, struct copy_table *table);
MUST_CHECK bool define_settings(struct copy *copy, struct copy_table *table);
MUST_CHECK bool define_models(struct copy *copy);

// items.c
MUST_CHECK bool items_copy(struct copy *copy, struct copy_table *table);

// writes.c: requests of a batch, in the order in which they came. One of a key that is there
// already takes its place.
struct writes {
    struct copy *copy;
    struct target *target;
    const char *table;
    struct arena arena;
    size_t count;
    size_t bytes;
    struct slice keys[25];     // canonical; empty if nobody looks
    struct slice requests[25]; // JSON: {"PutRequest":…} or {"DeleteRequest":…}
};
void writes_init(struct writes *writes, struct copy *copy, struct target *target,
                 const char *table);
void writes_release(struct writes *writes);
// Both texts are copied. False after telling the user.
MUST_CHECK bool writes_put(struct writes *writes, struct slice key, struct slice item);
MUST_CHECK bool writes_delete(struct writes *writes, struct slice key, struct slice key_text);
MUST_CHECK bool writes_flush(struct writes *writes);

// follow.c
MUST_CHECK bool follow_begin(struct copy *copy, struct copy_table *table);
MUST_CHECK bool follow_all(struct copy *copy);

// compare.c: false if they differ, or after telling the user why they cannot be compared.
MUST_CHECK bool compare_all(struct copy *copy);

// state.c
MUST_CHECK bool state_load(struct copy *copy, struct copy_table *table);
MUST_CHECK bool state_save(struct copy *copy, struct copy_table *table); // holding copy->lock
void state_forget(const struct copy *copy, const struct copy_table *table);

#endif
