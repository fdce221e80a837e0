// Requests that would hold the writer up: planned aside and confirmed, done in parts, or refused.
#include "support.h"

#include "engine/record.h"

#include <pthread.h>

enum { ELEMENTS = 20000, LONG_TEXT = 390000 };

// An item with a list so long that a condition on it takes more steps than the writer has.
static struct slice long_item(struct world *world, const char *sk, size_t elements)
{
    struct buf out;
    struct value_builder builder;
    uint8_t stored[NUMBER_BYTES_MAX];
    size_t len = number_from_i64(0, stored);
    buf_init(&out, 4 << 20);
    value_builder_init(&builder, &out);
    value_open_map(&builder);
    value_name(&builder, SLICE_LIT("l"));
    value_open_list(&builder);
    for (size_t i = 0; i < elements; i++)
        value_put_null(&builder);
    assert_true(value_close(&builder));
    value_name(&builder, SLICE_LIT("n"));
    value_put_number(&builder, slice_of(stored, len));
    value_name(&builder, SLICE_LIT("pk"));
    value_put_string(&builder, SLICE_LIT("a"));
    value_name(&builder, SLICE_LIT("sk"));
    value_put_string(&builder, slice_str(sk));
    assert_true(value_close(&builder));
    struct slice item = arena_copy(&world->arena, buf_view(&out));
    value_builder_release(&builder);
    buf_release(&out);
    assert_non_null(item.ptr);
    return item;
}

static struct expr_params *params_of(struct world *world, struct arena *arena)
{
    struct expr_params *params = arena_alloc(arena, sizeof(*params));
    struct buf out;
    struct value_builder builder;
    uint8_t one[NUMBER_BYTES_MAX];
    size_t len = number_from_i64(1, one);
    buf_init(&out, 1 << 16);
    value_builder_init(&builder, &out);
    value_open_map(&builder);
    value_name(&builder, SLICE_LIT(":one"));
    value_put_number(&builder, slice_of(one, len));
    value_name(&builder, SLICE_LIT(":x"));
    value_put_string(&builder, SLICE_LIT("x"));
    assert_true(value_close(&builder));
    error_init(&world->error, arena);
    assert_true(expr_params_init(params, arena, &world->error));
    assert_true(expr_params_values(params, arena_copy(arena, buf_view(&out))));
    value_builder_release(&builder);
    buf_release(&out);
    return params;
}

// NOT contains(l, :x) AND …, or with `false` in the end.
static struct expr_condition *slow_condition(struct world *world, struct arena *arena, bool holds)
{
    struct buf text;
    buf_init(&text, 4096);
    for (int i = 0; i < 40; i++)
        buf_text(&text, "NOT contains(l, :x) AND ");
    buf_text(&text, holds ? "n < :x OR attribute_exists(n)" : "attribute_not_exists(n)");
    struct expr_condition *condition = expr_compile_condition(
        params_of(world, arena), arena_copy(arena, buf_view(&text)), EXPR_CONDITION);
    buf_release(&text);
    assert_non_null(condition);
    return condition;
}

static struct expr_update *add_one(struct world *world, struct arena *arena)
{
    struct expr_update *update =
        expr_compile_update(params_of(world, arena), SLICE_LIT("ADD n :one"));
    assert_non_null(update);
    return update;
}

static int64_t number_at(struct world *world, const char *sk)
{
    struct table *table = engine_table(world->engine, SLICE_LIT("music"));
    char word[64];
    (void)snprintf(word, sizeof(word), "sk=%s", sk);
    struct item_read read;
    assert_true(engine_get(world->engine, NULL,
                           tree_key(world, table, item_of(world, "pk=a", word, NULL)), &read,
                           &world->error));
    assert_true(read.item.len > 0);
    char text[NUMBER_TEXT_MAX + 1];
    text[number_to_text(value_bytes(value_get(read.item, SLICE_LIT("n"))), text)] = '\0';
    int64_t number = strtoll(text, NULL, 10);
    item_read_release(world->engine, &read);
    table_release(table);
    return number;
}

static struct write_action slow_update(struct world *world, bool holds)
{
    return (struct write_action){.kind = WRITE_UPDATE,
                                 .item = item_of(world, "pk=a", "sk=1", NULL),
                                 .condition = slow_condition(world, &world->arena, holds),
                                 .update = add_one(world, &world->arena)};
}

static void open_with_item(struct world *world, size_t elements)
{
    world_open(world);
    create_table(world, "music", true, false);
    assert_true(put_item(world, "music", long_item(world, "1", elements)));
}

static void test_slow_condition(void **state)
{
    (void)state;
    struct world world;
    open_with_item(&world, ELEMENTS);
    struct write_action action = slow_update(&world, true);
    assert_true(run_action(&world, "music", &action));
    assert_int_equal(number_at(&world, "1"), 1);
    action = slow_update(&world, false);
    action.flags |= WRITE_OLD_ON_FAILURE;
    assert_false(run_action(&world, "music", &action));
    assert_int_equal(world.error.code, ERR_CONDITIONAL_CHECK_FAILED);
    assert_true(action.out.old_item.len > 0);
    assert_int_equal(number_at(&world, "1"), 1);
    world_close(&world);
}

// ---- Items that change meanwhile ------------------------------------------------------------

// A job whose items are changed by another write each time that it has been planned.
struct disturbed {
    struct write_job write; // first
    struct world *world;
    bool (*plan)(struct job *job, struct txn *txn);
    unsigned planned;
    unsigned disturb; // how often
};

static bool plan_and_disturb(struct job *job, struct txn *txn)
{
    struct disturbed *own = (struct disturbed *)job;
    if (!own->plan(job, txn))
        return false;
    own->planned++;
    if (own->planned > own->disturb)
        return true;
    struct world other = {.engine = own->world->engine};
    arena_init(&other.arena, LIMIT_REQUEST_MEMORY);
    struct write_action action = {.kind = WRITE_UPDATE,
                                  .item = item_of(&other, "pk=a", "sk=1", NULL),
                                  .update = add_one(&other, &other.arena)};
    assert_true(run_action(&other, "music", &action));
    arena_release(&other.arena);
    return true;
}

struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool done;
};
static struct waiter waiter = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};

static void wake(struct job *job)
{
    (void)job;
    assert_int_equal(pthread_mutex_lock(&waiter.lock), 0);
    waiter.done = true;
    assert_int_equal(pthread_cond_signal(&waiter.wake), 0);
    assert_int_equal(pthread_mutex_unlock(&waiter.lock), 0);
}

// Runs the action, disturbed so often; true if it succeeds.
static bool run_disturbed(struct world *world, struct write_action *action, unsigned times,
                          bool transaction, unsigned *planned)
{
    struct table *table = engine_table(world->engine, SLICE_LIT("music"));
    struct disturbed job = {.world = world};
    action->table = table;
    error_init(&world->error, &world->arena);
    write_job_init(&job.write, world->engine, &world->arena, &world->error);
    job.write.count = 1;
    job.write.actions = action;
    job.write.transaction = transaction;
    job.plan = job.write.job.plan;
    job.write.job.plan = plan_and_disturb;
    job.write.job.done = wake;
    job.disturb = times;
    waiter.done = false;
    assert_true(engine_submit(world->engine, &job.write.job));
    assert_int_equal(pthread_mutex_lock(&waiter.lock), 0);
    while (!waiter.done)
        assert_int_equal(pthread_cond_wait(&waiter.wake, &waiter.lock), 0);
    assert_int_equal(pthread_mutex_unlock(&waiter.lock), 0);
    *planned = job.planned;
    write_job_release(&job.write);
    table_release(table);
    return !job.write.job.failed;
}

// A plan of an item that has changed is made anew from the item as it is.
static void test_planned_anew(void **state)
{
    (void)state;
    struct world world;
    open_with_item(&world, ELEMENTS);
    struct write_action action = slow_update(&world, true);
    unsigned planned;
    assert_true(run_disturbed(&world, &action, 3, false, &planned));
    assert_int_equal(planned, 4);
    assert_int_equal(number_at(&world, "1"), 4);
    world_close(&world);
}

static void test_conflict(void **state)
{
    (void)state;
    struct world world;
    open_with_item(&world, ELEMENTS);
    struct write_action action = slow_update(&world, true);
    unsigned planned;
    assert_false(run_disturbed(&world, &action, 100, false, &planned));
    assert_int_equal(planned, LIMIT_PLAN_TRIES);
    assert_int_equal(world.error.code, ERR_TRANSACTION_CONFLICT);
    assert_string_equal(world.error.message, "Transaction is ongoing for the item");
    action = slow_update(&world, true);
    assert_false(run_disturbed(&world, &action, 100, true, &planned));
    assert_int_equal(world.error.code, ERR_TRANSACTION_CANCELED);
    assert_int_equal(action.out.failure, ERR_TRANSACTION_CONFLICT);
    assert_int_equal(number_at(&world, "1"), 2 * LIMIT_PLAN_TRIES);
    world_close(&world);
}

// ---- Many at once ----------------------------------------------------------------------------

enum { WRITERS = 4, ROUNDS = 12 };

struct adder {
    struct engine *engine;
    bool slow;
    size_t added;
    size_t conflicts;
};

static void *add_often(void *argument)
{
    struct adder *adder = argument;
    for (int i = 0; i < ROUNDS; i++) {
        struct world world = {.engine = adder->engine};
        arena_init(&world.arena, LIMIT_REQUEST_MEMORY);
        struct write_action action = slow_update(&world, true);
        if (!adder->slow)
            action.condition = NULL;
        if (run_action(&world, "music", &action))
            adder->added++;
        else if (world.error.code == ERR_TRANSACTION_CONFLICT)
            adder->conflicts++;
        arena_release(&world.arena);
    }
    return NULL;
}

// However slow and quick writes of one item meet, none is lost.
static void test_none_is_lost(void **state)
{
    (void)state;
    struct world world;
    open_with_item(&world, ELEMENTS);
    struct adder adders[WRITERS];
    pthread_t threads[WRITERS];
    for (size_t i = 0; i < WRITERS; i++) {
        adders[i] = (struct adder){.engine = world.engine, .slow = i % 2 == 0};
        assert_int_equal(pthread_create(&threads[i], NULL, add_often, &adders[i]), 0);
    }
    size_t added = 0;
    size_t conflicts = 0;
    for (size_t i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        added += adders[i].added;
        conflicts += adders[i].conflicts;
    }
    assert_int_equal(added + conflicts, WRITERS * ROUNDS);
    assert_int_equal(number_at(&world, "1"), added);
    world_close(&world);
}

// ---- Transactions ------------------------------------------------------------------------------

static bool run_actions(struct world *world, struct write_action *actions, size_t count,
                        struct write_job *job)
{
    struct table *table = engine_table(world->engine, SLICE_LIT("music"));
    error_init(&world->error, &world->arena);
    for (size_t i = 0; i < count; i++)
        actions[i].table = table;
    struct write_job run = *job;
    write_job_init(&run, world->engine, &world->arena, &world->error);
    run.count = count;
    run.actions = actions;
    run.transaction = job->transaction;
    run.each = job->each;
    run.record = job->record;
    run.token = job->token;
    bool ok = engine_run(world->engine, &run.job);
    job->repeated = run.repeated;
    write_job_release(&run);
    table_release(table);
    return ok;
}

// A transaction that was put aside remembers its token.
static void test_token(void **state)
{
    (void)state;
    struct world world;
    open_with_item(&world, ELEMENTS);
    struct write_job job = {.transaction = true, .token = SLICE_LIT("t")};
    struct write_action action = slow_update(&world, true);
    assert_true(run_actions(&world, &action, 1, &job));
    assert_false(job.repeated);
    action = slow_update(&world, true);
    assert_true(run_actions(&world, &action, 1, &job));
    assert_true(job.repeated);
    assert_int_equal(number_at(&world, "1"), 1);
    world_close(&world);
}

static void test_same_item_twice(void **state)
{
    (void)state;
    struct world world;
    open_with_item(&world, 1);
    struct write_action actions[] = {
        {.kind = WRITE_PUT, .item = item_of(&world, "pk=b", "sk=1", "g=x", "h=1", NULL)},
        {.kind = WRITE_PUT, .item = item_of(&world, "pk=b", "sk=1", "g=x", "h=2", NULL)},
    };
    struct write_job job = {.transaction = true};
    assert_false(run_actions(&world, actions, COUNT_OF(actions), &job));
    assert_int_equal(world.error.code, ERR_VALIDATION);
    assert_string_equal(world.error.message,
                        "Transaction request cannot include multiple operations on one item");
    // Elsewhere the last one counts, and leaves nothing of the first.
    struct write_job plain = {.transaction = false};
    assert_true(run_actions(&world, actions, COUNT_OF(actions), &plain));
    struct page_result result;
    scan_all(&world, "music", NULL, &result);
    assert_int_equal(result.count, 2);
    buf_release(&result.items);
    scan_all(&world, "music", "byG", &result);
    assert_int_equal(result.count, 1);
    assert_true(slice_equal(value_get(buf_view(&result.items), SLICE_LIT("h")),
                            value_get(actions[1].item, SLICE_LIT("h"))));
    buf_release(&result.items);
    struct table *table = engine_table(world.engine, SLICE_LIT("music"));
    assert_int_equal(table->stats->items, 2);
    table_release(table);
    world_close(&world);
}

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

// What a transaction reads counts towards its 4 MB.
static void test_large_transaction(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    create_table(&world, "music", false, false);
    struct write_action actions[11];
    char names[COUNT_OF(actions)][8];
    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        (void)snprintf(names[i], sizeof(names[i]), "%zu", i);
        assert_true(put_item(&world, "music", large_item(&world, names[i])));
        actions[i] = (struct write_action){.kind = WRITE_UPDATE,
                                           .item = item_of(&world, "pk=a", "sk=0", NULL),
                                           .update = add_one(&world, &world.arena)};
        char word[16];
        (void)snprintf(word, sizeof(word), "sk=%zu", i);
        actions[i].item = item_of(&world, "pk=a", word, NULL);
    }
    struct write_job job = {.transaction = true};
    assert_false(run_actions(&world, actions, COUNT_OF(actions), &job));
    assert_int_equal(world.error.code, ERR_VALIDATION);
    assert_string_equal(world.error.message, "Transaction request size exceeded the 4MB limit");
    assert_int_equal(number_at(&world, "0"), 0);
    assert_true(run_actions(&world, actions, COUNT_OF(actions) - 1, &job));
    assert_int_equal(number_at(&world, "0"), 1);
    assert_int_equal(number_at(&world, "10"), 0);
    // Deletes read nothing, and make nothing.
    for (size_t i = 0; i < COUNT_OF(actions); i++)
        actions[i] = (struct write_action){.kind = WRITE_DELETE, .item = actions[i].item};
    assert_true(run_actions(&world, actions, COUNT_OF(actions), &job));
    world_close(&world);
}

// ---- Parts -------------------------------------------------------------------------------------

// A large batch is committed in several groups, and all of it is there in the end.
static void test_large_batch(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    create_table(&world, "music", false, false);
    struct write_action actions[25] = {{.kind = WRITE_PUT}};
    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        char name[8];
        (void)snprintf(name, sizeof(name), "%zu", i);
        actions[i].item = large_item(&world, name);
    }
    struct engine_stats before;
    struct engine_stats after;
    engine_stats(world.engine, &before);
    struct write_job job = {.transaction = false};
    assert_true(run_actions(&world, actions, COUNT_OF(actions), &job));
    engine_stats(world.engine, &after);
    assert_in_range(after.commits - before.commits, 2, 25);
    struct table *table = engine_table(world.engine, SLICE_LIT("music"));
    assert_int_equal(table->stats->items, COUNT_OF(actions));
    table_release(table);
    for (size_t i = 0; i < COUNT_OF(actions); i++)
        assert_true(actions[i].out.changed && actions[i].out.cost.table > 0);
    world_close(&world);
}

// Statements of a batch stand alone, also when one of them is put aside.
static void test_each(void **state)
{
    (void)state;
    struct world world;
    open_with_item(&world, ELEMENTS);
    struct write_action actions[] = {
        {.kind = WRITE_PUT, .item = item_of(&world, "pk=b", "sk=1", NULL)},
        slow_update(&world, true),
        {.kind = WRITE_PUT,
         .flags = WRITE_INSERT,
         .item = item_of(&world, "pk=b", "sk=1", NULL),
         .condition =
             expr_compile_condition(params_of(&world, &world.arena),
                                    SLICE_LIT("attribute_not_exists(pk)"), EXPR_CONDITION)},
        {.kind = WRITE_PUT, .item = item_of(&world, "pk=b", "sk=2", NULL)},
    };
    struct write_job job = {.each = true};
    assert_true(run_actions(&world, actions, COUNT_OF(actions), &job));
    assert_int_equal(actions[0].out.failure, ERR_NONE);
    assert_int_equal(actions[1].out.failure, ERR_NONE);
    assert_int_equal(actions[2].out.failure, ERR_DUPLICATE_ITEM);
    assert_int_equal(actions[3].out.failure, ERR_NONE);
    assert_int_equal(number_at(&world, "1"), 1);
    struct page_result result;
    scan_all(&world, "music", NULL, &result);
    assert_int_equal(result.count, 3);
    buf_release(&result.items);
    world_close(&world);
}

static size_t count_items(struct world *world)
{
    struct page_result result;
    scan_all(world, "music", NULL, &result);
    buf_release(&result.items);
    return result.count;
}

// Joined actions are done together or not at all, also when one of them is put aside.
static void test_joined(void **state)
{
    (void)state;
    struct world world;
    open_with_item(&world, ELEMENTS);
    struct write_action slow = slow_update(&world, true);
    struct write_action fails = slow_update(&world, false);
    slow.flags |= WRITE_JOINED;
    fails.flags |= WRITE_JOINED;
    struct write_action actions[] = {
        {.kind = WRITE_PUT, .item = item_of(&world, "pk=b", "sk=1", NULL)},
        {.kind = WRITE_PUT, .item = item_of(&world, "pk=b", "sk=2", NULL)},
        slow,
        {.kind = WRITE_PUT, .item = item_of(&world, "pk=c", "sk=1", NULL)},
        fails,
        {.kind = WRITE_PUT, .item = item_of(&world, "pk=d", "sk=1", NULL)},
    };
    struct write_job job = {.each = true};
    assert_true(run_actions(&world, actions, COUNT_OF(actions), &job));
    for (size_t i = 0; i < COUNT_OF(actions); i++)
        assert_int_equal(actions[i].out.failure, i == 4 ? ERR_CONDITIONAL_CHECK_FAILED : ERR_NONE);
    assert_int_equal(number_at(&world, "1"), 1);
    assert_int_equal(count_items(&world), 4); // all but "c"
    // One item has one action in a part.
    actions[1].flags |= WRITE_JOINED;
    actions[1].item = actions[0].item;
    assert_false(run_actions(&world, actions, 2, &job));
    assert_int_equal(world.error.code, ERR_VALIDATION);
    world_close(&world);
}

// ---- Records of what was done -----------------------------------------------------------------

static size_t told[64]; // how many actions each record spoke of
static size_t told_count;

static struct record_write tell(struct write_job *job)
{
    told[told_count++] = job->at;
    return (struct record_write){SLICE_LIT("test/record"),
                                 job->at == 1 ? VALUE_NONE : job->actions[job->at - 1].item};
}

// A record is committed with the actions it speaks of, as often as the job commits.
static void test_record(void **state)
{
    (void)state;
    struct world world;
    struct slice record;
    open_with_item(&world, ELEMENTS);
    struct write_action actions[] = {
        {.kind = WRITE_PUT, .item = item_of(&world, "pk=b", "sk=1", NULL)},
        slow_update(&world, true),
        {.kind = WRITE_PUT, .item = item_of(&world, "pk=b", "sk=2", NULL)},
    };
    struct write_job job = {.each = true, .record = tell};
    told_count = 0;
    assert_true(run_actions(&world, actions, COUNT_OF(actions), &job));
    // The second action was put aside, so that the first was committed without it.
    assert_int_equal(told_count, 2);
    assert_int_equal(told[0], 1);
    assert_int_equal(told[1], 3);
    assert_true(
        engine_record(world.engine, SLICE_LIT("test/record"), &world.arena, &record, &world.error));
    assert_true(slice_equal(record, actions[2].item));
    world_close(&world);
}

// ---- The end ----------------------------------------------------------------------------------

// When the engine is to stop, what takes long to judge is refused and not done; the rest goes on.
static void test_hurried(void **state)
{
    (void)state;
    struct world world;
    open_with_item(&world, ELEMENTS);
    engine_hurry(world.engine);
    struct write_action action = slow_update(&world, true);
    assert_false(run_action(&world, "music", &action));
    assert_int_equal(world.error.code, ERR_UNAVAILABLE);
    assert_int_equal(number_at(&world, "1"), 0);
    assert_true(put_item(&world, "music", item_of(&world, "pk=b", "sk=1", NULL)));
    world_close(&world);
}

// Statements that were done before stand, and the others say that they were not.
static void test_hurried_rest(void **state)
{
    (void)state;
    struct world world;
    open_with_item(&world, ELEMENTS);
    engine_hurry(world.engine);
    struct write_action actions[] = {
        {.kind = WRITE_PUT, .item = item_of(&world, "pk=b", "sk=1", NULL)},
        slow_update(&world, true),
        {.kind = WRITE_PUT, .item = item_of(&world, "pk=b", "sk=2", NULL)},
    };
    struct write_job job = {.each = true};
    assert_true(run_actions(&world, actions, COUNT_OF(actions), &job));
    assert_int_equal(actions[0].out.failure, ERR_NONE);
    assert_int_equal(actions[1].out.failure, ERR_UNAVAILABLE);
    assert_int_equal(actions[2].out.failure, ERR_UNAVAILABLE);
    assert_int_equal(number_at(&world, "1"), 0);
    struct page_result result;
    scan_all(&world, "music", NULL, &result);
    assert_int_equal(result.count, 2);
    buf_release(&result.items);
    world_close(&world);
}

// ---- Pages
// ---------------------------------------------------------------------------------------

// A filter that asks too much ends its page, with a key to go on from; pages together have it all.
static void test_slow_filter(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    create_table(&world, "music", false, false);
    assert_true(put_item(&world, "music", long_item(&world, "1", 195000)));
    assert_true(put_item(&world, "music", long_item(&world, "2", 195000)));
    assert_true(put_item(&world, "music", long_item(&world, "3", 195000)));
    struct buf text;
    buf_init(&text, 8192);
    for (int i = 0; i < 145; i++)
        buf_text(&text, "contains(l, :x) OR ");
    buf_text(&text, "n < :one");
    struct expr_condition *filter = expr_compile_condition(
        params_of(&world, &world.arena), arena_copy(&world.arena, buf_view(&text)), EXPR_FILTER);
    assert_non_null(filter);
    buf_release(&text);
    struct table *table = engine_table(world.engine, SLICE_LIT("music"));
    struct page_result result = {.count = 0};
    buf_init(&result.items, 64 << 20);
    struct slice after = VALUE_NONE;
    size_t pages = 0;
    do {
        struct page_request page = {.table = table,
                                    .segments = 1,
                                    .after = after,
                                    .filter = filter,
                                    .emit = collect,
                                    .context = &result,
                                    .arena = &world.arena};
        assert_true(engine_page(world.engine, &page, &world.error));
        pages++;
        after = page.last.len > 0 ? tree_key(&world, table, page.last) : VALUE_NONE;
    } while (after.len > 0);
    assert_int_equal(result.count, 3);
    assert_in_range(pages, 3, 4);
    table_release(table);
    buf_release(&result.items);
    world_close(&world);
}

// What a local index fetches from its table counts towards the page.
static void test_fetched_bytes(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    create_table(&world, "music", false, true);
    static char text[LONG_TEXT + 8];
    memset(text, 'x', LONG_TEXT + 2);
    memcpy(text, "z=", 2);
    for (int i = 0; i < 8; i++) {
        char sk[16];
        (void)snprintf(sk, sizeof(sk), "sk=%d", i);
        assert_true(put_item(&world, "music", item_of(&world, "pk=a", sk, "h=1", text, NULL)));
    }
    struct table *table = engine_table(world.engine, SLICE_LIT("music"));
    struct page_result result = {.count = 0};
    buf_init(&result.items, 64 << 20);
    struct page_request page = {.table = table,
                                .index = table_index(table, SLICE_LIT("byH")),
                                .segments = 1,
                                .fetch = true,
                                .emit = collect,
                                .context = &result,
                                .arena = &world.arena};
    assert_true(engine_page(world.engine, &page, &world.error));
    assert_int_equal(result.count, 3);
    assert_true(page.last.len > 0);
    table_release(table);
    buf_release(&result.items);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_condition),
        cmocka_unit_test(test_planned_anew),
        cmocka_unit_test(test_conflict),
        cmocka_unit_test(test_none_is_lost),
        cmocka_unit_test(test_token),
        cmocka_unit_test(test_same_item_twice),
        cmocka_unit_test(test_large_transaction),
        cmocka_unit_test(test_large_batch),
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_joined),
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_hurried),
        cmocka_unit_test(test_hurried_rest),
        cmocka_unit_test(test_slow_filter),
        cmocka_unit_test(test_fetched_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
