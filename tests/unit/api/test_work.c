// Work beside the requests: what is damaged fails the one task and is told, what is refused is
// waited for, nobody waits for another's pace, nothing is pinned in a queue, and memory is bounded.
// The store is the one in memory, with a driver around it that fails when it is told to.
#include "calls.h"

#include "base/encode.h"

#include "engine/log.h"
#include "store/fixture.h"
#include "store/store_driver.h"
#include "transfer/files.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

// ---- A store that fails -----------------------------------------------------------------------

struct trouble {
    const struct store_driver *driver; // that of the store in memory
    struct store_driver faulty;
    _Atomic tree_id damaged;                  // reading from here fails; 0 for none
    _Atomic(struct store_cursor *) of_damage; // the cursor over it
    atomic_bool refuses;                      // commits fail
    atomic_int refused;
    atomic_int snapshots; // that are held
    atomic_int cold;      // so many reads of keys find nothing in memory
};

static struct trouble trouble;

static struct store_cursor *faulty_cursor_open(struct store *store, struct store_snapshot *snapshot,
                                               struct slice lower, struct slice upper)
{
    struct store_cursor *cursor = trouble.driver->cursor_open(store, snapshot, lower, upper);
    if (trouble.damaged != 0 && lower.len >= 4 && be32_get(lower.ptr) == trouble.damaged)
        trouble.of_damage = cursor;
    return cursor;
}

static void faulty_cursor_seek(struct store_cursor *cursor, struct slice key)
{
    trouble.driver->cursor_seek(cursor, key);
    if (cursor == trouble.of_damage)
        cursor->valid = false;
}

static bool faulty_cursor_ok(const struct store_cursor *cursor, struct store_error *error)
{
    if (cursor != trouble.of_damage)
        return trouble.driver->cursor_ok == NULL || trouble.driver->cursor_ok(cursor, error);
    (void)store_fail(error, "reading failed: Corruption: in 000012.sst");
    error->damaged = true;
    return false;
}

static void faulty_cursor_close(struct store_cursor *cursor)
{
    if (cursor == trouble.of_damage)
        trouble.of_damage = NULL;
    trouble.driver->cursor_close(cursor);
}

static enum store_end faulty_commit(struct store *store, const struct store_batch *batch,
                                    struct store_error *error)
{
    if (!trouble.refuses)
        return trouble.driver->commit(store, batch, error);
    trouble.refused++;
    (void)store_fail(error, "no space left");
    return STORE_NOT_DONE;
}

static struct store_snapshot *faulty_snapshot_take(struct store *store)
{
    trouble.snapshots++;
    return trouble.driver->snapshot_take(store);
}

static void faulty_snapshot_release(struct store *store, struct store_snapshot *snapshot)
{
    trouble.snapshots--;
    trouble.driver->snapshot_release(store, snapshot);
}

static enum store_result faulty_get(struct store *store, struct store_snapshot *snapshot,
                                    struct slice key, struct store_value *out,
                                    struct store_error *error)
{
    if (trouble.cold == 0)
        return trouble.driver->get(store, snapshot, key, out, error);
    trouble.cold--;
    (void)store_fail(error, "reading failed: cold");
    error->cold = true;
    return STORE_FAILED;
}

static bool faulty_get_many(struct store *store, struct store_snapshot *snapshot,
                            struct store_read *reads, size_t count, struct store_error *error)
{
    if (trouble.cold == 0)
        return trouble.driver->get_many(store, snapshot, reads, count, error);
    trouble.cold--;
    (void)store_fail(error, "reading failed: cold");
    error->cold = true;
    return false;
}

static struct store *faulty_store(void)
{
    struct store_error error;
    struct store *store = store_open_memory(&error);
    assert_non_null(store);
    trouble = (struct trouble){.driver = store->driver, .faulty = *store->driver};
    trouble.faulty.cursor_open = faulty_cursor_open;
    trouble.faulty.cursor_seek = faulty_cursor_seek;
    trouble.faulty.cursor_ok = faulty_cursor_ok;
    trouble.faulty.cursor_close = faulty_cursor_close;
    trouble.faulty.commit = faulty_commit;
    trouble.faulty.get = faulty_get;
    trouble.faulty.get_many = faulty_get_many;
    trouble.faulty.snapshot_take = faulty_snapshot_take;
    trouble.faulty.snapshot_release = faulty_snapshot_release;
    store->driver = &trouble.faulty;
    return store;
}

// ---- A database -------------------------------------------------------------------------------

struct world {
    struct env_fixed clock;
    struct api *api;
    struct api_call call;
    char root[256];
};

static void call_ok(struct world *world, const char *operation, const char *body)
{
    call_run(&world->call, slice_str(operation), slice_str(body));
    buf_byte(&world->call.response, 0);
    if (world->call.status != 200)
        print_error("%s %s: %s\n", operation, body, (const char *)world->call.response.ptr);
    assert_int_equal(world->call.status, 200);
}

// The same, with ' for ".
static void call_quoted(struct world *world, const char *operation, const char *body)
{
    char quoted[1024];
    size_t len = strlen(body);
    assert_true(len < sizeof(quoted));
    for (size_t i = 0; i <= len; i++)
        quoted[i] = body[i] == '\'' ? '"' : body[i];
    call_ok(world, operation, quoted);
}

static const char *answer(const struct world *world)
{
    return (const char *)world->call.response.ptr;
}

// The text of a member in the last answer.
static void keep(const struct world *world, const char *member, char out[256])
{
    char wanted[64];
    (void)snprintf(wanted, sizeof(wanted), "\"%s\":\"", member);
    const char *from = strstr(answer(world), wanted);
    assert_non_null(from);
    from += strlen(wanted);
    size_t len = strcspn(from, "\"");
    assert_true(len < 256);
    memcpy(out, from, len);
    out[len] = 0;
}

static void create_table(struct world *world, const char *name)
{
    char body[1000];
    (void)snprintf(
        body, sizeof(body),
        "{\"TableName\":\"%s\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":[{"
        "\"AttributeName\":\"k\",\"AttributeType\":\"S\"},{\"AttributeName\":\"v\","
        "\"AttributeType\":\"N\"}],\"KeySchema\":[{\"AttributeName\":\"k\",\"KeyType\":\"HASH\"}],"
        "\"GlobalSecondaryIndexes\":[{\"IndexName\":\"byv\",\"KeySchema\":[{\"AttributeName\":"
        "\"v\",\"KeyType\":\"HASH\"}],\"Projection\":{\"ProjectionType\":\"ALL\"}}]}",
        name);
    call_ok(world, "CreateTable", body);
}

static void put(struct world *world, const char *table, int key, int value)
{
    char body[1000];
    (void)snprintf(body, sizeof(body),
                   "{\"TableName\":\"%s\",\"Item\":{\"k\":{\"S\":\"%d\"},\"v\":{\"N\":\"%d\"}}}",
                   table, key, value);
    call_ok(world, "PutItem", body);
}

static void keep_past(struct world *world, const char *table)
{
    char body[1000];
    (void)snprintf(body, sizeof(body),
                   "{\"TableName\":\"%s\",\"PointInTimeRecoverySpecification\":{"
                   "\"PointInTimeRecoveryEnabled\":true}}",
                   table);
    call_ok(world, "UpdateContinuousBackups", body);
}

static void world_open(struct world *world)
{
    struct store_error error;
    *world = (struct world){.clock = {.now_ms = 1700000000000, .seed = 7}};
    struct api_options options = {.store = faulty_store(), .env = env_fixed(&world->clock)};
    world->api = api_open(&options, &error);
    assert_non_null(world->api);
    temp_dir_make(world->root);
    api_set_buckets(world->api, world->root, NULL, NULL);
    api_call_init(&world->call, world->api);
    create_table(world, "tab");
    create_table(world, "other");
    for (int i = 0; i < 300; i++) {
        put(world, "tab", i, i % 7);
        put(world, "other", i, i % 7);
    }
}

static void world_close(struct world *world)
{
    api_call_release(&world->call);
    api_close(world->api);
    temp_dir_remove(world->root);
}

static void damage(struct world *world, const char *table)
{
    struct table *found = engine_table(world->api->shop.engine, slice_str(table));
    assert_non_null(found);
    trouble.damaged = found->tree;
    table_release(found);
}

static void backup(struct world *world, const char *table, char arn[256])
{
    char body[1000];
    (void)snprintf(body, sizeof(body), "{\"TableName\":\"%s\",\"BackupName\":\"one\"}", table);
    call_ok(world, "CreateBackup", body);
    keep(world, "BackupArn", arn);
}

static void describe_backup(struct world *world, const char *arn, char status[256])
{
    char body[1000];
    (void)snprintf(body, sizeof(body), "{\"BackupArn\":\"%.255s\"}", arn);
    call_ok(world, "DescribeBackup", body);
    keep(world, "BackupStatus", status);
}

static void restore(struct world *world, const char *arn)
{
    char body[1000];
    (void)snprintf(body, sizeof(body), "{\"TargetTableName\":\"then\",\"BackupArn\":\"%s\"}", arn);
    call_ok(world, "RestoreTableFromBackup", body);
}

static void check_items(struct world *world, const char *table, const char *index, int expected)
{
    char body[1000];
    char count[64];
    (void)snprintf(body, sizeof(body), "{\"TableName\":\"%s\",\"Select\":\"COUNT\"%s%s%s}", table,
                   index == NULL ? "" : ",\"IndexName\":\"", index == NULL ? "" : index,
                   index == NULL ? "" : "\"");
    call_ok(world, "Scan", body);
    (void)snprintf(count, sizeof(count), "\"Count\":%d,", expected);
    if (strstr(answer(world), count) == NULL)
        print_error("%s %s: %s\n", table, index == NULL ? "" : index, answer(world));
    assert_non_null(strstr(answer(world), count));
}

// ---- Lanes ------------------------------------------------------------------------------------

enum { BLOCKERS = 8 };

static atomic_bool blocked;
static atomic_int running;
static struct task blockers[BLOCKERS];

static void run_blocker(struct task *task, struct workshop *shop)
{
    (void)task;
    running++;
    while (blocked && work_pause(shop, 1))
        continue;
    running--;
}

// Keeps all threads of a lane busy.
static void block(struct world *world, enum lane_kind lane)
{
    blocked = true;
    for (size_t i = 0; lane_idle(&world->api->shop, lane); i++) {
        assert_true(i < BLOCKERS);
        blockers[i] = (struct task){.lane = lane, .run = run_blocker};
        assert_true(lane_submit(&world->api->shop, &blockers[i]));
    }
}

static void unblock(struct world *world)
{
    blocked = false;
    work_wait(&world->api->shop);
}

static void test_lanes(void **state)
{
    (void)state;
    struct world world;
    char arn[256];
    char status[256];
    world_open(&world);
    block(&world, LANE_BULK);
    backup(&world, "tab", arn);
    do
        describe_backup(&world, arn, status);
    while (strcmp(status, "CREATING") == 0);
    assert_string_equal(status, "AVAILABLE");
    assert_true(running > 0);
    unblock(&world);
    world_close(&world);
}

// Tasks on one thing run one after the other, in their order; those on others at the same time.
static void test_subjects(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    blocked = true;
    const char *subjects[] = {"a", "a", "b", "a"};
    for (size_t i = 0; i < COUNT_OF(subjects); i++) {
        blockers[i] = (struct task){
            .lane = LANE_MODEL, .run = run_blocker, .subject = slice_str(subjects[i])};
        assert_true(lane_submit(&world.api->shop, &blockers[i]));
    }
    while (running < 2)
        (void)sched_yield();
    assert_int_equal(running, 2);
    unblock(&world);
    assert_int_equal(running, 0);
    world_close(&world);
}

static void test_nothing_is_pinned(void **state)
{
    (void)state;
    struct world world;
    char arns[20][256];
    char status[256];
    world_open(&world);
    block(&world, LANE_BACKUP);
    int before = trouble.snapshots;
    for (size_t i = 0; i < COUNT_OF(arns); i++)
        backup(&world, "tab", arns[i]);
    assert_int_equal(trouble.snapshots, before);
    unblock(&world);
    for (size_t i = 0; i < COUNT_OF(arns); i++) {
        describe_backup(&world, arns[i], status);
        assert_string_equal(status, "AVAILABLE");
    }
    world_close(&world);
}

// ---- Two kinds of failure ---------------------------------------------------------------------

static void test_damage(void **state)
{
    (void)state;
    struct world world;
    struct engine_health health;
    char arn[256];
    char other[256];
    char status[256];
    world_open(&world);
    damage(&world, "tab");
    backup(&world, "tab", arn);
    backup(&world, "other", other);
    work_wait(&world.api->shop);
    describe_backup(&world, other, status);
    assert_string_equal(status, "AVAILABLE");
    describe_backup(&world, arn, status);
    assert_string_equal(status, "DELETED");
    assert_non_null(strstr(answer(&world), "000012.sst"));
    engine_health(world.api->shop.engine, &health);
    assert_true(health.writable);
    assert_int_equal(health.damages, 1);
    assert_non_null(strstr(health.damage, "000012.sst"));
    assert_int_equal(health.damaged_ms, 1700000000000);
    // It cannot be restored, it can be deleted, and so can the table.
    char body[1000];
    (void)snprintf(body, sizeof(body), "{\"TargetTableName\":\"then\",\"BackupArn\":\"%s\"}", arn);
    call_run(&world.call, SLICE_LIT("RestoreTableFromBackup"), slice_str(body));
    assert_int_equal(world.call.error_code, ERR_BACKUP_NOT_FOUND);
    (void)snprintf(body, sizeof(body), "{\"BackupArn\":\"%.255s\"}", arn);
    call_ok(&world, "DeleteBackup", body);
    call_ok(&world, "DeleteTable", "{\"TableName\":\"tab\"}");
    engine_settle(world.api->shop.engine);
    world_close(&world);
}

// A table that cannot be filled goes; what is asked for next is not concerned.
static void test_damaged_restore(void **state)
{
    (void)state;
    struct world world;
    char arn[256];
    char name[300];
    world_open(&world);
    backup(&world, "tab", arn);
    work_wait(&world.api->shop);
    (void)snprintf(name, sizeof(name), "%cbackup/%s", TABLE_HIDDEN, strrchr(arn, '/') + 1);
    damage(&world, name);
    restore(&world, arn);
    work_wait(&world.api->shop);
    call_run(&world.call, SLICE_LIT("DescribeTable"), SLICE_LIT("{\"TableName\":\"then\"}"));
    assert_int_equal(world.call.error_code, ERR_RESOURCE_NOT_FOUND);
    trouble.damaged = 0;
    restore(&world, arn);
    work_wait(&world.api->shop);
    check_items(&world, "then", NULL, 300);
    world_close(&world);
}

// A read of what is damaged is an error that says so, and nothing is retried.
static void test_damaged_read(void **state)
{
    (void)state;
    struct error error;
    struct arena arena;
    struct work_patience patience = {.tries = 0};
    struct world world;
    world_open(&world);
    arena_init(&arena, 1 << 16);
    error_init(&error, &arena);
    (void)error_set(&error, ERR_DAMAGED, "damaged");
    assert_false(work_retry(&world.api->shop, &patience, &error));
    assert_int_equal(error.code, ERR_DAMAGED);
    assert_int_equal(patience.tries, 0);
    arena_release(&arena);
    world_close(&world);
}

// What is not in memory is read by a thread that may wait; nobody hears of it.
static void test_cold_reads(void **state)
{
    (void)state;
    static const struct {
        const char *operation;
        const char *body;
    } reads[] = {
        {"GetItem", "{'TableName':'cold','Key':{'pk':{'S':'a'}}}"},
        {"BatchGetItem", "{'RequestItems':{'cold':{'Keys':[{'pk':{'S':'a'}}]}}}"},
        {"TransactGetItems",
         "{'TransactItems':[{'Get':{'TableName':'cold','Key':{'pk':{'S':'a'}}}}]}"},
        {"ExecuteStatement", "{'Statement':'SELECT * FROM cold WHERE pk=?',"
                             "'Parameters':[{'S':'a'}]}"},
        {"BatchExecuteStatement", "{'Statements':[{'Statement':'SELECT * FROM cold WHERE pk=?',"
                                  "'Parameters':[{'S':'a'}]}]}"},
        {"ExecuteTransaction", "{'TransactStatements':[{'Statement':'SELECT * FROM cold WHERE "
                               "pk=?','Parameters':[{'S':'a'}]}]}"},
    };
    struct world world;
    world_open(&world);
    call_quoted(&world, "CreateTable",
                "{'TableName':'cold','BillingMode':'PAY_PER_REQUEST',"
                "'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}],"
                "'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}]}");
    call_quoted(&world, "PutItem",
                "{'TableName':'cold','Item':{'pk':{'S':'a'},'is':{'S':'warm'}}}");
    for (size_t i = 0; i < COUNT_OF(reads); i++) {
        trouble.cold = 1;
        call_quoted(&world, reads[i].operation, reads[i].body);
        assert_int_equal(trouble.snapshots, 0);
        if (strstr(answer(&world), "warm") == NULL)
            fail_msg("%s: %s", reads[i].operation, answer(&world));
    }
    world_close(&world);
}

// What the store refuses is waited for, as long as it does.
static void test_refused(void **state)
{
    (void)state;
    struct world world;
    char arn[256];
    world_open(&world);
    backup(&world, "tab", arn);
    work_wait(&world.api->shop);
    block(&world, LANE_RESTORE);
    restore(&world, arn);
    trouble.refuses = true;
    blocked = false;
    while (trouble.refused < 2)
        (void)sched_yield();
    trouble.refuses = false;
    world.clock.now_ms += 2000; // the store is asked again after a second
    work_wait(&world.api->shop);
    check_items(&world, "then", NULL, 300);
    check_items(&world, "then", "byv", 300);
    world_close(&world);
}

// A task that waits for the store does not keep the api from closing.
static void test_closes_while_refused(void **state)
{
    (void)state;
    struct world world;
    char arn[256];
    world_open(&world);
    backup(&world, "tab", arn);
    work_wait(&world.api->shop);
    block(&world, LANE_RESTORE);
    restore(&world, arn);
    trouble.refuses = true;
    blocked = false;
    while (trouble.refused < 2)
        (void)sched_yield();
    world_close(&world);
}

// ---- The clock --------------------------------------------------------------------------------

static void test_clock_steps_back(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    keep_past(&world, "tab");
    world.clock.now_ms += 60 * 1000;
    for (int i = 300; i < 400; i++)
        put(&world, "tab", i, 1);
    world.clock.now_ms -= 3600 * 1000;
    for (int i = 400; i < 500; i++)
        put(&world, "tab", i, 1);
    call_ok(&world, "RestoreTableToPointInTime",
            "{\"SourceTableName\":\"tab\",\"TargetTableName\":\"latest\","
            "\"UseLatestRestorableTime\":true}");
    call_ok(&world, "RestoreTableToPointInTime",
            "{\"SourceTableName\":\"tab\",\"TargetTableName\":\"before\",\"RestoreDateTime\":"
            "1700000059}");
    work_wait(&world.api->shop);
    check_items(&world, "latest", NULL, 500);
    check_items(&world, "before", NULL, 300);
    world_close(&world);
}

// ---- Memory -----------------------------------------------------------------------------------

// All lines of an export's data, one behind the other.
static void export_all(struct world *world, struct buf *out)
{
    char arn[256];
    char body[1000];
    (void)snprintf(body, sizeof(body),
                   "{\"TableArn\":\"arn:aws:dynamodb:us-east-1:000000000000:table/tab\","
                   "\"S3Bucket\":\"bucket\",\"ExportType\":\"INCREMENTAL_EXPORT\","
                   "\"IncrementalExportSpecification\":{\"ExportFromTime\":1700000010,"
                   "\"ExportToTime\":1700002000}}");
    call_ok(world, "ExportTableToPointInTime", body);
    keep(world, "ExportArn", arn);
    work_wait(&world->api->shop);
    (void)snprintf(body, sizeof(body), "{\"ExportArn\":\"%s\"}", arn);
    call_ok(world, "DescribeExport", body);
    assert_non_null(strstr(answer(world), "\"ItemCount\":250"));
    struct arena arena;
    struct error error;
    struct file_entry *files;
    size_t count;
    bool there;
    arena_init(&arena, 1 << 20);
    error_init(&error, &arena);
    (void)snprintf(body, sizeof(body), "%s/bucket", world->root);
    assert_true(files_list(body, SLICE_LIT("AWSDynamoDB/data/"), FILES_NO_LINKS, &arena, &files,
                           &count, &error));
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        const char *path = files_path(&arena, body, files[i].key);
        assert_true(files_read(path, out, &there, &error));
        assert_int_equal(remove(path), 0);
    }
    arena_release(&arena);
}

static void test_export_in_parts(void **state)
{
    (void)state;
    struct world world;
    struct buf whole;
    struct buf parted;
    world_open(&world);
    keep_past(&world, "tab");
    for (int round = 0; round < 4; round++) {
        world.clock.now_ms += 600 * 1000;
        for (int i = 50; i < 300; i++)
            put(&world, "tab", i, 100 * round + i);
    }
    world.clock.now_ms += 1800 * 1000;
    buf_init(&whole, 16 << 20);
    buf_init(&parted, 16 << 20);
    export_all(&world, &whole);
    world.api->shop.note_bytes = 2000;
    export_all(&world, &parted);
    assert_int_equal(whole.len, parted.len);
    assert_memory_equal(whole.ptr, parted.ptr, whole.len);
    buf_release(&whole);
    buf_release(&parted);
    world_close(&world);
}

static void look(struct world *world, char duplicates[64], char refused[64])
{
    call_ok(world, "DiffModel",
            "{\"Model\":\"table tab { key k }\\nentity Thing { k = \\\"{id}\\\" id string v number "
            "unique }\"}");
    const char *at = strstr(answer(world), "\"Duplicates\":");
    const char *refusal = strstr(answer(world), "\"Refused\":");
    assert_non_null(at);
    assert_non_null(refusal);
    (void)snprintf(duplicates, 64, "%.*s", (int)strcspn(at, ",}"), at);
    (void)snprintf(refused, 64, "%.*s", (int)strcspn(refusal, ",}"), refusal);
}

static void test_unique_values_in_parts(void **state)
{
    (void)state;
    struct world world;
    char whole[2][64];
    char parted[2][64];
    world_open(&world);
    for (int i = 0; i < 1000; i++)
        put(&world, "tab", i, i % 700);
    look(&world, whole[0], whole[1]);
    assert_string_equal(whole[0], "\"Duplicates\":300");
    world.api->shop.note_bytes = 24 * 50;
    look(&world, parted[0], parted[1]);
    assert_string_equal(whole[0], parted[0]);
    assert_string_equal(whole[1], parted[1]);
    world_close(&world);
}

// ---- Duplicates -------------------------------------------------------------------------------

// A file with a hundred records of each of three keys; the last of each has the greatest value.
static void write_duplicates(const struct world *world)
{
    char path[512];
    struct arena arena;
    struct error error;
    struct buf lines;
    arena_init(&arena, 1 << 20);
    error_init(&error, &arena);
    buf_init(&lines, 1 << 20);
    for (int i = 0; i < 300; i++)
        buf_printf(&lines, "{\"Item\":{\"k\":{\"S\":\"same%d\"},\"v\":{\"N\":\"%d\"}}}\n", i % 3,
                   1000 + i);
    (void)snprintf(path, sizeof(path), "%s/in", world->root);
    assert_true(files_make_directory(path, &error));
    (void)snprintf(path, sizeof(path), "%s/in/items.json", world->root);
    assert_true(files_write(path, buf_view(&lines), &error));
    buf_release(&lines);
    arena_release(&arena);
}

// The last record of each key is there, once, in the table and in its index.
static void check_duplicates(struct world *world, const char *table, int others)
{
    char body[1000];
    check_items(world, table, NULL, others + 3);
    check_items(world, table, "byv", others + 3);
    for (int i = 0; i < 3; i++) {
        char value[64];
        (void)snprintf(body, sizeof(body),
                       "{\"TableName\":\"%s\",\"Key\":{\"k\":{\"S\":\"same%d\"}}}", table, i);
        call_ok(world, "GetItem", body);
        (void)snprintf(value, sizeof(value), "\"N\":\"%d\"", 1297 + i);
        assert_non_null(strstr(answer(world), value));
    }
    (void)snprintf(body, sizeof(body), "{\"TableName\":\"%s\"}", table);
    call_ok(world, "DescribeTable", body);
    (void)snprintf(body, sizeof(body), "\"ItemCount\":%d", others + 3);
    assert_non_null(strstr(answer(world), body));
}

static void test_import_of_duplicates(void **state)
{
    (void)state;
    struct world world;
    char arn[256];
    char body[1000];
    world_open(&world);
    write_duplicates(&world);
    call_ok(
        &world, "ImportTable",
        "{\"S3BucketSource\":{\"S3Bucket\":\"in\"},\"InputFormat\":\"DYNAMODB_JSON\","
        "\"TableCreationParameters\":{\"TableName\":\"imported\",\"BillingMode\":"
        "\"PAY_PER_REQUEST\",\"AttributeDefinitions\":[{\"AttributeName\":\"k\",\"AttributeType\":"
        "\"S\"},{\"AttributeName\":\"v\",\"AttributeType\":\"N\"}],\"KeySchema\":[{"
        "\"AttributeName\":\"k\",\"KeyType\":\"HASH\"}],\"GlobalSecondaryIndexes\":[{"
        "\"IndexName\":\"byv\",\"KeySchema\":[{\"AttributeName\":\"v\",\"KeyType\":\"HASH\"}],"
        "\"Projection\":{\"ProjectionType\":\"ALL\"}}]}}");
    keep(&world, "ImportArn", arn);
    work_wait(&world.api->shop);
    (void)snprintf(body, sizeof(body), "{\"ImportArn\":\"%s\"}", arn);
    call_ok(&world, "DescribeImport", body);
    assert_non_null(strstr(answer(&world), "\"ImportStatus\":\"COMPLETED\""));
    assert_non_null(strstr(answer(&world), "\"ImportedItemCount\":300"));
    check_duplicates(&world, "imported", 0);
    world_close(&world);
}

static void test_bulk_of_duplicates(void **state)
{
    (void)state;
    struct world world;
    char arn[256];
    char body[1000];
    world_open(&world);
    write_duplicates(&world);
    call_ok(&world, "StartBulkPutItems",
            "{\"TableName\":\"tab\",\"InputS3Configuration\":{\"S3Bucket\":\"in\",\"InputFormat\":"
            "\"DYNAMODB_JSON\"},\"OutputS3Configuration\":{\"S3Bucket\":\"out\",\"OutputType\":["
            "\"ERROR\"]}}");
    keep(&world, "BulkOperationArn", arn);
    work_wait(&world.api->shop);
    (void)snprintf(body, sizeof(body), "{\"BulkOperationArn\":\"%s\"}", arn);
    call_ok(&world, "DescribeBulkOperation", body);
    assert_non_null(strstr(answer(&world), "\"BulkOperationStatus\":\"COMPLETED\""));
    assert_non_null(strstr(answer(&world), "\"ProcessedItemCount\":300"));
    check_duplicates(&world, "tab", 300);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_subjects),
        cmocka_unit_test(test_nothing_is_pinned),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_damaged_restore),
        cmocka_unit_test(test_damaged_read),
        cmocka_unit_test(test_cold_reads),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_closes_while_refused),
        cmocka_unit_test(test_clock_steps_back),
        cmocka_unit_test(test_export_in_parts),
        cmocka_unit_test(test_unique_values_in_parts),
        cmocka_unit_test(test_import_of_duplicates),
        cmocka_unit_test(test_bulk_of_duplicates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
