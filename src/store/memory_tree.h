// A persistent ordered tree: the memory driver's data structure.
//
// "Persistent" in the sense of functional programming: an edit never changes what
// an existing root shows; it makes a new root that shares all untouched nodes
// with the old one. Roots, nodes and pairs are counted references; a NULL root is
// the empty tree. Any number of threads may read the same root without a lock.
#ifndef STORE_MEMORY_TREE_H
#define STORE_MEMORY_TREE_H

#include "base/attributes.h"
#include "base/slice.h"

struct tree_node;

// A key and its value, immutable, in one block.
struct tree_pair;
struct slice tree_pair_key(const struct tree_pair *pair);
struct slice tree_pair_value(const struct tree_pair *pair);
struct tree_pair *tree_pair_hold(struct tree_pair *pair);
void tree_pair_release(struct tree_pair *pair);

// Root references.
struct tree_node *tree_hold(struct tree_node *root);
void tree_release(struct tree_node *root);

// The pair of a key, or NULL; borrowed from the root.
struct tree_pair *tree_find(const struct tree_node *root, struct slice key);

// An edit makes a private successor of `root`. Set root to a held reference and number to one
// that no earlier edit had; afterwards root is the result, which the caller owns.
struct tree_edit {
    struct tree_node *root;
    uint64_t number;
};
void tree_put(struct tree_edit *edit, struct slice key, struct slice value);
void tree_delete(struct tree_edit *edit, struct slice key);
void tree_delete_range(struct tree_edit *edit, struct slice lower, struct slice upper);

// A place in a tree: the way from the root down to a pair. Depth 0 is no place. It borrows the
// root, which must be held as long as the path is used.
enum { TREE_HEIGHT_MAX = 16 };
struct tree_path {
    unsigned depth;
    struct {
        const struct tree_node *node;
        unsigned at;
    } steps[TREE_HEIGHT_MAX];
};
void tree_path_last(struct tree_path *path, const struct tree_node *root);
// To the first key >= key.
void tree_path_seek(struct tree_path *path, const struct tree_node *root, struct slice key);
void tree_path_next(struct tree_path *path);
void tree_path_prev(struct tree_path *path);
// NULL at no place.
const struct tree_pair *tree_path_pair(const struct tree_path *path);

// Checks every invariant of the structure and returns the number of pairs; for tests.
size_t tree_check(const struct tree_node *root);

#endif
