// The index of expiry times: under the table's TTL tree, the expiry in seconds (8 bytes), then the
// item's tree key; no value. An item whose attribute is not a number, or no time that could come,
// has no entry. Filled by the keeper when time to live is turned on, like any other index.
#include "engine/ttl.h"

#include "base/encode.h"
#include "engine/engine_internal.h"
#include "value/number.h"

#include <stdlib.h>

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
    uint8_t head[12];
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

bool engine_ttl_due(struct engine *engine, const struct table *table, int64_t now_s,
                    struct slice after,
                    bool (*visit)(void *context, struct slice place, struct slice tree_key),
                    void *context, struct error *error)
{
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
    ensure_memory(cursor);
    if (after.len > 0)
        store_cursor_seek(cursor, after);
    else
        store_cursor_first(cursor);
    if (store_cursor_valid(cursor) && slice_equal(store_cursor_key(cursor), after))
        store_cursor_next(cursor);
    while (store_cursor_valid(cursor)) {
        struct slice key = store_cursor_key(cursor);
        if (!visit(context, key, slice_of(key.ptr + 12, key.len - 12)))
            break;
        store_cursor_next(cursor);
    }
    struct store_error cause;
    bool ok = store_cursor_valid(cursor) || store_cursor_ok(cursor, &cause) ||
              engine_store_failed(error, &cause);
    store_cursor_close(cursor);
    buf_release(&lower);
    buf_release(&upper);
    return ok;
}
