// DiffModel, ApplyModel and AbandonModel. A plan is made (model_plan.c), the items are looked at,
// and if nothing forbids it the tables are created or changed and the model is attached: one change
// of the catalog for each table, which writes the model's text, the history and the work to be done
// in the same batch. From then on writes are guarded, and the work goes on (model_work.c).
#include "api/model.h"

#include "base/log.h"

#include <stdlib.h>

// ---- Attaching --------------------------------------------------------------------------------

struct attachment {
    struct api *api;
    struct arena *arena;
    struct table_change change;
    struct guard *guard; // NULL: the table loses its model
    const struct model_table *model;
    struct slice text_name;
    struct slice text_record; // empty if it is kept already
    struct model_version version;
    struct model_work work;
    bool concerns_items;
    struct record_write records[3];
};

static bool is_unique_in(const struct model_table *table, const struct model_entity *entity,
                         const struct model_attribute *attribute)
{
    const struct model_entity *other = model_table_entity(table, entity->name);
    const struct model_attribute *same =
        other == NULL ? NULL : model_entity_attribute(other, attribute->name);
    return same != NULL && same->unique && other->guard == MODEL_ENFORCE;
}

// Whether all values that the old model claims will be looked after by the new one. Claims that
// nobody gives back would be in the way for ever, so they are forgotten otherwise, and claimed anew
// by the backfill.
static bool claims_go_on(const struct model_table *before, const struct model_table *after)
{
    for (size_t i = 0; i < before->entity_count; i++) {
        const struct model_entity *entity = &before->entities[i];
        for (size_t j = 0; j < entity->attribute_count; j++) {
            if (entity->attributes[j].unique &&
                !is_unique_in(after, entity, &entity->attributes[j]))
                return false;
        }
    }
    return true;
}

static bool indexes_differ(const struct attachment *a, const struct table *table)
{
    for (size_t i = 0; i < a->model->index_count; i++) {
        if (model_index_compare(&a->model->indexes[i], table) != INDEX_IS_SAME)
            return true;
    }
    for (size_t i = 0; a->work.prune && i < table->index_count; i++) {
        if (table->indexes[i].global && model_table_index(a->model, table->indexes[i].name) == NULL)
            return true;
    }
    return false;
}

// What is left to do is known for sure here, on the writer's thread: a table without items, for
// example, stays without unguarded ones.
static void decide_work(struct attachment *a, const struct table *current)
{
    struct model_work *work = &a->work;
    work->progress.total = current->stats->items;
    work->skip_items = !a->concerns_items || work->progress.total == 0;
    work->status = MODEL_APPLYING;
    if (work->skip_items)
        work->progress.total = 0;
    if (!work->skip_items || indexes_differ(a, current))
        return;
    work->status = MODEL_ACTIVE;
    work->phase = MODEL_PHASE_DONE;
    work->progress.ended_ms = work->progress.started_ms;
}

static bool make_records(struct attachment *a, struct table *table, struct error *error)
{
    struct table_change *change = &a->change;
    change->records = a->records;
    change->record_count = 0;
    if (a->text_record.len > 0)
        a->records[change->record_count++] = (struct record_write){a->text_name, a->text_record};
    struct record_write *history = &a->records[change->record_count++];
    *history = model_version_record(table, &a->version, a->arena, error);
    struct record_write *work = &a->records[change->record_count++];
    work->name = model_work_name(a->arena, table->name);
    work->value = VALUE_NONE;
    if (a->guard != NULL)
        work->value = model_work_encode(&a->work, a->arena, error);
    return error->code == ERR_NONE && (work->name.ptr != NULL || error_budget(error));
}

static bool attach_alter(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    struct attachment *a = context;
    if (current == NULL || !slice_equal(current->uuid, a->work.table_id))
        return error_set(error, ERR_RESOURCE_NOT_FOUND, "The table was deleted meanwhile.");
    if (!table_check_ready(current, error))
        return false;
    struct table *table = table_clone(current);
    if (table == NULL || !table_set_guard(table, a->text_name, a->guard)) {
        table_release(table);
        return error_budget(error);
    }
    bool go_on = a->guard != NULL && current->guard != NULL &&
                 claims_go_on(model_guard_table(current->guard), a->model);
    if (!go_on)
        table->claims = 0;
    if (!model_version_next(a->api, current, &a->version.number, error))
        return table_abandon(table);
    a->work.version = a->version.number;
    if (a->guard != NULL)
        decide_work(a, current);
    if (!make_records(a, table, error))
        return table_abandon(table);
    *next = table;
    return true;
}

static bool attach(struct attachment *a, struct table *live, struct error *error)
{
    struct api *api = a->api;
    a->version.time_ms = env_now(engine_env(api->engine));
    a->work.table_id = live->uuid;
    a->work.progress.started_ms = a->version.time_ms;
    bool ok;
    struct background_patience patience = {.tries = 0};
    do {
        table_change_init(&a->change, api->engine, error);
        a->change.name = live->name;
        a->change.alter = attach_alter;
        a->change.context = a;
        ok = engine_run(api->engine, &a->change.job);
        table_change_release(&a->change);
    } while (!ok && background_retry(api, &patience, error));
    if (ok && a->guard != NULL && a->work.status == MODEL_APPLYING)
        (void)!model_work_begin(api, live->name);
    return ok;
}

// ---- Applying ---------------------------------------------------------------------------------

static struct slice text_record(struct model_plan *plan, struct error *error)
{
    struct buf bytes;
    buf_init(&bytes, 4 << 20);
    model_record_encode(plan->file, plan->model->text, &bytes);
    struct slice record =
        bytes.failed ? slice_of(NULL, 0) : arena_copy(&plan->arena, buf_view(&bytes));
    buf_release(&bytes);
    if (record.ptr == NULL)
        (void)error_budget(error);
    return record;
}

static bool ready_table(struct api_call *call, struct model_target *target, bool prune,
                        bool *created)
{
    struct api *api = call->api;
    *created = target->live == NULL;
    if (target->live == NULL) {
        if (!model_create_table(api, call->region, target->wanted, &call->error))
            return false;
        target->live = engine_table(api->engine, target->wanted->name);
        if (target->live == NULL)
            return table_not_found(&call->error, target->wanted->name);
    }
    return model_set_features(api, call->region, target->wanted, target->live, prune, &call->error);
}

static bool apply_target(struct api_call *call, const struct apply_model_request *request,
                         struct model_plan *plan, struct model_target *target)
{
    struct model_version last;
    bool created;
    if (target->same)
        return true;
    struct attachment *a = arena_zalloc(&plan->arena, 1, sizeof(*a));
    if (a == NULL)
        return error_budget(&call->error);
    *a = (struct attachment){
        .api = call->api,
        .arena = &plan->arena,
        .guard = target->guard,
        .model = target->wanted,
        .text_name = slice_str(plan->name),
        .text_record = text_record(plan, &call->error),
        .version = {.text = slice_str(plan->name), .file = plan->file, .did = SLICE_LIT("apply")},
        .work = {.region = call->region,
                 .prune = request->prune.value,
                 .progress.rate = request->rate.set ? request->rate.value : MODEL_RATE},
        .concerns_items = target->concerns_items,
    };
    if (a->text_record.ptr == NULL || !ready_table(call, target, request->prune.value, &created) ||
        !model_version_last(call->api, target->live, &plan->arena, &last, &call->error))
        return false;
    a->version.previous = last.text.len > 0 ? last.number : 0;
    if (!attach(a, target->live, &call->error))
        return false;
    log_info("table %.*s: %s model %.12s (%.*s), version %lld", SLICE_FMT(target->wanted->name),
             created ? "created, with" : "now has", plan->name + sizeof("model/text/") - 1,
             SLICE_FMT(plan->file), (long long)a->version.number);
    return true;
}

static bool apply_plan(struct api_call *call, const struct apply_model_request *request,
                       struct model_plan *plan, bool *changed)
{
    uint64_t most = request->sample.set ? (uint64_t)request->sample.value : 0;
    // A plan that is impossible is refused before anything is read.
    if (!model_plan_allow(plan, true, &call->error) ||
        !model_plan_look(call->api, plan, most, false, &call->error) ||
        !model_plan_allow(plan, request->force.value, &call->error))
        return false;
    for (size_t i = 0; i < plan->count; i++) {
        *changed |= !plan->targets[i].same;
        if (!apply_target(call, request, plan, &plan->targets[i]))
            return false;
    }
    return true;
}

static void run_apply(struct api_call *call, const void *decoded)
{
    const struct apply_model_request *request = decoded;
    struct model_plan *plan = calloc(1, sizeof(*plan));
    bool changed = false;
    ensure_memory(plan);
    if (model_plan_make(call->api, request->file_name, request->model, request->prune.value, plan,
                        &call->error) &&
        apply_plan(call, request, plan, &changed)) {
        struct json_writer w = call_writer(call);
        model_plan_json(&w, plan);
        json_put_text(&w, "Outcome", changed ? "APPLIED" : "UNCHANGED");
        json_close_object(&w);
    }
    model_plan_release(plan);
    free(plan);
}

static void run_diff(struct api_call *call, const void *decoded)
{
    const struct apply_model_request *request = decoded;
    struct model_plan *plan = calloc(1, sizeof(*plan));
    uint64_t most = request->sample.set ? (uint64_t)request->sample.value : 0;
    ensure_memory(plan);
    if (model_plan_make(call->api, request->file_name, request->model, request->prune.value, plan,
                        &call->error) &&
        model_plan_look(call->api, plan, most, true, &call->error)) {
        struct json_writer w = call_writer(call);
        model_plan_json(&w, plan);
        json_close_object(&w);
    }
    model_plan_release(plan);
    free(plan);
}

enum step apply_model_start(struct api_call *call, const void *decoded)
{
    const struct apply_model_request *request = decoded;
    return request->check_only.value ? model_call_later(call, LANE_LOOK, run_diff)
                                     : model_call_later(call, LANE_APPLY, run_apply);
}

enum step diff_model_start(struct api_call *call, const void *request)
{
    (void)request;
    return model_call_later(call, LANE_LOOK, run_diff);
}

// ---- Going back -------------------------------------------------------------------------------

// The model that the table had before; a->guard stays NULL if it had none.
static bool find_previous(struct api_call *call, const struct table *table,
                          const struct model_version *last, struct attachment *a,
                          struct model **out)
{
    struct model_version back;
    struct slice file;
    struct slice text;
    if (last->previous == 0)
        return true;
    if (!model_version_get(call->api, table, last->previous, &call->arena, &back, &call->error))
        return false;
    struct diagnostics *found = call_alloc(call, 1, sizeof(*found));
    if (found == NULL)
        return false;
    diagnostics_init(found, &call->arena);
    if (!model_record_read(call->api->engine, back.text, &call->arena, &file, &text))
        return error_set(&call->error, ERR_INTERNAL, "The model's text cannot be read.");
    struct budget_account account = {.budget = call->api->budget};
    *out = model_parse_counted(file, text, found, &account);
    if (*out == NULL && account.starved)
        return model_no_memory(call->api, &call->error);
    a->model = *out == NULL ? NULL : model_table(*out, table->name);
    a->guard = a->model == NULL ? NULL : model_guard_new(*out, a->model);
    if (a->guard == NULL)
        return error_set(&call->error, ERR_INTERNAL, "The model of version %lld cannot be read.",
                         (long long)back.number);
    a->text_name = back.text;
    a->version.text = back.text;
    a->version.file = back.file;
    a->version.previous = back.previous;
    return true;
}

static void answer_abandoned(struct api_call *call, const struct attachment *a)
{
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_string(&w, "TableName", a->change.name);
    json_put_integer(&w, "Version", a->version.number);
    if (a->guard != NULL) {
        json_put_text(&w, "Digest", (const char *)a->text_name.ptr + sizeof("model/text/") - 1);
        json_put_text(&w, "Status", a->work.status == MODEL_APPLYING ? "APPLYING" : "ACTIVE");
    } else {
        json_put_text(&w, "Status", "NONE");
    }
    json_close_object(&w);
}

static void run_abandon(struct api_call *call, const void *decoded)
{
    const struct model_table_request *request = decoded;
    struct model_version last;
    struct model *model = NULL;
    struct table *table = call_own_table(call, request->table_name);
    struct attachment *a = table == NULL ? NULL : call_alloc(call, 1, sizeof(*a));
    if (a == NULL || !model_version_last(call->api, table, &call->arena, &last, &call->error))
        return;
    if (last.text.len == 0) {
        (void)error_set(&call->error, ERR_RESOURCE_NOT_FOUND, "Table %.*s has no model.",
                        SLICE_FMT(table->name));
        return;
    }
    *a = (struct attachment){
        .api = call->api,
        .arena = &call->arena,
        .version = {.did = SLICE_LIT("abandon")},
        .work = {.region = call->region, .progress.rate = MODEL_RATE},
        .concerns_items = true,
    };
    if (find_previous(call, table, &last, a, &model) &&
        (a->guard == NULL ||
         model_set_features(call->api, call->region, a->model, table, false, &call->error)) &&
        attach(a, table, &call->error))
        answer_abandoned(call, a);
    guard_release(a->guard);
    model_release(model);
}

enum step abandon_model_start(struct api_call *call, const void *request)
{
    (void)request;
    return model_call_later(call, LANE_APPLY, run_abandon);
}
