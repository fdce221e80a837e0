// Index entries that refer to their items, against a second engine whose entries are all copies:
// the same writes and the same pages must have the same results, capacity and sizes included.
#include "support.h"

#include "engine/engine_internal.h"

enum { COPY_MAX = 300, KEYS = 12, STEPS = 1500 };

static const struct slice included[] = {SLICE_LIT("big"), SLICE_LIT("note")};
static const char *const index_names[] = {"all", "some", "keys", "near"};

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void add_index(struct table *table, const char *name, bool global,
                      enum projection_type projection, enum index_status status)
{
    struct index *index = &table->indexes[table->index_count++];
    *index = (struct index){.name = slice_str(name),
                            .global = global,
                            .keys = schema_of(global ? "g" : "pk", "h"),
                            .projection = projection,
                            .status = status};
    if (projection == PROJECT_INCLUDE) {
        index->include = included;
        index->include_count = COUNT_OF(included);
    }
}

static bool alter_create_indexed(void *context, struct table *current, struct table **next,
                                 struct error *error)
{
    if (!alter_create(context, current, next, error))
        return false;
    add_index(*next, "all", true, PROJECT_ALL, INDEX_ACTIVE);
    add_index(*next, "some", true, PROJECT_INCLUDE, INDEX_ACTIVE);
    add_index(*next, "keys", true, PROJECT_KEYS_ONLY, INDEX_ACTIVE);
    add_index(*next, "near", false, PROJECT_INCLUDE, INDEX_ACTIVE);
    return true;
}

static bool alter_add_late(void *context, struct table *current, struct table **next,
                           struct error *error)
{
    (void)context;
    (void)error;
    *next = table_clone(current);
    assert_non_null(*next);
    add_index(*next, "late", true, PROJECT_INCLUDE, INDEX_CREATING);
    return true;
}

// ---- Two engines --------------------------------------------------------------------------

struct pair {
    struct world copies;
    struct world references;
};

static void pair_open(struct pair *pair)
{
    struct table_request request = {"music", false, false};
    world_open(&pair->copies);
    world_open(&pair->references);
    engine_index_copy_max(pair->copies.engine, LIMIT_ITEM_SIZE);
    engine_index_copy_max(pair->references.engine, COPY_MAX);
    assert_true(change_table(&pair->copies, "music", alter_create_indexed, &request));
    assert_true(change_table(&pair->references, "music", alter_create_indexed, &request));
}

static void pair_close(struct pair *pair)
{
    world_close(&pair->copies);
    world_close(&pair->references);
}

static void run_both(struct pair *pair, enum write_kind kind, struct slice item)
{
    struct write_action one = {.kind = kind, .item = item};
    struct write_action other = {.kind = kind, .item = item};
    assert_true(run_action(&pair->copies, "music", &one));
    assert_true(run_action(&pair->references, "music", &other));
    assert_memory_equal(&one.out.cost, &other.out.cost, sizeof(one.out.cost));
    assert_int_equal(one.out.collection_bytes, other.out.collection_bytes);
}

// How many entries of an index are references.
static size_t count_references(struct world *world, const char *index_name)
{
    struct table *table = engine_table(world->engine, SLICE_LIT("music"));
    uint8_t lower[4];
    uint8_t upper[4];
    layout_tree_bounds(table_index(table, slice_str(index_name))->tree, lower, upper);
    struct store_cursor *cursor =
        store_cursor_open(world->store, NULL, slice_of(lower, 4), slice_of(upper, 4));
    size_t count = 0;
    for (store_cursor_first(cursor); store_cursor_valid(cursor); store_cursor_next(cursor))
        count += record_refers(store_cursor_value(cursor));
    store_cursor_close(cursor);
    table_release(table);
    return count;
}

// ---- Comparing pages ------------------------------------------------------------------------

// Runs the page on both engines and compares everything that comes out. The copies' result stays
// in *page.
static void compare_page(struct pair *pair, struct page_request *page, const char *index_name)
{
    struct page_result results[2];
    struct page_request ran[2] = {*page, *page};
    struct world *worlds[2] = {&pair->copies, &pair->references};
    for (size_t i = 0; i < 2; i++) {
        struct table *table = engine_table(worlds[i]->engine, SLICE_LIT("music"));
        results[i] = (struct page_result){.count = 0};
        buf_init(&results[i].items, 64 << 20);
        ran[i].table = table;
        ran[i].index = table_index(table, slice_str(index_name));
        ran[i].emit = collect;
        ran[i].context = &results[i];
        ran[i].arena = &worlds[i]->arena;
        assert_true(engine_page(worlds[i]->engine, &ran[i], &worlds[i]->error));
        table_release(table);
    }
    assert_int_equal(results[0].count, results[1].count);
    assert_true(slice_equal(buf_view(&results[0].items), buf_view(&results[1].items)));
    assert_int_equal(ran[0].scanned, ran[1].scanned);
    assert_int_equal(ran[0].matched, ran[1].matched);
    assert_int_equal(ran[0].bytes, ran[1].bytes);
    assert_int_equal(ran[0].fetched_units, ran[1].fetched_units);
    assert_true(slice_equal(ran[0].last, ran[1].last));
    buf_release(&results[0].items);
    buf_release(&results[1].items);
    *page = ran[0];
}

// Where a page that ended at `last` goes on. Trees have the same ids in both engines.
static struct slice place_behind(struct pair *pair, const char *index_name, struct slice last)
{
    struct world *world = &pair->copies;
    struct table *table = engine_table(world->engine, SLICE_LIT("music"));
    struct buf key;
    buf_init(&key, 1 << 16);
    assert_true(layout_index_key(&key, table, table_index(table, slice_str(index_name)), last));
    struct slice copy = arena_copy(&world->arena, buf_view(&key));
    buf_release(&key);
    table_release(table);
    return copy;
}

// All pages of a Query or Scan of the index, each of `limit` items.
static void compare_pages(struct pair *pair, const char *index_name, struct page_request page,
                          uint64_t limit)
{
    struct page_request next = page;
    do {
        struct slice after =
            next.last.len > 0 ? place_behind(pair, index_name, next.last) : slice_of(NULL, 0);
        next = page;
        next.after = after;
        next.limit = limit;
        compare_page(pair, &next, index_name);
    } while (next.last.len > 0);
}

static struct expr_condition *note_is_there(struct pair *pair)
{
    struct world *world = &pair->copies;
    struct expr_params params;
    assert_true(expr_params_init(&params, &world->arena, &world->error));
    return expr_compile_condition(&params, SLICE_LIT("attribute_exists(note)"), EXPR_FILTER);
}

static void compare_all(struct pair *pair, uint64_t limit)
{
    struct expr_condition *filter = note_is_there(pair);
    assert_non_null(filter);
    for (size_t i = 0; i < COUNT_OF(index_names); i++) {
        struct page_request scan = {.segments = 1};
        bool local = strcmp(index_names[i], "near") == 0;
        compare_pages(pair, index_names[i], scan, limit);
        for (int way = 0; way < 8; way++) {
            struct slice value = item_of(&pair->copies, local ? "pk=p1" : "pk=g1", NULL);
            struct page_request query = {.query = true, .reverse = way & 1};
            query.range.hash[0] = value_get(value, SLICE_LIT("pk"));
            query.filter = (way & 4) != 0 ? filter : NULL;
            query.fetch = local && (way & 2) != 0;
            compare_pages(pair, index_names[i], query, limit);
        }
    }
}

static void compare_stats(struct pair *pair)
{
    struct table *one = engine_table(pair->copies.engine, SLICE_LIT("music"));
    struct table *other = engine_table(pair->references.engine, SLICE_LIT("music"));
    for (size_t i = 0; i < one->index_count; i++) {
        assert_int_equal(one->indexes[i].stats->items, other->indexes[i].stats->items);
        assert_int_equal(one->indexes[i].stats->bytes, other->indexes[i].stats->bytes);
    }
    table_release(one);
    table_release(other);
}

// ---- Tests ----------------------------------------------------------------------------------

// "name=xxx…" with that many bytes of text.
static char *text_of(struct world *world, const char *name, size_t length)
{
    size_t head = strlen(name) + 1;
    char *text = arena_alloc(&world->arena, head + length + 1);
    assert_non_null(text);
    (void)snprintf(text, head + 1, "%s=", name);
    memset(text + head, 'x', length);
    text[head + length] = 0;
    return text;
}

static struct slice item_with(struct pair *pair, const char *sk, size_t big, size_t rest)
{
    struct world *world = &pair->copies;
    return item_of(world, text_of(world, "big", big), "g=g1", "h=h1", "pk=p1",
                   text_of(world, "rest", rest), sk, NULL);
}

static void expect_references(struct pair *pair, size_t all, size_t some, size_t near)
{
    assert_int_equal(count_references(&pair->references, "all"), all);
    assert_int_equal(count_references(&pair->references, "some"), some);
    assert_int_equal(count_references(&pair->references, "near"), near);
    assert_int_equal(count_references(&pair->references, "keys"), 0);
    assert_int_equal(count_references(&pair->copies, "all"), 0);
    compare_all(pair, 1);
    compare_all(pair, 0);
    compare_stats(pair);
}

// The entry of a small item is a copy, that of a large one a reference, and it changes with the
// item in both directions. What is projected has to be most of the item: an index that has little
// of a large one keeps its copy.
static void test_crossing(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    run_both(&pair, WRITE_PUT, item_with(&pair, "sk=1", 10, 10));
    expect_references(&pair, 0, 0, 0);
    run_both(&pair, WRITE_PUT, item_with(&pair, "sk=1", 1000, 10));
    expect_references(&pair, 1, 1, 1);
    run_both(&pair, WRITE_PUT, item_with(&pair, "sk=1", 1000, 20));
    expect_references(&pair, 1, 1, 1);
    run_both(&pair, WRITE_PUT, item_with(&pair, "sk=1", 1000, 5000));
    expect_references(&pair, 1, 0, 0);
    run_both(&pair, WRITE_PUT, item_with(&pair, "sk=1", 1000, 5));
    expect_references(&pair, 1, 1, 1);
    run_both(&pair, WRITE_PUT, item_with(&pair, "sk=2", 1001, 5));
    expect_references(&pair, 2, 2, 2);
    run_both(&pair, WRITE_PUT, item_with(&pair, "sk=1", 1, 5));
    expect_references(&pair, 1, 1, 1);
    run_both(&pair, WRITE_DELETE, item_of(&pair.copies, "pk=p1", "sk=2", NULL));
    expect_references(&pair, 0, 0, 0);
    run_both(&pair, WRITE_DELETE, item_of(&pair.copies, "pk=p1", "sk=1", NULL));
    expect_references(&pair, 0, 0, 0);
    pair_close(&pair);
}

// The limit may change while entries of another one are there: whatever they are, they are right.
static void test_another_limit(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    for (size_t i = 0; i < 40; i++) {
        engine_index_copy_max(pair.references.engine, i % 2 == 0 ? COPY_MAX : LIMIT_ITEM_SIZE);
        run_both(&pair, WRITE_PUT, item_with(&pair, "sk=1", 1000 + i / 2, 10 + i % 3));
        run_both(&pair, WRITE_PUT, item_with(&pair, "sk=2", 1000, 10 + i / 4));
        compare_all(&pair, 0);
        compare_stats(&pair);
    }
    pair_close(&pair);
}

static struct slice random_item(struct pair *pair, uint64_t *random)
{
    struct world *world = &pair->copies;
    static const size_t lengths[] = {1, 50, 150, 250, 350, 700};
    char sk[16];
    char g[16];
    char h[16];
    (void)snprintf(sk, sizeof(sk), "sk=%d", (int)(next_random(random) % KEYS));
    (void)snprintf(g, sizeof(g), "g=g%d", (int)(next_random(random) % 2));
    (void)snprintf(h, sizeof(h), "h=h%d", (int)(next_random(random) % 3));
    const char *pk = next_random(random) % 4 == 0 ? "pk=p0" : "pk=p1";
    char *big = text_of(world, "big", lengths[next_random(random) % COUNT_OF(lengths)]);
    char *rest = text_of(world, "rest", lengths[next_random(random) % COUNT_OF(lengths)]);
    switch (next_random(random) % 4) {
    case 0: // in no global index
        return item_of(world, big, h, pk, rest, sk, NULL);
    case 1:
        return item_of(world, big, g, h, "note=here", pk, rest, sk, NULL);
    default:
        return item_of(world, big, g, h, pk, rest, sk, NULL);
    }
}

static void test_random_writes(void **state)
{
    (void)state;
    struct pair pair;
    uint64_t random = 1;
    pair_open(&pair);
    for (size_t i = 0; i < STEPS; i++) {
        struct slice item = random_item(&pair, &random);
        if (next_random(&random) % 4 == 0) {
            struct slice pk = value_get(item, SLICE_LIT("pk"));
            struct slice sk = value_get(item, SLICE_LIT("sk"));
            char words[2][16];
            (void)snprintf(words[0], 16, "pk=%.*s", SLICE_FMT(value_bytes(pk)));
            (void)snprintf(words[1], 16, "sk=%.*s", SLICE_FMT(value_bytes(sk)));
            item = item_of(&pair.copies, words[0], words[1], NULL);
            run_both(&pair, WRITE_DELETE, item);
        } else {
            run_both(&pair, WRITE_PUT, item);
        }
        if (i % 50 == 0) {
            compare_all(&pair, next_random(&random) % 4);
            compare_stats(&pair);
        }
    }
    assert_true(count_references(&pair.references, "all") > 0);
    assert_true(count_references(&pair.references, "some") > 0);
    pair_close(&pair);
}

static void test_backfill(void **state)
{
    (void)state;
    struct pair pair;
    uint64_t random = 2;
    pair_open(&pair);
    for (size_t i = 0; i < 100; i++)
        run_both(&pair, WRITE_PUT, random_item(&pair, &random));
    assert_true(change_table(&pair.copies, "music", alter_add_late, NULL));
    assert_true(change_table(&pair.references, "music", alter_add_late, NULL));
    engine_settle(pair.copies.engine);
    engine_settle(pair.references.engine);
    assert_true(count_references(&pair.references, "late") > 0);
    compare_pages(&pair, "late", (struct page_request){.segments = 1}, 3);
    compare_stats(&pair);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crossing),
        cmocka_unit_test(test_another_limit),
        cmocka_unit_test(test_random_writes),
        cmocka_unit_test(test_backfill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
