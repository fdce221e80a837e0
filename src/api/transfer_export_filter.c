// FilterSpecification of an export: which items, and what of them.
//
// The request's expressions are judged as those of a Query (with a key condition) or a Scan
// (without), and kept in the export's record as they were sent: an M value of the texts, the names
// and the values. The task compiles them again from there, into its arena; the filter borrows the
// record, and owns only the buffers of the projected images.
#include "api/transfer.h"

struct export_filter {
    const struct key_schema *keys; // the table's
    bool has_range;
    struct key_range range;
    struct expr_condition *condition;   // or NULL
    struct expr_projection *projection; // or NULL
    struct buf images[EXPORT_IMAGES];
};

// The expressions, from the request or from the record; ptr is NULL if one is not given.
struct texts {
    struct slice filter;
    struct slice projection;
    struct slice key;
};

// ---- Compiling ----------------------------------------------------------------------------------

static bool compile(struct export_filter *filter, struct expr_params *params, struct texts texts,
                    struct expr_key **key)
{
    if (texts.filter.ptr != NULL) {
        filter->condition = expr_compile_condition(params, texts.filter, EXPR_FILTER);
        if (filter->condition == NULL)
            return false;
    }
    if (texts.projection.ptr != NULL) {
        filter->projection = expr_compile_projection(params, texts.projection);
        if (filter->projection == NULL)
            return false;
    }
    *key = NULL;
    if (texts.key.ptr != NULL) {
        *key = expr_compile_key(params, texts.key);
        if (*key == NULL)
            return false;
    }
    filter->has_range = *key != NULL;
    return expr_params_finish(params) &&
           (*key == NULL || expr_key_resolve(*key, filter->keys, &filter->range, params->error));
}

// What the table makes wrong.
static bool check_table(const struct export_filter *filter, const struct table *table,
                        const struct expr_key *key, struct error *error)
{
    struct expressions expressions = {.condition = filter->condition,
                                      .projection = filter->projection};
    if (!params_check_keys(error, table, expressions))
        return false;
    if (key == NULL)
        return true;
    if (!expr_key_check_empty(key, filter->keys, slice_of(NULL, 0), error))
        return false;
    for (size_t i = 0; i < filter->keys->hash_count + filter->keys->range_count; i++) {
        struct slice name = filter->keys->parts[i].name;
        if (filter->condition != NULL && expr_condition_mentions(filter->condition, name))
            return error_validation(error,
                                    "Filter Expression can only contain non-primary key "
                                    "attributes: Primary key attribute: %.*s",
                                    SLICE_FMT(name));
    }
    return true;
}

// ---- In the request -----------------------------------------------------------------------------

static void put_names(struct map_maker *maker, const struct field_map *names)
{
    const struct slice *attributes = names->items;
    if (!names->set)
        return;
    value_name(&maker->b, SLICE_LIT("names"));
    value_open_map(&maker->b);
    for (size_t i = 0; i < names->count; i++) {
        value_name(&maker->b, names->names[i]);
        value_put_string(&maker->b, attributes[i]);
    }
    (void)value_close(&maker->b);
}

static struct slice encode(struct api_call *call, const struct filter_specification *spec)
{
    struct map_maker maker;
    map_begin(&maker);
    map_put_text(&maker, "filter", spec->filter_expression);
    map_put_text(&maker, "projection", spec->projection_expression);
    map_put_text(&maker, "key", spec->key_condition_expression);
    put_names(&maker, &spec->expression_attribute_names);
    if (spec->expression_attribute_values.value.ptr != NULL)
        map_put_value(&maker, SLICE_LIT("values"), spec->expression_attribute_values.value);
    return map_end(&maker, &call->arena, &call->error);
}

bool export_filter_check(struct api_call *call, const struct filter_specification *spec,
                         const struct table *table, struct slice *out)
{
    *out = VALUE_NONE;
    if (spec == NULL)
        return true;
    struct texts texts = {spec->filter_expression, spec->projection_expression,
                          spec->key_condition_expression};
    struct param_set set = {
        .expression_count = 3,
        .expressions = {{"ProjectionExpression", texts.projection.ptr != NULL},
                        {"FilterExpression", texts.filter.ptr != NULL},
                        {"KeyConditionExpression", texts.key.ptr != NULL}},
        .names = &spec->expression_attribute_names,
        .values = &spec->expression_attribute_values,
        .takes_values = texts.filter.ptr != NULL || texts.key.ptr != NULL,
        .values_need = "FilterExpression and KeyConditionExpression are null",
    };
    struct export_filter filter = {.keys = &table->keys};
    struct expr_params params;
    struct expr_key *key;
    if (!params_check_styles(call, &set) || !params_open(call, &set, &params) ||
        !compile(&filter, &params, texts, &key) || !check_table(&filter, table, key, &call->error))
        return false;
    *out = encode(call, spec);
    return out->len > 0;
}

// ---- In the task --------------------------------------------------------------------------------

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
    if (filter == NULL) {
        (void)error_budget(error);
        return NULL;
    }
    *filter = (struct export_filter){.keys = &table->keys};
    for (size_t i = 0; i < EXPORT_IMAGES; i++)
        buf_init(&filter->images[i], LIMIT_RESPONSE);
    if (record.len == 0)
        return filter;
    struct texts texts = {text_of(record, "filter"), text_of(record, "projection"),
                          text_of(record, "key")};
    struct slice names = map_value(record, SLICE_LIT("names"));
    struct slice values = map_value(record, SLICE_LIT("values"));
    struct expr_params params;
    struct expr_key *key;
    bool ok = expr_params_init(&params, arena, error) &&
              (names.len == 0 || open_names(&params, names, arena, error)) &&
              (values.len == 0 || expr_params_values(&params, values)) &&
              compile(filter, &params, texts, &key);
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
    const struct key_range *range = &filter->range;
    if (!filter->has_range)
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
    return filter->condition != NULL;
}

bool export_filter_item(const struct export_filter *filter, struct slice item)
{
    return filter->condition == NULL ||
           expr_condition_eval(filter->condition, item, &(struct steps){0});
}

bool export_filter_project(struct export_filter *filter, enum export_image image,
                           struct slice *item, struct error *error)
{
    if (filter->projection == NULL || item->len == 0)
        return true;
    struct buf *out = &filter->images[image];
    struct value_builder builder;
    buf_clear(out);
    value_builder_init(&builder, out);
    expr_project(filter->projection, *item, &builder, &(struct steps){0});
    value_builder_release(&builder);
    *item = buf_view(out);
    return !out->failed || error_budget(error);
}

// ---- In descriptions ----------------------------------------------------------------------------

static void member_text_of(struct json_writer *w, const char *name, struct slice record,
                           const char *member)
{
    struct slice text = map_text(record, member);
    if (text.len > 0)
        json_put_string(w, name, text);
}

void export_filter_write_json(struct json_writer *w, struct slice record)
{
    struct slice names = map_value(record, SLICE_LIT("names"));
    struct slice values = map_value(record, SLICE_LIT("values"));
    json_open_object(w);
    member_text_of(w, "FilterExpression", record, "filter");
    member_text_of(w, "ProjectionExpression", record, "projection");
    member_text_of(w, "KeyConditionExpression", record, "key");
    if (names.len > 0) {
        struct value_iter iter;
        json_put_object(w, "ExpressionAttributeNames");
        value_iter_init(&iter, names);
        while (value_iter_next(&iter)) {
            json_name_slice(w, iter.name);
            json_string(w, value_bytes(iter.value));
        }
        json_close_object(w);
    }
    if (values.len > 0) {
        json_name(w, "ExpressionAttributeValues");
        json_item(w, values);
    }
    json_close_object(w);
}
