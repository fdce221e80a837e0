// Attaching a model to a table, or taking it away: one change of the catalog, which writes the
// model's text, the history and the work to be done in the same batch. From then on writes are
// guarded, and the work goes on (backfill.c). If claims have to be gathered first, only the work is
// written, and attaches the model when it is through with them. The version of the table that has
// the work also has the gatherer, so that no write is missed in between.
#include "change/model.h"

#include "capture/outbox.h"
#include "retain/retain.h"
#include "tables/change.h"

static bool indexes_differ(const struct model_attachment *a, const struct table *table)
{
    for (size_t i = 0; i < a->model->index_count; i++) {
        if (model_index_compare(&a->model->indexes[i], table) != INDEX_IS_SAME)
            return true;
    }
    for (size_t i = 0; a->work.prune && i < table->index_count; i++) {
        if (table->indexes[i].global && model_table_index(a->model, table->indexes[i].name) == NULL)
            return true;
    }
    return false;
}

// Whether what the model claims has to be gathered first. A table without items has none, and where
// nothing of its items is concerned the claims are those that are there.
static bool must_gather(const struct model_attachment *a, const struct table *current)
{
    return a->guard != NULL && a->gathered == NULL && a->concerns_items && a->guard->claims > 0 &&
           current->stats->items > 0;
}

// What is left to do is known for sure here, on the writer's thread: a table without items, for
// example, stays without unguarded ones.
static void decide_work(struct model_attachment *a, const struct table *current)
{
    struct model_work *work = &a->work;
    work->progress.total = current->stats->items;
    work->skip_items = !a->concerns_items || work->progress.total == 0;
    work->status = MODEL_APPLYING;
    work->phase = MODEL_PHASE_INDEXES;
    if (work->skip_items)
        work->progress.total = 0;
    if (!work->skip_items || indexes_differ(a, current))
        return;
    work->status = MODEL_ACTIVE;
    work->phase = MODEL_PHASE_DONE;
    work->progress.ended_ms = work->progress.started_ms;
}

static bool add_history(struct model_attachment *a, const struct table *table, struct error *error)
{
    struct model_version version = {.number = a->work.version,
                                    .time_ms = env_now(engine_env(a->shop->engine)),
                                    .text = a->work.text,
                                    .file = a->work.file,
                                    .did = a->work.did,
                                    .previous = a->work.previous};
    a->records[a->change->record_count++] = model_version_record(table, &version, a->arena, error);
    return error->code == ERR_NONE;
}

static bool add_records(struct model_attachment *a, const struct table *current,
                        const struct table *table, bool attached, struct error *error)
{
    struct table_change *change = a->change;
    change->records = a->records;
    change->record_count = 0;
    if (a->text_record.len > 0)
        a->records[change->record_count++] = (struct record_write){a->work.text, a->text_record};
    if (attached && !add_history(a, table, error))
        return false;
    if (current->next_claims != 0)
        a->records[change->record_count++] = gathering_end(current, a->arena);
    struct record_write *work = &a->records[change->record_count++];
    work->name = model_work_name(a->arena, table->name);
    work->value = VALUE_NONE;
    if (a->guard != NULL)
        work->value = map_encode(&model_work_form, &a->work, a->arena, error);
    return error->code == ERR_NONE && (work->name.ptr != NULL || error_budget(error));
}

// A number that neither the history nor other work has: that is how work knows whether it is still
// wanted.
static bool choose_version(struct model_attachment *a, const struct table *current,
                           struct error *error)
{
    struct model_work last = {.version = 0};
    int64_t next;
    if (!model_version_next(a->shop->engine, current, &next, error) ||
        (a->gathered == NULL && !model_work_read(a->shop->engine, current, a->arena, &last, error)))
        return false;
    int64_t least = a->gathered != NULL ? a->work.version : last.version + 1;
    a->work.version = next > least ? next : least;
    return true;
}

// Gives the table's next version its guard, with the claims that go with it.
static bool set_guard(const struct model_attachment *a, struct table *table)
{
    if (!table_set_guard(table, a->guard == NULL ? slice_of(NULL, 0) : a->work.text, a->guard))
        return false;
    if (a->gathered != NULL)
        table_take_claims(table);
    else
        table_set_next(table, NULL, false);
    if (a->guard == NULL || a->guard->claims == 0 || table->stats->items == 0)
        table->claims = 0; // the engine makes a new tree where one is needed
    return true;
}

// Values that two items had make the gathered claims worthless, unless somebody insists.
static bool may_attach(const struct model_attachment *a, const struct table *current,
                       struct error *error)
{
    bool clashed;
    if (a->gathered == NULL)
        return true;
    if (current->next != a->gathered)
        return error_set(error, ERR_RESOURCE_NOT_FOUND, "Somebody has applied another model.");
    return gathering_clashed(a->shop->engine, current, &clashed, error) &&
           (a->work.force || !clashed ||
            error_set(error, ERR_CONDITIONAL_CHECK_FAILED, "Values came to be there twice."));
}

// Has the values gathered from now on, by every write.
static void begin_gathering(struct model_attachment *a, struct table *table)
{
    struct guard *gatherer = gatherer_new(a->guard, a->work.text);
    table_set_next(table, gatherer, false);
    guard_release(gatherer);
    a->work.phase = MODEL_PHASE_CLAIMS;
}

static bool attach_alter(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    struct model_attachment *a = context;
    if (current == NULL || !slice_equal(current->uuid, a->work.table_id))
        return error_set(error, ERR_RESOURCE_NOT_FOUND, "The table was deleted meanwhile.");
    if (!table_check_ready(current, error) || !may_attach(a, current, error))
        return false;
    struct table *table = table_clone(current);
    if (table == NULL)
        return error_budget(error);
    bool attached = !must_gather(a, current);
    if (!choose_version(a, current, error))
        return table_abandon(table);
    if (attached && !set_guard(a, table)) {
        (void)table_abandon(table);
        return error_budget(error);
    }
    if (attached &&
        !outbox_alter(a->shop->engine, a->guard == NULL ? NULL : model_guard_table(a->guard), table,
                      error))
        return table_abandon(table);
    if (a->guard != NULL)
        decide_work(a, current);
    if (!attached)
        begin_gathering(a, table);
    if (!add_records(a, current, table, attached, error))
        return table_abandon(table);
    *next = table;
    return true;
}

bool model_attach(struct model_attachment *a, struct table *live, struct error *error)
{
    a->work.table_id = live->uuid;
    if (a->work.progress.started_ms == 0)
        a->work.progress.started_ms = env_now(engine_env(a->shop->engine));
    struct table_edit edit = {
        .name = live->name, .alter = attach_alter, .context = a, .change = &a->change};
    bool ok = work_edit_table(a->shop, &edit, error);
    if (ok && a->gathered == NULL && a->guard != NULL && a->work.status == MODEL_APPLYING)
        model_work_begin(a->shop, live->name);
    // What the new rules remove is looked for at once; if that cannot be written now, within the
    // hour.
    struct error none;
    error_init(&none, a->arena);
    if (ok && a->guard != NULL && a->work.phase != MODEL_PHASE_CLAIMS)
        DISREGARD(retain_begin(a->shop, live->name, &none));
    return ok;
}

// ---- Giving up --------------------------------------------------------------------------------

struct cancelling {
    struct engine *engine;
    struct arena arena;
    struct slice table_id;
    struct table_change *change;
    struct record_write records[2];
};

static bool cancel_alter(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    struct cancelling *cancelling = context;
    struct model_work work = {.version = 0};
    if (current != NULL && slice_equal(current->uuid, cancelling->table_id) &&
        !model_work_read(cancelling->engine, current, &cancelling->arena, &work, error))
        return false;
    if (work.version == 0 || work.phase != MODEL_PHASE_CLAIMS)
        return error_set(error, ERR_RESOURCE_NOT_FOUND, "Nothing is being gathered.");
    *next = table_clone(current);
    if (*next == NULL)
        return error_budget(error);
    table_set_next(*next, NULL, false);
    cancelling->records[0].name = model_work_name(&cancelling->arena, current->name);
    cancelling->records[1] = gathering_end(current, &cancelling->arena);
    cancelling->change->records = cancelling->records;
    cancelling->change->record_count = 2;
    return true;
}

bool model_attach_cancel(struct workshop *shop, const struct table *live, struct error *error)
{
    struct cancelling cancelling = {.engine = shop->engine, .table_id = live->uuid};
    struct table_edit edit = {.name = live->name,
                              .alter = cancel_alter,
                              .context = &cancelling,
                              .change = &cancelling.change};
    arena_init(&cancelling.arena, 1 << 20);
    bool ok = work_edit_table(shop, &edit, error);
    arena_release(&cancelling.arena);
    return ok;
}
