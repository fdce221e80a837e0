// The records of models: history, and the state of work. See model.h for their names.
#include "api/model.h"

#include "base/limits.h"

enum { RECORD_MEMORY = 16 << 20 };

// ---- History ----------------------------------------------------------------------------------

static char *history_prefix(struct arena *arena, struct slice table)
{
    return arena_printf(arena, "model/history/%.*s/", SLICE_FMT(table));
}

static void version_decode(struct slice record, struct model_version *out)
{
    *out = (struct model_version){
        .number = map_integer(record, "number"),
        .time_ms = map_integer(record, "time"),
        .table_id = map_text(record, "tableId"),
        .text = map_text(record, "text"),
        .file = map_text(record, "file"),
        .did = map_text(record, "did"),
        .previous = map_integer(record, "previous"),
    };
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

bool model_versions(struct api *api, const struct table *table,
                    void (*visit)(void *context, const struct model_version *version),
                    void *context, struct error *error)
{
    struct arena arena;
    struct version_walk walk = {table, visit, context};
    arena_init(&arena, RECORD_MEMORY);
    char *prefix = history_prefix(&arena, table->name);
    bool ok = prefix == NULL ? error_budget(error)
                             : engine_records(api->engine, slice_str(prefix), slice_of(NULL, 0),
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

bool model_version_get(struct api *api, const struct table *table, int64_t number,
                       struct arena *arena, struct model_version *out, struct error *error)
{
    struct version_find find = {.arena = arena, .wanted = number, .out = out};
    *out = (struct model_version){.number = 0};
    return model_versions(api, table, find_version, &find, error) &&
           (!find.failed || error_budget(error));
}

bool model_version_last(struct api *api, const struct table *table, struct arena *arena,
                        struct model_version *out, struct error *error)
{
    return model_version_get(api, table, 0, arena, out, error);
}

// Numbers go on where another table of the name ended, so that no entry is written over.
static bool visit_number(void *context, struct slice name, struct slice value)
{
    (void)name;
    *(int64_t *)context = map_integer(value, "number");
    return true;
}

bool model_version_next(struct api *api, const struct table *table, int64_t *out,
                        struct error *error)
{
    struct arena arena;
    int64_t last = 0;
    arena_init(&arena, RECORD_MEMORY);
    char *prefix = history_prefix(&arena, table->name);
    bool ok = prefix == NULL ? error_budget(error)
                             : engine_records(api->engine, slice_str(prefix), slice_of(NULL, 0),
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
    map_put_integer(&maker, "number", version->number);
    map_put_integer(&maker, "time", version->time_ms);
    map_put_text(&maker, "tableId", table->uuid);
    map_put_text(&maker, "text", version->text);
    map_put_text(&maker, "file", version->file);
    map_put_text(&maker, "did", version->did);
    map_put_integer(&maker, "previous", version->previous);
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

void model_progress_encode(struct map_maker *maker, const struct model_progress *progress)
{
    map_put_integer(maker, "rate", progress->rate);
    if (progress->position.len > 0) {
        value_name(&maker->b, SLICE_LIT("position"));
        value_put_binary(&maker->b, progress->position);
    }
    map_put_integer(maker, "done", progress->done);
    map_put_integer(maker, "total", progress->total);
    map_put_integer(maker, "started", progress->started_ms);
    map_put_integer(maker, "ended", progress->ended_ms);
    map_put_integer(maker, "items", progress->items_ms);
    map_put_integer(maker, "itemsBefore", progress->items_before);
    map_put_text(maker, "failure", progress->failure);
    model_samples_encode(maker, "samples", &progress->samples);
}

void model_progress_decode(struct slice record, struct model_progress *out)
{
    struct slice position = map_value(record, SLICE_LIT("position"));
    *out = (struct model_progress){
        .rate = map_integer(record, "rate"),
        .position = position.len > 0 ? value_bytes(position) : position,
        .done = map_integer(record, "done"),
        .total = map_integer(record, "total"),
        .started_ms = map_integer(record, "started"),
        .ended_ms = map_integer(record, "ended"),
        .items_ms = map_integer(record, "items"),
        .items_before = map_integer(record, "itemsBefore"),
        .failure = map_text(record, "failure"),
    };
    model_samples_decode(map_value(record, SLICE_LIT("samples")), &out->samples);
}

struct slice model_work_name(struct arena *arena, struct slice table)
{
    char *name = arena_printf(arena, "model/work/%.*s", SLICE_FMT(table));
    return name == NULL ? slice_of(NULL, 0) : slice_str(name);
}

struct slice model_work_encode(const struct model_work *work, struct arena *arena,
                               struct error *error)
{
    struct map_maker maker;
    map_begin(&maker);
    map_put_text(&maker, "tableId", work->table_id);
    map_put_text(&maker, "region", work->region);
    map_put_integer(&maker, "version", work->version);
    map_put_integer(&maker, "status", work->status);
    map_put_integer(&maker, "phase", work->phase);
    map_put_flag(&maker, "prune", work->prune);
    map_put_flag(&maker, "skipItems", work->skip_items);
    map_put_integer(&maker, "written", work->written);
    map_put_integer(&maker, "violations", work->violations);
    model_progress_encode(&maker, &work->progress);
    return map_end(&maker, arena, error);
}

void model_work_decode(struct slice record, struct model_work *out)
{
    *out = (struct model_work){
        .table_id = map_text(record, "tableId"),
        .region = map_text(record, "region"),
        .version = map_integer(record, "version"),
        .status = (enum model_status)map_integer(record, "status"),
        .phase = (enum model_phase)map_integer(record, "phase"),
        .prune = map_flag(record, "prune"),
        .skip_items = map_flag(record, "skipItems"),
        .written = map_integer(record, "written"),
        .violations = map_integer(record, "violations"),
    };
    model_progress_decode(record, &out->progress);
}

bool model_work_read(struct api *api, const struct table *table, struct arena *arena,
                     struct model_work *out, struct error *error)
{
    struct slice record;
    struct slice name = model_work_name(arena, table->name);
    *out = (struct model_work){.version = 0};
    if (name.ptr == NULL)
        return error_budget(error);
    if (!engine_record(api->engine, name, arena, &record, error))
        return false;
    if (record.len > 0)
        model_work_decode(record, out);
    if (!slice_equal(out->table_id, table->uuid))
        *out = (struct model_work){.version = 0};
    return true;
}
