// A persistent B+tree with counted references.
//
// Every node has up to FANOUT slots. A slot of a leaf is a pair; a slot of an
// inner node is a kid, together with the least pair of that kid's subtree. So
// splitting, merging, copying and searching are the same code at every height.
//
// Invariants
// - All leaves are at the same depth; no node is empty; an inner root has two kids or more.
// - least[i] of an inner node is exactly kids[i]->least[0]; least[] ascends strictly.
// - A node whose `edit` is the number of the running edit is private to it: one reference, not
//   visible to any reader; it is changed in place. Any other node is immutable: it is copied first.
//   The parent of a private node is private too.
// - A node with less than a quarter of its slots is merged with a neighbour if both fit into one.
//
// Who frees what: each slot holds one reference to its pair and to its kid. Dropping the last
// reference to a node drops those of its slots.
#include "store/memory_tree.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { FANOUT = 32, SPARSE = FANOUT / 4 };

struct tree_pair {
    atomic_uint references;
    uint32_t key_len;
    uint32_t value_len;
    uint8_t bytes[]; // key, then value
};

struct tree_node {
    atomic_uint references;
    uint16_t height; // 0 for a leaf
    uint16_t count;
    uint64_t edit;
    struct tree_pair *least[FANOUT];
    struct tree_node *kids[]; // FANOUT of them, in inner nodes only
};

// ---- References -----------------------------------------------------------------

struct slice tree_pair_key(const struct tree_pair *pair)
{
    return slice_of(pair->bytes, pair->key_len);
}

struct slice tree_pair_value(const struct tree_pair *pair)
{
    return slice_of(pair->bytes + pair->key_len, pair->value_len);
}

static struct tree_pair *pair_new(struct slice key, struct slice value)
{
    struct tree_pair *pair = malloc(sizeof(*pair) + key.len + value.len);
    ensure_memory(pair);
    atomic_init(&pair->references, 1);
    pair->key_len = (uint32_t)key.len;
    pair->value_len = (uint32_t)value.len;
    memcpy(pair->bytes, key.ptr, key.len);
    if (value.len > 0)
        memcpy(pair->bytes + key.len, value.ptr, value.len);
    return pair;
}

// Taking a reference needs no order: whoever takes one has one already, or a lock.
struct tree_pair *tree_pair_hold(struct tree_pair *pair)
{
    atomic_fetch_add_explicit(&pair->references, 1, memory_order_relaxed);
    return pair;
}

void tree_pair_release(struct tree_pair *pair)
{
    if (atomic_fetch_sub_explicit(&pair->references, 1, memory_order_acq_rel) == 1)
        free(pair);
}

struct tree_node *tree_hold(struct tree_node *root)
{
    if (root != NULL)
        atomic_fetch_add_explicit(&root->references, 1, memory_order_relaxed);
    return root;
}

void tree_release(struct tree_node *root)
{
    if (root == NULL || atomic_fetch_sub_explicit(&root->references, 1, memory_order_acq_rel) != 1)
        return;
    for (unsigned i = 0; i < root->count; i++) {
        tree_pair_release(root->least[i]);
        if (root->height > 0)
            tree_release(root->kids[i]);
    }
    free(root);
}

static struct tree_node *node_new(const struct tree_edit *edit, uint16_t height)
{
    size_t kids = height > 0 ? FANOUT * sizeof(struct tree_node *) : 0;
    struct tree_node *node = malloc(sizeof(*node) + kids);
    ensure_memory(node);
    atomic_init(&node->references, 1);
    node->height = height;
    node->count = 0;
    node->edit = edit->number;
    return node;
}

// ---- Slots ----------------------------------------------------------------------

// The first slot whose least key is >= key; count if there is none.
static unsigned slot_at_least(const struct tree_node *node, struct slice key)
{
    unsigned low = 0;
    unsigned high = node->count;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (slice_compare(tree_pair_key(node->least[middle]), key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool slot_has(const struct tree_node *node, unsigned at, struct slice key)
{
    return at < node->count && slice_equal(tree_pair_key(node->least[at]), key);
}

// The kid of an inner node under which the key is, or would be.
static unsigned slot_toward(const struct tree_node *node, struct slice key)
{
    unsigned at = slot_at_least(node, key);
    return slot_has(node, at, key) || at == 0 ? at : at - 1;
}

// Copies slots [from, from + n) of one node behind the last slot of another, taking references.
static void slots_append(struct tree_node *to, const struct tree_node *node, unsigned from,
                         unsigned n)
{
    for (unsigned i = from; i < from + n; i++, to->count++) {
        to->least[to->count] = tree_pair_hold(node->least[i]);
        if (node->height > 0)
            to->kids[to->count] = tree_hold(node->kids[i]);
    }
}

// Removes slots [from, to) and their references.
static void slots_remove(struct tree_node *node, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        tree_pair_release(node->least[i]);
        if (node->height > 0)
            tree_release(node->kids[i]);
    }
    unsigned behind = node->count - to;
    memmove(&node->least[from], &node->least[to], behind * sizeof(node->least[0]));
    if (node->height > 0)
        memmove(&node->kids[from], &node->kids[to], behind * sizeof(node->kids[0]));
    node->count = (uint16_t)(from + behind);
}

// Puts a slot into a private node that has room, taking over the references.
static void slot_insert(struct tree_node *node, unsigned at, struct tree_pair *pair,
                        struct tree_node *kid)
{
    unsigned behind = node->count - at;
    memmove(&node->least[at + 1], &node->least[at], behind * sizeof(node->least[0]));
    node->least[at] = pair;
    if (node->height > 0) {
        memmove(&node->kids[at + 1], &node->kids[at], behind * sizeof(node->kids[0]));
        node->kids[at] = kid;
    }
    node->count++;
}

// Like slot_insert, but splits a full node: returns the new right half, or NULL. Keys that come
// in ascending order leave full nodes behind, since then the right half is the new slot alone.
static struct tree_node *slot_add(struct tree_edit *edit, struct tree_node *node, unsigned at,
                                  struct tree_pair *pair, struct tree_node *kid)
{
    if (node->count < FANOUT) {
        slot_insert(node, at, pair, kid);
        return NULL;
    }
    struct tree_node *right = node_new(edit, node->height);
    unsigned half = at == FANOUT ? FANOUT : FANOUT / 2;
    slots_append(right, node, half, FANOUT - half);
    slots_remove(node, half, FANOUT);
    if (at < half)
        slot_insert(node, at, pair, kid);
    else
        slot_insert(right, at - half, pair, kid);
    return right;
}

// Makes the kid in a slot of a private node private, and returns it.
static struct tree_node *kid_own(struct tree_edit *edit, struct tree_node **place)
{
    struct tree_node *node = *place;
    if (node->edit == edit->number)
        return node;
    struct tree_node *copy = node_new(edit, node->height);
    slots_append(copy, node, 0, node->count);
    tree_release(node);
    *place = copy;
    return copy;
}

// Restores "least[at] is the kid's least pair" after the kid has changed.
static void least_refresh(struct tree_node *node, unsigned at)
{
    struct tree_pair *least = node->kids[at]->least[0];
    if (node->least[at] == least)
        return;
    tree_pair_release(node->least[at]);
    node->least[at] = tree_pair_hold(least);
}

// ---- Put ------------------------------------------------------------------------

// Puts a pair (taking over the reference) under a private node. Returns the new right
// neighbour if the node had to be split.
static struct tree_node *node_put(struct tree_edit *edit, struct tree_node *node,
                                  struct tree_pair *pair)
{
    struct slice key = tree_pair_key(pair);
    if (node->height == 0) {
        unsigned at = slot_at_least(node, key);
        if (!slot_has(node, at, key))
            return slot_add(edit, node, at, pair, NULL);
        tree_pair_release(node->least[at]);
        node->least[at] = pair;
        return NULL;
    }
    unsigned at = slot_toward(node, key);
    struct tree_node *right = node_put(edit, kid_own(edit, &node->kids[at]), pair);
    least_refresh(node, at);
    if (right == NULL)
        return NULL;
    return slot_add(edit, node, at + 1, tree_pair_hold(right->least[0]), right);
}

void tree_put(struct tree_edit *edit, struct slice key, struct slice value)
{
    if (edit->root == NULL)
        edit->root = node_new(edit, 0);
    struct tree_node *left = kid_own(edit, &edit->root);
    struct tree_node *right = node_put(edit, left, pair_new(key, value));
    if (right == NULL)
        return;
    ensure(left->height + 2 < TREE_HEIGHT_MAX);
    struct tree_node *root = node_new(edit, (uint16_t)(left->height + 1));
    slot_insert(root, 0, tree_pair_hold(left->least[0]), left);
    slot_insert(root, 1, tree_pair_hold(right->least[0]), right);
    edit->root = root;
}

// ---- Delete ---------------------------------------------------------------------

// After a kid of a private node lost slots: drops it if it is empty, merges it with a neighbour
// if it is sparse and both fit into one node.
static void kid_mend(struct tree_edit *edit, struct tree_node *node, unsigned at)
{
    if (node->kids[at]->count == 0) {
        slots_remove(node, at, at + 1);
        return;
    }
    least_refresh(node, at);
    if (node->kids[at]->count >= SPARSE)
        return;
    unsigned left = at;
    if (at > 0 && node->kids[at - 1]->count + node->kids[at]->count <= FANOUT)
        left = at - 1;
    else if (at + 1 == node->count || node->kids[at]->count + node->kids[at + 1]->count > FANOUT)
        return;
    struct tree_node *right = node->kids[left + 1];
    slots_append(kid_own(edit, &node->kids[left]), right, 0, right->count);
    slots_remove(node, left + 1, left + 2);
}

static void node_delete(struct tree_edit *edit, struct tree_node *node, struct slice key)
{
    if (node->height == 0) {
        unsigned at = slot_at_least(node, key);
        slots_remove(node, at, at + 1);
        return;
    }
    unsigned at = slot_toward(node, key);
    node_delete(edit, kid_own(edit, &node->kids[at]), key);
    kid_mend(edit, node, at);
}

// Only the kids at the two ends of the range are entered; those between are dropped whole.
static void node_delete_range(struct tree_edit *edit, struct tree_node *node, struct slice lower,
                              struct slice upper)
{
    unsigned end = slot_at_least(node, upper);
    if (node->height == 0) {
        slots_remove(node, slot_at_least(node, lower), end);
        return;
    }
    if (end == 0)
        return;
    unsigned first = slot_toward(node, lower);
    unsigned last = end - 1;
    if (first + 1 < last) {
        slots_remove(node, first + 1, last);
        last = first + 1;
    }
    if (first < last) {
        node_delete_range(edit, kid_own(edit, &node->kids[last]), lower, upper);
        kid_mend(edit, node, last);
    }
    node_delete_range(edit, kid_own(edit, &node->kids[first]), lower, upper);
    kid_mend(edit, node, first);
}

// After slots were removed: an empty root is no root, and a lone kid becomes the root.
static void root_settle(struct tree_edit *edit)
{
    while (edit->root->height > 0 && edit->root->count == 1) {
        struct tree_node *kid = tree_hold(edit->root->kids[0]);
        tree_release(edit->root);
        edit->root = kid;
    }
    if (edit->root->count > 0)
        return;
    tree_release(edit->root);
    edit->root = NULL;
}

void tree_delete(struct tree_edit *edit, struct slice key)
{
    if (tree_find(edit->root, key) == NULL)
        return;
    node_delete(edit, kid_own(edit, &edit->root), key);
    root_settle(edit);
}

void tree_delete_range(struct tree_edit *edit, struct slice lower, struct slice upper)
{
    struct tree_path path;
    tree_path_seek(&path, edit->root, lower);
    const struct tree_pair *pair = tree_path_pair(&path);
    if (pair == NULL || slice_compare(tree_pair_key(pair), upper) >= 0)
        return;
    node_delete_range(edit, kid_own(edit, &edit->root), lower, upper);
    root_settle(edit);
}

// ---- Reading --------------------------------------------------------------------

struct tree_pair *tree_find(const struct tree_node *root, struct slice key)
{
    if (root == NULL)
        return NULL;
    while (root->height > 0)
        root = root->kids[slot_toward(root, key)];
    unsigned at = slot_at_least(root, key);
    return slot_has(root, at, key) ? root->least[at] : NULL;
}

static void path_push(struct tree_path *path, const struct tree_node *node, unsigned at)
{
    ensure(path->depth < TREE_HEIGHT_MAX);
    path->steps[path->depth].node = node;
    path->steps[path->depth].at = at;
    path->depth++;
}

// From a node down its left (or right) edge to a pair.
static void path_descend(struct tree_path *path, const struct tree_node *node, bool right)
{
    while (true) {
        unsigned at = right ? node->count - 1u : 0;
        path_push(path, node, at);
        if (node->height == 0)
            return;
        node = node->kids[at];
    }
}

void tree_path_last(struct tree_path *path, const struct tree_node *root)
{
    path->depth = 0;
    if (root != NULL)
        path_descend(path, root, true);
}

void tree_path_next(struct tree_path *path)
{
    while (path->depth > 0) {
        unsigned at = ++path->steps[path->depth - 1].at;
        const struct tree_node *node = path->steps[path->depth - 1].node;
        if (at < node->count) {
            if (node->height > 0)
                path_descend(path, node->kids[at], false);
            return;
        }
        path->depth--;
    }
}

void tree_path_prev(struct tree_path *path)
{
    while (path->depth > 0) {
        const struct tree_node *node = path->steps[path->depth - 1].node;
        if (path->steps[path->depth - 1].at > 0) {
            unsigned at = --path->steps[path->depth - 1].at;
            if (node->height > 0)
                path_descend(path, node->kids[at], true);
            return;
        }
        path->depth--;
    }
}

void tree_path_seek(struct tree_path *path, const struct tree_node *root, struct slice key)
{
    path->depth = 0;
    if (root == NULL)
        return;
    while (root->height > 0) {
        unsigned at = slot_toward(root, key);
        path_push(path, root, at);
        root = root->kids[at];
    }
    unsigned at = slot_at_least(root, key);
    path_push(path, root, at);
    if (at < root->count)
        return;
    // All of this leaf is smaller: step from its last pair to the first of the next leaf.
    path->steps[path->depth - 1].at = at - 1;
    tree_path_next(path);
}

const struct tree_pair *tree_path_pair(const struct tree_path *path)
{
    if (path->depth == 0)
        return NULL;
    return path->steps[path->depth - 1].node->least[path->steps[path->depth - 1].at];
}

size_t tree_check(const struct tree_node *root)
{
    if (root == NULL)
        return 0;
    ensure(root->count > 0 && root->count <= FANOUT);
    size_t pairs = 0;
    for (unsigned i = 0; i < root->count; i++) {
        if (i > 0)
            ensure(slice_compare(tree_pair_key(root->least[i - 1]), tree_pair_key(root->least[i])) <
                   0);
        if (root->height == 0) {
            pairs++;
            continue;
        }
        const struct tree_node *kid = root->kids[i];
        ensure(kid->height + 1 == root->height && kid->least[0] == root->least[i]);
        if (i + 1 < root->count)
            ensure(slice_compare(tree_pair_key(kid->least[kid->count - 1]),
                                 tree_pair_key(root->least[i + 1])) < 0);
        pairs += tree_check(kid);
    }
    return pairs;
}
