// See jobs.h.
#include "work/jobs.h"

#include "engine/layout.h"

static bool edit_table(struct workshop *shop, const void *context, struct error *error)
{
    const struct table_edit *edit = context;
    struct table_change change;
    table_change_init(&change, shop->engine, error);
    change.name = edit->name;
    change.alter = edit->alter;
    change.context = edit->context;
    change.record_count = edit->record_count;
    change.records = edit->records;
    if (edit->change != NULL)
        *edit->change = &change;
    bool ok = engine_run(shop->engine, &change.job);
    table_change_release(&change);
    return ok;
}

static bool edit_records(struct workshop *shop, const void *context, struct error *error)
{
    const struct record_edit *edit = context;
    struct record_job job;
    record_job_init(&job, error);
    job.decide = edit->decide;
    job.context = edit->context;
    job.count = edit->count;
    job.writes = edit->writes;
    return engine_run(shop->engine, &job.job);
}

struct item_job {
    struct write_job job; // first
    const struct item_edit *edit;
};

static struct record_write record_of(struct write_job *job)
{
    const struct item_edit *edit = ((struct item_job *)job)->edit;
    return edit->record(edit->context, job->at);
}

static bool edit_items(struct workshop *shop, const void *context, struct error *error)
{
    const struct item_edit *edit = context;
    struct item_job own = {.edit = edit};
    struct write_job *job = &own.job;
    write_job_init(job, shop->engine, edit->arena, error);
    job->count = edit->count;
    job->actions = edit->actions;
    job->each = edit->each;
    if (edit->record != NULL)
        job->record = record_of;
    for (size_t i = 0; i < edit->count; i++)
        edit->actions[i].out.failure = ERR_NONE; // of an earlier try
    bool ok = engine_run_beside(shop->engine, &job->job);
    if (edit->settled != NULL)
        edit->settled(edit->context, ok ? edit->count : job->committed);
    write_job_release(job);
    return ok;
}

static bool patiently(struct workshop *shop,
                      bool (*try)(struct workshop *shop, const void *edit, struct error *error),
                      const void *edit, struct error *error)
{
    struct work_patience patience = {.tries = 0};
    bool ok;
    do {
        ok = try(shop, edit, error);
    } while (!ok && work_retry(shop, &patience, error));
    return ok;
}

bool work_edit_table(struct workshop *shop, const struct table_edit *edit, struct error *error)
{
    return patiently(shop, edit_table, edit, error);
}

bool work_edit_records(struct workshop *shop, const struct record_edit *edit, struct error *error)
{
    return patiently(shop, edit_records, edit, error);
}

bool work_edit_items(struct workshop *shop, const struct item_edit *edit, struct error *error)
{
    return patiently(shop, edit_items, edit, error);
}

struct slice work_item_key(const struct table *table, struct slice item, struct arena *arena)
{
    struct buf key;
    buf_init(&key, STORE_KEY_MAX);
    layout_item_key(&key, table->tree, &table->keys, item);
    struct slice copy = key.failed ? slice_of(NULL, 0) : arena_copy(arena, buf_view(&key));
    buf_release(&key);
    return copy;
}

bool table_settle(void *context, struct table *current, struct table **next, struct error *error)
{
    const struct table_settling *settling = context;
    if (current == NULL || current->tree != settling->table->tree)
        return error_set(error, ERR_RESOURCE_NOT_FOUND, "Requested resource not found");
    if (!settling->keep)
        return true;
    *next = table_clone(current);
    if (*next == NULL)
        return error_budget(error);
    (*next)->status = TABLE_ACTIVE;
    return true;
}
