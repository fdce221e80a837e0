// What the files of this room share.
#ifndef SIGN_SIGN_INTERNAL_H
#define SIGN_SIGN_INTERNAL_H

#include "base/limits.h"
#include "sign/payload.h"

#define SIGN_TERMINATOR "aws4_request"

// ---- keys.c --------------------------------------------------------------------------------

void sign_hmac_init(struct sign_hmac *hmac, struct slice key);
// Of three texts, one behind the other.
void sign_hmac_of(const struct sign_hmac *hmac, struct slice first, struct slice second,
                  uint8_t out[SIGN_HASH]);
// The key of a secret for a day (of a date), a region and a service; out of the cache if it is
// there.
void sign_key_for(struct sign_cache *cache, struct slice secret, struct slice day,
                  struct slice region, struct slice service, struct sign_hmac *out);

// ---- canonical.c ---------------------------------------------------------------------------

struct sign_canonical {
    const struct sign_request *request;
    bool s3;
    bool in_query;               // X-Amz-Signature is not a part of it
    struct slice signed_headers; // in lower case and in order
    struct slice payload;
};

// False if the path or the query cannot be decoded, or memory is used up.
MUST_CHECK bool sign_canonical_write(const struct sign_canonical *canonical, struct arena *arena,
                                     struct buf *out);
// "a;b;c" of the headers of a request, in order; ptr is NULL without memory.
MUST_CHECK struct slice sign_header_names(const struct sign_request *request, struct arena *arena);
// The first header of that name (in lower case), and how many there are.
size_t sign_header_find(const struct sign_request *request, struct slice name, struct slice *value);
bool sign_name_equal(struct slice a, struct slice lower);

// ---- sign.c --------------------------------------------------------------------------------

// The text that is signed for a canonical request.
void sign_string_write(const char *date, struct slice region, struct slice service,
                       struct slice canonical, struct buf *out);

// ---- claim.c -------------------------------------------------------------------------------

// A credential "key/day/region/service/aws4_request" and a date, judged by the rules.
MUST_CHECK enum sign_result sign_credential_read(struct slice credential,
                                                 const struct sign_rules *rules,
                                                 struct sign_claim *claim);

#endif
