// UpdateTimeToLive and DescribeTimeToLive: which attribute says when an item expires.
#include "call/table_ops.h"

enum step update_time_to_live_start(struct api_call *call, const void *request)
{
    const struct update_time_to_live_request *update = request;
    const struct time_to_live_specification *wanted = update->time_to_live_specification;
    struct table_act *act = call_alloc(call, 1, sizeof(*act));
    if (act == NULL)
        return STEP_FAILED;
    act_time_to_live(act, call_engine(call), update->table_name, wanted->attribute_name,
                     wanted->enabled.value);
    return call_act(call, act);
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
