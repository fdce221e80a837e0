// See layout.h: the one place that knows how items and index entries are laid out.
#include "engine/layout.h"

#include "base/encode.h"

#include <stdlib.h>

static void put_tree(struct buf *out, tree_id tree)
{
    uint8_t bytes[4];
    be32_put(bytes, tree);
    buf_add(out, bytes, sizeof(bytes));
}

void layout_tree_key(struct buf *out, tree_id tree, struct slice rest)
{
    buf_clear(out);
    put_tree(out, tree);
    buf_slice(out, rest);
}

// The digest is over the raw bytes of the partition key, as AWS takes it; several parts are
// taken one after the other.
static uint64_t hash_values(const struct slice *values, size_t count)
{
    if (count == 1)
        return key_hash(value_bytes(values[0]));
    uint8_t joined[LIMIT_KEY_PARTS * LIMIT_PARTITION_KEY];
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        struct slice bytes = value_bytes(values[i]);
        ensure(bytes.len <= sizeof(joined) - len);
        memcpy(joined + len, bytes.ptr, bytes.len);
        len += bytes.len;
    }
    return key_hash(slice_of(joined, len));
}

void layout_partition(struct buf *out, tree_id tree, const struct slice *values, size_t count)
{
    uint8_t hash[8];
    be64_put(hash, hash_values(values, count));
    put_tree(out, tree);
    buf_add(out, hash, sizeof(hash));
    for (size_t i = 0; i < count; i++)
        key_encode(out, values[i]);
}

void layout_item_key(struct buf *out, tree_id tree, const struct key_schema *keys,
                     struct slice item)
{
    struct slice hash[LIMIT_KEY_PARTS];
    for (size_t i = 0; i < keys->hash_count; i++)
        hash[i] = value_get(item, keys->parts[i].name);
    layout_partition(out, tree, hash, keys->hash_count);
    for (size_t i = 0; i < keys->range_count; i++)
        key_encode(out, value_get(item, keys->parts[keys->hash_count + i].name));
}

// Items written before an index was made may hold anything in its key attributes.
static bool can_be_key(struct slice value, enum value_type type, size_t limit)
{
    if (value.len == 0 || value_type(value) != type)
        return false;
    size_t len = value_bytes(value).len;
    return len > 0 && len <= limit;
}

static bool is_left_out(const struct guard_outsiders *without, struct slice item)
{
    struct slice value = without->count == 0 ? VALUE_NONE : value_get(item, without->attribute);
    if (value.len == 0 || value_type(value) != VALUE_S)
        return false;
    for (size_t i = 0; i < without->count; i++) {
        if (slice_equal(value_bytes(value), without->values[i]))
            return true;
    }
    return false;
}

bool layout_index_values(const struct index *index, struct slice item,
                         struct slice values[2 * LIMIT_KEY_PARTS])
{
    const struct key_schema *keys = &index->keys;
    if (is_left_out(&index->without, item))
        return false;
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        values[i] = value_get(item, keys->parts[i].name);
        if (!can_be_key(values[i], keys->parts[i].type,
                        i < keys->hash_count ? LIMIT_PARTITION_KEY : LIMIT_SORT_KEY))
            return false;
    }
    return true;
}

static void put_index_values(struct buf *out, const struct index *index, const struct slice *values)
{
    const struct key_schema *keys = &index->keys;
    layout_partition(out, index->tree, values, keys->hash_count);
    for (size_t i = 0; i < keys->range_count; i++)
        key_encode(out, values[keys->hash_count + i]);
}

// Behind tree and hash a tree key is the encoded key attributes, which end the entry's key, too.
void layout_index_entry(struct buf *out, const struct index *index, const struct slice *values,
                        struct slice tree_key)
{
    put_index_values(out, index, values);
    buf_add(out, tree_key.ptr + LAYOUT_PREFIX, tree_key.len - LAYOUT_PREFIX);
}

bool layout_index_key(struct buf *out, const struct table *table, const struct index *index,
                      struct slice item)
{
    struct slice values[2 * LIMIT_KEY_PARTS];
    if (!layout_index_values(index, item, values))
        return false;
    put_index_values(out, index, values);
    for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count; i++)
        key_encode(out, value_get(item, table->keys.parts[i].name));
    return true;
}

static bool include_has(const struct index *index, struct slice name)
{
    for (size_t i = 0; i < index->include_count; i++) {
        if (slice_equal(index->include[i], name))
            return true;
    }
    return false;
}

bool layout_index_projects(const struct table *table, const struct index *index,
                           struct slice attribute)
{
    return index->projection == PROJECT_ALL || key_schema_has(&table->keys, attribute) ||
           key_schema_has(&index->keys, attribute) ||
           (index->projection == PROJECT_INCLUDE && include_has(index, attribute));
}

// ---- Wide items ------------------------------------------------------------------------
//
// An item may have 66,000 attributes, and a table 20 indexes: looking for each key attribute, or
// asking of each attribute whether it is one of a hundred, would take a hundred walks. So the
// names are sorted, and all of them are found in one walk.

enum { WIDE = 128, NAMES_STEP = 64 };

struct names {
    size_t count;
    struct slice *all;
};

bool layout_is_wide(struct slice item)
{
    return value_count(item) > WIDE;
}

static void add_name(struct names *names, struct slice name)
{
    if (names->count % NAMES_STEP == 0) {
        names->all = realloc(names->all, (names->count + NAMES_STEP) * sizeof(names->all[0]));
        ensure_memory(names->all);
    }
    names->all[names->count++] = name;
}

static void add_parts(struct names *names, const struct key_part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_name(names, parts[i].name);
}

static void add_keys(struct names *names, const struct key_schema *keys)
{
    add_parts(names, keys->parts, keys->hash_count + keys->range_count);
}

static int compare_names(const void *a, const void *b)
{
    const struct slice *left = a;
    const struct slice *right = b;
    return value_name_compare(*left, *right);
}

// Frees the names.
static void pick(struct value_builder *builder, struct slice item, struct names *names)
{
    qsort(names->all, names->count, sizeof(names->all[0]), compare_names);
    value_pick(builder, item, names->all, names->count);
    free(names->all);
}

void layout_key_image(struct value_builder *builder, const struct table *table, struct slice item)
{
    struct names names = {.count = 0};
    add_keys(&names, &table->keys);
    for (size_t i = 0; i < table->index_count; i++) {
        add_keys(&names, &table->indexes[i].keys);
        if (table->indexes[i].without.count > 0)
            add_name(&names, table->indexes[i].without.attribute);
    }
    for (size_t i = 0; i < table->vector_count; i++) {
        const struct vector_index *vector = &table->vectors[i];
        add_keys(&names, &vector->base.keys);
        add_name(&names, vector->attribute);
        add_parts(&names, vector->filters, vector->filter_count);
    }
    if (table->ttl.attribute.len > 0)
        add_name(&names, table->ttl.attribute);
    pick(builder, item, &names);
}

static void pick_projected(struct value_builder *builder, const struct table *table,
                           const struct index *index, struct slice item)
{
    struct names names = {.count = 0};
    add_keys(&names, &table->keys);
    add_keys(&names, &index->keys);
    for (size_t i = 0; i < index->include_count; i++)
        add_name(&names, index->include[i]);
    pick(builder, item, &names);
}

void layout_index_view(struct value_builder *builder, const struct table *table,
                       const struct index *index, struct slice item)
{
    if (index->projection == PROJECT_ALL) {
        value_put(builder, item);
        return;
    }
    if (layout_is_wide(item)) {
        pick_projected(builder, table, index, item);
        return;
    }
    value_open_map(builder);
    struct value_iter iter;
    value_iter_init(&iter, item);
    while (value_iter_next(&iter)) {
        if (layout_index_projects(table, index, iter.name)) {
            value_name(builder, iter.name);
            value_put(builder, iter.value);
        }
    }
    (void)value_close(builder);
}

// ---- Records ---------------------------------------------------------------------------

void record_write(struct buf *out, struct slice item, size_t size)
{
    uint8_t head[10];
    buf_add(out, head, varint_put(head, size));
    buf_slice(out, item);
}

struct slice record_item(struct slice record)
{
    const uint8_t *at = record.ptr;
    (void)varint_get(&at);
    return slice_of(at, record.len - (size_t)(at - record.ptr));
}

size_t record_size(struct slice record)
{
    const uint8_t *at = record.ptr;
    return varint_get(&at);
}

enum { REFERENCE = 0xff }; // where an item has the tag of a map

void record_refer(struct buf *out, struct slice tree_key, size_t size)
{
    uint8_t head[10];
    buf_add(out, head, varint_put(head, size));
    buf_add(out, &(uint8_t){REFERENCE}, 1);
    buf_add(out, tree_key.ptr + LAYOUT_TREE, LAYOUT_PREFIX - LAYOUT_TREE);
}

bool record_refers(struct slice record)
{
    return record_item(record).ptr[0] == REFERENCE;
}

struct slice layout_entry_keys(const struct index *index, struct slice entry_key)
{
    struct slice rest = slice_of(entry_key.ptr + LAYOUT_PREFIX, entry_key.len - LAYOUT_PREFIX);
    for (size_t i = 0; i < index->keys.hash_count + index->keys.range_count; i++)
        (void)key_skip(&rest, index->keys.parts[i].type);
    return rest;
}

void layout_bare_key(struct value_builder *builder, const struct table *table, struct slice keys)
{
    struct buf value;
    buf_init(&value, 1 << 16);
    value_open_map(builder);
    for (size_t i = 0; i < table->keys.hash_count + table->keys.range_count; i++) {
        buf_clear(&value);
        key_decode(&keys, table->keys.parts[i].type, &value);
        value_name(builder, table->keys.parts[i].name);
        value_put(builder, buf_view(&value));
    }
    (void)value_close(builder);
    buf_release(&value);
}

// The entry's key ends in the item's, which has the hash of its partition key before it.
void layout_referred_key(struct buf *out, const struct table *table, const struct index *index,
                         struct slice entry_key, struct slice record)
{
    struct slice rest = layout_entry_keys(index, entry_key);
    struct slice reference = record_item(record);
    ensure(reference.len == 1 + LAYOUT_PREFIX - LAYOUT_TREE);
    put_tree(out, table->tree);
    buf_add(out, reference.ptr + 1, reference.len - 1);
    buf_slice(out, rest);
}

void layout_tree_bounds(tree_id tree, uint8_t lower[4], uint8_t upper[4])
{
    be32_put(lower, tree);
    be32_put(upper, tree + 1);
}

struct store_cursor *layout_tree_cursor(struct store *store, struct store_snapshot *snapshot,
                                        tree_id tree)
{
    uint8_t lower[4];
    uint8_t upper[4];
    layout_tree_bounds(tree, lower, upper);
    return store_cursor_open(store, snapshot, slice_of(lower, 4), slice_of(upper, 4));
}

// AWS cuts the hash space in 4096 slots and gives each segment a run of them; finer cuts are
// needed only when there are more segments than slots.
uint64_t layout_segment_start(uint64_t segment, uint64_t total)
{
    const uint64_t slots = 4096;
    if (total <= slots)
        return ((slots * segment + total - 1) / total) << 52;
    return (uint64_t)(((unsigned __int128)segment << 64) / total);
}
