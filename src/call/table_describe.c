// DescribeTable, and the answers to changes of tables.
#include "call/table_ops.h"

static struct table_view call_view(const struct api_call *call, enum describe_moment moment)
{
    return (struct table_view){
        .region = call->region, .now_ms = env_now(engine_env(call_engine(call))), .moment = moment};
}

void call_write_change(struct api_call *call, enum describe_moment moment)
{
    const struct table_change *change = call->state->change;
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_name(&w, "TableDescription");
    struct table_view view = call_view(call, moment);
    table_write_json(&w, moment == DESCRIBE_DELETED ? change->before : change->after,
                     moment == DESCRIBE_UPDATED ? change->before : NULL, &view);
    json_close_object(&w);
}

enum step describe_table_start(struct api_call *call, const void *request)
{
    const struct table_name_request *describe = request;
    struct table *table = call_own_table(call, describe->table_name);
    if (table == NULL)
        return STEP_FAILED;
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_name(&w, "Table");
    struct table_view view = call_view(call, DESCRIBE_NOW);
    table_write_json(&w, table, NULL, &view);
    json_close_object(&w);
    return STEP_READY;
}
