// EnableKinesisStreamingDestination, DisableKinesisStreamingDestination,
// UpdateKinesisStreamingDestination and DescribeKinesisStreamingDestination. See kinesis.h for what
// is kept, and kinesis_outlet.c for the delivery.
//
// As in the service a table has one active destination at a time, and disabled ones stay listed.
// Changes are answered with ENABLING, DISABLING and UPDATING, and have happened by then.
#include "capture/kinesis.h"
#include "call/table_ops.h"

static const char no_delivery[] = "Records are not delivered: the server was started without "
                                  "--kinesis-root and --kinesis-endpoint";

// ---- Changing -----------------------------------------------------------------------------------

enum kinesis_action { KINESIS_ENABLE, KINESIS_DISABLE, KINESIS_UPDATE };

struct kinesis_change {
    const struct kinesis_destination_request *request;
    struct engine *engine;
    enum kinesis_action action;
};

static struct slice wanted_precision(const struct kinesis_destination_request *request)
{
    return request->configuration == NULL ? slice_of(NULL, 0) : request->configuration->precision;
}

static struct slice entry_precision(struct slice entry)
{
    struct slice precision = map_text(entry, "precision");
    return precision.len == 0 ? SLICE_LIT("MILLISECOND") : precision;
}

// Whether a destination is active, other than the one of that ARN.
static bool another_active(struct slice destinations, struct slice arn)
{
    struct value_iter iter;
    if (destinations.len == 0)
        return false;
    value_iter_init(&iter, destinations);
    while (value_iter_next(&iter))
        if (!slice_equal(iter.name, arn) && map_flag(iter.value, "active"))
            return true;
    return false;
}

static bool state_check(const struct kinesis_change *change, const struct table *table,
                        struct slice destinations, struct slice entry, struct error *error)
{
    const struct kinesis_destination_request *request = change->request;
    bool active = map_flag(entry, "active");
    switch (change->action) {
    case KINESIS_ENABLE:
        return (!active && !another_active(destinations, request->stream_arn)) ||
               error_validation(error, "Table is not in a valid state to enable Kinesis Streaming "
                                       "Destination: KinesisStreamingDestination must be DISABLED "
                                       "or ENABLE_FAILED to perform ENABLE operation.");
    case KINESIS_DISABLE:
        return active ||
               error_validation(error, "Table is not in a valid state to disable Kinesis Streaming "
                                       "Destination: KinesisStreamingDestination must be ACTIVE to "
                                       "perform DISABLE operation.");
    case KINESIS_UPDATE:
        break;
    }
    if (!active)
        return error_validation(error,
                                "Table is not in a valid state to enable Kinesis Streaming "
                                "Destination: No streaming destination with streamArn: %.*s found "
                                "for table with tableName: %.*s",
                                SLICE_FMT(request->stream_arn), SLICE_FMT(table->name));
    return !slice_equal(wanted_precision(request), entry_precision(entry)) ||
           error_validation(error,
                            "Invalid Request: Precision is already set to the desired value of "
                            "%.*s for tableId: %.*s, kdsArn: %.*s",
                            SLICE_FMT(entry_precision(entry)), SLICE_FMT(table->uuid),
                            SLICE_FMT(request->stream_arn));
}

static struct slice entry_make(struct table *table, const struct kinesis_change *change,
                               struct slice before, struct error *error)
{
    int64_t now = (int64_t)engine_sequence(change->engine);
    bool enable = change->action == KINESIS_ENABLE;
    bool disable = change->action == KINESIS_DISABLE;
    struct slice precision = disable ? entry_precision(before) : wanted_precision(change->request);
    struct value_maker maker;
    map_begin(&maker);
    map_put_flag(&maker, "active", !disable);
    map_put_text(&maker, "precision", precision);
    map_put_integer(&maker, "start", enable ? now : map_integer(before, "start"));
    map_put_integer(&maker, "end", disable ? now : 0);
    return map_end(&maker, &table->arena, error);
}

static bool kinesis_edit(void *context, struct table *table, struct table_settings *settings,
                         struct error *error)
{
    const struct kinesis_change *change = context;
    struct slice arn = change->request->stream_arn;
    if (table == NULL)
        return table_not_found(error, table_name_plain(change->request->table_name));
    struct slice before = map_value(settings->kinesis, arn);
    if (!state_check(change, table, settings->kinesis, before, error))
        return false;
    struct slice entry = entry_make(table, change, before, error);
    settings->log_both = change->action != KINESIS_DISABLE;
    return entry.ptr != NULL && map_set(&table->arena, &settings->kinesis, arn, entry, error);
}

static enum step start_change(struct api_call *call, const void *request,
                              enum kinesis_action action)
{
    struct kinesis_change change = {request, call_engine(call), action};
    struct slice name;
    if (!call_check_policies_of(call, table_name_plain(change.request->table_name)))
        return STEP_FAILED;
    if (!kinesis_stream_name(change.request->stream_arn, &name))
        return step_failed(error_validation(
            &call->error, "One or more parameter values were invalid: Invalid StreamArn: %.*s",
            SLICE_FMT(change.request->stream_arn)));
    return call_edit(call, table_name_plain(change.request->table_name), kinesis_edit, &change,
                     sizeof(change));
}

static void finish_change(struct api_call *call, const struct kinesis_destination_request *request,
                          const char *status, const char *configuration)
{
    struct json_writer w = call_open(call);
    json_put_string(&w, "TableName", call->state->change->after->name);
    json_put_string(&w, "StreamArn", request->stream_arn);
    json_put_text(&w, "DestinationStatus", status);
    if (request->configuration != NULL) {
        json_put_object(&w, configuration);
        if (request->configuration->precision.len > 0)
            json_put_string(&w, "ApproximateCreationDateTimePrecision",
                            request->configuration->precision);
        json_close_object(&w);
    }
    json_close_object(&w);
}

// ---- Operations ---------------------------------------------------------------------------------

enum step enable_kinesis_streaming_destination_start(struct api_call *call, const void *request)
{
    return start_change(call, request, KINESIS_ENABLE);
}

void enable_kinesis_streaming_destination_finish(struct api_call *call, const void *request)
{
    finish_change(call, request, "ENABLING", "EnableKinesisStreamingConfiguration");
}

enum step disable_kinesis_streaming_destination_start(struct api_call *call, const void *request)
{
    return start_change(call, request, KINESIS_DISABLE);
}

void disable_kinesis_streaming_destination_finish(struct api_call *call, const void *request)
{
    finish_change(call, request, "DISABLING", "EnableKinesisStreamingConfiguration");
}

enum step update_kinesis_streaming_destination_start(struct api_call *call, const void *request)
{
    if (wanted_precision(request).len == 0)
        return step_failed(error_validation(
            &call->error, "Streaming destination cannot be updated with given parameters: "
                          "UpdateKinesisStreamingConfiguration cannot be null or contain only "
                          "null values"));
    return start_change(call, request, KINESIS_UPDATE);
}

void update_kinesis_streaming_destination_finish(struct api_call *call, const void *request)
{
    finish_change(call, request, "UPDATING", "UpdateKinesisStreamingConfiguration");
}

static void write_destination(struct json_writer *w, const struct api_call *call, struct slice arn,
                              struct slice entry)
{
    bool active = map_flag(entry, "active");
    json_open_object(w);
    json_put_string(w, "StreamArn", arn);
    json_put_text(w, "DestinationStatus", active ? "ACTIVE" : "DISABLED");
    if (active && call->api->kinesis == NULL)
        json_put_text(w, "DestinationStatusDescription", no_delivery);
    json_put_string(w, "ApproximateCreationDateTimePrecision", entry_precision(entry));
    json_close_object(w);
}

enum step describe_kinesis_streaming_destination_start(struct api_call *call, const void *request)
{
    const struct table_name_request *describe = request;
    struct table_settings settings;
    struct value_iter iter;
    struct table *table = call_own_table(call, describe->table_name);
    if (table == NULL)
        return STEP_FAILED;
    table_settings_read(table, &settings);
    struct json_writer w = call_open(call);
    json_put_string(&w, "TableName", table->name);
    json_put_array(&w, "KinesisDataStreamDestinations");
    if (settings.kinesis.len > 0) {
        value_iter_init(&iter, settings.kinesis);
        while (value_iter_next(&iter))
            write_destination(&w, call, iter.name, iter.value);
    }
    json_close_array(&w);
    json_close_object(&w);
    return STEP_READY;
}
