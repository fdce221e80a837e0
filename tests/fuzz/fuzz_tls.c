// Bytes into the server's side of TLS. The first byte says whether they come from the start, or
// behind a handshake that went well; then each step is a byte that says what it is, one for its
// length, and its bytes: a request in a record, raw bytes, a record with a bit turned, new keys, a
// goodbye. Each is sent in two pieces. Whatever comes, the connection ends when the client has
// gone, and has given back what it was counted with.
#include "fuzz.h"

#include "base/files.h"
#include "crypt/certificate.h"
#include "http/http_internal.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static bool on_open(struct http_exchange *exchange, void *context)
{
    (void)exchange;
    (void)context;
    return true;
}

static void on_handle(struct http_exchange *exchange, void *context)
{
    (void)context;
    http_respond(exchange, &(struct http_response){.status = 200, .body = exchange->request.body});
}

static void on_nothing(struct http_exchange *exchange, void *context)
{
    (void)exchange;
    (void)context;
}

static void on_reject(struct http_exchange *exchange, const struct http_problem *problem,
                      void *context)
{
    (void)context;
    http_respond(exchange, &(struct http_response){.status = problem->status,
                                                   .body = slice_str(problem->reason)});
}

// Made once: the same for all inputs.
static struct tls *server_tls(void)
{
    static struct tls *tls;
    char directory[] = "/tmp/dolmen-fuzz.XXXXXX";
    char paths[4][64];
    char error[512];
    if (tls != NULL)
        return tls;
    ensure(mkdtemp(directory) != NULL);
    for (int i = 0; i < 4; i++)
        (void)snprintf(paths[i], sizeof(paths[i]), "%s/%d", directory, i);
    const struct certificate_wish wish = {.authority_certificate = paths[0],
                                          .authority_key = paths[1],
                                          .certificate = paths[2],
                                          .key = paths[3]};
    ensure(certificate_make(&wish, error, sizeof(error)));
    tls = tls_open(
        &(struct tls_options){.certificate = paths[2], .key = paths[3], .client_ca = paths[0]},
        error, sizeof(error));
    ensure(tls != NULL && directory_remove(directory));
    return tls;
}

struct talk {
    struct http_loop *loop;
    int fd;
    SSL *ssl;
    BIO *in;
    BIO *out;
};

static void loop_turn(struct talk *talk)
{
    uint8_t got[4096];
    for (int i = 0; i < 3; i++)
        (void)uv_run(&talk->loop->uv, UV_RUN_NOWAIT);
    for (ssize_t len; (len = recv(talk->fd, got, sizeof(got), MSG_DONTWAIT)) > 0;)
        (void)BIO_write(talk->in, got, (int)len);
}

static void raw_send(struct talk *talk, const uint8_t *bytes, size_t len)
{
    size_t half = len / 2;
    (void)send(talk->fd, bytes, half, MSG_DONTWAIT | MSG_NOSIGNAL);
    loop_turn(talk);
    (void)send(talk->fd, bytes + half, len - half, MSG_DONTWAIT | MSG_NOSIGNAL);
    loop_turn(talk);
}

// What OpenSSL has to say, with the bit turned that `flip` names, if it is not 0.
static void sealed_send_out(struct talk *talk, uint8_t flip)
{
    uint8_t bytes[32 << 10];
    int len = BIO_read(talk->out, bytes, sizeof(bytes));
    if (len <= 0)
        return;
    if (flip != 0)
        bytes[flip % len] ^= (uint8_t)(1 << flip % 8);
    raw_send(talk, bytes, (size_t)len);
}

static void greet(struct talk *talk)
{
    for (int i = 0; i < 8 && SSL_do_handshake(talk->ssl) != 1; i++)
        sealed_send_out(talk, 0);
    sealed_send_out(talk, 0);
}

static void step(struct talk *talk, struct slice *in)
{
    uint8_t kind = fuzz_byte(in);
    size_t len = fuzz_byte(in);
    uint8_t got[4096];
    len = len < in->len ? len : in->len;
    struct slice bytes = slice_of(in->ptr, len);
    *in = slice_of(in->ptr + len, in->len - len);
    if (kind % 5 == 1 || talk->ssl == NULL) {
        raw_send(talk, bytes.ptr, bytes.len);
        return;
    }
    if (kind % 5 == 3)
        (void)SSL_key_update(talk->ssl, SSL_KEY_UPDATE_REQUESTED);
    else if (kind % 5 == 4)
        (void)SSL_shutdown(talk->ssl);
    if (bytes.len > 0)
        (void)SSL_write(talk->ssl, bytes.ptr, (int)bytes.len);
    sealed_send_out(talk, kind % 5 == 2 ? kind : 0);
    (void)SSL_read(talk->ssl, got, sizeof(got));
    ERR_clear_error();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    struct budget budget;
    struct http_server server = {.options = {.max_body = 1 << 16,
                                             .budget = &budget,
                                             .idle_ms = HTTP_IDLE_DEFAULT_MS,
                                             .request_ms = HTTP_REQUEST_DEFAULT_MS,
                                             .max_connections = 1,
                                             .tls = server_tls(),
                                             .handler = {.open = on_open,
                                                         .handle = on_handle,
                                                         .resume = on_nothing,
                                                         .sent = on_nothing,
                                                         .close = on_nothing,
                                                         .reject = on_reject}},
                                 .connections = 1};
    struct http_loop *loop = calloc(1, sizeof(*loop));
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    int pair[2];
    budget_init(&budget, 16 << 20);
    ensure(context != NULL && loop != NULL && loop_init(loop, &server, 0));
    ensure(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    atomic_store(&loop->connection_count, 1);
    connection_open(loop, pair[0]);
    struct talk talk = {.loop = loop, .fd = pair[1], .in = BIO_new(BIO_s_mem())};
    talk.out = BIO_new(BIO_s_mem());
    if (fuzz_byte(&in) % 2 == 1) {
        talk.ssl = SSL_new(context);
        SSL_set_bio(talk.ssl, talk.in, talk.out);
        SSL_set_connect_state(talk.ssl);
        greet(&talk);
    }
    while (in.len > 0)
        step(&talk, &in);
    (void)close(pair[1]);
    for (int i = 0; i < 100 && loop->connections != NULL; i++)
        (void)uv_run(&loop->uv, UV_RUN_NOWAIT);
    ensure(loop->connections == NULL && budget.used == 0);
    loop_release(loop);
    free(loop);
    if (talk.ssl == NULL) {
        BIO_free(talk.in);
        BIO_free(talk.out);
    }
    SSL_free(talk.ssl);
    SSL_CTX_free(context);
    ERR_clear_error();
    return 0;
}
