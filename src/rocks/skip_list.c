// A skip list with one writer and readers without locks; skip_list.h says what it holds.
//
// A node is one block: its links to later nodes, from the highest level down to level 0, a link
// back, the beginning of the user key, and the memtable key itself. A pointer to a node points to
// the link of level 0; the higher ones lie before it. The first 8 bytes of the user key are kept as
// a number, so that most comparisons are of two integers and touch no more than the node's own
// cache line. (Our keys begin with 4 bytes of tree and 8 of hash: within a tree half of the hash is
// in the number.)
//
// Readers. A node is complete before a release store links it; readers follow links by acquire
// loads. The link back of level 0 is set in the new node before it is linked, and in the node
// behind it afterwards: for a moment the way back passes over the new node, which nobody may see
// yet.
//
// The writer remembers the way to the last node it inserted (`path`). Keys that come in
// order, as those of one partition in a batch do, are inserted without a search.
#include "rocks/skip_list.h"

#include <endian.h>
#include <stdatomic.h>

enum {
    HEIGHT_MAX = 12, // enough for 4^12 nodes
    PREFIX_BYTES = 8,
    TAG_BYTES = 8,
};

typedef _Atomic(struct skip_node *) link;

struct skip_node {
    link next; // of level 0; level n is n links before it
    link previous;
    union {
        uint64_t prefix; // of the user key, as if zeros followed it
        int height;      // until the node is inserted
    };
};

struct skip_list {
    struct skip_node *head; // before all keys, of full height
    link last;              // NULL if the list is empty
    _Atomic int height;     // of the tallest node so far; grows before such a node is linked

    // The writer's.
    skip_list_allocate *allocate;
    void *context;
    uint64_t random;
    struct skip_node *path[HEIGHT_MAX]; // the last node of each level up to some place in the list
};

// What is looked for: an internal key in parts.
struct target {
    struct slice user;
    uint64_t prefix;
    uint64_t sequence;
};

static link *link_of(struct skip_node *node, int level)
{
    return (link *)(void *)node - level;
}

static struct skip_node *next_at(const struct skip_node *node, int level)
{
    const link *at = (const link *)(const void *)node - level;
    return atomic_load_explicit(at, memory_order_acquire);
}

static uint64_t sequence_at(const uint8_t *tag)
{
    uint64_t bytes;
    memcpy(&bytes, tag, sizeof(bytes));
    return le64toh(bytes) >> 8;
}

static uint64_t prefix_of(struct slice user)
{
    uint64_t bytes = 0;
    if (user.len >= PREFIX_BYTES)
        memcpy(&bytes, user.ptr, PREFIX_BYTES);
    else if (user.len > 0)
        memcpy(&bytes, user.ptr, user.len);
    return be64toh(bytes);
}

static struct target target_of(struct slice key)
{
    ensure(key.len >= TAG_BYTES);
    struct slice user = slice_of(key.ptr, key.len - TAG_BYTES);
    return (struct target){user, prefix_of(user), sequence_at(key.ptr + user.len)};
}

const char *skip_node_key(const struct skip_node *node)
{
    return (const char *)(node + 1);
}

// Reads the length in front of the internal key.
static struct slice internal_key(const struct skip_node *node)
{
    const uint8_t *at = (const uint8_t *)(node + 1);
    uint32_t length = *at++;
    if (length < 0x80)
        return slice_of(at, length);
    length &= 0x7f;
    for (unsigned shift = 7; shift <= 28; shift += 7) {
        uint8_t byte = *at++;
        length |= (uint32_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    return slice_of(at, length);
}

// Compares a node with a target of the same prefix.
static int compare_rest(const struct skip_node *node, const struct target *target)
{
    struct slice key = internal_key(node);
    const uint8_t *user = key.ptr;
    size_t length = key.len - TAG_BYTES;
    size_t common = length < target->user.len ? length : target->user.len;
    if (common > PREFIX_BYTES) {
        int order =
            memcmp(user + PREFIX_BYTES, target->user.ptr + PREFIX_BYTES, common - PREFIX_BYTES);
        if (order != 0)
            return order;
    }
    if (length != target->user.len)
        return length < target->user.len ? -1 : 1;
    uint64_t sequence = sequence_at(user + length);
    return (sequence < target->sequence) - (sequence > target->sequence);
}

static bool is_before(const struct skip_node *node, const struct target *target)
{
    if (node->prefix != target->prefix)
        return node->prefix < target->prefix;
    return compare_rest(node, target) < 0;
}

static bool is_at(const struct skip_node *node, const struct target *target)
{
    return node != NULL && node->prefix == target->prefix && compare_rest(node, target) == 0;
}

// The last node before the target, or the head; *next is the one behind it, which may be NULL. With
// a path, stores the last node before the target on each level that is in use.
static inline struct skip_node *find(const struct skip_list *list, const struct target *target,
                                     struct skip_node **next, struct skip_node **path)
{
    struct skip_node *node = list->head;
    struct skip_node *bound = NULL; // known not to be before the target
    for (int level = atomic_load_explicit(&list->height, memory_order_relaxed) - 1; level >= 0;
         level--) {
        struct skip_node *ahead = next_at(node, level);
        while (ahead != bound && ahead != NULL && is_before(ahead, target)) {
            node = ahead;
            ahead = next_at(node, level);
        }
        // A new node may have been linked meanwhile, so this level says what the bound is.
        bound = ahead;
        if (path != NULL)
            path[level] = node;
    }
    *next = bound;
    return node;
}

// ---- Writing --------------------------------------------------------------------

// A quarter of the nodes is taller than 1, a quarter of these taller than 2, and so on.
static int height_draw(struct skip_list *list)
{
    list->random ^= list->random << 13;
    list->random ^= list->random >> 7;
    list->random ^= list->random << 17;
    int zeros = __builtin_ctzll(list->random | UINT64_C(1) << (2 * (HEIGHT_MAX - 1)));
    return 1 + zeros / 2;
}

static struct skip_node *node_allocate(struct skip_list *list, int height, size_t size)
{
    size_t above = (size_t)(height - 1) * sizeof(link);
    char *block = list->allocate(list->context, above + sizeof(struct skip_node) + size);
    struct skip_node *node = (struct skip_node *)(void *)(block + above);
    node->height = height;
    return node;
}

struct skip_list *skip_list_new(skip_list_allocate *allocate, void *context)
{
    struct skip_list *list = allocate(context, sizeof(*list));
    *list = (struct skip_list){.allocate = allocate, .context = context};
    list->random = UINT64_C(0x9e3779b97f4a7c15); // any but zero
    atomic_init(&list->last, NULL);
    atomic_init(&list->height, 1);
    list->head = node_allocate(list, HEIGHT_MAX, 0);
    for (int level = 0; level < HEIGHT_MAX; level++) {
        atomic_init(link_of(list->head, level), NULL);
        list->path[level] = list->head;
    }
    return list;
}

struct skip_node *skip_node_new(struct skip_list *list, size_t size, char **room)
{
    struct skip_node *node = node_allocate(list, height_draw(list), size);
    *room = (char *)(node + 1);
    return node;
}

// Whether the target belongs right behind the path.
static bool path_fits(const struct skip_list *list, const struct target *target)
{
    struct skip_node *node = list->path[0];
    if (node != list->head && !is_before(node, target))
        return false;
    struct skip_node *next = next_at(node, 0);
    return next == NULL || !is_before(next, target);
}

// Links the node in behind the path, from level 0 up, and lets the path end in it.
static void node_link(struct skip_list *list, struct skip_node *node, int height)
{
    struct skip_node *next = next_at(list->path[0], 0);
    atomic_init(&node->previous, list->path[0] == list->head ? NULL : list->path[0]);
    for (int level = 0; level < height; level++)
        atomic_init(link_of(node, level), next_at(list->path[level], level));
    if (height > atomic_load_explicit(&list->height, memory_order_relaxed))
        atomic_store_explicit(&list->height, height, memory_order_relaxed);
    for (int level = 0; level < height; level++) {
        atomic_store_explicit(link_of(list->path[level], level), node, memory_order_release);
        list->path[level] = node;
    }
    atomic_store_explicit(next == NULL ? &list->last : &next->previous, node, memory_order_release);
}

bool skip_list_insert(struct skip_list *list, struct skip_node *node)
{
    struct target target = target_of(internal_key(node));
    int height = node->height;
    node->prefix = target.prefix;
    struct skip_node *next;
    if (!path_fits(list, &target))
        (void)find(list, &target, &next, list->path);
    if (is_at(next_at(list->path[0], 0), &target))
        return false;
    node_link(list, node, height);
    return true;
}

// ---- Reading --------------------------------------------------------------------

const struct skip_node *skip_list_at_or_after(const struct skip_list *list, struct slice key)
{
    struct target target = target_of(key);
    struct skip_node *next;
    (void)find(list, &target, &next, NULL);
    return next;
}

const struct skip_node *skip_list_at_or_before(const struct skip_list *list, struct slice key)
{
    struct target target = target_of(key);
    struct skip_node *next;
    struct skip_node *node = find(list, &target, &next, NULL);
    if (is_at(next, &target))
        return next;
    return node == list->head ? NULL : node;
}

bool skip_list_has(const struct skip_list *list, struct slice key)
{
    struct target target = target_of(key);
    struct skip_node *next;
    (void)find(list, &target, &next, NULL);
    return is_at(next, &target);
}

const struct skip_node *skip_list_first(const struct skip_list *list)
{
    return next_at(list->head, 0);
}

const struct skip_node *skip_list_last(const struct skip_list *list)
{
    return atomic_load_explicit(&list->last, memory_order_acquire);
}

const struct skip_node *skip_node_next(const struct skip_node *node)
{
    return next_at(node, 0);
}

const struct skip_node *skip_node_previous(const struct skip_node *node)
{
    return atomic_load_explicit(&node->previous, memory_order_acquire);
}
