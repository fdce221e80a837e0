// What a request that breaks constraints is told, operation by operation: which constraints there
// are, in which order they are reported, and how enumerations are printed. The messages are the
// service's; each golden pair breaks as many constraints as it can.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/limits.h"
#include "requests/shapes.h"
#include "tables/arn.h"

// ---- The vocabulary of the messages -----------------------------------------------------

#define ONE              "1 validation error detected: "
#define MANY(count, ...) #count " validation errors detected: " JOIN_##count(__VA_ARGS__)
#define JOIN_1(a)        a
#define JOIN_2(a, ...)   a "; " JOIN_1(__VA_ARGS__)
#define JOIN_3(a, ...)   a "; " JOIN_2(__VA_ARGS__)
#define JOIN_4(a, ...)   a "; " JOIN_3(__VA_ARGS__)
#define JOIN_5(a, ...)   a "; " JOIN_4(__VA_ARGS__)
#define JOIN_6(a, ...)   a "; " JOIN_5(__VA_ARGS__)
#define JOIN_7(a, ...)   a "; " JOIN_6(__VA_ARGS__)
#define JOIN_8(a, ...)   a "; " JOIN_7(__VA_ARGS__)
#define JOIN_9(a, ...)   a "; " JOIN_8(__VA_ARGS__)
#define JOIN_10(a, ...)  a "; " JOIN_9(__VA_ARGS__)
#define AT(value, path, must)                                                                      \
    "Value " value " at '" path "' failed to satisfy constraint: Member must " must

#define MISSING(path) AT("null", path, "not be null")
#define BAD_NAME(value, path)                                                                      \
    AT("'" value "'", path, "satisfy regular expression pattern: [a-zA-Z0-9_.-]+")
#define TOO_SHORT(value, path, least)                                                              \
    AT("'" value "'", path, "have length greater than or equal to " #least)
#define TOO_LONG(value, path, most)                                                                \
    AT("'" value "'", path, "have length less than or equal to " #most)
#define TOO_SMALL(value, path, least)                                                              \
    AT("'" value "'", path, "have value greater than or equal to " #least)
#define TOO_LARGE(value, path, most)                                                               \
    AT("'" value "'", path, "have value less than or equal to " #most)
#define NO_MEMBER(path, values) AT("'hi'", path, "satisfy enum value set: [" values "]")

#define BAD_CAPACITY    NO_MEMBER("returnConsumedCapacity", "INDEXES, TOTAL, NONE")
#define BAD_METRICS     NO_MEMBER("returnItemCollectionMetrics", "SIZE, NONE")
#define BAD_RETURN      NO_MEMBER("returnValues", "ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW")
#define BAD_ON_FAILURE  NO_MEMBER("returnValuesOnConditionCheckFailure", "ALL_OLD, NONE")
#define BAD_CONDITIONAL NO_MEMBER("conditionalOperator", "OR, AND")
#define BAD_SELECT                                                                                 \
    NO_MEMBER("select", "SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES")
#define BAD_COMPARISON(path)                                                                       \
    NO_MEMBER(path, "IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, "              \
                    "BEGINS_WITH, GE, CONTAINS")
#define BAD_BILLING   NO_MEMBER("billingMode", "PROVISIONED, PAY_PER_REQUEST")
#define BAD_LENGTH    "TableName must be at least 3 characters long and at most 255 characters long"
#define NO_TABLE_NAME "The parameter 'TableName' is required but was not present in the request"

#define A16  "aaaaaaaaaaaaaaaa"
#define A64  A16 A16 A16 A16
#define A255 A64 A64 A64 A16 A16 A16 "aaaaaaaaaaaaaaa"
#define ARN  "arn:aws:dynamodb:us-east-1:000000000000:table/"

struct golden {
    const struct shape *shape;
    const char *request;
    const char *message; // NULL: the request is accepted
};

// ---- Running ---------------------------------------------------------------------------------

static void golden_check_by(enum service_layer layer, const struct golden *golden)
{
    struct arena arena;
    struct error error;
    arena_init(&arena, LIMIT_REQUEST_MEMORY);
    error_init(&error, &arena);
    void *out = malloc(golden->shape->size);
    assert_non_null(out);
    bool good =
        request_decode(golden->shape, layer, slice_str(golden->request), out, &arena, &error);
    if (golden->message == NULL) {
        if (!good)
            fail_msg("%s\nrefused: %s", golden->request, error.message);
    } else {
        if (good)
            fail_msg("%s\naccepted", golden->request);
        if (strcmp(error.message, golden->message) != 0)
            fail_msg("%s\nsays:   %s\nwanted: %s", golden->request, error.message, golden->message);
        assert_int_equal(error.code, ERR_VALIDATION);
    }
    free(out);
    arena_release(&arena);
}

// In the words of May 2026; those of today are in tests/golden/service-requests.txt.
static void golden_check(const struct golden *golden)
{
    golden_check_by(LAYER_OLD, golden);
}

#define GOLDEN_CHECK_ALL(pairs)                                                                    \
    for (size_t i = 0; i < sizeof(pairs) / sizeof((pairs)[0]); i++)                                \
    golden_check(&(pairs)[i])

// ---- Tables -----------------------------------------------------------------------------------

static const struct golden create_table[] = {
    {&shape_create_table_request, "{}", NO_TABLE_NAME},
    {&shape_create_table_request, "{\"TableName\":null,\"BillingMode\":\"hi\"}", NO_TABLE_NAME},
    {&shape_create_table_request, "{\"TableName\":\"abc;\"}",
     MANY(3, MISSING("attributeDefinitions"), BAD_NAME("abc;", "tableName"), MISSING("keySchema"))},
    {&shape_create_table_request,
     "{\"TableName\":\"ab\",\"AttributeDefinitions\":[],"
     "\"KeySchema\":[{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"}]}",
     ONE TOO_SHORT("ab", "tableName", 3)},
    // No more than ten are told.
    {&shape_create_table_request,
     "{\"TableName\":\"abc;\",\"AttributeDefinitions\":[{}],\"BillingMode\":\"hi\","
     "\"ProvisionedThroughput\":{\"ReadCapacityUnits\":0},\"KeySchema\":[],"
     "\"LocalSecondaryIndexes\":[{\"IndexName\":\"h;\"}]}",
     MANY(10, MISSING("attributeDefinitions.1.member.attributeName"),
          MISSING("attributeDefinitions.1.member.attributeType"), BAD_NAME("abc;", "tableName"),
          BAD_BILLING, MISSING("provisionedThroughput.writeCapacityUnits"),
          TOO_SMALL("0", "provisionedThroughput.readCapacityUnits", 1),
          TOO_SHORT("[]", "keySchema", 1),
          BAD_NAME("h;", "localSecondaryIndexes.1.member.indexName"),
          TOO_SHORT("h;", "localSecondaryIndexes.1.member.indexName", 3),
          MISSING("localSecondaryIndexes.1.member.keySchema"))},
    {&shape_create_table_request,
     "{\"TableName\":\"abc\",\"AttributeDefinitions\":[{\"AttributeName\":\"a\","
     "\"AttributeType\":\"hi\"}],\"KeySchema\":[{\"KeyType\":\"hi\"}],"
     "\"GlobalSecondaryIndexes\":[{\"IndexName\":\"abc\",\"Projection\":{\"ProjectionType\":\"hi\","
     "\"NonKeyAttributes\":[]},\"ProvisionedThroughput\":{\"ReadCapacityUnits\":-1,"
     "\"WriteCapacityUnits\":0}}]}",
     MANY(8, NO_MEMBER("attributeDefinitions.1.member.attributeType", "B, N, S"),
          MISSING("keySchema.1.member.attributeName"),
          NO_MEMBER("keySchema.1.member.keyType", "HASH, RANGE"),
          MISSING("globalSecondaryIndexes.1.member.keySchema"),
          NO_MEMBER("globalSecondaryIndexes.1.member.projection.projectionType",
                    "ALL, INCLUDE, KEYS_ONLY"),
          TOO_SHORT("[]", "globalSecondaryIndexes.1.member.projection.nonKeyAttributes", 1),
          TOO_SMALL("0",
                    "globalSecondaryIndexes.1.member.provisionedThroughput."
                    "writeCapacityUnits",
                    1),
          TOO_SMALL("-1",
                    "globalSecondaryIndexes.1.member.provisionedThroughput."
                    "readCapacityUnits",
                    1))},
    {&shape_create_table_request,
     "{\"TableName\":\"abc\",\"AttributeDefinitions\":[],"
     "\"KeySchema\":[{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"}],"
     "\"StreamSpecification\":{\"StreamViewType\":\"hi\"},\"SSESpecification\":{\"SSEType\":"
     "\"hi\"},\"Tags\":[{\"Key\":\"\"}],\"TableClass\":\"hi\"}",
     MANY(6, MISSING("streamSpecification.streamEnabled"),
          NO_MEMBER("streamSpecification.streamViewType",
                    "NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES, KEYS_ONLY"),
          NO_MEMBER("sSESpecification.sSEType", "AES256, KMS"),
          TOO_SHORT("", "tags.1.member.key", 1), MISSING("tags.1.member.value"),
          NO_MEMBER("tableClass", "STANDARD, STANDARD_INFREQUENT_ACCESS"))},
    // The key of a global index may have more attributes than the table's.
    {&shape_create_table_request,
     "{\"TableName\":\"abc\",\"AttributeDefinitions\":[],"
     "\"KeySchema\":[{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"}],"
     "\"GlobalSecondaryIndexes\":[{\"IndexName\":\"abc\",\"Projection\":{},\"KeySchema\":["
     "{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"b\",\"KeyType\":\"HASH\"}"
     ","
     "{\"AttributeName\":\"c\",\"KeyType\":\"RANGE\"}]}]}",
     NULL},
};

static const struct golden other_tables[] = {
    {&shape_update_table_request, "{}", NO_TABLE_NAME},
    {&shape_update_table_request,
     "{\"TableName\":\"abc;\",\"ProvisionedThroughput\":{\"ReadCapacityUnits\":-1},"
     "\"BillingMode\":\"hi\",\"GlobalSecondaryIndexUpdates\":[{\"Update\":{\"IndexName\":\"a;\","
     "\"ProvisionedThroughput\":{}}}]}",
     MANY(8, BAD_NAME("abc;", "tableName"), MISSING("provisionedThroughput.writeCapacityUnits"),
          TOO_SMALL("-1", "provisionedThroughput.readCapacityUnits", 1), BAD_BILLING,
          BAD_NAME("a;", "globalSecondaryIndexUpdates.1.member.update.indexName"),
          TOO_SHORT("a;", "globalSecondaryIndexUpdates.1.member.update.indexName", 3),
          MISSING("globalSecondaryIndexUpdates.1.member.update."
                  "provisionedThroughput.writeCapacityUnits"),
          MISSING("globalSecondaryIndexUpdates.1.member.update."
                  "provisionedThroughput.readCapacityUnits"))},
    {&shape_update_table_request,
     "{\"TableName\":\"abc\",\"GlobalSecondaryIndexUpdates\":[{\"Create\":{"
     "\"ProvisionedThroughput\":{\"ReadCapacityUnits\":1,\"WriteCapacityUnits\":1}}},"
     "{\"Delete\":{}}]}",
     MANY(4, MISSING("globalSecondaryIndexUpdates.1.member.create.projection"),
          MISSING("globalSecondaryIndexUpdates.1.member.create.indexName"),
          MISSING("globalSecondaryIndexUpdates.1.member.create.keySchema"),
          MISSING("globalSecondaryIndexUpdates.2.member.delete.indexName"))},
    {&shape_table_name_request, "{}", NO_TABLE_NAME},
    {&shape_table_name_request, "{\"TableName\":\"abc;\"}", ONE BAD_NAME("abc;", "tableName")},
    {&shape_table_name_request, "{\"TableName\":\"a;\"}", BAD_LENGTH},
    {&shape_table_name_request, "{\"TableName\":\"\"}", BAD_LENGTH},
    {&shape_table_name_request, "{\"TableName\":\"" A255 "a\"}", BAD_LENGTH},
    {&shape_create_table_request, "{\"TableName\":\"ab\",\"BillingMode\":\"hi\"}",
     MANY(4, MISSING("attributeDefinitions"), TOO_SHORT("ab", "tableName", 3),
          AT("'hi'", "billingMode", "satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]"),
          MISSING("keySchema"))},
    {&shape_table_name_request, "{\"TableName\":\"" A255 "\"}", NULL},
    {&shape_list_tables_request, "{}", NULL},
    {&shape_list_tables_request, "{\"Limit\":0,\"ExclusiveStartTableName\":\"a;\"}",
     MANY(3, TOO_SMALL("0", "limit", 1), BAD_NAME("a;", "exclusiveStartTableName"),
          TOO_SHORT("a;", "exclusiveStartTableName", 3))},
    {&shape_list_tables_request, "{\"Limit\":101}", ONE TOO_LARGE("101", "limit", 100)},
};

static const struct golden around_tables[] = {
    {&shape_update_time_to_live_request, "{}", NO_TABLE_NAME},
    {&shape_update_time_to_live_request, "{\"TableName\":\"abc\"}",
     ONE MISSING("timeToLiveSpecification")},
    {&shape_update_time_to_live_request,
     "{\"TableName\":\"abc\",\"TimeToLiveSpecification\":{\"AttributeName\":\"\"}}",
     MANY(2, MISSING("timeToLiveSpecification.enabled"),
          TOO_SHORT("", "timeToLiveSpecification.attributeName", 1))},
    {&shape_tag_resource_request, "{\"ResourceArn\":\"" ARN "abc\"}", ONE MISSING("tags")},
    {&shape_untag_resource_request, "{\"ResourceArn\":\"" ARN "abc\"}", ONE MISSING("tagKeys")},
    {&shape_list_tags_of_resource_request, "{}", NULL},
    {&shape_empty_request, "{}", NULL},
    {&shape_empty_request, "{\"Whatever\":[1,{}]}", NULL},
};

// ---- Items --------------------------------------------------------------------------

#define ALL_WRONG                                                                                  \
    "{\"TableName\":\"abc;\",\"ReturnConsumedCapacity\":\"hi\","                                   \
    "\"ReturnItemCollectionMetrics\":\"hi\",\"ReturnValues\":\"hi\","                              \
    "\"ConditionalOperator\":\"hi\",\"Expected\":{\"a\":{\"ComparisonOperator\":\"hi\"}}}"

static const struct golden items[] = {
    {&shape_put_item_request, "{}", MANY(2, MISSING("tableName"), MISSING("item"))},
    {&shape_put_item_request, ALL_WRONG,
     MANY(7, BAD_CAPACITY, BAD_RETURN, BAD_NAME("abc;", "tableName"), MISSING("item"),
          BAD_CONDITIONAL, BAD_COMPARISON("expected.a.member.comparisonOperator"), BAD_METRICS)},
    {&shape_put_item_request,
     "{\"TableName\":\"abc\",\"Item\":{},\"ReturnValuesOnConditionCheckFailure\":\"hi\"}",
     ONE BAD_ON_FAILURE},
    {&shape_get_item_request, "{}", MANY(2, MISSING("tableName"), MISSING("key"))},
    {&shape_get_item_request,
     "{\"TableName\":\"abc;\",\"ReturnConsumedCapacity\":\"hi\",\"AttributesToGet\":[]}",
     MANY(4, BAD_CAPACITY, TOO_SHORT("[]", "attributesToGet", 1), BAD_NAME("abc;", "tableName"),
          MISSING("key"))},
    {&shape_update_item_request, "{}", MANY(2, MISSING("tableName"), MISSING("key"))},
    {&shape_update_item_request, ALL_WRONG,
     MANY(7, BAD_CAPACITY, BAD_NAME("abc;", "tableName"), BAD_METRICS, BAD_RETURN, BAD_CONDITIONAL,
          BAD_COMPARISON("expected.a.member.comparisonOperator"), MISSING("key"))},
    {&shape_update_item_request,
     "{\"TableName\":\"abc\",\"Key\":{},\"AttributeUpdates\":{\"a\":{\"Action\":\"hi\"}}}",
     ONE NO_MEMBER("attributeUpdates.a.member.action", "ADD, DELETE, PUT")},
    {&shape_delete_item_request, "{}", MANY(2, MISSING("tableName"), MISSING("key"))},
    {&shape_delete_item_request, ALL_WRONG,
     MANY(7, BAD_CAPACITY, BAD_NAME("abc;", "tableName"), BAD_RETURN, BAD_METRICS, MISSING("key"),
          BAD_CONDITIONAL, BAD_COMPARISON("expected.a.member.comparisonOperator"))},
};

static const struct golden queries[] = {
    {&shape_query_request, "{}", ONE MISSING("tableName")},
    {&shape_query_request,
     "{\"TableName\":\"abc;\",\"ReturnConsumedCapacity\":\"hi\",\"Select\":\"hi\","
     "\"IndexName\":\"a;\",\"ConditionalOperator\":\"hi\",\"AttributesToGet\":[],\"Limit\":0,"
     "\"QueryFilter\":{\"a\":{}},\"KeyConditions\":{\"b\":{\"ComparisonOperator\":\"hi\"}}}",
     MANY(10, BAD_SELECT, BAD_NAME("a;", "indexName"), TOO_SHORT("a;", "indexName", 3),
          BAD_CAPACITY, MISSING("queryFilter.a.member.comparisonOperator"),
          BAD_NAME("abc;", "tableName"), BAD_CONDITIONAL, TOO_SHORT("[]", "attributesToGet", 1),
          TOO_SMALL("0", "limit", 1), BAD_COMPARISON("keyConditions.b.member.comparisonOperator"))},
    {&shape_query_request,
     "{\"TableName\":\"abc\",\"QueryFilter\":{\"a\":{},\"b\":{\"ComparisonOperator\":\"hi\"}},"
     "\"IndexName\":\"" A255 "a\",\"Limit\":-3}",
     MANY(4, TOO_LONG(A255 "a", "indexName", 255),
          MISSING("queryFilter.a.member.comparisonOperator"),
          BAD_COMPARISON("queryFilter.b.member.comparisonOperator"), TOO_SMALL("-3", "limit", 1))},
    {&shape_scan_request, "{}", ONE MISSING("tableName")},
    {&shape_scan_request,
     "{\"TableName\":\"abc;\",\"ReturnConsumedCapacity\":\"hi\",\"Select\":\"hi\","
     "\"IndexName\":\"a;\",\"ConditionalOperator\":\"hi\",\"AttributesToGet\":[],\"Limit\":0,"
     "\"ScanFilter\":{\"a\":{}},\"TotalSegments\":0,\"Segment\":-1}",
     MANY(10, BAD_SELECT, BAD_NAME("a;", "indexName"), TOO_SHORT("a;", "indexName", 3),
          TOO_SMALL("0", "totalSegments", 1), BAD_CAPACITY, BAD_NAME("abc;", "tableName"),
          BAD_CONDITIONAL, MISSING("scanFilter.a.member.comparisonOperator"),
          TOO_SMALL("-1", "segment", 0), TOO_SMALL("0", "limit", 1))},
    {&shape_scan_request,
     "{\"TableName\":\"abc\",\"AttributesToGet\":[],\"Limit\":0,\"Segment\":-1}",
     MANY(3, TOO_SMALL("-1", "segment", 0), TOO_SMALL("0", "limit", 1),
          TOO_SHORT("[]", "attributesToGet", 1))},
    {&shape_scan_request, "{\"TableName\":\"abc\",\"TotalSegments\":1000001,\"Segment\":1000000}",
     MANY(2, TOO_LARGE("1000001", "totalSegments", 1000000),
          TOO_LARGE("1000000", "segment", 999999))},
};

// ---- Batches and transactions -------------------------------------------------------

#define BAD_KEYS                                                                                   \
    "Value '{a!=KeysAndAttributes(keys=[]), b!=KeysAndAttributes(keys=[{a={\"S\":\"b\"}}]), "      \
    "=KeysAndAttributes()}' at "                                                                   \
    "'requestItems' failed to satisfy constraint: Map keys must satisfy constraint: [Member must " \
    "have length less than or equal to 255, Member must have length greater than or equal to 3, "  \
    "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"

static const struct golden batches[] = {
    {&shape_batch_get_item_request, "{}", ONE MISSING("requestItems")},
    {&shape_batch_get_item_request, "{\"RequestItems\":{}}", NULL},
    // One failure for each bad name, then what is inside.
    {&shape_batch_get_item_request,
     "{\"RequestItems\":{\"a!\":{\"Keys\":[]},\"b!\":{\"Keys\":[{\"a\":{\"S\":\"b\"}}]},\"\":{}}}",
     MANY(5, BAD_KEYS, BAD_KEYS, BAD_KEYS, TOO_SHORT("[]", "requestItems.a!.member.keys", 1),
          MISSING("requestItems..member.keys"))},
    {&shape_batch_get_item_request,
     "{\"ReturnConsumedCapacity\":\"hi\",\"RequestItems\":{\"abc\":{}}}",
     MANY(2, BAD_CAPACITY, MISSING("requestItems.abc.member.keys"))},
    {&shape_batch_get_item_request,
     "{\"RequestItems\":{\"abc\":{\"AttributesToGet\":[],\"Keys\":[]}}}",
     MANY(2, TOO_SHORT("[]", "requestItems.abc.member.keys", 1),
          TOO_SHORT("[]", "requestItems.abc.member.attributesToGet", 1))},
    {&shape_batch_write_item_request, "{}", ONE MISSING("requestItems")},
    // That there are none is told by the operation.
    {&shape_batch_write_item_request, "{\"RequestItems\":{}}", NULL},
    {&shape_batch_write_item_request,
     "{\"ReturnConsumedCapacity\":\"hi\",\"ReturnItemCollectionMetrics\":\"hi\","
     "\"RequestItems\":{\"abc\":[{\"PutRequest\":{}},{\"DeleteRequest\":{}}]}}",
     MANY(4, BAD_CAPACITY, BAD_METRICS, MISSING("requestItems.abc.member.1.member.putRequest.item"),
          MISSING("requestItems.abc.member.2.member.deleteRequest.key"))},
    {&shape_batch_write_item_request,
     "{\"RequestItems\":{\"" ARN "abc\":[{\"PutRequest\":{\"Item\":{}}}]}}", NULL},
};

static const struct golden transactions[] = {
    {&shape_transact_get_items_request, "{}", ONE MISSING("transactItems")},
    {&shape_transact_get_items_request, "{\"ReturnConsumedCapacity\":\"hi\",\"TransactItems\":[]}",
     MANY(2, BAD_CAPACITY, TOO_SHORT("[]", "transactItems", 1))},
    {&shape_transact_get_items_request, "{\"TransactItems\":[{},{\"Get\":{}}]}",
     MANY(3, MISSING("transactItems.1.member.get"), MISSING("transactItems.2.member.get.tableName"),
          MISSING("transactItems.2.member.get.key"))},
    {&shape_transact_write_items_request, "{}", ONE MISSING("transactItems")},
    {&shape_transact_write_items_request,
     "{\"ReturnConsumedCapacity\":\"hi\",\"ReturnItemCollectionMetrics\":\"hi\","
     "\"ClientRequestToken\":\"\",\"TransactItems\":[{\"Put\":{}},{\"Update\":{}},"
     "{\"ConditionCheck\":{\"TableName\":\"abc\",\"Key\":{}}}]}",
     MANY(9, TOO_SHORT("", "clientRequestToken", 1), BAD_CAPACITY, BAD_METRICS,
          MISSING("transactItems.1.member.put.tableName"),
          MISSING("transactItems.1.member.put.item"),
          MISSING("transactItems.2.member.update.tableName"),
          MISSING("transactItems.2.member.update.key"),
          MISSING("transactItems.2.member.update.updateExpression"),
          MISSING("transactItems.3.member.conditionCheck."
                  "conditionExpression"))},
    {&shape_transact_write_items_request,
     "{\"ClientRequestToken\":\"" A16 A16 "aaaaa\",\"TransactItems\":[{}]}",
     ONE TOO_LONG(A16 A16 "aaaaa", "clientRequestToken", 36)},
};

// ---- Table names --------------------------------------------------------------------

static const struct golden table_names[] = {
    {&shape_scan_request, "{\"TableName\":\"\"}", ONE TOO_SHORT("", "tableName", 1)},
    {&shape_scan_request, "{\"TableName\":\"ab\"}", NULL},
    {&shape_scan_request, "{\"TableName\":\"x!\"}", ONE BAD_NAME("x!", "tableName")},
    {&shape_scan_request, "{\"TableName\":\"" A255 "a\"}", NULL},
    {&shape_scan_request, "{\"TableName\":\"" A255 "\"}", NULL},
    {&shape_scan_request, "{\"TableName\":\"" ARN "abc\"}", NULL},
    {&shape_scan_request, "{\"TableName\":\"arn:aws-cn:dynamodb:cn-north-1:1:table/a.b-c_D9\"}",
     NULL},
    {&shape_table_name_request, "{\"TableName\":\"" ARN "abc\"}", NULL},
    // An ARN may be longer than a name, but not of any length.
    {&shape_scan_request, "{\"TableName\":\"" ARN A255 "\"}", NULL},
    {&shape_table_name_request, "{\"TableName\":\"" ARN A255 "\"}", NULL},
    {&shape_batch_write_item_request,
     "{\"RequestItems\":{\"" ARN A255 "\":[{\"PutRequest\":{\"Item\":{}}}]}}", NULL},
    {&shape_table_name_request,
     "{\"TableName\":\"arn:aws:dynamodb:" A255 A255 A255 A255 ":1:table/abc\"}", BAD_LENGTH},
    {&shape_scan_request, "{\"TableName\":\"" ARN "ab\"}", ONE BAD_NAME(ARN "ab", "tableName")},
    {&shape_scan_request, "{\"TableName\":\"" ARN "abc/index/d\"}",
     ONE BAD_NAME(ARN "abc/index/d", "tableName")},
    {&shape_scan_request, "{\"TableName\":\"arn:aws:s3:us-east-1:1:table/abc\"}",
     ONE BAD_NAME("arn:aws:s3:us-east-1:1:table/abc", "tableName")},
    {&shape_scan_request, "{\"TableName\":\"arn:aws:dynamodb\"}",
     ONE BAD_NAME("arn:aws:dynamodb", "tableName")},
};

static void test_create_table(void **state)
{
    (void)state;
    GOLDEN_CHECK_ALL(create_table);
}

static void test_other_tables(void **state)
{
    (void)state;
    GOLDEN_CHECK_ALL(other_tables);
    GOLDEN_CHECK_ALL(around_tables);
}

static void test_items(void **state)
{
    (void)state;
    GOLDEN_CHECK_ALL(items);
    GOLDEN_CHECK_ALL(queries);
}

static void test_batches(void **state)
{
    (void)state;
    GOLDEN_CHECK_ALL(batches);
    GOLDEN_CHECK_ALL(transactions);
}

static void test_table_names(void **state)
{
    (void)state;
    GOLDEN_CHECK_ALL(table_names);
    assert_true(slice_is(table_name_plain(slice_str(ARN "abc")), "abc"));
    assert_true(slice_is(table_name_plain(slice_str("abc")), "abc"));
    assert_true(slice_is(table_name_plain(slice_str("arn:aws")), "arn:aws"));
}

// The decoded struct: one member of each form, through the real tables.
static void test_decoded(void **state)
{
    (void)state;
    struct arena arena;
    struct error error;
    arena_init(&arena, LIMIT_REQUEST_MEMORY);
    error_init(&error, &arena);

    struct query_request query;
    assert_true(request_decode(
        &shape_query_request, LAYER_OLD,
        SLICE_LIT("{\"TableName\":\"abc\",\"Limit\":7,\"ScanIndexForward\":false,"
                  "\"AttributesToGet\":[\"x\",\"yy\"],\"KeyConditions\":{\"h\":{"
                  "\"ComparisonOperator\":\"EQ\",\"AttributeValueList\":[{\"S\":\"v\"}]}},"
                  "\"ExpressionAttributeNames\":{\"#a\":\"b\"},"
                  "\"ExpressionAttributeValues\":{\":v\":{\"N\":\"1\"}}}"),
        &query, &arena, &error));
    assert_true(slice_is(query.table_name, "abc"));
    assert_null(query.index_name.ptr);
    assert_true(query.limit.set);
    assert_int_equal(query.limit.value, 7);
    assert_true(query.scan_index_forward.set);
    assert_false(query.scan_index_forward.value);
    assert_false(query.consistent_read.set);
    assert_int_equal(query.attributes_to_get.count, 2);
    assert_true(slice_is(((const struct slice *)query.attributes_to_get.items)[1], "yy"));
    assert_int_equal(query.key_conditions.count, 1);
    assert_true(slice_is(query.key_conditions.names[0], "h"));
    const struct request_condition *condition = query.key_conditions.items;
    assert_true(slice_is(condition->comparison_operator, "EQ"));
    assert_int_equal(condition->attribute_value_list.count, 1);
    const struct field_value *value = condition->attribute_value_list.items;
    assert_int_equal(value_type(value->value), VALUE_S);
    assert_true(slice_is(query.expression_attribute_names.names[0], "#a"));
    assert_int_equal(value_count(query.expression_attribute_values.value), 1);
    assert_false(query.query_filter.set);

    struct transact_write_items_request write;
    assert_true(request_decode(
        &shape_transact_write_items_request, LAYER_OLD,
        SLICE_LIT("{\"TransactItems\":[{\"Put\":{\"TableName\":\"abc\",\"Item\":{}}},"
                  "{\"Delete\":{\"TableName\":\"abd\",\"Key\":{}}}]}"),
        &write, &arena, &error));
    assert_int_equal(write.transact_items.count, 2);
    const struct transact_write_item *actions = write.transact_items.items;
    assert_true(slice_is(actions[0].put->table_name, "abc"));
    assert_null(actions[0].delete);
    assert_true(slice_is(actions[1].delete->table_name, "abd"));
    assert_null(actions[1].put);
    arena_release(&arena);
}

static void test_wrong_type_comes_first(void **state)
{
    (void)state;
    struct arena arena;
    struct error error;
    arena_init(&arena, LIMIT_REQUEST_MEMORY);
    error_init(&error, &arena);
    struct create_table_request request;
    assert_false(request_decode(&shape_create_table_request, LAYER_OLD,
                                SLICE_LIT("{\"BillingMode\":3}"), &request, &arena, &error));
    assert_int_equal(error.code, ERR_SERIALIZATION);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create_table),
        cmocka_unit_test(test_other_tables),
        cmocka_unit_test(test_items),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_table_names),
        cmocka_unit_test(test_decoded),
        cmocka_unit_test(test_wrong_type_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
