// What the files of the driver share.
#ifndef POSTGRES_DRIVER_INTERNAL_H
#define POSTGRES_DRIVER_INTERNAL_H

#include "base/worker.h"
#include "postgres/link.h"
#include "postgres/postgres.h"

#include <stdatomic.h>

enum { NODE_MAX = 128 };

struct postgres_store {
    struct store base; // first
    struct link_pool pool;

    // The committing thread's.
    struct link writer;
    int64_t number;   // of the last commit
    int64_t expected; // of one whose end is not known; 0 if there is none

    // fence.c
    char node[NODE_MAX];
    char lease[16]; // "5 s"
    int64_t lease_ms;
    _Atomic int64_t epoch;
    _Atomic bool fenced;        // another server writes
    _Atomic int64_t renewed_ms; // when the lease was last known to be ours
    struct link keeper_link;    // the keeper's
    struct worker keeper;
};

// A transaction that sees what was there when it began. Held by whoever took it and by its cursors.
struct postgres_snapshot {
    atomic_uint holders;
    struct link *link; // NULL: it has none, for the reason in `error`
    struct store_error error;
};
struct postgres_snapshot *snapshot_begin(struct postgres_store *own);
struct postgres_snapshot *snapshot_hold(struct postgres_snapshot *snapshot);
void snapshot_drop(struct postgres_store *own, struct postgres_snapshot *snapshot);

// cursor.c
extern const struct store_driver postgres_driver;
struct store_cursor *postgres_cursor_open(struct store *store, struct store_snapshot *snapshot,
                                          struct slice lower, struct slice upper);
void postgres_cursor_close(struct store_cursor *cursor);
void postgres_cursor_seek(struct store_cursor *cursor, struct slice key);
void postgres_cursor_seek_before(struct store_cursor *cursor, struct slice key);
void postgres_cursor_last(struct store_cursor *cursor);
void postgres_cursor_next(struct store_cursor *cursor);
void postgres_cursor_prev(struct store_cursor *cursor);
bool postgres_cursor_ok(const struct store_cursor *cursor, struct store_error *error);

// fence.c
// Makes the tables, and takes the first epoch of this process.
MUST_CHECK bool fence_open(struct postgres_store *own, const struct postgres_options *options,
                           struct store_error *error);
void fence_close(struct postgres_store *own);
// After the connection was lost: connects again, takes a new epoch and reads how many commits there
// are. False with the error if that cannot be said now.
MUST_CHECK bool fence_again(struct postgres_store *own, int64_t *number, struct store_error *error);
// "1 / 0 unless the epoch is ours": the first statement of a commit, with the epoch as its
// parameter.
extern const char fence_statement[];

#endif
