// Global tables of version 2017.11.29, in a world of one region.
#ifndef CONTROL_GLOBAL_H
#define CONTROL_GLOBAL_H

#include "call/table_ops.h"

// "Global table not found: …"; false.
bool global_not_found(struct slice name, struct error *error);
// The global table's settings: an M, see global.c; empty if the table is none, or absent.
struct slice global_entry(const struct table *table);
// The region of its replica; empty if it has none.
struct slice global_region(struct slice entry);

#endif
