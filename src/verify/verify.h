// Verifying a database: everything that is derived from items (index entries, counters, unique
// values, expiry times) is made again by the functions that write it, and compared with what is
// there; and everything that is there must have its item.
//
// It reads the store alone, so that it needs neither an open engine nor a catalog that can be
// loaded, and works beside one that serves. Each table is read
//   in slices, each on a snapshot of its own: each entry's item is looked up, and each item's
//     entries;
//   and once on one snapshot, from the first item to the last, to count: counters are keys of the
//     store, so the same snapshot says what they were at that moment.
// A slice reads its table's catalog record from its own snapshot, so that it is exact whatever
// is created, dropped or backfilled meanwhile, and no snapshot outlives one pass over one table.
//
// Mending is the same walk: whatever differs is written as it should have been.
//
// Memory is bounded by one slice and one item, whatever the size of the database; the ids of all
// trees (4 bytes each) are the only thing that grows with the number of tables.
#ifndef VERIFY_VERIFY_H
#define VERIFY_VERIFY_H

#include "engine/engine.h"

// X(name, in words)
#define VERIFY_CHECK_LIST(X)                                                                       \
    X(FILES, "files")             /* blocks of table files and their checksums */                  \
    X(LOG, "log")                 /* records of the write-ahead log */                             \
    X(CATALOG, "catalog")         /* records of tables, and the few numbers beside them */         \
    X(RECORDS, "records")         /* what the API keeps beside tables */                           \
    X(TREES, "trees")             /* keys that belong to nothing */                                \
    X(ITEMS, "items")             /* form, size and key of each item */                            \
    X(INDEX, "index")             /* a secondary index against its table, both ways */             \
    X(VECTOR_INDEX, "vectors")    /* a vector index, likewise */                                   \
    X(TTL, "expiry times")        /* the index of expiry times, likewise */                        \
    X(CLAIMS, "unique values")    /* values that one item alone may have, likewise */              \
    X(RULES, "rules")             /* numbers that are counted, and items that are derived */       \
    X(COLLECTIONS, "collections") /* sizes of item collections */                                  \
    X(COUNTERS, "counters")       /* items and bytes of tables and indexes */                      \
    X(CHANGES, "change log")      /* order and form of its entries */

enum verify_check {
#define X(name, words) VERIFY_##name,
    VERIFY_CHECK_LIST(X)
#undef X
        VERIFY_CHECKS
};

const char *verify_check_words(enum verify_check check);

// Something that is not as it must be. Slices are valid during the call.
struct verify_difference {
    enum verify_check check;
    struct slice table; // or empty
    struct slice index; // or empty
    struct slice file;  // the name of the file, or empty
    struct slice key;   // an item with the key attributes; VALUE_NONE if none can be made out
    struct slice
        place; // the key in the store, if that is all there is to say where it is; or empty
    const char *what;
};

// What came of one check of one table (and index).
struct verify_outcome {
    enum verify_check check;
    struct slice table;
    struct slice index;
    uint64_t examined;
    uint64_t differences;
};

struct verify_progress {
    struct slice table; // at work, or empty
    uint64_t done;      // keys read
    uint64_t total;     // and to read, by the counters: an estimate
};

struct verify_watcher {
    void *context;
    void (*difference)(void *context, const struct verify_difference *difference);
    void (*outcome)(void *context, const struct verify_outcome *outcome);
    // After each slice; false ends the verification.
    bool (*proceed)(void *context, const struct verify_progress *progress);
};

// What the layer above knows of the records that the engine keeps for it.
struct verify_knowledge {
    struct guard_maker maker; // or make is NULL: claims are not looked at
    // The name, up to the table's own, of the record that says how far the items of a table are
    // known to its guard; and whether such a record says: all of them.
    const char *guard_work;
    bool (*guard_work_done)(struct slice record);
    // The change log, of a table that is gone, which a record keeps alive; 0 if it keeps none.
    tree_id (*record_log)(struct slice name, struct slice record);
    // What is in a table's change log is whole since a moment only: has the table say so. False if
    // it need not.
    bool (*table_cut)(struct table *table, int64_t since_ms);
    // The same for a record, if it shows this change log (its own, or the table's): from `first` on
    // it is whole. False if it need not be changed; else *out is in the arena.
    bool (*record_cut)(struct slice name, struct slice record, struct slice table, tree_id log,
                       uint64_t first, struct arena *arena, struct slice *out);
};

struct verify_options {
    struct store *store;
    struct env env;
    struct slice table; // only this one; empty for the whole database
    const struct verify_knowledge *knowledge;
    const struct verify_watcher *watcher;
    // Puts every difference right: makes entries that are missing, removes those that are nobody's,
    // corrects counters, drops what cannot be read. The whole store, with nobody else at it.
    bool mend;
};

// False if the watcher ended it, or what was to be put right could not be written.
MUST_CHECK bool verify_store(const struct verify_options *options);
// Whether there is a record of the table that the options name, readable or not.
MUST_CHECK bool verify_has_table(const struct verify_options *options);
// Table files, which whoever has them reads block by block: called with each file and what is wrong
// with it (NULL if nothing is); false if the watcher ended it.
struct verify_files {
    const struct verify_watcher *watcher;
    struct verify_outcome outcome;
    bool stopped;
};
bool verify_file(void *files, const char *path, const char *fault);
// The same as verify_store for the store of an engine that is at work, and for its table files;
// options->store and env are not used.
MUST_CHECK bool engine_verify(struct engine *engine, const struct verify_options *options);

// What a store lacks that was repaired.
struct verify_loss {
    struct slice from; // keys, both exclusive; an empty `to` is the end
    struct slice to;
};

struct verify_losses {
    const struct verify_loss *ranges;
    size_t count;
    bool unknown; // and anything else, anywhere
};

struct verify_cut {
    struct slice table; // or the name of the record that has the log
    int64_t since_ms;   // the change log is whole from here on
};

// Change logs that something was lost of begin behind that from now on, and streams and
// point-in-time recovery with them. Calls back for each. With `mend`; false if it could not be
// written.
MUST_CHECK bool verify_cut_logs(const struct verify_options *options,
                                const struct verify_losses *losses,
                                void (*visit)(void *context, const struct verify_cut *cut),
                                void *context);

// A part of a range of the store's keys.
struct verify_place {
    enum verify_check check; // what stands there
    struct slice table;      // or empty
    struct slice index;      // or empty
    struct slice after;      // keys at the ends of the range, as items, if they are of this part
    struct slice before;
};

// Calls back with everything that keys between two others (exclusive; an empty `to` is the end) may
// belong to. The slices are valid during the call.
void verify_range(const struct verify_options *options, struct slice from, struct slice to,
                  void (*visit)(void *context, const struct verify_place *place), void *context);

#endif
