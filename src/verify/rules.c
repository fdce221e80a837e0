// What follows from items by the rules of a guard (engine/effects.c): numbers that are counted from
// other items, items that are derived from others, and references.
//
// A table is read on one snapshot. The items that a rule counts are walked, and what each adds is
// summed up by the name of the note that stands in for the item it counts for; then each item of
// the table, and each note, must have that sum. Memory is bounded: if there are more sums than fit,
// only those of a part of all names are made in one walk.
#include "verify/verify_internal.h"

#include "base/hash.h"
#include "value/number.h"

#include <stdlib.h>

enum { SUMS = 1 << 17, PARTS_MAX = 1 << 12 };

struct sum {
    uint64_t hash; // of the name; 0 for none
    bool seen;     // an item or a note has it
    uint8_t len;
    uint8_t number[NUMBER_BYTES_MAX];
};

// The check of one table.
struct rules {
    struct verifier *v;
    struct view view;
    struct tally *tally;
    struct guard *guard;
    uint64_t parts; // of all names, of which
    uint64_t part;  // this one is looked at
    bool full;
    size_t count;
    struct sum *sums;
};

// ---- Sums -------------------------------------------------------------------------------------

static struct sum *sum_of(struct rules *rules, struct slice name)
{
    uint64_t hash = hash_of(0x5eed, name) | 1;
    if ((hash >> 1) % rules->parts != rules->part)
        return NULL;
    size_t at = (size_t)(hash >> 13) & (SUMS - 1);
    while (rules->sums[at].hash != 0 && rules->sums[at].hash != hash)
        at = (at + 1) & (SUMS - 1);
    if (rules->sums[at].hash == 0) {
        rules->full = rules->full || 2 * ++rules->count > SUMS;
        rules->sums[at] = (struct sum){.hash = hash};
        rules->sums[at].len = (uint8_t)number_from_i64(0, rules->sums[at].number);
    }
    return &rules->sums[at];
}

static void add(struct sum *sum, struct slice stored)
{
    uint8_t out[NUMBER_BYTES_MAX];
    size_t len;
    if (number_add(slice_of(sum->number, sum->len), stored, out, &len) != NUMBER_OK)
        return;
    memcpy(sum->number, out, len);
    sum->len = (uint8_t)len;
}

static bool is_sum(const struct sum *sum, struct slice value)
{
    uint8_t zero[NUMBER_BYTES_MAX];
    size_t len = number_from_i64(0, zero);
    bool number = value.len > 0 && value_type(value) == VALUE_N;
    struct slice stored = number ? value_bytes(value) : slice_of(zero, len);
    return slice_equal(stored, slice_of(sum->number, sum->len));
}

// ---- Walks ------------------------------------------------------------------------------------

typedef void (*visit_one)(struct rules *rules, const struct guard_count *count,
                          const struct guard *guard, struct slice key, struct slice value);

static void walk(struct rules *rules, tree_id tree, const struct guard_count *count,
                 const struct guard *guard, visit_one visit)
{
    struct verifier *v = rules->v;
    struct store_cursor *cursor = verify_cursor(v, &rules->view, tree);
    size_t keys = 0;
    for (store_cursor_first(cursor); store_cursor_valid(cursor) && !rules->full && !v->stopped;
         store_cursor_next(cursor)) {
        arena_reset(&v->arena);
        visit(rules, count, guard, store_cursor_key(cursor), store_cursor_value(cursor));
        if (++keys % VERIFY_SLICE_KEYS == 0)
            v->stopped = !verify_proceed(v, VERIFY_SLICE_KEYS) || v->stopped;
    }
    verify_cursor_end(v, rules->tally, cursor);
}

// What the guard says of an item; nothing if it cannot.
static struct guard_effects effects_of(struct rules *rules, const struct guard *guard,
                                       struct slice record, enum guard_moment moment)
{
    struct image image;
    struct error error;
    struct guard_effects effects = {.count = 0};
    error_init(&error, &rules->v->arena);
    if (!verify_record(record, &image))
        return effects;
    const struct guard_change change = {.before = VALUE_NONE,
                                        .after = image.item,
                                        .env = &rules->v->engine.env,
                                        .arena = &rules->v->arena};
    if (!guard->ops->effects(guard, &change, moment, &effects, &error))
        effects.count = 0;
    return effects;
}

static bool is_about(const struct guard_effect *effect, const struct guard_count *count, bool own)
{
    return effect->own == own && effect->note.len > 0 && slice_equal(effect->pending, count->rule);
}

static void visit_source(struct rules *rules, const struct guard_count *count,
                         const struct guard *guard, struct slice key, struct slice value)
{
    (void)key;
    struct guard_effects effects = effects_of(rules, guard, value, EFFECTS_STEP);
    for (size_t i = 0; i < effects.count; i++) {
        const struct guard_effect *effect = &effects.list[i];
        struct sum *sum = is_about(effect, count, false) ? sum_of(rules, effect->note) : NULL;
        if (sum != NULL)
            add(sum, value_bytes(effect->value));
    }
}

static void visit_target(struct rules *rules, const struct guard_count *count,
                         const struct guard *guard, struct slice key, struct slice value)
{
    struct guard_effects effects = effects_of(rules, guard, value, EFFECTS_STEP);
    for (size_t i = 0; i < effects.count; i++) {
        const struct guard_effect *effect = &effects.list[i];
        struct sum *sum = is_about(effect, count, true) ? sum_of(rules, effect->note) : NULL;
        if (sum == NULL)
            continue;
        rules->tally->examined++;
        sum->seen = true;
        if (!is_sum(sum, effect->value))
            verify_differ(rules->v, rules->tally, effect->key, key,
                          "%.*s is not what the items say that it counts", SLICE_FMT(count->rule));
    }
}

static void visit_note(struct rules *rules, const struct guard_count *count,
                       const struct guard *guard, struct slice key, struct slice value)
{
    (void)guard;
    struct slice name = slice_of(key.ptr + LAYOUT_TREE, key.len - LAYOUT_TREE);
    bool ours = name.len > count->rule.len && name.ptr[count->rule.len] == 0 &&
                slice_begins(name, count->rule);
    struct sum *sum = ours ? sum_of(rules, name) : NULL;
    if (sum == NULL)
        return;
    rules->tally->examined++;
    if (sum->seen || !value_valid(value) || !is_sum(sum, value))
        verify_differ(rules->v, rules->tally, VALUE_NONE, key,
                      "the note of %.*s is not what the items say that it counts",
                      SLICE_FMT(count->rule));
    sum->seen = true;
}

// ---- Counts -----------------------------------------------------------------------------------

static struct table *read_table(struct rules *rules, struct slice name)
{
    struct store_value value;
    struct store_error cause;
    if (meta_get(rules->v->store, rules->view.snapshot, META_TABLE, name, &value, &cause) !=
        STORE_FOUND)
        return NULL;
    struct table *table = value_valid(value.bytes) ? table_decode(value.bytes) : NULL;
    store_value_release(rules->v->store, &value);
    return table;
}

static void count_part(struct rules *rules, const struct table *source, const struct guard *guard,
                       const struct guard_count *count)
{
    const struct table *table = rules->view.table;
    memset(rules->sums, 0, SUMS * sizeof(*rules->sums));
    rules->count = 0;
    rules->full = false;
    walk(rules, source->tree, count, guard, visit_source);
    walk(rules, table->tree, count, rules->guard, visit_target);
    if (table->notes != 0)
        walk(rules, table->notes, count, rules->guard, visit_note);
    for (size_t i = 0; !rules->full && !rules->v->stopped && i < SUMS; i++) {
        const struct sum *sum = &rules->sums[i];
        if (sum->hash != 0 && !sum->seen && !is_sum(sum, VALUE_NONE))
            verify_differ(rules->v, rules->tally, VALUE_NONE, slice_of(NULL, 0),
                          "%.*s has neither an item nor a note for what is counted",
                          SLICE_FMT(count->rule));
    }
}

// If the sums do not fit, more parts are made, and it begins anew.
static void check_count(struct rules *rules, const struct guard_count *count)
{
    const struct guard_maker *maker = &rules->v->options->knowledge->maker;
    struct table *source = read_table(rules, count->source);
    bool same = source != NULL && slice_equal(source->model, rules->view.table->model);
    struct guard *guard = same ? maker->make(maker->context, &rules->v->engine, source) : NULL;
    rules->parts = 1;
    rules->part = 0;
    while (guard != NULL && guard->effects && !rules->v->stopped && rules->part < rules->parts) {
        count_part(rules, source, guard, count);
        if (!rules->full) {
            rules->part++;
            continue;
        }
        rules->parts *= 4;
        rules->part = 0;
        if (rules->parts > PARTS_MAX)
            break;
    }
    guard_release(guard);
    table_release(source);
}

// ---- Derived items ----------------------------------------------------------------------------

// What is wrong with an item that an effect is about, or with the one that it follows from; NULL if
// nothing is.
static const char *wrong_of(const struct guard_effect *effect, struct slice item,
                            const struct guard_affected *affected)
{
    if (affected->orphan || (effect->own && affected->item.len == 0))
        return "an item of %.*s follows from no other";
    if (slice_equal(affected->item, item))
        return NULL;
    return item.len == 0 ? "an item of %.*s is missing that follows from another"
                         : "an item of %.*s is not what follows from another";
}

static void check_derived(struct rules *rules, const struct guard *guard,
                          const struct guard_effect *effect, struct slice key)
{
    struct verifier *v = rules->v;
    struct table *table = read_table(rules, effect->table);
    struct error error;
    struct slice tree_key;
    struct item_read read;
    error_init(&error, &v->arena);
    bool asked =
        table != NULL && (!effect->asks || slice_equal(table->model, rules->view.table->model));
    if (asked && table_tree_key(table, effect->key, &v->arena, &tree_key, &error) &&
        engine_get(&v->engine, rules->view.snapshot, tree_key, &read, &error)) {
        struct guard_affected affected = {
            .item = read.item, .env = &v->engine.env, .arena = &v->arena};
        rules->tally->examined++;
        const char *wrong = guard->ops->affect(guard, effect, &affected, &error)
                                ? wrong_of(effect, read.item, &affected)
                            : effect->needs && error.code == ERR_VALIDATION
                                ? "an item refers to one of %.*s that is not there"
                                : NULL;
        if (wrong != NULL)
            verify_differ(v, rules->tally, effect->asks ? effect->value : effect->key, key, wrong,
                          SLICE_FMT(effect->what));
        item_read_release(&v->engine, &read);
    }
    table_release(table);
}

static void visit_deriving(struct rules *rules, const struct guard_count *count,
                           const struct guard *guard, struct slice key, struct slice value)
{
    (void)count;
    struct guard_effects effects = effects_of(rules, guard, value, EFFECTS_AGAIN);
    for (size_t i = 0; i < effects.count; i++)
        check_derived(rules, guard, &effects.list[i], key);
    effects = effects_of(rules, guard, value, EFFECTS_STEP);
    for (size_t i = 0; i < effects.count; i++)
        if (effects.list[i].needs && !effects.list[i].lets_go)
            check_derived(rules, guard, &effects.list[i], key);
}

// ---- A table ----------------------------------------------------------------------------------

static void check_all(struct rules *rules)
{
    const struct guard_count *list = NULL;
    const struct table *table = rules->view.table;
    size_t count = guard_counts(rules->guard, &list);
    rules->tally = tally_of(rules->v, VERIFY_RULES, table->tree, slice_of(NULL, 0));
    for (size_t i = 0; i < count && !rules->v->stopped; i++) {
        if (pending_of(table, list[i].rule) == NULL)
            check_count(rules, &list[i]);
    }
    rules->full = false;
    if (!rules->v->stopped && view_settled(rules->v, &rules->view))
        walk(rules, table->tree, NULL, rules->guard, visit_deriving);
}

void verify_rules(struct verifier *v)
{
    const struct guard_maker *maker = &v->options->knowledge->maker;
    struct rules rules = {.v = v, .parts = 1};
    if (maker->make == NULL || v->stopped || !view_open(v, buf_view(&v->name), 0, &rules.view))
        return;
    if (rules.view.table->model.len > 0)
        rules.guard = maker->make(maker->context, &v->engine, rules.view.table);
    if (rules.guard != NULL && rules.guard->effects) {
        rules.sums = calloc(SUMS, sizeof(*rules.sums));
        ensure(rules.sums != NULL);
        check_all(&rules);
        free(rules.sums);
    }
    guard_release(rules.guard);
    view_close(v, &rules.view);
}
