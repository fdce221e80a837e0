// ApplyMigration, DescribeMigration and ListMigrations.
#include "designs/designs.h"

#include "base/encode.h"

enum { MIGRATION_TEXT_MAX = 512 << 10, OPEN_MEMORY = 64 << 20 };

static const char *const statuses[] = {"DONE", "RUNNING", "FAILED", "INCOMPLETE"};

// ---- Finding the table ----------------------------------------------------------------------

// The table that a migration is for, held until the call ends.
static struct table *table_of(struct api_call *call, const struct apply_migration_request *request,
                              struct arena *arena)
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
    struct table *table = call_own_table(call, migration->table);
    if (table != NULL && !table_check_ready(table, &call->error))
        return NULL;
    return table;
}

// ---- Whether it may be run --------------------------------------------------------------------

static void digest_of(struct slice text, char out[65])
{
    uint8_t digest[32];
    sha256_of(text, digest);
    hex_text(slice_of(digest, sizeof(digest)), out);
    out[64] = 0;
}

// Whether a record is about what is asked for now.
static bool is_asked(const struct migration_work *last,
                     const struct apply_migration_request *request)
{
    return slice_equal(last->text, request->migration) &&
           last->down == slice_is(request->direction, "DOWN");
}

// A migration is what it was when it was run: a change of it has a name of its own.
static bool check_text(struct api_call *call, const struct apply_migration_request *request,
                       const struct migration_work *last)
{
    char digest[65];
    if (last->text.len == 0 || request->again.value || slice_equal(last->text, request->migration))
        return true;
    digest_of(last->text, digest);
    return error_validation(
        &call->error,
        "Migration %.*s was run with another text (digest %.12s). Give what "
        "is new a migration of its own, or run this text all the same (--again).",
        SLICE_FMT(last->name), digest);
}

// Those that it comes after must be there.
static bool check_before(struct api_call *call, const struct table *table,
                         const struct migration *migration, struct arena *arena)
{
    struct buf missing;
    bool ok = true;
    buf_init(&missing, 4096);
    for (size_t i = 0; ok && i < migration->after_count; i++) {
        struct migration_work other;
        ok = migration_work_read(call_engine(call), table, migration->after[i], arena, &other,
                                 &call->error);
        if (ok && !(other.applied && other.status == MIGRATION_DONE))
            buf_printf(&missing, "%s%.*s", missing.len > 0 ? ", " : "",
                       SLICE_FMT(migration->after[i]));
    }
    if (ok && missing.len > 0)
        ok = error_validation(&call->error,
                              "Migration %.*s comes after others that are not done: %.*s.",
                              SLICE_FMT(migration->name), SLICE_FMT(buf_view(&missing)));
    buf_release(&missing);
    return ok;
}

struct followers {
    const struct table *table;
    const struct migration *migration;
    struct arena *arena;
    struct buf names;
};

static bool note_follower(void *context, struct slice name, struct slice record)
{
    struct followers *followers = context;
    struct migration_work work;
    struct diagnostics *found = arena_alloc(followers->arena, sizeof(*found));
    (void)name;
    map_decode(&migration_work_form, record, &work);
    if (found == NULL || !work.applied || !slice_equal(work.table_id, followers->table->uuid))
        return found != NULL;
    diagnostics_init(found, followers->arena);
    const struct migration *other = migration_parse(work.text, followers->arena, found);
    for (size_t i = 0; other != NULL && i < other->after_count; i++) {
        if (slice_equal(other->after[i], followers->migration->name))
            buf_printf(&followers->names, "%s%.*s", followers->names.len > 0 ? ", " : "",
                       SLICE_FMT(other->name));
    }
    return true;
}

// And those that come after it must be gone before it is.
static bool check_behind(struct api_call *call, const struct table *table,
                         const struct migration *migration, struct arena *arena)
{
    struct followers followers = {table, migration, arena, {0}};
    struct slice prefix = migration_record_name(arena, table->name, slice_of(NULL, 0));
    if (prefix.ptr == NULL)
        return error_budget(&call->error);
    buf_init(&followers.names, 4096);
    bool ok = engine_records(call_engine(call), prefix, slice_of(NULL, 0), note_follower,
                             &followers, &call->error);
    if (ok && followers.names.len > 0)
        ok = error_validation(&call->error,
                              "Migration %.*s cannot be undone before those that come after it: "
                              "%.*s.",
                              SLICE_FMT(migration->name), SLICE_FMT(buf_view(&followers.names)));
    buf_release(&followers.names);
    return ok;
}

// Whether it is to be run. *outcome is set if there is nothing to run: it has been, or is running.
static bool may_run(struct api_call *call, const struct apply_migration_request *request,
                    const struct table *table, const struct migration *migration,
                    const struct migration_work *last, struct arena *arena, const char **outcome)
{
    bool down = slice_is(request->direction, "DOWN");
    if (last->text.len > 0 && last->status == MIGRATION_RUNNING) {
        *outcome = "RUNNING";
        return is_asked(last, request) ||
               error_set(&call->error, ERR_RESOURCE_IN_USE, "Migration %.*s is running%s.",
                         SLICE_FMT(last->name), last->down ? " down" : "");
    }
    if (!check_text(call, request, last))
        return false;
    if (!request->again.value && last->text.len > 0 && last->status == MIGRATION_DONE &&
        last->applied == !down) {
        *outcome = "UNCHANGED";
        return true;
    }
    if (down && !request->again.value && !last->applied)
        return error_validation(&call->error,
                                "Migration %.*s has not been applied. Go its way down all the same "
                                "with --again.",
                                SLICE_FMT(migration->name));
    return down ? check_behind(call, table, migration, arena)
                : check_before(call, table, migration, arena);
}

// ---- ApplyMigration ---------------------------------------------------------------------------

static bool begin(struct api_call *call, const struct apply_migration_request *request,
                  const struct table *table, const struct migration *migration,
                  const struct migration_work *last)
{
    bool down = slice_is(request->direction, "DOWN");
    struct migration_work work = {
        .table_id = table->uuid,
        .name = migration->name,
        .file = request->file_name,
        .text = request->migration,
        .status = MIGRATION_RUNNING,
        .applied = last->applied,
        .down = down,
        .steps = (int64_t)(down ? migration->down.count : migration->up.count),
        .progress.rate = request->rate.value,
        .progress.total = table->stats->items,
        .progress.started_ms = env_now(engine_env(call_engine(call))),
    };
    struct record_write write = {
        .name = migration_record_name(&call->arena, table->name, migration->name),
        .value = map_encode(&migration_work_form, &work, &call->arena, &call->error),
    };
    if (write.name.ptr == NULL || write.value.len == 0)
        return error_budget(&call->error);
    struct record_edit edit = {.count = 1, .writes = &write};
    if (!work_edit_records(call_shop(call), &edit, &call->error))
        return false;
    migration_begin(call_shop(call), table->name, migration->name);
    return true;
}

static void answer(struct api_call *call, const struct table *table, struct slice name,
                   const char *outcome)
{
    struct json_writer w = call_writer(call);
    json_form(&w, "{'TableName':%.*s,'MigrationName':%.*s,'Outcome':%s}", SLICE_FMT(table->name),
              SLICE_FMT(name), outcome);
}

// Runs it, dry or not, if the items have what it counts on.
static void run_migration(struct api_call *call, const struct apply_migration_request *request,
                          struct table *table, struct arena *arena)
{
    struct migration_work last;
    const char *outcome = NULL;
    bool down = slice_is(request->direction, "DOWN");
    struct slice file = request->file_name;
    const struct migration *migration =
        migration_open(file, request->migration, down, table, arena, &call->error);
    if (migration == NULL ||
        !migration_work_read(call_engine(call), table, migration->name, arena, &last, &call->error))
        return;
    if (!request->dry_run.value &&
        !may_run(call, request, table, migration, &last, arena, &outcome))
        return;
    if (outcome == NULL &&
        !migration_look(call_shop(call), table, down ? &migration->down : &migration->up, file,
                        request->migration, arena, &call->error))
        return;
    if (request->dry_run.value)
        migration_run_dry(call, request, table, migration);
    else if (outcome != NULL || begin(call, request, table, migration, &last))
        answer(call, table, migration->name, outcome == NULL ? "STARTED" : outcome);
}

static void run_apply(struct api_call *call, const void *decoded)
{
    struct arena arena;
    arena_init(&arena, OPEN_MEMORY);
    struct table *table = table_of(call, decoded, &arena);
    if (table != NULL)
        run_migration(call, decoded, table, &arena);
    arena_release(&arena);
}

enum step apply_migration_start(struct api_call *call, const void *decoded)
{
    const struct apply_migration_request *request = decoded;
    return call_later(call, request->dry_run.value ? LANE_LOOK : LANE_APPLY, run_apply);
}

// ---- Describing -------------------------------------------------------------------------------

static void work_json(struct json_writer *w, struct slice table, const struct migration_work *work)
{
    char digest[65];
    digest_of(work->text, digest);
    json_form(w,
              "{'TableName':%.*s,'MigrationName':%.*s,'Digest':%s,'Status':%s,"
              "'Applied':%hhd,'Direction':%s",
              SLICE_FMT(table), SLICE_FMT(work->name), digest, statuses[work->status],
              work->applied, work->down ? "DOWN" : "UP");
    if (work->file.len > 0)
        json_put_string(w, "FileName", work->file);
    json_put_integer(w, "Step", work->step < work->steps ? work->step + 1 : work->steps);
    json_put_integer(w, "Steps", work->steps);
    // Each step counts from 0; behind the last one there is nothing left to look at.
    json_put_integer(w, "Done",
                     work->step < work->steps ? work->progress.done : work->progress.total);
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
    work_json(&w, table->name, &work);
    return STEP_READY;
}

struct listing {
    struct json_writer *w;
    struct engine *engine;
};

// What an earlier table of the name has left is not shown.
static bool list_one(void *context, struct slice name, struct slice record)
{
    const struct listing *listing = context;
    struct migration_work work;
    size_t prefix = sizeof(MIGRATION_RECORDS) - 1;
    const uint8_t *slash = memchr(name.ptr + prefix, '/', name.len - prefix);
    if (slash == NULL)
        return true;
    struct table *table = engine_table(
        listing->engine, slice_of(name.ptr + prefix, (size_t)(slash - name.ptr) - prefix));
    map_decode(&migration_work_form, record, &work);
    if (table != NULL && slice_equal(work.table_id, table->uuid))
        work_json(listing->w, table->name, &work);
    table_release(table);
    return true;
}

enum step list_migrations_start(struct api_call *call, const void *decoded)
{
    const struct list_migrations_request *request = decoded;
    struct slice prefix = SLICE_LIT(MIGRATION_RECORDS);
    if (request->table_name.len > 0) {
        struct table *table = call_own_table(call, request->table_name);
        if (table == NULL)
            return STEP_FAILED;
        prefix = migration_record_name(&call->arena, table->name, slice_of(NULL, 0));
    }
    struct json_writer w = call_writer(call);
    struct listing listing = {&w, call_engine(call)};
    json_open_object(&w);
    json_put_array(&w, "Migrations");
    bool ok = prefix.ptr == NULL ? error_budget(&call->error)
                                 : engine_records(call_engine(call), prefix, slice_of(NULL, 0),
                                                  list_one, &listing, &call->error);
    json_close_array(&w);
    json_close_object(&w);
    return ok ? STEP_READY : STEP_FAILED;
}
