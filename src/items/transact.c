// TransactGetItems and TransactWriteItems. A write transaction is one job of the writer, which runs
// jobs one after the other: it is serialisable. Only one that takes long to judge, and whose items
// keep changing meanwhile, meets a conflict.
#include "items/transact.h"

#include "base/encode.h"

// ---- Results of many writes (also BatchWriteItem) ---------------------------------------------

// Whether an earlier action of the job is on the same table.
static bool seen_table(const struct write_job *job, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (job->actions[i].table->tree == job->actions[at].table->tree)
            return true;
    }
    return false;
}

static void write_job_capacity(struct json_writer *w, const struct write_job *job,
                               enum capacity_detail detail, double factor)
{
    json_put_array(w, "ConsumedCapacity");
    for (size_t i = 0; i < job->count; i++) {
        if (seen_table(job, i))
            continue;
        struct capacity capacity = {.table = job->actions[i].table,
                                    .transaction = job->transaction};
        for (size_t k = 0; k < job->count; k++) {
            bool own = job->actions[k].table->tree == capacity.table->tree;
            if (job->repeated)
                capacity.read += own ? factor * job->actions[k].out.cost.table : 0;
            else
                capacity_add_write(&capacity, &job->actions[k], factor);
        }
        capacity_write_json(w, &capacity, detail);
    }
    json_close_array(w);
}

// ItemCollectionMetrics: by table, one entry for each collection that was written to.
static void write_job_metrics(struct json_writer *w, const struct write_job *job)
{
    bool open = false;
    for (size_t i = 0; i < job->count; i++) {
        const struct write_action *first = &job->actions[i];
        if (first->out.collection_bytes < 0 || seen_table(job, i))
            continue;
        if (!open) {
            json_put_object(w, "ItemCollectionMetrics");
            open = true;
        }
        json_name_slice(w, first->table->name);
        json_open_array(w);
        for (size_t k = i; k < job->count; k++) {
            const struct write_action *action = &job->actions[k];
            if (action->table->tree == first->table->tree && action->out.collection_bytes >= 0)
                collection_write_json(w, action->table, action->item, action->out.collection_bytes);
        }
        json_close_array(w);
    }
    if (open)
        json_close_object(w);
}

void call_write_job_results(struct json_writer *w, const struct write_job *job,
                            struct slice return_capacity, struct slice return_metrics,
                            double factor)
{
    enum capacity_detail detail = capacity_detail(return_capacity);
    if (detail != CAPACITY_NONE)
        write_job_capacity(w, job, detail, factor);
    if (slice_is(return_metrics, "SIZE"))
        write_job_metrics(w, job);
}

// ---- TransactWriteItems -------------------------------------------------------------

// The one action of an entry and its kind; NULL if there is none or more than one.
static const struct transact_action *only_action(const struct transact_write_item *entry,
                                                 enum write_kind *kind)
{
    const struct transact_action *actions[] = {
        [WRITE_PUT] = entry->put,
        [WRITE_UPDATE] = entry->update,
        [WRITE_DELETE] = entry->delete,
        [WRITE_CHECK] = entry->condition_check,
    };
    const struct transact_action *found = NULL;
    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        if (actions[i] == NULL)
            continue;
        if (found != NULL)
            return NULL;
        found = actions[i];
        *kind = (enum write_kind)i;
    }
    return found;
}

// What of an entry can be judged without its table: values and expressions.
static bool compile_entry(struct api_call *call, const struct transact_action *from,
                          struct write_action *to)
{
    bool has_condition = from->condition_expression.ptr != NULL;
    bool has_update = from->update_expression.ptr != NULL;
    struct param_set set = {
        .expression_count = 2,
        .expressions = {{"UpdateExpression", has_update}, {"ConditionExpression", has_condition}},
        .names = &from->expression_attribute_names,
        .values = &from->expression_attribute_values,
        .takes_values = has_condition || has_update,
        .values_need = to->kind == WRITE_UPDATE
                           ? "UpdateExpression and ConditionExpression are null"
                           : "ConditionExpression is null",
    };
    const struct field_value *subject = to->kind == WRITE_PUT ? &from->item : &from->key;
    struct expr_params params;
    // That a key has too many levels is told after what is wrong with the expressions.
    if (!params_check_styles(call, &set) ||
        (!subject->too_deep && !field_value_check(subject, &call->error)))
        return false;
    to->item = subject->value;
    if (to->kind == WRITE_PUT && !item_size_check(to->item, &call->error))
        return false;
    if (!params_open(call, &set, &params))
        return false;
    if (has_update && (to->update = expr_compile_update(&params, from->update_expression)) == NULL)
        return false;
    if (has_condition && (to->condition = expr_compile_condition(
                              &params, from->condition_expression, EXPR_CONDITION)) == NULL)
        return false;
    if (slice_is(from->return_values_on_condition_check_failure, "ALL_OLD"))
        to->flags |= WRITE_OLD_ON_FAILURE;
    return expr_params_finish(&params) && field_value_check(subject, &call->error);
}

// An entry without an action, or with several.
static bool refuse_entry(struct api_call *call, const struct transact_write_item *entry)
{
    if (entry->put == NULL && entry->update == NULL && entry->delete == NULL &&
        entry->condition_check == NULL)
        return error_validation(&call->error, "Invalid Request: TransactWriteRequest should "
                                              "contain Delete or Put or Update request");
    return error_validation(&call->error,
                            "TransactItems can only contain one of Check, Put, Update or Delete");
}

static bool compile_entries(struct api_call *call, const struct field_list *list,
                            struct write_job *job)
{
    const struct transact_write_item *entries = list->items;
    for (size_t i = 0; i < list->count; i++) {
        enum write_kind kind = WRITE_CHECK;
        const struct transact_action *from = only_action(&entries[i], &kind);
        if (from == NULL)
            return refuse_entry(call, &entries[i]);
        job->actions[i].kind = kind;
        if (!compile_entry(call, from, &job->actions[i]))
            return false;
    }
    return true;
}

// ---- What is wrong with one of many -----------------------------------------------------------

bool transact_fail(struct api_call *call, struct write_action *action)
{
    if (call->error.code != ERR_VALIDATION)
        return false;
    action->out.failure = call->error.code;
    action->out.failure_text = call->error.message;
    action->out.failure_details = call->error.details;
    error_init(&call->error, &call->arena);
    return true;
}

// A failure that a model has found does not keep the others from being judged by what is stored.
static bool go_on(struct api_call *call, struct write_action *action)
{
    struct error *refused = arena_alloc(&call->arena, sizeof(*refused));
    if (refused == NULL)
        return error_budget(&call->error);
    error_init(refused, &call->arena);
    refused->code = action->out.failure;
    refused->message = action->out.failure_text;
    refused->details = action->out.failure_details;
    action->refused = refused;
    return true;
}

bool transact_check(struct api_call *call, struct write_job *job)
{
    if (!write_job_distinct(job))
        return false;
    for (size_t i = 0; i < job->count; i++) {
        const struct write_result *out = &job->actions[i].out;
        if (out->failure != ERR_NONE && out->failure_details == NULL)
            return error_set(&call->error, ERR_TRANSACTION_CANCELED, "Transaction cancelled");
    }
    for (size_t i = 0; i < job->count; i++)
        if (job->actions[i].out.failure != ERR_NONE && !go_on(call, &job->actions[i]))
            return false;
    return true;
}

// The service says it twice.
#define TOO_LARGE "Transaction payload size cannot exceed 4MB. Payload Size: "

bool transact_check_size(struct api_call *call, size_t bytes)
{
    return bytes <= LIMIT_TRANSACT_BYTES ||
           error_validation(&call->error, TOO_LARGE ": " TOO_LARGE "%zu", bytes);
}

// ---- TransactWriteItems, in its tables ----------------------------------------------------------

// The key of one action in its table. What is wrong with it, or with an index key, is a reason to
// cancel; what is wrong with an expression is an error of the request.
static bool find_key(struct api_call *call, struct write_action *action)
{
    struct expressions expressions = {.condition = action->condition, .update = action->update};
    return params_check_nesting(&call->error, action->table, expressions) &&
           ((call_action_key(call, action) &&
             params_check_update(&call->error, action->table, action->update)) ||
            transact_fail(call, action));
}

// Of several actions that are wrong in themselves, the service blames the first alone. What a model
// says of an item is all told.
static void blame_first(struct write_job *job)
{
    bool blamed = false;
    for (size_t i = 0; i < job->count; i++) {
        struct write_result *out = &job->actions[i].out;
        if (out->failure == ERR_NONE || out->failure_details != NULL)
            continue;
        if (blamed)
            out->failure = ERR_NONE;
        blamed = true;
    }
}

static bool find_keys(struct api_call *call, const struct field_list *list, struct write_job *job)
{
    const struct transact_write_item *entries = list->items;
    for (size_t i = 0; i < job->count; i++) {
        struct write_action *action = &job->actions[i];
        enum write_kind kind;
        action->table = call_table(call, only_action(&entries[i], &kind)->table_name);
        if (action->table == NULL || !find_key(call, action))
            return false;
    }
    bool ok = transact_check(call, job);
    blame_first(job);
    return ok;
}

static bool check_total_size(struct api_call *call, const struct write_job *job)
{
    size_t total = 0;
    for (size_t i = 0; i < job->count; i++)
        total += value_item_size(job->actions[i].item);
    return transact_check_size(call, total);
}

void transact_digest(struct buf *out, struct slice part)
{
    uint8_t len[8];
    be64_put(len, part.len);
    buf_add(out, len, sizeof(len));
    buf_slice(out, part);
}

// Names come in the order of the client's map; adding up their digests makes it not matter.
static void digest_names(struct buf *out, const struct field_map *names)
{
    const struct slice *attributes = names->items;
    uint64_t sum = 0;
    for (size_t i = 0; i < names->count; i++) {
        uint8_t digest[16];
        md5_of(names->names[i], attributes[i], digest);
        sum += be64_get(digest);
    }
    uint8_t bytes[8];
    be64_put(bytes, sum);
    buf_add(out, bytes, sizeof(bytes));
}

// A digest of what the transaction does, in canonical form: the same request is the same however
// its JSON was written, and whatever it asks to be told.
static bool digest_request(struct api_call *call,
                           const struct transact_write_items_request *request,
                           struct write_job *job)
{
    const struct transact_write_item *entries = request->transact_items.items;
    struct buf text;
    uint8_t tree[4];
    buf_init(&text, LIMIT_RESPONSE);
    for (size_t i = 0; i < job->count; i++) {
        enum write_kind kind = WRITE_CHECK;
        const struct transact_action *from = only_action(&entries[i], &kind);
        buf_byte(&text, (uint8_t)kind);
        // As it came: what a guard makes of an item may be different each time.
        be32_put(tree, job->actions[i].table->tree);
        buf_add(&text, tree, sizeof(tree));
        transact_digest(&text, kind == WRITE_PUT ? from->item.value : from->key.value);
        transact_digest(&text, from->update_expression);
        transact_digest(&text, from->condition_expression);
        transact_digest(&text, from->expression_attribute_values.value);
        digest_names(&text, &from->expression_attribute_names);
    }
    bool ok = !text.failed || error_budget(&call->error);
    if (ok)
        sha256_of(buf_view(&text), job->digest);
    buf_release(&text);
    return ok;
}

enum step transact_write_items_start(struct api_call *call, const void *decoded)
{
    const struct transact_write_items_request *request = decoded;
    struct write_job *job = call_write_job(call, request->transact_items.count);
    if (job == NULL)
        return STEP_FAILED;
    job->transaction = true;
    if (!compile_entries(call, &request->transact_items, job) || !check_total_size(call, job) ||
        !find_keys(call, &request->transact_items, job))
        return STEP_FAILED;
    if (request->client_request_token.len > 0) {
        job->token = request->client_request_token;
        if (!digest_request(call, request, job))
            return STEP_FAILED;
    }
    return call_submit(call);
}

void transact_write_items_finish(struct api_call *call, const void *decoded)
{
    const struct transact_write_items_request *request = decoded;
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    call_write_job_results(&w, call->state->write, request->return_consumed_capacity,
                           request->return_item_collection_metrics, 2);
    json_close_object(&w);
}

// ---- TransactGetItems ---------------------------------------------------------------

static bool compile_get(struct api_call *call, const struct transact_get *get,
                        struct transact_read *read)
{
    if (get == NULL)
        return error_validation(&call->error, "TransactItems can only contain one of Get");
    static const struct field_list no_names = {.set = false};
    struct param_set set = {
        .expression_count = 1,
        .expressions = {{"ProjectionExpression", get->projection_expression.ptr != NULL}},
        .names = &get->expression_attribute_names,
    };
    struct expr_params params;
    struct expr_projection *projection;
    if (!params_check_styles(call, &set) || !field_value_check(&get->key, &call->error) ||
        !params_open(call, &set, &params) ||
        !params_projection(call, &params, get->projection_expression, &no_names, &projection) ||
        !expr_params_finish(&params))
        return false;
    read->projection = projection;
    read->project = projection == NULL ? NULL : project_item;
    return true;
}

// A key that does not fit is a reason to cancel.
static bool find_get(struct api_call *call, const struct transact_get *get,
                     struct transact_read *read, struct write_action *action)
{
    read->table = call_table(call, get->table_name);
    read->subject = get->key.value;
    if (read->table == NULL ||
        !params_check_nesting(&call->error, read->table,
                              (struct expressions){.projection = read->projection}))
        return false;
    if (!call_key(call, read->table, get->key.value, &read->key))
        return transact_fail(call, action);
    action->key = read->key;
    return true;
}

enum step transact_get_items_start(struct api_call *call, const void *decoded)
{
    const struct transact_get_items_request *request = decoded;
    const struct transact_get_item *items = request->transact_items.items;
    size_t count = request->transact_items.count;
    struct transact_read *reads = call_alloc(call, count, sizeof(*reads));
    struct write_job *job = call_write_job(call, count);
    if (reads == NULL || job == NULL)
        return STEP_FAILED;
    for (size_t i = 0; i < count; i++) {
        if (!compile_get(call, items[i].get, &reads[i]))
            return STEP_FAILED;
    }
    for (size_t i = 0; i < count; i++) {
        if (!find_get(call, items[i].get, &reads[i], &job->actions[i]))
            return STEP_FAILED;
    }
    return transact_check(call, job)
               ? transact_read_all(call, count, reads, request->return_consumed_capacity)
               : STEP_FAILED;
}
