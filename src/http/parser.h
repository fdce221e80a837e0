// A strict HTTP/1.1 request-head parser: pure over (pointer, length).
//
// Bytes arrive in pieces. http_head_parse is called after each piece with everything
// received so far; until the head is complete it only looks for the end of the head, and
// never looks at a byte twice. A complete head is parsed once, in place: every slice
// of the request points into the caller's bytes.
//
// What it refuses, because two readers could understand it differently: bare LF, folded
// headers, spaces before a colon, control characters, two Content-Lengths (even
// equal ones), Content-Length together with Transfer-Encoding, any coding but chunked.
#ifndef HTTP_PARSER_H
#define HTTP_PARSER_H

#include "base/attributes.h"
#include "base/slice.h"

enum {
    HTTP_HEAD_MAX = 32 << 10, // bytes of request line and headers; SDKs send about 1 KB
    HTTP_HEADERS_MAX = 100,
    HTTP_METHOD_MAX = 32,
    HTTP_TARGET_MAX = 16 << 10, // signed query strings are long
};

enum http_parse {
    HTTP_MORE, // nothing is wrong yet, but it is not complete
    HTTP_DONE,
    HTTP_BAD, // the problem says why
};

// What is wrong with a request, as an answer to the client.
struct http_problem {
    int status;
    const char *reason; // a sentence; static
};

struct http_header {
    struct slice name;
    struct slice value; // without the white space around it
};

struct http_request {
    struct slice method;
    struct slice target; // as sent
    struct slice path;   // of the target: "/" of "/?a=b" and of "http://host/?a=b"
    struct slice query;  // behind the "?", undecoded; empty if there is none
    struct slice host;
    struct slice body; // whole and decoded; set by the connection, not by the parser
    uint64_t length;   // Content-Length, 0 if absent
    int minor;         // 0 or 1, of HTTP/1.x
    bool has_length;
    bool chunked;
    bool keep_alive;
    bool expect_continue;
    bool gzip;         // the body is compressed
    bool accepts_gzip; // the answer may be
    unsigned header_count;
    struct http_header headers[HTTP_HEADERS_MAX];
};

// Where the search for the end of the head stands. Reset it before each request.
struct http_scan {
    size_t at;                           // bytes looked at
    unsigned line_count;                 // lines found so far
    uint16_t ends[HTTP_HEADERS_MAX + 1]; // where each of them ends: the offset of its CR
};

static inline void http_scan_reset(struct http_scan *scan)
{
    scan->at = 0;
    scan->line_count = 0;
}

// HTTP_DONE: *request is filled (but for body) and *head_len tells where the body begins.
// HTTP_BAD: *problem is set. The bytes must begin with the request line.
MUST_CHECK enum http_parse http_head_parse(struct http_scan *scan, const uint8_t *ptr, size_t len,
                                           struct http_request *request, size_t *head_len,
                                           struct http_problem *problem);

// The value of the first header of that name (any case), or NULL.
const struct slice *http_header_find(const struct http_request *request, struct slice name);

// Moves every slice of the head from bytes at `from` to the same bytes at `to`.
void http_request_rebase(struct http_request *request, const uint8_t *from, const uint8_t *to);

// ASCII case-insensitive equality; `lower` must be in lower case already.
bool http_same(struct slice text, struct slice lower);

#endif
