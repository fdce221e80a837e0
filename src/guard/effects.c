// Naming what follows from a change: see effects.h.
//
// A step is looked at as the difference of what both images imply, so that it does not matter how
// an item came to be what it is: each tally, each item that is derived, each reference is made for
// the image before and for the one after, and what differs is named. An image that is of another
// entity than the other implies nothing for it.
#include "guard/effects.h"

#include "base/hash.h"
#include "eval/test.h"
#include "guard/entity.h"
#include "value/number.h"

enum { STEPS_RULE = 50 };

static struct guard_effect *add(const struct effect_work *work, enum effect_act act,
                                const struct model_entity *target, const void *rule)
{
    struct guard_effect *effect = guard_effect_add(work->out, work->change->arena);
    if (effect == NULL) {
        (void)error_budget(work->error);
        return NULL;
    }
    steps_add(&work->check->steps, STEPS_RULE);
    effect->act = act;
    effect->table = target->table->name;
    effect->rule = rule;
    return effect;
}

struct model_scope effect_scope(const struct effect_work *work, struct slice image)
{
    const struct guard_change *change = work->change;
    struct model_scope scope = {.item = image,
                                .before = change->before,
                                .env = change->env,
                                .arena = change->arena,
                                .steps = &work->check->steps};
    if (change->origin != NULL) {
        scope.actor = change->origin->principal;
        scope.operation = change->origin->operation;
    }
    return scope;
}

static bool holds_since(const struct effect_work *work, const struct model_test *test,
                        struct slice image, struct slice before, bool *answer)
{
    struct model_scope scope = effect_scope(work, image);
    scope.before = before;
    *answer = test == NULL;
    if (test == NULL)
        return true;
    enum test_answer answered = model_test_when(test, &scope);
    *answer = answered == TEST_YES;
    return answered != TEST_BUDGET || error_budget(work->error);
}

static bool holds(const struct effect_work *work, const struct model_test *test, struct slice image,
                  bool *answer)
{
    return holds_since(work, test, image, work->change->before, answer);
}

// ---- Tallies --------------------------------------------------------------------------------

// What one image of a source counts, and where.
struct share {
    struct slice key; // of the target, bare; VALUE_NONE if it counts nowhere
    uint8_t amount[NUMBER_BYTES_MAX];
    size_t len;
};

static bool share_of(const struct effect_work *work, const struct model_tally *tally,
                     struct slice image, struct share *share)
{
    bool counts;
    struct slice amount = VALUE_NONE;
    share->key = VALUE_NONE;
    if (image.len == 0)
        return true;
    if (!holds(work, tally->filter, image, &counts))
        return false;
    if (!counts)
        return true;
    share->len = number_from_i64(1, share->amount);
    if (tally->amount != NULL) {
        amount = value_get(image, tally->amount->name);
        if (amount.len == 0 || amount.ptr[0] != VALUE_TAG_N)
            return true;
        struct slice stored = value_bytes(amount);
        memcpy(share->amount, stored.ptr, stored.len);
        share->len = stored.len;
    }
    struct effect_pair pairs[MODEL_ADDRESS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < tally->join_count && count < COUNT_OF(pairs); i++)
        pairs[count++] = (struct effect_pair){tally->joins[i].source, tally->joins[i].target};
    return effect_key(work->change->arena, tally->target, pairs, count, image, &share->key,
                      work->error);
}

// The rule and the key: the name of the number that stands in for the item.
static bool note_name(struct arena *arena, const struct model_tally *tally, struct slice key,
                      struct slice *name, struct error *error)
{
    size_t len = tally->id.len + 1 + key.len;
    uint8_t *bytes = arena_alloc(arena, len);
    if (bytes == NULL)
        return error_budget(error);
    memcpy(bytes, tally->id.ptr, tally->id.len);
    bytes[tally->id.len] = 0;
    memcpy(bytes + tally->id.len + 1, key.ptr, key.len);
    *name = slice_of(bytes, len);
    return true;
}

static bool add_tally(const struct effect_work *work, enum effect_act act,
                      const struct model_tally *tally, struct slice key, struct slice value)
{
    struct guard_effect *effect = add(work, act, tally->target, tally);
    if (effect == NULL)
        return false;
    effect->key = key;
    effect->own = act != EFFECT_COUNT;
    effect->value = value;
    effect->pending = tally->inserts ? slice_of(NULL, 0) : tally->id;
    effect->what = tally->id;
    return note_name(work->change->arena, tally, key, &effect->note, work->error);
}

static bool add_share(const struct effect_work *work, const struct model_tally *tally,
                      struct slice key, struct slice stored)
{
    if (effect_is_zero(stored))
        return true;
    struct slice value = model_number(work->change->arena, stored);
    return value.ptr == NULL ? error_budget(work->error)
                             : add_tally(work, EFFECT_COUNT, tally, key, value);
}

// The difference, in one effect if both count in the same item.
static bool count_step(const struct effect_work *work, const struct model_tally *tally)
{
    struct share old;
    struct share new;
    if (tally->inserts && (work->gone.len > 0 || work->change->restored))
        return true;
    if (!share_of(work, tally, work->gone, &old) || !share_of(work, tally, work->here, &new))
        return false;
    uint8_t minus[NUMBER_BYTES_MAX];
    uint8_t zero[NUMBER_BYTES_MAX];
    size_t minus_len = 0;
    size_t zero_len = number_from_i64(0, zero);
    if (old.key.len > 0) {
        struct slice from = slice_of(zero, zero_len);
        bool both = new.key.len > 0 && slice_equal(old.key, new.key);
        if (both)
            from = slice_of(new.amount, new.len);
        if (number_subtract(from, slice_of(old.amount, old.len), minus, &minus_len) != NUMBER_OK)
            return error_validation(work->error, "%.*s: the numbers to be added are too far apart",
                                    SLICE_FMT(tally->id));
        if (!add_share(work, tally, old.key, slice_of(minus, minus_len)) || both)
            return both && work->error->code == ERR_NONE;
    }
    return new.key.len == 0 || add_share(work, tally, new.key, slice_of(new.amount, new.len));
}

// ---- Items that come and go -----------------------------------------------------------------

static bool bare_key(const struct effect_work *work, const struct model_table *table,
                     struct slice image, struct slice *key)
{
    struct value_maker maker;
    value_begin(&maker, LIMIT_ITEM_BYTES);
    value_open_map(&maker.b);
    for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count; i++) {
        value_name(&maker.b, table->keys.parts[i].name);
        value_put(&maker.b, value_get(image, table->keys.parts[i].name));
    }
    *key = value_end(&maker, work->change->arena);
    return key->ptr != NULL || error_budget(work->error);
}

// A new item takes what was counted before it was there; one that goes leaves it.
static bool keep_counts(const struct effect_work *work)
{
    const struct guard_follows *rules = work->rules;
    bool comes = work->before.len == 0;
    struct slice image = comes ? work->after : work->before;
    struct slice key;
    if (rules->target_count == 0 || comes == (work->after.len == 0))
        return true;
    if (!bare_key(work, work->entity->table, image, &key))
        return false;
    for (size_t i = 0; i < rules->target_count; i++) {
        const struct model_tally *tally = rules->targets[i];
        if (tally->inserts && work->change->restored)
            continue; // the item has its count
        struct slice value = value_get(image, tally->attribute->name);
        if (!comes &&
            (value.len == 0 || value.ptr[0] != VALUE_TAG_N || effect_is_zero(value_bytes(value))))
            continue;
        if (!add_tally(work, comes ? EFFECT_COLLECT : EFFECT_LEAVE, tally, key, value))
            return false;
    }
    return true;
}

// ---- References -----------------------------------------------------------------------------

// What a reference of an image names, by the target's attributes; VALUE_NONE if nothing.
static bool referred_key(const struct effect_work *work, const struct model_reference *reference,
                         struct slice image, struct slice *key)
{
    struct effect_pair pairs[MODEL_ADDRESS_MAX];
    size_t count = 0;
    *key = VALUE_NONE;
    if (image.len == 0)
        return true;
    for (size_t i = 0; i < reference->count && count < COUNT_OF(pairs); i++)
        pairs[count++] = (struct effect_pair){reference->attributes[i], reference->keys[i]};
    return effect_key(work->change->arena, reference->target, pairs, count, image, key,
                      work->error);
}

static bool need(const struct effect_work *work, const struct model_reference *reference)
{
    struct slice old;
    struct slice new;
    if (work->here.len == 0 || work->change->restored)
        return true;
    if (!referred_key(work, reference, work->gone, &old) ||
        !referred_key(work, reference, work->here, &new))
        return false;
    if (new.len == 0 || (old.len > 0 && slice_equal(old, new)))
        return true;
    struct slice value = value_get(work->here, reference->attributes[reference->count - 1]->name);
    // Nothing is looked up, so that the answer is the same whether it is there or not.
    if (effect_hidden(reference->target->table, work->change->origin, new))
        return effect_missing(reference, value, work->error);
    struct guard_effect *effect = add(work, EFFECT_NEED, reference->target, reference);
    if (effect == NULL)
        return false;
    effect->key = new;
    effect->needs = true;
    effect->lets_go = reference->on_delete == MODEL_DELETE_LEAVE;
    effect->value = value;
    effect->what = reference->target->name;
    return true;
}

static const char *on_delete_word(enum model_on_delete on_delete)
{
    return on_delete == MODEL_DELETE_REJECT    ? "reject"
           : on_delete == MODEL_DELETE_CASCADE ? "cascade"
                                               : "clear";
}

// An item goes that others may refer to.
static bool go(const struct effect_work *work, const struct model_reference *reference)
{
    struct key_range *range;
    struct slice values;
    if (!effect_range(work->change->arena, reference, work->gone, &range, &values, work->error))
        return false;
    if (range == NULL)
        return true;
    struct guard_effect *effect = add(work, EFFECT_GONE, reference->entity, reference);
    if (effect == NULL)
        return false;
    char *what =
        arena_printf(work->change->arena, "on delete %s of %.*s",
                     on_delete_word(reference->on_delete), SLICE_FMT(reference->entity->name));
    if (what == NULL)
        return error_budget(work->error);
    effect->range = range;
    effect->index = reference->index == NULL ? slice_of(NULL, 0) : reference->index->name;
    effect->value = values;
    effect->what = slice_str(what);
    return true;
}

// ---- Items that are derived -----------------------------------------------------------------

// What an image implies: items without keys, each once.
struct implied {
    size_t count;
    size_t mask;
    struct slice *slots; // by hash; empty ones have no bytes
    struct slice *list;
};

// False if it was there already.
static bool implied_enter(struct implied *set, struct slice item)
{
    size_t at = hash_of(0, item) & set->mask;
    for (; set->slots[at].len > 0; at = (at + 1) & set->mask)
        if (slice_equal(set->slots[at], item))
            return false;
    set->slots[at] = item;
    return true;
}

static bool implied_has(const struct implied *set, struct slice item)
{
    if (set->count == 0)
        return false;
    size_t at = hash_of(0, item) & set->mask;
    for (; set->slots[at].len > 0; at = (at + 1) & set->mask)
        if (slice_equal(set->slots[at], item))
            return true;
    return false;
}

static bool imply(const struct effect_work *work, const struct model_made *made, struct slice image,
                  struct slice each, struct implied *set)
{
    struct slice item;
    if (!effect_make(work, made, image, each, slice_of(NULL, 0), &item))
        return false;
    if (implied_enter(set, item))
        set->list[set->count++] = item;
    return true;
}

static size_t member_count(struct slice value)
{
    enum value_type type = value.len == 0 ? VALUE_NULL : value_type(value);
    bool many = type == VALUE_L || type == VALUE_SS || type == VALUE_NS || type == VALUE_BS;
    return many ? value_count(value) : 0;
}

// A member of a list or set, as a value.
static struct slice member_value(const struct value_iter *iter, struct arena *arena)
{
    struct value_maker maker;
    enum value_tag tag = iter->container == VALUE_NS   ? VALUE_TAG_N
                         : iter->container == VALUE_BS ? VALUE_TAG_B
                                                       : VALUE_TAG_S;
    if (iter->container == VALUE_L)
        return iter->value;
    value_begin(&maker, LIMIT_ITEM_BYTES);
    value_put_scalar(&maker.b, tag, iter->value);
    return value_end(&maker, arena);
}

static bool imply_all(const struct effect_work *work, const struct model_made *made,
                      struct slice image, struct implied *set)
{
    struct arena *arena = work->change->arena;
    bool holding;
    *set = (struct implied){.count = 0};
    if (image.len == 0)
        return true;
    if (!holds(work, made->when, image, &holding) || !holding)
        return work->error->code == ERR_NONE;
    struct slice members = made->each == NULL ? VALUE_NONE : value_get(image, made->each->name);
    size_t most = made->each == NULL ? 1 : member_count(members);
    if (most > LIMIT_EFFECTS)
        return error_validation(work->error,
                                "Entity %.*s: /%.*s: expected at most %d members, because there is "
                                "an item of %.*s for each",
                                SLICE_FMT(work->entity->name), SLICE_FMT(made->each->name),
                                LIMIT_EFFECTS, SLICE_FMT(made->target->name));
    size_t slots = 4;
    while (slots < 2 * most)
        slots *= 2;
    set->mask = slots - 1;
    set->slots = arena_zalloc(arena, slots, sizeof(*set->slots));
    set->list = arena_zalloc(arena, most + 1, sizeof(*set->list));
    if (set->slots == NULL || set->list == NULL)
        return error_budget(work->error);
    if (made->each == NULL)
        return imply(work, made, image, VALUE_NONE, set);
    struct value_iter iter;
    if (most > 0)
        value_iter_init(&iter, members);
    for (size_t i = 0; i < most && value_iter_next(&iter); i++) {
        struct slice member = member_value(&iter, arena);
        if (member.ptr == NULL)
            return error_budget(work->error);
        if (!imply(work, made, image, member, set))
            return false;
    }
    return true;
}

static bool add_made(const struct effect_work *work, const struct guard_maker_rule *rule,
                     struct slice item, enum effect_act act)
{
    struct slice key;
    if (!effect_complete(work, rule->target, &item, &key))
        return false;
    struct guard_effect *effect = add(work, act, rule->made->target, rule->made);
    if (effect == NULL)
        return false;
    effect->key = key;
    effect->value = item;
    effect->what = rule->made->target->name;
    return true;
}

// Those that only the old image implies go before those come that only the new one does: both may
// have the same key.
static bool derive(const struct effect_work *work, const struct guard_maker_rule *rule,
                   enum effect_act comes)
{
    struct implied old;
    struct implied new;
    if (!imply_all(work, rule->made, work->gone, &old) ||
        !imply_all(work, rule->made, work->here, &new))
        return false;
    for (size_t i = 0; i < old.count; i++)
        if (!implied_has(&new, old.list[i]) && !add_made(work, rule, old.list[i], EFFECT_REMOVE))
            return false;
    for (size_t i = 0; i < new.count; i++)
        if (!implied_has(&old, new.list[i]) && !add_made(work, rule, new.list[i], comes))
            return false;
    return true;
}

// ---- Events ---------------------------------------------------------------------------------

static const char *const event_words[] = {
    [MODEL_INSERT] = "insert", [MODEL_MODIFY] = "modify", [MODEL_REMOVE] = "remove"};

// The name of the event: as the rule says, or what happened.
static bool event_name(const struct effect_work *work, const struct model_made *made,
                       unsigned event, struct slice image, struct slice *name)
{
    *name = slice_str(event_words[event]);
    if (made->name == NULL)
        return true;
    struct buf text;
    struct model_scope scope = effect_scope(work, image);
    buf_init(&text, LIMIT_ITEM_SIZE);
    enum eval_status status = model_template_render(made->name, &scope, &text);
    *name = arena_copy(work->change->arena, buf_view(&text));
    buf_release(&text);
    if (status == EVAL_BUDGET || name->ptr == NULL)
        return error_budget(work->error);
    if (status != EVAL_OK)
        *name = made->name->source; // a part of it is not there: the event has the rule's own text
    return true;
}

// What was told of the item by the rule when it was another; NULL if nothing was.
static const struct guard_effect *told_by(const struct effect_work *work,
                                          const struct model_made *made)
{
    const struct guard_effects *told = work->change->told;
    for (size_t i = 0; told != NULL && i < told->count; i++)
        if (told->list[i].rule == made && told->list[i].act == EFFECT_PUT)
            return &told->list[i];
    return NULL;
}

static bool take_back(const struct effect_work *work, const struct model_made *made,
                      const struct guard_effect *told)
{
    struct guard_effect *effect =
        told == NULL ? NULL : add(work, EFFECT_REMOVE, made->target, made);
    if (effect == NULL)
        return told == NULL;
    effect->key = told->key;
    effect->what = made->target->name;
    return true;
}

// The item of an event; one that was told before stays what it is, but for what the rule says.
static bool add_event(const struct effect_work *work, const struct guard_maker_rule *rule,
                      struct slice item, const struct guard_effect *told)
{
    if (told == NULL)
        return add_made(work, rule, item, EFFECT_PUT);
    if (!effect_remake(work, rule->made, told->value, &item) ||
        !add_made(work, rule, item, EFFECT_PUT))
        return false;
    return slice_equal(work->out->list[work->out->count - 1].key, told->key) ||
           take_back(work, rule->made, told);
}

static bool tell(const struct effect_work *work, const struct guard_maker_rule *rule,
                 unsigned event)
{
    const struct model_made *made = rule->made;
    const struct guard_effect *told = told_by(work, made);
    struct slice image = work->after.len > 0 ? work->after : work->before;
    struct slice name;
    struct slice item;
    bool holding;
    // Of an item that comes or goes, everything has changed.
    struct slice before = event == MODEL_MODIFY ? work->before : VALUE_NONE;
    if (!(made->events & event))
        return take_back(work, made, told);
    if (!holds_since(work, made->when, image, before, &holding))
        return false;
    if (!holding)
        return take_back(work, made, told);
    return event_name(work, made, event, image, &name) &&
           effect_make(work, made, image, VALUE_NONE, name, &item) &&
           add_event(work, rule, item, told);
}

static bool tell_events(const struct effect_work *work)
{
    if ((work->gone.len == 0 && work->here.len == 0) || work->change->restored)
        return true;
    unsigned event = work->gone.len == 0   ? MODEL_INSERT
                     : work->here.len == 0 ? MODEL_REMOVE
                                           : MODEL_MODIFY;
    if (slice_equal(work->before, work->after))
        event = 0; // it is what it was: what was told in between is taken back
    for (size_t i = 0; i < work->rules->event_count; i++)
        if (!tell(work, &work->rules->events[i], event))
            return false;
    return true;
}

// ---- A change -------------------------------------------------------------------------------

static bool step(const struct effect_work *work)
{
    const struct guard_follows *rules = work->rules;
    bool fine = keep_counts(work);
    for (size_t i = 0; fine && i < rules->source_count; i++)
        fine = count_step(work, rules->sources[i]);
    for (size_t i = 0; fine && i < rules->derive_count; i++)
        fine = derive(work, &rules->derives[i], EFFECT_PUT);
    for (size_t i = 0; fine && i < rules->reference_count; i++)
        fine = need(work, rules->references[i]);
    bool goes = work->gone.len > 0 && work->here.len == 0;
    for (size_t i = 0; fine && goes && i < rules->referred_count; i++)
        fine = go(work, rules->referred[i]);
    return fine;
}

bool effect_implies(const struct effect_work *work, const struct model_made *made,
                    struct slice image, struct slice key, bool *answer)
{
    struct implied set;
    *answer = false;
    if (!imply_all(work, made, effect_live(made->source, image), &set))
        return false;
    for (size_t i = 0; !*answer && i < set.count; i++) {
        struct slice item = set.list[i];
        struct slice one;
        if (!effect_complete(work, plan_of(work->guard, made->target), &item, &one))
            return false;
        *answer = slice_equal(one, key);
    }
    return true;
}

// An item that is derived has to have a source; one whose key names none goes at once.
static bool ask_source(const struct effect_work *work)
{
    const struct guard_origin_rule *origin = work->rules->origin;
    struct slice key;
    struct slice source;
    if (origin == NULL || work->here.len == 0)
        return true;
    const struct model_made *made = origin->made;
    if (!bare_key(work, work->entity->table, work->here, &key) ||
        !effect_key(work->change->arena, made->source, origin->pairs, origin->count, work->here,
                    &source, work->error))
        return false;
    bool named = source.len > 0;
    struct guard_effect *effect =
        add(work, named ? EFFECT_SOURCE : EFFECT_REMOVE, named ? made->source : made->target, made);
    if (effect == NULL)
        return false;
    effect->key = named ? source : key;
    effect->value = key;
    effect->own = !named;
    effect->asks = named;
    effect->what = made->target->name;
    return true;
}

// What an item implies that may not be there, and what has to imply it.
static bool again(const struct effect_work *work)
{
    bool fine = ask_source(work);
    for (size_t i = 0; fine && i < work->rules->derive_count; i++)
        fine = derive(work, &work->rules->derives[i], EFFECT_ENSURE);
    return fine;
}

// What follows for one entity, which one of the images or both are of.
static bool follow(struct effect_work *work, const struct model_entity *entity, struct slice before,
                   struct slice after, enum guard_moment moment)
{
    const struct model_guard *guard = work->guard;
    if (entity == NULL || entity->guard != MODEL_ENFORCE)
        return true;
    work->entity = entity;
    work->rules = &guard->follows[entity - guard->table->entities];
    work->before = before;
    work->after = after;
    work->gone = effect_live(entity, before);
    work->here = effect_live(entity, after);
    switch (moment) {
    case EFFECTS_STEP:
        return step(work);
    case EFFECTS_END:
        return tell_events(work);
    case EFFECTS_AGAIN:
        return again(work);
    }
    return true;
}

static bool follow_all(struct effect_work *work, enum guard_moment moment)
{
    const struct guard_change *change = work->change;
    const struct model_table *table = work->guard->table;
    const struct model_entity *was = NULL;
    const struct model_entity *is = NULL;
    if (change->before.len > 0)
        was = model_recognise_within(work->check, table, change->before).entity;
    if (change->after.len > 0)
        is = model_recognise_within(work->check, table, change->after).entity;
    if (check_over(work->check))
        return false;
    if (was == is)
        return follow(work, is, change->before, change->after, moment);
    return follow(work, was, change->before, VALUE_NONE, moment) &&
           follow(work, is, VALUE_NONE, change->after, moment);
}

bool guard_effects(const struct guard *base, const struct guard_change *change,
                   enum guard_moment moment, struct guard_effects *out, struct error *error)
{
    struct model_check check;
    struct effect_work work = {
        .guard = guard_of(base), .change = change, .out = out, .check = &check, .error = error};
    check_begin(&check, change->steps);
    bool done = follow_all(&work, moment);
    enum check_end end = check_end(&check, change->steps);
    if (end == CHECK_DONE)
        return done;
    error_init(error, error->arena);
    return end == CHECK_LATER ? false : error_validation(error, "%s", check_too_much);
}

bool model_guard_derives(const struct guard *base, struct slice item)
{
    const struct model_guard *guard = guard_of(base);
    const struct model_entity *entity = model_recognise(guard->table, item).entity;
    const struct guard_follows *follows =
        entity == NULL ? NULL : &guard->follows[entity - guard->table->entities];
    return follows != NULL && (follows->derive_count > 0 || follows->origin != NULL);
}
