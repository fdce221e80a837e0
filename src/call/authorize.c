// See authorize.h: one question, from its resource to the answer.
#include "call/authorize.h"

#include "tables/arn.h"
#include "tables/policy.h"

enum { DENIAL_MAX = 8192, RESOURCE_MAX = 4096 };

// ---- The resource -------------------------------------------------------------------------------

// The table that the question is about: held, and what the operation finds under this name
// (call_any_table), so that both see the same version.
static const struct table *find_table(struct api_call *call, struct slice name)
{
    for (struct held_table *held = call->state->tables; held != NULL; held = held->next) {
        if (slice_equal(held->table->name, name))
            return held->table;
    }
    struct table *table =
        name.len == 0 || table_name_hidden(name) ? NULL : engine_table(call_engine(call), name);
    if (table == NULL)
        return NULL;
    struct held_table *held = call_alloc(call, 1, sizeof(*held));
    if (held == NULL) {
        table_release(table);
        return NULL;
    }
    *held = (struct held_table){call->state->tables, table};
    call->state->tables = held;
    return table;
}

// The ARN is written where it stays: the lengths of its parts are known, and one is made for each
// item of a transaction.
static struct slice resource_make(struct api_call *call, const struct ask *ask, struct slice name)
{
    struct table_arn arn = {
        .region = call->region, .table = name, .kind = ask->part, .id = ask->part_id};
    if (ask->resource.len > 0)
        return ask->resource;
    size_t room = call->region.len + name.len + ask->part_id.len + 64;
    if (room > RESOURCE_MAX)
        return SLICE_LIT("*"); // no name of anything is as long
    uint8_t *bytes = arena_alloc(&call->arena, room);
    if (bytes == NULL)
        return slice_of(NULL, 0);
    size_t len = arn_put(bytes, room, &arn);
    return slice_of(bytes, len);
}

// The resource policy that has a say: NULL if there is none. False if there is one that cannot be
// read, behind which nobody is to be let.
static bool resource_policy(const struct ask *ask, const struct table *table,
                            const struct policy **out)
{
    *out = NULL;
    if (table == NULL)
        return true;
    bool of_stream = ask->part != NULL && strcmp(ask->part, "stream") == 0;
    const struct table_policy *there =
        table_policy(table, of_stream ? ask->part_id : SLICE_LIT(POLICY_OF_TABLE));
    if (there == NULL)
        return true;
    *out = there->policy;
    return there->policy != NULL;
}

// ---- The answer ---------------------------------------------------------------------------------

static void note(struct call_decision *decision, const struct caller_request *request,
                 const struct policy_decision *made)
{
    bool refused = made->outcome != POLICY_ALLOW;
    if (decision->refused) // the first one that was refused stays
        return;
    *decision = (struct call_decision){
        .asked = true,
        .refused = refused,
        .outcome = made->outcome,
        .reason = made->reason,
        .kind = made->kind,
        .action = request->action,
        .resource = request->resource,
        .sid = made->sid,
    };
}

// Refuses or, if that is all there is to it, warns once for a call.
static bool deny(struct api_call *call, const struct ask *ask, const struct caller_request *request,
                 const struct policy_decision *made)
{
    struct buf text;
    call->usage.denied++;
    if (call->caller->warn && call->warnings.len > 0)
        return true;
    buf_init(&text, DENIAL_MAX);
    if (call->vague && !call->caller->warn)
        buf_printf(&text, "User: %.*s is not authorized to do this on resource: %.*s",
                   SLICE_FMT(call->caller->principal.arn),
                   SLICE_FMT(ask->table.len > 0 ? ask->table : request->resource));
    else
        caller_denial(request, made, &text);
    struct slice sentence = arena_keep(&call->arena, &text);
    if (!call->caller->warn)
        return error_set(&call->error, ERR_ACCESS_DENIED, "%.*s", SLICE_FMT(sentence));
    call->warnings = sentence;
    return true;
}

// All but the room for texts, which is large and hardly ever used.
static void request_open(struct caller_request *request, struct api_call *call,
                         const struct ask *ask, struct slice name)
{
    request->caller = call->caller;
    request->action = ask->action;
    request->action_id = ask->id;
    request->resource = resource_make(call, ask, name);
    request->resource_policy = NULL;
    request->region = call->region;
    request->now_ms = 0;
    request->lookup = question_lookup;
}

bool call_ask(struct api_call *call, const struct ask *ask)
{
    if (call->caller == NULL)
        return true;
    struct slice name = table_name_plain(ask->table);
    struct caller_request request;
    struct question question = {
        .call = call,
        .ask = ask,
        .request = &request,
        .table = find_table(call, name),
        .row = ask->id == POLICY_ACTION_UNKNOWN ? NULL : policy_action_row(ask->id)};
    request_open(&request, call, ask, name);
    request.context = &question;
    struct policy_decision made = {
        .outcome = POLICY_IMPLICIT_DENY, .reason = POLICY_NOT_ALLOWED, .kind = POLICY_RESOURCE};
    if (request.resource.ptr == NULL)
        return error_budget(&call->error);
    if (resource_policy(ask, question.table, &request.resource_policy))
        caller_decide(&request, &made);
    if (question.failed)
        return call->error.code == ERR_NONE ? error_budget(&call->error) : false;
    note(&call->decision, &request, &made);
    return made.outcome == POLICY_ALLOW || deny(call, ask, &request, &made);
}

bool call_authorize(struct api_call *call)
{
    const struct authorize_row *row = call->state->operation->authorize;
    return row->ask(call, row, call->state->request);
}

bool call_ask_statement(struct api_call *call, const struct partiql_statement *statement)
{
    static const struct {
        struct slice action;
        enum policy_action_id id;
    } kinds[] = {
        [PARTIQL_SELECT] = {ASK_DYNAMODB(PartiQLSelect)},
        [PARTIQL_INSERT] = {ASK_DYNAMODB(PartiQLInsert)},
        [PARTIQL_UPDATE] = {ASK_DYNAMODB(PartiQLUpdate)},
        [PARTIQL_DELETE] = {ASK_DYNAMODB(PartiQLDelete)},
        [PARTIQL_EXISTS] = {ASK_DYNAMODB(PartiQLSelect)},
    };
    bool reads = statement->kind == PARTIQL_SELECT || statement->kind == PARTIQL_EXISTS;
    struct ask ask = {
        .action = kinds[statement->kind].action,
        .id = kinds[statement->kind].id,
        .table = statement->table,
        .part = statement->index.ptr == NULL ? NULL : "index",
        .part_id = statement->index,
        .statement = statement,
        .whole = statement->kind == PARTIQL_INSERT,
        .reads = reads,
        .enclosing = call->operation,
    };
    return call_ask(call, &ask);
}
