// Getting out of a damaged data directory what can be read, into a new store, and saying exactly
// what could not. The original is only looked at (look.h).
//
// What can be damaged, and what is done:
//   the list of tables  it is made anew out of the table files that can be read; what can be read
//                       of the others is added where a key is missing, and may be old
//   a table file        it is read around the blocks that cannot be, which are all if it is missing
//                       or cannot be opened; keys of that range which other files have are taken
//                       from there, and may be older than what was lost
//   the log             every intact record is applied, in order and whole, around those missing
// What the keys mean is not known here: entries that no longer fit their items are mended by
// the engine afterwards (verify/verify.h).
#ifndef SALVAGE_SALVAGE_H
#define SALVAGE_SALVAGE_H

#include "salvage/look.h"
#include "wal/check.h"

enum {
    SALVAGE_FILES = 64, // described one by one; the rest are counted
    SALVAGE_RANGES = 256,
    SALVAGE_GAPS = 64,
};

struct salvage_file {
    char name[64];
    char fault[512];
};

// Keys between two that could be read, both exclusive; an empty `to` is the end.
struct salvage_range {
    struct slice from;
    struct slice to;
    uint64_t others; // keys of it that other files had
};

struct salvage_gap {
    uint64_t from; // sequences of records, both inclusive
    uint64_t to;
};

struct salvage {
    bool rebuilt;                 // the list of tables was made anew
    char reason[STORE_ERROR_MAX]; // why
    size_t file_count;
    struct salvage_file files[SALVAGE_FILES]; // damaged ones
    size_t range_count; // beyond the limit, the last range reaches to the end of the last one
    struct salvage_range ranges[SALVAGE_RANGES];
    uint64_t keys;    // taken over
    uint64_t older;   // of them, those that may be older than what was lost
    uint64_t applied; // sequence up to which the tables held the log
    uint64_t records; // of the log that were applied
    uint64_t last;    // sequence of the last record that is there now
    size_t gap_count;
    struct salvage_gap gaps[SALVAGE_GAPS]; // records that are missing
    uint64_t missing;                      // how many, in all gaps
    struct wal_report log;
};

// Fills the store, which must be empty. False (and error) if that cannot be done at all. `proceed`
// is called now and then with the keys taken over so far.
MUST_CHECK bool salvage_run(const struct look *look, struct store *to, struct salvage *out,
                            void (*proceed)(void *context, uint64_t keys), void *context,
                            struct store_error *error);
void salvage_release(struct salvage *salvage);

#endif
