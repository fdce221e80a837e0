// DiffModel, ApplyModel and AbandonModel. A plan is made, the items are looked at, and if nothing
// forbids it the tables are created or changed and the model is attached to each: see src/change.
#include "designs/designs.h"

#include "base/log.h"

#include <stdlib.h>

// ---- Applying ---------------------------------------------------------------------------------

static struct slice text_record(struct model_plan *plan, struct error *error)
{
    struct buf bytes;
    buf_init(&bytes, 4 << 20);
    model_record_encode(plan->file, plan->model->text, &bytes);
    struct slice record = arena_keep(&plan->arena, &bytes);
    if (record.ptr == NULL)
        (void)error_budget(error);
    return record;
}

static bool ready_table(struct api_call *call, struct model_target *target, bool prune,
                        bool *created)
{
    *created = target->live == NULL;
    if (target->live == NULL) {
        if (!model_create_table(call_shop(call), target->wanted, &call->error))
            return false;
        target->live = engine_table(call_engine(call), target->wanted->name);
        if (target->live == NULL)
            return table_not_found(&call->error, target->wanted->name);
    }
    return model_set_features(call_shop(call), target->wanted, target->live, prune, &call->error);
}

static bool apply_target(struct api_call *call, const struct apply_model_request *request,
                         struct model_plan *plan, struct model_target *target)
{
    struct model_version last;
    bool created;
    if (target->same || target->underway)
        return true;
    struct model_attachment *a = arena_zalloc(&plan->arena, 1, sizeof(*a));
    if (a == NULL)
        return error_budget(&call->error);
    *a = (struct model_attachment){
        .shop = call_shop(call),
        .arena = &plan->arena,
        .guard = target->guard,
        .model = target->wanted,
        .text_record = text_record(plan, &call->error),
        .work = {.text = slice_str(plan->name),
                 .file = plan->file,
                 .did = SLICE_LIT("apply"),
                 .prune = request->prune.value,
                 .force = request->force.value,
                 .progress.rate = request->rate.value},
        .concerns_items = target->concerns_items,
    };
    if (a->text_record.ptr == NULL || !ready_table(call, target, request->prune.value, &created) ||
        !model_version_last(call_engine(call), target->live, &plan->arena, &last, &call->error))
        return false;
    a->work.previous = last.text.len > 0 ? last.number : 0;
    if (!model_attach(a, target->live, &call->error))
        return false;
    if (a->work.phase == MODEL_PHASE_CLAIMS) {
        log_info("table %.*s: gathering the unique values of model %.12s (%.*s)",
                 SLICE_FMT(target->wanted->name), plan->name + sizeof("model/text/") - 1,
                 SLICE_FMT(plan->file));
        return true;
    }
    log_info("table %.*s: %s model %.12s (%.*s), version %lld", SLICE_FMT(target->wanted->name),
             created ? "created, with" : "now has", plan->name + sizeof("model/text/") - 1,
             SLICE_FMT(plan->file), (long long)a->work.version);
    return true;
}

static bool apply_plan(struct api_call *call, const struct apply_model_request *request,
                       struct model_plan *plan, bool *changed)
{
    uint64_t most = request->sample.set ? (uint64_t)request->sample.value : 0;
    // A plan that is impossible is refused before anything is read.
    if (!model_plan_allow(plan, true, &call->error) ||
        (request->newer.value && !model_plan_newer(call_shop(call), plan, &call->error)) ||
        !model_plan_seeds(call_shop(call), plan, &call->error) ||
        !model_plan_look(call_shop(call), plan, most, false, &call->error) ||
        !model_plan_allow(plan, request->force.value, &call->error) ||
        !model_plan_removals(call_shop(call), plan, most, &call->error) ||
        !model_plan_consent(plan, request->remove_items.value, &call->error))
        return false;
    for (size_t i = 0; i < plan->count; i++) {
        *changed |= !plan->targets[i].same && !plan->targets[i].underway;
        if (!apply_target(call, request, plan, &plan->targets[i]))
            return false;
    }
    // Those of a model that is not attached yet are put when it is.
    for (size_t i = 0; i < plan->count; i++) {
        struct model_target *target = &plan->targets[i];
        if (target->seeds > 0 &&
            !model_seed_table(call_shop(call), target->wanted->name, slice_str(plan->name),
                              &target->seeds_made, &call->error))
            return false;
        *changed |= target->seeds_made > 0;
    }
    return true;
}

static void run_apply(struct api_call *call, const void *decoded)
{
    const struct apply_model_request *request = decoded;
    struct model_plan *plan = calloc(1, sizeof(*plan));
    bool changed = false;
    ensure_memory(plan);
    if (model_plan_make(call_shop(call), request->file_name, request->model, request->prune.value,
                        plan, &call->error) &&
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
    bool ok = request->version.set
                  ? model_plan_since(call_shop(call), request->file_name, request->model,
                                     request->version.value, plan, &call->error)
                  : model_plan_make(call_shop(call), request->file_name, request->model,
                                    request->prune.value, plan, &call->error) &&
                        model_plan_seeds(call_shop(call), plan, &call->error) &&
                        model_plan_look(call_shop(call), plan, most, true, &call->error) &&
                        model_plan_removals(call_shop(call), plan, most, &call->error);
    if (ok) {
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
    return request->check_only.value ? call_later(call, LANE_LOOK, run_diff)
                                     : call_later(call, LANE_APPLY, run_apply);
}

enum step diff_model_start(struct api_call *call, const void *request)
{
    (void)request;
    return call_later(call, LANE_LOOK, run_diff);
}

// ---- Going back -------------------------------------------------------------------------------

// The model that the table had before; a->guard stays NULL if it had none.
static bool find_previous(struct api_call *call, const struct table *table,
                          const struct model_version *last, struct model_attachment *a,
                          struct model **out)
{
    struct model_version back;
    struct slice file;
    struct slice text;
    if (last->previous == 0)
        return true;
    if (!model_version_get(call_engine(call), table, last->previous, &call->arena, &back,
                           &call->error))
        return false;
    struct diagnostics *found = call_alloc(call, 1, sizeof(*found));
    if (found == NULL)
        return false;
    diagnostics_init(found, &call->arena);
    if (!model_record_read(call_engine(call), back.text, &call->arena, &file, &text))
        return error_set(&call->error, ERR_INTERNAL, "The model's text cannot be read.");
    struct budget_account account = {.budget = call_shop(call)->budget};
    *out = model_parse_counted(file, text, found, &account);
    if (*out == NULL && account.starved)
        return model_no_memory(call_shop(call)->budget, &call->error);
    a->model = *out == NULL ? NULL : model_table(*out, table->name);
    a->guard = a->model == NULL ? NULL : model_guard_new(*out, a->model);
    if (a->guard == NULL)
        return error_set(&call->error, ERR_INTERNAL, "The model of version %lld cannot be read.",
                         (long long)back.number);
    a->work.text = back.text;
    a->work.file = back.file;
    a->work.previous = back.previous;
    return true;
}

static void answer_abandoned(struct api_call *call, const struct table *table,
                             const struct model_attachment *a)
{
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_string(&w, "TableName", table->name);
    json_put_integer(&w, "Version", a->work.version);
    if (a->guard != NULL) {
        json_put_string(&w, "Digest", model_digest(a->work.text));
        json_put_text(&w, "Status", a->work.status == MODEL_APPLYING ? "APPLYING" : "ACTIVE");
    } else {
        json_put_text(&w, "Status", "NONE");
    }
    json_close_object(&w);
}

// A model that is not attached yet is forgotten; the table keeps the one it has. False if there is
// none such.
static bool cancel_gathering(struct api_call *call, const struct table *table,
                             const struct model_version *last)
{
    if (!model_attach_cancel(call_shop(call), table, &call->error)) {
        bool none = call->error.code == ERR_RESOURCE_NOT_FOUND;
        if (none)
            error_init(&call->error, call->error.arena);
        return !none;
    }
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_string(&w, "TableName", table->name);
    if (last->text.len > 0) {
        json_put_integer(&w, "Version", last->number);
        json_put_string(&w, "Digest", model_digest(last->text));
    }
    json_put_text(&w, "Status", last->text.len > 0 ? "ACTIVE" : "NONE");
    json_close_object(&w);
    return true;
}

static void run_abandon(struct api_call *call, const void *decoded)
{
    const struct model_table_request *request = decoded;
    struct model_version last;
    struct model *model = NULL;
    struct table *table = call_own_table(call, request->table_name);
    struct model_attachment *a = table == NULL ? NULL : call_alloc(call, 1, sizeof(*a));
    if (a == NULL ||
        !model_version_last(call_engine(call), table, &call->arena, &last, &call->error))
        return;
    if (cancel_gathering(call, table, &last))
        return;
    if (last.text.len == 0) {
        (void)error_set(&call->error, ERR_RESOURCE_NOT_FOUND, "Table %.*s has no model.",
                        SLICE_FMT(table->name));
        return;
    }
    *a = (struct model_attachment){
        .shop = call_shop(call),
        .arena = &call->arena,
        .work = {.did = SLICE_LIT("abandon"), .force = true},
        .concerns_items = true,
    };
    if (find_previous(call, table, &last, a, &model) &&
        (a->guard == NULL ||
         model_set_features(call_shop(call), a->model, table, false, &call->error)) &&
        model_attach(a, table, &call->error))
        answer_abandoned(call, table, a);
    guard_release(a->guard);
    model_release(model);
}

enum step abandon_model_start(struct api_call *call, const void *request)
{
    (void)request;
    return call_later(call, LANE_APPLY, run_abandon);
}
