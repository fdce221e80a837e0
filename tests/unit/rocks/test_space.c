// What is deleted: reads pass over it in bounded steps, and its space comes back without another
// write.
#include "fixture.h"

enum { KEYS = 20000, VALUE = 1000, SETTLE_MS = 60000 };

static int set_up(void **state)
{
    static char path[256];
    temp_dir_make(path);
    *state = path;
    return 0;
}

static int tear_down(void **state)
{
    temp_dir_remove(*state);
    return 0;
}

// A store with small buffers, so that there are tables on several levels.
static struct store *open_small(const char *path)
{
    struct store_error error;
    struct store_options options = {.path = path,
                                    .durability = STORE_RELAXED,
                                    .cache_bytes = 8 << 20,
                                    .write_buffer_bytes = 6 << 20};
    struct store *store = store_open_rocksdb(&options, &error);
    if (store == NULL)
        fail_msg("%s", error.text);
    return store;
}

static struct slice key_of(char text[16], unsigned number)
{
    (void)snprintf(text, 16, "k%05u", number);
    return slice_str(text);
}

// Puts or deletes every key, in batches, in an order of its own.
static void write_keys(struct store *store, bool put)
{
    uint64_t value[VALUE / sizeof(uint64_t)]; // another each time, so that nothing compresses
    uint64_t seed = 3;
    struct store_batch *batch = store_batch_new();
    for (unsigned i = 0; i < KEYS; i++) {
        char text[16];
        struct slice key = key_of(text, i * 7919 % KEYS);
        for (size_t k = 0; k < COUNT_OF(value); k++)
            value[k] = random_next(&seed);
        if (put)
            store_batch_put(batch, key, slice_of(value, sizeof(value)));
        else
            store_batch_delete(batch, key);
        if (i % 200 == 199)
            commit(store, batch);
    }
    store_batch_free(batch);
}

static uint64_t table_bytes(struct store *store)
{
    struct store_stats stats;
    store_stats(store, &stats);
    return stats.table_bytes;
}

static struct store_cursor *open_all(struct store *store, struct store_snapshot *snapshot)
{
    return store_cursor_open(store, snapshot, slice_of(NULL, 0), slice_of(NULL, 0));
}

// Walks all of the store in one direction. Returns how often the cursor paused on its way.
static size_t count_pauses(struct store *store, bool backwards, size_t keys_expected)
{
    struct store_cursor *cursor = open_all(store, NULL);
    store_cursor_may_pause(cursor);
    size_t keys = 0;
    size_t pauses = 0;
    if (backwards)
        store_cursor_last(cursor);
    else
        store_cursor_first(cursor);
    while (store_cursor_valid(cursor) || store_cursor_paused(cursor)) {
        if (store_cursor_paused(cursor)) {
            assert_false(store_cursor_valid(cursor));
            pauses++;
            store_cursor_resume(cursor);
            continue;
        }
        keys++;
        if (backwards)
            store_cursor_prev(cursor);
        else
            store_cursor_next(cursor);
    }
    struct store_error error;
    assert_true(store_cursor_ok(cursor, &error));
    store_cursor_close(cursor);
    assert_int_equal(keys, keys_expected);
    return pauses;
}

// One that may not pause goes all the way in one move.
static void expect_neighbours(struct store *store)
{
    struct store_cursor *cursor = open_all(store, NULL);
    store_cursor_first(cursor);
    assert_true(slice_equal(store_cursor_key(cursor), SLICE_LIT("a")));
    store_cursor_next(cursor);
    assert_true(slice_equal(store_cursor_key(cursor), SLICE_LIT("z")));
    store_cursor_prev(cursor);
    assert_true(slice_equal(store_cursor_key(cursor), SLICE_LIT("a")));
    store_cursor_close(cursor);
}

// A cursor that may pause does so again and again among deleted keys, and misses nothing; once they
// have been merged away there is nothing to pass over.
static void test_deleted_keys_are_passed_in_steps(void **state)
{
    struct store *store = open_small(*state);
    put_now(store, "a", "first");
    put_now(store, "z", "last");
    write_keys(store, true);
    assert_int_equal(count_pauses(store, false, KEYS + 2), 0);
    write_keys(store, false);
    assert_in_range(count_pauses(store, false, 2), KEYS / 2048, KEYS);
    assert_in_range(count_pauses(store, true, 2), KEYS / 2048, KEYS);
    expect_neighbours(store);
    assert_true(store_reclaim(store, 0));
    assert_true(store_settle(store, SETTLE_MS));
    assert_int_equal(count_pauses(store, false, 2), 0);
    assert_int_equal(count_pauses(store, true, 2), 0);
    assert_in_range(table_bytes(store), 0, KEYS * VALUE / 20);
    store_close(store);
}

static void delete_all_at_once(struct store *store)
{
    struct store_batch *batch = store_batch_new();
    store_batch_delete_range(batch, SLICE_LIT("k"), SLICE_LIT("l"));
    commit(store, batch);
    store_batch_free(batch);
    assert_true(store_reclaim(store, 0));
    assert_true(store_settle(store, SETTLE_MS));
}

// A few deletions are not worth rewriting other data for, unless they free much.
static void test_reclaim_is_worth_it(void **state)
{
    struct store *store = open_small(*state);
    put_now(store, "a", "first");
    struct store_batch *batch = store_batch_new();
    store_batch_delete(batch, SLICE_LIT("a"));
    commit(store, batch);
    store_batch_free(batch);
    assert_false(store_reclaim(store, 1 << 20));
    assert_true(store_reclaim(store, 100 << 20));
    store_close(store);
}

static void test_a_range_gives_its_space_back(void **state)
{
    struct store *store = open_small(*state);
    put_now(store, "a", "first");
    write_keys(store, true);
    assert_true(store_settle(store, SETTLE_MS));
    assert_in_range(table_bytes(store), KEYS * VALUE / 2, KEYS * VALUE * 2);
    delete_all_at_once(store);
    assert_in_range(table_bytes(store), 0, KEYS * VALUE / 20);
    expect(store, NULL, "a", "first");
    store_close(store);
}

// What is discarded is gone from the disk before it is deleted, as far as tables hold nothing else.
static void test_discard(void **state)
{
    struct store *store = open_small(*state);
    write_keys(store, true);
    assert_true(store_settle(store, SETTLE_MS));
    put_now(store, "a", "first");
    put_now(store, "z", "last");
    uint64_t before = table_bytes(store);
    store_discard(store, SLICE_LIT("k"), SLICE_LIT("l"));
    assert_in_range(table_bytes(store), 0, before - 1);
    delete_all_at_once(store);
    assert_in_range(table_bytes(store), 0, KEYS * VALUE / 20);
    assert_int_equal(count_pauses(store, false, 2), 0);
    store_close(store);
    store = open_small(*state);
    expect(store, NULL, "a", "first");
    expect(store, NULL, "z", "last");
    expect(store, NULL, "k00001", NULL);
    store_close(store);
}

// A snapshot keeps all it sees.
static void test_a_snapshot_keeps_its_keys(void **state)
{
    struct store *store = open_small(*state);
    write_keys(store, true);
    struct store_snapshot *snapshot = store_snapshot_take(store);
    store_discard(store, SLICE_LIT("k"), SLICE_LIT("l"));
    delete_all_at_once(store);
    struct store_cursor *cursor = open_all(store, snapshot);
    size_t keys = 0;
    for (store_cursor_first(cursor); store_cursor_valid(cursor); store_cursor_next(cursor))
        keys++;
    store_cursor_close(cursor);
    assert_int_equal(keys, KEYS);
    store_snapshot_release(store, snapshot);
    expect(store, NULL, "k00001", NULL);
    store_close(store);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_deleted_keys_are_passed_in_steps), TEST(test_reclaim_is_worth_it),
        TEST(test_a_range_gives_its_space_back),     TEST(test_discard),
        TEST(test_a_snapshot_keeps_its_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
