// See bench_http.h. Requests carry the headers that an SDK sends, with a signature that is well
// formed and made up if there are no keys. Of an answer only the status and the end are looked for.
#include "bench/bench_http.h"

#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>

enum { READ_SIZE = 64 << 10 };

void bench_connection_init(struct bench_connection *connection)
{
    *connection = (struct bench_connection){.link = {.fd = -1}};
    buf_init(&connection->out, 2 * (size_t)LIMIT_BODY);
    buf_init(&connection->in, 2 * (size_t)LIMIT_RESPONSE);
}

void bench_connection_release(struct bench_connection *connection)
{
    bench_connection_close(connection);
    buf_release(&connection->out);
    buf_release(&connection->in);
}

bool bench_connection_open(struct bench_connection *connection,
                           const struct client_address *address, const struct client_trust *trust,
                           char *error, size_t error_size)
{
    int one = 1;
    if (!client_link_open(&connection->link, address, trust, error, error_size))
        return false;
    (void)setsockopt(connection->link.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    (void)fcntl(connection->link.fd, F_SETFL, O_NONBLOCK);
    return true;
}

void bench_connection_close(struct bench_connection *connection)
{
    client_link_close(&connection->link);
}

// The same for all, so that the load costs as little as it can here.
static void head_pretend(struct buf *out, const char *operation)
{
    buf_text(out, "X-Amz-Target: ");
    buf_text(out, operation);
    buf_text(out, "\r\nX-Amz-Date: 20260101T000000Z\r\n"
                  "X-Amz-Content-Sha256: " SIGN_EMPTY_HASH "\r\n"
                  "Authorization: AWS4-HMAC-SHA256 "
                  "Credential=BENCH/20260101/us-east-1/dynamodb/aws4_request, "
                  "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-target, "
                  "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7\r\n");
}

void bench_connection_frame(struct bench_connection *connection,
                            const struct client_address *address, const struct sign_keys *keys,
                            struct sign_cache *cache, struct slice body)
{
    struct buf *out = &connection->out;
    buf_clear(out);
    buf_clear(&connection->in);
    connection->sent = 0;
    connection->head = 0;
    connection->body = 0;
    connection->status = 0;
    connection->closing = false;
    char operation[128];
    (void)snprintf(operation, sizeof(operation), "DynamoDB_20120810.%s",
                   connection->request.operation);
    const struct client_signature signature = {.keys = keys,
                                               .certified =
                                                   client_link_certified(&connection->link),
                                               .region = "us-east-1",
                                               .method = "POST",
                                               .path = "/",
                                               .operation = operation,
                                               .body = body,
                                               .cache = cache};
    client_head_begin(out, address, &signature);
    buf_text(out, "Content-Type: application/x-amz-json-1.0\r\n"
                  "X-Amz-User-Agent: aws-sdk-js/3.1000.0\r\n"
                  "User-Agent: aws-sdk-js/3.1000.0 ua/2.1 os/linux lang/js md/nodejs#20 "
                  "api/dynamodb#3.1000.0\r\n"
                  "Amz-Sdk-Invocation-Id: 1c1e1ad0-3f4b-4a59-9f0d-6b1c7d6a2a10\r\n"
                  "Amz-Sdk-Request: attempt=1; max=3\r\n");
    if (keys != NULL || signature.certified)
        client_head_sign(out, address, &signature);
    else
        head_pretend(out, operation);
    buf_text(out, "Connection: keep-alive\r\n"
                  "Content-Length: ");
    buf_u64(out, body.len);
    buf_text(out, "\r\n\r\n");
    buf_slice(out, body);
}

enum bench_progress bench_connection_write(struct bench_connection *connection)
{
    const struct buf *out = &connection->out;
    while (connection->sent < out->len) {
        ssize_t sent = client_link_send(
            &connection->link, slice_of(out->ptr + connection->sent, out->len - connection->sent));
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return errno == EAGAIN ? BENCH_WAIT : BENCH_BROKEN;
        connection->sent += (size_t)sent;
    }
    return BENCH_ANSWER;
}

// ---- Answers -------------------------------------------------------------------------------

static bool line_is(const char *line, const char *end, const char *name)
{
    size_t len = strlen(name);
    return (size_t)(end - line) >= len && strncasecmp(line, name, len) == 0;
}

// The head is followed by an empty line, so numbers in it end.
static bool head_parse(struct bench_connection *connection, const char *text, size_t len)
{
    const char *end = text + len;
    if (len < 12 || memcmp(text, "HTTP/1.", 7) != 0)
        return false;
    connection->status = (int)strtol(text + 9, NULL, 10);
    const char *line = memchr(text, '\n', len);
    while (line != NULL && ++line < end) {
        if (line_is(line, end, "Content-Length:"))
            connection->body = strtoull(line + 15, NULL, 10);
        else if (line_is(line, end, "Transfer-Encoding: chunked"))
            connection->body = SIZE_MAX;
        else if (line_is(line, end, "Connection: close"))
            connection->closing = true;
        line = memchr(line, '\n', (size_t)(end - line));
    }
    connection->head = len;
    return true;
}

// JSON has no line ends within, so in a chunked body the last chunk is the only place where
// these bytes can stand.
static bool chunks_ended(struct slice body)
{
    return body.len >= 5 && memcmp(body.ptr + body.len - 5, "0\r\n\r\n", 5) == 0 &&
           (body.len == 5 || body.ptr[body.len - 6] == '\n');
}

static enum bench_progress answer_look(struct bench_connection *connection)
{
    const struct buf *in = &connection->in;
    if (connection->head == 0) {
        const uint8_t *end = memmem(in->ptr, in->len, "\r\n\r\n", 4);
        if (end == NULL)
            return BENCH_WAIT;
        if (!head_parse(connection, (const char *)in->ptr, (size_t)(end - in->ptr) + 4))
            return BENCH_BROKEN;
    }
    struct slice body = bench_connection_body(connection);
    bool whole = connection->body == SIZE_MAX ? chunks_ended(body) : body.len >= connection->body;
    return whole ? BENCH_ANSWER : BENCH_WAIT;
}

enum bench_progress bench_connection_read(struct bench_connection *connection)
{
    struct buf *in = &connection->in;
    do {
        uint8_t *room = buf_reserve(in, READ_SIZE);
        if (room == NULL)
            return BENCH_BROKEN;
        ssize_t got = client_link_receive(&connection->link, room, READ_SIZE);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            break; // part of a record may be pending, too
        if (got <= 0)
            return BENCH_BROKEN;
        in->len += (size_t)got;
    } while (client_link_pending(&connection->link));
    return in->len == 0 ? BENCH_WAIT : answer_look(connection);
}

struct slice bench_connection_body(const struct bench_connection *connection)
{
    return slice_of(connection->in.ptr + connection->head, connection->in.len - connection->head);
}
