// Judging writes to items that are kept elsewhere: the same plan as the writer's, against an image
// that somebody else has read.
#include "engine/engine_internal.h"

static bool plan_given(struct txn *txn, struct write_job *request, struct write_action *action,
                       struct plan *plan)
{
    struct error *error = &plan->error;
    if (plan->table == NULL || plan->table->tree != action->table->tree)
        return error_set(error, ERR_RESOURCE_NOT_FOUND, "Requested resource not found");
    return guard_admit(request, plan->table, action, error) &&
           plan_make(txn, request, action, plan) && error->code == ERR_NONE &&
           write_keep_images(request, action, plan, error) &&
           write_find_room(request, action, error);
}

bool write_plan_given(struct write_job *request, struct write_action *action, struct slice before,
                      struct write_plan *out, struct error *error)
{
    struct txn txn;
    struct plan plan = {.opened = true, .aside = true};
    txn_init(&txn, request->engine);
    txn.aside = true;
    error_init(&plan.error, request->arena);
    table_release(action->out.cost_table);
    action->out = (struct write_result){.collection_bytes = -1};
    plan.before =
        (struct image){.item = before, .size = before.len == 0 ? 0 : value_item_size(before)};
    plan.table = engine_table(request->engine, action->table->name);
    bool ok = plan_given(&txn, request, action, &plan);
    if (ok) {
        size_t larger = plan.before.size > plan.after.size ? plan.before.size : plan.after.size;
        action->out.cost.table = write_units(larger);
        action->out.cost_table = table_hold(plan.table);
        action->out.changed = !slice_equal(before, plan.after.item);
        *out = (struct write_plan){.after = plan.after.item,
                                   .claim_count = plan.claims.count,
                                   .claims = plan.claims.list,
                                   .release_count = plan.claims.release_count,
                                   .releases = plan.claims.releases};
    } else {
        if (plan.error.code == ERR_CONDITIONAL_CHECK_FAILED)
            write_room_for_failure(request, action);
        if (plan.error.code == ERR_NONE)
            (void)error_set(&plan.error, ERR_INTERNAL, "The write could not be judged");
        DISREGARD(error_copy(error, &plan.error));
    }
    plan_drop(&txn, &plan);
    txn_release(&txn);
    return ok;
}
