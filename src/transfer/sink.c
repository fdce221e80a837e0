// See sink.h. Compressed bytes gather in one fixed buffer, which goes to the file when it is full.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "transfer/sink.h"

#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/md5.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { OUTPUT_SIZE = 64 << 10, GZIP_LEVEL = 6, ZSTD_LEVEL = 3 };

struct sink {
    int fd;
    bool owned;
    enum transfer_compression compression;
    bool inside; // something was written since the last cut
    uint64_t size;
    size_t len; // of output
    MD5_CTX md5;
    z_stream gzip;
    ZSTD_CStream *zstd;
    uint8_t output[OUTPUT_SIZE];
};

static bool flush(struct sink *sink, struct error *error)
{
    if (!file_write(sink->fd, slice_of(sink->output, sink->len)))
        return error_set(error, ERR_INTERNAL, "cannot write: %s", strerror(errno));
    MD5_Update(&sink->md5, sink->output, sink->len);
    sink->size += sink->len;
    sink->len = 0;
    return true;
}

static bool prepare(struct sink *sink)
{
    MD5_Init(&sink->md5);
    if (sink->compression == TRANSFER_GZIP)
        return deflateInit2(&sink->gzip, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) ==
               Z_OK;
    if (sink->compression == TRANSFER_ZSTD) {
        sink->zstd = ZSTD_createCStream();
        return sink->zstd != NULL && !ZSTD_isError(ZSTD_initCStream(sink->zstd, ZSTD_LEVEL));
    }
    return true;
}

struct sink *sink_open_fd(int fd, enum transfer_compression compression, struct error *error)
{
    struct sink *sink = memory_zeroed(sizeof(*sink));
    sink->fd = fd;
    sink->compression = compression;
    if (!prepare(sink)) {
        sink_free(sink);
        (void)error_budget(error);
        return NULL;
    }
    return sink;
}

struct sink *sink_open(const char *path, enum transfer_compression compression, uint64_t keep,
                       struct error *error)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || ftruncate(fd, (off_t)keep) != 0 || lseek(fd, 0, SEEK_END) < 0) {
        (void)error_set(error, ERR_INTERNAL, "cannot write '%s': %s", path, strerror(errno));
        if (fd >= 0)
            (void)close(fd);
        return NULL;
    }
    struct sink *sink = sink_open_fd(fd, compression, error);
    if (sink == NULL) {
        (void)close(fd);
        return NULL;
    }
    sink->owned = true;
    sink->size = keep;
    return sink;
}

static bool write_gzip(struct sink *sink, struct slice bytes, int mode, struct error *error)
{
    z_stream *z = &sink->gzip;
    z->next_in = (Bytef *)(uintptr_t)bytes.ptr;
    z->avail_in = (uInt)bytes.len;
    int result;
    do {
        z->next_out = sink->output + sink->len;
        z->avail_out = (uInt)(OUTPUT_SIZE - sink->len);
        result = deflate(z, mode);
        sink->len = OUTPUT_SIZE - z->avail_out;
        ensure(result != Z_STREAM_ERROR);
        if (z->avail_out == 0 && !flush(sink, error))
            return false;
    } while (z->avail_in > 0 || (mode == Z_FINISH && result != Z_STREAM_END));
    if (mode == Z_FINISH)
        ensure(deflateReset(z) == Z_OK);
    return true;
}

static bool write_zstd(struct sink *sink, struct slice bytes, ZSTD_EndDirective mode,
                       struct error *error)
{
    ZSTD_inBuffer in = {bytes.ptr, bytes.len, 0};
    size_t left;
    do {
        ZSTD_outBuffer out = {sink->output, OUTPUT_SIZE, sink->len};
        left = ZSTD_compressStream2(sink->zstd, &out, &in, mode);
        if (ZSTD_isError(left))
            return error_budget(error);
        sink->len = out.pos;
        if (sink->len == OUTPUT_SIZE && !flush(sink, error))
            return false;
    } while (in.pos < in.size || (mode == ZSTD_e_end && left != 0));
    return true;
}

static bool write_plain(struct sink *sink, struct slice bytes, struct error *error)
{
    while (bytes.len > 0) {
        size_t room = OUTPUT_SIZE - sink->len;
        size_t n = bytes.len < room ? bytes.len : room;
        memcpy(sink->output + sink->len, bytes.ptr, n);
        sink->len += n;
        bytes = slice_of(bytes.ptr + n, bytes.len - n);
        if (sink->len == OUTPUT_SIZE && !flush(sink, error))
            return false;
    }
    return true;
}

bool sink_write(struct sink *sink, struct slice bytes, struct error *error)
{
    if (bytes.len == 0)
        return true;
    sink->inside = true;
    switch (sink->compression) {
    case TRANSFER_GZIP:
        return write_gzip(sink, bytes, Z_NO_FLUSH, error);
    case TRANSFER_ZSTD:
        return write_zstd(sink, bytes, ZSTD_e_continue, error);
    default:
        return write_plain(sink, bytes, error);
    }
}

bool sink_cut(struct sink *sink, struct error *error)
{
    // An empty compressed file still has its head and foot.
    bool due = sink->inside || sink->size + sink->len == 0;
    sink->inside = false;
    if (due && sink->compression == TRANSFER_GZIP &&
        !write_gzip(sink, slice_of(NULL, 0), Z_FINISH, error))
        return false;
    if (due && sink->compression == TRANSFER_ZSTD &&
        !write_zstd(sink, slice_of(NULL, 0), ZSTD_e_end, error))
        return false;
    return flush(sink, error);
}

uint64_t sink_size(const struct sink *sink)
{
    return sink->size + sink->len;
}

bool sink_close(struct sink *sink, uint8_t md5[16], struct error *error)
{
    bool ok = sink_cut(sink, error);
    if (ok && sink->owned && fsync(sink->fd) != 0)
        ok = error_set(error, ERR_INTERNAL, "cannot write: %s", strerror(errno));
    if (ok && md5 != NULL)
        MD5_Final(md5, &sink->md5);
    sink_free(sink);
    return ok;
}

void sink_free(struct sink *sink)
{
    if (sink == NULL)
        return;
    if (sink->compression == TRANSFER_GZIP)
        (void)deflateEnd(&sink->gzip);
    if (sink->zstd != NULL)
        (void)ZSTD_freeCStream(sink->zstd);
    if (sink->owned)
        (void)close(sink->fd);
    free(sink);
}
