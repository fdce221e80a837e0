// See parser.h. Two steps: head_scan jumps from control character to control character, which
// are the line ends and what must not be there, until it meets the empty line; then the
// lines are taken apart, names and targets against a table. Values, which are most of a
// head, are not looked at again.
#include "http/parser.h"

#include <strings.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

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

static uint64_t word_lower(const uint8_t *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof(word));
    return word | 0x2020202020202020;
}

// Setting one bit makes letters lower and leaves digits and - . / as they are; of other characters,
// only control characters become one of these. The last eight bytes may overlap those before.
bool http_same(struct slice text, struct slice lower)
{
    if (text.len != lower.len)
        return false;
    if (text.len < 8) {
        for (size_t i = 0; i < text.len; i++) {
            if ((text.ptr[i] | 0x20) != lower.ptr[i])
                return false;
        }
        return true;
    }
    size_t last = text.len - 8;
    for (size_t i = 0; i < last; i += 8) {
        if (word_lower(text.ptr + i) != word_lower(lower.ptr + i))
            return false;
    }
    return word_lower(text.ptr + last) == word_lower(lower.ptr + last);
}

#define SAME(text, literal) http_same((text), SLICE_LIT(literal))

const struct slice *http_header_find(const struct http_request *request, struct slice name)
{
    for (unsigned i = 0; i < request->header_count; i++) {
        if (request->headers[i].name.len == name.len && http_same(request->headers[i].name, name))
            return &request->headers[i].value;
    }
    return NULL;
}

static void rebase(struct slice *slice, uintptr_t from, const uint8_t *to)
{
    if (slice->ptr != NULL)
        slice->ptr = to + ((uintptr_t)slice->ptr - from);
}

void http_request_rebase(struct http_request *request, uintptr_t from, const uint8_t *to)
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

// The first control character in [at, limit), or limit.
static size_t control_find(const uint8_t *ptr, size_t at, size_t limit)
{
#ifdef __SSE2__
    const __m128i last = _mm_set1_epi8(0x1f);
    const __m128i del = _mm_set1_epi8(0x7f);
    for (; limit - at >= 16; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(ptr + at));
        __m128i low = _mm_cmpeq_epi8(_mm_max_epu8(bytes, last), last);
        int mask = _mm_movemask_epi8(_mm_or_si128(low, _mm_cmpeq_epi8(bytes, del)));
        if (mask != 0)
            return at + (size_t)__builtin_ctz((unsigned)mask);
    }
#endif
    while (at < limit && ptr[at] >= 0x20 && ptr[at] != 0x7f)
        at++;
    return at;
}

// What can be said of a head whose end is not there yet.
static enum http_parse head_wait(const uint8_t *ptr, size_t len, struct http_problem *problem)
{
    if (len >= HTTP_HEAD_MAX)
        (void)bad(problem, 431, "The request head is too large.");
    else if (!method_possible(ptr, len))
        (void)bad(problem, 400, "This is not an HTTP request.");
    else
        return HTTP_MORE;
    return HTTP_BAD;
}

static enum http_parse head_scan(struct http_scan *scan, const uint8_t *ptr, size_t len,
                                 size_t *head_len, struct http_problem *problem)
{
    size_t limit = len < HTTP_HEAD_MAX ? len : HTTP_HEAD_MAX;
    size_t start = line_start(scan);
    while (scan->at < limit) {
        size_t at = control_find(ptr, scan->at, limit);
        scan->at = at;
        if (at == limit || (ptr[at] == '\r' && at + 1 == limit))
            break;
        if (ptr[at] == '\n') {
            (void)bad(problem, 400, "A line must end with CR LF.");
            return HTTP_BAD;
        }
        if (ptr[at] != '\r' || ptr[at + 1] != '\n') {
            scan->controls = scan->controls || ptr[at] != '\t';
            scan->at++;
            continue;
        }
        scan->at += 2;
        if (at == start) {
            *head_len = scan->at;
            return HTTP_DONE;
        }
        if (scan->line_count == COUNT_OF(scan->ends)) {
            (void)bad(problem, 431, "The request has too many headers.");
            return HTTP_BAD;
        }
        scan->ends[scan->line_count++] = (uint16_t)at;
        start = scan->at;
    }
    return head_wait(ptr, len, problem);
}

// ---- The request line --------------------------------------------------------------

// Path and query of the two forms a client sends to a server: "/path?query" and
// "http://host/path?query". "*" (OPTIONS) is its own path.
static bool target_split(struct http_request *request, struct slice *authority,
                         struct http_problem *problem)
{
    struct slice rest = request->target;
    bool absolute = rest.len > 7 && strncasecmp((const char *)rest.ptr, "http://", 7) == 0;
    if (absolute) {
        size_t end = 7;
        while (end < rest.len && rest.ptr[end] != '/' && rest.ptr[end] != '?')
            end++;
        *authority = slice_of(rest.ptr + 7, end - 7);
        rest = slice_of(rest.ptr + end, rest.len - end);
    } else if (rest.ptr[0] != '/' && !slice_is(rest, "*")) {
        return bad(problem, 400, "The request target must be a path.");
    }
    const uint8_t *mark = rest.len == 0 ? NULL : memchr(rest.ptr, '?', rest.len);
    request->path = mark == NULL ? rest : slice_of(rest.ptr, (size_t)(mark - rest.ptr));
    request->query = mark == NULL ? (struct slice){NULL, 0}
                                  : slice_of(mark + 1, (size_t)(rest.ptr + rest.len - mark - 1));
    // Without a path it is "/", which stands at the end of "http:/": slices stay in the input.
    if (request->path.len == 0)
        request->path = slice_of(request->target.ptr + 5, 1);
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
                               struct slice *authority, struct http_problem *problem)
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
           target_split(request, authority, problem);
}

// ---- Header lines ------------------------------------------------------------------

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

static inline struct slice trim(struct slice text)
{
    const uint8_t *at = text.ptr;
    const uint8_t *end = text.ptr + text.len;
    while (at < end && is_space(*at))
        at++;
    while (at < end && is_space(end[-1]))
        end--;
    return slice_of(at, (size_t)(end - at));
}

// Skips letters, digits and hyphens, sixteen bytes at a time: most names hold nothing else.
static inline const uint8_t *plain_skip(const uint8_t *at, const uint8_t *end)
{
#ifdef __SSE2__
    for (; end - at >= 16; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
        __m128i letter = _mm_and_si128(_mm_cmpgt_epi8(lower, _mm_set1_epi8('a' - 1)),
                                       _mm_cmplt_epi8(lower, _mm_set1_epi8('z' + 1)));
        __m128i digit = _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8('0' - 1)),
                                      _mm_cmplt_epi8(bytes, _mm_set1_epi8('9' + 1)));
        __m128i hyphen = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('-'));
        __m128i plain = _mm_or_si128(_mm_or_si128(letter, digit), hyphen);
        unsigned other = ~(unsigned)_mm_movemask_epi8(plain) & 0xffff;
        if (other != 0)
            return at + __builtin_ctz(other);
    }
#else
    (void)end;
#endif
    return at;
}

// A line ends with CR, which no token holds, so the scan for a name's end needs no other bound.
static bool header_line_parse(struct slice line, bool controls, struct http_header *header,
                              struct http_problem *problem)
{
    const uint8_t *colon = plain_skip(line.ptr, line.ptr + line.len);
    while ((byte_class[*colon] & TOKEN) != 0)
        colon++;
    size_t len = (size_t)(colon - line.ptr);
    if (len == 0 || *colon != ':')
        return bad(problem, 400, "A header's name is malformed.");
    header->name = slice_of(line.ptr, len);
    header->value = trim(slice_of(colon + 1, line.len - len - 1));
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

static bool take_content_encoding(struct http_request *request, struct slice value)
{
    if (value.len == 0 || SAME(value, "identity"))
        return true;
    bool gzip = SAME(value, "gzip") || SAME(value, "x-gzip");
    if (request->coding != HTTP_IDENTITY || (!gzip && !SAME(value, "deflate")))
        request->coding = HTTP_OTHER;
    else
        request->coding = gzip ? HTTP_GZIP : HTTP_DEFLATE;
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
        struct slice name = trim(slice_of(element.ptr, len));
        if (!quality_positive(slice_of(element.ptr + len, element.len - len)))
            continue;
        if (SAME(name, "gzip"))
            request->accepts = HTTP_GZIP;
        else if (SAME(name, "deflate") && request->accepts == HTTP_IDENTITY)
            request->accepts = HTTP_DEFLATE;
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

// Which header a name can be; its length and first letter leave only one.
static enum http_known name_candidate(struct slice name)
{
    uint8_t first = name.ptr[0] | 0x20;
    switch (name.len) {
    case 4:
        return first == 'h' ? HTTP_HOST : HTTP_DATE;
    case 6:
        return first == 'e' ? HTTP_EXPECT : HTTP_ORIGIN;
    case 10:
        return first == 'c' ? HTTP_CONNECTION : HTTP_AMZ_DATE;
    case 12:
        return first == 'c' ? HTTP_CONTENT_TYPE : HTTP_AMZ_TARGET;
    case 13:
        return HTTP_AUTHORIZATION;
    case 14:
        return HTTP_CONTENT_LENGTH;
    case 15:
        return HTTP_ACCEPT_ENCODING;
    case 16:
        return HTTP_CONTENT_ENCODING;
    case 17:
        return HTTP_TRANSFER_ENCODING;
    default:
        return HTTP_UNKNOWN;
    }
}

static enum http_known name_recognise(struct slice name)
{
#define KNOWN_NAME(id, text) [id] = {(const uint8_t *)(text), sizeof(text) - 1},
    static const struct slice names[] = {HTTP_KNOWN_LIST(KNOWN_NAME)};
#undef KNOWN_NAME
    enum http_known which = name_candidate(name);
    return which != HTTP_UNKNOWN && http_same(name, names[which]) ? which : HTTP_UNKNOWN;
}

// Notes a header that somebody will ask for, and does what it says to this layer.
static bool header_take(struct http_request *request, const struct http_header *header,
                        struct http_problem *problem)
{
    struct slice value = header->value;
    enum http_known which = name_recognise(header->name);
    if (which == HTTP_UNKNOWN)
        return true;
    bool first = request->known[which] == 0;
    if (first)
        request->known[which] = (uint8_t)request->header_count;
    switch (which) {
    case HTTP_HOST:
        return take_host(request, value, problem);
    case HTTP_ORIGIN:
        return first || bad(problem, 400, "Origin is given twice.");
    case HTTP_EXPECT:
        return take_expect(request, value, problem);
    case HTTP_CONNECTION:
        return take_connection(request, value);
    case HTTP_CONTENT_LENGTH:
        return take_content_length(request, value, problem);
    case HTTP_ACCEPT_ENCODING:
        return take_accept_encoding(request, value);
    case HTTP_CONTENT_ENCODING:
        return take_content_encoding(request, value);
    case HTTP_TRANSFER_ENCODING:
        return take_transfer_encoding(request, value, problem);
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

static bool head_parse(const struct http_scan *scan, const uint8_t *ptr,
                       struct http_request *request, struct http_problem *problem)
{
    // The headers are not cleared: only the first header_count of them mean something.
    memset(request, 0, offsetof(struct http_request, headers));
    if (scan->line_count == 0)
        return bad(problem, 400, "This is not an HTTP request.");
    struct slice authority = {NULL, 0};
    if (!request_line_parse(slice_of(ptr, scan->ends[0]), request, &authority, problem))
        return false;
    request->keep_alive = request->minor == 1;
    for (unsigned i = 1; i < scan->line_count; i++) {
        const uint8_t *start = ptr + scan->ends[i - 1] + 2;
        struct http_header *header = &request->headers[request->header_count++];
        if (!header_line_parse(slice_of(start, (size_t)(ptr + scan->ends[i] - start)),
                               scan->controls, header, problem) ||
            !header_take(request, header, problem))
            return false;
    }
    if (!head_check(request, problem))
        return false;
    // The target says who is asked, whatever the header says (RFC 9112, 3.2.2).
    if (authority.ptr != NULL)
        request->host = authority;
    return true;
}

enum http_parse http_head_parse(struct http_scan *scan, const uint8_t *ptr, size_t len,
                                struct http_request *request, size_t *head_len,
                                struct http_problem *problem)
{
    size_t found = 0;
    enum http_parse result = head_scan(scan, ptr, len, &found, problem);
    if (result != HTTP_DONE)
        return result;
    if (!head_parse(scan, ptr, request, problem))
        return HTTP_BAD;
    *head_len = found;
    return HTTP_DONE;
}
