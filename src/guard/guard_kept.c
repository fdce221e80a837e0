// What is the server's, and not the clients' to write: attributes that are counted, and items that
// rules make.
#include "guard/guard_internal.h"

#include "guard/entity.h"
#include "model/rules.h"

// A client may leave a count out, or send the one that is there. A new item begins at zero: what
// was counted before it was there comes next (effects.c). What a batch brings may be an export of
// this table, whose counts were right where they were made: they are dropped.
static void set_tally(struct guard_work *work, uint16_t slot)
{
    const struct model_attribute *attribute = work->plan->slots[slot].attribute;
    struct slice sent = work->sent[slot];
    struct slice old = work->fresh ? VALUE_NONE : work->old[slot];
    // What a quota has counted cannot be counted again from what is there: it is brought back.
    bool keeps = work->derived || work->occasion == GUARD_TOUCH ||
                 (work->restored && attribute->tally == NULL);
    if (keeps && work->values[slot].len > 0)
        return;
    if (old.len == 0 || model_is_absent(attribute, old))
        old = model_integer(work->arena, 0);
    if (old.ptr == NULL) {
        work->failed = true;
        return;
    }
    if (!keeps && !work->batch && sent.len > 0 && !model_is_absent(attribute, sent) &&
        !slice_equal(sent, old)) {
        struct model_pointer at = {.name = attribute->name};
        model_report_value(&work->violations, &at, old, " (the server counts it)", sent);
    }
    work->values[slot] = old;
}

void work_tallies(struct guard_work *work)
{
    const struct guard_list *list = &work->plan->tallies;
    for (size_t i = 0; work->occasion != GUARD_PREPARE && i < list->count; i++)
        set_tally(work, list->slots[i]);
}

// ---- Items ----------------------------------------------------------------------------------

// The rule that makes the entity's items, or NULL.
static const struct model_made *maker_of(const struct model_entity *entity)
{
    const struct model_rules *rules = entity->table->model->rules_of;
    for (size_t i = 0; i < rules->made_count; i++)
        if (rules->made[i].target == entity && rules->made[i].by != MODEL_EMIT)
            return &rules->made[i];
    return NULL;
}

static bool refuse_kept(const struct model_entity *entity, struct error *error)
{
    const struct model_made *made = maker_of(entity);
    struct model_report report;
    model_report_init(&report, error->arena);
    if (made != NULL)
        model_report_addf(&report, NULL, VALUE_NONE,
                          "no write by clients (the server makes its items: %s %s%.*s; \"dolmen "
                          "import --restore\" brings an export back)",
                          made->by == MODEL_AUDIT ? "audit" : "derive",
                          made->by == MODEL_AUDIT ? "" : "from ", SLICE_FMT(made->source->name));
    else
        model_report_addf(&report, NULL, VALUE_NONE,
                          "no write by clients (the server makes its items)");
    return model_report_refuse(&report, "Entity", entity->name, error);
}

bool guard_kept_allows(const struct model_guard *guard, const struct guard_write *write,
                       struct model_check *check, struct error *error)
{
    bool same = write->after.len > 0 && slice_equal(write->before, write->after);
    if (write->derived || write->touch || write->for_good || write->restored || same)
        return true;
    const struct slice images[] = {write->after, write->before};
    for (size_t i = 0; i < COUNT_OF(images); i++) {
        if (images[i].len == 0)
            continue;
        const struct model_entity *entity =
            model_recognise_within(check, guard->table, images[i]).entity;
        if (check_over(check))
            return false;
        if (entity != NULL && entity->kept && entity->guard == MODEL_ENFORCE)
            return refuse_kept(entity, error);
    }
    return true;
}
