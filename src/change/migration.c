// The record of a migration, and what it says against the table as it is.
#include "change/migration.h"

// ---- Records ----------------------------------------------------------------------------------

struct slice migration_record_name(struct arena *arena, struct slice table, struct slice name)
{
    char *text =
        arena_printf(arena, MIGRATION_RECORDS "%.*s/%.*s", SLICE_FMT(table), SLICE_FMT(name));
    return text == NULL ? slice_of(NULL, 0) : slice_str(text);
}

#define ROW(kind, field, name) MAP_ROW(migration_work, kind, field, name)
// clang-format off
static const struct map_row work_rows[] = {
    ROW(TEXT, table_id, "tableId"), ROW(TEXT, name, "name"), ROW(TEXT, file, "file"),
    ROW(TEXT, text, "text"), ROW(SMALL, status, "status"), ROW(FLAG, applied, "applied"),
    ROW(FLAG, down, "down"), ROW(INTEGER, step, "step"), ROW(INTEGER, steps, "steps"), ROW(INTEGER, matched, "matched"),
    ROW(INTEGER, made, "made"), ROW(INTEGER, removed, "removed"), ROW(INTEGER, failed, "failed"),
    MAP_PART_ROW(migration_work, progress, &model_progress_form),
};
// clang-format on
#undef ROW
const struct map_form migration_work_form = MAP_FORM(migration_work, work_rows);

bool migration_work_read(struct engine *engine, const struct table *table, struct slice name,
                         struct arena *arena, struct migration_work *out, struct error *error)
{
    return model_table_record(engine, table, migration_record_name(arena, table->name, name),
                              &migration_work_form, arena, out, error);
}

// ---- Opening ----------------------------------------------------------------------------------

static bool check_keys(const struct migration_shape *shape, const struct table *table,
                       struct diagnostics *found)
{
    for (size_t i = 0; i < shape->key_count; i++) {
        if (!key_schema_has(&table->keys, shape->key_names[i]))
            return diagnostic_error(found, shape->at, "\"%.*s\" is not a key of table %.*s",
                                    SLICE_FMT(shape->key_names[i]), SLICE_FMT(table->name));
    }
    return true;
}

static bool check_way(const struct migration_way *way, const struct table *table,
                      struct diagnostics *found)
{
    bool ok = true;
    for (size_t i = 0; i < way->count; i++) {
        ok &= check_keys(&way->steps[i].shape, table, found);
        for (size_t j = 0; j < way->steps[i].with_count; j++)
            ok &= check_keys(&way->steps[i].withs[j].shape, table, found);
    }
    return ok;
}

struct migration *migration_failed(struct diagnostics *found, struct slice file, struct slice text,
                                   struct error *error)
{
    struct buf shown;
    buf_init(&shown, 1 << 20);
    diagnostics_show(found, file, text, &shown);
    (void)error_validation(error, "The migration has errors:\n%.*s", SLICE_FMT(buf_view(&shown)));
    buf_release(&shown);
    return NULL;
}

struct migration *migration_open(struct slice file, struct slice text, bool down,
                                 const struct table *table, struct arena *arena,
                                 struct error *error)
{
    struct diagnostics *found = arena_alloc(arena, sizeof(*found));
    if (found == NULL)
        return error_no_memory(error);
    diagnostics_init(found, arena);
    struct migration *migration = migration_parse(text, arena, found);
    if (migration == NULL)
        return migration_failed(found, file, text, error);
    struct migration_way *way = down ? &migration->down : &migration->up;
    const struct model_table *model = table->guard == NULL ? NULL : model_guard_table(table->guard);
    if (!way->stated)
        (void)diagnostic_error(found, migration->at, "the migration has no way %s",
                               down ? "down" : "up");
    if (!migration_resolve(way, model, found) || !check_way(way, table, found) || !way->stated)
        return migration_failed(found, file, text, error);
    return migration;
}
