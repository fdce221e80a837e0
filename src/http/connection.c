// One connection: bytes into a buffer, requests out of it, one at a time.
//
// The idea: a request is parsed where it was received. Its slices point into the read
// buffer, which stays put from the moment the request is complete until it has been
// answered; what the client sends meanwhile lands behind it, as far as there is room, and
// then reading pauses. So a usual request costs no allocation and no copy.
//
// One request is taken in a turn of the loop, and a bite of a large body: what a client has sent
// behind it waits for the next turn, so that everybody else comes in between.
//
// Invariants: the connection is closed only outside CONNECTION_HANDLING (a client that vanishes
// in it sets `broken` or `ended`, looked at after the answer); connection_advance never nests.
#include "http/http_internal.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    LINGER_BYTES = 64 << 20,
    COMPRESSED_MAX = 256 << 20,
    UNSENT_MAX = 256 << 10,
    INFLATE_SLICE = 512 << 10,
};

void connection_enter(struct connection *connection, enum connection_state state)
{
    connection->state = state;
    connection->since = connection->progress = uv_now(&connection->loop->uv);
    connection->moved = 0;
}

// ---- The read buffer ---------------------------------------------------------------------

// Moves [begin, len) to the start, with everything that points into it.
static void buffer_move(struct connection *c)
{
    const uint8_t *from = c->in + c->begin;
    memmove(c->in, from, c->len - c->begin);
    if (c->head_done) {
        http_request_rebase(&c->exchange.request, (uintptr_t)from, c->in);
        c->body_at -= c->begin;
    }
    c->len -= c->begin;
    c->begin = 0;
}

// How much room the rest of the request wants, at least a byte.
static size_t room_wanted(const struct connection *c)
{
    const struct http_request *request = &c->exchange.request;
    if (!c->head_done || !request->has_length)
        return READ_ROOM;
    size_t missing = c->body_at + (size_t)request->length - c->len;
    return missing < READ_ROOM && missing > 0 ? missing : READ_ROOM;
}

// Doubles; but goes straight to the size of a body that has announced its length, if that is
// not absurdly more than what has come.
static size_t capacity_next(const struct connection *c, size_t needed)
{
    size_t cap = c->cap == 0 ? READ_BUFFER : c->cap * 2;
    if (c->head_done && c->exchange.request.has_length) {
        size_t total = c->body_at - c->begin + (size_t)c->exchange.request.length;
        size_t leap = cap < (256 << 10) ? (256 << 10) : cap;
        cap = total < leap ? total : leap;
    }
    return cap < needed ? needed : cap;
}

// A usual buffer is part of what a connection is counted with.
static size_t buffer_counted(size_t cap)
{
    return cap > READ_BUFFER ? cap : 0;
}

// What is moved is little: a large body stands at the start, behind its head, and the C library
// makes room for it by moving pages and not bytes.
static bool buffer_grow(struct connection *c, size_t cap)
{
    if (c->begin > 0)
        buffer_move(c);
    if (!budget_take(&c->account, BUDGET_BODIES, buffer_counted(cap)))
        return false;
    struct http_request *request = &c->exchange.request;
    ptrdiff_t method_at = c->head_done ? request->method.ptr - c->in : 0;
    uint8_t *grown = realloc(c->in, cap);
    if (grown == NULL) {
        budget_give(&c->account, BUDGET_BODIES, buffer_counted(cap));
        budget_starve(&c->account);
        return false;
    }
    budget_give(&c->account, BUDGET_BODIES, buffer_counted(c->cap));
    if (c->head_done)
        http_request_rebase(request, (uintptr_t)(request->method.ptr - method_at), grown);
    c->in = grown;
    c->cap = cap;
    return true;
}

static void buffer_drop(struct connection *c)
{
    budget_free(&c->account, BUDGET_BODIES, c->in, c->cap, buffer_counted(c->cap));
    c->in = NULL;
    c->cap = 0;
}

static bool buffer_make_room(struct connection *c)
{
    size_t wanted = room_wanted(c) + wire_held(c);
    if (c->cap - c->len >= wanted && c->in != NULL)
        return true;
    size_t used = c->len - c->begin;
    if (c->in != NULL && c->begin > 0 && c->cap - used >= wanted) {
        buffer_move(c);
        return true;
    }
    return buffer_grow(c, capacity_next(c, used + wanted));
}

// An empty buffer starts at its beginning again; one that a large request has left goes.
static void buffer_settle(struct connection *c)
{
    if (c->begin < c->len)
        return;
    c->begin = c->len = 0;
    if (c->cap > READ_BUFFER_KEPT)
        buffer_drop(c);
}

static void buf_settle(struct buf *buf)
{
    if (buf->cap > READ_BUFFER_KEPT)
        buf_release(buf);
    else
        buf_clear(buf);
}

// ---- From bytes to a request ---------------------------------------------------------------

static const struct http_problem no_memory = {
    503, "The server is short of memory for a request of this size; retry in a moment."};

static enum http_parse problem_set(struct http_problem *problem, int status, const char *reason)
{
    *problem = (struct http_problem){status, reason};
    return HTTP_BAD;
}

// Without memory for its body a request is nobody's, and refused.
static enum http_parse head_taken(struct connection *c, struct http_problem *problem)
{
    if (taken_prepare(c))
        return HTTP_DONE;
    c->exchange.taker = NULL;
    *problem = no_memory;
    return HTTP_BAD;
}

static enum http_parse head_step(struct connection *c, struct http_problem *problem)
{
    // Old clients end a body with a line break that no length counts.
    while (c->scan.at == 0 && c->len - c->begin >= 2 && memcmp(c->in + c->begin, "\r\n", 2) == 0)
        c->begin += 2;
    if (c->len == c->begin || (c->len - c->begin == 1 && c->in[c->begin] == '\r'))
        return HTTP_MORE;
    struct http_request *request = &c->exchange.request;
    size_t head_len;
    enum http_parse result =
        http_head_parse(&c->scan, c->in + c->begin, c->len - c->begin, request, &head_len, problem);
    if (result != HTTP_DONE)
        return result;
    c->head_done = true;
    c->body_at = c->begin + head_len;
    c->body_len = 0;
    c->chunks = (struct http_chunked){0};
    const struct http_handler *handler = connection_handler(c);
    if (handler->head != NULL)
        c->exchange.taker = handler->head(&c->exchange, handler->context);
    if (c->exchange.taker != NULL)
        return head_taken(c, problem);
    if (request->coding == HTTP_OTHER)
        return problem_set(problem, 415, "The Content-Encodings understood are gzip and deflate.");
    if (request->length > c->loop->server->options.max_body)
        return problem_set(problem, 413, "The request body is too large.");
    if (request->expect_continue && c->len == c->body_at &&
        (request->chunked || request->length > 0))
        connection_send_continue(c);
    return HTTP_DONE;
}

static enum http_parse body_step(struct connection *c, struct http_problem *problem)
{
    struct http_request *request = &c->exchange.request;
    if (!request->chunked) {
        if (c->len - c->body_at < request->length)
            return HTTP_MORE;
        c->end = c->body_at + (size_t)request->length;
        request->body = slice_of(c->in + c->body_at, (size_t)request->length);
        return HTTP_DONE;
    }
    // Decoded bytes lie behind the head, undecoded ones behind them; the decoder reads all
    // there are, so that between two steps nothing undecoded is left.
    size_t consumed;
    size_t produced;
    uint8_t *raw = c->in + c->body_at + c->body_len;
    size_t raw_len = c->len - c->body_at - c->body_len;
    enum http_parse result = http_chunked_decode(&c->chunks, c->loop->server->options.max_body, raw,
                                                 raw_len, raw, &consumed, &produced, problem);
    c->body_len += produced;
    if (result == HTTP_MORE)
        c->len = c->body_at + c->body_len;
    if (result != HTTP_DONE)
        return result;
    c->end = (size_t)(raw - c->in) + consumed;
    request->body = slice_of(c->in + c->body_at, c->body_len);
    return HTTP_DONE;
}

static enum http_parse request_step(struct connection *c, struct http_problem *problem)
{
    enum http_parse result = c->head_done ? HTTP_DONE : head_step(c, problem);
    return result == HTTP_DONE && c->exchange.taker == NULL ? body_step(c, problem) : result;
}

void connection_reject(struct connection *c, const struct http_problem *problem)
{
    if (!c->head_done)
        memset(&c->exchange.request, 0, offsetof(struct http_request, headers));
    connection_enter(c, CONNECTION_HANDLING);
    c->refused = true;
    c->close_after = true;
    const struct http_handler *handler = connection_handler(c);
    handler->reject(&c->exchange, problem, handler->context);
    ensure(c->state != CONNECTION_HANDLING);
}

static void request_handle(struct connection *c)
{
    const struct http_handler *handler = connection_handler(c);
    c->handled = true;
    handler->handle(&c->exchange, handler->context);
}

// ---- Work in the pool ------------------------------------------------------------------------

bool connection_work(struct connection *c, bool (*work)(struct pool_task *task),
                     void (*worked)(struct connection *connection))
{
    struct pool *pool = c->loop->server->options.pool;
    if (pool == NULL)
        return false;
    c->task.run = work;
    c->worked = worked;
    if (pool_submit(pool, &c->task))
        return true;
    c->worked = NULL;
    return false;
}

static void inflate_end(struct connection *c, enum http_inflate result)
{
    struct http_request *request = &c->exchange.request;
    switch (result) {
    case HTTP_INFLATED:
        request->body = buf_view(&c->inflated);
        request->coding = HTTP_IDENTITY;
        break;
    case HTTP_INFLATE_TOO_LARGE:
        c->problem = (struct http_problem){413, "The request body is too large."};
        if (c->account.starved)
            c->problem = no_memory;
        break;
    case HTTP_INFLATE_MORE:
    case HTTP_INFLATE_BAD:
        (void)problem_set(&c->problem, 400,
                          c->exchange.request.coding == HTTP_GZIP
                              ? "The request body is not valid gzip."
                              : "The request body is not valid deflate.");
        break;
    }
}

static bool inflate_begin(struct connection *c)
{
    if (!budget_take(&c->account, BUDGET_BODIES, HTTP_INFLATE_MEMORY)) {
        c->problem = no_memory;
        return false;
    }
    c->gzip = http_gzip_new();
    if (c->gzip == NULL)
        c->problem = no_memory;
    else if (!http_gzip_inflate_begin(c->gzip, c->exchange.request.coding,
                                      c->exchange.request.body))
        inflate_end(c, HTTP_INFLATE_BAD);
    else
        return true;
    budget_give(&c->account, BUDGET_BODIES, HTTP_INFLATE_MEMORY);
    return false;
}

static bool inflate_done(struct connection *c)
{
    http_gzip_free(c->gzip);
    c->gzip = NULL;
    http_exchange_resume(&c->exchange);
    return true;
}

// One slice. From the second on it is not worth the work if nobody waits for it any more.
static bool inflate_work(struct pool_task *task)
{
    struct connection *c = connection_of_task(task);
    bool first = c->gzip == NULL;
    if (first && !inflate_begin(c))
        return inflate_done(c);
    enum http_inflate result = HTTP_INFLATE_MORE;
    if (atomic_load(&c->loop->stopping))
        (void)problem_set(&c->problem, 503, "The server is stopping.");
    else if (first || !atomic_load(&c->gone))
        result = http_gzip_inflate_some(c->gzip, INFLATE_SLICE, &c->inflated);
    if (result == HTTP_INFLATE_MORE && c->problem.status == 0 && !atomic_load(&c->gone))
        return false;
    if (result != HTTP_INFLATE_MORE)
        inflate_end(c, result);
    budget_give(&c->account, BUDGET_BODIES, HTTP_INFLATE_MEMORY);
    return inflate_done(c);
}

static void request_inflated(struct connection *c)
{
    // Unpacking that was given up has neither a body nor a problem.
    const struct http_handler *handler = connection_handler(c);
    bool given_up = c->problem.status == 0 && http_is_packed(&c->exchange.request);
    if (given_up && c->handled)
        (void)problem_set(&c->problem, 400, "The client is gone.");
    else
        c->broken = c->broken || given_up;
    if (c->broken && !c->handled)
        connection_close(c);
    else if (c->problem.status != 0)
        connection_reject(c, &c->problem);
    else if (c->handled)
        handler->unpacked(&c->exchange, handler->context);
    else
        request_handle(c);
}

// A small compressed body can hold a large one, so that its size says nothing: all are left to the
// pool.
void http_unpack(struct http_exchange *exchange)
{
    struct connection *c = (struct connection *)exchange;
    const struct http_request *request = &exchange->request;
    c->problem = (struct http_problem){0, NULL};
    atomic_store(&c->gone, false);
    if (connection_work(c, inflate_work, request_inflated))
        return;
    inflate_end(c, http_gzip_inflate(c->loop->gzip, request->coding, request->body, &c->inflated));
    request_inflated(c);
}

// A request is complete.
static void request_begin(struct connection *c)
{
    connection_enter(c, CONNECTION_HANDLING);
    if (c->exchange.taker != NULL)
        taken_begin(c);
    else if (http_is_packed(&c->exchange.request) && connection_handler(c)->unpacked == NULL)
        http_unpack(&c->exchange);
    else
        request_handle(c);
}

// ---- Turns -----------------------------------------------------------------------------------

static bool reading_start(struct connection *c);

bool connection_read_on(struct connection *c)
{
    return !c->ended && (!c->paused || reading_start(c));
}

bool connection_grow(struct connection *c, size_t cap)
{
    return buffer_grow(c, cap);
}

// What comes after a request: the next one, in the next turn; more bytes; or the end.
static void connection_next(struct connection *c)
{
    if (c->begin < c->len)
        loop_queue(c);
    else if (c->ended || (c->paused && !reading_start(c)))
        connection_close(c);
}

void connection_advance(struct connection *c)
{
    if (c->wire != NULL && (c->state == CONNECTION_GREETING || c->wire->yields)) {
        sealed_turn(c);
        return;
    }
    if (c->state == CONNECTION_STREAMING) {
        stream_turn(c);
        return;
    }
    struct http_problem problem;
    if (c->state == CONNECTION_HANDLING) {
        taken_advance(c);
        return;
    }
    enum http_parse result = request_step(c, &problem);
    if (result == HTTP_MORE) {
        if (c->ended || (c->paused && !reading_start(c)))
            connection_close(c);
        return;
    }
    c->advancing = true;
    if (result == HTTP_BAD)
        connection_reject(c, &problem);
    else
        request_begin(c);
    c->advancing = false;
    if (c->state <= CONNECTION_READING)
        connection_next(c);
}

// ---- Reading -------------------------------------------------------------------------------

// There is a request already: what comes behind it is read as far as there is room.
static bool is_busy(const struct connection *c)
{
    return c->state == CONNECTION_HANDLING || c->state == CONNECTION_WRITING ||
           c->state == CONNECTION_STREAMING || c->queued;
}

// The client is gone; the handler may give its request up.
void connection_client_gone(struct connection *c)
{
    const struct http_handler *handler = connection_handler(c);
    const struct http_taker *taker = c->exchange.taker;
    atomic_store(&c->gone, true);
    bool first = c->state != CONNECTION_STREAMING || !c->stream.told;
    c->stream.told = true;
    if (c->wanted)
        taken_advance(c);
    else if (c->handled && first && taker != NULL && taker->gone != NULL)
        taker->gone(&c->exchange);
    else if (c->handled && first && taker == NULL && handler->gone != NULL)
        handler->gone(&c->exchange, handler->context);
}

size_t connection_room(struct connection *c)
{
    size_t held = wire_held(c);
    if (is_busy(c) ? c->cap - c->len < READ_ROOM / 4 + held : !buffer_make_room(c))
        return 0;
    return c->cap - c->len - held;
}

void connection_read_failed(struct connection *c, ssize_t why)
{
    wire_read_stop(c);
    if (why == UV_ENOBUFS && (is_busy(c) || c->account.starved)) {
        // What has no room waits in the socket, and the client with it.
        c->paused = true;
        return;
    }
    c->ended = true;
    c->broken = c->broken || why != UV_EOF;
    if (c->state == CONNECTION_STREAMING && c->broken)
        stream_lose(c);
    else if (c->state == CONNECTION_HANDLING || (is_busy(c) && !(c->queued && c->broken)))
        connection_client_gone(c);
    else
        connection_close(c);
}

void connection_received(struct connection *c, size_t count, bool more)
{
    if (c->state == CONNECTION_IDLE)
        connection_enter(c, CONNECTION_READING);
    c->moved += count;
    c->progress = uv_now(&c->loop->uv);
    if (c->state == CONNECTION_LINGERING) {
        if (c->moved > LINGER_BYTES)
            connection_close(c);
        return;
    }
    c->len += count;
    if (c->wanted && !c->queued)
        taken_advance(c);
    if (c->state != CONNECTION_READING || c->queued)
        return;
    if (!more) {
        connection_advance(c);
        return;
    }
    wire_read_stop(c);
    c->paused = true;
    loop_queue(c);
}

static bool reading_start(struct connection *c)
{
    c->paused = false;
    return wire_read_start(c);
}

// ---- After an answer -----------------------------------------------------------------------

// Closing a socket with unread bytes resets the connection, and the client may lose the answer
// that explains it. So: our end is shut, and what comes is thrown away for a while.
void connection_linger(struct connection *c)
{
    connection_enter(c, CONNECTION_LINGERING);
    c->begin = c->len; // nothing of it is of interest any more
    c->head_done = false;
    buffer_settle(c);
    if (!wire_shut(c) || c->ended || (c->paused && !reading_start(c)))
        connection_close(c);
}

void connection_answered(struct connection *c)
{
    const struct http_handler *handler = connection_handler(c);
    if (c->exchange.taker != NULL)
        c->exchange.taker->sent(&c->exchange);
    else
        handler->sent(&c->exchange, handler->context);
    c->exchange.taker = NULL;
    c->account.starved = false;
    buf_settle(&c->inflated);
    buf_settle(&c->compressed);
    if (c->broken) {
        connection_close(c);
        return;
    }
    if (c->close_after) {
        if (c->refused || c->loop->stopping || c->end < c->len)
            connection_linger(c);
        else
            connection_close(c);
        return;
    }
    c->begin = c->end;
    c->head_done = false;
    http_scan_reset(&c->scan);
    buffer_settle(c);
    connection_enter(c, c->begin < c->len ? CONNECTION_READING : CONNECTION_IDLE);
    if (!c->advancing)
        connection_next(c);
}

// ---- Time ----------------------------------------------------------------------------------

// Bytes that the client has taken since the last look.
static void note_taken(struct connection *c, uint64_t now)
{
    size_t left = wire_left(c);
    if (left >= c->left)
        return;
    c->moved += c->left - left;
    c->left = left;
    c->progress = now;
}

// Whether the connection has ended, for one that is not being read from.
static bool is_hung_up(const struct connection *c)
{
    struct tcp_info info;
    socklen_t len = sizeof(info);
    uv_os_fd_t fd;
    return uv_fileno((const uv_handle_t *)&c->tcp, &fd) == 0 &&
           getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
           info.tcpi_state != TCP_ESTABLISHED;
}

// Too slow: nothing for a while, or less than the pace over all of the time.
static bool is_slow(const struct connection *c, uint64_t now)
{
    const struct http_options *options = &c->loop->server->options;
    uint64_t stall = options->request_ms < HTTP_STALL_MS ? options->request_ms : HTTP_STALL_MS;
    return now - c->progress > stall || now - c->since > options->request_ms + c->moved / PACE;
}

static const struct http_problem slow = {408, "The request took too long to arrive."};

// Reading has stopped for want of memory: goes on if there is some, and gives up after a while.
static void starved_tick(struct connection *c, uint64_t now)
{
    unsigned patience = c->loop->server->options.request_ms;
    c->account.starved = false;
    if (!buffer_make_room(c)) {
        if (now - c->progress > (patience < STARVED_MS ? patience : STARVED_MS))
            connection_reject(c, &no_memory);
        return;
    }
    c->progress = now;
    if (!reading_start(c))
        connection_close(c);
}

static void rest(struct connection *c)
{
    const struct http_handler *handler = connection_handler(c);
    buffer_drop(c);
    wire_rest(c);
    buf_release(&c->head);
    buf_release(&c->inflated);
    buf_release(&c->compressed);
    if (handler->rest != NULL)
        handler->rest(&c->exchange, handler->context);
}

uint64_t connection_stalled(const struct connection *c, uint64_t now)
{
    bool much =
        (c->state == CONNECTION_READING && !c->paused && !c->queued && c->cap > READ_BUFFER_KEPT) ||
        (c->wanted && !c->queued && c->cap > READ_BUFFER_KEPT) ||
        ((c->state == CONNECTION_WRITING || c->state == CONNECTION_STREAMING) &&
         c->left > READ_BUFFER_KEPT);
    uint64_t still = now - c->progress;
    return much && still > STALLED_MS ? still : 0;
}

void connection_cut(struct connection *c)
{
    if (c->state == CONNECTION_READING)
        connection_reject(c, &slow);
    else if (c->wanted)
        taken_fail(c, &slow);
    else if (c->state == CONNECTION_STREAMING)
        stream_lose(c);
    else
        connection_close(c);
}

void connection_tick(struct connection *c, uint64_t now)
{
    uint64_t spent = now - c->since;
    switch (c->state) {
    case CONNECTION_GREETING: // who does not hurry gets no answer: there is no way to say one
        if (!c->queued && is_slow(c, now))
            connection_close(c);
        break;
    case CONNECTION_IDLE:
        if (spent > REST_MS && c->in != NULL)
            rest(c);
        if (c->paused)
            starved_tick(c, now);
        else if (spent > c->loop->server->options.idle_ms)
            connection_close(c);
        break;
    case CONNECTION_READING:
        if (!c->queued && c->paused)
            starved_tick(c, now);
        else if (!c->queued && is_slow(c, now))
            connection_reject(c, &slow);
        break;
    case CONNECTION_HANDLING:
        if (c->wanted && !c->queued && is_slow(c, now))
            taken_fail(c, &slow);
        else if (c->paused && is_hung_up(c))
            connection_client_gone(c);
        break;
    case CONNECTION_WRITING:
        note_taken(c, now);
        if (c->loop->cuts > 0 && is_slow(c, now)) {
            c->loop->cuts--;
            connection_close(c);
        }
        break;
    case CONNECTION_STREAMING:
        if (c->paused && is_hung_up(c))
            connection_client_gone(c);
        note_taken(c, now);
        stream_tick(c, now);
        break;
    case CONNECTION_LINGERING:
        if (spent > LINGER_MS)
            connection_close(c);
        break;
    case CONNECTION_CLOSED:
        break;
    }
}

void connection_stop(struct connection *c, bool force)
{
    static const struct http_problem stopping = {503, "The server is stopping."};
    if (c->state == CONNECTION_STREAMING)
        stream_stop(c, force);
    else if (c->state <= CONNECTION_IDLE || (force && c->state != CONNECTION_HANDLING))
        connection_close(c);
    else if (force && c->wanted)
        taken_fail(c, &stopping);
}

// ---- Life ----------------------------------------------------------------------------------

static void connection_free(struct connection *c)
{
    loop_connection_gone(c->loop);
    wire_free(c);
    buffer_drop(c);
    buf_release(&c->inflated);
    buf_release(&c->head);
    buf_release(&c->compressed);
    budget_give(&c->account, BUDGET_CONNECTIONS, BUDGET_CONNECTION);
    free(c);
}

static void on_closed(uv_handle_t *handle)
{
    struct connection *c = handle->data;
    struct http_loop *loop = c->loop;
    const struct http_handler *handler = connection_handler(c);
    if (c->opened)
        handler->close(&c->exchange, handler->context);
    if (c->before != NULL)
        c->before->after = c->after;
    else
        loop->connections = c->after;
    if (c->after != NULL)
        c->after->before = c->before;
    connection_free(c);
    loop_maybe_end(loop);
}

void connection_close(struct connection *c)
{
    if (c->state == CONNECTION_CLOSED)
        return;
    ensure(c->state != CONNECTION_HANDLING || c->broken || c->close_after);
    ensure(c->state != CONNECTION_STREAMING || c->stream.ending);
    if (c->queued)
        loop_unqueue(c);
    wire_end(c);
    c->state = CONNECTION_CLOSED;
    uv_close((uv_handle_t *)&c->tcp, on_closed);
}

bool http_exchange_peer(const struct http_exchange *exchange, struct http_peer *out)
{
    const struct connection *c = (const struct connection *)exchange;
    struct sockaddr_storage name;
    int len = sizeof(name);
    *out = (struct http_peer){.port = 0};
    if (uv_tcp_getpeername(&c->tcp, (struct sockaddr *)&name, &len) != 0 ||
        uv_ip_name((const struct sockaddr *)&name, out->address, sizeof(out->address)) != 0)
        return false;
    // The port is at the same place in both kinds of address.
    out->port = ntohs(((const struct sockaddr_in *)&name)->sin_port);
    return true;
}

void connection_open(struct http_loop *loop, int fd)
{
    struct connection *c = calloc(1, sizeof(*c));
    if (c == NULL || uv_tcp_init(&loop->uv, &c->tcp) != 0) {
        loop_connection_gone(loop);
        (void)close(fd);
        free(c);
        return;
    }
    c->tcp.data = c;
    c->loop = loop;
    const struct http_options *options = &loop->server->options;
    c->account = (struct budget_account){.budget = options->budget, .overdraw = true};
    ensure(budget_take(&c->account, BUDGET_CONNECTIONS, BUDGET_CONNECTION));
    c->account.overdraw = false;
    buf_init_counted(&c->inflated, options->max_body, &c->account, BUDGET_BODIES);
    buf_init(&c->head, 2 * HTTP_HEAD_MAX); // an answer may repeat what the request said
    buf_init_counted(&c->compressed, COMPRESSED_MAX, &c->account, BUDGET_ANSWERS);
    c->after = loop->connections;
    if (c->after != NULL)
        c->after->before = c;
    loop->connections = c;
    connection_enter(c, CONNECTION_IDLE);
    const struct http_handler *handler = connection_handler(c);
    if (uv_tcp_open(&c->tcp, fd) != 0) {
        (void)close(fd);
        connection_close(c);
        return;
    }
    (void)uv_tcp_nodelay(&c->tcp, 1);
    // Of an answer that is not taken the kernel holds little, and copies little at once.
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &(int){UNSENT_MAX}, sizeof(int));
    c->opened = handler->open(&c->exchange, handler->context);
    if (!c->opened || !wire_open(c) || !reading_start(c))
        connection_close(c);
}
