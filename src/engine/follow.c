// The replica's side of ship.h. Its state is a record of the meta tree: phase, number, mark, until
// (8 bytes each but the first), the source, a zero, and the last key of a copy.
//
// What an engine has in memory of its store is brought up to date when a batch is committed: tables
// and their guards, counters, the sequence of the change log. All else is read when it is needed.
#include "base/encode.h"
#include "base/log.h"
#include "base/wait.h"
#include "engine/engine_internal.h"
#include "engine/log.h"
#include "engine/ship.h"
#include "engine/ship_internal.h"
#include "store/store_driver.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    STATE_HEAD = 25,
    ENTRY_HEAD = 24,      // number, mark, bytes of operations
    BATCH_BYTES = 4 << 20 // of entries that are committed together
};

// ---- The state ---------------------------------------------------------------------------------

bool follow_load(struct store *store, struct follow_state *out, struct store_error *error)
{
    struct store_value value;
    *out = (struct follow_state){.phase = FOLLOW_NONE};
    switch (meta_get(store, NULL, META_FOLLOW, slice_of(NULL, 0), &value, error)) {
    case STORE_FAILED:
        return false;
    case STORE_ABSENT:
        return true;
    case STORE_FOUND:
        break;
    }
    struct slice record = value.bytes;
    const uint8_t *end = record.len <= STATE_HEAD
                             ? NULL
                             : memchr(record.ptr + STATE_HEAD, 0, record.len - STATE_HEAD);
    bool ok = end != NULL && (size_t)(end - record.ptr) - STATE_HEAD < SHIP_URL_MAX &&
              record.len - (size_t)(end - record.ptr) - 1 <= STORE_KEY_MAX;
    if (ok) {
        out->phase = (enum follow_phase)record.ptr[0];
        out->number = be64_get(record.ptr + 1);
        out->mark = be64_get(record.ptr + 9);
        out->until = be64_get(record.ptr + 17);
        memcpy(out->source, record.ptr + STATE_HEAD, (size_t)(end - record.ptr) - STATE_HEAD + 1);
        out->after_len = record.len - (size_t)(end - record.ptr) - 1;
        memcpy(out->after, end + 1, out->after_len);
    }
    store_value_release(store, &value);
    return ok || store_fail(error, "the state of the replica cannot be read");
}

static void put_state(struct store_batch *batch, const struct follow_state *state)
{
    struct buf key;
    struct buf record;
    uint8_t head[STATE_HEAD] = {(uint8_t)state->phase};
    buf_init(&key, 64);
    buf_init(&record, STATE_HEAD + SHIP_URL_MAX + STORE_KEY_MAX);
    be64_put(head + 1, state->number);
    be64_put(head + 9, state->mark);
    be64_put(head + 17, state->until);
    meta_key(&key, META_FOLLOW, slice_of(NULL, 0));
    buf_add(&record, head, sizeof(head));
    buf_add(&record, state->source, strlen(state->source) + 1);
    buf_add(&record, state->after, state->after_len);
    store_batch_put(batch, buf_view(&key), buf_view(&record));
    buf_release(&key);
    buf_release(&record);
}

static bool commit(struct store *store, struct store_batch *batch, const struct follow_state *state,
                   struct store_error *error)
{
    put_state(batch, state);
    bool ok = !store_batch_failed(batch) ? store_commit(store, batch, error) == STORE_DONE
                                         : store_fail(error, "there is not enough memory");
    store_batch_clear(batch);
    return ok;
}

bool follow_save(struct store *store, const struct follow_state *state, struct store_error *error)
{
    struct store_batch *batch = store_batch_new();
    ensure_memory(batch);
    bool ok = commit(store, batch, state, error);
    store_batch_free(batch);
    return ok;
}

// ---- Reading what comes: nothing of it is believed ----------------------------------------------

static bool take_varint(struct slice *in, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; in->len > 0 && shift < 35; shift += 7) {
        uint8_t byte = in->ptr[0];
        *in = slice_of(in->ptr + 1, in->len - 1);
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool take_text(struct slice *in, size_t max, struct slice *out)
{
    uint64_t len;
    if (!take_varint(in, &len) || len > in->len || len > max)
        return false;
    *out = slice_of(in->ptr, len);
    *in = slice_of(in->ptr + len, in->len - len);
    return true;
}

static bool take_number(struct slice *in, uint64_t *out)
{
    if (in->len < 8)
        return false;
    *out = be64_get(in->ptr);
    *in = slice_of(in->ptr + 8, in->len - 8);
    return true;
}

struct operation {
    uint8_t kind;
    struct slice key;
    struct slice value; // or the end of the range
};

static bool take_operation(struct slice *in, struct operation *out)
{
    out->kind = in->ptr[0];
    out->value = slice_of(NULL, 0);
    *in = slice_of(in->ptr + 1, in->len - 1);
    if (!take_text(in, STORE_KEY_MAX, &out->key) || out->key.len == 0 || ship_own_key(out->key))
        return false;
    switch (out->kind) {
    case SHIP_PUT:
        return take_text(in, STORE_VALUE_MAX, &out->value);
    case SHIP_RANGE:
        return take_text(in, STORE_KEY_MAX, &out->value) && out->value.len > 0;
    default:
        return out->kind == SHIP_DELETE;
    }
}

struct entry {
    uint64_t number;
    uint64_t mark;
    struct slice operations;
};

static bool take_entry(struct slice *in, struct entry *out)
{
    uint64_t bytes;
    if (!take_number(in, &out->number) || !take_number(in, &out->mark) ||
        !take_number(in, &bytes) || bytes > in->len)
        return false;
    out->operations = slice_of(in->ptr, bytes);
    *in = slice_of(in->ptr + bytes, in->len - bytes);
    return true;
}

static bool operations_add(struct store_batch *batch, struct slice operations)
{
    struct operation one;
    while (operations.len > 0) {
        if (!take_operation(&operations, &one))
            return false;
        if (one.kind == SHIP_PUT)
            store_batch_put(batch, one.key, one.value);
        else if (one.kind == SHIP_DELETE)
            store_batch_delete(batch, one.key);
        else
            store_batch_delete_range(batch, one.key, one.value);
    }
    return true;
}

// Adds entries to an empty batch, in their order, and moves the state; what is left of them is for
// the next batch. A store deletes the ranges of a batch before all else, so that an entry with a
// range begins one. False if this is not what follows.
static bool entries_add(struct store_batch *batch, struct slice *entries,
                        struct follow_state *state)
{
    struct entry entry;
    size_t bytes = 0;
    for (size_t count = 0; entries->len > 0 && bytes < BATCH_BYTES; count++) {
        struct slice rest = *entries;
        if (!take_entry(&rest, &entry) || entry.number != state->number + 1)
            return false;
        bool range = entry.operations.len > 0 && entry.operations.ptr[0] == SHIP_RANGE;
        if (range && count > 0)
            return true;
        if (!operations_add(batch, entry.operations))
            return false;
        state->number = entry.number;
        state->mark = entry.mark;
        bytes += entry.operations.len;
        *entries = rest;
    }
    return true;
}

// ---- Without an engine -------------------------------------------------------------------------

static bool misread(struct store_error *error)
{
    return store_fail(error, "what the source sends cannot be read");
}

// Deletes what the range (after, last] has and the page does not; both are in order.
static bool page_reconcile(struct store *store, struct store_batch *batch, struct slice operations,
                           struct slice after, struct slice last, bool end,
                           struct store_error *error)
{
    struct operation one = {.kind = 0};
    bool fits = true;
    struct store_cursor *cursor =
        store_cursor_open(store, NULL, slice_of(NULL, 0), slice_of(NULL, 0));
    store_cursor_behind(cursor, after);
    for (; store_cursor_valid(cursor); store_cursor_next(cursor)) {
        struct slice key = store_cursor_key(cursor);
        if (!end && slice_compare(key, last) > 0)
            break;
        while (fits && operations.len > 0 && (one.kind == 0 || slice_compare(one.key, key) < 0))
            fits = take_operation(&operations, &one);
        if (!fits)
            break;
        if (!ship_own_key(key) && (one.kind == 0 || !slice_equal(one.key, key)))
            store_batch_delete(batch, key);
    }
    bool ok = store_cursor_valid(cursor) || store_cursor_ok(cursor, error);
    store_cursor_close(cursor);
    return ok && (fits || misread(error));
}

bool follow_page(struct store *store, struct slice page, struct follow_state *state,
                 struct store_error *error)
{
    uint64_t number;
    uint64_t mark;
    struct slice last;
    if (!take_number(&page, &number) || !take_number(&page, &mark) || page.len == 0)
        return misread(error);
    bool end = page.ptr[0] == 1;
    page = slice_of(page.ptr + 1, page.len - 1);
    struct slice after = slice_of(state->after, state->after_len);
    if (!take_text(&page, STORE_KEY_MAX, &last) || (!end && slice_compare(last, after) <= 0))
        return misread(error);
    struct store_batch *batch = store_batch_new();
    ensure_memory(batch);
    bool ok = page_reconcile(store, batch, page, after, last, end, error) &&
              (operations_add(batch, page) || misread(error));
    if (ok) {
        if (state->number == 0) {
            state->number = number;
            state->mark = mark;
        }
        state->until = number;
        state->after_len = end ? 0 : last.len;
        memcpy(state->after, last.ptr == NULL ? (const uint8_t *)"" : last.ptr, state->after_len);
        state->phase = end ? FOLLOW_ON : FOLLOW_COPYING;
        ok = commit(store, batch, state, error);
    }
    store_batch_free(batch);
    return ok;
}

bool follow_entries(struct store *store, struct slice entries, struct follow_state *state,
                    uint64_t *last, struct store_error *error)
{
    if (!take_number(&entries, last))
        return misread(error);
    struct store_batch *batch = store_batch_new();
    ensure_memory(batch);
    bool ok = true;
    while (ok && entries.len > 0)
        ok = (entries_add(batch, &entries, state) || misread(error)) &&
             commit(store, batch, state, error);
    store_batch_free(batch);
    return ok;
}

// ---- With one ----------------------------------------------------------------------------------

bool follow_open(struct engine *engine, struct store_error *error)
{
    struct following *follow = &engine->follow;
    ensure(pthread_mutex_init(&follow->lock, NULL) == 0);
    follow->state = memory_zeroed(sizeof(*follow->state));
    if (!follow_load(engine->store, follow->state, error))
        return false;
    const struct follow_state *state = follow->state;
    follow->on = state->phase == FOLLOW_ON;
    follow->known = state->number;
    follow->even_ms = monotonic_ms();
    if (state->phase == FOLLOW_COPYING || (follow->on && state->number < state->until))
        return store_fail(error,
                          "this is a replica of %s whose copy is not complete: 'dolmen replica "
                          "--from %s' goes on with it",
                          state->source, state->source);
    return true;
}

void follow_release(struct engine *engine)
{
    free(engine->follow.state);
    ensure(pthread_mutex_destroy(&engine->follow.lock) == 0);
}

struct meta_change {
    struct meta_change *next;
    char kind;
    bool deleted;
    struct slice name;
    struct slice value;
};

struct follow_job {
    struct job job; // first
    struct slice entries;
    struct follow_state state;
    struct arena *arena;
    struct meta_change *changes; // that memory has to learn of
    bool identities;
    bool promotes;
};

static bool is_followers(const struct job *job);

static void note_change(struct follow_job *own, const struct batch_entry *entry)
{
    struct slice key = entry->key;
    if (key.len < META_HEAD || be32_get(key.ptr) != TREE_META)
        return;
    char kind = (char)key.ptr[4];
    struct slice name = slice_of(key.ptr + META_HEAD, key.len - META_HEAD);
    if (kind == META_RECORD)
        own->identities |= slice_begins(name, SLICE_LIT("identity/"));
    if (kind != META_TABLE && kind != META_STATS && kind != META_SEQUENCE && kind != META_NEXT)
        return;
    struct meta_change *change = arena_alloc(own->arena, sizeof(*change));
    ensure_memory(change);
    *change = (struct meta_change){.next = own->changes,
                                   .kind = kind,
                                   .deleted = entry->deleted,
                                   .name = arena_copy(own->arena, name),
                                   .value = arena_copy(own->arena, entry->value)};
    own->changes = change;
}

static bool run_follow(struct job *job, struct txn *txn)
{
    struct follow_job *own = (struct follow_job *)job;
    struct following *follow = &txn->engine->follow;
    own->state = *follow->state;
    if (own->state.phase != FOLLOW_ON)
        return error_set(job->error, ERR_VALIDATION, "This server was promoted.");
    if (own->promotes) {
        own->state.phase = FOLLOW_PROMOTED;
    } else if (!entries_add(txn->batch, &own->entries, &own->state)) {
        store_batch_clear(txn->batch);
        return error_set(job->error, ERR_INTERNAL, "What the source sends cannot be read.");
    }
    struct store_batch_view view = store_batch_view(txn->batch);
    for (size_t i = 0; i < view.entry_count; i++)
        note_change(own, &view.entries[i]);
    put_state(txn->batch, &own->state);
    return true;
}

static void learn_stats(struct engine *engine, tree_id tree, struct slice value)
{
    if (value.len != 16)
        return;
    int64_t items = (int64_t)be64_get(value.ptr);
    int64_t bytes = (int64_t)be64_get(value.ptr + 8);
    for (size_t i = 0; i < engine->catalog.count; i++) {
        const struct table *table = engine->catalog.tables[i];
        struct tree_stats *stats = table->tree == tree ? table->stats : NULL;
        for (size_t k = 0; k < table->index_count; k++)
            stats = table->indexes[k].tree == tree ? table->indexes[k].stats : stats;
        for (size_t k = 0; k < table->vector_count; k++)
            stats = table->vectors[k].base.tree == tree ? table->vectors[k].base.stats : stats;
        if (stats != NULL) {
            stats->items = items;
            stats->bytes = bytes;
        }
    }
}

static void learn(struct engine *engine, const struct meta_change *change)
{
    if (change->kind == META_TABLE)
        catalog_learn(engine, change->name, change->deleted ? VALUE_NONE : change->value);
    else if (change->kind == META_STATS && change->name.len == 4)
        learn_stats(engine, be32_get(change->name.ptr), change->value);
    else if (change->kind == META_NEXT && change->value.len == 4)
        engine->catalog.next_tree = be32_get(change->value.ptr);
    else if (change->kind == META_SEQUENCE)
        log_learn(engine, change->value);
}

// Tables first: counters are theirs. The sequence last: whoever hears of it looks for the rest.
static void follow_committed(struct job *job, struct engine *engine)
{
    static const char order[] = {META_NEXT, META_TABLE, META_STATS, META_SEQUENCE};
    const struct follow_job *own = (const struct follow_job *)job;
    for (size_t i = 0; i < sizeof(order); i++) {
        for (const struct meta_change *c = own->changes; c != NULL; c = c->next) {
            if (c->kind == order[i])
                learn(engine, c);
        }
    }
    ensure(pthread_mutex_lock(&engine->follow.lock) == 0);
    *engine->follow.state = own->state;
    ensure(pthread_mutex_unlock(&engine->follow.lock) == 0);
}

static bool is_followers(const struct job *job)
{
    return job->run == run_follow;
}

bool follow_refuses(struct engine *engine, const struct job *job)
{
    if (!engine->follow.on || is_followers(job))
        return false;
    return !error_set(job->error, ERR_VALIDATION,
                      "This server is a replica of %s and takes no writes: write there, or make it "
                      "a server of its own with 'dolmen promote'.",
                      engine->follow.state->source);
}

static bool follow_batch(struct engine *engine, struct slice *entries, bool *identities,
                         struct error *error)
{
    struct arena arena;
    struct follow_job *own = memory_zeroed(sizeof(*own));
    arena_init(&arena, SHIP_ENTRY_MAX);
    own->job = (struct job){
        .run = run_follow, .committed = follow_committed, .alone = true, .error = error};
    own->entries = *entries;
    own->arena = &arena;
    own->promotes = entries->len == 0;
    bool ok = engine_run(engine, &own->job);
    *entries = own->entries;
    *identities |= own->identities;
    arena_release(&arena);
    free(own);
    return ok;
}

bool engine_follow(struct engine *engine, struct slice entries, bool *identities,
                   struct error *error)
{
    struct following *follow = &engine->follow;
    int64_t now_ms = monotonic_ms();
    uint64_t last;
    *identities = false;
    if (!take_number(&entries, &last))
        return error_set(error, ERR_INTERNAL, "What the source sends cannot be read.");
    ensure(pthread_mutex_lock(&follow->lock) == 0);
    follow->known = last;
    follow->problem[0] = 0;
    ensure(pthread_mutex_unlock(&follow->lock) == 0);
    while (entries.len > 0) {
        if (!follow_batch(engine, &entries, identities, error))
            return false;
    }
    ensure(pthread_mutex_lock(&follow->lock) == 0);
    if (follow->state->number == last)
        follow->even_ms = now_ms;
    ensure(pthread_mutex_unlock(&follow->lock) == 0);
    return true;
}

void engine_follow_problem(struct engine *engine, const char *problem)
{
    ensure(pthread_mutex_lock(&engine->follow.lock) == 0);
    (void)snprintf(engine->follow.problem, sizeof(engine->follow.problem), "%s", problem);
    ensure(pthread_mutex_unlock(&engine->follow.lock) == 0);
}

bool engine_promote(struct engine *engine, bool now, struct error *error)
{
    struct engine_replica replica;
    struct slice nothing = slice_of(NULL, 0);
    bool identities;
    engine_replica(engine, &replica);
    if (!replica.follows)
        return error_set(error, ERR_VALIDATION, "This server is not a replica.");
    if (!now && replica.known > replica.number)
        return error_set(error, ERR_VALIDATION,
                         "%llu changes of %s are not here yet: wait for them, or promote without "
                         "them with --now.",
                         (unsigned long long)(replica.known - replica.number), replica.source);
    return follow_batch(engine, &nothing, &identities, error);
}

void engine_replica(struct engine *engine, struct engine_replica *out)
{
    struct following *follow = &engine->follow;
    ensure(pthread_mutex_lock(&follow->lock) == 0);
    const struct follow_state *state = follow->state;
    *out = (struct engine_replica){.follows = follow->on,
                                   .promoted = state->phase == FOLLOW_PROMOTED,
                                   .number = state->number,
                                   .mark = state->mark,
                                   .known = follow->known,
                                   .behind_ms = monotonic_ms() - follow->even_ms};
    (void)snprintf(out->source, sizeof(out->source), "%s", state->source);
    (void)snprintf(out->problem, sizeof(out->problem), "%s", follow->problem);
    ensure(pthread_mutex_unlock(&follow->lock) == 0);
}
