// The client that bench/bystander watches the server with: a few connections with small requests,
// each answer timed. It is in C so that its own pauses do not count as the server's.
//
//     bystander PORT
//
// Four connections send GetItem, two PutItem, each a request every 2 ms, or later if the answer is
// late; a seventh connects anew every 10 ms, asks for an item and closes. A line on standard input
// asks for the figures: "look" prints them, "next" also begins new ones. Each answer is one line:
//
//     OLDEST ERRORS OVERSLEPT  GET_COUNT GET_MAX GET_P999  PUT_…  NEW_…
//
// times in microseconds. OLDEST is the age of the oldest unanswered request; what is unanswered
// counts with its age. A late answer also counts for the requests that would have been sent in the
// meantime, or the percentile would not see it. OVERSLEPT is how much later than asked this process
// itself was woken at worst: what the machine adds to all figures.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    GETS = 4,
    PUTS = 2,
    CONNECTIONS = GETS + PUTS + 1, // the last one is new each time
    EVERY_US = 2000,
    EVERY_NEW_US = 10000,
    ITEMS = 1000,
    REQUEST_MAX = 1024,
    ANSWER_MAX = 4096,
    FINE = 64, // buckets for each power of two: 1.6 %
    BUCKETS = 40 * FINE,
};

enum kind { GET, PUT, NEW, KINDS };

struct figures {
    uint64_t count, max;
    uint64_t buckets[BUCKETS];
};

struct connection {
    enum kind kind;
    int fd;
    char request[REQUEST_MAX];
    size_t request_len;
    char *key; // digits in the request
    char answer[ANSWER_MAX];
    size_t answer_len;
    uint64_t due, sent; // sent is 0 unless an answer is awaited
    bool connecting;
};

static struct figures figures[KINDS];
static uint64_t errors, overslept;
static struct sockaddr_in server = {.sin_family = AF_INET};

static uint64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

// ---- Figures -------------------------------------------------------------------------------

static unsigned bucket_of(uint64_t us)
{
    if (us < FINE)
        return (unsigned)us;
    unsigned shift = 63 - (unsigned)__builtin_clzll(us) - 6;
    unsigned bucket = (shift + 1) * FINE + (unsigned)((us >> shift) - FINE);
    return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

static uint64_t bucket_end(unsigned bucket)
{
    if (bucket < FINE)
        return bucket;
    unsigned shift = bucket / FINE - 1;
    return ((uint64_t)(bucket % FINE + FINE + 1) << shift) - 1;
}

static void figures_add(struct figures *f, uint64_t us, uint64_t every)
{
    if (us > f->max)
        f->max = us;
    for (;; us -= every) {
        f->count++;
        f->buckets[bucket_of(us)]++;
        if (us <= every)
            return;
    }
}

static uint64_t figures_p999(const struct figures *f)
{
    uint64_t left = f->count / 1000;
    for (unsigned i = BUCKETS; i-- > 0;) {
        if (f->buckets[i] > left)
            return bucket_end(i) < f->max ? bucket_end(i) : f->max;
        left -= f->buckets[i];
    }
    return 0;
}

static uint64_t every_of(const struct connection *c)
{
    return c->kind == NEW ? EVERY_NEW_US : EVERY_US;
}

static void figures_print(const struct connection *all)
{
    struct figures shown[KINDS];
    uint64_t now = now_us(), oldest = 0;
    memcpy(shown, figures, sizeof(shown));
    for (const struct connection *c = all; c < all + CONNECTIONS; c++)
        if (c->sent != 0) {
            uint64_t age = now > c->sent ? now - c->sent : 0;
            oldest = age > oldest ? age : oldest;
            if (age > every_of(c))
                figures_add(&shown[c->kind], age, every_of(c));
        }
    printf("%lu %lu %lu", oldest, errors, overslept);
    for (int i = 0; i < KINDS; i++)
        printf(" %lu %lu %lu", shown[i].count, shown[i].max, figures_p999(&shown[i]));
    printf("\n");
    fflush(stdout);
}

// ---- Connections ---------------------------------------------------------------------------

static void connection_frame(struct connection *c)
{
    char body[256];
    const char *item = c->kind == PUT
                           ? "Item\":{\"text\":{\"S\":\"some hundred bytes, as a counter or a "
                             "session of a user may have them in a small table\"},"
                           : "Key\":{";
    int len = snprintf(body, sizeof(body),
                       "{\"TableName\":\"bystander\",\"%s\"pk\":{\"S\":\"00000000\"}}}", item);
    len = snprintf(
        c->request, REQUEST_MAX,
        "POST / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/x-amz-json-1.0\r\n"
        "X-Amz-Target: DynamoDB_20120810.%s\r\nX-Amz-Date: 20260101T000000Z\r\n"
        "Authorization: AWS4-HMAC-SHA256 "
        "Credential=BENCH/20260101/us-east-1/dynamodb/aws4_request, "
        "SignedHeaders=host;x-amz-date;x-amz-target, Signature=%064d\r\n%sContent-Length: "
        "%d\r\n\r\n%s",
        ntohs(server.sin_port), c->kind == PUT ? "PutItem" : "GetItem", 0,
        c->kind == NEW ? "Connection: close\r\n" : "", len, body);
    c->request_len = (size_t)len;
    c->key = c->request + len - 12; // of: 00000000"}}}
}

static void connection_open(struct connection *c)
{
    int one = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    c->connecting = connect(c->fd, (struct sockaddr *)&server, sizeof(server)) != 0;
    c->answer_len = 0;
}

static void connection_end(struct connection *c)
{
    struct linger reset = {.l_onoff = 1}; // leaves no port behind in TIME_WAIT
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(c->fd);
    c->fd = -1;
}

static void connection_write(struct connection *c)
{
    char digits[9];
    snprintf(digits, sizeof(digits), "%08d", rand() % ITEMS);
    memcpy(c->key, digits, 8);
    c->connecting = false;
    if (send(c->fd, c->request, c->request_len, MSG_NOSIGNAL) != (ssize_t)c->request_len) {
        errors++;
        connection_end(c);
        c->sent = 0;
    }
}

// A request is on its way from the moment it could have been sent: connecting is part of it.
static void connection_send(struct connection *c, uint64_t now)
{
    c->sent = now;
    c->due = now + every_of(c);
    if (c->fd < 0)
        connection_open(c);
    if (!c->connecting)
        connection_write(c);
}

static bool answer_whole(struct connection *c)
{
    c->answer[c->answer_len] = 0;
    const char *end = strstr(c->answer, "\r\n\r\n");
    const char *length = strcasestr(c->answer, "\r\nContent-Length:");
    return end != NULL && length != NULL &&
           c->answer_len >= (size_t)(end + 4 - c->answer) + strtoul(length + 17, NULL, 10);
}

static void connection_read(struct connection *c)
{
    ssize_t got = recv(c->fd, c->answer + c->answer_len, ANSWER_MAX - 1 - c->answer_len, 0);
    if (got < 0 && errno == EAGAIN)
        return;
    if (got > 0)
        c->answer_len += (size_t)got;
    bool whole = got > 0 && answer_whole(c);
    if (!whole && got > 0)
        return;
    if (c->sent != 0)
        figures_add(&figures[c->kind], now_us() - c->sent, every_of(c));
    if (!whole || strncmp(c->answer, "HTTP/1.1 200", 12) != 0)
        errors++;
    c->sent = 0;
    c->answer_len = 0;
    if (!whole || c->kind == NEW)
        connection_end(c);
}

// ---- The loop ------------------------------------------------------------------------------

static bool command_read(const struct connection *all)
{
    char line[64];
    if (fgets(line, sizeof(line), stdin) == NULL)
        return false;
    figures_print(all);
    if (strncmp(line, "next", 4) == 0) {
        memset(figures, 0, sizeof(figures));
        errors = overslept = 0;
    }
    return true;
}

static void turn(struct connection *all, struct pollfd *watched)
{
    uint64_t now = now_us(), due = now + 1000000;
    for (int i = 0; i < CONNECTIONS; i++) {
        struct connection *c = &all[i];
        if (c->sent == 0 && c->due <= now)
            connection_send(c, now);
        if (c->sent == 0 && c->due < due)
            due = c->due;
        watched[i] = (struct pollfd){.fd = c->fd, .events = c->connecting ? POLLOUT : POLLIN};
    }
    struct timespec wait = {.tv_sec = (time_t)((due - now) / 1000000),
                            .tv_nsec = (long)((due - now) % 1000000 * 1000)};
    int ready = ppoll(watched, CONNECTIONS + 1, &wait, NULL);
    uint64_t woken = now_us();
    if (ready == 0 && woken > due && woken - due > overslept)
        overslept = woken - due;
    for (int i = 0; i < CONNECTIONS; i++)
        if (all[i].fd >= 0 && watched[i].revents != 0) {
            if (all[i].connecting && (watched[i].revents & POLLOUT) != 0)
                connection_write(&all[i]);
            else
                connection_read(&all[i]);
        }
}

int main(int argc, char **argv)
{
    static struct connection all[CONNECTIONS];
    struct pollfd watched[CONNECTIONS + 1];
    struct sched_param first = {.sched_priority = 1};
    if (argc != 2)
        return 2;
    // Whoever may does so: a figure is then the server's, not the queue's for a processor.
    if (sched_setscheduler(0, SCHED_FIFO, &first) != 0)
        (void)setpriority(PRIO_PROCESS, 0, -10);
    server.sin_port = htons((uint16_t)strtol(argv[1], NULL, 10));
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < CONNECTIONS; i++) {
        all[i].kind = i < GETS ? GET : i < GETS + PUTS ? PUT : NEW;
        all[i].fd = -1;
        all[i].due = now_us() + (uint64_t)i * EVERY_US / CONNECTIONS;
        connection_frame(&all[i]);
    }
    watched[CONNECTIONS] = (struct pollfd){.fd = 0, .events = POLLIN};
    for (;;) {
        turn(all, watched);
        if (watched[CONNECTIONS].revents != 0 && !command_read(all))
            return 0;
    }
}
