// The one list of operations, sorted by name. READ answers at once, on the caller's thread, and
// what is longer than a slice in the pool. LIST is a READ that looks at many tables or records: all
// of it is done in the pool. WRITE hands a job to the writer and has a `finish` function for
// afterwards. STREAM is a READ of DynamoDB Streams. MODEL is none of DynamoDB's: it is about
// models, migrations and verifying, begins in the pool and may go on on a thread of its own
// (model.h). Each row: the operation's name, its functions (get_item means get_item_start), its
// shape (get_item means shape_get_item_request), and the validation layer (base/layer.h) by which
// us-east-1 judges it today.
#ifndef CALL_OPERATION_LIST_H
#define CALL_OPERATION_LIST_H

// A row is a line.
// clang-format off
#define OPERATION_LIST(READ, LIST, WRITE, STREAM, MODEL) \
    MODEL(AbandonModel, abandon_model, model_table, OLD) \
    MODEL(ApplyMigration, apply_migration, apply_migration, OLD) \
    MODEL(ApplyModel, apply_model, apply_model, OLD) \
    WRITE(BatchExecuteStatement, batch_execute_statement, batch_execute_statement, OLD) \
    READ(BatchGetItem, batch_get_item, batch_get_item, NEW) \
    WRITE(BatchWriteItem, batch_write_item, batch_write_item, OLD) \
    WRITE(CancelBulkOperation, cancel_bulk_operation, bulk_operation, OLD) \
    WRITE(CreateBackup, create_backup, create_backup, OLD) \
    WRITE(CreateGlobalTable, create_global_table, create_global_table, OLD) \
    WRITE(CreateTable, create_table, create_table, OLD) \
    WRITE(DeleteBackup, delete_backup, backup_arn, OLD) \
    WRITE(DeleteItem, delete_item, delete_item, JOINED) \
    WRITE(DeleteResourcePolicy, delete_resource_policy, delete_resource_policy, OLD) \
    WRITE(DeleteTable, delete_table, table_name, OLD) \
    READ(DescribeBackup, describe_backup, backup_arn, OLD) \
    READ(DescribeBulkOperation, describe_bulk_operation, bulk_operation, OLD) \
    READ(DescribeContinuousBackups, describe_continuous_backups, table_name, OLD) \
    READ(DescribeContributorInsights, describe_contributor_insights, describe_contributor_insights, OLD) \
    READ(DescribeEndpoints, describe_endpoints, empty, OLD) \
    READ(DescribeExport, describe_export, describe_export, OLD) \
    READ(DescribeGlobalTable, describe_global_table, global_table_name, OLD) \
    READ(DescribeGlobalTableSettings, describe_global_table_settings, global_table_name, OLD) \
    READ(DescribeImport, describe_import, describe_import, OLD) \
    READ(DescribeKinesisStreamingDestination, describe_kinesis_streaming_destination, table_or_arn, OLD) \
    READ(DescribeLimits, describe_limits, empty, OLD) \
    MODEL(DescribeMigration, describe_migration, describe_migration, OLD) \
    MODEL(DescribeModel, describe_model, describe_model, OLD) \
    MODEL(DescribeModelReport, describe_model_report, describe_model_report, OLD) \
    STREAM(DescribeStream, describe_stream, describe_stream, OLD) \
    READ(DescribeTable, describe_table, table_name, OLD) \
    READ(DescribeTableReplicaAutoScaling, describe_table_replica_auto_scaling, table_or_arn, OLD) \
    READ(DescribeTimeToLive, describe_time_to_live, table_name, OLD) \
    MODEL(DiffModel, diff_model, apply_model, OLD) \
    WRITE(DisableKinesisStreamingDestination, disable_kinesis_streaming_destination, kinesis_destination, OLD) \
    WRITE(EnableKinesisStreamingDestination, enable_kinesis_streaming_destination, kinesis_destination, OLD) \
    WRITE(ExecuteStatement, execute_statement, execute_statement, OLD) \
    WRITE(ExecuteTransaction, execute_transaction, execute_transaction, OLD) \
    WRITE(ExportTableToPointInTime, export_table, export_table, OLD) \
    READ(GetItem, get_item, get_item, NEW) \
    STREAM(GetRecords, get_records, get_records, OLD) \
    READ(GetResourcePolicy, get_resource_policy, get_resource_policy, OLD) \
    STREAM(GetShardIterator, get_shard_iterator, get_shard_iterator, OLD) \
    WRITE(ImportTable, import_table, import_table, OLD) \
    LIST(ListBackups, list_backups, list_backups, OLD) \
    LIST(ListBulkOperations, list_bulk_operations, list_bulk_operations, OLD) \
    LIST(ListContributorInsights, list_contributor_insights, list_contributor_insights, OLD) \
    LIST(ListExports, list_exports, list_exports, OLD) \
    LIST(ListGlobalTables, list_global_tables, list_global_tables, OLD) \
    LIST(ListImports, list_imports, list_imports, OLD) \
    MODEL(ListMigrations, list_migrations, list_migrations, OLD) \
    MODEL(ListModelVersions, list_model_versions, model_table, OLD) \
    MODEL(ListModels, list_models, empty, OLD) \
    STREAM(ListStreams, list_streams, list_streams, OLD) \
    READ(ListTables, list_tables, list_tables, OLD) \
    READ(ListTagsOfResource, list_tags_of_resource, list_tags_of_resource, OLD) \
    WRITE(PutItem, put_item, put_item, JOINED) \
    WRITE(PutResourcePolicy, put_resource_policy, put_resource_policy, OLD) \
    READ(Query, query, query, NEW) \
    WRITE(RestoreTableFromBackup, restore_table_from_backup, restore_table_from_backup, OLD) \
    WRITE(RestoreTableToPointInTime, restore_table_to_point_in_time, restore_table_to_point_in_time, OLD) \
    READ(Scan, scan, scan, OLD) \
    READ(SearchVectors, search_vectors, search_vectors, OLD) \
    WRITE(StartBulkPutItems, start_bulk_put_items, start_bulk_put_items, OLD) \
    WRITE(TagResource, tag_resource, tag_resource, OLD) \
    READ(TransactGetItems, transact_get_items, transact_get_items, OLD) \
    WRITE(TransactWriteItems, transact_write_items, transact_write_items, OLD) \
    WRITE(UntagResource, untag_resource, untag_resource, OLD) \
    WRITE(UpdateContinuousBackups, update_continuous_backups, update_continuous_backups, OLD) \
    WRITE(UpdateContributorInsights, update_contributor_insights, update_contributor_insights, \
          OLD) \
    WRITE(UpdateGlobalTable, update_global_table, update_global_table, OLD) \
    WRITE(UpdateGlobalTableSettings, update_global_table_settings, update_global_settings, OLD) \
    WRITE(UpdateItem, update_item, update_item, ENVELOPE) \
    WRITE(UpdateKinesisStreamingDestination, update_kinesis_streaming_destination, update_kinesis_destination, OLD) \
    WRITE(UpdateTable, update_table, update_table, OLD) \
    WRITE(UpdateTableReplicaAutoScaling, update_table_replica_auto_scaling, update_replica_scaling, OLD) \
    WRITE(UpdateTimeToLive, update_time_to_live, update_time_to_live, OLD) \
    MODEL(VerifyDatabase, verify_database, verify_database, OLD)
// clang-format on

#endif
