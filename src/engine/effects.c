// What follows from a write, in the same transaction: docs/adr/019-rules.md.
//
// The actions of a part are planned, and nothing is applied yet. Each item that changes is a member
// of the part: those of the client's actions, and those that are added because an effect is about
// them. A guard says what follows from a step of an item's image; an effect gives another item a
// new image, which is a step again. When no step is left, each item that has changed is told of its
// whole change, once, and that may lead to more.
//
// An effect about the very item that changes (`own`) is done at once, all others in turn: so an
// item has taken what was kept for it before others add to it, whatever comes first in the request.
//
// The writer does all of this itself, over its batch, also for what the judge has planned: what
// comes out depends on items that nobody has confirmed. The judge does it to have read them from
// disk.
//
// Everything is bounded: items, the way from the client's own, bytes, and work. What fails is the
// failure of the client's action that it follows from.
//
// All of it lives in the request's arena; what plans hold is released by effects_drop().
#include "engine/engine_internal.h"

enum {
    STEPS_EFFECT = 250, // a look-up in the store, and making an image
    TELLINGS = 32,      // of one item's end, beyond the first
};

static const char goes_on[] =
    "By the rules of the model, what follows from the write goes on and on: one thing leads to "
    "another more than 32 times";

// Effects that one change has led to.
struct effect_batch {
    struct effect_batch *next;
    const struct guard *guard; // that named them: the table's of `from`, which its plan holds
    struct member *from;
    unsigned depth; // how many effects have led to that change
    struct guard_effects effects;
};

// One run.
struct run {
    struct txn *txn;
    struct write_job *request;
    const struct part *part;
    struct effects *effects;
    enum effects_end end; // not EFFECTS_DONE: why it is given up
    bool collecting;      // what is done is that items take their notes, pending or not
};

// Room for one more pointer behind `count` of them.
static bool list_grow(struct arena *arena, void ***list, size_t count, size_t *capacity)
{
    if (count < *capacity)
        return true;
    size_t wanted = *capacity == 0 ? 16 : 2 * *capacity;
    void **wider = arena_alloc(arena, wanted * sizeof(*wider));
    if (wider == NULL)
        return false;
    if (count > 0)
        memcpy(wider, *list, count * sizeof(*wider));
    *list = wider;
    *capacity = wanted;
    return true;
}

// ---- How it ends ----------------------------------------------------------------------------

// The part fails because of the action that `cause` follows from, with the error that is set.
static bool blame(struct run *run, const struct member *cause)
{
    run->effects->blamed = cause->cause;
    return false;
}

static bool no_memory(struct run *run, const struct member *cause)
{
    (void)error_budget(&run->effects->error);
    return blame(run, cause);
}

static bool give_up(struct run *run, enum effects_end end)
{
    run->end = end;
    return false;
}

// Too much follows. A part of several actions can be done in smaller ones, if it is no transaction.
static bool too_much(struct run *run, const struct member *cause, const char *words)
{
    if (run->part->count > 1 && !run->request->transaction && !run->request->each)
        return give_up(run, EFFECTS_NARROW);
    (void)error_validation(&run->effects->error, "%s", words);
    return blame(run, cause);
}

// False if what was done so far is too much, for one run or for now.
static bool work_left(struct run *run, const struct member *cause)
{
    struct steps *steps = &run->txn->steps;
    if (steps->taken - run->effects->from > LIMIT_EFFECTS_WORK)
        return too_much(run, cause,
                        "By the rules of the model, more follows from the write than can be done "
                        "in one transaction: write less at once");
    return !steps_over(steps) || give_up(run, EFFECTS_LATER);
}

// Counts the work of one effect; false if it was the last straw.
static bool work_count(struct run *run, const struct member *cause)
{
    steps_add(&run->txn->steps, STEPS_EFFECT);
    return work_left(run, cause);
}

// A failed call: its error is in effects->error, or there is none because it took too long.
static bool failed(struct run *run, const struct member *cause)
{
    struct error *error = &run->effects->error;
    if (error->code == ERR_COLD) {
        error_init(error, run->request->arena);
        return give_up(run, EFFECTS_LATER);
    }
    if (error->code == ERR_NONE)
        return give_up(run, EFFECTS_LATER);
    return blame(run, cause);
}

// ---- Members --------------------------------------------------------------------------------

static struct member *member_add(struct run *run, struct write_action *action, struct plan *plan)
{
    struct effects *effects = run->effects;
    struct member *member = arena_zalloc(run->request->arena, 1, sizeof(*member));
    void **list = (void **)effects->members;
    if (member == NULL ||
        !list_grow(run->request->arena, &list, effects->count, &effects->capacity))
        return NULL;
    effects->members = (struct member **)list;
    *member = (struct member){.action = action, .plan = plan};
    effects->members[effects->count++] = member;
    return member;
}

// A check is not about what becomes of its item, so that it stands for none.
static bool add_clients(struct run *run)
{
    for (size_t i = 0; i < run->part->count; i++) {
        struct write_action *action = &run->part->actions[i];
        struct member *member = member_add(run, action, &run->part->plans[i]);
        if (member == NULL)
            return false;
        member->cause = i;
        if (action->kind != WRITE_CHECK &&
            !key_map_add(&run->effects->by_key, run->request->arena, action->key, member))
            return false;
    }
    return true;
}

// The table as the thread may know it: counted on the judge's.
static struct table *table_of(struct run *run, struct slice name)
{
    return run->txn->aside ? engine_table(run->txn->engine, name)
                           : catalog_find(run->txn->engine, name);
}

static void table_left(struct run *run, struct table *table)
{
    if (run->txn->aside)
        table_release(table);
}

// Adds the item of that key, as it is stored.
static struct member *add_derived(struct run *run, struct table *table, struct slice bare,
                                  struct slice tree_key, const struct member *from)
{
    struct arena *arena = run->request->arena;
    if (run->effects->count - run->part->count >= LIMIT_EFFECTS) {
        (void)too_much(run, from,
                       "By the rules of the model, more items follow from the write than one "
                       "transaction can have: write less at once");
        return NULL;
    }
    struct write_action *action = arena_zalloc(arena, 1, sizeof(*action));
    struct plan *plan = arena_zalloc(arena, 1, sizeof(*plan));
    struct member *member = action == NULL || plan == NULL ? NULL : member_add(run, action, plan);
    if (member == NULL || !key_map_add(&run->effects->by_key, arena, tree_key, member)) {
        (void)no_memory(run, from);
        return NULL;
    }
    *action = (struct write_action){.kind = WRITE_UPDATE,
                                    .flags = WRITE_DERIVED,
                                    .table = table,
                                    .item = bare,
                                    .key = tree_key,
                                    .keyed = bare};
    member->cause = from->cause;
    member->derived = true;
    plan_open(run->txn, run->request, action, plan);
    action->table = plan->table;
    if (plan->error.code != ERR_NONE) {
        run->effects->error = plan->error;
        (void)failed(run, from);
        return NULL;
    }
    plan->after = plan->before;
    plan->made = true;
    return member;
}

// The member whose item has that key, or a new one.
static struct member *member_of(struct run *run, struct table *table, struct slice bare,
                                const struct member *from)
{
    struct slice tree_key;
    if (!table_tree_key(table, bare, run->request->arena, &tree_key, &run->effects->error)) {
        (void)blame(run, from);
        return NULL;
    }
    struct member *member = key_map_find(&run->effects->by_key, tree_key);
    return member != NULL ? member : add_derived(run, table, bare, tree_key, from);
}

static bool is_changed(const struct member *member)
{
    return !slice_equal(member->plan->before.item, member->plan->after.item);
}

// ---- Notes ----------------------------------------------------------------------------------

static bool read_note(struct run *run, struct effect_note *note)
{
    struct store_value value;
    bool found;
    struct arena *arena = run->request->arena;
    store_wait_for_disk(may_wait(run->txn, run->request));
    bool ok = txn_get(run->txn, note->key, arena, &value, &found, &run->effects->error);
    store_wait_for_disk(true);
    if (!ok)
        return false;
    note->before = VALUE_NONE;
    bool kept = !found || image_copy(arena, value.bytes, &note->before, &run->effects->error);
    store_value_release(run->txn->engine->store, &value);
    note->after = note->before;
    return kept;
}

static struct effect_note *note_of(struct run *run, const struct table *table, struct slice name,
                                   const struct member *from)
{
    struct effects *effects = run->effects;
    struct arena *arena = run->request->arena;
    layout_tree_key(&run->txn->key, table->notes, name);
    struct effect_note *note = key_map_find(&effects->by_note, buf_view(&run->txn->key));
    if (note != NULL)
        return note;
    note = arena_zalloc(arena, 1, sizeof(*note));
    struct slice key = arena_copy(arena, buf_view(&run->txn->key));
    void **list = (void **)effects->notes;
    if (note == NULL || key.ptr == NULL ||
        !list_grow(arena, &list, effects->note_count, &effects->note_capacity) ||
        !key_map_add(&effects->by_note, arena, key, note)) {
        (void)no_memory(run, from);
        return NULL;
    }
    effects->notes = (struct effect_note **)list;
    effects->notes[effects->note_count++] = note;
    note->key = key;
    if (!read_note(run, note)) {
        (void)failed(run, from);
        return NULL;
    }
    return note;
}

void effects_apply_notes(struct txn *txn, const struct effects *effects)
{
    for (size_t i = 0; i < effects->note_count; i++) {
        const struct effect_note *note = effects->notes[i];
        if (slice_equal(note->before, note->after))
            continue;
        if (note->after.len > 0)
            store_batch_put(txn->batch, note->key, note->after);
        else
            store_batch_delete(txn->batch, note->key);
    }
}

// ---- Asking ---------------------------------------------------------------------------------

static bool do_effect(struct run *run, const struct effect_batch *batch,
                      const struct guard_effect *effect);

// What is about the item itself is done at once; the rest waits for its turn.
static bool take_batch(struct run *run, struct effect_batch *batch)
{
    bool others = false;
    for (size_t i = 0; i < batch->effects.count; i++) {
        const struct guard_effect *effect = &batch->effects.list[i];
        others = others || !effect->own;
        if (effect->own && !do_effect(run, batch, effect))
            return false;
    }
    if (others) {
        *run->effects->end = batch;
        run->effects->end = &batch->next;
    }
    return true;
}

// Asks what follows from a member's item going from one image to another.
static bool ask(struct run *run, struct member *member, struct slice before, struct slice after,
                enum guard_moment moment, unsigned depth)
{
    const struct guard *guard = member->plan->table->guard;
    bool again = moment == EFFECTS_END && member->told != NULL;
    if (guard == NULL || !guard->effects || (slice_equal(before, after) && !again))
        return true;
    if (!work_left(run, member))
        return false;
    struct effect_batch *batch = arena_zalloc(run->request->arena, 1, sizeof(*batch));
    if (batch == NULL)
        return no_memory(run, member);
    const struct guard_change change = {
        .before = before,
        .after = after,
        .expired = (member->action->flags & (WRITE_EXPIRED | WRITE_SWEPT)) && after.len == 0,
        .restored = run->request->restores,
        .told = again ? &member->told->effects : NULL,
        .origin = origin_of(run->request),
        .env = &run->txn->engine->env,
        .arena = run->request->arena,
        .steps = &run->txn->steps,
    };
    *batch = (struct effect_batch){.guard = guard, .from = member, .depth = depth};
    if (!guard->ops->effects(guard, &change, moment, &batch->effects, &run->effects->error))
        return failed(run, member);
    if (moment == EFFECTS_END)
        member->told = batch;
    // Of a hundred items that imply a thousand each, not all are made before the first is done.
    run->effects->named += batch->effects.count;
    if (run->effects->named > LIMIT_EFFECTS_NAMED)
        return too_much(run, member,
                        "By the rules of the model, more items follow from the write than one "
                        "transaction can have: write less at once");
    return batch->effects.count == 0 || take_batch(run, batch);
}

// ---- Doing ----------------------------------------------------------------------------------

static bool refuse_size(struct run *run, const struct effect_batch *batch,
                        const struct guard_effect *effect)
{
    (void)error_validation(&run->effects->error,
                           "By the model, %.*s follows from the write, and that item has exceeded "
                           "the maximum allowed size (%d KB)",
                           SLICE_FMT(effect->what), LIMIT_ITEM_SIZE >> 10);
    return blame(run, batch->from);
}

// Gives a member the image that an effect has made, and asks what follows.
static bool step(struct run *run, struct member *member, const struct effect_batch *batch,
                 const struct guard_effect *effect, const struct guard_affected *affected)
{
    const struct member *from = batch->from;
    struct plan *plan = member->plan;
    struct slice old = plan->after.item;
    const struct plan_change change = {affected->item, affected->put, affected->for_good};
    if (slice_equal(old, affected->item))
        return true;
    if (affected->item.len > 0 && value_item_size(affected->item) > LIMIT_ITEM_SIZE)
        return refuse_size(run, batch, effect);
    if (!plan_affect(run->txn, run->request, member->action, plan, &change, &run->effects->error))
        return failed(run, from);
    run->effects->bytes += plan->after.size;
    if (run->effects->bytes > LIMIT_EFFECTS_BYTES)
        return too_much(run, from,
                        "By the rules of the model, the items that follow from the write are more "
                        "than 8 MB: write less at once");
    return ask(run, member, old, plan->after.item, EFFECTS_STEP, batch->depth + 1);
}

// The number alone.
static bool affect_note(struct run *run, const struct effect_batch *batch,
                        const struct guard_effect *effect, const struct table *table)
{
    struct effect_note *note =
        work_count(run, batch->from) ? note_of(run, table, effect->note, batch->from) : NULL;
    if (note == NULL)
        return false;
    struct guard_affected affected = {.item = VALUE_NONE,
                                      .note = note->after,
                                      .env = &run->txn->engine->env,
                                      .origin = origin_of(run->request),
                                      .arena = run->request->arena};
    if (!batch->guard->ops->affect(batch->guard, effect, &affected, &run->effects->error))
        return failed(run, batch->from);
    note->after = affected.note;
    return true;
}

// What a backfill touches and nothing implies.
static bool remove_orphan(struct run *run, const struct effect_batch *batch)
{
    const struct guard_affected nothing = {.item = VALUE_NONE, .for_good = true};
    return step(run, batch->from, batch, NULL, &nothing);
}

// One item, or the number that stands in for it.
static bool affect(struct run *run, const struct effect_batch *batch,
                   const struct guard_effect *effect, struct member *member,
                   const struct table *table)
{
    struct effect_note *note = NULL;
    if (!work_count(run, batch->from))
        return false;
    if (effect->note.len > 0) {
        note = note_of(run, table, effect->note, batch->from);
        if (note == NULL)
            return false;
    }
    struct guard_affected affected = {.item = member->plan->after.item,
                                      .note = note == NULL ? VALUE_NONE : note->after,
                                      .env = &run->txn->engine->env,
                                      .origin = origin_of(run->request),
                                      .arena = run->request->arena};
    if (!batch->guard->ops->affect(batch->guard, effect, &affected, &run->effects->error))
        return failed(run, batch->from);
    if (note != NULL)
        note->after = affected.note;
    return step(run, member, batch, effect, &affected) &&
           (!affected.orphan || remove_orphan(run, batch));
}

static bool refuse_table(struct run *run, const struct effect_batch *batch,
                         const struct guard_effect *effect)
{
    (void)error_validation(&run->effects->error,
                           "By the model, %.*s follows from the write, and table %.*s %s",
                           SLICE_FMT(effect->what), SLICE_FMT(effect->table),
                           "does not exist or does not have the model");
    return blame(run, batch->from);
}

static bool affect_in(struct run *run, const struct effect_batch *batch,
                      const struct guard_effect *effect, struct table *table)
{
    if (table->pending_count > 0 && effect->pending.len > 0 && !run->collecting) {
        struct slice key;
        if (!table_tree_key(table, effect->key, run->request->arena, &key, &run->effects->error))
            return blame(run, batch->from);
        enum pending_way way = pending_way(table, effect, batch->from->action->key, key);
        if (way != PENDING_NOT)
            return way == PENDING_DROP || affect_note(run, batch, effect, table);
    }
    struct member *member = member_of(run, table, effect->key, batch->from);
    return member != NULL && affect(run, batch, effect, member, table);
}

// ---- Ranges ---------------------------------------------------------------------------------

// The bare keys of the items that a range has.
struct found {
    struct run *run;
    const struct effect_batch *batch;
    const struct table *table;
    size_t count;
    struct slice *keys; // at most LIMIT_EFFECTS + 1
};

static bool find_key(void *context, struct slice item)
{
    struct found *found = context;
    const struct write_origin *origin = found->run->request->origin;
    struct value_maker maker;
    // Another tenant's items are not there.
    if (guard_access(found->table->guard, origin, item) == GUARD_FOREIGN)
        return true;
    struct value_iter iter;
    value_begin(&maker, STORE_KEY_MAX);
    value_open_map(&maker.b);
    value_iter_init(&iter, item);
    while (value_iter_next(&iter)) {
        if (!key_schema_has(&found->table->keys, iter.name))
            continue;
        value_name(&maker.b, iter.name);
        value_put(&maker.b, iter.value);
    }
    struct slice key = value_end(&maker, found->run->request->arena);
    found->keys[found->count++] = key;
    return key.ptr != NULL || no_memory(found->run, found->batch->from);
}

static bool refuse_range(struct run *run, const struct effect_batch *batch,
                         const struct guard_effect *effect)
{
    (void)error_validation(&run->effects->error,
                           "By the model, %.*s follows from the write for more items than one "
                           "transaction can have (%d items, %d MB): delete those first",
                           SLICE_FMT(effect->what), LIMIT_EFFECTS, LIMIT_EFFECTS_BYTES >> 20);
    return blame(run, batch->from);
}

// Page by page: a page ends after 1 MB.
static bool read_range(struct run *run, struct found *found, const struct guard_effect *effect,
                       struct table *table, const struct index *index)
{
    struct page_request page = {.table = table,
                                .index = index,
                                .query = true,
                                .range = *effect->range,
                                .segments = 1,
                                .emit = find_key,
                                .context = found,
                                .arena = run->request->arena};
    uint64_t bytes = 0;
    struct buf after;
    buf_init(&after, 1 << 16);
    bool ok = true;
    do {
        page.limit = LIMIT_EFFECTS + 1 - found->count;
        page.scanned = page.matched = page.bytes = 0;
        page.last = VALUE_NONE;
        ok = engine_page(run->txn->engine, &page, &run->effects->error) ||
             failed(run, found->batch->from);
        bytes += page.bytes;
        if (ok && (found->count > LIMIT_EFFECTS || bytes > LIMIT_EFFECTS_BYTES))
            ok = refuse_range(run, found->batch, effect);
        buf_clear(&after);
        if (ok && page.last.len > 0 && index != NULL)
            ok = layout_index_key(&after, table, index, page.last);
        else if (ok && page.last.len > 0)
            layout_item_key(&after, table->tree, &table->keys, page.last);
        page.after = buf_view(&after);
    } while (ok && page.last.len > 0);
    buf_release(&after);
    return ok;
}

// Each item that the range has in the store, and each of the part: whether it is still in it, or is
// by now, is for the guard to see from its image.
static bool affect_range(struct run *run, const struct effect_batch *batch,
                         const struct guard_effect *effect, struct table *table)
{
    struct arena *arena = run->request->arena;
    const struct index *index = effect->index.len == 0 ? NULL : table_index(table, effect->index);
    if (effect->index.len > 0 && (index == NULL || index->status != INDEX_ACTIVE)) {
        (void)error_set(
            &run->effects->error, ERR_VALIDATION,
            "By the model, %.*s follows from the write, and index %.*s, which is needed "
            "for it, is not there yet: try again later",
            SLICE_FMT(effect->what), SLICE_FMT(effect->index));
        return blame(run, batch->from);
    }
    // A cursor does not see the batch, and the writer does not wait for the disk.
    if (!run->txn->aside && run->request->tries == 0)
        return give_up(run, EFFECTS_LATER);
    if (!run->txn->aside && store_batch_count(run->txn->batch) > 0)
        return give_up(run, EFFECTS_ALONE);
    struct found found = {.run = run, .batch = batch, .table = table};
    found.keys = arena_alloc(arena, (LIMIT_EFFECTS + 2) * sizeof(*found.keys));
    if (found.keys == NULL)
        return no_memory(run, batch->from);
    if (!read_range(run, &found, effect, table, index))
        return false;
    size_t count = run->effects->count;
    for (size_t i = 0; i < count; i++) {
        struct member *member = run->effects->members[i];
        if (member->plan->table->tree == table->tree && member->action->kind != WRITE_CHECK &&
            !affect(run, batch, effect, member, table))
            return false;
    }
    for (size_t i = 0; i < found.count; i++) {
        struct member *member = member_of(run, table, found.keys[i], batch->from);
        if (member == NULL || !affect(run, batch, effect, member, table))
            return false;
    }
    return true;
}

// A table that was restored under another name has a model of its own, and those of the others have
// not heard of it: what becomes of a copy is not for them.
static bool knows(const struct table *table, const struct table *source)
{
    const struct guard *guard = table->guard;
    return guard != NULL && (table->tree == source->tree || guard->ops->knows == NULL ||
                             guard->ops->knows(guard, source->name));
}

static bool do_effect(struct run *run, const struct effect_batch *batch,
                      const struct guard_effect *effect)
{
    if (batch->depth >= LIMIT_EFFECTS_DEPTH)
        return too_much(run, batch->from, goes_on);
    struct table *table = table_of(run, effect->table);
    bool lacks = table == NULL || !knows(table, batch->from->plan->table);
    // A number has nowhere to stand if its table does not have the model: it is counted when it is
    // given to it.
    bool dropped =
        (effect->note.len > 0 && (lacks || table->notes == 0)) || (effect->asks && lacks);
    bool ok = dropped;
    if (!dropped && lacks)
        ok = refuse_table(run, batch, effect);
    else if (!dropped)
        ok = effect->range != NULL ? affect_range(run, batch, effect, table)
                                   : affect_in(run, batch, effect, table);
    if (table != NULL)
        table_left(run, table);
    return ok;
}

// Does what waits, and what follows from that, until nothing is left.
static bool drain(struct run *run)
{
    struct effects *effects = run->effects;
    while (effects->first != NULL) {
        struct effect_batch *batch = effects->first;
        for (size_t i = 0; i < batch->effects.count; i++) {
            if (!batch->effects.list[i].own && !do_effect(run, batch, &batch->effects.list[i]))
                return false;
        }
        effects->first = batch->next;
        if (effects->first == NULL)
            effects->end = &effects->first;
    }
    return true;
}

// Tells each member that has changed of its end, once; *told is whether there was any.
static bool tell_ends(struct run *run, bool *told)
{
    *told = false;
    for (size_t i = 0; i < run->effects->count; i++) {
        struct member *member = run->effects->members[i];
        const struct plan *plan = member->plan;
        if (member->ended || !is_changed(member))
            continue;
        member->ended = true;
        member->told_of = plan->after.item;
        *told = true;
        if (!ask(run, member, plan->before.item, plan->after.item, EFFECTS_END, 0))
            return false;
    }
    return true;
}

// What follows from the end of one item may change another, or that very one: then what was told of
// it is not what it is. So it is told again, until all are what they were told to be.
static bool tell_again(struct run *run, bool *told)
{
    *told = false;
    for (size_t i = 0; i < run->effects->count; i++) {
        struct member *member = run->effects->members[i];
        const struct plan *plan = member->plan;
        if (!member->ended || member->told_of.ptr == plan->after.item.ptr ||
            slice_equal(member->told_of, plan->after.item))
            continue;
        if (++member->tellings > TELLINGS)
            return too_much(run, member, goes_on);
        member->told_of = plan->after.item;
        *told = true;
        if (!ask(run, member, plan->before.item, plan->after.item, EFFECTS_END, 0))
            return false;
    }
    return true;
}

// Has an item that is touched take its note of the rule that is being counted.
static bool collect(struct run *run, struct member *member)
{
    const struct guard *guard = member->plan->table->guard;
    struct effect_batch batch = {.guard = guard, .from = member};
    const struct guard_change change = {.before = VALUE_NONE,
                                        .after = member->plan->after.item,
                                        .env = &run->txn->engine->env,
                                        .arena = run->request->arena,
                                        .steps = &run->txn->steps};
    if (guard == NULL || !guard->effects || change.after.len == 0)
        return true;
    if (!guard->ops->effects(guard, &change, EFFECTS_STEP, &batch.effects, &run->effects->error))
        return failed(run, member);
    for (size_t i = 0; i < batch.effects.count; i++) {
        const struct guard_effect *effect = &batch.effects.list[i];
        if (!effect->own || !slice_equal(effect->pending, run->request->collects))
            continue;
        run->collecting = true;
        bool ok = do_effect(run, &batch, effect);
        run->collecting = false;
        if (!ok)
            return false;
    }
    return true;
}

static bool draw(struct run *run)
{
    for (size_t i = 0; run->request->collects.len > 0 && i < run->part->count; i++) {
        if (!collect(run, run->effects->members[i]))
            return false;
    }
    for (size_t i = 0; i < run->part->count; i++) {
        struct member *member = run->effects->members[i];
        const struct plan *plan = member->plan;
        bool again = (member->action->flags & WRITE_TOUCH) && run->request->collects.len == 0;
        if (!ask(run, member, plan->before.item, plan->after.item, EFFECTS_STEP, 0) ||
            (again && !ask(run, member, VALUE_NONE, plan->after.item, EFFECTS_AGAIN, 0)))
            return false;
    }
    bool told;
    do {
        if (!drain(run) || !tell_ends(run, &told) || (!told && !tell_again(run, &told)))
            return false;
    } while (told);
    return true;
}

// ---- A part ---------------------------------------------------------------------------------

// Whether anything can follow. If an action fails, nothing of the part is done anyway.
static bool is_due(const struct part *part)
{
    bool due = false;
    for (size_t i = 0; i < part->count; i++) {
        const struct plan *plan = &part->plans[i];
        if (plan->error.code != ERR_NONE)
            return false;
        due = due || (plan->table->guard != NULL && plan->table->guard->effects);
    }
    return due;
}

enum effects_end effects_run(struct txn *txn, struct write_job *request, const struct part *part)
{
    if (!is_due(part))
        return EFFECTS_DONE;
    struct effects *effects = arena_zalloc(request->arena, 1, sizeof(*effects));
    struct run run = {txn, request, part, effects, EFFECTS_DONE, false};
    if (effects == NULL) {
        part->plans[0].error = *request->job.error;
        (void)error_budget(&part->plans[0].error);
        return EFFECTS_DONE;
    }
    effects->end = &effects->first;
    effects->from = txn->steps.taken;
    error_init(&effects->error, request->arena);
    request->effects = effects;
    // What the judge has looked through is done by the writer in one go: the bound on all of it is
    // the same here and there.
    struct steps before = txn->steps;
    if (!txn->aside && request->tries > 0)
        txn->steps.limit = 0;
    if (!add_clients(&run))
        (void)no_memory(&run, &(struct member){.cause = 0});
    else
        (void)draw(&run);
    txn->steps.limit = before.limit;
    return run.end;
}

void effects_drop(struct txn *txn, struct write_job *request)
{
    struct effects *effects = request->effects;
    if (effects == NULL)
        return;
    request->effects = NULL;
    for (size_t i = 0; i < effects->count; i++) {
        struct member *member = effects->members[i];
        plan_restore(member->plan);
        if (member->derived)
            plan_drop(txn, member->plan);
    }
}
