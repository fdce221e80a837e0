// Before a migration is run: whether the attributes it counts on are there. An expression of
// something missing leaves its attribute out, so that a misspelt name would be nothing, silently.
#include "change/migration.h"

#include "model/parse.h"

enum { NAMES_MOST = 1000, GUESS_ITEMS = 1000, ITEM_MEMORY = 64 << 20 };

struct wanted {
    const struct model_expr *path;
    struct model_guess guess; // among the attributes that there are
    bool found;
};

struct looking {
    struct workshop *shop;
    struct table *table;
    const struct migration_way *way;
    size_t step;
    struct arena *arena;
    struct arena item;
    struct error *error;
    struct diagnostics *found;
    uint64_t taken; // items of this step
    size_t missing;
    size_t count;
    struct wanted *wanted;
};

static void want(void *context, const struct model_expr *path)
{
    struct looking *looking = context;
    if (looking->count == NAMES_MOST || migration_sets(looking->way, looking->step, path->steps[0]))
        return;
    looking->wanted[looking->count++] =
        (struct wanted){.path = path, .guess = model_guess_for(path->steps[0])};
}

// False without an error once there is nothing left to look for.
static bool look_for(struct looking *looking, struct slice names)
{
    struct value_iter iter;
    looking->taken++;
    for (size_t i = 0; i < looking->count; i++) {
        struct wanted *wanted = &looking->wanted[i];
        if (!wanted->found && value_get(names, wanted->path->steps[0]).len > 0) {
            wanted->found = true;
            looking->missing--;
        }
        value_iter_init(&iter, names);
        while (!wanted->found && looking->taken <= GUESS_ITEMS && value_iter_next(&iter))
            model_guess_candidate(&wanted->guess, iter.name);
    }
    return looking->missing > 0;
}

static bool visit(void *context, struct slice item)
{
    struct looking *looking = context;
    struct slice names;
    bool fits;
    struct migration_scope scope = {
        .keys = &looking->table->keys,
        .table = looking->table->guard == NULL ? NULL : model_guard_table(looking->table->guard),
        .env = engine_env(looking->shop->engine),
        .arena = &looking->item,
    };
    arena_reset(&looking->item);
    if (work_hurried(looking->shop))
        return error_set(looking->error, ERR_UNAVAILABLE, "The server is stopping.");
    return migration_fits(&looking->way->steps[looking->step], &scope, item, &fits, &names,
                          looking->error) &&
           (!fits || look_for(looking, names));
}

static bool look_at_step(struct looking *looking)
{
    const struct migration_step *step = &looking->way->steps[looking->step];
    bool whole;
    looking->count = 0;
    looking->taken = 0;
    migration_step_names(step, want, looking);
    looking->missing = looking->count;
    if (looking->count == 0)
        return true;
    if (!model_walk_most(looking->shop->engine, looking->table, 0, visit, looking, &whole,
                         looking->error) &&
        looking->error->code != ERR_NONE)
        return false;
    for (size_t i = 0; looking->taken > 0 && i < looking->count; i++) {
        const struct wanted *wanted = &looking->wanted[i];
        if (!wanted->found)
            (void)diagnostic_error(looking->found, wanted->path->at,
                                   "none of the items that this step takes has \"%.*s\"%s",
                                   SLICE_FMT(wanted->path->steps[0]),
                                   model_guess_say(&wanted->guess, looking->arena));
    }
    return true;
}

bool migration_look(struct workshop *shop, struct table *table, const struct migration_way *way,
                    struct slice file, struct slice text, struct arena *arena, struct error *error)
{
    struct looking looking = {.shop = shop, .table = table, .way = way, .arena = arena};
    looking.error = error;
    looking.found = arena_alloc(arena, sizeof(*looking.found));
    looking.wanted = arena_zalloc(arena, NAMES_MOST, sizeof(*looking.wanted));
    if (looking.found == NULL || looking.wanted == NULL)
        return error_budget(error);
    diagnostics_init(looking.found, arena);
    arena_init(&looking.item, ITEM_MEMORY);
    bool ok = true;
    for (; ok && looking.step < way->count; looking.step++)
        ok = look_at_step(&looking);
    arena_release(&looking.item);
    if (ok && looking.found->errors > 0)
        (void)migration_failed(looking.found, file, text, error);
    return ok && looking.found->errors == 0;
}
