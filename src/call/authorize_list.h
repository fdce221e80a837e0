// What each operation asks for, beside operation_list.h: X(operation, service, how, where). The
// action is service:operation. `how` is a function of authorize_ask.c, which asks for the resource
// and for all that the operation needs besides; `where` is where the name or ARN stands in the
// request, for those that take it from there. docs/POLICIES.md tells the same to users.
#ifndef CALL_AUTHORIZE_LIST_H
#define CALL_AUTHORIZE_LIST_H

#define AT(request, member) offsetof(struct request##_request, member)

// clang-format off
#define AUTHORIZE_LIST(X) \
    X(AbandonModel, DOLMEN, table, AT(model_table, table_name)) \
    X(AddUserToGroup, IAM, iam_group, AT(account, group_name)) \
    X(ApplyMigration, DOLMEN, migration, 0) \
    X(ApplyModel, DOLMEN, model, 0) \
    X(AttachGroupPolicy, IAM, iam_group, AT(account, group_name)) \
    X(AttachRolePolicy, IAM, iam_role, AT(account, role_name)) \
    X(AttachUserPolicy, IAM, iam_user, AT(account, user_name)) \
    X(BatchExecuteStatement, STATEMENTS, later, 0) \
    X(BatchGetItem, DYNAMODB, batch_get, 0) \
    X(BatchWriteItem, DYNAMODB, batch_write, 0) \
    X(CancelBulkOperation, BULK, bulk_operation, AT(bulk_operation, bulk_operation_arn)) \
    X(CreateAccessKey, IAM, iam_user, AT(account, user_name)) \
    X(CreateBackup, DYNAMODB, table, AT(create_backup, table_name)) \
    X(CreateGlobalTable, DYNAMODB, global_and_table, AT(create_global_table, global_table_name)) \
    X(CreateGroup, IAM, iam_group, AT(account, group_name)) \
    X(CreatePolicy, IAM, iam_policy, AT(account, policy_name)) \
    X(CreateRole, IAM, iam_role, AT(account, role_name)) \
    X(CreateTable, DYNAMODB, create_table, 0) \
    X(CreateUser, IAM, iam_user, AT(account, user_name)) \
    X(DeleteAccessKey, IAM, iam_user, AT(account, user_name)) \
    X(DeleteBackup, DYNAMODB, backup, AT(backup_arn, backup_arn)) \
    X(DeleteGroup, IAM, iam_group, AT(account, group_name)) \
    X(DeleteGroupPolicy, IAM, iam_group, AT(account, group_name)) \
    X(DeleteItem, DYNAMODB, delete_item, 0) \
    X(DeletePolicy, IAM, iam_policy, AT(account, policy_arn)) \
    X(DeleteResourcePolicy, DYNAMODB, table_or_stream, AT(delete_resource_policy, resource_arn)) \
    X(DeleteRole, IAM, iam_role, AT(account, role_name)) \
    X(DeleteRolePermissionsBoundary, IAM, iam_role, AT(account, role_name)) \
    X(DeleteRolePolicy, IAM, iam_role, AT(account, role_name)) \
    X(DeleteTable, DYNAMODB, table, AT(table_name, table_name)) \
    X(DeleteUser, IAM, iam_user, AT(account, user_name)) \
    X(DeleteUserPermissionsBoundary, IAM, iam_user, AT(account, user_name)) \
    X(DeleteUserPolicy, IAM, iam_user, AT(account, user_name)) \
    X(DescribeBackup, DYNAMODB, backup, AT(backup_arn, backup_arn)) \
    X(DescribeBulkOperation, BULK, bulk_operation, AT(bulk_operation, bulk_operation_arn)) \
    X(DescribeConsumer, DOLMEN, table, AT(consumer, table_name)) \
    X(DescribeContinuousBackups, DYNAMODB, table, AT(table_name, table_name)) \
    X(DescribeContributorInsights, DYNAMODB, describe_insights, 0) \
    X(DescribeEndpoints, DYNAMODB, all, 0) \
    X(DescribeExport, DYNAMODB, export, AT(describe_export, export_arn)) \
    X(DescribeGlobalTable, DYNAMODB, global, AT(global_table_name, global_table_name)) \
    X(DescribeGlobalTableSettings, DYNAMODB, global, AT(global_table_name, global_table_name)) \
    X(DescribeImport, DYNAMODB, import, AT(describe_import, import_arn)) \
    X(DescribeKinesisStreamingDestination, DYNAMODB, table, AT(table_name, table_name)) \
    X(DescribeLimits, DYNAMODB, all, 0) \
    X(DescribeMigration, DOLMEN, table, AT(describe_migration, table_name)) \
    X(DescribeModel, DOLMEN, table, AT(describe_model, table_name)) \
    X(DescribeModelReport, DOLMEN, table, AT(describe_model_report, table_name)) \
    X(DescribeStream, DYNAMODB, stream, AT(describe_stream, stream_arn)) \
    X(DescribeTable, DYNAMODB, table, AT(table_name, table_name)) \
    X(DescribeTableReplicaAutoScaling, DYNAMODB, table, AT(table_name, table_name)) \
    X(DescribeTimeToLive, DYNAMODB, table, AT(table_name, table_name)) \
    X(DetachGroupPolicy, IAM, iam_group, AT(account, group_name)) \
    X(DetachRolePolicy, IAM, iam_role, AT(account, role_name)) \
    X(DetachUserPolicy, IAM, iam_user, AT(account, user_name)) \
    X(DiffModel, DOLMEN, model, 0) \
    X(DisableKinesisStreamingDestination, DYNAMODB, table, AT(kinesis_destination, table_name)) \
    X(EnableKinesisStreamingDestination, DYNAMODB, enable_kinesis, AT(kinesis_destination, table_name)) \
    X(ExecuteStatement, STATEMENTS, later, 0) \
    X(ExecuteTransaction, STATEMENTS, later, 0) \
    X(ExportTableToPointInTime, DYNAMODB, export_table, AT(export_table, table_arn)) \
    X(GetGroup, IAM, iam_group, AT(account, group_name)) \
    X(GetGroupPolicy, IAM, iam_group, AT(account, group_name)) \
    X(GetItem, DYNAMODB, get_item, 0) \
    X(GetPolicy, IAM, iam_policy, AT(account, policy_arn)) \
    X(GetRecords, DYNAMODB, iterator, AT(get_records, shard_iterator)) \
    X(GetResourcePolicy, DYNAMODB, table_or_stream, AT(get_resource_policy, resource_arn)) \
    X(GetRole, IAM, iam_role, AT(account, role_name)) \
    X(GetRolePolicy, IAM, iam_role, AT(account, role_name)) \
    X(GetShardIterator, DYNAMODB, stream, AT(get_shard_iterator, stream_arn)) \
    X(GetUser, IAM, iam_user, AT(account, user_name)) \
    X(GetUserPolicy, IAM, iam_user, AT(account, user_name)) \
    X(ImportTable, DYNAMODB, import_table, 0) \
    X(ListAccessKeys, IAM, iam_user, AT(account, user_name)) \
    X(ListArchives, DOLMEN, tables, AT(list_archives, table_name)) \
    X(ListAttachedGroupPolicies, IAM, iam_group, AT(account, group_name)) \
    X(ListAttachedRolePolicies, IAM, iam_role, AT(account, role_name)) \
    X(ListAttachedUserPolicies, IAM, iam_user, AT(account, user_name)) \
    X(ListBackups, DYNAMODB, all, 0) \
    X(ListBulkOperations, BULK, all, 0) \
    X(ListConsumers, DOLMEN, tables, AT(list_consumers, table_name)) \
    X(ListContributorInsights, DYNAMODB, all, 0) \
    X(ListDeadLetters, DOLMEN, table, AT(list_dead_letters, table_name)) \
    X(ListExports, DYNAMODB, tables, AT(list_exports, table_arn)) \
    X(ListGlobalTables, DYNAMODB, all, 0) \
    X(ListGroupPolicies, IAM, iam_group, AT(account, group_name)) \
    X(ListGroups, IAM, all, 0) \
    X(ListGroupsForUser, IAM, iam_user, AT(account, user_name)) \
    X(ListImports, DYNAMODB, tables, AT(list_imports, table_arn)) \
    X(ListMigrations, DOLMEN, tables, AT(list_migrations, table_name)) \
    X(ListModelVersions, DOLMEN, table, AT(model_table, table_name)) \
    X(ListModels, DOLMEN, all, 0) \
    X(ListPolicies, IAM, all, 0) \
    X(ListRolePolicies, IAM, iam_role, AT(account, role_name)) \
    X(ListRoles, IAM, all, 0) \
    X(ListStreams, DYNAMODB, all, 0) \
    X(ListTables, DYNAMODB, all, 0) \
    X(ListTagsOfResource, DYNAMODB, table, AT(list_tags_of_resource, resource_arn)) \
    X(ListUserPolicies, IAM, iam_user, AT(account, user_name)) \
    X(ListUsers, IAM, all, 0) \
    X(PutGroupPolicy, IAM, iam_group, AT(account, group_name)) \
    X(PutItem, DYNAMODB, put_item, 0) \
    X(PutResourcePolicy, DYNAMODB, table_or_stream, AT(put_resource_policy, resource_arn)) \
    X(PutRolePermissionsBoundary, IAM, iam_role, AT(account, role_name)) \
    X(PutRolePolicy, IAM, iam_role, AT(account, role_name)) \
    X(PutUserPermissionsBoundary, IAM, iam_user, AT(account, user_name)) \
    X(PutUserPolicy, IAM, iam_user, AT(account, user_name)) \
    X(Query, DYNAMODB, query, 0) \
    X(RemoveUserFromGroup, IAM, iam_group, AT(account, group_name)) \
    X(RestoreItems, DOLMEN, restore_items, 0) \
    X(RestoreTableFromBackup, DYNAMODB, restore_backup, 0) \
    X(RestoreTableToPointInTime, DYNAMODB, restore_time, 0) \
    X(RetryDeadLetters, DOLMEN, table, AT(retry_dead_letters, table_name)) \
    X(Scan, DYNAMODB, scan, 0) \
    X(SearchVectors, DYNAMODB, search_vectors, 0) \
    X(StartBulkPutItems, BULK, bulk_put, AT(start_bulk_put_items, table_name)) \
    X(SweepTable, DOLMEN, table, AT(model_table, table_name)) \
    X(TagResource, DYNAMODB, tag, 0) \
    X(TagRole, IAM, iam_role, AT(account, role_name)) \
    X(TagUser, IAM, iam_user, AT(account, user_name)) \
    X(TransactGetItems, TRANSACTION, transact_get, 0) \
    X(TransactWriteItems, TRANSACTION, transact_write, 0) \
    X(UntagResource, DYNAMODB, untag, 0) \
    X(UntagRole, IAM, iam_role, AT(account, role_name)) \
    X(UntagUser, IAM, iam_user, AT(account, user_name)) \
    X(UpdateAccessKey, IAM, iam_user, AT(account, user_name)) \
    X(UpdateConsumer, DOLMEN, table, AT(update_consumer, table_name)) \
    X(UpdateContinuousBackups, DYNAMODB, table, AT(update_continuous_backups, table_name)) \
    X(UpdateContributorInsights, DYNAMODB, update_insights, 0) \
    X(UpdateGlobalTable, DYNAMODB, global_and_table, AT(update_global_table, global_table_name)) \
    X(UpdateGlobalTableSettings, DYNAMODB, global_and_table, AT(update_global_settings, global_table_name)) \
    X(UpdateItem, DYNAMODB, update_item, 0) \
    X(UpdateKinesisStreamingDestination, DYNAMODB, table, AT(kinesis_destination, table_name)) \
    X(UpdateTable, DYNAMODB, update_table, AT(update_table, table_name)) \
    X(UpdateTableReplicaAutoScaling, DYNAMODB, table, AT(update_replica_scaling, table_name)) \
    X(UpdateTimeToLive, DYNAMODB, table, AT(update_time_to_live, table_name)) \
    X(VerifyDatabase, DOLMEN, all, 0)
// clang-format on

// The action of a row. TRANSACTION and STATEMENTS have none of their own: their items do.
#define AUTHORIZE_DYNAMODB(op)    ASK_DYNAMODB(op)
#define AUTHORIZE_BULK(op)        ASK_OTHER("dynamodb:" #op) // newer than the list of actions
#define AUTHORIZE_DOLMEN(op)      ASK_OTHER("dolmen:" #op)
#define AUTHORIZE_IAM(op)         ASK_OTHER("iam:" #op)
#define AUTHORIZE_TRANSACTION(op) ASK_OTHER("dynamodb:" #op)
#define AUTHORIZE_STATEMENTS(op)  ASK_OTHER("dynamodb:" #op)

enum authorize_number {
#define X(op, service, how, where) AUTHORIZE_##op,
    AUTHORIZE_LIST(X)
#undef X
};

#endif
