// Certificates of one's own: an authority, and certificates of servers and clients that it signs.
//
// For those who have no authority that the world knows: whoever trusts the authority's certificate
// (an AWS SDK's CA bundle, `dolmen … --ca FILE`) trusts the servers it has signed. All keys are
// ECDSA on P-256: signing with one takes some 30 microseconds, where RSA of 2048 bits takes a
// millisecond of the event loop in each handshake.
//
// Files are PEM. Keys may be read by their owner alone (0600), certificates by all (0644). A file
// comes whole or not at all, so that a server that watches it never reads half of one.
#ifndef CRYPT_CERTIFICATE_H
#define CRYPT_CERTIFICATE_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    CERTIFICATE_AUTHORITY_DAYS = 3650,
    CERTIFICATE_DAYS = 825, // what browsers and Apple's systems accept of a private authority
};

struct certificate_wish {
    // The authority. If both files are there it signs; if neither is, it is made.
    const char *authority_certificate;
    const char *authority_key;
    // The certificate to make, and its key. Where one of them is there, nothing is done unless
    // `replace` says so; a new key is made in any case.
    const char *certificate;
    const char *key;
    bool replace;
    // Of a server: host names (also *.example.com) and addresses beyond localhost, 127.0.0.1 and
    // ::1, which it always has.
    const char *const *names;
    size_t name_count;
    // If not NULL it is of a client, with this common name, and has none of the names above.
    const char *client;
    // 0 means CERTIFICATE_DAYS.
    unsigned days;
};

// False with a sentence in `error`; what was there is as it was.
MUST_CHECK bool certificate_make(const struct certificate_wish *wish, char *error, size_t size);

// The SHA-256 of a certificate's DER, in hexadecimal, of the first certificate of a PEM file. For
// people to compare, and to name a client's certificate by. False with a sentence in `error`.
enum { CERTIFICATE_FINGERPRINT = 65 };
MUST_CHECK bool certificate_fingerprint(const char *path, char out[CERTIFICATE_FINGERPRINT],
                                        char *error, size_t size);

#endif
