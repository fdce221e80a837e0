// The chunked transfer coding, decoded piece by piece.
//
// The decoder copies payload down over the framing: `out` may be the same memory as `in`,
// or lie before it, because output never overtakes input. Chunk extensions and
// trailers are checked for control characters, bounded, and dropped.
#ifndef HTTP_CHUNKED_H
#define HTTP_CHUNKED_H

#include "http/parser.h"

enum { HTTP_CHUNK_EXTRAS_MAX = 8 << 10 }; // bytes of all extensions and trailers together

// Zero it before each body.
struct http_chunked {
    uint64_t left;   // bytes of the current chunk still to come; while its size is read, the size
    uint64_t total;  // payload bytes so far, the current chunk included
    unsigned step;   // private
    unsigned digits; // of the current size
    unsigned extras; // bytes of extensions and trailers so far
    bool line_empty; // the trailer line being read has no byte yet
};

// Decodes what is there. *consumed bytes of `in` were read, *produced bytes of payload written.
// HTTP_DONE: the body is complete; what follows *consumed belongs to the next request.
// A body above `max` bytes is a problem with status 413.
MUST_CHECK enum http_parse http_chunked_decode(struct http_chunked *state, uint64_t max,
                                               const uint8_t *in, size_t len, uint8_t *out,
                                               size_t *consumed, size_t *produced,
                                               struct http_problem *problem);

#endif
