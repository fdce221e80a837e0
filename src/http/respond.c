// One answer: its head is made in a buffer of the connection, and goes out together with
// the body in a single system call: a short body is copied behind the head, since one
// piece is cheaper for the kernel than two.
#include "http/http_internal.h"

#include "base/encode.h"

enum { COPIED_BODY = 4 << 10, COMPRESS_SLICE = 512 << 10 };

#define ADD(buf, literal) buf_add((buf), (literal), sizeof(literal) - 1)

// The whole line, or an empty slice for a status that has no phrase here.
static struct slice status_line(int status)
{
#define LINE(code, phrase)                                                                         \
    case code:                                                                                     \
        return SLICE_LIT("HTTP/1.1 " #code " " phrase "\r\n")
    switch (status) {
        LINE(200, "OK");
        LINE(201, "Created");
        LINE(204, "No Content");
        LINE(206, "Partial Content");
        LINE(304, "Not Modified");
        LINE(400, "Bad Request");
        LINE(403, "Forbidden");
        LINE(404, "Not Found");
        LINE(405, "Method Not Allowed");
        LINE(408, "Request Timeout");
        LINE(409, "Conflict");
        LINE(412, "Precondition Failed");
        LINE(413, "Content Too Large");
        LINE(414, "URI Too Long");
        LINE(415, "Unsupported Media Type");
        LINE(416, "Range Not Satisfiable");
        LINE(417, "Expectation Failed");
        LINE(429, "Too Many Requests");
        LINE(431, "Request Header Fields Too Large");
        LINE(500, "Internal Server Error");
        LINE(501, "Not Implemented");
        LINE(503, "Service Unavailable");
        LINE(505, "HTTP Version Not Supported");
        LINE(507, "Insufficient Storage");
    default:
        return (struct slice){NULL, 0};
    }
#undef LINE
}

static void add_status_line(struct buf *head, int status)
{
    struct slice line = status_line(status);
    if (line.len > 0) {
        buf_slice(head, line);
        return;
    }
    ADD(head, "HTTP/1.1 ");
    buf_u64(head, (uint64_t)status);
    ADD(head, " \r\n");
}

void respond_head_begin(struct connection *c, int status, struct slice content_type)
{
    struct buf *head = &c->head;
    buf_clear(head);
    add_status_line(head, status);
    buf_slice(head, loop_headers(c->loop));
    if (content_type.len > 0 && !respond_is_bodiless(status)) {
        ADD(head, "Content-Type: ");
        buf_slice(head, content_type);
        ADD(head, "\r\n");
    }
}

void respond_head_connection(struct connection *c)
{
    if (c->close_after)
        ADD(&c->head, "Connection: close\r\n");
    else
        ADD(&c->head, "Connection: keep-alive\r\n");
}

static void head_make(struct connection *c, const struct http_response *response, struct slice body,
                      bool compressed)
{
    struct buf *head = &c->head;
    respond_head_begin(c, response->status, response->content_type);
    if (!respond_is_bodiless(response->status)) {
        ADD(head, "Content-Length: ");
        buf_u64(head, body.len);
        ADD(head, "\r\n");
    }
    respond_head_connection(c);
    if (compressed)
        buf_text(head, c->exchange.request.accepts == HTTP_GZIP ? "Content-Encoding: gzip\r\n"
                                                                : "Content-Encoding: deflate\r\n");
    buf_slice(head, response->headers);
    if (response->checksum.len > 0) {
        buf_slice(head, response->checksum);
        buf_u64(head, c->crc);
        ADD(head, "\r\n\r\n");
    } else {
        ADD(head, "\r\n");
    }
}

static bool wants_compressed(const struct connection *c, const struct http_response *response)
{
    struct slice body = response->body;
    return !response->plain && c->exchange.request.accepts != HTTP_IDENTITY &&
           body.len >= HTTP_COMPRESS_MIN;
}

static void on_written(struct connection *c, int status)
{
    if (c->state != CONNECTION_WRITING)
        return; // closed meanwhile
    c->broken = c->broken || status != 0;
    connection_answered(c);
}

static void send_all(struct connection *c, struct slice head, struct slice body)
{
    uv_buf_t parts[2] = {
        uv_buf_init((char *)(uintptr_t)head.ptr, (unsigned)head.len),
        uv_buf_init((char *)(uintptr_t)body.ptr, (unsigned)body.len),
    };
    switch (wire_send(c, parts, body.len > 0 ? 2 : 1, on_written)) {
    case HTTP_PIECE_WAITS:
        connection_enter(c, CONNECTION_WRITING);
        return;
    case HTTP_PIECE_LOST:
        c->broken = true;
        break;
    case HTTP_PIECE_TAKEN:
        break;
    }
    connection_answered(c);
}

// Sends the answer; `body` is what is to be sent of it, compressed or not.
static void respond_with(struct connection *c, const struct http_response *response,
                         struct slice body)
{
    bool compressed = body.ptr != response->body.ptr;
    head_make(c, response, body, compressed);
    if (c->head.failed || c->broken) {
        c->broken = true;
        connection_answered(c);
        return;
    }
    // The answer to HEAD is a head: it describes the body that GET would have.
    if (slice_is(c->exchange.request.method, "HEAD"))
        body.len = 0;
    if (body.len <= COPIED_BODY && buf_reserve(&c->head, body.len) != NULL) {
        buf_slice(&c->head, body);
        body.len = 0;
    }
    send_all(c, buf_view(&c->head), body);
}

// What is sent: the compressed body, if there is one and it helps.
static struct slice body_choose(const struct connection *c, struct slice body)
{
    bool smaller = c->compressed.len > 0 && c->compressed.len < body.len;
    return smaller ? buf_view(&c->compressed) : body;
}

// ---- Large answers, in the pool --------------------------------------------------------------

static bool body_work(struct pool_task *task)
{
    struct connection *c = connection_of_task(task);
    struct slice body = c->response.body;
    if (wants_compressed(c, &c->response) && c->gzip == NULL)
        c->gzip = http_gzip_new();
    if (c->gzip != NULL &&
        http_gzip_deflate_some(c->gzip, c->exchange.request.accepts, body, &c->compressed_from,
                               COMPRESS_SLICE, &c->compressed) == HTTP_DEFLATE_MORE)
        return false;
    http_gzip_free(c->gzip);
    c->gzip = NULL;
    c->crc = crc32_of(body_choose(c, body));
    http_exchange_resume(&c->exchange);
    return true;
}

static void body_worked(struct connection *c)
{
    respond_with(c, &c->response, body_choose(c, c->response.body));
}

static bool respond_later(struct connection *c, const struct http_response *response)
{
    bool nothing = response->plain && response->checksum.len == 0;
    if (response->body.len <= INLINE_BODY || nothing)
        return false;
    c->response = *response;
    c->compressed_from = 0;
    return connection_work(c, body_work, body_worked);
}

enum { TEXT_MAX = 4 << 10 };

void http_header_text(struct buf *headers, const char *name, struct slice text)
{
    if (text.len == 0)
        return;
    buf_text(headers, name);
    buf_text(headers, ": ");
    for (size_t i = 0; i < text.len && i < TEXT_MAX; i++) {
        uint8_t byte = text.ptr[i];
        if (byte == '\n')
            buf_text(headers, " | ");
        else
            buf_byte(headers, byte < ' ' || byte == 0x7f ? '?' : byte);
    }
    buf_text(headers, "\r\n");
}

void http_respond(struct http_exchange *exchange, const struct http_response *response)
{
    struct connection *c = (struct connection *)exchange;
    ensure(c->state == CONNECTION_HANDLING);
    c->handled = false;
    if (exchange->taker != NULL)
        taken_answer(c);
    c->close_after = c->close_after || !exchange->request.keep_alive || c->loop->stopping;
    if (c->broken) {
        connection_answered(c);
        return;
    }
    if (respond_later(c, response))
        return;
    struct slice body = response->body;
    if (wants_compressed(c, response) &&
        http_gzip_deflate(c->loop->gzip, c->exchange.request.accepts, body, &c->compressed))
        body = body_choose(c, body);
    if (response->checksum.len > 0)
        c->crc = crc32_of(body);
    respond_with(c, response, body);
}

void connection_send_continue(struct connection *c)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    // The last answer has been sent whole, so there is room for this line; a client for whom
    // there is none will send its body after waiting a little, as the standard asks it to.
    wire_say(c, slice_of(text, sizeof(text) - 1));
}
