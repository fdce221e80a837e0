// The one list of operations, sorted by name. READ answers at once, on the caller's thread, and
// what is longer than a slice in the pool. LIST is a READ that looks at many tables or records: all
// of it is done in the pool. WRITE hands a job to the writer and has a `finish` function for
// afterwards. STREAM is a READ of DynamoDB Streams. MODEL is none of DynamoDB's: it is about
// models, migrations and verifying, begins in the pool and may go on on a thread of its own
// (model.h). Each row: the operation's name, its functions (get_item means get_item_start), and its
// shape (get_item means shape_get_item_request).
#ifndef CALL_OPERATION_LIST_H
#define CALL_OPERATION_LIST_H

#define OPERATION_LIST(READ, LIST, WRITE, STREAM, MODEL)                                           \
    MODEL(AbandonModel, abandon_model, model_table)                                                \
    MODEL(ApplyMigration, apply_migration, apply_migration)                                        \
    MODEL(ApplyModel, apply_model, apply_model)                                                    \
    WRITE(BatchExecuteStatement, batch_execute_statement, batch_execute_statement)                 \
    READ(BatchGetItem, batch_get_item, batch_get_item)                                             \
    WRITE(BatchWriteItem, batch_write_item, batch_write_item)                                      \
    WRITE(CancelBulkOperation, cancel_bulk_operation, bulk_operation)                              \
    WRITE(CreateBackup, create_backup, create_backup)                                              \
    WRITE(CreateGlobalTable, create_global_table, create_global_table)                             \
    WRITE(CreateTable, create_table, create_table)                                                 \
    WRITE(DeleteBackup, delete_backup, backup_arn)                                                 \
    WRITE(DeleteItem, delete_item, delete_item)                                                    \
    WRITE(DeleteResourcePolicy, delete_resource_policy, delete_resource_policy)                    \
    WRITE(DeleteTable, delete_table, table_name)                                                   \
    READ(DescribeBackup, describe_backup, backup_arn)                                              \
    READ(DescribeBulkOperation, describe_bulk_operation, bulk_operation)                           \
    READ(DescribeContinuousBackups, describe_continuous_backups, table_name)                       \
    READ(DescribeContributorInsights, describe_contributor_insights,                               \
         describe_contributor_insights)                                                            \
    READ(DescribeEndpoints, describe_endpoints, empty)                                             \
    READ(DescribeExport, describe_export, describe_export)                                         \
    READ(DescribeGlobalTable, describe_global_table, global_table_name)                            \
    READ(DescribeGlobalTableSettings, describe_global_table_settings, global_table_name)           \
    READ(DescribeImport, describe_import, describe_import)                                         \
    READ(DescribeKinesisStreamingDestination, describe_kinesis_streaming_destination,              \
         table_or_arn)                                                                             \
    READ(DescribeLimits, describe_limits, empty)                                                   \
    MODEL(DescribeMigration, describe_migration, describe_migration)                               \
    MODEL(DescribeModel, describe_model, model_table)                                              \
    MODEL(DescribeModelReport, describe_model_report, describe_model_report)                       \
    STREAM(DescribeStream, describe_stream, describe_stream)                                       \
    READ(DescribeTable, describe_table, table_name)                                                \
    READ(DescribeTableReplicaAutoScaling, describe_table_replica_auto_scaling, table_or_arn)       \
    READ(DescribeTimeToLive, describe_time_to_live, table_name)                                    \
    MODEL(DiffModel, diff_model, apply_model)                                                      \
    WRITE(DisableKinesisStreamingDestination, disable_kinesis_streaming_destination,               \
          kinesis_destination)                                                                     \
    WRITE(EnableKinesisStreamingDestination, enable_kinesis_streaming_destination,                 \
          kinesis_destination)                                                                     \
    WRITE(ExecuteStatement, execute_statement, execute_statement)                                  \
    WRITE(ExecuteTransaction, execute_transaction, execute_transaction)                            \
    WRITE(ExportTableToPointInTime, export_table, export_table)                                    \
    READ(GetItem, get_item, get_item)                                                              \
    STREAM(GetRecords, get_records, get_records)                                                   \
    READ(GetResourcePolicy, get_resource_policy, get_resource_policy)                              \
    STREAM(GetShardIterator, get_shard_iterator, get_shard_iterator)                               \
    WRITE(ImportTable, import_table, import_table)                                                 \
    LIST(ListBackups, list_backups, list_backups)                                                  \
    LIST(ListBulkOperations, list_bulk_operations, list_bulk_operations)                           \
    LIST(ListContributorInsights, list_contributor_insights, list_contributor_insights)            \
    LIST(ListExports, list_exports, list_exports)                                                  \
    LIST(ListGlobalTables, list_global_tables, list_global_tables)                                 \
    LIST(ListImports, list_imports, list_imports)                                                  \
    MODEL(ListMigrations, list_migrations, model_table)                                            \
    MODEL(ListModelVersions, list_model_versions, model_table)                                     \
    MODEL(ListModels, list_models, empty)                                                          \
    STREAM(ListStreams, list_streams, list_streams)                                                \
    READ(ListTables, list_tables, list_tables)                                                     \
    READ(ListTagsOfResource, list_tags_of_resource, list_tags_of_resource)                         \
    WRITE(PutItem, put_item, put_item)                                                             \
    WRITE(PutResourcePolicy, put_resource_policy, put_resource_policy)                             \
    READ(Query, query, query)                                                                      \
    WRITE(RestoreTableFromBackup, restore_table_from_backup, restore_table_from_backup)            \
    WRITE(RestoreTableToPointInTime, restore_table_to_point_in_time,                               \
          restore_table_to_point_in_time)                                                          \
    READ(Scan, scan, scan)                                                                         \
    READ(SearchVectors, search_vectors, search_vectors)                                            \
    WRITE(StartBulkPutItems, start_bulk_put_items, start_bulk_put_items)                           \
    WRITE(TagResource, tag_resource, tag_resource)                                                 \
    READ(TransactGetItems, transact_get_items, transact_get_items)                                 \
    WRITE(TransactWriteItems, transact_write_items, transact_write_items)                          \
    WRITE(UntagResource, untag_resource, untag_resource)                                           \
    WRITE(UpdateContinuousBackups, update_continuous_backups, update_continuous_backups)           \
    WRITE(UpdateContributorInsights, update_contributor_insights, update_contributor_insights)     \
    WRITE(UpdateGlobalTable, update_global_table, update_global_table)                             \
    WRITE(UpdateGlobalTableSettings, update_global_table_settings, update_global_settings)         \
    WRITE(UpdateItem, update_item, update_item)                                                    \
    WRITE(UpdateKinesisStreamingDestination, update_kinesis_streaming_destination,                 \
          update_kinesis_destination)                                                              \
    WRITE(UpdateTable, update_table, update_table)                                                 \
    WRITE(UpdateTableReplicaAutoScaling, update_table_replica_auto_scaling,                        \
          update_replica_scaling)                                                                  \
    WRITE(UpdateTimeToLive, update_time_to_live, update_time_to_live)                              \
    MODEL(VerifyDatabase, verify_database, verify_database)

#endif
