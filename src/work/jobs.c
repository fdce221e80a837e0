// See jobs.h.
#include "work/jobs.h"

#include "engine/layout.h"
#include "engine/log.h"
#include "tables/table_settings.h"
#include "work/gatherer.h"

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
    return arena_keep(arena, &key);
}

struct settling {
    struct engine *engine;
    const struct table *table;
    bool keep;
    struct table_change *change;
    struct record_write clash;
    char clash_name[CLASH_NAME_MAX];
};

// The guard follows its gatherer. Two items with one value were so where they came from.
static bool follow(struct settling *settling, struct table *table)
{
    if (table->next == NULL)
        return true;
    settling->clash.name = claims_clash_name(table->next_claims, settling->clash_name);
    settling->change->records = &settling->clash;
    settling->change->record_count = 1;
    return gatherer_follow(table);
}

// The past of a table begins when it is full: what filled it is not a part of it.
static bool begin_past(const struct settling *settling, struct table *table)
{
    struct table_settings settings;
    table_settings_read(table, &settings);
    if (settings.pitr_later == 0)
        return true;
    settings.pitr_days = settings.pitr_later;
    settings.pitr_later = 0;
    settings.pitr_ms = engine_log_time(settling->engine);
    return table_settings_write(table, &settings);
}

static bool settle(void *context, struct table *current, struct table **next, struct error *error)
{
    struct settling *settling = context;
    if (current == NULL || current->tree != settling->table->tree)
        return error_set(error, ERR_RESOURCE_NOT_FOUND, "Requested resource not found");
    if (!settling->keep)
        return true;
    struct table *table = table_clone(current);
    if (table == NULL || !begin_past(settling, table) || !follow(settling, table)) {
        table_release(table);
        return error_budget(error);
    }
    table->status = TABLE_ACTIVE;
    *next = table;
    return true;
}

bool work_settle_table(struct workshop *shop, const struct table *table, bool keep,
                       struct error *error)
{
    struct settling settling = {.engine = shop->engine, .table = table, .keep = keep};
    struct table_edit edit = {
        .name = table->name, .alter = settle, .context = &settling, .change = &settling.change};
    return work_edit_table(shop, &edit, error);
}
