// Chunked bump allocation. Chunks double from 4 KB up to 1 MB, so that a small
// request costs one malloc and a large one few. Chunks are owned by the arena; all but the small
// ones are counted in its account.
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHUNK_MIN = BUDGET_UNCOUNTED, CHUNK_MAX = 1 << 20 };

struct arena_chunk {
    struct arena_chunk *older;
    size_t size; // of the whole chunk, header included
};

// The header's size, rounded so that what follows it is aligned.
#define HEADER ((sizeof(struct arena_chunk) + 15) & ~(size_t)15)

void arena_init(struct arena *arena, size_t budget)
{
    arena_init_counted(arena, budget, NULL, BUDGET_CALLS);
}

void arena_init_counted(struct arena *arena, size_t budget, struct budget_account *account,
                        enum budget_kind kind)
{
    *arena = (struct arena){.budget = budget, .account = account, .kind = kind};
}

static struct arena_chunk *new_chunk(struct arena *arena, size_t size)
{
    bool counted = size > BUDGET_UNCOUNTED;
    if (counted && !budget_take(arena->account, arena->kind, size))
        return NULL;
    struct arena_chunk *chunk = malloc(size);
    if (chunk == NULL) {
        if (counted)
            budget_give(arena->account, arena->kind, size);
        budget_starve(arena->account);
        return NULL;
    }
    chunk->size = size;
    return chunk;
}

static void free_chunks(struct arena *arena, struct arena_chunk *chunk)
{
    while (chunk != NULL) {
        struct arena_chunk *older = chunk->older;
        budget_free(arena->account, arena->kind, chunk, chunk->size,
                    chunk->size > BUDGET_UNCOUNTED ? chunk->size : 0);
        chunk = older;
    }
}

void arena_release(struct arena *arena)
{
    free_chunks(arena, arena->chunks);
    arena_init_counted(arena, arena->budget, arena->account, arena->kind);
}

// Whether a chunk is worth its memory until the arena is used again.
static bool is_kept(const struct arena *arena, const struct arena_chunk *chunk)
{
    if (chunk->size <= BUDGET_UNCOUNTED)
        return true;
    return chunk->size <= CHUNK_MAX / 4 &&
           (arena->account == NULL || !budget_tight(arena->account->budget));
}

void arena_reset(struct arena *arena)
{
    struct arena_chunk *kept = arena->chunks;
    if (kept == NULL)
        return;
    if (!is_kept(arena, kept)) {
        arena_release(arena);
        return;
    }
    free_chunks(arena, kept->older);
    kept->older = NULL;
    arena->next = (uint8_t *)kept + HEADER;
    arena->end = (uint8_t *)kept + kept->size;
    arena->used = kept->size;
}

void *arena_alloc_slow(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX / 4)
        return NULL;
    size_t rounded = (size + 15) & ~(size_t)15;
    size_t chunk_size = arena->chunks == NULL ? CHUNK_MIN : arena->chunks->size * 2;
    if (chunk_size > CHUNK_MAX)
        chunk_size = CHUNK_MAX;
    if (chunk_size < rounded + HEADER)
        chunk_size = rounded + HEADER;
    if (chunk_size > arena->budget || arena->used > arena->budget - chunk_size)
        return NULL;
    struct arena_chunk *chunk = new_chunk(arena, chunk_size);
    if (chunk == NULL)
        return NULL;
    chunk->older = arena->chunks;
    arena->chunks = chunk;
    arena->used += chunk_size;
    arena->next = (uint8_t *)chunk + HEADER + rounded;
    arena->end = (uint8_t *)chunk + chunk_size;
    return (uint8_t *)chunk + HEADER;
}

void *arena_zalloc(struct arena *arena, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        return NULL;
    void *memory = arena_alloc(arena, total);
    if (memory != NULL)
        memset(memory, 0, total);
    return memory;
}

struct slice arena_copy(struct arena *arena, struct slice bytes)
{
    uint8_t *copy = arena_alloc(arena, bytes.len + 1);
    if (copy == NULL)
        return (struct slice){NULL, 0};
    if (bytes.len > 0)
        memcpy(copy, bytes.ptr, bytes.len);
    copy[bytes.len] = 0;
    return slice_of(copy, bytes.len);
}

struct slice arena_keep(struct arena *arena, struct buf *buf)
{
    struct slice kept = buf->failed ? slice_of(NULL, 0) : arena_copy(arena, buf_view(buf));
    buf_release(buf);
    return kept;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : arena_alloc(arena, (size_t)length + 1);
    if (text != NULL)
        (void)vsnprintf(text, (size_t)length + 1, format, args);
    return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}
