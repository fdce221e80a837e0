// Backups after a restart, and with time: copies that a crash has interrupted are made again, and
// those whose time is up go.
#include "api/backup.h"

#include "base/log.h"

static const char record_prefix[] = "backup/";

struct found_backup {
    struct found_backup *next;
    struct slice id;
    struct slice table;
    struct slice table_id;
};

struct search {
    struct arena arena;
    struct found_backup *found;
    int64_t now_ms;
    bool expired; // looks for those whose time is up, else for those not finished
};

static bool search_one(void *context, struct slice name, struct slice record)
{
    struct search *search = context;
    struct backup backup;
    (void)name;
    backup_decode(record, &backup);
    bool wanted = search->expired ? backup.expiry_ms != 0 && backup.expiry_ms <= search->now_ms
                                  : backup.status == BACKUP_CREATING;
    if (!wanted)
        return true;
    struct found_backup *found = arena_zalloc(&search->arena, 1, sizeof(*found));
    if (found == NULL)
        return false;
    found->id = arena_copy(&search->arena, backup.id);
    found->table = arena_copy(&search->arena, backup.table);
    struct table *source = table_decode(backup.source);
    if (source != NULL)
        found->table_id = arena_copy(&search->arena, source->uuid);
    table_release(source);
    found->next = search->found;
    search->found = found;
    return true;
}

struct removal {
    struct api *api;
    struct slice id;
};

// A backup from which a table is still being restored waits.
static bool remove_alter(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    const struct removal *removal = context;
    (void)current;
    (void)next;
    return !restore_reads(removal->api, removal->id) ||
           error_set(error, ERR_BACKUP_IN_USE, "Backup is being restored");
}

static bool remove_backup(struct api *api, struct slice id, struct arena *arena,
                          struct error *error)
{
    struct record_write record = {.name = backup_record_name(arena, id)};
    struct removal removal = {api, id};
    struct table_change change;
    table_change_init(&change, api->engine, error);
    change.name = backup_data_name(arena, id);
    change.alter = remove_alter;
    change.context = &removal;
    change.record_count = 1;
    change.records = &record;
    bool ok = engine_run(api->engine, &change.job) || error->code == ERR_BACKUP_IN_USE;
    table_change_release(&change);
    return ok;
}

struct renewal {
    struct table *source;
    struct backup backup;
    struct slice data_name;
};

static bool renew_alter(void *context, struct table *current, struct table **next,
                        struct error *error)
{
    const struct renewal *renewal = context;
    (void)current; // what had been copied goes with its tree
    *next = backup_data_table(renewal->source, renewal->data_name);
    return *next != NULL || error_budget(error);
}

// Empties the backup's data, and says that it is of this moment.
static bool renew(struct api *api, struct renewal *renewal, struct slice id, struct arena *arena,
                  struct error *error)
{
    struct record_write record = {.name = backup_record_name(arena, id)};
    struct slice old;
    if (!engine_record(api->engine, record.name, arena, &old, error) || old.len == 0)
        return false;
    backup_decode(old, &renewal->backup);
    renewal->backup.created_ms = env_now(engine_env(api->engine));
    renewal->backup.source = backup_source_record(renewal->source, arena);
    if (renewal->backup.source.ptr == NULL)
        return error_budget(error);
    renewal->data_name = backup_data_name(arena, id);
    record.value = backup_encode(&renewal->backup, arena, error);
    if (record.value.ptr == NULL)
        return false;
    struct table_change change;
    table_change_init(&change, api->engine, error);
    change.name = renewal->data_name;
    change.alter = renew_alter;
    change.context = renewal;
    change.record_count = 1;
    change.records = &record;
    bool ok = engine_run(api->engine, &change.job);
    table_change_release(&change);
    return ok;
}

// A copy that a crash has interrupted is made anew, of the table as it is now, settings and all;
// without that table (another one of its name does not count) the backup goes.
static bool resume_one(struct api *api, const struct found_backup *found, struct arena *arena,
                       struct error *error)
{
    struct renewal renewal = {.source = engine_table(api->engine, found->table)};
    if (renewal.source == NULL || !slice_equal(renewal.source->uuid, found->table_id)) {
        table_release(renewal.source);
        return remove_backup(api, found->id, arena, error);
    }
    bool ok = renew(api, &renewal, found->id, arena, error) &&
              backup_begin_copy(api, renewal.source, found->id, error);
    table_release(renewal.source);
    return ok;
}

static void for_each_found(struct api *api, bool expired)
{
    struct search search = {.expired = expired, .now_ms = env_now(engine_env(api->engine))};
    struct error error;
    arena_init(&search.arena, 1 << 26);
    error_init(&error, &search.arena);
    bool ok = engine_records(api->engine, slice_str(record_prefix), slice_of(NULL, 0), search_one,
                             &search, &error);
    if (!ok)
        log_error("backups could not be looked after: %s", error.message);
    for (const struct found_backup *found = search.found; ok && found != NULL;
         found = found->next) {
        error_init(&error, &search.arena);
        if (!(expired ? remove_backup(api, found->id, &search.arena, &error)
                      : resume_one(api, found, &search.arena, &error)))
            log_error("backup %.*s could not be looked after: %s", SLICE_FMT(found->id),
                      error.message);
    }
    arena_release(&search.arena);
}

void backup_resume(struct api *api)
{
    for_each_found(api, false);
}

void backup_expire(struct api *api)
{
    for_each_found(api, true);
}

// ---- Deleting tables ----------------------------------------------------------------------------

struct idle_search {
    struct slice table;
    bool found;
};

static bool idle_one(void *context, struct slice name, struct slice record)
{
    struct idle_search *search = context;
    struct backup backup;
    (void)name;
    backup_decode(record, &backup);
    search->found = backup.status == BACKUP_CREATING && slice_equal(backup.table, search->table);
    return !search->found;
}

bool backup_check_idle(struct api *api, const struct table *table, struct error *error)
{
    struct idle_search search = {.table = table->name};
    if (!engine_records(api->engine, slice_str(record_prefix), slice_of(NULL, 0), idle_one, &search,
                        error))
        return false;
    return !search.found ||
           error_set(error, ERR_RESOURCE_IN_USE,
                     "Attempt to change a resource which is still in use: Table is being backed "
                     "up: %.*s",
                     SLICE_FMT(table->name));
}
