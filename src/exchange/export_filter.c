// FilterSpecification of an export: which items, and what of them.
//
// The expressions are kept in the export's record as they were sent: an M value of the texts, the
// names and the values. The run compiles them again from there, into its arena; the filter borrows
// the record, and owns only the buffers of the projected images.
#include "exchange/exchange.h"

#include "base/limits.h"

struct export_filter {
    const struct key_schema *keys; // the table's
    struct export_expressions expressions;
    struct buf images[EXPORT_IMAGES];
};

bool export_filter_compile(struct expr_params *params, const struct export_texts *texts,
                           const struct key_schema *keys, struct export_expressions *out)
{
    *out = (struct export_expressions){.key = NULL};
    if (texts->filter.ptr != NULL) {
        out->condition = expr_compile_condition(params, texts->filter, EXPR_FILTER);
        if (out->condition == NULL)
            return false;
    }
    if (texts->projection.ptr != NULL) {
        out->projection = expr_compile_projection(params, texts->projection);
        if (out->projection == NULL)
            return false;
    }
    if (texts->key.ptr != NULL) {
        out->key = expr_compile_key(params, texts->key);
        if (out->key == NULL)
            return false;
    }
    return expr_params_finish(params) &&
           (out->key == NULL || expr_key_resolve(out->key, keys, &out->range, params->error));
}

// Names in the record, as expr takes them.
static bool open_names(struct expr_params *params, struct slice names, struct arena *arena,
                       struct error *error)
{
    size_t count = value_count(names);
    struct slice *from = arena_alloc(arena, (count + 1) * sizeof(*from));
    struct slice *to = arena_alloc(arena, (count + 1) * sizeof(*to));
    if (from == NULL || to == NULL)
        return error_budget(error);
    struct value_iter iter;
    value_iter_init(&iter, names);
    for (size_t i = 0; value_iter_next(&iter); i++) {
        from[i] = iter.name;
        to[i] = value_bytes(iter.value);
    }
    return expr_params_names(params, count, from, to);
}

static struct slice text_of(struct slice record, const char *name)
{
    struct slice text = map_text(record, name);
    return text.len == 0 ? slice_of(NULL, 0) : text;
}

struct export_filter *export_filter_open(struct slice record, const struct table *table,
                                         struct arena *arena, struct error *error)
{
    struct export_filter *filter = arena_alloc(arena, sizeof(*filter));
    if (filter == NULL)
        return error_no_memory(error);
    *filter = (struct export_filter){.keys = &table->keys};
    for (size_t i = 0; i < EXPORT_IMAGES; i++)
        buf_init(&filter->images[i], LIMIT_RESPONSE);
    if (record.len == 0)
        return filter;
    struct export_texts texts = {text_of(record, "filter"), text_of(record, "projection"),
                                 text_of(record, "key")};
    struct slice names = map_value(record, SLICE_LIT("names"));
    struct slice values = map_value(record, SLICE_LIT("values"));
    struct expr_params params;
    bool ok = expr_params_init(&params, arena, error) &&
              (names.len == 0 || open_names(&params, names, arena, error)) &&
              (values.len == 0 || expr_params_values(&params, values)) &&
              export_filter_compile(&params, &texts, filter->keys, &filter->expressions);
    return ok ? filter : NULL;
}

void export_filter_close(struct export_filter *filter)
{
    for (size_t i = 0; filter != NULL && i < EXPORT_IMAGES; i++)
        buf_release(&filter->images[i]);
}

static bool part_meets(enum key_op op, struct slice value, const struct slice bounds[2])
{
    switch (op) {
    case KEY_NONE:
        return true;
    case KEY_EQ:
        return value_equal(value, bounds[0]);
    case KEY_LT:
        return value_compare(value, bounds[0]) < 0;
    case KEY_LE:
        return value_compare(value, bounds[0]) <= 0;
    case KEY_GT:
        return value_compare(value, bounds[0]) > 0;
    case KEY_GE:
        return value_compare(value, bounds[0]) >= 0;
    case KEY_BETWEEN:
        return value_compare(value, bounds[0]) >= 0 && value_compare(value, bounds[1]) <= 0;
    case KEY_BEGINS: {
        struct slice bytes = value_bytes(value);
        struct slice prefix = value_bytes(bounds[0]);
        return bytes.len >= prefix.len && slice_equal(slice_of(bytes.ptr, prefix.len), prefix);
    }
    }
    return false;
}

bool export_filter_keys(const struct export_filter *filter, struct slice keys)
{
    const struct key_part *parts = filter->keys->parts;
    const struct key_range *range = &filter->expressions.range;
    if (filter->expressions.key == NULL)
        return true;
    for (size_t i = 0; i < filter->keys->hash_count; i++) {
        if (!value_equal(value_get(keys, parts[i].name), range->hash[i]))
            return false;
    }
    parts += filter->keys->hash_count;
    for (size_t i = 0; i < range->range_equal; i++) {
        if (!value_equal(value_get(keys, parts[i].name), range->range[i]))
            return false;
    }
    return range->op == KEY_NONE ||
           part_meets(range->op, value_get(keys, parts[range->range_equal].name), range->bounds);
}

bool export_filter_chooses(const struct export_filter *filter)
{
    return filter->expressions.condition != NULL;
}

bool export_filter_item(const struct export_filter *filter, struct slice item)
{
    return filter->expressions.condition == NULL ||
           expr_condition_eval(filter->expressions.condition, item, &(struct steps){0});
}

bool export_filter_project(struct export_filter *filter, enum export_image image,
                           struct slice *item, struct error *error)
{
    if (filter->expressions.projection == NULL || item->len == 0)
        return true;
    struct buf *out = &filter->images[image];
    struct value_builder builder;
    buf_clear(out);
    value_builder_init(&builder, out);
    expr_project(filter->expressions.projection, *item, &builder, &(struct steps){0});
    value_builder_release(&builder);
    *item = buf_view(out);
    return !out->failed || error_budget(error);
}
