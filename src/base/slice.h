// A slice is a borrowed view of bytes: pointer and length, never owned, never
// NUL-terminated. Whoever hands one out says how long it stays valid.
#ifndef BASE_SLICE_H
#define BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct slice {
    const uint8_t *ptr;
    size_t len;
};

// For printf-style formats: printf("%.*s", SLICE_FMT(s)).
#define SLICE_FMT(s)       (int)(s).len, (const char *)(s).ptr
#define SLICE_LIT(literal) ((struct slice){(const uint8_t *)(literal), sizeof(literal) - 1})

static inline struct slice slice_of(const void *ptr, size_t len)
{
    return (struct slice){(const uint8_t *)ptr, len};
}

static inline struct slice slice_str(const char *text)
{
    return (struct slice){(const uint8_t *)text, strlen(text)};
}

static inline bool slice_equal(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool slice_is(struct slice a, const char *text)
{
    return slice_equal(a, slice_str(text));
}

// memcmp order; a prefix sorts before what it begins.
static inline int slice_compare(struct slice a, struct slice b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n == 0 ? 0 : memcmp(a.ptr, b.ptr, n);
    if (order != 0)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

static inline bool slice_begins(struct slice whole, struct slice prefix)
{
    return whole.len >= prefix.len &&
           (prefix.len == 0 || memcmp(whole.ptr, prefix.ptr, prefix.len) == 0);
}

static inline bool slice_ends(struct slice slice, struct slice suffix)
{
    return slice.len >= suffix.len &&
           memcmp(slice.ptr + slice.len - suffix.len, suffix.ptr, suffix.len) == 0;
}

static inline bool slice_contains(struct slice whole, struct slice part)
{
    return part.len == 0 ||
           (whole.len >= part.len && memmem(whole.ptr, whole.len, part.ptr, part.len) != NULL);
}

// The text up to the first separator, or all of it if there is none; *rest is what is behind.
static inline struct slice slice_cut(struct slice *rest, uint8_t separator)
{
    const uint8_t *at =
        rest->len == 0 ? NULL : (const uint8_t *)memchr(rest->ptr, separator, rest->len);
    size_t len = at == NULL ? rest->len : (size_t)(at - rest->ptr);
    size_t skip = at == NULL ? len : len + 1;
    struct slice part = slice_of(rest->ptr, len);
    *rest = slice_of(rest->ptr + skip, rest->len - skip);
    return part;
}

// Without the blanks and tabs at its ends.
static inline struct slice slice_trim(struct slice text)
{
    while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
        text = slice_of(text.ptr + 1, text.len - 1);
    while (text.len > 0 && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
        text.len--;
    return text;
}

// How many characters of UTF-8 it has.
static inline size_t slice_characters(struct slice text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += (text.ptr[i] & 0xc0) != 0x80; // no byte that goes on with a character
    return count;
}

// A copy with a NUL behind it, to be freed. Unlike strndup() it never looks behind the slice.
char *slice_dup(struct slice slice);

#endif
