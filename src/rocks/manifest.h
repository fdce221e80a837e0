// RocksDB's list of its own tables, seen from outside: `db/CURRENT` names a `MANIFEST-NNNNNN`,
// which is a file of checksummed edits. RocksDB takes one that was cut for one that never went
// further, and removes the tables that it does not find there; and one whose last edit was torn by
// a power cut it does not open at all. So the list is looked at before RocksDB sees it, and
// compared with what was promised (wal/promise.h).
#ifndef ROCKS_MANIFEST_H
#define ROCKS_MANIFEST_H

#include "crypt/keyring.h"
#include "rocks/manifest_edits.h"
#include "store/store.h"
#include "wal/promise.h"

enum manifest_state {
    MANIFEST_SOUND,
    MANIFEST_LACKS_TABLE, // the list is sound, but a file that it names is missing
    MANIFEST_DAMAGED,     // it, or CURRENT, is missing, cannot be read, or cannot be true
};

// In all of this `keys` are those of a directory that is encrypted, or NULL; places in a list are
// those in its content.

// The list by itself, with the promise, and with the files that are there; the error says what is
// wrong. A list that only ends in an edit that was never finished, behind all that was promised, is
// sound and is cut there; the file as it was stays beside it, as `MANIFEST-NNNNNN.torn`. What the
// edit brought is still in our log.
MUST_CHECK enum manifest_state manifest_judge(const char *data, const struct keyring *keys,
                                              const uint64_t promised[PROMISE_VALUES],
                                              struct store_error *error);
// Whether it is sound.
MUST_CHECK bool manifest_check(const char *data, const struct keyring *keys,
                               const uint64_t promised[PROMISE_VALUES], struct store_error *error);

// What the intact edits say of tables, also those behind damage; empty if there are none. Where
// CURRENT does not name the list, it is the newest one. The caller releases it.
void manifest_tables(const char *data, const struct keyring *keys, struct edits *out);

// Syncs the list and promises what is in it now. RocksDB may be writing to it.
MUST_CHECK bool manifest_promise(const char *data, const struct keyring *keys,
                                 struct promise *promise, struct store_error *error);

#endif
