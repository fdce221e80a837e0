// Rules of faults, times as text, and what the metrics make of requests.
#include "base/time_text.h"
#include "server/faults.h"
#include "server/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

// ---- Times -----------------------------------------------------------------------------------

static void time_round_trip(void **state)
{
    (void)state;
    static const char *const texts[] = {"1970-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z",
                                        "2028-02-29T23:59:59.999Z", "9999-12-31T23:59:59.123Z"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        int64_t ms;
        char text[TIME_TEXT];
        assert_true(time_parse(slice_str(texts[i]), &ms));
        time_text(ms, text);
        assert_string_equal(text, texts[i]);
    }
    int64_t ms;
    assert_true(time_parse(slice_str("2026-01-01T00:00:00Z"), &ms));
    assert_int_equal(ms, 1767225600000);
}

static void time_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "2026-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026",
        "2026-01-01",
        "2026-01-01T00:00:00",
        "2026-01-01 00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-01-32T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:0xZ",
        "1969-01-01T00:00:00Z",
        "2026-01-01T00:00:00.1Z",
        "2026-01-01T00:00:00.12xZ",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        int64_t ms;
        assert_false(time_parse(slice_str(texts[i]), &ms));
    }
}

// ---- Faults ----------------------------------------------------------------------------------

// A generator that says what it is told.
static uint64_t told(void *context)
{
    return *(const uint64_t *)context;
}

static struct fault draw(struct faults *faults, const char *operation, uint64_t random)
{
    return faults_draw(faults, slice_str(operation), told, &random);
}

static void set(struct faults *faults, const char *rules)
{
    char error[256] = "";
    assert_true(faults_set(faults, slice_str(rules), error, sizeof(error)));
}

static void faults_by_operation(void **state)
{
    (void)state;
    struct faults *faults = faults_new();
    assert_non_null(faults);
    assert_int_equal(draw(faults, "PutItem", 0).failure, FAULT_NONE);
    set(faults, "PutItem:throttle,*:internal,Query:latency=20ms,Query:latency=5ms");
    assert_int_equal(draw(faults, "PutItem", 0).failure, FAULT_THROTTLE);
    assert_int_equal(draw(faults, "GetItem", 0).failure, FAULT_INTERNAL);
    assert_int_equal(draw(faults, "Query", 0).latency_ms, 25);
    assert_int_equal(draw(faults, "NoSuchThing", 0).failure, FAULT_NONE);
    set(faults, "*:conflict");
    assert_int_equal(draw(faults, "TransactWriteItems", 0).failure, FAULT_CONFLICT);
    assert_int_equal(draw(faults, "Query", 0).failure, FAULT_NONE);
    set(faults, "");
    assert_int_equal(draw(faults, "PutItem", 0).failure, FAULT_NONE);
    faults_free(faults);
}

static void faults_by_rate(void **state)
{
    (void)state;
    struct faults *faults = faults_new();
    assert_non_null(faults);
    set(faults, "PutItem:internal:0.25");
    assert_int_equal(draw(faults, "PutItem", 0).failure, FAULT_INTERNAL);
    assert_int_equal(draw(faults, "PutItem", UINT64_MAX / 5).failure, FAULT_INTERNAL);
    assert_int_equal(draw(faults, "PutItem", UINT64_MAX / 3).failure, FAULT_NONE);
    set(faults, "PutItem:internal:1");
    assert_int_equal(draw(faults, "PutItem", UINT64_MAX).failure, FAULT_INTERNAL);
    set(faults, "PutItem:internal:0");
    assert_int_equal(draw(faults, "PutItem", 0).failure, FAULT_NONE);
    faults_free(faults);
}

static void faults_refused(void **state)
{
    (void)state;
    static const char *const rules[] = {
        "PutItem",
        "PutItem:nothing",
        "putitem:throttle",
        "PutItem:throttle:1.1",
        "PutItem:latency:1",
        "PutItem:latency=60001ms",
        "PutItem:latency=1s",
        "PutItem:throttle=1ms",
        ",PutItem:throttle",
        "PutItem:throttle,,GetItem:throttle",
    };
    struct faults *faults = faults_new();
    struct buf text;
    buf_init(&text, 1 << 16);
    assert_non_null(faults);
    set(faults, "*:latency=60000ms:0.125");
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        char error[256] = "";
        assert_false(faults_set(faults, slice_str(rules[i]), error, sizeof(error)));
        assert_string_not_equal(error, "");
    }
    faults_write(faults, &text);
    assert_true(slice_is(buf_view(&text), "*:latency=60000ms:0.125"));
    buf_release(&text);
    faults_free(faults);
}

// ---- Metrics ---------------------------------------------------------------------------------

static void count_one(struct metrics *metrics, unsigned loop, const char *operation,
                      const char *table, uint32_t id, int status, enum error_code error)
{
    struct api_usage usage = {
        .operation = api_operation_number(slice_str(operation)),
        .table = slice_str(table),
        .table_id = id,
        .read_units = 0.5,
        .items = 2,
    };
    metrics_count(metrics, loop, &(struct metrics_request){&usage, status, error, 700000});
}

static bool says(struct metrics *metrics, const char *line)
{
    struct buf text;
    buf_init(&text, 64 << 20);
    metrics_write(metrics, &text);
    bool found = slice_contains(buf_view(&text), slice_str(line));
    buf_release(&text);
    return found;
}

static void metrics_add_up(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_new(2);
    assert_non_null(metrics);
    count_one(metrics, 0, "GetItem", "tab", 7, 200, ERR_NONE);
    count_one(metrics, 1, "GetItem", "tab", 7, 200, ERR_NONE);
    // The table was deleted and made again: another id, the same name.
    count_one(metrics, 1, "GetItem", "tab", 8, 200, ERR_NONE);
    count_one(metrics, 1, "GetItem", "tab", 8, 400, ERR_VALIDATION);
    count_one(metrics, 0, "PutItem", "tab", 8, 400, ERR_CONDITIONAL_CHECK_FAILED);
    count_one(metrics, 0, "PutItem", "tab", 8, 400, ERR_THROUGHPUT_EXCEEDED);
    count_one(metrics, 0, "PutItem", "tab", 8, 400, ERR_THROTTLING);
    count_one(metrics, 0, "PutItem", "tab", 8, 500, ERR_INTERNAL);
    count_one(metrics, 0, "Nothing", "", 0, 400, ERR_UNKNOWN_OPERATION);
    static const char *const lines[] = {
        "dolmen_requests_total{operation=\"GetItem\",table=\"tab\"} 4\n",
        "dolmen_user_errors_total{operation=\"GetItem\",table=\"tab\"} 1\n",
        "dolmen_consumed_read_capacity_units_total{operation=\"GetItem\",table=\"tab\"} 2\n",
        "dolmen_consumed_read_capacity_units_total{operation=\"\",table=\"\"} 0.5\n",
        "dolmen_returned_item_count_total{operation=\"GetItem\",table=\"tab\"} 6\n",
        "latency_seconds_bucket{operation=\"GetItem\",table=\"tab\",le=\"0.0005\"} 0\n",
        "latency_seconds_bucket{operation=\"GetItem\",table=\"tab\",le=\"0.001\"} 3\n",
        "latency_seconds_bucket{operation=\"GetItem\",table=\"tab\",le=\"+Inf\"} 3\n",
        "latency_seconds_sum{operation=\"GetItem\",table=\"tab\"} 0.002100000\n",
        "latency_seconds_count{operation=\"GetItem\",table=\"tab\"} 3\n",
        "dolmen_conditional_check_failed_requests_total{operation=\"PutItem\",table=\"tab\"} 1\n",
        "dolmen_throttled_requests_total{operation=\"PutItem\",table=\"tab\"} 2\n",
        "dolmen_system_errors_total{operation=\"PutItem\",table=\"tab\"} 1\n",
        "dolmen_user_errors_total{operation=\"PutItem\",table=\"tab\"} 0\n",
        "dolmen_user_errors_total{operation=\"\",table=\"\"} 1\n",
    };
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        assert_true(says(metrics, lines[i]));
    metrics_free(metrics);
}

// Requests of the data API have labels of their own, and there are only so many of them.
static void metrics_of_routes(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_new(2);
    struct api_usage none = {.operation = API_NO_OPERATION};
    struct metrics_request fine = {&none, 200, ERR_NONE, 700000};
    struct metrics_request bad = {&none, 404, ERR_NONE, 700000};
    struct metrics_request known = {&none, 304, ERR_NONE, 700000};
    struct metrics_route user = {metrics_method(SLICE_LIT("GET")), SLICE_LIT("shop"),
                                 SLICE_LIT("User")};
    struct metrics_route odd = {metrics_method(SLICE_LIT("BREW")), SLICE_LIT("shop"), {NULL, 0}};
    metrics_route(metrics, 0, &user, &fine);
    metrics_route(metrics, 1, &user, &known);
    metrics_route(metrics, 1, &user, &bad);
    metrics_route(metrics, 1, &odd, &bad);
    static const char *const lines[] = {
        "dolmen_data_requests_total{method=\"GET\",table=\"shop\",name=\"User\"} 3\n",
        "dolmen_data_user_errors_total{method=\"GET\",table=\"shop\",name=\"User\"} 1\n",
        "dolmen_data_request_latency_seconds_count{method=\"GET\",table=\"shop\",name=\"User\"} "
        "2\n",
        "dolmen_data_requests_total{method=\"OTHER\",table=\"shop\",name=\"\"} 1\n",
    };
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        assert_true(says(metrics, lines[i]));
    assert_false(says(metrics, "dolmen_requests_total{method"));
    for (unsigned i = 0; i < METRICS_ROUTES_MAX + 50; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "Entity%u", i);
        user.name = slice_str(name);
        metrics_route(metrics, 0, &user, &fine);
    }
    assert_true(
        says(metrics, "dolmen_data_requests_total{method=\"GET\",table=\"other\",name=\"\"} 52\n"));
    metrics_free(metrics);
}

static void metrics_connections(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_new(2);
    assert_non_null(metrics);
    metrics_connection(metrics, 0, true);
    metrics_connection(metrics, 1, true);
    metrics_connection(metrics, 1, true);
    metrics_connection(metrics, 1, false);
    assert_true(says(metrics, "dolmen_connections 2\n"));
    assert_true(says(metrics, "dolmen_connections_opened_total 3\n"));
    metrics_free(metrics);
}

static void metrics_are_bounded(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_new(1);
    assert_non_null(metrics);
    for (unsigned i = 0; i < METRICS_TABLES_MAX + 50; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "table%u", i);
        count_one(metrics, 0, "GetItem", name, i + 1, 200, ERR_NONE);
        count_one(metrics, 0, "GetItem", name, i + 1, 200, ERR_NONE);
    }
    assert_true(says(metrics, "dolmen_requests_total{operation=\"GetItem\",table=\"table999\"} 2"));
    assert_false(says(metrics, "table=\"table1000\""));
    assert_true(
        says(metrics, "dolmen_requests_total{operation=\"GetItem\",table=\"other\"} 100\n"));
    metrics_free(metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_round_trip),     cmocka_unit_test(time_refused),
        cmocka_unit_test(faults_by_operation), cmocka_unit_test(faults_by_rate),
        cmocka_unit_test(faults_refused),      cmocka_unit_test(metrics_add_up),
        cmocka_unit_test(metrics_of_routes),   cmocka_unit_test(metrics_connections),
        cmocka_unit_test(metrics_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
