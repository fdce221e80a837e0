// A closed-loop HTTP client for measuring the server: each connection sends a request, waits for
// its answer, and sends the next. It knows four kinds of work:
//
//     loadgen PORT setup                   makes the table and its 1,000 items of 1 KB
//     loadgen PORT get   REQUESTS CONNS    GetItem of one item
//     loadgen PORT put   REQUESTS CONNS    PutItem over an existing item
//     loadgen PORT query REQUESTS CONNS    Query of a partition: 20 items
//
// The client must cost little beside the server, so requests are text made with snprintf, and a
// response is looked at only for its status and its end. Requests look like those of an SDK, with
// all its headers; the signature is made up, which the server accepts in its open mode.
//
// All memory belongs to main and lives until the process ends.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum {
    PARTITIONS = 50,
    ITEMS_EACH = 20, // items of a partition, so of a Query
    ITEMS = PARTITIONS * ITEMS_EACH,
    REQUEST_MAX = 8192,
    RESPONSE_MAX = 256 * 1024,
    CONNECTIONS_MAX = 1024,
};

enum work { GET, PUT, QUERY };

struct connection {
    int fd;
    double sent_at;
    size_t received;
    char *response; // RESPONSE_MAX bytes and a NUL
};

struct load {
    uint16_t port;
    enum work work;
    long requests;
    long started;
    long finished;
    float *latencies; // microseconds, one per finished request
};

static void die(const char *what)
{
    fprintf(stderr, "loadgen: %s%s%s\n", what, errno != 0 ? ": " : "",
            errno != 0 ? strerror(errno) : "");
    exit(1);
}

static void *must_alloc(size_t size)
{
    void *memory = calloc(1, size);
    if (memory == NULL)
        die("no memory");
    return memory;
}

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// ---- Requests -------------------------------------------------------------------

static size_t request_frame(char *out, uint16_t port, const char *operation, const char *body)
{
    int length =
        snprintf(out, REQUEST_MAX,
                 "POST / HTTP/1.1\r\n"
                 "Host: 127.0.0.1:%u\r\n"
                 "Content-Type: application/x-amz-json-1.0\r\n"
                 "X-Amz-Target: DynamoDB_20120810.%s\r\n"
                 "X-Amz-Date: 20260101T000000Z\r\n"
                 "X-Amz-User-Agent: aws-sdk-js/3.0.0\r\n"
                 "User-Agent: aws-sdk-js/3.0.0 ua/2.1 os/linux lang/js md/nodejs api/dynamodb\r\n"
                 "Amz-Sdk-Invocation-Id: 1c1e1ad0-3f4b-4a59-9f0d-6b1c7d6a2a10\r\n"
                 "Amz-Sdk-Request: attempt=1; max=3\r\n"
                 "X-Amz-Content-Sha256: %064d\r\n"
                 "Authorization: AWS4-HMAC-SHA256 "
                 "Credential=AKIDEXAMPLE/20260101/us-east-1/dynamodb/aws4_request, "
                 "SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=%064d\r\n"
                 "Connection: keep-alive\r\n"
                 "Content-Length: %zu\r\n"
                 "\r\n"
                 "%s",
                 port, operation, 0, 0, strlen(body), body);
    if (length < 0 || length >= REQUEST_MAX)
        die("the request is too long");
    return (size_t)length;
}

// An item of about 1 KB by DynamoDB's own count: a dozen attributes, as a business item has.
// Each revision differs from the others, so that none is a write of what is there already.
static size_t request_put(char *out, uint16_t port, int item, long revision)
{
    char body[REQUEST_MAX / 2];
    snprintf(body, sizeof(body),
             "{\"TableName\":\"bench\",\"Item\":{\"pk\":{\"S\":\"CUSTOMER#%06d\"},"
             "\"sk\":{\"S\":\"ORDER#%08d\"},\"type\":{\"S\":\"Order\"},"
             "\"status\":{\"S\":\"delivered\"},\"total\":{\"N\":\"%ld.95\"},"
             "\"createdAt\":{\"S\":\"2026-01-01T00:00:00.000Z\"},\"paid\":{\"BOOL\":true},"
             "\"tags\":{\"SS\":[\"gift\",\"priority\"]},"
             "\"address\":{\"M\":{\"street\":{\"S\":\"1 Stone Table Road\"},"
             "\"city\":{\"S\":\"Carnac\"},\"zip\":{\"S\":\"56340\"}}},"
             "\"lines\":{\"L\":[{\"N\":\"1\"},{\"N\":\"22\"},{\"N\":\"333\"}]},"
             "\"note\":{\"S\":\"%0400d\"},\"history\":{\"S\":\"%0350d\"}}}",
             item / ITEMS_EACH, item % ITEMS_EACH, revision, item, item);
    return request_frame(out, port, "PutItem", body);
}

static size_t request_get(char *out, uint16_t port, int item)
{
    char body[512];
    snprintf(body, sizeof(body),
             "{\"TableName\":\"bench\",\"Key\":{\"pk\":{\"S\":\"CUSTOMER#%06d\"},"
             "\"sk\":{\"S\":\"ORDER#%08d\"}}}",
             item / ITEMS_EACH, item % ITEMS_EACH);
    return request_frame(out, port, "GetItem", body);
}

static size_t request_query(char *out, uint16_t port, int item)
{
    char body[512];
    snprintf(body, sizeof(body),
             "{\"TableName\":\"bench\",\"KeyConditionExpression\":\"pk = :pk\","
             "\"ExpressionAttributeValues\":{\":pk\":{\"S\":\"CUSTOMER#%06d\"}}}",
             item / ITEMS_EACH);
    return request_frame(out, port, "Query", body);
}

static size_t request_make(char *out, uint16_t port, enum work work, long number)
{
    // A step that is prime to the number of items visits all of them, in no order.
    int item = (int)(number * 617 % ITEMS);
    switch (work) {
    case GET:
        return request_get(out, port, item);
    case PUT:
        return request_put(out, port, item, ITEMS + number);
    case QUERY:
    default:
        return request_query(out, port, item);
    }
}

// ---- Connections ----------------------------------------------------------------

static int connection_open(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        die("connect");
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return fd;
}

static void connection_send(struct connection *connection, const char *bytes, size_t length)
{
    connection->received = 0;
    connection->sent_at = now_seconds();
    // A request is far smaller than a socket buffer, so this never blocks for long.
    while (length > 0) {
        ssize_t sent = write(connection->fd, bytes, length);
        if (sent < 0)
            die("write");
        bytes += sent;
        length -= (size_t)sent;
    }
}

// Reads what is there. True when the response is whole.
static bool connection_receive(struct connection *connection)
{
    ssize_t count = read(connection->fd, connection->response + connection->received,
                         RESPONSE_MAX - connection->received);
    if (count <= 0) {
        errno = count == 0 ? 0 : errno;
        die("the server closed the connection");
    }
    connection->received += (size_t)count;
    connection->response[connection->received] = 0;
    char *end = strstr(connection->response, "\r\n\r\n");
    if (end == NULL)
        return false;
    char *length = strcasestr(connection->response, "\r\ncontent-length:");
    errno = 0;
    if (length == NULL || length > end)
        die("a response without Content-Length");
    size_t head = (size_t)(end + 4 - connection->response);
    size_t whole = head + strtoull(length + 17, NULL, 10);
    if (whole > RESPONSE_MAX)
        die("the response is too long");
    return connection->received >= whole;
}

static bool connection_succeeded(const struct connection *connection)
{
    return strncmp(connection->response, "HTTP/1.1 200", 12) == 0;
}

static void connection_call(struct connection *connection, const char *request, size_t length)
{
    connection_send(connection, request, length);
    while (!connection_receive(connection))
        ;
}

// ---- Work -----------------------------------------------------------------------

static void setup(uint16_t port)
{
    char request[REQUEST_MAX];
    struct connection connection = {.fd = connection_open(port)};
    connection.response = must_alloc(RESPONSE_MAX + 1);
    size_t length = request_frame(
        request, port, "CreateTable",
        "{\"TableName\":\"bench\",\"BillingMode\":\"PAY_PER_REQUEST\","
        "\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"},"
        "{\"AttributeName\":\"sk\",\"AttributeType\":\"S\"}],"
        "\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"},"
        "{\"AttributeName\":\"sk\",\"KeyType\":\"RANGE\"}]}");
    connection_call(&connection, request, length);
    if (!connection_succeeded(&connection) &&
        strstr(connection.response, "ResourceInUse") == NULL) {
        fprintf(stderr, "%s\n", connection.response);
        die("CreateTable failed");
    }
    for (int item = 0; item < ITEMS; item++) {
        length = request_put(request, port, item, item);
        connection_call(&connection, request, length);
        if (!connection_succeeded(&connection)) {
            fprintf(stderr, "%s\n", connection.response);
            die("PutItem failed");
        }
    }
    close(connection.fd);
    free(connection.response);
}

static void load_next(struct load *load, struct connection *connection)
{
    char request[REQUEST_MAX];
    if (load->started == load->requests)
        return;
    size_t length = request_make(request, load->port, load->work, load->started);
    load->started++;
    connection_send(connection, request, length);
}

static void load_run(struct load *load, int connections)
{
    struct connection *all = must_alloc((size_t)connections * sizeof(*all));
    int poll = epoll_create1(EPOLL_CLOEXEC);
    if (poll < 0)
        die("epoll_create1");
    for (int i = 0; i < connections; i++) {
        all[i].fd = connection_open(load->port);
        all[i].response = must_alloc(RESPONSE_MAX + 1);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[i]};
        if (epoll_ctl(poll, EPOLL_CTL_ADD, all[i].fd, &event) != 0)
            die("epoll_ctl");
        load_next(load, &all[i]);
    }
    while (load->finished < load->requests) {
        struct epoll_event events[64];
        int count = epoll_wait(poll, events, 64, 30000);
        if (count == 0)
            die("no answer for 30 seconds");
        for (int i = 0; i < count; i++) {
            struct connection *connection = events[i].data.ptr;
            if (!connection_receive(connection))
                continue;
            if (!connection_succeeded(connection)) {
                fprintf(stderr, "%s\n", connection->response);
                die("a request failed");
            }
            double took = now_seconds() - connection->sent_at;
            load->latencies[load->finished++] = (float)(took * 1e6);
            load_next(load, connection);
        }
    }
    for (int i = 0; i < connections; i++) {
        close(all[i].fd);
        free(all[i].response);
    }
    close(poll);
    free(all);
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a;
    float y = *(const float *)b;
    return (x > y) - (x < y);
}

static void load_report(const struct load *load, double seconds)
{
    size_t count = (size_t)load->finished;
    qsort(load->latencies, count, sizeof(float), compare_floats);
    printf("%.0f requests/s, median %.0f us, 99%% under %.0f us\n", (double)count / seconds,
           (double)load->latencies[count / 2], (double)load->latencies[count * 99 / 100]);
}

static int usage(void)
{
    fprintf(stderr, "usage: loadgen PORT setup\n"
                    "       loadgen PORT get|put|query REQUESTS CONNECTIONS\n");
    return 2;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"get", "put", "query"};
    struct load load = {0};
    if (argc < 3)
        return usage();
    load.port = (uint16_t)strtoul(argv[1], NULL, 10);
    if (argc == 3 && strcmp(argv[2], "setup") == 0) {
        setup(load.port);
        return 0;
    }
    int work = 0;
    while (work < 3 && strcmp(argv[2], names[work]) != 0)
        work++;
    if (argc != 5 || work == 3)
        return usage();
    load.work = (enum work)work;
    load.requests = strtol(argv[3], NULL, 10);
    long connections = strtol(argv[4], NULL, 10);
    if (load.requests < 1 || connections < 1 || connections > CONNECTIONS_MAX)
        return usage();
    load.latencies = must_alloc((size_t)load.requests * sizeof(float));
    double start = now_seconds();
    load_run(&load, (int)connections);
    load_report(&load, now_seconds() - start);
    free(load.latencies);
    return 0;
}
