// See link.h. OpenSSL gets its bytes through a pipe of ours and not from the socket, since its own
// writes would raise SIGPIPE where a server has gone.
#include "client/link.h"

#include "base/attributes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { TIMEOUT_S = 60 };

// ---- Addresses -------------------------------------------------------------------------------

bool client_address_parse(const char *url, struct client_address *out)
{
    out->secure = strncasecmp(url, "https://", 8) == 0;
    if (!out->secure && strncasecmp(url, "http://", 7) != 0)
        return false;
    const char *host = url + (out->secure ? 8 : 7);
    const char *end = host + strcspn(host, "/?#");
    bool bracket = host[0] == '[';
    const char *host_end = bracket ? memchr(host, ']', (size_t)(end - host)) : NULL;
    if (bracket && host_end == NULL)
        return false;
    const char *after = bracket ? host_end + 1 : host;
    const char *colon = memchr(after, ':', (size_t)(end - after));
    if (bracket)
        host++;
    else
        host_end = colon == NULL ? end : colon;
    int host_len = (int)(host_end - host);
    int port_len = colon == NULL ? 0 : (int)(end - colon - 1);
    if (host_len <= 0 || host_len > CLIENT_HOST_MAX || port_len > 5)
        return false;
    (void)snprintf(out->host, sizeof(out->host), "%.*s", host_len, host);
    if (port_len > 0)
        (void)snprintf(out->port, sizeof(out->port), "%.*s", port_len, colon + 1);
    else
        (void)snprintf(out->port, sizeof(out->port), "%s", out->secure ? "443" : "80");
    return true;
}

// ---- Trust -----------------------------------------------------------------------------------

struct client_trust {
    SSL_CTX *context;
    BIO_METHOD *method;
};

static bool fail(char *error, size_t size, const char *format, const char *name)
{
    (void)snprintf(error, size, format, name);
    ERR_clear_error();
    return false;
}

static bool trust_fill(SSL_CTX *context, const struct client_trust_options *options, char *error,
                       size_t size)
{
    const char *own = options->certificate;
    const char *key = options->key != NULL ? options->key : own;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_read_ahead(context, 1); // one system call for an answer
    if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1)
        return fail(error, size, "TLS cannot be prepared%s", "");
    if (options->authorities != NULL &&
        SSL_CTX_load_verify_file(context, options->authorities) != 1)
        return fail(error, size, "'%s' does not hold certificates of authorities",
                    options->authorities);
    if (options->authorities == NULL && SSL_CTX_set_default_verify_paths(context) != 1)
        return fail(error, size, "the system's certificates cannot be read%s", "");
    if (own != NULL && SSL_CTX_use_certificate_chain_file(context, own) != 1)
        return fail(error, size, "'%s' does not hold a certificate that can be used", own);
    if (own != NULL && SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
        return fail(error, size, "'%s' does not hold the private key of the certificate", key);
    return true;
}

struct client_trust *client_trust_new(const struct client_trust_options *options, char *error,
                                      size_t error_size)
{
    struct client_trust *trust = memory_zeroed(sizeof(*trust));
    trust->context = SSL_CTX_new(TLS_client_method());
    trust->method = tls_pipe_method();
    bool made = trust->context != NULL && trust->method != NULL;
    if (!made)
        (void)fail(error, error_size, "out of memory%s", "");
    if (made && trust_fill(trust->context, options, error, error_size))
        return trust;
    client_trust_free(trust);
    return NULL;
}

void client_trust_free(struct client_trust *trust)
{
    if (trust == NULL)
        return;
    SSL_CTX_free(trust->context);
    BIO_meth_free(trust->method);
    free(trust);
}

// ---- Connecting ------------------------------------------------------------------------------

static int socket_open(const struct client_address *address, char *error, size_t error_size)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int result = getaddrinfo(address->host, address->port, &hints, &found);
    if (result != 0) {
        (void)snprintf(error, error_size, "cannot find '%s': %s", address->host,
                       gai_strerror(result));
        return -1;
    }
    int fd = -1;
    for (const struct addrinfo *a = found; a != NULL && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
            int why = errno;
            (void)close(fd);
            errno = why;
            fd = -1;
        }
    }
    freeaddrinfo(found);
    if (fd < 0)
        (void)snprintf(error, error_size, "no server answers at %s port %s: %s", address->host,
                       address->port, strerror(errno));
    return fd;
}

static ssize_t pull(void *context, void *out, size_t size)
{
    const struct client_link *link = context;
    ssize_t got;
    do {
        got = recv(link->fd, out, size, 0);
    } while (got < 0 && errno == EINTR);
    return got >= 0 ? got : errno == EAGAIN ? -1 : 0;
}

static ssize_t push(void *context, const void *bytes, size_t size)
{
    const struct client_link *link = context;
    ssize_t sent;
    do {
        sent = send(link->fd, bytes, size, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent >= 0 ? sent : errno == EAGAIN ? -1 : 0;
}

// The name that the certificate must be for.
static bool name_expect(SSL *ssl, const char *host)
{
    uint8_t bytes[16];
    bool address = inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
    if (address)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
    return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

static bool secure(struct client_link *link, const struct client_address *address,
                   const struct client_trust *trust, char *error, size_t error_size)
{
    static const unsigned char protocols[] = "\x08http/1.1";
    ensure(trust != NULL);
    ERR_clear_error();
    link->pipe = (struct tls_pipe){.pull = pull, .push = push, .context = link};
    link->ssl = SSL_new(trust->context);
    if (link->ssl == NULL || !tls_pipe_attach(trust->method, link->ssl, &link->pipe) ||
        !name_expect(link->ssl, address->host) ||
        SSL_set_alpn_protos(link->ssl, protocols, sizeof(protocols) - 1) != 0)
        return fail(error, error_size, "TLS cannot be prepared%s", "");
    if (SSL_connect(link->ssl) == 1)
        return true;
    long verified = SSL_get_verify_result(link->ssl);
    const char *reason = ERR_reason_error_string(ERR_peek_error());
    if (verified != X509_V_OK)
        (void)snprintf(error, error_size,
                       "%s:%s shows a certificate that cannot be trusted: %s. --ca FILE names the "
                       "authority",
                       address->host, address->port, X509_verify_cert_error_string(verified));
    else
        (void)snprintf(error, error_size, "%s:%s does not agree on TLS: %s", address->host,
                       address->port, reason == NULL ? "it has hung up" : reason);
    ERR_clear_error();
    return false;
}

bool client_link_open(struct client_link *link, const struct client_address *address,
                      const struct client_trust *trust, char *error, size_t error_size)
{
    *link = (struct client_link){.fd = socket_open(address, error, error_size)};
    if (link->fd < 0)
        return false;
    client_link_patience(link, TIMEOUT_S);
    if (!address->secure || secure(link, address, trust, error, error_size))
        return true;
    client_link_close(link);
    return false;
}

bool client_link_certified(const struct client_link *link)
{
    return link->ssl != NULL && SSL_get_certificate(link->ssl) != NULL;
}

void client_link_close(struct client_link *link)
{
    if (link->ssl != NULL && SSL_is_init_finished(link->ssl))
        (void)SSL_shutdown(link->ssl);
    SSL_free(link->ssl);
    link->ssl = NULL;
    ERR_clear_error();
    if (link->fd >= 0)
        (void)close(link->fd);
    link->fd = -1;
}

void client_link_patience(const struct client_link *link, unsigned seconds)
{
    struct timeval limit = {.tv_sec = seconds};
    (void)setsockopt(link->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

// ---- Bytes -----------------------------------------------------------------------------------

// What a socket would have said.
static ssize_t outcome(struct client_link *link, int result)
{
    switch (SSL_get_error(link->ssl, result)) {
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        errno = EAGAIN;
        return -1;
    default:
        ERR_clear_error();
        errno = ECONNRESET; // an end that nobody has announced may be an attacker's, too
        return -1;
    }
}

ssize_t client_link_send(struct client_link *link, struct slice bytes)
{
    size_t done = 0;
    if (link->ssl == NULL)
        return send(link->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
    tls_errors_clear();
    int result = SSL_write_ex(link->ssl, bytes.ptr, bytes.len, &done);
    return result == 1 ? (ssize_t)done : outcome(link, result);
}

ssize_t client_link_receive(struct client_link *link, void *out, size_t size)
{
    size_t done = 0;
    if (link->ssl == NULL)
        return recv(link->fd, out, size, 0);
    tls_errors_clear();
    int result = SSL_read_ex(link->ssl, out, size, &done);
    return result == 1 ? (ssize_t)done : outcome(link, result);
}

bool client_link_pending(const struct client_link *link)
{
    return link->ssl != NULL && SSL_has_pending(link->ssl) == 1;
}

bool client_link_send_all(struct client_link *link, struct slice bytes)
{
    while (bytes.len > 0) {
        ssize_t sent = client_link_send(link, bytes);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes = slice_of(bytes.ptr + sent, bytes.len - (size_t)sent);
    }
    return true;
}
