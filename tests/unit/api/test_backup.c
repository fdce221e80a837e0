// Backups and point-in-time recovery: what is restored is what was there. A history of random
// writes is recorded beside the database; tables restored to random instants of it, and from
// backups made on the way, must equal it.
#include "calls.h"

#include "work/janitor.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    KEYS = 300,
    WRITES = 20000,
    RESTORES = 50,
};

// What the table held under a key from a moment on; 0 stands for nothing.
struct event {
    int64_t at_ms;
    int key;
    int value;
};

struct world {
    struct env_fixed clock;
    struct api *api;
    struct api_call call;
    uint64_t seed;
    size_t count;
    struct event events[WRITES * 2];
};

static uint64_t chance(struct world *world, uint64_t below)
{
    world->seed = world->seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (world->seed >> 33) % below;
}

static void call_ok(struct world *world, const char *operation, const char *body)
{
    call_run(&world->call, slice_str(operation), slice_str(body));
    if (world->call.status != 200)
        print_error("%s %s: %.*s\n", operation, body, SLICE_FMT(buf_view(&world->call.response)));
    assert_int_equal(world->call.status, 200);
}

static void world_open(struct world *world, uint64_t seed)
{
    struct store_error error;
    world->seed = seed;
    world->clock = (struct env_fixed){.now_ms = 1700000000000, .seed = seed};
    struct api_options options = {.store = store_open_memory(&error),
                                  .env = env_fixed(&world->clock)};
    assert_non_null(options.store);
    world->api = api_open(&options, &error);
    assert_non_null(world->api);
    api_call_init(&world->call, world->api);
    call_ok(world, "CreateTable",
            "{\"TableName\":\"tab\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":"
            "[{\"AttributeName\":\"k\",\"AttributeType\":\"N\"},{\"AttributeName\":\"v\","
            "\"AttributeType\":\"N\"}],\"KeySchema\":[{\"AttributeName\":\"k\",\"KeyType\":"
            "\"HASH\"}],\"GlobalSecondaryIndexes\":[{\"IndexName\":\"byv\",\"KeySchema\":[{"
            "\"AttributeName\":\"v\",\"KeyType\":\"HASH\"}],\"Projection\":{\"ProjectionType\":"
            "\"ALL\"}}]}");
}

static void world_close(struct world *world)
{
    api_call_release(&world->call);
    api_close(world->api);
    free(world);
}

static void note(struct world *world, int key, int value)
{
    world->events[world->count++] = (struct event){world->clock.now_ms, key, value};
}

static void write_one(struct world *world)
{
    char body[1000];
    int key = (int)chance(world, KEYS);
    int value = 1 + (int)chance(world, 50);
    switch (chance(world, 4)) {
    case 0:
        snprintf(body, sizeof(body), "{\"TableName\":\"tab\",\"Key\":{\"k\":{\"N\":\"%d\"}}}", key);
        call_ok(world, "DeleteItem", body);
        value = 0;
        break;
    case 1:
        snprintf(body, sizeof(body),
                 "{\"TableName\":\"tab\",\"Key\":{\"k\":{\"N\":\"%d\"}},\"UpdateExpression\":\"SET "
                 "v = :v\",\"ExpressionAttributeValues\":{\":v\":{\"N\":\"%d\"}}}",
                 key, value);
        call_ok(world, "UpdateItem", body);
        break;
    case 2: {
        int other = (key + 1) % KEYS;
        snprintf(body, sizeof(body),
                 "{\"TransactItems\":[{\"Put\":{\"TableName\":\"tab\",\"Item\":{\"k\":{\"N\":"
                 "\"%d\"},\"v\":{\"N\":\"%d\"}}}},{\"Delete\":{\"TableName\":\"tab\",\"Key\":{"
                 "\"k\":{\"N\":\"%d\"}}}}]}",
                 key, value, other);
        call_ok(world, "TransactWriteItems", body);
        note(world, other, 0);
        break;
    }
    default:
        snprintf(body, sizeof(body),
                 "{\"TableName\":\"tab\",\"Item\":{\"k\":{\"N\":\"%d\"},\"v\":{\"N\":\"%d\"}}}",
                 key, value);
        call_ok(world, "PutItem", body);
        break;
    }
    note(world, key, value);
}

// What the recorded history says of the table after all writes of `at_ms`.
static void expected_at(const struct world *world, int64_t at_ms, int values[KEYS])
{
    memset(values, 0, KEYS * sizeof(*values));
    for (size_t i = 0; i < world->count && world->events[i].at_ms <= at_ms; i++)
        values[world->events[i].key] = world->events[i].value;
}

static int found_value(const char **text)
{
    const char *at = strstr(*text, "\"v\":{\"N\":\"");
    assert_non_null(at);
    *text = at + 10;
    return (int)strtol(*text, NULL, 10);
}

static void check_table(struct world *world, const char *name, int64_t at_ms)
{
    int values[KEYS];
    char body[1000];
    expected_at(world, at_ms, values);
    size_t expected = 0;
    for (int key = 0; key < KEYS; key++) {
        expected += values[key] != 0;
        snprintf(body, sizeof(body), "{\"TableName\":\"%s\",\"Key\":{\"k\":{\"N\":\"%d\"}}}", name,
                 key);
        call_ok(world, "GetItem", body);
        buf_byte(&world->call.response, 0);
        const char *text = (const char *)world->call.response.ptr;
        if (values[key] == 0)
            assert_string_equal(text, "{}");
        else
            assert_int_equal(found_value(&text), values[key]);
    }
    char count[40];
    snprintf(count, sizeof(count), "\"Count\":%zu,", expected);
    snprintf(body, sizeof(body),
             "{\"TableName\":\"%s\",\"IndexName\":\"byv\",\"Select\":\"COUNT\"}", name);
    call_ok(world, "Scan", body);
    buf_byte(&world->call.response, 0);
    assert_non_null(strstr((const char *)world->call.response.ptr, count));
    snprintf(body, sizeof(body), "{\"TableName\":\"%s\"}", name);
    call_ok(world, "DescribeTable", body);
    call_ok(world, "DeleteTable", body);
}

static void restore_to(struct world *world, int64_t at_ms)
{
    char body[1000];
    snprintf(body, sizeof(body),
             "{\"SourceTableName\":\"tab\",\"TargetTableName\":\"then\",\"RestoreDateTime\":%lld."
             "%03d}",
             (long long)(at_ms / 1000), (int)(at_ms % 1000));
    call_ok(world, "RestoreTableToPointInTime", body);
    work_wait(&world->api->shop);
    check_table(world, "then", at_ms);
}

static void test_restore_to_random_instants(void **state)
{
    (void)state;
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    const char *seed = getenv("SEED");
    world_open(world, seed == NULL ? 1 : strtoull(seed, NULL, 10));
    for (int i = 0; i < 200; i++)
        write_one(world);
    world->clock.now_ms += 5;
    call_ok(world, "UpdateContinuousBackups",
            "{\"TableName\":\"tab\",\"PointInTimeRecoverySpecification\":{"
            "\"PointInTimeRecoveryEnabled\":true}}");
    int64_t first_ms = world->clock.now_ms;
    for (int i = 200; i < WRITES; i++) {
        if (chance(world, 3) == 0)
            world->clock.now_ms += (int64_t)chance(world, 1500);
        write_one(world);
    }
    int64_t last_ms = world->clock.now_ms;
    world->clock.now_ms += 60000;
    restore_to(world, first_ms);
    restore_to(world, last_ms);
    for (int i = 0; i < RESTORES; i++)
        restore_to(world, first_ms + (int64_t)chance(world, (uint64_t)(last_ms - first_ms)));
    world_close(world);
}

static void keep_arn(struct world *world, char *arn, size_t size)
{
    buf_byte(&world->call.response, 0);
    const char *from = strstr((const char *)world->call.response.ptr, "\"BackupArn\":\"");
    assert_non_null(from);
    from += 13;
    size_t len = strcspn(from, "\"");
    assert_true(len < size);
    memcpy(arn, from, len);
    arn[len] = 0;
}

static void restore_from(struct world *world, const char *arn, int64_t at_ms)
{
    char body[1000];
    snprintf(body, sizeof(body), "{\"TargetTableName\":\"then\",\"BackupArn\":\"%s\"}", arn);
    call_ok(world, "RestoreTableFromBackup", body);
    work_wait(&world->api->shop);
    check_table(world, "then", at_ms);
}

// Writes go on right after each backup was answered for, and must not be in it.
static void test_restore_from_backups(void **state)
{
    (void)state;
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    world_open(world, 7);
    char arns[4][200];
    int64_t times[4];
    for (size_t b = 0; b < 4; b++) {
        for (int i = 0; i < 400; i++)
            write_one(world);
        times[b] = world->clock.now_ms;
        call_ok(world, "CreateBackup", "{\"TableName\":\"tab\",\"BackupName\":\"one\"}");
        keep_arn(world, arns[b], sizeof(arns[b]));
        world->clock.now_ms += 10;
        for (int i = 0; i < 10; i++)
            write_one(world);
        work_wait(&world->api->shop);
    }
    for (size_t b = 0; b < 4; b++)
        restore_from(world, arns[b], times[b]);
    // Deleting a table that can be restored leaves a backup of it.
    call_ok(world, "UpdateContinuousBackups",
            "{\"TableName\":\"tab\",\"PointInTimeRecoverySpecification\":{"
            "\"PointInTimeRecoveryEnabled\":true}}");
    call_ok(world, "DeleteTable", "{\"TableName\":\"tab\"}");
    call_ok(world, "ListBackups", "{\"BackupType\":\"SYSTEM\"}");
    keep_arn(world, arns[0], sizeof(arns[0]));
    restore_from(world, arns[0], world->clock.now_ms);
    for (size_t b = 1; b < 4; b++) {
        char body[1000];
        snprintf(body, sizeof(body), "{\"BackupArn\":\"%s\"}", arns[b]);
        call_ok(world, "DescribeBackup", body);
        call_ok(world, "DeleteBackup", body);
        call_run(&world->call, SLICE_LIT("DescribeBackup"), slice_str(body));
        assert_int_equal(world->call.status, 400);
        assert_int_equal(world->call.error_code, ERR_BACKUP_NOT_FOUND);
    }
    world_close(world);
}

// ---- While something is being made --------------------------------------------------------------

// Tasks that keep all threads of a lane busy, and those behind them waiting.
enum { THREADS_MAX = 16 };

struct blocker {
    struct task tasks[THREADS_MAX];
};

static atomic_bool blocked;

static void run_blocker(struct task *task, struct workshop *shop)
{
    (void)task;
    while (atomic_load(&blocked) && work_pause(shop, 1))
        continue;
}

static void block(struct world *world, struct blocker *blocker, enum lane_kind lane)
{
    atomic_store(&blocked, true);
    for (size_t i = 0; lane_idle(&world->api->shop, lane); i++) {
        assert_true(i < THREADS_MAX);
        blocker->tasks[i] = (struct task){.lane = lane, .run = run_blocker};
        assert_true(lane_submit(&world->api->shop, &blocker->tasks[i]));
    }
}

static void unblock(struct world *world)
{
    atomic_store(&blocked, false);
    work_wait(&world->api->shop);
}

static void call_fails(struct world *world, const char *operation, const char *body,
                       enum error_code code)
{
    call_run(&world->call, slice_str(operation), slice_str(body));
    if (world->call.error_code != code)
        print_error("%s %s: %.*s\n", operation, body, SLICE_FMT(buf_view(&world->call.response)));
    assert_int_equal(world->call.error_code, code);
}

static void check_busy_table(struct world *world)
{
    call_fails(world, "GetItem", "{\"TableName\":\"then\",\"Key\":{\"k\":{\"N\":\"1\"}}}",
               ERR_RESOURCE_NOT_FOUND);
    call_fails(world, "DeleteTable", "{\"TableName\":\"then\"}", ERR_RESOURCE_IN_USE);
    call_fails(world, "UpdateTable", "{\"TableName\":\"then\",\"DeletionProtectionEnabled\":true}",
               ERR_RESOURCE_IN_USE);
    call_fails(world, "UpdateTimeToLive",
               "{\"TableName\":\"then\",\"TimeToLiveSpecification\":{\"Enabled\":true,"
               "\"AttributeName\":\"ttl\"}}",
               ERR_RESOURCE_IN_USE);
    call_fails(world, "UpdateContinuousBackups",
               "{\"TableName\":\"then\",\"PointInTimeRecoverySpecification\":{"
               "\"PointInTimeRecoveryEnabled\":true}}",
               ERR_CONTINUOUS_BACKUPS_UNAVAILABLE);
    call_fails(world, "CreateBackup", "{\"TableName\":\"then\",\"BackupName\":\"one\"}",
               ERR_TABLE_IN_USE);
}

static void test_busy(void **state)
{
    (void)state;
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    world_open(world, 3);
    for (int i = 0; i < 400; i++)
        write_one(world);
    char arn[200];
    char body[1000];
    struct blocker blocker;
    block(world, &blocker, LANE_BACKUP);
    call_ok(world, "CreateBackup", "{\"TableName\":\"tab\",\"BackupName\":\"one\"}");
    keep_arn(world, arn, sizeof(arn));
    world->clock.now_ms += 10;
    for (int i = 0; i < 100; i++)
        write_one(world);
    call_fails(world, "DeleteTable", "{\"TableName\":\"tab\"}", ERR_RESOURCE_IN_USE);
    snprintf(body, sizeof(body), "{\"BackupArn\":\"%s\"}", arn);
    call_fails(world, "DeleteBackup", body, ERR_BACKUP_IN_USE);
    // It had to wait, so it is of the moment when it had its turn.
    int64_t then_ms = world->clock.now_ms;
    unblock(world);
    world->clock.now_ms += 10;
    for (int i = 0; i < 100; i++)
        write_one(world);
    block(world, &blocker, LANE_RESTORE);
    snprintf(body, sizeof(body), "{\"TargetTableName\":\"then\",\"BackupArn\":\"%s\"}", arn);
    call_ok(world, "RestoreTableFromBackup", body);
    check_busy_table(world);
    snprintf(body, sizeof(body), "{\"BackupArn\":\"%s\"}", arn);
    call_fails(world, "DeleteBackup", body, ERR_BACKUP_IN_USE);
    unblock(world);
    check_table(world, "then", then_ms);
    call_ok(world, "DeleteBackup", body);
    call_ok(world, "DeleteTable", "{\"TableName\":\"tab\"}");
    world_close(world);
}

// A restore to a point in time is of that point, however late it runs.
static void test_late_restore(void **state)
{
    (void)state;
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    world_open(world, 5);
    struct blocker blocker;
    call_ok(world, "UpdateContinuousBackups",
            "{\"TableName\":\"tab\",\"PointInTimeRecoverySpecification\":{"
            "\"PointInTimeRecoveryEnabled\":true}}");
    for (int i = 0; i < 300; i++)
        write_one(world);
    int64_t then_ms = world->clock.now_ms;
    world->clock.now_ms += 1000;
    for (int i = 0; i < 300; i++)
        write_one(world);
    block(world, &blocker, LANE_RESTORE);
    char body[1000];
    snprintf(body, sizeof(body),
             "{\"SourceTableName\":\"tab\",\"TargetTableName\":\"then\",\"RestoreDateTime\":%lld}",
             (long long)(then_ms / 1000));
    call_ok(world, "RestoreTableToPointInTime", body);
    for (int i = 0; i < 300; i++)
        write_one(world);
    // What it reads must stay until it is done.
    call_fails(world, "DeleteTable", "{\"TableName\":\"tab\"}", ERR_RESOURCE_IN_USE);
    unblock(world);
    check_table(world, "then", then_ms);
    call_ok(world, "DeleteTable", "{\"TableName\":\"tab\"}");
    engine_settle(world->api->shop.engine);
    // What the table left goes when its time is up.
    call_ok(world, "ListBackups", "{\"BackupType\":\"SYSTEM\"}");
    buf_byte(&world->call.response, 0);
    assert_non_null(strstr((const char *)world->call.response.ptr, "tab$DeletedTableBackup"));
    world->clock.now_ms += 36LL * 24 * 3600 * 1000;
    janitor_run(world->api->janitor);
    call_ok(world, "ListBackups", "{\"BackupType\":\"SYSTEM\"}");
    buf_byte(&world->call.response, 0);
    assert_string_equal((const char *)world->call.response.ptr, "{\"BackupSummaries\":[]}");
    world_close(world);
}

// A period that is made longer does not reach back to what is not known any more.
static void test_period(void **state)
{
    (void)state;
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    world_open(world, 11);
    char body[1000];
    call_ok(world, "UpdateContinuousBackups",
            "{\"TableName\":\"tab\",\"PointInTimeRecoverySpecification\":{"
            "\"PointInTimeRecoveryEnabled\":true,\"RecoveryPeriodInDays\":1}}");
    write_one(world);
    int64_t then_ms = world->clock.now_ms;
    world->clock.now_ms += 1000;
    write_one(world);
    world->clock.now_ms += 3LL * 24 * 3600 * 1000;
    janitor_run(world->api->janitor);
    call_ok(world, "UpdateContinuousBackups",
            "{\"TableName\":\"tab\",\"PointInTimeRecoverySpecification\":{"
            "\"PointInTimeRecoveryEnabled\":true,\"RecoveryPeriodInDays\":35}}");
    snprintf(body, sizeof(body),
             "{\"SourceTableName\":\"tab\",\"TargetTableName\":\"then\",\"RestoreDateTime\":%lld}",
             (long long)(then_ms / 1000));
    call_fails(world, "RestoreTableToPointInTime", body, ERR_INVALID_RESTORE_TIME);
    restore_to(world, world->clock.now_ms - 3600 * 1000);
    world_close(world);
}

// ---- Between start and the writer ---------------------------------------------------------------

// A job that keeps the writer waiting.
struct writer_stop {
    struct job job; // first
    pthread_mutex_t lock;
};

static bool run_wait(struct job *job, struct txn *txn)
{
    (void)txn;
    struct writer_stop *stop = (struct writer_stop *)job;
    assert_int_equal(pthread_mutex_lock(&stop->lock), 0);
    assert_int_equal(pthread_mutex_unlock(&stop->lock), 0);
    return true;
}

static void ignore_done(struct job *job)
{
    (void)job;
}

// For calls whose two halves a test takes apart.
struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t ready;
    bool done;
};

static void call_done(struct api_call *call)
{
    struct waiter *waiter = call->context;
    assert_int_equal(pthread_mutex_lock(&waiter->lock), 0);
    waiter->done = true;
    assert_int_equal(pthread_cond_signal(&waiter->ready), 0);
    assert_int_equal(pthread_mutex_unlock(&waiter->lock), 0);
}

static void start_call(struct api_call *call, struct waiter *waiter, const char *operation,
                       const char *body)
{
    *waiter = (struct waiter){PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    api_call_reset(call);
    call->operation = slice_str(operation);
    call->body = slice_str(body);
    call->done = call_done;
    call->context = waiter;
    assert_false(api_call_start(call));
}

static void finish_call(struct api_call *call, struct waiter *waiter)
{
    assert_int_equal(pthread_mutex_lock(&waiter->lock), 0);
    while (!waiter->done)
        assert_int_equal(pthread_cond_wait(&waiter->ready, &waiter->lock), 0);
    assert_int_equal(pthread_mutex_unlock(&waiter->lock), 0);
    api_call_finish(call);
}

// The table goes after the request has found it, and before the writer has come to it.
static void check_overtaken(struct world *world, const char *operation, const char *body)
{
    struct api_call other;
    struct waiter waiters[2];
    struct error error;
    struct writer_stop stop = {.job = {.run = run_wait, .done = ignore_done, .error = &error},
                               .lock = PTHREAD_MUTEX_INITIALIZER};
    api_call_init(&other, world->api);
    assert_int_equal(pthread_mutex_lock(&stop.lock), 0);
    assert_true(engine_submit(world->api->shop.engine, &stop.job));
    start_call(&world->call, &waiters[0], "DeleteTable", "{\"TableName\":\"tab\"}");
    start_call(&other, &waiters[1], operation, body);
    assert_int_equal(pthread_mutex_unlock(&stop.lock), 0);
    finish_call(&world->call, &waiters[0]);
    finish_call(&other, &waiters[1]);
    assert_int_equal(world->call.status, 200);
    assert_int_equal(other.error_code, ERR_TABLE_NOT_FOUND);
    api_call_release(&other);
}

static void test_overtaken(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct world *world = calloc(1, sizeof(*world));
        assert_non_null(world);
        world_open(world, 13);
        call_ok(world, "UpdateContinuousBackups",
                "{\"TableName\":\"tab\",\"PointInTimeRecoverySpecification\":{"
                "\"PointInTimeRecoveryEnabled\":true}}");
        write_one(world);
        world->clock.now_ms += 10;
        if (i == 0)
            check_overtaken(world, "CreateBackup",
                            "{\"TableName\":\"tab\",\"BackupName\":\"one\"}");
        else
            check_overtaken(world, "RestoreTableToPointInTime",
                            "{\"SourceTableName\":\"tab\",\"TargetTableName\":\"then\","
                            "\"UseLatestRestorableTime\":true}");
        call_ok(world, "ListTables", "{}");
        buf_byte(&world->call.response, 0);
        assert_string_equal((const char *)world->call.response.ptr, "{\"TableNames\":[]}");
        call_ok(world, "ListBackups", "{\"BackupType\":\"USER\"}");
        buf_byte(&world->call.response, 0);
        assert_string_equal((const char *)world->call.response.ptr, "{\"BackupSummaries\":[]}");
        world_close(world);
    }
}

// No request reaches the hidden table of a backup.
static void test_hidden(void **state)
{
    (void)state;
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    world_open(world, 9);
    write_one(world);
    char arn[200];
    char name[100];
    char body[600];
    call_ok(world, "CreateBackup", "{\"TableName\":\"tab\",\"BackupName\":\"one\"}");
    keep_arn(world, arn, sizeof(arn));
    work_wait(&world->api->shop);
    snprintf(name, sizeof(name), "\\u0001backup/%s", strrchr(arn, '/') + 1);
    static const char *const requests[][2] = {
        {"DescribeTable", "{\"TableName\":\"%s\"}"},
        {"DeleteTable", "{\"TableName\":\"%s\"}"},
        {"Scan", "{\"TableName\":\"%s\"}"},
        {"BatchGetItem", "{\"RequestItems\":{\"%s\":{\"Keys\":[{\"k\":{\"N\":\"1\"}}]}}}"},
        {"BatchWriteItem",
         "{\"RequestItems\":{\"%s\":[{\"PutRequest\":{\"Item\":{\"k\":{\"N\":\"1\"}}}}]}}"},
        {"ExecuteStatement", "{\"Statement\":\"SELECT * FROM \\\"%s\\\"\"}"},
        {"RestoreTableToPointInTime",
         "{\"SourceTableArn\":\"%s\",\"TargetTableName\":\"other\",\"UseLatestRestorableTime\":"
         "true}"},
        {"DescribeGlobalTable", "{\"GlobalTableName\":\"%s\"}"},
        {"DescribeContinuousBackups", "{\"TableName\":\"%s\"}"},
        {"ExportTableToPointInTime", "{\"TableArn\":\"%s\",\"S3Bucket\":\"bucket\"}"},
    };
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        const char *at = strstr(requests[i][1], "%s");
        snprintf(body, sizeof(body), "%.*s%s%s", (int)(at - requests[i][1]), requests[i][1], name,
                 at + 2);
        call_run(&world->call, slice_str(requests[i][0]), slice_str(body));
        if (world->call.status == 200 || world->call.error_code == ERR_PITR_UNAVAILABLE)
            print_error("%s: %.*s\n", body, SLICE_FMT(buf_view(&world->call.response)));
        assert_int_equal(world->call.status, 400);
        assert_int_not_equal(world->call.error_code, ERR_PITR_UNAVAILABLE);
    }
    call_ok(world, "ListTables", "{\"ExclusiveStartTableName\":\"aaa\"}");
    call_ok(world, "ListTables", "{}");
    buf_byte(&world->call.response, 0);
    assert_string_equal((const char *)world->call.response.ptr, "{\"TableNames\":[\"tab\"]}");
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restore_from_backups),
        cmocka_unit_test(test_busy),
        cmocka_unit_test(test_late_restore),
        cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_period),
        cmocka_unit_test(test_overtaken),
        cmocka_unit_test(test_restore_to_random_instants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
