// Gathering what a model claims before it is attached: putting a gatherer (work/gatherer.h) to a
// table, taking it away, going on with it.
//
// Everything is kept: the tree of claims, how far the walk is, and whether two items had the same
// value. A process that starts sets the guard again before the first write, so that it can go on.
#include "change/model.h"

#include "base/log.h"
#include "tables/names.h"

enum { RECORD_MEMORY = 16 << 20 };

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

// Whose values are being gathered: those of the model that is being applied, or of the one that a
// table has had since it began to be filled. Empty if none are.
static struct slice gathered_text(struct workshop *shop, const struct table *table,
                                  struct arena *arena)
{
    struct model_work work;
    struct model_version version;
    struct error error;
    error_init(&error, arena);
    if (table->status == TABLE_CREATING)
        return model_version_last(shop->engine, table, arena, &version, &error) ? version.text
                                                                                : slice_of(NULL, 0);
    bool gathering = model_work_read(shop->engine, table, arena, &work, &error) &&
                     work.version != 0 && work.status == MODEL_APPLYING &&
                     work.phase == MODEL_PHASE_CLAIMS;
    return gathering ? work.text : slice_of(NULL, 0);
}

static void resume_table(struct workshop *shop, struct table *table, struct arena *arena)
{
    struct error error;
    error_init(&error, arena);
    struct slice text = gathered_text(shop, table, arena);
    struct guard *guard = text.len == 0 ? NULL : gathering_guard(shop, table, text);
    struct guard *gatherer = guard == NULL ? NULL : gatherer_new(guard, text);
    struct gathering g = {.engine = shop->engine, .next = gatherer, .keep = true};
    if (gatherer != NULL && !gathering_set(shop, table->name, &g, &error))
        log_error("table %.*s: gathering the values of its model could not go on: %s",
                  SLICE_FMT(table->name), error.message);
    guard_release(gatherer);
    guard_release(guard);
}

void gatherings_resume(struct workshop *shop)
{
    struct table_walk walk;
    struct table *table;
    struct arena arena;
    arena_init(&arena, RECORD_MEMORY);
    table_walk_init(&walk, shop->engine, slice_of(NULL, 0));
    while ((table = table_walk_next(&walk)) != NULL) {
        arena_reset(&arena);
        if (table->next_claims != 0)
            resume_table(shop, table, &arena);
    }
    table_walk_release(&walk);
    arena_release(&arena);
}
