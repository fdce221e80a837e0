// Bulk operations: DescribeBulkOperation, ListBulkOperations and CancelBulkOperation. Nothing
// starts one here (StartBulkPutItems tells so), so there is none to be found or listed.
#include "api/control.h"

static enum step not_found(struct api_call *call, struct slice arn)
{
    struct arn parts;
    if (!arn_split(arn, &parts) || !slice_is(parts.service, "dynamodb"))
        (void)error_validation(&call->error, "Invalid BulkOperationArn: %.*s", SLICE_FMT(arn));
    else
        (void)error_set(&call->error, ERR_RESOURCE_NOT_FOUND,
                        "Requested resource not found: BulkOperation: %.*s not found",
                        SLICE_FMT(arn));
    return STEP_FAILED;
}

enum step describe_bulk_operation_start(struct api_call *call, const void *request)
{
    return not_found(call, ((const struct bulk_operation_request *)request)->bulk_operation_arn);
}

enum step cancel_bulk_operation_start(struct api_call *call, const void *request)
{
    return not_found(call, ((const struct bulk_operation_request *)request)->bulk_operation_arn);
}

enum step list_bulk_operations_start(struct api_call *call, const void *request)
{
    const struct list_bulk_operations_request *list = request;
    if (list->next_token.ptr != NULL) {
        (void)error_validation(&call->error, "Invalid NextToken: %.*s",
                               SLICE_FMT(list->next_token));
        return STEP_FAILED;
    }
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_name(&w, "BulkOperationsSummaryList");
    json_open_array(&w);
    json_close_array(&w);
    json_close_object(&w);
    return STEP_READY;
}

enum step start_bulk_put_items_start(struct api_call *call, const void *request)
{
    const struct start_bulk_put_items_request *start = request;
    struct table *table = call_own_table(call, start->table_name);
    if (table != NULL)
        (void)error_validation(&call->error,
                               "Bulk operations are not supported: load the items with "
                               "BatchWriteItem, or into a new table with ImportTable");
    return STEP_FAILED;
}
