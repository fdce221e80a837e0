// The work of CreateBackup: one snapshot of the table goes into the backup's data, then the record
// says that it is available. The snapshot comes with the run if it can begin at once; nothing is
// pinned for one that has to wait: that copies the table as it is when it has its turn.
//
// A second try (or a process after a crash) throws away what was copied, and begins with a snapshot
// of its own. A copy that can never be made leaves a record that says why, for a day.
#include "backup/backup.h"

#include "base/log.h"
#include "work/put_batch.h"

static const int64_t failed_ms = 24LL * 3600 * 1000;
// A backup may have changes of the minute after it was asked for, as the service's may. One that
// had to wait longer for its turn is of the time when it had it.
static const int64_t same_time_ms = 60LL * 1000;

struct backup_run {
    struct run run; // first
    struct slice data_name;
    struct backup backup;
    struct history *history; // what is copied, or NULL
};

// ---- The record -------------------------------------------------------------------------------

// Another table of that name does not count.
static bool find_source(struct backup_run *own)
{
    struct table *was = table_decode(own->backup.source);
    table_release(own->run.table);
    own->run.table = engine_table(own->run.shop->engine, own->backup.table);
    bool same =
        was != NULL && own->run.table != NULL && slice_equal(was->uuid, own->run.table->uuid);
    table_release(was);
    return same || error_set(&own->run.error, ERR_RESOURCE_NOT_FOUND, "The table was deleted.");
}

static bool load(struct run *run)
{
    struct backup_run *own = (struct backup_run *)run;
    own->data_name = backup_data_name(&run->arena, run->id);
    return (own->data_name.ptr != NULL || error_budget(&run->error)) && find_source(own);
}

// Nothing is written of a backup that was deleted meanwhile.
static bool save(struct run *run, struct slice there, struct run_saving *saving)
{
    (void)run;
    saving->count = there.len > 0;
    return true;
}

static bool empty_alter(void *context, struct table *current, struct table **next,
                        struct error *error)
{
    const struct backup_run *own = context;
    if (current == NULL)
        return error_set(error, ERR_BACKUP_NOT_FOUND, "The backup was deleted.");
    // What had been copied goes with its tree.
    *next = backup_data_table(own->run.table != NULL ? own->run.table : current, own->data_name);
    return *next != NULL || error_budget(error);
}

// Writes the record, and throws away the data.
static bool begin_anew(struct backup_run *own, struct error *error)
{
    struct record_write record = {.name = own->run.record_name};
    record.value = map_encode(&backup_form, &own->backup, &own->run.arena, error);
    struct table_edit edit = {.name = own->data_name,
                              .alter = empty_alter,
                              .context = own,
                              .record_count = 1,
                              .records = &record};
    return record.value.ptr != NULL && work_edit_table(own->run.shop, &edit, error);
}

// ---- The run ----------------------------------------------------------------------------------

// The copy is made of the table as it is now, settings and all.
static bool renew(struct backup_run *own)
{
    struct run *run = &own->run;
    int64_t now_ms = env_now(engine_env(run->shop->engine));
    if (!find_source(own))
        return false;
    if (now_ms - own->backup.created_ms >= same_time_ms)
        own->backup.created_ms = now_ms;
    own->backup.source = backup_source_record(own->run.table, &run->arena);
    if (own->backup.source.ptr == NULL)
        return error_budget(&run->error);
    if (!begin_anew(own, &run->error))
        return false;
    own->history = history_open(run->shop->engine, own->run.table, HISTORY_NOW, NULL, &run->error);
    return own->history != NULL;
}

static void close_history(struct backup_run *own)
{
    if (own->history != NULL)
        history_close(own->history);
    own->history = NULL;
}

static bool copy(struct backup_run *own)
{
    struct run *run = &own->run;
    struct table *data = engine_table(run->shop->engine, own->data_name);
    if (data == NULL)
        return error_set(&run->error, ERR_BACKUP_NOT_FOUND, "The backup was deleted.");
    bool ok = put_batch_copy(run->shop, own->history, data, &run->error);
    own->backup.items = data->stats->items;
    own->backup.size = data->stats->bytes;
    table_release(data);
    return ok;
}

static bool perform(struct run *run)
{
    struct backup_run *own = (struct backup_run *)run;
    struct work_patience patience = {.tries = 0};
    bool ok;
    do {
        ok = (own->history != NULL || renew(own)) && copy(own);
        close_history(own);
    } while (!ok && work_retry(run->shop, &patience, &run->error));
    return ok;
}

static void fail(struct backup_run *own)
{
    struct run *run = &own->run;
    struct error error;
    error_init(&error, &run->arena);
    own->backup.status = BACKUP_FAILED;
    own->backup.failure = slice_str(run->error.message);
    own->backup.expiry_ms = env_now(engine_env(run->shop->engine)) + failed_ms;
    own->backup.items = 0;
    own->backup.size = 0;
    log_error("backup %.*s of table %.*s failed: %s", SLICE_FMT(run->id),
              SLICE_FMT(own->backup.table), run->error.message);
    if (!begin_anew(own, &error))
        log_error("the state of backup %.*s could not be written: %s", SLICE_FMT(run->id),
                  error.message);
}

static void finish(struct run *run, bool ok)
{
    struct backup_run *own = (struct backup_run *)run;
    if (ok) {
        own->backup.status = BACKUP_AVAILABLE;
        run_save(run);
    } else if (run->error.code != ERR_BACKUP_NOT_FOUND) {
        fail(own);
    }
}

static void release(struct run *run)
{
    close_history((struct backup_run *)run);
}

static const struct run_kind kind =
    RUN_KIND("backup", LANE_BACKUP, backup_run, backup, &backup_form, BACKUP_CREATING, load,
             perform, finish, NULL, release, save);

void backup_begin(struct workshop *shop, struct slice id, struct history *history)
{
    struct run *run = run_new(&kind, id, slice_of(NULL, 0));
    ((struct backup_run *)run)->history = history;
    (void)run_start(shop, run);
}

void backup_resume(struct workshop *shop)
{
    run_resume(shop, &kind, false);
}
