// Bodies that are taken in pieces, over real sockets. "/take" takes all of a body and answers with
// its length and CRC; "/held" does the same when it is told to; "/refuse" answers without asking
// for any of it; "/one" after the first piece. Everything else is handled as a whole.
#include "base/buf.h"
#include "base/encode.h"
#include "http/http.h"
#include "http/peer.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    struct http_server *server;
    struct budget budget;
    atomic_ulong taken; // bytes that takers have had
    atomic_int sent;
    atomic_int failed; // bodies that ended before their end
    _Atomic(struct http_exchange *) holder;
};

// What a taker keeps of its request.
struct sum {
    uint64_t bytes;
    uint32_t crc;
    char text[128];
};

static void respond(struct http_exchange *exchange, int status, const char *text)
{
    http_respond(exchange, &(struct http_response){.status = status, .body = slice_str(text)});
}

static void sum_answer(struct http_exchange *exchange)
{
    struct sum *sum = exchange->taken;
    (void)snprintf(sum->text, sizeof(sum->text), "<%lu %08x>", (unsigned long)sum->bytes, sum->crc);
    respond(exchange, 200, sum->text);
}

static void take_begin(struct http_exchange *exchange, void *context)
{
    struct fixture *f = context;
    struct sum *sum = calloc(1, sizeof(*sum));
    assert_null(exchange->taken);
    exchange->taken = sum;
    if (slice_is(exchange->request.path, "/refuse"))
        respond(exchange, 403, "<refused>");
    else if (slice_is(exchange->request.path, "/held"))
        atomic_store(&f->holder, exchange);
    else if (!http_has_body(&exchange->request))
        sum_answer(exchange);
    else
        http_body_next(exchange);
}

static void take_body(struct http_exchange *exchange, const struct http_part *part)
{
    struct fixture *f = exchange->user;
    struct sum *sum = exchange->taken;
    if (part->problem != NULL) {
        atomic_fetch_add(&f->failed, 1);
        respond(exchange, part->problem->status, part->problem->reason);
        return;
    }
    sum->bytes += part->bytes.len;
    sum->crc = crc32_more(sum->crc, part->bytes);
    atomic_fetch_add(&f->taken, part->bytes.len);
    if (slice_is(exchange->request.path, "/one") || part->last)
        sum_answer(exchange);
    else if (slice_is(exchange->request.path, "/held"))
        atomic_store(&f->holder, exchange);
    else
        http_body_next(exchange);
}

static void take_resume(struct http_exchange *exchange)
{
    http_body_next(exchange);
}

static void take_sent(struct http_exchange *exchange)
{
    struct fixture *f = exchange->user;
    free(exchange->taken);
    atomic_fetch_add(&f->sent, 1);
}

static const struct http_taker taker = {take_begin, take_body, take_resume, take_sent, NULL, NULL};

static const struct http_taker *on_head(struct http_exchange *exchange, void *context)
{
    (void)context;
    return slice_is(exchange->request.path, "/whole") ? NULL : &taker;
}

static bool on_open(struct http_exchange *exchange, void *context)
{
    exchange->user = context;
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
    respond(exchange, problem->status, problem->reason);
}

static void start(struct fixture *f, unsigned request_ms, size_t memory)
{
    memset(f, 0, sizeof(*f));
    budget_init(&f->budget, memory);
    struct http_options options = {.host = "127.0.0.1",
                                   .max_body = 1 << 10,
                                   .threads = 1,
                                   .request_ms = request_ms,
                                   .budget = &f->budget,
                                   .tls = peer_tls(),
                                   .handler = {.context = f,
                                               .open = on_open,
                                               .handle = on_handle,
                                               .resume = on_nothing,
                                               .sent = on_nothing,
                                               .close = on_nothing,
                                               .reject = on_reject,
                                               .head = on_head}};
    char error[256] = "";
    f->server = http_server_start(&options, error, sizeof(error));
    assert_non_null(f->server);
}

static void finish(struct fixture *f)
{
    http_server_stop(f->server);
    http_server_free(f->server);
}

static int dial(const struct fixture *f)
{
    int fd = peer_dial(http_server_port(f->server), 20);
    assert_true(fd >= 0);
    return fd;
}

static void send_all(int fd, const void *bytes, size_t len)
{
    for (size_t at = 0; at < len;) {
        ssize_t n = send(fd, (const char *)bytes + at, len - at, MSG_NOSIGNAL);
        if (n < 0)
            return; // refused, and the answer says so
        at += (size_t)n;
    }
}

static void say(int fd, const char *text)
{
    send_all(fd, text, strlen(text));
}

// Reads until `text` has come, and no further.
static void hear(int fd, const char *text)
{
    char got[8192];
    size_t len = 0;
    got[0] = 0;
    while (strstr(got, text) == NULL) {
        ssize_t n = recv(fd, got + len, len < sizeof(got) - 1 ? 1 : 0, 0);
        if (n <= 0)
            fail_msg("'%s' did not come, but '%s'", text, got);
        len += (size_t)n;
        got[len] = 0;
    }
}

enum { LARGE = 40 << 20 };

static uint8_t *large_make(char *expected, size_t size)
{
    uint8_t *bytes = malloc(LARGE);
    for (size_t i = 0; i < LARGE; i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 13);
    (void)snprintf(expected, size, "<%d %08x>", LARGE, crc32_of(slice_of(bytes, LARGE)));
    return bytes;
}

// ---- Tests -----------------------------------------------------------------------------------

// Far more than may be in memory, and more than a whole body may have; and then the next requests.
static void test_length(void **state)
{
    (void)state;
    struct fixture f;
    char expected[64];
    char head[128];
    uint8_t *bytes = large_make(expected, sizeof(expected));
    start(&f, 0, 4 << 20);
    int fd = dial(&f);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(head, sizeof(head),
                       "PUT /take HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n", LARGE);
        say(fd, head);
        send_all(fd, bytes, LARGE);
        say(fd, "POST /whole HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nwhole");
        hear(fd, expected);
    }
    say(fd, "GET /take HTTP/1.1\r\nHost: h\r\n\r\n");
    hear(fd, "<0 00000000>");
    (void)close(fd);
    free(bytes);
    finish(&f);
    assert_int_equal(atomic_load(&f.sent), 3);
}

static void test_chunked(void **state)
{
    (void)state;
    struct fixture f;
    char expected[64];
    uint8_t *bytes = large_make(expected, sizeof(expected));
    start(&f, 0, 0);
    int fd = dial(&f);
    say(fd, "PUT /take HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
    unsigned random = 1;
    for (size_t at = 0; at < LARGE;) {
        char size[32];
        random = random * 1103515245 + 12345;
        size_t len = 1 + (random >> 8) % (random & 64 ? 300000 : 40);
        len = len < LARGE - at ? len : LARGE - at;
        (void)snprintf(size, sizeof(size), "%zx\r\n", len);
        say(fd, size);
        send_all(fd, bytes + at, len);
        say(fd, "\r\n");
        at += len;
    }
    say(fd,
        "0\r\nX-Trailer: yes\r\n\r\nPOST /whole HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n"
        "whole");
    hear(fd, expected);
    say(fd,
        "PUT /take HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nx\r\n");
    hear(fd, "A chunk's size is missing.");
    assert_int_equal(atomic_load(&f.failed), 1);
    (void)close(fd);
    free(bytes);
    finish(&f);
}

// A coding that is nobody's business here, and a body that comes byte by byte with its head.
static void test_small(void **state)
{
    (void)state;
    struct fixture f;
    static const char text[] = "PUT /take HTTP/1.1\r\nHost: h\r\nContent-Encoding: br\r\n"
                               "Content-Length: 3\r\n\r\nabcGET /take HTTP/1.1\r\nHost: h\r\n\r\n";
    start(&f, 0, 0);
    int fd = dial(&f);
    for (size_t i = 0; i < sizeof(text) - 1; i++)
        send_all(fd, text + i, 1);
    hear(fd, "<0 00000000>");
    say(fd, text);
    hear(fd, "<3 352441c2>");
    hear(fd, "<0 00000000>");
    (void)close(fd);
    fd = dial(&f);
    say(fd,
        "POST /whole HTTP/1.1\r\nHost: h\r\nContent-Encoding: br\r\nContent-Length: 3\r\n\r\nabc");
    hear(fd, "415 Unsupported");
    (void)close(fd);
    finish(&f);
}

static void test_continue(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 0, 0);
    int fd = dial(&f);
    say(fd, "PUT /take HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    hear(fd, "HTTP/1.1 100 Continue\r\n\r\n");
    say(fd, "abc");
    hear(fd, "<3 352441c2>");
    say(fd, "PUT /take HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n");
    hear(fd, "HTTP/1.1 100 Continue\r\n\r\n");
    hear(fd, "<0 00000000>");
    // Nobody wants the body, and nobody asks for it.
    say(fd, "PUT /refuse HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    hear(fd, "HTTP/1.1 403 Forbidden\r\n");
    (void)close(fd);
    finish(&f);
}

// An answer before the end of the body ends the connection, unless the rest has come.
static void test_early_answer(void **state)
{
    (void)state;
    struct fixture f;
    char expected[64];
    uint8_t *bytes = large_make(expected, sizeof(expected));
    start(&f, 0, 0);
    int fd = dial(&f);
    say(fd, "PUT /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n"
            "abcGET /take HTTP/1.1\r\nHost: h\r\n\r\n");
    hear(fd, "<0 00000000>");
    say(fd, "PUT /one HTTP/1.1\r\nHost: h\r\nContent-Length: 41943040\r\n\r\n");
    send_all(fd, bytes, 8 << 20);
    hear(fd, "Connection: close\r\n");
    (void)close(fd);
    free(bytes);
    finish(&f);
}

// While nobody asks, no more than a buffer is read.
static void test_back_pressure(void **state)
{
    (void)state;
    struct fixture f;
    char expected[64];
    uint8_t *bytes = large_make(expected, sizeof(expected));
    start(&f, 0, 0);
    int fd = dial(&f);
    say(fd, "PUT /held HTTP/1.1\r\nHost: h\r\nContent-Length: 41943040\r\n\r\n");
    size_t sent = 0;
    for (int still = 0; still < 100;) {
        ssize_t n = send(fd, bytes + sent, LARGE - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        still = n > 0 ? 0 : still + 1;
        sent += n > 0 ? (size_t)n : 0;
        (void)usleep(1000);
    }
    assert_true(sent < LARGE);
    assert_int_equal(atomic_load(&f.taken), 0);
    assert_true(atomic_load(&f.budget.by_kind[BUDGET_BODIES]) <= 300 << 10);
    // Asked for piece by piece, all of it comes.
    while (atomic_load(&f.sent) == 0) {
        struct http_exchange *exchange = atomic_exchange(&f.holder, NULL);
        if (exchange != NULL)
            http_exchange_resume(exchange);
        ssize_t n = send(fd, bytes + sent, LARGE - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        sent += n > 0 ? (size_t)n : 0;
    }
    hear(fd, expected);
    (void)close(fd);
    free(bytes);
    finish(&f);
}

static void wait_for_failed(struct fixture *f, int count)
{
    for (int i = 0; i < 20000 && atomic_load(&f->failed) < count; i++)
        (void)usleep(1000);
    assert_int_equal(atomic_load(&f->failed), count);
}

// Clients that hang up, that stand still, and a server that stops.
static void test_failures(void **state)
{
    (void)state;
    static const char half[] = "PUT /take HTTP/1.1\r\nHost: h\r\nContent-Length: 30\r\n\r\nabc";
    struct fixture f;
    start(&f, 300, 0);
    int fd = dial(&f);
    say(fd, half);
    (void)close(fd);
    wait_for_failed(&f, 1);
    fd = dial(&f);
    say(fd, half);
    hear(fd, "The request took too long to arrive.");
    (void)close(fd);
    finish(&f);
    start(&f, 0, 0);
    fd = dial(&f);
    say(fd, half);
    while (atomic_load(&f.taken) < 3)
        (void)usleep(1000);
    finish(&f);
    assert_int_equal(atomic_load(&f.failed), 1);
    (void)close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_length),       cmocka_unit_test(test_chunked),
        cmocka_unit_test(test_small),        cmocka_unit_test(test_continue),
        cmocka_unit_test(test_early_answer), cmocka_unit_test(test_back_pressure),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
