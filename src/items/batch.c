// BatchGetItem and BatchWriteItem: many items of several tables in one request. Everything is
// processed, within the limits of a response: UnprocessedKeys is used when 16 MB of items are
// reached, UnprocessedItems when the disk fails between two parts of a large batch.
#include "call/insights.h"

#include <stdlib.h>

static const char duplicates[] = "Provided list of item keys contains duplicates";

// Whether two of the tree keys are equal. The array is sorted in place.
static int compare_keys(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

bool call_has_duplicates(struct slice *keys, size_t count)
{
    if (count > 1)
        qsort(keys, count, sizeof(*keys), compare_keys);
    for (size_t i = 1; i < count; i++) {
        if (slice_equal(keys[i - 1], keys[i]))
            return true;
    }
    return false;
}

static bool check_any(struct api_call *call, const struct field_map *tables, const char *operation)
{
    return tables->count > 0 ||
           error_validation(&call->error, "The requestItems parameter is required for %s",
                            operation);
}

// ---- BatchGetItem -----------------------------------------------------------------------------

struct get_group {
    const struct keys_and_attributes *request;
    struct table *table;
    struct expr_projection *projection;
    struct slice *keys; // tree keys, in the order of the request
    size_t done;        // how many have been read
    bool open;          // its array has been begun
    double units;
};

static bool compile_group(struct api_call *call, struct param_set set, struct get_group *group)
{
    const struct keys_and_attributes *request = group->request;
    struct expr_params params;
    const struct field_value *keys = request->keys.items;
    set.expressions[0].given = request->projection_expression.ptr != NULL;
    set.legacy[0].given = request->attributes_to_get.set;
    set.names = &request->expression_attribute_names;
    if (!params_check_styles(call, &set))
        return false;
    for (size_t i = 0; i < request->keys.count; i++) {
        if (!field_value_check(&keys[i], &call->error))
            return false;
    }
    return params_open(call, &set, &params) &&
           params_projection(call, &params, request->projection_expression,
                             &request->attributes_to_get, &group->projection) &&
           expr_params_finish(&params);
}

// No key comes twice; that is told even if there is no such table.
static bool check_group(struct api_call *call, struct get_group *group)
{
    const struct field_value *keys = group->request->keys.items;
    size_t count = group->request->keys.count;
    group->keys = call_alloc(call, count, sizeof(struct slice));
    if (group->keys == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        group->keys[i] = keys[i].value;
    return !call_has_duplicates(group->keys, count) ||
           error_validation(&call->error, "%s", duplicates);
}

static bool find_group_keys(struct api_call *call, struct slice table_name, struct get_group *group)
{
    const struct field_value *keys = group->request->keys.items;
    group->table = call_table(call, table_name);
    if (group->table == NULL)
        return false;
    for (size_t i = 0; i < group->request->keys.count; i++) {
        if (!call_key(call, group->table, keys[i].value, &group->keys[i]))
            return false;
    }
    return params_check_nesting(&call->error, group->table,
                                (struct expressions){.projection = group->projection});
}

static struct get_group *prepare_groups(struct api_call *call,
                                        const struct batch_get_item_request *request)
{
    const struct field_map *map = &request->request_items;
    const struct keys_and_attributes *entries = map->items;
    struct get_group *groups = call_alloc(call, map->count, sizeof(*groups));
    if (groups == NULL)
        return NULL;
    size_t total = 0;
    static const struct field_map no_names;
    struct param_set set = {.expression_count = 1,
                            .expressions = {{.name = "ProjectionExpression"}},
                            .legacy_count = 1,
                            .legacy = {{.name = "AttributesToGet"}},
                            .names = &no_names};
    for (size_t i = 0; i < map->count; i++) {
        set.expressions[0].given |= entries[i].projection_expression.ptr != NULL;
        set.legacy[0].given |= entries[i].attributes_to_get.set;
    }
    // The two styles do not meet in one request, be it for different tables.
    if (!params_check_styles(call, &set))
        return NULL;
    for (size_t i = 0; i < map->count; i++) {
        groups[i].request = &entries[i];
        total += entries[i].keys.count;
        if (!compile_group(call, set, &groups[i]))
            return NULL;
    }
    if (total > LIMIT_BATCH_GET) {
        (void)error_validation(&call->error, "Too many items requested for the BatchGetItem call");
        return NULL;
    }
    for (size_t i = 0; i < map->count; i++) {
        if (!check_group(call, &groups[i]))
            return NULL;
    }
    for (size_t i = 0; i < map->count; i++) {
        if (!find_group_keys(call, map->names[i], &groups[i]))
            return NULL;
    }
    return groups;
}

// Whether an item of that size is left for another request: it would take the answer over its
// limit. Lists of many small elements grow eightfold in JSON, so the answer is measured as well.
static bool is_full(const struct api_call *call, uint64_t bytes, uint64_t size)
{
    return bytes + size > LIMIT_BATCH_BYTES || call->response.len >= LIMIT_BATCH_RESPONSE;
}

// All groups, and how far they have been read.
struct get_batch {
    struct api_call *call;
    const struct batch_get_item_request *request;
    struct get_group *groups;
    size_t group;           // the one being read
    uint64_t bytes;         // that have been read
    bool full;              // the rest is left for another request
    struct item_read *held; // items that were read together and wait to be written
    size_t held_at;
    size_t held_count;
    struct json_writer w;
};

static void drop_batch(struct api_call *call)
{
    struct get_batch *batch = call->state->own;
    for (size_t i = batch->held_at; i < batch->held_count; i++)
        item_read_release(call_engine(call), &batch->held[i]);
}

// The next items of the group, as many as the slice has work for.
static bool fetch_items(struct get_batch *batch, const struct get_group *group)
{
    struct api_call *call = batch->call;
    size_t count = group->request->keys.count - group->done;
    batch->held_at = batch->held_count = 0;
    if (!call_get_many(call, NULL, group->keys + group->done, &count, batch->held))
        return false;
    batch->held_count = count;
    for (size_t i = 0; i < count; i++) {
        if (!call_show(call, group->table, &batch->held[i]))
            return false;
    }
    return true;
}

static void write_held(struct get_batch *batch, struct get_group *group)
{
    struct api_call *call = batch->call;
    struct item_read *read = &batch->held[batch->held_at++];
    const struct field_value *keys = group->request->keys.items;
    double units = capacity_read_units(read->size, group->request->consistent_read.value);
    if (read->item.len > 0)
        call_write_item(call, &batch->w, group->projection, read->item, &(struct steps){0});
    batch->bytes += read->size;
    group->units += units;
    usage_read(call, group->table, NULL, units, read->item.len > 0);
    insights_read(call, group->table, NULL, keys[group->done++].value);
    item_read_release(call_engine(call), read);
}

// Reads on in the group until it is done or the response full. READ_MORE is the end of a slice.
static enum read_step read_group(struct get_batch *batch, struct get_group *group)
{
    struct api_call *call = batch->call;
    while (group->done < group->request->keys.count && !batch->full) {
        if (batch->held_at == batch->held_count && !fetch_items(batch, group))
            return READ_FAILED;
        const struct item_read *read = &batch->held[batch->held_at];
        batch->full = is_full(call, batch->bytes, read->size);
        if (batch->full)
            break;
        if (!work_spend(&call->state->work, read->item.len))
            return READ_MORE;
        write_held(batch, group);
    }
    return READ_DONE;
}

static void write_names(struct json_writer *w, const char *name, const struct field_list *list)
{
    const struct slice *names = list->items;
    json_put_array(w, name);
    for (size_t i = 0; i < list->count; i++)
        json_string(w, names[i]);
    json_close_array(w);
}

// The rest of a group in the form of a request, so that the client can send it again.
static void write_unprocessed(struct json_writer *w, const struct get_group *group)
{
    const struct keys_and_attributes *request = group->request;
    const struct field_value *keys = request->keys.items;
    json_open_object(w);
    json_put_array(w, "Keys");
    for (size_t i = group->done; i < request->keys.count; i++)
        json_item(w, keys[i].value);
    json_close_array(w);
    if (request->attributes_to_get.set)
        write_names(w, "AttributesToGet", &request->attributes_to_get);
    if (request->consistent_read.set)
        json_put_flag(w, "ConsistentRead", request->consistent_read.value);
    if (request->projection_expression.ptr != NULL)
        json_put_string(w, "ProjectionExpression", request->projection_expression);
    if (request->expression_attribute_names.set) {
        const struct field_map *names = &request->expression_attribute_names;
        const struct slice *attributes = names->items;
        json_put_object(w, "ExpressionAttributeNames");
        for (size_t i = 0; i < names->count; i++) {
            json_name_slice(w, names->names[i]);
            json_string(w, attributes[i]);
        }
        json_close_object(w);
    }
    json_close_object(w);
}

static enum step finish_get(struct get_batch *batch)
{
    struct json_writer *w = &batch->w;
    const struct field_map *map = &batch->request->request_items;
    const struct get_group *groups = batch->groups;
    json_close_object(w);
    json_put_object(w, "UnprocessedKeys");
    for (size_t i = 0; i < map->count; i++) {
        if (groups[i].done < groups[i].request->keys.count) {
            json_name_slice(w, map->names[i]);
            write_unprocessed(w, &groups[i]);
        }
    }
    json_close_object(w);
    enum capacity_detail detail = capacity_detail(batch->request->return_consumed_capacity);
    if (detail != CAPACITY_NONE) {
        json_put_array(w, "ConsumedCapacity");
        for (size_t i = 0; i < map->count; i++) {
            struct capacity capacity = {.table = groups[i].table, .read = groups[i].units};
            capacity_write_json(w, &capacity, detail);
        }
        json_close_array(w);
    }
    json_close_object(w);
    return STEP_READY;
}

static enum step read_groups(struct api_call *call)
{
    struct get_batch *batch = call->state->own;
    const struct field_map *map = &batch->request->request_items;
    call->state->resume = read_groups;
    while (batch->group < map->count) {
        struct get_group *group = &batch->groups[batch->group];
        if (!group->open) {
            json_name_slice(&batch->w, map->names[batch->group]);
            json_open_array(&batch->w);
            group->open = true;
        }
        enum read_step step = read_group(batch, group);
        if (step != READ_DONE)
            return step == READ_MORE ? STEP_LATER : STEP_FAILED;
        json_close_array(&batch->w);
        batch->group++;
    }
    return finish_get(batch);
}

enum step batch_get_item_start(struct api_call *call, const void *decoded)
{
    const struct batch_get_item_request *request = decoded;
    if (!check_any(call, &request->request_items, "BatchGetItem"))
        return STEP_FAILED;
    struct get_batch *batch = call_alloc(call, 1, sizeof(*batch));
    struct get_group *groups = batch == NULL ? NULL : prepare_groups(call, request);
    struct item_read *held =
        groups == NULL ? NULL : call_alloc(call, LIMIT_BATCH_GET, sizeof(*held));
    if (held == NULL)
        return STEP_FAILED;
    for (size_t i = 0; i < request->request_items.count; i++) {
        if (!throttle_admit_read(call, groups[i].table, NULL))
            return STEP_FAILED;
    }
    *batch = (struct get_batch){
        .call = call, .request = request, .groups = groups, .held = held, .w = call_writer(call)};
    call->state->own = batch;
    call->state->drop = drop_batch;
    json_open_object(&batch->w);
    json_put_object(&batch->w, "Responses");
    return read_groups(call);
}

// ---- BatchWriteItem -----------------------------------------------------------------

// The values of one entry, before any table is looked at.
static bool check_entry(struct api_call *call, const struct write_request *entry)
{
    if ((entry->put_request != NULL) == (entry->delete_request != NULL))
        return error_validation(&call->error,
                                "Supplied AttributeValue has more than one datatypes set, must "
                                "contain exactly one of the supported datatypes");
    if (entry->put_request == NULL)
        return field_value_check(&entry->delete_request->key, &call->error);
    return field_value_check(&entry->put_request->item, &call->error) &&
           item_size_check(entry->put_request->item.value, &call->error);
}

static bool has_key(const struct table *table, struct slice item)
{
    for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count; i++)
        if (value_get(item, table->keys.parts[i].name).len == 0)
            return false;
    return true;
}

// A put whose key does not fit is told so in the words of a Key, unlike PutItem's.
static bool check_put_key(struct api_call *call, const struct table *table, struct slice item)
{
    for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count; i++) {
        const struct key_part *part = &table->keys.parts[i];
        struct slice value = value_get(item, part->name);
        if (value.len == 0 || value_type(value) != part->type)
            return error_validation(&call->error,
                                    "The provided key element does not match the schema");
    }
    return true;
}

static bool make_action(struct api_call *call, struct table *table,
                        const struct write_request *entry, struct write_action *action)
{
    action->table = table;
    if (entry->put_request != NULL) {
        action->kind = WRITE_PUT;
        action->flags |= WRITE_BATCH;
        action->item = entry->put_request->item.value;
        // What is brought back with its key is completed by the writer alone.
        if (call->state->write->restores && has_key(table, action->item))
            return write_action_address(action, &call->arena, &call->error);
        return (table->guard != NULL || check_put_key(call, table, action->item)) &&
               call_action_key(call, action);
    }
    action->kind = WRITE_DELETE;
    action->item = entry->delete_request->key.value;
    return call_action_key(call, action);
}

static bool check_entries(struct api_call *call, const struct field_map *map, size_t *total)
{
    const struct field_list *lists = map->items;
    *total = 0;
    for (size_t i = 0; i < map->count; i++) {
        const struct write_request *entries = lists[i].items;
        *total += lists[i].count;
        for (size_t k = 0; k < lists[i].count; k++) {
            if (!check_entry(call, &entries[k]))
                return false;
        }
    }
    if (*total > LIMIT_BATCH_WRITE)
        return error_validation(&call->error,
                                "Too many items requested for the BatchWriteItem call");
    return true;
}

// Entries are judged one after the other, each also against those before it.
static bool make_actions(struct api_call *call, const struct field_map *map, struct write_job *job)
{
    const struct field_list *lists = map->items;
    struct write_action *action = job->actions;
    for (size_t i = 0; i < map->count; i++) {
        const struct write_request *entries = lists[i].items;
        struct table *table = call_table(call, map->names[i]);
        if (table == NULL)
            return false;
        for (size_t k = 0; k < lists[i].count; k++, action++) {
            if (!make_action(call, table, &entries[k], action))
                return false;
            for (const struct write_action *other = job->actions; other < action; other++) {
                if (slice_equal(other->key, action->key))
                    return error_validation(&call->error, "%s", duplicates);
            }
        }
    }
    return true;
}

static enum step begin_writes(struct api_call *call, const struct batch_write_item_request *request,
                              const char *name, bool restores)
{
    size_t total;
    if (!check_any(call, &request->request_items, name))
        return STEP_FAILED;
    if (!check_entries(call, &request->request_items, &total))
        return STEP_FAILED;
    struct write_job *job = call_write_job(call, total);
    if (job == NULL)
        return STEP_FAILED;
    job->restores = restores;
    if (!make_actions(call, &request->request_items, job))
        return STEP_FAILED;
    return call_submit(call);
}

enum step batch_write_item_start(struct api_call *call, const void *decoded)
{
    return begin_writes(call, decoded, "BatchWriteItem", false);
}

// None of DynamoDB's: a batch of items as an export has them, which are to be what they were.
enum step restore_items_start(struct api_call *call, const void *decoded)
{
    return begin_writes(call, decoded, "RestoreItems", true);
}

static void write_entry(struct json_writer *w, const struct write_request *entry)
{
    bool put = entry->put_request != NULL;
    json_open_object(w);
    json_name(w, put ? "PutRequest" : "DeleteRequest");
    json_open_object(w);
    json_name(w, put ? "Item" : "Key");
    json_item(w, put ? entry->put_request->item.value : entry->delete_request->key.value);
    json_close_object(w);
    json_close_object(w);
}

// Actions are in the order of the entries, and those that were not done are the last.
static void write_undone(struct json_writer *w, const struct field_map *map,
                         const struct write_action *action)
{
    const struct field_list *lists = map->items;
    for (size_t i = 0; i < map->count; i++) {
        const struct write_request *entries = lists[i].items;
        bool open = false;
        for (size_t k = 0; k < lists[i].count; k++, action++) {
            if (action->out.failure == ERR_NONE)
                continue;
            if (!open) {
                json_name_slice(w, map->names[i]);
                json_open_array(w);
            }
            open = true;
            write_entry(w, &entries[k]);
        }
        if (open)
            json_close_array(w);
    }
}

void batch_write_item_finish(struct api_call *call, const void *decoded)
{
    const struct batch_write_item_request *request = decoded;
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_object(&w, "UnprocessedItems");
    write_undone(&w, &request->request_items, call->state->write->actions);
    json_close_object(&w);
    call_write_job_results(&w, call->state->write, request->return_consumed_capacity,
                           request->return_item_collection_metrics, 1);
    json_close_object(&w);
}

void restore_items_finish(struct api_call *call, const void *decoded)
{
    batch_write_item_finish(call, decoded);
}
