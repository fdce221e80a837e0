// RocksDB's list of its own tables, seen from outside: `db/CURRENT` names a `MANIFEST-NNNNNN`,
// which is a file of checksummed edits. RocksDB takes one that was cut for one that never went
// further, and removes the tables that it does not find there; and one whose last edit was torn by
// a power cut it does not open at all. So the list is looked at before RocksDB sees it, and
// compared with what was promised (promise.h).
#ifndef STORE_MANIFEST_H
#define STORE_MANIFEST_H

#include "store/promise.h"
#include "store/store.h"

// False (and error) if the list is damaged or cannot be read. One that only ends in an edit that
// was never finished, behind all that was promised, is cut there; the file as it was stays beside
// it, as `MANIFEST-NNNNNN.torn`. What the edit brought is still in our log.
MUST_CHECK bool manifest_check(const char *data, const uint64_t promised[PROMISE_VALUES],
                               struct store_error *error);

// Syncs the list and promises what is in it now. RocksDB may be writing to it.
MUST_CHECK bool manifest_promise(const char *data, struct promise *promise,
                                 struct store_error *error);

#endif
