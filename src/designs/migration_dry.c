// ApplyMigration with DryRun: what would become of the items, and a few of them.
#include "designs/designs.h"

#include <stdlib.h>

enum { ITEM_MEMORY = 64 << 20 };

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

void migration_run_dry(struct api_call *call, const struct apply_migration_request *request,
                       struct table *table, const struct migration *migration)
{
    bool down = slice_is(request->direction, "DOWN");
    const struct migration_way *way = down ? &migration->down : &migration->up;
    struct json_writer w = call_writer(call);
    struct dry_run *dry = memory_zeroed(sizeof(*dry));
    dry->call = call;
    dry->w = &w;
    dry->error = &call->error;
    arena_init(&dry->item, ITEM_MEMORY);
    dry->migrator =
        (struct migrator){.engine = call_engine(call), .table = table, .arena = &dry->item};
    dry->migrator.absent = migration_absent(table, &call->arena, &call->error);
    json_form(&w, "{'TableName':%.*s,'MigrationName':%.*s,'Outcome':'DRY_RUN','Samples':[",
              SLICE_FMT(table->name), SLICE_FMT(migration->name));
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
