// The values that only one item may have: what an image claims, what it gives back, and what is
// said if another item has a value. See engine/guard.h.
#include "guard/entity.h"
#include "guard/guard_internal.h"

enum { STEPS_CLAIM = 8 }; // to make one

// Whether there was no item of this entity at this key.
bool guard_is_fresh(const struct model_guard *guard, const struct guard_entity *plan,
                    const struct guard_write *write, struct model_check *check)
{
    return write->before.len == 0 ||
           model_recognise_within(check, guard->table, write->before).entity != plan->entity;
}

// A claim is the entity, the attribute and the value.
static bool make_claim(const struct guard_unique *unique, struct slice value, struct arena *arena,
                       struct guard_claim *claim)
{
    size_t len = unique->prefix.len + value.len;
    uint8_t *name = arena_alloc(arena, len);
    if (name == NULL)
        return false;
    memcpy(name, unique->prefix.ptr, unique->prefix.len);
    memcpy(name + unique->prefix.len, value.ptr, value.len);
    *claim = (struct guard_claim){slice_of(name, len), unique->what, value};
    return true;
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

// The claims of an image, without those that `other` has as well.
static bool make_claims(const struct guard_entity *plan, struct model_check *check,
                        struct arena *arena, struct slice image, struct slice other,
                        struct claims out, struct error *error)
{
    if (plan->unique_count == 0)
        return true;
    struct guard_claim *claims = arena_zalloc(arena, plan->unique_count, sizeof(*claims));
    if (claims == NULL)
        return error_budget(error);
    *out.list = claims;
    for (size_t i = 0; i < plan->unique_count; i++) {
        const struct guard_slot *slot = &plan->slots[plan->uniques[i].slot];
        struct slice value = value_get(image, slot->name);
        if (!is_claimed(value) ||
            (other.len > 0 && slice_equal(value, value_get(other, slot->name))))
            continue;
        steps_add(&check->steps, STEPS_CLAIM);
        check_text(check, value.len);
        // Claims are of normal forms, also of what was there before the model.
        unsigned normal = slot->attribute->normal;
        if (normal != 0 && value.ptr[0] == VALUE_TAG_S)
            value = model_normalise(value, normal, arena);
        if (value.ptr == NULL ||
            !make_claim(&plan->uniques[i], value, arena, &claims[(*out.count)++]))
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

// What the old image had, whatever the new one is.
bool guard_give_back(const struct model_guard *guard, struct guard_write *write,
                     struct model_check *check, struct error *error)
{
    if (guard->guard.claims == 0 || write->before.len == 0)
        return true;
    const struct model_entity *entity =
        model_recognise_within(check, guard->table, write->before).entity;
    return entity == NULL || give_back(plan_of(guard, entity), write, check, VALUE_NONE, error);
}

bool guard_claim_values(const struct model_guard *guard, const struct guard_entity *plan,
                        struct guard_write *write, struct model_check *check, struct error *error)
{
    if (guard->guard.claims == 0)
        return true;
    if (guard_is_fresh(guard, plan, write, check))
        return claim(plan, write, check, VALUE_NONE, error) &&
               guard_give_back(guard, write, check, error);
    // An item that is only touched may have had its values before anybody claimed them.
    bool all = write->touch;
    return claim(plan, write, check, all ? VALUE_NONE : write->before, error) &&
           give_back(plan, write, check, all ? VALUE_NONE : write->after, error);
}

bool guard_taken(const struct guard *base, const struct guard_claim *claim, struct error *error)
{
    (void)base;
    const uint8_t *end = memchr(claim->name.ptr, 0, claim->name.len);
    struct slice entity = slice_of(claim->name.ptr, (size_t)(end - claim->name.ptr));
    struct slice name =
        slice_of(claim->what.ptr + entity.len + 1, claim->what.len - entity.len - 1);
    struct model_report report;
    struct model_pointer at = {.name = name};
    model_report_init(&report, error->arena);
    model_report_add(&report, &at, SLICE_LIT("a value that no other item has"), claim->value);
    (void)model_report_refuse(&report, "Entity", entity, error);
    if (error->details != NULL)
        ((struct model_violations *)error->details)->taken = true;
    return false;
}
