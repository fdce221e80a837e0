// The write-ahead log of the RocksDB driver: records in segment files, each record one committed
// batch. How they are written down, and what counts as damage, is in check.h.
//
// Why not RocksDB's own: a log of ours can fail and recover. When an append or a sync fails, the
// batch was not applied, so flushing what was applied and starting a new log puts everything right,
// without a restart and without guessing what reached the disk. It is also cheaper (ADR 004).
//
// Threads: one appends, rotates and restarts; others may sync, and one of them drop, at the same
// time.
#ifndef WAL_WAL_H
#define WAL_WAL_H

#include "store/store.h"
#include "wal/check.h"
#include "wal/promise.h"

struct wal;

// Opens the log of a directory that was found whole, at the record its report ends with, or behind
// it if the tables are further (`applied`). What the last segment holds is on disk after that.
// Nothing can be appended before wal_continue or wal_restart. The promise is borrowed, and so are
// the keys, by the newest of which new segments are encrypted; or NULL. NULL with the reason.
MUST_CHECK struct wal *wal_open(const char *directory, const struct keyring *keys,
                                const struct wal_report *report, uint64_t applied,
                                struct promise *promise, struct store_error *error);
void wal_close(struct wal *wal);

// After wal_open: keeps what is there and begins a new segment behind it; *number is its number.
// The older ones can be dropped once their records are durable elsewhere.
MUST_CHECK bool wal_continue(struct wal *wal, uint64_t *number, struct store_error *error);

// Forgets everything: begins a new segment whose first record follows `applied`, and removes all
// others. Only when all records up to that one are durable elsewhere; those behind it never come
// back. After a failure it may be tried again; until then nothing can be appended.
MUST_CHECK bool wal_restart(struct wal *wal, uint64_t applied, struct store_error *error);

// Whether the disk is well: makes a file with room for so many bytes, which should be more than a
// flush needs, syncs and removes it. Asked before recovery risks anything.
MUST_CHECK bool wal_probe(struct wal *wal, size_t room, struct store_error *error);

// Appends a record. One that was not appended leaves nothing that could come back. Where that
// cannot be made sure it is unknown, and appending stops until wal_restart.
MUST_CHECK enum store_end wal_append(struct wal *wal, struct slice payload,
                                     struct store_error *error);

// Whether room is made ahead for records to come, and that of old segments kept for them, which is
// quicker; where there is little, it is not. It is at first. Any thread may say so.
void wal_allocate_ahead(struct wal *wal, bool ahead);

// Takes the last record back, so that it never comes back: it was appended by this thread and not
// applied. After a failure nobody knows, and appending stops until wal_restart.
MUST_CHECK bool wal_take_back(struct wal *wal, struct store_error *error);

// The sequence of the last record, and whether all are on disk.
uint64_t wal_sequence(const struct wal *wal);
bool wal_is_synced(const struct wal *wal);

// Appending stops until wal_restart: the last record was not applied and must not come back.
void wal_break(struct wal *wal);
bool wal_broken(const struct wal *wal);

// Waits until all that was appended before the call is on disk, and promises it. After a failure
// nobody knows what is, so appending stops until wal_restart.
MUST_CHECK bool wal_sync(struct wal *wal, struct store_error *error);

// Promises, whatever happens to the log, that records up to a sequence are in the log or in tables:
// asked before they go there. On disk when it returns.
MUST_CHECK bool wal_promise(struct wal *wal, uint64_t sequence, struct store_error *error);

// Bytes in the active segment.
size_t wal_segment_bytes(const struct wal *wal);

// Whether the active segment's file has lost its name: somebody removed it.
bool wal_is_gone(struct wal *wal);

// How many segments there are, and their bytes on disk with what is kept. Any thread may ask.
void wal_measure(struct wal *wal, uint64_t *segments, uint64_t *bytes);

// Begins a new segment; *number is its number. All that was appended must have been synced. A
// failure changes nothing; if a part of the new segment could not be taken away again, which would
// void what is appended to the old one, appending stops until wal_restart.
MUST_CHECK bool wal_rotate(struct wal *wal, uint64_t *number, struct store_error *error);

// Removes the segments below a number, which must not be the active one's or above; one may be kept
// under another name, for the next segment to begin in.
MUST_CHECK bool wal_drop_below(struct wal *wal, uint64_t number, struct store_error *error);

#endif
