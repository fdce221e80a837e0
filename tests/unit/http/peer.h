// How the tests of this directory reach a server: by a socket, or, where HTTP_TLS is defined, by
// one end of a pair whose other end a thread carries over TLS. So the same tests run with and
// without.
#ifndef TESTS_HTTP_PEER_H
#define TESTS_HTTP_PEER_H

#include <arpa/inet.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/time.h>

static inline int peer_connect(unsigned port, int seconds)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval limit = {.tv_sec = seconds};
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    return connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 ? fd : -1;
}

#ifndef HTTP_TLS

enum { PEER_COST = 0, PEER_CARRIED = 0 };
#define peer_tls()               NULL
#define peer_dial(port, seconds) peer_connect(port, seconds)

#else

#include "base/files.h"
#include "crypt/certificate.h"
#include "http/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

// Of a connection, in a budget. Who is carried does not know when its bytes are there.
enum { PEER_COST = TLS_CONNECTION, PEER_CARRIED = 1 };

struct peer_files {
    char directory[64];
    char paths[4][96]; // authority, its key, certificate, its key
};

static inline struct certificate_wish peer_files_make(struct peer_files *files)
{
    static const char *const names[] = {"ca.pem", "ca.key", "server.pem", "server.key"};
    char directory[] = "/tmp/dolmen-http.XXXXXX";
    ensure(mkdtemp(directory) != NULL);
    (void)snprintf(files->directory, sizeof(files->directory), "%s", directory);
    for (int i = 0; i < 4; i++)
        (void)snprintf(files->paths[i], sizeof(files->paths[i]), "%s/%s", directory, names[i]);
    return (struct certificate_wish){.authority_certificate = files->paths[0],
                                     .authority_key = files->paths[1],
                                     .certificate = files->paths[2],
                                     .key = files->paths[3]};
}

// The server's side, made once.
static inline struct tls *peer_tls(void)
{
    static struct tls *tls;
    char error[512];
    if (tls == NULL) {
        struct peer_files files;
        struct certificate_wish wish = peer_files_make(&files);
        ensure(certificate_make(&wish, error, sizeof(error)));
        tls = tls_open(&(struct tls_options){.certificate = files.paths[2], .key = files.paths[3]},
                       error, sizeof(error));
        ensure(tls != NULL && directory_remove(files.directory));
    }
    return tls;
}

struct peer_relay {
    int near; // the test's other end
    int far;  // the server's socket
    SSL_CTX *context;
    SSL *ssl;
    uint8_t up[16 << 10]; // from the test to the server
    size_t up_at;
    size_t up_len;
    uint8_t down[16 << 10];
    size_t down_at;
    size_t down_len;
    bool up_ended;
    bool down_ended;
    bool up_blocked; // the server's socket takes no more
    int patience;
};

// One of the two directions; true while it gets on.
static inline bool peer_up(struct peer_relay *r)
{
    if (r->up_at == r->up_len && !r->up_ended) {
        ssize_t got = recv(r->near, r->up, sizeof(r->up), MSG_DONTWAIT);
        r->up_at = 0;
        r->up_len = got > 0 ? (size_t)got : 0;
        if (got == 0 || (got < 0 && errno != EAGAIN)) {
            r->up_ended = true;
            (void)SSL_shutdown(r->ssl);
            (void)shutdown(r->far, SHUT_WR);
        }
    }
    size_t done = 0;
    r->up_blocked = false;
    if (r->up_at == r->up_len)
        return false;
    ERR_clear_error();
    if (SSL_write_ex(r->ssl, r->up + r->up_at, r->up_len - r->up_at, &done) == 1) {
        r->up_at += done;
        return true;
    }
    r->up_blocked = SSL_get_error(r->ssl, 0) == SSL_ERROR_WANT_WRITE;
    if (!r->up_blocked && SSL_get_error(r->ssl, 0) != SSL_ERROR_WANT_READ) {
        r->up_at = r->up_len; // nobody takes it
        r->up_ended = true;
    }
    return false;
}

static inline bool peer_down(struct peer_relay *r)
{
    if (r->down_at == r->down_len && !r->down_ended) {
        size_t got = 0;
        ERR_clear_error();
        int result = SSL_read_ex(r->ssl, r->down, sizeof(r->down), &got);
        r->down_at = 0;
        r->down_len = got;
        int why = result == 1 ? SSL_ERROR_NONE : SSL_get_error(r->ssl, result);
        if (why != SSL_ERROR_NONE && why != SSL_ERROR_WANT_READ) {
            r->down_ended = true;
            (void)shutdown(r->near, SHUT_WR);
        }
    }
    if (r->down_at == r->down_len)
        return false;
    ssize_t sent =
        send(r->near, r->down + r->down_at, r->down_len - r->down_at, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0)
        r->down_at += (size_t)sent;
    if (sent < 0 && errno != EAGAIN)
        r->up_ended = r->down_ended = true; // the test has gone
    return sent > 0;
}

// The test has hung up: whether that is all. What the server does not take for a while of what was
// said before is taken back.
static inline bool peer_hung_up(struct peer_relay *r)
{
    const struct linger reset = {1, 0};
    int waiting = 0;
    bool over = r->up_ended && ioctl(r->far, SIOCOUTQ, &waiting) == 0 && waiting == 0;
    if (!over && ++r->patience > 100) {
        (void)setsockopt(r->far, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
        return true;
    }
    (void)usleep(over ? 0 : 2000);
    return over;
}

static atomic_int peer_relays; // that carry

static inline void *peer_carry(void *context)
{
    struct peer_relay *r = context;
    for (;;) {
        bool moved = peer_up(r);
        moved = peer_down(r) || moved;
        if (r->down_ended && (r->up_ended || r->down_at == r->down_len))
            break;
        if (moved)
            continue;
        bool down_waits = r->down_at < r->down_len;
        bool up_waits = r->up_at < r->up_len;
        struct pollfd polled[2] = {
            {r->near, (short)((up_waits || r->up_ended ? 0 : POLLIN) | (down_waits ? POLLOUT : 0)),
             0},
            {r->far, (short)((down_waits ? 0 : POLLIN) | (r->up_blocked ? POLLOUT : 0)), 0}};
        if (polled[1].events == 0)
            polled[1].fd = -1;
        (void)poll(polled, 2, 1000);
        if ((polled[0].revents & POLLHUP) != 0 && peer_hung_up(r))
            break;
    }
    SSL_free(r->ssl);
    SSL_CTX_free(r->context);
    (void)close(r->far);
    (void)close(r->near);
    free(r);
    OPENSSL_thread_stop(); // before anybody may take this thread for ended
    atomic_fetch_sub(&peer_relays, 1);
    return NULL;
}

// A process that ends under its relays leaves what OpenSSL keeps for their threads.
static inline void peer_wait(void)
{
    for (int i = 0; i < 3000 && atomic_load(&peer_relays) > 0; i++)
        (void)usleep(1000);
}

// Until the server has sent its tickets: then it takes requests. It may also have refused.
static inline void peer_greet(struct peer_relay *r)
{
    uint8_t byte;
    size_t got;
    struct pollfd polled = {r->far, POLLIN, 0};
    bool agreed = SSL_connect(r->ssl) == 1;
    (void)fcntl(r->far, F_SETFL, O_NONBLOCK);
    if (agreed && poll(&polled, 1, 10000) == 1)
        (void)SSL_peek_ex(r->ssl, &byte, 1, &got);
}

static inline int peer_dial(unsigned port, int seconds)
{
    int pair[2];
    static bool waited_for;
    struct timeval limit = {.tv_sec = seconds};
    struct peer_relay *r = calloc(1, sizeof(*r));
    pthread_t thread;
    ensure(r != NULL && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    (void)setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    r->near = pair[1];
    r->far = peer_connect(port, seconds);
    r->context = SSL_CTX_new(TLS_client_method());
    (void)SSL_CTX_set_mode(r->context, SSL_MODE_ENABLE_PARTIAL_WRITE);
    r->ssl = SSL_new(r->context);
    ensure(r->far >= 0 && r->ssl != NULL && SSL_set_fd(r->ssl, r->far) == 1);
    (void)signal(SIGPIPE, SIG_IGN);
    peer_greet(r);
    if (!waited_for)
        ensure(atexit(peer_wait) == 0);
    waited_for = true;
    atomic_fetch_add(&peer_relays, 1);
    ensure(pthread_create(&thread, NULL, peer_carry, r) == 0);
    (void)pthread_detach(thread);
    return pair[0];
}

#endif
#endif
