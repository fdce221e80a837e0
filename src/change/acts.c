// See acts.h.
#include "change/acts.h"

#include "backup/backup.h"
#include "base/limits.h"
#include "engine/log.h"
#include "stream/stream.h"
#include "tables/arn.h"
#include "tables/change.h"

static struct table_act begin(struct engine *engine, struct arena *arena, struct slice name)
{
    return (struct table_act){
        .name = name, .engine = engine, .arena = arena, .now_ms = env_now(engine_env(engine))};
}

// Streams come and go in the same batch as the table's next version.
static bool with_streams(struct table_act *act, const struct table *current, struct table **next,
                         struct error *error)
{
    return stream_alter(act->change, act->arena, current, *next, error) || table_abandon(*next);
}

// ---- Making and changing ----------------------------------------------------------------------

static bool create_alter(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    struct table_act *act = context;
    if (current != NULL)
        return error_set(error, ERR_RESOURCE_IN_USE, "Table already exists: %.*s",
                         SLICE_FMT(act->name));
    *next = table_spec_make(act->create, act->name, act->now_ms);
    return *next == NULL ? error_budget(error) : with_streams(act, NULL, next, error);
}

bool act_create(struct table_act *act, struct engine *engine, struct arena *arena,
                const struct create_table_request *request, struct error *error)
{
    *act = begin(engine, arena, table_name_plain(request->table_name));
    act->alter = create_alter;
    act->create = request;
    if (!table_spec_check(request, error))
        return false;
    return engine_table_count(engine) < LIMIT_TABLES ||
           error_set(error, ERR_LIMIT_EXCEEDED,
                     "Subscriber limit exceeded: The number of tables exceeds the limit of %d",
                     LIMIT_TABLES);
}

static bool update_alter(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    struct table_act *act = context;
    return table_update_alter(&act->update, current, next, error) &&
           with_streams(act, current, next, error);
}

bool act_update(struct table_act *act, struct engine *engine, struct arena *arena,
                const struct update_table_request *request, struct error *error)
{
    *act = begin(engine, arena, table_name_plain(request->table_name));
    act->alter = update_alter;
    act->update =
        (struct table_update){.request = request, .name = act->name, .now_ms = act->now_ms};
    return table_update_check(request, error);
}

// ---- Deleting ---------------------------------------------------------------------------------

static bool delete_alter(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    struct table_act *act = context;
    struct table_settings settings;
    if (current == NULL)
        return table_not_found(error, act->name);
    if (!table_check_ready(current, error) || !backup_check_idle(act->engine, current, error) ||
        !restore_check_idle(act->engine, current, error))
        return false;
    table_settings_read(current, &settings);
    if (settings.protected)
        return error_validation(error, "Resource cannot be deleted as it is currently protected "
                                       "against deletion. Disable deletion protection first.");
    act->change->records = act->records;
    if (settings.pitr_days > 0 &&
        !backup_of_deleted(act->engine, act->arena, current, next,
                           &act->records[act->change->record_count++], error))
        return false;
    return with_streams(act, current, next, error);
}

void act_delete(struct table_act *act, struct engine *engine, struct arena *arena,
                struct slice name)
{
    *act = begin(engine, arena, table_name_plain(name));
    act->alter = delete_alter;
}

// ---- Settings ---------------------------------------------------------------------------------

static bool ttl_alter(void *context, struct table *current, struct table **next,
                      struct error *error)
{
    const struct table_act *act = context;
    struct table_settings settings;
    if (current == NULL)
        return table_not_found(error, act->name);
    if (!table_check_ready(current, error))
        return false;
    table_settings_read(current, &settings);
    bool enabled = settings.ttl_attribute.len > 0;
    if (enabled && !slice_equal(settings.ttl_attribute, act->ttl_attribute))
        return error_validation(error,
                                "TimeToLive is active on a different AttributeName: current "
                                "AttributeName is %.*s",
                                SLICE_FMT(settings.ttl_attribute));
    if (enabled == act->enabled)
        return error_validation(error, "TimeToLive is already %s",
                                enabled ? "enabled" : "disabled");
    struct table *table = table_begin(current, &settings, error);
    if (table == NULL)
        return false;
    settings.ttl_attribute = enabled ? slice_of(NULL, 0) : act->ttl_attribute;
    return table_end(table, &settings, next, error);
}

void act_time_to_live(struct table_act *act, struct engine *engine, struct slice name,
                      struct slice attribute, bool enabled)
{
    *act = begin(engine, NULL, table_name_plain(name));
    act->alter = ttl_alter;
    act->ttl_attribute = attribute;
    act->enabled = enabled;
}

static bool recovery_alter(void *context, struct table *current, struct table **next,
                           struct error *error)
{
    const struct table_act *act = context;
    struct table_settings settings;
    if (current == NULL)
        return error_set(error, ERR_TABLE_NOT_FOUND, "Table not found: %.*s", SLICE_FMT(act->name));
    if (current->status != TABLE_ACTIVE)
        return error_set(error, ERR_CONTINUOUS_BACKUPS_UNAVAILABLE,
                         "Backups are being enabled for the table: %.*s. Please retry later",
                         SLICE_FMT(current->name));
    struct table *table = table_begin(current, &settings, error);
    if (table == NULL)
        return false;
    bool was = settings.pitr_days > 0;
    // A longer period does not bring back what is gone already.
    if (was)
        settings.pitr_ms = pitr_earliest_ms(&settings, engine_log_time(act->engine));
    if (!act->enabled) {
        settings.pitr_days = 0;
        settings.pitr_ms = 0;
    } else if (act->recovery_days.set) {
        settings.pitr_days = act->recovery_days.value;
    } else if (!was) {
        settings.pitr_days = RECOVERY_DAYS;
    }
    if (!was && settings.pitr_days > 0)
        settings.pitr_ms = engine_log_time(act->engine);
    return table_end(table, &settings, next, error);
}

void act_recovery(struct table_act *act, struct engine *engine, struct slice name, bool enabled,
                  struct field_int days)
{
    *act = begin(engine, NULL, table_name_plain(name));
    act->alter = recovery_alter;
    act->enabled = enabled;
    act->recovery_days = days;
}

// ---- Doing it ---------------------------------------------------------------------------------

bool act_run(struct workshop *shop, struct table_act *act, struct error *error)
{
    struct table_edit edit = {
        .name = act->name, .alter = act->alter, .context = act, .change = &act->change};
    return work_edit_table(shop, &edit, error);
}
