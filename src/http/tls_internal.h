// What the two sides of TLS share: the server's context (tls.c), and one connection's (wire_tls.c).
#ifndef HTTP_TLS_INTERNAL_H
#define HTTP_TLS_INTERNAL_H

#include "http/tls.h"
#include "http/tls_pipe.h"

// A connection of the context as it is now. NULL if there is no memory.
MUST_CHECK SSL *tls_session_new(struct tls *tls);
// Bytes come from, and go to, the pipe, which is borrowed for the life of the SSL. False if there
// is no memory.
MUST_CHECK bool tls_session_pipe(struct tls *tls, SSL *ssl, const struct tls_pipe *pipe);

// Whether it is the server's own certificate.
bool tls_is_own(const SSL *ssl, const X509 *certificate);

// The keys of tickets, for tests: makes time pass.
void tls_tickets_age(struct tls *tls, int64_t seconds);

#endif
