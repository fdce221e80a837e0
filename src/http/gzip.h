// Compression of bodies, by gzip or deflate. Zlib streams per event loop, made at first use and
// reused: their state (about 300 KB for a pair) is too dear to make for each message.
#ifndef HTTP_GZIP_H
#define HTTP_GZIP_H

#include "base/buf.h"
#include "http/parser.h"

struct http_gzip; // not shared between threads

struct http_gzip *http_gzip_new(void); // NULL without memory
void http_gzip_free(struct http_gzip *gzip);

enum http_inflate { HTTP_INFLATED, HTTP_INFLATE_MORE, HTTP_INFLATE_BAD, HTTP_INFLATE_TOO_LARGE };

// Appends the decompressed bytes to `out`, never past out->max: a small body that unpacks to a
// huge one costs no more memory than that. Several gzip members are one body.
MUST_CHECK enum http_inflate http_gzip_inflate(struct http_gzip *gzip, enum http_coding coding,
                                               struct slice in, struct buf *out);

// The same in pieces: after the beginning, about `most` bytes of input and output together at a
// time, as long as there are more. `in` stays where it is until the end.
enum { HTTP_INFLATE_MEMORY = 48 << 10 }; // what unpacking takes beside its output
MUST_CHECK bool http_gzip_inflate_begin(struct http_gzip *gzip, enum http_coding coding,
                                        struct slice in);
MUST_CHECK enum http_inflate http_gzip_inflate_some(struct http_gzip *gzip, size_t most,
                                                    struct buf *out);

// Appends the compressed bytes to `out`; false if there is no memory, and `out` is then cleared.
MUST_CHECK bool http_gzip_deflate(struct http_gzip *gzip, enum http_coding coding, struct slice in,
                                  struct buf *out);

// The same in pieces: at most `most` bytes of `in` from *from, which moves on; it begins with 0.
enum http_deflate { HTTP_DEFLATED, HTTP_DEFLATE_MORE, HTTP_DEFLATE_FAILED };
MUST_CHECK enum http_deflate http_gzip_deflate_some(struct http_gzip *gzip, enum http_coding coding,
                                                    struct slice in, size_t *from, size_t most,
                                                    struct buf *out);

#endif
