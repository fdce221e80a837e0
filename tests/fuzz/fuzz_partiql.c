// PartiQL: any text is a statement or is refused with a message, and the plan of a statement over a
// table or an index can be carried out on any item. What SELECT's ranges and filter say together of
// an item is what the filter alone says where nothing is taken for a key condition.
#include "expr_sample.h"

#include "partiql/partiql.h"

static struct table *table_make(void)
{
    struct table *table = table_new();
    ensure(table != NULL);
    table->name = SLICE_LIT("tab");
    table->keys = (struct key_schema){
        .hash_count = 1,
        .range_count = 1,
        .parts = {{SLICE_LIT("s"), VALUE_S}, {SLICE_LIT("n"), VALUE_N}},
    };
    table->index_count = 1;
    table->indexes[0] = (struct index){
        .name = SLICE_LIT("idx"),
        .global = true,
        .keys = {.hash_count = 2,
                 .range_count = 1,
                 .parts = {{SLICE_LIT("s"), VALUE_S},
                           {SLICE_LIT("n"), VALUE_N},
                           {SLICE_LIT("b"), VALUE_B}}},
    };
    return table;
}

static void check_project(const struct partiql_plan *plan, struct slice item)
{
    struct buf out;
    struct value_builder builder;
    buf_init(&out, FUZZ_BUDGET);
    value_builder_init(&builder, &out);
    partiql_project(plan, item, &builder, &(struct steps){0});
    ensure(!out.failed && value_valid(buf_view(&out)));
    value_builder_release(&builder);
    buf_release(&out);
}

static void check_update(const struct expr_update *update, struct slice item)
{
    struct arena arena;
    struct error error;
    struct buf out;
    struct value_builder builder;
    arena_init(&arena, FUZZ_BUDGET);
    error_init(&error, &arena);
    buf_init(&out, FUZZ_BUDGET);
    value_builder_init(&builder, &out);
    if (expr_update_apply(update, item, &builder, &arena, &(struct steps){0}, &error))
        ensure(value_valid(buf_view(&out)));
    else
        fuzz_error(&error);
    value_builder_release(&builder);
    buf_release(&out);
    arena_release(&arena);
}

static bool admits(enum key_op op, const struct slice bounds[2], struct slice value)
{
    if (op == KEY_NONE)
        return true;
    int low = value_compare(value, bounds[0]);
    switch (op) {
    case KEY_LT:
        return low < 0;
    case KEY_LE:
        return low <= 0;
    case KEY_GT:
        return low > 0;
    case KEY_GE:
        return low >= 0;
    case KEY_BETWEEN:
        return low >= 0 && value_compare(value, bounds[1]) <= 0;
    case KEY_BEGINS:
        return slice_begins(value_bytes(value), value_bytes(bounds[0]));
    default:
        return true;
    }
}

static bool in_range(const struct key_range *range, const struct key_schema *keys,
                     struct slice item)
{
    for (size_t i = 0; i < keys->hash_count; i++) {
        if (!value_equal(value_get(item, keys->parts[i].name), range->hash[i]))
            return false;
    }
    for (size_t i = 0; i < keys->range_count; i++) {
        struct slice value = value_get(item, keys->parts[keys->hash_count + i].name);
        if (i < range->range_equal && !value_equal(value, range->range[i]))
            return false;
        if (i == range->range_equal && !admits(range->op, range->bounds, value))
            return false;
    }
    return true;
}

static bool has_keys(const struct key_schema *keys, struct slice item)
{
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        struct slice value = value_get(item, keys->parts[i].name);
        if (value.len == 0 || value_type(value) != keys->parts[i].type)
            return false;
    }
    return true;
}

// Over a table with other keys nothing is a key condition.
static void check_equal(struct arena *arena, const struct partiql_statement *statement,
                        const struct partiql_plan *plan, const struct key_schema *keys,
                        struct sample *sample)
{
    struct table *other = table_make();
    struct partiql_plan whole;
    struct error error;
    error_init(&error, arena);
    other->keys.parts[0].name = SLICE_LIT("never");
    other->keys.parts[1].name = SLICE_LIT("nowhere");
    if (partiql_plan(arena, statement, other, NULL, &whole, &error) && whole.range_count == 0) {
        for (size_t i = 0; i < COUNT_OF(sample->items); i++) {
            struct slice item = sample->items[i];
            if (!has_keys(keys, item))
                continue;
            bool found = plan->range_count == 0;
            for (size_t r = 0; !found && r < plan->range_count; r++)
                found = in_range(&plan->ranges[r], keys, item);
            found = found && (plan->filter == NULL ||
                              expr_condition_eval(plan->filter, item, &(struct steps){0}));
            ensure(found == (whole.filter == NULL ||
                             expr_condition_eval(whole.filter, item, &(struct steps){0})));
        }
    }
    table_release(other);
}

static void check_plan(const struct partiql_plan *plan, struct sample *sample)
{
    ensure(plan->key.len == 0 || value_valid(plan->key));
    ensure(plan->item.len == 0 || value_valid(plan->item));
    ensure((plan->output_count == 0) == (plan->projection == NULL));
    for (size_t i = 0; i < plan->range_count; i++)
        ensure(value_type(plan->ranges[i].hash[0]) == VALUE_S);
    for (size_t i = 0; i < COUNT_OF(sample->items); i++) {
        struct slice item = sample->items[i];
        if (plan->filter != NULL)
            (void)expr_condition_eval(plan->filter, item, &(struct steps){0});
        if (plan->condition != NULL)
            (void)expr_condition_eval(plan->condition, item, &(struct steps){0});
        if (plan->kind == PARTIQL_SELECT)
            check_project(plan, item);
        if (plan->update != NULL)
            check_update(plan->update, item);
    }
}

static void check_one(struct arena *arena, const struct partiql_statement *statement,
                      const struct table *table, const struct index *index,
                      const struct partiql_plan *plan, struct sample *sample)
{
    check_plan(plan, sample);
    if (plan->kind == PARTIQL_SELECT)
        check_equal(arena, statement, plan, index != NULL ? &index->keys : &table->keys, sample);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    // What comes as JSON is UTF-8, and no longer than this.
    if (size > LIMIT_STATEMENT || !utf8_valid(slice_of(data, size)))
        return 0;
    struct sample *sample = sample_begin();
    static const uint8_t parameter[] = {VALUE_TAG_S, 1, 'p'};
    struct slice text = fuzz_copy(slice_of(data, size));
    struct arena arena;
    struct error error;
    arena_init(&arena, FUZZ_BUDGET);
    error_init(&error, &arena);
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += data[i] == '?';
    struct slice *parameters = arena_zalloc(&arena, count + 1, sizeof(*parameters));
    ensure(parameters != NULL);
    for (size_t i = 0; i < count; i++)
        parameters[i] = slice_of(parameter, sizeof(parameter));
    struct partiql_statement *statement = partiql_parse(&arena, text, count, parameters, &error);
    if (statement == NULL) {
        fuzz_error(&error);
    } else {
        struct table *table = table_make();
        struct partiql_plan plan;
        const struct index *index =
            statement->kind == PARTIQL_SELECT && statement->index.ptr != NULL ? &table->indexes[0]
                                                                              : NULL;
        if (partiql_plan(&arena, statement, table, index, &plan, &error))
            check_one(&arena, statement, table, index, &plan, sample);
        else
            fuzz_error(&error);
        table_release(table);
    }
    arena_release(&arena);
    fuzz_free(text);
    return 0;
}
