// What the files of this directory share: a server has loops, a loop has connections.
//
//   server.c      listening, accepting, start and stop
//   loop.c        one event loop: arriving sockets, resumed exchanges, the tick of the timeouts
//   connection.c  one connection: the request in its buffer, what comes next
//   wire.c        between a connection and its socket: bytes in, bytes out
//   wire_tls.c    the same where TLS stands in between
//   taken.c       the body of a request that is taken in pieces
//   respond.c     one answer: head, compression, writing
//   stream.c      one answer in pieces
#ifndef HTTP_HTTP_INTERNAL_H
#define HTTP_HTTP_INTERNAL_H

#include "base/buf.h"
#include "http/chunked.h"
#include "http/gzip.h"
#include "http/http.h"
#include "http/tls_internal.h"

#include <stdatomic.h>
#include <stddef.h>
#include <uv.h>

enum {
    READ_BUFFER = 8 << 10,       // a usual request fits
    READ_BUFFER_KEPT = 64 << 10, // a larger one is given back after its request
    READ_ROOM = 2 << 10,         // a read is not worth its system call for less
    READ_BITE = 128 << 10,       // bytes read of one connection in a turn
    TICK_MS = 250,
    TICK_CUTS = 4,       // giving back a large answer takes milliseconds, so few are cut in a tick
    LINGER_MS = 2000,    // how long a client that is not listened to may go on sending
    STOP_SETTLE_MS = 50, // what is in the sockets at a stop is still read
    PACE = 64,           // bytes per ms that a slow client must reach beyond its time
    INLINE_BODY = 64 << 10,   // a larger answer is compressed in the pool
    REST_MS = 1000,           // an idle connection then keeps no buffers
    STARVED_MS = 5000,        // how long a body waits for memory
    STALLED_MS = 2000,        // a client that holds memory others wait for must move within
    TAKEN_BUFFER = 256 << 10, // for a body that is taken in pieces
    TLS_RECORD = 17 << 10,    // more than the largest record has
    GREETINGS = 4,            // handshakes in a turn of a loop: each takes some 200 microseconds
};

enum connection_state {
    CONNECTION_GREETING,  // TLS is being agreed on
    CONNECTION_IDLE,      // no byte of a request
    CONNECTION_READING,   // some
    CONNECTION_HANDLING,  // the handler has it
    CONNECTION_WRITING,   // the kernel did not take the whole answer at once
    CONNECTION_STREAMING, // an answer in pieces, from http_stream_begin until `sent`
    CONNECTION_LINGERING, // answered and shut; what still comes is thrown away
    CONNECTION_CLOSED,    // uv_close is on its way
};

// An answer in pieces. See stream.c.
struct http_stream {
    bool live;
    bool sized;
    bool chunked;
    bool bodiless;        // the answer to HEAD, or one that has no body
    bool headed;          // the head is with libuv
    bool waiting;         // a piece waits
    bool ending;          // the handler has ended or aborted it
    bool told;            // the handler has heard `gone`
    bool final;           // the last chunk is being written
    uint64_t length_left; // of a sized one
    // A piece of a file.
    bool filing;
    int fd;
    uint64_t file_at;
    uint64_t file_left;
    uint64_t file_warm; // bytes up to here have been read by the pool
    int file_error;     // of the pool's reading
    // How long pieces have waited for the client, and since when one does.
    uint64_t waited;
    uint64_t waits_since;
};

// One connection's TLS. See wire_tls.c.
struct wire {
    SSL *ssl; // NULL until the client has said something
    struct tls_pipe pipe;
    struct slice input; // sealed bytes that OpenSSL has not read
    struct buf held;    // those of a client that waits for its turn to be greeted
    bool agreed;        // the handshake is over
    bool failed;        // no more is to be said
    // Where the bytes that came are in their records.
    uint8_t header[5];
    unsigned header_len;
    size_t record_left;
    size_t partial; // bytes of a record that is not whole yet, its header included
    // Sealed bytes that the kernel has not taken: those that libuv has, and those behind them.
    bool flies;
    struct buf flying;
    struct buf next;
    struct budget_account account; // that these are counted in, whatever the budget says
    // What is not sealed yet of what is being sent: borrowed.
    uv_buf_t parts[HTTP_PIECE_PARTS + 2];
    unsigned part;
    size_t plain_left;
    bool sending;
    bool yields;                          // it waits for its turn to go on
    struct http_certificate *certificate; // the client's, or NULL
};

struct connection {
    struct http_exchange exchange; // first: the two are cast into each other
    struct http_loop *loop;
    struct connection *before; // the loop's list
    struct connection *after;
    uv_tcp_t tcp;
    uv_write_t write;
    void (*written)(struct connection *connection, int status); // what waits has been sent, or not
    uv_shutdown_t shut;
    struct wire *wire; // NULL: plain
    enum connection_state state;
    uint64_t since;    // loop time at which the state began
    uint64_t progress; // loop time at which the last byte was received or taken
    size_t moved;      // bytes received or taken in this state
    size_t left;       // bytes of the answer that were not taken yet

    // Requests behind the one that was answered wait for the next turn of the loop, in its list.
    bool queued;
    struct connection *ready_before;
    struct connection *ready_after;

    struct budget_account account;

    // The read buffer: [begin, len) holds the current request and what came behind it. While a
    // request is handled the buffer does not move, since the request points into it.
    uint8_t *in;
    size_t begin;
    size_t len;
    size_t cap;
    size_t end; // where the next request begins, once this one is complete

    struct http_scan scan;
    struct http_chunked chunks;
    size_t body_at;  // once head_done
    size_t body_len; // decoded bytes behind body_at, if chunked
    bool head_done;
    bool opened;      // the handler has accepted it, and hears of its end
    bool handled;     // the handler has the request
    bool advancing;   // connection_advance is on the stack
    bool paused;      // reading is stopped: no room while a request is handled, or no memory
    bool ended;       // the client will send no more
    atomic_bool gone; // the client has hung up; for the pool
    bool broken;      // the connection is of no use any more
    bool close_after; // this answer is the last
    bool refused;     // … because the request was, so unread bytes are expected

    // Of a body that is taken: [body_at, body_at + part) is with the taker.
    size_t part;
    uint64_t body_left;        // of its length, not given to the taker yet
    bool wanted;               // the taker waits for the next part
    bool body_over;            // it has had the last
    bool continued;            // the client was told to go on
    struct http_stream stream; // in CONNECTION_STREAMING

    struct buf inflated;   // a decompressed request body
    struct buf head;       // of the answer
    struct buf compressed; // body of the answer

    // Work that the pool does for the connection; `worked` runs afterwards, on the loop's thread.
    struct pool_task task;
    void (*worked)(struct connection *connection); // NULL if there is none
    struct http_gzip *gzip;                        // the work's own
    struct http_problem problem;                   // with the request; status 0 if none
    struct http_response response;
    size_t compressed_from; // bytes of the response's body that were compressed
    uint32_t crc;           // of what is sent
};

struct http_loop {
    struct http_server *server;
    unsigned index;
    uv_loop_t uv;
    uv_thread_t thread;
    int wake_fd; // an eventfd, written by loop_wake
    uv_poll_t wake;
    uv_timer_t tick;
    uv_prepare_t turn; // before it waits for what comes next
    uv_poll_t accepting;
    bool accept_paused; // no descriptors left: tried again at the next tick
    bool started;

    _Atomic(struct http_exchange *) resumed; // newest first

    uv_mutex_t lock; // of arrivals and stop_asked
    int *arrivals;   // accepted sockets on their way to this loop
    size_t arrival_count;
    size_t arrival_cap;
    bool stop_asked;

    atomic_bool stopping; // set by the loop
    uint64_t stop_since;
    unsigned cuts; // slow readers that may still be cut in this tick
    struct connection *connections;
    atomic_uint connection_count; // or on their way to this loop
    struct connection *ready;     // the first whose next request may run
    struct connection *ready_last;
    uv_idle_t ready_idle; // runs while there is one
    uint64_t refused;     // how often the budget had refused at the last tick
    struct http_gzip *gzip;
    // The header lines that all answers have, and the second for which they were made.
    int64_t headers_second;
    struct buf headers;
    // For TLS. Both are empty between two callbacks.
    uint8_t *sealed_in; // of READ_BITE
    struct buf sealed_out;
    unsigned greetings; // handshakes that may still be worked on in this turn
};

struct http_server {
    struct http_options options;
    char *host;
    int listener; // -1 once closed
    unsigned port;
    atomic_uint listening; // loops that accept
    atomic_uint connections;
    unsigned loop_count;
    struct http_loop *loops;
};

// server.c, on the loop's thread.
void loop_accept_again(struct http_loop *loop);
void loop_accept_stop(struct http_loop *loop);
// A connection of the loop, or on its way to it, is no more.
void loop_connection_gone(struct http_loop *loop);

// loop.c
MUST_CHECK bool loop_init(struct http_loop *loop, struct http_server *server, unsigned index);
MUST_CHECK bool loop_start(struct http_loop *loop);
void loop_release(struct http_loop *loop);
void loop_give_socket(struct http_loop *loop, int fd); // any thread
void loop_ask_stop(struct http_loop *loop);            // any thread
void loop_maybe_end(struct http_loop *loop);
struct slice loop_headers(struct http_loop *loop);
// Has the connection's next request run in the next turn of the loop.
void loop_queue(struct connection *connection);
void loop_unqueue(struct connection *connection);

// connection.c
void connection_open(struct http_loop *loop, int fd);
void connection_tick(struct connection *connection, uint64_t now);
void connection_stop(struct connection *connection, bool force);
// How long a connection has held much memory without a byte moving, in ms; 0 if it does not.
uint64_t connection_stalled(const struct connection *connection, uint64_t now);
// Ends one that has, for the sake of the others.
void connection_cut(struct connection *connection);
void connection_enter(struct connection *connection, enum connection_state state);
// Takes one request from the buffer, if it holds a whole one.
void connection_advance(struct connection *connection);
// Has the pool do `work`, in slices, and then the loop `worked`. False if there is no pool, or it
// takes no more.
MUST_CHECK bool connection_work(struct connection *connection, bool (*work)(struct pool_task *task),
                                void (*worked)(struct connection *connection));
// The answer is with the kernel, or cannot be sent.
void connection_answered(struct connection *connection);

// Answered and shut: what still comes is thrown away for a while.
void connection_linger(struct connection *connection);
void connection_close(struct connection *connection);
// Refuses a request, or what should have been one; the connection is closed behind the answer.
void connection_reject(struct connection *connection, const struct http_problem *problem);

// How many bytes may be received now, behind c->len of the read buffer; 0 if there is no room, and
// then connection_read_failed is told UV_ENOBUFS.
MUST_CHECK size_t connection_room(struct connection *connection);
// So many bytes have been received there. `more`: others wait in the socket.
void connection_received(struct connection *connection, size_t count, bool more);
// No more will come: UV_EOF, or what is wrong.
void connection_read_failed(struct connection *connection, ssize_t why);

// Makes the read buffer that large. False if there is no memory.
MUST_CHECK bool connection_grow(struct connection *connection, size_t cap);
// Reads on, if reading has stopped. False if the connection is of no use any more.
MUST_CHECK bool connection_read_on(struct connection *connection);
// The client is gone: tells the handler, if it has the request.
void connection_client_gone(struct connection *connection);

// wire.c
// The socket is open. False if there is no memory.
MUST_CHECK bool wire_open(struct connection *connection);
MUST_CHECK bool wire_read_start(struct connection *connection);
void wire_read_stop(struct connection *connection);
// Sends the parts, at most HTTP_PIECE_PARTS + 2, of which at least one is not empty. What waits is
// borrowed until `written` says how it went, c->left is how much it is, and c->moved has grown by
// what was taken.
MUST_CHECK enum http_piece wire_send(struct connection *connection, uv_buf_t *parts, unsigned count,
                                     void (*written)(struct connection *connection, int status));
// What the kernel takes at once of some bytes: how many, or libuv's error. Only if nothing waits.
MUST_CHECK int wire_try(const struct connection *connection, struct slice bytes);
// A short line between answers, if there is room for it.
void wire_say(struct connection *connection, struct slice line);
// Tells the client that no more is said. False if it cannot be told.
MUST_CHECK bool wire_shut(struct connection *connection);
// The same where the connection is closed at once.
void wire_end(struct connection *connection);
// Bytes of what is being sent that were not taken yet.
size_t wire_left(const struct connection *connection);
// Nothing is asked for: what is not needed goes.
void wire_rest(struct connection *connection);
void wire_free(struct connection *connection);

// Bytes that came but are of no use yet: as much room is needed beyond what is read.
static inline size_t wire_held(const struct connection *connection)
{
    return connection->wire == NULL ? 0 : connection->wire->partial;
}

// wire_tls.c
MUST_CHECK bool sealed_open(struct connection *connection);
MUST_CHECK bool sealed_read_start(struct connection *connection);
MUST_CHECK enum http_piece sealed_send(struct connection *connection, const uv_buf_t *parts,
                                       unsigned count);
void sealed_say(struct connection *connection, struct slice line);
// Says goodbye.
void sealed_end(struct connection *connection);
void sealed_rest(struct connection *connection);
void sealed_free(struct connection *connection);
// The turn of a connection that greets, or that has much to send.
void sealed_turn(struct connection *connection);

// taken.c
// The head is there, and somebody takes the request. False if there is no memory for its body.
MUST_CHECK bool taken_prepare(struct connection *connection);
void taken_begin(struct connection *connection);
// Gives the taker what has come, if it waits for something and something has.
void taken_advance(struct connection *connection);
// Tells a taker that waits that nothing will come.
void taken_fail(struct connection *connection, const struct http_problem *problem);
// The answer begins: what was not asked for of the body is skipped, or ends the connection.
void taken_answer(struct connection *connection);

// stream.c
// One turn of a stream that gave way to others.
void stream_turn(struct connection *connection);
// Once in a tick: cuts a client that does not take what waits.
void stream_tick(struct connection *connection, uint64_t now);
// The connection is of no use to the stream any more.
void stream_lose(struct connection *connection);
// The server stops.
void stream_stop(struct connection *connection, bool force);

// respond.c
// What the heads of all answers have: status, the loop's headers, the type; whether it is the last.
void respond_head_begin(struct connection *connection, int status, struct slice content_type);
void respond_head_connection(struct connection *connection);
void connection_send_continue(struct connection *connection);

// These two have no body, and must not speak of its length.
static inline bool respond_is_bodiless(int status)
{
    return status == 204 || status == 304;
}

static inline struct connection *connection_of_task(struct pool_task *task)
{
    return (struct connection *)(void *)((uint8_t *)task - offsetof(struct connection, task));
}

static inline const struct http_handler *connection_handler(const struct connection *connection)
{
    return &connection->loop->server->options.handler;
}

#endif
