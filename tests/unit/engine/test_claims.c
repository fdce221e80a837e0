// Claims with an end: they hold until then, are forgotten behind it, and leave nothing behind.
//
// The guard claims what stands in `is`, until the moment in `until`, in seconds since the test
// began.
#include "support.h"

#include "engine/engine_internal.h"

enum { BEGAN_MS = 1000, MANY = 700 };

static size_t claim(const struct guard_write *write, struct slice item, struct guard_claim **out)
{
    struct slice is = item.len == 0 ? VALUE_NONE : value_get(item, SLICE_LIT("is"));
    struct slice until = item.len == 0 ? VALUE_NONE : value_get(item, SLICE_LIT("until"));
    int64_t seconds = 0;
    if (is.len == 0)
        return 0;
    assert_true(until.len == 0 || number_to_i64(value_bytes(until), &seconds));
    *out = arena_zalloc(write->arena, 1, sizeof(**out));
    **out = (struct guard_claim){arena_copy(write->arena, is), SLICE_LIT("is"), is,
                                 seconds == 0 ? 0 : BEGAN_MS + seconds * 1000};
    return 1;
}

static bool claiming_write(const struct guard *guard, struct guard_write *write,
                           struct error *error)
{
    (void)guard;
    (void)error;
    write->claim_count = claim(write, write->after, &write->claims);
    write->release_count = claim(write, write->before, &write->releases);
    return true;
}

static void claiming_free(struct guard *guard)
{
    free(guard);
}

static const struct guard_ops claiming_ops = {.write = claiming_write, .free = claiming_free};

static bool alter_attach(void *context, struct table *current, struct table **next,
                         struct error *error)
{
    (void)context;
    (void)error;
    struct guard *guard = calloc(1, sizeof(*guard));
    assert_non_null(guard);
    *guard = (struct guard){.ops = &claiming_ops, .references = 1, .claims = 1};
    *next = table_clone(current);
    assert_non_null(*next);
    assert_true(table_set_guard(*next, SLICE_LIT("claiming"), guard));
    guard_release(guard);
    return true;
}

static void claiming_open(struct world *w)
{
    world_open(w);
    w->clock.now_ms = BEGAN_MS;
    create_table(w, "t", false, false);
    assert_true(change_table(w, "t", alter_attach, NULL));
}

static size_t count_range(struct world *w, struct slice lower, struct slice upper)
{
    struct store_cursor *cursor = store_cursor_open(w->store, NULL, lower, upper);
    size_t count = 0;
    for (store_cursor_first(cursor); store_cursor_valid(cursor); store_cursor_next(cursor))
        count++;
    store_cursor_close(cursor);
    return count;
}

static size_t claims_left(struct world *w)
{
    struct table *table = engine_table(w->engine, SLICE_LIT("t"));
    uint8_t lower[LAYOUT_TREE];
    uint8_t upper[LAYOUT_TREE];
    layout_tree_bounds(table->claims, lower, upper);
    table_release(table);
    return count_range(w, slice_of(lower, sizeof(lower)), slice_of(upper, sizeof(upper)));
}

static size_t lapses_left(struct world *w)
{
    const uint8_t lower[] = {0, 0, 0, TREE_META, META_LAPSE};
    const uint8_t upper[] = {0, 0, 0, TREE_META, META_LAPSE + 1};
    return count_range(w, slice_of(lower, sizeof(lower)), slice_of(upper, sizeof(upper)));
}

// The keeper does its round at that second.
static void round_at(struct world *w, int64_t seconds)
{
    w->clock.now_ms = BEGAN_MS + seconds * 1000;
    keeper_wake(w->engine);
    engine_settle(w->engine);
}

static struct slice numbered(struct world *w, int n, const char *until)
{
    return item_of(w, arena_printf(&w->arena, "pk=%d", n), "sk=1",
                   arena_printf(&w->arena, "is=%d", n), until, NULL);
}

// Half of them end earlier than the others, and some never do.
static void ended_claims_are_forgotten(void **state)
{
    (void)state;
    struct world w;
    claiming_open(&w);
    for (int i = 0; i < MANY; i++)
        assert_true(put_item(&w, "t", numbered(&w, i, i % 2 == 0 ? "until=#10" : "until=#20")));
    for (int i = 0; i < 5; i++)
        assert_true(put_item(&w, "t", numbered(&w, MANY + i, "x=y")));
    assert_int_equal(lapses_left(&w), MANY);
    round_at(&w, 9);
    assert_int_equal(claims_left(&w), MANY + 5);
    round_at(&w, 11);
    assert_int_equal(claims_left(&w), MANY / 2 + 5);
    assert_int_equal(lapses_left(&w), MANY / 2);
    round_at(&w, 21);
    assert_int_equal(claims_left(&w), 5);
    assert_int_equal(lapses_left(&w), 0);
    world_close(&w);
}

// What was claimed anew, with a later end, outlives the first one's; what was given back leaves
// nothing.
static void claims_are_claimed_anew(void **state)
{
    (void)state;
    struct world w;
    claiming_open(&w);
    assert_true(put_item(&w, "t", item_of(&w, "pk=a", "sk=1", "is=x", "until=#10", NULL)));
    w.clock.now_ms = BEGAN_MS + 15 * 1000;
    assert_true(put_item(&w, "t", item_of(&w, "pk=b", "sk=1", "is=x", "until=#30", NULL)));
    assert_true(put_item(&w, "t", item_of(&w, "pk=c", "sk=1", "is=y", "until=#30", NULL)));
    assert_true(delete_item(&w, "t", item_of(&w, "pk=c", "sk=1", NULL)));
    round_at(&w, 20);
    assert_int_equal(claims_left(&w), 1);
    assert_false(put_item(&w, "t", item_of(&w, "pk=d", "sk=1", "is=x", "x=y", NULL)));
    round_at(&w, 31);
    assert_int_equal(claims_left(&w), 0);
    assert_int_equal(lapses_left(&w), 0);
    assert_true(put_item(&w, "t", item_of(&w, "pk=d", "sk=1", "is=x", "x=y", NULL)));
    world_close(&w);
}

// A table that goes takes its claims along; what says when to forget them goes in its time.
static void tables_go(void **state)
{
    (void)state;
    struct world w;
    claiming_open(&w);
    assert_true(put_item(&w, "t", item_of(&w, "pk=a", "sk=1", "is=x", "until=#10", NULL)));
    assert_true(change_table(&w, "t", alter_drop, NULL));
    engine_settle(w.engine);
    assert_int_equal(lapses_left(&w), 1);
    round_at(&w, 11);
    assert_int_equal(lapses_left(&w), 0);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ended_claims_are_forgotten),
        cmocka_unit_test(claims_are_claimed_anew),
        cmocka_unit_test(tables_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
