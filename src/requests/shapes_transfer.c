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
REQUEST_ROWS(incremental_export_specification, INCREMENTAL_EXPORT_SPECIFICATION);
static const struct shape incremental =
    REQUEST_SHAPE(incremental_export_specification, "IncrementalExportSpecification");

static const struct shape names = MAP_SHAPE(&shape_any_string);
REQUEST_ROWS(filter_specification, FILTER_SPECIFICATION);
static const struct shape filter = REQUEST_SHAPE(filter_specification, "FilterSpecification");

static const char *const sse_names[] = {"AES256", "KMS", NULL};
static const struct shape sse = ENUM_SHAPE(sse_names);
static const struct shape sse_key = STRING_SHAPE_RANGE(1, 2048);
static const char *const export_formats[] = {"DYNAMODB_JSON", "ION", NULL};
static const struct shape export_format = ENUM_SHAPE(export_formats);
static const char *const export_types[] = {"FULL_EXPORT", "INCREMENTAL_EXPORT", NULL};
static const struct shape export_type = ENUM_SHAPE(export_types);
REQUEST_ROWS(export_table_request, EXPORT_TABLE_REQUEST);
const struct shape shape_export_table_request =
    REQUEST_SHAPE(export_table_request, "ExportTableToPointInTimeInput");

REQUEST_ROWS(describe_export_request, DESCRIBE_EXPORT_REQUEST);
const struct shape shape_describe_export_request =
    REQUEST_SHAPE(describe_export_request, "DescribeExportInput");

REQUEST_ROWS(list_exports_request, LIST_EXPORTS_REQUEST);
const struct shape shape_list_exports_request =
    REQUEST_SHAPE(list_exports_request, "ListExportsInput");

// ---- Imports ----------------------------------------------------------------------

REQUEST_ROWS(s3_bucket_source, S3_BUCKET_SOURCE);
static const struct shape source = REQUEST_SHAPE(s3_bucket_source, "S3BucketSource");

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
REQUEST_ROWS(csv_options, CSV_OPTIONS);
static const struct shape csv = REQUEST_SHAPE(csv_options, "CsvOptions");
REQUEST_ROWS(input_format_options, INPUT_FORMAT_OPTIONS);
static const struct shape format_options =
    REQUEST_SHAPE(input_format_options, "InputFormatOptions");

REQUEST_ROWS(table_creation_parameters, TABLE_CREATION_PARAMETERS);
static const struct shape creation =
    REQUEST_SHAPE(table_creation_parameters, "TableCreationParameters");

static const char *const input_formats[] = {"DYNAMODB_JSON", "ION", "CSV", NULL};
static const struct shape input_format = ENUM_SHAPE(input_formats);
static const char *const compressions[] = {"GZIP", "ZSTD", "NONE", NULL};
static const struct shape compression = ENUM_SHAPE(compressions);
REQUEST_ROWS(import_table_request, IMPORT_TABLE_REQUEST);
const struct shape shape_import_table_request =
    REQUEST_SHAPE(import_table_request, "ImportTableInput");

REQUEST_ROWS(describe_import_request, DESCRIBE_IMPORT_REQUEST);
const struct shape shape_describe_import_request =
    REQUEST_SHAPE(describe_import_request, "DescribeImportInput");

static const struct shape import_token = {
    .kind = SHAPE_STRING,
    .has_min = true,
    .min = 112,
    .has_max = true,
    .max = 1024,
    .pattern = "([0-9a-f]{16})+",
    .matches = import_token_matches,
};
REQUEST_ROWS(list_imports_request, LIST_IMPORTS_REQUEST);
const struct shape shape_list_imports_request =
    REQUEST_SHAPE(list_imports_request, "ListImportsInput");
