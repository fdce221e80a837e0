// Which tenant a request is for: options, peers, headers.
#include "server/binding.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void test_header_names(void **state)
{
    (void)state;
    static const char *const bad[] = {"",       "x tenant", "x_tenant",     "x:y",
                                      "x\r\ny", "Host",     "Content-Type", "x\xc3\xa4"};
    const char *why = NULL;
    struct binding binding = {.required = false};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_false(binding_set_header(&binding, bad[i], &why));
    char longest[BINDING_NAME + 2];
    memset(longest, 'x', sizeof(longest));
    longest[BINDING_NAME + 1] = 0;
    assert_false(binding_set_header(&binding, longest, &why));
    longest[BINDING_NAME] = 0;
    assert_true(binding_set_header(&binding, longest, &why));
    assert_true(binding_set_header(&binding, "X-Tenant-1", &why));
    assert_string_equal(binding.name, "x-tenant-1");
}

static void test_proxies(void **state)
{
    (void)state;
    static const char *const bad[] = {"",           "proxy",       "10.0.0.0/33", "10.0.0.0/",
                                      "10.0.0.0/x", "10.0.0.0/8x", "::1/129",     "1.2.3",
                                      "/8",         "10.0.0.0/-1", "10.0.0.0/ 8"};
    const char *why = NULL;
    struct binding binding = {.required = false};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_false(binding_add_proxy(&binding, bad[i], &why));
    assert_int_equal(binding.proxy_count, 0);
    for (size_t i = 0; i < BINDING_PROXIES; i++)
        assert_true(binding_add_proxy(&binding, "10.0.0.1", &why));
    assert_false(binding_add_proxy(&binding, "10.0.0.1", &why));
}

static void test_trust(void **state)
{
    (void)state;
    const char *why = NULL;
    struct binding binding = {.required = false};
    assert_true(binding_trusts(&binding, "127.0.0.1"));
    assert_true(binding_trusts(&binding, "127.9.9.9"));
    assert_true(binding_trusts(&binding, "::1"));
    assert_true(binding_trusts(&binding, "::ffff:127.0.0.1"));
    assert_false(binding_trusts(&binding, "10.0.0.1"));
    assert_false(binding_trusts(&binding, "::2"));
    assert_false(binding_trusts(&binding, "")); // nobody knows who it is
    assert_true(binding_add_proxy(&binding, "10.1.2.0/23", &why));
    assert_true(binding_add_proxy(&binding, "2001:db8::/33", &why));
    assert_true(binding_add_proxy(&binding, "192.0.2.7", &why));
    assert_true(binding_trusts(&binding, "10.1.3.255"));
    assert_true(binding_trusts(&binding, "::ffff:10.1.2.1"));
    assert_false(binding_trusts(&binding, "10.1.4.0"));
    assert_false(binding_trusts(&binding, "10.1.1.255"));
    assert_true(binding_trusts(&binding, "2001:db8:7fff::1"));
    assert_false(binding_trusts(&binding, "2001:db8:8000::1"));
    assert_true(binding_trusts(&binding, "192.0.2.7"));
    assert_false(binding_trusts(&binding, "192.0.2.6"));
    assert_false(binding_trusts(&binding, "127.0.0.1")); // those that are named, and no others
    assert_true(binding_add_proxy(&binding, "0.0.0.0/0", &why));
    assert_true(binding_trusts(&binding, "127.0.0.1"));
    assert_false(binding_trusts(&binding, "::1"));
}

static void add_header(struct http_request *request, const char *name, const char *value)
{
    request->headers[request->header_count++] =
        (struct http_header){slice_str(name), slice_str(value)};
}

static void test_requests(void **state)
{
    (void)state;
    static struct http_request request;
    const char *why = NULL;
    struct slice tenant = slice_of(NULL, 0);
    struct binding binding = {.required = false};
    add_header(&request, "X-TENANT", "acme");
    assert_int_equal(binding_judge(&binding, true, &request, &tenant), BINDING_FREE);
    assert_int_equal(binding_judge(&binding, false, &request, &tenant), BINDING_FREE);
    assert_true(binding_set_header(&binding, "X-Tenant", &why));
    assert_int_equal(binding_judge(&binding, false, &request, &tenant), BINDING_STRANGER);
    assert_int_equal(tenant.len, 0);
    assert_int_equal(binding_judge(&binding, true, &request, &tenant), BINDING_BOUND);
    assert_true(slice_is(tenant, "acme"));
    add_header(&request, "x-tenant", "acme");
    assert_int_equal(binding_judge(&binding, true, &request, &tenant), BINDING_REPEATED);
    request.header_count = 0;
    assert_int_equal(binding_judge(&binding, true, &request, &tenant), BINDING_FREE);
    assert_int_equal(binding_judge(&binding, false, &request, &tenant), BINDING_STRANGER);
    binding.required = true;
    assert_int_equal(binding_judge(&binding, true, &request, &tenant), BINDING_MISSING);
    add_header(&request, "x-tenants", "other");
    add_header(&request, "x-tenant", "");
    assert_int_equal(binding_judge(&binding, true, &request, &tenant), BINDING_BOUND);
    assert_int_equal(tenant.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header_names),
        cmocka_unit_test(test_proxies),
        cmocka_unit_test(test_trust),
        cmocka_unit_test(test_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
