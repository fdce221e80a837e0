// See workshop.h.
#include "work/workshop.h"

#include "base/limits.h"

#include <string.h>

struct next_name {
    size_t len;
    uint8_t text[LIMIT_TABLE_NAME_MAX];
};

static bool take_name(void *context, struct slice name)
{
    struct next_name *next = context;
    ensure(name.len <= sizeof(next->text));
    memcpy(next->text, name.ptr, name.len);
    next->len = name.len;
    return false;
}

// One name at a time: the catalog is not held while a table is visited, and nothing is collected.
void work_each_table(struct workshop *shop, bool (*visit)(void *context, struct table *table),
                     void *context)
{
    struct next_name next = {.len = 0};
    for (bool go_on = true; go_on;) {
        struct next_name last = next;
        next.len = 0;
        engine_tables(shop->engine, slice_of(last.text, last.len), take_name, &next);
        if (next.len == 0)
            return;
        struct table *table = engine_table(shop->engine, slice_of(next.text, next.len));
        if (table == NULL) // deleted meanwhile
            continue;
        go_on = visit(context, table);
        table_release(table);
    }
}
