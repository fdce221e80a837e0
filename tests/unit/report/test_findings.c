// One report: what counts as one finding, its bounds, and two that become one.
#include "guard/guard_support.h"

#include "report/report.h"

static const char source[] = "table shop { key PK, SK  type Kind  guard warn }\n"
                             "entity User {\n"
                             "  PK = \"U#{id}\"  SK = \"U\"\n"
                             "  id string  plan \"a\" | \"b\"\n"
                             "  lines { sku: string  count: integer }[]?\n"
                             "  limits Record<string, number>?\n"
                             "  mixed string | { x: number[] }?\n"
                             "}\n";

struct world {
    struct fixture fixture;
    const struct model_table *model;
    struct table *table;
    struct report *report;
};

static struct world world_new(const char *uuid)
{
    struct world world;
    fixture_init(&world.fixture, source);
    world.model = &world.fixture.model->tables[0];
    world.table = table_new();
    assert_non_null(world.table);
    world.table->name = SLICE_LIT("shop");
    world.table->uuid = slice_str(uuid);
    world.table->model = SLICE_LIT("model/text/1");
    world.table->keys = world.model->keys;
    world.report = report_new(world.table, 1000);
    return world;
}

static void world_release(struct world *world)
{
    report_free(world->report);
    table_release(world->table);
    fixture_release(&world->fixture);
}

// A write of which one thing is wrong.
static void note(struct world *world, const char *pointer, const char *actual, int64_t now_ms)
{
    struct model_violation one = {.pointer = slice_str(pointer),
                                  .expected = SLICE_LIT("something else"),
                                  .actual = slice_str(actual)};
    struct model_violations what = {.entity = SLICE_LIT("User"), .count = 1, .list = &one};
    struct model_warned warned = {.what = &what};
    struct slice item = item_of(&world->fixture.arena, "{\"PK\":\"U#1\",\"SK\":\"U\"}");
    report_add(world->report, world->table, world->model, item, &warned, now_ms);
}

static void test_places(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"/plan", "/plan"},
        {"/lines/3/sku", "/lines/*/sku"},
        {"/lines/12", "/lines/*"},
        {"/limits/any~1thing", "/limits/*"},
        {"/mixed/x/7", "/mixed/x/*"},
        {"/unknown/3/a", "/unknown/3/a"},
        {"", ""},
    };
    struct world world = world_new("1");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        note(&world, rows[i][0], "x", 1);
        assert_int_equal(world.report->count, i + 1);
        assert_true(slice_is(world.report->list[i].path, rows[i][1]));
    }
    note(&world, "/lines/99/sku", "x", 1);
    assert_int_equal(world.report->list[1].count, 2);
    world_release(&world);
}

static void test_samples(void **state)
{
    (void)state;
    struct world world = world_new("1");
    for (int i = 0; i < 30; i++) {
        char text[16];
        (void)snprintf(text, sizeof(text), "\"v%d\"", i % 12);
        note(&world, "/plan", text, 1000 + i);
    }
    const struct report_finding *plan = &world.report->list[0];
    assert_int_equal(world.report->count, 1);
    assert_int_equal(plan->count, 30);
    assert_int_equal(plan->sample_count, REPORT_SAMPLES);
    assert_int_equal(plan->first_ms, 1000);
    assert_int_equal(plan->last_ms, 1029);
    assert_true(slice_is(plan->samples[7].text, "\"v7\""));
    assert_int_equal(world.report->writes, 30);
    assert_int_equal(world.report->refused, 30);
    world_release(&world);
}

// However many places there are, and however large texts are, a report stays small.
static void test_bounds(void **state)
{
    (void)state;
    static char large[5000];
    struct world world = world_new("1");
    memset(large, 'x', sizeof(large) - 1);
    for (int i = 0; i < 1000; i++) {
        char pointer[32];
        (void)snprintf(pointer, sizeof(pointer), "/a%d", i);
        note(&world, pointer, large, 1);
    }
    int64_t counted = world.report->others;
    for (size_t i = 0; i < world.report->count; i++)
        counted += world.report->list[i].count;
    assert_int_equal(counted, 1000);
    assert_true(world.report->count <= REPORT_FINDINGS);
    assert_true(world.report->arena.used <= REPORT_BYTES);
    world_release(&world);
}

static void test_unmatched(void **state)
{
    (void)state;
    struct world world = world_new("1");
    struct model_violation one = {.expected = SLICE_LIT("an item of one entity")};
    struct model_violations what = {.count = 1, .list = &one};
    for (int i = 0; i < 40; i++) {
        char text[64];
        (void)snprintf(text, sizeof(text), "{\"PK\":\"I#%d\",\"SK\":\"I\",\"a%d\":\"x\"}", i,
                       i % 4);
        struct slice item = item_of(&world.fixture.arena, text);
        struct model_warned warned = {.what = &what, .passes = true, .item = item};
        report_add(world.report, world.table, world.model, item, &warned, 1);
    }
    assert_int_equal(world.report->unmatched, 40);
    assert_int_equal(world.report->refused, 0);
    assert_int_equal(world.report->count, 0);
    assert_int_equal(world.report->item_count, REPORT_ITEMS); // six of each of the four kinds
    world_release(&world);
}

static void test_merge(void **state)
{
    (void)state;
    struct world one = world_new("1");
    struct world two = world_new("1");
    struct world other = world_new("2");
    note(&one, "/plan", "x", 50);
    note(&one, "/plan", "y", 60);
    note(&two, "/plan", "y", 10);
    note(&two, "/id", "z", 20);
    note(&other, "/plan", "w", 5);
    two.report->since_ms = 7;
    report_merge(one.report, two.report);
    report_merge(one.report, other.report); // of another table
    assert_int_equal(one.report->count, 2);
    assert_int_equal(one.report->writes, 4);
    assert_int_equal(one.report->since_ms, 7);
    assert_int_equal(one.report->list[0].count, 3);
    assert_int_equal(one.report->list[0].first_ms, 10);
    assert_int_equal(one.report->list[0].last_ms, 60);
    assert_int_equal(one.report->list[0].sample_count, 2);
    world_release(&one);
    world_release(&two);
    world_release(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places), cmocka_unit_test(test_samples),
        cmocka_unit_test(test_bounds), cmocka_unit_test(test_unmatched),
        cmocka_unit_test(test_merge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
