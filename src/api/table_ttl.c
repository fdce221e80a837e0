// Time to live: which attribute says when an item expires. It is kept with the table's settings.
#include "api/table_ops.h"

static bool ttl_alter(void *context, struct table *current, struct table **next,
                      struct error *error)
{
    const struct update_time_to_live_request *request = context;
    const struct time_to_live_specification *wanted = request->time_to_live_specification;
    struct table_settings settings;
    if (current == NULL)
        return table_not_found(error, table_name_plain(request->table_name));
    if (!table_check_ready(current, error))
        return false;
    table_settings_read(current, &settings);
    bool enabled = settings.ttl_attribute.len > 0;
    if (enabled && !slice_equal(settings.ttl_attribute, wanted->attribute_name))
        return error_validation(error,
                                "TimeToLive is active on a different AttributeName: current "
                                "AttributeName is %.*s",
                                SLICE_FMT(settings.ttl_attribute));
    if (enabled == wanted->enabled.value)
        return error_validation(error, "TimeToLive is already %s",
                                enabled ? "enabled" : "disabled");
    struct table *table = table_begin(current, &settings, error);
    if (table == NULL)
        return false;
    settings.ttl_attribute = enabled ? slice_of(NULL, 0) : wanted->attribute_name;
    return table_end(table, &settings, next, error);
}

enum step update_time_to_live_start(struct api_call *call, const void *request)
{
    const struct update_time_to_live_request *update = request;
    return call_alter(call, table_name_plain(update->table_name), ttl_alter, call->state->request);
}

void update_time_to_live_finish(struct api_call *call, const void *request)
{
    const struct update_time_to_live_request *update = request;
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_object(&w, "TimeToLiveSpecification");
    json_put_flag(&w, "Enabled", update->time_to_live_specification->enabled.value);
    json_put_string(&w, "AttributeName", update->time_to_live_specification->attribute_name);
    json_close_object(&w);
    json_close_object(&w);
}

enum step describe_time_to_live_start(struct api_call *call, const void *request)
{
    const struct table_name_request *describe = request;
    struct table *table = call_own_table(call, describe->table_name);
    if (table == NULL)
        return STEP_FAILED;
    struct table_settings settings;
    table_settings_read(table, &settings);
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_object(&w, "TimeToLiveDescription");
    json_put_text(&w, "TimeToLiveStatus", settings.ttl_attribute.len > 0 ? "ENABLED" : "DISABLED");
    if (settings.ttl_attribute.len > 0)
        json_put_string(&w, "AttributeName", settings.ttl_attribute);
    json_close_object(&w);
    json_close_object(&w);
    return STEP_READY;
}
