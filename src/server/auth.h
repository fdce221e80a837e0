// Who asks: the AWS Signature Version 4 of a request.
//
// Where security is off, any credentials are accepted and no signature is verified; but a request
// must carry one that is well-formed, and gets the answer that DynamoDB gives if it does not. What
// the server takes from it is the region, which the ARNs of the answer carry; of a request that
// names none it is the server's.
//
// Where it is on, a request is read whole (auth_read), and its signature checked with the secret of
// the key that it names (auth_verify), with DynamoDB's texts in DynamoDB's order.
#ifndef SERVER_AUTH_H
#define SERVER_AUTH_H

#include "base/error.h"
#include "http/parser.h"
#include "identity/identity.h"
#include "sign/check.h"

#define AUTH_REGION "us-east-1" // of a server that is not told otherwise (--region)

enum { AUTH_REGION_MAX = 63 };

// Whether it can be the name of a region.
bool auth_region_valid(struct slice region);

// Whether signatures are asked for (--auth): not at all; counted and told, but served; refused.
enum auth_mode { AUTH_OFF, AUTH_WARN, AUTH_ENFORCE };

// The text in `region` is NUL-terminated, and stays what it is if the request names none. False:
// the error is set (its message lives in its arena).
MUST_CHECK bool auth_check(const struct http_request *request, char region[AUTH_REGION_MAX + 1],
                           struct error *error);

// The access key of the credential that a request carries in its header, borrowed from it; empty if
// it carries none.
struct slice auth_principal(const struct http_request *request);

struct auth_rules {
    struct slice service; // that the request has to be signed for
    struct slice region;  // likewise; empty for any
    int64_t now_s;
    int64_t skew_s;
};

// What a request says of who signs it.
struct auth_claim {
    struct sign_request request;
    struct sign_claim claim;
};

// Whether the request says anything of who signs it.
bool auth_claimed(const struct http_request *request);

// Everything that is judged without a secret. False: the error is set. What is made is in the arena
// of the error, and `out` is complete up to what was found wrong.
MUST_CHECK bool auth_read(const struct http_request *request, const struct auth_rules *rules,
                          struct auth_claim *out, struct error *error);

// Whether the guest, who was looked up by the claim's key and token, has signed the request. Takes
// as long for a key that nobody has. False: the error is set.
MUST_CHECK bool auth_verify(const struct auth_claim *claim, const struct identity_guest *guest,
                            struct slice body, struct sign_cache *cache, struct error *error);

#endif
