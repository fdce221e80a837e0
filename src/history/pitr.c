// UpdateContinuousBackups and DescribeContinuousBackups: whether a table's past is kept.
#include "engine/log.h"
#include "history/backup_call.h"
#include "requests/requests_control.h"

// Every table has continuous backups; what can be turned on is recovery from them.
static void write_description(struct api_call *call, const struct table_settings *settings)
{
    int64_t now_ms = engine_log_moment(call_engine(call));
    bool enabled = settings->pitr_days > 0;
    struct json_writer w = call_open(call);
    json_put_object(&w, "ContinuousBackupsDescription");
    json_put_text(&w, "ContinuousBackupsStatus", "ENABLED");
    json_put_object(&w, "PointInTimeRecoveryDescription");
    json_put_text(&w, "PointInTimeRecoveryStatus", enabled ? "ENABLED" : "DISABLED");
    if (enabled) {
        json_put_integer(&w, "RecoveryPeriodInDays", settings->pitr_days);
        json_put_time(&w, "EarliestRestorableDateTime", pitr_earliest_ms(settings, now_ms));
        json_put_time(&w, "LatestRestorableDateTime", now_ms);
    }
    json_form(&w, "}}}");
}

// Terraform and the consoles read this of every table.
enum step describe_continuous_backups_start(struct api_call *call, const void *request)
{
    const struct table_name_request *describe = request;
    struct slice name = table_name_plain(describe->table_name);
    struct table *table = engine_table(call_engine(call), name);
    if (table == NULL)
        return step_failed(
            error_set(&call->error, ERR_TABLE_NOT_FOUND, "Table not found: %.*s", SLICE_FMT(name)));
    struct table_settings settings;
    table_settings_read(table, &settings);
    write_description(call, &settings);
    table_release(table);
    return STEP_READY;
}

enum step update_continuous_backups_start(struct api_call *call, const void *decoded)
{
    const struct update_continuous_backups_request *request = decoded;
    const struct point_in_time_recovery_specification *wanted =
        request->point_in_time_recovery_specification;
    if (!wanted->point_in_time_recovery_enabled.value && wanted->recovery_period_in_days.set)
        return step_failed(error_validation(
            &call->error, "One or more parameter values were invalid: RecoveryPeriodInDays "
                          "cannot be set when PointInTimeRecoveryEnabled is false"));
    struct table_act *act = call_alloc(call, 1, sizeof(*act));
    if (act == NULL)
        return STEP_FAILED;
    act_recovery(act, call_engine(call), request->table_name,
                 wanted->point_in_time_recovery_enabled.value, wanted->recovery_period_in_days);
    return call_act(call, act);
}

void update_continuous_backups_finish(struct api_call *call, const void *request)
{
    (void)request;
    struct table_settings settings;
    call_changed_settings(call, &settings);
    write_description(call, &settings);
}
