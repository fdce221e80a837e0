// The record of a migration, and what it says against the table as it is.
#include "change/migration.h"

// ---- Records ----------------------------------------------------------------------------------

struct slice migration_record_name(struct arena *arena, struct slice table, struct slice name)
{
    char *text =
        arena_printf(arena, "model/migration/%.*s/%.*s", SLICE_FMT(table), SLICE_FMT(name));
    return text == NULL ? slice_of(NULL, 0) : slice_str(text);
}

static const struct map_row work_rows[] = {
    MAP_ROW(migration_work, TEXT, table_id, "tableId"),
    MAP_SAME(migration_work, TEXT, name),
    MAP_SAME(migration_work, TEXT, file),
    MAP_SAME(migration_work, TEXT, text),
    MAP_SAME(migration_work, SMALL, status),
    MAP_SAME(migration_work, FLAG, applied),
    MAP_SAME(migration_work, FLAG, down),
    MAP_SAME(migration_work, INTEGER, step),
    MAP_SAME(migration_work, INTEGER, matched),
    MAP_SAME(migration_work, INTEGER, made),
    MAP_SAME(migration_work, INTEGER, removed),
    MAP_SAME(migration_work, INTEGER, failed),
};

struct slice migration_work_encode(const struct migration_work *work, struct arena *arena,
                                   struct error *error)
{
    struct map_maker maker;
    map_begin(&maker);
    map_put_rows(&maker.b, work_rows, COUNT_OF(work_rows), work);
    model_progress_encode(&maker, &work->progress);
    return map_end(&maker, arena, error);
}

void migration_work_decode(struct slice record, struct migration_work *out)
{
    *out = (struct migration_work){.step = 0};
    map_get_rows(record, work_rows, COUNT_OF(work_rows), out);
    model_progress_decode(record, &out->progress);
}

bool migration_work_read(struct engine *engine, const struct table *table, struct slice name,
                         struct arena *arena, struct migration_work *out, struct error *error)
{
    struct slice record;
    struct slice path = migration_record_name(arena, table->name, name);
    *out = (struct migration_work){.status = MIGRATION_DONE};
    if (path.ptr == NULL)
        return error_budget(error);
    if (!engine_record(engine, path, arena, &record, error))
        return false;
    if (record.len > 0)
        migration_work_decode(record, out);
    if (!slice_equal(out->table_id, table->uuid))
        *out = (struct migration_work){.status = MIGRATION_DONE};
    return true;
}

// ---- Opening ----------------------------------------------------------------------------------

static bool check_keys(const struct migration_shape *shape, const struct table *table,
                       struct diagnostics *found)
{
    for (size_t i = 0; i < shape->key_count; i++) {
        if (!key_schema_has(&table->keys, shape->key_names[i]))
            return diagnostic_error(found, shape->at, "\"%.*s\" is no key of table %.*s",
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
    if (found == NULL) {
        (void)error_budget(error);
        return NULL;
    }
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
