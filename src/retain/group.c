// The groups of `keep`: of each, the items that come first, in a heap whose top is the last of
// them. See retain.h.
//
// Memory is bounded: when it is used up, the groups of this pass are parted in two by a bit of
// their hash, and those of the other half are dropped, for a pass of their own.
#include "retain/retain.h"

#include "base/hash.h"

#include <stdlib.h>

enum {
    GROUP_COST = 128, // beside its name
    ENTRY_COST = 80,  // beside its bytes
    BITS_MAX = 16,    // beyond that a single group is too large
};

// The groups of a pass: those whose hash has these low bits.
struct part {
    unsigned bits;
    uint64_t value;
};

struct keep_groups {
    uint64_t most;
    size_t limit;
    uint64_t seed;
    size_t memory;
    uint64_t surplus; // of all groups that were not dropped
    unsigned passes;
    struct part part;
    size_t later_count; // parts that have no pass yet
    struct part later[BITS_MAX];
    size_t count;
    size_t slots; // a power of two
    struct keep_group **table;
    struct keep_entry gone; // the entry that was pushed out last
};

static void entry_free(struct keep_groups *groups, struct keep_entry *entry)
{
    if (entry->key.ptr == NULL)
        return;
    groups->memory -= entry->key.len + entry->rank.len + ENTRY_COST;
    free((void *)(uintptr_t)entry->key.ptr); // the rank stands behind the key
    *entry = (struct keep_entry){.key = {NULL, 0}};
}

static void group_free(struct keep_groups *groups, struct keep_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        entry_free(groups, &group->entries[i]);
    groups->memory -= group->name.len + GROUP_COST;
    groups->count--;
    free(group->entries);
    free((void *)(uintptr_t)group->name.ptr);
    free(group);
}

struct keep_groups *groups_new(uint64_t most, size_t memory, uint64_t seed)
{
    struct keep_groups *groups = memory_zeroed(sizeof(*groups));
    groups->most = most;
    groups->limit = memory;
    groups->seed = seed;
    groups->passes = 1;
    groups->slots = 1024;
    groups->table = memory_zeroed(groups->slots * sizeof(struct keep_group *));
    return groups;
}

static bool is_of(const struct part *part, uint64_t hash)
{
    return (hash & ((UINT64_C(1) << part->bits) - 1)) == part->value;
}

// Drops all groups, or those that are not of this pass.
static void drop(struct keep_groups *groups, bool all)
{
    for (size_t i = 0; i < groups->slots; i++) {
        struct keep_group **link = &groups->table[i];
        while (*link != NULL) {
            struct keep_group *group = *link;
            if (all || !is_of(&groups->part, group->hash)) {
                *link = group->next;
                groups->surplus -= all ? 0 : group->surplus;
                group_free(groups, group);
            } else {
                link = &group->next;
            }
        }
    }
}

void groups_free(struct keep_groups *groups)
{
    if (groups == NULL)
        return;
    drop(groups, true);
    entry_free(groups, &groups->gone);
    free(groups->table);
    free(groups);
}

bool groups_more(const struct keep_groups *groups)
{
    return groups->later_count > 0;
}

void groups_next(struct keep_groups *groups)
{
    ensure(groups->later_count > 0);
    drop(groups, true);
    groups->part = groups->later[--groups->later_count];
    groups->passes++;
}

uint64_t groups_surplus(const struct keep_groups *groups)
{
    return groups->surplus;
}

unsigned groups_passes(const struct keep_groups *groups)
{
    return groups->passes;
}

// ---- Finding ----------------------------------------------------------------------------------

// The passes take the low bits, the table takes others.
static size_t slot_of(const struct keep_groups *groups, uint64_t hash)
{
    return (size_t)(hash >> 17) & (groups->slots - 1);
}

static struct keep_group *find(const struct keep_groups *groups, uint64_t hash, struct slice name)
{
    struct keep_group *group = groups->table[slot_of(groups, hash)];
    while (group != NULL && !(group->hash == hash && slice_equal(group->name, name)))
        group = group->next;
    return group;
}

const struct keep_group *groups_find(const struct keep_groups *groups, struct slice name)
{
    return find(groups, hash_of(groups->seed, name), name);
}

static void grow(struct keep_groups *groups)
{
    struct keep_group **old = groups->table;
    size_t slots = groups->slots;
    groups->slots *= 2;
    groups->table = memory_zeroed(groups->slots * sizeof(struct keep_group *));
    for (size_t i = 0; i < slots; i++) {
        struct keep_group *next;
        for (struct keep_group *group = old[i]; group != NULL; group = next) {
            next = group->next;
            size_t slot = slot_of(groups, group->hash);
            group->next = groups->table[slot];
            groups->table[slot] = group;
        }
    }
    free(old);
}

static struct slice copy_of(struct slice bytes, struct slice more)
{
    uint8_t *copy = malloc(bytes.len + more.len + 1);
    ensure_memory(copy);
    memcpy(copy, bytes.ptr, bytes.len);
    if (more.len > 0)
        memcpy(copy + bytes.len, more.ptr, more.len);
    return slice_of(copy, bytes.len);
}

static struct keep_group *make(struct keep_groups *groups, uint64_t hash, struct slice name)
{
    struct keep_group *group = memory_zeroed(sizeof(*group));
    group->hash = hash;
    group->name = copy_of(name, slice_of(NULL, 0));
    if (groups->count >= groups->slots)
        grow(groups);
    size_t slot = slot_of(groups, hash);
    group->next = groups->table[slot];
    groups->table[slot] = group;
    groups->count++;
    groups->memory += name.len + GROUP_COST;
    return group;
}

// ---- The heap ---------------------------------------------------------------------------------

int keep_compare(const struct keep_entry *a, const struct keep_entry *b)
{
    int order = slice_compare(a->rank, b->rank);
    return order != 0 ? order : slice_compare(a->key, b->key);
}

static void swap(struct keep_entry *a, struct keep_entry *b)
{
    struct keep_entry other = *a;
    *a = *b;
    *b = other;
}

static void sink(struct keep_group *group)
{
    size_t at = 0;
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < group->count; child++) {
            if (keep_compare(&group->entries[child], &group->entries[least]) < 0)
                least = child;
        }
        if (least == at)
            return;
        swap(&group->entries[at], &group->entries[least]);
        at = least;
    }
}

static void rise(struct keep_group *group)
{
    size_t at = group->count - 1;
    while (at > 0 && keep_compare(&group->entries[at], &group->entries[(at - 1) / 2]) < 0) {
        swap(&group->entries[at], &group->entries[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

static struct keep_entry entry_new(struct keep_groups *groups, struct slice rank, struct slice key)
{
    struct keep_entry entry = {.key = copy_of(key, rank)};
    entry.rank = slice_of(entry.key.ptr + key.len, rank.len);
    groups->memory += key.len + rank.len + ENTRY_COST;
    return entry;
}

// Halves what is kept until it fits.
static bool fit(struct keep_groups *groups, struct error *error)
{
    while (groups->memory > groups->limit) {
        struct part *part = &groups->part;
        if (part->bits == BITS_MAX)
            return error_set(error, ERR_INTERNAL,
                             "the items that `keep` keeps of a single group do not fit into %zu MB "
                             "of memory: keep fewer, or name more attributes behind `per`",
                             groups->limit >> 20);
        groups->later[groups->later_count++] =
            (struct part){part->bits + 1, part->value | UINT64_C(1) << part->bits};
        part->bits++;
        drop(groups, false);
    }
    return true;
}

bool groups_add(struct keep_groups *groups, struct slice name, struct slice rank, struct slice key,
                bool *surplus, struct slice *surplus_key, struct error *error)
{
    uint64_t hash = hash_of(groups->seed, name);
    struct keep_entry given = {rank, key};
    *surplus = false;
    if (!is_of(&groups->part, hash))
        return true;
    struct keep_group *group = find(groups, hash, name);
    if (group == NULL)
        group = make(groups, hash, name);
    if (group->count < groups->most) {
        group->entries =
            memory_grow(group->entries, group->count, &group->capacity, sizeof(*group->entries));
        group->entries[group->count++] = entry_new(groups, rank, key);
        rise(group);
        return fit(groups, error);
    }
    *surplus = true;
    group->surplus++;
    groups->surplus++;
    *surplus_key = key;
    if (groups->most == 0 || keep_compare(&given, &group->entries[0]) < 0)
        return true;
    entry_free(groups, &groups->gone);
    groups->gone = group->entries[0];
    *surplus_key = groups->gone.key;
    group->entries[0] = entry_new(groups, rank, key);
    sink(group);
    return fit(groups, error);
}
