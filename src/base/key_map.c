// See key_map.h.
#include "base/key_map.h"

#include "base/hash.h"

enum { MAP_SLOTS = 64 }; // at first

static struct key_map_slot *map_slot(const struct key_map *map, struct slice key)
{
    size_t at = hash_of((uint64_t)(uintptr_t)map, key) & map->mask;
    while (map->slots[at].what != NULL && !slice_equal(map->slots[at].key, key))
        at = (at + 1) & map->mask;
    return &map->slots[at];
}

void *key_map_find(const struct key_map *map, struct slice key)
{
    return map->slots == NULL ? NULL : map_slot(map, key)->what;
}

static bool map_grow(struct key_map *map, struct arena *arena)
{
    struct key_map old = *map;
    size_t slots = old.slots == NULL ? MAP_SLOTS : 2 * (old.mask + 1);
    struct key_map_slot *wider = arena_zalloc(arena, slots, sizeof(*wider));
    if (wider == NULL)
        return false;
    map->mask = slots - 1;
    map->slots = wider;
    for (size_t i = 0; old.slots != NULL && i <= old.mask; i++) {
        if (old.slots[i].what != NULL)
            *map_slot(map, old.slots[i].key) = old.slots[i];
    }
    return true;
}

// The key is none that the map has.
bool key_map_add(struct key_map *map, struct arena *arena, struct slice key, void *what)
{
    if ((map->slots == NULL || 2 * map->count > map->mask) && !map_grow(map, arena))
        return false;
    *map_slot(map, key) = (struct key_map_slot){key, what};
    map->count++;
    return true;
}
