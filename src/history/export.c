// ExportTableToPointInTime: checks the request, keeps its record, and leaves the work to a task.
#include "backup/backup.h"
#include "engine/log.h"
#include "history/exchange_call.h"

#include <math.h>

static const int64_t window_min_ms = 15LL * 60 * 1000;
static const int64_t window_max_ms = 24LL * 3600 * 1000;

// What start hands to decide and finish.
struct exporting {
    struct export_record record;
    struct api_call *call;
    bool repeated; // the token has been used before: nothing is begun
};

// ---- Times ------------------------------------------------------------------------

static bool time_within(struct api_call *call, const struct field_double *wanted, int64_t earliest,
                        int64_t now_ms, int64_t *out)
{
    double ms = round(wanted->value * 1000);
    if (!(ms >= (double)(earliest / 1000 * 1000)) || ms > (double)now_ms)
        return error_set(&call->error, ERR_INVALID_EXPORT_TIME,
                         "The specified ExportTime is outside of the point in time recovery "
                         "window.");
    *out = (int64_t)ms > earliest ? (int64_t)ms : earliest;
    return true;
}

static bool choose_window(struct api_call *call,
                          const struct incremental_export_specification *wanted, int64_t earliest,
                          int64_t now_ms, struct export_record *record)
{
    if (wanted == NULL || !wanted->export_from_time.set)
        return error_validation(&call->error,
                                "ExportFromTime must be specified for incremental exports");
    record->to_ms = now_ms;
    if (!time_within(call, &wanted->export_from_time, earliest, now_ms, &record->from_ms))
        return false;
    if (wanted->export_to_time.set &&
        !time_within(call, &wanted->export_to_time, earliest, now_ms, &record->to_ms))
        return false;
    if (record->to_ms <= record->from_ms)
        return error_validation(&call->error, "ExportFromTime must be before ExportToTime");
    if (record->to_ms - record->from_ms < window_min_ms)
        return error_validation(&call->error, "Difference between export from time and export to "
                                              "time is less than 15 minutes");
    if (record->to_ms - record->from_ms > window_max_ms)
        return error_validation(&call->error, "Difference between export from time and export to "
                                              "time is greater than 24 hours");
    record->old_images = !slice_is(wanted->export_view_type, "NEW_IMAGE");
    return true;
}

static bool choose_time(struct api_call *call, const struct export_table_request *request,
                        const struct table_settings *settings, int64_t now_ms,
                        struct export_record *record)
{
    int64_t earliest = pitr_earliest_ms(settings, now_ms);
    record->incremental = slice_is(request->export_type, "INCREMENTAL_EXPORT");
    if (record->incremental) {
        if (request->export_time.set)
            return error_validation(&call->error,
                                    "ExportTime must not be specified for incremental exports");
        return choose_window(call, request->incremental_export_specification, earliest, now_ms,
                             record);
    }
    if (request->incremental_export_specification != NULL)
        return error_validation(&call->error, "IncrementalExportSpecification must not be "
                                              "specified for full exports");
    record->at_ms = now_ms;
    return !request->export_time.set ||
           time_within(call, &request->export_time, earliest, now_ms, &record->at_ms);
}

// ---- The request ------------------------------------------------------------------

// As text, so that a repeated request is known again whatever its default has become.
static struct slice time_text(struct arena *arena, const struct field_double *time)
{
    char *text = time->set ? arena_printf(arena, "%.3f", time->value) : NULL;
    return text == NULL ? slice_of(NULL, 0) : slice_str(text);
}

// The filter is in its form in the record.
static bool init_record(struct api_call *call, const struct export_table_request *request,
                        struct slice filter, struct exchange *base)
{
    static const struct incremental_export_specification none = {.export_view_type = {NULL, 0}};
    const struct incremental_export_specification *incremental =
        request->incremental_export_specification;
    struct arena *arena = &call->arena;
    if (incremental == NULL)
        incremental = &none;
    const struct slice parts[] = {
        table_name_plain(request->table_arn),
        request->s3_bucket,
        request->s3_bucket_owner,
        request->s3_prefix,
        request->s3_sse_algorithm,
        request->s3_sse_kms_key_id,
        request->export_format,
        request->export_type,
        time_text(arena, &request->export_time),
        time_text(arena, &incremental->export_from_time),
        time_text(arena, &incremental->export_to_time),
        incremental->export_view_type,
        filter,
    };
    // Without a filter the digest is what it was before there were any.
    return call_exchange_init(call, base, parts, COUNT_OF(parts) - (filter.len == 0));
}

// On the writer's thread: two requests with one token begin one export.
static bool decide(struct record_job *job, struct engine *engine)
{
    struct exporting *exporting = job->context;
    struct arena *arena = &exporting->call->arena;
    struct slice found;
    struct exchange *base = &exporting->record.base;
    if (!exchange_by_token(engine, "export", base->token, base->started_ms, arena, &found,
                           job->job.error))
        return false;
    if (found.len == 0)
        return true;
    struct export_record before;
    map_decode(&export_form, found, &before);
    if (!slice_equal(before.base.digest, base->digest))
        return error_set(job->job.error, ERR_EXPORT_CONFLICT,
                         "Export with the same client token but different parameters exists: %.*s",
                         SLICE_FMT(base->token));
    exporting->record = before;
    exporting->repeated = true;
    job->count = 0;
    return true;
}

static bool fill_record(struct api_call *call, const struct export_table_request *request,
                        const struct table *table, struct export_record *out)
{
    out->base = (struct exchange){
        .table = table->name,
        .table_id = table->uuid,
        .token = request->client_token,
        .status = EXCHANGE_IN_PROGRESS,
        .bucket = request->s3_bucket,
        .owner = request->s3_bucket_owner,
        .prefix = request->s3_prefix,
    };
    out->ion = slice_is(request->export_format, "ION");
    out->sse_algorithm = request->s3_sse_algorithm;
    out->sse_key = request->s3_sse_kms_key_id;
    return init_record(call, request, out->filter, &out->base);
}

static struct table *find_table(struct api_call *call, struct slice arn)
{
    struct slice name;
    if (!call_table_name(call, arn, &name))
        return NULL;
    struct table *table = call_any_table(call, name);
    if (table == NULL && call->error.code != ERR_ACCESS_DENIED) {
        error_init(&call->error, &call->arena);
        (void)error_set(&call->error, ERR_TABLE_NOT_FOUND, "Table not found: %.*s",
                        SLICE_FMT(name));
    }
    return table;
}

enum step export_table_start(struct api_call *call, const void *decoded)
{
    const struct export_table_request *request = decoded;
    struct exporting *exporting = call_alloc(call, 1, sizeof(*exporting));
    struct table *table = exporting == NULL ? NULL : find_table(call, request->table_arn);
    if (table == NULL)
        return STEP_FAILED;
    struct table_settings settings;
    if (!call_past_settings(call, table, &settings) ||
        !choose_time(call, request, &settings, engine_log_moment(call_engine(call)),
                     &exporting->record) ||
        !export_filter_check(call, request->filter_specification, table,
                             &exporting->record.filter) ||
        !call_check_place(call, request->s3_prefix) ||
        !fill_record(call, request, table, &exporting->record))
        return STEP_FAILED;
    exporting->call = call;
    return call_exchange_submit(
        call, "export", exporting->record.base.id,
        map_encode(&export_form, &exporting->record, &call->arena, &call->error), decide,
        exporting);
}

void export_table_finish(struct api_call *call, const void *request)
{
    (void)request;
    const struct exporting *exporting = call->state->own;
    // If the end has come, the next process finds the record.
    if (!exporting->repeated)
        (void)run_begin(call_shop(call), &export_kind, exporting->record.base.id);
    export_respond(call, &exporting->record);
}
