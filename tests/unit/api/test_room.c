// What a write shows of items has its room before it is done. Items here are 60 KB and 2.8 MB in
// JSON, since numbers are written out in full; the budget is 16 MB, of which the tests take some.
#include "calls.h"

#include "base/limits.h"

#include <stdio.h>

enum { MEGABYTE = 1 << 20, NUMBERS = 20000, ITEMS = 8 };

struct world {
    struct env_fixed clock;
    struct budget budget;
    struct budget_account other; // somebody else's
    size_t taken;
    struct api *api;
    struct api_call call;
    struct buf body;
};

// Runs an operation whose request is in world->body.
static void run_body(struct world *world, const char *operation)
{
    assert_false(world->body.failed);
    call_run(&world->call, slice_str(operation), buf_view(&world->body));
    buf_clear(&world->body);
}

static void run(struct world *world, const char *operation, const char *body)
{
    buf_text(&world->body, body);
    run_body(world, operation);
}

static void put(struct world *world, int which)
{
    buf_printf(&world->body, "{\"TableName\":\"tab\",\"Item\":{\"k\":{\"S\":\"%d\"},", which);
    buf_text(&world->body, "\"c\":{\"N\":\"0\"},\"l\":{\"L\":[{\"N\":\"1e-130\"}");
    for (int i = 1; i < NUMBERS; i++)
        buf_text(&world->body, ",{\"N\":\"1e-130\"}");
    buf_text(&world->body, "]}}}");
    run_body(world, "PutItem");
    assert_int_equal(world->call.status, 200);
}

static void world_open(struct world *world)
{
    struct store_error error;
    *world = (struct world){.clock = {.now_ms = 1700000000000, .seed = 7}};
    budget_init(&world->budget, 16 * MEGABYTE);
    world->other.budget = &world->budget;
    struct api_options options = {.store = store_open_memory(&error),
                                  .env = env_fixed(&world->clock),
                                  .budget = &world->budget};
    world->api = api_open(&options, &error);
    assert_non_null(world->api);
    api_call_init(&world->call, world->api);
    buf_init(&world->body, 4 * MEGABYTE);
    run(world, "CreateTable",
        "{\"TableName\":\"tab\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":["
        "{\"AttributeName\":\"k\",\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":"
        "\"k\",\"KeyType\":\"HASH\"}]}");
    assert_int_equal(world->call.status, 200);
    for (int i = 0; i < ITEMS; i++)
        put(world, i);
    api_call_reset(&world->call);
}

static void give_all(struct world *world)
{
    budget_give(&world->other, BUDGET_CALLS, world->taken);
    world->taken = 0;
}

// Nothing stays counted.
static void world_close(struct world *world)
{
    give_all(world);
    api_call_release(&world->call);
    assert_int_equal(world->budget.used, 0);
    api_close(world->api);
    buf_release(&world->body);
}

// Leaves a megabyte for large pieces.
static void take_most(struct world *world)
{
    api_call_release(&world->call);
    world->taken = 13 * MEGABYTE;
    assert_true(budget_take(&world->other, BUDGET_CALLS, world->taken));
}

static void assert_answer(struct world *world, int status, const char *has)
{
    buf_byte(&world->call.response, 0);
    assert_false(world->call.response.failed);
    assert_non_null(strstr((const char *)world->call.response.ptr, has));
    assert_int_equal(world->call.status, status);
    assert_in_range(world->budget.used, 0, world->budget.limit);
}

static void assert_counter(struct world *world, const char *value)
{
    char expected[64];
    (void)snprintf(expected, sizeof(expected), "{\"Item\":{\"c\":{\"N\":\"%s\"}}}", value);
    run(world, "GetItem",
        "{\"TableName\":\"tab\",\"Key\":{\"k\":{\"S\":\"0\"}},\"ProjectionExpression\":\"c\"}");
    assert_answer(world, 200, expected);
}

#define UPDATE                                                                                     \
    "{\"TableName\":\"tab\",\"Key\":{\"k\":{\"S\":\"0\"}},\"UpdateExpression\":\"ADD c :o\","      \
    "\"ExpressionAttributeValues\":{\":o\":{\"N\":\"1\"}},\"ReturnValues\":"

// No room, and nothing is done.
static void test_committed(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    take_most(&world);
    run(&world, "UpdateItem", UPDATE "\"ALL_NEW\"}");
    assert_answer(&world, 400, "ThrottlingException");
    run(&world, "ExecuteStatement",
        "{\"Statement\":\"UPDATE tab SET c = c + 1 WHERE k = '0' RETURNING ALL OLD *\"}");
    assert_answer(&world, 400, "ThrottlingException");
    assert_counter(&world, "0");
    run(&world, "UpdateItem", UPDATE "\"NONE\"}");
    assert_answer(&world, 200, "{}");
    give_all(&world);
    assert_counter(&world, "1");
    run(&world, "UpdateItem", UPDATE "\"ALL_NEW\"}");
    assert_answer(&world, 200, "\"c\":{\"N\":\"2\"}");
    assert_true(world.call.response.len > (size_t)NUMBERS * 140);
    // The room is as large as the item, the answer is not.
    run(&world, "UpdateItem", UPDATE "\"UPDATED_NEW\"}");
    assert_answer(&world, 200, "{\"Attributes\":{\"c\":{\"N\":\"3\"}}}");
    assert_in_range(world.budget.by_kind[BUDGET_ANSWERS], 0, 64 << 10);
    world_close(&world);
}

// What has written nothing is throttled like a read.
static void test_failed(void **state)
{
    (void)state;
    static const char delete[] =
        "{\"TableName\":\"tab\",\"Key\":{\"k\":{\"S\":\"0\"}},\"ConditionExpression\":"
        "\"attribute_not_exists(k)\",\"ReturnValuesOnConditionCheckFailure\":\"ALL_OLD\"}";
    struct world world;
    world_open(&world);
    take_most(&world);
    run(&world, "DeleteItem", delete);
    assert_answer(&world, 400, "ThrottlingException");
    give_all(&world);
    run(&world, "DeleteItem", delete);
    assert_answer(&world, 400, "ConditionalCheckFailedException");
    assert_true(world.call.response.len > (size_t)NUMBERS * 140);
    world_close(&world);
}

static void cancel(struct world *world, int count)
{
    buf_text(&world->body, "{\"TransactItems\":[");
    for (int i = 0; i < count; i++)
        buf_printf(&world->body,
                   "%s{\"ConditionCheck\":{\"TableName\":\"tab\",\"Key\":{\"k\":{\"S\":\"%d\"}},"
                   "\"ConditionExpression\":\"attribute_not_exists(k)\","
                   "\"ReturnValuesOnConditionCheckFailure\":\"ALL_OLD\"}}",
                   i == 0 ? "" : ",", i);
    buf_text(&world->body, "]}");
    run_body(world, "TransactWriteItems");
}

// A cancellation is whole: with its items if there is memory for them, without them if there can
// never be.
static void test_canceled(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    cancel(&world, 3);
    assert_answer(&world, 400, "TransactionCanceledException");
    assert_non_null(strstr((const char *)world.call.response.ptr, "\"Item\":{"));
    cancel(&world, 8);
    assert_answer(&world, 400, "TransactionCanceledException");
    assert_null(strstr((const char *)world.call.response.ptr, "\"Item\":{"));
    assert_non_null(strstr((const char *)world.call.response.ptr, "request failed\"}]}"));
    take_most(&world);
    cancel(&world, 3);
    assert_answer(&world, 400, "ThrottlingException");
    world_close(&world);
}

static void get(struct world *world, int count)
{
    buf_text(&world->body, "{\"TransactItems\":[");
    for (int i = 0; i < count; i++)
        buf_printf(&world->body,
                   "%s{\"Get\":{\"TableName\":\"tab\",\"Key\":{\"k\":{\"S\":\"%d\"}}}}",
                   i == 0 ? "" : ",", i);
    buf_text(&world->body, "]}");
    run_body(world, "TransactGetItems");
}

// A read that can never be answered is not told to come again.
static void test_never(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    get(&world, 4);
    assert_answer(&world, 200, "{\"Responses\":[{\"Item\":{");
    get(&world, 8);
    assert_answer(&world, 400, "ValidationException");
    assert_answer(&world, 400, "The response would be larger than this server can return: 21 MB");
    take_most(&world);
    get(&world, 4);
    assert_answer(&world, 400, "ThrottlingException");
    world_close(&world);
}

// Of a batch is done what can be told.
static void test_batch(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    buf_text(&world.body, "{\"Statements\":[");
    for (int i = 0; i < ITEMS; i++)
        buf_printf(&world.body,
                   "%s{\"Statement\":\"UPDATE tab SET c = c + 1 WHERE k = '%d' RETURNING ALL NEW "
                   "*\"}",
                   i == 0 ? "" : ",", i);
    buf_text(&world.body, "]}");
    run_body(&world, "BatchExecuteStatement");
    assert_answer(&world, 200, "\"Item\":{");
    const char *at = (const char *)world.call.response.ptr;
    int told = 0;
    while ((at = strstr(at, "\"c\":{\"N\":\"1\"}")) != NULL) {
        told++;
        at++;
    }
    assert_in_range(told, 1, ITEMS - 1);
    run(&world, "Scan",
        "{\"TableName\":\"tab\",\"FilterExpression\":\"c = :o\",\"Select\":\"COUNT\","
        "\"ExpressionAttributeValues\":{\":o\":{\"N\":\"1\"}}}");
    char expected[64];
    (void)snprintf(expected, sizeof(expected), "{\"Count\":%d,", told);
    assert_answer(&world, 200, expected);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_committed), cmocka_unit_test(test_failed),
        cmocka_unit_test(test_canceled),  cmocka_unit_test(test_never),
        cmocka_unit_test(test_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
