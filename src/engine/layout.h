// Where things stand in the store (docs/FORMAT.md is the reference):
//
//   item         tree, hash, partition key, sort key -> record
//   index entry  tree, hash, index keys, table keys  -> record of what is projected, or reference
//   record       varint size by AWS's formula, then the item (an M value)
//   reference    varint size, a byte that begins no item, the hash of the item it stands for
//
// tree is 4 bytes, big-endian; hash is the 8 bytes by which AWS orders a Scan; keys are in the
// order-preserving encoding of value/key.h.
#ifndef ENGINE_LAYOUT_H
#define ENGINE_LAYOUT_H

#include "engine/table.h"
#include "store/store.h"

enum {
    LAYOUT_TREE = 4,
    LAYOUT_PREFIX = 12, // tree and hash
};

// A tree that nothing is ever in: tree ids never reach it.
#define LAYOUT_NOWHERE UINT32_MAX

// Makes `out` the key that has these bytes behind the tree.
void layout_tree_key(struct buf *out, tree_id tree, struct slice rest);

// Appends tree, hash and the encoded partition key parts, given as encoded values.
void layout_partition(struct buf *out, tree_id tree, const struct slice *values, size_t count);

// Appends the tree key of the item with these attributes, which must all be there with the
// right types.
void layout_item_key(struct buf *out, tree_id tree, const struct key_schema *keys,
                     struct slice item);

// Appends the key of the item's entry in the index. False, with nothing appended, if the item has
// no entry there (an index attribute is missing, or is not fit to be a key).
MUST_CHECK bool layout_index_key(struct buf *out, const struct table *table,
                                 const struct index *index, struct slice item);

// The same in two steps, for whoever has the item's tree key: the values of the index's key
// attributes (false if the item has no entry), and the key that is made of them.
MUST_CHECK bool layout_index_values(const struct index *index, struct slice item,
                                    struct slice values[2 * LIMIT_KEY_PARTS]);
void layout_index_entry(struct buf *out, const struct index *index, const struct slice *values,
                        struct slice tree_key);

// Whether an item has so many attributes that one does not look for each of many names in it.
bool layout_is_wide(struct slice item);
// Builds a map of those attributes of an item that make keys: of the table, of its indexes, of
// expiry. Whoever looks for them finds the same there as in the item.
void layout_key_image(struct value_builder *builder, const struct table *table, struct slice item);

// Builds the item as the index sees it.
void layout_index_view(struct value_builder *builder, const struct table *table,
                       const struct index *index, struct slice item);

// Whether a table attribute is in the index.
bool layout_index_projects(const struct table *table, const struct index *index,
                           struct slice attribute);

// A record around an item, and what is in it.
void record_write(struct buf *out, struct slice item, size_t size);
struct slice record_item(struct slice record);
size_t record_size(struct slice record);

// An index entry that holds no item but refers to that of the table: its size is the projected
// item's. The key of what it refers to is made of it and of its own key.
void record_refer(struct buf *out, struct slice tree_key, size_t size);
bool record_refers(struct slice record);
void layout_referred_key(struct buf *out, const struct table *table, const struct index *index,
                         struct slice entry_key, struct slice record);

// Builds the bare key of an item out of what stands behind tree and hash in its tree key.
void layout_bare_key(struct value_builder *builder, const struct table *table, struct slice keys);
// The part of an index entry's key that is the table's.
struct slice layout_entry_keys(const struct index *index, struct slice entry_key);

// The first and the end (exclusive) key of a tree.
void layout_tree_bounds(tree_id tree, uint8_t lower[4], uint8_t upper[4]);
// A cursor over a tree, which stands nowhere yet.
MUST_CHECK struct store_cursor *layout_tree_cursor(struct store *store,
                                                   struct store_snapshot *snapshot, tree_id tree);

// The hash from which segment `segment` of `total` begins; segment == total has no bound and
// must not be asked for.
uint64_t layout_segment_start(uint64_t segment, uint64_t total);

#endif
