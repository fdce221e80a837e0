// ExecuteTransaction: up to 100 statements, each on one item, all reading or all writing, all or
// nothing. EXISTS is a condition check among the writes.
#include "items/partiql.h"

#include "base/encode.h"
#include "call/insights.h"
#include "requests/shapes.h"

struct transaction {
    struct api_call *call;
    const struct execute_transaction_request *request;
    size_t count;
    struct call_statement *statements;
    struct write_job *job; // also of reads: it carries the reasons of a cancellation
    // Of reads.
    struct store_snapshot *snapshot;
    size_t done;
    size_t total; // bytes
    size_t written;
    struct json_writer w;
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
    static const char count_wrong[] = "Number of parameters";
    bool reads = false;
    bool writes = false;
    for (size_t i = 0; i < t->count; i++) {
        struct call_statement *statement = &t->statements[i];
        statement->request = &requests[i];
        if (!statement_parse(t->call, statement)) {
            bool place = t->call->error.code == ERR_VALIDATION &&
                         strncmp(t->call->error.message, count_wrong, strlen(count_wrong)) == 0;
            return place && refuse(t, i, NULL);
        }
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
    if (ok)
        return true;
    if (call->error.code != ERR_VALIDATION)
        return false;
    action->out.failure = call->error.code;
    action->out.failure_text = call->error.message;
    error_init(&call->error, &call->arena);
    return true;
}

static bool plan_all(struct transaction *t)
{
    struct api_call *call = t->call;
    struct slice *keys = call_alloc(call, t->count, sizeof(*keys));
    bool canceled = false;
    size_t found = 0;
    size_t total = 0;
    if (keys == NULL)
        return false;
    for (size_t i = 0; i < t->count; i++) {
        if (!check_form(t, i) || !plan_one(t, i))
            return false;
        const struct write_action *action = &t->job->actions[i];
        canceled = canceled || action->out.failure != ERR_NONE;
        if (action->out.failure == ERR_NONE)
            keys[found++] = t->statements[i].key;
        if (action->item.len > 0)
            total += value_item_size(action->item);
    }
    if (total > LIMIT_TRANSACT_BYTES)
        return error_validation(&call->error, "Transaction request size exceeded the 4MB limit");
    if (call_has_duplicates(keys, found))
        return error_validation(
            &call->error, "Transaction request cannot include multiple operations on one item");
    return !canceled || error_set(&call->error, ERR_TRANSACTION_CANCELED, "Transaction cancelled");
}

// ---- Reading ------------------------------------------------------------------------------------

static double read_units(const struct call_statement *statement)
{
    return 2 * capacity_read_units(statement->read.size, true);
}

static void write_read_capacity(struct transaction *t, struct json_writer *w)
{
    enum capacity_detail detail = capacity_detail(t->request->return_consumed_capacity);
    if (detail == CAPACITY_NONE)
        return;
    json_put_array(w, "ConsumedCapacity");
    for (size_t i = 0; i < t->count; i++) {
        struct capacity capacity = {.table = t->statements[i].table, .transaction = true};
        bool seen = false;
        for (size_t k = 0; k < t->count; k++) {
            if (t->statements[k].table->tree != capacity.table->tree)
                continue;
            seen = seen || k < i;
            capacity.read += read_units(&t->statements[k]);
        }
        if (!seen)
            capacity_write_json(w, &capacity, detail);
    }
    json_close_array(w);
}

static void drop_items(struct api_call *call)
{
    struct transaction *t = call->state->own;
    for (size_t i = 0; i < t->count; i++)
        item_read_release(call_engine(call), &t->statements[i].read);
    engine_snapshot_release(call_engine(call), t->snapshot);
    t->snapshot = NULL;
}

// Writes on until all are written or the slice is over.
static enum step write_items(struct api_call *call)
{
    struct transaction *t = call->state->own;
    while (t->written < t->count) {
        const struct call_statement *statement = &t->statements[t->written++];
        size_t before = call->response.len;
        json_open_object(&t->w);
        if (statement->read.item.len > 0) {
            json_name(&t->w, "Item");
            statement_write_item(call, &t->w, &statement->plan, statement->read.item,
                                 &(struct steps){0});
        }
        json_close_object(&t->w);
        if (!work_spend(&call->state->work, call->response.len - before)) {
            call->state->resume = write_items;
            return STEP_LATER;
        }
    }
    json_close_array(&t->w);
    write_read_capacity(t, &t->w);
    json_close_object(&t->w);
    drop_items(call);
    return STEP_READY;
}

// All are read. What is large finds its room at once, not half of it.
static enum step begin_response(struct api_call *call)
{
    struct transaction *t = call->state->own;
    size_t room = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (t->statements[i].plan.output_count == 0)
            room += json_item_room(t->statements[i].read.item);
    }
    if (room > LIMIT_INLINE_WORK && !call_reserve(call, room, &call->error))
        return STEP_FAILED;
    t->w = call_writer(call);
    json_open_object(&t->w);
    json_put_array(&t->w, "Responses");
    return write_items(call);
}

// Reads on until all are there or the slice is over.
static enum step read_items(struct api_call *call)
{
    struct transaction *t = call->state->own;
    while (t->done < t->count) {
        struct call_statement *statement = &t->statements[t->done];
        if (!engine_get(call_engine(call), t->snapshot, statement->key, &statement->read,
                        &call->error))
            return STEP_FAILED;
        t->done++;
        t->total += statement->read.size;
        usage_read(call, statement->table, NULL, read_units(statement),
                   statement->read.item.len > 0);
        insights_read(call, statement->table, NULL, statement->plan.key);
        if (t->total > LIMIT_TRANSACT_BYTES) {
            (void)error_validation(&call->error, "Transaction request size exceeded the 4MB limit");
            return STEP_FAILED;
        }
        if (!work_spend(&call->state->work, statement->read.item.len)) {
            call->state->resume = read_items;
            return STEP_LATER;
        }
    }
    return call_go_on(call, t->total, begin_response);
}

static enum step read_all(struct transaction *t)
{
    for (size_t i = 0; i < t->count; i++) {
        t->call->state->subject = t->statements[i].plan.key;
        if (!throttle_admit_read(t->call, t->statements[i].table, NULL)) {
            throttle_cancel(t->call, &t->job->actions[i]);
            return STEP_FAILED;
        }
    }
    t->call->state->own = t;
    t->call->state->drop = drop_items;
    t->snapshot = engine_snapshot(call_engine(t->call));
    return read_items(t->call);
}

// ---- Writing ------------------------------------------------------------------------------------

static void add_counted(struct buf *out, struct slice bytes)
{
    uint8_t len[8];
    be64_put(len, bytes.len);
    buf_add(out, len, sizeof(len));
    buf_slice(out, bytes);
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
        add_counted(&text, own->statement);
        for (size_t k = 0; k < own->parameters.count; k++)
            add_counted(&text, parameters[k].value);
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
    struct transaction *t = call_alloc(call, 1, sizeof(*t));
    if (t == NULL)
        return STEP_FAILED;
    t->call = call;
    t->request = request;
    t->count = request->transact_statements.count;
    t->statements = call_alloc(call, t->count, sizeof(*t->statements));
    if (t->statements == NULL || !parse_all(t))
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
