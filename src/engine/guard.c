// Calling a table's guard.
#include "engine/engine_internal.h"

static bool has_value(const struct guard_outsiders *list, struct slice value)
{
    for (size_t i = 0; i < list->count; i++) {
        if (slice_equal(list->values[i], value))
            return true;
    }
    return false;
}

bool guard_outsiders_same(const struct guard_outsiders *a, const struct guard_outsiders *b)
{
    if (a->count != b->count || (a->count > 0 && !slice_equal(a->attribute, b->attribute)))
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (!has_value(b, a->values[i]))
            return false;
    }
    return true;
}

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

// Whether there is nothing to write: a delete or a touch of nothing, an item that has not expired
// after all.
static bool is_idle(const struct write_action *action, struct slice before, struct slice after)
{
    return action->kind == WRITE_CHECK ||
           (action->kind != WRITE_PUT && after.len == before.len && after.ptr == before.ptr &&
            (before.len == 0 || (action->flags & WRITE_EXPIRED)));
}

static bool judge(struct txn *txn, struct write_job *request, struct write_action *action,
                  const struct table *table, struct guard_write *write, struct error *error)
{
    struct slice made = write->after;
    uint64_t taken = txn->steps.taken;
    if (table->guard == NULL)
        return error_set(error, ERR_DAMAGED, "The model of the table cannot be read.");
    write->prepared = action->kind == WRITE_PUT && action->prepared == table->guard;
    write->settled = write->prepared ? action->settled : (struct guard_settled){.item = VALUE_NONE};
    if (!table->guard->ops->write(table->guard, write, error))
        return false;
    request->guarded += txn->steps.taken - taken;
    if (request->transaction && request->guarded > LIMIT_TRANSACT_GUARD_WORK)
        return error_validation(error, "The items of the transaction take too much work to check "
                                       "against the model of their table: write fewer at once");
    if (write->after.len > 0 && write->after.ptr != made.ptr &&
        !same_key(table, write->touch ? write->before : action->item, write->after))
        return write->prepared
                   ? error_validation(error, "The primary key of the item would change: by the "
                                             "model, it is made of what is set at each write")
                   : error_set(error, ERR_INTERNAL, "The model has changed meanwhile; try again.");
    action->out.warnings = write->warnings;
    action->out.details = write->details;
    return true;
}

static void join(struct guard_claim *to, const struct guard_claim *one, size_t one_count,
                 const struct guard_claim *other, size_t other_count)
{
    for (size_t i = 0; i < one_count; i++)
        to[i] = one[i];
    for (size_t i = 0; i < other_count; i++)
        to[one_count + i] = other[i];
}

// Adds what the next guard would have the images claim.
static bool claim_next(const struct table *table, const struct guard_write *write,
                       struct claims *claims, struct error *error)
{
    struct guard_write next = {.before = write->before,
                               .after = write->after,
                               .env = write->env,
                               .arena = write->arena,
                               .steps = write->steps};
    if (!table->next->ops->write(table->next, &next, error))
        return false;
    size_t count = claims->count + next.claim_count;
    size_t releases = claims->release_count + next.release_count;
    struct guard_claim *all = arena_alloc(write->arena, (count + releases + 1) * sizeof(*all));
    if (all == NULL)
        return error_budget(error);
    join(all, claims->list, claims->count, next.claims, next.claim_count);
    join(all + count, claims->releases, claims->release_count, next.releases, next.release_count);
    *claims = (struct claims){.count = count,
                              .list = all,
                              .release_count = releases,
                              .releases = all + count,
                              .next_count = next.claim_count,
                              .next_releases = next.release_count};
    return true;
}

bool guard_judge(struct txn *txn, struct write_job *request, struct write_action *action,
                 const struct table *table, struct slice before, struct slice *after,
                 struct claims *claims, struct error *error)
{
    if ((table->model.len == 0 && table->next == NULL) || is_idle(action, before, *after))
        return true;
    struct guard_write write = {
        .is_put = action->kind == WRITE_PUT,
        .batch = action->flags & WRITE_BATCH,
        .touch = action->flags & WRITE_TOUCH,
        .before = before,
        .env = &txn->engine->env,
        .arena = request->arena,
        .steps = &txn->steps,
        .after = *after,
    };
    if (table->model.len > 0 && !(action->flags & WRITE_CLAIM) &&
        !judge(txn, request, action, table, &write, error))
        return false;
    *after = write.after;
    *claims = (struct claims){.count = write.claim_count,
                              .list = write.claims,
                              .release_count = write.release_count,
                              .releases = write.releases};
    return table->next == NULL || claim_next(table, &write, claims, error);
}
