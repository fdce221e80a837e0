// See ship.h. The log stands in the meta tree:
//
//   META_SHIP                  number and mark of the last entry, bytes of all entries there ever
//                              were, bytes that are kept: 8 bytes each; 0 kept: it is not written
//   META_SHIP, number, part    of the first part: mark, time in ms, bytes of all entries up to this
//                              one: 8 bytes each; then operations
//
// An operation is a byte, and one or two texts with their lengths (varints) before them.
#include "engine/ship.h"

#include "base/encode.h"
#include "engine/engine_internal.h"
#include "engine/ship_internal.h"
#include "store/store_driver.h"

enum {
    PART_BYTES = 1 << 20,
    ENTRY_HEAD = 24,
    NAME = 10, // number and part
    STATE = 32,
    TRIM_PIECE = 256, // keys that are removed in one batch
    LOOKS = 20000,    // keys of a page, at most
};

// ---- Writing -----------------------------------------------------------------------------------

static void put_text(struct buf *out, struct slice text)
{
    uint8_t len[10];
    buf_add(out, len, varint_put(len, text.len));
    buf_slice(out, text);
}

bool ship_own_key(struct slice key)
{
    return key.len >= META_HEAD && be32_get(key.ptr) == TREE_META &&
           (key.ptr[4] == META_SHIP || key.ptr[4] == META_FOLLOW);
}

// Ranges first: that is the order in which a store does them.
static void write_operations(const struct store_batch *batch, struct buf *out)
{
    struct store_batch_view view = store_batch_view(batch);
    for (size_t i = 0; i < view.range_count; i++) {
        buf_byte(out, SHIP_RANGE);
        put_text(out, view.ranges[i].lower);
        put_text(out, view.ranges[i].upper);
    }
    for (size_t i = 0; i < view.entry_count; i++) {
        const struct batch_entry *entry = &view.entries[i];
        if (ship_own_key(entry->key))
            continue;
        buf_byte(out, entry->deleted ? SHIP_DELETE : SHIP_PUT);
        put_text(out, entry->key);
        if (!entry->deleted)
            put_text(out, entry->value);
    }
}

static void entry_name(uint8_t name[NAME], uint64_t number, uint16_t part)
{
    be64_put(name, number);
    name[8] = (uint8_t)(part >> 8);
    name[9] = (uint8_t)part;
}

static void put_entry(struct txn *txn, const struct ship_mark *at, struct slice operations)
{
    uint8_t name[NAME];
    uint8_t head[ENTRY_HEAD];
    be64_put(head, at->mark);
    be64_put(head + 8, (uint64_t)env_now(&txn->engine->env));
    be64_put(head + 16, at->total);
    for (uint16_t part = 0; part == 0 || operations.len > 0; part++) {
        size_t len = operations.len < PART_BYTES ? operations.len : PART_BYTES;
        entry_name(name, at->number, part);
        meta_key(&txn->key, META_SHIP, slice_of(name, sizeof(name)));
        buf_clear(&txn->record);
        if (part == 0)
            buf_add(&txn->record, head, sizeof(head));
        if (len > 0)
            buf_add(&txn->record, operations.ptr, len);
        txn_put(txn, buf_view(&txn->key), &txn->record);
        operations = slice_of(operations.ptr + len, operations.len - len);
    }
}

static void put_state(struct txn *txn, const struct ship_mark *at, uint64_t limit)
{
    uint8_t state[STATE];
    be64_put(state, at->number);
    be64_put(state + 8, at->mark);
    be64_put(state + 16, at->total);
    be64_put(state + 24, limit);
    meta_key(&txn->key, META_SHIP, slice_of(NULL, 0));
    store_batch_put(txn->batch, buf_view(&txn->key), slice_of(state, sizeof(state)));
}

static uint64_t new_mark(struct engine *engine)
{
    uint8_t bytes[8];
    engine->env.random(engine->env.context, bytes, sizeof(bytes));
    return be64_get(bytes);
}

// The last thing that goes into a batch.
void ship_before_commit(struct txn *txn)
{
    struct ship *ship = &txn->engine->ship;
    ship->next = ship->at;
    if (ship->limit == 0 || store_batch_failed(txn->batch))
        return;
    buf_clear(&ship->operations);
    write_operations(txn->batch, &ship->operations);
    if (ship->operations.failed)
        store_batch_fail(txn->batch);
    if (ship->operations.len == 0 || ship->operations.failed)
        return;
    ship->next = (struct ship_mark){ship->at.number + 1, new_mark(txn->engine),
                                    ship->at.total + ship->operations.len};
    put_entry(txn, &ship->next, buf_view(&ship->operations));
    put_state(txn, &ship->next, ship->limit);
}

void ship_after_commit(struct engine *engine, bool committed)
{
    struct ship *ship = &engine->ship;
    if (committed)
        ship->at = ship->next;
    atomic_store_explicit(&ship->visible, ship->at.number, memory_order_release);
    if (ship->operations.cap > 4 * PART_BYTES) {
        buf_release(&ship->operations);
        buf_init(&ship->operations, SHIP_ENTRY_MAX);
    }
}

static bool read_state(struct store *store, struct store_snapshot *snapshot, struct ship_mark *at,
                       uint64_t *limit, struct store_error *error)
{
    struct store_value value;
    *at = (struct ship_mark){0, 0, 0};
    *limit = 0;
    switch (meta_get(store, snapshot, META_SHIP, slice_of(NULL, 0), &value, error)) {
    case STORE_FAILED:
        return false;
    case STORE_ABSENT:
        return true;
    case STORE_FOUND:
        break;
    }
    if (value.bytes.len == STATE) {
        *at = (struct ship_mark){be64_get(value.bytes.ptr), be64_get(value.bytes.ptr + 8),
                                 be64_get(value.bytes.ptr + 16)};
        *limit = be64_get(value.bytes.ptr + 24);
    }
    store_value_release(store, &value);
    return true;
}

bool ship_load(struct engine *engine, struct store_error *error)
{
    uint64_t limit;
    buf_init(&engine->ship.operations, SHIP_ENTRY_MAX);
    bool ok = read_state(engine->store, NULL, &engine->ship.at, &limit, error);
    engine->ship.limit = limit;
    engine->ship.visible = engine->ship.at.number;
    return ok;
}

void ship_release(struct engine *engine)
{
    buf_release(&engine->ship.operations);
}

// ---- On and off --------------------------------------------------------------------------------

struct ship_job {
    struct job job; // first
    uint64_t limit;
    struct ship_mark at;
};

// A log that begins again skips a number: what was committed meanwhile is in no entry, and whoever
// stands before the gap sees it. Its first entry says nothing, so that copies can begin behind it.
static bool run_ship(struct job *job, struct txn *txn)
{
    struct ship_job *own = (struct ship_job *)job;
    struct ship *ship = &txn->engine->ship;
    own->at = ship->at;
    if (ship->limit == 0) {
        own->at.number += 2;
        own->at.mark = new_mark(txn->engine);
        put_entry(txn, &own->at, slice_of(NULL, 0));
    }
    put_state(txn, &own->at, own->limit);
    return true;
}

static void ship_committed(struct job *job, struct engine *engine)
{
    const struct ship_job *own = (const struct ship_job *)job;
    engine->ship.at = own->at;
    engine->ship.limit = own->limit;
    engine->ship.visible = own->at.number;
}

bool engine_ship(struct engine *engine, uint64_t bytes, struct error *error)
{
    struct ship_job ship = {
        .job = {.run = run_ship, .committed = ship_committed, .alone = true, .error = error},
        .limit = bytes};
    return engine->ship.limit == bytes || engine_run(engine, &ship.job);
}

bool engine_ship_begin(struct engine *engine, struct error *error)
{
    return engine_ships(engine) || engine_ship(engine, SHIP_LOG, error);
}

bool engine_ships(struct engine *engine)
{
    return engine->ship.limit > 0;
}

uint64_t engine_shipped(struct engine *engine)
{
    return atomic_load_explicit(&engine->ship.visible, memory_order_acquire);
}

// ---- Trimming ----------------------------------------------------------------------------------

// From the first part of an entry on.
static struct store_cursor *entries_from(struct engine *engine, struct store_snapshot *snapshot,
                                         uint64_t number)
{
    uint8_t lower[META_HEAD + NAME] = {0, 0, 0, TREE_META, META_SHIP};
    const uint8_t upper[META_HEAD] = {0, 0, 0, TREE_META, META_SHIP + 1};
    entry_name(lower + META_HEAD, number, 0);
    struct store_cursor *cursor = store_cursor_open(
        engine->store, snapshot, slice_of(lower, sizeof(lower)), slice_of(upper, sizeof(upper)));
    store_cursor_first(cursor);
    return cursor;
}

struct ship_part {
    uint64_t number;
    unsigned part;
    struct slice value;
};

static bool part_at(const struct store_cursor *cursor, struct ship_part *out)
{
    if (!store_cursor_valid(cursor))
        return false;
    struct slice key = store_cursor_key(cursor);
    if (key.len != META_HEAD + NAME)
        return false;
    *out = (struct ship_part){be64_get(key.ptr + META_HEAD),
                              ((unsigned)key.ptr[META_HEAD + 8] << 8) | key.ptr[META_HEAD + 9],
                              store_cursor_value(cursor)};
    return out->part > 0 || out->value.len >= ENTRY_HEAD;
}

uint64_t engine_ship_oldest(struct engine *engine)
{
    struct ship_part part;
    struct store_cursor *cursor = entries_from(engine, NULL, 0);
    uint64_t number = part_at(cursor, &part) ? part.number : 0;
    store_cursor_close(cursor);
    return number;
}

// Whether an entry is beyond the limit. The last one never is.
static bool is_due(const struct engine *engine, const struct ship_part *first)
{
    const struct ship *ship = &engine->ship;
    uint64_t limit = ship->limit;
    return limit == 0 || (first->number < ship->at.number &&
                          ship->at.total - be64_get(first->value.ptr + 16) > limit);
}

struct trim_ship {
    struct job job; // first
    bool more;
};

static bool run_trim(struct job *job, struct txn *txn)
{
    struct trim_ship *trim = (struct trim_ship *)job;
    struct ship_part part;
    bool due = false;
    size_t count = 0;
    trim->more = false;
    struct store_cursor *cursor = entries_from(txn->engine, NULL, 0);
    for (; part_at(cursor, &part); store_cursor_next(cursor)) {
        if (part.part == 0)
            due = is_due(txn->engine, &part);
        trim->more = due && part.part == 0 && count >= TRIM_PIECE;
        if (!due || trim->more)
            break;
        store_batch_delete(txn->batch, store_cursor_key(cursor));
        count++;
    }
    if (count > 0)
        store_batch_frees(txn->batch);
    return engine_cursor_end(cursor, job->error);
}

void engine_ship_trim(struct engine *engine)
{
    struct arena arena;
    struct error error;
    struct ship_part part;
    arena_init(&arena, 1 << 16);
    error_init(&error, &arena);
    struct trim_ship trim = {.job = {.run = run_trim, .alone = true, .error = &error},
                             .more = true};
    struct store_cursor *cursor = entries_from(engine, NULL, 0);
    bool any = part_at(cursor, &part) && (part.part > 0 || is_due(engine, &part));
    store_cursor_close(cursor);
    while (any && trim.more && engine_run_beside(engine, &trim.job))
        continue;
    arena_release(&arena);
}

// ---- Reading -----------------------------------------------------------------------------------

static void put_number(struct buf *out, uint64_t number)
{
    uint8_t bytes[8];
    be64_put(bytes, number);
    buf_add(out, bytes, sizeof(bytes));
}

// Appends whole entries from a number on; *count says how many.
static bool read_entries(struct engine *engine, struct store_snapshot *snapshot, uint64_t number,
                         struct buf *out, size_t *count, struct error *error)
{
    struct ship_part part;
    size_t begin = out->len;
    size_t head = 0;
    *count = 0;
    struct store_cursor *cursor = entries_from(engine, snapshot, number);
    for (; part_at(cursor, &part); store_cursor_next(cursor)) {
        if (part.part == 0) {
            if (part.number != number + *count || out->len - begin >= SHIP_PAGE)
                break;
            put_number(out, part.number);
            put_number(out, be64_get(part.value.ptr));
            head = out->len;
            put_number(out, 0);
            part.value = slice_of(part.value.ptr + ENTRY_HEAD, part.value.len - ENTRY_HEAD);
            ++*count;
        }
        if (*count == 0)
            break;
        buf_slice(out, part.value);
        if (!out->failed)
            be64_put(out->ptr + head, out->len - head - 8);
    }
    return engine_cursor_end(cursor, error);
}

// Whether the log has an entry with that mark.
static bool has_entry(struct engine *engine, struct store_snapshot *snapshot, uint64_t number,
                      uint64_t mark)
{
    struct ship_part part;
    struct store_cursor *cursor = entries_from(engine, snapshot, number);
    bool has = part_at(cursor, &part) && part.number == number && part.part == 0 &&
               be64_get(part.value.ptr) == mark;
    store_cursor_close(cursor);
    return has;
}

static bool read_log(struct engine *engine, struct store_snapshot *snapshot, uint64_t number,
                     uint64_t mark, struct buf *out, bool *anew, struct error *error)
{
    struct ship_mark at;
    uint64_t limit;
    struct store_error cause;
    size_t count = 0;
    if (!read_state(engine->store, snapshot, &at, &limit, &cause))
        return engine_store_failed(error, &cause);
    *anew = limit == 0 || number > at.number || !has_entry(engine, snapshot, number, mark);
    put_number(out, at.number);
    if (*anew || number == at.number)
        return true;
    bool ok = read_entries(engine, snapshot, number + 1, out, &count, error);
    *anew = count == 0;
    return ok;
}

bool engine_ship_read(struct engine *engine, uint64_t number, uint64_t mark, struct buf *out,
                      bool *anew, struct error *error)
{
    struct store_snapshot *snapshot = store_snapshot_take(engine->store);
    bool ok = read_log(engine, snapshot, number, mark, out, anew, error);
    store_snapshot_release(engine->store, snapshot);
    return ok && (!out->failed || error_budget(error));
}

// Whether a cursor stands on something that is there: it may show what was deleted as a range.
static bool is_there(struct store *store, struct store_snapshot *snapshot, struct slice key,
                     bool *failed)
{
    struct store_value value;
    struct store_error cause;
    enum store_result result = store_get(store, snapshot, key, &value, &cause);
    *failed = result == STORE_FAILED;
    if (result == STORE_FOUND)
        store_value_release(store, &value);
    return result == STORE_FOUND;
}

// The number and mark of the log, whether this is the last page, the last key of its range, and the
// keys as operations.
static bool copy_page(struct engine *engine, struct store_snapshot *snapshot, struct slice after,
                      struct buf *out, struct error *error)
{
    struct ship_mark at;
    uint64_t limit;
    struct store_error cause;
    struct buf last;
    bool failed = false;
    size_t looks = 0;
    if (!read_state(engine->store, snapshot, &at, &limit, &cause))
        return engine_store_failed(error, &cause);
    put_number(out, at.number);
    put_number(out, at.mark);
    size_t head = out->len;
    buf_byte(out, 1);
    struct buf keys;
    buf_init(&keys, SHIP_ENTRY_MAX);
    buf_init(&last, STORE_KEY_MAX);
    struct store_cursor *cursor =
        store_cursor_open(engine->store, snapshot, slice_of(NULL, 0), slice_of(NULL, 0));
    store_cursor_behind(cursor, after);
    for (; store_cursor_valid(cursor); store_cursor_next(cursor)) {
        if (keys.len >= SHIP_PAGE || looks++ == LOOKS) {
            if (!out->failed)
                out->ptr[head] = 0;
            break;
        }
        struct slice key = store_cursor_key(cursor);
        buf_clear(&last);
        buf_slice(&last, key);
        if (ship_own_key(key) || !is_there(engine->store, snapshot, key, &failed)) {
            if (failed)
                break;
            continue;
        }
        buf_byte(&keys, SHIP_PUT);
        put_text(&keys, key);
        put_text(&keys, store_cursor_value(cursor));
    }
    put_text(out, buf_view(&last));
    buf_slice(out, buf_view(&keys));
    bool ok = engine_cursor_end(cursor, error) &&
              (!failed || error_set(error, ERR_INTERNAL, "The store could not be read.")) &&
              (!(keys.failed || out->failed) || error_budget(error));
    buf_release(&keys);
    buf_release(&last);
    return ok;
}

bool engine_ship_copy(struct engine *engine, struct slice after, struct buf *out,
                      struct error *error)
{
    struct store_snapshot *snapshot = store_snapshot_take(engine->store);
    bool ok = copy_page(engine, snapshot, after, out, error);
    store_snapshot_release(engine->store, snapshot);
    return ok;
}
