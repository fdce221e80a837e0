// Many keys of a driver that reads one after another: if one of them fails, nothing is held.
#include "store/fixture.h"

#include "store/store_driver.h"

static struct {
    const struct store_driver *driver; // that of the store in memory
    struct store_driver faulty;
    int left; // gets until one fails
    int held; // values
} disk;

static enum store_result faulty_get(struct store *store, struct store_snapshot *snapshot,
                                    struct slice key, struct store_value *out,
                                    struct store_error *error)
{
    if (disk.left-- == 0) {
        (void)store_fail(error, "reading failed");
        return STORE_FAILED;
    }
    enum store_result result = disk.driver->get(store, snapshot, key, out, error);
    disk.held += result == STORE_FOUND;
    return result;
}

static void faulty_release(struct store *store, struct store_value *value)
{
    disk.held--;
    disk.driver->value_release(store, value);
}

static void test_failure(void **state)
{
    (void)state;
    struct store_error error = {0};
    struct store *store = store_open_memory(&error);
    put_now(store, "a", "1");
    put_now(store, "c", "3");
    disk.driver = store->driver;
    disk.faulty = *store->driver;
    disk.faulty.get = faulty_get;
    disk.faulty.get_many = NULL;
    disk.faulty.value_release = faulty_release;
    store->driver = &disk.faulty;
    struct store_read reads[3] = {
        {.key = SLICE_LIT("a")}, {.key = SLICE_LIT("b")}, {.key = SLICE_LIT("c")}};
    for (int fails = 0; fails < 3; fails++) {
        disk.left = fails;
        assert_false(store_get_many(store, NULL, reads, COUNT_OF(reads), &error));
        assert_string_equal(error.text, "reading failed");
        assert_int_equal(disk.held, 0);
    }
    disk.left = 3;
    assert_true(store_get_many(store, NULL, reads, COUNT_OF(reads), &error));
    assert_true(reads[0].found && !reads[1].found && slice_is(reads[2].value.bytes, "3"));
    for (size_t i = 0; i < COUNT_OF(reads); i++)
        store_value_release(store, &reads[i].value);
    assert_int_equal(disk.held, 0);
    store->driver = disk.driver;
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_failure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
