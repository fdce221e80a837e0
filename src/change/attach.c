// Attaching a model to a table, or taking it away: one change of the catalog, which writes the
// model's text, the history and the work to be done in the same batch. From then on writes are
// guarded, and the work goes on (backfill.c).
#include "change/model.h"

#include "tables/change.h"

static bool is_unique_in(const struct model_table *table, const struct model_entity *entity,
                         const struct model_attribute *attribute)
{
    const struct model_entity *other = model_table_entity(table, entity->name);
    const struct model_attribute *same =
        other == NULL ? NULL : model_entity_attribute(other, attribute->name);
    return same != NULL && same->unique && other->guard == MODEL_ENFORCE;
}

// Whether all values that the old model claims will be looked after by the new one. Claims that
// nobody gives back would be in the way for ever, so they are forgotten otherwise, and claimed anew
// by the backfill.
static bool claims_go_on(const struct model_table *before, const struct model_table *after)
{
    for (size_t i = 0; i < before->entity_count; i++) {
        const struct model_entity *entity = &before->entities[i];
        for (size_t j = 0; j < entity->attribute_count; j++) {
            if (entity->attributes[j].unique &&
                !is_unique_in(after, entity, &entity->attributes[j]))
                return false;
        }
    }
    return true;
}

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

// What is left to do is known for sure here, on the writer's thread: a table without items, for
// example, stays without unguarded ones.
static void decide_work(struct model_attachment *a, const struct table *current)
{
    struct model_work *work = &a->work;
    work->progress.total = current->stats->items;
    work->skip_items = !a->concerns_items || work->progress.total == 0;
    work->status = MODEL_APPLYING;
    if (work->skip_items)
        work->progress.total = 0;
    if (!work->skip_items || indexes_differ(a, current))
        return;
    work->status = MODEL_ACTIVE;
    work->phase = MODEL_PHASE_DONE;
    work->progress.ended_ms = work->progress.started_ms;
}

static bool make_records(struct model_attachment *a, struct table *table, struct error *error)
{
    struct table_change *change = a->change;
    change->records = a->records;
    change->record_count = 0;
    if (a->text_record.len > 0)
        a->records[change->record_count++] = (struct record_write){a->text_name, a->text_record};
    struct record_write *history = &a->records[change->record_count++];
    *history = model_version_record(table, &a->version, a->arena, error);
    struct record_write *work = &a->records[change->record_count++];
    work->name = model_work_name(a->arena, table->name);
    work->value = VALUE_NONE;
    if (a->guard != NULL)
        work->value = map_encode(&model_work_form, &a->work, a->arena, error);
    return error->code == ERR_NONE && (work->name.ptr != NULL || error_budget(error));
}

static bool attach_alter(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    struct model_attachment *a = context;
    if (current == NULL || !slice_equal(current->uuid, a->work.table_id))
        return error_set(error, ERR_RESOURCE_NOT_FOUND, "The table was deleted meanwhile.");
    if (!table_check_ready(current, error))
        return false;
    struct table *table = table_clone(current);
    if (table == NULL || !table_set_guard(table, a->text_name, a->guard)) {
        table_release(table);
        return error_budget(error);
    }
    bool go_on = a->guard != NULL && current->guard != NULL &&
                 claims_go_on(model_guard_table(current->guard), a->model);
    if (!go_on)
        table->claims = 0;
    if (!model_version_next(a->shop->engine, current, &a->version.number, error))
        return table_abandon(table);
    a->work.version = a->version.number;
    if (a->guard != NULL)
        decide_work(a, current);
    if (!make_records(a, table, error))
        return table_abandon(table);
    *next = table;
    return true;
}

bool model_attach(struct model_attachment *a, struct table *live, struct error *error)
{
    a->version.time_ms = env_now(engine_env(a->shop->engine));
    a->work.table_id = live->uuid;
    a->work.progress.started_ms = a->version.time_ms;
    struct table_edit edit = {
        .name = live->name, .alter = attach_alter, .context = a, .change = &a->change};
    bool ok = work_edit_table(a->shop, &edit, error);
    if (ok && a->guard != NULL && a->work.status == MODEL_APPLYING)
        model_work_begin(a->shop, live->name);
    return ok;
}
