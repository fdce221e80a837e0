// Bodies as they come: S3's manual's chunked examples, in pieces of every size, changed byte by
// byte; hashed and unsigned ones; trailers; lengths.
#include "lib.h"

#include <stdio.h>
#include <stdlib.h>

enum { CONTENT = 66560, FIRST = 65536, SECOND = 1024, BODY = CONTENT + 1024 };

#define EXAMPLE_SCOPE                                                                              \
    "AWS4-HMAC-SHA256 Credential=" S3_KEY "/20130524/us-east-1/s3/aws4_request, SignedHeaders="

// One of the two examples: its head, and its body made of the signatures that the manual prints.
struct example {
    const char *hash;
    const char *authorization;
    const char *trailer; // announced; or NULL
    const char *chunks[3];
    const char *end;
};

static const struct example examples[] = {
    {.hash = SIGN_STREAMING,
     .authorization =
         EXAMPLE_SCOPE "content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;"
                       "x-amz-decoded-content-length;x-amz-storage-class, Signature="
                       "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
     .chunks = {";chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
                ";chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
                ";chunk-signature="
                "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9"},
     .end = "\r\n"},
    {.hash = SIGN_STREAMING_TRAILER,
     .authorization =
         EXAMPLE_SCOPE "content-encoding;host;x-amz-content-sha256;x-amz-date;"
                       "x-amz-decoded-content-length;x-amz-storage-class;x-amz-trailer, Signature="
                       "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e",
     .trailer = "x-amz-checksum-crc32c",
     .chunks = {";chunk-signature=b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
                ";chunk-signature=1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
                ";chunk-signature="
                "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992"},
     .end = "x-amz-checksum-crc32c:sOO8/Q==\r\n"
            "x-amz-trailer-signature:"
            "d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n"},
    {.hash = SIGN_STREAMING_UNSIGNED,
     .trailer = "x-amz-checksum-crc32c",
     .chunks = {"", "", ""},
     .end = "x-amz-checksum-crc32c:sOO8/Q==\r\n\r\n"},
};

static size_t body_make(const struct example *example, char *out)
{
    size_t len = 0;
    static const size_t sizes[] = {FIRST, SECOND, 0};
    for (size_t i = 0; i < 3; i++) {
        len += (size_t)snprintf(out + len, 256, "%zx%s\r\n", sizes[i], example->chunks[i]);
        memset(out + len, 'a', sizes[i]);
        len += sizes[i];
        if (sizes[i] > 0)
            len += (size_t)snprintf(out + len, 4, "\r\n");
    }
    return len + (size_t)snprintf(out + len, 256, "%s", example->end);
}

// The claim of an example; the third has no signature that the manual prints, and is made.
static void claim_make(const struct example *example, struct arena *arena, struct sign_claim *claim)
{
    struct sample sample;
    struct buf authorization;
    const struct sign_rules rules = rules_of("s3", S3_SECONDS);
    const struct sign_keys keys = {SLICE_LIT(S3_KEY), SLICE_LIT(S3_SECRET), {NULL, 0}};
    const struct sign_scope scope = {SLICE_LIT("us-east-1"), SLICE_LIT("s3"), S3_SECONDS};
    sample_init(&sample, "PUT", "/examplebucket/chunkObject.txt", "");
    sample_header(&sample, "Host", "s3.amazonaws.com");
    sample_header(&sample, "x-amz-date", "20130524T000000Z");
    sample_header(&sample, "x-amz-storage-class", "REDUCED_REDUNDANCY");
    sample_header(&sample, "x-amz-content-sha256", example->hash);
    sample_header(&sample, "Content-Encoding", "aws-chunked");
    sample_header(&sample, "x-amz-decoded-content-length", "66560");
    sample_header(&sample, "Content-Length", "66824");
    if (example->trailer != NULL)
        sample_header(&sample, "x-amz-trailer", example->trailer);
    buf_init(&authorization, 4096);
    if (example->authorization == NULL)
        sign_by_header(&sample.request, &scope, &keys, slice_str(example->hash), NULL,
                       &authorization);
    else
        buf_text(&authorization, example->authorization);
    buf_byte(&authorization, 0);
    const char *text = (const char *)arena_copy(arena, buf_view(&authorization)).ptr;
    buf_release(&authorization);
    sample_header(&sample, "Authorization", text);
    assert_int_equal(sign_claim_read(&sample.request, &rules, arena, claim), SIGN_OK);
    assert_int_equal(sign_claim_check(&sample.request, claim, SLICE_LIT(S3_SECRET),
                                      slice_of(NULL, 0), NULL, arena),
                     SIGN_OK);
    assert_int_equal(sign_payload_length(claim, 66824), CONTENT);
}

// Feeds a body in pieces of a size; how it ended, and how much content there was.
static enum sign_result feed(const struct sign_claim *claim, struct slice body, size_t piece,
                             uint64_t *content, struct sign_payload_state *state)
{
    enum sign_result result = SIGN_OK;
    *content = 0;
    sign_payload_begin(state, claim, SLICE_LIT(S3_SECRET), NULL);
    while (body.len > 0 && result == SIGN_OK) {
        size_t taken;
        struct slice part;
        struct slice in = slice_of(body.ptr, body.len < piece ? body.len : piece);
        result = sign_payload_feed(state, in, &taken, &part);
        assert_true((taken > 0 || result != SIGN_OK) && taken <= in.len && part.len <= taken);
        *content += part.len;
        for (size_t i = 0; result == SIGN_OK && i < part.len; i += 512)
            assert_int_equal(part.ptr[i], 'a');
        body = slice_of(body.ptr + taken, body.len - taken);
    }
    return result != SIGN_OK ? result : sign_payload_end(state);
}

static void test_examples(void **unused)
{
    (void)unused;
    static const size_t pieces[] = {1, 2, 3, 7, 87, 88, 89, 1000, 65536, BODY};
    for (size_t i = 0; i < COUNT_OF(examples); i++) {
        char *body = malloc(BODY);
        struct arena arena;
        struct sign_claim claim;
        struct sign_payload_state state;
        uint64_t content;
        assert_non_null(body);
        arena_init(&arena, LIMIT_SIGN_MEMORY);
        claim_make(&examples[i], &arena, &claim);
        struct slice whole = slice_of(body, body_make(&examples[i], body));
        for (size_t k = 0; k < COUNT_OF(pieces); k++) {
            assert_int_equal(feed(&claim, whole, pieces[k], &content, &state), SIGN_OK);
            assert_int_equal(content, CONTENT);
            struct slice value = sign_payload_trailer(&state, SLICE_LIT("x-amz-checksum-crc32c"));
            assert_true(examples[i].trailer == NULL ? value.ptr == NULL
                                                    : slice_is(value, "sOO8/Q=="));
        }
        // Cut anywhere, or with something behind it, it is not whole.
        for (size_t cut = 1; cut < 500; cut++)
            assert_int_not_equal(
                feed(&claim, slice_of(body, whole.len - cut), BODY, &content, &state), SIGN_OK);
        body[whole.len] = 'x';
        assert_int_equal(feed(&claim, slice_of(body, whole.len + 1), BODY, &content, &state),
                         SIGN_CHUNK_MALFORMED);
        arena_release(&arena);
        free(body);
    }
}

// Of signed chunks and trailers no byte can be changed.
static void test_changes(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        char *body = malloc(BODY);
        struct arena arena;
        struct sign_claim claim;
        struct sign_payload_state state;
        uint64_t content;
        assert_non_null(body);
        arena_init(&arena, LIMIT_SIGN_MEMORY);
        claim_make(&examples[i], &arena, &claim);
        struct slice whole = slice_of(body, body_make(&examples[i], body));
        for (size_t at = 0; at < whole.len; at += at < 200 || at > 65500 ? 1 : 4093) {
            body[at] ^= 1;
            if (feed(&claim, whole, BODY, &content, &state) == SIGN_OK)
                fail_msg("example %zu: byte %zu may be changed", i, at);
            body[at] ^= 1;
        }
        arena_release(&arena);
        free(body);
    }
}

static void test_whole(void **unused)
{
    (void)unused;
    struct sign_claim claim = {.payload = SIGN_PAYLOAD_HASHED};
    struct sign_payload_state state;
    uint64_t content;
    // The SHA-256 of "aaa".
    static const char hex[] = "9834876dcfb05cb167a5c24953eba58c4ac89b1adf57f28f2f9d09af107ee8f0";
    for (size_t i = 0; i < SIGN_HASH; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        claim.hash[i] = (uint8_t)byte;
    }
    assert_int_equal(feed(&claim, SLICE_LIT("aaa"), 2, &content, &state), SIGN_OK);
    assert_int_equal(content, 3);
    assert_int_equal(feed(&claim, SLICE_LIT("aaaa"), 2, &content, &state), SIGN_HASH_MISMATCH);
    assert_int_equal(feed(&claim, SLICE_LIT(""), 2, &content, &state), SIGN_HASH_MISMATCH);
    claim.payload = SIGN_PAYLOAD_UNSIGNED;
    assert_int_equal(feed(&claim, SLICE_LIT("aaaa"), 2, &content, &state), SIGN_OK);
}

static void test_unsigned_refusals(void **unused)
{
    (void)unused;
    static const struct {
        const char *body;
        uint64_t length;
        const char *trailer;
        enum sign_result result;
    } rows[] = {
        {"3\r\naaa\r\n0\r\n\r\n", 3, "", SIGN_OK},
        {"0\r\n\r\n", 0, "", SIGN_OK},
        {"3\r\naaa\r\n0\r\nx-amz-checksum-crc32: AAAAAA==\r\n\r\n", 3, "X-Amz-Checksum-CRC32",
         SIGN_OK},
        {"3\r\naaa\r\n0\r\n\r\n", 4, "", SIGN_LENGTH_MISMATCH},
        {"3\r\naaa\r\n0\r\n\r\n", 2, "", SIGN_LENGTH_MISMATCH},
        {"3\r\naaa\r\n1\r\na\r\n0\r\n\r\n", 4, "", SIGN_CHUNK_SIZE},
        {"3\naaa\r\n0\r\n\r\n", 3, "", SIGN_CHUNK_MALFORMED},
        {"3\r\naaa0\r\n\r\n", 3, "", SIGN_CHUNK_MALFORMED},
        {"3;a=b\r\naaa\r\n0\r\n\r\n", 3, "", SIGN_CHUNK_MALFORMED},
        {"x\r\n", 3, "", SIGN_CHUNK_MALFORMED},
        {"fffffffffffff\r\n", 3, "", SIGN_CHUNK_MALFORMED},
        {"ffffffffffff\r\n", 3, "", SIGN_LENGTH_MISMATCH},
        {"3\r\naaa\r\n0\r\n\r\n", 3, "x-amz-checksum-crc32", SIGN_TRAILER_MALFORMED},
        {"3\r\naaa\r\n0\r\nx-amz-acl:public\r\n\r\n", 3, "x-amz-checksum-crc32",
         SIGN_TRAILER_MALFORMED},
        {"3\r\naaa\r\n0\r\nx:1\r\nx:2\r\n\r\n", 3, "x", SIGN_TRAILER_MALFORMED},
        {"3\r\naaa\r\n0\r\nx-amz-trailer-signature:1\r\n\r\n", 3, "", SIGN_TRAILER_MALFORMED},
        {"3\r\naaa\r\n0\r\n", 3, "", SIGN_LENGTH_MISMATCH},
        {"", 3, "", SIGN_LENGTH_MISMATCH},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct sign_claim claim = {.payload = SIGN_PAYLOAD_CHUNKS_UNSIGNED,
                                   .decoded_length = rows[i].length,
                                   .trailer = slice_str(rows[i].trailer)};
        struct sign_payload_state state;
        uint64_t content;
        for (size_t piece = 1; piece < 40; piece += 13) {
            enum sign_result result =
                feed(&claim, slice_str(rows[i].body), piece, &content, &state);
            if (result != rows[i].result)
                fail_msg("case %zu in pieces of %zu: %d, not %d", i, piece, (int)result,
                         (int)rows[i].result);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_unsigned_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
