// The chunked coding: whatever way the bytes are cut, whether decoded in place or elsewhere, the
// result is the same; and what is coded here comes back.
//
// Input: one byte that says how the bytes are cut, one for the largest body, then the bytes.
#include "fuzz.h"

#include "base/buf.h"
#include "http/chunked.h"

struct outcome {
    enum http_parse result;
    int status;
    size_t consumed;
    struct buf body;
};

// Decodes in pieces of at most `step` bytes; in place if `in_place`, as the connection does.
static void decode(struct slice bytes, uint64_t max, size_t step, bool in_place,
                   struct outcome *out)
{
    struct http_chunked state;
    struct http_problem problem = {0};
    memset(&state, 0, sizeof(state));
    *out = (struct outcome){.result = HTTP_MORE};
    buf_init(&out->body, SIZE_MAX / 2);
    while (out->result == HTTP_MORE && out->consumed < bytes.len) {
        size_t len = bytes.len - out->consumed < step ? bytes.len - out->consumed : step;
        struct slice piece = fuzz_copy(slice_of(bytes.ptr + out->consumed, len));
        uint8_t *to = in_place ? (uint8_t *)(uintptr_t)piece.ptr : malloc(len);
        ensure(to != NULL);
        size_t consumed = 0;
        size_t produced = 0;
        out->result =
            http_chunked_decode(&state, max, piece.ptr, len, to, &consumed, &produced, &problem);
        ensure(consumed <= len && produced <= consumed);
        ensure(out->result != HTTP_MORE || consumed == len);
        buf_add(&out->body, to, produced);
        out->consumed += consumed;
        if (!in_place)
            free(to);
        fuzz_free(piece);
    }
    ensure(out->body.len <= max);
    out->status = problem.status;
    ensure((out->result == HTTP_BAD) == (problem.status >= 400));
}

static void check_same(const struct outcome *a, const struct outcome *b)
{
    ensure(a->result == b->result && a->status == b->status);
    if (a->result == HTTP_BAD)
        return;
    ensure(a->consumed == b->consumed);
    ensure(slice_equal(buf_view(&a->body), buf_view(&b->body)));
}

// Codes the payload in chunks of `size` bytes and decodes it again.
static void check_round_trip(struct slice payload, size_t size, size_t step)
{
    struct buf coded;
    buf_init(&coded, SIZE_MAX / 2);
    for (size_t at = 0; at < payload.len; at += size) {
        size_t len = payload.len - at < size ? payload.len - at : size;
        // Extensions on every chunk could together be more than the decoder takes.
        buf_printf(&coded, size % 2 == 0 || at > 0 ? "%zx\r\n" : "%zX;a=b\r\n", len);
        buf_add(&coded, payload.ptr + at, len);
        buf_text(&coded, "\r\n");
    }
    buf_text(&coded, size % 3 == 0 ? "0\r\nTrailer: x\r\n\r\nnext" : "0\r\n\r\nnext");
    struct outcome out;
    decode(buf_view(&coded), payload.len, step, true, &out);
    ensure(out.result == HTTP_DONE && out.consumed == coded.len - strlen("next"));
    ensure(slice_equal(buf_view(&out.body), payload));
    buf_release(&out.body);
    if (payload.len > 0) {
        decode(buf_view(&coded), payload.len - 1, step, true, &out);
        ensure(out.result == HTTP_BAD && out.status == 413);
        buf_release(&out.body);
    }
    buf_release(&coded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    size_t step = (size_t)fuzz_byte(&in) + 1;
    uint64_t max = (uint64_t)fuzz_byte(&in) * 16;
    struct outcome whole;
    struct outcome pieces;
    struct outcome elsewhere;
    decode(in, max, SIZE_MAX, true, &whole);
    decode(in, max, step, true, &pieces);
    decode(in, max, step, false, &elsewhere);
    check_same(&whole, &pieces);
    check_same(&whole, &elsewhere);
    buf_release(&whole.body);
    buf_release(&pieces.body);
    buf_release(&elsewhere.body);
    check_round_trip(in, step % 40 + 1, step);
    return 0;
}
