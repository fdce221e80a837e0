// Item collections: what the items of one partition key take up with their local indexes. The sum
// is kept beside them, because a collection with a local index has a limit.
#include "engine/engine_internal.h"

#include "base/encode.h"

static const int64_t collection_limit = (int64_t)10 << 30; // AWS: 10 GB with a local index

void collection_key(struct txn *txn, const struct table *table, struct slice tree_key)
{
    struct slice rest = slice_of(tree_key.ptr + LAYOUT_PREFIX, tree_key.len - LAYOUT_PREFIX);
    layout_tree_key(&txn->key, table->collections, key_skip(&rest, table->keys.parts[0].type));
}

bool collection_read(struct txn *txn, struct write_job *request, const struct write_action *action,
                     struct plan *plan, struct error *error)
{
    if (!table_has_local_index(plan->table))
        return true;
    collection_key(txn, plan->table, action->key);
    struct store_value value;
    bool found;
    if (!txn_get(txn, buf_view(&txn->key), request->arena, &value, &found, error))
        return false;
    if (found)
        plan->collection = (int64_t)be64_get(value.bytes.ptr);
    store_value_release(txn->engine->store, &value);
    int64_t growth = (int64_t)plan->after.size - (int64_t)plan->before.size;
    if (growth > 0 && plan->collection + growth > collection_limit)
        return error_set(error, ERR_COLLECTION_SIZE, "Collection size exceeded.");
    return true;
}

void collection_apply(struct txn *txn, struct write_action *action, const struct plan *plan,
                      int64_t growth)
{
    // An earlier action of the same request may have changed it since it was read.
    int64_t size = plan->collection;
    struct slice pending;
    collection_key(txn, plan->table, action->key);
    enum store_batch_word word = store_batch_get(txn->batch, buf_view(&txn->key), &pending);
    if (word == BATCH_PUT)
        size = (int64_t)be64_get(pending.ptr);
    else if (word == BATCH_DELETED)
        size = 0;
    size += growth;
    action->out.collection_bytes = size;
    if (growth == 0)
        return;
    uint8_t value[8];
    be64_put(value, (uint64_t)size);
    if (size > 0)
        store_batch_put(txn->batch, buf_view(&txn->key), slice_of(value, sizeof(value)));
    else
        store_batch_delete(txn->batch, buf_view(&txn->key));
}
