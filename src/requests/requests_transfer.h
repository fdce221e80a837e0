// The requests of exports and imports, in the manner of requests.h.
#ifndef REQUESTS_REQUESTS_TRANSFER_H
#define REQUESTS_REQUESTS_TRANSFER_H

#include "requests/requests.h"

struct incremental_export_specification {
    struct field_double export_from_time;
    struct field_double export_to_time;
    struct slice export_view_type; // NEW_IMAGE, NEW_AND_OLD_IMAGES
};

struct filter_specification {
    struct slice filter_expression;
    struct slice projection_expression;
    struct slice key_condition_expression;
    struct field_map expression_attribute_names; // struct slice
    struct field_value expression_attribute_values;
};

struct export_table_request {
    struct slice table_arn;
    struct field_double export_time;
    struct slice client_token;
    struct slice s3_bucket;
    struct slice s3_bucket_owner;
    struct slice s3_prefix;
    struct slice s3_sse_algorithm; // AES256, KMS
    struct slice s3_sse_kms_key_id;
    struct slice export_format; // DYNAMODB_JSON, ION
    struct slice export_type;   // FULL_EXPORT, INCREMENTAL_EXPORT
    struct incremental_export_specification *incremental_export_specification;
    struct filter_specification *filter_specification;
};

struct describe_export_request {
    struct slice export_arn;
};

struct list_exports_request {
    struct slice table_arn;
    struct field_int max_results;
    struct slice next_token;
};

struct s3_bucket_source {
    struct slice s3_bucket_owner;
    struct slice s3_bucket;
    struct slice s3_key_prefix;
};

struct csv_options {
    struct slice delimiter;
    struct field_list header_list; // struct slice
};

struct input_format_options {
    struct csv_options *csv;
};

struct table_creation_parameters {
    struct slice table_name;
    struct field_list attribute_definitions; // struct attribute_definition
    struct field_list key_schema;            // struct key_schema_element
    struct slice billing_mode;
    struct request_provisioned_throughput *provisioned_throughput;
    struct request_on_demand_throughput *on_demand_throughput;
    struct request_sse_specification *sse_specification;
    struct field_list global_secondary_indexes; // struct global_secondary_index
};

struct import_table_request {
    struct slice client_token;
    struct s3_bucket_source *s3_bucket_source;
    struct slice input_format; // CSV, DYNAMODB_JSON, ION
    struct input_format_options *input_format_options;
    struct slice input_compression_type; // GZIP, ZSTD, NONE
    struct table_creation_parameters *table_creation_parameters;
};

struct describe_import_request {
    struct slice import_arn;
};

struct list_imports_request {
    struct slice table_arn;
    struct field_int page_size;
    struct slice next_token;
};

extern const struct shape shape_export_table_request;
extern const struct shape shape_describe_export_request;
extern const struct shape shape_list_exports_request;
extern const struct shape shape_import_table_request;
extern const struct shape shape_describe_import_request;
extern const struct shape shape_list_imports_request;

#endif
