// BatchExecuteStatement: up to 25 statements, each on one item, all reading or all writing. Each
// stands alone: what is wrong with one is told in its place.
#include "items/partiql.h"

#include "call/insights.h"

struct batch_call {
    struct api_call *call;
    const struct batch_execute_statement_request *request;
    size_t count;
    struct call_statement *statements;
    bool reads;
    bool writes;
    size_t done;    // statements that were read
    uint64_t bytes; // of them
    size_t written; // statements that were answered
    struct json_writer w;
};

// ---- Preparing ----------------------------------------------------------------------------------

// One statement without regard to the others.
static bool prepare(struct batch_call *batch, struct call_statement *statement)
{
    struct api_call *call = batch->call;
    if (!statement_parse(call, statement))
        return false;
    if (statement->parsed->kind == PARTIQL_EXISTS)
        return error_validation(&call->error,
                                "EXISTS can only be used in ExecuteTransaction write requests.");
    bool reads = statement_reads(statement);
    batch->reads = batch->reads || reads;
    batch->writes = batch->writes || !reads;
    if (!statement_plan_item(call, statement))
        return false;
    if (reads)
        return statement->plan.exact
                   ? statement_make_read(call, statement)
                   : error_validation(&call->error,
                                      "Select statements within BatchExecuteStatement must specify "
                                      "the primary key in the where clause.");
    struct write_action *action = call_alloc(call, 1, sizeof(*action));
    return action != NULL && statement_make_action(call, statement, action);
}

static bool prepare_all(struct batch_call *batch)
{
    struct api_call *call = batch->call;
    const struct request_statement *requests = batch->request->statements.items;
    struct slice *keys = call_alloc(call, batch->count, sizeof(*keys));
    size_t found = 0;
    if (keys == NULL)
        return false;
    for (size_t i = 0; i < batch->count; i++) {
        struct call_statement *statement = &batch->statements[i];
        statement->request = &requests[i];
        if (prepare(batch, statement)) {
            keys[found++] = statement->key;
            continue;
        }
        if (call->error.code == ERR_BUDGET || call->error.code == ERR_THROTTLING ||
            call->error.code == ERR_COLD)
            return false;
        statement_fail(call, statement);
    }
    if (batch->reads && batch->writes)
        return error_validation(
            &call->error, "Read and write requests together in the same batch is not supported.");
    if (call_has_duplicates(keys, found))
        return error_validation(&call->error, "Provided list of item keys contains duplicates");
    return true;
}

// ---- Answers ------------------------------------------------------------------------------------

// What the Error of a statement calls it.
static const char *error_name(enum error_code code)
{
    static const struct {
        enum error_code code;
        const char *name;
    } rows[] = {
        {ERR_ACCESS_DENIED, "AccessDenied"},
        {ERR_CONDITIONAL_CHECK_FAILED, "ConditionalCheckFailed"},
        {ERR_DUPLICATE_ITEM, "DuplicateItem"},
        {ERR_COLLECTION_SIZE, "ItemCollectionSizeLimitExceeded"},
        {ERR_THROUGHPUT_EXCEEDED, "ProvisionedThroughputExceeded"},
        {ERR_RESOURCE_NOT_FOUND, "ResourceNotFound"},
        {ERR_TRANSACTION_CONFLICT, "TransactionConflict"},
        {ERR_THROTTLING, "ThrottlingError"},
        {ERR_VALIDATION, "ValidationError"},
        {ERR_EMPTY_KEY, "ValidationError"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].code == code)
            return rows[i].name;
    }
    return "InternalServerError"; // everything else is our own fault
}

static void write_error(struct json_writer *w, const struct call_statement *statement)
{
    json_put_object(w, "Error");
    json_put_text(w, "Code", error_name(statement->failure));
    json_put_text(w, "Message", statement->failure_text);
    json_close_object(w);
}

static bool was_tried(const struct call_statement *statement)
{
    return statement->action != NULL || statement->failure == ERR_NONE;
}

// One response. Its item is written from the store's memory, or is what RETURNING asked for.
static bool write_response(struct batch_call *batch, struct json_writer *w,
                           const struct call_statement *statement)
{
    struct slice returned = VALUE_NONE;
    if (statement->action != NULL && statement->failure == ERR_NONE &&
        !statement_returned(batch->call, statement, &returned))
        return false;
    json_open_object(w);
    if (statement->failure != ERR_NONE)
        write_error(w, statement);
    // A statement that failed before it was tried names no table, nor does one that is wrong.
    if (was_tried(statement) && statement->failure != ERR_VALIDATION &&
        statement->failure != ERR_EMPTY_KEY)
        json_put_string(w, "TableName", statement->table->name);
    if (statement->failure == ERR_NONE && statement->read.item.len > 0) {
        json_name(w, "Item");
        statement_write_item(batch->call, w, &statement->plan, statement->read.item,
                             &(struct steps){0});
    } else if (returned.len > 0) {
        json_name(w, "Item");
        json_item(w, returned);
    }
    json_close_object(w);
    return true;
}

static double read_units(const struct call_statement *statement)
{
    return capacity_read_units(statement->read.size, statement->request->consistent_read.value);
}

// One entry for each table, in the order of the statements that succeeded: what failed on the way
// is charged to a table where something else did not, and otherwise goes untold.
static void write_capacities(struct batch_call *batch, struct json_writer *w)
{
    enum capacity_detail detail = capacity_detail(batch->request->return_consumed_capacity);
    bool open = false;
    if (detail == CAPACITY_NONE)
        return;
    for (size_t i = 0; i < batch->count; i++) {
        const struct call_statement *first = &batch->statements[i];
        struct capacity capacity = {.table = first->table};
        bool seen = first->failure != ERR_NONE;
        for (size_t k = 0; !seen && k < batch->count; k++) {
            const struct call_statement *statement = &batch->statements[k];
            if (!was_tried(statement))
                continue;
            bool own = statement->table->tree == first->table->tree;
            seen = own && k < i && statement->failure == ERR_NONE;
            if (statement->action != NULL)
                capacity_add_write(&capacity, statement->action, 1);
            else if (own)
                capacity.read += read_units(statement);
        }
        if (seen)
            continue;
        if (!open)
            json_put_array(w, "ConsumedCapacity");
        open = true;
        capacity_write_json(w, &capacity, detail);
    }
    if (open)
        json_close_array(w);
}

static void begin_answer(struct batch_call *batch)
{
    batch->w = call_writer(batch->call);
    json_open_object(&batch->w);
    json_put_array(&batch->w, "Responses");
}

static void end_answer(struct batch_call *batch)
{
    json_close_array(&batch->w);
    write_capacities(batch, &batch->w);
    json_close_object(&batch->w);
}

static bool write_answer(struct batch_call *batch)
{
    begin_answer(batch);
    for (size_t i = 0; i < batch->count; i++) {
        if (!write_response(batch, &batch->w, &batch->statements[i]))
            return false;
    }
    end_answer(batch);
    return true;
}

// ---- Reading ------------------------------------------------------------------------------------

static bool read_one(struct batch_call *batch, struct call_statement *statement)
{
    struct api_call *call = batch->call;
    call->state->subject = statement->plan.key;
    if (!throttle_admit_read(call, statement->table, NULL) ||
        !call_get(call, statement->table, NULL, statement->key, &statement->read))
        return false;
    usage_read(call, statement->table, NULL, read_units(statement), statement->read.item.len > 0);
    insights_read(call, statement->table, NULL, statement->plan.key);
    return true;
}

static void drop_reads(struct api_call *call)
{
    struct batch_call *batch = call->state->own;
    for (size_t i = 0; i < batch->count; i++)
        item_read_release(call_engine(call), &batch->statements[i].read);
}

// Items may be much larger in JSON: those that find the response full are to be asked for again.
static void leave_for_later(struct call_statement *statement)
{
    if (statement->failure != ERR_NONE || statement->read.item.len == 0)
        return;
    statement->failure = ERR_THROTTLING;
    statement->failure_text = "The response of this batch is full; send this statement again.";
}

// Writes on until all are written or the slice is over.
static enum step answer_reads(struct api_call *call)
{
    struct batch_call *batch = call->state->own;
    while (batch->written < batch->count) {
        struct call_statement *statement = &batch->statements[batch->written++];
        size_t before = call->response.len;
        if (before >= LIMIT_BATCH_RESPONSE)
            leave_for_later(statement);
        if (!write_response(batch, &batch->w, statement))
            return STEP_FAILED;
        if (!work_spend(&call->state->work, call->response.len - before)) {
            call->state->resume = answer_reads;
            return STEP_LATER;
        }
    }
    end_answer(batch);
    drop_reads(call);
    return STEP_READY;
}

static enum step begin_reads(struct api_call *call)
{
    begin_answer(call->state->own);
    return answer_reads(call);
}

// Reads on until all are there or the slice is over. What is not in memory is read by a thread that
// may wait, with all the others.
static enum step read_all(struct api_call *call)
{
    struct batch_call *batch = call->state->own;
    call->state->drop = drop_reads;
    while (batch->done < batch->count) {
        struct call_statement *statement = &batch->statements[batch->done];
        if (statement->failure == ERR_NONE && !read_one(batch, statement)) {
            if (call->error.code == ERR_COLD)
                return STEP_FAILED;
            statement_fail(call, statement);
        }
        batch->done++;
        batch->bytes += statement->read.item.len;
        if (!work_spend(&call->state->work, statement->read.item.len)) {
            call->state->resume = read_all;
            return STEP_LATER;
        }
    }
    return call_go_on(call, batch->bytes, begin_reads);
}

// ---- Writing ------------------------------------------------------------------------------------

// Whether there is throughput for the one action; else that is its failure.
static void admit_write(struct batch_call *batch, struct call_statement *statement)
{
    struct api_call *call = batch->call;
    struct write_job one = {.count = 1, .actions = statement->action};
    call->state->write = &one;
    if (!throttle_admit_job(call)) {
        statement_fail(call, statement);
        call->state->throttle_reason = NULL;
    }
    call->state->write = NULL;
}

static enum step write_all(struct batch_call *batch)
{
    struct api_call *call = batch->call;
    size_t count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->statements[i].failure == ERR_NONE)
            admit_write(batch, &batch->statements[i]);
        count += batch->statements[i].failure == ERR_NONE;
    }
    if (count == 0)
        return write_answer(batch) ? STEP_READY : STEP_FAILED;
    struct write_job *job = call_write_job(call, count);
    if (job == NULL)
        return STEP_FAILED;
    size_t at = 0;
    for (size_t i = 0; i < batch->count; i++) {
        struct call_statement *statement = &batch->statements[i];
        if (statement->failure != ERR_NONE)
            continue;
        job->actions[at] = *statement->action;
        statement->action = &job->actions[at++];
    }
    job->each = true;
    return call_submit(call);
}

enum step batch_execute_statement_start(struct api_call *call, const void *decoded)
{
    const struct batch_execute_statement_request *request = decoded;
    size_t count = request->statements.count;
    struct batch_call *batch = call_alloc(call, 1, sizeof(*batch));
    struct call_statement *statements = call_alloc(call, count, sizeof(*statements));
    if (batch == NULL || statements == NULL)
        return STEP_FAILED;
    *batch = (struct batch_call){
        .call = call, .request = request, .count = count, .statements = statements};
    call->state->own = batch;
    if (!prepare_all(batch))
        return STEP_FAILED;
    return batch->writes ? write_all(batch) : read_all(call);
}

void batch_execute_statement_finish(struct api_call *call, const void *request)
{
    struct batch_call *batch = call->state->own;
    (void)request;
    for (size_t i = 0; i < batch->count; i++) {
        struct call_statement *statement = &batch->statements[i];
        if (statement->failure != ERR_NONE || statement->action->out.failure == ERR_NONE)
            continue;
        statement->failure = statement->action->out.failure;
        statement->failure_text = statement->action->out.failure_text;
    }
    (void)write_answer(batch);
}
