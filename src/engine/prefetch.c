// What the jobs of a group are going to read, in one call before the first of them runs. Over a
// network the reads of a group would else be as many round trips, one after another, and everybody
// would wait for them.
//
// Only the writer commits, so what was read holds until the batch at hand is committed; what the
// batch itself says comes first, as always (txn_get). Values are copied into the arena of whoever
// asks for them: a plan may outlive its group. If the call fails nothing is held, and each job
// reads for itself and hears of the failure.
#include "engine/engine_internal.h"

void prefetch_init(struct prefetch *prefetch)
{
    arena_init(&prefetch->arena, PREFETCH_BYTES);
}

void prefetch_release(struct prefetch *prefetch)
{
    arena_release(&prefetch->arena);
}

bool prefetch_add(struct prefetch *prefetch, struct slice key)
{
    if (prefetch->count == PREFETCH_KEYS)
        return false;
    if (key_map_find(&prefetch->by_key, key) != NULL)
        return true;
    struct store_read *read = &prefetch->reads[prefetch->count];
    *read = (struct store_read){.key = arena_copy(&prefetch->arena, key)};
    if (read->key.ptr == NULL || !key_map_add(&prefetch->by_key, &prefetch->arena, read->key, read))
        return false;
    prefetch->count++;
    return true;
}

void prefetch_run(struct prefetch *prefetch, struct store *store)
{
    struct store_error cause;
    // A single key is read by the job itself, in as much time.
    if (prefetch->count < 2 ||
        !store_get_many(store, NULL, prefetch->reads, prefetch->count, &cause)) {
        prefetch->count = 0;
        prefetch_clear(prefetch, store);
    }
}

const struct store_read *prefetch_find(const struct prefetch *prefetch, struct slice key)
{
    return key_map_find(&prefetch->by_key, key);
}

void prefetch_clear(struct prefetch *prefetch, struct store *store)
{
    for (size_t i = 0; i < prefetch->count; i++)
        store_value_release(store, &prefetch->reads[i].value);
    prefetch->count = 0;
    prefetch->by_key = (struct key_map){.count = 0};
    arena_reset(&prefetch->arena);
}
