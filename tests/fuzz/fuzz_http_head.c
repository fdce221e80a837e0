// The head of an HTTP request: parsed whole, and again in pieces as they would arrive. Both must
// come to the same answer, and every slice must point into the bytes.
//
// Input: one byte that says how the bytes are cut, then the bytes of a connection.
#include "fuzz.h"

#include "http/parser.h"

struct outcome {
    enum http_parse result;
    struct http_request request;
    struct http_problem problem;
    size_t head_len;
};

static bool same(struct slice a, const uint8_t *a_from, struct slice b, const uint8_t *b_from)
{
    return slice_equal(a, b) && (a.len == 0 || a.ptr - a_from == b.ptr - b_from);
}

static void check_request(const struct http_request *request, struct slice bytes, size_t head_len)
{
    struct slice head = slice_of(bytes.ptr, head_len);
    ensure(head_len <= bytes.len && head_len <= HTTP_HEAD_MAX);
    ensure(request->method.len > 0 && request->method.len <= HTTP_METHOD_MAX);
    ensure(request->target.len > 0 && request->target.len <= HTTP_TARGET_MAX);
    ensure(request->header_count <= HTTP_HEADERS_MAX);
    ensure(!(request->chunked && request->has_length));
    ensure(request->has_length || request->length == 0);
    fuzz_inside(request->method, head);
    fuzz_inside(request->target, head);
    fuzz_inside(request->path, head);
    fuzz_inside(request->query, head);
    fuzz_inside(request->host, head);
    for (unsigned i = 0; i < request->header_count; i++) {
        fuzz_inside(request->headers[i].name, head);
        fuzz_inside(request->headers[i].value, head);
        ensure(request->headers[i].name.len > 0);
        for (size_t j = 0; j < request->headers[i].value.len; j++) {
            uint8_t c = request->headers[i].value.ptr[j];
            ensure((c >= 0x20 || c == '\t') && c != 0x7f);
        }
    }
    // The shortcuts and the search find the same headers.
#define X(id, name) ensure(http_header(request, id) == http_header_find(request, SLICE_LIT(name)));
    HTTP_KNOWN_LIST(X)
#undef X
}

static void parse(struct slice bytes, struct outcome *out)
{
    struct http_scan scan;
    http_scan_reset(&scan);
    memset(out, 0, sizeof(*out));
    out->result =
        http_head_parse(&scan, bytes.ptr, bytes.len, &out->request, &out->head_len, &out->problem);
}

// A piece was refused before the whole was: then the whole would never have become good either.
static void check_hopeless(struct slice bytes)
{
    static struct outcome ended;
    struct slice end = SLICE_LIT("\r\nHost: a\r\n\r\n");
    uint8_t *longer = malloc(bytes.len + end.len);
    ensure(longer != NULL);
    if (bytes.len > 0)
        memcpy(longer, bytes.ptr, bytes.len);
    memcpy(longer + bytes.len, end.ptr, end.len);
    parse(slice_of(longer, bytes.len + end.len), &ended);
    ensure(ended.result == HTTP_BAD);
    free(longer);
}

static void check_same(const struct outcome *a, struct slice a_bytes, const struct outcome *b,
                       struct slice b_bytes)
{
    const uint8_t *p = a_bytes.ptr;
    const uint8_t *q = b_bytes.ptr;
    ensure(a->result == b->result);
    // What is wrong in two ways may be refused for either, so the problems are not compared.
    if (a->result != HTTP_DONE)
        return;
    const struct http_request *r = &a->request;
    const struct http_request *s = &b->request;
    ensure(a->head_len == b->head_len && r->header_count == s->header_count);
    ensure(same(r->method, p, s->method, q) && same(r->target, p, s->target, q));
    ensure(same(r->path, p, s->path, q) && same(r->query, p, s->query, q));
    ensure(same(r->host, p, s->host, q) && r->length == s->length && r->minor == s->minor);
    ensure(r->has_length == s->has_length && r->chunked == s->chunked);
    ensure(r->keep_alive == s->keep_alive && r->expect_continue == s->expect_continue);
    ensure(r->coding == s->coding && r->accepts == s->accepts);
    ensure(memcmp(r->known, s->known, sizeof(r->known)) == 0);
    for (unsigned i = 0; i < r->header_count; i++) {
        ensure(same(r->headers[i].name, p, s->headers[i].name, q));
        ensure(same(r->headers[i].value, p, s->headers[i].value, q));
    }
}

// Hands over ever longer prefixes, each in memory of its own; returns the last one.
static struct slice parse_pieces(struct slice bytes, unsigned cut, struct outcome *out)
{
    struct http_scan scan;
    http_scan_reset(&scan);
    size_t len = 0;
    unsigned state = cut;
    struct slice prefix = fuzz_copy(slice_of(bytes.ptr, 0));
    for (;;) {
        memset(out, 0, sizeof(*out));
        out->result = http_head_parse(&scan, prefix.ptr, prefix.len, &out->request, &out->head_len,
                                      &out->problem);
        if (out->result != HTTP_MORE || len == bytes.len)
            return prefix;
        // Long heads in steps that grow, so that a large input does not take quadratic time.
        state = state * 25173 + 13849;
        size_t step = 1 + (state >> 4) % (1 + cut % 32) + len / 64;
        len = bytes.len - len < step ? bytes.len : len + step;
        fuzz_free(prefix);
        prefix = fuzz_copy(slice_of(bytes.ptr, len));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    unsigned cut = fuzz_byte(&in);
    struct slice bytes = fuzz_copy(in);
    static struct outcome whole; // large: not for the stack
    static struct outcome pieces;
    parse(bytes, &whole);
    if (whole.result == HTTP_DONE)
        check_request(&whole.request, bytes, whole.head_len);
    if (whole.result == HTTP_BAD)
        ensure(whole.problem.status >= 400 && whole.problem.reason != NULL);
    struct slice last = parse_pieces(bytes, cut, &pieces);
    if (whole.result == HTTP_MORE && pieces.result == HTTP_BAD)
        check_hopeless(bytes);
    else
        check_same(&whole, bytes, &pieces, last);
    if (pieces.result == HTTP_DONE) {
        http_request_rebase(&pieces.request, (uintptr_t)last.ptr, bytes.ptr);
        check_same(&whole, bytes, &pieces, bytes);
    }
    fuzz_free(last);
    fuzz_free(bytes);
    return 0;
}
