// Gathering what a model claims before it is attached: the guard that is a table's next one
// (engine/guard.h), and putting it there.
//
// Everything is kept: the tree of claims, how far the walk is, and whether two items had the same
// value. A process that starts sets the guard again before the first write, so that it can go on.
//
// What an image claims is what it would claim once the model has completed it: a value that is to
// be lower case is claimed as such. What completing makes anew each time (uuid(), now()) cannot be
// claimed before it is made; it is left to the backfill.
#include "change/model.h"

#include "base/log.h"
#include "tables/names.h"

#include <stdlib.h>

enum { RECORD_MEMORY = 16 << 20 };

struct gatherer {
    struct guard guard; // first
    struct guard *of;
};

// ---- The guard --------------------------------------------------------------------------------

struct claim_list {
    struct slice completed;
    size_t count;
    struct guard_claim *list;
};

// What the image claims when it is touched; nothing if it cannot be. False as a guard's write.
static bool touch(const struct gatherer *gatherer, const struct guard_write *like,
                  struct slice image, struct claim_list *out, struct error *error)
{
    struct error fault;
    struct guard_write write = {.touch = true,
                                .before = image,
                                .after = image,
                                .env = like->env,
                                .arena = like->arena,
                                .steps = like->steps};
    error_init(&fault, like->arena);
    *out = (struct claim_list){.completed = image};
    if (!gatherer->of->ops->write(gatherer->of, &write, &fault))
        return fault.code == ERR_BUDGET ? error_budget(error) : fault.code != ERR_NONE;
    *out = (struct claim_list){write.after, write.claim_count, write.claims};
    return true;
}

static bool has_claim(const struct claim_list *list, struct slice name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (slice_equal(list->list[i].name, name))
            return true;
    }
    return false;
}

static bool claims_of(const struct gatherer *gatherer, const struct guard_write *like,
                      struct slice image, struct claim_list *out, struct error *error)
{
    struct claim_list again;
    *out = (struct claim_list){.count = 0};
    if (image.len == 0)
        return true;
    if (!touch(gatherer, like, image, out, error))
        return false;
    if (out->count == 0 || slice_equal(out->completed, image))
        return true;
    // Completed twice: what is another value each time does not count.
    if (!touch(gatherer, like, image, &again, error))
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++) {
        if (has_claim(&again, out->list[i].name))
            out->list[kept++] = out->list[i];
    }
    out->count = kept;
    return true;
}

static bool gatherer_write(const struct guard *guard, struct guard_write *write,
                           struct error *error)
{
    const struct gatherer *gatherer = (const struct gatherer *)guard;
    struct claim_list claims;
    struct claim_list releases;
    if (!claims_of(gatherer, write, write->after, &claims, error) ||
        !claims_of(gatherer, write, write->before, &releases, error))
        return false;
    write->claims = claims.list;
    write->claim_count = claims.count;
    write->releases = releases.list;
    write->release_count = releases.count;
    return true;
}

static void gatherer_free(struct guard *guard)
{
    guard_release(((struct gatherer *)guard)->of);
    free(guard);
}

struct guard *gatherer_new(struct guard *guard)
{
    static const struct guard_ops ops = {.write = gatherer_write, .free = gatherer_free};
    struct gatherer *gatherer = calloc(1, sizeof(*gatherer));
    ensure_memory(gatherer);
    gatherer->guard.ops = &ops;
    gatherer->guard.references = 1;
    gatherer->guard.claims = guard->claims;
    gatherer->of = guard_hold(guard);
    return &gatherer->guard;
}

struct guard *gatherer_guard(const struct guard *gatherer)
{
    return ((const struct gatherer *)gatherer)->of;
}

// ---- At the table -----------------------------------------------------------------------------

bool gathering_clashed(struct engine *engine, const struct table *table, bool *clashed,
                       struct error *error)
{
    struct arena arena;
    struct slice record;
    char name[CLASH_NAME_MAX];
    arena_init(&arena, RECORD_MEMORY);
    bool ok =
        engine_record(engine, claims_clash_name(table->next_claims, name), &arena, &record, error);
    *clashed = ok && record.len > 0;
    arena_release(&arena);
    return ok;
}

struct record_write gathering_end(const struct table *table, struct arena *arena)
{
    char name[CLASH_NAME_MAX];
    return (struct record_write){arena_copy(arena, claims_clash_name(table->next_claims, name)),
                                 VALUE_NONE};
}

struct gathering {
    struct engine *engine;
    struct arena arena;
    struct guard *was; // the table's next guard must be this one
    struct guard *next;
    bool keep; // the claims that are there
    struct table_change *change;
    struct record_write clash;
};

static bool gathering_alter(void *context, struct table *current, struct table **next,
                            struct error *error)
{
    struct gathering *g = context;
    if (current == NULL || current->next != g->was)
        return error_set(error, ERR_RESOURCE_NOT_FOUND, "Somebody has applied another model.");
    if (!g->keep) {
        g->clash = gathering_end(current, &g->arena);
        g->change->records = &g->clash;
        g->change->record_count = 1;
        if (g->clash.name.ptr == NULL)
            return error_budget(error);
    }
    *next = table_clone(current);
    if (*next == NULL)
        return error_budget(error);
    table_set_next(*next, g->next, g->keep);
    return true;
}

static bool gathering_set(struct workshop *shop, struct slice table, struct gathering *g,
                          struct error *error)
{
    struct table_edit edit = {
        .name = table, .alter = gathering_alter, .context = g, .change = &g->change};
    arena_init(&g->arena, RECORD_MEMORY);
    bool ok = work_edit_table(shop, &edit, error);
    arena_release(&g->arena);
    return ok;
}

bool gathering_anew(struct workshop *shop, struct slice table, struct guard *was,
                    struct guard *next, struct error *error)
{
    struct gathering g = {.engine = shop->engine, .was = was, .next = next};
    return gathering_set(shop, table, &g, error);
}

// ---- After a restart --------------------------------------------------------------------------

struct guard *gathering_guard(struct workshop *shop, const struct table *table, struct slice text)
{
    struct table *stub = table_clone(table);
    struct guard *guard = NULL;
    if (stub != NULL && table_set_guard(stub, text, NULL))
        guard = guard_make(shop->budget, shop->engine, stub);
    table_release(stub);
    return guard;
}

static void resume_table(struct workshop *shop, struct table *table, struct arena *arena)
{
    struct model_work work;
    struct error error;
    error_init(&error, arena);
    if (table->next_claims == 0 || !model_work_read(shop->engine, table, arena, &work, &error) ||
        work.version == 0 || work.status != MODEL_APPLYING || work.phase != MODEL_PHASE_CLAIMS)
        return;
    struct guard *guard = gathering_guard(shop, table, work.text);
    struct guard *gatherer = guard == NULL ? NULL : gatherer_new(guard);
    struct gathering g = {.engine = shop->engine, .next = gatherer, .keep = true};
    if (gatherer != NULL && !gathering_set(shop, table->name, &g, &error))
        log_error("table %.*s: gathering the values of its model could not go on: %s",
                  SLICE_FMT(table->name), error.message);
    guard_release(gatherer);
    guard_release(guard);
}

void gatherings_resume(struct workshop *shop)
{
    struct table_names names;
    struct slice name;
    struct arena arena;
    arena_init(&arena, RECORD_MEMORY);
    table_names_init(&names, shop->engine, slice_of(NULL, 0));
    while (table_names_next(&names, &name)) {
        struct table *table = engine_table(shop->engine, name);
        arena_reset(&arena);
        if (table != NULL)
            resume_table(shop, table, &arena);
        table_release(table);
    }
    table_names_release(&names);
    arena_release(&arena);
}
