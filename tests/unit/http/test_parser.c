// The request-head parser: good heads, bad heads with their status, every split point, and
// mutations of good heads in exact-size heap copies (so that a sanitizer sees an overrun).
#include "http/parser.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define H "Host: h\r\n"

static const char *const good[] = {
    "GET / HTTP/1.1\r\n" H "\r\n",
    "GET / HTTP/1.0\r\n\r\n",
    "POST / HTTP/1.1\r\n" H "Content-Length: 12\r\nX-Amz-Target: DynamoDB_20120810.PutItem\r\n\r\n",
    "POST /?X-Amz-Algorithm=AWS4&b=c HTTP/1.1\r\nhost:h\r\ncontent-length:0\r\n\r\n",
    "POST http://host:80/p?q HTTP/1.1\r\n" H "Transfer-Encoding: Chunked\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\n" H "Origin:\t http://x \t\r\nEmpty:\r\n\r\n",
    "POST / HTTP/1.1\r\n" H "Expect: 100-continue\r\nAccept-Encoding: deflate, gzip;q=0.5\r\n"
    "Content-Encoding: gzip\r\nConnection: TE, close\r\n\r\n",
    "POST / HTTP/1.1\r\n" H "Authorization: AWS4-HMAC-SHA256 Credential=a/b/c/d/e, "
    "SignedHeaders=host;x-amz-date, Signature=0123456789\r\nX-Long: \xc3\xa9\xc3\xa8 text\r\n\r\n",
    "GET / HTTP/1.1\r\n" H "A-name-of-many-letters_and!other#characters: x\ty\r\nTab: a\tb\r\n\r\n",
};

static const struct {
    int status;
    const char *text;
} bad[] = {
    {400, "\r\n"},
    {400, "GET / HTTP/1.1\n" H "\r\n"},
    {400, "GET / HTTP/1.1\r\nHost: h\n\r\n"},
    {400, "GET / HTTP/1.1\r\n" H "Origin: http://h\r\nA: b\r\nORIGIN: http://x\r\n\r\n"},
    {400, "GET / HTTP/1.1\r\n" H "\n"},
    {400, "GET / HTTP/1.1\r\n" H "A: b\rc\r\n\r\n"},
    {400, "GET / HTTP/1.1\r\rHost: h\r\n\r\n"},
    {400, "\x16\x03\x01\x02"},
    {400, " GET / HTTP/1.1\r\n" H "\r\n"},
    {400, "GET  / HTTP/1.1\r\n" H "\r\n"},
    {400, "GET / HTTP/1.1 \r\n" H "\r\n"},
    {400, "GET /a b HTTP/1.1\r\n" H "\r\n"},
    {400, "GET /\x80 HTTP/1.1\r\n" H "\r\n"},
    {400, "GET x HTTP/1.1\r\n" H "\r\n"},
    {400, "GET /\r\n" H "\r\n"},
    {400, "GET / HTTP/1\r\n" H "\r\n"},
    {400, "GET / HTTP/1.x\r\n" H "\r\n"},
    {400, "GET / http/1.1\r\n" H "\r\n"},
    {505, "GET / HTTP/2.0\r\n" H "\r\n"},
    {505, "GET / HTTP/1.2\r\n" H "\r\n"},
    {400, "GET / HTTP/1.1\r\n\r\n"},
    {400, "GET / HTTP/1.1\r\n" H H "\r\n"},
    {400, "GET / HTTP/1.1\r\n" H " folded: x\r\n\r\n"},
    {400, "GET / HTTP/1.1\r\n" H "A: b\r\n c\r\n\r\n"},
    {400, "GET / HTTP/1.1\r\n" H "A : b\r\n\r\n"},
    {400, "GET / HTTP/1.1\r\n" H ": b\r\n\r\n"},
    {400, "GET / HTTP/1.1\r\n" H "novalue\r\n\r\n"},
    {400, "GET / HTTP/1.1\r\n" H "A: b\x01\r\n\r\n"},
    {400, "GET / HTTP/1.1\r\n" H "A: a longer value than that \x7f\r\n\r\n"},
    {400, "GET / HTTP/1.1\r\n" H "A(b): c\r\n\r\n"},
    {400, "POST / HTTP/1.1\r\n" H "Content-Length: 1\r\nContent-Length: 1\r\n\r\n"},
    {400, "POST / HTTP/1.1\r\n" H "Content-Length: 1, 1\r\n\r\n"},
    {400, "POST / HTTP/1.1\r\n" H "Content-Length: -1\r\n\r\n"},
    {400, "POST / HTTP/1.1\r\n" H "Content-Length: +1\r\n\r\n"},
    {400, "POST / HTTP/1.1\r\n" H "Content-Length: 0x1\r\n\r\n"},
    {400, "POST / HTTP/1.1\r\n" H "Content-Length:\r\n\r\n"},
    {400, "POST / HTTP/1.1\r\n" H "Content-Length: 18446744073709551617\r\n\r\n"},
    {400, "POST / HTTP/1.1\r\n" H "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"},
    {400,
     "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"},
    {400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"},
    {501, "POST / HTTP/1.1\r\n" H "Transfer-Encoding: gzip, chunked\r\n\r\n"},
    {501, "POST / HTTP/1.1\r\n" H "Transfer-Encoding: identity\r\n\r\n"},
    {417, "POST / HTTP/1.1\r\n" H "Expect: miracles\r\n\r\n"},
};

struct outcome {
    enum http_parse result;
    struct http_request request;
    struct http_problem problem;
    size_t head_len;
};

// Parses bytes[0..len) of an exact-size copy, offered first up to each of the given cuts.
static void parse_cut(const char *text, size_t len, size_t cut, uint8_t *copy, struct outcome *out)
{
    struct http_scan scan = {0};
    memcpy(copy, text, len);
    memset(out, 0, sizeof(*out));
    if (cut < len) {
        out->result =
            http_head_parse(&scan, copy, cut, &out->request, &out->head_len, &out->problem);
        if (out->result != HTTP_MORE)
            return;
    }
    out->result = http_head_parse(&scan, copy, len, &out->request, &out->head_len, &out->problem);
}

static void parse(const char *text, uint8_t *copy, struct outcome *out)
{
    parse_cut(text, strlen(text), strlen(text), copy, out);
}

static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        uint8_t *copy = malloc(strlen(good[i]));
        struct outcome out;
        parse(good[i], copy, &out);
        if (out.result != HTTP_DONE)
            fail_msg("head %zu: %d %s", i, out.problem.status, out.problem.reason);
        assert_int_equal(out.head_len, strlen(good[i]));
        free(copy);
    }
}

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        uint8_t *copy = malloc(strlen(bad[i].text));
        struct outcome out;
        parse(bad[i].text, copy, &out);
        if (out.result != HTTP_BAD || out.problem.status != bad[i].status)
            fail_msg("head %zu: result %d, status %d", i, out.result, out.problem.status);
        free(copy);
    }
}

static void test_meaning(void **state)
{
    (void)state;
    uint8_t copy[512];
    struct outcome out;
    parse(good[1], copy, &out);
    assert_int_equal(out.request.minor, 0);
    assert_false(out.request.keep_alive);
    parse("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", copy, &out);
    assert_true(out.request.keep_alive);
    parse(good[2], copy, &out);
    assert_true(out.request.keep_alive && out.request.has_length);
    assert_int_equal(out.request.length, 12);
    const struct slice *target = http_header_find(&out.request, SLICE_LIT("x-amz-target"));
    assert_true(target != NULL && slice_is(*target, "DynamoDB_20120810.PutItem"));
    assert_null(http_header_find(&out.request, SLICE_LIT("absent")));
    parse(good[3], copy, &out);
    assert_true(slice_is(out.request.path, "/"));
    assert_true(slice_is(out.request.query, "X-Amz-Algorithm=AWS4&b=c"));
    parse(good[4], copy, &out);
    assert_true(out.request.chunked && slice_is(out.request.path, "/p"));
    assert_true(slice_is(out.request.query, "q"));
    parse("GET http://host HTTP/1.1\r\n" H "\r\n", copy, &out);
    assert_true(slice_is(out.request.path, "/") && slice_is(out.request.host, "host"));
    parse("GET http://host?a=/b HTTP/1.1\r\n" H "\r\n", copy, &out);
    assert_true(slice_is(out.request.path, "/") && slice_is(out.request.query, "a=/b"));
    parse(good[5], copy, &out);
    assert_true(slice_is(out.request.headers[1].value, "http://x"));
    assert_int_equal(out.request.headers[2].value.len, 0);
    parse(good[6], copy, &out);
    assert_true(out.request.expect_continue && out.request.accepts == HTTP_GZIP &&
                out.request.coding == HTTP_GZIP);
    assert_false(out.request.keep_alive);
}

// Each known header is found under its name, in any case, and under no other of its length.
static void test_known(void **state)
{
    (void)state;
#define KNOWN_NAME(id, name) [id] = (name),
    static const char *const names[] = {HTTP_KNOWN_LIST(KNOWN_NAME)};
#undef KNOWN_NAME
    uint8_t copy[512];
    char text[512];
    struct outcome out;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (i == HTTP_HOST || i == HTTP_CONTENT_LENGTH || i == HTTP_EXPECT ||
            i == HTTP_CONTENT_ENCODING || i == HTTP_TRANSFER_ENCODING)
            continue; // their values matter, and the other tests see to them
        char name[32] = {0};
        for (size_t k = 0; k < strlen(names[i]); k++)
            name[k] = (char)(k % 2 == 0 ? toupper(names[i][k]) : names[i][k]);
        (void)snprintf(text, sizeof(text), "GET / HTTP/1.1\r\n" H "%s: one\r\n%s: two\r\n\r\n",
                       name, i == HTTP_ORIGIN ? "other" : names[i]);
        parse(text, copy, &out);
        assert_int_equal(out.result, HTTP_DONE);
        const struct slice *value = http_header(&out.request, (enum http_known)i);
        assert_true(value != NULL && slice_is(*value, "one"));
        name[strlen(names[i]) - 1] = '_';
        (void)snprintf(text, sizeof(text), "GET / HTTP/1.1\r\n" H "%s: one\r\n\r\n", name);
        parse(text, copy, &out);
        assert_int_equal(out.result, HTTP_DONE);
        assert_null(http_header(&out.request, (enum http_known)i));
    }
}

static void test_accept_encoding(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        enum http_coding coding;
    } rows[] = {
        {"gzip", HTTP_GZIP},
        {"GZIP", HTTP_GZIP},
        {"identity", HTTP_IDENTITY},
        {"", HTTP_IDENTITY},
        {"gzip;q=0", HTTP_IDENTITY},
        {"*", HTTP_IDENTITY},
        {"gzip; q=0.0", HTTP_IDENTITY},
        {"gzip;q=0.001", HTTP_GZIP},
        {"br, gzip;q=1", HTTP_GZIP},
        {"xgzip", HTTP_IDENTITY},
        {"deflate,gzip", HTTP_GZIP},
        {"gzip,deflate", HTTP_GZIP},
        {"deflate", HTTP_DEFLATE},
        {"gzip;q=0, deflate", HTTP_DEFLATE},
        {"deflate;q=0", HTTP_IDENTITY},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[128];
        uint8_t copy[128];
        struct outcome out;
        (void)snprintf(text, sizeof(text), "GET / HTTP/1.1\r\n" H "Accept-Encoding: %s\r\n\r\n",
                       rows[i].value);
        parse(text, copy, &out);
        assert_int_equal(out.result, HTTP_DONE);
        if (out.request.accepts != rows[i].coding)
            fail_msg("Accept-Encoding: %s", rows[i].value);
    }
}

static bool same_headers(const struct http_request *a, const struct http_request *b)
{
    if (a->header_count != b->header_count || !slice_equal(a->method, b->method) ||
        !slice_equal(a->path, b->path) || !slice_equal(a->query, b->query))
        return false;
    for (unsigned i = 0; i < a->header_count; i++) {
        if (!slice_equal(a->headers[i].name, b->headers[i].name) ||
            !slice_equal(a->headers[i].value, b->headers[i].value))
            return false;
    }
    return true;
}

// The bytes that follow a head must change nothing, and neither must where it is cut.
static void test_every_split(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        size_t len = strlen(good[i]);
        uint8_t *whole_copy = malloc(len);
        uint8_t *cut_copy = malloc(len);
        struct outcome whole;
        struct outcome cut;
        parse(good[i], whole_copy, &whole);
        for (size_t at = 0; at < len; at++) {
            parse_cut(good[i], len, at, cut_copy, &cut);
            assert_int_equal(cut.result, HTTP_DONE);
            assert_int_equal(cut.head_len, whole.head_len);
            assert_true(same_headers(&whole.request, &cut.request));
        }
        free(whole_copy);
        free(cut_copy);
    }
}

static void test_byte_by_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct http_scan scan = {0};
        struct outcome out;
        size_t len = strlen(good[i]);
        for (size_t n = 1; n <= len; n++) {
            uint8_t *copy = malloc(n);
            memcpy(copy, good[i], n);
            enum http_parse result =
                http_head_parse(&scan, copy, n, &out.request, &out.head_len, &out.problem);
            assert_int_equal(result, n == len ? HTTP_DONE : HTTP_MORE);
            free(copy);
        }
    }
}

static void test_limits(void **state)
{
    (void)state;
    size_t len = HTTP_HEAD_MAX + 1000;
    char *text = malloc(len + 1);
    uint8_t *copy = malloc(len);
    struct outcome out;
    memset(text, 'a', len);
    text[len] = 0;
    memcpy(text, "GET / HTTP/1.1\r\nA: ", 19);
    parse(text, copy, &out);
    assert_int_equal(out.problem.status, 431);
    memcpy(text, "GET /aaaaaaaaaaaaaa", 19);
    memcpy(text + HTTP_TARGET_MAX + 100, " HTTP/1.1\r\n" H "\r\n", 22);
    text[HTTP_TARGET_MAX + 122] = 0;
    parse(text, copy, &out);
    assert_int_equal(out.problem.status, 414);
    size_t at = (size_t)snprintf(text, len, "GET / HTTP/1.1\r\n");
    for (int i = 0; i <= HTTP_HEADERS_MAX; i++)
        at += (size_t)snprintf(text + at, len - at, "h: v\r\n");
    (void)snprintf(text + at, len - at, "\r\n");
    parse(text, copy, &out);
    assert_int_equal(out.problem.status, 431);
    parse("ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZ", copy, &out);
    assert_int_equal(out.problem.status, 400);
    free(text);
    free(copy);
}

static void test_rebase(void **state)
{
    (void)state;
    size_t len = strlen(good[7]);
    uint8_t *first = malloc(len);
    uint8_t *second = malloc(len);
    struct outcome out;
    parse(good[7], first, &out);
    memcpy(second, first, len);
    http_request_rebase(&out.request, (uintptr_t)first, second);
    memset(first, 'x', len);
    assert_true(slice_is(out.request.method, "POST"));
    assert_true(slice_is(out.request.headers[0].name, "Host"));
    assert_true(slice_is(out.request.host, "h"));
    free(first);
    free(second);
}

// Whatever a head becomes by accident or malice, the parser answers and stays in its bounds.
static void test_mutations(void **state)
{
    (void)state;
    uint64_t seed = 42;
    static const char spice[] = "\r\n :\t\0\x7f\xff,;0A/?";
    for (int round = 0; round < 20000; round++) {
        const char *text = good[(size_t)round % COUNT_OF(good)];
        size_t len = strlen(text);
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        size_t keep = (seed >> 20) % 4 == 0 ? (size_t)(seed >> 33) % (len + 1) : len;
        uint8_t *copy = malloc(keep == 0 ? 1 : keep);
        memcpy(copy, text, keep);
        for (int edits = (int)(seed >> 60) % 4; edits >= 0 && keep > 0; edits--) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            copy[(size_t)(seed >> 33) % keep] =
                (uint8_t)spice[(size_t)(seed >> 20) % (sizeof(spice) - 1)];
        }
        struct http_scan scan = {0};
        struct outcome out;
        enum http_parse result =
            http_head_parse(&scan, copy, keep, &out.request, &out.head_len, &out.problem);
        if (result == HTTP_DONE)
            assert_true(out.head_len <= keep && out.request.header_count <= HTTP_HEADERS_MAX);
        if (result == HTTP_BAD)
            assert_true(out.problem.status >= 400 && out.problem.reason != NULL);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_meaning),     cmocka_unit_test(test_accept_encoding),
        cmocka_unit_test(test_every_split), cmocka_unit_test(test_byte_by_byte),
        cmocka_unit_test(test_limits),      cmocka_unit_test(test_rebase),
        cmocka_unit_test(test_mutations),   cmocka_unit_test(test_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
