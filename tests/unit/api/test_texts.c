// dolmen_options.service_texts: whose words errors have. What they are is in
// tests/golden/service-requests.txt.
#include "dolmen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void assert_refused(const char *texts, const char *message)
{
    static const char request[] = "{\"TableName\":\"none\",\"Item\":{\"n\":{\"N\":\"x\"}}}";
    struct dolmen_options options = {.service_texts = texts};
    struct dolmen_response response;
    dolmen *db;
    char error[256];
    assert_int_equal(dolmen_open(&options, &db, error, sizeof(error)), DOLMEN_OK);
    dolmen_call(db, "PutItem", request, strlen(request), &response);
    assert_int_equal(response.status, 400);
    assert_non_null(strstr(response.body, message));
    dolmen_response_free(&response);
    dolmen_close(db);
}

static void test_texts(void **state)
{
    (void)state;
    assert_refused(NULL, "\"1 validation error detected: The parameter cannot");
    assert_refused("2026-05", "\"The parameter cannot");
}

static void test_unknown_texts(void **state)
{
    (void)state;
    struct dolmen_options options = {.service_texts = "1999-12"};
    dolmen *db = NULL;
    char error[256];
    assert_int_equal(dolmen_open(&options, &db, error, sizeof(error)), DOLMEN_FAILED);
    assert_string_equal(error, "service_texts: only \"2026-05\" is known");
    assert_null(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_unknown_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
