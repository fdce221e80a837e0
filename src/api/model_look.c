// Looking at the items of a table with the eyes of a model that it does not have yet: what would be
// completed, what would be refused, which values are there twice. Nothing is written.
#include "api/model.h"

#include "base/encode.h"
#include "model/entity.h"

#include <stdlib.h>

enum { LOOK_ITEM_MEMORY = 8 << 20, TEXT_MAX = 4096 };

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
        .touch = true,
        .before = item,
        .env = env,
        .arena = arena,
        .after = item,
    };
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

// A set of digests, open addressing. An all-zero slot is free.
struct digests {
    size_t count;
    size_t capacity; // a power of two
    uint64_t (*slots)[2];
};

static bool digests_put(struct digests *set, const uint64_t digest[2])
{
    size_t at = (size_t)digest[0] & (set->capacity - 1);
    while (set->slots[at][0] != 0 || set->slots[at][1] != 0) {
        if (set->slots[at][0] == digest[0] && set->slots[at][1] == digest[1])
            return false;
        at = (at + 1) & (set->capacity - 1);
    }
    set->slots[at][0] = digest[0];
    set->slots[at][1] = digest[1];
    return true;
}

static void digests_grow(struct digests *set)
{
    struct digests larger = {.capacity = set->capacity == 0 ? 1024 : 2 * set->capacity};
    larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
    ensure_memory(larger.slots);
    for (size_t i = 0; i < set->capacity; i++) {
        if (set->slots[i][0] != 0 || set->slots[i][1] != 0)
            (void)digests_put(&larger, set->slots[i]);
    }
    larger.count = set->count;
    free(set->slots);
    *set = larger;
}

// False if it was there.
static bool digests_add(struct digests *set, struct slice name)
{
    uint8_t whole[32];
    uint64_t digest[2];
    sha256_of(name, whole);
    memcpy(digest, whole, sizeof(digest));
    digest[0] |= digest[0] == 0;
    if (2 * (set->count + 1) > set->capacity)
        digests_grow(set);
    if (!digests_put(set, digest))
        return false;
    set->count++;
    return true;
}

// ---- All of them ------------------------------------------------------------------------------

struct looking {
    struct api *api;
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

static void keep(struct looking *looking, struct model_samples *samples, struct slice item)
{
    if (samples->count == MODEL_SAMPLES)
        return;
    struct slice key = model_key_of(looking->table, item, &looking->item);
    if (key.ptr != NULL)
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
    for (size_t i = 0; i < touch->claim_count; i++) {
        if (digests_add(&looking->digests, touch->claims[i].name))
            continue;
        buf_clear(&looking->text);
        buf_printf(&looking->text, "%.*s is not unique", SLICE_FMT(touch->claims[i].what));
        looking->look->duplicates++;
        looking->look->refused++;
        keep(looking, &looking->look->duplicate_samples, item);
    }
}

static bool look_at(void *context, struct slice item)
{
    struct looking *looking = context;
    struct model_touch touch;
    arena_reset(&looking->item);
    if (background_hurried(looking->api))
        return error_set(looking->error, ERR_UNAVAILABLE, "The server is stopping.");
    if (!model_touch(looking->guard, engine_env(looking->api->engine), &looking->item, item,
                     &touch))
        return error_budget(looking->error);
    looking->look->examined++;
    looking->api->look_done++;
    size_t entity = entity_of(looking, &touch);
    if (entity != SIZE_MAX)
        looking->look->entities[entity].items++;
    if (touch.violations != NULL || touch.failure != NULL || touch.entity.len == 0)
        note_violation(looking, item, &touch, entity);
    if (touch.changed)
        note_backfill(looking, item, &touch, entity);
    note_claims(looking, item, &touch);
    return true;
}

static bool look_all(struct looking *looking, uint64_t most)
{
    struct buf after;
    bool ended = false;
    bool ok = true;
    buf_init(&after, STORE_KEY_MAX);
    while (ok && !ended && (most == 0 || looking->look->examined < most))
        ok = model_walk(looking->api, looking->table, &after,
                        most == 0 ? 0 : most - looking->look->examined, look_at, looking, &ended,
                        looking->error);
    looking->look->whole = ended;
    buf_release(&after);
    return ok;
}

bool model_look(struct api *api, struct table *table, const struct guard *guard, uint64_t most,
                struct arena *arena, struct model_look *out, struct error *error)
{
    const struct model_table *model = model_guard_table(guard);
    struct looking looking = {
        .api = api,
        .table = table,
        .guard = guard,
        .model = model,
        .arena = arena,
        .look = out,
        .error = error,
    };
    *out = (struct model_look){.whole = false};
    out->entities = arena_zalloc(arena, model->entity_count + 1, sizeof(*out->entities));
    if (out->entities == NULL)
        return error_budget(error);
    arena_init(&looking.item, LOOK_ITEM_MEMORY);
    buf_init(&looking.text, TEXT_MAX);
    int64_t items = table->stats->items;
    api->look_done = 0;
    api->look_total = most > 0 && (int64_t)most < items ? (int64_t)most : items;
    bool ok = look_all(&looking, most);
    api->look_total = 0;
    free(looking.digests.slots);
    buf_release(&looking.text);
    arena_release(&looking.item);
    return ok;
}
