// Requests that are refused before anything is computed, each with its reason, and S3's words for
// it.
#include "lib.h"

#include <stdio.h>

#define SCOPE  "/20150830/eu-west-1/s3/aws4_request"
#define SIGNED "SignedHeaders=host;x-amz-content-sha256;x-amz-date"
#define DIGITS "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define HEADER "AWS4-HMAC-SHA256 Credential=" SUITE_KEY SCOPE ", " SIGNED ", Signature=" DIGITS
#define PRESIGN                                                                                    \
    "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=" SUITE_KEY                                 \
    "%2F20150830%2Feu-west-1%2Fs3%2Faws4_request&X-Amz-Date=20150830T123600Z&"

// One refusal: what differs from a request that is well-formed.
struct refusal {
    const char *query;
    const char *authorization; // NULL: none
    const char *date;
    const char *hash;
    const char *extra; // another header
    enum sign_result result;
    const char *code;
    const char *message;
};

static const struct refusal refusals[] = {
    {"", HEADER, "20150830T123600Z", SIGN_UNSIGNED, NULL, SIGN_OK, NULL, NULL},
    {"", NULL, "20150830T123600Z", SIGN_UNSIGNED, NULL, SIGN_NONE, "AccessDenied", "Access Denied"},
    {"X-Amz-Algorithm=AWS4-HMAC-SHA256", HEADER, "20150830T123600Z", SIGN_UNSIGNED, NULL,
     SIGN_TWICE, "InvalidArgument", NULL},
    {"AWSAccessKeyId=a&Signature=b&Expires=1", NULL, "20150830T123600Z", SIGN_UNSIGNED, NULL,
     SIGN_MECHANISM, "InvalidRequest",
     "The authorization mechanism you have provided is not supported. Please use "
     "AWS4-HMAC-SHA256."},
    {"", "AWS AKID:c2ln", "20150830T123600Z", SIGN_UNSIGNED, NULL, SIGN_MECHANISM, "InvalidRequest",
     NULL},
    {"", "Bearer x", "20150830T123600Z", SIGN_UNSIGNED, NULL, SIGN_ALGORITHM_UNKNOWN,
     "InvalidArgument", "Unsupported Authorization Type"},
    {"", "AWS4-HMAC-SHA256", "20150830T123600Z", SIGN_UNSIGNED, NULL, SIGN_HEADER_MALFORMED,
     "AuthorizationHeaderMalformed",
     "The authorization header is malformed; the authorization header requires three components: "
     "Credential, SignedHeaders, and Signature."},
    {"", HEADER ", Signature=" DIGITS, "20150830T123600Z", SIGN_UNSIGNED, NULL,
     SIGN_HEADER_MALFORMED, NULL, NULL},
    {"", HEADER ", Other=1", "20150830T123600Z", SIGN_UNSIGNED, NULL, SIGN_HEADER_MALFORMED, NULL,
     NULL},
    {"", HEADER, NULL, SIGN_UNSIGNED, NULL, SIGN_DATE_MISSING, "AccessDenied",
     "AWS authentication requires a valid Date or x-amz-date header"},
    {"", HEADER, "20150830T256000Z", SIGN_UNSIGNED, NULL, SIGN_DATE_MISSING, NULL, NULL},
    {"", HEADER, "20150830", SIGN_UNSIGNED, NULL, SIGN_DATE_MISSING, NULL, NULL},
    {"", HEADER, "20150830T125200Z", SIGN_UNSIGNED, NULL, SIGN_SKEWED, "RequestTimeTooSkewed",
     "The difference between the request time and the current time is too large."},
    {"", HEADER, "20150830T122000Z", SIGN_UNSIGNED, NULL, SIGN_SKEWED, NULL, NULL},
    {"", HEADER, "20150830T125100Z", SIGN_UNSIGNED, NULL, SIGN_OK, NULL, NULL},
    {"", HEADER, "20150829T123600Z", SIGN_UNSIGNED, NULL, SIGN_DAY_WRONG,
     "AuthorizationHeaderMalformed",
     "The authorization header is malformed; Invalid credential date \"20150830\". This date is "
     "not the same as X-Amz-Date: \"20150829\"."},
    {"",
     "AWS4-HMAC-SHA256 Credential=" SUITE_KEY "/20150830/eu-west-2/s3/aws4_request, " SIGNED
     ", Signature=" DIGITS,
     "20150830T123600Z", SIGN_UNSIGNED, NULL, SIGN_REGION, "AuthorizationHeaderMalformed",
     "The authorization header is malformed; the region 'eu-west-2' is wrong; expecting "
     "'eu-west-1'"},
    {"",
     "AWS4-HMAC-SHA256 Credential=" SUITE_KEY "/20150830/eu-west-1/ec2/aws4_request, " SIGNED
     ", Signature=" DIGITS,
     "20150830T123600Z", SIGN_UNSIGNED, NULL, SIGN_SERVICE, NULL,
     "The authorization header is malformed; incorrect service \"ec2\". This endpoint belongs to "
     "\"s3\"."},
    {"",
     "AWS4-HMAC-SHA256 Credential=" SUITE_KEY "/20150830/eu-west-1/s3/aws5_request, " SIGNED
     ", Signature=" DIGITS,
     "20150830T123600Z", SIGN_UNSIGNED, NULL, SIGN_TERMINAL, NULL,
     "The authorization header is malformed; incorrect terminal \"aws5_request\". This endpoint "
     "uses \"aws4_request\"."},
    {"",
     "AWS4-HMAC-SHA256 Credential=" SUITE_KEY "/2015083/eu-west-1/s3/aws4_request, " SIGNED
     ", Signature=" DIGITS,
     "20150830T123600Z", SIGN_UNSIGNED, NULL, SIGN_CREDENTIAL_MALFORMED, NULL, NULL},
    {"", "AWS4-HMAC-SHA256 Credential=" SUITE_KEY SCOPE "/more, " SIGNED ", Signature=" DIGITS,
     "20150830T123600Z", SIGN_UNSIGNED, NULL, SIGN_TERMINAL, NULL, NULL},
    {"",
     "AWS4-HMAC-SHA256 Credential=" SUITE_KEY SCOPE
     ", SignedHeaders=x-amz-content-sha256;x-amz-date, Signature=" DIGITS,
     "20150830T123600Z", SIGN_UNSIGNED, NULL, SIGN_HEADERS_UNSIGNED, "AccessDenied",
     "There were headers present in the request which were not signed"},
    {"",
     "AWS4-HMAC-SHA256 Credential=" SUITE_KEY SCOPE
     ", SignedHeaders=x-amz-date;host, Signature=" DIGITS,
     "20150830T123600Z", SIGN_UNSIGNED, NULL, SIGN_HEADERS_MALFORMED, NULL, NULL},
    {"",
     "AWS4-HMAC-SHA256 Credential=" SUITE_KEY SCOPE ", SignedHeaders=host;host, Signature=" DIGITS,
     "20150830T123600Z", SIGN_UNSIGNED, NULL, SIGN_HEADERS_MALFORMED, NULL, NULL},
    {"", HEADER, "20150830T123600Z", SIGN_UNSIGNED, "X-Amz-Acl", SIGN_HEADERS_UNSIGNED, NULL, NULL},
    {"", HEADER, "20150830T123600Z", SIGN_UNSIGNED, "Range", SIGN_OK, NULL, NULL},
    {"", HEADER, "20150830T123600Z", SIGN_UNSIGNED, "X-Amz-Date", SIGN_DATE_MISSING, NULL, NULL},
    {"", HEADER, "20150830T123600Z", SIGN_UNSIGNED, "Authorization", SIGN_HEADER_MALFORMED, NULL,
     NULL},
    {"", HEADER, "20150830T123600Z", NULL, NULL, SIGN_PAYLOAD_MISSING, "InvalidRequest",
     "Missing required header for this request: x-amz-content-sha256"},
    {"", HEADER, "20150830T123600Z", "UNSIGNED", NULL, SIGN_PAYLOAD_MALFORMED, "InvalidArgument",
     NULL},
    {"", HEADER, "20150830T123600Z", SIGN_STREAMING, NULL, SIGN_LENGTH_MISSING,
     "MissingContentLength", NULL},
    {PRESIGN "X-Amz-Expires=600&X-Amz-SignedHeaders=host&X-Amz-Signature=" DIGITS, NULL, NULL, NULL,
     NULL, SIGN_OK, NULL, NULL},
    {PRESIGN "X-Amz-Expires=600&X-Amz-SignedHeaders=host", NULL, NULL, NULL, NULL,
     SIGN_QUERY_MALFORMED, "AuthorizationQueryParametersError", NULL},
    {PRESIGN "X-Amz-Expires=600&X-Amz-Expires=600&X-Amz-SignedHeaders=host&X-Amz-Signature=" DIGITS,
     NULL, NULL, NULL, NULL, SIGN_QUERY_MALFORMED, NULL, NULL},
    {PRESIGN "X-Amz-Expires=604801&X-Amz-SignedHeaders=host&X-Amz-Signature=" DIGITS, NULL, NULL,
     NULL, NULL, SIGN_EXPIRES_LONG, "AuthorizationQueryParametersError",
     "X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must "
     "be less than 604800 seconds"},
    {PRESIGN "X-Amz-Expires=99999999999999999999&X-Amz-SignedHeaders=host&X-Amz-Signature=" DIGITS,
     NULL, NULL, NULL, NULL, SIGN_EXPIRES_LONG, NULL, NULL},
    {PRESIGN "X-Amz-Expires=604800&X-Amz-SignedHeaders=host&X-Amz-Signature=" DIGITS, NULL, NULL,
     NULL, NULL, SIGN_OK, NULL, NULL},
    {PRESIGN "X-Amz-Expires=0&X-Amz-SignedHeaders=host&X-Amz-Signature=" DIGITS, NULL, NULL, NULL,
     NULL, SIGN_EXPIRES_NEGATIVE, NULL, NULL},
    {PRESIGN "X-Amz-Expires=-1&X-Amz-SignedHeaders=host&X-Amz-Signature=" DIGITS, NULL, NULL, NULL,
     NULL, SIGN_EXPIRES_NEGATIVE, NULL, "X-Amz-Expires must be non-negative"},
    {PRESIGN "X-Amz-Expires=1h&X-Amz-SignedHeaders=host&X-Amz-Signature=" DIGITS, NULL, NULL, NULL,
     NULL, SIGN_EXPIRES_NUMBER, NULL, "X-Amz-Expires should be a number"},
    {PRESIGN "X-Amz-Expires=600&X-Amz-SignedHeaders=range&X-Amz-Signature=" DIGITS, NULL, NULL,
     NULL, NULL, SIGN_HEADERS_UNSIGNED, NULL, NULL},
    {"X-Amz-Algorithm=AWS4-HMAC-SHA1&X-Amz-Credential=a&X-Amz-Date=b&X-Amz-Expires=1&"
     "X-Amz-SignedHeaders=host&X-Amz-Signature=" DIGITS,
     NULL, NULL, NULL, NULL, SIGN_QUERY_ALGORITHM, NULL, NULL},
    {"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a&X-Amz-Date=b&X-Amz-Expires=1&"
     "X-Amz-SignedHeaders=host&X-Amz-Signature=" DIGITS,
     NULL, NULL, NULL, NULL, SIGN_DATE_MALFORMED, NULL, NULL},
    {"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=%4&X-Amz-Date=b&X-Amz-Expires=1&"
     "X-Amz-SignedHeaders=host&X-Amz-Signature=" DIGITS,
     NULL, NULL, NULL, NULL, SIGN_QUERY_MALFORMED, NULL, NULL},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        const struct refusal *one = &refusals[i];
        struct sign_rules rules = rules_of("s3", SUITE_SECONDS);
        struct sample sample;
        struct arena arena;
        struct sign_claim claim;
        struct sign_error error;
        rules.region = SLICE_LIT("eu-west-1");
        sample_init(&sample, "GET", "/bucket/key", one->query);
        sample_header(&sample, "Host", "localhost:8000");
        if (one->authorization != NULL)
            sample_header(&sample, "Authorization", one->authorization);
        if (one->date != NULL)
            sample_header(&sample, "X-Amz-Date", one->date);
        if (one->hash != NULL)
            sample_header(&sample, "X-Amz-Content-SHA256", one->hash);
        if (one->extra != NULL)
            sample_header(&sample, one->extra, "1");
        arena_init(&arena, LIMIT_SIGN_MEMORY);
        enum sign_result result = sign_claim_read(&sample.request, &rules, &arena, &claim);
        sign_s3_error(result, &claim, &rules, &error);
        if (result != one->result)
            fail_msg("case %zu: %d (%s: %s), not %d", i, (int)result, error.code, error.message,
                     (int)one->result);
        if (one->code != NULL)
            assert_string_equal(error.code, one->code);
        if (one->message != NULL)
            assert_string_equal(error.message, one->message);
        arena_release(&arena);
    }
}

// A signature that is too short, too long or in capitals is one that does not match.
static void test_forms_of_signatures(void **state)
{
    (void)state;
    static const char *const signatures[] = {"a", DIGITS "0",
                                             "0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF"
                                             "0123456789ABCDEF",
                                             DIGITS};
    for (size_t i = 0; i < COUNT_OF(signatures); i++) {
        char authorization[512];
        struct sign_rules rules = rules_of("s3", SUITE_SECONDS);
        struct sample sample;
        (void)snprintf(authorization, sizeof(authorization),
                       "AWS4-HMAC-SHA256 Credential=" SUITE_KEY SCOPE "," SIGNED ",Signature=%s",
                       signatures[i]);
        sample_init(&sample, "GET", "/bucket/key", "");
        sample_header(&sample, "Host", "localhost:8000");
        sample_header(&sample, "Authorization", authorization);
        sample_header(&sample, "X-Amz-Date", "20150830T123600Z");
        sample_header(&sample, "X-Amz-Content-SHA256", SIGN_UNSIGNED);
        assert_int_equal(
            judge(&sample.request, &rules, SUITE_KEY, SUITE_SECRET, slice_of(NULL, 0), NULL),
            SIGN_MISMATCH);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_forms_of_signatures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
