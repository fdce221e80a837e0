// Compressed bodies: bytes that claim to be gzip or deflate never unpack to more than they may, and
// what is packed here comes back.
//
// Input: one byte for the largest body, then the bytes.
#include "fuzz.h"

#include "http/gzip.h"

static void try_coding(struct http_gzip *gzip, enum http_coding coding, struct slice in, size_t max)
{
    struct buf out;
    struct buf packed;
    buf_init(&out, max);
    enum http_inflate result = http_gzip_inflate(gzip, coding, in, &out);
    ensure(out.len <= max);
    ensure(result == HTTP_INFLATED || result == HTTP_INFLATE_BAD ||
           result == HTTP_INFLATE_TOO_LARGE);
    buf_release(&out);

    buf_init(&packed, SIZE_MAX / 2);
    ensure(http_gzip_deflate(gzip, coding, in, &packed));
    buf_init(&out, in.len);
    ensure(http_gzip_inflate(gzip, coding, buf_view(&packed), &out) == HTTP_INFLATED);
    ensure(slice_equal(buf_view(&out), in));
    buf_release(&out);
    if (in.len > 1) {
        buf_init(&out, in.len - 1);
        ensure(http_gzip_inflate(gzip, coding, buf_view(&packed), &out) == HTTP_INFLATE_TOO_LARGE);
        buf_release(&out);
    }
    // A cut body is never taken for a whole one.
    buf_init(&out, in.len);
    ensure(http_gzip_inflate(gzip, coding, slice_of(packed.ptr, packed.len - 1), &out) ==
           HTTP_INFLATE_BAD);
    buf_release(&out);
    buf_release(&packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    size_t max = (size_t)fuzz_byte(&in) * 64;
    static struct http_gzip *gzip; // its state is dear to make, and reset for each body
    if (gzip == NULL)
        gzip = http_gzip_new();
    ensure(gzip != NULL);
    try_coding(gzip, HTTP_GZIP, in, max);
    try_coding(gzip, HTTP_DEFLATE, in, max);
    return 0;
}
