// Counts that are not what items say: each that is planted into the store is found.
#include "verify/verify.h"

#include "engine/effects_guard.h"

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

static void note_difference(void *context, const struct verify_difference *difference)
{
    size_t *count = context;
    assert_int_equal(difference->check, VERIFY_RULES);
    (*count)++;
}

static void note_outcome(void *context, const struct verify_outcome *outcome)
{
    (void)context;
    (void)outcome;
}

static bool go_on(void *context, const struct verify_progress *progress)
{
    (void)context;
    (void)progress;
    return true;
}

static size_t differences(struct world *w)
{
    size_t count = 0;
    const struct verify_watcher watcher = {&count, note_difference, note_outcome, go_on};
    const struct verify_knowledge knowledge = {.maker = {.context = w, .make = fake_guard}};
    const struct verify_options options = {.watcher = &watcher, .knowledge = &knowledge};
    assert_true(engine_verify(w->engine, &options));
    return count;
}

static struct slice note_key(struct world *w, const char *parent)
{
    struct table *table = engine_table(w->engine, SLICE_LIT("p"));
    struct buf key;
    char name[64];
    int len = snprintf(name, sizeof(name), "count%c%s", 0, parent);
    buf_init(&key, 1 << 10);
    layout_tree_key(&key, table->notes, slice_of(name, (size_t)len));
    struct slice copy = arena_copy(&w->arena, buf_view(&key));
    buf_release(&key);
    table_release(table);
    return copy;
}

static void plant(struct world *w, struct slice key, struct slice value)
{
    struct store_batch *batch = store_batch_new();
    struct store_error cause;
    if (value.len > 0)
        store_batch_put(batch, key, value);
    else
        store_batch_delete(batch, key);
    assert_int_equal(store_commit(w->store, batch, &cause), STORE_DONE);
    store_batch_free(batch);
}

// A count in an item that is one too many, by way of the store: the item's record.
static void plant_count(struct world *w, const char *parent, const char *word)
{
    struct table *table = engine_table(w->engine, SLICE_LIT("p"));
    char pk[64];
    (void)snprintf(pk, sizeof(pk), "pk=%s", parent);
    struct slice item = item_of(w, pk, "sk=x", word, NULL);
    struct buf record;
    buf_init(&record, 1 << 16);
    record_write(&record, item, value_item_size(item));
    plant(w, tree_key(w, table, item), buf_view(&record));
    buf_release(&record);
    table_release(table);
}

static void finds_wrong_counts(void **state)
{
    (void)state;
    struct world w;
    world_open(&w);
    create_table(&w, "t", false, false);
    create_table(&w, "p", false, false);
    assert_true(change_table(&w, "t", alter_attach, &w));
    assert_true(change_table(&w, "p", alter_attach, &w));
    engine_settle(w.engine);
    assert_true(put_item(&w, "p", item_of(&w, "pk=a", "sk=x", NULL)));
    for (int i = 0; i < 9; i++) {
        char pk[32];
        (void)snprintf(pk, sizeof(pk), "pk=%d", i);
        assert_true(
            put_item(&w, "t", item_of(&w, pk, "sk=1", i % 3 == 0 ? "parent=b" : "parent=a", NULL)));
    }
    assert_int_equal(differences(&w), 0);
    plant_count(&w, "a", "count=#7");
    assert_int_equal(differences(&w), 1);
    plant_count(&w, "a", "count=#6");
    assert_int_equal(differences(&w), 0);
    plant(&w, note_key(&w, "b"), number_value(&w.arena, 4));
    assert_int_equal(differences(&w), 1);
    plant(&w, note_key(&w, "b"), VALUE_NONE);
    assert_int_equal(differences(&w), 1);
    plant(&w, note_key(&w, "b"), number_value(&w.arena, 3));
    plant(&w, note_key(&w, "a"), number_value(&w.arena, 6)); // a is there, and has it
    assert_int_equal(differences(&w), 1);
    plant(&w, note_key(&w, "a"), VALUE_NONE);
    assert_int_equal(differences(&w), 0);
    world_close(&w);
}

static void plant_item(struct world *w, const char *table_name, struct slice item)
{
    struct table *table = engine_table(w->engine, slice_str(table_name));
    struct buf record;
    buf_init(&record, 1 << 16);
    record_write(&record, item, value_item_size(item));
    plant(w, tree_key(w, table, item), buf_view(&record));
    buf_release(&record);
    table_release(table);
}

static void finds_what_follows_from_nothing(void **state)
{
    (void)state;
    struct world w;
    world_open(&w);
    create_table(&w, "t", false, false);
    create_table(&w, "p", false, false);
    assert_true(change_table(&w, "t", alter_attach, &w));
    assert_true(change_table(&w, "p", alter_attach, &w));
    engine_settle(w.engine);
    assert_true(put_item(&w, "t", item_of(&w, "pk=1", "sk=1", "source=a", NULL)));
    assert_int_equal(differences(&w), 1);
    assert_true(put_item(&w, "p", item_of(&w, "pk=a", "sk=x", NULL)));
    assert_int_equal(differences(&w), 0);
    // A reference to nothing.
    assert_true(put_item(&w, "t", item_of(&w, "pk=2", "sk=1", "need=a", NULL)));
    assert_int_equal(differences(&w), 0);
    plant_item(&w, "t", item_of(&w, "pk=2", "sk=1", "need=b", NULL));
    assert_int_equal(differences(&w), 1);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_wrong_counts),
                                       cmocka_unit_test(finds_what_follows_from_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
