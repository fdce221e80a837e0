// See gzip.h. Level 1: the point is fewer bytes for little CPU.
#include "http/gzip.h"

#include <stdlib.h>
#include <zlib.h>

enum { WINDOW = 15, WINDOW_GZIP = WINDOW + 16, LEVEL = 1, MEMORY = 8, STEP = 16 << 10 };

struct http_gzip {
    z_stream inflater;
    z_stream deflaters[2]; // a stream keeps its format
    bool inflater_ready;
    bool deflater_ready[2];
};

static int window_of(enum http_coding coding)
{
    return coding == HTTP_GZIP ? WINDOW_GZIP : WINDOW;
}

struct http_gzip *http_gzip_new(void)
{
    return calloc(1, sizeof(struct http_gzip));
}

void http_gzip_free(struct http_gzip *gzip)
{
    if (gzip == NULL)
        return;
    if (gzip->inflater_ready)
        (void)inflateEnd(&gzip->inflater);
    for (size_t i = 0; i < COUNT_OF(gzip->deflaters); i++)
        if (gzip->deflater_ready[i])
            (void)deflateEnd(&gzip->deflaters[i]);
    free(gzip);
}

static bool inflater_begin(struct http_gzip *gzip, enum http_coding coding)
{
    if (gzip->inflater_ready)
        return inflateReset2(&gzip->inflater, window_of(coding)) == Z_OK;
    gzip->inflater_ready = inflateInit2(&gzip->inflater, window_of(coding)) == Z_OK;
    return gzip->inflater_ready;
}

// Room for the next piece of output: as much as a step, or what the maximum leaves.
static size_t output_room(struct buf *out)
{
    size_t left = out->max - out->len;
    size_t want = left < STEP ? left : STEP;
    return want > 0 && buf_reserve(out, want) != NULL ? want : 0;
}

bool http_gzip_inflate_begin(struct http_gzip *gzip, enum http_coding coding, struct slice in)
{
    if (in.len > UINT32_MAX || !inflater_begin(gzip, coding))
        return false;
    gzip->inflater.next_in = (Bytef *)(uintptr_t)in.ptr;
    gzip->inflater.avail_in = (uInt)in.len;
    return true;
}

// One call of zlib. *moved grows by the bytes that were read and written.
static enum http_inflate inflate_step(z_stream *stream, struct buf *out, size_t *moved)
{
    // A full buffer is one byte too small for a body that goes on: that byte tells.
    uint8_t spill;
    size_t room = output_room(out);
    stream->next_out = room > 0 ? out->ptr + out->len : &spill;
    stream->avail_out = room > 0 ? (uInt)room : 1;
    size_t offered = stream->avail_out;
    size_t given = stream->avail_in;
    int result = inflate(stream, Z_NO_FLUSH);
    size_t got = offered - stream->avail_out;
    *moved += got + given - stream->avail_in;
    if (room == 0 && got > 0)
        return HTTP_INFLATE_TOO_LARGE;
    out->len += got;
    if (result == Z_STREAM_END) {
        if (stream->avail_in == 0)
            return HTTP_INFLATED;
        return inflateReset(stream) == Z_OK ? HTTP_INFLATE_MORE : HTTP_INFLATE_BAD;
    }
    // Damaged, or it ends too early.
    bool bad = result != Z_OK || (stream->avail_in == 0 && stream->avail_out > 0);
    return bad ? HTTP_INFLATE_BAD : HTTP_INFLATE_MORE;
}

enum http_inflate http_gzip_inflate_some(struct http_gzip *gzip, size_t most, struct buf *out)
{
    size_t moved = 0;
    enum http_inflate result;
    do
        result = inflate_step(&gzip->inflater, out, &moved);
    while (result == HTTP_INFLATE_MORE && moved < most);
    return result;
}

enum http_inflate http_gzip_inflate(struct http_gzip *gzip, enum http_coding coding,
                                    struct slice in, struct buf *out)
{
    return http_gzip_inflate_begin(gzip, coding, in) ? http_gzip_inflate_some(gzip, SIZE_MAX, out)
                                                     : HTTP_INFLATE_BAD;
}

static z_stream *deflater(struct http_gzip *gzip, enum http_coding coding)
{
    return &gzip->deflaters[coding == HTTP_GZIP];
}

static bool deflater_begin(struct http_gzip *gzip, enum http_coding coding)
{
    bool *ready = &gzip->deflater_ready[coding == HTTP_GZIP];
    if (*ready)
        return deflateReset(deflater(gzip, coding)) == Z_OK;
    *ready = deflateInit2(deflater(gzip, coding), LEVEL, Z_DEFLATED, window_of(coding), MEMORY,
                          Z_DEFAULT_STRATEGY) == Z_OK;
    return *ready;
}

// Room for all that may come of the input is made at the beginning.
static bool deflate_begin(struct http_gzip *gzip, enum http_coding coding, struct slice in,
                          struct buf *out)
{
    if (in.len > UINT32_MAX || !deflater_begin(gzip, coding))
        return false;
    size_t bound = deflateBound(deflater(gzip, coding), (uLong)in.len);
    return bound <= UINT32_MAX && buf_reserve(out, bound) != NULL;
}

enum http_deflate http_gzip_deflate_some(struct http_gzip *gzip, enum http_coding coding,
                                         struct slice in, size_t *from, size_t most,
                                         struct buf *out)
{
    z_stream *stream = deflater(gzip, coding);
    bool begun = *from > 0 || deflate_begin(gzip, coding, in, out);
    if (begun) {
        bool last = in.len - *from <= most;
        size_t piece = last ? in.len - *from : most;
        size_t room = out->cap - out->len;
        stream->next_in = (Bytef *)(uintptr_t)(in.ptr + *from);
        stream->avail_in = (uInt)piece;
        stream->next_out = out->ptr + out->len;
        stream->avail_out = room < UINT32_MAX ? (uInt)room : UINT32_MAX;
        size_t offered = stream->avail_out;
        int result = deflate(stream, last ? Z_FINISH : Z_NO_FLUSH);
        out->len += offered - stream->avail_out;
        *from += piece;
        if (result == (last ? Z_STREAM_END : Z_OK) && stream->avail_in == 0)
            return last ? HTTP_DEFLATED : HTTP_DEFLATE_MORE;
    }
    buf_clear(out);
    return HTTP_DEFLATE_FAILED;
}

bool http_gzip_deflate(struct http_gzip *gzip, enum http_coding coding, struct slice in,
                       struct buf *out)
{
    size_t from = 0;
    return http_gzip_deflate_some(gzip, coding, in, &from, in.len, out) == HTTP_DEFLATED;
}
