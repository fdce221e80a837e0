// Orders of a store behind a network: those of a turn are read in one call, each gets what is at
// its key, a failure reaches all of them. A store in memory plays the part.
#include "support.h"

#include "engine/layout.h"
#include "store/store_driver.h"

#include <stdatomic.h>
#include <unistd.h>

static struct {
    const struct store_driver *driver;
    struct store_driver far;
    atomic_uint calls;
    atomic_size_t keys;
    atomic_bool fails;
    atomic_bool leaves; // all but the first
    atomic_uint slow_us;
} net;

static bool far_get_many(struct store *store, struct store_snapshot *snapshot,
                         struct store_read *reads, size_t *count, size_t bytes,
                         struct store_error *error)
{
    net.calls++;
    net.keys += *count;
    (void)usleep(net.slow_us);
    if (net.fails)
        return store_fail(error, "the network is down");
    if (net.leaves)
        *count = 1;
    return net.driver->get_many(store, snapshot, reads, count, bytes, error);
}

enum { ORDERS = 600 };

struct kept {
    struct read_order order; // first
    struct arena arena;
    struct error error;
    struct buf key;
};

static atomic_size_t told;

static void on_done(struct read_order *order)
{
    (void)order;
    told++;
}

static void order(struct world *world, struct kept *kept, const char *pk)
{
    struct table *table = engine_table(world->engine, SLICE_LIT("music"));
    arena_init(&kept->arena, 1 << 16);
    error_init(&kept->error, &kept->arena);
    buf_init(&kept->key, 1 << 12);
    layout_item_key(&kept->key, table->tree, &table->keys, item_of(world, pk, "sk=1", NULL));
    table_release(table);
    kept->order =
        (struct read_order){.key = buf_view(&kept->key), .error = &kept->error, .done = on_done};
    assert_true(engine_order(world->engine, &kept->order));
}

static void await(size_t count)
{
    while (told < count)
        (void)usleep(100);
    told = 0;
}

static void drop(struct world *world, struct kept *kept)
{
    item_read_release(world->engine, &kept->order.read);
    arena_release(&kept->arena);
    buf_release(&kept->key);
}

static void put(struct world *world, const char *pk)
{
    struct table *table = engine_table(world->engine, SLICE_LIT("music"));
    struct write_action action = {
        .kind = WRITE_PUT, .table = table, .item = item_of(world, pk, "sk=1", NULL)};
    struct write_job job;
    error_init(&world->error, &world->arena);
    write_job_init(&job, world->engine, &world->arena, &world->error);
    job.count = 1;
    job.actions = &action;
    assert_true(engine_run(world->engine, &job.job));
    write_job_release(&job);
    table_release(table);
}

static void test_turns(void **state)
{
    (void)state;
    struct store_error cause;
    struct world world = {.clock = {.now_ms = 1700000000000, .seed = 7}};
    world.store = store_open_memory(&cause);
    net.driver = world.store->driver;
    net.far = *net.driver;
    net.far.remote = true;
    net.far.get_many = far_get_many;
    world.store->driver = &net.far;
    world.engine = engine_open(world.store, env_fixed(&world.clock), NULL, &cause);
    arena_init(&world.arena, LIMIT_REQUEST_MEMORY);
    assert_true(engine_gathers(world.engine));
    create_table(&world, "music", false, false);
    put(&world, "pk=a");
    put(&world, "pk=b");
    static struct kept kept[ORDERS];
    static const char *const keys[] = {"pk=a", "pk=no", "pk=b"};
    // This thread does not take turns yet: an order is read at once.
    net.calls = 0;
    order(&world, &kept[0], "pk=a");
    await(1);
    assert_true(net.calls == 1 && kept[0].order.read.item.len > 0);
    drop(&world, &kept[0]);
    engine_turn_ended(world.engine);
    for (int round = 0; round < 3; round++) {
        net.calls = 0;
        net.keys = 0;
        net.slow_us = round == 1 ? 5000 : 0;
        net.leaves = round == 2;
        for (size_t i = 0; i < 3; i++)
            order(&world, &kept[i], keys[i]);
        engine_turn_ended(world.engine);
        await(3);
        assert_int_equal(net.calls, round == 2 ? 3 : 1);
        for (size_t i = 0; i < 3; i++) {
            assert_false(kept[i].order.failed);
            assert_int_equal(kept[i].order.read.item.len > 0, i != 1);
            if (i != 1)
                assert_true(
                    slice_equal(kept[i].order.read.item, item_of(&world, keys[i], "sk=1", NULL)));
            drop(&world, &kept[i]);
        }
    }
    net.leaves = false;
    net.fails = true;
    for (size_t i = 0; i < ORDERS; i++)
        order(&world, &kept[i], keys[i % 3]);
    engine_turn_ended(world.engine);
    await(ORDERS);
    for (size_t i = 0; i < ORDERS; i++) {
        assert_true(kept[i].order.failed);
        assert_int_equal(kept[i].error.code, ERR_INTERNAL);
        drop(&world, &kept[i]);
    }
    net.fails = false;
    for (size_t i = 0; i < ORDERS; i++)
        order(&world, &kept[i], keys[i % 3]);
    engine_turn_ended(world.engine);
    await(ORDERS);
    for (size_t i = 0; i < ORDERS; i++) {
        assert_int_equal(kept[i].order.read.item.len > 0, i % 3 != 1);
        drop(&world, &kept[i]);
    }
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_turns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
