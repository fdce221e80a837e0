// See source.h. Input stands in one fixed buffer; the decompressors write straight to the caller.
#include "transfer/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { INPUT_SIZE = 64 << 10 };

struct source {
    int fd;
    bool owned; // the descriptor is closed with the source
    enum transfer_compression compression;
    bool file_ended;
    bool inside; // a gzip member or zstd frame has begun and not ended
    size_t at;   // of input
    size_t len;
    uint64_t consumed;
    bool (*stop)(void *context); // or NULL
    void *stop_context;
    z_stream gzip;
    ZSTD_DStream *zstd;
    uint8_t input[INPUT_SIZE];
};

static bool fill(struct source *source, struct error *error)
{
    if (source->at < source->len || source->file_ended)
        return true;
    ssize_t got;
    do
        got = read(source->fd, source->input, INPUT_SIZE);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return error_set(error, ERR_INTERNAL, "cannot read: %s", strerror(errno));
    source->at = 0;
    source->len = (size_t)got;
    source->consumed += (size_t)got;
    source->file_ended = got == 0;
    return true;
}

static enum transfer_compression guess(const struct source *source)
{
    static const uint8_t zstd_magic[] = {0x28, 0xb5, 0x2f, 0xfd};
    if (source->len >= 2 && source->input[0] == 0x1f && source->input[1] == 0x8b)
        return TRANSFER_GZIP;
    if (source->len >= 4 && memcmp(source->input, zstd_magic, 4) == 0)
        return TRANSFER_ZSTD;
    return TRANSFER_NONE;
}

static bool prepare(struct source *source, struct error *error)
{
    if (source->compression == TRANSFER_GUESS) {
        if (!fill(source, error))
            return false;
        source->compression = guess(source);
    }
    // 16 asks zlib for the gzip form; 15 is the largest window.
    if (source->compression == TRANSFER_GZIP && inflateInit2(&source->gzip, 15 + 16) != Z_OK)
        return error_budget(error);
    if (source->compression == TRANSFER_ZSTD) {
        source->zstd = ZSTD_createDStream();
        if (source->zstd == NULL)
            return error_budget(error);
        // A frame that asks for a larger window is refused instead of taking the memory.
        (void)ZSTD_DCtx_setParameter(source->zstd, ZSTD_d_windowLogMax, 27);
    }
    return true;
}

struct source *source_open_fd(int fd, enum transfer_compression compression, struct error *error)
{
    struct source *source = memory_zeroed(sizeof(*source));
    source->fd = fd;
    source->compression = compression;
    if (!prepare(source, error)) {
        source->compression = TRANSFER_NONE;
        source_free(source);
        return NULL;
    }
    return source;
}

struct source *source_open(const char *path, enum transfer_compression compression,
                           struct error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        (void)error_set(error, ERR_INTERNAL, "cannot open '%s': %s", path, strerror(errno));
        return NULL;
    }
    struct source *source = source_open_fd(fd, compression, error);
    if (source == NULL)
        (void)close(fd);
    else
        source->owned = true;
    return source;
}

void source_free(struct source *source)
{
    if (source == NULL)
        return;
    if (source->compression == TRANSFER_GZIP)
        (void)inflateEnd(&source->gzip);
    if (source->zstd != NULL)
        (void)ZSTD_freeDStream(source->zstd);
    if (source->owned)
        (void)close(source->fd);
    free(source);
}

void source_ask(struct source *source, bool (*stop)(void *context), void *context)
{
    source->stop = stop;
    source->stop_context = context;
}

static bool read_gzip(struct source *source, uint8_t *to, size_t size, size_t *got,
                      struct error *error)
{
    z_stream *z = &source->gzip;
    z->next_in = source->input + source->at;
    z->avail_in = (uInt)(source->len - source->at);
    z->next_out = to;
    z->avail_out = (uInt)(size < UINT32_MAX ? size : UINT32_MAX);
    uInt room = z->avail_out;
    int result = inflate(z, Z_NO_FLUSH);
    *got = room - z->avail_out;
    source->at = source->len - z->avail_in;
    source->inside = result != Z_STREAM_END;
    if (result == Z_STREAM_END)
        return inflateReset(z) == Z_OK || error_budget(error);
    if (result != Z_OK && result != Z_BUF_ERROR)
        return error_validation(error, "the file is not valid gzip");
    return true;
}

static bool read_zstd(struct source *source, uint8_t *to, size_t size, size_t *got,
                      struct error *error)
{
    ZSTD_inBuffer in = {source->input, source->len, source->at};
    ZSTD_outBuffer out = {to, size, 0};
    size_t hint = ZSTD_decompressStream(source->zstd, &out, &in);
    source->at = in.pos;
    *got = out.pos;
    if (ZSTD_isError(hint))
        return error_validation(error, "the file is not valid zstd");
    source->inside = hint != 0;
    return true;
}

bool source_read(struct source *source, uint8_t *to, size_t size, size_t *got, struct error *error)
{
    *got = 0;
    while (*got == 0 && size > 0) {
        if (source->stop != NULL && source->stop(source->stop_context))
            return error_set(error, ERR_UNAVAILABLE, "Reading was stopped.");
        if (!fill(source, error))
            return false;
        bool none_left = source->file_ended && source->at == source->len;
        if (none_left && (source->compression == TRANSFER_NONE || !source->inside))
            return true;
        if (source->compression == TRANSFER_NONE) {
            size_t left = source->len - source->at;
            *got = left < size ? left : size;
            memcpy(to, source->input + source->at, *got);
            source->at += *got;
            return true;
        }
        bool ok = source->compression == TRANSFER_GZIP ? read_gzip(source, to, size, got, error)
                                                       : read_zstd(source, to, size, got, error);
        if (!ok)
            return false;
        if (none_left && *got == 0 && source->inside)
            return error_validation(error, "the compressed file ends too early");
    }
    return true;
}

uint64_t source_consumed(const struct source *source)
{
    return source->consumed - (source->len - source->at);
}
