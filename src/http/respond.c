// One answer: its head is made in a buffer of the connection, and goes out together with
// the body in a single system call. Only if the kernel does not take all of it is
// libuv asked to send the rest.
#include "http/http_internal.h"

#include "http/checksum.h"

#include <stdlib.h>

static const char *reason_phrase(int status)
{
    switch (status) {
    case 200:
        return "200 OK";
    case 204:
        return "204 No Content";
    case 400:
        return "400 Bad Request";
    case 404:
        return "404 Not Found";
    case 405:
        return "405 Method Not Allowed";
    case 408:
        return "408 Request Timeout";
    case 413:
        return "413 Content Too Large";
    case 414:
        return "414 URI Too Long";
    case 415:
        return "415 Unsupported Media Type";
    case 417:
        return "417 Expectation Failed";
    case 431:
        return "431 Request Header Fields Too Large";
    case 500:
        return "500 Internal Server Error";
    case 501:
        return "501 Not Implemented";
    case 503:
        return "503 Service Unavailable";
    case 505:
        return "505 HTTP Version Not Supported";
    default:
        return NULL;
    }
}

static void add_status_line(struct buf *head, int status)
{
    const char *phrase = reason_phrase(status);
    buf_text(head, "HTTP/1.1 ");
    if (phrase != NULL) {
        buf_text(head, phrase);
    } else {
        buf_u64(head, (uint64_t)status);
        buf_byte(head, ' ');
    }
    buf_text(head, "\r\n");
}

static void head_make(struct connection *c, const struct http_response *response, struct slice body,
                      bool compressed)
{
    struct buf *head = &c->head;
    const char *name = c->loop->server->options.server_name;
    buf_clear(head);
    add_status_line(head, response->status);
    if (name != NULL) {
        buf_text(head, "Server: ");
        buf_text(head, name);
        buf_text(head, "\r\n");
    }
    buf_slice(head, loop_date(c->loop));
    if (response->content_type.len > 0) {
        buf_text(head, "Content-Type: ");
        buf_slice(head, response->content_type);
        buf_text(head, "\r\n");
    }
    buf_text(head, "Content-Length: ");
    buf_u64(head, body.len);
    buf_text(head, c->close_after ? "\r\nConnection: close\r\n" : "\r\nConnection: keep-alive\r\n");
    if (compressed)
        buf_text(head, "Content-Encoding: gzip\r\n");
    if (response->checksum != NULL) {
        buf_text(head, response->checksum);
        buf_text(head, ": ");
        buf_u64(head, http_checksum(body));
        buf_text(head, "\r\n");
    }
    buf_slice(head, response->headers);
    buf_text(head, "\r\n");
}

// The body as it will be sent; compressed if the client likes it and it helps.
static struct slice body_make(struct connection *c, struct slice body, bool *compressed)
{
    *compressed = c->exchange.request.accepts_gzip && body.len >= HTTP_COMPRESS_MIN &&
                  http_gzip_deflate(c->loop->gzip, body, &c->compressed) &&
                  c->compressed.len < body.len;
    return *compressed ? buf_view(&c->compressed) : body;
}

static void on_written(uv_write_t *write, int status)
{
    struct connection *c = write->handle->data;
    if (c->state != CONNECTION_WRITING)
        return; // closed meanwhile
    c->broken = c->broken || status != 0;
    connection_answered(c);
}

static void send_all(struct connection *c, struct slice head, struct slice body)
{
    uv_stream_t *stream = (uv_stream_t *)&c->tcp;
    uv_buf_t parts[2] = {
        uv_buf_init((char *)(uintptr_t)head.ptr, (unsigned)head.len),
        uv_buf_init((char *)(uintptr_t)body.ptr, (unsigned)body.len),
    };
    unsigned count = body.len > 0 ? 2 : 1;
    int taken = uv_try_write(stream, parts, count);
    if (taken < 0 && taken != UV_EAGAIN) {
        c->broken = true;
        connection_answered(c);
        return;
    }
    size_t sent = taken < 0 ? 0 : (size_t)taken;
    if (sent == head.len + body.len) {
        connection_answered(c);
        return;
    }
    size_t of_head = sent < head.len ? sent : head.len;
    parts[0].base += of_head;
    parts[0].len -= of_head;
    parts[1].base += sent - of_head;
    parts[1].len -= sent - of_head;
    unsigned first = parts[0].len == 0 ? 1 : 0;
    connection_enter(c, CONNECTION_WRITING);
    c->moved = head.len + body.len - sent;
    if (uv_write(&c->write, stream, parts + first, count - first, on_written) != 0) {
        c->broken = true;
        connection_answered(c);
    }
}

void http_respond(struct http_exchange *exchange, const struct http_response *response)
{
    struct connection *c = (struct connection *)exchange;
    ensure(c->state == CONNECTION_HANDLING);
    c->close_after = c->close_after || !exchange->request.keep_alive || c->loop->stopping;
    if (c->broken) {
        connection_answered(c);
        return;
    }
    bool compressed;
    struct slice body = body_make(c, response->body, &compressed);
    head_make(c, response, body, compressed);
    if (c->head.failed) {
        c->broken = true;
        connection_answered(c);
        return;
    }
    // The answer to HEAD is a head: it describes the body that GET would have.
    if (slice_is(exchange->request.method, "HEAD"))
        body = (struct slice){NULL, 0};
    send_all(c, buf_view(&c->head), body);
}

void connection_send_continue(struct connection *c)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    uv_buf_t part = uv_buf_init((char *)(uintptr_t)text, sizeof(text) - 1);
    // The last answer has been sent whole, so there is room for this line; a client for whom
    // there is none will send its body after waiting a little, as the standard asks it to.
    (void)uv_try_write((uv_stream_t *)&c->tcp, &part, 1);
}
