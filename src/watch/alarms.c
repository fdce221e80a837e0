// Alarms. What one is, is the request that made it: the record "alarm/<name>" has its parameters as
// a form, and the state. An alarm is judged when a period of it has ended, by the last periods as
// the service does: so many of so many breach, and what is missing counts as it says.
#include "base/log.h"
#include "engine/record.h"
#include "value/map.h"
#include "watch/watch_internal.h"

#include <stdio.h>
#include <stdlib.h>

#define ALARM_PREFIX "alarm/"

enum { ALARM_MEMORY = 1 << 20, PERIODS_MAX = 100 };

const char *const alarm_states[] = {"INSUFFICIENT_DATA", "OK", "ALARM"};

static void lock(struct watch *watch)
{
    ensure(pthread_mutex_lock(&watch->lock) == 0);
}

static void unlock(struct watch *watch)
{
    ensure(pthread_mutex_unlock(&watch->lock) == 0);
}

// ---- Reading a request -------------------------------------------------------------------------

bool selection_read(const struct params *params, const char *prefix, struct slice metric,
                    struct selection *out, char *why, size_t why_size)
{
    int found = metric_find(metric);
    *out = (struct selection){.metric = (enum watch_metric)(found < 0 ? 0 : found)};
    if (found < 0) {
        (void)snprintf(why, why_size, "There is no metric %.*s", SLICE_FMT(metric));
        return false;
    }
    for (int i = 1; param_is_given(params, "%sDimensions.member.%d.Name", prefix, i); i++) {
        struct slice name = param_text(params, "%sDimensions.member.%d.Name", prefix, i);
        struct slice value = param_text(params, "%sDimensions.member.%d.Value", prefix, i);
        if (slice_is(name, "TableName"))
            out->table = value;
        else if (slice_is(name, "Operation"))
            out->operation = value;
        else {
            (void)snprintf(why, why_size,
                           "There is no dimension %.*s: there are TableName and "
                           "Operation",
                           SLICE_FMT(name));
            return false;
        }
    }
    return true;
}

static bool one_of(struct slice text, const char *const *words)
{
    while (*words != NULL && !slice_is(text, *words))
        words++;
    return *words != NULL;
}

static const char *const comparisons[] = {"GreaterThanOrEqualToThreshold", "GreaterThanThreshold",
                                          "LessThanThreshold", "LessThanOrEqualToThreshold", NULL};
static const char *const missings[] = {"breaching", "notBreaching", "ignore", "missing", NULL};

static bool alarm_numbers(struct alarm *alarm, char *why, size_t why_size)
{
    double period, periods, datapoints;
    const struct params *params = &alarm->params;
    bool fine = param_number(params, "Period", 60, &period) &&
                param_number(params, "EvaluationPeriods", 0, &periods) &&
                param_number(params, "DatapointsToAlarm", periods, &datapoints) &&
                param_is_given(params, "Threshold") &&
                param_number(params, "Threshold", 0, &alarm->threshold);
    if (!fine || period < 60 || period > 86400 || (int64_t)period % 60 != 0 || periods < 1 ||
        periods > PERIODS_MAX || datapoints < 1 || datapoints > periods) {
        (void)snprintf(why, why_size,
                       "Period has to be a multiple of 60 up to 86400, "
                       "EvaluationPeriods 1 to %d, DatapointsToAlarm not more than "
                       "that, and Threshold a number",
                       PERIODS_MAX);
        return false;
    }
    alarm->period_ms = (int64_t)period * 1000;
    alarm->periods = (int64_t)periods;
    alarm->datapoints = (int64_t)datapoints;
    return true;
}

static bool alarm_read(struct alarm *alarm, char *why, size_t why_size)
{
    const struct params *params = &alarm->params;
    struct statistics nothing = {0};
    double ignored;
    alarm->name = param_text(params, "AlarmName");
    alarm->statistic = param_text(params, "Statistic");
    alarm->comparison = param_text(params, "ComparisonOperator");
    alarm->missing = param_text(params, "TreatMissingData");
    if (alarm->missing.len == 0)
        alarm->missing = SLICE_LIT("missing");
    const char *fault = NULL;
    if (alarm->name.len == 0 || alarm->name.len > ALARM_NAME)
        fault = "AlarmName has to have 1 to 255 bytes";
    else if (!slice_is(param_text(params, "Namespace"), WATCH_NAMESPACE))
        fault = "The Namespace has to be " WATCH_NAMESPACE "; there are no others";
    else if (!statistic_of(&nothing, alarm->statistic, &ignored))
        fault = "Statistic has to be SampleCount, Average, Sum, Minimum or Maximum";
    else if (!one_of(alarm->comparison, comparisons))
        fault = "ComparisonOperator has to be GreaterThanOrEqualToThreshold, GreaterThanThreshold, "
                "LessThanThreshold or LessThanOrEqualToThreshold";
    else if (!one_of(alarm->missing, missings))
        fault = "TreatMissingData has to be breaching, notBreaching, ignore or missing";
    if (fault != NULL)
        (void)snprintf(why, why_size, "%s", fault);
    return fault == NULL && alarm_numbers(alarm, why, why_size) &&
           selection_read(params, "", param_text(params, "MetricName"), &alarm->what, why,
                          why_size);
}

struct alarm *alarm_new(const struct params *params, char *why, size_t why_size)
{
    struct alarm *alarm = calloc(1, sizeof(*alarm));
    struct buf form;
    ensure_memory(alarm);
    arena_init(&alarm->arena, ALARM_MEMORY);
    alarm->params.arena = &alarm->arena;
    buf_init(&form, ALARM_MEMORY);
    params_write_form(params, &form);
    struct slice kept = arena_keep(&alarm->arena, &form);
    (void)snprintf(why, why_size, "The alarm is too large");
    if (kept.ptr != NULL && params_of_form(&alarm->params, kept) &&
        alarm_read(alarm, why, why_size)) {
        (void)snprintf(alarm->reason, sizeof(alarm->reason), "Unchecked: Initial alarm creation");
        return alarm;
    }
    alarm_free(alarm);
    return NULL;
}

void alarm_free(struct alarm *alarm)
{
    if (alarm == NULL)
        return;
    arena_release(&alarm->arena);
    free(alarm);
}

// ---- The list --------------------------------------------------------------------------------

static size_t place_of(const struct watch *watch, struct slice name, bool *found)
{
    size_t at = 0;
    while (at < watch->alarm_count && slice_compare(watch->alarms[at]->name, name) < 0)
        at++;
    *found = at < watch->alarm_count && slice_equal(watch->alarms[at]->name, name);
    return at;
}

struct alarm *alarm_find(struct watch *watch, struct slice name)
{
    bool found;
    size_t at = place_of(watch, name, &found);
    return found ? watch->alarms[at] : NULL;
}

static void list_remove(struct watch *watch, size_t at)
{
    alarm_free(watch->alarms[at]);
    watch->alarm_count--;
    memmove(watch->alarms + at, watch->alarms + at + 1,
            (watch->alarm_count - at) * sizeof(watch->alarms[0]));
}

static bool list_put(struct watch *watch, struct alarm *alarm)
{
    bool found;
    size_t at = place_of(watch, alarm->name, &found);
    if (found)
        list_remove(watch, at);
    if (watch->alarm_count == WATCH_ALARMS_MAX)
        return false;
    memmove(watch->alarms + at + 1, watch->alarms + at,
            (watch->alarm_count - at) * sizeof(watch->alarms[0]));
    watch->alarms[at] = alarm;
    watch->alarm_count++;
    return true;
}

// ---- In the store ----------------------------------------------------------------------------

static struct slice record_name(struct arena *arena, struct slice name)
{
    struct buf text;
    buf_init(&text, 2 * ALARM_NAME);
    buf_text(&text, ALARM_PREFIX);
    buf_slice(&text, name);
    return arena_keep(arena, &text);
}

static struct slice record_value(const struct alarm *alarm, struct arena *arena,
                                 struct error *error)
{
    struct value_maker maker;
    struct buf form;
    buf_init(&form, ALARM_MEMORY);
    params_write_form(&alarm->params, &form);
    map_begin(&maker);
    map_put_text(&maker, "request", buf_view(&form));
    map_put_integer(&maker, "state", alarm->state);
    map_put_integer(&maker, "told", alarm->told + 1); // older records have none
    map_put_text(&maker, "reason", slice_str(alarm->reason));
    map_put_integer(&maker, "changed", alarm->changed_ms);
    map_put_integer(&maker, "updated", alarm->updated_ms);
    struct slice made = map_end(&maker, arena, error);
    buf_release(&form);
    return made;
}

// One try: whoever asked hears of it, and a state that could not be kept is found anew.
static bool write_record(struct watch *watch, struct slice name, struct slice value,
                         struct error *error)
{
    struct record_write write = {name, value};
    struct record_job job;
    record_job_init(&job, error);
    job.count = 1;
    job.writes = &write;
    return name.ptr != NULL && engine_run(watch->options.shop->engine, &job.job);
}

static bool keep(struct watch *watch, const struct alarm *alarm, struct error *error)
{
    struct arena arena;
    arena_init(&arena, 4 * ALARM_MEMORY);
    struct slice value = record_value(alarm, &arena, error);
    bool kept =
        value.len > 0 && write_record(watch, record_name(&arena, alarm->name), value, error);
    arena_release(&arena);
    return kept;
}

bool alarm_put(struct watch *watch, struct alarm *alarm, struct error *error)
{
    lock(watch);
    const struct alarm *before = alarm_find(watch, alarm->name);
    bool room = before != NULL || watch->alarm_count < WATCH_ALARMS_MAX;
    if (before != NULL) {
        alarm->state = before->state;
        alarm->told = before->told;
        alarm->changed_ms = before->changed_ms;
        memcpy(alarm->reason, before->reason, sizeof(alarm->reason));
    }
    unlock(watch);
    if (!room)
        return error_set(error, ERR_LIMIT_EXCEEDED, "There are %d alarms already",
                         WATCH_ALARMS_MAX);
    if (!keep(watch, alarm, error))
        return false;
    lock(watch);
    bool put = list_put(watch, alarm);
    unlock(watch);
    return put || error_set(error, ERR_LIMIT_EXCEEDED, "There are too many alarms");
}

bool alarm_remove(struct watch *watch, struct slice name, struct error *error)
{
    struct arena arena;
    bool found;
    arena_init(&arena, ALARM_MEMORY);
    bool gone = write_record(watch, record_name(&arena, name), slice_of(NULL, 0), error);
    arena_release(&arena);
    lock(watch);
    size_t at = place_of(watch, name, &found);
    if (gone && found)
        list_remove(watch, at);
    unlock(watch);
    return gone;
}

static bool load_one(void *context, struct slice name, struct slice value)
{
    struct watch *watch = context;
    struct arena arena;
    char why[256];
    arena_init(&arena, 4 * ALARM_MEMORY);
    struct params params = {.arena = &arena};
    struct alarm *alarm = params_of_form(&params, map_text(value, "request"))
                              ? alarm_new(&params, why, sizeof(why))
                              : NULL;
    if (alarm == NULL) {
        log_warn("the record %.*s is no alarm, and is left alone", SLICE_FMT(name));
    } else {
        int64_t state = map_integer(value, "state");
        struct slice reason = map_text(value, "reason");
        alarm->state = state >= 0 && state <= ALARM_ALARM ? (enum alarm_state)state : ALARM_UNKNOWN;
        int64_t told = map_integer(value, "told") - 1;
        alarm->told = told >= 0 && told <= ALARM_ALARM ? (enum alarm_state)told : alarm->state;
        alarm->changed_ms = map_integer(value, "changed");
        alarm->updated_ms = map_integer(value, "updated");
        (void)snprintf(alarm->reason, sizeof(alarm->reason), "%.*s", SLICE_FMT(reason));
        if (!list_put(watch, alarm))
            alarm_free(alarm);
    }
    arena_release(&arena);
    return true;
}

void alarms_load(struct watch *watch)
{
    struct arena arena;
    struct error error;
    arena_init(&arena, ALARM_MEMORY);
    error_init(&error, &arena);
    if (!engine_records(watch->options.shop->engine, SLICE_LIT(ALARM_PREFIX), slice_of(NULL, 0),
                        load_one, watch, &error))
        log_warn("alarms cannot be read: %s", error.message == NULL ? "" : error.message);
    arena_release(&arena);
}

// ---- Judging ---------------------------------------------------------------------------------

static void change(struct watch *watch, struct alarm *alarm, enum alarm_state state)
{
    enum alarm_state before = alarm->state;
    if (before != state)
        log_warn("alarm %.*s is %s: %s", SLICE_FMT(alarm->name), alarm_states[state],
                 alarm->reason);
    alarm->state = state;
    alarm->changed_ms = watch->now_ms;
    actions_changed(watch, alarm, before);
}

static bool breaches(const struct alarm *alarm, double value)
{
    if (slice_is(alarm->comparison, "GreaterThanThreshold"))
        return value > alarm->threshold;
    if (slice_is(alarm->comparison, "GreaterThanOrEqualToThreshold"))
        return value >= alarm->threshold;
    if (slice_is(alarm->comparison, "LessThanThreshold"))
        return value < alarm->threshold;
    return value <= alarm->threshold;
}

struct verdict {
    int64_t breaching;
    int64_t missing;
    double newest; // of those that there are
};

static struct verdict look_back(const struct watch *watch, const struct alarm *alarm, int64_t end)
{
    struct verdict verdict = {0};
    for (int64_t i = alarm->periods; i > 0; i--) {
        struct statistics statistics;
        double value = 0;
        int64_t from = end - i * alarm->period_ms;
        if (!series_read(watch, &alarm->what, from, from + alarm->period_ms, &statistics)) {
            verdict.missing++;
            continue;
        }
        (void)statistic_of(&statistics, alarm->statistic, &value);
        verdict.newest = value;
        verdict.breaching += breaches(alarm, value);
    }
    return verdict;
}

// True if the state is another one now.
static bool judge(struct watch *watch, struct alarm *alarm, int64_t end)
{
    struct verdict verdict = look_back(watch, alarm, end);
    bool nothing = verdict.missing == alarm->periods;
    bool known = end - alarm->periods * alarm->period_ms >= watch->started_ms;
    if (slice_is(alarm->missing, "breaching") && known)
        verdict.breaching += verdict.missing;
    enum alarm_state state = ALARM_OK;
    if (verdict.breaching >= alarm->datapoints)
        state = ALARM_ALARM;
    else if (nothing && slice_is(alarm->missing, "missing"))
        state = ALARM_UNKNOWN;
    else if (nothing && slice_is(alarm->missing, "ignore"))
        state = alarm->state;
    // What was before this server began is not known: no reason to call an alarm off.
    if (state != ALARM_ALARM && !known)
        state = alarm->state;
    if (state == alarm->state)
        return false;
    (void)snprintf(alarm->reason, sizeof(alarm->reason),
                   "Threshold Crossed: %lld of the last %lld datapoints were %s the threshold "
                   "(%.15g), the newest was %.15g; %lld were missing",
                   (long long)verdict.breaching, (long long)alarm->periods,
                   slice_begins(alarm->comparison, SLICE_LIT("Greater")) ? "above" : "below",
                   alarm->threshold, verdict.newest, (long long)verdict.missing);
    change(watch, alarm, state);
    return true;
}

void alarm_keep_logged(struct watch *watch, const struct alarm *alarm)
{
    struct arena arena;
    struct error error;
    arena_init(&arena, ALARM_MEMORY);
    error_init(&error, &arena);
    if (!keep(watch, alarm, &error))
        log_warn("the state of alarm %.*s cannot be kept: %s", SLICE_FMT(alarm->name),
                 error.message == NULL ? "" : error.message);
    arena_release(&arena);
}

// The lock is held while an alarm's state is kept: alarms change rarely, and nobody but those who
// ask for alarms waits for it.
void alarms_judge(struct watch *watch)
{
    lock(watch);
    for (size_t i = 0; i < watch->alarm_count; i++) {
        struct alarm *alarm = watch->alarms[i];
        int64_t end = watch->now_ms / alarm->period_ms * alarm->period_ms;
        if (end == alarm->judged_ms)
            continue;
        alarm->judged_ms = end;
        if (judge(watch, alarm, end))
            alarm_keep_logged(watch, alarm);
    }
    unlock(watch);
}

bool alarm_set(struct watch *watch, struct slice name, enum alarm_state state, struct slice reason,
               struct error *error)
{
    lock(watch);
    struct alarm *alarm = alarm_find(watch, name);
    bool kept = false;
    if (alarm != NULL) {
        (void)snprintf(alarm->reason, sizeof(alarm->reason), "%.*s", SLICE_FMT(reason));
        change(watch, alarm, state);
        kept = keep(watch, alarm, error);
    }
    unlock(watch);
    if (alarm == NULL)
        return error_set(error, ERR_RESOURCE_NOT_FOUND, "There is no alarm %.*s", SLICE_FMT(name));
    return kept;
}
