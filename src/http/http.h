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
// An answer in pieces takes the place of http_respond: see http_stream_begin.
// A compressed body comes as it was sent, if the handler has `unpacked`: http_unpack unpacks it,
// once the handler knows for whom that is worth while. An answer that needs another thread:
// remember the exchange, return from `handle`, and from that thread call http_exchange_resume;
// `resume` then runs on the loop's thread.
//
// A request whose body should not wait in memory is taken at its head: `head` answers with a taker,
// which hears of the request from then on instead of the handler. Its `begin` comes in the place of
// `handle`. It asks for the body part by part, and nothing is read of the socket beyond a buffer
// while it has not asked. It may answer without having asked for all of the body; the connection is
// then closed behind the answer.
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include "base/budget.h"
#include "base/buf.h"
#include "base/pool.h"
#include "http/parser.h"

struct http_server;
struct tls;

struct http_taker;

struct http_exchange {
    struct http_request request;    // from `handle` until `sent`
    void *user;                     // the handler's, for the life of the connection
    const struct http_taker *taker; // of this request, or NULL
    void *taken;                    // the taker's, NULL at `begin`
    struct http_exchange *next;     // private: the list of the resumed
};

// A part of a body, without the chunks it may have come in; it is valid until the next is asked
// for, or until the answer.
struct http_part {
    struct slice bytes; // may be empty if it is the last
    bool last;
    const struct http_problem *problem; // if not NULL: the body ends before its end. An answer is
                                        // still due; nobody may be there to read it
};

struct http_taker {
    void (*begin)(struct http_exchange *exchange, void *context); // the handler's context
    void (*body)(struct http_exchange *exchange, const struct http_part *part);
    void (*resume)(struct http_exchange *exchange);
    void (*sent)(struct http_exchange *exchange);
    void (*gone)(struct http_exchange *exchange);    // while no part is asked for; may be NULL
    void (*drained)(struct http_exchange *exchange); // may be NULL if it streams nothing
};

// Everything is borrowed until `sent`.
struct http_response {
    int status;
    struct slice content_type; // may be empty
    struct slice headers;      // further header lines, each with its CR LF
    struct slice body;
    struct slice checksum; // if not empty: "name: ", for a header with the CRC-32 of what is sent
    bool plain; // not to be compressed. Only the length counts of the body of an answer to HEAD
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
    // What http_stream_write or http_stream_file had to wait with is with the kernel: what it
    // pointed to may go, and the next piece may come. May be NULL if the handler streams nothing.
    void (*drained)(struct http_exchange *exchange, void *context);
    // The head of a request is there: who takes it, or NULL if its body is to be waited for.
    // Nothing may be answered yet. May be NULL.
    const struct http_taker *(*head)(struct http_exchange *exchange, void *context);
    // The body is what http_unpack() was asked for. If it cannot be, `reject` comes instead. May be
    // NULL: then `handle` gets unpacked bodies.
    void (*unpacked)(struct http_exchange *exchange, void *context);
    // A turn of a loop has ended: what was gathered in it may go. NULL if nothing is.
    void (*turn)(void *context);
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
    struct tls *tls;          // http/tls.h; borrowed for the life of the server. NULL: plain HTTP
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

// Not while a part of the body is asked for.
void http_respond(struct http_exchange *exchange, const struct http_response *response);

// Unpacks the body, by the pool, and calls `unpacked`, maybe at once. Between `handle` and the
// answer, only if the body is packed.
void http_unpack(struct http_exchange *exchange);
static inline bool http_is_packed(const struct http_request *request)
{
    return request->coding != HTTP_IDENTITY && request->body.len > 0;
}

// For takers: asks for the next part of the body, once, which comes in `body`, never at once. Not
// after the last one. A client that waits for "100 Continue" gets it with the first.
void http_body_next(struct http_exchange *exchange);
// Whether the request has a body that is not empty, as far as its head tells.
static inline bool http_has_body(const struct http_request *request)
{
    return request->chunked || request->length > 0;
}

// ---- Answers in pieces -----------------------------------------------------------------------
//
// Instead of http_respond: http_stream_begin, then pieces one after the other, then
// http_stream_end or http_stream_abort, and `sent` as always. Every call is made on the loop's
// thread. None of them but the last two calls back (`sent`); the others say how it went.
//
// A piece is borrowed, never copied: whoever owns it counts it in the budget. While one waits for
// its client (HTTP_PIECE_WAITS) no other may come; `drained` says when.
//
// `gone` is told once: the client has closed its side or its connection is broken, the client has
// not taken what waits for it (for HTTP_STALL_MS; or, unless the stream is `live`, at too slow a
// pace), or the server stops (a live stream is told at once, another after HTTP_STOP_GRACE_MS).
// The handler then ends or aborts the stream, now or later; until it does, nothing of the
// connection goes away. A live stream that has nothing to say is never cut for it.

struct http_stream_head {
    int status;
    struct slice content_type; // may be empty; all slices are borrowed for the call only
    struct slice headers;      // further header lines, each with its CR LF
    bool sized;                // exactly `length` bytes will come; else the answer is chunked, or
    uint64_t length;           // ends with the connection if the client speaks HTTP/1.0
    bool live;                 // may be quiet for as long as it likes, as event streams are
};

enum http_piece {
    HTTP_PIECE_TAKEN, // with the kernel: it may go, and the next may come at once
    HTTP_PIECE_WAITS, // it stays where it is until `drained`, or `sent`
    HTTP_PIECE_LOST,  // the connection is broken: call http_stream_abort; `gone` may not come
};

enum { HTTP_PIECE_PARTS = 64 };

// The head goes out with the first piece, or with the end. To HEAD, and with 204 and 304, pieces
// are taken and thrown away.
void http_stream_begin(struct http_exchange *exchange, const struct http_stream_head *head);
// At most HTTP_PIECE_PARTS slices, one behind the other. Not more than `length` in all.
MUST_CHECK enum http_piece http_stream_write(struct http_exchange *exchange,
                                             const struct slice *parts, size_t count);
// Bytes of a file, from `offset`. What is not in memory is read by the pool, so no loop waits for a
// disk. The descriptor is the handler's and stays open until then. A file that ends
// before that, or cannot be read, is a lost connection: `gone` comes.
MUST_CHECK enum http_piece http_stream_file(struct http_exchange *exchange, int fd, uint64_t offset,
                                            uint64_t length);
// All has been said. May come while a piece waits, which is then sent before; `sent` follows, now
// or later. If less than `length` was sent, the connection is cut, so that the client knows.
void http_stream_end(struct http_exchange *exchange);
// Cuts the connection: the client can tell that the answer is not whole. `sent` follows, now or
// later. Never while http_exchange_resume is on its way for this exchange: wait for `resume`.
void http_stream_abort(struct http_exchange *exchange);

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

// Whether the connection is protected by TLS.
bool http_exchange_secure(const struct http_exchange *exchange);

// The certificate of a client, which was verified: it is signed by an authority that the server
// knows, and was valid when the connection began. Texts are UTF-8, and "" if there is none, or if
// it is too long or has a NUL in it.
enum { HTTP_CERTIFICATE_NAME = 256, HTTP_CERTIFICATE_FINGERPRINT = 65 };
struct http_certificate {
    char common_name[HTTP_CERTIFICATE_NAME];        // of the subject: the last, if it has several
    char uri[HTTP_CERTIFICATE_NAME];                // the first of its alternative names
    char dns[HTTP_CERTIFICATE_NAME];                // …
    char email[HTTP_CERTIFICATE_NAME];              // …
    char fingerprint[HTTP_CERTIFICATE_FINGERPRINT]; // SHA-256 of its DER, in hexadecimal
};
// NULL if the client has shown none. It lives as long as the connection.
const struct http_certificate *http_exchange_certificate(const struct http_exchange *exchange);

// The number of the loop the exchange lives on, from 0: an index for per-loop state.
unsigned http_exchange_loop(const struct http_exchange *exchange);

#endif
