// A table as it was: random writes with the clock going on, a recorded map of what was there at
// chosen instants, and the history at each of them.
#include "engine/history.h"

#include "engine/log.h"
#include "support.h"

enum { KEYS = 40, WRITES = 1500, INSTANTS = 50 };

static bool alter_images(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    (void)context;
    (void)error;
    *next = table_clone(current);
    assert_non_null(*next);
    (*next)->log_images = LOG_KEYS | LOG_OLD;
    return true;
}

// What is under each key: 0 for nothing, else the number in the item.
struct instant {
    int64_t at_ms;
    int values[KEYS];
};

static struct slice item_for(struct world *world, int key, int value)
{
    char pk[16];
    char sk[16];
    char v[16];
    (void)snprintf(pk, sizeof(pk), "pk=%d", key / 5);
    (void)snprintf(sk, sizeof(sk), "sk=%d", key % 5);
    (void)snprintf(v, sizeof(v), "v=#%d", value);
    return value == 0 ? item_of(world, pk, sk, NULL) : item_of(world, pk, sk, v, NULL);
}

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % below;
}

static struct table *table_of(struct world *world)
{
    struct table *table = engine_table(world->engine, SLICE_LIT("music"));
    assert_non_null(table);
    return table;
}

static int number_in(struct world *world, struct slice item, const char *name)
{
    struct slice text = value_bytes(value_get(item, slice_str(name)));
    return (int)strtol((const char *)arena_copy(&world->arena, text).ptr, NULL, 10);
}

// Every item of the history is what was recorded, and nothing is missing, and they are in order.
static void compare_within(struct world *world, int64_t at_ms, const int *values, size_t bytes)
{
    struct table *table = table_of(world);
    struct history_limits limits = {.bytes = bytes};
    struct history *history = history_open(world->engine, table, at_ms, &limits, &world->error);
    assert_non_null(history);
    size_t expected = 0;
    size_t found = 0;
    for (int key = 0; key < KEYS; key++)
        expected += values[key] != 0;
    struct slice item;
    struct slice before = {NULL, 0};
    while (history_next(history, &item)) {
        int pk = number_in(world, item, "pk");
        int sk = number_in(world, item, "sk");
        int key = pk * 5 + sk;
        assert_in_range(key, 0, KEYS - 1);
        assert_int_not_equal(values[key], 0);
        assert_true(slice_equal(item, item_for(world, key, values[key])));
        struct slice here = tree_key(world, table, item);
        assert_true(before.len == 0 || slice_compare(before, here) < 0);
        before = here;
        found++;
    }
    assert_true(history_ok(history, &world->error));
    history_close(history);
    table_release(table);
    assert_int_equal(found, expected);
}

// However little memory there is, down to one note at a time.
static void compare(struct world *world, int64_t at_ms, const int *values)
{
    compare_within(world, at_ms, values, 0);
    compare_within(world, at_ms, values, 500);
    compare_within(world, at_ms, values, 1);
}

static void write_random(struct world *world, uint64_t *seed, int *values, int number)
{
    int key = (int)draw(seed, KEYS);
    if (draw(seed, 3) == 0) {
        assert_true(delete_item(world, "music", item_for(world, key, 0)));
        values[key] = 0;
    } else {
        assert_true(put_item(world, "music", item_for(world, key, number)));
        values[key] = number;
    }
}

static void test_random_instants(void **state)
{
    (void)state;
    static struct instant instants[INSTANTS];
    struct world world;
    uint64_t seed = 20260101;
    int values[KEYS] = {0};
    size_t count = 0;
    world_open(&world);
    create_table(&world, "music", true, true);
    // Some items are older than the log.
    for (int i = 0; i < 20; i++)
        write_random(&world, &seed, values, 10000 + i);
    assert_true(change_table(&world, "music", alter_images, NULL));
    for (int i = 1; i <= WRITES; i++) {
        // Several writes may happen in one millisecond.
        bool later = draw(&seed, 4) == 0;
        if (later && draw(&seed, 6) == 0 && count < INSTANTS) {
            instants[count].at_ms = world.clock.now_ms;
            memcpy(instants[count++].values, values, sizeof(values));
        }
        world.clock.now_ms += later ? (int64_t)draw(&seed, 5) + 1 : 0;
        write_random(&world, &seed, values, i);
    }
    assert_true(count > 20);
    compare(&world, HISTORY_NOW, values);
    compare(&world, world.clock.now_ms, values);
    for (size_t i = 0; i < count; i++)
        compare(&world, instants[i].at_ms, instants[i].values);
    world_close(&world);
}

// A history does not see what is written while it is read.
static void test_is_one_snapshot(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    create_table(&world, "music", false, false);
    assert_true(change_table(&world, "music", alter_images, NULL));
    for (int key = 0; key < KEYS; key++)
        assert_true(put_item(&world, "music", item_for(&world, key, 1)));
    struct table *table = table_of(&world);
    int64_t then = world.clock.now_ms;
    struct history *now = history_open(world.engine, table, HISTORY_NOW, NULL, &world.error);
    struct history *past = history_open(world.engine, table, then, NULL, &world.error);
    assert_non_null(now);
    assert_non_null(past);
    assert_int_equal(history_sequence(now), KEYS);
    world.clock.now_ms++;
    for (int key = 0; key < KEYS; key++)
        assert_true(delete_item(&world, "music", item_for(&world, key, 0)));
    size_t items[2] = {0, 0};
    struct slice item;
    while (history_next(now, &item))
        items[0]++;
    while (history_next(past, &item))
        items[1]++;
    assert_true(history_ok(now, &world.error) && history_ok(past, &world.error));
    assert_int_equal(items[0], KEYS);
    assert_int_equal(items[1], KEYS);
    history_close(now);
    history_close(past);
    table_release(table);
    // Before anything was written there was nothing.
    int nothing[KEYS] = {0};
    compare(&world, then - 1, nothing);
    compare(&world, HISTORY_NOW, nothing);
    world_close(&world);
}

// A clock that steps back changes nothing: what was written before it stays before what was written
// after it, and the newest instant has everything.
static void test_clock_steps_back(void **state)
{
    (void)state;
    struct world world;
    struct instant before;
    int values[KEYS] = {0};
    uint64_t seed = 7;
    world_open(&world);
    create_table(&world, "music", false, false);
    assert_true(change_table(&world, "music", alter_images, NULL));
    for (int i = 1; i <= 100; i++)
        write_random(&world, &seed, values, i);
    before.at_ms = engine_log_time(world.engine);
    memcpy(before.values, values, sizeof(values));
    world.clock.now_ms += 1000;
    for (int i = 101; i <= 200; i++)
        write_random(&world, &seed, values, i);
    int64_t latest = engine_log_time(world.engine);
    world.clock.now_ms -= 3600 * 1000;
    assert_int_equal(engine_log_time(world.engine), latest);
    for (int i = 201; i <= 300; i++)
        write_random(&world, &seed, values, i);
    assert_int_equal(engine_log_time(world.engine), latest);
    compare(&world, engine_log_time(world.engine), values);
    compare(&world, before.at_ms, before.values);
    world_close(&world);
}

static bool stops(void *context)
{
    return *(const bool *)context;
}

static void test_stops(void **state)
{
    (void)state;
    struct world world;
    struct slice item;
    bool stop = true;
    world_open(&world);
    create_table(&world, "music", false, false);
    assert_true(change_table(&world, "music", alter_images, NULL));
    assert_true(put_item(&world, "music", item_for(&world, 1, 1)));
    struct history_limits limits = {.stops = stops, .context = &stop};
    struct table *table = table_of(&world);
    struct history *history =
        history_open(world.engine, table, world.clock.now_ms - 1, &limits, &world.error);
    assert_non_null(history);
    assert_false(history_next(history, &item));
    assert_false(history_ok(history, &world.error));
    assert_int_equal(world.error.code, ERR_UNAVAILABLE);
    history_close(history);
    table_release(table);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock_steps_back),
        cmocka_unit_test(test_stops),
        cmocka_unit_test(test_random_instants),
        cmocka_unit_test(test_is_one_snapshot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
