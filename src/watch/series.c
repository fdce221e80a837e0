// The past of what was counted. A bucket knows which minute it is of, so that a ring needs no
// cleaning: what is of another time is not there.
#include "watch/watch_internal.h"

#include <stdlib.h>

enum { MINUTE_MS = 60 * 1000, HOUR_MS = 60 * MINUTE_MS };

static const char *const metric_names[] = {
#define X(id, name, unit) name,
    WATCH_METRIC_LIST(X)
#undef X
};

int metric_find(struct slice name)
{
    for (size_t i = 0; i < WATCH_METRICS; i++) {
        if (slice_is(name, metric_names[i]))
            return (int)i;
    }
    return -1;
}

// ---- Counting --------------------------------------------------------------------------------

static char *text_copy(struct slice text)
{
    char *copy = calloc(1, text.len + 1);
    ensure_memory(copy);
    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    return copy;
}

static struct series *series_find(struct watch *watch, const struct watch_count *count)
{
    for (size_t i = 0; i < watch->series_count; i++) {
        if (slice_is(count->operation, watch->series[i]->operation) &&
            slice_is(count->table, watch->series[i]->table))
            return watch->series[i];
    }
    if (watch->series_count == WATCH_SERIES_MAX)
        return NULL;
    struct series *series = calloc(1, sizeof(*series));
    if (series == NULL)
        return NULL;
    series->table = text_copy(count->table);
    series->operation = text_copy(count->operation);
    watch->series[watch->series_count++] = series;
    return series;
}

static void bucket_add(struct bucket *bucket, int64_t number, uint64_t requests, const double *more)
{
    if (bucket->number != number)
        *bucket = (struct bucket){.number = number};
    bucket->requests += (uint32_t)requests;
    for (size_t i = 0; i < WATCH_METRICS; i++)
        bucket->sums[i] += (float)more[i];
}

void watch_add(struct watch *watch, const struct watch_count *count)
{
    struct series *series = series_find(watch, count);
    if (series == NULL || series->requests == count->requests)
        return;
    double more[WATCH_METRICS];
    uint64_t requests = count->requests - series->requests;
    for (size_t i = 0; i < WATCH_METRICS; i++) {
        more[i] = count->totals[i] - series->totals[i];
        series->totals[i] = count->totals[i];
    }
    series->requests = count->requests;
    int64_t minute = watch->now_ms / MINUTE_MS;
    int64_t hour = watch->now_ms / HOUR_MS;
    bucket_add(&series->minutes[minute % WATCH_MINUTES], minute, requests, more);
    bucket_add(&series->hours[hour % WATCH_HOURS], hour, requests, more);
}

void series_free(struct watch *watch)
{
    for (size_t i = 0; i < watch->series_count; i++) {
        free(watch->series[i]->table);
        free(watch->series[i]->operation);
        free(watch->series[i]);
    }
    free(watch->series);
}

// ---- Reading ---------------------------------------------------------------------------------

static void statistics_add(struct statistics *to, const struct bucket *bucket,
                           enum watch_metric metric)
{
    double sum = (double)bucket->sums[metric];
    if (sum <= 0)
        return;
    // Of errors each is one; of units a request has its share.
    double count = metric <= WATCH_WRITE ? (double)bucket->requests : sum;
    double mean = count > 0 ? sum / count : sum;
    to->least = to->count == 0 || mean < to->least ? mean : to->least;
    to->most = mean > to->most ? mean : to->most;
    to->sum += sum;
    to->count += count;
}

// Minutes where they are all there, else hours.
bool series_read(const struct watch *watch, const struct selection *what, int64_t from_ms,
                 int64_t to_ms, struct statistics *out)
{
    bool hourly = from_ms % HOUR_MS == 0 && to_ms % HOUR_MS == 0 &&
                  from_ms / MINUTE_MS <= watch->now_ms / MINUTE_MS - WATCH_MINUTES;
    int64_t unit = hourly ? HOUR_MS : MINUTE_MS;
    int64_t ring = hourly ? WATCH_HOURS : WATCH_MINUTES;
    int64_t last = (to_ms - 1) / unit;
    int64_t now = watch->now_ms / unit;
    int64_t first = from_ms / unit;
    last = last < now ? last : now;
    first = first > now - ring ? first : now - ring + 1;
    *out = (struct statistics){0};
    for (size_t i = 0; i < watch->series_count; i++) {
        const struct series *series = watch->series[i];
        if ((what->table.ptr != NULL && !slice_is(what->table, series->table)) ||
            (what->operation.ptr != NULL && !slice_is(what->operation, series->operation)))
            continue;
        for (int64_t number = first; number <= last; number++) {
            const struct bucket *bucket =
                hourly ? &series->hours[number % ring] : &series->minutes[number % ring];
            if (bucket->number == number)
                statistics_add(out, bucket, what->metric);
        }
    }
    return out->count > 0;
}

bool statistic_of(const struct statistics *from, struct slice name, double *out)
{
    if (slice_is(name, "Sum"))
        *out = from->sum;
    else if (slice_is(name, "SampleCount"))
        *out = from->count;
    else if (slice_is(name, "Average"))
        *out = from->count > 0 ? from->sum / from->count : 0;
    else if (slice_is(name, "Minimum"))
        *out = from->least;
    else if (slice_is(name, "Maximum"))
        *out = from->most;
    else
        return false;
    return true;
}
