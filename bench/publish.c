// The two ends of bench/publish: a receiver of webhooks that notes how old each event is when it
// arrives, and a client that writes event items at a fixed rate.
//
//   receive            prints its port; a line on standard input prints what has arrived so far:
//                      events, and the 50th and 99th percentile and the maximum of their ages in ms
//   write PORT RATE COUNT CONNECTIONS
//                      PutItem of so many event items in a second; prints the rate that was reached
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
#include <time.h>
#include <unistd.h>

enum { PEERS = 512, ROOM = 1 << 20, AGES = 120000 };

static int64_t now_ms(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return (int64_t)at.tv_sec * 1000 + at.tv_nsec / 1000000;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

// ---- Receiving -------------------------------------------------------------------------------

struct peer {
    char *bytes;
    size_t len;
};

static uint64_t ages[AGES];
static uint64_t events;

// "time":"2026-01-31T12:00:00.000Z" of each event in the body.
static void count_events(const char *body, size_t len)
{
    static const char mark[] = "\"time\":\"";
    const char *end = body + len;
    int64_t now = now_ms(CLOCK_REALTIME);
    for (const char *at = body;
         (at = memmem(at, (size_t)(end - at), mark, sizeof(mark) - 1)) != NULL;) {
        struct tm parts = {0};
        at += sizeof(mark) - 1;
        const char *rest = strptime(at, "%Y-%m-%dT%H:%M:%S", &parts);
        int64_t age =
            rest == NULL ? 0 : now - ((int64_t)timegm(&parts) * 1000 + strtol(rest + 1, NULL, 10));
        ages[age < 0 ? 0 : age >= AGES ? AGES - 1 : age]++;
        events++;
    }
}

static int64_t percentile(double share)
{
    uint64_t seen = 0;
    for (int64_t i = 0; i < AGES; i++)
        if ((seen += ages[i]) > 0 && (double)seen >= share * (double)events)
            return i;
    return 0;
}

// Answers each request that is whole.
static void answer(int fd, struct peer *peer)
{
    static const char fine[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    for (;;) {
        char *body = memmem(peer->bytes, peer->len, "\r\n\r\n", 4);
        if (body == NULL)
            return;
        body += 4;
        char *length = strcasestr(peer->bytes, "content-length:");
        size_t want =
            (size_t)(body - peer->bytes) + (length == NULL ? 0 : strtoul(length + 15, NULL, 10));
        if (peer->len < want)
            return;
        count_events(body, want - (size_t)(body - peer->bytes));
        if (write(fd, fine, sizeof(fine) - 1) < 0)
            return;
        memmove(peer->bytes, peer->bytes + want, peer->len - want);
        peer->len -= want;
        peer->bytes[peer->len] = 0;
    }
}

static void tell(void)
{
    char line[16];
    if (read(0, line, sizeof(line)) <= 0)
        exit(0);
    int64_t most = percentile(1.0);
    printf("%llu %lld %lld %lld\n", (unsigned long long)events, (long long)percentile(0.5),
           (long long)percentile(0.99), (long long)most);
    fflush(stdout);
    memset(ages, 0, sizeof(ages));
    events = 0;
}

static void receive(void)
{
    static struct pollfd polls[PEERS];
    static struct peer peers[PEERS];
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(here);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&here, size) != 0 ||
        listen(listener, 128) != 0 || getsockname(listener, (struct sockaddr *)&here, &size) != 0)
        die("listen");
    printf("%d\n", ntohs(here.sin_port));
    fflush(stdout);
    nfds_t count = 2;
    polls[0] = (struct pollfd){.fd = 0, .events = POLLIN};
    polls[1] = (struct pollfd){.fd = listener, .events = POLLIN};
    while (poll(polls, count, -1) >= 0) {
        if (polls[0].revents != 0)
            tell();
        if (polls[1].revents != 0 && count < PEERS) {
            int one = 1;
            polls[count] = (struct pollfd){.fd = accept(listener, NULL, NULL), .events = POLLIN};
            setsockopt(polls[count].fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
            if (peers[count].bytes == NULL)
                peers[count].bytes = malloc(ROOM + 1);
            peers[count++].len = 0;
        }
        for (nfds_t i = 2; i < count; i++) {
            if (polls[i].revents == 0)
                continue;
            struct peer *peer = &peers[i];
            ssize_t got = read(polls[i].fd, peer->bytes + peer->len, ROOM - peer->len);
            if (got <= 0) {
                close(polls[i].fd);
                struct peer gone = *peer;
                polls[i] = polls[--count];
                peers[i] = peers[count];
                peers[count] = gone;
                i--;
                continue;
            }
            peer->len += (size_t)got;
            peer->bytes[peer->len] = 0;
            answer(polls[i].fd, peer);
        }
    }
}

// ---- Writing ---------------------------------------------------------------------------------

static int connect_to(int port)
{
    struct sockaddr_in there = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int one = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&there, sizeof(there)) != 0)
        die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return fd;
}

static void put(int fd, long number)
{
    char body[1024];
    char text[2048];
    int len = snprintf(
        body, sizeof(body),
        "{\"TableName\":\"shop\",\"Item\":{\"EntityType\":{\"S\":\"Outbox\"},"
        "\"eventId\":{\"S\":\"e%ld\"},\"job\":{\"S\":\"j%ld\"},\"payload\":{\"S\":\"%0200d\"}}}",
        number, number % 1000, 0);
    int all = snprintf(
        text, sizeof(text),
        "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.PutItem\r\n"
        "Authorization: AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, "
        "SignedHeaders=host;x-amz-date;x-amz-target, Signature=%064d\r\nX-Amz-Date: "
        "20260101T000000Z\r\nContent-Type: application/x-amz-json-1.0\r\n"
        "Content-Length: %d\r\n\r\n%s",
        0, len, body);
    if (write(fd, text, (size_t)all) != all)
        die("write");
}

static void run_writer(int port, long rate, long count, long connections)
{
    static struct pollfd polls[PEERS];
    static bool busy[PEERS];
    char answer_text[4096];
    long sent = 0, done = 0;
    for (long i = 0; i < connections; i++)
        polls[i] = (struct pollfd){.fd = connect_to(port), .events = POLLIN};
    int64_t began = now_ms(CLOCK_MONOTONIC);
    while (done < count) {
        int64_t due = (now_ms(CLOCK_MONOTONIC) - began) * rate / 1000 + 1;
        for (long i = 0; i < connections && sent < count && sent < due; i++) {
            if (busy[i])
                continue;
            put(polls[i].fd, sent++);
            busy[i] = true;
        }
        poll(polls, (nfds_t)connections, 1);
        for (long i = 0; i < connections; i++) {
            if (polls[i].revents == 0)
                continue;
            ssize_t got = read(polls[i].fd, answer_text, sizeof(answer_text) - 1);
            if (got <= 0 || strncmp(answer_text, "HTTP/1.1 200", 12) != 0) {
                fprintf(stderr, "%.*s\n", (int)(got < 0 ? 0 : got), answer_text);
                exit(1);
            }
            busy[i] = false;
            done++;
        }
    }
    int64_t took = now_ms(CLOCK_MONOTONIC) - began;
    printf("%lld\n", (long long)(count * 1000 / (took == 0 ? 1 : took)));
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "receive") == 0)
        receive();
    else if (argc == 6 && strcmp(argv[1], "write") == 0)
        run_writer((int)strtol(argv[2], NULL, 10), strtol(argv[3], NULL, 10),
                   strtol(argv[4], NULL, 10), strtol(argv[5], NULL, 10));
    else
        return fprintf(stderr, "usage: receive | write PORT RATE COUNT CONNECTIONS\n") > 0;
    return 0;
}
