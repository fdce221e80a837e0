// See inbox.h.
#include "project/inbox.h"

#include "project/projector_internal.h"

enum { TEXT_MAX = 1 << 20 };

bool inbox_used(const struct projector *p)
{
    return p->both;
}

struct reading {
    struct projector *p;
    struct arena *arena;
    struct inbox_entry *entry;
    bool *found;
};

static const struct sql_table *table_named(const struct projector *p, struct slice name)
{
    for (size_t i = 0; i < p->count; i++)
        if (slice_equal(p->forms[i].table->name, name))
            return p->forms[i].table;
    return NULL;
}

static bool take_entry(void *context, size_t count, const struct slice *values)
{
    struct reading *reading = context;
    struct inbox_entry *entry = reading->entry;
    struct slice error = slice_of(NULL, 0);
    *entry = (struct inbox_entry){.id = 0};
    for (size_t i = 0; count == 5 && i < values[0].len; i++)
        entry->id = entry->id * 10 + (uint64_t)(values[0].ptr[i] - '0');
    entry->table = count == 5 ? table_named(reading->p, values[1]) : NULL;
    *reading->found = entry->table != NULL && values[2].len > 0;
    if (!*reading->found)
        return false;
    entry->act = (char)values[2].ptr[0];
    bool ok = sql_row_back(entry->table, values[3], reading->arena, &entry->key, &error) &&
              (values[4].len == 0 ||
               sql_row_back(entry->table, values[4], reading->arena, &entry->row, &error));
    if (!ok)
        entry->refused = error.len > 0 ? error : SLICE_LIT("out of memory");
    return false;
}

bool inbox_next(struct projector *p, struct arena *arena, struct inbox_entry *entry, bool *found,
                struct rdb_fault *fault)
{
    struct buf text;
    bool first = true;
    struct reading reading = {p, arena, entry, found};
    *found = false;
    buf_init(&text, TEXT_MAX);
    buf_text(&text, "SELECT id, name, act, key, row FROM ");
    sql_qualified(&text, p->schema, SLICE_LIT("dolmen_inbox"));
    buf_text(&text, " WHERE refused IS NULL AND name IN (");
    for (size_t i = 0; i < p->count; i++) {
        if (!p->forms[i].table->both)
            continue;
        buf_text(&text, first ? "" : ", ");
        sql_quote(&text, p->forms[i].table->name);
        first = false;
    }
    buf_text(&text, ") ORDER BY id LIMIT 1");
    bool ok = first || (!text.failed &&
                        p->rdb->ops->run(p->rdb, buf_view(&text), take_entry, &reading, fault));
    buf_release(&text);
    return ok;
}

bool inbox_done(struct projector *p, uint64_t id, const char *refused, struct rdb_fault *fault)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    buf_text(&text, refused == NULL ? "DELETE FROM " : "UPDATE ");
    sql_qualified(&text, p->schema, SLICE_LIT("dolmen_inbox"));
    if (refused != NULL) {
        buf_text(&text, " SET refused = ");
        sql_quote(&text, slice_str(refused));
    }
    buf_printf(&text, " WHERE id = %llu", (unsigned long long)id);
    return run_text(p, &text, fault);
}
