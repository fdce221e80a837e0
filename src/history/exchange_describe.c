// DescribeExport, ListExports, DescribeImport, ListImports, and the descriptions in their answers.
#include "history/exchange_call.h"

enum { PAGE_DEFAULT = 25, TOKEN_BYTES = 56 };

static const char *status_name(const struct exchange *base)
{
    switch (base->status) {
    case EXCHANGE_IN_PROGRESS:
        return "IN_PROGRESS";
    case EXCHANGE_COMPLETED:
        return "COMPLETED";
    default:
        return "FAILED";
    }
}

// ---- Exports ----------------------------------------------------------------------

static void export_write_json(struct json_writer *w, struct arena *arena,
                              const struct export_record *record)
{
    const struct exchange *common = &record->base;
    json_open_object(w);
    json_put_string(w, "ExportArn", exchange_arn(arena, common, "export"));
    json_put_text(w, "ExportStatus", status_name(common));
    json_put_given_time(w, "StartTime", common->started_ms);
    json_put_given_time(w, "EndTime", common->ended_ms);
    if (common->status == EXCHANGE_COMPLETED) {
        struct buf key;
        buf_init(&key, 8192);
        char id[EXPORT_ID_MAX] = {0};
        memcpy(id, common->id.ptr, common->id.len < sizeof(id) ? common->id.len : 0);
        export_manifest_key(&key, common->prefix, id);
        json_put_string(w, "ExportManifest", buf_view(&key));
        buf_release(&key);
    }
    json_put_string(w, "TableArn", exchange_arn(arena, common, NULL));
    json_put_string(w, "TableId", common->table_id);
    if (!record->incremental)
        json_put_given_time(w, "ExportTime", record->at_ms);
    json_put_given(w, "ClientToken", common->token);
    json_put_string(w, "S3Bucket", common->bucket);
    json_put_given(w, "S3BucketOwner", common->owner);
    json_put_given(w, "S3Prefix", common->prefix);
    json_put_string(w, "S3SseAlgorithm",
                    record->sse_algorithm.len > 0 ? record->sse_algorithm : SLICE_LIT("AES256"));
    json_put_given(w, "S3SseKmsKeyId", record->sse_key);
    json_put_given(w, "FailureCode", common->failure_code);
    json_put_given(w, "FailureMessage", common->failure_message);
    json_put_text(w, "ExportFormat", record->ion ? "ION" : "DYNAMODB_JSON");
    if (common->status == EXCHANGE_COMPLETED) {
        json_put_integer(w, "BilledSizeBytes", record->billed_bytes);
        json_put_integer(w, "ItemCount", record->items);
    }
    json_put_text(w, "ExportType", record->incremental ? "INCREMENTAL_EXPORT" : "FULL_EXPORT");
    if (record->incremental) {
        json_put_object(w, "IncrementalExportSpecification");
        json_put_given_time(w, "ExportFromTime", record->from_ms);
        json_put_given_time(w, "ExportToTime", record->to_ms);
        json_put_text(w, "ExportViewType", record->old_images ? "NEW_AND_OLD_IMAGES" : "NEW_IMAGE");
        json_close_object(w);
    }
    if (record->filter.len > 0) {
        json_name(w, "FilterSpecification");
        export_filter_write_json(w, record->filter);
    }
    json_close_object(w);
}

void export_respond(struct api_call *call, const struct export_record *record)
{
    struct json_writer w = call_open(call);
    json_name(&w, "ExportDescription");
    export_write_json(&w, &call->arena, record);
    json_close_object(&w);
}

// The record that is to be described; false with `missing` if there is none.
static bool find_record(struct api_call *call, const char *kind, struct slice arn,
                        enum error_code missing, struct slice *record)
{
    return call_exchange(call, kind, arn, record) &&
           (record->len > 0 ||
            error_set(&call->error, missing, "%s not found: %.*s",
                      missing == ERR_EXPORT_NOT_FOUND ? "Export" : "Import", SLICE_FMT(arn)));
}

enum step describe_export_start(struct api_call *call, const void *decoded)
{
    const struct describe_export_request *request = decoded;
    struct slice record;
    struct export_record export;
    if (!find_record(call, "export", request->export_arn, ERR_EXPORT_NOT_FOUND, &record))
        return STEP_FAILED;
    map_decode(&export_form, record, &export);
    export_respond(call, &export);
    return STEP_READY;
}

// ---- Imports ----------------------------------------------------------------------

// JSON that is known to be well-formed, as it is.
static void member_raw(struct json_writer *w, const char *name, struct slice json)
{
    if (json.len == 0)
        return;
    json_name(w, name);
    buf_slice(w->out, json);
    w->comma = true;
}

static void member_source(struct json_writer *w, const struct exchange *base)
{
    json_put_object(w, "S3BucketSource");
    json_put_string(w, "S3Bucket", base->bucket);
    json_put_given(w, "S3BucketOwner", base->owner);
    json_put_given(w, "S3KeyPrefix", base->prefix);
    json_close_object(w);
}

static void import_write_json(struct json_writer *w, struct arena *arena,
                              const struct import_record *record)
{
    const struct exchange *common = &record->base;
    json_open_object(w);
    json_put_string(w, "ImportArn", exchange_arn(arena, common, "import"));
    json_put_text(w, "ImportStatus", status_name(common));
    json_put_string(w, "TableArn", exchange_arn(arena, common, NULL));
    json_put_given(w, "TableId", common->table_id);
    json_put_given(w, "ClientToken", common->token);
    member_source(w, common);
    json_put_integer(w, "ErrorCount", record->errors);
    json_put_string(w, "InputFormat", record->format);
    member_raw(w, "InputFormatOptions", record->options);
    json_put_string(w, "InputCompressionType", record->compression);
    member_raw(w, "TableCreationParameters", record->creation);
    json_put_given_time(w, "StartTime", common->started_ms);
    json_put_given_time(w, "EndTime", common->ended_ms);
    json_put_integer(w, "ProcessedSizeBytes", record->processed_bytes);
    json_put_integer(w, "ProcessedItemCount", record->processed_items);
    json_put_integer(w, "ImportedItemCount", record->imported_items);
    json_put_given(w, "FailureCode", common->failure_code);
    json_put_given(w, "FailureMessage", common->failure_message);
    json_close_object(w);
}

void import_respond(struct api_call *call, const struct import_record *record)
{
    struct json_writer w = call_open(call);
    json_name(&w, "ImportTableDescription");
    import_write_json(&w, &call->arena, record);
    json_close_object(&w);
}

enum step describe_import_start(struct api_call *call, const void *decoded)
{
    const struct describe_import_request *request = decoded;
    struct slice record;
    struct import_record import;
    if (!find_record(call, "import", request->import_arn, ERR_IMPORT_NOT_FOUND, &record))
        return STEP_FAILED;
    map_decode(&import_form, record, &import);
    import_respond(call, &import);
    return STEP_READY;
}

// ---- Lists ------------------------------------------------------------------------

static void write_listed_export(struct json_writer *w, struct arena *arena, struct slice record)
{
    struct export_record export;
    map_decode(&export_form, record, &export);
    json_open_object(w);
    json_put_string(w, "ExportArn", exchange_arn(arena, &export.base, "export"));
    json_put_text(w, "ExportStatus", status_name(&export.base));
    json_put_text(w, "ExportType", export.incremental ? "INCREMENTAL_EXPORT" : "FULL_EXPORT");
    json_close_object(w);
}

static void write_listed_import(struct json_writer *w, struct arena *arena, struct slice record)
{
    struct import_record import;
    map_decode(&import_form, record, &import);
    json_open_object(w);
    json_put_string(w, "ImportArn", exchange_arn(arena, &import.base, "import"));
    json_put_text(w, "ImportStatus", status_name(&import.base));
    json_put_string(w, "TableArn", exchange_arn(arena, &import.base, NULL));
    member_source(w, &import.base);
    json_put_string(w, "InputFormat", import.format);
    json_put_given_time(w, "StartTime", import.base.started_ms);
    json_put_given_time(w, "EndTime", import.base.ended_ms);
    json_close_object(w);
}

// The token that a page ends with is the last id, in the form that the service's model asks for:
// hexadecimal, in blocks of sixteen, 112 at least.
static void token_write(struct exchange_list *list)
{
    struct buf text;
    buf_init(&text, 4 * TOKEN_BYTES);
    size_t len = strlen(list->last);
    for (size_t i = 0; i < TOKEN_BYTES; i++)
        buf_printf(&text, "%02x", i < len ? (unsigned char)list->last[i] : 0);
    json_put_string(&list->w, "NextToken", buf_view(&text));
    buf_release(&text);
}

static bool token_read(struct slice token, char out[EXPORT_ID_MAX])
{
    if (token.len != (size_t)2 * TOKEN_BYTES)
        return false;
    for (size_t i = 0; i < EXPORT_ID_MAX; i++) {
        unsigned byte = 0;
        for (size_t k = 0; k < 2; k++) {
            uint8_t c = token.ptr[2 * i + k];
            if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
                return false;
            byte = byte << 4 | (c <= '9' ? c - (unsigned)'0' : c - (unsigned)'a' + 10);
        }
        out[i] = (char)byte;
    }
    return out[0] != 0 && out[EXPORT_ID_MAX - 1] == 0;
}

static enum step list(struct api_call *call, struct exchange_list *list, struct slice table_arn,
                      struct slice token)
{
    char last[EXPORT_ID_MAX];
    if (table_arn.len > 0 && !call_table_name(call, table_arn, &list->table))
        return STEP_FAILED;
    if (token.ptr != NULL) {
        if (!token_read(token, last))
            return step_failed(error_validation(&call->error, "Invalid NextToken provided: %.*s",
                                                SLICE_FMT(token)));
        list->after = slice_str(last);
    }
    if (!call_exchange_list(call, list))
        return STEP_FAILED;
    if (list->more)
        token_write(list);
    json_close_object(&list->w);
    return STEP_READY;
}

enum step list_exports_start(struct api_call *call, const void *decoded)
{
    const struct list_exports_request *request = decoded;
    struct exchange_list exports = {
        .kind = "export",
        .member = "ExportSummaries",
        .limit = request->max_results.set ? (uint64_t)request->max_results.value : PAGE_DEFAULT,
        .write = write_listed_export,
    };
    return list(call, &exports, request->table_arn, request->next_token);
}

enum step list_imports_start(struct api_call *call, const void *decoded)
{
    const struct list_imports_request *request = decoded;
    struct exchange_list imports = {
        .kind = "import",
        .member = "ImportSummaryList",
        .limit = request->page_size.set ? (uint64_t)request->page_size.value : PAGE_DEFAULT,
        .write = write_listed_import,
    };
    return list(call, &imports, request->table_arn, request->next_token);
}
