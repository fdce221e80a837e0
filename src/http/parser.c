// See parser.h. Two steps: head_scan walks from line end to line end with memchr until it
// meets the empty line; then the lines are taken apart, names and targets byte by byte
// against a table, values (most of a head) by one look for control characters.
#include "http/parser.h"

#include <strings.h>

enum { TOKEN = 1, TARGET = 2 };

// Which bytes may stand in a token (method, header name) and in a request target.
static const uint8_t byte_class[256] = {
    ['!'] = 3, ['"'] = 2,         ['#'] = 1,         ['$'] = 3, ['%'] = 3,  ['&'] = 3, ['\''] = 3,
    ['('] = 2, [')'] = 2,         ['*'] = 3,         ['+'] = 3, [','] = 2,  ['-'] = 3, ['.'] = 3,
    ['/'] = 2, ['0' ... '9'] = 3, [':'] = 2,         [';'] = 2, ['<'] = 2,  ['='] = 2, ['>'] = 2,
    ['?'] = 2, ['@'] = 2,         ['A' ... 'Z'] = 3, ['['] = 2, ['\\'] = 2, [']'] = 2, ['^'] = 3,
    ['_'] = 3, ['`'] = 3,         ['a' ... 'z'] = 3, ['{'] = 2, ['|'] = 3,  ['}'] = 2, ['~'] = 3,
};

static bool bad(struct http_problem *problem, int status, const char *reason)
{
    *problem = (struct http_problem){status, reason};
    return false;
}

bool http_same(struct slice text, struct slice lower)
{
    return text.len == lower.len &&
           strncasecmp((const char *)text.ptr, (const char *)lower.ptr, lower.len) == 0;
}

#define SAME(text, literal) http_same((text), SLICE_LIT(literal))

const struct slice *http_header_find(const struct http_request *request, struct slice name)
{
    for (unsigned i = 0; i < request->header_count; i++) {
        if (http_same(request->headers[i].name, name))
            return &request->headers[i].value;
    }
    return NULL;
}

static void rebase(struct slice *slice, const uint8_t *from, const uint8_t *to)
{
    if (slice->ptr != NULL)
        slice->ptr = to + (slice->ptr - from);
}

void http_request_rebase(struct http_request *request, const uint8_t *from, const uint8_t *to)
{
    rebase(&request->method, from, to);
    rebase(&request->target, from, to);
    rebase(&request->path, from, to);
    rebase(&request->query, from, to);
    rebase(&request->host, from, to);
    for (unsigned i = 0; i < request->header_count; i++) {
        rebase(&request->headers[i].name, from, to);
        rebase(&request->headers[i].value, from, to);
    }
}

// ---- Finding the end -------------------------------------------------------------

// A head that cannot become a request is refused at its first bytes, so that somebody who
// speaks TLS (or anything else) to this port is not kept waiting.
static bool method_possible(const uint8_t *ptr, size_t len)
{
    size_t i = 0;
    while (i < len && i <= HTTP_METHOD_MAX && (byte_class[ptr[i]] & TOKEN) != 0)
        i++;
    return i == len ? i <= HTTP_METHOD_MAX : i > 0 && ptr[i] == ' ';
}

// Where the line after those found starts.
static size_t line_start(const struct http_scan *scan)
{
    return scan->line_count == 0 ? 0 : (size_t)scan->ends[scan->line_count - 1] + 2;
}

static enum http_parse head_scan(struct http_scan *scan, const uint8_t *ptr, size_t len,
                                 size_t *head_len, struct http_problem *problem)
{
    size_t limit = len < HTTP_HEAD_MAX ? len : HTTP_HEAD_MAX;
    while (scan->at < limit) {
        const uint8_t *newline = memchr(ptr + scan->at, '\n', limit - scan->at);
        if (newline == NULL) {
            scan->at = limit;
            break;
        }
        size_t cr = (size_t)(newline - ptr) - 1;
        size_t start = line_start(scan);
        if (newline == ptr + start || ptr[cr] != '\r') {
            (void)bad(problem, 400, "A line must end with CR LF.");
            return HTTP_BAD;
        }
        scan->at = cr + 2;
        if (cr == start) {
            *head_len = scan->at;
            return HTTP_DONE;
        }
        if (scan->line_count == COUNT_OF(scan->ends)) {
            (void)bad(problem, 431, "The request has too many headers.");
            return HTTP_BAD;
        }
        scan->ends[scan->line_count++] = (uint16_t)cr;
    }
    if (len >= HTTP_HEAD_MAX) {
        (void)bad(problem, 431, "The request head is too large.");
        return HTTP_BAD;
    }
    if (!method_possible(ptr, len)) {
        (void)bad(problem, 400, "This is not an HTTP request.");
        return HTTP_BAD;
    }
    return HTTP_MORE;
}

// ---- The request line --------------------------------------------------------------

// Path and query of the two forms a client sends to a server: "/path?query" and
// "http://host/path?query". "*" (OPTIONS) is its own path.
static bool target_split(struct http_request *request, struct http_problem *problem)
{
    struct slice rest = request->target;
    bool absolute = rest.len > 7 && strncasecmp((const char *)rest.ptr, "http://", 7) == 0;
    if (absolute) {
        const uint8_t *slash = memchr(rest.ptr + 7, '/', rest.len - 7);
        const uint8_t *end = rest.ptr + rest.len;
        // Without a path it is "/", which stands at the end of "http:/": slices stay in the input.
        rest = slash == NULL ? slice_of(request->target.ptr + 5, 1)
                             : slice_of(slash, (size_t)(end - slash));
    } else if (rest.ptr[0] != '/' && !slice_is(rest, "*")) {
        return bad(problem, 400, "The request target must be a path.");
    }
    const uint8_t *mark = memchr(rest.ptr, '?', rest.len);
    if (mark == NULL) {
        request->path = rest;
        request->query = (struct slice){NULL, 0};
        return true;
    }
    request->path = slice_of(rest.ptr, (size_t)(mark - rest.ptr));
    request->query = slice_of(mark + 1, (size_t)(rest.ptr + rest.len - mark - 1));
    return true;
}

static bool version_parse(struct slice text, int *minor, struct http_problem *problem)
{
    if (text.len != 8 || memcmp(text.ptr, "HTTP/", 5) != 0 || text.ptr[6] != '.' ||
        text.ptr[5] < '0' || text.ptr[5] > '9' || text.ptr[7] < '0' || text.ptr[7] > '9')
        return bad(problem, 400, "The request line must end with HTTP/1.1.");
    if (text.ptr[5] != '1' || text.ptr[7] > '1')
        return bad(problem, 505, "Only HTTP/1.1 and HTTP/1.0 are spoken here.");
    *minor = text.ptr[7] - '0';
    return true;
}

static bool request_line_parse(struct slice line, struct http_request *request,
                               struct http_problem *problem)
{
    size_t i = 0;
    while ((byte_class[line.ptr[i]] & TOKEN) != 0)
        i++;
    if (i == 0 || i > HTTP_METHOD_MAX || line.ptr[i] != ' ')
        return bad(problem, 400, "The request line must begin with a method.");
    request->method = slice_of(line.ptr, i);
    size_t from = ++i;
    while ((byte_class[line.ptr[i]] & TARGET) != 0)
        i++;
    if (i == from || line.ptr[i] != ' ')
        return bad(problem, 400, "The request target is malformed.");
    if (i - from > HTTP_TARGET_MAX)
        return bad(problem, 414, "The request target is too long.");
    request->target = slice_of(line.ptr + from, i - from);
    i++;
    return version_parse(slice_of(line.ptr + i, line.len - i), &request->minor, problem) &&
           target_split(request, problem);
}

// ---- Header lines ------------------------------------------------------------------

typedef uint8_t bytes16 __attribute__((vector_size(16)));

// What of 16 bytes is a control character; CR LF is not, but either of them alone is. The byte
// behind the 16 is looked at, too.
static inline bytes16 controls_of(const uint8_t *ptr)
{
    bytes16 v;
    bytes16 next;
    memcpy(&v, ptr, sizeof(v));
    memcpy(&next, ptr + 1, sizeof(next));
    bytes16 control = (bytes16)((v < 0x20) | (v == 0x7f));
    bytes16 line_end = (bytes16)((v == '\r') & (next == '\n'));
    return control & ~line_end & (bytes16)(v != '\n');
}

// True if the head holds a control character besides its line ends. A whole head is looked at
// once, 16 bytes at a time, because that is so much cheaper than each value on its own.
static bool has_controls(const uint8_t *ptr, size_t len)
{
    bytes16 found = {0};
    uint8_t rest[32];
    size_t whole = (len - 1) & ~(size_t)15;
    for (size_t i = 0; i < whole; i += 16)
        found |= controls_of(ptr + i);
    memset(rest, ' ', sizeof(rest));
    memcpy(rest, ptr + whole, len - whole);
    found |= controls_of(rest);
    uint64_t halves[2];
    memcpy(halves, &found, sizeof(halves));
    return (halves[0] | halves[1]) != 0;
}

// Tabs are the control characters that a value may hold.
static bool value_valid(struct slice value)
{
    for (size_t i = 0; i < value.len; i++) {
        uint8_t c = value.ptr[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static struct slice trim(struct slice text)
{
    while (text.len > 0 && is_space(text.ptr[0])) {
        text.ptr++;
        text.len--;
    }
    while (text.len > 0 && is_space(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

// A line ends with CR, which no token holds, so the scans below need no other bound.
static bool header_line_parse(struct slice line, bool controls, struct http_header *header,
                              struct http_problem *problem)
{
    size_t i = 0;
    while ((byte_class[line.ptr[i]] & TOKEN) != 0)
        i++;
    if (i == 0 || line.ptr[i] != ':')
        return bad(problem, 400, "A header's name is malformed.");
    header->name = slice_of(line.ptr, i);
    header->value = trim(slice_of(line.ptr + i + 1, line.len - i - 1));
    if (controls && !value_valid(header->value))
        return bad(problem, 400, "A header's value holds a control character.");
    return true;
}

// The next element of a comma-separated list, trimmed; false at its end.
static bool list_next(struct slice *rest, struct slice *element)
{
    if (rest->len == 0)
        return false;
    const uint8_t *comma = memchr(rest->ptr, ',', rest->len);
    size_t len = comma == NULL ? rest->len : (size_t)(comma - rest->ptr);
    *element = trim(slice_of(rest->ptr, len));
    size_t skip = comma == NULL ? len : len + 1;
    *rest = slice_of(rest->ptr + skip, rest->len - skip);
    return true;
}

// ---- The headers this layer acts upon ------------------------------------------------

static bool take_content_length(struct http_request *request, struct slice value,
                                struct http_problem *problem)
{
    if (request->has_length)
        return bad(problem, 400, "Content-Length is given twice.");
    if (value.len == 0 || value.len > 18)
        return bad(problem, 400, "Content-Length is not a length.");
    uint64_t length = 0;
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < '0' || value.ptr[i] > '9')
            return bad(problem, 400, "Content-Length is not a length.");
        length = length * 10 + (uint64_t)(value.ptr[i] - '0');
    }
    request->has_length = true;
    request->length = length;
    return true;
}

static bool take_transfer_encoding(struct http_request *request, struct slice value,
                                   struct http_problem *problem)
{
    if (request->chunked)
        return bad(problem, 400, "Transfer-Encoding is given twice.");
    if (!SAME(value, "chunked"))
        return bad(problem, 501, "The only Transfer-Encoding understood is chunked.");
    request->chunked = true;
    return true;
}

static bool take_connection(struct http_request *request, struct slice value)
{
    struct slice element;
    while (list_next(&value, &element)) {
        if (SAME(element, "close"))
            request->keep_alive = false;
        else if (SAME(element, "keep-alive") && request->minor == 0)
            request->keep_alive = true;
    }
    return true;
}

static bool take_content_encoding(struct http_request *request, struct slice value,
                                  struct http_problem *problem)
{
    if (value.len == 0 || SAME(value, "identity"))
        return true;
    if (request->gzip || (!SAME(value, "gzip") && !SAME(value, "x-gzip")))
        return bad(problem, 415, "The only Content-Encoding understood is gzip.");
    request->gzip = true;
    return true;
}

// True unless the element's parameters hold a quality of zero.
static bool quality_positive(struct slice parameters)
{
    const uint8_t *q = memmem(parameters.ptr, parameters.len, "q=0", 3);
    if (q == NULL)
        return true;
    for (const uint8_t *at = q + 3; at < parameters.ptr + parameters.len; at++) {
        if (*at >= '1' && *at <= '9')
            return true;
    }
    return false;
}

static bool take_accept_encoding(struct http_request *request, struct slice value)
{
    struct slice element;
    while (list_next(&value, &element)) {
        const uint8_t *semicolon = element.len == 0 ? NULL : memchr(element.ptr, ';', element.len);
        size_t len = semicolon == NULL ? element.len : (size_t)(semicolon - element.ptr);
        if (SAME(trim(slice_of(element.ptr, len)), "gzip"))
            request->accepts_gzip =
                quality_positive(slice_of(element.ptr + len, element.len - len));
    }
    return true;
}

static bool take_expect(struct http_request *request, struct slice value,
                        struct http_problem *problem)
{
    if (!SAME(value, "100-continue"))
        return bad(problem, 417, "The only expectation understood is 100-continue.");
    request->expect_continue = request->minor == 1;
    return true;
}

static bool take_host(struct http_request *request, struct slice value,
                      struct http_problem *problem)
{
    if (request->host.ptr != NULL)
        return bad(problem, 400, "Host is given twice.");
    request->host = value;
    return true;
}

// The length of the name tells the few headers of interest from the many others.
static bool header_take(struct http_request *request, const struct http_header *header,
                        struct http_problem *problem)
{
    struct slice name = header->name;
    struct slice value = header->value;
    switch (name.len) {
    case 4:
        return !SAME(name, "host") || take_host(request, value, problem);
    case 6:
        return !SAME(name, "expect") || take_expect(request, value, problem);
    case 10:
        return !SAME(name, "connection") || take_connection(request, value);
    case 14:
        return !SAME(name, "content-length") || take_content_length(request, value, problem);
    case 15:
        return !SAME(name, "accept-encoding") || take_accept_encoding(request, value);
    case 16:
        return !SAME(name, "content-encoding") || take_content_encoding(request, value, problem);
    case 17:
        return !SAME(name, "transfer-encoding") || take_transfer_encoding(request, value, problem);
    default:
        return true;
    }
}

// What only the whole head can tell.
static bool head_check(const struct http_request *request, struct http_problem *problem)
{
    if (request->host.ptr == NULL && request->minor == 1)
        return bad(problem, 400, "Host is missing.");
    if (request->chunked && request->has_length)
        return bad(problem, 400, "Content-Length and Transfer-Encoding exclude each other.");
    if (request->chunked && request->minor == 0)
        return bad(problem, 400, "HTTP/1.0 has no Transfer-Encoding.");
    return true;
}

// ---- The whole ---------------------------------------------------------------------

static bool head_parse(const struct http_scan *scan, const uint8_t *ptr, size_t len,
                       struct http_request *request, struct http_problem *problem)
{
    // The headers are not cleared: only the first header_count of them mean something.
    memset(request, 0, offsetof(struct http_request, headers));
    if (scan->line_count == 0)
        return bad(problem, 400, "This is not an HTTP request.");
    if (!request_line_parse(slice_of(ptr, scan->ends[0]), request, problem))
        return false;
    request->keep_alive = request->minor == 1;
    bool controls = has_controls(ptr, len);
    for (unsigned i = 1; i < scan->line_count; i++) {
        const uint8_t *start = ptr + scan->ends[i - 1] + 2;
        struct http_header *header = &request->headers[request->header_count++];
        if (!header_line_parse(slice_of(start, (size_t)(ptr + scan->ends[i] - start)), controls,
                               header, problem) ||
            !header_take(request, header, problem))
            return false;
    }
    return head_check(request, problem);
}

enum http_parse http_head_parse(struct http_scan *scan, const uint8_t *ptr, size_t len,
                                struct http_request *request, size_t *head_len,
                                struct http_problem *problem)
{
    size_t found = 0;
    enum http_parse result = head_scan(scan, ptr, len, &found, problem);
    if (result != HTTP_DONE)
        return result;
    if (!head_parse(scan, ptr, found, request, problem))
        return HTTP_BAD;
    *head_len = found;
    return HTTP_DONE;
}
