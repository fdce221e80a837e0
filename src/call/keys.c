// Finding tables and judging keys, with DynamoDB's messages.
#include "call/operation.h"

#include "guard/attach.h"
#include "tables/arn.h"

struct table *call_any_table(struct api_call *call, struct slice name_or_arn)
{
    struct slice name = table_name_plain(name_or_arn);
    struct table *table = table_name_hidden(name) ? NULL : engine_table(call_engine(call), name);
    if (table == NULL) {
        (void)error_set(&call->error, ERR_RESOURCE_NOT_FOUND, "Requested resource not found");
        return NULL;
    }
    struct held_table *held = call_alloc(call, 1, sizeof(*held));
    if (held == NULL) {
        table_release(table);
        return NULL;
    }
    *held = (struct held_table){call->state->tables, table};
    call->state->tables = held;
    if (call->usage.table.ptr == NULL) {
        call->usage.table = table->name;
        call->usage.table_id = table->tree;
    }
    return table;
}

struct table *call_table(struct api_call *call, struct slice name_or_arn)
{
    struct table *table = call_any_table(call, name_or_arn);
    if (table == NULL || table->status == TABLE_ACTIVE)
        return table;
    (void)error_set(&call->error, ERR_RESOURCE_NOT_FOUND, "Requested resource not found");
    return NULL;
}

bool call_key(struct api_call *call, const struct table *table, struct slice key,
              struct slice *tree_key)
{
    return table_tree_key(table, key, &call->arena, tree_key, &call->error);
}

bool call_guard_over(struct api_call *call)
{
    if (call->error.code != ERR_NONE)
        return false;
    if (call->state->at_once)
        return error_set(&call->error, ERR_COLD, "The guard takes longer than a loop may.");
    return error_validation(&call->error, "The items of the request take too much work to check "
                                          "against the model of their table: write fewer at once");
}

struct steps *call_guard_steps(struct api_call *call)
{
    struct api_state *state = call->state;
    state->guard.limit = state->at_once ? LIMIT_INLINE_STEPS : LIMIT_TRANSACT_GUARD_WORK;
    return &state->guard;
}

bool call_action_key(struct api_call *call, struct write_action *action)
{
    if (action->kind == WRITE_PUT &&
        !guard_prepare(engine_env(call_engine(call)), action->table, &call->arena,
                       call_guard_steps(call), action, &call->error))
        return call_guard_over(call);
    return write_action_address(action, &call->arena, &call->error);
}
