// Doing to an item what an effect says: see effects.h. The item may be of another table, whose own
// guard completes what is made here.
#include "guard/effects.h"

#include "guard/entity.h"
#include "guard/tenant.h"
#include "value/number.h"

static struct slice none(void)
{
    return VALUE_NONE;
}

// ---- Numbers --------------------------------------------------------------------------------

// Adds to a number, where nothing is zero.
static bool sum(const struct model_tally *tally, struct arena *arena, struct slice value,
                struct slice more, struct slice *out, struct error *error)
{
    uint8_t stored[NUMBER_BYTES_MAX];
    uint8_t zero[NUMBER_BYTES_MAX];
    size_t zero_len = number_from_i64(0, zero);
    size_t len;
    bool number = value.len > 0 && value.ptr[0] == VALUE_TAG_N;
    struct slice old = number ? value_bytes(value) : slice_of(zero, zero_len);
    if (number_add(old, value_bytes(more), stored, &len) != NUMBER_OK)
        return error_validation(error, "%.*s: the sum has more than 38 digits",
                                SLICE_FMT(tally->id));
    *out = model_number(arena, slice_of(stored, len));
    return out->ptr != NULL || error_budget(error);
}

static bool add_to_note(const struct model_tally *tally, const struct guard_effect *effect,
                        struct guard_affected *affected, struct error *error)
{
    if (!sum(tally, affected->arena, affected->note, effect->value, &affected->note, error))
        return false;
    if (effect_is_zero(value_bytes(affected->note)))
        affected->note = none();
    return true;
}

static bool count(const struct model_tally *tally, const struct guard_effect *effect,
                  struct guard_affected *affected, struct model_check *check, struct error *error)
{
    struct slice value;
    if (!effect_is(check, tally->target, affected->item))
        return add_to_note(tally, effect, affected, error);
    return sum(tally, affected->arena, value_get(affected->item, tally->attribute->name),
               effect->value, &value, error) &&
           effect_with(affected->arena, affected->item, tally->attribute->name, value,
                       &affected->item, error);
}

// What was counted while there was no item. Without a note, an item that has the attribute has it
// right: it is new, and the guard has begun at zero.
static bool collect(const struct model_tally *tally, const struct guard_effect *effect,
                    struct guard_affected *affected, struct model_check *check, struct error *error)
{
    (void)effect;
    if (!effect_is(check, tally->target, affected->item))
        return true;
    struct slice value = affected->note;
    if (value.len == 0)
        value = model_integer(affected->arena, 0);
    if (value.ptr == NULL)
        return error_budget(error);
    affected->note = none();
    return slice_equal(value, value_get(affected->item, tally->attribute->name)) ||
           effect_with(affected->arena, affected->item, tally->attribute->name, value,
                       &affected->item, error);
}

// ---- References -----------------------------------------------------------------------------

bool effect_hidden(const struct model_table *table, const struct write_origin *origin,
                   struct slice key)
{
    return origin != NULL && origin->bound && tenant_rules(table) &&
           tenant_access(table, origin->tenant, key) < GUARD_SHARED;
}

bool effect_missing(const struct model_reference *reference, struct slice value,
                    struct error *error)
{
    struct model_report report;
    struct model_pointer at = {.name = reference->attributes[reference->count - 1]->name};
    model_report_init(&report, error->arena);
    struct slice target = reference->target->name;
    bool vowel = memchr("AEIOaeio", target.ptr[0], 8) != NULL; // a User
    model_report_addf(&report, &at, value, "%s %.*s that exists", vowel ? "an" : "a",
                      SLICE_FMT(target));
    return model_report_refuse(&report, "Entity", reference->entity->name, error);
}

static bool there(const struct model_reference *reference, const struct guard_effect *effect,
                  const struct guard_affected *affected, struct model_check *check,
                  struct error *error)
{
    if (effect_is(check, reference->target, affected->item) &&
        effect_live(reference->target, affected->item).len > 0)
        return true;
    return effect_missing(reference, effect->value, error);
}

// Whether the item refers to the one that goes.
static bool refers(const struct model_reference *reference, struct slice item, struct slice values)
{
    for (size_t i = 0; i < reference->count; i++) {
        struct slice name = reference->attributes[i]->name;
        if (!slice_equal(value_get(item, name), value_get(values, name)))
            return false;
    }
    return true;
}

static bool reject(const struct model_reference *reference, const struct guard_affected *affected,
                   struct error *error)
{
    struct buf text;
    buf_init(&text, 8 << 10);
    buf_printf(&text,
               "Entity %.*s: the item cannot be deleted, because an item of %.*s refers to "
               "it:",
               SLICE_FMT(reference->target->name), SLICE_FMT(reference->entity->name));
    const struct key_schema *keys = &reference->entity->table->keys;
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        buf_printf(&text, "%s %.*s ", i == 0 ? "" : ",", SLICE_FMT(keys->parts[i].name));
        model_literal_text(value_get(affected->item, keys->parts[i].name), &text);
    }
    bool done = error_validation(error, "%.*s", SLICE_FMT(buf_view(&text)));
    buf_release(&text);
    return done;
}

// The attributes go; what must be there becomes null.
static bool clear(const struct model_reference *reference, struct guard_affected *affected,
                  struct error *error)
{
    for (size_t i = 0; i < reference->count; i++) {
        const struct model_attribute *attribute = reference->attributes[i];
        static const uint8_t null_bytes[] = {VALUE_TAG_NULL};
        struct slice value = attribute->optional ? none() : slice_of(null_bytes, 1);
        if (!attribute->optional && !model_type_has(attribute->type, MODEL_NULL))
            continue; // it makes the key of what it refers to only together with the others
        if (!effect_with(affected->arena, affected->item, attribute->name, value, &affected->item,
                         error))
            return false;
    }
    return true;
}

static bool gone(const struct model_reference *reference, const struct guard_effect *effect,
                 struct guard_affected *affected, struct model_check *check, struct error *error)
{
    if (!effect_is(check, reference->entity, affected->item) ||
        effect_live(reference->entity, affected->item).len == 0 ||
        !refers(reference, affected->item, effect->value))
        return true;
    switch (reference->on_delete) {
    case MODEL_DELETE_REJECT:
        // Whoever may not know of it is not told of it.
        return effect_hidden(reference->entity->table, affected->origin, affected->item) ||
               reject(reference, affected, error);
    case MODEL_DELETE_CASCADE:
        affected->item = none();
        return true;
    case MODEL_DELETE_CLEAR:
        return clear(reference, affected, error);
    case MODEL_DELETE_LEAVE:
        break;
    }
    return true;
}

// ---- Items ----------------------------------------------------------------------------------

static bool has_all(struct slice item, struct slice attributes)
{
    struct value_iter iter;
    if (item.len == 0)
        return false;
    value_iter_init(&iter, attributes);
    while (value_iter_next(&iter))
        if (!slice_equal(value_get(item, iter.name), iter.value))
            return false;
    return true;
}

// Whether the item is the source of one that is derived.
static bool is_source(const struct guard *guard, const struct guard_effect *effect,
                      struct guard_affected *affected, struct model_check *check,
                      struct error *error)
{
    const struct model_made *made = effect->rule;
    const struct guard_change change = {.before = VALUE_NONE,
                                        .after = affected->item,
                                        .origin = affected->origin,
                                        .env = affected->env,
                                        .arena = affected->arena};
    const struct effect_work work = {.guard = guard_of(guard),
                                     .change = &change,
                                     .check = check,
                                     .error = error,
                                     .entity = made->source};
    bool implied = false;
    if (effect_is(check, made->source, affected->item) &&
        !effect_implies(&work, made, affected->item, effect->value, &implied))
        return false;
    affected->orphan = !implied;
    return true;
}

// ---- All of them ----------------------------------------------------------------------------

static bool act(const struct guard *guard, const struct guard_effect *effect,
                struct guard_affected *affected, struct model_check *check, struct error *error)
{
    switch ((enum effect_act)effect->act) {
    case EFFECT_PUT:
        affected->item = effect->value;
        affected->put = true;
        return true;
    case EFFECT_ENSURE:
        if (has_all(affected->item, effect->value))
            return true;
        affected->item = effect->value;
        affected->put = true;
        return true;
    case EFFECT_REMOVE:
        affected->item = none();
        affected->for_good = true;
        return true;
    case EFFECT_COUNT:
        return count(effect->rule, effect, affected, check, error);
    case EFFECT_COLLECT:
        return collect(effect->rule, effect, affected, check, error);
    case EFFECT_LEAVE:
        return add_to_note(effect->rule, effect, affected, error);
    case EFFECT_NEED:
        return there(effect->rule, effect, affected, check, error);
    case EFFECT_GONE:
        return gone(effect->rule, effect, affected, check, error);
    case EFFECT_SOURCE:
        return is_source(guard, effect, affected, check, error);
    }
    return true;
}

bool guard_affect(const struct guard *base, const struct guard_effect *effect,
                  struct guard_affected *affected, struct error *error)
{
    struct model_check check;
    check_begin(&check, NULL);
    bool done = act(base, effect, affected, &check, error);
    if (check_end(&check, NULL) == CHECK_DONE)
        return done;
    error_init(error, error->arena);
    return error_validation(error, "%s", check_too_much);
}
