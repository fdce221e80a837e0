// See parser.h. Two steps: head_scan walks from line end to line end with memchr until it
// meets the empty line; then the lines are taken apart, each byte checked against
// a table (names, targets) or eight at a time (values, which are most of a head).
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
    if (text.len != lower.len)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (c >= 'A' && c <= 'Z')
            c = (uint8_t)(c + 32);
        if (c != lower.ptr[i])
            return false;
    }
    return true;
}

#define SAME(text, literal) http_same((text), SLICE_LIT(literal))

const struct slice *http_header_find(const struct http_request *request, struct slice name)
{
    for (unsigned i = 0; i < request->header_count; i++) {
        const struct http_header *header = &request->headers[i];
        if (header->name.len == name.len &&
            strncasecmp((const char *)header->name.ptr, (const char *)name.ptr, name.len) == 0)
            return &header->value;
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
        size_t end = (size_t)(newline - ptr);
        if (end == scan->line || ptr[end - 1] != '\r') {
            (void)bad(problem, 400, "A line must end with CR LF.");
            return HTTP_BAD;
        }
        bool empty = end == scan->line + 1;
        scan->at = scan->line = end + 1;
        if (empty) {
            *head_len = scan->at;
            return HTTP_DONE;
        }
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
    while (i < line.len && (byte_class[line.ptr[i]] & TOKEN) != 0)
        i++;
    if (i == 0 || i > HTTP_METHOD_MAX || i == line.len || line.ptr[i] != ' ')
        return bad(problem, 400, "The request line must begin with a method.");
    request->method = slice_of(line.ptr, i);
    size_t from = ++i;
    while (i < line.len && (byte_class[line.ptr[i]] & TARGET) != 0)
        i++;
    if (i == from || i == line.len || line.ptr[i] != ' ')
        return bad(problem, 400, "The request target is malformed.");
    if (i - from > HTTP_TARGET_MAX)
        return bad(problem, 414, "The request target is too long.");
    request->target = slice_of(line.ptr + from, i - from);
    i++;
    return version_parse(slice_of(line.ptr + i, line.len - i), &request->minor, problem) &&
           target_split(request, problem);
}

// ---- Header lines ------------------------------------------------------------------

static bool value_byte_valid(uint8_t c)
{
    return (c >= 0x20 && c != 0x7f) || c == '\t';
}

// Eight bytes at a time: the usual test for "any byte below 0x20" and "any byte is 0x7f";
// only where one may be, the bytes are looked at one by one.
static bool value_valid(const uint8_t *ptr, size_t len)
{
    const uint64_t ones = 0x0101010101010101u;
    const uint64_t tops = 0x8080808080808080u;
    size_t i = 0;
    for (; i + 8 <= len; i += 8) {
        uint64_t word;
        memcpy(&word, ptr + i, 8);
        uint64_t del = word ^ (ones * 0x7f);
        uint64_t low = (word - ones * 0x20) & ~word & tops;
        if ((low | ((del - ones) & ~del & tops)) == 0)
            continue;
        for (size_t k = 0; k < 8; k++) {
            if (!value_byte_valid(ptr[i + k]))
                return false;
        }
    }
    for (; i < len; i++) {
        if (!value_byte_valid(ptr[i]))
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

static bool header_line_parse(struct slice line, struct http_header *header,
                              struct http_problem *problem)
{
    size_t i = 0;
    while (i < line.len && (byte_class[line.ptr[i]] & TOKEN) != 0)
        i++;
    if (i == 0 || i == line.len || line.ptr[i] != ':')
        return bad(problem, 400, "A header's name is malformed.");
    header->name = slice_of(line.ptr, i);
    if (!value_valid(line.ptr + i + 1, line.len - i - 1))
        return bad(problem, 400, "A header's value holds a control character.");
    header->value = trim(slice_of(line.ptr + i + 1, line.len - i - 1));
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

// The lines of a scanned head: each ends with CR LF, and the last one is empty.
static struct slice line_next(const uint8_t **at, const uint8_t *end)
{
    const uint8_t *start = *at;
    const uint8_t *newline = memchr(start, '\n', (size_t)(end - start));
    ensure(newline != NULL && newline > start);
    *at = newline + 1;
    return slice_of(start, (size_t)(newline - 1 - start));
}

static bool head_parse(const uint8_t *ptr, size_t len, struct http_request *request,
                       struct http_problem *problem)
{
    // The headers are not cleared: only the first header_count of them mean something.
    memset(request, 0, offsetof(struct http_request, headers));
    const uint8_t *at = ptr;
    const uint8_t *end = ptr + len;
    if (!request_line_parse(line_next(&at, end), request, problem))
        return false;
    request->keep_alive = request->minor == 1;
    for (;;) {
        struct slice line = line_next(&at, end);
        if (line.len == 0)
            return head_check(request, problem);
        if (request->header_count == HTTP_HEADERS_MAX)
            return bad(problem, 431, "The request has too many headers.");
        struct http_header *header = &request->headers[request->header_count];
        if (!header_line_parse(line, header, problem))
            return false;
        request->header_count++;
        if (!header_take(request, header, problem))
            return false;
    }
}

enum http_parse http_head_parse(struct http_scan *scan, const uint8_t *ptr, size_t len,
                                struct http_request *request, size_t *head_len,
                                struct http_problem *problem)
{
    size_t found = 0;
    enum http_parse result = head_scan(scan, ptr, len, &found, problem);
    if (result != HTTP_DONE)
        return result;
    if (!head_parse(ptr, found, request, problem))
        return HTTP_BAD;
    *head_len = found;
    return HTTP_DONE;
}
