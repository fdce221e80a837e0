// The signature of a request, in the header or in the query string: accepted with a region that
// fits, or refused with a message that is text. Where signatures are verified none is accepted,
// because nobody who searches knows the secret.
//
// Input, a line each: the query string, the Authorization header, X-Amz-Date, further
// headers. An empty line leaves its part away.
#include "fuzz.h"

#include "server/auth.h"
#include "json/reader.h"
#include "json/writer.h"

static void add_header(struct buf *head, const char *name, struct slice value)
{
    if (value.len == 0)
        return;
    buf_printf(head, "%s: ", name);
    buf_slice(head, value);
    buf_text(head, "\r\n");
}

// The message becomes a string of JSON, whatever bytes of a header it quotes.
static void check_message(const char *message, struct arena *arena)
{
    struct buf json;
    struct json_reader reader;
    struct slice text;
    buf_init(&json, SIZE_MAX / 2);
    struct json_writer writer = json_writer_to(&json);
    json_text(&writer, message);
    json_reader_init(&reader, buf_view(&json), arena);
    ensure(json_read_string(&reader, &text) && json_at_end(&reader));
    buf_release(&json);
}

// 1 January 2026, which the corpus signs for.
static const struct auth_rules rules = {.service = {(const uint8_t *)"dynamodb", 8},
                                        .region = {(const uint8_t *)AUTH_REGION, 9},
                                        .now_s = 1767225600,
                                        .skew_s = 900};

static void check_verified(const struct http_request *request)
{
    static struct sign_cache *cache;
    struct arena arena;
    struct error error;
    struct auth_claim claim;
    const struct identity_guest guest = {.secret = SLICE_LIT("secret"), .known = true};
    if (cache == NULL)
        cache = sign_cache_new();
    arena_init(&arena, FUZZ_BUDGET);
    error_init(&error, &arena);
    bool read = auth_read(request, &rules, &claim, &error);
    if (read) {
        ensure(error.code == ERR_NONE && claim.claim.access_key.len > 0);
        ensure(claim.claim.seconds >= rules.now_s - 604800);
        ensure(claim.claim.seconds <= rules.now_s + rules.skew_s);
        ensure(slice_equal(claim.claim.region, rules.region));
        read = auth_verify(&claim, &guest, SLICE_LIT("{}"), cache, &error);
    }
    ensure(!read);
    fuzz_error(&error);
    check_message(error.message, &arena);
    arena_release(&arena);
}

static void check(const struct http_request *request)
{
    struct arena arena;
    struct error error;
    arena_init(&arena, FUZZ_BUDGET);
    error_init(&error, &arena);
    struct auth_scope scope = {.region = SLICE_LIT(AUTH_REGION)};
    if (auth_check(request, &scope, &error)) {
        struct slice region = scope.region;
        ensure(error.code == ERR_NONE && region.len > 0 && region.len <= AUTH_REGION_MAX);
        // It becomes part of ARNs in JSON.
        for (size_t i = 0; i < region.len; i++)
            ensure(region.ptr[i] > 0x20 && region.ptr[i] != 0x7f && region.ptr[i] != '"');
    } else {
        fuzz_error(&error);
        check_message(error.message, &arena);
    }
    arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    struct buf head;
    buf_init(&head, SIZE_MAX / 2);
    buf_text(&head, "POST /?");
    buf_slice(&head, fuzz_line(&in));
    buf_text(&head, " HTTP/1.1\r\nHost: h\r\n");
    add_header(&head, "Authorization", fuzz_line(&in));
    add_header(&head, "X-Amz-Date", fuzz_line(&in));
    while (in.len > 0) {
        buf_slice(&head, fuzz_line(&in));
        buf_text(&head, "\r\n");
    }
    buf_text(&head, "\r\n");
    struct slice bytes = fuzz_copy(buf_view(&head));
    struct http_scan scan;
    static struct http_request request; // large: not for the stack
    struct http_problem problem;
    size_t head_len;
    http_scan_reset(&scan);
    if (http_head_parse(&scan, bytes.ptr, bytes.len, &request, &head_len, &problem) == HTTP_DONE) {
        check(&request);
        check_verified(&request);
    }
    fuzz_free(bytes);
    buf_release(&head);
    return 0;
}
