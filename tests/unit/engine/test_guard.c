// Tables with a guard: a small one that keeps `copy` the same as `name`, wants an `email` to be
// unique, refuses items that are `bad`, and takes long for those that are `slow`. Items with `many`
// claim so many values, from the one whose number is in `base` on.
#include "support.h"

#include "engine/engine_internal.h"
#include "engine/record.h"
#include "value/digest.h"

#include <semaphore.h>

static struct slice with_copy(struct arena *arena, struct slice item)
{
    struct slice name = value_get(item, SLICE_LIT("name"));
    struct buf out;
    struct value_builder builder;
    struct value_iter iter;
    buf_init(&out, 1 << 20);
    value_builder_init(&builder, &out);
    value_open_map(&builder);
    value_iter_init(&iter, item);
    while (value_iter_next(&iter)) {
        if (slice_is(iter.name, "copy"))
            continue;
        value_name(&builder, iter.name);
        value_put(&builder, iter.value);
    }
    if (name.len > 0) {
        value_name(&builder, SLICE_LIT("copy"));
        value_put(&builder, name);
    }
    assert_true(value_close(&builder));
    struct slice made = arena_copy(arena, buf_view(&out));
    value_builder_release(&builder);
    buf_release(&out);
    return made;
}

static size_t claim_email(struct arena *arena, struct slice item, struct guard_claim **out)
{
    struct slice email = item.len == 0 ? VALUE_NONE : value_get(item, SLICE_LIT("email"));
    if (email.len == 0)
        return 0;
    *out = arena_zalloc(arena, 1, sizeof(**out));
    **out = (struct guard_claim){arena_copy(arena, email), SLICE_LIT("email"), email, 0};
    return 1;
}

static int64_t number_in(struct slice item, struct slice name)
{
    struct slice value = item.len == 0 ? VALUE_NONE : value_get(item, name);
    int64_t number = 0;
    assert_true(value.len == 0 || number_to_i64(value_bytes(value), &number));
    return number;
}

static size_t claim_all(struct arena *arena, struct slice item, struct guard_claim **out)
{
    int64_t many = number_in(item, SLICE_LIT("many"));
    int64_t base = number_in(item, SLICE_LIT("base"));
    if (many == 0)
        return claim_email(arena, item, out);
    *out = arena_zalloc(arena, (size_t)many, sizeof(**out));
    for (int64_t i = 0; i < many; i++) {
        char *name = arena_printf(arena, "%lld", (long long)(base + i));
        (*out)[i] = (struct guard_claim){slice_str(name), SLICE_LIT("one of many"), VALUE_NONE, 0};
    }
    return (size_t)many;
}

// A slow item has the number of its steps.
static bool take_steps(struct guard_write *write)
{
    steps_add(write->steps, (size_t)number_in(write->after, SLICE_LIT("slow")));
    return !steps_over(write->steps);
}

static bool small_write(const struct guard *guard, struct guard_write *write, struct error *error)
{
    (void)guard;
    if (write->after.len > 0 && value_get(write->after, SLICE_LIT("bad")).len > 0)
        return error_validation(error, "this is bad");
    if (write->after.len > 0 && !take_steps(write))
        return false;
    if (write->after.len > 0)
        write->after = with_copy(write->arena, write->after);
    write->claim_count = claim_all(write->arena, write->after, &write->claims);
    write->release_count = claim_all(write->arena, write->before, &write->releases);
    return true;
}

static void small_free(struct guard *guard)
{
    free(guard);
}

static const struct guard_ops small_ops = {.write = small_write, .free = small_free};

static struct guard *small_guard(void *context, struct engine *engine, const struct table *table)
{
    (void)context;
    (void)engine;
    (void)table;
    struct guard *guard = calloc(1, sizeof(*guard));
    assert_non_null(guard);
    guard->ops = &small_ops;
    guard->references = 1;
    guard->claims = 1;
    return guard;
}

static bool alter_attach(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    (void)context;
    (void)error;
    struct guard *guard = small_guard(NULL, NULL, NULL);
    *next = table_clone(current);
    assert_non_null(*next);
    assert_true(table_set_guard(*next, SLICE_LIT("small"), guard));
    guard_release(guard);
    return true;
}

static void guarded_open(struct world *world)
{
    world_open(world);
    create_table(world, "t", true, false);
    assert_true(change_table(world, "t", alter_attach, NULL));
}

static struct slice read_item(struct world *world, struct slice key)
{
    struct table *table = engine_table(world->engine, SLICE_LIT("t"));
    struct item_read read;
    assert_true(engine_get(world->engine, NULL, tree_key(world, table, key), &read, &world->error));
    struct slice copy = read.item.len == 0 ? VALUE_NONE : arena_copy(&world->arena, read.item);
    item_read_release(world->engine, &read);
    table_release(table);
    return copy;
}

static void completes_and_refuses(void **state)
{
    (void)state;
    struct world w;
    guarded_open(&w);
    struct slice key = item_of(&w, "pk=a", "sk=1", NULL);
    assert_true(put_item(&w, "t", item_of(&w, "pk=a", "sk=1", "name=n", "copy=x", NULL)));
    assert_true(
        value_equal(read_item(&w, key), item_of(&w, "pk=a", "sk=1", "name=n", "copy=n", NULL)));
    assert_false(put_item(&w, "t", item_of(&w, "pk=a", "sk=1", "bad=1", NULL)));
    assert_string_equal(w.error.message, "this is bad");
    assert_true(value_get(read_item(&w, key), SLICE_LIT("copy")).len > 0);
    assert_true(delete_item(&w, "t", key));
    assert_int_equal(read_item(&w, key).len, 0);
    world_close(&w);
}

static void keeps_values_unique(void **state)
{
    (void)state;
    struct world w;
    guarded_open(&w);
    struct slice first = item_of(&w, "pk=a", "sk=1", "email=e", NULL);
    struct slice second = item_of(&w, "pk=b", "sk=1", "email=e", NULL);
    assert_true(put_item(&w, "t", first));
    assert_true(put_item(&w, "t", first)); // it is its own
    assert_false(put_item(&w, "t", second));
    assert_int_equal(w.error.code, ERR_VALIDATION);
    assert_string_equal(w.error.message, "email: another item has this value");
    assert_true(put_item(&w, "t", item_of(&w, "pk=a", "sk=1", "email=f", NULL)));
    assert_true(put_item(&w, "t", second));
    assert_true(delete_item(&w, "t", item_of(&w, "pk=b", "sk=1", NULL)));
    assert_true(put_item(&w, "t", first));
    world_close(&w);
}

static bool run_two(struct world *w, struct write_action actions[2], bool transaction)
{
    struct table *table = engine_table(w->engine, SLICE_LIT("t"));
    struct write_job job;
    error_init(&w->error, &w->arena);
    write_job_init(&job, w->engine, &w->arena, &w->error);
    job.count = 2;
    job.actions = actions;
    job.transaction = transaction;
    for (size_t i = 0; i < 2; i++)
        actions[i].table = table;
    bool ok = engine_run(w->engine, &job.job);
    write_job_release(&job);
    table_release(table);
    return ok;
}

// What one action gives back another may take, whichever comes first; two may not take the same.
static void transactions_hand_over(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        struct world w;
        guarded_open(&w);
        assert_true(put_item(&w, "t", item_of(&w, "pk=a", "sk=1", "email=e", NULL)));
        struct write_action give = {.kind = WRITE_DELETE,
                                    .item = item_of(&w, "pk=a", "sk=1", NULL)};
        struct write_action take = {.kind = WRITE_PUT,
                                    .item = item_of(&w, "pk=b", "sk=1", "email=e", NULL)};
        struct write_action both[2] = {order == 0 ? give : take, order == 0 ? take : give};
        assert_true(run_two(&w, both, true));
        assert_false(put_item(&w, "t", item_of(&w, "pk=c", "sk=1", "email=e", NULL)));

        struct write_action twice[2] = {
            {.kind = WRITE_PUT, .item = item_of(&w, "pk=d", "sk=1", "email=g", NULL)},
            {.kind = WRITE_PUT, .item = item_of(&w, "pk=f", "sk=1", "email=g", NULL)}};
        assert_false(run_two(&w, twice, order == 0));
        assert_int_equal(w.error.code, order == 0 ? ERR_TRANSACTION_CANCELED : ERR_VALIDATION);
        assert_int_equal(twice[1].out.failure, ERR_VALIDATION);
        assert_int_equal(read_item(&w, twice[0].item).len, 0);
        world_close(&w);
    }
}

// ---- Work ---------------------------------------------------------------------------------------

// A job that counts how often it was planned beside the writer.
struct watched {
    struct write_job write; // first
    bool (*plan)(struct job *job, struct txn *txn);
    sem_t end;
    unsigned planned;
    struct world *world;
    void (*meanwhile)(struct world *w); // is done when it was planned for the first time; or NULL
};

static bool plan_watched(struct job *job, struct txn *txn)
{
    struct watched *own = (struct watched *)job;
    if (!own->plan(job, txn))
        return false;
    if (own->planned++ > 0 || own->meanwhile == NULL)
        return true;
    struct world other = {.engine = own->world->engine};
    arena_init(&other.arena, LIMIT_REQUEST_MEMORY);
    own->meanwhile(&other);
    arena_release(&other.arena);
    return true;
}

static void wake_watched(struct job *job)
{
    assert_int_equal(sem_post(&((struct watched *)job)->end), 0);
}

static bool run_disturbed(struct world *w, struct write_action *actions, size_t count,
                          bool transaction, void (*meanwhile)(struct world *w), unsigned *planned)
{
    struct table *table = engine_table(w->engine, SLICE_LIT("t"));
    struct watched job = {.world = w, .meanwhile = meanwhile};
    error_init(&w->error, &w->arena);
    write_job_init(&job.write, w->engine, &w->arena, &w->error);
    job.write.count = count;
    job.write.actions = actions;
    job.write.transaction = transaction;
    job.plan = job.write.job.plan;
    job.write.job.plan = plan_watched;
    job.write.job.done = wake_watched;
    assert_int_equal(sem_init(&job.end, 0, 0), 0);
    for (size_t i = 0; i < count; i++)
        actions[i].table = table;
    assert_true(engine_submit(w->engine, &job.write.job));
    assert_int_equal(sem_wait(&job.end), 0);
    assert_int_equal(sem_destroy(&job.end), 0);
    *planned = job.planned;
    write_job_release(&job.write);
    table_release(table);
    return !job.write.job.failed;
}

static bool run_watched(struct world *w, struct write_action *actions, size_t count,
                        bool transaction, unsigned *planned)
{
    return run_disturbed(w, actions, count, transaction, NULL, planned);
}

static struct slice slow_item(struct world *w, const char *pk, unsigned steps)
{
    char word[32];
    (void)snprintf(word, sizeof(word), "slow=#%u", steps);
    return item_of(w, pk, "sk=1", word, NULL);
}

// A guard that takes more steps than the writer has is asked by the judge.
static void slow_is_aside(void **state)
{
    (void)state;
    struct world w;
    unsigned planned;
    guarded_open(&w);
    struct write_action quick = {.kind = WRITE_PUT, .item = slow_item(&w, "pk=a", 1000)};
    assert_true(run_watched(&w, &quick, 1, false, &planned));
    assert_int_equal(planned, 0);
    struct write_action slow = {.kind = WRITE_PUT,
                                .item = slow_item(&w, "pk=b", LIMIT_WRITER_WORK + 1)};
    assert_true(run_watched(&w, &slow, 1, false, &planned));
    assert_int_equal(planned, 1);
    assert_true(read_item(&w, item_of(&w, "pk=b", "sk=1", NULL)).len > 0);
    // Many that are not slow alone are slow together.
    struct write_action many[3] = {
        {.kind = WRITE_PUT, .item = slow_item(&w, "pk=c", LIMIT_WRITER_WORK / 2)},
        {.kind = WRITE_PUT, .item = slow_item(&w, "pk=d", LIMIT_WRITER_WORK / 2)},
        {.kind = WRITE_PUT, .item = slow_item(&w, "pk=e", LIMIT_WRITER_WORK / 2)}};
    assert_true(run_watched(&w, many, COUNT_OF(many), true, &planned));
    assert_int_equal(planned, 1);
    world_close(&w);
}

// There is an end to what guards do for one transaction; other requests are as long as they are.
static void slow_transaction(void **state)
{
    (void)state;
    struct world w;
    unsigned planned;
    guarded_open(&w);
    for (int transaction = 0; transaction < 2; transaction++) {
        struct write_action both[2] = {
            {.kind = WRITE_PUT, .item = slow_item(&w, "pk=a", LIMIT_TRANSACT_GUARD_WORK)},
            {.kind = WRITE_PUT, .item = slow_item(&w, "pk=b", 1)}};
        assert_int_equal(run_watched(&w, both, COUNT_OF(both), transaction, &planned),
                         !transaction);
        if (transaction) {
            assert_int_equal(both[0].out.failure, ERR_NONE);
            assert_int_equal(both[1].out.failure, ERR_VALIDATION);
            assert_string_equal(both[1].out.failure_text,
                                "The items of the transaction take too much work to check against "
                                "the model of their table: write fewer at once");
        }
    }
    world_close(&w);
}

// ---- Many values --------------------------------------------------------------------------------

enum { MANY = 300 }; // more than half of what the writer looks up

static struct write_action put_many(struct world *w, const char *pk, unsigned base, unsigned many)
{
    char bases[32];
    char manys[32];
    (void)snprintf(bases, sizeof(bases), "base=#%u", base);
    (void)snprintf(manys, sizeof(manys), "many=#%u", many);
    return (struct write_action){.kind = WRITE_PUT,
                                 .item = item_of(w, bases, manys, pk, "sk=1", NULL)};
}

static bool put_one(struct world *w, const char *pk, unsigned value)
{
    return put_item(w, "t", put_many(w, pk, value, 1).item);
}

// Whoever claims many values has the judge look them up.
static void many_are_aside(void **state)
{
    (void)state;
    struct world w;
    unsigned planned;
    guarded_open(&w);
    struct write_action few = put_many(&w, "pk=z", 9000, MANY);
    assert_true(run_watched(&w, &few, 1, false, &planned));
    assert_int_equal(planned, 0);
    struct write_action two[2] = {put_many(&w, "pk=a", 0, MANY), put_many(&w, "pk=b", MANY, MANY)};
    assert_true(run_watched(&w, two, COUNT_OF(two), true, &planned));
    assert_int_equal(planned, 1);
    assert_false(put_one(&w, "pk=c", 0));
    assert_false(put_one(&w, "pk=c", 2 * MANY - 1));
    // One that takes what another one has, and what another one takes.
    struct write_action wrong[2] = {put_many(&w, "pk=c", 2 * MANY - 1, MANY),
                                    put_many(&w, "pk=d", 3 * MANY - 2, MANY)};
    assert_false(run_watched(&w, wrong, COUNT_OF(wrong), true, &planned));
    assert_int_equal(planned, 1);
    assert_int_equal(wrong[0].out.failure, ERR_VALIDATION);
    assert_int_equal(wrong[1].out.failure, ERR_VALIDATION);
    // They are handed over, and some of them are let go.
    struct write_action turned[2] = {put_many(&w, "pk=a", MANY + 10, MANY - 10),
                                     put_many(&w, "pk=b", 10, MANY)};
    assert_true(run_watched(&w, turned, COUNT_OF(turned), true, &planned));
    assert_true(put_one(&w, "pk=c", 9));
    assert_true(put_one(&w, "pk=d", 0));
    assert_false(put_one(&w, "pk=e", 10));
    assert_false(put_one(&w, "pk=e", MANY + 10));
    assert_false(put_one(&w, "pk=e", 2 * MANY - 1));
    struct write_action gone[2] = {
        {.kind = WRITE_DELETE, .item = item_of(&w, "pk=a", "sk=1", NULL)},
        {.kind = WRITE_DELETE, .item = item_of(&w, "pk=b", "sk=1", NULL)}};
    assert_true(run_watched(&w, gone, COUNT_OF(gone), true, &planned));
    assert_int_equal(planned, 1);
    assert_true(put_one(&w, "pk=e", 10));
    assert_true(put_one(&w, "pk=f", 2 * MANY - 1));
    world_close(&w);
}

static void take_one(struct world *w)
{
    assert_true(put_one(w, "pk=z", MANY + 7));
}

static void give_one(struct world *w)
{
    assert_true(delete_item(w, "t", item_of(w, "pk=z", "sk=1", NULL)));
}

// In writes that are small enough for the writer itself: the judge is busy.
static void change_more_than_is_noted(struct world *w)
{
    for (unsigned i = 0; i <= CLAIM_NOTES / (MANY / 2); i++)
        assert_true(
            put_item(w, "t", put_many(w, "pk=y", i % 2 == 0 ? 50000 : 60000, MANY / 2).item));
}

// What others take or give back while many values are looked up counts.
static void many_are_looked_up_again(void **state)
{
    (void)state;
    struct world w;
    unsigned planned;
    guarded_open(&w);
    struct write_action two[2] = {put_many(&w, "pk=a", 0, MANY), put_many(&w, "pk=b", MANY, MANY)};
    assert_false(run_disturbed(&w, two, COUNT_OF(two), true, take_one, &planned));
    assert_int_equal(planned, 1);
    assert_int_equal(two[0].out.failure, ERR_NONE);
    assert_int_equal(two[1].out.failure, ERR_VALIDATION);
    assert_true(run_disturbed(&w, two, COUNT_OF(two), true, give_one, &planned));
    assert_int_equal(planned, 1);
    assert_false(put_one(&w, "pk=z", MANY + 7));
    // If it is not known any more what has changed, everything is looked up anew.
    struct write_action more[2] = {put_many(&w, "pk=c", 2 * MANY, MANY),
                                   put_many(&w, "pk=d", 3 * MANY, MANY)};
    assert_true(run_disturbed(&w, more, COUNT_OF(more), true, change_more_than_is_noted, &planned));
    assert_int_equal(planned, 2);
    world_close(&w);
}

static void too_many(void **state)
{
    (void)state;
    struct world w;
    unsigned planned;
    guarded_open(&w);
    for (int transaction = 1; transaction >= 0; transaction--) {
        struct write_action two[2] = {put_many(&w, "pk=a", 0, LIMIT_TRANSACT_CLAIMS),
                                      put_many(&w, "pk=b", LIMIT_TRANSACT_CLAIMS, 1)};
        assert_int_equal(run_watched(&w, two, COUNT_OF(two), transaction, &planned), !transaction);
        if (transaction)
            assert_string_equal(w.error.message, "Transaction request takes or gives back more "
                                                 "than 10000 unique values");
    }
    world_close(&w);
}

static void touches(void **state)
{
    (void)state;
    struct world w;
    world_open(&w);
    create_table(&w, "t", true, false);
    struct slice key = item_of(&w, "pk=a", "sk=1", NULL);
    assert_true(put_item(&w, "t", item_of(&w, "pk=a", "sk=1", "name=n", "email=e", NULL)));
    assert_true(change_table(&w, "t", alter_attach, NULL));
    struct write_action touch = {.kind = WRITE_UPDATE, .flags = WRITE_TOUCH, .item = key};
    assert_true(run_action(&w, "t", &touch));
    assert_true(touch.out.changed);
    assert_true(value_equal(read_item(&w, key),
                            item_of(&w, "pk=a", "sk=1", "name=n", "email=e", "copy=n", NULL)));
    assert_false(put_item(&w, "t", item_of(&w, "pk=b", "sk=1", "email=e", NULL)));
    struct write_action absent = {
        .kind = WRITE_UPDATE, .flags = WRITE_TOUCH, .item = item_of(&w, "pk=z", "sk=1", NULL)};
    assert_true(run_action(&w, "t", &absent));
    assert_false(absent.out.changed);
    assert_int_equal(read_item(&w, absent.item).len, 0);
    world_close(&w);
}

static void matches_digests(void **state)
{
    (void)state;
    struct world w;
    world_open(&w);
    create_table(&w, "t", false, false);
    struct slice item = item_of(&w, "pk=a", "sk=1", "n=1", NULL);
    uint8_t digest[DIGEST_BYTES];
    item_digest(item, digest);
    struct write_action put = {.kind = WRITE_PUT,
                               .item = item_of(&w, "pk=a", "sk=1", "n=2", NULL),
                               .if_match = slice_of(digest, sizeof(digest))};
    assert_false(run_action(&w, "t", &put)); // nothing there
    assert_int_equal(w.error.code, ERR_CONDITIONAL_CHECK_FAILED);
    assert_true(put_item(&w, "t", item));
    assert_true(run_action(&w, "t", &put));
    assert_false(run_action(&w, "t", &put)); // it is another one now
    world_close(&w);
}

// A table remembers the name of its model; without a maker for it, it is there to be read only.
static void needs_its_model(void **state)
{
    (void)state;
    struct world w;
    guarded_open(&w);
    struct table *table = engine_table(w.engine, SLICE_LIT("t"));
    struct buf record;
    buf_init(&record, 1 << 20);
    table_encode(table, &record);
    struct table *again = table_decode(buf_view(&record));
    assert_true(slice_is(again->model, "small"));
    assert_int_equal(again->claims, table->claims);
    assert_true(again->claims != 0);
    assert_null(again->guard);
    table_forget_trees(again);
    assert_int_equal(again->model.len, 0);
    table_release(again);
    buf_release(&record);
    table_release(table);
    world_close(&w);
}

// A guard for which the index leaves out the items whose `kind` is the one in its context.
struct picky_guard {
    struct guard guard; // first
    struct slice kind;
};

static bool picky_write(const struct guard *guard, struct guard_write *write, struct error *error)
{
    (void)guard;
    (void)write;
    (void)error;
    return true;
}

static struct guard_outsiders picky_outsiders(const struct guard *guard, struct slice index)
{
    const struct picky_guard *picky = (const struct picky_guard *)guard;
    return (struct guard_outsiders){SLICE_LIT("kind"),
                                    slice_is(index, "byG") && picky->kind.len > 0, &picky->kind};
}

static const struct guard_ops picky_ops = {
    .write = picky_write, .outsiders = picky_outsiders, .free = small_free};

static bool alter_pick(void *context, struct table *current, struct table **next,
                       struct error *error)
{
    (void)error;
    *next = table_clone(current);
    assert_non_null(*next);
    struct picky_guard *picky = context == NULL ? NULL : calloc(1, sizeof(*picky));
    if (picky != NULL)
        *picky = (struct picky_guard){{.ops = &picky_ops, .references = 1}, slice_str(context)};
    assert_true(table_set_guard(*next, picky == NULL ? slice_of(NULL, 0) : SLICE_LIT("picky"),
                                picky == NULL ? NULL : &picky->guard));
    guard_release(picky == NULL ? NULL : &picky->guard);
    return true;
}

static void expect_entries(struct world *w, size_t count)
{
    struct page_result found;
    engine_settle(w->engine);
    scan_all(w, "t", "byG", &found);
    buf_release(&found.items);
    assert_int_equal(found.count, count);
    struct table *table = engine_table(w->engine, SLICE_LIT("t"));
    assert_int_equal(table->indexes[0].status, INDEX_ACTIVE);
    assert_int_equal(table->indexes[0].stats->items, count);
    table_release(table);
}

static bool put_kind(struct world *w, const char *key, const char *kind)
{
    return put_item(w, "t", item_of(w, key, "sk=1", "g=1", "h=1", kind, NULL));
}

static void indexes_leave_out(void **state)
{
    (void)state;
    struct world w;
    world_open(&w);
    create_table(&w, "t", true, false);
    assert_true(put_kind(&w, "pk=1", "kind=a") && put_kind(&w, "pk=2", "kind=b") &&
                put_item(&w, "t", item_of(&w, "pk=3", "sk=1", "g=1", "h=1", NULL)));
    expect_entries(&w, 3);
    // Another guard: the index is filled anew. What has no kind is in it.
    assert_true(change_table(&w, "t", alter_pick, (void *)"b"));
    expect_entries(&w, 2);
    assert_true(put_kind(&w, "pk=4", "kind=b"));
    expect_entries(&w, 2);
    // An item that becomes another kind moves in and out.
    assert_true(put_kind(&w, "pk=4", "kind=a"));
    expect_entries(&w, 3);
    assert_true(put_kind(&w, "pk=1", "kind=b") &&
                delete_item(&w, "t", item_of(&w, "pk=2", "sk=1", NULL)));
    expect_entries(&w, 2);
    // The same again changes nothing; the table's record knows what is left out.
    struct table *table = engine_table(w.engine, SLICE_LIT("t"));
    tree_id tree = table->indexes[0].tree;
    struct table *copy = table_clone(table);
    assert_true(slice_is(copy->indexes[0].without.values[0], "b"));
    table_release(copy);
    table_release(table);
    assert_true(change_table(&w, "t", alter_pick, (void *)"b"));
    table = engine_table(w.engine, SLICE_LIT("t"));
    assert_int_equal(table->indexes[0].tree, tree);
    table_release(table);
    // Without a guard it has all again.
    assert_true(change_table(&w, "t", alter_pick, NULL));
    expect_entries(&w, 3);
    world_close(&w);
}

// Items with many attributes are looked through once for all that matters.
static void wide_items_are_left_out(void **state)
{
    (void)state;
    struct world w;
    world_open(&w);
    create_table(&w, "t", true, false);
    assert_true(change_table(&w, "t", alter_pick, (void *)"b"));
    struct buf out;
    struct value_builder builder;
    buf_init(&out, 1 << 20);
    value_builder_init(&builder, &out);
    value_open_map(&builder);
    for (int i = 0; i < 200; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "a%03d", i);
        value_name(&builder, slice_str(name));
        value_put_bool(&builder, true);
    }
    static const char *const more[][2] = {
        {"g", "1"}, {"h", "1"}, {"kind", "b"}, {"pk", "1"}, {"sk", "1"}};
    for (size_t i = 0; i < 5; i++) {
        value_name(&builder, slice_str(more[i][0]));
        value_put_string(&builder, slice_str(more[i][1]));
    }
    assert_true(value_close(&builder));
    assert_true(put_item(&w, "t", buf_view(&out)));
    expect_entries(&w, 0);
    value_builder_release(&builder);
    buf_release(&out);
    world_close(&w);
}

// ---- The next guard ---------------------------------------------------------------------------

static bool alter_next(void *context, struct table *current, struct table **next,
                       struct error *error)
{
    const bool *wanted = context;
    (void)error;
    struct guard *guard = *wanted ? small_guard(NULL, NULL, NULL) : NULL;
    *next = table_clone(current);
    assert_non_null(*next);
    table_set_next(*next, guard, false);
    guard_release(guard);
    return true;
}

static bool alter_follow(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    assert_non_null(current->next);
    assert_int_not_equal(current->next_claims, 0);
    assert_true(alter_attach(context, current, next, error));
    table_take_claims(*next);
    assert_int_equal((*next)->claims, current->next_claims);
    assert_null((*next)->next);
    return true;
}

static bool has_clashed(struct world *world)
{
    char name[CLASH_NAME_MAX];
    struct slice record;
    struct table *table = engine_table(world->engine, SLICE_LIT("t"));
    assert_true(engine_record(world->engine, claims_clash_name(table->next_claims, name),
                              &world->arena, &record, &world->error));
    table_release(table);
    return record.len > 0;
}

static void claim_item(struct world *world, struct slice key)
{
    struct write_action action = {
        .kind = WRITE_UPDATE, .item = key, .flags = WRITE_TOUCH | WRITE_CLAIM};
    assert_true(run_action(world, "t", &action));
    assert_false(action.out.changed);
}

// A guard that is to follow changes and refuses nothing, but knows who has what when it
// follows.
static void test_next(void **state)
{
    (void)state;
    struct world world;
    bool wanted = true;
    world_open(&world);
    create_table(&world, "t", true, false);
    struct slice old = item_of(&world, "pk=a", "sk=1", "email=a@x", "name=a", NULL);
    assert_true(put_item(&world, "t", old));
    assert_true(change_table(&world, "t", alter_next, &wanted));
    assert_true(put_item(&world, "t", item_of(&world, "pk=b", "sk=1", "email=b@x", NULL)));
    assert_true(put_item(&world, "t", item_of(&world, "pk=b", "sk=1", "email=c@x", NULL)));
    claim_item(&world, item_of(&world, "pk=a", "sk=1", NULL));
    claim_item(&world, item_of(&world, "pk=none", "sk=1", NULL));
    assert_true(slice_equal(read_item(&world, old), old));
    assert_false(has_clashed(&world));
    assert_true(change_table(&world, "t", alter_follow, NULL));
    // a@x was there before, c@x came meanwhile, and b@x was given back.
    assert_false(put_item(&world, "t", item_of(&world, "pk=c", "sk=1", "email=a@x", NULL)));
    assert_false(put_item(&world, "t", item_of(&world, "pk=c", "sk=1", "email=c@x", NULL)));
    assert_true(put_item(&world, "t", item_of(&world, "pk=c", "sk=1", "email=b@x", NULL)));
    world_close(&world);
}

// Beside the guard that is there, whose claims are its own; and two items with the same value.
static void test_next_clash(void **state)
{
    (void)state;
    struct world world;
    bool wanted = true;
    guarded_open(&world);
    assert_true(put_item(&world, "t", item_of(&world, "pk=a", "sk=1", "email=a@x", NULL)));
    assert_true(change_table(&world, "t", alter_next, &wanted));
    claim_item(&world, item_of(&world, "pk=a", "sk=1", NULL));
    assert_false(put_item(&world, "t", item_of(&world, "pk=b", "sk=1", "email=a@x", NULL)));
    assert_false(has_clashed(&world));
    wanted = false;
    assert_true(change_table(&world, "t", alter_next, &wanted));
    struct table *table = engine_table(world.engine, SLICE_LIT("t"));
    assert_int_equal(table->next_claims, 0);
    table_release(table);
    world_close(&world);

    world_open(&world);
    create_table(&world, "t", true, false);
    wanted = true;
    assert_true(change_table(&world, "t", alter_next, &wanted));
    assert_true(put_item(&world, "t", item_of(&world, "pk=a", "sk=1", "email=a@x", NULL)));
    assert_false(has_clashed(&world));
    assert_true(put_item(&world, "t", item_of(&world, "pk=b", "sk=1", "email=a@x", NULL)));
    assert_true(has_clashed(&world));
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(completes_and_refuses),
        cmocka_unit_test(keeps_values_unique),
        cmocka_unit_test(transactions_hand_over),
        cmocka_unit_test(touches),
        cmocka_unit_test(matches_digests),
        cmocka_unit_test(needs_its_model),
        cmocka_unit_test(slow_is_aside),
        cmocka_unit_test(slow_transaction),
        cmocka_unit_test(many_are_aside),
        cmocka_unit_test(many_are_looked_up_again),
        cmocka_unit_test(too_many),
        cmocka_unit_test(indexes_leave_out),
        cmocka_unit_test(wide_items_are_left_out),
        cmocka_unit_test(test_next),
        cmocka_unit_test(test_next_clash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
