// Files in frames: see sealed.h. Where a frame cannot be opened, the next one is looked for: its
// head says its length twice, so that few places pass for one.
#include "crypt/sealed_internal.h"

#include "base/encode.h"

#include <stdlib.h>

enum { FRAME_MOST = 1 << 20 }; // plain bytes; what is more goes into several

struct frame_writer {
    struct crypt_cipher *cipher;
    uint64_t at;     // in the file
    uint64_t before; // plain bytes
};

static void frame_nonce(uint64_t at, uint8_t out[CRYPT_NONCE])
{
    memset(out, 0, CRYPT_NONCE);
    memcpy(out + 4, &at, 8);
}

struct frame_writer *frame_writer_new(const struct keyring *ring, struct buf *out)
{
    uint8_t head[SEALED_HEAD];
    struct crypt_key key;
    struct frame_writer *writer = memory_zeroed(sizeof(*writer));
    sealed_begin(ring, SEALED_FRAMES, head, &key);
    writer->cipher = crypt_cipher_new(&key, true);
    writer->at = SEALED_HEAD;
    crypt_key_wipe(&key);
    buf_add(out, head, SEALED_HEAD);
    return writer;
}

void frame_writer_free(struct frame_writer *writer)
{
    if (writer == NULL)
        return;
    crypt_cipher_free(writer->cipher);
    free(writer);
}

static void frame_add(struct frame_writer *writer, struct slice plain, struct buf *out)
{
    uint8_t nonce[CRYPT_NONCE];
    uint32_t length = (uint32_t)plain.len;
    uint32_t complement = ~length;
    uint8_t *to = buf_reserve(out, SEALED_FRAME + plain.len + CRYPT_TAG);
    ensure_memory(to);
    memcpy(to, &length, 4);
    memcpy(to + 4, &complement, 4);
    memcpy(to + 8, &writer->before, 8);
    frame_nonce(writer->at, nonce);
    crypt_cipher_seal(writer->cipher, nonce, slice_of(to, SEALED_FRAME), plain, to + SEALED_FRAME,
                      to + SEALED_FRAME + plain.len);
    out->len += SEALED_FRAME + plain.len + CRYPT_TAG;
    writer->at += SEALED_FRAME + plain.len + CRYPT_TAG;
    writer->before += plain.len;
}

void frame_writer_add(struct frame_writer *writer, struct slice plain, struct buf *out)
{
    while (plain.len > 0) {
        size_t take = plain.len < FRAME_MOST ? plain.len : FRAME_MOST;
        frame_add(writer, slice_of(plain.ptr, take), out);
        plain = slice_of(plain.ptr + take, plain.len - take);
    }
}

// ---- Reading ------------------------------------------------------------------------------------

// The frame at a place, opened behind the plain bytes so far, with zeros for those that are missing
// before it. Returns its bytes in the file, or 0.
static size_t frame_open(struct crypt_cipher *cipher, struct slice raw, size_t at,
                         struct buf *plain)
{
    uint8_t nonce[CRYPT_NONCE];
    if (raw.len - at < SEALED_FRAME + CRYPT_TAG)
        return 0;
    const uint8_t *head = raw.ptr + at;
    uint32_t length = le32_get(head);
    uint64_t before = le64_get(head + 8);
    if (length > FRAME_MOST || le32_get(head + 4) != ~length || before < plain->len ||
        before > raw.len || length > raw.len - at - SEALED_FRAME - CRYPT_TAG)
        return 0;
    size_t missing = (size_t)before - plain->len;
    uint8_t *to = buf_reserve(plain, missing + length + 1);
    if (to == NULL)
        return 0;
    frame_nonce(at, nonce);
    if (!crypt_cipher_open(cipher, nonce, slice_of(head, SEALED_FRAME),
                           slice_of(head + SEALED_FRAME, length), head + SEALED_FRAME + length,
                           to + missing))
        return 0;
    memset(to, 0, missing);
    plain->len += missing + length;
    return SEALED_FRAME + length + CRYPT_TAG;
}

uint64_t frames_read(const struct keyring *ring, struct slice raw, struct buf *plain, bool *all)
{
    struct crypt_key key;
    uint64_t whole = 0;
    *all = false;
    if (!sealed_key(ring, SEALED_FRAMES, raw, &key))
        return 0;
    struct crypt_cipher *cipher = crypt_cipher_new(&key, false);
    crypt_key_wipe(&key);
    *all = true;
    for (size_t at = SEALED_HEAD; at < raw.len;) {
        size_t bytes = frame_open(cipher, raw, at, plain);
        *all = *all && bytes > 0;
        if (*all)
            whole = plain->len;
        at += bytes > 0 ? bytes : 1;
    }
    crypt_cipher_free(cipher);
    return whole;
}
