// Keeping index entries: for one item and one index, the difference between what the index
// should hold for the old image and for the new one. No reads are needed, because an entry is a
// function of the item alone.
//
// An entry is a copy of what the index projects. Where that is large, and most of the item, it is a
// reference to the item instead (ADR 014), so that an item of 400 KB in 20 indexes is not written
// 21 times. The limit may be another at each start: of an entry that is there already nothing is
// assumed but that it stands for the old image, in one way or the other.
//
// While an index is being backfilled, its entries exist for exactly the items below its mark;
// items at or above it are left to the backfill, which has not come to them yet.
#include "engine/engine_internal.h"
#include "engine/vector.h"

bool index_check_type(const struct index *index, const struct key_part *key, enum value_type actual,
                      struct error *error)
{
    return actual == key->type ||
           error_validation(error,
                            "One or more parameter values were invalid: Type mismatch for Index "
                            "Key %.*s Expected: %s Actual: %s IndexName: %.*s",
                            SLICE_FMT(key->name), value_type_name(key->type),
                            value_type_name(actual), SLICE_FMT(index->name));
}

bool index_check_key(const struct index *index, size_t part, struct slice value,
                     struct error *error)
{
    const struct key_part *key = &index->keys.parts[part];
    if (!index_check_type(index, key, value_type(value), error))
        return false;
    size_t len = value_bytes(value).len;
    if (len == 0)
        return error_set(
            error, ERR_EMPTY_KEY,
            "One or more parameter values are not valid. A value specified for a secondary index "
            "key is not supported. The AttributeValue for a key attribute cannot contain an empty "
            "%s value. IndexName: %.*s, IndexKey: %.*s",
            key->type == VALUE_S ? "string" : "binary", SLICE_FMT(index->name),
            SLICE_FMT(key->name));
    return key_size_check(part < index->keys.hash_count, len, error);
}

// One index key that an update has given a new value.
static bool check_updated(const struct index *index, size_t part, struct slice value,
                          struct error *error)
{
    const struct key_part *key = &index->keys.parts[part];
    size_t limit = part < index->keys.hash_count ? LIMIT_PARTITION_KEY : LIMIT_SORT_KEY;
    if (value_type(value) != key->type)
        return error_validation(error, "The update expression attempted to update the secondary "
                                       "index key to unsupported type");
    size_t len = value_bytes(value).len;
    if (len == 0)
        return error_set(
            error, ERR_EMPTY_KEY,
            "One or more parameter values are not valid. The update expression attempted to update "
            "a secondary index key to a value that is not supported. The AttributeValue for a key "
            "attribute cannot contain an empty %s value.",
            key->type == VALUE_S ? "string" : "binary");
    return len <= limit ||
           error_validation(error, "The update expression attempted to update the secondary "
                                   "index key beyond allowed size limits");
}

// Calls `check` for every key part of every index, global indexes first: so does AWS.
typedef bool (*part_check)(const struct index *index, size_t part, const void *context,
                           struct error *error);

static bool check_parts(const struct table *table, part_check check, const void *context,
                        struct error *error)
{
    for (int local = 0; local < 2; local++) {
        for (size_t i = 0; i < table->index_count; i++) {
            const struct index *index = &table->indexes[i];
            size_t parts = index->keys.hash_count + index->keys.range_count;
            for (size_t part = 0; index->global == !local && part < parts; part++) {
                if (!check(index, part, context, error))
                    return false;
            }
        }
    }
    return true;
}

static bool check_item_part(const struct index *index, size_t part, const void *context,
                            struct error *error)
{
    const struct slice *item = context;
    struct slice value = value_get(*item, index->keys.parts[part].name);
    return value.len == 0 || index_check_key(index, part, value, error);
}

static bool check_keys(const struct table *table, struct slice keys, struct error *error)
{
    return check_parts(table, check_item_part, &keys, error) &&
           vectors_check_item(table, keys, error);
}

bool table_check_item(const struct table *table, struct slice item, struct error *error)
{
    if (!layout_is_wide(item))
        return check_keys(table, item, error);
    struct buf keys;
    struct value_builder builder;
    buf_init(&keys, 2 * LIMIT_ITEM_SIZE);
    value_builder_init(&builder, &keys);
    layout_key_image(&builder, table, item);
    bool ok = keys.failed ? error_budget(error) : check_keys(table, buf_view(&keys), error);
    value_builder_release(&builder);
    buf_release(&keys);
    return ok;
}

// An update, and whether a model may leave out what it sets to null.
struct given {
    const struct expr_update *update;
    bool guarded;
};

static bool check_update_part(const struct index *index, size_t part, const void *context,
                              struct error *error)
{
    const struct key_part *key = &index->keys.parts[part];
    const struct given *given = context;
    enum value_type type = expr_update_type(given->update, key->name);
    return type == VALUE_TYPES || (type == VALUE_NULL && given->guarded) ||
           index_check_type(index, key, type, error);
}

bool table_check_update(const struct table *table, const struct expr_update *update,
                        struct error *error)
{
    struct given given = {.update = update, .guarded = table->model.len > 0};
    return check_parts(table, check_update_part, &given, error);
}

struct images {
    struct slice before;
    struct slice after;
};

// What the update left alone is not its fault: an item may be older than the index.
static bool check_changed_part(const struct index *index, size_t part, const void *context,
                               struct error *error)
{
    const struct images *images = context;
    struct slice name = index->keys.parts[part].name;
    struct slice value = value_get(images->after, name);
    if (images->before.len == 0)
        return value.len == 0 || check_updated(index, part, value, error);
    return value.len == 0 || value_equal(value, value_get(images->before, name)) ||
           check_updated(index, part, value, error);
}

bool index_keys_check(const struct table *table, struct slice before, struct slice after,
                      struct error *error)
{
    return check_parts(table, check_changed_part, &(struct images){before, after}, error) &&
           vectors_check_changed(table, before, after, error);
}

static bool same_values(const struct index *index, const struct slice *a, const struct slice *b)
{
    for (size_t i = 0; i < index->keys.hash_count + index->keys.range_count; i++) {
        if (!value_equal(a[i], b[i]))
            return false;
    }
    return true;
}

// The image as the index sees it. A projected one is built in txn->image; `out` keeps it from there
// if another is to be built.
static struct image index_view(struct txn *txn, const struct table *table,
                               const struct index *index, struct image image, struct buf *out)
{
    if (index->projection == PROJECT_ALL)
        return image;
    struct buf *built = &txn->image;
    buf_clear(built);
    layout_index_view(&txn->builder, table, index, image.item);
    if (out != NULL) {
        buf_clear(out);
        buf_slice(out, buf_view(built));
    }
    if (built->failed || (out != NULL && out->failed)) {
        store_batch_fail(txn->batch);
        return image;
    }
    struct slice view = buf_view(out != NULL ? out : built);
    return (struct image){.item = view, .size = value_item_size(view)};
}

// Whether the entry of an item refers to it, given what the index projects of it.
static bool is_reference(const struct txn *txn, struct image item, struct image view)
{
    return view.size > txn->engine->index_copy_max && view.size > item.size / 2;
}

// An index that projects everything has the very bytes of the item's record.
static void put_entry(struct txn *txn, const struct change *change,
                      const struct entry_change *entry, bool reference)
{
    if (reference) {
        buf_clear(&txn->record);
        record_refer(&txn->record, change->key, entry->after.size);
        txn_put_entry(txn, entry, &txn->record);
    } else if (change->record.len > 0 && entry->after.item.ptr == change->after.item.ptr) {
        txn_put_shared(txn, entry, change->record);
    } else {
        (void)txn_put_item(txn, entry);
    }
}

// The key of an entry, in txn->key.
static struct slice entry_key(struct txn *txn, const struct index *index,
                              const struct slice *values, struct slice tree_key)
{
    buf_clear(&txn->key);
    layout_index_entry(&txn->key, index, values, tree_key);
    ensure(!txn->key.failed);
    return buf_view(&txn->key);
}

// The entry stays where it is: it is rewritten if it says something else now, or says it in the
// other way. Returns the units.
static uint32_t rewrite_entry(struct txn *txn, const struct index *index,
                              const struct change *change, const struct slice *values,
                              struct entry_change *entry)
{
    struct image before = entry->before;
    struct image after = entry->after;
    bool same =
        change->same || (index->projection != PROJECT_ALL && slice_equal(before.item, after.item));
    bool reference = is_reference(txn, change->after, after);
    if (!same || is_reference(txn, change->before, before) != reference) {
        entry->key = entry_key(txn, index, values, change->key);
        put_entry(txn, change, entry, reference);
    }
    // If it is the same, the client has changed nothing here.
    return same ? 0 : write_units(after.size > before.size ? after.size : before.size);
}

struct index_cost index_apply(struct txn *txn, const struct table *table, const struct index *index,
                              const struct change *change)
{
    struct index_cost cost = {0, 0};
    struct image before = change->before;
    struct image after = change->after;
    if (!index_holds(index, change->key))
        return cost;
    struct slice old_values[2 * LIMIT_KEY_PARTS];
    struct slice new_values[2 * LIMIT_KEY_PARTS];
    bool was = before.item.len > 0 && layout_index_values(index, image_keys(before), old_values);
    bool is = after.item.len > 0 && layout_index_values(index, image_keys(after), new_values);
    if (!was && !is)
        return cost;
    struct entry_change entry = {.tree = index->tree, .stats = index->stats};
    if (was)
        entry.before = index_view(txn, table, index, before, &txn->old_record);
    if (is)
        entry.after = index_view(txn, table, index, after, NULL);
    cost.bytes = (int64_t)entry.after.size - (int64_t)entry.before.size;
    if (was && is && same_values(index, old_values, new_values)) {
        cost.units = rewrite_entry(txn, index, change, new_values, &entry);
        return cost;
    }
    // It moves, comes or goes: each of the two entries is counted by itself.
    struct entry_change old = entry;
    old.after = entry.before = (struct image){.size = 0};
    if (was) {
        old.key = entry_key(txn, index, old_values, change->key);
        txn_remove(txn, &old);
        cost.units += write_units(old.before.size);
    }
    if (is) {
        entry.key = entry_key(txn, index, new_values, change->key);
        put_entry(txn, change, &entry, is_reference(txn, after, entry.after));
        cost.units += write_units(entry.after.size);
    }
    return cost;
}
