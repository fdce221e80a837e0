// Small writes and large ones take turns: who writes little does not wait for all who write much.
#include "support.h"

#include <semaphore.h>

enum { LONG_TEXT = 390000 };

static struct slice item_of_text(struct world *world, const char *sk, char of, size_t length)
{
    static char text[LONG_TEXT + 8];
    assert_true(length <= LONG_TEXT);
    memset(text, of, length + 2);
    memcpy(text, "z=", 2);
    text[length + 2] = '\0';
    char word[32];
    (void)snprintf(word, sizeof(word), "sk=%s", sk);
    return item_of(world, "n=#0", "pk=a", word, text, NULL);
}

static struct slice large_item(struct world *world, const char *sk)
{
    return item_of_text(world, sk, 'x', LONG_TEXT);
}

enum {
    LARGE_WRITES = 30,
    SMALL_WRITES = 5,
    FULL_WRITES = 300,
    FULL_LENGTH = 10000,
    SMALL_MANY = 10000
};

// What waits for the writer, and in which order it is done. All but `first` is the writer's.
struct line {
    struct engine *engine;
    sem_t go;
    sem_t end;
    size_t unfinished;
    size_t large_unfinished;
    size_t large_behind; // those that were unfinished when the last small one was done
    size_t small_done;
};

struct queued {
    struct write_job job; // first
    struct write_action action;
    struct arena arena;
    struct error error;
    struct line *line;
    bool large;
    struct slice endless; // is put next, in turn, until no large one is left
};

static bool wait_to_go(struct job *job, struct txn *txn)
{
    (void)txn;
    struct queued *queued = (struct queued *)job;
    return sem_wait(&queued->line->go) == 0;
}

static void queued_done(struct job *job)
{
    struct queued *queued = (struct queued *)job;
    struct line *line = queued->line;
    assert_false(job->failed);
    line->large_unfinished -= queued->large;
    if (!queued->large) {
        line->small_done++;
        line->large_behind = line->large_unfinished;
    }
    if (queued->endless.len > 0 && line->large_unfinished > 0 && line->small_done < SMALL_MANY) {
        struct slice next = queued->endless;
        write_job_release(&queued->job);
        queued->job.at = 0;
        queued->endless = queued->action.item;
        queued->action.item = next;
        assert_true(engine_submit(line->engine, job));
    } else if (--line->unfinished == 0) {
        assert_int_equal(sem_post(&line->end), 0);
    }
}

static void queue_write(struct world *world, struct queued *queued, struct line *line,
                        struct slice item)
{
    struct table *table = engine_table(world->engine, SLICE_LIT("music"));
    *queued = (struct queued){.line = line, .large = item.len > LIMIT_SMALL_WRITE};
    arena_init(&queued->arena, LIMIT_REQUEST_MEMORY);
    error_init(&queued->error, &queued->arena);
    write_job_init(&queued->job, world->engine, &queued->arena, &queued->error);
    queued->action = (struct write_action){.kind = WRITE_PUT, .item = item, .table = table};
    queued->job.count = 1;
    queued->job.actions = &queued->action;
    queued->job.job.done = queued_done;
    line->unfinished++;
    line->large_unfinished += queued->large;
}

static void queued_release(struct queued *queued)
{
    write_job_release(&queued->job);
    table_release(queued->action.table);
    arena_release(&queued->arena);
}

// Queues the writes behind a job that waits until all of them are there, and awaits their end.
static void run_line(struct line *line, struct queued *writes, size_t count)
{
    struct queued blocker = {.line = line, .large = true};
    struct error error;
    error_init(&error, NULL);
    blocker.job.job = (struct job){.run = wait_to_go, .done = queued_done, .error = &error};
    line->unfinished++;
    line->large_unfinished++;
    assert_true(engine_submit(line->engine, &blocker.job.job));
    for (size_t i = 0; i < count; i++)
        assert_true(engine_submit(line->engine, &writes[i].job.job));
    assert_int_equal(sem_post(&line->go), 0);
    assert_int_equal(sem_wait(&line->end), 0);
    for (size_t i = 0; i < count; i++)
        queued_release(&writes[i]);
}

static void line_open(struct line *line, struct world *world)
{
    world_open(world);
    create_table(world, "music", false, false);
    *line = (struct line){.engine = world->engine};
    assert_int_equal(sem_init(&line->go, 0, 0), 0);
    assert_int_equal(sem_init(&line->end, 0, 0), 0);
}

static void line_close(struct line *line, struct world *world)
{
    assert_int_equal(sem_destroy(&line->go), 0);
    assert_int_equal(sem_destroy(&line->end), 0);
    world_close(world);
}

// Small writes that come after large ones are done before most of them.
static void test_small_first(void **state)
{
    (void)state;
    struct world world;
    struct line line;
    struct queued writes[LARGE_WRITES + SMALL_WRITES];
    line_open(&line, &world);
    for (size_t i = 0; i < COUNT_OF(writes); i++) {
        char word[16];
        (void)snprintf(word, sizeof(word), "sk=%zu", i);
        queue_write(&world, &writes[i], &line,
                    i < LARGE_WRITES ? large_item(&world, word + 3)
                                     : item_of(&world, "pk=a", word, NULL));
    }
    run_line(&line, writes, COUNT_OF(writes));
    assert_in_range(line.large_behind, LARGE_WRITES / 2, LARGE_WRITES);
    line_close(&line, &world);
}

// A small write is not committed with a large one, whose bytes it would wait for: it is answered
// before.
static void test_small_alone(void **state)
{
    (void)state;
    struct world world;
    struct line line;
    struct queued writes[2];
    line_open(&line, &world);
    queue_write(&world, &writes[0], &line, large_item(&world, "0"));
    queue_write(&world, &writes[1], &line, item_of(&world, "pk=a", "sk=1", NULL));
    struct engine_stats before;
    struct engine_stats after;
    engine_stats(world.engine, &before);
    run_line(&line, writes, COUNT_OF(writes));
    engine_stats(world.engine, &after);
    assert_int_equal(line.large_behind, 1);
    assert_int_equal(after.commits - before.commits, 2);
    line_close(&line, &world);
}

static void expect_large_goes_on(size_t small_writes, size_t length)
{
    struct world world;
    struct line line;
    struct queued writes[1 + FULL_WRITES];
    line_open(&line, &world);
    queue_write(&world, &writes[0], &line, large_item(&world, "0"));
    for (size_t i = 1; i <= small_writes; i++) {
        char sk[16];
        (void)snprintf(sk, sizeof(sk), "%zu", i);
        queue_write(&world, &writes[i], &line, item_of_text(&world, sk, 'x', length));
        writes[i].endless = item_of_text(&world, sk, 'y', length);
    }
    run_line(&line, writes, 1 + small_writes);
    assert_in_range(line.small_done, small_writes, SMALL_MANY - 1);
    line_close(&line, &world);
}

// Large writes come to their end, however many small ones there are, also if these fill each group.
static void test_large_goes_on(void **state)
{
    (void)state;
    _Static_assert(FULL_LENGTH * FULL_WRITES / 2 > LIMIT_GROUP_BYTES, "a group is full");
    expect_large_goes_on(SMALL_WRITES, 1);
    expect_large_goes_on(FULL_WRITES, FULL_LENGTH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_first),
        cmocka_unit_test(test_small_alone),
        cmocka_unit_test(test_large_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
