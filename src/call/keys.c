// Finding tables and judging keys, with DynamoDB's messages.
#include "call/operation.h"

#include "engine/layout.h"
#include "guard/attach.h"
#include "requests/shapes.h"
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

// The key of an item with these values of its key attributes, in the order of the schema.
static bool make_tree_key(struct api_call *call, const struct table *table,
                          const struct slice *values, struct slice *tree_key)
{
    // The values have been checked, so that the longest key has room: every byte may be escaped,
    // and each of its two parts has an end mark. The buffer can neither grow nor be released.
    uint8_t room[LAYOUT_PREFIX + 2 * (LIMIT_PARTITION_KEY + LIMIT_SORT_KEY) + 2 * 2];
    struct buf key = {.ptr = room, .cap = sizeof(room), .max = sizeof(room)};
    layout_partition(&key, table->tree, values, table->keys.hash_count);
    for (size_t i = 0; i < table->keys.range_count; i++)
        key_encode(&key, values[table->keys.hash_count + i]);
    ensure(!key.failed);
    *tree_key = arena_copy(&call->arena, buf_view(&key));
    return tree_key->ptr != NULL || error_budget(&call->error);
}

bool call_key(struct api_call *call, const struct table *table, struct slice key,
              struct slice *tree_key)
{
    size_t parts = table->keys.hash_count + table->keys.range_count;
    if (value_count(key) != parts)
        return error_validation(&call->error, "The provided key element does not match the schema");
    struct slice values[2 * LIMIT_KEY_PARTS];
    for (size_t i = 0; i < parts; i++) {
        const struct key_part *part = &table->keys.parts[i];
        struct slice value = values[i] = value_get(key, part->name);
        if (value.len == 0 || value_type(value) != part->type)
            return error_validation(&call->error,
                                    "The provided key element does not match the schema");
        if (!key_value_check(part, i < table->keys.hash_count, value, &call->error))
            return false;
    }
    return make_tree_key(call, table, values, tree_key);
}

bool call_item_key(struct api_call *call, const struct table *table, struct slice item,
                   struct slice *tree_key)
{
    struct slice values[2 * LIMIT_KEY_PARTS];
    for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count; i++) {
        const struct key_part *part = &table->keys.parts[i];
        struct slice value = values[i] = value_get(item, part->name);
        if (value.len == 0)
            return error_validation(&call->error,
                                    "One or more parameter values were invalid: Missing the key "
                                    "%.*s in the item",
                                    SLICE_FMT(part->name));
        if (value_type(value) != part->type)
            return error_validation(&call->error,
                                    "One or more parameter values were invalid: Type mismatch for "
                                    "key %.*s expected: %s actual: %s",
                                    SLICE_FMT(part->name), value_type_name(part->type),
                                    value_type_name(value_type(value)));
        if (!key_value_check(part, i < table->keys.hash_count, value, &call->error))
            return false;
    }
    return table_check_item(table, item, &call->error) &&
           make_tree_key(call, table, values, tree_key);
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
    if (action->kind != WRITE_PUT)
        return call_key(call, action->table, action->item, &action->key);
    if (!guard_prepare(engine_env(call_engine(call)), action->table, &call->arena,
                       call_guard_steps(call), action, &call->error))
        return call_guard_over(call);
    if (!call_item_key(call, action->table, action->item, &action->key))
        return false;
    action->judged = action->table;
    return true;
}
