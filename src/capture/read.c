// Changes into events: from the log, or, in a backfill, from a snapshot of the table. A backfill
// remembers the sequence that its snapshot has seen; the log is read from there once all of the
// snapshot is delivered. One that was interrupted begins again with a new snapshot: an item that is
// the same has the same id then.
#include "capture/consumer_internal.h"

#include "base/encode.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/log.h"
#include "value/digest.h"
#include "value/map.h"

#include <stdio.h>
#include <string.h>

enum { KEY_SEED = 0x5eed, ID_MAX = 128 };

static size_t window_limit(const struct consumer *c)
{
    return c->plan.window != 0 ? c->plan.window : CONSUMER_WINDOW;
}

static bool window_full(const struct consumer *c)
{
    return c->window.count >= window_limit(c) ||
           (c->window.count > 0 && c->window.bytes >= CONSUMER_WINDOW_BYTES);
}

// How far there is something to read.
static uint64_t newest(const struct consumer *c)
{
    uint64_t sequence = engine_sequence(c->shop->engine);
    return c->plan.end != 0 && c->plan.end < sequence ? c->plan.end : sequence;
}

bool consumer_may_fill(struct consumer *c)
{
    if (c->paused || c->gone || c->blocked || window_full(c))
        return false;
    if (c->backfilling)
        return c->backfill != NULL || c->window.count == 0;
    return newest(c) > c->read;
}

// ---- One event -------------------------------------------------------------------------------

static void event_id(const struct consumer *c, const struct log_entry *entry, bool snapshot,
                     char out[ID_MAX])
{
    uint8_t digest[DIGEST_BYTES];
    char hex[2 * DIGEST_BYTES + 1] = "";
    if (!snapshot) {
        (void)snprintf(out, ID_MAX, "%.*s:%llu", SLICE_FMT(c->plan.uuid),
                       (unsigned long long)entry->sequence);
        return;
    }
    item_digest(entry->new_item, digest);
    hex_text(slice_of(digest, sizeof(digest)), hex);
    (void)snprintf(out, ID_MAX, "%.*s:%s", SLICE_FMT(c->plan.uuid), hex);
}

// A body that cannot be made: for now, or ever.
static bool no_room(struct consumer *c, const struct log_entry *entry)
{
    if (c->account.starved) {
        c->starved = true;
        return false;
    }
    log_error("consumer %s: the change %llu of table %s is too large for the memory that requests "
              "may use, and is not delivered to %s",
              c->plan.name.ptr, (unsigned long long)entry->sequence, c->plan.table.ptr,
              c->plan.shown.ptr);
    return true;
}

// False if the change has to be read again.
static bool add_event(struct consumer *c, const struct log_entry *entry, bool snapshot)
{
    char id[ID_MAX];
    event_id(c, entry, snapshot, id);
    struct consumer_draft draft = {.id = slice_str(id),
                                   .body = &c->scratch,
                                   .key = hash_of(KEY_SEED, entry->keys),
                                   .snapshot = snapshot};
    if (c->scratch.cap > CONSUMER_KEEP_BYTES)
        buf_release(&c->scratch);
    buf_clear(&c->scratch);
    c->account.starved = false;
    if (!c->plan.source->ops->event(c->plan.source, entry, &draft))
        return true;
    if (c->scratch.failed)
        return no_room(c, entry);
    struct event *event = event_new(&(struct event_texts){.id = draft.id,
                                                          .type = draft.type,
                                                          .table = c->plan.table,
                                                          .entity = draft.entity,
                                                          .body = buf_view(&c->scratch),
                                                          .keys = entry->keys},
                                    draft.key);
    if (c->scratch.cap > CONSUMER_KEEP_BYTES)
        buf_release(&c->scratch);
    event->out.sequence = entry->sequence;
    event->out.time_ms = entry->time_ms;
    window_add(&c->window, event);
    return true;
}

// ---- The log ---------------------------------------------------------------------------------

static bool read_entry(void *context, const struct log_entry *entry)
{
    struct consumer *c = context;
    if (window_full(c) || !add_event(c, entry, false))
        return false;
    c->read = entry->sequence;
    c->read_ms = entry->time_ms;
    return true;
}

static bool fill_from_log(struct consumer *c, struct table *table, struct error *error)
{
    uint64_t last = newest(c);
    if (table->log == 0) {
        c->read = last;
        return true;
    }
    atomic_store(&c->bit, log_bit(table->log));
    if (!engine_log_read(c->shop->engine, NULL, table->log, c->read + 1, last, read_entry, c,
                         error))
        return false;
    if (!window_full(c) && !c->starved)
        c->read = last;
    return true;
}

// ---- Backfills -------------------------------------------------------------------------------

bool backfill_begin(struct consumer *c, struct error *error)
{
    struct table *table = engine_table(c->shop->engine, c->plan.table);
    if (table == NULL)
        return error_set(error, ERR_RESOURCE_NOT_FOUND, "The table was deleted.");
    backfill_end(c);
    c->backfill = history_open(c->shop->engine, table, HISTORY_NOW, NULL, error);
    table_release(table);
    if (c->backfill == NULL)
        return false;
    c->backfilling = true;
    c->snapshot_number = 0;
    c->read = history_sequence(c->backfill);
    c->keep_due = true;
    return true;
}

void backfill_end(struct consumer *c)
{
    if (c->backfill != NULL)
        history_close(c->backfill);
    c->backfill = NULL;
}

static struct slice keys_of(struct consumer *c, const struct table *table, struct slice item,
                            struct error *error)
{
    struct value_maker maker;
    map_begin(&maker);
    for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count; i++)
        map_put_value(&maker, table->keys.parts[i].name,
                      value_get(item, table->keys.parts[i].name));
    return map_end(&maker, &c->arena, error);
}

static bool fill_from_snapshot(struct consumer *c, struct table *table, struct error *error)
{
    struct slice item;
    if (c->backfill == NULL) { // all of it is delivered
        if (!ledger_end(c))
            return true;
        c->backfilling = false;
        c->keep_due = true;
        return true;
    }
    while (!window_full(c)) {
        if (!history_next(c->backfill, &item)) {
            bool ok = history_ok(c->backfill, error);
            backfill_end(c);
            return ok || backfill_begin(c, error);
        }
        struct slice keys = keys_of(c, table, item, error);
        struct log_entry entry = {.sequence = ledger_of(c) != NULL ? ++c->snapshot_number : c->read,
                                  .time_ms = consumer_now(c),
                                  .event = LOG_INSERT,
                                  .keys = keys,
                                  .old_item = VALUE_NONE,
                                  .new_item = item};
        if (keys.ptr == NULL)
            return false;
        // What is starved of memory here is tried again with the whole.
        if (!add_event(c, &entry, true))
            return backfill_begin(c, error);
        arena_reset(&c->arena);
    }
    return true;
}

bool consumer_fill(struct consumer *c)
{
    struct error error;
    error_init(&error, &c->arena);
    c->starved = false;
    struct table *table = engine_table(c->shop->engine, c->plan.table);
    if (table == NULL || !slice_equal(table->uuid, c->plan.uuid)) {
        table_release(table); // it goes; whoever started this will end it
        return false;
    }
    bool ok =
        c->backfilling ? fill_from_snapshot(c, table, &error) : fill_from_log(c, table, &error);
    if (!ok)
        (void)snprintf(c->reason, sizeof(c->reason), "the changes cannot be read: %s",
                       error.message == NULL ? "out of memory" : error.message);
    table_release(table);
    arena_reset(&c->arena);
    return ok && !c->starved;
}
