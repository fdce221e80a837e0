// The one background run: it is performed once, saved, failed once with a reason, kept for the next
// process when the end comes, and found by it.
#include "engine/support.h"
#include "work/run.h"

#include <stdatomic.h>

enum status { DONE, OPEN, FAILED };

struct record {
    int64_t position;
    enum status status;
};

struct sample {
    struct run run; // first
    struct record record;
};

static const struct map_row rows[] = {MAP_SAME(record, INTEGER, position),
                                      MAP_SAME(record, SMALL, status)};
static const struct map_form form = MAP_FORM(record, rows);

static atomic_int loads, performs, finishes, suspends, releases;
static atomic_bool fails;  // perform does, for good
static atomic_bool waits;  // perform waits for the end
static atomic_int running; // at the same time, of one subject

static bool load(struct run *run)
{
    loads++;
    assert_int_equal(((struct sample *)run)->record.status, OPEN);
    return true;
}

static bool perform(struct run *run)
{
    struct sample *own = (struct sample *)run;
    performs++;
    assert_int_equal(atomic_fetch_add(&running, 1), 0);
    while (waits && work_pause(run->shop, 1))
        own->record.position++;
    own->record.position++;
    running--;
    if (fails)
        return error_set(&run->error, ERR_DAMAGED, "a bad block");
    return work_goes_on(run->shop, &run->error);
}

static void finish(struct run *run, bool ok)
{
    finishes++;
    ((struct sample *)run)->record.status = ok ? DONE : FAILED;
    run_save(run);
}

static void suspend(struct run *run)
{
    suspends++;
    ((struct sample *)run)->record.status = OPEN;
    run_save(run);
}

static void release(struct run *run)
{
    (void)run;
    releases++;
}

static bool save(struct run *run, struct slice there, struct run_saving *saving)
{
    (void)run;
    assert_true(there.len > 0);
    assert_int_equal(saving->count, 1);
    return true;
}

static const struct run_kind kind = RUN_KIND("sample", LANE_MODEL, sample, record, &form, OPEN,
                                             load, perform, finish, suspend, release, save);

// ---- The workshop -----------------------------------------------------------------------------

static void shop_open(struct workshop *shop, struct engine *engine)
{
    *shop = (struct workshop){.engine = engine, .lanes = lanes_new()};
    loads = performs = finishes = suspends = releases = 0;
    fails = waits = false;
}

static void shop_close(struct workshop *shop)
{
    lanes_stop(shop);
    lanes_free(shop);
}

static void put_record(struct workshop *shop, const char *name, enum status status)
{
    struct arena arena;
    struct error error;
    struct value_maker maker;
    arena_init(&arena, 1 << 16);
    error_init(&error, &arena);
    map_begin(&maker);
    map_put_integer(&maker, "status", status);
    struct record_write write = {slice_str(name), map_end(&maker, &arena, &error)};
    assert_true(
        work_edit_records(shop, &(struct record_edit){.count = 1, .writes = &write}, &error));
    arena_release(&arena);
}

static int64_t member(struct workshop *shop, const char *name, const char *of)
{
    struct arena arena;
    struct error error;
    struct slice record;
    arena_init(&arena, 1 << 16);
    error_init(&error, &arena);
    assert_true(engine_record(shop->engine, slice_str(name), &arena, &record, &error));
    int64_t value = map_integer(record, of);
    arena_release(&arena);
    return value;
}

static int setup(void **state)
{
    static struct world world;
    world_open(&world);
    *state = &world;
    return 0;
}

static int teardown(void **state)
{
    world_close(*state);
    return 0;
}

// ---- Tests ------------------------------------------------------------------------------------

static void test_ends_well(void **state)
{
    struct world *world = *state;
    struct workshop shop;
    shop_open(&shop, world->engine);
    put_record(&shop, "sample/a", OPEN);
    assert_true(run_begin(&shop, &kind, SLICE_LIT("a")));
    work_wait(&shop);
    assert_int_equal(finishes, 1);
    assert_int_equal(releases, 1);
    assert_int_equal(member(&shop, "sample/a", "status"), DONE);
    assert_int_equal(member(&shop, "sample/a", "position"), 1);
    // It has ended: whoever begins it again finds nothing to do.
    assert_true(run_begin(&shop, &kind, SLICE_LIT("a")));
    run_resume(&shop, &kind, false);
    work_wait(&shop);
    assert_int_equal(loads, 1);
    shop_close(&shop);
}

static void test_without_record(void **state)
{
    struct world *world = *state;
    struct workshop shop;
    shop_open(&shop, world->engine);
    assert_true(run_begin(&shop, &kind, SLICE_LIT("nobody")));
    work_wait(&shop);
    assert_int_equal(loads, 0);
    assert_int_equal(releases, 1);
    shop_close(&shop);
}

// What is damaged stays so: one failure, and no further try.
static void test_fails_once(void **state)
{
    struct world *world = *state;
    struct workshop shop;
    shop_open(&shop, world->engine);
    fails = true;
    put_record(&shop, "sample/b", OPEN);
    assert_true(run_begin(&shop, &kind, SLICE_LIT("b")));
    work_wait(&shop);
    run_resume(&shop, &kind, false);
    work_wait(&shop);
    assert_int_equal(performs, 1);
    assert_int_equal(member(&shop, "sample/b", "status"), FAILED);
    shop_close(&shop);
}

// The end comes while one runs and another waits behind it: both are for the next process, the
// first with its position.
static void test_goes_on_after_the_end(void **state)
{
    struct world *world = *state;
    struct workshop shop;
    shop_open(&shop, world->engine);
    waits = true;
    put_record(&shop, "sample/t/1", OPEN);
    put_record(&shop, "sample/t/2", OPEN);
    run_resume(&shop, &kind, true);
    while (performs == 0)
        assert_true(work_pause(&shop, 1));
    shop_close(&shop);
    assert_int_equal(performs, 1);
    assert_int_equal(suspends, 1);
    assert_int_equal(finishes, 0);
    assert_int_equal(releases, 2);
    shop_open(&shop, world->engine);
    assert_int_equal(member(&shop, "sample/t/1", "status"), OPEN);
    int64_t position = member(&shop, "sample/t/1", "position");
    assert_true(position > 0);
    assert_true(run_begin(&shop, &kind, SLICE_LIT("unknown")));
    run_resume(&shop, &kind, true);
    work_wait(&shop);
    assert_int_equal(performs, 2); // one after the other: they have one subject
    assert_int_equal(finishes, 2);
    assert_int_equal(member(&shop, "sample/t/1", "position"), position + 1);
    assert_int_equal(member(&shop, "sample/t/2", "status"), DONE);
    shop_close(&shop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ends_well, setup, teardown),
        cmocka_unit_test_setup_teardown(test_without_record, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fails_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_goes_on_after_the_end, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
