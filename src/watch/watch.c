// The thread that looks once a second. See watch.h.
#include "watch/watch_internal.h"

#include <stdlib.h>

static void lock(struct watch *watch)
{
    ensure(pthread_mutex_lock(&watch->lock) == 0);
}

static void unlock(struct watch *watch)
{
    ensure(pthread_mutex_unlock(&watch->lock) == 0);
}

void watch_look(struct watch *watch)
{
    lock(watch);
    watch->now_ms = watch->options.now(watch->options.clock);
    watch->options.source(watch->options.context, watch);
    unlock(watch);
}

static void work(void *context)
{
    watch_look(context);
    alarms_judge(context);
}

struct watch *watch_new(const struct watch_options *options)
{
    struct watch *watch = memory_zeroed(sizeof(*watch));
    watch->options = *options;
    watch->series = calloc(WATCH_SERIES_MAX, sizeof(*watch->series));
    ensure_memory(watch->series);
    ensure(pthread_mutex_init(&watch->lock, NULL) == 0);
    watch->started_ms = watch->now_ms = options->now(options->clock);
    alarms_load(watch);
    actions_start(watch);
    worker_start(
        &watch->worker,
        &(struct worker_plan){.work = work, .context = watch, .every_ms = 1000, .asked = true});
    return watch;
}

void watch_free(struct watch *watch)
{
    if (watch == NULL)
        return;
    worker_stop(&watch->worker);
    actions_stop(watch);
    for (size_t i = 0; i < watch->alarm_count; i++)
        alarm_free(watch->alarms[i]);
    series_free(watch);
    ensure(pthread_mutex_destroy(&watch->lock) == 0);
    free(watch);
}

// In quotes, as Prometheus has labels.
static void write_label(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (c == '"' || c == '\\')
            buf_byte(out, '\\');
        buf_byte(out, c < ' ' ? ' ' : c);
    }
}

void watch_metrics(struct watch *watch, struct buf *out)
{
    static const int values[] = {-1, 0, 1}; // by state
    lock(watch);
    buf_text(out, "# HELP dolmen_alarm 1 in ALARM, 0 if OK, -1 without data\n"
                  "# TYPE dolmen_alarm gauge\n");
    for (size_t i = 0; i < watch->alarm_count; i++) {
        buf_text(out, "dolmen_alarm{name=\"");
        write_label(out, watch->alarms[i]->name);
        buf_printf(out, "\"} %d\n", values[watch->alarms[i]->state]);
    }
    unlock(watch);
}
