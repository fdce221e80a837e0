// What each operation asks for: see authorize_list.h. A function here asks for one thing after
// another, and all of them must be allowed; what cannot be read as a name of anything is asked for
// as "*", and then refused by the operation itself.
#include "call/authorize.h"

#include "call/authorize_list.h"
#include "migration/migration.h"
#include "model/diagnostic.h"
#include "model/model.h"
#include "requests/requests_control.h"
#include "tables/arn.h"

#include <stddef.h>

typedef const struct authorize_row *row_pointer;

static struct slice text_at(row_pointer row, const void *request)
{
    return *(const struct slice *)(const void *)((const uint8_t *)request + row->at);
}

// The action of a row, on what is filled in besides.
#define ASK_ROW(row) .action = (row)->action, .id = (row)->id
// A few others.
#define ASK_TAG    ASK_DYNAMODB(TagResource)
#define ASK_POLICY ASK_DYNAMODB(PutResourcePolicy)

// ---- Tables -------------------------------------------------------------------------------------

static bool ask_all(struct api_call *call, row_pointer row, const void *request)
{
    (void)request;
    return call_ask(call, &(struct ask){ASK_ROW(row), .resource = SLICE_LIT("*")});
}

static bool ask_table(struct api_call *call, row_pointer row, const void *request)
{
    return call_ask(call, &(struct ask){ASK_ROW(row), .table = text_at(row, request)});
}

// One table, or all of them if none is named.
static bool ask_tables(struct api_call *call, row_pointer row, const void *request)
{
    struct slice table = text_at(row, request);
    return call_ask(call,
                    &(struct ask){ASK_ROW(row), .table = table.len > 0 ? table : SLICE_LIT("*")});
}

static bool ask_part(struct api_call *call, row_pointer row, struct slice arn, const char *kind)
{
    struct ask ask = {ASK_ROW(row), .part = kind};
    if (!arn_of_part(arn, kind, &ask.table, &ask.part_id))
        ask = (struct ask){ASK_ROW(row), .resource = SLICE_LIT("*")};
    return call_ask(call, &ask);
}

static bool ask_stream(struct api_call *call, row_pointer row, const void *request)
{
    return ask_part(call, row, text_at(row, request), "stream");
}

static bool ask_backup(struct api_call *call, row_pointer row, const void *request)
{
    return ask_part(call, row, text_at(row, request), "backup");
}

static bool ask_export(struct api_call *call, row_pointer row, const void *request)
{
    return ask_part(call, row, text_at(row, request), "export");
}

static bool ask_import(struct api_call *call, row_pointer row, const void *request)
{
    return ask_part(call, row, text_at(row, request), "import");
}

static bool ask_bulk_operation(struct api_call *call, row_pointer row, const void *request)
{
    return ask_part(call, row, text_at(row, request), "bulk");
}

static bool ask_table_or_stream(struct api_call *call, row_pointer row, const void *request)
{
    struct slice table, label;
    return arn_of_part(text_at(row, request), "stream", &table, &label)
               ? ask_stream(call, row, request)
               : ask_table(call, row, request);
}

// An iterator begins with the ARN of its stream.
static bool ask_iterator(struct api_call *call, row_pointer row, const void *request)
{
    struct slice rest = text_at(row, request);
    return ask_part(call, row, slice_cut(&rest, '|'), "stream");
}

static bool ask_index(struct api_call *call, row_pointer row, struct slice table,
                      struct slice index)
{
    return call_ask(call,
                    &(struct ask){ASK_ROW(row), .table = table,
                                  .part = index.ptr == NULL ? NULL : "index", .part_id = index});
}

static bool ask_describe_insights(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct describe_contributor_insights_request *request = decoded;
    return ask_index(call, row, request->table_name, request->index_name);
}

static bool ask_update_insights(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct update_contributor_insights_request *request = decoded;
    return ask_index(call, row, request->table_name, request->index_name);
}

static bool ask_search_vectors(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct search_vectors_request *request = decoded;
    return ask_index(call, row, request->table_name, request->index_name);
}

static bool ask_create_table(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct create_table_request *request = decoded;
    const struct field_list *tags = request->tags.count > 0 ? &request->tags : NULL;
    struct slice table = request->table_name;
    return call_ask(call, &(struct ask){ASK_ROW(row), .table = table, .tags = tags}) &&
           (tags == NULL || call_ask(call, &(struct ask){ASK_TAG, .table = table, .tags = tags})) &&
           (request->resource_policy.ptr == NULL ||
            call_ask(call, &(struct ask){ASK_POLICY, .table = table}));
}

static bool ask_update_table(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct update_table_request *request = decoded;
    const struct replication_group_update *updates = request->replica_updates.items;
    bool creates = false;
    bool deletes = false;
    for (size_t i = 0; i < request->replica_updates.count; i++) {
        creates = creates || updates[i].create != NULL;
        deletes = deletes || updates[i].delete != NULL;
    }
    struct slice table = request->table_name;
    return ask_table(call, row, decoded) &&
           (!creates ||
            call_ask(call, &(struct ask){ASK_DYNAMODB(CreateTableReplica), .table = table})) &&
           (!deletes ||
            call_ask(call, &(struct ask){ASK_DYNAMODB(DeleteTableReplica), .table = table}));
}

static bool ask_tag(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct tag_resource_request *request = decoded;
    return call_ask(
        call, &(struct ask){ASK_ROW(row), .table = request->resource_arn, .tags = &request->tags});
}

static bool ask_untag(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct untag_resource_request *request = decoded;
    return call_ask(call, &(struct ask){ASK_ROW(row), .table = request->resource_arn,
                                        .tag_keys = &request->tag_keys});
}

static bool ask_global(struct api_call *call, row_pointer row, const void *request)
{
    struct slice name = text_at(row, request);
    const char *arn = arena_printf(
        &call->arena, "arn:aws:dynamodb::" CALLER_ACCOUNT ":global-table/%.*s", SLICE_FMT(name));
    return arn == NULL ? error_budget(&call->error)
                       : call_ask(call, &(struct ask){ASK_ROW(row), .resource = slice_str(arn)});
}

static bool ask_global_and_table(struct api_call *call, row_pointer row, const void *request)
{
    return ask_global(call, row, request) && ask_table(call, row, request);
}

static bool ask_enable_kinesis(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct kinesis_destination_request *request = decoded;
    return ask_table(call, row, decoded) &&
           call_ask(call, &(struct ask){ASK_OTHER("kinesis:PutRecords"),
                                        .resource = request->stream_arn});
}

// ---- Items --------------------------------------------------------------------------------------

static bool ask_get_item(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct get_item_request *request = decoded;
    return call_ask(call, &(struct ask){ASK_ROW(row), .table = request->table_name, .item_count = 1,
                                        .items = &request->key.value,
                                        .projection = request->projection_expression,
                                        .names = &request->expression_attribute_names,
                                        .attributes_to_get = &request->attributes_to_get,
                                        .capacity = request->return_consumed_capacity});
}

static bool ask_put_item(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct put_item_request *request = decoded;
    return call_ask(
        call, &(struct ask){ASK_ROW(row), .table = request->table_name, .item_count = 1,
                            .items = &request->item.value, .whole = true,
                            .condition = request->condition_expression,
                            .names = &request->expression_attribute_names,
                            .values = &request->expression_attribute_values,
                            .legacy = {&request->expected}, .return_values = request->return_values,
                            .on_failure = request->return_values_on_condition_check_failure,
                            .capacity = request->return_consumed_capacity});
}

static bool ask_delete_item(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct delete_item_request *request = decoded;
    return call_ask(
        call,
        &(struct ask){ASK_ROW(row), .table = request->table_name, .item_count = 1,
                      .items = &request->key.value, .condition = request->condition_expression,
                      .names = &request->expression_attribute_names,
                      .values = &request->expression_attribute_values,
                      .legacy = {&request->expected}, .return_values = request->return_values,
                      .on_failure = request->return_values_on_condition_check_failure,
                      .capacity = request->return_consumed_capacity});
}

static bool ask_update_item(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct update_item_request *request = decoded;
    return call_ask(call,
                    &(struct ask){ASK_ROW(row), .table = request->table_name, .item_count = 1,
                                  .items = &request->key.value,
                                  .condition = request->condition_expression,
                                  .update = request->update_expression,
                                  .names = &request->expression_attribute_names,
                                  .values = &request->expression_attribute_values,
                                  .legacy = {&request->expected, &request->attribute_updates},
                                  .return_values = request->return_values,
                                  .on_failure = request->return_values_on_condition_check_failure,
                                  .capacity = request->return_consumed_capacity});
}

static bool ask_query(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct query_request *request = decoded;
    return call_ask(call,
                    &(struct ask){ASK_ROW(row), .table = request->table_name,
                                  .part = request->index_name.ptr == NULL ? NULL : "index",
                                  .part_id = request->index_name,
                                  .key_condition = request->key_condition_expression,
                                  .condition = request->filter_expression,
                                  .projection = request->projection_expression,
                                  .names = &request->expression_attribute_names,
                                  .values = &request->expression_attribute_values,
                                  .attributes_to_get = &request->attributes_to_get,
                                  .key_conditions = &request->key_conditions,
                                  .legacy = {&request->query_filter}, .select = request->select,
                                  .reads = true, .capacity = request->return_consumed_capacity});
}

static bool ask_scan(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct scan_request *request = decoded;
    return call_ask(
        call, &(struct ask){ASK_ROW(row), .table = request->table_name,
                            .part = request->index_name.ptr == NULL ? NULL : "index",
                            .part_id = request->index_name, .condition = request->filter_expression,
                            .projection = request->projection_expression,
                            .names = &request->expression_attribute_names,
                            .values = &request->expression_attribute_values,
                            .attributes_to_get = &request->attributes_to_get,
                            .legacy = {&request->scan_filter}, .select = request->select,
                            .reads = true, .capacity = request->return_consumed_capacity});
}

// Their values, which stay until the question is answered.
static const struct slice *item_values(struct api_call *call, const struct field_list *list)
{
    const struct field_value *from = list->items;
    struct slice *values = call_alloc(call, list->count + 1, sizeof(*values));
    for (size_t i = 0; values != NULL && i < list->count; i++)
        values[i] = from[i].value;
    return values;
}

static bool ask_batch_get(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct batch_get_item_request *request = decoded;
    const struct keys_and_attributes *entries = request->request_items.items;
    for (size_t i = 0; i < request->request_items.count; i++) {
        const struct slice *keys = item_values(call, &entries[i].keys);
        if (keys == NULL ||
            !call_ask(call, &(struct ask){ASK_ROW(row), .table = request->request_items.names[i],
                                          .item_count = entries[i].keys.count, .items = keys,
                                          .projection = entries[i].projection_expression,
                                          .names = &entries[i].expression_attribute_names,
                                          .attributes_to_get = &entries[i].attributes_to_get,
                                          .capacity = request->return_consumed_capacity}))
            return false;
    }
    return request->request_items.count > 0 || ask_all(call, row, decoded);
}

// All of one table: first the items that are put, then the keys of those that are deleted.
static bool ask_writes(struct api_call *call, row_pointer row, struct slice table,
                       const struct field_list *list, struct slice capacity)
{
    const struct write_request *writes = list->items;
    struct slice *values = call_alloc(call, 2 * list->count + 1, sizeof(*values));
    size_t count = 0;
    if (values == NULL)
        return false;
    for (size_t i = 0; i < list->count; i++) {
        if (writes[i].put_request != NULL)
            values[count++] = writes[i].put_request->item.value;
    }
    size_t puts = count;
    for (size_t i = 0; i < list->count; i++) {
        if (writes[i].delete_request != NULL)
            values[count++] = writes[i].delete_request->key.value;
    }
    return call_ask(call, &(struct ask){ASK_ROW(row), .table = table, .item_count = count,
                                        .items = values, .whole = puts, .capacity = capacity});
}

static bool ask_batch_write(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct batch_write_item_request *request = decoded;
    const struct field_list *lists = request->request_items.items;
    for (size_t i = 0; i < request->request_items.count; i++) {
        if (!ask_writes(call, row, request->request_items.names[i], &lists[i],
                        request->return_consumed_capacity))
            return false;
    }
    return request->request_items.count > 0 || ask_all(call, row, decoded);
}

// What a sweep has archived is put back: this server's own.
static bool ask_restore_items(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct batch_write_item_request *request = decoded;
    for (size_t i = 0; i < request->request_items.count; i++) {
        if (!call_ask(call, &(struct ask){ASK_ROW(row), .table = request->request_items.names[i]}))
            return false;
    }
    return request->request_items.count > 0 || ask_all(call, row, decoded);
}

// ---- Transactions -------------------------------------------------------------------------------

static bool ask_transact_get(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct transact_get_items_request *request = decoded;
    const struct transact_get_item *entries = request->transact_items.items;
    (void)row;
    for (size_t i = 0; i < request->transact_items.count; i++) {
        const struct transact_get *get = entries[i].get;
        if (get != NULL &&
            !call_ask(call, &(struct ask){ASK_DYNAMODB(GetItem), .table = get->table_name,
                                          .item_count = 1, .items = &get->key.value,
                                          .projection = get->projection_expression,
                                          .names = &get->expression_attribute_names,
                                          .capacity = request->return_consumed_capacity,
                                          .enclosing = call->operation}))
            return false;
    }
    return true;
}

static bool ask_transact_write(struct api_call *call, row_pointer row, const void *decoded)
{
    static const struct {
        struct slice action;
        enum policy_action_id id;
    } kinds[] = {{ASK_DYNAMODB(ConditionCheckItem)},
                 {ASK_DYNAMODB(PutItem)},
                 {ASK_DYNAMODB(DeleteItem)},
                 {ASK_DYNAMODB(UpdateItem)}};
    const struct transact_write_items_request *request = decoded;
    const struct transact_write_item *entries = request->transact_items.items;
    (void)row;
    for (size_t i = 0; i < request->transact_items.count * COUNT_OF(kinds); i++) {
        const struct transact_write_item *entry = &entries[i / COUNT_OF(kinds)];
        size_t kind = i % COUNT_OF(kinds);
        const struct transact_action *actions[COUNT_OF(kinds)] = {
            entry->condition_check, entry->put, entry->delete, entry->update};
        const struct transact_action *action = actions[kind];
        bool puts = kind == 1;
        if (action != NULL &&
            !call_ask(call,
                      &(struct ask){.action = kinds[kind].action,
                                    .id = kinds[kind].id,
                                    .table = action->table_name,
                                    .item_count = 1,
                                    .items = puts ? &action->item.value : &action->key.value,
                                    .whole = puts,
                                    .condition = action->condition_expression,
                                    .update = action->update_expression,
                                    .names = &action->expression_attribute_names,
                                    .values = &action->expression_attribute_values,
                                    .on_failure = action->return_values_on_condition_check_failure,
                                    .capacity = request->return_consumed_capacity,
                                    .enclosing = call->operation}))
            return false;
    }
    return true;
}

// Each statement asks when it has been parsed (items/partiql.c).
static bool ask_later(struct api_call *call, row_pointer row, const void *request)
{
    (void)call;
    (void)row;
    (void)request;
    return true;
}

// ---- Copies of tables ---------------------------------------------------------------------------

// All objects of a bucket whose names begin so.
static bool ask_objects(struct api_call *call, struct slice action, struct slice bucket,
                        struct slice prefix)
{
    const char *arn =
        arena_printf(&call->arena, "arn:aws:s3:::%.*s/%.*s*", SLICE_FMT(bucket), SLICE_FMT(prefix));
    return arn == NULL ? error_budget(&call->error)
                       : call_ask(call, &(struct ask){.action = action,
                                                      .id = POLICY_ACTION_UNKNOWN,
                                                      .resource = slice_str(arn)});
}

static bool ask_source(struct api_call *call, struct slice bucket, struct slice prefix)
{
    const char *arn = arena_printf(&call->arena, "arn:aws:s3:::%.*s", SLICE_FMT(bucket));
    return arn == NULL ? error_budget(&call->error)
                       : call_ask(call, &(struct ask){ASK_OTHER("s3:ListBucket"),
                                                      .resource = slice_str(arn)}) &&
                             ask_objects(call, SLICE_LIT("s3:GetObject"), bucket, prefix);
}

static bool ask_export_table(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct export_table_request *request = decoded;
    return ask_table(call, row, decoded) &&
           ask_objects(call, SLICE_LIT("s3:PutObject"), request->s3_bucket, request->s3_prefix);
}

static bool ask_import_table(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct import_table_request *request = decoded;
    const struct s3_bucket_source *source = request->s3_bucket_source;
    struct slice table = request->table_creation_parameters->table_name;
    return call_ask(call, &(struct ask){ASK_ROW(row), .table = table}) &&
           ask_source(call, source->s3_bucket, source->s3_key_prefix);
}

static bool ask_bulk_put(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct start_bulk_put_items_request *request = decoded;
    return ask_table(call, row, decoded) &&
           ask_source(call, request->input->bucket, request->input->key_prefix) &&
           ask_objects(call, SLICE_LIT("s3:PutObject"), request->output->bucket,
                       request->output->key_prefix);
}

// The service asks whoever restores for all of this on the new table.
static bool ask_filled(struct api_call *call, struct slice table)
{
    static const struct {
        struct slice action;
        enum policy_action_id id;
    } needed[] = {{ASK_DYNAMODB(BatchWriteItem)}, {ASK_DYNAMODB(DeleteItem)},
                  {ASK_DYNAMODB(GetItem)},        {ASK_DYNAMODB(PutItem)},
                  {ASK_DYNAMODB(Query)},          {ASK_DYNAMODB(Scan)},
                  {ASK_DYNAMODB(UpdateItem)}};
    for (size_t i = 0; i < COUNT_OF(needed); i++) {
        if (!call_ask(call, &(struct ask){.action = needed[i].action,
                                          .id = needed[i].id,
                                          .table = table,
                                          .reads = true}))
            return false;
    }
    return true;
}

static bool ask_restore_backup(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct restore_table_from_backup_request *request = decoded;
    return ask_part(call, row, request->backup_arn, "backup") &&
           call_ask(call, &(struct ask){ASK_ROW(row), .table = request->target_table_name}) &&
           ask_filled(call, request->target_table_name);
}

static bool ask_restore_time(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct restore_table_to_point_in_time_request *request = decoded;
    bool by_arn = request->source_table_arn.ptr != NULL;
    return call_ask(call,
                    &(struct ask){ASK_ROW(row), .table = by_arn ? request->source_table_arn
                                                                : request->source_table_name}) &&
           (!by_arn || request->source_table_name.ptr == NULL ||
            call_ask(call, &(struct ask){ASK_ROW(row), .table = request->source_table_name})) &&
           call_ask(call, &(struct ask){ASK_ROW(row), .table = request->target_table_name}) &&
           ask_filled(call, request->target_table_name);
}

// ---- Designs ------------------------------------------------------------------------------------

// Every table of the model. One that cannot be read touches none.
static bool ask_model(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct apply_model_request *request = decoded;
    struct diagnostics diagnostics;
    diagnostics_init(&diagnostics, &call->arena);
    struct model *model = model_parse(request->file_name, request->model, &diagnostics);
    bool allowed = true;
    for (size_t i = 0; allowed && model != NULL && i < model->table_count; i++)
        allowed = call_ask(call, &(struct ask){ASK_ROW(row), .table = model->tables[i].name});
    model_release(model);
    return allowed;
}

static bool ask_migration(struct api_call *call, row_pointer row, const void *decoded)
{
    const struct apply_migration_request *request = decoded;
    struct diagnostics diagnostics;
    diagnostics_init(&diagnostics, &call->arena);
    const struct migration *migration =
        migration_parse(request->migration, &call->arena, &diagnostics);
    bool allowed =
        migration == NULL || call_ask(call, &(struct ask){ASK_ROW(row), .table = migration->table});
    return allowed;
}

// ---- Identities ---------------------------------------------------------------------------------

// The ARN of what is named, or one that is given as such: what is of another account is found by
// no operation.
static bool ask_identity(struct api_call *call, row_pointer row, const void *request,
                         const char *kind)
{
    struct slice name = text_at(row, request);
    const char *arn = slice_begins(name, SLICE_LIT("arn:"))
                          ? arena_printf(&call->arena, "%.*s", SLICE_FMT(name))
                          : arena_printf(&call->arena, "arn:aws:iam::000000000000:%s/%.*s", kind,
                                         SLICE_FMT(name));
    if (arn == NULL)
        return error_budget(&call->error);
    return call_ask(call, &(struct ask){ASK_ROW(row), .resource = slice_str(arn)});
}

static bool ask_iam_user(struct api_call *call, row_pointer row, const void *request)
{
    return ask_identity(call, row, request, "user");
}

static bool ask_iam_group(struct api_call *call, row_pointer row, const void *request)
{
    return ask_identity(call, row, request, "group");
}

static bool ask_iam_role(struct api_call *call, row_pointer row, const void *request)
{
    return ask_identity(call, row, request, "role");
}

static bool ask_iam_policy(struct api_call *call, row_pointer row, const void *request)
{
    return ask_identity(call, row, request, "policy");
}

// ---- The table ----------------------------------------------------------------------------------

const struct authorize_row authorize_rows[] = {
#define X(op, service, how, where)                                                                 \
    [AUTHORIZE_##op] = {AUTHORIZE_##service(op), .ask = ask_##how, .at = (where)},
    AUTHORIZE_LIST(X)
#undef X
};
