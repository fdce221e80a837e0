// Who asks: the AWS Signature Version 4 of a request, as far as this server looks at it.
//
// Any credentials are accepted and no signature is verified; but a request must carry one that
// is well-formed, and gets the answer that DynamoDB gives if it does not. What the
// server takes from it is the region, which the ARNs of the answer carry.
#ifndef SERVER_AUTH_H
#define SERVER_AUTH_H

#include "base/error.h"
#include "http/parser.h"

enum { AUTH_REGION_MAX = 63 };

// The text in `region` is NUL-terminated. False: the error is set (its message lives in its arena).
MUST_CHECK bool auth_check(const struct http_request *request, char region[AUTH_REGION_MAX + 1],
                           struct error *error);

#endif
