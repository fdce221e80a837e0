// ExpressionAttributeNames and ExpressionAttributeValues: their own syntax, look-up, and
// the rule that every one of them must be used by some expression of the request.
#include "expr/expr_internal.h"

#include <stdio.h>
#include <stdlib.h>

bool expr_params_init(struct expr_params *params, struct arena *arena, struct error *error)
{
    *params = (struct expr_params){.arena = arena, .error = error};
    return true;
}

static bool placeholder_valid(struct slice key, char sigil)
{
    if (key.len < 2 || key.ptr[0] != (uint8_t)sigil)
        return false;
    for (size_t i = 1; i < key.len; i++) {
        if (!lexer_is_word(key.ptr[i]))
            return false;
    }
    return true;
}

static bool key_check(struct expr_params *params, const char *parameter, struct slice key,
                      char sigil)
{
    if (key.len > LIMIT_EXPRESSION_NAME && sigil == '#')
        return error_validation(params->error,
                                "%s contains invalid key: The expression attribute map contains a "
                                "key that is too long; size of key: %zu",
                                parameter, key.len);
    if (key.len > LIMIT_EXPRESSION_NAME)
        return error_validation(params->error,
                                "%s contains invalid key: The expression attribute map contains a "
                                "key that is too long;",
                                parameter);
    if (!placeholder_valid(key, sigil))
        return error_validation(params->error,
                                "%s contains invalid key: Syntax error; key: \"%.*s\"", parameter,
                                SLICE_FMT(key));
    return true;
}

bool expr_params_names(struct expr_params *params, size_t count, const struct slice *names,
                       const struct slice *attributes)
{
    if (count == 0)
        return error_validation(params->error, "ExpressionAttributeNames must not be empty");
    for (size_t i = 0; i < count; i++) {
        if (!key_check(params, "ExpressionAttributeNames", names[i], '#'))
            return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (attributes[i].len == 0)
            return error_validation(params->error,
                                    "ExpressionAttributeNames contains invalid value: Empty "
                                    "attribute name for key %.*s",
                                    SLICE_FMT(names[i]));
        if (attributes[i].len > LIMIT_ATTRIBUTE_NAME)
            return error_validation(params->error,
                                    "ExpressionAttributeNames contains invalid value: Attribute "
                                    "name is too large, must be less than %d bytes for key %.*s",
                                    LIMIT_ATTRIBUTE_NAME + 1, SLICE_FMT(names[i]));
    }
    params->names_used = arena_zalloc(params->arena, count, sizeof *params->names_used);
    if (params->names_used == NULL)
        return error_budget(params->error);
    params->has_names = true;
    params->name_count = count;
    params->names = names;
    params->attributes = attributes;
    return true;
}

bool expr_is_value_name(struct slice name)
{
    return name.len <= LIMIT_EXPRESSION_NAME && placeholder_valid(name, ':');
}

bool expr_params_value_name(struct expr_params *params, struct slice name)
{
    return key_check(params, "ExpressionAttributeValues", name, ':');
}

bool expr_params_values(struct expr_params *params, struct slice values)
{
    size_t count = value_count(values);
    if (count == 0)
        return error_validation(params->error, "ExpressionAttributeValues must not be empty");
    struct value_iter iter;
    value_iter_init(&iter, values);
    while (value_iter_next(&iter)) {
        if (!expr_params_value_name(params, iter.name))
            return false;
    }
    params->values_used = arena_zalloc(params->arena, count, sizeof *params->values_used);
    if (params->values_used == NULL)
        return error_budget(params->error);
    params->has_values = true;
    params->values = values;
    return true;
}

bool params_name(struct expr_params *params, struct slice name, struct slice *out)
{
    for (size_t i = 0; i < params->name_count; i++) {
        if (slice_equal(params->names[i], name)) {
            params->names_used[i] = true;
            *out = params->attributes[i];
            return true;
        }
    }
    return false;
}

bool params_value(struct expr_params *params, struct slice name, struct slice *out)
{
    if (!params->has_values)
        return false;
    struct value_iter iter;
    value_iter_init(&iter, params->values);
    for (size_t i = 0; value_iter_next(&iter); i++) {
        if (slice_equal(iter.name, name)) {
            params->values_used[i] = true;
            *out = iter.value;
            return true;
        }
    }
    return false;
}

// ---- Unused placeholders -----------------------------------------------------------

static int key_compare(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

// "a, b, c" in the arena; NULL if it is used up.
static char *key_list(struct arena *arena, const struct slice *keys, size_t count)
{
    size_t len = 1;
    for (size_t i = 0; i < count; i++)
        len += keys[i].len + 2;
    char *list = arena_alloc(arena, len);
    char *at = list;
    for (size_t i = 0; list != NULL && i < count; i++)
        at += snprintf(at, len - (size_t)(at - list), "%s%.*s", i > 0 ? ", " : "",
                       SLICE_FMT(keys[i]));
    return list;
}

// `keys` are the unused ones, and are put in order here.
static bool unused_error(const struct expr_params *params, const char *parameter,
                         struct slice *keys, size_t count)
{
    qsort(keys, count, sizeof *keys, key_compare);
    char *list = key_list(params->arena, keys, count);
    if (list == NULL)
        return error_budget(params->error);
    return error_validation(params->error, "Value provided in %s unused in expressions: keys: {%s}",
                            parameter, list);
}

// `names` are the placeholders of names; without, those of values are meant.
static bool all_used(const struct expr_params *params, const char *parameter, const bool *used,
                     size_t count, const struct slice *names)
{
    size_t unused = 0;
    for (size_t i = 0; i < count; i++)
        unused += !used[i];
    if (unused == 0)
        return true;
    struct slice *keys = arena_alloc(params->arena, unused * sizeof *keys);
    if (keys == NULL)
        return error_budget(params->error);
    struct value_iter iter;
    if (names == NULL)
        value_iter_init(&iter, params->values);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        ensure(names != NULL || value_iter_next(&iter));
        if (!used[i])
            keys[n++] = names != NULL ? names[i] : iter.name;
    }
    return unused_error(params, parameter, keys, n);
}

bool expr_params_finish(const struct expr_params *params)
{
    if (params->has_names && !all_used(params, "ExpressionAttributeNames", params->names_used,
                                       params->name_count, params->names))
        return false;
    return !params->has_values || all_used(params, "ExpressionAttributeValues", params->values_used,
                                           value_count(params->values), NULL);
}
