// Who sent a request: its signature, checked anew from what came, and what it says of the body.
#include "objects/s3.h"

#include "base/encode.h"
#include "base/limits.h"

const struct objects_key *s3_find_key(const struct objects *objects, struct slice id)
{
    for (size_t i = 0; i < objects->key_count; i++) {
        if (slice_is(id, objects->keys[i].id))
            return &objects->keys[i];
    }
    return NULL;
}

static bool refuse(struct s3 *s3, enum sign_result result, const struct sign_rules *rules)
{
    sign_s3_error(result, &s3->claim, rules, &s3->signature);
    return s3_fail(s3, S3_ERRORS);
}

static bool request_read(struct s3 *s3, struct sign_request *out)
{
    const struct http_request *request = s3->request;
    struct sign_header *headers =
        arena_zalloc(&s3->arena, request->header_count + 1u, sizeof(*headers));
    if (headers == NULL)
        return s3_fail(s3, S3_SLOW_DOWN);
    for (unsigned i = 0; i < request->header_count; i++)
        headers[i] = (struct sign_header){request->headers[i].name, request->headers[i].value};
    *out = (struct sign_request){request->method, request->path, request->query, headers,
                                 request->header_count};
    return true;
}

// What an unsigned request says of its body: everything that needs no key is checked all the same.
static bool read_payload(struct s3 *s3)
{
    const struct slice *text = s3_header(s3, "x-amz-content-sha256");
    const struct slice *length = s3_header(s3, "x-amz-decoded-content-length");
    const struct slice *trailer = s3_header(s3, "x-amz-trailer");
    struct sign_claim *claim = &s3->claim;
    claim->payload = SIGN_PAYLOAD_UNSIGNED;
    if (text == NULL || slice_is(*text, SIGN_UNSIGNED))
        return true;
    if (slice_is(*text, SIGN_STREAMING_UNSIGNED)) {
        claim->payload = SIGN_PAYLOAD_CHUNKS_UNSIGNED;
        claim->trailer = trailer == NULL ? slice_of(NULL, 0) : *trailer;
        return (length != NULL && s3_parse_number(*length, INT64_MAX, &claim->decoded_length)) ||
               s3_fail(s3, S3_LENGTH_REQUIRED);
    }
    bool hex = text->len == SIGN_HEX;
    for (size_t i = 0; hex && i < SIGN_HASH; i++) {
        int high = hex_digit(text->ptr[2 * i]);
        int low = hex_digit(text->ptr[2 * i + 1]);
        hex = high >= 0 && low >= 0;
        claim->hash[i] = hex ? (uint8_t)(high * 16 + low) : 0;
    }
    claim->payload = SIGN_PAYLOAD_HASHED;
    claim->payload_text = *text;
    return hex || refuse(s3, SIGN_PAYLOAD_MALFORMED, NULL);
}

static bool begin_payload(struct s3 *s3, struct slice secret, struct sign_cache *cache)
{
    s3->payload = arena_zalloc(&s3->arena, 1, sizeof(*s3->payload));
    if (s3->payload == NULL)
        return s3_fail(s3, S3_SLOW_DOWN);
    sign_payload_begin(s3->payload, &s3->claim, secret, cache);
    return true;
}

// How the request came, which policies may ask for.
static void note_way(struct s3 *s3, struct caller *caller)
{
    struct http_peer *peer = arena_zalloc(&s3->arena, 1, sizeof(*peer));
    const struct slice *agent = http_header_find(s3->request, SLICE_LIT("user-agent"));
    if (peer != NULL && http_exchange_peer(s3->exchange, peer))
        caller->address = slice_str(peer->address);
    if (agent != NULL)
        caller->agent = *agent;
    caller->secure = http_exchange_secure(s3->exchange);
    caller->warn = !s3->objects->signed_only;
}

// The secret of the key that has signed: of the store's own keys, which have no sessions, or of an
// identity's, who then is the caller.
static enum sign_result find_secret(struct s3 *s3, int64_t now_s, struct slice *secret)
{
    const struct objects *objects = s3->objects;
    struct identity_guest *guest = &s3->guest;
    *secret = slice_of(NULL, 0);
    s3->key_used = s3_find_key(objects, s3->claim.access_key);
    if (s3->key_used != NULL) {
        *secret = slice_str(s3->key_used->secret);
        return s3->claim.token.len > 0 ? SIGN_TOKEN : SIGN_OK;
    }
    if (objects->seats == NULL)
        return SIGN_UNKNOWN_KEY;
    identity_seat_look(objects->seats[http_exchange_loop(s3->exchange)], s3->claim.access_key,
                       s3->claim.token, now_s, &s3->arena, guest);
    *secret = guest->secret;
    s3->caller = guest->known ? &guest->caller : NULL;
    if (guest->known)
        note_way(s3, &guest->caller);
    if (!guest->known)
        return s3->claim.token.len > 0 ? SIGN_TOKEN : SIGN_UNKNOWN_KEY;
    if (guest->token_foreign)
        return SIGN_TOKEN;
    return guest->token_expired ? SIGN_TOKEN_EXPIRED : SIGN_OK;
}

bool s3_authenticate(struct s3 *s3)
{
    const struct objects *objects = s3->objects;
    struct sign_cache *cache = objects->caches[http_exchange_loop(s3->exchange)];
    struct sign_request request;
    const struct sign_rules rules = {
        .service = SLICE_LIT("s3"), .now = env_now(&objects->env) / 1000, .skew_s = SIGN_SKEW_S};
    if (!request_read(s3, &request))
        return false;
    enum sign_result result = sign_claim_read(&request, &rules, &s3->arena, &s3->claim);
    if (result == SIGN_NONE) {
        // A form brings its signature in its body; a preflight has none.
        bool later = s3->operation->body == S3_FORM || slice_is(s3->request->method, "OPTIONS");
        if (!objects->anonymous && !later)
            return s3_fail(s3, S3_ACCESS_DENIED);
        return read_payload(s3) && begin_payload(s3, slice_of(NULL, 0), cache);
    }
    if (result != SIGN_OK)
        return refuse(s3, result, &rules);
    struct slice secret;
    result = find_secret(s3, rules.now, &secret);
    // A key that nobody has is checked, too, so that it takes as long.
    enum sign_result checked =
        secret.len == 0
            ? SIGN_MISMATCH
            : sign_claim_check(&request, &s3->claim, secret, slice_of(NULL, 0), cache, &s3->arena);
    if (result == SIGN_OK)
        result = checked;
    if (result != SIGN_OK)
        return refuse(s3, result, &rules);
    s3->signer = true;
    return begin_payload(s3, secret, cache);
}
