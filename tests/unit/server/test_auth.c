// What the server makes of a request's signature: each message is DynamoDB's text.
#include "server/auth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define FULL                                                                                       \
    "Authorization: AWS4-HMAC-SHA256 Credential=AKID/20261115/eu-west-3/dynamodb/aws4_request, "   \
    "SignedHeaders=host;x-amz-date, Signature=abc\r\n"
#define DATE  "X-Amz-Date: 20261115T000000Z\r\n"
#define QUERY "X-Amz-Algorithm=AWS4-HMAC-SHA256"

static const struct {
    const char *query;
    const char *headers;
    const char *region; // if it is accepted
    enum error_code code;
    const char *message;
} rows[] = {
    {"", FULL DATE, "eu-west-3", ERR_NONE, NULL},
    {"", FULL "Date: x\r\n", "eu-west-3", ERR_NONE, NULL},
    {"",
     "authorization: AWS4-HMAC-SHA256 "
     "Credential=a/b/us-east-1/d/e,SignedHeaders=h,Signature=s\r\n" DATE,
     "us-east-1", ERR_NONE, NULL},
    {"",
     "Authorization: AWS4-HMAC-SHA256   Credential=a/b/c/d/e//  SignedHeaders=h  "
     "Signature=s\r\n" DATE,
     "c", ERR_NONE, NULL},
    {"",
     "Authorization: AWS4-ECDSA-P256-SHA256 Credential=a/b/d/e, SignedHeaders=h, "
     "Signature=s\r\n" DATE,
     "us-east-1", ERR_NONE, NULL},
    {"", DATE, NULL, ERR_MISSING_AUTH, "Request is missing Authentication Token"},
    {"", "Authorization:\r\n" DATE, NULL, ERR_MISSING_AUTH,
     "Request is missing Authentication Token"},
    {"", "Authorization: Basic dXNlcg==\r\n" DATE, NULL, ERR_MISSING_AUTH,
     "Request is missing Authentication Token"},
    {"", "Authorization: AWS4-HMAC-SHA256\r\n", NULL, ERR_INCOMPLETE_SIGNATURE,
     "Authorization header requires 'Credential' parameter. "
     "Authorization header requires 'Signature' parameter. "
     "Authorization header requires 'SignedHeaders' parameter. "
     "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
     "Authorization=AWS4-HMAC-SHA256"},
    {"", "Authorization: AWS4-HMAC-SHA256 Signature=b,Credential=a\r\n" DATE, NULL,
     ERR_INCOMPLETE_SIGNATURE,
     "Authorization header requires 'SignedHeaders' parameter. "
     "Authorization=AWS4-HMAC-SHA256 Signature=b,Credential=a"},
    {"", "Authorization: AWS4-HMAC-SHA256 Signature=,Credential=a,SignedHeaders=c\r\n" DATE, NULL,
     ERR_INCOMPLETE_SIGNATURE,
     "Authorization header requires 'Signature' parameter. "
     "Authorization=AWS4-HMAC-SHA256 Signature=,Credential=a,SignedHeaders=c"},
    {"", "Authorization: AWS4-HMAC-SHA256 Credential= a/b/c/d/e,,SignedHeaders=c\r\n" DATE, NULL,
     ERR_INCOMPLETE_SIGNATURE,
     "'a/b/c/d/e' not a valid key=value pair (missing equal-sign) in Authorization header: "
     "'AWS4-HMAC-SHA256 Credential= a/b/c/d/e,,SignedHeaders=c'."},
    {"", "Authorization: AWS4-HMAC-SHA25 Signature=b,Credential=a,SignedHeaders=c\r\n" DATE, NULL,
     ERR_INCOMPLETE_SIGNATURE,
     "Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA25' (only AWS4-HMAC-SHA256 for now). "},
    {"", "Authorization: AWS4-HMAC-SHA256 Signature=b,Credential=a/b/c/d,SignedHeaders=c\r\n" DATE,
     NULL, ERR_INCOMPLETE_SIGNATURE,
     "Credential must have exactly 5 slash-delimited elements, "
     "e.g. keyid/date/region/service/term, got 'a/b/c/d'"},
    {"",
     "Authorization: AWS4-HMAC-SHA256 Signature=b,Credential=a/b/\"/d/e,SignedHeaders=c\r\n" DATE,
     NULL, ERR_INVALID_SIGNATURE, "Credential should be scoped to a valid region, not '\"'. "},
    {"?" QUERY, FULL DATE, NULL, ERR_INVALID_SIGNATURE,
     "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header."},
    {"?" QUERY, "", NULL, ERR_INCOMPLETE_SIGNATURE,
     "AWS query-string parameters must include 'X-Amz-Credential'. "
     "AWS query-string parameters must include 'X-Amz-Signature'. "
     "AWS query-string parameters must include 'X-Amz-SignedHeaders'. "
     "AWS query-string parameters must include 'X-Amz-Date'. "
     "Re-examine the query-string parameters."},
    {"?X-Amz-Algorithm", "", NULL, ERR_INCOMPLETE_SIGNATURE,
     "AWS query-string parameters must include 'X-Amz-Algorithm'. "
     "AWS query-string parameters must include 'X-Amz-Credential'. "
     "AWS query-string parameters must include 'X-Amz-Signature'. "
     "AWS query-string parameters must include 'X-Amz-SignedHeaders'. "
     "AWS query-string parameters must include 'X-Amz-Date'. "
     "Re-examine the query-string parameters."},
    {"?a=b&" QUERY "&X-Amz-Credential=AK%2F20261115%2Fap-south-1%2Fdynamodb%2Faws4_request"
     "&X-Amz-Date=d&X-Amz-SignedHeaders=host&X-Amz-Signature=s",
     "", "ap-south-1", ERR_NONE, NULL},
    {"?" QUERY "&X-Amz-Credential=a%2&X-Amz-Date=d&X-Amz-SignedHeaders=host&X-Amz-Signature=s", "",
     NULL, ERR_INCOMPLETE_SIGNATURE,
     "Credential must have exactly 5 slash-delimited elements, "
     "e.g. keyid/date/region/service/term, got 'a%2'"},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char head[1024];
        int len = snprintf(head, sizeof(head), "POST /%s HTTP/1.1\r\nHost: h\r\n%s\r\n",
                           rows[i].query, rows[i].headers);
        struct http_scan scan = {0};
        struct http_request request;
        struct http_problem problem;
        size_t head_len;
        assert_int_equal(http_head_parse(&scan, (const uint8_t *)head, (size_t)len, &request,
                                         &head_len, &problem),
                         HTTP_DONE);
        struct arena arena;
        struct error error;
        char region[AUTH_REGION_MAX + 1] = AUTH_REGION;
        arena_init(&arena, 1 << 16);
        error_init(&error, &arena);
        bool accepted = auth_check(&request, region, &error);
        if (error.code != rows[i].code || accepted != (rows[i].code == ERR_NONE))
            fail_msg("row %zu: code %d, %s", i, error.code, error.message);
        if (accepted)
            assert_string_equal(region, rows[i].region);
        else
            assert_string_equal(error.message, rows[i].message);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
