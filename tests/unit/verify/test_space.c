// An engine over RocksDB: pages among deleted items, and the space of a table that is deleted.
#include "engine/support.h"
#include "rocks/rocks.h"
#include "verify/verify.h"

#include <ftw.h>
#include <unistd.h>

enum { ITEMS = 3000, SETTLE_MS = 60000 };

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

static void disk_open(struct world *world, char path[256])
{
    const char *base = getenv("TMPDIR");
    struct store_error cause;
    (void)snprintf(path, 256, "%s/dolmen-engine-XXXXXX", base == NULL ? "/tmp" : base);
    assert_non_null(mkdtemp(path));
    struct store_options options = {
        .path = path, .durability = STORE_RELAXED, .write_buffer_bytes = 6 << 20};
    *world = (struct world){.clock = {.now_ms = 1700000000000, .seed = 7}};
    world->store = store_open_rocksdb(&options, &cause);
    assert_non_null(world->store);
    world->engine = engine_open(world->store, env_fixed(&world->clock), NULL, &cause);
    assert_non_null(world->engine);
    arena_init(&world->arena, LIMIT_REQUEST_MEMORY);
    error_init(&world->error, &world->arena);
}

static void disk_close(struct world *world, const char *path)
{
    world_close(world);
    assert_int_equal(nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static struct slice numbered(struct world *world, size_t number, const char *more)
{
    char sk[32];
    (void)snprintf(sk, sizeof(sk), "sk=%05zu", number);
    return more == NULL ? item_of(world, "pk=one", sk, NULL)
                        : item_of(world, more, "pk=one", sk, NULL);
}

static void query(struct world *world, bool reverse, size_t count_expected)
{
    struct table *table = engine_table(world->engine, SLICE_LIT("music"));
    struct page_result result = {.count = 0};
    struct slice key = item_of(world, "pk=one", NULL);
    buf_init(&result.items, 1 << 20);
    struct page_request page = {.table = table,
                                .query = true,
                                .reverse = reverse,
                                .emit = collect,
                                .context = &result,
                                .arena = &world->arena};
    page.range.hash[0] = value_get(key, SLICE_LIT("pk"));
    assert_true(engine_page(world->engine, &page, &world->error));
    assert_int_equal(result.count, count_expected);
    buf_release(&result.items);
    table_release(table);
}

// More deleted items than a cursor passes over in one go lie between the two that are left.
static void test_page_among_deleted_items(void **state)
{
    (void)state;
    struct world world;
    char path[256];
    disk_open(&world, path);
    create_table(&world, "music", false, false);
    for (size_t i = 0; i < ITEMS; i++)
        assert_true(put_item(&world, "music", numbered(&world, i, NULL)));
    query(&world, false, ITEMS);
    for (size_t i = 1; i + 1 < ITEMS; i++)
        assert_true(delete_item(&world, "music", numbered(&world, i, NULL)));
    query(&world, false, 2);
    query(&world, true, 2);
    assert_true(delete_item(&world, "music", numbered(&world, 0, NULL)));
    query(&world, false, 1);
    assert_true(delete_item(&world, "music", numbered(&world, ITEMS - 1, NULL)));
    query(&world, false, 0);
    query(&world, true, 0);
    disk_close(&world, path);
}

static uint64_t bytes_kept(struct world *world)
{
    struct store_stats stats;
    engine_settle(world->engine);
    assert_true(store_settle(world->store, SETTLE_MS));
    store_stats(world->store, &stats);
    return stats.table_bytes + stats.memtable_bytes;
}

static void test_deleted_table_gives_its_space_back(void **state)
{
    (void)state;
    struct world world;
    char path[256];
    char text[4000] = "v=";
    uint64_t random = 1;
    disk_open(&world, path);
    create_table(&world, "music", false, false);
    for (size_t i = 0; i < ITEMS; i++) {
        for (size_t k = 2; k + 1 < sizeof(text); k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            text[k] = (char)('0' + (random >> 58));
        }
        assert_true(put_item(&world, "music", numbered(&world, i, text)));
    }
    uint64_t before = bytes_kept(&world);
    assert_true(before > 8 << 20);
    assert_true(change_table(&world, "music", alter_drop, NULL));
    assert_true(bytes_kept(&world) < before / 4);
    disk_close(&world, path);
}

static void note_difference(void *context, const struct verify_difference *difference)
{
    (void)context;
    fail_msg("%s", difference->what);
}

static void note_outcome(void *context, const struct verify_outcome *outcome)
{
    (void)outcome;
    ++*(size_t *)context;
}

static bool note_progress(void *context, const struct verify_progress *progress)
{
    (void)context;
    (void)progress;
    return true;
}

static size_t count_keys(struct store *store)
{
    size_t count = 0;
    struct store_cursor *cursor =
        store_cursor_open(store, NULL, slice_of(NULL, 0), slice_of(NULL, 0));
    for (store_cursor_first(cursor); store_cursor_valid(cursor); store_cursor_next(cursor))
        count++;
    store_cursor_close(cursor);
    return count;
}

// A snapshot keeps what was deleted, and cursors still see it: it belongs to nothing, and is no
// difference.
static void test_deleted_table_is_no_difference(void **state)
{
    (void)state;
    struct world world;
    char path[256];
    char text[400] = "v=";
    size_t outcomes = 0;
    const struct verify_knowledge knowledge = {.guard_work = NULL};
    const struct verify_watcher watcher = {&outcomes, note_difference, note_outcome, note_progress};
    const struct verify_options options = {.knowledge = &knowledge, .watcher = &watcher};
    disk_open(&world, path);
    memset(text + 2, 'x', sizeof(text) - 3);
    create_table(&world, "music", false, false);
    for (size_t i = 0; i < ITEMS; i++)
        assert_true(put_item(&world, "music", numbered(&world, i, text)));
    struct store_snapshot *snapshot = store_snapshot_take(world.store);
    assert_true(change_table(&world, "music", alter_drop, NULL));
    engine_settle(world.engine);
    assert_true(count_keys(world.store) > ITEMS / 2);
    assert_true(engine_verify(world.engine, &options));
    assert_true(outcomes > 2);
    store_snapshot_release(world.store, snapshot);
    disk_close(&world, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page_among_deleted_items),
        cmocka_unit_test(test_deleted_table_gives_its_space_back),
        cmocka_unit_test(test_deleted_table_is_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
