// ExecuteStatement, and what all operations of PartiQL do with one statement: parse it, plan it
// over its table, and turn the plan into what the item operations execute, too.
#include "items/partiql.h"

#include "call/authorize.h"

// ---- Statements ---------------------------------------------------------------------------------

bool statement_parse(struct api_call *call, struct call_statement *statement)
{
    const struct field_list *list = &statement->request->parameters;
    const struct slice *values;
    if (!params_list(call, list, &values))
        return false;
    statement->parsed = partiql_parse(&call->arena, statement->request->statement, list->count,
                                      values, &call->error);
    if (statement->parsed == NULL)
        return false;
    // No statement can name the tables that are the api's own.
    if (table_name_hidden(statement->parsed->table))
        return error_set(&call->error, ERR_RESOURCE_NOT_FOUND, "Requested resource not found");
    return call->caller == NULL || call_ask_statement(call, statement->parsed);
}

bool statement_target(struct page_call *p, const struct partiql_statement *parsed)
{
    struct error *error = &p->call->error;
    if (!page_find_target(p, parsed->table, (struct slice){NULL, 0}) || parsed->index.ptr == NULL)
        return error->code == ERR_NONE;
    const struct index *index = table_index(p->page.table, parsed->index);
    if (index == NULL || index->status == INDEX_DELETING)
        return error_validation(error, "The table does not have the specified index");
    if (index->global && p->page.consistent)
        return error_validation(error, "Strongly consistent read is not supported on Global "
                                       "Secondary Indexes");
    return page_find_target(p, parsed->table, parsed->index);
}

bool statement_plan_item(struct api_call *call, struct call_statement *statement)
{
    struct page_call p = {.call = call};
    const struct partiql_statement *parsed = statement->parsed;
    if (!statement_target(&p, parsed))
        return false;
    statement->table = p.page.table;
    return partiql_plan(&call->arena, parsed, p.page.table, p.page.index, &statement->plan,
                        &call->error);
}

bool statement_make_read(struct api_call *call, struct call_statement *statement)
{
    return call_key(call, statement->table, statement->plan.key, &statement->key) &&
           params_check_keys(&call->error, statement->table,
                             (struct expressions){.projection = statement->plan.projection});
}

bool statement_make_action(struct api_call *call, struct call_statement *statement,
                           struct write_action *action)
{
    static const enum write_kind kinds[] = {
        [PARTIQL_INSERT] = WRITE_PUT,
        [PARTIQL_UPDATE] = WRITE_UPDATE,
        [PARTIQL_DELETE] = WRITE_DELETE,
        [PARTIQL_EXISTS] = WRITE_CHECK,
    };
    const struct partiql_plan *plan = &statement->plan;
    enum partiql_returning returning = statement->parsed->returning;
    *action = (struct write_action){
        .kind = kinds[plan->kind],
        .table = statement->table,
        .item = plan->kind == PARTIQL_INSERT ? plan->item : plan->key,
        .condition = plan->condition,
        .update = plan->update,
        .flags =
            write_flag_if(returning == RETURNING_ALL_OLD || returning == RETURNING_MODIFIED_OLD,
                          WRITE_OLD) |
            write_flag_if(returning == RETURNING_ALL_NEW || returning == RETURNING_MODIFIED_NEW,
                          WRITE_NEW),
    };
    // An INSERT's condition is not the user's.
    if (plan->kind == PARTIQL_INSERT)
        action->flags |= WRITE_INSERT;
    else if (statement->shows_failed &&
             slice_is(statement->request->return_values_on_condition_check_failure, "ALL_OLD"))
        action->flags |= WRITE_OLD_ON_FAILURE;
    if (action->kind == WRITE_PUT && !item_size_check(action->item, &call->error))
        return false;
    if (!call_action_key(call, action) ||
        !params_check_keys(
            &call->error, action->table,
            (struct expressions){.condition = action->condition, .update = action->update}))
        return false;
    statement->action = action;
    statement->key = action->key;
    return true;
}

void statement_fail(struct api_call *call, struct call_statement *statement)
{
    statement->failure = call->error.code;
    statement->failure_text = call->error.message;
    error_init(&call->error, &call->arena);
}

// ---- Answers ------------------------------------------------------------------------------------

void statement_project(const void *plan, struct slice item, struct value_builder *builder,
                       struct steps *steps)
{
    partiql_project(plan, item, builder, steps);
}

void statement_write_item(struct api_call *call, struct json_writer *w,
                          const struct partiql_plan *plan, struct slice item, struct steps *steps)
{
    call_write_projected(call, w, plan->output_count == 0 ? NULL : statement_project, plan, item,
                         steps);
}

bool statement_returned(struct api_call *call, const struct call_statement *statement,
                        struct slice *out)
{
    const struct write_action *action = statement->action;
    *out = VALUE_NONE;
    switch (statement->parsed->returning) {
    case RETURNING_ALL_OLD:
        *out = action->out.old_item;
        return true;
    case RETURNING_ALL_NEW:
        *out = action->out.new_item;
        return true;
    case RETURNING_MODIFIED_OLD:
        return call_touched(call, action->update, action->out.old_item, out);
    case RETURNING_MODIFIED_NEW:
        return call_touched(call, action->update, action->out.new_item, out);
    case RETURNING_NOTHING:
        break;
    }
    return true;
}

// ---- ExecuteStatement -------------------------------------------------------------

enum step execute_statement_start(struct api_call *call, const void *decoded)
{
    const struct execute_statement_request *request = decoded;
    struct call_statement *statement = call_alloc(call, 1, sizeof(*statement));
    if (statement == NULL)
        return STEP_FAILED;
    *statement = (struct call_statement){.request = &request->own, .shows_failed = true};
    call->state->own = statement;
    if (!statement_parse(call, statement))
        return STEP_FAILED;
    if (statement_reads(statement))
        return statement_select(call, request, statement);
    if (statement->parsed->kind == PARTIQL_EXISTS) {
        (void)error_validation(&call->error,
                               "EXISTS can only be used in ExecuteTransaction write requests.");
        return STEP_FAILED;
    }
    struct write_action action;
    if (!statement_plan_item(call, statement) || !statement_make_action(call, statement, &action))
        return STEP_FAILED;
    struct write_job *job = call_write_job(call, 1);
    if (job == NULL)
        return STEP_FAILED;
    job->actions[0] = action;
    statement->action = &job->actions[0];
    return call_submit(call);
}

void execute_statement_finish(struct api_call *call, const void *decoded)
{
    const struct execute_statement_request *request = decoded;
    const struct call_statement *statement = call->state->own;
    struct json_writer w = call_writer(call);
    struct slice returned;
    if (!statement_returned(call, statement, &returned))
        return;
    json_open_object(&w);
    json_put_array(&w, "Items");
    if (returned.len > 0)
        json_item(&w, returned);
    json_close_array(&w);
    enum capacity_detail detail = capacity_detail(request->return_consumed_capacity);
    if (detail != CAPACITY_NONE) {
        struct capacity capacity = {.table = statement->table};
        capacity_add_write(&capacity, statement->action, 1);
        json_name(&w, "ConsumedCapacity");
        capacity_write_json(&w, &capacity, detail);
    }
    json_close_object(&w);
}
