// Of a store behind a network the writer reads what a group is going to need in one call. A store
// in memory plays the part, and counts.
#include "support.h"

#include "store/store_driver.h"

static struct {
    const struct store_driver *driver;
    struct store_driver far;
    unsigned gets;
    unsigned calls; // for many
    size_t keys;
    bool fails;
} net;

static enum store_result far_get(struct store *store, struct store_snapshot *snapshot,
                                 struct slice key, struct store_value *out,
                                 struct store_error *error)
{
    net.gets++;
    return net.driver->get(store, snapshot, key, out, error);
}

static bool far_get_many(struct store *store, struct store_snapshot *snapshot,
                         struct store_read *reads, size_t count, struct store_error *error)
{
    net.calls++;
    net.keys += count;
    if (net.fails)
        return store_fail(error, "the network is down");
    return net.driver->get_many(store, snapshot, reads, count, error);
}

// Puts three items, and says how many of them were there before.
static unsigned put_three(struct world *world)
{
    struct table *table = engine_table(world->engine, SLICE_LIT("music"));
    struct write_action actions[3];
    static const char *const keys[] = {"pk=a", "pk=b", "pk=c"};
    for (size_t i = 0; i < 3; i++)
        actions[i] = (struct write_action){.kind = WRITE_PUT,
                                           .flags = WRITE_OLD,
                                           .table = table,
                                           .item = item_of(world, keys[i], "sk=1", NULL)};
    struct write_job job;
    error_init(&world->error, &world->arena);
    write_job_init(&job, world->engine, &world->arena, &world->error);
    job.count = 3;
    job.actions = actions;
    job.transaction = true;
    net.gets = net.calls = 0;
    net.keys = 0;
    assert_true(engine_run(world->engine, &job.job));
    unsigned old = 0;
    for (size_t i = 0; i < 3; i++)
        old += actions[i].out.old_item.len > 0;
    write_job_release(&job);
    table_release(table);
    return old;
}

static void test_group(void **state)
{
    (void)state;
    struct store_error cause;
    struct world world = {.clock = {.now_ms = 1700000000000, .seed = 7}};
    world.store = store_open_memory(&cause);
    net.driver = world.store->driver;
    net.far = *net.driver;
    net.far.remote = true;
    net.far.get = far_get;
    net.far.get_many = far_get_many;
    world.store->driver = &net.far;
    world.engine = engine_open(world.store, env_fixed(&world.clock), NULL, &cause);
    arena_init(&world.arena, LIMIT_REQUEST_MEMORY);
    create_table(&world, "music", false, false);
    assert_int_equal(put_three(&world), 0);
    assert_true(net.calls == 1 && net.keys == 3 && net.gets == 0);
    assert_int_equal(put_three(&world), 3);
    assert_true(net.calls == 1 && net.gets == 0);
    // What was read is forgotten with its group.
    assert_true(delete_item(&world, "music", item_of(&world, "pk=b", "sk=1", NULL)));
    assert_int_equal(put_three(&world), 2);
    // Without it each reads for itself.
    net.fails = true;
    assert_int_equal(put_three(&world), 3);
    assert_true(net.calls == 1 && net.gets == 3);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_group)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
