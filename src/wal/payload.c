// See payload.h. A batch begins with the 8 bytes of a sequence, which nobody has set yet when
// it is logged: its first byte is 0. A packed one begins with another byte and goes on with runs,
// each of four parts: the length of some bytes, these bytes, then from where in the batch so far to
// copy and how many bytes. Numbers are varints; the last run copies nothing.
#include "wal/payload.h"

#include "base/encode.h"

#include <stdlib.h>

enum {
    PACKED = 'Z',
    COPY_MIN = 128, // a shorter value is not worth it
    KEPT = 1 << 20, // memory that is kept for the next batch
};

void log_packer_init(struct log_packer *packer)
{
    *packer = (struct log_packer){.count = 0};
    buf_init(&packer->out, LOG_BATCH_MAX);
}

void log_packer_release(struct log_packer *packer)
{
    buf_release(&packer->out);
    free(packer->copies);
}

// Empties `out`, which gives back what a giant took.
static void clear(struct log_packer *packer)
{
    if (packer->out.cap > KEPT) {
        buf_release(&packer->out);
        buf_init(&packer->out, LOG_BATCH_MAX);
    }
    buf_clear(&packer->out);
}

void log_packer_begin(struct log_packer *packer)
{
    packer->count = 0;
    packer->last = slice_of(NULL, 0);
}

void log_packer_value(struct log_packer *packer, struct slice value, size_t end)
{
    if (value.len < COPY_MIN)
        return;
    size_t at = end - value.len;
    if (!slice_equal(value, packer->last)) {
        packer->last = value;
        packer->last_at = at;
        return;
    }
    packer->copies =
        memory_grow(packer->copies, packer->count, &packer->capacity, sizeof(*packer->copies));
    packer->copies[packer->count++] = (struct log_copy){at, packer->last_at, value.len};
}

static void put_number(struct buf *out, uint64_t number)
{
    uint8_t bytes[10];
    buf_add(out, bytes, varint_put(bytes, number));
}

struct slice log_pack(struct log_packer *packer, struct slice batch)
{
    ensure(batch.len > 0 && batch.ptr[0] == 0);
    if (packer->count == 0 || batch.len > LOG_BATCH_MAX)
        return batch;
    struct buf *out = &packer->out;
    size_t done = 0;
    clear(packer);
    buf_byte(out, PACKED);
    for (size_t i = 0; i <= packer->count; i++) {
        struct log_copy end = {batch.len, 0, 0};
        const struct log_copy *copy = i < packer->count ? &packer->copies[i] : &end;
        put_number(out, copy->at - done);
        buf_add(out, batch.ptr + done, copy->at - done);
        put_number(out, copy->from);
        put_number(out, copy->length);
        done = copy->at + copy->length;
    }
    return out->failed ? batch : buf_view(out);
}

// The next number of a payload; false at its end.
static bool get_number(struct slice *in, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; in->len > 0 && shift < 64; shift += 7) {
        uint8_t byte = in->ptr[0];
        *in = slice_of(in->ptr + 1, in->len - 1);
        *number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool get_run(struct slice *in, struct buf *out)
{
    uint64_t literal;
    uint64_t from;
    uint64_t length;
    if (!get_number(in, &literal) || literal > in->len)
        return false;
    buf_add(out, in->ptr, literal);
    *in = slice_of(in->ptr + literal, in->len - literal);
    if (!get_number(in, &from) || !get_number(in, &length) || from > out->len ||
        length > out->len - from || buf_reserve(out, length) == NULL)
        return false;
    buf_add(out, out->ptr + from, length);
    return !out->failed;
}

bool log_unpack(struct log_packer *packer, struct slice payload, struct slice *batch)
{
    *batch = payload;
    if (payload.len == 0 || payload.ptr[0] != PACKED)
        return payload.len > 0;
    struct slice in = slice_of(payload.ptr + 1, payload.len - 1);
    clear(packer);
    while (in.len > 0) {
        if (!get_run(&in, &packer->out))
            return false;
    }
    *batch = buf_view(&packer->out);
    return batch->len > 0;
}
