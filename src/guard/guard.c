// See guard.h. A write is taken apart, completed, judged and put together (derive.c); here is what
// happens when, and what comes of it.
//
// A put is first prepared on its client's thread, without the old image, so that its key is known;
// the writer then does what depends on the old image, and judges again only what that changed. The
// result of doing it twice is the result of doing it once.
#include "guard/guard_internal.h"

#include <stdlib.h>

#include "guard/effects.h"
#include "guard/entity.h"
#include "guard/tenant.h"
#include "value/number.h"

enum { GUARD_MEMORY = 16 << 20 };

const struct model_table *model_guard_table(const struct guard *guard)
{
    return guard_of(guard)->table;
}

// ---- What depends on the old image ----------------------------------------------------------

// A put need not repeat what cannot change, nor what was only given a default: that is for new
// items.
static void keep_old(struct guard_work *work)
{
    const struct guard_list *list = &work->plan->kept;
    for (size_t i = 0; !work->fresh && work->is_put && i < list->count; i++)
        if (work->values[list->slots[i]].len == 0)
            work->values[list->slots[i]] = work->old[list->slots[i]];
}

// Of an item that stays what it is, neither does a put have to repeat what the server has set.
static void keep_appended(struct guard_work *work)
{
    const struct guard_list *list = &work->plan->watched;
    for (size_t i = 0; i < list->count; i++) {
        uint16_t slot = list->slots[i];
        const struct model_attribute *attribute = work->plan->slots[slot].attribute;
        if (work->values[slot].len == 0 && (attribute->version || attribute->otherwise != NULL))
            work->values[slot] = work->old[slot];
    }
}

static bool same_normal(struct guard_work *work, const struct model_attribute *attribute,
                        struct slice old, struct slice value)
{
    if (value.len == 0 || attribute->normal == 0 || old.ptr[0] != VALUE_TAG_S)
        return false;
    return slice_equal(model_normalise(old, attribute->normal, work->arena), value);
}

static void report_because(struct guard_work *work, struct slice name, struct slice expected,
                           const char *reason, struct slice actual)
{
    struct model_pointer at = {.name = name};
    model_report_value(&work->violations, &at, expected, reason, actual);
}

static void judge_immutable(struct guard_work *work)
{
    const struct guard_list *list = &work->plan->immutable;
    for (size_t i = 0; !work->fresh && i < list->count; i++) {
        uint16_t slot = list->slots[i];
        const struct model_attribute *attribute = work->plan->slots[slot].attribute;
        struct slice old = work->old[slot];
        struct slice value = work->values[slot];
        if (old.len == 0 || model_is_absent(attribute, old) || slice_equal(old, value) ||
            same_normal(work, attribute, old, value))
            continue;
        report_because(work, attribute->name, old, " (it is immutable)", value);
        work->values[slot] = old; // nothing more is to be said of it
    }
}

// The next version, or VALUE_NONE if there is no memory.
static struct slice next_version(struct guard_work *work, struct slice old)
{
    uint8_t one[NUMBER_BYTES_MAX];
    uint8_t sum[NUMBER_BYTES_MAX];
    size_t one_len = number_from_i64(1, one);
    size_t len;
    if (old.len == 0 || old.ptr[0] != VALUE_TAG_N ||
        number_add(value_bytes(old), slice_of(one, one_len), sum, &len) != NUMBER_OK)
        return model_integer(work->arena, 1);
    return model_number(work->arena, slice_of(sum, len));
}

// The server counts; a client that sends the old version or the next one says which it has seen.
static void set_version(struct guard_work *work)
{
    uint16_t slot = work->plan->version;
    if (slot == GUARD_NO_SLOT)
        return;
    struct slice value = work->values[slot];
    if ((work->occasion == GUARD_TOUCH || work->restored) && value.len > 0)
        return;
    struct slice old = work->fresh ? VALUE_NONE : work->old[slot];
    struct slice next = next_version(work, old);
    if (next.ptr == NULL) {
        work->failed = true;
        return;
    }
    struct slice name = work->plan->slots[slot].name;
    // Batches cannot be conditional on what was read: there, a new item keeps its count.
    if (work->batch && old.len == 0 && value.len > 0 && value.ptr[0] == VALUE_TAG_N)
        return;
    bool zero = value.len == 3 && value.ptr[0] == VALUE_TAG_N && value.ptr[2] == 0x80;
    if (value.len > 0 && !slice_equal(value, next) && !(old.len == 0 && zero) &&
        !slice_equal(value, old)) {
        work->stale = true;
        if (old.len > 0)
            report_because(work, name, old, " (the version that is stored)", value);
        else
            report_because(work, name, next, " (the item is new)", value);
        return;
    }
    work->values[slot] = next;
}

// ---- Judging --------------------------------------------------------------------------------

// Whether the value was judged when the item was prepared; objects that had to be completed first
// were not.
static bool judged_before(const struct guard_work *work, uint16_t slot)
{
    const struct guard_slot *meta = &work->plan->slots[slot];
    return work->prepared && work->values[slot].ptr == work->sent[slot].ptr &&
           !(meta->nested && meta->deferred);
}

static void judge_types(struct guard_work *work, const struct model_judge *judge)
{
    const struct guard_entity *plan = work->plan;
    bool strict = judge->unknown != MODEL_ALLOW;
    steps_add(&work->check->steps, plan->attributes.count);
    for (size_t i = 0; i < plan->attributes.count && !check_over(work->check); i++) {
        uint16_t slot = plan->places[i];
        const struct model_attribute *attribute = plan->slots[slot].attribute;
        struct slice value = work->values[slot];
        struct model_pointer at = {.name = attribute->name};
        bool later = work->occasion == GUARD_PREPARE && plan->slots[slot].deferred;
        if (value.len == 0) {
            if (!attribute->optional && !later)
                model_report_type(&work->violations, &at, attribute->type, VALUE_NONE);
        } else if (!(later && plan->slots[slot].nested) && !judged_before(work, slot) &&
                   !model_is_absent(attribute, value) &&
                   !model_type_fits(work->check, attribute->type, value, strict)) {
            model_type_judge(attribute->type, value, &at, judge);
        }
    }
}

static void judge_unknown(struct guard_work *work, const struct model_judge *judge)
{
    if (judge->unknown == MODEL_ALLOW)
        return;
    for (size_t i = 0; i < work->unknown_count; i++) {
        struct model_pointer at = {.name = work->unknown[i].name};
        model_report_add(judge->unknown == MODEL_REJECT ? judge->violations : judge->warnings, &at,
                         SLICE_LIT(MODEL_EXPECTED_NONE), work->unknown[i].value);
    }
}

static void judge_all(struct guard_work *work)
{
    struct model_judge judge = {work->check, work->plan->entity->unknown, &work->violations,
                                &work->warnings};
    judge_types(work, &judge);
    judge_unknown(work, &judge);
}

// Takes the images apart.
static void load(struct guard_work *work, struct slice item, struct slice before)
{
    work_load(work, item, work->values, true);
    memcpy(work->sent, work->values, work->plan->slot_count * sizeof(*work->sent));
    if (before.len > 0)
        work_load(work, before, work->old, false);
    work->scope.before = work->fresh ? VALUE_NONE : before;
}

// Completes what was taken apart: everything, in its order.
static void complete(struct guard_work *work)
{
    const struct guard_entity *plan = work->plan;
    work_normalise(work);
    work_nulls(work);
    work_objects(work);
    keep_old(work);
    if (plan->entity->append_only && work->is_put && !work->fresh)
        keep_appended(work);
    work_read_keys(work);
    work_defaults(work);
    if (plan->tallies.count > 0)
        work_tallies(work);
    work_type(work);
    if (work->occasion != GUARD_PREPARE) {
        set_version(work);
        judge_immutable(work);
    }
    if (plan->rules != NULL) {
        work_undeleted(work);
        work_computed(work);
        work_quotas(work);
    }
    if (!work->prepared)
        work_primary_key(work);
    if (work->occasion != GUARD_PREPARE)
        work_index_keys(work);
}

// Everything, in its order.
static void complete_and_judge(struct guard_work *work, struct slice item, struct slice before)
{
    load(work, item, before);
    complete(work);
    judge_all(work);
    if (work->plan->rules != NULL && work->occasion != GUARD_PREPARE)
        work_judge_rules(work, item, before);
    if (work->violations.failed || work->warnings.failed || work->scratch.failed)
        work->failed = true;
}

// ---- Writing --------------------------------------------------------------------------------

// A version that is not the stored one is a condition that failed, if nothing else is wrong.
static bool refuse(const struct guard_work *work, struct error *error)
{
    struct slice entity = work->plan->entity->name;
    if (!work->stale || work->violations.count > 1)
        return model_report_refuse(&work->violations, "Entity", entity, error);
    (void)model_report_refuse(&work->violations, "The conditional request failed: Entity", entity,
                              error);
    if (error->code == ERR_VALIDATION)
        error->code = ERR_CONDITIONAL_CHECK_FAILED;
    return false;
}

// Whether an item comes to have null where only the key of an index can stand.
static bool has_nulls(const struct guard_entity *plan, struct slice item, struct slice before)
{
    for (size_t i = 0; i < plan->native.count; i++) {
        const struct guard_slot *slot = &plan->slots[plan->native.slots[i]];
        struct slice value = value_get(item, slot->name);
        if (value.len > 0 && model_is_absent(slot->attribute, value) &&
            (before.len == 0 || !slice_equal(value, value_get(before, slot->name))))
            return true;
    }
    return false;
}

// All that `warn` changes of an item: null cannot be stored as the key of an index, and what the
// model accepts has to pass.
static bool pass_nulls(const struct guard_entity *plan, const struct env *env, struct arena *arena,
                       struct model_check *check, struct slice before, struct slice *item,
                       struct error *error)
{
    struct guard_work work;
    if (!has_nulls(plan, *item, before))
        return true;
    if (!work_init(&work, plan, env, arena, check))
        return error_budget(error);
    work_load(&work, *item, work.values, true);
    memcpy(work.sent, work.values, plan->slot_count * sizeof(*work.sent));
    work_nulls(&work);
    struct slice made = work.failed ? VALUE_NONE : work_store(&work, *item);
    work_release(&work);
    if (made.ptr == NULL)
        return error_budget(error);
    *item = made;
    return true;
}

// What comes of a completed write, by the entity's mode.
static bool conclude(const struct model_guard *guard, struct guard_write *write,
                     struct guard_work *work, struct error *error)
{
    bool wrong = work->violations.count > 0;
    bool enforced = work->plan->entity->guard == MODEL_ENFORCE;
    if (check_over(work->check))
        return false;
    if (work->failed)
        return error_budget(error);
    if (wrong && enforced && (!write->touch || (work->derived && work->bound)))
        return refuse(work, error);
    if (!guard_warn_report(write, work->plan->entity, &work->violations, false, error) ||
        !guard_warn_report(write, work->plan->entity, &work->warnings, true, error))
        return false;
    if (!enforced)
        return pass_nulls(work->plan, write->env, write->arena, work->check, write->before,
                          &write->after, error) &&
               guard_give_back(guard, write, work->check, error);
    if (!wrong) {
        write->after = work_store(work, write->after);
        if (write->after.ptr == NULL)
            return error_budget(error);
    }
    return guard_claim_values(guard, work->plan, write, work->check, error);
}

// Whether an attribute of a put comes to the same whether the item is new or replaces one: nothing
// of the old one is kept, and nothing that each write renews is still what it was.
static bool slot_settled(const struct guard_slot *slot, struct slice old, struct slice sent,
                         struct slice settled)
{
    const struct model_attribute *attribute = slot->attribute;
    if (attribute->version)
        return old.len == 0;
    if (attribute->counted && old.len > 0)
        return slice_equal(old, settled);
    if (attribute->on_update && old.len > 0 && slice_equal(old, settled))
        return false;
    if (attribute->immutable && old.len > 0 && !model_is_absent(attribute, old))
        return slice_equal(old, settled);
    if (settled.len == 0 || attribute->on_update || slice_equal(sent, settled))
        return true;
    return sent.len == 0 && !attribute->optional && (old.len == 0 || slice_equal(old, settled));
}

// The same for all of them, if defaults were taken: the images are walked beside each other.
static bool walk_settled(const struct guard_entity *plan, const struct guard_write *write)
{
    struct value_walk old;
    struct value_walk sent;
    struct value_walk settled;
    value_walk_init(&old, write->before);
    value_walk_init(&sent, write->after);
    value_walk_init(&settled, write->settled.item);
    for (size_t i = 0; i < plan->watched.count; i++) {
        const struct guard_slot *slot = &plan->slots[plan->watched.slots[i]];
        if (!slot_settled(slot, value_walk_to(&old, slot->name), value_walk_to(&sent, slot->name),
                          value_walk_to(&settled, slot->name)))
            return false;
    }
    return true;
}

// And if none were taken: then only a few attributes can have a say.
static bool look_settled(const struct guard_entity *plan, const struct guard_write *write)
{
    for (size_t i = 0; i < plan->renewed.count; i++) {
        const struct guard_slot *slot = &plan->slots[plan->renewed.slots[i]];
        struct slice settled = value_get(write->settled.item, slot->name);
        if (!slot_settled(slot, value_get(write->before, slot->name), settled, settled))
            return false;
    }
    return true;
}

// Whether a put comes to what was expected when it was prepared.
static bool stays_settled(const struct guard_entity *plan, const struct guard_write *write)
{
    if (write->settled.item.len == 0 || (plan->rules != NULL && write->before.len > 0))
        return false;
    return write->before.len == 0 ||
           (write->settled.whole ? look_settled(plan, write) : walk_settled(plan, write));
}

// Whether an update leaves an item what it is; under `warn`, that it does not is told.
static bool keeps_entity(const struct model_guard *guard, struct guard_write *write,
                         struct model_check *check, const struct model_entity *now,
                         struct error *error)
{
    if (write->is_put || write->touch || write->before.len == 0)
        return true;
    const struct model_entity *was =
        model_recognise_within(check, guard->table, write->before).entity;
    if (was == NULL || was == now || check_over(check))
        return !check_over(check);
    struct model_report report;
    struct model_pointer at = {.name = guard->table->type_attribute};
    const char *reason = " (an update does not change the entity)";
    model_report_init(&report, write->arena);
    if (at.name.len > 0)
        model_report_value(&report, &at, plan_of(guard, was)->type_value, reason,
                           value_get(write->after, at.name));
    else
        model_report_addf(&report, NULL, plan_of(guard, now)->name_value,
                          "an item of entity %.*s%s", SLICE_FMT(was->name), reason);
    return was->guard == MODEL_ENFORCE ? model_report_refuse(&report, "Entity", was->name, error)
                                       : guard_warn_report(write, was, &report, false, error);
}

// What a write says of itself.
static void work_describe(struct guard_work *work, const struct guard_write *write)
{
    work->occasion = write->touch ? GUARD_TOUCH : GUARD_WRITE;
    work->is_put = write->is_put;
    work->batch = write->batch;
    work->restored = write->restored;
    work->touch = write->touch && !write->derived;
    work->derived = write->derived;
    if (write->origin != NULL) {
        work->scope.actor = write->origin->principal;
        work->scope.operation = write->origin->operation;
    }
}

// ---- Removing -------------------------------------------------------------------------------

// A delete becomes an update that says when the item was deleted. Whatever else is wrong with the
// item does not keep it from that.
static bool soften(const struct model_guard *guard, struct guard_write *write,
                   struct guard_work *work, struct error *error)
{
    uint16_t slot = work->plan->rules->softdelete;
    const struct model_attribute *attribute = work->plan->slots[slot].attribute;
    load(work, write->before, write->before);
    work_set(work, slot, model_time_value(env_now(write->env), attribute->type, write->arena));
    complete(work);
    if (check_over(work->check))
        return false;
    struct slice made =
        work->failed || work->scratch.failed ? VALUE_NONE : work_store(work, write->before);
    if (made.ptr == NULL)
        return error_budget(error);
    write->after = made;
    return guard_claim_values(guard, work->plan, write, work->check, error);
}

// An item that may not go, or that is only marked as gone.
static bool remove_kept(const struct model_guard *guard, struct guard_write *write,
                        struct guard_work *work, struct error *error)
{
    const struct model_entity *entity = work->plan->entity;
    bool enforced = entity->guard == MODEL_ENFORCE;
    if (entity->append_only && !write->derived) {
        work_report_removal(work);
        if (enforced)
            return refuse(work, error);
        if (!guard_warn_report(write, entity, &work->violations, false, error))
            return false;
    }
    if (!enforced || entity->softdelete == NULL)
        return guard_give_back(guard, write, work->check, error);
    if (!model_item_deleted(entity, write->before))
        return soften(guard, write, work, error);
    write->after = write->before;
    return true;
}

static bool write_removal(const struct model_guard *guard, struct guard_write *write,
                          struct model_check *check, struct error *error)
{
    const struct model_entity *entity =
        model_recognise_within(check, guard->table, write->before).entity;
    if (check_over(check))
        return false;
    if (entity == NULL || entity->guard == MODEL_OFF || plan_of(guard, entity)->rules == NULL)
        return guard_give_back(guard, write, check, error);
    struct guard_work work;
    if (!work_init(&work, plan_of(guard, entity), write->env, write->arena, check))
        return error_budget(error);
    work_describe(&work, write);
    work.fresh = false;
    bool done = remove_kept(guard, write, &work, error);
    work_release(&work);
    return done;
}

// ---- All writes -----------------------------------------------------------------------------

static bool write_within(const struct model_guard *guard, struct guard_write *write,
                         struct model_check *check, struct error *error)
{
    if (guard->kept && !guard_kept_allows(guard, write, check, error))
        return false;
    if (write->after.len == 0)
        return guard->keeps && !write->for_good ? write_removal(guard, write, check, error)
                                                : guard_give_back(guard, write, check, error);
    struct model_recognition now = model_recognise_within(check, guard->table, write->after);
    if (check_over(check))
        return false;
    if (now.entity == NULL)
        return guard_write_unmatched(guard, write, &now, error) &&
               guard_give_back(guard, write, check, error);
    if (now.entity->guard == MODEL_OFF)
        return guard_give_back(guard, write, check, error);
    if (!keeps_entity(guard, write, check, now.entity, error))
        return false;
    const struct guard_entity *plan = plan_of(guard, now.entity);
    if (stays_settled(plan, write)) {
        write->after = write->settled.item;
        return guard_claim_values(guard, plan, write, check, error);
    }
    struct guard_work work;
    if (!work_init(&work, plan, write->env, write->arena, check))
        return error_budget(error);
    work_describe(&work, write);
    // What is unknown is reported by the writer only; of what is settled nothing is.
    work.prepared = write->prepared && now.entity->guard == MODEL_ENFORCE &&
                    (now.entity->unknown != MODEL_REPORT || write->settled.item.len > 0);
    work.fresh = guard_is_fresh(guard, plan, write, check);
    if (now.entity->append_only && !work.fresh)
        work.occasion = GUARD_TOUCH; // nothing is set again
    complete_and_judge(&work, write->after, write->before);
    bool done = conclude(guard, write, &work, error);
    work_release(&work);
    return done;
}

static bool guard_write(const struct guard *base, struct guard_write *write, struct error *error)
{
    struct model_check check;
    struct slice sent = write->after;
    check_begin(&check, write->steps);
    bool done = write_within(guard_of(base), write, &check, error);
    enum check_end end = check_end(&check, write->steps);
    if (end == CHECK_DONE)
        return done;
    // Whatever was said was said too early.
    error_init(error, error->arena);
    write->after = sent;
    write->claim_count = 0;
    write->release_count = 0;
    write->warnings = slice_of(NULL, 0);
    write->details = NULL;
    if (end == CHECK_LATER)
        return false;
    return write->touch ? guard_warn(write, slice_str(check_too_much), error)
                        : error_validation(error, "%s", check_too_much);
}

// Whether the client gave all that a default could give, and objects were whole.
static bool is_whole(const struct guard_work *work)
{
    const struct guard_list *watched = &work->plan->watched;
    for (size_t i = 0; i < watched->count; i++) {
        uint16_t slot = watched->slots[i];
        const struct guard_slot *meta = &work->plan->slots[slot];
        if (!meta->attribute->version &&
            (work->sent[slot].len == 0) != (work->values[slot].len == 0))
            return false;
        if (meta->nested && !slice_equal(work->sent[slot], work->values[slot]))
            return false;
    }
    return true;
}

static void settle_rules(struct guard_work *work)
{
    if (work->plan->rules == NULL)
        return;
    work_computed(work);
    work_quotas(work);
}

// What a completed put comes to if it is new: all that was left to the writer is done here. What is
// unknown is reported by the writer alone. Work that leads nowhere is not counted: whoever comes
// close to the limit is judged as before.
static struct guard_settled settle(struct guard_work *work, struct slice sent, struct slice made)
{
    const struct guard_entity *plan = work->plan;
    struct guard_settled out = {.item = VALUE_NONE};
    // A version that was sent is for the writer, who knows whether this is one of a batch.
    if (work->warnings.count > 0 || plan->asks ||
        (plan->version != GUARD_NO_SLOT && work->sent[plan->version].len > 0))
        return out;
    struct steps before = work->check->steps;
    bool changed;
    work->occasion = GUARD_WRITE;
    work->prepared = true;
    if (plan->deferred || plan->rules != NULL) {
        work_objects(work);
        work_defaults(work);
        if (plan->tallies.count > 0)
            work_tallies(work);
        set_version(work);
        settle_rules(work);
        judge_all(work);
    }
    bool settled = work_settle_keys(work, &changed);
    if (plan->rules != NULL)
        work_judge_rules(work, sent, VALUE_NONE);
    settled = settled && work->violations.count == 0;
    out.whole = is_whole(work);
    changed = changed || plan->deferred || plan->rules != NULL;
    out.item = settled && changed ? work_store(work, sent) : made;
    if (settled && !check_over(work->check))
        return out;
    work->check->steps = before;
    return (struct guard_settled){.item = VALUE_NONE};
}

static bool prepare_within(const struct model_guard *guard, const struct env *env,
                           struct arena *arena, struct model_check *check, struct slice *item,
                           struct guard_settled *settled, struct error *error)
{
    struct model_recognition found = model_recognise_within(check, guard->table, *item);
    if (check_over(check))
        return false;
    if (found.entity == NULL)
        return !guard_is_refused(guard->table, &found) ||
               guard_refuse_unmatched(guard->table, &found, *item, error);
    const struct guard_entity *plan = plan_of(guard, found.entity);
    if (found.entity->guard != MODEL_ENFORCE)
        return found.entity->guard == MODEL_OFF ||
               pass_nulls(plan, env, arena, check, VALUE_NONE, item, error);
    struct guard_work work;
    if (!work_init(&work, plan, env, arena, check))
        return error_budget(error);
    work.occasion = GUARD_PREPARE;
    work.is_put = true;
    complete_and_judge(&work, *item, VALUE_NONE);
    bool done = false;
    if (check_over(check)) {
        done = false;
    } else if (work.failed) {
        (void)error_budget(error);
    } else if (work.violations.count > 0) {
        (void)model_report_refuse(&work.violations, "Entity", found.entity->name, error);
    } else {
        struct slice made = work_store(&work, *item);
        done = made.ptr != NULL || error_budget(error);
        if (done) {
            *settled = settle(&work, *item, made);
            *item = made;
        }
    }
    work_release(&work);
    return done;
}

bool model_guard_prepare(const struct guard *base, const struct env *env, struct arena *arena,
                         struct steps *steps, struct slice *item, struct guard_settled *settled,
                         struct error *error)
{
    struct model_check check;
    struct slice sent = *item;
    *settled = (struct guard_settled){.item = VALUE_NONE};
    check_begin(&check, steps);
    bool done = prepare_within(guard_of(base), env, arena, &check, item, settled, error);
    enum check_end end = check_end(&check, steps);
    if (end == CHECK_DONE)
        return done;
    error_init(error, error->arena);
    *item = sent;
    *settled = (struct guard_settled){.item = VALUE_NONE};
    return end == CHECK_LATER ? false : error_validation(error, "%s", check_too_much);
}

bool guard_complete_new(const struct guard_entity *plan, const struct env *env, struct arena *arena,
                        struct model_check *check, struct slice *item, struct error *error)
{
    struct guard_work work;
    if (!work_init(&work, plan, env, arena, check))
        return error_budget(error);
    work.occasion = GUARD_PREPARE;
    work.is_put = true;
    work.derived = true;
    load(&work, *item, VALUE_NONE);
    complete(&work);
    bool done = false;
    if (check_over(check))
        done = false;
    else if (work.failed || work.scratch.failed || work.violations.failed)
        (void)error_budget(error);
    else if (work.violations.count > 0)
        (void)model_report_refuse(&work.violations, "Entity", plan->entity->name, error);
    else
        done = (*item = work_store(&work, *item)).ptr != NULL || error_budget(error);
    work_release(&work);
    return done;
}

// ---- Judging what is stored -----------------------------------------------------------------

static void judge_forms(struct guard_work *work)
{
    const struct guard_entity *plan = work->plan;
    for (size_t i = 0; i < plan->normal.count; i++) {
        uint16_t slot = plan->normal.slots[i];
        struct slice normal = work_normal(work, i);
        if (normal.len > 0 && !slice_equal(normal, work->values[slot]))
            report_because(work, plan->slots[slot].name, normal, "", work->values[slot]);
    }
    if (plan->type != GUARD_NO_SLOT && work->values[plan->type].len == 0)
        report_because(work, plan->slots[plan->type].name, plan->type_value, "", VALUE_NONE);
}

static struct model_violations *judge_within(const struct model_guard *guard, struct arena *arena,
                                             struct model_check *check, struct slice item)
{
    struct model_recognition found = model_recognise_within(check, guard->table, item);
    if (found.entity == NULL && found.doubt != MODEL_AMBIGUOUS &&
        guard->table->unmatched != MODEL_REJECT)
        return arena_zalloc(arena, 1, sizeof(struct model_violations));
    if (found.entity == NULL)
        return guard_unmatched_details(guard->table, &found, item, arena);
    struct guard_work work;
    if (!work_init(&work, plan_of(guard, found.entity), NULL, arena, check))
        return NULL;
    work.occasion = GUARD_JUDGE;
    work_load(&work, item, work.values, true);
    memcpy(work.sent, work.values, work.plan->slot_count * sizeof(*work.sent));
    judge_forms(&work);
    work_primary_key(&work);
    work_index_keys(&work);
    judge_all(&work);
    if (work.plan->rules != NULL)
        work_judge_stored(&work);
    work_release(&work);
    return work.failed ? NULL : model_report_details(&work.violations, found.entity->name);
}

struct model_violations *model_guard_judge(const struct guard *base, struct arena *arena,
                                           struct slice item)
{
    struct model_check check;
    check_begin(&check, NULL);
    struct model_violations *found = judge_within(guard_of(base), arena, &check, item);
    if (check_end(&check, NULL) == CHECK_DONE)
        return found;
    return guard_whole_item(SLICE_LIT("an item that can be checked"),
                            SLICE_LIT("one that takes too much work"), arena);
}

// ---- Life -----------------------------------------------------------------------------------

static enum guard_access guard_tenant(const struct guard *base, struct slice tenant,
                                      struct slice key)
{
    return tenant_access(guard_of(base)->table, tenant, key);
}

static bool guard_reaches(const struct guard *base, struct slice tenant, struct slice index,
                          const struct slice *hash)
{
    const struct model_table *table = guard_of(base)->table;
    const struct model_index *found = index.len == 0 ? NULL : model_table_index(table, index);
    return (index.len > 0 && found == NULL) || tenant_reaches(table, tenant, found, hash);
}

static void guard_free(struct guard *base)
{
    struct model_guard *guard = (struct model_guard *)base;
    arena_release(&guard->arena);
    model_release(guard->model);
    free(guard);
}

static const struct guard_ops model_guard_ops = {
    .write = guard_write,
    .taken = guard_taken,
    .effects = guard_effects,
    .affect = guard_affect,
    .counts = guard_counts_in,
    .knows = guard_knows,
    .feeds = guard_feeds,
    .outsiders = guard_outsiders_in,
    .access = guard_tenant,
    .reaches = guard_reaches,
    .sight = guard_sees,
    .permit = guard_permits,
    .free = guard_free,
};

struct guard *model_guard_new(struct model *model, const struct model_table *table)
{
    struct model_guard *guard = calloc(1, sizeof(*guard));
    if (guard == NULL)
        return NULL;
    guard->guard.ops = &model_guard_ops;
    guard->guard.references = 1;
    guard->model = model_hold(model);
    guard->table = table;
    guard->guard.tenants = tenant_rules(table);
    guard->guard.looks = table->entity_count;
    guard->account.budget = model->account.budget;
    arena_init_counted(&guard->arena, GUARD_MEMORY, &guard->account, BUDGET_MODELS);
    struct guard_entity *entities =
        arena_zalloc(&guard->arena, table->entity_count + 1, sizeof(*entities));
    bool made = entities != NULL && guard_fill_outsiders(guard);
    for (size_t i = 0; made && i < table->entity_count; i++) {
        made = guard_compile(&guard->arena, &table->entities[i], &entities[i]);
        guard->keeps =
            guard->keeps || table->entities[i].append_only || table->entities[i].softdelete != NULL;
        size_t claims = entities[i].unique_count + (entities[i].idempotent != NULL);
        if (claims > guard->guard.claims)
            guard->guard.claims = claims;
    }
    guard->entities = entities;
    made = made && permit_compile(table, &guard->arena, &guard->permits);
    guard->guard.policies = guard->permits != NULL;
    if (!made || !guard_compile_follows(guard)) {
        guard_free(&guard->guard);
        return NULL;
    }
    return &guard->guard;
}
