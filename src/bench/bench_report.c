// See bench_report.h. What could not be measured is left out of the JSON and is a dash in the text.
#include "bench/bench_report.h"

#include "json/writer.h"

#include <inttypes.h>
#include <stdio.h>

// What the server spent, per request. Zero: not known.
struct cost {
    double cpu_us;
    double instructions;
    double written_per_item; // bytes
    double resident_mb;
};

static struct cost cost_of(const struct bench_result *result)
{
    struct cost cost = {0};
    double requests = (double)(result->requests + result->errors);
    const struct bench_usage *before = &result->before;
    const struct bench_usage *after = &result->after;
    if (!result->has_usage || requests < 1)
        return cost;
    cost.cpu_us = (after->cpu_seconds - before->cpu_seconds) * 1e6 / requests;
    cost.instructions = (double)(after->instructions - before->instructions) / requests;
    if (result->written > 0)
        cost.written_per_item =
            (double)(after->bytes_written - before->bytes_written) / (double)result->written;
    cost.resident_mb = (double)after->resident / 1e6;
    return cost;
}

static double per_second(const struct bench_result *result)
{
    return result->seconds > 0 ? (double)result->requests / result->seconds : 0;
}

static double latency_us(const struct bench_result *result, double share)
{
    return (double)bench_histogram_value(&result->latencies, share) / 1e3;
}

// ---- Text ----------------------------------------------------------------------------------

static void print_cell(double value, int decimals)
{
    if (value > 0)
        printf(" %11.*f", decimals, value);
    else
        printf(" %11s", "-");
}

static void text_result(const struct bench_result *result)
{
    struct cost cost = cost_of(result);
    printf("%-10s %11.0f %9.0f %9.0f %9.0f %8" PRIu64, result->workload->name, per_second(result),
           latency_us(result, 0.5), latency_us(result, 0.99), latency_us(result, 0.999),
           result->errors);
    if (result->has_usage) {
        print_cell(cost.cpu_us, 1);
        print_cell(cost.instructions, 0);
        print_cell(cost.written_per_item, 0);
        print_cell(cost.resident_mb, 1);
    }
    printf("\n");
    if (result->errors > 0)
        printf("           first error: %s\n", result->sample);
}

// ---- JSON ----------------------------------------------------------------------------------

static void print_string(const char *text)
{
    struct buf quoted;
    struct json_writer w = json_writer_to(&quoted);
    buf_init(&quoted, 1 << 20);
    json_text(&w, text); // an error's may have been cut within a character
    printf("%.*s", SLICE_FMT(buf_view(&quoted)));
    buf_release(&quoted);
}

static void json_cost(const struct bench_result *result)
{
    struct cost cost = cost_of(result);
    printf(",\"cpu_us\":%.2f,\"resident_mb\":%.1f", cost.cpu_us, cost.resident_mb);
    if (cost.instructions > 0)
        printf(",\"instructions\":%.0f", cost.instructions);
    if (result->written > 0)
        printf(",\"written_per_item\":%.0f", cost.written_per_item);
}

static void json_result(const struct bench_result *result, bool first)
{
    printf("%s\n{\"workload\":\"%s\",\"seconds\":%.3f,\"requests\":%" PRIu64
           ",\"per_second\":%.1f,\"p50_us\":%.1f,\"p99_us\":%.1f,\"p999_us\":%.1f,"
           "\"errors\":%" PRIu64 ",\"items_written\":%" PRIu64,
           first ? "" : ",", result->workload->name, result->seconds, result->requests,
           per_second(result), latency_us(result, 0.5), latency_us(result, 0.99),
           latency_us(result, 0.999), result->errors, result->written);
    if (result->errors > 0) {
        printf(",\"first_error\":");
        print_string(result->sample);
    }
    if (result->has_usage)
        json_cost(result);
    printf("}");
}

// ---- Both ----------------------------------------------------------------------------------

void bench_report_begin(struct bench_report *report, const struct bench_plan *plan,
                        const struct bench_data *data, const char *endpoint)
{
    if (report->json) {
        printf("{\"endpoint\":");
        print_string(endpoint);
        printf(",\"items\":%" PRIu64 ",\"gsis\":%u,\"size\":%u,\"connections\":%u,\"results\":[",
               data->items, data->gsis, data->size, plan->connections);
        return;
    }
    printf("%" PRIu64 " items of %u bytes, %u indexes, %u connections\n", data->items, data->size,
           data->gsis, plan->connections);
    printf("%-10s %11s %9s %9s %9s %8s", "workload", "requests/s", "p50 us", "p99 us", "p99.9 us",
           "errors");
    if (plan->server > 0)
        printf(" %11s %11s %11s %11s", "CPU us/req", "instr/req", "B disk/item", "MB resident");
    printf("\n");
}

void bench_report_result(struct bench_report *report, const struct bench_result *result)
{
    if (report->json)
        json_result(result, report->results == 0);
    else
        text_result(result);
    report->results++;
    (void)fflush(stdout);
}

void bench_report_end(struct bench_report *report)
{
    if (report->json)
        printf("\n]}\n");
    (void)fflush(stdout);
}
