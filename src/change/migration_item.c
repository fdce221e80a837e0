// What a migration writes for one item: the mapping (guard/migration_map.c), completed by the
// table's guard, as the actions of a transaction. Each action asks that its item is still the one
// that was read, so that nothing that others wrote meanwhile is lost.
#include "change/migration.h"

#include "value/digest.h"
#include "work/put_batch.h"

const struct expr_condition *migration_absent(const struct table *table, struct arena *arena,
                                              struct error *error)
{
    struct expr_builder b = {.arena = arena, .error = error};
    // The condition may outlive this version of the table.
    struct slice key = arena_copy(arena, table->keys.parts[0].name);
    b.failed = key.ptr == NULL;
    return expr_build_condition(&b, expr_test(&b, OP_MISSING, expr_name(&b, key), NULL),
                                EXPR_CONDITION);
}

static bool tree_key(const struct migrator *m, struct slice item, struct slice *out,
                     struct error *error)
{
    *out = work_item_key(m->table, item, m->arena);
    return out->ptr != NULL || error_budget(error);
}

struct finding {
    const struct migrator *migrator;
};

static bool find(void *context, struct slice key_item, struct slice *item, struct error *error)
{
    const struct migrator *m = ((const struct finding *)context)->migrator;
    *item = key_item;
    return model_item_now(m->engine, m->table, m->arena, item, error);
}

static bool match(const struct migrator *m, struct write_action *action, struct slice item,
                  struct error *error)
{
    uint8_t digest[DIGEST_BYTES];
    item_digest(item, digest);
    action->if_match = arena_copy(m->arena, slice_of(digest, sizeof(digest)));
    return action->if_match.ptr != NULL || error_budget(error);
}

static bool has_key(const struct migration_plan *plan, struct slice key)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (slice_equal(plan->actions[i].key, key))
            return true;
    }
    return false;
}

// Another action on an item that was read: it goes, or must stay as it is.
static bool add_read(const struct migrator *m, struct migration_plan *plan, struct slice item,
                     bool removed, struct error *error)
{
    struct write_action *action = &plan->actions[plan->count++];
    *action = (struct write_action){
        .kind = removed ? WRITE_DELETE : WRITE_CHECK,
        .table = m->table,
        .item = model_key_of(m->table, item, m->arena),
    };
    plan->changes |= removed;
    plan->removed += removed;
    return (action->item.ptr != NULL || error_budget(error)) && match(m, action, item, error) &&
           write_action_address(action, m->arena, error);
}

// A made item. *covered: it takes the place of the item that it is made of.
static bool add_made(const struct migrator *m, struct migration_plan *plan,
                     struct migration_made *made, struct slice source, struct slice source_key,
                     bool *covered, struct error *error)
{
    struct write_action action = {.kind = WRITE_PUT, .table = m->table, .item = made->item};
    if (!put_batch_check(m->engine, m->table, m->arena, &action.item, error))
        return false;
    action.prepared = m->table->guard;
    made->item = action.item;
    if (!write_action_address(&action, m->arena, error))
        return false;
    if (has_key(plan, action.key))
        return error_validation(error, "two items with the same key are made of one");
    bool is_source = slice_equal(action.key, source_key);
    *covered |= is_source;
    struct slice there = is_source ? source : action.item;
    if (!is_source && !model_item_now(m->engine, m->table, m->arena, &there, error))
        return false;
    // An item that is there is left alone, unless it is to be replaced by another one.
    bool keeps = there.len > 0 && !is_source && !made->replace;
    if (keeps || slice_equal(there, action.item))
        return !is_source || add_read(m, plan, source, false, error);
    action.condition = there.len == 0 ? m->absent : NULL;
    if (there.len > 0 && !match(m, &action, there, error))
        return false;
    plan->actions[plan->count++] = action;
    plan->changes = true;
    plan->made++;
    return true;
}

static bool add_others(const struct migrator *m, struct migration_plan *plan, struct error *error)
{
    for (size_t i = 0; i < plan->result.other_count; i++) {
        const struct migration_other *other = &plan->result.others[i];
        struct slice key;
        if (other->item.len == 0)
            continue;
        if (!tree_key(m, other->key, &key, error))
            return false;
        if (!has_key(plan, key) && !add_read(m, plan, other->item, other->removed, error))
            return false;
    }
    return true;
}

bool migration_plan(const struct migrator *m, struct slice item, struct migration_plan *plan,
                    struct error *error)
{
    struct finding finding = {m};
    struct migration_scope scope = {
        .keys = &m->table->keys,
        .table = m->table->guard == NULL ? NULL : model_guard_table(m->table->guard),
        .env = engine_env(m->engine),
        .arena = m->arena,
        .find = find,
        .context = &finding,
    };
    struct slice source_key;
    bool covered = false;
    plan->changes = false;
    plan->made = 0;
    plan->removed = 0;
    plan->count = 0;
    if (!migration_map(m->step, &scope, item, &plan->result, error))
        return false;
    if (!plan->result.fits)
        return true;
    if (!tree_key(m, item, &source_key, error))
        return false;
    for (size_t i = 0; i < plan->result.made_count; i++) {
        if (!add_made(m, plan, &plan->result.made[i], item, source_key, &covered, error))
            return false;
    }
    if (!covered && !add_read(m, plan, item, !plan->result.keep, error))
        return false;
    return add_others(m, plan, error);
}
