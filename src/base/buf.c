// See buf.h. Capacity grows by doubling from 256 bytes, by half once that is much, never past
// `max`.
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void buf_init(struct buf *buf, size_t max)
{
    *buf = (struct buf){.max = max};
}

void buf_init_counted(struct buf *buf, size_t max, struct budget_account *account,
                      enum budget_kind kind)
{
    *buf = (struct buf){.max = max, .account = account, .kind = kind};
}

enum { MUCH = 1 << 20, WORTH = 64 << 10 };

static size_t counted(size_t cap)
{
    return cap > BUDGET_UNCOUNTED ? cap : 0;
}

void buf_release(struct buf *buf)
{
    if (buf->ptr != NULL)
        budget_free(buf->account, buf->kind, buf->ptr, buf->cap, counted(buf->cap));
    buf->ptr = NULL;
    buf->len = 0;
    buf->cap = 0;
    buf->failed = false;
}

// Old and new memory are both there for a moment if it has to move; large memory does not move.
static bool grow(struct buf *buf, size_t cap)
{
    size_t more = counted(cap) - counted(buf->cap);
    if (more > 0 && !budget_take(buf->account, buf->kind, more))
        return false;
    // An empty buf has an address, too, so that room for nothing is not NULL.
    uint8_t *grown = realloc(buf->ptr, cap == 0 ? 1 : cap);
    if (grown == NULL) {
        budget_give(buf->account, buf->kind, more);
        budget_starve(buf->account);
        return false;
    }
    buf->ptr = grown;
    buf->cap = cap;
    return true;
}

void buf_take_over(struct buf *to, struct buf *from)
{
    ensure(to->len == 0 && from->len == 0 && to->kind == from->kind);
    if (from->cap <= to->cap)
        return;
    uint8_t *ptr = to->ptr;
    size_t cap = to->cap;
    to->ptr = from->ptr;
    to->cap = from->cap;
    from->ptr = ptr;
    from->cap = cap;
}

void buf_fit(struct buf *buf)
{
    bool small = buf->len < WORTH && buf->cap <= MUCH;
    if (buf->cap - buf->len < WORTH || small)
        return;
    size_t cap = buf->len == 0 ? 1 : buf->len;
    uint8_t *shrunk = realloc(buf->ptr, cap);
    if (shrunk == NULL)
        return;
    budget_give(buf->account, buf->kind, counted(buf->cap) - counted(cap));
    buf->ptr = shrunk;
    buf->cap = cap;
}

// By how much a full buf grows. What overdraws the budget does so in small steps.
static size_t growth(const struct buf *buf)
{
    size_t more = buf->cap < MUCH ? buf->cap : buf->cap / 2;
    bool overdraws = buf->account != NULL && buf->account->overdraw;
    return overdraws && more > WORTH ? WORTH : more;
}

uint8_t *buf_reserve_slow(struct buf *buf, size_t extra)
{
    if (buf->failed)
        return NULL;
    if (extra > buf->max || buf->len > buf->max - extra) {
        buf->failed = true;
        return NULL;
    }
    size_t needed = buf->len + extra;
    size_t cap = buf->cap < 128 ? 256 : buf->cap + growth(buf);
    if (cap < needed)
        cap = needed;
    if (cap > buf->max)
        cap = buf->max;
    if (!grow(buf, cap)) {
        buf->failed = true;
        return NULL;
    }
    return buf->ptr + buf->len;
}

void buf_u64(struct buf *buf, uint64_t value)
{
    uint8_t digits[20];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (uint8_t)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    buf_add(buf, digits + at, sizeof(digits) - at);
}

void buf_i64(struct buf *buf, int64_t value)
{
    if (value < 0)
        buf_byte(buf, '-');
    buf_u64(buf, value < 0 ? (uint64_t)0 - (uint64_t)value : (uint64_t)value);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args;
    va_list again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    // vsnprintf writes a NUL behind the text; the room for it is not counted in len.
    uint8_t *to = length < 0 ? NULL : buf_reserve(buf, (size_t)length + 1);
    if (to != NULL) {
        (void)vsnprintf((char *)to, (size_t)length + 1, format, again);
        buf->len += (size_t)length;
    }
    va_end(again);
}
