// Time to live: which items are swept, when, and which stay; items that were there before it was
// turned on; items that get more time.
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const int64_t now_s = 1700000000;
static const int64_t year_s = 365 * 24 * 3600;

struct world {
    struct env_fixed clock;
    struct api *api;
    struct api_call call;
};

static void call_ok(struct world *world, const char *operation, const char *body)
{
    call_run(&world->call, slice_str(operation), slice_str(body));
    if (world->call.status != 200)
        print_error("%s %s: %.*s\n", operation, body, SLICE_FMT(buf_view(&world->call.response)));
    assert_int_equal(world->call.status, 200);
}

static void world_open(struct world *world)
{
    struct store_error error;
    world->clock = (struct env_fixed){.now_ms = now_s * 1000, .seed = 1};
    struct api_options options = {.store = store_open_memory(&error),
                                  .env = env_fixed(&world->clock)};
    world->api = api_open(&options, &error);
    assert_non_null(world->api);
    api_call_init(&world->call, world->api);
    call_ok(world, "CreateTable",
            "{\"TableName\":\"tab\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":"
            "[{\"AttributeName\":\"k\",\"AttributeType\":\"S\"},{\"AttributeName\":\"g\","
            "\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":\"k\",\"KeyType\":"
            "\"HASH\"}],\"GlobalSecondaryIndexes\":[{\"IndexName\":\"byg\",\"KeySchema\":[{"
            "\"AttributeName\":\"g\",\"KeyType\":\"HASH\"}],\"Projection\":{\"ProjectionType\":"
            "\"ALL\"}}]}");
}

static void world_close(struct world *world)
{
    api_call_release(&world->call);
    api_close(world->api);
}

static void enable(struct world *world)
{
    call_ok(world, "UpdateTimeToLive",
            "{\"TableName\":\"tab\",\"TimeToLiveSpecification\":{\"Enabled\":true,"
            "\"AttributeName\":\"ttl\"}}");
    engine_settle(world->api->shop.engine);
}

static void put(struct world *world, const char *key, const char *ttl)
{
    char body[300];
    snprintf(body, sizeof(body),
             "{\"TableName\":\"tab\",\"Item\":{\"k\":{\"S\":\"%s\"},\"g\":{\"S\":\"all\"},\"ttl\":"
             "%s}}",
             key, ttl);
    call_ok(world, "PutItem", body);
}

static void put_at(struct world *world, const char *key, int64_t seconds)
{
    char ttl[60];
    snprintf(ttl, sizeof(ttl), "{\"N\":\"%lld\"}", (long long)seconds);
    put(world, key, ttl);
}

static bool is_there(struct world *world, const char *key)
{
    char body[200];
    snprintf(body, sizeof(body), "{\"TableName\":\"tab\",\"Key\":{\"k\":{\"S\":\"%s\"}}}", key);
    call_ok(world, "GetItem", body);
    return world->call.response.len > 2;
}

static uint64_t sweep(struct world *world)
{
    struct api_ttl after;
    api_ttl_sweep(world->api);
    do {
        struct timespec pause = {.tv_nsec = 1000000};
        nanosleep(&pause, NULL);
        api_ttl(world->api, &after);
    } while (after.running);
    return after.deleted;
}

// With so many attributes more that its keys are looked up all at once.
static void put_wide(struct world *world, const char *key, int64_t seconds)
{
    static char body[16000];
    int length = snprintf(body, sizeof(body),
                          "{\"TableName\":\"tab\",\"Item\":{\"k\":{\"S\":\"%s\"},\"ttl\":{\"N\":"
                          "\"%lld\"}",
                          key, (long long)seconds);
    for (int i = 0; i < 300; i++)
        length += snprintf(body + length, sizeof(body) - (size_t)length,
                           ",\"%s%d\":{\"NULL\":true}", i % 2 == 0 ? "aa" : "zz", i);
    snprintf(body + length, sizeof(body) - (size_t)length, "}}");
    call_ok(world, "PutItem", body);
}

static void test_wide_items(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    enable(&world);
    put_wide(&world, "due", now_s);
    put_wide(&world, "later", now_s + 100);
    put_wide(&world, "spared", now_s);
    put_wide(&world, "spared", now_s + 100);
    assert_int_equal(sweep(&world), 1);
    assert_false(is_there(&world, "due"));
    assert_true(is_there(&world, "later"));
    assert_true(is_there(&world, "spared"));
    world_close(&world);
}

static void test_what_counts(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    put_at(&world, "old", now_s - 1); // there before it is turned on
    enable(&world);
    put_at(&world, "due", now_s);
    put_at(&world, "later", now_s + 1);
    put_at(&world, "years", now_s - 5 * year_s + 10);
    put_at(&world, "toolong", now_s - 5 * year_s - 10);
    put_at(&world, "millis", now_s * 1000);
    put(&world, "text", "{\"S\":\"1\"}");
    put(&world, "fraction", "{\"N\":\"1699999999.5\"}");
    put(&world, "negative", "{\"N\":\"-5\"}");
    put(&world, "huge", "{\"N\":\"1E+100\"}");
    put_at(&world, "spared", now_s - 5);
    put_at(&world, "spared", now_s + 100);
    assert_true(sweep(&world) >= 4);
    const char *const gone[] = {"old", "due", "years", "fraction"};
    const char *const kept[] = {"later", "toolong", "millis", "text", "negative", "huge", "spared"};
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
        assert_false(is_there(&world, gone[i]));
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        assert_true(is_there(&world, kept[i]));
    call_ok(&world, "Query",
            "{\"TableName\":\"tab\",\"IndexName\":\"byg\",\"KeyConditionExpression\":\"g = :g\","
            "\"ExpressionAttributeValues\":{\":g\":{\"S\":\"all\"}},\"Select\":\"COUNT\"}");
    buf_byte(&world.call.response, 0);
    assert_non_null(strstr((const char *)world.call.response.ptr, "\"Count\":7,"));
    // Time goes on.
    api_clock_move(world.api, 1000 * 1000);
    (void)sweep(&world);
    assert_false(is_there(&world, "later"));
    assert_false(is_there(&world, "spared"));
    assert_true(is_there(&world, "millis"));
    world_close(&world);
}

static void test_off_means_off(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    enable(&world);
    put_at(&world, "one", now_s + 100);
    call_ok(&world, "UpdateTimeToLive",
            "{\"TableName\":\"tab\",\"TimeToLiveSpecification\":{\"Enabled\":false,"
            "\"AttributeName\":\"ttl\"}}");
    api_clock_move(world.api, 1000 * 1000);
    (void)sweep(&world);
    assert_true(is_there(&world, "one"));
    enable(&world);
    (void)sweep(&world);
    assert_false(is_there(&world, "one"));
    world_close(&world);
}

// More than several batches, filled in by the keeper because they were there before.
static void test_many(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    for (int i = 0; i < 3000; i++) {
        char key[20];
        snprintf(key, sizeof(key), "k%d", i);
        put_at(&world, key, now_s - 100 + i % 200); // half of them are due
    }
    enable(&world);
    api_ttl_rate(world.api, 1000000);
    (void)sweep(&world);
    for (int i = 0; i < 3000; i++) {
        char key[20];
        snprintf(key, sizeof(key), "k%d", i);
        assert_int_equal(is_there(&world, key), i % 200 > 100);
    }
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_counts),
        cmocka_unit_test(test_wide_items),
        cmocka_unit_test(test_off_means_off),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
