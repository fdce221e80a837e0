// One answer in pieces. See http.h for the contract.
//
// The idea: the connection has no queue. One piece is on its way at a time, borrowed from the
// handler, and the handler is told when it may bring the next; so whoever has the bytes decides how
// many may wait. Framing (the head, the sizes of chunks) is made in the connection's `head`; a
// small piece is copied behind it, since one part is cheaper for the kernel than three.
//
// A file is sent by the kernel itself (sendfile) if its bytes are in memory. Whether they are is
// asked first (preadv2 with RWF_NOWAIT, a byte here and there); if not, a task of the pool
// reads them, throws them away, and the loop then finds them. When the socket is full, a
// buffer of the file is given to libuv, which knows how to wait for a socket. Where TLS is
// used all of the file goes that way, since the kernel cannot seal it.
//
// Invariants: in CONNECTION_STREAMING the connection is closed only behind http_stream_end or
// http_stream_abort (`ending`), and never while the pool has its task.
#include "http/http_internal.h"

#include <errno.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    COPIED_PIECE = 4 << 10,
    FILE_BITE = 1 << 20,     // bytes of a file in a turn of the loop
    FILE_SEALED = 256 << 10, // the same with TLS
    FILE_WARM = 1 << 20,     // bytes that the pool reads ahead
    FILE_PROBE = 32 << 10,   // a byte of so many is asked for; the system reads ahead in more
    FILE_BUFFER = 64 << 10,  // read at once, ahead of the loop
    FILE_REST = 8 << 10,     // for libuv, when the socket is full: copied, so it is little
};

static void piece_done(struct connection *c);
static void file_go_on(struct connection *c);

// ---- Ending ----------------------------------------------------------------------------------

// The handler has ended it and the pool has nothing of it: the answer is over.
static void stream_finish(struct connection *c)
{
    if (c->worked != NULL)
        return; // file_warmed comes, and asks again
    if (c->queued)
        loop_unqueue(c);
    c->handled = false;
    c->left = 0;
    c->stream.waiting = c->stream.filing = false;
    connection_answered(c);
}

void stream_lose(struct connection *c)
{
    c->broken = true;
    if (c->stream.ending)
        stream_finish(c);
    else
        connection_client_gone(c);
}

void stream_stop(struct connection *c, bool force)
{
    if (c->stream.ending && force)
        stream_lose(c);
    else if (!c->stream.ending && (c->stream.live || force)) {
        c->close_after = true;
        connection_client_gone(c);
    }
}

// ---- Time ------------------------------------------------------------------------------------

static void wait_begin(struct connection *c)
{
    c->stream.waiting = true;
    c->stream.waits_since = c->progress = uv_now(&c->loop->uv);
}

static void wait_end(struct connection *c)
{
    uint64_t now = uv_now(&c->loop->uv);
    c->stream.waiting = false;
    c->stream.waited += now - c->stream.waits_since;
    c->moved += c->left;
    c->left = 0;
    c->progress = now;
}

static bool stream_is_slow(const struct connection *c, uint64_t now)
{
    const struct http_options *options = &c->loop->server->options;
    uint64_t stall = options->request_ms < HTTP_STALL_MS ? options->request_ms : HTTP_STALL_MS;
    uint64_t waited = c->stream.waited + (now - c->stream.waits_since);
    return now - c->progress > stall ||
           (!c->stream.live && waited > options->request_ms + c->moved / PACE);
}

void stream_tick(struct connection *c, uint64_t now)
{
    if (c->ended && !c->stream.told && !c->stream.ending) {
        connection_client_gone(c); // it had closed its side before the stream began
        return;
    }
    // While the pool reads a file it is not the client who is slow.
    bool client_waits = c->stream.waiting && c->left > 0;
    if (!client_waits || c->broken || c->loop->cuts == 0 || !stream_is_slow(c, now))
        return;
    c->loop->cuts--;
    stream_lose(c);
}

// ---- Writing ---------------------------------------------------------------------------------

static void on_stream_written(struct connection *c, int status)
{
    if (c->state != CONNECTION_STREAMING)
        return; // closed meanwhile
    if (status != 0) {
        stream_lose(c);
        return;
    }
    wait_end(c);
    if (c->stream.filing)
        file_go_on(c);
    else
        piece_done(c);
}

// Gives the parts to the kernel, as many as it takes, and the rest to libuv.
static enum http_piece parts_send(struct connection *c, uv_buf_t *parts, unsigned count)
{
    enum http_piece result = wire_send(c, parts, count, on_stream_written);
    if (result == HTTP_PIECE_WAITS)
        wait_begin(c);
    c->broken = c->broken || result == HTTP_PIECE_LOST;
    return result;
}

// The framing that a piece of `total` bytes begins with is now in c->head, behind the answer's head
// if that has not been sent.
static bool framing_begin(struct connection *c, uint64_t total)
{
    struct buf *head = &c->head;
    if (c->stream.headed)
        buf_clear(head);
    c->stream.headed = true;
    if (c->stream.chunked && total > 0)
        buf_printf(head, "%llx\r\n", (unsigned long long)total);
    return !head->failed;
}

static enum http_piece head_send(struct connection *c)
{
    uv_buf_t part = uv_buf_init((char *)c->head.ptr, (unsigned)c->head.len);
    return part.len == 0 ? HTTP_PIECE_TAKEN : parts_send(c, &part, 1);
}

static enum http_piece small_send(struct connection *c, const struct slice *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_slice(&c->head, parts[i]);
    if (c->stream.chunked)
        buf_text(&c->head, "\r\n");
    if (!c->head.failed)
        return head_send(c);
    c->broken = true;
    return HTTP_PIECE_LOST;
}

static enum http_piece large_send(struct connection *c, const struct slice *parts, size_t count)
{
    static const char line_end[] = "\r\n";
    uv_buf_t bufs[HTTP_PIECE_PARTS + 2];
    unsigned used = 0;
    if (c->head.len > 0)
        bufs[used++] = uv_buf_init((char *)c->head.ptr, (unsigned)c->head.len);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].len > 0)
            bufs[used++] = uv_buf_init((char *)(uintptr_t)parts[i].ptr, (unsigned)parts[i].len);
    }
    if (c->stream.chunked)
        bufs[used++] = uv_buf_init((char *)(uintptr_t)line_end, 2);
    return parts_send(c, bufs, used);
}

// What every piece begins with. False: *out says why there is nothing to send.
static bool piece_begin(struct connection *c, uint64_t total, enum http_piece *out)
{
    ensure(c->state == CONNECTION_STREAMING && !c->stream.ending && !c->stream.waiting);
    ensure(!c->stream.filing);
    if (c->stream.sized) {
        ensure(total <= c->stream.length_left);
        c->stream.length_left -= total;
    }
    *out = c->broken ? HTTP_PIECE_LOST : HTTP_PIECE_TAKEN;
    if (c->broken || total == 0 || c->stream.bodiless)
        return false;
    if (framing_begin(c, total))
        return true;
    c->broken = true;
    *out = HTTP_PIECE_LOST;
    return false;
}

enum http_piece http_stream_write(struct http_exchange *exchange, const struct slice *parts,
                                  size_t count)
{
    struct connection *c = (struct connection *)exchange;
    uint64_t total = 0;
    enum http_piece result;
    ensure(count <= HTTP_PIECE_PARTS);
    for (size_t i = 0; i < count; i++)
        total += parts[i].len;
    if (!piece_begin(c, total, &result))
        return result;
    return total <= COPIED_PIECE ? small_send(c, parts, count) : large_send(c, parts, count);
}

// ---- Files -----------------------------------------------------------------------------------

enum file_step { FILE_SENT, FILE_WAITS, FILE_COLD, FILE_TURN, FILE_LOST };

static ssize_t file_read(int fd, uint8_t *to, size_t len, uint64_t at, int flags)
{
    struct iovec part = {.iov_base = to, .iov_len = len};
    ssize_t got;
    do {
        got = preadv2(fd, &part, 1, (off_t)at, flags);
    } while (got < 0 && errno == EINTR);
    return got;
}

// Whether the bytes are in memory, as far as one can tell without waiting for a disk.
static bool file_is_warm(struct http_stream *stream, size_t len)
{
    uint64_t end = stream->file_at + len;
    uint8_t byte;
    if (end <= stream->file_warm)
        return true;
    for (uint64_t at = stream->file_at; at < end; at += FILE_PROBE) {
        if (file_read(stream->fd, &byte, 1, at, RWF_NOWAIT) != 1)
            return false;
    }
    if (file_read(stream->fd, &byte, 1, end - 1, RWF_NOWAIT) != 1)
        return false;
    stream->file_warm = end;
    return true;
}

// Reads ahead of the loop; the bytes stay in the system's memory.
static bool file_work(struct pool_task *task)
{
    struct connection *c = connection_of_task(task);
    struct http_stream *stream = &c->stream;
    uint64_t end =
        stream->file_at + (stream->file_left < FILE_WARM ? stream->file_left : FILE_WARM);
    uint8_t scratch[FILE_BUFFER];
    uint64_t at = stream->file_at;
    while (at < end && stream->file_error == 0) {
        size_t want = end - at < sizeof(scratch) ? (size_t)(end - at) : sizeof(scratch);
        ssize_t got = file_read(stream->fd, scratch, want, at, 0);
        if (got <= 0)
            stream->file_error = got == 0 ? ENODATA : errno;
        else
            at += (uint64_t)got;
    }
    stream->file_warm = at;
    http_exchange_resume(&c->exchange);
    return true;
}

static void file_warmed(struct connection *c)
{
    if (c->stream.file_error != 0 || c->broken)
        stream_lose(c);
    else
        file_go_on(c);
}

// Sends a buffer of the file. If the socket is full libuv gets it, and says when there is room
// again.
static enum file_step file_copy(struct connection *c, size_t most)
{
    struct http_stream *stream = &c->stream;
    size_t want = stream->file_left < most ? (size_t)stream->file_left : most;
    buf_clear(&c->compressed);
    uint8_t *to = buf_reserve(&c->compressed, want);
    if (to == NULL)
        return FILE_LOST;
    ssize_t got = file_read(stream->fd, to, want, stream->file_at, 0);
    if (got <= 0)
        return FILE_LOST;
    uv_buf_t part = uv_buf_init((char *)to, (unsigned)got);
    stream->file_at += (uint64_t)got;
    stream->file_left -= (uint64_t)got;
    switch (parts_send(c, &part, 1)) {
    case HTTP_PIECE_TAKEN:
        return FILE_TURN;
    case HTTP_PIECE_WAITS:
        return FILE_WAITS;
    case HTTP_PIECE_LOST:
        break;
    }
    return FILE_LOST;
}

static enum file_step file_seal_some(struct connection *c)
{
    enum file_step step = FILE_TURN;
    for (size_t sent = 0; step == FILE_TURN && sent < FILE_SEALED; sent += FILE_BUFFER)
        step = c->stream.file_left == 0 ? FILE_SENT : file_copy(c, FILE_BUFFER);
    return step;
}

static enum file_step file_send_some(struct connection *c)
{
    struct http_stream *stream = &c->stream;
    size_t bite = stream->file_left < FILE_BITE ? (size_t)stream->file_left : FILE_BITE;
    uv_os_fd_t out;
    if (uv_fileno((const uv_handle_t *)&c->tcp, &out) != 0)
        return FILE_LOST;
    if (!file_is_warm(stream, bite))
        return FILE_COLD;
    if (c->wire != NULL)
        return file_seal_some(c);
    while (bite > 0) {
        off_t at = (off_t)stream->file_at;
        ssize_t sent = sendfile(out, stream->fd, &at, bite);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno == EAGAIN)
            return file_copy(c, FILE_REST);
        if (sent <= 0)
            return FILE_LOST;
        stream->file_at += (uint64_t)sent;
        stream->file_left -= (uint64_t)sent;
        bite -= (size_t)sent;
        c->moved += (size_t)sent;
    }
    return stream->file_left == 0 ? FILE_SENT : FILE_TURN;
}

// The bytes behind a file's: in a chunked answer its chunk has an end.
static enum http_piece file_end(struct connection *c)
{
    c->stream.filing = false;
    if (!c->stream.chunked)
        return HTTP_PIECE_TAKEN;
    buf_clear(&c->head);
    buf_text(&c->head, "\r\n");
    return head_send(c);
}

// Sends what goes at once, and arranges for the rest.
static enum http_piece file_advance(struct connection *c)
{
    switch (c->stream.file_left == 0 ? FILE_SENT : file_send_some(c)) {
    case FILE_SENT:
        return file_end(c);
    case FILE_WAITS:
        return HTTP_PIECE_WAITS;
    case FILE_TURN:
        loop_queue(c);
        return HTTP_PIECE_WAITS;
    case FILE_COLD:
        if (connection_work(c, file_work, file_warmed))
            return HTTP_PIECE_WAITS;
        c->stream.file_warm = UINT64_MAX; // no pool: the loop has to wait for the disk
        return file_advance(c);
    case FILE_LOST:
        break;
    }
    c->broken = true;
    return HTTP_PIECE_LOST;
}

// Goes on with a file behind the handler's back: it hears of the end alone.
static void file_go_on(struct connection *c)
{
    if (c->broken) {
        stream_lose(c);
        return;
    }
    switch (file_advance(c)) {
    case HTTP_PIECE_TAKEN:
        piece_done(c);
        break;
    case HTTP_PIECE_WAITS:
        break;
    case HTTP_PIECE_LOST:
        stream_lose(c);
        break;
    }
}

void stream_turn(struct connection *c)
{
    file_go_on(c);
}

enum http_piece http_stream_file(struct http_exchange *exchange, int fd, uint64_t offset,
                                 uint64_t length)
{
    struct connection *c = (struct connection *)exchange;
    struct http_stream *stream = &c->stream;
    enum http_piece result;
    if (!piece_begin(c, length, &result))
        return result;
    stream->filing = true;
    stream->fd = fd;
    stream->file_at = offset;
    stream->file_left = length;
    stream->file_warm = 0;
    stream->file_error = 0;
    result = head_send(c);
    return result == HTTP_PIECE_TAKEN ? file_advance(c) : result;
}

// ---- Begin and end ---------------------------------------------------------------------------

void http_stream_begin(struct http_exchange *exchange, const struct http_stream_head *head)
{
    struct connection *c = (struct connection *)exchange;
    ensure(c->state == CONNECTION_HANDLING);
    if (exchange->taker != NULL)
        taken_answer(c);
    bool bodiless = respond_is_bodiless(head->status);
    bool old = exchange->request.minor == 0;
    c->close_after = c->close_after || !exchange->request.keep_alive || c->loop->stopping ||
                     (old && !head->sized && !bodiless);
    connection_enter(c, CONNECTION_STREAMING);
    c->handled = true;
    c->left = 0;
    c->stream = (struct http_stream){
        .live = head->live,
        .sized = head->sized,
        .length_left = head->length,
        .chunked = !head->sized && !old && !bodiless,
        .bodiless = bodiless || slice_is(exchange->request.method, "HEAD"),
        .fd = -1,
    };
    respond_head_begin(c, head->status, head->content_type);
    if (head->sized && !bodiless)
        buf_printf(&c->head, "Content-Length: %llu\r\n", (unsigned long long)head->length);
    else if (c->stream.chunked)
        buf_text(&c->head, "Transfer-Encoding: chunked\r\n");
    respond_head_connection(c);
    buf_slice(&c->head, head->headers);
    buf_text(&c->head, "\r\n");
    c->broken = c->broken || c->head.failed;
}

// All pieces are with the kernel, and the handler has said that there are no more.
static void stream_conclude(struct connection *c)
{
    struct http_stream *stream = &c->stream;
    bool cut_short = stream->sized && stream->length_left > 0 && !stream->bodiless;
    if (cut_short)
        c->broken = true;
    if (stream->final || c->broken || !framing_begin(c, 0)) {
        stream_finish(c);
        return;
    }
    stream->final = true;
    if (stream->chunked && !stream->bodiless)
        buf_text(&c->head, "0\r\n\r\n");
    if (head_send(c) != HTTP_PIECE_WAITS)
        stream_finish(c);
}

// A piece that had to wait is with the kernel.
static void piece_done(struct connection *c)
{
    const struct http_handler *handler = connection_handler(c);
    const struct http_taker *taker = c->exchange.taker;
    if (c->stream.ending)
        stream_conclude(c);
    else if (taker != NULL)
        taker->drained(&c->exchange);
    else if (handler->drained != NULL)
        handler->drained(&c->exchange, handler->context);
}

void http_stream_end(struct http_exchange *exchange)
{
    struct connection *c = (struct connection *)exchange;
    ensure(c->state == CONNECTION_STREAMING && !c->stream.ending);
    c->stream.ending = true;
    if (c->broken || (!c->stream.waiting && !c->stream.filing))
        stream_conclude(c);
}

// The end of an answer without length or chunks is the end of the connection; so that a cut one
// does not look whole, it is reset.
void http_stream_abort(struct http_exchange *exchange)
{
    struct connection *c = (struct connection *)exchange;
    ensure(c->state == CONNECTION_STREAMING && !c->stream.ending);
    c->stream.ending = true;
    c->broken = true;
    uv_os_fd_t fd;
    const struct linger reset = {.l_onoff = 1, .l_linger = 0};
    if (!c->stream.sized && !c->stream.chunked && uv_fileno((uv_handle_t *)&c->tcp, &fd) == 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    stream_finish(c);
}
