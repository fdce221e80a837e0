// What the files of this directory share: a server has loops, a loop has connections.
//
//   server.c      listening, accepting, start and stop
//   loop.c        one event loop: arriving sockets, resumed exchanges, the tick of the timeouts
//   connection.c  one connection: reading, the request in its buffer, what comes next
//   respond.c     one answer: head, compression, writing
#ifndef HTTP_HTTP_INTERNAL_H
#define HTTP_HTTP_INTERNAL_H

#include "base/buf.h"
#include "http/chunked.h"
#include "http/gzip.h"
#include "http/http.h"

#include <stdatomic.h>
#include <stddef.h>
#include <uv.h>

enum {
    READ_BUFFER = 8 << 10,       // a usual request fits
    READ_BUFFER_KEPT = 64 << 10, // a larger one is given back after its request
    READ_ROOM = 2 << 10,         // a read is not worth its system call for less
    TICK_MS = 250,
    TICK_CUTS = 4,       // giving back a large answer takes milliseconds, so few are cut in a tick
    LINGER_MS = 2000,    // how long a client that is not listened to may go on sending
    STOP_SETTLE_MS = 50, // what is in the sockets at a stop is still read
    PACE = 64,           // bytes per ms that a slow client must reach beyond its time
    INLINE_BODY = 64 << 10, // a larger answer is compressed in the pool
    REST_MS = 1000,         // an idle connection then keeps no buffers
    STARVED_MS = 5000,      // how long a body waits for memory
    STALLED_MS = 2000,      // a client that holds memory others wait for must move within
};

enum connection_state {
    CONNECTION_IDLE,      // no byte of a request
    CONNECTION_READING,   // some
    CONNECTION_HANDLING,  // the handler has it
    CONNECTION_WRITING,   // the kernel did not take the whole answer at once
    CONNECTION_LINGERING, // answered and shut; what still comes is thrown away
    CONNECTION_CLOSED,    // uv_close is on its way
};

struct connection {
    struct http_exchange exchange; // first: the two are cast into each other
    struct http_loop *loop;
    struct connection *before; // the loop's list
    struct connection *after;
    uv_tcp_t tcp;
    uv_write_t write;
    uv_shutdown_t shut;
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

// respond.c
void connection_send_continue(struct connection *connection);

static inline struct connection *connection_of_task(struct pool_task *task)
{
    return (struct connection *)(void *)((uint8_t *)task - offsetof(struct connection, task));
}

static inline const struct http_handler *connection_handler(const struct connection *connection)
{
    return &connection->loop->server->options.handler;
}

#endif
