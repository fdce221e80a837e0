// ApplyMigration, DescribeMigration and ListMigrations.
#include "designs/designs.h"

#include "base/limits.h"

#include <stdlib.h>

enum { MIGRATION_TEXT_MAX = 512 << 10, OPEN_MEMORY = 64 << 20, ITEM_MEMORY = 64 << 20 };

static const char *const statuses[] = {"DONE", "RUNNING", "FAILED"};

// ---- Finding the table ----------------------------------------------------------------------

// The table that a migration is for, held until the call ends.
static struct table *table_of(struct api_call *call, const struct apply_migration_request *request,
                              struct arena *arena, struct slice *name)
{
    struct slice file = request->file_name;
    struct diagnostics *found = arena_alloc(arena, sizeof(*found));
    if (found == NULL || request->migration.len > MIGRATION_TEXT_MAX) {
        (void)error_validation(&call->error, "The migration is too large.");
        return NULL;
    }
    diagnostics_init(found, arena);
    struct migration *migration = migration_parse(request->migration, arena, found);
    if (migration == NULL) {
        (void)migration_failed(found, file.len > 0 ? file : SLICE_LIT("migration"),
                               request->migration, &call->error);
        return NULL;
    }
    *name = migration->name;
    struct table *table = call_own_table(call, migration->table);
    if (table != NULL && !table_check_ready(table, &call->error))
        return NULL;
    return table;
}

// ---- Dry runs ---------------------------------------------------------------------------------

struct dry_run {
    struct api_call *call;
    struct migrator migrator;
    struct arena item;
    struct json_writer *w;
    struct error *error;
    uint64_t examined;
    uint64_t matched;
    uint64_t made;
    uint64_t removed;
    uint64_t failed;
    size_t samples;
    struct model_samples failures;
    struct migration_plan plan;
};

// A made item as the guard will store it.
static struct slice completed(struct dry_run *dry, struct slice item)
{
    const struct guard *guard = dry->migrator.table->guard;
    struct model_touch touch;
    if (guard == NULL ||
        !model_touch(guard, engine_env(call_engine(dry->call)), &dry->item, item, &touch))
        return item;
    return touch.after;
}

static void sample_json(struct dry_run *dry, struct slice item)
{
    struct json_writer *w = dry->w;
    json_open_object(w);
    json_name(w, "Before");
    json_item(w, item);
    json_put_array(w, "After");
    for (size_t i = 0; i < dry->plan.result.made_count; i++)
        json_item(w, completed(dry, dry->plan.result.made[i].item));
    json_close_array(w);
    json_close_object(w);
}

static bool dry_visit(void *context, struct slice item)
{
    struct dry_run *dry = context;
    struct error error;
    arena_reset(&dry->item);
    error_init(&error, &dry->item);
    if (work_hurried(call_shop(dry->call)))
        return error_set(dry->error, ERR_UNAVAILABLE, "The server is stopping.");
    dry->examined++;
    if (!migration_plan(&dry->migrator, item, &dry->plan, &error)) {
        if (error.code != ERR_VALIDATION)
            return error_set(dry->error, error.code, "%s", error.message);
        dry->matched++;
        dry->failed++;
        struct slice key = model_key_of(dry->migrator.table, item, &dry->item);
        if (key.ptr != NULL)
            model_sample_add(&dry->failures, &dry->call->arena, key, slice_str(error.message));
        return true;
    }
    if (!dry->plan.result.fits)
        return true;
    dry->matched++;
    dry->made += dry->plan.made;
    dry->removed += dry->plan.removed;
    if (dry->plan.changes && dry->samples++ < MODEL_SAMPLES)
        sample_json(dry, item);
    return true;
}

static void run_dry(struct api_call *call, const struct apply_migration_request *request,
                    struct table *table, const struct migration *migration)
{
    bool down = slice_is(request->direction, "DOWN");
    const struct migration_way *way = down ? &migration->down : &migration->up;
    struct json_writer w = call_writer(call);
    struct dry_run *dry = calloc(1, sizeof(*dry));
    ensure_memory(dry);
    dry->call = call;
    dry->w = &w;
    dry->error = &call->error;
    arena_init(&dry->item, ITEM_MEMORY);
    dry->migrator =
        (struct migrator){.engine = call_engine(call), .table = table, .arena = &dry->item};
    dry->migrator.absent = migration_absent(table, &call->arena, &call->error);
    json_open_object(&w);
    json_put_string(&w, "TableName", table->name);
    json_put_string(&w, "MigrationName", migration->name);
    json_put_text(&w, "Outcome", "DRY_RUN");
    json_put_array(&w, "Samples");
    bool ok = dry->migrator.absent != NULL;
    bool whole;
    for (size_t i = 0; ok && i < way->count; i++) {
        dry->migrator.step = &way->steps[i];
        ok = model_walk_most(call_engine(call), table,
                             request->sample.set ? (uint64_t)request->sample.value : 0, dry_visit,
                             dry, &whole, dry->error);
    }
    json_close_array(&w);
    json_put_integer(&w, "Examined", (int64_t)dry->examined);
    json_put_integer(&w, "Matched", (int64_t)dry->matched);
    json_put_integer(&w, "Made", (int64_t)dry->made);
    json_put_integer(&w, "Removed", (int64_t)dry->removed);
    json_put_integer(&w, "Failed", (int64_t)dry->failed);
    model_samples_json(&w, "FailureSamples", &dry->failures);
    json_close_object(&w);
    arena_release(&dry->item);
    free(dry);
}

// ---- ApplyMigration ---------------------------------------------------------------------------

// Whether it is to be run at all. *nothing: it has been, and that is fine.
static bool may_run(struct api_call *call, const struct apply_migration_request *request,
                    const struct migration_work *last, struct slice name, bool *nothing)
{
    bool down = slice_is(request->direction, "DOWN");
    if (last->text.len > 0 && last->status == MIGRATION_RUNNING)
        return error_set(&call->error, ERR_RESOURCE_IN_USE, "Migration %.*s is running.",
                         SLICE_FMT(name));
    bool finished = last->text.len > 0 && last->status == MIGRATION_DONE;
    *nothing = !request->again.value && finished && last->applied == !down;
    if (down && !request->again.value && last->text.len == 0)
        return error_validation(&call->error,
                                "Migration %.*s has not been applied; with Again its way down is "
                                "gone all the same.",
                                SLICE_FMT(name));
    return true;
}

static bool save_new(struct api_call *call, const struct apply_migration_request *request,
                     const struct table *table, const struct migration_work *last,
                     struct slice name)
{
    struct migration_work work = {
        .table_id = table->uuid,
        .name = name,
        .file = request->file_name,
        .text = request->migration,
        .status = MIGRATION_RUNNING,
        .applied = last->applied,
        .down = slice_is(request->direction, "DOWN"),
        .progress.rate = request->rate.value,
        .progress.total = table->stats->items,
        .progress.started_ms = env_now(engine_env(call_engine(call))),
    };
    struct record_write write = {
        .name = migration_record_name(&call->arena, table->name, name),
        .value = map_encode(&migration_work_form, &work, &call->arena, &call->error),
    };
    if (write.name.ptr == NULL || write.value.len == 0)
        return error_budget(&call->error);
    struct record_edit edit = {.count = 1, .writes = &write};
    if (!work_edit_records(call_shop(call), &edit, &call->error))
        return false;
    migration_begin(call_shop(call), table->name, name);
    return true;
}

static void answer(struct api_call *call, const struct table *table, struct slice name,
                   const char *outcome)
{
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_string(&w, "TableName", table->name);
    json_put_string(&w, "MigrationName", name);
    json_put_text(&w, "Outcome", outcome);
    json_close_object(&w);
}

static void run_apply(struct api_call *call, const void *decoded)
{
    const struct apply_migration_request *request = decoded;
    bool down = slice_is(request->direction, "DOWN");
    bool nothing = false;
    struct migration_work last;
    struct slice name;
    struct arena arena;
    arena_init(&arena, OPEN_MEMORY);
    struct table *table = table_of(call, request, &arena, &name);
    struct migration *migration = table == NULL
                                      ? NULL
                                      : migration_open(request->file_name, request->migration, down,
                                                       table, &arena, &call->error);
    if (migration != NULL && request->dry_run.value) {
        run_dry(call, request, table, migration);
    } else if (migration != NULL &&
               migration_work_read(call_engine(call), table, name, &arena, &last, &call->error) &&
               may_run(call, request, &last, name, &nothing) &&
               (nothing || save_new(call, request, table, &last, name))) {
        answer(call, table, name, nothing ? "UNCHANGED" : "STARTED");
    }
    arena_release(&arena);
}

enum step apply_migration_start(struct api_call *call, const void *decoded)
{
    const struct apply_migration_request *request = decoded;
    return model_call_later(call, request->dry_run.value ? LANE_LOOK : LANE_APPLY, run_apply);
}

// ---- Describing -------------------------------------------------------------------------------

static void work_json(struct json_writer *w, const struct migration_work *work)
{
    json_open_object(w);
    json_put_string(w, "MigrationName", work->name);
    json_put_text(w, "Status", statuses[work->status]);
    json_put_flag(w, "Applied", work->applied);
    json_put_text(w, "Direction", work->down ? "DOWN" : "UP");
    if (work->file.len > 0)
        json_put_string(w, "FileName", work->file);
    json_put_integer(w, "Step", work->step + 1);
    json_put_integer(w, "Done", work->progress.done);
    json_put_integer(w, "Total", work->progress.total);
    json_put_integer(w, "Matched", work->matched);
    json_put_integer(w, "Made", work->made);
    json_put_integer(w, "Removed", work->removed);
    json_put_integer(w, "Failed", work->failed);
    model_progress_json(w, &work->progress);
    model_samples_json(w, "FailureSamples", &work->progress.samples);
    json_close_object(w);
}

enum step describe_migration_start(struct api_call *call, const void *decoded)
{
    const struct describe_migration_request *request = decoded;
    struct migration_work work;
    struct table *table = call_own_table(call, request->table_name);
    if (table == NULL || !migration_work_read(call_engine(call), table, request->migration_name,
                                              &call->arena, &work, &call->error))
        return STEP_FAILED;
    if (work.text.len == 0) {
        (void)error_set(&call->error, ERR_RESOURCE_NOT_FOUND, "Table %.*s has no migration %.*s.",
                        SLICE_FMT(table->name), SLICE_FMT(request->migration_name));
        return STEP_FAILED;
    }
    struct json_writer w = call_writer(call);
    work_json(&w, &work);
    return STEP_READY;
}

struct listing {
    struct json_writer *w;
    const struct table *table;
};

static bool list_one(void *context, struct slice name, struct slice record)
{
    const struct listing *listing = context;
    struct migration_work work;
    (void)name;
    map_decode(&migration_work_form, record, &work);
    if (slice_equal(work.table_id, listing->table->uuid))
        work_json(listing->w, &work);
    return true;
}

enum step list_migrations_start(struct api_call *call, const void *decoded)
{
    const struct model_table_request *request = decoded;
    struct table *table = call_own_table(call, request->table_name);
    if (table == NULL)
        return STEP_FAILED;
    struct json_writer w = call_writer(call);
    struct listing listing = {&w, table};
    struct slice prefix = migration_record_name(&call->arena, table->name, slice_of(NULL, 0));
    json_open_object(&w);
    json_put_array(&w, "Migrations");
    bool ok = prefix.ptr == NULL ? error_budget(&call->error)
                                 : engine_records(call_engine(call), prefix, slice_of(NULL, 0),
                                                  list_one, &listing, &call->error);
    json_close_array(&w);
    json_close_object(&w);
    return ok ? STEP_READY : STEP_FAILED;
}
