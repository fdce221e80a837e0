// Counting anew: what a rule of a guard counts from items that were there before it
// (docs/adr/019-rules.md). A rule that has to be counted is pending in the table of its targets.
//
// First every item of the source table is counted, piece by piece, into notes alone: what becomes
// of an item below the mark goes to the note, too, and what becomes of others is dropped, because
// they will be met as they are then. Then each item of the target table takes its note; those
// below the mark have theirs, and are counted in as always. Marks move in the commit of what they
// speak of. So the counts are exact whatever happens meanwhile, also after a crash.
//
// Sources are not counted before their table has the same model: until then nobody says what
// becomes of them. A change of that table wakes the keeper, which does all of this.
//
// A table of sources that was without the model for a while, or comes back as another, has the
// rules of others counted anew, in the commit of the change that gives it the model (again).
#include "engine/engine_internal.h"

#include "base/log.h"

#include <stdlib.h>

enum {
    PIECE_ITEMS = 128, // of the source, or of the target: a millisecond or two
    PIECE_TAKEN = 32,
};

const struct table_pending *pending_of(const struct table *table, struct slice rule)
{
    for (size_t i = 0; i < table->pending_count; i++) {
        if (slice_equal(table->pendings[i].rule, rule))
            return &table->pendings[i];
    }
    return NULL;
}

enum pending_way pending_way(const struct table *table, const struct guard_effect *effect,
                             struct slice source, struct slice target)
{
    const struct table_pending *pending =
        effect->pending.len == 0 ? NULL : pending_of(table, effect->pending);
    if (pending == NULL)
        return PENDING_NOT;
    bool counting = pending->phase == PENDING_SOURCES;
    bool below = slice_compare(counting ? source : target, pending->mark) < 0;
    if (!counting && below)
        return PENDING_NOT;
    return effect->own || (counting && !below) ? PENDING_DROP : PENDING_NOTE;
}

// ---- What a new guard has to count ----------------------------------------------------------

static const struct guard_count *count_of(const struct table *table, struct slice rule)
{
    const struct guard_count *list = NULL;
    size_t count = table == NULL ? 0 : guard_counts(table->guard, &list);
    for (size_t i = 0; i < count; i++) {
        if (slice_equal(list[i].rule, rule))
            return &list[i];
    }
    return NULL;
}

// What was noted for the rule by another one of that name.
static void forget_notes(struct txn *txn, tree_id notes, struct slice rule)
{
    struct buf upper;
    if (notes == 0)
        return;
    buf_init(&upper, STORE_KEY_MAX);
    layout_tree_key(&txn->key, notes, rule);
    buf_byte(&txn->key, 0);
    layout_tree_key(&upper, notes, rule);
    buf_byte(&upper, 1);
    store_batch_delete_range(txn->batch, buf_view(&txn->key), buf_view(&upper));
    buf_release(&upper);
}

// Whether the guards of both tables know of each other.
static bool is_family(const struct table *source, const struct table *target)
{
    const struct guard *a = source->guard;
    const struct guard *b = target->guard;
    return a != NULL && b != NULL && (a->ops->knows == NULL || a->ops->knows(a, target->name)) &&
           (b->ops->knows == NULL || b->ops->knows(b, source->name));
}

// Whether what becomes of the source table's items is counted by the rule of the target table.
static bool feeds(const struct table *source, const struct table *target,
                  const struct guard_count *count)
{
    return source != NULL && slice_equal(source->name, count->source) &&
           is_family(source, target) && source->guard->effects &&
           (source->guard->ops->feeds == NULL ||
            source->guard->ops->feeds(source->guard, target->name, count->rule));
}

// The sources stand in a table whose model does not know this one: it is a copy that has another
// name, whose counts stay what they were.
static bool is_strange(struct txn *txn, const struct table *table, const struct guard_count *count)
{
    const struct table *source =
        slice_equal(count->source, table->name) ? NULL : catalog_find(txn->engine, count->source);
    return source != NULL && source->guard != NULL && !is_family(source, table);
}

// There is nothing to count, and nothing that would have to take a count: rules between empty
// tables hold from their first item on.
static bool is_idle(const struct table *source, const struct table *target)
{
    return target->stats->items == 0 && (source == NULL || source->stats->items == 0);
}

bool pending_decide(struct txn *txn, const struct table *current, struct table *next)
{
    const struct guard_count *list = NULL;
    size_t count = guard_counts(next->guard, &list);
    struct table_pending *pendings = arena_zalloc(&next->arena, count + 1, sizeof(*pendings));
    size_t kept = 0;
    if (pendings == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct guard_count *before = count_of(current, list[i].rule);
        const struct table_pending *was = pending_of(next, list[i].rule);
        bool same = before != NULL && slice_equal(before->as, list[i].as);
        const struct table *source = slice_equal(list[i].source, next->name)
                                         ? next
                                         : catalog_find(txn->engine, list[i].source);
        if (same && was == NULL)
            continue;
        if (!same && current != NULL)
            forget_notes(txn, current->notes, list[i].rule);
        if ((!same && is_idle(source, next)) || is_strange(txn, next, &list[i]))
            continue;
        struct table_pending *pending = &pendings[kept++];
        *pending = same
                       ? *was
                       : (struct table_pending){.rule = arena_copy(&next->arena, list[i].rule),
                                                .source = arena_copy(&next->arena, list[i].source)};
        if (pending->rule.ptr == NULL || pending->source.ptr == NULL)
            return false;
    }
    next->pendings = pendings;
    next->pending_count = kept;
    return true;
}

// ---- Tables whose sources stand in another --------------------------------------------------

static struct table_pending *find_pending(struct table *table, struct slice rule)
{
    return (struct table_pending *)pending_of(table, rule);
}

static void drop_pending(struct table *next, struct table_pending *pending)
{
    size_t at = (size_t)(pending - next->pendings);
    next->pending_count--;
    memmove(pending, pending + 1, (next->pending_count - at) * sizeof(*pending));
}

// Has the rule counted from the beginning, out of `source`.
static bool begin_anew(struct txn *txn, struct table *next, const struct table *source,
                       const struct guard_count *count)
{
    struct table_pending *pending = find_pending(next, count->rule);
    forget_notes(txn, next->notes, count->rule);
    if (is_idle(source, next)) {
        if (pending != NULL)
            drop_pending(next, pending);
        return true;
    }
    if (pending == NULL) {
        struct table_pending *wider =
            arena_zalloc(&next->arena, next->pending_count + 1, sizeof(*wider));
        if (wider == NULL)
            return false;
        if (next->pending_count > 0)
            memcpy(wider, next->pendings, next->pending_count * sizeof(*wider));
        next->pendings = wider;
        pending = &wider[next->pending_count++];
    }
    *pending = (struct table_pending){.rule = arena_copy(&next->arena, count->rule),
                                      .source = arena_copy(&next->arena, count->source)};
    return pending->rule.ptr != NULL && pending->source.ptr != NULL;
}

enum follow { FOLLOW_NOT, FOLLOW_ANEW, FOLLOW_DROP };

// What becomes of a rule of `target` when the table of its sources changes.
static enum follow follow_of(const struct table_change *change, const struct table *target,
                             const struct guard_count *count)
{
    const struct table *was = change->before;
    const struct table *is = change->after;
    bool fed = feeds(was, target, count);
    bool feeding = feeds(is, target, count);
    if (feeding)
        return fed && was->tree == is->tree ? FOLLOW_NOT : FOLLOW_ANEW;
    if (fed && is == NULL)
        return FOLLOW_ANEW; // there is nothing left to be counted
    const struct table_pending *pending = pending_of(target, count->rule);
    bool waits = pending != NULL && pending->phase == PENDING_SOURCES;
    return waits && is != NULL && is->guard != NULL && slice_equal(is->name, count->source) &&
                   !is_family(is, target)
               ? FOLLOW_DROP
               : FOLLOW_NOT;
}

// The next version of one table in *next, or NULL if nothing is to be done.
static bool follow_table(struct txn *txn, const struct table_change *change,
                         const struct table *target, struct table **next)
{
    const struct guard_count *list = NULL;
    size_t count = guard_counts(target->guard, &list);
    *next = NULL;
    for (size_t i = 0; i < count; i++) {
        enum follow follow = follow_of(change, target, &list[i]);
        if (follow == FOLLOW_NOT)
            continue;
        if (*next == NULL && (*next = table_clone(target)) == NULL)
            return false;
        if (follow == FOLLOW_DROP)
            drop_pending(*next, find_pending(*next, list[i].rule));
        else if (!begin_anew(txn, *next, change->after, &list[i]))
            return false;
    }
    return true;
}

static bool is_about_guards(const struct table_change *change)
{
    const struct table *was = change->before;
    const struct table *is = change->after;
    return was == NULL || is == NULL || was->tree != is->tree || was->guard != is->guard ||
           !slice_equal(was->name, is->name);
}

bool pending_follow(struct txn *txn, struct table_change *change)
{
    struct catalog *catalog = &txn->engine->catalog; // the writer's to read
    if (!is_about_guards(change) || catalog->count == 0)
        return true;
    change->others = calloc(catalog->count, sizeof(struct table *));
    if (change->others == NULL)
        return false;
    for (size_t i = 0; i < catalog->count; i++) {
        const struct table *target = catalog->tables[i];
        struct table *next;
        if (target == change->before || target->guard == NULL ||
            (change->after != NULL && slice_equal(target->name, change->after->name)))
            continue;
        bool ok = follow_table(txn, change, target, &next);
        if (next != NULL)
            change->others[change->other_count++] = next;
        if (!ok)
            return false;
        if (next != NULL)
            catalog_write(txn, next);
    }
    return true;
}

// ---- Pieces ---------------------------------------------------------------------------------

// One piece of work on one rule. The job of the second kind is a write.
struct counting {
    struct write_job write; // first; of the first kind, its job alone
    struct arena arena;
    struct error error;
    struct table *table; // what the keeper saw
    struct slice rule;
    bool more;
    struct table *next;
};

// The current version of the table and its pending rule, or NULL if there is nothing to do.
static struct table *begin_piece(struct counting *piece, struct txn *txn,
                                 struct table_pending **pending, enum pending_phase phase)
{
    struct table *current = catalog_find(txn->engine, piece->table->name);
    const struct table_pending *now = current == NULL || current->tree != piece->table->tree
                                          ? NULL
                                          : pending_of(current, piece->rule);
    if (now == NULL || now->phase != phase)
        return NULL;
    piece->next = table_clone(current);
    if (piece->next == NULL) {
        (void)error_budget(&piece->error);
        return NULL;
    }
    *pending = &piece->next->pendings[now - current->pendings];
    return current;
}

// The mark behind the last key that is done; or what comes when all of it is.
static bool end_piece(struct counting *piece, struct txn *txn, struct table_pending *pending,
                      struct slice last, size_t items)
{
    struct table *next = piece->next;
    pending->done += (int64_t)items;
    if (piece->more) {
        uint8_t *mark = arena_alloc(&next->arena, last.len + 1);
        if (mark == NULL)
            return error_budget(&piece->error);
        memcpy(mark, last.ptr, last.len);
        mark[last.len] = 0;
        pending->mark = slice_of(mark, last.len + 1);
    } else if (pending->phase == PENDING_SOURCES) {
        pending->phase = PENDING_TARGETS;
        pending->mark = slice_of(NULL, 0);
        pending->done = 0;
    } else {
        drop_pending(next, pending);
    }
    catalog_write(txn, next);
    return true;
}

static void publish_piece(struct job *job, struct engine *engine)
{
    struct counting *piece = (struct counting *)job;
    if (piece->next != NULL)
        catalog_publish(engine, piece->table->name, piece->next);
}

// ---- Sources --------------------------------------------------------------------------------

// Adds what one effect counts to its note.
static bool count_effect(struct counting *piece, struct txn *txn, const struct guard *guard,
                         const struct guard_effect *effect)
{
    struct guard_affected affected = {
        .item = VALUE_NONE, .note = VALUE_NONE, .env = &txn->engine->env, .arena = &piece->arena};
    struct store_value value;
    bool found;
    layout_tree_key(&txn->key, piece->next->notes, effect->note);
    if (!txn_get(txn, buf_view(&txn->key), &piece->arena, &value, &found, &piece->error))
        return false;
    bool ok = !found || image_copy(&piece->arena, value.bytes, &affected.note, &piece->error);
    store_value_release(txn->engine->store, &value);
    if (!ok || !guard->ops->affect(guard, effect, &affected, &piece->error))
        return false;
    if (affected.note.len > 0)
        store_batch_put(txn->batch, buf_view(&txn->key), affected.note);
    else
        store_batch_delete(txn->batch, buf_view(&txn->key));
    return true;
}

// What cannot be counted (a sum of too many digits) is left out, and told in the log.
static bool count_item(struct counting *piece, struct txn *txn, const struct guard *guard,
                       struct slice item, struct steps *steps)
{
    const struct guard_change change = {.before = VALUE_NONE,
                                        .after = item,
                                        .env = &txn->engine->env,
                                        .arena = &piece->arena,
                                        .steps = steps};
    struct guard_effects effects = {.count = 0};
    bool ok = guard->ops->effects(guard, &change, EFFECTS_STEP, &effects, &piece->error);
    for (size_t i = 0; ok && i < effects.count; i++) {
        const struct guard_effect *effect = &effects.list[i];
        if (!effect->own && slice_equal(effect->pending, piece->rule) &&
            slice_equal(effect->table, piece->table->name))
            ok = count_effect(piece, txn, guard, effect);
    }
    if (ok || piece->error.code != ERR_VALIDATION)
        return ok;
    log_warn("counting %.*s: an item is left out: %s", SLICE_FMT(piece->rule),
             piece->error.message);
    error_init(&piece->error, &piece->arena);
    return true;
}

static bool count_piece(struct job *job, struct txn *txn)
{
    struct counting *piece = (struct counting *)job;
    struct table_pending *pending;
    const struct table *current = begin_piece(piece, txn, &pending, PENDING_SOURCES);
    if (current == NULL)
        return piece->error.code == ERR_NONE;
    const struct table *source = catalog_find(txn->engine, pending->source);
    struct steps steps = {.limit = 0};
    struct buf last;
    size_t items = 0;
    bool ok = true;
    buf_init(&last, STORE_KEY_MAX);
    if (source != NULL && source->guard != NULL && source->guard->effects) {
        struct store_cursor *cursor = layout_tree_cursor(txn->engine->store, NULL, source->tree);
        store_cursor_seek(cursor, pending->mark);
        while (ok && store_cursor_valid(cursor) && items < PIECE_ITEMS &&
               steps.taken < LIMIT_WRITER_WORK) {
            struct slice item = record_item(store_cursor_value(cursor));
            buf_clear(&last);
            buf_slice(&last, store_cursor_key(cursor));
            ok = count_item(piece, txn, source->guard, item, &steps);
            items++;
            store_cursor_next(cursor);
        }
        piece->more = store_cursor_valid(cursor);
        ok = engine_cursor_end(cursor, &piece->error) && ok;
    }
    ok = ok && end_piece(piece, txn, pending, buf_view(&last), items);
    buf_release(&last);
    return ok;
}

// ---- Targets --------------------------------------------------------------------------------

// A touch of each item from the mark on, which takes its note.
static bool find_targets(struct counting *piece, struct txn *txn, struct table *current,
                         struct slice mark)
{
    struct write_action *actions = arena_zalloc(&piece->arena, PIECE_TAKEN, sizeof(*actions));
    struct store_cursor *cursor = layout_tree_cursor(txn->engine->store, NULL, current->tree);
    bool ok = actions != NULL || error_budget(&piece->error);
    size_t count = 0;
    store_cursor_seek(cursor, mark);
    while (ok && store_cursor_valid(cursor) && count < PIECE_TAKEN) {
        struct value_maker maker;
        struct slice item = record_item(store_cursor_value(cursor));
        value_begin(&maker, STORE_KEY_MAX);
        value_open_map(&maker.b);
        for (size_t i = 0; i < current->keys.hash_count + current->keys.range_count; i++) {
            value_name(&maker.b, current->keys.parts[i].name);
            value_put(&maker.b, value_get(item, current->keys.parts[i].name));
        }
        struct write_action *action = &actions[count++];
        *action = (struct write_action){.kind = WRITE_UPDATE,
                                        .flags = WRITE_TOUCH,
                                        .table = current,
                                        .item = value_end(&maker, &piece->arena),
                                        .key = arena_copy(&piece->arena, store_cursor_key(cursor))};
        ok = (action->item.ptr != NULL && action->key.ptr != NULL) || error_budget(&piece->error);
        store_cursor_next(cursor);
    }
    piece->more = store_cursor_valid(cursor);
    piece->write.actions = actions;
    piece->write.count = count;
    return engine_cursor_end(cursor, &piece->error) && ok;
}

static bool take_piece(struct job *job, struct txn *txn)
{
    struct counting *piece = (struct counting *)job;
    struct write_job *write = &piece->write;
    struct table_pending *pending;
    struct table *current = begin_piece(piece, txn, &pending, PENDING_TARGETS);
    if (current == NULL)
        return piece->error.code == ERR_NONE;
    txn->steps.limit = 0;
    if (!find_targets(piece, txn, current, pending->mark))
        return false;
    write->each = true; // an item that its guard refuses does not keep the others from theirs
    write->collects = piece->rule;
    if (!write_at_once(txn, write))
        return false;
    for (size_t i = 0; i < write->count; i++) {
        if (write->actions[i].out.failure != ERR_NONE)
            log_warn("counting %.*s: an item is left out: %s", SLICE_FMT(piece->rule),
                     write->actions[i].out.failure_text);
    }
    struct slice last =
        write->count == 0 ? slice_of(NULL, 0) : write->actions[write->count - 1].key;
    return end_piece(piece, txn, pending, last, write->count);
}

// ---- The keeper's part ----------------------------------------------------------------------

static bool run_piece(struct engine *engine, struct counting *piece, enum pending_phase phase)
{
    arena_init(&piece->arena, LIMIT_REQUEST_MEMORY);
    error_init(&piece->error, &piece->arena);
    write_job_init(&piece->write, engine, &piece->arena, &piece->error);
    piece->more = false;
    piece->next = NULL;
    piece->write.job = (struct job){.run = phase == PENDING_SOURCES ? count_piece : take_piece,
                                    .committed = publish_piece,
                                    .alone = true,
                                    .large = true,
                                    .error = &piece->error};
    bool ok = engine_run_beside(engine, &piece->write.job);
    write_job_release(&piece->write);
    if (!ok && piece->next != NULL)
        table_release(piece->next);
    if (!ok)
        log_error("counting %.*s: %s", SLICE_FMT(piece->rule), piece->error.message);
    arena_release(&piece->arena);
    return ok;
}

// Whether the rule's next piece can be done: the sources are counted by the same model.
static bool is_ready(struct engine *engine, const struct table *table,
                     const struct table_pending *pending)
{
    if (pending->phase == PENDING_TARGETS || slice_equal(pending->source, table->name))
        return true;
    struct table *source = engine_table(engine, pending->source);
    bool ready = source == NULL || slice_equal(source->model, table->model);
    if (source != NULL)
        table_release(source);
    return ready;
}

// The first table behind that name with rules to be counted, with a reference; NULL if there is
// none.
static struct table *next_table(struct engine *engine, struct slice after)
{
    struct table *found = NULL;
    ensure(pthread_rwlock_rdlock(&engine->catalog.lock) == 0);
    for (size_t i = 0; found == NULL && i < engine->catalog.count; i++) {
        struct table *table = engine->catalog.tables[i];
        if (slice_compare(table->name, after) > 0 && table->pending_count > 0)
            found = table_hold(table);
    }
    ensure(pthread_rwlock_unlock(&engine->catalog.lock) == 0);
    return found;
}

// One piece of the first rule that is ready; *more is whether there was one.
static bool work_on_table(struct engine *engine, struct slice name, bool *more)
{
    struct table *table = engine_table(engine, name);
    bool ok = true;
    *more = false;
    for (size_t i = 0; table != NULL && !*more && i < table->pending_count; i++) {
        const struct table_pending *pending = &table->pendings[i];
        if (!is_ready(engine, table, pending))
            continue;
        struct counting piece = {.table = table, .rule = pending->rule};
        *more = true;
        ok = run_piece(engine, &piece, pending->phase);
    }
    if (table != NULL)
        table_release(table);
    return ok;
}

bool pending_work(struct engine *engine, bool (*stops)(struct engine *engine))
{
    struct buf name;
    struct table *table;
    bool all = true;
    buf_init(&name, STORE_KEY_MAX);
    while (!stops(engine) && (table = next_table(engine, buf_view(&name))) != NULL) {
        bool more = true;
        buf_clear(&name);
        buf_slice(&name, table->name);
        table_release(table);
        while (more && !stops(engine)) {
            if (work_on_table(engine, buf_view(&name), &more))
                continue;
            all = false; // again later
            break;
        }
    }
    buf_release(&name);
    return all;
}
