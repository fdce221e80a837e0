// Keeping index entries: for one item and one index, the difference between what the index
// should hold for the old image and for the new one. No reads are needed, because an entry is a
// function of the item alone.
//
// While an index is being backfilled, its entries exist for exactly the items below its mark;
// items at or above it are left to the backfill, which has not come to them yet.
#include "engine/engine_internal.h"

static bool refuse_empty(const struct index *index, const struct key_part *key, bool updated,
                         struct error *error)
{
    const char *kind = key->type == VALUE_S ? "string" : "binary";
    if (updated)
        return error_validation(
            error,
            "One or more parameter values are not valid. The update expression attempted to update "
            "a secondary index key to a value that is not supported. The AttributeValue for a key "
            "attribute cannot contain an empty %s value.",
            kind);
    return error_validation(
        error,
        "One or more parameter values are not valid. A value specified for a secondary index key "
        "is not supported. The AttributeValue for a key attribute cannot contain an empty %s "
        "value. "
        "IndexName: %.*s, IndexKey: %.*s",
        kind, SLICE_FMT(index->name), SLICE_FMT(key->name));
}

static bool refuse_large(bool hash, bool updated, struct error *error)
{
    if (updated)
        return error_validation(error, "The update expression attempted to update the secondary "
                                       "index key beyond allowed size limits");
    if (hash)
        return error_validation(error, "One or more parameter values were invalid: Size of hashkey "
                                       "has exceeded the maximum size limit of2048 bytes");
    return error_validation(error, "One or more parameter values were invalid: Aggregated size of "
                                   "all range keys has exceeded the size limit of 1024 bytes");
}

static bool key_value_check(const struct index *index, size_t part, struct slice value,
                            bool updated, struct error *error)
{
    const struct key_part *key = &index->keys.parts[part];
    bool hash = part < index->keys.hash_count;
    if (value_type(value) != key->type)
        return error_validation(error,
                                "One or more parameter values were invalid: Type mismatch for "
                                "Index Key %.*s Expected: %s Actual: %s IndexName: %.*s",
                                SLICE_FMT(key->name), value_type_name(key->type),
                                value_type_name(value_type(value)), SLICE_FMT(index->name));
    size_t len = value_bytes(value).len;
    if (len == 0)
        return refuse_empty(index, key, updated, error);
    if (len > (hash ? LIMIT_PARTITION_KEY : LIMIT_SORT_KEY))
        return refuse_large(hash, updated, error);
    return true;
}

bool index_keys_check(const struct table *table, struct slice item, bool updated,
                      struct error *error)
{
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index *index = &table->indexes[i];
        for (size_t part = 0; part < index->keys.hash_count + index->keys.range_count; part++) {
            struct slice value = value_get(item, index->keys.parts[part].name);
            if (value.len > 0 && !key_value_check(index, part, value, updated, error))
                return false;
        }
    }
    return true;
}

// Whether both images have the same attributes in the index's key.
static bool same_index_key(const struct index *index, struct slice a, struct slice b)
{
    for (size_t i = 0; i < index->keys.hash_count + index->keys.range_count; i++) {
        struct slice name = index->keys.parts[i].name;
        if (!value_equal(value_get(a, name), value_get(b, name)))
            return false;
    }
    return true;
}

// The image as the index sees it; a projected one is built in `out`.
static struct image index_view(struct txn *txn, const struct table *table,
                               const struct index *index, struct image image, struct buf *out)
{
    if (index->projection == PROJECT_ALL)
        return image;
    buf_clear(&txn->image);
    layout_index_view(&txn->builder, table, index, image.item);
    ensure(!txn->image.failed);
    buf_clear(out);
    buf_slice(out, buf_view(&txn->image));
    return (struct image){buf_view(out), value_item_size(buf_view(out))};
}

static void put_entry(struct txn *txn, struct slice key, struct image view)
{
    buf_clear(&txn->image);
    record_write(&txn->image, view.item, view.size);
    ensure(!txn->image.failed);
    store_batch_put(txn->batch, key, buf_view(&txn->image));
}

struct index_cost index_apply(struct txn *txn, const struct table *table, const struct index *index,
                              struct slice tree_key, struct image before, struct image after)
{
    struct index_cost cost = {0, 0};
    if (index->status == INDEX_DELETING ||
        (index->status == INDEX_CREATING && slice_compare(tree_key, index->backfilled) >= 0))
        return cost;
    buf_clear(&txn->key);
    buf_clear(&txn->old_key);
    bool both = before.item.len > 0 && after.item.len > 0;
    bool same_key = both && same_index_key(index, before.item, after.item);
    bool was = before.item.len > 0 && layout_index_key(&txn->old_key, table, index, before.item);
    bool is = same_key
                  ? was
                  : after.item.len > 0 && layout_index_key(&txn->key, table, index, after.item);
    struct image old_view = {VALUE_NONE, 0};
    struct image new_view = {VALUE_NONE, 0};
    if (was)
        old_view = index_view(txn, table, index, before, &txn->old_record);
    if (is)
        new_view = index_view(txn, table, index, after, &txn->record);
    if (same_key) {
        if (!was || slice_equal(old_view.item, new_view.item))
            return cost;
        put_entry(txn, buf_view(&txn->old_key), new_view);
        cost.units = write_units(new_view.size > old_view.size ? new_view.size : old_view.size);
    } else {
        if (was) {
            store_batch_delete(txn->batch, buf_view(&txn->old_key));
            cost.units += write_units(old_view.size);
        }
        if (is) {
            put_entry(txn, buf_view(&txn->key), new_view);
            cost.units += write_units(new_view.size);
        }
    }
    cost.bytes = (int64_t)new_view.size - (int64_t)old_view.size;
    txn_count(txn, index->tree, index->stats, (int64_t)is - (int64_t)was, cost.bytes);
    return cost;
}
