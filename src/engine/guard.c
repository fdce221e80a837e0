// Calling a table's guard.
#include "engine/engine_internal.h"

// A guard completes an item; it does not make another one of it.
static bool same_key(const struct table *table, struct slice key, struct slice item)
{
    for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count; i++) {
        struct slice name = table->keys.parts[i].name;
        if (!slice_equal(value_get(key, name), value_get(item, name)))
            return false;
    }
    return true;
}

bool guard_judge(struct txn *txn, struct write_job *request, struct write_action *action,
                 const struct table *table, struct slice before, struct slice *after,
                 struct claims *claims, struct error *error)
{
    if (table->model.len == 0 || action->kind == WRITE_CHECK)
        return true;
    if (table->guard == NULL)
        return error_set(error, ERR_DAMAGED, "The model of the table cannot be read.");
    // Nothing to write: a delete or a touch of nothing, an item that has not expired after all.
    if (action->kind != WRITE_PUT && after->len == before.len && after->ptr == before.ptr &&
        (before.len == 0 || (action->flags & WRITE_EXPIRED)))
        return true;
    bool prepared = action->kind == WRITE_PUT && action->prepared == table->guard;
    struct guard_write write = {
        .is_put = action->kind == WRITE_PUT,
        .prepared = prepared,
        .settled = prepared ? action->settled : (struct guard_settled){.item = VALUE_NONE},
        .batch = action->flags & WRITE_BATCH,
        .touch = action->flags & WRITE_TOUCH,
        .before = before,
        .env = &txn->engine->env,
        .arena = request->arena,
        .steps = &txn->steps,
        .after = *after,
    };
    uint64_t taken = txn->steps.taken;
    if (!table->guard->ops->write(table->guard, &write, error))
        return false;
    request->guarded += txn->steps.taken - taken;
    if (request->transaction && request->guarded > LIMIT_TRANSACT_GUARD_WORK)
        return error_validation(error, "The items of the transaction take too much work to check "
                                       "against the model of their table: write fewer at once");
    if (write.after.len > 0 && write.after.ptr != after->ptr &&
        !same_key(table, (action->flags & WRITE_TOUCH) ? before : action->item, write.after))
        return error_set(error, ERR_INTERNAL, "The model has changed meanwhile; try again.");
    *after = write.after;
    *claims = (struct claims){.count = write.claim_count,
                              .list = write.claims,
                              .release_count = write.release_count,
                              .releases = write.releases};
    action->out.warnings = write.warnings;
    action->out.details = write.details;
    return true;
}
