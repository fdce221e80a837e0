// Signatures as clients send them: a request's claim and its check, bodies in pieces, forms.
// Nothing is accepted that was not signed; content lies inside of its piece; S3's words are text.
//
// Input, a line each: the method and the path, the query, headers "name: value" up to an empty
// line; then the body. A request whose first line is "form" is a form: fields instead of headers.
#include "fuzz.h"

#include "sign/payload.h"
#include "sign/policy.h"

enum { PARTS = 40, NOW = 1440938160 };

static const struct sign_rules rules = {
    .service = {(const uint8_t *)"s3", 2}, .now = NOW, .skew_s = SIGN_SKEW_S};

static void words_check(enum sign_result result, const struct sign_claim *claim)
{
    struct sign_error error;
    sign_s3_error(result, claim, &rules, &error);
    ensure(error.status >= 200 && error.status < 600);
    ensure(strnlen(error.message, sizeof(error.message)) < sizeof(error.message));
}

static void body_check(const struct sign_claim *claim, struct slice body)
{
    struct sign_payload_state *state = malloc(sizeof(*state));
    enum sign_result result = SIGN_OK;
    uint64_t content = 0;
    size_t piece = 1;
    ensure(state != NULL);
    sign_payload_begin(state, claim, SLICE_LIT("secret"), NULL);
    while (body.len > 0 && result == SIGN_OK) {
        size_t taken;
        struct slice part;
        struct slice in = slice_of(body.ptr, body.len < piece ? body.len : piece);
        result = sign_payload_feed(state, in, &taken, &part);
        fuzz_inside(part, in);
        ensure(taken <= in.len && part.len <= taken && (taken > 0 || result != SIGN_OK));
        content += part.len;
        body = slice_of(body.ptr + taken, body.len - taken);
        piece = piece % 61 + 1;
    }
    if (result == SIGN_OK)
        result = sign_payload_end(state);
    if (result == SIGN_OK && claim->payload >= SIGN_PAYLOAD_CHUNKS)
        ensure(content == claim->decoded_length);
    words_check(result, claim);
    free(state);
}

static void request_check(const struct sign_request *request, struct slice body,
                          struct arena *arena)
{
    struct sign_claim claim;
    struct buf text;
    enum sign_result result = sign_claim_read(request, &rules, arena, &claim);
    words_check(result, &claim);
    if (result != SIGN_OK)
        return;
    ensure(claim.access_key.len > 0 && claim.day.len == SIGN_DAY && claim.signature.len > 0);
    result = sign_claim_check(request, &claim, SLICE_LIT("secret"), body, NULL, arena);
    words_check(result, &claim);
    buf_init(&text, SIZE_MAX / 2);
    sign_canonical(request, &claim, body, arena, &text);
    buf_release(&text);
    // Bodies are looked at as if it had been signed.
    if (claim.signature.len == SIGN_HEX)
        body_check(&claim, body);
}

static void form_check(const struct sign_header *parts, size_t count, struct arena *arena)
{
    struct sign_field fields[PARTS];
    struct sign_range range;
    struct sign_claim claim;
    struct sign_form_fields form = {fields, count, SLICE_LIT("bucket")};
    char signature[SIGN_HEX];
    const struct sign_scope scope = {SLICE_LIT("us-east-1"), SLICE_LIT("s3"), NOW};
    for (size_t i = 0; i < count; i++)
        fields[i] = (struct sign_field){parts[i].name, parts[i].value};
    // Signed properly, so that the policy is read.
    for (size_t i = 0; i < count; i++)
        if (slice_is(fields[i].name, "policy"))
            sign_text(fields[i].value, &scope, SLICE_LIT("secret"), NULL, signature);
    for (size_t i = 0; i < count; i++)
        if (slice_is(fields[i].name, "x-amz-signature"))
            fields[i].value = slice_of(signature, sizeof(signature));
    enum sign_result result = sign_policy_read(&form, &rules, arena, &claim);
    if (result == SIGN_OK)
        result = sign_policy_check(&form, &claim, &rules, SLICE_LIT("secret"), NULL, arena, &range);
    if (result == SIGN_OK)
        ensure(range.least <= range.most || range.most < UINT64_MAX);
    words_check(result, &claim);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice bytes = fuzz_copy(slice_of(data, size));
    struct slice in = bytes;
    struct slice path = fuzz_line(&in);
    struct slice method = slice_cut(&path, ' ');
    struct slice query = fuzz_line(&in);
    struct sign_header headers[PARTS];
    size_t count = 0;
    struct arena arena;
    while (in.len > 0 && count < PARTS) {
        struct slice value = fuzz_line(&in);
        if (value.len == 0)
            break;
        struct slice name = slice_cut(&value, ':');
        headers[count++] = (struct sign_header){name, slice_trim(value)};
    }
    arena_init(&arena, FUZZ_BUDGET);
    struct sign_request request = {method, path, query, headers, count};
    if (slice_is(method, "form"))
        form_check(headers, count, &arena);
    else
        request_check(&request, in, &arena);
    arena_release(&arena);
    fuzz_free(bytes);
    return 0;
}
