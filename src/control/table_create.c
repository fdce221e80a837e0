// CreateTable, UpdateTable and DeleteTable. The answers say CREATING, UPDATING and DELETING, but
// everything except the filling of a new index is done by then.
#include "call/table_ops.h"

static struct table_act *new_act(struct api_call *call)
{
    return call_alloc(call, 1, sizeof(struct table_act));
}

enum step create_table_start(struct api_call *call, const void *request)
{
    struct table_act *act = new_act(call);
    return act != NULL && act_create(act, call_engine(call), &call->arena, request, &call->error)
               ? call_act(call, act)
               : STEP_FAILED;
}

void create_table_finish(struct api_call *call, const void *request)
{
    (void)request;
    call_write_change(call, DESCRIBE_CREATED);
}

enum step update_table_start(struct api_call *call, const void *request)
{
    struct table_act *act = new_act(call);
    return act != NULL && act_update(act, call_engine(call), &call->arena, request, &call->error)
               ? call_act(call, act)
               : STEP_FAILED;
}

void update_table_finish(struct api_call *call, const void *request)
{
    (void)request;
    call_write_change(call, DESCRIBE_UPDATED);
}

enum step delete_table_start(struct api_call *call, const void *request)
{
    const struct table_name_request *delete = request;
    struct table_act *act = new_act(call);
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
