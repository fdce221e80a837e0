// Which hosts are served and which pages may call, row by row.
#include "server/gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static struct gate make(bool loopback)
{
    struct gate gate = {.loopback = loopback};
    const char *why;
    assert_true(gate_add_host(&gate, "db.example", &why));
    assert_true(gate_add_host(&gate, "*.app.example", &why));
    assert_true(gate_add_origin(&gate, "https://app.example", &why));
    assert_true(gate_add_origin(&gate, "http://localhost:3000", &why));
    return gate;
}

static enum gate_word judge(const struct gate *gate, const char *path, const char *version,
                            const char *headers, char cors[64])
{
    char head[512];
    int len = snprintf(head, sizeof(head), "POST %s HTTP/%s\r\n%s\r\n", path, version, headers);
    struct http_scan scan = {0};
    struct http_request request;
    struct http_problem problem;
    size_t head_len;
    assert_int_equal(
        http_head_parse(&scan, (const uint8_t *)head, (size_t)len, &request, &head_len, &problem),
        HTTP_DONE);
    struct slice origin = gate_cors(gate, &request);
    (void)snprintf(cors, 64, "%.*s", SLICE_FMT(origin));
    struct gate_memory memory = {0};
    enum gate_word word = gate_judge(gate, &memory, &request);
    assert_int_equal(gate_judge(gate, &memory, &request), word);
    return word;
}

static void test_hosts(void **state)
{
    (void)state;
    static const struct {
        const char *host;
        bool on_loopback; // whether a server that listens to this machine only serves it
        bool beyond;
    } rows[] = {
        {"localhost", true, true},
        {"LocalHost:8000", true, true},
        {"shop.localhost:8000", true, true},
        {"127.0.0.1:8000", true, true},
        {"127.1.2.3", true, true},
        {"[::1]:8000", true, true},
        {"db.example:8000", true, true},
        {"DB.Example", true, true},
        {"a.app.example", true, true},
        {"app.example", false, false},
        {"evil.example", false, false},
        {"notdb.example", false, false},
        {"db.example.evil.org", false, false},
        {"localhost.evil.org", false, false},
        {"notlocalhost", false, true},
        {"dolmen:8000", false, true},
        {"10.0.0.5:8000", false, true},
        {"[fd00::1]:8000", false, true},
        {"127.0.0.1.evil.org", false, false},
        {"127.0.0.1@evil.org", false, false},
        {"1270.0.0.1", false, false},
        {"", false, false},
        {":8000", false, false},
        {"localhost:", true, true},
        {"[::1", false, false},
        {"[::1]evil.example", false, false},
        {"[::1]:80:80", false, false},
        {"[localhost]", false, false},
        {"[127.0.0.1]", false, false},
        {"[localhost].evil.example", false, false},
        {"localhost:80@evil.example", false, false},
        {"localhost:80 ", true, true}, // a header's value is trimmed
        {"localhost:80x", false, false},
        {"localhost:65536", false, false},
        {"localhost:000080", false, false},
        {"evil.example#.localhost", false, false},
        {"evil.example/.localhost", false, false},
        {"evil.example\\.localhost", false, false},
        {"evil.example?.localhost", false, false},
        {"evil.example, x.localhost", false, false},
        {"evil.example%23.localhost", false, false},
        {"a@db.example", false, false},
    };
    struct gate near = make(true);
    struct gate far = make(false);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char headers[128];
        char cors[64];
        (void)snprintf(headers, sizeof(headers), "Host: %s\r\n", rows[i].host);
        bool here = judge(&near, "/", "1.1", headers, cors) == GATE_OPEN;
        bool there = judge(&far, "/", "1.1", headers, cors) == GATE_OPEN;
        if (here != rows[i].on_loopback || there != rows[i].beyond)
            fail_msg("host '%s': %d on loopback, %d beyond", rows[i].host, here, there);
    }
    char cors[64];
    assert_int_equal(judge(&near, "/", "1.0", "", cors), GATE_OPEN);
}

// What was let in once does not let others in.
static void test_memory(void **state)
{
    (void)state;
    static const struct {
        const char *host;
        enum gate_word word;
    } rows[] = {
        {"localhost:8000", GATE_OPEN}, {"localhost:8000", GATE_OPEN},
        {"localhost:80", GATE_OPEN},   {"evil.example", GATE_WRONG_HOST},
        {"localhost", GATE_OPEN},      {"localhost.evil.example", GATE_WRONG_HOST},
        {"l", GATE_WRONG_HOST},
    };
    struct gate gate = make(true);
    struct gate_memory memory = {0};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct http_request request = {.host = slice_str(rows[i].host), .path = SLICE_LIT("/")};
        assert_int_equal(gate_judge(&gate, &memory, &request), rows[i].word);
    }
}

static void test_any_host(void **state)
{
    (void)state;
    struct gate gate = {.loopback = true};
    const char *why;
    char cors[64];
    assert_true(gate_add_host(&gate, "*", &why));
    assert_int_equal(judge(&gate, "/", "1.1", "Host: evil.example\r\n", cors), GATE_OPEN);
}

static void test_origins(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        const char *origin;
        enum gate_word word;
        const char *cors;
    } rows[] = {
        {"/", "https://app.example", GATE_OPEN, "https://app.example"},
        {"/v1/shop", "http://localhost:3000", GATE_OPEN, "http://localhost:3000"},
        {"/", "http://localhost:8000", GATE_OPEN, ""}, // a page of the server itself
        {"/admin/clock", "http://localhost:8000", GATE_OPEN, ""},
        {"/admin/clock", "https://app.example", GATE_FOREIGN_PAGE, ""},
        {"/", "http://app.example", GATE_FOREIGN_PAGE, ""},
        {"/", "https://app.example:444", GATE_FOREIGN_PAGE, ""},
        {"/", "https://app.example.evil.org", GATE_FOREIGN_PAGE, ""},
        {"/", "http://localhost:8001", GATE_FOREIGN_PAGE, ""},
        {"/", "http://evil.example", GATE_FOREIGN_PAGE, ""},
        {"/health", "http://evil.example", GATE_FOREIGN_PAGE, ""},
        {"/", "null", GATE_FOREIGN_PAGE, ""},
        {"/", "", GATE_FOREIGN_PAGE, ""},
    };
    struct gate gate = make(true);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char headers[256];
        char cors[64];
        (void)snprintf(headers, sizeof(headers), "Host: localhost:8000\r\nOrigin: %s\r\n",
                       rows[i].origin);
        enum gate_word word = judge(&gate, rows[i].path, "1.1", headers, cors);
        if (word != rows[i].word || strcmp(cors, rows[i].cors) != 0)
            fail_msg("origin '%s' of %s: %d, '%s'", rows[i].origin, rows[i].path, word, cors);
    }
}

static void test_any_origin(void **state)
{
    (void)state;
    struct gate gate = {.loopback = true};
    const char *why;
    char cors[64];
    const char *headers = "Host: localhost\r\nOrigin: http://evil.example\r\n";
    assert_true(gate_add_origin(&gate, "*", &why));
    assert_int_equal(judge(&gate, "/", "1.1", headers, cors), GATE_OPEN);
    assert_string_equal(cors, "*");
    assert_int_equal(judge(&gate, "/admin/clock", "1.1", headers, cors), GATE_FOREIGN_PAGE);
    assert_string_equal(cors, "");
}

static void test_options(void **state)
{
    (void)state;
    static const char *const hosts[] = {"", "http://a", "a:80", "a b"};
    static const char *const origins[] = {"", "a.example", "https://", "https://a/", "://a"};
    struct gate gate = {.loopback = true};
    for (size_t i = 0; i < COUNT_OF(hosts); i++) {
        const char *why = NULL;
        assert_false(gate_add_host(&gate, hosts[i], &why));
        assert_non_null(why);
    }
    for (size_t i = 0; i < COUNT_OF(origins); i++) {
        const char *why = NULL;
        assert_false(gate_add_origin(&gate, origins[i], &why));
        assert_non_null(why);
    }
    const char *why;
    assert_true(gate_add_host(&gate, "fd00::1", &why));
    for (size_t i = gate.host_count; i < GATE_NAMES; i++)
        assert_true(gate_add_host(&gate, "a", &why));
    assert_false(gate_add_host(&gate, "a", &why));
    assert_true(gate_is_loopback("127.0.0.1") && gate_is_loopback("::1") &&
                gate_is_loopback("localhost"));
    assert_false(gate_is_loopback("0.0.0.0") || gate_is_loopback("::") ||
                 gate_is_loopback("10.1.2.3") || gate_is_loopback("myhost"));
}

// The host of the target counts, not that of the header.
static void test_absolute(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        const char *host;
        enum gate_word word;
    } rows[] = {
        {"http://localhost/", "localhost", GATE_OPEN},
        {"http://localhost:8000/health", "evil.example", GATE_OPEN},
        {"HTTP://db.example", "localhost", GATE_OPEN},
        {"http://evil.example/health", "localhost", GATE_WRONG_HOST},
        {"http://evil.example", "localhost", GATE_WRONG_HOST},
        {"http://evil.example?a=b", "localhost", GATE_WRONG_HOST},
        {"http://evil.example?/@localhost/", "localhost", GATE_WRONG_HOST},
        {"http://localhost@evil.example/", "localhost", GATE_WRONG_HOST},
        {"http:///health", "localhost", GATE_WRONG_HOST},
    };
    struct gate gate = make(true);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char headers[128];
        char cors[64];
        (void)snprintf(headers, sizeof(headers), "Host: %s\r\n", rows[i].host);
        if (judge(&gate, rows[i].target, "1.1", headers, cors) != rows[i].word)
            fail_msg("%s", rows[i].target);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hosts),    cmocka_unit_test(test_absolute),
        cmocka_unit_test(test_any_host), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_origins),  cmocka_unit_test(test_any_origin),
        cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
