// See check.h: the signature, computed anew.
#include "sign/check.h"

#include "base/encode.h"
#include "sign/sign_internal.h"

#include <openssl/crypto.h>

static bool canonical_of(const struct sign_request *request, const struct sign_claim *claim,
                         struct slice body, struct arena *arena, struct buf *out)
{
    char hash[SIGN_HEX];
    struct sign_canonical canonical = {.request = request,
                                       .s3 = slice_is(claim->service, "s3"),
                                       .in_query = claim->form == SIGN_IN_QUERY,
                                       .signed_headers = claim->signed_headers,
                                       .payload = claim->payload_text};
    if (canonical.payload.len == 0) {
        sign_payload_hash(body, hash);
        canonical.payload = slice_of(hash, sizeof(hash));
    }
    return sign_canonical_write(&canonical, arena, out);
}

void sign_canonical(const struct sign_request *request, const struct sign_claim *claim,
                    struct slice body, struct arena *arena, struct buf *out)
{
    // What cannot be made canonical is shown as far as it goes.
    DISREGARD(canonical_of(request, claim, body, arena, out));
}

void sign_string(const struct sign_claim *claim, struct slice canonical, struct buf *out)
{
    sign_string_write(claim->date, claim->region, claim->service, canonical, out);
}

enum sign_result sign_claim_check(const struct sign_request *request,
                                  const struct sign_claim *claim, struct slice secret_key,
                                  struct slice body, struct sign_cache *cache, struct arena *arena)
{
    struct buf canonical;
    struct buf text;
    char signature[SIGN_HEX];
    const struct sign_scope scope = {claim->region, claim->service, claim->seconds};
    buf_init(&canonical, LIMIT_SIGN_CANONICAL);
    buf_init(&text, LIMIT_SIGN_HEAD);
    bool made = canonical_of(request, claim, body, arena, &canonical);
    sign_string(claim, buf_view(&canonical), &text);
    bool failed = canonical.failed || text.failed;
    if (made && !failed)
        sign_text(buf_view(&text), &scope, secret_key, cache, signature);
    buf_release(&canonical);
    buf_release(&text);
    if (failed)
        return SIGN_MEMORY;
    bool same = made && claim->signature.len == SIGN_HEX &&
                CRYPTO_memcmp(claim->signature.ptr, signature, SIGN_HEX) == 0;
    return same ? SIGN_OK : SIGN_MISMATCH;
}
