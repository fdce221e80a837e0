// Streams over time: shards that close by age, by changes and by hand, what is forgotten after a
// day, and logs that outlive their tables.
#include "api/api.h"
#include "call/operation.h"
#include "engine/log.h"
#include "stream/stream.h"
#include "work/janitor.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define HOUR INT64_C(3600000)

// ---- Calling ------------------------------------------------------------------------------

// A clock that other threads may look at while the test moves it.
struct clock {
    _Atomic int64_t now_ms;
    struct env_fixed chance;
};

static int64_t clock_now(void *context)
{
    return ((struct clock *)context)->now_ms;
}

static void clock_random(void *context, uint8_t *out, size_t len)
{
    struct env env = env_fixed(&((struct clock *)context)->chance);
    env.random(env.context, out, len);
}

struct world {
    struct clock clock;
    struct api *api;
    struct api_call call;
    struct arena arena;
    struct error error;
    pthread_mutex_t lock;
    pthread_cond_t ready;
    bool done;
};

static void world_open(struct world *world)
{
    struct store_error error;
    *world = (struct world){.clock = {.now_ms = 1767225600123, .chance.seed = 7},
                            .lock = PTHREAD_MUTEX_INITIALIZER,
                            .ready = PTHREAD_COND_INITIALIZER};
    struct env env = {.context = &world->clock, .now_ms = clock_now, .random = clock_random};
    struct api_options options = {.store = store_open_memory(&error), .env = env};
    assert_non_null(options.store);
    world->api = api_open(&options, &error);
    assert_non_null(world->api);
    api_call_init(&world->call, world->api);
    arena_init(&world->arena, 64 << 20);
    error_init(&world->error, &world->arena);
}

static void world_close(struct world *world)
{
    api_call_release(&world->call);
    api_close(world->api);
    arena_release(&world->arena);
}

static void call_done(struct api_call *call)
{
    struct world *world = call->context;
    assert_int_equal(pthread_mutex_lock(&world->lock), 0);
    world->done = true;
    assert_int_equal(pthread_cond_signal(&world->ready), 0);
    assert_int_equal(pthread_mutex_unlock(&world->lock), 0);
}

// The answer, or the error document, NUL-terminated, until the world ends.
static const char *ask(struct world *world, const char *operation, const char *body)
{
    struct api_call *call = &world->call;
    api_call_reset(call);
    world->done = false;
    call->operation = slice_str(operation);
    call->body = slice_str(body);
    call->done = call_done;
    call->context = world;
    if (!api_call_start(call)) {
        assert_int_equal(pthread_mutex_lock(&world->lock), 0);
        while (!world->done)
            assert_int_equal(pthread_cond_wait(&world->ready, &world->lock), 0);
        assert_int_equal(pthread_mutex_unlock(&world->lock), 0);
        api_call_finish(call);
    }
    return (const char *)arena_copy(&world->arena, buf_view(&call->response)).ptr;
}

static void must(struct world *world, const char *operation, const char *body)
{
    const char *answer = ask(world, operation, body);
    if (world->call.status != 200)
        fail_msg("%s: %s", operation, answer);
}

// The string member of that name, the first one in the text; NULL if there is none.
static const char *member(struct world *world, const char *json, const char *name)
{
    const char *quoted = arena_printf(&world->arena, "\"%s\":\"", name);
    const char *at = strstr(json, quoted);
    if (at == NULL)
        return NULL;
    at += strlen(quoted);
    return (const char *)arena_copy(&world->arena, slice_of(at, strcspn(at, "\""))).ptr;
}

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

// ---- Streams --------------------------------------------------------------------------------

#define TABLE                                                                                      \
    "{\"TableName\":\"songs\",\"AttributeDefinitions\":[{\"AttributeName\":\"pk\","                \
    "\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}],"   \
    "\"BillingMode\":\"PAY_PER_REQUEST\",\"StreamSpecification\":{\"StreamEnabled\":true,"         \
    "\"StreamViewType\":\"NEW_IMAGE\"}}"

// Creates the table; its stream's ARN.
static const char *make_stream(struct world *world)
{
    return member(world, ask(world, "CreateTable", TABLE), "LatestStreamArn");
}

static void put(struct world *world, int from, int count)
{
    for (int i = from; i < from + count; i++)
        must(world, "PutItem",
             arena_printf(&world->arena,
                          "{\"TableName\":\"songs\",\"Item\":{\"pk\":{\"S\":\"item %d\"}}}", i));
}

static struct stream stream_of(struct world *world, const char *arn)
{
    struct stream stream = {.log = 0};
    struct slice name =
        stream_name(&world->arena, SLICE_LIT("songs"), slice_str(strstr(arn, "/stream/") + 8));
    bool found;
    assert_true(
        stream_read(world->api->shop.engine, name, &world->arena, &stream, &found, &world->error));
    return stream;
}

static size_t open_shards(const struct stream *stream)
{
    size_t open = 0;
    for (size_t i = 0; i < stream->shard_count; i++)
        open += stream->shards[i].closed_ms == 0;
    return open;
}

static const char *iterator(struct world *world, const char *arn, struct slice shard,
                            const char *type)
{
    const char *answer =
        ask(world, "GetShardIterator",
            arena_printf(&world->arena,
                         "{\"StreamArn\":\"%s\",\"ShardId\":\"%.*s\",\"ShardIteratorType\":%s}",
                         arn, SLICE_FMT(shard), type));
    return world->call.status == 200 ? member(world, answer, "ShardIterator") : NULL;
}

static const char *records(struct world *world, const char *at)
{
    return ask(world, "GetRecords",
               arena_printf(&world->arena, "{\"ShardIterator\":\"%s\",\"Limit\":7}", at));
}

// Reads a shard to its end, or to what is there; how many records, each noted by its item.
static size_t read_shard(struct world *world, const char *arn, struct slice shard, int *seen)
{
    size_t count = 0;
    const char *at = iterator(world, arn, shard, "\"TRIM_HORIZON\"");
    while (at != NULL) {
        const char *page = records(world, at);
        assert_int_equal(world->call.status, 200);
        size_t here = occurrences(page, "\"eventID\"");
        for (const char *key = page; (key = strstr(key, "\"Keys\":{\"pk\":{\"S\":\"item ")) != NULL;
             key++)
            seen[strtol(key + 24, NULL, 10)]++;
        count += here;
        at = member(world, page, "NextShardIterator");
        if (here == 0)
            break;
    }
    return count;
}

static bool is_error(struct world *world, const char *name)
{
    return world->call.status != 200 && strcmp(error_row(world->call.error_code)->name, name) == 0;
}

// ---- Shards ---------------------------------------------------------------------------------

static void test_by_age(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    const char *arn = make_stream(&world);
    put(&world, 0, 3);
    world.clock.now_ms += 4 * HOUR - 1;
    janitor_run(world.api->janitor);
    assert_int_equal(stream_of(&world, arn).shard_count, 1);
    world.clock.now_ms += 1;
    janitor_run(world.api->janitor);
    janitor_run(world.api->janitor);
    struct stream stream = stream_of(&world, arn);
    assert_int_equal(stream.shard_count, 2);
    assert_int_equal(stream.shards[0].end, 3);
    assert_int_equal(stream.shards[1].start, 4);
    assert_int_equal(stream.shards[1].closed_ms, 0);
    assert_true(slice_equal(stream.shards[1].parent, stream.shards[0].id));
    assert_true(slice_compare(stream.shards[0].id, stream.shards[1].id) < 0);
    put(&world, 3, 2);
    int seen[5] = {0};
    assert_int_equal(read_shard(&world, arn, stream.shards[0].id, seen), 3);
    assert_int_equal(read_shard(&world, arn, stream.shards[1].id, seen), 2);
    // A shard in which nothing happened ends, too.
    world.clock.now_ms += 4 * HOUR;
    janitor_run(world.api->janitor);
    world.clock.now_ms += 4 * HOUR;
    janitor_run(world.api->janitor);
    stream = stream_of(&world, arn);
    assert_int_equal(stream.shard_count, 4);
    assert_int_equal(stream.shards[2].end, stream.shards[2].start - 1);
    assert_int_equal(read_shard(&world, arn, stream.shards[2].id, seen), 0);
    assert_null(member(&world,
                       records(&world, iterator(&world, arn, stream.shards[2].id, "\"LATEST\"")),
                       "NextShardIterator"));
    world_close(&world);
}

// An update that only removes does nothing where there is no item, and so tells nothing.
static void test_nothing(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    const char *arn = make_stream(&world);
    must(&world, "UpdateItem",
         "{\"TableName\":\"songs\",\"Key\":{\"pk\":{\"S\":\"item 0\"}},"
         "\"UpdateExpression\":\"REMOVE a, b.c\"}");
    put(&world, 0, 1);
    int seen[1] = {0};
    assert_int_equal(read_shard(&world, arn, stream_of(&world, arn).shards[0].id, seen), 1);
    assert_int_equal(seen[0], 1);
    world_close(&world);
}

// Whether the open shards have each hash once.
static void check_hashes(const struct stream *stream)
{
    uint64_t next = 0;
    for (size_t found = 1; found > 0;) {
        found = 0;
        for (size_t i = 0; i < stream->shard_count && found == 0; i++) {
            const struct stream_shard *shard = &stream->shards[i];
            if (shard->closed_ms != 0 || shard->low != next)
                continue;
            if (shard->high == UINT64_MAX)
                return;
            next = shard->high + 1;
            found = 1;
        }
    }
    fail_msg("the hashes from %llx on have no shard", (unsigned long long)next);
}

static void test_by_changes(void **state)
{
    (void)state;
    enum { ALL = 700 };
    struct world world;
    world_open(&world);
    world.api->shop.stream_counts->full = 20;
    const char *arn = make_stream(&world);
    put(&world, 0, 19);
    janitor_run(world.api->janitor);
    assert_int_equal(stream_of(&world, arn).shard_count, 1);
    put(&world, 19, 1);
    janitor_run(world.api->janitor);
    assert_int_equal(stream_of(&world, arn).shard_count, 3);
    for (int i = 20; i < ALL; i += 10) {
        put(&world, i, 10);
        janitor_run(world.api->janitor);
        struct stream stream = stream_of(&world, arn);
        assert_true(open_shards(&stream) <= STREAM_SHARDS_OPEN);
        check_hashes(&stream);
    }
    // Quick shards that may not be split go on, until they are not quick any more.
    struct stream stream = stream_of(&world, arn);
    assert_int_equal(open_shards(&stream), STREAM_SHARDS_OPEN);
    assert_int_equal(stream.shard_count, 2 * STREAM_SHARDS_OPEN - 1);
    world.clock.now_ms += STREAM_QUICK_MS;
    janitor_run(world.api->janitor);
    stream = stream_of(&world, arn);
    assert_int_equal(open_shards(&stream), STREAM_SHARDS_OPEN);
    assert_true(stream.shard_count > 2 * STREAM_SHARDS_OPEN - 1);
    check_hashes(&stream);
    // Each change is in exactly one shard.
    static int seen[ALL];
    size_t count = 0;
    for (size_t i = 0; i < stream.shard_count; i++)
        count += read_shard(&world, arn, stream.shards[i].id, seen);
    assert_int_equal(count, ALL);
    for (int i = 0; i < ALL; i++)
        assert_int_equal(seen[i], 1);
    world_close(&world);
}

static void test_by_hand(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    assert_false(api_streams_roll(world.api, SLICE_LIT("songs"), true));
    const char *arn = make_stream(&world);
    for (int i = 0; i < 5; i++) {
        put(&world, 10 * i, 10);
        assert_true(api_streams_roll(world.api, SLICE_LIT("songs"), i % 2 == 0));
    }
    struct stream stream = stream_of(&world, arn);
    assert_int_equal(open_shards(&stream), STREAM_SHARDS_OPEN);
    check_hashes(&stream);
    // CHILD_SHARDS, and pages.
    const char *answer =
        ask(&world, "DescribeStream",
            arena_printf(&world.arena,
                         "{\"StreamArn\":\"%s\",\"ShardFilter\":{\"Type\":\"CHILD_SHARDS\","
                         "\"ShardId\":\"%.*s\"}}",
                         arn, SLICE_FMT(stream.shards[0].id)));
    assert_int_equal(occurrences(answer, "\"ShardId\""), 2);
    assert_int_equal(occurrences(answer, "ParentShardId"), 2);
    size_t shards = 0;
    const char *after = NULL;
    do {
        answer = ask(&world, "DescribeStream",
                     arena_printf(&world.arena, "{\"StreamArn\":\"%s\",\"Limit\":3%s%s%s}", arn,
                                  after == NULL ? "" : ",\"ExclusiveStartShardId\":\"",
                                  after == NULL ? "" : after, after == NULL ? "" : "\""));
        shards += occurrences(answer, "\"ShardId\"");
        after = member(&world, answer, "LastEvaluatedShardId");
    } while (after != NULL);
    assert_int_equal(shards, stream.shard_count);
    must(&world, "UpdateTable",
         "{\"TableName\":\"songs\",\"StreamSpecification\":{\"StreamEnabled\":false}}");
    assert_false(api_streams_roll(world.api, SLICE_LIT("songs"), true));
    stream = stream_of(&world, arn);
    assert_int_equal(open_shards(&stream), 0);
    world_close(&world);
}

// ---- Forgetting -----------------------------------------------------------------------------

static bool count_entry(void *context, const struct log_entry *entry)
{
    (void)entry;
    ++*(size_t *)context;
    return true;
}

static size_t log_entries(struct world *world, tree_id log)
{
    size_t count = 0;
    assert_true(engine_log_read(world->api->shop.engine, NULL, log, 0, UINT64_MAX, count_entry,
                                &count, &world->error));
    return count;
}

static void test_trim(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    const char *arn = make_stream(&world);
    put(&world, 0, 4);
    struct stream stream = stream_of(&world, arn);
    struct slice first = stream.shards[0].id;
    const char *old = iterator(&world, arn, first, "\"TRIM_HORIZON\"");
    world.clock.now_ms += 24 * HOUR;
    put(&world, 4, 1);
    janitor_run(world.api->janitor);
    // To the day it is all there, except that the shard was closed.
    assert_int_equal(log_entries(&world, stream.readable), 5);
    const char *before = iterator(&world, arn, first, "\"TRIM_HORIZON\"");
    world.clock.now_ms += 1;
    janitor_run(world.api->janitor);
    assert_int_equal(log_entries(&world, stream.readable), 1);
    (void)records(&world, before);
    assert_true(is_error(&world, "TrimmedDataAccessException"));
    (void)records(&world, old);
    assert_true(is_error(&world, "ExpiredIteratorException"));
    int seen[8] = {0};
    assert_int_equal(read_shard(&world, arn, first, seen), 1);
    assert_null(iterator(&world, arn, first,
                         "\"AT_SEQUENCE_NUMBER\",\"SequenceNumber\":\"100000000000000000004\""));
    assert_true(is_error(&world, "TrimmedDataAccessException"));
    // Behind the last one that is gone there is nothing that one could have missed.
    assert_non_null(
        iterator(&world, arn, first,
                 "\"AFTER_SEQUENCE_NUMBER\",\"SequenceNumber\":\"100000000000000000004\""));
    // A shard that ended more than a day ago is not spoken of any more; its child is.
    world.clock.now_ms += 24 * HOUR;
    janitor_run(world.api->janitor);
    stream = stream_of(&world, arn);
    assert_null(stream_shard(&stream, first));
    assert_true(stream.shard_count > 0);
    assert_null(iterator(&world, arn, first, "\"TRIM_HORIZON\""));
    assert_true(is_error(&world, "ResourceNotFoundException"));
    world_close(&world);
}

// A consumer that has read all, and then nothing happens for days, has missed nothing.
static void test_idle_consumer(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    const char *arn = make_stream(&world);
    assert_true(api_streams_roll(world.api, SLICE_LIT("songs"), true));
    put(&world, 0, 30);
    struct stream stream = stream_of(&world, arn);
    const char *ends[2];
    for (size_t i = 0; i < 2; i++) {
        const char *page;
        ends[i] = iterator(&world, arn, stream.shards[1 + i].id, "\"TRIM_HORIZON\"");
        do {
            page = records(&world, ends[i]);
            ends[i] = member(&world, page, "NextShardIterator");
        } while (occurrences(page, "eventID") > 0);
    }
    for (int hour = 0; hour < 30; hour++) {
        for (int minute = 0; minute < 60; minute += 12) {
            world.clock.now_ms += HOUR / 5;
            for (size_t i = 0; i < 2 && ends[i] != NULL; i++) {
                ends[i] = member(&world, records(&world, ends[i]), "NextShardIterator");
                assert_int_equal(world.call.status, 200);
            }
        }
        janitor_run(world.api->janitor);
    }
    assert_null(ends[0]); // The shards were closed by their age.
    assert_null(ends[1]);
    world_close(&world);
}

static void test_pitr_keeps_the_log(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    const char *arn = make_stream(&world);
    must(&world, "UpdateContinuousBackups",
         "{\"TableName\":\"songs\",\"PointInTimeRecoverySpecification\":{"
         "\"PointInTimeRecoveryEnabled\":true,\"RecoveryPeriodInDays\":3}}");
    put(&world, 0, 4);
    struct stream stream = stream_of(&world, arn);
    world.clock.now_ms += 25 * HOUR;
    janitor_run(world.api->janitor);
    assert_int_equal(log_entries(&world, stream.readable), 4);
    int seen[8] = {0};
    assert_int_equal(read_shard(&world, arn, stream.shards[0].id, seen), 0);
    world.clock.now_ms += 72 * HOUR; // a day more than asked for
    janitor_run(world.api->janitor);
    assert_int_equal(log_entries(&world, stream.readable), 0);
    world_close(&world);
}

static void test_ends(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    const char *first = make_stream(&world);
    put(&world, 0, 4);
    must(&world, "UpdateTable",
         "{\"TableName\":\"songs\",\"StreamSpecification\":{\"StreamEnabled\":false}}");
    world.clock.now_ms += HOUR;
    must(&world, "UpdateTable",
         "{\"TableName\":\"songs\",\"StreamSpecification\":{\"StreamEnabled\":true,"
         "\"StreamViewType\":\"KEYS_ONLY\"}}");
    put(&world, 10, 3);
    must(&world, "DeleteTable", "{\"TableName\":\"songs\"}");
    engine_settle(world.api->shop.engine);
    tree_id log = stream_of(&world, first).log;
    assert_int_not_equal(log, 0);
    const char *second = make_stream(&world);
    put(&world, 20, 5);
    janitor_run(world.api->janitor);
    int seen[32] = {0};
    assert_int_equal(read_shard(&world, first, stream_of(&world, first).shards[0].id, seen), 4);
    assert_int_equal(read_shard(&world, second, stream_of(&world, second).shards[0].id, seen), 5);
    assert_int_equal(occurrences(ask(&world, "ListStreams", "{}"), "StreamArn"), 3);
    // The first was disabled an hour before the second.
    world.clock.now_ms += 23 * HOUR + 1;
    assert_int_equal(occurrences(ask(&world, "ListStreams", "{}"), "StreamArn"), 2);
    janitor_run(world.api->janitor);
    engine_settle(world.api->shop.engine);
    assert_int_equal(log_entries(&world, log), 7);
    world.clock.now_ms += HOUR;
    janitor_run(world.api->janitor);
    engine_settle(world.api->shop.engine);
    assert_int_equal(log_entries(&world, log), 0);
    struct stream_names names;
    assert_true(stream_names(world.api->shop.engine, slice_of(NULL, 0), &world.arena, &names,
                             &world.error));
    assert_int_equal(names.count, 1);
    world_close(&world);
}

// Without a stream and without recovery the log is emptied.
static void test_log_without_readers(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    const char *arn = make_stream(&world);
    put(&world, 0, 4);
    tree_id log = stream_of(&world, arn).readable;
    must(&world, "UpdateTable",
         "{\"TableName\":\"songs\",\"StreamSpecification\":{\"StreamEnabled\":false}}");
    world.clock.now_ms += 24 * HOUR + 1;
    janitor_run(world.api->janitor);
    assert_int_equal(log_entries(&world, log), 0);
    (void)ask(&world, "DescribeStream", arena_printf(&world.arena, "{\"StreamArn\":\"%s\"}", arn));
    assert_true(is_error(&world, "ResourceNotFoundException"));
    world_close(&world);
}

// Moving the clock lets the janitor work by itself.
static void test_clock_move(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    const char *arn = make_stream(&world);
    api_clock_move(world.api, 5 * HOUR);
    for (int i = 0; i < 1000 && stream_of(&world, arn).shard_count == 1; i++)
        (void)nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    assert_int_equal(stream_of(&world, arn).shard_count, 2);
    world_close(&world);
}

static void test_sequence_text(void **state)
{
    (void)state;
    char text[STREAM_SEQUENCE_TEXT];
    uint64_t value;
    stream_sequence_text(42, text);
    assert_string_equal(text, "100000000000000000042");
    assert_true(stream_sequence_parse(slice_str(text), &value));
    assert_int_equal(value, 42);
    assert_false(stream_sequence_parse(SLICE_LIT("000000000000000000042"), &value));
    assert_false(stream_sequence_parse(SLICE_LIT("1000000000000000000042"), &value));
    assert_false(stream_sequence_parse(SLICE_LIT("199999999999999999999"), &value));
    assert_false(stream_sequence_parse(SLICE_LIT("10000000000000000004x"), &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_age),        cmocka_unit_test(test_by_changes),
        cmocka_unit_test(test_by_hand),       cmocka_unit_test(test_trim),
        cmocka_unit_test(test_idle_consumer), cmocka_unit_test(test_pitr_keeps_the_log),
        cmocka_unit_test(test_ends),          cmocka_unit_test(test_log_without_readers),
        cmocka_unit_test(test_clock_move),    cmocka_unit_test(test_sequence_text),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
