// See names.h.
#include "tables/names.h"

// What the catalog holds in memory has room for its names.
enum { NAMES_MAX = 1 << 30 };

static bool name_add(void *context, struct slice name)
{
    struct buf *names = context;
    uint8_t len[10];
    buf_add(names, len, varint_put(len, name.len));
    buf_slice(names, name);
    return true;
}

void table_walk_init(struct table_walk *walk, struct engine *engine, struct slice after)
{
    *walk = (struct table_walk){.engine = engine};
    buf_init(&walk->names, NAMES_MAX);
    engine_tables(engine, after, name_add, &walk->names);
    ensure(!walk->names.failed);
}

struct table *table_walk_next(struct table_walk *walk)
{
    table_release(walk->table);
    walk->table = NULL;
    while (walk->table == NULL && walk->at < walk->names.len) {
        const uint8_t *at = walk->names.ptr + walk->at;
        walk->table = engine_table(walk->engine, value_counted(&at));
        walk->at = (size_t)(at - walk->names.ptr);
    }
    return walk->table;
}

void table_walk_release(struct table_walk *walk)
{
    table_release(walk->table);
    buf_release(&walk->names);
}
