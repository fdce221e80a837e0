// See sign.h. A request is made canonical with all of its headers signed, and the text that names
// date, scope and the canonical form's hash is signed with the key of that scope.
#include "sign/sign.h"

#include "base/encode.h"
#include "base/time_text.h"
#include "sign/sign_internal.h"

#include <stdio.h>

static void digits_write(char *out, size_t count, unsigned number)
{
    for (size_t i = count; i > 0; i--, number /= 10)
        out[i - 1] = (char)('0' + number % 10);
}

void sign_date(int64_t seconds, char out[SIGN_DATE])
{
    int64_t days = seconds / 86400 - (seconds % 86400 < 0);
    int64_t of_day = seconds - days * 86400;
    struct time_civil civil = time_civil(days);
    ensure(civil.year >= 0 && civil.year <= 9999);
    digits_write(out, 4, (unsigned)civil.year);
    digits_write(out + 4, 2, civil.month);
    digits_write(out + 6, 2, civil.day);
    out[8] = 'T';
    digits_write(out + 9, 2, (unsigned)(of_day / 3600));
    digits_write(out + 11, 2, (unsigned)(of_day / 60 % 60));
    digits_write(out + 13, 2, (unsigned)(of_day % 60));
    out[15] = 'Z';
    out[16] = 0;
}

void sign_payload_hash(struct slice body, char out[SIGN_HEX])
{
    uint8_t hash[SIGN_HASH];
    char hex[SIGN_HEX + 1];
    sha256_of(body, hash);
    hex_text(slice_of(hash, sizeof(hash)), hex);
    memcpy(out, hex, SIGN_HEX);
}

static void scope_write(const char *date, struct slice region, struct slice service,
                        struct buf *out)
{
    buf_add(out, date, SIGN_DAY);
    buf_byte(out, '/');
    buf_slice(out, region);
    buf_byte(out, '/');
    buf_slice(out, service);
    buf_text(out, "/" SIGN_TERMINATOR);
}

void sign_string_write(const char *date, struct slice region, struct slice service,
                       struct slice canonical, struct buf *out)
{
    char hash[SIGN_HEX];
    sign_payload_hash(canonical, hash);
    buf_text(out, SIGN_ALGORITHM "\n");
    buf_text(out, date);
    buf_byte(out, '\n');
    scope_write(date, region, service, out);
    buf_byte(out, '\n');
    buf_add(out, hash, sizeof(hash));
}

void sign_text(struct slice text, const struct sign_scope *scope, struct slice secret_key,
               struct sign_cache *cache, char out[SIGN_HEX])
{
    char date[SIGN_DATE];
    char hex[SIGN_HEX + 1];
    struct sign_hmac key;
    uint8_t signature[SIGN_HASH];
    sign_date(scope->seconds, date);
    sign_key_for(cache, secret_key, slice_of(date, SIGN_DAY), scope->region, scope->service, &key);
    sign_hmac_of(&key, text, slice_of("", 0), signature);
    hex_text(slice_of(signature, sizeof(signature)), hex);
    memcpy(out, hex, SIGN_HEX);
    explicit_bzero(&key, sizeof(key));
}

// Signs a request whose query is complete but for the signature.
static bool request_sign(const struct sign_canonical *canonical, const struct sign_scope *scope,
                         const struct sign_keys *keys, struct sign_cache *cache,
                         struct arena *arena, char signature[SIGN_HEX])
{
    char date[SIGN_DATE];
    struct buf form;
    struct buf text;
    sign_date(scope->seconds, date);
    buf_init(&form, LIMIT_SIGN_CANONICAL);
    buf_init(&text, LIMIT_SIGN_HEAD);
    bool ok = sign_canonical_write(canonical, arena, &form);
    sign_string_write(date, scope->region, scope->service, buf_view(&form), &text);
    ok = ok && !form.failed && !text.failed;
    if (ok)
        sign_text(buf_view(&text), scope, keys->secret_key, cache, signature);
    buf_release(&form);
    buf_release(&text);
    return ok;
}

static void credential_write(const struct sign_scope *scope, const struct sign_keys *keys,
                             struct buf *out)
{
    char date[SIGN_DATE];
    sign_date(scope->seconds, date);
    buf_slice(out, keys->access_key);
    buf_byte(out, '/');
    scope_write(date, scope->region, scope->service, out);
}

void sign_by_header(const struct sign_request *request, const struct sign_scope *scope,
                    const struct sign_keys *keys, struct slice payload, struct sign_cache *cache,
                    struct buf *out)
{
    char signature[SIGN_HEX];
    struct arena arena;
    arena_init(&arena, LIMIT_SIGN_MEMORY);
    struct sign_canonical canonical = {.request = request,
                                       .s3 = slice_is(scope->service, "s3"),
                                       .signed_headers = sign_header_names(request, &arena),
                                       .payload = payload};
    if (canonical.signed_headers.ptr == NULL ||
        !request_sign(&canonical, scope, keys, cache, &arena, signature)) {
        out->failed = true;
    } else {
        buf_text(out, SIGN_ALGORITHM " Credential=");
        credential_write(scope, keys, out);
        buf_text(out, ", SignedHeaders=");
        buf_slice(out, canonical.signed_headers);
        buf_text(out, ", Signature=");
        buf_add(out, signature, sizeof(signature));
    }
    arena_release(&arena);
}

static void parameter_add(struct buf *query, const char *name, struct slice value)
{
    if (query->len > 0)
        buf_byte(query, '&');
    buf_text(query, name);
    buf_byte(query, '=');
    sign_encode(query, value, false);
}

static void query_complete(const struct sign_scope *scope, const struct sign_keys *keys,
                           unsigned expires_s, struct slice names, struct buf *query)
{
    char date[SIGN_DATE];
    char number[16];
    struct buf credential;
    sign_date(scope->seconds, date);
    buf_init(&credential, LIMIT_SIGN_HEAD);
    credential_write(scope, keys, &credential);
    parameter_add(query, "X-Amz-Algorithm", SLICE_LIT(SIGN_ALGORITHM));
    parameter_add(query, "X-Amz-Credential", buf_view(&credential));
    parameter_add(query, "X-Amz-Date", slice_of(date, SIGN_DATE - 1));
    (void)snprintf(number, sizeof(number), "%u", expires_s);
    parameter_add(query, "X-Amz-Expires", slice_str(number));
    if (keys->token.len > 0)
        parameter_add(query, "X-Amz-Security-Token", keys->token);
    parameter_add(query, "X-Amz-SignedHeaders", names);
    query->failed = query->failed || credential.failed;
    buf_release(&credential);
}

void sign_by_query(const struct sign_request *request, const struct sign_scope *scope,
                   const struct sign_keys *keys, unsigned expires_s, struct slice payload,
                   struct sign_cache *cache, struct buf *out)
{
    char signature[SIGN_HEX];
    struct buf query;
    struct arena arena;
    arena_init(&arena, LIMIT_SIGN_MEMORY);
    buf_init(&query, LIMIT_SIGN_CANONICAL);
    struct slice names = sign_header_names(request, &arena);
    buf_slice(&query, request->query);
    query_complete(scope, keys, expires_s, names, &query);
    struct sign_request complete = *request;
    complete.query = buf_view(&query);
    struct sign_canonical canonical = {.request = &complete,
                                       .s3 = slice_is(scope->service, "s3"),
                                       .in_query = true,
                                       .signed_headers = names,
                                       .payload = payload};
    if (query.failed || names.ptr == NULL ||
        !request_sign(&canonical, scope, keys, cache, &arena, signature)) {
        out->failed = true;
    } else {
        buf_slice(out, buf_view(&query));
        buf_text(out, "&X-Amz-Signature=");
        buf_add(out, signature, sizeof(signature));
    }
    buf_release(&query);
    arena_release(&arena);
}
