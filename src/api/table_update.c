// UpdateTable. The answer says UPDATING, but everything except the filling of a new index is done
// by then.
#include "tables/table_update.h"
#include "api/stream.h"
#include "api/table_ops.h"

struct updating {
    struct api_call *call;
    struct table_update update;
};

static bool update_alter(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    struct updating *updating = context;
    if (!table_update_alter(&updating->update, current, next, error))
        return false;
    return stream_alter(updating->call, current, *next, error) || table_abandon(*next);
}

enum step update_table_start(struct api_call *call, const void *request)
{
    if (!table_update_check(request, &call->error))
        return STEP_FAILED;
    struct updating *updating = call_alloc(call, 1, sizeof(*updating));
    if (updating == NULL)
        return STEP_FAILED;
    struct table_update *update = &updating->update;
    updating->call = call;
    update->request = request;
    update->name = table_name_plain(update->request->table_name);
    update->now_ms = env_now(engine_env(call_engine(call)));
    return call_alter(call, update->name, update_alter, updating);
}

void update_table_finish(struct api_call *call, const void *request)
{
    (void)request;
    call_write_change(call, DESCRIBE_UPDATED);
}
