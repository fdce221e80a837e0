// See names.h.
#include "tables/names.h"

// What the catalog holds in memory has room for its names.
enum { NAMES_MAX = 1 << 30 };

static bool name_add(void *context, struct slice name)
{
    struct table_names *names = context;
    uint8_t len[10];
    buf_add(&names->text, len, varint_put(len, name.len));
    buf_slice(&names->text, name);
    return true;
}

void table_names_init(struct table_names *names, struct engine *engine, struct slice after)
{
    names->at = 0;
    buf_init(&names->text, NAMES_MAX);
    engine_tables(engine, after, name_add, names);
    ensure(!names->text.failed);
}

bool table_names_next(struct table_names *names, struct slice *name)
{
    if (names->at == names->text.len)
        return false;
    const uint8_t *at = names->text.ptr + names->at;
    *name = value_counted(&at);
    names->at = (size_t)(at - names->text.ptr);
    return true;
}

void table_names_release(struct table_names *names)
{
    buf_release(&names->text);
}
