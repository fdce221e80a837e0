// What can be asked: the actions of DynamoDB and the condition keys that come with them, as the
// service authorization reference lists them. One table for compiling, checking and enforcing.
#ifndef POLICY_FACTS_H
#define POLICY_FACTS_H

#include "base/attributes.h"
#include "base/slice.h"

// Equal but for the case of ASCII's letters.
static inline bool policy_letters_equal(struct slice a, struct slice b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        uint8_t x = a.ptr[i];
        uint8_t y = b.ptr[i];
        x = (uint8_t)(x | (x >= 'A' && x <= 'Z') << 5);
        y = (uint8_t)(y | (y >= 'A' && y <= 'Z') << 5);
        if (x != y)
            return false;
    }
    return true;
}

// ---- Condition keys --------------------------------------------------------------------------

// What a key's values are, and so which operators make sense for it.
enum policy_type {
    POLICY_STRING,
    POLICY_ARN,
    POLICY_NUMBER,
    POLICY_DATE,
    POLICY_BOOL,
    POLICY_IP,
    POLICY_BINARY,
};

// X(id, name, type, many values, values): a name that ends with a slash goes on with the key of a
// tag. `values` are the only ones that there are, each followed by a blank; or NULL.
#define POLICY_KEY_LIST(X)                                                                         \
    X(ATTRIBUTES, "dynamodb:Attributes", STRING, true, NULL)                                       \
    X(ENCLOSING_OPERATION, "dynamodb:EnclosingOperation", STRING, false,                           \
      "TransactGetItems TransactWriteItems ExecuteTransaction BatchExecuteStatement "              \
      "ExecuteStatement BatchGetItem BatchWriteItem ")                                             \
    X(FIRST_PARTITION_KEYS, "dynamodb:FirstPartitionKeyValues", STRING, true, NULL)                \
    X(SECOND_PARTITION_KEYS, "dynamodb:SecondPartitionKeyValues", STRING, true, NULL)              \
    X(THIRD_PARTITION_KEYS, "dynamodb:ThirdPartitionKeyValues", STRING, true, NULL)                \
    X(FOURTH_PARTITION_KEYS, "dynamodb:FourthPartitionKeyValues", STRING, true, NULL)              \
    X(FIS_ACTION_ID, "dynamodb:FisActionId", STRING, false, NULL)                                  \
    X(FIS_TARGET_ARNS, "dynamodb:FisTargetArns", ARN, true, NULL)                                  \
    X(FULL_TABLE_SCAN, "dynamodb:FullTableScan", BOOL, false, NULL)                                \
    X(LEADING_KEYS, "dynamodb:LeadingKeys", STRING, true, NULL)                                    \
    X(RETURN_CONSUMED_CAPACITY, "dynamodb:ReturnConsumedCapacity", STRING, false,                  \
      "TOTAL INDEXES NONE ")                                                                       \
    X(RETURN_VALUES, "dynamodb:ReturnValues", STRING, false,                                       \
      "NONE ALL_OLD UPDATED_OLD ALL_NEW UPDATED_NEW ")                                             \
    X(SELECT, "dynamodb:Select", STRING, false,                                                    \
      "ALL_ATTRIBUTES ALL_PROJECTED_ATTRIBUTES SPECIFIC_ATTRIBUTES COUNT ")                        \
    X(CALLED_VIA, "aws:CalledVia", STRING, true, NULL)                                             \
    X(CALLED_VIA_FIRST, "aws:CalledViaFirst", STRING, false, NULL)                                 \
    X(CALLED_VIA_LAST, "aws:CalledViaLast", STRING, false, NULL)                                   \
    X(CURRENT_TIME, "aws:CurrentTime", DATE, false, NULL)                                          \
    X(EPOCH_TIME, "aws:EpochTime", DATE, false, NULL)                                              \
    X(FEDERATED_PROVIDER, "aws:FederatedProvider", STRING, false, NULL)                            \
    X(MFA_AGE, "aws:MultiFactorAuthAge", NUMBER, false, NULL)                                      \
    X(MFA_PRESENT, "aws:MultiFactorAuthPresent", BOOL, false, NULL)                                \
    X(PRINCIPAL_ACCOUNT, "aws:PrincipalAccount", STRING, false, NULL)                              \
    X(PRINCIPAL_ARN, "aws:PrincipalArn", ARN, false, NULL)                                         \
    X(PRINCIPAL_IS_SERVICE, "aws:PrincipalIsAWSService", BOOL, false, NULL)                        \
    X(PRINCIPAL_ORG, "aws:PrincipalOrgID", STRING, false, NULL)                                    \
    X(PRINCIPAL_ORG_PATHS, "aws:PrincipalOrgPaths", STRING, true, NULL)                            \
    X(PRINCIPAL_SERVICE, "aws:PrincipalServiceName", STRING, false, NULL)                          \
    X(PRINCIPAL_SERVICES, "aws:PrincipalServiceNamesList", STRING, true, NULL)                     \
    X(PRINCIPAL_TAG, "aws:PrincipalTag/", STRING, false, NULL)                                     \
    X(PRINCIPAL_TYPE, "aws:PrincipalType", STRING, false, NULL)                                    \
    X(REFERER, "aws:Referer", STRING, false, NULL)                                                 \
    X(REQUESTED_REGION, "aws:RequestedRegion", STRING, false, NULL)                                \
    X(REQUEST_TAG, "aws:RequestTag/", STRING, false, NULL)                                         \
    X(RESOURCE_ACCOUNT, "aws:ResourceAccount", STRING, false, NULL)                                \
    X(RESOURCE_ORG, "aws:ResourceOrgID", STRING, false, NULL)                                      \
    X(RESOURCE_ORG_PATHS, "aws:ResourceOrgPaths", STRING, true, NULL)                              \
    X(RESOURCE_TAG, "aws:ResourceTag/", STRING, false, NULL)                                       \
    X(SECURE_TRANSPORT, "aws:SecureTransport", BOOL, false, NULL)                                  \
    X(SOURCE_ACCOUNT, "aws:SourceAccount", STRING, false, NULL)                                    \
    X(SOURCE_ARN, "aws:SourceArn", ARN, false, NULL)                                               \
    X(SOURCE_IDENTITY, "aws:SourceIdentity", STRING, false, NULL)                                  \
    X(SOURCE_IP, "aws:SourceIp", IP, false, NULL)                                                  \
    X(SOURCE_ORG, "aws:SourceOrgID", STRING, false, NULL)                                          \
    X(SOURCE_ORG_PATHS, "aws:SourceOrgPaths", STRING, true, NULL)                                  \
    X(SOURCE_VPC, "aws:SourceVpc", STRING, false, NULL)                                            \
    X(SOURCE_VPCE, "aws:SourceVpce", STRING, false, NULL)                                          \
    X(TAG_KEYS, "aws:TagKeys", STRING, true, NULL)                                                 \
    X(TOKEN_ISSUE_TIME, "aws:TokenIssueTime", DATE, false, NULL)                                   \
    X(USER_AGENT, "aws:UserAgent", STRING, false, NULL)                                            \
    X(USER_ID, "aws:userid", STRING, false, NULL)                                                  \
    X(USERNAME, "aws:username", STRING, false, NULL)                                               \
    X(VIA_SERVICE, "aws:ViaAWSService", BOOL, false, NULL)                                         \
    X(VPC_SOURCE_IP, "aws:VpcSourceIp", IP, false, NULL)

enum policy_key_id {
#define X(id, name, type, many, values) POLICY_KEY_##id,
    POLICY_KEY_LIST(X)
#undef X
        POLICY_KEY_COUNT,
    POLICY_KEY_UNKNOWN = POLICY_KEY_COUNT,
};

struct policy_key_row {
    const char *name;
    enum policy_type type;
    bool many;
    const char *values;
};

// NULL for POLICY_KEY_UNKNOWN.
const struct policy_key_row *policy_key_row(enum policy_key_id id);

// A condition key as a policy names it. Names are not case-sensitive.
struct policy_key {
    enum policy_key_id id;
    bool many;         // it may have several values, so operators need ForAllValues or ForAnyValue
    struct slice name; // as the policy writes it
    struct slice tag;  // what is behind the slash of a tag's name; else empty
};

// Borrows the name.
struct policy_key policy_key_find(struct slice name);
// Whether both mean the same key.
bool policy_key_equal(const struct policy_key *a, const struct policy_key *b);

// ---- Actions ---------------------------------------------------------------------------------

// Which keys of DynamoDB a request for an action comes with; those of AWS as a whole come with all.
#define POLICY_KEY_BIT(id) (UINT32_C(1) << POLICY_KEY_##id)
#define POLICY_PARTITION_KEYS                                                                      \
    (POLICY_KEY_BIT(LEADING_KEYS) | POLICY_KEY_BIT(FIRST_PARTITION_KEYS) |                         \
     POLICY_KEY_BIT(SECOND_PARTITION_KEYS) | POLICY_KEY_BIT(THIRD_PARTITION_KEYS) |                \
     POLICY_KEY_BIT(FOURTH_PARTITION_KEYS))
#define POLICY_ITEM_KEYS (POLICY_PARTITION_KEYS | POLICY_KEY_BIT(ATTRIBUTES))
#define POLICY_CAPACITY  POLICY_KEY_BIT(RETURN_CONSUMED_CAPACITY)
#define POLICY_WRITE_KEYS                                                                          \
    (POLICY_ITEM_KEYS | POLICY_KEY_BIT(ENCLOSING_OPERATION) | POLICY_CAPACITY |                    \
     POLICY_KEY_BIT(RETURN_VALUES))
#define POLICY_STATEMENT_KEYS (POLICY_ITEM_KEYS | POLICY_KEY_BIT(ENCLOSING_OPERATION))
#define POLICY_PAGE_KEYS                                                                           \
    (POLICY_KEY_BIT(ATTRIBUTES) | POLICY_CAPACITY | POLICY_KEY_BIT(RETURN_VALUES) |                \
     POLICY_KEY_BIT(SELECT))
#define POLICY_FIS_KEYS (POLICY_KEY_BIT(FIS_ACTION_ID) | POLICY_KEY_BIT(FIS_TARGET_ARNS))

// What an action is about: the kinds of resource that its requests name, as letters: t table,
// i index, s stream, b backup, e export, m import, g global table; none: the resource is "*".
// X(name, keys, resources)
#define POLICY_ACTION_LIST(X)                                                                      \
    X(AssociateTableReplica, 0, "t")                                                               \
    X(BatchGetItem, POLICY_ITEM_KEYS | POLICY_CAPACITY | POLICY_KEY_BIT(SELECT), "t")              \
    X(BatchWriteItem, POLICY_ITEM_KEYS | POLICY_CAPACITY, "t")                                     \
    X(ConditionCheckItem, POLICY_ITEM_KEYS | POLICY_CAPACITY | POLICY_KEY_BIT(RETURN_VALUES), "t") \
    X(CreateBackup, 0, "t")                                                                        \
    X(CreateGlobalTable, 0, "gt")                                                                  \
    X(CreateGlobalTableWitness, 0, "t")                                                            \
    X(CreateTable, 0, "t")                                                                         \
    X(CreateTableReplica, 0, "t")                                                                  \
    X(DeleteBackup, 0, "b")                                                                        \
    X(DeleteGlobalTableWitness, 0, "t")                                                            \
    X(DeleteItem, POLICY_WRITE_KEYS, "t")                                                          \
    X(DeleteResourcePolicy, 0, "ts")                                                               \
    X(DeleteTable, 0, "t")                                                                         \
    X(DeleteTableReplica, 0, "t")                                                                  \
    X(DescribeBackup, 0, "b")                                                                      \
    X(DescribeContinuousBackups, 0, "t")                                                           \
    X(DescribeContributorInsights, 0, "ti")                                                        \
    X(DescribeEndpoints, 0, "")                                                                    \
    X(DescribeExport, 0, "e")                                                                      \
    X(DescribeGlobalTable, 0, "g")                                                                 \
    X(DescribeGlobalTableSettings, 0, "g")                                                         \
    X(DescribeImport, 0, "m")                                                                      \
    X(DescribeKinesisStreamingDestination, 0, "t")                                                 \
    X(DescribeLimits, 0, "")                                                                       \
    X(DescribeReservedCapacity, 0, "")                                                             \
    X(DescribeReservedCapacityOfferings, 0, "")                                                    \
    X(DescribeStream, 0, "s")                                                                      \
    X(DescribeTable, 0, "t")                                                                       \
    X(DescribeTableReplicaAutoScaling, 0, "t")                                                     \
    X(DescribeTimeToLive, 0, "t")                                                                  \
    X(DisableKinesisStreamingDestination, 0, "t")                                                  \
    X(EnableKinesisStreamingDestination, 0, "t")                                                   \
    X(ExportTableToPointInTime, 0, "t")                                                            \
    X(GetAbacStatus, 0, "")                                                                        \
    X(GetItem, POLICY_STATEMENT_KEYS | POLICY_CAPACITY | POLICY_KEY_BIT(SELECT), "t")              \
    X(GetRecords, 0, "s")                                                                          \
    X(GetResourcePolicy, 0, "ts")                                                                  \
    X(GetShardIterator, 0, "s")                                                                    \
    X(ImportTable, 0, "t")                                                                         \
    X(InjectError, POLICY_FIS_KEYS, "")                                                            \
    X(ListBackups, 0, "")                                                                          \
    X(ListContributorInsights, 0, "")                                                              \
    X(ListExports, 0, "t")                                                                         \
    X(ListGlobalTables, 0, "")                                                                     \
    X(ListImports, 0, "t")                                                                         \
    X(ListStreams, 0, "")                                                                          \
    X(ListTables, 0, "")                                                                           \
    X(ListTagsOfResource, 0, "ts")                                                                 \
    X(PartiQLDelete, POLICY_STATEMENT_KEYS | POLICY_KEY_BIT(RETURN_VALUES), "t")                   \
    X(PartiQLInsert, POLICY_STATEMENT_KEYS, "t")                                                   \
    X(PartiQLSelect,                                                                               \
      POLICY_STATEMENT_KEYS | POLICY_KEY_BIT(FULL_TABLE_SCAN) | POLICY_KEY_BIT(SELECT), "ti")      \
    X(PartiQLUpdate, POLICY_STATEMENT_KEYS | POLICY_KEY_BIT(RETURN_VALUES), "t")                   \
    X(PurchaseReservedCapacityOfferings, 0, "")                                                    \
    X(PutItem, POLICY_WRITE_KEYS, "t")                                                             \
    X(PutResourcePolicy, 0, "ts")                                                                  \
    X(Query, POLICY_PAGE_KEYS | POLICY_PARTITION_KEYS, "ti")                                       \
    X(ReadDataForReplication, 0, "t")                                                              \
    X(ReplicateSettings, 0, "t")                                                                   \
    X(RestoreTableFromAwsBackup, 0, "t")                                                           \
    X(RestoreTableFromBackup, 0, "bt")                                                             \
    X(RestoreTableToPointInTime, 0, "t")                                                           \
    X(Scan, POLICY_PAGE_KEYS, "ti")                                                                \
    X(SearchVectors, 0, "ti")                                                                      \
    X(StartAwsBackupJob, 0, "t")                                                                   \
    X(TagResource, 0, "ts")                                                                        \
    X(UntagResource, 0, "ts")                                                                      \
    X(UpdateAbacStatus, 0, "")                                                                     \
    X(UpdateContinuousBackups, 0, "t")                                                             \
    X(UpdateContributorInsights, 0, "ti")                                                          \
    X(UpdateGlobalTable, 0, "gt")                                                                  \
    X(UpdateGlobalTableSettings, 0, "gt")                                                          \
    X(UpdateGlobalTableVersion, 0, "gt")                                                           \
    X(UpdateItem, POLICY_WRITE_KEYS, "t")                                                          \
    X(UpdateKinesisStreamingDestination, 0, "t")                                                   \
    X(UpdateTable, 0, "t")                                                                         \
    X(UpdateTableReplicaAutoScaling, 0, "t")                                                       \
    X(UpdateTimeToLive, 0, "t")                                                                    \
    X(WriteDataForReplication, 0, "t")

enum policy_action_id {
#define X(name, keys, resources) POLICY_ACTION_##name,
    POLICY_ACTION_LIST(X)
#undef X
        POLICY_ACTION_COUNT,
    POLICY_ACTION_UNKNOWN = POLICY_ACTION_COUNT,
};

struct policy_action_row {
    struct slice name; // without "dynamodb:"
    uint32_t keys;     // POLICY_KEY_BIT of each
    const char *resources;
};

const struct policy_action_row *policy_action_row(enum policy_action_id id);
// "dynamodb:PutItem"; not case-sensitive.
enum policy_action_id policy_action_find(struct slice action);

#define POLICY_SERVICE "dynamodb:"

#endif
