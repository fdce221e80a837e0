// The requests of the control plane: policies, insights, Kinesis, global tables, auto scaling, bulk
// operations, backups, streams, exports and imports; and of what is not DynamoDB's. See requests.h.
#ifndef REQUESTS_REQUESTS_CONTROL_H
#define REQUESTS_REQUESTS_CONTROL_H

#include "requests/requests.h"

// ---- Resource policies ------------------------------------------------------------------------

#define put_resource_policy_request_members(X, T)                                                  \
    X(T, REQUIRED, resource_arn, "ResourceArn", TEXT_SIZE(1, 1283))                                \
    X(T, REQUIRED, policy, "Policy", TEXT)                                                         \
    X(T, OPTIONAL, expected_revision_id, "ExpectedRevisionId", TEXT_SIZE(1, 255))                  \
    X(T, OPTIONAL, confirm_remove_self_resource_access, "ConfirmRemoveSelfResourceAccess", BOOLEAN)

#define delete_resource_policy_request_members(X, T)                                               \
    X(T, REQUIRED, resource_arn, "ResourceArn", TEXT_SIZE(1, 1283))                                \
    X(T, OPTIONAL, expected_revision_id, "ExpectedRevisionId", TEXT_SIZE(1, 255))

#define get_resource_policy_request_members(X, T)                                                  \
    X(T, REQUIRED, resource_arn, "ResourceArn", TEXT_SIZE(1, 1283))

// ---- Contributor Insights ----------------------------------------------------------------------

#define update_contributor_insights_request_members(X, T)                                          \
    WITH_TABLE_NAME(X, T)                                                                          \
    WITH_INDEX_NAME(X, T)                                                                          \
    X(T, REQUIRED, action, "ContributorInsightsAction", ENUM("ENABLE", "DISABLE"))                 \
    X(T, OPTIONAL, mode, "ContributorInsightsMode",                                                \
      ENUM("ACCESSED_AND_THROTTLED_KEYS", "THROTTLED_KEYS"))

#define describe_contributor_insights_request_members(X, T)                                        \
    WITH_TABLE_NAME(X, T)                                                                          \
    WITH_INDEX_NAME(X, T)

#define list_contributor_insights_request_members(X, T)                                            \
    X(T, OPTIONAL, table_name, "TableName", TEXT_OF(table_name))                                   \
    X(T, OPTIONAL, next_token, "NextToken", TEXT)                                                  \
    X(T, OPTIONAL, max_results, "MaxResults", INTEGER_MAX(100))

// ---- Kinesis -----------------------------------------------------------------------------------

#define kinesis_configuration_members(X, T)                                                        \
    X(T, OPTIONAL, precision, "ApproximateCreationDateTimePrecision",                              \
      ENUM("MILLISECOND", "MICROSECOND"))

// Enable and Disable have the same members; Update names its configuration differently.
#define WITH_KINESIS_DESTINATION(X, T, configuration_name)                                         \
    WITH_TABLE_NAME(X, T)                                                                          \
    X(T, REQUIRED, stream_arn, "StreamArn", TEXT_SIZE(37, 1024))                                   \
    X(T, OPTIONAL, configuration, configuration_name, STRUCT(kinesis_configuration))
#define kinesis_destination_request_members(X, T)                                                  \
    WITH_KINESIS_DESTINATION(X, T, "EnableKinesisStreamingConfiguration")
#define update_kinesis_destination_request_members(X, T)                                           \
    WITH_KINESIS_DESTINATION(X, T, "UpdateKinesisStreamingConfiguration")

// ---- Auto scaling -----------------------------------------------------------------

#define scaling_target_members(X, T)                                                               \
    X(T, OPTIONAL, disable_scale_in, "DisableScaleIn", BOOLEAN)                                    \
    X(T, OPTIONAL, scale_in_cooldown, "ScaleInCooldown", INTEGER)                                  \
    X(T, OPTIONAL, scale_out_cooldown, "ScaleOutCooldown", INTEGER)                                \
    X(T, REQUIRED, target_value, "TargetValue", DOUBLE)

#define scaling_policy_update_members(X, T)                                                        \
    X(T, OPTIONAL, policy_name, "PolicyName", TEXT_OF(policy_name))                                \
    X(T, REQUIRED, target, "TargetTrackingScalingPolicyConfiguration", STRUCT(scaling_target))

#define scaling_update_members(X, T)                                                               \
    X(T, OPTIONAL, minimum_units, "MinimumUnits", LONG_MIN(1))                                     \
    X(T, OPTIONAL, maximum_units, "MaximumUnits", LONG_MIN(1))                                     \
    X(T, OPTIONAL, disabled, "AutoScalingDisabled", BOOLEAN)                                       \
    X(T, OPTIONAL, role_arn, "AutoScalingRoleArn", TEXT_OF(role_arn))                              \
    X(T, OPTIONAL, policy, "ScalingPolicyUpdate", STRUCT(scaling_policy_update))

// Of reads in a replica, else of writes.
#define WITH_INDEX_SCALING(X, T, update_name)                                                      \
    WITH_INDEX_NAME(X, T)                                                                          \
    X(T, OPTIONAL, update, update_name, STRUCT(scaling_update))
#define index_scaling_update_members(X, T)                                                         \
    WITH_INDEX_SCALING(X, T, "ProvisionedWriteCapacityAutoScalingUpdate")
#define index_read_scaling_members(X, T)                                                           \
    WITH_INDEX_SCALING(X, T, "ProvisionedReadCapacityAutoScalingUpdate")

#define replica_scaling_update_members(X, T)                                                       \
    WITH_REGION_NAME(X, T)                                                                         \
    X(T, OPTIONAL, indexes, "ReplicaGlobalSecondaryIndexUpdates",                                  \
      LIST(STRUCT_BY(index_scaling_update, index_read_scaling)))                                   \
    X(T, OPTIONAL, read, "ReplicaProvisionedReadCapacityAutoScalingUpdate", STRUCT(scaling_update))

#define update_replica_scaling_request_members(X, T)                                               \
    X(T, OPTIONAL, indexes, "GlobalSecondaryIndexUpdates",                                         \
      LIST_MIN(STRUCT(index_scaling_update), 1))                                                   \
    WITH_TABLE_NAME(X, T)                                                                          \
    X(T, OPTIONAL, write, "ProvisionedWriteCapacityAutoScalingUpdate", STRUCT(scaling_update))     \
    X(T, OPTIONAL, replicas, "ReplicaUpdates", LIST_MIN(STRUCT(replica_scaling_update), 1))

// ---- Global tables, version 2017 -------------------------------------------------------------

#define WITH_GLOBAL_TABLE_NAME(X, T)                                                               \
    X(T, REQUIRED, global_table_name, "GlobalTableName", TEXT_OF(plain_name))

#define replica_request_members(X, T) X(T, OPTIONAL, region_name, "RegionName", TEXT)
#define replica_action_members(X, T)  X(T, REQUIRED, region_name, "RegionName", TEXT)

#define create_global_table_request_members(X, T)                                                  \
    WITH_GLOBAL_TABLE_NAME(X, T)                                                                   \
    X(T, REQUIRED, replication_group, "ReplicationGroup", LIST(STRUCT(replica_request)))

#define global_table_name_request_members(X, T) WITH_GLOBAL_TABLE_NAME(X, T)

#define list_global_tables_request_members(X, T)                                                   \
    X(T, OPTIONAL, exclusive_start, "ExclusiveStartGlobalTableName", TEXT_OF(plain_name))          \
    WITH_LIMIT(X, T)                                                                               \
    X(T, OPTIONAL, region_name, "RegionName", TEXT)

#define replica_update_members(X, T)                                                               \
    X(T, OPTIONAL, create, "Create", STRUCT_BY(replica_request, replica_action))                   \
    X(T, OPTIONAL, delete, "Delete", STRUCT_BY(replica_request, replica_action))

#define update_global_table_request_members(X, T)                                                  \
    WITH_GLOBAL_TABLE_NAME(X, T)                                                                   \
    X(T, REQUIRED, replica_updates, "ReplicaUpdates", LIST(STRUCT(replica_update)))

// Settings of an index: of all replicas (write), or of one (read).
#define WITH_INDEX_UNITS(X, T, units_name, scaling_name)                                           \
    X(T, REQUIRED, index_name, "IndexName", TEXT_OF(plain_name))                                   \
    X(T, OPTIONAL, units, units_name, LONG_MIN(1))                                                 \
    X(T, OPTIONAL, scaling, scaling_name, STRUCT(scaling_update))
#define index_units_update_members(X, T)                                                           \
    WITH_INDEX_UNITS(X, T, "ProvisionedWriteCapacityUnits",                                        \
                     "ProvisionedWriteCapacityAutoScalingSettingsUpdate")
#define index_read_units_members(X, T)                                                             \
    WITH_INDEX_UNITS(X, T, "ProvisionedReadCapacityUnits",                                         \
                     "ProvisionedReadCapacityAutoScalingSettingsUpdate")

#define replica_settings_update_members(X, T)                                                      \
    WITH_REGION_NAME(X, T)                                                                         \
    X(T, OPTIONAL, read_units, "ReplicaProvisionedReadCapacityUnits", LONG_MIN(1))                 \
    X(T, OPTIONAL, read_scaling, "ReplicaProvisionedReadCapacityAutoScalingSettingsUpdate",        \
      STRUCT(scaling_update))                                                                      \
    X(T, OPTIONAL, indexes, "ReplicaGlobalSecondaryIndexSettingsUpdate",                           \
      LIST_RANGE(STRUCT_BY(index_units_update, index_read_units), 1, 20))                          \
    X(T, OPTIONAL, table_class, "ReplicaTableClass", TEXT_OF(table_class))

#define update_global_settings_request_members(X, T)                                               \
    WITH_GLOBAL_TABLE_NAME(X, T)                                                                   \
    X(T, OPTIONAL, billing_mode, "GlobalTableBillingMode", TEXT_OF(billing_mode))                  \
    X(T, OPTIONAL, write_units, "GlobalTableProvisionedWriteCapacityUnits", LONG_MIN(1))           \
    X(T, OPTIONAL, write_scaling, "GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate",  \
      STRUCT(scaling_update))                                                                      \
    X(T, OPTIONAL, indexes, "GlobalTableGlobalSecondaryIndexSettingsUpdate",                       \
      LIST_RANGE(STRUCT(index_units_update), 1, 20))                                               \
    X(T, OPTIONAL, replicas, "ReplicaSettingsUpdate",                                              \
      LIST_RANGE(STRUCT(replica_settings_update), 1, 50))

// ---- Bulk operations ---------------------------------------------------------------------------

// DescribeBulkOperation and CancelBulkOperation.
#define bulk_operation_request_members(X, T)                                                       \
    X(T, REQUIRED, bulk_operation_arn, "BulkOperationArn", TEXT_SIZE(1, 1024))

#define list_bulk_operations_request_members(X, T)                                                 \
    X(T, OPTIONAL, max_results, "MaxResults", INTEGER_RANGE(1, 100))                               \
    X(T, OPTIONAL, next_token, "NextToken", TEXT)

#define bulk_input_members(X, T)                                                                   \
    X(T, REQUIRED, bucket, "S3Bucket", TEXT_OF(bucket))                                            \
    X(T, OPTIONAL, bucket_owner, "S3BucketOwner", TEXT)                                            \
    X(T, OPTIONAL, key_prefix, "S3KeyPrefix", TEXT_MAX(1024))                                      \
    X(T, REQUIRED, format, "InputFormat", ENUM("DYNAMODB_JSON", "ION"))                            \
    X(T, OPTIONAL, compression, "InputCompressionType", ENUM("GZIP", "ZSTD", "NONE"))

#define bulk_output_members(X, T)                                                                  \
    X(T, REQUIRED, bucket, "S3Bucket", TEXT_OF(bucket))                                            \
    X(T, OPTIONAL, bucket_owner, "S3BucketOwner", TEXT)                                            \
    X(T, OPTIONAL, key_prefix, "S3KeyPrefix", TEXT_MAX(1024))                                      \
    X(T, OPTIONAL, sse_algorithm, "S3SseAlgorithm", ENUM("AES256", "KMS"))                         \
    X(T, OPTIONAL, sse_key, "S3SseKmsKeyId", TEXT)                                                 \
    X(T, REQUIRED, types, "OutputType", LIST(ENUM("ERROR", "CONDITION_CHECK_FAILURE")))

#define start_bulk_put_items_request_members(X, T)                                                 \
    X(T, OPTIONAL, client_token, "ClientToken", TEXT)                                              \
    X(T, REQUIRED, input, "InputS3Configuration", STRUCT(bulk_input))                              \
    X(T, REQUIRED, output, "OutputS3Configuration", STRUCT(bulk_output))                           \
    WITH_TABLE_NAME(X, T)                                                                          \
    X(T, OPTIONAL, max_write_request_units, "MaxWriteRequestUnits", LONG_MIN(1024))                \
    X(T, OPTIONAL, performance_tier, "PerformanceTier", ENUM("STANDARD", "ACCELERATED"))

// DescribeKinesisStreamingDestination and DescribeTableReplicaAutoScaling.

// ---- Backups, restores and point-in-time recovery ---------------------------------------------

#define create_backup_request_members(X, T)                                                        \
    WITH_OWN_TABLE_NAME(X, T)                                                                      \
    X(T, REQUIRED, backup_name, "BackupName", TEXT_OF(plain_name))

// DescribeBackup and DeleteBackup.
#define backup_arn_request_members(X, T)                                                           \
    X(T, REQUIRED, backup_arn, "BackupArn", TEXT_SIZE(37, 1024))

#define list_backups_request_members(X, T)                                                         \
    X(T, OPTIONAL, table_name, "TableName", TEXT_OF(table_name))                                   \
    X(T, OPTIONAL, limit, "Limit", INTEGER_RANGE(1, 100))                                          \
    X(T, OPTIONAL, time_range_lower_bound, "TimeRangeLowerBound", TIME)                            \
    X(T, OPTIONAL, time_range_upper_bound, "TimeRangeUpperBound", TIME)                            \
    X(T, OPTIONAL, exclusive_start_backup_arn, "ExclusiveStartBackupArn", TEXT_SIZE(37, 1024))     \
    X(T, OPTIONAL, backup_type, "BackupType", ENUM("USER", "SYSTEM", "AWS_BACKUP", "ALL"))

#define point_in_time_recovery_specification_members(X, T)                                         \
    X(T, REQUIRED, point_in_time_recovery_enabled, "PointInTimeRecoveryEnabled", BOOLEAN)          \
    X(T, OPTIONAL, recovery_period_in_days, "RecoveryPeriodInDays", INTEGER_RANGE(1, 35))

#define update_continuous_backups_request_members(X, T)                                            \
    WITH_OWN_TABLE_NAME(X, T)                                                                      \
    X(T, REQUIRED, point_in_time_recovery_specification, "PointInTimeRecoverySpecification",       \
      STRUCT(point_in_time_recovery_specification))

// What both restores may make different from the source. P is where the struct stands in the
// request.
#define WITH_RESTORE_OVERRIDES(X, T, P)                                                            \
    X(T, OPTIONAL, P billing_mode, "BillingModeOverride", TEXT_OF(billing_mode))                   \
    X(T, OPTIONAL, P global_secondary_indexes, "GlobalSecondaryIndexOverride",                     \
      LIST(STRUCT(global_secondary_index)))                                                        \
    X(T, OPTIONAL, P local_secondary_indexes, "LocalSecondaryIndexOverride",                       \
      LIST(STRUCT(local_secondary_index)))                                                         \
    X(T, OPTIONAL, P vector_indexes, "VectorIndexOverride", LIST(STRUCT(request_vector_index)))    \
    X(T, OPTIONAL, P provisioned_throughput, "ProvisionedThroughputOverride",                      \
      STRUCT(request_provisioned_throughput))                                                      \
    X(T, OPTIONAL, P on_demand_throughput, "OnDemandThroughputOverride",                           \
      STRUCT(request_on_demand_throughput))                                                        \
    X(T, OPTIONAL, P sse_specification, "SSESpecificationOverride",                                \
      STRUCT(request_sse_specification))
#define restore_overrides_members(X, T) WITH_RESTORE_OVERRIDES(X, T, )
REQUEST_STRUCT(restore_overrides, )

struct restore_table_from_backup_request {
    struct slice target_table_name;
    struct slice backup_arn;
    struct restore_overrides overrides;
};
#define restore_table_from_backup_request_members(X, T)                                            \
    X(T, REQUIRED, target_table_name, "TargetTableName", TEXT_OF(plain_name))                      \
    X(T, REQUIRED, backup_arn, "BackupArn", TEXT_SIZE(37, 1024))                                   \
    WITH_RESTORE_OVERRIDES(X, T, overrides.)

struct restore_table_to_point_in_time_request {
    struct slice source_table_arn;
    struct slice source_table_name;
    struct slice target_table_name;
    struct field_bool use_latest_restorable_time;
    struct field_double restore_date_time;
    struct restore_overrides overrides;
};
#define restore_table_to_point_in_time_request_members(X, T)                                       \
    X(T, OPTIONAL, source_table_arn, "SourceTableArn", TEXT_SIZE(1, 1024))                         \
    X(T, OPTIONAL, source_table_name, "SourceTableName", TEXT_OF(plain_name))                      \
    X(T, REQUIRED, target_table_name, "TargetTableName", TEXT_OF(plain_name))                      \
    X(T, OPTIONAL, use_latest_restorable_time, "UseLatestRestorableTime", BOOLEAN)                 \
    X(T, OPTIONAL, restore_date_time, "RestoreDateTime", TIME)                                     \
    WITH_RESTORE_OVERRIDES(X, T, overrides.)

// ---- Streams ----------------------------------------------------------------------------------

#define list_streams_request_members(X, T)                                                         \
    X(T, OPTIONAL, table_name, "TableName", TEXT_OF(plain_name))                                   \
    WITH_LIMIT(X, T)                                                                               \
    X(T, OPTIONAL, exclusive_start_stream_arn, "ExclusiveStartStreamArn", TEXT_SIZE(37, 1024))

#define shard_filter_members(X, T)                                                                 \
    X(T, OPTIONAL, type, "Type", ENUM("CHILD_SHARDS"))                                             \
    X(T, OPTIONAL, shard_id, "ShardId", TEXT_SIZE(28, 65))

#define describe_stream_request_members(X, T)                                                      \
    X(T, REQUIRED, stream_arn, "StreamArn", TEXT_SIZE(37, 1024))                                   \
    WITH_LIMIT(X, T)                                                                               \
    X(T, OPTIONAL, exclusive_start_shard_id, "ExclusiveStartShardId", TEXT_SIZE(28, 65))           \
    X(T, OPTIONAL, shard_filter, "ShardFilter", STRUCT(shard_filter))

#define get_shard_iterator_request_members(X, T)                                                   \
    X(T, REQUIRED, stream_arn, "StreamArn", TEXT_SIZE(37, 1024))                                   \
    X(T, REQUIRED, shard_id, "ShardId", TEXT_SIZE(28, 65))                                         \
    X(T, REQUIRED, shard_iterator_type, "ShardIteratorType",                                       \
      ENUM("TRIM_HORIZON", "LATEST", "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"))               \
    X(T, OPTIONAL, sequence_number, "SequenceNumber", TEXT_SIZE(21, 40))

#define get_records_request_members(X, T)                                                          \
    X(T, REQUIRED, shard_iterator, "ShardIterator", TEXT_SIZE(1, 2048))                            \
    WITH_LIMIT(X, T)

// ---- Exports and imports ----------------------------------------------------------------------

#define incremental_export_specification_members(X, T)                                             \
    X(T, OPTIONAL, export_from_time, "ExportFromTime", TIME)                                       \
    X(T, OPTIONAL, export_to_time, "ExportToTime", TIME)                                           \
    X(T, OPTIONAL, export_view_type, "ExportViewType", ENUM("NEW_IMAGE", "NEW_AND_OLD_IMAGES"))

#define filter_specification_members(X, T)                                                         \
    WITH_FILTER(X, T)                                                                              \
    WITH_PROJECTION(X, T)                                                                          \
    X(T, OPTIONAL, key_condition_expression, "KeyConditionExpression", TEXT)                       \
    WITH_NAMES_AND_VALUES(X, T)

#define export_table_request_members(X, T)                                                         \
    X(T, REQUIRED, table_arn, "TableArn", TEXT_SIZE(1, 1024))                                      \
    X(T, OPTIONAL, export_time, "ExportTime", TIME)                                                \
    X(T, OPTIONAL, client_token, "ClientToken", TEXT_OF(client_token))                             \
    X(T, REQUIRED, s3_bucket, "S3Bucket", TEXT_OF(bucket))                                         \
    X(T, OPTIONAL, s3_bucket_owner, "S3BucketOwner", TEXT_OF(bucket_owner))                        \
    X(T, OPTIONAL, s3_prefix, "S3Prefix", TEXT_MAX(1024))                                          \
    X(T, OPTIONAL, s3_sse_algorithm, "S3SseAlgorithm", ENUM("AES256", "KMS")) /* AES256, KMS */    \
    X(T, OPTIONAL, s3_sse_kms_key_id, "S3SseKmsKeyId", TEXT_SIZE(1, 2048))                         \
    X(T, OPTIONAL, export_format, "ExportFormat", ENUM("DYNAMODB_JSON", "ION"))                    \
    X(T, OPTIONAL, export_type, "ExportType", ENUM("FULL_EXPORT", "INCREMENTAL_EXPORT"))           \
    X(T, OPTIONAL, incremental_export_specification, "IncrementalExportSpecification",             \
      STRUCT(incremental_export_specification))                                                    \
    X(T, OPTIONAL, filter_specification, "FilterSpecification", STRUCT(filter_specification))

#define describe_export_request_members(X, T)                                                      \
    X(T, REQUIRED, export_arn, "ExportArn", TEXT_SIZE(37, 1024))

#define list_exports_request_members(X, T)                                                         \
    X(T, OPTIONAL, table_arn, "TableArn", TEXT_SIZE(1, 1024))                                      \
    X(T, OPTIONAL, max_results, "MaxResults", INTEGER_RANGE(1, 25))                                \
    X(T, OPTIONAL, next_token, "NextToken", TEXT)

#define s3_bucket_source_members(X, T)                                                             \
    X(T, OPTIONAL, s3_bucket_owner, "S3BucketOwner", TEXT_OF(bucket_owner))                        \
    X(T, REQUIRED, s3_bucket, "S3Bucket", TEXT_OF(bucket))                                         \
    X(T, OPTIONAL, s3_key_prefix, "S3KeyPrefix", TEXT_MAX(1024))

#define csv_options_members(X, T)                                                                  \
    X(T, OPTIONAL, delimiter, "Delimiter", TEXT_OF(delimiter))                                     \
    X(T, OPTIONAL, header_list, "HeaderList", LIST_RANGE(TEXT_OF(csv_header), 1, 255))

#define input_format_options_members(X, T) X(T, OPTIONAL, csv, "Csv", STRUCT(csv_options))

#define table_creation_parameters_members(X, T)                                                    \
    X(T, REQUIRED, table_name, "TableName", TEXT_OF(plain_name))                                   \
    X(T, REQUIRED, attribute_definitions, "AttributeDefinitions",                                  \
      LIST(STRUCT(attribute_definition)))                                                          \
    X(T, REQUIRED, key_schema, "KeySchema", LIST_RANGE(STRUCT(key_schema_element), 1, 2))          \
    WITH_BILLING_MODE(X, T)                                                                        \
    WITH_PROVISIONED_THROUGHPUT(X, T)                                                              \
    WITH_ON_DEMAND_THROUGHPUT(X, T)                                                                \
    WITH_SSE_SPECIFICATION(X, T)                                                                   \
    X(T, OPTIONAL, global_secondary_indexes, "GlobalSecondaryIndexes",                             \
      LIST(STRUCT(global_secondary_index)))

#define import_table_request_members(X, T)                                                         \
    X(T, OPTIONAL, client_token, "ClientToken", TEXT_OF(client_token))                             \
    X(T, REQUIRED, s3_bucket_source, "S3BucketSource", STRUCT(s3_bucket_source))                   \
    X(T, REQUIRED, input_format, "InputFormat", ENUM("DYNAMODB_JSON", "ION", "CSV"))               \
    X(T, OPTIONAL, input_format_options, "InputFormatOptions", STRUCT(input_format_options))       \
    X(T, OPTIONAL, input_compression_type, "InputCompressionType", ENUM("GZIP", "ZSTD", "NONE"))   \
    X(T, REQUIRED, table_creation_parameters, "TableCreationParameters",                           \
      STRUCT(table_creation_parameters))

#define describe_import_request_members(X, T)                                                      \
    X(T, REQUIRED, import_arn, "ImportArn", TEXT_SIZE(37, 1024))

#define list_imports_request_members(X, T)                                                         \
    X(T, OPTIONAL, table_arn, "TableArn", TEXT_SIZE(1, 1024))                                      \
    X(T, OPTIONAL, page_size, "PageSize", INTEGER_RANGE(1, 25))                                    \
    X(T, OPTIONAL, next_token, "NextToken", TEXT_OF(import_token))

// ---- Not of DynamoDB: models, migrations (docs/MODEL.md), VerifyDatabase (docs/VERIFY.md) -----

// ListModelVersions, AbandonModel.
#define model_table_request_members(X, T) WITH_OWN_TABLE_NAME(X, T)

#define describe_model_request_members(X, T)                                                       \
    WITH_OWN_TABLE_NAME(X, T)                                                                      \
    X(T, OPTIONAL, version, "Version", LONG_MIN(1)) /* of the history; else the one in force */

// All tables unless one is named.
#define list_migrations_request_members(X, T)                                                      \
    X(T, OPTIONAL, table_name, "TableName", TEXT_OF(own_table_name))

#define describe_model_report_request_members(X, T)                                                \
    WITH_OWN_TABLE_NAME(X, T)                                                                      \
    X(T, OPTIONAL, scan, "Scan", BOOLEAN)         /* judges what is stored instead */              \
    X(T, OPTIONAL, sample, "Sample", LONG_MIN(1)) /* of it, so many items */                       \
    X(T, OPTIONAL, forget, "Forget", BOOLEAN)     /* begins anew, after the answer */

// DiffModel and ApplyModel.
#define apply_model_request_members(X, T)                                                          \
    X(T, REQUIRED, model, "Model", TEXT)        /* the text of the file */                         \
    X(T, OPTIONAL, file_name, "FileName", TEXT) /* for messages */                                 \
    X(T, OPTIONAL, sample, "Sample", LONG_MIN(1))                                                  \
    X(T, OPTIONAL, force, "Force",                                                                 \
      BOOLEAN) /* also if items are left that the model does not allow */                          \
    X(T, OPTIONAL, check_only, "CheckOnly", BOOLEAN) /* ApplyModel: answers as DiffModel does */   \
    X(T, OPTIONAL, prune, "Prune", BOOLEAN) /* deletes indexes that the model does not name */     \
    X(T, OPTIONAL, version, "Version", LONG_MIN(1)) /* DiffModel: compares with that one only */   \
    X(T, OPTIONAL, newer, "Newer", BOOLEAN) /* refuses one that the table had before its own */    \
    X(T, OPTIONAL, remove_items, "RemoveItems",                                                    \
      BOOLEAN)                                /* also if new rules remove some at once */          \
    X(T, OPTIONAL, rate, "Rate", LONG_MIN(1)) /* items of a second that the backfill writes */

// The archives of sweeps (docs/RETENTION.md), of all tables unless one is named.
#define list_archives_request_members(X, T)                                                        \
    X(T, OPTIONAL, table_name, "TableName", TEXT_OF(own_table_name))                               \
    X(T, OPTIONAL, verify, "Verify", BOOLEAN) /* reads them, and compares with their manifests */

#define apply_migration_request_members(X, T)                                                      \
    X(T, REQUIRED, migration, "Migration", TEXT)                                                   \
    X(T, OPTIONAL, file_name, "FileName", TEXT)                                                    \
    X(T, OPTIONAL, direction, "Direction", ENUM("UP", "DOWN"))                                     \
    X(T, OPTIONAL, sample, "Sample", LONG_MIN(1))                                                  \
    X(T, OPTIONAL, dry_run, "DryRun", BOOLEAN)                                                     \
    X(T, OPTIONAL, again, "Again", BOOLEAN)                                                        \
    X(T, OPTIONAL, rate, "Rate", LONG_MIN(1))

#define describe_migration_request_members(X, T)                                                   \
    WITH_OWN_TABLE_NAME(X, T)                                                                      \
    X(T, REQUIRED, migration_name, "MigrationName", TEXT)

// Consumers of change logs (docs/EVENTS.md).
#define WITH_CONSUMER(X, T)                                                                        \
    WITH_OWN_TABLE_NAME(X, T)                                                                      \
    X(T, REQUIRED, consumer_name, "ConsumerName", TEXT_SIZE(1, 255))

#define list_consumers_request_members(X, T)                                                       \
    X(T, OPTIONAL, table_name, "TableName", TEXT_OF(own_table_name))

#define consumer_request_members(X, T) WITH_CONSUMER(X, T)

#define update_consumer_request_members(X, T)                                                      \
    WITH_CONSUMER(X, T)                                                                            \
    X(T, REQUIRED, action, "Action", ENUM("PAUSE", "RESUME", "REPLAY", "BACKFILL"))                \
    X(T, OPTIONAL, from, "From", TEXT_SIZE(1, 40)) /* REPLAY: 2026-01-31T12:00:00Z */

#define list_dead_letters_request_members(X, T)                                                    \
    WITH_CONSUMER(X, T)                                                                            \
    X(T, OPTIONAL, after, "ExclusiveStartSequence", LONG_MIN(1))                                   \
    X(T, OPTIONAL, limit, "Limit", INTEGER_RANGE(1, 100))

#define retry_dead_letters_request_members(X, T)                                                   \
    WITH_CONSUMER(X, T)                                                                            \
    X(T, OPTIONAL, sequence, "Sequence", LONG_MIN(1)) /* of one; else all */                       \
    X(T, OPTIONAL, drop, "Drop", BOOLEAN)             /* forgets them instead */

// See verify.h. A run is begun without a RunId, and asked for with it.
#define verify_database_request_members(X, T)                                                      \
    X(T, OPTIONAL, table_name, "TableName", TEXT_OF(own_table_name)) /* only this one */           \
    X(T, OPTIONAL, run_id, "RunId", TEXT)                                                          \
    X(T, OPTIONAL, stop, "Stop", BOOLEAN)       /* the run is to end */                            \
    X(T, OPTIONAL, limit, "Limit", LONG_MIN(1)) /* differences to describe */

// ---- Identities --------------------------------------------------------------------------------

// All operations on them; which members one needs is said by its row (accounts/accounts.c).
#define account_request_members(X, T)                                                              \
    X(T, OPTIONAL, user_name, "UserName", TEXT_SIZE(1, 128))                                       \
    X(T, OPTIONAL, group_name, "GroupName", TEXT_SIZE(1, 128))                                     \
    X(T, OPTIONAL, role_name, "RoleName", TEXT_SIZE(1, 128))                                       \
    X(T, OPTIONAL, policy_name, "PolicyName", TEXT_SIZE(1, 128))                                   \
    X(T, OPTIONAL, policy_arn, "PolicyArn", TEXT_SIZE(1, 2048))                                    \
    X(T, OPTIONAL, policy_document, "PolicyDocument", TEXT_SIZE(1, 131072))                        \
    X(T, OPTIONAL, trust, "AssumeRolePolicyDocument", TEXT_SIZE(1, 131072))                        \
    X(T, OPTIONAL, permissions_boundary, "PermissionsBoundary", TEXT_SIZE(1, 2048))                \
    X(T, OPTIONAL, access_key_id, "AccessKeyId", TEXT_SIZE(16, 128))                               \
    X(T, OPTIONAL, status, "Status", ENUM("Active", "Inactive"))                                   \
    X(T, OPTIONAL, description, "Description", TEXT_MAX(1000))                                     \
    X(T, OPTIONAL, tags, "Tags", LIST(STRUCT(request_tag)))                                        \
    X(T, OPTIONAL, tag_keys, "TagKeys", LIST(TEXT_SIZE(1, 128)))                                   \
    X(T, OPTIONAL, marker, "Marker", TEXT_SIZE(1, 128))                                            \
    X(T, OPTIONAL, max_items, "MaxItems", INTEGER_RANGE(1, 1000))

// ---- All of them ------------------------------------------------------------------------------

#define CONTROL_REQUESTS(X)                                                                        \
    X(put_resource_policy_request, "PutResourcePolicyInput")                                       \
    X(delete_resource_policy_request, "DeleteResourcePolicyInput")                                 \
    X(get_resource_policy_request, "GetResourcePolicyInput")                                       \
    X(update_contributor_insights_request, "UpdateContributorInsightsInput")                       \
    X(describe_contributor_insights_request, "DescribeContributorInsightsInput")                   \
    X(list_contributor_insights_request, "ListContributorInsightsInput")                           \
    X(kinesis_configuration, "EnableKinesisStreamingConfiguration")                                \
    X(kinesis_destination_request, "KinesisStreamingDestinationInput")                             \
    X(scaling_target, "AutoScalingTargetTrackingScalingPolicyConfigurationUpdate")                 \
    X(scaling_policy_update, "AutoScalingPolicyUpdate")                                            \
    X(scaling_update, "AutoScalingSettingsUpdate")                                                 \
    X(index_scaling_update, "GlobalSecondaryIndexAutoScalingUpdate")                               \
    X(replica_scaling_update, "ReplicaAutoScalingUpdate")                                          \
    X(update_replica_scaling_request, "UpdateTableReplicaAutoScalingInput")                        \
    X(replica_request, "Replica")                                                                  \
    X(create_global_table_request, "CreateGlobalTableInput")                                       \
    X(global_table_name_request, "DescribeGlobalTableInput")                                       \
    X(list_global_tables_request, "ListGlobalTablesInput")                                         \
    X(replica_update, "ReplicaUpdate")                                                             \
    X(update_global_table_request, "UpdateGlobalTableInput")                                       \
    X(index_units_update, "GlobalTableGlobalSecondaryIndexSettingsUpdate")                         \
    X(replica_settings_update, "ReplicaSettingsUpdate")                                            \
    X(update_global_settings_request, "UpdateGlobalTableSettingsInput")                            \
    X(bulk_operation_request, "DescribeBulkOperationInput")                                        \
    X(list_bulk_operations_request, "ListBulkOperationsInput")                                     \
    X(bulk_input, "InputS3Configuration")                                                          \
    X(bulk_output, "OutputS3Configuration")                                                        \
    X(start_bulk_put_items_request, "StartBulkPutItemsInput")                                      \
    X(create_backup_request, "CreateBackupInput")                                                  \
    X(backup_arn_request, "DescribeBackupInput")                                                   \
    X(list_backups_request, "ListBackupsInput")                                                    \
    X(point_in_time_recovery_specification, "PointInTimeRecoverySpecification")                    \
    X(update_continuous_backups_request, "UpdateContinuousBackupsInput")                           \
    X(list_streams_request, "ListStreamsInput")                                                    \
    X(shard_filter, "ShardFilter")                                                                 \
    X(describe_stream_request, "DescribeStreamInput")                                              \
    X(get_shard_iterator_request, "GetShardIteratorInput")                                         \
    X(get_records_request, "GetRecordsInput")                                                      \
    X(incremental_export_specification, "IncrementalExportSpecification")                          \
    X(filter_specification, "FilterSpecification")                                                 \
    X(export_table_request, "ExportTableToPointInTimeInput")                                       \
    X(describe_export_request, "DescribeExportInput")                                              \
    X(list_exports_request, "ListExportsInput")                                                    \
    X(s3_bucket_source, "S3BucketSource")                                                          \
    X(csv_options, "CsvOptions")                                                                   \
    X(input_format_options, "InputFormatOptions")                                                  \
    X(table_creation_parameters, "TableCreationParameters")                                        \
    X(import_table_request, "ImportTableInput")                                                    \
    X(describe_import_request, "DescribeImportInput")                                              \
    X(list_imports_request, "ListImportsInput")                                                    \
    X(model_table_request, "ModelTableInput")                                                      \
    X(describe_model_request, "DescribeModelInput")                                                \
    X(list_migrations_request, "ListMigrationsInput")                                              \
    X(describe_model_report_request, "DescribeModelReportInput")                                   \
    X(apply_model_request, "ApplyModelInput")                                                      \
    X(list_archives_request, "ListArchivesInput")                                                  \
    X(apply_migration_request, "ApplyMigrationInput")                                              \
    X(describe_migration_request, "DescribeMigrationInput")                                        \
    X(list_consumers_request, "ListConsumersInput")                                                \
    X(consumer_request, "DescribeConsumerInput")                                                   \
    X(update_consumer_request, "UpdateConsumerInput")                                              \
    X(list_dead_letters_request, "ListDeadLettersInput")                                           \
    X(retry_dead_letters_request, "RetryDeadLettersInput")                                         \
    X(verify_database_request, "VerifyDatabaseInput")                                              \
    X(account_request, "AccountInput")
CONTROL_REQUESTS(REQUEST_STRUCT)

// Other ways to read them, and those whose struct stands above.
#define CONTROL_VARIANTS(X)                                                                        \
    X(update_kinesis_destination_request, kinesis_destination_request,                             \
      "UpdateKinesisStreamingDestinationInput")                                                    \
    X(index_read_scaling, index_scaling_update, "ReplicaGlobalSecondaryIndexAutoScalingUpdate")    \
    X(replica_action, replica_request, "CreateReplicaAction")                                      \
    X(index_read_units, index_units_update, "ReplicaGlobalSecondaryIndexSettingsUpdate")           \
    X(restore_table_from_backup_request, restore_table_from_backup_request,                        \
      "RestoreTableFromBackupInput")                                                               \
    X(restore_table_to_point_in_time_request, restore_table_to_point_in_time_request,              \
      "RestoreTableToPointInTimeInput")

#endif
