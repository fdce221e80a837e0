// Compiler attributes used all over the tree, and the assertion that stays on.
#ifndef BASE_ATTRIBUTES_H
#define BASE_ATTRIBUTES_H

#include <stddef.h>

#define MUST_CHECK __attribute__((warn_unused_result))
// Where what such a function says changes nothing; a comment beside it says why.
#define DISREGARD(call) ((void)!(call))
#define PRINTF_LIKE(format_index, first_arg)                                                       \
    __attribute__((format(printf, format_index, first_arg)))
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

// A broken invariant is a bug, not an error: stop before it reaches the disk.
// Unlike assert() this is never compiled out.
#define ensure(condition) ((condition) ? (void)0 : ensure_failed(#condition, __FILE__, __LINE__))
void ensure_failed(const char *condition, const char *file, int line)
    __attribute__((noreturn, cold));

// Memory of a bounded size without which nothing can go on: its absence ends the process, with a
// sentence and an exit code of its own. What a client makes grow is an error instead (arena.h,
// buf.h, budget.h), long before that.
#define ensure_memory(pointer) ((pointer) != NULL ? (void)0 : memory_exhausted())
// The same for a thread, which needs memory for its stack.
#define ensure_started(condition) ((condition) ? (void)0 : memory_exhausted())
#ifdef __cplusplus
extern "C"
#endif
    void
    memory_exhausted(void) __attribute__((noreturn, cold));
enum { MEMORY_EXIT = 12 };
// Such memory, zeroed; and a list with room for one more than `count`, twice as large if it is
// full.
void *memory_zeroed(size_t size);
void *memory_grow(void *list, size_t count, size_t *capacity, size_t size);

#endif
