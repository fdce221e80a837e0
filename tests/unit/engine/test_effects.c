// What follows from writes, with the small guard of effects_guard.h.
#include "engine/effects_guard.h"

#include <pthread.h>

static bool alter_attach(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    (void)error;
    struct guard *guard = fake_guard(context, NULL, current);
    *next = table_clone(current);
    assert_non_null(*next);
    assert_true(table_set_guard(*next, SLICE_LIT("fake"), guard));
    guard_release(guard);
    return true;
}

static void open_two(struct world *w)
{
    world_open(w);
    create_table(w, "t", true, true);
    create_table(w, "p", false, false);
    assert_true(change_table(w, "t", alter_attach, NULL));
    assert_true(change_table(w, "p", alter_attach, NULL));
    engine_settle(w->engine);
}

static struct slice read_item(struct world *w, const char *name, struct slice key)
{
    struct table *table = engine_table(w->engine, slice_str(name));
    struct item_read read;
    assert_true(engine_get(w->engine, NULL, tree_key(w, table, key), &read, &w->error));
    struct slice copy = read.item.len == 0 ? VALUE_NONE : arena_copy(&w->arena, read.item);
    item_read_release(w->engine, &read);
    table_release(table);
    return copy;
}

static int64_t count_of(struct world *w, const char *parent)
{
    char word[64];
    (void)snprintf(word, sizeof(word), "pk=%s", parent);
    struct slice item = read_item(w, "p", item_of(w, word, "sk=x", NULL));
    return item.len == 0 ? -1 : number_at(item, "count");
}

static size_t items_in(struct world *w, const char *table)
{
    struct page_result result;
    scan_all(w, table, NULL, &result);
    buf_release(&result.items);
    return result.count;
}

static size_t notes_in(struct world *w)
{
    struct table *table = engine_table(w->engine, SLICE_LIT("p"));
    assert_int_not_equal(table->notes, 0);
    struct store_cursor *cursor = layout_tree_cursor(w->store, NULL, table->notes);
    size_t count = 0;
    for (store_cursor_first(cursor); store_cursor_valid(cursor); store_cursor_next(cursor))
        count++;
    store_cursor_close(cursor);
    table_release(table);
    return count;
}

static bool put_child(struct world *w, const char *pk, const char *parent)
{
    char words[2][64];
    (void)snprintf(words[0], sizeof(words[0]), "pk=%s", pk);
    (void)snprintf(words[1], sizeof(words[1]), "parent=%s", parent);
    return put_item(w, "t", item_of(w, words[0], "sk=1", words[1], NULL));
}

static void counts_follow(void **state)
{
    (void)state;
    struct world w;
    open_two(&w);
    assert_true(put_item(&w, "p", item_of(&w, "pk=a", "sk=x", NULL)));
    assert_true(put_child(&w, "1", "a"));
    assert_true(put_child(&w, "2", "a"));
    assert_true(put_child(&w, "2", "a")); // the same again
    assert_int_equal(count_of(&w, "a"), 2);
    assert_true(put_child(&w, "2", "b")); // b is not there: a note
    assert_int_equal(count_of(&w, "a"), 1);
    assert_int_equal(notes_in(&w), 1);
    assert_true(put_item(&w, "p", item_of(&w, "pk=b", "sk=x", NULL)));
    assert_int_equal(count_of(&w, "b"), 1);
    assert_int_equal(notes_in(&w), 0);
    assert_true(delete_item(&w, "p", item_of(&w, "pk=b", "sk=x", NULL)));
    assert_int_equal(notes_in(&w), 1);
    assert_true(delete_item(&w, "t", item_of(&w, "pk=2", "sk=1", NULL)));
    assert_int_equal(notes_in(&w), 0);
    assert_int_equal(count_of(&w, "a"), 1);
    world_close(&w);
}

static bool run_all(struct world *w, struct write_action *actions, const char *const *tables,
                    size_t count, bool transaction)
{
    struct write_job job;
    error_init(&w->error, &w->arena);
    write_job_init(&job, w->engine, &w->arena, &w->error);
    job.count = count;
    job.actions = actions;
    job.transaction = transaction;
    for (size_t i = 0; i < count; i++) {
        actions[i].table = engine_table(w->engine, slice_str(tables[i]));
        assert_non_null(actions[i].table);
    }
    bool ok = engine_run(w->engine, &job.job);
    write_job_release(&job);
    for (size_t i = 0; i < count; i++)
        table_release(actions[i].table);
    return ok;
}

// A parent that comes, children that count in it, in whatever order; one that is changed by the
// client, too.
static void meet_in_one_plan(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        struct world w;
        open_two(&w);
        assert_true(put_child(&w, "0", "a"));
        struct write_action parent = {.kind = WRITE_PUT,
                                      .flags = WRITE_NEW,
                                      .item = item_of(&w, "pk=a", "sk=x", "n=1", NULL)};
        struct write_action child = {.kind = WRITE_PUT,
                                     .item = item_of(&w, "pk=1", "sk=1", "parent=a", NULL)};
        struct write_action other = {.kind = WRITE_PUT,
                                     .item = item_of(&w, "pk=2", "sk=1", "parent=a", NULL)};
        struct write_action all[3] = {order == 0 ? parent : child, order == 0 ? child : parent,
                                      other};
        const char *const tables[] = {order == 0 ? "p" : "t", order == 0 ? "t" : "p", "t"};
        assert_true(run_all(&w, all, tables, 3, true));
        assert_int_equal(count_of(&w, "a"), 3);
        assert_int_equal(number_at(all[order].out.new_item, "count"), 3);
        assert_int_equal(notes_in(&w), 0);
        world_close(&w);
    }
}

// What fails because of an effect fails the action that it follows from, and nothing is done.
static void failures_have_a_cause(void **state)
{
    (void)state;
    struct world w;
    open_two(&w);
    struct write_action two[2] = {
        {.kind = WRITE_PUT, .item = item_of(&w, "pk=1", "sk=1", "parent=a", "emit=e", NULL)},
        {.kind = WRITE_PUT, .item = item_of(&w, "pk=2", "sk=1", "need=z", NULL)}};
    const char *const tables[] = {"t", "t"};
    assert_false(run_all(&w, two, tables, 2, true));
    assert_int_equal(w.error.code, ERR_TRANSACTION_CANCELED);
    assert_int_equal(two[0].out.failure, ERR_NONE);
    assert_int_equal(two[1].out.failure, ERR_VALIDATION);
    assert_string_equal(two[1].out.failure_text, "it is not there");
    assert_int_equal(items_in(&w, "t"), 0);
    assert_int_equal(notes_in(&w), 0);
    assert_false(put_item(&w, "t", two[1].item));
    assert_string_equal(w.error.message, "it is not there");
    // The guard of the item that is affected has a say.
    assert_true(put_item(&w, "p", item_of(&w, "pk=a", "sk=x", NULL)));
    for (int i = 0; i < 5; i++) {
        char pk[16];
        (void)snprintf(pk, sizeof(pk), "%d", i);
        assert_true(put_child(&w, pk, "a"));
    }
    assert_false(put_child(&w, "9", "a"));
    assert_string_equal(w.error.message, "too many");
    assert_int_equal(count_of(&w, "a"), 5);
    assert_true(put_item(&w, "p", item_of(&w, "pk=z", "sk=x", NULL)));
    assert_true(put_item(&w, "t", two[1].item));
    world_close(&w);
}

static void ends_are_told_once(void **state)
{
    (void)state;
    struct world w;
    open_two(&w);
    assert_true(put_item(&w, "t", item_of(&w, "pk=1", "sk=1", "emit=e", NULL)));
    struct slice event = read_item(&w, "t", item_of(&w, "pk=E#1", "sk=1", NULL));
    assert_int_equal(number_at(event, "event"), 1);
    assert_int_equal(items_in(&w, "t"), 2);
    // Nothing follows from a write that changes nothing.
    assert_true(delete_item(&w, "t", item_of(&w, "pk=E#1", "sk=1", NULL)));
    assert_true(put_item(&w, "t", item_of(&w, "pk=1", "sk=1", "emit=e", NULL)));
    assert_int_equal(items_in(&w, "t"), 1);
    world_close(&w);
}

static void has_bounds(void **state)
{
    (void)state;
    struct world w;
    open_two(&w);
    assert_false(put_item(&w, "t", item_of(&w, "pk=1", "sk=0", "endless=#1", NULL)));
    assert_non_null(strstr(w.error.message, "goes on and on"));
    assert_false(put_item(&w, "t", item_of(&w, "pk=1", "sk=0", "wide=#1001", NULL)));
    assert_non_null(strstr(w.error.message, "more items follow"));
    assert_int_equal(items_in(&w, "t"), 0);
    assert_true(put_item(&w, "t", item_of(&w, "pk=1", "sk=0", "wide=#1000", NULL)));
    assert_int_equal(items_in(&w, "t"), 1001);
    // Several actions from each of which much follows are done in parts of one.
    struct write_action two[2] = {
        {.kind = WRITE_PUT, .item = item_of(&w, "pk=2", "sk=0", "wide=#700", NULL)},
        {.kind = WRITE_PUT, .item = item_of(&w, "pk=3", "sk=0", "wide=#700", NULL)}};
    const char *const tables[] = {"t", "t"};
    assert_false(run_all(&w, two, tables, 2, true));
    assert_int_equal(items_in(&w, "t"), 1001);
    assert_true(run_all(&w, two, tables, 2, false));
    assert_int_equal(items_in(&w, "t"), 1001 + 1402);
    world_close(&w);
}

static void ranges_cascade(void **state)
{
    (void)state;
    struct world w;
    open_two(&w);
    assert_true(put_item(&w, "p", item_of(&w, "pk=a", "sk=x", "cascade=y", NULL)));
    for (int i = 0; i < 20; i++) {
        char pk[32];
        (void)snprintf(pk, sizeof(pk), "pk=%d", i);
        assert_true(put_item(
            &w, "t", item_of(&w, pk, "sk=1", i < 15 ? "g=a" : "g=b", "h=1", "parent=q", NULL)));
    }
    // One that another action of the transaction moves away stays.
    struct write_action two[2] = {
        {.kind = WRITE_DELETE, .item = item_of(&w, "pk=a", "sk=x", NULL)},
        {.kind = WRITE_PUT, .item = item_of(&w, "pk=3", "sk=1", "g=c", "h=1", "parent=q", NULL)}};
    const char *const tables[] = {"p", "t"};
    assert_true(run_all(&w, two, tables, 2, true));
    assert_int_equal(items_in(&w, "t"), 6);
    assert_true(put_item(&w, "p", item_of(&w, "pk=q", "sk=x", "c=1", NULL)) == false); // 6 > 5
    assert_true(delete_item(&w, "t", item_of(&w, "pk=3", "sk=1", NULL)));
    assert_true(put_item(&w, "p", item_of(&w, "pk=q", "sk=x", "c=1", NULL)));
    assert_int_equal(count_of(&w, "q"), 5);
    world_close(&w);
}

// ---- Many at once -------------------------------------------------------------------------------

enum { RACERS = 4, ROUNDS = 150 };

struct racer {
    struct world *w;
    int number;
    const atomic_bool *until; // or NULL: after some rounds
};

static void *race(void *argument)
{
    const struct racer *racer = argument;
    struct world own = {.engine = racer->w->engine, .store = racer->w->store};
    arena_init(&own.arena, LIMIT_REQUEST_MEMORY);
    for (int i = 0; racer->until == NULL ? i < ROUNDS : !atomic_load(racer->until); i++) {
        char pk[32];
        (void)snprintf(pk, sizeof(pk), "r%d-%d", racer->number, i % 7);
        bool put = i % 3 != 2;
        char key[40];
        (void)snprintf(key, sizeof(key), "pk=%s", pk);
        if (put)
            (void)put_item(&own, "t",
                           item_of(&own, key, "sk=1", i % 2 == 0 ? "parent=a" : "parent=b", NULL));
        else
            (void)delete_item(&own, "t", item_of(&own, key, "sk=1", NULL));
        if (i % 10 == racer->number && i % 20 < 10)
            (void)delete_item(&own, "p", item_of(&own, "pk=b", "sk=x", NULL));
        else if (i % 10 == racer->number)
            (void)put_item(&own, "p", item_of(&own, "pk=b", "sk=x", NULL));
        arena_reset(&own.arena);
    }
    arena_release(&own.arena);
    return NULL;
}

static int64_t children_of(struct world *w, const char *parent)
{
    struct table *table = engine_table(w->engine, SLICE_LIT("t"));
    struct store_cursor *cursor = layout_tree_cursor(w->store, NULL, table->tree);
    int64_t count = 0;
    for (store_cursor_first(cursor); store_cursor_valid(cursor); store_cursor_next(cursor))
        count += slice_is(text_at(record_item(store_cursor_value(cursor)), "parent"), parent);
    store_cursor_close(cursor);
    table_release(table);
    return count;
}

static int64_t kept_for(struct world *w, const char *parent)
{
    int64_t count = count_of(w, parent);
    struct table *table = engine_table(w->engine, SLICE_LIT("p"));
    struct buf key;
    struct store_value value;
    struct store_error cause;
    buf_init(&key, 1 << 10);
    char name[64];
    int len = snprintf(name, sizeof(name), "count%c%s", 0, parent);
    layout_tree_key(&key, table->notes, slice_of(name, (size_t)len));
    int64_t noted = 0;
    if (store_get(w->store, NULL, buf_view(&key), &value, &cause) == STORE_FOUND) {
        noted = value_number(value.bytes);
        store_value_release(w->store, &value);
    }
    buf_release(&key);
    table_release(table);
    assert_true(count < 0 || noted == 0);
    return count < 0 ? noted : count;
}

// Threads write children and take a parent away and put it back: the counts are exact. The limit of
// five makes some of the writes fail, which must leave nothing.
static void counts_are_exact(void **state)
{
    (void)state;
    struct world w;
    open_two(&w);
    pthread_t threads[RACERS];
    struct racer racers[RACERS];
    for (int i = 0; i < RACERS; i++) {
        racers[i] = (struct racer){&w, i, NULL};
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (int i = 0; i < RACERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(kept_for(&w, "a"), children_of(&w, "a"));
    assert_int_equal(kept_for(&w, "b"), children_of(&w, "b"));
    world_close(&w);
}

// Guards that come to tables with items, while others write: counts are exact once they are done.
static void counts_come_later(void **state)
{
    (void)state;
    struct world w;
    world_open(&w);
    create_table(&w, "t", true, true);
    create_table(&w, "p", false, false);
    for (int i = 0; i < 3000; i++) {
        char pk[32];
        (void)snprintf(pk, sizeof(pk), "pk=%d", i);
        const char *const parents[] = {"parent=a", "parent=b", "parent=c"};
        assert_true(put_item(&w, "t", item_of(&w, pk, "sk=1", parents[i % 3], NULL)));
        (void)snprintf(pk, sizeof(pk), "pk=other%d", i);
        if (i < 500)
            assert_true(put_item(&w, "p", item_of(&w, pk, "sk=x", NULL)));
    }
    assert_true(put_item(&w, "p", item_of(&w, "pk=a", "sk=x", NULL)));
    pthread_t threads[RACERS];
    struct racer racers[RACERS];
    atomic_bool counted = false;
    for (int i = 0; i < RACERS; i++) {
        racers[i] = (struct racer){&w, i, &counted};
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    assert_true(change_table(&w, "p", alter_attach, &w)); // waits for the other
    assert_true(change_table(&w, "t", alter_attach, &w));
    engine_settle(w.engine);
    atomic_store(&counted, true);
    for (int i = 0; i < RACERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    struct table *table = engine_table(w.engine, SLICE_LIT("p"));
    assert_int_equal(table->pending_count, 0);
    table_release(table);
    assert_int_equal(kept_for(&w, "a"), children_of(&w, "a"));
    assert_int_equal(kept_for(&w, "b"), children_of(&w, "b"));
    assert_int_equal(kept_for(&w, "c"), children_of(&w, "c"));
    assert_true(children_of(&w, "c") == 1000);
    world_close(&w);
}

static size_t pending_in(struct world *w, const char *name)
{
    struct table *table = engine_table(w->engine, slice_str(name));
    size_t count = table->pending_count;
    table_release(table);
    return count;
}

// Between empty tables there is nothing to count: the rule holds from the first item on, whichever
// table has its model first. (The keeper does nothing here: nobody waits for it.)
static void empty_tables_count_at_once(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        struct world w;
        world_open(&w);
        create_table(&w, "t", true, true);
        create_table(&w, "p", false, false);
        assert_true(change_table(&w, order == 0 ? "p" : "t", alter_attach, NULL));
        assert_int_equal(pending_in(&w, "p"), 0);
        assert_true(change_table(&w, order == 0 ? "t" : "p", alter_attach, NULL));
        assert_int_equal(pending_in(&w, "p"), 0);
        assert_true(put_child(&w, "1", "a"));
        assert_true(put_item(&w, "p", item_of(&w, "pk=a", "sk=x", NULL)));
        assert_int_equal(count_of(&w, "a"), 1);
        world_close(&w);
    }
}

// An item that follows from a write claims its values like any other.
static void derived_items_claim(void **state)
{
    (void)state;
    struct world w;
    open_two(&w);
    assert_true(put_item(&w, "p", item_of(&w, "pk=a", "sk=x", "email=e", NULL)));
    assert_true(put_child(&w, "1", "a"));
    assert_false(put_item(&w, "p", item_of(&w, "pk=b", "sk=x", "email=e", NULL)));
    assert_true(delete_item(&w, "p", item_of(&w, "pk=a", "sk=x", NULL)));
    assert_true(put_item(&w, "p", item_of(&w, "pk=b", "sk=x", "email=e", NULL)));
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_follow),
        cmocka_unit_test(meet_in_one_plan),
        cmocka_unit_test(failures_have_a_cause),
        cmocka_unit_test(ends_are_told_once),
        cmocka_unit_test(has_bounds),
        cmocka_unit_test(ranges_cascade),
        cmocka_unit_test(counts_are_exact),
        cmocka_unit_test(derived_items_claim),
        cmocka_unit_test(counts_come_later),
        cmocka_unit_test(empty_tables_count_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
