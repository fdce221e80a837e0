// The load generator: its histogram is as precise as promised, and every request of every workload
// is answered as it expects, on tables with 0, 2 and 8 indexes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bench/bench_histogram.h"
#include "bench/bench_workload.h"

#include "dolmen.h"

enum { ITEMS = 400, REQUESTS = 60, BATCHES = ITEMS / 25, BODY_MAX = 1 << 20 };

static void test_histogram_empty(void **state)
{
    (void)state;
    struct bench_histogram *histogram = calloc(1, sizeof(*histogram));
    assert_non_null(histogram);
    assert_int_equal(bench_histogram_value(histogram, 0.5), 0);
    free(histogram);
}

static void assert_near(uint64_t found, uint64_t expected)
{
    uint64_t difference = found > expected ? found - expected : expected - found;
    assert_true(difference <= expected / 64);
}

// Each value alone comes back within 1/64 of itself.
static void test_histogram_precision(void **state)
{
    (void)state;
    for (uint64_t value = 1; value < UINT64_C(1) << BENCH_VALUE_BITS; value = value * 9 / 8 + 1) {
        struct bench_histogram *histogram = calloc(1, sizeof(*histogram));
        assert_non_null(histogram);
        bench_histogram_add(histogram, value);
        assert_near(bench_histogram_value(histogram, 0.5), value);
        free(histogram);
    }
}

static void test_histogram_shares(void **state)
{
    (void)state;
    struct bench_histogram *histogram = calloc(1, sizeof(*histogram));
    assert_non_null(histogram);
    for (uint64_t i = 1; i <= 10000; i++)
        bench_histogram_add(histogram, i * 1000);
    bench_histogram_add(histogram, UINT64_MAX); // counts as the largest there is
    assert_near(bench_histogram_value(histogram, 0.5), 5000000);
    assert_near(bench_histogram_value(histogram, 0.99), 9900000);
    assert_near(bench_histogram_value(histogram, 0.999), 9990000);
    assert_near(bench_histogram_value(histogram, 1), (UINT64_C(1) << BENCH_VALUE_BITS) - 1);
    free(histogram);
}

static void call(dolmen *db, const char *operation, const struct buf *body, const char *expect)
{
    struct dolmen_response response;
    assert_false(body->failed);
    dolmen_call(db, operation, (const char *)body->ptr, body->len, &response);
    if (response.status != 200 || strstr(response.body, expect) == NULL)
        fail_msg("%s: HTTP %d, not '%s': %s", operation, response.status, expect, response.body);
    dolmen_response_free(&response);
}

static void workload_try(dolmen *db, const struct bench_workload *workload,
                         struct bench_source *source, int requests)
{
    struct buf body;
    buf_init(&body, BODY_MAX);
    for (int i = 0; i < requests; i++) {
        struct bench_request request;
        buf_clear(&body);
        bench_next(workload, source, &body, &request);
        call(db, request.operation, &body, request.expect);
    }
    buf_release(&body);
}

static void workloads_try(unsigned gsis)
{
    const struct dolmen_options options = {0};
    const struct bench_data data = {.table = "bench", .items = ITEMS, .gsis = gsis, .size = 1024};
    struct bench_source source;
    struct buf body;
    char error[256];
    dolmen *db;
    assert_int_equal(dolmen_open(&options, &db, error, sizeof(error)), DOLMEN_OK);
    buf_init(&body, BODY_MAX);
    bench_table_create(&body, &data);
    call(db, "CreateTable", &body, "TableDescription");
    buf_release(&body);
    bench_source_init(&source, &data);
    workload_try(db, &bench_workloads[0], &source, BATCHES);
    assert_int_equal(source.next_load, ITEMS);
    for (const struct bench_workload *w = &bench_workloads[1]; w->name != NULL; w++) {
        if (gsis > 0 || !w->wants_gsi)
            workload_try(db, w, &source, REQUESTS);
    }
    // After all the writing, each partition still has the 20 items that the loading made.
    workload_try(db, &bench_workloads[2], &source, REQUESTS);
    dolmen_close(db);
}

static void test_workloads(void **state)
{
    (void)state;
    workloads_try(0);
    workloads_try(2);
    workloads_try(8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_histogram_empty),
        cmocka_unit_test(test_histogram_precision),
        cmocka_unit_test(test_histogram_shares),
        cmocka_unit_test(test_workloads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
