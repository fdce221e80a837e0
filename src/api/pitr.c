// Point-in-time recovery: whether a table's past is kept, and for how long. It is the change
// log with old images (engine/log.h); the janitor takes away what is older than the period.
#include "api/backup.h"
#include "api/requests_backup.h"
#include "engine/log.h"

static const int64_t day_ms = 24LL * 3600 * 1000;

enum { PERIOD_DEFAULT = 35 };

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

// Every table has continuous backups; what can be turned on is recovery from them.
static void write_description(struct api_call *call, const struct table_settings *settings)
{
    int64_t now_ms = engine_log_moment(call_engine(call));
    bool enabled = settings->pitr_days > 0;
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_object(&w, "ContinuousBackupsDescription");
    json_put_text(&w, "ContinuousBackupsStatus", "ENABLED");
    json_put_object(&w, "PointInTimeRecoveryDescription");
    json_put_text(&w, "PointInTimeRecoveryStatus", enabled ? "ENABLED" : "DISABLED");
    if (enabled) {
        json_put_integer(&w, "RecoveryPeriodInDays", settings->pitr_days);
        json_put_time(&w, "EarliestRestorableDateTime", pitr_earliest_ms(settings, now_ms));
        json_put_time(&w, "LatestRestorableDateTime", now_ms);
    }
    json_close_object(&w);
    json_close_object(&w);
    json_close_object(&w);
}

static bool table_missing(struct error *error, struct slice name)
{
    return error_set(error, ERR_TABLE_NOT_FOUND, "Table not found: %.*s", SLICE_FMT(name));
}

// Terraform and the consoles read this of every table.
enum step describe_continuous_backups_start(struct api_call *call, const void *request)
{
    const struct table_name_request *describe = request;
    struct slice name = table_name_plain(describe->table_name);
    struct table *table = engine_table(call_engine(call), name);
    if (table == NULL) {
        (void)table_missing(&call->error, name);
        return STEP_FAILED;
    }
    struct table_settings settings;
    table_settings_read(table, &settings);
    write_description(call, &settings);
    table_release(table);
    return STEP_READY;
}

struct pitr_update {
    const struct update_continuous_backups_request *request;
    struct engine *engine;
};

static bool pitr_alter(void *context, struct table *current, struct table **next,
                       struct error *error)
{
    const struct pitr_update *update = context;
    const struct point_in_time_recovery_specification *wanted =
        update->request->point_in_time_recovery_specification;
    struct table_settings settings;
    if (current == NULL)
        return table_missing(error, table_name_plain(update->request->table_name));
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
        settings.pitr_ms = pitr_earliest_ms(&settings, engine_log_time(update->engine));
    if (!wanted->point_in_time_recovery_enabled.value) {
        settings.pitr_days = 0;
        settings.pitr_ms = 0;
    } else if (wanted->recovery_period_in_days.set) {
        settings.pitr_days = wanted->recovery_period_in_days.value;
    } else if (!was) {
        settings.pitr_days = PERIOD_DEFAULT;
    }
    if (!was && settings.pitr_days > 0)
        settings.pitr_ms = engine_log_time(update->engine);
    return table_end(table, &settings, next, error);
}

enum step update_continuous_backups_start(struct api_call *call, const void *decoded)
{
    const struct update_continuous_backups_request *request = decoded;
    const struct point_in_time_recovery_specification *wanted =
        request->point_in_time_recovery_specification;
    if (!wanted->point_in_time_recovery_enabled.value && wanted->recovery_period_in_days.set) {
        (void)error_validation(&call->error,
                               "One or more parameter values were invalid: RecoveryPeriodInDays "
                               "cannot be set when PointInTimeRecoveryEnabled is false");
        return STEP_FAILED;
    }
    struct pitr_update *update = call_alloc(call, 1, sizeof(*update));
    if (update == NULL)
        return STEP_FAILED;
    *update = (struct pitr_update){request, call_engine(call)};
    return call_alter(call, table_name_plain(request->table_name), pitr_alter, update);
}

void update_continuous_backups_finish(struct api_call *call, const void *request)
{
    (void)request;
    struct table_settings settings;
    call_changed_settings(call, &settings);
    write_description(call, &settings);
}
