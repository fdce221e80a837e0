// The batch: what it says before it is committed, and that it can be used again.
#include "fixture.h"

#include "store/store_driver.h"

static void expect_word(const struct store_batch *batch, const char *key,
                        enum store_batch_word word, const char *value)
{
    struct slice found = {0};
    assert_int_equal(store_batch_get(batch, slice_str(key), &found), word);
    if (word == BATCH_PUT)
        assert_true(slice_is(found, value));
}

static void test_read_back(void **state)
{
    (void)state;
    struct store_batch *batch = store_batch_new();
    expect_word(batch, "a", BATCH_SILENT, NULL);
    assert_int_equal(store_batch_count(batch), 0);
    store_batch_put(batch, SLICE_LIT("a"), SLICE_LIT("1"));
    struct slice old;
    assert_int_equal(store_batch_get(batch, SLICE_LIT("a"), &old), BATCH_PUT);
    store_batch_put(batch, SLICE_LIT("a"), SLICE_LIT("22"));
    store_batch_put(batch, SLICE_LIT("empty"), SLICE_LIT(""));
    store_batch_delete(batch, SLICE_LIT("b"));
    store_batch_delete_range(batch, SLICE_LIT("a"), SLICE_LIT("z"));
    store_batch_delete_range(batch, SLICE_LIT("z"), SLICE_LIT("a"));
    expect_word(batch, "a", BATCH_PUT, "22");
    expect_word(batch, "empty", BATCH_PUT, "");
    expect_word(batch, "b", BATCH_DELETED, NULL);
    expect_word(batch, "c", BATCH_SILENT, NULL);
    assert_true(slice_is(old, "1"));
    assert_int_equal(store_batch_count(batch), 4);
    assert_int_equal(store_batch_bytes(batch), 1 + 1 + 2 + 5 + 1 + 2);
    store_batch_put(batch, SLICE_LIT("b"), SLICE_LIT("again"));
    expect_word(batch, "b", BATCH_PUT, "again");
    store_batch_delete(batch, SLICE_LIT("a"));
    expect_word(batch, "a", BATCH_DELETED, NULL);

    struct store_batch_view view = store_batch_view(batch);
    assert_int_equal(view.entry_count, 3);
    assert_int_equal(view.range_count, 1);
    assert_true(slice_is(view.entries[0].key, "a") && view.entries[0].deleted);
    assert_true(slice_is(view.entries[2].key, "b") && slice_is(view.entries[2].value, "again"));
    store_batch_free(batch);
}

// A value may be made in the batch, and stand under several keys.
static void test_room_and_shared(void **state)
{
    (void)state;
    struct store_batch *batch = store_batch_new();
    uint8_t *room = store_batch_put_room(batch, SLICE_LIT("a"), 5);
    assert_non_null(room);
    memcpy(room, "value", 5);
    store_batch_put_shared(batch, SLICE_LIT("b"), slice_of(room, 5));
    store_batch_delete(batch, SLICE_LIT("a"));
    expect_word(batch, "a", BATCH_DELETED, NULL);
    expect_word(batch, "b", BATCH_PUT, "value");
    assert_int_equal(store_batch_bytes(batch), 1 + 5 + 1 + 5);
    store_batch_fail(batch);
    assert_null(store_batch_put_room(batch, SLICE_LIT("c"), 5));
    store_batch_free(batch);
}

// A value read from the batch may be written back under another key.
static void test_own_bytes(void **state)
{
    (void)state;
    struct store_batch *batch = store_batch_new();
    struct slice value;
    store_batch_put(batch, SLICE_LIT("a"), SLICE_LIT("value"));
    for (int i = 0; i < 2000; i++) {
        char key[16];
        (void)snprintf(key, sizeof(key), "key%d", i);
        assert_int_equal(store_batch_get(batch, SLICE_LIT("a"), &value), BATCH_PUT);
        store_batch_put(batch, slice_str(key), value);
    }
    expect_word(batch, "key1999", BATCH_PUT, "value");
    store_batch_free(batch);
}

// Rounds of different sizes, so that each way of clearing is taken.
static void test_reuse(void **state)
{
    (void)state;
    static const int sizes[] = {10, 3000, 1, 40000, 5, 0, 200, 7};
    struct store_batch *batch = store_batch_new();
    for (size_t round = 0; round < COUNT_OF(sizes); round++) {
        char key[32];
        for (int i = 0; i < sizes[round]; i++) {
            (void)snprintf(key, sizeof(key), "%zu/%d", round, i);
            store_batch_put(batch, slice_str(key), slice_str(key));
        }
        assert_int_equal(store_batch_count(batch), sizes[round]);
        for (int i = 0; i < sizes[round]; i++) {
            (void)snprintf(key, sizeof(key), "%zu/%d", round, i);
            expect_word(batch, key, BATCH_PUT, key);
            (void)snprintf(key, sizeof(key), "%zu/%d", round + 1, i);
            expect_word(batch, key, BATCH_SILENT, NULL);
        }
        store_batch_clear(batch);
        assert_int_equal(store_batch_count(batch), 0);
        assert_int_equal(store_batch_bytes(batch), 0);
        (void)snprintf(key, sizeof(key), "%zu/0", round);
        expect_word(batch, key, BATCH_SILENT, NULL);
    }
    store_batch_free(batch);
}

// A batch that memory ran out for says so until it is cleared, and what it held can be read.
static void test_failed(void **state)
{
    (void)state;
    struct store_batch *batch = store_batch_new();
    store_batch_put(batch, SLICE_LIT("a"), SLICE_LIT("1"));
    assert_false(store_batch_failed(batch));
    store_batch_fail(batch);
    store_batch_put(batch, SLICE_LIT("b"), SLICE_LIT("2"));
    store_batch_delete(batch, SLICE_LIT("a"));
    assert_true(store_batch_failed(batch));
    expect_word(batch, "a", BATCH_PUT, "1");
    expect_word(batch, "b", BATCH_SILENT, NULL);
    store_batch_clear(batch);
    assert_false(store_batch_failed(batch));
    store_batch_put(batch, SLICE_LIT("b"), SLICE_LIT("2"));
    expect_word(batch, "b", BATCH_PUT, "2");
    store_batch_free(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_back), cmocka_unit_test(test_room_and_shared),
        cmocka_unit_test(test_own_bytes), cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
