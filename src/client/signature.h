// The part of a request's head that says who asks.
#ifndef CLIENT_SIGNATURE_H
#define CLIENT_SIGNATURE_H

#include "client/link.h"
#include "sign/sign.h"

struct client_signature {
    const struct sign_keys *keys; // NULL: a signature that is well formed and means nothing,
    bool certified;               // or none at all: the connection's certificate says who asks
    const char *region;
    const char *method;
    const char *path;         // with its query, as it is sent
    const char *operation;    // "DynamoDB_20120810.GetItem", the header X-Amz-Target; or NULL
    struct slice body;        // hashed, but not sent
    struct sign_cache *cache; // or NULL
};

// Appends the request line and the header Host.
void client_head_begin(struct buf *head, const struct client_address *address,
                       const struct client_signature *signature);
// Appends the headers X-Amz-Target, X-Amz-Date, X-Amz-Security-Token and Authorization.
void client_head_sign(struct buf *head, const struct client_address *address,
                      const struct client_signature *signature);

#endif
