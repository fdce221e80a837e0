// The requests of exports and imports, in the manner of requests.h.
#ifndef REQUESTS_REQUESTS_TRANSFER_H
#define REQUESTS_REQUESTS_TRANSFER_H

#include "requests/requests.h"

#define INCREMENTAL_EXPORT_SPECIFICATION(X, T)                                                     \
    X(T, OPTIONAL, struct field_double, export_from_time, "ExportFromTime", any_time)              \
    X(T, OPTIONAL, struct field_double, export_to_time, "ExportToTime", any_time)                  \
    X(T, OPTIONAL, struct slice, export_view_type, "ExportViewType",                               \
      view) /* NEW_IMAGE, NEW_AND_OLD_IMAGES */
REQUEST_STRUCT(incremental_export_specification, INCREMENTAL_EXPORT_SPECIFICATION);

#define FILTER_SPECIFICATION(X, T)                                                                 \
    X(T, OPTIONAL, struct slice, filter_expression, "FilterExpression", shape_any_string)          \
    X(T, OPTIONAL, struct slice, projection_expression, "ProjectionExpression", shape_any_string)  \
    X(T, OPTIONAL, struct slice, key_condition_expression, "KeyConditionExpression",               \
      shape_any_string)                                                                            \
    X(T, OPTIONAL, struct field_map, expression_attribute_names, "ExpressionAttributeNames",       \
      names) /* struct slice */                                                                    \
    X(T, OPTIONAL, struct field_value, expression_attribute_values, "ExpressionAttributeValues",   \
      shape_any_item)
REQUEST_STRUCT(filter_specification, FILTER_SPECIFICATION);

#define EXPORT_TABLE_REQUEST(X, T)                                                                 \
    X(T, REQUIRED, struct slice, table_arn, "TableArn", table_arn)                                 \
    X(T, OPTIONAL, struct field_double, export_time, "ExportTime", any_time)                       \
    X(T, OPTIONAL, struct slice, client_token, "ClientToken", client_token)                        \
    X(T, REQUIRED, struct slice, s3_bucket, "S3Bucket", bucket)                                    \
    X(T, OPTIONAL, struct slice, s3_bucket_owner, "S3BucketOwner", bucket_owner)                   \
    X(T, OPTIONAL, struct slice, s3_prefix, "S3Prefix", prefix)                                    \
    X(T, OPTIONAL, struct slice, s3_sse_algorithm, "S3SseAlgorithm", sse) /* AES256, KMS */        \
    X(T, OPTIONAL, struct slice, s3_sse_kms_key_id, "S3SseKmsKeyId", sse_key)                      \
    X(T, OPTIONAL, struct slice, export_format, "ExportFormat",                                    \
      export_format) /* DYNAMODB_JSON, ION */                                                      \
    X(T, OPTIONAL, struct slice, export_type, "ExportType",                                        \
      export_type) /* FULL_EXPORT, INCREMENTAL_EXPORT */                                           \
    X(T, OPTIONAL, struct incremental_export_specification *, incremental_export_specification,    \
      "IncrementalExportSpecification", incremental)                                               \
    X(T, OPTIONAL, struct filter_specification *, filter_specification, "FilterSpecification",     \
      filter)
REQUEST_STRUCT(export_table_request, EXPORT_TABLE_REQUEST);

#define DESCRIBE_EXPORT_REQUEST(X, T) X(T, REQUIRED, struct slice, export_arn, "ExportArn", own_arn)
REQUEST_STRUCT(describe_export_request, DESCRIBE_EXPORT_REQUEST);

#define LIST_EXPORTS_REQUEST(X, T)                                                                 \
    X(T, OPTIONAL, struct slice, table_arn, "TableArn", table_arn)                                 \
    X(T, OPTIONAL, struct field_int, max_results, "MaxResults", page_size)                         \
    X(T, OPTIONAL, struct slice, next_token, "NextToken", shape_any_string)
REQUEST_STRUCT(list_exports_request, LIST_EXPORTS_REQUEST);

#define S3_BUCKET_SOURCE(X, T)                                                                     \
    X(T, OPTIONAL, struct slice, s3_bucket_owner, "S3BucketOwner", bucket_owner)                   \
    X(T, REQUIRED, struct slice, s3_bucket, "S3Bucket", bucket)                                    \
    X(T, OPTIONAL, struct slice, s3_key_prefix, "S3KeyPrefix", prefix)
REQUEST_STRUCT(s3_bucket_source, S3_BUCKET_SOURCE);

#define CSV_OPTIONS(X, T)                                                                          \
    X(T, OPTIONAL, struct slice, delimiter, "Delimiter", delimiter)                                \
    X(T, OPTIONAL, struct field_list, header_list, "HeaderList", headers) /* struct slice */
REQUEST_STRUCT(csv_options, CSV_OPTIONS);

#define INPUT_FORMAT_OPTIONS(X, T) X(T, OPTIONAL, struct csv_options *, csv, "Csv", csv)
REQUEST_STRUCT(input_format_options, INPUT_FORMAT_OPTIONS);

#define TABLE_CREATION_PARAMETERS(X, T)                                                            \
    X(T, REQUIRED, struct slice, table_name, "TableName", shape_plain_name)                        \
    X(T, REQUIRED, struct field_list, attribute_definitions, "AttributeDefinitions",               \
      shape_attribute_definitions) /* struct attribute_definition */                               \
    X(T, REQUIRED, struct field_list, key_schema, "KeySchema",                                     \
      shape_key_schema) /* struct key_schema_element */                                            \
    X(T, OPTIONAL, struct slice, billing_mode, "BillingMode", shape_billing_mode)                  \
    X(T, OPTIONAL, struct request_provisioned_throughput *, provisioned_throughput,                \
      "ProvisionedThroughput", shape_provisioned_throughput)                                       \
    X(T, OPTIONAL, struct request_on_demand_throughput *, on_demand_throughput,                    \
      "OnDemandThroughput", shape_on_demand_throughput)                                            \
    X(T, OPTIONAL, struct request_sse_specification *, sse_specification, "SSESpecification",      \
      shape_sse_specification)                                                                     \
    X(T, OPTIONAL, struct field_list, global_secondary_indexes, "GlobalSecondaryIndexes",          \
      shape_global_indexes) /* struct global_secondary_index */
REQUEST_STRUCT(table_creation_parameters, TABLE_CREATION_PARAMETERS);

#define IMPORT_TABLE_REQUEST(X, T)                                                                 \
    X(T, OPTIONAL, struct slice, client_token, "ClientToken", client_token)                        \
    X(T, REQUIRED, struct s3_bucket_source *, s3_bucket_source, "S3BucketSource", source)          \
    X(T, REQUIRED, struct slice, input_format, "InputFormat",                                      \
      input_format) /* CSV, DYNAMODB_JSON, ION */                                                  \
    X(T, OPTIONAL, struct input_format_options *, input_format_options, "InputFormatOptions",      \
      format_options)                                                                              \
    X(T, OPTIONAL, struct slice, input_compression_type, "InputCompressionType",                   \
      compression) /* GZIP, ZSTD, NONE */                                                          \
    X(T, REQUIRED, struct table_creation_parameters *, table_creation_parameters,                  \
      "TableCreationParameters", creation)
REQUEST_STRUCT(import_table_request, IMPORT_TABLE_REQUEST);

#define DESCRIBE_IMPORT_REQUEST(X, T) X(T, REQUIRED, struct slice, import_arn, "ImportArn", own_arn)
REQUEST_STRUCT(describe_import_request, DESCRIBE_IMPORT_REQUEST);

#define LIST_IMPORTS_REQUEST(X, T)                                                                 \
    X(T, OPTIONAL, struct slice, table_arn, "TableArn", table_arn)                                 \
    X(T, OPTIONAL, struct field_int, page_size, "PageSize", page_size)                             \
    X(T, OPTIONAL, struct slice, next_token, "NextToken", import_token)
REQUEST_STRUCT(list_imports_request, LIST_IMPORTS_REQUEST);

extern const struct shape shape_export_table_request;
extern const struct shape shape_describe_export_request;
extern const struct shape shape_list_exports_request;
extern const struct shape shape_import_table_request;
extern const struct shape shape_describe_import_request;
extern const struct shape shape_list_imports_request;

#endif
