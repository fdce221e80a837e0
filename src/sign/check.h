// Checking signatures. Two steps, because between them the caller looks up the secret:
//
//   1. sign_claim_read(): what a request says of its signature, parsed strictly and bounded, and
//      judged as far as that goes without a secret: form, scope, date, expiry, headers.
//   2. sign_claim_check(): the signature, computed anew from the request as it came, and compared
//   in
//      constant time. A caller that does not know the access key says SIGN_UNKNOWN_KEY instead.
//
// Then the body is checked while it comes: sign/payload.h. Only when that ends well is the request
// the signer's.
#ifndef SIGN_CHECK_H
#define SIGN_CHECK_H

#include "base/arena.h"
#include "sign/sign.h"

// Each way in which a request may fail, with S3's code, status and sentence for it. Where the
// sentence has "%", sign_s3_error() fills in what the request said and what was expected.
#define SIGN_RESULT_LIST(X)                                                                        \
    X(SIGN_OK, "", 200, "")                                                                        \
    /* No signature at all: an anonymous request. */                                               \
    X(SIGN_NONE, "AccessDenied", 403, "Access Denied")                                             \
    X(SIGN_TWICE, "InvalidArgument", 400,                                                          \
      "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature "      \
      "query "                                                                                     \
      "string parameter or the Authorization header should be specified")                          \
    X(SIGN_ALGORITHM_UNKNOWN, "InvalidArgument", 400, "Unsupported Authorization Type")            \
    X(SIGN_MECHANISM, "InvalidRequest", 400,                                                       \
      "The authorization mechanism you have provided is not supported. Please use "                \
      "AWS4-HMAC-SHA256.")                                                                         \
    X(SIGN_QUERY_ALGORITHM, "AuthorizationQueryParametersError", 400,                              \
      "X-Amz-Algorithm only supports \"AWS4-HMAC-SHA256 and AWS4-ECDSA-P256-SHA256\"")             \
    X(SIGN_HEADER_MALFORMED, "AuthorizationHeaderMalformed", 400,                                  \
      "The authorization header is malformed; the authorization header requires three "            \
      "components: Credential, SignedHeaders, and Signature.")                                     \
    X(SIGN_QUERY_MALFORMED, "AuthorizationQueryParametersError", 400,                              \
      "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, "     \
      "X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.")           \
    X(SIGN_CREDENTIAL_MALFORMED, "AuthorizationHeaderMalformed", 400,                              \
      "the Credential is mal-formed; expecting \"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/"             \
      "aws4_request\".")                                                                           \
    X(SIGN_REGION, "AuthorizationHeaderMalformed", 400,                                            \
      "the region '%s' is wrong; expecting '%s'")                                                  \
    X(SIGN_SERVICE, "AuthorizationHeaderMalformed", 400,                                           \
      "incorrect service \"%s\". This endpoint belongs to \"%s\".")                                \
    X(SIGN_TERMINAL, "AuthorizationHeaderMalformed", 400,                                          \
      "incorrect terminal \"%s\". This endpoint uses \"%s\".")                                     \
    X(SIGN_DAY_WRONG, "AuthorizationHeaderMalformed", 400,                                         \
      "Invalid credential date \"%s\". This date is not the same as X-Amz-Date: \"%s\".")          \
    X(SIGN_DATE_MISSING, "AccessDenied", 403,                                                      \
      "AWS authentication requires a valid Date or x-amz-date header")                             \
    X(SIGN_DATE_MALFORMED, "AuthorizationQueryParametersError", 400,                               \
      "X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"")                    \
    X(SIGN_SKEWED, "RequestTimeTooSkewed", 403,                                                    \
      "The difference between the request time and the current time is too large.")                \
    X(SIGN_NOT_YET, "AccessDenied", 403, "Request is not yet valid")                               \
    X(SIGN_EXPIRED, "AccessDenied", 403, "Request has expired")                                    \
    X(SIGN_EXPIRES_NUMBER, "AuthorizationQueryParametersError", 400,                               \
      "X-Amz-Expires should be a number")                                                          \
    X(SIGN_EXPIRES_NEGATIVE, "AuthorizationQueryParametersError", 400,                             \
      "X-Amz-Expires must be non-negative")                                                        \
    X(SIGN_EXPIRES_LONG, "AuthorizationQueryParametersError", 400,                                 \
      "X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires "     \
      "must be less than 604800 seconds")                                                          \
    /* Host, or for s3 an x-amz- header, is there but not signed; or a signed one is not there. */ \
    X(SIGN_HEADERS_UNSIGNED, "AccessDenied", 403,                                                  \
      "There were headers present in the request which were not signed")                           \
    X(SIGN_HEADERS_MALFORMED, "AuthorizationHeaderMalformed", 400,                                 \
      "the SignedHeaders are mal-formed; expecting lower-case names in order, separated by ';'.")  \
    X(SIGN_PAYLOAD_MISSING, "InvalidRequest", 400,                                                 \
      "Missing required header for this request: x-amz-content-sha256")                            \
    X(SIGN_PAYLOAD_MALFORMED, "InvalidArgument", 400,                                              \
      "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER, "        \
      "STREAMING-AWS4-HMAC-SHA256-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER or a valid " \
      "sha256 value.")                                                                             \
    X(SIGN_LENGTH_MISSING, "MissingContentLength", 411,                                            \
      "You must provide the Content-Length HTTP header.")                                          \
    X(SIGN_UNKNOWN_KEY, "InvalidAccessKeyId", 403,                                                 \
      "The AWS Access Key Id you provided does not exist in our records.")                         \
    X(SIGN_TOKEN, "InvalidToken", 400, "The provided token is malformed or otherwise invalid.")    \
    X(SIGN_TOKEN_EXPIRED, "ExpiredToken", 400, "The provided token has expired.")                  \
    X(SIGN_MISMATCH, "SignatureDoesNotMatch", 403,                                                 \
      "The request signature we calculated does not match the signature you provided. Check your " \
      "key and signing method.")                                                                   \
    /* Of bodies. */                                                                               \
    X(SIGN_HASH_MISMATCH, "XAmzContentSHA256Mismatch", 400,                                        \
      "The provided 'x-amz-content-sha256' header does not match what was computed.")              \
    X(SIGN_CHUNK_MALFORMED, "InvalidRequest", 400,                                                 \
      "The body is not a well-formed aws-chunked stream.")                                         \
    X(SIGN_CHUNK_SIZE, "InvalidChunkSizeError", 403,                                               \
      "Only the last chunk is allowed to have a size less than 8192 bytes")                        \
    X(SIGN_CHUNK_MISMATCH, "SignatureDoesNotMatch", 403,                                           \
      "The chunk signature we calculated does not match the signature you provided.")              \
    X(SIGN_LENGTH_MISMATCH, "IncompleteBody", 400,                                                 \
      "You did not provide the number of bytes specified by the Content-Length HTTP header")       \
    X(SIGN_TRAILER_MALFORMED, "MalformedTrailerError", 400,                                        \
      "The request contained trailing data that was not well-formed or did not conform to our "    \
      "published schema.")                                                                         \
    /* Of forms. */                                                                                \
    X(SIGN_POLICY_MALFORMED, "InvalidPolicyDocument", 400,                                         \
      "Invalid Policy: Invalid JSON or a condition that is not known.")                            \
    X(SIGN_POLICY_EXPIRED, "AccessDenied", 403, "Invalid according to Policy: Policy expired.")    \
    X(SIGN_POLICY_CONDITION, "AccessDenied", 403,                                                  \
      "Invalid according to Policy: Policy Condition failed: %s")                                  \
    X(SIGN_POLICY_EXTRA, "AccessDenied", 403,                                                      \
      "Invalid according to Policy: Extra input fields: %s")                                       \
    X(SIGN_POLICY_SMALL, "EntityTooSmall", 400,                                                    \
      "Your proposed upload is smaller than the minimum allowed size")                             \
    X(SIGN_POLICY_LARGE, "EntityTooLarge", 400,                                                    \
      "Your proposed upload exceeds the maximum allowed size")                                     \
    /* The arena is used up. */                                                                    \
    X(SIGN_MEMORY, "SlowDown", 503, "Please reduce your request rate.")

#define SIGN_RESULT_ENUM(id, code, status, message) id,
enum sign_result { SIGN_RESULT_LIST(SIGN_RESULT_ENUM) SIGN_RESULT_COUNT };
#undef SIGN_RESULT_ENUM

enum sign_form { SIGN_IN_HEADER, SIGN_IN_QUERY };

// What the signature says of the body.
enum sign_payload {
    SIGN_PAYLOAD_HASHED,          // its SHA-256 is claim->hash
    SIGN_PAYLOAD_UNSIGNED,        // nothing
    SIGN_PAYLOAD_CHUNKS,          // aws-chunked, each chunk signed
    SIGN_PAYLOAD_CHUNKS_TRAILER,  // and the trailer
    SIGN_PAYLOAD_CHUNKS_UNSIGNED, // aws-chunked with a trailer, nothing signed
};

struct sign_rules {
    struct slice service; // that requests have to be for; "s3" has rules of its own
    struct slice region;  // or empty: any
    int64_t now;          // seconds since 1970
    int64_t skew_s;       // SIGN_SKEW_S
};

// What a request says of its signature. Slices are those of the request or in the arena.
struct sign_claim {
    enum sign_form form;
    struct slice access_key;
    struct slice day;
    struct slice region;
    struct slice service;
    struct slice signed_headers;
    struct slice signature; // 64 digits
    struct slice token;     // of a session; empty without one
    char date[SIGN_DATE];
    int64_t seconds;   // the date
    int64_t expires_s; // of the query form
    enum sign_payload payload;
    uint8_t hash[SIGN_HASH];   // of SIGN_PAYLOAD_HASHED, where the request says it
    struct slice payload_text; // as it is signed: x-amz-content-sha256. Empty if the body has to be
                               // hashed, as for all services but s3
    uint64_t decoded_length;   // of aws-chunked bodies: x-amz-decoded-content-length
    struct slice trailer;      // of aws-chunked bodies: x-amz-trailer, the names; or empty
    struct slice fault;        // if it was refused: the value or header that is to blame; or empty
};

// SIGN_OK, or what is wrong. `claim` has then whatever was understood (its form, at least, unless
// it is SIGN_NONE or SIGN_TWICE), for the words of the error.
MUST_CHECK enum sign_result sign_claim_read(const struct sign_request *request,
                                            const struct sign_rules *rules, struct arena *arena,
                                            struct sign_claim *claim);

// Reads 20150830T123600Z or Sun, 30 Aug 2015 12:36:00 GMT into the claim; false if it is neither.
MUST_CHECK bool sign_date_read(struct slice text, struct sign_claim *claim);

// Whether the request was signed by that secret: SIGN_OK, SIGN_MISMATCH or SIGN_MEMORY. `body` is
// needed, whole, if claim->payload_text is empty (all services but s3).
MUST_CHECK enum sign_result sign_claim_check(const struct sign_request *request,
                                             const struct sign_claim *claim,
                                             struct slice secret_key, struct slice body,
                                             struct sign_cache *cache, struct arena *arena);

// For the error of a signature that does not match, which tells what it should have been made of.
// `body` as above.
void sign_canonical(const struct sign_request *request, const struct sign_claim *claim,
                    struct slice body, struct arena *arena, struct buf *out);
void sign_string(const struct sign_claim *claim, struct slice canonical, struct buf *out);

// S3's words for a result. `claim` and `rules` may be NULL.
struct sign_error {
    int status;
    const char *code; // static
    char message[512];
};
void sign_s3_error(enum sign_result result, const struct sign_claim *claim,
                   const struct sign_rules *rules, struct sign_error *out);

#endif
