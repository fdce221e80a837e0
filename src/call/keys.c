// Finding tables and judging keys, with DynamoDB's messages.
#include "call/operation.h"

#include "base/encode.h"
#include "engine/layout.h"
#include "guard/attach.h"
#include "guard/tenant.h"
#include "tables/arn.h"

// The one that was asked for: a decision and what is done see the same version of a table.
static struct table *asked_table(struct api_call *call, struct slice name)
{
    for (struct held_table *held = call->state->tables; held != NULL; held = held->next) {
        if (slice_equal(held->table->name, name))
            return table_hold(held->table);
    }
    return engine_table(call_engine(call), name);
}

bool call_bypasses(const struct caller *caller, struct slice region, struct slice table,
                   int64_t now_ms, struct arena *arena)
{
    struct caller_request request = {
        .caller = caller,
        .action = SLICE_LIT("dolmen:BypassModelPolicies"),
        .action_id = POLICY_ACTION_UNKNOWN,
        .resource = arn_make(arena, &(struct table_arn){.region = region, .table = table}),
        .region = region,
        .now_ms = now_ms};
    struct policy_decision decision;
    if (request.resource.ptr == NULL)
        return false;
    caller_decide(&request, &decision);
    return decision.outcome == POLICY_ALLOW;
}

// A request is free of the policies of models if it may bypass those of each table that it finds.
bool call_policed(struct api_call *call, const struct table *table)
{
    struct api_state *state = call->state;
    if (state->origin.caller == NULL || table->guard == NULL || !table->guard->policies)
        return false;
    bool bypass =
        (!state->policed || state->origin.bypass) &&
        call_bypasses(call->caller, call->region, table->name, call_now(call), &call->arena);
    state->policed = true;
    state->origin.bypass = bypass;
    return !bypass;
}

// What shows or copies whole tables is not for those whom policies bind.
bool call_check_policies(struct api_call *call, const struct table *table)
{
    const struct operation *operation = call->state->operation;
    if (call->state->origin.caller == NULL)
        return true;
    if (table->model.len > 0 && table->guard == NULL)
        return error_set(&call->error, ERR_DAMAGED, "The model of the table cannot be read.");
    return !call_policed(call, table) || operation->bound || operation_silent(operation) ||
           error_set(&call->error, ERR_ACCESS_DENIED,
                     "The model of table %.*s has policies: %.*s needs "
                     "dolmen:BypassModelPolicies",
                     SLICE_FMT(table->name), SLICE_FMT(operation->name));
}

bool call_check_policies_of(struct api_call *call, struct slice name)
{
    if (call->state->origin.caller == NULL)
        return true;
    struct table *table = engine_table(call_engine(call), name);
    bool fine = table == NULL || call_check_policies(call, table);
    if (table != NULL)
        table_release(table);
    return fine;
}

struct table *call_any_table(struct api_call *call, struct slice name_or_arn)
{
    struct slice name = table_name_plain(name_or_arn);
    // Who has a caller and never asked would be let in by mistake.
    if (call->caller != NULL && !call->decision.asked) {
        (void)error_set(&call->error, ERR_ACCESS_DENIED, "Nothing was decided about this request");
        return NULL;
    }
    struct table *table = table_name_hidden(name) ? NULL : asked_table(call, name);
    // A table that is not divided among tenants is not there for any of them.
    if (table != NULL && call->bound && (table->guard == NULL || !table->guard->tenants)) {
        table_release(table);
        table = NULL;
    }
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
    return call_check_policies(call, table) ? table : NULL;
}

struct table *call_table(struct api_call *call, struct slice name_or_arn)
{
    struct table *table = call_any_table(call, name_or_arn);
    if (table == NULL || table->status == TABLE_ACTIVE)
        return table;
    (void)error_set(&call->error, ERR_RESOURCE_NOT_FOUND, "Requested resource not found");
    return NULL;
}

// Room for one more, or NULL: nobody wants it, there are enough, or memory is out.
static struct call_note *note_new(struct api_call *call, struct slice table, size_t parts)
{
    if (!call->notes_keys || call->note_count++ >= LIMIT_NOTES)
        return NULL;
    struct call_note *note =
        arena_alloc(&call->arena, sizeof(*note) + parts * sizeof(note->parts[0]));
    if (note == NULL)
        return NULL;
    *note = (struct call_note){.next = call->notes, .table = table};
    call->notes = note;
    return note;
}

void call_note_key(struct api_call *call, struct slice table, const struct key_schema *keys,
                   struct slice item)
{
    size_t parts = keys->hash_count + keys->range_count;
    struct call_note *note = note_new(call, table, parts);
    for (size_t i = 0; note != NULL && i < parts; i++) {
        struct slice value = value_get(item, keys->parts[i].name);
        if (value.ptr != NULL)
            note->parts[note->count++] = (struct call_noted){keys->parts[i].name, value};
    }
}

void call_note_partition(struct api_call *call, struct slice table, const struct key_schema *keys,
                         const struct slice *values)
{
    struct call_note *note = note_new(call, table, keys->hash_count);
    for (size_t i = 0; note != NULL && i < keys->hash_count; i++)
        note->parts[note->count++] = (struct call_noted){keys->parts[i].name, values[i]};
}

bool call_key(struct api_call *call, const struct table *table, struct slice key,
              struct slice *tree_key)
{
    if (!table_tree_key(table, key, &call->arena, tree_key, &call->error))
        return false;
    if (call->notes_keys)
        call_note_key(call, table->name, &table->keys, key);
    // The rest of it stays, so that different keys are different.
    if (!guard_shows(table->guard, call_reader(call), key))
        be32_put((uint8_t *)(uintptr_t)tree_key->ptr, LAYOUT_NOWHERE);
    return true;
}

bool call_get(struct api_call *call, const struct table *table, struct store_snapshot *snapshot,
              struct slice tree_key, struct item_read *out)
{
    return engine_get(call_engine(call), snapshot, tree_key, out, &call->error) &&
           call_show(call, table, out);
}

bool call_get_many(struct api_call *call, struct store_snapshot *snapshot,
                   const struct slice *tree_keys, size_t *count, struct item_read *out)
{
    uint64_t work = call->state->work;
    return engine_get_many(call_engine(call), snapshot, tree_keys, count, work > 0 ? work : 1, out,
                           &call->error);
}

bool call_show(struct api_call *call, const struct table *table, struct item_read *out)
{
    struct guard_veil veil;
    if (out->item.len == 0 || !guard_binds(table->guard, call_reader(call)))
        return true;
    switch (guard_sight(table->guard, call_reader(call), out->item, &veil)) {
    case GUARD_SEES_ALL:
        return true;
    case GUARD_SEES_NOTHING:
        item_read_release(call_engine(call), out);
        return true;
    case GUARD_SEES_PART:
        break;
    }
    struct slice left = guard_veiled(&veil, out->item, &call->arena);
    if (left.len == 0) {
        item_read_release(call_engine(call), out);
        return error_budget(&call->error);
    }
    out->item = left;
    return true;
}

bool call_complete_tenant(struct api_call *call, struct write_action *action)
{
    return !call->bound || action->kind != WRITE_PUT || action->table->guard == NULL ||
           tenant_complete(model_guard_table(action->table->guard), call->tenant, &call->arena,
                           &action->item) ||
           error_budget(&call->error);
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
    if (!call_complete_tenant(call, action))
        return false;
    if (action->kind == WRITE_PUT &&
        !guard_prepare(engine_env(call_engine(call)), action->table, &call->arena,
                       call_guard_steps(call), action, &call->error))
        return call_guard_over(call);
    if (!write_action_address(action, &call->arena, &call->error))
        return false;
    if (call->notes_keys)
        call_note_key(call, action->table->name, &action->table->keys, action->item);
    return true;
}
