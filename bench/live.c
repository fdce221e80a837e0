// The ends of bench/live: listeners to patterns, a writer, and a bystander.
//
//   listen PORT COUNT PARTITIONS   so many connections, each to the notes of one partition; prints
//                                  "ready" when all have their result. A line on standard input
//                                  prints what has come: events, the fewest and the most of a
//                                  listener, those that were out of order or twice there, and the
//                                  50th and 99th percentile and the maximum of their ages in ms
//   write PORT RATE SECONDS PARTITIONS FIRST
//                                  that many notes in a second, numbered in each partition from
//                                  FIRST on, by BatchWriteItem; prints how many, and the rate
//   ask PORT SECONDS               GetItem of a bystander, 200 in a second; prints the 50th and
//                                  99th percentile and the maximum in µs
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 1 << 20, AGES = 100000, BATCH = 25, WRITERS = 8 };

#define AUTHORIZATION                                                                              \
    "Authorization: AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, "   \
    "SignedHeaders=host, Signature=0\r\nX-Amz-Date: 20260101T000000Z\r\n"

static int64_t now_us(void)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    return (int64_t)at.tv_sec * 1000000 + at.tv_nsec / 1000;
}

static int64_t whole(const char *text)
{
    return strtoll(text, NULL, 10);
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int dial(int port)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
        die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    return fd;
}

static void say(int fd, const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        ssize_t sent = write(fd, text + at, len - at);
        if (sent <= 0)
            die("write");
        at += (size_t)sent;
    }
}

// ---- Listening -------------------------------------------------------------------------------

struct listener {
    int fd;
    size_t len;
    int64_t next; // the number that the next note has to have; -1 before the first
    int64_t events;
    bool ready;
    char bytes[ROOM / 8];
};

static uint32_t ages[AGES]; // how many events were so many ms old
static int64_t disorder;

static void take_line(struct listener *l, const char *line, const char *end)
{
    if (strncmp(line, "event: ready", 12) == 0)
        l->ready = true;
    if (!l->ready || strncmp(line, "data: {\"key\"", 12) != 0)
        return;
    const char *n = memmem(line, (size_t)(end - line), "\"n\":", 4);
    const char *t = memmem(line, (size_t)(end - line), "\"t\":", 4);
    if (n == NULL || t == NULL)
        return;
    int64_t number = whole(n + 4);
    int64_t age = (now_us() - whole(t + 4)) / 1000;
    disorder += l->next >= 0 && number != l->next;
    l->next = number + 1;
    l->events++;
    ages[age < 0 ? 0 : age >= AGES ? AGES - 1 : age]++;
}

static void take(struct listener *l)
{
    ssize_t got = read(l->fd, l->bytes + l->len, sizeof(l->bytes) - l->len);
    if (got <= 0) {
        fprintf(stderr, "a listener was cut off\n");
        exit(1);
    }
    l->len += (size_t)got;
    char *at = l->bytes;
    char *stop = l->bytes + l->len;
    for (char *end; (end = memchr(at, '\n', (size_t)(stop - at))) != NULL; at = end + 1)
        take_line(l, at, end);
    l->len = (size_t)(stop - at);
    memmove(l->bytes, at, l->len);
}

static int percentile(double share, uint64_t total)
{
    uint64_t seen = 0;
    for (int i = 0; i < AGES; i++) {
        seen += ages[i];
        if ((double)seen >= share * (double)total)
            return i;
    }
    return AGES;
}

static void tell(const struct listener *listeners, int count)
{
    int64_t total = 0, fewest = INT64_MAX, most = 0;
    for (int i = 0; i < count; i++) {
        total += listeners[i].events;
        fewest = listeners[i].events < fewest ? listeners[i].events : fewest;
        most = listeners[i].events > most ? listeners[i].events : most;
    }
    printf("%lld %lld %lld %lld %d %d %d\n", (long long)total, (long long)fewest, (long long)most,
           (long long)disorder, percentile(0.5, (uint64_t)total), percentile(0.99, (uint64_t)total),
           percentile(1, (uint64_t)total));
    fflush(stdout);
}

static int listen_main(int port, int count, int partitions)
{
    struct listener *listeners = calloc((size_t)count, sizeof(*listeners));
    int poller = epoll_create1(0);
    if (listeners == NULL || poller < 0)
        die("listen");
    for (int i = 0; i < count; i++) {
        char text[256];
        int len = snprintf(text, sizeof(text),
                           "GET /v1/live/notes?p=%d HTTP/1.1\r\nHost: localhost\r\n"
                           "Accept: text/event-stream\r\n\r\n",
                           i % partitions);
        listeners[i].fd = dial(port);
        listeners[i].next = -1;
        say(listeners[i].fd, text, (size_t)len);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &listeners[i]};
        epoll_ctl(poller, EPOLL_CTL_ADD, listeners[i].fd, &event);
    }
    struct epoll_event own = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(poller, EPOLL_CTL_ADD, 0, &own);
    bool told = false;
    for (;;) {
        struct epoll_event events[256];
        int got = epoll_wait(poller, events, 256, -1);
        for (int i = 0; i < got; i++) {
            char line[16];
            if (events[i].data.ptr != NULL)
                take(events[i].data.ptr);
            else if (read(0, line, sizeof(line)) <= 0)
                return 0;
            else
                tell(listeners, count);
        }
        int ready = 0;
        for (int i = 0; !told && i < count; i++)
            ready += listeners[i].ready;
        if (!told && ready == count) {
            told = true;
            printf("ready\n");
            fflush(stdout);
        }
    }
}

// ---- Writing ---------------------------------------------------------------------------------

static void hear(int fd)
{
    static char bytes[ROOM];
    size_t len = 0;
    for (;;) {
        ssize_t got = read(fd, bytes + len, sizeof(bytes) - len - 1);
        if (got <= 0)
            die("read");
        len += (size_t)got;
        bytes[len] = 0;
        const char *body = strstr(bytes, "\r\n\r\n");
        const char *length = strcasestr(bytes, "content-length: ");
        if (body == NULL || length == NULL ||
            len < (size_t)(body + 4 - bytes) + strtoul(length + 16, NULL, 10))
            continue;
        if (strncmp(bytes, "HTTP/1.1 200", 12) != 0) {
            fprintf(stderr, "%s\n", bytes);
            exit(1);
        }
        return;
    }
}

static void post(int fd, const char *operation, const char *body, size_t len)
{
    static char text[ROOM];
    int head = snprintf(
        text, sizeof(text),
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n"
        "X-Amz-Target: DynamoDB_20120810.%s\r\n" AUTHORIZATION "Content-Length: %zu\r\n\r\n",
        operation, len);
    memcpy(text + head, body, len);
    say(fd, text, (size_t)head + len);
}

static int write_main(int port, int rate, int seconds, int partitions, int first)
{
    static char body[ROOM];
    int fds[WRITERS];
    int64_t *next = calloc((size_t)partitions, sizeof(*next));
    for (int i = 0; i < WRITERS; i++)
        fds[i] = dial(port);
    for (int i = 0; i < partitions; i++)
        next[i] = first;
    int64_t begun = now_us();
    int64_t written = 0;
    int64_t total = (int64_t)rate * seconds;
    int waiting = 0; // answers that are owed, oldest connection first
    int64_t turn = 0;
    while (written < total) {
        int64_t due = begun + written * 1000000 / rate;
        int64_t early = due - now_us();
        if (early > 0)
            usleep((useconds_t)early);
        if (waiting == WRITERS) {
            hear(fds[turn % WRITERS]);
            waiting--;
        }
        size_t len = (size_t)snprintf(body, sizeof(body), "{\"RequestItems\":{\"live\":[");
        for (int i = 0; i < BATCH; i++, written++) {
            int p = (int)(written % partitions);
            len += (size_t)snprintf(
                body + len, sizeof(body) - len,
                "%s{\"PutRequest\":{\"Item\":{\"p\":{\"S\":\"%d\"},\"n\":{\"N\":\"%lld\"},"
                "\"t\":{\"N\":\"%lld\"}}}}",
                i == 0 ? "" : ",", p, (long long)next[p]++, (long long)now_us());
        }
        len += (size_t)snprintf(body + len, sizeof(body) - len, "]}}");
        post(fds[turn % WRITERS], "BatchWriteItem", body, len);
        turn++;
        waiting++;
        // One at a time for each partition, or the order in the log is not that of the numbers.
        while (waiting > 0) {
            hear(fds[(turn - waiting) % WRITERS]);
            waiting--;
        }
    }
    double took = (double)(now_us() - begun) / 1e6;
    printf("%lld %.0f\n", (long long)written, (double)written / took);
    return 0;
}

// ---- The bystander ---------------------------------------------------------------------------

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int ask_main(int port, int seconds)
{
    static const char body[] = "{\"TableName\":\"aside\",\"Key\":{\"id\":{\"S\":\"1\"}}}";
    int fd = dial(port);
    int count = seconds * 200;
    int64_t *took = calloc((size_t)count, sizeof(*took));
    for (int i = 0; i < count; i++) {
        int64_t begun = now_us();
        post(fd, "GetItem", body, sizeof(body) - 1);
        hear(fd);
        took[i] = now_us() - begun;
        usleep(5000);
    }
    qsort(took, (size_t)count, sizeof(*took), compare);
    printf("%lld %lld %lld\n", (long long)took[count / 2], (long long)took[count * 99 / 100],
           (long long)took[count - 1]);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "listen") == 0)
        return listen_main((int)whole(argv[2]), (int)whole(argv[3]), (int)whole(argv[4]));
    if (argc == 7 && strcmp(argv[1], "write") == 0)
        return write_main((int)whole(argv[2]), (int)whole(argv[3]), (int)whole(argv[4]),
                          (int)whole(argv[5]), (int)whole(argv[6]));
    if (argc == 4 && strcmp(argv[1], "ask") == 0)
        return ask_main((int)whole(argv[2]), (int)whole(argv[3]));
    fprintf(stderr, "live listen|write|ask …\n");
    return 2;
}
