// The change log: what is written to it and what is not, reading, trimming, outliving its table.
#include "engine/log.h"

#include "rocks/rocks.h"
#include "store/fixture.h"
#include "store/store_driver.h"
#include "support.h"

// The table's next version with this log_images.
static bool alter_images(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    (void)error;
    *next = table_clone(current);
    assert_non_null(*next);
    (*next)->log_images = *(const unsigned *)context;
    return true;
}

static void log_table(struct world *world, unsigned images)
{
    create_table(world, "music", false, false);
    assert_true(change_table(world, "music", alter_images, &images));
}

static tree_id log_of(struct world *world)
{
    struct table *table = engine_table(world->engine, SLICE_LIT("music"));
    assert_non_null(table);
    tree_id log = table->log;
    table_release(table);
    return log;
}

// What was read: a letter for each event, and the last entry's parts.
struct seen {
    char events[64];
    size_t count;
    size_t stop_after;
    uint64_t first;
    uint64_t last;
    struct log_entry entry;
    struct arena *arena;
};

static bool see(void *context, const struct log_entry *entry)
{
    struct seen *seen = context;
    assert_true(seen->count < sizeof(seen->events) - 1);
    assert_true(seen->count == 0 || entry->sequence > seen->last);
    if (seen->count == 0)
        seen->first = entry->sequence;
    seen->events[seen->count++] = "IMR"[entry->event];
    seen->last = entry->sequence;
    seen->entry = *entry;
    seen->entry.keys = arena_copy(seen->arena, entry->keys);
    seen->entry.old_item =
        entry->old_item.len == 0 ? VALUE_NONE : arena_copy(seen->arena, entry->old_item);
    seen->entry.new_item =
        entry->new_item.len == 0 ? VALUE_NONE : arena_copy(seen->arena, entry->new_item);
    return seen->count != seen->stop_after;
}

static struct seen read_log(struct world *world, tree_id log, uint64_t first, uint64_t last)
{
    struct seen seen = {.arena = &world->arena};
    error_init(&world->error, &world->arena);
    assert_true(engine_log_read(world->engine, NULL, log, first, last, see, &seen, &world->error));
    return seen;
}

static void test_events_and_images(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    log_table(&world, LOG_KEYS | LOG_OLD | LOG_NEW);
    tree_id log = log_of(&world);
    assert_int_not_equal(log, 0);
    assert_int_equal(engine_sequence(world.engine), 0);
    struct slice one = item_of(&world, "pk=a", "sk=1", "v=x", NULL);
    struct slice two = item_of(&world, "pk=a", "sk=1", "v=y", NULL);
    struct slice key = item_of(&world, "pk=a", "sk=1", NULL);
    assert_true(put_item(&world, "music", one));
    assert_int_equal(engine_sequence(world.engine), 1);
    struct seen seen = read_log(&world, log, 0, UINT64_MAX);
    assert_string_equal(seen.events, "I");
    assert_true(slice_equal(seen.entry.keys, key));
    assert_int_equal(seen.entry.old_item.len, 0);
    assert_true(slice_equal(seen.entry.new_item, one));
    assert_int_equal(seen.entry.time_ms, world.clock.now_ms);
    assert_false(seen.entry.expired);
    assert_true(put_item(&world, "music", two));
    seen = read_log(&world, log, 2, 2);
    assert_string_equal(seen.events, "M");
    assert_true(slice_equal(seen.entry.old_item, one));
    assert_true(slice_equal(seen.entry.new_item, two));
    assert_true(delete_item(&world, "music", key));
    seen = read_log(&world, log, 3, UINT64_MAX);
    assert_string_equal(seen.events, "R");
    assert_true(slice_equal(seen.entry.old_item, two));
    assert_int_equal(seen.entry.new_item.len, 0);
    // Ranges and stopping.
    assert_string_equal(read_log(&world, log, 0, UINT64_MAX).events, "IMR");
    assert_string_equal(read_log(&world, log, 2, 3).events, "MR");
    assert_int_equal(read_log(&world, log, 4, UINT64_MAX).count, 0);
    assert_int_equal(read_log(&world, log, 3, 2).count, 0);
    struct seen stopping = {.arena = &world.arena, .stop_after = 2};
    assert_true(
        engine_log_read(world.engine, NULL, log, 0, UINT64_MAX, see, &stopping, &world.error));
    assert_string_equal(stopping.events, "IM");
    world_close(&world);
}

static void test_no_change_no_entry(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    log_table(&world, LOG_KEYS);
    struct slice item = item_of(&world, "pk=a", "sk=1", "v=x", NULL);
    struct slice key = item_of(&world, "pk=a", "sk=1", NULL);
    assert_true(put_item(&world, "music", item));
    assert_true(put_item(&world, "music", item));
    assert_true(delete_item(&world, "music", item_of(&world, "pk=b", "sk=1", NULL)));
    struct write_action check = {.kind = WRITE_CHECK, .item = key};
    assert_true(run_action(&world, "music", &check));
    struct write_action touch = {.kind = WRITE_UPDATE, .item = key};
    assert_true(run_action(&world, "music", &touch));
    assert_int_equal(engine_sequence(world.engine), 1);
    struct seen seen = read_log(&world, log_of(&world), 0, UINT64_MAX);
    assert_string_equal(seen.events, "I");
    // Only the keys were asked for.
    assert_int_equal(seen.entry.new_item.len, 0);
    // An update creates the bare key of an item that is not there.
    struct write_action bare = {.kind = WRITE_UPDATE,
                                .item = item_of(&world, "pk=c", "sk=1", NULL)};
    assert_true(run_action(&world, "music", &bare));
    assert_string_equal(read_log(&world, log_of(&world), 0, UINT64_MAX).events, "II");
    world_close(&world);
}

static void test_on_and_off(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    log_table(&world, LOG_KEYS | LOG_NEW);
    tree_id log = log_of(&world);
    unsigned off = 0;
    unsigned on = LOG_KEYS | LOG_OLD;
    assert_true(put_item(&world, "music", item_of(&world, "pk=a", "sk=1", NULL)));
    assert_true(change_table(&world, "music", alter_images, &off));
    assert_true(put_item(&world, "music", item_of(&world, "pk=a", "sk=2", NULL)));
    assert_true(change_table(&world, "music", alter_images, &on));
    assert_int_equal(log_of(&world), log);
    assert_true(delete_item(&world, "music", item_of(&world, "pk=a", "sk=2", NULL)));
    struct seen seen = read_log(&world, log, 0, UINT64_MAX);
    assert_string_equal(seen.events, "IR");
    assert_int_not_equal(seen.entry.old_item.len, 0);
    world_close(&world);
}

static void test_trim(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    log_table(&world, LOG_KEYS);
    tree_id log = log_of(&world);
    for (int i = 0; i < 20; i++) {
        char pk[16];
        (void)snprintf(pk, sizeof(pk), "pk=%d", i);
        world.clock.now_ms += 1000;
        assert_true(put_item(&world, "music", item_of(&world, pk, "sk=1", NULL)));
    }
    int64_t start = world.clock.now_ms - 19000;
    bool more;
    assert_true(engine_log_trim(world.engine, log, start, &more, &world.error));
    assert_false(more);
    assert_int_equal(read_log(&world, log, 0, UINT64_MAX).first, 1);
    assert_true(engine_log_trim(world.engine, log, start + 5000, &more, &world.error));
    assert_false(more);
    struct seen seen = read_log(&world, log, 0, UINT64_MAX);
    assert_int_equal(seen.count, 15);
    assert_int_equal(seen.first, 6);
    assert_true(engine_log_trim(world.engine, log, INT64_MAX, &more, &world.error));
    assert_false(more);
    assert_int_equal(read_log(&world, log, 0, UINT64_MAX).count, 0);
    // Sequences are not used again.
    assert_true(put_item(&world, "music", item_of(&world, "pk=x", "sk=1", NULL)));
    assert_int_equal(read_log(&world, log, 0, UINT64_MAX).first, 21);
    world_close(&world);
}

// More than one piece of trimming.
static void test_trim_much(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    struct world world;
    world_open(&world);
    log_table(&world, LOG_KEYS);
    struct table *table = engine_table(world.engine, SLICE_LIT("music"));
    static struct write_action actions[MANY];
    struct write_job job;
    error_init(&world.error, &world.arena);
    write_job_init(&job, world.engine, &world.arena, &world.error);
    for (int i = 0; i < MANY; i++) {
        char pk[16];
        (void)snprintf(pk, sizeof(pk), "pk=%d", i);
        struct slice item = item_of(&world, pk, "sk=1", NULL);
        actions[i] = (struct write_action){.kind = WRITE_PUT, .table = table, .item = item};
    }
    job.count = MANY;
    job.actions = actions;
    assert_true(engine_run(world.engine, &job.job));
    write_job_release(&job);
    bool more;
    size_t pieces = 0;
    assert_int_equal(engine_sequence(world.engine), MANY);
    do {
        assert_true(engine_log_trim(world.engine, table->log, INT64_MAX, &more, &world.error));
        pieces++;
    } while (more);
    assert_true(pieces > 1);
    assert_int_equal(read_log(&world, table->log, 0, UINT64_MAX).count, 0);
    table_release(table);
    world_close(&world);
}

// Deletes the table but leaves the log.
static void drop_keeping_log(struct world *world)
{
    struct table_change change;
    error_init(&world->error, &world->arena);
    table_change_init(&change, world->engine, &world->error);
    change.name = SLICE_LIT("music");
    change.alter = alter_drop;
    change.keep_log = true;
    assert_true(engine_run(world->engine, &change.job));
    table_change_release(&change);
    engine_settle(world->engine);
}

static void test_outlives_table(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    log_table(&world, LOG_KEYS | LOG_NEW);
    tree_id log = log_of(&world);
    assert_true(put_item(&world, "music", item_of(&world, "pk=a", "sk=1", NULL)));
    drop_keeping_log(&world);
    assert_int_equal(read_log(&world, log, 0, UINT64_MAX).count, 1);
    // A new table has a new log.
    log_table(&world, LOG_KEYS);
    assert_int_not_equal(log_of(&world), log);
    assert_true(put_item(&world, "music", item_of(&world, "pk=a", "sk=1", NULL)));
    assert_int_equal(read_log(&world, log, 0, UINT64_MAX).count, 1);
    assert_true(engine_log_drop(world.engine, log, &world.error));
    engine_settle(world.engine);
    assert_int_equal(read_log(&world, log, 0, UINT64_MAX).count, 0);
    // Without keep_log it goes with the table.
    tree_id second = log_of(&world);
    assert_int_equal(read_log(&world, second, 0, UINT64_MAX).count, 1);
    assert_true(change_table(&world, "music", alter_drop, NULL));
    engine_settle(world.engine);
    assert_int_equal(read_log(&world, second, 0, UINT64_MAX).count, 0);
    world_close(&world);
}

// A moment that was told stays before everything that is written later, if the clock steps back,
// too.
static void test_moment(void **state)
{
    (void)state;
    struct world world;
    uint64_t first;
    world_open(&world);
    log_table(&world, LOG_KEYS | LOG_OLD);
    assert_true(put_item(&world, "music", item_of(&world, "pk=a", "sk=1", NULL)));
    world.clock.now_ms += 5000;
    int64_t moment = engine_log_moment(world.engine);
    assert_int_equal(moment, world.clock.now_ms);
    world.clock.now_ms -= 3000;
    assert_int_equal(engine_log_time(world.engine), moment);
    assert_true(put_item(&world, "music", item_of(&world, "pk=b", "sk=1", NULL)));
    assert_true(
        engine_log_after(world.engine, NULL, log_of(&world), moment - 1, &first, &world.error));
    assert_int_equal(first, 2);
    world_close(&world);
}

// What the log knows of its time outlives the process.
static void test_time_is_kept(void **state)
{
    (void)state;
    char path[256];
    struct store_options options = {.path = path};
    struct store_error cause;
    struct world world = {.clock = {.now_ms = 1700000000000, .seed = 7}};
    uint64_t first;
    temp_dir_make(path);
    for (int run = 0; run < 2; run++) {
        world.store = store_open_rocksdb(&options, &cause);
        assert_non_null(world.store);
        world.engine = engine_open(world.store, env_fixed(&world.clock), NULL, &cause);
        assert_non_null(world.engine);
        arena_init(&world.arena, LIMIT_REQUEST_MEMORY);
        error_init(&world.error, &world.arena);
        if (run == 0)
            log_table(&world, LOG_KEYS | LOG_OLD);
        int64_t was = run == 0 ? 1700000000000 : 1700000005000;
        assert_int_equal(engine_log_time(world.engine), was);
        assert_true(put_item(&world, "music", item_of(&world, "pk=a", "sk=1", NULL)));
        world.clock.now_ms += run == 0 ? 5000 : 10;
        assert_true(put_item(&world, "music", item_of(&world, "pk=b", "sk=1", NULL)));
        assert_int_equal(engine_log_time(world.engine), 1700000005000);
        // All that is later than an instant is found by halving.
        assert_true(engine_log_after(world.engine, NULL, log_of(&world), 1700000000000, &first,
                                     &world.error));
        assert_int_equal(first, 2);
        assert_true(engine_log_after(world.engine, NULL, log_of(&world), 1699999999999, &first,
                                     &world.error));
        assert_true(first <= 1);
        assert_true(engine_log_after(world.engine, NULL, log_of(&world), 1700000005000, &first,
                                     &world.error));
        assert_int_equal(first, engine_sequence(world.engine) + 1);
        world_close(&world);
        world.clock.now_ms = 1600000000000;
    }
    temp_dir_remove(path);
}

static enum store_end full_commit(struct store *store, const struct store_batch *batch,
                                  struct store_error *error)
{
    (void)store;
    (void)batch;
    (void)store_fail(error, "no space left");
    return STORE_NOT_DONE;
}

// The sequences of a batch that failed are made visible by the commit that records them, not by
// a group that stores nothing: a start would give them out again.
static void test_failed_and_nothing(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    log_table(&world, LOG_KEYS);
    struct slice key = item_of(&world, "pk=a", "sk=1", NULL);
    struct write_action check = {.kind = WRITE_CHECK, .item = key};
    assert_true(put_item(&world, "music", key));
    const struct store_driver *driver = world.store->driver;
    struct store_driver full = *driver;
    full.commit = full_commit;
    world.store->driver = &full;
    assert_false(put_item(&world, "music", item_of(&world, "pk=b", "sk=1", NULL)));
    assert_true(run_action(&world, "music", &check));
    assert_int_equal(engine_sequence(world.engine), 1);
    world.store->driver = driver;
    // The engine may have asked the store meanwhile, and asks once a second.
    world.clock.now_ms += 1000;
    assert_true(put_item(&world, "music", item_of(&world, "pk=c", "sk=1", NULL)));
    assert_int_equal(engine_sequence(world.engine), 3);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_and_images),
        cmocka_unit_test(test_no_change_no_entry),
        cmocka_unit_test(test_on_and_off),
        cmocka_unit_test(test_trim),
        cmocka_unit_test(test_trim_much),
        cmocka_unit_test(test_outlives_table),
        cmocka_unit_test(test_moment),
        cmocka_unit_test(test_time_is_kept),
        cmocka_unit_test(test_failed_and_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
