// Compiler attributes used all over the tree, and the assertion that stays on.
#ifndef BASE_ATTRIBUTES_H
#define BASE_ATTRIBUTES_H

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(format_index, first_arg)                                                       \
    __attribute__((format(printf, format_index, first_arg)))
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

// A broken invariant is a bug, not an error: stop before it reaches the disk.
// Unlike assert() this is never compiled out.
#define ensure(condition) ((condition) ? (void)0 : ensure_failed(#condition, __FILE__, __LINE__))
void ensure_failed(const char *condition, const char *file, int line)
    __attribute__((noreturn, cold));

#endif
