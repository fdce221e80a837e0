// Backups with time: those whose time is up go.
#include "backup/backup.h"

#include "base/log.h"

enum { SEARCH_MEMORY = 1 << 26 };

struct found_backup {
    struct found_backup *next;
    struct slice id;
};

struct search {
    struct arena arena;
    struct found_backup *found;
    int64_t now_ms;
};

static bool search_one(void *context, struct slice name, struct slice record)
{
    struct search *search = context;
    struct backup backup;
    (void)name;
    map_decode(&backup_form, record, &backup);
    if (backup.expiry_ms == 0 || backup.expiry_ms > search->now_ms)
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
    struct engine *engine;
    struct slice id;
};

// A backup from which a table is still being restored waits.
static bool remove_alter(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    const struct removal *removal = context;
    (void)current;
    (void)next;
    return !restore_reads(removal->engine, removal->id) ||
           error_set(error, ERR_BACKUP_IN_USE, "Backup is being restored");
}

// Tries once: the next look comes in a minute.
static bool remove_backup(struct engine *engine, struct slice id, struct arena *arena,
                          struct error *error)
{
    struct record_write record = {.name = backup_record_name(arena, id)};
    struct removal removal = {engine, id};
    struct table_change change;
    table_change_init(&change, engine, error);
    change.name = backup_data_name(arena, id);
    change.alter = remove_alter;
    change.context = &removal;
    change.record_count = 1;
    change.records = &record;
    bool ok = engine_run(engine, &change.job) || error->code == ERR_BACKUP_IN_USE;
    table_change_release(&change);
    return ok;
}

void backup_expire(struct workshop *shop)
{
    struct search search = {.now_ms = env_now(engine_env(shop->engine))};
    struct error error;
    arena_init(&search.arena, SEARCH_MEMORY);
    error_init(&error, &search.arena);
    bool ok = engine_records(shop->engine, SLICE_LIT(BACKUP_RECORDS), slice_of(NULL, 0), search_one,
                             &search, &error);
    if (!ok)
        log_error("backups could not be looked after: %s", error.message);
    for (const struct found_backup *found = search.found; ok && found != NULL;
         found = found->next) {
        error_init(&error, &search.arena);
        if (!remove_backup(shop->engine, found->id, &search.arena, &error))
            log_error("backup %.*s could not be looked after: %s", SLICE_FMT(found->id),
                      error.message);
    }
    arena_release(&search.arena);
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
    map_decode(&backup_form, record, &backup);
    search->found = backup.status == BACKUP_CREATING && slice_equal(backup.table, search->table);
    return !search->found;
}

bool backup_check_idle(struct engine *engine, const struct table *table, struct error *error)
{
    struct idle_search search = {.table = table->name};
    if (!engine_records(engine, SLICE_LIT(BACKUP_RECORDS), slice_of(NULL, 0), idle_one, &search,
                        error))
        return false;
    return !search.found ||
           error_set(error, ERR_RESOURCE_IN_USE,
                     "Attempt to change a resource which is still in use: Table is being backed "
                     "up: %.*s",
                     SLICE_FMT(table->name));
}
