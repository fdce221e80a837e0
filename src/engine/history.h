// A table as it was: all items at one instant, in the order of their keys, from one snapshot.
// It serves backups, restores, exports.
//
// For an instant in the past the change log must have kept old images since (LOG_OLD): the items
// of the snapshot are taken, except that an item that was changed after the instant is taken from
// the old image of its first change after it. Memory is bounded: see notes.h.
#ifndef ENGINE_HISTORY_H
#define ENGINE_HISTORY_H

#include "engine/engine.h"

struct history;

enum { HISTORY_NOW = -1 };

// How the log is read, which may take long.
struct history_limits {
    size_t bytes;                 // of memory; 0 for what is usual
    bool (*stops)(void *context); // asked for each entry: true gives it up. Or NULL.
    void *context;
};

// Opens the table as it was after all writes of the millisecond `at_ms`, or as it is
// (HISTORY_NOW). NULL with the error set. The table is held until history_close. This only takes
// the snapshot; history_next() reads the log. The limits may be NULL.
MUST_CHECK struct history *history_open(struct engine *engine, struct table *table, int64_t at_ms,
                                        const struct history_limits *limits, struct error *error);
// The next item: false at the end, and when the store failed. The slice is valid until the next
// call.
MUST_CHECK bool history_next(struct history *history, struct slice *item);
// After history_next was false: true if that was the end; false, with the error set, if it failed.
MUST_CHECK bool history_ok(const struct history *history, struct error *error);
// The last sequence of the change log that the snapshot has seen.
uint64_t history_sequence(const struct history *history);
void history_close(struct history *history);

#endif
