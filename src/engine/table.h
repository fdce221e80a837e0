// What a table is: its name, its trees, its keys and its indexes. A `struct table` is
// immutable and reference-counted; a change of the catalog makes a new one and swaps
// it whole, so a request that holds one is never surprised.
//
// What the engine does not need to understand (billing mode, throughput, tags, …) travels
// in `settings`: an M value that the API writes and reads back.
#ifndef ENGINE_TABLE_H
#define ENGINE_TABLE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "engine/guard.h"
#include "value/key.h"

// A tree is a range of the store's keys that begin with the same id; ids are never reused.
typedef uint32_t tree_id;

enum { TREE_META = 0, TREE_FIRST = 1 };

// Live counters of one tree, shared by all versions of its table. Only the writer changes
// them; anyone may read.
struct tree_stats {
    _Atomic unsigned references;
    _Atomic int64_t items;
    _Atomic int64_t bytes; // by AWS's size formula
};

enum projection_type { PROJECT_ALL, PROJECT_KEYS_ONLY, PROJECT_INCLUDE };

enum index_status {
    INDEX_ACTIVE,
    INDEX_CREATING, // being backfilled: see index.backfilled
    INDEX_DELETING,
};

struct index {
    struct slice name;
    bool global;
    tree_id tree;
    struct key_schema keys;
    enum projection_type projection;
    size_t include_count;
    const struct slice *include; // PROJECT_INCLUDE only
    // What it leaves out, as the table's guard said when its tree was begun: see change.c.
    struct guard_outsiders without;
    enum index_status status;
    // While CREATING: entries exist for exactly the items whose tree key is below this one.
    struct slice backfilled;
    struct slice settings; // M value of the API
    struct tree_stats *stats;
};

enum vector_distance { VECTOR_COSINE, VECTOR_EUCLIDEAN, VECTOR_DOT_PRODUCT };

// An index of vectors: see vector.h. Its base has no range keys, and one hash key (the partition
// attribute) or none.
struct vector_index {
    struct index base;
    struct slice attribute; // the list of numbers
    size_t dimensions;
    enum vector_distance distance;
    size_t filter_count;
    const struct key_part *filters; // the inline filters of its search schema
};

// Which images the change log keeps of each write: see log.h.
enum log_images {
    LOG_KEYS = 1, // there is a log at all
    LOG_OLD = 2,
    LOG_NEW = 4,
};

// Which attribute says when an item expires, and the index of expiry times: see ttl.c.
struct table_ttl {
    struct slice attribute;  // empty if items do not expire
    tree_id tree;            // 0 as long as there is none
    bool filled;             // whether the index is complete; else:
    struct slice backfilled; // it has entries for exactly the items whose tree key is below this
};

// A rule of the guard that is being counted from items that were there before it: see pending.c.
enum pending_phase {
    PENDING_SOURCES, // those below the mark are counted, into notes
    PENDING_TARGETS, // all are; those below the mark have taken their notes
};
struct table_pending {
    struct slice rule;
    struct slice source; // the table of what is counted
    enum pending_phase phase;
    struct slice mark; // a tree key
    int64_t done;      // items of the phase
};

enum table_status {
    TABLE_ACTIVE,
    TABLE_CREATING, // being restored or imported: not for item operations yet
};

// What somebody above the engine has made of a version of a table, once, to use it many times
// (compiled policies). Whoever makes it puts its own struct around it; the version frees it.
struct table_made {
    void (*free)(struct table_made *made);
};

struct table {
    _Atomic unsigned references;
    // NULL until it is asked for (table_keep_made); of this version alone.
    struct table_made *_Atomic made;
    struct arena arena; // owns everything below
    struct slice name;
    struct slice uuid;
    int64_t created_ms;
    tree_id tree;
    // Sizes of item collections; only for tables with a local index, else 0.
    tree_id collections;
    enum table_status status;
    tree_id log;         // the change log, 0 if there never was one
    unsigned log_images; // enum log_images; 0 writes no log
    struct table_ttl ttl;
    struct key_schema keys;
    size_t index_count;
    struct index indexes[LIMIT_INDEXES];
    size_t vector_count;
    struct vector_index vectors[LIMIT_VECTOR_INDEXES];
    struct slice settings; // M value of the API
    struct tree_stats *stats;
    // What guards the table: the API's name for it, which is kept, and the guard that it stands
    // for, with a reference. If it could not be made, the table takes no writes.
    struct slice model;
    struct guard *guard;
    tree_id claims; // values that one item alone may have; 0 as long as no guard claims any
    // The guard that is to follow (see guard.h), with a reference, or NULL; and its claims. The
    // tree is kept, but not the guard: whoever goes on has to set it before the first write.
    struct guard *next;
    tree_id next_claims;
    tree_id notes; // numbers that stand in for items; 0 as long as no guard has any
    size_t pending_count;
    struct table_pending *pendings;
};

// Tables whose name begins with this byte are the API's own (backups): no listing shows them, and
// no request can name them.
enum { TABLE_HIDDEN = 1 };

static inline bool table_name_hidden(struct slice name)
{
    return name.len > 0 && name.ptr[0] == TABLE_HIDDEN;
}

// A new empty table with one reference; NULL when memory is out.
MUST_CHECK struct table *table_new(void);
// A copy that can be changed before it is published; it shares the stats.
MUST_CHECK struct table *table_clone(const struct table *table);
// Makes a copy a table of its own: without trees, counters, identity and log, to be given new ones.
void table_forget_trees(struct table *table);
struct table *table_hold(struct table *table);
// Keeps what was made of a version, unless another thread was faster: then this one is freed.
// Returns the one that is kept. Any thread.
const struct table_made *table_keep_made(const struct table *table, struct table_made *made);
// Sets or removes (empty, NULL) what guards a table that is not published yet. The name is copied,
// the guard held.
MUST_CHECK bool table_set_guard(struct table *table, struct slice model, struct guard *guard);
// Sets or removes (NULL) the one that is to follow, which is held; with the claims that are there,
// or without any yet.
void table_set_next(struct table *table, struct guard *next, bool keep_claims);
// Makes that one's claims the table's. The caller sets the guard.
void table_take_claims(struct table *table);
void table_release(struct table *table);

MUST_CHECK struct tree_stats *tree_stats_new(int64_t items, int64_t bytes);
struct tree_stats *tree_stats_hold(struct tree_stats *stats);
void tree_stats_release(struct tree_stats *stats);

// The catalog's record of a table, as an M value; and back (without stats). Decoding fails on
// bytes this version does not understand.
void table_encode(const struct table *table, struct buf *out);
MUST_CHECK struct table *table_decode(struct slice record);

const struct index *table_index(const struct table *table, struct slice name);
const struct vector_index *table_vector(const struct table *table, struct slice name);

static inline bool table_has_local_index(const struct table *table)
{
    return table->collections != 0;
}

// Whether an item is not too large.
MUST_CHECK bool item_size_check(struct slice item, struct error *error);
// Whether a key value of that many bytes is not too long.
MUST_CHECK bool key_size_check(bool hash, size_t len, struct error *error);
// Emptiness and size of one key value; `hash` tells which limit.
MUST_CHECK bool key_value_check(const struct key_part *part, bool hash, struct slice value,
                                struct error *error);

#endif
