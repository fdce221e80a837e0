// Things by a key of bytes: a hash table in an arena, at most half full. Keys are borrowed; nothing
// is ever taken out of it.
#ifndef BASE_KEY_MAP_H
#define BASE_KEY_MAP_H

#include "base/arena.h"
#include "base/attributes.h"

struct key_map_slot {
    struct slice key;
    void *what;
};
struct key_map {
    size_t count;
    size_t mask;                // slots - 1
    struct key_map_slot *slots; // NULL as long as there is nothing
};

// NULL if there is none of that key.
void *key_map_find(const struct key_map *map, struct slice key);
// The key is none that the map has. False when memory is out.
MUST_CHECK bool key_map_add(struct key_map *map, struct arena *arena, struct slice key, void *what);

#endif
