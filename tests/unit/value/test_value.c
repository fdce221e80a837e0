// Values: what a builder writes is what readers read; the form is canonical; and
// value_valid() survives any bytes.
#include "value/support.h"

#include "value/entry.h"

static void test_type_names(void **state)
{
    (void)state;
    for (unsigned type = 0; type < VALUE_TYPES; type++) {
        const char *name = value_type_name((enum value_type)type);
        assert_int_equal(value_type_from_name(slice_str(name)), type);
    }
    assert_string_equal(value_type_name(VALUE_NULL), "NULL");
    assert_int_equal(value_type_from_name(SLICE_LIT("X")), VALUE_TYPES);
    assert_int_equal(value_type_from_name(SLICE_LIT("")), VALUE_TYPES);
    assert_int_equal(value_type_from_name(SLICE_LIT("SSS")), VALUE_TYPES);
}

// An item with every type, its entries out of order.
static void build_sample(struct value_builder *b)
{
    value_open_map(b);
    value_name(b, SLICE_LIT("text"));
    value_put_string(b, SLICE_LIT("h\xc3\xa9llo"));
    value_name(b, SLICE_LIT("bin"));
    value_put_binary(b, slice_of("\0\1\2", 3));
    value_name(b, SLICE_LIT("num"));
    put_number(b, "-12.5");
    value_name(b, SLICE_LIT("nul"));
    value_put_null(b);
    value_name(b, SLICE_LIT("yes"));
    value_put_bool(b, true);
    value_name(b, SLICE_LIT("no"));
    value_put_bool(b, false);
    value_name(b, SLICE_LIT("set"));
    value_open_set(b, VALUE_SS);
    value_member(b, SLICE_LIT("b"));
    value_member(b, SLICE_LIT("aa"));
    value_member(b, SLICE_LIT("a"));
    assert_true(value_close(b));
    value_name(b, SLICE_LIT("list"));
    value_open_list(b);
    value_put_string(b, SLICE_LIT("z"));
    value_open_map(b);
    value_name(b, SLICE_LIT("y"));
    value_put_null(b);
    value_name(b, SLICE_LIT("x"));
    value_put_string(b, SLICE_LIT(""));
    assert_true(value_close(b));
    value_put_string(b, SLICE_LIT("a"));
    assert_true(value_close(b));
    assert_true(value_close(b));
}

static void test_readers(void **state)
{
    (void)state;
    struct maker maker;
    maker_init(&maker);
    build_sample(&maker.builder);
    struct slice item = buf_view(&maker.out);
    assert_true(value_valid(item));
    assert_int_equal(value_length(item.ptr), item.len);
    assert_int_equal(value_type(item), VALUE_M);
    assert_int_equal(value_count(item), 8);

    assert_slice(value_bytes(value_get(item, SLICE_LIT("text"))), "h\xc3\xa9llo");
    assert_same(value_bytes(value_get(item, SLICE_LIT("bin"))), slice_of("\0\1\2", 3));
    assert_int_equal(value_type(value_get(item, SLICE_LIT("nul"))), VALUE_NULL);
    assert_int_equal(value_type(value_get(item, SLICE_LIT("no"))), VALUE_BOOL);
    assert_true(value_bool(value_get(item, SLICE_LIT("yes"))));
    assert_false(value_bool(value_get(item, SLICE_LIT("no"))));
    struct stored number = stored_number("-12.50");
    assert_same(value_bytes(value_get(item, SLICE_LIT("num"))), stored_view(&number));
    assert_null(value_get(item, SLICE_LIT("n")).ptr);
    assert_null(value_get(item, SLICE_LIT("zzz")).ptr);
    assert_null(value_get(item, SLICE_LIT("")).ptr);
    assert_null(value_get(value_empty_map(), SLICE_LIT("a")).ptr);

    struct slice set = value_get(item, SLICE_LIT("set"));
    assert_int_equal(value_type(set), VALUE_SS);
    assert_true(value_set_has(set, SLICE_LIT("aa")));
    assert_true(value_set_has(set, SLICE_LIT("b")));
    assert_false(value_set_has(set, SLICE_LIT("ab")));
    assert_false(value_set_has(set, SLICE_LIT("c")));

    struct slice list = value_get(item, SLICE_LIT("list"));
    assert_int_equal(value_count(list), 3);
    assert_slice(value_bytes(value_at(list, 2)), "a");
    assert_int_equal(value_count(value_at(list, 1)), 2);
    assert_null(value_at(list, 3).ptr);
    maker_release(&maker);
}

static void test_iteration_is_sorted(void **state)
{
    (void)state;
    struct maker maker;
    maker_init(&maker);
    build_sample(&maker.builder);
    static const char *const names[] = {"bin", "list", "no", "nul", "num", "set", "text", "yes"};
    struct value_iter iter;
    value_iter_init(&iter, buf_view(&maker.out));
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_true(value_iter_next(&iter));
        assert_slice(iter.name, names[i]);
        assert_true(value_valid(iter.value));
    }
    assert_false(value_iter_next(&iter));
    static const char *const members[] = {"a", "aa", "b"};
    value_iter_init(&iter, value_get(buf_view(&maker.out), SLICE_LIT("set")));
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        assert_true(value_iter_next(&iter));
        assert_slice(iter.value, members[i]);
    }
    assert_false(value_iter_next(&iter));
    maker_release(&maker);
}

// Entries of a map in any order, with repeats, against an array of the last values.
static void test_map_any_order(void **state)
{
    (void)state;
    uint64_t seed = 5;
    struct maker maker;
    maker_init(&maker);
    for (int round = 0; round < 200; round++) {
        enum { NAMES = 300 };
        int last[NAMES];
        memset(last, -1, sizeof(last));
        size_t distinct = 0;
        size_t count = random_below(&seed, round % 10 == 0 ? 500 : 12);
        buf_clear(&maker.out);
        value_open_map(&maker.builder);
        for (size_t i = 0; i < count; i++) {
            size_t name = random_below(&seed, NAMES);
            char text[24];
            (void)snprintf(text, sizeof(text), "%zu", name);
            value_name(&maker.builder, slice_str(text));
            value_open_list(&maker.builder);
            (void)snprintf(text, sizeof(text), "%zu", i);
            value_put_string(&maker.builder, slice_str(text));
            assert_true(value_close(&maker.builder));
            distinct += last[name] < 0;
            last[name] = (int)i;
        }
        assert_true(value_close(&maker.builder));
        struct slice map = buf_view(&maker.out);
        assert_true(value_valid(map));
        assert_int_equal(value_count(map), distinct);
        for (size_t name = 0; name < NAMES; name++) {
            char text[24];
            (void)snprintf(text, sizeof(text), "%zu", name);
            struct slice value = value_get(map, slice_str(text));
            assert_int_equal(value.ptr != NULL, last[name] >= 0);
            if (value.ptr == NULL)
                continue;
            (void)snprintf(text, sizeof(text), "%d", last[name]);
            assert_slice(value_bytes(value_at(value, 0)), text);
        }
    }
    maker_release(&maker);
}

// Whole entries at once are the same bytes as name and value by themselves, whatever their
// lengths, their order and the room that is left.
static void test_entries(void **state)
{
    (void)state;
    static const uint8_t bytes[300] = {'e', 'n', 't', 'r', 'y'};
    uint64_t seed = 31;
    struct maker apart;
    struct maker whole;
    maker_init(&apart);
    for (int round = 0; round < 3000; round++) {
        maker_init(&whole);
        buf_clear(&apart.out);
        value_open_map(&apart.builder);
        value_open_map(&whole.builder);
        for (size_t left = random_below(&seed, 30); left > 0; left--) {
            size_t limit = random_below(&seed, 8) == 0 ? 300 : 20;
            struct slice name = slice_of(bytes + random_below(&seed, 5), random_below(&seed, 20));
            struct slice text = slice_of(bytes, random_below(&seed, limit));
            value_name(&apart.builder, name);
            value_put_string(&apart.builder, text);
            value_put_entry(&whole.builder, name, VALUE_TAG_S, text);
        }
        assert_true(value_close(&apart.builder));
        assert_true(value_close(&whole.builder));
        assert_same(buf_view(&apart.out), buf_view(&whole.out));
        maker_release(&whole);
    }
    maker_release(&apart);
}

// Picking finds what looking for each name finds.
static void test_pick(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int round = 0; round < 500; round++) {
        struct buf map;
        struct buf picked;
        struct value_builder builder;
        struct value_builder picker;
        buf_init(&map, 1 << 20);
        buf_init(&picked, 1 << 20);
        value_builder_init(&builder, &map);
        value_builder_init(&picker, &picked);
        value_open_map(&builder);
        for (size_t left = random_below(&seed, 40); left > 0; left--) {
            char name[3] = {(char)('a' + random_below(&seed, 4)),
                            (char)('a' + random_below(&seed, 4)), 0};
            value_name(&builder, slice_of(name, random_below(&seed, 3)));
            value_put_bool(&builder, random_below(&seed, 2) == 0);
        }
        (void)value_close(&builder);
        struct slice names[] = {SLICE_LIT(""),   SLICE_LIT("a"),  SLICE_LIT("ab"), SLICE_LIT("ab"),
                                SLICE_LIT("cc"), SLICE_LIT("cd"), SLICE_LIT("e")};
        size_t first = random_below(&seed, COUNT_OF(names));
        value_pick(&picker, buf_view(&map), names + first, COUNT_OF(names) - first);
        size_t found = 0;
        for (size_t i = first; i < COUNT_OF(names); i++) {
            struct slice wanted = value_get(buf_view(&map), names[i]);
            assert_true(slice_equal(value_get(buf_view(&picked), names[i]), wanted));
            found += wanted.len > 0 && (i == first || !slice_equal(names[i], names[i - 1]));
        }
        assert_int_equal(value_count(buf_view(&picked)), found);
        value_builder_release(&builder);
        value_builder_release(&picker);
        buf_release(&map);
        buf_release(&picked);
    }
}

static void test_set_repeats(void **state)
{
    (void)state;
    struct maker maker;
    maker_init(&maker);
    value_open_set(&maker.builder, VALUE_NS);
    static const char *const texts[] = {"3", "1", "2", "1.0"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct stored stored = stored_number(texts[i]);
        value_member(&maker.builder, stored_view(&stored));
    }
    assert_false(value_close(&maker.builder));
    assert_true(value_valid(buf_view(&maker.out)));
    assert_int_equal(value_count(buf_view(&maker.out)), 3);

    // Repeats that come in order are seen as well.
    buf_clear(&maker.out);
    value_open_set(&maker.builder, VALUE_BS);
    value_member(&maker.builder, SLICE_LIT("a"));
    value_member(&maker.builder, SLICE_LIT("a"));
    assert_false(value_close(&maker.builder));
    assert_int_equal(value_count(buf_view(&maker.out)), 1);
    maker_release(&maker);
}

// Members in whatever order: the same bytes.
static void test_canonical(void **state)
{
    (void)state;
    uint64_t seed = 17;
    struct maker ordered;
    struct maker shuffled;
    maker_init(&ordered);
    maker_init(&shuffled);
    for (size_t count = 1; count < 400; count += 13) {
        size_t order[400];
        for (size_t i = 0; i < count; i++)
            order[i] = i;
        buf_clear(&ordered.out);
        buf_clear(&shuffled.out);
        value_open_set(&ordered.builder, VALUE_SS);
        value_open_set(&shuffled.builder, VALUE_SS);
        for (size_t i = 0; i < count; i++) {
            char text[24];
            (void)snprintf(text, sizeof(text), "%03zu", i);
            value_member(&ordered.builder, slice_str(text));
            size_t pick = i + random_below(&seed, count - i);
            size_t chosen = order[pick];
            order[pick] = order[i];
            (void)snprintf(text, sizeof(text), "%03zu", chosen);
            value_member(&shuffled.builder, slice_str(text));
        }
        assert_true(value_close(&ordered.builder));
        assert_true(value_close(&shuffled.builder));
        assert_true(value_equal(buf_view(&ordered.out), buf_view(&shuffled.out)));
        assert_true(value_valid(buf_view(&ordered.out)));
    }
    maker_release(&ordered);
    maker_release(&shuffled);
}

static void test_compare(void **state)
{
    (void)state;
    struct maker a;
    struct maker b;
    maker_init(&a);
    maker_init(&b);
    put_number(&a.builder, "-10");
    put_number(&b.builder, "2");
    assert_true(value_compare(buf_view(&a.out), buf_view(&b.out)) < 0);
    buf_clear(&a.out);
    buf_clear(&b.out);
    // The length in front of the bytes does not matter.
    value_put_string(&a.builder, SLICE_LIT("b"));
    value_put_string(&b.builder, SLICE_LIT("ab"));
    assert_true(value_compare(buf_view(&a.out), buf_view(&b.out)) > 0);
    assert_true(value_compare(buf_view(&a.out), buf_view(&a.out)) == 0);
    maker_release(&a);
    maker_release(&b);
}

static void test_sizes(void **state)
{
    (void)state;
    struct maker maker;
    maker_init(&maker);
    build_sample(&maker.builder);
    struct slice item = buf_view(&maker.out);
    // list: 3, three elements of 1 + contents; the map in it: 3, two entries of 2 + contents.
    size_t list = 3 + (1 + 1) + (1 + (3 + (1 + 1 + 1) + (1 + 1 + 0))) + (1 + 1);
    assert_int_equal(value_size(value_get(item, SLICE_LIT("list"))), list);
    assert_int_equal(value_size(value_get(item, SLICE_LIT("set"))), 4);
    assert_int_equal(value_size(value_get(item, SLICE_LIT("num"))), 4);
    assert_int_equal(value_item_size(item), (3 + 3) + (4 + list) + (2 + 1) + (3 + 1) + (3 + 4) +
                                                (3 + 4) + (4 + 6) + (3 + 1));
    assert_int_equal(value_item_size(value_empty_map()), 0);
    assert_int_equal(value_size(value_empty_map()), 3);
    assert_int_equal(value_depth(item), 3);
    assert_int_equal(value_depth(value_get(item, SLICE_LIT("set"))), 0);
    assert_int_equal(value_depth(value_empty_map()), 1);
    maker_release(&maker);
}

// Units of UTF-16, counted byte by byte.
static void test_text_size(void **state)
{
    (void)state;
    static const char *const characters[] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    uint64_t seed = 3;
    for (int round = 0; round < 2000; round++) {
        char text[256];
        size_t len = 0;
        size_t units = 0;
        for (size_t left = random_below(&seed, 50); left > 0; left--) {
            size_t kind = random_below(&seed, COUNT_OF(characters));
            size_t bytes = strlen(characters[kind]);
            memcpy(text + len, characters[kind], bytes);
            len += bytes;
            units += kind == 3 ? 2 : 1;
        }
        struct maker maker;
        size_t size;
        maker_init(&maker);
        value_put_string(&maker.builder, slice_of(text, len));
        assert_true(value_function_size(buf_view(&maker.out), &size));
        assert_int_equal(size, units);
        maker_release(&maker);
    }
}

static void test_function_size(void **state)
{
    (void)state;
    struct maker maker;
    maker_init(&maker);
    static const struct {
        const char *text;
        size_t size;
    } table[] = {{"", 0},
                 {"abc", 3},
                 {"\xc3\xa9", 1},
                 {"\xe6\xbc\xa2", 1},
                 {"\xf0\x9f\x98\x80", 2},
                 {"a\xf0\x9f\x98\x80z", 4}};
    size_t size = 0;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        buf_clear(&maker.out);
        value_put_string(&maker.builder, slice_str(table[i].text));
        assert_true(value_function_size(buf_view(&maker.out), &size));
        assert_int_equal(size, table[i].size);
    }
    buf_clear(&maker.out);
    build_sample(&maker.builder);
    struct slice item = buf_view(&maker.out);
    assert_true(value_function_size(item, &size));
    assert_int_equal(size, 8);
    assert_true(value_function_size(value_get(item, SLICE_LIT("bin")), &size));
    assert_int_equal(size, 3);
    assert_true(value_function_size(value_get(item, SLICE_LIT("set")), &size));
    assert_int_equal(size, 3);
    assert_false(value_function_size(value_get(item, SLICE_LIT("num")), &size));
    assert_false(value_function_size(value_get(item, SLICE_LIT("nul")), &size));
    assert_false(value_function_size(value_get(item, SLICE_LIT("yes")), &size));
    maker_release(&maker);
}

// A random value of at most the given depth.
static void build_random(struct value_builder *b, uint64_t *seed, size_t depth)
{
    char text[24];
    switch (random_below(seed, depth == 0 ? 5 : 8)) {
    case 0:
        value_put_null(b);
        return;
    case 1:
        value_put_bool(b, random_below(seed, 2) == 1);
        return;
    case 2:
        (void)snprintf(text, sizeof(text), "%lld", (long long)random_next(seed) >> 20);
        put_number(b, text);
        return;
    case 3:
        value_put_string(b, slice_of("abcdefghijklmnopqrstuvwxyz", random_below(seed, 27)));
        return;
    case 4:
        value_put_binary(b, slice_of("\0\xff\x80zzzz", random_below(seed, 8)));
        return;
    case 5:
        value_open_set(b, VALUE_SS);
        value_member(b, SLICE_LIT("b"));
        value_member(b, slice_of("abc", random_below(seed, 4)));
        (void)value_close(b);
        return;
    case 6:
        value_open_list(b);
        for (size_t left = random_below(seed, 5); left > 0; left--)
            build_random(b, seed, depth - 1);
        (void)value_close(b);
        return;
    default:
        value_open_map(b);
        for (size_t left = random_below(seed, 5); left > 0; left--) {
            value_name(b, slice_of("kjihgfedcba" + random_below(seed, 6), 5));
            build_random(b, seed, depth - 1);
        }
        (void)value_close(b);
        return;
    }
}

// A walk that touches everything, to prove that what is valid can be read.
static size_t walk(struct slice value)
{
    size_t size = 0;
    size_t total = value_size(value) + value_depth(value) + value_length(value.ptr);
    if (value_function_size(value, &size))
        total += size;
    enum value_type type = value_type(value);
    if (type != VALUE_L && type != VALUE_M)
        return total;
    struct value_iter iter;
    value_iter_init(&iter, value);
    while (value_iter_next(&iter)) {
        total += walk(iter.value);
        if (type == VALUE_M)
            assert_ptr_equal(value_get(value, iter.name).ptr, iter.value.ptr);
    }
    return total;
}

static void test_valid_survives_corruption(void **state)
{
    (void)state;
    uint64_t seed = 1234;
    struct maker maker;
    maker_init(&maker);
    size_t accepted = 0;
    for (int round = 0; round < 30000; round++) {
        buf_clear(&maker.out);
        build_random(&maker.builder, &seed, 3);
        size_t len = maker.out.len;
        assert_true(round % 50 != 0 || value_valid(buf_view(&maker.out)));
        size_t cut = random_below(&seed, 4) == 0 ? random_below(&seed, len + 1) : len;
        uint8_t *exact = malloc(cut == 0 ? 1 : cut);
        memcpy(exact, maker.out.ptr, cut);
        for (size_t flips = random_below(&seed, 4); flips > 0 && cut > 0; flips--) {
            uint8_t *byte = exact + random_below(&seed, cut);
            *byte = random_below(&seed, 2) ? (uint8_t)random_below(&seed, 12)
                                           : (uint8_t)random_next(&seed);
        }
        if (value_valid(slice_of(exact, cut))) {
            accepted++;
            assert_true(walk(slice_of(exact, cut)) > 0);
            assert_int_equal(value_length(exact), cut);
        }
        free(exact);
    }
    assert_true(accepted > 100);
    maker_release(&maker);
}

static void test_valid_refuses(void **state)
{
    (void)state;
    static const struct {
        size_t len;
        uint8_t bytes[16];
    } table[] = {
        {0, {0}},
        {1, {VALUE_TAGS}},
        {2, {VALUE_TAG_NULL, 0}},                                 // more than one value
        {2, {VALUE_TAG_S, 1}},                                    // too short
        {3, {VALUE_TAG_S, 0x80, 0}},                              // a length not in shortest form
        {3, {VALUE_TAG_S, 1, 0xff}},                              // not UTF-8
        {3, {VALUE_TAG_N, 1, 0x81}},                              // not a number
        {6, {VALUE_TAG_SS, 1, 0, 0, 0, 0}},                       // an empty set
        {7, {VALUE_TAG_L, 2, 0, 0, 0, 0, 0}},                     // bytes left over in the body
        {6, {VALUE_TAG_L, 2, 0, 0, 0, 0}},                        // a body longer than the bytes
        {10, {VALUE_TAG_BS, 5, 0, 0, 0, 2, 1, 'b', 1, 'a'}},      // out of order
        {10, {VALUE_TAG_BS, 5, 0, 0, 0, 2, 1, 'a', 1, 'a'}},      // a repeat
        {12, {VALUE_TAG_M, 7, 0, 0, 0, 2, 1, 'b', 0, 1, 'a', 0}}, // names out of order
        {9, {VALUE_TAG_M, 4, 0, 0, 0, 1, 1, 0xc0, 0}},            // a name that is not UTF-8
        {11, {VALUE_TAG_S, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}},
    };
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        uint8_t *exact = malloc(table[i].len == 0 ? 1 : table[i].len);
        memcpy(exact, table[i].bytes, table[i].len);
        assert_false(value_valid(slice_of(exact, table[i].len)));
        free(exact);
    }
    assert_true(value_valid(value_empty_map()));
}

// Untrusted bytes may nest without end; the check must not follow.
static void test_valid_depth(void **state)
{
    (void)state;
    struct maker maker;
    maker_init(&maker);
    for (size_t i = 0; i < VALUE_BUILDER_DEPTH; i++)
        value_open_list(&maker.builder);
    for (size_t i = 0; i < VALUE_BUILDER_DEPTH; i++)
        assert_true(value_close(&maker.builder));
    assert_true(value_valid(buf_view(&maker.out)));
    assert_int_equal(value_depth(buf_view(&maker.out)), VALUE_BUILDER_DEPTH);
    struct maker outer;
    maker_init(&outer);
    value_open_list(&outer.builder);
    value_put(&outer.builder, buf_view(&maker.out));
    assert_true(value_close(&outer.builder));
    assert_false(value_valid(buf_view(&outer.out)));
    maker_release(&outer);
    maker_release(&maker);
}

// A buf that runs full fails once and cleanly, wherever that happens.
static void test_builder_full(void **state)
{
    (void)state;
    struct maker whole;
    maker_init(&whole);
    build_sample(&whole.builder);
    for (size_t max = 0; max <= whole.out.len; max++) {
        struct buf out;
        struct value_builder builder;
        buf_init(&out, max);
        value_builder_init(&builder, &out);
        build_sample(&builder);
        assert_int_equal(builder.depth, 0);
        assert_int_equal(out.failed, max < whole.out.len);
        if (!out.failed)
            assert_same(buf_view(&out), buf_view(&whole.out));
        value_builder_release(&builder);
        buf_release(&out);
    }
    maker_release(&whole);
}

static void test_builder_reset(void **state)
{
    (void)state;
    struct maker maker;
    maker_init(&maker);
    value_open_map(&maker.builder);
    value_name(&maker.builder, SLICE_LIT("a"));
    value_open_list(&maker.builder);
    value_builder_reset(&maker.builder);
    buf_clear(&maker.out);
    build_sample(&maker.builder);
    assert_true(value_valid(buf_view(&maker.out)));
    maker_release(&maker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_type_names),
        cmocka_unit_test(test_readers),
        cmocka_unit_test(test_iteration_is_sorted),
        cmocka_unit_test(test_map_any_order),
        cmocka_unit_test(test_pick),
        cmocka_unit_test(test_set_repeats),
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_canonical),
        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_text_size),
        cmocka_unit_test(test_function_size),
        cmocka_unit_test(test_valid_survives_corruption),
        cmocka_unit_test(test_valid_refuses),
        cmocka_unit_test(test_valid_depth),
        cmocka_unit_test(test_builder_full),
        cmocka_unit_test(test_builder_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
