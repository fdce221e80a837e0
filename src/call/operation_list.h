// The one list of operations, sorted by name. READ answers at once, on the caller's thread, and
// what is longer than a slice in the pool. LIST is a READ that looks at many tables or records: all
// of it is done in the pool. WRITE hands a job to the writer and has a `finish` function for
// afterwards. STREAM is a READ of DynamoDB Streams. MODEL is none of DynamoDB's: it is about
// models, migrations, verifying and identities, begins in the pool and may go on on a thread of its
// own (model.h). Each row: the operation's name, its functions (get_item means get_item_start), its
// shape (get_item means shape_get_item_request), and the validation layer (base/layer.h) by which
// us-east-1 judges it today; and whether requests that are bound to a tenant are served: BOUND says
// that all it reads and writes is judged by the tenant, CLOSED refuses them.
#ifndef CALL_OPERATION_LIST_H
#define CALL_OPERATION_LIST_H

// A row is a line.
// clang-format off
#define OPERATION_LIST(READ, LIST, WRITE, STREAM, MODEL) \
    MODEL(AbandonModel, abandon_model, model_table, OLD, CLOSED) \
    MODEL(AddUserToGroup, account, account, OLD, CLOSED) \
    MODEL(ApplyMigration, apply_migration, apply_migration, OLD, CLOSED) \
    MODEL(ApplyModel, apply_model, apply_model, OLD, CLOSED) \
    MODEL(AttachGroupPolicy, account, account, OLD, CLOSED) \
    MODEL(AttachRolePolicy, account, account, OLD, CLOSED) \
    MODEL(AttachUserPolicy, account, account, OLD, CLOSED) \
    WRITE(BatchExecuteStatement, batch_execute_statement, batch_execute_statement, OLD, BOUND) \
    READ(BatchGetItem, batch_get_item, batch_get_item, NEW, BOUND) \
    WRITE(BatchWriteItem, batch_write_item, batch_write_item, OLD, BOUND) \
    WRITE(CancelBulkOperation, cancel_bulk_operation, bulk_operation, OLD, CLOSED) \
    MODEL(CreateAccessKey, account, account, OLD, CLOSED) \
    WRITE(CreateBackup, create_backup, create_backup, OLD, CLOSED) \
    WRITE(CreateGlobalTable, create_global_table, create_global_table, OLD, CLOSED) \
    MODEL(CreateGroup, account, account, OLD, CLOSED) \
    MODEL(CreatePolicy, account, account, OLD, CLOSED) \
    MODEL(CreateRole, account, account, OLD, CLOSED) \
    WRITE(CreateTable, create_table, create_table, OLD, CLOSED) \
    MODEL(CreateUser, account, account, OLD, CLOSED) \
    MODEL(DeleteAccessKey, account, account, OLD, CLOSED) \
    WRITE(DeleteBackup, delete_backup, backup_arn, OLD, CLOSED) \
    MODEL(DeleteGroup, account, account, OLD, CLOSED) \
    MODEL(DeleteGroupPolicy, account, account, OLD, CLOSED) \
    WRITE(DeleteItem, delete_item, delete_item, JOINED, BOUND) \
    MODEL(DeletePolicy, account, account, OLD, CLOSED) \
    WRITE(DeleteResourcePolicy, delete_resource_policy, delete_resource_policy, OLD, CLOSED) \
    MODEL(DeleteRole, account, account, OLD, CLOSED) \
    MODEL(DeleteRolePermissionsBoundary, account, account, OLD, CLOSED) \
    MODEL(DeleteRolePolicy, account, account, OLD, CLOSED) \
    WRITE(DeleteTable, delete_table, table_name, OLD, CLOSED) \
    MODEL(DeleteUser, account, account, OLD, CLOSED) \
    MODEL(DeleteUserPermissionsBoundary, account, account, OLD, CLOSED) \
    MODEL(DeleteUserPolicy, account, account, OLD, CLOSED) \
    READ(DescribeBackup, describe_backup, backup_arn, OLD, CLOSED) \
    READ(DescribeBulkOperation, describe_bulk_operation, bulk_operation, OLD, CLOSED) \
    MODEL(DescribeConsumer, describe_consumer, consumer, OLD, CLOSED) \
    READ(DescribeContinuousBackups, describe_continuous_backups, table_name, OLD, CLOSED) \
    READ(DescribeContributorInsights, describe_contributor_insights, describe_contributor_insights, OLD, CLOSED) \
    READ(DescribeEndpoints, describe_endpoints, empty, OLD, BOUND) \
    READ(DescribeExport, describe_export, describe_export, OLD, CLOSED) \
    READ(DescribeGlobalTable, describe_global_table, global_table_name, OLD, CLOSED) \
    READ(DescribeGlobalTableSettings, describe_global_table_settings, global_table_name, OLD, CLOSED) \
    READ(DescribeImport, describe_import, describe_import, OLD, CLOSED) \
    READ(DescribeKinesisStreamingDestination, describe_kinesis_streaming_destination, table_or_arn, OLD, CLOSED) \
    READ(DescribeLimits, describe_limits, empty, OLD, BOUND) \
    MODEL(DescribeMigration, describe_migration, describe_migration, OLD, CLOSED) \
    MODEL(DescribeModel, describe_model, describe_model, OLD, CLOSED) \
    MODEL(DescribeModelReport, describe_model_report, describe_model_report, OLD, CLOSED) \
    STREAM(DescribeStream, describe_stream, describe_stream, OLD, BOUND) \
    READ(DescribeTable, describe_table, table_name, OLD, BOUND) \
    READ(DescribeTableReplicaAutoScaling, describe_table_replica_auto_scaling, table_or_arn, OLD, CLOSED) \
    READ(DescribeTimeToLive, describe_time_to_live, table_name, OLD, BOUND) \
    MODEL(DetachGroupPolicy, account, account, OLD, CLOSED) \
    MODEL(DetachRolePolicy, account, account, OLD, CLOSED) \
    MODEL(DetachUserPolicy, account, account, OLD, CLOSED) \
    MODEL(DiffModel, diff_model, apply_model, OLD, CLOSED) \
    WRITE(DisableKinesisStreamingDestination, disable_kinesis_streaming_destination, kinesis_destination, OLD, CLOSED) \
    WRITE(EnableKinesisStreamingDestination, enable_kinesis_streaming_destination, kinesis_destination, OLD, CLOSED) \
    WRITE(ExecuteStatement, execute_statement, execute_statement, OLD, BOUND) \
    WRITE(ExecuteTransaction, execute_transaction, execute_transaction, OLD, BOUND) \
    WRITE(ExportTableToPointInTime, export_table, export_table, OLD, CLOSED) \
    MODEL(GetGroup, account, account, OLD, CLOSED) \
    MODEL(GetGroupPolicy, account, account, OLD, CLOSED) \
    READ(GetItem, get_item, get_item, NEW, BOUND) \
    MODEL(GetPolicy, account, account, OLD, CLOSED) \
    STREAM(GetRecords, get_records, get_records, OLD, BOUND) \
    READ(GetResourcePolicy, get_resource_policy, get_resource_policy, OLD, CLOSED) \
    MODEL(GetRole, account, account, OLD, CLOSED) \
    MODEL(GetRolePolicy, account, account, OLD, CLOSED) \
    STREAM(GetShardIterator, get_shard_iterator, get_shard_iterator, OLD, BOUND) \
    MODEL(GetUser, account, account, OLD, CLOSED) \
    MODEL(GetUserPolicy, account, account, OLD, CLOSED) \
    WRITE(ImportTable, import_table, import_table, OLD, CLOSED) \
    MODEL(ListAccessKeys, account, account, OLD, CLOSED) \
    MODEL(ListArchives, list_archives, list_archives, OLD, CLOSED) \
    MODEL(ListAttachedGroupPolicies, account, account, OLD, CLOSED) \
    MODEL(ListAttachedRolePolicies, account, account, OLD, CLOSED) \
    MODEL(ListAttachedUserPolicies, account, account, OLD, CLOSED) \
    LIST(ListBackups, list_backups, list_backups, OLD, CLOSED) \
    LIST(ListBulkOperations, list_bulk_operations, list_bulk_operations, OLD, CLOSED) \
    MODEL(ListConsumers, list_consumers, list_consumers, OLD, CLOSED) \
    LIST(ListContributorInsights, list_contributor_insights, list_contributor_insights, OLD, CLOSED) \
    MODEL(ListDeadLetters, list_dead_letters, list_dead_letters, OLD, CLOSED) \
    LIST(ListExports, list_exports, list_exports, OLD, CLOSED) \
    LIST(ListGlobalTables, list_global_tables, list_global_tables, OLD, CLOSED) \
    MODEL(ListGroupPolicies, account, account, OLD, CLOSED) \
    MODEL(ListGroups, account, account, OLD, CLOSED) \
    MODEL(ListGroupsForUser, account, account, OLD, CLOSED) \
    LIST(ListImports, list_imports, list_imports, OLD, CLOSED) \
    MODEL(ListMigrations, list_migrations, list_migrations, OLD, CLOSED) \
    MODEL(ListModelVersions, list_model_versions, model_table, OLD, CLOSED) \
    MODEL(ListModels, list_models, empty, OLD, CLOSED) \
    MODEL(ListPolicies, account, account, OLD, CLOSED) \
    MODEL(ListRolePolicies, account, account, OLD, CLOSED) \
    MODEL(ListRoles, account, account, OLD, CLOSED) \
    STREAM(ListStreams, list_streams, list_streams, OLD, BOUND) \
    READ(ListTables, list_tables, list_tables, OLD, BOUND) \
    READ(ListTagsOfResource, list_tags_of_resource, list_tags_of_resource, OLD, CLOSED) \
    MODEL(ListUserPolicies, account, account, OLD, CLOSED) \
    MODEL(ListUsers, account, account, OLD, CLOSED) \
    MODEL(PutGroupPolicy, account, account, OLD, CLOSED) \
    WRITE(PutItem, put_item, put_item, JOINED, BOUND) \
    WRITE(PutResourcePolicy, put_resource_policy, put_resource_policy, OLD, CLOSED) \
    MODEL(PutRolePermissionsBoundary, account, account, OLD, CLOSED) \
    MODEL(PutRolePolicy, account, account, OLD, CLOSED) \
    MODEL(PutUserPermissionsBoundary, account, account, OLD, CLOSED) \
    MODEL(PutUserPolicy, account, account, OLD, CLOSED) \
    READ(Query, query, query, NEW, BOUND) \
    MODEL(RemoveUserFromGroup, account, account, OLD, CLOSED) \
    WRITE(RestoreItems, restore_items, batch_write_item, OLD, CLOSED) \
    WRITE(RestoreTableFromBackup, restore_table_from_backup, restore_table_from_backup, OLD, CLOSED) \
    WRITE(RestoreTableToPointInTime, restore_table_to_point_in_time, restore_table_to_point_in_time, OLD, CLOSED) \
    MODEL(RetryDeadLetters, retry_dead_letters, retry_dead_letters, OLD, CLOSED) \
    READ(Scan, scan, scan, OLD, BOUND) \
    READ(SearchVectors, search_vectors, search_vectors, OLD, BOUND) \
    WRITE(StartBulkPutItems, start_bulk_put_items, start_bulk_put_items, OLD, CLOSED) \
    MODEL(SweepTable, sweep_table, model_table, OLD, CLOSED) \
    WRITE(TagResource, tag_resource, tag_resource, OLD, CLOSED) \
    MODEL(TagRole, account, account, OLD, CLOSED) \
    MODEL(TagUser, account, account, OLD, CLOSED) \
    READ(TransactGetItems, transact_get_items, transact_get_items, OLD, BOUND) \
    WRITE(TransactWriteItems, transact_write_items, transact_write_items, OLD, BOUND) \
    WRITE(UntagResource, untag_resource, untag_resource, OLD, CLOSED) \
    MODEL(UntagRole, account, account, OLD, CLOSED) \
    MODEL(UntagUser, account, account, OLD, CLOSED) \
    MODEL(UpdateAccessKey, account, account, OLD, CLOSED) \
    MODEL(UpdateConsumer, update_consumer, update_consumer, OLD, CLOSED) \
    WRITE(UpdateContinuousBackups, update_continuous_backups, update_continuous_backups, OLD, CLOSED) \
    WRITE(UpdateContributorInsights, update_contributor_insights, update_contributor_insights, OLD, CLOSED) \
    WRITE(UpdateGlobalTable, update_global_table, update_global_table, OLD, CLOSED) \
    WRITE(UpdateGlobalTableSettings, update_global_table_settings, update_global_settings, OLD, CLOSED) \
    WRITE(UpdateItem, update_item, update_item, ENVELOPE, BOUND) \
    WRITE(UpdateKinesisStreamingDestination, update_kinesis_streaming_destination, update_kinesis_destination, OLD, CLOSED) \
    WRITE(UpdateTable, update_table, update_table, OLD, CLOSED) \
    WRITE(UpdateTableReplicaAutoScaling, update_table_replica_auto_scaling, update_replica_scaling, OLD, CLOSED) \
    WRITE(UpdateTimeToLive, update_time_to_live, update_time_to_live, OLD, CLOSED) \
    MODEL(VerifyDatabase, verify_database, verify_database, OLD, CLOSED)
// clang-format on

#endif
