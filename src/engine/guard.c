// Calling a table's guard.
#include "engine/engine_internal.h"

const struct write_origin *origin_of(const struct write_job *request)
{
    static const struct write_origin server = {.principal = {(const uint8_t *)"server", 6},
                                               .operation = {(const uint8_t *)"server", 6}};
    return request->origin == NULL ? &server : request->origin;
}

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

void guard_veil_put(const struct guard_veil *veil, struct slice item, struct value_builder *builder)
{
    struct value_iter iter;
    value_open_map(builder);
    value_iter_init(&iter, item);
    while (value_iter_next(&iter)) {
        if (guard_veil_has(veil, iter.name))
            continue;
        value_name(builder, iter.name);
        value_put(builder, iter.value);
    }
    (void)value_close(builder);
}

struct slice guard_veiled(const struct guard_veil *veil, struct slice item, struct arena *arena)
{
    struct value_maker maker;
    value_begin(&maker, LIMIT_ITEM_BYTES);
    guard_veil_put(veil, item, &maker.b);
    return value_end(&maker, arena);
}

bool guard_show(const struct guard *guard, const struct write_job *request, struct slice item,
                struct slice *out, struct error *error)
{
    struct guard_veil veil;
    switch (guard_sight(guard, request->origin, item, &veil)) {
    case GUARD_SEES_NOTHING:
        return true;
    case GUARD_SEES_ALL:
        return image_copy(request->arena, item, out, error);
    case GUARD_SEES_PART:
        break;
    }
    *out = guard_veiled(&veil, item, request->arena);
    return out->len > 0 || error_budget(error);
}

struct guard_effect *guard_effect_add(struct guard_effects *effects, struct arena *arena)
{
    if (effects->count == effects->capacity) {
        size_t capacity = effects->capacity == 0 ? 8 : 2 * effects->capacity;
        struct guard_effect *list = arena_alloc(arena, capacity * sizeof(*list));
        if (list == NULL)
            return NULL;
        if (effects->count > 0)
            memcpy(list, effects->list, effects->count * sizeof(*list));
        effects->list = list;
        effects->capacity = capacity;
    }
    struct guard_effect *effect = &effects->list[effects->count++];
    *effect = (struct guard_effect){.act = 0};
    return effect;
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
            (before.len == 0 || (action->flags & (WRITE_EXPIRED | WRITE_SWEPT))));
}

bool guard_admit(const struct write_job *request, const struct table *table,
                 struct write_action *action, struct error *error)
{
    enum guard_access access = guard_access(table->guard, request->origin, action->item);
    bool derived = action->flags & WRITE_DERIVED;
    action->flags &= ~(unsigned)WRITE_UNSEEN;
    // What the server does by itself is not for the items of tenants alone: events, and what all
    // may read.
    if (access == GUARD_OWN || (derived && access != GUARD_FOREIGN))
        return true;
    if (action->kind != WRITE_CHECK)
        return error_set(error, ERR_ACCESS_DENIED,
                         "The request is bound to a tenant, and writes an item that is not of "
                         "that tenant");
    action->flags |= write_flag_if(access < GUARD_SHARED, WRITE_UNSEEN);
    return true;
}

static bool judge(struct txn *txn, struct write_job *request, struct write_action *action,
                  const struct table *table, struct guard_write *write, struct error *error)
{
    struct slice made = write->after;
    uint64_t taken = txn->steps.taken;
    if (table->guard == NULL)
        return error_set(error, ERR_DAMAGED, "The model of the table cannot be read.");
    write->prepared =
        action->kind == WRITE_PUT && action->prepared == table->guard && !write->derived;
    write->settled = write->prepared ? action->settled : (struct guard_settled){.item = VALUE_NONE};
    if (!table->guard->ops->write(table->guard, write, error))
        return false;
    request->guarded += txn->steps.taken - taken;
    if (request->transaction && request->guarded > LIMIT_TRANSACT_GUARD_WORK)
        return error_validation(error, "The items of the transaction take too much work to check "
                                       "against the model of their table: write fewer at once");
    if (write->after.len > 0 && write->after.ptr != made.ptr &&
        !same_key(table, write->touch && !write->derived ? write->before : action->item,
                  write->after))
        return write->prepared
                   ? error_validation(error, "The primary key of the item would change: by the "
                                             "model, it is made of what is set at each write")
                   : error_set(error, ERR_INTERNAL, "The model has changed meanwhile; try again.");
    if (write->derived)
        return true; // what was to be said of the client's own image stands
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
    struct guard_write next = {.derived = write->derived,
                               .origin = write->origin,
                               .before = write->before,
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

// What is left when the write is described: the guards' part.
static bool judge_write(struct txn *txn, struct write_job *request, struct write_action *action,
                        const struct table *table, struct guard_write *write, struct claims *claims,
                        struct error *error)
{
    write->origin = origin_of(request);
    write->restored = request->restores;
    write->env = &txn->engine->env;
    write->arena = request->arena;
    write->steps = &txn->steps;
    if (table->model.len > 0 && !((action->flags & WRITE_CLAIM) && !write->derived) &&
        !judge(txn, request, action, table, write, error))
        return false;
    *claims = (struct claims){.count = write->claim_count,
                              .list = write->claims,
                              .release_count = write->release_count,
                              .releases = write->releases};
    return table->next == NULL || claim_next(table, write, claims, error);
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
        .for_good = action->flags & (WRITE_EXPIRED | WRITE_SWEPT),
        .before = before,
        .after = *after,
    };
    if (!judge_write(txn, request, action, table, &write, claims, error))
        return false;
    *after = write.after;
    return true;
}

bool guard_judge_affected(struct txn *txn, struct write_job *request, struct write_action *action,
                          const struct plan *plan, const struct plan_change *change,
                          struct slice *after, struct claims *claims, struct error *error)
{
    struct guard_write write = {
        .is_put = change->put,
        .touch = !change->put && change->item.len > 0,
        .derived = true,
        .for_good = change->for_good,
        .before = plan->before.item,
        .after = change->item,
    };
    struct claims none = {.count = 0};
    *claims = none;
    *after = change->item;
    if ((plan->table->model.len == 0 && plan->table->next == NULL) ||
        (change->item.len == 0 && plan->before.item.len == 0))
        return true;
    if (!judge_write(txn, request, action, plan->table, &write, claims, error))
        return false;
    *after = write.after;
    return true;
}
