// What a call costs a program that has the database inside it: microseconds of a PutItem and a
// GetItem of 1 KB, by one caller and by several at once, in memory or in the directory that is
// named.
//
//   embedded [DIRECTORY]
//
// It uses the public header alone. Of several rounds the median is printed: what the machine does
// on the side is not what is measured.
#include <dolmen.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 9, CALLERS = 16, ITEMS = 1000, REQUEST_BYTES = 2048 };

struct caller {
    dolmen *db;
    pthread_t thread;
    const char *operation;
    const char *format; // of the request: the item, and a number that makes it another one
    int first;
    int serial;
    int calls;
};

static double now_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void call(dolmen *db, const char *operation, const char *request)
{
    struct dolmen_response response;
    dolmen_call(db, operation, request, strlen(request), &response);
    if (response.status != 200) {
        (void)fprintf(stderr, "%s: %s\n", operation, response.body);
        exit(1);
    }
    dolmen_response_free(&response);
}

static void *call_many(void *argument)
{
    struct caller *caller = argument;
    char request[REQUEST_BYTES];
    for (int i = 0; i < caller->calls; i++) {
        (void)snprintf(request, sizeof(request), caller->format, (caller->first + i) % ITEMS,
                       caller->serial++);
        call(caller->db, caller->operation, request);
    }
    return NULL;
}

// Microseconds from the first call to the last, for each call.
static double round_us(struct caller callers[CALLERS], int count)
{
    double start = now_us();
    for (int i = 1; i < count; i++) {
        if (pthread_create(&callers[i].thread, NULL, call_many, &callers[i]) != 0)
            exit(1);
    }
    (void)call_many(&callers[0]);
    for (int i = 1; i < count; i++)
        (void)pthread_join(callers[i].thread, NULL);
    return (now_us() - start) / (callers[0].calls * count);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double measure(dolmen *db, const char *operation, const char *format, int count, int calls)
{
    struct caller callers[CALLERS];
    double rounds[ROUNDS];
    for (int i = 0; i < count; i++)
        callers[i] = (struct caller){.db = db,
                                     .operation = operation,
                                     .format = format,
                                     .first = i * ITEMS / count,
                                     .calls = calls};
    for (int i = 0; i < ROUNDS; i++)
        rounds[i] = round_us(callers, count);
    qsort(rounds, ROUNDS, sizeof(*rounds), compare);
    return rounds[ROUNDS / 2];
}

int main(int argc, char **argv)
{
    struct dolmen_options options = {.path = argc > 1 ? argv[1] : NULL};
    dolmen *db;
    char error[256];
    if (dolmen_open(&options, &db, error, sizeof(error)) != DOLMEN_OK) {
        (void)fprintf(stderr, "%s\n", error);
        return 1;
    }
    call(db, "CreateTable",
         "{\"TableName\":\"items\",\"BillingMode\":\"PAY_PER_REQUEST\","
         "\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"}],"
         "\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}]}");
    char put[REQUEST_BYTES];
    int head = snprintf(put, sizeof(put),
                        "{\"TableName\":\"items\",\"Item\":{\"pk\":{\"S\":\"item-%%d\"},\"n\":{"
                        "\"N\":\"%%d\"},\"text\":{\"S\":\"");
    memset(put + head, 'x', 1000);
    (void)snprintf(put + head + 1000, sizeof(put) - (size_t)head - 1000, "\"}}}");
    static const char get[] = "{\"TableName\":\"items\",\"Key\":{\"pk\":{\"S\":\"item-%d\"}}}";
    int calls = options.path == NULL ? 2000 : 500;
    (void)measure(db, "PutItem", put, 1, ITEMS); // the items are there, and memory is warm
    printf("%-12s %14s %14s\n", "", "one caller", "16 callers");
    printf("%-12s %11.1f us %11.1f us\n", "PutItem", measure(db, "PutItem", put, 1, calls),
           measure(db, "PutItem", put, CALLERS, calls / 4));
    printf("%-12s %11.1f us %11.1f us\n", "GetItem", measure(db, "GetItem", get, 1, calls),
           measure(db, "GetItem", get, CALLERS, calls / 4));
    dolmen_close(db);
    return 0;
}
