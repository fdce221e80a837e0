// What is kept of a rule: see retain.h.
#include "retain/retain.h"

#include <stdio.h>

#define ROW(kind, field, name) MAP_ROW(retain_record, kind, field, name)
// clang-format off
static const struct map_row rows[] = {
    ROW(TEXT, table_id, "table_id"), ROW(TEXT, text, "text"), ROW(SMALL, status, "status"),
    ROW(BYTES, position, "position"), ROW(INTEGER, asked, "asked"),
    ROW(INTEGER, answered, "answered"), ROW(INTEGER, done, "done"),
    ROW(INTEGER, started_ms, "started"),
    ROW(INTEGER, ended_ms, "ended"), ROW(INTEGER, looked, "looked"), ROW(INTEGER, found, "found"),
    ROW(INTEGER, removed, "removed"), ROW(INTEGER, archived, "archived"),
    ROW(INTEGER, left, "left"), ROW(INTEGER, all_removed, "all_removed"),
    ROW(INTEGER, all_archived, "all_archived"), ROW(INTEGER, walks, "walks"),
    ROW(TEXT, failure, "failure"), ROW(TEXT, archive, "archive"),
};
// clang-format on
#undef ROW
const struct map_form retain_form = MAP_FORM(retain_record, rows);

void retain_record_begin(struct retain_record *record, int64_t now_ms)
{
    record->answered = record->asked;
    record->status = RETAIN_RUNS;
    record->position = slice_of(NULL, 0);
    record->started_ms = now_ms;
    record->ended_ms = 0;
    record->looked = 0;
    record->found = 0;
    record->removed = 0;
    record->archived = 0;
    record->left = 0;
}

bool retain_record_read(struct engine *engine, const struct table *table, const char *id,
                        struct arena *arena, struct retain_record *out, struct error *error)
{
    char name[RUN_NAME_MAX];
    struct slice record;
    int len = snprintf(name, sizeof(name), "retain/%.*s/%s", SLICE_FMT(table->name), id);
    ensure(len > 0 && (size_t)len < sizeof(name));
    *out = (struct retain_record){.status = RETAIN_RESTS};
    if (!engine_record(engine, slice_of(name, (size_t)len), arena, &record, error))
        return false;
    if (record.len == 0)
        return true;
    map_decode(&retain_form, record, out);
    if (!slice_equal(out->table_id, table->uuid))
        *out = (struct retain_record){.status = RETAIN_RESTS};
    return true;
}
