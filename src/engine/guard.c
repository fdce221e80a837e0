// Calling a table's guard, and keeping the values that it claims for single items.
//
// Claims are records in a tree of their own: the value's name to the tree key of the item that has
// it. They are written in the batch of the item, so that after a crash they say the same as the
// items.
#include "engine/engine_internal.h"

#include "base/encode.h"

enum { CLAIM_NAME_MAX = 512 };

// ---- The guard ------------------------------------------------------------------------------

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
        return error_set(error, ERR_INTERNAL, "The model of the table cannot be read.");
    // Nothing to write: a delete or a touch of nothing, an item that has not expired after all.
    if (action->kind != WRITE_PUT && after->len == before.len && after->ptr == before.ptr &&
        (before.len == 0 || action->expired))
        return true;
    struct guard_write write = {
        .is_put = action->kind == WRITE_PUT,
        .prepared = action->kind == WRITE_PUT && action->prepared == table->guard,
        .batch = action->batch,
        .touch = action->touch,
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
        !same_key(table, action->touch ? before : action->item, write.after))
        return error_set(error, ERR_INTERNAL, "The model has changed meanwhile; try again.");
    *after = write.after;
    *claims = (struct claims){.count = write.claim_count,
                              .list = write.claims,
                              .release_count = write.release_count,
                              .releases = write.releases};
    action->warnings = write.warnings;
    return true;
}

// ---- Claims -----------------------------------------------------------------------------------

// The key of a claim, in txn->key: a long name is represented by its digest.
static void claim_key(struct txn *txn, const struct table *table, struct slice name)
{
    uint8_t tree[4];
    uint8_t digest[32];
    be32_put(tree, table->claims);
    buf_clear(&txn->key);
    buf_add(&txn->key, tree, sizeof(tree));
    if (name.len > CLAIM_NAME_MAX) {
        sha256_of(name, digest);
        name = slice_of(digest, sizeof(digest));
    }
    buf_slice(&txn->key, name);
}

// Who has it, in the arena; empty if nobody has.
static bool read_owner(struct txn *txn, const struct table *table, struct slice name,
                       struct arena *arena, struct slice *owner, struct error *error)
{
    struct store_value value;
    bool found;
    claim_key(txn, table, name);
    *owner = slice_of(NULL, 0);
    if (!txn_get(txn, buf_view(&txn->key), arena, &value, &found, error))
        return false;
    if (found)
        *owner = arena_copy(arena, value.bytes);
    store_value_release(txn->engine->store, &value);
    return !found || owner->ptr != NULL || error_budget(error);
}

static bool list_has(const struct guard_claim *list, size_t count, struct slice name)
{
    for (size_t i = 0; i < count; i++) {
        if (slice_equal(list[i].name, name))
            return true;
    }
    return false;
}

// Whether an action of the request that has the value gives it back.
static bool given_back(const struct claimant *all, size_t count, const struct table *table,
                       struct slice owner, struct slice name)
{
    for (size_t i = 0; i < count; i++) {
        const struct claims *claims = all[i].claims;
        if (all[i].table == table && slice_equal(all[i].key, owner) &&
            list_has(claims->releases, claims->release_count, name) &&
            !list_has(claims->list, claims->count, name))
            return true;
    }
    return false;
}

static bool taken(const struct table *table, const struct guard_claim *claim, struct error *error)
{
    if (table->guard->ops->taken != NULL)
        return table->guard->ops->taken(table->guard, claim, error);
    return error_validation(error, "%.*s: another item has this value", SLICE_FMT(claim->what));
}

static bool judge_claim(struct txn *txn, struct arena *arena, const struct claimant *all,
                        size_t count, size_t which, size_t position, struct error *error)
{
    const struct claimant *self = &all[which];
    const struct guard_claim *claim = &self->claims->list[position];
    for (size_t i = 0; i < which; i++) {
        if (all[i].table == self->table &&
            list_has(all[i].claims->list, all[i].claims->count, claim->name))
            return taken(self->table, claim, error);
    }
    struct slice owner;
    if (!read_owner(txn, self->table, claim->name, arena, &owner, error))
        return false;
    self->claims->held[position] = slice_equal(owner, self->key);
    if (owner.len == 0 || self->claims->held[position] ||
        given_back(all, count, self->table, owner, claim->name))
        return true;
    return taken(self->table, claim, error);
}

bool claims_judge(struct txn *txn, struct arena *arena, const struct claimant *all, size_t count,
                  size_t which, struct error *error)
{
    struct claims *claims = all[which].claims;
    claims->held = arena_zalloc(arena, claims->count + 1, sizeof(*claims->held));
    claims->owned = arena_zalloc(arena, claims->release_count + 1, sizeof(*claims->owned));
    if (claims->held == NULL || claims->owned == NULL)
        return error_budget(error);
    for (size_t i = 0; i < claims->count; i++) {
        if (!judge_claim(txn, arena, all, count, which, i, error))
            return false;
    }
    for (size_t i = 0; i < claims->release_count; i++) {
        struct slice owner;
        if (list_has(claims->list, claims->count, claims->releases[i].name))
            continue;
        if (!read_owner(txn, all[which].table, claims->releases[i].name, arena, &owner, error))
            return false;
        claims->owned[i] = slice_equal(owner, all[which].key);
    }
    return true;
}

void claims_release(struct txn *txn, const struct claimant *claimant)
{
    const struct claims *claims = claimant->claims;
    for (size_t i = 0; i < claims->release_count; i++) {
        if (!claims->owned[i])
            continue;
        claim_key(txn, claimant->table, claims->releases[i].name);
        store_batch_delete(txn->batch, buf_view(&txn->key));
    }
}

void claims_take(struct txn *txn, const struct claimant *claimant)
{
    const struct claims *claims = claimant->claims;
    for (size_t i = 0; i < claims->count; i++) {
        if (claims->held[i])
            continue;
        claim_key(txn, claimant->table, claims->list[i].name);
        store_batch_put(txn->batch, buf_view(&txn->key), claimant->key);
    }
}
