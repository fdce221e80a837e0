// Writes to items that are not in memory: the judge reads them from the disk, and the writer goes
// on.
//
// This executable has its own preadv2, in front of the C library's: nothing that is asked for
// without waiting is in the kernel's memory.
#include "support.h"

#include "../rocks/fixture.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/uio.h>

enum { ITEMS = 200 };

static atomic_bool absent;
static atomic_int asked;

ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    (void)count;
    (void)flags;
    atomic_fetch_add(&asked, 1);
    if (!atomic_load(&absent))
        return pread(fd, parts[0].iov_base, parts[0].iov_len, offset);
    errno = EAGAIN;
    return -1;
}

static void open_engine(struct world *world, const char *path)
{
    struct store_error cause;
    *world = (struct world){.clock = {.now_ms = 1700000000000, .seed = 7}};
    world->store = open_rocksdb(path, STORE_RELAXED);
    world->engine = engine_open(world->store, env_fixed(&world->clock), NULL, &cause);
    assert_non_null(world->engine);
    arena_init(&world->arena, LIMIT_REQUEST_MEMORY);
    error_init(&world->error, &world->arena);
}

static struct slice item_number(struct world *world, int number, const char *word)
{
    char sort[32];
    (void)snprintf(sort, sizeof(sort), "sk=%04d", number);
    return item_of(world, "pk=a", sort, word, NULL);
}

static unsigned planned;
static bool (*plan_write)(struct job *job, struct txn *txn);

static bool count_plan(struct job *job, struct txn *txn)
{
    planned++;
    return plan_write(job, txn);
}

// Puts a new version of the item; tells how often the judge has planned that.
static unsigned put_counted(struct world *world, struct slice item)
{
    struct table *table = engine_table(world->engine, SLICE_LIT("music"));
    struct write_action action = {.kind = WRITE_PUT, .item = item, .table = table};
    struct write_job job;
    write_job_init(&job, world->engine, &world->arena, &world->error);
    job.count = 1;
    job.actions = &action;
    plan_write = job.job.plan;
    job.job.plan = count_plan;
    planned = 0;
    assert_true(engine_run(world->engine, &job.job));
    write_job_release(&job);
    table_release(table);
    return planned;
}

static void test_cold_write(void **state)
{
    (void)state;
    char path[256];
    char word[1024] = "text=";
    struct world world;
    temp_dir_make(path);
    memset(word + 5, 'x', sizeof(word) - 6);
    open_engine(&world, path);
    create_table(&world, "music", false, false);
    for (int i = 0; i < ITEMS; i++)
        assert_true(put_item(&world, "music", item_number(&world, i, word)));
    world_close(&world);
    // What is opened anew is in tables, and in nobody's memory.
    open_engine(&world, path);
    atomic_store(&absent, true);
    assert_int_equal(put_counted(&world, item_number(&world, 100, "text=new")), 1);
    assert_true(atomic_load(&asked) > 0);
    // Now it is in memory.
    assert_int_equal(put_counted(&world, item_number(&world, 100, "text=newer")), 0);
    struct table *table = engine_table(world.engine, SLICE_LIT("music"));
    assert_int_equal(table->stats->items, ITEMS);
    table_release(table);
    atomic_store(&absent, false);
    world_close(&world);
    temp_dir_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cold_write)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
