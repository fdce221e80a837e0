// StartBulkPutItems, DescribeBulkOperation, ListBulkOperations and CancelBulkOperation: the records
// of bulk operations. The work is in bulk_run.c.
#include "history/exchange_call.h"

enum { PAGE_DEFAULT = 10, ID_LEN = 14 + 1 + 8 };

// ---- Descriptions ----------------------------------------------------------------------------

static const char *status_name(const struct bulk_record *bulk)
{
    static const char *const names[] = {"IN_PROGRESS", "COMPLETED", "COMPLETED_WITH_ERRORS",
                                        "CANCELLED", "FAILED"};
    return bulk->base.status == BULK_IN_PROGRESS && bulk->cancel ? "CANCELLING"
                                                                 : names[bulk->base.status];
}

static void member_places(struct json_writer *w, const struct bulk_record *bulk)
{
    json_put_object(w, "InputS3Configuration");
    json_put_given(w, "S3BucketOwner", bulk->base.owner);
    json_put_string(w, "S3Bucket", bulk->base.bucket);
    json_put_given(w, "S3KeyPrefix", bulk->base.prefix);
    json_put_string(w, "InputFormat", bulk->format);
    json_put_string(w, "InputCompressionType",
                    bulk->compression.len > 0 ? bulk->compression : SLICE_LIT("NONE"));
    json_close_object(w);
    json_put_object(w, "OutputS3Configuration");
    json_put_given(w, "S3BucketOwner", bulk->out_owner);
    json_put_string(w, "S3Bucket", bulk->out_bucket);
    json_put_given(w, "S3KeyPrefix", bulk->out_prefix);
    json_put_given(w, "S3SseAlgorithm", bulk->sse_algorithm);
    json_put_given(w, "S3SseKmsKeyId", bulk->sse_key);
    json_put_array(w, "OutputType");
    if (bulk->report_errors)
        json_string(w, SLICE_LIT("ERROR"));
    if (bulk->report_conditions)
        json_string(w, SLICE_LIT("CONDITION_CHECK_FAILURE"));
    json_close_array(w);
    json_close_object(w);
}

static void member_usage(struct json_writer *w, const struct bulk_record *bulk)
{
    json_form(w,
              "'BulkOperationUsage':[{'TableName':%.*s,'BulkPutBytes':%lld,'Table':{"
              "'BulkPutBytes':%lld}}]",
              SLICE_FMT(bulk->base.table), (long long)bulk->written_bytes,
              (long long)bulk->written_bytes);
}

static void describe(struct json_writer *w, struct arena *arena, const struct bulk_record *bulk)
{
    const struct exchange *base = &bulk->base;
    json_open_object(w);
    json_put_string(w, "BulkOperationArn", exchange_arn(arena, base, "bulk"));
    json_form(w,
              "'BulkOperationStatus':%s,'TableDetails':[{'TableName':%.*s,"
              "'TableId':%.*s}]",
              status_name(bulk), SLICE_FMT(base->table), SLICE_FMT(base->table_id));
    json_put_given(w, "ClientToken", base->token);
    member_places(w, bulk);
    json_put_given_time(w, "StartTime", base->started_ms);
    json_put_given_time(w, "EndTime", base->ended_ms);
    json_put_integer(w, "ProcessedItemCount", bulk->processed_items);
    json_put_integer(w, "ProcessedInputBytes", bulk->processed_bytes);
    if (bulk->total_bytes > 0 || bulk->base.status != BULK_IN_PROGRESS)
        json_put_integer(w, "TotalInputBytes", bulk->total_bytes);
    member_usage(w, bulk);
    json_put_integer(w, "FailedItemCount", bulk->failed_items);
    json_put_given(w, "FailureCode", base->failure_code);
    json_put_given(w, "FailureMessage", base->failure_message);
    if (bulk->max_units > 0)
        json_put_integer(w, "MaxWriteRequestUnits", bulk->max_units);
    json_put_string(w, "PerformanceTier", bulk->tier.len > 0 ? bulk->tier : SLICE_LIT("STANDARD"));
    json_close_object(w);
}

static void respond(struct api_call *call, const struct bulk_record *bulk)
{
    struct json_writer w = call_open(call);
    json_name(&w, "BulkOperationDescription");
    describe(&w, &call->arena, bulk);
    json_close_object(&w);
}

static bool find(struct api_call *call, struct slice arn, struct slice *record)
{
    struct arn parts;
    if (!arn_split(arn, &parts) || !slice_is(parts.service, "dynamodb"))
        return error_validation(&call->error, "Invalid BulkOperationArn: %.*s", SLICE_FMT(arn));
    if (!call_exchange(call, "bulk", arn, record))
        return false;
    return record->len > 0 ||
           error_set(&call->error, ERR_RESOURCE_NOT_FOUND,
                     "Requested resource not found: BulkOperation: %.*s not found", SLICE_FMT(arn));
}

enum step describe_bulk_operation_start(struct api_call *call, const void *decoded)
{
    const struct bulk_operation_request *request = decoded;
    struct slice record;
    struct bulk_record bulk;
    if (!find(call, request->bulk_operation_arn, &record))
        return STEP_FAILED;
    map_decode(&bulk_form, record, &bulk);
    respond(call, &bulk);
    return STEP_READY;
}

// ---- The list --------------------------------------------------------------------------------

static void write_listed(struct json_writer *w, struct arena *arena, struct slice record)
{
    struct bulk_record bulk;
    map_decode(&bulk_form, record, &bulk);
    json_open_object(w);
    json_put_string(w, "BulkOperationArn", exchange_arn(arena, &bulk.base, "bulk"));
    json_put_text(w, "BulkOperationStatus", status_name(&bulk));
    json_put_given_time(w, "StartTime", bulk.base.started_ms);
    json_put_given_time(w, "EndTime", bulk.base.ended_ms);
    json_close_object(w);
}

// A token is the last id of a page: digits, a hyphen, and eight hexadecimal digits.
static bool token_check(struct slice token)
{
    bool ok = token.len == ID_LEN;
    for (size_t i = 0; ok && i < token.len; i++) {
        uint8_t c = token.ptr[i];
        ok = i == 14 ? c == '-' : (c >= '0' && c <= '9') || (i > 14 && c >= 'a' && c <= 'f');
    }
    return ok;
}

enum step list_bulk_operations_start(struct api_call *call, const void *decoded)
{
    const struct list_bulk_operations_request *request = decoded;
    struct exchange_list list = {
        .kind = "bulk",
        .member = "BulkOperationsSummaryList",
        .after = request->next_token,
        .limit = request->max_results.set ? (uint64_t)request->max_results.value : PAGE_DEFAULT,
        .write = write_listed,
    };
    if (request->next_token.ptr != NULL && !token_check(request->next_token))
        return step_failed(error_validation(&call->error, "Invalid NextToken: %.*s",
                                            SLICE_FMT(request->next_token)));
    if (!call_exchange_list(call, &list))
        return STEP_FAILED;
    if (list.more)
        json_put_text(&list.w, "NextToken", list.last);
    json_close_object(&list.w);
    return STEP_READY;
}

// ---- Cancelling ------------------------------------------------------------------------------

// On the writer's thread, where no other change comes in between.
static bool cancel_decide(struct record_job *job, struct engine *engine)
{
    struct api_call *call = job->context;
    struct slice record;
    struct bulk_record bulk;
    if (!engine_record(engine, job->writes[0].name, &call->arena, &record, &call->error))
        return false;
    map_decode(&bulk_form, record, &bulk);
    if (record.len == 0 || bulk.base.status != BULK_IN_PROGRESS)
        return error_validation(&call->error,
                                "The bulk operation cannot be cancelled: its status is %s",
                                status_name(&bulk));
    bulk.cancel = true;
    job->writes[0].value = map_encode(&bulk_form, &bulk, &call->arena, &call->error);
    return job->writes[0].value.len > 0;
}

enum step cancel_bulk_operation_start(struct api_call *call, const void *decoded)
{
    const struct bulk_operation_request *request = decoded;
    struct slice record;
    if (!find(call, request->bulk_operation_arn, &record))
        return STEP_FAILED;
    struct record_job *job = call_record_job(call, 1);
    if (job == NULL)
        return STEP_FAILED;
    job->writes[0].name = exchange_name(&call->arena, "bulk", map_text(record, "id"));
    if (job->writes[0].name.ptr == NULL)
        return step_failed(error_budget(&call->error));
    job->decide = cancel_decide;
    job->context = call;
    return call_submit(call);
}

void cancel_bulk_operation_finish(struct api_call *call, const void *decoded)
{
    const struct bulk_operation_request *request = decoded;
    struct json_writer w = call_open(call);
    json_put_string(&w, "BulkOperationArn", request->bulk_operation_arn);
    json_put_text(&w, "BulkOperationStatus", "CANCELLING");
    json_close_object(&w);
}

// ---- Starting --------------------------------------------------------------------------------

struct starting {
    struct api_call *call;
    struct bulk_record bulk;
    bool repeated;
};

static void note_outputs(const struct bulk_output *output, struct bulk_record *bulk)
{
    const struct slice *types = output->types.items;
    for (size_t i = 0; i < output->types.count; i++) {
        if (slice_is(types[i], "ERROR"))
            bulk->report_errors = true;
        else
            bulk->report_conditions = true;
    }
}

static bool fill(struct api_call *call, const struct start_bulk_put_items_request *request,
                 const struct table *table, struct bulk_record *bulk)
{
    const struct bulk_input *in = request->input;
    const struct bulk_output *out = request->output;
    *bulk = (struct bulk_record){
        .format = in->format,
        .compression = in->compression,
        .out_bucket = out->bucket,
        .out_owner = out->bucket_owner,
        .out_prefix = out->key_prefix,
        .sse_algorithm = out->sse_algorithm,
        .sse_key = out->sse_key,
        .tier = request->performance_tier,
        .max_units =
            request->max_write_request_units.set ? request->max_write_request_units.value : 0,
    };
    note_outputs(out, bulk);
    char *rest = arena_printf(&call->arena, "%d %d %lld", bulk->report_errors,
                              bulk->report_conditions, (long long)bulk->max_units);
    if (rest == NULL)
        return error_budget(&call->error);
    const struct slice parts[] = {
        table->name,     in->bucket,  in->bucket_owner,  in->key_prefix,  in->format,
        in->compression, out->bucket, out->bucket_owner, out->key_prefix, out->sse_algorithm,
        out->sse_key,    bulk->tier,  slice_str(rest),
    };
    bulk->base = (struct exchange){
        .table = table->name,
        .table_id = table->uuid,
        .token = request->client_token,
        .bucket = in->bucket,
        .owner = in->bucket_owner,
        .prefix = in->key_prefix,
    };
    return call_exchange_init(call, &bulk->base, parts, COUNT_OF(parts));
}

// A token that was used before stands for that operation. Judged on the writer's thread, so that of
// two requests at once the second one sees the first.
static bool start_decide(struct record_job *job, struct engine *engine)
{
    struct starting *starting = job->context;
    struct api_call *call = starting->call;
    struct exchange *base = &starting->bulk.base;
    struct slice found;
    if (!exchange_by_token(engine, "bulk", base->token, base->started_ms, &call->arena, &found,
                           &call->error))
        return false;
    if (found.len == 0)
        return true;
    if (!slice_equal(map_text(found, "digest"), base->digest))
        return error_set(&call->error, ERR_IDEMPOTENT_MISMATCH,
                         "The ClientToken was used before with other parameters: %.*s",
                         SLICE_FMT(base->token));
    map_decode(&bulk_form, found, &starting->bulk);
    starting->repeated = true;
    job->count = 0;
    return true;
}

static bool check_outputs(struct api_call *call, const struct bulk_output *output)
{
    bool kms = slice_is(output->sse_algorithm, "KMS");
    return kms || output->sse_key.ptr == NULL ||
           error_validation(&call->error,
                            "S3SseKmsKeyId may only be given if S3SseAlgorithm is KMS");
}

enum step start_bulk_put_items_start(struct api_call *call, const void *decoded)
{
    const struct start_bulk_put_items_request *request = decoded;
    struct table *table = call_own_table(call, request->table_name);
    if (table == NULL || !table_check_ready(table, &call->error))
        return STEP_FAILED;
    struct starting *starting = call_alloc(call, 1, sizeof(*starting));
    if (starting == NULL || !check_outputs(call, request->output) ||
        !call_check_place(call, slice_of(NULL, 0)) ||
        !call_check_place(call, request->output->key_prefix) ||
        !fill(call, request, table, &starting->bulk))
        return STEP_FAILED;
    starting->call = call;
    return call_exchange_submit(call, "bulk", starting->bulk.base.id,
                                map_encode(&bulk_form, &starting->bulk, &call->arena, &call->error),
                                start_decide, starting);
}

void start_bulk_put_items_finish(struct api_call *call, const void *request)
{
    (void)request;
    const struct starting *starting = call->state->own;
    // If the end has come, the next process finds the record.
    if (!starting->repeated)
        (void)run_begin(call_shop(call), &bulk_kind, starting->bulk.base.id);
    respond(call, &starting->bulk);
}
