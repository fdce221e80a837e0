// Finding the rules that concern each entity of a table: see effects.h. A rule holds if the
// entities it is about are enforced.
#include "guard/effects.h"

#include "eval/eval.h"

struct finding {
    struct model_guard *guard;
    const struct model_entity *entity;
    struct guard_follows *out;
    bool failed;
};

static bool is_enforced(const struct model_entity *entity)
{
    return entity->guard == MODEL_ENFORCE;
}

// The target, compiled: an entity of this table is already.
static const struct guard_entity *target_plan(struct finding *finding,
                                              const struct model_entity *target)
{
    if (target->table == finding->guard->table)
        return plan_of(finding->guard, target);
    struct guard_entity *plan = arena_zalloc(&finding->guard->arena, 1, sizeof(*plan));
    if (plan == NULL || !guard_compile(&finding->guard->arena, target, plan)) {
        finding->failed = true;
        return NULL;
    }
    return plan;
}

static void find_made(struct finding *finding, const struct model_rules *rules)
{
    struct arena *arena = &finding->guard->arena;
    struct guard_maker_rule *derives = arena_zalloc(arena, rules->made_count + 1, sizeof(*derives));
    struct guard_maker_rule *events = arena_zalloc(arena, rules->made_count + 1, sizeof(*events));
    finding->failed = finding->failed || derives == NULL || events == NULL;
    for (size_t i = 0; !finding->failed && i < rules->made_count; i++) {
        const struct model_made *made = &rules->made[i];
        if (made->source != finding->entity || !is_enforced(made->target))
            continue;
        struct guard_maker_rule rule = {made, target_plan(finding, made->target)};
        if (made->by == MODEL_DERIVE)
            derives[finding->out->derive_count++] = rule;
        else
            events[finding->out->event_count++] = rule;
    }
    finding->out->derives = derives;
    finding->out->events = events;
}

// The attribute of the target's key that has this one of the source as it is; NULL if none has.
static const struct model_attribute *same_in_target(const struct model_made *made,
                                                    const struct model_address *target,
                                                    const struct model_attribute *attribute)
{
    for (size_t i = 0; i < made->assignment_count; i++) {
        const struct model_attribute *to = made->assignments[i].attribute;
        const struct model_expr *value = made->assignments[i].value;
        if (value->kind == MODEL_EXPR_PATH && value->attribute == attribute &&
            value->step_count == 1 &&
            model_kind_wanted(to->type) == model_kind_wanted(attribute->type) &&
            (to->normal == 0 || to->normal == attribute->normal) &&
            model_address_find(target, to->name) < target->count)
            return to;
    }
    return NULL;
}

// How the source of a derived item is found; not at all if its key cannot be read out of the
// item's.
static void find_origin(struct finding *finding, const struct model_made *made)
{
    struct model_address source;
    struct model_address target;
    struct guard_origin_rule *origin = arena_zalloc(&finding->guard->arena, 1, sizeof(*origin));
    finding->failed = finding->failed || origin == NULL;
    if (finding->failed)
        return;
    model_address(made->source, &source);
    model_address(made->target, &target);
    origin->made = made;
    for (size_t i = 0; i < source.count; i++) {
        const struct model_attribute *to = source.parts[i].attribute;
        const struct model_attribute *from =
            to == NULL || source.parts[i].optional ? NULL : same_in_target(made, &target, to);
        if (from == NULL)
            return;
        origin->pairs[origin->count++] = (struct effect_pair){from, to};
    }
    finding->out->origin = origin;
}

static void find_origins(struct finding *finding, const struct model_rules *rules)
{
    for (size_t i = 0; i < rules->made_count; i++) {
        const struct model_made *made = &rules->made[i];
        if (made->by == MODEL_DERIVE && made->target == finding->entity &&
            is_enforced(made->source))
            find_origin(finding, made);
    }
}

static void add_tally(struct finding *finding, const struct model_tally *tally)
{
    if (!is_enforced(tally->source) || !is_enforced(tally->target))
        return;
    for (size_t i = 0; i < finding->out->source_count; i++)
        if (finding->out->sources[i] == tally)
            return;
    if (tally->source == finding->entity)
        finding->out->sources[finding->out->source_count++] = tally;
    for (size_t i = 0; i < finding->out->target_count; i++)
        if (finding->out->targets[i] == tally)
            return;
    if (tally->target == finding->entity)
        finding->out->targets[finding->out->target_count++] = tally;
}

// Those of attributes, and those that quotas count by.
static void find_tallies(struct finding *finding, const struct model_rules *rules)
{
    struct arena *arena = &finding->guard->arena;
    size_t most = rules->tally_count + rules->quota_count + 1;
    finding->out->sources = arena_zalloc(arena, most, sizeof(const struct model_tally *));
    finding->out->targets = arena_zalloc(arena, most, sizeof(const struct model_tally *));
    finding->failed =
        finding->failed || finding->out->sources == NULL || finding->out->targets == NULL;
    for (size_t i = 0; !finding->failed && i < rules->tally_count; i++)
        add_tally(finding, rules->tallies[i]);
    for (size_t i = 0; !finding->failed && i < rules->quota_count; i++)
        if (rules->quotas[i].counting != NULL)
            add_tally(finding, rules->quotas[i].counting);
}

static void find_references(struct finding *finding, const struct model_rules *rules)
{
    struct arena *arena = &finding->guard->arena;
    size_t most = rules->reference_count + 1;
    struct guard_follows *out = finding->out;
    out->references = arena_zalloc(arena, most, sizeof(const struct model_reference *));
    out->referred = arena_zalloc(arena, most, sizeof(const struct model_reference *));
    finding->failed = finding->failed || out->references == NULL || out->referred == NULL;
    for (size_t i = 0; !finding->failed && i < rules->reference_count; i++) {
        const struct model_reference *reference = rules->references[i];
        if (!is_enforced(reference->entity))
            continue;
        if (reference->entity == finding->entity)
            out->references[out->reference_count++] = reference;
        if (reference->target == finding->entity && reference->on_delete <= MODEL_DELETE_CLEAR)
            out->referred[out->referred_count++] = reference;
    }
}

// What a tally does, in words that another one does not have.
static struct slice tally_text(struct arena *arena, const struct model_tally *tally)
{
    struct buf text;
    buf_init(&text, 64 << 10);
    buf_printf(&text, "%.*s of %.*s.%.*s", SLICE_FMT(tally->text),
               SLICE_FMT(tally->source->table->name), SLICE_FMT(tally->source->name));
    if (tally->source->softdelete != NULL)
        buf_printf(&text, " softdelete %.*s", SLICE_FMT(tally->source->softdelete->name));
    for (size_t i = 0; i < tally->join_count; i++)
        buf_printf(&text, " %.*s=%.*s", SLICE_FMT(tally->joins[i].source->name),
                   SLICE_FMT(tally->joins[i].target->name));
    for (size_t i = 0; i < COUNT_OF(tally->target->keys); i++)
        if (tally->target->keys[i].template != NULL)
            buf_printf(&text, " %.*s", SLICE_FMT(tally->target->keys[i].template->source));
    struct slice copy = text.failed ? slice_of(NULL, 0) : arena_copy(arena, buf_view(&text));
    buf_release(&text);
    return copy;
}

// What is counted into items of the table, but for what only counts that items come.
static bool list_counts(struct model_guard *guard, const struct guard_follows *follows)
{
    size_t most = 0;
    for (size_t i = 0; i < guard->table->entity_count; i++)
        most += follows[i].target_count;
    struct guard_count *counts = arena_zalloc(&guard->arena, most + 1, sizeof(*counts));
    guard->counts = counts;
    for (size_t i = 0; counts != NULL && i < guard->table->entity_count; i++) {
        for (size_t k = 0; k < follows[i].target_count; k++) {
            const struct model_tally *tally = follows[i].targets[k];
            if (tally->inserts)
                continue;
            struct guard_count *count = &counts[guard->count_count++];
            *count = (struct guard_count){tally->id, tally_text(&guard->arena, tally),
                                          tally->source->table->name};
            if (count->as.ptr == NULL)
                return false;
        }
    }
    return counts != NULL;
}

bool guard_knows(const struct guard *base, struct slice table)
{
    return model_table(guard_of(base)->model, table) != NULL;
}

bool guard_feeds(const struct guard *base, struct slice table, struct slice rule)
{
    const struct model_guard *guard = guard_of(base);
    for (size_t i = 0; i < guard->table->entity_count; i++) {
        const struct guard_follows *follows = &guard->follows[i];
        for (size_t k = 0; k < follows->source_count; k++)
            if (slice_equal(follows->sources[k]->id, rule) &&
                slice_equal(follows->sources[k]->target->table->name, table))
                return true;
    }
    return false;
}

size_t guard_counts_in(const struct guard *base, const struct guard_count **list)
{
    *list = guard_of(base)->counts;
    return guard_of(base)->count_count;
}

static bool has_any(const struct guard_follows *follows)
{
    return follows->derive_count + follows->event_count + follows->source_count +
                   follows->target_count + follows->reference_count + follows->referred_count >
               0 ||
           follows->origin != NULL;
}

bool guard_compile_follows(struct model_guard *guard)
{
    const struct model_table *table = guard->table;
    const struct model_rules *rules = guard->model->rules_of;
    struct guard_follows *follows =
        arena_zalloc(&guard->arena, table->entity_count + 1, sizeof(*follows));
    bool any = false;
    if (follows == NULL)
        return false;
    for (size_t i = 0; i < table->entity_count; i++) {
        struct finding finding = {
            .guard = guard, .entity = &table->entities[i], .out = &follows[i]};
        guard->kept = guard->kept || (table->entities[i].kept && is_enforced(&table->entities[i]));
        if (!is_enforced(finding.entity))
            continue;
        find_made(&finding, rules);
        find_origins(&finding, rules);
        find_tallies(&finding, rules);
        find_references(&finding, rules);
        if (finding.failed)
            return false;
        any = any || has_any(&follows[i]);
        guard->guard.notes = guard->guard.notes || follows[i].target_count > 0;
    }
    guard->guard.effects = any;
    guard->follows = follows;
    return list_counts(guard, follows);
}
