// Looking at the items of a table with the eyes of a model that it does not have yet: what would be
// completed, what would be refused, which values are there twice. Nothing is written.
#include "change/model.h"

#include "base/encode.h"
#include "guard/entity.h"

#include <stdlib.h>

enum {
    LOOK_ITEM_MEMORY = 8 << 20,
    TEXT_MAX = 4096,
    DIGESTS_MIN = 1024,
    DIGESTS_MOST = 1 << 20, // unique values looked at in one walk: 48 MB
};

// ---- One item ---------------------------------------------------------------------------------

// What is wrong with an item whatever the guard completes: that of a write which changes nothing.
// The violations of the item as it is stand for it if such a write would be allowed.
static struct model_violations *left_over(const struct guard *guard, const struct env *env,
                                          struct arena *arena, struct slice item)
{
    struct error error;
    struct guard_write write = {.before = item, .env = env, .arena = arena, .after = item};
    error_init(&error, arena);
    if (guard->ops->write(guard, &write, &error))
        return NULL;
    return (struct model_violations *)(uintptr_t)error.details;
}

bool model_touch(const struct guard *guard, const struct env *env, struct arena *arena,
                 struct slice item, struct model_touch *out)
{
    struct error error;
    struct guard_write write = {
        .touch = true, .before = item, .env = env, .arena = arena, .after = item};
    error_init(&error, arena);
    *out = (struct model_touch){.after = item};
    if (!guard->ops->write(guard, &write, &error)) {
        out->failure = error.message;
        out->violations = (struct model_violations *)(uintptr_t)error.details;
        if (out->violations != NULL)
            out->entity = out->violations->entity;
        return error.code != ERR_BUDGET;
    }
    out->after = write.after;
    out->changed = !slice_equal(item, write.after);
    out->claim_count = write.claim_count;
    out->claims = write.claims;
    // A guard that leaves something wrong says so; most items need no closer look.
    if (write.warnings.len == 0) {
        const struct model_entity *entity =
            model_recognise(model_guard_table(guard), write.after).entity;
        if (entity != NULL)
            out->entity = entity->name;
        return true;
    }
    out->violations = model_guard_judge(guard, arena, write.after);
    if (out->violations == NULL)
        return false;
    out->entity = out->violations->entity;
    if (out->violations->count == 0) {
        out->violations = NULL;
        return true;
    }
    struct model_violations *left = left_over(guard, env, arena, write.after);
    if (left != NULL && left->count > 0)
        out->violations = left;
    return true;
}

void model_violations_text(const struct model_violations *violations, struct buf *out)
{
    if (violations->entity.len > 0)
        buf_printf(out, "%.*s: ", SLICE_FMT(violations->entity));
    for (size_t i = 0; i < violations->count; i++) {
        const struct model_violation *one = &violations->list[i];
        if (i > 0)
            buf_text(out, "; ");
        if (one->pointer.len > 0)
            buf_printf(out, "%.*s: ", SLICE_FMT(one->pointer));
        buf_printf(out, "expected %.*s, got %.*s", SLICE_FMT(one->expected),
                   SLICE_FMT(one->actual));
    }
}

// ---- Values that are there twice --------------------------------------------------------------

// A set of digests, open addressing, in bounded memory: it has those up to `last`, which falls when
// there is no room for more. The others are for another walk over the items, whose `first` is
// behind it. A digest is never 0: that is a free slot.
struct digest {
    uint64_t word[2];
    uint64_t again; // how often it was met after the first time
};

struct digests {
    size_t count;
    size_t capacity; // a power of two
    size_t most;     // of count
    struct digest *slots;
    uint64_t first; // of word[0], both inclusive
    uint64_t last;
};

// The slot that has the digest, or the free one for it.
static struct digest *digests_slot(const struct digests *set, const struct digest *digest)
{
    size_t at = (size_t)digest->word[1] & (set->capacity - 1);
    while (set->slots[at].word[0] != 0 &&
           (set->slots[at].word[0] != digest->word[0] || set->slots[at].word[1] != digest->word[1]))
        at = (at + 1) & (set->capacity - 1);
    return &set->slots[at];
}

// Moves those that the set still wants into new slots; returns how often the others were met again.
static uint64_t digests_move(struct digests *set, size_t capacity)
{
    struct digests moved = *set;
    uint64_t again = 0;
    moved.capacity = capacity;
    moved.count = 0;
    moved.slots = calloc(capacity, sizeof(*moved.slots));
    ensure_memory(moved.slots);
    for (size_t i = 0; i < set->capacity; i++) {
        const struct digest *digest = &set->slots[i];
        if (digest->word[0] == 0)
            continue;
        if (digest->word[0] > set->last) {
            again += digest->again;
            continue;
        }
        *digests_slot(&moved, digest) = *digest;
        moved.count++;
    }
    free(set->slots);
    *set = moved;
    return again;
}

// Makes room for one more. What is forgotten will be met and counted by another walk, so how often
// it was met again is returned.
static uint64_t digests_reserve(struct digests *set)
{
    uint64_t again = 0;
    while (set->count >= set->most && set->last > set->first) {
        set->last = set->first + (set->last - set->first) / 2;
        again += digests_move(set, set->capacity);
    }
    if (2 * (set->count + 1) > set->capacity)
        again += digests_move(set, set->capacity == 0 ? DIGESTS_MIN : 2 * set->capacity);
    return again;
}

static bool digests_want(const struct digests *set, struct slice name, struct digest *out)
{
    uint8_t whole[32];
    sha256_of(name, whole);
    *out = (struct digest){.again = 0};
    memcpy(out->word, whole, sizeof(out->word));
    out->word[0] |= out->word[0] == 0;
    return out->word[0] >= set->first && out->word[0] <= set->last;
}

// False if it was there.
static bool digests_add(struct digests *set, const struct digest *digest)
{
    struct digest *slot = digests_slot(set, digest);
    if (slot->word[0] != 0) {
        slot->again++;
        return false;
    }
    *slot = *digest;
    set->count++;
    return true;
}

// ---- All of them ------------------------------------------------------------------------------

struct looking {
    struct workshop *shop;
    struct table *table;
    const struct guard *guard;
    const struct model_table *model;
    struct arena *arena; // of the samples
    struct arena item;   // of one item
    struct buf text;
    struct digests digests;
    struct model_look *look;
    struct error *error;
};

// Two walks may come upon the same thing.
static bool has_sample(const struct model_samples *samples, struct slice key, struct slice text)
{
    for (size_t i = 0; i < samples->count; i++) {
        if (slice_equal(samples->list[i].key, key) && slice_equal(samples->list[i].text, text))
            return true;
    }
    return false;
}

static void keep(struct looking *looking, struct model_samples *samples, struct slice item)
{
    if (samples->count == MODEL_SAMPLES)
        return;
    struct slice key = model_key_of(looking->table, item, &looking->item);
    if (key.ptr != NULL && !has_sample(samples, key, buf_view(&looking->text)))
        model_sample_add(samples, looking->arena, key, buf_view(&looking->text));
}

// The position of the entity that a completed item is of, or SIZE_MAX.
static size_t entity_of(const struct looking *looking, const struct model_touch *touch)
{
    const struct model_entity *entity = model_table_entity(looking->model, touch->entity);
    return entity == NULL ? SIZE_MAX : (size_t)(entity - looking->model->entities);
}

static void note_violation(struct looking *looking, struct slice item,
                           const struct model_touch *touch, size_t entity)
{
    struct model_look *look = looking->look;
    if (look->found != NULL)
        look->found(look->context, item, touch);
    bool unmatched = touch->entity.len == 0 && touch->failure == NULL;
    enum model_mode mode =
        entity == SIZE_MAX ? looking->model->guard : looking->model->entities[entity].guard;
    buf_clear(&looking->text);
    if (touch->violations != NULL)
        model_violations_text(touch->violations, &looking->text);
    else if (touch->failure != NULL)
        buf_text(&looking->text, touch->failure);
    if (unmatched) {
        look->unmatched++;
        keep(looking, &look->unmatched_samples, item);
    } else {
        look->violations++;
        keep(looking, &look->violation_samples, item);
    }
    // Items of no entity that the model allows have no violations.
    look->refused += mode == MODEL_ENFORCE && (touch->violations != NULL || touch->failure != NULL);
    if (entity != SIZE_MAX)
        look->entities[entity].violations++;
}

static void note_backfill(struct looking *looking, struct slice item,
                          const struct model_touch *touch, size_t entity)
{
    struct value_iter iter;
    looking->look->backfill++;
    if (entity != SIZE_MAX)
        looking->look->entities[entity].backfill++;
    if (looking->look->backfill_samples.count == MODEL_SAMPLES)
        return;
    buf_clear(&looking->text);
    value_iter_init(&iter, touch->after);
    while (value_iter_next(&iter)) {
        if (slice_equal(value_get(item, iter.name), iter.value))
            continue;
        if (looking->text.len > 0)
            buf_text(&looking->text, ", ");
        buf_slice(&looking->text, iter.name);
    }
    value_iter_init(&iter, item);
    while (value_iter_next(&iter)) {
        if (value_get(touch->after, iter.name).len == 0)
            buf_printf(&looking->text, "%s-%.*s", looking->text.len > 0 ? ", " : "",
                       SLICE_FMT(iter.name));
    }
    keep(looking, &looking->look->backfill_samples, item);
}

static void note_claims(struct looking *looking, struct slice item, const struct model_touch *touch)
{
    struct digest digest;
    for (size_t i = 0; i < touch->claim_count; i++) {
        if (!digests_want(&looking->digests, touch->claims[i].name, &digest))
            continue;
        uint64_t forgotten = digests_reserve(&looking->digests);
        looking->look->duplicates -= forgotten;
        looking->look->refused -= forgotten;
        if (!digests_want(&looking->digests, touch->claims[i].name, &digest) ||
            digests_add(&looking->digests, &digest))
            continue;
        buf_clear(&looking->text);
        buf_printf(&looking->text, "%.*s is not unique", SLICE_FMT(touch->claims[i].what));
        looking->look->duplicates++;
        looking->look->refused++;
        keep(looking, &looking->look->duplicate_samples, item);
    }
}

// What the guard makes of an item. False with the error set.
static bool touch_item(struct looking *looking, struct slice item, struct model_touch *touch)
{
    arena_reset(&looking->item);
    if (work_hurried(looking->shop))
        return error_set(looking->error, ERR_UNAVAILABLE, "The server is stopping.");
    return model_touch(looking->guard, engine_env(looking->shop->engine), &looking->item, item,
                       touch) ||
           error_budget(looking->error);
}

// ---- References -------------------------------------------------------------------------------

// What a guard says that the item is in need of; nothing if it cannot tell.
static struct guard_effects needs_of(struct looking *looking, const struct guard *guard,
                                     struct slice item)
{
    struct guard_effects effects = {.count = 0};
    struct error error;
    const struct guard_change change = {.before = VALUE_NONE,
                                        .after = item,
                                        .env = engine_env(looking->shop->engine),
                                        .arena = &looking->item};
    error_init(&error, &looking->item);
    if (guard == NULL || !guard->effects ||
        !guard->ops->effects(guard, &change, EFFECTS_STEP, &effects, &error))
        effects.count = 0;
    return effects;
}

// Whether the table's own guard has judged the reference: what was there may have gone since.
static bool is_judged(struct looking *looking, const struct guard_effect *need, struct slice item)
{
    if (!need->lets_go)
        return false;
    struct guard_effects known = needs_of(looking, looking->table->guard, item);
    for (size_t i = 0; i < known.count; i++)
        if (known.list[i].needs && slice_equal(known.list[i].key, need->key) &&
            slice_equal(known.list[i].table, need->table))
            return true;
    return false;
}

// Looks up what an item refers to; *error is that of a write with a reference to nothing.
static bool look_up(struct looking *looking, const struct guard_effect *need, struct error *error)
{
    struct engine *engine = looking->shop->engine;
    struct table *table = engine_table(engine, need->table);
    struct item_read read = {.item = VALUE_NONE};
    struct slice key;
    bool ok = true;
    if (table != NULL)
        ok = table_tree_key(table, need->key, &looking->item, &key, error) &&
             engine_get(engine, NULL, key, &read, error);
    struct guard_affected affected = {
        .item = read.item, .env = engine_env(engine), .arena = &looking->item};
    ok = ok && looking->guard->ops->affect(looking->guard, need, &affected, error);
    if (table != NULL) {
        item_read_release(engine, &read);
        table_release(table);
    }
    return ok;
}

// An item that refers to nothing is as wrong as one that has a wrong value.
static bool look_at_references(struct looking *looking, struct slice item,
                               struct model_touch *touch)
{
    struct guard_effects needs = needs_of(looking, looking->guard, touch->after);
    for (size_t i = 0; i < needs.count; i++) {
        struct error error;
        const struct guard_effect *need = &needs.list[i];
        error_init(&error, &looking->item);
        if (!need->needs || is_judged(looking, need, item) || look_up(looking, need, &error))
            continue;
        if (error.code != ERR_VALIDATION)
            return error_set(looking->error, error.code, "%s", error.message);
        touch->failure = error.message;
        touch->violations = (struct model_violations *)(uintptr_t)error.details;
        return true;
    }
    return true;
}

static bool look_at(void *context, struct slice item)
{
    struct looking *looking = context;
    struct model_touch touch;
    if (!touch_item(looking, item, &touch))
        return false;
    looking->look->examined++;
    looking->shop->look_done++;
    size_t entity = entity_of(looking, &touch);
    if (entity != SIZE_MAX)
        looking->look->entities[entity].items++;
    if (touch.violations == NULL && touch.failure == NULL &&
        !look_at_references(looking, item, &touch))
        return false;
    if (touch.violations != NULL || touch.failure != NULL || touch.entity.len == 0)
        note_violation(looking, item, &touch, entity);
    if (touch.changed)
        note_backfill(looking, item, &touch, entity);
    note_claims(looking, item, &touch);
    return true;
}

// Of an item that was looked at before, only the values that were left for another walk.
static bool look_again(void *context, struct slice item)
{
    struct looking *looking = context;
    struct model_touch touch;
    if (!touch_item(looking, item, &touch))
        return false;
    note_claims(looking, item, &touch);
    return true;
}

static bool walk(struct looking *looking, uint64_t most,
                 bool (*visit)(void *context, struct slice item), bool *whole)
{
    return model_walk_most(looking->shop->engine, looking->table, most, visit, looking, whole,
                           looking->error);
}

static bool look_all(struct looking *looking, uint64_t most)
{
    struct digests *digests = &looking->digests;
    bool ended;
    *digests = (struct digests){
        .first = 1,
        .last = UINT64_MAX,
        .most = looking->shop->note_bytes > 0 ? looking->shop->note_bytes / sizeof(struct digest)
                                              : DIGESTS_MOST,
    };
    if (!walk(looking, most, look_at, &looking->look->whole))
        return false;
    while (digests->last < UINT64_MAX) {
        digests->first = digests->last + 1;
        digests->last = UINT64_MAX;
        digests->count = 0;
        memset(digests->slots, 0, digests->capacity * sizeof(*digests->slots));
        if (!walk(looking, most, look_again, &ended))
            return false;
    }
    return true;
}

bool model_look(struct workshop *shop, struct table *table, const struct guard *guard,
                uint64_t most, struct arena *arena, struct model_look *out, struct error *error)
{
    const struct model_table *model = model_guard_table(guard);
    struct looking looking = {shop, table, guard, model, .arena = arena, .look = out};
    looking.error = error;
    *out = (struct model_look){.found = out->found, .context = out->context};
    out->entities = arena_zalloc(arena, model->entity_count + 1, sizeof(*out->entities));
    if (out->entities == NULL)
        return error_budget(error);
    arena_init(&looking.item, LOOK_ITEM_MEMORY);
    buf_init(&looking.text, TEXT_MAX);
    int64_t items = table->stats->items;
    shop->look_done = 0;
    shop->look_total = most > 0 && (int64_t)most < items ? (int64_t)most : items;
    bool ok = look_all(&looking, most);
    shop->look_total = 0;
    free(looking.digests.slots);
    buf_release(&looking.text);
    arena_release(&looking.item);
    return ok;
}
