// Items that applying a model puts where there are none: `seed ENTITY { … }`. They are put by the
// guard, as PutItem would; an item that is there, whatever it says, is left alone.
#include "change/model.h"

#include "guard/address.h"
#include "model/rules.h"

#include <stdlib.h>

enum { SEED_MEMORY = 32 << 20, SEED_BATCH = 200, SEED_BATCH_BYTES = 2 << 20 };

static bool fail_at(const struct model_seed *seed, struct error *error, const char *why)
{
    return error_validation(error, "seed %.*s, line %u: %s", SLICE_FMT(seed->entity->name),
                            (unsigned)seed->at.line, why);
}

// The primary key of the item that a seed makes, of what it says of the key's attributes.
static bool seed_key(const struct model_seed *seed, struct arena *arena, struct slice *key,
                     struct error *error)
{
    struct model_address address;
    struct error own;
    error_init(&own, arena);
    model_address(seed->entity, &address);
    struct slice named = value_empty_map();
    for (size_t i = 0; i < address.count; i++) {
        struct slice value = value_get(seed->item, address.parts[i].name);
        if (value.len > 0 && !map_set(arena, &named, address.parts[i].name, value, error))
            return false;
    }
    return model_address_key(seed->entity, named, arena, key, &own) ||
           fail_at(seed, error, own.message);
}

// The item as a put would bring it.
static bool seed_item(const struct guard *guard, const struct env *env,
                      const struct model_seed *seed, struct arena *arena, struct slice *item,
                      struct error *error)
{
    struct guard_settled settled;
    struct error own;
    error_init(&own, arena);
    *item = seed->item;
    return (model_guard_address(guard, seed->entity->name, env, arena, NULL, item, &own) &&
            model_guard_prepare(guard, env, arena, NULL, item, &settled, &own)) ||
           fail_at(seed, error, own.message);
}

static bool is_there(struct engine *engine, const struct table *table,
                     const struct model_seed *seed, struct arena *arena, bool *there,
                     struct error *error)
{
    struct slice key;
    struct slice tree_key;
    struct item_read read;
    if (!seed_key(seed, arena, &key, error) ||
        !table_tree_key(table, key, arena, &tree_key, error) ||
        !engine_get(engine, NULL, tree_key, &read, error))
        return false;
    *there = read.item.len > 0;
    item_read_release(engine, &read);
    return true;
}

// ---- Looking ----------------------------------------------------------------------------------

static bool look_at(struct workshop *shop, struct model_target *target, struct arena *arena,
                    struct error *error)
{
    const struct model_rules *rules = target->wanted->model->rules_of;
    for (size_t i = 0; i < rules->seed_count; i++) {
        const struct model_seed *seed = &rules->seeds[i];
        struct slice unused;
        bool there = false;
        if (seed->entity->table != target->wanted)
            continue;
        if (!seed_key(seed, arena, &unused, error) ||
            !seed_item(target->guard, engine_env(shop->engine), seed, arena, &unused, error) ||
            (target->live != NULL && target->impossible == NULL &&
             !is_there(shop->engine, target->live, seed, arena, &there, error)))
            return false;
        target->seeds++;
        target->seeds_missing += !there;
    }
    return true;
}

bool model_plan_seeds(struct workshop *shop, struct model_plan *plan, struct error *error)
{
    struct arena arena;
    bool ok = true;
    arena_init(&arena, SEED_MEMORY);
    for (size_t i = 0; ok && i < plan->count; i++)
        ok = look_at(shop, &plan->targets[i], &arena, error);
    arena_release(&arena);
    return ok;
}

// ---- Putting ----------------------------------------------------------------------------------

// Those that are not there yet go in one commit, as far as they fit.
struct sowing {
    struct workshop *shop;
    struct table *table;
    struct arena arena; // of a batch
    size_t count;
    size_t bytes;
    const struct model_seed *seeds[SEED_BATCH];
    struct write_action actions[SEED_BATCH];
    int64_t *made;
    struct error *error;
};

// Each stands by itself; the first that fails is told.
static bool batch_put(struct sowing *sowing)
{
    struct error own;
    struct item_edit edit = {
        .arena = &sowing->arena, .count = sowing->count, .actions = sowing->actions, .each = true};
    error_init(&own, &sowing->arena);
    bool ok = sowing->count == 0 || work_edit_items(sowing->shop, &edit, &own) ||
              error_set(sowing->error, own.code, "%s", own.message);
    for (size_t i = 0; ok && i < sowing->count; i++) {
        const struct write_result *out = &sowing->actions[i].out;
        *sowing->made += out->failure == ERR_NONE;
        ok = out->failure == ERR_NONE || out->failure == ERR_DUPLICATE_ITEM ||
             fail_at(sowing->seeds[i], sowing->error, out->failure_text);
    }
    arena_reset(&sowing->arena);
    sowing->count = sowing->bytes = 0;
    return ok;
}

static bool batch_add(struct sowing *sowing, const struct model_seed *seed)
{
    const struct env *env = engine_env(sowing->shop->engine);
    struct write_action action = {
        .kind = WRITE_PUT, .flags = WRITE_INSERT, .table = sowing->table, .item = VALUE_NONE};
    struct error own;
    bool there = false;
    error_init(&own, &sowing->arena);
    if (!is_there(sowing->shop->engine, sowing->table, seed, &sowing->arena, &there, &own) ||
        (!there &&
         (!seed_item(sowing->table->guard, env, seed, &sowing->arena, &action.item, &own) ||
          !guard_prepare(env, sowing->table, &sowing->arena, NULL, &action, &own))))
        return error_set(sowing->error, own.code, "%s", own.message);
    if (there)
        return true;
    sowing->seeds[sowing->count] = seed;
    sowing->actions[sowing->count++] = action;
    sowing->bytes += action.item.len;
    return (sowing->count < SEED_BATCH && sowing->bytes < SEED_BATCH_BYTES) || batch_put(sowing);
}

static bool sow(struct sowing *sowing)
{
    const struct model_table *model = model_guard_table(sowing->table->guard);
    const struct model_rules *rules = model->model->rules_of;
    for (size_t i = 0; i < rules->seed_count; i++)
        if (rules->seeds[i].entity->table == model && !batch_add(sowing, &rules->seeds[i]))
            return false;
    return batch_put(sowing);
}

bool model_seed_table(struct workshop *shop, struct slice name, struct slice text, int64_t *made,
                      struct error *error)
{
    struct table *table = engine_table(shop->engine, name);
    *made = 0;
    if (table == NULL || table->guard == NULL || !slice_equal(table->model, text)) {
        table_release(table);
        return true;
    }
    struct sowing *sowing = memory_zeroed(sizeof(*sowing));
    sowing->shop = shop;
    sowing->table = table;
    sowing->made = made;
    sowing->error = error;
    arena_init(&sowing->arena, SEED_MEMORY);
    bool ok = sow(sowing);
    arena_release(&sowing->arena);
    free(sowing);
    table_release(table);
    return ok;
}
