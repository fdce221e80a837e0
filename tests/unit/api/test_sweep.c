// Sweeps with little memory: groups in many passes, many small bunches, groups too large for what
// is asked of a transaction; what diff counts is what goes.
#include "calls.h"

#include "retain/retain.h"

#include <stdio.h>
#include <stdlib.h>

enum { ITEMS = 600, GROUPS = 60 };

struct world {
    struct env_fixed clock;
    struct api *api;
    struct api_call call;
};

static void call_ok(struct world *world, const char *operation, const char *body)
{
    char quoted[4096];
    size_t len = strlen(body);
    assert_true(len < sizeof(quoted));
    for (size_t i = 0; i <= len; i++)
        quoted[i] = body[i] == '\'' ? '"' : body[i];
    call_run(&world->call, slice_str(operation), slice_str(quoted));
    if (world->call.status != 200)
        print_error("%s %s: %.*s\n", operation, body, SLICE_FMT(buf_view(&world->call.response)));
    assert_int_equal(world->call.status, 200);
    buf_byte(&world->call.response, 0);
}

static const char *answer(const struct world *world)
{
    return (const char *)world->call.response.ptr;
}

#define MODEL                                                                                      \
    "table tab { key PK, SK  type kind }\\nentity Version { PK = \\'A#{asset}\\'  SK = "           \
    "\\'V#{id}\\'  asset string  id string  version "                                              \
    "integer  at epoch?  batch string = \\'one\\' }\\n"

static void apply(struct world *world, const char *rule)
{
    char body[2048];
    (void)snprintf(body, sizeof(body), "{'Model':'" MODEL "%s\\n','RemoveItems':true}", rule);
    call_ok(world, "ApplyModel", body);
}

static void world_open(struct world *world, size_t memory, size_t bunch)
{
    struct store_error error;
    world->clock = (struct env_fixed){.now_ms = 1700000000000, .seed = 1};
    struct api_options options = {.store = store_open_memory(&error),
                                  .env = env_fixed(&world->clock)};
    world->api = api_open(&options, &error);
    assert_non_null(world->api);
    retain_set(&world->api->shop,
               &(struct retain_settings){
                   .rate = 1000000, .every_ms = 3600000, .memory = memory, .bunch = bunch});
    api_call_init(&world->call, world->api);
    apply(world, "");
    for (int i = 0; i < ITEMS; i++) {
        char body[300];
        (void)snprintf(body, sizeof(body),
                       "{'TableName':'tab','Item':{'kind':{'S':'Version'},'asset':{'S':'%d'},"
                       "'id':{'S':'%04d'},'version':{'N':'%d'},'at':{'N':'%d'}}}",
                       i % GROUPS, i, i / GROUPS, 1699999000 + i);
        call_ok(world, "PutItem", body);
    }
}

static void world_close(struct world *world)
{
    api_call_release(&world->call);
    api_close(world->api);
}

static int count(struct world *world)
{
    call_ok(world, "Scan", "{'TableName':'tab','Select':'COUNT'}");
    const char *at = strstr(answer(world), "\"Count\":");
    assert_non_null(at);
    return (int)strtol(at + 8, NULL, 10);
}

static void check_diff(struct world *world, const char *rule, int due)
{
    char body[2048];
    char wanted[64];
    (void)snprintf(body, sizeof(body), "{'Model':'" MODEL "%s\\n'}", rule);
    call_ok(world, "DiffModel", body);
    (void)snprintf(wanted, sizeof(wanted), "\"Items\":%d,\"Due\":%d,", ITEMS, due);
    if (strstr(answer(world), wanted) == NULL)
        print_error("%s: %s\n", wanted, answer(world));
    assert_non_null(strstr(answer(world), wanted));
}

// 60 groups of ten.
static void test_passes(void **state)
{
    static const struct {
        size_t memory;
        size_t bunch;
    } cases[] = {{0, 0}, {0, 7}, {20000, 0}, {6000, 50}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct world world;
        const char *rule = "keep Version latest 4 by version per asset then delete";
        world_open(&world, cases[i].memory, cases[i].bunch);
        check_diff(&world, rule, ITEMS - 4 * GROUPS);
        apply(&world, rule);
        work_wait(&world.api->shop);
        assert_int_equal(count(&world), 4 * GROUPS);
        for (int group = 0; group < GROUPS; group++) {
            char body[200];
            (void)snprintf(body, sizeof(body),
                           "{'TableName':'tab','KeyConditionExpression':'PK = :p',"
                           "'ExpressionAttributeValues':{':p':{'S':'A#%d'}}}",
                           group);
            call_ok(&world, "Query", body);
            for (int version = 0; version < 10; version++) {
                char wanted[64];
                (void)snprintf(wanted, sizeof(wanted), "\"version\":{\"N\":\"%d\"}", version);
                assert_int_equal(strstr(answer(&world), wanted) != NULL, version >= 6);
            }
        }
        world_close(&world);
    }
}

// More witnesses than a transaction takes.
static void test_large_group(void **state)
{
    struct world world;
    (void)state;
    world_open(&world, 0, 0);
    apply(&world, "keep Version latest 250 by id per batch then delete");
    work_wait(&world.api->shop);
    assert_int_equal(count(&world), 250);
    world_close(&world);
}

static void test_bunches(void **state)
{
    struct world world;
    const char *rule = "retain Version for 10m after at then delete";
    (void)state;
    world_open(&world, 0, 16);
    check_diff(&world, rule, 401);
    apply(&world, rule);
    work_wait(&world.api->shop);
    assert_int_equal(count(&world), ITEMS - 401);
    world.clock.now_ms += 100000;
    call_ok(&world, "SweepTable", "{'TableName':'tab'}");
    work_wait(&world.api->shop);
    assert_int_equal(count(&world), ITEMS - 501);
    world_close(&world);
}

// A delete of a sweep does nothing once the table has another model.
static void test_other_model(void **state)
{
    struct world world;
    struct arena arena;
    struct error error;
    (void)state;
    world_open(&world, 0, 0);
    arena_init(&arena, 1 << 20);
    error_init(&error, &arena);
    for (unsigned same = 0; same < 2; same++) {
        struct table *table = engine_table(world.api->shop.engine, SLICE_LIT("tab"));
        assert_non_null(table);
        struct value_maker maker;
        map_begin(&maker);
        map_put_text(&maker, "PK", SLICE_LIT("A#1"));
        map_put_text(&maker, "SK", SLICE_LIT("V#0001"));
        struct write_action action = {.kind = WRITE_DELETE,
                                      .flags = WRITE_SWEPT,
                                      .table = table,
                                      .item = map_end(&maker, &arena, &error)};
        struct item_edit edit = {.arena = &arena, .count = 1, .actions = &action, .each = true};
        if (!same)
            apply(&world, "// another");
        assert_true(work_edit_items(&world.api->shop, &edit, &error));
        assert_int_equal(action.out.failure, ERR_NONE);
        assert_int_equal(action.out.changed, same);
        assert_int_equal(count(&world), same ? ITEMS - 1 : ITEMS);
        table_release(table);
    }
    arena_release(&arena);
    world_close(&world);
}

// In memory there is nowhere to put an archive.
static void test_nowhere(void **state)
{
    struct world world;
    (void)state;
    world_open(&world, 0, 0);
    apply(&world, "retain Version for 10m after at then archive");
    work_wait(&world.api->shop);
    assert_int_equal(count(&world), ITEMS);
    call_ok(&world, "DescribeModel", "{'TableName':'tab'}");
    assert_non_null(strstr(answer(&world), "\"Status\":\"FAILED\""));
    assert_non_null(strstr(answer(&world), "--archive DIR"));
    world_close(&world);
}

// A walk whose end could not be written is begun again: its record says that it is under way, and
// nobody would begin another.
static void test_picked_up(void **state)
{
    struct world world;
    struct arena arena;
    struct error error;
    struct retain_record record;
    (void)state;
    world_open(&world, 0, 0);
    struct workshop *shop = &world.api->shop;
    apply(&world, "retain Version for 10m after at then delete");
    retain_care(shop);
    work_wait(shop);
    arena_init(&arena, 1 << 20);
    error_init(&error, &arena);
    struct table *table = engine_table(shop->engine, SLICE_LIT("tab"));
    assert_true(retain_record_read(shop->engine, table, "retain-Version", &arena, &record, &error));
    assert_int_equal(record.status, RETAIN_RESTS);
    int64_t walks = record.walks;
    record.status = RETAIN_RUNS;
    record.answered = ++record.asked;
    struct record_write write = {SLICE_LIT("retain/tab/retain-Version"),
                                 map_encode(&retain_form, &record, &arena, &error)};
    assert_true(
        work_edit_records(shop, &(struct record_edit){.count = 1, .writes = &write}, &error));
    retain_care(shop);
    work_wait(shop);
    assert_true(retain_record_read(shop->engine, table, "retain-Version", &arena, &record, &error));
    assert_int_equal(record.status, RETAIN_RESTS);
    assert_int_equal(record.done, record.asked);
    assert_int_equal(record.walks, walks + 1);
    table_release(table);
    arena_release(&arena);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes),  cmocka_unit_test(test_large_group),
        cmocka_unit_test(test_bunches), cmocka_unit_test(test_other_model),
        cmocka_unit_test(test_nowhere), cmocka_unit_test(test_picked_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
