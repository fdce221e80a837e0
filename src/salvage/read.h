// An iterator over tables that goes on behind what it cannot read.
#ifndef SALVAGE_READ_H
#define SALVAGE_READ_H

#include "base/buf.h"

#include <rocksdb/c.h>

struct salvage_read {
    // Makes an iterator: one that has failed may fail again where another does not.
    rocksdb_iterator_t *(*make)(void *context);
    void *context;
    rocksdb_iterator_t *iterator;
    struct buf last; // the last key that was read; empty before the first
    char fault[400]; // why it could not go on, if it had to skip
    bool skipped;    // since the last call: keys behind `from` are missing
    struct buf from; // where the skipping began
};

void salvage_read_init(struct salvage_read *read, rocksdb_iterator_t *(*make)(void *context),
                       void *context);
void salvage_read_release(struct salvage_read *read);
// To the first key behind `after` (empty: to the first of all), or to the next one. False at the
// end; `skipped` may be set then, too.
MUST_CHECK bool salvage_read_first(struct salvage_read *read, struct slice after);
MUST_CHECK bool salvage_read_next(struct salvage_read *read);
struct slice salvage_read_key(const struct salvage_read *read);
struct slice salvage_read_value(const struct salvage_read *read);

#endif
