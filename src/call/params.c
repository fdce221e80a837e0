// Expressions and legacy parameters of a request: never both, and each with the messages
// DynamoDB gives in the order in which it looks.
#include "call/operation.h"

static void add_given(struct buf *out, size_t count, const struct param *params)
{
    bool first = true;
    for (size_t i = 0; i < count; i++) {
        if (!params[i].given)
            continue;
        if (!first)
            buf_text(out, ", ");
        buf_text(out, params[i].name);
        first = false;
    }
}

static size_t count_given(size_t count, const struct param *params)
{
    size_t given = 0;
    for (size_t i = 0; i < count; i++)
        given += params[i].given;
    return given;
}

static bool refuse_both(struct api_call *call, const struct param_set *set)
{
    struct buf text;
    buf_init(&text, 1024);
    buf_text(&text, "Can not use both expression and non-expression parameters in the same "
                    "request: Non-expression parameters: {");
    add_given(&text, set->legacy_count, set->legacy);
    buf_text(&text, "} Expression parameters: {");
    add_given(&text, set->expression_count, set->expressions);
    buf_text(&text, "}");
    (void)error_validation(&call->error, "%.*s", SLICE_FMT(buf_view(&text)));
    buf_release(&text);
    return false;
}

bool call_judged(struct api_call *call, bool good)
{
    struct error *error = &call->error;
    const char *envelope = layer_envelope(call_layer(call));
    if (good || error->code != ERR_VALIDATION || envelope[0] == 0)
        return good;
    const char *message = error->message;
    error_init(error, &call->arena);
    return error_validation(error, "%s%s", envelope, message);
}

bool params_check_styles(struct api_call *call, const struct param_set *set)
{
    size_t expressions = count_given(set->expression_count, set->expressions);
    if (expressions > 0 && count_given(set->legacy_count, set->legacy) > 0)
        return refuse_both(call, set);
    if (set->names->set && expressions == 0)
        return error_validation(
            &call->error, "ExpressionAttributeNames can only be specified when using expressions");
    if (set->values == NULL || set->values->value.ptr == NULL || set->takes_values)
        return true;
    bool anew = layer_is_new(call_layer(call));
    return error_validation(
        &call->error, "ExpressionAttributeValues can only be specified when using expressions%s%s",
        anew ? "" : ": ", anew ? "" : set->values_need);
}

bool params_open(struct api_call *call, const struct param_set *set, struct expr_params *params)
{
    if (!expr_params_init(params, &call->arena, &call->error))
        return false;
    params->layer = call_layer(call);
    if (set->names->set &&
        !expr_params_names(params, set->names->count, set->names->names, set->names->items))
        return false;
    if (set->values == NULL || set->values->value.ptr == NULL)
        return true;
    if (set->values->bad_name.ptr != NULL)
        return expr_params_value_name(params, set->values->bad_name);
    if (set->values->fault != NULL && layer_is_new(params->layer))
        return field_value_check(set->values, &call->error);
    if (set->values->fault != NULL)
        return error_validation(&call->error,
                                "ExpressionAttributeValues contains invalid value: %s for key %.*s",
                                set->values->fault, SLICE_FMT(set->values->fault_name));
    return expr_params_values(params, set->values->value);
}

bool params_list(struct api_call *call, const struct field_list *list, const struct slice **out)
{
    const struct field_value *fields = list->items;
    struct slice *values = call_alloc(call, list->count + 1, sizeof(*values));
    if (values == NULL)
        return false;
    for (size_t i = 0; i < list->count; i++) {
        if (!field_value_check(&fields[i], &call->error))
            return false;
        values[i] = fields[i].value;
    }
    *out = values;
    return true;
}

// The names of legacy parameters, which no placeholder stands for.
bool params_check_name(struct api_call *call, struct slice name)
{
    if (name.len == 0)
        return error_validation(&call->error, "Empty attribute name");
    return name.len <= LIMIT_ATTRIBUTE_NAME ||
           error_validation(&call->error,
                            "One or more parameter values were invalid: Attribute name is too "
                            "large, must be less than %d bytes",
                            LIMIT_ATTRIBUTE_NAME + 1);
}

static bool expected_entry(struct api_call *call, const struct expected_attribute_value *from,
                           struct legacy_condition *to)
{
    if (!field_value_check(&from->value, &call->error))
        return false;
    to->op = from->comparison_operator;
    to->value = from->value.value;
    to->has_exists = from->exists.set;
    to->exists = from->exists.value;
    to->has_list = from->attribute_value_list.set;
    to->count = from->attribute_value_list.count;
    return params_list(call, &from->attribute_value_list, &to->values);
}

bool params_conditions(struct api_call *call, const struct field_map *map,
                       struct legacy_condition **out)
{
    const struct request_condition *conditions = map->items;
    struct legacy_condition *entries = call_alloc(call, map->count + 1, sizeof(*entries));
    if (entries == NULL)
        return false;
    for (size_t i = 0; i < map->count; i++) {
        entries[i].attribute = map->names[i];
        entries[i].op = conditions[i].comparison_operator;
        entries[i].has_list = conditions[i].attribute_value_list.set;
        entries[i].count = conditions[i].attribute_value_list.count;
        if (!params_check_name(call, map->names[i]) ||
            !params_list(call, &conditions[i].attribute_value_list, &entries[i].values))
            return false;
    }
    *out = entries;
    return true;
}

bool params_check_operator(struct api_call *call, struct slice conditional_operator,
                           const struct field_map *conditions)
{
    if (conditional_operator.ptr == NULL)
        return true;
    if (!conditions->set || conditions->count == 0)
        return error_validation(&call->error,
                                "ConditionalOperator cannot be used without Filter or Expected");
    if (conditions->count == 1)
        return error_validation(
            &call->error, "ConditionalOperator can only be used when Filter or Expected has two or "
                          "more elements");
    return true;
}

bool params_condition(struct api_call *call, struct expr_params *params, struct slice expression,
                      const struct field_map *expected, struct slice conditional_operator,
                      struct expr_condition **out)
{
    *out = NULL;
    if (expression.ptr != NULL) {
        *out = expr_compile_condition(params, expression, EXPR_CONDITION);
        return *out != NULL;
    }
    if (!expected->set || expected->count == 0)
        return params_check_operator(call, conditional_operator, expected);
    const struct expected_attribute_value *from = expected->items;
    struct legacy_condition *entries = call_alloc(call, expected->count, sizeof(*entries));
    if (entries == NULL)
        return false;
    for (size_t i = 0; i < expected->count; i++) {
        entries[i].attribute = expected->names[i];
        if (!params_check_name(call, expected->names[i]) ||
            !expected_entry(call, &from[i], &entries[i]))
            return false;
    }
    *out = expr_legacy_condition(&call->arena, &call->error, LEGACY_EXPECTED, expected->count,
                                 entries, slice_is(conditional_operator, "OR"));
    return *out != NULL && params_check_operator(call, conditional_operator, expected);
}

bool params_projection(struct api_call *call, struct expr_params *params, struct slice expression,
                       const struct field_list *names, struct expr_projection **out)
{
    const struct slice *attributes = names->items;
    *out = NULL;
    if (expression.ptr == NULL && !names->set)
        return true;
    for (size_t i = 0; i < names->count; i++) {
        if (!params_check_name(call, attributes[i]))
            return false;
    }
    *out = expression.ptr != NULL
               ? expr_compile_projection(params, expression)
               : expr_projection_of_names(&call->arena, &call->error, names->count, names->items);
    return *out != NULL;
}

// ---- Against a table -------------------------------------------------------------------------

static bool check_scalars(struct error *error, const struct key_schema *keys, const char *kind,
                          const struct expressions *e)
{
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        struct slice name = keys->parts[i].name;
        if ((e->condition != NULL && expr_condition_nests(e->condition, name)) ||
            (e->projection != NULL && expr_projection_nests(e->projection, name)) ||
            (e->update != NULL && expr_update_nests(e->update, name)))
            return error_validation(error,
                                    "Key attributes must be scalars; list random access '[]' and "
                                    "map lookup '.' are not allowed: %s: %.*s",
                                    kind, SLICE_FMT(name));
    }
    return true;
}

bool params_check_update(struct error *error, const struct table *table,
                         const struct expr_update *update)
{
    if (update == NULL)
        return true;
    for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count; i++) {
        struct slice name = table->keys.parts[i].name;
        if (expr_update_writes(update, name))
            return error_validation(error,
                                    "One or more parameter values were invalid: Cannot update "
                                    "attribute %.*s. This attribute is part of the key",
                                    SLICE_FMT(name));
    }
    return table_check_update(table, update, error);
}

bool params_check_nesting(struct error *error, const struct table *table,
                          struct expressions expressions)
{
    if (expressions.condition == NULL && expressions.projection == NULL &&
        expressions.update == NULL)
        return true;
    if (!check_scalars(error, &table->keys, "Key", &expressions))
        return false;
    for (size_t i = 0; i < table->index_count; i++) {
        if (!check_scalars(error, &table->indexes[i].keys, "IndexKey", &expressions))
            return false;
    }
    return true;
}

bool params_check_keys(struct error *error, const struct table *table,
                       struct expressions expressions)
{
    return params_check_update(error, table, expressions.update) &&
           params_check_nesting(error, table, expressions);
}
