// The server over real sockets, with a handler of its own: "/now" answers at once, "/later"
// from another thread, "/big" with more than the kernel takes at once, "/echo" with the body.
#include "base/buf.h"
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

enum { BIG = 24 << 20, QUEUE = 1024 };

// The thread that answers later, as a writer would: it resumes all that wait together.
struct fixture {
    struct http_server *server;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct http_exchange *waiting[QUEUE];
    size_t count;
    bool held; // nothing is resumed while this is set
    bool stopping;
    uint8_t *big;
    atomic_int opened;
    atomic_int closed;
    atomic_int sent;
    atomic_int gone;
    atomic_int handled;
    atomic_int before_modest; // requests that were handled before "/now?modest"
    bool standing;            // the loop is in "/stop"
    bool stand;               // and is to stay there
    struct pool *pool;
    atomic_int rested;
};

static void *resume_main(void *context)
{
    struct fixture *f = context;
    (void)pthread_mutex_lock(&f->lock);
    while (!f->stopping) {
        if (f->count == 0 || f->held) {
            (void)pthread_cond_wait(&f->changed, &f->lock);
            continue;
        }
        size_t count = f->count;
        struct http_exchange *batch[QUEUE];
        memcpy(batch, f->waiting, count * sizeof(batch[0]));
        f->count = 0;
        (void)pthread_mutex_unlock(&f->lock);
        for (size_t i = 0; i < count; i++)
            http_exchange_resume(batch[i]);
        (void)pthread_mutex_lock(&f->lock);
    }
    (void)pthread_mutex_unlock(&f->lock);
    return NULL;
}

static void hold(struct fixture *f, bool held)
{
    (void)pthread_mutex_lock(&f->lock);
    f->held = held;
    (void)pthread_cond_signal(&f->changed);
    (void)pthread_mutex_unlock(&f->lock);
}

static void stand_still(struct fixture *f, bool stand)
{
    (void)pthread_mutex_lock(&f->lock);
    f->stand = stand;
    (void)pthread_cond_broadcast(&f->changed);
    (void)pthread_mutex_unlock(&f->lock);
}

static void wait_for_standing(struct fixture *f)
{
    (void)pthread_mutex_lock(&f->lock);
    while (!f->standing)
        (void)pthread_cond_wait(&f->changed, &f->lock);
    (void)pthread_mutex_unlock(&f->lock);
}

// The handler of "/stop": keeps the loop from everything else.
static void stand(struct fixture *f)
{
    (void)pthread_mutex_lock(&f->lock);
    f->standing = true;
    (void)pthread_cond_broadcast(&f->changed);
    while (f->stand)
        (void)pthread_cond_wait(&f->changed, &f->lock);
    (void)pthread_mutex_unlock(&f->lock);
}

static void wait_for_waiting(struct fixture *f, size_t count)
{
    for (int i = 0; i < 2000; i++) {
        (void)pthread_mutex_lock(&f->lock);
        bool enough = f->count >= count;
        (void)pthread_mutex_unlock(&f->lock);
        if (enough)
            return;
        (void)usleep(1000);
    }
    fail_msg("nothing waits");
}

static void wait_for_closed(struct fixture *f, int count)
{
    for (int i = 0; i < 3000 && atomic_load(&f->closed) < count; i++)
        (void)usleep(1000);
    assert_int_equal(atomic_load(&f->closed), count);
}

// ---- The handler -----------------------------------------------------------------------------

static void respond(struct http_exchange *exchange, int status, struct slice body)
{
    http_respond(exchange, &(struct http_response){.status = status,
                                                   .content_type = SLICE_LIT("text/plain"),
                                                   .headers = SLICE_LIT("X-Test: yes\r\n"),
                                                   .body = body,
                                                   .checksum = SLICE_LIT("x-crc: ")});
}

static bool on_open(struct http_exchange *exchange, void *context)
{
    struct fixture *f = context;
    exchange->user = f;
    atomic_fetch_add(&f->opened, 1);
    return true;
}

static void on_handle(struct http_exchange *exchange, void *context)
{
    struct fixture *f = context;
    struct slice path = exchange->request.path;
    if (slice_is(path, "/later")) {
        (void)pthread_mutex_lock(&f->lock);
        f->waiting[f->count++] = exchange;
        (void)pthread_cond_signal(&f->changed);
        (void)pthread_mutex_unlock(&f->lock);
    } else if (slice_is(path, "/big")) {
        respond(exchange, 200, slice_of(f->big, BIG));
    } else if (slice_is(path, "/echo")) {
        respond(exchange, 200, exchange->request.body);
    } else {
        if (slice_is(path, "/stop"))
            stand(f);
        else if (slice_is(exchange->request.query, "modest"))
            atomic_store(&f->before_modest, atomic_load(&f->handled));
        else
            atomic_fetch_add(&f->handled, 1);
        respond(exchange, 200, exchange->request.query);
    }
}

static void on_resume(struct http_exchange *exchange, void *context)
{
    (void)context;
    respond(exchange, 200, exchange->request.query);
}

static void on_sent(struct http_exchange *exchange, void *context)
{
    (void)exchange;
    struct fixture *f = context;
    atomic_fetch_add(&f->sent, 1);
}

static void on_close(struct http_exchange *exchange, void *context)
{
    struct fixture *f = context;
    assert_ptr_equal(exchange->user, f);
    atomic_fetch_add(&f->closed, 1);
}

static void on_reject(struct http_exchange *exchange, const struct http_problem *problem,
                      void *context)
{
    (void)context;
    respond(exchange, problem->status, slice_str(problem->reason));
}

static void on_gone(struct http_exchange *exchange, void *context)
{
    (void)exchange;
    struct fixture *f = context;
    atomic_fetch_add(&f->gone, 1);
}

static void on_rest(struct http_exchange *exchange, void *context)
{
    (void)exchange;
    struct fixture *f = context;
    atomic_fetch_add(&f->rested, 1);
}

// ---- The fixture -------------------------------------------------------------------------------

static void start_with(struct fixture *f, struct http_options options)
{
    memset(f, 0, sizeof(*f));
    (void)pthread_mutex_init(&f->lock, NULL);
    (void)pthread_cond_init(&f->changed, NULL);
    f->big = calloc(1, BIG);
    options.host = "127.0.0.1";
    options.max_body = 1 << 20;
    options.threads = options.threads == 0 ? 2 : options.threads;
    f->pool = pool_new(1);
    options.pool = f->pool;
    options.tls = peer_tls();
    options.handler =
        (struct http_handler){f,       on_open, on_handle, on_resume, on_sent, on_close, on_reject,
                              on_gone, on_rest, NULL,      NULL,      NULL,    NULL};
    char error[256] = "";
    f->server = http_server_start(&options, error, sizeof(error));
    assert_non_null(f->server);
    assert_int_equal(pthread_create(&f->thread, NULL, resume_main, f), 0);
}

static void start(struct fixture *f)
{
    start_with(f, (struct http_options){0});
}

static void finish(struct fixture *f)
{
    http_server_stop(f->server);
    (void)pthread_mutex_lock(&f->lock);
    f->stopping = true;
    (void)pthread_cond_signal(&f->changed);
    (void)pthread_mutex_unlock(&f->lock);
    (void)pthread_join(f->thread, NULL);
    http_server_free(f->server);
    assert_int_equal(atomic_load(&f->opened), atomic_load(&f->closed));
    pool_free(f->pool);
    free(f->big);
    (void)pthread_mutex_destroy(&f->lock);
    (void)pthread_cond_destroy(&f->changed);
}

static int dial(const struct fixture *f)
{
    int fd = peer_dial(http_server_port(f->server), 10);
    assert_true(fd >= 0);
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

// Reads until the end of the connection or until `text` has come; what came is in `got`.
static bool hear(int fd, const char *text, char *got, size_t size)
{
    size_t len = 0;
    got[0] = 0;
    while (len < size - 1 && (text == NULL || strstr(got, text) == NULL)) {
        ssize_t n = recv(fd, got + len, size - 1 - len, 0);
        if (n <= 0)
            return text == NULL && n == 0;
        len += (size_t)n;
        got[len] = 0;
    }
    return text != NULL;
}

// Reads one answer whose body has `len` bytes; returns the body, which is in `got`.
static char *hear_answer(int fd, char *got, size_t size, size_t len)
{
    size_t have = 0;
    char *body = NULL;
    while (body == NULL || (size_t)(body - got) + len > have) {
        ssize_t n = recv(fd, got + have, size - 1 - have, 0);
        assert_true(n > 0);
        have += (size_t)n;
        body = memmem(got, have, "\r\n\r\n", 4);
        body = body == NULL ? NULL : body + 4;
    }
    got[have] = 0;
    return body;
}

#define GET(target) "GET " target " HTTP/1.1\r\nHost: h\r\n\r\n"

// ---- Tests --------------------------------------------------------------------------

static void test_now_and_later(void **state)
{
    (void)state;
    struct fixture f;
    char got[4096];
    start(&f);
    int fd = dial(&f);
    for (int i = 0; i < 3; i++) {
        say(fd, GET("/now?alpha"));
        assert_true(hear(fd, "alpha", got, sizeof(got)));
        assert_non_null(strstr(got, "HTTP/1.1 200 OK\r\n"));
        assert_non_null(strstr(got, "Connection: keep-alive\r\n"));
        assert_non_null(strstr(got, "X-Test: yes\r\n"));
        say(fd, GET("/later?beta"));
        assert_true(hear(fd, "beta", got, sizeof(got)));
    }
    (void)close(fd);
    finish(&f);
    assert_int_equal(atomic_load(&f.sent), 6);
}

static void test_pipeline_in_order(void **state)
{
    (void)state;
    struct fixture f;
    char got[8192];
    start(&f);
    int fd = dial(&f);
    say(fd, GET("/later?r1") GET("/now?r2")
                GET("/later?r3") "POST /echo HTTP/1.1\r\nHost: h\r\n"
                                 "Content-Length: 2\r\n\r\nr4" GET("/now?r5"));
    assert_true(hear(fd, "r5", got, sizeof(got)));
    const char *at = got;
    static const char *const order[] = {"\r\n\r\nr1", "\r\n\r\nr2", "\r\n\r\nr3", "\r\n\r\nr4",
                                        "\r\n\r\nr5"};
    for (size_t i = 0; i < COUNT_OF(order); i++) {
        at = strstr(at, order[i]);
        assert_non_null(at);
    }
    (void)close(fd);
    finish(&f);
}

// More than the read buffer holds arrives while a request is pending: reading pauses and goes on.
static void test_pipeline_pauses(void **state)
{
    (void)state;
    struct fixture f;
    enum { COUNT = 2000 };
    start(&f);
    hold(&f, true);
    int fd = dial(&f);
    say(fd, GET("/later?first"));
    for (int i = 0; i < COUNT; i++)
        say(fd, GET("/now?x"));
    say(fd, GET("/now?last"));
    wait_for_waiting(&f, 1);
    (void)usleep(20000);
    assert_int_equal(atomic_load(&f.sent), 0);
    hold(&f, false);
    size_t size = 1 << 20;
    char *got = malloc(size);
    assert_true(hear(fd, "last", got, size));
    assert_int_equal(atomic_load(&f.sent), COUNT + 2);
    free(got);
    (void)close(fd);
    finish(&f);
}

// Requests that a client sends in one piece do not keep others of its loop waiting: each is taken
// in a turn of its own. With one loop, the order in which the handler sees requests is the proof.
static void test_turns(void **state)
{
    (void)state;
    enum { COUNT = 50 };
    struct fixture f;
    char got[64 << 10];
    struct buf flood;
    start_with(&f, (struct http_options){.threads = 1});
    int greedy = dial(&f);
    int modest = dial(&f);
    // The loop stands still in "/stop" until both have sent everything.
    int gate = dial(&f);
    stand_still(&f, true);
    say(gate, GET("/stop"));
    wait_for_standing(&f);
    buf_init(&flood, COUNT * 64);
    for (int i = 0; i < COUNT; i++)
        buf_text(&flood, GET("/now?greedy"));
    assert_int_equal(send(greedy, flood.ptr, flood.len, MSG_NOSIGNAL), (ssize_t)flood.len);
    buf_release(&flood);
    say(modest, GET("/now?modest"));
    stand_still(&f, false);
    assert_true(hear(modest, "\r\n\r\nmodest", got, sizeof(got)));
    // It came among the first, whichever the loop read first.
    int before = atomic_load(&f.before_modest);
    assert_true(before <= 2 || PEER_CARRIED);
    size_t answers = 0;
    while (answers < COUNT) {
        assert_true(hear(greedy, "greedy", got, sizeof(got)));
        for (const char *at = got; (at = strstr(at, "greedy")) != NULL; at++)
            answers++;
    }
    (void)close(greedy);
    (void)close(modest);
    (void)close(gate);
    finish(&f);
}

// A client that hangs up while the handler has its request is told to the handler, also if reading
// is paused because of what it has sent behind it.
static void test_gone(void **state)
{
    (void)state;
    struct fixture f;
    static char much[1 << 20];
    start(&f);
    hold(&f, true);
    memset(much, 'x', sizeof(much));
    for (int i = 0; i < 4; i++) {
        int fd = dial(&f);
        struct linger reset = {1, 0};
        say(fd, GET("/later?gone"));
        wait_for_waiting(&f, (size_t)i + 1);
        if (i >= 2)
            (void)send(fd, much, sizeof(much), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (i % 2 == 0)
            (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
        (void)close(fd);
        for (int k = 0; k < 5000 && atomic_load(&f.gone) < i + 1; k++)
            (void)usleep(1000);
        assert_true(atomic_load(&f.gone) >= i + 1);
    }
    hold(&f, false);
    wait_for_closed(&f, 4);
    finish(&f);
}

// A client that takes nothing of its answer is cut, and so is one that stops in the middle of a
// body, although much of it has come.
static void test_stalled(void **state)
{
    (void)state;
    struct fixture f;
    static char half[512 << 10];
    start_with(&f, (struct http_options){.request_ms = 300});
    int reader = dial(&f);
    int sender = dial(&f);
    say(reader, GET("/big"));
    say(sender, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n");
    assert_int_equal(send(sender, half, sizeof(half), MSG_NOSIGNAL), (ssize_t)sizeof(half));
    wait_for_closed(&f, 2);
    (void)close(reader);
    (void)close(sender);
    finish(&f);
}

static void test_body_grows(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    int fd = dial(&f);
    size_t len = 1 << 20;
    char *body = malloc(len + 1);
    for (size_t i = 0; i < len; i++)
        body[i] = (char)('a' + i % 26);
    body[len] = 0;
    size_t size = len + 1024;
    char *got = malloc(size);
    for (int round = 0; round < 2; round++) {
        say(fd, "POST /echo HTTP/1.1\r\nHost: h\r\nX-Crowd: 1\r\nContent-Length: 1048576\r\n\r\n");
        say(fd, body);
        char *start_of = hear_answer(fd, got, size, len);
        assert_memory_equal(start_of, body, len);
    }
    free(body);
    free(got);
    (void)close(fd);
    finish(&f);
}

// A body for which there is no memory waits in the socket until there is some, or until it is
// refused.
static void test_body_waits_for_memory(void **state)
{
    (void)state;
    struct fixture f;
    struct budget budget;
    budget_init(&budget, 8 << 20);
    struct budget_account others = {.budget = &budget};
    start_with(&f, (struct http_options){.budget = &budget, .request_ms = 1000});
    assert_true(budget_take(&others, BUDGET_CALLS, 7 << 20));
    size_t len = 1 << 20;
    char *body = malloc(len + 1);
    memset(body, 'a', len);
    body[len] = 0;
    char *got = malloc(len + 1024);
    int fd = dial(&f);
    say(fd, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1048576\r\n\r\n");
    say(fd, body);
    while (budget_refused(&budget) == 0)
        (void)usleep(1000);
    say(fd, GET("/now?tail")); // lies behind it
    budget_give(&others, BUDGET_CALLS, 7 << 20);
    assert_memory_equal(hear_answer(fd, got, len + 1024, len), body, len);
    (void)close(fd);
    wait_for_closed(&f, 1);
    while (atomic_load(&budget.used) > 0) // what it held goes just behind that
        (void)usleep(1000);

    assert_true(budget_take(&others, BUDGET_CALLS, 6 << 20));
    assert_true(budget_take(&others, BUDGET_CALLS, 1 << 20));
    fd = dial(&f);
    say(fd, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1048576\r\n\r\n");
    (void)send(fd, body, len, MSG_NOSIGNAL);
    assert_true(hear(fd, "retry in a moment.", got, len));
    assert_non_null(strstr(got, "HTTP/1.1 503 Service Unavailable\r\n"));
    (void)close(fd);
    free(body);
    free(got);
    finish(&f);
    budget_give(&others, BUDGET_CALLS, 7 << 20);
    assert_int_equal(budget.used, 0);
}

static void test_idle_connections_rest(void **state)
{
    (void)state;
    struct fixture f;
    struct budget budget;
    char got[4096];
    budget_init(&budget, 8 << 20);
    start_with(&f, (struct http_options){.budget = &budget});
    int fd = dial(&f);
    for (int round = 1; round <= 2; round++) {
        say(fd, GET("/now?alpha"));
        assert_true(hear(fd, "alpha", got, sizeof(got)));
        assert_int_equal(budget.used, BUDGET_CONNECTION + PEER_COST);
        for (int i = 0; i < 10000 && atomic_load(&f.rested) < round; i++)
            (void)usleep(1000);
        assert_int_equal(atomic_load(&f.rested), round);
    }
    (void)close(fd);
    finish(&f);
    assert_int_equal(budget.used, 0);
}

static void test_chunked_and_continue(void **state)
{
    (void)state;
    struct fixture f;
    char got[4096];
    start(&f);
    int fd = dial(&f);
    say(fd, "POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
            "Transfer-Encoding: chunked\r\n\r\n");
    assert_true(hear(fd, "100 Continue\r\n\r\n", got, sizeof(got)));
    say(fd, "4\r\nstre");
    (void)usleep(5000);
    say(fd, "\r\n5;x=y\r\naming\r\n0\r\nT: u\r\n\r\n" GET("/now?next"));
    assert_true(hear(fd, "next", got, sizeof(got)));
    assert_non_null(strstr(got, "\r\n\r\nstreaming"));
    (void)close(fd);
    finish(&f);
}

static void test_half_closed(void **state)
{
    (void)state;
    struct fixture f;
    char got[4096];
    start(&f);
    int fd = dial(&f);
    say(fd, GET("/later?one") GET("/later?two"));
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    assert_true(hear(fd, NULL, got, sizeof(got)));
    assert_non_null(strstr(got, "\r\n\r\none"));
    assert_non_null(strstr(got, "\r\n\r\ntwo"));
    (void)close(fd);
    wait_for_closed(&f, 1);
    finish(&f);
}

// The client is gone while its request is pending: the exchange lives until it is answered.
static void test_vanished(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    hold(&f, true);
    for (int i = 0; i < 4; i++) {
        int fd = dial(&f);
        say(fd, GET("/later?gone"));
        wait_for_waiting(&f, (size_t)i + 1);
        struct linger reset = {1, 0};
        if (i % 2 == 0)
            (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
        (void)close(fd);
    }
    (void)usleep(20000);
    assert_int_equal(atomic_load(&f.closed), 0);
    hold(&f, false);
    wait_for_closed(&f, 4);
    finish(&f);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *status;
    } rows[] = {
        {"nonsense\r\n\r\n", "HTTP/1.1 400 "},
        {"GET / HTTP/3.0\r\nHost: h\r\n\r\n", "HTTP/1.1 505 "},
        {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1048577\r\n\r\n", "HTTP/1.1 413 "},
        {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n100001\r\n",
         "HTTP/1.1 413 "},
        {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "HTTP/1.1 400 "},
        {"POST / HTTP/1.1\r\nHost: h\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
         "HTTP/1.1 400 "},
    };
    struct fixture f;
    char got[4096];
    start(&f);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int fd = dial(&f);
        say(fd, rows[i].text);
        (void)send(fd, "more that nobody reads", 22, MSG_NOSIGNAL);
        assert_true(hear(fd, NULL, got, sizeof(got)));
        assert_ptr_equal(strstr(got, rows[i].status), got);
        assert_non_null(strstr(got, "Connection: close\r\n"));
        (void)close(fd);
    }
    finish(&f);
}

static void test_slow_clients(void **state)
{
    (void)state;
    struct fixture f;
    char got[4096];
    start_with(&f, (struct http_options){.request_ms = 100, .idle_ms = 100});
    int slow = dial(&f);
    int idle = dial(&f);
    say(slow, "GET / HT");
    assert_true(hear(slow, NULL, got, sizeof(got)));
    assert_ptr_equal(strstr(got, "HTTP/1.1 408 "), got);
    assert_true(hear(idle, NULL, got, sizeof(got)));
    assert_string_equal(got, "");
    (void)close(slow);
    (void)close(idle);
    wait_for_closed(&f, 2);
    finish(&f);
}

static void test_big_answer(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    int fd = dial(&f);
    say(fd, GET("/big") GET("/now?tail"));
    size_t got = 0;
    char piece[1 << 16];
    bool tail = false;
    while (!tail) {
        ssize_t n = recv(fd, piece, sizeof(piece), 0);
        assert_true(n > 0);
        got += (size_t)n;
        tail = got > BIG && memmem(piece, (size_t)n, "tail", 4) != NULL;
    }
    (void)close(fd);
    finish(&f);
}

static void test_compressed_answer(void **state)
{
    (void)state;
    struct fixture f;
    static char got[1 << 20];
    start(&f);
    int fd = dial(&f);
    say(fd, "GET /big HTTP/1.1\r\nHost: h\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n");
    assert_true(hear(fd, NULL, got, sizeof(got)));
    assert_non_null(strstr(got, "Content-Encoding: gzip\r\n"));
    (void)close(fd);
    finish(&f);
}

// At a stop the pending request is answered, with "close"; idle connections end at once.
static void *stop_main(void *context)
{
    http_server_stop(((struct fixture *)context)->server);
    return NULL;
}

static void test_stop_finishes(void **state)
{
    (void)state;
    struct fixture f;
    char got[4096];
    start(&f);
    hold(&f, true);
    int idle = dial(&f);
    int busy = dial(&f);
    say(busy, GET("/later?kept"));
    wait_for_waiting(&f, 1);
    pthread_t stopper;
    assert_int_equal(pthread_create(&stopper, NULL, stop_main, &f), 0);
    assert_true(hear(idle, NULL, got, sizeof(got)));
    hold(&f, false);
    assert_true(hear(busy, NULL, got, sizeof(got)));
    assert_non_null(strstr(got, "\r\n\r\nkept"));
    assert_non_null(strstr(got, "Connection: close\r\n"));
    (void)pthread_join(stopper, NULL);
    (void)close(idle);
    (void)close(busy);
    finish(&f);
}

static void test_connection_limit(void **state)
{
    (void)state;
    struct fixture f;
    char got[4096];
    start_with(&f, (struct http_options){.max_connections = 2});
    int fds[3];
    for (int i = 0; i < 3; i++) {
        fds[i] = dial(&f);
        if (i < 2) {
            say(fds[i], GET("/now?in"));
            assert_true(hear(fds[i], "\r\n\r\nin", got, sizeof(got)));
        }
    }
    assert_true(hear(fds[2], NULL, got, sizeof(got)));
    assert_string_equal(got, "");
    (void)close(fds[0]);
    wait_for_closed(&f, 1);
    int again = dial(&f);
    say(again, GET("/now?again"));
    assert_true(hear(again, "\r\n\r\nagain", got, sizeof(got)));
    for (int i = 1; i < 3; i++)
        (void)close(fds[i]);
    (void)close(again);
    finish(&f);
}

static void test_port_in_use(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    struct http_options options = {.host = "127.0.0.1", .port = http_server_port(f.server)};
    char error[256] = "";
    assert_null(http_server_start(&options, error, sizeof(error)));
    assert_non_null(strstr(error, "is already in use"));
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_now_and_later),
        cmocka_unit_test(test_pipeline_in_order),
        cmocka_unit_test(test_pipeline_pauses),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_gone),
        cmocka_unit_test(test_stalled),
        cmocka_unit_test(test_body_grows),
        cmocka_unit_test(test_body_waits_for_memory),
        cmocka_unit_test(test_idle_connections_rest),
        cmocka_unit_test(test_chunked_and_continue),
        cmocka_unit_test(test_half_closed),
        cmocka_unit_test(test_vanished),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_slow_clients),
        cmocka_unit_test(test_big_answer),
        cmocka_unit_test(test_compressed_answer),
        cmocka_unit_test(test_stop_finishes),
        cmocka_unit_test(test_connection_limit),
        cmocka_unit_test(test_port_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
