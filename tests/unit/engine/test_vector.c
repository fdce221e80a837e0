// Vector indexes against a naive reference in double precision: numbers, distances, and whole
// indexes under random puts, updates and deletes.
#include "support.h"

#include "engine/vector.h"
#include "engine/vector_math.h"

#include <float.h>
#include <math.h>

// A generator of its own, so that a failure can be replayed.
static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static double next_unit(uint64_t *state)
{
    return (double)next_random(state) / (double)(1u << 31) * 2 - 1;
}

// ---- Numbers --------------------------------------------------------------------------------

static bool number_of(const char *text, float *out)
{
    uint8_t stored[NUMBER_BYTES_MAX];
    size_t len;
    assert_int_equal(number_from_text(slice_str(text), stored, &len), NUMBER_OK);
    return vector_number(slice_of(stored, len), out);
}

static void expect_number(const char *text)
{
    float number = 7;
    assert_true(number_of(text, &number));
    assert_true(number == strtof(text, NULL));
}

static void test_numbers(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        "1",
                                        "-1",
                                        "0.1",
                                        "-0.1",
                                        "100",
                                        "0.01",
                                        "1e-7",
                                        "1e20",
                                        "3e38",
                                        "-3e38",
                                        "3.4028235e38",
                                        "16777217",
                                        "123456789012345678",
                                        "1e-45",
                                        "1e-130",
                                        "12345678901234567890123456789012345678",
                                        "0.000001234567",
                                        "-99.99",
                                        "1000000",
                                        "1e-38",
                                        "0.30000000000000004",
                                        "-0.01234567890123456789"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        expect_number(texts[i]);
    uint64_t seed = 1;
    char text[64];
    for (int i = 0; i < 20000; i++) {
        double value = next_unit(&seed) * pow(10, (double)(next_random(&seed) % 20) - 10);
        (void)snprintf(text, sizeof(text), "%.*g", (int)(next_random(&seed) % 17) + 1,
                       i % 2 == 0 ? value : (double)(float)value);
        expect_number(text);
    }
    float number;
    assert_false(number_of("3.5e38", &number));
    assert_false(number_of("-1e39", &number));
    assert_false(number_of("1e125", &number));
}

// ---- Distances ------------------------------------------------------------------------------

static double naive_score(enum vector_distance distance, const float *a, const float *b, size_t n)
{
    double product = 0;
    double first = 0;
    double second = 0;
    double difference = 0;
    for (size_t i = 0; i < n; i++) {
        product += (double)a[i] * (double)b[i];
        first += (double)a[i] * (double)a[i];
        second += (double)b[i] * (double)b[i];
        difference += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    }
    if (distance == VECTOR_DOT_PRODUCT)
        return product;
    if (distance == VECTOR_EUCLIDEAN)
        return sqrt(difference);
    return first == 0 || second == 0 ? 1 : 1 - product / sqrt(first * second);
}

static bool is_near(double a, double b)
{
    double scale = fabs(a) > 1 ? fabs(a) : 1;
    return fabs(a - b) <= 1e-12 * scale;
}

static void test_distances(void **state)
{
    (void)state;
    static struct vector_query query;
    static float a[LIMIT_DIMENSIONS];
    static uint8_t stored[4 * LIMIT_DIMENSIONS + 1];
    static float b[LIMIT_DIMENSIONS];
    static const size_t sizes[] = {1, 2, 3, 15, 16, 17, 31, 32, 100, 768, 1536, 4095, 4096};
    uint64_t seed = 2;
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        size_t n = sizes[s];
        for (size_t i = 0; i < n; i++) {
            a[i] = (float)next_unit(&seed);
            b[i] = (float)next_unit(&seed);
        }
        // Vectors in the store stand at any address.
        memcpy(stored + 1, b, n * sizeof(float));
        for (int d = VECTOR_COSINE; d <= VECTOR_DOT_PRODUCT; d++) {
            vector_query_init(&query, (enum vector_distance)d, a, n);
            double fast = vector_query_score(&query, stored + 1);
            vector_query_plain(&query);
            double plain = vector_query_score(&query, stored + 1);
            assert_true(fast == plain);
            assert_true(is_near(fast, naive_score((enum vector_distance)d, a, b, n)));
        }
    }
}

static void test_distance_extremes(void **state)
{
    (void)state;
    static struct vector_query query;
    float big[4] = {FLT_MAX, FLT_MAX, -FLT_MAX, FLT_MAX};
    float opposite[4] = {-FLT_MAX, -FLT_MAX, FLT_MAX, -FLT_MAX};
    float tiny[4] = {FLT_TRUE_MIN, 0, 0, 0};
    float zero[4] = {0, 0, 0, 0};
    vector_query_init(&query, VECTOR_COSINE, big, 4);
    assert_true(vector_query_score(&query, (const uint8_t *)big) < 1e-15);
    assert_true(2 - vector_query_score(&query, (const uint8_t *)opposite) < 1e-15);
    assert_true(vector_query_score(&query, (const uint8_t *)zero) == 1);
    assert_true(isfinite(vector_query_score(&query, (const uint8_t *)tiny)));
    vector_query_init(&query, VECTOR_COSINE, zero, 4);
    assert_true(vector_query_score(&query, (const uint8_t *)zero) == 1);
    vector_query_init(&query, VECTOR_EUCLIDEAN, big, 4);
    assert_true(isfinite(vector_query_score(&query, (const uint8_t *)opposite)));
    vector_query_init(&query, VECTOR_DOT_PRODUCT, big, 4);
    assert_true(isfinite(vector_query_score(&query, (const uint8_t *)big)));
}

// ---- Indexes --------------------------------------------------------------------------------

enum { ITEMS = 80, SMALL = 6 }; // items of the model, and dimensions of its vectors

// What the table should hold: one possible item for each number.
struct model_item {
    bool there;
    bool has_vector;
    float vector[SMALL];
    int partition; // 0 to 2; -1 if the attribute is missing
    int filter;
};

struct model {
    uint64_t seed;
    struct model_item items[ITEMS];
};

static const struct key_part filter_part = {{(const uint8_t *)"f", 1}, VALUE_S};
static const struct slice extra_name = {(const uint8_t *)"extra", 5};

// cosine over everything, Euclidean in partitions, dot product with a filter.
static void add_vectors(struct table *table, enum index_status status)
{
    struct vector_index index = {
        .attribute = SLICE_LIT("v"), .dimensions = SMALL, .filters = &filter_part};
    index.base = (struct index){.name = SLICE_LIT("cosine"), .global = true, .status = status};
    table->vectors[0] = index;
    index.base.name = SLICE_LIT("euclidean");
    index.base.keys = schema_of("p", NULL);
    index.base.projection = PROJECT_KEYS_ONLY;
    index.distance = VECTOR_EUCLIDEAN;
    table->vectors[1] = index;
    index.base.name = SLICE_LIT("product");
    index.base.projection = PROJECT_INCLUDE;
    index.base.include = &extra_name;
    index.base.include_count = 1;
    index.filter_count = 1;
    index.distance = VECTOR_DOT_PRODUCT;
    table->vectors[2] = index;
    table->vector_count = 3;
}

static bool alter_create_vectors(void *context, struct table *current, struct table **next,
                                 struct error *error)
{
    if (!alter_create(context, current, next, error))
        return false;
    add_vectors(*next, INDEX_ACTIVE);
    return true;
}

static bool alter_add_vectors(void *context, struct table *current, struct table **next,
                              struct error *error)
{
    (void)context;
    (void)error;
    *next = table_clone(current);
    assert_non_null(*next);
    add_vectors(*next, INDEX_CREATING);
    return true;
}

static bool alter_remove_vectors(void *context, struct table *current, struct table **next,
                                 struct error *error)
{
    (void)context;
    (void)error;
    *next = table_clone(current);
    assert_non_null(*next);
    for (size_t i = 0; i < (*next)->vector_count; i++)
        (*next)->vectors[i].base.status = INDEX_DELETING;
    return true;
}

static void put_vector(struct value_builder *b, const char *name, const float *vector, size_t n)
{
    value_name(b, slice_str(name));
    value_open_list(b);
    for (size_t i = 0; i < n; i++) {
        char text[40];
        uint8_t stored[NUMBER_BYTES_MAX];
        size_t len;
        (void)snprintf(text, sizeof(text), "%.9g", (double)vector[i]);
        assert_int_equal(number_from_text(slice_str(text), stored, &len), NUMBER_OK);
        value_put_number(b, slice_of(stored, len));
    }
    (void)value_close(b);
}

static void put_text(struct value_builder *b, const char *name, const char *format, int number)
{
    char text[40];
    (void)snprintf(text, sizeof(text), format, number);
    value_name(b, slice_str(name));
    value_put_string(b, slice_str(text));
}

static struct slice item_of_model(struct world *world, const struct model *model, int number)
{
    const struct model_item *item = &model->items[number];
    struct buf out;
    struct value_builder b;
    buf_init(&out, 1 << 20);
    value_builder_init(&b, &out);
    value_open_map(&b);
    put_text(&b, "pk", "item %d", number);
    put_text(&b, "sk", "%d", number % 7);
    put_text(&b, "extra", "extra %d", number);
    put_text(&b, "other", "other %d", number);
    if (item->has_vector)
        put_vector(&b, "v", item->vector, SMALL);
    if (item->partition >= 0)
        put_text(&b, "p", "part %d", item->partition);
    put_text(&b, "f", "filter %d", item->filter);
    assert_true(value_close(&b));
    struct slice copy = arena_copy(&world->arena, buf_view(&out));
    value_builder_release(&b);
    buf_release(&out);
    return copy;
}

static struct slice key_of_model(struct world *world, int number)
{
    return item_of(world, arena_printf(&world->arena, "pk=item %d", number),
                   arena_printf(&world->arena, "sk=%d", number % 7), NULL);
}

static void change_one(struct world *world, struct model *model)
{
    int number = (int)(next_random(&model->seed) % ITEMS);
    struct model_item *item = &model->items[number];
    if (item->there && next_random(&model->seed) % 4 == 0) {
        assert_true(delete_item(world, "music", key_of_model(world, number)));
        item->there = false;
        return;
    }
    item->there = true;
    item->has_vector = next_random(&model->seed) % 8 != 0;
    // Few different numbers, so that ties are frequent.
    for (size_t i = 0; i < SMALL && next_random(&model->seed) % 16 != 0; i++)
        item->vector[i] = (float)next_random(&model->seed) - (float)(1u << 30);
    for (size_t i = 0; i < SMALL && next_random(&model->seed) % 2 == 0; i++)
        item->vector[i] = (float)(next_random(&model->seed) % 3);
    item->partition = (int)(next_random(&model->seed) % 4) - 1;
    item->filter = (int)(next_random(&model->seed) % 3);
    assert_true(put_item(world, "music", item_of_model(world, model, number)));
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return left < right ? -1 : left > right;
}

struct expectation {
    const struct model *model;
    const struct vector_index *index;
    const float *query;
    int partition; // -1: all
    int filter;    // -1: all
};

static bool expects(const struct expectation *e, const struct model_item *item)
{
    bool partitioned = e->index->base.keys.hash_count > 0;
    return item->there && item->has_vector && (!partitioned || item->partition == e->partition) &&
           (e->filter < 0 || item->filter == e->filter);
}

static double expected_rank(const struct expectation *e, const struct model_item *item)
{
    double score = naive_score(e->index->distance, e->query, item->vector, SMALL);
    return e->index->distance == VECTOR_DOT_PRODUCT ? -score : score;
}

// The number of the item that a hit shows, which must be as the index projects it.
static int hit_number(const struct expectation *e, const struct vector_hit *hit)
{
    struct slice pk = value_bytes(value_get(hit->item, SLICE_LIT("pk")));
    char text[40];
    (void)snprintf(text, sizeof(text), "%.*s", SLICE_FMT(pk));
    size_t attributes = e->index->base.projection == PROJECT_ALL         ? 7
                        : e->index->base.projection == PROJECT_KEYS_ONLY ? 4
                                                                         : 6;
    int number = (int)strtol(text + 5, NULL, 10);
    attributes -= e->index->base.projection == PROJECT_ALL && e->model->items[number].partition < 0;
    assert_int_equal(value_count(hit->item), attributes);
    assert_int_equal(value_type(value_get(hit->item, SLICE_LIT("v"))), VALUE_L);
    return number;
}

static void compare_hits(const struct expectation *e, const struct vector_search *search)
{
    double ranks[ITEMS];
    bool seen[ITEMS] = {false};
    size_t count = 0;
    for (size_t i = 0; i < ITEMS; i++)
        if (expects(e, &e->model->items[i]))
            ranks[count++] = expected_rank(e, &e->model->items[i]);
    qsort(ranks, count, sizeof(ranks[0]), by_value);
    assert_int_equal(search->compared, count);
    assert_int_equal(search->count, count < search->top ? count : search->top);
    for (size_t i = 0; i < search->count; i++) {
        const struct vector_hit *hit = &search->hits[i];
        double rank = e->index->distance == VECTOR_DOT_PRODUCT ? -hit->score : hit->score;
        int number = hit_number(e, hit);
        assert_false(seen[number]);
        seen[number] = true;
        assert_true(expects(e, &e->model->items[number]));
        assert_true(is_near(rank, ranks[i]));
        assert_true(is_near(rank, expected_rank(e, &e->model->items[number])));
    }
}

static struct slice text_value(struct world *world, const char *format, int number)
{
    char text[40];
    (void)snprintf(text, sizeof(text), format, number);
    return value_get(item_of(world, arena_printf(&world->arena, "x=%s", text), NULL),
                     SLICE_LIT("x"));
}

static void search_whole(struct world *world, struct vector_search *search)
{
    enum read_step step;
    do {
        uint64_t work = LIMIT_SLICE_WORK;
        step = engine_search_run(world->engine, search, &work, &world->error);
    } while (step == READ_MORE);
    assert_int_equal(step, READ_DONE);
}

static void search_one(struct world *world, struct model *model, struct table *table, size_t at)
{
    float query[SMALL];
    for (size_t i = 0; i < SMALL; i++)
        query[i] = (float)next_unit(&model->seed);
    struct expectation e = {model, &table->vectors[at], query, -1, -1};
    struct vector_filter filter = {SLICE_LIT("f"), VALUE_NONE};
    struct vector_search search = {.table = table,
                                   .index = e.index,
                                   .vector = query,
                                   .top = 1 + (size_t)(next_random(&model->seed) % LIMIT_TOP_K),
                                   .filters = &filter,
                                   .arena = &world->arena};
    if (e.index->base.keys.hash_count > 0) {
        e.partition = (int)(next_random(&model->seed) % 4); // the last one is empty
        search.partition = text_value(world, "part %d", e.partition);
    }
    if (e.index->filter_count > 0 && next_random(&model->seed) % 2 == 0) {
        e.filter = (int)(next_random(&model->seed) % 4);
        filter.value = text_value(world, "filter %d", e.filter);
        search.filter_count = 1;
    }
    search_whole(world, &search);
    compare_hits(&e, &search);
}

static void compare_all(struct world *world, struct model *model)
{
    struct table *table = engine_table(world->engine, SLICE_LIT("music"));
    for (size_t at = 0; at < table->vector_count; at++) {
        struct expectation e = {model, &table->vectors[at], NULL, -1, -1};
        int64_t entries = 0;
        for (size_t i = 0; i < ITEMS; i++) {
            e.partition = model->items[i].partition < 0 ? -2 : model->items[i].partition;
            entries += expects(&e, &model->items[i]);
        }
        assert_int_equal(e.index->base.stats->items, entries);
        search_one(world, model, table, at);
    }
    table_release(table);
}

static void test_index_is_exact(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct world world;
        struct model model = {.seed = seed};
        struct table_request request = {"music", false, false};
        world_open(&world);
        assert_true(change_table(&world, "music", alter_create_vectors, &request));
        for (int i = 0; i < 400; i++) {
            change_one(&world, &model);
            if (i % 4 == 0)
                compare_all(&world, &model);
        }
        // Nothing is left of it, neither in the index nor in its counters.
        for (int i = 0; i < ITEMS; i++) {
            assert_true(delete_item(&world, "music", key_of_model(&world, i)));
            model.items[i].there = false;
        }
        compare_all(&world, &model);
        struct table *table = engine_table(world.engine, SLICE_LIT("music"));
        for (size_t i = 0; i < table->vector_count; i++)
            assert_int_equal(table->vectors[i].base.stats->bytes, 0);
        table_release(table);
        world_close(&world);
    }
}

static void test_backfill(void **state)
{
    (void)state;
    struct world world;
    struct model model = {.seed = 9};
    world_open(&world);
    create_table(&world, "music", false, false);
    for (int i = 0; i < 200; i++)
        change_one(&world, &model);
    // What is older than the index may be anything: no vector at all, or one of another size.
    assert_true(put_item(&world, "music", item_of(&world, "pk=odd", "sk=1", "v=text", NULL)));
    assert_true(put_item(&world, "music", item_of(&world, "pk=odd", "sk=2", "v=#1", NULL)));
    assert_true(change_table(&world, "music", alter_add_vectors, NULL));
    for (int i = 0; i < 50; i++)
        change_one(&world, &model);
    engine_settle(world.engine);
    for (int i = 0; i < 20; i++)
        compare_all(&world, &model);
    assert_true(change_table(&world, "music", alter_remove_vectors, NULL));
    engine_settle(world.engine);
    struct table *table = engine_table(world.engine, SLICE_LIT("music"));
    assert_int_equal(table->vector_count, 0);
    table_release(table);
    world_close(&world);
}

// Equal scores come in the order of the table.
static void test_ties(void **state)
{
    (void)state;
    struct world world;
    struct model model = {.seed = 3};
    struct table_request request = {"music", false, false};
    world_open(&world);
    assert_true(change_table(&world, "music", alter_create_vectors, &request));
    for (int i = 0; i < ITEMS; i++) {
        model.items[i] = (struct model_item){true, true, {1, 2, 3, 4, 5, 6}, 0, 0};
        assert_true(put_item(&world, "music", item_of_model(&world, &model, i)));
    }
    struct page_result scan;
    scan_all(&world, "music", NULL, &scan);
    float query[SMALL] = {6, 5, 4, 3, 2, 1};
    struct table *table = engine_table(world.engine, SLICE_LIT("music"));
    struct vector_search search = {.table = table,
                                   .index = &table->vectors[0],
                                   .vector = query,
                                   .top = 50,
                                   .arena = &world.arena};
    search_whole(&world, &search);
    assert_int_equal(search.count, 50);
    const uint8_t *at = scan.items.ptr;
    for (size_t i = 0; i < search.count; i++) {
        struct slice item = slice_of(at, value_length(at));
        assert_true(value_equal(search.hits[i].item, item));
        at += item.len;
    }
    buf_release(&scan.items);
    table_release(table);
    world_close(&world);
}

// The catalog's record has everything that makes an index.
static void test_record(void **state)
{
    (void)state;
    struct world world;
    struct table_request request = {"music", true, false};
    world_open(&world);
    assert_true(change_table(&world, "music", alter_create_vectors, &request));
    struct table *table = engine_table(world.engine, SLICE_LIT("music"));
    struct table *clone = table_clone(table);
    assert_non_null(clone);
    assert_int_equal(clone->vector_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct vector_index *a = &table->vectors[i];
        const struct vector_index *b = table_vector(clone, a->base.name);
        assert_non_null(b);
        assert_int_equal(a->base.tree, b->base.tree);
        assert_int_equal(a->base.keys.hash_count, b->base.keys.hash_count);
        assert_int_equal(a->base.projection, b->base.projection);
        assert_int_equal(a->dimensions, b->dimensions);
        assert_int_equal(a->distance, b->distance);
        assert_int_equal(a->filter_count, b->filter_count);
        assert_true(slice_equal(a->attribute, b->attribute));
        assert_ptr_equal(a->base.stats, b->base.stats);
    }
    assert_null(table_vector(clone, SLICE_LIT("byG")));
    table_release(clone);
    table_release(table);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_distances),
        cmocka_unit_test(test_distance_extremes),
        cmocka_unit_test(test_index_is_exact),
        cmocka_unit_test(test_backfill),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
