// Repetition: a write that was done before is answered as the first was, and not done again.
// Whether it was is known by a claim with an end (claims.c).
#include "engine/engine_internal.h"

// The key of the item that did before what one of the part does; empty if none did.
struct slice repeat_of(const struct write_job *request, const struct part *part, size_t *which)
{
    for (size_t i = 0; request->claimants != NULL && i < part->count; i++) {
        *which = i;
        if (part->plans[i].claims.repeats.len > 0)
            return part->plans[i].claims.repeats;
    }
    return slice_of(NULL, 0);
}

// The first item, where the operation returns one.
static bool show(struct write_job *request, struct write_action *action, struct slice item)
{
    if (action->flags & WRITE_OLD)
        action->out.old_item = item;
    if (action->flags & WRITE_NEW)
        action->out.new_item = item;
    return request->room == NULL || !(action->flags & (WRITE_OLD | WRITE_NEW)) ||
           request->room(request, action, request->job.error);
}

bool repeat_part(struct txn *txn, struct write_job *request, const struct part *part, size_t which)
{
    struct plan first = {.before = {.item = VALUE_NONE}};
    const struct write_action asks = {.key = part->plans[which].claims.repeats};
    struct slice item = VALUE_NONE;
    if (!plan_read(txn, request, &asks, &first, request->job.error))
        return false;
    bool ok =
        first.before.item.len == 0 || guard_show(part->plans[which].table->guard, request,
                                                 first.before.item, &item, request->job.error);
    size_t size = item.len == 0 ? 0 : first.before.size;
    store_value_release(txn->engine->store, &first.pin);
    for (size_t i = 0; ok && i < part->count; i++) {
        struct write_result *out = &part->actions[i].out;
        out->repeated = true;
        out->collection_bytes = -1;
        out->cost.table = write_units(size);
        out->cost_table = table_hold(part->plans[i].table);
        out->old_item = VALUE_NONE;
        out->new_item = VALUE_NONE;
        ok = i != which || show(request, &part->actions[i], item);
    }
    return ok;
}
