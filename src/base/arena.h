// A bump allocator for the things that live as long as one request (or one
// compiled program, or one scanned item): allocate often, free all at once.
//
// Every arena has a budget in bytes, and may have an account of the budget that all share
// (base/budget.h). Going over either, or running out of memory, makes arena_alloc return NULL;
// the caller turns that into an error with error_budget(), which knows the difference. Nothing
// allocated from an arena is ever freed alone.
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/attributes.h"
#include "base/buf.h"

#include <stdarg.h>

struct arena_chunk;

struct arena {
    uint8_t *next; // the free part of the newest chunk
    uint8_t *end;
    struct arena_chunk *chunks; // newest first
    size_t used;                // bytes taken from the system so far
    size_t budget;
    struct budget_account *account; // or NULL
    enum budget_kind kind;          // what it is counted as in
};

// No memory is taken before the first allocation.
void arena_init(struct arena *arena, size_t budget);
// The account is borrowed for as long as the arena has memory.
void arena_init_counted(struct arena *arena, size_t budget, struct budget_account *account,
                        enum budget_kind kind);

// Frees everything; the arena may be used again.
void arena_release(struct arena *arena);

// Forgets everything but keeps one chunk, so that the next use does not pay malloc.
void arena_reset(struct arena *arena);

// Uninitialised memory aligned to 16 bytes, or NULL.
MUST_CHECK void *arena_alloc_slow(struct arena *arena, size_t size);

static inline MUST_CHECK void *arena_alloc(struct arena *arena, size_t size)
{
    size_t rounded = (size + 15) & ~(size_t)15;
    if (rounded >= size && (size_t)(arena->end - arena->next) >= rounded && arena->next != NULL) {
        void *memory = arena->next;
        arena->next += rounded;
        return memory;
    }
    return arena_alloc_slow(arena, size);
}

// Zeroed memory for count elements, or NULL.
MUST_CHECK void *arena_zalloc(struct arena *arena, size_t count, size_t size);

// A copy of the bytes, NUL-terminated behind its length; ptr is NULL on failure.
MUST_CHECK struct slice arena_copy(struct arena *arena, struct slice bytes);

// The same of what the buffer holds, which is released. ptr is NULL if the buffer has failed, too.
MUST_CHECK struct slice arena_keep(struct arena *arena, struct buf *buf);

// printf into the arena; NULL on failure.
MUST_CHECK char *arena_printf(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
MUST_CHECK char *arena_vprintf(struct arena *arena, const char *format, va_list args)
    PRINTF_LIKE(2, 0);

#endif
