// AWS's Signature Version 4, by its published rules: requests as they are signed and checked, and
// signing. Checking is in sign/check.h, bodies in sign/payload.h, forms in sign/policy.h.
//
// There is one canonical form, made from a request as it stands on the wire: the raw path and
// query, the headers in their order with their white space. So what is signed here is what is
// checked here, and nothing depends on how somebody else decodes a URL.
//
// The service "s3" has rules of its own: its paths are encoded once and never shortened ("a//b" and
// "a/../b" are keys), and the hash of the body is what the header x-amz-content-sha256 says. All
// other services encode the path twice, after its "." and ".." are gone, and hash the body.
#ifndef SIGN_SIGN_H
#define SIGN_SIGN_H

#include "base/buf.h"

enum {
    SIGN_HASH = 32,
    SIGN_HEX = 64,        // a hash or a signature in digits
    SIGN_DATE = 17,       // 20150830T123600Z and a NUL
    SIGN_DAY = 8,         // 20150830
    SIGN_SKEW_S = 15 * 60 // between the clocks of client and server
};

#define SIGN_ALGORITHM "AWS4-HMAC-SHA256"

struct sign_keys {
    struct slice access_key;
    struct slice secret_key;
    struct slice token; // of a session; empty without one
};

struct sign_header {
    struct slice name;  // in any case
    struct slice value; // with or without white space around it
};

// A request as it is on the wire. The parts are borrowed.
struct sign_request {
    struct slice method;
    struct slice path;  // of the request line, as sent: "/" at least
    struct slice query; // behind the "?", as sent; or empty
    const struct sign_header *headers;
    size_t header_count;
};

struct sign_scope {
    struct slice region;
    struct slice service;
    int64_t seconds; // since 1970: when it is signed
};

// ---- Keys that were derived before -----------------------------------------------------------

// A signing key follows from (secret, day, region, service) and costs four HMACs. A cache belongs
// to one thread. Wherever one is asked for, NULL means none.
struct sign_cache;
MUST_CHECK struct sign_cache *sign_cache_new(void);
void sign_cache_free(struct sign_cache *cache); // forgets the keys, too

// ---- Signing -------------------------------------------------------------------------------

// What is signed for the body: 64 digits, or one of the words below. sign_payload_hash() makes the
// digits of a whole body.
#define SIGN_UNSIGNED           "UNSIGNED-PAYLOAD"
#define SIGN_STREAMING          "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
#define SIGN_STREAMING_TRAILER  "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
#define SIGN_STREAMING_UNSIGNED "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
#define SIGN_EMPTY_HASH         "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
void sign_payload_hash(struct slice body, char out[SIGN_HEX]);

void sign_date(int64_t seconds, char out[SIGN_DATE]);

// Appends the value of the Authorization header. All headers of the request are signed: host and
// x-amz-date are among them, and for s3 x-amz-content-sha256, whose value is `payload`.
void sign_by_header(const struct sign_request *request, const struct sign_scope *scope,
                    const struct sign_keys *keys, struct slice payload, struct sign_cache *cache,
                    struct buf *out);

// Appends the query of a presigned request: that of the request, then X-Amz-Algorithm to
// X-Amz-Signature, encoded. All headers of the request are signed and have to be sent with it; host
// is among them. `payload` is SIGN_UNSIGNED for s3.
void sign_by_query(const struct sign_request *request, const struct sign_scope *scope,
                   const struct sign_keys *keys, unsigned expires_s, struct slice payload,
                   struct sign_cache *cache, struct buf *out);

// The signature of any text under a scope: of a form's policy. 64 digits.
void sign_text(struct slice text, const struct sign_scope *scope, struct slice secret_key,
               struct sign_cache *cache, char out[SIGN_HEX]);

// ---- Encodings -----------------------------------------------------------------------------

// Percent-encodes all but letters, digits and "-._~"; with `path`, slashes stay.
void sign_encode(struct buf *out, struct slice text, bool path);
// The bytes of a raw path (s3's keys), or of a name or value of a raw query, where "+" is a blank:
// as the canonical form understands them. False, with nothing appended, if a "%" is followed by
// anything but two digits.
MUST_CHECK bool sign_decode(struct buf *out, struct slice text, bool query);

// HMAC-SHA256 of two texts, one behind the other.
void hmac_sha256(struct slice key, struct slice first, struct slice second, uint8_t out[SIGN_HASH]);

#endif
