// Signing and checking of requests: AWS's published vectors, the examples of S3's manual, presigned
// URLs as botocore makes them; and that nothing in a signed request can be changed.
#include "lib.h"

#include "vectors.h"

#include <stdlib.h>

// The request of a vector, with the headers that are signed: see vectors.h.
static void vector_sample(const struct vector *vector, struct sample *sample)
{
    sample_init(sample, vector->method, vector->path, vector->query);
    for (size_t i = 0; i < 8 && vector->headers[i][0] != NULL; i++)
        if (strcmp(vector->headers[i][0], "Content-Length") != 0)
            sample_header(sample, vector->headers[i][0], vector->headers[i][1]);
}

// Signs as the suite says, shows the same canonical form, and checks what the suite signed.
static void test_suite(void **state)
{
    (void)state;
    const struct sign_keys keys = {SLICE_LIT(SUITE_KEY), SLICE_LIT(SUITE_SECRET), {NULL, 0}};
    const struct sign_scope scope = {SLICE_LIT("us-east-1"), SLICE_LIT("service"), SUITE_SECONDS};
    const struct sign_rules rules = rules_of("service", SUITE_SECONDS);
    struct sign_cache *cache = sign_cache_new();
    assert_non_null(cache);
    for (size_t i = 0; i < COUNT_OF(vectors); i++) {
        const struct vector *vector = &vectors[i];
        struct slice body = slice_str(vector->body);
        struct sample sample;
        struct buf out;
        char hash[SIGN_HEX];
        struct arena arena;
        struct sign_claim claim;
        vector_sample(vector, &sample);
        buf_init(&out, 1 << 16);
        arena_init(&arena, LIMIT_SIGN_MEMORY);
        sign_payload_hash(body, hash);
        sign_by_header(&sample.request, &scope, &keys, slice_of(hash, sizeof(hash)), cache, &out);
        buf_byte(&out, 0);
        assert_false(out.failed);
        assert_string_equal((const char *)out.ptr, vector->authorization);
        sample_header(&sample, "Authorization", vector->authorization);
        assert_int_equal(sign_claim_read(&sample.request, &rules, &arena, &claim), SIGN_OK);
        assert_int_equal(
            sign_claim_check(&sample.request, &claim, SLICE_LIT(SUITE_SECRET), body, cache, &arena),
            SIGN_OK);
        buf_clear(&out);
        sign_canonical(&sample.request, &claim, body, &arena, &out);
        buf_byte(&out, 0);
        if (strstr(vector->canonical, "content-length") == NULL)
            assert_string_equal((const char *)out.ptr, vector->canonical);
        assert_int_equal(judge(&sample.request, &rules, SUITE_KEY, S3_SECRET, body, cache),
                         SIGN_MISMATCH);
        arena_release(&arena);
        buf_release(&out);
    }
    sign_cache_free(cache);
}

// ---- S3's manual ---------------------------------------------------------------------------

static void assert_s3(struct sample *sample, const char *authorization, struct slice body)
{
    const struct sign_rules rules = rules_of("s3", S3_SECONDS);
    sample_header(sample, "Authorization", authorization);
    assert_int_equal(judge(&sample->request, &rules, S3_KEY, S3_SECRET, body, NULL), SIGN_OK);
}

#define S3_CREDENTIAL "AWS4-HMAC-SHA256 Credential=" S3_KEY "/20130524/us-east-1/s3/aws4_request,"

static void test_s3_manual(void **state)
{
    (void)state;
    struct sample sample;
    sample_init(&sample, "GET", "/test.txt", "");
    sample_header(&sample, "Host", "examplebucket.s3.amazonaws.com");
    sample_header(&sample, "Range", "bytes=0-9");
    sample_header(&sample, "x-amz-content-sha256", SIGN_EMPTY_HASH);
    sample_header(&sample, "x-amz-date", "20130524T000000Z");
    assert_s3(&sample,
              S3_CREDENTIAL "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature="
                            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
              slice_of(NULL, 0));
    // The date is that of the Date header, and the key needs encoding.
    sample_init(&sample, "PUT", "/test$file.text", "");
    sample_header(&sample, "Host", "examplebucket.s3.amazonaws.com");
    sample_header(&sample, "Date", "Fri, 24 May 2013 00:00:00 GMT");
    sample_header(&sample, "x-amz-date", "20130524T000000Z");
    sample_header(&sample, "x-amz-storage-class", "REDUCED_REDUNDANCY");
    sample_header(&sample, "x-amz-content-sha256",
                  "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072");
    assert_s3(&sample,
              S3_CREDENTIAL "SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;"
                            "x-amz-storage-class,Signature="
                            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
              slice_of(NULL, 0));
    sample_init(&sample, "GET", "/", "lifecycle");
    sample_header(&sample, "Host", "examplebucket.s3.amazonaws.com");
    sample_header(&sample, "x-amz-date", "20130524T000000Z");
    sample_header(&sample, "x-amz-content-sha256", SIGN_EMPTY_HASH);
    assert_s3(&sample,
              S3_CREDENTIAL "SignedHeaders=host;x-amz-content-sha256;x-amz-date,Signature="
                            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
              slice_of(NULL, 0));
    sample_init(&sample, "GET", "/", "max-keys=2&prefix=J");
    sample_header(&sample, "Host", "examplebucket.s3.amazonaws.com");
    sample_header(&sample, "x-amz-date", "20130524T000000Z");
    sample_header(&sample, "x-amz-content-sha256", SIGN_EMPTY_HASH);
    assert_s3(&sample,
              S3_CREDENTIAL "SignedHeaders=host;x-amz-content-sha256;x-amz-date,Signature="
                            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
              slice_of(NULL, 0));
}

// ---- Presigned -----------------------------------------------------------------------------

struct presigned {
    const char *key;
    const char *secret;
    const char *token;
    const char *service;
    const char *region;
    const char *method;
    const char *host;
    const char *path;
    const char *query;
    unsigned expires_s;
    int64_t seconds;
    const char *signature;
};

// The first is S3's manual's; the others were made by botocore.
static const struct presigned presigned[] = {
    {S3_KEY, S3_SECRET, "", "s3", "us-east-1", "GET", "examplebucket.s3.amazonaws.com", "/test.txt",
     "", 86400, S3_SECONDS, "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"},
    {SUITE_KEY, SUITE_SECRET, "", "s3", "eu-west-1", "GET", "bucket.s3.eu-west-1.amazonaws.com",
     "/users/a%20b/%E1%88%B4%2B.jpg", "response-content-type=image%2Fpng", 600, SUITE_SECONDS,
     "d5b7f6d66443a01f14c4deeb14c21fa0829269a7e5873a8e6db663ec83f74eca"},
    {SUITE_KEY, SUITE_SECRET, "AQoD/Xdz+EPT==", "s3", "eu-west-1", "PUT", "127.0.0.1:8000",
     "/bucket/a//b/../c", "", 600, SUITE_SECONDS,
     "90d85fa2661e38f1db66f47d988a7c91c131c73aa62d1d870f688161eb47686d"},
    {SUITE_KEY, SUITE_SECRET, "", "iam", "us-east-1", "GET", "iam.amazonaws.com", "/",
     "Action=ListUsers&Version=2010-05-08", 60, SUITE_SECONDS,
     "c1d81d2c1667f724b714de8de01eb28808ee3df2bd3757c049afb139adde2df0"},
};

static void presign(const struct presigned *one, struct sample *sample, struct buf *query)
{
    const struct sign_keys keys = {slice_str(one->key), slice_str(one->secret),
                                   slice_str(one->token)};
    const struct sign_scope scope = {slice_str(one->region), slice_str(one->service), one->seconds};
    bool s3 = strcmp(one->service, "s3") == 0;
    sample_init(sample, one->method, one->path, one->query);
    sample_header(sample, "Host", one->host);
    sign_by_query(&sample->request, &scope, &keys, one->expires_s,
                  s3 ? SLICE_LIT(SIGN_UNSIGNED) : SLICE_LIT(SIGN_EMPTY_HASH), NULL, query);
    assert_false(query->failed);
    sample->request.query = buf_view(query);
}

static void test_presigned(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(presigned); i++) {
        const struct presigned *one = &presigned[i];
        struct sample sample;
        struct buf query;
        buf_init(&query, 1 << 16);
        presign(one, &sample, &query);
        assert_true(slice_ends(buf_view(&query), slice_str(one->signature)));
        // Good from a little before until the very end.
        static const struct {
            int64_t before;
            bool end;
            int64_t after;
            enum sign_result result;
        } times[] = {
            {0, false, 0, SIGN_OK},
            {SIGN_SKEW_S, false, 0, SIGN_OK},
            {SIGN_SKEW_S + 1, false, 0, SIGN_NOT_YET},
            {0, true, 0, SIGN_OK},
            {0, true, 1, SIGN_EXPIRED},
        };
        for (size_t k = 0; k < COUNT_OF(times); k++) {
            const struct sign_rules rules =
                rules_of(one->service, one->seconds - times[k].before +
                                           (times[k].end ? one->expires_s : 0) + times[k].after);
            assert_int_equal(
                judge(&sample.request, &rules, one->key, one->secret, slice_of(NULL, 0), NULL),
                times[k].result);
        }
        buf_release(&query);
    }
}

// ---- Changes -------------------------------------------------------------------------------

// Whatever byte of a part is changed, the request is refused.
static void assert_all_count(const struct sign_request *request, const struct sign_rules *rules,
                             struct slice *part, const char *key, const char *secret,
                             struct slice *body)
{
    struct slice whole = *part;
    uint8_t *copy = malloc(whole.len + 1);
    assert_non_null(copy);
    memcpy(copy, whole.ptr, whole.len);
    *part = slice_of(copy, whole.len);
    for (size_t i = 0; i < whole.len; i++) {
        copy[i] ^= 1;
        enum sign_result result = judge(request, rules, key, secret, *body, NULL);
        if (result == SIGN_OK)
            fail_msg("byte %zu of \"%.*s\" may be changed", i, SLICE_FMT(whole));
        copy[i] ^= 1;
    }
    assert_int_equal(judge(request, rules, key, secret, *body, NULL), SIGN_OK);
    *part = whole;
    free(copy);
}

static void test_changes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(vectors); i++) {
        struct sample sample;
        const struct sign_rules rules = rules_of("service", SUITE_SECONDS);
        struct slice body = slice_str(vectors[i].body);
        vector_sample(&vectors[i], &sample);
        // This one is added behind the signature, which does not say anything of it.
        if (strcmp(vectors[i].name, "post-sts-header-after") == 0)
            continue;
        sample_header(&sample, "Authorization", vectors[i].authorization);
        struct sign_request *request = &sample.request;
        // Paths that are shortened may be changed where nothing is left of them.
        if (strlen(vectors[i].path) > 1 && strstr(vectors[i].path, "./") == NULL &&
            strstr(vectors[i].path, "/.") == NULL && strstr(vectors[i].path, "//") == NULL)
            assert_all_count(request, &rules, &request->path, SUITE_KEY, SUITE_SECRET, &body);
        assert_all_count(request, &rules, &request->method, SUITE_KEY, SUITE_SECRET, &body);
        assert_all_count(request, &rules, &request->query, SUITE_KEY, SUITE_SECRET, &body);
        assert_all_count(request, &rules, &body, SUITE_KEY, SUITE_SECRET, &body);
        for (size_t k = 0; k < request->header_count; k++) {
            assert_all_count(request, &rules, &sample.headers[k].name, SUITE_KEY, SUITE_SECRET,
                             &body);
            assert_all_count(request, &rules, &sample.headers[k].value, SUITE_KEY, SUITE_SECRET,
                             &body);
        }
    }
    for (size_t i = 0; i < COUNT_OF(presigned); i++) {
        const struct presigned *one = &presigned[i];
        const struct sign_rules rules = rules_of(one->service, one->seconds);
        struct slice body = slice_of(NULL, 0);
        struct sample sample;
        struct buf query;
        buf_init(&query, 1 << 16);
        presign(one, &sample, &query);
        struct sign_request *request = &sample.request;
        assert_all_count(request, &rules, &request->method, one->key, one->secret, &body);
        assert_all_count(request, &rules, &request->path, one->key, one->secret, &body);
        assert_all_count(request, &rules, &request->query, one->key, one->secret, &body);
        assert_all_count(request, &rules, &sample.headers[0].value, one->key, one->secret, &body);
        buf_release(&query);
    }
}

static void test_hmac(void **state)
{
    (void)state;
    // RFC 4231, test cases 2 and 6 (a key longer than a block).
    static const uint8_t second[] = {0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e,
                                     0x6a, 0x04, 0x24, 0x26, 0x08, 0x95, 0x75, 0xc7,
                                     0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27, 0x39, 0x83,
                                     0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43};
    static const uint8_t sixth[] = {0x60, 0xe4, 0x31, 0x59, 0x1e, 0xe0, 0xb6, 0x7f,
                                    0x0d, 0x8a, 0x26, 0xaa, 0xcb, 0xf5, 0xb7, 0x7f,
                                    0x8e, 0x0b, 0xc6, 0x21, 0x37, 0x28, 0xc5, 0x14,
                                    0x05, 0x46, 0x04, 0x0f, 0x0e, 0xe3, 0x7f, 0x54};
    uint8_t out[SIGN_HASH];
    uint8_t key[131];
    memset(key, 0xaa, sizeof(key));
    hmac_sha256(SLICE_LIT("Jefe"), SLICE_LIT("what do ya want "), SLICE_LIT("for nothing?"), out);
    assert_memory_equal(out, second, sizeof(out));
    hmac_sha256(slice_of(key, sizeof(key)), SLICE_LIT("Test Using Larger Than Block-Size Key - "),
                SLICE_LIT("Hash Key First"), out);
    assert_memory_equal(out, sixth, sizeof(out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_suite),     cmocka_unit_test(test_s3_manual),
        cmocka_unit_test(test_presigned), cmocka_unit_test(test_changes),
        cmocka_unit_test(test_hmac),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
