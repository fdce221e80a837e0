// A small guard over tables "t" and "p":
//   an item of t with `parent` counts in item (parent, "x") of p: `count`; with `size`, `total`
//   an item of t with `emit` leaves one in t: (E#pk, emit), with what it was and is
//   an item of t with `need` wants item (need, "x") of p to be there
//   removing an item of p with `cascade` removes the items of t whose g is its key
//   an item of t with `source` must not be without item (source, "x") of p: a touch removes it
//   an item of t with `endless` leads to one more, and so on
//   items of t and p claim their `email`
// Counts of parents that are not there are notes.
#ifndef TESTS_ENGINE_EFFECTS_GUARD_H
#define TESTS_ENGINE_EFFECTS_GUARD_H

#include "engine/support.h"

#include "engine/engine_internal.h"

enum act {
    ACT_COUNT,
    ACT_COLLECT,
    ACT_LEAVE,
    ACT_EMIT,
    ACT_NEED,
    ACT_REMOVE,
    ACT_CHAIN,
    ACT_SOURCE
};

static int64_t number_at(struct slice item, const char *name)
{
    struct slice value = item.len == 0 ? VALUE_NONE : value_get(item, slice_str(name));
    int64_t number = 0;
    if (value.len > 0)
        assert_true(number_to_i64(value_bytes(value), &number));
    return number;
}

static struct slice number_value(struct arena *arena, int64_t number)
{
    uint8_t stored[NUMBER_BYTES_MAX];
    struct value_maker maker;
    size_t len = number_from_i64(number, stored);
    value_begin(&maker, 256);
    value_put_number(&maker.b, slice_of(stored, len));
    return value_end(&maker, arena);
}

static struct slice with(struct arena *arena, struct slice item, const char *name,
                         struct slice value)
{
    struct value_maker maker;
    struct value_iter iter;
    value_begin(&maker, 1 << 20);
    value_open_map(&maker.b);
    value_iter_init(&iter, item);
    while (value_iter_next(&iter)) {
        if (slice_is(iter.name, name))
            continue;
        value_name(&maker.b, iter.name);
        value_put(&maker.b, iter.value);
    }
    if (value.len > 0) {
        value_name(&maker.b, slice_str(name));
        value_put(&maker.b, value);
    }
    return value_end(&maker, arena);
}

static struct slice string_value(struct arena *arena, struct slice text)
{
    struct value_maker maker;
    value_begin(&maker, 1 << 16);
    value_put_string(&maker.b, text);
    return value_end(&maker, arena);
}

static struct slice key_of(struct arena *arena, struct slice pk, const char *sk)
{
    struct value_maker maker;
    value_begin(&maker, 1 << 16);
    value_open_map(&maker.b);
    value_name(&maker.b, SLICE_LIT("pk"));
    value_put_string(&maker.b, pk);
    value_name(&maker.b, SLICE_LIT("sk"));
    value_put_string(&maker.b, slice_str(sk));
    return value_end(&maker, arena);
}

static bool claim_email(struct arena *arena, struct slice item, size_t *count,
                        struct guard_claim **list)
{
    struct slice email = item.len == 0 ? VALUE_NONE : value_get(item, SLICE_LIT("email"));
    if (email.len == 0)
        return true;
    *list = arena_zalloc(arena, 1, sizeof(**list));
    **list = (struct guard_claim){arena_copy(arena, email), SLICE_LIT("email"), email, 0};
    *count = 1;
    return true;
}

struct fake {
    struct guard guard; // first
    bool parents;
    bool limited; // a parent has five children at most
};

static bool fake_write(const struct guard *guard, struct guard_write *write, struct error *error)
{
    bool limited = ((const struct fake *)guard)->limited;
    if (!write->derived && write->before.len > 0 && write->after.len > 0)
        write->after =
            with(write->arena, write->after, "count", value_get(write->before, SLICE_LIT("count")));
    if (limited && number_at(write->after, "count") > 5)
        return error_validation(error, "too many");
    return claim_email(write->arena, write->after, &write->claim_count, &write->claims) &&
           claim_email(write->arena, write->before, &write->release_count, &write->releases);
}

static struct slice text_at(struct slice item, const char *name)
{
    struct slice value = item.len == 0 ? VALUE_NONE : value_get(item, slice_str(name));
    return value.len == 0 ? value : value_bytes(value);
}

static struct guard_effect *add(const struct guard_change *change, struct guard_effects *out,
                                const char *table, enum act act, struct slice pk, const char *sk)
{
    struct guard_effect *effect = guard_effect_add(out, change->arena);
    assert_non_null(effect);
    effect->table = slice_str(table);
    effect->act = act;
    effect->key = key_of(change->arena, pk, sk);
    effect->what = SLICE_LIT("something");
    return effect;
}

static struct slice note_of(const struct guard_change *change, struct slice parent)
{
    char *name = arena_printf(change->arena, "count%c%.*s", 0, SLICE_FMT(parent));
    return slice_of(name, 6 + parent.len);
}

static void contribute(const struct guard_change *change, struct guard_effects *out,
                       struct slice item, int64_t sign)
{
    struct slice parent = text_at(item, "parent");
    if (parent.len == 0)
        return;
    struct guard_effect *effect = add(change, out, "p", ACT_COUNT, parent, "x");
    effect->note = note_of(change, parent);
    effect->pending = SLICE_LIT("count");
    effect->value = number_value(change->arena, sign);
}

static void child_steps(const struct guard_change *change, struct guard_effects *out)
{
    contribute(change, out, change->before, -1);
    contribute(change, out, change->after, 1);
    struct slice need = text_at(change->after, "need");
    if (need.len > 0)
        add(change, out, "p", ACT_NEED, need, "x")->needs = true;
    int64_t endless = number_at(change->after, "endless");
    if (endless > 0) {
        char *sk = arena_printf(change->arena, "%lld", (long long)endless);
        struct guard_effect *effect =
            add(change, out, "t", ACT_CHAIN, text_at(change->after, "pk"), sk);
        effect->value = number_value(change->arena, endless + 1);
    }
    int64_t wide = number_at(change->after, "wide");
    for (int64_t i = 0; i < wide; i++) {
        char *sk = arena_printf(change->arena, "w%lld", (long long)i);
        (void)add(change, out, "t", ACT_EMIT, text_at(change->after, "pk"), sk);
    }
}

static void parent_steps(const struct guard_change *change, struct guard_effects *out)
{
    struct slice image = change->before.len > 0 ? change->before : change->after;
    struct slice pk = text_at(image, "pk");
    if ((change->before.len == 0) != (change->after.len == 0)) {
        bool comes = change->before.len == 0;
        struct guard_effect *effect =
            add(change, out, "p", comes ? ACT_COLLECT : ACT_LEAVE, pk, "x");
        effect->own = true;
        effect->pending = SLICE_LIT("count");
        effect->note = note_of(change, pk);
        effect->value = value_get(image, SLICE_LIT("count"));
    }
    if (change->after.len == 0 && text_at(change->before, "cascade").len > 0) {
        struct guard_effect *effect = add(change, out, "t", ACT_REMOVE, pk, "x");
        struct key_range *range = arena_zalloc(change->arena, 1, sizeof(*range));
        range->hash[0] = string_value(change->arena, pk);
        effect->range = range;
        effect->index = SLICE_LIT("byG");
        effect->value = range->hash[0];
    }
}

static void ask_source(const struct guard_change *change, struct guard_effects *out)
{
    struct slice source = text_at(change->after, "source");
    if (source.len == 0)
        return;
    struct guard_effect *effect = add(change, out, "p", ACT_SOURCE, source, "x");
    effect->asks = true;
    effect->value = key_of(change->arena, text_at(change->after, "pk"), "1");
}

static bool fake_effects(const struct guard *guard, const struct guard_change *change,
                         enum guard_moment moment, struct guard_effects *out, struct error *error)
{
    (void)error;
    if (moment == EFFECTS_STEP && ((const struct fake *)guard)->parents)
        parent_steps(change, out);
    else if (moment == EFFECTS_STEP)
        child_steps(change, out);
    else if (moment == EFFECTS_AGAIN)
        ask_source(change, out);
    else if (text_at(change->after, "emit").len > 0)
        (void)add(change, out, "t", ACT_EMIT,
                  slice_str(arena_printf(change->arena, "E#%.*s",
                                         SLICE_FMT(text_at(change->after, "pk")))),
                  "1");
    return true;
}

static int64_t value_number(struct slice value)
{
    int64_t number = 0;
    if (value.len > 0)
        assert_true(number_to_i64(value_bytes(value), &number));
    return number;
}

static void add_to_note(struct guard_affected *affected, int64_t number)
{
    int64_t sum = value_number(affected->note) + number;
    affected->note = sum == 0 ? VALUE_NONE : number_value(affected->arena, sum);
}

static bool fake_affect(const struct guard *guard, const struct guard_effect *effect,
                        struct guard_affected *affected, struct error *error)
{
    (void)guard;
    struct arena *arena = affected->arena;
    switch ((enum act)effect->act) {
    case ACT_SOURCE:
        affected->orphan = affected->item.len == 0;
        return true;
    case ACT_COUNT:
        if (affected->item.len == 0)
            add_to_note(affected, value_number(effect->value));
        else
            affected->item = with(arena, affected->item, "count",
                                  number_value(arena, number_at(affected->item, "count") +
                                                          value_number(effect->value)));
        return true;
    case ACT_COLLECT:
        affected->item =
            with(arena, affected->item, "count", number_value(arena, value_number(affected->note)));
        affected->note = VALUE_NONE;
        return true;
    case ACT_LEAVE:
        add_to_note(affected, value_number(effect->value));
        return true;
    case ACT_EMIT:
        affected->item = with(arena, effect->key, "event", number_value(arena, 1));
        affected->put = true;
        return true;
    case ACT_NEED:
        return affected->item.len > 0 || error_validation(error, "it is not there");
    case ACT_REMOVE:
        if (affected->item.len > 0 &&
            slice_equal(value_get(affected->item, SLICE_LIT("g")), effect->value))
            affected->item = VALUE_NONE;
        return true;
    case ACT_CHAIN:
        affected->item = with(arena, effect->key, "endless", effect->value);
        affected->put = true;
        return true;
    }
    return false;
}

static const struct guard_count parent_count = {
    {(const uint8_t *)"count", 5}, {(const uint8_t *)"of children", 11}, {(const uint8_t *)"t", 1}};

static size_t fake_counts(const struct guard *guard, const struct guard_count **list)
{
    *list = &parent_count;
    return ((const struct fake *)guard)->parents ? 1 : 0;
}

static void fake_free(struct guard *guard)
{
    free(guard);
}

static const struct guard_ops fake_ops = {.write = fake_write,
                                          .effects = fake_effects,
                                          .affect = fake_affect,
                                          .counts = fake_counts,
                                          .free = fake_free};

static struct guard *fake_guard(void *context, struct engine *engine, const struct table *table)
{
    (void)engine;
    struct fake *fake = calloc(1, sizeof(*fake));
    assert_non_null(fake);
    fake->guard = (struct guard){.ops = &fake_ops, .claims = 1, .effects = true};
    fake->guard.references = 1;
    fake->parents = slice_is(table->name, "p");
    fake->guard.notes = fake->parents;
    fake->limited = context == NULL;
    return &fake->guard;
}

#endif
