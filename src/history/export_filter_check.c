// FilterSpecification of an export in requests and descriptions. Its expressions are judged as
// those of a Query (with a key condition) or a Scan (without).
#include "history/exchange_call.h"

// What the table makes wrong.
static bool check_table(const struct export_expressions *filter, const struct table *table,
                        struct error *error)
{
    struct expressions expressions = {.condition = filter->condition,
                                      .projection = filter->projection};
    if (!params_check_keys(error, table, expressions))
        return false;
    if (filter->key == NULL)
        return true;
    if (!expr_key_check_empty(filter->key, &table->keys, slice_of(NULL, 0), error))
        return false;
    for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count; i++) {
        struct slice name = table->keys.parts[i].name;
        if (filter->condition != NULL && expr_condition_mentions(filter->condition, name))
            return error_validation(error,
                                    "Filter Expression can only contain non-primary key "
                                    "attributes: Primary key attribute: %.*s",
                                    SLICE_FMT(name));
    }
    return true;
}

static void put_names(struct value_maker *maker, const struct field_map *names)
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
    struct value_maker maker;
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
    struct export_texts texts = {spec->filter_expression, spec->projection_expression,
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
    struct export_expressions filter;
    struct expr_params params;
    if (!params_check_styles(call, &set) || !params_open(call, &set, &params) ||
        !export_filter_compile(&params, &texts, &table->keys, &filter) ||
        !check_table(&filter, table, &call->error))
        return false;
    *out = encode(call, spec);
    return out->len > 0;
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
