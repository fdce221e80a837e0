// ExecuteTransaction: up to 100 statements, each on one item, all reading or all writing, all or
// nothing. EXISTS is a condition check among the writes.
#include "items/partiql.h"

#include "base/encode.h"
#include "items/transact.h"

struct transaction {
    struct api_call *call;
    const struct execute_transaction_request *request;
    size_t count;
    struct call_statement *statements;
    struct write_job *job; // also of reads: it carries the reasons of a cancellation
};

// ---- Checks -------------------------------------------------------------------------------------

// "Validation failed in TransactStatements[1]: …", in front of an error that is there already, or
// of the reason given. Always false.
static bool refuse(struct transaction *t, size_t at, const char *reason)
{
    struct error *error = &t->call->error;
    if (reason == NULL)
        reason = error->message;
    error_init(error, &t->call->arena);
    return error_validation(error, "Validation failed in TransactStatements[%zu]: %s", at, reason);
}

static bool parse_all(struct transaction *t)
{
    const struct request_statement *requests = t->request->transact_statements.items;
    bool reads = false;
    bool writes = false;
    for (size_t i = 0; i < t->count; i++) {
        struct call_statement *statement = &t->statements[i];
        statement->request = &requests[i];
        statement->shows_failed = true;
        if (!statement_parse(t->call, statement))
            return t->call->error.code == ERR_VALIDATION && refuse(t, i, NULL);
        reads = reads || statement_reads(statement);
        writes = writes || !statement_reads(statement);
    }
    if (reads && writes)
        return error_validation(&t->call->error,
                                "ExecuteTransaction API does not support both read and write "
                                "operations in the same request.");
    return true;
}

// What the language allows, but a transaction does not.
static bool check_form(struct transaction *t, size_t at)
{
    const struct call_statement *statement = &t->statements[at];
    const struct partiql_statement *parsed = statement->parsed;
    if (parsed->index.ptr != NULL)
        return refuse(t, at, "Reads on indices are not supported within transactions.");
    if (parsed->returning != RETURNING_NOTHING)
        return refuse(t, at, "RETURNING clause is not supported in ExecuteTransaction.");
    return true;
}

static bool check_plan(struct transaction *t, size_t at)
{
    const struct call_statement *statement = &t->statements[at];
    if (statement->plan.kind == PARTIQL_SELECT && !statement->plan.exact)
        return refuse(t, at,
                      "Select statements within ExecuteTransaction must specify the primary "
                      "key in the where clause.");
    if (statement->plan.kind == PARTIQL_EXISTS &&
        (statement->plan.key.len == 0 || statement->plan.exact))
        return refuse(t, at, "EXISTS() must contain a single item read with additional condition");
    return true;
}

// Plans one statement. What is wrong with it in its table is a reason to cancel.
static bool plan_one(struct transaction *t, size_t at)
{
    struct api_call *call = t->call;
    struct call_statement *statement = &t->statements[at];
    struct write_action *action = &t->job->actions[at];
    bool ok = statement_plan_item(call, statement);
    if (ok && !check_plan(t, at))
        return false;
    ok = ok && (statement_reads(statement) ? statement_make_read(call, statement)
                                           : statement_make_action(call, statement, action));
    action->table = statement->table;
    action->key = statement->key;
    return ok || transact_fail(call, action);
}

static bool plan_all(struct transaction *t)
{
    size_t total = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (!check_form(t, i) || !plan_one(t, i))
            return false;
        struct slice item = t->job->actions[i].item;
        total += item.len > 0 ? value_item_size(item) : 0;
    }
    return transact_check_size(t->call, total) && transact_check(t->call, t->job);
}

// ---- Reading and writing ------------------------------------------------------------------------

static enum step read_all(struct transaction *t)
{
    struct transact_read *reads = call_alloc(t->call, t->count, sizeof(*reads));
    if (reads == NULL)
        return STEP_FAILED;
    for (size_t i = 0; i < t->count; i++) {
        const struct call_statement *statement = &t->statements[i];
        reads[i] = (struct transact_read){
            .table = statement->table,
            .key = statement->key,
            .subject = statement->plan.key,
            .project = statement->plan.output_count == 0 ? NULL : statement_project,
            .projection = &statement->plan,
        };
    }
    return transact_read_all(t->call, t->count, reads, t->request->return_consumed_capacity);
}

// The request is the same if its statements and their parameters are.
static bool set_token(struct transaction *t)
{
    struct slice token = t->request->client_request_token;
    if (token.len == 0)
        return true;
    struct buf text;
    buf_init(&text, LIMIT_RESPONSE);
    buf_text(&text, "ExecuteTransaction");
    for (size_t i = 0; i < t->count; i++) {
        const struct request_statement *own = t->statements[i].request;
        const struct field_value *parameters = own->parameters.items;
        transact_digest(&text, own->statement);
        for (size_t k = 0; k < own->parameters.count; k++)
            transact_digest(&text, parameters[k].value);
    }
    bool ok = !text.failed || error_budget(&t->call->error);
    if (ok)
        sha256_of(buf_view(&text), t->job->digest);
    t->job->token = token;
    buf_release(&text);
    return ok;
}

enum step execute_transaction_start(struct api_call *call, const void *decoded)
{
    const struct execute_transaction_request *request = decoded;
    size_t count = request->transact_statements.count;
    struct transaction *t = call_alloc(call, 1, sizeof(*t));
    struct call_statement *statements = call_alloc(call, count, sizeof(*statements));
    if (t == NULL || statements == NULL)
        return STEP_FAILED;
    *t = (struct transaction){
        .call = call, .request = request, .count = count, .statements = statements};
    if (!parse_all(t))
        return STEP_FAILED;
    t->job = call_write_job(call, t->count);
    if (t->job == NULL || !plan_all(t))
        return STEP_FAILED;
    if (statement_reads(&t->statements[0]))
        return read_all(t);
    t->job->transaction = true;
    return set_token(t) ? call_submit(call) : STEP_FAILED;
}

void execute_transaction_finish(struct api_call *call, const void *decoded)
{
    const struct execute_transaction_request *request = decoded;
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_array(&w, "Responses");
    json_close_array(&w);
    call_write_job_results(&w, call->state->write, request->return_consumed_capacity,
                           (struct slice){NULL, 0}, 2);
    json_close_object(&w);
}
