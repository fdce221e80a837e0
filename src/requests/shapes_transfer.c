// The shapes of requests_transfer.h.
#include "requests/requests_transfer.h"
#include "requests/shapes_internal.h"

// ---- What several requests have ---------------------------------------------------

static bool is_word(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool bucket_matches(struct slice text)
{
    if (text.len < 2 || !is_word(text.ptr[0]) || !is_word(text.ptr[text.len - 1]))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (!is_word(c) && c != '.' && c != '-' && c != '_')
            return false;
    }
    return true;
}

static bool owner_matches(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    }
    return text.len == 12;
}

static bool token_matches(struct slice text)
{
    return text.len > 0 && memchr(text.ptr, '$', text.len) == NULL;
}

static bool delimiter_matches(struct slice text)
{
    return text.len == 1 && memchr(",;:|\t ", text.ptr[0], 6) != NULL;
}

static bool import_token_matches(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
            return false;
    }
    return text.len > 0 && text.len % 16 == 0;
}

static const struct shape bucket = {
    .kind = SHAPE_STRING,
    .has_max = true,
    .max = 255,
    .pattern = "^[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+$",
    .matches = bucket_matches,
};
static const struct shape bucket_owner = {
    .kind = SHAPE_STRING, .pattern = "[0-9]{12}", .matches = owner_matches};
static const struct shape client_token = {
    .kind = SHAPE_STRING, .pattern = "^[^\\$]+$", .matches = token_matches};
static const struct shape prefix = {.kind = SHAPE_STRING, .has_max = true, .max = 1024};
static const struct shape table_arn = STRING_SHAPE_RANGE(1, 1024);
static const struct shape own_arn = STRING_SHAPE_RANGE(37, 1024);
static const struct shape any_time = {.kind = SHAPE_TIMESTAMP};
static const struct shape page_size = {
    .kind = SHAPE_INTEGER, .has_min = true, .min = 1, .has_max = true, .max = 25};

// ---- Exports ----------------------------------------------------------------------

static const char *const view_names[] = {"NEW_IMAGE", "NEW_AND_OLD_IMAGES", NULL};
static const struct shape view = ENUM_SHAPE(view_names);
static const struct shape_member incremental_rows[] = {
    OPTIONAL(incremental_export_specification, export_from_time, "ExportFromTime", &any_time),
    OPTIONAL(incremental_export_specification, export_to_time, "ExportToTime", &any_time),
    OPTIONAL(incremental_export_specification, export_view_type, "ExportViewType", &view),
};
static const struct shape incremental = STRUCT_SHAPE(
    incremental_export_specification, "IncrementalExportSpecification", incremental_rows);

static const struct shape names = MAP_SHAPE(&shape_any_string);
static const struct shape_member filter_rows[] = {
    OPTIONAL(filter_specification, filter_expression, "FilterExpression", &shape_any_string),
    OPTIONAL(filter_specification, projection_expression, "ProjectionExpression",
             &shape_any_string),
    OPTIONAL(filter_specification, key_condition_expression, "KeyConditionExpression",
             &shape_any_string),
    OPTIONAL(filter_specification, expression_attribute_names, "ExpressionAttributeNames", &names),
    OPTIONAL(filter_specification, expression_attribute_values, "ExpressionAttributeValues",
             &shape_any_item),
};
static const struct shape filter =
    STRUCT_SHAPE(filter_specification, "FilterSpecification", filter_rows);

static const char *const sse_names[] = {"AES256", "KMS", NULL};
static const struct shape sse = ENUM_SHAPE(sse_names);
static const struct shape sse_key = STRING_SHAPE_RANGE(1, 2048);
static const char *const export_formats[] = {"DYNAMODB_JSON", "ION", NULL};
static const struct shape export_format = ENUM_SHAPE(export_formats);
static const char *const export_types[] = {"FULL_EXPORT", "INCREMENTAL_EXPORT", NULL};
static const struct shape export_type = ENUM_SHAPE(export_types);
static const struct shape_member export_rows[] = {
    REQUIRED(export_table_request, table_arn, "TableArn", &table_arn),
    OPTIONAL(export_table_request, export_time, "ExportTime", &any_time),
    OPTIONAL(export_table_request, client_token, "ClientToken", &client_token),
    REQUIRED(export_table_request, s3_bucket, "S3Bucket", &bucket),
    OPTIONAL(export_table_request, s3_bucket_owner, "S3BucketOwner", &bucket_owner),
    OPTIONAL(export_table_request, s3_prefix, "S3Prefix", &prefix),
    OPTIONAL(export_table_request, s3_sse_algorithm, "S3SseAlgorithm", &sse),
    OPTIONAL(export_table_request, s3_sse_kms_key_id, "S3SseKmsKeyId", &sse_key),
    OPTIONAL(export_table_request, export_format, "ExportFormat", &export_format),
    OPTIONAL(export_table_request, export_type, "ExportType", &export_type),
    OPTIONAL(export_table_request, incremental_export_specification,
             "IncrementalExportSpecification", &incremental),
    OPTIONAL(export_table_request, filter_specification, "FilterSpecification", &filter),
};
const struct shape shape_export_table_request =
    STRUCT_SHAPE(export_table_request, "ExportTableToPointInTimeInput", export_rows);

static const struct shape_member describe_export_rows[] = {
    REQUIRED(describe_export_request, export_arn, "ExportArn", &own_arn),
};
const struct shape shape_describe_export_request =
    STRUCT_SHAPE(describe_export_request, "DescribeExportInput", describe_export_rows);

static const struct shape_member list_exports_rows[] = {
    OPTIONAL(list_exports_request, table_arn, "TableArn", &table_arn),
    OPTIONAL(list_exports_request, max_results, "MaxResults", &page_size),
    OPTIONAL(list_exports_request, next_token, "NextToken", &shape_any_string),
};
const struct shape shape_list_exports_request =
    STRUCT_SHAPE(list_exports_request, "ListExportsInput", list_exports_rows);

// ---- Imports ----------------------------------------------------------------------

static const struct shape_member source_rows[] = {
    OPTIONAL(s3_bucket_source, s3_bucket_owner, "S3BucketOwner", &bucket_owner),
    REQUIRED(s3_bucket_source, s3_bucket, "S3Bucket", &bucket),
    OPTIONAL(s3_bucket_source, s3_key_prefix, "S3KeyPrefix", &prefix),
};
static const struct shape source = STRUCT_SHAPE(s3_bucket_source, "S3BucketSource", source_rows);

static const struct shape delimiter = {
    .kind = SHAPE_STRING,
    .has_min = true,
    .min = 1,
    .has_max = true,
    .max = 1,
    .pattern = "[,;:|\\t ]",
    .matches = delimiter_matches,
};
static const struct shape header = {
    .kind = SHAPE_STRING,
    .has_min = true,
    .min = 1,
    .has_max = true,
    .max = 65536,
};
static const struct shape headers = LIST_SHAPE_RANGE(&header, 1, 255);
static const struct shape_member csv_rows[] = {
    OPTIONAL(csv_options, delimiter, "Delimiter", &delimiter),
    OPTIONAL(csv_options, header_list, "HeaderList", &headers),
};
static const struct shape csv = STRUCT_SHAPE(csv_options, "CsvOptions", csv_rows);
static const struct shape_member format_options_rows[] = {
    OPTIONAL(input_format_options, csv, "Csv", &csv),
};
static const struct shape format_options =
    STRUCT_SHAPE(input_format_options, "InputFormatOptions", format_options_rows);

static const struct shape_member creation_rows[] = {
    REQUIRED(table_creation_parameters, table_name, "TableName", &shape_plain_name),
    REQUIRED(table_creation_parameters, attribute_definitions, "AttributeDefinitions",
             &shape_attribute_definitions),
    REQUIRED(table_creation_parameters, key_schema, "KeySchema", &shape_key_schema),
    OPTIONAL(table_creation_parameters, billing_mode, "BillingMode", &shape_billing_mode),
    OPTIONAL(table_creation_parameters, provisioned_throughput, "ProvisionedThroughput",
             &shape_provisioned_throughput),
    OPTIONAL(table_creation_parameters, on_demand_throughput, "OnDemandThroughput",
             &shape_on_demand_throughput),
    OPTIONAL(table_creation_parameters, sse_specification, "SSESpecification",
             &shape_sse_specification),
    OPTIONAL(table_creation_parameters, global_secondary_indexes, "GlobalSecondaryIndexes",
             &shape_global_indexes),
};
static const struct shape creation =
    STRUCT_SHAPE(table_creation_parameters, "TableCreationParameters", creation_rows);

static const char *const input_formats[] = {"DYNAMODB_JSON", "ION", "CSV", NULL};
static const struct shape input_format = ENUM_SHAPE(input_formats);
static const char *const compressions[] = {"GZIP", "ZSTD", "NONE", NULL};
static const struct shape compression = ENUM_SHAPE(compressions);
static const struct shape_member import_rows[] = {
    OPTIONAL(import_table_request, client_token, "ClientToken", &client_token),
    REQUIRED(import_table_request, s3_bucket_source, "S3BucketSource", &source),
    REQUIRED(import_table_request, input_format, "InputFormat", &input_format),
    OPTIONAL(import_table_request, input_format_options, "InputFormatOptions", &format_options),
    OPTIONAL(import_table_request, input_compression_type, "InputCompressionType", &compression),
    REQUIRED(import_table_request, table_creation_parameters, "TableCreationParameters", &creation),
};
const struct shape shape_import_table_request =
    STRUCT_SHAPE(import_table_request, "ImportTableInput", import_rows);

static const struct shape_member describe_import_rows[] = {
    REQUIRED(describe_import_request, import_arn, "ImportArn", &own_arn),
};
const struct shape shape_describe_import_request =
    STRUCT_SHAPE(describe_import_request, "DescribeImportInput", describe_import_rows);

static const struct shape import_token = {
    .kind = SHAPE_STRING,
    .has_min = true,
    .min = 112,
    .has_max = true,
    .max = 1024,
    .pattern = "([0-9a-f]{16})+",
    .matches = import_token_matches,
};
static const struct shape_member list_imports_rows[] = {
    OPTIONAL(list_imports_request, table_arn, "TableArn", &table_arn),
    OPTIONAL(list_imports_request, page_size, "PageSize", &page_size),
    OPTIONAL(list_imports_request, next_token, "NextToken", &import_token),
};
const struct shape shape_list_imports_request =
    STRUCT_SHAPE(list_imports_request, "ListImportsInput", list_imports_rows);
