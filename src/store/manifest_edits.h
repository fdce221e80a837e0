// What RocksDB's list of tables says of tables that it no longer has: they were merged into others,
// or all that they had was deleted. Their files go when nobody reads them any more, and a process
// that dies before that leaves them behind. A file that was never in the list is another matter.
#ifndef STORE_MANIFEST_EDITS_H
#define STORE_MANIFEST_EDITS_H

#include "base/attributes.h"
#include "base/slice.h"

// Calls back with the number of each table that an edit takes off the list, in the bytes of a whole
// MANIFEST. What is not understood is passed over: less is known then.
void manifest_each_deleted(struct slice bytes, void (*visit)(void *context, uint64_t number),
                           void *context);

#endif
