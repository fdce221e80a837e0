// See error.h: one table, one setter.
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LIST_FIRST = 32 }; // elements of a list that grows

static const struct error_row rows[ERR_COUNT] = {
#define X(code, space, name, status, retry) [ERR_##code] = {space name, name, status, retry},
    ERROR_LIST(X)
#undef X
};

const struct error_row *error_row(enum error_code code)
{
    ensure(code > ERR_NONE && code < ERR_COUNT);
    return &rows[code];
}

void error_init(struct error *error, struct arena *arena)
{
    *error = (struct error){.code = ERR_NONE, .message = "", .arena = arena};
}

bool error_set(struct error *error, enum error_code code, const char *format, ...)
{
    if (error->code != ERR_NONE)
        return false;
    error->code = code;
    error->message = "The request is too large to describe what is wrong with it.";
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(error->arena, format, args);
    va_end(args);
    if (text != NULL)
        error->message = text;
    return false;
}

bool error_copy(struct error *error, const struct error *from)
{
    if (error->code == ERR_NONE)
        error->details = from->details;
    return error_set(error, from->code, "%s", from->message);
}

bool error_budget(struct error *error)
{
    if (error->code != ERR_NONE)
        return false;
    const struct budget_account *account = error->arena->account;
    if (account != NULL && account->starved) {
        error->code = ERR_THROTTLING;
        error->message = "The server is short of memory for a request of this size; retry in a "
                         "moment.";
    } else {
        error->code = ERR_BUDGET;
        error->message = "The request needs more memory than a request may use.";
    }
    return false;
}

// Allocates nothing, and runs no destructors: other threads go on until the process ends.
void memory_exhausted(void)
{
    static const char text[] =
        "dolmen: out of memory, so it stops. What is in the data directory is safe. Give it more "
        "memory, or start it with a smaller --memory-limit.\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)written;
    _exit(MEMORY_EXIT);
}

void *memory_zeroed(size_t size)
{
    void *memory = calloc(1, size);
    ensure_memory(memory);
    return memory;
}

char *slice_dup(struct slice slice)
{
    char *copy = memory_zeroed(slice.len + 1);
    if (slice.len > 0)
        memcpy(copy, slice.ptr, slice.len);
    return copy;
}

void *memory_grow(void *list, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return list;
    *capacity = *capacity == 0 ? LIST_FIRST : 2 * *capacity;
    list = realloc(list, *capacity * size);
    ensure_memory(list);
    return list;
}

void ensure_failed(const char *condition, const char *file, int line)
{
    (void)fprintf(stderr, "dolmen: broken invariant at %s:%d: %s\n", file, line, condition);
    abort();
}
