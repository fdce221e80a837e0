// The write-ahead log of the RocksDB driver: records in segment files, each record one
// committed batch.
//
// Why not RocksDB's own: a log of ours can fail and recover. When an append or a sync fails, the
// batch was not applied, so flushing what was applied and starting a new log puts everything right,
// without a restart and without guessing what reached the disk. It is also cheaper (ADR 004).
//
// A segment is a file `NNNNNNNNNN.log`: 4 bytes of magic, the CRC-32 of the salt, 8 random bytes
// (the salt), then records:
//   u32 checksum (CRC-32 of all that follows), u32 payload length, u64 sequence XOR salt, payload
// little-endian. Sequences count up by one over all segments, so a gap cannot go unseen. What is
// not the next record ends its segment: zeros of preallocation, a torn write, or the remains of an
// append that failed, in which the salt keeps a client's data from passing for a record.
//
// Threads: one appends, rotates and restarts; others may sync and drop at the same time.
#ifndef STORE_WAL_H
#define STORE_WAL_H

#include "store/store.h"

struct wal;

// Called with each record found at opening, oldest first. False refuses to open.
typedef bool (*wal_replay)(void *context, struct slice payload, struct store_error *error);

// Opens the log in a directory, which must be there, and replays it. Nothing can be appended before
// wal_continue or wal_restart. NULL with the reason.
MUST_CHECK struct wal *wal_open(const char *directory, wal_replay replay, void *context,
                                struct store_error *error);
void wal_close(struct wal *wal);

// Whether wal_open found records.
bool wal_replayed(const struct wal *wal);

// After wal_open: keeps what was replayed and begins a new segment behind it; *number is its
// number. The older ones can be dropped once their records are durable elsewhere.
MUST_CHECK bool wal_continue(struct wal *wal, uint64_t *number, struct store_error *error);

// Forgets everything: removes all segments and begins a new one. Only when all that was logged is
// durable elsewhere. After a failure it may be tried again; until then nothing can be appended.
MUST_CHECK bool wal_restart(struct wal *wal, struct store_error *error);

// Whether the disk is well: makes a file with room for so many bytes, which should be more than a
// flush needs, syncs and removes it. Asked before recovery risks anything.
MUST_CHECK bool wal_probe(struct wal *wal, size_t room, struct store_error *error);

// Appends a record. A failed append leaves none: the next one overwrites it.
MUST_CHECK bool wal_append(struct wal *wal, struct slice payload, struct store_error *error);

// Appending stops until wal_restart: the last record was not applied and must not come back.
void wal_break(struct wal *wal);
bool wal_broken(const struct wal *wal);

// Waits until all that was appended before the call is on disk. After a failure nobody knows what
// is, so appending stops until wal_restart.
MUST_CHECK bool wal_sync(struct wal *wal, struct store_error *error);

// Bytes in the active segment.
size_t wal_segment_bytes(const struct wal *wal);

// How many segments there are, and their bytes on disk. Any thread may ask.
void wal_measure(struct wal *wal, uint64_t *segments, uint64_t *bytes);

// Begins a new segment; *number is its number. All that was appended must have been synced. A
// failure changes nothing.
MUST_CHECK bool wal_rotate(struct wal *wal, uint64_t *number, struct store_error *error);

// Removes the segments below a number, which must not be the active one's or above.
MUST_CHECK bool wal_drop_below(struct wal *wal, uint64_t number, struct store_error *error);

#endif
