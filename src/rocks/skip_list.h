// The ordered list behind RocksDB's memtables (ADR 007): a skip list of RocksDB's memtable keys.
//
// Such a key is the length of what RocksDB calls an internal key (a varint), the internal key, and
// a value that is none of our business. The internal key is the user key and a tag of 8 bytes,
// little endian: sequence << 8 | kind. The order is that of the user keys by memcmp, then the
// sequence from high to low; the kind does not count.
//
// One thread at a time inserts; any number read meanwhile, without locks. Nothing is ever removed:
// nodes live until the owner of the memory frees it all. A node becomes visible to readers
// some time during its insert, not everywhere at once: going back may pass over a node that
// going forward would find. RocksDB shows a reader only what was inserted before the reader began.
#ifndef ROCKS_SKIP_LIST_H
#define ROCKS_SKIP_LIST_H

#include "base/attributes.h"
#include "base/slice.h"

struct skip_list;
struct skip_node;

// Memory aligned to 8 bytes, which is never NULL and lives as long as the list.
typedef void *skip_list_allocate(void *context, size_t size);

#ifdef __cplusplus
extern "C" {
#endif

// All memory, the list's own too, comes from `allocate`: there is nothing to free.
MUST_CHECK struct skip_list *skip_list_new(skip_list_allocate *allocate, void *context);

// A node with room for a memtable key of `size` bytes. The caller fills the room, then inserts.
MUST_CHECK struct skip_node *skip_node_new(struct skip_list *list, size_t size, char **room);

// False if the list has the same user key and sequence already; the node is not inserted then.
MUST_CHECK bool skip_list_insert(struct skip_list *list, struct skip_node *node);

// The first node that is not before, or the last that is not after, an internal key; or NULL.
const struct skip_node *skip_list_at_or_after(const struct skip_list *list, struct slice key);
const struct skip_node *skip_list_at_or_before(const struct skip_list *list, struct slice key);
bool skip_list_has(const struct skip_list *list, struct slice key);

// The ends of the list and a node's neighbours; NULL where there is none.
const struct skip_node *skip_list_first(const struct skip_list *list);
const struct skip_node *skip_list_last(const struct skip_list *list);
const struct skip_node *skip_node_next(const struct skip_node *node);
const struct skip_node *skip_node_previous(const struct skip_node *node);

// The memtable key.
const char *skip_node_key(const struct skip_node *node);

#ifdef __cplusplus
}
#endif
#endif
