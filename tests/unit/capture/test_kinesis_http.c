// The client of a Kinesis endpoint, with a resolver of its own: this program defines getaddrinfo(),
// and the client calls it instead of the C library's.
#include "capture/kinesis.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum answer { ANSWER_NOW, ANSWER_NEVER, ANSWER_NONE };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    enum answer answer;
    unsigned asked;
    unsigned left; // that have their answer
} resolver = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                struct addrinfo **out)
{
    (void)host;
    (void)pthread_mutex_lock(&resolver.lock);
    resolver.asked++;
    (void)pthread_cond_broadcast(&resolver.wake);
    while (resolver.answer == ANSWER_NEVER)
        (void)pthread_cond_wait(&resolver.wake, &resolver.lock);
    bool none = resolver.answer == ANSWER_NONE;
    (void)pthread_mutex_unlock(&resolver.lock);
    if (!none) {
        struct addrinfo *made = calloc(1, sizeof(*made) + sizeof(struct sockaddr_in));
        struct sockaddr_in *address = (struct sockaddr_in *)(void *)(made + 1);
        address->sin_family = AF_INET;
        address->sin_port = htons((uint16_t)strtoul(port, NULL, 10));
        address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        made->ai_family = AF_INET;
        made->ai_socktype = hints->ai_socktype;
        made->ai_addr = (struct sockaddr *)address;
        made->ai_addrlen = sizeof(*address);
        *out = made;
    }
    (void)pthread_mutex_lock(&resolver.lock);
    resolver.left++;
    (void)pthread_cond_broadcast(&resolver.wake);
    (void)pthread_mutex_unlock(&resolver.lock);
    return none ? EAI_NONAME : 0;
}

void freeaddrinfo(struct addrinfo *addresses)
{
    free(addresses);
}

static void resolver_set(enum answer answer)
{
    (void)pthread_mutex_lock(&resolver.lock);
    resolver.answer = answer;
    resolver.asked = resolver.left = 0;
    (void)pthread_cond_broadcast(&resolver.wake);
    (void)pthread_mutex_unlock(&resolver.lock);
}

static void wait_for(const unsigned *count)
{
    (void)pthread_mutex_lock(&resolver.lock);
    while (*count == 0)
        (void)pthread_cond_wait(&resolver.wake, &resolver.lock);
    (void)pthread_mutex_unlock(&resolver.lock);
}

static bool post(struct kinesis_http *http)
{
    return kinesis_http_post(http, "PutRecord", SLICE_LIT("eu-west-1"), SLICE_LIT("{}"));
}

static void *post_main(void *http)
{
    return post(http) ? http : NULL;
}

static struct kinesis_http *client(unsigned port)
{
    char url[64];
    char error[128];
    (void)snprintf(url, sizeof(url), "http://somewhere:%u", port);
    struct kinesis_http *http = kinesis_http_new(url, error, sizeof(error));
    assert_non_null(http);
    return http;
}

static int listener(unsigned *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static void test_posts(void **state)
{
    (void)state;
    static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
    char request[4096];
    unsigned port;
    pthread_t thread;
    void *result;
    int fd = listener(&port);
    struct kinesis_http *http = client(port);
    resolver_set(ANSWER_NOW);
    assert_int_equal(pthread_create(&thread, NULL, post_main, http), 0);
    int peer = accept(fd, NULL, NULL);
    for (unsigned i = 0; i < 2; i++) { // the second on the same connection
        size_t len = 0;
        while (len < 2 || memcmp(request + len - 2, "{}", 2) != 0) {
            ssize_t got = recv(peer, request + len, sizeof(request) - len, 0);
            assert_true(got > 0);
            len += (size_t)got;
        }
        assert_int_equal(send(peer, ok, sizeof(ok) - 1, 0), sizeof(ok) - 1);
        assert_int_equal(pthread_join(thread, &result), 0);
        assert_ptr_equal(result, http);
        if (i == 0)
            assert_int_equal(pthread_create(&thread, NULL, post_main, http), 0);
    }
    assert_int_equal(resolver.asked, 1);
    kinesis_http_free(http);
    (void)close(peer);
    (void)close(fd);
}

static void test_unknown_name(void **state)
{
    (void)state;
    struct kinesis_http *http = client(80);
    resolver_set(ANSWER_NONE);
    assert_false(post(http));
    assert_false(post(http));
    assert_int_equal(resolver.asked, 2);
    kinesis_http_free(http);
}

// A resolver that does not answer keeps nobody, and its answer may come when everybody has gone.
static void test_stopped_while_looking_up(void **state)
{
    (void)state;
    pthread_t thread;
    void *result;
    struct kinesis_http *http = client(80);
    resolver_set(ANSWER_NEVER);
    assert_int_equal(pthread_create(&thread, NULL, post_main, http), 0);
    wait_for(&resolver.asked);
    kinesis_http_stop(http);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_null(result);
    assert_false(post(http)); // it does not ask again
    assert_int_equal(resolver.asked, 1);
    kinesis_http_free(http);
    resolver_set(ANSWER_NOW);
    wait_for(&resolver.left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_posts),
        cmocka_unit_test(test_unknown_name),
        cmocka_unit_test(test_stopped_while_looking_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
