// A small HTTP/1.1 client for one endpoint: one connection, kept open between posts, used by one
// thread. It waits at most a few seconds for anything, and not at all once another thread has
// stopped it: each wait is for the socket or for that. Names are looked up by a thread of its own,
// since the C library cannot be told to stop; whoever of the two is last frees what they share.
//
// Whatever goes wrong is a failed post: the connection is closed, and the caller posts again.
#include "capture/kinesis.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { TIMEOUT_MS = 3000, HOST_MAX = 256, PATH_MAX_LEN = 1024, ANSWER_MAX = 1 << 16 };

struct lookup {
    char host[HOST_MAX];
    char port[8];
    struct addrinfo *addresses; // NULL if there are none
    int done;                   // an eventfd that can be read from then
    atomic_int owners;
};

struct kinesis_http {
    char host[HOST_MAX];
    char port[8];
    char path[PATH_MAX_LEN];
    struct lookup *lookup; // the one that is going on, or NULL
    int socket;            // -1 if it is closed
    int stopped;           // can be read from as soon as no post may wait any more
};

// ---- The endpoint -----------------------------------------------------------------

static bool copy_part(char *out, size_t size, const char *from, size_t len)
{
    if (len >= size)
        return false;
    memcpy(out, from, len);
    out[len] = 0;
    return true;
}

static bool url_parse(const char *url, struct kinesis_http *http)
{
    static const char scheme[] = "http://";
    if (strncmp(url, scheme, sizeof(scheme) - 1) != 0)
        return false;
    const char *host = url + sizeof(scheme) - 1;
    size_t authority = strcspn(host, "/?#");
    size_t host_len = strcspn(host, ":/?#");
    const char *path = host + authority;
    (void)snprintf(http->port, sizeof(http->port), "80");
    if (host_len < authority &&
        !copy_part(http->port, sizeof(http->port), host + host_len + 1, authority - host_len - 1))
        return false;
    return host_len > 0 && http->port[0] != 0 &&
           strspn(http->port, "0123456789") == strlen(http->port) &&
           copy_part(http->host, sizeof(http->host), host, host_len) &&
           copy_part(http->path, sizeof(http->path), *path == 0 ? "/" : path,
                     *path == 0 ? 1 : strlen(path));
}

struct kinesis_http *kinesis_http_new(const char *url, char *error, size_t error_size)
{
    struct kinesis_http *http = memory_zeroed(sizeof(*http));
    http->socket = -1;
    if (url_parse(url, http)) {
        http->stopped = eventfd(0, EFD_CLOEXEC);
        ensure_started(http->stopped >= 0);
        return http;
    }
    (void)snprintf(error, error_size, "'%s' is no URL of the form http://host:port", url);
    free(http);
    return NULL;
}

static void lookup_release(struct lookup *lookup)
{
    if (lookup == NULL || atomic_fetch_sub(&lookup->owners, 1) > 1)
        return;
    if (lookup->addresses != NULL)
        freeaddrinfo(lookup->addresses);
    (void)close(lookup->done);
    free(lookup);
}

static void disconnect(struct kinesis_http *http)
{
    if (http->socket >= 0)
        (void)close(http->socket);
    http->socket = -1;
}

void kinesis_http_free(struct kinesis_http *http)
{
    if (http == NULL)
        return;
    disconnect(http);
    lookup_release(http->lookup);
    (void)close(http->stopped);
    free(http);
}

void kinesis_http_stop(struct kinesis_http *http)
{
    ensure(eventfd_write(http->stopped, 1) == 0);
}

// ---- Waiting ---------------------------------------------------------------------------------

// Until the socket can be read from or written to; false if it takes too long, or it was stopped.
static bool wait_for(const struct kinesis_http *http, int fd, short events)
{
    struct pollfd waits[] = {{.fd = http->stopped, .events = POLLIN}, {.fd = fd, .events = events}};
    int ready;
    do
        ready = poll(waits, COUNT_OF(waits), TIMEOUT_MS);
    while (ready < 0 && errno == EINTR);
    return ready > 0 && waits[0].revents == 0;
}

// ---- Looking up ------------------------------------------------------------------------------

static void *lookup_main(void *argument)
{
    struct lookup *lookup = argument;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    if (getaddrinfo(lookup->host, lookup->port, &hints, &lookup->addresses) != 0)
        lookup->addresses = NULL;
    ensure(eventfd_write(lookup->done, 1) == 0);
    lookup_release(lookup);
    return NULL;
}

static struct lookup *lookup_start(const struct kinesis_http *http)
{
    struct lookup *lookup = calloc(1, sizeof(*lookup));
    pthread_t thread;
    if (lookup == NULL)
        return NULL;
    memcpy(lookup->host, http->host, sizeof(lookup->host));
    memcpy(lookup->port, http->port, sizeof(lookup->port));
    lookup->owners = 2;
    lookup->done = eventfd(0, EFD_CLOEXEC);
    if (lookup->done >= 0 && pthread_create(&thread, NULL, lookup_main, lookup) == 0) {
        ensure(pthread_detach(thread) == 0);
        return lookup;
    }
    if (lookup->done >= 0)
        (void)close(lookup->done);
    free(lookup);
    return NULL;
}

// A lookup that is done, or NULL. One that takes longer is waited for again by the next post.
static struct lookup *look_up(struct kinesis_http *http)
{
    if (http->lookup == NULL)
        http->lookup = lookup_start(http);
    eventfd_t count;
    if (http->lookup == NULL || !wait_for(http, http->lookup->done, POLLIN))
        return NULL;
    struct lookup *lookup = http->lookup;
    ensure(eventfd_read(lookup->done, &count) == 0);
    http->lookup = NULL;
    return lookup;
}

// ---- Connecting ------------------------------------------------------------------------------

static bool is_connected(int fd)
{
    int error = 0;
    socklen_t length = sizeof(error);
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0;
}

static int connect_one(const struct kinesis_http *http, const struct addrinfo *address)
{
    int fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                    address->ai_protocol);
    if (fd < 0)
        return -1;
    if (connect(fd, address->ai_addr, address->ai_addrlen) == 0 ||
        (errno == EINPROGRESS && wait_for(http, fd, POLLOUT) && is_connected(fd)))
        return fd;
    (void)close(fd);
    return -1;
}

static bool connect_any(struct kinesis_http *http)
{
    if (http->socket >= 0)
        return true;
    struct lookup *lookup = look_up(http);
    if (lookup == NULL)
        return false;
    for (struct addrinfo *at = lookup->addresses; http->socket < 0 && at != NULL; at = at->ai_next)
        http->socket = connect_one(http, at);
    lookup_release(lookup);
    return http->socket >= 0;
}

// ---- Posting ---------------------------------------------------------------------------------

// The signature is none: what stands in for Kinesis on a developer's machine looks at its form
// only.
static void write_head(struct buf *out, const struct kinesis_http *http, const char *operation,
                       struct slice region, size_t length)
{
    char date[20];
    time_t now = time(NULL);
    struct tm parts;
    ensure(gmtime_r(&now, &parts) != NULL);
    ensure(strftime(date, sizeof(date), "%Y%m%dT%H%M%SZ", &parts) > 0);
    buf_printf(out, "POST %s HTTP/1.1\r\nHost: %s:%s\r\n", http->path, http->host, http->port);
    buf_printf(out,
               "Content-Type: application/x-amz-json-1.1\r\nContent-Length: %zu\r\n"
               "X-Amz-Target: Kinesis_20131202.%s\r\nX-Amz-Date: %s\r\n",
               length, operation, date);
    buf_printf(out,
               "Authorization: AWS4-HMAC-SHA256 Credential=dolmen/%.8s/%.*s/kinesis/aws4_request, "
               "SignedHeaders=host;x-amz-date;x-amz-target, Signature=%064d\r\n\r\n",
               date, SLICE_FMT(region), 0);
}

static bool send_all(const struct kinesis_http *http, struct slice bytes)
{
    while (bytes.len > 0) {
        if (!wait_for(http, http->socket, POLLOUT))
            return false;
        ssize_t sent = send(http->socket, bytes.ptr, bytes.len, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes = slice_of(bytes.ptr + sent, bytes.len - (size_t)sent);
    }
    return true;
}

static bool receive_more(const struct kinesis_http *http, struct buf *answer)
{
    uint8_t *room = buf_reserve(answer, 4096);
    if (room == NULL || !wait_for(http, http->socket, POLLIN))
        return false;
    ssize_t got = recv(http->socket, room, 4096, 0);
    if (got <= 0)
        return false;
    answer->len += (size_t)got;
    return true;
}

// The length that the head of the answer announces; false if it announces none.
static bool content_length(const char *head, size_t *length)
{
    const char *line = strcasestr(head, "\r\ncontent-length:");
    char *end;
    if (line == NULL)
        return false;
    *length = (size_t)strtoull(line + 17, &end, 10);
    return *end == '\r' || *end == ' ';
}

// Reads one answer whole; false if there is none. A connection is closed if it is not known where
// the answer ends.
static bool receive_answer(struct kinesis_http *http, struct buf *answer, bool *ok)
{
    const uint8_t *end = NULL;
    while (end == NULL) {
        if (!receive_more(http, answer))
            return false;
        end = memmem(answer->ptr, answer->len, "\r\n\r\n", 4);
    }
    size_t head = (size_t)(end - answer->ptr) + 4;
    char text[8192];
    size_t length = 0;
    size_t kept = head < sizeof(text) ? head : sizeof(text) - 1;
    memcpy(text, answer->ptr, kept);
    text[kept] = 0;
    *ok = strncmp(text, "HTTP/1.", 7) == 0 && kept > 12 && strncmp(text + 8, " 200", 4) == 0;
    bool known = content_length(text, &length);
    while (known && answer->len < head + length)
        known = receive_more(http, answer);
    if (!known || strcasestr(text, "\r\nconnection: close") != NULL)
        disconnect(http);
    return true;
}

// One attempt; false if no answer came.
static bool attempt(struct kinesis_http *http, struct slice head, struct slice body, bool *ok)
{
    struct buf answer;
    buf_init(&answer, ANSWER_MAX);
    bool answered = connect_any(http) && send_all(http, head) && send_all(http, body) &&
                    receive_answer(http, &answer, ok);
    if (!answered)
        disconnect(http);
    buf_release(&answer);
    return answered;
}

bool kinesis_http_post(struct kinesis_http *http, const char *operation, struct slice region,
                       struct slice body)
{
    struct buf head;
    buf_init(&head, ANSWER_MAX);
    write_head(&head, http, operation, region, body.len);
    // A connection that was kept open may have been closed by the other side meanwhile.
    bool kept = http->socket >= 0;
    bool ok = false;
    if (!attempt(http, buf_view(&head), body, &ok) && kept)
        (void)attempt(http, buf_view(&head), body, &ok);
    buf_release(&head);
    return ok;
}
