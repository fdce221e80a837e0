// Answers in pieces over real sockets. The handler streams what the path says:
//   /pieces  LINES lines, chunked, each a piece of its own
//   /sized   the same with a length; /short promises more than it sends
//   /large   pieces of LARGE bytes, PIECES of them, known length
//   /file    the bytes of the test's file that the query says: OFFSET-LENGTH
//   /live    "hello", and then what the test says, by way of http_exchange_resume
//   /flood   a live stream that never stops writing
#include "base/buf.h"
#include "http/http.h"
#include "http/peer.h"

#include <arpa/inet.h>
#include <fcntl.h>
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

enum { LINES = 500, LARGE = 3 << 20, PIECES = 5, FILE_SIZE = (9 << 20) + 123 };

struct fixture {
    struct http_server *server;
    struct pool *pool;
    uint8_t *large;
    int file;
    struct http_exchange *live; // the last /live
    atomic_bool live_there;
    atomic_bool live_end; // what the next resume does
    atomic_int gone;
    atomic_int sent;
    atomic_int opened;
    atomic_int closed;
    atomic_int drained;
    atomic_int lost;
};

struct talk {
    char kind; // the first letter of the path
    unsigned done;
    bool streaming;
    char line[32];
};

// ---- The handler -----------------------------------------------------------------------------

static bool on_open(struct http_exchange *exchange, void *context)
{
    struct fixture *f = context;
    exchange->user = calloc(1, sizeof(struct talk));
    atomic_fetch_add(&f->opened, 1);
    return exchange->user != NULL;
}

static enum http_piece write_one(struct http_exchange *exchange, struct slice piece)
{
    return http_stream_write(exchange, &piece, 1);
}

static enum http_piece file_piece(struct fixture *f, struct http_exchange *exchange)
{
    struct slice length = exchange->request.query;
    struct slice offset = slice_cut(&length, '-');
    return http_stream_file(exchange, f->file, strtoull((const char *)offset.ptr, NULL, 10),
                            strtoull((const char *)length.ptr, NULL, 10));
}

// The next piece; false if there is none.
static bool next_piece(struct fixture *f, struct http_exchange *exchange, enum http_piece *result)
{
    struct talk *talk = exchange->user;
    unsigned i = talk->done++;
    switch (talk->kind) {
    case 'p': // pieces
    case 's': // sized, short
        if (i == LINES)
            return false;
        (void)snprintf(talk->line, sizeof(talk->line), "line %06u\n", i);
        *result = write_one(exchange, slice_str(talk->line));
        return true;
    case 'l': // large
        if (i == PIECES)
            return false;
        *result = http_stream_write(
            exchange, (struct slice[]){slice_of(f->large, 10), slice_of(f->large + 10, LARGE - 10)},
            2);
        return true;
    case 'f': // file
        if (i == 1)
            return false;
        *result = file_piece(f, exchange);
        return true;
    default:
        *result = write_one(exchange, slice_of(f->large, LARGE));
        return true;
    }
}

static void pump(struct fixture *f, struct http_exchange *exchange)
{
    enum http_piece result;
    while (next_piece(f, exchange, &result)) {
        if (result == HTTP_PIECE_WAITS)
            return;
        if (result == HTTP_PIECE_LOST) {
            atomic_fetch_add(&f->lost, 1);
            http_stream_abort(exchange);
            return;
        }
    }
    http_stream_end(exchange);
}

static void begin(struct http_exchange *exchange, bool sized, uint64_t length, bool live)
{
    http_stream_begin(exchange, &(struct http_stream_head){.status = 200,
                                                           .content_type = SLICE_LIT("text/x"),
                                                           .headers = SLICE_LIT("X-T: y\r\n"),
                                                           .sized = sized,
                                                           .length = length,
                                                           .live = live});
}

static uint64_t promised(const struct http_exchange *exchange)
{
    struct slice path = exchange->request.path;
    struct slice length = exchange->request.query;
    if (slice_is(path, "/large"))
        return (uint64_t)LARGE * PIECES;
    if (slice_is(path, "/file")) {
        (void)slice_cut(&length, '-');
        return strtoull((const char *)length.ptr, NULL, 10);
    }
    return 12 * LINES + (slice_is(path, "/short") ? 1 : 0);
}

static void on_handle(struct http_exchange *exchange, void *context)
{
    struct fixture *f = context;
    struct talk *talk = exchange->user;
    struct slice path = exchange->request.path;
    *talk = (struct talk){.kind = (char)path.ptr[1], .streaming = true};
    if (slice_is(path, "/live")) {
        talk->kind = 'v';
        begin(exchange, false, 0, true);
        assert_int_equal(write_one(exchange, SLICE_LIT("hello")), HTTP_PIECE_TAKEN);
        f->live = exchange;
        atomic_store(&f->live_there, true);
        return;
    }
    if (slice_is(path, "/flood"))
        talk->kind = 'e';
    bool chunked = talk->kind == 'p' || talk->kind == 'e' || slice_is(path, "/files");
    begin(exchange, !chunked, chunked ? 0 : promised(exchange), talk->kind == 'e');
    pump(f, exchange);
}

static void on_drained(struct http_exchange *exchange, void *context)
{
    struct fixture *f = context;
    atomic_fetch_add(&f->drained, 1);
    pump(f, exchange);
}

static void on_resume(struct http_exchange *exchange, void *context)
{
    struct fixture *f = context;
    (void)write_one(exchange, SLICE_LIT("again"));
    if (atomic_load(&f->live_end))
        http_stream_end(exchange);
}

static void on_sent(struct http_exchange *exchange, void *context)
{
    struct fixture *f = context;
    struct talk *talk = exchange->user;
    talk->streaming = false;
    atomic_fetch_add(&f->sent, 1);
}

static void on_gone(struct http_exchange *exchange, void *context)
{
    struct fixture *f = context;
    const struct talk *talk = exchange->user;
    assert_true(talk->streaming);
    atomic_fetch_add(&f->gone, 1);
    http_stream_abort(exchange);
}

static void on_close(struct http_exchange *exchange, void *context)
{
    struct fixture *f = context;
    struct talk *talk = exchange->user;
    assert_false(talk->streaming);
    free(talk);
    atomic_fetch_add(&f->closed, 1);
}

static void on_reject(struct http_exchange *exchange, const struct http_problem *problem,
                      void *context)
{
    (void)context;
    http_respond(exchange, &(struct http_response){.status = problem->status});
}

// ---- The fixture -----------------------------------------------------------------------------

static void start_with(struct fixture *f, struct http_options options)
{
    memset(f, 0, sizeof(*f));
    f->large = malloc(FILE_SIZE);
    assert_non_null(f->large);
    for (size_t i = 0; i < FILE_SIZE; i++)
        f->large[i] = (uint8_t)(i * 2654435761u >> 24);
    char path[] = "/tmp/dolmen-stream-XXXXXX";
    f->file = mkstemp(path);
    assert_true(f->file >= 0);
    (void)unlink(path);
    assert_int_equal(write(f->file, f->large, FILE_SIZE), FILE_SIZE);
    f->pool = pool_new(1);
    options.host = "127.0.0.1";
    options.max_body = 1 << 20;
    options.threads = 1;
    options.pool = f->pool;
    options.tls = peer_tls();
    options.handler = (struct http_handler){.context = f,
                                            .open = on_open,
                                            .handle = on_handle,
                                            .resume = on_resume,
                                            .sent = on_sent,
                                            .close = on_close,
                                            .reject = on_reject,
                                            .gone = on_gone,
                                            .drained = on_drained};
    char error[256] = "";
    f->server = http_server_start(&options, error, sizeof(error));
    assert_non_null(f->server);
}

static void start(struct fixture *f)
{
    start_with(f, (struct http_options){0});
}

static void finish(struct fixture *f)
{
    http_server_stop(f->server);
    http_server_free(f->server);
    assert_int_equal(atomic_load(&f->opened), atomic_load(&f->closed));
    pool_free(f->pool);
    free(f->large);
    (void)close(f->file);
}

static int dial(const struct fixture *f)
{
    int fd = peer_dial(http_server_port(f->server), 20);
    assert_true(fd >= 0);
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

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

static void hear_exactly(int fd, uint8_t *to, size_t len)
{
    for (size_t have = 0; have < len;) {
        ssize_t n = recv(fd, to + have, len - have, 0);
        assert_true(n > 0);
        have += (size_t)n;
    }
}

static void wait_for(atomic_int *count, int at_least)
{
    for (int i = 0; i < 20000 && atomic_load(count) < at_least; i++)
        (void)usleep(1000);
    assert_true(atomic_load(count) >= at_least);
}

// Reads a head byte by byte, so that nothing of the body is taken.
static void hear_head(int fd, char *got, size_t size)
{
    size_t len = 0;
    do {
        assert_true(len < size - 1);
        assert_int_equal(recv(fd, got + len, 1, 0), 1);
        got[++len] = 0;
    } while (strstr(got, "\r\n\r\n") == NULL);
}

#define GET(target) "GET " target " HTTP/1.1\r\nHost: h\r\n\r\n"

// ---- Tests -----------------------------------------------------------------------------------

static void test_chunked(void **state)
{
    (void)state;
    struct fixture f;
    static char got[64 << 10];
    start(&f);
    int fd = dial(&f);
    // Two in a row: the connection is kept, and the order is.
    say(fd, GET("/pieces") GET("/pieces"));
    for (int i = 0; i < 2; i++) {
        hear_head(fd, got, sizeof(got));
        assert_non_null(strstr(got, "HTTP/1.1 200 OK\r\n"));
        assert_non_null(strstr(got, "Transfer-Encoding: chunked\r\n"));
        assert_non_null(strstr(got, "Content-Type: text/x\r\n"));
        assert_non_null(strstr(got, "X-T: y\r\n"));
        assert_null(strstr(got, "Content-Length"));
        char chunk[32];
        for (unsigned line = 0; line < LINES; line++) {
            (void)snprintf(chunk, sizeof(chunk), "c\r\nline %06u\n\r\n", line);
            hear_exactly(fd, (uint8_t *)got, strlen(chunk));
            assert_memory_equal(got, chunk, strlen(chunk));
        }
        hear_exactly(fd, (uint8_t *)got, 5);
        assert_memory_equal(got, "0\r\n\r\n", 5);
    }
    (void)close(fd);
    finish(&f);
    assert_int_equal(atomic_load(&f.sent), 2);
}

static void test_sized(void **state)
{
    (void)state;
    struct fixture f;
    static char got[64 << 10];
    start(&f);
    int fd = dial(&f);
    say(fd, GET("/sized"));
    hear_head(fd, got, sizeof(got));
    assert_non_null(strstr(got, "Content-Length: 6000\r\n"));
    assert_null(strstr(got, "chunked"));
    hear_exactly(fd, (uint8_t *)got, 6000);
    assert_memory_equal(got, "line 000000\nline 000001\n", 24);
    assert_memory_equal(got + 6000 - 12, "line 000499\n", 12);
    // One that promised more than it sends is cut, so that the client knows.
    say(fd, GET("/short"));
    hear_head(fd, got, sizeof(got));
    assert_non_null(strstr(got, "Content-Length: 6001\r\n"));
    hear_exactly(fd, (uint8_t *)got, 6000);
    assert_int_equal(recv(fd, got, 1, 0), 0);
    (void)close(fd);
    finish(&f);
}

// An old client gets no chunks: the end of the connection is the end of the answer.
static void test_old_client(void **state)
{
    (void)state;
    struct fixture f;
    static char got[64 << 10];
    start(&f);
    int fd = dial(&f);
    say(fd, "GET /pieces HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_true(hear(fd, NULL, got, sizeof(got)));
    assert_null(strstr(got, "Transfer-Encoding"));
    assert_non_null(strstr(got, "Connection: close\r\n"));
    const char *body = strstr(got, "\r\n\r\n") + 4;
    assert_int_equal(strlen(body), 12 * LINES);
    (void)close(fd);
    // With a length the connection may be kept.
    fd = dial(&f);
    say(fd, "GET /sized HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    hear_head(fd, got, sizeof(got));
    assert_non_null(strstr(got, "Connection: keep-alive\r\n"));
    (void)close(fd);
    finish(&f);
}

static void test_head(void **state)
{
    (void)state;
    struct fixture f;
    static char got[64 << 10];
    start(&f);
    int fd = dial(&f);
    say(fd, "HEAD /large HTTP/1.1\r\nHost: h\r\n\r\nHEAD /file?0-100 HTTP/1.1\r\nHost: h\r\n\r\n"
            "HEAD /pieces HTTP/1.1\r\nHost: h\r\n\r\n" GET("/sized"));
    hear_head(fd, got, sizeof(got));
    assert_non_null(strstr(got, "Content-Length: 15728640\r\n"));
    hear_head(fd, got, sizeof(got));
    assert_non_null(strstr(got, "Content-Length: 100\r\n"));
    hear_head(fd, got, sizeof(got));
    assert_non_null(strstr(got, "chunked"));
    hear_head(fd, got, sizeof(got));
    hear_exactly(fd, (uint8_t *)got, 6000);
    assert_memory_equal(got, "line 000000\n", 12);
    (void)close(fd);
    finish(&f);
}

// More than the kernel takes: `drained` has the handler go on, and nothing is lost or twice there.
static void test_large(void **state)
{
    (void)state;
    struct fixture f;
    char head[1024];
    start(&f);
    uint8_t *got = malloc(LARGE);
    int fd = dial(&f);
    say(fd, GET("/large"));
    (void)usleep(50000);
    hear_head(fd, head, sizeof(head));
    for (int i = 0; i < PIECES; i++) {
        hear_exactly(fd, got, LARGE);
        assert_memory_equal(got, f.large, LARGE);
    }
    assert_true(atomic_load(&f.drained) > 0);
    free(got);
    (void)close(fd);
    finish(&f);
}

// Ranges of a file, warm and cold, by a client that takes its time.
static void test_file(void **state)
{
    (void)state;
    static const struct {
        uint64_t offset;
        uint64_t length;
    } ranges[] = {{0, FILE_SIZE}, {0, 1},       {FILE_SIZE - 1, 1},
                  {4095, 70000},  {1 << 20, 0}, {12345, FILE_SIZE - 12345}};
    struct fixture f;
    char text[1024];
    start(&f);
    uint8_t *got = malloc(FILE_SIZE);
    int fd = dial(&f);
    for (size_t i = 0; i < COUNT_OF(ranges); i++) {
        if (i % 2 == 0) {
            (void)fsync(f.file);
            (void)posix_fadvise(f.file, 0, 0, POSIX_FADV_DONTNEED);
        }
        (void)snprintf(text, sizeof(text), GET("/file?%llu-%llu"),
                       (unsigned long long)ranges[i].offset, (unsigned long long)ranges[i].length);
        say(fd, text);
        hear_head(fd, text, sizeof(text));
        (void)usleep(10000);
        hear_exactly(fd, got, ranges[i].length);
        assert_memory_equal(got, f.large + ranges[i].offset, ranges[i].length);
    }
    // As a chunk, it has a frame.
    say(fd, GET("/files?10-300000") GET("/sized"));
    hear_head(fd, text, sizeof(text));
    assert_non_null(strstr(text, "chunked"));
    hear_exactly(fd, got, 7 + 300000 + 2 + 5);
    assert_memory_equal(got, "493e0\r\n", 7);
    assert_memory_equal(got + 7, f.large + 10, 300000);
    assert_memory_equal(got + 7 + 300000, "\r\n0\r\n\r\n", 7);
    hear_head(fd, text, sizeof(text));
    free(got);
    (void)close(fd);
    finish(&f);
}

// A file that is shorter than what was promised: the client is cut, and the handler told.
static void test_file_too_short(void **state)
{
    (void)state;
    struct fixture f;
    char text[1024];
    start(&f);
    int fd = dial(&f);
    (void)snprintf(text, sizeof(text), "GET /file?%d-1000 HTTP/1.1\r\nHost: h\r\n\r\n",
                   FILE_SIZE - 10);
    say(fd, text);
    hear_head(fd, text, sizeof(text));
    wait_for(&f.gone, 1);
    wait_for(&f.closed, 1);
    (void)close(fd);
    finish(&f);
}

static void push(struct fixture *f)
{
    for (int i = 0; i < 20000 && !atomic_load(&f->live_there); i++)
        (void)usleep(1000);
    http_exchange_resume(f->live);
}

// A quiet live stream is not cut, though everything else would be by now.
static void test_live_may_be_quiet(void **state)
{
    (void)state;
    struct fixture f;
    char got[4096];
    start_with(&f, (struct http_options){.request_ms = 200, .idle_ms = 200});
    int fd = dial(&f);
    say(fd, GET("/live"));
    assert_true(hear(fd, "5\r\nhello\r\n", got, sizeof(got)));
    (void)usleep(1200000);
    atomic_store(&f.live_end, true);
    push(&f);
    assert_true(hear(fd, "5\r\nagain\r\n0\r\n\r\n", got, sizeof(got)));
    assert_int_equal(atomic_load(&f.gone), 0);
    (void)close(fd);
    finish(&f);
}

static void test_live_client_leaves(void **state)
{
    (void)state;
    struct fixture f;
    char got[4096];
    start(&f);
    int fd = dial(&f);
    say(fd, GET("/live"));
    assert_true(hear(fd, "hello", got, sizeof(got)));
    (void)close(fd);
    wait_for(&f.sent, 1);
    assert_int_equal(atomic_load(&f.gone), 1);
    wait_for(&f.closed, 1);
    finish(&f);
}

// A client that takes nothing is cut, live or not.
static void test_stalled(void **state)
{
    (void)state;
    struct fixture f;
    start_with(&f, (struct http_options){.request_ms = 300});
    int flood = dial(&f);
    int large = dial(&f);
    say(flood, GET("/flood"));
    say(large, GET("/large"));
    wait_for(&f.gone, 2);
    wait_for(&f.closed, 2);
    (void)close(flood);
    (void)close(large);
    finish(&f);
}

// A stop ends live streams at once, and lets others be taken for a while.
static void test_stop(void **state)
{
    (void)state;
    struct fixture f;
    char got[4096];
    start(&f);
    int live = dial(&f);
    int flood = dial(&f);
    int large = dial(&f);
    say(live, GET("/live"));
    assert_true(hear(live, "hello", got, sizeof(got)));
    say(flood, GET("/flood"));
    say(large, GET("/large"));
    hear_head(flood, got, sizeof(got));
    hear_head(large, got, sizeof(got));
    finish(&f);
    assert_int_equal(atomic_load(&f.gone), 3);
    (void)close(live);
    (void)close(flood);
    (void)close(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunked),
        cmocka_unit_test(test_sized),
        cmocka_unit_test(test_old_client),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_file_too_short),
        cmocka_unit_test(test_live_may_be_quiet),
        cmocka_unit_test(test_live_client_leaves),
        cmocka_unit_test(test_stalled),
        cmocka_unit_test(test_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
