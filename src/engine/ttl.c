// The index of expiry times: under the table's TTL tree, the expiry in seconds (8 bytes), then the
// item's tree key; no value. An item whose attribute is not a number, or no time that could come,
// has no entry. Filled by the keeper when time to live is turned on, like any other index.
#include "engine/ttl.h"

#include "base/encode.h"
#include "engine/engine_internal.h"
#include "value/number.h"

#include <stdlib.h>

enum { ENTRY_HEAD = 12 }; // tree and expiry

static const int64_t five_years_s = (int64_t)5 * 365 * 24 * 3600; // AWS: older ones are left alone

// The whole seconds of the item's expiry; false if it has none.
static bool expiry_of(const struct table *table, struct slice item, int64_t *out)
{
    struct slice value = item.len == 0 ? VALUE_NONE : value_get(item, table->ttl.attribute);
    if (value.len == 0 || value_type(value) != VALUE_N)
        return false;
    if (!number_to_i64(value_bytes(value), out)) {
        // With a fraction, or beyond any time.
        char text[NUMBER_TEXT_MAX + 1];
        text[number_to_text(value_bytes(value), text)] = 0;
        double seconds = strtod(text, NULL);
        if (!(seconds >= 0 && seconds < 1e18))
            return false;
        *out = (int64_t)seconds;
    }
    return *out >= 0;
}

bool ttl_expired(const struct table *table, struct slice item, int64_t now_s)
{
    int64_t expiry;
    return table->ttl.attribute.len > 0 && expiry_of(table, item, &expiry) && expiry <= now_s &&
           expiry >= now_s - five_years_s;
}

static void entry_key(struct buf *out, const struct table *table, int64_t expiry,
                      struct slice tree_key)
{
    uint8_t head[ENTRY_HEAD];
    be32_put(head, table->ttl.tree);
    be64_put(head + 4, (uint64_t)expiry);
    buf_clear(out);
    buf_add(out, head, sizeof(head));
    buf_slice(out, tree_key);
}

void ttl_apply(struct txn *txn, const struct table *table, const struct change *change)
{
    const struct table_ttl *ttl = &table->ttl;
    if (ttl->tree == 0 || (!ttl->filled && slice_compare(change->key, ttl->backfilled) >= 0))
        return;
    int64_t old_expiry;
    int64_t new_expiry;
    bool was = expiry_of(table, image_keys(change->before), &old_expiry);
    bool is = expiry_of(table, image_keys(change->after), &new_expiry);
    if (was && is && old_expiry == new_expiry)
        return;
    if (was) {
        entry_key(&txn->key, table, old_expiry, change->key);
        store_batch_delete(txn->batch, buf_view(&txn->key));
    }
    if (is) {
        entry_key(&txn->key, table, new_expiry, change->key);
        store_batch_put(txn->batch, buf_view(&txn->key), slice_of(NULL, 0));
    }
}

// An item that is due, by its place in the index. All that is known of it is its key.
static bool add_due(struct table *table, struct slice place, struct arena *arena,
                    struct write_action *action, struct error *error)
{
    *action = (struct write_action){
        .kind = WRITE_DELETE,
        .flags = WRITE_EXPIRED,
        .table = table,
        .item = value_empty_map(),
        .key = arena_copy(arena, slice_of(place.ptr + ENTRY_HEAD, place.len - ENTRY_HEAD)),
        .keyed = value_empty_map(),
    };
    return action->key.ptr != NULL || error_budget(error);
}

bool engine_ttl_due(struct engine *engine, struct table *table, int64_t now_s, struct buf *place,
                    struct arena *arena, struct write_action *actions, size_t *count,
                    struct error *error)
{
    size_t most = *count;
    *count = 0;
    if (table->ttl.tree == 0)
        return true;
    struct buf lower;
    struct buf upper;
    buf_init(&lower, 64);
    buf_init(&upper, 64);
    int64_t oldest = now_s - five_years_s;
    entry_key(&lower, table, oldest > 0 ? oldest : 0, slice_of(NULL, 0));
    entry_key(&upper, table, now_s + 1, slice_of(NULL, 0));
    struct store_cursor *cursor =
        store_cursor_open(engine->store, NULL, buf_view(&lower), buf_view(&upper));
    store_cursor_behind(cursor, buf_view(place));
    bool ok = true;
    for (; ok && *count < most && store_cursor_valid(cursor); store_cursor_next(cursor)) {
        struct slice key = store_cursor_key(cursor);
        ok = add_due(table, key, arena, &actions[(*count)++], error);
        buf_clear(place);
        buf_slice(place, key);
    }
    buf_release(&lower);
    buf_release(&upper);
    return engine_cursor_end(cursor, error) && ok;
}
