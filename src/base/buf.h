// A growable byte buffer with a maximum. It owns its memory (malloc), and may have an account
// that it is counted in (base/budget.h).
//
// Appending cannot fail half-way: the first append that would pass the maximum,
// or that finds no memory, appends nothing and sets `failed`; later appends then
// do nothing. So writers append freely and check `failed` once at the end.
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/attributes.h"
#include "base/budget.h"
#include "base/slice.h"

struct buf {
    uint8_t *ptr;
    size_t len;
    size_t cap;
    size_t max;
    bool failed;
    enum budget_kind kind;          // what it is counted as in
    struct budget_account *account; // or NULL
};

void buf_init(struct buf *buf, size_t max);
// The account is borrowed for as long as the buf has memory.
void buf_init_counted(struct buf *buf, size_t max, struct budget_account *account,
                      enum budget_kind kind);
void buf_release(struct buf *buf);

// Takes over the memory of an empty buf for an empty buf of the same budget and kind, if it is
// more.
void buf_take_over(struct buf *to, struct buf *from);

// Gives back what a large buf does not need, now that it is complete.
void buf_fit(struct buf *buf);

// Room for `extra` more bytes behind len, or NULL (and failed) if there is none.
uint8_t *buf_reserve_slow(struct buf *buf, size_t extra);

static inline uint8_t *buf_reserve(struct buf *buf, size_t extra)
{
    if (buf->cap - buf->len >= extra && buf->ptr != NULL && !buf->failed)
        return buf->ptr + buf->len;
    return buf_reserve_slow(buf, extra);
}

static inline void buf_clear(struct buf *buf)
{
    buf->len = 0;
    buf->failed = false;
}

static inline void buf_add(struct buf *buf, const void *bytes, size_t len)
{
    uint8_t *to = buf_reserve(buf, len);
    if (to == NULL || len == 0)
        return;
    memcpy(to, bytes, len);
    buf->len += len;
}

static inline void buf_byte(struct buf *buf, uint8_t byte)
{
    uint8_t *to = buf_reserve(buf, 1);
    if (to == NULL)
        return;
    *to = byte;
    buf->len++;
}

static inline void buf_slice(struct buf *buf, struct slice bytes)
{
    buf_add(buf, bytes.ptr, bytes.len);
}

// Appends a string literal (or any NUL-terminated text).
static inline void buf_text(struct buf *buf, const char *text)
{
    buf_add(buf, text, strlen(text));
}

// Decimal digits of a number.
void buf_u64(struct buf *buf, uint64_t value);
void buf_i64(struct buf *buf, int64_t value);
void buf_printf(struct buf *buf, const char *format, ...) PRINTF_LIKE(2, 3);

static inline struct slice buf_view(const struct buf *buf)
{
    return slice_of(buf->ptr, buf->len);
}

#endif
