// Filling the table of a restore, from a backup's data or from its source's past. Until it is full
// the table is CREATING, and item operations do not find it.
#include "backup/backup.h"

#include "base/log.h"
#include "engine/log.h"
#include "tables/names.h"
#include "work/put_batch.h"

static const int64_t day_ms = 24LL * 3600 * 1000;

// ---- The past ---------------------------------------------------------------------------------

bool pitr_has(const struct table_settings *settings, int64_t at_ms, int64_t now_ms)
{
    return settings->pitr_days > 0 && at_ms >= settings->pitr_ms &&
           at_ms >= now_ms - (settings->pitr_days + 1) * day_ms;
}

int64_t pitr_earliest_ms(const struct table_settings *settings, int64_t now_ms)
{
    int64_t window = now_ms - settings->pitr_days * day_ms;
    return window > settings->pitr_ms ? window : settings->pitr_ms;
}

bool restore_has_past(struct engine *engine, const struct table *table, int64_t at_ms)
{
    struct table_settings settings;
    table_settings_read(table, &settings);
    return pitr_has(&settings, at_ms, engine_log_time(engine));
}

// ---- The run ----------------------------------------------------------------------------------

struct restore_run {
    struct run run;          // first
    struct history *history; // what the table is filled with, or NULL: it had to wait
};

// The items that the table is to be filled with.
static struct history *open_source(struct workshop *shop, const struct table *target,
                                   struct arena *arena, struct error *error)
{
    struct table_settings settings;
    table_settings_read(target, &settings);
    bool backup = settings.restore_backup.len > 0;
    struct slice name =
        backup ? backup_data_name(arena, settings.restore_backup) : settings.restore_table;
    struct table *source = engine_table(shop->engine, name);
    if (source == NULL ||
        (!backup && !restore_has_past(shop->engine, source, settings.restore_ms))) {
        table_release(source);
        (void)error_set(error, ERR_TABLE_NOT_FOUND, "its source is gone");
        return NULL;
    }
    struct history_limits limits = {shop->note_bytes, work_stops, shop};
    struct history *history = history_open(
        shop->engine, source, backup ? HISTORY_NOW : settings.restore_ms, &limits, error);
    table_release(source);
    return history;
}

// Each try opens the source, but for the first one of a run that could begin at once.
static bool fill(struct restore_run *own)
{
    struct run *run = &own->run;
    if (run->shop->filling != NULL && !run->shop->filling(run->shop, run->table->name, &run->error))
        return false;
    if (own->history == NULL)
        own->history = open_source(run->shop, own->run.table, &run->arena, &run->error);
    if (own->history == NULL)
        return false;
    bool ok = put_batch_copy(run->shop, own->history, own->run.table, &run->error);
    history_close(own->history);
    own->history = NULL;
    return ok;
}

static bool perform(struct run *run)
{
    struct restore_run *own = (struct restore_run *)run;
    struct work_patience patience = {.tries = 0};
    bool ok;
    do {
        ok = fill(own) && work_settle_table(run->shop, run->table, true, &run->error);
    } while (!ok && work_retry(run->shop, &patience, &run->error));
    return ok;
}

// A table that can never be filled goes: nobody could delete it while it is CREATING.
// ERR_RESOURCE_NOT_FOUND: somebody could all the same, for it is the target that is not there.
static void finish(struct run *run, bool ok)
{
    struct restore_run *own = (struct restore_run *)run;
    struct error error;
    if (ok && run->shop->filled != NULL)
        run->shop->filled(run->shop, run->table->name);
    if (ok || run->error.code == ERR_RESOURCE_NOT_FOUND)
        return;
    error_init(&error, &run->arena);
    log_error("the restore of table %.*s failed, the table is removed: %s",
              SLICE_FMT(own->run.table->name), run->error.message);
    if (!work_settle_table(run->shop, run->table, false, &error))
        log_error("table %.*s could not be removed: %s", SLICE_FMT(own->run.table->name),
                  error.message);
}

static void release(struct run *run)
{
    struct restore_run *own = (struct restore_run *)run;
    if (own->history != NULL)
        history_close(own->history);
}

// It has no record: all there is to know is in the table.
static const struct run_kind kind = RUN_KIND("restore", LANE_RESTORE, restore_run, run, NULL, 0,
                                             NULL, perform, finish, NULL, release, NULL);

void restore_begin(struct workshop *shop, struct table *target)
{
    struct run *run = run_new(&kind, target->name, slice_of(NULL, 0));
    struct restore_run *own = (struct restore_run *)run;
    run->table = table_hold(target);
    if (lane_idle(shop, LANE_RESTORE))
        own->history = open_source(shop, target, &run->arena, &run->error);
    error_init(&run->error, &run->arena); // what failed here the run tries again, and tells
    (void)run_start(shop, run);
}

// ---- What is being restored -------------------------------------------------------------------

// Calls back with each table that is being restored, until that is true.
static bool any_restored(struct engine *engine,
                         bool (*visit)(void *context, struct table *table,
                                       const struct table_settings *settings),
                         void *context)
{
    struct table_walk walk;
    struct table_settings settings;
    struct table *table;
    bool found = false;
    table_walk_init(&walk, engine, slice_of(NULL, 0));
    while (!found && (table = table_walk_next(&walk)) != NULL) {
        table_settings_read(table, &settings);
        found = table->status == TABLE_CREATING && settings.restore_ms != 0 &&
                visit(context, table, &settings);
    }
    table_walk_release(&walk);
    return found;
}

static bool reads_backup(void *context, struct table *table, const struct table_settings *settings)
{
    (void)table;
    return slice_equal(settings->restore_backup, *(const struct slice *)context);
}

bool restore_reads(struct engine *engine, struct slice id)
{
    return any_restored(engine, reads_backup, &id);
}

static bool reads_table(void *context, struct table *table, const struct table_settings *settings)
{
    const struct table *source = context;
    (void)table;
    return settings->restore_backup.len == 0 && slice_equal(settings->restore_table, source->name);
}

bool restore_check_idle(struct engine *engine, const struct table *table, struct error *error)
{
    struct table_settings settings;
    table_settings_read(table, &settings);
    return settings.pitr_days == 0 || !any_restored(engine, reads_table, (void *)table) ||
           error_set(error, ERR_RESOURCE_IN_USE,
                     "Attempt to change a resource which is still in use: Table is being restored "
                     "from: %.*s",
                     SLICE_FMT(table->name));
}

static bool begin_one(void *context, struct table *table, const struct table_settings *settings)
{
    (void)settings;
    restore_begin(context, table);
    return false;
}

void restore_resume(struct workshop *shop)
{
    (void)any_restored(shop->engine, begin_one, shop);
}
