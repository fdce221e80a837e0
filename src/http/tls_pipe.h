// Where OpenSSL has its bytes from, and where it puts them: two functions instead of a socket.
#ifndef HTTP_TLS_PIPE_H
#define HTTP_TLS_PIPE_H

#include "base/attributes.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Both answer with how many bytes it were; 0 if the connection has ended, or is broken; -1 if
// there are none, or is no room, for now.
struct tls_pipe {
    ssize_t (*pull)(void *context, void *out, size_t size);
    ssize_t (*push)(void *context, const void *bytes, size_t size);
    void *context;
};

// For any number of pipes; BIO_meth_free frees it, after them. NULL if there is no memory.
MUST_CHECK BIO_METHOD *tls_pipe_method(void);
// The pipe is borrowed for the life of the SSL. False if there is no memory.
MUST_CHECK bool tls_pipe_attach(const BIO_METHOD *method, SSL *ssl, const struct tls_pipe *pipe);

// What went wrong before is not what goes wrong next: SSL_get_error looks at all of it. Most of the
// time there is nothing, and clearing nothing takes longer than looking.
static inline void tls_errors_clear(void)
{
    if (ERR_peek_error() != 0)
        ERR_clear_error();
}

#endif
