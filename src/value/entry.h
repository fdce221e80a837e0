// The quickest way of a plain entry into a map that is being built: for decoders, in whose
// loop it is inlined.
#ifndef VALUE_ENTRY_H
#define VALUE_ENTRY_H

#include "value/copy.h"
#include "value/value.h"

// A varint length and the bytes. Returns what is behind them.
ALWAYS_INLINE uint8_t *counted_put(uint8_t *to, struct slice bytes)
{
    to += varint_put(to, bytes.len);
    copy_bytes(to, bytes.ptr, bytes.len);
    return to + bytes.len;
}

// Whether `key` sorts behind the last entry of the frame.
bool value_key_follows(const struct value_builder *builder, const struct value_frame *frame,
                       struct slice key);

// Counts an entry that is about to be put, and notes whether it is in order.
ALWAYS_INLINE void frame_count(const struct value_builder *builder, struct value_frame *frame,
                               struct slice key)
{
    if (frame->sorted) {
        if (frame->count > 0)
            frame->sorted = value_key_follows(builder, frame, key);
        frame->last = builder->out->len;
    }
    frame->count++;
}

// value_name() and value_put_scalar() at once; a map must be open.
static inline void value_put_entry(struct value_builder *builder, struct slice name,
                                   enum value_tag tag, struct slice bytes)
{
    struct buf *out = builder->out;
    struct value_frame *frame = &builder->frames[builder->depth - 1];
    // Both lengths take one byte.
    size_t len = name.len + bytes.len + 3;
    if (name.len >= 0x80 || bytes.len >= 0x80 || out->failed || out->cap - out->len < len) {
        value_name(builder, name);
        value_put_scalar(builder, tag, bytes);
        return;
    }
    frame_count(builder, frame, name);
    uint8_t *to = out->ptr + out->len;
    out->len += len;
    *to++ = (uint8_t)name.len;
    copy_bytes(to, name.ptr, name.len);
    to += name.len;
    *to++ = (uint8_t)tag;
    *to++ = (uint8_t)bytes.len;
    copy_bytes(to, bytes.ptr, bytes.len);
}

#endif
