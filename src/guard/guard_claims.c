// The values that only one item may have: what an image claims, what it gives back, and what is
// said if another item has a value. See engine/guard.h.
#include "guard/guard_internal.h"

#include "model/rules.h"

enum {
    STEPS_CLAIM = 8, // to make one
    WORDS_MAX = 4 << 10,
};

// A put over an item that is deleted makes a new one; an update that undeletes one goes on from
// what is there.
static bool begins_anew(const struct model_entity *entity, const struct guard_write *write)
{
    return write->is_put && model_item_deleted(entity, write->before) &&
           !model_item_deleted(entity, write->after);
}

// Whether there was no item of this entity at this key.
bool guard_is_fresh(const struct model_guard *guard, const struct guard_entity *plan,
                    const struct guard_write *write, struct model_check *check)
{
    return write->before.len == 0 ||
           model_recognise_within(check, guard->table, write->before).entity != plan->entity ||
           (plan->entity->softdelete != NULL && begins_anew(plan->entity, write));
}

static bool is_claimed(struct slice value)
{
    return value.len > 0 && value.ptr[0] != VALUE_TAG_NULL;
}

// Where the claims of an image go.
struct claims {
    size_t *count;
    struct guard_claim **list;
};

// Claims are of normal forms, also of what was there before the model. VALUE_NONE if memory is out.
static struct slice claimed_form(const struct guard_slot *slot, struct slice value,
                                 struct model_check *check, struct arena *arena)
{
    unsigned normal = slot->attribute->normal;
    steps_add(&check->steps, STEPS_CLAIM);
    check_text(check, value.len);
    return normal == 0 || value.ptr[0] != VALUE_TAG_S ? value
                                                      : model_normalise(value, normal, arena);
}

// The values of an image in the order of the slots, all in one pass: an item may have hundreds that
// are unique. Without an image there are none. NULL if memory is out.
static const struct slice *slot_values(const struct guard_entity *plan, struct slice image,
                                       struct arena *arena)
{
    struct slice *values = arena_zalloc(arena, plan->slot_count, sizeof(*values));
    if (values == NULL || image.len == 0)
        return values;
    struct value_walk walk;
    value_walk_init(&walk, image);
    for (size_t i = 0; i < plan->slot_count; i++)
        values[i] = value_walk_to(&walk, plan->slots[i].name);
    return values;
}

// Whether all the values are there; *same if they are those of the other image.
static bool has_values(const struct guard_unique *unique, const struct slice *values,
                       const struct slice *others, bool *same)
{
    *same = true;
    for (size_t i = 0; i < unique->count; i++) {
        uint16_t slot = unique->slots[i];
        if (!is_claimed(values[slot]))
            return false;
        *same = *same && slice_equal(values[slot], others[slot]);
    }
    return true;
}

// The tenant that the item of an entity is of, as a value; VALUE_NONE if tenants have no say.
static struct slice tenant_of(const struct guard_entity *plan, struct slice image)
{
    const struct model_attribute *tenant = plan->entity->tenant;
    return tenant == NULL ? VALUE_NONE : value_get(image, tenant->name);
}

// A claim is the entity, the attributes, the tenant if there are any, and the values: so no tenant
// is told of another's.
static bool make_claim(const struct guard_entity *plan, const struct guard_unique *unique,
                       const struct slice *values, struct slice tenant, struct model_check *check,
                       struct arena *arena, struct guard_claim *claim)
{
    struct slice one;
    struct slice *forms =
        unique->count == 1 ? &one : arena_alloc(arena, unique->count * sizeof(*forms));
    size_t len = unique->prefix.len + tenant.len;
    for (size_t i = 0; forms != NULL && i < unique->count; i++) {
        uint16_t slot = unique->slots[i];
        forms[i] = claimed_form(&plan->slots[slot], values[slot], check, arena);
        if (forms[i].ptr == NULL)
            return false;
        len += forms[i].len;
    }
    uint8_t *name = forms == NULL ? NULL : arena_alloc(arena, len);
    if (name == NULL)
        return false;
    size_t at = unique->prefix.len;
    memcpy(name, unique->prefix.ptr, at);
    if (tenant.len > 0)
        memcpy(name + at, tenant.ptr, tenant.len);
    at += tenant.len;
    for (size_t i = 0; i < unique->count; at += forms[i++].len)
        memcpy(name + at, forms[i].ptr, forms[i].len);
    *claim = (struct guard_claim){slice_of(name, len), unique->what, forms[unique->count - 1], 0};
    return true;
}

// What an image claims as: one that is deleted claims nothing.
static struct slice seen(const struct guard_entity *plan, struct slice image)
{
    return model_item_deleted(plan->entity, image) ? VALUE_NONE : image;
}

// The claims of an image, without those that `other` has as well.
static bool make_claims(const struct guard_entity *plan, struct model_check *check,
                        struct arena *arena, struct slice image, struct slice other,
                        struct claims out, struct error *error)
{
    image = seen(plan, image);
    other = seen(plan, other);
    if (plan->unique_count == 0 || image.len == 0)
        return true;
    struct slice tenant = tenant_of(plan, image);
    // An image of another tenant has not the same claims, whatever its values are.
    if (other.len > 0 && !slice_equal(tenant, tenant_of(plan, other)))
        other = VALUE_NONE;
    struct guard_claim *claims = arena_zalloc(arena, plan->unique_count, sizeof(*claims));
    const struct slice *values = slot_values(plan, image, arena);
    const struct slice *others = slot_values(plan, other, arena);
    if (claims == NULL || values == NULL || others == NULL)
        return error_budget(error);
    *out.list = claims;
    for (size_t i = 0; i < plan->unique_count; i++) {
        bool same;
        const struct guard_unique *unique = &plan->uniques[i];
        if (!has_values(unique, values, others, &same) || same)
            continue;
        if (!make_claim(plan, unique, values, tenant, check, arena, &claims[(*out.count)++]))
            return error_budget(error);
    }
    return true;
}

static bool claim(const struct guard_entity *plan, struct guard_write *write,
                  struct model_check *check, struct slice other, struct error *error)
{
    struct claims out = {&write->claim_count, &write->claims};
    return make_claims(plan, check, write->arena, write->after, other, out, error);
}

static bool give_back(const struct guard_entity *plan, struct guard_write *write,
                      struct model_check *check, struct slice other, struct error *error)
{
    struct claims out = {&write->release_count, &write->releases};
    return make_claims(plan, check, write->arena, write->before, other, out, error);
}

// The name of the claim of an `idempotent` rule, in *claim; without one if there is nothing to
// claim.
static bool make_repeatable(const struct guard_entity *plan, const struct guard_write *write,
                            struct slice image, struct model_check *check,
                            struct guard_claim *claim, struct error *error)
{
    const struct model_idempotent *rule = plan->idempotent;
    struct slice value;
    struct slice tenant = tenant_of(plan, image);
    struct model_scope scope = {
        .item = image, .env = write->env, .arena = write->arena, .steps = &check->steps};
    *claim = (struct guard_claim){.until_ms = 0};
    enum eval_status status = model_eval(rule->by, &scope, MODEL_ANY, &value);
    if (status != EVAL_OK)
        return status != EVAL_BUDGET || error_budget(error);
    struct buf name;
    buf_init(&name, LIMIT_ITEM_BYTES);
    buf_slice(&name, plan->entity->name);
    buf_byte(&name, 0);
    buf_text(&name, "idempotent");
    buf_byte(&name, 0);
    buf_slice(&name, tenant);
    buf_slice(&name, value);
    claim->name = name.failed ? slice_of(NULL, 0) : arena_copy(write->arena, buf_view(&name));
    buf_release(&name);
    claim->what = plan->entity->name;
    claim->value = value;
    if (write->env != NULL)
        claim->until_ms = env_now(write->env) + (int64_t)rule->seconds * 1000;
    return claim->name.ptr != NULL || error_budget(error);
}

// Adds it to claims or releases.
static bool add_repeatable(const struct guard_entity *plan, const struct guard_write *write,
                           struct slice image, struct model_check *check, struct claims out,
                           struct error *error)
{
    struct guard_claim claim;
    if (plan->idempotent == NULL || seen(plan, image).len == 0 || write->restored ||
        (write->touch && !write->derived))
        return true;
    if (!make_repeatable(plan, write, image, check, &claim, error) || claim.name.len == 0)
        return error->code == ERR_NONE;
    struct guard_claim *list = arena_zalloc(write->arena, *out.count + 1, sizeof(*list));
    if (list == NULL)
        return error_budget(error);
    if (*out.count > 0)
        memcpy(list, *out.list, *out.count * sizeof(*list));
    list[(*out.count)++] = claim;
    *out.list = list;
    return true;
}

// What the old image had, whatever the new one is.
bool guard_give_back(const struct model_guard *guard, struct guard_write *write,
                     struct model_check *check, struct error *error)
{
    if (guard->guard.claims == 0 || write->before.len == 0)
        return true;
    const struct model_entity *entity =
        model_recognise_within(check, guard->table, write->before).entity;
    const struct guard_entity *plan = entity == NULL ? NULL : plan_of(guard, entity);
    struct claims out = {&write->release_count, &write->releases};
    return plan == NULL || (give_back(plan, write, check, VALUE_NONE, error) &&
                            add_repeatable(plan, write, write->before, check, out, error));
}

bool guard_claim_values(const struct model_guard *guard, const struct guard_entity *plan,
                        struct guard_write *write, struct model_check *check, struct error *error)
{
    if (guard->guard.claims == 0)
        return true;
    struct claims out = {&write->claim_count, &write->claims};
    if (guard_is_fresh(guard, plan, write, check))
        return claim(plan, write, check, VALUE_NONE, error) &&
               add_repeatable(plan, write, write->after, check, out, error) &&
               guard_give_back(guard, write, check, error);
    // An item that is only touched may have had its values before anybody claimed them.
    bool all = write->touch && !write->derived;
    return claim(plan, write, check, all ? VALUE_NONE : write->before, error) &&
           give_back(plan, write, check, all ? VALUE_NONE : write->after, error);
}

// The claim's entity and attributes.
static const struct guard_unique *unique_of(const struct model_guard *guard,
                                            const struct guard_claim *claim,
                                            const struct guard_entity **plan)
{
    for (size_t i = 0; i < guard->table->entity_count; i++) {
        *plan = &guard->entities[i];
        for (size_t k = 0; k < (*plan)->unique_count; k++)
            if (slice_begins(claim->name, (*plan)->uniques[k].prefix))
                return &(*plan)->uniques[k];
    }
    return NULL;
}

static void report_taken(struct model_report *report, const struct guard_entity *plan,
                         const struct guard_unique *unique, struct slice value)
{
    struct model_pointer at = {.name = plan->slots[unique->slots[unique->count - 1]].name};
    struct buf words;
    buf_init(&words, WORDS_MAX);
    buf_text(&words, "a value that no other item has");
    for (size_t i = 0; i + 1 < unique->count; i++)
        buf_printf(&words, "%s%.*s", i == 0 ? " with this " : ", ",
                   SLICE_FMT(plan->slots[unique->slots[i]].name));
    model_report_add(report, &at, buf_view(&words), value);
    buf_release(&words);
}

// In one line, whatever the file has.
static void put_line(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        bool blank = text.ptr[i] <= ' ';
        if (!blank)
            buf_byte(out, text.ptr[i]);
        else if (i + 1 < text.len && text.ptr[i + 1] > ' ')
            buf_byte(out, ' ');
    }
}

// Two items of one transaction do the same, by an `idempotent` rule.
static bool refuse_double(const struct model_guard *guard, struct slice entity, struct error *error)
{
    const struct model *model = guard->model;
    struct buf rule;
    buf_init(&rule, WORDS_MAX);
    for (size_t i = 0; i < model->rule_count && rule.len == 0; i++)
        if (slice_is(model->rules[i].kind, "idempotent") &&
            slice_equal(model->rules[i].entity, entity))
            put_line(&rule, model->rules[i].text);
    bool done = error_validation(error,
                                 "Entity %.*s: two items of the transaction do the same, by the "
                                 "rule \"%.*s\": send one of them",
                                 SLICE_FMT(entity), SLICE_FMT(buf_view(&rule)));
    buf_release(&rule);
    return done;
}

bool guard_taken(const struct guard *base, const struct guard_claim *claim, struct error *error)
{
    const struct guard_entity *plan;
    const struct guard_unique *unique = unique_of(guard_of(base), claim, &plan);
    if (unique == NULL)
        return refuse_double(guard_of(base), claim->what, error);
    struct model_report report;
    model_report_init(&report, error->arena);
    report_taken(&report, plan, unique, claim->value);
    (void)model_report_refuse(&report, "Entity", plan->entity->name, error);
    if (error->details != NULL)
        ((struct model_violations *)error->details)->taken = true;
    return false;
}
