// The engine without an API: tables, writes, indexes, pages, background work, tokens.
#include "support.h"

#include <pthread.h>
#include <stdio.h>

static void count_entries(struct world *world, const char *index, size_t expected)
{
    struct page_result result;
    scan_all(world, "music", index, &result);
    assert_int_equal(result.count, expected);
    buf_release(&result.items);
}

static void test_table_lifecycle(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    create_table(&world, "music", true, false);
    struct table_request again = {"music", false, false};
    assert_false(change_table(&world, "music", alter_create, &again));
    assert_int_equal(world.error.code, ERR_RESOURCE_IN_USE);
    assert_int_equal(engine_table_count(world.engine), 1);
    assert_true(put_item(&world, "music", item_of(&world, "pk=a", "sk=1", NULL)));
    assert_true(change_table(&world, "music", alter_drop, NULL));
    assert_false(change_table(&world, "music", alter_drop, NULL));
    engine_settle(world.engine);
    assert_null(engine_table(world.engine, SLICE_LIT("music")));
    // A table of the same name starts empty.
    create_table(&world, "music", true, false);
    count_entries(&world, NULL, 0);
    world_close(&world);
}

// The item with so many attributes more, on both sides of those that it has.
static struct slice widen(struct world *world, struct slice item, int attributes)
{
    struct buf out;
    struct value_builder builder;
    struct value_iter iter;
    buf_init(&out, 1 << 20);
    value_builder_init(&builder, &out);
    value_open_map(&builder);
    value_iter_init(&iter, item);
    while (value_iter_next(&iter)) {
        value_name(&builder, iter.name);
        value_put(&builder, iter.value);
    }
    for (int i = 0; i < attributes; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "%s%d", i % 2 == 0 ? "aa" : "zz", i);
        value_name(&builder, slice_str(name));
        value_put_null(&builder);
    }
    assert_true(value_close(&builder));
    struct slice wide = arena_copy(&world->arena, buf_view(&out));
    value_builder_release(&builder);
    buf_release(&out);
    return wide;
}

static void follow_item(int attributes)
{
    struct world world;
    world_open(&world);
    create_table(&world, "music", true, true);
    struct slice first = item_of(&world, "pk=a", "sk=1", "g=x", "h=y", NULL);
    assert_true(put_item(&world, "music", widen(&world, first, attributes)));
    count_entries(&world, "byG", 1);
    count_entries(&world, "byH", 1);
    // The entry moves with its key, and goes when an attribute does.
    struct slice moved = item_of(&world, "pk=a", "sk=1", "g=x2", "h=y", NULL);
    assert_true(put_item(&world, "music", widen(&world, moved, attributes)));
    count_entries(&world, "byG", 1);
    struct slice outside = item_of(&world, "pk=a", "sk=1", "h=y", NULL);
    assert_true(put_item(&world, "music", widen(&world, outside, attributes)));
    count_entries(&world, "byG", 0);
    count_entries(&world, "byH", 1);
    assert_true(delete_item(&world, "music", item_of(&world, "pk=a", "sk=1", NULL)));
    count_entries(&world, "byH", 0);
    count_entries(&world, NULL, 0);
    struct table *table = engine_table(world.engine, SLICE_LIT("music"));
    assert_int_equal(table->stats->items, 0);
    assert_int_equal(table->stats->bytes, 0);
    assert_int_equal(table->indexes[0].stats->items, 0);
    assert_int_equal(table->indexes[1].stats->bytes, 0);
    table_release(table);
    world_close(&world);
}

// Also one with so many attributes that its keys are looked up all at once.
static void test_index_follows_item(void **state)
{
    (void)state;
    follow_item(0);
    follow_item(1000);
}

static struct slice view_of(struct world *world, const struct table *table,
                            const struct index *index, struct slice item)
{
    struct buf out;
    struct value_builder builder;
    buf_init(&out, 1 << 20);
    value_builder_init(&builder, &out);
    layout_index_view(&builder, table, index, item);
    struct slice view = arena_copy(&world->arena, buf_view(&out));
    value_builder_release(&builder);
    buf_release(&out);
    return view;
}

// What an index shows of an item does not change with attributes that are not projected.
static void test_index_view(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    create_table(&world, "music", true, true);
    struct table *table = engine_table(world.engine, SLICE_LIT("music"));
    struct slice included[] = {SLICE_LIT("note"), SLICE_LIT("absent")};
    struct slice item = item_of(&world, "pk=a", "sk=1", "g=x", "h=y", "note=n", "other=o", NULL);
    struct slice wide = widen(&world, item, 1000);
    struct index index = table->indexes[0];
    index.projection = PROJECT_INCLUDE;
    index.include = included;
    index.include_count = COUNT_OF(included);
    struct slice view = view_of(&world, table, &index, item);
    assert_true(value_get(view, SLICE_LIT("note")).len > 0);
    assert_int_equal(value_get(view, SLICE_LIT("other")).len, 0);
    assert_true(slice_equal(view, view_of(&world, table, &index, wide)));
    index.projection = PROJECT_KEYS_ONLY;
    index.include_count = 0;
    assert_true(
        slice_equal(view_of(&world, table, &index, item), view_of(&world, table, &index, wide)));
    table_release(table);
    world_close(&world);
}

static void test_index_key_types(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    create_table(&world, "music", true, false);
    assert_false(put_item(&world, "music", item_of(&world, "pk=a", "sk=1", "g=#5", NULL)));
    assert_string_equal(world.error.message,
                        "One or more parameter values were invalid: Type mismatch for Index Key g "
                        "Expected: S Actual: N IndexName: byG");
    assert_false(put_item(&world, "music", item_of(&world, "pk=a", "sk=1", "g=", NULL)));
    assert_int_equal(world.error.code, ERR_EMPTY_KEY);
    count_entries(&world, NULL, 0);
    world_close(&world);
}

static void test_costs(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    create_table(&world, "music", true, false);
    struct write_action action = {.kind = WRITE_PUT,
                                  .item = item_of(&world, "pk=a", "sk=1", "g=x", "h=y", NULL)};
    assert_true(run_action(&world, "music", &action));
    assert_int_equal(action.out.cost.table, 1);
    assert_int_equal(action.out.cost.indexes[0], 1);
    // Nothing changes: the table is charged, the index is not.
    assert_true(run_action(&world, "music", &action));
    assert_int_equal(action.out.cost.indexes[0], 0);
    // The index key changes: one entry goes, another comes.
    action.item = item_of(&world, "pk=a", "sk=1", "g=x", "h=z", NULL);
    assert_true(run_action(&world, "music", &action));
    assert_int_equal(action.out.cost.indexes[0], 2);
    world_close(&world);
}

static bool run_transaction(struct world *world, struct table *table, size_t count,
                            struct write_action *actions)
{
    struct write_job job;
    error_init(&world->error, &world->arena);
    write_job_init(&job, world->engine, &world->arena, &world->error);
    job.count = count;
    job.actions = actions;
    job.transaction = true;
    for (size_t i = 0; i < count; i++)
        actions[i].table = table;
    bool ok = engine_run(world->engine, &job.job);
    write_job_release(&job);
    return ok;
}

static void test_transaction_is_all_or_nothing(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    create_table(&world, "music", true, false);
    struct table *table = engine_table(world.engine, SLICE_LIT("music"));
    struct write_action actions[2] = {
        {.kind = WRITE_PUT, .item = item_of(&world, "pk=a", "sk=1", "g=x", "h=y", NULL)},
        {.kind = WRITE_PUT, .item = item_of(&world, "pk=a", "sk=2", "g=#1", NULL)},
    };
    assert_false(run_transaction(&world, table, 2, actions));
    assert_int_equal(world.error.code, ERR_TRANSACTION_CANCELED);
    assert_int_equal(actions[0].out.failure, ERR_NONE);
    assert_int_equal(actions[1].out.failure, ERR_VALIDATION);
    table_release(table);
    count_entries(&world, NULL, 0);
    count_entries(&world, "byG", 0);
    world_close(&world);
}

static void test_transaction_has_one_action_for_an_item(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    create_table(&world, "music", false, false);
    struct table *table = engine_table(world.engine, SLICE_LIT("music"));
    struct write_action actions[3] = {
        {.kind = WRITE_PUT, .item = item_of(&world, "pk=a", "sk=1", "x=1", NULL)},
        {.kind = WRITE_PUT, .item = item_of(&world, "pk=a", "sk=2", NULL)},
        {.kind = WRITE_DELETE, .item = item_of(&world, "pk=a", "sk=1", NULL)},
    };
    assert_false(run_transaction(&world, table, 3, actions));
    assert_int_equal(world.error.code, ERR_VALIDATION);
    assert_string_equal(world.error.message,
                        "Transaction request cannot include multiple operations on one item");
    count_entries(&world, NULL, 0);
    assert_true(run_transaction(&world, table, 2, actions));
    count_entries(&world, NULL, 2);
    table_release(table);
    world_close(&world);
}

// The engine makes the key of what it is given, and says what is wrong with it.
static void test_keys_are_judged(void **state)
{
    (void)state;
    static const char invalid[] = "One or more parameter values were invalid: ";
    static const char schema[] = "The provided key element does not match the schema";
    static char long_key[LIMIT_SORT_KEY + 8] = "sk=";
    memset(long_key + 3, 'x', LIMIT_SORT_KEY + 1);
    struct world world;
    world_open(&world);
    create_table(&world, "music", true, false);
    const struct {
        enum write_kind kind;
        const char *words[3];
        const char *prefix;
        const char *message;
    } cases[] = {
        {WRITE_PUT, {"pk=a", "x=1"}, invalid, "Missing the key sk in the item"},
        {WRITE_PUT, {"pk=#1", "sk=1"}, invalid, "Type mismatch for key pk expected: S actual: N"},
        {WRITE_PUT,
         {"pk=a", long_key},
         invalid,
         "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"},
        {WRITE_PUT,
         {"pk=a", "sk=1", "g=#1"},
         invalid,
         "Type mismatch for Index Key g Expected: S Actual: N IndexName: byG"},
        {WRITE_DELETE, {"pk=a"}, schema, ""},
        {WRITE_DELETE, {"pk=a", "sk=1", "x=1"}, schema, ""},
        {WRITE_UPDATE, {"pk=a", "sk=#1"}, schema, ""},
        {WRITE_CHECK, {"pk=a", "x=1"}, schema, ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *const *words = cases[i].words;
        struct write_action action = {.kind = cases[i].kind,
                                      .item = item_of(&world, words[0], words[1], words[2], NULL)};
        assert_false(run_action(&world, "music", &action));
        assert_int_equal(world.error.code, ERR_VALIDATION);
        assert_int_equal(strncmp(world.error.message, cases[i].prefix, strlen(cases[i].prefix)), 0);
        assert_string_equal(world.error.message + strlen(cases[i].prefix), cases[i].message);
    }
    count_entries(&world, NULL, 0);
    world_close(&world);
}

// Runs a one-put transaction with a token; *repeated tells whether it had been done before.
static bool run_token(struct world *world, const char *token, const char *digest, bool *repeated)
{
    struct table *table = engine_table(world->engine, SLICE_LIT("music"));
    struct write_action action = {.kind = WRITE_PUT, .table = table};
    action.item = item_of(world, "pk=a", "sk=1", NULL);
    struct write_job job;
    error_init(&world->error, &world->arena);
    write_job_init(&job, world->engine, &world->arena, &world->error);
    job.count = 1;
    job.actions = &action;
    job.transaction = true;
    job.token = slice_str(token);
    memcpy(job.digest, digest, strlen(digest));
    bool ok = engine_run(world->engine, &job.job);
    *repeated = job.repeated;
    write_job_release(&job);
    table_release(table);
    return ok;
}

static void test_tokens(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    create_table(&world, "music", false, false);
    bool repeated;
    assert_true(run_token(&world, "t1", "one", &repeated));
    assert_false(repeated);
    assert_true(run_token(&world, "t1", "one", &repeated));
    assert_true(repeated);
    assert_false(run_token(&world, "t1", "two", &repeated));
    assert_int_equal(world.error.code, ERR_IDEMPOTENT_MISMATCH);
    // After ten minutes the token is free again.
    world.clock.now_ms += LIMIT_IDEMPOTENCY_MS + 1;
    assert_true(run_token(&world, "t1", "two", &repeated));
    assert_false(repeated);
    world_close(&world);
}

static void put_many(struct world *world, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char key[32];
        char g[32];
        (void)snprintf(key, sizeof(key), "pk=p%zu", i);
        (void)snprintf(g, sizeof(g), "g=g%zu", i % 7);
        assert_true(put_item(world, "music", item_of(world, key, "sk=1", g, "h=1", NULL)));
    }
}

static void test_backfill(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    create_table(&world, "music", false, false);
    put_many(&world, 1500);
    // An item whose attribute cannot be a key is left out, not an error.
    assert_true(put_item(&world, "music", item_of(&world, "pk=odd", "sk=1", "g=#1", "h=1", NULL)));
    assert_true(change_table(&world, "music", alter_add_index, NULL));
    // Writes go on while it is being filled.
    for (size_t i = 0; i < 300; i++) {
        char key[32];
        (void)snprintf(key, sizeof(key), "pk=p%zu", i * 5);
        struct slice item = item_of(&world, key, "sk=1", "g=moved", "h=1", NULL);
        if (i % 3 == 0)
            assert_true(delete_item(&world, "music", item_of(&world, key, "sk=1", NULL)));
        else
            assert_true(put_item(&world, "music", item));
    }
    engine_settle(world.engine);
    struct table *table = engine_table(world.engine, SLICE_LIT("music"));
    assert_int_equal(table->indexes[0].status, INDEX_ACTIVE);
    assert_int_equal(table->stats->items, 1401);
    assert_int_equal(table->indexes[0].stats->items, 1400);
    table_release(table);
    count_entries(&world, "byG", 1400);
    assert_true(change_table(&world, "music", alter_remove_index, NULL));
    engine_settle(world.engine);
    table = engine_table(world.engine, SLICE_LIT("music"));
    assert_int_equal(table->index_count, 0);
    table_release(table);
    world_close(&world);
}

// A job that holds the writer until it is let go, and jobs that do nothing.
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool open;
    size_t done;
};

struct gated_job {
    struct job job; // first
    struct gate *gate;
    struct error error;
};

static bool run_gate(struct job *job, struct txn *txn)
{
    (void)txn;
    struct gate *gate = ((struct gated_job *)job)->gate;
    pthread_mutex_lock(&gate->lock);
    while (!gate->open)
        pthread_cond_wait(&gate->wake, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
    return true;
}

static bool run_nothing(struct job *job, struct txn *txn)
{
    (void)job;
    (void)txn;
    return true;
}

static void count_done(struct job *job)
{
    struct gate *gate = ((struct gated_job *)job)->gate;
    pthread_mutex_lock(&gate->lock);
    gate->done++;
    pthread_cond_broadcast(&gate->wake);
    pthread_mutex_unlock(&gate->lock);
}

static void test_queue_is_bounded(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    engine_settle(world.engine);
    struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0};
    size_t count = LIMIT_WRITE_QUEUE + 1;
    struct gated_job *jobs = calloc(count, sizeof(*jobs));
    assert_non_null(jobs);
    for (size_t i = 0; i < count; i++) {
        error_init(&jobs[i].error, &world.arena);
        jobs[i].gate = &gate;
        jobs[i].job = (struct job){
            .run = i == 0 ? run_gate : run_nothing, .done = count_done, .error = &jobs[i].error};
        bool taken = engine_submit(world.engine, &jobs[i].job);
        assert_int_equal(taken, i < LIMIT_WRITE_QUEUE);
    }
    assert_int_equal(jobs[count - 1].error.code, ERR_THROTTLING);
    pthread_mutex_lock(&gate.lock);
    gate.open = true;
    pthread_cond_broadcast(&gate.wake);
    while (gate.done < LIMIT_WRITE_QUEUE)
        pthread_cond_wait(&gate.wake, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
    // There is room again.
    create_table(&world, "music", false, false);
    free(jobs);
    world_close(&world);
}

static void test_table_record(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    create_table(&world, "music", true, true);
    struct table *table = engine_table(world.engine, SLICE_LIT("music"));
    struct buf record;
    buf_init(&record, 1 << 20);
    table_encode(table, &record);
    struct table *copy = table_decode(buf_view(&record));
    assert_non_null(copy);
    assert_true(slice_equal(copy->name, table->name));
    assert_true(slice_equal(copy->uuid, table->uuid));
    assert_int_equal(copy->tree, table->tree);
    assert_int_equal(copy->index_count, 2);
    assert_true(copy->indexes[0].global);
    assert_int_equal(copy->indexes[1].projection, PROJECT_KEYS_ONLY);
    table_release(copy);
    // A damaged record is refused, wherever it is cut.
    for (size_t len = 0; len < record.len; len += 3)
        assert_null(table_decode(slice_of(record.ptr, len)));
    buf_release(&record);
    table_release(table);
    world_close(&world);
}

static void test_segments_cover_everything(void **state)
{
    (void)state;
    for (uint64_t total = 1; total < 5000; total += 37) {
        uint64_t before = layout_segment_start(0, total);
        assert_int_equal(before, 0);
        for (uint64_t segment = 1; segment < total; segment++) {
            uint64_t start = layout_segment_start(segment, total);
            assert_true(start >= before);
            before = start;
        }
    }
}

// A page that is read in slices is the page that is read at once, on one snapshot: what is deleted
// between two slices is still there.
static void test_slices(void **state)
{
    (void)state;
    enum { ITEMS = 40 };
    struct world world;
    struct page_result whole;
    struct page_result pieces = {.count = 0};
    world_open(&world);
    create_table(&world, "music", false, false);
    for (int i = 0; i < ITEMS; i++) {
        char key[16];
        (void)snprintf(key, sizeof(key), "pk=%d", i);
        assert_true(put_item(&world, "music", item_of(&world, key, "sk=1", NULL)));
    }
    scan_all(&world, "music", NULL, &whole);
    buf_init(&pieces.items, 1 << 20);
    struct table *table = engine_table(world.engine, SLICE_LIT("music"));
    struct page_request page = {
        .table = table, .segments = 1, .emit = collect, .context = &pieces, .arena = &world.arena};
    enum read_step step;
    size_t slices = 0;
    do {
        uint64_t work = 2 * WORK_ITEM; // an item and a bit
        step = engine_page_run(world.engine, &page, &work, &world.error);
        if (slices++ == 0)
            assert_true(delete_item(&world, "music", item_of(&world, "pk=7", "sk=1", NULL)));
    } while (step == READ_MORE);
    assert_int_equal(step, READ_DONE);
    assert_int_equal(slices, ITEMS);
    assert_int_equal(pieces.count, ITEMS);
    assert_true(slice_equal(buf_view(&pieces.items), buf_view(&whole.items)));
    // Too little for one item is nothing at all, and what was begun can be given up.
    uint64_t little = 1;
    page.scanned = page.bytes = 0;
    assert_int_equal(engine_page_run(world.engine, &page, &little, &world.error), READ_MORE);
    assert_int_equal(page.scanned, 0);
    engine_page_close(world.engine, &page);
    engine_page_close(world.engine, &page);
    buf_release(&pieces.items);
    buf_release(&whole.items);
    table_release(table);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_lifecycle),
        cmocka_unit_test(test_index_follows_item),
        cmocka_unit_test(test_index_view),
        cmocka_unit_test(test_index_key_types),
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_transaction_is_all_or_nothing),
        cmocka_unit_test(test_transaction_has_one_action_for_an_item),
        cmocka_unit_test(test_keys_are_judged),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_backfill),
        cmocka_unit_test(test_queue_is_bounded),
        cmocka_unit_test(test_table_record),
        cmocka_unit_test(test_segments_cover_everything),
        cmocka_unit_test(test_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
