// Walking over all tables, as they were when the walk began: tables may come and go meanwhile.
#ifndef TABLES_NAMES_H
#define TABLES_NAMES_H

#include "engine/engine.h"

struct table_names {
    struct buf text;
    size_t at;
};

// Those behind `after`.
void table_names_init(struct table_names *names, struct engine *engine, struct slice after);
MUST_CHECK bool table_names_next(struct table_names *names, struct slice *name);
void table_names_release(struct table_names *names);

#endif
