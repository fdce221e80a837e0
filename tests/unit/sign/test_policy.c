// Forms: the example of S3's manual, made anew and checked; conditions that do not hold.
#include "lib.h"

#include "base/encode.h"

enum { FORM_SECONDS = 1451347200 }; // 20151229T000000Z

#define FORM_CREDENTIAL S3_KEY "/20151229/us-east-1/s3/aws4_request"

static const char manual[] =
    "{ \"expiration\": \"2015-12-30T12:00:00.000Z\",\r\n"
    "  \"conditions\": [\r\n"
    "    {\"bucket\": \"sigv4examplebucket\"},\r\n"
    "    [\"starts-with\", \"$key\", \"user/user1/\"],\r\n"
    "    {\"acl\": \"public-read\"},\r\n"
    "    {\"success_action_redirect\": "
    "\"http://sigv4examplebucket.s3.amazonaws.com/successful_upload.html\"},\r\n"
    "    [\"starts-with\", \"$Content-Type\", \"image/\"],\r\n"
    "    {\"x-amz-meta-uuid\": \"14365123651274\"},\r\n"
    "    {\"x-amz-server-side-encryption\": \"AES256\"},\r\n"
    "    [\"starts-with\", \"$x-amz-meta-tag\", \"\"],\r\n"
    "\r\n"
    "    {\"x-amz-credential\": \"AKIAIOSFODNN7EXAMPLE/20151229/us-east-1/s3/aws4_request\"},\r\n"
    "    {\"x-amz-algorithm\": \"AWS4-HMAC-SHA256\"},\r\n"
    "    {\"x-amz-date\": \"20151229T000000Z\" }\r\n"
    "  ]\r\n"
    "}";

struct form {
    struct sign_field fields[24];
    struct sign_form_fields form;
};

static void form_add(struct form *form, const char *name, struct slice value)
{
    form->fields[form->form.count++] = (struct sign_field){slice_str(name), value};
}

static enum sign_result form_judge(struct form *form, int64_t now, struct sign_range *range,
                                   struct sign_error *error)
{
    struct arena arena;
    struct sign_claim claim;
    const struct sign_rules rules = rules_of("s3", now);
    form->form.fields = form->fields;
    arena_init(&arena, LIMIT_SIGN_MEMORY);
    enum sign_result result = sign_policy_read(&form->form, &rules, &arena, &claim);
    if (result == SIGN_OK)
        result = sign_policy_check(&form->form, &claim, &rules, SLICE_LIT(S3_SECRET), NULL, &arena,
                                   range);
    sign_s3_error(result, &claim, &rules, error);
    arena_release(&arena);
    return result;
}

static void test_manual(void **state)
{
    (void)state;
    struct form form = {.form.bucket = SLICE_LIT("sigv4examplebucket")};
    struct buf policy;
    struct sign_range range;
    struct sign_error error;
    buf_init(&policy, 1 << 16);
    base64_encode(&policy, SLICE_LIT(manual));
    form_add(&form, "key", SLICE_LIT("user/user1/${filename}"));
    form_add(&form, "acl", SLICE_LIT("public-read"));
    form_add(&form, "success_action_redirect",
             SLICE_LIT("http://sigv4examplebucket.s3.amazonaws.com/successful_upload.html"));
    form_add(&form, "Content-Type", SLICE_LIT("image/jpeg"));
    form_add(&form, "x-amz-meta-uuid", SLICE_LIT("14365123651274"));
    form_add(&form, "x-amz-server-side-encryption", SLICE_LIT("AES256"));
    form_add(&form, "X-Amz-Credential", SLICE_LIT(FORM_CREDENTIAL));
    form_add(&form, "X-Amz-Algorithm", SLICE_LIT("AWS4-HMAC-SHA256"));
    form_add(&form, "X-Amz-Date", SLICE_LIT("20151229T000000Z"));
    form_add(&form, "x-amz-meta-tag", SLICE_LIT(""));
    form_add(&form, "Policy", buf_view(&policy));
    form_add(&form, "X-Amz-Signature",
             SLICE_LIT("8afdbf4008c03f22c2cd3cdb72e4afbb1f6a588f3255ac628749a66d7f09699e"));
    assert_int_equal(form_judge(&form, FORM_SECONDS, &range, &error), SIGN_OK);
    assert_true(range.most == UINT64_MAX);
    assert_int_equal(form_judge(&form, FORM_SECONDS + 36 * 3600, &range, &error), SIGN_OK);
    assert_int_equal(form_judge(&form, FORM_SECONDS + 36 * 3600 + 1, &range, &error),
                     SIGN_POLICY_EXPIRED);
    // Each field but the signature and the policy has a condition that it meets.
    for (size_t i = 0; i < form.form.count; i++) {
        struct slice value = form.fields[i].value;
        if (slice_is(form.fields[i].name, "x-amz-meta-tag"))
            continue; // whatever it is
        form.fields[i].value = SLICE_LIT("other");
        assert_int_not_equal(form_judge(&form, FORM_SECONDS, &range, &error), SIGN_OK);
        form.fields[i].value = value;
    }
    form.form.bucket = SLICE_LIT("other");
    assert_int_equal(form_judge(&form, FORM_SECONDS, &range, &error), SIGN_POLICY_CONDITION);
    form.form.bucket = SLICE_LIT("sigv4examplebucket");
    form_add(&form, "x-amz-website-redirect-location", SLICE_LIT("/"));
    assert_int_equal(form_judge(&form, FORM_SECONDS, &range, &error), SIGN_POLICY_EXTRA);
    assert_string_equal(error.message, "Invalid according to Policy: Extra input fields: "
                                       "x-amz-website-redirect-location");
    form.fields[form.form.count - 1].name = SLICE_LIT("x-ignore-this");
    assert_int_equal(form_judge(&form, FORM_SECONDS, &range, &error), SIGN_OK);
    form.form.count = 2;
    assert_int_equal(form_judge(&form, FORM_SECONDS, &range, &error), SIGN_NONE);
    buf_release(&policy);
}

// A policy of a text, signed as its date says.
static enum sign_result judge_document(const char *text, struct sign_range *range)
{
    struct form form = {.form.bucket = SLICE_LIT("b")};
    const struct sign_scope scope = {SLICE_LIT("us-east-1"), SLICE_LIT("s3"), FORM_SECONDS};
    struct buf policy;
    char signature[SIGN_HEX];
    struct sign_error error;
    buf_init(&policy, 1 << 16);
    base64_encode(&policy, slice_str(text));
    sign_text(buf_view(&policy), &scope, SLICE_LIT(S3_SECRET), NULL, signature);
    form_add(&form, "key", SLICE_LIT("k"));
    form_add(&form, "x-amz-credential", SLICE_LIT(FORM_CREDENTIAL));
    form_add(&form, "x-amz-algorithm", SLICE_LIT("AWS4-HMAC-SHA256"));
    form_add(&form, "x-amz-date", SLICE_LIT("20151229T000000Z"));
    form_add(&form, "policy", buf_view(&policy));
    form_add(&form, "x-amz-signature", slice_of(signature, sizeof(signature)));
    enum sign_result result = form_judge(&form, FORM_SECONDS, range, &error);
    buf_release(&policy);
    return result;
}

#define AMZ                                                                                        \
    "[\"starts-with\",\"$x-amz-credential\",\"\"],[\"starts-with\",\"$x-amz-algorithm\",\"\"],"    \
    "[\"starts-with\",\"$x-amz-date\",\"\"]"
#define UNTIL "{\"expiration\":\"2016-01-01T00:00:00Z\",\"conditions\":["

static void test_documents(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum sign_result result;
        uint64_t least;
        uint64_t most;
    } rows[] = {
        {UNTIL "{\"key\":\"k\"}," AMZ "]}", SIGN_OK, 0, UINT64_MAX},
        {UNTIL "{\"KEY\":\"k\"}," AMZ ",[\"content-length-range\",1,10]]}", SIGN_OK, 1, 10},
        {UNTIL "{\"key\":\"k\"}," AMZ ",[\"content-length-range\",\"1\",\"10\"],"
               "[\"content-length-range\",0,5]]}",
         SIGN_OK, 1, 5},
        {UNTIL "[\"eq\",\"$key\",\"k\"]," AMZ ",[\"eq\",\"$bucket\",\"b\"]]}", SIGN_OK, 0,
         UINT64_MAX},
        {UNTIL "[\"eq\",\"$key\",\"\"]," AMZ "]}", SIGN_POLICY_CONDITION, 0, 0},
        {UNTIL "[\"eq\",\"$key\",\"k\"]," AMZ ",[\"eq\",\"$bucket\",\"c\"]]}",
         SIGN_POLICY_CONDITION, 0, 0},
        {UNTIL "[\"eq\",\"$key\",\"k\"]," AMZ ",[\"eq\",\"$acl\",\"private\"]]}",
         SIGN_POLICY_CONDITION, 0, 0},
        {UNTIL AMZ "]}", SIGN_POLICY_EXTRA, 0, 0},
        {UNTIL "[\"like\",\"$key\",\"k\"]," AMZ "]}", SIGN_POLICY_MALFORMED, 0, 0},
        {UNTIL "[\"eq\",\"key\",\"k\"]," AMZ "]}", SIGN_POLICY_MALFORMED, 0, 0},
        {UNTIL "[\"eq\",\"$key\"]," AMZ "]}", SIGN_POLICY_MALFORMED, 0, 0},
        {UNTIL "[\"content-length-range\",2,1]," AMZ "]}", SIGN_POLICY_MALFORMED, 0, 0},
        {UNTIL "[\"content-length-range\",-1,1]," AMZ "]}", SIGN_POLICY_MALFORMED, 0, 0},
        {UNTIL "{\"key\":1}," AMZ "]}", SIGN_POLICY_MALFORMED, 0, 0},
        {UNTIL "{\"key\":\"k\"}," AMZ "]} x", SIGN_POLICY_MALFORMED, 0, 0},
        {"{\"conditions\":[{\"key\":\"k\"}," AMZ "]}", SIGN_POLICY_MALFORMED, 0, 0},
        {"{\"expiration\":\"2016-01-01T00:00:00Z\"}", SIGN_POLICY_MALFORMED, 0, 0},
        {"{\"expiration\":\"soon\",\"conditions\":[]}", SIGN_POLICY_MALFORMED, 0, 0},
        {"{\"expiration\":\"2015-01-01T00:00:00Z\",\"conditions\":[{\"key\":\"k\"}," AMZ "]}",
         SIGN_POLICY_EXPIRED, 0, 0},
        {"[]", SIGN_POLICY_MALFORMED, 0, 0},
        {"", SIGN_POLICY_MALFORMED, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct sign_range range;
        enum sign_result result = judge_document(rows[i].text, &range);
        if (result != rows[i].result)
            fail_msg("case %zu: %d, not %d", i, (int)result, (int)rows[i].result);
        if (result == SIGN_OK)
            assert_true(range.least == rows[i].least && range.most == rows[i].most);
    }
}

// What is made here passes here.
static void test_made(void **state)
{
    (void)state;
    static const struct sign_condition conditions[] = {
        {SLICE_LIT("key"), SLICE_LIT("users/\"7\"/a.jpg"), false},
        {SLICE_LIT("Content-Type"), SLICE_LIT("image/"), true},
    };
    const struct sign_keys keys = {SLICE_LIT(S3_KEY), SLICE_LIT(S3_SECRET), SLICE_LIT("token")};
    const struct sign_scope scope = {SLICE_LIT("us-east-1"), SLICE_LIT("s3"), FORM_SECONDS};
    const struct sign_policy policy = {SLICE_LIT("b"), conditions, 2, {0, 1000}, 600};
    struct arena arena;
    struct sign_policy_fields made;
    struct sign_range range;
    struct sign_error error;
    struct form form = {.form.bucket = SLICE_LIT("b")};
    arena_init(&arena, LIMIT_SIGN_MEMORY);
    assert_true(sign_policy_make(&policy, &scope, &keys, NULL, &arena, &made));
    form_add(&form, "key", conditions[0].value);
    form_add(&form, "Content-Type", SLICE_LIT("image/png, image/jpeg"));
    form_add(&form, "x-amz-credential", made.credential);
    form_add(&form, "x-amz-algorithm", made.algorithm);
    form_add(&form, "x-amz-date", made.date);
    form_add(&form, "x-amz-security-token", made.token);
    form_add(&form, "policy", made.policy);
    form_add(&form, "x-amz-signature", made.signature);
    assert_int_equal(form_judge(&form, FORM_SECONDS + 600, &range, &error), SIGN_OK);
    assert_true(range.least == 0 && range.most == 1000);
    assert_int_equal(form_judge(&form, FORM_SECONDS + 601, &range, &error), SIGN_POLICY_EXPIRED);
    form.fields[1].value = SLICE_LIT("image/png, text/html");
    assert_int_equal(form_judge(&form, FORM_SECONDS, &range, &error), SIGN_POLICY_CONDITION);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_manual),
        cmocka_unit_test(test_documents),
        cmocka_unit_test(test_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
