// What a data directory must hold: a small file `log/promise` that is believed against the rest.
// Without it a log that was cut behind a record, or a MANIFEST that was cut behind an edit, could
// not be told from one that never went further.
//
// It is mapped, so that noting a synced commit is one store to memory, which survives the process.
// A power cut may bring an older promise back; that one is as true. promise_sync is called where
// the newest must survive a power cut as well. A value that is damaged or missing promises nothing.
//
// Each value is 8 bytes, little-endian: 48 bits of value above 16 bits of check.
//
// Threads: each value has one writer at a time; any thread may read or sync.
#ifndef WAL_PROMISE_H
#define WAL_PROMISE_H

#include "store/store.h"

enum promise_value {
    PROMISE_RECORDS,        // records up to this sequence are in the log or in tables
    PROMISE_SEGMENT,        // the log segment of this number was made, and is there unless dropped
    PROMISE_MANIFEST,       // the number of db/CURRENT's MANIFEST, or of one before it
    PROMISE_MANIFEST_BYTES, // so many bytes of it are whole
    PROMISE_BOOT,           // which start of the machine the next value is of
    PROMISE_APPENDED, // with relaxed durability: records up to this were written, if not synced
    PROMISE_SALT,     // wal_mark of the segment's salt, if it is known
    PROMISE_SESSION,  // of RocksDB, of the last start: what it made is not needed unless listed
    PROMISE_VALUES,
};

struct promise {
    int file;
    _Atomic uint64_t *values; // mapped
};

// Reads the promise in a log directory without making or changing one. What was written and not
// synced is lost only with the machine: while that has not been started again it is promised, too,
// as PROMISE_RECORDS.
void promise_read(const char *directory, uint64_t values[PROMISE_VALUES]);

// Opens it, or makes an empty one.
MUST_CHECK bool promise_open(struct promise *promise, const char *directory,
                             struct store_error *error);
void promise_close(struct promise *promise);

// Forgets what was only written: whatever is in the log now is synced.
void promise_begin(struct promise *promise);

uint64_t promise_get(const struct promise *promise, enum promise_value which);
void promise_set(struct promise *promise, enum promise_value which, uint64_t value);
MUST_CHECK bool promise_sync(struct promise *promise, struct store_error *error);

#endif
