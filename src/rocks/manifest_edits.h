// What the edits of a MANIFEST say, as far as it has to be known before RocksDB reads them: which
// tables they add and remove, and whether they can follow each other at all. RocksDB ends the
// process on a list that contradicts itself.
//
// Numbers of tables are never used twice, so each one is added, and may be removed again; moving a
// table to another level is both, in one edit.
#ifndef ROCKS_MANIFEST_EDITS_H
#define ROCKS_MANIFEST_EDITS_H

#include "base/attributes.h"
#include "base/slice.h"

struct edits_table {
    uint64_t number;
    uint64_t bytes; // of its file; 0 if only its removal was seen
    bool listed;    // added, and not removed since
};

struct edits_change;

struct edits {
    struct edits_change *changes;
    size_t change_count;
    size_t change_capacity;
    uint64_t next_file; // of the last edit that says so
    uint64_t last_sequence;
    bool numbered;              // an edit with next_file was seen
    bool unknown;               // an edit says something that this version does not know
    const char *fault;          // what cannot be, or NULL
    uint64_t fault_at;          // byte of the first such edit
    struct edits_table *tables; // by number, once they are settled
    size_t table_count;
};

void edits_init(struct edits *edits);
void edits_release(struct edits *edits);

// The next edit, which begins at a byte of the list.
void edits_add(struct edits *edits, uint64_t at, struct slice edit);
// When all were added: fills `tables`, and finds faults that take more than one edit to see.
void edits_settle(struct edits *edits);

// NULL if the list does not have the table.
const struct edits_table *edits_find(const struct edits *edits, uint64_t number);

#endif
