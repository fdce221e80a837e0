// GETs over kept connections, as fast as they are answered: objects PORT CONNECTIONS SECONDS FILE.
// The file has a target in each line; connections go through them in turn. Bodies are thrown away
// in the kernel. Prints how many were answered with 200, and the bytes of their bodies in a second.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { TARGETS = 1024, LINE = 2048 };

static char targets[TARGETS][LINE];
static size_t target_count;
static unsigned port;
static double end;

struct client {
    pthread_t thread;
    size_t first;
    unsigned long answers;
    unsigned long long bytes;
    int failed;
};

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// One request; the bytes of its body, or -1.
static long long get(int fd, const char *target)
{
    char text[LINE + 128];
    int len =
        snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", target, port);
    if (send(fd, text, (size_t)len, MSG_NOSIGNAL) != len)
        return -1;
    char head[4096];
    size_t got = 0;
    char *body = NULL;
    while (body == NULL && got < sizeof(head) - 1) {
        ssize_t n = recv(fd, head + got, sizeof(head) - 1 - got, 0);
        if (n <= 0)
            return -1;
        got += (size_t)n;
        head[got] = 0;
        body = strstr(head, "\r\n\r\n");
    }
    const char *length = body == NULL ? NULL : strcasestr(head, "content-length:");
    if (length == NULL || strncmp(head + 9, "200", 3) != 0)
        return -1;
    long long total = strtoll(length + 15, NULL, 10);
    long long left = total - (long long)(got - (size_t)(body + 4 - head));
    while (left > 0) {
        ssize_t n = recv(fd, NULL, left > (1 << 20) ? 1 << 20 : (size_t)left, MSG_TRUNC);
        if (n <= 0)
            return -1;
        left -= n;
    }
    return total;
}

static void *client_main(void *context)
{
    struct client *c = context;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((unsigned short)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    c->failed = connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0;
    for (size_t i = c->first; !c->failed && now() < end; i++) {
        long long bytes = get(fd, targets[i % target_count]);
        c->failed = bytes < 0;
        c->answers++;
        c->bytes += bytes < 0 ? 0 : (unsigned long long)bytes;
    }
    (void)close(fd);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    port = (unsigned)strtoul(argv[1], NULL, 10);
    size_t count = strtoul(argv[2], NULL, 10);
    FILE *file = fopen(argv[4], "r");
    while (file != NULL && target_count < TARGETS &&
           fgets(targets[target_count], LINE, file) != NULL) {
        targets[target_count][strcspn(targets[target_count], "\n")] = 0;
        target_count++;
    }
    struct client *clients = calloc(count, sizeof(*clients));
    if (target_count == 0 || clients == NULL)
        return 2;
    double begin = now();
    end = begin + strtod(argv[3], NULL);
    for (size_t i = 0; i < count; i++) {
        clients[i].first = i * 7;
        if (pthread_create(&clients[i].thread, NULL, client_main, &clients[i]) != 0)
            return 2;
    }
    unsigned long answers = 0;
    unsigned long long bytes = 0;
    for (size_t i = 0; i < count; i++) {
        (void)pthread_join(clients[i].thread, NULL);
        answers += clients[i].answers;
        bytes += clients[i].bytes;
        if (clients[i].failed)
            return 1;
    }
    printf("%lu %.0f\n", answers, (double)bytes / (now() - begin));
    return 0;
}
