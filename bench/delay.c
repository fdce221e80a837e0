// A proxy that delivers bytes later: for bench/stores, which compiles it.
//
//   delay LISTEN_PORT PORT MICROSECONDS
//
// Listens on 127.0.0.1, connects to PORT there for each client, and passes on what either side
// sends after so many microseconds. A round trip takes twice that. Order is kept; nothing is lost.
#define _GNU_SOURCE
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
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SIDES_MAX = 1024, BITE = 256 << 10 };

struct chunk {
    struct chunk *next;
    int64_t due;
    size_t at, len;
    uint8_t bytes[];
};

// What side i has sent goes to its peer, i ^ 1.
struct side {
    int fd;
    bool ended;                 // it sends no more
    bool full;                  // it takes no more for now
    struct chunk *first, *last; // on their way to it
};

static struct side sides[SIDES_MAX];
static size_t used;
static int64_t delay_ns;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static struct sockaddr_in local(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static void prepare(int fd)
{
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static void admit(int listener, int port)
{
    struct sockaddr_in address = local(port);
    int client = accept(listener, NULL, NULL);
    int server = socket(AF_INET, SOCK_STREAM, 0);
    size_t at = 0;
    while (at < used && (sides[at].fd >= 0 || sides[at + 1].fd >= 0))
        at += 2;
    if (client < 0 || server < 0 || at + 2 > SIDES_MAX ||
        connect(server, (struct sockaddr *)&address, sizeof(address)) != 0) {
        close(client);
        close(server);
        return;
    }
    prepare(client);
    prepare(server);
    sides[at] = (struct side){.fd = client};
    sides[at + 1] = (struct side){.fd = server};
    if (at == used)
        used += 2;
}

static void end_pair(size_t i)
{
    for (size_t k = i & ~(size_t)1; k <= (i | 1); k++) {
        close(sides[k].fd);
        while (sides[k].first != NULL) {
            struct chunk *chunk = sides[k].first;
            sides[k].first = chunk->next;
            free(chunk);
        }
        sides[k] = (struct side){.fd = -1};
    }
}

static void take(size_t i)
{
    static uint8_t bytes[BITE];
    struct side *to = &sides[i ^ 1];
    ssize_t got = recv(sides[i].fd, bytes, sizeof(bytes), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        sides[i].ended = true;
        return;
    }
    struct chunk *chunk = malloc(sizeof(*chunk) + (size_t)got);
    if (chunk == NULL)
        abort();
    *chunk = (struct chunk){.due = now_ns() + delay_ns, .len = (size_t)got};
    memcpy(chunk->bytes, bytes, (size_t)got);
    if (to->first == NULL)
        to->first = chunk;
    else
        to->last->next = chunk;
    to->last = chunk;
}

// False if the side takes nothing more at all.
static bool deliver(struct side *side, int64_t now)
{
    while (side->first != NULL && side->first->due <= now) {
        struct chunk *chunk = side->first;
        ssize_t sent =
            send(side->fd, chunk->bytes + chunk->at, chunk->len - chunk->at, MSG_NOSIGNAL);
        if (sent < 0) {
            side->full = errno == EAGAIN;
            return side->full || errno == EINTR;
        }
        chunk->at += (size_t)sent;
        if (chunk->at < chunk->len)
            continue;
        side->first = chunk->next;
        free(chunk);
    }
    return true;
}

int main(int argc, char **argv)
{
    static struct pollfd polls[SIDES_MAX + 1];
    int one = 1;
    if (argc != 4)
        return 2;
    prctl(PR_SET_TIMERSLACK, 1000);
    delay_ns = strtoll(argv[3], NULL, 10) * 1000;
    struct sockaddr_in address = local((int)strtol(argv[1], NULL, 10));
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(listener, 256) != 0) {
        perror("delay");
        return 1;
    }
    for (size_t i = 0; i < SIDES_MAX; i++)
        sides[i].fd = -1;
    for (;;) {
        int64_t next = INT64_MAX;
        for (size_t i = 0; i < used; i++) {
            struct side *side = &sides[i];
            polls[i] = (struct pollfd){
                .fd = side->fd,
                .events = (short)((side->ended ? 0 : POLLIN) | (side->full ? POLLOUT : 0))};
            if (side->first != NULL && !side->full && side->first->due < next)
                next = side->first->due;
        }
        polls[used] = (struct pollfd){.fd = listener, .events = POLLIN};
        int64_t wait = next == INT64_MAX ? 1000000000 : next - now_ns();
        wait = wait < 0 ? 0 : wait;
        struct timespec timeout = {wait / 1000000000, wait % 1000000000};
        size_t count = used;
        if (ppoll(polls, count + 1, &timeout, NULL) < 0)
            continue;
        for (size_t i = 0; i < count; i++) {
            if (polls[i].revents & POLLOUT)
                sides[i].full = false;
            if (polls[i].revents & (POLLIN | POLLHUP | POLLERR) && !sides[i].ended)
                take(i);
        }
        int64_t now = now_ns();
        for (size_t i = 0; i < count; i++) {
            if (sides[i].fd >= 0 &&
                (!deliver(&sides[i], now) || (sides[i ^ 1].ended && sides[i].first == NULL)))
                end_pair(i);
        }
        if (polls[count].revents & POLLIN)
            admit(listener, (int)strtol(argv[2], NULL, 10));
    }
}
