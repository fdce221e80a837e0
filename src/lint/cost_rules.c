// What rules make of a write: items that are written besides, counters that change, items that are
// looked at. In units of their own, as one adds them to those of the write.
#include "lint/cost.h"
#include "lint/lint_internal.h"

#include "model/rules.h"
#include "value/number.h"

enum { MEMBERS = 4 }; // of a list of which nothing is known

// How many items `derive … from each` makes: half of what the list may have, or a few.
static uint64_t members_of(const struct model_attribute *each)
{
    int64_t most = 0;
    if (each == NULL)
        return 1;
    if (each->type->max.len == 0 || !number_to_i64(each->type->max, &most) || most < 2)
        return MEMBERS;
    return most / 2 < MEMBERS ? (uint64_t)most / 2 : MEMBERS;
}

static void add(struct cost_rules *out, struct cost_rule rule)
{
    if (out->count < COST_RULES_MAX)
        out->list[out->count++] = rule;
}

static void add_made(const struct model_made *made, struct cost_rules *out)
{
    static const char *const words[] = {
        [MODEL_EMIT] = "emit", [MODEL_AUDIT] = "audit", [MODEL_DERIVE] = "derive"};
    struct cost_write item;
    uint64_t times = members_of(made->each);
    cost_entity_write(made->target, 0, &item);
    add(out, (struct cost_rule){.what = words[made->by],
                                .entity = made->target,
                                .times = times,
                                .size = item.size,
                                .writes = times * item.put});
}

static void add_tally(const struct model_tally *tally, struct cost_rules *out)
{
    struct cost_write item;
    cost_entity_write(tally->target, 0, &item);
    add(out, (struct cost_rule){.what = tally->amount == NULL ? "count" : "sum",
                                .entity = tally->target,
                                .attribute = tally->attribute,
                                .times = 1,
                                .size = item.size,
                                .writes = cost_attribute_change(&item, tally->attribute)});
}

void cost_entity_rules(const struct model_entity *entity, struct cost_rules *out)
{
    const struct model_rules *rules = entity->table->model->rules_of;
    out->count = 0;
    for (size_t i = 0; i < rules->made_count; i++) {
        if (rules->made[i].source == entity)
            add_made(&rules->made[i], out);
    }
    for (size_t i = 0; i < rules->tally_count; i++) {
        if (rules->tallies[i]->source == entity)
            add_tally(rules->tallies[i], out);
    }
    for (size_t i = 0; i < entity->reference_count; i++) {
        size_t size = cost_entity_size(entity->references[i].target);
        add(out, (struct cost_rule){.what = "reference",
                                    .entity = entity->references[i].target,
                                    .times = 1,
                                    .size = size,
                                    .reads = (size + 4095) / 4096});
    }
}
