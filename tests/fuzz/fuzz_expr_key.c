// KeyConditionExpression: any text compiles or is refused, and what compiles is judged against
// schemas of one and of several parts. A range that comes out has values of the schema's types.
#include "expr_sample.h"

static const struct key_schema schemas[] = {
    {1, 0, {{SLICE_LIT("s"), VALUE_S}}},
    {1, 1, {{SLICE_LIT("s"), VALUE_S}, {SLICE_LIT("n"), VALUE_N}}},
    {1, 1, {{SLICE_LIT("n"), VALUE_N}, {SLICE_LIT("b"), VALUE_B}}},
    {2,
     2,
     {{SLICE_LIT("s"), VALUE_S},
      {SLICE_LIT("n"), VALUE_N},
      {SLICE_LIT("b"), VALUE_B},
      {SLICE_LIT("alpha"), VALUE_S}}},
};

static void check_range(const struct key_schema *schema, const struct key_range *range)
{
    for (size_t i = 0; i < schema->hash_count; i++)
        ensure(value_type(range->hash[i]) == schema->parts[i].type);
    ensure(range->range_equal <= schema->range_count);
    const struct key_part *parts = &schema->parts[schema->hash_count];
    for (size_t i = 0; i < range->range_equal; i++)
        ensure(value_type(range->range[i]) == parts[i].type);
    if (range->op == KEY_NONE)
        return;
    ensure(range->range_equal < schema->range_count && range->op != KEY_EQ);
    ensure(value_type(range->bounds[0]) == parts[range->range_equal].type);
    if (range->op == KEY_BETWEEN)
        ensure(value_type(range->bounds[1]) == parts[range->range_equal].type &&
               value_compare(range->bounds[0], range->bounds[1]) <= 0);
    if (range->op == KEY_BEGINS)
        ensure(parts[range->range_equal].type != VALUE_N);
}

static void check(struct sample *sample, struct slice text, const struct key_schema *schema)
{
    ensure(fixture_begin(&sample->fixture));
    struct error *error = &sample->fixture.error;
    struct expr_key *key = expr_compile_key(&sample->fixture.params, text);
    struct key_range range;
    memset(&range, 0, sizeof(range));
    if (key == NULL) {
        sample_error(&sample->fixture.error, text);
        return;
    }
    for (size_t i = 0; i < key->count; i++)
        ensure(key->clauses[i].op != KEY_NONE && value_valid(key->clauses[i].values[0]));
    if (!expr_key_resolve(key, schema, &range, error)) {
        sample_error(&sample->fixture.error, text);
        return;
    }
    check_range(schema, &range);
    if (!expr_key_check_empty(key, schema, SLICE_LIT("index"), error))
        sample_error(&sample->fixture.error, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sample *sample = sample_begin();
    for (size_t i = 0; i < COUNT_OF(schemas); i++)
        check(sample, slice_of(data, size), &schemas[i]);
    return 0;
}
