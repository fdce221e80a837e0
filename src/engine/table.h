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
    enum index_status status;
    // While CREATING: entries exist for exactly the items whose tree key is below this one.
    struct slice backfilled;
    struct slice settings; // M value of the API
    struct tree_stats *stats;
};

struct table {
    _Atomic unsigned references;
    struct arena arena; // owns everything below
    struct slice name;
    struct slice uuid;
    int64_t created_ms;
    tree_id tree;
    // Sizes of item collections; only for tables with a local index, else 0.
    tree_id collections;
    struct key_schema keys;
    size_t index_count;
    struct index indexes[LIMIT_INDEXES];
    struct slice settings; // M value of the API
    struct tree_stats *stats;
};

// A new empty table with one reference; NULL when memory is out.
MUST_CHECK struct table *table_new(void);
// A copy that can be changed before it is published; it shares the stats.
MUST_CHECK struct table *table_clone(const struct table *table);
struct table *table_hold(struct table *table);
void table_release(struct table *table);

MUST_CHECK struct tree_stats *tree_stats_new(int64_t items, int64_t bytes);
struct tree_stats *tree_stats_hold(struct tree_stats *stats);
void tree_stats_release(struct tree_stats *stats);

// The catalog's record of a table, as an M value; and back (without stats). Decoding fails on
// bytes this version does not understand.
void table_encode(const struct table *table, struct buf *out);
MUST_CHECK struct table *table_decode(struct slice record);

const struct index *table_index(const struct table *table, struct slice name);

static inline bool table_has_local_index(const struct table *table)
{
    return table->collections != 0;
}

// Whether an attribute is part of the schema's key.
bool key_schema_has(const struct key_schema *schema, struct slice name);

// Whether a key value of that many bytes is not too long.
MUST_CHECK bool key_size_check(bool hash, size_t len, struct error *error);

#endif
