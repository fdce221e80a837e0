// Walking over all tables, as they were when the walk began: tables may come and go meanwhile.
#ifndef TABLES_NAMES_H
#define TABLES_NAMES_H

#include "engine/engine.h"

struct table_walk {
    struct engine *engine;
    struct buf names;
    size_t at;
    struct table *table; // the one that was shown last
};

// Those behind `after`.
void table_walk_init(struct table_walk *walk, struct engine *engine, struct slice after);
// The next one that is still there, or NULL. It is held until the next one is asked for.
struct table *table_walk_next(struct table_walk *walk);
void table_walk_release(struct table_walk *walk);

#endif
