// The records of models: history, and the state of work. See model.h for their names.
#include "change/model.h"

#include "base/limits.h"

enum { RECORD_MEMORY = 16 << 20 };

// ---- History ----------------------------------------------------------------------------------

static char *history_prefix(struct arena *arena, struct slice table)
{
    return arena_printf(arena, "model/history/%.*s/", SLICE_FMT(table));
}

static const struct map_row version_rows[] = {
    MAP_SAME(model_version, INTEGER, number),
    MAP_ROW(model_version, INTEGER, time_ms, "time"),
    MAP_ROW(model_version, TEXT, table_id, "tableId"),
    MAP_SAME(model_version, TEXT, text),
    MAP_SAME(model_version, TEXT, file),
    MAP_SAME(model_version, TEXT, did),
    MAP_SAME(model_version, INTEGER, previous),
};

static void version_decode(struct slice record, struct model_version *out)
{
    *out = (struct model_version){.number = 0};
    map_get_rows(record, version_rows, COUNT_OF(version_rows), out);
}

struct version_walk {
    const struct table *table;
    void (*visit)(void *context, const struct model_version *version);
    void *context;
};

// A table of the same name that was deleted has left its entries; they are not ours.
static bool visit_version(void *context, struct slice name, struct slice value)
{
    const struct version_walk *walk = context;
    struct model_version version;
    (void)name;
    version_decode(value, &version);
    if (slice_equal(version.table_id, walk->table->uuid))
        walk->visit(walk->context, &version);
    return true;
}

bool model_versions(struct engine *engine, const struct table *table,
                    void (*visit)(void *context, const struct model_version *version),
                    void *context, struct error *error)
{
    struct arena arena;
    struct version_walk walk = {table, visit, context};
    arena_init(&arena, RECORD_MEMORY);
    char *prefix = history_prefix(&arena, table->name);
    bool ok = prefix == NULL ? error_budget(error)
                             : engine_records(engine, slice_str(prefix), slice_of(NULL, 0),
                                              visit_version, &walk, error);
    arena_release(&arena);
    return ok;
}

struct version_find {
    struct arena *arena;
    int64_t wanted; // 0: the last one with a model, or without one since
    bool failed;
    struct model_version *out;
};

static void find_version(void *context, const struct model_version *version)
{
    struct version_find *find = context;
    bool migration = slice_begins(version->did, SLICE_LIT("migrate"));
    if (find->wanted != 0 ? version->number != find->wanted : migration)
        return;
    struct model_version copy = *version;
    copy.table_id = arena_copy(find->arena, version->table_id);
    copy.text = arena_copy(find->arena, version->text);
    copy.file = arena_copy(find->arena, version->file);
    copy.did = arena_copy(find->arena, version->did);
    find->failed |= copy.table_id.ptr == NULL || copy.text.ptr == NULL || copy.file.ptr == NULL ||
                    copy.did.ptr == NULL;
    *find->out = copy;
}

bool model_version_get(struct engine *engine, const struct table *table, int64_t number,
                       struct arena *arena, struct model_version *out, struct error *error)
{
    struct version_find find = {.arena = arena, .wanted = number, .out = out};
    *out = (struct model_version){.number = 0};
    return model_versions(engine, table, find_version, &find, error) &&
           (!find.failed || error_budget(error));
}

bool model_version_last(struct engine *engine, const struct table *table, struct arena *arena,
                        struct model_version *out, struct error *error)
{
    return model_version_get(engine, table, 0, arena, out, error);
}

// Numbers go on where another table of the name ended, so that no entry is written over.
static bool visit_number(void *context, struct slice name, struct slice value)
{
    (void)name;
    *(int64_t *)context = map_integer(value, "number");
    return true;
}

bool model_version_next(struct engine *engine, const struct table *table, int64_t *out,
                        struct error *error)
{
    struct arena arena;
    int64_t last = 0;
    arena_init(&arena, RECORD_MEMORY);
    char *prefix = history_prefix(&arena, table->name);
    bool ok = prefix == NULL ? error_budget(error)
                             : engine_records(engine, slice_str(prefix), slice_of(NULL, 0),
                                              visit_number, &last, error);
    arena_release(&arena);
    *out = last + 1;
    return ok;
}

struct record_write model_version_record(const struct table *table,
                                         const struct model_version *version, struct arena *arena,
                                         struct error *error)
{
    struct map_maker maker;
    map_begin(&maker);
    struct model_version kept = *version;
    kept.table_id = table->uuid;
    map_put_rows(&maker.b, version_rows, COUNT_OF(version_rows), &kept);
    struct record_write write = {.value = map_end(&maker, arena, error)};
    char *name = arena_printf(arena, "model/history/%.*s/%08lld", SLICE_FMT(table->name),
                              (long long)version->number);
    if (name == NULL)
        (void)error_budget(error);
    else
        write.name = slice_str(name);
    return write;
}

// ---- Work -------------------------------------------------------------------------------------

static const struct map_row progress_rows[] = {
    MAP_SAME(model_progress, INTEGER, rate),
    MAP_SAME(model_progress, BYTES, position),
    MAP_SAME(model_progress, INTEGER, done),
    MAP_SAME(model_progress, INTEGER, total),
    MAP_ROW(model_progress, INTEGER, started_ms, "started"),
    MAP_ROW(model_progress, INTEGER, ended_ms, "ended"),
    MAP_ROW(model_progress, INTEGER, items_ms, "items"),
    MAP_ROW(model_progress, INTEGER, items_before, "itemsBefore"),
    MAP_SAME(model_progress, TEXT, failure),
};

void model_progress_encode(struct map_maker *maker, const struct model_progress *progress)
{
    map_put_rows(&maker->b, progress_rows, COUNT_OF(progress_rows), progress);
    model_samples_encode(maker, "samples", &progress->samples);
}

void model_progress_decode(struct slice record, struct model_progress *out)
{
    *out = (struct model_progress){.rate = 0};
    map_get_rows(record, progress_rows, COUNT_OF(progress_rows), out);
    model_samples_decode(map_value(record, SLICE_LIT("samples")), &out->samples);
}

struct slice model_work_name(struct arena *arena, struct slice table)
{
    char *name = arena_printf(arena, "model/work/%.*s", SLICE_FMT(table));
    return name == NULL ? slice_of(NULL, 0) : slice_str(name);
}

static const struct map_row work_rows[] = {
    MAP_ROW(model_work, TEXT, table_id, "tableId"),
    MAP_SAME(model_work, INTEGER, version),
    MAP_SAME(model_work, SMALL, status),
    MAP_SAME(model_work, SMALL, phase),
    MAP_SAME(model_work, FLAG, prune),
    MAP_ROW(model_work, FLAG, skip_items, "skipItems"),
    MAP_SAME(model_work, INTEGER, written),
    MAP_SAME(model_work, INTEGER, violations),
};

struct slice model_work_encode(const struct model_work *work, struct arena *arena,
                               struct error *error)
{
    struct map_maker maker;
    map_begin(&maker);
    map_put_rows(&maker.b, work_rows, COUNT_OF(work_rows), work);
    model_progress_encode(&maker, &work->progress);
    return map_end(&maker, arena, error);
}

void model_work_decode(struct slice record, struct model_work *out)
{
    *out = (struct model_work){.version = 0};
    map_get_rows(record, work_rows, COUNT_OF(work_rows), out);
    model_progress_decode(record, &out->progress);
}

bool model_work_read(struct engine *engine, const struct table *table, struct arena *arena,
                     struct model_work *out, struct error *error)
{
    struct slice record;
    struct slice name = model_work_name(arena, table->name);
    *out = (struct model_work){.version = 0};
    if (name.ptr == NULL)
        return error_budget(error);
    if (!engine_record(engine, name, arena, &record, error))
        return false;
    if (record.len > 0)
        model_work_decode(record, out);
    if (!slice_equal(out->table_id, table->uuid))
        *out = (struct model_work){.version = 0};
    return true;
}
