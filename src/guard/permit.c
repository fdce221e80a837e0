// See permit.h. Every test only opens: whatever cannot be judged, because a tag or an attribute is
// missing, does not hold, and what does not hold allows nothing and lifts no denial.
#include "guard/permit.h"

#include "eval/test.h"
#include "guard/guard_internal.h"
#include "policy/caller.h"
#include "value/number.h"

enum { TAG_BYTES = 1024 }; // of a tag's value; a longer one meets no test

// ---- Tests -----------------------------------------------------------------------------------

// Whom a test is about.
struct view {
    const struct write_origin *origin;
    struct slice item;
};

// One side of a comparison: text is of the caller, and becomes a value of the type that the other
// side has.
struct side {
    const struct model_expr *expr;
    struct slice value; // VALUE_NONE: there is none, or it is text
    struct slice text;
    bool is_text;
    uint8_t bytes[TAG_BYTES + 8];
};

static struct slice path_value(const struct model_expr *path, struct slice item)
{
    struct slice value = item;
    for (size_t i = 0; i < path->step_count && value.len > 0; i++)
        value = value.ptr[0] == VALUE_TAG_M ? value_get(value, path->steps[i]) : VALUE_NONE;
    return value.len > 0 && value.ptr[0] != VALUE_TAG_NULL ? value : VALUE_NONE;
}

// False if there is nothing.
static bool side_read(const struct view *view, const struct model_expr *expr, struct side *side)
{
    side->expr = expr;
    side->value = VALUE_NONE;
    side->is_text = expr->kind == MODEL_EXPR_TAG || expr->kind == MODEL_EXPR_CALL;
    if (expr->kind == MODEL_EXPR_TAG)
        return caller_tag(view->origin->caller, expr->steps[1], &side->text);
    if (side->is_text)
        side->text = view->origin->principal;
    else
        side->value = expr->kind == MODEL_EXPR_VALUE ? expr->value : path_value(expr, view->item);
    return side->is_text || side->value.len > 0;
}

static bool text_as_number(struct side *side)
{
    size_t len;
    if (number_from_text(side->text, side->bytes + 2, &len) != NUMBER_OK)
        return false;
    side->bytes[0] = VALUE_TAG_N;
    side->bytes[1] = (uint8_t)len;
    side->value = slice_of(side->bytes, len + 2);
    return true;
}

static bool text_as_boolean(struct side *side)
{
    bool yes = slice_is(side->text, "true");
    side->bytes[0] = yes ? VALUE_TAG_TRUE : VALUE_TAG_FALSE;
    side->value = slice_of(side->bytes, 1);
    return yes || slice_is(side->text, "false");
}

static bool text_as_string(struct side *side)
{
    if (side->text.len > TAG_BYTES)
        return false;
    side->bytes[0] = VALUE_TAG_S;
    size_t at = 1 + varint_put(side->bytes + 1, side->text.len);
    if (side->text.len > 0)
        memcpy(side->bytes + at, side->text.ptr, side->text.len);
    side->value = slice_of(side->bytes, at + side->text.len);
    return true;
}

// Makes text a value as the other side is.
static bool side_suit(struct side *side, const struct side *other)
{
    static const enum value_type members[VALUE_TYPES] = {
        [VALUE_SS] = VALUE_S, [VALUE_NS] = VALUE_N, [VALUE_BS] = VALUE_B};
    if (!side->is_text)
        return true;
    enum value_type type = other->is_text ? VALUE_S : value_type(other->value);
    if (type == VALUE_N || members[type] == VALUE_N)
        return text_as_number(side);
    return type == VALUE_BOOL ? text_as_boolean(side) : text_as_string(side);
}

static bool compare(const struct view *view, const struct model_expr *left, enum model_op op,
                    const struct model_expr *right)
{
    struct side a;
    struct side b;
    return side_read(view, left, &a) && side_read(view, right, &b) && side_suit(&a, &b) &&
           side_suit(&b, &a) && model_values_meet(op, left, a.value, right, b.value);
}

static bool compare_one(const struct view *view, const struct model_comparison *one)
{
    struct side side;
    switch (one->op) {
    case MODEL_OP_EXISTS:
    case MODEL_OP_MISSING:
        return side_read(view, one->left, &side) == (one->op == MODEL_OP_EXISTS);
    case MODEL_OP_CHANGED:
        return false;
    case MODEL_OP_BETWEEN:
        return compare(view, one->left, MODEL_OP_AT_LEAST, one->values[0]) &&
               compare(view, one->left, MODEL_OP_AT_MOST, one->values[1]);
    default:
        return compare(view, one->left, one->op, one->values[0]);
    }
}

static bool clause_holds(const struct view *view, const struct model_clause *clause)
{
    for (size_t i = 0; i < clause->count; i++) {
        if (!compare_one(view, &clause->list[i]))
            return false;
    }
    return true;
}

static bool test_holds(const struct view *view, const struct model_test *test)
{
    for (size_t i = 0; i < test->clause_count; i++) {
        if (clause_holds(view, &test->clauses[i]))
            return true;
    }
    return false;
}

// ---- Rules -----------------------------------------------------------------------------------

static bool is_allowed(const struct permit_entity *permit, unsigned verb, const struct view *view)
{
    for (size_t i = 0; permit->closed && i < permit->count; i++) {
        const struct model_policy *policy = permit->list[i];
        if (!policy->deny && (policy->verbs & verb) &&
            (policy->test == NULL || test_holds(view, policy->test)))
            return true;
    }
    return !permit->closed;
}

static bool denies(const struct model_policy *policy, unsigned verb, const struct view *view)
{
    return policy->deny && (policy->verbs & verb) &&
           (policy->test == NULL || !test_holds(view, policy->test));
}

bool permit_compile(const struct model_table *table, struct arena *arena,
                    const struct permit_entity **out)
{
    const struct model_rules *rules = table->model->rules_of;
    struct permit_entity *list = NULL;
    *out = NULL;
    for (size_t i = 0; i < rules->policy_count; i++) {
        const struct model_policy *policy = &rules->policies[i];
        if (policy->entity->table != table)
            continue;
        if (list == NULL)
            list = arena_zalloc(arena, table->entity_count, sizeof(*list));
        if (list == NULL)
            return false;
        struct permit_entity *permit = &list[policy->entity - table->entities];
        if (permit->list == NULL)
            permit->list = arena_zalloc(arena, rules->policy_count, sizeof(*permit->list));
        if (permit->list == NULL)
            return false;
        permit->list[permit->count++] = policy;
        permit->closed = permit->closed || !policy->deny;
    }
    *out = list;
    return true;
}

// ---- Reading ---------------------------------------------------------------------------------

static const struct permit_entity *permit_of(const struct model_table *table,
                                             const struct permit_entity *permits, struct slice item)
{
    const struct model_entity *entity = model_recognise(table, item).entity;
    return entity == NULL ? NULL : &permits[entity - table->entities];
}

static void hide(struct guard_veil *veil, struct slice name)
{
    if (veil->count < LIMIT_MODEL_HIDDEN && !guard_veil_has(veil, name))
        veil->names[veil->count++] = name;
}

enum guard_sight permit_sight(const struct model_table *table, const struct permit_entity *permits,
                              const struct write_origin *origin, struct slice item,
                              struct guard_veil *veil)
{
    const struct view view = {origin, item};
    const struct permit_entity *permit = permit_of(table, permits, item);
    veil->count = 0;
    if (permit == NULL || !is_allowed(permit, MODEL_MAY_READ, &view))
        return GUARD_SEES_NOTHING;
    for (size_t i = 0; i < permit->count; i++) {
        const struct model_policy *policy = permit->list[i];
        for (size_t k = 0; denies(policy, MODEL_MAY_READ, &view) && k < policy->attribute_count;
             k++)
            hide(veil, policy->attributes[k]->name);
    }
    return veil->count > 0 ? GUARD_SEES_PART : GUARD_SEES_ALL;
}

// ---- Writing ---------------------------------------------------------------------------------

static const char *verb_word(unsigned verb)
{
    return verb == MODEL_MAY_INSERT ? "insert" : verb == MODEL_MAY_UPDATE ? "update" : "delete";
}

static bool refuse(const struct model_table *table, unsigned verb, struct slice item,
                   struct error *error)
{
    const struct model_entity *entity = model_recognise(table, item).entity;
    if (entity == NULL)
        return error_set(error, ERR_ACCESS_DENIED,
                         "Policies of the model do not allow this: the item is of no entity");
    return error_set(error, ERR_ACCESS_DENIED,
                     "Policies of the model do not allow you to %s this %.*s", verb_word(verb),
                     SLICE_FMT(entity->name));
}

static bool may(const struct model_table *table, const struct permit_entity *permits,
                const struct write_origin *origin, unsigned verb, struct slice item,
                struct error *error)
{
    const struct view view = {origin, item};
    const struct permit_entity *permit = permit_of(table, permits, item);
    return (permit != NULL && is_allowed(permit, verb, &view)) || refuse(table, verb, item, error);
}

// Whether one of the key attributes that show the attribute is what the client sends, and new.
static bool parts_say(const struct model_key_part *parts, const struct key_schema *keys,
                      const struct model_attribute *attribute, struct slice before,
                      struct slice sent)
{
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        struct slice said = value_get(sent, parts[i].name);
        struct slice old = before.len == 0 ? VALUE_NONE : value_get(before, parts[i].name);
        if (said.len > 0 && !slice_equal(said, old) && model_key_part_shows(&parts[i], attribute))
            return true;
    }
    return false;
}

static bool keys_say(const struct model_entity *entity, const struct model_attribute *attribute,
                     struct slice before, struct slice sent)
{
    if (parts_say(entity->keys, &entity->table->keys, attribute, before, sent))
        return true;
    for (size_t i = 0; i < entity->entry_count; i++) {
        const struct model_entry *entry = &entity->entries[i];
        if (parts_say(entry->parts, &entry->index->keys, attribute, before, sent))
            return true;
    }
    return false;
}

// Whether the client has changed the attribute. What the model has set by itself, because the
// client left it as it was, or out where each write sets it anew, is not the client's; but what
// stands in a key can be said by the key.
static bool is_written(const struct guard_ask *ask, const struct model_entity *entity,
                       const struct model_attribute *attribute, struct slice before)
{
    struct slice old = before.len == 0 ? VALUE_NONE : value_get(before, attribute->name);
    struct slice new = value_get(ask->after, attribute->name);
    if (slice_equal(old, new))
        return false;
    if (ask->sent.len == 0)
        return true;
    struct slice said = value_get(ask->sent, attribute->name);
    bool left = slice_equal(old, said) || (attribute->on_update && said.len == 0);
    return !left || keys_say(entity, attribute, before, ask->sent);
}

// A denial is lifted if its test holds of what was, and of what comes.
static bool denies_write(const struct model_policy *policy, const struct guard_ask *ask,
                         unsigned verb, struct slice before)
{
    const struct view after = {ask->origin, ask->after};
    const struct view old = {ask->origin, before};
    return denies(policy, verb, &after) || (before.len > 0 && denies(policy, verb, &old));
}

static bool may_attributes(const struct model_table *table, const struct permit_entity *permits,
                           const struct guard_ask *ask, unsigned verb, struct slice before,
                           struct error *error)
{
    const struct permit_entity *permit = permit_of(table, permits, ask->after);
    for (size_t i = 0; permit != NULL && i < permit->count; i++) {
        const struct model_policy *policy = permit->list[i];
        if (!denies_write(policy, ask, verb, before))
            continue;
        for (size_t k = 0; k < policy->attribute_count; k++) {
            if (is_written(ask, policy->entity, policy->attributes[k], before))
                return error_set(error, ERR_ACCESS_DENIED,
                                 "Policies of the model do not allow you to write \"%.*s\" of "
                                 "this %.*s",
                                 SLICE_FMT(policy->attributes[k]->name),
                                 SLICE_FMT(policy->entity->name));
        }
    }
    return true;
}

bool permit_write(const struct model_table *table, const struct permit_entity *permits,
                  const struct guard_ask *ask, struct error *error)
{
    if (ask->removes)
        return may(table, permits, ask->origin, MODEL_MAY_DELETE, ask->before, error);
    if (ask->after.len == 0)
        return true; // nothing was, and nothing comes
    bool same = ask->before.len > 0 &&
                permit_of(table, permits, ask->before) == permit_of(table, permits, ask->after);
    unsigned verb = same ? MODEL_MAY_UPDATE : MODEL_MAY_INSERT;
    struct slice before = same ? ask->before : VALUE_NONE;
    if (ask->before.len > 0 && !may(table, permits, ask->origin,
                                    same ? MODEL_MAY_UPDATE : MODEL_MAY_DELETE, ask->before, error))
        return false;
    return may(table, permits, ask->origin, verb, ask->after, error) &&
           may_attributes(table, permits, ask, verb, before, error) &&
           (!ask->taken || refuse(table, verb, ask->after, error));
}

// ---- The guard's ------------------------------------------------------------------------------

enum guard_sight guard_sees(const struct guard *base, const struct write_origin *origin,
                            struct slice item, struct guard_veil *veil)
{
    return permit_sight(guard_of(base)->table, guard_of(base)->permits, origin, item, veil);
}

bool guard_permits(const struct guard *base, const struct guard_ask *ask, struct error *error)
{
    return permit_write(guard_of(base)->table, guard_of(base)->permits, ask, error);
}
