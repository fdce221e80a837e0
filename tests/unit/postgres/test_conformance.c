// The rules of store.h on PostgreSQL, and what is the driver's own: long keys, fences, lost
// connections. DOLMEN_TEST_POSTGRES says where a PostgreSQL is whose schema "dolmen" may be dropped
// (tests/postgres/run starts one); without it there is nothing to run.
#include "store/conformance.h"

#include "postgres/link.h"
#include "postgres/postgres.h"

static const char *url(void)
{
    return getenv("DOLMEN_TEST_POSTGRES");
}

static void tell(const char *text)
{
    struct pq_library pq;
    struct link link;
    struct store_error error;
    assert_true(pq_load(&pq, &error));
    assert_true(link_open(&link, &pq, url(), &error));
    PGresult *result = link_tell(&link, text, 0, NULL, &error);
    if (result == NULL)
        print_message("%s\n", error.text);
    assert_non_null(result);
    pq.PQclear(result);
    link_close(&link);
}

static struct store *open_at(bool takeover)
{
    struct store_error error;
    struct store *store = store_open_postgres(
        &(struct postgres_options){.url = url(), .node = "test", .takeover = takeover}, &error);
    if (store == NULL)
        print_message("%s\n", error.text);
    return store;
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    tell("drop schema if exists dolmen cascade");
    fixture->store = open_at(false);
    assert_non_null(fixture->store);
    fixture->batch = store_batch_new();
    *state = fixture;
    return 0;
}

// Keys that share more than an index of PostgreSQL holds, in their order, in both directions.
static void test_long_keys(void **state)
{
    enum { KEYS = 200, LONG = 3000 };
    struct fixture *fixture = *state;
    static uint8_t keys[KEYS][LONG];
    uint64_t seed = 3;
    for (unsigned i = 0; i < KEYS; i++) {
        memset(keys[i], 'x', LONG);
        keys[i][LINK_KEY - 1 + i % 3] = (uint8_t)(i / 3);
        keys[i][LONG - 1] = (uint8_t)random_next(&seed);
        struct slice key = slice_of(keys[i], LONG - i % 7);
        store_batch_put(fixture->batch, key, key);
    }
    commit(fixture->store, fixture->batch);
    struct store_cursor *cursor =
        store_cursor_open(fixture->store, NULL, slice_of(NULL, 0), slice_of(NULL, 0));
    for (int way = 0; way < 2; way++) {
        static uint8_t last[LONG];
        size_t last_len = 0;
        unsigned count = 0;
        way == 0 ? store_cursor_first(cursor) : store_cursor_last(cursor);
        for (; store_cursor_valid(cursor); count++) {
            struct slice key = store_cursor_key(cursor);
            assert_true(slice_equal(key, store_cursor_value(cursor)));
            int order = slice_compare(slice_of(last, last_len), key);
            assert_true(count == 0 || (way == 0 ? order < 0 : order > 0));
            memcpy(last, key.ptr, key.len);
            last_len = key.len;
            expect_slice(fixture->store, NULL, slice_of(last, last_len), &key);
            way == 0 ? store_cursor_next(cursor) : store_cursor_prev(cursor);
        }
        assert_int_equal(count, KEYS);
    }
    store_cursor_close(cursor);
    store_batch_delete(fixture->batch, slice_of(keys[7], LONG - 0));
    commit(fixture->store, fixture->batch);
    struct slice gone = slice_of(keys[7], LONG);
    expect_slice(fixture->store, NULL, gone, NULL);
}

// A server that another has taken over from commits nothing, and says why; what it did is there.
static void test_fence(void **state)
{
    struct fixture *fixture = *state;
    struct store_error error = {0};
    put(fixture, "a", "old");
    commit(fixture->store, fixture->batch);
    struct store *other = open_at(true);
    assert_non_null(other);
    put(fixture, "a", "zombie");
    put(fixture, "b", "zombie");
    assert_int_equal(store_commit(fixture->store, fixture->batch, &error), STORE_NOT_DONE);
    assert_non_null(strstr(error.text, "another server has taken over"));
    assert_false(store_recover(fixture->store, &error));
    assert_int_equal(store_condition(fixture->store, &error), STORE_GONE);
    expect(other, NULL, "a", "old");
    expect(other, NULL, "b", NULL);
    store_batch_clear(fixture->batch);
    put(fixture, "a", "new");
    commit(other, fixture->batch);
    expect(other, NULL, "a", "new");
    store_close(other);
}

// A range goes in pieces, its neighbours stay, and a server that lost its place deletes nothing.
static void test_discard(void **state)
{
    enum { KEYS = 1200 };
    struct fixture *fixture = *state;
    char key[16];
    for (int i = 0; i < KEYS; i++) {
        (void)snprintf(key, sizeof(key), "k%04d", i);
        put(fixture, key, key);
    }
    put(fixture, "j", "before");
    put(fixture, "l", "behind");
    commit(fixture->store, fixture->batch);
    struct store *other = open_at(true);
    assert_non_null(other);
    (void)store_discard(fixture->store, SLICE_LIT("k"), SLICE_LIT("l"));
    expect(other, NULL, "k0000", "k0000");
    expect(other, NULL, "k1199", "k1199");
    int pieces = 1;
    while (store_discard(other, SLICE_LIT("k"), SLICE_LIT("l")))
        pieces++;
    assert_int_equal(pieces, 3);
    expect(other, NULL, "k0000", NULL);
    expect(other, NULL, "k1199", NULL);
    expect(other, NULL, "j", "before");
    expect(other, NULL, "l", "behind");
    assert_false(store_discard(other, SLICE_LIT("k"), SLICE_LIT("l")));
    store_close(other);
}

// Without a takeover a second server is kept out while the first one renews its lease.
static void test_lease(void **state)
{
    (void)state;
    struct store_error error = {0};
    struct store *other = store_open_postgres(
        &(struct postgres_options){.url = url(), .node = "second", .lease_s = 1}, &error);
    assert_null(other);
    assert_true(error.in_use);
    assert_non_null(strstr(error.text, "'test' has the database open"));
}

// Connections that are cut while nobody uses them are made again.
static void test_lost_connections(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 5; i++) {
        char value[16];
        (void)snprintf(value, sizeof(value), "%d", i);
        put(fixture, "a", value);
        commit(fixture->store, fixture->batch);
        tell("select pg_terminate_backend(pid) from pg_stat_activity where pid <> "
             "pg_backend_pid() and datname = current_database()");
        expect(fixture->store, NULL, "a", value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define X(test) {"postgresql: " #test, test, set_up, tear_down, NULL},
        CONFORMANCE(X) X(test_long_keys) X(test_fence) X(test_lease) X(test_lost_connections)
            CONFORMANCE(X) X(test_long_keys) X(test_discard) X(test_lease) X(test_lost_connections)
#undef X
    };
    if (url() == NULL) {
        (void)fprintf(stderr, "[==========] Running 0 test(s).\n[  PASSED  ] 0 test(s).\n");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
