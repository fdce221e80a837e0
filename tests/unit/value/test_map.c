// value/map.h: structs into M values and back, by rows.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "value/map.h"

enum color { RED, GREEN, BLUE };

struct thing {
    int64_t count;
    uint64_t most;
    enum color color;
    bool ready;
    struct slice name;
    struct slice place;
    struct slice inner;
};

static const struct map_row rows[] = {
    MAP_SAME(thing, INTEGER, count),     MAP_ROW(thing, INTEGER, most, "atMost"),
    MAP_SAME(thing, SMALL, color),       MAP_SAME(thing, FLAG, ready),
    MAP_SAME(thing, TEXT, name),         MAP_SAME(thing, BYTES, place),
    MAP_ROW(thing, VALUE, inner, "map"),
};

struct world {
    struct arena arena;
    struct error error;
};

static void world_open(struct world *world)
{
    arena_init(&world->arena, 1 << 20);
    error_init(&world->error, &world->arena);
}

static struct slice encode(struct world *world, const struct thing *thing)
{
    struct value_maker maker;
    map_begin(&maker);
    map_put_rows(&maker.b, rows, COUNT_OF(rows), thing);
    struct slice map = map_end(&maker, &world->arena, &world->error);
    assert_non_null(map.ptr);
    assert_true(value_valid(map));
    return map;
}

static void test_round(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    struct slice inner = encode(&world, &(struct thing){.count = 7});
    const struct thing thing = {.count = -12,
                                .most = (uint64_t)1 << 62,
                                .color = BLUE,
                                .ready = true,
                                .name = SLICE_LIT("stone"),
                                .place = SLICE_LIT("\x00\xff"),
                                .inner = inner};
    struct slice map = encode(&world, &thing);
    struct thing read = {.count = 0};
    map_get_rows(map, rows, COUNT_OF(rows), &read);
    assert_int_equal(read.count, -12);
    assert_true(read.most == thing.most);
    assert_int_equal(read.color, BLUE);
    assert_true(read.ready);
    assert_true(slice_equal(read.name, thing.name));
    assert_true(slice_equal(read.place, thing.place));
    assert_true(slice_equal(read.inner, inner));
    assert_int_equal(map_integer(map, "atMost"), (int64_t)1 << 62);
    assert_int_equal(map_integer(map_value(map, SLICE_LIT("map")), "count"), 7);
    assert_int_equal(value_type(map_value(map, SLICE_LIT("place"))), VALUE_B);
    arena_release(&world.arena);
}

// What is 0, false or empty takes no room, and is read as that.
static void test_absent(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    struct slice map = encode(&world, &(struct thing){.count = 0});
    assert_int_equal(value_count(map), 0);
    struct thing read = {.count = 0};
    map_get_rows(map, rows, COUNT_OF(rows), &read);
    assert_int_equal(read.count, 0);
    assert_int_equal(read.name.len, 0);
    map_get_rows(VALUE_NONE, rows, COUNT_OF(rows), &read);
    assert_false(map_flag(VALUE_NONE, "ready"));
    assert_int_equal(map_text(map, "name").len, 0);
    arena_release(&world.arena);
}

// ---- Forms ------------------------------------------------------------------------------------

enum { ROOM = 3 };

struct many {
    bool first;
    struct thing thing; // its members stand among the others
    size_t number;
    struct thing list[ROOM];
};

static const struct map_form thing_form = MAP_FORM(thing, rows);
static const struct map_row many_rows[] = {
    MAP_SAME(many, FLAG, first),
    MAP_PART_ROW(many, thing, &thing_form),
    MAP_LIST_ROW(many, list, number, ROOM, "things", &thing_form),
};
static const struct map_form many_form = MAP_FORM(many, many_rows);
static const struct map_row few_rows[] = {
    MAP_LIST_ROW(many, list, number, 1, "things", &thing_form),
};
static const struct map_form few_form = MAP_FORM(many, few_rows);

static void test_form(void **state)
{
    (void)state;
    struct world world;
    struct many read = {.number = 77};
    world_open(&world);
    const struct many many = {.first = true,
                              .thing = {.count = 5, .name = SLICE_LIT("part")},
                              .number = 2,
                              .list = {{.color = GREEN}, {.name = SLICE_LIT("last")}}};
    struct slice map = map_encode(&many_form, &many, &world.arena, &world.error);
    assert_true(value_valid(map));
    assert_int_equal(map_integer(map, "count"), 5);
    assert_int_equal(value_count(map_value(map, SLICE_LIT("things"))), 2);
    map_decode(&many_form, map, &read);
    assert_true(read.first);
    assert_int_equal(read.thing.count, 5);
    assert_int_equal(read.number, 2);
    assert_int_equal(read.list[0].color, GREEN);
    assert_true(slice_is(read.list[1].name, "last"));
    // A list that is longer than there is room for is cut; one that is none is not read.
    map_decode(&few_form, map, &read);
    assert_int_equal(read.number, 1);
    assert_true(map_set(&world.arena, &map, SLICE_LIT("things"), value_empty_map(), &world.error));
    map_decode(&many_form, map, &read);
    assert_int_equal(read.number, 0);
    // All that is absent is 0, whatever was there before.
    map_decode(&many_form, VALUE_NONE, &read);
    assert_false(read.first);
    assert_int_equal(read.thing.count, 0);
    assert_int_equal(value_count(map_encode(&many_form, &read, &world.arena, &world.error)), 0);
    arena_release(&world.arena);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct arena arena;
    struct error error;
    struct thing thing = {.name = SLICE_LIT("stone")};
    arena_init(&arena, 0);
    error_init(&error, &arena);
    assert_int_equal(map_encode(&thing_form, &thing, &arena, &error).len, 0);
    assert_int_equal(error.code, ERR_BUDGET);
    arena_release(&arena);
}

// A value ends with all that is open closed; one that does not fit is none.
static void test_value_maker(void **state)
{
    (void)state;
    struct world world;
    struct value_maker maker;
    world_open(&world);
    value_begin(&maker, 1 << 10);
    value_open_list(&maker.b);
    value_put_string(&maker.b, SLICE_LIT("stone"));
    value_open_map(&maker.b);
    struct slice list = value_end(&maker, &world.arena);
    assert_true(value_valid(list));
    assert_int_equal(value_count(list), 2);
    value_begin(&maker, 16);
    value_put_string(&maker.b, SLICE_LIT("more than sixteen bytes"));
    assert_null(value_end(&maker, &world.arena).ptr);
    struct arena none;
    arena_init(&none, 0);
    value_begin(&maker, 16);
    value_put_null(&maker.b);
    assert_null(value_end(&maker, &none).ptr);
    arena_release(&none);
    arena_release(&world.arena);
}

static void test_set(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    struct slice one = encode(&world, &(struct thing){.count = 1});
    struct slice two = encode(&world, &(struct thing){.count = 2});
    struct slice map = VALUE_NONE;
    assert_true(map_set(&world.arena, &map, SLICE_LIT("b"), one, &world.error));
    assert_true(map_set(&world.arena, &map, SLICE_LIT("a"), one, &world.error));
    assert_true(map_set(&world.arena, &map, SLICE_LIT("b"), two, &world.error));
    assert_int_equal(value_count(map), 2);
    assert_true(slice_equal(map_value(map, SLICE_LIT("b")), two));
    assert_true(map_set(&world.arena, &map, SLICE_LIT("b"), VALUE_NONE, &world.error));
    assert_int_equal(value_count(map), 1);
    assert_true(slice_equal(map_value(map, SLICE_LIT("a")), one));
    arena_release(&world.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round), cmocka_unit_test(test_absent),
        cmocka_unit_test(test_set),   cmocka_unit_test(test_value_maker),
        cmocka_unit_test(test_form),  cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
