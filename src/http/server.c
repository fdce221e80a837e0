// Listening, accepting, start and stop. See http.h for the contract.
//
// One socket listens, watched by all loops: whichever is awake accepts, so that a busy loop keeps
// no new client waiting. The connection goes to the loop that has the fewest. Memory: the server
// owns its loops; a loop owns its connections.
#include "http/http_internal.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 1024, ACCEPT_BURST = 16 };

// ---- Accepting (on the thread of any loop) -----------------------------------------------

static void on_accept(uv_poll_t *poll, int status, int events);

void loop_accept_again(struct http_loop *loop)
{
    if (!loop->accept_paused)
        return;
    loop->accept_paused = false;
    ensure(uv_poll_start(&loop->accepting, UV_READABLE, on_accept) == 0);
}

// The last loop that stops closes the socket.
void loop_accept_stop(struct http_loop *loop)
{
    struct http_server *server = loop->server;
    loop->accept_paused = false;
    ensure(uv_poll_stop(&loop->accepting) == 0);
    if (atomic_fetch_sub(&server->listening, 1) != 1)
        return;
    (void)close(server->listener);
    server->listener = -1;
}

void loop_connection_gone(struct http_loop *loop)
{
    atomic_fetch_sub(&loop->connection_count, 1);
    atomic_fetch_sub(&loop->server->connections, 1);
}

static void place(struct http_loop *own, int fd)
{
    struct http_server *server = own->server;
    if (atomic_fetch_add(&server->connections, 1) >= server->options.max_connections) {
        atomic_fetch_sub(&server->connections, 1);
        (void)close(fd);
        return;
    }
    struct http_loop *best = own;
    for (unsigned i = 0; i < server->loop_count; i++) {
        struct http_loop *loop = &server->loops[i];
        if (atomic_load(&loop->connection_count) < atomic_load(&best->connection_count))
            best = loop;
    }
    atomic_fetch_add(&best->connection_count, 1);
    if (best == own)
        connection_open(own, fd);
    else
        loop_give_socket(best, fd);
}

static void on_accept(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    struct http_loop *loop = poll->data;
    for (int i = 0; i < ACCEPT_BURST; i++) {
        int fd = accept(loop->server->listener, NULL, NULL);
        if (fd >= 0) {
            (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
            place(loop, fd);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            log_warn("cannot accept a connection for now: %s", strerror(errno));
            (void)uv_poll_stop(poll);
            loop->accept_paused = true;
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

// ---- Listening -------------------------------------------------------------------------

static unsigned bound_port(int fd)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof(address);
    if (getsockname(fd, (struct sockaddr *)&address, &len) != 0)
        return 0;
    if (address.ss_family == AF_INET6)
        return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return ntohs(((struct sockaddr_in *)&address)->sin_port);
}

static int bind_to(const struct addrinfo *address)
{
    int fd = socket(address->ai_family, SOCK_STREAM, 0);
    if (fd < 0)
        return -1;
    int on = 1;
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, address->ai_addr, address->ai_addrlen) == 0)
        return fd;
    int saved = errno;
    (void)close(fd);
    errno = saved;
    return -1;
}

static void say_taken(const char *host, unsigned port, char *error, size_t error_size)
{
    (void)snprintf(error, error_size,
                   errno == EADDRINUSE ? "port %u on %s is already in use"
                                       : "cannot listen on port %u of %s: %s",
                   port, host, strerror(errno));
}

int http_bind(const char *host, unsigned port, char *error, size_t error_size)
{
    char text[16];
    (void)snprintf(text, sizeof(text), "%u", port);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    int result = getaddrinfo(host, text, &hints, &found);
    if (result != 0) {
        (void)snprintf(error, error_size, "cannot find the address '%s': %s", host,
                       gai_strerror(result));
        return -1;
    }
    int fd = -1;
    for (const struct addrinfo *a = found; a != NULL && fd < 0; a = a->ai_next)
        fd = bind_to(a);
    if (fd < 0)
        say_taken(host, port, error, error_size);
    freeaddrinfo(found);
    return fd;
}

// Several may be bound to a port as long as none listens: only now it is ours.
static bool server_listen(struct http_server *server, char *error, size_t error_size)
{
    const struct http_options *options = &server->options;
    server->listener = options->bound != 0
                           ? options->bound
                           : http_bind(server->host, options->port, error, error_size);
    if (server->listener < 0)
        return false;
    server->port = bound_port(server->listener);
    if (listen(server->listener, BACKLOG) == 0)
        return true;
    say_taken(server->host, options->port, error, error_size);
    return false;
}

// ---- Start and stop --------------------------------------------------------------------

static void defaults_fill(struct http_options *options)
{
    if (options->threads == 0)
        options->threads = uv_available_parallelism();
    if (options->max_connections == 0)
        options->max_connections = HTTP_CONNECTIONS_DEFAULT;
    if (options->idle_ms == 0)
        options->idle_ms = HTTP_IDLE_DEFAULT_MS;
    if (options->request_ms == 0)
        options->request_ms = HTTP_REQUEST_DEFAULT_MS;
}

// Makes the loops; loop_count says how many there are to release.
static bool loops_make(struct http_server *server)
{
    server->loops = calloc(server->options.threads, sizeof(*server->loops));
    if (server->loops == NULL)
        return false;
    for (unsigned i = 0; i < server->options.threads; i++) {
        if (!loop_init(&server->loops[i], server, i))
            return false;
        server->loop_count++;
    }
    for (unsigned i = 0; i < server->loop_count; i++) {
        struct http_loop *loop = &server->loops[i];
        loop->accepting.data = loop;
        if (uv_poll_init(&loop->uv, &loop->accepting, server->listener) != 0 ||
            uv_poll_start(&loop->accepting, UV_READABLE, on_accept) != 0)
            return false;
    }
    atomic_store(&server->listening, server->loop_count);
    return true;
}

static bool loops_start(struct http_server *server)
{
    for (unsigned i = 0; i < server->loop_count; i++) {
        if (!loop_start(&server->loops[i]))
            return false;
    }
    return true;
}

struct http_server *http_server_start(const struct http_options *options, char *error,
                                      size_t error_size)
{
    struct http_server *server = calloc(1, sizeof(*server));
    if (server != NULL) {
        server->options = *options;
        server->listener = -1;
        server->host = strdup(options->host);
        defaults_fill(&server->options);
    }
    if (server == NULL || server->host == NULL) {
        (void)snprintf(error, error_size, "out of memory");
        free(server);
        return NULL;
    }
    if (!server_listen(server, error, error_size)) {
        http_server_free(server);
        return NULL;
    }
    if (!loops_make(server) || !loops_start(server)) {
        (void)snprintf(error, error_size, "cannot start %u event loops", server->options.threads);
        http_server_stop(server);
        http_server_free(server);
        return NULL;
    }
    return server;
}

unsigned http_server_port(const struct http_server *server)
{
    return server->port;
}

void http_server_stop(struct http_server *server)
{
    for (unsigned i = 0; i < server->loop_count; i++)
        loop_ask_stop(&server->loops[i]);
    for (unsigned i = 0; i < server->loop_count; i++) {
        if (server->loops[i].started)
            (void)uv_thread_join(&server->loops[i].thread);
        server->loops[i].started = false;
    }
}

void http_server_free(struct http_server *server)
{
    for (unsigned i = 0; i < server->loop_count; i++)
        loop_release(&server->loops[i]);
    if (server->listener >= 0)
        (void)close(server->listener);
    free(server->loops);
    free(server->host);
    free(server);
}
