// PutItem, GetItem, UpdateItem and DeleteItem. Each start function reads in DynamoDB's order
// of checks: styles, values, placeholders, expressions, then the table, then its keys.
#include "call/insights.h"

#include <stddef.h>
#include <stdlib.h>

// ---- What the three writes share --------------------------------------------------------------

// What finish needs of a write.
struct write_answer {
    struct slice return_values;
    struct slice return_capacity;
    struct slice return_metrics;
    const struct expr_update *update; // UpdateItem only
};

static enum step submit_write(struct api_call *call, const struct write_action *from,
                              const struct write_answer *answer)
{
    struct write_job *job = call_write_job(call, 1);
    struct write_answer *kept = call_alloc(call, 1, sizeof(*kept));
    if (job == NULL || kept == NULL)
        return STEP_FAILED;
    job->actions[0] = *from;
    *kept = *answer;
    call->state->own = kept;
    return call_submit(call);
}

bool call_touched(struct api_call *call, const struct expr_update *update, struct slice image,
                  struct slice *out)
{
    struct buf projected;
    struct value_builder builder;
    *out = VALUE_NONE;
    if (update == NULL || image.len == 0)
        return true;
    buf_init(&projected, LIMIT_RESPONSE);
    value_builder_init(&builder, &projected);
    expr_project(expr_update_touched(update), image, &builder, &(struct steps){0});
    bool ok = !projected.failed;
    if (ok && value_count(buf_view(&projected)) > 0) {
        *out = arena_copy(&call->arena, buf_view(&projected));
        ok = out->ptr != NULL;
    }
    value_builder_release(&builder);
    buf_release(&projected);
    return ok || error_budget(&call->error);
}

static bool write_returned(struct api_call *call, struct json_writer *w,
                           const struct write_answer *answer, const struct write_action *action)
{
    struct slice returned = VALUE_NONE;
    bool ok = true;
    if (slice_is(answer->return_values, "ALL_OLD"))
        returned = action->out.old_item;
    else if (slice_is(answer->return_values, "ALL_NEW"))
        returned = action->out.new_item;
    else if (slice_is(answer->return_values, "UPDATED_OLD"))
        ok = call_touched(call, answer->update, action->out.old_item, &returned);
    else if (slice_is(answer->return_values, "UPDATED_NEW"))
        ok = call_touched(call, answer->update, action->out.new_item, &returned);
    if (returned.len > 0) {
        json_name(w, "Attributes");
        json_item(w, returned);
    }
    return ok;
}

static void finish_write(struct api_call *call)
{
    const struct write_answer *answer = call->state->own;
    const struct write_action *action = &call->state->write->actions[0];
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    if (!write_returned(call, &w, answer, action))
        return;
    enum capacity_detail detail = capacity_detail(answer->return_capacity);
    if (detail != CAPACITY_NONE) {
        struct capacity capacity = {.table = action->table};
        capacity_add_write(&capacity, action, 1);
        json_name(&w, "ConsumedCapacity");
        capacity_write_json(&w, &capacity, detail);
    }
    if (slice_is(answer->return_metrics, "SIZE") && action->out.collection_bytes >= 0) {
        json_name(&w, "ItemCollectionMetrics");
        collection_write_json(&w, action->table, action->item, action->out.collection_bytes);
    }
    json_close_object(&w);
}

void put_item_finish(struct api_call *call, const void *request)
{
    (void)request;
    finish_write(call);
}

static bool is_given(struct slice text)
{
    return text.ptr != NULL;
}

// ALL_OLD or NONE: what PutItem and DeleteItem take.
static bool check_return_values(struct api_call *call, struct slice return_values)
{
    return !is_given(return_values) || slice_is(return_values, "ALL_OLD") ||
           slice_is(return_values, "NONE") ||
           error_validation(&call->error, "ReturnValues can only be ALL_OLD or NONE");
}

// ---- PutItem and DeleteItem ---------------------------------------------------------------

// What the two requests have in common: all but whether they bring an item or a key.
struct conditional_write {
    enum write_kind kind;
    struct slice table_name;
    const struct field_value *subject; // the item or the key
    struct slice condition_expression;
    const struct field_map *names;
    const struct field_value *values;
    const struct field_map *expected;
    struct slice conditional_operator;
    struct slice old_on_failure;
    struct write_answer answer;
};

static bool compile_write(struct api_call *call, const struct conditional_write *write,
                          struct expr_condition **condition)
{
    struct param_set set = {
        .expression_count = 1,
        .expressions = {{"ConditionExpression", is_given(write->condition_expression)}},
        .legacy_count = 2,
        .legacy = {{"Expected", write->expected->set},
                   {"ConditionalOperator", is_given(write->conditional_operator)}},
        .names = write->names,
        .values = write->values,
        .takes_values = is_given(write->condition_expression),
        .values_need = "ConditionExpression is null",
    };
    struct expr_params params;
    if (!call_judged(call, params_check_styles(call, &set) &&
                               field_value_check(write->subject, &call->error) &&
                               check_return_values(call, write->answer.return_values)))
        return false;
    // The size of an item is not told in the envelope.
    if (write->kind == WRITE_PUT && !item_size_check(write->subject->value, &call->error))
        return false;
    return call_judged(call, params_open(call, &set, &params) &&
                                 params_condition(call, &params, write->condition_expression,
                                                  write->expected, write->conditional_operator,
                                                  condition) &&
                                 expr_params_finish(&params));
}

static enum step start_write(struct api_call *call, const struct conditional_write *write)
{
    struct write_action action = {.kind = write->kind, .item = write->subject->value};
    struct expr_condition *condition = NULL;
    if (!compile_write(call, write, &condition))
        return STEP_FAILED;
    action.table = call_table(call, write->table_name);
    if (action.table == NULL || !call_action_key(call, &action) ||
        !params_check_keys(&call->error, action.table,
                           (struct expressions){.condition = condition}))
        return STEP_FAILED;
    action.condition = condition;
    action.flags = write_flag_if(slice_is(write->answer.return_values, "ALL_OLD"), WRITE_OLD) |
                   write_flag_if(slice_is(write->old_on_failure, "ALL_OLD"), WRITE_OLD_ON_FAILURE);
    return submit_write(call, &action, &write->answer);
}

// The members of both requests have the same names.
#define CONDITIONAL_WRITE(write_kind, request, subject_member)                                     \
    &(struct conditional_write)                                                                    \
    {                                                                                              \
        .kind = (write_kind), .table_name = (request)->table_name,                                 \
        .subject = &(request)->subject_member,                                                     \
        .condition_expression = (request)->condition_expression,                                   \
        .names = &(request)->expression_attribute_names,                                           \
        .values = &(request)->expression_attribute_values, .expected = &(request)->expected,       \
        .conditional_operator = (request)->conditional_operator,                                   \
        .old_on_failure = (request)->return_values_on_condition_check_failure, .answer = {         \
            (request)->return_values,                                                              \
            (request)->return_consumed_capacity,                                                   \
            (request)->return_item_collection_metrics,                                             \
            NULL                                                                                   \
        }                                                                                          \
    }

enum step put_item_start(struct api_call *call, const void *decoded)
{
    const struct put_item_request *request = decoded;
    return start_write(call, CONDITIONAL_WRITE(WRITE_PUT, request, item));
}

enum step delete_item_start(struct api_call *call, const void *decoded)
{
    const struct delete_item_request *request = decoded;
    return start_write(call, CONDITIONAL_WRITE(WRITE_DELETE, request, key));
}

void delete_item_finish(struct api_call *call, const void *request)
{
    (void)request;
    finish_write(call);
}

// ---- UpdateItem ---------------------------------------------------------------------

static int compare_entries(const void *a, const void *b)
{
    const struct legacy_update *left = a;
    const struct legacy_update *right = b;
    return slice_compare(left->attribute, right->attribute);
}

// An UpdateExpression or AttributeUpdates; *out is NULL if neither is given.
static bool compile_update(struct api_call *call, const struct update_item_request *request,
                           struct expr_params *params, struct expr_update **out)
{
    *out = NULL;
    if (is_given(request->update_expression)) {
        *out = expr_compile_update(params, request->update_expression);
        return *out != NULL;
    }
    if (!request->attribute_updates.set || request->attribute_updates.count == 0)
        return true;
    size_t count = request->attribute_updates.count;
    const struct attribute_value_update *from = request->attribute_updates.items;
    struct legacy_update *entries = call_alloc(call, count, sizeof(*entries));
    if (entries == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!params_check_name(call, request->attribute_updates.names[i]) ||
            !field_value_check(&from[i].value, &call->error))
            return false;
        entries[i] = (struct legacy_update){.attribute = request->attribute_updates.names[i],
                                            .action = from[i].action,
                                            .value = from[i].value.value};
    }
    // In order, because that is how the writer takes thousands of them in its stride.
    qsort(entries, count, sizeof(*entries), compare_entries);
    *out = expr_legacy_update(&call->arena, &call->error, count, entries);
    return *out != NULL;
}

enum step update_item_start(struct api_call *call, const void *decoded)
{
    const struct update_item_request *request = decoded;
    struct param_set set = {
        .expression_count = 2,
        .expressions = {{"UpdateExpression", is_given(request->update_expression)},
                        {"ConditionExpression", is_given(request->condition_expression)}},
        .legacy_count = 3,
        .legacy = {{"AttributeUpdates", request->attribute_updates.set},
                   {"Expected", request->expected.set},
                   {"ConditionalOperator", is_given(request->conditional_operator)}},
        .names = &request->expression_attribute_names,
        .values = &request->expression_attribute_values,
        .takes_values =
            is_given(request->update_expression) || is_given(request->condition_expression),
        .values_need = "UpdateExpression and ConditionExpression are null",
    };
    struct write_action action = {.kind = WRITE_UPDATE, .item = request->key.value};
    struct expr_params params;
    struct expr_update *update = NULL;
    struct expr_condition *condition = NULL;
    if (!call_judged(call, params_check_styles(call, &set) &&
                               field_value_check(&request->key, &call->error) &&
                               params_open(call, &set, &params) &&
                               compile_update(call, request, &params, &update) &&
                               params_condition(call, &params, request->condition_expression,
                                                &request->expected, request->conditional_operator,
                                                &condition) &&
                               expr_params_finish(&params)))
        return STEP_FAILED;
    action.table = call_table(call, request->table_name);
    if (action.table == NULL || !call_action_key(call, &action) ||
        !params_check_keys(&call->error, action.table,
                           (struct expressions){.condition = condition, .update = update}))
        return STEP_FAILED;
    action.update = update;
    action.update_size = update == NULL ? 0 : expr_update_size(update);
    action.condition = condition;
    struct slice wanted = request->return_values;
    struct slice on_failure = request->return_values_on_condition_check_failure;
    action.flags =
        write_flag_if(slice_is(wanted, "ALL_OLD") || slice_is(wanted, "UPDATED_OLD"), WRITE_OLD) |
        write_flag_if(slice_is(wanted, "ALL_NEW") || slice_is(wanted, "UPDATED_NEW"), WRITE_NEW) |
        write_flag_if(slice_is(on_failure, "ALL_OLD"), WRITE_OLD_ON_FAILURE);
    return submit_write(call, &action,
                        &(struct write_answer){wanted, request->return_consumed_capacity,
                                               request->return_item_collection_metrics, update});
}

void update_item_finish(struct api_call *call, const void *request)
{
    (void)request;
    finish_write(call);
}

// ---- GetItem ------------------------------------------------------------------------

void project_item(const void *projection, struct slice item, struct value_builder *builder,
                  struct steps *steps)
{
    expr_project(projection, item, builder, steps);
}

void call_write_item(struct api_call *call, struct json_writer *w,
                     const struct expr_projection *projection, struct slice item,
                     struct steps *steps)
{
    if (projection == NULL)
        json_item(w, item);
    else
        call_write_projected(call, w, project_item, projection, item, steps);
}

void call_write_projected(struct api_call *call, struct json_writer *w, project_function *project,
                          const void *projection, struct slice item, struct steps *steps)
{
    struct buf projected;
    struct value_builder builder;
    if (project == NULL) {
        json_item(w, item);
        return;
    }
    buf_init(&projected, LIMIT_RESPONSE);
    value_builder_init(&builder, &projected);
    project(projection, item, &builder, steps);
    if (projected.failed)
        (void)error_budget(&call->error);
    else
        json_item(w, buf_view(&projected));
    value_builder_release(&builder);
    buf_release(&projected);
}

// The one item that was read, until the response is written: in the call's arena if that is left to
// the pool.
struct get_call {
    const struct get_item_request *request;
    struct expr_projection *projection;
    struct table *table;
    struct item_read read;
    struct api_call *call;   // of an order, which is
    struct read_order order; // for a store behind a network
};

static void drop_get(struct api_call *call)
{
    struct get_call *get = call->state->own;
    item_read_release(call_engine(call), &get->read);
}

static enum step answer_get(struct api_call *call, struct get_call *get)
{
    const struct get_item_request *request = get->request;
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    if (get->read.item.len > 0) {
        json_name(&w, "Item");
        call_write_item(call, &w, get->projection, get->read.item, &(struct steps){0});
    }
    double units = capacity_read_units(get->read.size, request->consistent_read.value);
    usage_read(call, get->table, NULL, units, get->read.item.len > 0);
    insights_read(call, get->table, NULL, request->key.value);
    enum capacity_detail detail = capacity_detail(request->return_consumed_capacity);
    if (detail != CAPACITY_NONE) {
        struct capacity capacity = {.table = get->table, .read = units};
        json_name(&w, "ConsumedCapacity");
        capacity_write_json(&w, &capacity, detail);
    }
    json_close_object(&w);
    item_read_release(call_engine(call), &get->read);
    return STEP_READY;
}

static enum step resume_get(struct api_call *call)
{
    return answer_get(call, call->state->own);
}

static enum step answer_get_later(struct api_call *call, struct get_call *get)
{
    struct api_state *state = call->state;
    state->own = call_alloc(call, 1, sizeof(*get));
    if (state->own == NULL) {
        item_read_release(call_engine(call), &get->read);
        return STEP_FAILED;
    }
    memcpy(state->own, get, sizeof(*get));
    state->drop = drop_get;
    state->resume = resume_get;
    return STEP_LATER;
}

static enum step resume_ordered(struct api_call *call)
{
    struct get_call *get = call->state->own;
    if (get->order.failed)
        return STEP_FAILED;
    get->read = get->order.read;
    get->order.read = (struct item_read){.item = VALUE_NONE};
    return call_show(call, get->table, &get->read) ? answer_get(call, get) : STEP_FAILED;
}

static void drop_ordered(struct api_call *call)
{
    struct get_call *get = call->state->own;
    item_read_release(call_engine(call), &get->read);
    item_read_release(call_engine(call), &get->order.read);
}

static void ordered(struct read_order *order)
{
    struct get_call *get =
        (struct get_call *)(void *)((uint8_t *)order - offsetof(struct get_call, order));
    call_arrived(get->call, order->read.item.len);
}

// Asks for the item and does not wait: the call goes on when it is there.
static enum step order_get(struct api_call *call, const struct get_call *get, struct slice key)
{
    struct api_state *state = call->state;
    struct get_call *kept = call_alloc(call, 1, sizeof(*kept));
    if (kept == NULL)
        return STEP_FAILED;
    *kept = *get;
    kept->call = call;
    kept->order = (struct read_order){.key = key, .error = &call->error, .done = ordered};
    state->own = kept;
    state->drop = drop_ordered;
    state->resume = resume_ordered;
    return engine_order(call_engine(call), &kept->order) ? STEP_PENDING : STEP_FAILED;
}

static bool compile_get(struct api_call *call, struct get_call *get)
{
    const struct get_item_request *request = get->request;
    struct param_set set = {
        .expression_count = 1,
        .expressions = {{"ProjectionExpression", is_given(request->projection_expression)}},
        .legacy_count = 1,
        .legacy = {{"AttributesToGet", request->attributes_to_get.set}},
        .names = &request->expression_attribute_names,
    };
    struct expr_params params;
    // Most ask for the whole item.
    if (!is_given(request->projection_expression) && !request->attributes_to_get.set &&
        !request->expression_attribute_names.set)
        return field_value_check(&request->key, &call->error);
    return params_check_styles(call, &set) && field_value_check(&request->key, &call->error) &&
           params_open(call, &set, &params) &&
           params_projection(call, &params, request->projection_expression,
                             &request->attributes_to_get, &get->projection) &&
           expr_params_finish(&params);
}

enum step get_item_start(struct api_call *call, const void *decoded)
{
    const struct get_item_request *request = decoded;
    struct get_call get = {.request = request};
    struct slice key;
    if (!compile_get(call, &get))
        return STEP_FAILED;
    get.table = call_table(call, request->table_name);
    call->state->subject = request->key.value;
    if (get.table == NULL || !call_key(call, get.table, request->key.value, &key) ||
        !params_check_keys(&call->error, get.table,
                           (struct expressions){.projection = get.projection}) ||
        !throttle_admit_read(call, get.table, NULL))
        return STEP_FAILED;
    if (call->state->at_once && engine_gathers(call_engine(call)))
        return order_get(call, &get, key);
    if (!call_get(call, get.table, NULL, key, &get.read))
        return STEP_FAILED;
    return get.read.item.len <= call->state->work ? answer_get(call, &get)
                                                  : answer_get_later(call, &get);
}
