// The batch: writes gathered for one commit, readable before they are committed.
//
// Bytes go into an arena and are never moved or changed, so a slice read back
// stays valid until the batch is cleared. There is one entry per distinct key;
// writing the key again only points the entry at new bytes, so the driver sees
// the last word and nothing else. The index is an open-addressing table of entry
// numbers (plus one; zero is free), at most half full.
//
// A batch is used again for every group commit, so clearing must be cheap after a
// small group even if a large one came before: only the slots that are taken are
// wiped. A batch that has grown very large gives its tables back.
//
// The batch owns its arena, entries, ranges and index.
#include "store/store_driver.h"

#include "base/arena.h"
#include "base/hash.h"

#include <stdlib.h>

enum {
    SLOTS_MIN = 256,
    SLOTS_KEPT = 1 << 16, // a larger index is freed by clear
};

struct store_batch {
    struct arena arena;
    size_t bytes;
    bool frees;
    struct batch_entry *entries;
    uint32_t entry_count;
    uint32_t entry_cap;
    struct batch_range *ranges;
    size_t range_count;
    size_t range_cap;
    uint32_t *slots;   // entry number + 1, or 0
    uint32_t slot_cap; // a power of two
    bool failed;       // memory ran out: what it holds is not all that was given
};

struct store_batch *store_batch_new(void)
{
    struct store_batch *batch = memory_zeroed(sizeof(*batch));
    arena_init(&batch->arena, SIZE_MAX);
    return batch;
}

static void release_tables(struct store_batch *batch)
{
    free(batch->entries);
    free(batch->ranges);
    free(batch->slots);
    batch->entries = NULL;
    batch->ranges = NULL;
    batch->slots = NULL;
    batch->entry_cap = 0;
    batch->range_cap = 0;
    batch->slot_cap = 0;
}

void store_batch_free(struct store_batch *batch)
{
    if (batch == NULL)
        return;
    arena_release(&batch->arena);
    release_tables(batch);
    free(batch);
}

void store_batch_clear(struct store_batch *batch)
{
    if (batch->slot_cap > SLOTS_KEPT)
        release_tables(batch);
    else if (batch->entry_count >= batch->slot_cap / 8 && batch->slots != NULL)
        memset(batch->slots, 0, batch->slot_cap * sizeof(*batch->slots));
    else
        for (uint32_t i = 0; i < batch->entry_count; i++)
            batch->slots[batch->entries[i].slot] = 0;
    batch->entry_count = 0;
    batch->range_count = 0;
    batch->bytes = 0;
    batch->frees = false;
    batch->failed = false;
    arena_reset(&batch->arena);
}

// The batch's address is the seed.
static uint32_t key_hash(const struct store_batch *batch, struct slice key)
{
    return (uint32_t)hash_of((uint64_t)(uintptr_t)batch, key);
}

// The slot that has the key, or the free one where it belongs.
static uint32_t slot_find(const struct store_batch *batch, struct slice key, uint32_t hash)
{
    uint32_t mask = batch->slot_cap - 1;
    uint32_t slot = hash & mask;
    while (batch->slots[slot] != 0) {
        const struct batch_entry *entry = &batch->entries[batch->slots[slot] - 1];
        if (entry->hash == hash && slice_equal(entry->key, key))
            break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

static bool index_grow(struct store_batch *batch)
{
    uint32_t cap = batch->slot_cap == 0 ? SLOTS_MIN : batch->slot_cap * 2;
    ensure(cap != 0);
    uint32_t *slots = calloc(cap, sizeof(*slots));
    struct batch_entry *entries = realloc(batch->entries, cap / 2 * sizeof(*entries));
    if (entries != NULL)
        batch->entries = entries;
    if (slots == NULL || entries == NULL) {
        free(slots);
        return false;
    }
    free(batch->slots);
    batch->slots = slots;
    batch->slot_cap = cap;
    for (uint32_t i = 0; i < batch->entry_count; i++) {
        uint32_t slot = batch->entries[i].hash & (cap - 1);
        while (batch->slots[slot] != 0)
            slot = (slot + 1) & (cap - 1);
        batch->slots[slot] = i + 1;
        batch->entries[i].slot = slot;
    }
    // The entries never outgrow half of the index, so the two grow together.
    batch->entry_cap = cap / 2;
    return true;
}

// A copy; empty, and the batch has failed, if there is no memory for it.
static struct slice keep(struct store_batch *batch, struct slice bytes)
{
    if (bytes.len == 0)
        return SLICE_LIT("");
    struct slice copy = arena_copy(&batch->arena, bytes);
    if (copy.ptr == NULL) {
        batch->failed = true;
        return SLICE_LIT("");
    }
    batch->bytes += bytes.len;
    return copy;
}

// The entry of a key, made if it is missing; NULL if the batch has failed.
static struct batch_entry *entry_of(struct store_batch *batch, struct slice key)
{
    ensure(key.len > 0 && key.len <= STORE_KEY_MAX);
    if (batch->entry_count == batch->entry_cap && !batch->failed)
        batch->failed = !index_grow(batch);
    if (batch->failed)
        return NULL;
    uint32_t hash = key_hash(batch, key);
    uint32_t slot = slot_find(batch, key, hash);
    if (batch->slots[slot] != 0)
        return &batch->entries[batch->slots[slot] - 1];
    struct slice copy = keep(batch, key);
    if (batch->failed)
        return NULL;
    struct batch_entry *entry = &batch->entries[batch->entry_count++];
    *entry = (struct batch_entry){.key = copy, .hash = hash, .slot = slot};
    batch->slots[slot] = batch->entry_count;
    return entry;
}

void store_batch_put(struct store_batch *batch, struct slice key, struct slice value)
{
    ensure(value.len <= STORE_VALUE_MAX);
    struct batch_entry *entry = entry_of(batch, key);
    if (entry == NULL)
        return;
    entry->value = keep(batch, value);
    entry->deleted = false;
}

uint8_t *store_batch_put_room(struct store_batch *batch, struct slice key, size_t bytes)
{
    ensure(bytes > 0 && bytes <= STORE_VALUE_MAX);
    struct batch_entry *entry = entry_of(batch, key);
    uint8_t *room = entry == NULL ? NULL : arena_alloc(&batch->arena, bytes);
    if (room == NULL) {
        batch->failed = true;
        return NULL;
    }
    batch->bytes += bytes;
    entry->value = slice_of(room, bytes);
    entry->deleted = false;
    return room;
}

void store_batch_put_shared(struct store_batch *batch, struct slice key, struct slice value)
{
    struct batch_entry *entry = entry_of(batch, key);
    if (entry == NULL)
        return;
    batch->bytes += value.len;
    entry->value = value;
    entry->deleted = false;
}

void store_batch_delete(struct store_batch *batch, struct slice key)
{
    struct batch_entry *entry = entry_of(batch, key);
    if (entry == NULL)
        return;
    entry->value = SLICE_LIT("");
    entry->deleted = true;
}

void store_batch_delete_range(struct store_batch *batch, struct slice lower, struct slice upper)
{
    ensure(lower.len > 0 && lower.len <= STORE_KEY_MAX);
    ensure(upper.len > 0 && upper.len <= STORE_KEY_MAX);
    if (slice_compare(lower, upper) >= 0)
        return;
    if (batch->range_count == batch->range_cap) {
        size_t cap = batch->range_cap == 0 ? 4 : batch->range_cap * 2;
        struct batch_range *ranges = realloc(batch->ranges, cap * sizeof(*ranges));
        if (ranges == NULL) {
            batch->failed = true;
            return;
        }
        batch->ranges = ranges;
        batch->range_cap = cap;
    }
    batch->ranges[batch->range_count++] =
        (struct batch_range){.lower = keep(batch, lower), .upper = keep(batch, upper)};
}

enum store_batch_word store_batch_get(const struct store_batch *batch, struct slice key,
                                      struct slice *value)
{
    if (batch->entry_count == 0)
        return BATCH_SILENT;
    uint32_t number = batch->slots[slot_find(batch, key, key_hash(batch, key))];
    if (number == 0)
        return BATCH_SILENT;
    const struct batch_entry *entry = &batch->entries[number - 1];
    if (entry->deleted)
        return BATCH_DELETED;
    *value = entry->value;
    return BATCH_PUT;
}

void store_batch_fail(struct store_batch *batch)
{
    batch->failed = true;
}

bool store_batch_failed(const struct store_batch *batch)
{
    return batch->failed;
}

size_t store_batch_bytes(const struct store_batch *batch)
{
    return batch->bytes;
}

size_t store_batch_count(const struct store_batch *batch)
{
    return batch->entry_count + batch->range_count;
}

void store_batch_frees(struct store_batch *batch)
{
    batch->frees = true;
}

struct store_batch_view store_batch_view(const struct store_batch *batch)
{
    return (struct store_batch_view){
        .ranges = batch->ranges,
        .range_count = batch->range_count,
        .entries = batch->entries,
        .entry_count = batch->entry_count,
        .frees = batch->frees,
    };
}
