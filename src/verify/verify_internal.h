// What the files of the verification share.
#ifndef VERIFY_VERIFY_INTERNAL_H
#define VERIFY_VERIFY_INTERNAL_H

#include "engine/engine_internal.h"
#include "verify/verify.h"

enum {
    VERIFY_SLICE_KEYS = 1024,
    VERIFY_SLICE_BYTES = 1 << 20,
    VERIFY_NAME_MAX = 256,
    VERIFY_TREES_MAX = LIMIT_INDEXES + LIMIT_VECTOR_INDEXES + 3, // made of one table's items
    VERIFY_TALLIES = 4 * VERIFY_TREES_MAX, // with counters, and with indexes that come meanwhile
};

// What has been found in one tree by one check.
struct tally {
    enum verify_check check;
    tree_id tree;
    char name[VERIFY_NAME_MAX]; // of the index, or ""
    uint64_t examined;
    uint64_t differences;
};

struct verifier {
    const struct verify_options *options;
    const struct verify_watcher *watcher;
    struct store *store;
    struct engine engine; // no more than a store and an env: for the functions that want one
    struct txn txn;       // scratch: what an item implies
    struct arena arena;   // of one item
    struct buf place;     // where the next slice begins
    struct buf owner;     // a tree key
    struct buf key_bytes; // a key as an item, for a difference
    struct value_builder key_builder;
    struct buf name; // of the table at work
    size_t tally_count;
    struct tally tallies[VERIFY_TALLIES];
    struct guard *guard; // of the model of that name
    struct buf guard_model;
    struct verify_progress progress;
    bool stopped;
    struct store_batch *mend; // what puts the slice right; NULL if nothing is to be
};

// One moment of one table.
struct view {
    struct store_snapshot *snapshot;
    struct table *table;
    bool claims; // its unique values can be judged
};

MUST_CHECK struct verifier *verifier_new(const struct verify_options *options);
void verifier_free(struct verifier *v);
// The name of the first table behind v->name, into it. False if there is none.
MUST_CHECK bool verifier_next_table(struct verifier *v);

// False if the table is gone, or is another one of that name than the one of `tree` (unless 0).
MUST_CHECK bool view_open(struct verifier *v, struct slice name, tree_id tree, struct view *view);
void view_close(struct verifier *v, struct view *view);

// A cursor on [lower, upper) that reports what it could not read.
struct store_cursor *verify_cursor(struct verifier *v, const struct view *view, tree_id tree);

// The tally of a tree, begun if there is none yet.
struct tally *tally_of(struct verifier *v, enum verify_check check, tree_id tree,
                       struct slice name);
void tallies_tell(struct verifier *v);

void verify_differ(struct verifier *v, struct tally *tally, struct slice key, struct slice place,
                   const char *what, ...) PRINTF_LIKE(5, 6);
// The end of a cursor: a failure to read is a difference.
void verify_cursor_end(struct verifier *v, struct tally *tally, struct store_cursor *cursor);
// Tells of the progress; false if the verification is to end.
bool verify_proceed(struct verifier *v, uint64_t keys);

// What puts a difference right, in the batch of the slice; nothing unless that is asked for.
void mend_put(struct verifier *v, struct slice key, struct slice value);
void mend_delete(struct verifier *v, struct slice key);
void mend_delete_tree(struct verifier *v, tree_id tree);

// The parts of one or two schemas, one after the other in `rest`, as an item; VALUE_NONE if they
// cannot be read. Valid until the next call.
struct slice verify_key(struct verifier *v, const struct key_schema *first,
                        const struct key_schema *second, struct slice rest);
// A record that may be anything. False if it is no item.
MUST_CHECK bool verify_record(struct slice record, struct image *out);

// What the database says of its change logs: see log.c.
struct log_state {
    uint64_t last;    // sequence that was given out
    bool timed;       // the rest is known
    int64_t time_ms;  // of that one
    uint64_t ordered; // since this sequence times do not fall
};
struct log_state verify_log_state(struct verifier *v, struct store_snapshot *snapshot);

// Whether the table's guard has seen all of its items.
bool view_settled(struct verifier *v, const struct view *view);
// Checks what follows from the items of v->name by its guard (rules.c).
void verify_rules(struct verifier *v);
// Checks one table (table.c), and one change log (changes.c).
void verify_table(struct verifier *v);
void verify_changes(struct verifier *v, tree_id log);
// The database around the tables (catalog.c).
void verify_catalog(struct verifier *v);

// The tree that a key is of; 0 if it is too short to be of any.
static inline tree_id tree_of(struct slice key)
{
    return key.len < 4 ? 0 : be32_get(key.ptr);
}

#endif
