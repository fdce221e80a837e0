// See client.h. The server is asked to close the connection, so the end of the answer is the
// end of the bytes; a chunked answer (another server's) is decoded in place.
#include "client/client.h"

#include "base/limits.h"
#include "http/chunked.h"

#include <errno.h>
#include <stdio.h>
#include <strings.h>

static void head_make(struct buf *head, const struct client_address *address,
                      const struct client_request *request, bool certified)
{
    char operation[128];
    bool page = request->path != NULL;
    (void)snprintf(operation, sizeof(operation), "%s_20120810.%s",
                   request->of_streams ? "DynamoDBStreams" : "DynamoDB",
                   page ? "" : request->operation);
    const struct client_signature signature = {.keys = request->keys,
                                               .certified = certified,
                                               .region = request->region,
                                               .method = page ? request->method : "POST",
                                               .path = page ? request->path : "/",
                                               .operation = page ? NULL : operation,
                                               .body = request->body};
    client_head_begin(head, address, &signature);
    buf_printf(head,
               "Connection: close\r\n"
               "Content-Type: application/x-amz-json-1.0\r\n"
               "Content-Length: %zu\r\n",
               request->body.len);
    client_head_sign(head, address, &signature);
    buf_text(head, "\r\n");
}

static bool receive_all(struct client_link *link, struct buf *raw)
{
    for (;;) {
        uint8_t *room = buf_reserve(raw, 64 << 10);
        ssize_t got = room == NULL ? -1 : client_link_receive(link, room, 64 << 10);
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
        (void)snprintf(error, error_size,
                       "'%s' is not a URL of the form http://host:port or https://host:port", url);
        return 0;
    }
    struct client_link link;
    if (!client_link_open(&link, &address, request->trust, error, error_size))
        return 0;
    if (request->patience_s > 0)
        client_link_patience(&link, request->patience_s);
    struct buf head;
    struct buf raw;
    buf_init(&head, 64 << 10);
    buf_init(&raw, 2 * (size_t)LIMIT_RESPONSE);
    head_make(&head, &address, request, client_link_certified(&link));
    int status = 0;
    // A server may answer before it has taken all: what it says is worth more than that.
    bool sent = !head.failed && client_link_send_all(&link, buf_view(&head)) &&
                client_link_send_all(&link, request->body);
    if (receive_all(&link, &raw))
        status = answer_parse(&raw, response);
    if (status == 0)
        (void)snprintf(error, error_size, "%s:%s %s", address.host, address.port,
                       sent ? "gave no HTTP answer" : "did not take the request");
    client_link_close(&link);
    buf_release(&head);
    buf_release(&raw);
    return status;
}
