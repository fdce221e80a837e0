// Backups after a restart, and with time: copies that a crash has interrupted are made again, and
// those whose time is up go.
#include "api/backup.h"

#include "base/log.h"

static const char record_prefix[] = "backup/";

struct found_backup {
    struct found_backup *next;
    struct slice id;
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
                      : backup_begin(api, found->id, NULL)))
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
