// The records of backups, and the hidden tables that hold their items. What the table was is kept
// in the record "backup/<id>".
#include "backup/backup.h"

#include "base/encode.h"

#include <stdio.h>

static const int64_t system_backup_ms = 35LL * 24 * 3600 * 1000;

// ---- Names ------------------------------------------------------------------------------

struct slice backup_id_new(const struct env *env, struct arena *arena, int64_t now_ms)
{
    uint8_t chance[4];
    char text[BACKUP_ID_MAX];
    env->random(env->context, chance, sizeof(chance));
    int len = snprintf(text, sizeof(text), "%014lld-%08x", (long long)now_ms, be32_get(chance));
    ensure(len > 0 && (size_t)len < sizeof(text));
    return arena_copy(arena, slice_of(text, (size_t)len));
}

static struct slice prefixed(struct arena *arena, const char *prefix, struct slice id)
{
    const char *text = arena_printf(arena, "%s%.*s", prefix, SLICE_FMT(id));
    return text == NULL ? slice_of(NULL, 0) : slice_str(text);
}

struct slice backup_data_name(struct arena *arena, struct slice id)
{
    static const char hidden[] = {TABLE_HIDDEN, 'b', 'a', 'c', 'k', 'u', 'p', '/', 0};
    return prefixed(arena, hidden, id);
}

struct slice backup_record_name(struct arena *arena, struct slice id)
{
    return prefixed(arena, BACKUP_RECORDS, id);
}

// ---- Records ----------------------------------------------------------------------------

#define ROW(kind, field, name) MAP_ROW(backup, kind, field, name)
// clang-format off
static const struct map_row backup_rows[] = {
    ROW(TEXT, id, "id"), ROW(TEXT, name, "name"), ROW(TEXT, table, "table"),
    ROW(SMALL, status, "status"), ROW(FLAG, system, "system"), ROW(INTEGER, created_ms, "created"),
    ROW(INTEGER, expiry_ms, "expiry"), ROW(INTEGER, size, "size"), ROW(INTEGER, items, "items"),
    ROW(TEXT, failure, "failure"), ROW(VALUE, source, "source"),
};
// clang-format on
#undef ROW
const struct map_form backup_form = MAP_FORM(backup, backup_rows);

// ---- Making -----------------------------------------------------------------------------

struct table *backup_data_table(const struct table *source, struct slice name)
{
    struct table *table = table_clone(source);
    if (table == NULL)
        return NULL;
    for (size_t i = 0; i < table->index_count; i++)
        tree_stats_release(table->indexes[i].stats);
    table->index_count = 0;
    table_forget_trees(table);
    table->vector_count = 0;
    table->ttl = (struct table_ttl){.tree = 0};
    table->log_images = 0;
    table->status = TABLE_ACTIVE;
    table->settings = value_empty_map();
    table->name = arena_copy(&table->arena, name);
    if (table->name.ptr == NULL) {
        table_release(table);
        return NULL;
    }
    return table;
}

struct slice backup_source_record(const struct table *table, struct arena *arena)
{
    struct buf record;
    buf_init(&record, 1 << 24);
    table_encode(table, &record);
    return arena_keep(arena, &record);
}

bool backup_of_deleted(struct engine *engine, struct arena *arena, struct table *current,
                       struct table **next, struct record_write *record, struct error *error)
{
    int64_t now_ms = env_now(engine_env(engine));
    struct buf name;
    buf_init(&name, 1024);
    buf_slice(&name, current->name);
    buf_text(&name, "$DeletedTableBackup");
    struct backup backup = {
        .id = backup_id_new(engine_env(engine), arena, now_ms),
        .name = arena_keep(arena, &name),
        .table = current->name,
        .status = BACKUP_AVAILABLE,
        .system = true,
        .created_ms = now_ms,
        .expiry_ms = now_ms + system_backup_ms,
        .size = current->stats->bytes,
        .items = current->stats->items,
        .source = backup_source_record(current, arena),
    };
    if (backup.id.ptr == NULL || backup.name.ptr == NULL || backup.source.ptr == NULL)
        return error_budget(error);
    record->name = backup_record_name(arena, backup.id);
    record->value = map_encode(&backup_form, &backup, arena, error);
    struct slice data = backup_data_name(arena, backup.id);
    if (record->name.ptr == NULL || record->value.ptr == NULL || data.ptr == NULL)
        return error_budget(error);
    struct table *hidden = backup_data_table(current, data);
    if (hidden == NULL)
        return error_budget(error);
    // The items stay where they are; only the table goes.
    hidden->tree = current->tree;
    hidden->uuid = arena_copy(&hidden->arena, current->uuid);
    hidden->stats = tree_stats_hold(current->stats);
    if (hidden->uuid.ptr == NULL) {
        table_release(hidden);
        return error_budget(error);
    }
    *next = hidden;
    return true;
}
