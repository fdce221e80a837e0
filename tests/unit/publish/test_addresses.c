// Addresses that nobody should be made to post to, and what is made of HTTP statuses.
#include "publish/publish.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>

static bool forbidden(const char *text)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return address_forbidden((const struct sockaddr *)&v4);
    assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
    return address_forbidden((const struct sockaddr *)&v6);
}

static void test_addresses(void **state)
{
    (void)state;
    static const char *const bad[] = {"169.254.169.254", "169.254.0.1",
                                      "fe80::1",         "febf::1",
                                      "fd00:ec2::254",   "::ffff:169.254.169.254",
                                      "100.100.100.200", "64:ff9b::a9fe:a9fe"};
    static const char *const good[] = {
        "127.0.0.1", "10.0.0.1", "169.253.1.1",     "::1",
        "fec0::1",   "fd00::1",  "::ffff:10.0.0.1", "64:ff9b::a00:1"};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_true(forbidden(bad[i]));
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_false(forbidden(good[i]));
}

static void test_statuses(void **state)
{
    (void)state;
    char reason[32];
    static const struct {
        long status;
        enum outlet_outcome outcome;
    } rows[] = {{200, OUTLET_DELIVERED}, {204, OUTLET_DELIVERED}, {301, OUTLET_REFUSED},
                {400, OUTLET_REFUSED},   {404, OUTLET_REFUSED},   {408, OUTLET_AWAY},
                {410, OUTLET_GONE},      {429, OUTLET_AWAY},      {500, OUTLET_FAILED},
                {502, OUTLET_FAILED},    {503, OUTLET_AWAY}};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_int_equal(http_outcome(rows[i].status, 0, reason, sizeof(reason)).outcome,
                         rows[i].outcome);
    assert_int_equal(http_outcome(429, 7000, reason, sizeof(reason)).retry_after_ms, 7000);
    assert_string_equal(reason, "status 429");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_statuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
