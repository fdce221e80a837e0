// Items of which it is known what they are, but which may not say so themselves: see guard.h.
#include "guard/guard_internal.h"

#include "guard/address.h"

static bool refuse_type(const struct guard_work *work, struct error *error)
{
    struct model_report report;
    struct model_pointer at = {.name = work->plan->slots[work->plan->type].name};
    model_report_init(&report, work->arena);
    model_report_value(&report, &at, work->plan->type_value, "", work->values[work->plan->type]);
    return model_report_refuse(&report, "Entity", work->plan->entity->name, error);
}

// Everything that can be made of the item.
static void complete_all(struct guard_work *work)
{
    const struct guard_list *derived = &work->plan->derived;
    for (size_t i = 0; i < derived->count; i++)
        work->values[derived->slots[i]] = VALUE_NONE;
    work_normalise(work);
    work_nulls(work);
    work_objects(work);
    work_read_keys(work);
    work_defaults(work);
    work_type(work);
    if (work->plan->rules != NULL)
        work_computed(work);
    work_primary_key(work);
    work_index_keys(work);
}

static bool makes_key(const struct guard_entity *plan, const struct model_address *address,
                      size_t slot)
{
    for (size_t i = 0; i < plan->key_count; i++) {
        if (plan->keys[i].slot == slot)
            return true;
    }
    for (size_t i = 0; i < address->count; i++) {
        if (slice_equal(address->parts[i].name, plan->slots[slot].name))
            return true;
    }
    return false;
}

// Only the primary key, and the attributes that it is made of.
static void complete_key(struct guard_work *work)
{
    struct model_address address;
    work->occasion = GUARD_PREPARE;
    work_normalise(work);
    work_read_keys(work);
    work_defaults(work);
    if (work->plan->rules != NULL)
        work_computed(work);
    work_primary_key(work);
    model_address(work->plan->entity, &address);
    for (size_t i = 0; i < work->plan->slot_count; i++) {
        if (!makes_key(work->plan, &address, i))
            work->values[i] = work->sent[i];
    }
}

static bool address_item(struct guard_work *work, struct slice *item, struct error *error)
{
    const struct guard_entity *plan = work->plan;
    bool typed = plan->type != GUARD_NO_SLOT;
    work->is_put = true;
    work_load(work, *item, work->values, true);
    memcpy(work->sent, work->values, plan->slot_count * sizeof(*work->sent));
    if (typed && work->values[plan->type].len > 0 &&
        !slice_equal(work->values[plan->type], plan->type_value))
        return refuse_type(work, error);
    if (plan->entity->guard != MODEL_ENFORCE)
        complete_all(work);
    else if (typed)
        work_type(work);
    else
        complete_key(work);
    struct slice made = work->failed ? VALUE_NONE : work_store(work, *item);
    if (made.ptr == NULL)
        return error_budget(error);
    *item = made;
    return true;
}

bool model_guard_address(const struct guard *guard, struct slice entity, const struct env *env,
                         struct arena *arena, struct steps *steps, struct slice *item,
                         struct error *error)
{
    const struct model_guard *own = (const struct model_guard *)guard;
    const struct model_entity *found = model_table_entity(own->table, entity);
    struct guard_work work;
    struct model_check check;
    if (found == NULL)
        return true; // the model is another one by now; the guard will say what it makes of it
    struct slice sent = *item;
    check_begin(&check, steps);
    if (!work_init(&work, &own->entities[found - own->table->entities], env, arena, &check))
        return error_budget(error);
    bool fine = address_item(&work, item, error);
    work_release(&work);
    enum check_end end = check_end(&check, steps);
    if (end == CHECK_DONE)
        return fine;
    error_init(error, error->arena);
    *item = sent;
    return end == CHECK_LATER ? false : error_validation(error, "%s", check_too_much);
}
