// The condition keys of a question, made when a statement asks for them: partition keys, names of
// attributes, what is returned, tags. Everything is in the call's arena.
//
// Expressions are compiled here and once more by the operation. What cannot be compiled names
// nothing: the operation meets the same mistake before it reads anything.
#include "call/authorize.h"

#include "base/encode.h"
#include "guard/attach.h"
#include "guard/guard.h"
#include "tables/table_settings.h"
#include "value/map.h"
#include "value/number.h"

#include <stdlib.h>

static void one(const struct slice *value, struct policy_values *out)
{
    *out = (struct policy_values){value, 1};
}

static void enough(struct question *q)
{
    q->failed = true;
}

// ---- Lists --------------------------------------------------------------------------------------

// A growing list of texts in the arena.
struct texts {
    struct question *q;
    size_t count;
    size_t room;
    struct slice *list;
};

static bool texts_add(void *context, struct slice text)
{
    struct texts *texts = context;
    if (texts->count == texts->room) {
        size_t room = texts->room == 0 ? 8 : texts->room * 2;
        struct slice *list = arena_zalloc(&texts->q->call->arena, room, sizeof(*list));
        if (list == NULL) {
            enough(texts->q);
            return false;
        }
        if (texts->count > 0)
            memcpy(list, texts->list, texts->count * sizeof(*list));
        texts->list = list;
        texts->room = room;
    }
    texts->list[texts->count++] = text;
    return true;
}

static struct policy_values texts_end(const struct texts *texts)
{
    return (struct policy_values){texts->list, texts->count};
}

static void add_map_names(struct texts *texts, const struct field_map *map)
{
    for (size_t i = 0; map != NULL && i < map->count; i++)
        (void)texts_add(texts, map->names[i]);
}

static void add_item_names(struct texts *texts, struct slice item)
{
    struct value_iter iter;
    if (item.len == 0)
        return;
    value_iter_init(&iter, item);
    while (value_iter_next(&iter))
        (void)texts_add(texts, iter.name);
}

// ---- Expressions --------------------------------------------------------------------------------

static bool open_params(struct question *q, struct expr_params *params)
{
    const struct ask *ask = q->ask;
    error_init(&q->error, &q->call->arena);
    if (!expr_params_init(params, &q->call->arena, &q->error))
        return false;
    if (ask->names != NULL && ask->names->set &&
        !expr_params_names(params, ask->names->count, ask->names->names, ask->names->items))
        return false;
    return ask->values == NULL || ask->values->value.ptr == NULL ||
           (ask->values->fault == NULL && expr_params_values(params, ask->values->value));
}

static const struct expr_key *range_of(struct question *q)
{
    struct expr_params params;
    if (q->has_range)
        return q->range;
    q->has_range = true;
    q->range = q->ask->range;
    if (q->range == NULL && q->ask->key_condition.ptr != NULL && open_params(q, &params))
        q->range = expr_compile_key(&params, q->ask->key_condition);
    return q->range;
}

// ---- Statements ---------------------------------------------------------------------------------

static const struct index *index_of(const struct question *q)
{
    const struct ask *ask = q->ask;
    bool of_index = ask->part != NULL && strcmp(ask->part, "index") == 0;
    return of_index && q->table != NULL ? table_index(q->table, ask->part_id) : NULL;
}

static const struct partiql_plan *plan_of(struct question *q)
{
    if (q->has_plan)
        return q->plan;
    q->has_plan = true;
    bool lost = q->ask->part != NULL && index_of(q) == NULL;
    struct partiql_plan *plan = arena_zalloc(&q->call->arena, 1, sizeof(*plan));
    error_init(&q->error, &q->call->arena);
    if (plan == NULL)
        enough(q);
    else if (q->table != NULL && !lost &&
             partiql_plan(&q->call->arena, q->ask->statement, q->table, index_of(q), plan,
                          &q->error))
        q->plan = plan;
    return q->plan;
}

static bool is_scan(struct question *q)
{
    const struct partiql_plan *plan = plan_of(q);
    return plan == NULL || (plan->range_count == 0 && plan->key.len == 0);
}

// ---- Partition keys -----------------------------------------------------------------------------

// A key as policies write it.
static struct slice key_text(struct question *q, struct slice value)
{
    struct buf text;
    if (value.len == 0)
        return SLICE_LIT("");
    switch (value_type(value)) {
    case VALUE_S:
        return value_bytes(value);
    case VALUE_N:
    case VALUE_B:
        break;
    default:
        return SLICE_LIT("");
    }
    buf_init(&text, LIMIT_ITEM_SIZE * 2);
    if (value_type(value) == VALUE_N) {
        char digits[NUMBER_TEXT_MAX];
        buf_add(&text, digits, number_to_text(value_bytes(value), digits));
    } else {
        base64_encode(&text, value_bytes(value));
    }
    struct slice kept = arena_keep(&q->call->arena, &text);
    if (kept.ptr == NULL)
        enough(q);
    return kept;
}

// The keys by which the resource is divided; NULL if there is no such table or index.
static const struct key_schema *schema_of(const struct question *q)
{
    if (q->table == NULL || q->ask->part == NULL)
        return q->table == NULL ? NULL : &q->table->keys;
    const struct index *index = index_of(q);
    return index == NULL ? NULL : &index->keys;
}

// An item as it will be put: a model may give it its key.
static struct slice completed(struct question *q, struct slice item)
{
    struct api_call *call = q->call;
    if (q->table == NULL || q->table->guard == NULL)
        return item;
    struct write_action action = {
        .kind = WRITE_PUT, .table = (struct table *)(uintptr_t)q->table, .item = item};
    struct steps steps = {.limit = call->state->at_once ? LIMIT_INLINE_STEPS
                                                        : LIMIT_TRANSACT_GUARD_WORK};
    const struct env *env = engine_env(call_engine(call));
    error_init(&q->error, &call->arena);
    bool done = call_complete_tenant(call, &action) &&
                (q->ask->entity.len == 0 ||
                 model_guard_address(q->table->guard, q->ask->entity, env, &call->arena, &steps,
                                     &action.item, &q->error)) &&
                guard_prepare(env, q->table, &call->arena, &steps, &action, &q->error);
    if (!done && q->error.code == ERR_NONE && !call_guard_over(call))
        enough(q);
    return done ? action.item : VALUE_NONE;
}

// What a missing table would make of it nobody can know: all values count.
static void add_all(struct texts *texts, struct slice item)
{
    struct value_iter iter;
    value_iter_init(&iter, item);
    while (value_iter_next(&iter))
        (void)texts_add(texts, key_text(texts->q, iter.value));
}

static void add_items(struct texts *texts, const struct slice *items, size_t count, size_t part)
{
    struct question *q = texts->q;
    const struct key_schema *schema = schema_of(q);
    for (size_t i = 0; i < count && !q->failed; i++) {
        if (items[i].len == 0)
            continue;
        if (schema == NULL) {
            add_all(texts, items[i]);
            continue;
        }
        struct slice item = i < q->ask->whole ? completed(q, items[i]) : items[i];
        (void)texts_add(texts, key_text(q, value_get(item, schema->parts[part].name)));
    }
}

static void add_range(struct texts *texts, size_t part)
{
    const struct expr_key *range = range_of(texts->q);
    const struct key_schema *schema = schema_of(texts->q);
    size_t before = texts->count;
    for (size_t i = 0; range != NULL && i < range->count; i++) {
        const struct key_clause *clause = &range->clauses[i];
        if (clause->op == KEY_EQ &&
            (schema == NULL || slice_equal(clause->attribute, schema->parts[part].name)))
            (void)texts_add(texts, key_text(texts->q, clause->values[0]));
    }
    // It will be refused for that; but not as one that names no partition.
    if (texts->count == before)
        (void)texts_add(texts, SLICE_LIT(""));
}

static void add_conditions(struct texts *texts, size_t part)
{
    const struct field_map *map = texts->q->ask->key_conditions;
    const struct request_condition *conditions = map->items;
    const struct key_schema *schema = schema_of(texts->q);
    size_t before = texts->count;
    for (size_t i = 0; i < map->count; i++) {
        const struct field_value *values = conditions[i].attribute_value_list.items;
        if (conditions[i].attribute_value_list.count == 1 && values[0].fault == NULL &&
            (schema == NULL || slice_equal(map->names[i], schema->parts[part].name)))
            (void)texts_add(texts, key_text(texts->q, values[0].value));
    }
    if (texts->count == before)
        (void)texts_add(texts, SLICE_LIT(""));
}

static void add_plan(struct texts *texts, size_t part)
{
    const struct partiql_plan *plan = plan_of(texts->q);
    if (plan == NULL)
        return;
    for (size_t i = 0; i < plan->range_count; i++)
        (void)texts_add(texts, key_text(texts->q, plan->ranges[i].hash[part]));
    if (plan->range_count > 0)
        return;
    if (plan->key.len > 0)
        add_items(texts, &plan->key, 1, part);
    else if (plan->item.len > 0)
        add_items(texts, &plan->item, 1, part);
}

static void partitions(struct question *q, size_t part, struct policy_values *out)
{
    const struct ask *ask = q->ask;
    const struct key_schema *schema = schema_of(q);
    if ((q->has_partitions >> part & 1) == 0) {
        struct texts texts = {.q = q};
        q->has_partitions |= 1U << part;
        if (schema != NULL && part >= schema->hash_count)
            return;
        if (ask->statement != NULL)
            add_plan(&texts, part);
        else if (ask->item_count > 0)
            add_items(&texts, ask->items, ask->item_count, part);
        else if (ask->key_conditions != NULL && ask->key_conditions->set)
            add_conditions(&texts, part);
        else
            add_range(&texts, part);
        q->partitions[part] = texts_end(&texts);
    }
    *out = q->partitions[part];
}

// ---- Attributes ---------------------------------------------------------------------------------

static void add_range_names(struct texts *texts)
{
    const struct expr_key *range = range_of(texts->q);
    for (size_t i = 0; range != NULL && i < range->count; i++)
        (void)texts_add(texts, range->clauses[i].attribute);
}

static void add_expressions(struct texts *texts)
{
    struct question *q = texts->q;
    const struct ask *ask = q->ask;
    struct expr_params params;
    if (ask->compiled != NULL)
        (void)expr_condition_each(ask->compiled, texts_add, texts);
    if ((ask->condition.ptr == NULL && ask->update.ptr == NULL && ask->projection.ptr == NULL) ||
        !open_params(q, &params))
        return;
    const struct expr_condition *condition =
        ask->condition.ptr == NULL
            ? NULL
            : expr_compile_condition(&params, ask->condition, EXPR_CONDITION);
    const struct expr_update *update =
        ask->update.ptr == NULL ? NULL : expr_compile_update(&params, ask->update);
    const struct expr_projection *projection =
        ask->projection.ptr == NULL ? NULL : expr_compile_projection(&params, ask->projection);
    if (condition != NULL)
        (void)expr_condition_each(condition, texts_add, texts);
    if (update != NULL)
        (void)expr_update_each(update, texts_add, texts);
    if (projection != NULL)
        (void)expr_projection_each(projection, texts_add, texts);
}

static void add_plan_names(struct texts *texts)
{
    const struct partiql_plan *plan = plan_of(texts->q);
    const struct key_schema *schema = schema_of(texts->q);
    if (plan == NULL)
        return;
    for (size_t i = 0; plan->range_count > 0 && i < schema->hash_count; i++)
        (void)texts_add(texts, schema->parts[i].name);
    for (size_t i = 0; i < plan->range_count; i++) {
        const struct key_range *range = &plan->ranges[i];
        size_t count = range->range_equal + (range->op != KEY_NONE);
        for (size_t j = 0; i == 0 && j < count; j++)
            (void)texts_add(texts, schema->parts[schema->hash_count + j].name);
    }
    add_item_names(texts, plan->key);
    add_item_names(texts, plan->item);
    if (plan->filter != NULL)
        (void)expr_condition_each(plan->filter, texts_add, texts);
    if (plan->condition != NULL)
        (void)expr_condition_each(plan->condition, texts_add, texts);
    if (plan->update != NULL)
        (void)expr_update_each(plan->update, texts_add, texts);
    if (plan->projection != NULL)
        (void)expr_projection_each(plan->projection, texts_add, texts);
}

static void attributes(struct question *q, struct policy_values *out)
{
    const struct ask *ask = q->ask;
    if (!q->has_attributes) {
        struct texts texts = {.q = q};
        q->has_attributes = true;
        for (size_t i = 0; i < ask->item_count; i++)
            add_item_names(&texts, ask->items[i]);
        add_expressions(&texts);
        add_range_names(&texts);
        add_map_names(&texts, ask->key_conditions);
        add_map_names(&texts, ask->legacy[0]);
        add_map_names(&texts, ask->legacy[1]);
        const struct field_list *names = ask->attributes_to_get;
        for (size_t i = 0; names != NULL && i < names->count; i++)
            (void)texts_add(&texts, ((const struct slice *)names->items)[i]);
        if (ask->statement != NULL)
            add_plan_names(&texts);
        q->attributes = texts_end(&texts);
    }
    *out = q->attributes;
}

// ---- What is returned ---------------------------------------------------------------------------

static const struct slice all_attributes = {(const uint8_t *)"ALL_ATTRIBUTES", 14};
static const struct slice all_projected = {(const uint8_t *)"ALL_PROJECTED_ATTRIBUTES", 24};
static const struct slice specific = {(const uint8_t *)"SPECIFIC_ATTRIBUTES", 19};
static const struct slice none = {(const uint8_t *)"NONE", 4};
static const struct slice all_old = {(const uint8_t *)"ALL_OLD", 7};
static const struct slice all_new = {(const uint8_t *)"ALL_NEW", 7};
static const struct slice updated_old = {(const uint8_t *)"UPDATED_OLD", 11};
static const struct slice updated_new = {(const uint8_t *)"UPDATED_NEW", 11};
static const struct slice yes = {(const uint8_t *)"true", 4};
static const struct slice no = {(const uint8_t *)"false", 5};

static void selected(struct question *q, struct policy_values *out)
{
    const struct ask *ask = q->ask;
    bool named = ask->projection.ptr != NULL ||
                 (ask->attributes_to_get != NULL && ask->attributes_to_get->set);
    if (ask->statement != NULL) {
        const struct partiql_plan *plan = plan_of(q);
        named = plan != NULL && plan->projection != NULL;
    }
    if (ask->select.ptr != NULL)
        one(&ask->select, out);
    else if (named)
        one(&specific, out);
    else
        one(ask->part != NULL ? &all_projected : &all_attributes, out);
}

// A write that shows the item if its condition fails shows all of it.
static void returned(const struct ask *ask, struct policy_values *out)
{
    static const struct slice *const clauses[] = {[RETURNING_NOTHING] = &none,
                                                  [RETURNING_ALL_OLD] = &all_old,
                                                  [RETURNING_ALL_NEW] = &all_new,
                                                  [RETURNING_MODIFIED_OLD] = &updated_old,
                                                  [RETURNING_MODIFIED_NEW] = &updated_new};
    if (ask->reads)
        return;
    if (slice_is(ask->on_failure, "ALL_OLD"))
        one(&all_old, out);
    else if (ask->statement != NULL)
        one(clauses[ask->statement->returning], out);
    else
        one(ask->return_values.ptr != NULL ? &ask->return_values : &none, out);
}

// ---- Tags ---------------------------------------------------------------------------------------

static void request_tag(const struct ask *ask, struct slice key, struct policy_values *out)
{
    const struct request_tag *tags = ask->tags == NULL ? NULL : ask->tags->items;
    for (size_t i = 0; tags != NULL && i < ask->tags->count; i++) {
        if (policy_letters_equal(tags[i].key, key)) {
            one(&tags[i].value, out);
            return;
        }
    }
}

static void tag_keys(struct question *q, struct policy_values *out)
{
    const struct ask *ask = q->ask;
    if (ask->tags == NULL && ask->tag_keys == NULL)
        return;
    if (q->tag_keys.count == 0) {
        struct texts texts = {.q = q};
        const struct request_tag *tags = ask->tags == NULL ? NULL : ask->tags->items;
        for (size_t i = 0; tags != NULL && i < ask->tags->count; i++)
            (void)texts_add(&texts, tags[i].key);
        for (size_t i = 0; ask->tag_keys != NULL && i < ask->tag_keys->count; i++)
            (void)texts_add(&texts, ((const struct slice *)ask->tag_keys->items)[i]);
        q->tag_keys = texts_end(&texts);
    }
    *out = q->tag_keys;
}

static void resource_tag(struct question *q, struct slice key, struct policy_values *out)
{
    struct table_settings settings;
    struct value_iter iter;
    if (q->table == NULL)
        return;
    table_settings_read(q->table, &settings);
    if (settings.tags.len == 0)
        return;
    value_iter_init(&iter, settings.tags);
    while (value_iter_next(&iter)) {
        if (!policy_letters_equal(iter.name, key))
            continue;
        struct slice *value = arena_zalloc(&q->call->arena, 1, sizeof(*value));
        if (value == NULL) {
            enough(q);
            return;
        }
        *value = value_bytes(iter.value);
        one(value, out);
        return;
    }
}

// ---- All of them --------------------------------------------------------------------------------

static bool comes_with(const struct question *q, enum policy_key_id id)
{
    return q->row != NULL && (q->row->keys >> id & 1) != 0;
}

static void of_dynamodb(struct question *q, enum policy_key_id id, struct policy_values *out)
{
    const struct ask *ask = q->ask;
    switch ((int)id) {
    case POLICY_KEY_LEADING_KEYS:
    case POLICY_KEY_FIRST_PARTITION_KEYS:
        partitions(q, 0, out);
        break;
    case POLICY_KEY_SECOND_PARTITION_KEYS:
        partitions(q, 1, out);
        break;
    case POLICY_KEY_THIRD_PARTITION_KEYS:
        partitions(q, 2, out);
        break;
    case POLICY_KEY_FOURTH_PARTITION_KEYS:
        partitions(q, 3, out);
        break;
    case POLICY_KEY_ATTRIBUTES:
        attributes(q, out);
        break;
    case POLICY_KEY_SELECT:
        selected(q, out);
        break;
    case POLICY_KEY_RETURN_VALUES:
        returned(ask, out);
        break;
    case POLICY_KEY_RETURN_CONSUMED_CAPACITY:
        one(ask->capacity.ptr != NULL ? &ask->capacity : &none, out);
        break;
    case POLICY_KEY_ENCLOSING_OPERATION:
        if (ask->enclosing.len > 0)
            one(&ask->enclosing, out);
        break;
    case POLICY_KEY_FULL_TABLE_SCAN:
        one(is_scan(q) ? &yes : &no, out);
        break;
    default:
        break;
    }
}

void question_lookup(void *context, const struct policy_key *key, struct policy_values *out)
{
    struct question *q = context;
    if (key->id < 32 && comes_with(q, key->id)) {
        of_dynamodb(q, key->id, out);
        return;
    }
    switch ((int)key->id) {
    case POLICY_KEY_CURRENT_TIME:
    case POLICY_KEY_EPOCH_TIME:
        q->request->now_ms = call_now(q->call);
        break;
    case POLICY_KEY_REQUEST_TAG:
        request_tag(q->ask, key->tag, out);
        break;
    case POLICY_KEY_TAG_KEYS:
        tag_keys(q, out);
        break;
    case POLICY_KEY_RESOURCE_TAG:
        resource_tag(q, key->tag, out);
        break;
    default:
        break;
    }
}
