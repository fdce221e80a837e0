// The records of models: history, and the state of work. See model.h for their names.
#include "change/model.h"

enum { RECORD_MEMORY = 16 << 20 };

// ---- History ----------------------------------------------------------------------------------

#define ROW(kind, field, name) MAP_ROW(model_version, kind, field, name)
// clang-format off
static const struct map_row version_rows[] = {
    ROW(INTEGER, number, "number"), ROW(INTEGER, time_ms, "time"), ROW(TEXT, table_id, "tableId"),
    ROW(TEXT, text, "text"), ROW(TEXT, file, "file"), ROW(TEXT, did, "did"),
    ROW(INTEGER, previous, "previous"),
};
// clang-format on
#undef ROW

static const struct map_form version_form = MAP_FORM(model_version, version_rows);

// All entries of a table's name.
static bool walk_history(struct engine *engine, const struct table *table,
                         bool (*visit)(void *context, struct slice name, struct slice value),
                         void *context, struct error *error)
{
    struct arena arena;
    arena_init(&arena, RECORD_MEMORY);
    char *prefix = arena_printf(&arena, "model/history/%.*s/", SLICE_FMT(table->name));
    bool ok = prefix == NULL ? error_budget(error)
                             : engine_records(engine, slice_str(prefix), slice_of(NULL, 0), visit,
                                              context, error);
    arena_release(&arena);
    return ok;
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
    map_decode(&version_form, value, &version);
    if (slice_equal(version.table_id, walk->table->uuid))
        walk->visit(walk->context, &version);
    return true;
}

bool model_versions(struct engine *engine, const struct table *table,
                    void (*visit)(void *context, const struct model_version *version),
                    void *context, struct error *error)
{
    struct version_walk walk = {table, visit, context};
    return walk_history(engine, table, visit_version, &walk, error);
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
    int64_t last = 0;
    bool ok = walk_history(engine, table, visit_number, &last, error);
    *out = last + 1;
    return ok;
}

struct record_write model_version_record(const struct table *table,
                                         const struct model_version *version, struct arena *arena,
                                         struct error *error)
{
    struct model_version kept = *version;
    kept.table_id = table->uuid;
    struct record_write write = {.value = map_encode(&version_form, &kept, arena, error)};
    char *name = arena_printf(arena, "model/history/%.*s/%08lld", SLICE_FMT(table->name),
                              (long long)version->number);
    if (name == NULL)
        (void)error_budget(error);
    else
        write.name = slice_str(name);
    return write;
}

// ---- Work -------------------------------------------------------------------------------------

static const struct map_row sample_rows[] = {MAP_SAME(model_sample, VALUE, key),
                                             MAP_SAME(model_sample, TEXT, text)};
static const struct map_form sample_form = MAP_FORM(model_sample, sample_rows);

#define ROW(kind, field, name) MAP_ROW(model_progress, kind, field, name)
// clang-format off
static const struct map_row progress_rows[] = {
    ROW(INTEGER, rate, "rate"), ROW(BYTES, position, "position"), ROW(INTEGER, done, "done"),
    ROW(INTEGER, total, "total"), ROW(INTEGER, started_ms, "started"),
    ROW(INTEGER, ended_ms, "ended"), ROW(INTEGER, items_ms, "items"),
    ROW(INTEGER, items_before, "itemsBefore"), ROW(TEXT, failure, "failure"),
    MAP_LIST_ROW(model_progress, samples.list, samples.count, MODEL_SAMPLES, "samples", &sample_form),
};
// clang-format on
#undef ROW
const struct map_form model_progress_form = MAP_FORM(model_progress, progress_rows);

struct slice model_work_name(struct arena *arena, struct slice table)
{
    char *name = arena_printf(arena, "model/work/%.*s", SLICE_FMT(table));
    return name == NULL ? slice_of(NULL, 0) : slice_str(name);
}

#define ROW(kind, field, name) MAP_ROW(model_work, kind, field, name)
// clang-format off
static const struct map_row work_rows[] = {
    ROW(TEXT, table_id, "tableId"), ROW(INTEGER, version, "version"), ROW(TEXT, text, "text"),
    ROW(TEXT, file, "file"), ROW(TEXT, did, "did"), ROW(INTEGER, previous, "previous"),
    ROW(FLAG, force, "force"),
    ROW(SMALL, status, "status"), ROW(SMALL, phase, "phase"), ROW(FLAG, prune, "prune"),
    ROW(FLAG, skip_items, "skipItems"), ROW(INTEGER, written, "written"),
    ROW(INTEGER, violations, "violations"),
    MAP_PART_ROW(model_work, progress, &model_progress_form),
};
// clang-format on
#undef ROW
const struct map_form model_work_form = MAP_FORM(model_work, work_rows);

bool model_table_record(struct engine *engine, const struct table *table, struct slice name,
                        const struct map_form *form, struct arena *arena, void *out,
                        struct error *error)
{
    struct slice record;
    memset(out, 0, form->size);
    if (name.ptr == NULL)
        return error_budget(error);
    if (!engine_record(engine, name, arena, &record, error))
        return false;
    if (record.len > 0)
        map_decode(form, record, out);
    if (!slice_equal(*(const struct slice *)out, table->uuid))
        memset(out, 0, form->size);
    return true;
}

bool model_work_read(struct engine *engine, const struct table *table, struct arena *arena,
                     struct model_work *out, struct error *error)
{
    return model_table_record(engine, table, model_work_name(arena, table->name), &model_work_form,
                              arena, out, error);
}
