// Where URLs lead, and which lead nowhere.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "text/url.h"

static const struct {
    const char *url;
    const char *host; // NULL: it leads nowhere
    unsigned port;
} urls[] = {
    {"http://example.com", "example.com", 0},
    {"https://example.com:8443/a:b@c?d#e", "example.com", 8443},
    {"http://example.com?x=http://other", "example.com", 0},
    {"http://example.com#@other", "example.com", 0},
    {"http://user:word@example.com:80/", "example.com", 80},
    {"http://user@evil@example.com/", "example.com", 0},
    {"http://127.0.0.1:1/", "127.0.0.1", 1},
    {"http://[::1]/", "::1", 0},
    {"http://[fe80::1%25eth0]:65535/", "fe80::1%25eth0", 65535},
    {"http://b\xc3\xbc"
     "cher.example/",
     "b\xc3\xbc"
     "cher.example",
     0},
    {"http://a_b-c.d", "a_b-c.d", 0},
    {"", NULL, 0},
    {"http", NULL, 0},
    {"http:", NULL, 0},
    {"http:/example.com", NULL, 0},
    {"HTTP://example.com", NULL, 0},
    {"ftp://example.com", NULL, 0},
    {"http://", NULL, 0},
    {"http:///x", NULL, 0},
    {"http://?x", NULL, 0},
    {"http://user@/", NULL, 0},
    {"http://:80", NULL, 0},
    {"http://example.com:", NULL, 0},
    {"http://example.com:0", NULL, 0},
    {"http://example.com:65536", NULL, 0},
    {"http://example.com:000080", NULL, 0},
    {"http://example.com:8o", NULL, 0},
    {"http://example.com:-1", NULL, 0},
    {"http://::1/", NULL, 0},
    {"http://[::1", NULL, 0},
    {"http://[]/", NULL, 0},
    {"http://[127.0.0.1]/", NULL, 0},
    {"http://[::1]:/", NULL, 0},
    {"http://[::1]x/", NULL, 0},
    {"http://exa mple.com/", NULL, 0},
    {"http://example.com/\n", NULL, 0},
    {"http://example.com/\x7f", NULL, 0},
    {"http://a,b/", NULL, 0},
    {"http://a%2e/", NULL, 0},
    {"http://a\\b/", NULL, 0},
};

static void test_urls(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        struct url_place place;
        const char *wrong = url_http_read(slice_str(urls[i].url), &place);
        if ((wrong == NULL) != (urls[i].host != NULL))
            fail_msg("%s: %s", urls[i].url, wrong == NULL ? "accepted" : wrong);
        if (wrong != NULL)
            continue;
        assert_true(slice_is(place.host, urls[i].host));
        assert_int_equal(place.port, urls[i].port);
    }
}

static void test_long_hosts(void **state)
{
    (void)state;
    char text[400] = "http://";
    struct url_place place;
    memset(text + 7, 'a', 300);
    assert_null(url_http_read(slice_of(text, 7 + URL_HOST_MAX), &place));
    assert_int_equal(place.host.len, URL_HOST_MAX);
    assert_string_equal(url_http_read(slice_of(text, 8 + URL_HOST_MAX), &place),
                        "the host is longer than 253 bytes");
    text[7] = '[';
    text[120] = ']';
    assert_string_equal(url_http_read(slice_of(text, 121), &place),
                        "what is in brackets is no IPv6 address");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_long_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
