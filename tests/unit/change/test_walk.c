// Walking over a table: every item once, and the place behind the last page is the end, so that a
// walk which is killed there and begun again counts nothing twice.
#include "engine/support.h"

#include "change/model.h"

struct visits {
    size_t count;
};

static bool visit(void *context, struct slice item)
{
    struct visits *visits = context;
    assert_true(item.len > 0);
    visits->count++;
    return true;
}

static size_t walk(struct world *world, struct buf *after, uint64_t limit, bool *ended)
{
    struct visits visits = {0};
    struct table *table = engine_table(world->engine, SLICE_LIT("t"));
    assert_non_null(table);
    assert_true(
        model_walk(world->engine, table, after, limit, visit, &visits, ended, &world->error));
    table_release(table);
    return visits.count;
}

static void test_ends_behind_the_last_item(void **state)
{
    (void)state;
    struct world world;
    struct buf after;
    bool ended;
    world_open(&world);
    create_table(&world, "t", false, false);
    for (int i = 0; i < 5; i++) {
        char key[16];
        (void)snprintf(key, sizeof(key), "pk=%d", i);
        assert_true(put_item(&world, "t", item_of(&world, key, "sk=x", NULL)));
    }
    buf_init(&after, STORE_KEY_MAX);
    assert_int_equal(walk(&world, &after, 3, &ended), 3);
    assert_false(ended);
    assert_int_equal(walk(&world, &after, 3, &ended), 2);
    assert_true(ended);
    assert_int_equal(walk(&world, &after, 3, &ended), 0);
    assert_true(ended);
    buf_release(&after);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ends_behind_the_last_item)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
