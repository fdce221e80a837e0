// See client.h. The server is asked to close the connection, so the end of the answer is the
// end of the bytes; a chunked answer (another server's) is decoded in place.
#include "client/client.h"

#include "base/limits.h"
#include "http/chunked.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { TIMEOUT_S = 60 };

bool client_address_parse(const char *url, struct client_address *out)
{
    if (strncasecmp(url, "http://", 7) != 0)
        return false;
    const char *host = url + 7;
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
    (void)snprintf(out->port, sizeof(out->port), "%.*s", port_len > 0 ? port_len : 2,
                   port_len > 0 ? colon + 1 : "80");
    return true;
}

static void wait_at_most(int fd, unsigned seconds)
{
    struct timeval limit = {.tv_sec = seconds};
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

int client_connect(const struct client_address *address, char *error, size_t error_size)
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
    else
        wait_at_most(fd, TIMEOUT_S);
    return fd;
}

// Any credentials will do, but the form of a signature must be there.
static void head_make(struct buf *head, const struct client_address *address,
                      const struct client_request *request)
{
    char when[32];
    struct tm utc;
    time_t now = time(NULL);
    (void)gmtime_r(&now, &utc);
    (void)strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &utc);
    bool bracket = strchr(address->host, ':') != NULL;
    buf_printf(head,
               "POST / HTTP/1.1\r\n"
               "Host: %s%s%s:%s\r\n"
               "Connection: close\r\n"
               "Content-Type: application/x-amz-json-1.0\r\n"
               "Content-Length: %zu\r\n"
               "X-Amz-Target: %s_20120810.%s\r\n"
               "X-Amz-Date: %s\r\n"
               "Authorization: AWS4-HMAC-SHA256 Credential=dolmen/%.8s/%s/dynamodb/aws4_request, "
               "SignedHeaders=host;x-amz-date;x-amz-target, Signature=%064d\r\n"
               "\r\n",
               bracket ? "[" : "", address->host, bracket ? "]" : "", address->port,
               request->body.len, request->of_streams ? "DynamoDBStreams" : "DynamoDB",
               request->operation, when, when, request->region, 0);
}

static bool send_all(int fd, struct slice bytes)
{
    while (bytes.len > 0) {
        ssize_t sent = send(fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes = slice_of(bytes.ptr + sent, bytes.len - (size_t)sent);
    }
    return true;
}

static bool receive_all(int fd, struct buf *raw)
{
    for (;;) {
        uint8_t *room = buf_reserve(raw, 64 << 10);
        ssize_t got = room == NULL ? -1 : recv(fd, room, 64 << 10, 0);
        if (got < 0 && room != NULL && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        raw->len += (size_t)got;
    }
}

static bool head_has(struct slice head, const char *line)
{
    for (size_t i = 0, len = strlen(line); i + len <= head.len; i++) {
        if (strncasecmp((const char *)head.ptr + i, line, len) == 0)
            return true;
    }
    return false;
}

// The status, with the body appended to `response`; 0 if this is no HTTP answer.
static int answer_parse(struct buf *raw, struct buf *response)
{
    uint8_t *end = raw->len == 0 ? NULL : memmem(raw->ptr, raw->len, "\r\n\r\n", 4);
    if (end == NULL || raw->len < 12 || memcmp(raw->ptr, "HTTP/1.", 7) != 0)
        return 0;
    struct slice head = slice_of(raw->ptr, (size_t)(end - raw->ptr));
    uint8_t *body = end + 4;
    size_t len = raw->len - head.len - 4;
    if (head_has(head, "\r\ntransfer-encoding: chunked")) {
        struct http_chunked chunks = {0};
        struct http_problem problem;
        size_t consumed;
        if (http_chunked_decode(&chunks, UINT32_MAX, body, len, body, &consumed, &len, &problem) !=
            HTTP_DONE)
            return 0;
    }
    buf_add(response, body, len);
    return (raw->ptr[9] - '0') * 100 + (raw->ptr[10] - '0') * 10 + (raw->ptr[11] - '0');
}

int client_call(const char *url, const struct client_request *request, struct buf *response,
                char *error, size_t error_size)
{
    struct client_address address;
    if (!client_address_parse(url, &address)) {
        (void)snprintf(error, error_size, "'%s' is not a URL of the form http://host:port", url);
        return 0;
    }
    int fd = client_connect(&address, error, error_size);
    if (fd < 0)
        return 0;
    if (request->patience_s > 0)
        wait_at_most(fd, request->patience_s);
    struct buf head;
    struct buf raw;
    buf_init(&head, 64 << 10);
    buf_init(&raw, 2 * (size_t)LIMIT_RESPONSE);
    head_make(&head, &address, request);
    int status = 0;
    // A server may answer before it has taken all: what it says is worth more than that.
    bool sent = !head.failed && send_all(fd, buf_view(&head)) && send_all(fd, request->body);
    if (receive_all(fd, &raw))
        status = answer_parse(&raw, response);
    if (status == 0)
        (void)snprintf(error, error_size, "%s:%s %s", address.host, address.port,
                       sent ? "gave no HTTP answer" : "did not take the request");
    (void)close(fd);
    buf_release(&head);
    buf_release(&raw);
    return status;
}
