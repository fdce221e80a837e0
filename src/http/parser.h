// A strict HTTP/1.1 request-head parser: pure over (pointer, length).
//
// Bytes arrive in pieces. http_head_parse is called after each piece with everything
// received so far; until the head is complete it only looks for the end of the head, and
// never looks at a line twice. A complete head is parsed once, in place: every slice
// of the request points into the caller's bytes.
//
// What it refuses, because two readers could understand it differently: bare LF, folded
// headers, spaces before a colon, control characters, two Content-Lengths (even
// equal ones), two Hosts or Origins, Content-Length together with Transfer-Encoding, any coding but
// chunked.
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

// The headers that this layer, or the one above it, looks for in every request. They are noted
// while the head is parsed, so that nobody searches for them.
#define HTTP_KNOWN_LIST(X)                                                                         \
    X(HTTP_HOST, "host")                                                                           \
    X(HTTP_DATE, "date")                                                                           \
    X(HTTP_EXPECT, "expect")                                                                       \
    X(HTTP_ORIGIN, "origin")                                                                       \
    X(HTTP_CONNECTION, "connection")                                                               \
    X(HTTP_AMZ_DATE, "x-amz-date")                                                                 \
    X(HTTP_CONTENT_TYPE, "content-type")                                                           \
    X(HTTP_AMZ_TARGET, "x-amz-target")                                                             \
    X(HTTP_AUTHORIZATION, "authorization")                                                         \
    X(HTTP_CONTENT_LENGTH, "content-length")                                                       \
    X(HTTP_ACCEPT_ENCODING, "accept-encoding")                                                     \
    X(HTTP_CONTENT_ENCODING, "content-encoding")                                                   \
    X(HTTP_TRANSFER_ENCODING, "transfer-encoding")

#define HTTP_KNOWN_ENUM(id, name) id,
enum http_known { HTTP_KNOWN_LIST(HTTP_KNOWN_ENUM) HTTP_UNKNOWN };
#undef HTTP_KNOWN_ENUM

// How a body is compressed: not at all, as RFC 1952 says, or as RFC 1950 does.
// Others are refused, unless somebody takes the request as it comes.
enum http_coding { HTTP_IDENTITY, HTTP_GZIP, HTTP_DEFLATE, HTTP_OTHER };

struct http_request {
    struct slice method;
    struct slice target; // as sent
    struct slice path;   // of the target: "/" of "/?a=b" and of "http://host/?a=b"
    struct slice query;  // behind the "?", undecoded; empty if there is none
    struct slice host;   // of an absolute target, else of the header
    struct slice body;   // whole and decoded; set by the connection, not by the parser
    uint64_t length;     // Content-Length, 0 if absent
    int minor;           // 0 or 1, of HTTP/1.x
    bool has_length;
    bool chunked;
    bool keep_alive;
    bool expect_continue;
    enum http_coding coding;     // of the body
    enum http_coding accepts;    // what the answer's may have
    uint8_t known[HTTP_UNKNOWN]; // where in headers the first of each stands, plus 1; 0 if absent
    unsigned header_count;
    struct http_header headers[HTTP_HEADERS_MAX];
};

// Where the search for the end of the head stands. Reset it before each request.
struct http_scan {
    size_t at;                           // bytes looked at
    unsigned line_count;                 // lines found so far
    bool controls;                       // there are control characters other than tabs in them
    uint16_t ends[HTTP_HEADERS_MAX + 1]; // where each of them ends: the offset of its CR
};

static inline void http_scan_reset(struct http_scan *scan)
{
    scan->at = 0;
    scan->line_count = 0;
    scan->controls = false;
}

// HTTP_DONE: *request is filled (but for body) and *head_len tells where the body begins.
// HTTP_BAD: *problem is set. The bytes must begin with the request line.
MUST_CHECK enum http_parse http_head_parse(struct http_scan *scan, const uint8_t *ptr, size_t len,
                                           struct http_request *request, size_t *head_len,
                                           struct http_problem *problem);

// The value of the first header of that kind, or NULL.
static inline const struct slice *http_header(const struct http_request *request,
                                              enum http_known which)
{
    unsigned at = request->known[which];
    return at == 0 ? NULL : &request->headers[at - 1].value;
}

// The value of the first header of that name (any case), or NULL: for names that are not known.
const struct slice *http_header_find(const struct http_request *request, struct slice name);

// Moves every slice of the head from bytes at `from`, which may be gone, to the same bytes at `to`.
void http_request_rebase(struct http_request *request, uintptr_t from, const uint8_t *to);

// ASCII case-insensitive equality. `lower` must be in lower case already and may hold letters,
// digits and the characters - . / only; the text must be free of control characters.
bool http_same(struct slice text, struct slice lower);

#endif
