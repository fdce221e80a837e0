// CreateTable, UpdateTable and DeleteTable. The answers say CREATING, UPDATING and DELETING, but
// everything except the filling of a new index is done by then.
#include "call/table_ops.h"

enum step create_table_start(struct api_call *call, const void *request)
{
    struct table_act *act = call_alloc(call, 1, sizeof(*act));
    if (act == NULL || !act_create(act, call_engine(call), &call->arena, request, &call->error))
        return STEP_FAILED;
    return call_act(call, act);
}

void create_table_finish(struct api_call *call, const void *request)
{
    (void)request;
    call_write_change(call, DESCRIBE_CREATED);
}

enum step update_table_start(struct api_call *call, const void *request)
{
    struct table_act *act = call_alloc(call, 1, sizeof(*act));
    if (act == NULL || !act_update(act, call_engine(call), &call->arena, request, &call->error))
        return STEP_FAILED;
    return call_act(call, act);
}

void update_table_finish(struct api_call *call, const void *request)
{
    (void)request;
    call_write_change(call, DESCRIBE_UPDATED);
}

enum step delete_table_start(struct api_call *call, const void *request)
{
    const struct table_name_request *delete = request;
    struct table_act *act = call_alloc(call, 1, sizeof(*act));
    if (act == NULL)
        return STEP_FAILED;
    act_delete(act, call_engine(call), &call->arena, delete->table_name);
    return call_act(call, act);
}

void delete_table_finish(struct api_call *call, const void *request)
{
    (void)request;
    call_write_change(call, DESCRIBE_DELETED);
}
