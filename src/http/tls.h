// TLS for an HTTP server: certificates, and what is agreed on with clients.
//
// TLS 1.2 and 1.3, with forward secrecy and authenticated ciphers alone; HTTP/1.1 by ALPN; no
// renegotiation, no compression, no early data. Sessions are resumed by tickets, whose keys change
// every hour and stay while certificates change.
//
// The files are PEM. They are read again when they change (tls_watch looks once a second) and when
// somebody asks (tls_reload): connections from then on get the new certificate, those that are
// there go on with theirs. Files that cannot be used change nothing, and are told in the log.
//
// All functions may be called by any thread, but tls_close by one that is alone with it.
#ifndef HTTP_TLS_H
#define HTTP_TLS_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>

struct tls;

// What a connection costs beyond BUDGET_CONNECTION.
enum { TLS_CONNECTION = 24 << 10 };

struct tls_options {
    const char *certificate; // the server's, and behind it those that lead to a known authority
    const char *key;         // its private key, without a passphrase
    const char *client_ca;   // certificates of authorities that sign clients'; NULL asks for none
    bool client_required;    // a client without a certificate is refused
};

// NULL with a sentence in `error`. The options are copied.
MUST_CHECK struct tls *tls_open(const struct tls_options *options, char *error, size_t size);
void tls_close(struct tls *tls); // may be NULL

// Looks at the files once a second, by a thread of its own, until tls_close.
void tls_watch(struct tls *tls);
// Reads the files now. False, with the log told, if they cannot be used.
bool tls_reload(struct tls *tls);

#endif
