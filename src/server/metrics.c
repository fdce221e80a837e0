// See metrics.h. A cell holds the counters of one operation on one table in one loop. Its
// loop finds it by the table's id in a small cache, or else by the table's name in a hash;
// both belong to the loop's thread. The scrape walks the list of cells, which only grows.
// Requests of the data API have cells of their own, whose operation stands for the method, and
// whose name is "table/name".
//
// Memory: cells live until metrics_free.
#include "server/metrics.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { RECENT = 256, CHAINS = 1024, ROUTES = 1 << 16 }; // methods are operations from ROUTES on

static const char *const methods[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OTHER"};

// Upper bounds of the latency buckets in nanoseconds; one more takes the rest.
static const uint64_t bounds_ns[] = {
    50000,    100000,   250000,    500000,    1000000,   2500000,    5000000,    10000000,
    25000000, 50000000, 100000000, 250000000, 500000000, 1000000000, 2500000000, 10000000000,
};

enum { BUCKETS = COUNT_OF(bounds_ns) + 1 };

// X(field, divisor, name, help): the one list of counters by operation and table.
#define COUNTER_LIST(X)                                                                            \
    X(requests, 1, "requests_total", "Requests answered, errors included")                         \
    X(user_errors, 1, "user_errors_total",                                                         \
      "UserErrors: answers with a status of 4xx, without failed conditions and throttling")        \
    X(system_errors, 1, "system_errors_total", "SystemErrors: answers with a status of 5xx")       \
    X(conditional, 1, "conditional_check_failed_requests_total",                                   \
      "ConditionalCheckFailedRequests: writes whose condition was false")                          \
    X(throttled, 1, "throttled_requests_total",                                                    \
      "ThrottledRequests: requests refused because of throughput")                                 \
    X(read_halves, 2, "consumed_read_capacity_units_total", "ConsumedReadCapacityUnits")           \
    X(write_halves, 2, "consumed_write_capacity_units_total", "ConsumedWriteCapacityUnits")        \
    X(items, 1, "returned_item_count_total", "ReturnedItemCount: items in answers to reads")       \
    X(warned, 1, "model_warnings_total", "Writes that a model only warns about")                   \
    X(denied, 1, "policy_denials_total",                                                           \
      "Decisions of policies that were no, whether enforced or only warned about")

// What a cell counts: the counters of the list, the sum of the latencies, and how many were in each
// bucket. Capacity is counted in halves of a unit, so that all are whole numbers.
enum {
#define X(field, divisor, name, help) COUNT_##field,
    COUNTER_LIST(X)
#undef X
        COUNTERS,
    COUNT_latency_ns = COUNTERS,
    COUNT_bucket,
    COUNTS = COUNT_bucket + BUCKETS
};

typedef _Atomic uint64_t counter;

struct cell {
    struct cell *older; // the loop's list
    struct cell *chain; // the loop's hash
    unsigned operation;
    uint32_t name_len;
    counter counts[COUNTS];
    char name[];
};

struct recent {
    struct cell *cell;
    unsigned operation;
    uint32_t table_id;
};

struct metrics_loop {
    _Alignas(64) _Atomic(struct cell *) newest;
    counter opened;
    counter closed;
    struct recent recent[RECENT];
    struct cell *chains[CHAINS];
};

// Names that are told apart.
struct names {
    size_t count;
    size_t most;
    char **list;
};

struct metrics {
    unsigned loop_count;
    struct metrics_loop *loops;
    pthread_mutex_t lock; // of the names
    struct names tables;
    struct names routes;
};

// ---- Life ------------------------------------------------------------------------------------

static void names_init(struct names *names, size_t most)
{
    *names = (struct names){.most = most, .list = calloc(most, sizeof(*names->list))};
    ensure_memory(names->list);
}

static void names_release(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
}

struct metrics *metrics_new(unsigned loops)
{
    struct metrics *metrics = calloc(1, sizeof(*metrics));
    size_t size = sizeof(struct metrics_loop) * loops;
    struct metrics_loop *memory = aligned_alloc(_Alignof(struct metrics_loop), size);
    ensure_memory(metrics);
    ensure_memory(memory);
    memset(memory, 0, size);
    metrics->loop_count = loops;
    metrics->loops = memory;
    names_init(&metrics->tables, METRICS_TABLES_MAX);
    names_init(&metrics->routes, METRICS_ROUTES_MAX);
    ensure(pthread_mutex_init(&metrics->lock, NULL) == 0);
    return metrics;
}

void metrics_free(struct metrics *metrics)
{
    if (metrics == NULL)
        return;
    for (unsigned i = 0; i < metrics->loop_count; i++) {
        struct cell *cell = atomic_load(&metrics->loops[i].newest);
        while (cell != NULL) {
            struct cell *older = cell->older;
            free(cell);
            cell = older;
        }
    }
    names_release(&metrics->tables);
    names_release(&metrics->routes);
    ensure(pthread_mutex_destroy(&metrics->lock) == 0);
    free(metrics->loops);
    free(metrics);
}

// ---- Counting (the loop's thread) ------------------------------------------------------------

static uint64_t read_counter(const counter *from)
{
    return atomic_load_explicit(from, memory_order_relaxed);
}

static inline void add(counter *to, uint64_t by)
{
    atomic_store_explicit(to, atomic_load_explicit(to, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

// The name that a table, or a route, is counted under.
static struct slice name_admit(struct metrics *metrics, bool route, struct slice name)
{
    struct names *names = route ? &metrics->routes : &metrics->tables;
    bool known = name.len == 0;
    ensure(pthread_mutex_lock(&metrics->lock) == 0);
    for (size_t i = 0; !known && i < names->count; i++)
        known = slice_is(name, names->list[i]);
    if (!known && names->count < names->most) {
        char *copy = calloc(1, name.len + 1);
        if (copy != NULL) {
            memcpy(copy, name.ptr, name.len);
            names->list[names->count++] = copy;
        }
        known = copy != NULL;
    }
    ensure(pthread_mutex_unlock(&metrics->lock) == 0);
    return known ? name : SLICE_LIT("other");
}

static struct cell *chain_find(struct cell *cell, unsigned operation, struct slice name)
{
    while (cell != NULL && (cell->operation != operation ||
                            !slice_equal(slice_of(cell->name, cell->name_len), name)))
        cell = cell->chain;
    return cell;
}

static struct cell **chain_of(struct metrics_loop *loop, unsigned operation, struct slice name)
{
    uint32_t hash = 2166136261u ^ operation;
    for (size_t i = 0; i < name.len; i++)
        hash = (hash ^ name.ptr[i]) * 16777619u;
    return &loop->chains[hash % CHAINS];
}

// Finds or makes a cell; NULL when memory is out.
static struct cell *cell_by_name(struct metrics *metrics, struct metrics_loop *loop,
                                 unsigned operation, struct slice name)
{
    struct cell **chain = chain_of(loop, operation, name);
    struct cell *cell = chain_find(*chain, operation, name);
    if (cell != NULL)
        return cell;
    struct slice admitted = name_admit(metrics, operation >= ROUTES, name);
    if (admitted.ptr != name.ptr) {
        chain = chain_of(loop, operation, admitted);
        cell = chain_find(*chain, operation, admitted);
        if (cell != NULL)
            return cell;
    }
    cell = calloc(1, sizeof(*cell) + admitted.len);
    if (cell == NULL)
        return NULL;
    cell->operation = operation;
    cell->name_len = (uint32_t)admitted.len;
    if (admitted.len > 0)
        memcpy(cell->name, admitted.ptr, admitted.len);
    cell->chain = *chain;
    *chain = cell;
    cell->older = atomic_load_explicit(&loop->newest, memory_order_relaxed);
    atomic_store_explicit(&loop->newest, cell, memory_order_release);
    return cell;
}

static struct cell *cell_find(struct metrics *metrics, struct metrics_loop *loop,
                              const struct api_usage *usage)
{
    uint32_t mixed = (usage->table_id * 31 + usage->operation) * 0x9e3779b1u;
    struct recent *recent = &loop->recent[mixed >> 24];
    if (recent->cell != NULL && recent->table_id == usage->table_id &&
        recent->operation == usage->operation && usage->table_id != 0)
        return recent->cell;
    struct cell *cell = cell_by_name(metrics, loop, usage->operation, usage->table);
    *recent = (struct recent){cell, usage->operation, usage->table_id};
    return cell;
}

static int failure_of(int status, enum error_code error)
{
    if (error == ERR_CONDITIONAL_CHECK_FAILED)
        return COUNT_conditional;
    if (error == ERR_THROUGHPUT_EXCEEDED || error == ERR_THROTTLING || error == ERR_REQUEST_LIMIT)
        return COUNT_throttled;
    return status >= 500 ? COUNT_system_errors : COUNT_user_errors;
}

static void cell_count(struct cell *cell, const struct metrics_request *request)
{
    const struct api_usage *usage = request->usage;
    if (cell == NULL)
        return;
    add(&cell->counts[COUNT_requests], 1);
    add(&cell->counts[COUNT_read_halves], (uint64_t)(usage->read_units * 2));
    add(&cell->counts[COUNT_write_halves], (uint64_t)(usage->write_units * 2));
    if (usage->denied > 0)
        add(&cell->counts[COUNT_denied], usage->denied);
    if (request->status >= 400) {
        add(&cell->counts[failure_of(request->status, request->error)], 1);
        return;
    }
    add(&cell->counts[COUNT_items], usage->items);
    if (usage->warned > 0)
        add(&cell->counts[COUNT_warned], usage->warned);
    add(&cell->counts[COUNT_latency_ns], request->latency_ns);
    size_t bucket = 0;
    while (bucket < COUNT_OF(bounds_ns) && request->latency_ns > bounds_ns[bucket])
        bucket++;
    add(&cell->counts[COUNT_bucket + bucket], 1);
}

void metrics_count(struct metrics *metrics, unsigned loop, const struct metrics_request *request)
{
    cell_count(cell_find(metrics, &metrics->loops[loop], request->usage), request);
}

const char *metrics_method(struct slice method)
{
    size_t i = 0;
    while (i + 1 < COUNT_OF(methods) && !slice_is(method, methods[i]))
        i++;
    return methods[i];
}

void metrics_route(struct metrics *metrics, unsigned loop, const struct metrics_route *route,
                   const struct metrics_request *request)
{
    char name[1024];
    unsigned method = 0;
    while (methods[method] != route->method)
        method++;
    int len =
        snprintf(name, sizeof(name), "%.*s/%.*s", SLICE_FMT(route->table), SLICE_FMT(route->name));
    if (len < (int)sizeof(name))
        cell_count(cell_by_name(metrics, &metrics->loops[loop], ROUTES + method,
                                slice_of(name, (size_t)len)),
                   request);
}

void metrics_connection(struct metrics *metrics, unsigned loop, bool opened)
{
    struct metrics_loop *own = &metrics->loops[loop];
    add(opened ? &own->opened : &own->closed, 1);
}

// ---- The scrape ------------------------------------------------------------------------------

// One operation on one table, over all loops.
struct row {
    unsigned operation;
    struct slice table; // a cell's
    uint64_t counts[COUNTS];
};

static int compare_rows(const void *a, const void *b)
{
    const struct row *left = a;
    const struct row *right = b;
    if (left->operation != right->operation)
        return left->operation < right->operation ? -1 : 1;
    return slice_compare(left->table, right->table);
}

static void row_of(const struct cell *cell, struct row *row)
{
    row->operation = cell->operation;
    row->table = slice_of(cell->name, cell->name_len);
    for (size_t i = 0; i < COUNTS; i++)
        row->counts[i] = read_counter(&cell->counts[i]);
}

static void row_add(struct row *to, const struct row *from)
{
    for (size_t i = 0; i < COUNTS; i++)
        to->counts[i] += from->counts[i];
}

// All cells, sorted and merged; *count of them. NULL if there are none, or no memory.
static struct row *rows_gather(const struct metrics *metrics, size_t *count)
{
    struct row *rows = NULL;
    size_t used = 0;
    *count = 0;
    for (unsigned i = 0; i < metrics->loop_count; i++) {
        struct cell *cell = atomic_load_explicit(&metrics->loops[i].newest, memory_order_acquire);
        for (; cell != NULL; cell = cell->older) {
            // By powers of two from 64 on.
            bool full = used == 0 || (used >= 64 && (used & (used - 1)) == 0);
            struct row *grown =
                full ? realloc(rows, (used < 64 ? 64 : 2 * used) * sizeof(*rows)) : rows;
            if (grown == NULL) {
                free(rows);
                return NULL;
            }
            rows = grown;
            row_of(cell, &rows[used++]);
        }
    }
    if (used > 1)
        qsort(rows, used, sizeof(*rows), compare_rows);
    for (size_t i = 0; i < used; i++) {
        if (*count > 0 && compare_rows(&rows[*count - 1], &rows[i]) == 0)
            row_add(&rows[*count - 1], &rows[i]);
        else
            rows[(*count)++] = rows[i];
    }
    return rows;
}

void metrics_each(struct metrics *metrics,
                  void (*visit)(void *context, const struct metrics_total *total), void *context)
{
    size_t count;
    struct row *rows = rows_gather(metrics, &count);
    for (size_t i = 0; i < count; i++) {
        const struct row *row = &rows[i];
        if (row->operation >= ROUTES || row->operation == API_NO_OPERATION)
            continue;
        visit(context, &(struct metrics_total){
                           .operation = api_operations()[row->operation],
                           .table = row->table,
                           .requests = row->counts[COUNT_requests],
                           .read_units = (double)row->counts[COUNT_read_halves] / 2,
                           .write_units = (double)row->counts[COUNT_write_halves] / 2,
                           .throttled = row->counts[COUNT_throttled],
                           .user_errors = row->counts[COUNT_user_errors],
                           .system_errors = row->counts[COUNT_system_errors],
                       });
    }
    free(rows);
}

static void write_head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP dolmen_%s %s\n# TYPE dolmen_%s %s\n", name, help, name, type);
}

void metrics_value(struct buf *out, const char *name, const char *type, const char *help,
                   uint64_t value)
{
    write_head(out, name, type, help);
    buf_printf(out, "dolmen_%s %llu\n", name, (unsigned long long)value);
}

static void write_labels(struct buf *out, const struct row *row)
{
    if (row->operation >= ROUTES) {
        struct slice name = row->table;
        struct slice table = slice_cut(&name, '/');
        buf_printf(out, "method=\"%s\",table=\"%.*s\",name=\"%.*s\"",
                   methods[row->operation - ROUTES], SLICE_FMT(table), SLICE_FMT(name));
        return;
    }
    const char *operation =
        row->operation == API_NO_OPERATION ? "" : api_operations()[row->operation];
    buf_printf(out, "operation=\"%s\",table=\"%.*s\"", operation, SLICE_FMT(row->table));
}

static void write_family(struct buf *out, const struct row *rows, size_t count, size_t which,
                         unsigned divisor, const char *name, const char *help)
{
    write_head(out, name, "counter", help);
    for (size_t i = 0; i < count; i++) {
        uint64_t value = rows[i].counts[which];
        buf_printf(out, "dolmen_%s{", name);
        write_labels(out, &rows[i]);
        buf_text(out, "} ");
        buf_u64(out, value / divisor);
        buf_text(out, value % divisor != 0 ? ".5\n" : "\n");
    }
}

static void write_latency(struct buf *out, const struct row *rows, size_t count, const char *name,
                          const char *help)
{
    write_head(out, name, "histogram", help);
    for (size_t i = 0; i < count; i++) {
        uint64_t sum = 0;
        for (size_t k = 0; k < BUCKETS; k++) {
            sum += rows[i].counts[COUNT_bucket + k];
            buf_printf(out, "dolmen_%s_bucket{", name);
            write_labels(out, &rows[i]);
            if (k < COUNT_OF(bounds_ns))
                buf_printf(out, ",le=\"%g\"} ", (double)bounds_ns[k] / 1e9);
            else
                buf_text(out, ",le=\"+Inf\"} ");
            buf_u64(out, sum);
            buf_byte(out, '\n');
        }
        buf_printf(out, "dolmen_%s_sum{", name);
        write_labels(out, &rows[i]);
        buf_printf(out, "} %.9f\ndolmen_%s_count{", (double)rows[i].counts[COUNT_latency_ns] / 1e9,
                   name);
        write_labels(out, &rows[i]);
        buf_printf(out, "} %llu\n", (unsigned long long)sum);
    }
}

void metrics_write(struct metrics *metrics, struct buf *out)
{
    size_t all;
    size_t count = 0;
    struct row *rows = rows_gather(metrics, &all);
    while (count < all && rows[count].operation < ROUTES)
        count++;
#define X(field, divisor, name, help)                                                              \
    write_family(out, rows, count, COUNT_##field, divisor, name, help);
    COUNTER_LIST(X)
#undef X
    write_latency(out, rows, count, "successful_request_latency_seconds",
                  "SuccessfulRequestLatency: from the complete request until the kernel has the "
                  "answer");
    const struct row *routes = rows + count;
    write_family(out, routes, all - count, COUNT_requests, 1, "data_requests_total",
                 "Requests of the data API, errors included");
    write_family(out, routes, all - count, COUNT_user_errors, 1, "data_user_errors_total",
                 "Of them, those with a status of 4xx");
    write_family(out, routes, all - count, COUNT_system_errors, 1, "data_system_errors_total",
                 "Of them, those with a status of 5xx");
    write_latency(out, routes, all - count, "data_request_latency_seconds",
                  "Latency of those that went well");
    free(rows);
    uint64_t opened = 0;
    uint64_t closed = 0;
    for (unsigned i = 0; i < metrics->loop_count; i++) {
        // Closed first: a connection that goes in between is then counted as open, not as less.
        closed += read_counter(&metrics->loops[i].closed);
        opened += read_counter(&metrics->loops[i].opened);
    }
    metrics_value(out, "connections_opened_total", "counter", "Connections accepted", opened);
    metrics_value(out, "connections", "gauge", "Connections open now",
                  opened > closed ? opened - closed : 0);
}
