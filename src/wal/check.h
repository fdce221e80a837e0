// What a log directory holds, judged without changing anything. The log itself opens through this;
// so do the tools that verify and repair a directory.
//
// A segment is a file `NNNNNNNNNN.log`, little-endian:
//   header  "DLG3", u32 CRC-32 of what follows, u64 salt, u32 the file's number,
//           u32 mark of the salt of the file before, u64 the sequence of its first record
//   records u32 CRC-32 of what follows, u32 payload length, u64 sequence XOR salt,
//           u32 how many records before this one were not synced when it was written, payload
//
// In a directory that is encrypted:
//   header  "DLG4" and the same fields, then u32 the id of a data key, 12 zeros, and 16 bytes of
//   tag
//           over everything behind the checksum
//   records the same, with the payload sealed: u32 how many records were begun in this file, with
//           this one, the content, and 16 bytes of tag
//
// Sequences count up by one over all segments. A segment holds what lies between its own first
// sequence and the next segment's; what it has behind that is void, and less than that is damage.
// Only the last segment may end in a write that was not finished, and only where nothing behind it
// says that it had been synced. A file whose successor, or the promise, speaks of another salt is
// of another log, and counts for nothing. What was synced up to when is also in the file `promise`
// (promise.h), which the caller compares, because a record that is not in the log may be in tables.
#ifndef WAL_CHECK_H
#define WAL_CHECK_H

#include "crypt/keyring.h"
#include "store/store.h"
#include "wal/promise.h"

enum {
    WAL_NAME_BYTES = 32,
    WAL_DAMAGES = 64, // described one by one; the rest are counted
};

struct wal_segment {
    uint64_t number;
    uint64_t salt;
    uint64_t first;   // sequence of its first record, or of the one that will be
    uint64_t records; // intact from there on, without a gap
    uint64_t end;     // byte where they end
    uint64_t bytes;   // size of the file
};

struct wal_damage {
    char file[WAL_NAME_BYTES];
    uint64_t at;       // byte in the file
    uint64_t sequence; // of the record that should be there
    uint64_t behind;   // intact records behind it, in this file and the later ones
    const char *what;  // in a few words
};

struct wal_report {
    struct wal_segment *segments; // ordered by number
    size_t segment_count;
    uint64_t first;   // sequence of the log's first record; 0 if there is no segment
    uint64_t last;    // of the last record that can be reached without a gap; first - 1 if none
    uint64_t reach;   // of the last intact record that counts, whatever is missing before it
    uint64_t records; // intact records that count
    uint64_t torn;    // bytes of an unfinished write at the end, which is no damage
    uint64_t adrift;  // intact records among them, which do not count: one before them is missing
    uint64_t unfinished; // number of a last segment whose header was never finished, or 0
    struct wal_damage damages[WAL_DAMAGES];
    size_t damage_count; // all of them
};

// False (and error) only if the directory or a file cannot be read. `made` is the number of the
// last segment that is known to have been finished, 0 if that is not known.
// `keys` are those of a directory that is encrypted; it has no others, and NULL elsewhere.
MUST_CHECK bool wal_check(const char *directory, const struct keyring *keys, uint64_t made,
                          struct wal_report *out, struct store_error *error);
void wal_report_release(struct wal_report *report);

// Adds the damages that only show beside the rest of the directory: a log that begins behind what
// the tables hold (`applied`, a sequence), that ends before a promised record that is not in the
// tables either, or that is not there at all.
void wal_report_compare(struct wal_report *report, uint64_t applied,
                        const uint64_t promised[PROMISE_VALUES]);

// One sentence for the first damage: the file, the byte, what is behind it, and what to do. Always
// returns false.
bool wal_report_fail(const struct wal_report *report, const char *data, struct store_error *error);

// Calls `visit` with each intact record above one sequence and up to another, in order. Where
// records are missing it goes on behind the gap, so that a repair sees all there is up to the
// report's `reach`; a gap shows in the sequence.
typedef bool (*wal_visit)(void *context, uint64_t sequence, struct slice payload,
                          struct store_error *error);
MUST_CHECK bool wal_walk(const char *directory, const struct keyring *keys, uint64_t above,
                         uint64_t upto, wal_visit visit, void *context, struct store_error *error);

#endif
