// An HTTP/1.1 server on libuv: event loops, connections, exchanges. It knows nothing of
// what is served; a handler answers.
//
// Threads: each connection belongs to one event loop for all its life, and everything about it
// happens on that loop's thread: every callback of the handler and http_respond. The
// one exception is http_exchange_resume, which any thread may call.
//
// Life of an exchange (there is one per connection, used again for each request):
//   1. `open` when the connection begins;
//   2. `handle` when a request is complete, body included. The handler calls http_respond, at
//      once or later; the next request of the connection waits until it has been answered;
//   3. `sent` when the answer is with the kernel (or lost): what it pointed to may go;
//   4. `close` when the connection ends; never between `handle` and http_respond. If the client
//      hangs up meanwhile, `gone` says so; http_respond is still to be called.
// An answer that needs another thread: remember the exchange, return from `handle`, and from
// that thread call http_exchange_resume; `resume` then runs on the loop's thread.
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include "base/budget.h"
#include "base/buf.h"
#include "base/pool.h"
#include "http/parser.h"

struct http_server;

struct http_exchange {
    struct http_request request; // from `handle` until `sent`
    void *user;                  // the handler's, for the life of the connection
    struct http_exchange *next;  // private: the list of the resumed
};

// Everything is borrowed until `sent`.
struct http_response {
    int status;
    struct slice content_type; // may be empty
    struct slice headers;      // further header lines, each with its CR LF
    struct slice body;
    struct slice checksum; // if not empty: "name: ", for a header with the CRC-32 of what is sent
};

struct http_handler {
    void *context;
    // False refuses the connection.
    bool (*open)(struct http_exchange *exchange, void *context);
    void (*handle)(struct http_exchange *exchange, void *context);
    void (*resume)(struct http_exchange *exchange, void *context);
    void (*sent)(struct http_exchange *exchange, void *context);
    void (*close)(struct http_exchange *exchange, void *context);
    // A request that this layer refuses (malformed, too large, too slow): call http_respond now;
    // the connection is closed behind it. exchange->request has no more than was understood.
    void (*reject)(struct http_exchange *exchange, const struct http_problem *problem,
                   void *context);
    // The client has closed its side, or the connection is broken, while a request is with the
    // handler: long work for it may be given up. May be NULL.
    void (*gone)(struct http_exchange *exchange, void *context);
    // No request for a while: what is kept for the next one should go. May be NULL.
    void (*rest)(struct http_exchange *exchange, void *context);
};

struct http_options {
    const char *host;
    unsigned port;            // 0 picks a free one
    int bound;                // the socket of http_bind, if it is not 0; it is the server's then
    unsigned threads;         // event loops; 0 means one per core
    unsigned max_connections; // 0 means HTTP_CONNECTIONS_DEFAULT
    size_t max_body;          // bytes of a request body, compressed or not
    struct budget *budget;    // that connections are counted in; NULL for none
    unsigned idle_ms;         // a kept connection without a request; 0 means the default
    unsigned request_ms;      // a request or the taking of an answer; 0 means the default. Large
                              // bodies get a second more for each 64 KB that came or was taken
    const char *server_name;  // the Server header
    struct pool *pool;        // does what is long, such as compression; NULL: the loops do
    struct http_handler handler;
};

enum {
    HTTP_CONNECTIONS_DEFAULT = 10000,
    HTTP_IDLE_DEFAULT_MS = 120 * 1000,
    HTTP_REQUEST_DEFAULT_MS = 30 * 1000,
    HTTP_STALL_MS = 10 * 1000, // a client that sends or takes nothing for that long is cut
    HTTP_STOP_GRACE_MS = 500,  // half-sent requests and half-taken answers get that at a stop
    HTTP_COMPRESS_MIN = 4096,  // smaller answers are not compressed, as by the service
};

// A socket that is bound, but does not listen yet: whoever has much to do before serving learns
// first whether the port is free. -1 with a sentence in `error`.
MUST_CHECK int http_bind(const char *host, unsigned port, char *error, size_t error_size);
// Binds, starts the loops and serves. NULL with a sentence in `error` if that fails.
MUST_CHECK struct http_server *http_server_start(const struct http_options *options, char *error,
                                                 size_t error_size);
unsigned http_server_port(const struct http_server *server);

// Stops accepting, lets every request in progress be answered, closes the connections, and
// returns when all loops have ended. Any thread but a loop's.
void http_server_stop(struct http_server *server);
// After stop, and after every thread that may be inside http_exchange_resume has ended.
void http_server_free(struct http_server *server);

void http_respond(struct http_exchange *exchange, const struct http_response *response);

// Adds a header line that tells a text of several lines, for `headers` above: " | " stands between
// them, and what is too long for a header is left out. An empty text adds nothing.
void http_header_text(struct buf *headers, const char *name, struct slice text);

// Makes `resume` run on the exchange's loop. Cheap to call for many exchanges in a row: a loop
// is woken once for all that come before it gets to run.
void http_exchange_resume(struct http_exchange *exchange);

// Where the client of a connection is. False, and *out is empty, if the system cannot tell any
// more; best asked in `open`.
struct http_peer {
    char address[46]; // as text, IPv4 or IPv6; "" if unknown
    unsigned port;
};
bool http_exchange_peer(const struct http_exchange *exchange, struct http_peer *out);

// The number of the loop the exchange lives on, from 0: an index for per-loop state.
unsigned http_exchange_loop(const struct http_exchange *exchange);

#endif
