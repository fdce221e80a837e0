// Reads on a thread that must not wait for the disk: what is in memory is found, what is not is
// "cold", and a thread that may wait finds it.
//
// This executable has its own preadv2, in front of the C library's, so that it decides what the
// kernel has in memory.
#include "fixture.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/uio.h>

enum pages { PAGES_THERE, PAGES_ABSENT, PAGES_HALF, PAGES_UNKNOWN };
static atomic_int pages;
static atomic_int nowait_calls;

ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    assert_int_equal(flags, RWF_NOWAIT);
    assert_int_equal(count, 1);
    atomic_fetch_add(&nowait_calls, 1);
    switch (atomic_load(&pages)) {
    case PAGES_ABSENT:
        errno = EAGAIN;
        return -1;
    case PAGES_UNKNOWN:
        errno = EOPNOTSUPP;
        return -1;
    case PAGES_HALF: // the first half of a read, and nothing behind it
        atomic_store(&pages, PAGES_ABSENT);
        return pread(fd, parts[0].iov_base, parts[0].iov_len / 2, offset);
    default:
        return pread(fd, parts[0].iov_base, parts[0].iov_len, offset);
    }
}

// A store whose items are in tables, and hardly any of them in its cache: opening it reads the
// first block.
static struct store *open_unread(const char *path)
{
    struct store *store = open_rocksdb(path, STORE_FULL);
    struct store_batch *batch = store_batch_new();
    char value[512];
    memset(value, 'v', sizeof(value));
    for (int i = 0; i < 100; i++) {
        char key[16];
        (void)snprintf(key, sizeof(key), "key%03d", i);
        store_batch_put(batch, slice_str(key), slice_of(value, sizeof(value)));
    }
    commit(store, batch);
    store_batch_free(batch);
    store_close(store);
    return open_rocksdb(path, STORE_FULL);
}

static enum store_result look(struct store *store, const char *key, struct store_error *error)
{
    struct store_value value;
    enum store_result result = store_get(store, NULL, slice_str(key), &value, error);
    if (result == STORE_FOUND)
        store_value_release(store, &value);
    return result;
}

static size_t walk(struct store *store, bool *ok, struct store_error *error)
{
    size_t count = 0;
    struct store_cursor *cursor =
        store_cursor_open(store, NULL, slice_of(NULL, 0), slice_of(NULL, 0));
    for (store_cursor_first(cursor); store_cursor_valid(cursor); store_cursor_next(cursor))
        count++;
    *ok = store_cursor_ok(cursor, error);
    store_cursor_close(cursor);
    return count;
}

static int set_up(void **state)
{
    char *path = malloc(256);
    temp_dir_make(path);
    atomic_store(&pages, PAGES_THERE);
    atomic_store(&nowait_calls, 0);
    store_wait_for_disk(true);
    *state = path;
    return 0;
}

static int tear_down(void **state)
{
    store_wait_for_disk(true);
    temp_dir_remove(*state);
    free(*state);
    return 0;
}

static void test_cold_and_warm(void **state)
{
    struct store *store = open_unread(*state);
    struct store_error error;
    bool ok;
    atomic_store(&pages, PAGES_ABSENT);
    store_wait_for_disk(false);
    assert_int_equal(look(store, "key050", &error), STORE_FAILED);
    assert_true(error.cold);
    assert_true(walk(store, &ok, &error) < 50);
    assert_true(!ok && error.cold);
    store_wait_for_disk(true);
    assert_int_equal(look(store, "key050", &error), STORE_FOUND);
    assert_int_equal(walk(store, &ok, &error), 100);
    assert_true(ok);
    // Now it is in the cache of blocks, and nobody asks the kernel.
    store_wait_for_disk(false);
    assert_int_equal(look(store, "key050", &error), STORE_FOUND);
    assert_int_equal(walk(store, &ok, &error), 100);
    assert_true(ok);
    store_close(store);
}

static void test_half_a_block_is_cold(void **state)
{
    struct store *store = open_unread(*state);
    struct store_error error;
    atomic_store(&pages, PAGES_HALF);
    store_wait_for_disk(false);
    assert_int_equal(look(store, "key050", &error), STORE_FAILED);
    assert_true(error.cold);
    store_close(store);
}

static void test_in_the_kernels_memory(void **state)
{
    struct store *store = open_unread(*state);
    struct store_error error;
    store_wait_for_disk(false);
    assert_int_equal(look(store, "key050", &error), STORE_FOUND);
    assert_true(atomic_load(&nowait_calls) > 0);
    assert_int_equal(look(store, "no such key", &error), STORE_ABSENT);
    store_close(store);
}

// Last: from here on this process does not ask again.
static void test_system_without_nowait(void **state)
{
    struct store *store = open_unread(*state);
    struct store_error error;
    bool ok;
    atomic_store(&pages, PAGES_UNKNOWN);
    store_wait_for_disk(false);
    assert_int_equal(look(store, "key050", &error), STORE_FOUND);
    assert_int_equal(walk(store, &ok, &error), 100);
    assert_true(ok);
    assert_int_equal(atomic_load(&nowait_calls), 1);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cold_and_warm, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_half_a_block_is_cold, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_in_the_kernels_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_system_without_nowait, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
