// Between a connection and its socket: a connection receives and sends plain bytes, whatever goes
// over the wire.
//
// Without TLS this is libuv, and one system call where that will do: a send that the kernel
// takes whole never meets libuv's queue. With TLS it is wire_tls.c.
#include "http/http_internal.h"

#include <errno.h>
#include <sys/socket.h>

// ---- Reading ---------------------------------------------------------------------------------

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    (void)suggested;
    struct connection *c = handle->data;
    size_t room = connection_room(c);
    *out = uv_buf_init(NULL, 0); // which makes the read fail with UV_ENOBUFS
    if (room > 0)
        *out = uv_buf_init((char *)c->in + c->len, (unsigned)(room < READ_BITE ? room : READ_BITE));
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    (void)buffer;
    struct connection *c = stream->data;
    if (count == 0 || c->state == CONNECTION_CLOSED)
        return;
    if (count < 0)
        connection_read_failed(c, count);
    else
        connection_received(c, (size_t)count, count >= READ_BITE);
}

bool wire_read_start(struct connection *c)
{
    if (c->wire != NULL)
        return sealed_read_start(c);
    return uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_read) == 0;
}

void wire_read_stop(struct connection *c)
{
    (void)uv_read_stop((uv_stream_t *)&c->tcp);
}

// ---- Sending ---------------------------------------------------------------------------------

static void on_written(uv_write_t *write, int status)
{
    struct connection *c = write->handle->data;
    c->written(c, status);
}

// Nothing is in libuv's queue when something new is sent, so the socket may be written to directly.
int wire_try(const struct connection *c, struct slice bytes)
{
    uv_os_fd_t fd;
    int status = uv_fileno((const uv_handle_t *)&c->tcp, &fd);
    if (status != 0)
        return status;
    ssize_t sent = send(fd, bytes.ptr, bytes.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent >= 0 ? (int)sent : uv_translate_sys_error(errno);
}

enum http_piece wire_send(struct connection *c, uv_buf_t *parts, unsigned count,
                          void (*written)(struct connection *connection, int status))
{
    uv_stream_t *stream = (uv_stream_t *)&c->tcp;
    size_t total = 0;
    c->written = written;
    if (c->wire != NULL)
        return sealed_send(c, parts, count);
    for (unsigned i = 0; i < count; i++)
        total += parts[i].len;
    int taken = count == 1 ? wire_try(c, slice_of(parts->base, parts->len))
                           : uv_try_write(stream, parts, count);
    if (taken < 0 && taken != UV_EAGAIN && taken != UV_EINTR)
        return HTTP_PIECE_LOST;
    size_t sent = taken < 0 ? 0 : (size_t)taken;
    c->moved += sent;
    if (sent == total)
        return HTTP_PIECE_TAKEN;
    c->left = total - sent;
    unsigned first = 0;
    while (sent >= parts[first].len)
        sent -= parts[first++].len;
    parts[first].base += sent;
    parts[first].len -= sent;
    bool waits = uv_write(&c->write, stream, parts + first, count - first, on_written) == 0;
    return waits ? HTTP_PIECE_WAITS : HTTP_PIECE_LOST;
}

void wire_say(struct connection *c, struct slice line)
{
    uv_buf_t part = uv_buf_init((char *)(uintptr_t)line.ptr, (unsigned)line.len);
    if (c->wire != NULL)
        sealed_say(c, line);
    else
        (void)uv_try_write((uv_stream_t *)&c->tcp, &part, 1);
}

size_t wire_left(const struct connection *c)
{
    size_t left = uv_stream_get_write_queue_size((const uv_stream_t *)&c->tcp);
    return c->wire == NULL ? left : left + c->wire->plain_left + c->wire->next.len;
}

// ---- Life ------------------------------------------------------------------------------------

bool wire_open(struct connection *c)
{
    return c->loop->server->options.tls == NULL || sealed_open(c);
}

// libuv calls it without asking whether there is one.
static void on_shut(uv_shutdown_t *request, int status)
{
    (void)request;
    (void)status;
}

bool wire_shut(struct connection *c)
{
    if (c->wire != NULL)
        sealed_end(c);
    return uv_shutdown(&c->shut, (uv_stream_t *)&c->tcp, on_shut) == 0;
}

void wire_end(struct connection *c)
{
    if (c->wire != NULL && !c->broken)
        sealed_end(c);
}

void wire_rest(struct connection *c)
{
    if (c->wire != NULL)
        sealed_rest(c);
}

void wire_free(struct connection *c)
{
    if (c->wire != NULL)
        sealed_free(c);
}

bool http_exchange_secure(const struct http_exchange *exchange)
{
    return ((const struct connection *)exchange)->wire != NULL;
}

const struct http_certificate *http_exchange_certificate(const struct http_exchange *exchange)
{
    const struct connection *c = (const struct connection *)exchange;
    return c->wire == NULL ? NULL : c->wire->certificate;
}
