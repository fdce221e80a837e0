// A large batch is written in parts. When the disk fails between two of them, the answer says what
// was done. The store is the one in memory, with a driver around it that refuses commits.
#include "calls.h"

#include "store/fixture.h"
#include "store/store_driver.h"

#include <stdio.h>
#include <stdlib.h>

static struct {
    const struct store_driver *driver; // that of the store in memory
    struct store_driver faulty;
    _Atomic int refuses_after; // so many commits; 0 for never
    _Atomic bool refuses;
} disk;

static enum store_end faulty_commit(struct store *store, const struct store_batch *batch,
                                    struct store_error *error)
{
    if (disk.refuses_after > 0 && --disk.refuses_after == 0)
        disk.refuses = true;
    if (!disk.refuses)
        return disk.driver->commit(store, batch, error);
    (void)store_fail(error, "no space left");
    return STORE_NOT_DONE;
}

struct world {
    struct env_fixed clock;
    struct api *api;
    struct api_call call;
};

static void call_ok(struct world *world, const char *operation, const char *body)
{
    call_run(&world->call, slice_str(operation), slice_str(body));
    buf_byte(&world->call.response, 0);
    assert_int_equal(world->call.status, 200);
}

static const char *answer(const struct world *world)
{
    return (const char *)world->call.response.ptr;
}

static void world_open(struct world *world)
{
    struct store_error error;
    struct store *store = store_open_memory(&error);
    assert_non_null(store);
    disk.driver = store->driver;
    disk.faulty = *store->driver;
    disk.faulty.commit = faulty_commit;
    disk.refuses_after = 0;
    disk.refuses = false;
    store->driver = &disk.faulty;
    world->clock = (struct env_fixed){.now_ms = 1700000000000, .seed = 1};
    struct api_options options = {.store = store, .env = env_fixed(&world->clock)};
    world->api = api_open(&options, &error);
    assert_non_null(world->api);
    api_call_init(&world->call, world->api);
    call_ok(world, "CreateTable",
            "{\"TableName\":\"tab\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":"
            "[{\"AttributeName\":\"k\",\"AttributeType\":\"S\"}],\"KeySchema\":[{"
            "\"AttributeName\":\"k\",\"KeyType\":\"HASH\"}]}");
}

static void world_close(struct world *world)
{
    api_call_release(&world->call);
    api_close(world->api);
}

enum { BATCH_ITEMS = 25, BATCH_TEXT = 300000 };

// `head` has two places for a number; the long text follows it.
static char *large_entries(const char *open, const char *head, const char *tail, const char *close)
{
    char *body = malloc(BATCH_ITEMS * (BATCH_TEXT + 300) + 300);
    assert_non_null(body);
    char *at = stpcpy(body, open);
    for (int i = 0; i < BATCH_ITEMS; i++) {
        char words[200];
        (void)snprintf(words, sizeof(words), head, i > 0 ? "," : "", i, i);
        at = stpcpy(at, words);
        memset(at, 'x', BATCH_TEXT);
        at = stpcpy(at + BATCH_TEXT, tail);
    }
    (void)stpcpy(at, close);
    return body;
}

static size_t count_text(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        count++;
    return count;
}

static size_t count_items(struct world *world)
{
    size_t count = 0;
    for (int i = 0; i < BATCH_ITEMS; i++) {
        char body[100];
        (void)snprintf(body, sizeof(body),
                       "{\"TableName\":\"tab\",\"Key\":{\"k\":{\"S\":\"big%02d\"}}}", i);
        call_ok(world, "GetItem", body);
        count += strstr(answer(world), "\"Item\"") != NULL;
    }
    return count;
}

static char *large_batch(void)
{
    return large_entries("{\"RequestItems\":{\"tab\":[",
                         "%s{\"PutRequest\":{\"Item\":{\"k\":{\"S\":\"big%02d\"},\"v\":{\"N\":"
                         "\"%d\"},\"t\":{\"S\":\"",
                         "\"}}}}", "]}}");
}

// The answer says what was done, and the rest can be written later.
static void test_batch_half_refused(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    char *body = large_batch();
    disk.refuses_after = 3;
    call_ok(&world, "BatchWriteItem", body);
    size_t undone = count_text(answer(&world), "PutRequest");
    assert_true(undone > 0 && undone < BATCH_ITEMS);
    assert_int_equal(count_items(&world), BATCH_ITEMS - undone);
    disk.refuses = false;
    world.clock.now_ms += 2000; // the store is asked again after a second
    call_ok(&world, "BatchWriteItem", body);
    assert_non_null(strstr(answer(&world), "\"UnprocessedItems\":{}"));
    assert_int_equal(count_items(&world), BATCH_ITEMS);
    free(body);
    world_close(&world);
}

// Nothing was done: that is an error.
static void test_batch_refused(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    char *body = large_batch();
    disk.refuses = true;
    call_run(&world.call, SLICE_LIT("BatchWriteItem"), slice_str(body));
    assert_int_equal(world.call.status, 500);
    assert_int_equal(count_items(&world), 0);
    disk.refuses = false;
    free(body);
    world_close(&world);
}

static void test_statements_half_refused(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    char *body =
        large_entries("{\"Statements\":[",
                      "%s{\"Statement\":\"INSERT INTO tab VALUE {'k':'big%02d','v':%d,'t':?}\","
                      "\"Parameters\":[{\"S\":\"",
                      "\"}]}", "]}");
    disk.refuses_after = 3;
    call_ok(&world, "BatchExecuteStatement", body);
    size_t undone = count_text(answer(&world), "\"Code\":\"InternalServerError\"");
    assert_true(undone > 0 && undone < BATCH_ITEMS);
    assert_int_equal(count_items(&world), BATCH_ITEMS - undone);
    free(body);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch_half_refused),
        cmocka_unit_test(test_batch_refused),
        cmocka_unit_test(test_statements_half_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
