// The log of formats 1 and 2, which is read once: what it holds goes into tables, and the log goes
// on in the format of today.
#ifndef WAL_OLD_H
#define WAL_OLD_H

#include "wal/check.h"

struct wal_old {
    uint64_t lowest; // segment numbers; 0 if there are none
    uint64_t highest;
    uint64_t last; // sequence of the last record, or 0
};

// Calls `visit` with each record, in order, as far as the log can be read: that format cannot tell
// a torn write from damage. False (and error) if a file cannot be read, is of a newer format, or
// `visit` refuses, which may be NULL.
MUST_CHECK bool wal_old_walk(const char *directory, struct wal_old *out, wal_visit visit,
                             void *context, struct store_error *error);

#endif
