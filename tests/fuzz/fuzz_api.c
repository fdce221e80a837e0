// The whole database, in memory: any sequence of requests gets answers that are JSON, of status 200
// or 400. Nothing crashes, and nothing is an internal error.
//
// Input: a request a line: one letter for the operation (see `operations`), then the JSON body. The
// database begins with the tables and items of `first`.
#include "fuzz.h"

#include "dolmen.h"
#include "json/reader.h"

enum { CALLS_MAX = 16 };

static const struct {
    char letter;
    const char *name;
} operations[] = {
    {'P', "PutItem"},
    {'G', "GetItem"},
    {'U', "UpdateItem"},
    {'D', "DeleteItem"},
    {'Q', "Query"},
    {'S', "Scan"},
    {'b', "BatchGetItem"},
    {'B', "BatchWriteItem"},
    {'t', "TransactGetItems"},
    {'T', "TransactWriteItems"},
    {'C', "CreateTable"},
    {'A', "UpdateTable"},
    {'R', "DeleteTable"},
    {'E', "DescribeTable"},
    {'L', "ListTables"},
    {'V', "UpdateTimeToLive"},
    {'v', "DescribeTimeToLive"},
    {'K', "TagResource"},
    {'k', "UntagResource"},
    {'l', "ListTagsOfResource"},
    {'I', "DescribeLimits"},
    {'O', "DescribeEndpoints"},
    {'c', "DescribeContinuousBackups"},
    {'?', "NoSuchOperation"},
};

// Two tables: one with a global index, of keys S and N; one with a local index, of keys N and B.
static const char *const first[] = {
    "C{\"TableName\":\"tab\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":["
    "{\"AttributeName\":\"p\",\"AttributeType\":\"S\"},{\"AttributeName\":\"s\",\"AttributeType\":"
    "\"N\"},{\"AttributeName\":\"g\",\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":"
    "\"p\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"s\",\"KeyType\":\"RANGE\"}],"
    "\"GlobalSecondaryIndexes\":[{\"IndexName\":\"gsi\",\"KeySchema\":[{\"AttributeName\":\"g\","
    "\"KeyType\":\"HASH\"}],\"Projection\":{\"ProjectionType\":\"ALL\"}}]}",
    "C{\"TableName\":\"two\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":["
    "{\"AttributeName\":\"p\",\"AttributeType\":\"N\"},{\"AttributeName\":\"s\",\"AttributeType\":"
    "\"B\"},{\"AttributeName\":\"g\",\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":"
    "\"p\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"s\",\"KeyType\":\"RANGE\"}],"
    "\"LocalSecondaryIndexes\":[{\"IndexName\":\"lsi\",\"KeySchema\":[{\"AttributeName\":\"p\","
    "\"KeyType\":\"HASH\"},{\"AttributeName\":\"g\",\"KeyType\":\"RANGE\"}],\"Projection\":"
    "{\"ProjectionType\":\"INCLUDE\",\"NonKeyAttributes\":[\"x\"]}}]}",
    "P{\"TableName\":\"tab\",\"Item\":{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"1\"},\"g\":{\"S\":\"g\"},"
    "\"x\":{\"L\":[{\"N\":\"1\"},{\"M\":{\"y\":{\"SS\":[\"a\",\"b\"]}}}]}}}",
    "P{\"TableName\":\"tab\",\"Item\":{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"2\"},\"g\":{\"S\":\"h\"},"
    "\"n\":{\"N\":\"5\"}}}",
    "P{\"TableName\":\"two\",\"Item\":{\"p\":{\"N\":\"1\"},\"s\":{\"B\":\"AQI=\"},\"g\":{\"S\":"
    "\"g\"},\"x\":{\"BOOL\":true}}}",
};

static const char *operation_name(uint8_t letter)
{
    for (size_t i = 0; i < COUNT_OF(operations); i++) {
        if (letter == (uint8_t)operations[i].letter)
            return operations[i].name;
    }
    return operations[0].name;
}

// TagResource and UntagResource answer with nothing, all others with an object.
static void check_json(const char *name, const struct dolmen_response *response)
{
    struct arena arena;
    if (response->status == 200 && strstr(name, "agResource") != NULL) {
        ensure(response->length == 0);
        return;
    }
    struct json_reader reader;
    arena_init(&arena, FUZZ_BUDGET);
    json_reader_init(&reader, slice_of(response->body, response->length), &arena);
    ensure(json_peek(&reader) == JSON_OBJECT && json_skip(&reader) && json_at_end(&reader));
    ensure(response->body[response->length] == '\0');
    arena_release(&arena);
}

// The answer is checked; its status, and the "Count" in it if there is one.
static int call(dolmen *db, struct slice line, unsigned long *count)
{
    struct dolmen_response response;
    const char *name = operation_name(fuzz_byte(&line));
    struct slice body = fuzz_copy(line);
    dolmen_call(db, name, (const char *)body.ptr, body.len, &response);
    fuzz_free(body);
    check_json(name, &response);
    ensure(response.status == 200 || response.status == 400);
    int status = response.status;
    const char *found = strstr(response.body, "\"Count\":");
    *count = found == NULL ? 0 : strtoul(found + strlen("\"Count\":"), NULL, 10);
    dolmen_response_free(&response);
    return status;
}

// Both indexes have g in their key, and no item with a g of another type can be written.
static void check_indexes(dolmen *db)
{
    static const char *const scans[][2] = {
        {"S{\"TableName\":\"tab\",\"FilterExpression\":\"attribute_exists(g)\"}",
         "S{\"TableName\":\"tab\",\"IndexName\":\"gsi\"}"},
        {"S{\"TableName\":\"two\",\"FilterExpression\":\"attribute_exists(g)\"}",
         "S{\"TableName\":\"two\",\"IndexName\":\"lsi\",\"Select\":\"COUNT\"}"},
    };
    for (size_t i = 0; i < COUNT_OF(scans); i++) {
        unsigned long in_table;
        unsigned long in_index;
        ensure(call(db, slice_str(scans[i][0]), &in_table) == 200);
        ensure(call(db, slice_str(scans[i][1]), &in_index) == 200);
        ensure(in_table == in_index);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dolmen *db;
    struct dolmen_options options = {.path = NULL};
    unsigned long count;
    bool same_tables = true;
    ensure(dolmen_open(&options, &db, NULL, 0) == DOLMEN_OK);
    for (size_t i = 0; i < COUNT_OF(first); i++)
        ensure(call(db, slice_str(first[i]), &count) == 200);
    struct slice in = slice_of(data, size);
    for (size_t i = 0; i < CALLS_MAX && in.len > 0; i++) {
        struct slice line = fuzz_line(&in);
        // Operations on tables may leave neither of the two.
        same_tables = same_tables && !(line.len > 0 && strchr("CAR", line.ptr[0]) != NULL);
        (void)call(db, line, &count);
    }
    if (same_tables)
        check_indexes(db);
    dolmen_close(db);
    return 0;
}
