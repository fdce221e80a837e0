// Which item an action is about. The key that an item stands under is made here, of the item
// itself, for all writes: nobody can hand in an item and the key of another one. It is done on the
// thread of whoever asks, not on the writer's.
#include "engine/engine_internal.h"

#include <stdlib.h>

static bool refuse_bare_key(struct error *error)
{
    return error_validation(error, "The provided key element does not match the schema");
}

// A bare key has the table's key attributes and nothing else.
static bool judge_bare_value(const struct key_part *part, struct slice value, struct error *error)
{
    return (value.len > 0 && value_type(value) == part->type) || refuse_bare_key(error);
}

static bool judge_item_value(const struct key_part *part, struct slice value, struct error *error)
{
    if (value.len == 0)
        return error_validation(error,
                                "One or more parameter values were invalid: Missing the key %.*s "
                                "in the item",
                                SLICE_FMT(part->name));
    return value_type(value) == part->type ||
           error_validation(error,
                            "One or more parameter values were invalid: Type mismatch for key "
                            "%.*s expected: %s actual: %s",
                            SLICE_FMT(part->name), value_type_name(part->type),
                            value_type_name(value_type(value)));
}

// The values of the table's key attributes, in the order of its schema.
static bool judge_values(const struct table *table, struct slice item, bool bare,
                         struct slice values[2 * LIMIT_KEY_PARTS], struct error *error)
{
    size_t parts = table->keys.hash_count + table->keys.range_count;
    if (bare && value_count(item) != parts)
        return refuse_bare_key(error);
    for (size_t i = 0; i < parts; i++) {
        const struct key_part *part = &table->keys.parts[i];
        struct slice value = values[i] = value_get(item, part->name);
        bool fits =
            bare ? judge_bare_value(part, value, error) : judge_item_value(part, value, error);
        if (!fits || !key_value_check(part, i < table->keys.hash_count, value, error))
            return false;
    }
    return true;
}

static bool make_key(const struct table *table, const struct slice *values, struct arena *arena,
                     struct slice *tree_key, struct error *error)
{
    // The values have been judged, so that the longest key has room: every byte may be escaped,
    // and each of its two parts has an end mark. The buffer can neither grow nor be released.
    uint8_t room[LAYOUT_PREFIX + 2 * (LIMIT_PARTITION_KEY + LIMIT_SORT_KEY) + 2 * 2];
    struct buf key = {.ptr = room, .cap = sizeof(room), .max = sizeof(room)};
    layout_partition(&key, table->tree, values, table->keys.hash_count);
    for (size_t i = 0; i < table->keys.range_count; i++)
        key_encode(&key, values[table->keys.hash_count + i]);
    ensure(!key.failed);
    *tree_key = arena_copy(arena, buf_view(&key));
    return tree_key->ptr != NULL || error_budget(error);
}

bool table_tree_key(const struct table *table, struct slice key, struct arena *arena,
                    struct slice *tree_key, struct error *error)
{
    struct slice values[2 * LIMIT_KEY_PARTS];
    return judge_values(table, key, true, values, error) &&
           make_key(table, values, arena, tree_key, error);
}

bool write_action_address(struct write_action *action, struct arena *arena, struct error *error)
{
    const struct table *table = action->table;
    action->keyed = action->item;
    if (action->kind != WRITE_PUT)
        return table_tree_key(table, action->item, arena, &action->key, error);
    struct slice values[2 * LIMIT_KEY_PARTS];
    if (!judge_values(table, action->item, false, values, error) ||
        !((action->flags & WRITE_TRUSTED) || table_check_item(table, action->item, error)) ||
        !make_key(table, values, arena, &action->key, error))
        return false;
    action->judged = table;
    action->size = value_item_size(action->item);
    return true;
}

static int compare_keys(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

bool write_job_distinct(struct write_job *request)
{
    struct error *error = request->job.error;
    struct slice *keys = arena_alloc(request->arena, request->count * sizeof(*keys));
    size_t count = 0;
    if (keys == NULL)
        return error_budget(error);
    for (size_t i = 0; i < request->count; i++) {
        if (request->actions[i].out.failure == ERR_NONE)
            keys[count++] = request->actions[i].key;
    }
    qsort(keys, count, sizeof(*keys), compare_keys);
    for (size_t i = 1; i < count; i++) {
        if (slice_equal(keys[i - 1], keys[i]))
            return error_validation(
                error, "Transaction request cannot include multiple operations on one item");
    }
    request->distinct = true;
    return true;
}
